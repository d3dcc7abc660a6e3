# SPDX-License-Identifier: GPL-3.0-or-later
"""A plugin of mypy: what the stubs of Blender cannot know of the add-on, or take too narrowly for it."""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import MDEF, SymbolTableNode, Var
from mypy.plugin import AttributeContext, ClassDefContext, MethodContext, MethodSigContext, Plugin
from mypy.typeops import make_simplified_union
from mypy.types import (
    AnyType,
    FunctionLike,
    Instance,
    LiteralType,
    NoneType,
    Type,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

#: Members that are registered, by the class of Blender.
REGISTERED = {
    "bpy.types.Object": ("usdphys",),
    "bpy.types.Scene": ("usdphys",),
    "bpy.types.Material": ("usdphys",),
    "bpy.types.WindowManager": ("usdphys_batch", "usdphys_inspector"),
}
_ANY = AnyType(TypeOfAny.special_form)


def _register(context: ClassDefContext) -> None:
    info = context.cls.info
    for name in REGISTERED[info.fullname]:
        member = Var(name, _ANY)
        member.info = info
        info.names[name] = SymbolTableNode(MDEF, member)


def _items(found: Type) -> list[Type]:
    proper = get_proper_type(found)
    return list(map(get_proper_type, proper.items)) if isinstance(proper, UnionType) else [proper]


def _there(context: AttributeContext) -> Type:
    """Members of a context are there where a poll says so, and the layout where something is drawn."""
    return make_simplified_union([item for item in _items(context.default_attr_type) if not isinstance(item, NoneType)])


def _any(_context: AttributeContext) -> Type:
    """Which kind of space it is follows from where a panel is."""
    return _ANY


def _loose(context: MethodSigContext) -> FunctionLike:
    """Icons are in tables of texts, and mix-ins of operators hand themselves to the window manager."""
    signature = context.default_signature
    names, operators = (Instance(context.api.named_generic_type("builtins.str", []).type, []), "bpy.types.Operator")
    found: list[Type] = []
    for wanted in signature.arg_types:
        items = _items(wanted)
        if any(isinstance(item, LiteralType) for item in items):
            wanted = names
        elif any(isinstance(item, Instance) and item.type.fullname == operators for item in items):
            wanted = _ANY
        found.append(wanted)
    return signature.copy_modified(arg_types=found)


def _properties(_context: MethodContext) -> Type:
    """The properties of an operator are those of its class, which is found by its name."""
    return _ANY


class BlenderPlugin(Plugin):
    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return _register if fullname in REGISTERED else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        if fullname == "bpy.types.Context.space_data":
            return _any
        is_there = fullname.startswith("bpy.types.") and fullname.endswith(".layout")
        return _there if is_there or fullname.startswith("bpy.types.Context.") else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _loose if fullname.startswith(("bpy.types.UILayout.", "bpy.types.WindowManager.")) else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        return _properties if fullname.startswith("bpy.types.UILayout.operator") else None


def plugin(_version: str) -> type[Plugin]:
    return BlenderPlugin
