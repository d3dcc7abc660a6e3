# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage as a file of MJCF: the text of the model that it came from with the edits since, or a new text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pxr import Usd

from ..core import paths, proof, summary, validate
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.validate import Issue
from ..mjcf import edit, layout, read, source, verify, write
from ..mjcf.source import Source
from ..mjcf.write import Written
from ..system.files import checked, replacing
from ..urdf.build import Part
from ..urdf.edit import TextEdits
from . import mjcf_stage, robot_geometry
from . import read as usd_read

#: Types of prims that no model holds, and that a text has other words for.
_ALONE = frozenset({"MjcActuator", "MjcTendon", "MjcKeyframe"})


class _Kept(NamedTuple):
    """A text with edits. names: of what is in it, by path. near: folders of the files that it names."""

    data: bytes
    names: dict[str, str]
    issues: list[Issue]
    near: tuple[Path, ...] = ()


def write_file(
    stage: Usd.Stage, model: PhysicsModel, target: Path, *, strict: bool = False, inputs: Iterable[Path] = (),
    folders: Iterable[Path] = (),
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    """Write a stage as a file that takes the place of the target. Returns (issues, number of prims by kind).

    model: of the stage. strict: write nothing where the checks find errors. folders: where the files of an imported
    model may be. Raises InputError, OutputError and ValidationFailedError.
    """
    checked(target, inputs)
    for path, prim in model.prims.items():
        prim.label = prim.label or stage.GetPrimAtPath(path).GetDisplayName()
    issues = validate.validate(model, check_geometry=False)
    try:
        kept = _edited(stage, model, target.parent, folders)
        made, data, near = Written("", kept.names, kept.issues), kept.data, kept.near
    except edit.OtherPartsError as reason:
        made = write.text_of(model, target.stem)
        data, near = made.text.encode(), ()
        if str(reason):
            issues.append(Issue(
                "MjcfWrittenAnew", "warning", "", target.stem, f"{reason} The model is written anew, without the "
                "comments of the old one.", "Undo the change of parts to keep them.",
            ))  # fmt: skip
    issues += made.issues
    with replacing(target) as scratch:
        scratch.write_bytes(data)
        issues += proof.issues_of(list(verify.differences(model, made, scratch, near)), is_of_robot=True)
        validate.refuse_errors(issues, target, strict=strict)
    return issues, summary.counts(model)


def _edited(stage: Usd.Stage, model: PhysicsModel, target: Path, folders: Iterable[Path]) -> _Kept:
    """The text of the model that a stage came from, with what was edited. target: folder of the new file.

    Raises OtherPartsError where the text has to be written anew; its message is empty if there is none.
    """
    found = list(_sources(stage))
    if len(found) != 1:
        raise edit.OtherPartsError("Several models were imported." if found else "")
    root, kept, near = found[0]
    text = kept.flat()
    folder = _folder_of(text, kept, [*folders, *near, target])
    planned = layout.plan(read.read_text(text, folder / kept.name), root)
    before = Usd.Stage.CreateInMemory()
    mjcf_stage.fill_stage(planned, before)
    _refuse_other_prims(before, stage)
    old = usd_read.read_stage(before)
    edits = TextEdits(text)
    edit.edit(edits, planned, old, model)
    issues = list(_unsaid(planned, old, before, model, stage))
    is_here = os.path.realpath(folder) == os.path.realpath(target)
    source.move_files(planned.source.root, edits, folder, target)
    names = {path: body.name for path, body in zip(planned.places, planned.source.bodies, strict=True)}
    names |= {path if dof in ("", "angular", "linear") else f"{path}.{dof}": name
              for name, (path, dof) in planned.joint_paths.items()}  # fmt: skip
    if not edits.changed and not edits.added and (not kept.parts or (is_here and kept.is_whole_in(target))):
        return _Kept(kept.data, names, issues)
    return _Kept(edits.result().encode(), names, issues, (folder,))


def _sources(stage: Usd.Stage) -> Iterator[tuple[str, Source, list[Path]]]:
    """(path of the root prim, text, where its files may be) of each model that came from MJCF."""
    for prim in stage.Traverse():
        text = prim.GetAttribute(mjcf_stage.SOURCE).Get()
        if not isinstance(text, str):
            continue
        about = json.loads(str(prim.GetAttribute(mjcf_stage.ABOUT).Get() or "{}"))
        made = Source(
            about.get("name", "model.xml"), text, about.get("encoding", "utf-8"), about.get("parts", {}),
            frozenset(about.get("missing", ())),
        )  # fmt: skip
        layer = stage.GetRootLayer().realPath
        near = [Path(layer).parent / about["folder"]] if layer and "folder" in about else []
        yield str(prim.GetPath()), made, near


def _folder_of(text: str, kept: Source, folders: Iterable[Path]) -> Path:
    """The first folder that holds all files that a text names. Raises OtherPartsError without any."""
    missing: list[str] = []
    for folder in folders:
        try:
            missing = sorted(set(read.read_text(text, folder / kept.name).missing) - kept.missing)
        except InputError as error:
            raise edit.OtherPartsError(str(error)) from error
        if not missing:
            return folder
    raise edit.OtherPartsError(f"'{missing[0]}', which the imported model names, is not there.")


def _refuse_other_prims(before: Usd.Stage, now: Usd.Stage) -> None:
    """Refuse actuators and the like with other values than the text has."""
    for prim in before.Traverse():
        if prim.GetTypeName() not in _ALONE:
            continue
        other = now.GetPrimAtPath(prim.GetPath())
        if not other or _values(other) != _values(prim):
            raise edit.OtherPartsError(f"'{prim.GetPath()}' is another than in the imported model.")


def _unsaid(
    planned: layout.Layout, old: PhysicsModel, before: Usd.Stage, new: PhysicsModel, now: Usd.Stage
) -> Iterator[Issue]:  # fmt: skip
    """What is seen and differs from the text, which keeps what it has."""
    was = {part.path: part for part in robot_geometry.visible_parts(before, old)}
    for part in robot_geometry.visible_parts(now, new):
        label = now.GetPrimAtPath(part.path).GetDisplayName() or paths.name_of(part.path)
        if part.path not in was:
            owner = paths.name_of(paths.parent_of(part.path)) if part.mesh is not None else label
            label = label if part.path in planned.model.prims else owner or label
            yield Issue("MjcfNotSaid", "info", part.path, label, f"'{label}' is not in the imported model, whose text "
                        "is written, and is left out.", "Make it a collider of a body, or export USD.")  # fmt: skip
        elif not _alike(was[part.path], part):
            yield Issue("MjcfNotSaid", "info", part.path, label, f"'{label}' looks otherwise than in the imported "
                        "model, whose text is written.", "Export USD to keep its look.")  # fmt: skip


def _alike(one: Part, other: Part) -> bool:
    colors = [np.array((part.material.color if part.material is not None else None) or (0, 0, 0, 0), float)
              for part in (one, other)]  # fmt: skip
    if np.abs(colors[0] - colors[1]).max() > 0.01:
        return False
    if one.mesh is None or other.mesh is None:
        return (one.mesh is None) == (other.mesh is None)
    first, second = one.mesh.points, other.mesh.points
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-5, atol=1e-6))


def _values(prim: Usd.Prim) -> dict[str, Any]:
    found = {one.GetName(): one.Get() for one in prim.GetAuthoredAttributes()}
    found |= {one.GetName(): one.GetTargets() for one in prim.GetAuthoredRelationships()}
    return {name: value for name, value in found.items() if name.startswith("mjc:")}
