# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the conformance suite, a folder and a zip that run with any engine, and the page with those that run here.

    .venv-usd/bin/python scripts/conformance.py [--out build/conformance] [--page docs/conformance.md] [--only TEXT]
        [--blender PYTHON] [--physx PYTHON] [--newton PYTHON] [--havok LOADER]

The scenes are those of tests/simulation/measures.py. --blender: a Python with bpy, which writes the scenes as glTF.
The page gets a column for the preview, for MuJoCo where it is installed, and for each simulator whose Python is named;
they run through the suite's own runner and adapters, as a stranger's engine would. --havok: a copy of the loader that
compare_havok.py needs; Havok gets the glTF files.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import compare_havok
import compare_physx
import engine_runs

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "scripts" / "conformance_suite"
SCENES = ROOT / "tests" / "simulation"
NAME = "usdphysics-conformance"
MODULES = ("author.py", "catalogue.py", "measures.py")
COLUMNS = {"preview": "Preview", "mujoco": "MuJoCo", "physx": "PhysX", "newton": "Newton", "havok": "Havok"}
#: Lines of the page between which the tables are written.
AMBIGUOUS, TABLE, END = "<!-- ambiguous -->", "<!-- table -->", "<!-- end -->"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "conformance")
    parser.add_argument("--page", type=Path, help="a page of the manual, whose tables are written anew")
    parser.add_argument("--only", default="", help="run only scenes with this in their name")
    parser.add_argument("--blender", default="", metavar="PYTHON", help="a Python with bpy, for the glTF files")
    parser.add_argument("--havok", type=Path, metavar="LOADER", help="a copy of glTF_Physics_Babylon")
    engine_runs.add_options(parser)
    options = parser.parse_args()
    suite = make(options.out, options.blender)
    pythons = engine_runs.chosen(options)
    columns = {engine: run_ours(suite, engine, options.only, pythons) for engine in engines(pythons)}
    if options.havok:
        columns["havok"] = run_havok(suite, options.havok, options.only)
    scenes = described(suite)["scenes"]
    rows = list(table(scenes, columns, cells_of(options.page) if options.page else {}))
    chosen = [row for row, scene in zip(rows[2:], scenes, strict=True) if options.only in scene["name"]]
    print(*rows[:2], *chosen, sep="\n")
    for engine, results in columns.items():
        print(f"{COLUMNS[engine]}: {sum(one['verdict'] == 'holds' for one in results.values())} of {len(results)} hold")
    if options.page:
        write_page(options.page, rows, described(suite)["ambiguous"])
    print(f"suite: {suite}\nzip: {suite.with_suffix('.zip')}")
    return 1 if any(one["verdict"] != "holds" for one in columns["preview"].values()) else 0


# --------------------------------------------------------------------------- the suite


def make(out: Path, blender: str = "") -> Path:
    """Write the folder of the suite and its zip. Returns the folder. blender: a Python with bpy, for glTF files."""
    compare_physx.load_scenes()
    measures = importlib.import_module("simulation_tests.measures")
    folder = out / NAME
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PARTS, folder, ignore=shutil.ignore_patterns("__pycache__", "*.toml"))
    (folder / "suite").mkdir()
    (folder / "suite" / "__init__.py").write_text('"""Scenes, and how their numbers are found."""\n', encoding="utf-8")
    for module in MODULES:
        shutil.copy(SCENES / module, folder / "suite")
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "scenes").mkdir()
    ambiguous = tomllib.loads((PARTS / "ambiguous.toml").read_text(encoding="utf-8"))["row"]
    scenes = [write_scene(folder, case, ambiguous) for case in measures.MEASURES]
    left_out = add_gltf(folder, scenes, blender) if blender else {}
    content = {"format": 1, "scenes": scenes, "ambiguous": ambiguous, "not_as_gltf": left_out}
    (folder / "suite.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    shutil.make_archive(str(folder), "zip", out, NAME)
    return folder


def described(suite: Path) -> dict[str, Any]:
    """The content of `suite.json`."""
    content: dict[str, Any] = json.loads((suite / "suite.json").read_text(encoding="utf-8"))
    return content


def name_of(case: Any) -> str:
    """A short name of a scene, which stays when scenes are added."""
    return re.sub(r"[^a-z0-9.]+", "-", f"{case.group} {case.name}".lower()).strip("-")


def write_scene(folder: Path, case: Any, ambiguous: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Write a scene as .usda. Returns its entry."""
    author = importlib.import_module("simulation_tests.author")
    rate = importlib.import_module("simulation_tests.measures").RATE
    file, name = author.File(), name_of(case)
    case.fill(file)
    path = folder / "scenes" / f"{name}.usda"
    path.write_text(file.text(), encoding="utf-8")
    if case.movers:
        animate(path, case, rate)
    return {
        "name": name, "title": f"{case.group}: {case.name}", "files": {"usda": f"scenes/{name}.usda"},
        "seconds": case.seconds, "frames_per_second": rate, "expected": case.expected, "tolerance": case.tolerance,
        "unit": case.unit, "is_animated": bool(case.movers),
        "ambiguous": [row["title"] for row in ambiguous if any(part in name for part in row["scenes"])],
    }  # fmt: skip


def animate(path: Path, case: Any, rate: int) -> None:
    """Give the kinematic bodies of a scene time samples: a file cannot hold functions."""
    from pxr import Gf, Usd

    stage = Usd.Stage.Open(str(path))
    last = round(case.seconds * rate)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(last)
    for name, pose in case.movers.items():
        prim = stage.GetPrimAtPath(f"/World/{name}")
        for frame in range(last + 1):
            position, rotation = pose(frame / rate)
            prim.GetAttribute("xformOp:translate").Set(Gf.Vec3d(*position), frame)
            prim.GetAttribute("xformOp:orient").Set(Gf.Quatd(*rotation), frame)
    stage.GetRootLayer().Save()


def add_gltf(folder: Path, scenes: Sequence[dict[str, Any]], blender: str) -> dict[str, str]:
    """Write the scenes as .glb too, where glTF can say them. Returns the reasons of the others, by their names.

    What moves by time samples is left out: they would become an animation, which is no motion of a physics body.
    """
    left_out = {scene["name"]: "a body is moved by time samples" for scene in scenes if scene["is_animated"]}
    with tempfile.TemporaryDirectory() as made:
        jobs, results = Path(made, "jobs.jsonl"), Path(made, "results.jsonl")
        sources = {scene["name"]: folder / scene["files"]["usda"] for scene in scenes if not scene["is_animated"]}
        lines = [
            {"id": name, "op": "convert", "in": str(file), "out": str(file.with_suffix(".glb")),
             "options": {"strict": True}}
            for name, file in sources.items()
        ]  # fmt: skip
        jobs.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        command = [
            blender,
            "-m",
            "usdphys_addon",
            "batch",
            str(jobs),
            "--out",
            str(results),
            "--workers",
            "1",
            "--quiet",
        ]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        last = {one["id"]: one for one in map(json.loads, results.read_text(encoding="utf-8").splitlines())}
    for scene in scenes:
        if scene["name"] not in sources:
            continue
        outcome = last.get(scene["name"], {"status": "failed", "error": "it was not converted"})
        if outcome["status"] == "ok":
            scene["files"]["glb"] = f"scenes/{scene['name']}.glb"
        else:
            left_out[scene["name"]] = str(outcome.get("error", outcome["status"]))
    return left_out


# --------------------------------------------------------------------------- the engines that run here


def engines(pythons: dict[str, str]) -> list[str]:
    """The engines that can be tried."""
    return ["preview", *(["mujoco"] if importlib.util.find_spec("mujoco") else []), *pythons]


def run_ours(suite: Path, engine: str, only: str, pythons: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The results of an engine that USD Physics calls, by name of the scene."""
    environment = {"USDPHYS": shlex.join([sys.executable, "-m", "usdphys_addon"])}
    if engine in pythons:
        environment[f"USDPHYS_{engine.upper()}_PYTHON"] = pythons[engine]
    return run(suite, ["usdphys.py", engine, "--only", only], environment)


def run_havok(suite: Path, loader: Path, only: str) -> dict[str, dict[str, Any]]:
    """The results of Havok in Babylon.js by name of the scene."""
    wasm = compare_havok.FOLDER / "node_modules/@babylonjs/havok/lib/esm/HavokPhysics.wasm"
    with tempfile.TemporaryDirectory() as folder:
        program = compare_havok.bundled(loader, Path(folder))
        return run(suite, ["havok.py", str(program), str(wasm), "--form", "glb", "--only", only], {})


def run(suite: Path, arguments: Sequence[str], environment: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The results of the runner of the suite, by name of the scene. arguments: the name of an adapter, and options."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.json")
        adapter, *rest = arguments
        command = [sys.executable, str(suite / "run.py"), str(suite / "adapters" / adapter), *rest]
        command += ["--json", str(results)]
        known = {**os.environ, **environment}
        done = subprocess.run(command, cwd=ROOT, env=known, stdout=subprocess.DEVNULL, check=False)
        if not results.is_file():
            raise SystemExit(f"the runner ended with {done.returncode} and left no results of {adapter}")
        return {one["name"]: one for one in json.loads(results.read_text(encoding="utf-8"))}


# --------------------------------------------------------------------------- the page


def table(
    scenes: Sequence[dict[str, Any]], columns: dict[str, dict[str, dict[str, Any]]], earlier: dict[str, dict[str, str]]
) -> Iterator[str]:  # fmt: skip
    """The lines of the table; what is outside of the tolerance is bold.

    columns: results by engine and scene. earlier: cells by the heads and scenes of a table; those of scenes and engines
    that do not run here stay.
    """
    shown = [engine for engine, head in COLUMNS.items() if engine in columns or head in earlier]
    yield f"| scene | answer | {' | '.join(COLUMNS[engine] for engine in shown)} |"
    yield "|---" * (2 + len(shown)) + "|"
    for scene in scenes:
        answer = f"{scene['expected']:.4g} ± {scene['tolerance']:.3g} {scene['unit']}"
        title = scene["title"] + (" (A)" if scene["ambiguous"] else "")
        cells = [
            cell(columns[engine][scene["name"]]) if scene["name"] in columns.get(engine, {})
            else earlier.get(COLUMNS[engine], {}).get(title, "-")
            for engine in shown
        ]  # fmt: skip
        yield f"| {title} | {answer} | {' | '.join(cells)} |"


def cells_of(page: Path) -> dict[str, dict[str, str]]:
    """The cells of the table of a page by the head of their column and the scene; empty if it has none yet."""
    text = page.read_text(encoding="utf-8")
    start = text.index(TABLE) + len(TABLE)
    lines = [
        line.strip("| ").split(" | ") for line in text[start : text.index(END, start)].splitlines() if " | " in line
    ]
    if not lines:
        return {}
    return {head: {row[0]: row[number] for row in lines[1:]} for number, head in enumerate(lines[0]) if number > 1}


def cell(one: dict[str, Any] | None) -> str:
    if one is None or one["verdict"] in ("refused", "broken"):
        return "-"
    if one["value"] is None or abs(one["value"]) > 1e5:
        return "**lost**"
    return f"{one['value']:.3g}" if one["verdict"] == "holds" else f"**{one['value']:.3g}**"


def write_page(page: Path, rows: Sequence[str], ambiguous: Sequence[dict[str, Any]]) -> None:
    """Replace the two tables of the page."""
    listed = ["| sentence | readings | here |", "|---|---|---|"]
    listed += [f"| {row['title']} | {row['text']} | {row['taken']} |" for row in ambiguous]
    text = page.read_text(encoding="utf-8")
    for begin, lines in ((AMBIGUOUS, listed), (TABLE, rows)):
        start = text.index(begin) + len(begin)
        text = text[:start] + "\n" + "\n".join(lines) + "\n" + text[text.index(END, start) :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
