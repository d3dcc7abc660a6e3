# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of the code that can be messages to the user, with nameless places for their values. Without Blender."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from usdphys_addon.core import tables  # noqa: E402
from usdphys_addon.core.words import counted, tally  # noqa: E402

#: The rules of the checks, of whose texts a window shows the fix.
RULES = "usdphys_addon/core/rules/rules.tsv"

#: Rooms and modules whose texts no window shows: the command line and what only it runs, the API, generated documents,
#: names of attributes, tables with own tests.
NOT_SHOWN = (
    "usdphys_addon/api/", "usdphys_addon/cli/", "usdphys_addon/__main__.py", "usdphys_addon/batch/",
    "usdphys_addon/system/isolate.py", "usdphys_addon/system/blender.py",
    "usdphys_addon/system/manual.py", "usdphys_addon/system/console.py", "usdphys_addon/core/schemas/",
    "usdphys_addon/core/common_materials.py", "usdphys_addon/core/validate.py", "usdphys_addon/core/model_fixes.py",
    "usdphys_addon/usd/fixing/", "usdphys_addon/usd/lengths.py", "usdphys_addon/usd/convex_parts.py",
    "usdphys_addon/usd/labels.py", "usdphys_addon/usd/tet_meshes.py",
    "usdphys_addon/usd/merge.py", "usdphys_addon/proving/page.py", "usdphys_addon/proving/opinions.py",
    "usdphys_addon/proving/library.py", "usdphys_addon/proving/expectations.py", "usdphys_addon/proving/certificate.py",
    "usdphys_addon/core/nearest.py",
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
    "UsageError", "ExpressionError", "tuned", "items_of",
}  # fmt: skip
#: Names of packages, code and the words of other programs.
NO_WORDS = {
    "ovphysx physx-usd-schemas newton-usd-schemas", "newton[sim] newton-usd-schemas usd-core scipy",
    '"newton[sim]" newton-usd-schemas usd-core scipy', "is not a valid usda layer", "uniform token[] xformOpOrder",
    'freejoint name="{}"', 'joint name="{}" type="free"{}', '{} gainprm="{}" gear="{}"',
    "physics:filteredPairs, xformOp", "drive moves", "mass, kg", "starts awake", "gravity, stage units/s²",
    "USD Physics limits",
    "'{}' names no variant; write it like '/Prim{set=choice}'.",
}  # fmt: skip
#: The position of the only text of a row of a table in the code that a window shows.
OF_ROWS = {"NoticeKind": 2}


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
        if place is not None:
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


def fixes() -> list[str]:
    """What each rule says to do, with nameless places."""
    return [shape(row["fix"]) for row in tables.rows(ROOT / RULES)]


def collect() -> tuple[dict[str, list[tuple[int, str]]], set[str]]:
    """The texts of each module that a window may show, and the templates of all counts."""
    found, counts = {RULES: list(enumerate(fixes(), 2))}, set()
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        if is_shown(name):
            collector = Texts()
            collector.visit(tree_of(path))
            found[name] = collector.found
            counts |= collector.counts
    return found, counts


def strings_of(path: Path) -> Iterator[str]:
    """All texts of a module, with nameless places."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield shape(node.value)
