"""Values that are animated, row by row: what their change does, or the sentence that names them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import animation
from usdphys_ext.usdphys_addon.core.animation import Key, Samples
from usdphys_ext.usdphys_addon.core.frames import Matrix
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schema import SCHEMAS
from usdphys_ext.usdphys_addon.core.schemas.usd_geom import Cube, Sphere
from usdphys_ext.usdphys_addon.core.schemas.usd_physics import (
    CollisionAPI,
    DistanceJoint,
    DriveAPI,
    Joint,
    LimitAPI,
    MassAPI,
    MaterialAPI,
    PhysicsScene,
    PrismaticJoint,
    RevoluteJoint,
    RigidBodyAPI,
    SphericalJoint,
)
from usdphys_ext.usdphys_addon.simulation import switches
from usdphys_ext.usdphys_addon.simulation.live_values import LiveValues
from usdphys_ext.usdphys_addon.simulation.record import Changing, Recording, record
from usdphys_ext.usdphys_addon.simulation.world import World

STEP = 1.0 / 60.0
GRAVITY = 9.81


def place(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


@dataclass
class Case:
    """A model, what is animated in it, and how it moves."""

    model: PhysicsModel = field(default_factory=PhysicsModel)
    movers: Callable[[int], dict[str, Matrix]] = lambda _frame: {}
    blend: int = 0
    world: World | None = None
    engine: str = "preview"

    def add(self, path: str, type_name: str, *schemas: Any, at: Matrix | None = None, instance: str = "") -> Prim:
        prim = self.model.add(Prim(path, type_name))
        prim.world = np.eye(4) if at is None else at
        prim.is_xformable = type_name not in ("Material", "PhysicsScene") and "Joint" not in type_name
        for value in schemas:
            prim.add(value, instance if value.kind == "multiple" else "")
        return prim

    def scene(self, gravity: float = GRAVITY) -> None:
        self.add("/Scene", "PhysicsScene", PhysicsScene(gravity_magnitude=gravity))

    def ball(self, path: str = "/Ball", at: Matrix | None = None, **body: Any) -> Prim:
        return self.add(
            path, "Sphere", RigidBodyAPI(**body), CollisionAPI(), Sphere(radius=0.1), MassAPI(mass=1.0), at=at
        )

    def ground(self, material: str = "") -> Prim:
        prim = self.add("/Ground", "Cube", CollisionAPI(), Cube(size=2.0), at=np.diag((50.0, 50.0, 1.0, 1.0)))
        prim.world[2, 3] = -1.0
        prim.materials = (material,) if material else ()
        return prim

    def animate(self, path: str, schema: str, name: str, *samples: tuple[float, Any]) -> None:
        self.model.animated[Key(path, schema, name)] = Samples(*map(list, zip(*samples, strict=True)), by="keyframes")

    def run(self, seconds: float, step: float = STEP) -> Recording:
        self.model.put(animation.at(self.model.animated, 0.0))
        self.world = World(self.model, time_step=step, engine=self.engine)
        live = LiveValues(self.world, self.model, self.blend)
        changing = Changing(live, lambda frame: animation.at(self.model.animated, frame * step))
        return record(self.world, round(seconds / step), self.movers, values=changing)

    def where(self, recording: Recording, path: str = "/Ball") -> Matrix:
        return recording.positions[:, recording.paths.index(path)]


def drive(type_: str = "angular", **values: Any) -> tuple[Case, str]:
    """A slide or hinge from the world to a ball, with a drive, without gravity."""
    case = Case()
    case.scene(0.0)
    case.ball(at=place(1.0))
    joint: Joint = RevoluteJoint(axis="Z") if type_ == "angular" else PrismaticJoint(axis="X")
    joint.body1, joint.local_pos1 = ("/Ball",), (-1.0, 0.0, 0.0) if type_ == "angular" else (0.0, 0.0, 0.0)
    joint.local_pos0 = (0.0, 0.0, 0.0) if type_ == "angular" else (1.0, 0.0, 0.0)
    case.add("/Joint", joint.usd_name, joint, DriveAPI(**values), instance=type_)
    return case, f"PhysicsDriveAPI:{type_}"


def angle(case: Case) -> float:
    assert case.world is not None
    return case.world.joint_position("/Joint", "angular")


# --------------------------------------------------------------------------- each row


def target_position() -> None:
    case, name = drive(stiffness=4000.0, damping=400.0)
    case.animate("/Joint", name, "target_position", (0.0, 0.0), (1.0, -1.2))
    case.run(1.5)
    assert angle(case) == pytest.approx(-1.2, abs=0.01)


def target_velocity() -> None:
    case, name = drive("linear", damping=1000.0)
    case.animate("/Joint", name, "target_velocity", (0.0, 0.0), (1.0, 2.0))
    # It grows evenly to 2 m/s in a second: 1 m.
    assert case.where(case.run(1.0))[-1, 0] == pytest.approx(2.0, rel=0.02)


def stiffness() -> None:
    case, name = drive("linear", stiffness=1.0, damping=20.0, target_position=1.0)
    case.animate("/Joint", name, "stiffness", (0.0, 0.0), (0.99, 0.0), (1.0, 100.0))
    x = case.where(case.run(3.0))[:, 0]
    assert x[58] == pytest.approx(1.0, abs=1e-3)
    assert x[-1] == pytest.approx(2.0, abs=0.02)


def damping() -> None:
    case, name = drive("linear", target_velocity=1.0, damping=0.0)
    case.animate("/Joint", name, "damping", (0.0, 0.0), (0.99, 0.0), (1.0, 1000.0))
    x = case.where(case.run(2.0))[:, 0]
    assert x[58] == pytest.approx(1.0, abs=1e-3)
    assert x[-1] == pytest.approx(2.0, rel=0.02)


def max_force() -> None:
    case, name = drive("linear", target_velocity=100.0, damping=1000.0, max_force=1.0)
    case.animate("/Joint", name, "max_force", (0.0, 0.0), (2.0, 2.0))
    # A force that grows by 1 N/s on 1 kg: t^3 / 6.
    assert case.where(case.run(2.0))[-1, 0] - 1.0 == pytest.approx(8.0 / 6.0, rel=0.03)


def gravity_magnitude() -> None:
    case = Case()
    case.scene()
    case.ball()
    case.animate("/Scene", "PhysicsScene", "gravity_magnitude", (0.0, 0.0), (1.0, 6.0))
    # An acceleration that grows by 6 m/s3: t^3.
    assert case.where(case.run(1.0))[-1, 2] == pytest.approx(-1.0, rel=0.03)


def gravity_direction() -> None:
    case = Case()
    case.scene()
    case.ball()
    case.animate("/Scene", "PhysicsScene", "gravity_direction", (0.0, (1.0, 0.0, 0.0)), (1.0, (1.0, 0.0, 0.0)),
                 (1.001, (0.0, 1.0, 0.0)))  # fmt: skip
    where = case.where(case.run(2.0))
    assert where[60, 0] == pytest.approx(0.5 * GRAVITY, rel=0.03)
    assert where[-1, 1] == pytest.approx(0.5 * GRAVITY, rel=0.04)


def mass() -> None:
    case, _ = drive("linear", target_velocity=1e4, damping=1e3, max_force=1.0)
    case.animate("/Ball", "PhysicsMassAPI", "mass", (0.0, 1.0), (0.999, 1.0), (1.0, 4.0), (3.0, 4.0))
    x = case.where(case.run(2.0))[:, 0] - 1.0
    assert x[60] == pytest.approx(0.5, rel=0.04)
    # A quarter of the acceleration from 1 m/s on.
    assert x[-1] - x[60] == pytest.approx(1.0 + 0.125, rel=0.04)


def friction(field_: str = "dynamic_friction") -> None:
    case = Case()
    case.scene()
    case.add("/Ice", "Material", MaterialAPI(static_friction=0.0, dynamic_friction=0.0))
    case.ground("/Ice")
    box = case.add("/Ball", "Cube", RigidBodyAPI(velocity=(4.0, 0.0, 0.0)), CollisionAPI(), Cube(size=0.5),
                   MassAPI(mass=1.0), at=place(z=0.25))  # fmt: skip
    box.materials = ("/Ice",)
    case.animate("/Ice", "PhysicsMaterialAPI", field_, (0.0, 0.0), (0.999, 0.0), (1.0, 0.5))
    x = case.where(case.run(2.5))[:, 0]
    assert x[59] == pytest.approx(4.0 * 59 * STEP, rel=0.02)
    # It stops on the way v^2 / (2 mu g).
    way = x[-1] - x[60]
    assert way == pytest.approx(16.0 / (2.0 * 0.5 * GRAVITY), rel=0.06) if field_ == "dynamic_friction" else way > 5.0


def static_friction() -> None:
    """A box at rest on a slope of 20 degrees, which holds until its static friction is lost."""
    case = Case()
    case.scene()
    case.model.prims["/Scene"].add(PhysicsScene(gravity_direction=(math.sin(0.35), 0.0, -math.cos(0.35))))
    case.add("/Ice", "Material", MaterialAPI(static_friction=1.0, dynamic_friction=0.1))
    case.ground("/Ice")
    box = case.add("/Ball", "Cube", RigidBodyAPI(), CollisionAPI(), Cube(size=0.5), MassAPI(mass=1.0), at=place(z=0.25))
    box.materials = ("/Ice",)
    case.animate("/Ice", "PhysicsMaterialAPI", "static_friction", (0.0, 1.0), (0.999, 1.0), (1.0, 0.1))
    x = case.where(case.run(2.0))[:, 0]
    assert abs(x[59]) < 0.02
    assert x[-1] - x[60] == pytest.approx(0.5 * GRAVITY * (math.sin(0.35) - 0.1 * math.cos(0.35)), rel=0.1)


def restitution() -> None:
    case = Case()
    case.scene()
    case.add("/Rubber", "Material", MaterialAPI(restitution=0.0))
    case.ground("/Rubber")
    case.ball(at=place(z=1.1)).materials = ("/Rubber",)
    case.animate("/Rubber", "PhysicsMaterialAPI", "restitution", (0.0, 0.0), (0.2, 0.9))
    z = case.where(case.run(1.2))[:, 2]
    assert z[30:].max() > 0.7


def joint_enabled() -> None:
    case, _ = drive("linear")
    case.model.prims["/Scene"].add(PhysicsScene(gravity_magnitude=GRAVITY))
    case.animate("/Joint", "PhysicsPrismaticJoint", "joint_enabled", (0.0, True), (0.5, False))
    z = case.where(case.run(1.5))[:, 2]
    assert abs(z[30]) < 1e-3
    assert z[-1] == pytest.approx(-0.5 * GRAVITY, rel=0.04)


def break_force(name: str = "break_force") -> None:
    case = Case()
    case.scene()
    case.ball(at=place(1.0))
    joint = Joint(body1=("/Ball",), local_pos1=(-1.0, 0.0, 0.0))
    case.add("/Joint", "PhysicsFixedJoint", SCHEMAS["PhysicsFixedJoint"](**{
        item: getattr(joint, item) for item in ("body1", "local_pos1")
    }))  # fmt: skip
    # It holds 9.81 N and as many N m.
    case.animate("/Joint", "PhysicsFixedJoint", name, (0.0, 100.0), (0.5, 100.0), (0.51, 5.0))
    z = case.where(case.run(1.5))[:, 2]
    assert abs(z[29]) < 0.01
    assert case.world is not None
    assert case.world.broken_joints == ("/Joint",)
    assert z[-1] < -3.0


def break_torque() -> None:
    break_force("break_torque")


def hinge_limit(name: str, sign: float) -> None:
    case, _ = drive(damping=100.0, target_velocity=10.0 * sign)
    case.animate("/Joint", "PhysicsRevoluteJoint", name, (0.0, 0.2 * sign), (0.5, 0.2 * sign), (0.6, 0.7 * sign))
    case.run(0.5)
    assert angle(case) == pytest.approx(0.2 * sign, abs=0.02)
    case.run(2.0)
    assert angle(case) == pytest.approx(0.7 * sign, abs=0.02)


def slide_limit(name: str, sign: float) -> None:
    case, _ = drive("linear", damping=100.0, target_velocity=2.0 * sign)
    case.animate("/Joint", "PhysicsPrismaticJoint", name, (0.0, 0.2 * sign), (1.0, 0.2 * sign), (1.1, 0.7 * sign))
    x = case.where(case.run(2.0))[:, 0] - 1.0
    assert x[58] == pytest.approx(0.2 * sign, abs=0.02)
    assert x[-1] == pytest.approx(0.7 * sign, abs=0.02)


def generic_limit(name: str, sign: float) -> None:
    case = Case()
    case.scene(0.0)
    case.ball(velocity=(2.0 * sign, 0.0, 0.0))
    prim = case.add("/Joint", "PhysicsJoint", Joint(body1=("/Ball",)))
    prim.add(LimitAPI(low=-5.0, high=5.0), "transX")
    case.animate("/Joint", "PhysicsLimitAPI:transX", name, (0.0, 0.5 * sign), (9.0, 0.5 * sign))
    case.model.animated[Key("/Joint", "PhysicsLimitAPI:transX", name)].values[0] = 5.0 * sign
    case.model.animated[Key("/Joint", "PhysicsLimitAPI:transX", name)].moments[1] = 0.1
    assert abs(case.where(case.run(2.0))[-1, 0]) <= 0.55


def cone(name: str, axis: int) -> None:
    case = Case()
    case.scene(0.0)
    spin = (0.0, 0.0, 1.0) if axis == 1 else (0.0, -1.0, 0.0)
    case.ball(at=place(1.0), angular_velocity=spin, velocity=(0.0, 1.0, 0.0) if axis == 1 else (0.0, 0.0, 1.0))
    joint = SphericalJoint(body1=("/Ball",), local_pos1=(-1.0, 0.0, 0.0), cone_angle0_limit=1.5, cone_angle1_limit=1.5)
    case.add("/Joint", joint.usd_name, joint)
    case.animate("/Joint", joint.usd_name, name, (0.0, 1.5), (0.1, 0.3))
    ball = case.where(case.run(2.0))
    tilts = np.arctan2(np.abs(ball[:, axis]), ball[:, 0])
    assert tilts[10:].max() < 0.4


def distance(name: str) -> None:
    case = Case()
    case.scene(0.0)
    towards = -1.0 if name == "min_distance" else 1.0
    case.ball(at=place(1.0), velocity=(0.5 * towards, 0.0, 0.0))
    joint = DistanceJoint(body1=("/Ball",), min_distance=0.1, max_distance=3.0)
    case.add("/Joint", joint.usd_name, joint)
    limit = 0.8 if name == "min_distance" else 1.2
    case.animate("/Joint", joint.usd_name, name, (0.0, 0.1 if name == "min_distance" else 3.0), (0.1, limit))
    x = case.where(case.run(2.0))[:, 0]
    assert (x.min() > 0.75) if name == "min_distance" else (x.max() < 1.25)


def kinematic_enabled() -> None:
    case = Case()
    case.scene()
    case.ball(kinematic_enabled=True)
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, True), (0.5, False))
    z = case.where(case.run(1.5))[:, 2]
    assert z[30] == 0.0
    assert z[-1] == pytest.approx(-0.5 * GRAVITY, rel=0.03)


def rigid_body_enabled() -> None:
    case = Case()
    case.scene()
    case.ball(rigid_body_enabled=False)
    case.animate("/Ball", "PhysicsRigidBodyAPI", "rigid_body_enabled", (0.0, False), (0.5, True), (1.0, False))
    z = case.where(case.run(1.5))[:, 2]
    assert z[30] == 0.0
    assert z[60] == pytest.approx(-0.125 * GRAVITY, rel=0.06)
    assert z[-1] == z[60]


def collision_enabled() -> None:
    case = Case()
    case.scene()
    case.ground()
    case.ball(at=place(z=0.1))
    case.animate("/Ground", "PhysicsCollisionAPI", "collision_enabled", (0.0, True), (0.5, False))
    z = case.where(case.run(1.5))[:, 2]
    assert z[30] == pytest.approx(0.1, abs=0.01)
    assert z[-1] == pytest.approx(0.1 - 0.5 * GRAVITY, rel=0.05)


def drive_type() -> None:
    case, name = drive("linear", type="force", stiffness=100.0, damping=20.0, target_position=1.0)
    case.model.prims["/Ball"].add(MassAPI(mass=100.0))
    case.animate("/Joint", name, "type", (0.0, "force"), (0.5, "acceleration"))
    x = case.where(case.run(2.0))[:, 0]
    assert x[30] < 1.2
    assert x[-1] == pytest.approx(2.0, abs=0.05)


ROWS: dict[tuple[str, str], Callable[[], None]] = {
    ("PhysicsScene", "gravity_direction"): gravity_direction,
    ("PhysicsScene", "gravity_magnitude"): gravity_magnitude,
    ("PhysicsRigidBodyAPI", "rigid_body_enabled"): rigid_body_enabled,
    ("PhysicsRigidBodyAPI", "kinematic_enabled"): kinematic_enabled,
    ("PhysicsMassAPI", "mass"): mass,
    ("PhysicsCollisionAPI", "collision_enabled"): collision_enabled,
    ("PhysicsMaterialAPI", "static_friction"): static_friction,
    ("PhysicsMaterialAPI", "dynamic_friction"): friction,
    ("PhysicsMaterialAPI", "restitution"): restitution,
    ("PhysicsJoint", "joint_enabled"): joint_enabled,
    ("PhysicsJoint", "break_force"): break_force,
    ("PhysicsJoint", "break_torque"): break_torque,
    ("PhysicsRevoluteJoint", "lower_limit"): lambda: hinge_limit("lower_limit", -1.0),
    ("PhysicsRevoluteJoint", "upper_limit"): lambda: hinge_limit("upper_limit", 1.0),
    ("PhysicsPrismaticJoint", "lower_limit"): lambda: slide_limit("lower_limit", -1.0),
    ("PhysicsPrismaticJoint", "upper_limit"): lambda: slide_limit("upper_limit", 1.0),
    ("PhysicsSphericalJoint", "cone_angle0_limit"): lambda: cone("cone_angle0_limit", 1),
    ("PhysicsSphericalJoint", "cone_angle1_limit"): lambda: cone("cone_angle1_limit", 2),
    ("PhysicsDistanceJoint", "min_distance"): lambda: distance("min_distance"),
    ("PhysicsDistanceJoint", "max_distance"): lambda: distance("max_distance"),
    ("PhysicsLimitAPI", "low"): lambda: generic_limit("low", -1.0),
    ("PhysicsLimitAPI", "high"): lambda: generic_limit("high", 1.0),
    ("PhysicsDriveAPI", "type"): drive_type,
    ("PhysicsDriveAPI", "max_force"): max_force,
    ("PhysicsDriveAPI", "target_position"): target_position,
    ("PhysicsDriveAPI", "target_velocity"): target_velocity,
    ("PhysicsDriveAPI", "damping"): damping,
    ("PhysicsDriveAPI", "stiffness"): stiffness,
}


def rows(*, animates: bool) -> list[tuple[str, str]]:
    """The rows of UsdPhysics that hold a value, by whether their animation is simulated."""
    found: dict[str, tuple[str, str]] = {}
    for name, cls in SCHEMAS.items():
        for attribute in cls.attributes if cls.family == "UsdPhysics" else ():
            if attribute.is_editable and attribute.animates == animates:
                found.setdefault(f"{attribute.usd}{name * (attribute.usd.count('Limit'))}", (name, attribute.field))
    return list(found.values())


def test_each_row_that_is_simulated_over_time_has_a_case() -> None:
    assert set(rows(animates=True)) == set(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("row", list(ROWS), ids=":".join)
def test_a_value_changes_while_the_world_runs(row: tuple[str, str]) -> None:
    ROWS[row]()


@pytest.mark.parametrize("row", rows(animates=False), ids=":".join)
def test_what_cannot_change_is_named_once(row: tuple[str, str]) -> None:
    case = Case()
    case.scene()
    case.ball()
    name, field_ = row
    prim = case.model.prims["/Ball"]
    prim.schemas.setdefault(name, SCHEMAS[name]())
    case.animate("/Ball", name, field_, (0.0, getattr(prim.schemas[name], field_)))
    case.run(0.2)
    assert case.world is not None
    (notice,) = [notice for notice in case.world.notices if notice.code == "AnimatedStill"]
    attribute = next(item for item in SCHEMAS[name].attributes if item.field == field_)
    assert f"'{attribute.label}' animated by keyframes" in notice.message


# --------------------------------------------------------------------------- hand-over


def turned(matrix: Matrix, angle_: float) -> Matrix:
    matrix[:2, :2] = (math.cos(angle_), -math.sin(angle_)), (math.sin(angle_), math.cos(angle_))
    return matrix


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
@pytest.mark.parametrize("way", range(6))
def test_a_body_leaves_its_animation_with_the_velocity_of_the_curve(fps: float, way: int) -> None:
    rng = np.random.default_rng(way)
    speed, more, spin = rng.uniform(-3.0, 3.0, 3), rng.uniform(-6.0, 6.0, 3), rng.uniform(-4.0, 4.0, 2)
    step, last = 1.0 / fps, 12

    def at(frame: int) -> Matrix:
        t = frame * step
        return turned(place(*(speed * t + more * t * t)), spin[0] * t + spin[1] * t * t)

    case = Case(movers=lambda frame: {"/Ball": at(frame)})
    case.scene()
    case.ball(kinematic_enabled=True)
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, True), (last * step, False))
    recording = case.run(2.0, step)
    t0 = last * step
    leaving = speed + 2.0 * more * t0
    np.testing.assert_allclose(case.where(recording)[last], at(last)[:3, 3], atol=1e-5)
    t = 2.0 - t0
    parabola = at(last)[:3, 3] + leaving * t - (0.0, 0.0, 0.5 * GRAVITY * t * t)
    flown = np.linalg.norm(parabola - at(last)[:3, 3])
    assert np.linalg.norm(case.where(recording)[-1] - parabola) < 0.01 * flown
    assert case.world is not None
    np.testing.assert_allclose(
        case.world.velocities()[1][0], (0.0, 0.0, spin[0] + 2.0 * spin[1] * t0), rtol=0.01, atol=1e-3
    )


@pytest.mark.parametrize("blend", [0, 1, 20])
def test_a_body_goes_over_to_its_animation_from_where_it_is(blend: int) -> None:
    case = Case(movers=lambda frame: {"/Ball": turned(place(0.02 * frame, 0.0, 1.0), 0.01 * frame)}, blend=blend)
    case.scene()
    case.ball(at=place(z=1.0), kinematic_enabled=True)
    name = "PhysicsRigidBodyAPI"
    case.animate("/Ball", name, "kinematic_enabled", (0.0, True), (0.5, False), (1.0, True), (1.5, False), (2.0, True))
    where = case.where(case.run(3.0))
    fallen = 1.0 - where[60, 2]
    assert fallen > 1.0
    for start in (60, 120):
        np.testing.assert_allclose(where[start + max(blend, 1) :][:5, 2], 1.0, atol=1e-5)
        np.testing.assert_allclose(where[start + max(blend, 1), 0], 0.02 * (start + max(blend, 1)), atol=1e-5)
        if blend == 20:
            jumps = np.linalg.norm(np.diff(where[start : start + blend + 1], axis=0), axis=1)
            assert jumps.max() < 0.2 * fallen


def test_a_led_body_pushes_and_a_released_one_is_pushed() -> None:
    case = Case(movers=lambda frame: {"/Ball": place(0.05 * min(frame, 30))})
    case.scene(0.0)
    case.ball(kinematic_enabled=True)
    case.ball("/Other", at=place(0.5))
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, True), (0.5, False))
    recording = case.run(1.0)
    assert case.where(recording, "/Other")[-1, 0] > 1.5


def test_an_uneven_body_that_is_led_turns_as_its_animation_says() -> None:
    """It wobbles freely where nothing leads it, and goes where the animation is from the frame in which that begins."""
    case = Case(movers=lambda frame: {"/Ball": turned(place(0.0, 0.0, 1.0), 0.05 * frame)}, blend=1)
    case.scene(0.0)
    case.ball(at=place(z=1.0), kinematic_enabled=False, angular_velocity=(60.0, 120.0, 200.0))
    case.model.prims["/Ball"].add(MassAPI(mass=1.0, diagonal_inertia=(0.01, 0.02, 0.03)))
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, False), (0.5, True))
    recording = case.run(1.5)
    row = recording.paths.index("/Ball")
    for frame in (40, 60, 90):
        half = 0.5 * 0.05 * frame
        assert abs(recording.rotations[frame, row] @ (math.cos(half), 0.0, 0.0, math.sin(half))) > 1.0 - 1e-6


def test_a_snapshot_holds_who_is_led() -> None:
    case = Case()
    case.scene()
    case.ball(kinematic_enabled=True)
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, True), (0.5, False))
    before = case.run(1.0)
    assert case.world is not None
    case.world.reset()
    assert list(case.world.kinematic) == [True]
    for _ in range(60):
        case.world.step()
    assert case.where(before)[-1, 2] < -1.0
    assert case.world.positions[0, 2] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("start", [1.0, 4.0])
def test_a_led_body_takes_its_mass_and_has_it_once_it_is_released(start: float) -> None:
    case = Case()
    case.scene(0.0)
    case.ball(kinematic_enabled=True)
    case.ball("/Other", at=place(1.0), velocity=(-2.0, 0.0, 0.0))
    case.animate("/Ball", "PhysicsRigidBodyAPI", "kinematic_enabled", (0.0, True), (0.1, False))
    case.animate("/Ball", "PhysicsMassAPI", "mass", (0.0, start), (0.05, 3.0))
    where = case.where(case.run(1.5))
    # The impact keeps the momentum: both move on as one, or apart.
    other = case.where(case.run(1.5), "/Other")
    speeds = [(path[-1, 0] - path[-31, 0]) / (30 * STEP) for path in (where, other)]
    assert 3.0 * speeds[0] + speeds[1] == pytest.approx(-2.0, rel=0.01) and speeds[0] < -0.3


def test_the_animated_mass_of_a_kinematic_body_changes_nothing() -> None:
    case = Case()
    case.scene()
    case.ball(kinematic_enabled=True)
    case.animate("/Ball", "PhysicsMassAPI", "mass", (0.0, 1.0), (1.0, 3.0))
    assert np.ptp(case.where(case.run(0.5)), axis=0).max() == 0.0


def test_the_animated_mass_of_a_collider_is_named() -> None:
    case = Case()
    case.scene()
    case.add("/Body", "Xform", RigidBodyAPI())
    case.add("/Body/Part", "Sphere", CollisionAPI(), Sphere(radius=0.1), MassAPI(mass=1.0))
    case.animate("/Body/Part", "PhysicsMassAPI", "mass", (0.0, 1.0), (1.0, 3.0))
    case.run(0.5)
    assert case.world is not None
    found = [issue for issue in case.world.notices if issue.code == "AnimatedStill"]
    assert len(found) == 1 and "'Mass'" in found[0].message


def test_a_joint_of_which_only_drives_are_animated_may_stay_in_reduced_coordinates() -> None:
    keys = (
        Key("/Driven", "PhysicsDriveAPI:angular", "damping"), Key("/Driven", "PhysicsDriveAPI:angular", "stiffness"),
        Key("/Limited", "PhysicsDriveAPI:angular", "damping"), Key("/Limited", "PhysicsLimitAPI:rotX", "low"),
        Key("/Switched", "PhysicsRevoluteJoint", "joint_enabled"),
    )  # fmt: skip
    model = PhysicsModel(animated={key: Samples() for key in keys})
    assert switches.changing_joints(model) == {"/Limited", "/Switched"}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["preview", "mujoco"])
@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_a_target_that_swings_shakes_a_mass_as_much_at_any_frame_rate(engine: str, fps: float) -> None:
    """A spring whose end swings near its own frequency: a target that is ahead by half a frame shakes it by 10 % more
    or less at 24 frames a second."""
    stiffness, damping, far, rate = 40.0, 1.5, 0.15, 5.0
    case, name = drive("linear", stiffness=stiffness, damping=damping)
    case.engine = engine
    times = np.arange(0.0, 4.0, 1.0 / 240.0).tolist()
    case.animate("/Joint", name, "target_position", *((time, far * math.sin(rate * time)) for time in times))
    x = case.where(case.run(3.0, 1.0 / fps))[:, 0] - 1.0
    state, rows, step = np.zeros(2), [0.0], 1e-4
    for number in range(30000):
        pulls = stiffness * (far * math.sin(rate * (number + 0.5) * step) - state[0]) - damping * state[1]
        state[1] += step * pulls
        state[0] += step * state[1]
        rows.append(state[0])
    wanted = np.interp(np.arange(len(x)) / fps, step * np.arange(len(rows)), rows)
    assert np.abs(x - wanted).max() < 0.03 * np.abs(wanted).max()


@pytest.mark.parametrize("engine", ["preview", "mujoco"])
def test_a_stiff_drive_is_where_its_target_is_at_each_frame(engine: str) -> None:
    case, name = drive("linear", stiffness=1e5, damping=400.0)
    case.engine = engine
    case.animate("/Joint", name, "target_position", (0.0, 0.0), (2.0, 2.0))
    x = case.where(case.run(1.0))[:, 0] - 1.0
    # The damping holds it back by damping / stiffness times its speed.
    assert x[-1] == pytest.approx(1.0 - 4e-3, abs=3e-3)
