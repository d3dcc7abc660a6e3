# SPDX-License-Identifier: GPL-3.0-or-later
"""A physics scene as data, for engines that read no USD: bodies, shapes, joints and filters, SI and Z up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core import frames, gprims
from ..core.fitting import Surface, bounding_ball, bounding_box
from ..core.frames import Matrix
from ..core.mass import taper_of
from ..core.model import Mesh, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from ..simulation.engine import Setup, preview_engine
from ..simulation.filters import CollisionMask
from ..simulation.joint_facts import NO_LIMIT, Freedom, JointFacts
from ..simulation.layout import contact_material
from ..simulation.outward import outward
from ..simulation.vendor_settings import body_settings, combine_modes, is_trigger
from ..simulation.weights import Geometries, Weight

#: Half the edge of the box that stands for an infinite plane, m.
FAR = 1000.0
#: Least edge of the box around a flat mesh, as a part of its longest one.
THIN = 0.005


class Matter(NamedTuple):
    """What a request to build holds as "scene", its arrays, and what of it is left out, as (prim, what).

    Poses are [x, y, z, w, x, y, z]. bodies: weight (mass, center, moments, axes), damping (linear, angular), gravity as
    a factor, whether it sleeps, shapes. statics: pose and shapes. A shape: kind ("box", "sphere", "capsule",
    "cylinder", "hull", "mesh"), pose in the frame of its body, numbers (half edges; radius, and half height along Z),
    friction (static, dynamic), restitution, how both are combined, masks (member, meets); of hulls and meshes the
    points are the array "points_N" and the triangles "triangles_N", N the number at "points". joints: path, bodies as
    rows or -1, poses of both frames, dofs (low, high, None without a limit; low > high is locked), drives, cone,
    distance, whether it is enabled and lets its bodies collide. apart: pairs of rows that do not collide, statics after
    the bodies.
    """

    scene: dict[str, Any]
    arrays: dict[str, Any]
    missing: list[tuple[Prim, str]]


def matter_of(setup: Setup, weights: Mapping[str, Weight]) -> Matter:
    """The data of a setup."""
    made = Matter({"bodies": [], "statics": [], "joints": [], "apart": []}, {}, [])
    geometries, rows = Geometries(), {path: row for row, path in enumerate(setup.bodies)}
    for path, body in setup.bodies.items():
        settings = body_settings(body.prim, setup.layout.model.air)
        if not all(settings.moves) or not all(settings.turns):
            made.missing.append((body.prim, "the locked axes"))
        weight = weights.get(path)
        made.scene["bodies"].append({
            "weight": None if weight is None else [weight.mass, weight.center, weight.moments, weight.axes],
            "damping": [settings.linear_damping, settings.angular_damping], "gravity": settings.gravity,
            "sleeps": settings.sleeps,
            "shapes": _shapes(setup, body.colliders, np.linalg.inv(body.pose), geometries, made, moves=True),
        })  # fmt: skip
    for prim in setup.statics:
        rows[prim.path] = len(rows)
        place = setup.layout.places.of(prim).pose
        shapes = _shapes(setup, [prim], np.linalg.inv(place), geometries, made, moves=False)
        made.scene["statics"].append({"pose": _pose(place), "shapes": shapes})
    for facts in outward(setup.joints, {path: weight.mass for path, weight in weights.items()}):
        made.scene["joints"].append(_joint(facts, rows, setup, made))
    made.scene["apart"] = [
        [rows[first], rows[second]] for first, second in sorted(setup.filters.pairs)
        if first in rows and second in rows
    ]  # fmt: skip
    return made


def _pose(place: Matrix) -> list[float]:
    return [*place[:3, 3].tolist(), *frames.quaternion_of(place[:3, :3])]


def _shapes(
    setup: Setup, colliders: Iterable[Prim], inverse: Any, geometries: Geometries, made: Matter, *, moves: bool
) -> list[dict[str, Any]]:
    """inverse: (4, 4) from the world to the frame of the body."""
    shapes = []
    for prim in colliders:
        if is_trigger(prim):
            made.missing.append((prim, "that it is a trigger, which"))
            continue
        own, model = setup.layout.places.of(prim), setup.layout.model
        material = contact_material(model, prim, setup.notices)
        mask = setup.filters.masks.get(prim.path, CollisionMask())
        common = {
            "friction": [max(material.static_friction, material.friction), material.friction],
            "restitution": material.restitution, "combine": combine_modes(model, material.material),
            "masks": [mask.member, mask.meets],
        }  # fmt: skip
        for kind, numbers, place, points, triangles in _forms(prim, geometries, own.rotation, made, moves):
            shape = {"kind": kind, "numbers": numbers, "pose": _pose(inverse @ own.pose @ place), **common}
            if points is not None:
                number = shape["points"] = len(made.arrays) // 2
                made.arrays[f"points_{number}"] = points
                made.arrays[f"triangles_{number}"] = np.asarray(triangles, np.int32)
            shapes.append(shape)
    return shapes


_Form = tuple[str, list[float], Matrix, Any, Any]
_NONE = np.zeros((0, 3), int)


def _forms(prim: Prim, geometries: Geometries, rotation: Matrix, made: Matter, moves: bool) -> list[_Form]:
    """(kind, numbers, pose in the prim's frame without scale, points, triangles) of what collides."""
    gprim, geometry = prim.get(usd_geom.Gprim), geometries.of(prim)
    if gprim is None and isinstance(geometry, Mesh):
        api = prim.get(usd_physics.MeshCollisionAPI)
        approximation = "none" if api is None else api.resolved("approximation")
        if approximation in ("boundingCube", "boundingSphere"):
            return _bounds(np.asarray(geometry.points, float) @ (rotation.T @ prim.world[:3, :3]).T, approximation)
        is_whole = approximation in ("none", "meshSimplification", "sdf", "sphereFill") and not moves
        engine = preview_engine()
        found = engine.surfaces_of(prim, geometry, rotation)
        if moves and approximation in ("none", "meshSimplification"):
            made.missing.append((prim, "the triangles, because it moves: its convex parts collide,"))
            parts = [engine.decompose(Surface(points, triangles), 32) for points, triangles in found]
            found = [(np.asarray(part.points), _NONE) for group in parts for part in group]
        if not found:
            made.missing.append((prim, "the shape"))
        return [("mesh" if is_whole else "hull", [], np.eye(4), points, triangles) for points, triangles in found]
    if gprim is None and isinstance(geometry, SpherePoints):
        made.missing.append((prim, "the points"))
        return []
    if gprim is None or not np.isfinite(prim.world).all():
        return []
    if isinstance(gprim, usd_geom.Cone) or taper_of(prim) is not None:
        made.missing.append((prim, "the cone"))
        return []
    sizes = gprims.sizes(gprim, np.abs(frames.scale_of(prim.world)))
    turn = np.eye(4)
    if sizes.axis != "Z":
        order = {"X": [1, 2, 0], "Y": [2, 0, 1]}[sizes.axis]
        turn[:3, :3] = np.eye(3)[:, order]
    if sizes.kind is usd_geom.Cube:
        return [("box", [edge / 2.0 for edge in sizes.edges], np.eye(4), None, None)]
    if sizes.kind is usd_geom.Plane:
        if moves:
            made.missing.append((prim, "the infinite plane on a moving body"))
            return []
        turn[:3, 3] = -FAR * turn[:3, 2]
        return [("box", [FAR, FAR, FAR], turn, None, None)]
    if sizes.kind is usd_geom.Sphere:
        return [("sphere", [sizes.radius], np.eye(4), None, None)]
    kind = "capsule" if sizes.kind is usd_geom.Capsule else "cylinder"
    return [(kind, [sizes.radius, sizes.height / 2.0], turn, None, None)]


def _bounds(points: Matrix, approximation: str) -> list[_Form]:
    """The box or ball around points (n, 3)."""
    if not len(points) or not np.isfinite(points).all() or not np.ptp(points):
        return []
    if approximation == "boundingSphere":
        middle, radius = bounding_ball(points)
        return [("sphere", [radius], frames.transform(middle), None, None)]
    middle, half = bounding_box(points, THIN)
    return [("box", half.tolist(), frames.transform(middle), None, None)]


def _joint(facts: JointFacts, rows: Mapping[str, int], setup: Setup, made: Matter) -> dict[str, Any]:
    if facts.bond or facts.pull is not None:
        made.missing.append((facts.prim, "the yielding or one-sided hold"))
    for freedom in facts.freedoms:
        if freedom.has_soft_limit or freedom.resistances or freedom.settings.armature:
            made.missing.append((facts.prim, "soft limits, friction, damping and inertia of the joint"))
            break
    names = {axis: name for name, axis in facts.names.items() if axis < 6}
    drives = [
        [names.get(axis, ""), axis, drive.stiffness, drive.damping, drive.target_position, drive.target_velocity,
         drive.max_force if np.isfinite(drive.max_force) else None, drive.acceleration]
        for axis, freedom in enumerate(facts.freedoms)
        if (drive := freedom.drive) is not None and not drive.is_friction and not freedom.is_locked
    ]  # fmt: skip
    ends, poses = [], []
    for body, static, frame in (
        (facts.body0, facts.static0, facts.frame0), (facts.body1, facts.static1, facts.frame1)
    ):  # fmt: skip
        ends.append(rows.get(body or static, -1))
        if not body and static in rows:
            # On the collider itself, so that it does not collide with what hangs there.
            frame = np.linalg.inv(setup.layout.places.of(setup.layout.model.prims[static]).pose) @ frame
        poses.append(_pose(frame))
    return {
        "path": facts.path, "bodies": ends, "poses": poses, "dofs": [_limits(each) for each in facts.freedoms],
        "axes": {name: axis for axis, name in names.items()}, "drives": drives, "cone": facts.cone,
        "distance": None if facts.distance is None else _limits(facts.distance),
        "is_enabled": facts.enabled, "collides": facts.collides,
    }  # fmt: skip


def _limits(freedom: Freedom) -> list[float | None]:
    if freedom.is_locked:
        return [1.0, -1.0]
    return [value if abs(value) < NO_LIMIT else None for value in (freedom.low, freedom.high)]
