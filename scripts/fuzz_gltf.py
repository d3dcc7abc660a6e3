# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated .gltf and .glb files, imported into a scene that is not empty, and exported again.

    .venv/bin/python scripts/fuzz_gltf.py FOLDER [--count 2000] [--start 0] [--seed 1] [--only INDEX]

FOLDER holds the files that are mutated, in any depth. A mutant has one to four values of its JSON changed or removed,
most of them of the physics, or bytes of the whole file changed, removed or cut off. Bad is an exception that is no
refusal in one sentence, a traceback of ours, a scene that a refused import has changed, and a file that takes longer
than two minutes, which ends the run with its number. A run can be done in pieces: a case depends on (seed, index)
alone.
Prints bad cases and counts; exit status 1 where there is a bad one.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import logging
import random
import shutil
import struct
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import fuzz_import

#: Seconds after which a file counts as a hang.
PATIENCE = 120
BAD = (None, -1, 0, 1, 99, -0.5, 1e300, 1e-300, 2**40, "", "text", "../x.bin", [], {}, True, [1, 2], {"a": 1}, [[[]]])


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found, todo = [], [(value, at)]
    while todo:
        value, at = todo.pop()
        found.append(at)
        if isinstance(value, dict):
            todo += [(item, (*at, key)) for key, item in value.items()]
        elif isinstance(value, list):
            todo += [(item, (*at, index)) for index, item in enumerate(value[:200])]
    return found


def mutate(chance: random.Random, content: Any) -> None:
    spots = [spot for spot in places(content) if spot]
    ours = [spot for spot in spots if "extensions" in spot or "extras" in spot] or spots
    for _ in range(chance.randint(1, 4)):
        *way, last = chance.choice(ours if chance.random() < 0.7 else spots)
        holder = content
        try:
            for key in way:
                holder = holder[key]
            if isinstance(holder, dict) and chance.random() < 0.2:
                del holder[last]
            else:
                holder[last] = chance.choice(BAD)
        except (KeyError, IndexError, TypeError):
            continue


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Bytes with some of them changed, taken out or cut off."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(max(len(found), 1))
        kind = chance.random()
        if kind < 0.7 and found:
            found[at] = chance.randrange(256)
        elif kind < 0.9:
            del found[at : at + chance.randint(1, 40)]
        else:
            del found[at:]
    return bytes(found)


def mutant(chance: random.Random, source: Path, folder: Path) -> Path:
    """A damaged copy of a file, beside the files that it names."""
    shutil.copytree(source.parent, folder, dirs_exist_ok=True, ignore=lambda at, names: large(Path(at), names))
    path, data = folder / source.name, source.read_bytes()
    if chance.random() < 0.2:
        path.write_bytes(damaged(chance, data))
        return path
    binary = b""
    if data[:4] == b"glTF":
        size = struct.unpack_from("<I", data, 12)[0]
        data, binary = data[20 : 20 + size], data[20 + size :]
    content = json.loads(data.decode("utf-8-sig"))
    mutate(chance, content)
    text = json.dumps(content).encode()
    if source.suffix.lower() == ".glb":
        text += b" " * (-len(text) % 4)
        text = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(binary), len(text), 0x4E4F534A) + text + binary
    path.write_bytes(text)
    return path


def large(folder: Path, names: list[str]) -> list[str]:
    """What is not copied: folders, and files of more than a megabyte."""
    return [name for name in names if not (folder / name).is_file() or (folder / name).stat().st_size > 1 << 20]


def case(chance: random.Random, sources: list[Path], folder: Path) -> tuple[str, str]:
    """(imported or refused, what is bad about it or nothing)."""
    import bpy
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.exchange import gltf_export, gltf_import
    from usdphys_ext.usdphys_addon.gltf import additions

    path = mutant(chance, chance.choice(sources), folder)
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    before = fuzz_import.fingerprint()
    told, outcome, bad = io.StringIO(), "imported", ""
    try:
        with contextlib.redirect_stderr(told):
            try:
                gltf_import.import_gltf(path)
            except UsdPhysError as error:
                outcome = "refused"
                wrong = fuzz_import.bad_sentence(error, path)
                if wrong:
                    bad = f"the message {wrong}: {error}"
                elif fuzz_import.fingerprint() != before:
                    bad = f"the scene has changed: {error}"
            else:
                with contextlib.suppress(UsdPhysError):
                    gltf_export.export_gltf(bpy.context, folder / "out.glb", additions.WriteOptions())
    except Exception:
        bad = traceback.format_exc()
    if "usdphys_addon" in told.getvalue():
        bad = told.getvalue()
    return outcome, f"{path.name}: {bad}" if bad else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone")
    options = parser.parse_args()
    sources = sorted(path for path in options.folder.rglob("*") if path.suffix.lower() in (".gltf", ".glb"))
    if not sources:
        parser.error(f"'{options.folder}' has no .gltf or .glb file")
    logging.disable(logging.CRITICAL)
    fuzz_import.start_blender()
    counts: dict[str, int] = {}
    chosen = [options.only] if options.only is not None else range(options.start, options.start + options.count)
    for index in chosen:
        print(f"\rcase {index}", end="", file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        with tempfile.TemporaryDirectory() as folder:
            outcome, bad = case(random.Random(f"{options.seed} {index}"), sources, Path(folder))
        faulthandler.cancel_dump_traceback_later()
        counts[outcome] = counts.get(outcome, 0) + 1
        if bad:
            counts["bad"] = counts.get("bad", 0) + 1
            print(f"\nBAD {index}: {bad}", flush=True)
    print(f"\n{counts}")
    return 1 if counts.get("bad") else 0


if __name__ == "__main__":
    sys.exit(main())
