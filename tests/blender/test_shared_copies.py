# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of an object that differ in one property: what is written of them is what is written without any sharing."""

from __future__ import annotations

import json

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import copied, scene_read
from usdphys_ext.usdphys_addon.core.prototypes import SharedSchemas

from . import scenes
from .gltf_scenes import exported

pytestmark = pytest.mark.slow


def build(shape: str) -> tuple[list, list]:
    """(copies in one row, others below a parent), with equal properties."""
    wood, ice = (scenes.physics_material(name, dynamic_friction=value) for name, value in (("Wood", 0.5), ("Ice", 0.1)))
    assert ice
    first = scenes.add_box("Crate 0", (0.5, 0.4, 0.3))
    scenes.make_body(first)
    scenes.make_collider(first, shape)
    first.usdphys.mass.is_applied, first.usdphys.mass.density = True, 300.0
    first.usdphys.physics_material = wood
    objects = [first]
    for number in range(1, 8):
        obj = first.copy()
        obj.name, obj.location = f"Crate {number}", (2.0 * number, 0.0, 1.0)
        bpy.context.collection.objects.link(obj)
        objects.append(obj)
    above = scenes.add("Above")
    for obj in objects[4:]:
        obj.parent = above
    return objects[:4], objects[4:]


def set_up(obj, name: str) -> None:
    """Change one property of a copy."""
    item, physics = obj.usdphys.colliders[0], obj.usdphys
    changes = {
        "nothing": lambda: None,
        "asleep": lambda: setattr(physics.rigid_body, "starts_asleep", True),
        "kinematic": lambda: setattr(physics.rigid_body, "kinematic_enabled", True),
        "density": lambda: setattr(physics.mass, "density", 500.0),
        "material": lambda: setattr(physics, "physics_material", bpy.data.materials["Ice"]),
        "material of the collider": lambda: setattr(item, "physics_material", bpy.data.materials["Ice"]),
        "collider off": lambda: setattr(item, "collision_enabled", False),
        "shape": lambda: setattr(item, "shape", "SPHERE"),
        "moved collider": lambda: setattr(item, "location", (0.1, 0.0, 0.0)),
        "scale": lambda: setattr(obj, "scale", (1.0, 2.0, 1.0)),
        "mirrored": lambda: setattr(obj, "scale", (-1.0, 1.0, 1.0)),
        "group": lambda: scenes.join_group(obj, scenes.define_group("Some", ("Some",)).name),
        "mesh": lambda: setattr(obj, "data", scenes.box_mesh("Other", (0.2, 0.2, 0.2))),
    }  # fmt: skip
    changes[name]()


CHANGES = (
    "nothing", "asleep", "kinematic", "density", "material", "material of the collider", "collider off", "shape",
    "moved collider", "scale", "mirrored", "group", "mesh",
)  # fmt: skip


def contents_of(stage) -> dict[str, tuple]:
    """Type, schemas and values by path: the order in which Blender writes objects varies."""
    return {
        str(prim.GetPath()): (
            str(prim.GetTypeName()), str(prim.GetAppliedSchemas()),
            {one.GetName(): str(one.Get()) for one in prim.GetAuthoredAttributes()},
            {one.GetName(): one.GetTargets() for one in prim.GetAuthoredRelationships()},
        ) for prim in stage.Traverse()
    }  # fmt: skip


@pytest.mark.parametrize("shape", ["CUBE", "MESH"])
@pytest.mark.parametrize("change", CHANGES)
def test_copies_are_written_as_without_sharing(change: str, shape: str, tmp_path, monkeypatch) -> None:
    for objects in build(shape):
        set_up(objects[2], change)
    bpy.context.view_layer.update()
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    apis = {id(prim.schemas["PhysicsRigidBodyAPI"]) for prim in reading.model.bodies.values()}
    assert len(apis) == 1 + (change in ("asleep", "kinematic"))

    def written(name: str) -> tuple[dict[str, tuple], str, list[str]]:
        stage, result = scenes.export(tmp_path / f"{name}.usda")
        document, other = exported(tmp_path / f"{name}.gltf")
        for buffer in document.json.get("buffers", ()):
            del buffer["uri"]
        said = sorted(map(repr, (*result.issues, *other.issues)))
        return contents_of(stage), json.dumps(document.json), said

    one = written("shared")
    monkeypatch.setattr(copied.Copies, "group_of", lambda self, placement, look: None)
    monkeypatch.setattr(SharedSchemas, "share", lambda self, prim: None)
    other = written("alone")
    for first, second in zip(one, other, strict=True):
        assert first == second
