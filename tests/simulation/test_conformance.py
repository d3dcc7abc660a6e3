# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance suite, as somebody uses it who has nothing else: a folder, its runner, and an adapter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pxr import Usd

from .measures import MEASURES

ROOT = Path(__file__).resolve().parents[2]
FLIGHT = "flight-thrown"
#: An engine for one ball in the air, with so much gravity; it falls as a parabola.
THROWN = """
import numpy as np

def simulate(file, seconds, rate, gravity="9.81"):
    time = np.arange(round(seconds * rate) + 1) / rate
    rows = np.zeros((len(time), 7))
    rows[:, 3] = 1.0
    rows[:, 0], rows[:, 2] = 4.0 * time, 20.0 + 3.0 * time - float(gravity) * time**2 / 2.0
    return {"/World/Ball": rows}
"""


@pytest.fixture(scope="module")
def conformance(script: Callable[[str], Any]) -> Any:
    return script("conformance")


@pytest.fixture(scope="module")
def suite(conformance: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = conformance.make(tmp_path_factory.mktemp("conformance"))
    return folder


def judged(
    suite: Path, adapter: Path, *arguments: str, only: str = FLIGHT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The runner in a Python that knows nothing of this checkout."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, str(suite / "run.py"), str(adapter), *arguments, "--only", only]
    return subprocess.run(command, cwd=suite, env=known | environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_scene_is_a_file_with_an_answer_and_a_name_of_its_own(conformance: Any, suite: Path) -> None:
    scenes = conformance.described(suite)["scenes"]
    assert len({scene["name"] for scene in scenes}) == len(scenes) == len(MEASURES)
    for scene in scenes:
        stage = Usd.Stage.Open(str(suite / scene["files"]["usda"]))
        assert stage.GetDefaultPrim() and scene["tolerance"] >= 0.0 and scene["unit"]
    assert suite.with_suffix(".zip").is_file()


def test_bodies_that_are_moved_are_moved_by_the_file(conformance: Any, suite: Path) -> None:
    moved = [scene for scene in conformance.described(suite)["scenes"] if scene["is_animated"]]
    assert moved
    for scene in moved:
        stage = Usd.Stage.Open(str(suite / scene["files"]["usda"]))
        table = stage.GetPrimAtPath("/World/Table")
        samples = table.GetAttribute("xformOp:orient").GetNumTimeSamples()
        assert samples == round(scene["seconds"] * scene["frames_per_second"]) + 1


def test_each_open_question_belongs_to_a_scene(conformance: Any, suite: Path) -> None:
    content = conformance.described(suite)
    told = {title for scene in content["scenes"] for title in scene["ambiguous"]}
    assert told == {row["title"] for row in content["ambiguous"]}


@pytest.mark.slow
def test_an_engine_that_is_right_holds(suite: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "thrown.py"
    adapter.write_text(THROWN)
    done = judged(suite, adapter, "--json", str(tmp_path / "results.json"))
    assert done.returncode == 0 and "1 hold, 0 off" in done.stdout, done.stderr
    (result,) = json.loads((tmp_path / "results.json").read_text())
    assert result["verdict"] == "holds" and result["value"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_an_engine_with_other_gravity_is_off(suite: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "thrown.py"
    adapter.write_text(THROWN)
    done = judged(suite, adapter, "9.0")
    assert done.returncode == 1 and " off 405 " in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("body", "said"), [
    ("raise NotImplementedError('no flight here')", "refused: no flight here"),
    ("return {}", "refused: no poses of 'Ball'"),
    ("return {'/World/Ball': [[0.0] * 7]}", "broken: TypeError: the adapter gives (1, 7) for '/World/Ball' and not"),
    ("return None", "broken: AttributeError"), ("return [][0]", "broken: IndexError: list index out of range"),
])  # fmt: skip
def test_what_is_no_motion_is_said(suite: Path, tmp_path: Path, body: str, said: str) -> None:
    adapter = tmp_path / "other.py"
    adapter.write_text(f"def simulate(file, seconds, rate):\n    {body}\n")
    done = judged(suite, adapter)
    assert done.returncode == 1 and said in done.stdout + done.stderr


@pytest.mark.slow
def test_an_adapter_that_fails_in_one_scene_is_judged_in_the_others(suite: Path, tmp_path: Path) -> None:
    """It ended the run with a traceback, and no results were written."""
    adapter = tmp_path / "thrown.py"
    adapter.write_text(THROWN.replace("time = ", "assert 'flight' in file.name\n    time = "))
    results = tmp_path / "new" / "results.json"
    # As the page calls it.
    done = judged(suite, adapter, "--json", str(results), only="F")
    verdicts = {one["name"]: one["verdict"] for one in json.loads(results.read_text())}
    assert done.returncode == 1 and set(verdicts.values()) == {"holds", "broken"}, done.stdout + done.stderr
    assert "AssertionError" in done.stdout and f"{len(verdicts) - 1} broken" in done.stdout
    assert next(name for name, verdict in verdicts.items() if verdict == "holds").startswith(FLIGHT)


def test_what_is_missing_for_an_adapter_is_said(suite: Path, tmp_path: Path) -> None:
    done = judged(suite, suite / "adapters" / "usdphys.py", USDPHYS="no-such-command")
    assert done.returncode == 1 and "'no-such-command' is not found" in done.stderr and "Traceback" not in done.stderr
    empty = tmp_path / "empty.py"
    empty.write_text("")
    done = judged(suite, empty)
    assert done.returncode == 2 and "has no function simulate" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_preview_holds_by_the_adapter_of_the_suite(suite: Path) -> None:
    command = f"{sys.executable} -m usdphys_addon"
    done = judged(suite, suite / "adapters" / "usdphys.py", USDPHYS=command, PYTHONPATH=str(ROOT))
    assert done.returncode == 0 and f"{FLIGHT}" in done.stdout and "holds" in done.stdout, done.stdout + done.stderr


def test_the_column_of_an_engine_that_does_not_run_here_stays(conformance: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- ambiguous -->\n<!-- end -->\n<!-- table -->\n| scene | answer | Preview | PhysX |\n"
                    "|---|---|---|---|\n| Flight: ball | 0 ± 1 m | 9 | 0.5 |\n<!-- end -->\n")  # fmt: skip
    scene = {"name": "ball", "title": "Flight: ball", "expected": 0.0, "tolerance": 1.0, "unit": "m", "ambiguous": []}
    results = {"preview": {"ball": {"verdict": "off", "value": 2.0}}}
    rows = list(conformance.table([scene], results, conformance.cells_of(page)))
    assert rows[0] == "| scene | answer | Preview | PhysX |" and rows[2] == "| Flight: ball | 0 ± 1 m | **2** | 0.5 |"
    conformance.write_page(page, rows, [{"title": "Order", "text": "Both.", "taken": "One."}])
    assert "| Order | Both. | One. |" in page.read_text() and "| 0.5 |" in page.read_text()


def test_rows_of_scenes_that_do_not_run_stay(conformance: Any, tmp_path: Path) -> None:
    """As with `--only`; a scene that is new on the page has a dash where it has not run."""
    page = tmp_path / "page.md"
    page.write_text("<!-- table -->\n| scene | answer | Preview | PhysX |\n|---|---|---|---|\n"
                    "| Flight: ball | 0 ± 1 m | 9 | 0.5 |\n<!-- end -->\n")  # fmt: skip
    scenes = [
        {"name": name, "title": f"Flight: {name}", "expected": 0.0, "tolerance": 1.0, "unit": "m", "ambiguous": []}
        for name in ("ball", "box")
    ]
    results = {"preview": {"box": {"verdict": "holds", "value": 0.25}}}
    rows = list(conformance.table(scenes, results, conformance.cells_of(page)))
    assert rows[2:] == ["| Flight: ball | 0 ± 1 m | 9 | 0.5 |", "| Flight: box | 0 ± 1 m | 0.25 | - |"]
