# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two glTF files say the same physics, be it in the extensions of KHR or of OMI. Knows nothing of the product.

    .venv-usd/bin/python scripts/compare_gltf.py compare ORIGINAL COPY

Bodies, colliders, triggers and joints are put into the world. A shape is how far it reaches in 26 directions, so that
it may be written in any way. A joint is what it holds, between two bodies in either order. The copy is judged in each
family that it has. Prints a line for each difference, and the score: the share of facts of both that are the same.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import math
import struct
import sys
import urllib.parse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

KHR = ("KHR_physics_rigid_bodies", "KHR_implicit_shapes", "KHR_physics_rigid_bodies")
OMI = ("OMI_physics_body", "OMI_physics_shape", "OMI_physics_joint")
TOLERANCE = 1e-4
DIRECTIONS = np.array([one for one in itertools.product((-1, 0, 1), repeat=3) if any(one)], float)
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
#: Radius, height of a capsule and of a cylinder where a shape does not say.
FALLBACK = {KHR: (0.25, 0.5, 0.5), OMI: (0.5, 1.0, 2.0)}
Entity = dict[str, Any]


def rotation(quaternion: Any) -> np.ndarray:
    x, y, z, w = np.asarray(quaternion, float) / (np.linalg.norm(quaternion) or 1)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def _axes(matrix: np.ndarray) -> np.ndarray:
    """(3, 3), the turn of a matrix as columns."""
    lengths = np.linalg.norm(matrix[:3, :3], axis=0)
    return matrix[:3, :3] / np.where(lengths == 0, 1, lengths)


class Scene:
    """A file with its nodes in the world. family: KHR or OMI."""

    def __init__(self, path: Path) -> None:
        self.path, data, self._binary = path, path.read_bytes(), b""
        if data[:4] == b"glTF":
            length = struct.unpack_from("<I", data, 12)[0]
            self._binary = data[28 + length :]
            data = data[20 : 20 + length]
        self.content: dict[str, Any] = json.loads(data)
        self.nodes: list[dict[str, Any]] = self.content.get("nodes", [])
        self.parents = {child: index for index, node in enumerate(self.nodes) for child in node.get("children", ())}

    def families(self) -> list[tuple[str, str, str]]:
        return [family for family in (KHR, OMI) if {family[0], family[2]} & set(self.content.get("extensionsUsed", ()))]

    def world(self, index: int) -> np.ndarray:
        node, local = self.nodes[index], np.eye(4)
        if "matrix" in node:
            local = np.array(node["matrix"], float).reshape(4, 4).T
        else:
            local[:3, :3] = rotation(node.get("rotation", (0, 0, 0, 1))) * np.asarray(
                node.get("scale", (1, 1, 1)), float
            )
            local[:3, 3] = node.get("translation", (0, 0, 0))
        return self.world(self.parents[index]) @ local if index in self.parents else local

    def points(self, mesh: int) -> np.ndarray:
        """(n, 3), those that its triangles use."""
        found = []
        for part in self.content["meshes"][mesh]["primitives"]:
            points = self._accessor(part["attributes"]["POSITION"])
            found.append(points[self._accessor(part["indices"])[:, 0].astype(int)] if "indices" in part else points)
        return np.vstack(found)

    def _accessor(self, index: int) -> np.ndarray:
        accessor = self.content["accessors"][index]
        view = self.content["bufferViews"][accessor["bufferView"]]
        kind = np.dtype({5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[accessor["componentType"]])
        width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", kind.itemsize * width)
        data = self._buffer(self.content["buffers"][view["buffer"]])
        return np.ndarray((accessor["count"], width), kind, data, start, (stride, kind.itemsize)).astype(float)

    def _buffer(self, buffer: dict[str, Any]) -> bytes:
        uri = buffer.get("uri")
        if uri is None:
            return self._binary
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        return (self.path.parent / urllib.parse.unquote(uri)).read_bytes()


class Physics:
    """What a scene says in one family: entities, which are named facts, by what they are about."""

    def __init__(self, scene: Scene, family: tuple[str, str, str]) -> None:
        self.scene, self.family = scene, family
        extensions = scene.content.get("extensions", {})
        self.top = extensions.get(family[0], {})
        self.shapes = extensions.get(family[1], {}).get("shapes", [])
        self.joints = extensions.get(family[2], {}).get("physicsJoints", [])
        self.bodies = {index for index in range(len(scene.nodes)) if self._kind(index) not in ("", "static")}

    def entities(self) -> dict[tuple[str, ...], list[Entity]]:
        found: defaultdict[tuple[str, ...], list[Entity]] = defaultdict(list)
        for index, node in enumerate(self.scene.nodes):
            said = node.get("extensions", {})
            body = said.get(self.family[0], {})
            if index in self.bodies:
                found["body", self._name(index)].append(self._body(index, body["motion"]))
            for key in ("collider", "trigger"):
                found_in = body.get(key, {})
                if "geometry" in found_in or "shape" in found_in:
                    found[key, self._owner(index)].append(self._collider(index, found_in))
                if "nodes" in found_in:
                    parts = [self._name(part) for part in found_in["nodes"]]
                    found["parts of a trigger", self._name(index)].append({"parts": ", ".join(sorted(parts))})
            joint = said.get(self.family[2], {})
            joint = joint.get("joint", {}) if self.family is KHR else joint
            if "connectedNode" in joint:
                ends, entity = self._joint(index, joint)
                found["joint", *ends].append(entity)
        return found

    def _kind(self, index: int) -> str:
        motion = self.scene.nodes[index].get("extensions", {}).get(self.family[0], {}).get("motion")
        if motion is None:
            return ""
        return str(motion.get("type", "kinematic" if motion.get("isKinematic") else "dynamic"))

    def _name(self, index: int) -> str:
        return str(self.scene.nodes[index].get("name", index))

    def _owner(self, index: int | None) -> str:
        while index is not None and index not in self.bodies:
            index = self.scene.parents.get(index)
        return "" if index is None else self._name(index)

    def _body(self, index: int, motion: dict[str, Any]) -> Entity:
        world = self.scene.world(index)
        axes, is_khr = _axes(world), self.family is KHR
        linear, angular = (np.array(motion.get(f"{kind}Velocity", (0, 0, 0)), float) for kind in ("linear", "angular"))
        found: Entity = {
            "kind": self._kind(index), "place": world[:3, 3], "axes": axes,
            # Velocities are in the node in KHR, and in the world in OMI.
            "velocity": world[:3, :3] @ linear if is_khr else linear, "spin": axes @ angular if is_khr else angular,
            "gravity factor": float(motion.get("gravityFactor", 1.0)),
        }  # fmt: skip
        if found["kind"] == "dynamic":
            found.update(self._mass(motion, world))
        return found

    def _mass(self, motion: dict[str, Any], world: np.ndarray) -> Entity:
        """Of a body that forces move."""
        axes, is_khr = _axes(world), self.family is KHR
        found: Entity = {"mass": motion.get("mass", None if is_khr else 1.0)}
        center = motion.get("centerOfMass", None if is_khr else (0, 0, 0))
        if center is not None:
            found["centre of mass"] = world[:3, :3] @ np.asarray(center, float) + world[:3, 3]
        moments = motion.get("inertiaDiagonal")
        if moments is not None and any(moments):
            principal = axes @ rotation(motion.get("inertiaOrientation", (0, 0, 0, 1)))
            found["inertia"] = principal @ np.diag(np.array(moments, float)) @ principal.T
        return found

    def _collider(self, index: int, said: dict[str, Any]) -> Entity:
        geometry = said.get("geometry", said)
        world = self.scene.world(index)
        local = DIRECTIONS @ world[:3, :3]
        found: Entity = {}
        shape = {"type": "convex" if geometry.get("convexHull") else "trimesh"} | geometry
        if "mesh" not in geometry:
            shape = self.shapes[geometry["shape"]]
            shape = {"type": shape["type"]} | shape.get(shape["type"], {})
        found["type"] = shape["type"]
        found["reach"] = self._reach(shape, local) + DIRECTIONS @ world[:3, 3]
        number = said.get("physicsMaterial")
        if number is not None:
            material = self.top["physicsMaterials"][number]
            found["material"] = np.array([material.get(name, fallback) for name, fallback in (
                ("staticFriction", 0.6), ("dynamicFriction", 0.6), ("restitution", 0.0))], float)  # fmt: skip
            found["combine"] = [material.get(f"{name}Combine", "average") for name in ("friction", "restitution")]
        number = said.get("collisionFilter")
        if number is not None:
            found["systems"] = sorted(self.top["collisionFilters"][number].get("collisionSystems", ()))
        return found

    def _reach(self, shape: dict[str, Any], directions: np.ndarray) -> np.ndarray:
        """How far a shape reaches along each direction, from its origin."""
        kind, (radius, *heights) = shape["type"], FALLBACK[self.family]
        if kind in ("convex", "trimesh"):
            return (directions @ self.scene.points(shape["mesh"]).T).max(axis=1)
        if kind == "box":
            return np.abs(directions) @ np.asarray(shape.get("size", (1, 1, 1)), float) / 2
        if kind == "sphere":
            return np.linalg.norm(directions, axis=1) * shape.get("radius", 0.5)
        height = shape.get("height", heights[kind == "cylinder"])
        radii = [shape.get(f"radius{end}", shape.get("radius", radius)) for end in ("Bottom", "Top")]
        if kind == "capsule" and "radius" in shape and "radiusTop" not in shape:
            height -= 2 * radii[0]  # of the first draft, from end to end
        wide = np.linalg.norm(directions if kind == "capsule" else directions[:, (0, 2)], axis=1)
        ends = [sign * height / 2 * directions[:, 1] + size * wide for sign, size in zip((-1, 1), radii, strict=True)]
        return np.max(ends, axis=0)

    def _joint(self, index: int, said: dict[str, Any]) -> tuple[tuple[str, str], Entity]:
        """Its two bodies in the order of their names, and what it holds as seen from the first."""
        ends = [(self._owner(node), self.scene.world(node)) for node in (index, said["connectedNode"])]
        sign = 1.0
        if ends[0][0] > ends[1][0]:
            ends.reverse()
            sign = -1.0
        (one, first), (other, second) = ends
        found: Entity = {"place 0": first[:3, 3], "place 1": second[:3, 3],
                         "collides": bool(said.get("enableCollision"))}  # fmt: skip
        joint = self.joints[said["joint"]]
        for kind in ("linear", "angular"):
            found.update(self._limits(kind, joint.get("limits", []), _axes(first), _axes(second), sign))
        for drive in joint.get("drives", []):
            direction, side = _directed(_axes(first)[:, drive["axis"]], sign)
            targets = [side * drive.get(f"{name}Target", 0.0) for name in ("position", "velocity")]
            values = (drive.get("stiffness", 0.0), drive.get("damping", 0.0), drive.get("maxForce", math.inf))
            name = f"{drive['type']} drive along {np.round(direction, 2) + 0.0}"
            found[name] = np.array([*direction, *targets, *values])
            found[f"{name}, mode"] = drive.get("mode", "force")
        return (one, other), found

    @staticmethod
    def _limits(
        kind: str, limits: list[dict[str, Any]], first: np.ndarray, second: np.ndarray, sign: float
    ) -> Iterator[tuple[str, Any]]:
        """Which directions are locked, as projections; and the range along each other one, or of several together."""
        locked = [axis for limit in limits if limit.get("min") == 0 == limit.get("max")
                  for axis in limit.get(f"{kind}Axes", ())]  # fmt: skip
        for side, axes in enumerate((first, second)):
            yield f"locked {kind} {side}", axes[:, locked] @ axes[:, locked].T
        for limit in limits:
            axes = limit.get(f"{kind}Axes", [])
            if not axes or (limit.get("min") == 0 == limit.get("max")):
                continue
            low, high = limit.get("min", -math.inf), limit.get("max", math.inf)
            direction, side = _directed(first[:, axes[0]], sign)
            if len(axes) > 1:
                direction = np.abs(first[:, axes] @ first[:, axes].T).ravel()
            elif side < 0:
                low, high = -high, -low
            soft = [limit.get(name, 0.0) or 0.0 for name in ("stiffness", "damping")]
            name = np.round(direction, 2) + 0.0
            yield f"{kind} range along {name}", np.array([*direction, low, high, *soft], float)


def _directed(direction: np.ndarray, sign: float) -> tuple[np.ndarray, float]:
    """A direction without its sign, which no joint has, and the sign that numbers along it get."""
    largest = direction[np.argmax(np.abs(np.round(direction, 3)))]
    return (direction, sign) if largest > 0 else (-direction, -sign)


# --------------------------------------------------------------------------- comparing


def same(one: Any, other: Any) -> bool:
    if isinstance(one, str | bool | list) or one is None or other is None:
        return bool(one == other)
    first, second = np.asarray(one, float), np.asarray(other, float)
    if first.shape != second.shape:
        return False
    return bool(np.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE))


def differences(one: Entity, other: Entity) -> list[str]:
    lost = [f"lost {name}: {one[name]}" for name in one if name not in other]
    lost += [f"spurious {name}: {other[name]}" for name in other if name not in one]
    return lost + [f"changed {name}: {one[name]} -> {other[name]}" for name in one
                   if name in other and not same(one[name], other[name])]  # fmt: skip


def compare(original: Physics, copy: Physics) -> tuple[int, list[str]]:
    """(number of facts of both, differences). What is about the same thing is paired so that least differs."""
    one, other = original.entities(), copy.entities()
    facts, found = 0, []
    for key in dict.fromkeys([*one, *other]):
        left = list(other.get(key, ()))
        for entity in one.get(key, ()):
            best = min(left, key=lambda candidate: len(differences(entity, candidate)), default={})
            left = [candidate for candidate in left if candidate is not best]
            facts += len(entity.keys() | best.keys())
            found += [f"{' '.join(key)}: {line}" for line in differences(entity, best)]
        for entity in left:
            facts += len(entity)
            found += [f"{' '.join(key)}: {line}" for line in differences({}, entity)]
    return facts, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["compare"])
    parser.add_argument("original", type=Path)
    parser.add_argument("copy", type=Path)
    given = parser.parse_args()
    one, other = Scene(given.original), Scene(given.copy)
    facts, lines = 0, []
    for family in other.families():
        number, found = compare(Physics(one, one.families()[0]), Physics(other, family))
        facts += number
        lines += found
    print("\n".join(lines))
    print(f"score {1 - len(lines) / facts if facts else 0.0:.4f} of {facts}")
    sys.exit(1 if lines or not facts else 0)


if __name__ == "__main__":
    main()
