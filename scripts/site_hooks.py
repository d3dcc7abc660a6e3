# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks of MkDocs: tables that fit, films that can stand still, and pages of files that lie beside docs/.

In tables long names get places at which they may break, and each cell knows its column: on a narrow window
`docs/style/manual.css` shows the cells of a row below each other, each below the name of its column.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Files of the repository that are pages of the site, too.
BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
#: Where a name may break: before a capital after a small letter, and after a sign that joins words.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[/_:.=|+])(?=\w)|(?<=\w)(?=\()")
#: Names shorter than this stay whole.
_LONG = re.compile(r"[^\s<>&]{11,}")
_TAG = re.compile(r"(<[^>]+>)")
_FILM = re.compile(r'<img ([^>]*)src="([^"]*)films/([^"]+)"([^>]*)>')


def on_files(files: Any, config: Any) -> Any:
    """Called by MkDocs with the list of files: adds the pages of `BESIDE`."""
    from mkdocs.structure.files import File

    for source, target in BESIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=moved(text)))
    return files


def moved(text: str) -> str:
    """A page of the repository's root as a page of docs/: links to what is not in docs/ become plain text."""

    def link(found: re.Match[str]) -> str:
        words, target = found.groups()
        if re.match(r"https?:|#", target):
            return found[0]
        if target in BESIDE:
            return f"[{words}]({BESIDE[target]})"
        return f"[{words}]({target.removeprefix('docs/')})" if target.startswith("docs/") else words

    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, text)


def on_page_content(text: str, **_others: Any) -> str:
    """Called by MkDocs with the HTML of each page."""
    text = re.sub(r"<table>.*?</table>", lambda found: _table(found[0]), text, flags=re.DOTALL)
    return _FILM.sub(_film, text)


def _film(found: re.Match[str]) -> str:
    """A film, in whose place a still picture is shown to readers who want no motion."""
    before, folder, name, after = found.groups()
    still = f'<source media="(prefers-reduced-motion: reduce)" srcset="{folder}stills/{name}">'
    return f'<picture>{still}<img {before}src="{folder}films/{name}"{after}></picture>'


def _table(text: str) -> str:
    heads = [re.sub(r"<[^>]+>", "", head) for head in re.findall(r"<th[^>]*>(.*?)</th>", text, re.DOTALL)]
    rows = re.sub(r"<tr>.*?</tr>", lambda found: _row(found[0], heads), text, flags=re.DOTALL)
    rows = "".join(part if number % 2 else breakable(part) for number, part in enumerate(_TAG.split(rows)))
    return rows.replace("<table>", f'<table class="columns-{min(len(heads), 3)}">', 1)


def _row(text: str, heads: list[str]) -> str:
    names: Iterator[str] = iter(heads)
    return re.sub(r"<td\b", lambda _: f'<td data-column="{html.escape(html.unescape(next(names, "")))}"', text)


def breakable(text: str) -> str:
    """Text of HTML in which long names may break at their seams."""
    return _LONG.sub(lambda found: _SEAM.sub("<wbr>", found[0]), text)
