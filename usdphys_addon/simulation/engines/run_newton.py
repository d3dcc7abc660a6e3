# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a Python with `newton[sim]`, `usd-core` and `scipy`: simulates USD files in Newton.

MuJoCo's solver is used, and for files with deformables Newton's own (VBD): in MuJoCo's a cloth stands still. Newton
needs scipy for hulls of meshes.

    python run_newton.py FILE STEPS SECONDS POSES [FILE STEPS SECONDS POSES ...]

Writes the poses of all bodies at the start and after each step of so many seconds to POSES, a .npz file: names (n,) of
prims, poses (steps + 1, n, 7): x, y, z, then a quaternion x, y, z, w, in the length unit of the stage and with Z
up. They are NaN once the solver has lost a body. deformables (k,): paths of cloths and soft bodies; points
(steps + 1, m, 3): all their points one after the other, of which each has so many as counts (k,) says. cables (c,):
paths of cables; spans (c, 2): first and end of their segments among the bodies. Exit status 1 where a file failed; the
others are simulated all the same.
"""

from __future__ import annotations

import re
import sys
import traceback
from typing import Any

import numpy as np

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
#: Radius of the points of a soft body, as a share of the mean edge of its tetrahedra. Newton's own, 0.1 m, lets a cube
#: of 40 cm rest 8 cm above the floor.
RADIUS = 0.1


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
    solver.mj_model.eq_solref[:, 0] = CLOSING
    return solver


def _filter(model: Any, solver: Any) -> None:
    """Keep pairs of shapes apart that the file filters.

    Newton packs pairs into MuJoCo's 32 groups, and some of what is filtered collides all the same.
    """
    import mujoco

    shapes = solver.mjc_geom_to_newton_shape.numpy().reshape(-1).tolist()
    pairs = {frozenset(pair) for pair in model.shape_collision_filter_pairs_array().tolist()}
    types, meets = (row.tolist() for row in (solver.mj_model.geom_contype, solver.mj_model.geom_conaffinity))

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


class _Rigid:
    """MuJoCo's solver."""

    rate = RATE

    def __init__(self, newton: Any, model: Any) -> None:
        self.solver, self.clock = _solver(newton, model), 0.0
        _filter(model, self.solver)

    def step(self, now: Any, after: Any, control: Any, seconds: float) -> None:
        self.solver.step(now, after, control, None, seconds)

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

    def step(self, now: Any, after: Any, control: Any, seconds: float) -> None:
        self.pipeline.collide(now, self.contacts)
        self.solver.step(now, after, control, self.contacts, seconds)

    def is_lost(self) -> bool:
        return False


def _simulate(file: str, steps: int, seconds: float, target: str) -> None:
    import mujoco
    import newton
    import warp

    warp.config.quiet = True
    # That of the file before.
    mujoco.set_mjcb_contactfilter(None)
    with warp.ScopedDevice("cpu"):
        builder = newton.ModelBuilder()
        built = builder.add_usd(anchored(file), load_visual_shapes=False, return_deformable_results=True)
        ranges = _deformables(builder, built)
        has_cables = bool(built.get("path_cable_map"))
        is_soft = has_cables or bool(ranges)
        if is_soft:
            builder.color()
        model = builder.finalize()
        iterations = CABLE_ITERATIONS if has_cables else ITERATIONS
        solver: Any = _Soft(newton, model, iterations) if is_soft else _Rigid(newton, model)
        now, after, control = model.state(), model.state(), model.control()
        if model.joint_count:
            # Joints start at the angles that the poses in the file have, and not at zero.
            newton.eval_ik(model, now, now.joint_q, now.joint_qd)
            newton.eval_fk(model, now.joint_q, now.joint_qd, now)
        parts = max(1, round(seconds * solver.rate))
        poses = np.full((steps + 1, model.body_count, 7), np.nan)
        rows = np.concatenate([np.arange(*row) for row in ranges.values()]) if ranges else np.zeros(0, int)
        points = np.full((steps + 1, len(rows), 3), np.nan)
        for number in range(steps + 1):
            for _ in range(parts if number else 0):
                now.clear_forces()
                solver.step(now, after, control, seconds / parts)
                now, after = after, now
            if solver.is_lost():
                break
            if model.body_count:
                poses[number] = now.body_q.numpy()
            if len(rows):
                points[number] = now.particle_q.numpy()[rows]
            print(f"step {number}", flush=True)
    counts = [end - first for first, end in ranges.values()]
    cables = {path: (min(bodies), max(bodies) + 1) for path, (bodies, _) in built.get("path_cable_map", {}).items()}
    np.savez(
        target, names=np.array(model.body_label, str), poses=poses, is_z_up=True,
        deformables=np.array(list(ranges), str), counts=np.array(counts, int), points=points,
        cables=np.array(list(cables), str), spans=np.array(list(cables.values()), int).reshape(-1, 2),
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    """Simulate and write. Returns the exit status."""
    status = 0
    for file, steps, seconds, target in zip(*(arguments[start::4] for start in range(4)), strict=True):
        try:
            _simulate(file, int(steps), float(seconds), target)
        except Exception:
            traceback.print_exc()
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
