# SPDX-License-Identifier: GPL-3.0-or-later
"""Visuals and collisions of SDF -> shapes, with their materials and surfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..urdf.markup import Element
from ..urdf.mesh_data import MeshData
from ..urdf.packages import Packages
from ..urdf.robot import Color, Material, Robot, Shape, Surface
from .numbers import Numbers

_SHAPES = ("box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "plane", "mesh", "polyline")
_DIMENSIONS = {
    "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
    "cone": ("radius", "length"),
}  # fmt: skip
#: What colliders and visuals have that is read, or that is about drawing only.
_READ = {"name", "pose", "geometry", "material", "surface", "cast_shadows", "laser_retro", "max_contacts", "meta",
         "visibility_flags", "transparency"}  # fmt: skip
#: Colours of Gazebo's own materials, sRGB; others of its scripts are named.
_COLORS = {
    "Gazebo/Red": (1, 0, 0), "Gazebo/Green": (0, 1, 0), "Gazebo/Blue": (0, 0, 1), "Gazebo/Yellow": (1, 1, 0),
    "Gazebo/Purple": (1, 0, 1), "Gazebo/Turquoise": (0, 1, 1), "Gazebo/White": (1, 1, 1), "Gazebo/Black": (0, 0, 0),
    "Gazebo/Grey": (0.7, 0.7, 0.7), "Gazebo/Gray": (0.7, 0.7, 0.7), "Gazebo/DarkGrey": (0.175, 0.175, 0.175),
    "Gazebo/Orange": (1, 0.5088, 0.0468), "Gazebo/FlatBlack": (0.1, 0.1, 0.1),
    "Gazebo/ZincYellow": (0.9725, 0.9529, 0.2078),
}  # fmt: skip


@dataclass(slots=True)
class Shapes:
    robot: Robot
    numbers: Numbers
    packages: Packages
    leave: Callable[[str, Element], None]

    def of_link(self, link: Element, name: str, folder: Path) -> tuple[list[Shape], list[Shape]]:
        """(visuals, collisions) of a link. folder: of its file, which paths of meshes are relative to."""
        made: dict[str, list[Shape]] = {"visual": [], "collision": []}
        for element in link.children:
            if element.tag not in made:
                continue
            for child in element.children:
                if child.tag not in _READ and ":" not in child.tag:
                    self.leave(child.tag, child)
            shape = self.shape(element, name, folder)
            if shape is not None:
                made[element.tag].append(shape)
        return made["visual"], made["collision"]

    def tell_flat(self, element: Element, link: str, kind: str) -> None:
        self.numbers.tell("SdfShapeFlat", "warning", element, f"A {kind} of '{link}' has no size above zero.",
                          "Give it positive dimensions.", link)  # fmt: skip

    def shape(self, element: Element, link: str, folder: Path) -> Shape | None:
        geometry = element.find("geometry")
        one = next((child for child in geometry.children if child.tag in _SHAPES), None) if geometry else None
        if one is None:
            kinds = [child for child in geometry.children if child.tag != "empty"] if geometry else []
            for child in kinds:
                self.leave(f"{child.tag} as a {element.tag}", child)
            return None
        shape = Shape(one.tag, self.numbers.pose(element.find("pose")), element, element.get("name") or "")
        found = {
            "box": self.box, "ellipsoid": self.ellipsoid, "plane": self.plane, "mesh": self.mesh,
            "polyline": self.polyline,
        }.get(one.tag, self.round)(shape, one, link, folder)  # fmt: skip
        if not found:
            return None
        if element.tag == "visual":
            shape.material = self.material(element, link, folder)
        else:
            shape.surface = self.surface(element)
        return shape

    # ------------------------------------------------------------------ geometry

    def round(self, shape: Shape, one: Element, link: str, _folder: Path) -> bool:
        shape.size = tuple(self.numbers.of(one.find(name), 1.0) for name in _DIMENSIONS[one.tag])
        if min(shape.size) <= 0:
            self.tell_flat(one, link, one.tag)
        return min(shape.size) > 0

    def box(self, shape: Shape, one: Element, link: str, _folder: Path) -> bool:
        shape.size = self.numbers.list_of(one.find("size"), 3) or (1.0, 1.0, 1.0)
        if min(shape.size) <= 0:
            self.tell_flat(one, link, "box")
        return min(shape.size) > 0

    def ellipsoid(self, shape: Shape, one: Element, link: str, _folder: Path) -> bool:
        radii = self.numbers.list_of(one.find("radii"), 3) or (1.0, 1.0, 1.0)
        if min(radii) <= 0:
            self.tell_flat(one, link, "ellipsoid")
            return False
        if len(set(radii)) == 1:
            shape.kind, shape.size = "sphere", radii[:1]
            return True
        shape.kind, shape.uri = "mesh", f"ellipsoid {radii[0]!r} {radii[1]!r} {radii[2]!r}"
        shape.mesh = _ellipsoid(radii)
        return True

    def plane(self, shape: Shape, one: Element, link: str, _folder: Path) -> bool:
        normal = np.array(self.numbers.list_of(one.find("normal"), 3) or (0.0, 0.0, 1.0))
        size = self.numbers.list_of(one.find("size"), 2) or (1.0, 1.0)
        length = float(np.linalg.norm(normal))
        if min(size) <= 0 or length < 1e-9:
            self.tell_flat(one, link, "plane")
            return False
        shape.size = size
        x, y, z = normal / length
        # The rotation from Z to the normal; about X where they are opposite.
        turn = (0.0, 1.0, 0.0, 0.0) if z < -1 + 1e-12 else (1.0 + z, -y, x, 0.0)
        shape.pose = shape.pose @ frames.transform((0.0, 0.0, 0.0), frames.matrix_of(turn))
        return True

    def polyline(self, shape: Shape, one: Element, link: str, _folder: Path) -> bool:
        height = self.numbers.of(one.find("height"), 1.0)
        corners = [self.numbers.list_of(point, 2) for point in one.findall("point")]
        outline = np.array([corner for corner in corners if corner is not None])
        if len(outline) > 1 and np.array_equal(outline[0], outline[-1]):
            outline = outline[:-1]
        if height <= 0 or len(outline) < 3:
            self.tell_flat(one, link, "polyline")
            return False
        shape.kind, shape.uri = "mesh", f"polyline {outline.tolist()} {height!r}"
        shape.mesh = _prism(outline, height)
        return True

    def mesh(self, shape: Shape, one: Element, link: str, folder: Path) -> bool:
        uri = one.find("uri")
        shape.uri = self.found(uri.text.strip() if uri is not None else "", folder)
        if not shape.uri:
            self.numbers.tell(
                "SdfMeshMissing", "warning", one, f"A mesh of '{link}' names no file.", "Name a file.", link
            )
            return False
        scale = self.numbers.list_of(one.find("scale"), 3) or (1.0, 1.0, 1.0)
        if not all(scale):
            self.tell_flat(one, link, "mesh")
            return False
        shape.scale = (scale[0], scale[1], scale[2])
        part = one.find("submesh")
        if part is not None:
            name = part.find("name")
            self.numbers.tell("SdfSubmesh", "warning", part,
                              f"'{link}' has the part '{(name.text.strip() if name is not None else '')[:100]}' of "
                              "a mesh; the whole file is taken.", "Save the part as a file of its own.",
                              link)  # fmt: skip
        return True

    def found(self, uri: str, folder: Path) -> str:
        """A URI so that it leads to the same file from wherever it is looked for."""
        if not uri or "\0" in uri:
            return ""
        if "://" not in uri:
            return str(folder / uri)
        if self.packages.file(uri) is None:
            near = Packages(folder, self.packages.known).file(uri)
            return str(near) if near is not None else uri
        return uri

    # ------------------------------------------------------------------ looks and surfaces

    def material(self, element: Element, link: str, folder: Path) -> Material | None:
        material = element.find("material")
        if material is None:
            return None
        script = material.find("script")
        name = ""
        if script is not None:
            named = script.find("name")
            name = named.text.strip() if named is not None else ""
        rgba = self.color(material.find("diffuse"))
        if rgba is None and name in _COLORS:
            red, green, blue = map(float, _COLORS[name])
            rgba = (red, green, blue, 1.0)
        elif rgba is None and name:
            self.leave("script of a material", material)
        clear = self.numbers.of(element.find("transparency"), 0.0)
        if rgba is not None and clear > 0:
            rgba = (*rgba[:3], rgba[3] * (1.0 - min(1.0, clear)))
        images = [one.text.strip() for one in material.walk() if one.tag == "albedo_map" and one.text.strip()]
        texture = self.found(images[0], folder) if images else None
        if rgba is None and texture is None:
            return None
        return Material(name or f"{link}_{element.get('name') or 'visual'}", rgba, texture)

    def color(self, element: Element | None) -> Color | None:
        if element is None:
            return None
        values = self.numbers.list_of(element, 4 if len(element.text.split()) != 3 else 3)
        if values is None:
            return None
        red, green, blue, alpha = (min(1.0, max(0.0, value)) for value in (*values, 1.0)[:4])
        return red, green, blue, alpha

    def surface(self, element: Element) -> Surface | None:
        """Friction and restitution, where one of them is written; Gazebo's friction is 1 otherwise."""
        surface = element.find("surface")
        if surface is None:
            return None
        bounce = surface.find("bounce")
        friction = surface.find("friction")
        ode = next((one for one in friction.walk() if one.tag == "ode"), None) if friction is not None else None
        first = ode.find("mu") if ode is not None else None
        restitution = bounce.find("restitution_coefficient") if bounce is not None else None
        for tag in ("contact", "soft_contact"):
            if (child := surface.find(tag)) is not None and child.children:
                self.leave(f"{tag} of a surface", child)
        if first is None and restitution is None:
            return None
        mu = max(0.0, self.numbers.of(first, 1.0))
        second = self.numbers.of(ode.find("mu2"), mu) if ode is not None else mu
        if abs(second - mu) > 1e-9:
            assert ode is not None
            self.leave("second friction coefficient", ode)
        return Surface((mu, mu), min(1.0, max(0.0, self.numbers.of(restitution, 0.0))))


def _ellipsoid(radii: tuple[float, ...]) -> MeshData:
    """The hull of points on an ellipsoid."""
    rings, around = 8, 16
    rows = [
        (np.sin(np.pi * ring / rings) * np.cos(2 * np.pi * step / around),
         np.sin(np.pi * ring / rings) * np.sin(2 * np.pi * step / around), np.cos(np.pi * ring / rings))
        for ring in range(1, rings) for step in range(around)
    ]  # fmt: skip
    points = np.array([(0.0, 0.0, 1.0), *rows, (0.0, 0.0, -1.0)]) * radii
    last = len(points) - 1
    faces: list[tuple[int, ...]] = []
    for step in range(around):
        following = (step + 1) % around
        faces.append((0, 1 + step, 1 + following))
        for ring in range(rings - 2):
            here, below = 1 + ring * around, 1 + (ring + 1) * around
            faces.append((here + step, below + step, below + following, here + following))
        faces.append((last, last - around + following, last - around + step))
    return MeshData(points, np.array([len(face) for face in faces]), np.array([one for face in faces for one in face]))


def _prism(outline: Matrix, height: float) -> MeshData:
    """An outline (n, 2) drawn up to a height."""
    if np.sum(outline[:, 0] * np.roll(outline[:, 1], -1) - np.roll(outline[:, 0], -1) * outline[:, 1]) < 0:
        outline = outline[::-1]
    count = len(outline)
    points = np.concatenate([np.c_[outline, np.zeros(count)], np.c_[outline, np.full(count, height)]])
    ring = np.arange(count)
    following = np.roll(ring, -1)
    sides = np.stack([ring, following, following + count, ring + count], axis=1).reshape(-1)
    corners = np.concatenate([ring[::-1], ring + count, sides])
    return MeshData(points, np.array([count, count, *[4] * count]), corners.astype(np.int64))
