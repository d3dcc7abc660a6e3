"""The wheel as it will be published, in an environment that has what it asks for and nothing else."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import venvs  # noqa: E402

SECONDS = 300


#: Notes every search for a module of Blender in the file that WANTED names, and finds none.
SPY = """
import os, sys

class Spy:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {"bpy", "bmesh", "mathutils", "gpu", "bpy_extras"}:
            with open(os.environ["WANTED"], "a") as found:
                print(name, file=found)
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Spy)
"""


def made_or_skipped(make: Callable[[], Path]) -> Path:
    """What `make` returns. Where the package registry is out of reach, the tests skip; with CI set they fail."""
    try:
        return make()
    except venvs.EnvError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no environment for the wheel can be made here: {error}")


@pytest.fixture(scope="session")
def build() -> Callable[[Path], Path]:
    """`build_wheel` of scripts/wheel.py, whose name another package has, too."""
    made_or_skipped(lambda: venvs.make("build"))
    spec = importlib.util.spec_from_file_location("wheel_script", ROOT / "scripts" / "wheel.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.build_wheel


@pytest.fixture(scope="session")
def wheel(build, tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def python(wheel) -> Path:
    """The Python of the environment with the wheel. pip itself sees that what it asks for is there."""
    python = made_or_skipped(lambda: venvs.make("wheel"))
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "uninstall", "--yes", "usdphys"], capture_output=True, check=True)
    done = subprocess.run([*pip, "install", "--no-index", wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return python


class Usdphys:
    """Runs the command, and scripts, in a folder of its own. wanted: modules of Blender that it has looked for."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python, self.folder, self.spy = python, folder, folder / "spy"
        self.spy.mkdir()
        (self.spy / "sitecustomize.py").write_text(SPY)

    def __call__(self, *arguments, **environment: str) -> subprocess.CompletedProcess[str]:
        done = self._run(self.python.with_name("usdphys"), *arguments, **environment)
        assert "Traceback" not in done.stderr and done.returncode != 3, done.stderr
        return done

    def script(self, file: Path, *arguments) -> subprocess.CompletedProcess[str]:
        """Run a script of a person who has installed the wheel."""
        return self._run(self.python, file, *arguments)

    def _run(self, *command, **environment: str) -> subprocess.CompletedProcess[str]:
        names = ("PYTHONPATH", "USDPHYS_BLENDER")
        own = {key: value for key, value in os.environ.items() if key not in names}
        own |= {"PYTHONPATH": str(self.spy), "WANTED": str(self.spy / "wanted.txt"), **environment}
        return subprocess.run(
            list(map(str, command)), cwd=self.folder, env=own, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip

    @property
    def wanted(self) -> list[str]:
        log = self.spy / "wanted.txt"
        return log.read_text().split() if log.exists() else []


@pytest.fixture
def usdphys(python, tmp_path) -> Usdphys:
    return Usdphys(python, tmp_path)
