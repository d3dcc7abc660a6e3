"""A stand-in for Blender's UILayout that writes down what is drawn, and refuses what Blender cannot draw.

Functions, their parameters and the icons are those that `bpy.types.UILayout` declares, so a call that Blender would
refuse fails here, too. On top of that a property must exist on its data, and an operator, a menu, a panel or a list
type must be registered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy

_FUNCTIONS = bpy.types.UILayout.bl_rna.functions
_STATES = bpy.types.UILayout.bl_rna.properties
_PYTHON_TYPES = {"STRING": (str,), "BOOLEAN": (bool,), "INT": (bool, int), "FLOAT": (int, float)}


class RefusedByLayoutError(AssertionError):
    """Blender would not draw this, or draw a gap in its place."""


def _require(is_valid: object, problem: str) -> None:
    if not is_valid:
        raise RefusedByLayoutError(problem)


def operator_type(idname: str) -> Any:
    """RNA of a registered operator."""
    module, _, name = idname.partition(".")
    _require(name in dir(getattr(bpy.ops, module)), f"there is no operator '{idname}'")
    return getattr(getattr(bpy.ops, module), name).get_rna_type()


class ButtonProperties:
    """Values that a layout gives an operator; refuses names and values that the operator does not take."""

    def __init__(self, idname: str) -> None:
        self.__dict__.update(idname=idname, rna=operator_type(idname), values={})

    def __setattr__(self, name: str, value: Any) -> None:
        known = self.rna.properties
        _require(name in known, f"'{self.idname}' has no property '{name}'")
        declared = known[name]
        if declared.type == "ENUM" and not declared.is_enum_flag and len(declared.enum_items):
            _require(value in declared.enum_items, f"'{self.idname}' takes no '{value}' for '{name}'")
        elif declared.type in _PYTHON_TYPES and not getattr(declared, "is_array", False):
            _require(isinstance(value, _PYTHON_TYPES[declared.type]), f"'{self.idname}.{name}' is not {value!r}")
        self.values[name] = value


@dataclass
class Drawn:
    """One thing on the screen. kind: function of the layout. arguments: of that, by name."""

    kind: str
    layout: LayoutRecorder
    arguments: dict[str, Any]
    button: ButtonProperties | None = None
    text: str = ""

    @property
    def data(self) -> Any:
        return self.arguments.get("data")

    @property
    def name(self) -> str:
        """Of the property, operator, menu or panel."""
        for key in ("property", "operator", "menu", "panel", "propname"):
            if key in self.arguments and not (key == "property" and "operator" in self.arguments):
                return str(self.arguments[key])
        return ""

    @property
    def values(self) -> dict[str, Any]:
        """What a button gives its operator."""
        return self.button.values if self.button is not None else {}

    @property
    def icon(self) -> str:
        return str(self.arguments.get("icon", "NONE"))

    @property
    def is_active(self) -> bool:
        """False where it is greyed."""
        return all(above.active for above in self.layout.chain())

    @property
    def is_enabled(self) -> bool:
        return all(above.enabled for above in self.layout.chain())

    def press(self) -> set[str]:
        """Run the operator of a button."""
        module, _, name = self.arguments["operator"].partition(".")
        result: set[str] = getattr(getattr(bpy.ops, module), name)(**self.values)
        return result


@dataclass
class LayoutRecorder:
    """opened: names of the folding parts that are open, beside those that are open by default."""

    kind: str = "root"
    above: LayoutRecorder | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    opened: Collection[str] = ()
    content: list[Drawn | LayoutRecorder] = field(default_factory=list)
    active: bool = True
    enabled: bool = True
    use_property_split: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dataclass_fields__ or name in ("active", "enabled", "use_property_split"):
            _require(name in _STATES, f"a layout has no '{name}'")
            declared = _STATES[name]
            if declared.type == "ENUM":
                _require(value in declared.enum_items, f"'{name}' of a layout is not '{value}'")
            else:
                _require(isinstance(value, _PYTHON_TYPES[declared.type]), f"'{name}' of a layout is not {value!r}")
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or name not in _FUNCTIONS:
            raise AttributeError(f"a layout has no '{name}'")
        return lambda *positional, **named: self._call(name, positional, named)

    # ------------------------------------------------------------------ what is asked of it

    def chain(self) -> Iterator[LayoutRecorder]:
        """This layout and those around it."""
        layout: LayoutRecorder | None = self
        while layout is not None:
            yield layout
            layout = layout.above

    def all(self, kind: str = "") -> list[Drawn]:
        """All that is drawn here and within, from top to bottom."""
        found: list[Drawn] = []
        for one in self.content:
            if isinstance(one, LayoutRecorder):
                found += one.all(kind)
            elif kind in ("", one.kind):
                found.append(one)
        return found

    def labels(self) -> list[str]:
        return [one.text for one in self.all("label") if one.text]

    def props(self, data: Any = None) -> list[str]:
        """Names of the properties that are drawn, of one thing or of all."""
        kinds = ("prop", "prop_search")
        return [one.name for one in self.all() if one.kind in kinds and (data is None or one.data == data)]

    def prop_of(self, data: Any, name: str) -> Drawn:
        """The only place where a property is drawn."""
        kinds = ("prop", "prop_search")
        found = [one for one in self.all() if one.kind in kinds and one.data == data and one.name == name]
        assert len(found) == 1, f"{name}: drawn {len(found)} times"
        return found[0]

    def buttons(self, idname: str = "") -> list[Drawn]:
        """Buttons of an operator, or of all."""
        kinds = ("operator", "operator_menu_enum")
        return [one for one in self.all() if one.kind in kinds and idname in ("", one.arguments["operator"])]

    def button(self, idname: str, **values: Any) -> Drawn:
        """The only button of an operator that gives it these values."""
        found = [one for one in self.buttons(idname) if values.items() <= one.values.items()]
        assert len(found) == 1, f"{idname} {values}: drawn {len(found)} times"
        return found[0]

    # ------------------------------------------------------------------ how it is recorded

    def _call(self, name: str, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        declared = [one for one in _FUNCTIONS[name].parameters if not one.is_output]
        _require(len(positional) <= len(declared), f"{name}: too many arguments")
        arguments = {one.identifier: value for one, value in zip(declared, positional, strict=False)}
        _require(not arguments.keys() & named.keys(), f"{name}: an argument comes twice")
        arguments |= named
        known = {one.identifier: one for one in declared}
        for key, value in arguments.items():
            _require(key in known, f"{name}: there is no argument '{key}'")
            self._check_argument(name, known[key], value)
        for key, one in known.items():
            _require(not one.is_required or key in arguments, f"{name}: '{key}' is missing")
        outputs = {one.identifier for one in _FUNCTIONS[name].parameters if one.is_output}
        if "layout" in outputs:
            return self._within(name, arguments)
        if "layout_body" in outputs:
            header = self._within(f"{name} header", arguments)
            is_open = not arguments.get("default_closed", False) or arguments["idname"] in self._root().opened
            return header, self._within(name, arguments) if is_open else None
        drawn = Drawn(name, self, arguments)
        check = getattr(self, f"_check_{name}", None)
        if check is not None:
            check(drawn)
        if not drawn.text:
            drawn.text = arguments.get("text", "")
        self.content.append(drawn)
        return drawn.button

    def _root(self) -> LayoutRecorder:
        *_, root = self.chain()
        return root

    def _within(self, kind: str, arguments: dict[str, Any]) -> LayoutRecorder:
        made = LayoutRecorder(kind, self, arguments, use_property_split=self.use_property_split)
        self.content.append(made)
        return made

    def _check_argument(self, name: str, declared: Any, value: Any) -> None:
        if declared.type == "ENUM":
            _require(value in declared.enum_items, f"{name}: '{declared.identifier}' is not '{value}'")
        elif declared.type in _PYTHON_TYPES:
            is_none_allowed = declared.type == "STRING" and not declared.is_required and declared.identifier == "text"
            fits = isinstance(value, _PYTHON_TYPES[declared.type]) or (value is None and is_none_allowed)
            _require(fits, f"{name}: '{declared.identifier}' is not {value!r}")
        elif declared.type == "POINTER":
            _require(hasattr(value, "bl_rna"), f"{name}: '{declared.identifier}' is no data of Blender: {value!r}")

    def _check_property(self, data: Any, name: str) -> Any:
        _require(name in data.bl_rna.properties, f"'{data.bl_rna.identifier}' has no property '{name}'")
        return data.bl_rna.properties[name]

    def _check_prop(self, drawn: Drawn) -> None:
        declared = self._check_property(drawn.data, drawn.name)
        drawn.text = drawn.arguments.get("text", declared.name)
        if drawn.arguments.get("expand"):
            is_array = getattr(declared, "is_array", False)
            _require(declared.type == "ENUM" or is_array, f"'{drawn.name}' cannot be expanded")

    def _check_prop_search(self, drawn: Drawn) -> None:
        self._check_prop(drawn)
        searched = self._check_property(drawn.arguments["search_data"], drawn.arguments["search_property"])
        _require(searched.type == "COLLECTION", f"'{searched.identifier}' is no collection")

    def _check_operator(self, drawn: Drawn) -> None:
        idname = drawn.arguments["operator"]
        drawn.button = ButtonProperties(idname)
        drawn.text = drawn.arguments.get("text", drawn.button.rna.name)

    def _check_operator_menu_enum(self, drawn: Drawn) -> None:
        self._check_operator(drawn)
        name = drawn.arguments["property"]
        known = drawn.button.rna.properties if drawn.button is not None else {}
        _require(name in known and known[name].type == "ENUM", f"'{name}' is no choice of the operator")

    def _check_menu(self, drawn: Drawn) -> None:
        cls = getattr(bpy.types, drawn.name, None)
        _require(isinstance(cls, type) and issubclass(cls, bpy.types.Menu), f"there is no menu '{drawn.name}'")

    def _check_popover(self, drawn: Drawn) -> None:
        cls = getattr(bpy.types, drawn.name, None)
        _require(isinstance(cls, type) and issubclass(cls, bpy.types.Panel), f"there is no panel '{drawn.name}'")

    def _check_template_list(self, drawn: Drawn) -> None:
        arguments = drawn.arguments
        cls = getattr(bpy.types, arguments["listtype_name"], None)
        _require(isinstance(cls, type) and issubclass(cls, bpy.types.UIList), f"no list '{arguments['listtype_name']}'")
        listed = self._check_property(arguments["dataptr"], arguments["propname"])
        _require(listed.type == "COLLECTION", f"'{listed.identifier}' is no collection")
        index = self._check_property(arguments["active_dataptr"], arguments["active_propname"])
        _require(index.type == "INT", f"'{index.identifier}' is no index")


# --------------------------------------------------------------------------- what draws


class ContextRecorder:
    """Blender's context, with other members in place of those that are given."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def drawing_part(cls: Any, layout: LayoutRecorder, **members: Any) -> Any:
    """What a panel, menu or operator is while it draws: its own methods without Blender's half of it."""
    body: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("usdphys_ext"):
            body |= {key: value for key, value in vars(base).items() if key not in ("__dict__", "__weakref__")}
    body.pop("layout", None)
    part = type(cls.__name__, (), body)()
    part.__dict__.update(members, layout=layout)
    return part


def is_shown(cls: Any, context: Any) -> bool:
    """Whether Blender would show a panel."""
    poll = getattr(cls, "poll", None)
    return poll is None or bool(poll(context))


def draw(cls: Any, context: Any = None, *, function: str = "draw", opened: Collection[str] = ()) -> LayoutRecorder:
    """Draw a panel or menu. function: "draw", "draw_header" or "draw_header_preset"."""
    layout = LayoutRecorder(opened=opened)
    getattr(drawing_part(cls, layout), function)(bpy.context if context is None else context)
    return layout


# --------------------------------------------------------------------------- how wide it is


def is_narrow(one: Drawn | LayoutRecorder) -> bool:
    """A button or a blank that is as wide as its icon."""
    if isinstance(one, LayoutRecorder):
        return bool(one.content) and all(map(is_narrow, one.content))
    return one.kind in ("operator", "label") and not one.text


def widths(layout: LayoutRecorder, width: float) -> Iterator[tuple[Drawn, float]]:
    """What is drawn, each with the width that Blender gives it in a layout of a width, at a UI scale of 1."""
    shares = [width] * len(layout.content)
    if layout.kind == "row":
        narrow = [is_narrow(one) for one in layout.content]
        rest = (width - 20.0 * sum(narrow)) / max(1, len(narrow) - sum(narrow))
        shares = [20.0 if is_so else rest for is_so in narrow]
    elif layout.kind == "split":
        first = layout.arguments.get("factor", 0.5)
        others = max(1, len(shares) - 1)
        shares = [width * first, *[width * (1.0 - first) / others] * others][: len(shares)]
    elif layout.kind == "grid_flow":
        shares = [width / layout.arguments["columns"]] * len(shares)
    elif layout.kind == "box":
        shares = [width - 12.0] * len(shares)
    for one, share in zip(layout.content, shares, strict=True):
        if isinstance(one, LayoutRecorder):
            yield from widths(one, share)
        else:
            yield one, share
