# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a value of the physics animated, and by what: F-curves of actions and of the NLA, and drivers.

Values are read where Blender has evaluated them, so that modifiers of curves, layers of the NLA and drivers count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.types import ID, AnimData, Depsgraph, FCurve, PropertyGroup, Scene

from ..core.animation import Key, Samples
from ..core.schema import Schema
from ..core.schemas import usd_physics
from .property_units import PropertyReader

if TYPE_CHECKING:
    from ..core.model import Prim

#: What may animate a value, as users read it.
KEYFRAMES, NLA, DRIVER = "keyframes", "the NLA", "a driver"
_PHYSICS = "usdphys."
#: Groups with settings of the add-on, which no simulation reads.
_SETTINGS = ("usdphys.preview", "usdphys.stage", "usdphys.gltf", "usdphys.source", "usdphys.targets")
#: Of what decides whether animation or physics moves a body.
_ROLES = frozenset({"usdphys.rigid_body.kinematic_enabled", "usdphys.rigid_body.rigid_body_enabled"})
#: Of Blender's own scene.
_GRAVITY = ("gravity", "use_gravity")
_GRAVITY_FIELDS = ("gravity_direction", "gravity_magnitude")
#: Blender's default, in its units.
_EARTH = (0.0, 0.0, -9.81)


def _animation_of(owner: ID) -> AnimData | None:
    data: AnimData | None = getattr(owner, "animation_data", None)  # not every data-block can be animated
    return data


def curves_of(owner: ID) -> Iterator[tuple[FCurve, str]]:
    """The F-curves that move values of a data-block now, and what each is: muted ones move nothing."""
    data = _animation_of(owner)
    if data is None:
        return
    if data.action is not None:
        yield from ((curve, KEYFRAMES) for curve in _channels(data.action, data.action_slot))
    tracks = () if data.use_tweak_mode else data.nla_tracks if data.use_nla else ()
    is_alone = any(track.is_solo for track in tracks)
    for track in tracks:
        if track.mute or (is_alone and not track.is_solo):
            continue
        for strip in track.strips:
            if not strip.mute and strip.action is not None:
                yield from ((curve, NLA) for curve in _channels(strip.action, strip.action_slot))
    yield from ((curve, DRIVER) for curve in data.drivers if not curve.mute)


def _channels(action: Any, slot: Any) -> Iterator[FCurve]:
    """The curves of a slot of an action that are not muted."""
    for layer in action.layers if slot is not None else ():
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            yield from (curve for curve in (bag.fcurves if bag is not None else ()) if not curve.mute)


def animated_paths(owner: ID) -> dict[str, str]:
    """What animates each value of the physics of a data-block, by data path. A driver wins over curves."""
    sources: dict[str, str] = {}
    for curve, by in curves_of(owner):
        path = curve.data_path
        is_physics = path.startswith(_PHYSICS) and not path.startswith(_SETTINGS)
        if is_physics or (path in _GRAVITY and isinstance(owner, bpy.types.Scene)):
            sources[path] = by
    return sources


def is_of_transform(path: str) -> bool:
    """True for a data path that may move the object: all but those of physics, ours and Blender's."""
    return not path.startswith((_PHYSICS, "rigid_body"))


class Source(NamedTuple):
    """Where a value comes from. kind: collection of `bpy.data`. name, uid: of the data-block there. group: data path of
    the property group. cls, angular: see `PropertyReader.read`. rows: reads rows of vendors instead, by schema name;
    row: data path of the row."""

    kind: str
    name: str
    uid: int
    group: str
    cls: type[Schema]
    angular: bool
    by: str
    rows: Callable[[PropertyGroup, float], dict[str, Schema]] | None = None
    row: str = ""

    def owner(self) -> Any:
        """The data-block; None if it is gone."""
        blocks = getattr(bpy.data, self.kind)
        data_block = blocks.get(self.name)
        if data_block is not None and data_block.session_uid == self.uid:
            return data_block
        return next((block for block in blocks if block.session_uid == self.uid), None)


def _kind_of(owner: ID) -> str:
    kinds = {bpy.types.Scene: "scenes", bpy.types.Material: "materials"}
    return next((kind for cls, kind in kinds.items() if isinstance(owner, cls)), "objects")


class AnimatedGroups:
    """Notes which of the values that one reading of a scene gives are animated.

    paths: what animates the values of a data-block, by its session_uid and data path.
    """

    def __init__(self, owners: Iterable[ID]) -> None:
        self.paths: dict[int, dict[str, str]] = {}
        for owner in owners:
            if _animation_of(owner) is not None and (paths_of_owner := animated_paths(owner)):
                self.paths[owner.session_uid] = paths_of_owner
        #: (schema, field, source) of values whose prims are not known yet.
        self._noted: list[tuple[Schema, str, Source]] = []
        self._read: set[tuple[int, str]] = set()
        self.sources: dict[Key, Source] = {}

    def hands_over(self, obj: ID) -> bool:
        """True if animation decides when physics moves an object."""
        paths = self.paths.get(obj.session_uid, {})
        return not _ROLES.isdisjoint(paths)

    def note(self, group: PropertyGroup, cls: type[Schema], angular: bool, value: Schema) -> None:
        """A schema was read from a property group."""
        owner: Any = group.id_data
        paths = self.paths.get(owner.session_uid)
        if not paths:
            return
        home = group.path_from_id()
        for attribute in cls.attributes:
            path = f"{home}.{attribute.field}"
            if (by := paths.get(path)) is not None:
                self._read.add((owner.session_uid, path))
                source = Source(_kind_of(owner), owner.name, owner.session_uid, home, cls, angular, by)
                self._noted.append((value, attribute.field, source))

    def note_row(
        self, thing: PropertyGroup, number: int, value: Schema, field: str,
        rows: Callable[[PropertyGroup, float], dict[str, Schema]],
    ) -> None:  # fmt: skip
        """The value of a row of a vendor was read. thing: the group with the rows. rows: see `Source`."""
        owner: Any = thing.id_data
        home = thing.path_from_id()
        for path, by in self.paths.get(owner.session_uid, {}).items():
            row = f"{home}.vendor[{number}]"
            if path.startswith(f"{row}."):
                self._read.add((owner.session_uid, path))
                source = Source(_kind_of(owner), owner.name, owner.session_uid, home, type(value), False, by, rows, row)
                self._noted.append((value, field, source))

    def note_gravity(self, scene: Scene, value: Schema) -> None:
        """The gravity of a scene was read from Blender's own properties."""
        paths = self.paths.get(scene.session_uid, {})
        by = next((paths[path] for path in _GRAVITY if path in paths), "")
        for field in _GRAVITY_FIELDS if by else ():
            source = Source("scenes", scene.name, scene.session_uid, "", usd_physics.PhysicsScene, False, by)
            self._noted.append((value, field, source))
        self._read.update((scene.session_uid, path) for path in _GRAVITY)

    def resolve(self, prims: Iterable[Prim]) -> None:
        """Find the prims of the noted values. Before anything gives them other schemas in place of equal ones."""
        if not self._noted:
            return
        wanted: dict[int, list[tuple[str, Source]]] = {}
        for value, field, source in self._noted:
            wanted.setdefault(id(value), []).append((field, source))
        for prim in prims:
            for name, held in prim.schemas.items():
                for field, source in wanted.get(id(held), ()):
                    self.sources[Key(prim.path, name, field)] = source
        self._noted.clear()

    def others(self) -> list[tuple[int, str, str]]:
        """(session_uid, data path, what animates it) of the values that no schema of this reading holds."""
        return [
            (uid, path, by) for uid, paths in self.paths.items() for path, by in paths.items()
            if (uid, path) not in self._read and path.startswith(_PHYSICS)
        ]  # fmt: skip


class AnimatedValues:
    """The animated values of a scene that was read, as Blender has evaluated them last."""

    def __init__(self, sources: Mapping[Key, Source], meters: float) -> None:
        self.sources, self.meters = dict(sources), meters

    def __bool__(self) -> bool:
        return bool(self.sources)

    def now(self, depsgraph: Depsgraph) -> dict[Key, Any]:
        """The values in SI. Those of data-blocks that are gone are left out."""
        reader = PropertyReader(self.meters)
        read: dict[Source, Any] = {}
        values = {}
        for key, source in self.sources.items():
            if source not in read:
                read[source] = _values(source, reader, depsgraph)
            value = read[source]
            if isinstance(value, dict):
                value = value.get(key.schema)
            if value is not None:
                values[key] = getattr(value, key.field)
        return {key: value for key, value in values.items() if value is not None}

    def samples(self) -> dict[Key, Samples]:
        """The animated values, without what they are when."""
        return {key: Samples(by=source.by) for key, source in self.sources.items()}


def _values(source: Source, reader: PropertyReader, depsgraph: Depsgraph) -> Any:
    """The schema of a source, or the schemas of vendors by name; None where it is gone."""
    owner = source.owner()
    if owner is None:
        return None
    owner = owner.evaluated_get(depsgraph)
    if not source.group:
        return gravity_of(owner, reader.meters, is_explicit=True)
    try:
        group = owner.path_resolve(source.group)
    except ValueError:
        return None
    if source.rows is not None:
        return source.rows(group, reader.meters)
    return reader.read(group, source.cls, angular=source.angular)


def gravity_of(scene: Scene, meters: float, *, is_explicit: bool = False) -> usd_physics.PhysicsScene:
    """The gravity of Blender's scene, authored only if it is not Blender's default. is_explicit: always."""
    made = usd_physics.PhysicsScene
    gravity = [float(part) for part in scene.gravity] if scene.use_gravity else [0.0, 0.0, 0.0]
    is_earth = all(abs(part - usual) <= 1e-6 + 1e-5 * abs(usual) for part, usual in zip(gravity, _EARTH, strict=True))
    if is_earth and not is_explicit:
        return made()
    size = sum(part * part for part in gravity) ** 0.5
    if size == 0.0:
        return made(gravity_magnitude=0.0) if not is_explicit else made((0.0, 0.0, -1.0), 0.0)
    x, y, z = (part / size for part in gravity)
    return made(gravity_direction=(x, y, z), gravity_magnitude=size * meters)
