# SPDX-License-Identifier: GPL-3.0-or-later
"""Each command with none, one and two of its options, on a file of each format: exit status, sentence and outputs.

    .venv/bin/python scripts/fuzz_pairs.py [--count N] [--seed N] [--start N] [--only INDEX] [--check]

`option_pairs.toml` says which formats take an option, and which two exclude each other. From that follows the status:
0, or 1 with a sentence where the command cannot be carried out without any option, or 2 with the name of an option that
is refused. A run is bad if it has another status (status), also where a command has an option that the table lacks, or
prints a traceback or ends with 3.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fuzz
import fuzz_cli

sys.path[:0] = [str(fuzz.ROOT)]
TABLE = tomllib.loads(Path(__file__).with_name("option_pairs.toml").read_text(encoding="utf-8"))
INPUTS = Path(tempfile.gettempdir()) / f"usdphys-pairs-{os.getpid()}"
#: Names of the inputs, and the format of the table that each is of.
FILES = {
    "scene.blend": "blend", "imported.blend": "imported", "robot.blend": "robot", "stage.usda": "usd",
    "stage.usdc": "usd", "stage.usdz": "usd", "s.gltf": "gltf", "s.glb": "gltf", "r.urdf": "urdf", "r.xacro": "xacro",
}  # fmt: skip
ENDINGS = {
    ".blend": "blend",
    ".usda": "usd",
    ".usdc": "usd",
    ".usdz": "usd",
    ".gltf": "gltf",
    ".glb": "gltf",
    ".urdf": "urdf",
}
COMMANDS = ("convert",) * 6 + ("simulate", "simulate", "validate", "inspect", "diff", "batch")
ROBOT = """<?xml version="1.0"?>
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}
  <link name="base"><collision><geometry><box size="{} 1 1"/></geometry></collision></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.2 1"/></geometry></collision></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/></joint>
</robot>
"""


# --------------------------------------------------------------------------- inputs


def make_inputs() -> None:
    """A scene with a hinge and a collection, and a robot, in each format."""
    import bpy

    from usdphys_addon.bridge import props

    fuzz_cli.start()
    INPUTS.mkdir()
    props.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    parts = bpy.data.collections.new("Parts")
    bpy.context.scene.collection.children.link(parts)
    made: dict[str, Any] = {}
    for name, place in (("Frame", (0, 0, 0)), ("Door", (2, 0, 0)), ("Hinge", (1, 0, 0))):
        bpy.ops.mesh.primitive_cube_add(location=place)
        made[name] = bpy.context.object
        made[name].name = name
        if name != "Hinge":
            made[name].usdphys.rigid_body.is_applied = True
            made[name].usdphys.colliders.add()
            made[name].usdphys.mass.is_applied, made[name].usdphys.mass.mass = True, 2.0
    parts.objects.link(made["Door"])
    hinge = bpy.data.objects.new("Joint", None)
    bpy.context.scene.collection.objects.link(hinge)
    bpy.data.objects.remove(made["Hinge"])
    hinge.usdphys.joint.is_applied, hinge.usdphys.joint.type = True, "REVOLUTE"
    hinge.usdphys.joint.body0, hinge.usdphys.joint.body1 = made["Frame"], made["Door"]
    bpy.ops.wm.save_as_mainfile(filepath=str(INPUTS / "scene.blend"))
    (INPUTS / "r.urdf").write_text(ROBOT.format("", "1"))
    argument = '<xacro:arg name="size" default="1"/>'
    (INPUTS / "r.xacro").write_text(ROBOT.format(argument, "$(arg size)"))
    (INPUTS / "a.srdf").write_text('<robot name="r"><disable_collisions link1="base" link2="arm"/></robot>')
    (INPUTS / "jobs.jsonl").write_text(
        "".join(json.dumps({"op": "inspect", "in": str(INPUTS / name)}) + "\n" for name in ("stage.usda", "r.urdf"))
    )
    (INPUTS / "results.jsonl").write_text("")
    for source, target in (
        ("scene.blend", "stage.usda"), ("scene.blend", "stage.usdc"), ("scene.blend", "stage.usdz"),
        ("scene.blend", "s.gltf"), ("scene.blend", "s.glb"), ("stage.usda", "imported.blend"),
        ("r.urdf", "robot.blend"),
    ):  # fmt: skip
        status, said, _ = fuzz_cli.performed(["convert", str(INPUTS / source), str(INPUTS / target)])
        if status:
            raise RuntimeError(f"'{target}' is not made: {said[-500:]}")


# --------------------------------------------------------------------------- what is expected


def options_of(command: str) -> dict[str, dict[str, Any]]:
    more = {} if command == "batch" else {**TABLE["robots"], "--isolate": TABLE["common"]["--isolate"]}
    return {**TABLE[command], **more, "--quiet": TABLE["common"]["--quiet"]}


def takes(row: dict[str, Any], source: str, target: str) -> bool:
    """Whether files of these formats take an option."""
    return bool(same_as(source) & set(row.get("in", source).split())) and target in row.get("out", target).split()


def same_as(source: str) -> set[str]:
    """The formats of the table that a file is of: a xacro file takes what a URDF does, and all scenes are .blend."""
    return {source, {"xacro": "urdf", "imported": "blend", "robot": "blend"}.get(source, source)}


def expected(command: str, chosen: list[str], source: str, target: str, suffix: str, base: int) -> tuple[int, ...]:
    """The statuses that a run may have. base: that of the run without options."""
    rows = options_of(command)
    is_refused = (
        any(not takes(rows[name], source, target) for name in chosen)
        or any(rows[name].get("needs", name) not in chosen for name in chosen)
        or any(suffix in rows[name].get("not", ()) for name in chosen)
        or any(set(pair) <= set(chosen) for pair in TABLE["clashes"].get(command, ()))
    )
    if is_refused:
        return (1, 2) if base else (2,)
    fails = (
        base or any(rows[name].get("status") or source in rows[name].get("fails", "").split() for name in chosen)
        or any(set(pair) <= set(chosen) for pair in TABLE["fails"].get(command, ()))
    )  # fmt: skip
    return (1,) if fails else (0,)


# --------------------------------------------------------------------------- a case


def line_of(command: str, source: Path, made: Path, suffix: str, chosen: list[str]) -> tuple[list[str], list[Path]]:
    """(arguments, outputs)"""
    words, outputs = [], []
    for name in chosen:
        values = [text.format(folder=source.parent, made=made) for text in options_of(command)[name].get("value", ())]
        words += [name, *values]
        outputs += [Path(text) for text in values if text.startswith(str(made))]
    if command == "batch":
        return ["batch", *([] if "--failed" in chosen else [str(source.parent / "jobs.jsonl")]), *words], []
    if command == "convert":
        outputs.append(made / f"out{suffix}")
        return ["convert", str(source), str(outputs[-1]), *words], outputs
    if command == "simulate":
        words += ["--seconds", "0.1"]
    return [command, str(source), *([str(source)] if command == "diff" else []), *words], outputs


def case(rng: random.Random, folder: Path, _options: argparse.Namespace) -> Iterator[fuzz.Said]:
    command, name = rng.choice(COMMANDS), rng.choice(list(FILES))
    source = FILES[name]
    rows = options_of(command)
    fitting = [one for one in rows if takes(rows[one], source, rows[one].get("out", "usd").split()[0])]
    both = rng.sample(fitting if rng.random() < 0.7 and len(fitting) > 1 else list(rows), 2)
    wanted = set(ENDINGS.values())
    for one in both if rng.random() < 0.8 else ():
        wanted = wanted & set(rows[one].get("out", " ".join(wanted)).split()) or wanted
    suffix = rng.choice([one for one, kind in ENDINGS.items() if kind in wanted])
    yield f"{name} to {suffix}" if command == "convert" else name
    base = 0
    for chosen in ([], both[:1], both[1:], both):
        work = folder / f"run{len(chosen)}{chosen[:1]}"
        shutil.copytree(INPUTS, work)
        (made := work / "made").mkdir()
        arguments, outputs = line_of(command, work / name, made, suffix, chosen)
        yield " ".join(arguments)
        status, said, printed = fuzz_cli.performed(arguments)
        yield judged(status, said, printed, command, chosen, outputs, expected(
            command, chosen, source, ENDINGS[suffix], suffix, base))  # fmt: skip
        base = status if not chosen else base
        shutil.rmtree(work)


def judged(
    status: int, said: str, printed: str, command: str, chosen: list[str], outputs: list[Path],
    allowed: tuple[int, ...],
) -> tuple[str, str]:  # fmt: skip
    fault = fuzz_cli.common_fault(status, said, printed, fuzz_cli.CONTROL)
    if fault[0]:
        return fault
    there = [path.name for path in outputs if path.exists()]
    lines = [line for line in said.splitlines() if ": error: " in line]
    report = command == "validate" and status == 1
    many = command == "batch" and status == 1
    wrong = (
        (chosen and status not in allowed, f"{status} in place of {allowed}: {lines}"),
        (not chosen and status == 2, f"2 without an option: {lines}"),
        (status == 0 and len(there) < len(outputs), f"0 without its output, with {there}"),
        (status and there and not report, f"{status} with {there}"),
        (status and len(lines) != 1 and not report and not many, f"{status} with {len(lines)} sentences"),
        (status == 2 and chosen and not any(name in said for name in chosen), f"2 names no option: {lines}"),
    )
    return next((("status", f"{chosen} {text}"[:500]) for holds, text in wrong if holds), ("good", ""))


def check_table() -> None:
    """Raise ValueError where a command has other options than the table."""
    from usdphys_addon.cli import arguments

    parser = arguments.make_parser(lambda _: {})
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    hidden = {"--help", "-h", "--version", "--physx-words", "--seconds", "--dask"}
    for command in dict.fromkeys(COMMANDS):
        flags = {flag for action in commands.choices[command]._actions for flag in action.option_strings} - hidden
        if flags != set(options_of(command)):
            raise ValueError(f"the options of {command} are others: {sorted(flags ^ set(options_of(command)))}")


def start() -> None:
    check_table()
    make_inputs()


if __name__ == "__main__":
    sys.exit(fuzz.main(__doc__, {"pairs": fuzz.Fuzzer(case, 1000, ("traceback", "status"), 60.0, start)}))
