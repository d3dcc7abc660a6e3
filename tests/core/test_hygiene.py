"""Tests use what is public and what is there.

A private name may change or go at any time, and no behaviour with it. A name that a module of tests imports and that
its source has lost would be seen in Blender only, where it ends the run of all tests.
"""

from __future__ import annotations

import ast
import functools
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


def module_of(node: ast.ImportFrom, path: Path) -> Path | None:
    """The folder or the module, without its suffix, that names are imported from; None outside of the repository."""
    if node.level:
        base = path.parents[node.level - 1]
    elif (node.module or "").split(".")[0] == PRODUCT:
        base = TESTS.parent
    else:
        return None
    parts = (node.module or "").split(".") if node.module else []
    return base.joinpath(*(parts if node.level else parts[1:]))


def defines(module: Path, name: str) -> bool:
    """Whether `from module import name` finds it: a module of a folder, or what a module binds itself."""
    if any((module / name).with_suffix(suffix).exists() for suffix in ("", ".py")):
        return True
    source = module.with_suffix(".py") if module.with_suffix(".py").exists() else module / "__init__.py"
    return source.exists() and bool({name, "__getattr__"} & bound_in(source))


@functools.cache
def bound_in(source: Path) -> frozenset[str]:
    """Names that the statements of a module bind anywhere outside of its functions and classes."""
    found: set[str] = set()
    left: list[ast.AST] = [ast.parse(source.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        left.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def lost_imports(path: Path, source: str) -> list[str]:
    """ "line: name" for each name that a module imports from a file of this repository that has no such name."""
    lost = []
    for node in ast.walk(ast.parse(source)):
        module = module_of(node, path) if isinstance(node, ast.ImportFrom) else None
        if module is not None:
            lost += [f"{node.lineno}: {alias.name}" for alias in node.names if not defines(module, alias.name)]
    return lost


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("from .test_hygiene import defines, TESTS, ast", []),
        ("from .test_hygiene import what_was_renamed", ["1: what_was_renamed"]),
        ("from . import test_hygiene", []),
        ("from ..blender import scenes", []),
        ("from . import scenes", ["1: scenes"]),
        ("def later():\n    from .test_gone import what", ["2: what"]),
        (f"from {PRODUCT}.usdphys_addon import core", []),
        (f"from {PRODUCT}.usdphys_addon.core import frames, no_such_module", ["1: no_such_module"]),
        ("from elsewhere import anything", []),
    ],
)
def test_an_import_of_what_is_not_there_is_found(line: str, lost: list[str]) -> None:
    assert lost_imports(Path(__file__), line) == lost


def test_tests_import_what_is_there() -> None:
    found = {path.relative_to(TESTS).as_posix(): lost_imports(path, path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}
