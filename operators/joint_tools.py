# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: add, chain, weld; align and keep their frames, swap their bodies, set limits from poses, add motors."""

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from ..usdphys_addon.core.schema import ANGULAR_DOFS
from ..usdphys_addon.core.words import counted, joined, phrase
from ..usdphys_addon.viewport.wrapped_text import OPERATION_LINE, draw_text
from .generate.generator import Remade
from .needs import AT_REST, OBJECT_MODE, SCENE, are_met, selected
from .outcome import draw_rows, finish

_PLACES = items_of("place of a joint")
_AXES = (
    (
        "AUTO",
        "Automatic",
        "With the automatic position: the axis of a wheel, the upright side of a door, the edge of a lid, the free "
        "axis of a drawer. At the 3D cursor: its Z axis. On a face: the normal. Otherwise: the world Z axis",
    ),
    *((f"WORLD_{axis}", f"World {axis}", f"{axis} of the world") for axis in "XYZ"),
    *((f"BODY_{axis}", f"Body 1 {axis}", f"{axis} of body 1, the object that is not active") for axis in "XYZ"),
    ("CURSOR", "Cursor Z", "Z of the 3D cursor"),
    ("SYMMETRY", "Symmetry Axis", "The axis of rotational symmetry of body 1"),
)
_DOFS = (
    *((f"trans{axis}", f"Along {axis}", f"Translation along {axis}") for axis in "XYZ"),
    *((f"rot{axis}", f"About {axis}", f"Rotation about {axis}") for axis in "XYZ"),
    ("distance", "Distance", "Distance between the two frames"),
)
_MAKE_BODIES = (
    "Add missing physics: body 1 becomes a rigid body with a collider, body 0 a static collider; "
    "a static collider that is joined to a dynamic body stays static"
)


_ORDERS = items_of("order of a chain")
#: Joint types with a lower and an upper limit of their own.
_LIMITED = ("REVOLUTE", "PRISMATIC", "DISTANCE")
_RESPONSE: Any = {
    "default": 0.5, "min": 0.02, "soft_max": 5.0, "subtype": "TIME", "unit": "TIME_ABSOLUTE",
    "description": "Time until 98% of the target position or velocity is reached, without overshoot. A smaller value "
    "makes the drive stiffer. The drive is also made stiffer if its load would make it sag too far",
}  # fmt: skip
_SLIDE_SPEED: Any = {
    "default": 1.0, "unit": "VELOCITY", "description": "Target velocity of a joint that slides",
}  # fmt: skip
_ARMATURE: Any = {
    "default": True,
    "description": "If PhysX cannot reach the sag and the response with any number of iterations, add motor inertia "
    "(armature) to the joints",
}  # fmt: skip


class _JointOperator:
    outcome: str
    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}
    mode = OBJECT_MODE
    needs = (1, "Select joints, or the bodies that they hold")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return are_met(cls, context, SCENE, cls.mode, AT_REST, selected(*cls.needs))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        self.edit_joints(context)
        return {"FINISHED"}

    def edit_joints(self, context: bpy.types.Context) -> None:
        raise NotImplementedError

    def tell(self, notes: Sequence[str], texts: Sequence[str], outlooks: Sequence[Any]) -> None:
        """Report what is wrong with motors and what they will do, and keep it for the panel of the operation."""
        for note in notes:
            self.report({"WARNING"}, tr(note))
        if texts:
            self.report({"INFO"}, tr(joined("; ", texts)))
        for outlook in outlooks:
            self.report({"INFO" if outlook.keeps else "WARNING"}, tr(outlook.text))
        self.outcome = "\n".join(map(tr, (*notes, *texts, *(outlook.text for outlook in outlooks))))

    def draw_outcome(self, layout: bpy.types.UILayout) -> None:
        for line in self.outcome.splitlines():
            draw_text(layout, line, "INFO", length=OPERATION_LINE)

    def chosen(self, context: bpy.types.Context) -> list[Any]:
        """The joints to change; reports a warning for each that cannot be changed."""
        from ..usdphys_addon.authoring import joint_maker

        joints, notes = joint_maker.without_linked(joint_maker.joints_of(context))
        for note in notes:
            self.report({"WARNING"}, tr(note))
        return joints


def _count(made: list[Any]) -> str:
    if len(made) == 1:
        return phrase("Added '{name}'", name=made[0].name)
    return phrase("Added {joints}", joints=counted(len(made), "joint"))


class USDPHYS_OT_joint_add(_JointOperator, bpy.types.Operator):
    """Join each other selected object to the active one, which is body 0. A single object is joined to the world"""

    # No choice is taken over from the joint before, which may be of another kind: a slide, driven, about a wheel.
    bl_idname = "usdphys.joint_add"
    bl_label = "Add Joint"
    mode = (lambda context: context.mode in ("OBJECT", "EDIT_MESH"), OBJECT_MODE[1])
    needs = (1, "Select the objects to join, or one to join to the world")

    type = EnumProperty(name="Type", items=items_of("type of a joint"), default="REVOLUTE", options={"SKIP_SAVE"})
    place = EnumProperty(name="Place", items=_PLACES, description="Position of the joint", options={"SKIP_SAVE"})
    axis = EnumProperty(name="Axis", items=_AXES, description="Axis of the hinge, slide or cone", options={"SKIP_SAVE"})
    make_bodies = BoolProperty(name="Make Bodies", default=True, description=_MAKE_BODIES)
    has_limits = BoolProperty(
        name="Limits", description="Limit the angle or the position of the joint", options={"SKIP_SAVE"}
    )
    lower = FloatProperty(name="Lower Limit", subtype="ANGLE", default=-math.pi / 4)
    upper = FloatProperty(name="Upper Limit", subtype="ANGLE", default=math.pi / 4)
    # Not remembered: the first values of a slide follow from the size of what slides.
    lower_distance = FloatProperty(name="Lower Limit", subtype="DISTANCE", default=0.0, options={"SKIP_SAVE"})
    upper_distance = FloatProperty(name="Upper Limit", subtype="DISTANCE", default=1.0, options={"SKIP_SAVE"})
    motor = EnumProperty(
        name="Motor", description="Drive the joint", options={"SKIP_SAVE"},
        items=items_of("motor of a joint"),
    )  # fmt: skip
    speed = FloatProperty(
        name="Velocity (°/s)", default=math.tau, subtype="ANGLE", description="Target velocity: an angle per second"
    )
    slide_speed = FloatProperty(name="Velocity", **_SLIDE_SPEED)
    angle = FloatProperty(name="Angle", subtype="ANGLE", description="Target angle of the joint")
    distance = FloatProperty(name="Distance", subtype="DISTANCE", description="Target position of the joint")
    response = FloatProperty(name="Response", **_RESPONSE)
    outcome = StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def draw(self, _context: bpy.types.Context) -> None:
        layout = draw_rows(self, "type", "place", "axis", "make_bodies")
        if self.type not in _LIMITED:
            return
        layout.prop(self, "has_limits")
        if self.has_limits:
            for name in ("lower", "upper"):
                layout.prop(self, name if self.type == "REVOLUTE" else f"{name}_distance")
        if self.type == "DISTANCE":
            return
        layout.prop(self, "motor")
        if self.motor == "VELOCITY":
            layout.prop(self, "speed" if self.type == "REVOLUTE" else "slide_speed")
        elif self.motor == "POSITION":
            layout.prop(self, "angle" if self.type == "REVOLUTE" else "distance")
        if self.motor != "NONE":
            layout.prop(self, "response")
            self.draw_outcome(layout)

    def complete(self, context: bpy.types.Context, made: list[Any]) -> None:
        """Give new joints their limits and motors."""
        from ..usdphys_addon.authoring import joint_edits, joint_type

        is_angular = self.type == "REVOLUTE"
        is_typed = any(self.properties.is_property_set(f"{name}_distance") for name in ("lower", "upper"))
        if self.has_limits and self.type == "PRISMATIC" and not is_typed and made:
            self.lower_distance, self.upper_distance = joint_edits.travel(context, made[0])
        if self.has_limits and self.type in _LIMITED:
            limits = (self.lower, self.upper) if is_angular else (self.lower_distance, self.upper_distance)
            for obj in made:
                joint_edits.set_limits(obj, *limits)
        context.view_layer.update()
        for obj in made:
            if self.type == "DISTANCE" and self.place == "AUTO":
                joint_type.tie(context, obj)
        if self.motor == "NONE" or self.type not in ("REVOLUTE", "PRISMATIC"):
            return
        context.view_layer.update()
        holds = self.motor == "POSITION"
        dof = "angular" if is_angular else "linear"
        target = _target(self, dof, holds)
        targets = [(obj, dof, target) for obj in made]
        motors, notes, outlooks = _add_motors(context, targets, holds=holds, response=self.response)
        self.tell(notes, joint_edits.motor_texts(motors, holds=holds) if not notes else [], outlooks)

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_maker

        choice = joint_maker.JointOptions(self.type, self.place, self.axis, self.make_bodies, keeps_static=True)
        face = joint_maker.picked_face(context) if self.place == "FACE" else None
        if context.mode != "OBJECT":
            # Undo steps of Edit Mode hold the mesh only, not new objects.
            bpy.ops.object.mode_set(mode="OBJECT")
        made = joint_maker.add_joint(context, choice, face)
        self.complete(context, made)
        self.report({"INFO"}, tr(_count(made)))


def _add_motors(context: bpy.types.Context, targets: Any, *, holds: bool, response: float, may_add: bool = True) -> Any:
    """As `joint_edits.add_servos`, or as `joint_edits.add_motors` and without outlooks if they hold no position."""
    from ..usdphys_addon.authoring import joint_edits

    if holds:
        return joint_edits.add_servos(context, targets, response=response, may_add=may_add)
    return *joint_edits.add_motors(context, targets, holds=False, response=response), []


def _target(operator: Any, dof: str, holds: bool) -> float:
    """The target of the motor of an operator."""
    if dof in ANGULAR_DOFS:
        return float(operator.angle if holds else operator.speed)
    return float(operator.distance if holds else operator.slide_speed)


class USDPHYS_OT_joint_chain(_JointOperator, bpy.types.Operator):
    """Join each selected object to the next, starting with the active one"""

    bl_idname = "usdphys.joint_chain"
    bl_label = "Joint Chain"
    needs = (2, "Select the objects of the chain; the active one is the first")

    type = EnumProperty(name="Type", items=items_of("type of a joint"), default="SPHERICAL")
    place = EnumProperty(name="Place", items=_PLACES[2:5], default="MIDPOINT", description="Position of each joint")
    axis = EnumProperty(name="Axis", items=_AXES, description="Axis of the hinges, slides or cones")
    order = EnumProperty(name="Order", description="Order of the objects", items=_ORDERS)
    make_bodies = BoolProperty(
        name="Make Bodies", default=True,
        description="Add missing physics: the first object becomes a static collider, the others rigid bodies with "
        "colliders",
    )  # fmt: skip

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_maker

        choice = joint_maker.JointOptions(self.type, self.place, self.axis, self.make_bodies)
        self.report({"INFO"}, tr(_count(joint_maker.add_chain(context, choice, self.order))))


class USDPHYS_OT_robot_arm(Remade, _JointOperator, bpy.types.Operator):
    """Make the selected parts a robot arm: the active one is its base, fixed to the world; each other part gets a \
hinge with limits and a servo that holds it, and all together are an articulation"""

    bl_idname = "usdphys.robot_arm"
    bl_label = "Robot Arm"
    needs = (2, "Select the parts of the arm; the active one is the base")

    order = EnumProperty(name="Order", description="Order of the parts", items=_ORDERS)
    lower = FloatProperty(name="Lower Limit", subtype="ANGLE", default=-math.radians(120))
    upper = FloatProperty(name="Upper Limit", subtype="ANGLE", default=math.radians(120))
    # In PhysX, whose iterations leave a velocity in an arm, the sag grows with this: see tuning/arm_motion.
    response = FloatProperty(name="Response", **{**_RESPONSE, "default": 0.1})
    armature = BoolProperty(name="Motor Inertia", **_ARMATURE)
    outcome = StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    def draw(self, _context: bpy.types.Context) -> None:
        self.draw_outcome(draw_rows(self, "order", "lower", "upper", "response", "armature"))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return finish(self, *self.recorded(context))

    def make_new(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ..usdphys_addon.authoring import joint_edits, robot_arm

        hinges, servos = robot_arm.add_arm(
            context, order=self.order, limits=(self.lower, self.upper), response=self.response, armature=self.armature
        )
        self.tell(servos.notes, joint_edits.motor_texts(servos.motors, holds=True), servos.outlooks)
        return _count(hinges), []


class USDPHYS_OT_weld(_JointOperator, bpy.types.Operator):
    """Add a fixed joint from the active object to each other selected object"""

    bl_idname = "usdphys.weld"
    bl_label = "Weld"
    needs = (2, "Select the objects to weld, then the object to weld them to")

    place = EnumProperty(name="Place", items=_PLACES[2:5], default="CHILD_ORIGIN", description="Position of each joint")
    make_bodies = BoolProperty(
        name="Make Bodies", default=True,
        description="Add missing physics: objects become rigid bodies with colliders; an active object that is a "
        "static collider stays static",
    )  # fmt: skip

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_maker

        choice = joint_maker.JointOptions("FIXED", self.place, "AUTO", self.make_bodies, moves_first=True)
        self.report({"INFO"}, tr(_count(joint_maker.weld(context, choice))))


class USDPHYS_OT_joint_align(_JointOperator, bpy.types.Operator):
    """Align both frames of each joint, and the joint object, with the current frame of one body, so that the bodies \
do not jump"""

    bl_idname = "usdphys.joint_align"
    bl_label = "Align Joint Frames"

    side = EnumProperty(
        name="To", description="The frame that stays",
        items=items_of("frame that stays"),
    )  # fmt: skip

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits

        joint_edits.align(context, self.chosen(context), int(self.side[-1]))


class USDPHYS_OT_joint_fix_frames(_JointOperator, bpy.types.Operator):
    """Store the current joint frames in the bodies: the current pose becomes the zero pose, and the bodies can then \
be posed relative to each other. Without stored frames, the joint frame is that of the joint object, and every pose \
is the zero pose"""

    bl_idname = "usdphys.joint_fix_frames"
    bl_label = "Keep Frames in Bodies"

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits

        joint_edits.fix_frames(context, self.chosen(context))


class USDPHYS_OT_joint_swap_bodies(_JointOperator, bpy.types.Operator):
    """Exchange body 0 and body 1 with their frames; limits and drive targets change their sign, so that the joint \
does the same as before"""

    bl_idname = "usdphys.joint_swap_bodies"
    bl_label = "Swap Bodies"

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits

        for obj in self.chosen(context):
            note = joint_edits.swap_bodies(obj)
            if note:
                self.report({"WARNING"}, tr(note))


class USDPHYS_OT_joint_limit_from_pose(_JointOperator, bpy.types.Operator):
    """Make the current pose of the bodies a limit of their joints. The first use stores the joint frames in the \
bodies, and that pose becomes zero. For a door: set one limit while it is closed, open it, set the other limit"""

    bl_idname = "usdphys.joint_limit_from_pose"
    bl_label = "Limit from Pose"

    which = EnumProperty(
        name="Limit", description="Limit that is set to the pose",
        items=items_of("limit from pose"),
    )  # fmt: skip
    dof = EnumProperty(
        name="Degree of Freedom",
        items=_DOFS,
        default="rotX",
        description="Degree of freedom to limit, of generic joints",
    )

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits

        for note in joint_edits.limits_from_pose(context, self.chosen(context), self.which, self.dof):
            self.report({"INFO"}, tr(note))


class USDPHYS_OT_joint_motor(_JointOperator, bpy.types.Operator):
    """Drive the joints: keep a velocity, as a wheel does, or go to a position, as a servo does. The strength \
follows from the masses and the load"""

    bl_idname = "usdphys.joint_motor"
    bl_label = "Motor"

    holds = BoolProperty(name="Hold a Position", description="Move to a position. Off: keep a velocity")
    speed = FloatProperty(
        name="Velocity (°/s)", default=math.tau, subtype="ANGLE", description="Target velocity: an angle per second"
    )
    slide_speed = FloatProperty(name="Velocity", **_SLIDE_SPEED)
    angle = FloatProperty(name="Angle", subtype="ANGLE", description="Target angle of a joint that rotates")
    distance = FloatProperty(name="Distance", subtype="DISTANCE", description="Target position of a joint that slides")
    response = FloatProperty(name="Response", **_RESPONSE)
    armature = BoolProperty(name="Motor Inertia", **_ARMATURE)
    articulation = BoolProperty(
        name="Articulation",
        description="Attach joints to the world or to a static object through an anchor body that is fixed to the "
        "world, as an articulation. PhysX needs this to hold loads, and Newton to move these joints",
    )
    outcome = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    dof = EnumProperty(
        name="Degree of Freedom",
        items=_DOFS[:6],
        default="rotZ",
        description="Degree of freedom to drive, of generic joints",
    )

    def draw(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits

        driven = joint_edits.driven_kinds(context, self.dof)
        rows = {
            "holds": True, "angle" if self.holds else "speed": driven.turns,
            "distance" if self.holds else "slide_speed": driven.slides,
            "response": True, "articulation": True, "armature": self.holds, "dof": driven.asks,
        }  # fmt: skip
        self.draw_outcome(draw_rows(self, *(name for name, is_drawn in rows.items() if is_drawn)))

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import joint_edits
        from ..usdphys_addon.generators import mechanisms

        chosen, others = joint_edits.drivable(self.chosen(context), self.dof)
        for note in others:
            self.report({"WARNING"}, tr(note))
        if self.articulation:
            mechanisms.hang_on_anchor(context, [obj for obj, _ in chosen])
            context.view_layer.update()
        targets = [(obj, dof, _target(self, dof, self.holds)) for obj, dof in chosen]
        made, notes, outlooks = _add_motors(
            context, targets, holds=self.holds, response=self.response, may_add=self.armature
        )
        texts = joint_edits.motor_texts(made, holds=self.holds) if len(notes) < len(made) else []
        self.tell(notes, texts, outlooks)


class USDPHYS_OT_joint_couple(_JointOperator, bpy.types.Operator):
    """Couple two joints: hinges by a gear, a hinge and a slide by a rack and pinion. PhysX and the preview simulate
    it"""

    bl_idname = "usdphys.joint_couple"
    bl_label = "Gear or Rack"
    needs = (2, "Select two hinges, or a hinge and a slide")

    ratio = FloatProperty(
        name="Ratio", default=1.0, min=1e-4, soft_max=20.0,
        description="Turns of the active hinge for one turn of the other; it turns the other way",
    )  # fmt: skip
    radius = FloatProperty(
        name="Radius", default=0.1, min=1e-4, subtype="DISTANCE",
        description="Radius of the pinion: a rack moves by its circumference in a turn",
    )  # fmt: skip
    is_reversed = BoolProperty(name="Reversed", description="Turn or slide the other way")

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.active_object
        is_rack = obj is not None and any(row.name == "physics:prismatic" for row in obj.usdphys.vendor)
        draw_rows(self, "radius" if is_rack else "ratio", "is_reversed")

    def edit_joints(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.authoring import vendor_prims

        made = vendor_prims.couple(context, ratio=self.ratio, radius=self.radius, is_reversed=self.is_reversed)
        self.report({"INFO"}, tr(phrase("Added '{name}'", name=made.name)))


CLASSES = (
    USDPHYS_OT_joint_add, USDPHYS_OT_joint_chain, USDPHYS_OT_weld, USDPHYS_OT_joint_align,
    USDPHYS_OT_joint_fix_frames, USDPHYS_OT_joint_swap_bodies, USDPHYS_OT_joint_limit_from_pose,
    USDPHYS_OT_joint_motor, USDPHYS_OT_robot_arm, USDPHYS_OT_joint_couple,
)  # fmt: skip
