# SPDX-License-Identifier: GPL-3.0-or-later
"""The independent comparer of two UsdPhysics files, run in a process of its own, in the environment with usd-core."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

#: How often the comparer is asked again where its own numbers are none.
TRIES = 4


def compare(tool: Path, original: Path, copy: Path, python: Path) -> dict[str, Any]:
    """The comparer's report: "score", "facts", "vendor", "diffs" and more, and all that it prints as "text".

    usd-core's ComputeMassProperties returns numbers that are none in about one process of a hundred, for files as they
    are compared with themselves: then the comparer is asked again. What is really not a number stays so.
    """
    for _ in range(TRIES):
        found = _once(tool, original, copy, python)
        if found["score"] == 1.0 or "nan" not in str(found["diffs"]):
            break
    return found


def _once(tool: Path, original: Path, copy: Path, python: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [str(python), "-E", str(tool), str(original), str(copy), "--json", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        text = done.stdout + done.stderr
        if not report.exists():
            return {"score": 0.0, "diffs": [text.strip()[-200:]], "text": text}
        return {**json.loads(report.read_text(encoding="utf-8")), "text": text}
