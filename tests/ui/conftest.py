"""Runs driver scripts in the windows of a real Blender, in the Debian tree that scripts/ui_tree.sh makes.

That Blender is built without USD. Artefacts (screenshots, logs) go to build/ui.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNNER = ROOT / ".ui-tree" / "in"
ARTEFACTS = ROOT / "build" / "ui"
GEOMETRY = (1280, 800)
SECONDS = 300


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build.py", "--out", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*-linux_x64.zip"))


@pytest.fixture
def drive(extension_zip):
    """Call with the name of a file in drivers/; fails when the driver fails or anything printed a traceback."""
    if not RUNNER.exists():
        pytest.skip("the tree with a real Blender is not there: run 'make ui'")

    def run(driver: str) -> str:
        width, height = GEOMETRY
        command = ["timeout", "-k", "10", str(SECONDS), str(RUNNER)]
        command += ["SHARE", "xvfb-run", "-a", "-s", f"-screen 0 {width}x{height}x24 +extension GLX"]
        command += ["blender", "--no-window-focus", "-p", "0", "0", str(width), str(height)]
        command += ["--enable-event-simulate", "--python-exit-code", "3", "--python", f"/share/drivers/{driver}.py"]
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as share:
            shutil.copytree(HERE / "drivers", Path(share, "drivers"))
            shutil.copy(extension_zip, Path(share, "extension.zip"))
            Path(share, "shots").mkdir()
            command[command.index("SHARE")] = share
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            for shot in Path(share, "shots").glob("*.png"):
                shutil.copy(shot, ARTEFACTS / f"{driver}-{shot.name}")
        log = done.stdout.decode(errors="replace")
        (ARTEFACTS / f"{driver}.log").write_text(log, encoding="utf-8")
        assert done.returncode == 0, f"status {done.returncode}\n{log[-6000:]}"
        assert "Traceback" not in log, log[-6000:]  # an exception in a timer or a draw callback does not end Blender
        return log

    return run
