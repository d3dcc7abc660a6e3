# SPDX-License-Identifier: GPL-3.0-or-later
"""Processor time of the panels' draws with 10,000 objects in the scene, in a window of a real Blender (see `make ui`).

    .venv/bin/python scripts/bench_panels.py [--check]

Prints `name value unit` per panel, the median of its draws, that of the box with one object and with 1,000 selected,
and the largest of all; with --check, exit status 1 where one is over its bound.
"""

from __future__ import annotations

import re
from typing import Any

import bench
import bench_redraw


def measure(_wanted: Any) -> bench.Rows:
    log = bench_redraw.window_log("bench_panels")
    found = {name: float(value) for name, value in re.findall(r"^(USDPHYS_[\w.]+) ([\d.]+) ms$", log, re.M)}
    for name, value in found.items():
        yield name, value, "ms"
    yield "one_object", found["USDPHYS_one_object"], "ms"
    yield "thousand_selected", found["USDPHYS_thousand_selected"], "ms"
    yield "slowest_panel", max(found.values()), "ms"


if __name__ == "__main__":
    bench.main(__doc__, measure, {"one_object": 0.6, "thousand_selected": 1.0, "slowest_panel": 1.0})
