# SPDX-License-Identifier: GPL-3.0-or-later
"""USD files that others wrote, and how tests open them."""

from __future__ import annotations

from pathlib import Path

from pxr import Usd


def devset_files(shared: Path) -> list[Path]:
    patterns = ("usd/*.usd", "usd/*.usda", "usd/*/*.usda", "urdf/*/reference_usd/*.usda")
    found = [file for pattern in patterns for file in sorted((shared / "devset").glob(pattern))]
    assert found
    return found


def flattened(file: Path) -> Usd.Stage:
    """A copy in memory, in one layer and without instances, so that every prim can be written."""
    stage = Usd.Stage.Open(str(file))
    for prim in stage.Traverse():
        if prim.IsInstance():
            prim.SetInstanceable(False)
    return Usd.Stage.Open(stage.Flatten())
