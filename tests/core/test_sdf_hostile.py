# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models of Gazebo that ask for endless work or memory end with a sentence, within limits of the system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import hostile_sdf
import pytest
from shares import each_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_no_small_model_takes_all_memory_or_time_or_ends_as_a_fault(tmp_path: Path) -> None:
    """Every third one, as all take two minutes; `scripts/hostile.py sdf` takes all."""
    script = ROOT / "tests" / "hostile_sdf.py"
    names = each_of(sorted(hostile_sdf.cases()), 3)
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT), str(tmp_path), *names], capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(names) > 30
    wrong = [one for one in found if one["status"] or one["sentence"].startswith("raised") or not one["sentence"]]
    assert not wrong
    # The script ends each after 60 seconds of the processor; resident, each takes less than 2 GB.
    assert max(one["mb"] for one in found) < 2048
