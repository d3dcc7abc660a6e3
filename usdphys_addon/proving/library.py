# SPDX-License-Identifier: GPL-3.0-or-later
"""The index page of a folder of reports: a picture, the verdict and what is wrong first of each asset."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.words import counted
from . import page
from .certificate import ORDER

#: Name of the index in its folder.
NAME = "index.html"
_SUMMARY = re.compile(r'<script type="application/json" id="summary">(.*?)</script>', re.DOTALL)
_STILL = re.compile(r'<svg class="still".*?</svg>', re.DOTALL)


def index(folder: Path) -> tuple[str, Counter[str]]:
    """(page, number of assets by verdict) of the reports in a folder and below. Raises InputError without any."""
    rows = [row for file in sorted(folder.rglob("*.html")) if (row := _row_of(file, folder)) is not None]
    if not rows:
        raise InputError(f"'{folder}' holds no reports; write some with 'usdphys report ASSET -o {folder}/ASSET.html'.")
    rows.sort(key=lambda row: ORDER.index(row["verdict"]))
    counts = Counter(str(row["verdict"]) for row in rows)
    told = ", ".join(f"{counts[status]} {page.WORDS[status]}" for status in ORDER if counts[status])
    headings = ("Picture", "Asset", "Verdict", "Found first", "Cause", "Checks")
    table = page.table(headings, [_cells(row) for row in rows], none="")
    return page.document(
        "Library", f"{counted(len(rows), 'asset')}: {told}",
        f'<header><h1>Library</h1><p>{counted(len(rows), "asset")}: {told}.</p></header>\n'
        f'<main class="library">{table}</main>',
    ), counts  # fmt: skip


def _row_of(file: Path, folder: Path) -> dict[str, Any] | None:
    """What a report says of itself; None for another page."""
    text = file.read_text(encoding="utf-8", errors="replace")
    found = _SUMMARY.search(text)
    if found is None or file.name == NAME:
        return None
    try:
        row = json.loads(found[1])
    except ValueError:
        return None
    if not isinstance(row, dict) or row.get("verdict") not in ORDER:
        return None
    picture = _STILL.search(text)
    return row | {"page": file.relative_to(folder).as_posix(), "picture": picture[0] if picture else ""}


def _cells(row: dict[str, Any]) -> list[object]:
    link = html.escape(page.url_of(row["page"]), quote=True)
    name = html.escape(str(row.get("file", row["page"])))
    status = row["verdict"]
    counts = row.get("counts", {})
    numbers = ", ".join(f"{counts[one]} {page.WORDS[one]}" for one in ORDER if counts.get(one))
    return [
        page.Html(f'<a href="{link}" tabindex="-1" aria-hidden="true">{row["picture"]}</a>'),
        page.Html(f'<a href="{link}">{name}</a>'),
        page.Html(f'<span class="verdict {status}">{page.WORDS[status]}</span>'),
        row.get("found") or page.NONE, row.get("cause") or page.NONE, numbers or page.NONE,
    ]  # fmt: skip
