"""Messages in other languages: those without a translation are listed, none is stale, values stay in place."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.words import Templates, counted, in_language, joined, phrase, tally

ROOT = Path(__file__).resolve().parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(ROOT / "scripts"))
    message_texts, untranslated = map(importlib.import_module, ("message_texts", "untranslated"))
shape, rows = message_texts.shape, untranslated.rows


def test_a_message_without_a_translation_is_found() -> None:
    source = (
        'def f(name):\n    """Not this text of a module."""\n    raise InputError(f"{name} is quite another thing.")\n'
    )
    collector = message_texts.Texts()
    collector.visit(ast.parse(source))
    found = list(untranslated.messages({"a.py": collector.found}, ["{number} thing"], ["{number} body"]))
    assert found == [
        ("reports.tsv", "{} is quite another thing.", "a.py:3"), ("reports.tsv", "{number} thing", "")
    ]  # fmt: skip
    assert not list(untranslated.messages({"a.py": collector.found}, [], ["{name} is quite another thing."]))


def test_the_code_is_full_of_messages() -> None:
    """The list of missing ones is short because they are translated, and not because none is found."""
    texts, counts = message_texts.collect()
    assert sum(message_texts.is_sentence(text) for found in texts.values() for _, text in found) > 1000
    assert "{number} bodies" in counts


def test_missing_translations_are_listed_for_each_language(capsys, monkeypatch, tmp_path) -> None:
    """A text without a line is missing in all languages, an empty or absent column in its own."""
    (tmp_path / "operators").mkdir()
    tables = {"labels.tsv": "Cat\tKatze\nDog\t\tChien\n", "tooltips.tsv": "", "reports.tsv": "", "ja.tsv": "Cat\t猫\n"}
    for table, text in tables.items():
        (tmp_path / "operators" / table).write_text(text, encoding="utf-8")
    text = 'LANGUAGES = {"de": 1, "fr": 2}\nOWN_FILES = {"ja": "ja.tsv", "ja_JP": "ja.tsv"}\n'
    (tmp_path / "operators" / "translations.py").write_text(text)
    monkeypatch.setattr(untranslated, "ROOT", tmp_path)
    rows.cache_clear()
    untranslated.print_missing([untranslated.Missing("labels.tsv", "Cow", "a.py:3")] * 2, 1)
    rows.cache_clear()
    assert capsys.readouterr().out.splitlines() == [
        "operators/labels.tsv: 2 without a translation for 'de', shown in English:", "    Cow    (a.py:3)",
        "    and 1 more; scripts/untranslated.py --all prints them",
        "operators/labels.tsv: 2 without a translation for 'fr', shown in English:", "    Cow    (a.py:3)",
        "    and 1 more; scripts/untranslated.py --all prints them",
        "operators/ja.tsv: 2 without a line, shown in English:", "    Cow    (a.py:3)",
        "    and 1 more; scripts/untranslated.py --all prints them",
    ]  # fmt: skip


def test_no_translation_of_a_message_is_stale() -> None:
    """Counts are made of any word: `counted` and `tally` are called with words of tables, too."""
    used = {shape(text) for path in message_texts.modules() for text in message_texts.strings_of(path)}
    used.update(message_texts.fixes())
    nouns = {text for text in used if re.fullmatch("[a-z ]+", text)}
    used |= {shape(count(number, noun)).replace(str(number), "{}", 1)
             for noun in nouns for number in (1, 2) for count in (counted, tally)}  # fmt: skip
    assert sorted(text for text in rows("reports.tsv") if shape(text) not in used) == []


@pytest.mark.parametrize("table", untranslated.TABLES)
def test_translations_have_the_values_of_the_english_text(table: str) -> None:
    def places(text: str) -> list[str]:
        return sorted(re.findall(r"\{[^{}]*\}", text))

    found = {text: translated for text, translated in rows(table).items() if any(translated)}
    assert len(found) > 100
    assert [text for text in found if any(places(one) != places(text) for one in found[text] if one)] == []


# --------------------------------------------------------------------------- how a finished text is translated

GERMAN = {
    "{prim} has {problem}.": "{prim} hat {problem}.",
    "an inertia without axes": "eine Trägheit ohne Achsen",
    "Give {X} a collider.": "{X} einen Kollider geben.",
    "'{name}' is hidden; show it.": "'{name}' ist ausgeblendet; einblenden.",
    "Body {side} of '{name}' is {path}.": "Körper {side} von '{name}' ist {path}.",
    "Baked {bodies}": "Gebacken: {bodies}",
    "{number} bodies": "{number} Körper",
    "is hidden": "ist unsichtbar",
    "Ready ({done:.0%})": "Fertig ({done:.0%})",
}


def shown(message: str) -> str:
    return in_language(message, lambda text: GERMAN.get(text, text), Templates(GERMAN))


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("'A' (/World/A) has an inertia without axes.", "'A' (/World/A) hat eine Trägheit ohne Achsen."),
        ("/A has a thing. Give 'A' a collider.", "/A hat a thing. 'A' einen Kollider geben."),
        ("Body 0 of 'Arm' is /World/Arm.", "Körper 0 von 'Arm' ist /World/Arm."),
        ("Nobody knows this.", "Nobody knows this."),
        (
            "A thing; it is hidden; '/A' has an inertia without axes.",
            "A thing; it is hidden; '/A' hat eine Trägheit ohne Achsen.",
        ),
        ("; ", "; "),
        ("Ready (50%)", "Fertig (50%)"),
        ("", ""),
    ],
)
def test_a_finished_text_is_translated_by_the_template_that_it_was_made_from(english: str, german: str) -> None:
    assert shown(english) == german


def test_names_are_not_translated_even_if_they_read_like_a_message() -> None:
    assert shown("'is hidden' is hidden; show it.") == "'is hidden' ist ausgeblendet; einblenden."
    assert (
        shown(phrase("'{name}' is hidden; show it.", name="is hidden")) == "'is hidden' ist ausgeblendet; einblenden."
    )


def test_phrases_and_finished_texts_go_together() -> None:
    assert shown(phrase("Baked {bodies}", bodies=counted(2, "body"))) == "Gebacken: 2 Körper"
    assert shown(f"Baked {counted(2, 'body')}") == "Gebacken: 2 Körper"
    assert shown(joined(": ", (counted(2, "body"), "Give 'A' a collider."))) == "2 Körper: 'A' einen Kollider geben."
    assert shown(phrase("Ready ({done:.0%})", done=0.5)) == "Fertig (50%)"


def test_every_template_finds_itself_in_its_own_text() -> None:
    """No template of the tables is hidden by another one, so that each message gets its own translation."""
    texts = list(rows("reports.tsv"))
    known = Templates(texts)
    wrong = []
    for text in texts:
        message = re.sub(r"\{(\w+)[^{}]*\}", r"<\1>", text)
        found = known.find(message)
        if found is None or shape(found[0]) != shape(text):
            wrong.append((text, found and found[0]))
    assert wrong == []
