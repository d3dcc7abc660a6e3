# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels, tooltips and reports in German and French: none is missing, none is stale, no label is much longer."""

import ast
import importlib
import re
from pathlib import Path

import blf
import bpy
import pytest
from usdphys_ext import operators
from usdphys_ext.operators import translations
from usdphys_ext.operators.outcome import message_of
from usdphys_ext.usdphys_addon.authoring import tagging
from usdphys_ext.usdphys_addon.checks.fixes import FIXES
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.words import counted, in_language, phrase
from usdphys_ext.usdphys_addon.viewport import wrapped_text

from .layout_recorder import LayoutRecorder

ROOT = Path(__file__).resolve().parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(ROOT / "scripts"))
    label_texts, untranslated = map(importlib.import_module, ("label_texts", "untranslated"))
LONGEST = 60
ROOMS = ("operators", "panels", "usdphys_addon")


def rows(name):
    """Translations by English text, without the empty ones of texts that a language does not have yet."""
    return {text: tuple(filter(None, texts)) for text, texts in untranslated.rows(name).items()}


@pytest.mark.slow
def test_a_label_a_tooltip_and_a_fix_without_a_translation_are_found(monkeypatch):
    """All labels are looked for in the tables: without the tables all of them are missing."""
    known = untranslated.rows
    listed = set(untranslated.drawn())
    monkeypatch.setattr(untranslated, "rows", lambda name: {})
    everything = set(untranslated.drawn())
    for table, text in (
        ("labels.tsv", "Rigid Body"), ("labels.tsv", "Box Stack"), ("labels.tsv", "Steel"),
        ("tooltips.tsv", "A static wedge"), ("reports.tsv", next(iter(FIXES.values())).label),
    ):  # fmt: skip
        assert (table, text, "") in everything - listed
        assert text in known(table)


@pytest.mark.slow
def test_no_translation_of_a_label_is_stale():
    """Labels are of what is registered, or texts of the code."""
    drawn = label_texts.words()[0]
    for path in (*ROOT.glob("*.py"), *(one for room in ROOMS for one in (ROOT / room).rglob("*.py"))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        drawn |= {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    for name in ("panels/menus.tsv", "usdphys_addon/bridge/choices.tsv"):
        drawn |= {cell for row in (ROOT / name).read_text(encoding="utf-8").splitlines() for cell in row.split("\t")}
    assert sorted(rows("labels.tsv").keys() - drawn) == []


def test_a_label_has_one_spelling():
    """Of capitals, and of the words that British and American English write differently."""
    spellings = {}
    for label in rows("labels.tsv"):
        spellings.setdefault(label.lower().replace("center", "centre"), []).append(label)
    assert [names for names in spellings.values() if len(names) > 1] == []


@pytest.mark.slow
def test_no_translation_of_a_tooltip_is_stale():
    assert sorted(rows("tooltips.tsv").keys() - label_texts.words()[1]) == []


def test_a_report_is_translated_with_the_phrases_among_its_values():
    table = translations.table("de_DE")
    message = phrase("Baked {bodies}", bodies=counted(2, "body"))
    assert message == "Baked 2 bodies"
    assert in_language(message, lambda text: table.get(("*", text), text)) == "Gebacken: 2 Körper"


def test_the_tooltip_of_an_action_and_its_refusal_are_translated():
    """The action bar's outcome goes through sentences, names and reasons; none of these loses the template."""
    table = translations.table("fr_FR")

    def shown(message):
        return in_language(message, lambda text: table.get(("*", text), text))

    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("Leaf", mesh)
    bpy.context.scene.collection.objects.link(obj)
    outcome = tagging.tag(bpy.context, [obj], "DYNAMIC")
    assert outcome.text.startswith("Made 1 object dynamic: 'Leaf' ")
    assert shown(outcome.text).startswith("1 objet en dynamique: 'Leaf' ")
    with pytest.raises(InputError) as refusal:
        tagging.tag(bpy.context, [bpy.data.objects.new("Nothing", None)], "STATIC")
    assert shown(message_of(refusal.value)).startswith("Il n'y a pas de faces à heurter dans 'Nothing'")


@pytest.mark.slow
def test_tooltips_have_no_breaks_of_lines():
    assert [tip for tip in label_texts.words()[1] if "\n" in tip or "  " in tip] == []


def test_names_of_usd_and_units_in_tooltips_are_not_translated():
    for tip, texts in rows("tooltips.tsv").items():
        kept = set(re.findall(r"(?<=USD: )[\w:*]+| \([^ ()]+\)(?=\. USD)|\b\w+API\b|UsdPhysics", tip))
        assert all(name in text for name in kept for text in texts), tip


def test_translated_tooltips_differ_from_english_and_have_no_full_stop_at_their_end():
    """Blender ends tooltips with a full stop of its own."""
    for tip, texts in rows("tooltips.tsv").items():
        assert tip not in texts and not any(text.endswith(".") for text in texts if not tip.endswith("."))


def test_labels_of_buttons_are_not_cut():
    """English labels fit their place, and a translation may be longer by half, or by nine letters."""
    pairs = [(label, text) for label, texts in rows("labels.tsv").items() for text in texts]
    assert [pair for pair in pairs if len(pair[1]) > max(1.5 * len(pair[0]), len(pair[0]) + 9)] == []
    assert max(len(text) for _, text in pairs) <= LONGEST


@pytest.mark.parametrize("name", sorted(translations.FILES))
def test_a_file_has_each_text_once(name):
    """With a translation: a language that lacks one has nothing in its column."""
    lines = (ROOT / "operators" / name).read_text(encoding="utf-8").splitlines()
    assert max(line.count("\t") for line in lines) <= len(translations.LANGUAGES)
    assert len(rows(name)) == len(lines) > 100
    assert all(rows(name).values())
    assert all(text == text.strip() for texts in rows(name).values() for text in texts if name != "reports.tsv")


def test_a_text_that_a_language_does_not_have_is_shown_in_english(monkeypatch):
    lines = [["Cat", "Katze"], ["Dog", "", "Chien"], ["Cow"]]
    monkeypatch.setattr(translations, "lines", lambda name: lines if name == "labels.tsv" else [])
    assert translations.table("de_DE") == {("*", "Cat"): "Katze", ("Operator", "Cat"): "Katze"}
    assert translations.table("fr_FR") == {("*", "Dog"): "Chien", ("Operator", "Dog"): "Chien"}


def test_a_language_without_translations_reads_no_file(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("the file was read"))
    assert (
        translations.table("en_US") == {} and translations.table("it_IT") == {} and translations.table("zh_HANT") == {}
    )


@pytest.mark.parametrize("name", sorted(set(translations.OWN_FILES.values())))
def test_a_file_of_one_language_translates_the_labels(name):
    """None that is not used any more, none twice, and few that are left in English."""
    known, lines = rows("labels.tsv"), translations.lines(name)
    assert all(len(line) == 2 and line[1] for line in lines)
    # Parts of messages have spaces at their ends.
    assert [text for english, text in lines if text != text.strip() and english == english.strip()] == []
    translated = [line[0] for line in lines]
    assert len(set(translated)) == len(translated) and set(translated) <= {
        *known,
        *rows("tooltips.tsv"),
        *rows("reports.tsv"),
    }
    assert len(known.keys() & set(translated)) > 0.95 * len(known)
    for english, text in lines:
        assert all(word in text for word in re.findall(r"(?<=[.] USD: )[\w:*]+", english)), english
        assert sorted(re.findall(r"{[^}]*}", text)) == sorted(re.findall(r"{[^}]*}", english)), english


@pytest.mark.slow
@pytest.mark.parametrize(
    ("locale", "expected"),
    [("de_DE", "Starrkörper"), ("fr_FR", "Corps rigide"), ("ja_JP", "リジッドボディ"), ("zh_HANS", "刚体")],
)
def test_blender_shows_the_language_that_is_chosen(monkeypatch, locale, expected):
    registered = {}

    class Translations:
        def register(self, domain, words):
            assert not registered
            registered.update({domain: words})

        def unregister(self, domain):
            del registered[domain]

    known = Translations()
    known.locale = locale
    app = type("App", (), {"translations": known})
    monkeypatch.setattr(translations, "bpy", type("Blender", (), {"app": app}))
    translations.follow_language()
    ((_, words),) = registered.items()
    assert words[locale]["*", "Rigid Body"] == words[locale]["Operator", "Rigid Body"] == expected
    known.locale = "en_US"
    translations.follow_language()
    assert registered == {}


def test_none_of_a_motor_is_not_translated_as_a_word_for_many():
    """German and French words for "none" have the gender and number of what is missing."""
    choices = bpy.ops.usdphys.joint_add.get_rna_type().properties["motor"].enum_items
    words = {locale: translations.table(locale)["*", choices["NONE"].name] for locale in ("de_DE", "fr_FR")}
    assert words == {"de_DE": "Kein Motor", "fr_FR": "Pas de moteur"}


def test_no_line_begins_with_the_sign_that_french_sets_after_a_space():
    layout = LayoutRecorder()
    text = "Il n'y a rien où atterrir : tous les collisionneurs appartiennent à des corps qui tombent ; que faire ?"
    for length in range(12, 60):
        wrapped_text.draw_text(layout, text, "INFO", length=length)
    assert all(line[0] not in ":;?" for line in layout.labels())
    assert " ".join(layout.labels()[-2:]).replace("\N{NO-BREAK SPACE}", " ") == text


def test_names_of_what_opens_the_file_browser_fit_on_its_button():
    """It is 127 pixels wide, 5 of them on each side without text."""
    labels, found = rows("labels.tsv"), []
    blf.size(0, 11)
    for cls in operators.CLASSES:
        if not issubclass(cls, bpy.types.Operator):
            continue
        properties = getattr(bpy.ops.usdphys, cls.bl_idname.removeprefix("usdphys.")).get_rna_type().properties
        if {"filepath", "directory"} & {item.identifier for item in properties}:
            found += [cls.bl_label, *labels.get(cls.bl_label, ())]
    assert len(found) > 12
    assert [text for text in found if blf.dimensions(0, text)[0] > 117] == []
