"""Time is read in one place, and no test depends on the speed of the machine."""

from pathlib import Path

from parsed import parsed

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
#: The clock that tests replace; what hangs on demand, and waits for the end of a process; the patience of window tests;
#: benchmarks.
MAY_READ_THE_TIME = {
    TESTS / "conftest.py",
    TESTS / "stand_in.py",
    TESTS / "simulation" / "test_live.py",
    TESTS / "ui" / "drivers" / "kit.py",
    TESTS / "ui" / "drivers" / "x11.py",
    TESTS / "ui" / "drivers" / "bench_panels.py",
    TESTS / "ui" / "drivers" / "bench_redraw.py",
}


def reads_the_time(path: Path) -> bool:
    return not parsed(path).modules().isdisjoint({"time", "timeit"})


def product() -> list[Path]:
    folders = [ROOT / name for name in ("usdphys_addon", "operators", "panels")]
    return [*ROOT.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))]


def test_one_clock_can_be_replaced_for_all_product_code():
    """`pipe` also runs in the Python of an engine, and `limits` on workers of Dask: without other modules of ours."""
    package = ROOT / "usdphys_addon"
    assert {path for path in product() if reads_the_time(path)} == {
        package / "core" / "clock.py", package / "simulation" / "engines" / "pipe.py",
        package / "system" / "limits.py",
    }  # fmt: skip


def test_no_test_can_fail_on_a_slow_or_a_fast_machine():
    assert {path for path in TESTS.rglob("*.py") if reads_the_time(path)} == MAY_READ_THE_TIME
