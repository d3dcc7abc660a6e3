# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `diff`: what differs between the physics of two files."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import formats
from ..core.words import counted
from ..system.console import say
from .inputs import choices_of, model_in

if TYPE_CHECKING:
    from ..core.model import Mesh, PhysicsModel, SpherePoints


def diff_files(options: argparse.Namespace) -> int:
    """Print what differs between the physics of two files. Returns the exit status, 1 where anything does."""
    from . import changes

    files, choices = (options.first, options.second), choices_of(options)
    for file, other in (files, files[::-1]):
        formats.require_readable(file)
        # An option for a robot may be for one of the two.
        takes = formats.format_of(other).takes
        formats.check_choices(file, {name: value for name, value in choices.items() if name not in takes})
    same = formats.format_of(options.first) is formats.format_of(options.second)
    with model_in(options.first, choices) as (first, _):
        if all(formats.format_of(file).is_scene for file in files):
            _hold_meshes(first)
        with model_in(options.second, choices) as (second, _):
            listed = list(changes.changes(first, second, same_format=same))
    if options.json:
        lines = [_plain(asdict(change)) for change in listed]
        say(json.dumps({"first": options.first, "second": options.second, "differences": lines}, allow_nan=False))
        return 1 if listed else 0
    for change in listed:
        say(change.text)
    if not options.quiet:
        say(
            f"{options.first}, {options.second}: {counted(len(listed), 'difference') if listed else 'the same physics'}"
        )
    return 1 if listed else 0


def _plain(value: Any) -> Any:
    """A value with words in place of the numbers that JSON does not have, such as "nan"."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _hold_meshes(model: PhysicsModel) -> None:
    """Load all geometry of an open scene: Blender frees the scene when it opens the next one."""
    for prim in model.prims.values():
        if prim.mesh is not None:
            loaded = prim.mesh()
            prim.mesh = partial(_loaded, loaded)


def _loaded(mesh: Mesh | SpherePoints | None) -> Mesh | SpherePoints | None:
    return mesh
