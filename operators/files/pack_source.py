# SPDX-License-Identifier: GPL-3.0-or-later
"""File > External Data: keep the imported USD, and the files that it names, in the .blend, and write them out again."""

from pathlib import Path
from typing import Any

import bpy

from ...usdphys_addon.bridge.environment import expose_pxr
from ...usdphys_addon.bridge.language import tr
from ...usdphys_addon.bridge.typed_props import BoolProperty, StringProperty
from ...usdphys_addon.core.errors import InputError
from ...usdphys_addon.core.words import phrase
from .. import needs
from ..outcome import finish


def _is_packed(context: bpy.types.Context) -> bool:
    from ...usdphys_addon.exchange import packed_source

    return packed_source.is_packed(context.scene)


class USDPHYS_OT_pack_source(bpy.types.Operator):
    """Keep the imported USD file, and the files that it names, in the .blend: an export puts the edits on them even where they are gone"""  # noqa: E501

    bl_idname = "usdphys.pack_source"
    bl_label = "Pack Imported USD"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll(needs.USD, needs.IMPORTED_USD)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import packed_source, source_export
        from ...usdphys_addon.system.files import first_changed

        source = source_export.source_of(context.scene)
        assert source is not None  # see `poll`
        expose_pxr()
        if not source.is_file():
            raise InputError(phrase("'{file}' is gone and cannot be packed; put it back.", file=source))
        if changed := first_changed(context.scene.usdphys.source.files, source.parent):
            text = "'{file}' is no longer what was imported; import it again to pack it."
            raise InputError(phrase(text, file=changed))
        left_out = packed_source.pack(context.scene, source)
        notes = [phrase("'{file}' is left out: it lies on another drive", file=file) for file in left_out]
        size = f"{packed_source.size(context.scene) / 1e6:.2f}"
        return finish(self, phrase("Packed {file}: {size} MB in the .blend", file=source.name, size=size), notes)


class USDPHYS_OT_unpack_source(bpy.types.Operator):
    """Write the imported USD file, and the files that it names, from the .blend into a folder, and refer to them there"""  # noqa: E501

    bl_idname = "usdphys.unpack_source"
    bl_label = "Unpack USD"
    bl_options = {"REGISTER", "UNDO"}

    directory = StringProperty(subtype="DIR_PATH", options={"SKIP_SAVE"})
    filter_folder = BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    poll = needs.poll((_is_packed, "No imported USD is packed in this .blend"))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[Any]:
        from ...usdphys_addon.exchange import packed_source

        if not self.directory:
            raise InputError(phrase("No folder is given to unpack to."))
        file = packed_source.unpack(context.scene, Path(bpy.path.abspath(self.directory)))
        return finish(self, phrase("Unpacked {file}; the scene refers to it", file=file))


def draw_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    from ...usdphys_addon.exchange import packed_source

    layout, size = menu.layout, packed_source.size(context.scene)
    layout.separator()
    layout.operator(USDPHYS_OT_pack_source.bl_idname)
    text = phrase("Unpack Imported USD ({size} MB)", size=f"{size / 1e6:.2f}") if size else "Unpack Imported USD"
    layout.operator(USDPHYS_OT_unpack_source.bl_idname, text=tr(text), translate=False)


CLASSES = (USDPHYS_OT_pack_source, USDPHYS_OT_unpack_source)
