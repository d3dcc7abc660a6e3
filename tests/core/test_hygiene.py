"""Tests use what is public: a private name may change or go at any time, and no behaviour with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PRODUCT = "usdphys_ext"
FILES = sorted(TESTS.rglob("*.py"))
#: Private names of others, without a public way to the same: the end of a process that bpy would let hang, and what
#: add-ons have put into a menu.
OF_OTHERS = {"_exit", "_draw_funcs"}
#: Functions whose second argument names an attribute.
BY_NAME = {"setattr", "getattr", "delattr", "hasattr"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_OTHERS


def private_names(source: str) -> list[str]:
    """ "line: name" for each private name of something else that a module reads, replaces or imports."""
    return [f"{line}: {name}" for line, name in sorted(_found(ast.parse(source)))]


def _found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            # What a class of the test keeps for itself is its own.
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PRODUCT):
            for part in [*node.module.split("."), *(alias.name for alias in node.names)]:
                if is_private(part):
                    yield node.lineno, part
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for argument in node.args[:2] if called in BY_NAME else ():
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    for part in argument.value.split("."):
                        if is_private(part):
                            yield node.lineno, part


@pytest.mark.parametrize(
    "line",
    [
        "world._spaces[0].handles",
        "overlay._failed = False",
        "from usdphys_ext.usdphys_addon.viewport.readout import _compute",
        "from usdphys_ext.usdphys_addon._inner import value",
        'monkeypatch.setattr(readout, "_KEEP", 0.0)',
        'monkeypatch.setattr("usdphys_ext.usdphys_addon.viewport.readout._KEEP", 0.0)',
        'getattr(readout, "_KEEP")',
        'monkeypatch.delattr(readout, "_KEEP")',
    ],
)
def test_a_private_name_is_found(line: str) -> None:
    assert len(private_names(line)) == 1


@pytest.mark.parametrize(
    "line",
    ["self._timer = None", "world.__class__", "os._exit(0)", "_helper(1)", 'monkeypatch.setattr(readout, "KEEP", 0.0)'],
)
def test_what_is_public_or_of_the_test_itself_is_left_alone(line: str) -> None:
    assert private_names(line) == []


def test_tests_use_no_private_names() -> None:
    assert len(FILES) > 50
    found = {path.relative_to(TESTS).as_posix(): private_names(path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}
