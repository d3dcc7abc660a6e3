# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels in German and French: none is missing, none is stale, and none is much longer than its English one."""

import ast
from pathlib import Path

import bpy
import pytest
from usdphys_ext.operators import translations
from usdphys_ext.usdphys_addon.core.common_materials import MATERIALS

ROOT = Path(__file__).resolve().parents[2]
#: Names of formats and simulators, USD's own names, parts of sentences and units, and labels that are never drawn.
SAME = {
    "USD Physics", "KHR", "OMI", "glTF", "Newton", "PhysX", "MuJoCo", "USD", "USDA", "USDC", "USDZ", "ABS", "PLA",
    "PTFE", "X", "Y", "Z",
    "USD Physics (.usd, .usda, .usdc, .usdz)", "URDF (.urdf)", "URDF / Xacro (.urdf, .xacro)",
    "transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance",
    "linear", "angular", "Filepath", "Rigid body", "Articulation root", "Filtered pairs", "Physics material",
    "Is the Object's Geometry",
}  # fmt: skip
LONGEST = 60


def is_group(kind):
    return kind.base is not None and kind.base.identifier == "PropertyGroup"


def of_properties(kind, found, seen):
    if kind.identifier in seen:
        return
    seen.add(kind.identifier)
    for prop in kind.properties:
        if prop.identifier == "rna_type" or prop.is_hidden or (kind.base and prop.identifier in kind.base.properties):
            continue
        # Without a name of its own a property has its identifier, and is drawn with another text or not at all.
        if prop.name != prop.identifier:
            found.add(prop.name)
        if prop.type == "ENUM":
            found |= {item.name for item in prop.enum_items if item.name != item.identifier}
        if prop.type in ("POINTER", "COLLECTION") and is_group(prop.fixed_type):
            of_properties(prop.fixed_type, found, seen)


def of_source():
    """Texts that panels and menus draw, but for parts of formatted ones."""
    for folder in ("panels", "operators"):
        for path in (ROOT / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg == "text":
                    yield from constants(node.value)


def constants(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def labels():
    found, seen = set(of_source()), set()
    for name in dir(bpy.types):
        cls = getattr(bpy.types, name)
        if name.startswith("USDPHYS_") and issubclass(cls, bpy.types.Panel | bpy.types.Menu):
            found.add(cls.bl_label)
    for name in dir(bpy.ops.usdphys):
        kind = getattr(bpy.ops.usdphys, name).get_rna_type()
        found.add(kind.name)
        of_properties(kind, found, seen)
    for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.Material, bpy.types.WindowManager):
        for prop in owner.bl_rna.properties:
            if prop.identifier.startswith("usdphys") and prop.type == "POINTER":
                of_properties(prop.fixed_type, found, seen)
    return {label for label in found if any(letter.isalpha() for letter in label)}


@pytest.mark.parametrize("language", sorted(translations.LANGUAGES))
def test_every_label_is_translated(language):
    words = translations.table(language)
    assert sorted(label for label in labels() if label not in SAME and ("*", label) not in words) == []
    assert all(text and text == text.strip() for text in words.values())


@pytest.mark.parametrize("language", sorted(translations.LANGUAGES))
def test_labels_of_buttons_are_not_cut(language):
    """English labels fit their place, and a translation may be longer by half, or by nine letters."""
    words = translations.table(language)
    cut = [
        (label, text) for (context, label), text in words.items()
        if context == "*" and len(text) > max(1.5 * len(label), len(label) + 9)
    ]  # fmt: skip
    assert cut == [] and max(map(len, words.values())) <= LONGEST


def test_the_file_has_each_label_once_with_every_language():
    lines = (ROOT / "operators" / "labels.tsv").read_text(encoding="utf-8").splitlines()
    assert {len(line.split("\t")) for line in lines} == {1 + len(translations.LANGUAGES)}
    assert len({line.split("\t")[0] for line in lines}) == len(lines) > 300
    assert {preset.name for preset in MATERIALS} - SAME <= {line.split("\t")[0] for line in lines}


def test_a_language_without_translations_reads_no_file(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("the file was read"))
    assert translations.table("en_US") == {} and translations.table("ja_JP") == {}


@pytest.mark.parametrize(("locale", "expected"), [("de_DE", "Starrkörper"), ("fr_FR", "Corps rigide")])
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
