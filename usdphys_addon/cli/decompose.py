# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `decompose`: convex parts for the colliders of a USD file that are meshes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.words import counted
from ..system.console import say
from ..system.files import checked
from .inputs import require_layer
from .output import folders_made, summarise, tell_note

if TYPE_CHECKING:
    from ..core.fitting import Surface
    from ..core.misfit import Misfit


def share(text: str) -> float:
    """A part of one from 0 to 10, written as 0.02, 2% or error=2%."""
    number = text.strip().removeprefix("error=").strip()
    try:
        value = float(number.removesuffix("%")) / (100.0 if number.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 10.0:
        raise argparse.ArgumentTypeError(f"'{text}' must be a part of the volume, such as 2% or 0.02")
    return value


def decompose_file(options: argparse.Namespace) -> int:
    """Write a layer over a USD file with convex parts for its colliders. Returns the exit status."""
    require_layer(options)
    from ..core.steps import finished
    from ..simulation import convex_parts as parts
    from ..usd import convex_parts, read

    wanted = parts.Wanted(options.method, options.error, options.most, options.coacd_python)
    if options.method == "precise":
        parts.python_with_coacd(options.coacd_python)

    fewest: list[dict[float, int]] = []

    def split(surface: Surface) -> tuple[list[Surface], Misfit]:
        made, misfit, numbers = finished(parts.split(surface, wanted))
        fewest.append(numbers)
        return made, misfit

    with folders_made(options, options.output):
        target = checked(Path(options.output), (options.file,))
        stage = read.open_stage(options.file)
        with read.damage_refused(options.file):
            done, left = convex_parts.decompose_stage(
                str(Path(options.file).absolute()), stage, target, options.mesh, options.form, options.error, split
            )
    for sentence in left:
        tell_note(options, sentence, "usdphys: note: ")
    rows: list[dict[str, Any]] = [
        {
            "mesh": one.mesh, "parts": one.count, "missing": round(one.misfit.missing, 4),
            "extra": round(one.misfit.extra, 4), "distance": round(one.misfit.distance, 6),
            "fits": not options.error or one.misfit.error <= options.error,
            "fewest": {f"{error:.0%}": count for error, count in numbers.items()},
        }
        for one, numbers in zip(done, fewest, strict=True)
    ]  # fmt: skip
    if options.json:
        say(json.dumps(rows, allow_nan=False))
        return 0
    for row in rows:
        say(
            f"{row['mesh']}  parts={row['parts']}  missing={row['missing']:.1%}  added={row['extra']:.1%}  "
            f"distance={row['distance']:.3g} m" + ("" if row["fits"] else "  more than the error that is allowed")
        )
        if row["fewest"]:
            say("    the fewest for an error: " + ", ".join(f"{key} {count}" for key, count in row["fewest"].items()))
    summarise(options, f"{options.output}: convex parts for {counted(len(rows), 'collider')}")
    return 0
