# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for colliders, their shape and their scale."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import cavity, frames, gprims
from ..frames import Matrix
from ..model import Mesh, Prim
from ..schemas import usd_geom, usd_physics
from ..words import length_text
from .base import Facts, Finding, kind, name, rule

ROUND_TYPES = frozenset(("Sphere", "Capsule", "Capsule_1", "Cylinder", "Cylinder_1", "Cone", "Points"))
#: Xformable types of UsdGeom without geometry. Unknown types are assumed to have geometry.
NO_GEOMETRY = frozenset(("Xform", "Camera", "PointInstancer", "SkelRoot", "Skeleton"))
TRIANGLES = ("none", "meshSimplification")
#: Of the extent: how far the mean of the points of a mesh may be from the middle of its bounds, and points from their
#: corners, where bounding spheres and boxes of all simulators are alike.
OFF_CENTRE, OFF_CORNER = 0.01, 0.05
#: m: into wider boxes and hulls cylinders and cones fall in ovphysx 0.7, in metres and centimetres, whatever their own
#: size: 100 m wide they held, 104 m wide they did not. Triangles and planes of any size do.
WIDEST = 100.0
#: Approximations that PhysX makes one convex shape of.
SOLIDS = ("boundingCube", "convexHull")
_NO_POINTS = np.zeros((0, 3))
#: Different meshes, and triangles of them, in which hollows are looked for.
MOST_MESHES, MOST_FACES = 300, 2_000_000


@rule("ColliderNonUniformScale")
def non_uniform_scale(facts: Facts) -> Iterator[Finding]:
    places = facts.placements
    uneven = {places.prims[row].path: row for row in np.flatnonzero(places.uneven)}
    if not uneven:
        return
    for prim, _ in facts.colliders:
        row = uneven.get(prim.path)
        if row is not None and prim.type_name in ROUND_TYPES:
            scale = ", ".join(f"{part:.6g}" for part in places.lengths[row])
            shape = prim.type_name.partition("_")[0].lower()
            yield Finding(prim, f"The {shape} collider {prim.display} has an uneven scale ({scale}).")


@rule("ColliderSheared")
def sheared_collider(facts: Facts) -> Iterator[Finding]:
    for prim in facts.placements.where(facts.placements.sheared):
        if usd_physics.CollisionAPI.usd_name in prim.schemas and prim.type_name not in ROUND_TYPES:
            yield Finding(prim, f"The collider {prim.display} is sheared: a scale above it is not along its own axes.")


@rule("ZeroScale")
def zero_scale(facts: Facts) -> Iterator[Finding]:
    for prim in facts.placements.where(facts.placements.zero):
        yield Finding(prim, f"{prim.display} has scale 0 along an axis.")


@rule("ShapeSizeOdd")
def odd_sizes(facts: Facts) -> Iterator[Finding]:
    for path, sizes in facts.model.odd_sizes.items():
        prim = facts.model.prims.get(path) or Prim(path)
        for usd_name, size in sizes:
            message = f"The {usd_name} of {prim.display} is negative."
            if size is None:
                message = f"The {usd_name} of {prim.display} is blocked, so that it has no value."
            yield Finding(prim, message, {"value": usd_name})


@rule("NegativeScale")
def negative_scale(facts: Facts) -> Iterator[Finding]:
    mirrored = list(facts.placements.where(facts.placements.mirrored))
    paths = {prim.path for prim in mirrored}
    for prim in mirrored:
        # What is below a mirrored prim is mirrored with it: one place to fix, one issue.
        if any(above.path in paths for above in facts.model.ancestors(prim.path)):
            continue
        yield Finding(prim, f"{prim.display} is mirrored by a negative scale.")


@rule("ColliderPlaneDynamic")
def dynamic_plane(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.colliders:
        if prim.type_name == "Plane":
            body = facts.mover.at(prim.path)
            if body is not None and body.path in facts.dynamic:
                yield Finding(
                    prim, f"The plane collider {prim.display} belongs to the moving body {body.display}.",
                    {"other": name(body)},
                )  # fmt: skip


@rule("ColliderTriangleMeshDynamic")
def dynamic_triangle_mesh(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.colliders:
        if prim.type_name != "Mesh":
            continue
        settings = prim.schemas.get(usd_physics.MeshCollisionAPI.usd_name)
        approximation = settings.approximation if isinstance(settings, usd_physics.MeshCollisionAPI) else None
        if approximation is not None and approximation not in TRIANGLES:
            continue
        body = facts.carrier.at(prim.path)
        if body is not None and body.path in facts.dynamic:
            yield Finding(prim, f"{prim.display} is a triangle mesh collider on the moving body {body.display}.")


@rule("ColliderTwoRadii")
def two_radii(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.colliders:
        if usd_geom.TAPERED.get(str(prim.extras.get("usd_type"))) is type(prim.get(usd_geom.Gprim)):
            yield Finding(prim, f"{prim.display} has two radii; PhysX and Newton leave it out.")


def _hulls(facts: Facts) -> Iterator[tuple[Prim, Mesh | None]]:
    """All colliders; with their mesh in metres of the world those that take its hull, as far as it is loaded."""
    loaded = {prim.path: shape for prim, shape in facts.shapes if isinstance(shape, Mesh)}
    for prim, collider in facts.colliders:
        settings = prim.get(usd_physics.MeshCollisionAPI)
        mesh = loaded.get(prim.path) or facts.hulls.get(prim.path)
        is_hull = settings is not None and settings.approximation == "convexHull"
        if mesh is None or not is_hull or collider.collision_enabled is False or not np.isfinite(prim.world).all():
            yield prim, None
            continue
        lengths = np.linalg.norm(prim.world[:3, :3], axis=0)
        yield prim, Mesh(np.asarray(mesh.points, float) * lengths, np.asarray(mesh.triangles))


def _hollows(facts: Facts) -> list[tuple[Prim, float]]:
    found: list[tuple[Prim, float]] = []
    for _ in hollow_steps(facts, found):
        pass
    return found


def hollow_steps(facts: Facts, found: list[tuple[Prim, float]]) -> Iterator[None]:
    """Find the hulls that fill a hollow, and radii, m, of balls in these. Equal meshes are looked at once."""
    known: dict[tuple[int, ...], float] = {}
    faces = 0
    for prim, mesh in _hulls(facts):
        if mesh is None:
            yield
            continue
        key = (*mesh.points.shape, *mesh.triangles.shape, hash(np.round(mesh.points, 7).tobytes()))
        if key not in known:
            if faces + len(mesh.triangles) > MOST_FACES or len(known) >= MOST_MESHES:
                yield  # those that are known, or small, are still to come
                continue
            faces += len(mesh.triangles)
            steps = cavity.radius_steps(mesh)
            while True:
                try:
                    next(steps)
                except StopIteration as done:
                    known[key] = done.value
                    break
                yield
        if known[key] > 0.0:
            found.append((prim, known[key]))
        yield


def prepare(facts: Facts) -> Iterator[None]:
    """Compute in short steps what the rules of this module need."""
    found: list[tuple[Prim, float]] = []
    yield from hollow_steps(facts, found)
    facts.remember(_hollows, found)


@rule("HullFillsHollow")
def hull_fills_hollow(facts: Facts) -> Iterator[Finding]:
    for prim, radius in facts.once(_hollows):
        size = length_text(2.0 * radius)
        yield Finding(prim, f"The convex hull of {prim.display} fills a hollow in which a ball of {size} has room.")


@rule("BoundsFittedAnew")
def bounds_fitted_anew(facts: Facts) -> Iterator[Finding]:
    loaded = {prim.path: shape.points for prim, shape in facts.shapes if isinstance(shape, Mesh)}
    for prim, settings in facts.all(usd_physics.MeshCollisionAPI):
        approximation, found = settings.approximation, loaded.get(prim.path, facts.points.get(prim.path))
        if approximation not in ("boundingCube", "boundingSphere") or found is None or not len(found):
            continue
        points = np.asarray(found, float)
        low, high = points.min(axis=0), points.max(axis=0)
        extent, middle = float((high - low).max()), (low + high) / 2.0
        if approximation == "boundingSphere":
            is_same = bool(np.linalg.norm(points.mean(axis=0) - middle) <= OFF_CENTRE * extent)
        else:
            corners = [[(low, high)[bit][axis] for axis, bit in enumerate(bits)] for bits in np.ndindex(2, 2, 2)]
            is_same = all(np.linalg.norm(points - corner, axis=1).min() <= OFF_CORNER * extent for corner in corners)
        if not is_same and np.isfinite(extent):
            yield Finding(prim, f"PhysX and Newton fit bounds of their own to {prim.display}.")


@rule("RoundOnWideBox")
def round_on_wide_box(facts: Facts) -> Iterator[Finding]:
    """One of the bodies that fall is named for each box."""
    falls = [
        (prim, body) for prim, collider in facts.colliders
        if isinstance(prim.get(usd_geom.Gprim), usd_geom.Cylinder | usd_geom.Cone)
        and collider.collision_enabled is not False
        and (body := facts.mover.at(prim.path)) is not None and body.path in facts.dynamic
    ]  # fmt: skip
    if not falls:
        return
    loaded = {prim.path: shape.points for prim, shape in facts.shapes if isinstance(shape, Mesh)}
    for prim, collider in facts.colliders:
        width = 0.0 if collider.collision_enabled is False else _width(prim, loaded.get(prim.path, _NO_POINTS))
        if WIDEST < width < np.inf:
            own = facts.mover.at(prim.path)
            other = next((body for _, body in falls if body is not own), None)
            if other is not None:
                size = length_text(width)
                text = f"{prim.display} is {size} wide: cylinders and cones fall into it in PhysX."
                yield Finding(prim, text, {"other": name(other)})


def _width(prim: Prim, points: Matrix) -> float:
    """The longest edge of a box or hull, m; 0 for other shapes. points: (n, 3) of its mesh."""
    if not np.isfinite(prim.world).all():
        return 0.0
    gprim = prim.get(usd_geom.Gprim)
    if isinstance(gprim, usd_geom.Cube):
        return max(gprims.sizes(gprim, np.abs(frames.scale_of(prim.world))).edges)
    settings = prim.get(usd_physics.MeshCollisionAPI)
    if settings is None or settings.approximation not in SOLIDS or not len(points):
        return 0.0
    return float(np.ptp(np.asarray(points, float) * frames.scale_of(prim.world), axis=0).max())


@rule("ColliderNonXformable")
def collider_non_xformable(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.colliders:
        if not prim.is_xformable:
            yield Finding(prim, f"{prim.display} is a collider, but a {kind(prim)} has no transform.")


@rule("ColliderNotGprim")
def not_a_gprim(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.colliders:
        if prim.type_name in NO_GEOMETRY and prim.is_xformable:
            yield Finding(prim, f"{prim.display} is a collider, but a {kind(prim)} has no shape.")


@rule("ColliderEmptyMesh")
def empty_mesh(facts: Facts) -> Iterator[Finding]:
    for prim, shape in facts.shapes:
        if prim.type_name != "Points" and not (isinstance(shape, Mesh) and len(shape.points) and len(shape.triangles)):
            yield Finding(prim, f"The mesh collider {prim.display} has no faces that can be read.")


@rule("ColliderPointsNotFinite")
def points_not_finite(facts: Facts) -> Iterator[Finding]:
    for prim, shape in facts.shapes:
        if isinstance(shape, Mesh) and not np.isfinite(shape.points).all():
            yield Finding(prim, f"The mesh collider {prim.display} has points that are not finite.")


@rule("ColliderSpherePointsDataMissing")
def points_without_widths(facts: Facts) -> Iterator[Finding]:
    for prim, shape in facts.shapes:
        if prim.type_name == "Points" and shape is None:
            yield Finding(prim, f"The point collider {prim.display} has no points, or not one width for each point.")


@rule("MeshCollisionWithoutCollider")
def approximation_without_collider(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.MeshCollisionAPI):
        if usd_physics.CollisionAPI.usd_name not in prim.schemas:
            yield Finding(prim, f"{prim.display} sets Collides As (physics:approximation), but is not a collider.")


@rule("MeshCollisionOnNonMesh")
def approximation_of_non_mesh(facts: Facts) -> Iterator[Finding]:
    for prim, _ in facts.all(usd_physics.MeshCollisionAPI):
        if prim.type_name != "Mesh":
            yield Finding(prim, f"{prim.display} sets Collides As (physics:approximation), but is a {kind(prim)}.")
