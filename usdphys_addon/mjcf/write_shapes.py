# SPDX-License-Identifier: GPL-3.0-or-later
"""Geoms: colliders, and what is only seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from ..core import fitting, frames, gprims, paths
from ..core.model import Mesh, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..urdf.build import Part
from . import height_fields, values
from .draft import Draft
from .tree import seen_from
from .values import Floats
from .words import placed, row
from .write_assets import Assets
from .write_contacts import Contacts, collides

#: Half of the thickness of a box that stands for a flat mesh, m.
_THIN = 0.001
#: Sizes of shapes below this (m) are none to MuJoCo.
_LEAST = 1e-9
#: Groups of geoms that are only seen, and of colliders that are not, which MuJoCo hides.
_VISUALS, _GUIDES = 2, 3


class Shapes:
    """Writes what bodies are made of."""

    def __init__(self, draft: Draft, contacts: Contacts) -> None:
        self.draft, self.model, self.further, self.tree = draft, draft.model, draft.further, draft.tree
        self.contacts, self.assets = contacts, Assets(draft)
        self._parts = {part.path: part for part in draft.further.seen}
        #: Colliders that are seen as they are.
        self._shown: set[str] = set()

    def of_body(self, path: str, pose: Floats) -> list[str]:
        """The geoms of a body in its space, or with an empty path those of what stands still."""
        if path:
            own = self.draft.colliders.get(path, ())
        else:
            moved = {prim.path for body in self.tree.bodies for prim in self.draft.colliders.get(body, ())}
            own = [prim for prim in self.model.colliders.values() if prim.path not in moved]
        lines = []
        for prim in own:
            if collides(prim):
                lines += self.contacts.in_own_body(prim, self._collider(prim, pose))
        for part in self._seen.get(path, ()):
            if part.path not in self._shown:
                lines += self._visual(part, pose)
        return lines

    @cached_property
    def _seen(self) -> dict[str, list[Part]]:
        """What is to be seen by the body that carries it, which is empty for what stands still."""
        found: dict[str, list[Part]] = {}
        for part in self.further.seen:
            found.setdefault(self.tree.owner_of(part.path), []).append(part)
        return found

    # ------------------------------------------------------------------ what is only seen

    def _visual(self, part: Part, body: Floats) -> list[str]:
        if not np.abs(part.world).max() <= values.FARTHEST:  # also NaN
            return self._lost(part)
        world = frames.unscaled(part.world)
        stretch, pose = world[:3, :3].T @ part.world[:3, :3], seen_from(body, world)
        words = f' mass="0" contype="0" conaffinity="0" group="{_VISUALS}"'
        label, more = paths.name_of(part.path), self.further.words.get(part.path, "")
        if part.gprim is not None:
            shape, turn = self._primitive(part.gprim, np.diag(stretch))
            made = [(shape, self.assets.look(part.material))]
            pose = pose @ frames.transform((0, 0, 0), turn)
        else:
            made = [(f'type="mesh" mesh="{mesh}"', look) for mesh, look in self._seen_meshes(part, stretch, label)]
        lines = []
        for number, (shape, look) in enumerate(made):
            name = self.draft.name_of(f"{part.path} seen {number}", label, "geom")
            lines.append(f'<geom name="{escape(name)}" {shape}{placed(pose)}{words}{look}{more}/>')
        return lines

    def _lost(self, part: Part) -> list[str]:
        """No geoms, and an issue that says so."""
        label = paths.name_of(part.path)
        self.draft.issues.append(Issue(
            "MjcfNotSaid", "warning", part.path, label,
            f"'{label}' is nowhere, or has points beyond {values.FARTHEST:g} m; it is left out.",
            "Correct its place and its mesh.",
        ))  # fmt: skip
        return []

    def _seen_meshes(self, part: Part, stretch: Floats, label: str) -> Iterator[tuple[str, str]]:
        """(name of a mesh, words for its look) for each material of a mesh that is seen."""
        assert part.mesh is not None
        mesh = part.mesh.transformed(np.asarray(stretch))
        if not np.abs(mesh.points).max(initial=0.0) <= values.FARTHEST:
            self._lost(part)
            return
        corners = _fans(mesh.counts)
        of_face = np.repeat(np.arange(len(mesh.counts)), mesh.counts - 2)
        used = mesh.faces[of_face] if mesh.faces is not None and mesh.materials else np.full(len(corners), -1)
        for number in np.unique(used).tolist():
            own = corners[used == number]
            points, where = mesh.points[mesh.corners[own.ravel()]], None
            key = points if mesh.uvs is None else np.concatenate((points, mesh.uvs[own.ravel()]), axis=1)
            rows, where = np.unique(np.round(key, 9), axis=0, return_inverse=True)
            triangles = where.reshape(-1, 3)
            sides = [rows[triangles[:, side], :3] for side in range(3)]
            areas = np.linalg.norm(np.cross(sides[1] - sides[0], sides[2] - sides[0]), axis=1)
            triangles = triangles[areas > 0.0]
            if len(rows) < 4 or not len(triangles):
                self.draft.issues.append(Issue(
                    "MjcfNotSaid", "info", part.path, label,
                    f"A part of '{label}' has fewer than four points, which MuJoCo takes for no mesh; it is left out.",
                    "Give it some thickness.",
                ))  # fmt: skip
                continue
            look = self.assets.look(mesh.materials[number] if number >= 0 else part.material)
            flipped = None if mesh.uvs is None else rows[:, 3:] * (1.0, -1.0) + (0.0, 1.0)
            yield self.assets.mesh(rows[:, :3], triangles, label, flipped, is_seen=True), look

    # ------------------------------------------------------------------ colliders

    def _collider(self, prim: Prim, body: Floats) -> list[str]:
        world = frames.unscaled(prim.world)
        stretch = world[:3, :3].T @ prim.world[:3, :3]
        pose = seen_from(body, world)
        gprim = prim.get(usd_geom.Gprim)
        if isinstance(gprim, usd_geom.Gprim):
            words, turn = self._primitive(gprim, np.diag(stretch), prim)
            parts = [(words, pose @ frames.transform((0, 0, 0), turn))]
            looks = self._look_of(prim.path)
        else:
            parts = self._mesh(prim, stretch, pose)
            is_whole = len(parts) == 1 and parts[0][0].startswith(('type="mesh"', 'type="hfield"'))
            looks = self._look_of(prim.path) if is_whole else ""
        if looks:
            self._shown.add(prim.path)
        elif self.further.seen:
            looks = f' group="{_GUIDES}"'
        lines = []
        for number, (words, place) in enumerate(parts):
            path = f"{prim.path}.{number}" if number else prim.path
            name = self.draft.name_of(path, prim.label or prim.name, "geom")
            words += f'{placed(place)} mass="0"{self.contacts.words_of(prim)}{looks}'
            lines.append(f'<geom name="{escape(name)}" {words}{self.further.words.get(prim.path, "")}/>')
        return lines

    def _look_of(self, path: str) -> str:
        """Words for the look of a collider that is seen as it is, of one material; empty for others."""
        part = self._parts.get(path)
        if part is None or (part.mesh is not None and part.mesh.materials):
            return ""
        return self.assets.look(part.material) or ' rgba="0.5 0.5 0.5 1"'

    def _primitive(self, gprim: usd_geom.Gprim, scale: Any, collider: Prim | None = None) -> tuple[str, Floats]:
        """(words for a shape, rotation (3, 3) of it in the space of its prim).

        collider: the prim, which is named where it has a size of zero.
        """
        sizes = gprims.sizes(gprim, scale)
        turn, radius, height, edges = _to_axis(sizes.spine), sizes.radius, sizes.height, np.array(sizes.edges)
        if sizes.kind is usd_geom.Plane:
            return 'type="plane" size="0 0 1"', turn
        is_capsule = sizes.kind is usd_geom.Capsule
        has_ends = sizes.kind in (usd_geom.Cylinder, usd_geom.Cone)
        if min(edges if sizes.kind is usd_geom.Cube else [radius, height] if has_ends else [radius]) < _LEAST:
            if collider is not None:
                self._name_sizeless(collider)
            radius, edges = max(radius, _THIN), np.maximum(edges, 2 * _THIN)
            height = max(height, 2 * _THIN) if has_ends else height
        if sizes.kind is usd_geom.Cube:
            return f'type="box" size="{row(edges / 2)}"', np.eye(3)
        if sizes.kind is usd_geom.Sphere or (is_capsule and height < _LEAST):
            return f'type="sphere" size="{row([radius])}"', np.eye(3)
        if sizes.kind is not usd_geom.Cone:
            return f'type="{"capsule" if is_capsule else "cylinder"}" size="{row([radius, height / 2])}"', turn
        angles = np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False)
        rim = np.stack((np.cos(angles), np.sin(angles), np.zeros(24)), axis=1) * radius
        points = np.concatenate((rim - (0, 0, height / 2), [(0, 0, height / 2)]))
        return f'type="mesh" mesh="{self.assets.mesh(points, None, "cone")}"', turn

    def _name_sizeless(self, prim: Prim) -> None:
        self.draft.issue(
            prim, f"{prim.display} has a size of zero and is written 2 mm thick, as MuJoCo takes no such shapes.",
            "Give it a size, or remove it.", "info",
        )  # fmt: skip

    def _mesh(self, prim: Prim, stretch: Floats, pose: Floats) -> list[tuple[str, Floats]]:
        """(words for a shape, pose (4, 4) in the body) of what a mesh collides with."""
        geometry = prim.mesh() if prim.mesh is not None else None
        if isinstance(geometry, SpherePoints):
            size = float(np.abs(np.linalg.det(stretch))) ** (1 / 3)
            return [(f'type="sphere" size="{row([radius * size])}"', pose @ frames.transform(stretch @ center))
                    for center, radius in zip(geometry.centers, geometry.radii, strict=True)]  # fmt: skip
        if not isinstance(geometry, Mesh) or not len(geometry.points):
            self.draft.issue(
                prim, f"{prim.display} has no shape that can be written.", "Give it a primitive or a mesh."
            )
            return []
        with np.errstate(invalid="ignore", over="ignore"):
            points = np.asarray(geometry.points, float) @ stretch.T
        if not np.abs(points).max() <= values.FARTHEST:  # also NaN
            self.draft.issue(
                prim, f"{prim.display} is nowhere, or has points beyond {values.FARTHEST:g} m; it is left out.",
                "Correct its place and its mesh.",
            )  # fmt: skip
            return []
        settings = prim.get(usd_physics.MeshCollisionAPI)
        word = settings.resolved("approximation") if settings is not None else "none"
        low, high = points.min(axis=0), points.max(axis=0)
        if word == "boundingCube":
            half = (high - low) / 2
            if half.min() < _LEAST:
                self._name_sizeless(prim)
                half = np.maximum(half, _THIN)
            return [(f'type="box" size="{row(half)}"', pose @ frames.transform((high + low) / 2))]
        if word == "boundingSphere":
            middle, radius = fitting.bounding_ball(points)
            return [(f'type="sphere" size="{row([radius])}"', pose @ frames.transform(middle))]
        if word not in ("convexHull", "convexDecomposition") and (grid := self._height_field(prim, geometry, points)):
            words, place = grid
            return [(words, pose @ place)]
        if (flat := _flat_box(points)) is not None:
            size, place = flat
            self.draft.issue(
                prim, f"{prim.display} is flat and is written as a thin box, as MuJoCo has no flat meshes.",
                "Use a plane or a thin box.", "info",
            )  # fmt: skip
            return [(f'type="box" size="{row(size)}"', pose @ place)]
        if word != "convexHull":
            self.draft.issue(
                prim, f"{prim.display} collides as {word or 'a mesh'} and is written as its hull, which is what MuJoCo "
                "makes of a mesh.", "Make convex parts of it.",
            )  # fmt: skip
        name = self.assets.mesh(points, geometry.triangles, prim.label or prim.name)
        return [(f'type="mesh" mesh="{name}"', pose)]

    def _height_field(self, prim: Prim, geometry: Mesh, points: Floats) -> tuple[str, Floats] | None:
        """(words for a shape, pose (4, 4)) of a mesh on a grid that stands still, as MuJoCo's height fields have to."""
        if self.tree.owner_of(prim.path):
            return None
        found = height_fields.of_mesh(points, geometry.triangles)
        if found is None or found.field.heights is None:
            return None
        wanted = prim.label or prim.name
        name = self.assets.height_field(prim.path, wanted, found.field.size, found.field.heights)
        return f'type="hfield" hfield="{escape(name)}"', frames.transform(found.center)


def _fans(counts: Any) -> Any:
    """Triangles (m, 3) of corners of faces, face by face."""
    starts = np.cumsum(counts) - counts
    of_face = np.repeat(np.arange(len(counts)), counts - 2)
    step = np.arange(len(of_face)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
    first = starts[of_face]
    return np.stack((first, first + step + 1, first + step + 2), axis=1)


def _flat_box(points: Floats) -> tuple[Floats, Floats] | None:
    """(half lengths (3,), pose (4, 4)) of the box about points (n, 3) in a plane; None for points in space."""
    middle = points.mean(axis=0)
    # One or two points have no three axes: the middle is added.
    around = np.pad(points - middle, ((0, max(0, 3 - len(points))), (0, 0)))
    _, sizes, axes = np.linalg.svd(around, full_matrices=False)
    if sizes[-1] > 1e-6 * max(float(sizes[0]), 1e-30):
        return None
    turn = np.asarray(axes).T
    if np.linalg.det(turn) < 0.0:
        turn[:, 2] = -turn[:, 2]
    along = (points - middle) @ turn
    low, high = along.min(axis=0), along.max(axis=0)
    pose = frames.transform(middle + turn @ ((low + high) / 2.0), turn)
    return np.maximum((high - low) / 2.0, _THIN), pose


def _to_axis(number: int) -> Floats:
    """The rotation (3, 3) that takes Z to an axis, as shapes of MuJoCo are along Z."""
    return (np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float), np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float),
            np.eye(3))[number]  # fmt: skip
