# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether this process can do what needs Blender: the wheel has no rooms for it, and a plain Python has no bpy."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from ..core.errors import NeedsBlenderError

#: The package that this module is part of: `usdphys_addon`, or `usdphys` in the wheel.
PACKAGE = Path(__file__).resolve().parents[1]
_FOR_COMMANDS = "name a Blender with this extension, or a Python with bpy, in the environment variable USDPHYS_BLENDER"


def has_rooms() -> bool:
    """True if the code that works in Blender is part of this installation; the wheel lacks it."""
    return (PACKAGE / "bridge").is_dir()


def is_here() -> bool:
    """True in Blender, and in a Python with bpy, which is not imported."""
    return has_rooms() and ("bpy" in sys.modules or importlib.util.find_spec("bpy") is not None)


def trouble() -> str:
    """Why a bpy that is here cannot be loaded, such as a library of the system that is missing; empty if it can."""
    try:
        if is_here():
            importlib.import_module("bpy")
    except ImportError as error:
        return str(error) or type(error).__name__
    return ""


def require(what: str, remedy: str = _FOR_COMMANDS) -> None:
    """Raise NeedsBlenderError where Blender is not here.

    what: begins the sentence, such as "Reading 'a.blend'". remedy: ends it with what to do.
    """
    if not is_here():
        raise NeedsBlenderError(f"{what} needs Blender, which is not here; {remedy}.")
