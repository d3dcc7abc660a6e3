# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two USD files say the same physics, each in its own units and up axis, as OpenUSD itself understands them.

    .venv-usd/bin/python scripts/compare_facts.py ORIGINAL COPY [--json REPORT]

Knows nothing of the product: schemas, fallbacks, bindings, owners and members are OpenUSD's. Places, directions and
quantities are compared in SI in a world with Z up; what equals its fallback is as good as not authored. Prints a line
for each difference, and the score: the share of facts of both files that are the same. Attributes of vendors are
counted apart, those of the original alone, and only between files of the same units. Exit status 2 where a file cannot
be opened.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade

#: Relative; Blender holds places as 32-bit floats.
TOLERANCE = 1e-4
#: Facts near zero, of which the noise is as large as for 1, or as the whole scene where that is less than a metre.
TURNS = frozenset({"axes", "turn", "axis", "normal", "frame", "gravity"})
PLACES = frozenset({"place", "place 0", "place 1", "middle", "centre of mass"})
#: Larger numbers are written for infinity.
HUGE = 1e37
#: Exponents of length and mass of attributes that are numbers; degrees are the same in both files.
DIMENSIONS: dict[str, tuple[int, int]] = {
    "physics:mass": (0, 1), "physics:density": (-3, 1), "physics:gravityMagnitude": (1, 0),
    "physics:breakForce": (1, 1), "physics:breakTorque": (2, 1), "physics:minDistance": (1, 0),
    "physics:maxDistance": (1, 0),
}  # fmt: skip
VENDOR = re.compile(r"(physx\w*|newton|mjc|state|drive:\w+:physx\w*|limit:\w+:physx\w*):")
PLACED = frozenset({
    "physics:velocity", "physics:angularVelocity", "physics:centerOfMass", "physics:diagonalInertia",
    "physics:principalAxes", "physics:localPos0", "physics:localPos1", "physics:localRot0", "physics:localRot1",
    "physics:gravityDirection", "physics:axis",
})  # fmt: skip
Facts = dict[tuple[str, str], Any]


class World:
    """A stage with what brings its numbers to SI and Z up."""

    def __init__(self, stage: Usd.Stage) -> None:
        self.stage = stage
        self.meters = UsdGeom.GetStageMetersPerUnit(stage)
        self.kilograms = UsdPhysics.GetStageKilogramsPerUnit(stage)
        self.up = str(UsdGeom.GetStageUpAxis(stage))
        #: Turns rows: vector @ turn.
        self.turn = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float) if self.up == "Y" else np.eye(3)
        self._cache = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
        proxies = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
        self.prims = list(Usd.PrimRange(stage.GetPseudoRoot(), proxies))

    def matrix(self, prim: Usd.Prim) -> np.ndarray:
        """(4, 4), for rows, in stage units."""
        return np.array(self._cache.GetLocalToWorldTransform(prim) if prim and not prim.IsPseudoRoot() else np.eye(4))

    def axes(self, prim: Usd.Prim) -> np.ndarray:
        """(3, 3), the prim's axes as rows, in the world, orthonormal."""
        matrix = self._cache.GetLocalToWorldTransform(prim) if prim else None
        rows = np.array(matrix.RemoveScaleShear())[:3, :3] if matrix is not None else np.eye(3)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths) @ self.turn

    def point(self, matrix: np.ndarray, local: Any) -> np.ndarray:
        return (np.append(np.asarray(local, float), 1.0) @ matrix)[:3] @ self.turn * self.meters

    def vector(self, matrix: np.ndarray, local: Any) -> np.ndarray:
        return np.asarray(local, float) @ matrix[:3, :3] @ self.turn * self.meters


def _rotation(quaternion: Any) -> np.ndarray:
    """(3, 3) for rows; the identity for a quaternion of zeros."""
    w, (x, y, z) = quaternion.GetReal(), quaternion.GetImaginary()
    length = math.hypot(w, x, y, z)
    if length == 0:
        return np.eye(3)
    w, x, y, z = (part / length for part in (w, x, y, z))
    columns = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(columns).T


def _said(prim: Usd.Prim, name: str) -> Any:
    """The value of an attribute that says something else than its fallback; None otherwise."""
    attribute = prim.GetAttribute(name)
    if not attribute or not attribute.HasAuthoredValue():
        return None
    value = attribute.Get(Usd.TimeCode.EarliestTime())
    if isinstance(value, float) and abs(value) > HUGE:
        value = math.copysign(math.inf, value)
    return None if value == prim.GetPrimDefinition().GetAttributeFallbackValue(name) else value


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value


# --------------------------------------------------------------------------- what is said


def facts_of(world: World) -> Facts:
    """(path of a prim, name of the fact) -> numbers in SI and the world, or a name."""
    found: Facts = {}
    for prim in world.prims:
        path = str(prim.GetPath())
        for name, value in _facts(world, prim):
            found[path, name] = value
    for path, name, value in _parsed(world):
        found[path, name] = value
    return found


def _facts(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    kind = str(prim.GetTypeName())
    if kind.startswith("Physics"):
        yield "type", kind
    for schema in prim.GetAppliedSchemas():
        if schema.startswith("Physics"):
            yield f"schema {schema}", True
    yield from _numbers(world, prim)
    if prim.HasAPI(UsdPhysics.RigidBodyAPI):
        yield "place", world.point(world.matrix(prim), (0, 0, 0))
        yield "axes", world.axes(prim)
    if prim.HasAPI(UsdPhysics.RigidBodyAPI) or prim.HasAPI(UsdPhysics.MassAPI):
        yield from _motion_and_mass(world, prim)
    if prim.HasAPI(UsdPhysics.CollisionAPI):
        yield from _shape(world, prim)
        yield from _materials(world, prim)
    if prim.IsA(UsdPhysics.Joint):
        yield from _frames(world, prim)
    if prim.IsA(UsdPhysics.Scene):
        direction = np.array(_or(_said(prim, "physics:gravityDirection"), (0, 0, 0)), float) @ world.turn
        length = np.linalg.norm(direction)
        yield "gravity", direction / length if length else np.array([0.0, 0.0, -1.0])


def _numbers(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    """Attributes and relationships of UsdPhysics that mean the same wherever their prim is."""
    for item in prim.GetAuthoredProperties():
        name = item.GetName()
        if VENDOR.match(name) or ("physics:" not in name and not name.startswith("collection:colliders")):
            continue
        if name.startswith("material:") or name in PLACED:
            continue
        if isinstance(item, Usd.Relationship):
            for target in item.GetTargets():
                yield f"{name} > {target.name}", True
            continue
        value = _said(prim, name)
        if value is not None:
            yield name, _quantity(world, prim, name, value)


def _quantity(world: World, prim: Usd.Prim, name: str, value: Any) -> Any:
    """A number in SI."""
    if not isinstance(value, float | int) or isinstance(value, bool):
        return value if isinstance(value, bool) else str(value)
    length, mass = DIMENSIONS.get(name, (0, 0))
    if name in ("physics:lowerLimit", "physics:upperLimit"):
        length = int(prim.GetTypeName() == "PhysicsPrismaticJoint")
    elif name.startswith(("limit:", "drive:")):
        kind, dof, _, last = name.split(":")
        linear = not dof.startswith(("rot", "angular"))
        if kind == "limit" or last in ("targetPosition", "targetVelocity"):
            length = int(linear)
        elif last == "maxForce":
            length, mass = (1, 1) if linear else (2, 1)
        elif str(prim.GetAttribute(f"drive:{dof}:physics:type").Get()) != "acceleration":
            length, mass = (0, 1) if linear else (2, 1)
    if length and value < 0 and name in ("physics:minDistance", "physics:maxDistance"):
        return -1.0  # no limit, in any unit
    return float(value) * world.meters**length * world.kilograms**mass


def _motion_and_mass(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    matrix, axes = world.matrix(prim), world.axes(prim)
    velocity, spin = _said(prim, "physics:velocity"), _said(prim, "physics:angularVelocity")
    if velocity is not None:
        yield "velocity", world.vector(matrix, velocity)
    if spin is not None:
        yield "angular velocity", np.asarray(spin, float) @ axes
    center, moments = _said(prim, "physics:centerOfMass"), _said(prim, "physics:diagonalInertia")
    if center is not None and np.isfinite(np.array(center)).all():
        yield "centre of mass", world.point(matrix, center)
    if moments is not None and any(moments):
        turned = _said(prim, "physics:principalAxes")
        principal = (np.eye(3) if turned is None else _rotation(turned)) @ axes
        size = world.kilograms * world.meters**2
        yield "inertia", principal.T @ np.diag(np.array(moments, float)) @ principal * size


def _shape(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    yield "shape", str(prim.GetTypeName())
    matrix, time = world.matrix(prim), Usd.TimeCode.EarliestTime()
    if prim.IsA(UsdGeom.Plane):
        axis = "XYZ".index(str(UsdGeom.Plane(prim).GetAxisAttr().Get()))
        yield "normal", world.axes(prim)[axis]
        yield "place", world.point(matrix, (0, 0, 0))
    elif prim.IsA(UsdGeom.Mesh):
        points = np.array(_or(UsdGeom.Mesh(prim).GetPointsAttr().Get(time), []), float).reshape(-1, 3)
        yield "faces", len(_or(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get(time), []))
        yield "points", len(points)
        if len(points):
            placed = np.array([world.point(matrix, point) for point in points])
            yield "middle", placed.mean(axis=0)
            yield "spread", np.cov(placed.T, bias=True)
    elif prim.IsA(UsdGeom.Boundable):
        extent = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), time)
        if extent:
            low, high = (np.array(corner, float) for corner in extent)
            yield "place", world.point(matrix, (low + high) / 2)
            half = (high - low)[:, None] / 2 * matrix[:3, :3] @ world.turn * world.meters
            # Which axis of the prim is which is no fact, and neither is its sign.
            yield "spread", half.T @ half


def _materials(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    """Values of the physics materials of a collider and of its faces."""
    for part in (prim, *(subset.GetPrim() for subset in UsdGeom.Subset.GetAllGeomSubsets(UsdGeom.Imageable(prim)))):
        material = UsdShade.MaterialBindingAPI(part).ComputeBoundMaterial("physics")[0].GetPrim()
        if material and material.HasAPI(UsdPhysics.MaterialAPI):
            names = ("staticFriction", "dynamicFriction", "restitution", "density")
            where = "" if part == prim else " of faces"
            values = [_quantity(world, material, f"physics:{name}", float(_or(_said(material, f"physics:{name}"), 0.0)))
                      for name in names]  # fmt: skip
            yield f"material {material.GetName()}{where}", np.array(values)


def _frames(world: World, prim: Usd.Prim) -> Iterator[tuple[str, Any]]:
    """Both ends of a joint: places, and the axes that matter to its type."""
    joint, frames = UsdPhysics.Joint(prim), []
    for side, relationship in enumerate((joint.GetBody0Rel(), joint.GetBody1Rel())):
        targets = relationship.GetTargets()
        body = world.stage.GetPrimAtPath(targets[0]) if targets else None
        local = _or(_said(prim, f"physics:localPos{side}"), (0, 0, 0))
        turned = _said(prim, f"physics:localRot{side}")
        yield f"place {side}", world.point(world.matrix(body), local)
        axes = world.axes(body) if body else world.turn
        frames.append((np.eye(3) if turned is None else _rotation(turned)) @ axes)
    # The turn from one frame to the other does not ask which of its axes has which name.
    yield "turn", frames[0].T @ frames[1]
    if prim.HasAttribute("physics:axis"):
        yield "axis", frames[0]["XYZ".index(str(prim.GetAttribute("physics:axis").Get()))]
    elif str(prim.GetTypeName()) == "PhysicsJoint":
        yield "frame", frames[0]


def _parsed(world: World) -> Iterator[tuple[str, str, Any]]:
    """What OpenUSD hands to simulators: which body owns a collider, what is in an articulation and in a group."""
    load = getattr(UsdPhysics, "UsdPhysicsLoadStageFromPrimRange", None) or UsdPhysics.LoadUsdPhysicsFromRange
    for paths, descriptions in load(world.stage, ["/"]).values():
        for path, description in zip(paths, descriptions, strict=True):
            yield str(path), "is valid", bool(description.isValid)
            if hasattr(description, "rigidBody"):
                yield str(path), "body", description.rigidBody.name
            for name in ("articulatedBodies", "rootPrims", "collisionGroups"):
                for other in getattr(description, name, ()):
                    yield str(path), f"{name} > {other.name}", True
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(world.stage)
    for one in table.GetGroups():
        for other in table.GetGroups():
            if not table.IsCollisionEnabled(one, other):
                yield str(one), f"ignores > {other.name}", True


def vendor_of(world: World) -> Facts:
    """The same for API schemas, types and attributes of vendors, on prims that have physics or a type of theirs."""
    found: Facts = {}
    for prim in world.prims:
        path, schemas = str(prim.GetPath()), prim.GetMetadata("apiSchemas")
        # GetAppliedSchemas leaves out those that no plugin declares.
        for name in schemas.GetAddedOrExplicitItems() if schemas else ():
            if re.match("Physx|Newton|Mjc", name):
                found[path, f"schema {name}"] = True
        for attribute in prim.GetAuthoredAttributes():
            if VENDOR.match(attribute.GetName()) and attribute.HasAuthoredValue():
                found[path, attribute.GetName()] = attribute.Get(Usd.TimeCode.EarliestTime())
    return found


# --------------------------------------------------------------------------- comparing


def same(one: Any, other: Any, floor: float = 0.0) -> bool:
    """Whether two facts are equal, up to the noise of 32 bits in numbers of their size, or of size `floor`."""
    if isinstance(one, bool | str) or isinstance(other, bool | str):
        return bool(one == other)
    try:
        first, second = np.asarray(one, float), np.asarray(other, float)
    except (TypeError, ValueError):
        return str(one) == str(other)
    if first.shape != second.shape:
        return False
    if np.array_equal(first, second, equal_nan=True):
        return True
    size = max(np.linalg.norm(first), np.linalg.norm(second), floor)
    return bool(np.linalg.norm(first - second) <= TOLERANCE * size)


def size_of(facts: Facts) -> float:
    """The diagonal of all places in metres; 1 where that is more, or there is no second place."""
    places = [value for (_, name), value in facts.items() if name in PLACES]
    found = float(np.linalg.norm(np.ptp(np.array(places), axis=0))) if places else 0.0
    return min(found, 1.0) or 1.0


def matched(first: Facts, second: Facts) -> dict[str, str]:
    """Path of a prim -> its path in the other file: the same, or that of the only prim that has its name."""
    ones, others = ({path for path, _ in facts} for facts in (first, second))
    found = {path: path for path in ones & others}
    left: defaultdict[str, list[list[str]]] = defaultdict(lambda: [[], []])
    for side, paths in enumerate((ones - others, others - ones)):
        for path in sorted(paths):
            left[Sdf.Path(path).name][side].append(path)
    found.update({one[0]: other[0] for one, other in left.values() if len(one) == len(other) == 1})
    return found


def compared(first: Facts, second: Facts) -> tuple[int, int, list[tuple[str, str, str, str, str]]]:
    """(facts of both, those that are the same, differences: what happened, path, fact, value, other value)."""
    paths, kept, seen, size = matched(first, second), 0, set(), size_of(first)
    differences = []
    for (path, name), value in first.items():
        key = paths.get(path, path), name
        if key not in second:
            differences.append(("lost", path, name, str(value), ""))
            continue
        seen.add(key)
        if same(value, second[key], size if name in PLACES else float(name in TURNS)):
            kept += 1
        else:
            differences.append(("changed", path, name, str(value), str(second[key])))
    added = [key for key in second if key not in seen]
    differences += [("spurious", path, name, "", str(second[path, name])) for path, name in added]
    return len(first) + len(added), kept, differences


def compare(original: str, copy: str) -> dict[str, Any]:
    """ "score" and "vendor" from 0 to 1 ("vendor" None where there is none, or the units differ), "facts", "diffs"."""
    one, other = (World(Usd.Stage.Open(path)) for path in (original, copy))
    facts, kept, differences = compared(facts_of(one), facts_of(other))
    found: dict[str, Any] = {"score": kept / facts if facts else 1.0, "facts": facts, "diffs": differences}
    found["units"] = {"original": (one.meters, one.kilograms, one.up),
                      "roundtrip": (other.meters, other.kilograms, other.up)}  # fmt: skip
    found["vendor"], found["vendor_facts"] = None, 0
    if found["units"]["original"] == found["units"]["roundtrip"]:
        vendor = vendor_of(one)
        _, kept, lost = compared(vendor, vendor_of(other))
        found["vendor"], found["vendor_facts"] = (kept / len(vendor) if vendor else None), len(vendor)
        found["diffs"] = [*differences, *(("vendor", path, name, *values) for _, path, name, *values in lost)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("original")
    parser.add_argument("copy")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    try:
        found = compare(given.original, given.copy)
    except Tf.ErrorException as error:
        print(f"cannot compare: {str(error).strip().splitlines()[-1]}\nscore 0.0000")
        sys.exit(2)
    for what, path, name, value, other in found["diffs"]:
        print(f"{what} {path}: {name}   {value} -> {other}")
    if found["vendor"] is not None:
        print(f"vendors {found['vendor']:.4f} of {found['vendor_facts']}")
    print(f"score {found['score']:.4f} of {found['facts']}")
    if given.json:
        given.json.write_text(json.dumps(found, default=str), encoding="utf-8")


if __name__ == "__main__":
    main()
