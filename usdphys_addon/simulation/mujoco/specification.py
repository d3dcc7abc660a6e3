# SPDX-License-Identifier: GPL-3.0-or-later
"""What MuJoCo is told of a scene: bodies in trees of joints, shapes, equalities. The rest is named in notices."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from ...core import frames, mass
from ...core.errors import EngineError
from ...core.frames import Matrix
from ...core.joint_settings import following, gearing_of
from ...core.model import Prim
from ...core.schemas import usd_physics
from ..engine import Setup
from ..filters import CollisionMask
from ..joint_facts import NO_LIMIT, Drive, Freedom, JointFacts
from ..layout import Body, contact_material
from ..switches import changing_joints, switching
from ..vendor_settings import BodySettings, body_settings, combine_modes, is_trigger, surface_of
from ..weights import Geometries, Weight, alone
from . import closures, untold
from .shapes import shapes_of
from .surfaces import Surfaces
from .tree import Link, forest

#: Solver steps a second by the quality.
RATES = {"draft": 240.0, "normal": 600.0, "exact": 960.0}
#: s, of MuJoCo where nothing is said.
PLAIN_STEP = 0.002
#: rad, by which a link may swing across its load in a step, and by how much steps are refined for that.
FAST_SWING, MOST_REFINED = 0.65, 4
#: m. Free bodies that are smaller, by a cube of their least inertia, get more steps.
SMALL = 0.01
#: How firmly friction of joints holds, from 0 to 1. With MuJoCo's own 0.9, a slide creeps by 1 mm/s for each m/s2 that
#: it holds back.
HOLDING = 0.9999
#: kg and kg m2, of the masses of a scene, of a body that others lead: nothing that it meets slows it.
HEAVY = 1e7
#: Options that are chosen from a list: the enumeration, and how its names begin.
_CHOICES = {
    "integrator": (mujoco.mjtIntegrator, "mjINT"), "cone": (mujoco.mjtCone, "mjCONE"),
    "jacobian": (mujoco.mjtJacobian, "mjJAC"), "solver": (mujoco.mjtSolver, "mjSOL"),
}  # fmt: skip
NO_DRIVE = Drive()


def moments_of(weight: Weight) -> tuple[Matrix, bool]:
    """Moments (3,) that MuJoCo takes; and False where no body can have those of a weight: then they are the mean."""
    moments = mass.possible_moments(np.maximum(weight.moments, 1e-12))
    is_possible = bool(2.0 * moments.max() <= moments.sum())
    return moments if is_possible else np.full(3, moments.mean()), is_possible


def finite(value: float) -> float:
    """A number that MuJoCo takes: infinity is the largest that is a limit."""
    return min(max(value, -NO_LIMIT), NO_LIMIT)


def collision_bits(mask: CollisionMask, pushes: bool) -> tuple[int, int]:
    """contype and conaffinity. Two shapes without a contype, as static and kinematic ones, do not collide."""
    member, meets = (int(np.uint32(bits).astype(np.int32)) for bits in (mask.member, mask.meets))
    return member if pushes else 0, meets


class Specification:
    """What is told of one scene, and what of it the running scene goes by.

    Bodies that others lead are heavy, and pushed: what lies or hangs on them rides along.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup, self.notices = setup, setup.notices
        scene = setup.layout.model.prims.get(setup.scene)
        own: Any = None if scene is None else scene.schemas.get("MjcSceneAPI")
        self._own_options = own
        #: True for a scene that is meant for MuJoCo: it runs as its file does there, with its step and its gains.
        self.is_plain = own is not None
        rate = RATES[setup.quality] if own is None else 1.0 / (own.timestep or PLAIN_STEP)
        self.substeps = setup.substeps or max(1, math.ceil(rate * setup.time_step - 1e-6))
        #: s, of a step of the solver.
        self.h = setup.time_step / self.substeps
        x, y, z = setup.gravity.tolist()
        self.gravity = (x, y, z)
        self.rows = {path: row for row, path in enumerate(setup.bodies)}
        self.kinematic = frozenset(path for path, body in setup.bodies.items() if body.is_kinematic)
        self._switching = switching(setup.layout.model) & set(setup.bodies)
        #: Joints whose switches or limits are animated.
        self.changing: Collection[str] = changing_joints(setup.layout.model)
        #: Of the bodies that move by themselves.
        self.weights: dict[str, Weight] = {}
        #: Damping and largest speeds of the same bodies.
        self.settings: dict[str, BodySettings] = {}
        #: Surfaces that run, by the path of their body.
        self.runs: dict[str, Any] = {}
        #: Of the tree.
        self.links: list[Link] = []
        #: The joints by path, what of them is beside the tree, and those that are switched off.
        self.facts: dict[str, JointFacts] = {}
        self.closures: dict[str, closures.Closure] = {}
        self.off: set[str] = set()
        #: By joint and degree of freedom.
        self.drives: dict[tuple[str, int], Drive] = {}
        #: Damping of joints that is a part of that of their drives, where the file of MuJoCo has it in the joint.
        self.damped: dict[tuple[str, int], float] = {}
        #: Of gears: name of the equality, names of both joints, ratio.
        self.couplings: list[tuple[str, str, str, float]] = []
        self.surfaces = Surfaces()
        #: Names of the shapes of colliders, and with what these collide.
        self.geoms: dict[str, list[str]] = {}
        self.masks: dict[str, CollisionMask] = {}
        self._spec: Any = mujoco.MjSpec()
        self._nodes: dict[str, Any] = {"": self._spec.worldbody}

    def lacks(self, prim: Prim, what: str) -> None:
        """Say that MuJoCo does not get something of a prim."""
        self.misses(prim, f"MuJoCo is not told {what} of {prim.display}.")

    def misses(self, prim: Prim, message: str) -> None:
        """The same, by a sentence of its own."""
        self.notices.add("EngineLimits", prim, message)

    def build(self) -> Iterator[float]:
        """Tell it all, in parts, each with its share of the work."""
        self._set_options()
        geometries, model = Geometries(), self.setup.layout.model
        roots = self.kinematic | self._switching
        joints = self.setup.joints
        for facts in joints:
            if facts.bond or facts.pull is not None:
                self.misses(facts.prim, untold.bond(facts.prim.display))
        outside = {facts.path for facts in joints if self._is_outside(facts)}
        self.links = forest(
            [facts for facts in joints if facts.enabled and facts.path not in outside], self.setup.bodies, roots,
            closures.rank,
        )  # fmt: skip
        links = {link.child: link for link in self.links}
        for path, body in self.setup.bodies.items():
            if not body.is_kinematic:
                part = alone(body, model, geometries)
                self.weights[path] = Weight.of(mass.mass_properties(part, path))
            yield 0.0
        self._refine()
        nodes = self._nodes
        for path in [*(path for path in self.setup.bodies if path not in links), *links]:
            nodes[path] = self._add_body(self.setup.bodies[path], links.get(path), geometries)
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
            if facts.path in held or self._close(facts):
                self.facts[facts.path] = facts
        self._couple()
        self._exclude()
        for path, closure in self.closures.items():
            closure.add_tendons(self._spec, nodes, self.h)
            distance = closure.facts.distance
            if distance is not None and path in self.facts:
                self._add_drive(path, 6, distance, f"{path} distance", mujoco.mjtTrn.mjTRN_TENDON)

    def compiled(self) -> Any:
        """MuJoCo's model of what was told. Raises EngineError."""
        try:
            return self._spec.compile()
        except ValueError as error:
            raise EngineError(f"MuJoCo does not take this scene: {error}.") from error

    def name_of(self, path: str) -> str:
        """MuJoCo's name of a body or a static collider."""
        return str(self._nodes[path].name)

    def _refine(self) -> None:
        """Take more steps where a light link carries much, because it swings across its load too fast for them, and
        where free bodies are small, because contacts give way by a length that does not depend on the size.
        """
        if self.is_plain or self.setup.substeps:
            return
        carried = {path: weight.mass for path, weight in self.weights.items()}
        for link in reversed(self.links):
            if link.parent in carried:
                carried[link.parent] += carried[link.child]
        fastest = 0.0
        for link in self.links:
            own = self.weights[link.child]
            arm = 2.0 * float(np.linalg.norm(link.ends[1][:3, 3] - own.center))
            if own.mass > 0.0 and arm > 0.0 and link.chain:
                load = (carried[link.child] - own.mass) * math.hypot(*self.gravity)
                fastest = max(fastest, 2.0 * math.sqrt(load / (own.mass * arm)))
        linked = {link.child for link in self.links}
        sizes = [
            math.sqrt(6.0 * min(weight.moments) / weight.mass)
            for path, weight in self.weights.items()
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
        if not self.is_plain:
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
                    self.lacks(self.setup.layout.model.prims[self.setup.scene], "the integrator RK4")
                else:
                    setattr(option, word, value)
            elif kind == "flag" and value is False and word not in ("autoreset", "filterparent"):
                option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word.upper()}", 0))
            elif kind == "flag" and value is True:
                option.enableflags |= int(getattr(mujoco.mjtEnableBit, f"mjENBL_{word.upper()}", 0))

    def _is_outside(self, facts: JointFacts) -> bool:
        """True for a joint that can end: it is an equality, as a joint of the tree cannot be switched."""
        if facts.distance is not None and all(not freedom.is_locked for freedom in facts.freedoms):
            return True
        if not facts.breaks and facts.path not in self.changing:
            return False
        if closures.is_whole(facts):
            return True
        if facts.breaks:
            self.misses(facts.prim, untold.breaking(facts.prim.display))
        return False

    def _add_body(self, body: Body, link: Link | None, geometries: Geometries) -> Any:
        path, pose, nodes = body.prim.path, body.pose, self._nodes
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
            weight = self.weights[path]
            node.mass, node.gravcomp = weight.mass, 1.0 - settings.gravity
            node.ipos, node.iquat = weight.center, weight.axes
            node.inertia, is_possible = moments_of(weight)
            if not is_possible:
                self.misses(
                    body.prim, f"MuJoCo takes the mean of the moments of inertia of {body.prim.display}, which no body "
                    "can have.",
                )  # fmt: skip
            self.settings[path] = settings
            if not all(settings.moves) or not all(settings.turns):
                self.lacks(body.prim, "the locked axes")
            if link is not None and min(settings.max_speed, settings.max_spin) < NO_LIMIT:
                self.misses(body.prim, untold.speeds(body.prim.display))
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
            ball = node.add_joint(name=f"{path} ball", type=mujoco.mjtJoint.mjJNT_BALL, pos=frame[:3, 3])
            ball.armature = link.facts.freedoms[3].settings.armature
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
                    if not self.is_plain:
                        joint.solref_friction, joint.solimp_friction[:2] = (2.0 * self.h, 1.0), HOLDING
                elif drive is not None and drive is not freedom.drive:
                    # A polynomial of the speed: its first coefficient.
                    joint.damping = (drive.damping, 0.0, 0.0)
            self._add_drive(path, axis, freedom, name, mujoco.mjtTrn.mjTRN_JOINT)

    def _add_drive(self, path: str, axis: int, freedom: Freedom, target: str, kind: Any) -> None:
        drive = freedom.drive
        self.drives[path, axis] = NO_DRIVE if drive is None or drive.is_friction else replace(drive)
        is_apart = any(not one.is_friction for one in freedom.resistances)
        if self.is_plain and axis < 6 and freedom.settings.resistance > 0.0 and not is_apart:
            self.damped[path, axis] = freedom.settings.resistance
        actuator = self._spec.add_actuator(name=f"{path} {axis}", target=target, trntype=kind)
        actuator.biastype, actuator.forcelimited = mujoco.mjtBias.mjBIAS_AFFINE, True
        actuator.forcerange = (-NO_LIMIT, NO_LIMIT)

    def _limit(self, joint: Any, freedom: Freedom) -> None:
        joint.limited = freedom.is_limited and not freedom.has_soft_limit
        if freedom.is_limited:
            joint.range = (finite(freedom.low), max(finite(freedom.high), finite(freedom.low) + 1e-7))
            if not self.is_plain:
                joint.solref_limit = (2.0 * self.h, 1.0)
            if freedom.has_bounce:
                joint.solimp_limit[:2] = 0.9999

    def _close(self, facts: JointFacts) -> bool:
        """Add a joint that is not in the tree as an equality; False with a notice if there is none for it."""
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        found = self.closures[facts.path] = closures.Closure(facts=facts)
        if not facts.enabled:
            self.off.add(facts.path)
        if len(free) == 6 and facts.distance is not None:
            drives = bool(facts.drives) and facts.distance.drive is None
            if drives or any(freedom.is_limited for freedom in facts.freedoms):
                self.lacks(facts.prim, "limits and drives beside the distance")
            return True
        if not closures.is_closable(facts):
            if facts.enabled:
                self.misses(facts.prim, untold.loop(facts.prim.display))
                del self.closures[facts.path]
            return not facts.enabled
        if facts.enabled and not closures.is_bare(facts):
            self.misses(facts.prim, untold.settings(facts.prim.display))
        found.add_equalities(self._spec, self._nodes, self.h)
        return True

    def _couple(self) -> None:
        """Joints that follow others, and gears."""
        axes = {link.facts.path: link.chain for link in self.links if len(link.chain) == 1 and not link.is_ball}
        for facts in self.facts.values():
            wanted = following(facts.prim)
            if wanted is None:
                continue
            if facts.path not in axes or wanted.leader not in axes:
                self.misses(facts.prim, untold.leader(facts.prim.display))
                continue
            self._add_coupling(facts.path, axes[facts.path][0], wanted.leader, axes[wanted.leader][0],
                               wanted.offset, wanted.ratio)  # fmt: skip
        for prim in self.setup.layout.model.prims.values():
            gearing = gearing_of(prim)
            if gearing is None or not gearing.is_enabled or gearing.joints[0] not in self.facts:
                continue
            first, second = gearing.joints
            if axes.get(first) != [gearing.axes[0]] or axes.get(second) != [gearing.axes[1]]:
                self.misses(prim, untold.gearing(prim.display, gearing.needs))
                continue
            signs = [
                -1.0 if body and self.facts[path].body0 == body else 1.0
                for path, body in zip(gearing.joints, gearing.bodies, strict=True)
            ]
            ratio = -(gearing.factors[1] * signs[1]) / (gearing.factors[0] * signs[0] or 1.0)
            name = self._add_coupling(first, gearing.axes[0], second, gearing.axes[1], 0.0, ratio)
            self.couplings.append((name, f"{first} {gearing.axes[0]}", f"{second} {gearing.axes[1]}", ratio))

    def _add_coupling(self, path: str, axis: int, leader: str, other: int, offset: float, ratio: float) -> str:
        equal = self._spec.add_equality(
            name=f"{path} follows", type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=f"{path} {axis}", name2=f"{leader} {other}",
        )  # fmt: skip
        equal.data[:5] = (offset, ratio, 0.0, 0.0, 0.0)
        equal.solref = (2.0 * self.h, 1.0)
        return str(equal.name)

    def _exclude(self) -> None:
        nodes = self._nodes
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
        model, names = self.setup.layout.model, self.geoms.setdefault(prim.path, [])
        material = contact_material(model, prim, self.notices)
        modes = combine_modes(model, material.material)
        mask = self.masks[prim.path] = self.setup.filters.masks.get(prim.path, CollisionMask())
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
            geom.contype, geom.conaffinity = collision_bits(mask, pushes)
            geom.solref = (2.5 * self.h, 1.0)
            names.append(name)
            self.surfaces.add(material, modes)
