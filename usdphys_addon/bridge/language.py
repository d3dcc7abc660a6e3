# SPDX-License-Identifier: GPL-3.0-or-later
"""User messages in the language that Blender shows."""

from __future__ import annotations

import bpy

from ..core.words import in_language


def tr(message: str) -> str:
    """A message, or a phrase with values, as reports and tooltips show it. English where there is no translation."""
    return in_language(message, bpy.app.translations.pgettext_rpt)


def tr_label(message: str) -> str:
    """The same for texts that a layout draws."""
    return in_language(message, bpy.app.translations.pgettext_iface)
