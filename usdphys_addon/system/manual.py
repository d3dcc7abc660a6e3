# SPDX-License-Identifier: GPL-3.0-or-later
"""The bundled manual as web pages: the Markdown that docs/ is written in, with its pictures; films stand still."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

#: The Markdown files, in the tree and in the installed extension.
SOURCE = Path(__file__).resolve().parents[2] / "docs"
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 sans-serif;max-width:64em;margin:2em auto;padding:0 1em;overflow-wrap:break-word}"
    "code,pre{background:#8882;font-size:90%}pre{padding:.6em;overflow:auto}"
    "table{border-collapse:collapse}td,th{border:1px solid #8888;padding:.3em .6em;text-align:left;vertical-align:top}"
    "table{display:block;max-width:100%;overflow-x:auto;font-size:92%}"
    "img{display:block;max-width:100%;height:auto;margin:1em 0}"
)
#: The folders of pictures that pages show; `films` move, and are bundled as still pictures only.
_PICTURES, _FILMS, _STILLS = "pictures", "films", "stills"
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
#: A part of a page that links to what only the repository and the site have.
_NOT_BUNDLED = re.compile(r"^<!-- not in the zip -->\n.*?^<!-- /not in the zip -->\n", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^(\s*)([-*]|\d+\.) +(.*)$")


def write(folder: Path) -> Path:
    """Write all pages and pictures into a folder. Returns the page of the start."""
    for name in (_PICTURES, _STILLS):
        if (SOURCE / name).is_dir():
            shutil.copytree(SOURCE / name, folder / name, dirs_exist_ok=True)
    for source in sorted(SOURCE.rglob("*.md")):
        target = (folder / source.relative_to(SOURCE)).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        start = "../" * (len(source.relative_to(SOURCE).parts) - 1) + "index.html"
        target.write_text(page(bundled(source.read_text(encoding="utf-8")), start), encoding="utf-8")
    return folder / "index.html"


def bundled(text: str) -> str:
    """A page of Markdown without the parts that are not for the zips."""
    return _NOT_BUNDLED.sub("", text)


def page(text: str, start: str) -> str:
    """A page of Markdown as HTML. start: link to the start of the manual."""
    body = "\n".join(_blocks(text.splitlines()))
    title = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "USD Physics")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<style>{_STYLE}</style></head><body><p><a href="{start}">USD Physics: start of the manual</a></p>\n'
        f"{body}\n</body></html>\n"
    )


def anchor(heading: str) -> str:
    """The name of a heading in links, as Markdown tools make it."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("```"):
            end = next((row for row in range(at, len(lines)) if lines[row].startswith("```")), len(lines))
            yield f"<pre>{html.escape(chr(10).join(lines[at:end]), quote=False)}</pre>"
            at = end + 1
        elif heading := re.match(r"(#{1,6}) +(.*)", line):
            level, words = len(heading[1]), heading[2]
            yield f'<h{level} id="{anchor(words)}">{_inline(words)}</h{level}>'
        elif _ROW.match(line):
            end = at
            while end < len(lines) and _ROW.match(lines[end]):
                end += 1
            yield _table(lines[at - 1 : end])
            at = end
        elif _ITEM.match(line):
            end = at
            while end < len(lines) and lines[end].strip() and not lines[end].startswith("#"):
                end += 1
            yield _list(lines[at - 1 : end])
            at = end
        elif line.strip():
            end = at
            while end < len(lines) and lines[end].strip() and not re.match(r"#|```|\||[-*] |\d+\. ", lines[end]):
                end += 1
            yield f"<p>{_inline(' '.join(lines[at - 1 : end]))}</p>"
            at = end


def _table(lines: list[str]) -> str:
    rows = []
    for number, line in enumerate(lines):
        if _RULE.match(line):
            continue
        match = _ROW.match(line)
        cells = re.split(r"(?<!\\)\|", match[1] if match else "")
        kind = "th" if number == 0 else "td"
        rows.append("".join(f"<{kind}>{_inline(cell.strip())}</{kind}>" for cell in cells))
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _list(lines: list[str]) -> str:
    """Items of one list; items below items are items of the same list."""
    number = re.match(r"\s*(\d+)", lines[0])
    kind = "ol" if number else "ul"
    items: list[str] = []
    for line in lines:
        match = _ITEM.match(line)
        if match:
            items.append(match[3])
        else:
            items[-1] += " " + line.strip()
    # A picture between two steps ends a list; the next one goes on counting.
    start = f' start="{number[1]}"' if number and number[1] != "1" else ""
    return f"<{kind}{start}>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + f"</{kind}>"


def _inline(text: str) -> str:
    """Code, links, pictures and emphasis within a line."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"<code>{html.escape(part[1:-1], quote=False)}</code>" if number % 2 else _words(part)
        for number, part in enumerate(parts)
    )


def _words(text: str) -> str:
    text = html.escape(text.replace("\\|", "|"), quote=False)
    text = re.sub(r"!\[([^\]]*)\]\(([^)]*)\)", _picture, text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda found: f'<a href="{_target(found[2])}">{found[1]}</a>', text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<i>\1</i>", text)


def _picture(found: re.Match[str]) -> str:
    words, target = found.groups()
    parts = target.split("/")
    if len(parts) > 1 and parts[-2] == _FILMS:
        parts[-2] = _STILLS
    return f'<img src="{"/".join(parts)}" alt="{words.replace(chr(34), "&quot;")}">'


def _target(link: str) -> str:
    return re.sub(r"\.md(?=$|#)", ".html", link)
