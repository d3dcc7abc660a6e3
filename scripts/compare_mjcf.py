# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares models of MuJoCo as this program reads them with MuJoCo itself. Needs a Python with mujoco and usd-core.

    python scripts/compare_mjcf.py FOLDER

Prints a line for each file that differs, and one for each figure. Files that MuJoCo refuses, and those with parts that
are not read, so that their numbers of bodies differ, do not count.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bench

sys.path.insert(0, str(bench.ROOT))
import mujoco
import numpy as np

from usdphys_addon.core.errors import UsdPhysError
from usdphys_addon.mjcf import layout, matter, read
from usdphys_addon.mjcf.values import Model

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
        if geom.type in SHAPES and np.abs(judge.geom_pos[number] - geom.pose[:3, 3]).max() > 1e-6:
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


def main(arguments: list[str]) -> int:
    mujoco.set_mju_user_warning(lambda _text: None)
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
