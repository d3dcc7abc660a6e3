# SPDX-License-Identifier: GPL-3.0-or-later
"""What was edited since a model was read, as changes to its text: comments and all that is not understood stay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import difference, frames, mass
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..urdf.edit import TextEdits, number_text
from ..urdf.markup import Element
from . import joints, values
from .layout import Layout
from .values import Floats

#: Largest deviation of a place, m and as a share of the distance from the origin: rounding of 32 bits.
_NEAR = 5e-6
#: Other words for an orientation than `quat`.
_TURNS = ("euler", "axisangle", "xyaxes", "zaxis")
_MASS = ("mass", "center_of_mass", "diagonal_inertia", "principal_axes")
_FRAMES = frozenset({"local_pos0", "local_rot0", "local_pos1", "local_rot1"})
_LIMITS = frozenset({"lower_limit", "upper_limit", "low", "high"})


class OtherPartsError(Exception):
    """The text cannot say an edit. The message names the edit, as a sentence."""


def edit(edits: TextEdits, planned: Layout, old: PhysicsModel, new: PhysicsModel) -> None:
    """Note what differs between two models in the text of the older one. Raises OtherPartsError.

    planned, old: the plan of the text, and the model of a stage with it. new: the model now, of another stage.
    """
    _Editor(edits, planned, old, new).run()


class _Editor:
    def __init__(self, edits: TextEdits, planned: Layout, old: PhysicsModel, new: PhysicsModel) -> None:
        self.edits, self.planned, self.old, self.new = edits, planned, old, new
        self.source = planned.source
        compiler = self.source.compiler
        self.degrees = compiler.get("angle", "degree") != "radian"
        self.auto_limits = compiler.get("autolimits", "true") != "false"
        self.by_path: dict[str, list[values.Joint]] = {}
        known = {joint.name: joint for body in self.source.bodies for joint in body.joints}
        for name, (path, _) in planned.joint_paths.items():
            self.by_path.setdefault(path, []).append(known[name])
        self.servos = values.by_target(self.source.actuators)

    def run(self) -> None:
        found = difference.difference(self.old, self.new)
        for path in (*found.added, *found.removed):
            label = (found.added.get(path) or self.old.prims[path]).display
            raise OtherPartsError(f"{label} is {'not in the imported model' if path in found.added else 'gone'}.")
        self.places()
        self.shapes()
        indices = {path: index for index, path in enumerate(self.planned.places)}
        for path, one in found.edits.items():
            changed = {field for _, field in (*one.values, *one.cleared)}
            if one.added or one.removed or one.type_name is not None or one.binding is not None:
                raise OtherPartsError(f"{one.prim.display} has other schemas or materials than in the imported model.")
            if path in indices and changed <= set(_MASS):
                self.mass(indices[path], one.prim)
            elif path in self.by_path:
                self.joint(path, one)
            elif path in self.planned.bases and changed <= _FRAMES and self.holds_still(path):
                continue  # the body has been put elsewhere, and is held there
            elif path in self.new.scenes and changed <= {"gravity_direction", "gravity_magnitude"}:
                self.gravity(one.prim)
            elif one:
                words = ", ".join(sorted(changed)) or "purpose"
                raise OtherPartsError(f"{one.prim.display} has another {words} than in the imported model.")
        bodies = self.old.bodies
        for index, path in enumerate(self.planned.places):
            if path in bodies:
                self.lift(index, path)

    def element(self, one: values.Body | values.Joint | values.Actuator) -> Element:
        if one.element is None:
            raise OtherPartsError(f"'{one.name}' is one of several replicas.")
        return one.element

    # ------------------------------------------------------------------ places and shapes

    def world(self, model: PhysicsModel, path: str) -> Floats:
        found = model.locate(path) if model.locate is not None else None
        if found is None:
            raise OtherPartsError(f"'{path}' is gone.")
        return found

    def places(self) -> None:
        """Bodies, shapes and sites: what stands elsewhere in its parent."""
        bodies = {path: index for index, path in enumerate(self.planned.places)}
        for path, prim in self.planned.model.prims.items():
            if not prim.is_xformable or path == self.planned.root:
                continue
            index = bodies.get(path)
            if index is not None:
                above = self.planned.places[self.source.bodies[index].parent]
            else:
                above = path.rpartition("/")[0]
            before, now = (
                np.linalg.solve(self.world(model, above), self.world(model, path)) for model in (self.old, self.new)
            )
            if np.abs(before - now).max() <= _NEAR * max(1.0, float(np.abs(before[:3, 3]).max())):
                continue
            body = self.source.bodies[index] if index is not None else None
            is_loose = body is not None and (body.is_mocap or all(joint.type == "free" for joint in body.joints))
            is_held = path in self.old.bodies and index not in self.planned.bases.values()
            if body is None or not is_loose or (not body.joints and not body.is_mocap and is_held):
                raise OtherPartsError(f"{prim.display} stands in another place than in the imported model.")
            self.pose(self.element(body), np.linalg.solve(body.frame, now))

    def holds_still(self, path: str) -> bool:
        """True for a fixed joint that holds a body to the world where the body is."""
        schema: Any = self.new.prims[path].get(usd_physics.Joint)
        worlds = [self.new.prims[one[0]].world if one else None for one in (schema.body0 or (), schema.body1 or ())]
        first, second = (
            frames.world_frame(world, schema.resolved(f"local_pos{side}"), schema.resolved(f"local_rot{side}"))
            for side, world in enumerate(worlds)
        )
        return bool(np.abs(first - second).max() <= _NEAR * max(1.0, float(np.abs(first[:3, 3]).max())))

    def pose(self, element: Element, pose: Floats) -> None:
        self.edits.set(element, "pos", _row(pose[:3, 3]))
        turn = frames.rotation_of(pose)
        for word in _TURNS:
            if element.get(word) is not None:
                self.edits.remove(element, word)
        self.edits.set(element, "quat", _row(frames.quaternion_of(turn)))

    def shapes(self) -> None:
        for path, prim in self.old.colliders.items():
            now = self.new.prims.get(path)
            if now is not None and not _same_mesh(prim, now):
                raise OtherPartsError(f"{now.display} has another mesh than in the imported model.")

    # ------------------------------------------------------------------ bodies

    def mass(self, index: int, prim: Prim) -> None:
        body = self.source.bodies[index]
        element, api = self.element(body), prim.get(usd_physics.MassAPI)
        compiler = self.source.compiler
        if compiler.get("inertiafromgeom") == "true" or float(compiler.get("settotalmass", "-1").split()[0]) > 0.0:
            raise OtherPartsError(f"The masses of the model follow from its compiler, and {prim.display} has another.")
        if api is None or api.mass is None or api.diagonal_inertia is None:
            raise OtherPartsError(f"{prim.display} has lost its mass.")
        words = {
            "pos": _row(api.resolved("center_of_mass")), "mass": number_text(api.mass),
            "quat": _row(api.resolved("principal_axes")), "diaginertia": _row(api.diagonal_inertia),
        }  # fmt: skip
        inertial = element.find("inertial")
        if inertial is None:
            for name, text in words.items():
                self.edits.set_in(element, "inertial", name, text)
            return
        before = self.old.prims[prim.path].get(usd_physics.MassAPI)
        assert before is not None
        if _same(before.mass, api.mass):
            del words["mass"]
        if _same(before.center_of_mass, api.center_of_mass):
            del words["pos"]
        if _same(before.diagonal_inertia, api.diagonal_inertia) and _same(before.principal_axes, api.principal_axes):
            del words["quat"], words["diaginertia"]
        else:
            for word in (*_TURNS, "fullinertia"):
                if inertial.get(word) is not None:
                    self.edits.remove(inertial, word)
        for name, text in words.items():
            self.edits.set(inertial, name, text)

    def lift(self, index: int, path: str) -> None:
        before, now = (mass.gravity_factor(model.prims[path]) for model in (self.old, self.new))
        if abs(before - now) > 1e-6:
            self.edits.set(self.element(self.source.bodies[index]), "gravcomp", number_text(1.0 - now))

    def gravity(self, prim: Prim) -> None:
        scene: Any = prim.get(usd_physics.PhysicsScene)
        way = np.array(scene.resolved("gravity_direction"), float)
        value = way / max(float(np.linalg.norm(way)), 1e-30) * float(scene.resolved("gravity_magnitude"))
        if self.source.flags.get("gravity") == "disable" or not np.isfinite(value).all():
            raise OtherPartsError("The gravity of the scene is another than in the imported model.")
        last = [child for child in self.source.root.children if child.tag == "option"]
        if last:
            self.edits.set(last[-1], "gravity", _row(value))
        else:
            self.edits.set_in(self.source.root, "option", "gravity", _row(value))

    # ------------------------------------------------------------------ joints

    def joint(self, path: str, one: difference.PrimEdit) -> None:
        kinds = self.by_path[path]
        drives = set()
        for schema, field in (*one.values, *one.cleared):
            base, _, instance = schema.partition(":")
            value: Any = getattr(one.prim.schemas[schema], field)
            if base == usd_physics.DriveAPI.usd_name:
                drives.add(instance)
            elif field in _LIMITS:
                self.limits(path, one.prim, instance)
            elif base == "NewtonJointAPI" and field in ("armature", "friction", "damping"):
                word = "frictionloss" if field == "friction" else field
                for joint in kinds:
                    self.edits.set(self.element(joint), word, number_text(float(value or 0.0)))
            else:
                raise OtherPartsError(f"{one.prim.display} has another {field} than in the imported model.")
        for instance in drives:
            self.drive(path, one.prim, instance)

    def of_dof(self, path: str, instance: str) -> values.Joint:
        kinds = self.by_path[path]
        if len(kinds) == 1:
            return kinds[0]
        for joint in kinds:
            if self.planned.joint_paths[joint.name][1] == instance:
                return joint
        raise OtherPartsError(f"'{path}' moves in another direction than in the imported model.")

    def limits(self, path: str, prim: Prim, instance: str) -> None:
        joint = self.of_dof(path, instance)
        if prim.type_name == "PhysicsJoint":
            limit: Any = prim.schemas[f"PhysicsLimitAPI:{instance}"]
            low, high = limit.resolved("low"), limit.resolved("high")
            if self.planned.signs[joint.name] < 0:
                low, high = -high, -low
        elif prim.type_name in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
            schema: Any = prim.get(usd_physics.Joint)
            low, high = schema.resolved("lower_limit"), schema.resolved("upper_limit")
        else:
            raise OtherPartsError(f"{prim.display} has other limits than in the imported model.")
        element = self.element(joint)
        if not (math.isfinite(low) and math.isfinite(high)):
            if math.isfinite(low) or math.isfinite(high):
                raise OtherPartsError(f"{prim.display} has a limit on one side only.")
            self.edits.set(element, "limited", "false")
            return
        scale = self.scale(joint)
        self.edits.set(element, "range", f"{number_text(low * scale)} {number_text(high * scale)}")
        if joint.range is None or not self.auto_limits:
            self.edits.set(element, "limited", "true")

    def scale(self, joint: values.Joint) -> float:
        """What the text says for a position of 1 m or 1 rad."""
        return math.degrees(1.0) if self.degrees and joint.type == "hinge" else 1.0

    def drive(self, path: str, prim: Prim, instance: str) -> None:
        """Spring or servo of a joint, if it has one of them alone."""
        joint = self.of_dof(path, instance)
        servos = [one for one in self.servos.get(joint.name, ()) if one.kind == "joint" and one.is_servo]
        drive: Any = prim.schemas[f"PhysicsDriveAPI:{instance}"]
        if drive.resolved("type") != "force" or len(servos) > 1 or (servos and joint.stiffness):
            raise OtherPartsError(
                f"{prim.display} has another drive than its springs and servos in the imported model."
            )
        own_damping = joint.damping if len(self.by_path[path]) > 1 else 0.0
        k, d = float(drive.resolved("stiffness")), float(drive.resolved("damping")) - own_damping
        target = self.planned.signs[joint.name] * float(drive.resolved("target_position"))
        speed = self.planned.signs[joint.name] * float(drive.resolved("target_velocity"))
        most = float(drive.resolved("max_force"))
        if not servos:
            self.spring(prim, joint, k, d, target, speed, most)
            return
        self.servo(prim, servos[0], joint, k, d, k * target + d * speed, most)

    def spring(
        self, prim: Prim, joint: values.Joint, k: float, d: float, target: float, speed: float, most: float
    ) -> None:  # fmt: skip
        if abs(d) > 1e-9 or speed or math.isfinite(most):
            raise OtherPartsError(f"{prim.display} has a servo, which is not in the imported model.")
        element = self.element(joint)
        self.edits.set(element, "stiffness", number_text(k))
        scale = self.scale(joint)
        if abs(target - joint.spring) > 1e-6:
            self.edits.set(element, "springref", number_text(target * scale))

    def servo(
        self, prim: Prim, one: values.Actuator, joint: values.Joint, k: float, d: float, effort: float, most: float
    ) -> None:  # fmt: skip
        """Gains and largest force. effort: of the servo at zero, without a control."""
        element, gear = self.element(one), one.gear
        gain, bias = one.gain, one.bias
        k, d = k / gear**2, d / gear**2
        if not _same(-bias[1], k) or not _same(-bias[2], d):
            gain = k if _same(gain, -bias[1]) else d if _same(gain, -bias[2]) else gain
        control = 0.0 if one.control is None else min(max(0.0, one.control[0]), one.control[1])
        constant = effort / gear - gain * control
        is_same_constant = abs(constant - bias[0]) <= 1e-5 * max(abs(bias[0]), k, 1e-3)
        if element.tag == "general":
            constant = bias[0] if is_same_constant else constant
            self.edits.set(element, "gainprm", _row((gain, *one.gains[1:])))
            self.edits.set(element, "biasprm", _row((constant, -k, -d, *one.biases[3:])))
        elif element.tag in ("position", "velocity") and is_same_constant and (element.tag == "position" or not k):
            if element.tag == "position":
                self.edits.set(element, "kp", number_text(k))
            if not _same(-bias[2], d):
                self.edits.set(element, "kv", number_text(d))
                if element.get("dampratio") is not None:
                    self.edits.remove(element, "dampratio")
        else:
            raise OtherPartsError(f"{prim.display} has a target that its servo in the imported model cannot have.")
        before = joints.most_force(joint, [one])
        if not _same(math.inf if before is None else before, most):
            if joint.force_range is not None:
                raise OtherPartsError(f"{prim.display} has another largest force than in the imported model.")
            if math.isfinite(most):
                self.edits.set(element, "forcerange", _row((-most / abs(gear), most / abs(gear))))
                self.edits.set(element, "forcelimited", "true")
            else:
                self.edits.set(element, "forcelimited", "false")


def _row(numbers: Any) -> str:
    return " ".join(number_text(float(value)) for value in np.ravel(np.asarray(numbers, float)))


def _same(one: Any, other: Any) -> bool:
    first, second = (np.atleast_1d(np.asarray(np.nan if value is None else value, float)) for value in (one, other))
    if first.shape != second.shape:
        return False
    return bool(np.allclose(first, second, rtol=3e-6, atol=1e-9, equal_nan=True))


def _same_mesh(one: Prim, other: Prim) -> bool:
    first, second = (prim.mesh() if prim.mesh is not None else None for prim in (one, other))
    if not isinstance(first, Mesh) or not isinstance(second, Mesh):
        return type(first) is type(second)
    if first.points.shape != second.points.shape or first.triangles.shape != second.triangles.shape:
        return False
    size = float(np.abs(first.points).max(initial=1e-9))
    return bool(np.abs(first.points - second.points).max(initial=0.0) <= 1e-5 * size)
