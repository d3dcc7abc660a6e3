# SPDX-License-Identifier: GPL-3.0-or-later
"""SRDF files: which links of a robot do not collide with each other."""

from __future__ import annotations

from pathlib import Path

from ..core.errors import InputError
from . import markup, xacro
from .packages import Packages, is_file

Pairs = tuple[tuple[str, str], ...]


def read_pairs(path: Path, packages: Packages) -> Pairs:
    """Names of the links of each `disable_collisions`, once. Raises InputError if it is no SRDF that can be read."""
    # What is no file, such as a pipe, may have no end.
    if not is_file(path):
        raise InputError(f"There is no file '{path}' that can be read; check the name.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"'{path}' cannot be read ({error.strerror}).") from error
    root, _ = markup.parse(data, path.name)
    if root.tag != "robot":
        raise InputError(f"'{path.name}' is no SRDF: its first element is '{root.tag}', not 'robot'.")
    if path.suffix.lower() == ".xacro" or xacro.is_xacro(root):
        root = xacro.expand(root, path, packages, {})
    found = [(one.get("link1") or "", one.get("link2") or "") for one in root.findall("disable_collisions")]
    return tuple(dict.fromkeys((min(pair), max(pair)) for pair in found if all(pair)))
