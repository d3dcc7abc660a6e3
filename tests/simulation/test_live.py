# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines in a process of their own: a stand-in that falls by arithmetic, and PhysX and Newton where they are."""

from __future__ import annotations

import gc
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stand_in
from usdphys_ext.usdphys_addon.core.errors import EngineError, InputError
from usdphys_ext.usdphys_addon.core.model import Prim
from usdphys_ext.usdphys_addon.live import child
from usdphys_ext.usdphys_addon.live.matter import matter_of
from usdphys_ext.usdphys_addon.simulation.engine import (
    ENGINES,
    Ability,
    NotLiveError,
    Program,
    Setup,
    Solver,
    WithPreviewShapes,
    programs,
)
from usdphys_ext.usdphys_addon.simulation.engines import pipe
from usdphys_ext.usdphys_addon.simulation.joint_facts import JointFacts
from usdphys_ext.usdphys_addon.simulation.outward import outward
from usdphys_ext.usdphys_addon.simulation.world import World

from .author import CENTIMETERS, METERS, File, prism
from .helpers import run, world_of

W = "/World"
STEP = 1.0 / 60.0
GRAVITY = 9.81


@pytest.fixture
def falls(monkeypatch: pytest.MonkeyPatch):
    """Makes worlds in the stand-in, which are closed at the end. Environment variables of it may be given."""
    made: list[World] = []

    def make(file: File | None = None, **environment: str) -> World:
        stand_in.stands_for(monkeypatch, ENGINES, **environment)
        made.append(world_of(scene() if file is None else file, engine="physx"))
        return made[-1]

    yield make
    for world in made:
        world.close()


def scene() -> File:
    """A crate that falls, a hook that is led, and a lamp on a hinge."""
    file = File(METERS)
    return file.add(
        file.ground(), file.body("Crate", (3, 0, 2), velocity=(0.5, 0.0, 0.0)),
        file.body("Hook", (0, 0, 5), kinematic=True), file.body("Lamp", (1, 0, 5)),
        file.joint("Hinge", "Revolute", f"{W}/Hook", f"{W}/Lamp", pos1=(-1, 0, 0), axis="Y"),
    )  # fmt: skip


def place(world: World, name: str) -> np.ndarray:
    return world.positions[world.index(f"{W}/{name}")].copy()


def process(world: World) -> int:
    return world.spaces[0].child.pid  # type: ignore[attr-defined]


def has_ended(pid: int) -> bool:
    """True once a process is gone, or waits to be collected."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


# --------------------------------------------------------------------------- messages


def test_messages_hold_numbers_exactly(tmp_path: Path) -> None:
    states = np.random.default_rng(1).normal(size=(5, 13))
    file = tmp_path / "messages"
    file.write_bytes(pipe.packed({"do": "step"}, {"led": [1, 2], "states": states}) + pipe.packed({"empty": None}))
    with file.open("rb") as stream:
        header, arrays = pipe.received(stream)
        assert header == {"do": "step"} and arrays["led"].tolist() == [1, 2]
        assert np.array_equal(arrays["states"], states)
        assert pipe.received(stream) == ({"empty": None}, {})
        with pytest.raises(EOFError):
            pipe.received(stream)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\xff" * 64, b"\x02\0\0\0\0\0\0\0[]", b"\x02\0\0\0\0\0\0\0{}", b"\x04\0\0\0\0\0\0\0nope",
        pipe.packed({}, {"states": np.zeros(3)}).replace(b"[3]", b"[9]"),
        pipe.packed({}, {"states": np.zeros(3)}).replace(b'"f8"', b'"f9"'),
    ],
)  # fmt: skip
def test_rubbish_is_no_message(rubbish: bytes, tmp_path: Path) -> None:
    file = tmp_path / "rubbish"
    file.write_bytes(rubbish)
    with file.open("rb") as stream, pytest.raises(ValueError, match=r".*"):
        pipe.received(stream)


# --------------------------------------------------------------------------- motion


def test_bodies_move_as_the_engine_says(falls) -> None:
    world = falls()
    run(world, 1.0)
    # Half a step more than by the formula, as velocities come first.
    fallen = GRAVITY * STEP**2 * 60 * 61 / 2
    assert place(world, "Crate") == pytest.approx([3.5, 0, 2 - fallen], abs=1e-5)
    assert place(world, "Hook").tolist() == [0, 0, 5]
    linear, angular = world.velocities()
    assert linear[world.index(f"{W}/Crate")] == pytest.approx([0.5, 0, -GRAVITY], abs=1e-5) and not angular.any()
    assert world.awake.tolist() == [True, False, True]
    assert 0.0 < world.delay <= world.step_milliseconds


def test_a_kinematic_body_arrives_with_each_step(falls) -> None:
    world = falls()
    for step in range(1, 4):
        world.set_kinematic_pose(f"{W}/Hook", (0.1 * step, 0, 5), (0.6, 0, 0, 0.8))
        world.step()
        assert place(world, "Hook") == pytest.approx([0.1 * step, 0, 5])
    assert world.rotations[world.index(f"{W}/Hook")] == pytest.approx([0.6, 0, 0, 0.8])


def test_a_grab_pulls_its_body_to_the_target_and_lets_go(falls) -> None:
    world = falls()
    world.set_gravity((0, 0, 0))
    number = world.grab(f"{W}/Crate", place(world, "Crate"))
    world.move_grab(number, (3, 0, 3))
    run(world, 2.0)
    assert place(world, "Crate") == pytest.approx([3, 0, 3], abs=1e-3)
    world.release(number)
    before = place(world, "Crate")
    run(world, 0.5)
    assert place(world, "Crate") == pytest.approx(before, abs=1e-3) and world.grabs == []


def test_a_reset_begins_anew_and_undoes_edits(falls) -> None:
    world = falls()
    start = world.positions.copy()
    before = run(world, 0.5).positions.copy()
    world.set_gravity((0, 0, 1))
    run(world, 0.5)
    world.reset()
    assert np.array_equal(world.positions, start) and world.frame == 0
    assert world.spaces[0].gravity == pytest.approx((0, 0, -GRAVITY), abs=1e-5)
    assert np.array_equal(run(world, 0.5).positions, before)


def test_a_moment_is_reached_again_with_all_that_was_told(falls) -> None:
    world = falls()
    number = world.grab(f"{W}/Crate", place(world, "Crate"))
    world.set_kinematic_pose(f"{W}/Hook", (0, 0, 6), (1, 0, 0, 0))
    run(world, 0.2)
    world.set_gravity((0, 0, 2))
    moment = run(world, 0.2).snapshot()
    world.release(number)
    after = run(world, 0.3).positions.copy()
    world.restore(moment)
    assert np.array_equal(world.positions, moment.positions) and world.grabs == []
    assert np.array_equal(run(world, 0.3).positions, after)


@pytest.mark.slow
def test_drives_change_where_the_engine_takes_them(falls) -> None:
    world = falls(stand_in_joints=f"{W}/Hinge")
    world.set_gravity((0, 0, 0))
    world.set_drive(f"{W}/Hinge", "angular", damping=1.0, target_velocity=2.0)
    world.step()
    assert world.velocities()[0][world.index(f"{W}/Lamp"), 0] == 2.0
    world = falls(stand_in_joints="")
    with pytest.raises(NotLiveError, match=f"'{W}/Hinge' only when it starts"):
        world.set_drive(f"{W}/Hinge", "angular", damping=1.0)


def test_what_it_takes_at_the_start_only_is_refused(falls) -> None:
    world = falls(stand_in_takes="")
    edits = [
        lambda: world.set_gravity((0, 0, 1)), lambda: world.set_mass(f"{W}/Crate", 2.0),
        lambda: world.set_friction("", 0.1), lambda: world.set_joint_enabled(f"{W}/Hinge", False),
        lambda: world.set_static_pose(f"{W}/Ground/Shape", (0, 0, 1), (1, 0, 0, 0)),
    ]  # fmt: skip
    for edit in edits:
        with pytest.raises(NotLiveError):
            edit()
    with pytest.raises(InputError, match="PhysX does not pose joints"):
        world.pose_joint(f"{W}/Hinge", "angular", 0.5)


def test_what_it_does_not_say_is_named(falls) -> None:
    file = File(METERS)
    file.add(
        file.body("Post", (0, 0, 5), kinematic=True), file.body("Lamp", (1, 0, 5)),
        file.joint("Weld", "Fixed", f"{W}/Post", f"{W}/Lamp", pos1=(-1, 0, 0), break_force=50.0),
    )  # fmt: skip
    world = falls(file)
    found = [notice.message for notice in world.notices if notice.code == "EngineLimits"]
    assert any("does not measure what joints bear" in message for message in found)
    assert any(f"PhysX does not say whether {W}/Weld breaks: it is shown as whole." in message for message in found)
    assert not world.can(Ability.TOUCHES) and world.contact_count() == 0


# --------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("dies@step", "PhysX could not simulate the scene: it ended with exit status 7"),
        ("raises@step", "the scene is too odd"),
        ("rubbish@step", "PhysX answers with something that is no answer"),
        ("text@step", "PhysX answers without the poses of 3 bodies"),
    ],
)
def test_a_child_that_fails_is_one_sentence_and_gone(falls, fault: str, sentence: str) -> None:
    world = falls(fault=fault)
    pid = process(world)
    world.step()
    world.step()
    before = world.positions.copy()
    with pytest.raises(EngineError, match=sentence) as raised:
        run(world, 0.1)
    assert "\n" not in str(raised.value) and np.array_equal(world.positions, before) and has_ended(pid)
    with pytest.raises(EngineError):
        world.step()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["dies@build", "raises@build", "rubbish@build", "text@build"])
def test_a_child_that_fails_at_the_start_is_a_sentence(falls, fault: str) -> None:
    with pytest.raises(EngineError, match="PhysX"):
        falls(fault=fault)


@pytest.mark.slow
def test_a_child_that_hangs_is_ended(falls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "STEPPING", 0.5)
    world = falls(fault="hangs@step")
    pid = process(world)
    with pytest.raises(EngineError, match=r"PhysX has not answered for 0\.5 s, and was ended"):
        run(world, 0.1)
    assert has_ended(pid)


@pytest.mark.slow
def test_a_child_that_fills_the_memory_is_ended(falls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USDPHYS_MEMORY", "0.3")
    world = falls(fault="eats@step")
    with pytest.raises(EngineError, match=r"PhysX takes more than 0\.3 GB of memory, and was ended"):
        run(world, 0.1)


def test_a_start_that_is_given_up_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.stands_for(monkeypatch, ENGINES, fault="hangs@build")
    from .helpers import model_in

    steps = World.steps(model_in(scene()), engine="physx")
    begun: list[int] = []
    monkeypatch.setattr(child.Child, "begin", _noting(begun))
    while not begun:
        next(steps)
    steps.close()
    assert has_ended(begun[0])


def _noting(begun: list[int]):
    own = child.Child.begin

    def begin(self, *arguments, **header):
        begun.append(self.pid)
        return own(self, *arguments, **header)

    return begin


@pytest.mark.slow
def test_the_process_of_a_world_that_is_closed_waits_for_the_next_one(falls, monkeypatch: pytest.MonkeyPatch) -> None:
    first = falls()
    pid, before = process(first), run(first, 0.2).positions.copy()
    first.close()
    with pytest.raises(EngineError, match="PhysX does not run any more"):
        first.step()
    second = falls()
    assert process(second) == pid and np.array_equal(run(second, 0.2).positions, before)
    # It is taken, and another one is started meanwhile.
    assert process(falls()) != pid
    monkeypatch.setattr(child, "WAITING", 0.1)
    second.close()
    assert has_ended(pid)


@pytest.mark.slow
def test_a_world_that_is_dropped_ends_its_child(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in.stands_for(monkeypatch, ENGINES)
    monkeypatch.setenv("USDPHYS_ALONE", "1")
    world = world_of(scene(), engine="physx")
    pid, folder = process(world), world.spaces[0].child.folder  # type: ignore[attr-defined]
    del world
    gc.collect()
    assert has_ended(pid) and not folder.exists()


def test_an_engine_that_is_not_set_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in programs().values():
        monkeypatch.delenv(row.variable, raising=False)
        assert not row.is_here() and "in the preferences" in row.get
    with pytest.raises(InputError, match="PhysX needs a Python of its own"):
        world_of(scene(), engine="physx")


# --------------------------------------------------------------------------- PhysX and Newton themselves


@pytest.fixture(params=[key for key, row in ENGINES.items() if isinstance(row, Program)])
def real(request: pytest.FixtureRequest):
    """Makes worlds in an engine that is installed."""
    row, made = ENGINES[request.param], []
    assert isinstance(row, Program)
    if not row.is_here():
        pytest.skip(f"{row.name} is not here: set {row.variable} to the Python, or the folder, that has it")

    def make(file: File) -> World:
        made.append(world_of(file, engine=request.param))
        return made[-1]

    yield make
    for world in made:
        world.close()


def arm() -> File:
    """An arm of one hinge with a drive, a carrier that is led, a rider on it, and a ball that falls."""
    file = File(METERS)
    return file.add(
        file.ground(), file.body("Base", (0, 3, 5), apis=["PhysicsArticulationRootAPI"]),
        file.joint("Fix", "Fixed", "", f"{W}/Base", pos0=(0, 3, 5)), file.body("Link", (1, 3, 5)),
        file.joint("Hinge", "Revolute", f"{W}/Base", f"{W}/Link", pos1=(-1, 0, 0), axis="Y",
                   drives={"angular": {"stiffness": 2000.0, "damping": 200.0}}),
        file.body("Carrier", (0, 0, 3), kinematic=True, size=(4, 4, 0.5)), file.body("Rider", (0, 0, 3.751)),
        file.body("Ball", (8, 0, 9), shape="Sphere", size=(0.5, 0, 0), velocity=(1, 0, 0), spin=(0, 0, 2)),
    )  # fmt: skip


def test_an_engine_lets_bodies_fall(real) -> None:
    world = run(real(arm()), 0.5)
    assert place(world, "Ball") == pytest.approx([8.5, 0, 9 - GRAVITY / 8], abs=0.05)
    linear, angular = world.velocities()
    row = world.index(f"{W}/Ball")
    assert linear[row] == pytest.approx([1, 0, -GRAVITY / 2], abs=0.05)
    assert angular[row] == pytest.approx([0, 0, 2], abs=0.1)


def test_an_engine_carries_what_rides_and_moves_what_is_grabbed(real) -> None:
    world = real(arm())
    number = world.grab(f"{W}/Ball", place(world, "Ball") + np.array([0.5, 0, 0]))
    world.move_grab(number, (8.5, 0, 9))
    for step in range(60):
        speed = min(step, 30) / 30
        world.set_kinematic_pose(f"{W}/Carrier", place(world, "Carrier") + np.array([speed * STEP, 0, 0]), (1, 0, 0, 0))
        world.step()
    assert place(world, "Carrier")[0] > 0.6
    assert place(world, "Rider")[0] == pytest.approx(place(world, "Carrier")[0], abs=0.05)
    assert world.grab_point(number) == pytest.approx([8.5, 0, 9], abs=0.15)


def test_an_engine_follows_a_drive_and_a_reset_is_exact(real) -> None:
    world = real(arm())
    start, before = world.positions.copy(), run(world, 0.5).positions.copy()
    world.set_drive(f"{W}/Hinge", "angular", target_position=0.5)
    run(world, 1.5)
    assert world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(0.5, abs=0.02)
    world.reset()
    assert np.array_equal(world.positions, start)
    assert np.array_equal(run(world, 0.5).positions, before)


def test_an_engine_takes_mass_and_inertia_as_they_are(real) -> None:
    """A physical pendulum: with its inertia of 2 kg m2, it swings in 3.5 s, without that in 2."""
    file = File(METERS)
    file.add(
        file.body("Bob", (-0.2, 0, 4.0), mass=1.0, inertia=(2.0, 2.0, 2.0), collides=False,
                  apis=["PhysicsArticulationRootAPI"]),
        file.joint("Hinge", "Revolute", "", f"{W}/Bob", pos0=(-0.2, 0, 5), pos1=(0, 0, 1), axis="Y"),
        file.body("Stay", (9, 0, 5)),
    )  # fmt: skip
    world = real(file)
    number = world.grab(f"{W}/Bob", place(world, "Bob"))
    world.move_grab(number, (0.0, 0, 4.0))
    run(world, 4.0)
    world.release(number)
    begun = world.joint_position(f"{W}/Hinge", "angular")
    period = 2.0 * np.pi * np.sqrt(3.0 / GRAVITY)
    run(world, round(period / 2.0 / STEP) * STEP)
    assert abs(begun) > 0.1 and world.joint_position(f"{W}/Hinge", "angular") == pytest.approx(-begun, rel=0.15)


def test_an_engine_lets_meshes_rest_on_meshes(real) -> None:
    points = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    file = File(METERS)
    plate = [(10 * x, 10 * y, z - 0.5) for x, y, z in points]
    file.add(
        file.body("Floor", (0, 0, 0), dynamic=False,
                  geometry=file.mesh("Shape", plate, faces, "none")),
        file.body("Crate", (0, 0, 1), mass=1.0, geometry=file.mesh("Shape", points, faces, "convexHull")),
        file.body("Ball", (2, 0, 1), shape="Sphere", size=(0.5, 0, 0)),
        file.body("Pill", (-2, 0, 1.5), shape="Capsule", size=(0.3, 1.0, 0)),
    )  # fmt: skip
    world = run(real(file), 2.0)
    assert [place(world, name)[2] for name in ("Crate", "Ball")] == pytest.approx([0.5, 0.5], abs=0.03)
    assert place(world, "Pill")[2] == pytest.approx(0.8, abs=0.05) or place(world, "Pill")[2] == pytest.approx(
        0.3, abs=0.05
    )


# --------------------------------------------------------------------------- as data


class Noted(WithPreviewShapes):
    """Keeps what an engine is made of."""

    setups: list[Setup] = []  # noqa: RUF012

    def __init__(self, setup: Setup) -> None:
        self.setups.append(setup)
        raise EngineError("This engine is only told the scene.")


def forms_of(monkeypatch: pytest.MonkeyPatch, file: File) -> tuple[dict[str, list[tuple]], list[str]]:
    """(kind, numbers, place) of the shapes of each body, as an engine without USD is told; and what it is not told."""
    monkeypatch.setitem(ENGINES, "noted", Solver("Noted", "", f"{__name__}:Noted"))
    Noted.setups.clear()
    with pytest.raises(EngineError):
        world_of(file, engine="noted")
    (setup,) = Noted.setups
    found = matter_of(setup, {})
    shapes = {path: row["shapes"] for path, row in zip(setup.bodies, found.scene["bodies"], strict=True)}
    shapes |= {prim.path: row["shapes"] for prim, row in zip(setup.statics, found.scene["statics"], strict=True)}
    return {
        path: [(one["kind"], one["numbers"], one["pose"][:3]) for one in each] for path, each in shapes.items()
    }, [what for _, what in found.missing]  # fmt: skip


@pytest.mark.parametrize("units", [METERS, CENTIMETERS])
def test_boxes_and_balls_around_meshes_collide_in_an_engine_that_reads_no_usd(units, monkeypatch) -> None:
    corners, faces = prism(4, 1.0, 3.0)
    moved = [(x + 1.0, y, z) for x, y, z in corners]
    file = File(units)
    for name, dynamic in (("Crate", True), ("Floor", False)):
        mesh = file.mesh("Shape", moved, faces, "boundingCube", scale=(2, 1, 1))
        file.add(file.body(name, (0, 0, 5), geometry=mesh, dynamic=dynamic))
    file.add(file.body("Ball", (0, 0, 9), geometry=file.mesh("Shape", corners, faces, "boundingSphere")))
    found, missing = forms_of(monkeypatch, file)
    assert missing == []
    ((kind, numbers, place),) = found[f"{W}/Crate"]
    assert kind == "box" and numbers == pytest.approx([2.0, 1.0, 1.5]) and place == pytest.approx([2.0, 0.0, 0.0])
    ((kind, numbers, _),) = found[f"{W}/Floor/Shape"]
    assert kind == "box" and numbers == pytest.approx([2.0, 1.0, 1.5])
    assert found[f"{W}/Ball"] == [("sphere", pytest.approx([np.hypot(1.0, 1.5)]), pytest.approx([0.0, 0.0, 0.0]))]


def test_a_joint_with_a_static_collider_is_on_it_so_that_the_two_do_not_collide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = File(METERS)
    file.add(file.body("Frame", (1, 2, 0), dynamic=False), file.body("Door", (1, 2, 0.5)),
             file.joint("Hinge", "Revolute", f"{W}/Frame/Shape", f"{W}/Door", axis="Z", pos0=(0.5, 0, 0),
                        pos1=(0.5, 0, -0.5)))  # fmt: skip
    monkeypatch.setitem(ENGINES, "noted", Solver("Noted", "", f"{__name__}:Noted"))
    Noted.setups.clear()
    with pytest.raises(EngineError):
        world_of(file, engine="noted")
    (joint,) = matter_of(Noted.setups[0], {}).scene["joints"]
    assert (joint["bodies"], joint["collides"]) == ([1, 0], False)
    assert joint["poses"][0][:3] == pytest.approx([0.5, 0.0, 0.0])


def test_joints_are_told_outward_from_what_bears_the_others_whatever_their_order() -> None:
    """Measured in Havok: a car of 5 m was 21 mm apart at its wheels in the order of its file, and is 3 mm so."""

    def facts(name: str, one: str, other: str) -> JointFacts:
        return JointFacts(Prim(f"/{name}"), "FixedJoint", "", one, other, "", "", np.eye(4), np.eye(4), [])

    joints = [facts("A", "/Hub", "/Wheel"), facts("B", "/Car", "/Hub"), facts("C", "/Car", "/Trailer"),
              facts("D", "/Lamp", ""), facts("E", "/Bulb", "/Lamp")]  # fmt: skip
    masses = {"/Car": 900.0, "/Trailer": 100.0, "/Hub": 20.0, "/Wheel": 40.0, "/Lamp": 1.0, "/Bulb": 0.1}
    for order in (joints, joints[::-1]):
        assert [joint.path for joint in outward(order, masses)] == ["/D", "/E", "/B", "/C", "/A"]


#: Stands for Havok in Node.js: writes down its calls. Bodies do not move, and body 2 (the first is the ground) turns.
NOTED_HAVOK = """
const calls = [];
const rest = { HP_Body_GetQTransform: [[0, 0, 0], [0, 0, 0, 1]], HP_Body_GetLinearVelocity: [0, 0, 0] };
let bodies = 0;
module.exports = async () => new Proxy({}, { get: (_, name) => {
    if (name === "then") return undefined;
    if (!name.startsWith("HP_")) return new Proxy({}, { get: (_, value) => value });
    return (...given) => {
        calls.push([name, ...given]);
        require("fs").writeFileSync(__dirname + "/calls.json", JSON.stringify(calls));
        if (name === "HP_Body_GetAngularVelocity") return [0, [0, 0, SPINS.includes(given[0]) ? 1 : 0]];
        return name === "HP_Body_Create" ? [0, ++bodies] : name in rest ? [0, rest[name]] : [0, 0];
    };
} });
"""


@pytest.fixture
def noted_havok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes worlds in Havok's program, whose Havok writes its calls down; returns (world, what gives the calls)."""
    if shutil.which("node") is None:
        pytest.skip("needs node")
    folder = tmp_path / "@babylonjs" / "havok" / "lib" / "umd"
    folder.mkdir(parents=True)
    (folder / "HavokPhysics.wasm").touch()
    monkeypatch.setenv("USDPHYS_HAVOK_FOLDER", str(tmp_path))
    made: list[World] = []

    def make(file: File, spins: tuple[int, ...] = (), **options: object) -> tuple[World, Callable[[], list[list[Any]]]]:
        text = NOTED_HAVOK.replace("SPINS", str(list(spins)))
        (folder / "HavokPhysics_umd.js").write_text(text, encoding="utf-8")
        made.append(world_of(file, engine="havok", **options))
        return made[-1], lambda: json.loads((folder / "calls.json").read_text(encoding="utf-8"))

    yield make
    for world in made:
        child_of = world.spaces[0].child  # type: ignore[attr-defined]
        world.close()
        child_of.close()


def test_havok_gets_the_mass_of_a_body_before_that_is_in_its_world(noted_havok) -> None:
    """Afterwards, gravity turned no link whose centre of mass was within a millimetre of its axis."""
    file = File(METERS)
    _, calls = noted_havok(file.add(file.body("Crate", center=(0.0, 0.0, 0.001))))
    names = [name for name, *given in calls() if given[:1] == [1] or given[1:2] == [1]]
    assert names.index("HP_Body_SetMassProperties") < names.index("HP_World_AddBody")


def controls(calls: list[list[Any]], body: int) -> list[str]:
    return [given[1] for name, *given in calls if name == "HP_Body_SetActivationControl" and given[0] == body]


@pytest.mark.slow
def test_havok_puts_bodies_to_sleep_as_at_60_steps_a_second_and_not_those_that_stay_awake(noted_havok) -> None:
    """With 4 substeps it stopped what turned at less than 1.3 rad/s, and at 60 steps a second below 0.33."""
    file = File(METERS)
    never = ["float physxRigidBody:sleepThreshold = 0"]
    file.add(file.body("Rests", (0, 0, 0)), file.body("Turns", (5, 0, 0)),
             file.body("Stays", (9, 0, 0), apis=["PhysxRigidBodyAPI"], extra=never))  # fmt: skip
    world, calls = noted_havok(file, (2,), substeps=4)
    order = [path.rpartition("/")[2] for path in world.paths]
    assert order == ["Rests", "Turns", "Stays"]
    for _ in range(30):
        world.step()
    awake, released = "ALWAYS_ACTIVE", "SIMULATION_CONTROLLED"
    assert [controls(calls(), body) for body in (1, 2, 3)] == [[awake, released], [awake], [awake]]


def test_havok_sleeps_by_itself_at_60_steps_a_second(noted_havok) -> None:
    file = File(METERS)
    world, calls = noted_havok(file.add(file.body("Rests")), substeps=1)
    world.step()
    assert controls(calls(), 1) == []
