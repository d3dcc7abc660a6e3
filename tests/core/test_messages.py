"""Messages in German and French: none that a window can show is missing, none is stale, values stay in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.words import Templates, counted, in_language, joined, phrase, tally

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("labels.tsv", "tooltips.tsv", "reports.tsv")
#: Rooms and modules whose texts no window shows: the command line, the API, generated documents, tables with own tests.
NOT_SHOWN = (
    "usdphys_addon/api/", "usdphys_addon/cli/", "usdphys_addon/__main__.py", "usdphys_addon/batch/",
    "usdphys_addon/system/isolate.py", "usdphys_addon/system/blender.py",
    "usdphys_addon/system/manual.py", "usdphys_addon/system/console.py", "usdphys_addon/core/schemas/",
    "usdphys_addon/core/concepts.py", "usdphys_addon/core/common_materials.py", "usdphys_addon/core/validate.py",
    "usdphys_addon/core/model_fixes.py", "usdphys_addon/usd/fixing/",
)  # fmt: skip
#: Details of what is wrong inside of a robot's or a glTF file, in English: they name elements of these formats.
NOT_SHOWN += ("usdphys_addon/urdf/", "usdphys_addon/gltf/")
#: What an export leaves out of the user's scene, and what an import keeps, are about the scene.
SHOWN = (
    "usdphys_addon/batch/background.py", "usdphys_addon/batch/plans.py", "usdphys_addon/gltf/write",
    "usdphys_addon/gltf/additions.py", "usdphys_addon/gltf/unsaid.py", "usdphys_addon/gltf/read.py",
    "usdphys_addon/urdf/build.py", "usdphys_addon/urdf/tree.py",
)  # fmt: skip
#: Calls whose texts are for programmers, for the console, or labels that the tests with Blender look at.
NOT_MESSAGES = {
    "ValueError", "AttributeError", "RuntimeError", "TypeError", "note", "print", "make_group", "compile", "search",
    "findall", "fullmatch", "sub", "BoolProperty", "EnumProperty", "StringProperty", "FloatProperty", "IntProperty",
    "UsageError", "ExpressionError",
}  # fmt: skip
#: Names of packages, code and the words of other programs.
NO_WORDS = {
    "ovphysx physx-usd-schemas newton-usd-schemas", "newton[sim] newton-usd-schemas usd-core scipy",
    '"newton[sim]" newton-usd-schemas usd-core scipy', "is not a valid usda layer", "uniform token[] xformOpOrder",
    "'{}' names no variant; write it like '/Prim{set=choice}'.",
}  # fmt: skip
#: The position of the only text of a row of a table that a window shows.
OF_ROWS = {"rule": "fix", "NoticeKind": 2}


def shape(text: str) -> str:
    """A template without the names and formats of its places."""
    return re.sub(r"\{[^{}]*\}", "{}", text)


def is_sentence(text: str) -> bool:
    """Words beside the values, and more than a name: "Base Color" is one, "a box" is none."""
    if len(re.findall("[A-Za-z]{2,}", text)) < 2 or re.search(r"[\\|\n<]|^import |^for name", text):
        return False
    return bool(re.search(r"[A-Za-z,;:'.x)] [a-z(]{2,}", text.replace("{}", "x")))


class Texts(ast.NodeVisitor):
    """Collects the texts of a module that can be messages: (line, template with nameless places)."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.counts: set[str] = set()

    def _without_docstring(self, node: ast.Module | ast.ClassDef | ast.FunctionDef) -> None:
        for index, part in enumerate(node.body):
            if not (index == 0 and isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)):
                self.visit(part)

    def visit_Module(self, node: ast.Module) -> None:
        self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._without_docstring(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults):
            self.visit(part)
        self._without_docstring(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        place = OF_ROWS.get(name)
        if name == "phrase" and isinstance(node.args[0], ast.Constant) and is_sentence(shape(str(node.args[0].value))):
            self.counts.add(str(node.args[0].value))
        if name in ("counted", "tally") and isinstance(node.args[1], ast.Constant):
            kind = str(node.args[1].value)
            counts = (counted(1, kind), counted(2, kind)) if name == "counted" else (tally(1, kind), tally(2, kind))
            self.counts |= {count.template for count in counts}  # type: ignore[attr-defined]
            return
        if isinstance(place, str):
            self.visit(next(word.value for word in node.keywords if word.arg == place))
        elif isinstance(place, int):
            for part in node.args[place:]:
                self.visit(part)
        elif name not in NOT_MESSAGES:
            self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
        self.found.append((node.lineno, "".join(str(part) for part in parts)))
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.append((node.lineno, shape(node.value)))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def modules() -> list[Path]:
    files = [
        *ROOT.glob("*.py"),
        *ROOT.glob("panels/*.py"),
        *ROOT.glob("operators/**/*.py"),
        *ROOT.glob("usdphys_addon/**/*.py"),
    ]
    return sorted(files)


def is_shown(name: str) -> bool:
    return name.startswith(SHOWN) or not name.startswith(NOT_SHOWN)


def collect() -> tuple[dict[str, list[tuple[int, str]]], set[str]]:
    """The texts of each module that a window may show, and the templates of all counts."""
    found, counts = {}, set()
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        if is_shown(name):
            collector = Texts()
            collector.visit(tree_of(path))
            found[name] = collector.found
            counts |= collector.counts
    return found, counts


@pytest.fixture(scope="module")
def code() -> tuple[dict[str, list[tuple[int, str]]], set[str]]:
    return collect()


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (ROOT / "operators" / name).read_text(encoding="utf-8").splitlines()]


def strings_of(path: Path) -> Iterator[str]:
    """All texts of a module, with nameless places."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield shape(node.value)


def known_shapes() -> set[str]:
    return {shape(row[0]) for name in TABLES for row in rows(name)}


def missing(texts: dict[str, list[tuple[int, str]]]) -> Iterator[str]:
    known = known_shapes() | NO_WORDS
    for module, found in texts.items():
        yield from (f"{module}:{line} {text}" for line, text in found if is_sentence(text) and text not in known)


def test_no_message_that_a_window_shows_is_english_only(
    code: tuple[dict[str, list[tuple[int, str]]], set[str]],
) -> None:
    texts, counts = code
    assert list(missing(texts)) == []
    # A phrase is looked up by its exact template.
    assert sorted(counts - {row[0] for name in TABLES for row in rows(name)}) == []


def test_a_message_without_a_translation_is_found() -> None:
    source = (
        'def f(name):\n    """Not this text of a module."""\n    raise InputError(f"{name} is quite another thing.")\n'
    )
    collector = Texts()
    collector.visit(ast.parse(source))
    assert list(missing({"a.py": collector.found})) == ["a.py:3 {} is quite another thing."]


def test_no_translation_of_a_message_is_stale() -> None:
    """Counts are made of any word: `counted` and `tally` are called with words of tables, too."""
    used = {shape(text) for path in modules() for text in strings_of(path)}
    nouns = {text for text in used if re.fullmatch("[a-z ]+", text)}
    used |= {shape(count(number, noun)).replace(str(number), "{}", 1)
             for noun in nouns for number in (1, 2) for count in (counted, tally)}  # fmt: skip
    assert (
        sorted(
            {row[0] for row in rows("reports.tsv")} - {row[0] for row in rows("reports.tsv") if shape(row[0]) in used}
        )
        == []
    )


def test_translated_messages_have_the_values_of_the_english_one() -> None:
    def places(text: str) -> list[str]:
        return sorted(re.findall(r"\{[^{}]*\}", text))

    assert [row[0] for row in rows("reports.tsv") if any(places(text) != places(row[0]) for text in row[1:])] == []


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
    texts = [row[0] for row in rows("reports.tsv")]
    known = Templates(texts)
    wrong = []
    for text in texts:
        message = re.sub(r"\{(\w+)[^{}]*\}", r"<\1>", text)
        found = known.find(message)
        if found is None or shape(found[0]) != shape(text):
            wrong.append((text, found and found[0]))
    assert wrong == []
