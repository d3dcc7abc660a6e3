# SPDX-License-Identifier: GPL-3.0-or-later
"""Words in other languages, for Blender's translation system. A language is loaded when Blender shows it.

Three files have a line for each text, with the columns English, German and French: labels.tsv names things,
tooltips.tsv describes them, reports.tsv has the templates of messages. Other languages have a file of their own, with
the columns English and translation, for texts of all three. A text without a line, or with an empty column, is shown in
English. The code may make a message by `core.words.phrase` or as a plain text: the template of a plain text is found by
its words (`core.words.Templates`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..usdphys_addon.bridge.language import know_messages
from ..usdphys_addon.worker.handlers import Handlers

#: Columns of the files, by the language of Blender's locale.
LANGUAGES = {"de": 1, "fr": 2}
#: Files of other languages, by the beginning of Blender's locale; Traditional Chinese is none of them.
OWN_FILES = {"ja": "ja.tsv", "zh_HANS": "zh_hans.tsv", "zh_CN": "zh_hans.tsv"}
#: Contexts of the words of each file: labels of operators have one of their own.
FILES = {"labels.tsv": ("*", "Operator"), "tooltips.tsv": ("*",), "reports.tsv": ("*",)}
_DOMAIN = __package__ or "usdphys_addon"
_LANGUAGE: Any = (bpy.types.PreferencesView, "language")
_owner = object()
_loaded = ""


def table(locale: str) -> dict[tuple[str, str], str]:
    """Translations of a locale, such as "de_DE", by (context, English). Empty for a language without translations."""
    for beginning, own in OWN_FILES.items():
        if locale.startswith(beginning):
            return {(context, english): text for english, text in lines(own) for context in FILES["labels.tsv"]}
    column = LANGUAGES.get(locale[:2])
    if column is None:
        return {}
    translations = {}
    for name, contexts in FILES.items():
        for english, *others in lines(name):
            # Without a translation Blender shows the English text.
            text = others[column - 1] if column <= len(others) else ""
            translations.update({(context, english): text for context in contexts if text})
    return translations


def lines(name: str) -> list[list[str]]:
    """The texts of each line of a file, English first."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def follow_language() -> None:
    """Register the translations of the language that Blender shows, and no other."""
    global _loaded
    locale = bpy.app.translations.locale
    if locale == _loaded:
        return
    _forget()
    words = table(locale)
    if words:
        bpy.app.translations.register(_DOMAIN, {locale: words})
        know_messages(line[0] for line in lines("reports.tsv"))
        _loaded = locale


def _forget() -> None:
    global _loaded
    if _loaded:
        bpy.app.translations.unregister(_DOMAIN)
        know_messages(())
    _loaded = ""


def _subscribe(*_: Any) -> None:
    # Loading a file ends all subscriptions.
    bpy.msgbus.clear_by_owner(_owner)
    bpy.msgbus.subscribe_rna(key=_LANGUAGE, owner=_owner, args=(), notify=follow_language)


_handlers = Handlers(("load_post", _subscribe))


def register() -> None:
    follow_language()
    _subscribe()
    _handlers.register()


def unregister() -> None:
    _handlers.unregister()
    bpy.msgbus.clear_by_owner(_owner)
    _forget()
