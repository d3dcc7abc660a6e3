# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file that was just written: a writer on a full disk can report success."""

from __future__ import annotations

from pathlib import Path

from pxr import Sdf, Tf

from ..core.errors import OutputError


def count_prims(layer: Sdf.Layer) -> int:
    """Number of prim specs in a layer, without those in variants."""
    # By name: to make an object of each child takes twice as long.
    prim_at, number = layer.GetPrimAtPath, 0
    pending = [f"/{name}" for name in layer.rootPrims.keys()]
    while pending:
        path = pending.pop()
        number += 1
        pending += [f"{path}/{name}" for name in prim_at(path).GetInfo("primChildren") or ()]
    return number


def verify(scratch: Path, target: Path, prims: int) -> None:
    """Raise OutputError unless a file can be read and has so many prims. target: the name for the message."""
    try:
        layer = Sdf.Layer.OpenAsAnonymous(str(scratch))
        found = count_prims(layer) if layer else -1
    except Tf.ErrorException:
        found = -1
    if found != prims:
        raise OutputError(f"'{target}' could not be written completely (is the disk full?); the old file is untouched.")
