# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands `validate` and `inspect`, which only read."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.words import counted
from ..system.console import say
from .inputs import load_options, model_of
from .output import print_issues

if TYPE_CHECKING:
    from ..core.validate import Issue


def validate_file(options: argparse.Namespace) -> int:
    """Check the physics of a file. Returns the exit status."""
    issues = _issues_of(options)
    if options.json:
        say(json.dumps({"file": options.file, "target": options.target, "issues": [asdict(item) for item in issues]}))
    else:
        print_issues(options, issues, say)
        numbers = {kind: sum(item.severity == kind for item in issues) for kind in ("error", "warning", "info")}
        if not options.quiet:
            say(f"{options.file}: " + ", ".join(counted(number, kind) for kind, number in numbers.items()))
    return 1 if any(item.severity == "error" for item in issues) else 0


def _issues_of(options: argparse.Namespace) -> list[Issue]:
    """What is wrong with the file of a command, for its target."""
    from .. import formats
    from ..core import validate

    load = load_options(options)
    formats.check_options(options.file, load)
    source = formats.format_of(options.file)
    own = source.checks.get(options.target)
    if own is not None:
        return own(options.file, load)
    if options.target not in validate.TARGETS:
        raise UsageError(f"'{options.file}' is a {source.name}; --target {options.target} is for robots in URDF.")
    with model_of(options) as (model, issues):
        return issues + validate.validate(model, options.target)


def inspect_file(options: argparse.Namespace) -> int:
    """Print the physics of a file. Returns the exit status."""
    from ..core import summary

    with model_of(options) as (model, issues):
        table = options.answer["table"] = summary.summarise(model)
    if options.json:
        options.answer["issues"] += issues
        say(json.dumps({"file": options.file, **table, "issues": [asdict(issue) for issue in issues]}))
        return 0
    say(options.file)
    for line in summary.lines(table):
        say(line)
    if issues:
        say(f"issues ({len(issues)})")
    print_issues(options, issues, lambda line: say(f"  {line}"))
    return 0
