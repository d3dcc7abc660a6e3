# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the add-on, which its manifest says."""

from __future__ import annotations

import tomllib
from pathlib import Path

#: Beside the `__init__.py` of the extension.
_MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"


def addon_version() -> str:
    """The version in the manifest, such as "0.1.0"."""
    return str(tomllib.loads(_MANIFEST.read_text(encoding="utf-8"))["version"])


VERSION = addon_version()
