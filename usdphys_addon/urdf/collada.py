# SPDX-License-Identifier: GPL-3.0-or-later
"""COLLADA (.dae) -> arrays. Its unit is applied and its up axis is not, as RViz and Gazebo do."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from . import markup
from .markup import Element
from .mesh_data import Floats, Ints, MeshData, MeshMaterial, joined, linear, sibling

_PRIMITIVES = frozenset({"triangles", "polylist", "polygons", "tristrips", "trifans"})
#: Copies of geometry through nested nodes; more are an attack.
_MOST_INSTANCES = 20_000


def read_collada(path: Path) -> MeshData:
    """All geometry of the scene of a file as one mesh. Raises ValueError or InputError if there is none."""
    root, _ = markup.parse(path.read_bytes(), path.name)
    return _Reader(root, path).mesh()


class _Reader:
    def __init__(self, root: Element, path: Path) -> None:
        self.root, self.path = root, path
        self.ids: dict[str, Element] = {}
        for element in root.walk():
            element.tag = element.tag.rpartition(":")[2]
            if key := element.get("id"):
                self.ids.setdefault(key, element)
        self.parts: list[MeshData] = []
        self.arrays: dict[int, Floats] = {}
        self.known: dict[tuple[int, tuple[tuple[str, str], ...]], list[MeshData]] = {}
        self.materials: dict[str, MeshMaterial] = {}

    def mesh(self) -> MeshData:
        asset = self.root.find("asset")
        unit = asset.find("unit") if asset is not None else None
        meters = float((unit.get("meter") if unit is not None else None) or 1.0)
        scene = self.root.find("scene")
        scene_name = scene.find("instance_visual_scene") if scene is not None else None
        top = self.target(scene_name) if scene_name is not None else None
        scenes = [top] if top is not None else [one for one in self.root.walk() if one.tag == "visual_scene"]
        for one in scenes:
            for node in one.findall("node"):
                self.node(node, np.eye(4), 0)
        if not self.parts:
            raise ValueError("it shows no triangles")
        mesh = joined(self.parts)
        mesh.points = mesh.points * meters
        return mesh

    def target(self, element: Element | None, name: str = "url") -> Element | None:
        return self.ids.get((element.get(name) or "").removeprefix("#")) if element is not None else None

    # ------------------------------------------------------------------ the scene

    def node(self, element: Element, above: Matrix, depth: int) -> None:
        if depth > 60 or len(self.parts) > _MOST_INSTANCES:
            return
        here = above
        for child in element.children:
            here = here @ _operation(child)
        for child in element.children:
            if child.tag == "node":
                self.node(child, here, depth + 1)
            elif child.tag == "instance_node":
                target = self.target(child)
                if target is not None:
                    self.node(target, here, depth + 1)
            elif child.tag in ("instance_geometry", "instance_controller"):
                geometry = self.target(child)
                if child.tag == "instance_controller" and geometry is not None:
                    geometry = self.target(geometry.find("skin"), "source")
                if geometry is not None:
                    self.instance(geometry, self.bindings(child), here)

    def instance(self, geometry: Element, bindings: dict[str, str], here: Matrix) -> None:
        key = (id(geometry), tuple(sorted(bindings.items())))
        if key not in self.known:
            self.known[key] = self.geometry(geometry, bindings)
        turn = here[:3, :3]
        mirrored = np.linalg.det(turn) < 0
        for part in self.known[key]:
            placed = MeshData(
                part.points @ turn.T + here[:3, 3], part.counts, part.corners, part.uvs, None, part.materials,
                part.faces,
            )  # fmt: skip
            if part.normals is not None and not frames.is_flat(float(np.linalg.det(turn))):
                placed.normals = part.normals @ np.linalg.inv(turn)
            if mirrored:
                _turn_around(placed)
            self.parts.append(placed)

    def bindings(self, element: Element) -> dict[str, str]:
        """Id of the material by its symbol. A broken reference binds nothing."""
        materials = {}
        for one in element.walk():
            if one.tag == "instance_material":
                materials[one.get("symbol") or ""] = (one.get("target") or "").removeprefix("#")
        return materials

    # ------------------------------------------------------------------ geometry

    def geometry(self, element: Element, bindings: dict[str, str]) -> list[MeshData]:
        mesh = element.find("mesh")
        if mesh is None:
            return []
        meshes_read = []
        for one in mesh.children:
            if one.tag in _PRIMITIVES:
                part = self.primitive(one, bindings)
                if part is not None and len(part.counts):
                    meshes_read.append(part)
        return meshes_read

    def primitive(self, element: Element, bindings: dict[str, str]) -> MeshData | None:
        inputs = element.findall("input")
        width = max((int(one.get("offset") or 0) for one in inputs), default=0) + 1
        offsets = {one.get("semantic"): (int(one.get("offset") or 0), one) for one in reversed(inputs)}
        if "VERTEX" not in offsets:
            return None
        at, vertices = offsets["VERTEX"][0], self.target(offsets["VERTEX"][1], "source")
        inside = {one.get("semantic"): one for one in vertices.findall("input")} if vertices is not None else {}
        points = self.source(self.target(inside.get("POSITION"), "source"))
        if points is None or points.shape[1] < 3:
            return None
        counts, index = _faces(element, width)
        if not len(index):
            return None
        part = MeshData(points[:, :3], counts, index[:, at])
        for name, size in (("TEXCOORD", 2), ("NORMAL", 3)):
            place = offsets.get(name)
            one = place[1] if place is not None else inside.get(name)
            table = self.source(self.target(one, "source"))
            column = index[:, place[0] if place is not None else at]
            if table is None or table.shape[1] < size or column.min() < 0 or column.max() >= len(table):
                continue
            values = table[column][:, :size]
            if np.isfinite(values).all():
                if name == "TEXCOORD":
                    part.uvs = values
                else:
                    part.normals = values
        symbol = element.get("material")
        target = bindings.get(symbol or "") or (symbol or "")
        material = self.material(target) if target else None
        if material is not None:
            part.materials, part.faces = [material], np.zeros(len(counts), np.int64)
        return part

    def source(self, element: Element | None) -> Floats | None:
        """The numbers of a source, a row for each index."""
        if element is None:
            return None
        if id(element) not in self.arrays:
            numbers = element.find("float_array")
            common = element.find("technique_common")
            accessor = common.find("accessor") if common is not None else None
            values = np.array((numbers.text if numbers is not None else "").split(), float)
            stride = int((accessor.get("stride") if accessor is not None else None) or 1)
            offset = int((accessor.get("offset") if accessor is not None else None) or 0)
            stride = max(1, stride)
            values = values[max(0, offset) :]
            self.arrays[id(element)] = values[: len(values) // stride * stride].reshape(-1, stride)
        return self.arrays[id(element)]

    # ------------------------------------------------------------------ materials

    def material(self, key: str) -> MeshMaterial | None:
        if key not in self.materials:
            element = self.ids.get(key)
            if element is None or element.tag != "material":
                return None
            made = MeshMaterial(element.get("name") or key)
            effect = self.target(element.find("instance_effect"))
            if effect is not None:
                self.read_effect(effect, made)
            self.materials[key] = made
        return self.materials[key]

    def read_effect(self, effect: Element, made: MeshMaterial) -> None:
        samplers = {one.get("sid"): one for one in effect.walk() if one.tag == "newparam"}
        diffuse, emission = (
            next((one for one in effect.walk() if one.tag == tag), None) for tag in ("diffuse", "emission")
        )
        if emission is not None:
            made.emission = _color(emission) or made.emission
            texture = emission.find("texture")
            if texture is not None and (glow := self.image(texture.get("texture") or "", samplers)) is not None:
                made.emission, made.glow = (1.0, 1.0, 1.0), glow
        if diffuse is None:
            return
        texture = diffuse.find("texture")
        if (color := _color(diffuse)) is not None:
            made.color = (*color, self.opacity(effect))
        if texture is not None:
            made.texture = self.image(texture.get("texture") or "", samplers)

    def opacity(self, effect: Element) -> float:
        """Opacity by the rule of COLLADA. Many exporters mean 1 by a transparency of 0, so nothing vanishes whole."""
        by_tag = {one.tag: one for one in effect.walk() if one.tag in ("transparent", "transparency")}
        if "transparency" not in by_tag and "transparent" not in by_tag:
            return 1.0
        strength = 1.0
        number = by_tag["transparency"].find("float") if "transparency" in by_tag else None
        if number is not None and number.text.strip():
            strength = float(number.text)
        mode, value = "A_ONE", 1.0
        if "transparent" in by_tag:
            mode = by_tag["transparent"].get("opaque") or "A_ONE"
            color = by_tag["transparent"].find("color")
            parts = [float(part) for part in color.text.split()] if color is not None else []
            if len(parts) == 4:
                value = parts[3] if mode.startswith("A") else sum(parts[:3]) / 3.0
        opacity = value * strength if mode.endswith("ONE") else 1.0 - value * strength
        return min(1.0, opacity) if opacity > 0.0 and math.isfinite(opacity) else 1.0

    def image(self, name: str, params: dict[str | None, Element]) -> Path | None:
        """The file of a texture: through its sampler and surface, or directly."""
        for _ in range(4):
            param = params.get(name)
            if param is None:
                break
            inner = next((one for one in param.walk() if one.tag in ("source", "init_from") and one.text.strip()), None)
            if inner is None:
                break
            name = inner.text.strip()
        image = self.ids.get(name)
        if image is None:
            return None
        place = next((one for one in image.walk() if one.tag in ("init_from", "ref") and one.text.strip()), None)
        if place is None:
            return None
        from urllib.parse import unquote

        return sibling(self.path.parent, unquote(place.text.strip().removeprefix("file://")))


def _operation(element: Element) -> Matrix:
    """Matrix (4, 4) of a transform element; the identity for others."""
    if element.tag not in ("matrix", "translate", "rotate", "scale"):
        return np.eye(4)
    values = np.array(element.text.split(), float)
    if element.tag == "matrix":
        return np.asarray(values.reshape(4, 4), float)
    if element.tag == "translate":
        return frames.transform(values[:3])
    if element.tag == "scale":
        return np.diag([*values[:3], 1.0])
    size = float(np.linalg.norm(values[:3]))
    if not size:
        return np.eye(4)
    half = math.radians(values[3]) / 2.0
    axis = values[:3] / size * math.sin(half)
    return frames.transform((0, 0, 0), frames.matrix_of((math.cos(half), *axis)))


def _faces(element: Element, width: int) -> tuple[Ints, Ints]:
    """Corners of each face (f,), and the indices of each corner (k, width)."""

    def rows(text: str) -> Ints:
        values = np.array(text.split(), np.int64)
        return values[: len(values) // width * width].reshape(-1, width)

    lists = [rows(one.text) for one in element.findall("p")]
    if element.tag == "polygons":
        lists += [rows(hole.text) for one in element.findall("ph") for hole in one.findall("p")[:1]]
        joined_lists = np.concatenate(lists) if lists else np.zeros((0, width), np.int64)
        return np.array([len(one) for one in lists], np.int64), joined_lists
    if element.tag in ("tristrips", "trifans"):
        strips = [_triangles(len(one), fan=element.tag == "trifans") for one in lists]
        index = [one[strip.reshape(-1)] for one, strip in zip(lists, strips, strict=True) if len(strip)]
        corners = np.concatenate(index) if index else np.zeros((0, width), np.int64)
        return np.full(len(corners) // 3, 3), corners
    whole = np.concatenate(lists) if lists else np.zeros((0, width), np.int64)
    vcount = element.find("vcount")
    if element.tag == "polylist" and vcount is not None:
        counts = np.array(vcount.text.split(), np.int64)
        if (counts < 0).any() or counts.sum() > len(whole):
            raise ValueError("a polylist has fewer indices than its faces need")
        return counts[counts > 0], whole[: counts.sum()]
    return np.full(len(whole) // 3, 3), whole[: len(whole) // 3 * 3]


def _color(element: Element) -> tuple[float, float, float] | None:
    """The linear colour in an element; None without one."""
    color = element.find("color")
    values = [float(part) for part in color.text.split()] if color is not None else []
    return linear(tuple(values[:3]))[:3] if len(values) >= 3 and all(map(math.isfinite, values)) else None


def _triangles(count: int, *, fan: bool) -> Ints:
    """Corners (t, 3) of a strip or fan with a number of corners."""
    if count < 3:
        return np.zeros((0, 3), np.int64)
    at = np.arange(count - 2)
    if fan:
        return np.stack([np.zeros_like(at), at + 1, at + 2], axis=1)
    odd = at % 2
    return np.stack([at, at + 1 + odd, at + 2 - odd], axis=1)


def _turn_around(mesh: MeshData) -> None:
    """Reverse the order of the corners of each face."""
    ends = np.cumsum(mesh.counts)
    starts = ends - mesh.counts
    at = np.arange(len(mesh.corners))
    owner = np.repeat(np.arange(len(mesh.counts)), mesh.counts)
    order = starts[owner] + ends[owner] - 1 - at
    mesh.corners = mesh.corners[order]
    mesh.uvs = None if mesh.uvs is None else mesh.uvs[order]
    mesh.normals = None if mesh.normals is None else mesh.normals[order]
