# SPDX-License-Identifier: GPL-3.0-or-later
"""A physics scene in MuJoCo: bodies, convex colliders, joints with limits and drives. The rest is named in notices."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames, gprims, mass
from ...core.errors import EngineError
from ...core.frames import Matrix
from ...core.joint_settings import following, gearing_of
from ...core.mass import taper_of
from ...core.model import Mesh, Prim
from ...core.schemas import usd_geom, usd_physics
from ..engine import Engine, Grab, JointPose, Setup, Step
from ..filters import CollisionMask
from ..joint_facts import NO_LIMIT, Drive, Freedom, JointFacts
from ..layout import Body, contact_material
from ..vendor_settings import PLAIN, body_settings, combine_modes, is_trigger, surface_of
from ..weights import Geometries, Weight, alone
from .tree import Link, forest

Floats = NDArray[np.float64]
#: Solver steps a second by the quality.
RATES = {"draft": 240.0, "normal": 480.0, "exact": 960.0}
#: Largest gains of a drive, of its inertia / step^2 and its inertia / step: beyond, the integration diverges.
MOST_STIFF, MOST_DAMPED = 5.0, 5.0
#: Below this share of the inertia a stiffness needs no implicit damping, which would cost a spring its energy.
SOFT = 0.01
#: MuJoCo's elliptic cone divides by the friction.
LEAST_FRICTION = 1e-5
#: After these MuJoCo would reset the world, which is switched off.
WARNINGS = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
#: m or rad. Joints that are further apart are named.
APART = 1e-4
NO_DRIVE = Drive()
_ALONG = {"X": (0.0, 1.0, 0.0), "Y": (-1.0, 0.0, 0.0)}


def _matrix_from_z(axis: str) -> Matrix:
    """Rotation (3, 3) that turns Z, along which MuJoCo's round shapes stand, into an axis."""
    return frames.matrix_of(frames.turn_by(np.array(_ALONG[axis]) * (math.pi / 2.0))) if axis in _ALONG else np.eye(3)


def _finite(value: float) -> float:
    return min(max(value, -NO_LIMIT), NO_LIMIT)


class MujocoScene(Engine):
    """One physics scene. Kinematic bodies are mocap bodies, which push but do not carry along."""

    broken = ()

    def __init__(self, setup: Setup) -> None:
        self.setup, self.notices = setup, setup.notices
        x, y, z = setup.gravity.tolist()
        self.gravity = (x, y, z)
        self.substeps = setup.substeps or max(1, math.ceil(RATES[setup.quality] * setup.time_step - 1e-6))
        self.h = setup.time_step / self.substeps
        self.weights: dict[str, Weight] = {}
        self.grabs: dict[int, Grab] = {}
        self._bodies = list(setup.bodies.values())
        self._rows = {path: row for row, path in enumerate(setup.bodies)}
        self._links: list[Link] = []
        self._joints: dict[str, JointFacts] = {}
        #: By joint and degree of freedom: the drive, and its actuator.
        self._drives: dict[tuple[str, int], Drive] = {}
        self._actuators: dict[tuple[str, int], int] = {}
        self._surfaces: list[tuple[float, float]] = []
        self._led: dict[str, tuple[Floats, Floats]] = {}
        self._spec: Any = mujoco.MjSpec()

    @property
    def statics(self) -> Collection[str]:
        return [prim.path for prim in self.setup.statics]

    @property
    def joints(self) -> Collection[str]:
        return self._joints

    # ----------------------------------------------------------------------- building

    def _lacks(self, prim: Prim, what: str) -> None:
        self.notices.add("EngineLimits", prim, f"MuJoCo is not told {what} of {prim.display}.")

    def build(self) -> Iterator[float]:
        mujoco.set_mju_user_warning(lambda _text: None)
        option, flags = self._spec.option, mujoco.mjtDisableBit
        option.timestep, option.integrator = self.h, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 30.0
        option.gravity = self.gravity
        option.disableflags = int(flags.mjDSBL_FILTERPARENT) | int(flags.mjDSBL_AUTORESET)
        # Without it a fast body passes through a thin one.
        option.enableflags = int(mujoco.mjtEnableBit.mjENBL_SPECULATIVE)
        self._spec.compiler.balanceinertia, self._spec.compiler.degree = True, False
        geometries = Geometries()
        kinematic = {path for path, body in self.setup.bodies.items() if body.is_kinematic}
        usable = [facts for facts in self.setup.joints if facts.enabled and self._is_usable(facts)]
        self._links = forest(usable, self.setup.bodies, kinematic)
        links = {link.child: link for link in self._links}
        nodes: dict[str, Any] = {"": self._spec.worldbody}
        for path in [*(path for path in self.setup.bodies if path not in links), *links]:
            nodes[path] = self._add_body(self.setup.bodies[path], links.get(path), nodes, geometries)
            yield 1.0
        for number, prim in enumerate(self.setup.statics):
            place = self.setup.layout.places.of(prim)
            node = nodes[prim.path] = self._spec.worldbody.add_body(
                name=f"s{number}", pos=place.position, quat=place.quaternion
            )
            self._add_geom(node, prim, np.eye(4), place.rotation, geometries, moves=False)
            yield 1.0
        held = {link.facts.path for link in self._links}
        for facts in usable:
            if facts.path in held or self._close(facts, nodes):
                self._joints[facts.path] = facts
        pairs = {(min(first, second), max(first, second)) for first, second in self.setup.filters.pairs}
        for facts in self._joints.values():
            if not facts.collides:
                ends = (facts.body0 or facts.static0, facts.body1 or facts.static1)
                pairs.add((min(ends), max(ends)))
        for first, second in sorted(pairs):
            if first and first in nodes and second in nodes:
                self._spec.add_exclude(bodyname1=nodes[first].name, bodyname2=nodes[second].name)
        try:
            self.model = self._spec.compile()
        except ValueError as error:
            raise EngineError(f"MuJoCo does not take this scene: {error}.") from error
        self.data = mujoco.MjData(self.model)
        self._ids = np.array([self.model.body(node.name).id for path, node in nodes.items() if path in self._rows])
        order = {path: number for number, path in enumerate(path for path in nodes if path in self._rows)}
        self._ids = self._ids[[order[path] for path in self._rows]] if len(order) else np.zeros(0, int)
        self._gripping = np.array(self._surfaces).reshape(-1, 2)
        self._dofs = {
            key: int(self.model.joint(f"{key[0]} {key[1]}").dofadr[0]) for key in self._drives
        }  # fmt: skip
        self._actuators = {key: self.model.actuator(f"{key[0]} {key[1]}").id for key in self._drives}
        poses = [body.pose for body in self._bodies]
        self._place(poses)
        self._report_apart(poses)
        self._throw()
        mujoco.mj_forward(self.model, self.data)
        apart = [np.abs(self.data.xpos[each] - pose[:3, 3]).max() for each, pose in zip(self._ids, poses, strict=True)]
        turned = [
            np.abs(self.data.xmat[each].reshape(3, 3) - pose[:3, :3]).max()
            for each, pose in zip(self._ids, poses, strict=True)
        ]  # fmt: skip
        self.is_moved_at_start = max([*apart, *turned], default=0.0) > 1e-6

    def _is_usable(self, facts: JointFacts) -> bool:
        prim = facts.prim
        if gearing_of(prim) is not None or following(prim) is not None:
            self._lacks(prim, "the joint that leads or follows")
        if facts.cone is not None and min(facts.cone) < math.pi:
            self._lacks(prim, "the cone")
        for freedom in facts.freedoms:
            settings = freedom.settings
            if freedom.has_soft_limit or freedom.has_bounce or settings.max_speed < NO_LIMIT:
                self._lacks(prim, "springs and bounces of limits, and the largest speed,")
        if facts.distance is not None:
            self._lacks(prim, "the distance")
            return False
        return True

    def _add_body(self, body: Body, link: Link | None, nodes: dict[str, Any], geometries: Geometries) -> Any:
        path, pose = body.prim.path, body.pose
        if link is not None:
            pose = link.ends[0] @ np.linalg.inv(link.ends[1])
        parent = nodes[""] if link is None else nodes[link.parent]
        node = parent.add_body(
            name=f"b{self._rows[path]}", pos=pose[:3, 3], quat=frames.quaternion_of(pose[:3, :3]),
            mocap=body.is_kinematic,
        )  # fmt: skip
        settings = body_settings(body.prim)
        if replace(settings, gravity=1.0, is_fast=False) != PLAIN:
            self._lacks(body.prim, "damping, locked axes and largest speeds")
        api = body.prim.get(usd_physics.RigidBodyAPI)
        if api is not None and api.resolved("starts_asleep") and not body.is_kinematic:
            self._lacks(body.prim, "the sleep")
        if surface_of(body.prim) is not None:
            self._lacks(body.prim, "how the surface runs")
        if not body.is_kinematic:
            part = alone(body, self.setup.layout.model, geometries)
            weight = self.weights[path] = Weight.of(mass.mass_properties(part, path))
            node.explicitinertial, node.mass, node.gravcomp = True, weight.mass, 1.0 - settings.gravity
            node.ipos, node.iquat = weight.center, weight.axes
            node.inertia = np.maximum(weight.moments, 1e-12)
            if link is None:
                node.add_freejoint()
            else:
                self._add_joints(node, link)
        for prim in body.colliders:
            own = self.setup.layout.places.of(prim)
            local = np.linalg.inv(body.pose) @ frames.transform(own.position, own.rotation)
            self._add_geom(node, prim, local, own.rotation, geometries, moves=True)
        return node

    def _add_joints(self, node: Any, link: Link) -> None:
        frame, sign, path = link.ends[1], -1.0 if link.is_reversed else 1.0, link.facts.path
        if link.is_ball:
            node.add_joint(name=f"{path} ball", type=mujoco.mjtJoint.mjJNT_BALL, pos=frame[:3, 3])
            return
        for axis in link.chain:
            freedom, name = link.facts.freedoms[axis], f"{path} {axis}"
            joint = node.add_joint(
                name=name, pos=frame[:3, 3], axis=sign * frame[:3, axis % 3],
                type=mujoco.mjtJoint.mjJNT_HINGE if axis >= 3 else mujoco.mjtJoint.mjJNT_SLIDE,
            )  # fmt: skip
            joint.armature = freedom.settings.armature
            self._limit(joint, freedom)
            for drive in (freedom.drive, *freedom.resistances):
                if drive is not None and drive.is_friction:
                    joint.frictionloss = drive.max_force
                elif drive is not None and drive is not freedom.drive:
                    # A polynomial of the speed: its first coefficient.
                    joint.damping = (drive.damping, 0.0, 0.0)
            drive = freedom.drive
            self._drives[path, axis] = NO_DRIVE if drive is None or drive.is_friction else replace(drive)
            actuator = self._spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.biastype, actuator.forcelimited = mujoco.mjtBias.mjBIAS_AFFINE, True
            actuator.forcerange = (-NO_LIMIT, NO_LIMIT)

    def _limit(self, joint: Any, freedom: Freedom) -> None:
        joint.limited = freedom.is_limited
        if freedom.is_limited:
            joint.range = (_finite(freedom.low), max(_finite(freedom.high), _finite(freedom.low) + 1e-7))
            joint.solref_limit = (2.0 * self.h, 1.0)

    def _close(self, facts: JointFacts, nodes: dict[str, Any]) -> bool:
        """Add a joint that closes a loop as an equality; False with a notice if there is none for it."""
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        if free not in ([], [3], [3, 4, 5]):
            self._lacks(facts.prim, "the loop that this joint closes, a joint of its kind,")
            return False
        if facts.drives or any(freedom.is_limited for freedom in facts.freedoms):
            self._lacks(facts.prim, "limits and drives, because it closes a loop,")
        kind = mujoco.mjtEq.mjEQ_CONNECT if free else mujoco.mjtEq.mjEQ_WELD
        for number in range(2 if free == [3] else 1):
            names = [f"{facts.path} {side} {number}" for side in (0, 1)]
            for name, body, frame in zip(names, (facts.body0, facts.body1), (facts.frame0, facts.frame1), strict=True):
                nodes[body].add_site(
                    name=name, pos=frame[:3, 3] + number * frame[:3, 0], quat=frames.quaternion_of(frame[:3, :3])
                )
            equal = self._spec.add_equality(type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, name1=names[0], name2=names[1])
            equal.solref = (2.0 * self.h, 1.0)
        return True

    # ----------------------------------------------------------------------- colliders

    def _add_geom(
        self, node: Any, prim: Prim, local: Matrix, rotation: Matrix, geometries: Geometries, *, moves: bool
    ) -> None:
        """local: (4, 4) in the frame of the body. rotation: (3, 3) of the prim without scale, in the world."""
        if is_trigger(prim):
            return
        shape = self._shape(prim, rotation, geometries, moves)
        if shape is None:
            return
        kind, size, turn, points = shape
        place = local.copy()
        place[:3, :3] = local[:3, :3] @ turn
        geom = node.add_geom(type=kind, pos=place[:3, 3], quat=frames.quaternion_of(place[:3, :3]), mass=0.0)
        if points is None:
            geom.size = size
        else:
            name = f"m{len(self._surfaces)}"
            self._spec.add_mesh(name=name, uservert=points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
            geom.meshname = name
        mask = self.setup.filters.masks.get(prim.path, CollisionMask())
        geom.contype, geom.conaffinity = (int(np.uint32(bits).astype(np.int32)) for bits in (mask.member, mask.meets))
        geom.solref = (2.5 * self.h, 1.0)
        model = self.setup.layout.model
        material = contact_material(model, prim, self.notices)
        if combine_modes(model, material.material) != ("average", "average"):
            self._lacks(model.prims[material.material], "how it is combined with others: the mean is taken,")
        if material.static_friction > material.friction and material.material:
            self._lacks(model.prims[material.material], "the static friction")
        geom.name = f"g{len(self._surfaces)}"
        self._surfaces.append((material.friction, material.restitution))

    def _shape(self, prim: Prim, rotation: Matrix, geometries: Geometries, moves: bool) -> Any:
        """(type, size (3,), rotation (3, 3), points (n, 3) or None); None with a notice."""
        gprim, types = prim.get(usd_geom.Gprim), mujoco.mjtGeom
        stretch = rotation.T @ prim.world[:3, :3]
        if gprim is None:
            return self._hull(prim, geometries.of(prim), stretch)
        sizes = gprims.sizes(gprim, np.abs(frames.scale_of(prim.world)))
        if isinstance(gprim, usd_geom.Plane) and not moves:
            return types.mjGEOM_PLANE, (0.0, 0.0, 1.0), _matrix_from_z(sizes.axis), None
        if taper_of(prim) is not None or isinstance(gprim, usd_geom.Plane | usd_geom.Cone):
            self._lacks(prim, "the collider: a shape of its kind")
            return None
        if frames.is_sheared(prim.world):
            self._lacks(prim, "the shear")
        turn = _matrix_from_z(sizes.axis)
        if sizes.kind is usd_geom.Cube:
            found = (types.mjGEOM_BOX, tuple(edge / 2.0 for edge in sizes.edges), np.eye(3), None)
        elif sizes.kind is usd_geom.Sphere:
            found = (types.mjGEOM_SPHERE, (sizes.radius, 0.0, 0.0), np.eye(3), None)
        else:
            kind = types.mjGEOM_CAPSULE if sizes.kind is usd_geom.Capsule else types.mjGEOM_CYLINDER
            found = (kind, (sizes.radius, sizes.height / 2.0, 0.0), turn, None)
        return found

    def _hull(self, prim: Prim, geometry: Any, stretch: Matrix) -> Any:
        api = prim.get(usd_physics.MeshCollisionAPI)
        if not isinstance(geometry, Mesh) or not len(geometry.points):
            self._lacks(prim, "the collider: it has no mesh")
            return None
        points = np.asarray(geometry.points, float) @ stretch.T
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if len(points) < 4 or not np.isfinite(points).all() or spread[-1] < 1e-6 * spread[0]:
            self._lacks(prim, "the collider: it is flat, or not a number, the collider")
            return None
        if api is None or api.resolved("approximation") != "convexHull":
            self._lacks(prim, "the approximation: the convex hull collides instead")
        return mujoco.mjtGeom.mjGEOM_MESH, (0.0, 0.0, 0.0), np.eye(3), points

    # ----------------------------------------------------------------------- start

    def _place(self, poses: list[Matrix]) -> None:
        """Set the coordinates so that bodies are at poses (4, 4), as far as their joints allow."""
        qpos = self.data.qpos
        linked = {link.child for link in self._links}
        for path, row in self._rows.items():
            number = self._ids[row]
            placed = np.concatenate([poses[row][:3, 3], frames.quaternion_of(poses[row][:3, :3])])
            if self._bodies[row].is_kinematic:
                mocap = self.model.body_mocapid[number]
                self.data.mocap_pos[mocap], self.data.mocap_quat[mocap] = placed[:3], placed[3:]
            elif path not in linked:
                start = self.model.jnt_qposadr[self.model.body_jntadr[number]]
                qpos[start : start + 7] = placed
        for link in self._links:
            parent = poses[self._rows[link.parent]] if link.parent else np.eye(4)
            child = poses[self._rows[link.child]]
            if link.is_ball:
                turn = np.linalg.inv(parent @ link.ends[0]) @ child @ link.ends[1]
                frame = link.ends[1][:3, :3]
                start = self.model.joint(f"{link.facts.path} ball").qposadr[0]
                qpos[start : start + 4] = frames.quaternion_of(frame @ turn[:3, :3] @ frame.T)
                continue
            values = link.values(parent, child)
            for axis in link.chain:
                freedom = link.facts.freedoms[axis]
                value = min(max(values[axis], freedom.low), freedom.high)
                qpos[self.model.joint(f"{link.facts.path} {axis}").qposadr[0]] = value
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def _report_apart(self, poses: list[Matrix]) -> None:
        """Name the joints whose bodies are moved to where the joint allows."""
        for link in self._links:
            parent = poses[self._rows[link.parent]] if link.parent else np.eye(4)
            values = link.values(parent, poses[self._rows[link.child]])
            for axis, freedom in enumerate(link.facts.freedoms):
                low, high = (0.0, 0.0) if freedom.is_locked else (freedom.low, freedom.high)
                if not low - APART <= values[axis] <= high + APART:
                    prim = link.facts.prim
                    self.notices.add("JointApart", prim, f"{prim.display} is apart at the start: its bodies are moved.")
                    break

    def _throw(self) -> None:
        """Velocities at the start: those of the joints that fit those of the bodies best, by mass."""
        wanted: dict[int, list[tuple[int, Floats, Weight]]] = {}
        moving = set()
        for row, body in enumerate(self._bodies):
            number = int(self._ids[row])
            if body.is_kinematic or self.model.body_treeid[number] < 0:
                continue
            api = body.prim.get(usd_physics.RigidBodyAPI)
            assert api is not None
            velocity = body.velocity_scale * body.rotation @ np.asarray(api.resolved("velocity"), float)
            spin = body.rotation @ np.asarray(api.resolved("angular_velocity"), float)
            tree = int(self.model.body_treeid[number])
            both = np.concatenate([velocity, spin])
            wanted.setdefault(tree, []).append((number, both, self.weights[body.prim.path]))
            if both.any():
                moving.add(tree)
        for tree in moving:
            dofs = np.flatnonzero(self.model.dof_treeid == tree)
            left, right = [], []
            for number, both, weight in wanted[tree]:
                straight, turning = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
                mujoco.mj_jacBodyCom(self.model, self.data, straight, turning, number)
                heavy, around = math.sqrt(weight.mass), math.sqrt(max(weight.moments))
                left += [heavy * straight[:, dofs], around * turning[:, dofs]]
                right += [heavy * both[:3], around * both[3:]]
            self.data.qvel[dofs] = np.linalg.lstsq(np.concatenate(left), np.concatenate(right), rcond=None)[0]

    # ----------------------------------------------------------------------- running

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        self.model.opt.gravity[:] = self.gravity
        before = self._warnings()
        self._set_gains()
        starts = (self.data.mocap_pos.copy(), self.data.mocap_quat.copy())
        for number in range(1, self.substeps + 1):
            self._lead(starts, number / self.substeps)
            mujoco.mj_step1(self.model, self.data)
            if self.data.ncon:
                self._grip()
            mujoco.mj_step2(self.model, self.data)
        self._led.clear()
        self.read_poses(positions, rotations)
        lost = []
        if self._warnings() != before:
            dofs = [self.data.warning[kind].lastinfo for kind in WARNINGS if self.data.warning[kind].number]
            wrong = {int(self.model.dof_bodyid[min(dof, self.model.nv - 1)]) for dof in dofs}
            lost = [path for path, row in self._rows.items() if int(self._ids[row]) in wrong]
        return Step(np.ones(len(self._rows), bool), lost)

    def _warnings(self) -> list[int]:
        return [self.data.warning[kind].number for kind in WARNINGS]

    def _lead(self, starts: tuple[Floats, Floats], share: float) -> None:
        for path, (position, rotation) in self._led.items():
            mocap = self.model.body_mocapid[self._ids[self._rows[path]]]
            first, turn = starts[0][mocap], starts[1][mocap]
            self.data.mocap_pos[mocap] = first + share * (position - first)
            near = turn + share * (rotation * (1.0 if turn @ rotation >= 0.0 else -1.0) - turn)
            self.data.mocap_quat[mocap] = near / np.linalg.norm(near)

    def _set_gains(self) -> None:
        """Gains that the step can integrate, and those of accelerations by the inertia of now."""
        keys = [key for key, drive in self._drives.items() if drive.stiffness or drive.damping]
        for key in self._drives.keys() - keys:
            self.model.actuator_biasprm[self._actuators[key], :3] = 0.0
            self.model.actuator_gainprm[self._actuators[key], 0] = 0.0
        if not keys:
            return
        mujoco.mj_fwdPosition(self.model, self.data)
        dofs = np.array([self._dofs[key] for key in keys])
        units, found = np.zeros((len(keys), self.model.nv)), np.zeros((len(keys), self.model.nv))
        units[np.arange(len(keys)), dofs] = 1.0
        mujoco.mj_solveM(self.model, self.data, found, units)
        inertias = 1.0 / found[np.arange(len(keys)), dofs]
        for key, inertia in zip(keys, inertias.tolist(), strict=True):
            drive, actuator = self._drives[key], self._actuators[key]
            factor = inertia if drive.acceleration else 1.0
            stiffness = min(drive.stiffness * factor, MOST_STIFF * inertia / self.h**2)
            damping = min(drive.damping * factor, MOST_DAMPED * inertia / self.h)
            ahead = self.h * stiffness if stiffness * self.h**2 > SOFT * inertia else 0.0
            self.model.actuator_gainprm[actuator, 0] = 1.0
            self.model.actuator_biasprm[actuator, :3] = (0.0, -stiffness, -(damping + ahead))
            most = _finite(drive.max_force)
            self.model.actuator_forcerange[actuator] = (-most, most)
            self.data.ctrl[actuator] = stiffness * drive.target_position + damping * drive.target_velocity

    def _grip(self) -> None:
        """Friction and restitution of both surfaces: their means, as UsdPhysics has them."""
        contact = self.data.contact
        friction, bounce = self._gripping[contact.geom].mean(axis=1).T
        contact.friction[:, :2] = np.maximum(friction, LEAST_FRICTION)[:, None]
        for number in np.flatnonzero(bounce > 0.0):
            log = math.log(1.0 / min(float(bounce[number]), 0.999))
            ratio = log / math.hypot(math.pi, log)
            contact.solref[number] = (-((0.3 / self.h) ** 2), -2.0 * ratio * 0.3 / self.h)
            contact.solimp[number, :2] = 0.99
        for part in (mujoco.mj_makeConstraint, mujoco.mj_island, mujoco.mj_projectConstraint, mujoco.mj_fwdVelocity):
            part(self.model, self.data)

    def read_poses(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        positions[:], rotations[:] = self.data.xpos[self._ids], self.data.xquat[self._ids]

    def velocities(self) -> NDArray[np.float64]:
        mujoco.mj_comVel(self.model, self.data)
        spins, moves = self.data.cvel[self._ids, :3], self.data.cvel[self._ids, 3:]
        arms = self.data.xipos[self._ids] - self.data.subtree_com[self.model.body_rootid[self._ids]]
        return np.concatenate([moves + np.cross(spins, arms), spins], axis=1)

    def save(self) -> Any:
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.empty(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, state, kind)
        return state, {key: replace(drive) for key, drive in self._drives.items()}, self.gravity, dict(self._led)

    def load(self, saved: Any) -> None:
        state, drives, self.gravity, led = saved
        mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        self._drives, self._led = {key: replace(drive) for key, drive in drives.items()}, dict(led)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self._led[path] = np.asarray(position, float), np.asarray(rotation, float)
        body = self.setup.bodies[path]
        if body.colliders or any(path in (facts.body0, facts.body1) for facts in self._joints.values()):
            self._lacks(body.prim, "the velocity, so that what lies or hangs on it does not feel its motion,")

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        number = next(each for each, prim in enumerate(self.setup.statics) if prim.path == path)
        body = self.model.body(f"s{number}").id
        self.model.body_pos[body], self.model.body_quat[body] = position, rotation

    # ----------------------------------------------------------------------- contacts, joints

    def contact_count(self) -> int:
        return len({tuple(sorted(pair)) for pair in self.data.contact.geom.tolist()})

    def contact_counts(self) -> dict[str, int]:
        bodies = self.model.geom_bodyid[self.data.contact.geom].ravel().tolist()
        names = {int(number): path for path, number in zip(self._rows, self._ids, strict=True)}
        found: dict[str, int] = {}
        for path in (names.get(body, "") for body in bodies):
            if path in self.weights:
                found[path] = found.get(path, 0) + 1
        return found

    def contact_points(self, most: int) -> list[tuple[float, ...]]:
        contact = self.data.contact
        both = np.concatenate([contact.pos, contact.frame[:, :3]], axis=1)[:most]
        return [tuple(row) for row in both.tolist()]

    def _pose(self, path: str) -> Matrix:
        if not path:
            return np.eye(4)
        number = self._ids[self._rows[path]]
        return frames.transform(self.data.xpos[number], self.data.xmat[number].reshape(3, 3))

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        facts = self._joints[path]
        return self._pose(facts.body0) @ facts.frame0, self._pose(facts.body1) @ facts.frame1

    def is_holding(self, path: str) -> bool:
        return path in self._joints

    def is_reduced(self, path: str) -> bool:
        return any(link.facts.path == path for link in self._links)

    def pose_joint(self, pose: JointPose) -> None:
        poses = [self._pose(path) for path in self._rows]
        speeds = self.data.qvel.copy()
        for path in pose.bodies:
            poses[self._rows[path]] = pose.by @ poses[self._rows[path]]
            number = self._ids[self._rows[path]]
            first, count = self.model.body_dofadr[number], self.model.body_dofnum[number]
            speeds[first : first + count] = 0.0
        self._place(poses)
        self.data.qvel[:] = speeds
        mujoco.mj_forward(self.model, self.data)

    def drive(self, path: str, dof: str) -> Drive:
        facts = self._joints[path]
        if dof not in facts.moving:
            raise KeyError(dof)
        return replace(self._drives.get((path, facts.names[dof]), NO_DRIVE))

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        key = path, self._joints[path].names[dof]
        if key not in self._drives:
            raise KeyError(dof)
        self._drives[key] = replace(drive)
