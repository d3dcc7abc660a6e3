# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of a URDF in its text: limits that are the wrong way round are swapped, and no other byte changes."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import InputError
from ..system.files import replacing
from . import markup
from .edit import TextEdits

#: The codes of the only issue that has a safe fix in a URDF, of the reader and of the model, and what the fix does.
CODES, LABEL = ("UrdfLimitsSwapped", "LimitsReversed"), "Swap the limits"


def swap_limits(file: Path) -> list[str]:
    """Swap limits in a file, and return the names of their joints. A file without such limits is not touched.

    Raises InputError and OutputError; the file is as it was then.
    """
    content, names = _swapped(file)
    if names:
        with replacing(file) as scratch:
            scratch.write_bytes(content)
    return names


def _swapped(file: Path) -> tuple[bytes, list[str]]:
    data = file.read_bytes()
    root, text = markup.parse(data, file.name)
    if text.encode() != data:
        raise InputError("the file is not in UTF-8; save it so, and fix it then")
    edits, names = TextEdits(text), []
    for joint in root.findall("joint"):
        limit = joint.find("limit")
        low, high = (limit.get(name) if limit is not None else None for name in ("lower", "upper"))
        if limit is None or low is None or high is None or joint.get("type") not in ("revolute", "prismatic"):
            continue
        if _number(low) > _number(high):
            edits.set(limit, "lower", high)
            edits.set(limit, "upper", low)
            names.append(joint.get("name") or "")
    return edits.result().encode(), names


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
