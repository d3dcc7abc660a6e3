"""The one way from tests to the code: the repository root as package `usdphys_ext`, whatever its folder is called.

No test depends on the speed or load of the machine. To see that, run the suite with another clock:

    USDPHYS_TEST_CLOCK=3 .venv/bin/python -m pytest tests/blender       # every second counts as three
    USDPHYS_TEST_CLOCK=0.333 .venv/bin/python -m pytest tests/blender   # three seconds count as one

Whatever is imported then reads a clock that is that many times as fast: the product code and Blender's own scripts.
Timeouts of processes and pytest's own durations stay those of the machine. Child processes read the machine's clock.
"""

import importlib.util
import os
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
# For what several folders of tests share; child processes load this file by its path, without pytest.
sys.path.insert(0, str(ROOT / "tests"))
import assets  # noqa: E402
import shares  # noqa: E402

ALIAS = "usdphys_ext"


def _scaled(read: Callable[[], float], factor: float) -> Callable[[], float]:
    """A clock that shows the same time now and goes on `factor` times as fast."""
    start = read()
    return lambda: start + factor * (read() - start)


if os.environ.get("USDPHYS_TEST_CLOCK"):
    for _name in ("perf_counter", "monotonic", "time", "thread_time"):
        setattr(time, _name, _scaled(getattr(time, _name), float(os.environ["USDPHYS_TEST_CLOCK"])))


def _load_alias() -> None:
    spec = importlib.util.spec_from_file_location(ALIAS, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = module
    spec.loader.exec_module(module)


if ALIAS not in sys.modules:
    _load_alias()


def load_script(name: str) -> Any:
    """A module of the folder scripts, which is no package."""
    folder = str(ROOT / "scripts")
    spec = importlib.util.spec_from_file_location(f"usdphys_{name}", Path(folder, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)  # scripts import each other by name
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _spare(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this Blender (SLOW_SHARE=1/3, the second of three) and this run (TURN=1/3) are spared."""
    blender, turn = (shares.Part.read(os.environ.get(name)) for name in ("SLOW_SHARE", "TURN"))
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    others = set()
    for name, several in cases.items():
        is_slow, is_for_some = (several[0].get_closest_marker(mark) is not None for mark in ("slow", "skipif"))
        kind = shares.Kind(is_slow, is_for_some, len(several))
        first = zlib.crc32(name.encode())
        others |= {item for place, item in enumerate(several, first) if not shares.runs(place, kind, blender, turn)}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def script() -> Callable[[str], Any]:
    """Call with the name of a script; returns it as a module."""
    return load_script


# The same examples on every machine and at any speed; one that fails is shown as it is, at once.
hypothesis.settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("repeatable")

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


class HandClock:
    """A clock that stands still unless a test moves it. looks: how often it was read."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        #: Seconds by which each look moves it.
        self.per_look = 0.0
        #: Part of the time that passes in which the thread works; the rest belongs to other programs.
        self.share = 1.0
        self.looks = 0
        self._start = seconds

    def now(self) -> float:
        self.looks += 1
        self.seconds += self.per_look
        return self.seconds

    def thread_now(self) -> float:
        return self.share * (self.seconds - self._start)

    def advance(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[HandClock]:
    """Product code goes by this clock instead of the machine's."""
    product = importlib.import_module(f"{ALIAS}.usdphys_addon.core.clock")
    made = HandClock(product.now())
    with monkeypatch.context() as patch:
        patch.setattr(product, "now", made.now)
        patch.setattr(product, "thread_now", made.thread_now)
        yield made


def _count_calls(function: Callable[[], Any]) -> int:
    """How many functions, those in C included, a call of `function` calls: its work, whatever the machine."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


@pytest.fixture(scope="session")
def count_calls() -> Callable[[Callable[[], Any]], int]:
    return _count_calls


def _is_missing(what: str) -> NoReturn:
    """Skip a test on a developer's machine. With $CI set it fails: there nobody would notice what is left out."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} (and CI is set)", pytrace=False)
    pytest.skip(what)


_NO_FILES = "the folder of shared test assets is not beside the checkout, and SHARED_DIR names none"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of files that a test goes over: those of others, or without them the project's own twins (assets.py).

    With $CI set the twins are not enough.
    """
    if not assets.OF_OTHERS and os.environ.get("CI"):
        _is_missing(_NO_FILES)
    return assets.folder()


@pytest.fixture(scope="session")
def files_of_others(shared: Path) -> Path:
    """The same for a test that no twin can stand for."""
    if not assets.OF_OTHERS:
        _is_missing(_NO_FILES)
    return shared


@pytest.fixture(scope="session")
def usd_python() -> Path:
    """The Python of the environment with usd-core ($USDPHYS_USD_PYTHON names another): never one process with bpy."""
    python = Path(os.environ.get("USDPHYS_USD_PYTHON", load_script("venvs").python_in(ROOT / ".venv-usd")))
    if not python.exists():
        _is_missing("there is no .venv-usd with usd-core; `make env` makes it")
    return python


def _comparer(tool: Path, python: Path) -> Any:
    spec = importlib.util.spec_from_file_location("comparer", ROOT / "scripts" / "comparer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Comparer(tool, python)


@pytest.fixture(scope="session")
def compare(shared: Path, usd_python: Path) -> Iterator[Callable[[Path, Path], dict[str, Any]]]:
    """(original, copy) -> what a judge that does not know the product reports, with its words as "text"."""
    with _comparer(assets.comparer(), usd_python) as made:
        yield made.compare


@pytest.fixture(scope="session")
def own_compare(usd_python: Path) -> Iterator[Callable[[Path, Path], dict[str, Any]]]:
    """The same by the project's own judge, wherever files of others are."""
    with _comparer(ROOT / "scripts" / "compare_facts.py", usd_python) as made:
        yield made.compare


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that go over files of others, or their twins, are marked `shared`. Some are left to other Blenders."""
    _spare(config, items)
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")
