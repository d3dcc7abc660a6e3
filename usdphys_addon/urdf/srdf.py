# SPDX-License-Identifier: GPL-3.0-or-later
"""SRDF files: which links of a robot do not collide with each other."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import InputError
from . import xacro
from .packages import Packages
from .read import markup_of

Pairs = tuple[tuple[str, str], ...]


def read_pairs(path: Path, packages: Packages) -> Pairs:
    """Names of the links of each `disable_collisions`, once. Raises InputError if it is no SRDF that can be read."""
    root, _ = markup_of(path)
    if root.tag != "robot":
        raise InputError(f"'{path.name}' is no SRDF: its first element is '{root.tag}', not 'robot'.")
    if path.suffix.lower() == ".xacro" or xacro.is_xacro(root):
        root = xacro.expand(root, path, packages, {})
    pairs = [(one.get("link1") or "", one.get("link2") or "") for one in root.findall("disable_collisions")]
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs if all(pair)))
