# SPDX-License-Identifier: GPL-3.0-or-later
"""Generic joints: presets, lock, limit or free each degree of freedom; gains of drives by frequency and damping."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import EnumProperty, FloatProperty, StringProperty
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.joint_kinds import PRESETS
from ..usdphys_addon.core.schema import ANGULAR_DOFS
from ..usdphys_addon.playback import guard as preview_guard
from . import needs
from .outcome import draw_rows

_MOTIONS = items_of("motion of a joint")


class _OnActiveJoint:
    bl_options: Any = {"REGISTER", "UNDO"}

    poll = needs.poll(
        (lambda context: context.object and context.object.usdphys.joint.is_applied, "Make a joint active"),
        (lambda context: context.object.is_editable, "The joint is linked; make a library override first"),
    )


class USDPHYS_OT_joint_preset(_OnActiveJoint, bpy.types.Operator):
    """Make the active joint a generic one whose degrees of freedom are those of a known joint"""

    bl_idname = "usdphys.joint_preset"
    bl_label = "Generic Joint As"

    preset = EnumProperty(name="Preset", items=[(name, one.label, one.doc) for name, one in PRESETS.items()])

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import joint_freedoms

        obj = context.object
        if obj.usdphys.joint.type != "GENERIC" and preview_guard.current() is not None:
            raise InputError("Reset the preview first")
        notes = joint_freedoms.apply_preset(context, obj, self.preset)
        for note in notes:
            self.report({"WARNING"}, tr(note))
        return {"FINISHED"}


class USDPHYS_OT_joint_motion(_OnActiveJoint, bpy.types.Operator):
    """Lock, limit or free a degree of freedom of the active joint"""

    bl_idname = "usdphys.joint_motion"
    bl_label = "Degree of Freedom"
    bl_options: Any = {"REGISTER", "UNDO", "INTERNAL"}

    dof = StringProperty(name="Degree of Freedom", default="transX", options={"HIDDEN"})
    motion = EnumProperty(name="Motion", items=_MOTIONS)

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return next(text for name, _, text in _MOTIONS if name == properties.motion)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import joint_freedoms
        from ..usdphys_addon.core.joint_kinds import AXIS_DOFS

        if self.dof not in AXIS_DOFS:
            return {"CANCELLED"}
        meters = float(context.scene.unit_settings.scale_length) or 1.0
        joint_freedoms.set_motion(context.object.usdphys.joint, self.dof, self.motion, meters)
        return {"FINISHED"}


class USDPHYS_OT_joint_equal_gains(_OnActiveJoint, bpy.types.Operator):
    """Give the drives of all free rotations the gains of this one, so that they pull alike in all directions"""

    bl_idname = "usdphys.joint_equal_gains"
    bl_label = "Same Gains on All Rotations"

    dof = EnumProperty(
        name="From", items=[(f"rot{axis}", f"About {axis}", "") for axis in "XYZ"], options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import joint_freedoms

        changed = joint_freedoms.equal_gains(context.object.usdphys.joint, self.dof)
        if not changed:
            raise InputError("No other rotation of the joint is free")
        return {"FINISHED"}


def _dof_items(_self: Any, context: bpy.types.Context | None) -> list[tuple[str, str, str]]:
    from ..usdphys_addon.core.joint_kinds import BY_IDENTIFIER

    obj = context.object if context is not None else None
    if obj is None:
        return _ALL_DOFS
    known = BY_IDENTIFIER[obj.usdphys.joint.type].drives
    return [item for item in _ALL_DOFS if item[0] in known] or _ALL_DOFS


_ALL_DOFS = [
    ("angular", "Angle", "Rotation of a hinge"), ("linear", "Way", "Translation of a slide"),
    *((f"trans{axis}", f"Along {axis}", "") for axis in "XYZ"),
    *((f"rot{axis}", f"About {axis}", "") for axis in "XYZ"),
]  # fmt: skip


class USDPHYS_OT_joint_tune(_OnActiveJoint, bpy.types.Operator):
    """Set the stiffness and damping of a drive from its natural frequency and damping ratio. The inertia is \
computed from the masses that the joint moves"""

    bl_idname = "usdphys.joint_tune"
    bl_label = "Tune Gains"

    dof = EnumProperty(name="Degree of Freedom", items=_dof_items)
    frequency = FloatProperty(
        name="Frequency", default=2.0, min=0.01, soft_max=30.0, precision=3,
        description="Natural frequency without damping (Hz). Four times the stiffness is twice the frequency",
    )  # fmt: skip
    ratio = FloatProperty(
        name="Damping Ratio", default=1.0, min=0.0, soft_max=2.0, precision=3,
        description="1 is critical damping: as fast as possible without overshoot. Smaller values oscillate, "
                    "larger ones are slower",
    )  # fmt: skip
    inertia = FloatProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        """Start with the gains that are there."""
        from ..usdphys_addon.authoring import joint_freedoms

        if preview_guard.current() is not None:
            raise InputError("Reset the preview first")
        self.inertia, is_angular = joint_freedoms.inertia_of(context, context.object, self.dof)
        drive = getattr(context.object.usdphys.joint.drives, self.dof)
        oscillator = joint_freedoms.tuning_of(drive, self.inertia, is_angular).oscillator
        if oscillator is not None:
            self.frequency, self.ratio = oscillator
        done = self.execute(context)
        if bpy.app.background or done != {"FINISHED"}:
            return done
        # It runs with each change, and shows the response meanwhile.
        return set(context.window_manager.invoke_props_popup(self, event))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import joint_freedoms
        from ..usdphys_addon.simulation.gains.oscillator import Oscillator

        obj = context.object
        self.inertia, is_angular = joint_freedoms.inertia_of(context, obj, self.dof)
        drive = getattr(obj.usdphys.joint.drives, self.dof)
        joint_freedoms.tune(drive, Oscillator(self.frequency, self.ratio), self.inertia, is_angular)
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.simulation.gains.oscillator import Oscillator, sparkline

        layout = draw_rows(self, "dof", "frequency", "ratio")
        is_angular = self.dof in ANGULAR_DOFS
        oscillator = Oscillator(self.frequency, self.ratio)
        layout.label(text=tr(f"Moves {self.inertia:.4g} {'kg·m²' if is_angular else 'kg'}"), icon="INFO")
        drive = getattr(context.object.usdphys.joint.drives, self.dof)
        unit = ("N·m/°", "N·m·s/°") if is_angular else ("N/m", "N·s/m")
        gains = f"Stiffness {drive.stiffness:.4g} {unit[0]}, damping {drive.damping:.4g} {unit[1]}"
        layout.label(text=tr(gains))
        seconds = 2.0 / self.frequency
        column = layout.column(align=True)
        column.label(text=sparkline(oscillator, seconds))
        response = f"Response to a step, {seconds:.3g} s; overshoot {100.0 * oscillator.overshoot:.3g} %"
        column.label(text=tr(response))


CLASSES = (
    USDPHYS_OT_joint_preset, USDPHYS_OT_joint_motion, USDPHYS_OT_joint_equal_gains, USDPHYS_OT_joint_tune,
)  # fmt: skip
