# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `validate`: checks files one after the other, fixes them, and reports in one of four forms."""

from __future__ import annotations

import argparse
import json
import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..batch.worker import BLENDER
from ..core.errors import UsageError, UsdPhysError
from ..core.words import counted
from ..system import blender
from ..system.console import say, warn
from ..system.files import checked, write_text
from . import blame, file_checks, issue_codes
from .file_checks import SEVERITIES, FileReport, Found, Repair
from .output import folders_made, summarise

FORMATS = ("text", "json", "sarif", "junit")
#: The form of a report by the end of its name, where --format does not say it.
_BY_SUFFIX = {".json": "json", ".sarif": "sarif", ".xml": "junit"}


def validate_files(options: argparse.Namespace) -> int:
    """Check the physics of files. Returns the exit status."""
    with folders_made(options, options.output):
        run = _Run(options)
        with run.replaceable():
            for report in run.reports():
                run.tell(report)
        run.end()
    return run.status()


class _Run:
    """One run of the command. done: a report for each file; of text, only what the summary counts is kept."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.codes = issue_codes.selection(options.select, options.ignore)
        self.bar: Sequence[str] = SEVERITIES[:2] if options.warnings_as_errors else SEVERITIES[:1]
        self.form = _form_of(options)
        self.files = list(file_checks.named_files(options.files))
        self.is_alone = len(self.files) == 1 and not Path(options.files[0]).is_dir()
        if not self.is_alone:
            file_checks.check_used(options, self.files)
        if options.output:
            checked(Path(options.output), self.files)
        if os.environ.get(BLENDER):
            self.require_blender()
        self.parts: dict[str, str] = {}
        self.done: list[FileReport] = []
        self.counts = dict.fromkeys((*SEVERITIES, "unreadable", "fixed", "bad", "fault"), 0)

    def require_blender(self) -> None:
        """Where another Blender is named, it takes the whole run if any file or fix may need one."""
        file_checks.require_readable(self.files)
        if self.options.fix:
            blender.require("Applying scales to geometry")

    # ------------------------------------------------------------------ files

    @contextmanager
    def replaceable(self) -> Iterator[None]:
        """Within the block, the files can be replaced if they are to be fixed."""
        if not self.options.fix:
            yield
            return
        from . import fixing

        with fixing.replaceable(self.files):
            self.parts = fixing.parts_of(self.files)
            yield

    def reports(self) -> Iterator[FileReport]:
        for file in self.files:
            report = FileReport(file)
            try:
                self.check(report)
            except UsageError as error:
                if self.is_alone:
                    raise
                report.error = str(error)
            except UsdPhysError as error:
                report.error = str(error)
            except Exception as error:
                self.note_fault(report, error)
            yield report

    def check(self, report: FileReport) -> None:
        """Check one file, and fix it if that is asked for; then check what it is now."""
        report.file = file_checks.usable(report.file)
        choices = file_checks.choices_for(self.options, report.file, is_alone=self.is_alone)
        report.found = self.found_in(report.file, choices)
        if self.options.fix:
            from . import fixing

            whole = self.parts.get(report.file, "")
            if fixing.fix_file(report, self.codes.has, self.options.target, whole):
                report.found = self.found_in(report.file, choices)

    def found_in(self, file: str, choices: Any) -> list[Found]:
        found = file_checks.issues_of(file, choices, self.options.target, is_alone=self.is_alone)
        return [one for one in found if self.codes.has(one.issue.code)]

    def note_fault(self, report: FileReport, error: Exception) -> None:
        if self.options.debug:
            traceback.print_exception(error)
        report.error, report.is_fault = blame.judged(error, f"'{report.file}'")

    # ------------------------------------------------------------------ reports

    def tell(self, report: FileReport) -> None:
        """Count a report, and print it where it is not kept for the end."""
        for severity in SEVERITIES:
            self.counts[severity] += report.count(severity)
        self.counts["unreadable"] += bool(report.error)
        self.counts["fixed"] += len(report.fixed)
        self.counts["bad"] += report.is_bad(self.bar)
        self.counts["fault"] += report.is_fault
        self.options.answer["issues"] += [found.issue for found in report.found]
        if report.error:
            # Of several files, the sentence of one that does not name it, such as one about this Blender.
            whose = "" if self.is_alone or report.file in report.error else f"{report.file}: "
            warn(f"usdphys: error: {whose}{report.error}")
        if self.form != "text" or self.options.output:
            self.done.append(report)
        elif not report.error or not self.is_alone:
            for line in self.lines(report):
                say(line)

    def lines(self, report: FileReport) -> Iterator[str]:
        """A report as text. Of several files, each line begins with the name of its file, as compilers write it."""
        options, before = self.options, "" if self.is_alone else f"{report.file}: "
        if report.error and options.output:
            yield f"{before}error: {report.error}"
        for repair in report.fixed:
            yield f"{before}fixed: {_repair_text(repair)}"
        if not options.quiet:
            yield from (f"{before}note: {note}" for note in report.notes)
        left = {(repair.code, repair.path): f" (Not fixed: {repair.text}.)" for repair in report.unfixed}
        for found in report.found:
            issue = found.issue
            if options.quiet and issue.severity not in self.bar:
                continue
            whose = f" [{', '.join(found.targets)}]" if len(options.target) > 1 else ""
            words = f"{issue.severity}: {issue.code}: {issue.message} {issue.fix}".rstrip()
            yield f"{before}{words}{whose}{left.get((issue.code, issue.path), '')}"

    def end(self) -> None:
        """Write what was kept, and end with the line that counts."""
        options, text = self.options, ""
        if self.form != "text" or options.output:
            text = self.text()
        if options.output:
            write_text(Path(options.output), text, self.files)
        elif self.form != "text":
            for line in text.splitlines():
                say(line)
        is_told = self.form == "text" or options.output
        if is_told and not options.quiet and not (self.is_alone and self.counts["unreadable"]):
            if options.output:
                summarise(options, self.summary())
            else:
                say(self.summary())

    def text(self) -> str:
        if self.form == "json":
            return f"{json.dumps(self.table())}\n"
        if self.form == "sarif":
            from .sarif import sarif

            return f"{json.dumps(sarif(self.done), indent=2)}\n"
        if self.form == "junit":
            from .junit import junit

            return junit(self.done, self.bar)
        lines = [line for report in self.done for line in self.lines(report)]
        return "".join(f"{line}\n" for line in (*lines, self.summary()))

    def table(self) -> dict[str, Any]:
        """The JSON. Of one file that is named itself, for one target: file, target and issues."""
        options = self.options
        if self.is_alone and len(options.target) == 1 and not self.done[0].error:
            report = self.done[0]
            table = {"file": report.file, "target": options.target[0], "issues": _issue_tables(report.found, False)}
            return {**table, **_repair_tables(report)} if options.fix else table
        files = [
            {
                "file": report.file, "error": report.error, "issues": _issue_tables(report.found, True),
                **(_repair_tables(report) if options.fix else {}),
            }
            for report in self.done
        ]  # fmt: skip
        counts = {f"{severity}s": self.counts[severity] for severity in SEVERITIES}
        summary = {
            "files": len(self.done),
            **counts,
            "unreadable": self.counts["unreadable"],
            "bad": self.counts["bad"],
        }
        return {"targets": options.target, "files": files, "summary": summary}

    def summary(self) -> str:
        counts = self.counts
        numbers = ", ".join(counted(counts[severity], severity) for severity in SEVERITIES)
        fixed = f", {counts['fixed']} fixed" if self.options.fix else ""
        if self.is_alone:
            return f"{self.files[0]}: {numbers}{fixed}"
        unread = f", {counted(counts['unreadable'], 'file')} that cannot be read" if counts["unreadable"] else ""
        return f"{counted(len(self.files), 'file')}: {numbers}{unread}{fixed}"

    def status(self) -> int:
        return 3 if self.counts["fault"] else 1 if self.counts["bad"] else 0


def _form_of(options: argparse.Namespace) -> str:
    """The form of the report. Raises UsageError where two are asked for."""
    if options.json and options.format not in (None, "json"):
        raise UsageError(f"--json is --format json, which --format {options.format} contradicts; drop one.")
    by_name = _BY_SUFFIX.get(Path(options.output or "").suffix.lower(), "text")
    return "json" if options.json else options.format or by_name


def _repair_text(repair: Repair) -> str:
    return f"{repair.code}: {repair.path}: {repair.text}." if repair.path else f"{repair.code}: {repair.text}."


def _issue_tables(found: Sequence[Found], with_targets: bool) -> list[dict[str, Any]]:
    return [
        {**asdict(one.issue), **({"targets": list(one.targets)} if with_targets else {})} for one in found
    ]  # fmt: skip


def _repair_tables(report: FileReport) -> dict[str, Any]:
    return {
        "fixed": [repair._asdict() for repair in report.fixed],
        "unfixed": [repair._asdict() for repair in report.unfixed],
        "notes": report.notes,
    }
