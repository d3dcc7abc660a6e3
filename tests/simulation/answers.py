# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes with an answer, for any numbers: each generator draws its sizes, masses, units and rate, and knows the motion.

A generator fills a `File` and returns the seconds to run and a function from the `Run` to its checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.simulation.engine import PREVIEW
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import DEGREE, IDENTITY, File, Units, Vector, about, block, multiply, prism
from .helpers import world_of

Floats = NDArray[np.float64]
W = "/World"
UNITS = (
    Units("m_kg_Z", 1.0, 1.0, "Z"), Units("cm_g_Y", 0.01, 0.001, "Y"), Units("mm_kg_Z", 0.001, 1.0, "Z"),
    Units("inch_lb_Y", 0.0254, 0.45359237, "Y"),
)  # fmt: skip
RATES = (24, 30, 60, 120)


class Check(NamedTuple):
    name: str
    value: float
    expected: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return abs(self.value - self.expected) <= self.tolerance


@dataclass
class Run:
    """Of a world that ran: times (f,), positions (f, n, 3), m, and rotations (f, n, 4), w first; Z up."""

    world: World
    times: Floats
    positions: Floats
    rotations: Floats

    def row(self, name: str) -> int:
        return next(row for row, path in enumerate(self.world.paths) if path.endswith(f"/{name}"))

    def at(self, name: str, time: float) -> Floats:
        """Position (3,) at a time between the frames."""
        ways = self.positions[:, self.row(name)]
        return np.array([np.interp(time, self.times, ways[:, axis]) for axis in range(3)])

    def end(self, name: str) -> Floats:
        found: Floats = self.positions[-1, self.row(name)]
        return found

    def turn(self, name: str, frame: int = -1) -> Floats:
        return frames.matrix_of(self.rotations[frame, self.row(name)])

    def angle(self, name: str, axis: int) -> Floats:
        """Angles (f,) about an axis of the world since the start, rad, over several turns; of a body that turns so."""
        turns = [frames.matrix_of(each) for each in self.rotations[:, self.row(name)]]
        parts = [now @ turns[0].T for now in turns]
        first, second = (axis + 1) % 3, (axis + 2) % 3
        found = np.unwrap([math.atan2(part[second, first], part[first, first]) for part in parts])
        return np.asarray(found - found[0])

    def velocity(self, name: str) -> Floats:
        return self.world.velocities()[0][self.row(name)]

    def spin(self, name: str) -> Floats:
        return self.world.velocities()[1][self.row(name)]


Judge = Callable[[Run], list[Check]]
Generator = Callable[[Random, File], tuple[float, Judge]]
ANSWERS: dict[str, Generator] = {}


def answer(make: Generator) -> Generator:
    ANSWERS[make.__name__] = make
    return make


def run_of(name: str, seed: int, engine: str = PREVIEW) -> tuple[Run, list[Check], File]:
    """Simulate the scene that a generator makes of a seed in an engine, and judge it."""
    rng = Random(f"{name} {seed}")
    file = File(rng.choice(UNITS))
    step = 1.0 / rng.choice(RATES)
    seconds, judge = ANSWERS[name](rng, file)
    world = world_of(file, time_step=step, engine=engine)
    movers = getattr(file, "movers", {})
    count = round(seconds / step)
    shape = (count + 1, len(world.paths))
    run = Run(world, step * np.arange(count + 1), np.empty((*shape, 3)), np.empty((*shape, 4)))
    paths = {name: next(path for path in world.paths if path.endswith(f"/{name}")) for name in movers}
    for frame in range(count + 1):
        if frame:
            for name, pose in movers.items():
                place, turn = pose(frame * step)
                world.set_kinematic_pose(paths[name], np.array(place, float), np.array(turn, float))
            world.step()
        run.positions[frame], run.rotations[frame] = world.positions, world.rotations
    return run, judge(run), file


def near(name: str, value: float, expected: float, part: float, least: float = 0.0) -> Check:
    return Check(name, float(value), float(expected), part * abs(expected) + least)


def rk4(rate: Callable[[Floats], Floats], state: Sequence[float], seconds: float, steps: int = 4000) -> Floats:
    """(steps + 1, n) states of an equation of motion."""
    now, h = np.array(state, float), seconds / steps
    found = [now]
    for _ in range(steps):
        a = rate(now)
        b = rate(now + 0.5 * h * a)
        c = rate(now + 0.5 * h * b)
        d = rate(now + h * c)
        now = now + h / 6.0 * (a + 2 * b + 2 * c + d)
        found.append(now)
    return np.array(found)


def at(states: Floats, seconds: float, time: float) -> Floats:
    return states[round(time / seconds * (len(states) - 1))]


def aside(gravity: float, angle: float, heading: float) -> Vector:
    """Gravity that pulls at an angle (rad) from straight down, towards a heading."""
    flat = gravity * math.sin(angle)
    return (flat * math.cos(heading), flat * math.sin(heading), -gravity * math.cos(angle))


def turned(quaternion: Vector, vector: Vector) -> Floats:
    return frames.matrix_of(np.array(quaternion)) @ np.array(vector, float)


# --------------------------------------------------------------------------- friction


def _floor(rng: Random, file: File, material: str) -> str:
    """A level floor: a plane of triangles, a box or a hull, at height 0."""
    kind = rng.choice(("box", "mesh", "plane", "hull"))
    if kind == "box":
        return file.ground(material=material)
    if kind == "plane":
        return file.body("Ground", dynamic=False, geometry=file.shape("Shape", "Plane", (0, 0, 0), material=material))
    if kind == "hull":
        points, faces = prism(6, 60.0, 1.0)
        mesh = file.mesh("Shape", points, faces, "convexHull", position=(0, 0, -0.5), material=material)
        return file.body("Ground", dynamic=False, geometry=mesh)
    count, cell = 16, rng.uniform(1.0, 3.0)
    points = [(cell * (i - count / 2), cell * (j - count / 2), 0.0) for i in range(count + 1) for j in range(count + 1)]
    faces = [(i * (count + 1) + j, (i + 1) * (count + 1) + j, (i + 1) * (count + 1) + j + 1, i * (count + 1) + j + 1)
             for i in range(count) for j in range(count)]  # fmt: skip
    return file.body("Ground", dynamic=False, geometry=file.mesh("Shape", points, faces, "none", material=material))


@answer
def slides_down(rng: Random, file: File) -> tuple[float, Judge]:
    """A box on a level floor where gravity is oblique slides as on a slope, whatever its heading."""
    g, angle, heading = rng.uniform(1.5, 12), rng.uniform(15, 40) * DEGREE, rng.uniform(0, 2 * math.pi)
    friction = math.tan(angle) * rng.uniform(0.2, 0.85)
    size = [rng.uniform(0.4, 1.0), rng.uniform(0.4, 1.0), rng.uniform(0.1, 0.2)]
    file.gravity = aside(g, angle, heading)
    file.add(
        file.material("Stuff", friction), _floor(rng, file, f"{W}/Stuff"),
        file.body("Box", (0, 0, size[2] / 2), about("Z", rng.uniform(0, 360)), size=size, mass=rng.uniform(0.5, 50),
                  material=f"{W}/Stuff"),
    )  # fmt: skip
    pull = g * (math.sin(angle) - friction * math.cos(angle))
    seconds = min(1.5, math.sqrt(2 * 8.0 / pull))

    def judge(run: Run) -> list[Check]:
        way = run.end("Box") - run.positions[0, run.row("Box")]
        end = run.times[-1]
        along = way[0] * math.cos(heading) + way[1] * math.sin(heading)
        across = -way[0] * math.sin(heading) + way[1] * math.cos(heading)
        wanted = pull * end**2 / 2
        return [near("way", along, wanted, 0.03, 0.005), near("aside", across, 0, 0, 0.005 + 0.01 * wanted),
                near("height", way[2], 0, 0, 0.005)]  # fmt: skip

    return seconds, judge


@answer
def holds_on_a_slope(rng: Random, file: File) -> tuple[float, Judge]:
    angle = rng.uniform(10, 35)
    friction = math.tan(angle * DEGREE) * rng.uniform(1.08, 2)
    tall = rng.uniform(0.3, 0.8) / max(math.tan(angle * DEGREE), 0.4)
    wide = rng.uniform(0.2, 1.0)
    turn = about("Y", angle)
    place = turned(turn, (0, 0, wide * tall / 2))
    file.add(
        file.material("Stuff", friction), file.ground(material=f"{W}/Stuff", tilt=angle),
        file.body("Box", place.tolist(), turn, size=(wide, wide, wide * tall), mass=rng.uniform(0.5, 50),
                  material=f"{W}/Stuff"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("creep", np.linalg.norm(run.end("Box") - run.positions[0, run.row("Box")]), 0, 0, 0.004)]

    return 3.0, judge


@answer
def thrown_up_a_slope(rng: Random, file: File) -> tuple[float, Judge]:
    """Up until it stands, and down again where friction does not hold."""
    angle, friction, speed = rng.uniform(12, 30), rng.uniform(0.1, 0.9), rng.uniform(2, 5)
    turn = about("Y", angle)
    size = (0.6, 0.5, 0.12)
    file.add(
        file.material("Stuff", friction), file.ground(material=f"{W}/Stuff", tilt=angle),
        file.body("Box", turned(turn, (0, 0, size[2] / 2)).tolist(), turn, size=size, mass=rng.uniform(0.5, 20),
                  velocity=(-speed, 0, 0), material=f"{W}/Stuff"),
    )  # fmt: skip
    sine, cosine = math.sin(angle * DEGREE), math.cos(angle * DEGREE)
    brake = 9.81 * (sine + friction * cosine)
    top = speed**2 / 2 / brake
    time = speed / brake
    back = 9.81 * max(sine - friction * cosine, 0.0)
    seconds = time + 0.6

    def judge(run: Run) -> list[Check]:
        axis = turned(turn, (-1, 0, 0))
        ways = (run.positions[:, run.row("Box")] - run.positions[0, run.row("Box")]) @ axis
        after = run.times[-1] - time
        if abs(math.tan(angle * DEGREE) - friction) < 0.08:
            return [near("top", ways.max(), top, 0.02, 0.01)]
        wanted = top - back * after**2 / 2
        return [near("top", ways.max(), top, 0.02, 0.01), near("end", ways[-1], wanted, 0, 0.02 * top + 0.02)]

    return seconds, judge


@answer
def tips_or_stands(rng: Random, file: File) -> tuple[float, Judge]:
    """A box that friction holds tips over where its weight points beyond its edge."""
    ratio = rng.uniform(0.2, 0.6)
    tips = rng.random() < 0.5
    angle = math.atan(ratio * (rng.uniform(1.08, 1.3) if tips else rng.uniform(0.5, 0.93)))
    tall = rng.uniform(0.5, 2)
    file.gravity = aside(9.81, angle, 0.0)
    file.add(
        file.material("Stuff", 2.0), _floor(rng, file, f"{W}/Stuff"),
        file.body("Box", (0, 0, tall / 2), size=(ratio * tall, 0.6 * tall, tall), mass=rng.uniform(1, 20),
                  material=f"{W}/Stuff"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        up = run.turn("Box")[2, 2]
        return [Check("up", float(up < 0.5), 1.0, 0.0)] if tips else [near("up", up, 1, 0, 1e-3)]

    return 4.0, judge


@answer
def rolls_down(rng: Random, file: File) -> tuple[float, Judge]:
    """Ball with any inertia on a slope, which rolls, or slips where the friction is too small."""
    angle, radius = rng.uniform(8, 35) * DEGREE, rng.uniform(0.05, 0.5)
    ratio, slips = rng.uniform(0.25, 0.66), rng.random() < 0.5
    least = math.tan(angle) / (1 + 1 / ratio)
    friction = least * (rng.uniform(0.2, 0.8) if slips else rng.uniform(1.3, 3))
    mass = rng.uniform(0.2, 20)
    file.gravity = aside(9.81, angle, 0.0)
    moment = ratio * mass * radius**2
    file.add(
        file.material("Stuff", friction), _floor(rng, file, f"{W}/Stuff"),
        file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius, 0, 0), mass=mass, inertia=(moment,) * 3,
                  material=f"{W}/Stuff"),
    )  # fmt: skip
    pull = 9.81 * ((math.sin(angle) - friction * math.cos(angle)) if slips else math.sin(angle) / (1 + ratio))
    spin = friction * 9.81 * math.cos(angle) / ratio / radius if slips else pull / radius

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        return [near("way", run.end("Ball")[0], pull * end**2 / 2, 0.03, 0.005),
                near("spin", run.spin("Ball")[1], spin * end, 0.03)]  # fmt: skip

    return 1.0, judge


@answer
def rolls_on_its_side(rng: Random, file: File) -> tuple[float, Judge]:
    """A cylinder or capsule rolls straight on over a floor of any size, wherever it is, and does not leap."""
    radius, speed = rng.uniform(0.05, 0.4), rng.uniform(0.5, 4)
    kind, height = rng.choice(("Cylinder", "Capsule")), radius * rng.uniform(1, 4)
    heading = rng.uniform(0, 360)
    turn = multiply(about("Z", heading), about("X", 90))
    along = turned(about("Z", heading), (1, 0, 0))
    axis = turned(about("Z", heading), (0, -1, 0))
    back = frames.matrix_of(np.array(turn)).T
    start = (rng.uniform(-9, 9), rng.uniform(-9, 9), radius)
    file.add(
        file.material("Stuff", 0.6), file.ground(material=f"{W}/Stuff", size=rng.choice((40.0, 200.0, 1000.0))),
        file.body("Body", start, turn, shape=kind, size=(radius, height, 0), mass=rng.uniform(0.2, 20),
                  velocity=(back @ along * speed).tolist(), spin=(back @ -axis * speed / radius).tolist(),
                  material=f"{W}/Stuff"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        ways = run.positions[:, run.row("Body")] - np.array(start)
        way = speed * run.times[-1]
        return [near("way", ways[-1] @ along, way, 0.02),
                near("aside", ways[-1] @ axis, 0, 0, 0.01 * way),
                near("height", np.abs(ways[:, 2]).max(), 0, 0, 0.05 * radius)]  # fmt: skip

    return 2.0, judge


@answer
def slides_then_rolls(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball that starts without spin, or with backspin, keeps its moment about its contact."""
    radius, speed, friction = rng.uniform(0.05, 0.3), rng.uniform(1, 4), rng.uniform(0.2, 0.6)
    spin = -rng.uniform(0, 1.2) * speed / radius
    file.add(
        file.material("Stuff", friction), _floor(rng, file, f"{W}/Stuff"),
        file.body("Ball", (0, 0, radius), shape="Sphere", size=(radius, 0, 0), mass=rng.uniform(0.1, 9),
                  velocity=(speed, 0, 0), spin=(0, spin, 0), material=f"{W}/Stuff"),
    )  # fmt: skip
    final = (speed + 0.4 * spin * radius) / 1.4
    slide = (speed - spin * radius) / 3.5 / (friction * 9.81)

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        way = speed * slide - friction * 9.81 * slide**2 / 2 + final * (end - slide)
        return [near("speed", run.velocity("Ball")[0], final, 0.02, 0.01 * speed),
                near("way", run.end("Ball")[0], way, 0.02, 0.02 * speed)]  # fmt: skip

    return slide + 0.8, judge


@answer
def conveyor(rng: Random, file: File) -> tuple[float, Judge]:
    speed, friction = rng.uniform(0.5, 3), rng.uniform(0.2, 0.8)
    heading = rng.uniform(0, 360)
    along = turned(about("Z", heading), (1, 0, 0))
    lines = [f"vector3f physxSurfaceVelocity:surfaceVelocity = ({file.length(speed)}, 0, 0)",
             "bool physxSurfaceVelocity:surfaceVelocityLocalSpace = 1"]  # fmt: skip
    kinematic = file.body("Belt", (0, 0, -0.1), about("Z", heading), size=(30, 4, 0.2), kinematic=True,
                          material=f"{W}/Stuff", apis=["PhysxSurfaceVelocityAPI"], extra=lines)  # fmt: skip
    file.add(
        file.material("Stuff", friction), kinematic,
        file.body("Box", (0, 0, 0.15), about("Z", rng.uniform(0, 360)), size=(0.5, 0.4, 0.3), mass=rng.uniform(0.5, 30),
                  material=f"{W}/Stuff"),
    )  # fmt: skip
    time = speed / friction / 9.81

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        way = speed * end - speed * time / 2
        moved = run.end("Box") - run.positions[0, run.row("Box")]
        return [near("way", moved @ along, way, 0.02, 0.02), near("speed", run.velocity("Box") @ along, speed, 0.01)]

    return time + 1.0, judge


@answer
def on_a_moving_platform(rng: Random, file: File) -> tuple[float, Judge]:
    """A platform starts at once: its box slides until it has its speed."""
    speed, friction = rng.uniform(0.5, 2.5), rng.uniform(0.2, 0.7)
    file.add(
        file.material("Stuff", friction),
        file.body("Platform", (0, 0, -0.2), size=(20, 5, 0.4), kinematic=True, material=f"{W}/Stuff"),
        file.body("Box", (0, 0, 0.1), size=(0.5, 0.6, 0.2), mass=rng.uniform(0.5, 30), material=f"{W}/Stuff"),
    )  # fmt: skip
    file.movers = {"Platform": lambda time: ((speed * time, 0, -0.2), IDENTITY)}
    time = speed / friction / 9.81

    def judge(run: Run) -> list[Check]:
        slid = run.end("Platform")[0] - run.end("Box")[0]
        return [near("slid", slid, speed * time / 2, 0.03, 0.01)]

    return time + 0.5, judge


@answer
def shaken_platform(rng: Random, file: File) -> tuple[float, Judge]:
    """A box holds on a platform that swings less fast than friction can follow."""
    friction, rate = rng.uniform(0.3, 0.8), rng.uniform(2, 6)
    far = friction * 9.81 / rate**2 * rng.uniform(0.4, 0.85)
    file.add(
        file.material("Stuff", friction),
        file.body("Platform", (0, 0, -0.2), size=(20, 5, 0.4), kinematic=True, material=f"{W}/Stuff"),
        file.body("Box", (0, 0, 0.1), size=(0.6, 0.6, 0.2), mass=rng.uniform(0.5, 30), material=f"{W}/Stuff"),
    )  # fmt: skip
    file.movers = {"Platform": lambda time: ((far * (1 - math.cos(rate * time)), 0, -0.2), IDENTITY)}

    def judge(run: Run) -> list[Check]:
        slid = run.positions[:, run.row("Platform"), 0] - run.positions[:, run.row("Box"), 0]
        return [near("slid", np.abs(slid).max(), 0, 0, 0.005 + 0.01 * far)]

    return 3.0, judge


@answer
def pushed_crate(rng: Random, file: File) -> tuple[float, Judge]:
    """A slide of limited force pulls a crate over the floor."""
    mass, friction = rng.uniform(2, 60), rng.uniform(0.1, 0.6)
    factor = rng.choice((rng.uniform(0.5, 0.9), rng.uniform(1.3, 3)))
    force = factor * friction * mass * 9.81
    file.add(
        file.material("Stuff", friction), _floor(rng, file, f"{W}/Stuff"),
        file.body("Crate", (0, 0, 0.2), size=(0.6, 0.6, 0.4), mass=mass, material=f"{W}/Stuff"),
        file.joint("Slide", "D6", "", f"{W}/Crate", pos0=(0, 0, 0.2),
                   drives={"transX": {"damping": 1e6, "targetVelocity": 100.0, "maxForce": force}}),
    )  # fmt: skip
    pull = max(force / mass - friction * 9.81, 0.0)

    def judge(run: Run) -> list[Check]:
        return [near("way", run.end("Crate")[0], pull * run.times[-1] ** 2 / 2, 0.03, 0.005)]

    return 1.0, judge


# --------------------------------------------------------------------------- impacts


def _lively(file: File, restitution: float, friction: float = 0.0) -> str:
    return file.material("Stuff", friction, restitution)


@answer
def head_on(rng: Random, file: File) -> tuple[float, Judge]:
    """Two bodies of unequal masses meet in free space."""
    one, two = rng.uniform(0.2, 2), rng.uniform(0.2, 50)
    e, speed, other = rng.choice((0.0, rng.uniform(0.1, 0.9), 1.0)), rng.uniform(1, 8), rng.uniform(-1, 0.5)
    shape, size = rng.choice((("Sphere", (0.2, 0, 0)), ("Cube", (0.4, 0.4, 0.4))))
    file.gravity = (0, 0, 0)
    file.add(
        _lively(file, e),
        file.body("One", (-1, 0, 0), shape=shape, size=size, mass=one, velocity=(speed, 0, 0), material=f"{W}/Stuff"),
        file.body("Two", (1, 0, 0), shape=shape, size=size, mass=two, velocity=(other, 0, 0), material=f"{W}/Stuff"),
    )  # fmt: skip
    middle = (one * speed + two * other) / (one + two)
    apart = e * (speed - other)
    after = middle - two / (one + two) * apart, middle + one / (one + two) * apart

    def judge(run: Run) -> list[Check]:
        return [near(name, run.velocity(name)[0], wanted, 0.02, 0.02 * speed)
                for name, wanted in zip(("One", "Two"), after, strict=True)]  # fmt: skip

    return 1.6 / (speed - other) + 0.5, judge


@answer
def face_to_face(rng: Random, file: File) -> tuple[float, Judge]:
    """Two boxes of unequal sizes and masses meet with parallel faces, beside each other by any part of the smaller one.
    Friction does nothing; of what is parted each point that pushes leaves with its restitution.
    """
    one, two, e, speed = rng.uniform(0.2, 5), rng.uniform(0.2, 5), rng.uniform(0.2, 1), rng.uniform(0.3, 1.5)
    sizes = [[rng.uniform(0.1, 0.5) for _ in range(3)] for _ in range(2)]
    off = rng.uniform(0.0, 0.9) * max(sizes[0][1], sizes[1][1]) / 2
    file.gravity = (0, 0, 0)
    file.add(
        _lively(file, e),
        file.body("One", (-1, off, 0), size=sizes[0], mass=one, velocity=(speed, 0, 0), material=f"{W}/Stuff"),
        file.body("Two", (0, 0, 0), size=sizes[1], mass=two, material=f"{W}/Stuff"),
    )  # fmt: skip
    moments = [mass * (x**2 + y**2) / 12 for mass, (x, y, _) in zip((one, two), sizes, strict=True)]
    low, high = max(off - sizes[0][1] / 2, -sizes[1][1] / 2), min(off + sizes[0][1] / 2, sizes[1][1] / 2)
    pushed = _center_of_push(low, high, off, (one, two), moments)
    yields = 1 / one + 1 / two + (pushed - off) ** 2 / moments[0] + pushed**2 / moments[1]
    push = (1 + e) * speed / yields

    def judge(run: Run) -> list[Check]:
        return [near("one", run.velocity("One")[0], speed - push / one, 0.01, 0.01 * speed),
                near("two", run.velocity("Two")[0], push / two, 0.01, 0.01 * speed),
                near("turn of one", run.spin("One")[2], push * (pushed - off) / moments[0], 0.02, 0.05),
                near("turn of two", run.spin("Two")[2], -push * pushed / moments[1], 0.02, 0.05)]  # fmt: skip

    # Shortly after: they turn, and may meet again.
    return (1.0 - sizes[0][0] / 2 - sizes[1][0] / 2) / speed + 0.045, judge


def _center_of_push(
    low: float, high: float, off: float, masses: tuple[float, float], moments: Sequence[float]
) -> float:  # fmt: skip
    """Where two boxes push that meet from `low` to `high` across their way, the first with its middle at `off`.

    They leave alike at all points where the push turns both alike; beyond the faces, at the edge next to that.
    """
    balanced = off * moments[1] / (moments[0] + moments[1])
    return min(max(balanced, low), high)


@answer
def oblique_balls(rng: Random, file: File) -> tuple[float, Judge]:
    """Smooth balls that meet off their middles: only the part along their line changes."""
    one, two, radius = rng.uniform(0.2, 4), rng.uniform(0.2, 4), rng.uniform(0.1, 0.4)
    e, speed = rng.uniform(0.2, 1), rng.uniform(1, 5)
    off = rng.uniform(0.2, 0.8) * 2 * radius
    file.gravity = (0, 0, 0)
    file.add(
        _lively(file, e),
        file.body("One", (-1.5, off, 0), shape="Sphere", size=(radius, 0, 0), mass=one, velocity=(speed, 0, 0),
                  material=f"{W}/Stuff"),
        file.body("Two", (0, 0, 0), shape="Sphere", size=(radius, 0, 0), mass=two, material=f"{W}/Stuff"),
    )  # fmt: skip
    sine = off / 2 / radius
    line = np.array((math.sqrt(1 - sine**2), -sine, 0))
    push = (1 + e) * speed * line[0] / (1 / one + 1 / two)

    def judge(run: Run) -> list[Check]:
        first, second = np.array((speed, 0, 0)) - push / one * line, push / two * line
        return [Check("one", float(np.linalg.norm(run.velocity("One") - first)), 0, 0.04 * speed),
                Check("two", float(np.linalg.norm(run.velocity("Two") - second)), 0, 0.04 * speed)]  # fmt: skip

    return 1.5 / speed + 0.5, judge


@answer
def bounces_at_an_angle(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball that hits the floor obliquely: the impulse of friction is that of sticking, or of sliding."""
    radius, e = rng.uniform(0.05, 0.3), rng.uniform(0.3, 0.95)
    friction, down, ahead = rng.uniform(0.05, 0.6), rng.uniform(2, 5), rng.uniform(0.5, 5)
    file.gravity = (0, 0, 0)
    far = 0.5 * down
    file.add(
        _lively(file, e, friction), _floor(rng, file, f"{W}/Stuff"),
        file.body("Ball", (0, 0, radius + far), shape="Sphere", size=(radius, 0, 0), mass=rng.uniform(0.1, 5),
                  velocity=(ahead, 0, -down), material=f"{W}/Stuff"),
    )  # fmt: skip
    change = min(friction * (1 + e) * down, ahead * 2 / 7)

    def judge(run: Run) -> list[Check]:
        velocity = run.velocity("Ball")
        return [near("up", velocity[2], e * down, 0.02, 0.01), near("ahead", velocity[0], ahead - change, 0.05, 0.03),
                near("spin", run.spin("Ball")[1] * radius, 2.5 * change, 0.05, 0.05)]  # fmt: skip

    return 1.0, judge


@answer
def bounces_lower(rng: Random, file: File) -> tuple[float, Judge]:
    """Heights of two bounces of a ball, or of what falls flat: it does not turn."""
    e, height = rng.uniform(0.4, 0.9), rng.uniform(0.5, 3)
    g = rng.uniform(1.6, 12)
    radius = rng.uniform(0.03, 0.25)
    file.gravity = (0, 0, -g)
    wide = rng.uniform(0.1, 0.5)
    kind = rng.choice(("Sphere", "Cube", "Cylinder", "hull"))
    geometry = {
        "Sphere": lambda: file.shape("Shape", "Sphere", (radius,), material=f"{W}/Stuff"),
        "Cube": lambda: file.shape("Shape", "Cube", (wide, rng.uniform(0.1, 0.6), 2 * radius), material=f"{W}/Stuff"),
        "Cylinder": lambda: file.shape("Shape", "Cylinder", (wide, 2 * radius), material=f"{W}/Stuff"),
        "hull": lambda: file.mesh("Shape", *prism(rng.randint(3, 9), wide, 2 * radius), "convexHull",
                                  material=f"{W}/Stuff"),
    }[kind]()  # fmt: skip
    turn = about("Z", rng.uniform(0, 360))
    file.add(
        _lively(file, e, 0.5), _floor(rng, file, f"{W}/Stuff"),
        file.body("Ball", (0, 0, radius + height), turn, geometry=geometry, mass=rng.uniform(0.1, 9)),
    )  # fmt: skip
    fall = math.sqrt(2 * height / g)

    def judge(run: Run) -> list[Check]:
        found, begin = [], fall
        for number in (1, 2):
            length = 2 * e**number * fall
            inside = (run.times > begin + 0.1 * length) & (run.times < begin + 0.9 * length)
            heights = run.positions[inside, run.row("Ball"), 2] - radius
            if number == 1 or kind != "hull":  # the corners of a hull are up to 2 degrees aside
                found.append(near(f"bounce {number}", heights.max(), e ** (2 * number) * height, 0.05, 0.005))
                frame = int(np.flatnonzero(inside)[-1])
                found.append(Check(f"upright {number}", float(run.turn("Ball", frame)[2, 2]), 1.0, 0.005))
            begin += length
        return found

    return fall * (1 + 2 * e + 2 * e**2), judge


@answer
def hits_a_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    """A ball hits a block on a hinge. With restitution the block gets a part of its rebound as if it were loose, of
    which the hinge takes some back: half to all of the rebound remains."""
    mass, arm = rng.uniform(0.1, 3), rng.uniform(0.5, 2)
    heavy, moment = rng.uniform(0.5, 20), rng.uniform(0.1, 5)
    e, speed = rng.choice((0.0, rng.uniform(0.2, 0.9))), rng.uniform(1, 8)
    file.gravity = (0, 0, 0)
    file.add(
        _lively(file, e),
        file.body("Block", (0, 0, 0), size=(0.4, 0.4, 0.4), mass=heavy, inertia=(moment,) * 3, material=f"{W}/Stuff"),
        file.body("Ball", (-0.6, 0, 0), shape="Sphere", size=(0.1, 0, 0), mass=mass, velocity=(speed, 0, 0),
                  material=f"{W}/Stuff"),
        file.joint("Hinge", "Revolute", "", f"{W}/Block", pos0=(0, 0, arm), pos1=(0, 0, arm), axis="Y"),
    )  # fmt: skip
    whole = moment + heavy * arm**2
    push = (1 + e) * speed / (1 / mass + arm**2 / whole)
    seconds = 0.3 / speed + 0.1

    def judge(run: Run) -> list[Check]:
        ball, block = run.velocity("Ball")[0], -run.spin("Block")[1] * arm
        momentum = mass * (speed - ball) - whole / arm**2 * block
        found = [Check("momentum", momentum, 0.0, 0.03 * mass * speed)]
        if e:
            found.append(Check("rebound", (block - ball) / (e * speed), 0.75, 0.3))
        else:
            found.append(near("block", block, push * arm**2 / whole, 0.04, 0.02 * speed))
        return found

    return seconds, judge


# --------------------------------------------------------------------------- joints


@answer
def compound_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    """Any mass, centre and inertia, about any axis across gravity of any size, from a large angle."""
    mass, arm, g = rng.uniform(0.2, 30), rng.uniform(0.2, 2), rng.uniform(2, 15)
    moment = mass * arm**2 * rng.uniform(0.02, 0.6)
    start = rng.uniform(20, 150) * DEGREE
    heading = rng.uniform(0, 360)
    file.gravity = (0, 0, -g)
    center = (rng.uniform(-1, 1), 0.0, rng.uniform(-1, 1))
    # The hinge is where the centre hangs below it by `arm` when the body is turned by nothing.
    pivot = (center[0], center[1], center[2] + arm)
    turn = multiply(about("Z", heading), about("Y", start / DEGREE))
    hinge = (rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(-3, 3))
    place = np.array(hinge) - turned(turn, pivot)
    file.add(
        file.body("Bob", place.tolist(), turn, collides=False, mass=mass, center=center, inertia=(moment,) * 3),
        file.joint("Hinge", "Revolute", "", f"{W}/Bob", pos0=hinge, pos1=pivot, rot0=about("Z", heading), axis="Y"),
    )  # fmt: skip
    rate = mass * g * arm / (moment + mass * arm**2)
    seconds = 2 * math.pi / math.sqrt(rate) * rng.uniform(1.0, 2.0)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start, 0.0), seconds)

    def judge(run: Run) -> list[Check]:
        axis = turned(about("Z", heading), (0, 1, 0))
        found = []
        for frame in np.linspace(1, len(run.times) - 1, 7).astype(int):
            part = run.turn("Bob", frame) @ run.turn("Bob", 0).T
            across = np.array((part[2, 1] - part[1, 2], part[0, 2] - part[2, 0], part[1, 0] - part[0, 1])) @ axis / 2
            angle = math.atan2(across, (np.trace(part) - 1) / 2)
            wanted = at(states, seconds, run.times[frame])[0] - start if run.times[frame] <= seconds else None
            if wanted is not None:
                apart = (angle - wanted + math.pi) % (2 * math.pi) - math.pi
                found.append(Check(f"angle at {run.times[frame]:.2f}", apart, 0.0, 0.05 * start))
        return found

    return seconds, judge


@answer
def damped_spring(rng: Random, file: File) -> tuple[float, Judge]:
    """A mass on a slide along any direction, with a drive of any damping ratio, under gravity."""
    mass, frequency, ratio = rng.uniform(0.1, 100), rng.uniform(0.4, 4), rng.choice((0.05, 0.2, 0.7, 1.0, 2.5))
    omega = 2 * math.pi * frequency
    kind = rng.choice(("force", "acceleration"))
    by = mass if kind == "force" else 1.0
    turn = multiply(about("Z", rng.uniform(0, 360)), about("Y", rng.uniform(-90, 90)))
    axis = turned(turn, (1, 0, 0))
    target = rng.uniform(-0.5, 0.5)
    start = rng.uniform(-0.5, 0.5)
    drive = {"stiffness": by * omega**2, "damping": by * 2 * ratio * omega, "targetPosition": target, "type": kind}
    file.add(
        file.body("Mass", (start * axis).tolist(), turn, collides=False, mass=mass, inertia=(0.1 * mass,) * 3),
        file.joint("Slide", "Prismatic", "", f"{W}/Mass", rot0=turn, axis="X", drives={"linear": drive}),
    )  # fmt: skip
    pull = -9.81 * axis[2]
    seconds = 2.0
    states = rk4(
        lambda s: np.array((s[1], pull - omega**2 * (s[0] - target) - 2 * ratio * omega * s[1])), (start, 0.0), seconds
    )  # fmt: skip
    swing = abs(start - target - pull / omega**2)

    def judge(run: Run) -> list[Check]:
        ways = run.positions[:, run.row("Mass")] @ axis
        wanted = np.array([at(states, seconds, time)[0] for time in run.times if time <= seconds])
        apart = np.abs(ways[: len(wanted)] - wanted).max()
        return [Check("way", float(apart), 0.0, 0.05 * swing + 0.005)]

    return seconds, judge


@answer
def torsion_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    """A body of several parts with densities on a sprung hinge: the period tells the moment of inertia."""
    density = rng.uniform(200, 5000)
    parts, moment = [], 0.0
    for number in range(rng.randint(1, 3)):
        kind = rng.choice(("Cube", "Sphere", "Cylinder", "Capsule", "Cone"))
        x, y, z = (rng.uniform(-0.6, 0.6) for _ in range(3))
        r, h = rng.uniform(0.1, 0.3), rng.uniform(0.2, 0.5)
        if kind == "Cube":
            size = (r, h, 0.3)
            volume, own = r * h * 0.3, (r**2 + h**2) / 12
        elif kind == "Sphere":
            size = (r, 0, 0)
            volume, own = 4 / 3 * math.pi * r**3, 0.4 * r**2
        elif kind == "Cylinder":
            size = (r, h, 0)
            volume, own = math.pi * r**2 * h, 0.5 * r**2
        elif kind == "Cone":
            size = (r, h, 0)
            volume, own = math.pi * r**2 * h / 3, 0.3 * r**2
        else:
            size = (r, h, 0)
            tube, ball = math.pi * r**2 * h, 4 / 3 * math.pi * r**3
            volume, own = tube + ball, (tube * 0.5 * r**2 + ball * 0.4 * r**2) / (tube + ball)
        mass = density * volume
        moment += mass * (own + x**2 + y**2)
        parts.append(file.shape(f"Part{number}", kind, size, (x, y, z)))
    frequency = rng.uniform(0.5, 2)
    start = rng.uniform(10, 60)
    omega = 2 * math.pi * frequency
    drive = {"stiffness": moment * omega**2, "damping": 0.0, "targetPosition": 0.0}
    file.gravity = (0, 0, -9.81)
    file.add(
        file.body("Body", (0, 0, 2), about("Z", start), mass=None, density=density, collides=False, children=parts),
        file.joint("Hinge", "Revolute", "", f"{W}/Body", pos0=(0, 0, 2), axis="Z", drives={"angular": drive}),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        angles = run.angle("Body", 2) + start * DEGREE
        wanted = start * DEGREE * np.cos(omega * run.times)
        return [Check("angle", float(np.abs(angles - wanted).max()), 0.0, 0.06 * start * DEGREE)]

    return 2.0 / frequency, judge


@answer
def velocity_drive(rng: Random, file: File) -> tuple[float, Judge]:
    """A rotor with a damping drive nears its speed exponentially."""
    moment, time, speed = rng.uniform(0.01, 5), rng.uniform(0.1, 1), rng.uniform(-8, 8)
    reduced = rng.random() < 0.5
    drive = {"damping": moment / time, "targetVelocity": speed}
    rotor = file.body("Rotor", (0, 0, 1), shape="Cylinder", size=(0.2, 0.1, 0), mass=rng.uniform(0.5, 10),
                      inertia=(moment,) * 3)  # fmt: skip
    hinge = file.joint("Hinge", "Revolute", "", f"{W}/Robot/Rotor", pos0=(0, 0, 1), axis="Z", drives={"angular": drive})
    file.add(block("Xform", "Robot", [rotor, hinge], ["PhysicsArticulationRootAPI"] if reduced else []))

    def judge(run: Run) -> list[Check]:
        wanted = speed * (run.times - time * (1 - np.exp(-run.times / time)))
        return [
            Check("angle", float(np.abs(run.angle("Rotor", 2) - wanted).max()), 0.0, 0.03 * abs(speed) * time + 0.01)
        ]

    return 2.0, judge


@answer
def lifts_with_a_force(rng: Random, file: File) -> tuple[float, Judge]:
    """A slide of limited force lifts a mass, or lets it sink."""
    mass, factor = rng.uniform(0.5, 200), rng.uniform(0.3, 2.5)
    force = factor * mass * 9.81
    file.add(
        file.body("Load", (0, 0, 5), size=(0.3, 0.3, 0.3), mass=mass),
        file.joint("Lift", "Prismatic", "", f"{W}/Load", pos0=(0, 0, 5), axis="Z",
                   drives={"linear": {"damping": 1e5 * mass, "targetVelocity": 50.0, "maxForce": force}}),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("way", run.end("Load")[2] - 5, (factor - 1) * 9.81 * run.times[-1] ** 2 / 2, 0.03, 0.01)]

    return 0.8, judge


@answer
def held_arm_sags(rng: Random, file: File) -> tuple[float, Judge]:
    """A sprung hinge holds an arm where its torque is that of the weight."""
    mass, arm = rng.uniform(0.5, 40), rng.uniform(0.2, 2)
    torque = mass * 9.81 * arm
    stiffness = torque * rng.uniform(0.8, 8)
    sag = 0.0
    for _ in range(200):
        sag -= (stiffness * sag - torque * math.cos(sag)) / (stiffness + torque * math.sin(sag))
    moment = mass * arm**2 * 1.1
    drive = {"stiffness": stiffness, "damping": 2 * math.sqrt(stiffness * moment), "targetPosition": 0.0}
    file.add(
        file.body("Arm", (0, 0, 3), collides=False, mass=mass, center=(arm, 0, 0), inertia=(0.1 * mass * arm**2,) * 3),
        file.joint("Hinge", "Revolute", "", f"{W}/Arm", pos0=(0, 0, 3), axis="Y", drives={"angular": drive}),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("sag", run.angle("Arm", 1)[-1], sag, 0.01, 0.002)]

    return 10 * math.sqrt(moment / stiffness) + 1, judge


@answer
def stops_at_its_limit(rng: Random, file: File) -> tuple[float, Judge]:
    """A body slides down an oblique rail, and stays at its end."""
    angle, far = rng.uniform(20, 90), rng.uniform(0.3, 2)
    turn = multiply(about("Z", rng.uniform(0, 360)), about("Y", angle))
    axis = turned(turn, (1, 0, 0))
    file.add(
        file.body("Sled", (0, 0, 0), turn, size=(0.2, 0.2, 0.2), mass=rng.uniform(0.1, 50)),
        file.joint("Rail", "Prismatic", "", f"{W}/Sled", rot0=turn, axis="X", low=-0.5, high=far),
    )  # fmt: skip
    pull = 9.81 * math.sin(angle * DEGREE)
    time = math.sqrt(2 * far / pull)

    def judge(run: Run) -> list[Check]:
        half = run.at("Sled", 0.7 * time) @ axis
        return [near("way", half, 0.49 * far, 0.04, 0.005), near("end", run.end("Sled") @ axis, far, 0, 0.004)]

    return time + 1.0, judge


@answer
def falls_to_its_limit(rng: Random, file: File) -> tuple[float, Judge]:
    """A bar falls about a hinge until its limit holds it."""
    arm, limit = rng.uniform(0.3, 1.5), rng.uniform(20, 80)
    swap = rng.random() < 0.5
    low, high = (-limit * DEGREE, 2.0) if swap else (-2.0, limit * DEGREE)
    first, second = (f"{W}/Bar", "") if swap else ("", f"{W}/Bar")
    ends = {"pos1": (0, 0, 3)} if swap else {"pos0": (0, 0, 3)}
    file.add(
        file.body("Bar", (0, 0, 3), mass=rng.uniform(0.2, 30), center=(arm / 2, 0, 0), collides=False,
                  children=[file.shape("Shape", "Cube", (arm, 0.05, 0.05), (arm / 2, 0, 0))]),
        file.joint("Hinge", "Revolute", first, second, axis="Y", low=low, high=high, **ends),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("angle", run.angle("Bar", 1)[-1] / DEGREE, limit, 0, 0.5)]

    return 2.5, judge


@answer
def breaks_by_weight(rng: Random, file: File) -> tuple[float, Judge]:
    """A joint holds a weight along any direction of gravity, or does not."""
    mass, g, factor = rng.uniform(0.2, 200), rng.uniform(2, 15), rng.choice((0.9, 0.95, 1.05, 1.1))
    kind = rng.choice(("Fixed", "Revolute", "Spherical", "Prismatic"))
    heading = rng.uniform(0, 360)
    file.gravity = tuple(turned(about("Z", heading), (g * 0.6, 0, -g * 0.8)).tolist())
    options = {"axis": "Y" if kind == "Revolute" else "X"} if kind != "Fixed" else {}
    if kind == "Prismatic":
        # Along its axis a slide bears nothing but its limit.
        options = {"axis": "X", "low": 0.0, "high": 0.0}
    file.add(
        file.body("Load", (0, 0, 4), size=(0.3, 0.3, 0.3), mass=mass),
        file.joint("Bond", kind, "", f"{W}/Load", pos0=(0, 0, 4), break_force=factor * mass * g, **options),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [Check("broken", float(len(run.world.broken_joints)), float(factor < 1), 0.0)]

    return 2.0, judge


@answer
def breaks_by_torque(rng: Random, file: File) -> tuple[float, Judge]:
    mass, arm, factor = rng.uniform(0.2, 50), rng.uniform(0.2, 2), rng.choice((0.9, 1.1))
    file.add(
        file.body("Load", (0, 0, 4), size=(0.2, 0.2, 0.2), mass=mass),
        file.joint("Bond", "Fixed", "", f"{W}/Load", pos0=(arm, 0, 4), pos1=(arm, 0, 0),
                   break_torque=factor * mass * 9.81 * arm),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [Check("broken", float(len(run.world.broken_joints)), float(factor < 1), 0.0)]

    return 2.0, judge


@answer
def spun_off(rng: Random, file: File) -> tuple[float, Judge]:
    """A mass on the rim of a rotor that runs up evenly: its joint breaks at the force towards the axis."""
    mass, arm, rise = rng.uniform(0.1, 3), rng.uniform(0.3, 1), rng.uniform(1, 4)
    at_speed = rng.uniform(2, 5)
    force = mass * arm * math.hypot(at_speed**2, rise)
    moment = 50.0
    torque = (moment + mass * arm**2 + mass * 0.01) * rise
    file.gravity = (0, 0, 0)
    file.add(
        file.body("Rotor", (0, 0, 0), collides=False, mass=20.0, inertia=(moment,) * 3),
        file.body("Load", (arm, 0, 0), collides=False, mass=mass, inertia=(mass * 0.01,) * 3),
        file.joint("Axle", "Revolute", "", f"{W}/Rotor", axis="Z",
                   drives={"angular": {"damping": 1e6, "targetVelocity": 500.0, "maxForce": torque}}),
        file.joint("Bond", "Fixed", f"{W}/Rotor", f"{W}/Load", pos0=(arm, 0, 0), break_force=force),
    )  # fmt: skip
    time = at_speed / rise

    def judge(run: Run) -> list[Check]:
        ways = np.linalg.norm(run.positions[:, run.row("Load")], axis=1)
        off = np.flatnonzero(ways > 1.003 * arm)
        found = run.times[off[0]] if len(off) else math.inf
        fly = 0.0775 / at_speed
        return [near("time", found - fly, time, 0.03, 1.5 * run.times[1])]

    return time + 0.5, judge


@answer
def two_masses_and_a_spring(rng: Random, file: File) -> tuple[float, Judge]:
    """In free space the spring between two masses swings with the reduced mass, and their middle goes on."""
    one, two, frequency = rng.uniform(0.2, 20), rng.uniform(0.2, 20), rng.uniform(0.5, 3)
    omega = 2 * math.pi * frequency
    both = one * two / (one + two)
    drift, start = rng.uniform(-1, 1), rng.uniform(0.1, 0.4)
    file.gravity = (0, 0, 0)
    drive = {"stiffness": both * omega**2, "damping": 0.0, "targetPosition": 1.0}
    file.add(
        file.body("One", (0, 0, 0), collides=False, mass=one, inertia=(one,) * 3, velocity=(0, drift, 0)),
        file.body("Two", (1 + start, 0, 0), collides=False, mass=two, inertia=(two,) * 3, velocity=(0, drift, 0)),
        file.joint("Spring", "Prismatic", f"{W}/One", f"{W}/Two", axis="X", drives={"linear": drive}),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        first, second = (run.positions[:, run.row(name)] for name in ("One", "Two"))
        middle = (one * first + two * second) / (one + two)
        apart = np.abs(second[:, 0] - first[:, 0] - 1 - start * np.cos(omega * run.times)).max()
        wanted = np.array((two * (1 + start) / (one + two), drift * run.times[-1], 0))
        return [Check("length", float(apart), 0, 0.08 * start),
                Check("middle", float(np.linalg.norm(middle[-1] - wanted)), 0, 0.005)]  # fmt: skip

    return 2.0 / frequency, judge


@answer
def tied_pair(rng: Random, file: File) -> tuple[float, Judge]:
    """Two masses on a taut tie turn about their middle in free space."""
    one, two, length, spin = rng.uniform(0.2, 5), rng.uniform(0.2, 5), rng.uniform(0.5, 2), rng.uniform(1, 4)
    part = two / (one + two) * length
    file.gravity = (0, 0, 0)
    file.add(
        file.body("One", (-part, 0, 0), collides=False, mass=one, inertia=(one,) * 3, velocity=(0, -part * spin, 0)),
        file.body("Two", (length - part, 0, 0), collides=False, mass=two, inertia=(two,) * 3,
                  velocity=(0, (length - part) * spin, 0)),
        file.joint("Tie", "Distance", f"{W}/One", f"{W}/Two", distance=(-1, length)),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        line = run.positions[:, run.row("Two")] - run.positions[:, run.row("One")]
        angle = np.unwrap(np.arctan2(line[:, 1], line[:, 0]))
        return [Check("length", float(np.abs(np.linalg.norm(line, axis=1) - length).max()), 0, 0.01 * length),
                near("angle", angle[-1], spin * run.times[-1], 0.02)]  # fmt: skip

    return 2.0, judge


@answer
def conical_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    arm, angle, g = rng.uniform(0.3, 2), rng.uniform(15, 60) * DEGREE, rng.uniform(2, 12)
    mass = rng.uniform(0.1, 20)
    spin = math.sqrt(g / arm / math.cos(angle))
    flat = arm * math.sin(angle)
    file.gravity = (0, 0, -g)
    kind = rng.choice(("Spherical", "Distance"))
    # A point on a ball joint, which keeps its moment about the joint: with next to no inertia of its own.
    options = {"pos1": (-flat, 0, arm * math.cos(angle))} if kind == "Spherical" else {"distance": (-1, arm)}
    spins = (0, 0, spin) if kind == "Spherical" else None
    file.add(
        file.body("Bob", (flat, 0, -arm * math.cos(angle)), collides=False, mass=mass, inertia=(1e-4 * mass,) * 3,
                  velocity=(0, flat * spin, 0), spin=spins),
        file.joint("Rope", kind, "", f"{W}/Bob", **options),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        place = run.positions[:, run.row("Bob")]
        angle_now = np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
        low = np.abs(place[:, 2] + arm * math.cos(angle)).max()
        return [near("angle", angle_now[-1], spin * run.times[-1], 0.03), Check("height", float(low), 0, 0.03 * arm)]

    return 2.5, judge


@answer
def gears_turn(rng: Random, file: File) -> tuple[float, Judge]:
    """A driven wheel turns another one by their ratio, and feels its inertia."""
    one, two, ratio = rng.uniform(0.1, 2), rng.uniform(0.1, 2), rng.choice((-1, 1)) * rng.uniform(0.4, 4)
    torque = rng.uniform(1, 10)
    file.gravity = (0, 0, 0)
    gear = block("PhysxPhysicsGearJoint", "Gear", [
        f"rel physics:body0 = <{W}/A>", f"rel physics:body1 = <{W}/B>", f"rel physics:hinge0 = <{W}/First>",
        f"rel physics:hinge1 = <{W}/Second>", f"float physics:gearRatio = {ratio}",
    ])  # fmt: skip
    file.add(
        file.body("A", (0, 0, 0), collides=False, mass=3.0, inertia=(one,) * 3),
        file.body("B", (2, 0, 0), collides=False, mass=3.0, inertia=(two,) * 3),
        file.joint("First", "Revolute", "", f"{W}/A", axis="Z",
                   drives={"angular": {"damping": 1e6, "targetVelocity": 1e3, "maxForce": torque}}),
        file.joint("Second", "Revolute", "", f"{W}/B", pos0=(2, 0, 0), axis="Z"),
        gear,
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        first, second = run.angle("A", 2)[-1], run.angle("B", 2)[-1]
        rise = torque / (one + two * ratio**2)
        return [near("ratio", abs(second / first), abs(ratio), 0.015),
                near("angle", first, rise * run.times[-1] ** 2 / 2, 0.04)]  # fmt: skip

    return 0.8, judge


# --------------------------------------------------------------------------- bodies in flight, masses, filters


@answer
def tumbles_freely(rng: Random, file: File) -> tuple[float, Judge]:
    """A symmetric body without torque: its axis goes round the moment of momentum."""
    across, along = 1.0, rng.uniform(0.4, 1.8)
    spin, wobble = rng.uniform(2, 8), rng.uniform(0.3, 1.5)
    file.gravity = (0, 0, 0)
    file.add(file.body("Body", (0, 0, 0), collides=False, mass=5.0, inertia=(across, across, along),
                       spin=(wobble, 0, spin)))  # fmt: skip
    momentum = np.array((across * wobble, 0, along * spin))
    size = np.linalg.norm(momentum)
    rate = size / across
    unit = momentum / size

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        start = np.array((0, 0, 1.0))
        angle = rate * end
        wanted = (start * math.cos(angle) + np.cross(unit, start) * math.sin(angle)
                  + unit * (unit @ start) * (1 - math.cos(angle)))  # fmt: skip
        apart = math.acos(min(1.0, float(run.turn("Body")[:, 2] @ wanted)))
        return [Check("axis", apart, 0.0, 0.04 * 2 * math.atan2(wobble * across, spin * along) + 0.01)]

    return 1.0, judge


@answer
def thrown_compound(rng: Random, file: File) -> tuple[float, Judge]:
    """Two parts of different density: their common centre of mass flies along the parabola, and the body turns."""
    light, heavy = rng.uniform(100, 500), rng.uniform(1000, 8000)
    arm, g, spin = rng.uniform(0.3, 1), rng.uniform(2, 12), rng.uniform(-5, 5)
    throw = (rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(1, 5))
    file.gravity = (0, 0, -g)

    def part(name: str, density: float, x: float) -> str:
        return file.shape(name, "Cube", (0.3, 0.3, 0.3), (x, 0, 0), apis=["PhysicsMassAPI"], lines=[
            f"float physics:density = {density * file.units.meters**3 / file.units.kilograms}"])  # fmt: skip

    file.add(file.body("Body", (0, 0, 0), collides=False, mass=None, velocity=throw, spin=(0, 0, spin),
                       apis=["PhysicsMassAPI"], children=[part("A", light, 0.0), part("B", heavy, arm)]))  # fmt: skip
    center = np.array((arm * heavy / (light + heavy), 0, 0))

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        middle = run.end("Body") + run.turn("Body") @ center
        wanted = center + np.array(throw) * end + np.array((0, 0, -g * end**2 / 2))
        return [Check("middle", float(np.linalg.norm(middle - wanted)), 0, 0.02 + 0.01 * g * end**2 / 2),
                near("angle", run.angle("Body", 2)[-1], spin * end, 0.01, 0.005)]  # fmt: skip

    return 1.0, judge


@answer
def overhangs(rng: Random, file: File) -> tuple[float, Judge]:
    """A bar with a heavy end lies over the edge of a table: it stays as long as its centre of mass is above it."""
    ratio, length = rng.uniform(2, 8), rng.uniform(0.6, 2)
    # Of two halves, from the light end.
    center = (0.25 + 0.75 * ratio) / (1 + ratio) * length
    falls = rng.random() < 0.5
    edge = center + (-1 if falls else 1) * rng.uniform(0.04, 0.1) * length
    density = rng.uniform(200, 2000)

    def half(name: str, factor: float, x: float) -> str:
        return file.shape(name, "Cube", (length / 2, 0.2, 0.1), (x, 0, 0), material=f"{W}/Stuff",
                          apis=["PhysicsMassAPI"], lines=[
            f"float physics:density = {factor * density * file.units.meters**3 / file.units.kilograms}"])  # fmt: skip

    file.add(
        file.material("Stuff", 0.8),
        file.body("Table", (edge - 5, 0, -0.5), dynamic=False, size=(10, 4, 1), material=f"{W}/Stuff"),
        file.body("Bar", (0, 0, 0.05), collides=False, mass=None, apis=["PhysicsMassAPI"],
                  children=[half("A", 1.0, length / 4), half("B", ratio, 0.75 * length)]),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        if falls:
            return [Check("falls", float(run.end("Bar")[2] < -0.5), 1.0, 0.0)]
        return [near("stays", np.linalg.norm(run.end("Bar") - run.positions[0, run.row("Bar")]), 0, 0, 0.005)]

    return 3.0, judge


@answer
def falls_through_its_group(rng: Random, file: File) -> tuple[float, Judge]:
    """Of three floors one above the other a body passes those of the groups that its own ignores."""
    passes = rng.randint(0, 2)
    names = [f"Floor{number}" for number in range(3)]
    floors = [
        file.body(name, (0, 0, -1.0 * number), dynamic=False, size=(4, 4, 0.2)) for number, name in enumerate(names)
    ]

    def group(name: str, members: Sequence[str], filtered: Sequence[str]) -> str:
        lines = [f"rel collection:colliders:includes = [{', '.join(f'<{W}/{each}>' for each in members)}]"]
        if filtered:
            lines.append(f"rel physics:filteredGroups = [{', '.join(f'<{W}/{each}>' for each in filtered)}]")
        return block("PhysicsCollisionGroup", name, lines, ["CollectionAPI:colliders"])

    ignored = [f"G{number}" for number in range(passes)]
    file.add(
        *floors, file.body("Ball", (0, 0, 1), shape="Sphere", size=(0.2, 0, 0)),
        *(group(f"G{number}", [name], []) for number, name in enumerate(names)), group("GB", ["Ball"], ignored),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        return [near("height", run.end("Ball")[2], 0.3 - passes, 0, 0.003)]

    return 3.0, judge


@answer
def two_scenes(rng: Random, file: File) -> tuple[float, Judge]:
    """Each scene has its gravity."""
    one, two = rng.uniform(1, 12), rng.uniform(1, 12)
    file.add(
        file.scene("Moon", (0, 0, -one)), file.scene("Side", (two, 0, 0)),
        file.body("A", (0, 0, 0), owner=f"{W}/Moon"), file.body("B", (0, 0, 0), owner=f"{W}/Side"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        return [near("a", run.end("A")[2], -one * end**2 / 2, 0.02), near("b", run.end("B")[0], two * end**2 / 2, 0.02)]

    return 1.0, judge


@answer
def scaled_pendulum(rng: Random, file: File) -> tuple[float, Judge]:
    """A rod below a scaled parent: sizes, mass by density and the joint are those that the scale makes of them."""
    scale = rng.choice((0.1, 0.5, 3.0, 20.0))
    length, thick = rng.uniform(0.5, 2), rng.uniform(0.05, 0.1)
    inner = File(Units("inner", file.units.meters * scale, file.units.kilograms, file.units.up), gravity=file.gravity)
    start = rng.uniform(10, 40)
    turn = about("Y", start)
    hinge = (0.3, -0.2, 1.0)
    place = np.array(hinge) - turned(turn, (0, 0, length / 2))
    # Density is by the units of the stage, lengths are those of the parent.
    density = rng.uniform(200, 2000) * file.units.meters**3 / file.units.kilograms
    rod = inner.body("Rod", place.tolist(), turn, size=(thick, thick, length), mass=None, apis=["PhysicsMassAPI"],
                     extra=[f"float physics:density = {density}"])  # fmt: skip
    joint = inner.joint("Hinge", "Revolute", "", f"{W}/Parent/Rod", pos1=(0, 0, length / 2), axis="Y")
    lines = joint.splitlines()
    outer = file.lengths(file.world(hinge))
    lines = [f"    point3f physics:localPos0 = ({outer[0]}, {outer[1]}, {outer[2]})" if "localPos0" in line else line
             for line in lines]  # fmt: skip
    file.add(block("Xform", "Parent", [
        f"double3 xformOp:scale = ({scale}, {scale}, {scale})",
        'uniform token[] xformOpOrder = ["xformOp:scale"]', rod, "\n".join(lines),
    ]))  # fmt: skip
    rate = 9.81 * (length / 2) / ((length**2 + thick**2) / 12 + length**2 / 4)
    seconds = 1.5 * 2 * math.pi / math.sqrt(rate)
    states = rk4(lambda s: np.array((s[1], -rate * math.sin(s[0]))), (start * DEGREE, 0.0), seconds)

    def judge(run: Run) -> list[Check]:
        angles = run.angle("Rod", 1) + start * DEGREE
        wanted = np.array([at(states, seconds, time)[0] for time in run.times if time <= seconds])
        return [Check("angle", float(np.abs(angles[: len(wanted)] - wanted).max()), 0, 0.05 * start * DEGREE)]

    return seconds, judge


@answer
def hull_of_a_density(rng: Random, file: File) -> tuple[float, Judge]:
    """The mass of a prism of a density is told by the frequency of its spring."""
    sides, radius, height = rng.choice((3, 5, 8, 12)), rng.uniform(0.2, 0.6), rng.uniform(0.2, 1)
    density = rng.uniform(100, 3000)
    points, faces = prism(sides, radius, height)
    mass = density * sides / 2 * radius**2 * math.sin(2 * math.pi / sides) * height
    frequency = rng.uniform(0.5, 2)
    omega = 2 * math.pi * frequency
    far = rng.uniform(0.1, 0.4)
    mesh = file.mesh("Shape", points, faces, rng.choice(("convexHull", "convexDecomposition", "boundingCube"))
                     if sides == 4 else "convexHull")  # fmt: skip
    file.gravity = (0, 0, 0)
    file.add(
        file.body("Body", (far, 0, 0), mass=None, density=density, geometry=mesh),
        file.joint("Slide", "Prismatic", "", f"{W}/Body", axis="X",
                   drives={"linear": {"stiffness": mass * omega**2, "damping": 0.0}}),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        ways = run.positions[:, run.row("Body"), 0]
        return [Check("way", float(np.abs(ways - far * np.cos(omega * run.times)).max()), 0, 0.06 * far)]

    return 2 / frequency, judge


@answer
def hangs_as_a_chain(rng: Random, file: File) -> tuple[float, Judge]:
    """Two equal bars between two posts hang where their weight says: the angle of each is given by the span."""
    length, angle = rng.uniform(0.3, 1), rng.uniform(20, 60) * DEGREE
    span = 2 * length * math.cos(angle)
    mass = rng.uniform(0.2, 20)
    low = -length * math.sin(angle)
    bars = []
    for name, end, tilt in (("A", 0.0, angle), ("B", span, -angle)):
        middle = ((end + span / 2) / 2, 0, low / 2)
        bars.append(file.body(name, middle, about("Y", tilt / DEGREE), mass=mass,
                              size=(length, 0.05, 0.05), collides=False))  # fmt: skip
    half = length / 2
    breaks = rng.choice((0.93, 1.07))
    force = mass * 9.81 * math.hypot(1.0, 0.5 / math.tan(angle))
    file.add(
        *bars,
        file.joint("Left", "Revolute", "", f"{W}/A", pos1=(-half, 0, 0), axis="Y", break_force=breaks * force),
        file.joint("Middle", "Revolute", f"{W}/A", f"{W}/B", pos0=(half, 0, 0), pos1=(-half, 0, 0), axis="Y"),
        file.joint("Right", "Revolute", f"{W}/B", "", pos0=(half, 0, 0), pos1=(span, 0, 0), axis="Y"),
    )  # fmt: skip

    def judge(run: Run) -> list[Check]:
        found = [Check("broken", float(len(run.world.broken_joints)), float(breaks < 1), 0.0)]
        if breaks > 1:
            found.append(near("low", run.end("A")[2], low / 2, 0, 0.005))
        return found

    return 1.5, judge


@answer
def slows_in_its_medium(rng: Random, file: File) -> tuple[float, Judge]:
    """Linear and angular damping of PhysX's words: exponential."""
    linear, angular = rng.uniform(0.1, 3), rng.uniform(0.1, 3)
    speed, spin = rng.uniform(1, 5), rng.uniform(1, 5)
    file.gravity = (0, 0, 0)
    words = [f"float physxRigidBody:linearDamping = {linear}", f"float physxRigidBody:angularDamping = {angular}"]
    file.add(
        file.body("Body", (0, 0, 0), velocity=(speed, 0, 0), spin=(0, 0, spin), apis=["PhysxRigidBodyAPI"], extra=words)
    )

    def judge(run: Run) -> list[Check]:
        end = run.times[-1]
        way, angle = (start / rate * (1 - math.exp(-rate * end)) for start, rate in ((speed, linear), (spin, angular)))
        return [near("way", run.end("Body")[0], way, 0.03), near("angle", run.angle("Body", 2)[-1], angle, 0.03)]

    return 2.0, judge
