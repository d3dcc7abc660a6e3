# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of a robot to URDF.

A robot that was imported from a URDF gets the text of that file, with the numbers that were edited since: comments,
unknown elements and the digits of all other numbers stay. Other robots, and those with other parts than the file has,
get a new text, and files for their meshes.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from html import unescape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import bpy
import numpy as np
from bpy.types import Context

from ..bridge import authored_poses
from ..bridge.environment import require_usd
from ..core import frames, paths, stacks
from ..core.errors import InputError
from ..core.model import PhysicsModel, Prim
from ..core.proof import issues_of
from ..core.schemas import usd_physics
from ..core.units import SI
from ..core.validate import Issue, refuse_errors
from ..system.files import checked, noted, refuse_parts, replace_together, scratch_folder, work_folder
from ..urdf import standing
from . import usd_export
from .usd_export import ExportResult

if TYPE_CHECKING:
    from pxr import Usd

    from ..urdf.build import Built
    from ..urdf.edit import TextEdits
    from ..urdf.layout import Layout, LayoutOptions
    from ..urdf.mesh_files import MeshFiles
    from ..urdf.packages import Packages
    from ..urdf.robot import Joint, Robot
    from ..urdf.ros_package import RosPackage
    from ..urdf.verify import Names

#: Largest relative difference of numbers that nobody edited: rounding of 32 bits, in Blender's units and USD's.
_SAME = 3e-6


@authored_poses.authored()
def export_urdf(
    context: Context, filepath: str | Path, package: str = "", *, strict: bool = False, proves: bool = True
) -> ExportResult:  # fmt: skip
    """Write the robot of the scene as a URDF. The target is replaced in one step, or stays as it was.

    package: name of the package of ROS that the URDF is in, see `ros_package`; its meshes are in the package, too.
    strict: write nothing where there are errors. proves: read the file again and hold it against the scene, see
    `core.likeness`. Raises InputError where the scene holds no robot, or several of which none is selected, and
    ValidationFailedError.
    """
    require_usd()
    from ..urdf import ros_package
    from ..urdf.layout import LayoutOptions
    from ..urdf.mesh_files import MeshFiles
    from ..usd import read as usd_read

    target = Path(bpy.path.abspath(str(filepath))).absolute()
    home = ros_package.package_around(target, package) if package else None
    memory: Any = context.scene.usdphys.source
    folder = Path(bpy.path.abspath(memory.filepath)).parent if memory.filepath else target.parent
    inputs = noted(memory.files, folder)
    target = checked(target)
    refuse_parts(target, Path(memory.filepath), inputs)
    root, mesh_folder = (target.parent, f"{target.stem}_meshes") if home is None else (home.folder, home.meshes)
    urdfs = _urdfs_beside(target, root)
    kept = {*_named(urdfs - {target}, root, mesh_folder), *_inside(inputs, root / mesh_folder)}
    if target not in urdfs:
        kept = {file for file in (root / mesh_folder).rglob("*") if file.is_file()}
    with work_folder() as scratch:
        file = scratch / "robot.usdc"
        written = usd_export.export_usd(context, file, usd_export.ExportOptions(SI))
        stage = usd_read.open_stage(file)
        model = usd_read.read_stage(stage)
        absent = usd_export.left_out(written, model)
        # The meshes of the old robot stay until its URDF is replaced: a kill leaves it whole.
        meshes = MeshFiles(
            f"{mesh_folder}/" if home is None else f"package://{home.name}/{mesh_folder}/", root / mesh_folder,
            frozenset(kept | _named(urdfs & {target}, root, mesh_folder)),
        )  # fmt: skip
        try:
            text, issues, names, options = edited_text(stage, model, folder, target.parent, home, meshes)
            counts = {"bodies": len(model.bodies), "joints": len(model.joints)}
        except _OtherPartsError as reason:
            meshes.clear()
            # URDF has one joint above each link: those of a stack get links between them.
            model, _ = stacks.chained(model)
            text, issues, counts, names = _new_text(context, stage, model, target, meshes, reason)
            options = LayoutOptions()
        # A report of no colliders would be believed.
        counts["colliders"] = len(re.findall(r"<collision[\s>]", text))
        issues = [issue for issue in written.issues if issue.severity == "error"] + absent + issues
        fix = "URDF holds no animation; export USD to keep it."
        issues += [replace(issue, fix=fix) for issue in written.issues if issue.code == "AnimatedValueLeftOut"]
        with scratch_folder(target) as made:
            meshes.write(made / mesh_folder)
            if home is not None:
                home.write(made)
            file = made / target.relative_to(root)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
            if proves:
                issues += _differences(file, model, names, target, options)
            refuse_errors(issues, target, strict=strict)
            del stage
            replace_together(made, target, {*(root / mesh_folder).rglob("*")} - kept, root)
    return ExportResult(target, issues, counts)


def _differences(
    file: Path, model: PhysicsModel, names: Names, target: Path, options: LayoutOptions
) -> list[Issue]:  # fmt: skip
    """Issues about what differs in a written file. target: the file that it takes the place of, beside its meshes.

    options: with which its robot was imported.
    """
    from ..urdf import layout, read, verify
    from ..urdf.packages import Packages

    plan = layout.plan(read.read(file.read_text(encoding="utf-8"), file), options)
    return issues_of(verify.differences(plan, model, names, [Packages(file.parent), Packages(target.parent)]))


class _OtherPartsError(Exception):
    """There is no URDF whose text could be edited. lost: what a new text does not have; empty if there was no text."""

    def __init__(self, lost: str = "", plan: Layout | None = None, root: str = "") -> None:
        super().__init__(lost)
        self.lost, self.plan, self.root = lost, plan, root


def _urdfs_beside(target: Path, root: Path) -> set[Path]:
    """The files of robots beside a target, itself included, and in its package. root: of the package or the target."""
    return {
        file
        for folder in (target.parent, root, root / "urdf") for file in folder.glob("*")
        if file.suffix.lower() in (".urdf", ".xacro") and file.is_file()
    }  # fmt: skip


def _named(urdfs: Iterable[Path], root: Path, mesh_folder: str) -> set[Path]:
    """Files in a folder of meshes that URDFs name, with those that the meshes refer to. All paths are absolute."""
    from ..urdf import markup
    from ..urdf.packages import is_file
    from ..urdf.ros_package import parts_of

    place = re.compile(rf"{re.escape(mesh_folder)}/([^\"'<>]+)")
    files = set()
    for urdf in urdfs:
        try:
            text = unescape(markup.text_of(urdf.read_bytes()))
        except OSError:
            continue
        for name in place.findall(text):
            files |= {mesh for one in (name, unquote(name)) if is_file(mesh := root / mesh_folder / one)}
    return files.union(*(_inside(parts_of(mesh), root / mesh_folder) for mesh in files))


def _inside(files: Iterable[Path], folder: Path) -> set[Path]:
    """Those of the files that are really in a folder, as paths below it."""
    inside = os.path.realpath(folder)
    reals = (Path(os.path.realpath(file)) for file in files)
    return {folder / real.relative_to(inside) for real in reals if real.is_relative_to(inside)}


def _new_text(
    context: Context, stage: Usd.Stage, model: PhysicsModel, target: Path, files: MeshFiles,
    reason: _OtherPartsError,
) -> tuple[str, list[Issue], dict[str, int], Names]:  # fmt: skip
    """The URDF of a robot that was made in Blender, or of which parts were added or removed since its import."""
    from ..urdf import build, further
    from ..usd import robot_extras
    from ..usd.robot_geometry import visible_parts

    names = {
        str(prim.GetPath()): str(name)
        for prim in stage.TraverseAll() if (name := prim.GetMetadata("displayName"))
    }  # fmt: skip
    root = stage.GetDefaultPrim()
    own = str(root.GetMetadata("displayName") or root.GetName()) if root else ""
    name = target.stem if own.lower() in _NAMELESS else own
    kept = build.Kept(
        robot_extras.frames_of(stage, model), efforts=robot_extras.efforts_of(stage, model),
        notes=robot_extras.notes_of(stage, model),
    )  # fmt: skip
    if reason.plan is not None:
        plan, robot = reason.plan, reason.plan.robot
        name = robot.name
        kept.others = [one for one in further.elements(robot.element, further.ROBOT)
                       if one.tag not in ("link", "joint", "material")]  # fmt: skip
        kept.others = [one for one in kept.others if one.tag != "loop_joint" or one.get("name") not in plan.loop_paths]
        implied = set(plan.model.joints) - set(plan.joint_paths.values()) - set(plan.loop_paths.values())
        kept.implied = frozenset(reason.root + path[len(plan.root) :] for path in implied)
    _read_leaders(stage, model)
    try:
        made = build.build(model, visible_parts(stage, model), files, name, names, _selected(context, model), kept)
    except InputError as error:
        raise InputError(f"{reason.lost} {error}".strip()) from error
    issues = [*made.issues, *robot_extras.left_out(stage, model)]
    if reason.lost:
        issues.insert(0, Issue(
            "UrdfWrittenAnew", "warning", "", "", f"{reason.lost} The URDF is written anew, without the comments and "
            "the mesh files of the old one.", "Undo the change of parts to keep them.",
        ))  # fmt: skip
    _verify(made, target)
    return made.text, issues, {"bodies": made.links, "joints": made.joints}, made.names


def _read_leaders(stage: Usd.Stage, model: PhysicsModel) -> None:
    """Put the joints that others follow into the model: a model of a stage has no relationships of vendors."""
    from ..usd import read as usd_read

    for path, prim in model.joints.items():
        for name, value in prim.schemas.items():
            vendor: Any = value
            if name == "NewtonMimicAPI":
                leaders = usd_read.targets(stage.GetPrimAtPath(path).GetRelationship("newton:mimicJoint"))
                vendor.mimic_joint = leaders or None
            elif name.startswith("PhysxMimicJointAPI:"):
                relationship = f"physxMimicJoint:{name.partition(':')[2]}:referenceJoint"
                vendor.reference_joint = usd_read.targets(stage.GetPrimAtPath(path).GetRelationship(relationship))


def _verify(made: Built, target: Path) -> None:
    """Read the new text, and compare its kinematics with those of the scene."""
    from ..urdf import read

    robot = read.read(made.text, target)
    worlds: dict[str, Any] = {}
    for name in robot.in_order():
        joint = robot.parents.get(name)
        worlds[name] = np.eye(4) if joint is None else worlds[joint.parent] @ joint.pose
    for name, wanted in made.worlds.items():
        size = max(1.0, float(np.abs(wanted[:3, 3]).max()))
        if name not in worlds or np.abs(worlds[name] - wanted).max() > 2e-6 * size:
            raise InputError(f"The link '{name}' would be at another place in the URDF, so nothing is written.")


def _selected(context: Context, model: PhysicsModel) -> list[str]:
    """Paths of prims that are called like selected objects."""
    from ..bridge.identity.names import prim_name

    names = {prim_name(obj.name) for obj in getattr(context, "selected_objects", None) or ()}
    parts = {*model.prims, *(model.other_paths or ())}
    return [path for path in parts if paths.name_of(path) in names] if names else []


#: Names of root prims that say nothing about a robot.
_NAMELESS = frozenset({"", "root", "world", "scene", "stage"})


def edited_text(
    stage: Usd.Stage, new: PhysicsModel, folder: Path, target: Path, home: RosPackage | None, files: MeshFiles
) -> tuple[str, list[Issue], Names, LayoutOptions]:
    """The URDF of the robot on a stage in SI units. folder: of the old URDF. target: of the new one.

    home: package that gets copies of the meshes. files: gets the meshes whose files are missing.

    Raises _OtherPartsError where a URDF has to be written anew.
    """
    from pxr import Usd

    from ..urdf import layout, read
    from ..urdf.assets import Assets
    from ..urdf.edit import TextEdits
    from ..urdf.packages import Packages
    from ..usd import read as usd_read
    from ..usd import robot_stage

    sources = robot_stage.sources_of(stage)
    if len(sources) != 1:
        raise _OtherPartsError
    root, text, name, options = sources[0]
    robot = read.read(text, folder / name)
    plan = layout.plan(robot, options)
    before = Usd.Stage.CreateInMemory()
    # No mesh is found in a folder that is not there, and none is needed to compare physics.
    robot_stage.write_robot(plan, Assets(Packages(folder / "\0")), before)
    edits = TextEdits(robot.text)
    comparison = _Comparison(plan, usd_read.read_stage(before), new, before, stage, root, edits)
    comparison.run()
    comparison.refuse_other_shapes(Packages(folder))
    _complete(robot, edits)
    missing = _keep_meshes(plan, edits, folder, stage, root, files)
    if home is None:
        comparison.issues += missing
        _move_files(robot, edits, folder, target)
    else:
        comparison.issues += _take_files(robot, edits, folder, home)
    return edits.result(), comparison.issues, comparison.names(), options


class _Comparison:
    """Compares the physics that the URDF would have now with that of the stage, and notes edits of the text."""

    def __init__(
        self, plan: Layout, old: PhysicsModel, new: PhysicsModel, before: Any, stage: Usd.Stage, root: str,
        edits: TextEdits,
    ) -> None:  # fmt: skip
        self.plan, self.old, self.new, self.edits = plan, old, new, edits
        self.before, self.stage, self.root = before, stage, root
        self.issues: list[Issue] = []

    def now(self, path: str) -> str:
        """Where a planned prim is on the stage."""
        return self.root + path[len(self.plan.root) :]

    def run(self) -> None:
        self.refuse_other_parts()
        for name, path in self.plan.joint_paths.items():
            self.joint(self.plan.robot.joints[name], path)
        for name, path in self.plan.loop_paths.items():
            self.loop(name, self.old.prims[path], self.new.prims[self.now(path)])
        for name, path in self.plan.bodies.items():
            self.mass(name, path)
            if name not in self.plan.robot.parents:
                self.issues += standing.left_out(self.now(path), name, self.moved(path))

    def moved(self, path: str) -> frames.Matrix:
        """How a body (4, 4), m, has been moved since the import."""
        old, new = (frames.unscaled(prim.world) for prim in (self.old.prims[path], self.new.prims[self.now(path)]))
        return np.asarray(new @ np.linalg.inv(old))

    def refuse_other_parts(self) -> None:
        for what in ("joints", "bodies"):
            planned = {self.now(path) for path in getattr(self.old, what)}
            there = {path for path in getattr(self.new, what) if paths.is_at_or_below(path, self.root)}
            for path in sorted(planned - there):
                raise _OtherPartsError(f"'{paths.name_of(path)}' of the imported URDF is gone.", self.plan, self.root)
            for path in sorted(there - planned):
                raise _OtherPartsError(f"'{paths.name_of(path)}' is not in the imported URDF.", self.plan, self.root)
        for path, prim in self.new.joints.items():
            joint = prim.get(usd_physics.Joint)
            ends = [*(joint.body0 or ()), *(joint.body1 or ())] if joint is not None else []
            if not paths.is_at_or_below(path, self.root) and any(paths.is_at_or_below(end, self.root) for end in ends):
                raise _OtherPartsError(f"'{paths.name_of(path)}' is not in the imported URDF.", self.plan, self.root)

    def names(self) -> Names:
        """What the text calls the prims of the stage."""
        from ..urdf.verify import Names

        links = {self.now(path): name for name, path in self.plan.bodies.items()}
        worlds = {path: self.new.prims[path].world for path in links}
        poses = {path: frames.unscaled(world) for path, world in worlds.items()}
        return Names(links, {self.now(path): name for name, path in self.plan.joint_paths.items()}, poses)

    def refuse_other_shapes(self, packages: Packages) -> None:
        """Refuse colliders that have other sizes or places than in the text, whose edits are of joints and masses."""
        from ..urdf import verify

        for one in verify.differences(self.plan, self.new, self.names(), [packages]):
            if one.kind in ("shape", "place", "missing"):
                raise _OtherPartsError(
                    f"The colliders of '{one.label}' are others than in the imported URDF.", self.plan, self.root
                )

    # ------------------------------------------------------------------ joints

    def joint(self, joint: Joint, path: str) -> None:
        old, new = self.old.prims[path], self.new.prims[self.now(path)]
        if old.type_name != new.type_name:
            raise _OtherPartsError(f"'{joint.name}' has another type than in the URDF.", self.plan, self.root)
        self.frame(joint, old, new)
        one, other = old.get(usd_physics.Joint), new.get(usd_physics.Joint)
        for field, name in (("lower_limit", "lower"), ("upper_limit", "upper")):
            if joint.type in ("revolute", "prismatic"):
                self.number(joint, "limit", name, getattr(one, field), getattr(other, field))
        dof = "linear" if joint.type == "prismatic" else "angular"
        forces = [
            next((drive.max_force for key, drive in prim.instances(usd_physics.DriveAPI) if key == dof), None)
            for prim in (old, new)
        ]
        self.number(joint, "limit", "effort", *forces)
        degree = math.degrees(1.0) if dof == "angular" else 1.0
        for attribute, tag, name, factor in (
            ("newton:velocityLimit", "limit", "velocity", 1.0 / degree),
            ("newton:damping", "dynamics", "damping", degree), ("newton:friction", "dynamics", "friction", 1.0),
        ):  # fmt: skip
            values = [
                value * factor if isinstance(value := prim.GetAttribute(attribute).Get(), float) else None
                for prim in (self.before.GetPrimAtPath(path), self.stage.GetPrimAtPath(self.now(path)))
            ]
            self.number(joint, tag, name, *values)

    def loop(self, name: str, old: Prim, new: Prim) -> None:
        moved = max(float(np.abs(_side(old, side) - _side(new, side)).max()) for side in (0, 1))
        size = max(1.0, *(float(np.abs(_side(old, side)).max()) for side in (0, 1)))
        limits = [[getattr(one.get(usd_physics.Joint), f"{key}_limit", None) for key in ("lower", "upper")]
                  for one in (old, new)]  # fmt: skip
        same = all(
            before == now or (now is not None and _close(before, now)) for before, now in zip(*limits, strict=True)
        )
        if old.type_name != new.type_name or moved > 2e-6 * size or not same:
            raise _OtherPartsError(f"'{name}', which closes a loop, was edited.", self.plan, self.root)

    def number(self, joint: Joint, tag: str, name: str, old: float | None, new: float | None) -> None:
        if new is None or not math.isfinite(new) or _close(old, new):
            return
        self.edits.set_in(joint.element, tag, name, self.text(new))

    @staticmethod
    def text(value: float) -> str:
        from ..urdf.edit import number_text

        return number_text(value)

    def frame(self, joint: Joint, old: Prim, new: Prim) -> None:
        """The origin and the axis of a joint, if its frames have moved."""
        sides = [[_side(prim, side) for side in (0, 1)] for prim in (old, new)]
        if all(np.abs(one - other).max() <= 2e-6 * max(1.0, np.abs(one).max())
               for one, other in zip(*sides, strict=True)):  # fmt: skip
            return
        was, place = (one[:3, 3] for one in (sides[0][1], sides[1][1]))
        if np.abs(place - was).max() > 2e-6 * max(1.0, float(np.abs(was).max())):
            # In a URDF the origin of a link is where the joint above it is: all that is in the link has another place.
            raise _OtherPartsError(
                f"'{joint.name}' holds its link at another point than in the imported URDF.", self.plan, self.root
            )
        before, now = (first @ np.linalg.inv(second) for first, second in sides)
        between = before @ np.linalg.inv(joint.pose)
        self.origin(joint.element, np.linalg.inv(between) @ now)
        value = new.get(usd_physics.Joint)
        axis = getattr(value, "axis", None) or "X"
        if joint.type in ("revolute", "continuous", "prismatic"):
            direction = sides[1][1][:3, "XYZ".index(axis)]
            if np.abs(direction - np.array(joint.axis)).max() > 2e-6:
                self.edits.set_in(joint.element, "axis", "xyz", " ".join(map(self.text, direction)))

    def origin(self, parent: Any, pose: frames.Matrix) -> None:
        self.edits.set_in(parent, "origin", "xyz", " ".join(map(self.text, pose[:3, 3])))
        self.edits.set_in(parent, "origin", "rpy", " ".join(map(self.text, frames.euler_angles(pose))))

    # ------------------------------------------------------------------ masses

    def mass(self, name: str, path: str) -> None:
        link = self.plan.robot.links[name]
        old = self.old.prims[path].get(usd_physics.MassAPI) or usd_physics.MassAPI()
        new = self.new.prims[self.now(path)].get(usd_physics.MassAPI) or usd_physics.MassAPI()
        changed = {
            field for field in ("mass", "center_of_mass", "diagonal_inertia")
            if getattr(new, field) is not None and not _close(getattr(old, field), getattr(new, field))
        }  # fmt: skip
        tensors = [_tensor(one) for one in (old, new)]
        if tensors[1] is not None and not _close_tensors(*tensors):
            changed.add("diagonal_inertia")
        if not changed:
            return
        inertial = link.element.find("inertial")
        if inertial is None or link.mass <= 0:
            self.issues.append(Issue(
                "UrdfMassNotWritten", "warning", path, name,
                f"The mass of '{name}' comes from several links or is new, so its edit is not written.",
                "Write it into the URDF.",
            ))  # fmt: skip
            return
        if "mass" in changed:
            self.edits.set_in(inertial, "mass", "value", self.text(float(new.mass or 0.0)))
        pose = link.inertial.pose.copy() if link.inertial is not None else np.eye(4)
        if "center_of_mass" in changed:
            pose[:3, 3] = new.center_of_mass
        if "diagonal_inertia" in changed and tensors[1] is not None:
            pose[:3, :3] = np.eye(3)
            for key, value in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
                                  tensors[1][np.triu_indices(3)], strict=True):  # fmt: skip
                self.edits.set_in(inertial, "inertia", key, self.text(float(value)))
        if changed - {"mass"}:
            self.origin(inertial, pose)


def _side(prim: Prim, side: int) -> frames.Matrix:
    joint: Any = prim.get(usd_physics.Joint)
    return frames.transform(
        joint.resolved(f"local_pos{side}"), frames.matrix_of(joint.resolved(f"local_rot{side}"))
    )  # fmt: skip


def _tensor(mass: usd_physics.MassAPI) -> frames.Matrix | None:
    moments = mass.decided("diagonal_inertia")
    if moments is None:
        return None
    axes = mass.decided("principal_axes")
    turn = frames.matrix_of(axes if axes is not None else frames.IDENTITY_ROTATION)
    return np.asarray(turn @ np.diag(moments) @ turn.T, float)


def _close_tensors(old: frames.Matrix | None, new: frames.Matrix | None) -> bool:
    if old is None or new is None:
        return old is new
    return bool(np.abs(old - new).max() <= _SAME * np.abs(new).max())


def _close(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is new
    one, other = np.atleast_1d(np.asarray(old, float)), np.atleast_1d(np.asarray(new, float))
    return bool(np.abs(one - other).max() <= _SAME * max(np.abs(other).max(), 1e-9))


def _complete(robot: Robot, edits: TextEdits) -> None:
    """Write zeros that ROS demands: efforts and velocities, and all numbers of an inertia."""
    for joint in robot.joints.values():
        if joint.type in ("revolute", "prismatic"):
            edits.complete(joint.element, "limit", ("effort", "velocity"))
    for link in robot.links.values():
        if link.inertial is not None:
            edits.complete(link.inertial.element, "mass", ("value",))
            edits.complete(link.inertial.element, "inertia", ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))


def _keep_meshes(
    plan: Layout, edits: TextEdits, folder: Path, stage: Usd.Stage, root: str, files: MeshFiles
) -> list[Issue]:  # fmt: skip
    """Where the file of a mesh is missing, write the mesh of the scene, and let the URDF name that file.

    Files in packages are left alone: another machine finds the package by its name. Returns the files that are missing
    and that no mesh of the scene replaces.
    """
    from ..urdf.packages import Packages
    from ..usd.robot_geometry import mesh_at

    packages = Packages(folder)
    issues: dict[str, Issue] = {}
    for placed in plan.shapes:
        shape, path = placed.shape, root + placed.path[len(plan.root) :]
        element = next((one for one in shape.element.walk() if one.tag == "mesh"), None)
        if element is None or shape.uri.startswith(("package://", "model://")) or packages.file(shape.uri):
            continue
        mesh = mesh_at(stage, path, shape.scale, colored=shape.material is None)
        if mesh is not None:
            kind = "collision" if placed.is_collider else "visual"
            edits.set(element, "filename", files.uri(mesh, PurePosixPath(shape.uri).stem, kind))
        else:
            issues[shape.uri] = Issue(
                "UrdfFileMissing", "warning", "", "",
                f"'{shape.uri}' is not found, and no object has its mesh, so the URDF names a file that is not there.",
                "Put the file there, or give the link another mesh.",
            )  # fmt: skip
    return list(issues.values())


def _move_files(robot: Robot, edits: TextEdits, folder: Path, target: Path) -> None:
    """Let relative paths lead to the same files from another folder."""
    if os.path.realpath(folder) == os.path.realpath(target):
        return
    below: Callable[[Path], str] = lambda file: Path(os.path.relpath(file, target)).as_posix()  # noqa: E731
    for element in robot.element.walk():
        uri = element.get("filename")
        if element.tag not in ("mesh", "texture") or not uri or "://" in uri or Path(uri).is_absolute():
            continue
        file = folder / uri.replace("\\", "/")
        if file.is_file() or Path(unquote(str(file))).is_file():
            edits.set(element, "filename", below(file))


def _take_files(robot: Robot, edits: TextEdits, folder: Path, home: RosPackage) -> list[Issue]:
    """Copy meshes and images into a package, and name them there."""
    from ..urdf.packages import IMAGE_SUFFIXES, MESH_SUFFIXES, Packages

    packages = Packages(folder)
    notes = []
    issues: dict[str, Issue] = {}
    for element in robot.element.walk():
        uri = element.get("filename")
        if element.tag not in ("mesh", "texture") or not uri or "filename" in edits.changed.get(element, {}):
            continue
        file = packages.file(uri, MESH_SUFFIXES | IMAGE_SUFFIXES)
        if file is not None:
            notes.append((element, file))
        else:
            issues[uri] = Issue(
                "UrdfFileMissing", "warning", "", "", f"'{uri}' was not found and is missing from the package.",
                "Put the file there, or import the URDF from the folder of its package.",
            )  # fmt: skip
    uris = home.take(list(dict.fromkeys(file for _, file in notes)))
    for element, file in notes:
        edits.set(element, "filename", uris[file])
    return list(issues.values())
