# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the code itself ask of a Python file, which is parsed once for all of them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Parsed(NamedTuple):
    """imports, classes: wherever they are, in functions as well. top: those of them that are not inside another."""

    imports: list[ast.Import | ast.ImportFrom]
    classes: list[ast.ClassDef]
    top: list[ast.Import | ast.ImportFrom | ast.ClassDef]

    def modules(self) -> set[str]:
        """Names of modules from outside of the package."""
        found = {alias.name for node in self.imports if isinstance(node, ast.Import) for alias in node.names}
        return found | {
            node.module or "" for node in self.imports if isinstance(node, ast.ImportFrom) and not node.level
        }


@cache
def parsed(path: Path) -> Parsed:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = Parsed([], [], [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef)])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.append(node)
        elif isinstance(node, ast.ClassDef):
            found.classes.append(node)
    return found
