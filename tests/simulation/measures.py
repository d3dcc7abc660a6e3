# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with an answer from a textbook or a conservation law, for tests and for the report of scripts/accuracy.py.

Each measure fills a `File`, and finds one number in the motion of its bodies at 60 frames a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .author import DEGREE, IDENTITY, File, Vector, about, block, prism
from .catalogue import NEVER

Floats = NDArray[np.float64]
W = "/World"
G = 9.81
RATE = 60


@dataclass
class Motion:
    """positions (f, 3), m, and rotations (f, 4), w first, of the bodies by name, at all frames; Z up."""

    positions: dict[str, Floats]
    rotations: dict[str, Floats]

    def end(self, name: str) -> Floats:
        return self.positions[name][-1]

    def speed(self, name: str) -> Floats:
        """Velocities (f - 1, 3) between the frames, m/s."""
        return np.diff(self.positions[name], axis=0) * RATE

    def axis(self, name: str, column: int) -> Floats:
        """An axis (f, 3) of a body in the world."""
        w, *rest = self.rotations[name].T
        i, j, k = (rest[(column + step) % 3] for step in range(3))
        parts = {column: 1 - 2 * (j * j + k * k), (column + 1) % 3: 2 * (i * j + w * k),
                 (column + 2) % 3: 2 * (i * k - w * j)}  # fmt: skip
        return np.stack([parts[index] for index in range(3)], axis=1)


@dataclass(frozen=True)
class Measure:
    """group, name: for the report. expected, tolerance: of `value`, in `unit`. movers: poses of kinematic bodies by
    name at a time (s); other simulators do not know them."""

    group: str
    name: str
    fill: Callable[[File], None]
    seconds: float
    value: Callable[[Motion], float]
    expected: float
    tolerance: float
    unit: str
    movers: dict[str, Callable[[float], tuple[Vector, Vector]]] = field(default_factory=dict)


MEASURES: list[Measure] = []


def measure(group: str, name: str, seconds: float, expected: float, tolerance: float, unit: str, **movers):
    """Add a measure: decorates a function that fills the file and returns the function that finds the number."""

    def add(make: Callable[[File], Callable[[Motion], float]]) -> Callable[[File], Callable[[Motion], float]]:
        MEASURES.append(
            Measure(group, name, lambda file: make(file) and None, seconds, lambda motion: make(File())(motion),
                    expected, tolerance, unit, movers)
        )  # fmt: skip
        return make

    return add


# --------------------------------------------------------------------------- stacks


def sinking(masses: list[float], sizes: list[float], tolerance: float, name: str) -> None:
    """A tower of cubes, each touching the next: how much lower its top is after five seconds."""

    @measure("Stacks", name, 5.0, 0.0, tolerance, "mm")
    def tower(file: File) -> Callable[[Motion], float]:
        file.add(file.ground(size=100 * max(sizes)))
        height = 0.0
        for index, (mass, size) in enumerate(zip(masses, sizes, strict=True)):
            file.add(file.body(f"Box{index}", (0, 0, height + size / 2), size=(size,) * 3, mass=mass))
            height += size
        last, middle = f"Box{len(masses) - 1}", height - sizes[-1] / 2
        return lambda motion: 1e3 * float(np.linalg.norm(motion.end(last) - (0, 0, middle)))


sinking([1.0] * 10, [0.5] * 10, 3.0, "ten boxes of 0.5 m: top moves")
sinking([7.0] * 12, [0.3] * 12, 3.0, "twelve boxes of 0.3 m: top moves")
sinking([1.0, 100.0], [0.2, 0.2], 8.0, "100 kg on 1 kg, 0.2 m: top moves")
sinking([0.02, 2.0], [0.05, 0.05], 2.0, "2 kg on 20 g, 5 cm: top moves")
sinking([1.0, 1000.0], [0.4, 0.4], 16.0, "1 t on 1 kg, 0.4 m: top moves")
sinking([0.001] * 10, [0.01] * 10, 1.0, "ten cubes of 1 cm: top moves")
sinking([3e-5] * 8, [0.003] * 8, 0.24, "eight cubes of 3 mm: top moves")
sinking([0.004] * 20, [0.02] * 20, 4.0, "twenty cubes of 2 cm: top moves")
sinking([0.5] * 15, [0.15] * 15, 3.0, "fifteen boxes of 15 cm: top moves")


@measure("Stacks", "six cylinders of 0.2 m upright: top moves", 5.0, 0.0, 3.0, "mm")
def cans(file: File) -> Callable[[Motion], float]:
    file.add(file.ground(size=20))
    for row in range(6):
        file.add(file.body(f"Can{row}", (0, 0, 0.1 + 0.2 * row), shape="Cylinder", size=(0.15, 0.2)))
    return lambda motion: 1e3 * float(np.linalg.norm(motion.end("Can5") - (0, 0, 1.1)))


@measure("Stacks", "hull of a drum with 32 sides: moves", 3.0, 0.0, 1.0, "mm")
def drum(file: File) -> Callable[[Motion], float]:
    shape = file.mesh("Shape", *prism(32, 0.5, 1.0), "convexHull")
    file.add(file.ground(size=20), file.body("Drum", (0.3, 0.2, 0.5), geometry=shape))
    return lambda motion: 1e3 * float(np.linalg.norm(motion.positions["Drum"] - (0.3, 0.2, 0.5), axis=1).max())


@measure("Stacks", "pyramid of 36 boxes: largest way in 8 s", 8.0, 0.0, 3.0, "mm")
def pyramid(file: File) -> Callable[[Motion], float]:
    file.add(file.ground(size=50))
    rows = 8
    for row in range(rows):
        for place in range(rows - row):
            file.add(file.body(f"Box{row}x{place}", ((place - (rows - row - 1) / 2) * 0.42, 0, 0.4 * (row + 0.5)),
                               size=(0.4,) * 3, mass=2.0))  # fmt: skip
    return lambda motion: (
        1e3 * max(float(np.linalg.norm(places - places[0], axis=1).max()) for places in motion.positions.values())
    )


# --------------------------------------------------------------------------- bouncing


def bounce(restitution: float, height: float, radius: float) -> None:
    """A ball falls and bounces once; its highest point after that, relative to restitution squared times height."""
    fall, up = math.sqrt(2 * height / G), 2 * restitution * math.sqrt(2 * height / G)

    @measure("Bounces", f"restitution {restitution:g} from {height:g} m: height", fall + 0.95 * up, 100.0, 5.0, "%")
    def ball(file: File) -> Callable[[Motion], float]:
        file.add(file.material("Rubber", 0.0, restitution), file.ground(material=f"{W}/Rubber", size=50),
                 file.body("Ball", (0, 0, height + radius), shape="Sphere", size=(radius,),
                           material=f"{W}/Rubber"))  # fmt: skip

        def apex(motion: Motion) -> float:
            z = motion.positions["Ball"][:, 2] - radius
            z = z[math.ceil(fall * RATE) + 2 :]
            # Through the highest frame and its neighbours: the apex is between frames.
            best = min(max(int(z.argmax()), 1), len(z) - 2)
            low, mid, high = z[best - 1 : best + 2]
            bend = low - 2 * mid + high
            return float(mid - (high - low) ** 2 / (8 * bend)) / (restitution**2 * height) * 100.0

        return apex


bounce(0.3, 1.0, 0.1)
bounce(0.5, 0.6, 0.05)
bounce(0.5, 2.0, 0.2)
bounce(0.8, 1.0, 0.1)
bounce(0.9, 0.5, 0.03)


# --------------------------------------------------------------------------- friction, platforms


@measure("Friction", "box on a slope of 20 degrees, friction 0.5: creeps in 5 s", 5.0, 0.0, 5.0, "mm")
def creep(file: File) -> Callable[[Motion], float]:
    up = np.array((math.sin(20 * DEGREE), 0, math.cos(20 * DEGREE))) * 0.15
    file.add(file.material("Wood", 0.5), file.ground(material=f"{W}/Wood", tilt=20, size=20),
             file.body("Box", up, about("Y", 20), size=(0.3,) * 3, mass=2.0, material=f"{W}/Wood"))  # fmt: skip
    return lambda motion: 1e3 * float(np.linalg.norm(motion.end("Box") - up))


@measure("Friction", "box on a slope of 30 degrees, friction 0.3: slides in 1.5 s", 1.5,
         G / 2 * (math.sin(30 * DEGREE) - 0.3 * math.cos(30 * DEGREE)) * 1.5**2, 0.06, "m")  # fmt: skip
def slide(file: File) -> Callable[[Motion], float]:
    up = np.array((math.sin(30 * DEGREE), 0, math.cos(30 * DEGREE))) * 0.1
    file.add(file.material("Wood", 0.3), file.ground(material=f"{W}/Wood", tilt=30, size=20),
             file.body("Box", up, about("Y", 30), size=(0.4, 0.4, 0.2), mass=2.0, material=f"{W}/Wood"))  # fmt: skip
    return lambda motion: float(np.linalg.norm(motion.end("Box") - up))


def two_coefficients(tilt: float, expected: float, tolerance: float, what: str) -> None:
    @measure("Friction", f"box on a slope of {tilt:g} degrees, friction 0.7 at rest, 0.3 sliding: {what} in 1.5 s",
             1.5, expected, tolerance, "m")  # fmt: skip
    def two(file: File) -> Callable[[Motion], float]:
        up = np.array((math.sin(tilt * DEGREE), 0, math.cos(tilt * DEGREE))) * 0.1
        file.add(file.material("Wood", 0.3, static=0.7), file.ground(material=f"{W}/Wood", tilt=tilt, size=60),
                 file.body("Box", up, about("Y", tilt), size=(0.4, 0.4, 0.2), material=f"{W}/Wood"))  # fmt: skip
        return lambda motion: float(np.linalg.norm(motion.end("Box") - up))


two_coefficients(28.0, 0.0, 0.005, "creeps")
two_coefficients(38.0, G / 2 * (math.sin(38 * DEGREE) - 0.3 * math.cos(38 * DEGREE)) * 1.5**2, 0.1, "slides")


def rolling(radius: float, tilt: float) -> None:
    """A solid ball that rolls has 5/7 of the acceleration of one that slides without friction."""

    @measure("Friction", f"ball of {2e3 * radius:g} mm rolls down {tilt:g} degrees for 1 s: way",
             1.0, 100.0, 2.0, "%")  # fmt: skip
    def roll(file: File) -> Callable[[Motion], float]:
        up = np.array((math.sin(tilt * DEGREE), 0, math.cos(tilt * DEGREE))) * radius
        file.add(file.material("Rubber", 0.8), file.ground(material=f"{W}/Rubber", tilt=tilt, size=20),
                 file.body("Ball", up, shape="Sphere", size=(radius,), mass=4000 * radius**3,
                           material=f"{W}/Rubber"))  # fmt: skip
        way = 5 / 14 * G * math.sin(tilt * DEGREE)
        return lambda motion: 100.0 * float(np.linalg.norm(motion.end("Ball") - up)) / way


rolling(0.005, 20.0)
rolling(0.05, 10.0)


def turning(rate: float) -> Callable[[float], tuple[Vector, Vector]]:
    """Up to speed (rad/s) within a second, evenly."""

    def pose(time: float) -> tuple[Vector, Vector]:
        angle = rate * (time * time / 2 if time < 1.0 else time - 0.5)
        return (0.0, 0.0, 0.0), about("Z", angle / DEGREE)

    return pose


def turntable(rate: float, radius: float, size: float) -> None:
    @measure("Platforms", f"box on a turntable of {rate:g} rad/s at {radius:g} m: radius after 5 s", 5.0, 100.0, 3.0,
             "%", Table=turning(rate))  # fmt: skip
    def table(file: File) -> Callable[[Motion], float]:
        file.add(file.material("Rubber", 1.0),
                 file.body("Table", shape="Cylinder", size=(2 * radius, size), kinematic=True,
                           material=f"{W}/Rubber"),
                 file.body("Box", (0.8 * radius, 0.6 * radius, size), size=(size,) * 3,
                           material=f"{W}/Rubber"))  # fmt: skip
        return lambda motion: 100.0 * float(np.linalg.norm(motion.end("Box")[:2])) / radius


turntable(1.0, 0.6, 0.1)
turntable(2.0, 0.6, 0.1)
turntable(3.0, 0.25, 0.04)
turntable(4.0, 0.15, 0.03)


# --------------------------------------------------------------------------- impacts


def bullet(speed: float, size: float, wall: float, kind: str) -> None:
    """A ball flies at a wall; it must not be behind it. The value is how far it is behind its middle."""

    @measure("Fast bodies", f"{100 * size:g} cm at {speed:g} m/s against a {kind} wall of {100 * wall:g} cm: behind it",
             8.0 / speed, 0.0, 0.0, "m")  # fmt: skip
    def shot(file: File) -> Callable[[Motion], float]:
        file.gravity = (0, 0, 0)
        options = {"static": {"dynamic": False}, "dynamic": {"mass": 50.0}, "kinematic": {"kinematic": True}}[kind]
        file.add(file.body("Wall", (4.1, 0, 0), size=(wall, 2, 2), **options),
                 file.body("Ball", shape="Sphere", size=(size / 2,), mass=0.01, velocity=(speed, 0, 0)))  # fmt: skip

        def behind(motion: Motion) -> float:
            there = motion.positions["Wall"][:, 0] if "Wall" in motion.positions else 4.1
            return max(0.0, float((motion.positions["Ball"][:, 0] - there).max()))

        return behind


bullet(200.0, 0.01, 0.02, "static")
bullet(200.0, 0.01, 0.02, "dynamic")
bullet(300.0, 0.005, 0.01, "static")
bullet(60.0, 0.05, 0.01, "dynamic")
bullet(30.0, 0.1, 0.05, "kinematic")


@measure("Impacts", "2 kg at 3 m/s into 6 kg, restitution 1: momentum after", 1.0, 100.0, 1.0, "%")
def momentum(file: File) -> Callable[[Motion], float]:
    file.gravity = (0, 0, 0)
    file.add(file.material("Steel", 0.0, 1.0),
             file.body("A", (-1, 0, 0), shape="Sphere", size=(0.2,), mass=2.0, velocity=(3, 0, 0),
                       material=f"{W}/Steel"),
             file.body("B", (0, 0.1, 0), shape="Sphere", size=(0.2,), mass=6.0, material=f"{W}/Steel"))  # fmt: skip
    return lambda motion: 100.0 * float(2.0 * motion.speed("A")[-1][0] + 6.0 * motion.speed("B")[-1][0]) / 6.0


def cradle(count: int, gap: float, size: float, tilt: float, name: str) -> None:
    """Balls on wires of 5 diameters; the first one comes down."""
    wire = 5.0 * size

    @measure("Impacts", f"cradle of {name}, from {tilt:g} degrees: the last one rises", 1.25 * math.sqrt(wire), tilt,
             1.0, "deg")  # fmt: skip
    def balls(file: File) -> Callable[[Motion], float]:
        file.add(file.material("Steel", 0.0, 1.0))
        for index in range(count):
            x, angle = (size + gap) * index, tilt * DEGREE if index == 0 else 0.0
            place = (x - wire * math.sin(angle), 0, 3 - wire * math.cos(angle))
            file.add(file.body(f"Ball{index}", place, about("Y", angle / DEGREE), shape="Sphere", size=(size / 2,),
                               material=f"{W}/Steel"),
                     file.joint(f"Wire{index}", "Revolute", "", f"{W}/Ball{index}", pos0=(x, 0, 3), pos1=(0, 0, wire),
                                axis="Y"))  # fmt: skip
        last, rest = f"Ball{count - 1}", (size + gap) * (count - 1)
        return lambda motion: math.asin(min(float((motion.positions[last][:, 0] - rest).max()) / wire, 1.0)) / DEGREE


cradle(5, 0.001, 0.2, 30.0, "five balls, 1 mm apart")
cradle(5, 0.0, 0.2, 30.0, "five balls that touch")
cradle(4, 0.0, 0.05, 20.0, "four balls of 5 cm that touch")


# --------------------------------------------------------------------------- joints


def chain(count: int, link: float, weight: float, length: float, root: bool) -> None:
    """Links below a hook with a weight at the end that swings: how much longer it gets, relative to its length."""
    what = "articulation" if root else "chain"

    @measure("Chains", f"{what} of {count} links of {link:g} kg with {weight:g} kg: longest, of its length", 3.0, 0.0,
             1.0, "%")  # fmt: skip
    def hanging(file: File) -> Callable[[Motion], float]:
        previous, anchor, top = "", (0.0, 0.0, 9.0), 9.0
        inside = []
        inertia = (link * length**2 / 12, link * length**2 / 12, link * length**2 / 24)
        for index in range(count):
            path = f"{W}/Chain/Link{index}"
            inside.append(file.body(f"Link{index}", (0, 0, top - (index + 0.5) * length), shape="Capsule",
                                    size=(0.1 * length, 0.6 * length), mass=link, inertia=inertia))  # fmt: skip
            inside.append(file.joint(f"Joint{index}", "Spherical", previous, path, pos0=anchor,
                                     pos1=(0, 0, length / 2)))  # fmt: skip
            previous, anchor = path, (0.0, 0.0, -length / 2)
        bottom = top - count * length
        inside.append(file.body("Weight", (0, 0, bottom - length), size=(length,) * 3, mass=weight,
                                velocity=(0.5, 0, 0)))  # fmt: skip
        inside.append(file.joint("Hook", "Spherical", previous, f"{W}/Chain/Weight", pos0=anchor,
                                 pos1=(0, 0, length)))  # fmt: skip
        file.add(block("Xform", "Chain", inside, ["PhysicsArticulationRootAPI"] if root else []))

        def stretch(motion: Motion) -> float:
            whole = (count + 1) * length
            reached = np.linalg.norm(motion.positions["Weight"] - (0, 0, top), axis=1).max()
            return 100.0 * max(0.0, float(reached) - whole) / whole

        return stretch


chain(50, 0.2, 100.0, 0.2, False)
chain(10, 1.0, 1000.0, 0.2, False)
chain(10, 1.0, 3000.0, 0.1, False)
chain(5, 0.5, 10000.0, 0.3, False)
chain(30, 1.0, 100.0, 0.1, True)
chain(10, 1.0, 1000.0, 0.2, True)


def pendulum(count: int, kind: str, root: bool) -> None:
    """Rods that hang in a row and start level: how much the energy changes, relative to the work of gravity."""
    what = f"{count} link{'s' * (count > 1)} of an articulation" if root else f"{count} rod{'s' * (count > 1)}"

    @measure("Joints", f"{what} on {kind.lower()} joints: change of energy in 5 s", 5.0, 0.0, 5.0, "%")
    def rods(file: File) -> Callable[[Motion], float]:
        previous, anchor, length = "", (0.0, 0.0, 3.0), 0.5
        inside = []
        inertia = length**2 / 12
        for index in range(count):
            path = f"{W}/Rods/Rod{index}"
            inside.append(file.body(f"Rod{index}", ((index + 0.5) * length, 0, 3), size=(0.9 * length, 0.05, 0.05),
                                    inertia=(0.1 * inertia, inertia, inertia)))  # fmt: skip
            inside.append(file.joint(f"Joint{index}", kind, previous, path, pos0=anchor, pos1=(-length / 2, 0, 0),
                                     axis="Y"))  # fmt: skip
            previous, anchor = path, (length / 2, 0.0, 0.0)
        file.add(block("Xform", "Rods", inside, ["PhysicsArticulationRootAPI"] if root else []))

        def change(motion: Motion) -> float:
            potential, kinetic = np.zeros(len(motion.positions["Rod0"]) - 1), 0.0
            for index in range(count):
                name = f"Rod{index}"
                potential += G * (motion.positions[name][:-1, 2] + motion.positions[name][1:, 2]) / 2
                # The rods stay in a plane: the turn between two frames is the angle between their axes.
                axes = motion.axis(name, 0)
                turned = np.arctan2(np.cross(axes[:-1], axes[1:])[:, 1], (axes[:-1] * axes[1:]).sum(axis=1)) * RATE
                kinetic = kinetic + 0.5 * (motion.speed(name) ** 2).sum(axis=1) + 0.5 * inertia * turned**2
            energy = potential + kinetic
            # Averages over a frame miss some of the speed: at the turning points, where it is least, they are right.
            return 100.0 * abs(float(energy[-30:].max() - energy[:30].max())) / float(np.ptp(potential))

        return change


pendulum(1, "Revolute", False)
pendulum(1, "Spherical", False)
pendulum(2, "Revolute", False)
pendulum(1, "Revolute", True)
pendulum(2, "Revolute", True)


def linkage(size: float, root: bool, value: str, expected: float, tolerance: float, unit: str) -> None:
    """A crank of 0.2, a coupler of 0.5 and a rocker of 0.4 on pivots 0.5 apart (times size, m), in the plane XZ; the
    crank is driven at 120 degrees a second, the joint of coupler and rocker is excluded from the articulation."""
    what = "articulation" if root else "joints"
    crank, coupler, rocker, base = (part * size for part in (0.2, 0.5, 0.4, 0.5))
    start = 60 * DEGREE
    first, last = np.array((0, 0, 1.0)), np.array((base, 0, 1.0))
    elbow = first + crank * np.array((math.cos(start), 0, math.sin(start)))
    away = last - elbow
    reach = float(np.linalg.norm(away))
    along = (coupler**2 - rocker**2 + reach**2) / (2 * reach)
    away /= reach
    knee = elbow + along * away + math.sqrt(coupler**2 - along**2) * np.array((-away[2], 0, away[0]))

    @measure("Linkages", f"four bars of {size:g} m, {what}: {value}", 6.0, expected, tolerance, unit)
    def bars(file: File) -> Callable[[Motion], float]:
        file.gravity = (0, 0, 0)
        inside, ends = [], {}
        for name, a, b in (("Crank", first, elbow), ("Coupler", elbow, knee), ("Rocker", last, knee)):
            length = float(np.linalg.norm(b - a))
            pitch = math.atan2((a - b)[2], (b - a)[0]) / DEGREE
            ends[name] = (length, pitch)
            inertia = 0.5 * length**2 / 12
            inside.append(file.body(name, tuple((a + b) / 2), about("Y", pitch), mass=0.5,
                                    size=(0.9 * length, 0.02 * size, 0.02 * size),
                                    inertia=(0.01 * inertia, inertia, inertia)))  # fmt: skip

        def hinge(name: str, one: str, other: str, side: float, **options) -> str:
            """side: of the other bar, -1 or 1; of the one it is 1. Frames have the directions of the world."""
            place = {"": tuple(first if other == "Crank" else last)}
            length0, pitch0 = ends.get(one, (0.0, 0.0))
            length1, pitch1 = ends[other]
            return file.joint(name, "Revolute", f"{W}/Linkage/{one}" if one else "", f"{W}/Linkage/{other}", axis="Y",
                              pos0=place.get(one, (length0 / 2, 0, 0)), rot0=about("Y", -pitch0),
                              pos1=(side * length1 / 2, 0, 0), rot1=about("Y", -pitch1), **options)  # fmt: skip

        drive = {"angular": {"damping": 1e3 * size**2, "targetVelocity": 120 * DEGREE}}
        out = ["bool physics:excludeFromArticulation = 1"]
        inside += [hinge("A", "", "Crank", -1, drives=drive), hinge("B", "Crank", "Coupler", -1),
                   hinge("C", "", "Rocker", -1), hinge("D", "Coupler", "Rocker", 1, lines=out)]  # fmt: skip
        file.add(block("Xform", "Linkage", inside, ["PhysicsArticulationRootAPI"] if root else []))

        def speed(motion: Motion) -> float:
            axis = motion.axis("Crank", 0)
            angles = np.unwrap(np.arctan2(-axis[:, 2], axis[:, 0]))
            return float(angles[-1] - angles[60]) / DEGREE / ((len(angles) - 61) / RATE)

        def gap(motion: Motion) -> float:
            tips = [motion.positions[name] + motion.axis(name, 0) * ends[name][0] / 2 for name in ("Coupler", "Rocker")]
            return 1e3 * float(np.linalg.norm(tips[0] - tips[1], axis=1).max())

        return speed if value == "crank" else gap


for _size, _root in ((1.0, True), (0.1, True), (1.0, False)):
    linkage(_size, _root, "crank", 120.0, 2.0, "deg/s")
    linkage(_size, _root, "gap", 0.0, 2.0 * _size, "mm")


def rod(length: float, mass: float) -> None:
    """A ball on a rod, a distance joint whose limits are equal, swings by 60 degrees: its period."""
    mean, other = 1.0, math.cos(30 * DEGREE)
    for _ in range(20):
        mean, other = (mean + other) / 2, math.sqrt(mean * other)
    period = 2 * math.pi * math.sqrt(length / G) / mean

    @measure("Joints", f"{mass:g} kg on a rod of {length:g} m: period", 5.0 * period, 100.0, 1.0, "%")
    def ball(file: File) -> Callable[[Motion], float]:
        start = (length * math.sin(60 * DEGREE), 0, 3 - length * math.cos(60 * DEGREE))
        file.add(file.body("Ball", start, shape="Sphere", size=(0.05 * length,), mass=mass),
                 file.joint("Rod", "Distance", "", f"{W}/Ball", pos0=(0, 0, 3), distance=(length, length)))  # fmt: skip

        def swings(motion: Motion) -> float:
            x = motion.positions["Ball"][:, 0]
            before = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
            times = (before - x[before] / (x[before + 1] - x[before])) / RATE
            return 100.0 * float(times[-1] - times[0]) / (len(times) - 1) / period if len(times) > 1 else 0.0

        return swings


rod(1.0, 1.0)
rod(0.1, 0.02)
rod(8.0, 300.0)


@measure("Joints", "pendulum with an idle drive: lowest point below the level", 2.0, 0.4, 0.004, "m")
def idle_drive(file: File) -> Callable[[Motion], float]:
    inertia = 2.0 * 0.8**2 / 12
    file.add(file.body("Rod", (0.4, 0, 3), size=(0.8, 0.05, 0.05), mass=2.0, inertia=(0.001, inertia, inertia)),
             file.joint("Hinge", "Revolute", "", f"{W}/Rod", pos0=(0, 0, 3), pos1=(-0.4, 0, 0), axis="Y",
                        drives={"angular": {"targetPosition": 0.5}}))  # fmt: skip
    return lambda motion: 3.0 - float(motion.positions["Rod"][:, 2].min())


@measure("Joints", "three driven angles of a generic joint: away from Rz Ry Rx", 3.0, 0.0, 2.0, "deg")
def three_angles(file: File) -> Callable[[Motion], float]:
    file.gravity = (0, 0, 0)
    angles = (0.7, 0.9, -0.5)
    file.add(file.body("Head", (0, 0, 2), size=(0.4, 0.3, 0.2), mass=2.0, inertia=(0.05, 0.05, 0.05)),
             file.joint("Neck", "D6", "", f"{W}/Head", pos0=(0, 0, 2),
                        limits=dict.fromkeys(("transX", "transY", "transZ"), NEVER),
                        drives={f"rot{axis}": {"stiffness": 400.0, "damping": 20.0, "targetPosition": angle}
                                for axis, angle in zip("XYZ", angles, strict=True)}))  # fmt: skip

    def away(motion: Motion) -> float:
        from .author import multiply

        x, y, z = (about(axis, angle / DEGREE) for axis, angle in zip("XYZ", angles, strict=True))
        cosine = abs(float(np.dot(multiply(multiply(z, y), x), motion.rotations["Head"][-1])))
        return 2.0 * math.acos(min(cosine, 1.0)) / DEGREE

    return away


@measure("Joints", "frames 20 cm apart at the start: speed after 1 s", 1.0, 0.0, 0.001, "m/s")
def frames_apart(file: File) -> Callable[[Motion], float]:
    file.gravity = (0, 0, 0)
    file.add(file.body("A", (0, 0, 3), mass=1.0), file.body("B", (2.0, 0.2, 3), mass=2.0),
             file.joint("Weld", "Fixed", f"{W}/A", f"{W}/B", pos0=(1, 0, 0), pos1=(-1, 0, 0)))  # fmt: skip
    return lambda motion: float(np.linalg.norm(motion.speed("B")[-1]))


@measure("Start", "boxes that start asleep on the ground: way in 1 s", 1.0, 0.0, 0.1, "mm")
def asleep(file: File) -> Callable[[Motion], float]:
    file.add(file.ground(size=20), file.body("Low", (0, 0, 0.5), asleep=True),
             file.body("High", (0.2, 0, 1.5), asleep=True))  # fmt: skip
    return lambda motion: 1e3 * float(np.abs(motion.positions["High"] - (0.2, 0, 1.5)).max())


@measure("Start", "1 m/s on a prim that is scaled by 2: way in 1 s", 1.0, 1.0, 0.005, "m")
def scaled(file: File) -> Callable[[Motion], float]:
    file.gravity = (0, 0, 0)
    file.add(file.xform("Ball", (0, 0, 5), apis=["PhysicsRigidBodyAPI"], scale=(2, 2, 2),
                        lines=[f"vector3f physics:velocity = ({file.length(1.0)}, 0, 0)"],
                        inside=[file.shape("Shape", "Sphere", (0.25,))]))  # fmt: skip
    return lambda motion: float(motion.end("Ball")[0])


@measure("Start", "1 m/s up on a prim that is mirrored: height after 0.2 s", 0.2, 0.2 - G * 0.02, 0.005, "m")
def mirrored(file: File) -> Callable[[Motion], float]:
    up = f"(0, 0, {file.length(1.0)})"
    file.add(file.xform("Ball", (0, 0, 0), apis=["PhysicsRigidBodyAPI"], scale=(-1, 1, 1),
                        lines=[f"vector3f physics:velocity = {up}"],
                        inside=[file.shape("Shape", "Sphere", (0.25,))]))  # fmt: skip
    return lambda motion: float(motion.end("Ball")[2])


# --------------------------------------------------------------------------- scaled and mirrored parents


@measure("Scaled", "box below a parent scaled by -2, 2, 2 on a slope of 30 degrees, friction 0.3: slides in 1.5 s", 1.5,
         G / 2 * (math.sin(30 * DEGREE) - 0.3 * math.cos(30 * DEGREE)) * 1.5**2, 0.06, "m")  # fmt: skip
def slide_mirrored(file: File) -> Callable[[Motion], float]:
    up = np.array((math.sin(30 * DEGREE), 0, math.cos(30 * DEGREE))) * 0.1
    shape = file.shape("Shape", "Cube", (0.2, 0.2, 0.1), material=f"{W}/Wood")
    box = file.xform("Box", (-0.5 * up[0], 0, 0.5 * up[2]), about("Y", -30), ["PhysicsRigidBodyAPI"], [], [shape],
                     nested=True)  # fmt: skip
    file.add(file.material("Wood", 0.3), file.ground(material=f"{W}/Wood", tilt=30, size=20),
             file.xform("Parent", (0, 0, 0), scale=(-2, 2, 2), inside=[box]))  # fmt: skip
    return lambda motion: float(np.linalg.norm(motion.end("Box") - up))


@measure("Scaled", "pendulum below a parent scaled by 100: lowest point below the level", 1.0, 0.4, 0.004, "m")
def swing_scaled(file: File) -> Callable[[Motion], float]:
    bob = file.xform("Bob", (0.004, 0, 0.03), IDENTITY, ["PhysicsRigidBodyAPI", "PhysicsMassAPI"],
                     [f"float physics:mass = {1.0 / file.units.kilograms}"],
                     [file.shape("Shape", "Sphere", (0.0002,))], nested=True)  # fmt: skip
    file.add(file.xform("Parent", (0, 0, 0), scale=(100,) * 3, inside=[bob]),
             file.joint("Hinge", "Revolute", "", f"{W}/Parent/Bob", pos0=(0, 0, 3), pos1=(-0.004, 0, 0),
                        axis="Y"))  # fmt: skip
    return lambda motion: 3.0 - float(motion.positions["Bob"][:, 2].min())


# --------------------------------------------------------------------------- flight


@measure("Flight", "thrown at 4 and 3 m/s: away from the parabola after 1 s", 1.0, 0.0, 30.0, "mm")
def flight(file: File) -> Callable[[Motion], float]:
    file.add(file.body("Ball", (0, 0, 20), shape="Sphere", size=(0.1,), velocity=(4, 0, 3)))
    return lambda motion: 1e3 * float(np.linalg.norm(motion.end("Ball") - (4, 0, 23 - G / 2)))


# --------------------------------------------------------------------------- energy


@measure("Energy", "ball with restitution 1 from 1 m: height after 11 bounces", 11.0, 100.0, 1.0, "%")
def eleven_bounces(file: File) -> Callable[[Motion], float]:
    file.add(file.material("Rubber", 0.0, 1.0), file.ground(material=f"{W}/Rubber", size=50),
             file.body("Ball", (0, 0, 1.1), shape="Sphere", size=(0.1,), material=f"{W}/Rubber"))  # fmt: skip
    top = 11 * 2 * math.sqrt(2 / G)

    def height(motion: Motion) -> float:
        around = motion.positions["Ball"][round((top - 0.2) * RATE) : round((top + 0.2) * RATE), 2]
        return 100.0 * (float(around.max()) - 0.1)

    return height


@measure("Energy", "spring of 1.6 Hz without damping: swing after 60 s", 60.0, 100.0, 5.0, "%")
def undamped_spring(file: File) -> Callable[[Motion], float]:
    stiffness = 2.0 * (2 * math.pi * 1.6) ** 2
    file.gravity = (0, 0, 0)
    file.add(file.body("Bob", (0.2, 0, 2), mass=2.0),
             file.joint("Slide", "Prismatic", "", f"{W}/Bob", pos0=(0, 0, 2), axis="X",
                        drives={"linear": {"stiffness": stiffness, "targetPosition": 0.0}}))  # fmt: skip
    return lambda motion: 500.0 * float(np.abs(motion.positions["Bob"][-RATE:, 0]).max())


@measure("Energy", "break of 15 balls that touch, restitution 1, at 8 m/s: energy after 1 s", 1.0, 100.0, 5.0, "%")
def rack(file: File) -> Callable[[Motion], float]:
    width, count = 0.0572, 0
    file.gravity = (0, 0, 0)
    file.add(file.material("Ivory", 0.0, 1.0))
    for row in range(5):
        for place in range(row + 1):
            file.add(file.body(f"Ball{count}", (row * width * math.sqrt(0.75), (place - row / 2) * width, 0),
                               shape="Sphere", size=(width / 2,), mass=0.17, material=f"{W}/Ivory"))  # fmt: skip
            count += 1
    file.add(file.body("Cue", (-0.5, 0.003, 0), shape="Sphere", size=(width / 2,), mass=0.17, velocity=(8, 0, 0),
                       material=f"{W}/Ivory"))  # fmt: skip
    return lambda motion: 100.0 / 64.0 * sum(float((motion.speed(name)[-1] ** 2).sum()) for name in motion.positions)


#: A top: kg, m from its tip to its middle, rad/s, kg m2 about its middle across and along, rad.
TOP_MASS, TOP_ARM, TOP_SPIN, TOP_ACROSS, TOP_ALONG, TOP_TILT = 1.0, 0.3, 150.0, 0.005625, 0.01125, math.pi / 6


def precession(seconds: float, step: float = 1e-3) -> tuple[float, float]:
    """(mean tilt, rad, in the last second, angle of precession, rad) of the top, from rest: Runge and Kutta."""
    across, spin = TOP_ACROSS + TOP_MASS * TOP_ARM**2, TOP_ALONG * TOP_SPIN

    def rates(tilt: float, swing: float) -> tuple[float, float]:
        """Those of the tilt's rate, and of the precession."""
        turn = spin * (math.cos(TOP_TILT) - math.cos(tilt)) / (across * math.sin(tilt) ** 2)
        pull = TOP_MASS * G * TOP_ARM - spin * turn
        return math.sin(tilt) * (turn**2 * math.cos(tilt) + pull / across), turn

    tilt, swing, angle, tilts = TOP_TILT, 0.0, 0.0, []
    for _ in range(round(seconds / step)):
        one, first = rates(tilt, swing)
        two, second = rates(tilt + step / 2 * swing, swing + step / 2 * one)
        three, third = rates(tilt + step / 2 * (swing + step / 2 * one), swing + step / 2 * two)
        four, fourth = rates(tilt + step * (swing + step / 2 * two), swing + step * three)
        angle += step / 6 * (first + 2 * second + 2 * third + fourth)
        tilt += step * (swing + step / 6 * (one + two + three))
        swing += step / 6 * (one + 2 * two + 2 * three + four)
        tilts.append(tilt)
    return float(np.mean(tilts[-round(1 / step) :])), angle


def top(file: File) -> None:
    tilt = (TOP_ARM * math.sin(TOP_TILT), 0, 2 + TOP_ARM * math.cos(TOP_TILT))
    file.add(file.body("Top", tilt, about("Y", math.degrees(TOP_TILT)), mass=TOP_MASS, collides=False,
                       inertia=(TOP_ACROSS, TOP_ACROSS, TOP_ALONG), spin=(0, 0, TOP_SPIN)),
             file.joint("Tip", "Spherical", "", f"{W}/Top", pos0=(0, 0, 2), pos1=(0, 0, -TOP_ARM)))  # fmt: skip


TILT, PRECESSION = precession(20.0)


@measure("Energy", "top of 0.3 m at 150 rad/s, from 30 degrees: tilt after 20 s", 20.0, math.degrees(TILT), 8.0, "deg")
def tilt_of_top(file: File) -> Callable[[Motion], float]:
    top(file)
    return lambda motion: float(np.degrees(np.arccos(motion.axis("Top", 2)[-RATE:, 2]).mean()))


@measure("Energy", "top of 0.3 m at 150 rad/s, from 30 degrees: precession in 20 s", 20.0, 100.0, 5.0, "%")
def precession_of_top(file: File) -> Callable[[Motion], float]:
    top(file)
    return lambda motion: 100.0 / PRECESSION * float(np.unwrap(np.arctan2(*motion.axis("Top", 2)[:, 1::-1].T))[-1])
