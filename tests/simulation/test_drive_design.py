# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains of drives: the inertia and the load of what hangs on a joint, and the motion that follows, in two units."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import vendor_schemas
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.simulation.gains import arm_motion, drive_design
from usdphys_ext.usdphys_addon.simulation.gains.drive_design import Task, position_gains, task_of, velocity_gains
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, block
from .helpers import model_in, turn, world_of

G = 9.81
W = "/World"
UNITS = pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=["m", "cm"])


def settling(gains, task: Task, load: float = 0.0) -> float:
    """Time after which a drive stays within 2 % of where it comes to rest, by integrating its equation of motion."""
    step, place, speed, last = 1e-4, 0.0, 0.0, 0.0
    rest = 1.0 - load / gains.stiffness
    for number in range(100_000):
        # Implicit: a stiff drive would explode otherwise.
        change = step * (gains.stiffness * (1.0 - place) - load) / task.inertia
        speed = (speed + change) / (1.0 + step * (gains.damping + step * gains.stiffness) / task.inertia)
        place += step * speed
        if abs(place - rest) > 0.02 * abs(rest):
            last = number * step
        assert place < rest * 1.001
    return last


@pytest.mark.parametrize(("inertia", "load"), [(2.0, 0.0), (0.01, 3.0), (500.0, 9e3), (1.0, 20.0), (1e-4, 1.0)])
@pytest.mark.parametrize("response", [0.5, 2.0])
def test_a_position_settles_in_time_without_overshoot_whatever_the_load(inertia: float, load: float, response: float):
    task = Task(inertia, load, 1.0, True)
    gains = position_gains(task, response)
    assert gains.sag == pytest.approx(load / gains.stiffness) and gains.sag <= 0.00501
    assert settling(gains, task) == pytest.approx(response, rel=0.02)


def test_a_velocity_is_reached_in_time_and_a_load_makes_it_stiffer():
    free = velocity_gains(Task(2.0, 0.0, 1.0, True), 3.0, 0.5)
    assert math.exp(-free.damping / 2.0 * 0.5) == pytest.approx(0.02)
    loaded = velocity_gains(Task(2.0, 50.0, 1.0, True), 3.0, 0.5)
    assert loaded.sag <= 0.0301 and loaded.settling < 0.5


def arm(file: File, length: float = 2.0, mass: float = 3.0, drives=None) -> None:
    """A rod along X, hinged to the world at its end about Y."""
    file.add(file.body("Arm", (length / 2, 0, 3), size=(length, 0.2, 0.1), mass=mass))
    ends = {"pos0": (0, 0, 3), "pos1": (-length / 2, 0, 0)}
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Arm", axis="Y", drives=drives, **ends))


@UNITS
def test_an_arm_has_the_inertia_about_its_hinge_and_the_torque_of_its_weight(units):
    file = File(units)
    arm(file)
    task = task_of(model_in(file), f"{W}/Hinge", "angular")
    assert task.inertia == pytest.approx(3.0 * (2.0**2 / 3.0 + 0.1**2 / 12.0), rel=1e-4)
    assert task.load == pytest.approx(3.0 * G * 1.0, rel=1e-4)
    assert task.reach == pytest.approx(math.hypot(2.0, 0.05), rel=0.01)


@UNITS
def test_what_hangs_on_the_arm_counts(units):
    file = File(units)
    arm(file)
    file.add(file.body("Hand", (2.5, 0, 3), size=(1.0, 0.2, 0.2), mass=2.0))
    file.add(file.joint("Wrist", "Revolute", f"{W}/Arm", f"{W}/Hand", pos0=(1, 0, 0), pos1=(-0.5, 0, 0), axis="Y"))
    model = model_in(file)
    upper, wrist = task_of(model, f"{W}/Hinge", "angular"), task_of(model, f"{W}/Wrist", "angular")
    hand = 2.0 * ((1.0 + 0.2**2) / 12.0 + 2.5**2)
    assert upper.inertia == pytest.approx(3.0 * (2.0**2 / 3.0 + 0.1**2 / 12.0) + hand, rel=1e-4)
    assert upper.load == pytest.approx(G * (3.0 * 1.0 + 2.0 * 2.5), rel=1e-4)
    assert wrist.inertia == pytest.approx(2.0 * (1.0 / 3.0 + 0.2**2 / 12.0), rel=1e-4)


@UNITS
def test_a_door_has_no_load_and_a_lift_its_weight(units):
    file = File(units)
    file.add(file.body("Door", (0.5, 0, 1), size=(1.0, 0.1, 2.0), mass=20.0))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Door", pos0=(0, 0, 1), pos1=(-0.5, 0, 0), axis="Z"))
    file.add(file.body("Lift", (5, 0, 1), size=(1.0, 1.0, 0.5), mass=40.0))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Lift", pos0=(5, 0, 1), axis="Z"))
    model = model_in(file)
    door, lift = task_of(model, f"{W}/Hinge", "angular"), task_of(model, f"{W}/Rail", "linear")
    assert (door.load, door.inertia) == (0.0, pytest.approx(20.0 * (1.0 / 3.0 + 0.01 / 12.0), rel=1e-4))
    assert (lift.load, lift.inertia) == (pytest.approx(40.0 * G), pytest.approx(40.0))
    assert lift.reach == pytest.approx(0.5, rel=0.01)


@UNITS
def test_two_free_bodies_have_their_reduced_inertia(units):
    """Two flywheels on one axle turn against each other: 1 / (1 / I0 + 1 / I1); two carriages: of their masses."""
    file = File(units)
    for name, place, moment in (("Small", 0, 2.0), ("Large", 1, 6.0)):
        file.add(file.body(name, (place, 0, 0), mass=moment, inertia=(moment,) * 3, size=(0.5, 0.5, 0.5)))
    file.add(file.joint("Axle", "Revolute", f"{W}/Small", f"{W}/Large", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0), axis="X"))
    model = model_in(file)
    assert task_of(model, f"{W}/Axle", "angular").inertia == pytest.approx(1.5, rel=1e-4)


def test_a_joint_that_moves_nothing_is_named():
    file = File(METERS)
    file.add(file.body("Still", (0, 0, 0), kinematic=True))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Still", axis="Y"))
    with pytest.raises(InputError, match="moves no rigid body"):
        task_of(model_in(file), f"{W}/Hinge", "angular")


@pytest.mark.slow
@UNITS
@pytest.mark.parametrize(("length", "mass"), [(0.1, 0.05), (2.0, 3.0), (10.0, 5000.0)])
def test_an_arm_turns_to_its_angle_holds_it_and_takes_its_time(units, length: float, mass: float):
    response, target = 0.5, 0.8
    file = File(units)
    arm(file, length, mass)
    gains = position_gains(task_of(model_in(file), f"{W}/Hinge", "angular"), response)
    file = File(units)
    drive = {"stiffness": gains.stiffness, "damping": gains.damping, "targetPosition": target}
    arm(file, length, mass, {"angular": drive})
    world = world_of(file)
    angles = []
    while world.time < 3.0:
        world.step()
        matrix = turn(world, "Arm")
        angles.append(math.atan2(-matrix[2, 0], matrix[0, 0]))
    rest = angles[-1]
    assert abs(rest - target) < 0.01
    settled = world.time_step * (1 + max(i for i, angle in enumerate(angles) if abs(angle - rest) > 0.02 * target))
    assert settled == pytest.approx(response, rel=0.2)
    assert max(angles) < rest + 0.005 * target


def test_damping_ratio_of_a_critical_drive_is_one():
    assert drive_design.damping_ratio(5.8339) == pytest.approx(1.0, abs=1e-3)
    assert np.isclose(drive_design.damping_ratio(400.0), 400.0 / (2 * -math.log(0.02)), rtol=0.01)


# --------------------------------------------------------------------------- arms of several hinges


R = f"{W}/Robot"


def robot(file: File, count: int, drives=None, length: float = 0.9) -> None:
    """An articulation of equal bars in a row along X, each hinged to the one before about Y, the first to the world."""
    inside: list[str] = []
    for number in range(count):
        inside.append(file.body(f"Link{number}", ((number + 0.5) * length, 0, 3), size=(length, 0.1, 0.1), mass=9.0))
        before = f"{R}/Link{number - 1}" if number else ""
        inside.append(
            file.joint(
                f"Hinge{number}", "Revolute", before, f"{R}/Link{number}", axis="Y",
                pos0=(length / 2, 0, 0) if number else (0, 0, 3), pos1=(-length / 2, 0, 0),
                drives=None if drives is None else {"angular": drives[number]},
            )
        )  # fmt: skip
    file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"]))


def held_robot(units, count: int, response: float) -> File:
    file = File(units)
    robot(file, count)
    wanted = {f"{R}/Hinge{number}": "angular" for number in range(count)}
    tasks = drive_design.tasks_of(model_in(file), wanted)
    gains = [position_gains(tasks[path], response) for path in wanted]
    file = File(units)
    robot(file, count, [{"stiffness": each.stiffness, "damping": each.damping} for each in gains])
    return file


@UNITS
def test_the_hinges_of_an_arm_couple_as_its_mass_matrix_does(units):
    """Two equal thin bars: M = m l2 ((8/3, 5/6), (5/6, 1/3)), so that the coupling is 1 + 5/6 / sqrt(8/9)."""
    file = held_robot(units, 2, 0.5)
    (arm_of_two,) = drive_design.arms_of(model_in(file))
    assert arm_of_two.joints == (f"{R}/Hinge0", f"{R}/Hinge1")
    expected = 9.0 * 0.81 * np.array([[8 / 3, 5 / 6], [5 / 6, 1 / 3]])
    assert np.allclose(arm_of_two.inertia, expected, rtol=0.02)
    assert arm_of_two.coupling == pytest.approx(1 + 5 / 6 / math.sqrt(8 / 9), rel=0.01)
    assert np.allclose(np.abs(arm_of_two.load), 9.0 * G * 0.9 * np.array([2.0, 0.5]), rtol=1e-3)
    assert arm_of_two.reach == pytest.approx(1.8, rel=0.01)


def cabinet(count: int) -> File:
    file = File(METERS)
    for number in range(count):
        door = f"Door{number}"
        file.add(file.body(door, (number + 0.5, 0, 1), size=(1.0, 0.1, 2.0), mass=20.0))
        drive = {"angular": {"stiffness": 10.0}}
        ends = {"pos0": (number, 0, 1), "pos1": (-0.5, 0, 0)}
        file.add(file.joint(f"Hinge{number}", "Revolute", "", f"{W}/{door}", axis="Z", drives=drive, **ends))
    return file


def test_doors_of_one_cabinet_do_not_make_each_other_stiffer():
    assert drive_design.arms_of(model_in(cabinet(2))) == []


@pytest.mark.slow
def test_the_work_for_each_joint_does_not_grow_with_their_number(count_calls):
    def work(count: int) -> int:
        model = model_in(cabinet(count))
        return count_calls(lambda: drive_design.tasks_of(model, {f"{W}/Hinge{at}": "angular" for at in range(count)}))

    work(5)  # What is imported and cached once.
    assert work(80) < 4.5 * work(20)


def test_a_velocity_does_not_depend_on_what_other_joints_hold():
    model = model_in(held_robot(METERS, 2, 0.5))
    held, kept = (drive_design.tasks_of(model, {f"{R}/Hinge1": "angular"}, holds=holds) for holds in (True, False))
    assert held[f"{R}/Hinge1"].count == 2 and held[f"{R}/Hinge1"].coupling > 1.5
    assert kept[f"{R}/Hinge1"].count == 1 and kept[f"{R}/Hinge1"].coupling == 1.0
    assert kept[f"{R}/Hinge1"].inertia == held[f"{R}/Hinge1"].inertia


@pytest.mark.parametrize("count", [4, 6])
def test_more_iterations_let_physx_sag_less_and_settle_sooner_down_to_what_the_springs_do(count: int):
    (found,) = drive_design.arms_of(model_in(held_robot(METERS, count, 0.1)))
    motions = [arm_motion.physx_motion(found, iterations) for iterations in (32, 64, 128, 255)]
    sags, times = [motion.sag for motion in motions], [motion.settling for motion in motions]
    assert sags == sorted(sags, reverse=True) and times == sorted(times, reverse=True)
    still = float(np.linalg.norm((found.load / found.stiffness) @ found.levers)) / found.reach
    # What the iterations add is as long as their part of a step.
    assert sags[3] - still == pytest.approx((sags[0] - still) * 32 / 255, rel=0.15)


def test_the_most_iterations_are_chosen_where_none_keep_the_promise():
    (found,) = drive_design.arms_of(model_in(held_robot(METERS, 7, 0.5)))
    assert arm_motion.iterations_for(found, 1.0, 10.0)[0] == arm_motion.ITERATIONS
    assert arm_motion.iterations_for(found, 1e-6, 0.6) == (255, arm_motion.physx_motion(found, 255))
    # Those that the user has chosen are not lowered.
    assert arm_motion.iterations_for(found, 1.0, 10.0, 100) == (100, arm_motion.physx_motion(found, 100))
    assert arm_motion.iterations_for(found, 1e-6, 0.6, 100)[0] == 255


@pytest.mark.slow
@pytest.mark.parametrize(("units", "count", "response", "moving"), [(METERS, 7, 0.5, 0), (CENTIMETERS, 4, 0.1, 1)])
def test_an_arm_holds_itself_and_each_hinge_takes_its_time(units, count: int, response: float, moving: int):
    text = held_robot(units, count, response)
    world = world_of(text)
    for _ in range(round(1.5 / world.time_step)):
        world.step()
    tip = world.matrices()[world.index(f"{R}/Link{count - 1}")] @ (0.45, 0, 0, 1)
    assert 3.0 - tip[2] < 0.01 * 0.9 * count
    start = world.joint_position(f"{R}/Hinge{moving}", "angular")
    world.set_drive(f"{R}/Hinge{moving}", "angular", target_position=0.3)
    values = []
    for _ in range(round(4 * response / world.time_step)):
        world.step()
        values.append(world.joint_position(f"{R}/Hinge{moving}", "angular"))
    late = [number for number, value in enumerate(values) if abs(value - values[-1]) > 0.02 * abs(values[-1] - start)]
    assert world.time_step * (max(late) + 1) <= max(1.2 * response, response + 1 / 60)


@pytest.mark.parametrize(("length", "response"), [(0.9, 0.5), (0.9, 0.1), (0.09, 0.5)])
def test_seven_equal_links_keep_the_promise_by_an_armature_that_is_a_part_of_their_inertia(length, response):
    file = File(METERS)
    robot(file, 7, length=length)
    model = model_in(file)
    wanted = {f"{R}/Hinge{number}": "angular" for number in range(7)}
    tasks = drive_design.tasks_of(model, wanted)
    gains = [position_gains(tasks[path], response) for path in wanted]
    file = File(METERS)
    robot(file, 7, [{"stiffness": each.stiffness, "damping": each.damping} for each in gains], length)
    (found,) = drive_design.arms_of(model_in(file))
    latest = max(1.2 * response, response + 1 / 60)
    assert not drive_design.fit(found, tasks, response, latest, may_add=False).keeps
    fitted = drive_design.fit(found, tasks, response, latest)
    assert fitted.keeps and fitted.motion.sag < 0.01 and fitted.motion.settling <= latest
    assert fitted.armatures.keys() == wanted.keys()
    assert max(fitted.armatures.values()) <= 0.11 * tasks[f"{R}/Hinge0"].inertia


def test_an_armature_that_is_there_counts_in_the_inertia_that_a_drive_moves():
    file = File(METERS)
    arm(file)
    plain = task_of(model_in(file), f"{W}/Hinge", "angular").inertia
    model = model_in(file)
    hinge = model.prims[f"{W}/Hinge"]
    hinge.schemas["NewtonJointAPI"] = vendor_schemas.find("NewtonJointAPI")(armature=2.5)
    assert task_of(model, f"{W}/Hinge", "angular").inertia == pytest.approx(plain + 2.5)


def growing_robot(units, growth: float, drives=None, armature: float = 0.0):
    """(model of an articulation of seven bars, each `growth` times as long as the one before and as thick in
    proportion, its reach in m). The first one is 0.3 m long."""
    file, inside, start, length = File(units), [], 0.0, 0.3
    for number in range(7):
        bar, thick = 8 / 9 * length, 0.18 * length
        inside.append(
            file.body(
                f"Link{number}", (start + length / 2, 0, 3), size=(bar, thick, thick), mass=1000.0 * bar * thick**2
            )
        )
        before = f"{R}/Link{number - 1}" if number else ""
        inside.append(
            file.joint(
                f"Hinge{number}", "Revolute", before, f"{R}/Link{number}", axis="Y",
                pos0=(length / growth / 2, 0, 0) if number else (0, 0, 3), pos1=(-length / 2, 0, 0),
                drives=None if drives is None else {"angular": drives[number]},
            )
        )  # fmt: skip
        start, length = start + length, length * growth
    file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"]))
    model = model_in(file)
    for number in range(7) if armature else ():
        api = vendor_schemas.find("NewtonJointAPI")(armature=armature)
        model.prims[f"{R}/Hinge{number}"].schemas["NewtonJointAPI"] = api
    return model, start


@pytest.mark.slow
@pytest.mark.parametrize(
    ("units", "growth", "response"), [(METERS, 1.3, 0.1), (CENTIMETERS, 1.3, 0.5), (METERS, 1.5, 0.5)]
)
def test_an_arm_whose_links_grow_towards_the_tip_holds_itself_by_the_armature_that_it_gets(units, growth, response):
    """What hangs on the first link is 200 and 1,700 times as heavy as it."""
    wanted = {f"{R}/Hinge{number}": "angular" for number in range(7)}
    plain, _ = growing_robot(units, growth)
    tasks = drive_design.tasks_of(plain, wanted)

    def drives_of(model):
        gains = [position_gains(task, response) for task in drive_design.tasks_of(model, wanted).values()]
        return [{"stiffness": each.stiffness, "damping": each.damping} for each in gains]

    (found,) = drive_design.arms_of(growing_robot(units, growth, drives_of(plain))[0])
    fitted = drive_design.fit(found, tasks, response, max(1.2 * response, response + 1 / 60))
    assert fitted.keeps
    (armature,) = set(fitted.armatures.values())
    drives = drives_of(growing_robot(units, growth, armature=armature)[0])
    model, reach = growing_robot(units, growth, drives, armature)
    world = World(model)
    assert world.is_reduced(f"{R}/Hinge0")
    for _ in range(round(1.5 / world.time_step)):
        world.step()
    tip = world.matrices()[world.index(f"{R}/Link6")] @ (0.15 * growth**6, 0, 0, 1)
    assert 3.0 - tip[2] < 0.01 * reach
    for hinge in (f"{R}/Hinge0", f"{R}/Hinge6"):
        start = world.joint_position(hinge, "angular")
        world.set_drive(hinge, "angular", target_position=0.3)
        values = []
        for _ in range(round(4 * response / world.time_step)):
            world.step()
            values.append(world.joint_position(hinge, "angular"))
        way = abs(values[-1] - start)
        late = [number for number, value in enumerate(values) if abs(value - values[-1]) > 0.02 * way]
        assert world.time_step * (max(late) + 1) <= max(1.2 * response, response + 1 / 60)


def test_two_links_too_different_for_the_preview_get_an_armature_though_physx_needs_none():
    """216 times the mass of the first one hangs on it."""
    drives = [{"stiffness": 1e7, "damping": 3e5}] * 2
    file = File(METERS)
    sizes = ((0.3, 0.15), (1.8, 1.2))
    inside = []
    for number, (length, center) in enumerate(sizes):
        thick = 0.18 * length
        inside.append(
            file.body(f"Link{number}", (center, 0, 3), size=(length, thick, thick), mass=1000.0 * length * thick**2)
        )
        before = f"{R}/Link0" if number else ""
        places = {"pos0": (0.15, 0, 0) if number else (0, 0, 3), "pos1": (-length / 2, 0, 0)}
        inside.append(
            file.joint(
                f"Hinge{number}", "Revolute", before, f"{R}/Link{number}", axis="Y",
                drives={"angular": drives[number]}, **places,
            )
        )  # fmt: skip
    file.add(block("Xform", "Robot", inside, ["PhysicsArticulationRootAPI"]))
    model = model_in(file)
    assert not World(model).is_reduced(f"{R}/Hinge0")
    (found,) = drive_design.arms_of(model)
    assert found.ratio == pytest.approx(216.0)
    tasks = drive_design.tasks_of(model, {f"{R}/Hinge{number}": "angular" for number in range(2)})
    assert drive_design.fit(found, tasks, 0.1, 0.12, may_add=False).keeps
    fitted = drive_design.fit(found, tasks, 0.1, 0.12)
    assert fitted.keeps and len(fitted.armatures) == 2
    for path, armature in fitted.armatures.items():
        model.prims[path].schemas["NewtonJointAPI"] = vendor_schemas.find("NewtonJointAPI")(armature=armature)
    assert World(model).is_reduced(f"{R}/Hinge0")
