# SPDX-License-Identifier: GPL-3.0-or-later
"""The code of the solver's room asks methods of the solver and never takes one for its answer.

Mypy does not see that: what the solver hands over is of no type there.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest
import rapier3d

PACKAGE = Path(__file__).resolve().parents[2] / "usdphys_addon"
ROOM = PACKAGE / "simulation" / "rapier"


@cache
def names_of_methods() -> set[str]:
    """Those that are methods in every class of the solver that has them."""
    classes = [item for item in vars(rapier3d).values() if inspect.isclass(item)]
    members = [(name, inspect.isroutine(item)) for each in classes for name, item in vars(each).items()]
    return {name for name, is_method in members if is_method} - {name for name, is_method in members if not is_method}


def names_of_own_values() -> set[str]:
    """Attributes of our own classes that hold a value."""
    found = set()
    for path in (*ROOM.glob("*.py"), *ROOM.parent.glob("*.py"), *(PACKAGE / "core").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.FunctionDef) and node.decorator_list:
                found.add(node.name)
    return found


def taken_for_answers(code: str, own: set[str]) -> list[str]:
    """Methods that are compared, calculated with or asked for their truth without a call. own: other attributes."""
    found, methods = [], names_of_methods() - own
    for node in ast.walk(ast.parse(code)):
        values: list[ast.expr] = []
        match node:
            case ast.Compare():
                values = [node.left, *node.comparators]
            case ast.BinOp():
                values = [node.left, node.right]
            case ast.UnaryOp():
                values = [node.operand]
            case ast.BoolOp():
                values = node.values
            case ast.If() | ast.IfExp() | ast.While():
                values = [node.test]
        found += [value.attr for value in values if isinstance(value, ast.Attribute) and value.attr in methods]
    return found


@pytest.mark.slow
def test_no_method_of_the_solver_is_taken_for_its_answer() -> None:
    own = names_of_own_values()
    assert {"num_points", "num_solver_contacts", "total_impulse_magnitude"} <= names_of_methods() - own
    wrong = {path.name: taken_for_answers(path.read_text(encoding="utf-8"), own) for path in ROOM.glob("*.py")}
    assert {name: names for name, names in wrong.items() if names} == {}


@pytest.mark.parametrize(
    "code", ["hull.num_points < 3", "1 + hull.num_points", "x if hull.num_points else y", "a and hull.num_points"]
)
def test_a_method_that_is_not_called_is_found(code: str) -> None:
    assert taken_for_answers(code, set()) == ["num_points"]


def test_a_method_that_is_called_or_handed_on_is_no_fault() -> None:
    assert taken_for_answers("hull.num_points() < 3 and list(map(hull.num_points, x))", set()) == []
