# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutates models of MuJoCo, and reads, plans and stages each: a file may be refused, but nothing else may happen.

    .venv-usd/bin/python scripts/fuzz_mjcf.py FOLDER [--count 2000] [--seed 1] [--check]

FOLDER holds .xml files. `fuzz_cli.py mjcf` takes the same through the commands.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import bench
import fuzz
import fuzz_urdf

#: What numbers and words are replaced by, beside those of robots.
WORDS = [
    *fuzz_urdf.WORDS, "1e15", "-1e15", "1e-15", "1 0 0 0", "0 0 0 0", "1 0 0 0 1 0", "0 0 0 0 0 1", "hinge", "slide",
    "ball", "free", "box", "sphere", "ellipsoid", "plane", "hfield", "sdf", "world", "main", "false", "auto", "disable",
    "enable", "radian", "degree", "XYZ", "zzz", "affine", "filter", "integrator", "muscle", "4294967296", "2147483648",
    "model.xml", "1e9",
]  # fmt: skip
BLOCKS = r"body|frame|replicate|default|asset|worldbody|actuator|equality|contact|keyframe|tendon|sensor|option"


def make(rng: random.Random, folder: Path, sources: Path) -> tuple[Path, list[str]]:
    """(a mutant of one of the files, its name)"""
    path, data = fuzz.copied(rng, folder, sources, ".xml")
    path.write_bytes(fuzz_urdf.mutated(data.decode("utf-8", "replace"), rng, WORDS, BLOCKS))
    return path, [path.name]


def case(rng: random.Random, folder: Path, options: argparse.Namespace) -> Iterator[fuzz.Said]:
    from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
    from usdphys_ext.usdphys_addon.core.validate import validate
    from usdphys_ext.usdphys_addon.usd import mjcf_file, mjcf_stage, read

    path, notes = make(rng, folder, options.sources)
    yield ", ".join(notes)
    try:
        with mjcf_stage.as_stage(path) as (stage_file, _planned):
            stage = read.open_stage(stage_file)
            model = read.read_stage(stage)
            validate(model)
            yield "read", ""
            mjcf_file.write_file(stage, model, path.with_name("written.xml"), folders=[path.parent])
        yield "written", ""
    except UsdPhysError as error:
        yield "escaped" if "\n" in str(error) else "refused", str(error)


if __name__ == "__main__":
    sys.exit(fuzz.main(__doc__, {"mjcf": fuzz.Fuzzer(case, 2000, (), 60.0, bench.load_extension, sources=True)}))
