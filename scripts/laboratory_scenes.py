# SPDX-License-Identifier: GPL-3.0-or-later
"""Random scenes for the laboratory: a seed makes a PhysicsModel of some exhibits, each in its own cell of a floor.

The name of an exhibit is in the paths of its prims, so that a finding says by itself what it is about.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare_physx

if "usdphys_ext" not in sys.modules:
    compare_physx.load_extension()
from usdphys_ext.usdphys_addon.core import frames, mass, vendor_schemas
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

W = "/World"
G = 9.81
#: Distance of the exhibits, m.
CELL = 6.0
LOCKED = (1.0, -1.0)
Exhibit = Callable[["Bench"], None]
EXHIBITS: dict[str, Exhibit] = {}


def exhibit(make: Exhibit) -> Exhibit:
    EXHIBITS[make.__name__] = make
    return make


def turn(axis: str, angle: float) -> Any:
    """Rotation (3, 3) about a coordinate axis, radians."""
    quaternion = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    quaternion[1 + "XYZ".index(axis)] = math.sin(angle / 2)
    return frames.matrix_of(quaternion)


class Bench:
    """Where an exhibit is built: places are relative to a cell, (4, 4) in the world.

    root: path that the prims are below. rng: random numbers of the seed.
    """

    def __init__(self, model: PhysicsModel, root: str, cell: Any, rng: Random) -> None:
        self.model, self.root, self.cell, self.rng = model, root, cell, rng

    def log(self, low: float, high: float) -> float:
        """A random number, of which each power of ten is as likely."""
        return math.exp(self.rng.uniform(math.log(low), math.log(high)))

    def direction(self) -> Any:
        found = np.array([self.rng.gauss(0, 1) for _ in range(3)])
        return found / np.linalg.norm(found)

    def tilt(self) -> Any:
        return turn("Z", self.rng.uniform(-3, 3)) @ turn("X", self.rng.uniform(-3, 3))

    def prim(self, name: str, type_name: str, world: Any, *schemas: Any, **more: Any) -> Prim:
        prim = Prim(f"{self.root}{name}", type_name, world, **more)
        for schema in schemas:
            prim.add(schema)
        return self.model.add(prim)

    def material(self, name: str, friction: float, restitution: float = 0.0) -> str:
        schema = usd_physics.MaterialAPI(static_friction=friction, dynamic_friction=friction, restitution=restitution)
        return self.prim(name, "Material", np.eye(4), schema, is_xformable=False).path

    def collider(self, path: str, kind: str, size: Any, world: Any, material: str = "") -> Prim:
        """size: (3,), of the box around it; a round one takes the first as its diameter, the last as its height."""
        x, _, z = size
        prim = Prim(path, kind, world, materials=(material,) if material else (), physics_binding=material)
        if kind == "Cube":
            prim.world = world @ frames.transform((0, 0, 0), None, size)
            prim.add(usd_geom.Cube(size=1.0))
        elif kind == "Sphere":
            prim.add(usd_geom.Sphere(radius=x / 2))
        elif kind == "Mesh":
            points, triangles = wedge(size)
            prim.mesh = lambda: Mesh(points, triangles)
            prim.add(usd_physics.MeshCollisionAPI(approximation="convexHull"))
        else:
            height = max(z - x, 0.2 * x) if kind == "Capsule" else z
            prim.add(getattr(usd_geom, kind)(radius=x / 2, height=height, axis="Z"))
        prim.add(usd_physics.CollisionAPI())
        return self.model.add(prim)

    def body(
        self, name: str, place: Any = (0, 0, 0), rotation: Any = None, size: Any = (0.4, 0.4, 0.4), *,
        kind: str = "Cube", weight: float | None = None, inertia: Any = None, velocity: Any = None, spin: Any = None,
        material: str = "", kinematic: bool = False, collides: bool = True,
    ) -> str:  # fmt: skip
        """velocity, spin: in the world of the cell, m/s and rad/s."""
        world = self.cell @ frames.transform(place, rotation)
        api = usd_physics.RigidBodyAPI(kinematic_enabled=True if kinematic else None)
        inverse = (np.eye(3) if rotation is None else rotation).T
        for field, value in (("velocity", velocity), ("angular_velocity", spin)):
            if value is not None:
                setattr(api, field, frames.vector(inverse @ np.asarray(value, float)))
        body = self.prim(f"/{name}", "Xform", world, api)
        if weight is not None:
            # Without colliders a body would get the inertia of a ball of 0.1 m, however large the scene is.
            inertia = (0.02 * weight,) * 3 if inertia is None and not collides else inertia
            moments = None if inertia is None else frames.vector(inertia)
            axes = None if inertia is None else frames.IDENTITY_ROTATION
            body.add(usd_physics.MassAPI(mass=weight, diagonal_inertia=moments, principal_axes=axes))
        if collides:
            self.collider(f"{body.path}/Shape", kind, size, world, material)
        return body.path

    def joint(
        self, name: str, kind: str, body0: str, body1: str, place: Any, rotation: Any = None, *,
        limits: dict[str, Any] | None = None, drives: dict[str, dict[str, Any]] | None = None, **values: Any,
    ) -> Prim:  # fmt: skip
        """place, rotation: of its frame, in the cell. kind: "Revolute", ... or "" for a generic one."""
        frame = self.cell @ frames.transform(place, rotation)
        (p0, r0), (p1, r1) = (
            frames.local_frame(self.model.prims[path].world if path else None, frame) for path in (body0, body1)
        )
        cls = getattr(usd_physics, f"{kind}Joint")
        joint = self.prim(f"/{name}", f"Physics{kind}Joint", np.eye(4), cls(
            body0=(body0,) if body0 else None, body1=(body1,) if body1 else None, local_pos0=p0, local_rot0=r0,
            local_pos1=p1, local_rot1=r1, **values,
        ), is_xformable=False)  # fmt: skip
        for dof, (low, high) in (limits or {}).items():
            joint.add(usd_physics.LimitAPI(low=low, high=high), dof)
        for dof, gains in (drives or {}).items():
            joint.add(usd_physics.DriveAPI(**gains), dof)
        return joint


def wedge(size: Any) -> tuple[Any, Any]:
    """(points, triangles) of a prism with a triangular face in the plane XZ."""
    flat = np.array([(-0.5, -0.5), (0.5, -0.5), (-0.2, 0.5)])
    points = np.array([(x, y, z) for y in (-0.5, 0.5) for x, z in flat]) * np.asarray(size)
    return points, np.array([(0, 1, 2), (3, 5, 4), (0, 3, 1), (1, 3, 4), (1, 4, 2), (2, 4, 5), (2, 5, 0), (0, 5, 3)])


# --------------------------------------------------------------------------- exhibits


@exhibit
def slide(bench: Bench) -> None:
    """Slides on the floor, perhaps turning."""
    rng, kind = bench.rng, bench.rng.choice(("Cube", "Cube", "Cylinder", "Mesh"))
    size = np.array([bench.log(0.15, 0.6), bench.log(0.15, 0.6), bench.log(0.1, 0.2)])
    ice = bench.material("/Surface", rng.uniform(0.1, 0.6))
    bench.body("Body", (0, 0, size[2] / 2), None, size, kind=kind, material=ice,
               weight=rng.choice((None, bench.log(0.1, 50))), velocity=(rng.uniform(1, 4), 0, 0),
               spin=(0, 0, rng.choice((0.0, rng.uniform(-8, 8)))))  # fmt: skip


@exhibit
def roll(bench: Bench) -> None:
    """Rolls without slip."""
    radius, speed = bench.log(0.08, 0.4), bench.rng.uniform(0.5, 4)
    kind = bench.rng.choice(("Sphere", "Cylinder", "Capsule"))
    size = (2 * radius, 2 * radius, 4 * radius)
    bench.body("Body", (0, 0, radius), None if kind == "Sphere" else turn("X", math.pi / 2), size, kind=kind,
               weight=bench.log(0.2, 20), velocity=(speed, 0, 0), spin=(0, speed / radius, 0),
               material=bench.material("/Surface", 0.6))  # fmt: skip


@exhibit
def fall(bench: Bench) -> None:
    """Falls turned, and tumbles."""
    kind = bench.rng.choice(("Cube", "Sphere", "Capsule", "Cylinder", "Cone", "Mesh"))
    size = [bench.log(0.2, 0.6) for _ in range(3)]
    bench.body("Body", (0, 0, bench.rng.uniform(0.8, 2.0)), bench.tilt(), size, kind=kind, velocity=(1, 0.5, 0),
               material=bench.material("/Surface", 0.5, bench.rng.choice((0.0, 0.3))))  # fmt: skip


@exhibit
def bounce(bench: Bench) -> None:
    """A ball that loses nothing, on a slab that takes nothing."""
    radius, steel = bench.log(0.05, 0.3), bench.material("/Surface", 0.0, 1.0)
    bench.collider(f"{bench.root}/Slab", "Cube", (2, 2, 0.2), bench.cell @ frames.transform((0, 0, 0.1)), steel)
    bench.body("Body", (0, 0, 0.2 + radius + bench.rng.uniform(0.5, 1.5)), None, (2 * radius,) * 3, kind="Sphere",
               material=steel)  # fmt: skip


@exhibit
def stack(bench: Bench) -> None:
    """Boxes on each other, the first of them sliding off or not."""
    size = bench.log(0.2, 0.5)
    wood = bench.material("/Surface", 0.5)
    for index in range(bench.rng.randint(2, 4)):
        bench.body(f"Body{index}", (0.05 * size * index, 0, (index + 0.5) * size), None, (size,) * 3, material=wood,
                   weight=bench.log(0.5, 20))  # fmt: skip


@exhibit
def tree(bench: Bench) -> None:
    """Bodies on random joints below a hook, perhaps an articulation."""
    rng = bench.rng
    if rng.random() < 0.5:
        bench.prim("", "Xform", np.eye(4), usd_physics.ArticulationRootAPI())
    known: list[tuple[str, Any]] = [("", np.array((0.0, 0.0, 4.0)))]
    for index in range(rng.randint(1, 4)):
        parent, start = known[0] if index == 0 else rng.choice(known[1:])
        way = bench.direction() * 0.5
        shape = rng.choice(("Cube", "Capsule", "Cylinder"))
        path = bench.body(f"Body{index}", start + way, bench.tilt(), (0.15, 0.15, 0.3), kind=shape,
                          weight=bench.log(0.5, 5), spin=bench.direction(), collides=rng.random() < 0.7)  # fmt: skip
        random_joint(bench, f"Joint{index}", parent, path, start, way)
        known.append((path, start + 2 * way))


def random_joint(bench: Bench, name: str, parent: str, path: str, place: Any, way: Any) -> None:
    rng, rotation = bench.rng, bench.tilt()
    kind = rng.choice(("Revolute", "Revolute", "Spherical", "Prismatic", "Fixed", "Distance", ""))
    gains = rng.choice((None, {"stiffness": bench.log(5, 500), "damping": bench.log(0.5, 20)}, {"damping": 2.0}))
    if gains is not None and "stiffness" not in gains:
        gains["target_velocity"] = rng.uniform(-3, 3)
    values: dict[str, Any] = {}
    if kind in ("Revolute", "Prismatic"):
        dof, reach = ("angular", 1.0) if kind == "Revolute" else ("linear", 0.3)
        values["axis"] = rng.choice("XYZ")
        values["drives"] = {dof: gains} if gains else {}
        if kind == "Prismatic" or rng.random() < 0.3:
            values.update(lower_limit=-reach, upper_limit=rng.uniform(0.2, 1) * reach)
    elif kind == "Spherical" and rng.random() < 0.5:
        angle = rng.uniform(0.3, 1.0)
        values.update(axis="Z", cone_angle0_limit=angle, cone_angle1_limit=angle)
    elif kind == "Distance":
        values.update(min_distance=0.0, max_distance=rng.uniform(0.1, 0.4))
    elif kind == "":
        free = rng.choice(("rotX", "rotY", "rotZ", "transX"))
        every = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
        values["limits"] = {dof: LOCKED if dof != free else (-0.4, 0.3) for dof in every}
        values["drives"] = {free: gains} if gains else {}
    bench.joint(name, kind, parent, path, place, rotation, **values)


@exhibit
def drive(bench: Bench) -> None:
    """One body on a driven hinge or slide, from very slow to fast; nothing touches it."""
    rng = bench.rng
    kind, dof = rng.choice((("Revolute", "angular"), ("Prismatic", "linear")))
    weight, scale = bench.log(0.1, 10), 1.0 if kind == "Prismatic" else 0.02
    speed = bench.log(0.003, 3.0)
    rate = bench.log(2, 20)
    gains = rng.choice((
        {"damping": weight * scale * rate * 3, "target_velocity": speed},
        {"stiffness": weight * scale * rate**2, "target_position": 0.3, "damping": weight * scale * rate * 0.2},
        {"stiffness": weight * scale * rate**2, "target_position": 0.3},
    ))  # fmt: skip
    path = bench.body("Body", (0, 0, 2), None, weight=weight, inertia=(weight * 0.02,) * 3, collides=False)
    bench.joint("Joint", kind, "", path, (0, 0, 2), axis="Z" if kind == "Revolute" else "X", drives={dof: gains})


@exhibit
def pendulum(bench: Bench) -> None:
    """Swings freely."""
    length, weight = bench.log(0.1, 1.5), bench.log(0.1, 10)
    path = bench.body("Body", (length, 0, 3), None, weight=weight, inertia=(0.02 * weight * length**2,) * 3,
                      collides=False)  # fmt: skip
    bench.joint("Joint", bench.rng.choice(("Revolute", "Spherical")), "", path, (0, 0, 3), axis="Y")


@exhibit
def finger(bench: Bench) -> None:
    """Links of a gripper, of some grams, on driven hinges."""
    weight, length = bench.log(0.002, 0.02), 0.03
    moments = np.array((0.3, 1.0, 1.0)) * weight * length**2
    parent = ""
    for index in range(2):
        path = bench.body(f"Body{index}", (length * (index + 0.5), 0, 1), None, weight=weight, inertia=moments,
                          collides=False)  # fmt: skip
        gains = {"stiffness": 40 * moments[1] * 100, "damping": 4 * moments[1] * 20, "target_position": 0.4}
        bench.joint(f"Joint{index}", "Revolute", parent, path, (length * index, 0, 1), axis="Z",
                    drives={"angular": gains})  # fmt: skip
        parent = path


@exhibit
def rope(bench: Bench) -> None:
    """A bob that swings on a distance joint."""
    path = bench.body("Body", (1, 0, 3), None, (0.2,) * 3, kind="Sphere", weight=bench.log(0.2, 20),
                      velocity=(0, bench.rng.uniform(0, 2), 0))  # fmt: skip
    bench.joint("Joint", "Distance", "", path, (0, 0, 3), max_distance=1.0, min_distance=0.0)


@exhibit
def bond(bench: Bench) -> None:
    """A bob that hangs on a joint which breaks, or just not."""
    weight = bench.log(0.2, 20)
    path = bench.body("Body", (0, 0, 3), None, (0.2,) * 3, weight=weight)
    bench.joint("Joint", "Fixed", "", path, (0, 0, 3.3), break_force=weight * G * bench.rng.choice((0.5, 2.0)))


@exhibit
def car(bench: Bench) -> None:
    """Drives on four wheels."""
    rng = bench.rng
    rubber = bench.material("/Rubber", 0.9)
    chassis = bench.body("Chassis", (0, 0, 0.3), None, (0.8, 0.5, 0.1), weight=10.0)
    gains = {"damping": bench.log(0.5, 20), "target_velocity": rng.uniform(2, 8)}
    for index, (x, y) in enumerate(((0.3, 0.35), (0.3, -0.35), (-0.3, 0.35), (-0.3, -0.35))):
        wheel = bench.body(f"Wheel{index}", (x, y, 0.15), turn("X", math.pi / 2), (0.3, 0.3, 0.1), kind="Cylinder",
                           weight=1.0, material=rubber)  # fmt: skip
        bench.joint(f"Joint{index}", "Revolute", chassis, wheel, (x, y, 0.15), axis="Y", drives={"angular": gains})


@exhibit
def passers(bench: Bench) -> None:
    """Two groups that pass through each other, and a pair that is filtered."""
    one = bench.body("Left", (-0.6, 0, 0.2), None, velocity=(1.5, 0, 0))
    two = bench.body("Right", (0.6, 0, 0.2), None, velocity=(-1.5, 0, 0))
    if bench.rng.random() < 0.5:
        bench.model.prims[one].add(usd_physics.FilteredPairsAPI(filtered_pairs=(two,)))
        return
    for name, path, other in (("Reds", one, "Blues"), ("Blues", two, "Reds")):
        group = usd_physics.CollisionGroup(includes=(path,), filtered_groups=(f"{bench.root}/{other}",))
        bench.prim(f"/{name}", "PhysicsCollisionGroup", np.eye(4), group, is_xformable=False)


@exhibit
def drift(bench: Bench) -> None:
    """Only in scenes without gravity: bodies that meet and are jointed to each other."""
    rng = bench.rng
    paths = []
    for index in range(rng.randint(2, 5)):
        kind = rng.choice(("Cube", "Sphere", "Capsule", "Mesh"))
        place = np.array((index * 0.7, rng.uniform(-0.2, 0.2), 2.0))
        velocity, spin = bench.direction() * bench.log(0.003, 1), bench.direction() * bench.log(0.01, 5)
        paths.append(bench.body(f"Body{index}", place, bench.tilt(), kind=kind, weight=bench.log(0.5, 5),
                                velocity=velocity, spin=spin))  # fmt: skip
        if index and rng.random() < 0.6:
            random_joint(bench, f"Joint{index}", paths[-2], paths[-1], place - (0.35, 0, 0), (0, 0, 0))


# --------------------------------------------------------------------------- scenes


def new_model(gravity: float = G) -> PhysicsModel:
    model = PhysicsModel()
    scene = model.add(Prim(f"{W}/PhysicsScene", "PhysicsScene", is_xformable=False))
    scene.add(usd_physics.PhysicsScene(gravity_magnitude=gravity, gravity_direction=(0.0, 0.0, -1.0)))
    return model


def add_floor(model: PhysicsModel, friction: float) -> None:
    bench = Bench(model, f"{W}/Floor", np.eye(4), Random(0))
    surface = bench.material("Surface", friction)
    bench.collider(f"{W}/Floor", "Cube", (200.0, 200.0, 1.0), frames.transform((0, 0, -0.5)), surface)


def scene_of(seed: int, only: str = "") -> PhysicsModel:
    """The model of a seed. only: name of an exhibit that it shall have instead of some at random."""
    rng = Random(seed)
    is_free = (rng.random() < 0.15 and not only) or only == "drift"
    model = new_model(0.0 if is_free else G)
    names = ["drift"] if is_free else [only] if only else rng.sample(sorted({*EXHIBITS} - {"drift"}), rng.randint(2, 4))
    if not is_free:
        add_floor(model, rng.uniform(0.2, 0.8))
    for index, name in enumerate(sorted(names)):
        place = (CELL * (index % 2), CELL * (index // 2), 0.0)
        cell = frames.transform(place, turn("Z", rng.uniform(-3, 3)))
        EXHIBITS[name](Bench(model, f"{W}/{name.title()}", cell, rng))
    return model


# --------------------------------------------------------------------------- what must not matter

#: Built 40 m beside a scene: what is not connected must not change the scene.
TROUBLE: dict[str, Exhibit] = {"wheels": car}


def trouble(make: Exhibit) -> Exhibit:
    TROUBLE[make.__name__] = make
    return make


@trouble
def breakable_loop(bench: Bench) -> None:
    """Four bars in a loop whose joints could break."""
    corners = np.array([(0, 0, 2), (0, 0, 3), (1, 0, 3), (1, 0, 2)], float)
    bars = [bench.body(f"Bar{i}", (corners[i] + corners[(i + 1) % 4]) / 2, None, (0.1,) * 3, weight=1.0, collides=False,
                       inertia=(0.05,) * 3) for i in range(3)]  # fmt: skip
    ends = ["", *bars, ""]
    for index in range(4):
        bench.joint(f"Joint{index}", "Revolute", ends[index], ends[index + 1], corners[index], axis="Y",
                    break_force=1e4)  # fmt: skip


@trouble
def armature(bench: Bench) -> None:
    """A light hinge with the inertia of a rotor."""
    path = bench.body("Body", (0, 0, 2), None, (0.1,) * 3, weight=0.01)
    joint = bench.joint("Joint", "Revolute", "", path, (0, 0, 2), axis="Z",
                        drives={"angular": {"damping": 1.0, "target_velocity": 1.0}})  # fmt: skip
    cls: Any = vendor_schemas.find("PhysxJointAPI")
    joint.add(cls(armature=0.1))


@trouble
def tiny_cube(bench: Bench) -> None:
    bench.body("Body", (0, 0, 0.003), None, (0.004,) * 3)


@trouble
def heavy_box(bench: Bench) -> None:
    bench.body("Low", (0, 0, 0.2), None, (0.4,) * 3, weight=1.0)
    bench.body("High", (0, 0, 0.9), None, (1.0,) * 3, weight=5000.0)


def total_mass(model: PhysicsModel, path: str) -> float:
    """Mass of a body, kg."""
    return mass.mass_properties(model, path).mass
