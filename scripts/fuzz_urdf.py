# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutates URDF, xacro and SDF files, reads, plans and stages each: it may be refused, but nothing else may happen.

    .venv-usd/bin/python scripts/fuzz_urdf.py FOLDER [--count 2000] [--seed 1] [--check]
    .venv/bin/python scripts/fuzz_urdf.py FOLDER --blender [--count 200]

FOLDER holds .urdf, .xacro, .sdf and .world files. With --blender each is imported into a scene that holds
something, which a failed
import must leave as it was, and what came in is exported to URDF.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import bench
import fuzz
import fuzz_import

#: What numbers and words are replaced by.
WORDS = [
    "nan", "inf", "-inf", "1e400", "-1", "0", "1e-320", "1e300", "", " ", "a b", "1,2,3", "1_0", "\uff19", "\u202e",
    "../..", "${1/0}", "${[0]*10**9}", "$(find x)", "$(arg", "${", "package://", "package:///", "http://a/b.stl",
    "file:///etc/passwd", "x" * 5000, "robot", "link", "joint", "floating", "planar", "mesh", "capsule", "true", "None",
    "0 0 0", "1 1 1 1",
]  # fmt: skip
KINDS = ("word", "value", "tag", "block", "byte", "rest", "text")
#: Of SDF, whose numbers and names are text of elements.
SDF_WORDS = [
    *WORDS, "world", "__model__", "__root__", "a::b", "::", "model://", "model://../..", "robot.sdf", "universal",
    "screw", "ball", "0 0 0 0 0 0", "1e16", "-1e16", "1 0 0", "quat_xyzw",
]  # fmt: skip
SDF_BLOCKS = r"link|joint|visual|collision|inertial|frame|model|include|pose|axis|axis2|geometry|mimic|surface"
BLOCKS = r"link|joint|visual|collision|inertial|xacro:\w+"


def mutated(
    text: str, rng: random.Random, words: list[str] = WORDS, blocks: str = BLOCKS, *, texts: bool = False
) -> bytes:  # fmt: skip
    """The text with one to six changes: attributes, elements, tags and bytes. blocks: pattern of tags.

    texts: of the text of elements, too.
    """
    for _ in range(rng.randint(1, 6)):
        (kind,) = rng.choices(KINDS, (6, 2, 1, 3, 1, 1, 6 if texts else 0))
        pattern = {"tag": "<[^>]*>", "text": ">[^<>]+<", "block": rf"<({blocks})\b.*?</\1>"}
        found = list(re.finditer(pattern.get(kind, '"[^"]*"'), text, re.S))
        at = rng.randrange(len(text)) if text else 0
        if kind in ("byte", "rest") or not found:
            new = {"byte": rng.choice("<>&\"'/ \0\x7fäx${(") + text[at + rng.randint(0, 3) :]}
            text = text[:at] + new.get(kind, "" if rng.random() < 0.3 else text[at : at + 200] + text[at:])
            continue
        one, other = rng.choice(found), rng.choice(found)
        if kind == "block":
            text = text[: other.start()] + one[0] * rng.randint(1, 3) + text[other.start() :]
            continue
        if kind == "tag":
            one = rng.choice([tag for tag in found if tag[0].endswith("/>")] or found)
        new = {"word": f'"{rng.choice(words)}"', "value": other[0], "tag": "", "text": f">{rng.choice(words)}<"}
        text = text[: one.start()] + new[kind] + text[one.end() :]
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.05 and data:
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def make(rng: random.Random, folder: Path, sources: Path) -> tuple[Path, list[str]]:
    """(a mutant of one of the files, its name)"""
    path, data = fuzz.copied(rng, folder, sources, ".urdf", ".xacro", ".sdf", ".world")
    if path.suffix in (".sdf", ".world"):
        changed = mutated(data.decode("utf-8", "replace"), rng, SDF_WORDS, SDF_BLOCKS, texts=True)
    else:
        changed = mutated(data.decode("utf-8", "replace"), rng)
    path.write_bytes(changed)
    return path, [path.name]


def case(rng: random.Random, folder: Path, options: argparse.Namespace) -> Iterator[fuzz.Said]:
    path, notes = make(rng, folder, options.sources)
    yield from through_blender(rng, path) if options.blender else staged(path, notes)


def staged(path: Path, notes: list[str]) -> Iterator[fuzz.Said]:
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.core.validate import validate
    from usdphys_ext.usdphys_addon.usd import read, robot_files

    yield ", ".join(notes)
    try:
        with robot_files.robot_as_stage(path, robot_files.RobotOptions()) as (stage_file, _plan, _texts):
            validate(read.read_stage(read.open_stage(stage_file)))
        yield "read", ""
    except UsdPhysError as error:
        yield "escaped" if "\n" in str(error) else "refused", str(error)


def through_blender(rng: random.Random, path: Path) -> Iterator[fuzz.Said]:
    import bpy
    from usdphys_ext.usdphys_addon.exchange import urdf_export, urdf_import
    from usdphys_ext.usdphys_addon.usd import robot_files

    # Each second robot comes into a scene that holds one already.
    if rng.random() < 0.5:
        bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True)
    yield path.name
    yield from fuzz_import.rounds(
        path, lambda: urdf_import.import_urdf(bpy.context, path, robot_files.RobotOptions()),
        lambda: urdf_export.export_urdf(bpy.context, path.with_name("written.urdf")),
    )  # fmt: skip


if __name__ == "__main__":
    start = fuzz.start_blender if "--blender" in sys.argv else bench.load_extension
    fuzzer = fuzz.Fuzzer(case, 2000, ("scene_changed",), 60.0, start, sources=True)
    sys.exit(fuzz.main(__doc__, {"urdf": fuzzer}, blender="through the import of Blender, and back to a URDF"))
