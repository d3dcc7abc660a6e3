# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences of the add-on, and what they switch on and off: hooks on Blender's own USD, checks, the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .usdphys_addon.bridge import environment
from .usdphys_addon.bridge.props import HIERARCHIES
from .usdphys_addon.checks import live as checks
from .usdphys_addon.exchange import usd_hooks

#: With the preference that switches each.
_HOOKS = (
    (usd_hooks.USDPHYS_ExportHook, "add_to_usd_export"),
    (usd_hooks.USDPHYS_ImportHook, "add_to_usd_import"),
)


def _switch_hooks(preferences: Any, _context: Any) -> None:
    """Register the hooks that the preferences ask for, all of them without preferences."""
    for hook, name in _HOOKS:
        if preferences is None or getattr(preferences, name):
            usd_hooks.register(hook)
        else:
            usd_hooks.unregister(hook)


def _switch_checks(preferences: Any, _context: Any) -> None:
    checks.set_live(preferences is None or preferences.check_live)


_FORMATS = (
    (".usda", "USDA", "Text: can be read, compared and edited"),
    (".usdc", "USDC", "Binary: small and quick"),
    (".usd", "USD", "Binary, under the general suffix"),
    (".usdz", "USDZ", "One package with all that the file needs"),
)
_UNITS = (
    ("SCENE", "As the Scene Says", "The stage units of the scene, which are metres until they are set"),
    ("METERS", "Meters", "1 metre per unit"),
    ("CENTIMETERS", "Centimeters", "0.01 metres per unit"),
    ("MILLIMETERS", "Millimeters", "0.001 metres per unit"),
)
_METERS = {"METERS": 1.0, "CENTIMETERS": 0.01, "MILLIMETERS": 0.001}


def _colour(name: str, description: str, default: tuple[float, float, float, float]) -> Any:
    return bpy.props.FloatVectorProperty(
        name=name, description=description, default=default, size=4, subtype="COLOR_GAMMA", min=0.0, max=1.0
    )


class USDPHYS_Preferences(  # noqa: N801
    bpy.types.AddonPreferences
):
    bl_idname = __package__ or "usdphys_addon"

    if TYPE_CHECKING:
        add_to_usd_export: bool
        add_to_usd_import: bool
        check_live: bool
        export_units: str
        export_hierarchy: str
        export_format: str
        preview_frequency: int
        preview_substeps: int
        overlay_dynamic: tuple[float, float, float, float]
        overlay_static: tuple[float, float, float, float]
        overlay_kinematic: tuple[float, float, float, float]
        overlay_joint: tuple[float, float, float, float]
        overlay_broken: tuple[float, float, float, float]
    else:
        add_to_usd_export: bpy.props.BoolProperty(
            name="Add Physics to Every USD Export",
            description="File > Export > Universal Scene Description writes the physics of the scene, too",
            default=True,
            update=_switch_hooks,
        )
        add_to_usd_import: bpy.props.BoolProperty(
            name="Read Physics in Every USD Import",
            description="File > Import > Universal Scene Description reads the physics of the file, too",
            default=True,
            update=_switch_hooks,
        )
        check_live: bpy.props.BoolProperty(
            name="Check While Working",
            description="Look for problems of the physics whenever the scene has been left in peace for a moment",
            default=True,
            update=_switch_checks,
        )
        export_units: bpy.props.EnumProperty(
            name="Units",
            items=_UNITS,
            default="SCENE",
            description="Length of a unit of an exported file, unless the scene sets it",
        )
        export_hierarchy: bpy.props.EnumProperty(
            name="Nested Bodies",
            items=HIERARCHIES,
            default="NESTED",
            description="What becomes of rigid bodies below other rigid bodies, unless the scene sets it",
        )
        export_format: bpy.props.EnumProperty(
            name="Format", items=_FORMATS, default=".usda", description="Type of file that an export starts with"
        )
        preview_frequency: bpy.props.IntProperty(
            name="Frequency",
            default=60,
            min=10,
            max=1000,
            description="Time steps of the preview in a second of simulated time (Hz), in new files",
        )
        preview_substeps: bpy.props.IntProperty(
            name="Substeps",
            default=0,
            min=0,
            max=64,
            description="Steps of the solver in each time step, in new files; 0 chooses by the scene",
        )
        overlay_dynamic: _colour("Dynamic Body", "Colour of bodies that forces move", (0.25, 0.65, 1.0, 0.8))
        overlay_static: _colour("Static Collider", "Colour of colliders that do not move", (0.6, 0.6, 0.6, 0.6))
        overlay_kinematic: _colour("Kinematic Body", "Colour of bodies that animation moves", (1.0, 0.75, 0.2, 0.8))
        overlay_joint: _colour("Joint", "Colour of joints", (0.45, 0.9, 0.4, 0.9))
        overlay_broken: _colour("Broken", "Colour of what is wrong, and of joints that broke", (1.0, 0.2, 0.2, 1.0))

    def draw(self, context: bpy.types.Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        if not environment.usd_is_supported():
            layout.label(text="This Blender was built without USD: no export is possible.", icon="ERROR")
        else:
            layout.prop(self, "add_to_usd_export")
            layout.prop(self, "add_to_usd_import")
            self.draw_box("Export", ("export_units", "export_hierarchy", "export_format"))
        layout.prop(self, "check_live")
        self.draw_box("Preview of New Files", ("preview_frequency", "preview_substeps"))
        self.draw_box("Overlay", OVERLAY_COLOURS)
        self.draw_keymap(context)

    def draw_box(self, label: str, names: tuple[str, ...]) -> None:
        layout: Any = self.layout
        column = layout.box().column()
        column.label(text=label)
        for name in names:
            column.prop(self, name)

    def draw_keymap(self, context: bpy.types.Context) -> None:
        import rna_keymap_ui

        from . import keymap

        layout: Any = self.layout
        column = layout.box().column()
        column.use_property_split = False
        column.label(text="Shortcuts")
        config = context.window_manager.keyconfigs.user  # type: ignore[union-attr]
        for user_keymap, item in keymap.user_items(context):
            column.context_pointer_set("keymap", user_keymap)
            rna_keymap_ui.draw_kmi([], config, user_keymap, item, column, 0)


OVERLAY_COLOURS = ("overlay_dynamic", "overlay_static", "overlay_kinematic", "overlay_joint", "overlay_broken")


def current(context: Any) -> Any:
    """The preferences of the add-on; None where it is registered without being enabled."""
    addon = context.preferences.addons.get(USDPHYS_Preferences.bl_idname) if context.preferences else None
    return addon.preferences if addon is not None else None


def export_defaults(preferences: Any, stage: Any) -> dict[str, Any]:
    """Options that an export starts with: what the scene sets, else what the preferences say."""
    chosen = {name: getattr(stage, name) for name in ("meters_per_unit", "kilograms_per_unit", "up_axis", "hierarchy")}
    if preferences is None:
        return chosen
    if not stage.is_property_set("meters_per_unit") and preferences.export_units in _METERS:
        chosen["meters_per_unit"] = _METERS[preferences.export_units]
    if not stage.is_property_set("hierarchy"):
        chosen["hierarchy"] = preferences.export_hierarchy
    return chosen


def set_preview_defaults(preferences: Any, scenes: Any) -> None:
    """Preview settings of the scenes of a new file, where the preferences differ from what they are anyway."""
    for scene in scenes:
        settings = scene.usdphys.preview
        for name in ("frequency", "substeps"):
            wanted = getattr(preferences, f"preview_{name}")
            if not settings.is_property_set(name) and wanted != getattr(settings, name):
                setattr(settings, name, wanted)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_load(*_: Any) -> None:
    preferences = current(bpy.context)
    # Scripts that run without a window get the same scenes whatever the preferences are.
    if preferences is not None and not bpy.data.filepath and not bpy.app.background:
        set_preview_defaults(preferences, bpy.data.scenes)


_command: Any = None


def run_command(arguments: list[str]) -> int:
    """What `blender --command usdphys` runs; returns the exit status."""
    from .usdphys_addon import cli

    return cli.main(arguments)


def register() -> None:
    global _command
    bpy.utils.register_class(USDPHYS_Preferences)
    preferences = current(bpy.context)
    _switch_hooks(preferences, None)
    _switch_checks(preferences, None)
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
