"""A plugin of mypy for what the stubs of Blender do not know of this add-on.

- The properties that it registers on Blender's classes, and those of groups of properties. Their values are of no
  type: which fields they have, the tables of schemas say while Blender runs.
- Vectors and arrays go into numpy and tuples.
- What is never None where the add-on runs, such as the scene of a context.
- The data of an object, of which the type of the object says what it is.
- Icons, identifiers of enumerations and the like are plain texts in layouts.
"""

from collections.abc import Callable

from mypy.nodes import MDEF, SymbolTableNode, Var
from mypy.plugin import AttributeContext, ClassDefContext, MethodSigContext, Plugin
from mypy.types import AnyType, FunctionLike, LiteralType, NoneType, Type, TypeOfAny, UnionType, get_proper_type

#: Members by the full names of classes.
REGISTERED = {
    "bpy.types.ID": ("usdphys",),
    "bpy.types.Bone": ("usdphys",),
    "bpy.types.WindowManager": ("usdphys_batch", "usdphys_inspector"),
}
#: Classes whose members are not known before Blender runs, and those that numpy takes as arrays, tuples as iterables.
OPEN = {
    "bpy.types.PropertyGroup",
    "bpy.types.OperatorProperties",
    "bpy.types.bpy_prop_array",
    *(f"mathutils.{name}" for name in ("Color", "Euler", "Matrix", "MatrixAccess", "Quaternion", "Vector")),
}
THERE = {
    "Context": {"collection", "preferences", "scene", "tool_settings", "view_layer", "window_manager", "workspace"},
    "Menu": {"layout"},
    "Object": {"animation_data", "pose"},
    "Operator": {"layout"},
    "Panel": {"layout"},
    "Scene": {"collection", "cursor"},
    "UIList": {"layout"},
    "UILayout": {"operator"},
    "Window": {"scene", "screen", "view_layer"},
    "bpy_struct": {"id_data"},
}
OF_ANY_TYPE = {"Object": {"data", "rotation_axis_angle", "rotation_mode", "type"}}


def split(fullname: str) -> tuple[str, str]:
    """(class of bpy.types, member) that a name is of; empty for other names."""
    parts = fullname.removeprefix("bpy.types.").split(".")
    return (parts[0], parts[1]) if fullname.startswith("bpy.types.") and len(parts) == 2 else ("", "")


class BlenderPlugin(Plugin):
    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        if fullname in OPEN:
            return open_up
        return add_registered if fullname in REGISTERED else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        owner, member = split(fullname)
        if member in OF_ANY_TYPE.get(owner, ()):
            return any_type
        return without_none if member in THERE.get(owner, ()) else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return with_plain_texts if split(fullname)[0] == "UILayout" else None


def add_registered(context: ClassDefContext) -> None:
    owner = context.cls.info
    for name in REGISTERED[owner.fullname]:
        variable = Var(name, AnyType(TypeOfAny.explicit))
        variable.info = owner
        owner.names[name] = SymbolTableNode(MDEF, variable)


def open_up(context: ClassDefContext) -> None:
    context.cls.info.fallback_to_any = True


def any_type(context: AttributeContext) -> Type:
    return AnyType(TypeOfAny.explicit)


def without_none(context: AttributeContext) -> Type:
    kind = get_proper_type(context.default_attr_type)
    if not isinstance(kind, UnionType):
        return kind
    return UnionType.make_union([item for item in kind.items if not isinstance(get_proper_type(item), NoneType)])


def with_plain_texts(context: MethodSigContext) -> FunctionLike:
    signature = context.default_signature
    kinds = [AnyType(TypeOfAny.explicit) if has_literals(kind) else kind for kind in signature.arg_types]
    return signature.copy_modified(arg_types=kinds)


def has_literals(kind: Type) -> bool:
    proper = get_proper_type(kind)
    return isinstance(proper, LiteralType) or (isinstance(proper, UnionType) and any(map(has_literals, proper.items)))


def plugin(version: str) -> type[Plugin]:
    return BlenderPlugin
