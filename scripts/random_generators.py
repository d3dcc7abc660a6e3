# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what the generators make behave, at random settings of their whole range? In the preview, PhysX and Havok.

    .venv/bin/python scripts/random_generators.py [--count 66] [--seed 0] [--only KIND ...] [--engines ENGINE ...]
        [--physx PYTHON] [--havok FOLDER] [--web FOLDER] [--keep FOLDER] [--check]

Needs bpy. Each case is one construction on a floor, made by the functions of the API, exported to USD and simulated for
5 s. What stands must not move, joints must not separate by 5 mm, what is not driven must be at rest at the end, and
nothing may start inside of something else. A fact that does not hold is forgiven where `validate` names its cause for
that target: "named" is printed, with the codes. --havok: a folder node_modules with @babylonjs/havok, by the engine of
the preview; --web: the clone that `compare_havok.py` takes, which plays the glTF file of the case in Babylon.js.
With --check the exit status is 1 where a fact does not hold and nothing names why.
"""

from __future__ import annotations

import argparse
import logging
import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import engine_runs
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SECONDS, RATE = 5.0, 60
FRAMES = round(SECONDS * RATE)
ENGINES = ("preview", "physx", "havok", "web")
#: mm by which a joint may separate; m/s at rest.
HOLDS, REST = 5.0, 0.02
#: Codes of issues that name why joints give way, or something moves, by the target of an engine.
NAMES = {
    "physx": {"LightBetweenHeavy", "MassRatioHigh", "RoundOnWideBox"},
    "havok": {
        "LightBetweenHeavy", "MassRatioHigh", "LongRow", "JointsInLoop", "VelocityDriveFaster", "SoftLimitHard",
        "ArticulationLeftOut", "InertiaTimesMass",
    },
    "preview": {"LightBetweenHeavy", "MassRatioHigh"},
}  # fmt: skip


@dataclass
class Case:
    """stands: bodies, as patterns of names, that may move by so many m. rests: the bodies must be at rest at the end.

    facts: more of them, from the poses of the bodies: (name, value, least, most).
    """

    kind: str
    settings: str
    stands: Mapping[str, float] = field(default_factory=dict)
    rests: bool = True
    facts: Callable[[Mapping[str, Any]], list[tuple[str, float, float, float]]] = lambda poses: []


class Hold(NamedTuple):
    """A joint that holds two bodies at a point: their names, "" for what stands still, and the points in each."""

    name: str
    bodies: tuple[str, str]
    points: tuple[Any, Any]


# --------------------------------------------------------------------------- what is made


class Maker:
    """Objects at random sizes, in an empty scene with a floor."""

    def __init__(self, seed: int) -> None:
        import bpy

        self.random = np.random.default_rng(seed)
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene: Any = bpy.context.scene

    def update(self) -> None:
        import bpy

        bpy.context.view_layer.update()

    def floor(self) -> None:
        self.still(self.box("Floor", (0.0, 0.0, -0.5), (90.0, 90.0, 1.0)))

    def number(self, low: float, high: float) -> float:
        """Of the same share in each factor of ten."""
        return float(np.exp(self.random.uniform(math.log(low), math.log(high))))

    def share(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def count(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def add(self, name: str, data: Any, place: Sequence[float], turn: Sequence[float] = (0.0, 0.0, 0.0)) -> Any:
        import bpy

        obj: Any = bpy.data.objects.new(name, data)
        self.scene.collection.objects.link(obj)
        obj.location, obj.rotation_euler = place, turn
        bpy.context.view_layer.update()
        return obj

    def box(self, name: str, place: Sequence[float], size: Sequence[float]) -> Any:
        from usdphys_addon.authoring import generators

        return self.add(name, generators.box(name, size), place)

    def wheel(self, name: str, place: Sequence[float], radius: float, width: float) -> Any:
        from usdphys_addon.authoring import generators

        return self.add(name, generators.cylinder(name, radius, width), place, (math.pi / 2.0, 0.0, 0.0))

    def ball(self, name: str, place: Sequence[float], radius: float) -> Any:
        from usdphys_addon.authoring import generators

        return self.add(name, generators.sphere(name, radius), place)

    def still(self, obj: Any) -> Any:
        from usdphys_addon import api

        api.tag(obj, "static")
        return obj

    def moving(self, obj: Any, mass: float) -> Any:
        from usdphys_addon import api

        api.tag(obj, "dynamic")
        obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, mass
        return obj


def told(**settings: Any) -> str:
    return ", ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                     for key, value in settings.items())  # fmt: skip


def row(make: Maker, kind: str) -> Case:
    """A rope, chain or cable between two posts, at rest as it hangs."""
    from usdphys_addon import api

    span = make.number(0.3, 6.0)
    settings: dict[str, Any] = {
        "segments": make.one(0, make.count(3, 60)),
        "slack": make.share(0.0, 0.6),
        "damping": make.share(0.0, 1.0),
        "articulation": make.one(False, True),
    }
    if make.one(False, True):
        settings["mass"] = make.number(0.1, 5.0)
    height, drop = span * 1.3 + 0.3, make.share(-0.2, 0.2) * span
    posts = [make.box("Post", (x, 0.0, z), (0.05 * span,) * 3) for x, z in ((0.0, height), (span, height + drop))]
    made = api.generate.rope(posts, kind, **settings)
    names = kind.title()
    return Case(kind, told(span=span, drop=drop, **settings, bodies=len(made.objects)),
                {names: 0.1 * span if kind == "cable" else 0.03 * span})  # fmt: skip


def rope(make: Maker) -> Case:
    return row(make, "rope")


def chain(make: Maker) -> Case:
    return row(make, "chain")


def cable(make: Maker) -> Case:
    return row(make, "cable")


def crane(make: Maker) -> Case:
    """A load on a chain or rope that hangs straight down."""
    from usdphys_addon import api

    length, size = make.number(0.4, 4.0), make.number(0.1, 0.6)
    mass = make.number(0.5, 100.0)
    kind = make.one("chain", "rope")
    settings: dict[str, Any] = {"segments": make.count(3, 24), "slack": 0.0, "articulation": make.one(False, True)}
    hook = make.still(make.box("Hook", (0.0, 0.0, length + size + 1.0), (0.1, 0.1, 0.1)))
    load = make.moving(make.box("Load", (0.0, 0.0, 0.95 + size / 2.0), (size,) * 3), mass)
    make.floor()
    api.generate.rope([hook, load], kind, **settings)
    return Case("crane", told(kind=kind, length=length, load=mass, **settings), {"Load": 0.05 * length})


def bridge(make: Maker) -> Case:
    from usdphys_addon import api

    span, width = make.number(1.0, 8.0), make.share(0.3, 1.5)
    settings: dict[str, Any] = {
        "segments": make.one(0, make.count(4, 24)),
        "slack": make.share(0.0, 0.2),
        "width": min(width, span / 2.0),
        "damping": make.share(0.1, 1.0),
        "articulation": make.one(False, True),
    }
    height = 3.0 + span
    banks = [make.box("Bank", (x, 0.0, height), (0.3, 1.2 * width, 0.3)) for x in (0.0, span)]
    api.generate.rope(banks, "bridge", **settings)
    mass = make.number(1.0, 60.0)
    size = 0.25 * settings["width"]
    make.update()
    low = min(obj.location.z for obj in make.scene.objects if obj.type == "MESH" and obj.name.startswith("Bridge"))
    load = make.one(False, True)
    if load:
        make.moving(make.box("Crate", (span / 2.0, 0.0, low + size), (size,) * 3), mass)
    return Case("bridge", told(span=span, load=mass if load else 0.0, **settings), {"Bridge": 0.3 * span})


def net(make: Maker) -> Case:
    from usdphys_addon import api

    size = (make.number(0.3, 4.0),) * 2 if make.one(False, True) else (make.number(0.3, 4.0), make.number(0.3, 4.0))
    settings: dict[str, Any] = {
        "size": size,
        "knots": (make.count(2, 10), make.count(2, 10)),
        "held": make.one("corners", "edges"),
        "mass": make.number(0.1, 3.0),
    }
    step = min(side / count for side, count in zip(size, settings["knots"], strict=True))
    settings["radius"] = min(0.01, step / 5.0)
    make.scene.cursor.location = (0.0, 0.0, max(size) + 1.0)
    api.generate.net(**settings)
    return Case("net", told(**settings), rests=False)


def lift(make: Maker) -> Case:
    from usdphys_addon import api

    size, stages = make.number(0.3, 3.0), make.count(1, 6)
    gap = size * stages * make.share(0.25, 0.45)
    base = make.box("Base", (0.0, 0.0, 0.05 * size), (size, 0.6 * size, 0.1 * size))
    platform = make.box("Platform", (0.0, 0.0, 0.15 * size + gap), (size, 0.6 * size, 0.1 * size))
    make.floor()
    most = 0.8 * stages * size - gap
    rise = make.share(-0.3, 0.5) * gap
    rise = min(rise, most)
    api.generate.scissor_lift(base, platform, stages=stages, rise=rise)

    def facts(poses: Mapping[str, Any]) -> list[tuple[str, float, float, float]]:
        found = float(poses["Platform"][-1, 2] - poses["Platform"][0, 2])
        return [("rise_missing", abs(found - rise), 0.0, 0.03 * gap + 0.002)]

    return Case("lift", told(size=size, stages=stages, gap=gap, rise=rise), facts=facts)


def pulley(make: Maker) -> Case:
    from usdphys_addon import api

    radius = make.number(0.1, 0.6)
    wheel = make.wheel("Pulley", (0.0, 0.0, 10.0 * radius), radius, 0.6 * radius)
    reach = radius * 1.07
    sizes = (make.share(0.5, 1.0) * radius, make.share(0.5, 1.0) * radius)
    drop = make.share(3.0, 6.0) * radius
    loads = [make.box("Load", (x, 0.0, 10.0 * radius - drop), (size,) * 3)
             for x, size in zip((-reach, reach), sizes, strict=True)]  # fmt: skip
    make.floor()
    api.generate.pulley(wheel, (loads[0], loads[1]))
    return Case("pulley", told(radius=radius, sizes=sizes, drop=drop), rests=False)


def vehicle(make: Maker) -> Case:
    """A vehicle that stands, as its drives do not turn."""
    from usdphys_addon import api

    size, axles = make.number(0.1, 5.0), make.count(2, 4)
    radius = size * make.share(0.18, 0.22 if axles > 3 else 0.3)
    chassis = make.box("Body", (0.0, 0.0, 2.0 * radius), (2.0 * size, 0.9 * size, 0.4 * size))
    wheels = [make.wheel("Wheel", (x * size, y * size, radius), radius, 0.15 * size)
              for x in np.linspace(-0.75, 0.75, axles).tolist() for y in (-0.6, 0.6)]  # fmt: skip
    make.floor()
    settings: dict[str, Any] = {
        "frequency": make.share(1.0, 6.0),
        "ratio": make.share(0.3, 1.0),
        "driven": make.one("front", "rear", "all"),
        "shape": make.one("sphere", "cylinder"),
        "articulation": make.one(False, True),
        "drives": False,
    }
    api.generate.vehicle(chassis, wheels, **settings)
    return Case("vehicle", told(size=size, axles=axles, radius=radius, **settings), {"Body": 0.05 * size})


def car(make: Maker) -> Case:
    """A vehicle that drives, straight on."""
    from usdphys_addon import api

    size = make.number(0.2, 4.0)
    radius = size * make.share(0.2, 0.3)
    chassis = make.box("Body", (0.0, 0.0, 2.0 * radius), (2.0 * size, 0.9 * size, 0.4 * size))
    wheels = [make.wheel("Wheel", (x * size, y * size, radius), radius, 0.15 * size)
              for x in (-0.7, 0.7) for y in (-0.6, 0.6)]  # fmt: skip
    make.floor()
    settings: dict[str, Any] = {
        "driven": make.one("front", "rear", "all"),
        "shape": make.one("sphere", "cylinder"),
        "speed": make.number(0.5, 3.0) * size,
        "articulation": make.one(False, True),
    }
    api.generate.vehicle(chassis, wheels, **settings)
    speed = settings["speed"]

    def facts(poses: Mapping[str, Any]) -> list[tuple[str, float, float, float]]:
        way = poses["Body"][:, :3] - poses["Body"][0, :3]
        along = float(np.linalg.norm(way[-1, :2]))
        return [("along", along / (speed * SECONDS), 0.5, 1.05), ("aside", float(abs(way[-1, 1])) / along, 0.0, 0.03)]

    return Case("car", told(size=size, radius=radius, **settings), rests=False, facts=facts)


def wall(make: Maker) -> Case:
    from usdphys_addon import api

    kind = make.one("wall", "stack", "pyramid", "chimney")
    counts = (make.count(1, 6), make.count(1, 3), make.count(1, 6))
    half = [make.share(0.04, 0.12) for _ in range(3)]
    if kind == "chimney":
        counts, half[0] = (make.count(6, 12), 1, counts[2]), half[1] * make.share(1.2, 2.0)
    half[2] = min(half[2], half[0], half[1])
    grown = make.number(0.3, 5.0)
    half = [each * grown for each in half]
    make.floor()
    brick = make.box("Brick", (0.0, 0.0, half[2]), [2.0 * each for each in half])
    bonded = make.one(False, True)
    api.generate.wall(brick, kind, counts=counts, bonded=bonded)
    return Case("wall", told(kind=kind, counts=counts, half=[round(each, 3) for each in half], bonded=bonded),
                {"Brick": 0.01 * max(1.0, grown)})  # fmt: skip


def ragdoll(make: Maker) -> Case:
    import bpy

    from usdphys_addon import api
    from usdphys_addon.generators import samples

    make.floor()
    rig = samples.add_figure(bpy.context)
    size = make.number(0.3, 2.0)
    rig.scale = (size,) * 3
    rig.location, rig.rotation_euler = (0.0, 0.0, make.share(0.1, 1.0) * size), (make.share(-0.3, 0.3), 0.0, 0.0)
    bpy.context.view_layer.update()
    settings: dict[str, Any] = {
        "detail": make.one("low", "medium", "high"),
        "damping": make.share(0.3, 1.0),
        "articulation": make.one(False, True),
    }
    api.generate.ragdoll(rig, **settings)
    return Case("ragdoll", told(size=size, **settings))


def mechanism(make: Maker) -> Case:
    """A mechanism of two parts, of any size; the parts are up to a third larger or smaller than each other."""
    from demo_generators import PARTS

    from usdphys_addon import api

    kind, size, place, base, foot = PARTS[make.count(0, len(PARTS) - 1)]
    kind = kind.lower()
    grown = make.number(0.1, 5.0)
    size = tuple(grown * each * make.share(0.85, 1.0) for each in size)
    part = make.box("Part", [grown * each for each in place], size)
    holder = make.box("Base", [grown * each for each in foot], [grown * each for each in base])
    # Bases move with the floor below them, or stand still.
    moves = make.one(False, True) and kind not in ("door", "drawer")  # the base would topple
    make.floor()
    if moves:
        api.tag(holder, "dynamic")
    else:
        api.tag(holder, "static")
    settings: dict[str, Any] = {"articulation": make.one(False, True)}
    if kind == "turntable":
        settings["speed"] = make.share(10.0, 120.0)
    api.generate.mechanism(part, kind, holder, **settings)
    stands = {"Base": 0.01 * grown}
    if kind in ("door", "drawer", "lever", "turntable", "lid"):
        stands["Part"] = 0.02 * grown
    if kind == "button":
        stands["Part"] = 0.01 * grown

    def facts(poses: Mapping[str, Any]) -> list[tuple[str, float, float, float]]:
        if kind != "turntable":
            return []
        turns = poses["Part"][:, 3:]
        steps = 2.0 * np.arctan2(
            turns[1:, 2] * turns[:-1, 3] - turns[1:, 3] * turns[:-1, 2],
            turns[1:, 3] * turns[:-1, 3] + turns[1:, 2] * turns[:-1, 2],
        )
        turned = float(np.sum(np.remainder(steps + math.pi, 2.0 * math.pi) - math.pi))
        return [("turned", turned / (math.radians(settings["speed"]) * SECONDS), 0.9, 1.01)]

    return Case(f"mechanism {kind}", told(size=grown, moves=moves, **settings), stands, facts=facts)


KINDS: dict[str, Callable[[Maker], Case]] = {
    "rope": rope, "chain": chain, "cable": cable, "crane": crane, "bridge": bridge, "net": net, "lift": lift,
    "pulley": pulley, "vehicle": vehicle, "car": car, "wall": wall, "ragdoll": ragdoll, "mechanism": mechanism,
}  # fmt: skip


# --------------------------------------------------------------------------- how it is judged


def holds(file: Path) -> list[Hold]:
    """The joints of a USD file that hold their bodies at a point."""
    import bpy

    bpy.utils.expose_bundled_modules()
    from pxr import Usd

    return holds_of(Usd.Stage.Open(str(file)))


def holds_of(stage: Any) -> list[Hold]:
    from pxr import UsdGeom, UsdPhysics

    cache = UsdGeom.XformCache()
    found = []
    for prim in stage.Traverse():
        joint = UsdPhysics.Joint(prim)
        if not joint or not joint.GetJointEnabledAttr().Get():
            continue
        if not (prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.SphericalJoint)
                or prim.IsA(UsdPhysics.FixedJoint)) and not _holds_point(prim):  # fmt: skip
            continue
        sides = ((joint.GetBody0Rel(), joint.GetLocalPos0Attr()), (joint.GetBody1Rel(), joint.GetLocalPos1Attr()))
        names, points = [], []
        for targets, attribute in sides:
            target = next(iter(targets.GetTargets()), None)
            local, name = np.array(attribute.Get(), float), ""
            if target is not None:
                held = stage.GetPrimAtPath(target)
                world = np.array(cache.GetLocalToWorldTransform(held)).T
                if held.HasAPI(UsdPhysics.RigidBodyAPI):
                    name = held.GetName()
                    local = local * np.linalg.norm(world[:3, :3], axis=0)
                else:
                    local = world[:3, :3] @ local + world[:3, 3]
            names.append(name)
            points.append(local)
        found.append(Hold(prim.GetName(), (names[0], names[1]), (points[0], points[1])))
    return found


def _holds_point(prim: Any) -> bool:
    from pxr import UsdPhysics

    for dof in ("transX", "transY", "transZ"):
        limit = UsdPhysics.LimitAPI(prim, dof)
        low, high = limit.GetLowAttr().Get(), limit.GetHighAttr().Get()
        if low is None or high is None or not low > high:
            return False
    return True


def turned(turns: Any, vector: Any) -> Any:
    """A vector (3,) turned by quaternions (n, 4), x, y, z, w."""
    axes = turns[:, :3]
    return vector + 2.0 * np.cross(axes, np.cross(axes, vector[None]) + turns[:, 3:] * vector[None])


def gaps(poses: Mapping[str, Any], joints: Sequence[Hold]) -> dict[str, Any]:
    """mm, by joint, (frames + 1,)."""
    found = {}
    for joint in joints:
        ends = []
        for name, point in zip(joint.bodies, joint.points, strict=True):
            if not name:
                ends.append(point[None])
            elif name in poses:
                ends.append(poses[name][:, :3] + turned(poses[name][:, 3:], point))
        if len(ends) == 2:
            found[joint.name] = 1000.0 * np.linalg.norm(ends[0] - ends[1], axis=1)
    return found


def judged(case: Case, poses: Mapping[str, Any], joints: Sequence[Hold]) -> list[tuple[str, float, float, float]]:
    """(name, value, least, most) of what a run says."""
    bad = [name for name, rows in poses.items() if not np.isfinite(rows).all()]
    if bad:
        return [("not_finite", float(len(bad)), 0.0, 0.0)]
    apart = gaps(poses, joints)
    found = [("separation_mm", max((float(gap.max()) for gap in apart.values()), default=0.0), 0.0, HOLDS)]
    if case.rests:
        speed = max(float(np.linalg.norm(rows[-1, :3] - rows[-31, :3])) * 2.0 for rows in poses.values())
        found.append(("speed", speed, 0.0, REST))
    for names, most in case.stands.items():
        moved = [float(np.linalg.norm(rows[:, :3] - rows[0, :3], axis=1).max())
                 for name, rows in poses.items() if name.startswith(names)]  # fmt: skip
        # What stands still has no poses.
        found.append((f"{names}_moved", max(moved, default=0.0), 0.0, most))
    return found + case.facts(poses)


def simulated(file: Path, engine: str) -> Mapping[str, Any] | str:
    """Poses (frames + 1, 7) by name of the preview or of Havok, or the sentence with which they refuse."""
    from pxr import Usd

    from usdphys_addon.proving import runs
    from usdphys_addon.usd import read

    stage = Usd.Stage.Open(str(file))
    motion = runs.simulated(read.read_stage(stage), SECONDS, engine=engine)
    if motion.problem:
        return motion.problem
    poses = np.concatenate((motion.positions, motion.rotations[:, :, [1, 2, 3, 0]]), axis=2)
    return {path.rsplit("/", 1)[-1]: poses[:, row] for row, path in enumerate(motion.paths)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=66)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=sorted(KINDS), default=list(KINDS))
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=[])
    parser.add_argument("--havok", default="", metavar="FOLDER")
    parser.add_argument("--web", default="", metavar="FOLDER")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--check", action="store_true")
    engine_runs.add_options(parser, "physx")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(options, (options.keep or Path(folder)).absolute())


def run(options: argparse.Namespace, folder: Path) -> int:
    from usdphys_addon import api
    from usdphys_addon.simulation.engine import PYTHONS

    folder.mkdir(parents=True, exist_ok=True)
    PYTHONS["havok"] = options.havok
    # Blender's exporter of glTF tells of every mesh.
    logging.disable(logging.INFO)
    engines = options.engines or [
        engine for engine in ENGINES if engine == "preview" or getattr(options, engine)
    ]  # fmt: skip
    cases: list[tuple[int, Case, Path, set[str], set[str], int]] = []
    failed = 0
    for number in range(options.seed, options.seed + options.count):
        kind = options.only[number % len(options.only)]
        case = KINDS[kind](Maker(number))
        file = folder / f"{number}_{kind}.usda"
        api.export(file)
        if "web" in engines:
            api.export(file.with_suffix(".glb"))
        issues = {target: api.validate_file(file, target) for target in ("physx", "havok")}
        inside = sum(issue.code == "BodiesOverlap" for issue in issues["physx"])
        cases.append((number, case, file, *({issue.code for issue in found if issue.severity != "info"}
                                            for found in issues.values()), inside))  # fmt: skip
    physx = {}
    if "physx" in engines:
        files = [file for _, _, file, *_ in cases]
        found = engine_runs.poses("physx", options.physx, files, FRAMES, 1 / RATE, quiet=True)
        physx = dict(zip(files, found, strict=True))
    web = None
    if "web" in engines:
        import compare_havok

        web = compare_havok.bundled(Path(options.web), folder)
    for number, case, file, physx_codes, havok_codes, inside in cases:
        joints = holds(file)
        print(f"{number} {case.kind}: {case.settings}", flush=True)
        if inside:
            failed += 1
            print(f"    {inside} pairs start inside of each other", flush=True)
        for engine in engines:
            began = time.perf_counter()
            if engine == "physx":
                poses: Any = physx[file] or "refused"
            elif engine == "web":
                poses = played(web, file)
            else:
                poses = simulated(file, engine)
            took = time.perf_counter() - began
            if isinstance(poses, str):
                failed += 1
                print(f"  {engine:8} REFUSED {poses}", flush=True)
                continue
            facts = judged(case, poses, joints)
            missed = [f"{name} {value:.3g} (not in {low:.3g} .. {high:.3g})"
                      for name, value, low, high in facts if not low <= value <= high]  # fmt: skip
            target = "havok" if engine == "web" else engine
            known = (physx_codes if engine in ("physx", "preview") else havok_codes) & NAMES[target]
            word = "ok" if not missed else f"named by {', '.join(sorted(known))}:" if known else "BAD"
            failed += bool(missed) and not known
            fine = " ".join(f"{name} {value:.3g}" for name, value, *_ in facts)
            print(f"  {engine:8} {word} {'; '.join(missed) or fine} [{took:.1f} s]", flush=True)
    print(f"{failed} of {len(cases)} cases times {len(engines)} engines are bad")
    return 1 if failed and options.check else 0


def played(program: Any, file: Path) -> Mapping[str, Any] | str:
    """Poses of the glTF file of a case in Babylon.js with Havok, with Z up."""
    import compare_havok

    glb = file.with_suffix(".glb")
    run = compare_havok.poses_in_havok(program, glb, file.parent, FRAMES)
    if isinstance(run, str):
        return run
    names = compare_havok.node_names(glb)
    found = {}
    for number in run["moving"]:
        rows = np.array(run["poses"][str(number)])
        # Turned about X by 90 degrees, from Y up to Z up; the bodies themselves have Y up in their frames, too.
        places = np.stack((rows[:, 0], -rows[:, 2], rows[:, 1]), axis=1)
        turns = np.stack((rows[:, 3], -rows[:, 5], rows[:, 4], rows[:, 6]), axis=1)
        found["".join(c if c.isalnum() else "_" for c in names[number])] = np.concatenate((places, turns), axis=1)
    return found


if __name__ == "__main__":
    sys.exit(main())
