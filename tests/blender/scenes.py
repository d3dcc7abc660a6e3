"""Builders of little scenes, and the ways to look at what became of them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.bridge import reading, scene_read
from usdphys_ext.usdphys_addon.bridge.identity.names import prim_name
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.exchange import usd_export
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.worker import jobs

OBJECT_NAME = "userProperties:blender:object_name"
_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))

# --------------------------------------------------------------------------- objects


def finish(job: Callable[[], Any]) -> None:
    """Do all that is left of a job of the add-on, without waiting."""
    while jobs.turn(job) is not None:
        pass


def box_mesh(name: str, half: Any = (0.5, 0.5, 0.5), center: Any = (0, 0, 0)) -> bpy.types.Mesh:
    signs = itertools.product((-1, 1), repeat=3)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([np.multiply(row, half) + center for row in signs], [], _FACES)
    return mesh


def add(name: str, data: Any = None, *, collection: Any = None, parent: Any = None, **settings: Any) -> Any:
    """An object; an Empty where there is no data. The settings are its properties."""
    obj = bpy.data.objects.new(name, data)
    (collection or bpy.context.scene.collection).objects.link(obj)
    obj.parent = parent
    for key, value in settings.items():
        setattr(obj, key, value)
    return obj


def add_box(name: str, half: Any = (0.5, 0.5, 0.5), **settings: Any) -> Any:
    return add(name, box_mesh(name, half), **settings)


def add_instance(name: str, instanced: Any, **settings: Any) -> Any:
    return add(name, instance_type="COLLECTION", instance_collection=instanced, **settings)


def new_collection(name: str, *, linked: bool = False) -> Any:
    """A collection; in the scene only where `linked`."""
    made = bpy.data.collections.new(name)
    if linked:
        bpy.context.scene.collection.children.link(made)
    return made


def operator_mesh(operator: str, **settings: Any) -> Any:
    """The object that one of Blender's own "add mesh" operators makes."""
    getattr(bpy.ops.mesh, operator)(**settings)
    return bpy.context.object


def select(*objects: Any) -> None:
    """Select objects; the last one is the active one."""
    bpy.context.view_layer.update()
    for obj in bpy.context.view_layer.objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.update()


# --------------------------------------------------------------------------- preferences


@contextlib.contextmanager
def enabled() -> Iterator[Any]:
    """The preferences of the add-on, which for that long is an enabled one."""
    addons = bpy.context.preferences.addons
    addon = addons.new()
    addon.module = "usdphys_ext"
    chosen = addon.preferences
    try:
        yield chosen
    finally:
        for name in chosen.bl_rna.properties.keys():
            if name not in ("rna_type", "bl_idname"):
                setattr(chosen, name, _default(chosen.bl_rna.properties[name]))
        addons.remove(addon)


def _default(declared: Any) -> Any:
    return tuple(declared.default_array) if getattr(declared, "is_array", False) else declared.default


# --------------------------------------------------------------------------- physics


def play(seconds: float) -> Any:
    """Start the preview, simulate so long, and show it. Returns the session."""
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    while session.world.time < seconds:
        session.simulate(bpy.context)
    session.show(bpy.context)
    return session


def assign(group: Any, **values: Any) -> Any:
    for key, value in values.items():
        setattr(group, key, value)
    return group


def make_body(obj: Any, **values: Any) -> Any:
    assign(obj.usdphys.rigid_body, is_applied=True, **values)
    return obj


def make_collider(obj: Any, shape: str = "MESH", **values: Any) -> Any:
    """Adds a collider and returns it."""
    return assign(obj.usdphys.colliders.add(), shape=shape, **values)


def solid(name: str, half: Any = (0.5, 0.5, 0.5), *, shape: str = "MESH", **settings: Any) -> Any:
    """A box that is a rigid body with one collider."""
    obj = make_body(add_box(name, half, **settings))
    make_collider(obj, shape)
    return obj


def add_joint(name: str, kind: str, body0: Any = None, body1: Any = None, **settings: Any) -> Any:
    """An Empty that is a joint."""
    obj = add(name, **settings)
    assign(obj.usdphys.joint, is_applied=True, type=kind, body0=body0, body1=body1)
    return obj


def painted_material(name: str, image: Any) -> Any:
    """A visual material with an image as its base colour."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    shader = next(one for one in material.node_tree.nodes if one.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return material


def physics_material(name: str, **values: Any) -> Any:
    material = bpy.data.materials.new(name)
    assign(material.usdphys.physics_material, is_applied=True, **values)
    return material


def join_group(obj: Any, name: str, **values: Any) -> None:
    assign(obj.usdphys.collision_groups.add(), name=name, **values)


def define_group(name: str, filtered: tuple[str, ...] = (), **values: Any) -> Any:
    group = assign(bpy.context.scene.usdphys.collision_groups.add(), name=name, **values)
    for other in filtered:
        group.filtered_groups.add().name = other
    return group


# --------------------------------------------------------------------------- what became of it


def read(**options: Any) -> reading.SceneReading:
    return scene_read.read_scene(bpy.context.evaluated_depsgraph_get(), **options)


def read_model(**options: Any) -> PhysicsModel:
    return read(**options).model


def the(prims: dict[str, Prim]) -> Prim:
    """The only one."""
    assert len(prims) == 1, list(prims)
    return next(iter(prims.values()))


def codes(issues: Any) -> list[tuple[str, str]]:
    return sorted((issue.code, issue.severity) for issue in issues)


def world_of(obj: Any) -> np.ndarray:
    """Evaluated world matrix."""
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def placed(location: Any = (0, 0, 0), euler: Any = (0, 0, 0), scale: Any = (1, 1, 1)) -> Matrix:
    from mathutils import Euler, Vector

    return Matrix.LocRotScale(Vector(location), Euler(euler), Vector(scale))


def export(file: Path, **options: Any) -> tuple[Usd.Stage, usd_export.ExportResult]:
    """Our own export, and its result opened anew."""
    result = usd_export.export_usd(bpy.context, file, usd_export.ExportOptions(**options))
    return Usd.Stage.Open(str(file)), result


def native_export(file: Path, **options: Any) -> Usd.Stage:
    """Blender's export as the user runs it, with whatever hook is registered."""
    bpy.ops.wm.usd_export(filepath=str(file), check_existing=False, **options)
    return Usd.Stage.Open(str(file))


def prims_of(stage: Usd.Stage) -> dict[str, list[Usd.Prim]]:
    """Prims by the name of their Blender object, which is that of the prim where Blender has not written it."""
    found: dict[str, list[Usd.Prim]] = {}
    prims = list(stage.Traverse())
    if any(prim.HasAttribute(OBJECT_NAME) for prim in prims):
        names = {prim: prim.GetAttribute(OBJECT_NAME).Get() for prim in prims if prim.HasAttribute(OBJECT_NAME)}
    else:
        objects = {prim_name(obj.name): obj.name for obj in bpy.data.objects}
        # Geometry lies below the prim of its object, often under the same name.
        places = [prim for prim in prims if prim.GetTypeName() == "Xform" or prim.IsA(UsdPhysics.Joint)]
        names = {prim: objects[prim.GetName()] for prim in places if prim.GetName() in objects}
    for prim, name in names.items():
        found.setdefault(name, []).append(prim)
    return found


def prim_of(stage: Usd.Stage, name: str) -> Usd.Prim:
    """The only prim of an object."""
    (prim,) = prims_of(stage)[name]
    return prim


def bodies_of(stage: Usd.Stage) -> list[Usd.Prim]:
    """Prims that are rigid bodies."""
    return [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]


def applied(prim: Usd.Prim) -> list[str]:
    """Physics API schemas of a prim."""
    return [name for name in prim.GetAppliedSchemas() if name.startswith("Physics")]


def world_pose(prim: Usd.Prim, time: Any = None) -> np.ndarray:
    """World matrix (4, 4) for column vectors."""
    code = Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)
    return np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim)).T


def targets(prim: Usd.Prim, name: str) -> list[str]:
    return [str(path) for path in prim.GetRelationship(name).GetTargets()]
