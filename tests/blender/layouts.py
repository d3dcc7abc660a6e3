"""What a panel or a menu shows, written down instead of drawn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy


class Layout:
    """Stands for a layout and all rows and columns in it.

    operators: (idname, icon, properties that the button sets). menus: idnames. labels: texts.
    fields: (group, property).
    Fails on an operator or an icon that does not exist.
    """

    def __init__(self) -> None:
        self.operators: list[tuple[str, str, SimpleNamespace]] = []
        self.menus: list[str] = []
        self.labels: list[str] = []
        self.fields: list[tuple[Any, str]] = []

    def __getattr__(self, name: str) -> Any:
        assert name in bpy.types.UILayout.bl_rna.functions, name
        return lambda *_, **__: self

    def operator(self, idname: str, text: str | None = None, icon: str = "NONE", **_options: Any) -> SimpleNamespace:
        folder, _, name = idname.partition(".")
        assert name in dir(getattr(bpy.ops, folder)), idname
        assert icon in bpy.types.UILayout.bl_rna.functions["prop"].parameters["icon"].enum_items, icon
        made = SimpleNamespace()
        self.operators.append((idname, icon, made))
        return made

    def operator_menu_enum(self, idname: str, _property: str, **options: Any) -> SimpleNamespace:
        return self.operator(idname, **options)

    def menu(self, idname: str, **_options: Any) -> None:
        self.menus.append(idname)

    def label(self, text: str = "", **_options: Any) -> None:
        self.labels.append(text)

    def prop(self, group: Any, name: str, **_options: Any) -> None:
        self.fields.append((group, name))


def drawn(cls: Any) -> Layout:
    """What a panel or a menu shows in the context of now."""
    layout = Layout()
    cls.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout
