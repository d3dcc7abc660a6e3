# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a Python with `newton[sim]`, `usd-core` and `scipy`: simulates USD files in Newton.

MuJoCo's solver is used, and for files with deformables Newton's own (VBD): in MuJoCo's a cloth stands still. Newton
needs scipy for hulls of meshes.

    python run_newton.py FILE STEPS SECONDS POSES [FILE STEPS SECONDS POSES ...]
    python run_newton.py --live

Writes the poses of all bodies at the start and after each step of so many seconds to POSES, a .npz file: names (n,) of
prims, poses (steps + 1, n, 7): x, y, z, then a quaternion x, y, z, w, in the length unit of the stage and with Z
up. They are NaN once the solver has lost a body. deformables (k,): paths of cloths and soft bodies; points
(steps + 1, m, 3): all their points one after the other, of which each has so many as counts (k,) says. cables (c,):
paths of cables; spans (c, 2): first and end of their segments among the bodies. Exit status 1 where a file failed; the
others are simulated all the same. --live: answers requests, see `pipe`.
"""

from __future__ import annotations

import math
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pipe import Arrays, Message, Scene, jobs, save, serve  # type: ignore[import-not-found,unused-ignore]

#: Steps of the solver per second, at least.
RATE = 480.0
#: How much stiffer friction is than the contact. At 1, MuJoCo's own, what lies on the ground creeps by 1 cm/s; now by
#: 0.1 mm/s.
IMPEDANCE = 100.0
#: Time, s, in which joints that close a loop pull together: the shortest that MuJoCo takes is two of its steps. With
#: its own, 0.02, they stretch by millimetres under the weight of a rope.
CLOSING = 2.0 / RATE
#: Steps of the solver for deformables per second, at least, and its iterations in each. With 10, a hanging cable sags
#: by 2 % too much.
SOFT_RATE, ITERATIONS, CABLE_ITERATIONS = 600.0, 10, 30
#: How firmly friction of joints holds, from 0 to 1. With MuJoCo's own 0.9, what hangs on it creeps by 1 mm/s for each
#: m/s2 that it holds back.
HOLDING = 0.9999
#: Radius of the points of a soft body, as a share of the mean edge of its tetrahedra. Newton's own, 0.1 m, lets a cube
#: of 40 cm rest 8 cm above the floor.
RADIUS = 0.1
#: rad: how far a joint may be outside of its limits by rounding.
SLACK = 1e-4
#: rad, or units of length: half of the range of a joint whose limits are the same.
LOCKED = 1e-5


def unwound(angle: float, low: float, high: float) -> float:
    """The same angle as near to zero as it can be, and whole turns away if it is within its limits only there; rad.

    Newton finds angles from 0 to 360 degrees: a hinge that starts at zero may be said to be at the end of its range.
    """
    turn = 2.0 * math.pi
    near = math.remainder(angle, turn)
    moved = near
    if near < low - SLACK:
        moved = near + turn * math.ceil((low - SLACK - near) / turn)
    elif near > high + SLACK:
        moved = near - turn * math.ceil((near - high - SLACK) / turn)
    return moved if low - SLACK <= moved <= high + SLACK else near


def anchored(file: str) -> Any:
    """The file, or its stage with a mass for kinematic bodies that have neither a mass nor a shape.

    Newton gives such a body no joint, and its solver for deformables fails where there is none at all. A kinematic body
    moves as it is told, whatever it weighs.
    """
    from pxr import Tf, Usd, UsdPhysics

    try:
        stage = Usd.Stage.Open(file)
    except Tf.ErrorException:
        return file  # Newton says why
    light = []
    for prim in stage.Traverse():
        body = UsdPhysics.RigidBodyAPI(prim) if prim.HasAPI(UsdPhysics.RigidBodyAPI) else None
        if body is None or not body.GetKinematicEnabledAttr().Get() or UsdPhysics.MassAPI(prim).GetMassAttr().Get():
            continue
        if not any(one.HasAPI(UsdPhysics.CollisionAPI) for one in Usd.PrimRange(prim)):
            light.append(prim)
    if not light:
        return file
    stage.SetEditTarget(stage.GetSessionLayer())
    for prim in light:
        mass = UsdPhysics.MassAPI.Apply(prim)
        mass.CreateMassAttr(1.0)
        mass.CreateDiagonalInertiaAttr((0.01, 0.01, 0.01))
    return stage


def _solver(newton: Any, model: Any) -> Any:
    """MuJoCo's solver for a model.

    Raises ValueError with the paths of prims, in which MuJoCo has underscores for the slashes.
    """
    try:
        solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, cone="elliptic", impratio=IMPEDANCE)
    except ValueError as error:
        text = str(error)
        for label in model.body_label:
            text = text.replace(f"'{re.sub('[^A-Za-z0-9_]', '_', label)}'", f"'{label}'")
        raise ValueError(text) from None
    # Negative ones are those by which Newton lets kinematic bodies keep their velocity.
    times = solver.mj_model.eq_solref[:, 0]
    times[times > 0.0] = CLOSING
    _hold(solver)
    return solver


def _hold(solver: Any) -> None:
    """Let friction of joints hold. To be called again when the properties of joints have changed: Newton sets them."""
    solver.mj_model.dof_solref[:] = (CLOSING, 1.0)
    solver.mj_model.dof_solimp[:, :2] = HOLDING


def _filter(model: Any, solver: Any) -> None:
    """Keep pairs of shapes apart that the file filters.

    Newton packs pairs into MuJoCo's 32 groups, and some of what is filtered collides all the same. Where none does,
    MuJoCo is not asked to call Python for each pair that is near, which takes most of the time of a heap.
    """
    import mujoco

    shapes = solver.mjc_geom_to_newton_shape.numpy().reshape(-1).tolist()
    filtered = np.asarray(model.shape_collision_filter_pairs_array(), int).reshape(-1, 2)
    pairs = {frozenset(pair) for pair in filtered.tolist()}
    own = solver.mj_model
    types, meets = (row.tolist() for row in (own.geom_contype, own.geom_conaffinity))
    geoms = {shape: geom for geom, shape in enumerate(shapes) if shape >= 0}
    missed = False
    for first, second in filtered.tolist():
        one, other = geoms.get(first), geoms.get(second)
        if one is None or other is None or own.geom_bodyid[one] == own.geom_bodyid[other]:
            continue
        missed = missed or bool(types[one] & meets[other] or types[other] & meets[one])
    if not missed:
        return

    def is_filtered(_model: Any, _data: Any, one: int, other: int) -> bool:
        is_in_groups = types[one] & meets[other] or types[other] & meets[one]
        return not is_in_groups or frozenset((shapes[one], shapes[other])) in pairs

    mujoco.set_mjcb_contactfilter(is_filtered)


def _deformables(builder: Any, found: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """The range of points of each cloth and soft body of a file, by path; gives soft bodies a radius of their size."""
    ranges: dict[str, tuple[int, int]] = {}
    for kind in ("path_cloth_map", "path_soft_map"):
        ranges.update({path: row["particle"] for path, row in found.get(kind, {}).items()})
    places = np.array(builder.particle_q, float).reshape(-1, 3)
    tets = np.array(builder.tet_indices, int).reshape(-1, 4)
    for path, row in found.get("path_soft_map", {}).items():
        own = tets[slice(*row["tet"])]
        edge = np.linalg.norm(places[own[:, 1]] - places[own[:, 0]], axis=1).mean()
        first, end = ranges[path]
        builder.particle_radius[first:end] = [RADIUS * float(edge)] * (end - first)
    return ranges


def _part_limits(builder: Any) -> None:
    """Part the limits of joints whose lower and upper limit are the same: MuJoCo takes no range without a length."""
    lows, highs = builder.joint_limit_lower, builder.joint_limit_upper
    for axis, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low == high:
            lows[axis], highs[axis] = low - LOCKED, high + LOCKED


def _loose(builder: Any) -> list[str]:
    """Joints to the world that are in no articulation: they start at zero, and of what hangs on them Newton does not
    compute the poses."""
    rows = zip(builder.joint_label, builder.joint_articulation, builder.joint_parent, strict=True)
    return [label for label, owner, parent in rows if owner < 0 and parent < 0]


def _unwound_hinges(newton: Any, model: Any, positions: Any) -> Any:
    """Coordinates of all joints, with those of hinges `unwound`."""
    names = ("joint_type", "joint_q_start", "joint_qd_start", "joint_limit_lower", "joint_limit_upper")
    kinds, places, axes, lows, highs = (getattr(model, name).numpy().tolist() for name in names)
    for row, kind in enumerate(kinds):
        if kind == newton.JointType.REVOLUTE:
            place, axis = places[row], axes[row]
            positions[place] = unwound(float(positions[place]), lows[axis], highs[axis])
    return positions


class _Rigid:
    """MuJoCo's solver."""

    rate = RATE

    def __init__(self, newton: Any, model: Any) -> None:
        self.solver, self.clock = _solver(newton, model), 0.0
        _filter(model, self.solver)

    def begin(self) -> None:
        import mujoco

        mujoco.mj_resetData(self.solver.mj_model, self.solver.mj_data)
        self.clock = 0.0

    def step(self, now: Any, after: Any, control: Any, seconds: float) -> None:
        self.solver.step(now, after, control, None, seconds)

    def read(self, now: Any) -> tuple[Any, Any]:
        """(poses (n, 7), velocities (n, 6)) of all bodies, of which Newton has those of articulations only."""
        import mujoco

        model, data = self.solver.mj_model, self.solver.mj_data
        poses, speeds = now.body_q.numpy().copy(), now.body_qd.numpy().copy()
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        both = np.zeros(6)
        for body, row in enumerate(self.solver.mjc_body_to_newton.numpy()[0].tolist()):
            if body and row >= 0:
                poses[row] = [*data.xpos[body], *np.roll(data.xquat[body], -1)]
                mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, both, 0)
                speeds[row] = np.roll(both, 3)
        return poses, speeds

    def is_lost(self) -> bool:
        """MuJoCo begins anew at the start where it has lost a body, and logs it in a file."""
        before, self.clock = self.clock, float(self.solver.mj_data.time)
        return self.clock < before


class _Soft:
    """Newton's solver for deformables, and for bodies beside them."""

    rate = SOFT_RATE

    def __init__(self, newton: Any, model: Any, iterations: int) -> None:
        self.solver = newton.solvers.SolverVBD(model, iterations=iterations)
        self.pipeline = newton.CollisionPipeline(model)
        self.contacts = self.pipeline.contacts()

    def begin(self) -> None:
        """It keeps nothing that a start does not have."""

    def step(self, now: Any, after: Any, control: Any, seconds: float) -> None:
        self.pipeline.collide(now, self.contacts)
        self.solver.step(now, after, control, self.contacts, seconds)

    def is_lost(self) -> bool:
        return False


class Loaded:
    """A USD file in Newton, on the processor. Poses are of the bodies of `model`, in its order."""

    def __init__(self, file: str, seconds: float, substeps: int = 0) -> None:
        """seconds: of a step. substeps: of the solver in it; 0: as many as it needs."""
        import mujoco
        import newton
        import warp

        warp.config.quiet = True
        # That of the file before.
        mujoco.set_mjcb_contactfilter(None)
        builder = newton.ModelBuilder()
        self.built = builder.add_usd(anchored(file), load_visual_shapes=False, return_deformable_results=True)
        self.ranges = _deformables(builder, self.built)
        self.loose = _loose(builder)
        _part_limits(builder)
        has_cables = bool(self.built.get("path_cable_map"))
        self.is_soft = has_cables or bool(self.ranges)
        if self.is_soft:
            builder.color()
        self.model = builder.finalize()
        iterations = CABLE_ITERATIONS if has_cables else ITERATIONS
        self.solver: Any = _Soft(newton, self.model, iterations) if self.is_soft else _Rigid(newton, self.model)
        self.control = self.model.control()
        self.parts = substeps or max(1, round(seconds * self.solver.rate))
        self.seconds = seconds
        self.start = self._started(newton)
        self.begin()

    def _started(self, newton: Any) -> Any:
        """The state that the file has."""
        state = self.model.state()
        if self.model.joint_count:
            # Joints start at the angles that the poses in the file have, and not at zero.
            newton.eval_ik(self.model, state, state.joint_q, state.joint_qd)
            state.joint_q.assign(_unwound_hinges(newton, self.model, state.joint_q.numpy()))
            newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)
        return state

    def begin(self) -> None:
        """Go to the start."""
        self.now, self.after = self.model.state(), self.model.state()
        self.now.assign(self.start)
        self.has_begun = False
        self.solver.begin()

    def read(self) -> tuple[Any, Any]:
        """Poses (n, 7), the quaternion last, w last, and velocities (n, 6) of all bodies."""
        if self.loose and self.has_begun and not self.is_soft:
            poses, speeds = self.solver.read(self.now)
            return poses, speeds
        return self.now.body_q.numpy(), self.now.body_qd.numpy()

    def step(self, forces: Callable[[int], None] | None = None) -> None:
        """A step. forces: called with the number of each of its parts before that."""
        self.has_begun = True
        for part in range(self.parts):
            self.now.clear_forces()
            if forces is not None:
                forces(part)
            self.solver.step(self.now, self.after, self.control, self.seconds / self.parts)
            self.now, self.after = self.after, self.now


def _simulate(file: str, steps: int, seconds: float, target: str) -> None:
    import warp

    with warp.ScopedDevice("cpu"):
        loaded = Loaded(file, seconds)
        model, ranges = loaded.model, loaded.ranges
        poses = np.full((steps + 1, model.body_count, 7), np.nan)
        rows = np.concatenate([np.arange(*row) for row in ranges.values()]) if ranges else np.zeros(0, int)
        points = np.full((steps + 1, len(rows), 3), np.nan)
        for number in range(steps + 1):
            if number:
                loaded.step()
            if loaded.solver.is_lost():
                break
            if model.body_count:
                poses[number] = loaded.read()[0]
            if len(rows):
                points[number] = loaded.now.particle_q.numpy()[rows]
            print(f"step {number}", flush=True)
    counts = [end - first for first, end in ranges.values()]
    found = loaded.built.get("path_cable_map", {})
    cables = {path: (min(bodies), max(bodies) + 1) for path, (bodies, _) in found.items()}
    save(
        target, names=np.array(model.body_label, str), poses=poses, is_z_up=True,
        deformables=np.array(list(ranges), str), counts=np.array(counts, int), points=points,
        cables=np.array(list(cables), str), spans=np.array(list(cables.values()), int).reshape(-1, 2),
    )  # fmt: skip


class Live(Scene):  # type: ignore[misc,unused-ignore]
    """A scene that is stepped as it is asked for. Its file is in metres, with Z up."""

    def build(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        import newton
        import warp

        warp.config.quiet = True
        warp.set_device("cpu")
        self._loaded = loaded = Loaded(str(header["file"]), float(header["seconds"]), int(header["substeps"]))
        model, types = loaded.model, newton.JointType
        if loaded.is_soft:
            raise ValueError("cloth, soft bodies and cables do not stream; bake them")
        names = ("joint_type", "joint_child", "joint_q_start", "joint_qd_start", "joint_target_mode")
        kinds, children, firsts, speeds, modes = (
            getattr(model, name).numpy().tolist() if model.joint_count else [] for name in names
        )
        #: Of bodies on a free joint: where its coordinates and speeds begin.
        self._free = {
            child: (firsts[row], speeds[row])
            for row, (kind, child) in enumerate(zip(kinds, children, strict=True)) if kind == types.FREE
        }  # fmt: skip
        self._starts = model.joint_target_q_start.numpy().tolist() if model.joint_count else []
        self._joints = {
            label: (row, speeds[row])
            for row, label in enumerate(model.joint_label)
            if kinds[row] in (types.REVOLUTE, types.PRISMATIC) and modes[speeds[row]]
        }
        self._gains = [model.joint_target_ke.numpy().copy(), model.joint_target_kd.numpy().copy(),
                       model.joint_effort_limit.numpy().copy()] if model.joint_count else []  # fmt: skip
        self._targets = [loaded.control.joint_target_q.numpy().copy(),
                         loaded.control.joint_target_qd.numpy().copy()] if model.joint_count else []  # fmt: skip
        self._gravity = model.gravity.numpy().copy()
        # What is compiled for the first step takes longer than a step may.
        loaded.step()
        loaded.begin()
        takes = {"bodies": list(model.body_label), "takes": ["drives", "gravity"], "joints": list(self._joints)}
        takes["at_zero"] = loaded.loose
        return takes, {"states": self._states()}

    def reset(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        loaded = self._loaded
        if self._gains:
            self._set_gains(self._gains)
            for array, values in zip(
                (loaded.control.joint_target_q, loaded.control.joint_target_qd), self._targets, strict=True
            ):
                array.assign(values)
        self._set_gravity(self._gravity)
        loaded.begin()
        return {}, {"states": self._states()}

    def step(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        loaded = self._loaded
        if "gravity" in header:
            self._set_gravity(np.array(header["gravity"], np.float32))
        for row in header.get("drives", ()):
            self._drive(*row)
        pushed, wrenches = arrays.get("pushed", ()), arrays.get("wrenches")
        ways = {
            int(row): (np.array(loaded.now.body_q.numpy()[row], float), _newtons(pose))
            for row, pose in zip(arrays.get("led", ()), arrays.get("poses", ()), strict=True)
        }

        def push(part: int) -> None:
            if len(pushed):
                self._push(pushed, wrenches)
            for row, (old, new) in ways.items():
                self._lead(row, old, new, part / loaded.parts)

        loaded.step(push)
        if loaded.solver.is_lost():
            raise ValueError("MuJoCo lost a body and began anew; check masses, scales and gains")
        for row, (old, new) in ways.items():
            self._lead(row, old, new, 1.0, stops=True)
        return {}, {"states": self._states()}

    def _push(self, rows: Any, wrenches: Any) -> None:
        """Forces at points as forces at the centres of mass."""
        state, forces = self._loaded.now, self._loaded.now.body_f.numpy().copy()
        centers = self._loaded.model.body_com.numpy()
        for row, wrench in zip(rows, wrenches, strict=True):
            pose = state.body_q.numpy()[row]
            center = pose[:3] + _turned(pose[3:], centers[row])
            forces[row, :3] += wrench[:3]
            forces[row, 3:] += wrench[3:6] + np.cross(wrench[6:] - center, wrench[:3])
        state.body_f.assign(forces)

    def _lead(self, row: int, old: Any, new: Any, part: float, *, stops: bool = False) -> None:
        """Put a kinematic body on its way from a pose to another, with the velocity of that."""
        import newton

        state, seconds = self._loaded.now, self._loaded.seconds
        place = old[:3] + part * (new[:3] - old[:3])
        turn = old[3:] + part * ((new[3:] if old[3:] @ new[3:] >= 0.0 else -new[3:]) - old[3:])
        turn /= np.linalg.norm(turn)
        velocity = np.zeros(6) if stops else np.concatenate([(new[:3] - old[:3]) / seconds, _spin(old, new) / seconds])
        if row in self._free:
            first, speed = self._free[row]
            coordinates, speeds = state.joint_q.numpy().copy(), state.joint_qd.numpy().copy()
            coordinates[first : first + 7] = [*place, *turn]
            speeds[speed : speed + 6] = velocity
            state.joint_q.assign(coordinates)
            state.joint_qd.assign(speeds)
            newton.eval_fk(self._loaded.model, state.joint_q, state.joint_qd, state)

    def _drive(
        self, joint: str, _dof: str, stiffness: float, damping: float, target: float, speed: float, most: float | None
    ) -> None:
        model, control = self._loaded.model, self._loaded.control
        row, dof = self._joints[joint]
        gains = [model.joint_target_ke.numpy().copy(), model.joint_target_kd.numpy().copy(),
                 model.joint_effort_limit.numpy().copy()]  # fmt: skip
        for array, value in zip(gains, (stiffness, damping, 1e6 if most is None else most), strict=True):
            array[dof] = value
        self._set_gains(gains)
        for array, place, value in (
            (control.joint_target_q, self._starts[row], target), (control.joint_target_qd, dof, speed),
        ):  # fmt: skip
            values = array.numpy().copy()
            values[place] = value
            array.assign(values)

    def _set_gains(self, gains: list[Any]) -> None:
        import newton

        model = self._loaded.model
        arrays = (model.joint_target_ke, model.joint_target_kd, model.joint_effort_limit)
        for array, values in zip(arrays, gains, strict=True):
            array.assign(values)
        solver = self._loaded.solver.solver
        solver.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)
        _hold(solver)

    def _set_gravity(self, gravity: Any) -> None:
        import newton

        self._loaded.model.set_gravity(gravity)
        self._loaded.solver.solver.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)

    def _states(self) -> Any:
        if not self._loaded.model.body_count:
            return np.zeros((0, 13))
        poses, speeds = self._loaded.read()
        return np.concatenate([poses[:, :3], poses[:, 6:], poses[:, 3:6], speeds], axis=1)


def _newtons(pose: Any) -> Any:
    """A pose with the quaternion as Newton has it: x, y, z, w."""
    return np.concatenate([pose[:3], pose[4:], pose[3:4]])


def _turned(turn: Any, vector: Any) -> Any:
    """A vector turned by a quaternion (x, y, z, w)."""
    return vector + 2.0 * np.cross(turn[:3], np.cross(turn[:3], vector) + turn[3] * vector)


def _spin(old: Any, new: Any) -> Any:
    """The rotation vector (3,), rad, from a pose to another."""
    (ax, ay, az, aw), (bx, by, bz, bw) = old[3:], new[3:]
    x, y, z = (
        -bw * ax + bx * aw - by * az + bz * ay, -bw * ay + bx * az + by * aw - bz * ax,
        -bw * az - bx * ay + by * ax + bz * aw,
    )  # fmt: skip
    w = bw * aw + bx * ax + by * ay + bz * az
    vector = np.array([x, y, z]) * (1.0 if w >= 0.0 else -1.0)
    size = float(np.linalg.norm(vector))
    return vector * (2.0 * np.arctan2(size, abs(w)) / size) if size > 1e-12 else 2.0 * vector


def main(arguments: list[str]) -> int:
    """Simulate and write, or answer requests. Returns the exit status."""
    if arguments == ["--live"]:
        return int(serve(Live))
    status = 0
    for file, steps, seconds, target in jobs(arguments):
        try:
            _simulate(file, int(steps), float(seconds), target)
        except Exception:
            traceback.print_exc()
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
