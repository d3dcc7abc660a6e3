# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made of the selected objects, in the sidebar; actions in the Object menu and a pie menu; batch tools."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, UILayout

from ..operators import generate
from ..usdphys_addon.authoring import generator_kinds, selected
from ..usdphys_addon.bridge.roles import has_physics
from ..usdphys_addon.core import tables
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.viewport.wrapped_text import draw_text
from . import fitting
from .places import Sidebar

_ROWS = tables.rows(Path(__file__).with_name("menus.tsv"))


def _rows_of(menu: str) -> tuple[tuple[str, str, str], ...]:
    """(operator, text, icon) of the rows of a menu, in the order of menus.tsv."""
    return tuple((row["operator"], row["text"], row["icon"]) for row in _ROWS if row["menu"] == menu)


ACTIONS, MAKE, BATCH = _rows_of("actions"), _rows_of("make"), _rows_of("batch")
#: What a button of a menu sets, by its text.
_GIVEN = {"Door": {"kind": "DOOR"}, "Ball": {"kind": "BALL"}}
#: Texts of buttons where the whole one does not fit.
_SHORT = {"Copy Physics to Selected": "Copy to Selected"}


_GENERATORS = tuple((cls.bl_idname, cls.bl_label, cls.icon) for cls in generate.CLASSES)
#: (name of the menu, label, icon, rows of operators) below Object > USD Physics. The search of Blender (F3) finds only
#: operators that are in a menu.
TOOLS = tuple(
    (name, label, icon, _rows_of(name) + (_GENERATORS if name == "generate" else ()))
    for name, label, icon in (
        ("joint_tools", "Joint Tools", "RIGID_BODY_CONSTRAINT"),
        ("generate", "Generate", "MOD_BUILD"),
        ("structure", "Structure", "OUTLINER"),
        ("groups", "Collision Groups", "GROUP"),
        ("preview", "Preview", "PLAY"),
        ("aims", "Aims", "PIVOT_CURSOR"),
        ("batch_files", "Batch of Files", "FILE_FOLDER"),
        ("checks", "Checks", "CHECKMARK"),
    )
)
#: Operators that ask for a choice: their row is a menu of it.
CHOICES = {"usdphys.joint_preset": "preset", "usdphys.apply_material_preset": "preset"}


def _draw(layout: UILayout, rows: Any, *, is_named: bool = False) -> None:
    """is_named: with the names of the operators, by which Blender's search finds them, in place of shorter texts."""
    for idname, text, icon in rows:
        module, _, name = idname.partition(".")
        if hasattr(bpy.types, f"{module.upper()}_OT_{name}"):
            if idname in CHOICES:
                layout.operator_menu_enum(idname, CHOICES[idname], text=text, icon=icon)
            else:
                button = layout.operator(idname, icon=icon, **({} if is_named else {"text": text}))
                for key, value in _GIVEN.get(text, {}).items():
                    setattr(button, key, value)


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


class Steps:
    """The first steps in scenes that were empty when the sidebar first showed them, each until it is done.

    scenes: for each of these scenes, by `session_uid`, whether it has been played.
    """

    def __init__(self) -> None:
        self.scenes: dict[int, bool] = {}

    def of(self, scene: bpy.types.Scene) -> list[tuple[str, bool]]:
        """(text, whether it is done) of each step; empty when all are done, and for a scene that was imported or began
        with physics.

        A scene with another floor than *Ground* needs none: its steps end with the first play, too.
        """
        from ..usdphys_addon.bridge.identity.remembered import source_file

        if source_file(scene):
            # Its physics came from a file: there is nothing to press for it.
            return []
        if scene.session_uid not in self.scenes:
            if not is_new(scene):
                return []
            self.scenes[scene.session_uid] = False
        session = preview_guard.current()
        if session is not None and session.scene_name == scene.name:
            self.scenes[scene.session_uid] = True
        few = list(islice(scene.objects, _FEW + 1))
        roles = {selected.role_of(obj) for obj in few}
        is_moved, is_played = selected.DYNAMIC in roles, self.scenes[scene.session_uid]
        if len(few) > _FEW or (selected.STATIC in roles and is_moved and is_played):
            return []
        return [
            ("Press Ground", any(obj.usdphys.is_ground for obj in few)),
            ("Select objects, press Dynamic", is_moved),
            ("Press Play", is_played),
        ]


SELECT_KINDS = (
    ("BODIES", "Bodies"), ("STATIC", "Static Colliders"), ("JOINTS", "Joints"), ("ARTICULATIONS", "Articulations")
)  # fmt: skip
#: Of this session.
FIRST_STEPS = Steps()


def has_blender_bodies(scene: bpy.types.Scene) -> bool:
    """True where Blender's own rigid body world has objects that can be converted."""
    world = None if scene is None else scene.rigidbody_world
    return world is not None and world.collection is not None and len(world.collection.objects) > 0


def _draw_samples(layout: UILayout) -> None:
    for kind, label, icon, _ in generator_kinds.SAMPLES:
        layout.operator("usdphys.sample_scene", text=label, icon=icon).kind = kind


class USDPHYS_PT_actions(Sidebar, bpy.types.Panel):
    bl_label = "Make"
    bl_order = 1

    def draw(self, context: Context) -> None:
        layout = self.layout
        texts = [text for _, text, _ in MAKE]
        columns = next((most for most in (3, 2) if fitting.columns(most, *texts, has_icons=True) > 1), 1)
        _draw(layout.grid_flow(row_major=True, columns=columns, even_columns=True, even_rows=True, align=True), MAKE)
        row = fitting.together(layout, "Collider", "Ground", "More", has_icons=True)
        row.operator("usdphys.add_collider", text="Collider", icon="MESH_ICOSPHERE")
        row.operator("usdphys.add_physics", text="Ground", icon="MESH_GRID").kind = "GROUND"
        row.menu("USDPHYS_MT_object", text="More", icon="DOWNARROW_HLT")
        row = fitting.together(layout, "Edit", "Remove", has_icons=True)
        row.operator("usdphys.edit_generated", text="Edit", icon="SETTINGS")
        row.operator("usdphys.remove_generated", text="Remove", icon="TRASH")
        if has_blender_bodies(context.scene):
            layout.operator("usdphys.from_rigid_bodies", icon="RIGID_BODY")
        steps = FIRST_STEPS.of(context.scene)
        if steps:
            self.draw_hint(layout.box().column(), steps)

    def draw_hint(self, column: UILayout, steps: list[tuple[str, bool]]) -> None:
        """What to do first."""
        for text, is_done in steps:
            draw_text(column.column(align=True), text, "CHECKBOX_HLT" if is_done else "CHECKBOX_DEHLT")
        if any(is_done for _, is_done in steps):
            return
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
        layout.operator("usdphys.preview_play_selected", icon="PLAY")
        layout.menu("USDPHYS_MT_select_kind", icon="RESTRICT_SELECT_OFF")
        layout.operator("usdphys.fit_asset", icon="FULLSCREEN_EXIT")
        layout.separator()
        layout.operator("usdphys.find_setting", icon="VIEWZOOM")
        layout.operator("usdphys.manual", icon="HELP")
        layout.operator("usdphys.report_bug", icon="URL")


def _tool_menu(name: str, label: str, rows: Any) -> type[bpy.types.Menu]:
    def draw(self: Any, _context: Context) -> None:
        _draw(self.layout, rows)

    body = {"bl_label": label, "draw": draw, "__module__": __name__}
    return type(f"USDPHYS_MT_{name}", (bpy.types.Menu,), body)


_TOOL_MENUS = tuple(_tool_menu(name, label, rows) for name, label, _, rows in TOOLS)


class USDPHYS_MT_select_kind(bpy.types.Menu):
    bl_label = "Select Physics"

    def draw(self, _context: Context | None) -> None:
        for kind, label in SELECT_KINDS:
            self.layout.operator("usdphys.select_kind", text=label).kind = kind


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
        layout.separator()
        layout.operator("usdphys.library_add", icon="ASSET_MANAGER")
        layout.operator("usdphys.library_remove", icon="X")


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
    USDPHYS_MT_select_kind,
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
