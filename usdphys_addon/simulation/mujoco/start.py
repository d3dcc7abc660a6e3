# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a scene in MuJoCo begins: coordinates and speeds that fit the poses and velocities of its bodies."""

from __future__ import annotations

import math
import sys

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames
from ...core.frames import Matrix
from ...core.schemas import usd_physics
from .. import ball_rows
from ..weights import Weight
from .compiled import Compiled
from .specification import HEAVY

Floats = NDArray[np.float64]
#: m or rad. Joints that are further apart are named.
APART = 1e-4
#: Of MuJoCo's solver: below, its improvements are rounding.
LEAST_TOLERANCE = 1e-12
_HEAVY_WEIGHT = Weight(HEAVY, (0.0, 0.0, 0.0), (HEAVY, HEAVY, HEAVY), (1.0, 0.0, 0.0, 0.0))


def scale_tolerance(scene: Compiled) -> None:
    """Let MuJoCo's solver end when it is near enough for the bodies that move by themselves: it compares with the
    mean inertia of all, and by that of heavy bodies, which others lead, it would end at once.
    """
    model = scene.model
    leading = scene.ids[[scene.rows[path] for path in scene.kinematic]]
    own = np.flatnonzero(~np.isin(model.dof_bodyid, leading))
    if len(leading) and len(own):
        share = float(model.dof_M0[own].mean() / model.dof_M0.mean())
        model.opt.tolerance = max(model.opt.tolerance * share, LEAST_TOLERANCE)


def place(scene: Compiled, poses: list[Matrix]) -> None:
    """Set the coordinates so that bodies are at poses (4, 4), as far as their joints allow."""
    qpos = scene.data.qpos
    linked = {link.child for link in scene.links}
    for path, row in scene.rows.items():
        number = scene.ids[row]
        placed = np.concatenate([poses[row][:3, 3], frames.quaternion_of(poses[row][:3, :3])])
        if path not in linked:
            start = scene.model.jnt_qposadr[scene.model.body_jntadr[number]]
            qpos[start : start + 7] = placed
    for link in scene.links:
        parent = poses[scene.rows[link.parent]] if link.parent else np.eye(4)
        child = poses[scene.rows[link.child]]
        if link.is_ball:
            turn = np.linalg.inv(parent @ link.ends[0]) @ child @ link.ends[1]
            frame = link.ends[1][:3, :3]
            start = scene.model.joint(f"{link.facts.path} ball").qposadr[0]
            qpos[start : start + 4] = frames.quaternion_of(frame @ turn[:3, :3] @ frame.T)
            continue
        values = link.values(parent, child)
        for axis in link.chain:
            freedom = link.facts.freedoms[axis]
            value = min(max(values[axis], freedom.low), freedom.high)
            qpos[scene.model.joint(f"{link.facts.path} {axis}").qposadr[0]] = value
    mujoco.mj_kinematics(scene.model, scene.data)
    mujoco.mj_comPos(scene.model, scene.data)


def part_rows(scene: Compiled, poses: list[Matrix]) -> None:
    """Make balls smaller that touch and bounce in a row, as in Newton's cradle: blows pass one after the other."""
    model, free = scene.model, [path for path in scene.rows if path not in scene.kinematic]
    bodies = scene.ids[[scene.rows[path] for path in free]].tolist()
    # Those of a body follow each other.
    geoms = [model.body_geomadr[body] + np.arange(model.body_geomnum[body]) for body in bodies]
    bounces = np.array([scene.surfaces.values[own, 2].max(initial=-1.0) for own in geoms])
    if bounces.max(initial=-1.0) < ball_rows.LIVELY:
        return
    sizes = np.array([2.0 * model.geom_aabb[own, 3:].min(axis=1, initial=np.inf).max(initial=0.0) for own in geoms])
    places = np.array([poses[scene.rows[path]][:3, 3] for path in free])
    for row in ball_rows.rows_that_bounce(places, sizes, bounces):
        prim = scene.setup.bodies[free[row[0]]].prim
        shapes = np.concatenate([geoms[each] for each in row])
        are_balls = (model.geom_type[shapes] == int(mujoco.mjtGeom.mjGEOM_SPHERE)).all()
        if are_balls:
            model.geom_size[shapes, 0] *= 1.0 - ball_rows.GAP
        text = ball_rows.parted_text(prim) if are_balls else ball_rows.weak_text(prim)
        scene.setup.notices.add("BouncesInRow", prim, text)


def keep_centers(scene: Compiled, poses: list[Matrix]) -> None:
    """Move each tree that stands on nothing so that closing its joints leaves its centre of mass where it was."""
    model, data = scene.model, scene.data
    shifts: dict[int, list[Floats]] = {}
    for path, weight in scene.weights.items():
        body = int(scene.ids[scene.rows[path]])
        wanted = poses[scene.rows[path]] @ (*weight.center, 1.0)
        root = int(model.body_rootid[body])
        shifts.setdefault(root, []).append(np.append(wanted[:3] - data.xipos[body], 1.0) * weight.mass)
    leading = {int(scene.ids[scene.rows[path]]) for path in scene.kinematic}
    for root, parts in shifts.items():
        total = np.sum(parts, axis=0)
        if model.body_dofnum[root] == 6 and root not in leading and total[3] > 0.0:
            start = model.jnt_qposadr[model.body_jntadr[root]]
            data.qpos[start : start + 3] += total[:3] / total[3]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)


def report_apart(scene: Compiled, poses: list[Matrix]) -> None:
    """Name the joints whose bodies are moved to where the joint allows."""
    for link in scene.links:
        parent = poses[scene.rows[link.parent]] if link.parent else np.eye(4)
        values = link.values(parent, poses[scene.rows[link.child]])
        for axis, freedom in enumerate(link.facts.freedoms):
            low, high = (0.0, 0.0) if freedom.is_locked else (freedom.low, freedom.high)
            if not low - APART <= values[axis] <= high + APART:
                prim = link.facts.prim
                scene.setup.notices.add(
                    "JointApart", prim, f"{prim.display} is apart at the start: its bodies are moved."
                )
                break


def throw(scene: Compiled) -> None:
    """Velocities at the start: those of the joints that fit those of the bodies best, by mass."""
    wanted: dict[int, list[tuple[int, Floats, Weight]]] = {}
    moving = set()
    for row, body in enumerate(scene.setup.bodies.values()):
        number = int(scene.ids[row])
        if scene.model.body_treeid[number] < 0:
            continue
        api = body.prim.get(usd_physics.RigidBodyAPI)
        assert api is not None
        velocity = body.velocity_scale * body.rotation @ np.asarray(api.resolved("velocity"), float)
        spin = body.rotation @ np.asarray(api.resolved("angular_velocity"), float)
        tree = int(scene.model.body_treeid[number])
        both = np.concatenate([velocity, spin]) if not body.is_kinematic else np.zeros(6)
        weight = scene.weights.get(body.prim.path, _HEAVY_WEIGHT)
        wanted.setdefault(tree, []).append((number, both, weight))
        if both.any():
            moving.add(tree)
    for tree in moving:
        dofs = np.flatnonzero(scene.model.dof_treeid == tree)
        left, right = [], []
        for number, both, weight in wanted[tree]:
            straight, turning = np.zeros((3, scene.model.nv)), np.zeros((3, scene.model.nv))
            mujoco.mj_jacBodyCom(scene.model, scene.data, straight, turning, number)
            # Moments of what is larger than all numbers have none.
            heavy, around = math.sqrt(weight.mass), math.sqrt(min(max(weight.moments), sys.float_info.max))
            left += [heavy * straight[:, dofs], around * turning[:, dofs]]
            right += [heavy * both[:3], around * both[3:]]
        scene.data.qvel[dofs] = np.linalg.lstsq(np.concatenate(left), np.concatenate(right), rcond=None)[0]
