# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an imported scene differs from its source, one sentence for each edit.

It is what an export of the edits writes, found without Blender's exporter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from bpy.types import Context, Scene

from ..bridge import source_report
from ..bridge.environment import require_usd
from ..bridge.identity.remembered import source_file
from ..bridge.source_report import Key, Kind, Report, SourceChange
from ..core import difference, frames, paths, schema, summary, units
from ..core.errors import InputError
from ..core.schemas import usd_geom, usd_physics
from ..core.value_types import with_elements
from ..core.words import joined, number_text, phrase
from ..system.collector import gc_paused
from . import gltf_comparison, gltf_source, robot_source, scene_export, source_export
from .blend_file import is_robot

if TYPE_CHECKING:
    from ..bridge.identity.names import SourcePaths
    from ..bridge.import_notes import Edited
    from ..bridge.placements import Placement
    from ..core.difference import Difference, PrimEdit
    from ..core.model import PhysicsModel
    from ..core.schema import Attribute
    from ..usd.scene_edits import SceneEdits
    from .edited_geometry import Chosen

_FRAME_FIELDS = ("local_pos", "local_rot")
#: Degrees, and shares of a scale, below which nothing is said of a turn or a scale.
_LEAST_TURN, _LEAST_SCALE = 1e-3, 1e-5


class Compared(Protocol):
    """A scene beside its source, of whatever format.

    old, new: the physics of the source and of the scene, both by the paths of the source. placements: shown objects by
    these paths. living: paths of the imported things that are still objects. edited: which aspects of the shown ones
    differ. parts: paths of objects by those of their colliders that are prims of their own.
    """

    scene: Any
    sources: SourcePaths
    old: PhysicsModel
    new: PhysicsModel
    placements: dict[str, Placement]
    living: set[str]
    edited: dict[str, Edited]
    parts: dict[str, str]

    def physics_edits(self) -> Difference:
        """The edits of the physics."""

    def placed_edits(self) -> tuple[SceneEdits, Chosen]:
        """(edits of places and names, new and changed objects)."""

    def local_before(self, path: str) -> frames.Matrix:
        """The matrix (4, 4) below its parent that an object had, in the numbers of `placed_edits`."""

    def edited_materials(self) -> dict[str, str]:
        """Paths of the imported materials whose look was edited, by name."""

    def items_of(self, scene: Scene) -> dict[str, Any]:
        """Physics scenes and collision groups of a scene by their paths."""


def compare(context: Context) -> Report:
    """Compare the open scene with its source, and keep the result.

    Raises InputError where there is no source that it was imported from.
    """
    with comparison_of(context) as comparison:
        found = changes_of(comparison)
    return kept(context, found)


def kept(context: Context, found: tuple[SourceChange, ...]) -> Report:
    """Keep what was found. What the comparison itself has done to the scene is no edit."""
    context.view_layer.update()
    return source_report.keep(context.scene.name, found)


def obstacle(scene: Scene) -> str:
    """Why a scene cannot be compared with a source, as a sentence; empty where it can."""
    file = source_file(scene)
    if not file:
        return phrase("This scene was not imported from a file, so there is no source to compare it with.")
    source = source_export.source_of(scene)
    if source is None and not is_robot(scene) and gltf_source.file_of(scene) is None:
        name = Path(file).name
        return phrase("Files like '{name}', from which this scene was imported, are not compared with it.", name=name)
    if lost := _lost(scene, source):
        return phrase("The scene cannot be compared with its source: {reason}.", reason=lost)
    return ""


def _lost(scene: Scene, source: Path | None) -> str:
    """Why there is no source as it was imported. source: a USD file; None for a robot and for glTF."""
    memory: Any = scene.usdphys.source
    if source is not None:
        return scene_export.lost_source(scene, source, memory)
    if (file := gltf_source.file_of(scene)) is not None:
        known = gltf_source.noted(scene)
        return scene_export.lost_file(scene, file, known.files, known.meters, known.earlier)
    digest = robot_source.digest_of(scene)
    if digest is None:
        return phrase("it was imported by an older version")
    return scene_export.lost_source(scene, Path(memory.filepath), memory, digest)


@contextmanager
def comparison_of(context: Context) -> Iterator[Compared]:
    """The open scene beside its source. Raises InputError where there is none that it was imported from."""
    require_usd()
    scene: Any = context.scene
    if text := obstacle(scene):
        raise InputError(text)
    with ExitStack() as blocks:
        if gltf_source.file_of(scene) is not None:
            yield blocks.enter_context(gltf_comparison.comparison_of(context))
            return
        source = source_export.source_of(scene)
        if is_robot(scene):
            source = blocks.enter_context(robot_source.as_stage(scene))
        assert source is not None  # as `obstacle` says
        with gc_paused():
            comparison = source_export.compared(context, source)
        yield comparison


def changes_of(comparison: Compared) -> tuple[SourceChange, ...]:
    """The edits of a scene, those of one prim beside each other."""
    found = list(_Finder(comparison).changes())
    order = comparison.old.order
    return tuple(sorted(found, key=lambda one: (order.get(one.key.path, len(order)), one.key.path)))


class _Finder:
    """Finds the edits of one scene."""

    def __init__(self, comparison: Compared) -> None:
        self.comparison = comparison
        self.edits: Difference = comparison.physics_edits()
        self.places, self.chosen = comparison.placed_edits()
        self.labels = {path: name for name, path in comparison.sources.objects.items()}
        self.labels |= {path: name for name, path in comparison.sources.materials.items()}
        self.labels |= {path: item.name for path, item in comparison.items_of(comparison.scene).items()}
        self.labels |= {path: placement.obj.name for path, placement in comparison.placements.items()}
        self.labels |= {path: self.labels[owner] for path, owner in comparison.parts.items() if owner in self.labels}

    def label(self, path: str) -> str:
        """Name in Blender of what a prim is, or is a part of; else the name of the prim."""
        prim = self.comparison.new.prims.get(path)
        return self.labels.get(path) or (prim.label if prim is not None else "") or paths.name_of(path)

    def change(self, kind: Kind, path: str, template: str, name: str = "", **values: object) -> SourceChange:
        label = self.label(path)
        return SourceChange(Key(kind, path, name), label, phrase(template, name=label, **values))

    def changes(self) -> Iterator[SourceChange]:
        sources = self.comparison.sources
        # The prim of a deleted object stays where others need it, which the sentence need not say.
        gone = {*self.edits.removed, *self.places.removed, *(sources.imported - self.comparison.living)}
        for path in gone:
            if path in self.comparison.living:
                yield self.change("deleted", path, "'{name}' stands for another prim now")
            elif not paths.is_below_any(path, gone):
                yield self.change("deleted", path, "'{name}' is deleted")
        new = {*self.edits.added, *self.chosen.new} - self._made_for_robots()
        for path in sorted(new):
            if not paths.is_below_any(path, new):
                yield self._new(path)
        for path, place in self.places.moves.items():
            yield self._moved(path, place)
        for path, edit in self.edits.edits.items():
            if path not in gone and not paths.is_below_any(path, new):
                yield from self._of_physics(path, edit)
        reparented = {
            path for path, place in self.places.moves.items() if paths.parent_of(path) != paths.parent_of(place)
        }
        for path in self.places.transforms.keys() - new - reparented:
            yield self.change("place", path, "'{name}' is {change}", change=self._way(path))
        yield from self._of_objects(new)
        for path in self.comparison.edited_materials().values():
            yield self.change("look", path, "The look of the material '{name}' is edited")

    def _made_for_robots(self) -> set[str]:
        """The physics scene that a robot's file cannot hold, unless it has a gravity of its own."""
        if not is_robot(self.comparison.scene):
            return set()
        scenes = {path: prim.get(usd_physics.PhysicsScene) for path, prim in self.edits.added.items()}
        return {path for path, scene in scenes.items() if scene is not None and scene.gravity_magnitude is None}

    def _new(self, path: str) -> SourceChange:
        """A new object, material or item of the scene; or a collider or a joint of an object."""
        prim = self.comparison.new.prims.get(path)
        if prim is not None and path not in self.comparison.placements:
            if prim.get(usd_physics.CollisionAPI) is not None:
                return self.change("new", path, "'{name}' has a new collider")
            if prim.get(usd_physics.Joint) is not None:
                return self.change("new", path, "'{name}' has a new joint")
        return self.change("new", path, "'{name}' is new")

    def _moved(self, path: str, place: str) -> SourceChange:
        old, new = paths.name_of(path), paths.name_of(place)
        if paths.parent_of(path) == paths.parent_of(place):
            return self.change("path", path, "'{name}' is renamed; was '{old}'", old=old)
        if old == new:
            return self.change("path", path, "'{name}' is below '{parent}'; was below '{old}'",
                               parent=paths.parent_of(place) or "/", old=paths.parent_of(path) or "/")  # fmt: skip
        return self.change("path", path, "'{name}' is at '{place}'; was at '{old}'", place=place, old=path)

    def _of_objects(self, new: set[str]) -> Iterator[SourceChange]:
        for path, edited in self.comparison.edited.items():
            if path in new:
                continue
            if edited.slots:
                yield self.change("slots", path, "'{name}' has other materials")
            edit = self.edits.edits.get(path)
            is_sized = edit is not None and any(_is_shape(edit, name) for name, _ in (*edit.values, *edit.cleared))
            if edited.data and not is_sized:
                yield self.change("mesh", path, "The mesh or data of '{name}' is edited")
            if edited.properties:
                yield self.change("properties", path, "The custom properties of '{name}' are edited")

    # ------------------------------------------------------------------ physics

    def _of_physics(self, path: str, edit: PrimEdit) -> Iterator[SourceChange]:
        before = self.comparison.old.prims.get(path)
        if edit.type_name is not None:
            kinds = [_plain(one) for one in (before.type_name if before is not None else "", edit.type_name)]
            text = "'{name}': {what} is {now}; was {was}"
            yield self.change("type", path, text, what="type", now=kinds[1], was=kinds[0])
        # A new type has a typed schema in place of another, which is said.
        is_retyped = edit.type_name is not None
        for name in (*edit.added, *edit.removed):
            if not (is_retyped and name in schema.SCHEMAS and schema.SCHEMAS[name].kind == "typed"):
                template = "'{name}' has {what} now" if name in edit.added else "'{name}' has no {what} any more"
                yield self.change("schema", path, template, name, what=_plain(name))
        has_frame = False
        for name, changed in (*edit.values, *edit.cleared):
            value = edit.prim.schemas.get(name)
            if name in edit.added or value is None:
                continue
            attribute = schema.attribute_of(type(value), changed)
            old = before.schemas.get(name) if before is not None else None
            was: Any = getattr(old, changed, None)
            now: Any = None if (name, changed) in edit.cleared else getattr(value, changed)
            is_animated = (name, changed) in edit.samples
            if difference.same_value(attribute, was, now) and not is_animated:
                continue
            if changed.startswith(_FRAME_FIELDS):
                has_frame = True
                continue
            key = f"{name} {changed}"
            what, instance = difference.noun(attribute.usd_name()), name.partition(":")[2]
            if is_animated:
                yield self.change("value", path, "'{name}': the animation of {what} is edited", key, what=what)
                continue
            yield self.change(
                "value", path, "'{name}': {what} is {now}; was {was}", key, what=_of_dof(what, instance),
                now=self._shown(attribute, now, instance, value), was=self._shown(attribute, was, instance, old),
            )  # fmt: skip
        if has_frame:
            yield self.change("frame", path, "The place of the joint '{name}' on its bodies is edited")
        if edit.purpose is not None:
            yield self.change("purpose", path, "The purpose of '{name}' is {now}", now=edit.purpose)
        edited = self.comparison.edited.get(path)
        if edit.binding is not None and not (edited is not None and edited.slots):
            now = self.label(edit.binding) if edit.binding else phrase("not set")
            yield self.change("material", path, "The physics material of '{name}' is {now}", now=now)

    def _shown(self, attribute: Attribute, value: Any, instance: str, holder: Any) -> str:
        """A value as people read it: with its unit, angles in degrees, prims by their names in Blender."""
        if value is None or value == ():
            return phrase("not set")
        if attribute.is_relationship:
            targets = value if isinstance(value, tuple) else (value,)
            return joined(", ", [self.label(target) for target in targets])
        mode = getattr(holder, "unit_mode", None)
        if attribute.space == "local" and attribute.value.has_unit and not attribute.is_sentinel(value):
            # What is imported keeps the numbers of the file, below a scale.
            length = attribute.dimension_for(instance, mode).length
            one, other = (model.units.meters_per_unit for model in (self.comparison.old, self.comparison.new))
            value = with_elements(attribute.value, value, lambda part: units.scaled(part, (one / other) ** length))
        known = summary.shown(attribute, value, instance, mode)
        if isinstance(known, bool):
            return phrase("on") if known else phrase("off")
        parts = known if isinstance(known, list) else [known]
        # No minus before a zero.
        text = ", ".join(number_text(part + 0.0, 6) if isinstance(part, float) else str(part) for part in parts)
        unit = units.unit_name(attribute.dimension_for(instance, mode)) if attribute.value.base == "float" else ""
        return f"{text}{'' if unit.startswith('°') else ' '}{unit}" if unit else text

    # ------------------------------------------------------------------ places

    def _way(self, path: str) -> str:
        """How an object was moved, turned and scaled, in words."""
        before = self.comparison.local_before(path)
        after = self.comparison.placements[path].matrix.astype(float)
        try:
            old = after @ np.linalg.solve(np.asarray(self.places.transforms[path], float), before)
        except np.linalg.LinAlgError:
            return phrase("scaled to nothing")
        meters = float(self.comparison.scene.unit_settings.scale_length) or 1.0
        parts = []
        step = float(np.linalg.norm(after[:3, 3] - old[:3, 3])) * meters
        if step > 1e-6 * max(1.0, float(np.abs(old[:3, 3]).max()) * meters):
            parts.append(phrase("moved by {way} m", way=number_text(step, 4)))
        turn = frames.rotation_of(after) @ frames.rotation_of(old).T
        angle = math.degrees(math.acos(max(-1.0, min(1.0, (float(np.trace(turn)) - 1.0) / 2.0))))
        if angle > _LEAST_TURN:
            parts.append(phrase("turned by {angle}°", angle=number_text(angle, 4)))
        sizes = [frames.scale_of(one) for one in (old, after)]
        ratios = [float(new / was) if was else math.inf for was, new in zip(*sizes, strict=True)]
        if max(abs(ratio - 1.0) for ratio in ratios) > _LEAST_SCALE:
            parts.append(phrase("scaled by {ratios}", ratios=" x ".join(number_text(one, 4) for one in ratios)))
        return joined(", ", parts) if parts else phrase("placed in another way")


def _is_shape(edit: PrimEdit, name: str) -> bool:
    return isinstance(edit.prim.schemas.get(name), usd_geom.Gprim)


def _plain(name: str) -> str:
    """ "revolute joint" of "PhysicsRevoluteJoint", "mass" of "PhysicsMassAPI", "limit rotX" of ...API:rotX."""
    base, _, instance = name.partition(":")
    known = schema.SCHEMAS.get(base)
    if known is None or known.family != "UsdPhysics":
        return name
    word = difference.noun(base.removeprefix("Physics").removesuffix("API"))
    return f"{word} {instance}" if instance else word


def _of_dof(what: str, instance: str) -> str:
    return f"{what} ({instance})" if instance else what
