# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages that others wrote: read, written onto themselves and read again, the model is the same."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import assets
import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import schema, units
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim, SpherePoints
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.usd import opinions as usd_opinions
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write

from .devset import flattened


def stripped(stage: Usd.Stage, model: PhysicsModel) -> int:
    """Take the values and API schemas of a model off its stage; how many properties that were."""
    count = 0
    for prim in model.prims.values():
        spec = stage.GetRootLayer().GetPrimAtPath(prim.path)
        for name, value in prim.schemas.items():
            _, instance = schema.split_applied(name)
            for attribute in value.attributes:
                found = spec.properties.get(attribute.usd_name(instance))
                if found is not None and not isinstance(value, usd_geom.Gprim):
                    spec.RemoveProperty(found)
                    count += 1
        applied = usd_opinions.applied_schemas(stage.GetPrimAtPath(prim.path))
        kept = [name for name in applied if name not in prim.schemas]
        spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=kept))
    return count


def same(first: Any, second: Any) -> bool:
    """Equal, numbers up to the noise of 32 bits; quaternions of any length and sign that turn alike are one."""
    if isinstance(first, float) and isinstance(second, float):
        return first == second or math.isclose(first, second, rel_tol=1e-6, abs_tol=1e-7)
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        if len(first) == 4 and isinstance(first[0], float) and any(first) and any(second):
            cosine = abs(np.dot(first, second)) / (np.linalg.norm(first) * np.linalg.norm(second))
            return bool(cosine > 1 - 1e-12)
        return all(map(same, first, second))
    return bool(first == second)


def differences(first: PhysicsModel, second: PhysicsModel) -> tuple[list[str], int]:
    """(what differs, how many values were compared)."""
    found, compared = [], 0
    if list(first.prims) != list(second.prims):
        found.append(f"prims: {set(first.prims) ^ set(second.prims)}")
    for path in first.prims.keys() & second.prims.keys():
        one, two = first.prims[path], second.prims[path]
        found += [
            f"{path} {name}: {getattr(one, name)} {getattr(two, name)}"
            for name in ("type_name", "materials", "physics_binding", "purpose", "resets_xform_stack", "is_xformable")
            if getattr(one, name) != getattr(two, name)
        ]
        if not np.allclose(one.world, two.world, rtol=1e-6, atol=1e-9):
            found.append(f"{path} world")
        if list(one.schemas) != list(two.schemas):
            found.append(f"{path} schemas: {list(one.schemas)} {list(two.schemas)}")
        for name in one.schemas.keys() & two.schemas.keys():
            for attribute in one.schemas[name].attributes:
                values = (getattr(one.schemas[name], attribute.field), getattr(two.schemas[name], attribute.field))
                compared += values[0] is not None
                if not same(*values):
                    found.append(f"{path} {name} {attribute.field}: {values}")
        if not same_geometry(one, two):
            found.append(f"{path} geometry")
    return found, compared


def same_geometry(one: Prim, two: Prim) -> bool:
    first, second = (prim.mesh() if prim.mesh else None for prim in (one, two))
    if isinstance(first, Mesh) and isinstance(second, Mesh):
        return np.array_equal(first.points, second.points) and np.array_equal(first.triangles, second.triangles)
    if isinstance(first, SpherePoints) and isinstance(second, SpherePoints):
        return np.array_equal(first.centers, second.centers) and np.array_equal(first.radii, second.radii)
    return first is None and second is None


@pytest.mark.slow
def test_read_write_read_is_the_same_model(shared: Path) -> None:
    wrong: list[str] = []
    files, values, removed, used = assets.usd_files(), 0, 0, set()
    for file in files:
        stage = flattened(file)
        before = usd_read.read_stage(stage)
        physics = [(prim, name) for prim in before.prims.values() for name in prim.schemas]
        used |= {schema.split_applied(name)[0] for _, name in physics}
        removed += stripped(stage, before)
        assert differences(before, usd_read.read_stage(stage))[0] != [] or not before.prims
        usd_write.write_model(stage, before, usd_read.stage_units(stage))
        found, compared = differences(before, usd_read.read_stage(stage))
        wrong += [f"{file.name}: {line}" for line in found]
        values += compared
    assert wrong == []
    assert len(files) == assets.either(42, 33)
    assert values > assets.either(1500, 1000)
    assert removed > assets.either(1300, 800)
    assert set(schema.schemas_of("UsdPhysics")) - used == set()


@pytest.mark.slow
@pytest.mark.parametrize("system", [units.StageUnits(1.0, 1.0, "Z"), units.StageUnits(0.0254, 0.45359237, "Z")])
def test_values_survive_other_units(shared: Path, system: units.StageUnits) -> None:
    """Only the values of schemas: the geometry and poses of these stages are not ours to convert here."""
    wrong, values = [], 0
    for file in assets.usd_files():
        stage = flattened(file)
        before = usd_read.read_stage(stage)
        usd_write.write_units(stage, system)
        usd_write.write_model(stage, before, system)
        after = usd_read.read_stage(stage)
        for path, prim in before.prims.items():
            for name, value in prim.schemas.items():
                again = after.prims[path].schemas[name]
                for attribute, content in value.authored():
                    values += 1
                    if not same(content, getattr(again, attribute.field)):
                        wrong.append(f"{file.name} {path} {name} {attribute.field}: {content}")
    assert wrong == []
    assert values > assets.either(1500, 1000)


def test_a_change_is_seen(shared: Path) -> None:
    """Guards the comparison itself."""
    file = assets.file("usd/simple_hinge.usda", "usd/named_operations.usda")
    stages = flattened(file), flattened(file)
    models = [usd_read.read_stage(stage) for stage in stages]
    assert differences(*models)[0] == []
    joint = next(iter(models[1].joints.values())).get(usd_physics.Joint)
    joint.local_pos0 = (1.0, 2.0, 3.0)
    assert len(differences(*models)[0]) == 1


def test_prims_with_new_paths_are_where_they_were() -> None:
    """Places are looked up when they are asked for: on the stage, where the prims have their old paths."""
    stage = Usd.Stage.CreateInMemory()
    box = UsdGeom.Cube.Define(stage, "/World/Box")
    box.AddTranslateOp().Set((1, 2, 3))
    UsdPhysics.RigidBodyAPI.Apply(box.GetPrim())
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, "Z")
    model = usd_read.read_stage(stage).renamed({"/World": "/Other"})
    assert model.prims["/Other/Box"].world[:3, 3].tolist() == [1, 2, 3]


def test_renaming_leaves_the_model_itself_as_it_was():
    model = PhysicsModel()
    model.add(Prim("/World/Box", materials=("/World/Iron",), physics_binding="/World/Iron"))
    hinge = model.add(Prim("/World/Hinge", "PhysicsRevoluteJoint", is_xformable=False))
    hinge.add(usd_physics.RevoluteJoint(body0=("/World/Box",), upper_limit=1.0))
    moved = model.renamed({"/World": "/Other", "/World/Box": "/Crate"})
    assert list(model.prims) == ["/World/Box", "/World/Hinge"] == [prim.path for prim in model.prims.values()]
    assert model.prims["/World/Box"].materials == ("/World/Iron",)
    assert model.prims["/World/Hinge"].get(usd_physics.Joint).body0 == ("/World/Box",)
    assert moved.prims["/Crate"].physics_binding == "/Other/Iron"
    joint = moved.prims["/Other/Hinge"].get(usd_physics.Joint)
    assert (joint.body0, joint.upper_limit) == (("/Crate",), 1.0)


@pytest.mark.parametrize("axis", ["Y", "Z"])
def test_a_joint_to_the_world_without_a_frame_turns_with_the_up_axis(axis) -> None:
    """Nobody authored the frame in the world: it has the axes of its file, and other numbers in another file."""
    source = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(source, axis)
    UsdGeom.SetStageMetersPerUnit(source, 1.0)
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Xform.Define(source, "/Box").GetPrim())
    UsdPhysics.FixedJoint.Define(source, "/Fixed").CreateBody1Rel().SetTargets(["/Box"])
    model = usd_read.read_stage(source)
    for other in ("Y", "Z"):
        target = Usd.Stage.CreateInMemory()
        system = units.StageUnits(1.0, 1.0, other)
        usd_write.write_units(target, system)
        usd_write.write_model(target, model, system)
        rotation = UsdPhysics.Joint(target.GetPrimAtPath("/Fixed")).GetLocalRot0Attr()
        rotation = rotation.Get() if rotation.IsAuthored() else None
        turned = Gf.Quatf(math.sqrt(0.5), math.sqrt(0.5) * (1 if axis == "Y" else -1), 0, 0)
        expected = Gf.Quatf(1) if other == axis else turned
        rotation = rotation or Gf.Quatf(1)
        difference = rotation * expected.GetInverse()
        assert abs(difference.GetReal()) == pytest.approx(1.0, abs=1e-6), (axis, other)
