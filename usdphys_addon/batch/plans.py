# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs for the batches of the window: a folder of files, and the collections of a scene."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import InputError


def of_folder(source: Path, target: Path, inputs: Sequence[str], suffix: str, *, below: bool) -> list[dict[str, Any]]:
    """Jobs that convert the files of a folder with these suffixes, each into the same place below a target.

    below: also those of the folders in it. Raises InputError where there is none.
    """
    if not source.is_dir():
        raise InputError(f"'{source}' is no folder; choose another.")
    target = target.absolute()
    # What an earlier run has written is no input.
    files = [
        path for path in sorted(source.rglob("*") if below else source.iterdir())
        if path.suffix.lower() in inputs and path.is_file() and not path.name.startswith(".")
        and (target == source.absolute() or target not in path.absolute().parents)
    ]  # fmt: skip
    places: dict[Path, Path] = {}
    inputs_there = {path.absolute() for path in files}
    for path in files:
        place = target / path.relative_to(source).with_suffix(suffix)
        if place in places or place in inputs_there:
            # Two files that differ in their suffix, or one that would replace another.
            place = place.with_name(f"{path.name.replace('.', '_')}{suffix}")
        if place not in places and place not in inputs_there:
            places[place] = path
    if not places:
        raise InputError(f"'{source}' has no files that end with {', '.join(inputs)}.")
    return [
        {"op": "convert", "id": path.relative_to(source).as_posix(), "in": str(path), "out": str(place)}
        for place, path in places.items()
    ]


def of_collections(scene: Path, names: Iterable[str], target: Path, suffix: str) -> list[dict[str, Any]]:
    """Jobs that export collections of a .blend, each to a file of its name."""
    planned, taken = [], set()
    for name in names:
        stem = re.sub(r"[^\w.-]+", "_", name).strip("._") or "collection"
        number, unused = 1, stem
        while unused.lower() in taken:
            number, unused = number + 1, f"{stem}_{number + 1}"
        taken.add(unused.lower())
        place = target.absolute() / f"{unused}{suffix}"
        options = {"collection": name}
        planned.append({"op": "convert", "id": name, "in": str(scene), "out": str(place), "options": options})
    return planned
