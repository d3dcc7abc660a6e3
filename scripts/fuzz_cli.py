# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line on hostile stages, .blend scenes and arguments: no traceback, no hang, no wrong exit status.

    .venv-usd/bin/python scripts/fuzz_cli.py stages [--count N] [--seed N] [--start N] [--only INDEX] [--check]
    .venv-usd/bin/python scripts/fuzz_cli.py edits ...
    .venv/bin/python scripts/fuzz_cli.py scenes ...
    .venv/bin/python scripts/fuzz_cli.py lines ...
    .venv/bin/python scripts/fuzz_cli.py robots --sources FOLDER ...
    .venv/bin/python scripts/fuzz_cli.py gltf --sources FOLDER ...
    .venv-usd/bin/python scripts/fuzz_cli.py mjcf --sources FOLDER ...

stages: USD files from `fuzz_usd.py`, with odd units and times, read by validate, inspect and simulate, and some of
them converted to MJCF. edits: two such files each, through diff, merge, decompose, tetmesh and prove. scenes: .blend
files of odd objects, also converted. lines: odd arguments and standard streams, each in a process of its own. robots,
gltf, mjcf: the URDF, xacro, glTF and MJCF files of a folder with odd values in them, also converted.

A run is bad if it prints a traceback or a panic (traceback), ends by a signal (crash), takes longer than 30 s (hang;
on a busy machine, 15 s of them at work, or ten minutes), or does not keep the promises about the exit status (status):
0 with the outputs and only finite numbers in them, 1 with a sentence and without outputs, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fuzz
from fuzz import ROOT

sys.path[:0] = [str(ROOT)]
#: Seconds for one command.
LIMIT = 30.0
CONTROL = "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]"
PANIC = r"Traceback \(most recent|panicked at|PanicException|Fatal Python error"
#: A list of numbers in MJCF that has one that is none.
ODD_XML = r'(?<!name)="(?:[-+.0-9e]+ )*[-+]?(?:nan|inf)(?: [-+.0-9a-z]+)*"'
#: What Blender and USD print of their own is theirs; the lines of this product are judged.
THEIRS = re.compile(r"^(Warning|Info|Error): |\.(cpp|h|cc)\b|^USD export of")
#: Commands that end with 1 for what they find, without an error.
FINDING = ("validate", "diff", "merge", "prove")
Commands = Iterator[tuple[list[str], list[Path]]]


# --------------------------------------------------------------------------- one run


def common_fault(status: int, said: str, printed: str, control: str) -> tuple[str, str]:
    """What is bad about any run, ("", "") if nothing is. said: stderr. printed: stdout."""
    if re.search(PANIC, said + printed):
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith((" ", "usdphys: error"))]
        places = re.findall(r'File "[^"]*/([\w.]+)", line (\d+), in (\w+)', said)[-3:]
        return "traceback", f"{places} {lines[-1][:200] if lines else ''}"
    if status not in (0, 1, 2):
        return "status", f"{status}: {said.strip().splitlines()[-1:]}"
    if found := re.search(f".{{0,40}}{control}.{{0,20}}", said + printed):
        return "status", f"raw control characters are printed: {found[0]!r}"
    return "", ""


def verdict(status: int, said: str, outputs: list[Path], command: str, printed: str) -> tuple[str, str]:
    there = [path for path in outputs if path.exists()]
    errors = [line for line in said.splitlines() if line.startswith("usdphys: error: ")]
    odd = [path.suffix for path in there if not_finite(path)]
    faults = (
        (status == 0 and len(there) < len(outputs), "0 without its output"),
        (status != 0 and there, f"{status} with an output"),
        (status == 1 and command not in FINDING and len(errors) != 1, f"1, {len(errors)} error lines: {said[-300:]!r}"),
        (status == 0 and errors, f"0 with an error line: {errors[:1]}"),
        (odd, f"0 with NaN or infinity in {odd}"),
    )
    fault = common_fault(status, said, printed, CONTROL)
    return fault if fault[0] else next((("status", text) for holds, text in faults if holds), ("good", ""))


def not_finite(path: Path) -> bool:
    """True if a file of motion, or one of MJCF, holds a number that is none."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.suffix in (".json", ".usda", ".xml") else ""
    pattern = ODD_XML if path.suffix == ".xml" else r":simulated\.timeSamples = \{[^}]*\}"
    samples = [text] if path.suffix == ".json" else re.findall(pattern, text)
    return any(re.search(r"\b(NaN|Infinity|nan|inf)\b", one) for one in samples)


def run_here(arguments: list[str], outputs: list[Path]) -> tuple[str, str]:
    """Run a command in this process; its verdict."""
    status, said, printed = performed(arguments)
    return verdict(status, said, outputs, arguments[0], printed)


def performed(arguments: list[str]) -> tuple[int, str, str]:
    """(status, stderr without lines of Blender and USD, stdout) of a command in this process."""
    from usdphys_addon import cli

    sys.stdout.flush()
    sys.stderr.flush()
    saved, texts = (os.dup(1), os.dup(2)), []
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            status = cli.main(["--debug", *arguments])
        except BaseException:
            traceback.print_exc()
            status = 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in enumerate(saved, 1):
                os.dup2(copy, number)
                os.close(copy)
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return status, "\n".join(line for line in texts[1].splitlines() if not THEIRS.search(line)), texts[0]


def case(rng: random.Random, folder: Path, options: argparse.Namespace) -> Iterator[fuzz.Said]:
    import fuzz_gltf
    import fuzz_mjcf
    import fuzz_urdf

    make, commands = {
        "stages": (odd_stage, stage_commands), "edits": (odd_stage, edit_commands),
        "scenes": (odd_scene, scene_commands),
        "robots": (lambda *more: fuzz_urdf.make(*more, options.sources), file_commands),
        "gltf": (lambda *more: fuzz_gltf.make(*more, options.sources), file_commands),
        "mjcf": (lambda *more: fuzz_mjcf.make(*more, options.sources), model_commands),
    }[options.kind]  # fmt: skip
    path, notes = make(rng, folder)
    yield ", ".join(notes)
    for arguments, outputs in commands(rng, path, folder):
        yield " ".join(arguments)
        yield run_here(arguments, outputs)


# --------------------------------------------------------------------------- files and their commands


def odd_stage(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    import fuzz_usd
    from pxr import Sdf

    path, notes = fuzz_usd.make(rng, folder)
    if path.is_file() and rng.random() < 0.35:
        with contextlib.suppress(*fuzz_usd.REFUSED):
            layer = Sdf.Layer.FindOrOpen(str(path))
            for _ in range(rng.choice((1, 1, 2, 3)) if layer else 0):
                name = rng.choice(("metersPerUnit", "kilogramsPerUnit", "timeCodesPerSecond", "framesPerSecond",
                                   "startTimeCode", "endTimeCode"))  # fmt: skip
                value = float(rng.choice((*fuzz_usd.NUMBERS, 1e9, 1e-9, 1e12, 24.0, 0.01)))
                layer.pseudoRoot.SetInfo(name, value)
                notes.append(f"{name}={value:g}")
            if layer:
                layer.Save()
            del layer
    return path, notes


def reading(rng: random.Random, path: Path) -> Commands:
    yield ["validate", str(path), "--target", rng.choice(("usd", "physx", "newton")), *maybe(rng, 0.3, "--json")], []
    yield ["inspect", str(path), *maybe(rng, 0.5, "--json")], []


def maybe(rng: random.Random, chance: float, *words: str) -> list[str]:
    return list(words) if rng.random() < chance else []


def stage_commands(rng: random.Random, path: Path, folder: Path) -> Commands:
    yield from reading(rng, path)
    poses, motion = folder / "poses.json", folder / f"motion{rng.choice(('.usda', '.usdc', '.usd'))}"
    simulate = ["simulate", str(path), "--seconds", rng.choice(("0.1",) * 12 + ("0.2", "1e-9", "1e9", "1e300"))]
    rates = ("24", "1", "0.1", "240", "1e12", "1e-9", "1000", "59.94")
    simulate += maybe(rng, 0.3, "--fps", rng.choice(rates))
    simulate += maybe(rng, 0.2, "--substeps", rng.choice(("1", "4", "64", "1000", "99999999999999999999")))
    yield [*simulate, "--json", str(poses)], [poses]
    yield [*simulate, "--out", str(motion)], [motion]
    if rng.random() < 0.5:
        model = folder / "model.xml"
        yield ["convert", str(path), str(model), *maybe(rng, 0.2, "--strict")], [model]


def edit_commands(rng: random.Random, path: Path, folder: Path) -> Commands:
    """The commands that compare files or write layers over them."""
    other, _ = odd_stage(rng, made_folder(folder / "other"))
    base = rng.choice((path, other))
    yield ["diff", str(path), str(other), *maybe(rng, 0.3, "--json")], []
    merged = folder / f"merged{rng.choice(('.usda', '.usdc', '.usd'))}"
    favoured = maybe(rng, 0.5, "--favor", rng.choice(("ours", "theirs")))
    yield ["merge", str(base), str(path), str(other), "-o", str(merged), *favoured], []
    parts, filled = folder / "parts.usda", folder / "filled.usda"
    form = maybe(rng, 0.3, "--form", rng.choice(("prims", "settings")))
    yield ["decompose", str(path), str(parts), *form, *maybe(rng, 0.3, "--most", rng.choice(("1", "3", "64")))], [parts]
    sizes = maybe(rng, 0.4, "--across", rng.choice(("1", "4", "10"))) or maybe(rng, 0.4, "--cell", rng.choice(SIZES))
    yield ["tetmesh", str(path), str(filled), *sizes], [filled]
    if rng.random() < 0.3:
        yield ["prove", str(path), "--budget", "2", "--seconds", "0.2", *maybe(rng, 0.5, "--against", str(other))], []


#: Metres of a cell of tetrahedra.
SIZES = ("1", "0.1", "1e-9", "1e9", "1e300")


def made_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def scene_commands(rng: random.Random, path: Path, folder: Path) -> Commands:
    yield from reading(rng, path)
    poses, motion, back = folder / "poses.json", folder / "motion.usda", folder / "back.blend"
    yield ["simulate", str(path), "--seconds", "0.1", "--json", str(poses)], [poses]
    if rng.random() < 0.5:
        yield ["simulate", str(path), "--seconds", "0.1", "--out", str(motion)], [motion]
    out = folder / f"out{rng.choice(('.usda', '.usdc', '.usd', '.usdz'))}"
    flags = (
        "--hierarchy flat",
        "--hierarchy reset",
        "--meters-per-unit 0.01",
        "--up-axis Y",
        "--animation",
        "--strict",
    )
    yield ["convert", str(path), str(out), *maybe(rng, 0.5, *rng.choice(flags).split())], [out]
    if out.exists():
        yield ["convert", str(out), str(back)], [back]


def file_commands(rng: random.Random, path: Path, folder: Path) -> Commands:
    yield from reading(rng, path)
    poses = folder / "poses.json"
    yield ["simulate", str(path), "--seconds", "0.1", "--json", str(poses)], [poses]
    endings = (".blend", ".usda", ".usdc", ".usdz", ".glb", ".gltf", ".urdf")
    out = folder / "made" / f"out{rng.choice(endings)}"
    out.parent.mkdir()
    yield ["convert", str(path), str(out)], [out]


def model_commands(rng: random.Random, path: Path, folder: Path) -> Commands:
    """What needs no Blender, and there and back."""
    yield from reading(rng, path)
    poses = folder / "poses.json"
    yield ["simulate", str(path), "--seconds", "0.1", "--json", str(poses)], [poses]
    out, back = folder / "made" / f"out{rng.choice(('.usda', '.usdc', '.usd', '.xml'))}", folder / "back" / "back.xml"
    out.parent.mkdir()
    back.parent.mkdir()
    yield ["convert", str(path), str(out), *maybe(rng, 0.2, "--strict")], [out]
    if out.exists():
        yield ["convert", str(out), str(back)], [back]


# --------------------------------------------------------------------------- scenes

ODD_NAMES = (
    "Crate", "a" * 200, "Größe", "名前", "\U0001f600", "tab\there", "new\nline", "\x1b[31mred", "a/b", "..", "//x",
    "%s{0}", "'quoted\"", "\u202eright", "CON", " ", "a.001", "World", "root", "_", "9lives", "a:SDF_FORMAT_ARGS:b",
    "\x7f\x9b",
)  # fmt: skip
ODD_NUMBERS = (0.0, -1.0, 1e-30, 1e30, 3e38, -3e38, float("nan"), float("inf"), float("-inf"), 1e-7, 0.5, 1.0, 2.0, 1e6)
#: Data that is no mesh: (collection of bpy.data, further arguments of its `new`).
ODD_DATA = (
    ("curves", "CURVE"), ("curves", "FONT"), ("lights", "POINT"), ("metaballs",), ("lattices",), ("cameras",),
    ("armatures",), ("volumes",),
)  # fmt: skip
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def odd_scene(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    """A .blend of some objects, each odd in some ways."""
    import bpy

    from usdphys_addon.bridge import props

    if not props.is_registered():
        props.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    notes: list[str] = []
    meshes, objects = [odd_mesh(rng, notes) for _ in range(rng.choice((1, 2, 4)))], []

    def new(data: Any) -> Any:
        obj = bpy.data.objects.new(rng.choice(ODD_NAMES), data)
        scene.collection.objects.link(obj)
        return obj

    for _ in range(rng.choice((1, 2, 5, 12))):
        kind, *more = rng.choice(ODD_DATA)
        obj = new(rng.choice((*meshes, *meshes, None, getattr(bpy.data, kind).new(rng.choice(ODD_NAMES), *more))))
        if objects and rng.random() < 0.4:
            obj.parent = rng.choice(objects)
            notes.append("parented")
        objects.append(obj)
        place(rng, obj, notes)
    for obj in objects:
        physics: Any = obj.usdphys
        for group, chance in ((physics.rigid_body, 0.6), (physics.mass, 0.3), (physics.joint, 0.25)):
            if rng.random() < chance:
                group.is_applied = True
        for _ in range(rng.choice((0, 1, 1, 3))):
            physics.colliders.add()
        fill(rng, physics, objects, notes, 0.15)
    for _ in range(rng.choice((0, 0, 1, 2))):
        scene.usdphys.physics_scenes.add().name = rng.choice(ODD_NAMES)
        scene.usdphys.collision_groups.add().name = rng.choice(ODD_NAMES)
    fill(rng, scene.usdphys, objects, notes, 0.05)
    for owner, name, chance, choices in (
        (scene.unit_settings, "scale_length", 0.3, (1e-9, 0.01, 1.0, 1000.0)),
        (scene.render, "fps", 0.3, (1, 24, 32767)), (scene.render, "fps_base", 0.3, (1e-5, 1.0, 1e6)),
        (scene, "frame_start", 0.2, (0, 1, 1048574)),
    ):  # fmt: skip
        if rng.random() < chance:
            setattr(owner, name, rng.choice(choices))
    if rng.random() < 0.2:
        collection = bpy.data.collections.new(rng.choice(ODD_NAMES))
        collection.objects.link(rng.choice(objects))
        instance = new(None)
        instance.instance_type, instance.instance_collection = "COLLECTION", collection
        notes.append("instance")
    path = folder / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path, notes


def odd_mesh(rng: random.Random, notes: list[str]) -> Any:
    import bpy

    mesh = bpy.data.meshes.new(rng.choice(ODD_NAMES))
    kind = rng.choice(("cube", "cube", "cube", "empty", "points", "edge", "flat", "line", "huge", "nan", "tiny", "open",
                       "doubled", "fan"))  # fmt: skip
    size = {"huge": 1e18, "tiny": 1e-18, "nan": float("nan")}.get(kind, 1.0)
    y_size, z_size = {"flat": (size, 0.0), "line": (0.0, 0.0)}.get(kind, (size, size))
    corners = [(x * size, y * y_size, z * z_size) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    circle = [(rng.uniform(-1, 1), rng.uniform(-1, 1), 0.0) for _ in range(300)]
    corners = {"empty": [], "fan": circle}.get(kind, corners)
    none: list[Any] = []
    faces = {
        "empty": none, "points": none, "edge": none, "open": FACES[:3], "fan": [tuple(range(300))],
        "doubled": [*FACES, *(tuple(reversed(face)) for face in FACES)],
    }.get(kind, FACES)  # fmt: skip
    mesh.from_pydata(corners, [(0, 1)] if kind == "edge" else [], faces)
    notes += [f"{kind} mesh"] if kind != "cube" else []
    return mesh


def place(rng: random.Random, obj: Any, notes: list[str]) -> None:
    for name in ("location", "rotation_euler", "scale"):
        vector = getattr(obj, name)
        for axis in range(3):
            if rng.random() < 0.08:
                vector[axis] = rng.choice(ODD_NUMBERS)
                notes.append(f"{name}={vector[axis]:g}")
            elif name == "location":
                vector[axis] = rng.uniform(-5, 5)


def fill(rng: random.Random, group: Any, objects: list[Any], notes: list[str], chance: float) -> None:
    """Set some properties of a group, and of the groups in it, to odd values."""
    import bpy

    for item in group.bl_rna.properties:
        name = item.identifier
        value = None if name in ("rna_type", "name", "bl_system_properties") else getattr(group, name)
        if item.type == "COLLECTION" and value is not None:
            for one in value:
                if hasattr(one, "bl_rna"):
                    fill(rng, one, objects, notes, chance)
        elif isinstance(value, bpy.types.PropertyGroup):
            fill(rng, value, objects, notes, chance)
        elif value is None and item.type != "POINTER":
            continue
        elif item.type == "POINTER" and name not in ("rna_type", "bl_system_properties"):
            if rng.random() < 0.5:
                with contextlib.suppress(TypeError, AttributeError):
                    setattr(group, name, rng.choice(objects))
        elif item.type != "POINTER" and not item.is_readonly and rng.random() < chance:
            with contextlib.suppress(TypeError, ValueError, AttributeError, RuntimeError, OverflowError):
                setattr(group, name, odd_property(rng, item))
                notes.append(name)


def odd_property(rng: random.Random, item: Any) -> Any:
    """Raises TypeError for a property of which none is odd."""
    if item.type == "FLOAT":
        return [rng.choice(ODD_NUMBERS) for _ in range(item.array_length)] if item.is_array else rng.choice(ODD_NUMBERS)
    if item.type == "ENUM" and not item.is_enum_flag:
        return rng.choice([one.identifier for one in item.enum_items])
    choices = {"INT": (0, 1, -1, 2**31 - 1, -(2**31)), "BOOLEAN": (False, True), "STRING": ODD_NAMES}
    if item.type not in choices or getattr(item, "is_array", False):
        raise TypeError
    return rng.choice(choices[item.type])


# --------------------------------------------------------------------------- command lines

STAGE = """#usda 1.0
(defaultPrim = "World"; metersPerUnit = 1; upAxis = "Z")
def Xform "World" {
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
#: Names of files before their suffix, and whole ones.
STEMS = (
    "n" * 250, "n" * 240, "名前" * 40, "名前" * 82, "a\tb", "a\nb", "\x1b[31mred", "\U0001f600",
    "a:SDF_FORMAT_ARGS:b=c", "-x", "#", "a b", "a%20b", "a@b", "a[b]", "a<UDIM>", "a'b\"c", "a\\b", "~", "$HOME",
    "\u202eabc", os.fsdecode(b"\xff\xfe"), "", ".", "plain", "plain", "plain",
)  # fmt: skip
WHOLE = ("a", "a.txt", "", ".", "..")
#: Numbers; the first of the second row is a digit of another script.
FIGURES = ("1", "0.1", "0", "-1", "nan", "inf", "1e9", "1e-9", "1e300", "9" * 30, "x", "",
           "\u0661", "0x1")  # fmt: skip
#: Options of commands, and values of each, of which one is chosen; $ is the input.
VALUES = {
    "validate": ((), ("--json",), ("--target", "physx"), ("--target", "x"), ("--target",), ("$",)),
    "inspect": ((), ("--json",), ("--nonsense",)),
}
OPTIONS = {
    "--prim": ("/World", "", "x", "/Nowhere", "/World.size", "<>", "//"), "--onto": ("", "x.blend", "$"),
    "--variant": ("/World{a=b}", "", "x", "{}", "/World{a=b"), "--up-axis": ("Y", "x"), "--meters-per-unit": FIGURES,
    "--kilograms-per-unit": FIGURES, "--hierarchy": ("flat", "x"),
}  # fmt: skip
FLAGS = ("--merge", "--flatten", "--composed", "--strict", "--animation", "--physics-only")
#: How the process is started.
HOW = {
    "stdout": ("pipe", "pipe", "pipe", "closed", "full", "broken"), "stdin": ("null", "null", "closed"),
    "stderr": ("pipe", "pipe", "pipe", "pipe", "closed", "full"), "locale": ("C", "C.UTF-8", "POSIX"),
    "encoding": ("", "", "ascii", "utf-8", "latin-1", "utf-16"), "folder": ("here", "here", "here", "deleted"),
}  # fmt: skip


def odd_file_name(rng: random.Random, *suffixes: str) -> str:
    return rng.choice((*(stem + rng.choice(suffixes) for stem in STEMS), *WHOLE))


def odd_folder(rng: random.Random, folder: Path) -> str:
    return rng.choice((
        str(folder), str(folder), str(folder), f"/{folder}", f"{folder}/./../{folder.name}", f"{folder}//",
        f"{folder}/{'/'.join(['d' * 200] * 6)}", str(folder) + "/x" * 2400, ".", "", "/nowhere", "/dev", "/proc/self",
        f"{folder}/file",
    ))  # fmt: skip


def odd_line(rng: random.Random, folder: Path) -> list[str]:
    """The arguments, after the input has been made where its name allows that."""
    (folder / "file").write_text("x")
    place, name = odd_folder(rng, folder), odd_file_name(rng, ".usda", ".usda", ".usd", ".usdc")
    source = f"{place}/{name}" if place else name
    with contextlib.suppress(OSError, ValueError):
        if str(folder) in source:
            Path(folder, source).parent.mkdir(parents=True, exist_ok=True)
        if str(folder) in os.path.normpath(Path(folder, source)):
            Path(folder, source).write_text(STAGE)
    out = f"{odd_folder(rng, folder) or '.'}/{odd_file_name(rng, '.usda', '.usdc', '.json', '.blend', '.usdz')}"
    command = rng.choice(("validate", "inspect", "simulate", "simulate", "convert", "", "nonsense", "--help", "-h"))
    arguments = [command, source, *rng.choice(VALUES.get(command, ((),)))]
    if command == "simulate":
        arguments += ["--seconds", rng.choice(("0.1", "0.1", rng.choice(FIGURES)))]
        for option in ("--fps", "--substeps"):
            arguments += maybe(rng, 0.3, option, rng.choice(FIGURES))
        arguments += maybe(rng, 0.7, rng.choice(("--out", "--json")), rng.choice((out, out, "$")))
    elif command == "convert":
        arguments.append(rng.choice((out, out, out, "$")))
        for option, values in OPTIONS.items():
            arguments += maybe(rng, 0.12, option, rng.choice(values))
        arguments += [flag for flag in FLAGS if rng.random() < 0.08]
    return [source if word == "$" else word for word in arguments]


def line_case(rng: random.Random, folder: Path, _options: argparse.Namespace) -> Iterator[fuzz.Said]:
    arguments = odd_line(rng, folder)
    how = {name: rng.choice(choices) for name, choices in HOW.items()}
    yield str(how)
    yield ascii(arguments)
    yield run_line(arguments, how, folder)


def run_line(arguments: list[str], how: dict[str, str], folder: Path) -> tuple[str, str]:
    """Run a command line in a process of its own; its verdict."""
    (work := folder / "cwd").mkdir()
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONIO"))}
    environment |= {"LC_ALL": how["locale"], "PYTHONPATH": str(ROOT)}
    environment |= {"PYTHONIOENCODING": how["encoding"]} if how["encoding"] else {}
    # The shell deletes the folder it stands in, and closes streams, before it becomes the command.
    script = {"deleted": 'rmdir "$PWD"; ', "here": ""}[how["folder"]] + 'exec "$@"'
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        script += {"closed": f" {number}>&-", "full": f" {number}>/dev/full"}.get(how[name], "")
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "usdphys_addon", *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stderr=err,
            stdout=writer if how["stdout"] == "broken" else out, start_new_session=True,
        )  # fmt: skip
        os.close(writer)
        for _ in range(fuzz.SILENT):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LIMIT)
            if process.returncode is not None or fuzz.work_of(process.pid) > LIMIT / 2:
                break
    if process.returncode is None:
        os.killpg(process.pid, 9)
        process.wait()
        return "hang", f"{how}"
    status = process.returncode
    if status < 0:
        return "crash", f"signal {-status}"
    encoding = how["encoding"] or "utf-8"
    printed, said = ((folder / name).read_bytes().decode(encoding, "replace") for name in ("stdout", "stderr"))
    fault = common_fault(status, said, printed, "[\x1b\u202e]")
    if fault[0]:
        return fault
    if status == 0 and how["stdout"] in ("full", "broken"):
        return "status", "0, though what it has to say was lost"
    if status and how["stderr"] == "pipe" and "error: " not in said and arguments[0] != "validate":
        return "status", f"{status} without a sentence: {said[-200:]!r}"
    return "good", ""


def start() -> None:
    with contextlib.suppress(ImportError):
        os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.gettempdir() + "/usdphys-fuzz-resources")
        import bpy

        bpy.utils.expose_bundled_modules()


if __name__ == "__main__":
    bad, limit = ("traceback", "status"), LIMIT + 10.0
    counts = {"stages": 5000, "edits": 1000, "scenes": 2000, "robots": 500, "gltf": 500, "mjcf": 2000}
    kinds = {
        name: fuzz.Fuzzer(case, count, bad, limit, start, sources=name in ("robots", "gltf", "mjcf"))
        for name, count in counts.items()
    }
    kinds["lines"] = fuzz.Fuzzer(line_case, 500, bad, 30 * LIMIT)
    sys.exit(fuzz.main(__doc__, kinds))
