# SPDX-License-Identifier: GPL-3.0-or-later
"""Time per frame with the redraw of the window, against Blender's own rigid bodies in one run (see `make ui`).

    .venv/bin/python scripts/bench_redraw.py [--check]

CPU time of Blender, with 1,000 and 5,000 falling boxes: the preview by its clock, with the timeline, and Blender's own.
Prints `name value unit` per figure; with --check, exit status 1 where a ratio is over its bound.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ui"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench
import window

#: Frames of the preview and with the timeline, as a part of those of Blender's rigid bodies.
BOUNDS = {f"{name}_ratio_{number}": 1.2 for name in ("preview", "timeline") for number in (1000, 5000)}


def measure() -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit)."""
    runner: Any = window
    with tempfile.TemporaryDirectory() as folder:
        log = runner.run("bench_redraw", runner.build_zip(Path(folder)))
    found = re.findall(r"^REDRAW (\w+) ([\d.]+) \+ [\d.]+ = ([\d.]+) ms$", log, re.M)
    figures = {f"{name}_step": (float(step), "ms") for name, step, _ in found}
    figures |= {name: (float(whole), "ms") for name, _, whole in found}
    for number in (1000, 5000):
        for name in ("preview", "timeline"):
            ratio = figures[f"{name}_{number}"][0] / figures[f"blender_{number}"][0]
            figures[f"{name}_ratio_{number}"] = (ratio, "")
    return figures


if __name__ == "__main__":
    wanted = bench.parser(__doc__).parse_args()
    sys.exit(bench.report(measure(), BOUNDS, check=wanted.check))
