# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that hold bodies, with what drives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from ..core import frames, joint_settings, mass
from ..core.model import Prim
from ..core.schemas import usd_physics
from . import joints, values
from .draft import Draft
from .further import Spring
from .tree import LETTERS, Joint, seen_from
from .values import NARROW, Floats
from .words import row, short


class Joints:
    """Writes joints."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self.further, self.bodies = draft, draft.further, draft.tree.bodies
        self._actuators = values.by_target(draft.further.actuators)

    def of_body(self, joint: Joint) -> list[str]:
        """The elements of the joint that holds a body."""
        prim, kind = joint.prim, joint.prim.type_name
        local = seen_from(self.bodies[joint.child.body].pose, joint.child.frame)
        if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
            number = LETTERS.index(joint.schema.resolved("axis"))
            limits = joint.schema.resolved("lower_limit"), joint.schema.resolved("upper_limit")
            is_hinge = kind == "PhysicsRevoluteJoint"
            drive = prim.schemas.get(f"PhysicsDriveAPI:{'angular' if is_hinge else 'linear'}")
            return [self._single(
                joint, "", number, is_hinge, local, joint.start, limits,
                drive if isinstance(drive, usd_physics.DriveAPI) else None,
            )]  # fmt: skip
        if kind == "PhysicsSphericalJoint":
            return [self._ball(joint, local)]
        if kind == "PhysicsJoint":
            return self._generic(joint, local)
        if kind != "PhysicsFixedJoint":
            self.draft.issue(prim, f"{prim.display} is a {kind}, which MuJoCo has no joint for.", "Use another.")
        return []

    # ------------------------------------------------------------------ kinds of joints

    def _single(
        self, joint: Joint, dof: str, number: int, is_hinge: bool, local: Floats, start: float,
        limits: Sequence[Any], drive: usd_physics.DriveAPI | None,
    ) -> str:  # fmt: skip
        """A hinge or a slide. dof: of a generic joint. number: of the axis. start: value in the pose of the model."""
        name = self.draft.name_of_joint(joint.prim, dof)
        axis = local[:3, number] * joint.sign
        words = f'type="{"hinge" if is_hinge else "slide"}" pos="{row(local[:3, 3])}" axis="{row(axis)}"'
        if abs(start) > 1e-9:
            words += f' ref="{row([start])}"'
        low, high = (float(value) for value in limits)
        if low > high:
            self.draft.issue(
                joint.prim, f"{joint.prim.display} has its lower limit above its upper one: MuJoCo takes such a range "
                "for none, so it is written without limits.", "Swap its limits.",
            )  # fmt: skip
        elif math.isfinite(low) or math.isfinite(high):
            far = 1e3
            low, high = max(low, -far), min(high, far)
            # MuJoCo takes a range without width for none.
            words += f' range="{row([low, low + NARROW if low == high else high])}"'
        words += self._resistance(joint.prim, dof or ("angular" if is_hinge else "linear"))
        words += self.further.words.get(self.further.joints.get((joint.prim.path, dof), ""), "")
        words += self._driven(joint, dof, name, drive, lambda: self._weight_of(
            joint, drive, local, number, is_hinge=is_hinge))  # fmt: skip
        return f'<joint name="{escape(name)}" {words}/>'

    def _ball(self, joint: Joint, local: Floats) -> str:
        words = f'type="ball" pos="{row(local[:3, 3])}"' + self._resistance(joint.prim, "")
        cones = [float(joint.schema.resolved(f"cone_angle{side}_limit")) for side in (0, 1)]
        if min(cones) >= 0.0:
            words += f' range="{row([0.0, min(max(cones), math.pi)])}"'
            self.draft.issue(
                joint.prim, f"The cone of {joint.prim.display} limits its twist in MuJoCo, too.",
                "Raise the cone, or make it a generic joint, if it twists by more.", "info",
            )  # fmt: skip
        name = self.draft.name_of_joint(joint.prim)
        for one in self._actuators.get(f"{joint.prim.path}.", ()):
            if one.kind == "joint":
                self.draft.add_actuator(one, f'joint="{escape(name)}"')
        return f'<joint name="{escape(name)}" {words}/>'

    def _generic(self, joint: Joint, local: Floats) -> list[str]:
        """Slides along the axes of the frame, then hinges about its Z, Y and X, as the angles of the joint are.

        Where the child is the first side it is the way back: hinges about X, Y and Z, then slides.
        """
        between = joint.between
        limits = dict(joint.prim.instances(usd_physics.LimitAPI))
        drives = dict(joint.prim.instances(usd_physics.DriveAPI))
        ranges: dict[str, tuple[float, float]] = {}
        for family in ("trans", "rot"):
            for letter in LETTERS:
                limit = limits.get(f"{family}{letter}")
                low, high = (-math.inf, math.inf) if limit is None else (limit.resolved("low"), limit.resolved("high"))
                if low <= high:
                    ranges[f"{family}{letter}"] = (float(low), float(high))
        turn = between[:3, :3]
        angles = {"Z": math.atan2(turn[1, 0], turn[0, 0]), "Y": -math.asin(max(-1.0, min(1.0, float(turn[2, 0])))),
                  "X": math.atan2(turn[2, 1], turn[2, 2])}  # fmt: skip
        # The frame of the parent, in the body: what turns first turns the axes of the rest.
        first = local @ frames.transform((0, 0, 0), turn.T if joint.sign > 0 else turn)
        lines = []
        order = [f"trans{letter}" for letter in LETTERS] + ["rotZ", "rotY", "rotX"]
        passed, place = np.eye(3), local[:3, 3]
        if joint.sign < 0:
            order.reverse()
            slid = [between[row, 3] if f"trans{letter}" in ranges else 0.0 for row, letter in enumerate(LETTERS)]
            place = (local @ np.array([*slid, 1.0]))[:3]
        for dof in order:
            letter, number = dof[-1], LETTERS.index(dof[-1])
            is_hinge = dof.startswith("rot")
            start = angles[letter] if is_hinge else float(between[number, 3])
            frame = first @ frames.transform((0, 0, 0), passed)
            frame[:3, 3] = place
            if dof in ranges:
                lines.append(self._single(joint, dof, number, is_hinge, frame, start, ranges[dof], drives.get(dof)))
            if is_hinge:
                passed = passed @ frames.matrix_of(frames.turn_by(np.eye(3)[number] * joint.sign * angles[letter]))
        return lines

    # ------------------------------------------------------------------ what drives and resists

    def _resistance(self, prim: Prim, dof: str) -> str:
        """Words for what resists in a joint, whichever simulator it is said for. dof: instance name of its schemas."""
        settings = joint_settings.axis_settings(prim, dof)
        if settings.max_speed < math.inf:
            self.draft.leave_out("largest speed", prim)
        pairs = (("armature", settings.armature), ("damping", settings.resistance), ("frictionloss", settings.friction))
        return "".join(f' {word}="{short([value])}"' for word, value in pairs if value)

    def _driven(
        self, joint: Joint, dof: str, name: str, drive: usd_physics.DriveAPI | None, weight: Callable[[], float]
    ) -> str:  # fmt: skip
        """Writes what drives a joint. Returns words for its own spring.

        Actuators of MuJoCo are written as they are, where they and the spring are what the drive says; else the drive.
        """
        path = joint.prim.path
        own = [one for one in self._actuators.get(f"{path}.{dof}", ()) if one.kind == "joint"]
        spring = self.further.springs.get((path, dof), Spring())
        meant = joints.drive_of(
            values.Joint(path, "hinge", np.zeros(3), np.zeros(3), stiffness=spring.stiffness, spring=spring.position,
                         damping=spring.damping, force_range=spring.force),
            [replace(one, target=path) for one in own], 1.0, is_shared=True,
        )  # fmt: skip
        is_same = _is_same_drive(meant, drive)
        for one in own:
            if is_same or not one.is_servo:
                self.draft.add_actuator(one, f'joint="{escape(name)}"')
        if not is_same:
            if drive is not None:
                self._servo(joint.prim, name, drive, weight())
            return ""
        found = "".join(
            f' {word}="{short([value])}"' for word, value in
            (("stiffness", spring.stiffness), ("springref", spring.position), ("damping", spring.damping)) if value
        )  # fmt: skip
        return found if spring.force is None else f'{found} actuatorfrcrange="{short(spring.force)}"'

    def _servo(self, prim: Prim, joint: str, drive: usd_physics.DriveAPI, weight: float) -> None:
        """The actuator of a drive. joint: name of what it drives. weight: what its gains are times."""
        stiffness, damping = (weight * float(drive.resolved(word)) for word in ("stiffness", "damping"))
        if stiffness <= 0.0 and damping <= 0.0:
            self.draft.leave_out("drive without gains", prim)
            return
        position, velocity = (float(drive.resolved(f"target_{word}")) for word in ("position", "velocity"))
        # The target is in the bias, so that the pose is held without a control, which is added to it.
        offset = stiffness * position + damping * velocity
        gain = stiffness if stiffness > 0.0 else damping
        words = f'gainprm="{short([gain])}" biastype="affine" biasprm="{short([offset, -stiffness, -damping])}"'
        most = float(drive.resolved("max_force"))
        if math.isfinite(most):
            words += f' forcerange="{short([-most, most])}"'
        name = self.draft.name_of(f"actuator {joint}", f"{joint}_drive", "actuator")
        self.draft.actuators.append(f'    <general name="{escape(name)}" joint="{escape(joint)}" {words}/>')

    def _weight_of(
        self, joint: Joint, drive: usd_physics.DriveAPI | None, local: Floats, number: int, *, is_hinge: bool
    ) -> float:  # fmt: skip
        """What the gains of a drive are times: the inertia that it moves, if it gives an acceleration."""
        if drive is None or drive.resolved("type") != "acceleration":
            return 1.0
        self.draft.issue(
            joint.prim, f"{joint.prim.display} has a drive of type acceleration: MuJoCo gets its gains times the "
            "inertia that it moves in this pose.", "Use type force.", "info",
        )  # fmt: skip
        frame = self.bodies[joint.child.body].pose @ local
        newton: Any = joint.prim.schemas.get("NewtonJointAPI")
        total = float((newton.allowed("armature") if newton else None) or 0.0)
        waiting = [joint.child.body]
        while waiting:
            path = waiting.pop()
            waiting += self.bodies[path].children
            own = mass.mass_properties(self.draft.model, path, self.draft.colliders.get(path, ()))
            pose = self.bodies[path].pose
            if not is_hinge:
                total += own.mass
                continue
            turn = pose[:3, :3] @ frames.matrix_of(own.principal_axes)
            center = pose[:3, :3] @ np.array(own.center_of_mass, float) + pose[:3, 3]
            tensor = mass.rotated(np.diag(own.diagonal_inertia), turn)
            tensor = mass.translated(tensor, own.mass, center - frame[:3, 3])
            total += float(frame[:3, number] @ tensor @ frame[:3, number])
        return total


def _is_same_drive(one: usd_physics.DriveAPI | None, other: usd_physics.DriveAPI | None) -> bool:
    if one is None or other is None:
        return one is other
    numbers = [[float(drive.resolved(word)) for word in ("stiffness", "damping", "max_force", "target_velocity")]
               for drive in (one, other)]  # fmt: skip
    efforts = [float(drive.resolved("target_position")) * float(drive.resolved("stiffness")) for drive in (one, other)]
    return (other.resolved("type") == "force" and bool(np.allclose(numbers[0], numbers[1], rtol=1e-5, atol=1e-9))
            and abs(efforts[0] - efforts[1]) <= 1e-5 * max(1e-3, abs(efforts[0])))  # fmt: skip
