# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the user lets this Blender use the network. Elsewhere nobody is asked: there Blender has no such setting."""

from __future__ import annotations

import sys

from ..core.errors import InputError


def is_allowed() -> bool:
    """False in a Blender that works offline; True in it otherwise, and in Python with or without bpy."""
    app = getattr(sys.modules.get("bpy"), "app", None)
    return app is None or app.module or app.online_access


def require(what: str) -> None:
    """Raise InputError if this Blender works offline. what: that needs the network, as the subject of the sentence."""
    if not is_allowed():
        raise InputError(
            f"{what} needs the network, and this Blender works offline; allow online access in Preferences > System > "
            f"Network, or start Blender with --online-mode."
        )
