# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass properties of shapes and bodies, with the rule that decided each number.

SI units. Source of the rules: UsdPhysics "Body Mass Properties", as
UsdPhysics.RigidBodyAPI.ComputeMassProperties of OpenUSD 26.11 applies them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import frames, gprims, paths, schema
from .frames import IDENTITY_ROTATION, Matrix, vector
from .hull import hull_steps, merged_steps, support_steps
from .model import GRAVCOMP, Mesh, PhysicsModel, Prim, SpherePoints
from .schema import Quaternion, Vector
from .schemas import usd_geom, usd_physics
from .schemas.usd_physics import MassAPI
from .steps import Steps, finished, part
from .units import INERTIA

#: kg/m3, of water: used if neither body, collider nor material has a density.
DEFAULT_DENSITY = 1000.0
#: Radius (m) of the sphere whose inertia a body without colliders gets.
POINT_RADIUS = 0.1
#: USD treats an inertia (in stage units) or quaternion with a smaller norm as not authored.
USD_TOLERANCE = 1e-5
#: Radius of gyration (m) from which an inertia that small counts beside its mass.
SMALLEST_GYRATION = 1e-4
#: Triangles that are summed in one step.
TOGETHER = 100_000
#: Triangles up to which shapes of meshes with the same content are computed once.
_SMALL_MESH = 500


# --------------------------------------------------------------------------- inertia


def translated(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Matrix:
    """Inertia (3, 3) about a point at `offset` (3,) from the centre of mass (parallel axis theorem)."""
    t = np.asarray(offset, float)
    result: Matrix = np.asarray(inertia, float) + mass * (t @ t * np.eye(3) - np.outer(t, t))
    return result


def rotated(inertia: ArrayLike, rotation: ArrayLike) -> Matrix:
    """Inertia (3, 3) after a rotation (3, 3): R I R^T."""
    turn = np.asarray(rotation, float)
    result: Matrix = turn @ np.asarray(inertia, float) @ turn.T
    return result


#: Moments of which the largest is larger than the others together by this part of them, which no body can have, count
#: as rounded ones of a plate or a rod.
ROUNDED = 1e-3
#: What moments are apart of those that no body can have, so that seven digits of them are, too.
_APART = 3e-6


def possible_moments(moments: ArrayLike) -> Matrix:
    """Moments of inertia (3,) of which none is larger than the others together, by the least change of those of plates
    and rods that rounding has made impossible. MuJoCo refuses a body whose moments differ from that in the last digit,
    or takes the mean of all three. What is more wrong than by `ROUNDED` stays as it is."""
    found = np.array(moments, float)
    if not np.isfinite(found).all():
        return found
    small, middle, large = np.argsort(found, kind="stable")
    excess = found[large] - found[small] - found[middle]
    wanted = excess + _APART * found[large]
    if wanted > 0.0 and excess <= ROUNDED * (found[small] + found[middle]):
        change = 0.5 * min(wanted, found[large] - found[middle])
        found[large] -= change
        # By the same numbers where both become equal.
        found[middle] = min(found[middle] + change, found[large])
    return found


def inertia_tensor(diagonal: ArrayLike, axes: ArrayLike) -> Matrix:
    """Tensor (3, 3) of principal moments (3,) and the quaternion (w, x, y, z) of their axes."""
    return rotated(np.diag(np.asarray(diagonal, float)), frames.matrix_of(axes))


def diagonalized(inertia: ArrayLike) -> tuple[Vector, Quaternion]:
    """Principal moments and the orientation (w, x, y, z) of their axes.

    Jacobi's method as in OpenUSD, not numpy.linalg.eigh: each moment stays with the axis nearest to it. The order
    matters, because authored moments can be combined with computed axes.
    """
    tensor = np.array(inertia, float)
    axes = np.eye(3)
    smallest = 1e-10 * float(np.abs(tensor).max(initial=0.0))
    if max(abs(tensor[0, 1]), abs(tensor[2, 0]), abs(tensor[1, 2])) <= smallest:
        return vector(tensor.diagonal()), frames.IDENTITY_ROTATION
    for _ in range(50):
        i, j = max(((0, 1), (2, 0), (1, 2)), key=lambda pair: abs(tensor[pair]))
        if abs(tensor[i, j]) <= smallest:
            break
        cotangent = (tensor[i, i] - tensor[j, j]) / (2.0 * tensor[i, j])
        angle = 0.5 * math.copysign(math.atan2(1.0, abs(cotangent)), cotangent)
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[j, i] = math.sin(angle)
        turn[i, j] = -turn[j, i]
        tensor = turn.T @ tensor @ turn
        axes = axes @ turn
    return vector(tensor.diagonal()), frames.quaternion_of(axes)


# --------------------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class Shape:
    """A solid of density 1.

    volume: m3. center: centroid (3,), m. inertia: (3, 3) about the centroid, m5. note: assumption made, or "".
    """

    volume: float
    center: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    inertia: NDArray[np.float64] = field(default_factory=lambda: np.zeros((3, 3)))
    note: str = ""


def box(size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), note: str = "") -> Shape:
    """Box of edge lengths (3,)."""
    edges = np.asarray(size, float)
    squares = edges**2
    volume = float(edges.prod())
    return Shape(volume, np.array(center, float), volume / 12.0 * np.diag(squares.sum() - squares), note)


def sphere(radius: float, center: ArrayLike = (0.0, 0.0, 0.0)) -> Shape:
    """Ball."""
    square = radius * radius
    volume = 4.0 / 3.0 * math.pi * square * radius
    return Shape(volume, np.array(center, float), 0.4 * volume * square * np.eye(3))


def cylinder(radius: float, height: float, axis: str = "Z") -> Shape:
    """Cylinder around its own middle."""
    square = radius * radius
    volume = math.pi * square * height
    across = volume * (3.0 * square + height * height) / 12.0
    return _around(axis, volume, 0.0, 0.5 * volume * square, across)


def capsule(radius: float, height: float, axis: str = "Z") -> Shape:
    """Capsule; `height` is that of the cylinder between the caps."""
    square = radius * radius
    barrel = math.pi * square * height
    ball = 4.0 / 3.0 * math.pi * square * radius
    along = 0.5 * barrel * square + 0.4 * ball * square
    across = barrel * (3.0 * square + height * height) / 12.0
    across += ball * (0.4 * square + 0.375 * radius * height + 0.25 * height * height)
    return _around(axis, barrel + ball, 0.0, along, across)


def cone(radius: float, height: float, axis: str = "Z") -> Shape:
    """Cone with its tip towards the positive axis; the origin is at half height, the centroid at a quarter."""
    square = radius * radius
    volume = math.pi * square * height / 3.0
    across = volume * (0.15 * square + 0.0375 * height * height)
    return _around(axis, volume, -0.25 * height, 0.3 * volume * square, across)


def tapered(bottom: float, top: float, height: float, axis: str = "Z", *, has_caps: bool = True) -> Shape:
    """Hull of two balls of these radii (m), with their centres `height` apart; without caps a truncated cone.

    The origin is at half height; the top is towards the positive axis.
    """
    half = height / 2.0
    #: (from, to, square of the radius there) along the axis.
    pieces: list[tuple[float, float, Callable[[Matrix], Matrix]]] = []
    low, high, start, end = -half, half, bottom, top
    if has_caps:
        if height <= abs(bottom - top):
            # One ball holds the other.
            at = _around(axis, 0.0, half if top > bottom else -half, 0.0, 0.0)
            return replace(sphere(max(bottom, top)), center=at.center)
        slope = (bottom - top) / height
        low, high = -half + bottom * slope, half + top * slope
        start, end = (radius * math.sqrt(1.0 - slope * slope) for radius in (bottom, top))
        pieces = [
            (-half - bottom, low, lambda z: bottom * bottom - (z + half) ** 2),
            (high, half + top, lambda z: top * top - (z - half) ** 2),
        ]
    if high > low:
        pieces.append((low, high, lambda z: (start + (end - start) * (z - low) / (high - low)) ** 2))
    volume = moment = square = along = 0.0
    # The integrands are polynomials of up to the fourth degree, for which three points are exact.
    nodes, weights = np.polynomial.legendre.leggauss(3)
    for first, last, radius_square in pieces:
        z, w = (first + last + (last - first) * nodes) / 2.0, math.pi * (last - first) / 2.0 * weights
        area = radius_square(z)
        volume += float(w @ area)
        moment += float(w @ (area * z))
        square += float(w @ (area * z * z))
        along += float(w @ (area * area)) / 2.0
    center = moment / volume if volume > 0.0 else 0.0
    return _around(axis, volume, center, along, along / 2.0 + square - center * moment)


def gravity_factor(prim: Prim) -> float:
    """How much gravity pulls a body, as PhysX's flag, a glTF file or `mjc:gravcomp` of a USD file says; 1 for others.

    0 of a glTF file is that flag here, which the user may have cleared since.
    """
    physx: Any = prim.schemas.get("PhysxRigidBodyAPI")
    if physx is not None and physx.disable_gravity is True:
        return 0.0
    motion = prim.extras.get("motion") if prim.extras else None
    if not isinstance(motion, dict):
        return 1.0
    value: Any = motion.get("gravityFactor")
    is_factor = isinstance(value, int | float) and math.isfinite(value) and (value != 0.0 or motion.get(GRAVCOMP))
    return float(value) if is_factor else 1.0


def taper_of(prim: Prim) -> tuple[float, float] | None:
    """(radius at the bottom, at the top) of a capsule or cylinder with two; None for others.

    Of a glTF file: None if the user has given it another radius since. Of USD: the larger one is its radius now.
    """
    gprim, kept = prim.get(usd_geom.Gprim), prim.extras.get("shape")
    if gprim is None:
        return None
    shares: Any = prim.extras.get("taper")
    if shares is not None and type(gprim) is usd_geom.TAPERED.get(str(prim.extras.get("usd_type"))):
        is_valid = isinstance(shares, list) and len(shares) == 2 and all(isinstance(one, float) for one in shares)
        if not is_valid or not all(0.0 <= one <= 1.0 for one in shares):
            return None
        return (shares[0] * gprim.resolved("radius"), shares[1] * gprim.resolved("radius"))
    if not isinstance(kept, dict):
        return None
    values = kept.get({usd_geom.Capsule: "capsule", usd_geom.Cylinder: "cylinder"}.get(type(gprim), ""))
    radii: list[Any] = [values.get(key) for key in ("radiusBottom", "radiusTop")] if isinstance(values, dict) else []
    if not radii or not all(isinstance(one, int | float) and one >= 0.0 for one in radii):
        return None
    radius, largest = gprim.resolved("radius"), max(radii)
    # An uneven scale is in the radius, and the pose takes it out again.
    scale = frames.scale_of(prim.local) if prim.local is not None else np.ones(3)
    across = float(np.abs(np.delete(scale, "XYZ".index(gprim.resolved("axis")))).min())
    if not largest or not math.isclose(largest, radius * across, rel_tol=1e-5):
        return None
    return (radii[0] / largest * radius, radii[1] / largest * radius)


def _around(axis: str, volume: float, offset: float, along: float, across: float) -> Shape:
    spine = "XYZ".index(axis)
    center = np.zeros(3)
    center[spine] = offset
    moments = np.full(3, across)
    moments[spine] = along
    return Shape(volume, center, np.diag(moments))


def balls(centers: ArrayLike, radii: ArrayLike) -> Shape:
    """Balls with centers (n, 3) and radii (n,); overlaps count twice."""
    places, sizes = np.asarray(centers, float), np.asarray(radii, float)
    volumes = 4.0 / 3.0 * math.pi * sizes**3
    volume = float(volumes.sum())
    if volume <= 0.0:
        return Shape(0.0, note="it has no shape with a volume")
    center = volumes @ places / volume
    away = places - center
    spread = np.einsum("i,ij,ik->jk", volumes, away, away)
    inertia = (np.trace(spread) + 0.4 * volumes @ sizes**2) * np.eye(3) - spread
    return Shape(volume, center, inertia)


def solid(points: ArrayLike, triangles: ArrayLike) -> Shape | None:
    """The solid enclosed by a triangle mesh, points (n, 3) and indices (m, 3); the winding may be inwards or outwards.

    None if the mesh is open, its winding is inconsistent, or its volume is zero.
    """
    return finished(solid_steps(points, triangles))


def solid_steps(points: ArrayLike, triangles: ArrayLike) -> Steps[Shape | None]:
    """`solid` in steps."""
    vertices = np.asarray(points, float)
    corners = np.asarray(triangles, np.int64)
    if not len(corners) or not (yield from part(_closed_steps(vertices, corners), 0.0, 0.8)):
        return None
    middle = vertices.mean(axis=0)
    volume, center, moments = 0.0, np.zeros(3), np.zeros((3, 3))
    for start in range(0, len(corners), TOGETHER):
        a, b, c = np.moveaxis(vertices[corners[start : start + TOGETHER]] - middle, 1, 0)
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
        volume += float(volumes.sum())
        total = a + b + c
        center = center + volumes @ total
        for side in (a, b, c, total):
            moments = moments + np.einsum("i,ij,ik->jk", volumes, side, side)
        yield 0.8 + 0.2 * start / len(corners)
    if abs(volume) <= 1e-9 * float(np.ptp(vertices, axis=0).max()) ** 3:
        return None
    center = center / (4.0 * volume)
    spread = moments / (20.0 * volume) - np.outer(center, center)
    return Shape(abs(volume), center + middle, abs(volume) * (np.trace(spread) * np.eye(3) - spread))


def _closed_steps(points: Matrix, triangles: NDArray[np.int64]) -> Steps[bool]:
    """True if every edge is used equally often in both directions; (nearly) coincident points are merged."""
    # Where that holds, it also does after merging.
    if (yield from part(_balanced_steps(triangles, len(points)), 0.0, 0.2)):
        return True
    extent = float(np.ptp(points, axis=0).max())
    for done, size in ((0.2, 0.0), (0.6, 1e-6 * extent or 1.0)):
        places = np.round(points / size) if size else points
        yield done
        welded = yield from part(merged_steps(places), done, done + 0.2)
        if (yield from part(_balanced_steps(welded[triangles], len(points)), done + 0.2, done + 0.4)):
            return True
    return False


def _balanced_steps(triangles: NDArray[np.int64], count: int) -> Steps[bool]:
    """True if every edge between `count` points is used equally often in both directions."""
    starts, ends = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    yield 0.2
    forth, back = starts < ends, starts > ends
    edges = [low[way] * count + high[way] for low, high, way in ((starts, ends, forth), (ends, starts, back))]
    yield 0.4
    if len(edges[0]) != len(edges[1]):
        return False
    for done, matched in zip((0.6, 0.8), edges, strict=True):
        matched.sort()
        yield done
    return bool((edges[0] == edges[1]).all())


def support_points_of(mesh: Mesh) -> Steps[NDArray[np.int64]]:
    """`support_points` of a mesh in steps, kept in it."""
    known: NDArray[np.int64] | None = mesh.derived.get(support_steps)
    if known is None:
        known = mesh.derived[support_steps] = yield from support_steps(mesh.points)
    return known


def bounding_box(points: ArrayLike, note: str = "") -> Shape:
    """Axis-aligned bounding box of points (n, 3)."""
    vertices = np.asarray(points, float)
    return box(np.ptp(vertices, axis=0), (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0, note)


def bounding_sphere(points: ArrayLike) -> Shape:
    """Ball around points (n, 3), centred on their bounding box."""
    vertices = np.asarray(points, float)
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2.0
    return sphere(float(np.linalg.norm(vertices - middle, axis=1).max()), middle)


def mesh_shape(points: ArrayLike, triangles: ArrayLike, approximation: str = "none") -> Shape:
    """The solid of a mesh collider with points (n, 3) and indices (m, 3).

    approximation: as in MeshCollisionAPI. Simplified and decomposed meshes count as the mesh itself. A mesh that is not
    closed counts as its convex hull, a flat one as its bounding box; `note` says so.
    """
    return finished(mesh_steps(points, triangles, approximation))


def mesh_steps(points: ArrayLike, triangles: ArrayLike, approximation: str = "none") -> Steps[Shape]:
    """`mesh_shape` in steps."""
    vertices = np.asarray(points, float).reshape(-1, 3)
    # The comparison is false for what is not a number, too.
    if not len(vertices) or not (np.abs(vertices) <= gprims.LARGEST).all():
        return Shape(0.0, note="the mesh has no usable points")
    if approximation == "boundingCube":
        return bounding_box(vertices)
    if approximation == "boundingSphere":
        return bounding_sphere(vertices)
    wants_hull = approximation == "convexHull"
    shape = None if wants_hull else (yield from part(solid_steps(vertices, triangles), 0.0, 0.5))
    if shape is not None:
        return shape
    faces = yield from part(hull_steps(vertices), 0.5, 1.0)
    shape = None
    if faces is not None:
        used, corners = np.unique(faces, return_inverse=True)
        shape = solid(vertices[used], corners.reshape(-1, 3))
    if shape is None:
        return bounding_box(vertices, "the mesh is flat: its bounds are taken")
    note = "" if wants_hull else "the mesh is not closed: its convex hull is taken"
    return Shape(shape.volume, shape.center, shape.inertia, note)


def collider_shape(prim: Prim) -> Shape:
    """The solid of a collider in prim space with the world scale applied, metres.

    Source: scale rules of the UsdPhysics parsing utilities ("Physics Sphere Shape Descriptor" and the next).
    """
    return finished(collider_steps(prim))


def collider_steps(prim: Prim) -> Steps[Shape]:
    """`collider_shape` in steps; that of a mesh is kept in the mesh."""
    scale = np.abs(frames.scale_of(prim.world))
    gprim = prim.get(usd_geom.Gprim)
    if gprim is not None:
        taper = taper_of(prim)
        if taper is not None:
            lengths = gprims.sizes(gprim, scale)
            bottom, top = (radius * lengths.radius / max(taper) for radius in taper)
            is_capsule = lengths.kind is usd_geom.Capsule
            solid = tapered(bottom, top, lengths.height, lengths.axis, has_caps=is_capsule)
        else:
            solid = _gprim_shape(gprim, scale)
        # The rotation of a mirrored space has all axes turned round.
        return replace(solid, center=-solid.center) if frames.determinant(prim.world) < 0.0 else solid
    geometry = prim.mesh() if prim.mesh is not None else None
    if geometry is None:
        return Shape(0.0, note="it has no shape with a volume")
    stretch = frames.rotation_of(prim.world).T @ np.asarray(prim.world, float)[:3, :3]
    if isinstance(geometry, SpherePoints):
        return balls(geometry.centers @ stretch.T, geometry.radii * scale.max())
    assert isinstance(geometry, Mesh)
    options = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if options is None else options.resolved("approximation")
    key = (approximation, stretch.tobytes())
    shape = geometry.derived.get(key)
    if shape is None:
        mesh = geometry.stretched(stretch)
        points, triangles = mesh.points, mesh.triangles
        if len(triangles) <= _SMALL_MESH:
            triangles = np.ascontiguousarray(triangles, np.int64)
            shape = _small_mesh_shape(points.tobytes(), triangles.tobytes(), approximation)
        else:
            if approximation == "convexHull" and np.isfinite(points).all():
                points = points[(yield from part(support_points_of(mesh), 0.0, 0.5))]
            shape = yield from part(mesh_steps(points, triangles, approximation), 0.5, 1.0)
        geometry.derived[key] = shape
    return shape


@lru_cache(maxsize=1024)
def _small_mesh_shape(points: bytes, triangles: bytes, approximation: str) -> Shape:
    """`mesh_shape` of arrays as bytes: copies of one part, each with a mesh of its own, are computed once."""
    corners = np.frombuffer(triangles, np.int64).reshape(-1, 3)
    return mesh_shape(np.frombuffer(points, float).reshape(-1, 3), corners, approximation)


def _gprim_shape(gprim: usd_geom.Gprim, scale: Matrix) -> Shape:
    sizes = gprims.sizes(gprim, scale)
    if sizes.kind is usd_geom.Plane:
        return Shape(0.0, note="a plane has no volume")
    if sizes.kind is usd_geom.Cube:
        return box(sizes.edges)
    if sizes.kind is usd_geom.Sphere:
        return sphere(sizes.radius)
    make = {usd_geom.Capsule: capsule, usd_geom.Cylinder: cylinder, usd_geom.Cone: cone}[sizes.kind]
    return make(sizes.radius, sizes.height, sizes.axis)


# --------------------------------------------------------------------------- bodies


@dataclass(frozen=True, slots=True)
class ValueSource:
    """The rule that decided a number.

    kind: "authored" on the body, "collider" (authored on a collider), "density" (of a MassAPI), "material",
    "default" (1000 kg/m3), "mixed", "shape", "fallback" or "identity". text: phrase for the user interface.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ColliderMass:
    """Contribution of one collider: mass (kg), center (3,) and inertia (3, 3) about it, in the body's frame."""

    path: str
    shape: Shape
    mass: float
    center: Matrix
    inertia: Matrix
    source: ValueSource


@dataclass(frozen=True, slots=True)
class BodyMassProperties:
    """Mass (kg), centre of mass (m), principal moments (kg m2) and the orientation (w, x, y, z) of their axes.

    All in the body's frame: its position and rotation without scale. parts: the summed colliders; empty if mass,
    centre and inertia are authored. notes: assumptions, and authored values that are ignored.
    """

    mass: float
    center_of_mass: Vector
    diagonal_inertia: Vector
    principal_axes: Quaternion
    mass_source: ValueSource
    center_source: ValueSource
    inertia_source: ValueSource
    axes_source: ValueSource
    parts: tuple[ColliderMass, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def inertia(self) -> Matrix:
        """Tensor (3, 3) about the centre of mass."""
        return inertia_tensor(self.diagonal_inertia, self.principal_axes)


@dataclass(slots=True)
class _Authored:
    """The usable values of a MassAPI; None if USD treats the value as not authored."""

    mass: float | None = None
    density: float | None = None
    center: Matrix | None = None
    moments: Matrix | None = None
    axes: Quaternion | None = None
    note: str = ""


def _authored(model: PhysicsModel, prim: Prim) -> _Authored:
    api = prim.get(MassAPI)
    result = _Authored()
    if api is None:
        return result
    result.mass = _positive(api.resolved("mass"))
    result.density = _positive(api.resolved("density"))
    center = api.decided("center_of_mass")
    if center is not None:
        result.center = np.asarray(center) * frames.scale_of(prim.world)
    size = float(np.linalg.norm(api.resolved("diagonal_inertia"))) / model.units.factor(INERTIA)
    # Simulators use a small one with the mass that it belongs to, if it is one of a body and not of a point.
    least = math.inf if result.mass is None else result.mass * SMALLEST_GYRATION**2
    if size > USD_TOLERANCE or size * model.units.factor(INERTIA) > least:
        result.moments = np.asarray(api.diagonal_inertia)
    elif size > 0.0:
        result.note = f"the inertia authored on {prim.display} is so small in the file's units that USD ignores it"
    w, *imaginary = api.resolved("principal_axes")
    if abs(w) > USD_TOLERANCE or float(np.linalg.norm(imaginary)) > USD_TOLERANCE:
        result.axes = api.principal_axes
    return result


def _positive(value: float | None) -> float | None:
    return value if value is not None and 0.0 < value < math.inf else None


def colliders_by_body(model: PhysicsModel, others: Collection[str] = ()) -> dict[str, list[Prim]]:
    """The colliders that give each body its mass: enabled, at or below it, but not at or below another enabled body.

    Unlike PhysicsModel.colliders_of, a reset transform stack does not exclude a collider, nor does a nested body that
    is disabled. others: paths of prims that count as bodies, too. One call serves all bodies: it visits each collider
    once.
    """
    bodies = model.bodies
    enabled = {path for path, prim in bodies.items() if _resolved(prim, usd_physics.RigidBodyAPI, "rigid_body_enabled")}
    by_body: dict[str, list[Prim]] = {path: [] for path in (*bodies, *others)}
    for path, prim in model.colliders.items():
        if not _resolved(prim, usd_physics.CollisionAPI, "collision_enabled"):
            continue
        above = path
        while above and above not in enabled:
            if above in by_body:
                by_body[above].append(prim)
            above = paths.parent_of(above)
        if above:
            by_body[above].append(prim)
    return by_body


def _resolved(prim: Prim, cls: type[schema.Schema], name: str) -> bool:
    value = prim.get(cls)
    return value is not None and bool(value.resolved(name))


def _density(
    model: PhysicsModel, prim: Prim, own: _Authored, body: Prim, of_body: _Authored
) -> tuple[float, ValueSource]:
    if own.density is not None:
        text = "of the body" if prim is body else "of its own"
        return own.density, ValueSource("density", f"density {own.density:.6g} kg/m3 {text}")
    if of_body.density is not None:
        return of_body.density, ValueSource("density", f"density {of_body.density:.6g} kg/m3 of the body")
    bound = prim.physics_binding if prim.physics_binding in prim.materials else next(reversed(prim.materials), "")
    material = model.prims.get(bound)
    api = material.get(usd_physics.MaterialAPI) if material is not None else None
    density = _positive(api.resolved("density")) if api is not None else None
    if material is not None and density is not None:
        return density, ValueSource(
            "material", f"density {density:.6g} kg/m3 of material {material.label or material.name}"
        )
    return DEFAULT_DENSITY, ValueSource("default", f"default density {DEFAULT_DENSITY:.0f} kg/m3")


def _collider_mass(model: PhysicsModel, prim: Prim, body: Prim, of_body: _Authored) -> ColliderMass:
    """Mass, centre and inertia of one collider in the body's frame, its own MassAPI considered."""
    shape = collider_shape(prim)
    own = _authored(model, prim)
    if own.mass is not None:
        mass, source = own.mass, ValueSource("collider", f"mass {own.mass:.6g} kg of its own")
    else:
        density, source = _density(model, prim, own, body, of_body)
        mass = shape.volume * density
    inertia = shape.inertia * (mass / shape.volume) if shape.volume > 0.0 else np.zeros((3, 3))
    if own.moments is not None:
        inertia = np.diag(own.moments)
    if own.axes is not None:
        inertia = rotated(inertia, frames.matrix_of(own.axes))
    center = shape.center
    if own.center is not None:
        center = own.center
        if own.moments is None:
            inertia = translated(inertia, mass, center - shape.center)
    to_body = frames.rotation_of(body.world).T
    turn = to_body @ frames.rotation_of(prim.world)
    offset = to_body @ (prim.world[:3, 3] - body.world[:3, 3])
    return ColliderMass(prim.path, shape, mass, turn @ center + offset, rotated(inertia, turn), source)


def mass_properties(
    model: PhysicsModel, body_path: str, colliders: Iterable[Prim] | None = None
) -> BodyMassProperties:  # fmt: skip
    """Mass, centre of mass and inertia of a body by the precedence of UsdPhysics, with the source of each.

    Values authored on the body win; the enabled colliders at and below it give the rest. Without either, the mass is
    1 in the mass unit of the file, as in the specification (OpenUSD's own function returns -1). Raises KeyError if the
    model has no prim at this path. colliders: of this body, from one call of `colliders_by_body` for many bodies.
    """
    body = model.prims[body_path]
    own = _authored(model, body)
    parts: tuple[ColliderMass, ...] = ()
    if own.mass is None or own.center is None or own.moments is None:
        if colliders is None:
            colliders = colliders_by_body(model, (body_path,))[body_path]
        parts = tuple(_collider_mass(model, prim, body, own) for prim in colliders)
    notes = [own.note] * bool(own.note)
    notes += [f"{model.prims[part.path].display}: {part.shape.note}" for part in parts if part.shape.note]
    total = sum(part.mass for part in parts)
    if total > 0.0:
        return _from_colliders(model, own, parts, total, tuple(notes))
    return _without_colliders(model, own, parts, tuple(notes))


def properties_steps(model: PhysicsModel, body_path: str) -> Steps[BodyMassProperties]:
    """`mass_properties` in steps."""
    colliders = colliders_by_body(model, (body_path,))[body_path]
    own = _authored(model, model.prims[body_path])
    if own.mass is None or own.center is None or own.moments is None:
        meshes = [prim for prim in colliders if prim.mesh is not None]
        for number, prim in enumerate(meshes):
            yield from part(collider_steps(prim), number / len(meshes), (number + 1) / len(meshes))
    return mass_properties(model, body_path, colliders)


def _from_colliders(
    model: PhysicsModel, own: _Authored, parts: tuple[ColliderMass, ...], total: float, notes: tuple[str, ...]
) -> BodyMassProperties:
    summed_center = np.sum([part.mass * part.center for part in parts], axis=0) / total
    inertia = np.sum([translated(part.inertia, part.mass, part.center - summed_center) for part in parts], axis=0)
    mass, mass_source = total, _sum_source(model, parts)
    center, center_source = summed_center, ValueSource("shape", f"centre of {_count(model, parts)}")
    inertia_text = f"shape of {_count(model, parts)}"
    if own.mass is not None:
        inertia = inertia * (own.mass / total)
        mass, mass_source = own.mass, ValueSource("authored", "mass authored on the body")
        inertia_text += ", scaled to the mass of the body"
    if own.center is not None:
        inertia = translated(inertia, mass, own.center - summed_center)
        center, center_source = own.center, ValueSource("authored", "centre of mass authored on the body")
        inertia_text += ", moved to the authored centre of mass"
    moments, axes = diagonalized(inertia)
    inertia_source = axes_source = ValueSource("shape", inertia_text)
    if own.moments is not None:
        moments, inertia_source = vector(own.moments), ValueSource("authored", "inertia authored on the body")
    if own.axes is not None:
        axes, axes_source = own.axes, ValueSource("authored", "principal axes authored on the body")
    return BodyMassProperties(
        mass, vector(center), moments, axes, mass_source, center_source, inertia_source, axes_source, parts, notes
    )


def _without_colliders(
    model: PhysicsModel, own: _Authored, parts: tuple[ColliderMass, ...], notes: tuple[str, ...]
) -> BodyMassProperties:
    why = "its colliders have no volume" if parts else "there are no colliders"
    if own.mass is not None:
        mass, mass_source = own.mass, ValueSource("authored", "mass authored on the body")
    else:
        mass = model.units.kilograms_per_unit
        mass_source = ValueSource("fallback", f"{mass:.6g} kg, because {why}")
    center, center_source = np.zeros(3), ValueSource("fallback", f"the body's origin, because {why}")
    if own.center is not None:
        center, center_source = own.center, ValueSource("authored", "centre of mass authored on the body")
    moments = np.full(3, 0.4 * mass * POINT_RADIUS**2)
    inertia_source = ValueSource("fallback", f"a sphere of {POINT_RADIUS:g} m, because {why}")
    if own.moments is not None:
        moments, inertia_source = own.moments, ValueSource("authored", "inertia authored on the body")
    axes, axes_source = IDENTITY_ROTATION, ValueSource("identity", "the body's own axes")
    if own.axes is not None:
        axes, axes_source = own.axes, ValueSource("authored", "principal axes authored on the body")
    return BodyMassProperties(
        mass, vector(center), vector(moments), axes,
        mass_source, center_source, inertia_source, axes_source, parts, notes,
    )  # fmt: skip


def _count(model: PhysicsModel, parts: tuple[ColliderMass, ...]) -> str:
    return model.prims[parts[0].path].display if len(parts) == 1 else f"{len(parts)} colliders"


def _sum_source(model: PhysicsModel, parts: tuple[ColliderMass, ...]) -> ValueSource:
    """One reason for all colliders, or a list of the reasons."""
    by_text: dict[str, list[ColliderMass]] = {}
    for each in parts:
        by_text.setdefault(each.source.text, []).append(each)
    kinds = {part.source.kind for part in parts}
    reasons = [f"{text} on {_count(model, tuple(same))}" for text, same in by_text.items()]
    kind = kinds.pop() if len(kinds) == 1 else "mixed"
    text = reasons[0] if len(reasons) == 1 else f"sum of {len(parts)} colliders: {'; '.join(reasons)}"
    return ValueSource(kind, text)
