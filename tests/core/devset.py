# SPDX-License-Identifier: GPL-3.0-or-later
"""How tests open USD files that others wrote."""

from __future__ import annotations

from pathlib import Path

from pxr import Usd


def flattened(file: Path) -> Usd.Stage:
    """A copy in memory, in one layer and without instances, so that every prim can be written."""
    stage = Usd.Stage.Open(str(file))
    for prim in stage.Traverse():
        if prim.IsInstance():
            prim.SetInstanceable(False)
    return Usd.Stage.Open(stage.Flatten())
