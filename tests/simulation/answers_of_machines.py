# SPDX-License-Identifier: GPL-3.0-or-later
"""More scenes with an answer for any numbers, as `answers`: linkages, rotors, and bodies that lie on bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import numpy as np

from .answers import Check, Floats, Judge, Run, W, answer, at, near, rk4, turned
from .author import DEGREE, IDENTITY, File, about, block


def swings_as(states: Floats, seconds: float, name: str, start: float, tolerance: float) -> Judge:
    """A body turns about Y from an angle (rad) as an equation of motion says. states: see `rk4`."""

    def judge(run: Run) -> list[Check]:
        angles = run.angle(name, 1) + start
        wanted = np.array([at(states, seconds, time)[0] for time in run.times if time <= seconds])
        return [Check("angle", float(np.abs(angles[: len(wanted)] - wanted).max()), 0, tolerance)]

    return judge


# --------------------------------------------------------------------------- bodies on bodies


@answer
def slides_off_a_wedge(rng: Random, file: File) -> tuple[float, Judge]:
    """A block slides down a wedge that slides away below it, all without friction."""
    wedge, mass = rng.uniform(1, 20), rng.uniform(0.5, 10)
    length, height = 4.0, 4.0 * math.tan(rng.uniform(15, 40) * DEGREE)
    slope = math.atan2(height, length)
    points = [(x, y, z) for y in (-0.6, 0.6) for x, z in ((-length / 2, 0), (length / 2, 0), (-length / 2, height))]
    faces = [(0, 1, 2), (5, 4, 3), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)]
    side = 0.3
    normal = np.array((math.sin(slope), 0, math.cos(slope)))
    middle = np.array((-length / 4, 0, 0.75 * height)) + normal * side / 2
    file.add(
        file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
        file.body("Wedge", (0, 0, 0), mass=wedge,
                  geometry=file.mesh("Shape", points, faces, "convexHull", material=f"{W}/Ice")),
        file.body("Block", middle.tolist(), about("Y", slope / DEGREE), size=(side,) * 3, mass=mass,
                  material=f"{W}/Ice"),
    )  # fmt: skip
    away = mass * 9.81 * math.sin(slope) * math.cos(slope) / (wedge + mass * math.sin(slope) ** 2)
    # Of the block along the slope, as seen from the wedge.
    down = (wedge + mass) * 9.81 * math.sin(slope) / (wedge + mass * math.sin(slope) ** 2)
    seconds = 0.8 * math.sqrt(2 * length / 4 / math.cos(slope) / down)

    def judge(run: Run) -> list[Check]:
        time = run.times[-1]
        slid = run.end("Block") - run.end("Wedge") - (run.positions[0, run.row("Block")])
        return [near("wedge", run.end("Wedge")[0], -away * time**2 / 2, 0.03, 0.01),
                near("block", float(np.linalg.norm(slid)), down * time**2 / 2, 0.03, 0.01)]  # fmt: skip

    return seconds, judge


@answer
def pulled_from_below(rng: Random, file: File) -> tuple[float, Judge]:
    """A plate is pulled from below a box, on a floor without friction: the box goes along, or stays behind."""
    plate, box, friction = rng.uniform(1, 20), rng.uniform(0.5, 10), rng.uniform(0.1, 0.6)
    factor = rng.choice((rng.uniform(0.4, 0.85), rng.uniform(1.3, 2.5)))
    # By this force both go with all that friction can give.
    force = factor * friction * 9.81 * (plate + box)
    file.add(
        file.material("Ice", 0.0), file.material("Stuff", friction),
        file.ground(material=f"{W}/Ice"),
        file.body("Plate", (0, 0, 0.1), size=(6, 1, 0.2), mass=plate, material=f"{W}/Stuff"),
        file.body("Box", (0, 0, 0.35), size=(0.4, 0.5, 0.3), mass=box, material=f"{W}/Stuff"),
        file.joint("Pull", "Prismatic", "", f"{W}/Plate", pos0=(0, 0, 0.1), axis="X",
                   drives={"linear": {"damping": 1e7, "targetVelocity": 1e3, "maxForce": force}}),
        block("PhysicsCollisionGroup", "Apart", [
            f"rel collection:colliders:includes = <{W}/Plate>", f"rel physics:filteredGroups = <{W}/Below>",
        ], ["CollectionAPI:colliders"]),
        block("PhysicsCollisionGroup", "Below", [f"rel collection:colliders:includes = <{W}/Ground>"],
              ["CollectionAPI:colliders"]),
    )  # fmt: skip
    of_box = min(force / (plate + box), friction * 9.81)
    of_plate = (force - box * of_box) / plate

    def judge(run: Run) -> list[Check]:
        half = run.times[-1] ** 2 / 2
        return [near("box", run.end("Box")[0], of_box * half, 0.03, 0.01),
                near("plate", run.end("Plate")[0], of_plate * half, 0.03, 0.01)]  # fmt: skip

    return min(1.0, math.sqrt(2.0 / max(of_plate - of_box, 0.1))), judge


@answer
def rolls_on_a_plank(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball rolls on a plank that gains speed: it gets two sevenths of that."""
    radius, rise = rng.uniform(0.05, 0.5), rng.uniform(0.5, 3)
    file.add(
        file.material("Grip", 1.0),
        file.body("Plank", (0, 0, -0.1), size=(30, 2, 0.2), kinematic=True, material=f"{W}/Grip"),
        file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius,), mass=rng.uniform(0.1, 20),
                  material=f"{W}/Grip"),
    )  # fmt: skip
    file.movers = {"Plank": lambda time: ((rise * time**2 / 2, 0, -0.1), IDENTITY)}

    def judge(run: Run) -> list[Check]:
        return [near("way", run.end("Ball")[0], 2 / 7 * rise * run.times[-1] ** 2 / 2, 0.04, 0.01)]

    return 1.5, judge


@answer
def thrown_by_a_paddle(rng: Random, file: File) -> tuple[float, Judge]:
    """A paddle that comes towards a ball gives it its own speed, and sends the rest back."""
    paddle, ball, restitution = rng.uniform(0.3, 3), rng.uniform(0, 3), rng.uniform(0, 1)
    radius = rng.uniform(0.05, 0.3)
    file.gravity = (0, 0, 0)
    stuff = file.material("Stuff", 0.0, restitution)
    start = 0.4 * (paddle + ball)
    file.add(
        stuff,
        file.body("Paddle", (-0.1, 0, 0), size=(0.2, 1, 1), kinematic=True, material=f"{W}/Stuff"),
        file.body("Ball", (start + radius, 0, 0), shape="Sphere", size=(radius,), mass=rng.uniform(0.1, 50),
                  velocity=(-ball, 0, 0), material=f"{W}/Stuff"),
    )  # fmt: skip
    file.movers = {"Paddle": lambda time: ((paddle * time - 0.1, 0, 0), IDENTITY)}
    speed = paddle + restitution * (paddle + ball)

    def judge(run: Run) -> list[Check]:
        return [near("speed", run.velocity("Ball")[0], speed, 0.03, 0.01)]

    return 0.8, judge


@answer
def holds_on_a_turntable(rng: Random, file: File) -> tuple[float, Judge]:
    """A box on a table that turns stays where friction can give the force towards the axis, else it leaves."""
    friction, arm = rng.uniform(0.2, 0.9), rng.uniform(0.3, 2)
    factor = rng.choice((rng.uniform(0.5, 0.88), rng.uniform(1.2, 1.6)))
    spin = math.sqrt(factor * friction * 9.81 / arm)
    file.add(
        file.material("Stuff", friction),
        file.body("Table", (0, 0, -0.1), shape="Cylinder", size=(8, 0.2), kinematic=True, material=f"{W}/Stuff"),
        file.body("Box", (arm, 0, 0.05), size=(0.2, 0.2, 0.1), mass=rng.uniform(0.2, 20), material=f"{W}/Stuff",
                  velocity=(0, arm * spin, 0), spin=(0, 0, spin)),
    )  # fmt: skip
    file.movers = {"Table": lambda time: ((0, 0, -0.1), about("Z", spin * time / DEGREE))}

    def judge(run: Run) -> list[Check]:
        far = float(np.linalg.norm(run.end("Box")[:2]))
        if factor < 1:
            return [near("stays", far, arm, 0.03)]
        return [Check("leaves", float(far > 1.2 * arm), 1.0, 0.0)]

    return 2.0, judge


@answer
def lands_on_its_end(rng: Random, file: File) -> tuple[float, Judge]:
    """A tilted bar falls on one end, without friction: what it gets is given by where the end is."""
    half, radius, mass = rng.uniform(0.3, 1), 0.03, rng.uniform(0.2, 20)
    tilt, restitution, speed = rng.uniform(40, 65) * DEGREE, rng.uniform(0, 0.8), rng.uniform(0.5, 1.5)
    moment = mass * rng.uniform(0.2, 0.45) * half**2
    file.gravity = (0, 0, -1e-3)
    file.add(
        file.material("Stuff", 0.0, restitution), file.ground(material=f"{W}/Stuff"),
        file.body("Bar", (0, 0, half * math.sin(tilt) + radius + 0.2 * speed), about("Y", tilt / DEGREE), mass=mass,
                  inertia=(1e-3 * moment, moment, moment),
                  velocity=(speed * math.sin(tilt), 0, -speed * math.cos(tilt)),
                  geometry=file.shape("Shape", "Capsule", (radius, 2 * half), axis="X", material=f"{W}/Stuff")),
    )  # fmt: skip
    arm = half * math.cos(tilt)
    blow = (1 + restitution) * speed / (1 / mass + arm**2 / moment)

    def judge(run: Run) -> list[Check]:
        # The end that is low is that of +X, and its blow turns the bar against Y.
        return [near("speed", run.velocity("Bar")[2], blow / mass - speed, 0.02, 0.03 * speed),
                near("spin", -run.spin("Bar")[1], blow * arm / moment, 0.04, 0.02)]  # fmt: skip

    return 0.25, judge


@answer
def rocks_on_a_log(rng: Random, file: File) -> tuple[float, Judge]:
    """A plank lies across a fixed log and rocks about where it touches, without sliding."""
    radius, length, thick = rng.uniform(0.5, 1.5), rng.uniform(1.2, 2.5), rng.uniform(0.04, 0.1)
    start = rng.uniform(2, 5) * DEGREE
    file.add(
        file.material("Grip", 1.5),
        file.body("Log", (0, 0, -radius), dynamic=False, geometry=file.shape(
            "Shape", "Cylinder", (radius, 2.0), axis="Y", material=f"{W}/Grip")),
        # Rolled onto the log from where it lay level.
        file.body("Plank", (
            (radius + thick / 2) * math.sin(start) - radius * start * math.cos(start), 0,
            (radius + thick / 2) * math.cos(start) + radius * start * math.sin(start) - radius,
        ), about("Y", start / DEGREE), size=(length, 0.4, thick), mass=rng.uniform(0.5, 20), material=f"{W}/Grip"),
    )  # fmt: skip
    moment, half = (length**2 + thick**2) / 12, thick / 2

    def rate(state: np.ndarray) -> np.ndarray:
        turn, spin = state
        push = 9.81 * (half * math.sin(turn) - radius * turn * math.cos(turn)) - radius**2 * turn * spin**2
        return np.array((spin, push / (moment + half**2 + (radius * turn) ** 2)))

    seconds = 1.5 * 2 * math.pi * math.sqrt((moment + half**2) / 9.81 / (radius - half))
    states = rk4(rate, (start, 0.0), seconds)

    def judge(run: Run) -> list[Check]:
        angles = run.angle("Plank", 1) + start
        found = [index for index in range(1, len(angles)) if angles[index - 1] > 0 >= angles[index]
                 or angles[index - 1] < 0 <= angles[index]]  # fmt: skip
        wanted = [index for index in range(1, len(states)) if states[index - 1, 0] * states[index, 0] <= 0]
        first = [run.times[index] - run.times[1] * angles[index] / (angles[index] - angles[index - 1])
                 for index in found[:2]]  # fmt: skip
        return [Check("crossings", float(len(found) >= 2), 1.0, 0.0),
                *(near("crossing", one, two * seconds / (len(states) - 1), 0.05)
                  for one, two in zip(first, wanted, strict=False))]  # fmt: skip

    return seconds, judge


@answer
def slides_down_a_wall(rng: Random, file: File) -> tuple[float, Judge]:
    """A ladder leans against a wall, without friction, until it slides."""
    half, mass, radius = rng.uniform(0.5, 2), rng.uniform(1, 20), 0.02
    start = rng.uniform(20, 40) * DEGREE
    moment = mass * half**2 * rng.uniform(0.25, 0.4)
    middle = (half * math.sin(start) + radius, 0, half * math.cos(start) + radius)
    file.add(
        file.material("Ice", 0.0), file.ground(material=f"{W}/Ice"),
        file.body("Wall", (-0.5, 0, 5), size=(1, 10, 10), dynamic=False, material=f"{W}/Ice"),
        file.body("Ladder", middle, about("Y", -start / DEGREE), mass=mass, inertia=(moment, moment, 1e-2 * moment),
                  geometry=file.shape("Shape", "Capsule", (radius, 2 * half), material=f"{W}/Ice")),
    )  # fmt: skip
    rise = mass * 9.81 * half / (mass * half**2 + moment)
    # It leaves the wall where its height is two thirds of that of the start.
    leaves = math.acos(2 / 3 * math.cos(start))
    states = rk4(lambda s: np.array((s[1], rise * math.sin(s[0]))), (start, 0.0), 3.0)
    frame = int(np.argmax(states[:, 0] > start + 0.9 * (leaves - start)))
    seconds = frame * 3.0 / (len(states) - 1)

    def judge(run: Run) -> list[Check]:
        angle = start - run.angle("Ladder", 1)[-1]
        return [near("angle", angle, at(states, 3.0, run.times[-1])[0], 0.03)]

    return seconds, judge


@answer
def lands_on_a_spring(rng: Random, file: File) -> tuple[float, Judge]:
    """A box falls on a plate on a spring, and both swing about where the spring holds both."""
    plate, box = rng.uniform(0.5, 5), rng.uniform(1, 5)
    rate = 2 * math.pi * rng.uniform(0.6, 1.2)
    stiffness = (plate + box) * rate**2
    rest = -plate * 9.81 / stiffness
    drop = 0.8 * min(9.81 / rate**2, 0.3) * rng.uniform(0.3, 1)
    thick = 0.1
    file.add(
        file.material("Stuff", 0.5),
        file.body("Plate", (0, 0, 0), size=(1, 1, thick), mass=plate, material=f"{W}/Stuff"),
        file.body("Box", (0, 0, thick / 2 + 0.15 + drop), size=(0.3,) * 3, mass=box, material=f"{W}/Stuff"),
        file.joint("Spring", "Prismatic", "", f"{W}/Plate", axis="Z", drives={
            "linear": {"stiffness": stiffness, "damping": 0.0, "targetPosition": -rest}}),
    )  # fmt: skip
    before = math.sqrt(2 * 9.81 * drop)
    together = before * box / (plate + box)
    sag = box * 9.81 / stiffness
    far = math.hypot(sag, together / rate)

    def judge(run: Run) -> list[Check]:
        return [near("lowest", run.positions[:, run.row("Plate"), 2].min(), -sag - far, 0.05, 0.005)]

    return before / 9.81 + 0.75 * 2 * math.pi / rate, judge


@answer
def balances(rng: Random, file: File) -> tuple[float, Judge]:
    """A seesaw on a hinge tilts with the moment of what lies on it."""
    far, load, other = rng.uniform(0.5, 0.9), rng.uniform(1, 10), rng.uniform(0.4, 0.9)
    factor = rng.choice((1.0, rng.uniform(1.3, 1.6)))
    second = factor * load * far / other
    beam = rng.uniform(1, 10)
    side = 0.1
    file.add(
        file.material("Grip", 1.0),
        file.body("Beam", (0, 0, 1), size=(2.2, 0.3, 0.02), mass=beam, material=f"{W}/Grip"),
        file.joint("Hinge", "Revolute", "", f"{W}/Beam", pos0=(0, 0, 1), axis="Y"),
        file.body("One", (-far, 0, 1.01 + side / 2), size=(side,) * 3, mass=load, material=f"{W}/Grip"),
        file.body("Two", (other, 0, 1.01 + side / 2), size=(side,) * 3, mass=second, material=f"{W}/Grip"),
    )  # fmt: skip
    high = 0.01 + side / 2
    moment = beam * (2.2**2 + 0.02**2) / 12 + sum(
        mass * (side**2 / 6 + arm**2 + high**2) for mass, arm in ((load, far), (second, other))
    )
    pull = (second * other - load * far) * 9.81
    # What lies above the hinge falls over: the more the farther.
    topple = (second + load) * 9.81 * high
    states = rk4(lambda s: np.array((s[1], (pull * math.cos(s[0]) + topple * math.sin(s[0])) / moment)), (0, 0), 1.0)

    def judge(run: Run) -> list[Check]:
        angle = float(run.angle("Beam", 1)[-1])
        return [near("angle", angle, at(states, 1.0, run.times[-1])[0], 0.04, 0.004)]

    return 0.35, judge


@answer
def crosses_tiles(rng: Random, file: File) -> tuple[float, Judge]:
    """What slides or rolls over a floor of parts side by side does not find their edges."""
    kind = rng.choice(("Cube", "Standing", "Sphere", "Lying"))
    made_of = rng.choice(("boxes", "meshes", "one mesh", "prisms", "surfaces"))
    side, tile, speed = rng.uniform(0.1, 0.5), rng.uniform(0.15, 1.5), rng.uniform(0.5, 4)
    friction = rng.choice((0.0, rng.uniform(0.05, 0.4)))
    heading = rng.uniform(0, 360)
    turn = about("Z", heading)
    along = turned(turn, (1, 0, 0))
    file.add(file.material("Stuff", friction))
    solids: list[tuple[list[tuple[float, ...]], list[tuple[int, ...]]]] = {
        "prisms": [extruded(((-1, -1), (1, -1), (1, 1)), tile, 1.5), extruded(((-1, -1), (1, 1), (-1, 1)), tile, 1.5)],
        "surfaces": [([(x * tile / 2, y * 0.75, 0.1) for x, y in SQUARE], [(0, 1, 2, 3)])],
    }.get(made_of, [extruded(SQUARE, tile, 1.5)])
    whole: tuple[list[tuple[float, ...]], list[tuple[int, ...]]] = ([], [])
    for index in range(math.ceil(9 / tile)):
        for row in (-0.5, 0.5):
            middle = turned(turn, ((index + 0.5) * tile - 1, row * 1.5, -0.1))
            name = f"Tile{index}{'LR'[row > 0]}"
            if made_of == "boxes":
                file.add(file.body(name, middle.tolist(), turn, size=(tile, 1.5, 0.2), dynamic=False,
                                   material=f"{W}/Stuff"))  # fmt: skip
                continue
            for number, (points, faces) in enumerate(solids):
                if made_of == "one mesh":
                    whole[1].extend(tuple(len(whole[0]) + corner for corner in face) for face in faces)
                    whole[0].extend(tuple((turned(turn, point) + middle).tolist()) for point in points)
                    continue
                mesh = file.mesh("Shape", points, faces, "convexHull" if made_of == "prisms" else "none",
                                 material=f"{W}/Stuff")  # fmt: skip
                file.add(file.body(f"{name}{number}", middle.tolist(), turn, dynamic=False, geometry=mesh))
    if whole[0]:
        mesh = file.mesh("Shape", *whole, "none", material=f"{W}/Stuff")
        file.add(file.body("Tiles", dynamic=False, geometry=mesh))
    rolls = kind in ("Sphere", "Lying")
    # Velocities are in the space of the body.
    options = {"velocity": (speed, 0, 0), "spin": (0, 2 * speed / side, 0) if rolls else None}
    shape, sizes, axis = {
        "Cube": ("Cube", (side,) * 3, "Z"), "Standing": ("Cylinder", (side / 2, side), "Z"),
        "Lying": ("Cylinder", (side / 2, side), "Y"), "Sphere": ("Sphere", (side / 2,), "Z"),
    }[kind]  # fmt: skip
    # Exactly over walls inside of one mesh the solver finds the floor late.
    aside = 0.05 if made_of == "one mesh" else rng.choice((0.0, 0.05))
    start = turned(turn, (0, aside, side / 2)).tolist()
    file.add(file.body("Body", start, turn, mass=rng.uniform(0.1, 50), **options,
                       geometry=file.shape("Shape", shape, sizes, axis=axis, material=f"{W}/Stuff")))  # fmt: skip
    brakes = 0.0 if rolls else friction * 9.81
    seconds = min(6.0 / speed, 3.0)
    time = min(seconds, speed / brakes) if brakes else seconds

    def judge(run: Run) -> list[Check]:
        place = run.end("Body") - run.positions[0, run.row("Body")]
        high = np.abs(run.positions[:, run.row("Body"), 2] - side / 2).max()
        last = time if brakes and time < seconds else run.times[-1]
        # A cylinder that rolls on its side is lifted by some edges.
        part, lift = (0.035, 0.02) if kind == "Lying" else (0.02, 0.005)
        return [near("way", place @ along, speed * last - brakes * last**2 / 2, part, 0.01),
                Check("height", float(high), 0.0, 0.003 + lift * side)]  # fmt: skip

    return seconds, judge


SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def extruded(
    outline: Sequence[tuple[float, float]], length: float, width: float
) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
    """(points, faces) of a slab 0.2 m thick; outline: counter-clockwise, of a square from -1 to 1."""
    count = len(outline)
    points = [(x * length / 2, y * width / 2, z) for z in (-0.1, 0.1) for x, y in outline]
    walls = [(k, (k + 1) % count, count + (k + 1) % count, count + k) for k in range(count)]
    return points, [tuple(range(count))[::-1], tuple(range(count, 2 * count)), *walls]


# --------------------------------------------------------------------------- linkages and rotors


@answer
def flung_along_an_arm(rng: Random, file: File) -> tuple[float, Judge]:
    """A bead on an arm that turns evenly leaves it as a hyperbolic cosine."""
    start, spin = rng.uniform(0.05, 0.4), rng.uniform(1, 4)
    mass = rng.uniform(0.1, 10)
    file.gravity = (0, 0, 0)
    file.add(
        file.body("Arm", (0, 0, 0), size=(0.1, 0.1, 0.1), kinematic=True, collides=False),
        file.body("Bead", (start, 0, 0), collides=False, mass=mass, inertia=(1e-3 * mass,) * 3,
                  velocity=(0, start * spin, 0), spin=(0, 0, spin)),
        file.joint("Slide", "Prismatic", f"{W}/Arm", f"{W}/Bead", axis="X"),
    )  # fmt: skip
    file.movers = {"Arm": lambda time: ((0, 0, 0), about("Z", spin * time / DEGREE))}

    def judge(run: Run) -> list[Check]:
        far = float(np.linalg.norm(run.end("Bead")))
        return [near("way", far, start * math.cosh(spin * run.times[-1]), 0.03)]

    return 2.0 / spin, judge


@answer
def crank_drives_a_slider(rng: Random, file: File) -> tuple[float, Judge]:
    """A crank with an even speed, a rod and a piston: the piston is where the angle of the crank says."""
    crank, rod = rng.uniform(0.2, 0.5), rng.uniform(0.7, 1.5)
    spin, masses = rng.choice((-1, 1)) * rng.uniform(1, 6), [rng.uniform(0.2, 5) for _ in range(3)]
    plane = about("X", rng.choice((0, 90)))
    at_plane = lambda x, y=0.0: turned(plane, (x, y, 0)).tolist()  # noqa: E731
    file.add(
        file.body("Crank", at_plane(crank / 2), plane, size=(crank, 0.05, 0.05), mass=masses[0], collides=False,
                  inertia=(0.01, 0.1, 0.1)),
        file.body("Rod", at_plane(crank + rod / 2), plane, mass=masses[1], collides=False, inertia=(0.01, 0.1, 0.1)),
        file.body("Piston", at_plane(crank + rod), plane, mass=masses[2], collides=False, inertia=(0.1, 0.1, 0.1)),
        file.joint("Axle", "Revolute", "", f"{W}/Crank", rot0=plane, pos1=(-crank / 2, 0, 0), axis="Z",
                   drives={"angular": {"damping": 1e6, "targetVelocity": spin}}),
        file.joint("Pin", "Revolute", f"{W}/Crank", f"{W}/Rod", pos0=(crank / 2, 0, 0), pos1=(-rod / 2, 0, 0),
                   axis="Z"),
        file.joint("Wrist", "Revolute", f"{W}/Rod", f"{W}/Piston", pos0=(rod / 2, 0, 0), axis="Z"),
        file.joint("Guide", "Prismatic", "", f"{W}/Piston", pos0=at_plane(crank + rod), rot0=plane, axis="X"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        middle = (
            run.positions[:, run.row("Crank")] @ turned(plane, (1, 0, 0)),
            run.positions[:, run.row("Crank")] @ turned(plane, (0, 1, 0)),
        )
        angles = np.unwrap(np.arctan2(middle[1], middle[0]))
        wanted = crank * np.cos(angles) + np.sqrt(rod**2 - (crank * np.sin(angles)) ** 2)
        found = run.positions[:, run.row("Piston")] @ turned(plane, (1, 0, 0))
        return [Check("piston", float(np.abs(found - wanted).max()), 0, 0.01 * crank),
                near("turned", angles[-1], spin * run.times[-1], 0.02, 0.03)]  # fmt: skip

    return 2.5, judge


@answer
def governor(rng: Random, file: File) -> tuple[float, Judge]:
    """Two weights on hinged arms about a shaft that turns evenly hang at the angle that their speed gives."""
    arm, mass = rng.uniform(0.2, 1), rng.uniform(0.2, 10)
    angle = rng.uniform(25, 65) * DEGREE
    spin = math.sqrt(9.81 / arm / math.cos(angle))
    small = 1e-4 * mass * arm**2
    file.add(file.body("Shaft", (0, 0, 0), kinematic=True, collides=False))
    for name, side in (("Left", -1), ("Right", 1)):
        place = (side * arm * math.sin(angle), 0, -arm * math.cos(angle))
        file.add(
            file.body(name, place, about("Y", -side * angle / DEGREE), collides=False, mass=mass,
                      inertia=(small,) * 3, velocity=(0, spin * place[0], 0), spin=(0, 0, spin)),
            file.joint(f"{name}Hinge", "Revolute", f"{W}/Shaft", f"{W}/{name}", pos1=(0, 0, arm), axis="Y"),
        )  # fmt: skip
    file.movers = {"Shaft": lambda time: ((0, 0, 0), about("Z", spin * time / DEGREE))}

    def judge(run: Run) -> list[Check]:
        heights = [np.abs(run.positions[:, run.row(name), 2] + arm * math.cos(angle)).max()
                   for name in ("Left", "Right")]  # fmt: skip
        return [Check("height", float(max(heights)), 0, 0.02 * arm)]

    return 3 * 2 * math.pi / spin, judge


@answer
def hangs_as_a_parallelogram(rng: Random, file: File) -> tuple[float, Judge]:
    """A plate on two equal rods swings without turning: a loop of four hinges."""
    length, wide, plate = rng.uniform(0.4, 1.5), rng.uniform(0.4, 1.5), rng.uniform(0.5, 20)
    rod = rng.uniform(0.1, 2)
    start = rng.uniform(15, 50) * DEGREE
    turn = about("Y", start / DEGREE)
    down = turned(turn, (0, 0, -1))
    moment = rod * length**2 / 12
    for name, x in (("Left", -wide / 2), ("Right", wide / 2)):
        file.add(
            file.body(name, (np.array((x, 0, 0)) + down * length / 2).tolist(), turn, collides=False, mass=rod,
                      inertia=(moment, moment, 1e-2 * moment)),
            file.joint(f"{name}Top", "Revolute", "", f"{W}/{name}", pos0=(x, 0, 0), pos1=(0, 0, length / 2), axis="Y"),
            file.joint(f"{name}End", "Revolute", f"{W}/{name}", f"{W}/Plate", pos0=(0, 0, -length / 2),
                       pos1=(x, 0, 0), axis="Y"),
        )  # fmt: skip
    file.add(file.body("Plate", (down * length).tolist(), collides=False, mass=plate, inertia=(plate,) * 3))
    rate = 9.81 * length * (plate + rod) / (plate * length**2 + 2 * rod * length**2 / 3)
    seconds = 1.5 * 2 * math.pi / math.sqrt(rate)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start, 0.0), seconds)

    def judge(run: Run) -> list[Check]:
        angles = np.arcsin(np.clip(-run.positions[:, run.row("Plate"), 0] / length, -1, 1))
        wanted = np.array([at(states, seconds, time)[0] for time in run.times if time <= seconds])
        return [Check("angle", float(np.abs(angles[: len(wanted)] - wanted).max()), 0, 0.07 * start),
                Check("level", float(np.abs(run.angle("Plate", 1)).max()), 0, 0.01)]  # fmt: skip

    return seconds, judge


@answer
def swings_as_one_weld(rng: Random, file: File) -> tuple[float, Judge]:
    """Boxes that fixed joints hold swing about a hinge as one body, whatever their masses."""
    count, side = rng.randint(2, 5), rng.uniform(0.1, 0.4)
    masses = [rng.uniform(0.5, 5) for _ in range(count)]
    start = rng.uniform(15, 60) * DEGREE
    turn = about("Y", start / DEGREE)
    down = turned(turn, (0, 0, -1))
    pull = moment = 0.0
    for index, mass in enumerate(masses):
        arm = (index + 0.5) * side
        pull += mass * 9.81 * arm
        moment += mass * (arm**2 + side**2 / 6)
        file.add(file.body(f"Box{index}", (down * arm).tolist(), turn, size=(side,) * 3, mass=mass))
        if index:
            file.add(file.joint(f"Weld{index}", "Fixed", f"{W}/Box{index - 1}", f"{W}/Box{index}",
                                pos0=(0, 0, -side / 2), pos1=(0, 0, side / 2)))  # fmt: skip
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Box0", pos1=(0, 0, side / 2), axis="Y"))
    rate = pull / moment
    seconds = 1.5 * 2 * math.pi / math.sqrt(rate)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start, 0.0), seconds)

    return seconds, swings_as(states, seconds, "Box0", start, 0.07 * start)


@answer
def double_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    """Two bars, one below the other, from small angles: the equations of motion of both."""
    sizes, masses = [rng.uniform(0.3, 1.2) for _ in range(2)], [rng.uniform(0.3, 8) for _ in range(2)]
    starts = [rng.choice((-1, 1)) * rng.uniform(5, 20) * DEGREE for _ in range(2)]
    (a, b), (m, n) = sizes, masses
    turns = [about("Y", start / DEGREE) for start in starts]
    ends = [turned(turns[0], (0, 0, -a)), turned(turns[1], (0, 0, -b))]
    moments = [m * a**2 / 12, n * b**2 / 12]
    file.add(
        file.body("One", (ends[0] / 2).tolist(), turns[0], collides=False, mass=m, inertia=(moments[0],) * 3),
        file.body("Two", (ends[0] + ends[1] / 2).tolist(), turns[1], collides=False, mass=n,
                  inertia=(moments[1],) * 3),
        file.joint("Top", "Revolute", "", f"{W}/One", pos1=(0, 0, a / 2), axis="Y"),
        file.joint("Middle", "Revolute", f"{W}/One", f"{W}/Two", pos0=(0, 0, -a / 2), pos1=(0, 0, b / 2), axis="Y"),
    )  # fmt: skip

    def rate(state: np.ndarray) -> np.ndarray:
        one, two, spin, other = state
        apart = math.cos(one - two) * n * a * b / 2
        matrix = np.array(((m * a**2 / 4 + moments[0] + n * a**2, apart), (apart, n * b**2 / 4 + moments[1])))
        swirl = n * a * b / 2 * math.sin(one - two)
        push = np.array((-swirl * other**2 - (m / 2 + n) * 9.81 * a * math.sin(one),
                         swirl * spin**2 - n * 9.81 * b / 2 * math.sin(two)))  # fmt: skip
        return np.array((spin, other, *np.linalg.solve(matrix, push)))

    seconds = 2.0
    states = rk4(rate, (*starts, 0.0, 0.0), seconds, 2000)

    def judge(run: Run) -> list[Check]:
        wanted = np.array([at(states, seconds, time)[:2] for time in run.times])
        found = np.stack([run.angle(name, 1) + start for name, start in zip(("One", "Two"), starts, strict=True)], 1)
        return [Check("angles", float(np.abs(found - wanted).max()), 0, 0.08 * max(map(abs, starts)))]

    return seconds, judge


@answer
def rack_and_pinion(rng: Random, file: File) -> tuple[float, Judge]:
    """A driven pinion moves a rack by so many metres for each turn, and feels its mass."""
    moment, mass, ratio = rng.uniform(0.05, 1), rng.uniform(0.5, 10), rng.choice((-1, 1)) * rng.uniform(0.05, 0.5)
    torque = rng.uniform(0.5, 5)
    file.gravity = (0, 0, 0)
    # Degrees of the pinion for each unit of the rack.
    written = 1.0 / (ratio * DEGREE) * file.units.meters
    file.add(
        file.body("Pinion", (0, 0, 0), collides=False, mass=3.0, inertia=(moment,) * 3),
        file.body("Rack", (2, 0, 0), collides=False, mass=mass, inertia=(mass,) * 3),
        file.joint("Axle", "Revolute", "", f"{W}/Pinion", axis="Z",
                   drives={"angular": {"damping": 1e6, "targetVelocity": 1e3, "maxForce": torque}}),
        file.joint("Slide", "Prismatic", "", f"{W}/Rack", pos0=(2, 0, 0), axis="X"),
        block("PhysxPhysicsRackAndPinionJoint", "Teeth", [
            f"rel physics:body0 = <{W}/Pinion>", f"rel physics:body1 = <{W}/Rack>",
            f"rel physics:hinge = <{W}/Axle>", f"rel physics:prismatic = <{W}/Slide>",
            f"float physics:ratio = {written}",
        ]),
    )  # fmt: skip
    rise = torque / (moment + mass * ratio**2)

    def judge(run: Run) -> list[Check]:
        angle, way = run.angle("Pinion", 2)[-1], run.end("Rack")[0] - 2
        return [near("ratio", abs(way / angle), abs(ratio), 0.02),
                near("angle", angle, rise * run.times[-1] ** 2 / 2, 0.04)]  # fmt: skip

    return min(1.0, math.sqrt(2 * 6.0 / rise)), judge


@answer
def hangs_at_its_cone(rng: Random, file: File) -> tuple[float, Judge]:
    """A bob on a ball joint whose axis is oblique hangs at the edge of the cone, not straight down."""
    arm, cone, tilt = rng.uniform(0.3, 1.5), rng.uniform(10, 35), rng.uniform(50, 100)
    mass = rng.uniform(0.1, 20)
    frame = about("Y", tilt)
    place = turned(frame, (0, 0, -arm))
    file.add(
        file.body("Bob", place.tolist(), frame, collides=False, mass=mass, inertia=(0.1 * mass * arm**2,) * 3,
                  apis=["PhysxRigidBodyAPI"], extra=["float physxRigidBody:angularDamping = 4"]),
        file.joint("Ball", "Spherical", "", f"{W}/Bob", rot0=frame, pos1=(0, 0, arm), axis="Z",
                   cone=(cone * DEGREE,) * 2),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        axis = turned(frame, (0, 0, -1))
        angle = math.acos(np.clip(run.end("Bob") @ axis / arm, -1, 1)) / DEGREE
        return [Check("angle", angle, cone, 1.0), Check("down", abs(run.end("Bob")[1]) / arm, 0, 0.03)]

    return 4.0, judge


@answer
def rides_on_a_driven_table(rng: Random, file: File) -> tuple[float, Judge]:
    """A table that a motor turns carries a box in a circle, as a kinematic one does."""
    friction, arm = rng.uniform(0.3, 0.9), rng.uniform(0.3, 1.5)
    spin = math.sqrt(rng.uniform(0.3, 0.75) * friction * 9.81 / arm)
    file.add(
        file.material("Stuff", friction),
        file.body("Table", (0, 0, -0.1), size=(4, 4, 0.2), mass=500.0, spin=(0, 0, spin), material=f"{W}/Stuff"),
        file.joint("Axle", "Revolute", "", f"{W}/Table", pos0=(0, 0, -0.1), axis="Z",
                   drives={"angular": {"damping": 1e6, "targetVelocity": spin}}),
        file.body("Box", (arm, 0, 0.05), size=(0.2, 0.2, 0.1), mass=rng.uniform(0.2, 5), material=f"{W}/Stuff",
                  velocity=(0, arm * spin, 0), spin=(0, 0, spin)),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("stays", float(np.linalg.norm(run.end("Box")[:2])), arm, 0.03)]

    return 4.0, judge


@answer
def swings_between_rollers(rng: Random, file: File) -> tuple[float, Judge]:
    """A bar lies on two rollers that turn towards each other: their friction lets it swing as a spring would."""
    friction, wide, radius = rng.uniform(0.15, 0.4), rng.uniform(1.0, 2.0), rng.uniform(0.15, 0.3)
    far = rng.uniform(0.1, 0.3) * wide
    rate = math.sqrt(2 * friction * 9.81 / wide)
    # So fast that both always slide.
    spin = 3.0 * far * rate / radius + 2.0
    file.add(file.material("Stuff", friction))
    for name, side in (("Left", -1), ("Right", 1)):
        file.add(file.body(name, (side * wide / 2, 0, -radius), kinematic=True, geometry=file.shape(
            "Shape", "Cylinder", (radius, 1.0), axis="Y", material=f"{W}/Stuff")))  # fmt: skip
    turning = {
        name: (lambda time, side=side: ((side * wide / 2, 0, -radius), about("Y", -side * spin * time / DEGREE)))
        for name, side in (("Left", -1), ("Right", 1))
    }
    file.movers = turning
    thick = 0.05
    file.add(file.body("Bar", (far, 0, thick / 2), size=(3 * wide, 0.3, thick), mass=rng.uniform(0.5, 10),
                       material=f"{W}/Stuff"))  # fmt: skip
    seconds = 0.75 * 2 * math.pi / rate

    def judge(run: Run) -> list[Check]:
        # Friction acts a little below the middle, so that the load of the rollers changes with it.
        wanted = far * np.cos(rate * run.times)
        return [Check("way", float(np.abs(run.positions[:, run.row("Bar"), 0] - wanted).max()), 0, 0.12 * far)]

    return seconds, judge


@answer
def stops_at_a_bumper(rng: Random, file: File) -> tuple[float, Judge]:
    """A box that slides without friction presses a sprung bumper as far as its energy goes."""
    mass, speed, bumper = rng.uniform(1, 20), rng.uniform(0.5, 3), 0.05
    rate = rng.uniform(4, 10)
    stiffness = mass * rate**2
    file.gravity = (0, 0, 0)
    file.add(
        file.material("Ice", 0.0),
        file.body("Box", (0, 0, 0), size=(0.4,) * 3, mass=mass, velocity=(speed, 0, 0), material=f"{W}/Ice"),
        file.body("Bumper", (0.55, 0, 0), size=(0.1, 0.4, 0.4), mass=bumper * mass, material=f"{W}/Ice"),
        file.joint("Spring", "Prismatic", "", f"{W}/Bumper", pos0=(0.55, 0, 0), axis="X",
                   drives={"linear": {"stiffness": stiffness, "damping": 0.0, "targetPosition": 0.0}}),
    )  # fmt: skip
    together = speed / (1 + bumper)
    deep = together * math.sqrt(mass * (1 + bumper) / stiffness)

    def judge(run: Run) -> list[Check]:
        return [near("deep", run.positions[:, run.row("Bumper"), 0].max() - 0.55, deep, 0.05, 0.003)]

    return 0.3 / speed + math.pi / rate, judge


@answer
def caught_by_a_rope(rng: Random, file: File) -> tuple[float, Judge]:
    """A weight falls beside its anchor until the rope is taut: it keeps the part of its speed across the rope."""
    length, mass = rng.uniform(0.5, 2), rng.uniform(0.1, 20)
    aside = rng.uniform(0.3, 0.8) * length
    height = rng.uniform(0.0, 0.3) * length
    # A generic joint may say the same as a limit of its distance.
    kind = rng.choice(("Distance", "D6"))
    says = {"distance": (-1, length)} if kind == "Distance" else {"limits": {"distance": (0.0, length)}}
    file.add(
        file.body("Weight", (aside, 0, height), collides=False, mass=mass, inertia=(1e-3 * mass,) * 3),
        file.joint("Rope", kind, "", f"{W}/Weight", **says),
    )  # fmt: skip
    drop = height + math.sqrt(length**2 - aside**2)
    speed = math.sqrt(2 * 9.81 * drop)
    angle = math.asin(aside / length)
    around = speed * math.sin(angle)
    # From there it swings as a pendulum.
    seconds = 0.6
    states = rk4(lambda s: np.array((s[1], -9.81 / length * math.sin(s[0]))), (angle, -around / length), seconds)
    fall = math.sqrt(2 * drop / 9.81)

    def judge(run: Run) -> list[Check]:
        time = run.times[-1] - fall
        wanted = at(states, seconds, min(time, seconds))[0]
        place = run.end("Weight")
        return [Check("angle", math.atan2(place[0], -place[2]), wanted, 0.05 * angle + around / length * run.times[1]),
                near("length", float(np.linalg.norm(place)), length, 0.01)]  # fmt: skip

    return fall + 0.5, judge


@answer
def pendulum_of_any_size(rng: Random, file: File) -> tuple[float, Judge]:
    """From the pendulum of a watch to that of a tower, of any mass."""
    arm, mass = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-3, 5)
    start = rng.uniform(10, 60) * DEGREE
    turn = about("Y", start / DEGREE)
    thick = 0.1 * arm
    file.add(
        file.body("Rod", (turned(turn, (0, 0, -arm / 2))).tolist(), turn, size=(thick, thick, arm), mass=mass),
        file.joint("Hinge", "Revolute", "", f"{W}/Rod", pos1=(0, 0, arm / 2), axis="Y"),
    )  # fmt: skip
    rate = 9.81 * (arm / 2) / ((arm**2 + thick**2) / 12 + arm**2 / 4)
    seconds = max(1.5 * 2 * math.pi / math.sqrt(rate), 0.3)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start, 0.0), seconds)

    return seconds, swings_as(states, seconds, "Rod", start, 0.08 * start)


@answer
def slides_at_any_size(rng: Random, file: File) -> tuple[float, Judge]:
    """From a die to a house, a box slides as far as friction says."""
    side, mass, friction = 10 ** rng.uniform(-2, 1.3), 10 ** rng.uniform(-3, 5), rng.uniform(0.1, 0.6)
    speed = rng.uniform(1, 3) * math.sqrt(side)
    file.add(
        file.material("Stuff", friction),
        file.ground(material=f"{W}/Stuff", size=4000.0 * max(side, 0.05)),
        file.body("Box", (0, 0, 0.25 * side), size=(side, side, side / 2), mass=mass, velocity=(speed, 0, 0),
                  material=f"{W}/Stuff"),
    )  # fmt: skip
    time = speed / friction / 9.81

    def judge(run: Run) -> list[Check]:
        return [near("way", run.end("Box")[0], speed * time / 2, 0.03, 0.02 * side)]

    return time + 0.5, judge


@answer
def climbs_a_conveyor(rng: Random, file: File) -> tuple[float, Judge]:
    """A belt that runs up a slope takes a box along where friction holds it there."""
    friction = rng.uniform(0.4, 0.9)
    slope = math.atan(friction) * rng.uniform(0.3, 0.8)
    speed = rng.uniform(0.3, 1.5)
    turn = about("Y", -slope / DEGREE)
    up = turned(turn, (1, 0, 0))
    normal = turned(turn, (0, 0, 1))
    belt = [f"vector3f physxSurfaceVelocity:surfaceVelocity = ({file.length(speed)}, 0, 0)",
            "bool physxSurfaceVelocity:surfaceVelocityLocalSpace = 1"]  # fmt: skip
    file.add(
        file.material("Stuff", friction),
        file.body("Belt", (-0.1 * normal).tolist(), turn, size=(20, 2, 0.2), kinematic=True, material=f"{W}/Stuff",
                  apis=["PhysxSurfaceVelocityAPI"], extra=belt),
        file.body("Box", (0.15 * normal).tolist(), turn, size=(0.4, 0.4, 0.3), mass=rng.uniform(0.5, 20),
                  material=f"{W}/Stuff"),
    )  # fmt: skip
    gain = 9.81 * (friction * math.cos(slope) - math.sin(slope))
    start = speed / gain

    def judge(run: Run) -> list[Check]:
        way = float((run.end("Box") - run.positions[0, run.row("Box")]) @ up)
        return [near("way", way, speed * (run.times[-1] - start / 2), 0.04, 0.01)]

    return start + 1.5, judge


@answer
def cart_rolls_down(rng: Random, file: File) -> tuple[float, Judge]:
    """A cart on four free wheels runs down a slope: the wheels turn with it."""
    slope, radius = rng.uniform(3, 20) * DEGREE, rng.uniform(0.1, 0.3)
    cart, wheel = rng.uniform(2, 50), rng.uniform(0.5, 5)
    turn = about("Y", slope / DEGREE)
    down, normal = turned(turn, (1, 0, 0)), turned(turn, (0, 0, 1))
    shape = rng.choice(("Sphere", "Cylinder", "Capsule"))
    moment = 0.5 * wheel * radius**2
    file.add(
        file.material("Grip", 1.0),
        file.body("Slope", (-0.5 * normal).tolist(), turn, size=(200, 20, 1), dynamic=False, material=f"{W}/Grip"),
        file.body("Cart", (normal * radius).tolist(), turn, size=(1.2, 0.6, 0.1), mass=cart, material=f"{W}/Grip"),
    )  # fmt: skip
    for index in range(4):
        x, y = (-0.5, 0.5)[index % 2], (-0.5, 0.5)[index // 2]
        place = normal * radius + down * x + np.array((0, y, 0))
        file.add(
            file.body(f"Wheel{index}", place.tolist(), turn, mass=wheel, inertia=(moment,) * 3, geometry=file.shape(
                "Shape", shape, (radius, 0.05), axis="Y", material=f"{W}/Grip")),
            file.joint(f"Axle{index}", "Revolute", f"{W}/Cart", f"{W}/Wheel{index}", pos0=(x, y, 0), axis="Y"),
        )  # fmt: skip
    whole = cart + 4 * wheel
    rise = 9.81 * math.sin(slope) * whole / (whole + 4 * moment / radius**2)

    def judge(run: Run) -> list[Check]:
        way = float((run.end("Cart") - run.positions[0, run.row("Cart")]) @ down)
        return [near("way", way, rise * run.times[-1] ** 2 / 2, 0.03, 0.01)]

    return 1.5, judge


@answer
def pushes_a_row(rng: Random, file: File) -> tuple[float, Judge]:
    """A slide of limited force pushes a row of boxes that touch."""
    count, friction = rng.randint(2, 5), rng.uniform(0.1, 0.4)
    masses = [rng.uniform(0.5, 8) for _ in range(count)]
    gain = rng.uniform(0.5, 3)
    force = sum(masses) * (friction * 9.81 + gain)
    side = 0.4
    file.add(file.material("Stuff", friction), file.ground(material=f"{W}/Stuff"))
    for index, mass in enumerate(masses):
        file.add(file.body(f"Box{index}", (index * side, 0, side / 4), size=(side, side, side / 2), mass=mass,
                           material=f"{W}/Stuff"))  # fmt: skip
    file.add(file.joint("Push", "D6", "", f"{W}/Box0", pos0=(0, 0, side / 4),
                        drives={"transX": {"damping": 1e7, "targetVelocity": 1e3, "maxForce": force}}))  # fmt: skip

    def judge(run: Run) -> list[Check]:
        last = run.end(f"Box{count - 1}")[0] - (count - 1) * side
        return [near("way", last, gain * run.times[-1] ** 2 / 2, 0.05, 0.01)]

    return 1.0, judge


@answer
def rolls_off_a_table(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball rolls over the edge of a table and flies on."""
    radius, speed, height = rng.uniform(0.03, 0.15), rng.uniform(1.5, 4), rng.uniform(0.5, 2)
    file.add(
        file.material("Grip", 0.8),
        file.body("Table", (-2, 0, -0.1), size=(4, 2, 0.2), dynamic=False, material=f"{W}/Grip"),
        file.body("Ball", (-0.5, 0, radius), shape="Sphere", size=(radius,), mass=rng.uniform(0.1, 5),
                  velocity=(speed, 0, 0), spin=(0, speed / radius, 0), material=f"{W}/Grip"),
    )  # fmt: skip
    # It leaves the edge at once where its speed is more than gravity could hold on it.
    time = 0.5 / speed + math.sqrt(2 * height / 9.81)

    def judge(run: Run) -> list[Check]:
        place = run.end("Ball")
        fall = run.times[-1] - 0.5 / speed
        return [near("far", place[0], speed * fall, 0.03), near("low", radius - place[2], 9.81 * fall**2 / 2, 0.05)]

    return time, judge


@answer
def rocks_as_a_tumbler(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball whose centre of mass is low rolls to and fro."""
    radius, mass = rng.uniform(0.1, 0.6), rng.uniform(0.2, 20)
    low = rng.uniform(0.15, 0.5) * radius
    moment = rng.uniform(0.2, 0.4) * mass * radius**2
    start = rng.uniform(10, 40) * DEGREE
    file.add(
        file.material("Grip", 1.0), file.ground(material=f"{W}/Grip"),
        file.body("Ball", (0, 0, radius), about("Y", start / DEGREE), shape="Sphere", size=(radius,), mass=mass,
                  center=(0, 0, -low), inertia=(moment,) * 3, material=f"{W}/Grip"),
    )  # fmt: skip

    def rate(state: np.ndarray) -> np.ndarray:
        turn, spin = state
        inertia = moment + mass * (radius**2 + low**2 - 2 * radius * low * math.cos(turn))
        push = -mass * 9.81 * low * math.sin(turn) - mass * radius * low * math.sin(turn) * spin**2
        return np.array((spin, push / inertia))

    seconds = 1.5 * 2 * math.pi * math.sqrt((moment + mass * (radius - low) ** 2) / (mass * 9.81 * low))
    states = rk4(rate, (start, 0.0), seconds)

    return seconds, swings_as(states, seconds, "Ball", start, 0.1 * start)


# --------------------------------------------------------------------------- what rolls


@answer
def moves_on_logs(rng: Random, file: File) -> tuple[float, Judge]:
    """A plank is pulled over logs that roll on the floor: they go half as far as it does."""
    # Of more than two logs one may bear nothing.
    count, radius = 2, rng.uniform(0.05, 0.25)
    plank, log = rng.uniform(2, 30), rng.uniform(0.5, 8)
    gain = rng.uniform(0.2, 1.5)
    shape = rng.choice(("Cylinder", "Capsule"))
    moment = 0.5 * log * radius**2
    force = gain * (plank + count * (log + moment / radius**2) / 4)
    length, thick = 8.0, 0.1
    file.add(
        file.material("Grip", 1.0), file.ground(material=f"{W}/Grip"),
        file.body("Plank", (0, 0, 2 * radius + thick / 2), size=(length, 0.8, thick), mass=plank,
                  material=f"{W}/Grip"),
        file.joint("Pull", "D6", "", f"{W}/Plank", pos0=(0, 0, 2 * radius + thick / 2),
                   drives={"transX": {"damping": 1e7, "targetVelocity": 1e3, "maxForce": force}}),
    )  # fmt: skip
    for index in range(count):
        x = -1.5 + 3.0 * index / (count - 1)
        file.add(file.body(f"Log{index}", (x, 0, radius), mass=log, inertia=(moment,) * 3, geometry=file.shape(
            "Shape", shape, (radius, 1.0), axis="Y", material=f"{W}/Grip")))  # fmt: skip

    def judge(run: Run) -> list[Check]:
        way = gain * run.times[-1] ** 2 / 2
        log_way = run.end("Log0")[0] - run.positions[0, run.row("Log0"), 0]
        return [near("plank", run.end("Plank")[0], way, 0.04, 0.01), near("log", log_way, way / 2, 0.04, 0.01)]

    return 1.2, judge


def _trough(radius: float, parts: int, length: float) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
    """The lower half of a tube along Y, its bottom at height 0, as quads."""
    angles = [math.pi * (index / parts - 0.5) for index in range(parts + 1)]
    points = [(radius * math.sin(a), y, radius * (1 - math.cos(a))) for y in (-length / 2, length / 2) for a in angles]
    faces = [(k, k + 1, parts + k + 2, parts + k + 1) for k in range(parts)]
    return points, faces


@answer
def rolls_in_a_trough(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball, capsule or cylinder rolls to and fro in a trough of triangles."""
    wide, small = rng.uniform(0.8, 3), rng.uniform(0.1, 0.3)
    kind = rng.choice(("Sphere", "Capsule", "Cylinder"))
    part = rng.uniform(0.3, 0.6)
    mass, start = rng.uniform(0.2, 10), rng.uniform(15, 45) * DEGREE
    moment = part * mass * small**2
    points, faces = _trough(wide, 180, 2.0)
    apart = wide - small
    file.add(
        file.material("Grip", 1.0),
        file.body("Trough", dynamic=False, geometry=file.mesh("Shape", points, faces, "none", material=f"{W}/Grip")),
        file.body("Roller", (apart * math.sin(start), 0, wide - apart * math.cos(start)), mass=mass,
                  inertia=(moment,) * 3, geometry=file.shape(
                      "Shape", kind, (small, 0.6), axis="Y", material=f"{W}/Grip")),
    )  # fmt: skip
    rate = 9.81 / apart / (1 + part)
    seconds = 1.25 * 2 * math.pi / math.sqrt(rate)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start, 0.0), seconds)

    def judge(run: Run) -> list[Check]:
        places = run.positions[:, run.row("Roller")]
        angles = np.arctan2(places[:, 0], wide - places[:, 2])
        wanted = np.array([at(states, seconds, time)[0] for time in run.times if time <= seconds])
        # Each edge takes a little of its speed.
        return [Check("angle", float(np.abs(angles[: len(wanted)] - wanted).max()), 0, 0.08 * start)]

    return seconds, judge


@answer
def spins_on_its_point(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball that spins about the vertical touches in a point, and keeps its spin and its place."""
    radius, spin = rng.uniform(0.05, 1), rng.uniform(1, 20)
    file.add(
        file.material("Stuff", rng.uniform(0.2, 1)), file.ground(material=f"{W}/Stuff"),
        file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius,), mass=rng.uniform(0.1, 50),
                  spin=(0, 0, spin), material=f"{W}/Stuff"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("spin", run.spin("Ball")[2], spin, 0.02),
                Check("place", float(np.linalg.norm(run.end("Ball")[:2])), 0, 0.02 * radius)]  # fmt: skip

    return 3.0, judge


@answer
def cone_rolls_round_its_tip(rng: Random, file: File) -> tuple[float, Judge]:
    """A cone on its side rolls in a circle about its tip."""
    half, height = rng.uniform(15, 35) * DEGREE, rng.uniform(0.3, 1)
    mass, around = rng.uniform(0.5, 10), rng.uniform(0.3, 1.0)
    radius = height * math.tan(half)
    # The axis points from the base to the tip, and lies `half` above the floor; the tip is at the origin.
    turn = about("Y", -90.0 - half / DEGREE)
    middle = turned(turn, (0, 0, -height / 2))
    # It turns about the line on which it lies.
    spin = -around * math.cos(half) / math.sin(half)
    along = np.array((1.0, 0, 0))
    whole = spin * along
    moment = 0.1 * mass * radius**2
    center = height / 4
    local = np.linalg.inv(np.array([turned(turn, axis) for axis in np.eye(3)]).T)
    file.add(
        file.material("Grip", 1.0), file.ground(material=f"{W}/Grip"),
        file.body("Cone", middle.tolist(), turn, mass=mass, center=(0, 0, -center), inertia=(moment,) * 3,
                  velocity=(local @ np.cross(whole, middle + turned(turn, (0, 0, -center)))).tolist(),
                  spin=(local @ whole).tolist(),
                  geometry=file.shape("Shape", "Cone", (radius, height), axis="Z", material=f"{W}/Grip")),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        places = run.positions[:, run.row("Cone")]
        angles = np.unwrap(np.arctan2(places[:, 1], places[:, 0]))
        tips = places + np.array([turned(q, (0, 0, height / 2)) for q in run.rotations[:, run.row("Cone")]])
        return [near("angle", abs(angles[-1] - angles[0]), around * run.times[-1], 0.08),
                Check("tip", float(np.linalg.norm(tips[:, :2], axis=1).max()), 0, 0.06 * height)]  # fmt: skip

    return 2.5, judge
