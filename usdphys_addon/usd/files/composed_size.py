# SPDX-License-Identifier: GPL-3.0-or-later
"""How many prims a stage would compose, by multiplying arcs in its layers: a small file can ask for any number of them.

The estimate is an upper bound: it counts all variants, and a prim once for each place that is composed into it.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pxr import Ar, Sdf, Tf

from ...core.errors import InputError
from ...system import arcs, limits

#: Prims that a stage may compose, unless the environment variable says another number.
MOST_PRIMS, VARIABLE = 1_500_000, "USDPHYS_MOST_PRIMS"
#: Larger layers are not counted: they are not what a few lines multiply.
_LARGEST_FILE = 64 << 20
#: Arcs to arcs to arcs. No honest asset comes near.
_DEEPEST = 150
_ROOT = Sdf.Path.absoluteRootPath


class TooManyPrimsError(InputError):
    """A file composes more prims than are read unless somebody says so."""


#: (path, time of change, size) of files that are opened whatever they compose.
_accepted: set[tuple[str, int, int]] = set()


def accept(file: str) -> None:
    """Let a file be opened whatever it composes, until it changes on the disk."""
    _accepted.add(_state_of(file))


def _state_of(file: str) -> tuple[str, int, int]:
    state = Path(file).stat()
    return os.path.realpath(file), state.st_mtime_ns, state.st_size


class _Target(NamedTuple):
    """Where an arc leads: a layer with its sublayers, and a prim. layer: "" for the stack of the arc itself."""

    layer: str
    path: Sdf.Path


class _Outline(NamedTuple):
    """The prims of a layer, parents first. sizes: of the tree below each, with itself. arcs: (prim, target), in order.

    places: prims by path without variants, of which there can be several. sublayers: identifiers.
    """

    sizes: list[int]
    places: dict[Sdf.Path, list[int]]
    arcs: list[tuple[int, _Target]]
    above: dict[Sdf.Path, list[_Target]]
    sublayers: list[str]
    start: Sdf.Path


class _TooManyError(Exception):
    pass


class _TooDeepError(Exception):
    pass


def check(file: str) -> list[Sdf.Layer]:
    """Raise TooManyPrimsError where a file composes more prims than are read, InputError where its arcs do not end.

    Returns the layers that it has opened: while they are kept, a stage does not read them again.
    """
    most = most_prims()
    if not _has_arcs(file) or (_accepted and _state_of(file) in _accepted):
        return []
    counter = _Counter(most)
    try:
        counter.whole(file, _ROOT, 0)
    except _TooManyError:
        raise TooManyPrimsError(
            f"its references and inherits multiply to more than {most:,} prims, which would fill the memory; "
            f"if that is meant, set the environment variable {VARIABLE} to a larger number."
        ) from None
    except _TooDeepError:
        raise InputError(f"a reference leads to a reference, and so on, more than {_DEEPEST} times.") from None
    return counter.kept


def most_prims() -> int:
    """How many prims a stage may compose."""
    return limits.count(VARIABLE, MOST_PRIMS)


def _has_arcs(file: str) -> bool:
    """True if a file can have composition arcs, also to prims of its own; in doubt, True."""
    return Ar.IsPackageRelativePath(file) or arcs.has_any(Path(file))


class _Counter:
    def __init__(self, most: int) -> None:
        self.most, self.left = most, most
        self.outlines: dict[str, _Outline | None] = {}
        self.known: dict[tuple[str, Sdf.Path], int] = {}
        self.open: set[tuple[str, Sdf.Path]] = set()
        #: Arcs that led back to where they came from. What was counted on the way to one is no final number.
        self.circles = 0
        self.kept: list[Sdf.Layer] = []

    def whole(self, layer: str, path: Sdf.Path, depth: int) -> int:
        """Prims at a path and below it. Raises _TooManyError or _TooDeepError."""
        key = (layer, path)
        if key in self.known:
            return self.known[key]
        if key in self.open:
            self.circles += 1
            return 0
        self.left -= 1
        self.limit(0)
        if depth > _DEEPEST:
            raise _TooDeepError
        self.open.add(key)
        circles, total = self.circles, 0
        for name in self.stack(layer):
            outline = self.outlines[name]
            assert outline is not None
            for target in self.targets(outline, path):
                to = target.layer or layer
                start = target.path or self.start(to)
                if start:
                    total += self.whole(to, start, depth + 1)
                    self.limit(total)
            total += sum(outline.sizes[place] for place in outline.places.get(path, ()))
            self.limit(total)
        self.open.discard(key)
        if circles == self.circles:
            self.known[key] = total
        return total

    def limit(self, total: int) -> None:
        if total > self.most or self.left < 0:
            raise _TooManyError

    def targets(self, outline: _Outline, path: Sdf.Path) -> Iterator[_Target]:
        """Where the arcs of a prim and of those below it lead, and, from those above it, to its counterpart."""
        for place in outline.places.get(path, ()):
            first = bisect_left(outline.arcs, (place,))
            for at in range(first, len(outline.arcs)):
                prim, target = outline.arcs[at]
                if prim >= place + outline.sizes[place]:
                    break
                self.left -= 1
                yield target
        for above in path.GetPrefixes()[:-1]:
            for target in outline.above.get(above, ()):
                start = target.path or (self.start(target.layer) if target.layer else outline.start)
                # USD cuts an arc to what is below its own prim.
                if start and (target.layer or not start.HasPrefix(above)):
                    yield _Target(target.layer, path.ReplacePrefix(above, start))

    def stack(self, layer: str) -> list[str]:
        """A layer with its sublayers."""
        layers, waiting = dict.fromkeys([layer]), [layer]
        while waiting:
            outline = self.outline(waiting.pop())
            for below in outline.sublayers if outline else ():
                if below not in layers:
                    layers[below] = None
                    waiting.append(below)
        return [name for name in layers if self.outline(name)]

    def start(self, layer: str) -> Sdf.Path:
        """The default prim of a layer; empty if it has none."""
        outline = self.outline(layer)
        return outline.start if outline else Sdf.Path.emptyPath

    def outline(self, name: str) -> _Outline | None:
        if name not in self.outlines:
            self.outlines[name] = self._read(name)
        return self.outlines[name]

    def _read(self, name: str) -> _Outline | None:
        try:
            file = Path(Ar.SplitPackageRelativePathOuter(name)[0])
            if file.stat().st_size > _LARGEST_FILE:
                return None
            layer = Sdf.Layer.FindOrOpen(name)
        except (Tf.ErrorException, OSError, ValueError):
            return None
        if not layer:
            return None
        self.kept.append(layer)
        return _outlined(layer)


def _outlined(layer: Sdf.Layer) -> _Outline:
    places: dict[Sdf.Path, list[int]] = {}
    above: dict[Sdf.Path, list[_Target]] = {}
    arcs: list[tuple[int, _Target]] = []
    parents: list[int] = []
    waiting = [(layer.pseudoRoot, 0)]
    while waiting:
        spec, parent = waiting.pop()
        place = len(parents)
        parents.append(parent)
        path = spec.path.StripAllVariantSelections()
        places.setdefault(path, []).append(place)
        waiting += [(child, place) for child in spec.nameChildren]
        if not place:
            continue
        if spec.hasReferences or spec.hasPayloads or spec.hasInheritPaths or spec.hasSpecializes:
            targets = list(_targets(spec, layer))
            arcs += [(place, target) for target in targets]
            above.setdefault(path, []).extend(targets)
        for variants in spec.variantSets.values() if spec.HasInfo("variantSetNames") else ():
            waiting += [(variant.primSpec, place) for variant in variants.variants.values()]
    sizes = [1] * len(parents)
    for place in range(len(parents) - 1, 0, -1):
        sizes[parents[place]] += sizes[place]
    start = layer.defaultPrim
    sublayers = [layer.ComputeAbsolutePath(name) for name in layer.subLayerPaths if name]
    return _Outline(sizes, places, arcs, above, sublayers, _path(start) if start else Sdf.Path.emptyPath)


def _path(name: str) -> Sdf.Path:
    return Sdf.Path(name if name.startswith("/") else f"/{name}") if name else Sdf.Path.emptyPath


def _targets(spec: Sdf.PrimSpec, layer: Sdf.Layer) -> Iterator[_Target]:
    for arc in (*_items(spec.referenceList), *_items(spec.payloadList)):
        asset = layer.ComputeAbsolutePath(arc.assetPath) if arc.assetPath else ""
        yield _Target(asset, arc.primPath)
    for path in (*_items(spec.inheritPathList), *_items(spec.specializesList)):
        yield _Target("", path)


def _items(edits: Any) -> list[Any]:
    return list(edits.GetAddedOrExplicitItems())
