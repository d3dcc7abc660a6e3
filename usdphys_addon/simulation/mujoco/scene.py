# SPDX-License-Identifier: GPL-3.0-or-later
"""A physics scene in MuJoCo: bodies, colliders, joints with limits and drives. The rest is named in notices."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...core import frames, mass
from ...core.errors import EngineError
from ...core.frames import Matrix
from ...core.joint_settings import following, gearing_of
from ...core.model import Prim
from ...core.schema import Vector
from ...core.schemas import usd_physics
from .. import ball_rows
from ..engine import Grab, JointPose, NotLiveError, Setup, Step, WithPreviewShapes
from ..filters import CollisionMask
from ..impulse_sums import ImpulseSums
from ..joint_facts import NO_LIMIT, Drive, Freedom, JointFacts
from ..layout import Body, contact_material
from ..switches import changing_joints, switching
from ..vendor_settings import BodySettings, body_settings, combine_modes, is_trigger, surface_of
from ..weights import Geometries, Weight, alone
from . import closures, forces, loads, untold
from .contacts import Contacts
from .shapes import shapes_of
from .surfaces import Surfaces
from .tree import Link, forest

Floats = NDArray[np.float64]
#: Solver steps a second by the quality.
RATES = {"draft": 240.0, "normal": 600.0, "exact": 960.0}
#: s, of MuJoCo where nothing is said.
PLAIN_STEP = 0.002
#: Largest gains of a drive, of its inertia / step^2 and its inertia / step: beyond, the integration diverges.
MOST_STIFF, MOST_DAMPED = 5.0, 5.0
#: Below this share of the inertia a stiffness needs no implicit damping, which would cost a spring its energy.
SOFT = 0.01
#: rad, by which a link may swing across its load in a step, and by how much steps are refined for that.
FAST_SWING, MOST_REFINED = 0.65, 4
#: m. Free bodies that are smaller, by a cube of their least inertia, get more steps.
SMALL = 0.01
#: How firmly friction of joints holds, from 0 to 1. With MuJoCo's own 0.9, a slide creeps by 1 mm/s for each m/s2 that
#: it holds back.
HOLDING = 0.9999
#: Of MuJoCo's solver: below, its improvements are rounding.
LEAST_TOLERANCE = 1e-12
#: kg and kg m2, of the masses of a scene, of a body that others lead: nothing that it meets slows it.
HEAVY = 1e7
#: Speed of a degree of freedom, m/s or rad/s, from which on a scene has run away: its numbers are lost in a few steps.
RUNAWAY = 1e5
#: After these MuJoCo would reset the world, which is switched off.
WARNINGS = (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
#: m or rad. Joints that are further apart are named.
APART = 1e-4
#: Options that are chosen from a list: the enumeration, and how its names begin.
_CHOICES = {
    "integrator": (mujoco.mjtIntegrator, "mjINT"), "cone": (mujoco.mjtCone, "mjCONE"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC"), "solver": (mujoco.mjtSolver, "mjSOL"),
}  # fmt: skip
NO_DRIVE = Drive()
_HEAVY_WEIGHT = Weight(HEAVY, (0.0, 0.0, 0.0), (HEAVY, HEAVY, HEAVY), (1.0, 0.0, 0.0, 0.0))
#: Of a model, what live edits change.
_EDITED = (
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_gravcomp", "body_ipos", "body_iquat", "geom_contype",
    "geom_conaffinity", "jnt_range", "tendon_range", "tendon_limited", "tendon_stiffness", "tendon_damping", "site_pos",
)  # fmt: skip


def _moments(weight: Weight) -> tuple[Matrix, bool]:
    """Moments (3,) that MuJoCo takes; and False where no body can have those of a weight: then they are the mean."""
    moments = mass.possible_moments(np.maximum(weight.moments, 1e-12))
    is_possible = bool(2.0 * moments.max() <= moments.sum())
    return moments if is_possible else np.full(3, moments.mean()), is_possible


def _finite(value: float) -> float:
    return min(max(value, -NO_LIMIT), NO_LIMIT)


class MujocoScene(WithPreviewShapes):
    """One physics scene. Bodies that others lead are heavy and pushed: what lies or hangs on them rides along."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.notices = setup, setup.notices
        x, y, z = setup.gravity.tolist()
        self.gravity = (x, y, z)
        scene = setup.layout.model.prims.get(setup.scene)
        own: Any = None if scene is None else scene.schemas.get("MjcSceneAPI")
        self._own_options = own
        rate = RATES[setup.quality] if own is None else 1.0 / (own.timestep or PLAIN_STEP)
        self.substeps = setup.substeps or max(1, math.ceil(rate * setup.time_step - 1e-6))
        self.h = setup.time_step / self.substeps
        self.weights: dict[str, Weight] = {}
        self.grabs: dict[int, Grab] = {}
        self.broken: list[str] = []
        self._has_run_away = False
        self.surfaces = Surfaces()
        self._bodies = list(setup.bodies.values())
        self.rows = {path: row for row, path in enumerate(setup.bodies)}
        self._switching = switching(setup.layout.model) & set(setup.bodies)
        #: Bodies that others move, and where they are to be at the end of the step.
        self.kinematic = {path for path, body in setup.bodies.items() if body.is_kinematic}
        self.led: dict[str, tuple[Floats, Floats]] = {}
        self._own: dict[str, Weight] = {}
        #: Of the tree.
        self.links: list[Link] = []
        #: The joints by path, what of them is beside the tree, and those that are switched off or have broken.
        self.facts: dict[str, JointFacts] = {}
        self.closures: dict[str, closures.Closure] = {}
        self.off: set[str] = set()
        #: By joint and degree of freedom: the drive, its actuator, its coordinate of velocity.
        self._drives: dict[tuple[str, int], Drive] = {}
        #: Damping of joints that is a part of that of their drives, where the file of MuJoCo has it in the joint.
        self._damped: dict[tuple[str, int], float] = {}
        #: Of these, those whose targets change in the next time step, and from where.
        self._led_drives: dict[tuple[str, int], tuple[float, Drive]] = {}
        self._actuators: dict[tuple[str, int], int] = {}
        self.dofs: dict[tuple[str, int], int] = {}
        #: Damping and largest speeds of bodies.
        self.settings: dict[str, BodySettings] = {}
        self.runs: dict[str, Any] = {}
        self._impulses = ImpulseSums()
        self._geoms: dict[str, list[str]] = {}
        self._masks: dict[str, CollisionMask] = {}
        self._spec: Any = mujoco.MjSpec()

    @property
    def _is_plain(self) -> bool:
        """A scene that is meant for MuJoCo runs as its file does there, with its step and its gains as they are."""
        return self._own_options is not None

    @property
    def statics(self) -> Collection[str]:
        return [prim.path for prim in self.setup.statics]

    @property
    def joints(self) -> Collection[str]:
        return self.facts

    # ----------------------------------------------------------------------- building

    def _lacks(self, prim: Prim, what: str) -> None:
        self._misses(prim, f"MuJoCo is not told {what} of {prim.display}.")

    def _misses(self, prim: Prim, message: str) -> None:
        self.notices.add("EngineLimits", prim, message)

    def build(self) -> Iterator[float]:
        mujoco.set_mju_user_warning(lambda _text: None)
        self._set_options()
        geometries, model = Geometries(), self.setup.layout.model
        roots = self.kinematic | self._switching
        changing = self._changing = changing_joints(model)
        joints = self.setup.joints
        for facts in joints:
            if facts.bond or facts.pull is not None:
                self._misses(facts.prim, untold.bond(facts.prim.display))
        outside = {facts.path for facts in joints if self._is_outside(facts, changing)}
        self.links = forest(
            [facts for facts in joints if facts.enabled and facts.path not in outside], self.setup.bodies, roots,
            closures.rank,
        )  # fmt: skip
        links = {link.child: link for link in self.links}
        for path, body in self.setup.bodies.items():
            if not body.is_kinematic:
                part = alone(body, model, geometries)
                self.weights[path] = self._own[path] = Weight.of(mass.mass_properties(part, path))
            yield 0.0
        self._refine()
        nodes: dict[str, Any] = {"": self._spec.worldbody}
        for path in [*(path for path in self.setup.bodies if path not in links), *links]:
            nodes[path] = self._add_body(self.setup.bodies[path], links.get(path), nodes, geometries)
            yield 1.0
        for number, prim in enumerate(self.setup.statics):
            place = self.setup.layout.places.of(prim)
            node = nodes[prim.path] = self._spec.worldbody.add_body(
                name=f"s{number}", pos=place.position, quat=place.quaternion
            )
            self._add_geoms(node, prim, np.eye(4), place.rotation, geometries, moves=False, pushes=False)
            yield 1.0
        held = {link.facts.path for link in self.links}
        for facts in joints:
            if facts.path in held or self._close(facts, nodes):
                self.facts[facts.path] = facts
        self._couple()
        self._exclude(nodes)
        self._compile(nodes)
        yield 0.0
        self._start()

    def _refine(self) -> None:
        """Take more steps where a light link carries much, because it swings across its load too fast for them, and
        where free bodies are small, because contacts give way by a length that does not depend on the size.
        """
        if self._is_plain or self.setup.substeps:
            return
        carried = {path: weight.mass for path, weight in self._own.items()}
        for link in reversed(self.links):
            if link.parent in carried:
                carried[link.parent] += carried[link.child]
        fastest = 0.0
        for link in self.links:
            own = self._own[link.child]
            arm = 2.0 * float(np.linalg.norm(link.ends[1][:3, 3] - own.center))
            if own.mass > 0.0 and arm > 0.0 and link.chain:
                load = (carried[link.child] - own.mass) * math.hypot(*self.gravity)
                fastest = max(fastest, 2.0 * math.sqrt(load / (own.mass * arm)))
        linked = {link.child for link in self.links}
        sizes = [
            math.sqrt(6.0 * min(weight.moments) / weight.mass)
            for path, weight in self._own.items()
            if path not in linked and weight.mass > 0.0 and min(weight.moments) > 0.0
        ]  # fmt: skip
        small = math.sqrt(SMALL / max(min(sizes, default=SMALL), 1e-9))
        needed = max(
            math.ceil(self.setup.time_step * fastest / FAST_SWING), math.ceil(self.substeps * small - 1e-6)
        )  # fmt: skip
        self.substeps = min(max(self.substeps, needed), MOST_REFINED * self.substeps)
        self.h = self._spec.option.timestep = self.setup.time_step / self.substeps

    def _set_options(self) -> None:
        option, flags, more = self._spec.option, mujoco.mjtDisableBit, mujoco.mjtEnableBit
        option.timestep, option.integrator = self.h, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 30.0
        option.gravity = self.gravity
        option.disableflags = int(flags.mjDSBL_FILTERPARENT) | int(flags.mjDSBL_AUTORESET)
        # Without it a fast body passes through a thin one.
        option.enableflags = int(more.mjENBL_SPECULATIVE)
        if not self._is_plain:
            option.enableflags |= int(more.mjENBL_SLEEP)
        else:
            self._set_own_options(option)
        self._spec.compiler.balanceinertia, self._spec.compiler.degree = True, False

    def _set_own_options(self, option: Any) -> None:
        """Options and flags of a scene that is meant for MuJoCo; what it does not say is MuJoCo's fallback."""
        own = self._own_options
        for attribute in type(own).attributes:
            _, _, rest = attribute.usd.partition(":")
            kind, _, word = rest.partition(":")
            value = getattr(own, attribute.field)
            if kind == "option" and word != "timestep" and hasattr(option, word):
                value = own.resolved(attribute.field)
                if word in _CHOICES:
                    enum, prefix = _CHOICES[word]
                    value = getattr(enum, f"{prefix}_{str(value).upper()}")
                if word == "integrator" and value == mujoco.mjtIntegrator.mjINT_RK4:
                    self._lacks(self.setup.layout.model.prims[self.setup.scene], "the integrator RK4")
                else:
                    setattr(option, word, value)
            elif kind == "flag" and value is False and word not in ("autoreset", "filterparent"):
                option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word.upper()}", 0))
            elif kind == "flag" and value is True:
                option.enableflags |= int(getattr(mujoco.mjtEnableBit, f"mjENBL_{word.upper()}", 0))

    def _is_outside(self, facts: JointFacts, changing: Collection[str]) -> bool:
        """True for a joint that can end: it is an equality, as a joint of the tree cannot be switched."""
        if facts.distance is not None and all(not freedom.is_locked for freedom in facts.freedoms):
            return True
        if not facts.breaks and facts.path not in changing:
            return False
        if closures.is_whole(facts):
            return True
        if facts.breaks:
            self._misses(facts.prim, untold.breaking(facts.prim.display))
        return False

    def _add_body(self, body: Body, link: Link | None, nodes: dict[str, Any], geometries: Geometries) -> Any:
        path, pose = body.prim.path, body.pose
        if link is not None:
            pose = link.ends[0] @ np.linalg.inv(link.ends[1])
        parent = nodes[""] if link is None else nodes[link.parent]
        node = parent.add_body(
            name=f"b{self.rows[path]}", pos=pose[:3, 3], quat=frames.quaternion_of(pose[:3, :3])
        )  # fmt: skip
        settings = body_settings(body.prim, self.setup.layout.model.air)
        node.explicitinertial = True
        if body.is_kinematic:
            node.mass, node.inertia, node.gravcomp = HEAVY, (HEAVY,) * 3, 1.0
            node.ipos, node.iquat = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        else:
            weight = self._own[path]
            node.mass, node.gravcomp = weight.mass, 1.0 - settings.gravity
            node.ipos, node.iquat = weight.center, weight.axes
            node.inertia, is_possible = _moments(weight)
            if not is_possible:
                self._misses(
                    body.prim, f"MuJoCo takes the mean of the moments of inertia of {body.prim.display}, which no body "
                    "can have.",
                )  # fmt: skip
            self.settings[path] = settings
            if not all(settings.moves) or not all(settings.turns):
                self._lacks(body.prim, "the locked axes")
            if link is not None and min(settings.max_speed, settings.max_spin) < NO_LIMIT:
                self._misses(body.prim, untold.speeds(body.prim.display))
        api = body.prim.get(usd_physics.RigidBodyAPI)
        if api is not None and api.resolved("starts_asleep") and not body.is_kinematic:
            root = path if link is None else self._root_of(link)
            if root not in self.kinematic | self._switching:
                (node if root == path else nodes[root]).sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
        elif link is None and not body.is_kinematic and (not any(self.gravity) or not settings.gravity):
            # What flies freely does, however slowly.
            node.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER
        surface = surface_of(body.prim)
        if surface is not None:
            self.runs[path] = surface
        if link is None:
            node.add_freejoint()
        else:
            self._add_joints(node, link)
        for prim in body.colliders:
            own = self.setup.layout.places.of(prim)
            local = np.linalg.inv(body.pose) @ frames.transform(own.position, own.rotation)
            self._add_geoms(node, prim, local, own.rotation, geometries, moves=True, pushes=not body.is_kinematic)
        return node

    def _root_of(self, link: Link) -> str:
        by_child = {each.child: each for each in self.links}
        while link.parent in by_child:
            link = by_child[link.parent]
        return link.parent or link.child

    def _add_joints(self, node: Any, link: Link) -> None:
        frame, sign, path = link.ends[1], -1.0 if link.is_reversed else 1.0, link.facts.path
        if link.facts.cone is not None or link.facts.distance is not None:
            self.closures[path] = closures.Closure(facts=link.facts)
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
                    if not self._is_plain:
                        joint.solref_friction, joint.solimp_friction[:2] = (2.0 * self.h, 1.0), HOLDING
                elif drive is not None and drive is not freedom.drive:
                    # A polynomial of the speed: its first coefficient.
                    joint.damping = (drive.damping, 0.0, 0.0)
            self._add_drive(path, axis, freedom, name, mujoco.mjtTrn.mjTRN_JOINT)

    def _add_drive(self, path: str, axis: int, freedom: Freedom, target: str, kind: Any) -> None:
        drive = freedom.drive
        self._drives[path, axis] = NO_DRIVE if drive is None or drive.is_friction else replace(drive)
        is_apart = any(not one.is_friction for one in freedom.resistances)
        if self._is_plain and axis < 6 and freedom.settings.resistance > 0.0 and not is_apart:
            self._damped[path, axis] = freedom.settings.resistance
        actuator = self._spec.add_actuator(name=f"{path} {axis}", target=target, trntype=kind)
        actuator.biastype, actuator.forcelimited = mujoco.mjtBias.mjBIAS_AFFINE, True
        actuator.forcerange = (-NO_LIMIT, NO_LIMIT)

    def _limit(self, joint: Any, freedom: Freedom) -> None:
        joint.limited = freedom.is_limited and not freedom.has_soft_limit
        if freedom.is_limited:
            joint.range = (_finite(freedom.low), max(_finite(freedom.high), _finite(freedom.low) + 1e-7))
            if not self._is_plain:
                joint.solref_limit = (2.0 * self.h, 1.0)
            if freedom.has_bounce:
                joint.solimp_limit[:2] = 0.9999

    def _close(self, facts: JointFacts, nodes: dict[str, Any]) -> bool:
        """Add a joint that is not in the tree as an equality; False with a notice if there is none for it."""
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        found = self.closures[facts.path] = closures.Closure(facts=facts)
        if not facts.enabled:
            self.off.add(facts.path)
        if len(free) == 6 and facts.distance is not None:
            drives = bool(facts.drives) and facts.distance.drive is None
            if drives or any(freedom.is_limited for freedom in facts.freedoms):
                self._lacks(facts.prim, "limits and drives beside the distance")
            return True
        if not closures.is_closable(facts):
            if facts.enabled:
                self._misses(facts.prim, untold.loop(facts.prim.display))
                del self.closures[facts.path]
            return not facts.enabled
        if facts.enabled and not closures.is_bare(facts):
            self._misses(facts.prim, untold.settings(facts.prim.display))
        found.add_equalities(self._spec, nodes, self.h)
        return True

    def _couple(self) -> None:
        """Joints that follow others, and gears."""
        axes = {link.facts.path: link.chain for link in self.links if len(link.chain) == 1 and not link.is_ball}
        self._couplings: list[tuple[str, str, str, float]] = []
        for facts in self.facts.values():
            wanted = following(facts.prim)
            if wanted is None:
                continue
            if facts.path not in axes or wanted.leader not in axes:
                self._misses(facts.prim, untold.leader(facts.prim.display))
                continue
            self._add_coupling(facts.path, axes[facts.path][0], wanted.leader, axes[wanted.leader][0],
                               wanted.offset, wanted.ratio)  # fmt: skip
        for prim in self.setup.layout.model.prims.values():
            gearing = gearing_of(prim)
            if gearing is None or not gearing.is_enabled or gearing.joints[0] not in self.facts:
                continue
            first, second = gearing.joints
            if axes.get(first) != [gearing.axes[0]] or axes.get(second) != [gearing.axes[1]]:
                self._misses(prim, untold.gearing(prim.display, gearing.needs))
                continue
            signs = [
                -1.0 if body and self.facts[path].body0 == body else 1.0
                for path, body in zip(gearing.joints, gearing.bodies, strict=True)
            ]
            ratio = -(gearing.factors[1] * signs[1]) / (gearing.factors[0] * signs[0] or 1.0)
            name = self._add_coupling(first, gearing.axes[0], second, gearing.axes[1], 0.0, ratio)
            self._couplings.append((name, f"{first} {gearing.axes[0]}", f"{second} {gearing.axes[1]}", ratio))

    def _add_coupling(self, path: str, axis: int, leader: str, other: int, offset: float, ratio: float) -> str:
        equal = self._spec.add_equality(
            name=f"{path} follows", type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=f"{path} {axis}", name2=f"{leader} {other}",
        )  # fmt: skip
        equal.data[:5] = (offset, ratio, 0.0, 0.0, 0.0)
        equal.solref = (2.0 * self.h, 1.0)
        return str(equal.name)

    def _exclude(self, nodes: dict[str, Any]) -> None:
        pairs = {(min(first, second), max(first, second)) for first, second in self.setup.filters.pairs}
        for facts in self.facts.values():
            if not facts.collides and facts.enabled:
                ends = (facts.body0 or facts.static0, facts.body1 or facts.static1)
                pairs.add((min(ends), max(ends)))
        for first, second in sorted(pairs):
            if first and first in nodes and second in nodes:
                self._spec.add_exclude(bodyname1=nodes[first].name, bodyname2=nodes[second].name)

    def _add_geoms(
        self, node: Any, prim: Prim, local: Matrix, rotation: Matrix, geometries: Geometries, *, moves: bool,
        pushes: bool,
    ) -> None:  # fmt: skip
        """local: (4, 4) in the frame of the body. rotation: (3, 3) of the prim without scale, in the world. pushes:
        False for static and kinematic ones, which do not collide with each other.
        """
        if is_trigger(prim):
            return
        model, names = self.setup.layout.model, self._geoms.setdefault(prim.path, [])
        material = contact_material(model, prim, self.notices)
        modes = combine_modes(model, material.material)
        mask = self._masks[prim.path] = self.setup.filters.masks.get(prim.path, CollisionMask())
        for shape in shapes_of(prim, geometries.of(prim), rotation, self.notices, moves=moves):
            place = local @ shape.place
            name = f"g{len(self.surfaces)}"
            geom = node.add_geom(
                name=name, type=shape.kind, pos=place[:3, 3], quat=frames.quaternion_of(place[:3, :3]), mass=0.0
            )
            if shape.points is None:
                geom.size = shape.size
            else:
                self._spec.add_mesh(
                    name=name, uservert=shape.points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
                )
                geom.meshname = name
            geom.contype, geom.conaffinity = _bits(mask, pushes)
            geom.solref = (2.5 * self.h, 1.0)
            names.append(name)
            self.surfaces.add(material, modes)

    def _compile(self, nodes: dict[str, Any]) -> None:
        for path, closure in self.closures.items():
            closure.add_tendons(self._spec, nodes, self.h)
            distance = closure.facts.distance
            if distance is not None and path in self.facts:
                self._add_drive(path, 6, distance, f"{path} distance", mujoco.mjtTrn.mjTRN_TENDON)
        try:
            self.model = self._spec.compile()
        except ValueError as error:
            raise EngineError(f"MuJoCo does not take this scene: {error}.") from error
        model = self.model
        self._measure_turns(nodes)
        # MuJoCo numbers shapes along its trees, whatever the order in which they were added.
        self.surfaces.finish(np.array([model.geom(f"g{row}").id for row in range(len(self.surfaces))], np.int64))
        self.data = mujoco.MjData(model)
        self._spare = mujoco.MjData(model)
        self.ids = np.array([model.body(nodes[path].name).id for path in self.rows], int)
        for key in self._drives:
            self._actuators[key] = model.actuator(f"{key[0]} {key[1]}").id
            if key[1] < 6:
                self.dofs[key] = int(model.joint(f"{key[0]} {key[1]}").dofadr[0])
        for path, closure in self.closures.items():
            closure.find(model)
            if path in self.off:
                closure.switch(model, self.data, False)

    def _measure_turns(self, nodes: Mapping[str, Any]) -> None:
        """Give loose bodies without a shape a length, by which it is told how fast they turn: MuJoCo has none for them,
        and lets them sleep."""
        model = self.model
        for path, weight in self._own.items():
            address = int(model.body_dofadr[model.body(nodes[path].name).id])
            if address >= 0 and model.jnt_type[model.dof_jntid[address]] == mujoco.mjtJoint.mjJNT_FREE:
                length = math.sqrt(max(weight.moments) / weight.mass) if weight.mass > 0.0 else 0.0
                turns = slice(address + 3, address + 6)
                model.dof_length[turns] = np.maximum(model.dof_length[turns], length)

    def _start(self) -> None:
        poses = [body.pose for body in self._bodies]
        model, data = self.model, self.data
        self._scale_tolerance()
        self._forces = forces.Forces(self)
        self._contacts = Contacts(self, is_plain=self._is_plain)
        self.load_meter = loads.Loads(self)
        #: By number of the joint, those whose limits give speed back.
        self._bouncing = {
            int(model.dof_jntid[dof]): freedom.settings
            for (path, axis), dof in self.dofs.items() if (freedom := self.facts[path].freedoms[axis]).has_bounce
        }  # fmt: skip
        self._place(poses)
        for name, first, second, ratio in self._couplings:
            start = [float(data.qpos[model.joint(each).qposadr[0]]) for each in (first, second)]
            model.eq_data[model.equality(name).id, 0] = start[0] - ratio * start[1]
        self._report_apart(poses)
        self._keep_centers(poses)
        self._part_rows(poses)
        self._throw()
        mujoco.mj_forward(model, data)
        apart = [np.abs(data.xpos[each] - pose[:3, 3]).max() for each, pose in zip(self.ids, poses, strict=True)]
        turned = [
            np.abs(data.xmat[each].reshape(3, 3) - pose[:3, :3]).max()
            for each, pose in zip(self.ids, poses, strict=True)
        ]  # fmt: skip
        self.is_moved_at_start = max([*apart, *turned], default=0.0) > 1e-6

    def _scale_tolerance(self) -> None:
        """Let MuJoCo's solver end when it is near enough for the bodies that move by themselves: it compares with the
        mean inertia of all, and by that of heavy bodies, which others lead, it would end at once.
        """
        model = self.model
        leading = self.ids[[self.rows[path] for path in self.kinematic]]
        own = np.flatnonzero(~np.isin(model.dof_bodyid, leading))
        if len(leading) and len(own):
            share = float(model.dof_M0[own].mean() / model.dof_M0.mean())
            model.opt.tolerance = max(model.opt.tolerance * share, LEAST_TOLERANCE)

    # ----------------------------------------------------------------------- start

    def _place(self, poses: list[Matrix]) -> None:
        """Set the coordinates so that bodies are at poses (4, 4), as far as their joints allow."""
        qpos = self.data.qpos
        linked = {link.child for link in self.links}
        for path, row in self.rows.items():
            number = self.ids[row]
            placed = np.concatenate([poses[row][:3, 3], frames.quaternion_of(poses[row][:3, :3])])
            if path not in linked:
                start = self.model.jnt_qposadr[self.model.body_jntadr[number]]
                qpos[start : start + 7] = placed
        for link in self.links:
            parent = poses[self.rows[link.parent]] if link.parent else np.eye(4)
            child = poses[self.rows[link.child]]
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

    def _part_rows(self, poses: list[Matrix]) -> None:
        """Make balls smaller that touch and bounce in a row, as in Newton's cradle: blows pass one after the other."""
        if self._is_plain:
            return
        model, free = self.model, [path for path in self.rows if path not in self.kinematic]
        bodies = self.ids[[self.rows[path] for path in free]].tolist()
        # Those of a body follow each other.
        geoms = [model.body_geomadr[body] + np.arange(model.body_geomnum[body]) for body in bodies]
        bounces = np.array([self.surfaces.values[own, 2].max(initial=-1.0) for own in geoms])
        if bounces.max(initial=-1.0) < ball_rows.LIVELY:
            return
        sizes = np.array([2.0 * model.geom_aabb[own, 3:].min(axis=1, initial=np.inf).max(initial=0.0) for own in geoms])
        places = np.array([poses[self.rows[path]][:3, 3] for path in free])
        for row in ball_rows.rows_that_bounce(places, sizes, bounces):
            prim = self.setup.bodies[free[row[0]]].prim
            shapes = np.concatenate([geoms[each] for each in row])
            are_balls = (model.geom_type[shapes] == int(mujoco.mjtGeom.mjGEOM_SPHERE)).all()
            if are_balls:
                model.geom_size[shapes, 0] *= 1.0 - ball_rows.GAP
            text = ball_rows.parted_text(prim) if are_balls else ball_rows.weak_text(prim)
            self.notices.add("BouncesInRow", prim, text)

    def _keep_centers(self, poses: list[Matrix]) -> None:
        """Move each tree that stands on nothing so that closing its joints leaves its centre of mass where it was."""
        model, data = self.model, self.data
        shifts: dict[int, list[Floats]] = {}
        for path, weight in self.weights.items():
            body = int(self.ids[self.rows[path]])
            wanted = poses[self.rows[path]] @ (*weight.center, 1.0)
            root = int(model.body_rootid[body])
            shifts.setdefault(root, []).append(np.append(wanted[:3] - data.xipos[body], 1.0) * weight.mass)
        leading = {int(self.ids[self.rows[path]]) for path in self.kinematic}
        for root, parts in shifts.items():
            total = np.sum(parts, axis=0)
            if model.body_dofnum[root] == 6 and root not in leading and total[3] > 0.0:
                start = model.jnt_qposadr[model.body_jntadr[root]]
                data.qpos[start : start + 3] += total[:3] / total[3]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)

    def _report_apart(self, poses: list[Matrix]) -> None:
        """Name the joints whose bodies are moved to where the joint allows."""
        for link in self.links:
            parent = poses[self.rows[link.parent]] if link.parent else np.eye(4)
            values = link.values(parent, poses[self.rows[link.child]])
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
            number = int(self.ids[row])
            if self.model.body_treeid[number] < 0:
                continue
            api = body.prim.get(usd_physics.RigidBodyAPI)
            assert api is not None
            velocity = body.velocity_scale * body.rotation @ np.asarray(api.resolved("velocity"), float)
            spin = body.rotation @ np.asarray(api.resolved("angular_velocity"), float)
            tree = int(self.model.body_treeid[number])
            both = np.concatenate([velocity, spin]) if not body.is_kinematic else np.zeros(6)
            weight = self.weights.get(body.prim.path, _HEAVY_WEIGHT)
            wanted.setdefault(tree, []).append((number, both, weight))
            if both.any():
                moving.add(tree)
        for tree in moving:
            dofs = np.flatnonzero(self.model.dof_treeid == tree)
            left, right = [], []
            for number, both, weight in wanted[tree]:
                straight, turning = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
                mujoco.mj_jacBodyCom(self.model, self.data, straight, turning, number)
                # Moments of what is larger than all numbers have none.
                heavy, around = math.sqrt(weight.mass), math.sqrt(min(max(weight.moments), sys.float_info.max))
                left += [heavy * straight[:, dofs], around * turning[:, dofs]]
                right += [heavy * both[:3], around * both[3:]]
            self.data.qvel[dofs] = np.linalg.lstsq(np.concatenate(left), np.concatenate(right), rcond=None)[0]

    # ----------------------------------------------------------------------- what its parts read

    def inertia_of(self, dof: int) -> float:
        """What a coordinate has to move, kg or kg m2."""
        unit, found = np.zeros((1, self.model.nv)), np.zeros((1, self.model.nv))
        unit[0, dof] = 1.0
        mujoco.mj_solveM(self.model, self.data, found, unit)
        return 1.0 / float(found[0, dof])

    def pose_at_step(self, path: str, frame: Matrix) -> Matrix:
        """A frame (4, 4) of a body in the world, where the last step began."""
        return self._pose(path) @ frame

    # ----------------------------------------------------------------------- running

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        model, data = self.model, self.data
        if self._has_run_away:
            return Step(np.zeros(len(self.ids), bool))
        if tuple(model.opt.gravity) != self.gravity:
            model.opt.gravity[:] = self.gravity
            self._wake()
        start = data.qpos.copy()
        before = self._warnings()
        self._set_gains()
        wanted = self._forces.wanted()
        elliptic = [each for path, each in self.closures.items() if each.is_elliptic and path not in self.off]
        self.load_meter.begin()
        self._impulses.begin()
        for number in range(self.substeps):
            if self._led_drives:
                self._aim_drives((number + 1) / self.substeps)
            for closure in elliptic:
                first, second = self.joint_frames(closure.facts.path)
                closure.aim(model, data, first, second[:3, 0])
            self._forces.lead(wanted)
            mujoco.mj_step1(model, data)
            self._forces.push()
            if data.ncon:
                self._contacts.grip()
            if data.nefc and self._bouncing:
                self._bounce()
            if not self._is_plain:
                self._forces.turn()
            mujoco.mj_step2(model, data)
            self._contacts.settle()
            if not np.abs(data.qvel).max(initial=0.0) < RUNAWAY:
                return self._stop(start, positions, rotations)
            self._forces.hold()
            self.load_meter.measure()
            if self._impulses.is_on:
                self._impulses.add(self._path_of, self._touching_bodies())
        self._forces.arrive(wanted)
        self.led.clear()
        self._led_drives.clear()
        for path in self.load_meter.end():
            self.broken.append(path)
            self._switch(path, False)
        self.read_poses(positions, rotations)
        lost = []
        if self._warnings() != before:
            dofs = [data.warning[kind].lastinfo for kind in WARNINGS if data.warning[kind].number]
            wrong = {int(model.dof_bodyid[min(dof, model.nv - 1)]) for dof in dofs}
            lost = [path for path, row in self.rows.items() if int(self.ids[row]) in wrong]
        return Step(data.body_awake[self.ids] != int(mujoco.mjtSleepState.mjS_ASLEEP), lost)

    def _stop(self, start: Any, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        """End the simulation of the scene where the step began: each further one would take minutes, and stay wrong."""
        model, data = self.model, self.data
        wild = {int(model.dof_treeid[dof]) for dof in np.flatnonzero(~(np.abs(data.qvel) < RUNAWAY))}
        trees = model.body_treeid[self.ids]
        self._has_run_away = True
        scene = self.setup.layout.model.prims.get(self.setup.scene)
        self.notices.add(
            "Unstable", scene, f"{scene.display if scene else 'The scene'} stands still from here on, until a reset: "
            f"something in it got faster than {RUNAWAY:g} m/s or rad/s.",
        )  # fmt: skip
        data.qpos[:], data.qvel[:] = start, 0.0
        mujoco.mj_forward(model, data)
        self.read_poses(positions, rotations)
        return Step(np.zeros(len(self.ids), bool), [path for path, row in self.rows.items() if trees[row] in wild])

    def _warnings(self) -> list[int]:
        return [self.data.warning[kind].number for kind in WARNINGS]

    def _wake(self) -> None:
        """Let all bodies that sleep wake in the next step, which a force does."""
        self.data.xfrc_applied[self.ids, 2] += 1e-20

    def _aim_drives(self, part: float) -> None:
        """Set the targets that change in a time step to where they are after a part of it."""
        for key, (start, drive) in self._led_drives.items():
            target = drive.target_position - (1.0 - part) * (drive.target_position - start)
            self._drives[key] = replace(drive, target_position=target)
        self._set_gains()

    def _set_gains(self) -> None:
        """Gains that the step can integrate, and those of accelerations by the inertia of now."""
        model, data = self.model, self.data
        keys = [key for key, drive in self._drives.items() if drive.stiffness or drive.damping]
        for key in self._drives.keys() - keys:
            model.actuator_biasprm[self._actuators[key], :3] = 0.0
            model.actuator_gainprm[self._actuators[key], 0] = 0.0
            if key in self._damped:
                model.dof_damping[self.dofs[key]] = 0.0
        if not keys:
            return
        units, gains = np.zeros((len(keys), model.nv)), np.zeros((len(keys), model.nv))
        for row, key in enumerate(keys):
            if key[1] < 6:
                units[row, self.dofs[key]] = 1.0
            else:
                units[row] = self._lengthening(key[0])
        mujoco.mj_solveM(model, data, gains, units)
        inertias = 1.0 / np.maximum(np.einsum("ij,ij->i", units, gains), 1e-30)
        for key, inertia in zip(keys, inertias.tolist(), strict=True):
            drive, actuator = self._drives[key], self._actuators[key]
            factor = inertia if drive.acceleration else 1.0
            stiffness = min(drive.stiffness * factor, MOST_STIFF * inertia / self.h**2)
            damping = min(drive.damping * factor, MOST_DAMPED * inertia / self.h)
            ahead = self.h * stiffness if stiffness * self.h**2 > SOFT * inertia else 0.0
            if self._is_plain:
                stiffness, damping, ahead = drive.stiffness * factor, drive.damping * factor, 0.0
            on, own = float(key[0] not in self.off), 0.0
            if key in self._damped:
                # MuJoCo integrates the damping of a joint implicitly, and that of an actuator not always.
                own = min(self._damped[key], damping)
                model.dof_damping[self.dofs[key]] = own * on
            model.actuator_gainprm[actuator, 0] = on
            model.actuator_biasprm[actuator, :3] = (0.0, -stiffness * on, -(damping + ahead - own) * on)
            most = _finite(drive.max_force)
            model.actuator_forcerange[actuator] = (-most, most)
            data.ctrl[actuator] = stiffness * drive.target_position + damping * drive.target_velocity

    def _lengthening(self, path: str) -> Floats:
        """By which velocities (nv,) the distance of a joint grows by 1 m/s."""
        straight = [np.zeros((3, self.model.nv)) for _ in (0, 1)]
        sites = [self.model.site(f"{path} distance {side}").id for side in (0, 1)]
        for each, site in zip(straight, sites, strict=True):
            mujoco.mj_jacSite(self.model, self.data, each, None, site)
        way = self.data.site_xpos[sites[1]] - self.data.site_xpos[sites[0]]
        row: Floats = way / max(float(np.linalg.norm(way)), 1e-12) @ (straight[1] - straight[0])
        return row

    def _bounce(self) -> None:
        """Limits that give speed back."""
        data = self.data
        rows = np.flatnonzero(data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT))
        for row in rows:
            settings = self._bouncing.get(int(data.efc_id[row]))
            speed = float(data.efc_vel[row])
            if settings is not None and speed < -settings.threshold and data.efc_pos[row] + speed * self.h < 0.0:
                data.efc_aref[row] = -(1.0 + settings.bounce) * speed / self.h

    def read_poses(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> None:
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        positions[:], rotations[:] = self.data.xpos[self.ids], self.data.xquat[self.ids]

    def velocities(self) -> NDArray[np.float64]:
        mujoco.mj_comVel(self.model, self.data)
        return np.concatenate(forces.velocities(self.model, self.data, self.ids), axis=1)

    def save(self) -> Any:
        edited = {name: getattr(self.model, name).copy() for name in _EDITED}
        return (
            copy.copy(self.data), edited, {key: replace(drive) for key, drive in self._drives.items()}, self.gravity,
            dict(self.led), set(self.kinematic), dict(self.weights), set(self.off), list(self.broken),
            self.surfaces.values.copy(), dict(self.runs), self._ranges(), self._has_run_away,
            self._contacts.struck.copy(),
        )  # fmt: skip

    def _ranges(self) -> dict[str, Any]:
        """What live edits change of the facts of joints."""
        return {
            path: (facts.break_force, facts.break_torque, facts.distance, facts.cone,
                   [(freedom.low, freedom.high) for freedom in facts.freedoms])
            for path, facts in self.facts.items()
        }  # fmt: skip

    def load(self, saved: Any) -> None:
        (data, edited, drives, self.gravity, led, kinematic, weights, off, broken, values, runs, ranges,
         self._has_run_away, self._contacts.struck[:]) = saved  # fmt: skip
        changes = any(not np.array_equal(getattr(self.model, name), value) for name, value in edited.items())
        for name, value in edited.items():
            getattr(self.model, name)[:] = value
        if changes:
            mujoco.mj_setConst(self.model, self._spare)
        mujoco.mj_copyData(self.data, self.model, data)
        self.model.opt.gravity[:] = self.gravity
        self._drives, self.led = {key: replace(drive) for key, drive in drives.items()}, dict(led)
        self._led_drives.clear()
        self.kinematic, self.weights = set(kinematic), dict(weights)
        self.off, self.broken = set(off), list(broken)
        self.surfaces.values[:], self.runs = values, dict(runs)
        for path, (force, torque, distance, cone, limits) in ranges.items():
            facts = self.facts[path]
            facts.break_force, facts.break_torque, facts.distance, facts.cone = force, torque, distance, cone
            for freedom, (low, high) in zip(facts.freedoms, limits, strict=True):
                freedom.low, freedom.high = low, high
        self.grabs.clear()
        self.load_meter.found.clear()

    # ----------------------------------------------------------------------- what others move

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self.led[path] = np.asarray(position, float), np.asarray(rotation, float)

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        number = next(each for each, prim in enumerate(self.setup.statics) if prim.path == path)
        body = self.model.body(f"s{number}").id
        if np.array_equal(self.model.body_pos[body], position) and np.array_equal(self.model.body_quat[body], rotation):
            return
        self.model.body_pos[body], self.model.body_quat[body] = position, rotation
        # While bodies may sleep, MuJoCo places what is static only once.
        flags, sleep = self.model.opt.enableflags, int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        self.model.opt.enableflags = flags & ~sleep
        mujoco.mj_kinematics(self.model, self.data)
        self.model.opt.enableflags = flags
        self._wake()

    # ----------------------------------------------------------------------- contacts, joints

    def _touching(self) -> Any:
        """The state with the contacts of now, also of bodies that sleep, of which MuJoCo computes none."""
        if bool((self.data.body_awake[self.ids] != int(mujoco.mjtSleepState.mjS_ASLEEP)).all()):
            return self.data
        flags = self.model.opt.enableflags
        self.model.opt.enableflags = flags & ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        self._spare.qpos[:], self._spare.qvel[:] = self.data.qpos, 0.0
        self._spare.ctrl[:], self._spare.xfrc_applied[:] = self.data.ctrl, self.data.xfrc_applied
        self._spare.qfrc_applied[:] = self.data.qfrc_applied
        mujoco.mj_forward(self.model, self._spare)
        self.model.opt.enableflags = flags
        return self._spare

    def contact_count(self) -> int:
        return len({tuple(sorted(pair)) for pair in self._touching().contact.geom.tolist()})

    def contact_counts(self) -> dict[str, int]:
        bodies = self.model.geom_bodyid[self._touching().contact.geom].ravel().tolist()
        names = {int(number): path for path, number in zip(self.rows, self.ids, strict=True)}
        counts: dict[str, int] = {}
        for path in (names.get(body, "") for body in bodies):
            if path in self.weights and path not in self.kinematic:
                counts[path] = counts.get(path, 0) + 1
        return counts

    def contact_points(self, most: int) -> list[tuple[float, ...]]:
        data, wrench = self._touching(), np.zeros(6)
        moved = {int(self.ids[self.rows[path]]) for path in self.weights if path not in self.kinematic}
        points = []
        for number, contact in enumerate(data.contact[:most]):
            mujoco.mj_contactForce(self.model, data, number, wrench)
            sign = 1.0 if int(self.model.geom_bodyid[contact.geom[1]]) in moved else -1.0
            points.append((*contact.pos.tolist(), *(sign * contact.frame[:3]).tolist(), float(wrench[0])))
        return points

    def contact_impulses(self) -> Mapping[tuple[str, str], float]:
        return self._impulses.measured()

    @cached_property
    def _path_of(self) -> dict[int, str]:
        """Paths of bodies and static colliders by the number of their body in MuJoCo."""
        statics = {self.model.body(f"s{number}").id: prim.path for number, prim in enumerate(self.setup.statics)}
        return {int(number): path for path, number in zip(self.rows, self.ids, strict=True)} | statics

    def _touching_bodies(self) -> Iterator[tuple[int, int, Callable[[], float]]]:
        """Bodies that touch after a step of the solver, as `ImpulseSums.add` takes them."""
        wrench = np.zeros(6)

        def impulse(number: int) -> float:
            mujoco.mj_contactForce(self.model, self.data, number, wrench)
            return float(wrench[0]) * self.h

        for number, (first, second) in enumerate(self.model.geom_bodyid[self.data.contact.geom].tolist()):
            yield first, second, partial(impulse, number)

    def _pose(self, path: str) -> Matrix:
        if not path:
            return np.eye(4)
        number = self.ids[self.rows[path]]
        return frames.transform(self.data.xpos[number], self.data.xmat[number].reshape(3, 3))

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        facts = self.facts[path]
        return self._pose(facts.body0) @ facts.frame0, self._pose(facts.body1) @ facts.frame1

    def is_holding(self, path: str) -> bool:
        return path in self.facts and path not in self.off

    def is_reduced(self, path: str) -> bool:
        return any(link.facts.path == path for link in self.links)

    def pose_joint(self, pose: JointPose) -> None:
        poses = [self._pose(path) for path in self.rows]
        speeds = self.data.qvel.copy()
        for path in pose.bodies:
            poses[self.rows[path]] = pose.by @ poses[self.rows[path]]
            number = self.ids[self.rows[path]]
            first, count = self.model.body_dofadr[number], self.model.body_dofnum[number]
            speeds[first : first + count] = 0.0
        self._place(poses)
        self.data.qvel[:] = speeds
        self._wake()
        mujoco.mj_forward(self.model, self.data)
        self._contacts.struck[:] = True

    def drive(self, path: str, dof: str) -> Drive:
        facts = self.facts[path]
        if dof not in facts.moving:
            raise KeyError(dof)
        return replace(self._drives.get((path, facts.names[dof]), NO_DRIVE))

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        key = path, self.facts[path].names[dof]
        if key not in self._drives:
            raise KeyError(dof)
        self._drives[key] = replace(drive)
        self._led_drives.pop(key, None)
        self._wake()

    def lead_drive(self, path: str, dof: str, start: float) -> None:
        key = path, self.facts[path].names[dof]
        self._led_drives[key] = start, self._drives[key]

    def joint_load(self, path: str) -> tuple[float, float]:
        force, torque = self.load_meter.told(path)
        return float(np.linalg.norm(force)), float(np.linalg.norm(torque))

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        # Along the axes of the authored frame.
        turn, first = self.joint_frames(path)[1][:3, :3].T, self.facts[path].first
        force, torque = (frames.vector(np.roll(turn @ part, first)) for part in self.load_meter.told(path))
        return force, torque

    # ----------------------------------------------------------------------- hands and live edits

    def grab(self, number: int, path: str, point: Matrix) -> None:
        pose = self._pose(path)
        local = frames.vector(pose[:3, :3].T @ (np.asarray(point, float) - pose[:3, 3]))
        self.grabs[number] = Grab(path, local, frames.vector(point))
        self._wake()

    def release(self, number: int) -> None:
        del self.grabs[number]
        self.data.xfrc_applied[:] = 0.0

    def set_surface(self, material: str, friction: float, restitution: float | None, static: float | None) -> None:
        self.surfaces.change(material, friction, restitution, static)
        self._wake()

    def set_mass(self, path: str, mass: float) -> None:
        weight = self._own[path] = self._own[path].scaled_to(mass)
        if path not in self.kinematic:
            self.weights[path] = weight
            self._weigh(path)
            self._wake()

    def _weigh(self, path: str) -> None:
        """Give a body its own mass, or that of one that others lead."""
        model, body = self.model, int(self.ids[self.rows[path]])
        if path in self.kinematic:
            model.body_mass[body], model.body_inertia[body], model.body_gravcomp[body] = HEAVY, HEAVY, 1.0
            model.body_ipos[body], model.body_iquat[body] = 0.0, (1.0, 0.0, 0.0, 0.0)
        else:
            weight = self._own[path]
            model.body_mass[body], model.body_inertia[body] = weight.mass, _moments(weight)[0]
            model.body_ipos[body], model.body_iquat[body] = weight.center, weight.axes
            model.body_gravcomp[body] = 1.0 - self.settings[path].gravity
        mujoco.mj_setConst(model, self._spare)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        if path in self.broken or enabled == (path not in self.off):
            return
        closure = self.closures.get(path)
        if self.is_reduced(path) or closure is None or not (closure.eq_ids or closure.tendon_ids):
            self._refuse(path)
            return
        self._switch(path, enabled)

    def _refuse(self, path: str) -> None:
        """An edit that needs a world built anew, which an animated value does not get. Raises NotLiveError."""
        if path not in self._changing:
            raise NotLiveError(path)
        self._lacks(self.facts[path].prim, "the animated switch or new limits")

    def _switch(self, path: str, on: bool) -> None:
        (self.off.discard if on else self.off.add)(path)
        self.closures[path].switch(self.model, self.data, on)
        self._wake()

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        own = self.facts[path]
        own.break_force, own.break_torque = facts.break_force, facts.break_torque
        for axis, freedom in enumerate(facts.freedoms):
            dof = self.dofs.get((path, axis))
            now = own.freedoms[axis]
            if (now.low, now.high) == (freedom.low, freedom.high):
                continue
            if dof is None or freedom.is_locked or freedom.is_limited != now.is_limited:
                self._refuse(path)
                continue
            joint = int(self.model.dof_jntid[dof])
            self.model.jnt_range[joint] = (_finite(freedom.low), max(_finite(freedom.high), freedom.low + 1e-7))
            now.low, now.high = freedom.low, freedom.high
        if path in self.closures:
            self.closures[path].set_ranges(self.model, facts)
        self._wake()

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        if (velocity is None) == (path in self.kinematic):
            return
        model, data = self.model, self.data
        body = int(self.ids[self.rows[path]])
        first = int(model.body_dofadr[body])
        if velocity is None:
            self.kinematic.add(path)
            self.weights.pop(path, None)
            data.qvel[first : first + 6] = 0.0
        else:
            self.kinematic.discard(path)
            self.led.pop(path, None)
            self.weights[path] = self._own[path]
            turn = data.xmat[body].reshape(3, 3)
            data.qvel[first : first + 6] = np.concatenate([velocity[0], turn.T @ np.array(velocity[1])])
        data.qfrc_applied[first : first + 6] = 0.0
        self._weigh(path)
        for prim in self.setup.bodies[path].colliders:
            for name in self._geoms.get(prim.path, ()):
                self._set_bits(name, prim.path, velocity is not None)
        mujoco.mj_forward(model, data)
        self._wake()

    def _set_bits(self, name: str, path: str, pushes: bool) -> None:
        geom = self.model.geom(name).id
        self.model.geom_contype[geom], self.model.geom_conaffinity[geom] = _bits(self._masks[path], pushes)

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        for name in self._geoms.get(path, ()):
            geom = self.model.geom(name).id
            owner = next((own for own, row in self.rows.items() if self.ids[row] == self.model.geom_bodyid[geom]), "")
            if enabled:
                self._set_bits(name, path, bool(owner) and owner not in self.kinematic)
            else:
                self.model.geom_contype[geom] = self.model.geom_conaffinity[geom] = 0
        self._wake()

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        surface = surface_of(prim)
        self.runs.pop(path, None)
        if surface is not None:
            self.runs[path] = surface
        self._wake()


def _bits(mask: CollisionMask, pushes: bool) -> tuple[int, int]:
    """contype and conaffinity. Two shapes without a contype, as static and kinematic ones, do not collide."""
    member, meets = (int(np.uint32(bits).astype(np.int32)) for bits in (mask.member, mask.meets))
    return member if pushes else 0, meets
