# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables beside the code: a row a line, with tabs between the columns, whose names are in the first line."""

from __future__ import annotations

from pathlib import Path


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table, as texts by the name of the column. Raises ValueError for a row with other columns."""
    names, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [dict(zip(names, line, strict=True)) for line in lines]
