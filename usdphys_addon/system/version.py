# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of this program."""

from __future__ import annotations

from functools import cache
from pathlib import Path

#: Beside the `__init__.py` of the extension. The wheel has none.
_MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


@cache
def addon_version() -> str:
    """The version in the manifest, such as "0.1.0"; of the wheel, as pip shows it."""
    if _MANIFEST.is_file():
        import tomllib

        return str(tomllib.loads(_MANIFEST.read_text(encoding="utf-8"))["version"])
    from importlib import metadata

    return metadata.version("usdphys")
