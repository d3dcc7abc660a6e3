# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model has beside bodies, colliders and joints, for a text that is written anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..core import frames
from ..urdf.build import Part
from ..urdf.markup import Element
from . import read
from .values import Actuator, Model

#: Kind of the part that an attribute names.
_NAMES = {
    "joint": "joint", "joint1": "joint", "joint2": "joint", "jointinparent": "joint", "body": "body", "body1": "body",
    "body2": "body", "geom": "geom", "geom1": "geom", "geom2": "geom", "site": "site", "site1": "site", "site2": "site",
    "sidesite": "site", "cranksite": "site", "slidersite": "site", "refsite": "site", "tendon": "tendon",
    "tendon1": "tendon", "tendon2": "tendon", "actuator": "actuator", "plugin": "plugin", "instance": "instance",
}  # fmt: skip
#: Attributes that name what a new text does not have.
_LOST = frozenset({"camera", "mesh", "hfield", "flex", "skin", "texture"})
_TYPES = {"body": "body", "xbody": "body", "geom": "geom", "site": "site"}
#: Sections that are one element, that go along whole, and of whose elements some do.
SINGLE = ("size", "statistic")
WHOLE = ("extension", "visual", "custom")
PARTS = ("contact", "equality", "tendon", "actuator", "sensor")


@dataclass(slots=True)
class Spring:
    """Of a joint, beside its servos. damping: where several joints are one of USD. force: range of its actuators."""

    stiffness: float = 0.0
    position: float = 0.0
    damping: float = 0.0
    force: tuple[float, float] | None = None


@dataclass(slots=True)
class Further:
    """seen: what is to be seen. image: gives the name of a copy of an image; None for one that MuJoCo cannot read.

    actuators: with paths as targets. springs: by path and degree of freedom of a joint. sites: names by path. joints:
    names by path and degree of freedom, "free" for that of a free body. words: further attributes, of geoms by path, of
    joints by name. source: the model that was imported, of which further elements are kept.
    """

    seen: list[Part] = field(default_factory=list)
    image: Callable[[Path], str | None] = lambda _file: None
    actuators: list[Actuator] = field(default_factory=list)
    springs: dict[tuple[str, str], Spring] = field(default_factory=dict)
    sites: dict[str, str] = field(default_factory=dict)
    joints: dict[tuple[str, str], str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    source: Model | None = None


def elements(source: Model, section: str) -> Iterator[Element]:
    """The elements of a section that no body, joint or servo stands for, with the attributes of their classes."""
    if section in SINGLE or section == "visual":
        yield from _merged(source.root.findall(section), section)
        return
    ropes = {id(rope.element) for rope in source.ropes}
    for one in source.root.findall(section):
        for child in one.children:
            if section in WHOLE or (_is_further(section, child) and id(child) not in ropes):
                tag = section if section in ("actuator", "equality", "tendon") else child.tag
                attributes = read.with_class(source, child, tag)
                for word in ("class", "material", *(("width", "rgba") if child.tag == "fixed" else ())):
                    attributes.pop(word, None)
                yield Element(child.tag, attributes, child.children, child.text)


def differing(one: Model, other: Model) -> list[tuple[str, str, str, str]]:
    """(element, attribute, said, other) where two models differ in what no body, joint or servo stands for: elements by
    their tag and name, or number. What moves nothing is left out."""
    found = []
    for section in ("contact", "equality", "tendon", "actuator"):
        here, there = (_flattened(model, section) for model in (one, other))
        for place in {**here, **there}:
            said, others = here.get(place, {}), there.get(place, {})
            for attribute in {**said, **others}:
                values = said.get(attribute, ""), others.get(attribute, "")
                if values[0].split() != values[1].split():
                    found.append((place, attribute, *values))
    return found


def _flattened(model: Model, section: str) -> dict[str, dict[str, str]]:
    """The attributes of the further elements of a section, and of what is in them, by tag and name or number."""
    found: dict[str, dict[str, str]] = {}
    for element in elements(model, section):
        for one in element.walk():
            number = sum(place.startswith(f"{one.tag} ") for place in found) + 1
            found[f"{one.tag} {one.get('name') or number}"] = dict(one.attributes)
    return found


def _merged(found: list[Element], section: str) -> Iterator[Element]:
    """One element of each tag: included files may have some of them again."""
    merged: dict[str, Element] = {}
    every = found if section in SINGLE else [child for parent in found for child in parent.children]
    for one in every:
        merged.setdefault(one.tag, Element(one.tag)).attributes.update(one.attributes)
    yield from merged.values()


def keys(model: Model) -> list[Element]:
    """The elements of all keyframes."""
    return [child for one in model.root.findall("keyframe") for child in one.children]


def keyframes(source: Model, made: Model, joints: Mapping[str, tuple[str, float]]) -> list[Element]:
    """The keyframes of a model for the joints of another one. joints: name in the source and sign, by name."""
    start, qpos, velocity = _defaults(made), addresses(source, SIZES), addresses(source, _SPEEDS)
    found = []
    for element in keys(source):
        given = {word: [float(part) for part in (element.get(word) or "").split()] for word in ("qpos", "qvel", "ctrl")}
        key: dict[str, str] = {
            word: element.attributes[word] for word in ("name", "time") if word in element.attributes
        }
        for word, places, sizes in (("qpos", qpos, SIZES), ("qvel", velocity, _SPEEDS)):
            if not given[word]:
                continue
            numbers: list[float] = []
            for body in made.bodies:
                for joint in body.joints:
                    name, sign = joints.get(joint.name, ("", 1.0))
                    at, size = places.get(name), sizes[joint.type]
                    usual = start[joint.name] if word == "qpos" else [0.0] * size
                    own = usual if at is None else given[word][at : at + size]
                    numbers += [sign * value for value in own] if size == 1 else own
            key[word] = " ".join(f"{value:.12g}" for value in numbers)
        if given["ctrl"]:
            known = dict(zip(actuator_names(source), given["ctrl"], strict=False))
            key["ctrl"] = " ".join(f"{known.get(name, 0.0):.12g}" for name in actuator_names(made))
        found.append(Element("key", key))
    return found


#: How many numbers of a pose and of a velocity belong to a joint.
SIZES = {"free": 7, "ball": 4, "hinge": 1, "slide": 1}
_SPEEDS = {"free": 6, "ball": 3, "hinge": 1, "slide": 1}


def actuator_names(model: Model) -> list[str]:
    """Names of all actuators, those that are not read among them."""
    read_names = {id(one.element): one.name for one in model.actuators}
    every = (child for one in model.root.findall("actuator") for child in one.children)
    return [read_names.get(id(child)) or child.get("name") or "" for child in every]


def addresses(model: Model, sizes: Mapping[str, int]) -> dict[str, int]:
    """Index of the first number of each joint, by name. sizes: by type of a joint."""
    found, at = {}, 0
    for body in model.bodies:
        for joint in body.joints:
            found[joint.name] = at
            at += sizes[joint.type]
    return found


def _defaults(model: Model) -> dict[str, list[float]]:
    """The numbers of each joint in the pose of the file."""
    found = {}
    for body in model.bodies:
        for joint in body.joints:
            turn = [1.0, 0.0, 0.0, 0.0]
            if joint.type == "free":
                pose = body.pose
                turn = list(frames.quaternion_of(pose[:3, :3]))
                found[joint.name] = [*pose[:3, 3].tolist(), *turn]
            else:
                found[joint.name] = turn if joint.type == "ball" else [joint.reference]
    return found


def _is_further(section: str, element: Element) -> bool:
    attributes = element.attributes
    if section == "contact":
        return element.tag == "pair"
    if section == "actuator":
        return element.tag == "plugin" or "tendon" in attributes or "cranksite" in attributes
    if section == "equality":
        more = [float(part) for part in attributes.get("polycoef", "").split()[2:]]
        return not read.is_read_equality(element.tag) or any(more)
    return True


def plugins(source: Model) -> dict[str, set[str]]:
    """The names of plugins and of their instances that a model declares, by kind."""
    found: dict[str, set[str]] = {"plugin": set(), "instance": set()}
    for one in source.root.findall("extension"):
        for element in one.walk():
            name = element.get({"plugin": "plugin", "instance": "name"}.get(element.tag, ""))
            if name is not None:
                found[element.tag].add(name)
    return found


def is_known(element: Element, known: Mapping[str, Collection[str]]) -> bool:
    """True if all parts that an element names are there. known: names by kind."""
    for one in element.walk():
        if not _LOST.isdisjoint(one.attributes):
            return False
        for attribute, kind in _NAMES.items():
            name = one.get(attribute)
            if name is not None and name not in known.get(kind, ()) and not (kind == "body" and name == "world"):
                return False
        for word in ("obj", "ref"):
            of, name = one.get(f"{word}type"), one.get(f"{word}name")
            if name is not None and name not in known.get(_TYPES.get(of or "", ""), ()):
                return False
    return True
