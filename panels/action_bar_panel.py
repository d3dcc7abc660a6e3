# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on the selected objects in the sidebar, the Object menu and a pie menu; batch tools below them."""

from __future__ import annotations

from itertools import islice
from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..operators import generate
from ..usdphys_addon.authoring import generator_kinds
from ..usdphys_addon.bridge.roles import has_physics
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Sidebar

#: (operator, text, icon) in the order of the bar.
ACTIONS = (
    ("usdphys.make_dynamic", "Dynamic", "RIGID_BODY"),
    ("usdphys.make_static", "Static", "FREEZE"),
    ("usdphys.make_kinematic", "Kinematic", "ANIM"),
    ("usdphys.add_collider", "Collider", "MESH_ICOSPHERE"),
    ("usdphys.joint_add", "Joint", "RIGID_BODY_CONSTRAINT"),
    ("usdphys.add_group", "Group", "GROUP"),
    ("usdphys.clear_physics", "Clear", "TRASH"),
)
BATCH = (
    ("usdphys.tag_by_name", "Tag by Name", "SORTALPHA"),
    ("usdphys.tag_collection", "Tag Collection", "OUTLINER_COLLECTION"),
    ("usdphys.copy_physics", "Copy Physics to Selected", "COPYDOWN"),
)
#: Texts of buttons where the whole one does not fit.
_SHORT = {"Copy Physics to Selected": "Copy to Selected"}


#: (name of the menu, label, icon, rows of operators) below Object > USD Physics. The search of Blender (F3) finds only
#: operators that are in a menu.
TOOLS = (
    ("joint_tools", "Joint Tools", "RIGID_BODY_CONSTRAINT", (
        ("usdphys.joint_chain", "Joint Chain", "LINKED"),
        ("usdphys.robot_arm", "Robot Arm", "CON_KINEMATIC"),
        ("usdphys.weld", "Weld", "SNAP_ON"),
        ("usdphys.joint_motor", "Motor", "FORCE_VORTEX"),
        ("usdphys.joint_couple", "Gear or Rack", "PREFERENCES"),
        ("usdphys.vendor_prim_add", "Simulator Prim", "EMPTY_AXIS"),
        ("usdphys.joint_tune", "Tune Gains", "FCURVE"),
        ("usdphys.joint_equal_gains", "Same Gains on All Rotations", "ORIENTATION_GIMBAL"),
        ("usdphys.joint_preset", "Generic Joint As", "PRESET"),
        ("usdphys.joint_limit_from_pose", "Limit from Pose", "DRIVER_ROTATIONAL_DIFFERENCE"),
        ("usdphys.joint_fix_frames", "Keep Frames in Bodies", "PINNED"),
        ("usdphys.joint_align", "Align Joint Frames", "ORIENTATION_GLOBAL"),
        ("usdphys.joint_swap_bodies", "Swap Bodies", "ARROW_LEFTRIGHT"),
        ("usdphys.inspect_joints", "Inspect Joints", "CON_ROTLIKE"),
        ("usdphys.mirror_physics", "Mirror Physics", "MOD_MIRROR"),
    )),
    ("generate", "Generate", "MOD_BUILD", (
        ("usdphys.settle", "Scatter and Settle", "MOD_PARTICLE_INSTANCE"),
        *((cls.bl_idname, cls.bl_label, cls.icon) for cls in generate.CLASSES),
    )),
    ("structure", "Structure", "OUTLINER", (
        ("usdphys.compound_from_selection", "Compound from Selection", "GROUP"),
        ("usdphys.make_collider_objects", "Make Collider Objects", "MESH_CUBE"),
        ("usdphys.split_loose", "Split Loose Parts", "MOD_EXPLODE"),
        ("usdphys.fit_collider", "Fit Collider", "FULLSCREEN_ENTER"),
        ("usdphys.collider_mesh_to_primitive", "Collider Mesh to Primitive", "MESH_UVSPHERE"),
        ("usdphys.author_computed", "Author Computed Mass", "PHYSICS"),
        ("usdphys.apply_material_preset", "Material Preset", "MATERIAL"),
    )),
    ("groups", "Collision Groups", "GROUP", (
        ("usdphys.group_add_selected", "Add Selected to Group", "ADD"),
        ("usdphys.group_remove_selected", "Remove Selected from Group", "REMOVE"),
        ("usdphys.group_select", "Select Members of Group", "RESTRICT_SELECT_OFF"),
        ("usdphys.group_rename", "Rename Group", "SORTALPHA"),
    )),
    ("preview", "Preview", "PLAY", (
        ("usdphys.preview_play", "Play Physics", "PLAY"),
        ("usdphys.preview_step", "Step One Frame", "FRAME_NEXT"),
        ("usdphys.preview_reset", "Reset Physics", "LOOP_BACK"),
        ("usdphys.preview_apply", "Apply Pose", "CHECKMARK"),
        ("usdphys.preview_bake", "Bake to Keyframes", "REC"),
        ("usdphys.engine_bake", "Simulate In", "CONSOLE"),
        ("usdphys.preview_clear_bake", "Clear Bake", "X"),
    )),
    ("batch_files", "Batch of Files", "FILE_FOLDER", (
        ("usdphys.batch_convert_folder", "Batch Convert Folder", "FILE_FOLDER"),
        ("usdphys.export_collections", "Export Collections", "OUTLINER_COLLECTION"),
        ("usdphys.batch_report", "Batch Report", "TEXT"),
    )),
    ("checks", "Checks", "CHECKMARK", (
        ("usdphys.check", "Check Now", "FILE_REFRESH"),
        ("usdphys.check_fix_all", "Fix All Safe", "CHECKMARK"),
    )),
)  # fmt: skip


#: Operators that ask for a choice: their row is a menu of it.
CHOICES = {"usdphys.engine_bake": "engine", "usdphys.joint_preset": "preset", "usdphys.apply_material_preset": "preset"}


def _draw(layout: UILayout, rows: Any, *, is_named: bool = False) -> None:
    """is_named: with the names of the operators, by which Blender's search finds them, in place of shorter texts."""
    for idname, text, icon in rows:
        module, _, name = idname.partition(".")
        if hasattr(bpy.types, f"{module.upper()}_OT_{name}"):
            if idname in CHOICES:
                layout.operator_menu_enum(idname, CHOICES[idname], text=text, icon=icon)
            else:
                layout.operator(idname, icon=icon, **({} if is_named else {"text": text}))


#: Largest number of objects among which physics is looked for each time that the sidebar is drawn.
_FEW = 100


def is_new(scene: bpy.types.Scene) -> bool:
    """True if a scene has few objects, and none has physics."""
    # Blender counts the objects of a scene one by one.
    few = list(islice(scene.objects, _FEW + 1))
    if len(few) > _FEW:
        return False
    instanced = {obj.instance_collection for obj in few if obj.instance_collection is not None}
    few += (obj for held in instanced for obj in islice(held.all_objects, _FEW))
    return not any(has_physics(obj) for obj in few)


def has_blender_bodies(scene: bpy.types.Scene) -> bool:
    """True where Blender's own rigid body world has objects that can be converted."""
    world = None if scene is None else scene.rigidbody_world
    return world is not None and world.collection is not None and len(world.collection.objects) > 0


def _draw_samples(layout: UILayout) -> None:
    for kind, label, icon, _ in generator_kinds.SAMPLES:
        layout.operator("usdphys.sample_scene", text=label, icon=icon).kind = kind


class USDPHYS_PT_actions(Sidebar, bpy.types.Panel):
    bl_label = "Actions"
    bl_order = 0

    def draw(self, context: Context) -> None:
        layout = self.layout
        columns = fitting.columns(2, *(text for _, text, _ in ACTIONS), has_icons=True)
        _draw(layout.grid_flow(row_major=True, columns=columns, even_columns=True, even_rows=True, align=True), ACTIONS)
        layout.operator("usdphys.add_physics", text="Ground", icon="MESH_GRID").kind = "GROUND"
        if has_blender_bodies(context.scene):
            layout.operator("usdphys.from_rigid_bodies", icon="RIGID_BODY")
        if is_new(context.scene):
            self.draw_hint(layout.box().column())

    def draw_hint(self, column: UILayout) -> None:
        """What to do first."""
        draw_text(column, "Add a Ground, select your objects, press Dynamic, then Play.", "INFO")
        column.label(text="Or look at a sample scene:")
        _draw_samples(column)
        column.operator("usdphys.manual", icon="HELP")


class USDPHYS_PT_batch(Sidebar, bpy.types.Panel):
    bl_label = "Batch"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, _context: Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        for idname, text, icon in BATCH:
            fitting.button(column, idname, icon, _SHORT.get(text, ""))


class USDPHYS_MT_object(bpy.types.Menu):
    bl_label = "USD Physics"

    def draw(self, _context: Context | None) -> None:
        layout = self.layout
        _draw(layout, ACTIONS, is_named=True)
        layout.separator()
        _draw(layout, BATCH)
        layout.operator("usdphys.from_rigid_bodies", icon="RIGID_BODY")
        layout.separator()
        for name, label, icon, _ in TOOLS:
            layout.menu(f"USDPHYS_MT_{name}", text=label, icon=icon)
        layout.separator()
        layout.operator("usdphys.manual", icon="HELP")
        layout.operator("usdphys.report_bug", icon="URL")


def _tool_menu(name: str, label: str, rows: Any) -> type[bpy.types.Menu]:
    def draw(self: Any, _context: Context) -> None:
        _draw(self.layout, rows)

    body = {"bl_label": label, "draw": draw, "__module__": __name__}
    return type(f"USDPHYS_MT_{name}", (bpy.types.Menu,), body)


_TOOL_MENUS = tuple(_tool_menu(name, label, rows) for name, label, _, rows in TOOLS)


class USDPHYS_MT_samples(bpy.types.Menu):
    bl_label = "Sample Scenes"

    def draw(self, _context: Context | None) -> None:
        _draw_samples(self.layout)


class USDPHYS_MT_add(bpy.types.Menu):
    bl_label = "Physics"

    def draw(self, _context: Context | None) -> None:
        layout = self.layout
        for kind, label, icon, _ in generator_kinds.KINDS:
            layout.operator("usdphys.add_physics", text=label, icon=icon).kind = kind
        layout.separator()
        layout.menu("USDPHYS_MT_generate", icon="MOD_BUILD")
        layout.menu("USDPHYS_MT_samples", icon="SCENE_DATA")


class USDPHYS_MT_pie(bpy.types.Menu):
    bl_label = "USD Physics"

    def draw(self, _context: Context | None) -> None:
        layout = self.layout
        _draw(layout.menu_pie(), ACTIONS)


def draw_add_menu(self: Any, _context: Context) -> None:
    self.layout.menu("USDPHYS_MT_add", icon="PHYSICS")


def draw_menu(self: Any, _context: Context) -> None:
    self.layout.separator()
    self.layout.menu("USDPHYS_MT_object", icon="PHYSICS")


CLASSES = (
    USDPHYS_PT_actions,
    USDPHYS_PT_batch,
    USDPHYS_MT_object,
    *_TOOL_MENUS,
    USDPHYS_MT_samples,
    USDPHYS_MT_add,
    USDPHYS_MT_pie,
)


def register() -> None:
    bpy.types.VIEW3D_MT_object.append(draw_menu)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_add.append(draw_add_menu)  # type: ignore[arg-type]


def unregister() -> None:
    bpy.types.VIEW3D_MT_add.remove(draw_add_menu)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_object.remove(draw_menu)  # type: ignore[arg-type]
