# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares models of MuJoCo as this program reads them with MuJoCo itself. Needs a Python with mujoco and usd-core.

    python scripts/compare_mjcf.py FOLDER
    python scripts/compare_mjcf.py FOLDER --back

Prints a line for each file that differs, and one for each figure. Files that MuJoCo refuses, and those with parts that
are not read, so that their numbers of bodies differ, do not count. --back: each goes through a USD file and back, once
as the text that is kept, and once as a new text, which MuJoCo holds against the old one: masses, places of bodies at
50 random states, forces of joints at 5 of them, and 100 steps without contacts from the start and from each keyframe.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import bench

sys.path.insert(0, str(bench.ROOT))
import mujoco
import numpy as np
from pxr import UsdPhysics

from usdphys_addon.core.errors import UsdPhysError
from usdphys_addon.mjcf import further, layout, matter, read
from usdphys_addon.mjcf.values import Model
from usdphys_addon.usd import mjcf_file, mjcf_stage
from usdphys_addon.usd import read as usd_read

SHAPES = {"box", "sphere", "capsule", "cylinder", "plane"}


def matrix_of(quaternion: Any) -> Any:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quaternion)
    return flat.reshape(3, 3)


def values(model: Model, judge: Any) -> list[str]:
    """Where bodies, joints and shapes have other numbers."""
    found = []
    for number, body in enumerate(model.bodies):
        place = np.abs(judge.body_pos[number] - body.pose[:3, 3]).max()
        turn = np.abs(matrix_of(judge.body_quat[number]) - body.pose[:3, :3]).max()
        if max(place, turn) > 1e-6:
            found.append(f"pose of {body.name}")
    joints = [joint for body in model.bodies for joint in body.joints]
    if len(joints) != judge.njnt:
        return [*found, f"{len(joints)} of {judge.njnt} joints"]
    for number, joint in enumerate(joints):
        if joint.type not in ("hinge", "slide"):
            continue
        row = judge.jnt_dofadr[number]
        limits = tuple(judge.jnt_range[number]) if judge.jnt_limited[number] else None
        same = (limits is None) == (joint.range is None) and (limits is None or np.allclose(limits, joint.range))
        own = (joint.armature, joint.damping, joint.friction, joint.stiffness)
        theirs = (judge.dof_armature[row], judge.dof_damping[row], judge.dof_frictionloss[row],
                  judge.jnt_stiffness[number])  # fmt: skip
        if not same or not np.allclose(own, theirs) or np.abs(judge.jnt_axis[number] - joint.axis).max() > 1e-6:
            found.append(f"joint {joint.name}")
    geoms = [geom for body in model.bodies for geom in body.geoms]
    if len(geoms) != judge.ngeom:
        return [*found, f"{len(geoms)} of {judge.ngeom} geoms"]
    for number, geom in enumerate(geoms):
        if geom.type not in SHAPES:
            continue
        size = np.abs(judge.geom_size[number][: len(geom.size)] - geom.size).max() if geom.type != "plane" else 0.0
        if np.abs(judge.geom_pos[number] - geom.pose[:3, 3]).max() > 1e-6 or size > 1e-6:
            found.append(f"geom {geom.name}")
    return found


def masses(planned: layout.Layout, judge: Any) -> list[str]:
    """Where bodies have another mass, centre or inertia."""
    found = []
    for number, own in enumerate(matter.inertials(planned.source, layout.mesh_reader(planned.source))):
        there = float(judge.body_mass[number]) if number else 0.0
        name, here = planned.source.bodies[number].name, own.mass if own is not None else 0.0
        if abs(here - there) > 1e-6 * max(there, 1e-6):
            found.append(f"mass of {name} {here:.6g} {there:.6g}")
        elif own is not None:
            turn = matrix_of(judge.body_iquat[number])
            tensor = turn @ np.diag(judge.body_inertia[number]) @ turn.T
            off = np.abs(tensor - own.inertia).max() / max(np.abs(tensor).max(), 1e-30)
            if np.abs(own.center - judge.body_ipos[number]).max() > 1e-6 or off > 1e-5:
                found.append(f"inertia of {name}")
    return found


# --------------------------------------------------------------------------- there and back

#: How many numbers of pose and velocity belong to a joint, by MuJoCo's number of its type.
SIZES, SPEEDS = (7, 4, 1, 1), (6, 3, 1, 1)


class Pair:
    """Two compiled models whose bodies and joints are matched by the names that this program gives them."""

    def __init__(self, source: Model, before: Any, made: Model, after: Any) -> None:
        self.models, self.states = (before, after), (mujoco.MjData(before), mujoco.MjData(after))
        there = {body.name: row for row, body in enumerate(made.bodies)}
        self.bodies = [(row, there[body.name]) for row, body in enumerate(source.bodies) if row and body.name in there]
        self.lost = [body.name for row, body in enumerate(source.bodies) if body.name not in there and body.joints]
        known = {joint.name: row for row, joint in enumerate(joint for body in made.bodies for joint in body.joints)}
        self.joints: list[tuple[int, int, float]] = []
        row = -1
        for body in source.bodies:
            for joint in body.joints:
                row += 1
                other = known.get(joint.name, known.get(f"{body.name}_free", -1))
                if other < 0 or before.jnt_type[row] != after.jnt_type[other]:
                    self.lost.append(joint.name)
                    continue
                is_turned = joint.type in ("hinge", "slide") and before.jnt_axis[row] @ after.jnt_axis[other] < 0
                self.joints.append((row, other, -1.0 if is_turned else 1.0))
        named, others = (further.actuator_names(model) for model in (source, made))
        self.controls = [(row, others.index(name)) for row, name in enumerate(named[: before.nu])
                         if name and name in others[: after.nu]]  # fmt: skip
        for model in self.models:
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)

    def put(self, position: Any, velocity: Any, control: Any) -> None:
        """Give both the state of the first."""
        for model, data in zip(self.models, self.states, strict=True):
            mujoco.mj_resetData(model, data)
        first, second = self.states
        first.qpos[:], first.qvel[:] = position, velocity
        before, after = self.models
        for row, other, sign in self.joints:
            kind = before.jnt_type[row]
            at, to, size = before.jnt_qposadr[row], after.jnt_qposadr[other], SIZES[kind]
            second.qpos[to : to + size] = sign * position[at : at + size]
            at, to, size = before.jnt_dofadr[row], after.jnt_dofadr[other], SPEEDS[kind]
            second.qvel[to : to + size] = sign * velocity[at : at + size]
        for row, other in self.controls:
            first.ctrl[row] = second.ctrl[other] = control[row]

    def places(self) -> float:
        """The largest distance between two bodies, m."""
        first, second = self.states
        return max(
            (float(np.abs(first.xpos[row] - second.xpos[other]).max()) for row, other in self.bodies), default=0.0
        )

    def forces(self) -> float:
        """The largest difference of forces of springs, dampers and actuators, as a share of the largest force."""
        worst, most = 0.0, 1.0
        for row, other, sign in self.joints:
            size = SPEEDS[self.models[0].jnt_type[row]]
            totals = []
            for model, data, joint in zip(self.models, self.states, (row, other), strict=True):
                at = model.jnt_dofadr[joint]
                totals.append((data.qfrc_passive + data.qfrc_actuator)[at : at + size])
            worst = max(worst, float(np.abs(totals[0] - sign * totals[1]).max()))
            most = max(most, float(np.abs(totals[0]).max()))
        return worst / most

    def differences(self) -> list[str]:
        before, after = self.models
        found = [f"{name} is gone" for name in self.lost[:3]]
        for row, other in self.bodies:
            if abs(before.body_mass[row] - after.body_mass[other]) > 1e-6 * max(before.body_mass[row], 1e-6):
                found.append(f"mass of {before.body(row).name}")
        rng = np.random.default_rng(1)
        for trial in range(50):
            position = before.qpos0.copy()
            mujoco.mj_integratePos(before, position, rng.normal(size=before.nv) * 0.5, 1.0)
            self.put(position, rng.normal(size=before.nv), rng.uniform(-1.0, 1.0, before.nu))
            for model, data in zip(self.models, self.states, strict=True):
                mujoco.mj_forward(model, data) if trial < 5 else mujoco.mj_kinematics(model, data)
            # Positions of joints went through numbers of 32 bits.
            if self.places() > 1e-6 * max(1.0, float(np.abs(self.states[0].xpos).max())):
                found.append(f"place {self.places():.2g}")
                break
            if trial < 5 and self.forces() > 1e-5:
                found.append(f"forces {self.forces():.2g}")
                break
        if before.nkey != after.nkey:
            found.append(f"{after.nkey} of {before.nkey} keyframes")
        return found

    def steps(self) -> float:
        """How far apart bodies are after 100 steps from the start and each keyframe without contacts, m."""
        before, worst = self.models[0], 0.0
        for key in range(-1, before.nkey):
            start = before.qpos0 if key < 0 else before.key_qpos[key]
            velocity = np.zeros(before.nv) if key < 0 else before.key_qvel[key]
            control = np.zeros(before.nu) if key < 0 else before.key_ctrl[key]
            self.put(start, velocity, control)
            for _ in range(100):
                for model, data in zip(self.models, self.states, strict=True):
                    mujoco.mj_step(model, data)
            worst = max(worst, self.places())
        return worst


def back(file: Path, judge: Any, folder: Path) -> dict[str, bool]:
    """What holds of a file that goes through USD and back. Prints what does not."""
    planned = mjcf_stage.plan(file)
    if len(planned.source.bodies) != judge.nbody:
        return {}
    mjcf_stage.write_stage(planned, folder / "model.usdc", home=folder)
    found = {}
    for name in ("kept", "anew"):
        stage = usd_read.open_stage(folder / "model.usdc")
        if name == "anew":
            # A new body that is off has the text written anew.
            prim = stage.DefinePrim("/judge", "Xform")
            UsdPhysics.RigidBodyAPI.Apply(prim).CreateRigidBodyEnabledAttr(False)
        model = usd_read.read_stage(stage)
        mjcf_file.write_file(stage, model, folder / f"{name}.xml", folders=[file.parent])
        after = mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml"))
        pair = Pair(planned.source, judge, read.read_file(folder / f"{name}.xml"), after)
        differences, far = pair.differences(), pair.steps()
        found |= {name: not differences, f"{name}_steps": not differences and far < 1e-4}
        if differences or far >= 1e-4:
            print(f"{file} {name}: {'; '.join([*differences[:4], f'{far:.2g} m apart after 100 steps'])}")
        judge = mujoco.MjModel.from_xml_path(str(file))
    again = file.with_name(f"{file.stem}_again.xml")
    try:
        stage = usd_read.open_stage(folder / "model.usdc")
        mjcf_file.write_file(stage, usd_read.read_stage(stage), again)
        found["bytes"] = again.read_bytes() == file.read_bytes()
    finally:
        again.unlink(missing_ok=True)
    return found


def all_back(files: list[Path]) -> int:
    counts: Counter[str] = Counter()
    for file in files:
        try:
            judge = mujoco.MjModel.from_xml_path(str(file))
        except ValueError:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = back(file, judge, Path(folder))
            except (UsdPhysError, ValueError) as error:
                print(f"{file}: {' '.join(str(error).split())[:200]}")
                found = {"refused": True}
        counts.update(name for name, holds in found.items() if holds)
        counts["whole"] += bool(found)
    for name, value in counts.items():
        print(f"{name} {value} files")
    return 0


def main(arguments: list[str]) -> int:
    mujoco.set_mju_user_warning(lambda _text: None)
    if "--back" in arguments:
        return all_back(sorted(Path(arguments[0]).rglob("*.xml")))
    compiled = equal = same_mass = whole = 0
    for file in sorted(Path(arguments[0]).rglob("*.xml")):
        try:
            judge = mujoco.MjModel.from_xml_path(str(file))
        except ValueError:
            continue
        try:
            planned = layout.plan(read.read_file(file))
        except UsdPhysError as error:
            print(f"{file}: {error}")
            continue
        compiled += 1
        if len(planned.source.bodies) != judge.nbody:
            print(f"{file}: {len(planned.source.bodies)} of {judge.nbody} bodies")
            continue
        whole += 1
        differences, weights = values(planned.source, judge), masses(planned, judge)
        equal += not differences
        same_mass += not weights
        if differences or weights:
            print(f"{file}: {'; '.join([*differences, *weights][:4])}")
    for name, value in (("compiled", compiled), ("whole", whole), ("equal", equal), ("equal_mass", same_mass)):
        print(f"{name} {value} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
