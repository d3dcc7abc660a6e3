# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file that was just written: a writer on a full disk can report success."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd

from ..core.errors import OutputError

#: OpenUSD 25.08 has moved it.
_CrateInfo: Any = getattr(Sdf, "CrateInfo", None) or Usd.CrateInfo


def outline(layer: Sdf.Layer) -> list[str]:
    """The root prims of a layer and the names of its metadata: enough to know it whole.

    What is cut off inside a root prim cannot be read at all: in text a bracket is not closed, and a crate file has the
    table of its contents at its end.
    """
    root = layer.pseudoRoot
    # Python cannot read the offsets, which follow the sublayers.
    named = [name for name in root.ListInfoKeys() if name != "subLayerOffsets" and not _is_empty(root.GetInfo(name))]
    return [*layer.rootPrims.keys(), *named]


def _is_empty(value: Any) -> bool:
    """True for empty texts and lists, which a text file does not hold."""
    return hasattr(value, "__len__") and not len(value)


def verify(scratch: Path, target: Path, expected: list[str]) -> None:
    """Raise OutputError unless a file is whole: text has this outline, and the tables of a crate file can be read.

    target: the name for the message.
    """
    try:
        with scratch.open("rb") as stream:
            is_crate = stream.read(8) == b"PXR-USDC"
        if is_crate:
            # All tables of the file are read, and no layer is made of them.
            is_whole = bool(_CrateInfo.Open(str(scratch)))
        else:
            layer = Sdf.Layer.OpenAsAnonymous(str(scratch))
            is_whole = bool(layer) and outline(layer) == expected
    except (OSError, Tf.ErrorException):
        is_whole = False
    if not is_whole:
        raise OutputError(f"'{target}' could not be written completely (is the disk full?); the old file is untouched.")
