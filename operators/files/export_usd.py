# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > USD Physics."""

from typing import Any

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.language import tr
from ...usdphys_addon.bridge.props import nested_bodies
from ...usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from ...usdphys_addon.core.words import phrase
from ...usdphys_addon.playback import guard as preview_guard
from ...usdphys_addon.viewport.wrapped_text import draw_text
from .usd_file import USD_FILTER, NamedExport, UsdExportOperator

#: Largest number of errors listed in the file browser.
MAX_ERRORS = 5
#: Pixels of a box's margins.
BOX = 16


#: Properties of the operator with other names than the options of writing.
_NAMES = {"physx_attributes": "physx_words"}


def _take_preset(operator: Any, _context: bpy.types.Context) -> None:
    """Show the options of the chosen reader."""
    for name, value in _preset(operator.reader).items():
        setattr(operator, name, value)
    if operator.reader == "APPLE" and operator.filepath:
        operator.filepath = f"{operator.filepath.rpartition('.')[0] or operator.filepath}.usdz"


def _preset(identifier: str) -> dict[str, Any]:
    """Properties of the operator that a reader decides."""
    from ...usdphys_addon.core.readers import READERS

    reader = READERS.get(identifier.lower())
    return {_NAMES.get(name, name): value for name, value in reader.options.items()} if reader is not None else {}


class USDPHYS_OT_export_usd(UsdExportOperator, bpy.types.Operator, NamedExport):
    """Write the scene and its physics as UsdPhysics"""

    bl_idname = "usdphys.export_usd"
    bl_label = "Export USD Physics"
    bl_options = {"REGISTER", "PRESET"}
    #: (code, name) of errors that the imported file has itself.
    errors_of_source: frozenset[tuple[str, str]] = frozenset()

    filter_glob = StringProperty(default=USD_FILTER, options={"HIDDEN"})
    reader: Any = EnumProperty(
        name="For",
        description="Program that reads the file: sets the options below for it, adds what it wants, and checks the "
        "written file by its rules",
        items=items_of("reader of a USD file"),
        default="NONE",
        update=_take_preset,
    )
    selected_only = BoolProperty(name="Selected Only", description="Export selected objects only")
    animation = BoolProperty(name="Animation", description="Write the frame range as time samples")
    hierarchy = nested_bodies()
    meters_per_unit = FloatProperty(
        name="m per Unit", default=1.0, min=1e-9, precision=6,
        description="Length of one unit of the file in metres: 1 for metres, 0.01 for centimetres",
    )  # fmt: skip
    kilograms_per_unit = FloatProperty(
        name="kg per Unit", default=1.0, min=1e-9, precision=6,
        description="Mass of one unit of the file in kilograms: 1 for kilograms, 0.001 for grams",
    )  # fmt: skip
    up_axis: Any = EnumProperty(
        name="Up Axis", items=items_of("up axis of a file"), default="Z", description="Axis that points up"
    )
    form: Any = EnumProperty(
        name="Form",
        description="How a scene that was imported from a USD file is written",
        items=items_of("form of an export"),
        default="AUTO",
    )
    runtimes = BoolProperty(
        name="Runtime Variants",
        description="Write a neutral file with the variants PhysX, Newton and MuJoCo. Each variant loads the "
        "settings of one simulator from a folder beside the file, as SimReady requires",
    )
    layers = BoolProperty(
        name="Split into Layers",
        description="Write a folder of layers beside the file: physics, materials, geometry and a mesh library",
    )
    instanceable = BoolProperty(
        name="Instanceable",
        description="Of an asset in layers: meshes with their colliders are instances of those in the library, which "
        "many copies of a robot share in Isaac Lab",
    )
    physx_words = BoolProperty(
        name="PhysX Attributes",
        description="Also write Newton's settings, such as joints that follow others, as PhysX attributes",
    )
    materialx = BoolProperty(
        name="MaterialX",
        description="Also write the materials as networks of MaterialX, where Blender does. Those of an imported file "
        "stay as they are until they are edited",
    )
    thumbnail = BoolProperty(
        name="Thumbnail",
        description="Render a picture of the bodies to .thumbs/256x256 beside the file, where SimReady and asset "
        "browsers look for it",
    )
    strict = BoolProperty(name="Stop at Errors", description="Write nothing where the checks find errors")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        from ... import preferences
        from ...usdphys_addon.checks import live as checks

        chosen = preferences.current(context)
        for name, value in preferences.export_defaults(chosen, context.scene.usdphys.stage).items():
            if not self.properties.is_property_set(name):
                setattr(self, name, value)
        if chosen is not None:
            self.filename_ext = chosen.export_format
        if preview_guard.current() is None and not checks.is_current(context.scene.name):
            checks.check(context.scene, context.view_layer)
        self.find_errors_of_source(context)
        result: set[Any] = super().invoke(context, event)
        return result

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.split_layout()
        self.draw_errors(layout, context)
        from ...usdphys_addon.bridge.identity.remembered import source_file, source_name
        from ...usdphys_addon.exchange import packed_source
        from ...usdphys_addon.system.files import USD_SUFFIXES

        source = source_name(context.scene)
        if source:
            icon = "PACKAGE" if packed_source.is_packed(context.scene) else "FILE"
            layout.label(text=tr(phrase("Imported from {file}", file=source)), icon=icon)
            # Edits are put on a USD file only; other scenes are written as Blender composes them.
            if source_file(context.scene).lower().endswith(USD_SUFFIXES):
                layout.prop(self, "form")
        layout.prop(self, "reader")
        rows = (
            ("selected_only", "animation"), ("meters_per_unit", "kilograms_per_unit", "up_axis"),
            ("hierarchy", "layers", "instanceable", "runtimes", "physx_words", "materialx", "thumbnail", "strict"),
        )  # fmt: skip
        for names in rows:
            column = layout.column()
            for name in names:
                column.prop(self, name)

    def draw_errors(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        """List the errors of the last check, those that came with an imported file apart."""
        from ...usdphys_addon.checks import live as checks
        from ...usdphys_addon.core.words import counted, joined, phrase

        report = checks.report(context.scene.name)
        errors = [issue for issue in report.issues if issue.severity == "error"] if report is not None else []
        if not errors:
            return
        known = [issue for issue in errors if (issue.code, issue.name) in self.errors_of_source]
        new = [issue for issue in errors if issue not in known]
        outcome = phrase("nothing is written") if self.strict and new else phrase("written anyway")
        for listed, title in (
            (new, joined(": ", (counted(len(new), "error"), outcome))),
            (known, phrase("{errors} came with the imported file", errors=counted(len(known), "error"))),
        ):
            if not listed:
                continue
            column = layout.box().column(align=True)
            draw_text(column, title, "CANCEL" if listed is new else "INFO", BOX)
            for issue in listed[:MAX_ERRORS]:
                draw_text(column, issue.short, "DOT", BOX)
            if len(listed) > MAX_ERRORS:
                column.label(text=tr(phrase("and {count} more", count=len(listed) - MAX_ERRORS)), icon="BLANK1")

    def find_errors_of_source(self, context: bpy.types.Context) -> None:
        """Note which errors of the last check the imported file has itself."""
        from ...usdphys_addon.bridge.environment import require_usd
        from ...usdphys_addon.checks import live as checks

        report = checks.report(context.scene.name)
        if report is None or not report.counts.get("error") or not context.scene.usdphys.source.filepath:
            return
        require_usd()
        from ...usdphys_addon.exchange import source_export

        self.errors_of_source = source_export.errors_of_source(context.scene)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import scene_export

        # A script sets properties without the update that shows the preset.
        for name, value in _preset(self.reader).items():
            if not self.properties.is_property_set(name):
                setattr(self, name, value)
        result = scene_export.export_scene(context, self.filepath, self.export_options(), self.form.lower())
        if self.thumbnail:
            from ...usdphys_addon.exchange import thumbnail

            result.issues += thumbnail.write(context, result.path)
        if self.reader != "NONE":
            from ...usdphys_addon.core.readers import READERS
            from ...usdphys_addon.usd import for_reader

            known = {(issue.code, issue.path) for issue in result.issues}
            found = for_reader.finish(result.path, READERS[self.reader.lower()])
            result.issues += [issue for issue in found if (issue.code, issue.path) not in known]
        self.report_result("Wrote {file}: {numbers}", result)
        return {"FINISHED"}

    def export_options(self) -> Any:
        from ...usdphys_addon.core.units import StageUnits, shortest
        from ...usdphys_addon.exchange import usd_export

        units = StageUnits(shortest(self.meters_per_unit), shortest(self.kilograms_per_unit), self.up_axis)
        return usd_export.ExportOptions(
            units, self.hierarchy.lower(), self.selected_only, self.animation, strict=self.strict,
            layers=self.layers, instanceable=self.instanceable, runtimes=self.runtimes, physx_words=self.physx_words,
            proves=self.proves(), materialx=self.materialx,
        )  # fmt: skip


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_export_usd.bl_idname, text="USD Physics (.usd, .usda, .usdc, .usdz)")


CLASSES = (USDPHYS_OT_export_usd,)
