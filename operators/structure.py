# SPDX-License-Identifier: GPL-3.0-or-later
"""Structure of bodies: compounds, colliders as objects, loose parts, fitted primitives."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from ..usdphys_addon.core.words import counted, phrase
from . import needs
from .outcome import draw_rows, finish
from .stepped import Stepped

_TURNED = "Turn a collider if that makes it smaller. Off: its axes are the axes of the object"
_MARGIN = "Length by which the colliders are larger than the mesh on all sides"
#: Objects whose parts are described in the panel of the last operation.
_MOST_TOLD = 4
_REPLACE = "Remove the collider objects that were made for the object earlier"


#: Of the actions below that take places from objects.
_AT_REST = needs.poll(
    needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, needs.selected(1, "Select the objects first")
)  # fmt: skip


class _OnSelection:
    """Mix-in: runs one action on the selected objects."""

    report: Any
    bl_options: Any = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.selected(1, "Select the objects first"))

    def edit_selection(self, context: bpy.types.Context) -> Any:
        """Run the action; returns its outcome."""
        raise NotImplementedError

    def result_text(self, outcome: Any) -> str:
        """The report: one sentence about the result."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[Any]:
        outcome = self.edit_selection(context)
        return finish(self, self.result_text(outcome), outcome.notes)


class USDPHYS_OT_compound_from_selection(_OnSelection, bpy.types.Operator):
    """Make the selected objects one body. They keep their places, and missing colliders are added. The mass of a body
    among them becomes the mass of its colliders"""

    bl_idname = "usdphys.compound_from_selection"
    bl_label = "Compound from Selection"

    # It gives parents to objects where they are now: behind the simulated poses the authored ones would move.
    poll = _AT_REST

    target = EnumProperty(name="Body", items=items_of("body of a compound"), description="Object that becomes the body")
    role = EnumProperty(
        name="Role", items=items_of("role of a compound"), description="Kind of compound: one that moves, or static"
    )

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import collider_edits

        return collider_edits.compound(
            context, context.selected_objects, context.active_object, target=self.target, role=self.role
        )

    def result_text(self, outcome: Any) -> str:
        return f"'{outcome.body}' holds the compound; {counted(outcome.count, 'new collider')}"


class USDPHYS_OT_make_collider_objects(Stepped, _OnSelection, bpy.types.Operator):
    """Make separate wire objects as colliders of the selected objects, in the collection "Physics Colliders". They can
    be edited apart from the visible mesh. The selected objects lose their own colliders"""

    bl_idname = "usdphys.make_collider_objects"
    bl_label = "Make Collider Objects"

    kind = EnumProperty(name="Kind", items=items_of("shape to fit"), description="Shape of the colliders")
    margin = FloatProperty(name="Margin", description=_MARGIN, min=0.0, unit="LENGTH", precision=4)
    axis = EnumProperty(name="Axis", items=items_of("axis to fit"), description="Axis of a capsule or cylinder")
    oriented = BoolProperty(name="Oriented", description=_TURNED)
    most = IntProperty(
        name="Most Parts", description="Largest number of convex parts of a decomposition", default=16, min=1, max=256
    )
    method = EnumProperty(
        name="Method", items=items_of("method of a decomposition"), description="What makes the convex parts"
    )
    error = FloatProperty(
        name="Largest Error", min=0.0, max=1000.0, soft_max=50.0, subtype="PERCENTAGE", precision=1, step=100,
        description="Make the fewest parts whose missing and added volume is at most this part of the volume of the "
        "mesh, and report how well they fit. 0: make at most as many parts as set",
    )  # fmt: skip
    replace = BoolProperty(name="Replace", description=_REPLACE, default=True)
    told = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    cancelled = phrase("The decomposition was cancelled; the scene is as it was")

    def draw(self, _context: bpy.types.Context) -> None:
        own = {
            "BOX": ("oriented",), "CAPSULE": ("axis", "oriented"), "CYLINDER": ("axis", "oriented"),
            "DECOMPOSITION": ("method", "error") if self.error else ("method", "error", "most"),
        }  # fmt: skip
        draw_rows(self, "kind", "margin", *own.get(self.kind, ()), "replace")
        if self.kind == "DECOMPOSITION" and self.told:
            from ..usdphys_addon.viewport.wrapped_text import OPERATION_LINE, draw_text

            box = self.layout.box().column(align=True)
            for line in self.told.splitlines():
                draw_text(box, line, "NONE", length=OPERATION_LINE)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ..usdphys_addon.authoring import collider_edits
        from ..usdphys_addon.simulation import convex_parts

        self.told = ""
        if self.kind != "DECOMPOSITION":
            return super().execute(context)
        wanted = convex_parts.Wanted(self.method, self.error / 100.0, self.most)  # type: ignore[arg-type]
        return self.run(context, collider_edits.decompose_steps(
            context, list(context.selected_objects), wanted, margin=self.margin, replace=self.replace
        ))  # fmt: skip

    def done(self, result: Any) -> set[Any]:
        lines = []
        for fit, suggested in zip(result.fits[:_MOST_TOLD], result.suggested, strict=False):
            lines += [fit, tr(phrase("Fewest for an error of {numbers}", numbers=suggested))] if suggested else [fit]
        self.told = "\n".join([*lines, *result.notes[:_MOST_TOLD]])
        return finish(self, self.result_text(result), result.notes)

    def progress(self, fraction: Any) -> str:
        return phrase("Convex parts ({done:.0%})    Esc: cancel", done=float(fraction))

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import collider_edits

        return collider_edits.make_collider_objects(
            context, context.selected_objects, self.kind, margin=self.margin, axis=self.axis, turned=self.oriented,
            replace=self.replace,
        )  # fmt: skip

    def result_text(self, outcome: Any) -> str:
        replaced = f", {outcome.replaced} replaced" if outcome.replaced else ""
        fits = f". {'; '.join(outcome.fits)}" if outcome.fits else ""
        return f"Made {counted(outcome.count, 'collider object')}{replaced}{fits}"


class USDPHYS_OT_split_loose(_OnSelection, bpy.types.Operator):
    """Replace the colliders of the selected objects by one collider for each loose part of the mesh. The mesh and the \
rigid body do not change"""

    bl_idname = "usdphys.split_loose"
    bl_label = "Colliders from Loose Parts"

    mode = EnumProperty(name="As", items=items_of("colliders of loose parts"), description="Kind of the colliders")
    margin = FloatProperty(name="Margin", description=_MARGIN, min=0.0, unit="LENGTH", precision=4)
    oriented = BoolProperty(name="Oriented", description=_TURNED, default=True)
    limit = IntProperty(
        name="Limit", description="Objects with more loose parts than this are refused", default=64, min=1
    )
    replace = BoolProperty(name="Replace", description=_REPLACE, default=True)

    def draw(self, _context: bpy.types.Context) -> None:
        draw_rows(self, "mode", "margin", "oriented" if self.mode == "PRIMITIVES" else "replace", "limit")

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import collider_edits

        return collider_edits.split_loose(
            context, context.selected_objects, mode=self.mode, limit=self.limit, margin=self.margin,
            turned=self.oriented, replace=self.replace,
        )  # fmt: skip

    def result_text(self, outcome: Any) -> str:
        return f"Made {counted(outcome.count, 'collider')} from loose parts"


class USDPHYS_OT_fit_collider(_OnSelection, bpy.types.Operator):
    """Fit the primitive colliders of the selected objects to their meshes"""

    bl_idname = "usdphys.fit_collider"
    bl_label = "Fit Colliders"

    explicit = BoolProperty(
        name="Explicit", description="Set the fitted place and size. Off: they are automatic and follow the mesh"
    )
    only_active = BoolProperty(
        name="Active Only", description="Only the collider that is active in the list of each object"
    )

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import collider_edits

        return collider_edits.fit_colliders(
            context, context.selected_objects, explicit=self.explicit, only_active=self.only_active
        )

    def result_text(self, outcome: Any) -> str:
        return f"Fitted {counted(outcome.count, 'collider')}"


class USDPHYS_OT_collider_mesh_to_primitive(_OnSelection, bpy.types.Operator):
    """Replace automatic and mesh colliders of the selected objects by the box, sphere, capsule or cylinder of the
    smallest volume that contains the mesh"""

    bl_idname = "usdphys.collider_mesh_to_primitive"
    bl_label = "Mesh to Primitive"

    margin = FloatProperty(name="Margin", description=_MARGIN, min=0.0, unit="LENGTH", precision=4)
    oriented = BoolProperty(name="Oriented", description=_TURNED)

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import collider_edits

        return collider_edits.to_primitives(context, context.selected_objects, turned=self.oriented, margin=self.margin)

    def result_text(self, outcome: Any) -> str:
        return f"Replaced {counted(outcome.count, 'collider')}"


class USDPHYS_OT_make_tet_mesh(_OnSelection, bpy.types.Operator):
    """Fill the closed meshes of the selected objects with tetrahedra, for simulators of soft bodies, as new objects. \
USD has a TetMesh for them"""

    bl_idname = "usdphys.make_tet_mesh"
    bl_label = "Make TetMesh"

    # Its objects are put where those of the selection are now.
    poll = _AT_REST

    across = IntProperty(
        name="Cells Across", description="Cells along the longest side of the mesh; each has twelve tetrahedra",
        default=10, min=2, soft_max=50, max=200,
    )  # fmt: skip

    def edit_selection(self, context: bpy.types.Context) -> Any:
        from ..usdphys_addon.authoring import tet_mesh

        return tet_mesh.make(context, context.selected_objects, self.across)

    def result_text(self, outcome: Any) -> str:
        return phrase(
            "Made {objects} of {count} tetrahedra; their volume is {excess} times that of the mesh",
            objects=counted(len(outcome.made), "object"), count=outcome.tets, excess=f"{outcome.excess:.3g}",
        )  # fmt: skip


CLASSES = (
    USDPHYS_OT_compound_from_selection, USDPHYS_OT_make_collider_objects, USDPHYS_OT_split_loose,
    USDPHYS_OT_fit_collider, USDPHYS_OT_collider_mesh_to_primitive,
    USDPHYS_OT_make_tet_mesh,
)  # fmt: skip
