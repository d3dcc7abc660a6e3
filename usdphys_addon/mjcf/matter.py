# SPDX-License-Identifier: GPL-3.0-or-later
"""What the geoms of MuJoCo weigh: its own formulas, so that a body weighs the same as in MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..core import frames, mass
from ..core.mass import Shape
from .values import Floats, Geom, Inertial, Model

#: Points (n, 3) and triangles (m, 3) of a mesh by the name of its asset; None for one that cannot be read.
Meshes = Callable[[str], tuple[Floats, Any] | None]
#: The solid of density 1 of a mesh by the name of its asset, or of its faces as a sheet; None without a volume.
Solids = Callable[[str, bool], Shape | None]


def ellipsoid(half: tuple[float, ...]) -> Shape:
    """half: lengths (3,) of the half axes."""
    squares = np.array(half, float) ** 2
    volume = 4.0 / 3.0 * math.pi * float(np.prod(half))
    return Shape(volume, np.zeros(3), volume / 5.0 * np.diag(squares.sum() - squares))


def pyramids(points: Floats, triangles: Any, *, signed: bool) -> Shape | None:
    """The solid between a mesh and its middle, as pyramids on its faces; None without a volume.

    signed: count pyramids on faces that look inwards as holes. MuJoCo's "exact" does, its "legacy" does not.
    """
    a, b, c = (points[column] for column in np.asarray(triangles).reshape(-1, 3).T)
    normals = _cross(b - a, c - a)
    areas = np.sqrt((normals * normals).sum(axis=1)) / 2.0
    if not len(areas) or areas.sum() <= 0.0:
        return None
    middle = areas @ (a + b + c) / (3.0 * areas.sum())
    # MuJoCo takes the centre from pyramids on the middle of the faces, and the rest from pyramids on that centre.
    for last in (False, True):
        sides = a - middle, b - middle, c - middle
        volumes = (sides[0] * normals).sum(axis=1) / 6.0
        if not signed:
            volumes = np.abs(volumes)
        volume = float(volumes.sum())
        if abs(volume) < 1e-15:
            return None
        total = sides[0] + sides[1] + sides[2]
        if not last:
            middle = middle + volumes @ total / (4.0 * volume)
    moments = sum((side * volumes[:, None]).T @ side for side in (*sides, total))
    spread = moments / (20.0 * volume)
    return Shape(abs(volume), middle, abs(volume) * (np.trace(spread) * np.eye(3) - spread))


def _cross(one: Floats, other: Floats) -> Floats:
    """Cross products of rows (n, 3); twice as fast as `np.cross`."""
    x, y, z = one.T
    u, v, w = other.T
    return np.stack((y * w - z * v, z * u - x * w, x * v - y * u), axis=1)


def shell(points: Floats, triangles: Any) -> Shape | None:
    """The faces of a mesh as a sheet: its area stands for the volume."""
    corners = points[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2.0
    area = float(areas.sum())
    if area <= 0.0:
        return None
    center = areas @ corners.mean(axis=1) / area
    away = corners - center
    total = away.sum(axis=1)
    moments = sum(np.einsum("i,ij,ik->jk", areas, side, side) for side in (*np.moveaxis(away, 1, 0), total))
    spread = moments / 12.0
    return Shape(area, center, np.trace(spread) * np.eye(3) - spread)


def solids_of(model: Model, meshes: Meshes) -> Solids:
    """Gives the solid of a mesh, and computes each once."""

    @cache
    def solid(name: str, is_shell: bool) -> Shape | None:
        found = meshes(name)
        if found is None:
            return None
        kind = model.meshes[name].inertia
        return shell(*found) if kind == "shell" or is_shell else pyramids(*found, signed=kind != "legacy")

    return solid


#: Types of geoms that can stand for a mesh.
FITTED = frozenset({"sphere", "capsule", "cylinder", "box", "ellipsoid"})


def fit(model: Model, meshes: Meshes) -> None:
    """Give primitives that stand for a mesh their place and size: as MuJoCo, of the box with the mesh's inertia.

    A mesh without a volume leaves its geoms as they are.
    """
    solids = solids_of(model, meshes)
    around = model.compiler.get("fitaabb") == "true"
    for body in model.bodies:
        for geom in body.geoms:
            solid = solids(geom.mesh, geom.is_shell) if geom.mesh and geom.type in FITTED else None
            if solid is None or solid.volume <= 0.0:
                continue
            found = meshes(geom.mesh)
            moments, axes = np.linalg.eigh(solid.inertia)
            moments, axes = moments[::-1], axes[:, ::-1]  # the longest axis last
            if np.linalg.det(axes) < 0.0:
                axes = axes * (1.0, 1.0, -1.0)
            half = np.sqrt(np.maximum(moments.sum() - 2.0 * moments, 0.0) * 6.0 / solid.volume) / 2.0
            center = solid.center
            if around and found is not None:
                along = (found[0] - center) @ axes
                low, high = along.min(axis=0), along.max(axis=0)
                half, center = (high - low) / 2.0, center + axes @ ((low + high) / 2.0)
            geom.size = _size_of(geom.type, half, around=around, scale=geom.fit_scale)
            geom.pose = geom.pose @ frames.transform(center, axes)
            geom.mesh = ""


def _size_of(kind: str, half: Floats, *, around: bool, scale: float) -> tuple[float, ...]:
    """The size of a primitive for a box. half: lengths (3,) of its half edges. around: the primitive holds the box."""
    a, b, c = (float(value) for value in half * scale)
    if kind == "sphere":
        return (max(a, b, c) if around else (a + b + c) / 3.0,)
    if kind in ("capsule", "cylinder"):
        radius = max(a, b) if around else (a + b) / 2.0
        unscaled = radius / scale if scale else 0.0
        length = c if kind == "cylinder" else max(0.0, c / scale - (unscaled if around else unscaled / 2.0)) * scale
        return (radius, length)
    return (a, b, c)


def shape_of(geom: Geom, solids: Solids) -> Shape | None:
    """A geom as a solid of density 1 in its own space; None for one without a volume, such as a plane."""
    size = (*geom.size, 0.0, 0.0, 0.0)
    if geom.type == "sphere":
        return mass.sphere(size[0])
    if geom.type == "capsule":
        return mass.capsule(size[0], 2.0 * size[1])
    if geom.type == "cylinder":
        return mass.cylinder(size[0], 2.0 * size[1])
    if geom.type == "box":
        return mass.box([2.0 * part for part in size[:3]])
    if geom.type == "ellipsoid":
        return ellipsoid(size[:3])
    return solids(geom.mesh, geom.is_shell) if geom.type == "mesh" else None


def of_body(geoms: list[Geom], solids: Solids, groups: tuple[int, int]) -> Inertial | None:
    """What the geoms of a body weigh together; None if that is nothing. groups: first and last that weigh."""
    low, high = groups
    parts = []
    for geom in geoms:
        solid = shape_of(geom, solids) if low <= geom.group <= high else None
        if solid is None:
            continue
        weight = geom.mass if geom.mass is not None else geom.density * solid.volume
        if weight > 0.0 and solid.volume > 0.0:
            turn = geom.pose[:3, :3]
            center = turn @ solid.center + geom.pose[:3, 3]
            parts.append((weight, center, turn @ solid.inertia @ turn.T * (weight / solid.volume)))
    total = sum(weight for weight, _, _ in parts)
    if total <= 0.0:
        return None
    center = sum((weight * place for weight, place, _ in parts), np.zeros(3)) / total
    tensor = np.zeros((3, 3))
    for weight, place, own in parts:
        tensor += mass.translated(own, weight, place - center)
    return Inertial(total, center, tensor)


def _groups(compiler: Mapping[str, str]) -> tuple[int, int]:
    words = compiler.get("inertiagrouprange", "0 5").split()
    return (int(float(words[0])), int(float(words[1]))) if len(words) == 2 else (0, 5)


def _setting(compiler: Mapping[str, str], name: str, usual: float) -> float:
    words = compiler.get(name, "").split()
    return float(words[0]) if words else usual


def inertials(model: Model, meshes: Meshes) -> list[Inertial | None]:
    """What each body of a model weighs, as MuJoCo's compiler decides it; None for one without mass."""
    word = model.compiler.get("inertiafromgeom", "auto")
    solids, groups = solids_of(model, meshes), _groups(model.compiler)
    bodies: list[Inertial | None] = [None]
    for body in model.bodies[1:]:
        own = body.inertial if word != "true" else None
        if own is None and word != "false":
            own = of_body(body.geoms, solids, groups)
        bodies.append(None if own is None else _bounded(own, model.compiler))
    total = _setting(model.compiler, "settotalmass", -1.0)
    sum_now = sum(one.mass for one in bodies if one is not None)
    if total > 0.0 and sum_now > 0.0:
        factor = total / sum_now
        bodies = [one and Inertial(one.mass * factor, one.center, one.inertia * factor) for one in bodies]
    return bodies


def _bounded(own: Inertial, compiler: Mapping[str, str]) -> Inertial:
    least, smallest = (_setting(compiler, name, 0.0) for name in ("boundmass", "boundinertia"))
    moments, axes = np.linalg.eigh(own.inertia)
    moments = np.maximum(moments, smallest)
    if compiler.get("balanceinertia") == "true" and 2.0 * moments.max() > moments.sum() + 1e-12:
        moments[:] = moments.mean()
    return Inertial(max(own.mass, least), own.center, axes @ np.diag(moments) @ axes.T)


def children_of(model: Model) -> list[list[int]]:
    """The indices of the bodies that each body carries."""
    children: list[list[int]] = [[] for _ in model.bodies]
    for number, body in enumerate(model.bodies):
        if body.parent >= 0:
            children[body.parent].append(number)
    return children


def below(children: Sequence[Sequence[int]], index: int) -> list[int]:
    """A body and all that it carries."""
    found = [index]
    for number in found:
        found += children[number]
    return found


def effective_inertias(
    model: Model, worlds: Sequence[Floats], weights: Sequence[Inertial | None]
) -> dict[int, float]:  # fmt: skip
    """The mass or moment of inertia that each hinge and slide moves in the pose of the file, the other joints free.

    By `id` of the joint: the inverse of the diagonal of the inverse of the mass matrix, as MuJoCo takes it for damping
    ratios. Coordinates that nothing heavy hangs on are left out.
    """
    columns: list[tuple[int, Floats, Floats, float]] = []
    rows: dict[int, int] = {}
    own: list[list[int]] = []
    for index, body in enumerate(model.bodies):
        own.append([])
        for joint in body.joints:
            turn = worlds[index][:3, :3]
            place = turn @ joint.place + worlds[index][:3, 3]
            rows[id(joint)] = len(columns)
            axis = turn @ joint.axis
            if joint.type == "slide":
                found = [(axis, np.zeros(3))]
            elif joint.type == "hinge":
                found = [(np.cross(place, axis), axis)]
            else:
                found = [(np.cross(place, way), way) for way in np.eye(3)]
                found += [(way, np.zeros(3)) for way in np.eye(3)] if joint.type == "free" else []
            for moves, turns in found:
                own[index].append(len(columns))
                columns.append((index, moves, turns, joint.armature))
    matrix = np.diag([armature for *_, armature in columns]).astype(float)
    above: list[list[int]] = []
    for index, body in enumerate(model.bodies):
        above.append([*(above[body.parent] if body.parent >= 0 else []), *own[index]])
        weight, dofs = weights[index], above[index]
        if weight is None or not dofs:
            continue
        turn, center = worlds[index][:3, :3], worlds[index][:3, :3] @ weight.center + worlds[index][:3, 3]
        spins = np.array([columns[dof][2] for dof in dofs])
        speeds = np.array([columns[dof][1] for dof in dofs]) + np.cross(spins, center)
        tensor = turn @ weight.inertia @ turn.T
        matrix[np.ix_(dofs, dofs)] += weight.mass * speeds @ speeds.T + spins @ tensor @ spins.T
    heavy = np.flatnonzero(np.diag(matrix) > 0.0)
    if not len(heavy):
        return {}
    try:
        inverse = np.diag(np.linalg.inv(matrix[np.ix_(heavy, heavy)]))
    except np.linalg.LinAlgError:
        inverse = 1.0 / np.diag(matrix)[heavy]
    by_row = {int(row): 1.0 / float(value) for row, value in zip(heavy, inverse, strict=True) if value > 0.0}
    return {number: by_row[row] for number, row in rows.items() if row in by_row}


def damp(model: Model, worlds: Sequence[Floats], weights: Sequence[Inertial | None]) -> None:
    """Set the numbers of springs and servos that come from a time or a damping ratio, and the inertia that they move.

    worlds: poses (4, 4) of the bodies. weights: of the bodies.
    """
    by_name = {joint.name: joint for body in model.bodies for joint in body.joints}
    servos = [
        one for one in model.actuators
        if one.ratio > 0.0 and one.kind == "joint" and one.target in by_name and one.gain > 0.0
    ]  # fmt: skip
    springs = [joint for joint in by_name.values() if joint.timing is not None]
    if not servos and not springs:
        return
    inertias = effective_inertias(model, worlds, weights)
    for joint in springs:
        assert joint.timing is not None
        (time, ratio), moved = joint.timing, inertias.get(id(joint), 0.0)
        joint.stiffness, joint.damping = moved / (time * ratio) ** 2, 2.0 * moved / time
    for one in servos:
        moved, gear = inertias.get(id(by_name[one.target]), 0.0), one.gear or 1.0
        one.biases = (0.0, -one.gain, -one.ratio * 2.0 * math.sqrt(one.gain * moved / gear**2))
