# SPDX-License-Identifier: GPL-3.0-or-later
"""Time per frame with the redraw of the window, against Blender's own rigid bodies in one run (see `make ui`).

    .venv/bin/python scripts/bench_redraw.py [--check]

CPU time of Blender, with 1,000 and 5,000 falling boxes: the preview by its clock, with the timeline, and Blender's own.
`beside_part_100`: what its main thread does in a redraw with 100 boxes and a twin beside them, as a part of a thirtieth
of a second; without what Blender's own drawing takes, which a graphics card does elsewhere. `window_100` has that, too.
Prints `name value unit` per figure; with --check, exit status 1 where a ratio is over its bound.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench

#: Milliseconds of a redraw, so that there are 30 in a second.
FRAME = 1e3 / 30.0
RATIOS = [(name, number) for number in (1000, 5000) for name in ("preview", "timeline")]


def window_log(driver: str) -> str:
    """What a driver of tests/ui says in a window of Blender."""
    sys.path.insert(0, str(bench.ROOT / "tests" / "ui"))
    import window

    with tempfile.TemporaryDirectory() as folder:
        return window.run(driver, window.build_zip(Path(folder)))


def measure(_wanted: Any) -> bench.Rows:
    found = re.findall(r"^REDRAW (\w+) ([\d.]+) \+ [\d.]+ = ([\d.]+) ms$", window_log("bench_redraw"), re.M)
    for name, step, whole in found:
        yield f"{name}_step", float(step), "ms"
        yield name, float(whole), "ms"
    frames = {name: float(whole) for name, _, whole in found}
    for name, number in RATIOS:
        yield f"{name}_ratio_{number}", frames[f"{name}_{number}"] / frames[f"blender_{number}"], ""
    alone, beside = (frames[f"{name}_100"] for name in ("alone", "beside"))
    steps = {name: float(step) for name, step, _ in found}
    yield "window_100", beside, "ms"
    yield "beside_part_100", (beside - (alone - steps["alone_100"])) / FRAME, ""


if __name__ == "__main__":
    #: Frames of the preview and with the timeline, as a part of those of Blender's rigid bodies.
    bench.main(__doc__, measure, {f"{name}_ratio_{number}": 1.2 for name, number in RATIOS} | {"beside_part_100": 1.0})
