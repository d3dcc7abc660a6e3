# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutates URDF and xacro files, and reads, plans and stages each: a file may be refused, but nothing else may happen.

    .venv-usd/bin/python scripts/fuzz_urdf.py FOLDER [--count 2000] [--seed 0]
    .venv/bin/python scripts/fuzz_urdf.py FOLDER --blender [--count 200]

FOLDER holds .urdf and .xacro files. With --blender each is imported into a scene that holds something, which a failed
import must leave as it was, and what came in is exported to URDF. Prints each exception that is no InputError, and the
slowest file. Exit status 1 if there was one.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: What numbers and words are replaced by.
WORDS = [
    "nan", "inf", "-inf", "1e400", "-1", "0", "1e-320", "1e300", "", " ", "a b", "1,2,3", "1_0", "\uff19", "\u202e",
    "../..", "${1/0}", "${[0]*10**9}", "$(find x)", "$(arg", "${", "package://", "package:///", "http://a/b.stl",
    "file:///etc/passwd", "x" * 5000, "robot", "link", "joint", "floating", "planar", "mesh", "capsule", "true", "None",
    "0 0 0", "1 1 1 1",
]  # fmt: skip


def mutated(text: str, chance: random.Random) -> bytes:
    """The text with one to six changes: attributes, elements, tags and bytes."""
    for _ in range(chance.randint(1, 6)):
        kind = chance.choice((0, 0, 0, 0, 1, 1, 2, 2, 4, 4, 4, 3, 5, 6))
        values = list(re.finditer(r'"[^"]*"', text))
        tags = list(re.finditer(r"<[^>]*>", text))
        if kind <= 1 and values:
            place = chance.choice(values)
            text = text[: place.start()] + f'"{chance.choice(WORDS)}"' + text[place.end() :]
        elif kind == 2 and values:
            one, other = chance.choice(values), chance.choice(values)
            text = text[: one.start()] + other[0] + text[one.end() :]
        elif kind == 3 and tags:
            place = chance.choice([tag for tag in tags if tag[0].endswith("/>")] or tags)
            text = text[: place.start()] + text[place.end() :]
        elif kind == 4:
            blocks = list(re.finditer(r"<(link|joint|visual|collision|inertial|xacro:\w+)\b.*?</\1>", text, re.S))
            if blocks:
                one = chance.choice(blocks)
                at = chance.choice(blocks).start()
                text = text[:at] + one[0] * chance.randint(1, 3) + text[at:]
        elif kind == 5 and text:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice("<>&\"'/ \0\x7fäx${(") + text[at + chance.randint(0, 3) :]
        elif text:
            at = chance.randrange(len(text))
            text = text[:at] if chance.random() < 0.3 else text[:at] + text[at : at + 200] + text[at:]
    data = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.05 and data:
        at = chance.randrange(len(data))
        data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    return data


def load() -> None:
    """Make the product importable as `usdphys_ext`, as the tests do."""
    spec = importlib.util.spec_from_file_location(
        "usdphys_ext", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["usdphys_ext"] = module
    spec.loader.exec_module(module)


def contents() -> dict[str, list[str]]:
    """Names of all datablocks by kind."""
    import bpy

    return {
        kind: sorted(item.name for item in getattr(bpy.data, kind))
        for kind in ("objects", "meshes", "materials", "collections", "images", "actions", "scenes", "texts")
    }


def through_blender(target: Path, number: int) -> None:
    """Import a file, and export what came in. Raises AssertionError where a failure has changed the scene."""
    import bpy
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.exchange import urdf_export, urdf_import
    from usdphys_ext.usdphys_addon.usd import robot_files

    # Each second robot comes into a scene that holds one already.
    if number % 2 == 0:
        bpy.ops.wm.read_homefile(use_empty=False, use_factory_startup=True)
    before = contents()
    try:
        urdf_import.import_urdf(bpy.context, target, robot_files.RobotOptions())
    except UsdPhysError:
        assert contents() == before, "the scene is not as it was"
        raise
    bpy.context.view_layer.update()
    out = target.with_name(".written.urdf")
    try:
        urdf_export.export_urdf(bpy.context, out)
    finally:
        out.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--blender", action="store_true", help="through the import of Blender, and back to a URDF")
    options = parser.parse_args()
    load()
    if options.blender:
        sys.modules["usdphys_ext"].register()  # type: ignore[attr-defined]
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.core.validate import validate
    from usdphys_ext.usdphys_addon.usd import robot_files

    if not options.blender:
        from usdphys_ext.usdphys_addon.usd import read as usd_read

    files = sorted(path for path in options.folder.rglob("*") if path.suffix in (".urdf", ".xacro"))
    texts = [path.read_text("utf-8", "replace") for path in files]
    if not files:
        parser.error(f"there is no .urdf or .xacro file in {options.folder}")
    found: Counter[str] = Counter()
    slowest = (0.0, "")
    for number in range(options.count):
        chance = random.Random(options.seed * 1_000_003 + number)
        index = chance.randrange(len(files))
        target = files[index].with_name(f".mutated{files[index].suffix}")
        target.write_bytes(mutated(texts[index], chance))
        start = time.perf_counter()
        try:
            if options.blender:
                through_blender(target, number)
            else:
                with robot_files.robot_as_stage(target, robot_files.RobotOptions()) as (stage_file, _plan, _texts):
                    validate(usd_read.read_stage(usd_read.open_stage(stage_file)))
            found["read"] += 1
        except UsdPhysError as error:
            found["refused"] += 1
            if "\n" in str(error):
                found["refused in several lines"] += 1
        except Exception:
            found["exceptions"] += 1
            print(f"--- {files[index].name}, number {number}")
            traceback.print_exc(limit=-3)
        finally:
            target.unlink(missing_ok=True)
        slowest = max(slowest, (time.perf_counter() - start, f"{files[index].name}, number {number}"))
    print(dict(found), f"slowest {slowest[0]:.2f} s: {slowest[1]}")
    return 1 if found["exceptions"] or found["refused in several lines"] else 0


if __name__ == "__main__":
    sys.exit(main())
