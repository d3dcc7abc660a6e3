# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stage becomes in each other format that its scene can be written in, read again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import formats
from ..system import blender, console
from ..system.files import work_folder

if TYPE_CHECKING:
    from ..core.model import PhysicsModel
    from ..core.validate import Issue
    from ..formats import Format
    from ..proving.trips import Trip

#: Formats that only Blender writes, with the suffix, by the words of a report.
_OF_BLENDER: dict[str, tuple[Format, str]] = {
    ".blend": (formats.BLEND, ".blend"), "glTF": (formats.GLTF, ".glb"), "URDF": (formats.URDF, ".urdf"),
}  # fmt: skip


def trips_of(file: str) -> dict[str, Trip | str]:
    """The round trips of a USD file, by the name of the format; a text says why one is left out.

    Those of Blender replace the open scene.
    """
    found: dict[str, Trip | str] = {"MJCF": partial(_through_mujoco, file)}
    if not blender.is_here():
        names = ", ".join(_OF_BLENDER)
        return found | {names: f"Round trips through {names} need Blender, and this Python has none."}
    return found | {
        name: partial(_through_blender, file, row, suffix) for name, (row, suffix) in _OF_BLENDER.items()
    }  # fmt: skip


@contextmanager
def _through_mujoco(file: str) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    way = formats.USD.conversions[formats.MJCF.name]
    with work_folder() as folder:
        target = str(folder / f"{Path(file).stem}.xml")
        issues, _ = way.run(file, formats.StageOptions(), target, formats.WriteOptions())
        with formats.MJCF.read(target, formats.MjcfChoices()) as (model, more):
            yield model, [*issues, *more]


@contextmanager
def _through_blender(file: str, row: Format, suffix: str) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    from ..exchange import blend_file

    assert row.write is not None
    with work_folder() as folder, blend_file.properties_registered(), console.without_scratch_names():
        target = str(folder / f"{Path(file).stem}{suffix}")
        formats.USD.load(file, formats.StageOptions())
        issues = row.write(target, formats.WriteOptions()).issues
        with row.read(target, row.options()) as (model, more):
            yield model, [*issues, *more]
