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

#: Members that the add-on registers, or that some kinds of a class have, by the class of Blender.
MEMBERS = {
    "bpy.types.ID": ("usdphys",),
    "bpy.types.Bone": ("usdphys",),
    "bpy.types.Modifier": ("object",),
    "bpy.types.Constraint": ("chain_count", "target", "use_tail"),
    "bpy.types.WindowManager": ("usdphys_batch", "usdphys_inspector", "usdphys_proof"),
}
#: Groups and properties, whose members their class or name tells; what numpy and tuples take as arrays.
OPEN = {
    *(f"bpy.types.{name}" for name in ("OperatorProperties", "PropertyGroup", "bpy_prop_array")),
    *(f"mathutils.{name}" for name in ("Color", "Euler", "Matrix", "MatrixAccess", "Quaternion", "Vector")),
}
#: Members whose type or texts follow from something else.
OF_ANY_TYPE = {"data", "rotation_axis_angle", "rotation_mode", "type"}
#: Members that are there, by the end of their full names, besides those of a context.
THERE = {
    *("Object.pose", "Object.animation_data", "bpy_struct.id_data", "Depsgraph.scene"),
    *("Scene.collection", "Scene.cursor", "Window.scene", "Window.screen", "Window.view_layer", "ViewLayer.depsgraph"),
}
_ANY = AnyType(TypeOfAny.special_form)


def _add_members(context: ClassDefContext) -> None:
    info = context.cls.info
    for name in MEMBERS[info.fullname]:
        member = Var(name, _ANY)
        member.info = info
        info.names[name] = SymbolTableNode(MDEF, member)


def _items(found: Type) -> list[Type]:
    proper = get_proper_type(found)
    return list(map(get_proper_type, proper.items)) if isinstance(proper, UnionType) else [proper]


def _open(context: ClassDefContext) -> None:
    context.cls.info.fallback_to_any = True


def _there(context: AttributeContext) -> Type:
    """Members of a context are there where a poll says so, and the layout where something is drawn."""
    return _without_none(context.default_attr_type)


def _any(_context: AttributeContext) -> Type:
    """Which kind of space or of data it is follows from where a panel is, and from the type of an object."""
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


def _without_none(found: Type) -> Type:
    return make_simplified_union([item for item in _items(found) if not isinstance(item, NoneType)])


def _returned(context: MethodContext) -> Type:
    """Blender always returns the copy of an object, and the properties of a button's operator."""
    return _without_none(context.default_return_type)


class BlenderPlugin(Plugin):
    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        if fullname in OPEN:
            return _open
        return _add_members if fullname in MEMBERS else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        if not fullname.startswith("bpy.types."):
            return None
        owner, _, member = fullname.removeprefix("bpy.types.").partition(".")
        if (owner == "Object" and member in OF_ANY_TYPE) or fullname == "bpy.types.Context.space_data":
            return _any
        is_there = owner == "Context" or member == "layout" or f"{owner}.{member}" in THERE
        return _there if is_there else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _loose if fullname.startswith(("bpy.types.UILayout.", "bpy.types.WindowManager.")) else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        is_copy = fullname in ("bpy.types.Object.copy", "bpy.types.ID.copy")
        return _returned if is_copy or fullname.startswith("bpy.types.UILayout.operator") else None


def plugin(_version: str) -> type[Plugin]:
    return BlenderPlugin
