# SPDX-License-Identifier: GPL-3.0-or-later
"""What a preset of `core.readers` does with a written USD file: adds what the reader wants, and checks it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pxr import Sdf

from ..core import validate
from ..core.readers import Reader
from ..core.validate import Issue
from ..system.files import replacing, scratch_folder
from . import apple, isaac_robot
from .files import packages
from .read import open_stage, read_stage, stage_units


def finish(file: Path, reader: Reader) -> list[Issue]:
    """Add what the reader wants to a USD file, and check it. The file is replaced in one step. Raises OutputError."""
    issues = []
    if "isaac_robot" in reader.adds and read_stage(open_stage(file)).joints:
        issues += isaac_robot.add_to_file(file, "default")
    if "apple" in reader.adds:
        issues += _add_apple(file)
    if reader.target is not None:
        issues += validate.validate(read_stage(open_stage(file)), reader.target)
    return issues


def _add_apple(file: Path) -> list[Issue]:
    stage = open_stage(file)
    model, units = read_stage(stage), stage_units(stage)
    if file.suffix.lower() != ".usdz":
        del stage
        layer = Sdf.Layer.OpenAsAnonymous(str(file))
        issues = apple.add(layer, model, units.up_axis, units.meters_per_unit)
        with replacing(file) as scratch:
            layer.Export(str(scratch))
        return issues
    with scratch_folder(file) as folder:
        with zipfile.ZipFile(file) as package:
            names = package.namelist()
            package.extractall(folder / "files")
        # The first file of a package is the stage.
        root = folder / "files" / names[0]
        layer = Sdf.Layer.OpenAsAnonymous(str(root))
        issues = apple.add(layer, model, units.up_axis, units.meters_per_unit)
        layer.Export(str(root))
        del stage
        with replacing(file) as scratch:
            packages.pack(scratch, folder / "files", names)
    return issues
