# SPDX-License-Identifier: GPL-3.0-or-later
"""User messages in the language that Blender shows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import bpy

from ..core.words import Templates, in_language, without_options

_known = Templates()


def know_messages(texts: Iterable[str]) -> None:
    """The English messages that have a translation, for those that are no phrases."""
    global _known
    _known = Templates(texts)
    # It is called when translations come and go.
    label.cache_clear()


@lru_cache(maxsize=4096)
def label(text: str, locale: str) -> str:
    """A label in the language of Blender. locale: that of Blender, for which it is kept."""
    return str(bpy.app.translations.pgettext_iface(text))


def tr(message: str) -> str:
    """A message, or a phrase with values, as reports and tooltips show it. English where there is no translation.

    Without options of the command line, which a window does not have.
    """
    return without_options(in_language(message, bpy.app.translations.pgettext_rpt, _known))


def tr_label(message: str) -> str:
    """The same for texts that a layout draws."""
    return without_options(in_language(message, bpy.app.translations.pgettext_iface, _known))
