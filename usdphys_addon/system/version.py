# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the add-on, which `blender_manifest.toml` alone holds, and the order of versions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

#: Beside the `__init__.py` of the extension, in the checkout as where it is installed.
MANIFEST = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
_ID = "usdphys_addon"
#: The package of the rooms that need no Blender. It has no manifest.
PACKAGE = "usdphys"
_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
#: What packages of Python make of "0.2.0-dev" and "0.2.0-dev.1".
_PACKAGED = re.compile(r"(\d+\.\d+\.\d+)\.dev(\d+)")

#: See `order`.
Order = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def manifest() -> dict[str, Any]:
    """The manifest of the extension that this is part of; empty in the package without Blender."""
    if not MANIFEST.is_file():
        return {}
    # Imported late: Blender waits for the registration, which needs none of it.
    import tomllib

    values = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    return values if values.get("id") == _ID else {}


@cache
def addon_version() -> str:
    """The version of the add-on, such as "0.1.0" or "0.2.0-dev". Raises PackageNotFoundError if nothing says it."""
    if own := manifest():
        return str(own["version"])
    from importlib import metadata

    version = metadata.version(PACKAGE)
    packaged = _PACKAGED.fullmatch(version)
    if packaged is None:
        return version
    return f"{packaged[1]}-dev{f'.{packaged[2]}' if packaged[2] != '0' else ''}"


@cache
def order(version: str) -> Order:
    """A key that sorts versions by the rules of semver: "0.2.0-dev" < "0.2.0-dev.1" < "0.2.0".

    The build behind "+" does not count. Raises ValueError for text that is no version.
    """
    match = _SEMVER.fullmatch(version)
    if match is None:
        raise ValueError(f"'{version}' is no version such as 0.1.0 or 0.2.0-dev")
    parts = match[4].split(".") if match[4] else []
    # Numbers sort before words, and a version without such parts after all that have some.
    before = tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)
    return tuple(int(part) for part in match.group(1, 2, 3)), not parts, before
