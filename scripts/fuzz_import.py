# SPDX-License-Identifier: GPL-3.0-or-later
"""The importer over mutated USD files: it imports, or refuses in one sentence and leaves the scene as it was.

    .venv/bin/python scripts/fuzz_import.py [--count N] [--seed N] [--start N] [--only INDEX] [--check]

Files are imported by child processes, so that a crash or a hang costs one file. A case is told by (seed, index), and
--only runs one again in this process. Prints `name value unit` per figure and a line for each bad case; with
--check, exit status 1 where there is one.
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
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bench
from json_pipe import JsonPipe

ROOT = Path(__file__).resolve().parent.parent
#: Files that one child imports before a fresh one takes over.
BATCH = 150
#: Seconds for one file, from the start of its import to the end of its export.
LIMIT = 10.0
MEMORY = 4 * 1024**3
EXPORTED = "exported.usda"
#: Bad outcomes, in the order of the report.
BAD = ("crash", "hang", "escaped", "scene_changed")


# --------------------------------------------------------------------------- the child


def fresh_scene(rng: random.Random) -> None:
    """A scene that is not empty, so that it can be seen whether it changes."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene: Any = bpy.context.scene
    scene.unit_settings.scale_length = rng.choice((1.0, 1.0, 0.01, 0.5))
    scene.usdphys.physics_scenes.add().name = "Own"
    scene.usdphys.collision_groups.add().name = "Own"
    bpy.ops.mesh.primitive_cube_add(size=1)
    cube: Any = bpy.context.object
    cube.name = rng.choice(("Cube", "World", "Crate"))
    cube.usdphys.rigid_body.is_applied = True
    cube.usdphys.colliders.add()
    material = bpy.data.materials.new("Rubber")
    cube.data.materials.append(material)
    bpy.context.view_layer.update()


def content(thing: Any) -> Any:
    """All the properties of a group of ours, with what is set."""
    import bpy

    found: dict[str, Any] = {}
    for item in thing.bl_rna.properties:
        name = item.identifier
        if name in ("rna_type", "bl_system_properties"):
            continue
        value = getattr(thing, name)
        if item.type == "COLLECTION":
            found[name] = [content(one) for one in value]
        elif item.type == "POINTER":
            found[name] = content(value) if isinstance(value, bpy.types.PropertyGroup) else getattr(value, "name", None)
        else:
            plain = tuple(value) if getattr(item, "is_array", False) else value
            found[name] = repr(plain), thing.is_property_set(name)
    return found


def fingerprint() -> dict[str, Any]:
    """What a failed import must not change."""
    import bpy

    scene: Any = bpy.context.scene
    found: dict[str, Any] = {}
    for item in bpy.data.bl_rna.properties:
        if item.type == "COLLECTION":
            found[item.identifier] = [(one.name, one.users) for one in getattr(bpy.data, item.identifier)]
    found["scene"] = content(scene.usdphys)
    found["settings"] = [
        repr(value) for value in (
            scene.name, scene.unit_settings.system, scene.unit_settings.scale_length, scene.frame_start,
            scene.frame_end, scene.frame_current, scene.render.fps, scene.render.fps_base, scene.use_gravity,
            tuple(scene.gravity), scene.camera, scene.world, bpy.context.mode,
        )
    ]  # fmt: skip
    active = bpy.context.view_layer.objects.active
    found["active"] = active.name if active else None, sorted(obj.name for obj in bpy.context.selected_objects)
    for obj in bpy.data.objects:
        matrix = [tuple(row) for row in obj.matrix_world]
        found[f"object {obj.name}"] = repr(matrix), obj.parent and obj.parent.name, content(obj.usdphys)  # type: ignore[attr-defined]
    for material in bpy.data.materials:
        found[f"material {material.name}"] = content(material.usdphys)  # type: ignore[attr-defined]
    return found


def bad_sentence(error: Exception, path: Path) -> str:
    """What is wrong with the message of an error that a user sees; empty where nothing is."""
    text = str(error)
    if re.search(r"could not be (written|imported): \w+(Error|Exception|Iteration)\b", text):
        return "hides an exception"
    if "\n" in text.replace(path.name, ""):
        return "has more than one line"
    if not text.endswith((".", ")")):
        return "is no sentence"
    if len(text) > 500 + 2 * len(str(path)):
        return "is too long"
    # That an export fails is not always the fault of one thing.
    is_named = path.name == EXPORTED or path.name in text or re.search(r"'[^']+'", text)
    return "" if is_named else "names neither file nor prim"


def run_case(seed: int, index: int, folder: Path, phase: Any) -> dict[str, Any]:
    """Make, import and look at one file; phase(name) is called at the start of each part."""
    import bpy
    import fuzz_mutations
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

    phase("make")
    rng = random.Random(f"{seed}:{index}")
    path, notes = fuzz_mutations.make(rng, folder)
    phase("notes", ", ".join(notes))
    fresh_scene(rng)
    before = fingerprint()
    options = usd_import.ImportOptions(convert_units=rng.random() < 0.7)
    fails_late = rng.random() < 0.1
    result: dict[str, Any] = {"outcome": "imported", "detail": "", "file": str(path)}
    start = time.perf_counter()
    phase("import")
    try:
        with failing_late() if fails_late else contextlib.nullcontext():
            usd_import.import_usd(bpy.context, path, options)
    except UsdPhysError as error:
        result["seconds"] = time.perf_counter() - start
        result.update(outcome="refused", detail=str(error))
        phase("compare")
        if fault := bad_sentence(error, path):
            result.update(outcome="escaped", detail=f"the message {fault}: {error}")
        after = fingerprint()
        changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        if changed:
            result.update(outcome="scene_changed", detail=f"{changed} after: {error}")
        return result
    except Exception as error:
        result.update(outcome="escaped", detail=last_frames(error), seconds=time.perf_counter() - start)
        return result
    result["seconds"] = time.perf_counter() - start
    try:
        phase("read")
        bpy.context.view_layer.update()
        fingerprint()
        scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
        phase("export")
        units, hierarchy = usd_export.stage_options(bpy.context.scene)
        target = folder / EXPORTED
        usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(units, hierarchy))
    except UsdPhysError as error:
        if fault := bad_sentence(error, target):
            result.update(outcome="escaped", detail=f"export: the message {fault}: {error}")
    except Exception as error:
        result.update(outcome="escaped", detail=last_frames(error))
    result["total"] = time.perf_counter() - start
    return result


@contextlib.contextmanager
def failing_late() -> Iterator[None]:
    """The last thing that an import does is to fail."""
    from usdphys_ext.usdphys_addon.core.errors import InputError
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    def fail(*_: Any) -> None:
        raise InputError("'late' fails, to see what is left of it.")

    original = usd_read.default_prim_name
    usd_read.default_prim_name = fail
    try:
        yield
    finally:
        usd_read.default_prim_name = original


def last_frames(error: Exception) -> str:
    """Type, message and the last places of an exception, in one line."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]} at {places}"


def child(options: argparse.Namespace) -> int:
    """Run the cases whose numbers come in by a line each; tell of each on the other pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    extension = start_blender()
    out = os.fdopen(options.pipe, "w", buffering=1)

    def tell(*message: Any) -> None:
        out.write(json.dumps(message) + "\n")

    tell("ready")
    for line in sys.stdin:
        index = int(line)
        folder = options.folder / f"case_{index}"
        folder.mkdir()
        faulthandler.dump_traceback_later(LIMIT - 1)
        result = run_case(options.seed, index, folder, lambda *message: tell("phase", *message))
        faulthandler.cancel_dump_traceback_later()
        tell("done", result)
    del extension
    out.flush()
    os._exit(0)


def start_blender() -> Any:
    os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.gettempdir() + "/usdphys-fuzz-resources")
    import bpy

    bpy.utils.expose_bundled_modules()
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    extension = bench.load_extension()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    extension.register()
    return extension


# --------------------------------------------------------------------------- the supervisor


class Child:
    """A process that imports files, and what it says."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.txt"
        self.stream = self.log.open("w+b")
        read, write = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--child", "--seed", str(seed), "--folder", str(folder), "--pipe", str(write)],
            stdin=subprocess.PIPE, stdout=self.stream, stderr=self.stream, pass_fds=(write,), text=True,
            start_new_session=True,
        )  # fmt: skip
        os.close(write)
        self.pipe = JsonPipe(read)

    def run(self, index: int) -> dict[str, Any]:
        """The outcome of one case, a crash or a hang among them."""
        assert self.process.stdin is not None
        begin = self.log.stat().st_size
        notes, phase, limit = "", "start", 60.0
        try:
            self.process.stdin.write(f"{index}\n")
            self.process.stdin.flush()
            while True:
                try:
                    message = self.pipe.message_of(self.process.pid, limit)
                except TimeoutError:
                    place = f"in {phase}: {crash_place(self.said(begin))}"
                    return {"outcome": "hang", "detail": place, "notes": notes, "seconds": limit}
                if message[0] == "done":
                    return self.judged({**message[1], "notes": notes}, begin)
                if message[1] == "notes":
                    notes = message[2]
                else:
                    phase = message[1]
                    limit = LIMIT if phase in ("import", "read", "export") else 60.0
        except (EOFError, BrokenPipeError):
            status = self.process.wait()
            place = f"in {phase}, status {status}: {crash_place(self.said(begin))}"
            return {"outcome": "crash", "detail": place, "notes": notes}

    def said(self, begin: int) -> str:
        """What the child has printed since then."""
        return self.log.read_bytes()[begin:].decode(errors="replace")

    def judged(self, result: dict[str, Any], begin: int) -> dict[str, Any]:
        """An exception in a hook is only printed: it counts as well."""
        said = self.said(begin)
        if "Traceback" in said and result["outcome"] in ("imported", "refused"):
            after = said.rsplit("Traceback", 1)[1].splitlines()
            lines = [line.strip() for line in after if line and not line.startswith("  ")]
            places = [line.strip() for line in after if "usdphys_addon" in line]
            result.update(outcome="escaped", detail=f"printed: {' '.join(lines[1:2])[:300]} at {places[-1:]}")
        return result

    def close(self) -> None:
        for stream in (self.process.stdin, self.pipe, self.stream):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()


def started(seed: int, folder: Path) -> Child:
    """A child that is ready."""
    folder.mkdir()
    child = Child(seed, folder)
    if child.pipe.message(120) != ["ready"]:
        raise RuntimeError(f"The child does not start: {child.log.read_text()[-2000:]}")
    return child


def crash_place(said: str) -> str:
    """Where in Python a child died, and the last thing that it said."""
    places = re.findall(r'File "([^"]+)", line (\d+) in (\w+)', said)
    where = " < ".join(f"{Path(file).name}:{line} {name}" for file, line, name in places[:3])
    other = [line for line in said.splitlines() if line.strip() and not re.search("File |Extension modules", line)]
    return f"{where} | {' / '.join(other[-4:])[:300]}"


def run_all(
    indices: Iterable[int], seed: int, keep: Path | None, verbose: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(index, outcome) of every case."""
    with tempfile.TemporaryDirectory(prefix="usdphys-fuzz-") as name:
        active: Child | None = None
        done = 0
        for index in indices:
            if active is None:
                active, done = started(seed, Path(name, f"child_{index}")), 0
            result = active.run(index)
            if result["detail"].startswith("in make"):  # USD itself, writing the file
                active.close()
                active, done = started(seed, Path(name, f"child_{index}_again")), 0
                result = active.run(index)
                if result["detail"].startswith("in make"):
                    result["outcome"] = "not_made"
            done += 1
            case = active.folder / f"case_{index}"
            if result["outcome"] in BAD and keep is not None:
                shutil.copytree(case, keep / f"{seed}_{index}", symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(case, ignore_errors=True)
            if verbose:
                seconds = result.get("seconds", 0.0)
                print(f"{index} {result['outcome']} {seconds:.2f} s ({result['notes']}) {result['detail']}", flush=True)
            yield index, result
            if result["outcome"] in ("crash", "hang", "not_made") or done >= BATCH:
                active.close()
                active = None
        if active is not None:
            active.close()


def replay(seed: int, index: int, keep: Path | None) -> int:
    """One case in this process, with everything that it prints."""
    faulthandler.enable()
    start_blender()
    faulthandler.dump_traceback_later(LIMIT)
    folder = (keep or Path(tempfile.mkdtemp(prefix="usdphys-fuzz-"))) / f"{seed}_{index}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"files in {folder}", flush=True)
    result = run_case(seed, index, folder, lambda *message: print("--", *message, flush=True))
    print(json.dumps(result, indent=1))
    sys.stdout.flush()
    os._exit(1 if result["outcome"] in BAD else 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2050, help="number of files (default: 2050)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="index of the first file")
    parser.add_argument("--only", metavar="INDEX", help="these cases alone, with commas; a single one in this process")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy the files of bad cases there")
    parser.add_argument("--verbose", action="store_true", help="a line for every file")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a case is bad")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pipe", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options)
    indices: Sequence[int] = range(options.start, options.start + options.count)
    if options.only is not None:
        indices = [int(part) for part in options.only.split(",")]
        if len(indices) == 1:
            return replay(options.seed, indices[0], options.keep)
    counts: Counter[str] = Counter()
    slowest = (0.0, -1)
    for index, result in run_all(indices, options.seed, options.keep, options.verbose):
        counts[result["outcome"]] += 1
        slowest = max(slowest, (result.get("seconds", 0.0), index))
        if result["outcome"] in BAD:
            case = f"case {options.seed} {index} ({result['notes']})"
            print(f"{result['outcome']}: {case}: {result['detail']}", flush=True)
    total = sum(counts.values())
    names = {"crash": "crashes", "hang": "hangs"}
    print(f"files {total} N")
    for name in ("imported", "refused", "not_made", *BAD):
        print(f"{names.get(name, name)} {counts[name]} N")
    print(f"slowest {slowest[0]:.2f} s  (case {options.seed} {slowest[1]})")
    return 1 if options.check and any(counts[name] for name in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
