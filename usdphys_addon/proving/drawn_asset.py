# SPDX-License-Identifier: GPL-3.0-or-later
"""What the view of a page draws: shapes, joints and motions as numbers, for `page.js` and `still`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import frames, gprims, mass
from ..core.model import Mesh, Prim
from ..core.schemas import usd_geom
from ..simulation.engine import ENGINES
from . import still
from .prove import Proof, Wish
from .runs import FLOOR, STEP, Motion, corners_of

#: Triangles of all shapes that the page draws; of larger meshes the bounds are drawn.
MOST_TRIANGLES = 12000
#: Frames of a motion that the page holds, for one second.
RATE = 30
#: Of the engines of a proof, in their order.
COLOURS = ("#3b7dd8", "#d97706", "#7c3aed", "#0f9d76", "#c2255c")


def scene_of(proof: Proof, wish: Wish) -> dict[str, Any]:
    """What `page.js` draws: metres, Z up."""
    model, layout = proof.subject.model, proof.subject.layout
    shapes, room = [], MOST_TRIANGLES
    for path, prim in model.colliders.items():
        if path == FLOOR:
            continue
        surface = _surface(prim, room)
        if surface is None:
            continue
        room -= len(surface[1])
        owner = layout.body_of(path)
        pose = owner.pose if owner is not None else np.eye(4)
        back = np.asarray(np.linalg.inv(pose))
        points = surface[0] @ back[:3, :3].T + back[:3, 3]
        shapes.append({
            "path": path, "body": owner.prim.path if owner is not None else "",
            "points": _rounded(points), "triangles": surface[1].tolist(),
        })  # fmt: skip
    bodies = {}
    for path, body in layout.bodies.items():
        found = mass.mass_properties(model, path)
        bodies[path] = {"center": _rounded(found.center_of_mass), "pose": _pose(body.position, body.rotation)}
    return {
        "view": still.view_of({"bodies": bodies, "shapes": shapes}),
        "step": 1.0 / RATE, "bodies": bodies, "shapes": shapes, "joints": list(_drawn_joints(proof)),
        "engines": [
            {
                "key": key, "name": ENGINES[key].name, "colour": COLOURS[number % len(COLOURS)],
                "motion": _motion(motion),
            }
            for number, (key, motion) in enumerate(proof.motions.items())
        ],
        "seconds": wish.seconds,
    }  # fmt: skip


def _rounded(values: Any) -> Any:
    return np.round(np.nan_to_num(np.asarray(values, float)), 5).tolist()


def _pose(position: Any, rotation: Any) -> list[float]:
    """x, y, z, then w, x, y, z of the rotation."""
    return [*_rounded(position), *_rounded(frames.quaternion_of(rotation))]


def _motion(motion: Motion) -> dict[str, list[list[float]]]:
    """By path of body: a pose for each frame of the page. One that an engine has lost stays where it last was."""
    every = max(1, round(1.0 / (RATE * STEP)))
    found = {}
    for row, path in enumerate(motion.paths):
        poses = np.hstack([motion.positions[::every, row], motion.rotations[::every, row]])
        known = np.isfinite(poses).all(axis=1)
        if known.any():
            last = np.maximum.accumulate(np.where(known, np.arange(len(poses)), int(np.argmax(known))))
            found[path] = np.round(poses[last], 5).tolist()
    return found


def _surface(prim: Prim, room: int) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """(points (n, 3) in the world, triangles (m, 3)) of a collider; its bounds where it has too many for the room."""
    gprim: Any = prim.get(usd_geom.Gprim)
    if isinstance(gprim, usd_geom.Plane):
        return None
    if gprim is None and prim.mesh is not None:
        mesh = prim.mesh()
        if isinstance(mesh, Mesh) and 0 < len(mesh.triangles) <= min(room, 2000):
            points = np.asarray(mesh.points) @ prim.world[:3, :3].T + prim.world[:3, 3]
            return points, np.asarray(mesh.triangles)
    if gprim is not None and not isinstance(gprim, usd_geom.Cube):
        round_one = _round(gprim, prim)
        if round_one is not None and len(round_one[1]) <= room:
            return round_one
    corners = corners_of(prim)
    if corners is None or not np.isfinite(corners).all():
        return None
    return corners, still.BOX


def _round(gprim: Any, prim: Prim) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """The surface of a sphere, cylinder, cone or capsule, turned from a profile."""
    sizes = gprims.sizes(gprim, np.ones(3))
    count, radius, half = 16, sizes.radius, sizes.height / 2.0
    arc = np.linspace(0.0, math.pi / 2.0, 5)
    if sizes.kind is usd_geom.Sphere:
        profile = [(radius * math.cos(a), radius * math.sin(a)) for a in np.linspace(-math.pi / 2, math.pi / 2, 9)]
    elif sizes.kind is usd_geom.Capsule:
        upper = [(radius * math.cos(a), half + radius * math.sin(a)) for a in arc]
        profile = [(r, -z) for r, z in upper[::-1]] + upper
    elif sizes.kind is usd_geom.Cylinder:
        profile = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)]
    elif sizes.kind is usd_geom.Cone:
        profile = [(0.0, -half), (radius, -half), (0.0, half)]
    else:
        return None
    around = 2.0 * math.pi * np.arange(count) / count
    points = np.array([(r * math.cos(a), r * math.sin(a), z) for r, z in profile for a in around])
    triangles = []
    for row in range(len(profile) - 1):
        for number in range(count):
            a, b = row * count + number, row * count + (number + 1) % count
            triangles += [(a, b, a + count), (b, b + count, a + count)]
    order = {"Z": [0, 1, 2], "X": [2, 0, 1], "Y": [1, 2, 0]}[sizes.axis]
    turned = points[:, order]
    return turned @ prim.world[:3, :3].T + prim.world[:3, 3], np.array(triangles)


def _drawn_joints(proof: Proof) -> Iterator[dict[str, Any]]:
    """Where a joint is on its second body, or on its first one; its axis, and its range about or along that."""
    for facts in proof.subject.joints:
        body, frame = (facts.body1, facts.frame1) if facts.body1 else (facts.body0, facts.frame0)
        free = [axis for axis, freedom in enumerate(facts.freedoms) if not freedom.is_locked]
        row: dict[str, Any] = {"path": facts.path, "body": body, "place": _rounded(frame[:3, 3])}
        if free in ([0], [3]):
            freedom = facts.freedoms[free[0]]
            row |= {"axis": _rounded(frame[:3, 0]), "across": _rounded(frame[:3, 1]), "turns": free == [3]}
            if freedom.is_limited and max(abs(freedom.low), abs(freedom.high)) < 1e6:
                row["range"] = _rounded((freedom.low, freedom.high))
                fixed = facts.frame0 if facts.body1 else facts.frame1
                other = facts.body0 if facts.body1 else facts.body1
                row |= {"base": other, "base_place": _rounded(fixed[:3, 3]), "base_axis": _rounded(fixed[:3, 0]),
                        "base_across": _rounded(fixed[:3, 1])}  # fmt: skip
        yield row
