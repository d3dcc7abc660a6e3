# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview against Blender's own rigid bodies: time per frame of a pile of boxes, poses in Blender included.

    .venv/bin/python scripts/bench_preview.py [--check] [--large]

Both simulate a sixtieth of a second per frame, from the same start, in one run. The limit is what nobody can save: the
steps of the solver with the same settings, setting as many transforms in Blender, and one update of the view layer.
`build_against_engine` is the least time to build the world from a model over that of the solver to make equal bodies,
in many turns, each of which takes all in another order; `_median`: the median over the turns of the same in one.
`floor_against_engine` is that of the least code, for these boxes alone, that makes the same world: it compares what the
model says of each body and its collider, takes their poses, adds ready bodies of the solver, keeps handles, weights
and rows by path, and takes the snapshot that a reset needs. `turned`: of boxes of which no two are turned alike.
`breakable` is the time of a step with breakable joints over one with others; `ragdolls_10`, ms, that of ten ragdolls in
articulations that fall on a floor, and `ragdolls_with_armatures` that over the same without armatures. Prints `name
value unit` per figure; with --check, exit status 1 where a bound is not met. --large adds 10,000 boxes, for the preview
alone.
"""

from __future__ import annotations

import gc
import time
from itertools import count, repeat
from operator import attrgetter, itemgetter
from typing import Any

import bench

MOST = {
    "build_1000": 500.0, "build_against_engine_1000": 1.5, "build_against_engine_10000": 1.6, "build_growth": 12.0,
    "turned_build_against_engine_1000": 1.8, "breakable_1000": 2.2, "ragdolls_with_armatures": 1.5,
    "frame_against_limit_1000": 1.4, "frame_against_limit_5000": 1.4,
}  # fmt: skip
#: How much faster than Blender's rigid bodies a frame should be. Where the limit by itself is not, by LIMIT_PART times,
#: a frame that takes no longer than so many times the limit is enough.
ASKED = {"faster_than_defaults": 14.0, "faster_than_4_substeps": 7.0}
LIMIT_PART = 1.4
#: Blender's default range; here four seconds, in which the pile comes to rest.
FRAMES = 249
#: With 5,000 boxes Blender takes a minute and a half.
SIZES = (200, 1_000, 5_000)
#: Turns of builds, which take milliseconds, by number of bodies. build_growth: the last by the first.
TURNS = {1_000: 60, 10_000: 15}


def build(number: int, *, own: bool, substeps: int = 0) -> None:
    """Loose layers of boxes above a floor; with our physics, or with Blender's."""
    scene = bench.empty().scene
    scene.render.fps = 60
    scene.frame_end = FRAMES + 2
    mesh = bench.box("Box")
    floor = bench.placed("Floor", mesh, (0, 0, -0.5))
    floor.scale = (200, 200, 1)
    side = max(4, round((number / 4) ** 0.5))
    make, boxes = bench.body if own else bench.placed, []
    for index in range(number):
        layer, place = divmod(index, side * side)
        at = 1.2 * (place % side) + 0.1 * layer, 1.2 * (place // side) + 0.07 * layer, 0.6 + 1.2 * layer
        boxes.append(make(f"Box {index:05d}", mesh, at))
    if own:
        floor.usdphys.colliders.add()
    else:
        bench.rigid_bodies(floor, boxes, FRAMES + 2, substeps=substeps)
    scene.view_layers[0].update()


def preview(number: int, frames: int = FRAMES) -> tuple[float, float]:
    """(ms to build the session, ms per frame)."""
    import bpy
    from usdphys_ext.usdphys_addon.playback import guard as preview_guard

    build(number, own=True)
    start = time.perf_counter()
    session = preview_guard.start(bpy.context)
    built = time.perf_counter()
    for _ in range(frames):
        session.step_once(bpy.context)
    end = time.perf_counter()
    highest = max(obj.matrix_world.translation.z for obj in bpy.data.objects)
    if not 0 < highest < 10 * number:
        raise RuntimeError(f"the pile is {highest} high: this was no simulation")
    preview_guard.stop()
    return (built - start) * 1e3, (end - built) / frames * 1e3


def limit(number: int, frames: int = FRAMES) -> float:
    """Ms per frame of what nobody can save."""
    import bpy
    import numpy as np
    from usdphys_ext.usdphys_addon.playback import guard

    build(number, own=True)
    session = guard.start(bpy.context)
    world, objects, spent = session.world, bpy.data.objects, 0.0
    boxes = {session.shown.names[row]: row for row in range(len(world.paths))}
    rows = [boxes.get(obj.name, -1) for obj in objects]
    locations, quaternions = np.zeros((len(rows), 3), np.float32), np.zeros((len(rows), 4), np.float32)
    objects.foreach_get("location", locations.ravel())
    (space,) = world.spaces[0].spaces
    for _ in range(frames):
        start = time.perf_counter()
        for _ in range(space.substeps):
            space.physics.step()
        stepped = time.perf_counter()
        awake = space.read_poses(world.positions, world.rotations, everything=False)
        moved = [row >= 0 and bool(awake[row]) for row in rows]
        there = [place for place, row in enumerate(rows) if row >= 0]
        chosen = [rows[place] for place in there]
        locations[there], quaternions[there] = world.positions[chosen], world.rotations[chosen]
        set_ = time.perf_counter()
        objects.foreach_set("location", locations.ravel())
        objects.foreach_set("rotation_quaternion", quaternions.ravel())
        for obj, is_moved in zip(objects, moved, strict=True):
            if is_moved:
                obj.update_tag(refresh={"OBJECT"})
        bpy.context.view_layer.update()
        spent += time.perf_counter() - set_ + stepped - start
    guard.stop()
    return spent / frames * 1e3


def builds(number: int, turns: int, *, turned: bool = False) -> dict[str, float]:
    """What it takes to build a world of boxes from a model, as parts of the CPU time in which the solver makes as many.

    `build`: ours, least time by least time. `build_median`: the median of the same in each turn. `floor`,
    `floor_median`: of what no build from the model can do without. turned: each box is turned in a way of its own.
    """
    import bpy
    import numpy as np
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.simulation.world import World

    build(number, own=True)
    angles = np.random.default_rng(1).uniform(-3.0, 3.0, (number, 3)) if turned else np.zeros((0, 3))
    for obj, way in zip(bpy.data.objects, angles.tolist(), strict=False):
        if obj.name != "Floor":
            obj.rotation_euler = way
    bpy.context.view_layer.update()
    model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    makers = [lambda: World(model), lambda: make_boxes(number, turned=turned), lambda: floor(model)]
    spent = np.zeros((turns, len(makers)))
    for turn in range(turns):
        gc.collect()
        gc.disable()
        # Kept: what is made, and not what it takes to delete it. Each comes first in its turn, which is the slowest.
        made = []
        for place in range(len(makers)):
            chosen = (turn + place) % len(makers)
            start = time.process_time()
            made.append(makers[chosen]())
            spent[turn, chosen] = time.process_time() - start
        made.clear()
        gc.enable()
    least, each = spent.min(axis=0), np.median(spent / spent[:, 1:2], axis=0)
    return {
        "ms": 1e3 * float(least[0]), "build": float(least[0] / least[1]), "build_median": float(each[0]),
        "floor": float(least[2] / least[1]), "floor_median": float(each[2]),
    }  # fmt: skip


def make_boxes(number: int, *, turned: bool) -> Any:
    """The solver alone. Each box has a size of its own, as in our worlds: boxes that lie flush need it."""
    import rapier3d

    physics = rapier3d.PhysicsWorld((0.0, 0.0, -9.81))
    straight = rapier3d.Rotation3(1.0, 0.0, 0.0, 0.0)
    weight = rapier3d.MassProperties((0.0, 0.0, 0.0), 1000.0, (166.7,) * 3, straight)
    for index in range(number):
        half = 0.5 - 1e-9 * index
        shape = rapier3d.SharedShape.cuboid(half, half, half)
        turn = rapier3d.Rotation3(0.8, 0.0, 0.6, 0.0) if turned else straight
        place = rapier3d.Isometry3((1.2 * index, 0.0, 0.6), turn)
        body = rapier3d.RigidBody.dynamic().position(place).additional_mass_properties(weight)
        physics.add_body(body, [rapier3d.Collider.new(shape).density(0.0).friction(0.5).restitution(0.0)])
    return physics


def floor(model: Any) -> Any:
    """The world of `build`, with nothing that other scenes need: nested or disabled bodies, several colliders, joints,
    filters, masses, statics, notices, several scenes. By columns, which takes less than prim by prim.
    """
    import numpy as np
    import rapier3d
    from usdphys_ext.usdphys_addon.core import frames

    bodies, by_parent = {}, {}
    for path, prim in model.prims.items():
        if "PhysicsRigidBodyAPI" in prim.schemas:
            bodies[path] = prim
        elif "PhysicsCollisionAPI" in prim.schemas:
            by_parent[path.rpartition("/")[0]] = prim
    said: list[Any] = []
    for prims in (bodies.values(), list(map(by_parent.__getitem__, bodies))):
        held = list(map(attrgetter("schemas"), prims))
        said += [list(map(held[0][name].values_of, map(itemgetter(name), held))) for name in held[0]]
        said += [list(map(attrgetter(name), prims)) for name in ("materials", "physics_binding", "mesh")]
    worlds = np.array([prim.world for prim in bodies.values()]).astype(float)
    places, linear = worlds[:, :3, 3], worlds[:, :3, :3]
    if (linear == linear[0]).all():
        linear = linear[:1]
    turns = frames.rotations_of(linear)
    stretches = np.round(turns.swapaxes(1, 2) @ linear, 6) + 0.0
    quaternions = np.broadcast_to(frames.quaternions_of(turns), (len(bodies), 4))
    said.append([each.tobytes() for each in stretches] * (len(bodies) // len(stretches)))
    physics = rapier3d.PhysicsWorld((0.0, 0.0, -9.81))
    made: dict[Any, int] = {}
    ready, handles, numbers = [], [], []
    alike = all(column.count(column[0]) == len(column) for column in said)
    keys = repeat(next(zip(*said, strict=True)), len(bodies)) if alike else zip(*said, strict=True)
    before, after = None, None
    for key, place, turn in zip(
        keys, zip(*places.T.tolist(), strict=True),
        zip(*quaternions[:, (1, 2, 3, 0)].T.tolist(), strict=True), strict=True,
    ):  # fmt: skip
        if key is not before:
            before, after, number = key, None, made.get(key)
            if number is None:
                number = made[key] = len(ready)
                straight = rapier3d.Rotation3(1.0, 0.0, 0.0, 0.0)
                weight = rapier3d.MassProperties((0.0, 0.0, 0.0), 1000.0, (166.7,) * 3, straight)
                shape = rapier3d.Collider.new(rapier3d.SharedShape.cuboid(0.5, 0.5, 0.5)).density(0.0).friction(0.5)
                ready.append((rapier3d.RigidBody.dynamic().additional_mass_properties(weight).build(), [shape], weight))
            body, shapes, _ = ready[number]
        body.translation = place
        if turn != after:
            body.rotation = after = turn
        handles.append(physics.add_body(body, shapes))
        numbers.append(number)
    weights = [weight for _, _, weight in ready]
    by_path = dict(zip(bodies, handles, strict=True)), dict(zip(bodies, count()))
    weighs = dict(zip(bodies, map(weights.__getitem__, numbers), strict=True))
    return physics, by_path, weighs, places, quaternions, stretches, physics.snapshot()


def breakable(number: int) -> float:
    """CPU time of a step of chains of ten links with breakable joints, over that with others."""
    import numpy as np
    from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
    from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
    from usdphys_ext.usdphys_addon.simulation.world import World

    def world(force: float | None) -> Any:
        model = PhysicsModel()
        for index in range(number):
            chain, link = divmod(index, 10)
            prim = Prim(f"/Body{index}", world=np.eye(4))
            prim.world[:3, 3] = 6.0 * (chain % 20) + 0.5 * link + 0.25, 3.0 * (chain // 20), 20.0
            prim.add(usd_physics.RigidBodyAPI())
            prim.add(usd_physics.CollisionAPI())
            prim.add(usd_physics.MassAPI(mass=1.0))
            prim.add(usd_geom.Cube(size=0.2))
            joint = usd_physics.RevoluteJoint(axis="Y", break_force=force, local_pos1=(-0.25, 0.0, 0.0))
            before = f"/Body{index - 1}"
            joint.body0, joint.body1 = ((before,) if link else ()), (prim.path,)
            joint.local_pos0 = (0.25, 0.0, 0.0) if link else (6.0 * (chain % 20), 3.0 * (chain // 20), 20.0)
            model.add(prim)
            model.add(Prim(f"/Joint{index}", "PhysicsRevoluteJoint", is_xformable=False)).add(joint)
        return World(model)

    spent = []
    for force in (None, 1e6):
        made = world(force)
        for _ in range(10):
            made.step()
        start = time.process_time()
        for _ in range(40):
            made.step()
        spent.append(time.process_time() - start)
        if not 1.0 < 20.0 - made.positions[:, 2].min() < 6.0:
            raise RuntimeError("the chains do not swing: this was no simulation")
    return spent[1] / spent[0]


def ragdolls(number: int) -> tuple[float, float]:
    """CPU time, ms, of a step of ragdolls as the generator makes them, and that over the same without armatures."""
    from usdphys_ext.usdphys_addon.bridge import scene_read
    from usdphys_ext.usdphys_addon.generators import samples
    from usdphys_ext.usdphys_addon.generators.ragdoll import RagdollOptions, make_ragdoll
    from usdphys_ext.usdphys_addon.simulation.world import World

    context = bench.empty()
    floor = bench.placed("Floor", bench.box("Box"), (0, 0, -0.5))
    floor.scale = (200, 200, 1)
    floor.usdphys.colliders.add()
    for index in range(number):
        samples.add_figure(context)
        context.active_object.location = 2.0 * (index % 4), 2.0 * (index // 4), 0.4
        make_ragdoll(context, RagdollOptions())
    model = scene_read.read_scene(context.evaluated_depsgraph_get()).model
    spent = []
    for armature in (True, False):
        for prim in () if armature else model.prims.values():
            if "NewtonJointAPI" in prim.schemas:
                prim.schemas["NewtonJointAPI"].armature = None
        world = World(model)
        start = time.process_time()
        for _ in range(60):
            world.step()
        spent.append((time.process_time() - start) / 60 * 1e3)
        if not 0.0 < world.positions[:, 2].min() < 0.3:
            raise RuntimeError("the ragdolls did not fall on the floor")
    return spent[0], spent[0] / spent[1]


def blender(number: int, substeps: int = 0) -> float:
    """Ms per frame of Blender's rigid body world; substeps: 0 is its default."""
    import bpy

    build(number, own=False, substeps=substeps)
    scene = bpy.context.scene
    scene.frame_set(1)
    before = scene.objects["Box 00000"].matrix_world.translation.z
    start = time.perf_counter()
    for frame in range(2, FRAMES + 2):
        scene.frame_set(frame)
    end = time.perf_counter()
    if scene.objects["Box 00000"].matrix_world.translation.z == before:
        raise RuntimeError("Blender's rigid bodies did not move")
    return (end - start) / FRAMES * 1e3


def measure(wanted: Any) -> bench.Rows:
    with bench.extension():
        preview(20, 10)  # what is loaded once is loaded
        for number in SIZES:
            built, own = preview(number)
            least = limit(number)
            defaults, coarse = blender(number), blender(number, 4)
            for name, value, unit in (
                ("build", built, "ms"), ("preview", own, "ms"), ("blender_defaults", defaults, "ms"),
                ("blender_4_substeps", coarse, "ms"), ("faster_than_defaults", defaults / own, "1"),
                ("faster_than_4_substeps", coarse / own, "1"), ("limit", least, "ms"),
                ("frame_against_limit", own / least, "1"), ("limit_faster_than_defaults", defaults / least, "1"),
                ("limit_faster_than_4_substeps", coarse / least, "1"),
            ):  # fmt: skip
                yield f"{name}_{number}", value, unit
        made = {number: builds(number, turns) for number, turns in TURNS.items()}
        yield from against_engine(made, "")
        yield from against_engine({1_000: builds(1_000, TURNS[1_000], turned=True)}, "turned_")
        first, *_, last = made.values()
        yield "build_growth", last["ms"] / first["ms"], "1"
        yield "breakable_1000", breakable(1_000), "1"
        spent, with_armatures = ragdolls(10)
        yield from (("ragdolls_10", spent, "ms"), ("ragdolls_with_armatures", with_armatures, "1"))
        if wanted.large:
            built, own = preview(10_000, 60)
            yield from (("build_10000", built, "ms"), ("preview_10000", own, "ms"))


def against_engine(made: dict[int, dict[str, float]], what: str) -> bench.Rows:
    """Figures of `builds` by number of bodies."""
    for number, each in made.items():
        for name in ("build", "build_median", "floor", "floor_median"):
            part, _, median = name.partition("_")
            yield f"{what}{part}_against_engine_{number}{'_median' if median else ''}", each[name], "1"


def least_of(figures: bench.Figures) -> dict[str, float]:
    return {
        f"{name}_{number}": min(asked, figures[f"limit_{name}_{number}"][0] / LIMIT_PART)
        for name, asked in ASKED.items() for number in (1_000, 5_000)
    }  # fmt: skip


if __name__ == "__main__":
    bench.main(__doc__, measure, MOST, least_of, large=(False, "10,000 boxes, too"))
