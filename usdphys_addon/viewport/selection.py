# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the selection: they show the values of the active object, and set those of all that are selected.

Nothing is stored in them. They are on the scene, because Blender makes undo steps for properties of scenes and objects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Object, Scene

from ..authoring import selected, value_keys
from ..authoring.selected import Value
from ..bridge import scene_watch, stand_ins
from ..bridge.choices import items_of
from ..bridge.known_names import KnownNames
from ..bridge.roles import applies, body_at, is_body
from ..playback import baked_objects
from . import readout
from .lengths import METERS, own_unit
from .shown_values import (
    COMPUTED,
    INFINITE,
    NEGATIVE,
    PLACES,
    SAME,
    SURFACE,
    VALUES,
    any_of,
    name_of,
    of_active,
    text_name,
)

NAME = "usdphys_selection"
#: The largest number that a property of Blender holds.
_LARGEST = float(np.finfo(np.float32).max)
#: A typed number, with a unit.
_NUMBER = re.compile(r"\s*(\d+(?:[.,]\d*)?(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)\s*")
_SIGNED = re.compile(r"[+-]?\d+(?:[.,]\d*)?(?:[eE][+-]?\d+)?")
#: Kilograms of the units of masses.
_KILOGRAMS = {"": 1.0, "kg": 1.0, "g": 1e-3, "t": 1e3, "mg": 1e-6, "lb": 0.45359237, "oz": 0.028349523125}
#: In `differing`, where the selected objects have not the same role.
ROLE = "role"
#: The same, where their colliders are not of the same shapes.
SHAPES = "shapes"
#: So many of the selected objects are looked at for computed values that differ: of more it would take too long.
_COMPARED = 100
#: In a scene of so many objects, what joints hold an object is found while a panel is drawn.
_FEW = 200


def _text_over(name: str, label: str, description: str, read: Callable[[str], Any]) -> Any:
    """The property of a text in place of a value. read: the value of a text; None for one that changes nothing."""

    def set_value(_group: Any, text: str) -> None:
        value = read(text)
        if value is not None:
            put(name, value)

    return bpy.props.StringProperty(
        name=label, description=description, get=lambda _group: "", set=set_value, options={"SKIP_SAVE"}
    )


def _number_in(text: str, units: Mapping[str, float] = {"": 1.0}) -> float | None:
    """The positive number of a text; None for anything else. units: those that may be typed, by their names."""
    found = _NUMBER.fullmatch(text)
    unit = units.get(found[2]) if found is not None else None
    if found is None or unit is None:
        return None
    value = float(found[1].replace(",", ".")) * unit
    return value if 0.0 < value <= _LARGEST else None


def _length_in(text: str) -> float | None:
    """The length of a text, such as "2" or "30 cm", in Blender units; None for anything else."""
    settings = bpy.context.scene.unit_settings
    if settings.system == "NONE":
        return _number_in(text)
    meters = _number_in(text, {**METERS, "": METERS[own_unit(settings)]})
    return None if meters is None else meters / (settings.scale_length or 1.0)


def _angle_in(text: str) -> float | None:
    """The angle of a text in radians, in the unit of the scene; None for anything else."""
    degree = math.radians(1.0)
    own = degree if bpy.context.scene.unit_settings.system_rotation == "DEGREES" else 1.0
    return _number_in(text.rstrip().removesuffix("°"), {"": own, "deg": degree, "rad": 1.0})


def _vector_in(text: str, *, is_positive: bool = False) -> tuple[float, ...] | None:
    """The three numbers of a text, such as "0, 0, 1.5" or "0 0 1,5"; None for anything else."""
    for parts in (text.split(";"), text.split(), text.split(",")):
        found = [_SIGNED.fullmatch(part.strip(" ,")) for part in parts]
        values = tuple(float(one[0].replace(",", ".")) for one in found if one is not None)
        if len(values) == len(parts) == 3:
            least = min(values) if is_positive else 1.0
            return values if least > 0.0 and max(map(abs, values)) <= _LARGEST else None
    return None


def put(name: str, value: Any) -> None:
    """Author a value on all selected objects that can have it."""
    context = bpy.context
    objects = selected.having(context, VALUES[name].need)
    if objects:
        VALUES[name].write(context, objects, value)


def unset(context: Context, name: str) -> int:
    """Take a value of the objects back, on all selected ones. Returns how many had it."""
    if name not in PLACES:
        return 0
    path, field = PLACES[name]
    groups = [selected.group_at(obj, path) for obj in selected.having(context, VALUES[name].need)]
    groups_set = [group for group in groups if group is not None and group.is_property_set(field)]
    for group in groups_set:
        group.property_unset(field)
    return len(groups_set)


def toggle_key(context: Context, name: str) -> tuple[int, bool]:
    """Key a value of all selected objects in the current frame, or take the keyframes away; see `value_keys.toggle`.

    A surface that others share, or that is only assumed, gets a material of its own first.
    """
    value = VALUES[name]
    objects = selected.having(context, value.need)
    if name in SURFACE:
        selected.own_surfaces(context, objects, value)
    places = {tuple(found): obj for obj in objects if (found := value.places(obj))}
    numbers = {found[0].owner.session_uid: _effective(name, obj) for found, obj in places.items()}
    return value_keys.toggle(
        map(list, places), context.scene.frame_current, lambda place: numbers[place.owner.session_uid],
        current(context).bl_rna.properties[name].name,
    )  # fmt: skip


def _effective(name: str, obj: Object) -> Any:
    """The value of an object, or what is computed where it is not authored; None where that is not possible."""
    value = VALUES[name]
    if name not in COMPUTED or (applies(obj, "mass") and any_of(value.read(obj))):
        return value.read(obj)
    computed = readout.compute_mass(bpy.context, obj.name)
    return None if computed.problem else getattr(computed, COMPUTED[name])


def compute_differing(context: Context, _name: str) -> frozenset[str]:
    """Names of the properties whose values are not the same for all selected objects."""
    found = {name for name, value in VALUES.items() if _differs(selected.having(context, value.need), value)}
    return frozenset(found | _differing_role(selected.having(context, "any")))


def _differing_role(objects: Iterable[Any]) -> frozenset[str]:
    return frozenset({ROLE} if len(set(map(selected.role_of, objects))) > 1 else ())


def compute_differing_matter(context: Context, _name: str) -> frozenset[str]:
    """Names of what is computed, and not the same for all selected objects. Values that are authored count, too."""
    chosen = selected.having(context, "any")[:_COMPARED]
    solid = [obj for obj in chosen if is_body(obj) or selected.has_colliders(obj)]
    found: set[str] = set()
    firsts: dict[str, Any] = {}
    for obj, (mass, shapes) in zip(solid, readout.matter_of(context, solid), strict=True):
        values: dict[str, Any] = {SHAPES: shapes} if shapes else {}
        if is_body(obj) and not mass.problem:
            values |= {name: getattr(mass, field) for name, field in COMPUTED.items()}
        for name, value in values.items():
            first = firsts.setdefault(name, value)
            is_same = first == value if name == SHAPES else np.allclose(first, value, rtol=1e-5, atol=1e-7)
            found |= set() if is_same else {name}
    return frozenset(found)


class Articulation(NamedTuple):
    """What an articulation root makes. joints: 0 where nothing is one. is_fixed: to the world."""

    bodies: int
    joints: int
    is_fixed: bool


def compute_articulation(context: Context, name: str) -> Articulation | None:
    """The articulation of a root, as simulators read it; None for an object without one."""
    from ..bridge import scene_read
    from ..simulation import articulations

    obj = bpy.data.objects.get(name)
    if obj is None or not applies(obj, "articulation_root"):
        return None
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    paths = {path for path, site in reading.sites.items() if site.obj == obj}
    found = articulations.joints_by_root(reading.model)
    joints = [joint for path in paths for joint in found.get(path, ())]
    ends = {end for joint in joints for end in (joint.body0, joint.body1)}
    return Articulation(len(ends - {articulations.WORLD}), len(joints), articulations.WORLD in ends)


def articulation_of(obj: Object) -> Articulation | None:
    """For a draw: the articulation of a root as last computed; None where it is not known yet."""
    found: Articulation | None = readout.ask("articulation", obj.name)
    return found


class Held(NamedTuple):
    """What a collection instance shows."""

    bodies: int
    joints: int


def compute_held(_context: Context, name: str) -> Held | None:
    """The physics inside of an instance; None for an object that is none."""
    obj = bpy.data.objects.get(name)
    inside: list[Object] = [] if obj is None else stand_ins.held_by(obj)
    return Held(sum(map(is_body, inside)), sum(applies(one, "joint") for one in inside)) if inside else None


def held_by(obj: Object) -> Held | None:
    """For a draw: the physics inside of an instance as last computed; None where it is not known yet."""
    found: Held | None = readout.ask("held", obj.name) if stand_ins.is_instance(obj) else None
    return found


def compute_joints(context: Context, name: str) -> tuple[str, ...]:
    """Names of the joints that hold an object, or what is below it."""
    obj: Any = bpy.data.objects.get(name)
    if obj is None:
        return ()
    holds = {obj, *([] if (body := body_at(obj)) is None else [body])}
    found = []
    for joint in context.view_layer.objects:
        if applies(joint, "joint"):
            ends = [end for side in (0, 1) if (end := getattr(joint.usdphys.joint, f"body{side}")) is not None]
            if any(end in holds or body_at(end) in holds for end in ends):
                found.append(joint.name)
    return tuple(sorted(found))


def joints_of(obj: Object) -> tuple[str, ...]:
    """For a draw: `compute_joints` as last computed; empty where it is not known yet."""
    known: tuple[str, ...] | None = readout.ask("joints", obj.name)
    # Blender counts the objects of a view layer one by one.
    if known is None and len(list(islice(bpy.context.view_layer.objects, _FEW + 1))) <= _FEW:
        # Buttons that come a moment later would move what is below them under the mouse.
        return compute_joints(bpy.context, obj.name)
    return known or ()


def compute_baked(_context: Context, name: str) -> int:
    """Number of objects of a scene that a bake has keyed, or that play its points."""
    return len(baked_objects.baked(bpy.data.scenes[name]))


def baked_in(scene: Scene) -> int:
    """For a draw: `compute_baked` as last computed; 0 where it is not known yet."""
    return int(readout.ask("baked", scene.name) or 0)


def _differs(objects: list[Any], value: Value) -> bool:
    first = value.read(objects[0]) if objects else None
    return any(value.read(obj) != first for obj in objects[1:])


def _declared() -> Iterator[tuple[str, Any]]:
    """(name, property) of all, in the order of the tables."""
    number = bpy.props.FloatProperty
    yield "mass", _virtual("mass", number, name="Mass (kg)", min=0.0, precision=3, description=(
        "Mass of the whole body. It is computed from shape and density until you type one"
    ))  # fmt: skip
    yield text_name("mass"), _text_over("mass", "Mass (kg)", (
        "Mass of the whole body, such as 2.5 or 300 g. It is not computed from shape and density"
    ), partial(_number_in, units=_KILOGRAMS))  # fmt: skip
    yield "friction", _virtual("friction", number, name="Friction", min=0.0, soft_max=1.0, precision=2, description=(
        "Friction of the surface, at rest and sliding. It belongs to the physics material of the object. "
        "One that others share is made single"
    ))  # fmt: skip
    yield "bounce", _virtual("bounce", number, name="Bounce", min=0.0, soft_max=1.0, precision=2, description=(
        "How much of its speed a body keeps when it bounces. It belongs to the physics material of the object. "
        "One that others share is made single"
    ))  # fmt: skip
    yield "damping", _virtual("damping", number, name="Damping", min=0.0, soft_max=1.0, precision=2, description=(
        "Share of its speed that the body loses each second. It is a setting of simulators"
    ))  # fmt: skip
    yield "surface", _virtual("surface", bpy.props.StringProperty, name="Surface", description=(
        "Material whose friction and bounce the object has: for physics only, else the first physical one of its slots"
    ))  # fmt: skip
    yield "self_collision", _virtual("self_collision", bpy.props.BoolProperty, name="Links Collide", description=(
        "Bodies of the articulation collide with each other. It is a setting of simulators"
    ))  # fmt: skip
    yield "group", _virtual("group", bpy.props.StringProperty, name="Group", description=(
        "Collision group of the object; a new name makes one; empty: it collides with everything"
    ))  # fmt: skip
    yield "mover", _virtual("mover", bpy.props.EnumProperty, name="Moves By", items=items_of("mover of a joint"),
                            description="What moves the joint")  # fmt: skip
    yield "is_limited", _virtual("is_limited", bpy.props.BoolProperty, name="Limits", description=(
        "The joint moves within a range"
    ))  # fmt: skip
    for _, path, cls, names in SAME:
        for field in names:
            name = name_of(path, field)
            declared = cls.__annotations__[field]
            yield name, _like(name, declared)
            words = declared.keywords
            if field in INFINITE:
                yield text_name(name), _text_over(name, words["name"], words["description"], _number_in)
            if field in NEGATIVE:
                limit_in = _length_in if words.get("unit") == "LENGTH" else _angle_in
                yield text_name(name), _text_over(name, words["name"], words["description"], limit_in)
            if name in COMPUTED:
                read = partial(_vector_in, is_positive=field == "diagonal_inertia")
                yield text_name(name), _text_over(name, words["name"], words["description"], read)


def _like(name: str, declared: Any) -> Any:
    """A property with the label, tooltip and unit of another one."""
    kept = {key: value for key, value in declared.keywords.items() if key not in ("default", "override", "update")}
    return _virtual(name, declared.function, default=declared.keywords.get("default"), **kept)


def _virtual(key: str, make: Any, /, *, default: Any = None, **keywords: Any) -> Any:
    numbers = {item[0]: number for number, item in enumerate(keywords.get("items", ()))}
    identifiers = {number: identifier for identifier, number in numbers.items()}
    size = keywords.get("size", 0)
    empty: Any = (0.0,) * size if size else {"StringProperty": "", "EnumProperty": 0, "BoolProperty": False}.get(
        make.__name__, 0.0
    )  # fmt: skip

    def get(_group: Any) -> Any:
        value = of_active().value(key)
        if value is None:
            return empty if default is None or numbers else default
        return numbers.get(value, 0) if numbers else value

    def set_all(_group: Any, value: Any) -> None:
        put(key, identifiers[value] if numbers else value)

    return make(**keywords, get=get, set=set_all, options={"SKIP_SAVE"})


class USDPHYS_Selection(KnownNames, bpy.types.PropertyGroup):
    __slots__ = ()
    __annotations__ = dict(_declared())


class Declared(NamedTuple):
    """A property of the selection. name: its label. type: as Blender says it."""

    name: str
    type: str


_TYPES = {"FloatProperty": "FLOAT", "FloatVectorProperty": "FLOAT", "IntProperty": "INT", "BoolProperty": "BOOLEAN",
          "EnumProperty": "ENUM", "StringProperty": "STRING"}  # fmt: skip
#: The properties by their identifiers. A draw asks for them again and again, and Blender makes new objects each time.
DECLARED = {
    name: Declared(one.keywords["name"], _TYPES[one.function.__name__])
    for name, one in USDPHYS_Selection.__annotations__.items()
}


def current(context: Context) -> Any:
    """The properties of the selection; None without a scene."""
    return getattr(context.scene, NAME, None) if context.scene is not None else None


#: (what the view layer was, number of the selected objects in it).
_counted: tuple[Any, int] = (None, 0)


def _number_selected(context: Context) -> int:
    """Number of selected objects of the view layer. Blender looks through all objects for it: once for each change."""
    global _counted
    scene, layer = context.scene, context.view_layer
    assert scene is not None and layer is not None
    stamp = scene_watch.moves(), scene.name, layer.name
    if _counted[0] != stamp:
        objects: Any = layer.objects
        _counted = stamp, len(objects.selected)
    return _counted[1]


def drawn_for(context: Context, obj: Object) -> tuple[int, Sequence[Object]]:
    """For a draw: how many objects the panel is about, and these objects, but none of more than are compared.

    obj: the active object, which stands alone if it is not selected.
    """
    number = _number_selected(context) if obj.select_get() else 1
    if number < 2:
        return 1, (obj,)
    space: Any = context.space_data
    if getattr(space, "local_view", None) is None and number > _COMPARED:
        return number, ()
    # Blender asks each object of the view layer for these.
    objects = context.selected_objects
    return len(objects), objects


def differing(obj: Object, chosen: Sequence[Object], number: int = 0) -> frozenset[str]:
    """For a draw: names of the properties that differ, as last computed.

    chosen: what is selected, with obj. number: of what is selected, where it is too much to be compared.
    """
    others = max(number, len(chosen)) - 1
    # What is known of another selection is not shown for this one.
    key = f"{others} {obj.name}"
    authored: frozenset[str] = readout.ask("differing", key) or frozenset()
    if 0 < len(chosen) <= _COMPARED:
        # A line that came a moment later would move the buttons of the roles under the mouse.
        authored = authored - {ROLE} | _differing_role(chosen)
    computed: frozenset[str] | None = readout.ask("differing matter", key)
    if computed is None:
        return authored
    return (authored if others >= _COMPARED else authored - set(COMPUTED)) | computed


def register() -> None:
    bpy.utils.register_class(USDPHYS_Selection)
    setattr(bpy.types.Scene, NAME, bpy.props.PointerProperty(type=USDPHYS_Selection))
    readout.know("differing", compute_differing, needs_poses=False)
    readout.know("differing matter", compute_differing_matter, needs_poses=False)
    readout.know("articulation", compute_articulation)
    readout.know("joints", compute_joints, needs_poses=False)
    readout.know("held", compute_held, needs_poses=False)
    readout.know("baked", compute_baked, needs_poses=False)


def unregister() -> None:
    delattr(bpy.types.Scene, NAME)
    bpy.utils.unregister_class(USDPHYS_Selection)
