# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints between bodies that a generator has made, with frames of their own in each body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object

from ..authoring import vendor_edits
from ..authoring.joint_maker import JointMaker, JointOptions
from ..bridge import vendor_rows
from ..bridge.joint_frames import is_joint, place_joint
from ..bridge.property_units import property_factor
from ..bridge.roles import is_body
from ..bridge.writing import unit_length
from ..core import vendor_schemas
from ..core.array_text import text_of
from ..core.errors import InputError
from ..core.frames import Matrix
from . import shapes

TRANSLATIONS = ("transX", "transY", "transZ")
ROTATIONS = ("rotX", "rotY", "rotZ")
#: How many times as heavy as what hangs on it an anchor is.
_ANCHORED = 10.0
#: Types of objects that nothing hangs on, unless they are bodies. An Empty marks a place.
_BODILESS = frozenset({"CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"})


def check_holder(obj: Object, maker: JointMaker, *, moves: bool = False) -> None:
    """Raises InputError for a camera and the like without faces below it; moves: and for anything without faces."""
    if (moves or obj.type in _BODILESS) and not is_body(obj) and not len(maker.surface(obj)[1]):
        raise InputError(f"'{obj.name}' has no faces and is no rigid body; select an object with faces.")


def check_free(context: Context, parts: Sequence[Object], base: Any = ...) -> None:
    """Raises InputError for a part that a joint holds already: a second one would double its springs and drives.

    base: only joints with it count, None for the world; without it, all.
    """
    for obj in context.scene.objects:
        if is_joint(obj):
            ends = [obj.usdphys.joint.body0, obj.usdphys.joint.body1]
            for part in parts:
                if part in ends and (base is ... or ends in ([base, part], [part, base])):
                    raise InputError(f"'{part.name}' is held by '{obj.name}' already; delete this joint first.")


class Joiner:
    """Makes joints at given frames. The bodies must be in the scene and up to date."""

    def __init__(self, context: Context) -> None:
        context.view_layer.update()
        self._makers: dict[str, JointMaker] = {}
        self._context = context

    def add(
        self, kind: str, body0: Object | None, body1: Object, frame: Matrix, frame1: Matrix | None = None,
        axis: str = "X",
    ) -> Any:  # fmt: skip
        """Join two bodies; body0: None for the world. frame, frame1: of the two sides in the world, Blender units.

        The frames are stored in the bodies, so that their pose now need not be the zero of the joint; that in the world
        is the place of the joint's object, so that a copy of all can be moved.
        """
        maker = self._makers.get(kind)
        if maker is None:
            maker = self._makers[kind] = JointMaker(self._context, JointOptions(kind))
        obj = maker.make_one(body0, body1, frame, axis)
        if frame1 is not None:
            self._context.view_layer.update()
            place_joint(
                obj, (frame, frame1), self._context.evaluated_depsgraph_get(), (body0 is not None, True)
            )  # fmt: skip
        return obj


def lock(joint: Object, dofs: Sequence[str]) -> None:
    """Lock degrees of freedom of a generic joint."""
    for dof in dofs:
        limit(joint, dof, 1.0, -1.0)


def limit(joint: Object, dof: str, low: float, high: float) -> None:
    """Limit a degree of freedom of a generic joint: rad or Blender units."""
    group = getattr(joint.usdphys.joint.limits, dof)
    group.is_applied = True
    group.low, group.high = low, high


def free(joint: Object, dof: str) -> None:
    """Say that a degree of freedom of a generic joint is free: Newton locks those without a limit."""
    limit(joint, dof, -math.inf, math.inf)


def damp(joint: Object, dof: str, damping: float, stiffness: float = 0.0, target: float = 0.0) -> None:
    """Drive a degree of freedom to a target, rad or Blender units, by force. Gains: SI, per radian where it turns."""
    drive = getattr(joint.usdphys.joint.drives, dof)
    scale = math.radians(1.0) if dof.startswith("rot") or dof == "angular" else 1.0
    drive.is_applied = True
    drive.type = "force"
    drive.damping = damping * scale
    if stiffness:
        drive.stiffness = stiffness * scale
    if target:
        drive.target_position = target


def hold(joint: Object, dof: str, stiffness: float, damping: float, most: float) -> None:
    """Hold a degree of freedom at zero, with no more than a largest force or torque. SI, per radian where it turns."""
    damp(joint, dof, damping, stiffness)
    getattr(joint.usdphys.joint.drives, dof).max_force = most


def soften(joint: Object, dof: str, stiffness: float) -> None:
    """Make a limit a spring, N/m, as attributes of PhysX."""
    _set_row(joint, f"PhysxLimitAPI:{dof}", f"physxLimit:{dof}:stiffness", stiffness)


def slow(joint: Object, dof: str, speed: float) -> None:
    """Let a degree of freedom that turns go no faster than speed, rad/s, as attributes of PhysX."""
    _set_row(joint, f"PhysxJointAxisAPI:{dof}", f"physxJointAxis:{dof}:maxJointVelocity", speed)


def add_armature(joint: Object, inertia: float) -> None:
    """Give the rotations of a joint more inertia, kg m², in the words of Newton."""
    _set_row(joint, "NewtonJointAPI", "newton:armature", inertia)


def rub(joint: Object, torque: float) -> None:
    """Let the rotations of a joint resist with a torque, N m, at any speed. PhysX reads Newton's word."""
    _set_row(joint, "NewtonJointAPI", "newton:friction", torque)


def _set_row(joint: Object, applied: str, name: str, value: float) -> None:
    """Give a joint an attribute of a simulator. value: SI, rad."""
    attribute = vendor_schemas.attribute_named(applied, name)
    assert attribute is not None
    row = vendor_edits.apply_row(joint.usdphys, applied, attribute)
    factor = property_factor(vendor_rows.dimension_of(row, attribute), 1.0)
    row.text = text_of(attribute.value, value / factor)


def let_through(body: Object, other: Object) -> None:
    """Keep two objects from colliding with each other; of one without colliders or a body, the colliders below it.

    Newton ignores pairs with what is neither.
    """
    solid = [one for one in (other, *other.children_recursive) if is_body(one) or len(one.usdphys.colliders)]
    pairs = body.usdphys.filtered_pairs
    pairs.is_applied = True
    for one in solid if solid and solid[0] != other else [other]:
        pairs.filtered_pairs.add().object = one


def anchor(body: Object, carried: float) -> Any:
    """An Empty at the origin of the world, for a fixed joint: only these hold the root of an articulation.

    Newton places joints with the world in the space of that root. carried: kg that hang on it, at the body. Where
    there are no articulations, as in glTF, its own mass and inertia keep it still.
    """
    made = shapes.add_object(body.users_collection[0], f"{body.name.split()[0]} Anchor", None, np.eye(4))
    made.empty_display_size = 0.1
    made.usdphys.rigid_body.is_applied = True
    own = made.usdphys.mass
    own.is_applied, own.mass = True, _ANCHORED * carried
    reach = 1.0 + unit_length(bpy.context.scene) ** 2 * body.matrix_world.translation.length_squared
    own.diagonal_inertia, own.principal_axes = (own.mass * reach,) * 3, (1.0, 0.0, 0.0, 0.0)
    own.center_of_mass = (0.0, 0.0, 0.0)
    return made
