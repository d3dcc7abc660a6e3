# SPDX-License-Identifier: GPL-3.0-or-later
"""Do servos and motors keep their promises, in the preview and in PhysX?

    .venv/bin/python scripts/servos.py [--physx PYTHON] [--only TEXT] [--keep FOLDER] [--check]

Makes doors, closers, lids, arms with a payload, wheels, drawers, lifts and robot arms by the operators that a user
clicks, in several sizes, densities and units. Each is exported twice: holding still, and going to a target. The
preview's world and PhysX (its Python: --physx or PHYSX_PYTHON; else left out) simulate both files at 60 steps a second.

Prints `name value unit`: NAME_ENGINE_sag is how far the farthest point is from where it should be at rest, as a part of
the reach (of a motor: the error of its velocity), NAME_ENGINE_settling the settling time as a part of the Response, by
which the operator says that it comes sooner. Bounds: 1 % (velocities: 1.2 %), and within 20 % or one step. Where the
operator says that PhysX will not keep a bound, or by which numbers it misses it, the bound is what it says. With
--check, exit status 1 where one is missed.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import bench
import engine_runs
import numpy as np

STEP = 1 / 60
#: The part of a way that is left when a motion has settled.
LEFT = 0.02
MOST_SAG, MOST_ERROR = 0.01, 0.012


@dataclass
class Task:
    """build: makes parts and joints, with density and unit of length; returns the joints to drive, and for each the
    parts that it moves, first its own. speed: of a motor, rad/s or reaches a second; 0: it holds a position.
    size: m. moved: number of the joint that goes to its target. makes_motors: False where `build` has made servos."""

    build: Callable[[Task], list[tuple[Any, list[Any]]]]
    size: float = 1.0
    density: float = 1000.0
    response: float = 0.5
    speed: float = 0.0
    moved: int = 0
    articulated: bool = False
    #: In centimetres with Y up.
    centimetres: bool = False
    makes_motors: bool = True

    @property
    def unit(self) -> float:
        """The size in Blender units."""
        return self.size / (0.01 if self.centimetres else 1.0)


@dataclass
class Said:
    """What the operators said. settling: s. slowed: part of a velocity that PhysX takes. physx: its sag and settling;
    None where nothing was said about them."""

    settling: float
    slowed: float
    physx: tuple[float, float] | None


@dataclass
class Watch:
    """What is measured, in metres with Z up. own, parent: names of the two bodies of the joint that moves; parent is
    empty for one that stands. tip: the body of the point (3,). direction (3,): of the joint, through `place` (3,)."""

    own: str
    parent: str
    tip: str
    point: Any
    place: Any
    direction: Any
    is_angular: bool
    reach: float
    target: float


@dataclass
class Written:
    still: Path
    going: Path
    watch: Watch
    said: Said
    figures: dict[str, float] = field(default_factory=dict)


# --------------------------------------------------------------------------- parts and clicks


def box(task: Task, name: str, half: Sequence[float], place: Sequence[float]) -> Any:
    """A box; lengths are parts of the task's size."""
    from vendor_scenes import solid

    size, at = ([2.0 * task.unit * part for part in half], [task.unit * part for part in place])
    made = solid(name, at, size, moves=False)
    made.usdphys.colliders.clear()
    return made


def select(*objects: Any) -> None:
    """The last one is active."""
    import bpy

    bpy.context.view_layer.update()
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def click(operator: str, **options: Any) -> None:
    import bpy

    if getattr(bpy.ops.usdphys, operator)(**options) != {"FINISHED"}:
        raise RuntimeError(f"{operator} did nothing")


def joined(task: Task, kind: str, *objects: Any, at: Sequence[float] = (0, 0, 0), **options: Any) -> Any:
    """The joint that *Add Joint* makes: of an object to the world, or to the last one. at: of the 3D cursor."""
    import bpy

    before = set(bpy.context.scene.objects)
    bpy.context.scene.cursor.location = [task.unit * part for part in at]
    select(*objects)
    click("joint_add", type=kind, **options)
    (made,) = set(bpy.context.scene.objects) - before
    weigh(task, objects[0])
    return made


def weigh(task: Task, *objects: Any) -> None:
    for obj in objects:
        obj.usdphys.mass.is_applied = True
        obj.usdphys.mass.density = task.density


def door(task: Task) -> list[tuple[Any, list[Any]]]:
    post = box(task, "Post", (0.05, 0.05, 1.0), (-0.06, 0, 1.2))
    leaf = box(task, "Leaf", (0.45, 0.02, 1.0), (0.45, 0, 1.2))
    return [(joined(task, "REVOLUTE", leaf, post), [leaf])]


def closer(task: Task) -> list[tuple[Any, list[Any]]]:
    """The door stops at its limit, which is its target."""
    (hinge, moved), *_ = door(task)
    hinge.usdphys.joint.revolute.lower_limit, hinge.usdphys.joint.revolute.upper_limit = -0.6, 0.6
    return [(hinge, moved)]


def lid(task: Task) -> list[tuple[Any, list[Any]]]:
    chest = box(task, "Chest", (0.5, 0.3, 0.25), (0, 0, 0.25))
    top = box(task, "Top", (0.5, 0.3, 0.02), (0, 0, 0.52))
    return [(joined(task, "REVOLUTE", top, chest), [top])]


def bar(task: Task) -> list[tuple[Any, list[Any]]]:
    made = box(task, "Bar", (0.5, 0.05, 0.05), (0.5, 0, 2))
    return [(joined(task, "REVOLUTE", made, at=(0, 0, 2), place="CURSOR", axis="WORLD_Y"), [made])]


def payload(task: Task) -> list[tuple[Any, list[Any]]]:
    """The weight at the tip is 13 times the bar."""
    (hinge, (made,)), *_ = bar(task)
    weight = box(task, "Weight", (0.05, 0.05, 0.05), (1.06, 0, 2))
    select(weight, made)
    click("weld")
    weigh(task, weight)
    weight.usdphys.mass.density = 130.0 * task.density
    return [(hinge, [made, weight])]


def wheel(task: Task) -> list[tuple[Any, list[Any]]]:
    import bpy

    bpy.ops.mesh.primitive_cylinder_add(
        radius=0.5 * task.unit, depth=0.2 * task.unit, rotation=(math.pi / 2, 0, 0), location=(0, 0, 2 * task.unit)
    )
    made = bpy.context.object
    made.name = "Wheel"
    return [(joined(task, "REVOLUTE", made, at=(0, 0, 2), place="CURSOR", axis="WORLD_Y"), [made])]


def drawer(task: Task) -> list[tuple[Any, list[Any]]]:
    case = box(task, "Case", (0.3, 0.6, 0.02), (0, 0, 1))
    made = box(task, "Drawer", (0.25, 0.5, 0.1), (0, 0, 1.15))
    return [(joined(task, "PRISMATIC", made, case), [made])]


def lift(task: Task) -> list[tuple[Any, list[Any]]]:
    made = box(task, "Lift", (0.5, 0.5, 0.25), (0, 0, 2))
    return [(joined(task, "PRISMATIC", made, at=(0, 0, 2), place="CURSOR", axis="WORLD_Z"), [made])]


def robot(count: int, *, lighter: float = 1.0) -> Callable[[Task], list[tuple[Any, list[Any]]]]:
    """An arm of `count` links. lighter: length of a link to that of the one before."""

    def build(task: Task) -> list[tuple[Any, list[Any]]]:
        import bpy

        base = box(task, "Base", (0.2, 0.2, 0.1), (0, 0, 0.8))
        links, start, length = [], 0.25, 0.9
        for number in range(count):
            half = 0.45 * length
            links.append(box(task, f"Link{number}", (half, 0.09 * length, 0.09 * length), (start + half, 0, 0.9)))
            start, length = start + length, length * lighter
        select(*links, base)
        for part in (base, *links):
            weigh(task, part)
        click("robot_arm", response=task.response)
        found = {obj.usdphys.joint.body1: obj for obj in bpy.context.scene.objects if obj.usdphys.joint.is_applied}
        return [(found[link], links[number:]) for number, link in enumerate(links)]

    return build


#: What is driven, and whether a motor of an articulation holds it.
HELD = {"door": (door, False), "closer": (closer, False), "drawer": (drawer, False), "lid": (lid, True),
        "payload": (payload, True), "lift": (lift, True)}  # fmt: skip


def held(names: str, word: str, **options: Any) -> Iterator[tuple[str, Task]]:
    for name in names.split():
        build, articulated = HELD[name]
        yield f"{name}_{word}", Task(build, articulated=articulated, **options)


def arm(name: str, count: int, *, lighter: float = 1.0, **options: Any) -> tuple[str, Task]:
    return f"arm{count}_{name}", Task(robot(count, lighter=lighter), makes_motors=False, **{"response": 0.1, **options})


def tasks() -> Iterator[tuple[str, Task]]:
    """Every task, and each in the sizes, densities, units and responses that could change it."""
    for size in (0.05, 1.0, 20.0):
        yield from held(" ".join(HELD), f"{size:g}m", size=size)
        for name in ("lid", "payload", "lift"):
            yield f"{name}_{size:g}m_free", Task(HELD[name][0], size)
        yield f"wheel_{size:g}m", Task(wheel, size, speed=6.0)
        yield f"mixer_{size:g}m", Task(bar, size, speed=3.0, articulated=True)
        yield f"belt_{size:g}m", Task(drawer, size, speed=0.5)
        for count in (2, 4, 6):
            for moved in {0, count - 1}:
                yield arm(f"{size:g}m_joint{moved + 1}", count, size=size, moved=moved)
        yield arm(f"{size:g}m_half", 6, size=size, response=0.5)
    for density in (20.0, 7800.0):
        yield from held("door lid payload lift", f"{density:g}kg", density=density)
        yield arm(f"{density:g}kg", 4, density=density)
    for response in (0.1, 2.0):
        yield from held("door closer lid payload drawer", f"{response:g}s", response=response)
        yield f"wheel_{response:g}s", Task(wheel, response=response, speed=6.0)
    yield arm("2s", 4, response=2.0)
    yield arm("lighter", 6, lighter=0.8, response=0.25)
    yield from held("door drawer lid payload lift", "cm", centimetres=True)
    yield "wheel_cm", Task(wheel, centimetres=True, speed=6.0)
    yield arm("cm", 4, centimetres=True)


# --------------------------------------------------------------------------- export


def write(name: str, task: Task, folder: Path) -> Written:
    """Make a task by clicks and export it, still and going."""
    import bpy

    edits = importlib.import_module("usdphys_ext.usdphys_addon.authoring.joint_edits")
    usd_export = importlib.import_module("usdphys_ext.usdphys_addon.exchange.usd_export")
    units = importlib.import_module("usdphys_ext.usdphys_addon.core.units")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if task.centimetres:
        bpy.context.scene.unit_settings.scale_length = 0.01
        stage = bpy.context.scene.usdphys.stage
        stage.meters_per_unit, stage.up_axis = 0.01, "Y"
    said: list[Any] = []

    def heard(name: str, tell: Callable[[Any, dict[str, Any]], Any]) -> Any:
        """A function of `edits`, of whose answer is told."""
        original = getattr(edits, name)

        def call(*arguments: Any, **options: Any) -> Any:
            made = original(*arguments, **options)
            said.extend(tell(made, options))
            return made

        return patch.object(edits, name, call)

    # Motors that hold are servos.
    with (
        heard("add_servos", lambda made, _: [made]),
        heard("add_motors", lambda made, options: [] if options["holds"] else [edits.Servos(*made, [])]),
    ):
        found = task.build(task)
        if task.makes_motors:
            select(*(joint for joint, _ in found))
            aim = {"speed": task.speed, "slide_speed": task.speed * task.unit} if task.speed else {}
            click("joint_motor", holds=not task.speed, response=task.response, articulation=task.articulated, **aim)
    bpy.context.view_layer.update()
    watch = watched(task, found)
    options = usd_export.ExportOptions(
        units=units.StageUnits(0.01, 1.0, "Y") if task.centimetres else units.StageUnits()
    )
    files = [folder / f"{name}-{word}.usda" for word in ("still", "going")]
    usd_export.export_usd(bpy.context, files[0], options)
    if not task.speed:
        joint = found[task.moved][0].usdphys.joint
        drive = joint.drives.angular if watch.is_angular else joint.drives.linear
        drive.target_position = watch.target / (1.0 if watch.is_angular else task.size / task.unit)
    usd_export.export_usd(bpy.context, files[1], options)
    made = said[-1]
    motion = max((one.motion for one in made.outlooks), default=None)
    loaded = [motor for motor in made.motors if motor.sag]
    told = Said(
        max(motor.settling for motor in made.motors), max(motor.slowed for motor in made.motors),
        (motion.sag, motion.settling) if motion is not None
        else (math.inf, math.inf) if loaded and not task.speed and not all(one.in_articulation for one in loaded)
        else None,
    )  # fmt: skip
    return Written(*files, watch, told)


def watched(task: Task, found: list[tuple[Any, list[Any]]]) -> Watch:
    joint, moved = found[task.moved]
    meters = task.size / task.unit
    group = joint.usdphys.joint
    matrix = np.array(joint.matrix_world)
    is_angular = group.type == "REVOLUTE"
    direction = matrix[:3, "XYZ".index(group.axis)] / np.linalg.norm(matrix[:3, "XYZ".index(group.axis)])
    first, parts = np.array(found[0][0].matrix_world)[:3, 3], found[0][1]
    corners = [
        (part, np.array(part.matrix_world)[:3, :3] @ np.array(corner) + np.array(part.location))
        for part in parts for corner in part.bound_box
    ]  # fmt: skip
    if is_angular:
        axis = direction if not task.moved else np.array(found[0][0].matrix_world)[:3, 1]
        away = [np.linalg.norm(np.cross(point - first, axis)) for _, point in corners]
        reach = max(away)
        tip, point = corners[int(np.argmax(away))]
    else:
        along = [float(point @ direction) for _, point in corners]
        reach = max(along) - min(along)
        tip, point = corners[0]
    target = 0.6 if is_angular else 0.4 * reach * meters
    # Up, where there is a choice.
    turned = np.cross(direction, np.array(moved[-1].location) - matrix[:3, 3]) if is_angular else direction
    if turned[2] < -1e-6:
        target = -target
    if task.speed:
        target = task.speed * (1.0 if is_angular else task.size)
    parent = found[task.moved - 1][1][0].name if task.moved else ""
    return Watch(
        moved[0].name, parent, tip.name, point * meters, matrix[:3, 3] * meters, direction, is_angular, reach * meters,
        target,
    )  # fmt: skip


# --------------------------------------------------------------------------- simulation


def steps_of(task: Task) -> int:
    return round((max(2.0, 4.0 * task.response)) / STEP)


def in_preview(file: Path, steps: int) -> dict[str, tuple[Any, Any]]:
    """(positions (f, 3) in metres, matrices (f, 3, 3)) of bodies by name, Z up."""
    usd_read = importlib.import_module("usdphys_ext.usdphys_addon.usd.read")
    world_module = importlib.import_module("usdphys_ext.usdphys_addon.simulation.world")
    record = importlib.import_module("usdphys_ext.usdphys_addon.simulation.record")
    made = record.record(world_module.World(usd_read.read_stage(usd_read.open_stage(file)), time_step=STEP), steps)
    return {
        path.rpartition("/")[2]: (made.matrices[:, at, :3, 3], made.matrices[:, at, :3, :3])
        for at, path in enumerate(made.paths)
    }


def in_physx(file: Path, poses: dict[str, Any] | None) -> dict[str, tuple[Any, Any]]:
    usd_read = importlib.import_module("usdphys_ext.usdphys_addon.usd.read")
    units = usd_read.stage_units(usd_read.open_stage(file))
    turn = np.asarray(units.to_z_up)
    return {
        name: (rows[:, :3] @ turn.T * units.meters_per_unit, turn @ matrices(rows[:, 3:]) @ turn.T)
        for name, rows in (poses or {}).items()
    }


def matrices(turns: Any) -> Any:
    """Of quaternions (f, 4): x, y, z, w."""
    x, y, z, w = turns.T
    return np.moveaxis(
        np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]), -1, 0,
    )  # fmt: skip


# --------------------------------------------------------------------------- figures


def measure(task: Task, watch: Watch, still: Any, going: Any) -> tuple[float, float]:
    """(sag as a part of the reach, or error of the velocity; settling time as a part of the Response)."""
    if watch.own not in going or watch.tip not in still:
        return math.nan, math.nan
    way = coordinate(watch, going)
    if task.speed:
        rate = np.diff(way) / STEP
        last = rate[-round(1.0 / STEP) :]
        error = float(np.abs(last / watch.target - 1.0).max())
        # A velocity that is damped settles below its target.
        return error, settled(rate, float(last.mean()), 0.0, 0.5) / task.response
    places, turns = still[watch.tip]
    points = places + (turns @ turns[0].T) @ (watch.point - places[0])
    rest = points[-round(0.5 / STEP) :] - points[0]
    sag = float(np.linalg.norm(rest, axis=1).max()) / watch.reach
    lever = 1.0 if watch.is_angular else 1.0 / watch.reach
    sag = max(sag, abs(float(way[-1]) - watch.target) * lever)
    return sag, settled(way, float(way[-1]), 0.0, 0.0) / task.response


def coordinate(watch: Watch, poses: Any) -> Any:
    """Angle (rad) or way (m) of the joint that moves (f,)."""
    places, turns = poses[watch.own]
    _, parent_turns = poses.get(watch.parent, (places, np.broadcast_to(np.eye(3), turns.shape)))
    if not watch.is_angular:
        return (places - places[0]) @ watch.direction
    own = np.swapaxes(parent_turns @ parent_turns[0].T, 1, 2) @ (turns @ turns[0].T)
    across = np.linalg.svd(watch.direction[None, :])[2][1]
    other = np.cross(watch.direction, across)
    moved = own @ across
    return np.unwrap(np.arctan2(moved @ other, moved @ across))


def settled(values: Any, end: float, start: float, offset: float) -> float:
    """s, after which values at steps stay within LEFT of the way to the end. offset: steps to the first value."""
    if end == start:
        return math.inf
    left = np.abs(np.asarray(values) - end) / abs(end - start)
    beyond = np.flatnonzero(~(left <= LEFT))
    if not len(beyond):
        return 0.0
    at = int(beyond[-1])
    if at + 1 >= len(left):
        return math.inf
    return STEP * (at + 1 + offset)


def bounds(task: Task, written: Written, engine: str) -> tuple[float, float, float]:
    """(largest sag, least and largest settling time as parts of the Response)."""
    said = written.said
    sag = MOST_ERROR if task.speed else MOST_SAG
    slack = max(0.2, STEP / task.response)
    least, most = said.settling / task.response - slack, 1.0 + slack
    if engine == "physx" and said.slowed > 0.01:
        sag += 1.1 * said.slowed
    if engine == "physx" and said.physx is not None:
        # What the operator says in numbers is true to a seventh; where it says only that it needs an articulation,
        # nothing is promised.
        sag = max(sag, 1.15 * said.physx[0])
        most = max(most, 1.2 * said.physx[1] / task.response)
        least = min(least, said.physx[1] / task.response - slack)
    return sag, least, most


def main() -> int:
    parser = bench.parser(__doc__)
    engine_runs.add_options(parser, "physx")
    parser.add_argument("--only", default="", help="only tasks with this in their name")
    parser.add_argument("--keep", type=Path, help="keep the files in this folder")
    options = parser.parse_args()
    bench.load_extension().register()
    figures: bench.Figures = {}
    most, least = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        chosen = {name: task for name, task in tasks() if options.only in name}
        written = {name: write(name, task, kept) for name, task in chosen.items()}
        pairs = {name: (one.still, one.going) for name, one in written.items()}
        found: list[Any] = []
        if options.physx:
            files = [file for pair in pairs.values() for file in pair]
            steps = [steps_of(task) for task in chosen.values() for _ in range(2)]
            found = engine_runs.poses("physx", options.physx, files, steps, STEP)
        for row, (name, task) in enumerate(chosen.items()):
            one = written[name]
            engines = {"preview": [in_preview(file, steps_of(task)) for file in pairs[name]]}
            if options.physx:
                engines["physx"] = list(map(in_physx, pairs[name], found[2 * row : 2 * row + 2]))
            for engine, poses in engines.items():
                sag, settling = measure(task, one.watch, *poses)
                row = f"{name}_{engine}"
                # What is not simulated at all misses its bound.
                figures[f"{row}_sag"] = (100.0 * np.nan_to_num(sag, nan=np.inf), "%")
                figures[f"{row}_settling"] = (np.nan_to_num(settling, nan=np.inf), "of the Response")
                high, first, last = bounds(task, one, engine)
                most |= {f"{row}_sag": 100.0 * high, f"{row}_settling": last}
                least[f"{row}_settling"] = first
    return bench.report(figures, most, least, check=options.check)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # bpy may hang while Python ends
