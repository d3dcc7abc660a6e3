# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage as a file of MJCF: the text of the model that it came from with the edits since, or a new text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pxr import Usd, UsdPhysics

from ..core import paths, proof, summary, validate
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.validate import Issue
from ..core.words import counted
from ..mjcf import edit, further, layout, read, source, verify, write
from ..mjcf.further import Further, Spring
from ..mjcf.source import Source
from ..mjcf.values import SOFT_ATTRIBUTES, Actuator
from ..mjcf.write import Written
from ..system.files import checked, replace_together, scratch_folder
from ..urdf import markup
from ..urdf.build import Part
from ..urdf.edit import TextEdits
from . import looks, mjcf_stage, robot_geometry
from . import read as usd_read

#: Types of prims that no model holds, and that a text has other words for.
_ALONE = frozenset({"MjcActuator", "MjcTendon", "MjcKeyframe"})
#: Radians between axes that are rounding.
_ROUNDING = 1e-6


class _Imported(NamedTuple):
    """A model that a stage came from. folder: of its files. before: a stage with the plan alone, old: its model."""

    kept: Source
    text: str
    folder: Path
    planned: layout.Layout
    before: Usd.Stage
    old: PhysicsModel

    @property
    def names(self) -> dict[str, str]:
        """Of what is in the text, by path."""
        planned = self.planned
        names = {path: body.name for path, body in zip(planned.places, planned.source.bodies, strict=True)}
        return names | {
            path if dof in ("", "angular", "linear") else f"{path}.{dof}": name
            for name, (path, dof) in planned.joint_paths.items()
        }  # fmt: skip


def write_file(
    stage: Usd.Stage, model: PhysicsModel, target: Path, *, strict: bool = False, inputs: Iterable[Path] = (),
    folders: Iterable[Path] = (),
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    """Write a stage as a file that takes the place of the target. Returns (issues, number of prims by kind).

    model: of the stage. strict: write nothing where the checks find errors. folders: where the files of an imported
    model may be. Images are copied to NAME_textures beside it. Raises InputError, OutputError and
    ValidationFailedError.
    """
    target = checked(target, inputs)
    for path, prim in model.prims.items():
        prim.label = prim.label or stage.GetPrimAtPath(path).GetDisplayName()
    # What OpenUSD's validators make of rounding in axes says nothing of this file.
    model.angular_precision = max(model.angular_precision, _ROUNDING)
    # A body below a body is what a model of MuJoCo is made of.
    issues = validate.validate(model, hierarchy="reset", check_geometry=False)
    model, left_out = _without_instancers(model)
    issues += left_out
    with scratch_folder(target) as scratch:
        made, near, keyframe = _made(stage, model, target, folders, scratch)
        issues += made.issues
        file = scratch / target.name
        # Copies of meshes are not beside the target yet.
        place = file if (scratch / _assets_beside(target)).is_dir() else target
        issues += proof.issues_of(
            list(verify.differences(model, made, markup.text_of(file.read_bytes()), place, near, keyframe)),
            is_of_robot=True,
        )
        validate.refuse_errors(issues, target, strict=strict)
        replace_together(scratch, target, _copies_of(target))
    counts = summary.counts(model)
    return issues, {**counts, "joints": counts["joints"] - made.lost_joints}


def _unsimulated_mimics(stage: Usd.Stage) -> Iterator[Issue]:
    """An issue about each joint that follows another in its URDF in a way that is kept, and simulated by nobody."""
    for prim in stage.Traverse():
        leader = prim.GetAttribute("urdf:mimic:joint").Get()
        if isinstance(leader, str) and prim.IsA(UsdPhysics.Joint):
            path, label = str(prim.GetPath()), prim.GetDisplayName() or prim.GetName()
            yield Issue(
                "MjcfNotSaid", "warning", path, label, f"'{label}' follows '{leader}' in its URDF, which is not "
                "simulated, and is left out of MJCF.", "Make both joints turn or both slide, or add an equality to "
                "the file.",
            )  # fmt: skip


def _without_instancers(model: PhysicsModel) -> tuple[PhysicsModel, list[Issue]]:
    """A model without what is in point instancers, and an issue about each of these that has bodies or colliders."""
    inside = model.in_instancers()
    if not inside:
        return model, []
    held = {inside[path] for path in (*model.bodies, *model.colliders) if path in inside}
    rest = {path: prim for path, prim in model.prims.items() if path not in inside}
    return replace(model, prims=rest), [
        Issue("MjcfNotSaid", "warning", path, paths.name_of(path), f"The point instancer '{path}' is left out, with "
              "the physics in it: MuJoCo has no word for it.", "Make a prim of each instance to write them.")
        for path in sorted(held)
    ]  # fmt: skip


#: What to do about animation, which models of MuJoCo have none of.
KEEP_ANIMATION = "MJCF holds no animation; export USD to keep it."


def moved_by_samples(model: PhysicsModel) -> set[str]:
    """Paths of the bodies and colliders that no simulation moves: if anything does, it is animation."""
    return {path for path in (*model.bodies, *model.colliders) if not model.is_simulated(path)}


def stilled(model: PhysicsModel, moving: Iterable[str], frame: float) -> list[Issue]:
    """An issue about the animated prims of a stage of which a file holds one pose. frame: its time code."""
    held = moved_by_samples(model)
    names = sorted(path for path in moving if any(paths.is_at_or_below(one, path) for one in held))
    if not names:
        return []
    more = f" and {counted(len(names) - 1, 'other object')}" if len(names) > 1 else ""
    message = f"Of '{names[0]}'{more}, animated here, the pose at frame {frame:g} was written."
    return [Issue("AnimationLeftOut", "warning", names[0], "", message, KEEP_ANIMATION)]


def _textures_beside(target: Path) -> str:
    """Name of the folder beside a file that images are copied to."""
    return f"{target.stem}_textures"


def _assets_beside(target: Path) -> str:
    """Name of the folder beside a file that meshes and images of an imported model are copied to."""
    return f"{target.stem}_assets"


def _copies_of(target: Path) -> list[Path]:
    """The copies of files that an old target names: they may be replaced with it."""
    folders = [target.resolve().parent / name for name in (_textures_beside(target), _assets_beside(target))]
    with suppress(InputError):
        return [file for file in read.read_file(target).assets if any(map(file.is_relative_to, folders))]
    return []


def _made(
    stage: Usd.Stage, model: PhysicsModel, target: Path, folders: Iterable[Path], scratch: Path
) -> tuple[Written, tuple[Path, ...], str]:  # fmt: skip
    """Write the file to a folder. Returns what is in it, the folders of the files that it names, and the name of the
    keyframe of it in whose pose the stage is, if any."""
    imported, lost = None, ""
    try:
        imported = _imported(stage, target.parent, folders)
        if imported is not None:
            data, issues = _edited(imported, stage, model, target, scratch)
            (scratch / target.name).write_bytes(data)
            return Written("", imported.names, issues), (imported.folder,), imported.planned.keyframe
    except edit.OtherPartsError as reason:
        lost = str(reason)
    further = _further(stage, model, imported.planned if imported is not None else None, target, scratch)
    made = write.text_of(model, target.stem, further)
    text = made.text
    if imported is not None:
        text = _with_keyframes(text, made, imported.planned, scratch / target.name)
    (scratch / target.name).write_text(text, encoding="utf-8", newline="")
    made.issues.extend(_unsimulated_mimics(stage))
    if lost:
        made.issues.append(Issue(
            "MjcfWrittenAnew", "warning", "", target.stem, f"{lost} The model is written anew, without the comments of "
            "the old one.", "Undo the change of parts to keep them.",
        ))  # fmt: skip
    return made, (), ""


def _imported(stage: Usd.Stage, target: Path, folders: Iterable[Path]) -> _Imported | None:
    """The model that a stage came from; None for others. Raises OtherPartsError where its text cannot be written."""
    found = list(_sources(stage))
    if len(found) != 1:
        if found:
            raise edit.OtherPartsError("Several models were imported.")
        return None
    root, kept, near, keyframe = found[0]
    text = kept.flat()
    folder = _folder_of(text, kept, [*folders, *near, target])
    planned = layout.plan(read.read_text(text, folder / kept.name), root, keyframe)
    before = Usd.Stage.CreateInMemory()
    mjcf_stage.fill_stage(planned, before)
    return _Imported(kept, text, folder, planned, before, usd_read.read_stage(before))


def _edited(
    imported: _Imported, stage: Usd.Stage, model: PhysicsModel, file: Path, scratch: Path
) -> tuple[bytes, list[Issue]]:  # fmt: skip
    """The text of the model with what was edited. file: the new one. Raises OtherPartsError.

    Files that are too far away for its readers are copied to a folder in `scratch`, which is to be beside it.
    """
    kept, planned, folder = imported.kept, imported.planned, imported.folder
    _refuse_other_prims(imported.before, stage)
    edits = TextEdits(imported.text)
    edit.edit(edits, planned, imported.old, model)
    issues = list(_unsaid(planned, imported.old, imported.before, model, stage))
    target, root = file.parent, planned.source.root
    is_here = os.path.realpath(folder) == os.path.realpath(target)
    if is_here or source.reaches(planned.source, target):
        source.move_files(root, edits, folder, target)
    else:
        source.copy_files(root, edits, folder, target, scratch / _assets_beside(file))
    if not edits.changed and not edits.added and (not kept.parts or (is_here and kept.is_whole_in(target))):
        return kept.data, issues
    return edits.result().encode(), issues


def _further(
    stage: Usd.Stage, model: PhysicsModel, planned: layout.Layout | None, target: Path, scratch: Path
) -> Further:  # fmt: skip
    """What a stage has beside bodies, colliders and joints. scratch: a folder for copies of images."""
    images = looks.Images(scratch / _textures_beside(target))

    def image(file: Path) -> str | None:
        return images.asset(file).removeprefix("./") if file.suffix.lower() == ".png" else None

    made = Further(list(robot_geometry.visible_parts(stage, model)), image)
    made.actuators = list(_actuators(stage, model, planned))
    for prim in stage.Traverse():
        if prim.IsA(UsdPhysics.Joint):
            made.words[str(prim.GetPath())] = _words(_softness(prim))
        if {"MjcSiteAPI", "NewtonSiteAPI"}.intersection(prim.GetAppliedSchemas()):
            made.sites[str(prim.GetPath())] = prim.GetDisplayName() or prim.GetName()
    if planned is not None:
        made.source = planned.source
        made.words |= {path: _words(geom.others) for path, geom in planned.geoms.items()}
        made.sites |= {path: name for name, path in planned.sites.items() if stage.GetPrimAtPath(path)}
        for place, body in zip(planned.places, planned.source.bodies, strict=True):
            for joint in body.joints:
                if joint.type == "free":
                    made.words[f"{place}.free"] = _words(joint.others)
                    made.joints[place, "free"] = joint.name
                path, dof = planned.joint_paths.get(joint.name, ("", ""))
                is_shared = dof not in ("", "angular", "linear")
                made.joints[path, dof if is_shared else ""] = joint.name
                made.words[joint.name] = _words(joint.others)
                made.springs[path, dof if is_shared else ""] = Spring(
                    joint.stiffness, joint.spring * planned.signs.get(joint.name, 1.0),
                    joint.damping if is_shared else 0.0, joint.force_range,
                )  # fmt: skip
    return made


def _words(attributes: Mapping[str, str]) -> str:
    return "".join(f" {name}={markup.quoted(text)}" for name, text in attributes.items())


def _softness(prim: Usd.Prim) -> dict[str, str]:
    """How MuJoCo's solver is to hold an equality that is a joint of USD, or that has this joint follow another one."""
    found = {}
    for word, name in SOFT_ATTRIBUTES.items():
        numbers = np.ravel(prim.GetAttribute(name).Get())
        if numbers.dtype.kind in "fi" and np.isfinite(numbers).all():
            found[word] = " ".join(f"{number:.12g}" for number in numbers)
    return found


def _actuators(stage: Usd.Stage, model: PhysicsModel, planned: layout.Layout | None) -> Iterator[Actuator]:
    """The actuators of MuJoCo on a stage, with paths as targets; of joints with a point and the degree of freedom."""
    dofs = {}
    for one in planned.source.actuators if planned is not None else ():
        if planned is not None and one.kind == "joint" and one.target in planned.joint_paths:
            dofs[one.name] = (*planned.joint_paths[one.target], planned.signs[one.target])
    for prim in stage.Traverse():
        targets = usd_read.targets(prim.GetRelationship("mjc:target")) if prim.GetTypeName() == "MjcActuator" else ()
        if not targets:
            continue
        name = prim.GetDisplayName() or prim.GetName()
        made = mjcf_stage.actuator_of(prim, name, targets[0])
        made.reference = next(iter(usd_read.targets(prim.GetRelationship("mjc:refSite"))), "")
        if targets[0] in model.joints:
            path, dof, sign = dofs.get(name, (targets[0], "", 1.0))
            made.target = f"{targets[0]}.{dof if path == targets[0] and dof not in ('angular', 'linear') else ''}"
            made.gears = tuple(sign * value for value in made.gears)
        else:
            made.kind = "body" if targets[0] in model.bodies else "site"
        yield made


def _with_keyframes(text: str, made: Written, planned: layout.Layout, file: Path) -> str:
    """A text with the keyframes of the imported model, for the joints that there are."""
    now = read.read_text(text, file)
    joints = {}
    for name, (path, dof) in planned.joint_paths.items():
        key = made.names.get(path if dof in ("", "angular", "linear") else f"{path}.{dof}")
        if key is not None:
            joints[key] = (name, planned.signs[name])
    for path, body in zip(planned.places, planned.source.bodies, strict=True):
        free = next((joint.name for joint in body.joints if joint.type == "free"), None)
        if free is not None and f"{path}.free" in made.names:
            joints[made.names[f"{path}.free"]] = (free, 1.0)
    keys = further.keyframes(planned.source, now, joints)
    if not keys:
        return text
    inside = "".join(markup.to_text(key, level=2) for key in keys)
    return text.replace("</mujoco>", f"  <keyframe>\n{inside}  </keyframe>\n</mujoco>")


def unread_differences(one: Path, other: Path) -> list[tuple[str, str, str, str]]:
    """Where two files differ in what is not read, see `further.differing`."""
    return further.differing(read.read_file(one), read.read_file(other))


def _sources(stage: Usd.Stage) -> Iterator[tuple[str, Source, list[Path], str]]:
    """(path of the root prim, text, where its files may be, keyframe) of each model that came from MJCF."""
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
        yield str(prim.GetPath()), made, near, str(about.get("keyframe", ""))


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
