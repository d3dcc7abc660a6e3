"""The zips as they will be published, and a way to run functions in a fresh Blender with a user folder of its own."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 900


@pytest.fixture(scope="session")
def zips(tmp_path_factory) -> dict[str, Path]:
    """Platform name, or "no_wheels", -> zip."""
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build.py", "addon", "--out", out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.stem.split("-")[-1]: path for path in out.glob("*.zip")}


@pytest.fixture(scope="session")
def engines(here, tmp_path_factory) -> Path:
    """The zip with the engines for this machine."""
    out = tmp_path_factory.mktemp("engines")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "build.py", "engines", "--platform", here.replace("_", "-"), "--out", out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.glob("*.zip")
    return made


@pytest.fixture(scope="session")
def here() -> str:
    """The platform of this machine, as in the names of the zips."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}[sys.platform]
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
    return f"{system}_{machine.get(platform.machine().lower(), platform.machine().lower())}"


@pytest.fixture
def blender(tmp_path):
    """Call with the name of a function of in_blender.py and its arguments; returns what that function returned."""

    def run(function: str, *arguments) -> object:
        result = tmp_path / f"{function}.json"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["BLENDER_USER_RESOURCES"] = str(tmp_path / "resources")
        command = [sys.executable, HERE / "in_blender.py", result, function, *arguments]
        done = subprocess.run(
            list(map(str, command)),
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        log = done.stdout + done.stderr
        assert done.returncode == 0 and "Traceback" not in log, log[-6000:]
        return json.loads(result.read_text(encoding="utf-8"))

    return run
