# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `inspect`, which only reads."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from ..system.console import say
from .inputs import model_of
from .output import print_issues


def inspect_file(options: argparse.Namespace) -> int:
    """Print the physics of a file. Returns the exit status."""
    from ..core import summary

    with model_of(options) as (model, issues):
        table = options.answer["table"] = summary.summarise(model)
    if options.json:
        options.answer["issues"] += issues
        say(json.dumps({"file": options.file, **table, "issues": [asdict(issue) for issue in issues]}))
        return 0
    say(_name_of(options.file))
    for line in summary.lines(table):
        say(line)
    if issues:
        say(f"issues ({len(issues)})")
    print_issues(options, issues, lambda line: say(f"  {line}"))
    return 0


def _name_of(file: str) -> str:
    """What a file is called in a report; without the folder that git makes anew for each textconv, which differs."""
    path = Path(file)
    return path.name if path.parent.name.startswith("git-blob-") else file
