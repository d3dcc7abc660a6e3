# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line on hostile stages, .blend scenes and arguments: no traceback, no hang, no wrong exit status.

    .venv-usd/bin/python scripts/fuzz_cli.py stages [--count N] [--seed N] [--start N] [--only INDEX] [--check]
    .venv/bin/python scripts/fuzz_cli.py scenes ...
    .venv/bin/python scripts/fuzz_cli.py lines ...
    .venv/bin/python scripts/fuzz_cli.py robots --sources FOLDER ...
    .venv/bin/python scripts/fuzz_cli.py gltf --sources FOLDER ...

stages: USD files from `fuzz_mutations.py`, with odd units and times, read by validate, inspect and simulate. scenes:
.blend files of odd objects, also converted. lines: odd arguments and standard streams, each in a process of its own.
robots, gltf: the URDF, xacro and glTF files of a folder with odd values in them, also converted.
Cases run in child processes, which take one after the other, so that a crash or a hang costs one case. A case is told
by (kind, seed, index), and --only runs one again and prints what it says.

A run is bad if it prints a traceback or a panic (traceback), ends by a signal (crash), takes longer than 30 s (hang;
on a busy machine, 15 s of them at work, or ten minutes), or does not keep the promises about the exit status (status):
0 with the outputs and only finite numbers in them, 1 with a sentence and without outputs, 2 for wrong arguments. Prints
`name value unit` per figure and a line for each bad run; with --check, exit status 1 where
there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from json_pipe import JsonPipe, work_of

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
#: Cases of one child before a fresh one takes over.
BATCH = 150
#: Seconds for one command.
LIMIT = 30.0
MEMORY = 6 * 1024**3
BAD = ("traceback", "crash", "hang", "status")
KINDS = ("stages", "scenes", "lines", "robots", "gltf")


# --------------------------------------------------------------------------- one run


def verdict(status: int, said: str, outputs: list[Path], command: str, printed: str) -> tuple[str, str]:
    """(bad outcome, or "" for a good one; reason). said: stderr. printed: stdout."""
    if re.search(r"Traceback \(most recent|panicked at|PanicException|Fatal Python error", said + printed):
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith((" ", "usdphys: error"))]
        places = re.findall(r'File "[^"]*/([\w.]+)", line (\d+), in (\w+)', said)[-3:]
        return "traceback", f"{places} {lines[-1][:200] if lines else ''}"
    if status not in (0, 1, 2):
        return "status", f"{status}: {said.strip().splitlines()[-1:]}"
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]", said + printed):
        found = re.search(r".{0,40}[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069].{0,20}", said + printed)
        return "status", f"raw control characters are printed: {found and found[0]!r}"
    there = [path for path in outputs if path.exists()]
    if status == 0 and len(there) < len(outputs):
        return "status", "0 without its output"
    if status != 0 and there:
        return "status", f"{status} with an output"
    errors = [line for line in said.splitlines() if line.startswith("usdphys: error: ")]
    if status == 1 and command != "validate" and len(errors) != 1:
        return "status", f"1 with {len(errors)} error lines: {said[-300:]!r}"
    if status == 0 and errors:
        return "status", f"0 with an error line: {errors[0]}"
    for path in there:
        if not_finite(path):
            return "status", f"0 with NaN or infinity in {path.suffix}"
    return "", ""


def not_finite(path: Path) -> bool:
    """True if a file of motion holds a number that is none."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.suffix in (".json", ".usda") else ""
    if path.suffix == ".json":
        return bool(re.search(r"\b(NaN|Infinity)\b", text))
    samples = re.findall(r":simulated\.timeSamples = \{[^}]*\}", text)
    return any(re.search(r"\b(nan|inf)\b", one) for one in samples)


def run_here(arguments: list[str], outputs: list[Path]) -> tuple[str, str]:
    """Run a command in this process, with its streams in files; its verdict."""
    from usdphys_addon import cli

    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            try:
                status = cli.main(["--debug", *arguments])
            except BaseException:
                import traceback

                traceback.print_exc()
                status = 1
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)
            os.close(saved[0])
            os.close(saved[1])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    # What Blender and USD print of their own is theirs; the lines of this product are judged.
    theirs = re.compile(r"^(Warning|Info|Error): |\.(cpp|h|cc)\b|^USD export of")
    ours = "\n".join(line for line in texts[1].splitlines() if not theirs.search(line))
    return verdict(status, ours, outputs, arguments[0], texts[0])


# --------------------------------------------------------------------------- stages


def odd_stage(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    import fuzz_mutations
    from pxr import Sdf, Tf

    path, notes = fuzz_mutations.make(rng, folder)
    if path.is_file() and rng.random() < 0.35:
        with contextlib.suppress(Tf.ErrorException, RuntimeError):
            layer = Sdf.Layer.FindOrOpen(str(path))
            if layer is not None:
                for _ in range(rng.choice((1, 1, 2, 3))):
                    name = rng.choice(("metersPerUnit", "kilogramsPerUnit", "timeCodesPerSecond", "framesPerSecond",
                                       "startTimeCode", "endTimeCode"))  # fmt: skip
                    value = float(rng.choice((*fuzz_mutations.NUMBERS, 1e9, 1e-9, 1e12, 24.0, 0.01)))
                    if name in ("metersPerUnit", "kilogramsPerUnit"):
                        layer.pseudoRoot.SetInfo(name, value)
                    else:
                        setattr(layer, name, value)
                    notes.append(f"{name}={value:g}")
                layer.Save()
            del layer
    return path, notes


def stage_commands(rng: random.Random, path: Path, folder: Path) -> Iterator[tuple[list[str], list[Path]]]:
    json_flag = ["--json"] if rng.random() < 0.3 else []
    yield ["validate", str(path), "--target", rng.choice(("usd", "physx", "newton")), *json_flag], []
    yield ["inspect", str(path), *(["--json"] if rng.random() < 0.5 else [])], []
    poses, motion = folder / "poses.json", folder / f"motion{rng.choice(('.usda', '.usdc', '.usd'))}"
    more = []
    if rng.random() < 0.3:
        more += ["--fps", rng.choice(("24", "1", "0.1", "240", "1e12", "1e-9", "1000", "59.94"))]
    if rng.random() < 0.2:
        more += ["--substeps", rng.choice(("1", "4", "64", "1000", "99999999999999999999"))]
    seconds = rng.choice(("0.1",) * 12 + ("0.2", "1e-9", "1e9", "1e300"))
    simulate = ["simulate", str(path), "--seconds", seconds, *more]
    yield [*simulate, "--json", str(poses)], [poses]
    yield [*simulate, "--out", str(motion)], [motion]


# --------------------------------------------------------------------------- scenes


ODD_NAMES = (
    "Crate", "a" * 200, "Größe", "名前", "\U0001f600", "tab\there", "new\nline", "\x1b[31mred", "a/b", "..", "//x",
    "%s{0}",
    "'quoted\"", "\u202eright", "CON", " ", "a.001", "World", "root", "_", "9lives", "a:SDF_FORMAT_ARGS:b", "\x7f\x9b",
)  # fmt: skip
ODD_NUMBERS = (0.0, -1.0, 1e-30, 1e30, 3e38, -3e38, float("nan"), float("inf"), float("-inf"), 1e-7, 0.5, 1.0, 2.0, 1e6)


def odd_scene(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    """A .blend of some objects, each odd in some ways."""
    import bpy

    from usdphys_addon.bridge import props

    if not props.is_registered():
        props.register()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    notes: list[str] = []
    meshes = [mesh for _ in range(rng.choice((1, 2, 4))) for mesh in [odd_mesh(rng, notes)]]
    objects: list[Any] = []
    for _ in range(rng.choice((1, 2, 5, 12))):
        data = rng.choice((*meshes, *meshes, None, odd_data(rng)))
        obj = bpy.data.objects.new(rng.choice(ODD_NAMES), data)
        scene.collection.objects.link(obj)
        if objects and rng.random() < 0.4:
            obj.parent = rng.choice(objects)
            notes.append("parented")
        objects.append(obj)
        place(rng, obj, notes)
    for obj in objects:
        physics: Any = obj.usdphys
        if rng.random() < 0.6:
            physics.rigid_body.is_applied = True
        for _ in range(rng.choice((0, 1, 1, 3))):
            physics.colliders.add()
        if rng.random() < 0.3:
            physics.mass.is_applied = True
        if rng.random() < 0.25:
            physics.joint.is_applied = True
        fill(rng, physics, objects, notes, 0.15)
    for _ in range(rng.choice((0, 0, 1, 2))):
        scene.usdphys.physics_scenes.add().name = rng.choice(ODD_NAMES)
        scene.usdphys.collision_groups.add().name = rng.choice(ODD_NAMES)
    fill(rng, scene.usdphys, objects, notes, 0.05)
    if rng.random() < 0.3:
        scene.unit_settings.scale_length = rng.choice((1e-9, 0.01, 1.0, 1000.0))
    if rng.random() < 0.3:
        scene.render.fps = rng.choice((1, 24, 32767))
        scene.render.fps_base = rng.choice((1e-5, 1.0, 1e6))
    if rng.random() < 0.2:
        scene.frame_start = rng.choice((0, 1, 1048574))
    if rng.random() < 0.2 and objects:
        collection = bpy.data.collections.new(rng.choice(ODD_NAMES))
        collection.objects.link(rng.choice(objects))
        instance = bpy.data.objects.new(rng.choice(ODD_NAMES), None)
        instance.instance_type, instance.instance_collection = "COLLECTION", collection
        scene.collection.objects.link(instance)
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
    corners = [(x * size, y * size, z * size) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    if kind == "empty":
        corners, faces = [], []
    elif kind in ("points", "edge"):
        faces = []
    elif kind == "flat":
        corners = [(x, y, 0.0) for x, y, _ in corners]
    elif kind == "line":
        corners = [(x, 0.0, 0.0) for x, _, _ in corners]
    elif kind == "open":
        faces = faces[:3]
    elif kind == "doubled":
        faces = faces + [tuple(reversed(face)) for face in faces]
    elif kind == "fan":
        corners = [(rng.uniform(-1, 1), rng.uniform(-1, 1), 0.0) for _ in range(300)]
        faces = [tuple(range(300))]
    mesh.from_pydata(corners, [(0, 1)] if kind == "edge" else [], faces)
    if kind != "cube":
        notes.append(f"{kind} mesh")
    return mesh


def odd_data(rng: random.Random) -> Any:
    import bpy

    kind = rng.choice(("curve", "metaball", "lattice", "camera", "light", "armature", "font", "volume"))
    name = rng.choice(ODD_NAMES)
    if kind == "curve":
        return bpy.data.curves.new(name, "CURVE")
    if kind == "font":
        return bpy.data.curves.new(name, "FONT")
    if kind == "light":
        return bpy.data.lights.new(name, "POINT")
    blocks = {"metaball": "metaballs", "lattice": "lattices", "camera": "cameras", "armature": "armatures",
              "volume": "volumes"}  # fmt: skip
    return getattr(bpy.data, blocks[kind]).new(name)


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
        if name in ("rna_type", "name", "bl_system_properties") or (item.is_readonly and item.type != "POINTER"):
            if item.type == "COLLECTION":
                for one in getattr(group, name):
                    if hasattr(one, "bl_rna"):
                        fill(rng, one, objects, notes, chance)
            continue
        if item.type == "POINTER":
            value = getattr(group, name)
            if isinstance(value, bpy.types.PropertyGroup):
                fill(rng, value, objects, notes, chance)
            elif rng.random() < 0.5 and objects:
                with contextlib.suppress(TypeError, AttributeError):
                    setattr(group, name, rng.choice(objects))
            continue
        if rng.random() > chance:
            continue
        with contextlib.suppress(TypeError, ValueError, AttributeError, RuntimeError, OverflowError):
            if item.type == "FLOAT":
                value = [rng.choice(ODD_NUMBERS) for _ in range(item.array_length)]
                setattr(group, name, value if item.is_array else rng.choice(ODD_NUMBERS))
            elif item.type == "INT":
                setattr(group, name, rng.choice((0, 1, -1, 2**31 - 1, -(2**31))))
            elif item.type == "BOOLEAN" and not item.is_array:
                setattr(group, name, rng.random() < 0.5)
            elif item.type == "STRING":
                setattr(group, name, rng.choice(ODD_NAMES))
            elif item.type == "ENUM" and not item.is_enum_flag:
                setattr(group, name, rng.choice([one.identifier for one in item.enum_items]))
            notes.append(name)


def scene_commands(rng: random.Random, path: Path, folder: Path) -> Iterator[tuple[list[str], list[Path]]]:
    yield ["validate", str(path), "--target", rng.choice(("usd", "physx", "newton"))], []
    yield ["inspect", str(path), *(["--json"] if rng.random() < 0.5 else [])], []
    poses, motion = folder / "poses.json", folder / "motion.usda"
    yield ["simulate", str(path), "--seconds", "0.1", "--json", str(poses)], [poses]
    if rng.random() < 0.5:
        yield ["simulate", str(path), "--seconds", "0.1", "--out", str(motion)], [motion]
    out = folder / f"out{rng.choice(('.usda', '.usdc', '.usd', '.usdz'))}"
    more = []
    if rng.random() < 0.5:
        more = rng.choice((["--hierarchy", "flat"], ["--hierarchy", "reset"], ["--meters-per-unit", "0.01"],
                           ["--up-axis", "Y"], ["--animation"], ["--strict"]))  # fmt: skip
    yield ["convert", str(path), str(out), *more], [out]
    if out.exists():
        back = folder / "back.blend"
        yield ["convert", str(out), str(back)], [back]


# --------------------------------------------------------------------------- robots and glTF


#: What values in the JSON of a glTF file are replaced by.
ODD_JSON = (
    None, -1, 0, 1, 2, 99, 2**31, 2**62, 1e300, -0.5, True, "", "text", "\ud800", "a/../b", "../../../../etc/passwd",
    "/dev/zero", "file:///etc/passwd", "http://localhost/x", "%2e%2e/x", "data:,", "data:image/png;base64,AAAA", "VEC3",
    [], {}, [1, 2], [0] * 16, [1e38] * 3, {"a": 1}, [[[]]],
)  # fmt: skip


def odd_copy(rng: random.Random, folder: Path, sources: Path, suffixes: tuple[str, ...]) -> Path:
    """One of the files of a folder, copied with those beside it."""
    source = rng.choice(sorted(path for path in sources.rglob("*") if path.suffix in suffixes))
    top = source.parent if source.parent == sources else sources / source.relative_to(sources).parts[0]
    shutil.copytree(top, folder / top.name, ignore=shutil.ignore_patterns(".*"))
    return folder / top.name / source.relative_to(top)


def odd_robot(rng: random.Random, folder: Path, sources: Path) -> tuple[Path, list[str]]:
    import fuzz_urdf

    path = odd_copy(rng, folder, sources, (".urdf", ".xacro"))
    path.write_bytes(fuzz_urdf.mutated(path.read_text("utf-8", "replace"), rng))
    return path, [path.name]


def odd_gltf(rng: random.Random, folder: Path, sources: Path) -> tuple[Path, list[str]]:
    path = odd_copy(rng, folder, sources, (".gltf",))
    content = json.loads(path.read_text())
    spots = list(spots_of(content))[1:]
    notes = [path.name]
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        spot, value, holder = rng.choice(spots), rng.choice(ODD_JSON), content
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for key in spot[:-1]:
                holder = holder[key]
            if isinstance(holder, dict) and rng.random() < 0.15:
                del holder[spot[-1]]
            else:
                holder[spot[-1]] = value
            notes.append(f"{'.'.join(map(str, spot))}={str(value)[:30]!a}")
    path.write_text(json.dumps(content))
    return path, notes


def spots_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value in a JSON value."""
    yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from spots_of(value[key], (*at, key))


def file_commands(rng: random.Random, path: Path, folder: Path) -> Iterator[tuple[list[str], list[Path]]]:
    yield ["validate", str(path), "--target", rng.choice(("usd", "physx", "newton"))], []
    yield ["inspect", str(path), *(["--json"] if rng.random() < 0.5 else [])], []
    poses = folder / "poses.json"
    yield ["simulate", str(path), "--seconds", "0.1", "--json", str(poses)], [poses]
    endings = (".blend", ".usda", ".usdc", ".usdz", ".glb", ".gltf", ".urdf")
    out = folder / "made" / f"out{rng.choice(endings)}"
    out.parent.mkdir()
    yield ["convert", str(path), str(out)], [out]


# --------------------------------------------------------------------------- command lines


STAGE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


def odd_file_name(rng: random.Random, suffix: str) -> str:
    return rng.choice((
        "n" * 250 + suffix, "n" * 240 + suffix, "名前" * 40 + suffix, "名前" * 82 + suffix, "a\tb" + suffix,
        "a\nb" + suffix,
        "\x1b[31mred" + suffix, "\U0001f600" + suffix, "a:SDF_FORMAT_ARGS:b=c" + suffix, "-x" + suffix, "#" + suffix,
        "a b" + suffix, "a%20b" + suffix, "a@b" + suffix, "a[b]" + suffix, "a<UDIM>" + suffix, "a'b\"c" + suffix,
        "a\\b" + suffix, "~" + suffix, "$HOME" + suffix, "\u202eabc" + suffix, os.fsdecode(b"\xff\xfe") + suffix,
        suffix, "." + suffix, "a", "a.txt", "", ".", "..", "plain" + suffix, "plain" + suffix, "plain" + suffix,
    ))  # fmt: skip


def odd_folder(rng: random.Random, folder: Path) -> str:
    deep = "/".join(["d" * 200] * 6)
    return rng.choice((
        str(folder), str(folder), str(folder), f"/{folder}", f"{folder}/./../{folder.name}", f"{folder}//",
        str(folder) + "/" + deep,
        str(folder) + "/x" * 2400, ".", "", "/nowhere", "/dev", "/proc/self", str(folder) + "/file",
    ))  # fmt: skip


def odd_line(rng: random.Random, folder: Path) -> tuple[list[str], list[Path], dict[str, Any]]:
    """(arguments, outputs, how the process is started)"""
    (folder / "file").write_text("x")
    place_, name = odd_folder(rng, folder), odd_file_name(rng, rng.choice((".usda", ".usda", ".usd", ".usdc")))
    source = f"{place_}/{name}" if place_ else name
    with contextlib.suppress(OSError, ValueError):
        Path(folder, source).parent.mkdir(parents=True, exist_ok=True) if str(folder) in source else None
        if str(folder) in os.path.normpath(Path(folder, source)):
            Path(folder, source).write_text(STAGE)

    def number() -> str:
        one = "\u0661"  # a digit of another script
        return rng.choice(("1", "0.1", "0", "-1", "nan", "inf", "1e9", "1e-9", "1e300", "9" * 30, "x", "", one, "0x1"))

    place = odd_folder(rng, folder) or "."
    out = f"{place}/{odd_file_name(rng, rng.choice(('.usda', '.usdc', '.json', '.blend', '.usdz')))}"
    command = rng.choice(("validate", "inspect", "simulate", "simulate", "convert", "", "nonsense", "--help", "-h"))
    arguments, outputs = [command, source], []
    if command == "validate":
        arguments += rng.choice(([], ["--json"], ["--target", "physx"], ["--target", "x"], ["--target"], [source]))
    elif command == "inspect":
        arguments += rng.choice(([], ["--json"], ["--nonsense"]))
    elif command == "simulate":
        arguments += ["--seconds", rng.choice(("0.1", "0.1", number()))]
        for option in ("--fps", "--substeps"):
            if rng.random() < 0.3:
                arguments += [option, number()]
        if rng.random() < 0.7:
            arguments += [rng.choice(("--out", "--json")), rng.choice((out, out, source))]
    elif command == "convert":
        arguments.append(rng.choice((out, out, out, source)))
        for option, values in (("--prim", ("/World", "", "x", "/Nowhere", "/World.size", "<>", "//")),
                               ("--variant", ("/World{a=b}", "", "x", "{}", "/World{a=b")), ("--up-axis", ("Y", "x")),
                               ("--onto", ("", "x.blend", source)), ("--meters-per-unit", (number(),)),
                               ("--kilograms-per-unit", (number(),)), ("--hierarchy", ("flat", "x"))):  # fmt: skip
            if rng.random() < 0.12:
                arguments += [option, rng.choice(values)]
        flags = ("--merge", "--flatten", "--composed", "--strict", "--animation", "--physics-only")
        arguments += [flag for flag in flags if rng.random() < 0.08]
    how = {
        "stdout": rng.choice(("pipe", "pipe", "pipe", "closed", "full", "broken")),
        "stderr": rng.choice(("pipe", "pipe", "pipe", "pipe", "closed", "full")),
        "stdin": rng.choice(("null", "null", "closed")),
        "encoding": rng.choice(("", "", "ascii", "utf-8", "latin-1", "utf-16")),
        "locale": rng.choice(("C", "C.UTF-8", "POSIX")),
        "folder": rng.choice(("here", "here", "here", "deleted")),
    }
    return arguments, outputs, how


def run_line(arguments: list[str], how: dict[str, Any], folder: Path) -> tuple[str, str]:
    """Run a command line in a process of its own."""
    work = folder / "cwd"
    work.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONIO"))
    }
    environment |= {"LC_ALL": how["locale"], "PYTHONPATH": str(ROOT)}
    if how["encoding"]:
        environment["PYTHONIOENCODING"] = how["encoding"]
    # The shell deletes the folder it stands in, and closes streams, before it becomes the command.
    script = {"deleted": 'rmdir "$PWD"; ', "here": ""}[how["folder"]] + 'exec "$@"'
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        script += f" {number}>&-" if how[name] == "closed" else f" {number}>/dev/full" if how[name] == "full" else ""
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "usdphys_addon", *arguments]
    reader, writer = os.pipe()
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        if how["stdout"] == "broken":
            os.close(reader)
        process = subprocess.Popen(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stderr=err,
            stdout=writer if how["stdout"] == "broken" else out, start_new_session=True,
        )  # fmt: skip
        os.close(writer)
        if how["stdout"] != "broken":
            os.close(reader)
        try:
            for _ in range(20):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(LIMIT)
                    break
                if work_of(process.pid) > LIMIT / 2:
                    raise TimeoutError
            else:
                raise TimeoutError
        except TimeoutError:
            os.killpg(process.pid, 9)
            process.wait()
            return "hang", f"{how}"
    if status < 0:
        return "crash", f"signal {-status}"
    encoding = how["encoding"] or "utf-8"
    printed, said = ((folder / name).read_bytes().decode(encoding, "replace") for name in ("stdout", "stderr"))
    if re.search(r"Traceback \(most recent|panicked at", said + printed):
        return "traceback", " / ".join([line for line in said.splitlines() if line.strip()][-2:])[:300]
    if re.search(r"\x1b|\u202e", said + printed):
        return "status", "raw control characters are printed"
    if status not in (0, 1, 2):
        return "status", f"{status}: {said.strip().splitlines()[-1:]}"
    if status == 0 and how["stdout"] in ("full", "broken"):
        return "status", "0, though what it has to say was lost"
    if status and how["stderr"] == "pipe" and "error: " not in said and arguments[0] != "validate":
        return "status", f"{status} without a sentence: {said[-200:]!r}"
    return "", ""


# --------------------------------------------------------------------------- children


def child(options: argparse.Namespace) -> None:
    """Run the cases whose numbers come in by a line each; tell of each on the other pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A copy of the log: during a run, stderr is a file of the run.
    faulthandler.enable(log := os.fdopen(os.dup(2), "w"))
    # Where it hangs is asked for by a signal. A watchdog thread of faulthandler reads the stack while it changes, and
    # crashes on that now and then.
    faulthandler.register(signal.SIGUSR1, file=log)
    out = os.fdopen(options.pipe, "w", buffering=1)
    start()
    out.write(json.dumps(["ready"]) + "\n")
    for line in sys.stdin:
        index = int(line)
        folder = options.folder / f"case_{index}"
        folder.mkdir()
        for message in case(options.kind, options.seed, index, folder, options.sources):
            out.write(json.dumps(message) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
    out.flush()
    os._exit(0)


def start() -> None:
    with contextlib.suppress(ImportError):
        os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.gettempdir() + "/usdphys-fuzz-resources")
        import bpy

        bpy.utils.expose_bundled_modules()


def case(kind: str, seed: int, index: int, folder: Path, sources: Path | None) -> Iterator[list[Any]]:
    """What a case tells: ["make"], ["notes", text], ["run", arguments], ["verdict", bad, reason], at last ["done"]."""
    rng = random.Random(f"{kind}:{seed}:{index}")
    yield ["make"]
    if kind == "lines":
        arguments, _, how = odd_line(rng, folder)
        yield ["notes", str(how)]
        yield ["run", arguments]
        yield ["verdict", *run_line(arguments, how, folder)]
    else:
        if kind in ("robots", "gltf"):
            assert sources is not None
            commands = file_commands
            path, notes = (odd_robot if kind == "robots" else odd_gltf)(rng, folder, sources)
        else:
            make, commands = (odd_stage, stage_commands) if kind == "stages" else (odd_scene, scene_commands)
            path, notes = make(rng, folder)
        yield ["notes", ", ".join(notes)]
        for arguments, outputs in commands(rng, path, folder):
            yield ["run", arguments]
            yield ["verdict", *run_here(arguments, outputs)]
    yield ["done"]


class Child:
    """A process that runs cases, and what it tells."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        folder.mkdir()
        self.log = folder / "log.txt"
        read, write = os.pipe()
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, __file__, options.kind, "--seed", str(options.seed), "--folder", str(folder),
                 "--pipe", str(write), *(["--sources", str(options.sources)] if options.sources else [])],
                stdin=subprocess.PIPE, stdout=stream, stderr=stream, pass_fds=(write,), text=True,
                start_new_session=True,
            )  # fmt: skip
        os.close(write)
        self.pipe = JsonPipe(read)
        self.pipe.message(120)

    def run(self, index: int) -> Iterator[tuple[str, list[str], str, str]]:
        """(bad outcome or "", arguments, reason, notes) of each run of a case; the last one may be a crash or hang."""
        assert self.process.stdin is not None
        begin = self.log.stat().st_size
        notes, arguments = "", ["(making it)"]
        try:
            self.process.stdin.write(f"{index}\n")
            self.process.stdin.flush()
            while (message := self.pipe.message_of(self.process.pid, LIMIT + 10))[0] != "done":
                if message[0] == "notes":
                    notes = message[1]
                elif message[0] == "run":
                    arguments = message[1]
                elif message[0] == "verdict":
                    yield message[1], arguments, message[2], notes
        except TimeoutError:
            self.process.send_signal(signal.SIGUSR1)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
            self.kill()
            yield "hang", arguments, place_of(self.said(begin)), notes
        except (EOFError, BrokenPipeError):
            status = self.process.wait()
            made = arguments == ["(making it)"]
            yield "" if made else "crash", arguments, f"status {status}: {place_of(self.said(begin))}", notes

    def said(self, begin: int) -> str:
        return self.log.read_bytes()[begin:].decode(errors="replace")

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.pipe.close()


def place_of(said: str) -> str:
    places = re.findall(r'File "([^"]+)", line (\d+) in (\w+)', said)
    return " < ".join(f"{Path(file).name}:{line} {name}" for file, line, name in places[:4])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--sources", type=Path, help="folder of the files of robots and gltf")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a run is bad")
    parser.add_argument("--pipe", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind in ("robots", "gltf") and (options.sources is None or not options.sources.is_dir()):
        parser.error("--sources names no folder")
    if options.pipe is not None:
        child(options)
    if options.only is not None:
        start()
        with tempfile.TemporaryDirectory(prefix="usdphys-fuzz-") as name:
            for message in case(options.kind, options.seed, options.only, Path(name), options.sources):
                print(message, flush=True)
        os._exit(0)
    count = options.count or {"stages": 5000, "scenes": 2000, "lines": 500, "robots": 500, "gltf": 500}[options.kind]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="usdphys-fuzz-") as name:
        active, done = None, 0
        for index in range(options.start, options.start + count):
            if active is None or not active.is_alive or done >= BATCH:
                if active is not None:
                    active.kill()
                active, done = Child(options, Path(name, f"child_{index}")), 0
            done += 1
            outcomes["cases"] += 1
            for bad, arguments, reason, notes in active.run(index):
                outcomes["runs"] += 1
                outcomes[bad] += 1
                if bad:
                    print(f"{bad} {index} {arguments[0]}: {reason} [{notes[:120]}] {arguments[1:]}"[:900], flush=True)
        if active is not None:
            active.kill()
    for figure in ("cases", "runs", *BAD):
        print(f"{figure} {outcomes[figure]} 1")
    return 1 if options.check and any(outcomes[figure] for figure in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
