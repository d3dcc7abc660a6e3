# SPDX-License-Identifier: GPL-3.0-or-later
"""SDF, the files of Gazebo -> Robot: models, nested and included ones too, as the links and joints of one robot.

What URDF's values have no place for is named once for each kind of element.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.errors import InputError
from ..core.validate import Severity
from ..urdf import read as urdf_read
from ..urdf.markup import Element
from ..urdf.packages import Packages, is_file, is_folder
from ..urdf.robot import Inertial, Link, Robot
from . import shapes
from .joints import add_joints
from .numbers import Numbers
from .scope import OWN, WORLD, Item, Scope

#: Most levels of files and of models in models, and most parts of the whole, as files can include each other.
_MOST_LEVELS, _MOST_PARTS = 32, 100_000
#: Most letters of all names with those of the models around them.
_MOST_LETTERS = 1 << 26
#: Elements of a model or link that say nothing about bodies, or that are read; all others are named.
_READ = {
    "model": {"pose", "link", "joint", "frame", "model", "include", "static", "self_collide", "allow_auto_disable"},
    "link": {"pose", "inertial", "visual", "collision", "gravity", "kinematic", "must_be_base_link", "self_collide",
             "enable_wind"},
    "world": {"model", "include", "frame", "joint", "gravity", "physics", "scene", "gui", "light", "audio", "wind",
              "magnetic_field", "atmosphere", "spherical_coordinates"},
}  # fmt: skip
_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_INERTIA = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0}


def read_file(path: Path, packages: Packages | None = None) -> Robot:
    """Read an SDF or a world. Raises InputError if there is no such file, or no model in it."""
    try:
        return _Reader(path, packages or Packages(path.absolute().parent)).robot
    except RecursionError as error:
        raise InputError(f"'{path.name}' has models in models, or poses relative to others, too many deep.") from error


def is_true(element: Element | None, usual: bool = False) -> bool:
    return usual if element is None else element.text.strip().lower() in ("true", "1")


class _Reader:
    def __init__(self, path: Path, packages: Packages) -> None:
        self.path, self.packages = path, packages
        self.parsed: dict[Path, Element] = {}
        self.left: dict[str, tuple[int, Element]] = {}
        self.parts = 0
        root, _ = urdf_read.markup_of(path)
        self.robot = Robot(path.stem, path, "", root)
        self.numbers = Numbers(self.robot.issues)
        self.shapes = shapes.Shapes(self.robot, self.numbers, packages, self.leave)
        self.outer = self.scope_of_file(root, path)
        self.robot.name = self.outer.element.get("name") or path.stem
        self.add_links()
        add_joints(self.robot, self.outer, self.numbers, self.leave)
        self.tell_left()
        if not self.robot.links.keys() - {WORLD}:
            raise InputError(f"'{path.name}' has no link; a model needs one.")
        self.robot.files = list(packages.used)

    def tell(
        self, code: str, severity: Severity, element: Element, message: str, fix: str, label: str = ""
    ) -> None:  # fmt: skip
        self.numbers.tell(code, severity, element, message, fix, label)

    def leave(self, what: str, element: Element) -> None:
        """Note an element that is left out; each kind is reported once."""
        count, first = self.left.get(what, (0, element))
        self.left[what] = (count + 1, first)

    def tell_left(self) -> None:
        for what, (count, first) in self.left.items():
            message = f"'{what}' is left out: a robot in USD has no word for it."
            if count > 1:
                message = f"'{what}' is left out, {count} times: a robot in USD has no word for it."
            self.tell("SdfLeftOut", "info", first, message, "Keep the SDF for Gazebo.")

    # ------------------------------------------------------------------ files

    def scope_of_file(self, root: Element, path: Path) -> Scope:
        """The world or model of the file that was asked for."""
        if root.tag not in ("sdf", "gazebo"):
            raise InputError(f"'{path.name}' is no SDF: its first element is '{root.tag}', not 'sdf'.")
        tops = [child for child in root.children if child.tag in ("world", "model", "actor", "light", "include")]
        worlds = [child for child in tops if child.tag == "world"]
        models = [child for child in tops if child.tag == "model"]
        chosen = next(iter(worlds or models), None)
        if chosen is None:
            raise InputError(f"'{path.name}' has no model and no world.")
        for other in tops:
            if other is not chosen:
                self.leave(f"another {other.tag}" if other.tag in ("world", "model") else other.tag, other)
        version = self.version_of(root)
        folder = path.absolute().parent
        if chosen.tag == "world":
            return self.scope(chosen, Scope("", chosen, folder, version), [path.absolute()])
        # A model in the world, which only has its name.
        world = Scope("", Element("world", {"name": chosen.get("name") or ""}, file=root.file), folder, version)
        world.models[""] = self.model(chosen, world, folder, version, [path.absolute()], merge=True)
        return world

    @staticmethod
    def version_of(root: Element) -> tuple[int, ...]:
        try:
            return tuple(int(part) for part in (root.get("version") or "1.0").split(".")[:2])
        except ValueError:
            return (1, 0)

    def parse(self, path: Path) -> Element:
        if path not in self.parsed:
            self.parsed[path] = urdf_read.markup_of(path)[0]
        return self.parsed[path]

    # ------------------------------------------------------------------ models

    def spend(self, element: Element) -> None:
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise InputError(f"'{self.path.name}' has more than {_MOST_PARTS:,} parts with what it includes "
                             f"('{element.file}', line {element.line}).")  # fmt: skip

    def scope(self, element: Element, scope: Scope, files: list[Path]) -> Scope:
        """Fill the scope of a world or model with what its element holds."""
        level, above = 0, scope.above
        while above is not None:
            level, above = level + 1, above.above
        if level > _MOST_LEVELS:
            raise InputError(f"'{self.path.name}' has models in models more than {_MOST_LEVELS} levels deep.")
        known = _READ["world" if scope.is_world else "model"]
        for child in element.children:
            if child.tag not in known and ":" not in child.tag:
                self.leave(child.tag, child)
            elif child.tag in ("link", "joint", "frame"):
                self.spend(child)
                self.item(child, scope)
            elif child.tag == "model":
                self.spend(child)
                self.add_model(scope, self.model(child, scope, scope.folder, scope.version, files), child)
            elif child.tag == "include":
                self.spend(child)
                self.include(child, scope, files)
        if scope.is_world:
            self.look_at_gravity(element)
        return scope

    def look_at_gravity(self, element: Element) -> None:
        gravity = element.find("gravity")
        values = self.numbers.list_of(gravity, 3)
        if values is not None and np.abs(np.subtract(values, (0.0, 0.0, -9.8))).max() > 0.05:
            assert gravity is not None
            self.tell("SdfGravity", "warning", gravity,
                      f"The gravity of the world, {' '.join(f'{value:g}' for value in values)} m/s2, is not the "
                      "earth's and is left out.", "Set the gravity of the scene.")  # fmt: skip

    def item(self, element: Element, scope: Scope) -> None:
        name = element.get("name") or ""
        if element.tag == "joint" and name in scope.items and scope.items[name].tag != "joint":
            name = f"{name}_joint"  # as Gazebo calls it: earlier versions allow the same name
        if not name or name in scope.items or name in scope.models or name == WORLD:
            problem = "has no name" if not name else f"has the name '{name}', which is taken,"
            self.tell("SdfNameTwice", "warning", element, f"A {element.tag} {problem} and is left out.",
                      "Give each link, joint and frame its own name.", name)  # fmt: skip
            return
        usual = OWN
        if element.tag == "joint":
            child = element.find("child")
            usual = (child.text.strip() if child is not None else "") or OWN
            usual = OWN if usual == WORLD else usual
        elif element.tag == "frame":
            usual = element.get("attached_to") or OWN
        pose = element.find("pose")
        base = (pose.get("relative_to") or pose.get("frame") or "") if pose is not None else ""
        scope.items[name] = Item(element.tag, element, self.numbers.pose(pose), base or usual, scope.folder)

    def model(
        self, element: Element, above: Scope, folder: Path, version: tuple[int, ...], files: list[Path],
        include: Element | None = None, *, merge: bool = False,
    ) -> Scope:  # fmt: skip
        """The scope of a model; what an include says takes the place of what the model says."""

        def said(tag: str) -> Element | None:
            own = include.find(tag) if include is not None else None
            return own if own is not None else element.find(tag)

        name = said("name")
        pose = said("pose")
        made = Scope(
            (name.text.strip() if name is not None and include is not None else "") or element.get("name") or "model",
            element, folder, version, above, self.numbers.pose(pose),
        )  # fmt: skip
        if pose is not None:
            made.base = pose.get("relative_to") or pose.get("frame") or ""
        placed = include.find("placement_frame") if include is not None else None
        made.placement = (placed.text.strip() if placed is not None else element.get("placement_frame")) or ""
        made.canonical = element.get("canonical_link") or ""
        made.is_static = above.is_static or is_true(said("static"))
        made.self_collides = is_true(element.find("self_collide"))
        made.is_merged = merge
        return self.scope(element, made, files)

    def add_model(self, scope: Scope, model: Scope, element: Element) -> None:
        if model.name in scope.models or model.name in scope.items:
            self.tell("SdfNameTwice", "warning", element, f"A second model '{model.name}' is left out.",
                      "Give each model its own name.", model.name)  # fmt: skip
            return
        scope.models[model.name] = model

    def include(self, element: Element, scope: Scope, files: list[Path]) -> None:
        uri = element.find("uri")
        text = uri.text.strip() if uri is not None else ""
        path = self.file_of(text, scope.folder)
        if path is None:
            where, mark, rest = text.partition("://")
            if where in ("http", "https"):
                fix = "Download the model, and write its path: nothing is read from the network."
            elif mark:
                fix = f"Say where the model is (--package {rest.partition('/')[0]}=FOLDER)."
            else:
                fix = "Correct the path."
            self.tell("SdfIncludeMissing", "warning", element,
                      f"The model '{text[:200]}' is not found, so it is left out.", fix)  # fmt: skip
            return
        if path in files:
            raise InputError(f"'{element.file}', line {element.line}: '{text[:200]}' includes itself.")
        if len(files) > _MOST_LEVELS:
            raise InputError(f"'{self.path.name}' includes files more than {_MOST_LEVELS} levels deep.")
        root = self.parse(path)
        model = root.find("model")
        if root.tag not in ("sdf", "gazebo") or model is None:
            what = next((child for child in root.children if child.tag in ("actor", "light")), None)
            self.leave(what.tag if what is not None else "include without a model", element)
            return
        merge = element.get("merge") in ("true", "1")
        made = self.model(model, scope, path.parent, self.version_of(root), [*files, path], element, merge=merge)
        for child in element.children:
            if child.tag not in ("uri", "name", "pose", "static", "placement_frame"):
                self.leave(f"{child.tag} of an include", child)
        self.packages.used.add(path)
        self.add_model(scope, made, element)

    def file_of(self, uri: str, folder: Path) -> Path | None:
        """The file of a model by its URI: of a file, or of a folder with a model.config."""
        if not uri or "\0" in uri:
            return None
        scheme, mark, rest = uri.partition("://")
        rest = rest.rstrip("/")
        if not mark:
            found = folder / uri
        elif scheme == "file":
            found = Path(rest) if is_folder(Path(rest)) or is_file(Path(rest)) else folder / rest.lstrip("/")
        elif scheme in ("model", "package"):
            name, _, inside = rest.partition("/")
            package = self.packages.package(name) or Packages(folder, self.packages.known).package(name)
            if package is None:
                return None
            found = package / inside
        else:
            return None
        found = found.absolute()
        if is_file(found):
            return found
        return next((path for path in self.files_in(found) if is_file(path)), None) if is_folder(found) else None

    def files_in(self, folder: Path) -> Iterator[Path]:
        """The files of a model in its folder, the newest version first, as its model.config names them."""
        config = folder / "model.config"
        if is_file(config):
            try:
                named = [one for one in self.parse(config).findall("sdf") if one.text.strip()]
            except InputError:
                named = []
            for one in sorted(named, key=self.version_of, reverse=True):
                yield folder / one.text.strip()
        yield folder / "model.sdf"

    # ------------------------------------------------------------------ links

    def add_links(self) -> None:
        """The links of all models, and their frames as links without mass or shape."""
        world = Element("link", {"name": WORLD}, file=self.path.name)
        self.robot.links[WORLD] = Link(WORLD, world)
        letters = 0
        for scope in self.outer.scopes():
            for name, item in scope.items.items():
                if item.tag != "joint":
                    full = scope.prefix() + name
                    letters += len(full)
                    if letters > _MOST_LETTERS:
                        raise InputError(f"'{self.path.name}' has names of more than {_MOST_LETTERS >> 20} MB in all.")
                    self.robot.links.setdefault(full, self.link(full, item, scope))

    def link(self, name: str, item: Item, scope: Scope) -> Link:
        element = item.element
        link = Link(name, element)
        if item.tag == "frame":
            return link
        for child in element.children:
            if child.tag in ("visual", "collision"):
                self.spend(child)
            elif child.tag not in _READ["link"] and ":" not in child.tag:
                self.leave(child.tag, child)
        if not scope.is_static:
            link.inertial = self.inertial(element, name)
        link.visuals, link.collisions = self.shapes.of_link(element, name, item.folder)
        link.is_kinematic = is_true(element.find("kinematic"))
        link.floats = not is_true(element.find("gravity"), usual=True)
        top = scope
        while top.above is not None and not top.above.is_world:
            top = top.above
        link.self_collides = is_true(element.find("self_collide"), usual=top.self_collides)
        return link

    def inertial(self, element: Element, name: str) -> Inertial | None:
        """The inertial of a link; what is not written is 1 kg and 1 kg m2, as Gazebo takes it."""
        inertial = element.find("inertial")
        if inertial is None:
            return Inertial(1.0, np.eye(4), np.eye(3), element)
        if inertial.get("auto") in ("true", "1"):
            self.tell("SdfMassAutomatic", "info", inertial,
                      f"The mass of '{name}' is left to its colliders: a simulator computes it from 1000 kg/m3.",
                      "Write the mass, if its density is another.", name)  # fmt: skip
            return None
        mass = self.numbers.of(inertial.find("mass"), 1.0)
        if mass <= 0:
            self.tell("SdfMassNegative", "warning", inertial, f"The mass of '{name}' is {mass:g}; it is left out.",
                      "Write a mass above zero.", name)  # fmt: skip
            mass = 0.0
        inertia = inertial.find("inertia")
        xx, xy, xz, yy, yz, zz = (
            self.numbers.of(inertia.find(one) if inertia is not None else None, _INERTIA.get(one, 0.0))
            for one in _TENSOR
        )
        for child in inertial.children:
            if child.tag not in ("mass", "inertia", "pose"):
                self.leave(child.tag, child)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return Inertial(mass, self.numbers.pose(inertial.find("pose")), tensor, inertial)
