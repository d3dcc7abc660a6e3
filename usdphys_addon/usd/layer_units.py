# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers whose units or up axis are not those of the stage: USD converts nothing, whatever a layer says of itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pxr import Pcp, Sdf, Usd, UsdGeom

from ..core.validate import Issue
from . import read as usd_read

CODE = "LayerUnits"
METERS, KILOGRAMS, UP = "metersPerUnit", "kilogramsPerUnit", "upAxis"
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
#: Ratio of two units above which they are not the same.
_SAME = 1.001


class OtherUnits(NamedTuple):
    """A layer that says something else of its units than what it is in. path: of the prim that brings it in, "/" for a
    sublayer. attribute: METERS, KILOGRAMS or UP. said, around: both values, as text."""

    path: str
    layer: str
    attribute: str
    said: str
    around: str
    message: str
    fix: str


def other_units(stage: Usd.Stage) -> list[OtherUnits]:
    """Those that no transform corrects. Layers that say nothing of their units, or hold no prim, are left out."""
    return [*_sublayers(stage), *_arcs(stage)]


def issues(stage: Usd.Stage) -> list[Issue]:
    """The same as warnings."""
    return [Issue(CODE, "warning", one.path, "", one.message, one.fix) for one in other_units(stage)]


def _said(layer: Sdf.Layer) -> dict[str, Any]:
    """What a layer says of its units."""
    root = layer.pseudoRoot
    return {name: root.GetInfo(name) for name in (METERS, KILOGRAMS, UP) if root.HasInfo(name)}


def _of_stage(stage: Usd.Stage) -> dict[str, Any]:
    units = usd_read.stage_units(stage)
    return {METERS: units.meters_per_unit, KILOGRAMS: units.kilograms_per_unit, UP: units.up_axis}


def _sublayers(stage: Usd.Stage) -> Iterator[OtherUnits]:
    own = _of_stage(stage)
    for layer in stage.GetLayerStack(includeSessionLayers=False)[1:]:
        if not layer.rootPrims:
            continue
        for name, value in _said(layer).items():
            if _is_same(name, value, own[name]):
                continue
            file, said, around = _name(layer), _text(value), _text(own[name])
            message = f"The layer '{file}' says {name} {said}, and the stage {around}, which counts for all its layers."
            fix = f"Convert '{file}' to the units of the stage, or correct what one of the two says."
            yield OtherUnits("/", file, name, said, around, message, fix)


def _arcs(stage: Usd.Stage) -> Iterator[OtherUnits]:
    """Of references and payloads."""
    cache, own, stack = UsdGeom.XformCache(), _of_stage(stage), stage.GetLayerStack()
    for prim in stage.Traverse():
        if not (prim.HasAuthoredReferences() or prim.HasAuthoredPayloads()):
            continue
        linear = np.array(cache.GetLocalToWorldTransform(prim))[:3, :3]
        for node in _nodes(prim.GetPrimIndex().rootNode):
            if node.arcType not in (Pcp.ArcTypeReference, Pcp.ArcTypePayload) or node.IsDueToAncestor():
                continue
            layer, above = node.layerStack.layers[0], node.parent.layerStack.layers[0]
            if layer == above or not node.hasSpecs:
                continue
            around = own if above in stack else own | _said(above)
            for name, value in _said(layer).items():
                if _is_same(name, value, around[name]) or (name == KILOGRAMS and not _weighs(prim)):
                    continue
                change = _change(layer, node.path, linear)
                if told := _told(_Arc(str(prim.GetPath()), layer, value, around[name], own[name], change), name):
                    yield told


def _change(layer: Sdf.Layer, path: Sdf.Path, linear: Any) -> Any:
    """(3, 3) from the world of a layer to that of the stage. path: of a prim of the layer. linear (3, 3): its own."""
    mask = Usd.StagePopulationMask([path])
    alone = Usd.Stage.OpenMasked(layer, mask, load=Usd.Stage.LoadNone)
    prim = alone.GetPrimAtPath(path) if alone else None
    if not prim:
        return linear
    here = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(prim))[:3, :3]
    return np.linalg.inv(here) @ linear if abs(np.linalg.det(here)) > 0.0 else linear


class _Arc(NamedTuple):
    """A reference or payload. said, around, stage: a unit in its layer, in the one that refers to it, and in the stage.
    change (3, 3): from the world of the layer to that of the stage; rows are its axes."""

    path: str
    layer: Sdf.Layer
    said: Any
    around: Any
    stage: Any
    change: Any


def _told(arc: _Arc, name: str) -> OtherUnits | None:
    """None where the transform of the prim is nearer to what corrects the layer than to what leaves it as it is."""
    path, file, said, around = arc.path, _name(arc.layer), _text(arc.said), _text(arc.around)
    if name == UP:
        up, was = np.array(_AXES[str(arc.stage)]), np.array(_AXES.get(str(arc.said), _AXES[str(arc.stage)]))
        turned = was @ arc.change
        if turned @ up >= abs(turned @ was):
            return None
        if -(turned @ up) > abs(turned @ was):
            message = f"'{path}' brings in '{file}', whose up axis is {said}, where it is {around}: it is upside down."
        else:
            message = (
                f"'{path}' brings in '{file}', whose up axis is {said}, where it is {around}: it lies on its side."
            )
        angle = 90 if str(arc.said) == "Y" else -90
        fix = f"Turn '{path}' by {angle} degrees about X, or convert '{file}'."
        return OtherUnits(path, file, name, said, around, message, fix)
    factor = _number(arc.said) / _number(arc.around)
    if name == KILOGRAMS:
        times = f"{1.0 / factor:.4g}"
        message = (
            f"'{path}' brings in '{file}', whose {name} is {said}, where it is {around}: it weighs {times} times as "
            "much."
        )
        fix = f"Multiply the masses of '{file}' by {factor:.4g}, or correct what it says."
        return OtherUnits(path, file, name, said, around, message, fix)
    scale = abs(float(np.linalg.det(arc.change))) ** (1.0 / 3.0)
    wanted, left = _number(arc.said) / _number(arc.stage), _number(arc.around) / _number(arc.stage)
    if not 0.0 < scale < math.inf or abs(math.log(scale / wanted)) < abs(math.log(scale / left)):
        return None
    times = f"{scale / wanted:.4g}"
    message = (
        f"'{path}' brings in '{file}', whose {name} is {said}, where it is {around}: it has {times} times its size."
    )
    return OtherUnits(path, file, name, said, around, message, f"Scale '{path}' by {factor:.4g}, or convert '{file}'.")


def _nodes(node: Pcp.NodeRef) -> Iterator[Pcp.NodeRef]:
    for child in node.children:
        yield child
        yield from _nodes(child)


def _is_same(name: str, one: Any, other: Any) -> bool:
    if name == UP:
        return str(one) == str(other)
    return 1.0 / _SAME < _number(one) / _number(other) < _SAME


def _weighs(prim: Usd.Prim) -> bool:
    """Whether a mass or density is said there or below."""
    names = ("physics:mass", "physics:density")
    return any(each.GetAttribute(name).HasAuthoredValue() for each in Usd.PrimRange(prim) for name in names)


def _number(value: Any) -> float:
    """A unit; 1 for what is none, which other checks tell."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0.0 else 1.0


def _name(layer: Sdf.Layer) -> str:
    return Path(layer.realPath or layer.identifier).name


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
