# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines for a physics model: collision shapes, bodies, masses, joints, filters and articulations.

No Blender, no GPU. Lengths in metres. The solver computes convex decompositions; without a solver the hull is drawn.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import fitting, frames, gprims, hull, joint_kinds, mass, paths, schema
from ..core.errors import MissingDependencyError
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..core.rules.base import Above
from ..core.schemas import usd_geom, usd_physics
from ..simulation.articulations import trees_of
from ..simulation.engine import preview_engine
from ..simulation.layout import Places
from . import draw_data
from .draw_data import Drawing, Vertices

(DYNAMIC, STATIC, KINEMATIC, ASLEEP, DISABLED, JOINT, LIMIT, DRIVE, NEEDLE, AXIS_X, AXIS_Y, AXIS_Z, MASS, INERTIA,
 FILTER, ARTICULATION, UNGROUPED, GROUPS) = range(18)  # fmt: skip
#: Drawn behind surfaces too, because joints are often inside of their bodies.
OF_JOINTS = (JOINT, LIMIT, DRIVE, NEEDLE)
#: Largest number of spheres that are drawn for one collider of points.
MOST_POINTS = 500
#: Size of the symbol of a joint: as a fraction of its smaller body, and in metres if no body has a size.
JOINT_SIZE, JOINT_PART = 0.25, 0.9
_CACHED = 4096
_shapes: OrderedDict[Any, Vertices] = OrderedDict()


class NotLoadedError(Exception):
    """A mesh was not loaded while the scene could be read."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is drawn. Each string is "NONE", "SELECTED" or "ALL". size: scale factor of joint symbols."""

    colliders: str = "SELECTED"
    bodies: str = "NONE"
    mass: str = "NONE"
    joints: str = "SELECTED"
    filtered_pairs: str = "NONE"
    articulations: str = "NONE"
    by_group: bool = False
    frames: bool = True
    limits: bool = True
    drives: bool = True
    size: float = 1.0

    @property
    def scopes(self) -> set[str]:
        return {self.colliders, self.bodies, self.mass, self.joints, self.filtered_pairs, self.articulations}


@dataclass(slots=True)
class Carriers:
    """The prims that move, and with them the prims below that have no row.

    rows: index by path; row 0 is the world. start: world matrices (n, 4, 4) by row when the model was read.
    holds_joints: joints have rows; otherwise they move with their bodies.
    """

    rows: dict[str, int] = field(default_factory=dict)
    start: Matrix = field(default_factory=lambda: np.eye(4)[None])
    holds_joints: bool = False
    _known: dict[str, int] = field(default_factory=dict)
    _inverse: dict[int, Matrix] = field(default_factory=dict)

    def row(self, path: str) -> int:
        known = self._known.get(path)
        if known is None:
            known = self.rows.get(paths.nearest(path, self.rows), 0)
            if known and frames.is_flat(frames.determinant(self.start[known])):
                known = 0
            self._known[path] = known
        return known

    def local(self, row: int, world: Matrix) -> Matrix:
        """A world matrix (4, 4) or point (3,) in the space of a carrier."""
        inverse = self._inverse.get(row)
        if inverse is None:
            inverse = self._inverse[row] = np.linalg.inv(self.start[row])
        if world.ndim == 2:
            return np.asarray(inverse @ world)
        return np.asarray(inverse[:3, :3] @ world + inverse[:3, 3])


@dataclass(slots=True)
class Seen:
    """Names of the selected and of the hidden objects."""

    selected: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


def build(model: PhysicsModel, options: Options, seen: Seen, carriers: Carriers) -> Drawing:
    """The drawing of a model. Raises NotLoadedError if a mesh has not been loaded and cannot be any more."""
    return _Builder(model, options, seen, carriers).build()


def with_meshes(model: PhysicsModel, mesh_of: Callable[[Prim], Callable[[], Any] | None]) -> PhysicsModel:
    """A copy of a model whose prims load their meshes with other functions."""
    from dataclasses import replace

    copied = {
        path: prim if prim.mesh is None else replace(prim, mesh=mesh_of(prim)) for path, prim in model.prims.items()
    }
    return replace(model, prims=copied)


def known_mesh(prim: Prim) -> Any:
    """The mesh of a prim from the cache of a scene reading; None if it is not loaded yet. Loads nothing."""
    load = prim.mesh
    if isinstance(load, partial) and len(load.args) > 1 and isinstance(load.args[0], dict):
        return load.args[0].get(load.args[1])
    return None


# --------------------------------------------------------------------------- shapes


def collider_lines(prim: Prim, rotation: Matrix) -> Vertices:
    """Lines of the collision shape, in the space of the prim without scale: the scale is applied to the lines."""
    gprim, stretch = prim.get(usd_geom.Gprim), rotation.T @ prim.world[:3, :3]
    if gprim is not None:
        is_usable = np.isfinite(stretch).all() and frames.determinant(stretch) != 0.0
        return _gprim_lines(gprim, mass.taper_of(prim), stretch) if is_usable else _NOTHING
    geometry = prim.mesh() if prim.mesh is not None else None
    if isinstance(geometry, SpherePoints):
        return _points_lines(geometry, stretch, float(np.abs(frames.scale_of(prim.world)).max()))
    if geometry is None or not len(geometry.points) or not np.isfinite(geometry.points).all():
        return _NOTHING
    options = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if options is None else options.resolved("approximation")
    own = ("overlay", approximation, stretch.tobytes())
    known = geometry.derived.get(own)
    if known is None:
        # Cached: every reading of the scene returns the same meshes.
        digest = hashlib.blake2b(geometry.points.tobytes(), digest_size=16)
        digest.update(geometry.triangles.tobytes())
        known = geometry.derived[own] = _cached(
            (digest.digest(), *own), lambda: _mesh_lines(prim, geometry, rotation, stretch, approximation)
        )
    lines: Vertices = known
    return lines


_NOTHING: Vertices = np.zeros((0, 3), np.float32)


def _cached(key: Any, make: Callable[[], Vertices]) -> Vertices:
    known = _shapes.get(key)
    if known is not None:
        _shapes.move_to_end(key)
        return known
    lines = _shapes[key] = make()
    if len(_shapes) > _CACHED:
        _shapes.popitem(last=False)
    return lines


def _gprim_lines(gprim: usd_geom.Gprim, taper: tuple[float, float] | None, stretch: Matrix) -> Vertices:
    """taper: radii of the bottom and the top, where they differ. stretch (3, 3): scale, shear and mirroring."""
    key = (type(gprim), repr(gprim), taper, np.round(stretch, 9).tobytes())
    return _cached(key, lambda: _new_gprim_lines(gprim, taper, stretch))


def _new_gprim_lines(gprim: usd_geom.Gprim, taper: tuple[float, float] | None, stretch: Matrix) -> Vertices:
    if taper is not None:
        sizes = gprims.sizes(gprim)
        has_caps = sizes.kind is usd_geom.Capsule
        return draw_data.joined(draw_data.tapered(*taper, sizes.height, sizes.axis, has_caps) @ stretch.T)
    scale = frames.scale_of(stretch)
    sizes = gprims.sizes(gprim, np.abs(scale))
    if sizes.kind is usd_geom.Cube:
        return draw_data.box(np.array(sizes.edges))
    if sizes.kind is usd_geom.Sphere:
        return draw_data.sphere(sizes.radius)
    # The frame of a mirrored prim is turned over: cones and planes would point the other way.
    side = np.sign(scale[0])
    if sizes.kind is usd_geom.Plane:
        across, along = gprims.PLANE_AXES[sizes.spine]
        lines = draw_data.plane(sizes.edges[across], sizes.edges[along], sizes.axis)
        normal = np.linalg.inv(stretch)[sizes.spine]
        return draw_data.joined(side * lines @ _turn(side * np.eye(3)[sizes.spine], normal).T)
    make = {usd_geom.Capsule: draw_data.capsule, usd_geom.Cylinder: draw_data.cylinder, usd_geom.Cone: draw_data.cone}
    return draw_data.joined(side * make[sizes.kind](sizes.radius, sizes.height, sizes.axis))


def _turn(first: Matrix, second: Matrix) -> Matrix:
    """The smallest rotation (3, 3) of one direction (3,) into another that is not opposite."""
    one, other = first / np.linalg.norm(first), second / np.linalg.norm(second)
    x, y, z = np.cross(one, other)
    across = np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
    return np.asarray(np.eye(3) + across + across @ across / (1.0 + one @ other))


def _points_lines(points: SpherePoints, stretch: Matrix, scale: float) -> Vertices:
    unit = draw_data.sphere(1.0)
    chosen = slice(0, MOST_POINTS)
    centers, radii = points.centers[chosen] @ stretch.T, points.radii[chosen] * scale
    usable = np.isfinite(centers).all(axis=1) & np.isfinite(radii) & (radii > 0.0)
    return draw_data.joined(centers[usable, None] + unit[None] * radii[usable, None, None])


def _mesh_lines(prim: Prim, geometry: Mesh, rotation: Matrix, stretch: Matrix, approximation: str) -> Vertices:
    points = np.asarray(geometry.points, float) @ stretch.T
    low, high = points.min(axis=0), points.max(axis=0)
    if approximation == "boundingCube":
        size = _solved_box(prim, geometry, rotation)
        return draw_data.joined(draw_data.box(high - low if size is None else size) + (low + high) / 2.0)
    if approximation == "boundingSphere":
        middle, radius = fitting.bounding_ball(points)
        return draw_data.joined(draw_data.sphere(radius) + middle)
    if approximation == "none":
        return draw_data.mesh_edges(points, geometry.triangles)
    parts = list(_solved(prim, geometry, rotation))
    if parts:
        return draw_data.joined(*parts)
    if approximation == "meshSimplification":
        return draw_data.mesh_edges(points, geometry.triangles)
    faces = hull.convex_hull(points)
    return draw_data.mesh_edges(points, geometry.triangles if faces is None else faces)


def _solved_box(prim: Prim, geometry: Mesh, rotation: Matrix) -> Matrix | None:
    """Edge lengths (3,) of the box that the solver creates from a mesh, a flat one thickened; None without a solver."""
    try:
        return preview_engine().box_of(prim, geometry, rotation)
    except MissingDependencyError:
        return None


def _solved(prim: Prim, geometry: Mesh, rotation: Matrix) -> Iterator[Vertices]:
    """Edges of the shapes that the solver creates from a mesh. Yields nothing without a solver or without shapes."""
    try:
        engine = preview_engine()
    except MissingDependencyError:
        return
    for points, faces in engine.surfaces_of(prim, geometry, rotation):
        yield draw_data.mesh_edges(points, faces)


# --------------------------------------------------------------------------- the drawing


class _Builder:
    def __init__(self, model: PhysicsModel, options: Options, seen: Seen, carriers: Carriers) -> None:
        self.model, self.options, self.seen, self.carriers = model, options, seen, carriers
        self.drawing = Drawing()
        self.bodies = {
            path: prim for path, prim in model.bodies.items()
            if prim.get(usd_physics.RigidBodyAPI).resolved("rigid_body_enabled")  # type: ignore[union-attr]
        }  # fmt: skip
        self.colliders = model.colliders
        self.owners = Above(self.bodies, model.resets)
        self.places = Places({**self.bodies, **self.colliders}.values())
        self.carried: dict[str, list[Prim]] = defaultdict(list)
        for path, prim in self.colliders.items():
            owner = self.owners.at(path)
            self.carried[path if owner is None else owner.path].append(prim)
        self._bounds: dict[str, tuple[Matrix, Matrix] | None] = {}

    def build(self) -> Drawing:
        options = self.options
        if options.colliders != "NONE":
            self.add_colliders()
        for scope, add in ((options.bodies, self.add_body), (options.mass, self.add_mass)):
            for path, prim in self.bodies.items() if scope != "NONE" else ():
                if self.shows(scope, prim):
                    add(path, prim)
        if options.joints != "NONE":
            for prim in self.model.joints.values():
                self.add_joint(prim)
        if options.filtered_pairs != "NONE":
            self.add_filtered_pairs()
        if options.articulations != "NONE":
            self.add_articulations()
        return self.drawing.finish()

    @cached_property
    def weighed(self) -> dict[str, list[Prim]]:
        """The colliders that give each body its mass."""
        return mass.colliders_by_body(self.model)

    # ------------------------------------------------------------------ what is seen

    def shows(self, scope: str, *prims: Prim | None) -> bool:
        """True if the scope includes one of the prims and the first of them is not hidden."""
        labels = [prim.label for prim in prims if prim is not None] or [""]
        hidden, selected = self.seen.hidden, self.seen.selected
        if hidden and labels[0] in hidden:
            return False
        return scope == "ALL" or (scope == "SELECTED" and any(label in selected for label in labels))

    def add(self, vertices: Vertices, row: int, world: Matrix, color: int) -> None:
        self.drawing.add(vertices, row, self.carriers.local(row, world), color)

    def link(self, first: tuple[int, Matrix], second: tuple[int, Matrix], color: int, dashed: bool = False) -> None:
        """Add a line between two carriers. first, second: (carrier, world point)."""
        ends = [(row, self.carriers.local(row, place)) for row, place in (first, second)]
        self.drawing.link(*ends[0], *ends[1], color, dashed)

    # ------------------------------------------------------------------ colliders and bodies

    def kind(self, owner: Prim | None) -> int:
        if owner is None:
            return STATIC
        body = owner.get(usd_physics.RigidBodyAPI)
        return KINEMATIC if body is not None and body.resolved("kinematic_enabled") else DYNAMIC

    def add_colliders(self) -> None:
        groups = self.groups() if self.options.by_group else None
        for path, prim in self.colliders.items():
            owner = self.owners.at(path)
            if not self.shows(self.options.colliders, prim, owner):
                continue
            place = self.places[path]
            if groups is not None:
                color = groups.get(path, UNGROUPED)
            elif not prim.get(usd_physics.CollisionAPI).resolved("collision_enabled"):  # type: ignore[union-attr]
                color = DISABLED
            else:
                color = self.kind(owner)
            self.add(collider_lines(prim, place.rotation), self.carriers.row(path), place.pose, color)

    def groups(self) -> dict[str, int]:
        """Colour of each collider in a group, by its first group. Merged groups have one colour."""
        from ..core.collision_groups import members

        numbers: dict[str, int] = {}
        result: dict[str, int] = {}
        for path, prim in self.model.groups.items():
            group = prim.get(usd_physics.CollisionGroup)
            assert group is not None
            number = numbers.setdefault(group.merge_group or path, len(numbers))
            for collider in members(group, self.colliders):
                result.setdefault(collider, GROUPS + number % GROUP_COLORS)
        return result

    def bounds(self, path: str) -> tuple[Matrix, Matrix] | None:
        """Bounds (low, high) of all colliders of a body, or of a static collider, in its space without scale."""
        if path not in self._bounds:
            self._bounds[path] = self._new_bounds(path)
        return self._bounds[path]

    def _new_bounds(self, path: str) -> tuple[Matrix, Matrix] | None:
        place = self.places.get(path)
        if place is None:
            return None
        back = np.linalg.inv(place.pose)
        boxes = []
        for prim in self.carried.get(path, ()):
            lines = collider_lines(prim, self.places[prim.path].rotation)
            if not len(lines):
                continue
            low, high = lines.min(axis=0), lines.max(axis=0)
            corners = np.array([(x, y, z, 1.0) for x in (low[0], high[0]) for y in (low[1], high[1])
                                for z in (low[2], high[2])])  # fmt: skip
            boxes.append((corners @ (back @ self.places[prim.path].pose).T)[:, :3])
        if not boxes:
            return None
        points = np.concatenate(boxes)
        return (points.min(axis=0), points.max(axis=0)) if np.isfinite(points).all() else None

    def size(self, path: str) -> float:
        """Half the geometric mean of the two longest sides of the bounds of a body; 0 without colliders."""
        bounds = self.bounds(path)
        return 0.0 if bounds is None else 0.5 * math.sqrt(float(np.prod(np.sort(bounds[1] - bounds[0])[1:])))

    def center(self, path: str) -> Matrix | None:
        """World point in the middle of the colliders of a prim, else its origin; None if it has no transform."""
        owner = self.owners.at(path)
        if owner is not None and path not in self.colliders:
            path = owner.path
        bounds, place = self.bounds(path), self.places.get(path)
        if place is None:
            prim = self.model.prims.get(path)
            return None if prim is None or not prim.is_xformable else prim.world[:3, 3]
        if bounds is None:
            return place.position
        return np.asarray(place.pose[:3, :3] @ (bounds[0] + bounds[1]) / 2.0 + place.position)

    def add_body(self, path: str, prim: Prim) -> None:
        bounds, place, row = self.bounds(path), self.places[path], self.carriers.row(path)
        color = self.kind(prim)
        if bounds is None:
            self.add(draw_data.diamond(0.1), row, place.pose, color)
            return
        grown = 0.02 * float((bounds[1] - bounds[0]).max())
        low, high = (np.round(part, 6) for part in (bounds[0] - grown, bounds[1] + grown))
        lines = _cached(("brackets", low.tobytes(), high.tobytes()), lambda: draw_data.brackets(low, high))
        self.add(lines, row, place.pose, color)

    def add_mass(self, path: str, prim: Prim) -> None:
        """Add a cross at the centre of mass, and the homogeneous box with this mass and inertia."""
        try:
            properties = mass.mass_properties(self.model, path, self.weighed.get(path))
        except (ValueError, np.linalg.LinAlgError):
            return
        place, row = self.places[path], self.carriers.row(path)
        moments, size = np.asarray(properties.diagonal_inertia, float), self.size(path) or 0.2
        own = frames.transform(properties.center_of_mass, frames.matrix_of(properties.principal_axes))
        world = place.pose @ own
        self.add(_sign(0.3 * size), row, world, MASS)
        if properties.mass > 0.0 and np.isfinite(moments).all():
            squares = 6.0 * (moments.sum() - 2.0 * moments) / properties.mass
            self.add(draw_data.box(np.sqrt(np.maximum(squares, 0.0))), row, world, INERTIA)

    # ------------------------------------------------------------------ joints

    def add_joint(self, prim: Prim) -> None:
        joint = prim.get(usd_physics.Joint)
        assert joint is not None
        targets = [(targets_of_side or ("",))[0] for targets_of_side in (joint.body0, joint.body1)]
        owners = [self.owners.at(target) if target else None for target in targets]
        if not self.shows(self.options.joints, prim, *owners, *map(self.model.prims.get, targets)):
            return
        ends: list[tuple[int, Matrix] | None] = []
        for side, target in enumerate(targets):
            body = self.model.prims.get(target)
            if target and body is None:
                ends.append(None)
                continue
            position, rotation = joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
            frame = frames.world_frame(None if body is None else body.world, position, rotation)
            row = self.carriers.row(prim.path) if self.carriers.holds_joints else self.carriers.row(target)
            ends.append((row, frame) if np.isfinite(frame).all() else None)
        first, second = ends[0] or ends[1], ends[1] or ends[0]
        if first is None or second is None:
            return
        size = self.joint_size(targets, first[1])
        is_on = bool(joint.resolved("joint_enabled"))
        for (row, frame), target in zip((first, second), targets, strict=True):
            middle = self.center(target) if target else None
            if middle is not None:
                self.link((row, frame[:3, 3]), (self.carriers.row(target), middle), JOINT if is_on else DISABLED)
        apart = float(np.linalg.norm(first[1][:3, 3] - second[1][:3, 3]))
        if apart > 1e-3 * size:
            self.link((first[0], first[1][:3, 3]), (second[0], second[1][:3, 3]), NEEDLE, dashed=True)
        if self.options.frames:
            for color, lines in zip((AXIS_X, AXIS_Y, AXIS_Z), _axes(0.5 * size), strict=True):
                self.add(lines, first[0], first[1], color)
            self.add(_sign(0.12 * size), second[0], second[1], NEEDLE)
        for index, lines, color in _freedom_lines(prim, joint, size, self.options):
            row, frame = (first, second)[index]
            self.add(lines, row, frame, color if is_on else DISABLED)

    def joint_size(self, targets: list[str], frame: Matrix) -> float:
        sizes, arms = [], []
        for target in filter(None, targets):
            owner = self.owners.at(target)
            path = target if owner is None else owner.path
            sizes.append(self.size(path))
            middle = self.center(path)
            if middle is not None:
                arms.append(float(np.linalg.norm(middle - frame[:3, 3])))
        sizes, arms = [size for size in sizes if size > 0.0], [arm for arm in arms if arm > 1e-6]
        length = JOINT_PART * min(sizes) if sizes else 0.5 * min(arms) if arms else JOINT_SIZE
        # A large floor or a long arm should not give a large symbol.
        if arms and sizes:
            length = min(length, 1.2 * max(arms))
        return self.options.size * (length if math.isfinite(length) and length > 0.0 else JOINT_SIZE)

    # ------------------------------------------------------------------ filters and articulations

    def add_filtered_pairs(self) -> None:
        for path, prim in self.model.having(usd_physics.FilteredPairsAPI).items():
            api = prim.get(usd_physics.FilteredPairsAPI)
            here = self.center(path)
            for target in (api.filtered_pairs or ()) if api is not None else ():
                other, there = self.model.prims.get(target), self.center(target)
                if here is None or there is None or not self.shows(self.options.filtered_pairs, prim, other):
                    continue
                self.link((self.carriers.row(path), here), (self.carriers.row(target), there), FILTER, dashed=True)

    def add_articulations(self) -> None:
        """A diamond at each root, and lines along the tree of links below it; not along joints that close a loop."""
        for tree in trees_of(self.model):
            root = tree.root or tree.links[0].child
            prims = (self.model.prims[tree.prim], self.owners.at(tree.prim))
            members = [*prims, *(self.model.prims[link.child] for link in tree.links)]
            start = self.center(root)
            if start is None or not self.shows(self.options.articulations, *members):
                continue
            size = 0.8 * (self.size(root) or max(self.size(link.child) for link in tree.links) or JOINT_SIZE)
            lines = _cached(("root", round(size, 6)), lambda size=size: draw_data.diamond(size))  # type: ignore[misc]
            self.add(lines, self.carriers.row(root), frames.transform(start), ARTICULATION)
            for link in tree.links:
                first, second = self.center(link.parent) if link.parent else None, self.center(link.child)
                if first is None or second is None:
                    continue
                row = self.carriers.row(link.child)
                self.link((self.carriers.row(link.parent), first), (row, second), ARTICULATION)
                self.add(_sign(0.3 * size), row, frames.transform(second), ARTICULATION)


def _sign(size: float) -> Vertices:
    size = float(f"{size:.6g}")
    return _cached(("sign", size), lambda: draw_data.joined(draw_data.cross(size), draw_data.diamond(0.5 * size)))


def _axes(size: float) -> list[Vertices]:
    size = float(f"{size:.6g}")

    def make(axis: int) -> Vertices:
        return draw_data.joined(draw_data.arrow(np.zeros(3), size * np.eye(3)[axis], 0.2))

    return [_cached(("axis", axis, size), partial(make, axis)) for axis in range(3)]


def _turned(lines: ArrayLike, axis: int) -> Vertices:
    """Rotate lines so that X becomes another axis of the frame, and Y the next one."""
    return draw_data.joined(draw_data.along(np.asarray(lines, float)[:, (1, 2, 0)], "XYZ"[axis]))


def _freedom_lines(
    prim: Prim, joint: usd_physics.Joint, size: float, options: Options
) -> Iterator[tuple[int, Vertices, int]]:
    """(frame 0 or 1, lines, colour) for the limits, the current value and the drive targets of a joint."""
    axis = "XYZ".index(joint.resolved("axis")) if hasattr(joint, "axis") else 0
    if options.limits:
        if isinstance(joint, usd_physics.RevoluteJoint):
            yield from _angle(joint.resolved("lower_limit"), joint.resolved("upper_limit"), size, axis)
        elif isinstance(joint, usd_physics.PrismaticJoint):
            rail = draw_data.rail(joint.resolved("lower_limit"), joint.resolved("upper_limit"), size)
            yield 0, _turned(rail, axis), LIMIT
            yield 1, _turned(draw_data.stop(0.0, 0.6 * size), axis), NEEDLE
        elif isinstance(joint, usd_physics.SphericalJoint):
            angles = joint_kinds.cone_angles(joint)
            if angles is not None:
                yield 0, _turned(draw_data.cone_limit(*angles, size), axis), LIMIT
            yield 1, _turned(draw_data.arrow((0, 0, 0), (size, 0, 0), 0.15), axis), NEEDLE
        elif isinstance(joint, usd_physics.DistanceJoint):
            yield from _shells(joint.resolved("min_distance"), joint.resolved("max_distance"))
        for name, limit in prim.instances(usd_physics.LimitAPI):
            yield from _limit_lines(name, limit, size)
    for name, drive in prim.instances(usd_physics.DriveAPI) if options.drives else ():
        lines = _drive_lines(name, drive, size, axis)
        if len(lines):
            yield 0, lines, DRIVE


def _angle(low: float, high: float, size: float, axis: int) -> Iterator[tuple[int, Vertices, int]]:
    if low <= high:
        yield 0, _turned(draw_data.angle_limit(low, high, size), axis), LIMIT
        yield 1, _turned(draw_data.needle(0.0, 1.1 * size), axis), NEEDLE


def _shells(low: float, high: float) -> Iterator[tuple[int, Vertices, int]]:
    for distance in (low, high):
        if 0.0 < distance < draw_data.ENDLESS:
            yield 0, draw_data.sphere(distance), LIMIT


def _limit_lines(name: str, limit: schema.Schema, size: float) -> Iterator[tuple[int, Vertices, int]]:
    """Limit of one degree of freedom of a generic joint; nothing if it is free or locked."""
    low, high = limit.resolved("low"), limit.resolved("high")
    if low > high or (low < -draw_data.ENDLESS and high > draw_data.ENDLESS):
        return
    if name == "distance":
        yield from _shells(low, high)
    elif name.startswith("rot"):
        yield from _angle(low, high, size, "XYZ".index(name[-1]))
    else:
        yield 0, _turned(draw_data.rail(low, high, size), "XYZ".index(name[-1])), LIMIT


def _drive_lines(name: str, drive: schema.Schema, size: float, axis: int) -> Vertices:
    """The target position of a drive; an arrow in the direction of the target velocity if it has damping alone."""
    target, velocity = drive.resolved("target_position"), drive.resolved("target_velocity")
    aims = drive.resolved("stiffness") > 0.0
    if not aims and drive.resolved("damping") <= 0.0:
        return _NOTHING
    if not math.isfinite(target) or not math.isfinite(velocity) or not (aims or velocity):
        return _NOTHING
    which = axis if name in ("angular", "linear") else "XYZ".index(name[-1]) if name[-1] in "XYZ" else -1
    if which < 0:
        return draw_data.sphere(abs(target)) if aims and target else _NOTHING
    if name == "angular" or name.startswith("rot"):
        lines: ArrayLike = draw_data.needle(target, 1.3 * size) if aims else draw_data.turning(velocity, 1.2 * size)
    elif aims:
        lines = np.concatenate((draw_data.stop(target, 1.4 * size), draw_data.arrow((0, 0, 0), (target, 0, 0), 0.1)))
    else:
        lines = draw_data.arrow((0, 0, 0), (math.copysign(size, velocity), 0, 0))
    return _turned(lines, which)


# --------------------------------------------------------------------------- colours

#: Red, green, blue, opacity, by index. The preferences replace those of bodies and joints.
COLORS: dict[int, tuple[float, float, float, float]] = {
    DYNAMIC: (0.25, 0.65, 1.0, 0.9), STATIC: (0.9, 0.9, 0.96, 0.9), KINEMATIC: (1.0, 0.75, 0.2, 0.9),
    ASLEEP: (0.35, 0.45, 0.75, 0.7), DISABLED: (0.5, 0.5, 0.5, 0.4), JOINT: (0.45, 0.9, 0.4, 0.9),
    LIMIT: (1.0, 0.85, 0.3, 0.9), DRIVE: (1.0, 0.45, 0.85, 1.0), NEEDLE: (0.95, 0.95, 0.95, 1.0),
    AXIS_X: (1.0, 0.25, 0.3, 1.0), AXIS_Y: (0.5, 0.85, 0.15, 1.0), AXIS_Z: (0.25, 0.55, 1.0, 1.0),
    MASS: (1.0, 0.95, 0.35, 1.0), INERTIA: (0.85, 0.6, 1.0, 0.8), FILTER: (1.0, 0.5, 0.25, 0.9),
    ARTICULATION: (0.25, 0.95, 0.85, 1.0), UNGROUPED: (0.55, 0.55, 0.55, 0.6),
}  # fmt: skip
#: Number of different colours of collision groups.
GROUP_COLORS = 24


def palette(own: dict[int, tuple[float, ...]], on_light: bool) -> NDArray[np.float32]:
    """Colours (n, 4) by index. own: colours that replace those of COLORS. on_light: the background is light."""
    rows = [own.get(index, COLORS[index]) for index in range(GROUPS)]
    for number in range(GROUP_COLORS):
        hue = (number * 0.618034 + 0.02) % 1.0
        rgb = [min(1.0, max(0.0, abs((hue * 6.0 + shift) % 6.0 - 3.0) - 1.0)) for shift in (0.0, 4.0, 2.0)]
        level = (1.0, 0.75)[number // 12 % 2]
        rows.append((*(level * (0.2 + 0.8 * part) for part in rgb), 0.95))
    colors = np.array(rows, np.float32)
    if on_light:
        colors[:, :3] *= 0.72
        colors[:, 3] = np.maximum(colors[:, 3], 0.85)
    return colors
