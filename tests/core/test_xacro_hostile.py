# SPDX-License-Identifier: GPL-3.0-or-later
"""Small robot descriptions that ask for endless work or memory end with a sentence, within limits of the system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")]


def test_no_small_file_takes_all_memory_or_time(tmp_path):
    folder = tmp_path / "robo" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robo" / "package.xml").write_text("<package><name>robo</name></package>")
    script = ROOT / "tests" / "hostile_xacro.py"
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT), str(folder)], capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 60
    # The limits of a case are 1 GB and 60 seconds of the processor.
    wrong = [one for one in found if one["status"] or one["sentence"].startswith("raised") or not one["sentence"]]
    assert not wrong
