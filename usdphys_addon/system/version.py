# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of this program and of what it uses."""

from __future__ import annotations

import platform
import sys
import tomllib
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

#: Beside the packages of the extension. The wheel has none.
_MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


@cache
def addon_version() -> str:
    """As in the manifest, such as "0.1.0"; of the wheel, as pip shows it."""
    if _MANIFEST.is_file():
        return str(tomllib.loads(_MANIFEST.read_text(encoding="utf-8"))["version"])
    return metadata.version("usdphys")


def text() -> str:
    """The version with those of Blender, USD and the solver, as far as they are here; no Blender is started for it."""
    app = getattr(sys.modules.get("bpy"), "app", None)
    found = {"Blender": getattr(app, "version_string", "")}
    for name in ("usd-core", "rapier3d", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    parts = [f"{name} {number}" for name, number in found.items() if number]
    return f"{addon_version()} ({', '.join([*parts, f'Python {platform.python_version()}'])})"
