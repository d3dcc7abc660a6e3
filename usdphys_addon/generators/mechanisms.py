# SPDX-License-Identifier: GPL-3.0-or-later
"""Doors, drawers, lids and the like: one joint with limits and a spring that fit the selected objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Context, Object

from ..authoring import joint_edits, vendor_edits
from ..authoring.joint_maker import JointMaker, JointOptions, bodies_of
from ..authoring.selected import STATIC, role_of
from ..authoring.tagging import Tagging
from ..bridge import mesh as meshes
from ..bridge.joint_frames import is_fixed, side_frames, store_frame
from ..bridge.roles import is_body, parents_of
from ..core import vendor_schemas
from ..core.errors import InputError
from . import joints, weights

#: How far a mechanism turns, rad, and a button is pushed, as a part of its height.
OPENING, TILT, PUSH = math.radians(110.0), math.radians(45.0), 0.5
#: Part of its length that a drawer comes out.
_DRAWN = 0.8
#: The joint of each kind.
_JOINTS = {
    "DOOR": JointOptions("REVOLUTE", "AUTO"), "LID": JointOptions("REVOLUTE", "AUTO"),
    "WHEEL": JointOptions("REVOLUTE", "AUTO"), "DRAWER": JointOptions("PRISMATIC", "AUTO"),
    "BUTTON": JointOptions("PRISMATIC", "CENTER_1", "WORLD_Z"), "LEVER": JointOptions("REVOLUTE", "CLOSEST", "WORLD_Y"),
    "TURNTABLE": JointOptions("REVOLUTE", "CENTER_1", "WORLD_Z"),
}  # fmt: skip


def make_mechanism(context: Context, kind: str, speed: float, *, articulation: bool = False) -> list[Any]:
    """Make each selected object a part that moves against the active one, or against the world. Returns the joints.

    speed: of a turntable, rad/s, or of a conveyor, Blender units a second, along its longest side.
    articulation: it is one that hangs on the world, as which Newton moves it. Raises InputError.
    """
    if kind == "CONVEYOR":
        _make_conveyors(context, speed)
        return []
    made, spans = _make_joints(context, _JOINTS[kind])
    for joint, (low, high) in zip(made, spans, strict=True):
        limits = _limits(kind, low, high)
        if limits is not None:
            joint_edits.set_limits(joint, *limits)
    if kind in ("LEVER", "BUTTON", "TURNTABLE"):
        dof = "linear" if kind == "BUTTON" else "angular"
        target = speed if kind == "TURNTABLE" else 0.0
        joint_edits.add_motors(
            context, [(joint, dof, target) for joint in made], holds=kind != "TURNTABLE", response=0.3
        )
    if articulation:
        bases = [joint.usdphys.joint.body0 for joint in made]
        for base in bases:
            if base is not None and is_body(base):
                base.usdphys.articulation_root.is_applied = True
        hang_on_anchor(context, made)
    return made


def _make_conveyors(context: Context, speed: float) -> None:
    for obj in context.selected_objects:
        if obj.type not in meshes.GEOMETRY_TYPES:
            raise InputError(f"'{obj.name}' has no faces, so nothing can stand on it.")
    for obj in context.selected_objects:
        _conveyor(context, obj, speed)


def _make_joints(context: Context, options: JointOptions) -> tuple[list[Object], list[tuple[float, float]]]:
    """A joint for each selected part, and how far it can move, m. Raises InputError before anything is changed."""
    pairs = _held(bodies_of(context))
    if any(base is None for base, _ in pairs) and options.place in ("AUTO", "CLOSEST"):
        raise InputError(
            "Select the moving part first, and the object that holds it last, so that this is the active object."
        )
    for base, part in pairs:
        if base is not None and part in parents_of(base):
            raise InputError(
                f"'{part.name}' carries '{base.name}', because it is its parent; clear the parent of '{base.name}'."
            )
    maker = JointMaker(context, options)
    for base, part in pairs:
        joints.check_free(context, [part], base)
        joints.check_holder(part, maker, moves=True)
        if base is not None:
            joints.check_holder(base, maker)
        maker.plan(base, part)
    spans = [_span(maker, plan) for plan in maker.planned]
    made = maker.make()
    context.view_layer.update()
    return made, spans


def _held(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs of (what holds, what moves). Of two objects the one that was made static holds, whatever is active."""
    if len(pairs) == 1 and pairs[0][0] is not None:
        base, part = pairs[0]
        if role_of(part) == STATIC and role_of(base) != STATIC and base not in parents_of(part):
            return [(part, base)]
    return pairs


def _limits(kind: str, low: float, high: float) -> tuple[float, float] | None:
    """The limits of a joint whose part can move from low to high; None where it turns all around."""
    if kind == "LID" and high < 0.0:
        return -OPENING, 0.0
    return {
        "DOOR": (0.0, OPENING), "LID": (0.0, OPENING), "LEVER": (-TILT, TILT), "DRAWER": (low, high),
        "BUTTON": (-PUSH * abs(high), 0.0),
    }.get(kind)  # fmt: skip


def hang_on_anchor(context: Context, made: Sequence[Object]) -> None:
    """Let joints with what stands still hang on an anchor that is fixed to the world: they are an articulation then, as
    PhysX and Newton want it. Other joints are left as they are."""
    anchor = None
    depsgraph = context.evaluated_depsgraph_get()
    for joint in made:
        own = joint.usdphys.joint
        bodies = (own.body0, own.body1)
        if sum(body is not None and is_body(body) for body in bodies) != 1:
            continue
        if bodies[1] is None or not is_body(bodies[1]):
            joint_edits.swap_bodies(joint)
        frame = side_frames(joint, depsgraph)[0] if is_fixed(own, 0) else None
        if anchor is None:
            anchor = joints.anchor(own.body1, weights.mass_of(context, own.body1))
            fixed = joints.Joiner(context).add("FIXED", None, anchor, np.eye(4))
            fixed.usdphys.articulation_root.is_applied = True
            context.view_layer.update()
        own.body0 = anchor
        joint.usdphys.articulation_root.is_applied = False
        if frame is not None:
            store_frame(joint, 0, frame, context.evaluated_depsgraph_get())


def _span(maker: JointMaker, plan: tuple[Any, Any, Any, str]) -> tuple[float, float]:
    """What a limit needs to know: of a slide, the way out (0 first, or last if it is backwards); of a hinge, 1 if a
    positive turn lifts the part, else -1."""
    base, part, place, letter = plan
    axis = place[:3, "XYZ".index(letter)]
    center = maker.center(part)
    if maker.choice.kind == "REVOLUTE":
        lifts = float(np.cross(axis, center - place[:3, 3])[2]) > 0.0
        return (0.0, 1.0 if lifts else -1.0)
    along = maker.surface(part)[0] @ axis
    length = float(np.ptp(along))
    if maker.choice.axis == "WORLD_Z":
        return (0.0, length)
    out = float((center - maker.center(base)) @ axis) if base is not None else 1.0
    return (0.0, _DRAWN * length) if out >= 0.0 else (-_DRAWN * length, 0.0)


def _conveyor(context: Context, obj: Object, speed: float) -> None:
    """Make an object a kinematic body whose surface runs along its longest side, as attributes of PhysX."""
    Tagging(context.evaluated_depsgraph_get(), [obj], "KINEMATIC").apply()
    attribute = vendor_schemas.attribute_named("PhysxSurfaceVelocityAPI", "physxSurfaceVelocity:surfaceVelocity")
    assert attribute is not None
    velocity = [0.0, 0.0, 0.0]
    velocity[int(np.argmax(obj.dimensions[:2]))] = speed
    vendor_edits.apply_row(obj.usdphys, "PhysxSurfaceVelocityAPI", attribute, tuple(velocity))
