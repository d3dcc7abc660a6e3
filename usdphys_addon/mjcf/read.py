# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of MJCF -> a model with everything resolved that the format lets a writer leave out.

Includes are put in place, defaults and classes merged into each element, frames folded into what they hold, replicas
written out, angles and orientations brought to radians and matrices. What is not understood is named once for each
kind of element.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import frames, pointers
from ..core.errors import InputError, PointerError
from ..core.validate import Issue
from ..core.words import counted
from ..urdf import markup
from ..urdf.markup import Element
from ..urdf.packages import is_file
from . import height_fields, values
from .values import (
    Actuator,
    Body,
    Equality,
    Floats,
    Geom,
    HeightField,
    Inertial,
    Joint,
    Look,
    Mesh,
    Model,
    Rope,
    Site,
)  # fmt: skip

#: Sections of which nothing is read with the bodies and how they move; `poses` reads keyframes.
_SILENT = frozenset({"visual", "statistic", "custom", "size", "keyframe"})
#: Sections and elements that the model leaves out, with their word in messages.
_UNREAD = {
    "tendon": "tendon", "sensor": "sensor", "deformable": "deformable", "extension": "plugin",
}  # fmt: skip
_ACTUATORS = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "dcmotor"
})  # fmt: skip
_JOINTS = {"hinge", "slide", "ball", "free"}
_PLACE = frozenset({"name", "class", "type", "pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "group"})
#: Attributes that are read, or that say where a part is.
_OF_GEOM = _PLACE | {
    "fromto", "size", "mesh", "hfield", "material", "rgba", "mass", "density", "shellinertia", "contype", "conaffinity",
    "friction", "fitscale", "condim", "priority",
}  # fmt: skip
_OF_JOINT = _PLACE | {
    "axis", "range", "limited", "ref", "springref", "stiffness", "damping", "armature", "frictionloss",
    "actuatorfrcrange", "actuatorfrclimited", "springdamper",
}  # fmt: skip
_OF_ROPE = {"name", "class", "group", "range", "limited", "width", "material", "rgba"}
_OF_FREE = ("damping", "frictionloss", "armature")
#: Most elements below the world, most of them that replicas add, and most levels of includes.
_MOST, _MOST_REPLICAS, DEEPEST = 200_000, 50_000, 32
#: Deeper elements are refused with those of included files, too: what walks the tree calls itself.
_MOST_LEVELS = 200
#: Most letters that classes and replicas may add to what the files have.
_MOST_LETTERS = 1 << 26
#: Beyond it squares and products of numbers are no longer finite.
_LARGEST = 1e15


def read_file(path: Path) -> Model:
    """Read a model. Raises InputError, naming the file, for what is no MJCF."""
    return _Reader(path.absolute()).model


def read_text(text: str, path: Path, near: Sequence[Path] = ()) -> Model:
    """The same of a text, as if it were a file. near: folders beside its own that it may name files in."""
    return _Reader(path.absolute(), text, near).model


def is_mjcf(path: Path) -> bool:
    """True if the first element of an XML file is MuJoCo's."""
    try:
        with path.open("rb") as stream:
            start = stream.read(65536)
    except OSError:
        return False
    text = markup.text_of(start)
    return "<mujoco" in text


def is_read_equality(tag: str) -> bool:
    """True for the kinds of equalities that become joints, or that let a joint follow another one."""
    return tag in ("connect", "weld", "joint")


def with_class(model: Model, element: Element, tag: str = "", around: str = "") -> dict[str, str]:
    """The attributes of an element with those of its class. tag: in the classes. around: the class of what it is in."""
    known = model.classes.get(element.get("class") or around or model.main, {})
    return {**known.get(tag or element.tag, {}), **element.attributes}


def file_of(model: Path, near: Sequence[Path], name: str, *folders: Path) -> Path | None:
    """A file that a model names, which is not further away than beside the folder of the model. near: others."""
    if not name or "\0" in name:
        return None
    tops = [model.parent.resolve().parent, *(folder.resolve().parent for folder in near)]
    for folder in folders:
        try:
            path = (folder / name.replace("\\", "/")).resolve()
        except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
            continue
        if is_file(path) and any(path.is_relative_to(top) for top in tops):
            return path
    return None


class _Reader:
    def __init__(self, path: Path, text: str | None = None, near: Sequence[Path] = ()) -> None:
        self.path, self.near = path, near
        self.root = self._parsed(path) if text is None else markup.parse(text, path.name)[0]
        if self.root.tag != "mujoco":
            raise InputError(f"'{path.name}' is no model of MuJoCo: its first element is <{self.root.tag}>.")
        self.model = Model(self.root.get("model") or path.stem, path)
        self.model.files.append(path)
        self.model.root = self.root
        self.included = {path}
        self._include(self.root, path.parent, 0, 0)
        self.compiler = self._compiler()
        self.model.compiler = self.compiler
        self.radians = self.compiler.get("angle", "degree") == "radian"
        self.order = self.compiler.get("eulerseq", "xyz")
        self.auto_limits = self.compiler.get("autolimits", "true") != "false"
        self.classes = self.model.classes
        self.unknown_classes: set[str] = set()
        self.letters = 0
        self.unread: Counter[str] = Counter()
        for section in self._sections("default"):
            self._read_class(section, "", self.classes["main"])
        # What has no name gets one that nothing else has.
        self.names = {name for one in self.root.walk() if (name := one.get("name"))}
        #: The last number that made a name, by what stands before it.
        self.numbers: Counter[str] = Counter()
        self.parts = self.replicas = 0
        self._options()
        self._assets()
        self._bodies()
        self._actuators()
        self._equalities()
        self._contacts()
        self._report()

    # ------------------------------------------------------------------ the tree

    def _parsed(self, path: Path) -> Element:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"'{path}' cannot be read ({error.strerror}).") from error
        return markup.parse(data, path.name)[0]

    def _include(self, element: Element, folder: Path, depth: int, level: int) -> None:
        """Put what a file includes in the place of each include. depth: of files. level: of elements."""
        if depth > DEEPEST:
            raise InputError(f"'{self.path.name}' includes files more than {DEEPEST} levels deep.")
        if level > _MOST_LEVELS:
            raise InputError(f"'{self.path.name}' has elements nested more than {_MOST_LEVELS} levels deep.")
        children: list[Element] = []
        for child in element.children:
            if child.tag != "include":
                self._include(child, folder, depth, level + 1)
                children.append(child)
                continue
            name = child.get("file") or ""
            path = file_of(self.path, self.near, name, folder, self.path.parent)
            if path is None:
                raise InputError(f"'{self.path.name}' includes '{name}', which is not there (line {child.line}).")
            if path in self.included:
                raise InputError(f"'{self.path.name}' includes '{name}' twice (line {child.line}).")
            self.included.add(path)
            self.model.files.append(path)
            part = self._parsed(path)
            self._include(part, path.parent, depth + 1, level)
            children += part.children
        element.children[:] = children

    def _compiler(self) -> dict[str, str]:
        """The settings of all compilers. Raises InputError for numbers and letters that are none."""
        found: dict[str, str] = {}
        for section in self._sections("compiler"):
            found.update(section.attributes)
        for word in ("settotalmass", "boundmass", "boundinertia", "inertiagrouprange"):
            self._numbers(found, word)
        order = found.get("eulerseq", "xyz")
        if len(order) != 3 or not set(order.lower()) <= set("xyz"):
            raise InputError(f"'{self.path.name}': eulerseq=\"{order[:60]}\" is no order of three axes.")
        return found

    def _spend(self, attributes: Mapping[str, str]) -> None:
        """Count letters that classes and replicas add, as a few of them can stand for all memory."""
        self.letters += sum(map(len, attributes)) + sum(map(len, attributes.values()))
        if self.letters > _MOST_LETTERS:
            raise InputError(f"'{self.path.name}' has classes and replicas that stand for more than "
                             f"{_MOST_LETTERS >> 20} MB of text.")  # fmt: skip

    def _sections(self, tag: str) -> Iterator[Element]:
        return (child for child in self.root.children if child.tag == tag)

    def _read_class(self, element: Element, parent: str, above: Mapping[str, dict[str, str]]) -> None:
        name = element.get("class") or ("main" if not parent else "")
        if not parent:
            self.model.main = name
        own = self.classes.setdefault(name, {})
        for tag, attributes in above.items():
            self._spend(attributes)
            own.setdefault(tag, {}).update({key: value for key, value in attributes.items() if key not in own[tag]}
                                           if tag in own else attributes)  # fmt: skip
        for child in element.children:
            if child.tag != "default":
                tag = "actuator" if child.tag in _ACTUATORS else child.tag
                own[tag] = {**own.get(tag, {}), **child.attributes}
        for child in element.children:
            if child.tag == "default":
                self._read_class(child, name, {tag: dict(attributes) for tag, attributes in own.items()})

    def _merged(self, element: Element, around: str, tag: str = "") -> dict[str, str]:
        """The attributes of an element with those of its class. around: the class of what it is in."""
        name = element.get("class") or around or self.model.main
        if name not in self.classes and name not in self.unknown_classes:
            self.unknown_classes.add(name)
            self._issue("MjcfClassMissing", f"The class '{name[:60]}' is not declared (line {element.line}).",
                        "Declare it, or correct its name.")  # fmt: skip
        self._spend(self.classes.get(name, {}).get(tag or element.tag, {}))
        return with_class(self.model, element, tag, around)

    def _issue(self, code: str, message: str, fix: str, severity: Any = "warning") -> None:
        self.model.issues.append(Issue(code, severity, "", self.model.name, message, fix))

    def _report(self) -> None:
        for word, number in sorted(self.unread.items()):
            self._issue(
                "MjcfUnread", f"'{self.path.name}' has {counted(number, word)}, which are not read."
                if number > 1 else f"'{self.path.name}' has one {word}, which is not read.",
                "Keep the file for MuJoCo.", "info",
            )  # fmt: skip

    # ------------------------------------------------------------------ numbers

    def _numbers(self, attributes: Mapping[str, str], name: str, default: tuple[float, ...] = ()) -> tuple[float, ...]:
        text = attributes.get(name)
        if text is None:
            return default
        try:
            numbers = tuple(float(part) for part in text.split())
        except ValueError:
            raise InputError(f"'{self.path.name}': {name}=\"{text[:60]}\" is no list of numbers.") from None
        if not all(abs(value) <= _LARGEST for value in numbers):  # also NaN
            raise InputError(f"'{self.path.name}': {name}=\"{text[:60]}\" is not finite, or beyond {_LARGEST:g}.")
        return numbers

    def _number(self, attributes: Mapping[str, str], name: str, default: float) -> float:
        numbers = self._numbers(attributes, name)
        return numbers[0] if numbers else default

    def _whole(self, attributes: Mapping[str, str], name: str, default: int) -> int:
        value = int(self._number(attributes, name, default))
        if not -(2**31) <= value < 2**31:
            raise InputError(f"'{self.path.name}': {name}=\"{attributes[name][:60]}\" does not fit 32 bits.")
        return value

    def _vector(self, attributes: Mapping[str, str], name: str, default: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Floats:
        numbers = self._numbers(attributes, name, default)
        return np.array((*numbers, 0.0, 0.0, 0.0)[:3], float)

    def _angle(self, value: float) -> float:
        return value if self.radians else math.radians(value)

    def _turn(self, attributes: Mapping[str, str]) -> Floats:
        """The rotation (3, 3) that one of the five ways says."""
        if "quat" in attributes:
            return frames.matrix_of(_unit(np.array((*self._numbers(attributes, "quat"), 0, 0, 0, 0)[:4], float)))
        if "axisangle" in attributes:
            x, y, z, angle = (*self._numbers(attributes, "axisangle"), 0, 0, 0, 0)[:4]
            return _turned(_unit(np.array((x, y, z), float)) * self._angle(angle))
        if "euler" in attributes:
            turn = np.eye(3)
            for letter, value in zip(self.order, self._numbers(attributes, "euler"), strict=False):
                axis = np.eye(3)["xyz".index(letter.lower())] * self._angle(value)
                turn = turn @ _turned(axis) if letter.islower() else _turned(axis) @ turn
            return turn
        if "xyaxes" in attributes:
            numbers = np.array((*self._numbers(attributes, "xyaxes"), *[0.0] * 6)[:6], float)
            first = _unit(numbers[:3])
            second = _unit(numbers[3:] - first * (first @ numbers[3:]))
            turn = np.stack((first, second, np.cross(first, second)), axis=1)
            if not np.linalg.det(turn) > 0.5:
                text = attributes["xyaxes"][:60]
                raise InputError(f"'{self.path.name}': xyaxes=\"{text}\" are no two axes.")
            return turn
        if "zaxis" in attributes:
            return _turn_to(self._vector(attributes, "zaxis"))
        return np.eye(3)

    def _pose(self, attributes: Mapping[str, str]) -> Floats:
        return frames.transform(self._vector(attributes, "pos"), self._turn(attributes))

    def _limits(self, attributes: Mapping[str, str], name: str, limited: str) -> tuple[float, float] | None:
        """A range that is in force; None without one."""
        numbers = self._numbers(attributes, name)
        word = attributes.get(limited, "auto")
        is_on = word == "true" or (word == "auto" and self.auto_limits and name in attributes and len(numbers) == 2)
        return (numbers[0], numbers[1]) if is_on and len(numbers) == 2 and numbers[0] <= numbers[1] else None

    # ------------------------------------------------------------------ options and assets

    def _options(self) -> None:
        for section in self._sections("option"):
            self.model.options.update(section.attributes)
            for flag in section.findall("flag"):
                self.model.flags.update(flag.attributes)
        self.model.gravity = self._vector(self.model.options, "gravity", (0.0, 0.0, -9.81))
        if self.model.flags.get("gravity") == "disable":
            self.model.gravity = np.zeros(3)

    def _folder(self, kind: str) -> str:
        """The folder that the compiler names for files of a kind."""
        return self.compiler.get(kind) or self.compiler.get("assetdir") or ""

    def _asset_file(self, name: str, kind: str) -> Path | None:
        short = Path(name.replace("\\", "/")).name if self.compiler.get("strippath") == "true" else name
        found = file_of(self.path, self.near, short, self.path.parent / self._folder(kind), self.path.parent)
        if found is None:
            self.model.missing.append(name)
        else:
            self.model.assets.append(found)
        return found

    def _assets(self) -> None:
        textures: dict[str, Path] = {}
        for section in self._sections("asset"):
            for item in section.findall("texture"):
                file = item.get("file")
                path = self._asset_file(file, "texturedir") if file else None
                if path is not None:
                    textures[item.get("name") or Path(file or "").stem] = path
            for item in section.children:
                attributes = self._merged(item, "")
                if item.tag == "mesh":
                    self._mesh(attributes, item.line)
                elif item.tag == "hfield":
                    self._height_field(attributes, item.line)
                elif item.tag == "material" and "name" in attributes:
                    rgba = self._numbers(attributes, "rgba", (1.0, 1.0, 1.0, 1.0))
                    self.model.looks[attributes["name"]] = Look(
                        attributes["name"], rgba, textures.get(attributes.get("texture", ""))
                    )
                elif item.tag == "model":
                    self.unread["attached model"] += 1

    def _height_field(self, attributes: dict[str, str], line: int) -> None:
        file = attributes.get("file", "")
        name = attributes.get("name") or Path(file.replace("\\", "/")).stem
        made = self.model.fields[name] = HeightField(self._numbers(attributes, "size"))
        if not file:
            rows, columns = (self._whole(attributes, word, 0) for word in ("nrow", "ncol"))
            made.heights = height_fields.of_numbers(self._numbers(attributes, "elevation"), rows, columns)
            return
        path = self._asset_file(file, "meshdir")
        try:
            if path is None:
                raise InputError(f"The height field '{file[:200]}' is not there (line {line}).")
            made.heights = height_fields.read(path)
        except InputError as error:
            fix = pointers.FIX if isinstance(error, PointerError) else "Put the file there, or repair it."
            self._issue("MjcfMeshMissing", f"{error} Its geoms are left out.", fix)

    def _mesh(self, attributes: dict[str, str], line: int) -> None:
        file = attributes.get("file", "")
        name = attributes.get("name") or Path(file.replace("\\", "/")).stem
        mesh = Mesh(name, scale=self._numbers(attributes, "scale", (1.0, 1.0, 1.0)))
        if len(mesh.scale) != 3:
            raise InputError(f"'{self.path.name}': the scale of the mesh '{name[:60]}' is not three numbers.")
        mesh.inertia = attributes.get("inertia", "legacy")
        place = self._vector(attributes, "refpos")
        turn = self._turn({"quat": attributes["refquat"]}) if "refquat" in attributes else np.eye(3)
        mesh.pose = frames.transform(place, turn)
        if "vertex" in attributes:
            mesh.points = np.array(self._numbers(attributes, "vertex"), float)
            mesh.points = mesh.points[: len(mesh.points) // 3 * 3].reshape(-1, 3)
            faces = np.array(self._numbers(attributes, "face"), np.int64)
            mesh.faces = faces[: len(faces) // 3 * 3].reshape(-1, 3)
        elif file:
            mesh.file = self._asset_file(file, "meshdir")
            if mesh.file is None:
                is_far = is_file(self.path.parent / self._folder("meshdir") / file.replace("\\", "/"))
                text = (
                    f"The mesh '{file}' is neither in, below nor beside the folder of the model (line {line}); its "
                    "geoms are left out." if is_far else
                    f"The mesh '{file}' is not there (line {line}); its geoms are left out."
                )  # fmt: skip
                self._issue("MjcfMeshMissing", text, "Put it into the folder that the compiler's meshdir names, in, "
                            "below or beside that of the model.")  # fmt: skip
        else:
            self.unread["built-in mesh"] += 1
        self.model.meshes[name] = mesh

    # ------------------------------------------------------------------ bodies

    def _bodies(self) -> None:
        world = Body("world", np.eye(4), -1)
        self.model.bodies.append(world)
        for section in self._sections("worldbody"):
            self._fill(section, 0, np.eye(4), section.get("childclass") or "", "")

    def _count(self, suffix: str) -> None:
        """Count an element, which is one of a replica if it has a suffix."""
        self.parts += 1
        self.replicas += bool(suffix)
        if self.parts > _MOST:
            raise InputError(f"'{self.path.name}' has more than {_MOST} bodies, geoms, joints and other elements.")
        if self.replicas > _MOST_REPLICAS:
            raise InputError(f"'{self.path.name}' has replicas of more than {_MOST_REPLICAS} elements.")

    def _name(self, wanted: str, kind: str, suffix: str) -> str:
        base = f"{wanted}{suffix}" if wanted else f"{kind}{suffix}"
        name = base
        while not wanted and name in self.names:
            self.numbers[base] += 1
            name = f"{base}_{self.numbers[base]}"
        self.names.add(name)
        return name

    def _fill(self, element: Element, index: int, frame: Floats, around: str, suffix: str) -> None:
        """Read what is in a body. frame: pose (4, 4) of the frame that is open in it. suffix: of replicas."""
        body = self.model.bodies[index]
        for child in element.children:
            tag = child.tag
            self._count(suffix)
            if suffix:
                self._spend({**child.attributes, suffix: ""})
            if tag == "body":
                self._body(child, index, frame, around, suffix)
            elif tag == "frame":
                own = child.get("childclass") or around
                self._fill(child, index, frame @ self._pose(child.attributes), own, suffix)
            elif tag == "replicate":
                self._replicate(child, index, frame, around, suffix)
            elif tag in ("joint", "freejoint"):
                body.joints.append(self._joint(child, frame, around, suffix))
            elif tag == "geom":
                geom = self._geom(child, frame, around, suffix)
                if geom is not None:
                    body.geoms.append(geom)
            elif tag == "site":
                attributes = self._merged(child, around)
                ends = self._numbers(attributes, "fromto")
                pose = _between(ends)[0] if len(ends) == 6 else self._pose(attributes)
                body.sites.append(Site(self._name(attributes.get("name", ""), "site", suffix), frame @ pose))
            elif tag == "inertial":
                body.inertial = self._inertial(child.attributes)
            elif tag in ("camera", "light") or tag in ("flexcomp", "composite", "attach", "plugin"):
                self.unread[tag] += 1

    def _body(self, element: Element, parent: int, frame: Floats, around: str, suffix: str) -> None:
        attributes = element.attributes
        pose = frame @ self._pose(attributes)
        name = self._name(attributes.get("name", ""), "body", suffix)
        made = Body(name, pose, parent, is_mocap=attributes.get("mocap") == "true", frame=frame)
        made.element = None if suffix else element
        made.gravity_compensation = self._number(attributes, "gravcomp", 0.0)
        self.model.bodies.append(made)
        self._fill(element, len(self.model.bodies) - 1, np.eye(4), attributes.get("childclass") or around, suffix)

    def _replicate(self, element: Element, index: int, frame: Floats, around: str, suffix: str) -> None:
        count = int(self._number(element.attributes, "count", 1.0))
        step = frames.transform(self._vector(element.attributes, "offset"), self._turn(element.attributes))
        separator, digits = element.get("sep") or "", len(str(max(count - 1, 0)))
        pose = frame
        for number in range(max(count, 0)):
            self._count("0")
            self._fill(element, index, pose, around, f"{suffix}{separator}{number:0{digits}d}")
            pose = pose @ step

    def _joint(self, element: Element, frame: Floats, around: str, suffix: str) -> Joint:
        is_free = element.tag == "freejoint"
        attributes = dict(element.attributes) if is_free else self._merged(element, around)
        kind = "free" if is_free else attributes.get("type", "hinge")
        if kind not in _JOINTS:
            raise InputError(f"'{self.path.name}': '{kind}' is no type of joint (line {element.line}).")
        axis = frame[:3, :3] @ _unit(self._vector(attributes, "axis", (0.0, 0.0, 1.0)))
        place = frame[:3, :3] @ self._vector(attributes, "pos") + frame[:3, 3]
        made = Joint(self._name(attributes.get("name", ""), "joint", suffix), kind, place, axis, line=element.line)
        made.element = None if suffix else element
        if is_free or kind == "free":
            slowed = [word for word in _OF_FREE if any(self._numbers(attributes, word))]
            made.others = {} if is_free else {word: attributes[word] for word in slowed}
            self.unread["free joint with damping, friction or armature"] += bool(made.others)
            return made
        scale = self._angle if kind in ("hinge", "ball") else float
        limits = self._limits(attributes, "range", "limited")
        made.range = None if limits is None else (scale(limits[0]), scale(limits[1]))
        made.reference = scale(self._number(attributes, "ref", 0.0))
        made.spring = scale(self._number(attributes, "springref", 0.0))
        made.stiffness = self._number(attributes, "stiffness", 0.0)
        made.damping = self._number(attributes, "damping", 0.0)
        made.armature = self._number(attributes, "armature", 0.0)
        made.friction = self._number(attributes, "frictionloss", 0.0)
        made.force_range = self._limits(attributes, "actuatorfrcrange", "actuatorfrclimited")
        made.others = {word: text for word, text in attributes.items() if word not in _OF_JOINT}
        timing = self._numbers(attributes, "springdamper")
        if len(timing) == 2 and min(timing) > 0.0:
            if kind == "ball":
                self.unread["springdamper of a ball joint"] += 1
            else:
                made.timing = (timing[0], timing[1])
        return made

    def _geom(self, element: Element, frame: Floats, around: str, suffix: str) -> Geom | None:
        attributes = self._merged(element, around)
        mesh = attributes.get("mesh", "")
        kind = attributes.get("type", "mesh" if mesh and "type" not in attributes else "sphere")
        size = self._numbers(attributes, "size")
        ends = self._numbers(attributes, "fromto")
        pose = self._pose(attributes)
        if len(ends) == 6 and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            pose, half = _between(ends)
            size = (size[0] if size else 0.0, half) if kind in ("capsule", "cylinder") else (*size[:1] * 2, half)
        name = self._name(attributes.get("name", ""), "geom", suffix)
        made = Geom(name, kind, frame @ pose, size[:3], mesh, line=element.line)
        made.field, made.look = attributes.get("hfield", ""), attributes.get("material", "")
        made.rgba = self._numbers(attributes, "rgba")[:4] if "rgba" in attributes else None
        made.mass = self._number(attributes, "mass", 0.0) if "mass" in attributes else None
        made.density = self._number(attributes, "density", values.DENSITY)
        made.contact = (self._whole(attributes, "contype", 1), self._whole(attributes, "conaffinity", 1))
        given = self._numbers(attributes, "friction")
        made.friction = (*given[:3], *values.FRICTION[len(given) :])
        made.group = self._whole(attributes, "group", 0)
        made.priority = self._whole(attributes, "priority", 0)
        made.condim = self._whole(attributes, "condim", 3)
        made.is_shell = attributes.get("shellinertia") == "true"
        made.others = {word: text for word, text in attributes.items() if word not in _OF_GEOM}
        made.fit_scale = self._number(attributes, "fitscale", 1.0)
        if kind == "sdf":
            self.unread["signed distance field"] += 1
            return None
        return made

    def _inertial(self, attributes: Mapping[str, str]) -> Inertial:
        turn = self._turn(attributes)
        full = self._numbers(attributes, "fullinertia")
        if len(full) == 6:
            xx, yy, zz, xy, xz, yz = full
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            tensor = np.diag(self._vector(attributes, "diaginertia"))
        return Inertial(self._number(attributes, "mass", 0.0), self._vector(attributes, "pos"), turn @ tensor @ turn.T)

    # ------------------------------------------------------------------ actuators, equalities, contacts

    def _actuators(self) -> None:
        self.limits = {joint.name: joint.range for body in reversed(self.model.bodies) for joint in body.joints}
        for section in self._sections("actuator"):
            for item in section.children:
                if item.tag not in _ACTUATORS:
                    self.unread["actuator"] += 1
                    continue
                made = self._actuator(item)
                if made is None:
                    self.unread["actuator of a tendon or a crank"] += 1
                else:
                    self.model.actuators.append(made)
        for tag, word in _UNREAD.items():
            self.unread[word] += sum(len(section.children) for section in self._sections(tag))
        self._ropes()
        self.unread["tendon"] -= len(self.model.ropes)
        self.unread = +self.unread

    def _actuator(self, element: Element) -> Actuator | None:
        """An actuator as the `general` one that its tag is short for; None for targets that are not read."""
        attributes, tag = self._merged(element, "", "actuator"), element.tag
        word = next((word for word in ("joint", "jointinparent", "site", "body") if word in attributes), "")
        if not word or any(other in attributes for other in ("tendon", "cranksite")):
            return None
        made = Actuator(self._name(attributes.get("name", ""), "actuator", ""), attributes[word], line=element.line)
        made.element = element
        made.kind = "joint" if word == "jointinparent" else word
        made.reference = attributes.get("refsite", "") if word == "site" else ""
        self._motion(made, tag, attributes)
        made.gears = self._numbers(attributes, "gear", (1.0,))
        made.force = self._limits(attributes, "forcerange", "forcelimited")
        made.control = self._limits(attributes, "ctrlrange", "ctrllimited")
        made.activity = self._limits(attributes, "actrange", "actlimited")
        made.group = self._whole(attributes, "group", 0)
        self._inherit(made, self._number(attributes, "inheritrange", 0.0))
        return made

    def _inherit(self, made: Actuator, share: float) -> None:
        """The range of a control that is a share of that of the joint."""
        limits = self.limits.get(made.target)
        if share <= 0.0 or limits is None or made.kind != "joint":
            return
        middle, half = sum(limits) / 2.0, share * (limits[1] - limits[0]) / 2.0
        found = (middle - half, middle + half)
        if made.dynamics_type == "integrator":
            made.activity = made.activity or found
        else:
            made.control = made.control or found

    def _motion(self, made: Actuator, tag: str, attributes: Mapping[str, str]) -> None:
        """Types and numbers of gain, bias and dynamics."""
        kp = self._number(attributes, "kp", 1.0)
        kv = self._number(attributes, "kv", 1.0 if tag in ("velocity", "damper") else 0.0)
        if tag in ("position", "intvelocity"):
            made.gains, made.bias_type, made.biases = (kp,), "affine", (0.0, -kp, -kv)
            made.ratio = self._number(attributes, "dampratio", 0.0)
            own = made.element.attributes if made.element is not None else {}
            # Both set one number: what the actuator says itself takes the place of what its class says.
            if kv > 0.0 and "kv" in own and "dampratio" not in own:
                made.ratio = 0.0
            late = self._number(attributes, "timeconst", 0.0)
            if tag == "intvelocity":
                made.dynamics_type = "integrator"
            elif late > 0.0:
                made.dynamics_type, made.dynamics = "filterexact", (late,)
        elif tag == "velocity":
            made.gains, made.bias_type, made.biases = (kv,), "affine", (0.0, 0.0, -kv)
        elif tag == "damper":
            made.gain_type, made.gains = "affine", (0.0, 0.0, -kv)
        elif tag == "cylinder":
            wide = self._number(attributes, "diameter", 0.0)
            area = math.pi / 4.0 * wide**2 if wide > 0.0 else self._number(attributes, "area", 1.0)
            made.gains, made.bias_type, made.biases = (area,), "affine", self._numbers(attributes, "bias", (0.0,) * 3)
            made.dynamics_type, made.dynamics = "filter", (self._number(attributes, "timeconst", 1.0),)
        elif tag == "muscle":
            made.gain_type = made.bias_type = made.dynamics_type = "muscle"
            usual = (("force", -1.0), ("scale", 200.0), ("lmin", 0.5), ("lmax", 1.6), ("vmax", 1.5), ("fpmax", 1.3),
                     ("fvmax", 1.2))  # fmt: skip
            reach = self._numbers(attributes, "range", (0.75, 1.05))
            made.gains = made.biases = (*reach, *(self._number(attributes, name, value) for name, value in usual))
            made.dynamics = (*self._numbers(attributes, "timeconst", (0.01, 0.04)),
                             self._number(attributes, "tausmooth", 0.0))  # fmt: skip
        elif tag == "adhesion":
            made.gains = (self._number(attributes, "gain", 1.0),)
        elif tag == "general":
            made.gain_type, made.gains = (
                attributes.get("gaintype", "fixed"),
                self._numbers(attributes, "gainprm", (1.0,)),
            )
            made.bias_type, made.biases = attributes.get("biastype", "none"), self._numbers(attributes, "biasprm")
            made.dynamics_type = attributes.get("dyntype", "none")
            made.dynamics = self._numbers(attributes, "dynprm", (1.0,))
        elif tag != "motor":
            made.gain_type = tag

    def _equalities(self) -> None:
        for section in self._sections("equality"):
            for item in section.children:
                if not is_read_equality(item.tag):
                    self.unread["equality"] += 1
                    continue
                attributes = self._merged(item, "", "equality")
                by_sites = item.tag != "joint" and "site1" in attributes
                words = ("joint1", "joint2") if item.tag == "joint" else ("body1", "body2")
                words = ("site1", "site2") if by_sites else words
                made = Equality(
                    item.tag, self._name(attributes.get("name", ""), item.tag, ""), attributes.get(words[0], ""),
                    attributes.get(words[1], ""), self._vector(attributes, "anchor"),
                    is_active=attributes.get("active", "true") != "false", by_sites=by_sites,
                )  # fmt: skip
                relative = self._numbers(attributes, "relpose")
                if len(relative) == 7 and any(relative[3:]):
                    turn = frames.matrix_of(_unit(np.array(relative[3:], float)))
                    made.relative = frames.transform(relative[:3], turn)
                made.polynomial = (*self._numbers(attributes, "polycoef", (0.0, 1.0)), *[0.0] * 5)[:5]
                for word, usual in values.SOFTNESS.items():
                    if given := self._numbers(attributes, word)[: len(usual)]:
                        made.softness[word] = (*given, *usual[len(given) :])
                self.model.equalities.append(made)

    def _ropes(self) -> None:
        """Tendons that keep two sites apart and together, and do nothing else."""
        sections = [one for tag in ("actuator", "sensor", "equality", "contact") for one in self._sections(tag)]
        named = {one.get(word) for section in sections for one in section.walk()
                 for word in ("tendon", "tendon1", "tendon2", "objname", "refname")}  # fmt: skip
        for section in self._sections("tendon"):
            for item in section.findall("spatial"):
                attributes = self._merged(item, "", "tendon")
                limits, ends = self._limits(attributes, "range", "limited"), [one.get("site") for one in item.children]
                if limits is None or len(ends) != 2 or not all(ends) or not attributes.keys() <= _OF_ROPE:
                    continue
                if item.get("name") is None or item.get("name") not in named:
                    name = self._name(item.get("name") or "", "tendon", "")
                    self.model.ropes.append(Rope(name, (ends[0] or "", ends[1] or ""), limits, item))

    def _contacts(self) -> None:
        for section in self._sections("contact"):
            for item in section.children:
                if item.tag == "exclude":
                    self.model.excludes.append((item.get("body1") or "", item.get("body2") or ""))
                else:
                    self.unread["contact pair"] += 1
        for child in self.root.children:
            known = {"compiler", "option", "default", "asset", "worldbody", "actuator", "equality", "contact"}
            if child.tag not in known | _SILENT | _UNREAD.keys():
                self.unread[child.tag] += 1


def _turned(vector: Floats) -> Floats:
    """The rotation (3, 3) about a vector (3,) by its length."""
    return frames.matrix_of(frames.turn_by(vector))


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    if length < 1e-12:
        return np.asarray(np.eye(len(vector))[0 if len(vector) == 4 else 2])
    return np.asarray(vector / length)


def _turn_to(direction: Floats) -> Floats:
    """The least rotation (3, 3) that takes the Z axis to a direction (3,)."""
    way = _unit(direction)
    axis = np.cross((0.0, 0.0, 1.0), way)
    sine, cosine = float(np.linalg.norm(axis)), float(way[2])
    if sine < 1e-12:
        return np.eye(3) if cosine > 0 else np.diag((1.0, -1.0, -1.0))
    return _turned(axis / sine * math.atan2(sine, cosine))


def _between(ends: tuple[float, ...]) -> tuple[Floats, float]:
    """(pose (4, 4) in the middle of two points with Z from the second to the first, half of their distance)."""
    one, other = np.array(ends[:3], float), np.array(ends[3:6], float)
    return frames.transform((one + other) / 2.0, _turn_to(one - other)), float(np.linalg.norm(one - other)) / 2.0
