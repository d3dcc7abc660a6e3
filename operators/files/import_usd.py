# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > USD Physics."""

from pathlib import Path
from typing import Any

import bpy
from bpy_extras.io_utils import ImportHelper

from ...usdphys_addon.bridge.known_names import KnownNames
from ...usdphys_addon.bridge.language import tr
from ...usdphys_addon.bridge.typed_props import BoolProperty, CollectionProperty, StringProperty
from ...usdphys_addon.core.words import counted, phrase, tally
from ...usdphys_addon.viewport.wrapped_text import DIALOG, DIALOG_LINE, draw_text
from .usd_file import USD_FILTER, SteppedImport

#: Larger files, bytes, are not opened for the overview in the file browser.
_LARGE = 64 * 2**20


def _overview(filepath: str, choices: tuple[str, ...] = ()) -> Any:
    """Overview of a file's contents; None if no file is chosen or the file is too large."""
    path = Path(bpy.path.abspath(filepath)) if filepath else None
    if path is None or not path.is_file() or path.stat().st_size > _LARGE:
        return None
    from ...usdphys_addon.bridge.environment import expose_pxr

    expose_pxr()
    from ...usdphys_addon.usd import overview as usd_overview

    return usd_overview.overview(path, choices)


def _question(filepath: str) -> str:
    """What is asked before a file is opened that composes very many prims."""
    from ...usdphys_addon.usd.files import composed_size

    return phrase(
        "The references of '{file}' multiply to more than {most} prims. Opening it can take many minutes and all "
        "memory; save your work first.", file=Path(filepath).name, most=f"{composed_size.most_prims():,}",
    )  # fmt: skip


def _as_written(prim_path: str, set_name: str, choice: str) -> str:
    """A variant choice in the syntax of USD paths: /Prim{set=choice}."""
    from ...usdphys_addon.usd.composition import VariantChoice

    return str(VariantChoice(prim_path, set_name, choice))


def _choices(item: Any, _context: bpy.types.Context, _typed: str) -> list[str]:
    return str(item.known).split("\n")


class USDPHYS_PG_variant(KnownNames, bpy.types.PropertyGroup):
    """A variant set of the chosen file. known: its choices, one per line."""

    __slots__ = ()

    prim_path = StringProperty()
    known = StringProperty()
    choice = StringProperty(
        name="Variant", description="Variant to import; empty: the selection of the file", search=_choices
    )


class USDPHYS_OT_import_usd(SteppedImport, bpy.types.Operator, ImportHelper):
    """Import a USD file with its physics into the scene"""

    bl_idname = "usdphys.import_usd"
    bl_label = "Import USD Physics"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob = StringProperty(default=USD_FILTER, options={"HIDDEN"})
    convert_units = BoolProperty(
        name="Convert Units",
        default=True,
        description="Scale the import to the unit of the scene. Off: the scene takes the unit of the file",
    )
    attach = BoolProperty(
        name="Physics Only",
        description="Import no geometry: put the physics on objects of the scene with the same names as the prims",
    )
    prim_path = StringProperty(
        name="Prim Path", description="Import only this prim and the prims below it; empty: the whole file"
    )
    pack = BoolProperty(
        name="Pack Source",
        description="Keep the file, and the files that it names, in the .blend: an export puts the edits on them even "
        "where they are gone",
    )
    variants = StringProperty(
        name="Variants",
        options={"SKIP_SAVE"},
        description="Variant selections, separated by semicolons, such as /Prim{set=choice}",
    )
    variant_sets: Any = CollectionProperty(type=USDPHYS_PG_variant, options={"HIDDEN", "SKIP_SAVE"})
    looked_at = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    asks_first = BoolProperty(
        name="Ask First",
        description="Ask whether to open a file that composes very many prims, and open it then",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        if not self.asks_first:
            return set(ImportHelper.invoke(self, context, event))
        return set(
            context.window_manager.invoke_props_dialog(
                self, width=DIALOG, title=tr("This File Is Very Large"), confirm_text=tr("Open Anyway")
            )
        )

    # ------------------------------------------------------------------ the file browser

    def check(self, _context: bpy.types.Context) -> bool:
        """List the variant sets of a file that was just chosen."""
        if self.looked_at == self.filepath:
            return False
        self.looked_at = self.filepath
        self.variant_sets.clear()
        overview = _overview(self.filepath)
        for one in overview.variant_sets if overview is not None else ():
            item = self.variant_sets.add()
            item.name, item.prim_path, item.choice = one.name, one.prim_path, one.selection
            item.known = "\n".join(one.choices)
        return True

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.split_layout()
        if self.asks_first:
            draw_text(layout.column(align=True), _question(self.filepath), "QUESTION", length=DIALOG_LINE)
            return
        column = layout.column()
        column.prop(self, "attach")
        row = column.row()
        row.active = not self.attach
        row.prop(self, "convert_units")
        row = column.row()
        row.active = not self.attach
        row.prop(self, "prim_path")
        row = column.row()
        row.active = not self.attach
        row.prop(self, "pack")
        if self.looked_at == self.filepath and len(self.variant_sets):
            header, body = layout.panel("USDPHYS_import_variants")
            header.label(text="Variants")
            if body:
                for item in self.variant_sets:
                    body.prop(item, "choice", text=f"{item.prim_path.rsplit('/', 1)[-1]} {item.name}")
        header, body = layout.panel("USDPHYS_import_contents")
        header.label(text="Contents")
        if body:
            self.draw_overview(body.column(align=True))

    def draw_overview(self, column: bpy.types.UILayout) -> None:
        column.use_property_split = False
        from ...usdphys_addon.system.console import printable

        overview = _overview(self.filepath, self.chosen())
        if overview is None:
            draw_text(column, "Choose a USD file of less than 64 MB to see its contents", "NONE")
            return
        if overview.error:
            draw_text(column, overview.error, "ERROR")
            return
        if overview.refusal:
            draw_text(column, overview.refusal, "CANCEL")
            column.separator()
        if overview.outside:
            files, first = counted(len(overview.outside), "file"), printable(overview.outside[0])
            text = phrase("It reads {files} from other folders, such as '{file}'", files=files, file=first)
            draw_text(column, text, "ERROR")
            column.separator()
        units = overview.units
        axis = phrase("{axis} up", axis=units.up_axis)
        sizes = {"meters": f"{units.meters_per_unit:g}", "kilograms": f"{units.kilograms_per_unit:g}"}
        draw_text(column, phrase("{meters} m, {kilograms} kg per unit, {axis}", **sizes, axis=axis), "NONE")
        column.label(text=tr(counted(overview.prims, "prim")))
        for kind, number in overview.counts.items():
            if number:
                column.label(text=tr(tally(number, kind)), icon=_ICONS[kind])
        for kind, number in (("instances", overview.instances), ("point instancers", overview.point_instancers)):
            if number:
                column.label(text=tr(tally(number, kind)))
        if not any(overview.counts.values()):
            column.label(text="No physics in this file", icon="INFO")
        for severity, icon in (("error", "CANCEL"), ("warning", "ERROR")):
            messages = overview.problems(severity)
            if messages:
                column.separator()
                column.label(text=tr(counted(len(messages), severity)), icon=icon)
                for issue in messages[:3]:
                    draw_text(column, f"{issue.path or issue.label}: {issue.code}", "BLANK1")

    def chosen(self) -> tuple[str, ...]:
        """The variant choices in the syntax of USD paths."""
        typed = tuple(filter(None, (text.strip() for text in self.variants.split(";"))))
        if self.looked_at != self.filepath:
            return typed
        return typed + tuple(
            _as_written(item.prim_path, item.name, item.choice) for item in self.variant_sets if item.choice
        )

    # ------------------------------------------------------------------ the import

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import usd_import

        if self.asks_first:
            from ...usdphys_addon.usd.files import composed_size

            composed_size.accept(self.filepath)
        changed = self.chosen() if self.asks_first else self.changed_choices()
        options = usd_import.ImportOptions(self.convert_units, self.prim_path, changed, self.attach, pack=self.pack)
        return self.run(context, usd_import.import_steps(context, self.filepath, options))

    def failed(self, error: Exception) -> set[Any]:
        """Ask, in a window, where the file is refused for the prims that it composes; once."""
        from ...usdphys_addon.usd.files.composed_size import TooManyPrimsError

        if not isinstance(error, TooManyPrimsError) or self.asks_first or not self.is_in_window(bpy.context):
            return super().failed(error)
        bpy.ops.usdphys.import_usd(  # type: ignore[attr-defined]
            "INVOKE_DEFAULT", filepath=self.filepath, convert_units=self.convert_units, attach=self.attach,
            prim_path=self.prim_path, variants=";".join(self.changed_choices()), pack=self.pack,
            asks_first=True,
        )  # fmt: skip
        return {"CANCELLED"}

    def changed_choices(self) -> tuple[str, ...]:
        """The variant choices that differ from the selections of the file."""
        overview = _overview(self.filepath)
        sets = overview.variant_sets if overview else ()
        own = {_as_written(one.prim_path, one.name, one.selection) for one in sets}
        return tuple(choice for choice in self.chosen() if choice not in own)


_ICONS = {
    "scenes": "SCENE_DATA", "bodies": "RIGID_BODY", "colliders": "MESH_ICOSPHERE", "joints": "RIGID_BODY_CONSTRAINT",
    "groups": "GROUP", "materials": "MATERIAL", "articulations": "ARMATURE_DATA",
}  # fmt: skip


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_import_usd.bl_idname, text="USD Physics (.usd, .usda, .usdc, .usdz)")


CLASSES = (USDPHYS_PG_variant, USDPHYS_OT_import_usd)
