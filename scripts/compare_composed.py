# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between two composed stages: every prim, property, value, time sample, target and metadata.

    .venv-usd/bin/python scripts/compare_composed.py FIRST SECOND

Prints one line per difference; exit status 1 where there are any, 2 where a file cannot be opened. Assets are compared
by the files that they name. How the two are composed (references, payloads, variants) does not count.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd

#: Metadata that says how a prim is composed, and not what it is; and lists that are compared as prims and properties.
_COMPOSITION = frozenset({
    "references", "payload", "inheritPaths", "specializes", "variantSelection", "variantSetNames", "primChildren",
    "properties", "subLayers", "subLayerOffsets", "specifier", "typeName", "apiSchemas", "instanceable",
    "propertyChildren", "primOrder", "propertyOrder", "clips", "clipSets",
})  # fmt: skip
_PROPERTY = frozenset({"default", "timeSamples", "spline", "targetPaths", "connectionPaths", "typeName", "variability"})


def differences(first: Usd.Stage, second: Usd.Stage) -> Iterator[str]:
    """One line for each difference between two composed stages."""
    yield from _metadata("stage", _fields(first.GetPseudoRoot()), _fields(second.GetPseudoRoot()), first, second)
    one, other = _prims(first), _prims(second)
    yield from (f"{path}: missing" for path in one if path not in other)
    yield from (f"{path}: new" for path in other if path not in one)
    for path in one:
        if path in other:
            yield from _compare_prims(path, one[path], other[path])


def _prims(stage: Usd.Stage) -> dict[str, Usd.Prim]:
    everything = Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate)
    return {str(prim.GetPath()): prim for prim in Usd.PrimRange(stage.GetPseudoRoot(), everything)
            if not prim.IsPseudoRoot()}  # fmt: skip


def _compare_prims(path: str, one: Usd.Prim, other: Usd.Prim) -> Iterator[str]:
    for name, ask in (
        ("type", Usd.Prim.GetTypeName), ("specifier", Usd.Prim.GetSpecifier), ("active", Usd.Prim.IsActive),
        ("instance", Usd.Prim.IsInstance), ("schemas", lambda prim: list(prim.GetAppliedSchemas())),
        ("children", lambda prim: [child.GetName() for child in prim.GetAllChildren()]),
    ):  # fmt: skip
        if ask(one) != ask(other):
            yield f"{path}: {name} {ask(one)!r} != {ask(other)!r}"
    yield from _metadata(path, _fields(one), _fields(other), one.GetStage(), other.GetStage())
    names = [[item.GetName() for item in prim.GetAuthoredProperties()] for prim in (one, other)]
    yield from (f"{path}.{name}: missing" for name in names[0] if name not in names[1])
    yield from (f"{path}.{name}: new" for name in names[1] if name not in names[0])
    for name in names[0]:
        if name in names[1]:
            yield from _compare_properties(f"{path}.{name}", one.GetProperty(name), other.GetProperty(name))


def _compare_properties(path: str, one: Usd.Property, other: Usd.Property) -> Iterator[str]:
    if type(one) is not type(other):
        yield f"{path}: {type(one).__name__} != {type(other).__name__}"
        return
    yield from _metadata(path, _fields(one), _fields(other), one.GetStage(), other.GetStage())
    if isinstance(one, Usd.Relationship):
        targets = one.GetTargets(), other.GetTargets()
        if targets[0] != targets[1]:
            yield f"{path}: targets {list(map(str, targets[0]))} != {list(map(str, targets[1]))}"
        return
    if (one.GetTypeName(), one.GetVariability()) != (other.GetTypeName(), other.GetVariability()):
        yield f"{path}: declared {one.GetTypeName()} != {other.GetTypeName()}"
    if one.GetConnections() != other.GetConnections():
        yield f"{path}: connections {one.GetConnections()} != {other.GetConnections()}"
    if one.GetTimeSamples() != other.GetTimeSamples():
        yield f"{path}: times of samples differ"
        return
    for time in (Usd.TimeCode.Default(), *one.GetTimeSamples()):
        values = _value(one, time), _value(other, time)
        if not same(*values):
            yield f"{path}: {_short(values[0])} != {_short(values[1])}" + ("" if time == Usd.TimeCode.Default()
                                                                          else f" at {time}")  # fmt: skip


def _value(attribute: Usd.Attribute, time: Any) -> Any:
    try:
        return attribute.Get(time)
    except Exception as error:  # a value of a type that Python does not hold
        return f"unreadable: {type(error).__name__}"


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; numbers that are none are equal to themselves, assets if they name one file."""
    if isinstance(one, Sdf.AssetPath) and isinstance(other, Sdf.AssetPath):
        return _file_of(one) == _file_of(other)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if one == other:
        return True
    if type(one) is not type(other) or isinstance(one, str | bytes):
        return False
    try:
        if hasattr(one, "imaginary"):
            return same(one.real, other.real) and same(one.imaginary, other.imaginary)
        return len(one) == len(other) and all(map(same, one, other))
    except TypeError:
        return False


def _file_of(asset: Sdf.AssetPath) -> str:
    if asset.resolvedPath:
        return os.path.realpath(asset.resolvedPath)
    # In a package: its name, and that of the file in brackets.
    return Path(asset.path.rpartition("[")[2].rstrip("]")).name


def _fields(thing: Any) -> dict[str, Any]:
    left_out = _COMPOSITION if isinstance(thing, Usd.Prim) else _PROPERTY
    found = {name: value for name, value in thing.GetAllAuthoredMetadata().items() if name not in left_out}
    # Of metadata that this USD does not know: text is read as something else than a crate file.
    return {name: one.value if isinstance(one, Sdf.UnregisteredValue) else one for name, one in found.items()}


def _metadata(
    path: str, one: dict[str, Any], other: dict[str, Any], _first: Usd.Stage, _second: Usd.Stage
) -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        if not same(one.get(name), other.get(name)):
            yield f"{path}: {name} {_short(one.get(name))} != {_short(other.get(name))}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__)
        return 2
    stages = []
    for file in arguments:
        try:
            stages.append(Usd.Stage.Open(file))
        except Tf.ErrorException as error:
            said = [*re.findall(r" : '(.*)'", str(error)), "it is no USD file"][0]
            print(f"'{file}' cannot be opened ({said}).", file=sys.stderr)
            return 2
    found = list(differences(*stages))
    print("\n".join(found) or "the same")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
