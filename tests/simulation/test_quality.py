# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps by mass, size and quality."""

from __future__ import annotations

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.simulation.hanging import hanging
from usdphys_ext.usdphys_addon.simulation.rapier.quality import (
    QUALITIES,
    contact_steps,
    is_bearable,
    joint_sweeps,
    rolling_steps,
    stop_relaxations,
)

from .author import CENTIMETERS, File, block
from .helpers import codes, place, run, world_of
from .measures import MEASURES
from .measuring import moved

W = "/World"


def hung(weight: float, link: float = 1.0, root: bool = False, count: int = 4) -> File:
    file = File(CENTIMETERS)
    previous, anchor, inside = "", (0.0, 0.0, 9.0), []
    for index in range(count):
        path = f"{W}/R/Link{index}"
        inside.append(file.body(f"Link{index}", (0, 0, 8.9 - 0.2 * index), size=(0.1, 0.1, 0.2), mass=link,
                                inertia=(0.01 * link,) * 3))  # fmt: skip
        inside.append(file.joint(f"J{index}", "Spherical", previous, path, pos0=anchor, pos1=(0, 0, 0.1)))
        previous, anchor = path, (0.0, 0.0, -0.1)
    inside += [file.body("Weight", (0, 0, 8.7 - 0.2 * count), size=(0.4,) * 3, mass=weight),
               file.joint("Hook", "Spherical", previous, f"{W}/R/Weight", pos0=anchor, pos1=(0, 0, 0.3))]  # fmt: skip
    return file.add(block("Xform", "R", inside, ["PhysicsArticulationRootAPI"] if root else []))


def test_a_body_that_far_too_much_hangs_on_is_named() -> None:
    assert codes(world_of(hung(1000.0))) == []
    (notice,) = world_of(hung(1000.0, link=0.001)).notices
    # The top link bears the others as well, and the bottom one the weight alone: they are nearly the same.
    assert notice.code == "MassRatio" and "Link0" in notice.message and "1e+06" in notice.message


@pytest.mark.parametrize(("weight", "count", "named"), [(10.0, 4, False), (500.0, 4, True), (10.0, 20, True)])
def test_an_articulation_that_is_long_or_bears_much_is_simulated_in_maximal_coordinates(
    weight: float, count: int, named: bool
) -> None:
    world = world_of(hung(weight, root=True, count=count))
    assert ("ArticulationNotReduced" in codes(world)) == named
    assert world.is_reduced(f"{W}/R/J0") != named
    run(world, 2.0)
    assert place(world, "Weight")[2] == pytest.approx(8.7 - 0.2 * count, abs=0.01)
    assert world.unstable == {}


def test_limits_of_many_bodies_get_no_more_sweeps() -> None:
    few, many = stop_relaxations(16, has_stops=True), stop_relaxations(160, has_stops=True)
    assert few > many == stop_relaxations(160, has_stops=False) == stop_relaxations(16, has_stops=False)


def test_what_hangs_on_a_body_is_what_it_holds_on_all_sides_but_the_heaviest() -> None:
    masses = {"hook": 1.0, "weight": 50.0, "torso": 80.0, "arm": 4.0, "hand": 0.5, "alone": 7.0}
    groups = hanging(
        [("", "hook"), ("hook", "weight"), ("torso", "arm"), ("arm", "hand"), ("alone", "wall")], masses
    )  # fmt: skip
    found = {group.bodies: (group.body, group.ratio) for group in groups}
    assert found == {
        ("hook", "weight"): ("hook", pytest.approx(50.0)),
        ("torso", "arm", "hand"): ("arm", pytest.approx(0.125)),
        ("alone",): ("alone", 0.0),
    }


def test_a_loop_of_bodies_has_an_end() -> None:
    (group,) = hanging([("a", "b"), ("b", "c"), ("c", "a")], {"a": 1.0, "b": 1.0, "c": 1.0})
    assert sorted(group.bodies) == ["a", "b", "c"]


def test_smaller_and_more_uneven_bodies_get_smaller_steps_and_stiffer_contacts() -> None:
    normal = QUALITIES["normal"]
    boxes = contact_steps(normal, 1 / 120, 9.81, [1.0, 1.0], [1.0, 1.0])
    assert boxes == (4, pytest.approx(120.0))
    uneven = contact_steps(normal, 1 / 120, 9.81, [1.0, 1000.0], [0.4, 0.4])
    tiny = contact_steps(normal, 1 / 120, 9.81, [1.0, 1.0], [0.005, 0.005])
    assert uneven.small_steps > 4 and uneven.frequency > 130
    assert tiny.small_steps > 4 and tiny.frequency > 200
    # Without gravity nothing sinks; a step of any length is stable.
    assert contact_steps(normal, 1 / 120, 0.0, [1.0, 1000.0], [0.4, 0.4]) == boxes
    assert contact_steps(normal, 1 / 60, 9.81, [1.0], [1.0]).small_steps == 8
    # A large pile of equal boxes is softer, but for the exact quality; uneven masses are not.
    crowd = [1.0] * 1000
    assert contact_steps(normal, 1 / 120, 9.81, crowd, crowd).frequency == 60.0
    assert contact_steps(QUALITIES["exact"], 1 / 480, 9.81, crowd, crowd).frequency == 120.0
    assert contact_steps(normal, 1 / 120, 9.81, [*crowd, 1000.0], [*crowd, 0.4]).frequency > 100.0
    assert not is_bearable(normal, 1e6) and is_bearable(QUALITIES["exact"], 1e5)


def test_a_body_of_nearly_no_size_gets_the_most_steps_there_are_and_no_infinite_number() -> None:
    found = contact_steps(QUALITIES["normal"], 1.0, 9.81, [1.0, 1e-300], [1e-310, 1.0])
    assert found.small_steps == QUALITIES["normal"].small_steps and 0.0 < found.frequency < 1e6


@pytest.mark.slow
@pytest.mark.parametrize("quality", QUALITIES)
def test_every_quality_simulates_a_stack_and_a_chain(quality: str) -> None:
    """Draft may be a tenth off where the others are not."""
    for case in MEASURES:
        if case.name.startswith(("ten boxes", "100 kg on 1 kg", "chain of 50", "pendulum with")):
            file = File(CENTIMETERS)
            case.fill(file)
            off = abs(case.value(moved(world_of(file, quality=quality), case)) - case.expected)
            assert off <= case.tolerance * (4.0 if quality == "draft" else 1.0), case.name


def test_a_finer_quality_takes_more_steps() -> None:
    file = File()
    file.add(file.body("Box"))
    assert [world_of(file, quality=name).substeps for name in ("draft", "normal", "exact")] == [1, 2, 8]
    assert world_of(file, quality="exact", substeps=3).substeps == 3
    with pytest.raises(KeyError):
        world_of(file, quality="best")


@pytest.mark.parametrize("spin", [math.inf, math.nan])
def test_a_body_that_is_lost_takes_no_more_steps(spin: float) -> None:
    assert rolling_steps(1 / 60, spin, 4) == 4 < rolling_steps(1 / 60, 1000.0, 4)


@pytest.mark.parametrize("size", [0.005, 0.01, 0.02, 0.1])
def test_a_stack_of_ten_cubes_stands_in_draft(size: float) -> None:
    file = File()
    file.add(file.ground(), *(file.body(f"Cube{number}", (0, 0, size * (number + 0.5)), size=(size,) * 3,
                                        mass=1000.0 * size**3) for number in range(10)))  # fmt: skip
    world = world_of(file, quality="draft")
    start = world.positions.copy()
    moved = np.linalg.norm(run(world, 3.0).positions - start, axis=1)
    assert moved.max() < 0.1 * size


@pytest.mark.parametrize("number", [3, 20])
def test_a_driven_loop_of_uneven_masses_gets_more_sweeps_but_not_for_ever(number: int) -> None:
    def sweeps(heaviest: float) -> int:
        masses = {str(index): 1.0 for index in range(number)} | {"0": heaviest}
        ring = [(str(index), str((index + 1) % number)) for index in range(number)]
        (group,) = hanging(ring, masses)
        return joint_sweeps(group, 16, drives=1)

    even, uneven, wildly = (sweeps(heaviest) for heaviest in (1.0, 14.0, 1e9))
    assert even < uneven < wildly
    assert wildly * number <= 800
