# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `merge`: two edits of one USD layer in one file, also as a driver of git."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from .. import formats
from ..core.errors import InputError
from ..core.words import counted
from ..system.console import say, warn
from ..system.files import replacing
from .output import folders_made, summarise, tell_note


def merge_files(options: argparse.Namespace) -> int:
    """Write a layer with both edits of a base. Returns the exit status, 1 where they exclude each other."""
    files = [Path(name) for name in (options.ancestor, options.ours, options.theirs)]
    for file in (*files, Path(options.output)):
        if file.suffix.lower() not in ("", ".usd", ".usda", ".usdc") and not file.name.startswith(".merge_file_"):
            raise InputError(f"'{file}' is no USD layer; give files that end with .usda, .usd or .usdc.")
    formats.expose_pxr()
    from ..usd import merge, merge_text
    from ..usd.read import damage_refused

    with damage_refused(options.ours):
        base, ours, theirs = map(merge.read_layer, files)
        texts = [merge.text_in(file) for file in files]
        try:
            layer, conflicts = merge.merge_layers(base, ours, theirs, options.favor)
        except RecursionError as error:
            raise InputError("The files have values that are nested too deeply to be merged.") from error
    # The driver of git writes to OURS.
    target, inputs = Path(options.output), (options.ancestor, options.theirs)
    with folders_made(options, options.output), replacing(target, inputs=inputs) as scratch:
        if _is_text(target, files[1]):
            text = merge_text.text_of(layer, *texts)
            scratch.write_bytes(text.encode())
            _tell_lost(options, merge_text.lost_comments(text, *texts))
        else:
            scratch.write_bytes(merge.crate_of(layer))
    if options.json:
        say(json.dumps({"conflicts": [conflict._asdict() for conflict in conflicts]}, allow_nan=False))
    else:
        for conflict in conflicts:
            warn(f"usdphys: conflict: {conflict}")
        summarise(options, f"{options.output}: {counted(len(conflicts), 'conflict') if conflicts else 'merged'}")
    return 1 if conflicts and not options.favor else 0


def _tell_lost(options: argparse.Namespace, comments: list[str]) -> None:
    """Say which comments are not in the merged text."""
    if comments:
        more = f" and {len(comments) - 1} more" if len(comments) > 1 else ""
        tell_note(options, f"A comment is not in '{options.output}': {comments[0][:60]}{more}", "usdphys: note: ")


def _is_text(target: Path, ours: Path) -> bool:
    """Whether a merged layer is text: by its name, or else as in OURS."""
    if target.suffix in (".usda", ".usdc"):
        return target.suffix == ".usda"
    with ours.open("rb") as stream:
        return not stream.read(8).startswith(b"PXR-USDC")
