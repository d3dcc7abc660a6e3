# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for Unreal: Blender's own FBX or glTF exporter, and meshes for the colliders with the names that Unreal knows.

Unreal takes a mesh with the name of another one behind UBX_, USP_, UCP_ or UCX_ as its collision: a box, a sphere, a
capsule, a convex hull. It reads no other physics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object

from ..bridge import authored_poses, gprim_mesh, scene_read
from ..bridge.reading import SceneReading
from ..bridge.writing import unit_length
from ..core import fitting, frames, gprims, hull, paths, summary, validate
from ..core.errors import InputError, OutputError
from ..core.model import Mesh, Prim
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue, refuse_errors
from ..core.words import counted, phrase
from ..gltf import scaling
from ..gltf.document import Document
from ..system.console import printed_on_success
from ..system.files import replacing
from .edited_geometry import selected
from .usd_export import ExportResult

SUFFIXES = (".fbx", ".glb")
_PREFIXES: dict[type[Any], str] = {usd_geom.Cube: "UBX", usd_geom.Sphere: "USP", usd_geom.Capsule: "UCP"}
#: Types of objects that are visible and have no mesh of their own.
_OTHER_SHAPES = frozenset({"CURVE", "CURVES", "FONT", "META", "POINTCLOUD", "SURFACE", "VOLUME"})
_BOUNDS = {"boundingCube": "UBX", "boundingSphere": "USP"}
#: Approximations whose mesh Unreal collides with as it is, where it has no other.
_AS_IT_IS = frozenset({"none", "meshSimplification"})


@authored_poses.authored()
def export_unreal(context: Context, filepath: str | Path, *, strict: bool = False) -> ExportResult:
    """Write the visible meshes of the scene with their collision meshes. strict: refuse errors of the physics.

    Raises InputError for another suffix, OutputError and ValidationFailedError.
    """
    target = Path(bpy.path.abspath(str(filepath))).absolute()
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(f"'{target.name}' is no file for Unreal; end it with .fbx or .glb.")
    context.view_layer.update()
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    # Bodies are not written, so nothing is below another.
    issues = reading.issues + validate.validate(reading.model, hierarchy="reset", check_geometry=False)
    refuse_errors(issues, target, strict=strict)
    with (
        _collision_meshes(context, reading) as (objects, made, left_out), selected(context, objects),
        _without_physics(context.scene), replacing(target, apart=True) as scratch,
    ):  # fmt: skip
        _native_export(scratch)
        if scratch.suffix.lower() == ".glb" and (meters := unit_length(context.scene)) != 1.0:
            # FBX has the unit of the scene; Blender's exporter of glTF takes it as a metre.
            document = Document.load(scratch)
            scaling.scale_lengths(document, meters)
            document.save(scratch)
    counts = {**dict.fromkeys(summary.counts(reading.model), 0), "colliders": made}
    return ExportResult(target, [*issues, *left_out, *_not_meshes(reading), *_unread(reading)], counts)


# --------------------------------------------------------------------------- collision meshes


@contextmanager
def _collision_meshes(context: Context, reading: SceneReading) -> Iterator[tuple[list[Object], int, list[Issue]]]:
    """(objects to export, number of collision meshes, what has none) while the block runs; the meshes go with it."""
    scene: Any = context.scene
    meters = unit_length(scene)
    rendered = {
        placement.path: placement.obj for placement in reading.placements
        if placement.instance is None and placement.obj.type == "MESH" and not placement.obj.hide_render
    }  # fmt: skip
    numbers: Counter[str] = Counter()
    made: list[Any] = []
    lost: list[Prim] = []
    try:
        for prim in reading.model.colliders.values():
            shown = _shown_with(prim, reading, rendered)
            shape = _shape_of(prim) if shown is not None else None
            if shown is None or shape is None:
                if not (shown is not None and _is_as_it_is(prim)):
                    lost.append(prim)
                continue
            prefix, mesh = shape
            number = numbers[shown.name]
            obj = bpy.data.objects.new(f"{prefix}_{shown.name}_{number:02}", mesh)
            # FBX has the names of objects; in glTF, meshes have those of their data.
            mesh.name = f"{prefix}_{shown.data.name}_{number:02}" if shown.data is not None else obj.name
            numbers[shown.name] += 1
            made.append(obj)
            scene.collection.objects.link(obj)
            world = np.array(prim.world, float)
            world[:3, 3] /= meters
            mesh.transform(mathutils.Matrix.Scale(1.0 / meters, 4))
            obj.matrix_world = mathutils.Matrix(world.tolist())
        context.view_layer.update()
        yield [*rendered.values(), *made], len(made), list(_without(lost))
    finally:
        meshes = [obj.data for obj in made]
        bpy.data.batch_remove(made)
        bpy.data.batch_remove(meshes)


def _shown_with(prim: Prim, reading: SceneReading, rendered: dict[str, Object]) -> Object | None:
    """The visible mesh that a collider belongs to: its own object, one above it, or the first one of its body."""
    for path in (prim.path, *paths.ancestors_of(prim.path)):
        if path in rendered:
            return rendered[path]
    body = reading.model.body_of(prim.path)
    if body is None:
        return None
    return next((obj for path, obj in rendered.items() if paths.is_at_or_below(path, body.path)), None)


def _is_as_it_is(prim: Prim) -> bool:
    """True for a collider with all triangles of its mesh, which need no other mesh: Unreal has *complex* collision."""
    api = prim.get(usd_physics.MeshCollisionAPI)
    return prim.mesh is not None and api is not None and str(api.resolved("approximation")) in _AS_IT_IS


def _shape_of(prim: Prim) -> tuple[str, bpy.types.Mesh] | None:
    """(prefix, mesh in the space of the prim) of a collider; None where Unreal has no such shape."""
    gprim = prim.get(usd_geom.Gprim)
    if gprim is not None:
        if isinstance(gprim, usd_geom.Plane):
            return None
        return _PREFIXES.get(type(gprim), "UCX"), _mesh_of(gprim, prim)
    mesh = prim.mesh() if prim.mesh is not None else None
    if not isinstance(mesh, Mesh) or _is_as_it_is(prim):
        return None
    api = prim.get(usd_physics.MeshCollisionAPI)
    form = str(api.resolved("approximation")) if api is not None else ""
    points = np.asarray(mesh.points, float)
    if form in _BOUNDS:
        return _BOUNDS[form], _ball_around(points, prim) if form == "boundingSphere" else _box_around(points)
    faces = hull.convex_hull(points)
    if faces is None:
        return None
    made = bpy.data.meshes.new("Collision")
    corners = np.unique(faces)
    made.from_pydata(points[corners].tolist(), [], np.searchsorted(corners, faces).tolist())
    return "UCX", made


def _box_around(points: fitting.Points) -> bpy.types.Mesh:
    middle, half = fitting.bounding_box(points)
    made = gprim_mesh.mesh_of("Collision", usd_geom.Cube(size=2.0), 1.0)
    made.transform(mathutils.Matrix.LocRotScale(middle.tolist(), None, half.tolist()))
    return made


def _mesh_of(gprim: usd_geom.Gprim, prim: Prim) -> bpy.types.Mesh:
    """The surface of a gprim, in the space of the prim. Round ones keep one radius, as in the preview."""
    stretch = _stretch(prim)
    if isinstance(gprim, usd_geom.Cube) or stretch is None:
        return gprim_mesh.mesh_of("Collision", gprim, 1.0)
    scaled = gprims.sizes(gprim, frames.scale_of(prim.world)).gprim()
    return _scaled_back(gprim_mesh.mesh_of("Collision", scaled, 1.0), stretch)


def _ball_around(points: fitting.Points, prim: Prim) -> bpy.types.Mesh:
    """The ball around points as they are scaled in the world, in the space of the prim, which scales it back."""
    stretch = _stretch(prim)
    if stretch is None:
        stretch = np.eye(3)
    middle, radius = fitting.bounding_ball(points @ stretch.T)
    made = gprim_mesh.mesh_of("Collision", usd_geom.Sphere(radius=radius), 1.0)
    made.transform(mathutils.Matrix(frames.transform(middle).tolist()))
    return _scaled_back(made, stretch)


def _stretch(prim: Prim) -> frames.Matrix | None:
    """(3, 3): scale and shear of a prim in the world; None where an axis is scaled to zero."""
    world = np.array(prim.world, float)
    stretch = frames.rotation_of(world).T @ world[:3, :3]
    return None if frames.is_flat(frames.determinant(stretch)) else np.asarray(stretch)


def _scaled_back(mesh: bpy.types.Mesh, stretch: frames.Matrix) -> bpy.types.Mesh:
    """The mesh, which has its size in the world, in a space that has a scale (3, 3) there."""
    mesh.transform(mathutils.Matrix(np.linalg.inv(stretch).tolist()).to_4x4())
    return mesh


# --------------------------------------------------------------------------- what is left out


def _without(prims: list[Prim]) -> Iterator[Issue]:
    if prims:
        more = phrase(" and {count} more", count=len(prims) - 1) if len(prims) > 1 else ""
        text = (
            "Unreal gets no collision mesh of the collider '{name}'{more}: there is no visible mesh or no hull, or it "
            "is a plane without an end."
        )
        yield Issue(
            "UnrealNoCollision", "warning", prims[0].path, prims[0].label,
            phrase(text, name=paths.name_of(prims[0].path), more=more),
            "Parent a visible mesh to its body, or use a box.",
        )  # fmt: skip


def _not_meshes(reading: SceneReading) -> Iterator[Issue]:
    """Visible objects that are not written: instances, and what becomes a mesh only in renders."""
    names = list(dict.fromkeys(
        placement.obj.name for placement in reading.placements
        if not placement.obj.hide_render
        and (placement.obj.type in _OTHER_SHAPES or (placement.instance is not None and placement.obj.type == "MESH"))
    ))  # fmt: skip
    if names:
        more = phrase(" and {count} more", count=len(names) - 1) if len(names) > 1 else ""
        text = "Only mesh objects are written for Unreal, so '{name}'{more} is left out: an instance, or no mesh."
        yield Issue(
            "UnrealNoMesh", "warning", "", names[0], phrase(text, name=names[0], more=more),
            "Make instances real (Object, Apply), and convert other objects to meshes.",
        )  # fmt: skip


def _unread(reading: SceneReading) -> Iterator[Issue]:
    """What Unreal reads of no file."""
    model = reading.model
    for code, prims, kind, fix in (
        ("UnrealBodyUnread", list(model.bodies.values()), "body", "Set Simulate Physics and the mass there."),
        ("UnrealJointUnread", list(model.joints.values()), "joint", "Add physics constraints there."),
        ("UnrealMaterialUnread", list(model.materials.values()), "material", "Assign a physical material there."),
    ):  # fmt: skip
        if prims:
            yield Issue(
                code, "info", prims[0].path, prims[0].label,
                f"Unreal reads shapes only: the physics of {counted(len(prims), kind)} is left out.", fix,
            )  # fmt: skip
    several = [
        prim for prim in model.colliders.values()
        if (api := prim.get(usd_physics.MeshCollisionAPI)) is not None
        and api.resolved("approximation") in ("convexDecomposition", "sdf", "sphereFill")
    ]  # fmt: skip
    if several:
        yield Issue(
            "UnrealOneHull", "warning", several[0].path, several[0].label,
            f"Unreal: {counted(len(several), 'collider')}, such as '{paths.name_of(several[0].path)}', becomes one "
            "convex hull.", "Make collider objects of its parts (Structure, Make Collider Objects).",
        )  # fmt: skip


# --------------------------------------------------------------------------- Blender's exporters


@contextmanager
def _without_physics(scene: Any) -> Iterator[None]:
    """Within the block, exports of glTF get no physics of ours."""
    settings = scene.usdphys.gltf
    before, was_set = settings.is_exported, settings.is_property_set("is_exported")
    settings.is_exported = False
    try:
        yield
    finally:
        settings.is_exported = before
        if not was_set:
            settings.property_unset("is_exported")


def _native_export(scratch: Path) -> None:
    if scratch.suffix.lower() == ".fbx":
        operator: Any = bpy.ops.export_scene.fbx
        # Unreal reads centimetres, which the exporter writes with this scale option, and -X forward, Z up.
        keywords: dict[str, Any] = {
            "apply_scale_options": "FBX_SCALE_NONE", "object_types": {"MESH", "EMPTY"}, "mesh_smooth_type": "FACE",
            "add_leaf_bones": False, "bake_anim": False,
        }  # fmt: skip
    else:
        operator = bpy.ops.export_scene.gltf
        keywords = {
            "export_format": "GLB", "export_apply": True, "export_animations": False, "check_existing": False,
            "export_current_frame": True,
        }  # fmt: skip
    try:
        operator.get_rna_type()
    except (AttributeError, KeyError) as error:
        raise InputError(f"Blender's exporter of {scratch.suffix} is disabled; enable its add-on.") from error
    try:
        with printed_on_success():
            ended = operator(filepath=str(scratch), use_selection=True, **keywords)
    except RuntimeError as error:
        raise OutputError(f"Blender's exporter failed: {' '.join(str(error).split())[-200:]}") from error
    if "FINISHED" not in ended or not scratch.is_file():
        raise OutputError("Blender's exporter wrote nothing; see the console for its reason.")
