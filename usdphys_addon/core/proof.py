# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a written file holds what Blender shows: bodies, places, shapes, values, joints and materials.

What Blender shows is a model; what the file holds are facts about the prims that it should have, read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import frames, gprims, paths, summary
from .difference import same_value
from .joint_kinds import BY_TYPE_NAME
from .model import Mesh, PhysicsModel, Prim, SpherePoints
from .rules.base import Issue
from .schema import Attribute, Schema
from .schemas import usd_geom, usd_physics
from .value_types import with_elements
from .words import counted, joined, phrase, tally

#: Largest deviation of a corner of a collider, as a share of its size, and of its distance from the origin.
OF_SIZE, OF_DISTANCE = 1e-4, 1e-5
#: Largest deviation of an axis of a prim without a shape, and of a number that 32-bit floats and units have changed.
OF_AXES, _OF_VALUE = 1e-3, 1e-4
_CORNERS = np.array([(x, y, z, 1.0) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_FRAME_FIELDS = frozenset({"local_pos0", "local_pos1", "local_rot0", "local_rot1"})
_ENDS = frozenset({"body0", "body1"})
#: Schemas of prims whose place matters.
_PLACED = frozenset({usd_physics.RigidBodyAPI.usd_name, usd_physics.CollisionAPI.usd_name})
#: Meshes with fewer points are measured together: one by one takes twice as long.
_SMALL_MESH = 1000
#: Sentences about one kind of deviation before the rest is counted.
_NAMED = 1


class Mismatch(NamedTuple):
    """Where a file deviates. kind: "missing", "count", "place", "shape", "value", "joint" or "material".

    path: in the file. text: the rest of a sentence about the file.
    """

    kind: str
    path: str
    label: str
    text: str


@dataclass(slots=True)
class Facts:
    """Facts about n prims; those that are missing, and those of which any place is right, have NaN for it.

    worlds: (n, 4, 4), metres and Z up. boxes: smallest and largest corner (n, 2, 3) of the shape in the space of the
    prim, metres; NaN without one. schemas: names with instance. prims: with values, None where it is missing; prims of
    one prototype may share one. materials: bound to colliders. counts: as `summary.counts`, of the whole file.
    """

    worlds: NDArray[np.float64]
    boxes: NDArray[np.float64]
    schemas: Sequence[frozenset[str] | None]
    prims: Sequence[Prim | None]
    materials: Sequence[tuple[str, ...]]
    counts: dict[str, int] = field(default_factory=dict)


#: Facts of a file about the prims at these paths. The second values are equal for prims that are written alike.
ReadFacts = Callable[[Sequence[str], Sequence[object]], Facts]


class Proof:
    """What Blender shows of a scene, kept while its file is made.

    moving: paths of what the file has the motion of; places there and below are not compared.
    moves: of paths in the model to those in the file, one step after the other. left_out: paths in the model of prims
    that are not in the file, about which the export has said so. without: names of schemas that are written elsewhere.
    local_units: of a file that keeps its own places, which are not compared: the length of its local unit as a multiple
    of the one in Blender. Frames of joints are compared as values there.
    """

    def __init__(
        self, model: PhysicsModel, *, moving: Set[str] = frozenset(), without: Collection[str] = (),
        local_units: float | None = None,
    ) -> None:  # fmt: skip
        ends = {
            target for prim in model.joints.values() if (joint := prim.get(usd_physics.Joint)) is not None
            for target in (*(joint.body0 or ()), *(joint.body1 or ()))
        }  # fmt: skip
        # A writer changes the prims of the model, so that they are copied.
        self.prims = [_kept(prim) for path, prim in model.prims.items() if prim.schemas or path in ends]
        physical = model.materials
        for prim in self.prims:
            slots = tuple(path for path in prim.materials if path in physical)
            # A gprim has no subsets: of the materials of its mesh it gets the last.
            prim.materials = slots[-1:] if prim.get(usd_geom.Gprim) is not None else slots
            prim.schemas = {name: value for name, value in prim.schemas.items() if name not in without}
        # Meshes and places of evaluated objects change while Blender exports an animation.
        self.shown = _facts(self.prims)
        if moving:
            self.shown.worlds[[bool(paths.nearest(prim.path, moving)) for prim in self.prims]] = np.nan
        self.local_units = local_units
        self.counts = summary.counts(model)
        self.moves: list[Mapping[str, str]] = []
        self.left_out: Set[str] = frozenset()

    def put_below(
        self, holders: Set[str], name: str, below: Callable[[Collection[str]], Collection[str]]
    ) -> None:  # fmt: skip
        """Expect colliders in the prims of this name below theirs.

        holders: paths in the file of the prims whose colliders have gone there. below: which schemas of a prim have.
        """
        rows = [
            row for row, prim in enumerate(self.prims)
            if usd_physics.CollisionAPI.usd_name in prim.schemas and self.in_file(prim.path) in holders
        ]  # fmt: skip
        for row in rows:
            holder, gone = self.prims[row], set(below([*self.prims[row].schemas]))
            prim = replace(
                holder, path=f"{holder.path}/{name}",
                schemas={key: value for key, value in holder.schemas.items() if key in gone},
            )  # fmt: skip
            holder.schemas = {key: value for key, value in holder.schemas.items() if key not in gone}
            self.prims.append(prim)
            for each in (holder, prim):
                each.label = each.label or holder.name
        shown, materials = self.shown, [*self.shown.materials, *(self.shown.materials[row] for row in rows)]
        boxes = np.concatenate([shown.boxes, shown.boxes[rows]])
        for row in rows:
            boxes[row], materials[row] = np.nan, ()
        worlds = np.concatenate([shown.worlds, shown.worlds[rows]])
        self.shown = Facts(worlds, boxes, [frozenset(prim.schemas) for prim in self.prims], self.prims, materials)

    def mismatches(self, read: ReadFacts) -> tuple[list[Mismatch], dict[str, int]]:
        """(how a file deviates, number of its prims by kind). read: the facts of the file."""
        shown, prims = self.shown, self.prims
        if self.left_out:
            kept = [not paths.nearest(prim.path, self.left_out) for prim in self.prims]
            shown, prims = _chosen(shown, kept), list(compress(prims, kept))
        places = [self.in_file(prim.path) for prim in prims]
        written = read(places, [(prim.type_name, *map(id, prim.schemas.values())) for prim in prims])
        deviations = list(_Comparison(prims, shown, places, written, self.in_file, self.local_units).run())
        return [*deviations, *self._surplus(written.counts, bool(self.left_out) or bool(deviations))], written.counts

    def in_file(self, path: str) -> str:
        """The path in the file of a path in the model."""
        for moves in self.moves:
            path = paths.followed(path, moves) if moves else path
        return path

    def _surplus(self, counts: Mapping[str, int], is_explained: bool) -> Iterator[Mismatch]:
        """What the file has more than Blender, or less. is_explained: something is missing, and that is said."""
        for kind in ("bodies", "colliders", "joints"):
            here, there = self.counts[kind], counts[kind]
            if there > here or (there < here and not is_explained):
                yield Mismatch("count", "", "", f"it has {tally(there, kind)}, and Blender shows {here}.")


def issues_of(found: Sequence[Mismatch], *, is_of_robot: bool = False) -> list[Issue]:
    """One issue for each kind of deviation, with an example and the number of the others.

    is_of_robot: the file was made of a robot, and Blender was not asked.
    """
    issues = []
    for kind in dict.fromkeys(one.kind for one in found):
        same = [one for one in found if one.kind == kind]
        parts = [same[0].text]
        if len(same) > _NAMED:
            parts.append(phrase("The same holds for {prims}.", prims=counted(len(same) - _NAMED, "other prim")))
        differences = joined(" ", parts)
        said = phrase("The written file is not what Blender shows: {differences}", differences=differences)
        if is_of_robot:
            said = phrase("The written file is not what the robot says: {differences}", differences=differences)
        issues.append(Issue(
            "FileDiffers", "error", same[0].path, same[0].label, said,
            "Do not rely on this file; export in another form, and report the scene as a bug.",
        ))  # fmt: skip
    return issues


def _kept(prim: Prim) -> Prim:
    """A copy of a prim with what is compared: several times as fast as one with all."""
    return Prim(
        prim.path, prim.type_name, prim.world, prim.schemas, prim.mesh, prim.materials, label=prim.label,
        extras=prim.extras,
    )  # fmt: skip


def _facts(prims: Sequence[Prim]) -> Facts:
    worlds = np.array([prim.world for prim in prims], float).reshape(-1, 4, 4)
    boxes = np.full((len(prims), 2, 3), np.nan)
    known: dict[int, NDArray[np.float64]] = {}
    for index, prim in enumerate(prims):
        if usd_physics.CollisionAPI.usd_name not in prim.schemas:
            continue
        source: object = prim.get(usd_geom.Gprim) or prim.mesh
        if source is None:
            continue
        if id(source) not in known:
            known[id(source)] = gprim_box(source) if isinstance(source, usd_geom.Gprim) else _mesh_box(prim)
        boxes[index] = known[id(source)]
    return Facts(
        worlds, boxes, [frozenset(prim.schemas) for prim in prims], prims, [prim.materials for prim in prims],
    )  # fmt: skip


def _chosen(facts: Facts, kept: Sequence[bool]) -> Facts:
    """The facts about some of the prims."""
    lists = [list(compress(items, kept)) for items in (facts.schemas, facts.prims, facts.materials)]
    return Facts(facts.worlds[list(kept)], facts.boxes[list(kept)], *lists)  # type: ignore[arg-type]


def gprim_box(gprim: usd_geom.Gprim) -> NDArray[np.float64]:
    """Smallest and largest corner (2, 3) of a gprim, metres."""
    half = np.array(gprims.half_extent(gprim))
    return np.array([-half, half])


def _mesh_box(prim: Prim) -> NDArray[np.float64]:
    geometry = prim.mesh() if prim.mesh is not None else None
    if isinstance(geometry, Mesh) and len(geometry.points):
        return box_of(geometry.points)
    if isinstance(geometry, SpherePoints) and len(geometry.centers):
        reach = geometry.radii[:, None]
        return np.array([(geometry.centers - reach).min(axis=0), (geometry.centers + reach).max(axis=0)])
    return np.full((2, 3), np.nan)


def box_of(points: NDArray[Any]) -> NDArray[np.float64]:
    """Smallest and largest corner (2, 3) of points (n, 3)."""
    return np.array([points.min(axis=0), points.max(axis=0)], float)


def boxes_of(meshes: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Smallest and largest corner (k, 2, 3) of each of k meshes, which are points (n, 3), none without points."""
    boxes = np.empty((len(meshes), 2, 3))
    small = [row for row, points in enumerate(meshes) if len(points) < _SMALL_MESH]
    if small:
        points = np.concatenate([meshes[row] for row in small])
        starts = np.cumsum([0, *(len(meshes[row]) for row in small[:-1])])
        boxes[small, 0], boxes[small, 1] = (extreme.reduceat(points, starts) for extreme in (np.minimum, np.maximum))
    for row in set(range(len(meshes))).difference(small):
        boxes[row] = box_of(meshes[row])
    return boxes


class _Comparison:
    """Prims that Blender shows beside what a file holds of them.

    places: paths in the file. in_file: path in the file of a path in the model.
    """

    def __init__(
        self, prims: Sequence[Prim], shown: Facts, places: Sequence[str], written: Facts,
        in_file: Callable[[str], str], local_units: float | None,
    ) -> None:  # fmt: skip
        self.local_units, self.is_placed = local_units, local_units is None
        self.places, self.shown, self.written, self.in_file = places, shown, written, in_file
        self.prims = prims
        self.labels = [prim.label or prim.name for prim in prims]
        self.by_place = {place: index for index, place in enumerate(places)}
        self._same: dict[tuple[int, int], list[Attribute]] = {}
        #: By the schemas of a prim and of that in the file, since most prims have the same.
        self._differing: dict[tuple[int, ...], list[tuple[str, Attribute, Schema, Schema]]] = {}

    def run(self) -> Iterator[Mismatch]:
        if not self.places:
            return
        off, sizes = self._deviations()
        is_off = (off > sizes) & self.is_placed
        for index, written in enumerate(self.written.schemas):
            if written is None:
                yield self._told(index, "missing", "'{}' is not in it.")
                continue
            shown = self.shown.schemas[index] or frozenset()
            if not shown <= written:
                yield self._told(index, "missing", f"'{{}}' has no {', '.join(sorted(shown - written))} in it.")
                continue
            if is_off[index]:
                yield self._displaced(index, off[index])
            for different in self._values(index):
                yield self._other_value(index, *different)
            if self.is_placed and not shown.isdisjoint(BY_TYPE_NAME):
                yield from self._joint(index)
            if materials := self.shown.materials[index]:
                lost = {self.in_file(path) for path in materials}.difference(self.written.materials[index])
                if lost:
                    yield self._told(index, "material", f"'{{}}' is not bound to '{paths.name_of(min(lost))}' in it.")

    def _told(self, index: int, kind: str, text: str) -> Mismatch:
        """text: with '{}' for the name of the prim; values in it may have braces of their own."""
        label = self.labels[index]
        return Mismatch(kind, self.places[index], label, text.replace("{}", label, 1))

    def _deviations(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(largest deviation, m, the one that is allowed) of the corners of all prims, or of their axes."""
        corners = []
        for facts in (self.shown, self.written):
            boxes = facts.boxes.copy()
            # Without a shape, a metre along each axis.
            bare = np.isnan(self.shown.boxes).any(axis=(1, 2)) | np.isnan(boxes).any(axis=(1, 2))
            boxes[bare] = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
            span = boxes[:, :1] + _CORNERS[:, :3] * (boxes[:, 1:] - boxes[:, :1])
            world = facts.worlds.copy()
            # What has no shape has no scale: units and hierarchies may bring one.
            lengths = np.linalg.norm(world[bare, :3, :3], axis=1, keepdims=True)
            world[bare, :3, :3] /= np.where(lengths, lengths, 1.0)
            corners.append(span @ world[:, :3, :3].swapaxes(1, 2) + world[:, None, :3, 3])
        off = np.abs(corners[0] - corners[1]).max(axis=(1, 2))
        size = np.ptp(corners[0], axis=1).max(axis=1)
        shapeless = np.isnan(self.shown.boxes).any(axis=(1, 2))
        allowed = np.where(shapeless, OF_AXES, OF_SIZE * size) + OF_DISTANCE * np.abs(corners[0]).max(axis=(1, 2))
        # Where other prims are does not matter.
        off[[names is None or _PLACED.isdisjoint(names) for names in self.shown.schemas]] = 0.0
        off[np.isnan(self.shown.worlds).any(axis=(1, 2))] = 0.0
        return np.nan_to_num(off, nan=np.inf, posinf=np.inf), allowed

    def _displaced(self, index: int, distance: float) -> Mismatch:
        sizes = [
            np.abs(np.ptp(facts.boxes[index], axis=0) * frames.scale_of(facts.worlds[index]))
            for facts in (self.shown, self.written)
        ]  # fmt: skip
        if np.isfinite(sizes[0]).all() and not np.allclose(sizes[0], sizes[1], rtol=OF_AXES, equal_nan=False):
            there, here = (size_text(size) for size in sizes[::-1])
            return self._told(index, "shape", f"the collider of '{{}}' measures {there} m in it, and {here} m here.")
        return self._told(index, "place", f"'{{}}' is {distance:.4g} m away from its place.")

    # ------------------------------------------------------------------ values

    def _values(self, index: int) -> list[tuple[str, Attribute, Schema, Schema]]:
        """(name of the schema, attribute, schema here, in the file) of values that differ; of joints without frames."""
        prim, other = self.shown.prims[index], self.written.prims[index]
        if prim is None or other is None:
            return []
        key = (id(other), *map(id, prim.schemas.values()))
        differing = self._differing.get(key)
        if differing is None:
            differing = self._differing[key] = [
                (name, item, value, there) for name, value in prim.schemas.items()
                if (there := other.schemas.get(name)) is not None and not isinstance(value, usd_geom.Gprim)
                for item in self._different(value, there, index)
            ]  # fmt: skip
        return differing

    def _different(self, value: Schema, there: Schema, index: int) -> list[Attribute]:
        key = (id(value), id(there))
        if key not in self._same:
            self._same[key] = [item for item in value.attributes if not self._is_same(item, value, there, index)]
        return self._same[key]

    def _other_value(self, index: int, name: str, item: Attribute, value: Schema, there: Schema) -> Mismatch:
        instance = name.partition(":")[2]
        in_file, here = (
            "unset" if one is None else summary.shown(item, one, instance, value.unit_mode)
            for one in (getattr(there, item.field), getattr(value, item.field))
        )
        text = f"{item.usd_name(instance)} of '{{}}' is {in_file} in it, and {here} here."
        return self._told(index, "value", text)

    def _is_same(self, item: Attribute, value: Schema, there: Schema, index: int) -> bool:
        here, now = getattr(value, item.field), getattr(there, item.field)
        if (self.is_placed and item.field in _FRAME_FIELDS) or (here is None and now is None):
            return True
        if item.is_relationship:
            if item.field in _ENDS:
                # Of several bodies on a side, all read the first, and an imported scene holds it.
                now = (now or ())[:1]
            wanted = {self.in_file(path) for path in here or ()}
            # What is no longer below a prim is added to the collections that it is in.
            return wanted <= set(now or ()) if item.field == "includes" else wanted == set(now or ())
        # What is of another type has no effect in either.
        here, now = (one if one is not None and item.allows(one) else None for one in (here, now))
        if now is not None and item.space == "local" and isinstance(now, tuple | float):
            ratio = self._ratio(index)
            now = with_elements(item.value, now, lambda part: part * ratio)
        if same_value(item, value.resolved(item.field) if here is None else here,
                      there.resolved(item.field) if now is None else now):  # fmt: skip
            return True
        numbers = [np.atleast_1d(np.asarray(one, float)) if _is_number(one) else None for one in (here, now)]
        if numbers[0] is None or numbers[1] is None or numbers[0].shape != numbers[1].shape:
            return False
        size = float(np.abs(numbers[0]).max())
        return bool(np.abs(numbers[0] - numbers[1]).max() <= _OF_VALUE * size)

    def _ratio(self, index: int) -> float:
        """Scale of a prim in the file, as a multiple of the one in Blender: units can be a scale."""
        if self.local_units is not None:
            return 1.0 / self.local_units
        # What moves has a scale, too, and no place that is compared.
        scales = [abs(frames.determinant(world)) for world in (self.written.worlds[index], self.prims[index].world)]
        return float((scales[0] / scales[1]) ** (1.0 / 3.0)) if scales[1] > 0.0 and scales[0] > 0.0 else 1.0

    # ------------------------------------------------------------------ joints

    def _joint(self, index: int) -> Iterator[Mismatch]:
        prim, other = self.shown.prims[index], self.written.prims[index]
        if prim is None or other is None or (joint := prim.get(usd_physics.Joint)) is None:
            return
        there = other.get(usd_physics.Joint)
        for side in (0, 1) if there is not None else ():
            assert there is not None
            one, two = self._frame(joint, side, self.shown), self._frame(there, side, self.written)
            if one is None or two is None or np.isnan(one).any():
                continue
            away = float(np.abs(one[:3, 3] - two[:3, 3]).max())
            if away > 1e-4 * max(self._reach(joint), 1e-2) + OF_DISTANCE * float(np.abs(one[:3, 3]).max()):
                yield self._told(index, "joint", f"the anchor of '{{}}' on body {side} is {away:.4g} m away.")
            elif np.abs(one[:3, :3] - two[:3, :3]).max() > OF_AXES:
                yield self._told(index, "joint", f"the axes of '{{}}' on body {side} point elsewhere.")

    @staticmethod
    def _reach(joint: usd_physics.Joint) -> float:
        return max(float(np.linalg.norm(joint.resolved(f"local_pos{side}"))) for side in (0, 1))

    def _frame(self, joint: usd_physics.Joint, side: int, facts: Facts) -> frames.Matrix | None:
        """World frame (4, 4) of a side of a joint; None if its body is no prim with physics, or a joint."""
        target = getattr(joint, f"body{side}")
        position, rotation = joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}")
        if not target:
            return frames.world_frame(None, position, rotation)
        place = self.by_place.get(self.in_file(target[0]) if facts is self.shown else target[0])
        # The object of a joint has a place in Blender, and its prim none.
        if place is None or not (self.shown.schemas[place] or frozenset()).isdisjoint(BY_TYPE_NAME):
            return None
        return frames.world_frame(facts.worlds[place], position, rotation)


def size_text(edges: Iterable[float]) -> str:
    """Edges as "1 x 2 x 3"."""
    return " x ".join(f"{edge:.4g}" for edge in edges)


def _is_number(value: object) -> bool:
    numbers: Iterable[object] = value if isinstance(value, tuple) else (value,)
    return all(isinstance(part, int | float) and not isinstance(part, bool) for part in numbers)
