# SPDX-License-Identifier: GPL-3.0-or-later
"""Is what is drawn what the preview collides with, and what PhysX collides with? Every shape and approximation.

`compare_shapes.py [--physx PYTHON] [--check]`: colliders of each kind, scaled, mirrored and sheared, static and held,
in metres with Z up, and (--centimetres) in centimetres with Y up. The lines of the overlay lie on the solver's shape,
and reach as far, to 1.5 % of its size. Balls on rails fall onto each collider from six sides, in the preview and in
PhysX; their places are compared. Needs rapier3d and pxr in this Python; for PhysX, one with ovphysx.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import engine_runs
import numpy as np
from compare_physx import load_extension, with_physx

#: Metres: radius of a ball, distance between colliders, how far away a ball begins; m/s2. Faster ones tunnel in PhysX.
BALL, APART, AWAY, GRAVITY = 0.04, 8.0, 1.2, 1.0
STEPS, RATE = 200, 60
#: Of the size of a shape: how far lines may be from it. Metres: how far a ball may rest elsewhere.
LINES, REST = 0.015, 0.01
#: Where balls fall, in metres beside the middle, across the way.
SPOTS = ((0.033, 0.021), (0.337, 0.223), (-0.271, 0.343), (-0.362, -0.216), (0.227, -0.437))
SIDES = {name + sign: row for name, row in zip("XYZ", np.eye(3), strict=True) for sign in "+-"}
APPROXIMATIONS = (
    "none", "convexHull", "convexDecomposition", "boundingSphere", "boundingCube", "meshSimplification", "sdf"
)  # fmt: skip
#: Scale, and True below a parent that is scaled unevenly and turned, which shears.
SCALES = {
    "": ((1.0, 1.0, 1.0), False), "uneven": ((1.3, 1.0, 0.5), False), "mirrored": ((-1.0, 1.0, 1.0), False),
    "inverted": ((-0.8, -0.8, -0.8), False), "sheared": ((1.0, 1.0, 1.0), True),
}  # fmt: skip


def box(size: tuple[float, float, float]) -> tuple[list[Any], list[Any]]:
    points = [(x * size[0] / 2, y * size[1] / 2, z * size[2] / 2) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return points, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def trough() -> tuple[list[Any], list[Any]]:
    """Two walls on a floor, open above, off its origin."""
    outline = [(-0.5, 0), (0.5, 0), (0.5, 0.8), (0.3, 0.8), (0.3, 0.2), (-0.3, 0.2), (-0.3, 0.5), (-0.5, 0.5)]
    count = len(outline)
    points = [(x, y, z - 0.3) for y in (-0.45, 0.45) for x, z in outline]
    faces: list[Any] = [(count + i, count + (i + 1) % count, (i + 1) % count, i) for i in range(count)]
    for a, b, c, d in ((0, 1, 4, 5), (1, 2, 3, 4), (0, 5, 6, 7)):
        faces += [(a, b, c, d), tuple(count + index for index in (d, c, b, a))]
    return points, faces


def lens(radius: float, height: float, rings: int = 10, around: int = 24) -> tuple[list[Any], list[Any]]:
    """A ball that is flat, closed, of quadrangles and triangles."""
    points: list[Any] = [(0.0, 0.0, -height / 2), (0.0, 0.0, height / 2)]
    for ring in range(1, rings):
        lift = -math.pi / 2 + math.pi * ring / rings
        for step in range(around):
            turn = math.tau * step / around
            across = radius * math.cos(lift)
            points.append((across * math.cos(turn), across * math.sin(turn), height / 2 * math.sin(lift)))
    faces: list[Any] = []
    last = 2 + (rings - 2) * around
    for step in range(around):
        after = (step + 1) % around
        faces += [(0, 2 + after, 2 + step), (1, last + step, last + after)]
        for ring in range(rings - 2):
            low = 2 + ring * around
            faces.append((low + step, low + after, low + around + after, low + around + step))
    return points, faces


def meshes(author: Any) -> dict[str, tuple[list[Any], list[Any]]]:
    return {
        "box": box((1.0, 0.8, 0.6)), "trough": trough(), "lens": lens(0.5, 0.4), "drum": author.prism(24, 0.5, 0.4),
        "slab": box((1.0, 1.0, 0.004)), "disc": author.prism(24, 0.5, 0.004), "wafer": author.prism(24, 0.5, 0.0001),
        "sheet": ([(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)], [(0, 1, 2, 3)]),
    }  # fmt: skip


def gprims() -> dict[str, tuple[str, tuple[float, ...], str]]:
    round_ones = {"Capsule": (0.25, 0.5), "Cylinder": (0.3, 0.8), "Cone": (0.4, 0.8)}
    found = {f"{kind}{axis}": (kind, size, axis) for kind, size in round_ones.items() for axis in "XYZ"}
    return {"Cube": ("Cube", (0.9, 0.7, 0.5), "Z"), "Sphere": ("Sphere", (0.4,), "Z"), **found}


class Case:
    """A collider with a name, its prim, and its place in a grid."""

    def __init__(self, name: str, text: str, place: np.ndarray, held: bool) -> None:
        self.name, self.text, self.place, self.held = name, text, place, held


def cases(author: Any, file: Any) -> list[Case]:
    shapes: list[tuple[str, str]] = []
    for shade, (scale, shears) in SCALES.items():
        for name, (points, faces) in meshes(author).items():
            for kind in APPROXIMATIONS:
                if not shade or name in ("box", "trough", "lens"):
                    mesh = file.mesh("Shape", points, faces, kind, scale=None if shears else scale)
                    shapes.append((f"{name} {kind} {shade}".strip(), sheared(file, mesh) if shears else mesh))
        for name, (kind, size, axis) in gprims().items():
            prim = file.shape("Shape", kind, size, axis=axis, scale=None if shears else scale)
            shapes.append((f"{name} {shade}".strip(), sheared(file, prim) if shears else prim))
        for kind, radii in (("Capsule_1", (0.3, 0.15)), ("Cylinder_1", (0.15, 0.35))):
            sizes = {"radiusBottom": radii[0], "radiusTop": radii[1], "height": 0.6}
            lines = [f"double {key} = {file.length(value)}" for key, value in sizes.items()]
            lines.append('uniform token axis = "Y"')
            prim = file.xform("Shape", (0, 0, 0), apis=["PhysicsCollisionAPI"], lines=lines, nested=True,
                              scale=None if shears else scale, type_name=kind)  # fmt: skip
            shapes.append((f"{kind} {shade}".strip(), sheared(file, prim) if shears else prim))
    found: list[Case] = []
    for held in (False, True):
        for name, text in shapes:
            row = len(found)
            place = np.array([row % 7, row // 7 % 7, row // 49], float) * APART
            found.append(Case(f"{name}{' held' if held else ''}", text, place, held))
    return found


def sheared(file: Any, prim: str) -> str:
    turned = file.xform("Turned", (0, 0, 0), (math.cos(0.3), 0.0, math.sin(0.3), 0.0), inside=[prim], nested=True)
    return str(file.xform("Uneven", (0, 0, 0), scale=(1.0, 1.0, 0.6), inside=[turned], nested=True))


def scene(author: Any, units: Any, side: str, chosen: str) -> tuple[Any, list[Case]]:
    """A file in which balls fall against a side of each collider."""
    way = -SIDES[side] * (1.0 if side[1] == "+" else -1.0)
    file = author.File(units=units, gravity=tuple((way * GRAVITY).tolist()))
    found = [case for case in cases(author, file) if chosen in case.name]
    across = np.eye(3)[[index for index in range(3) if index != "XYZ".index(side[0])]]
    for number, case in enumerate(found):
        name, place = f"Case{number}", tuple(case.place.tolist())
        # Far heavier than the balls.
        file.add(file.body(name, place, geometry=case.text, dynamic=case.held, mass=1000.0 if case.held else None))
        if case.held:
            file.add(file.joint(f"Hold{number}", "Fixed", "", f"/World/{name}", pos0=place))
        for spot, (first, second) in enumerate(SPOTS):
            start = case.place + across[0] * first + across[1] * second - way * AWAY
            ball = f"Ball{number}_{spot}"
            file.add(file.body(ball, tuple(start.tolist()), shape="Sphere", size=(BALL,), mass=0.01))
            rail = {"pos0": tuple(start.tolist()), "low": -2.0 * AWAY, "high": 2.0 * AWAY, "axis": side[0]}
            file.add(file.joint(f"Rail{number}_{spot}", "Prismatic", "", f"/World/{ball}", **rail))
    return file, found


# --------------------------------------------------------------------------- what is drawn against the solver's shape


def lines_against_shape(file: Any, found: list[Case]) -> Iterator[tuple[str, float, float]]:
    """(name, largest distance of a drawn point from the shape, largest difference of extents), of the size."""
    import rapier3d

    helpers = importlib.import_module("simulation_tests.helpers")
    layout = importlib.import_module("usdphys_ext.usdphys_addon.simulation.layout")
    notices = importlib.import_module("usdphys_ext.usdphys_addon.simulation.notices")
    shapes = importlib.import_module("usdphys_ext.usdphys_addon.simulation.rapier.shapes")
    scene_shapes = importlib.import_module("usdphys_ext.usdphys_addon.viewport.scene_shapes")
    model = helpers.model_in(file)
    places = layout.Places({**model.bodies, **model.colliders}.values())
    for number, case in enumerate(found):
        prim = next(item for path, item in model.colliders.items() if path.startswith(f"/World/Case{number}/"))
        rotation = places[prim.path].rotation
        geometry = prim.mesh() if prim.mesh is not None else None
        lines = np.asarray(scene_shapes.collider_lines(prim, rotation), float)
        placed = shapes.shape_of(prim, geometry, rotation, notices.Notices(), moves=case.held)
        if placed is None or not len(lines):
            yield case.name, math.inf if (placed is None) != (not len(lines)) else 0.0, 0.0
            continue
        shape, center, turn = placed
        pose = np.eye(4)
        pose[:3, :3] = np.eye(3) if turn is None else turn
        pose[:3, 3] = 0.0 if center is None else center
        size = float(np.ptp(lines, axis=0).max())
        world = rapier3d.PhysicsWorld((0.0, 0.0, 0.0))
        constraints = importlib.import_module("usdphys_ext.usdphys_addon.simulation.rapier.constraints")
        body = rapier3d.RigidBody.fixed().position(constraints.isometry(pose))
        world.add_body(body, [rapier3d.Collider.new(shape)])
        world.step()
        gaps = []
        for point in lines:
            hit = world.query_pipeline.project_point(tuple(point.tolist()), solid=False)
            gap = math.inf if hit is None else math.dist(point, hit[1].point.to_tuple())
            gaps.append(min(gap, along_ray(world, lines.mean(axis=0), point)))
        extents = []
        for way in np.eye(3):
            box = shape.compute_aabb(constraints.isometry(pose))
            low, high = (np.array(end.to_tuple()) @ way for end in (box.mins, box.maxs))
            along = lines @ way
            extents += [abs(low - along.min()), abs(high - along.max())]
        yield case.name, max(gaps) / size, max(extents) / size


def along_ray(world: Any, middle: np.ndarray, point: np.ndarray) -> float:
    """How far a shape is from a point on a line to its middle: inside of hulls, the solver projects points wrongly."""
    import rapier3d

    reach = point - middle
    start = middle + 3.0 * reach
    hit = world.query_pipeline.cast_ray(rapier3d.Ray(tuple(start.tolist()), tuple((-reach).tolist())), 10.0, True)
    return math.inf if hit is None else abs(hit[1] - 2.0) * float(np.linalg.norm(reach))


# --------------------------------------------------------------------------- where balls rest


def rests(author: Any, units: Any, side: str, options: argparse.Namespace, folder: Path) -> Iterator[Any]:
    """(case, places of its balls along the way in the preview, in PhysX), metres from the middle of the case."""
    world_module = importlib.import_module("usdphys_ext.usdphys_addon.simulation.world")
    usd_read = importlib.import_module("usdphys_ext.usdphys_addon.usd.read")
    file, found = scene(author, units, side, options.only)
    path = folder / f"{units.name}_{side}.usda"
    path.write_text(file.text(), encoding="utf-8")
    model = usd_read.read_stage(usd_read.open_stage(path))
    world = world_module.World(model, time_step=1 / RATE)
    for _ in range(STEPS):
        world.step()
    ours = dict(zip(world.paths, world.positions, strict=True))
    judged = with_physx(options.physx, path, STEPS) if options.physx else {}
    index = "XYZ".index(side[0])
    for number, case in enumerate(found):
        names = [f"/World/Ball{number}_{spot}" for spot in range(len(SPOTS))]
        here = [ours[name][index] - case.place[index] for name in names]
        there = []
        for name in names:
            place = judged.get(name, ((math.nan,) * 3,))[0]
            if units.up == "Y":
                place = (place[0], -place[2], place[1])
            there.append(place[index] - case.place[index])
        yield case, here, there


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engine_runs.add_options(parser, "physx")
    parser.add_argument("--only", default="", help="only colliders with this in their name")
    parser.add_argument("--sides", default="".join(SIDES), help="sides that balls fall against (default: all)")
    parser.add_argument("--centimetres", action="store_true", help="in centimetres with Y up, too")
    parser.add_argument("--check", action="store_true", help="exit status 1 if anything differs that is not by design")
    options = parser.parse_args()
    load_extension()
    author = importlib.import_module("simulation_tests.author")
    bad = 0
    for units in author.UNITS[: 2 if options.centimetres else 1]:
        file, found = scene(author, units, "Z+", options.only)
        number = 0
        for name, gap, extent in lines_against_shape(file, found):
            number += 1
            if max(gap, extent) > LINES:
                bad += 1
                print(f"{units.name} {name}: lines {gap:.2%} from the shape, extent {extent:.2%} off")
        print(f"{units.name}: lines of {number} colliders compared")
        with tempfile.TemporaryDirectory() as folder:
            for side in (item for item in SIDES if item in options.sides):
                compared = 0
                for case, here, there in rests(author, units, side, options, Path(folder)):
                    apart = [abs(a - b) for a, b in zip(here, there, strict=True)]
                    compared += len(apart)
                    if options.physx and not max(apart) <= REST:
                        bad += 1
                        shown = ", ".join(f"{a:.3f}/{b:.3f}" for a, b in zip(here, there, strict=True))
                        print(f"{units.name} {side} {case.name}: preview/PhysX {shown}")
                print(f"{units.name} {side}: {compared} balls")
    print(f"{bad} differ")
    return 1 if options.check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
