# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated values of a model from and to Blender: F-curves of time samples, and samples of what is animated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Context, FCurve, PropertyGroup, Scene

from ..core.animation import Key, Samples, is_switch
from ..core.model import PhysicsModel
from ..core.schema import Schema
from ..core.vendor_schemas import may_be_keyed
from . import vendor_rows
from .animated import KEYFRAMES, AnimatedValues, Source, curves_of
from .property_units import PropertyWriter

#: Of `Keyframe.interpolation`, as numbers.
_CONSTANT, _LINEAR = 0, 1
#: Frames by which the value before a jump is written earlier than the one after it: time samples have no jumps.
_JUMP = 1e-3


# --------------------------------------------------------------------------- import


class CurveWriter:
    """Keys the animated values of a model on the property groups that get its schemas."""

    def __init__(self, model: PhysicsModel, properties: PropertyWriter) -> None:
        self.model, self.properties = model, properties
        #: (group, instance) that a schema was written to, by its identity.
        self._groups: dict[int, list[tuple[PropertyGroup, str]]] = defaultdict(list)
        self._wanted = {id(held.schema) for held in map(model.holder, model.animated) if held is not None}
        #: (row of a vendor, from SI to its unit) that a value was written to, by the identity of its schema and field.
        self._rows: dict[tuple[int, str], list[tuple[Any, Callable[[Any], Any]]]] = defaultdict(list)
        if self._wanted:
            properties.note, properties.note_row = self._note, self._note_row

    def _note(self, group: PropertyGroup, value: Schema, instance: str) -> None:
        if id(value) in self._wanted:
            self._groups[id(value)].append((group, instance))

    def _note_row(self, row: Any, value: Schema, field: str, convert: Callable[[Any], Any]) -> None:
        if id(value) in self._wanted:
            self._rows[id(value), field].append((row, convert))

    def write(self) -> list[Key]:
        """Key all values. Returns those that no property of Blender holds."""
        self.properties.note = self.properties.note_row = None
        missing = []
        for key, samples in self.model.animated.items():
            held = self.model.holder(key)
            if held is None:
                missing.append(key)
                continue
            homes = [home for home in self._groups.get(id(held.schema), ()) if key.field in home[0].bl_rna.properties]
            is_keyed = may_be_keyed(held.attribute)
            rows = self._rows.get((id(held.schema), key.field), []) if is_keyed else []
            if not (homes or rows):
                missing.append(key)
            for row, convert in rows:
                self._key_row(row, convert, samples)
            for group, instance in homes:
                self._key(group, instance, held.schema, key.field, samples)
        return missing

    def _key(self, group: Any, instance: str, value: Schema, field: str, samples: Samples) -> None:
        """Give a property the keys of samples. Frames are the time codes, as for all that Blender imports."""
        rows = []
        # The field alone, and what its unit depends on: the group may hold a part of the schema only.
        alone = {value.mode_field: value.unit_mode} if value.mode_field else {}
        for content in (*samples.values, getattr(value, field)):
            self.properties.write(group, type(value)(**{**alone, field: content}), instance=instance)
            rows.append(_numbers(group, field))
        rows.pop()
        self._add_keys(group, field, samples, rows)

    def _key_row(self, row: Any, convert: Callable[[Any], Any], samples: Samples) -> None:
        """Give the view of a row of a vendor the keys of samples."""
        values = [convert(content) for content in samples.values]
        numbers = [[float(part) for part in value] if isinstance(value, tuple) else [float(value)] for value in values]
        self._add_keys(row, vendor_rows.view_of(row), samples, numbers)

    def _add_keys(self, group: Any, field: str, samples: Samples, rows: list[list[float]]) -> None:
        """Key a property. rows: its numbers, for each moment of the samples."""
        frames = np.round(np.array(samples.moments) * self.model.time_codes, 6)
        is_even = group.bl_rna.properties[field].type == "FLOAT"
        path = f"{group.path_from_id()}.{field}"
        for index, column in enumerate(np.array(rows, float).T):
            curve = new_curve(group.id_data, path, index)
            curve.keyframe_points.add(len(frames))
            curve.keyframe_points.foreach_set("co", np.stack((frames, column), 1).ravel())
            kinds = np.full(len(frames), _LINEAR if is_even else _CONSTANT, np.int32)
            curve.keyframe_points.foreach_set("interpolation", kinds)
            curve.update()


def _numbers(group: Any, field: str) -> list[float]:
    """The value of a property, as an F-curve has it."""
    rna, value = group.bl_rna.properties[field], getattr(group, field)
    if rna.type == "ENUM":
        return [float(rna.enum_items[value].value)]
    return [float(part) for part in value] if getattr(rna, "is_array", False) else [float(value)]


def new_curve(owner: ID, path: str, index: int = 0) -> FCurve:
    """A new F-curve in the action of a data-block, which gets one if it has none."""
    data: Any = owner.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(f"{owner.name} Action")
    action = data.action
    if data.action_slot is None:
        data.action_slot = action.slots.new(owner.id_type, owner.name)
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
    curves: Any = strip.channelbag(data.action_slot, ensure=True).fcurves
    curve = curves.find(path, index=index)
    if curve is not None:
        curves.remove(curve)
    made: FCurve = curves.new(path, index=index)
    return made


# --------------------------------------------------------------------------- export


def sampled(context: Context, animated: AnimatedValues) -> dict[Key, Samples]:
    """The animated values of the scene from its first to its last frame, SI.

    At the keys where curves are linear or stepped, and nothing else plays a part; else at each frame.
    """
    scene: Any = context.scene
    if not animated:
        return {}
    times = _Times(scene)
    wanted = {key: times.of(key, source) for key, source in animated.sources.items()}
    union = sorted({frame for frames in wanted.values() for frame in frames})
    by_key = {
        key: Samples(by=source.by, times="frames" if wanted[key] is times.frames else "keys")
        for key, source in animated.sources.items()
    }
    rate = scene.render.fps / scene.render.fps_base
    before, part = scene.frame_current, scene.frame_subframe
    asked = {key: frozenset(frames) for key, frames in wanted.items()}
    try:
        for frame in union:
            scene.frame_set(int(frame // 1), subframe=frame % 1)
            for key, value in animated.now(context.evaluated_depsgraph_get()).items():
                if frame in asked[key]:
                    by_key[key].moments.append(frame / rate)
                    by_key[key].values.append(value)
    finally:
        scene.frame_set(before, subframe=part)
    return {key: _thinned(samples) for key, samples in by_key.items()}


def in_time_codes(animated: dict[Key, Samples], scene: Scene, rate: float) -> dict[Key, Samples]:
    """The same with moments at which the time codes of a file are the frames. rate: time codes in a second."""
    factor = scene.render.fps / scene.render.fps_base / rate
    return {
        key: replace(samples, moments=[moment * factor for moment in samples.moments])
        for key, samples in animated.items()
    }


class _Times:
    """At which frames values are sampled."""

    def __init__(self, scene: Scene) -> None:
        self.frames = [float(frame) for frame in range(scene.frame_start, scene.frame_end + 1)]
        self.is_remapped = scene.render.frame_map_old != scene.render.frame_map_new
        self._curves: dict[tuple[str, int], Mapping[str, list[tuple[FCurve, str]]]] = {}

    def of(self, key: Key, source: Source) -> list[float]:
        """The frames of a value."""
        curves = self._curves_of(source)
        if source.row:
            own = [pair for path, pairs in curves.items() if path.startswith(f"{source.row}.") for pair in pairs]
        else:
            paths = ("gravity", "use_gravity") if not source.group else (f"{source.group}.{key.field}",)
            own = [pair for path in paths for pair in curves.get(path, ())]
        if not own or self.is_remapped or any(by != KEYFRAMES or not _is_plain(curve) for curve, by in own):
            return self.frames
        return sorted({frame for curve, _ in own for frame in _keys_of(curve)})

    def _curves_of(self, source: Source) -> Mapping[str, list[tuple[FCurve, str]]]:
        known = self._curves.get((source.kind, source.uid))
        if known is None:
            curves: dict[str, list[tuple[FCurve, str]]] = defaultdict(list)
            owner = source.owner()
            for curve, by in curves_of(owner) if owner is not None else ():
                curves[curve.data_path].append((curve, by))
            known = self._curves[source.kind, source.uid] = curves
        return known


def _is_plain(curve: FCurve) -> bool:
    """True for a curve of linear and stepped keys alone."""
    return (
        len(curve.keyframe_points) > 0 and len(curve.modifiers) == 0 and curve.extrapolation == "CONSTANT"
        and all(point.interpolation in ("LINEAR", "CONSTANT") for point in curve.keyframe_points)
    )  # fmt: skip


def _keys_of(curve: FCurve) -> Iterable[float]:
    """The frames of the keys of a curve, and those just before a jump."""
    points = sorted(curve.keyframe_points, key=lambda point: float(point.co[0]))
    for before, point in zip((None, *points), points, strict=False):
        frame = round(float(point.co[0]), 6)
        if before is not None and before.interpolation == "CONSTANT":
            yield round(frame - _JUMP, 6)
        yield frame


def _thinned(samples: Samples) -> Samples:
    """Samples without those that are equal to both of their neighbours; none of a value that does not change."""
    values = samples.values
    if all(value == values[0] for value in values[1:]):
        return Samples(by=samples.by, times=samples.times)
    last = len(values) - 1
    kept = [
        row for row, value in enumerate(values)
        if row in (0, last) or value != values[row - 1] or (value != values[row + 1] and not is_switch(value))
    ]  # fmt: skip
    return Samples([samples.moments[row] for row in kept], [values[row] for row in kept], samples.by, samples.times)
