# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated .gltf and .glb files, imported into a scene that is not empty, and exported again.

    .venv/bin/python scripts/fuzz_gltf.py FOLDER [--count 2000] [--start 0] [--seed 1] [--only INDEX] [--check]

FOLDER holds the files that are mutated, in any depth. A mutant has some values of its JSON changed or removed, most of
them of the physics, or is damaged as a file. What is bad is told in fuzz_import.py.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import fuzz
import fuzz_import


def make(rng: random.Random, folder: Path, sources: Path) -> tuple[Path, list[str]]:
    """(a mutant of one of the files, what was done)"""
    path, data = fuzz.copied(rng, folder, sources, ".gltf", ".glb")
    binary = b""
    if rng.random() < 0.2:
        data, what = fuzz.damaged(rng, data)
        path.write_bytes(data)
        return path, [path.name, what]
    if data[:4] == b"glTF":
        size = struct.unpack_from("<I", data, 12)[0]
        data, binary = data[20 : 20 + size], data[20 + size :]
    content = json.loads(data.decode("utf-8-sig"))
    notes = fuzz.mutate_json(rng, content)
    text = json.dumps(content).encode()
    if path.suffix.lower() == ".glb":
        text += b" " * (-len(text) % 4)
        text = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(binary), len(text), 0x4E4F534A) + text + binary
    path.write_bytes(text)
    return path, [path.name, *notes]


def case(rng: random.Random, folder: Path, options: argparse.Namespace) -> Iterator[fuzz.Said]:
    import bpy
    from usdphys_ext.usdphys_addon.exchange import gltf_export, gltf_import
    from usdphys_ext.usdphys_addon.gltf import additions

    logging.disable(logging.CRITICAL)
    path, notes = make(rng, folder, options.sources)
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    yield ", ".join(notes)
    yield from fuzz_import.rounds(
        path, lambda: gltf_import.import_gltf(path),
        lambda: gltf_export.export_gltf(bpy.context, folder / "out.glb", additions.WriteOptions()),
    )  # fmt: skip


if __name__ == "__main__":
    fuzzer = fuzz.Fuzzer(case, 2000, ("scene_changed",), 120.0, fuzz.start_blender, sources=True)
    sys.exit(fuzz.main(__doc__, {"gltf": fuzzer}))
