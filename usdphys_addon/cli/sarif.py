# SPDX-License-Identifier: GPL-3.0-or-later
"""Issues as SARIF 2.1.0, which code scanning of GitHub and editors read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .file_checks import FileReport, Found

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
    results = [_result(report, found, codes) for report in reports for found in report.found]
    results += [_unreadable(report, codes) for report in reports if report.error]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "usdphys", "rules": _rules(codes)}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"uri": f"{Path.cwd().as_uri()}/"}},
        "artifacts": [{"location": _location_of(report.file)} for report in reports],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules(codes: dict[str, int]) -> list[dict[str, Any]]:
    from ..core import validate

    known = {row.code: row for row in validate.issue_table()}
    rules = []
    for code in codes:
        rule: dict[str, Any] = {"id": code, "name": code}
        if code in known:
            rule["shortDescription"] = {"text": known[code].meaning}
            rule["help"] = {"text": known[code].fix}
        elif code == UNREADABLE:
            rule["shortDescription"] = {"text": "The file cannot be read."}
        rules.append(rule)
    return rules


def _result(report: FileReport, found: Found, codes: dict[str, int]) -> dict[str, Any]:
    issue = found.issue
    place: dict[str, Any] = {"artifactLocation": _location_of(report.file)}
    named = _PLACE.match(issue.message)
    if named is not None and named[1] == Path(report.file).name:
        place["region"] = {"startLine": int(named[2])}
    location: dict[str, Any] = {"physicalLocation": place}
    if issue.path:
        name = issue.label or issue.path.rpartition("/")[2] or issue.path
        location["logicalLocations"] = [{"name": name, "fullyQualifiedName": issue.path, "kind": "prim"}]
    return {
        "ruleId": issue.code,
        "ruleIndex": codes.setdefault(issue.code, len(codes)),
        "level": _LEVELS[issue.severity],
        "message": {"text": f"{issue.message} {issue.fix}".strip()},
        "locations": [location],
        "properties": {"targets": list(found.targets)},
    }


def _unreadable(report: FileReport, codes: dict[str, int]) -> dict[str, Any]:
    return {
        "ruleId": UNREADABLE,
        "ruleIndex": codes.setdefault(UNREADABLE, len(codes)),
        "level": "error",
        "message": {"text": report.error},
        "locations": [{"physicalLocation": {"artifactLocation": _location_of(report.file)}}],
    }


def _location_of(file: str) -> dict[str, str]:
    """A file relative to the working folder, or as an absolute URI where it is outside of that."""
    path = Path(os.path.abspath(file))  # noqa: PTH100 - a link is named as the user has named it
    uri, base = path.as_uri(), f"{Path.cwd().as_uri().rstrip('/')}/"
    return {"uri": uri.removeprefix(base), "uriBaseId": _BASE} if uri.startswith(base) else {"uri": uri}
