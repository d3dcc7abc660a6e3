# SPDX-License-Identifier: GPL-3.0-or-later
"""The robot's file that a scene was imported from, as a stage whose prims have the paths that its objects remember."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bpy.types import Scene

from ..system.files import note_of
from ..usd.robot_files import RobotOptions, robot_as_stage

#: Custom property of the source of a scene: the options of the import, and a digest of the file, as JSON.
_KEY = "robot"


def remember(scene: Scene, path: Path, options: RobotOptions) -> None:
    """Note how a scene was imported from a robot's file."""
    values = asdict(options) | {"packages": {name: str(folder) for name, folder in options.packages.items()}}
    memory: Any = scene.usdphys.source
    memory[_KEY] = json.dumps({"file": str(path), "digest": note_of([path], path.parent), "options": values})


def digest_of(scene: Scene) -> str | None:
    """What the robot's file was at the import, see `system.files.note_of`; None if an older version imported it."""
    noted = _noted(scene.usdphys.source)
    return None if noted is None else str(noted["digest"])


def options_of(scene: Scene) -> RobotOptions:
    """The options with which the robot of a scene was imported. The scene has a digest."""
    noted = _noted(scene.usdphys.source)
    assert noted is not None
    values = noted["options"]
    packages = {name: Path(folder) for name, folder in values.pop("packages").items()}
    return RobotOptions(packages, **values)


@contextmanager
def as_stage(scene: Scene) -> Iterator[Path]:
    """The robot as a USD file that is gone afterwards, made as the import made it. The scene has a digest."""
    memory: Any = scene.usdphys.source
    with robot_as_stage(Path(memory.filepath), options_of(scene)) as (file, _, _):
        yield file


def _noted(memory: Any) -> dict[str, Any] | None:
    """What `remember` has noted; None if that is of another file, by another version, or damaged."""
    try:
        noted: dict[str, Any] = json.loads(memory[_KEY])
        is_known = noted["file"] == memory.filepath and noted["options"].keys() == asdict(RobotOptions()).keys()
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return noted if is_known else None
