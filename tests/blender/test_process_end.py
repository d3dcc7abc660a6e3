# SPDX-License-Identifier: GPL-3.0-or-later
"""A Python with bpy ends as it should while the extension is enabled: bpy 4.5 crashes there with classes registered."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT / "scripts")!r})
import bench
import bpy
bpy.utils.expose_bundled_modules()
package = bench.load_extension()
package.register()
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "package.unregister()", "package.unregister(); package.register()"])
def test_a_process_with_the_extension_ends_with_status_0(more):
    done = subprocess.run([sys.executable, "-c", PROGRAM + more], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    assert "Traceback" not in done.stderr
