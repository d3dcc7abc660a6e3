# SPDX-License-Identifier: GPL-3.0-or-later
"""What `--version` prints."""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from importlib import metadata

from ..system.version import addon_version


def text() -> str:
    """The version, and those of Blender, USD, the solver and numpy, as far as they are here."""
    app = getattr(sys.modules.get("bpy"), "app", None)
    versions = {"Blender": getattr(app, "version_string", "")}
    for name in ("usd-core", "rapier3d", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    parts = [f"{name} {number}" for name, number in versions.items() if number]
    return f"usdphys {addon_version()} ({', '.join([*parts, f'Python {platform.python_version()}'])})"
