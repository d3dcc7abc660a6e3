# SPDX-License-Identifier: GPL-3.0-or-later
"""Small robot descriptions that ask for endless work or memory end with a sentence, within limits of the system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import hostile_xacro
import pytest
from shares import each_of

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")]


def test_no_small_file_takes_all_memory_or_time(tmp_path):
    """Every third one, as all take a minute; `scripts/hostile.py xacro` takes all."""
    folder = tmp_path / "robo" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robo" / "package.xml").write_text("<package><name>robo</name></package>")
    script = ROOT / "tests" / "hostile_xacro.py"
    names = each_of(sorted(hostile_xacro.cases()), 3)
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT), str(folder), *names], capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(names) > 20
    # The limits of a case are 1 GB and 60 seconds of the processor.
    wrong = [one for one in found if one["status"] or one["sentence"].startswith("raised") or not one["sentence"]]
    assert not wrong
