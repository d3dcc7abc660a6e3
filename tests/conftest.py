"""The one way from tests to the code: the repository root as package `usdphys_ext`, whatever its folder is called."""

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALIAS = "usdphys_ext"


def _load_alias() -> None:
    spec = importlib.util.spec_from_file_location(ALIAS, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)


if ALIAS not in sys.modules:
    _load_alias()

_status = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_status] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """bpy may hang or crash while the interpreter shuts down: leave before that, with pytest's own status."""
    if "bpy" in sys.modules and _status in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[_status])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test assets that lies beside the checkout ($SHARED_DIR names another)."""
    folder = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("the folder of shared test assets is not beside the checkout, and SHARED_DIR names none")
    return folder


@pytest.fixture(scope="session")
def usd_python() -> Path:
    """The Python of the environment with usd-core ($USDPHYS_USD_PYTHON names another): never one process with bpy."""
    python = Path(os.environ.get("USDPHYS_USD_PYTHON", ROOT / ".venv-usd" / "bin" / "python"))
    if not python.exists():
        pytest.skip("there is no .venv-usd with usd-core; `make env` makes it")
    return python


@pytest.fixture(scope="session")
def compare(shared: Path, usd_python: Path) -> Callable[[Path, Path], dict[str, Any]]:
    """(original, copy) -> what the independent comparer reports, with its words as "text"."""
    spec = importlib.util.spec_from_file_location("comparer", ROOT / "scripts" / "comparer.py")
    comparer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(comparer)
    tool = shared / "tools" / "compare_physics.py"
    return lambda original, copy: comparer.compare(tool, original, copy, usd_python)
