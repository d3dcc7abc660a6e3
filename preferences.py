# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on. They switch the hooks on Blender's own USD export and import, and the live checks."""

from typing import Any

import bpy

from . import keymap
from .usdphys_addon.bridge import environment
from .usdphys_addon.bridge.choices import items_of
from .usdphys_addon.bridge.props import nested_bodies
from .usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
    annotate,
)
from .usdphys_addon.checks import live as checks
from .usdphys_addon.exchange import usd_hooks
from .usdphys_addon.simulation.engine import ENGINES, PYTHONS, Program

#: (hook class, name of the preference that switches it).
_HOOKS = ((usd_hooks.USDPHYS_ExportHook, "add_to_usd_export"), (usd_hooks.USDPHYS_ImportHook, "add_to_usd_import"))


def _switch_hooks(preferences: Any, _context: bpy.types.Context | None) -> None:
    """Register or unregister each hook as its preference says; without preferences register all."""
    for hook, name in _HOOKS:
        if preferences is None or getattr(preferences, name):
            usd_hooks.register(hook)
        else:
            usd_hooks.unregister(hook)


def _switch_checks(preferences: Any, _context: bpy.types.Context | None) -> None:
    checks.set_live(preferences is None or preferences.check_live)


_METERS = {"METERS": 1.0, "CENTIMETERS": 0.01, "MILLIMETERS": 0.001}


def _colour(name: str, description: str, default: tuple[float, float, float, float]) -> Any:
    return FloatVectorProperty(
        name=name, description=description, default=default, size=4, subtype="COLOR_GAMMA", min=0.0, max=1.0
    )


def _take_pythons(preferences: Any, _context: bpy.types.Context | None) -> None:
    """Tell the engines where the Pythons of the user are."""
    for name in _PYTHONS:
        PYTHONS[name.removesuffix("_python")] = (
            "" if preferences is None else bpy.path.abspath(getattr(preferences, name))
        )


def _python(engine: Program) -> Any:
    packages = engine.packages.replace('"', "")
    if engine.is_for_node:
        return bpy.props.StringProperty(
            name=f"{engine.name} Folder", subtype="DIR_PATH", update=_take_pythons,
            description=f"Folder node_modules in which this package is installed: {packages}. Node.js has to be there",
        )  # fmt: skip
    return bpy.props.StringProperty(
        name=f"{engine.name} Python", subtype="FILE_PATH",
        description=f"Python executable of a virtual environment in which these packages are installed: {packages}",
        update=_take_pythons,
    )  # fmt: skip


#: Preferences with the Python of each simulator outside Blender.
_PYTHONS = {f"{key}_python": _python(engine) for key, engine in ENGINES.items() if isinstance(engine, Program)}


class USDPHYS_Preferences(  # noqa: N801
    bpy.types.AddonPreferences
):
    bl_idname = __package__ or "usdphys_addon"

    add_to_usd_export = BoolProperty(
        name="Add Physics to Every USD Export",
        description="File > Export > Universal Scene Description also writes the physics of the scene",
        default=True,
        update=_switch_hooks,
    )
    add_to_usd_import = BoolProperty(
        name="Read Physics in Every USD Import",
        description="File > Import > Universal Scene Description also reads the physics of the file",
        default=True,
        update=_switch_hooks,
    )
    prove_exports = BoolProperty(
        name="Check Written Files",
        description="Read each exported file again and name what is not as Blender shows it; takes about a seventh "
        "of the export",
        default=True,
    )
    check_live = BoolProperty(
        name="Check While Working",
        description="Check the physics shortly after each change of the scene",
        default=True,
        update=_switch_checks,
    )
    export_units = EnumProperty(
        name="Units",
        items=items_of("unit of exports"),
        default="SCENE",
        description="Length unit of exported files, unless the stage units of the scene are set",
    )
    export_hierarchy: str = nested_bodies(", unless the scene sets it")
    export_format = EnumProperty(
        name="Format",
        items=items_of("format of exports"),
        default=".usda",
        description="File format that the export dialog suggests",
    )
    preview_frequency = IntProperty(
        name="Frequency", default=60, min=10, max=1000,
        description="Time steps of the preview per second of simulated time (Hz), in new files",
    )  # fmt: skip
    preview_substeps = IntProperty(
        name="Substeps", default=0, min=0, max=64,
        description="Solver steps in each time step of the preview, in new files; 0 is automatic",
    )  # fmt: skip
    preview_with_timeline = BoolProperty(
        name="Play with Timeline", description="Playing the timeline (Space) plays the physics, too, in new files"
    )
    ros_packages = StringProperty(
        name="Packages of ROS",
        description="Folders of ROS packages for every URDF import: NAME=FOLDER; NAME2=FOLDER2. Folders that are "
        "set in the import take precedence",
    )
    shortcut_keys = EnumProperty(
        name="Keys Held", items=items_of("keys of shortcuts"), default=keymap.DEFAULT, update=keymap.hold,
        description="Keys that are held for all shortcuts below",
    )  # fmt: skip
    overlay_dynamic = _colour("Dynamic Body", "Colour of rigid bodies that the solver moves", (0.25, 0.65, 1.0, 0.8))
    overlay_static = _colour("Static Collider", "Colour of colliders that do not move", (0.9, 0.9, 0.96, 0.9))
    overlay_kinematic = _colour("Kinematic Body", "Colour of rigid bodies that animation moves", (1.0, 0.75, 0.2, 0.8))
    overlay_joint = _colour("Joint", "Colour of joints", (0.45, 0.9, 0.4, 0.9))
    overlay_broken = _colour("Broken", "Colour of joints that broke in the preview", (1.0, 0.2, 0.2, 1.0))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        self.draw_help()
        if not environment.usd_is_supported():
            layout.label(text="This Blender was built without USD: it cannot export.", icon="ERROR")
        else:
            layout.prop(self, "add_to_usd_export")
            layout.prop(self, "add_to_usd_import")
            self.draw_box("Export", ("export_units", "export_hierarchy", "export_format", "prove_exports"))
            layout.prop(self, "ros_packages")
        layout.prop(self, "check_live")
        self.draw_box("Preview of New Files", ("preview_frequency", "preview_substeps", "preview_with_timeline"))
        self.draw_box("Other Simulators", tuple(_PYTHONS))
        self.draw_box("Overlay", OVERLAY_COLOURS)
        self.draw_keymap(context)

    def draw_box(self, label: str, names: tuple[str, ...]) -> None:
        layout = self.layout
        column = layout.box().column()
        column.label(text=label)
        for name in names:
            column.prop(self, name)

    def draw_help(self) -> None:
        layout = self.layout
        row = layout.row()
        row.operator("usdphys.manual", icon="HELP")
        row.operator("usdphys.report_bug", icon="URL")
        row = layout.row()
        row.operator("usdphys.library_add", icon="ASSET_MANAGER")
        row.operator("usdphys.library_remove", icon="X")

    def draw_keymap(self, context: bpy.types.Context) -> None:
        import rna_keymap_ui

        layout = self.layout
        column = layout.box().column()
        column.use_property_split = False
        column.label(text="Shortcuts")
        column.prop(self, "shortcut_keys")
        config = context.window_manager.keyconfigs.user
        for user_keymap, item in keymap.user_items(context):
            column.context_pointer_set("keymap", user_keymap)
            rna_keymap_ui.draw_kmi([], config, user_keymap, item, column, 0)


annotate(USDPHYS_Preferences)
USDPHYS_Preferences.__annotations__.update(_PYTHONS)
OVERLAY_COLOURS = ("overlay_dynamic", "overlay_static", "overlay_kinematic", "overlay_joint", "overlay_broken")


def current(context: bpy.types.Context) -> Any:
    """The preferences of the add-on; None if it is registered but not enabled."""
    addon = context.preferences.addons.get(USDPHYS_Preferences.bl_idname) if context.preferences else None
    return addon.preferences if addon is not None else None


def export_defaults(preferences: Any, stage: Any) -> dict[str, Any]:
    """Default options of an export: stage settings that the scene sets, else the preferences."""
    chosen = {name: getattr(stage, name) for name in ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy")}
    if preferences is None:
        return chosen
    if not stage.is_property_set("meters_per_unit") and preferences.export_units in _METERS:
        chosen["meters_per_unit"] = _METERS[preferences.export_units]
    if not stage.is_property_set("hierarchy"):
        chosen["hierarchy"] = preferences.export_hierarchy
    return chosen


def set_preview_defaults(preferences: Any, scenes: Any) -> None:
    """Copy the preview preferences to scenes that do not set them; values equal to the default stay unset."""
    for scene in scenes:
        settings = scene.usdphys.preview
        for name in ("frequency", "substeps", "with_timeline"):
            wanted = getattr(preferences, f"preview_{name}")
            if not settings.is_property_set(name) and wanted != getattr(settings, name):
                setattr(settings, name, wanted)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_load(*_: Any) -> None:
    preferences = current(bpy.context)
    # In background mode the result of a script must not depend on the preferences.
    if preferences is not None and not bpy.data.filepath and not bpy.app.background:
        set_preview_defaults(preferences, bpy.data.scenes)


_command: Any = None


def run_command(arguments: list[str]) -> int:
    """Handler of `blender --command usdphys`; returns the exit status."""
    from .usdphys_addon import cli

    return cli.main(arguments)


def register() -> None:
    global _command
    bpy.utils.register_class(USDPHYS_Preferences)
    preferences = current(bpy.context)
    _switch_hooks(preferences, None)
    _switch_checks(preferences, None)
    _take_pythons(preferences, None)
    bpy.app.handlers.load_post.append(_after_load)
    _command = bpy.utils.register_cli_command("usdphys", run_command)


def unregister() -> None:
    global _command
    if _command is not None:
        bpy.utils.unregister_cli_command(_command)
        _command = None
    bpy.app.handlers.load_post.remove(_after_load)
    for hook, _ in _HOOKS:
        usd_hooks.unregister(hook)
    bpy.utils.unregister_class(USDPHYS_Preferences)
