# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks: several hinges or slides between the same two bodies, as MuJoCo writes a joint of several axes."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames, stacks
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.proving import runs
from usdphys_ext.usdphys_addon.proving.prove import Wish, prove
from usdphys_ext.usdphys_addon.simulation.engine import AUTOMATIC, PREVIEW
from usdphys_ext.usdphys_addon.simulation.gains import drive_design
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, Units
from .helpers import model_in, place, run, turn, world_of

HIP, LEG = (0.0, 0.0, 3.0), (0.1, 0.0, 2.5)
MASS, INERTIA = 1.3, (0.05, 0.04, 0.01)
CENTER = (0.12, -0.1, 0.03)


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    return frames.matrix_of(frames.turn_by(np.asarray(axis) * angle))


def stack(
    turns: list[np.ndarray], *, units: Units = METERS, kinds: str = "RRRRRR", values: tuple[float, ...] = (),
    articulated: bool = True, loose: bool = False, more: dict[str, object] | None = None,
) -> File:  # fmt: skip
    """A leg at a hip. turns: (3, 3), of each joint, which goes along its X. kinds: R for hinges, P for slides. values:
    rad or m, at the start. loose: the hip is a body that falls. more: of all joints."""
    values = values or (0.0,) * len(turns)
    pose = np.eye(4)
    for kind, own, value in zip(kinds, turns, values, strict=False):
        by = frames.transform(HIP, turned(own[:, 0], value)) @ frames.transform(-np.array(HIP))
        pose = pose @ (by if kind == "R" else frames.transform(own[:, 0] * value))
    start = pose @ frames.transform(LEG)
    file = File(units)
    root = ["PhysicsArticulationRootAPI"] if articulated else []
    hip = file.body("Hip", HIP, size=(0.2,) * 3, mass=4.0, inertia=(0.1,) * 3, apis=root, collides=False)
    file.add(hip)
    if not loose:
        file.add(file.joint("Base", "Fixed", "", "/World/Hip", pos0=HIP))
    file.add(file.body(
        "Leg", tuple(start[:3, 3]), rotation=frames.quaternion_of(start[:3, :3]), size=(0.1, 0.1, 0.8), mass=MASS,
        inertia=INERTIA, center=CENTER, collides=False,
    ))  # fmt: skip
    for number, (kind, own) in enumerate(zip(kinds, turns, strict=False)):
        frame = frames.quaternion_of(own)
        file.add(file.joint(
            f"J{number}", "Revolute" if kind == "R" else "Prismatic", "/World/Hip", "/World/Leg", axis="X",
            pos1=tuple(np.subtract(HIP, LEG).tolist()), rot0=frame, rot1=frame, **(more or {}),
        ))  # fmt: skip
    return file


def oracle(turns: list[np.ndarray], kinds: str, values: tuple[float, ...], seconds: float) -> np.ndarray:
    """Where MuJoCo itself has the leg after some seconds: written by hand, in the pose where all joints are at zero."""
    mujoco = pytest.importorskip("mujoco")
    arm = np.subtract(HIP, LEG)
    joints = "".join(
        f'<joint type="{"hinge" if kind == "R" else "slide"}" pos="{arm[0]} {arm[1]} {arm[2]}" '
        f'axis="{own[0, 0]} {own[1, 0]} {own[2, 0]}"/>' for kind, own in zip(kinds, turns, strict=False)
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.0005" integrator="RK4"/><worldbody>'
        f'<body pos="{LEG[0]} {LEG[1]} {LEG[2]}">{joints}<inertial pos="{CENTER[0]} {CENTER[1]} {CENTER[2]}" '
        f'mass="{MASS}" diaginertia="{INERTIA[0]} {INERTIA[1]} {INERTIA[2]}"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qpos[:] = values
    for _ in range(round(seconds / 0.0005)):
        mujoco.mj_step(model, data)
    return np.array(data.xpos[1])


def some_turns(random: np.random.Generator, count: int) -> list[np.ndarray]:
    """Axes that are neither at right angles nor near each other."""
    while True:
        found = [np.linalg.qr(random.normal(size=(3, 3)))[0] for _ in range(count)]
        found = [each * np.linalg.det(each) for each in found]
        axes = np.array([each[:, 0] for each in found])
        if np.linalg.svd(axes, compute_uv=False).min() > 0.6:
            return found


@pytest.mark.slow
@pytest.mark.parametrize("engine", [PREVIEW, "mujoco", AUTOMATIC])
@pytest.mark.parametrize("seed", range(6))
def test_a_stack_of_hinges_swings_as_in_mujoco(seed: int, engine: str) -> None:
    """All held at once: nothing moved. Random axes, counts and poses at the start; a slide in a part of them."""
    random = np.random.default_rng(seed)
    count = 2 + seed % 2
    kinds = "PRR"[:count] if seed in (2, 5) else "RRR"[:count]
    turns = some_turns(random, count)
    if "P" in kinds:
        # A slide that does not fall, and a hinge that swings.
        turns[:2] = [turned((0.0, 0.0, 1.0), float(angle)) for angle in random.uniform(-3, 3, 2)]
    # With larger values other ones can have the same pose.
    values = tuple(random.uniform(-0.4, 0.4, count).tolist()) if seed % 2 else (0.0,) * count
    file = stack(turns, units=(METERS, CENTIMETERS)[seed % 2], kinds=kinds, values=values)
    pytest.importorskip("mujoco")
    world = world_of(file, time_step=1.0 / 240.0, engine=engine)
    assert world.paths == ("/World/Hip", "/World/Leg")
    start = world.joint_positions()
    assert [start[f"/World/J{number}"].popitem()[1] for number in range(count)] == pytest.approx(values, abs=1e-4)
    assert all(world.is_reduced(f"/World/J{number}") for number in range(count))
    run(world, 0.75)
    reference = oracle(turns, kinds, values, 0.75)
    assert np.linalg.norm(reference - LEG) > 0.01
    assert place(world, "Leg") == pytest.approx(reference, abs=0.004)
    assert [notice.code for notice in world.notices if notice.code not in ("EngineChosen", "SceneMissing")] == [
        "JointsStacked"
    ]


AXES = [np.eye(3), turned((0.0, 0.0, 1.0), np.pi / 2), turned((0.0, 1.0, 0.0), -np.pi / 2)]


@pytest.mark.parametrize("count", [2, 3])
def test_drives_and_limits_of_a_stack_act_about_their_axes(count: int) -> None:
    """A servo about each axis: rotations by the first, then the next joint, as a hip or a gimbal of servos has them."""
    drive = {"angular": {"stiffness": 400.0, "damping": 40.0, "targetPosition": 0.6}}
    world = run(world_of(stack(AXES[:count], more={"drives": drive})), 2.0)
    for number in range(count):
        assert world.is_reduced(f"/World/J{number}")
        assert world.joint_position(f"/World/J{number}", "angular") == pytest.approx(0.6, abs=0.03)
    expected = np.eye(3)
    for own in AXES[:count]:
        expected = expected @ turned(own[:, 0], 0.6)
    assert turn(world, "Leg") == pytest.approx(expected, abs=0.05)
    limited = run(world_of(stack(AXES[:count], more={"drives": drive, "low": -0.2, "high": 0.2})), 2.0)
    for number in range(count):
        assert limited.joint_position(f"/World/J{number}", "angular") == pytest.approx(0.2, abs=0.02)


def test_a_world_shows_the_bodies_of_the_model_alone() -> None:
    world = world_of(stack(AXES, loose=True))
    run(world, 0.5)
    assert world.paths == ("/World/Hip", "/World/Leg")
    assert len(world.positions) == len(world.velocities()[0]) == len(world.awake) == len(world.matrices()) == 2
    # Nothing but gravity: their common centre of mass falls freely.
    center = (4.0 * place(world, "Hip") + MASS * (place(world, "Leg") + turn(world, "Leg") @ CENTER)) / (4.0 + MASS)
    begun = (4.0 * np.array(HIP) + MASS * np.add(LEG, CENTER)) / (4.0 + MASS)
    assert center == pytest.approx([begun[0], begun[1], begun[2] - 0.5 * 9.81 * 0.25], abs=0.03)
    assert world.kinetic_energy() == pytest.approx(9.81 * (4.0 + MASS) * (begun[2] - center[2]), rel=0.03)


def test_a_stack_is_posed_joint_by_joint_and_reset() -> None:
    world = world_of(stack(AXES))
    assert world.pose_joint("/World/J1", "angular", 0.5) == ("/World/Leg",)
    assert world.joint_position("/World/J1", "angular") == pytest.approx(0.5, abs=1e-4)
    assert world.joint_position("/World/J0", "angular") == pytest.approx(0.0, abs=1e-4)
    expected = np.array(HIP) + turned(AXES[1][:, 0], 0.5) @ np.subtract(LEG, HIP)
    assert place(world, "Leg") == pytest.approx(expected, abs=1e-4)
    held, ends, _ = world.joint_ends("/World/J2")
    assert held == pytest.approx(HIP, abs=1e-4)
    assert len(ends) == 1
    number = world.grab("/World/Leg", world.positions[1])
    run(world, 0.1)
    world.release(number)
    world.reset()
    assert place(world, "Leg") == pytest.approx(LEG, abs=1e-6)


def test_a_stack_holds_its_body_without_a_joint_that_is_switched_off() -> None:
    """The body fell off, as two joints still held it."""
    world = run(world_of(stack(AXES)), 0.3)
    held = world.joint_position("/World/J1", "angular")
    others = {path: world.joint_position(path, "angular") for path in ("/World/J0", "/World/J2")}
    assert abs(held) > 0.1
    arm = float(np.linalg.norm(np.subtract(HIP, LEG)))
    world.set_joint_enabled("/World/J1", False)
    run(world, 0.5)
    assert np.linalg.norm(place(world, "Leg") - HIP) == pytest.approx(arm, abs=1e-3)
    assert world.joint_position("/World/J1", "angular") == pytest.approx(held, abs=2e-3)
    assert all(abs(world.joint_position(path, "angular") - before) > 0.1 for path, before in others.items())
    saved = world.snapshot()
    for path in others:
        world.set_joint_enabled(path, False)
    run(world, 0.3)
    assert np.linalg.norm(place(world, "Leg") - HIP) > arm + 0.3  # nothing holds it
    world.restore(saved)
    world.set_joint_enabled("/World/J1", True)
    run(world, 0.5)
    assert np.linalg.norm(place(world, "Leg") - HIP) == pytest.approx(arm, abs=1e-3)
    assert abs(world.joint_position("/World/J1", "angular") - held) > 0.05


def test_the_bodies_of_a_stack_do_not_collide_unless_it_says_so() -> None:
    """The leg starts inside the hip: links that stand between them must not let them meet."""
    for collides in (False, True):
        text = stack(AXES, more={"lines": ["bool physics:collisionEnabled = true"]} if collides else None)
        model = model_in(text)
        made, _ = stacks.chained(model)
        filtered = made.prims["/World/Leg"].schemas.get("PhysicsFilteredPairsAPI")
        assert (filtered is None) == collides


@pytest.mark.parametrize("is_static", [False, True])
def test_a_leg_that_starts_inside_of_what_it_hangs_on_is_not_pushed_out(is_static: bool) -> None:
    """By one joint it is not; the links of a stack must not let it meet what they hang on, a body or not."""
    model = model_in(stack(AXES))
    for path, apis in (("/World/Hip", []), ("/World/Leg", [usd_physics.ArticulationRootAPI()])):
        for api in (usd_physics.CollisionAPI(), usd_geom.Cube(size=0.7), *apis):
            model.prims[path].add(api)
    if is_static:
        del model.prims["/World/Base"]
        for name in ("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI"):
            del model.prims["/World/Hip"].schemas[name]
    world = World(model)
    run(world, 0.1)
    told = [notice.code for notice in world.notices]
    assert "JointsStacked" in told and "ContactJammed" not in told
    assert world.contact_count() == 0
    assert np.linalg.norm(place(world, "Leg") - LEG) < 0.02


@pytest.mark.parametrize(
    "what", ["no articulation", "a common axis", "a hinge that does not fit", "apart", "excluded", "off"]
)
def test_what_is_no_stack_is_simulated_as_it_is(what: str) -> None:
    """By the letter of UsdPhysics all joints hold at once."""
    same = [np.eye(3), np.eye(3)]
    more: dict[str, object] = {"lines": ["bool physics:excludeFromArticulation = true"]} if what == "excluded" else {}
    more = {"lines": ["bool physics:jointEnabled = false"]} if what == "off" else more
    bad = [np.eye(3), turned((0.0, 0.0, 1.0), 0.1)]
    turns = {"a common axis": same, "a hinge that does not fit": bad}.get(what, AXES[:2])
    file = stack(turns, articulated=what != "no articulation", more=more)
    model = model_in(file)
    if what == "apart":
        joint = model.prims["/World/J1"]
        joint.add(joint.schemas["PhysicsRevoluteJoint"].copy(local_pos0=(0.1, 0.0, 0.0)))
    assert not stacks.stacks(model)
    assert "JointsStacked" not in [notice.code for notice in World(model).notices]


def test_moments_that_no_body_can_have_are_named_where_mujoco_takes_their_mean() -> None:
    file = File()
    file.add(file.body("Box", mass=1.0, inertia=(1.0, 1.0, 9.0)))
    file.add(file.body("Plate", (9, 0, 0), mass=1.0, inertia=(0.05, 0.04, 0.01)))
    pytest.importorskip("mujoco")
    told = [notice for notice in world_of(file, engine="mujoco").notices if notice.code == "EngineLimits"]
    assert [notice.path for notice in told] == ["/World/Box"]
    assert told[0].message.startswith("MuJoCo takes the mean of the moments of inertia of")


@pytest.mark.slow
def test_a_proof_sees_a_stack_hold_and_its_drives_reach_their_targets() -> None:
    """Each of its joints came apart by the turn of the others."""
    drive = {"angular": {"stiffness": 400.0, "damping": 40.0, "targetPosition": 0.6}}
    proof = prove(Wish("leg.usda", model_in(stack(AXES, more={"drives": drive})), sections=frozenset({"asset"})))
    assert not [check.line() for check in proof.certificate.having("fail", "part")]
    subject = runs.subject_of(model_in(stack(AXES, values=(0.4, 0.3, -0.5))))
    for facts, value in zip(subject.joints[1:], (0.4, 0.3, -0.5), strict=True):
        one, other = runs.ends_of(subject, facts)
        relative = np.linalg.inv(one) @ other
        assert relative == pytest.approx(frames.transform((0, 0, 0), turned(np.array([1.0, 0, 0]), value)), abs=1e-5)


@pytest.mark.slow
def test_a_stack_is_solved_once_for_all_its_joints_and_each_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof of a humanoid solved each stack anew for each of its joints, in every frame and test."""
    solved: list[stacks.Stack] = []
    values = stacks.Stack.values

    def counted(self: stacks.Stack) -> list[float]:
        solved.append(self)
        return values(self)

    monkeypatch.setattr(stacks.Stack, "values", counted)
    subject = runs.subject_of(model_in(stack(AXES)))
    motion = runs.simulated(subject.model, 0.1)
    solved.clear()
    ends = [runs.ends_of(subject, facts, motion, frame) for _ in range(2) for frame in (0, 3, 6) for facts in
            subject.joints]  # fmt: skip
    assert len(solved) == 3 and len(subject.stacks) == 3
    half = len(ends) // 2
    assert np.array_equal(ends[:half], ends[half:])
    # Each joint is closed: what is before it and what is behind it share a place.
    assert all(np.allclose(one[:3, 3], other[:3, 3], atol=1e-3) for one, other in ends)


@pytest.mark.slow
def test_gains_are_designed_for_what_each_joint_of_a_stack_moves() -> None:
    """The leg about each axis; the servos settle in the time that was asked for."""
    model = model_in(stack(AXES))
    wanted = {f"/World/J{number}": "angular" for number in range(3)}
    tasks = drive_design.tasks_of(model, wanted)
    lever = np.subtract(HIP, np.add(LEG, CENTER))
    for number, own in enumerate(AXES):
        axis = own[:, 0]
        about = float(axis @ np.diag(INERTIA) @ axis) + MASS * float(lever @ lever - (lever @ axis) ** 2)
        assert tasks[f"/World/J{number}"].inertia == pytest.approx(about, rel=0.02)
    drives = {}
    for path, task in tasks.items():
        gains = drive_design.position_gains(task, 0.5)
        drives[path] = {"stiffness": gains.stiffness, "damping": gains.damping, "target_position": 0.4}
    world = World(model)
    for path, drive in drives.items():
        world.set_drive(path, "angular", **drive)
    run(world, 0.6)
    for path in drives:
        assert world.joint_position(path, "angular") == pytest.approx(0.4, abs=0.04)
