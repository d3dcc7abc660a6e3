# SPDX-License-Identifier: GPL-3.0-or-later
"""JUnit XML, which Jenkins, GitLab and others show.

Of issues: a test suite for each file, a test case for each code. Of a certificate: one for each section and check.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from .file_checks import FileReport, Found

if TYPE_CHECKING:
    from ..proving.certificate import Certificate, Check

#: What XML 1.0 does not take, not even as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(reports: Sequence[FileReport], bar: Sequence[str]) -> str:
    """The text. bar: severities that fail; issues of others are the output of a test case that passes.

    A file without any issue has one test case that passes, and one that cannot be read has one with an error.
    """
    root = ElementTree.Element("testsuites", name="usdphys validate")
    totals = [0, 0, 0]
    for report in reports:
        suite = ElementTree.SubElement(root, "testsuite", name=_text(report.file))
        numbers = _fill(suite, report, bar)
        for name, number in zip(("tests", "failures", "errors"), numbers, strict=True):
            suite.set(name, str(number))
        suite.set("skipped", "0")
        totals = [total + number for total, number in zip(totals, numbers, strict=True)]
    for name, total in zip(("tests", "failures", "errors"), totals, strict=True):
        root.set(name, str(total))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _fill(suite: ElementTree.Element, report: FileReport, bar: Sequence[str]) -> tuple[int, int, int]:
    """Add the test cases of a file. Returns the numbers of tests, failures and errors."""
    if report.error:
        failed = ElementTree.SubElement(_case(suite, report, "read"), "error", message=_text(report.error))
        failed.set("type", "FileUnreadable")
        return 1, 0, 1
    by_code: dict[str, list[Found]] = {}
    for found in report.found:
        by_code.setdefault(found.issue.code, []).append(found)
    failures = 0
    for code, some in by_code.items():
        case = _case(suite, report, code)
        bad = [found for found in some if found.issue.severity in bar]
        if bad:
            failures += 1
            message = _text(bad[0].issue.message)
            failure = ElementTree.SubElement(case, "failure", message=message, type=bad[0].issue.severity)
            failure.text = _lines(some)
        else:
            ElementTree.SubElement(case, "system-out").text = _lines(some)
    if not by_code:
        _case(suite, report, "no issues")
    return max(1, len(by_code)), failures, 0


def _case(suite: ElementTree.Element, report: FileReport, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname=_text(report.file), name=name, file=_text(report.file))


def _lines(some: Sequence[Found]) -> str:
    return "\n".join(
        _text(f"{found.issue.severity}: {found.issue.message} {found.issue.fix}".rstrip()) for found in some
    )


def _text(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def of_certificate(certificate: Certificate) -> str:
    """A certificate as JUnit XML: a test suite for each section, a test case for each check."""
    root = ElementTree.Element("testsuites", name="usdphys prove")
    sections: dict[str, list[Check]] = {}
    for check in certificate.checks:
        sections.setdefault(check.section, []).append(check)
    for section, checks in sections.items():
        suite = ElementTree.SubElement(root, "testsuite", name=_text(f"{certificate.file}: {section}"))
        for check in checks:
            name = f"{check.name} {check.path}".rstrip()
            case = ElementTree.SubElement(
                suite, "testcase", classname=_text(f"{certificate.file}.{section}"), name=_text(name),
                file=_text(certificate.file),
            )  # fmt: skip
            if check.status == "fail":
                failure = ElementTree.SubElement(case, "failure", message=_text(check.message), type=check.name)
                failure.text = _text(check.line())
            elif check.status == "skipped":
                ElementTree.SubElement(case, "skipped", message=_text(check.message))
            elif check.status != "pass":
                ElementTree.SubElement(case, "system-out").text = _text(check.line())
        _count(suite, checks)
    _count(root, certificate.checks)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _count(element: ElementTree.Element, checks: Sequence[Check]) -> None:
    numbers = {"tests": len(checks), "errors": 0}
    numbers |= {name: sum(check.status == status for check in checks)
                for name, status in (("failures", "fail"), ("skipped", "skipped"))}  # fmt: skip
    for name, number in numbers.items():
        element.set(name, str(number))
