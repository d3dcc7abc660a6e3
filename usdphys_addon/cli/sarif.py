# SPDX-License-Identifier: GPL-3.0-or-later
"""Issues as SARIF 2.1.0, which code scanning of GitHub and editors read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..system.addresses import addresses
from ..system.version import addon_version
from .file_checks import FileReport

if TYPE_CHECKING:
    from ..core.validate import Issue

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
#: At the beginning of a message: the file and line that an issue of a robot is at.
_PLACE = re.compile(r"([^:]+):([1-9]\d*): ")
#: The base of relative names, as GitHub calls it: the working folder, which is the root of the repository there.
_BASE = "%SRCROOT%"
#: The rule of a file that cannot be read.
UNREADABLE = "FileUnreadable"


def sarif(reports: Sequence[FileReport]) -> dict[str, Any]:
    """One run with a result for each issue. The base of relative names is the working folder."""
    codes: dict[str, int] = {}
    results = [result for report in reports for result in _results(report, codes)]
    results += [_unreadable(report, codes) for report in reports if report.error]
    run: dict[str, Any] = {
        "tool": {"driver": {**_program(), "rules": _rules(codes)}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": f"{Path.cwd().as_uri()}/"}},
        "artifacts": [{"location": _location_of(report.file)} for report in reports],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _program() -> dict[str, str]:
    website = addresses().get("website")
    known = {"informationUri": website} if website else {}
    return {"name": "usdphys", "version": addon_version(), **known}


def _rules(codes: dict[str, int]) -> list[dict[str, Any]]:
    from ..core import validate

    known = {row.code: (row.meaning, row.fix) for row in validate.issue_table()}
    known[UNREADABLE] = ("The file cannot be read.", "Correct the file or its name.")
    rules = []
    for code in codes:
        # GitHub takes no rule without all three texts; those of readers are in their messages alone.
        meaning, fix = known.get(code, (f"Reading the file has found {code}.", "Do what the message says."))
        texts = {"shortDescription": meaning, "fullDescription": meaning, "help": fix}
        rules.append({"id": code, **{key: {"text": text} for key, text in texts.items()}})
    return rules


def _results(report: FileReport, codes: dict[str, int]) -> Iterator[dict[str, Any]]:
    lines = _lines_of_prims(report.file) if report.found else {}
    for found in report.found:
        issue = found.issue
        place = {"artifactLocation": _location_of(report.file), "region": {"startLine": _line(report, issue, lines)}}
        location: dict[str, Any] = {"physicalLocation": place}
        if issue.path:
            name = issue.label or issue.path.rpartition("/")[2] or issue.path
            location["logicalLocations"] = [{"name": name, "fullyQualifiedName": issue.path, "kind": "prim"}]
        yield {
            "ruleId": issue.code,
            "ruleIndex": codes.setdefault(issue.code, len(codes)),
            "level": _LEVELS[issue.severity],
            "message": {"text": f"{issue.message} {issue.fix}".strip()},
            "locations": [location],
            "properties": {"targets": list(found.targets)},
        }


def _lines_of_prims(file: str) -> dict[str, int]:
    """The line of each prim of a USD file that is text, by path."""
    from ..usd.fixing import layer_text

    try:
        with Path(file).open("rb") as stream:
            if stream.read(5) != b"#usda":
                return {}
            return layer_text.lines_of_prims((b"#usda" + stream.read()).decode("utf-8", "replace"))
    except OSError:
        return {}


def _line(report: FileReport, issue: Issue, lines: dict[str, int]) -> int:
    """The line of an issue: as its message says, or of the nearest prim; 1, which GitHub wants, if nothing is known."""
    named = _PLACE.match(issue.message)
    if named is not None and named[1] == Path(report.file).name:
        return int(named[2])
    path = issue.path
    while path and path not in lines:
        path = path.rpartition("/")[0]
    return lines.get(path, 1)


def _unreadable(report: FileReport, codes: dict[str, int]) -> dict[str, Any]:
    return {
        "ruleId": UNREADABLE,
        "ruleIndex": codes.setdefault(UNREADABLE, len(codes)),
        "level": "error",
        "message": {"text": report.error},
        "locations": [
            {"physicalLocation": {"artifactLocation": _location_of(report.file), "region": {"startLine": 1}}}
        ],
    }


def _location_of(file: str) -> dict[str, str]:
    """A file relative to the working folder, or as an absolute URI where it is outside of that."""
    path = Path(os.path.abspath(file))  # noqa: PTH100 - a link is named as the user has named it
    uri, base = path.as_uri(), f"{Path.cwd().as_uri().rstrip('/')}/"
    return {"uri": uri.removeprefix(base), "uriBaseId": _BASE} if uri.startswith(base) else {"uri": uri}
