# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of the panels' draws with 10,000 objects in the scene, in a window of a real Blender (see `make ui`).

    .venv/bin/python scripts/bench_panels.py [--check]

Prints `name value unit` per panel, the median of its draws, and the largest of them; with --check, exit status 1 where
that is over its bound.
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

BOUNDS = {"slowest_panel": 1.0}


def measure() -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit)."""
    runner: Any = window
    with tempfile.TemporaryDirectory() as folder:
        log = runner.run("bench_panels", runner.build_zip(Path(folder)))
    figures = {name: (float(value), "ms") for name, value in re.findall(r"^(USDPHYS_[\w.]+) ([\d.]+) ms$", log, re.M)}
    figures["slowest_panel"] = max(figures.values())
    return figures


if __name__ == "__main__":
    wanted = bench.parser(__doc__).parse_args()
    sys.exit(bench.report(measure(), BOUNDS, check=wanted.check))
