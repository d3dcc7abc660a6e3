# SPDX-License-Identifier: GPL-3.0-or-later
"""Round trips in a certificate: silent where a format keeps the motion, with its own words where it says that it does
not, and a failure where something gets lost without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.cli import round_trips
from usdphys_ext.usdphys_addon.core import clock, frames, mass
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.validate import Issue
from usdphys_ext.usdphys_addon.proving import joint_statements, opinions, trips
from usdphys_ext.usdphys_addon.proving.certificate import Check
from usdphys_ext.usdphys_addon.proving.prove import Wish, prove
from usdphys_ext.usdphys_addon.system import blender

from .author import METERS, File
from .demos import DEMOS
from .test_proving import W, model_of, stage_of


@pytest.fixture(autouse=True)
def _time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 0.0)


def tripped(demo: str, change: Any = None, *issues: Issue, seconds: float = 1.0) -> list[Check]:
    """The checks of a round trip through a format that changes a model."""
    stage, other = stage_of(DEMOS[demo](METERS)), stage_of(DEMOS[demo](METERS))

    @contextmanager
    def trip() -> Iterator[Any]:
        model = model_of(other)
        yield change(model) if change is not None else model, list(issues)

    wish = Wish("a.usda", model_of(stage), stage, seconds=seconds, sections=frozenset({"rewrites"}))
    wish.trips = {"Paper": trip}
    return [check for check in prove(wish).certificate.checks if check.name == "Paper"]


def edited(model: Any, path: str, kind: type, **values: Any) -> Any:
    prim = model.prims[f"{W}/{path}"]
    name = next(key for key, value in prim.schemas.items() if isinstance(value, kind))
    prim.schemas[name] = prim.schemas[name].copy(**values)
    return model


def lost_limit(model: Any) -> Any:
    return edited(model, "Hinge", usd_physics.RevoluteJoint, upper_limit=None)


@pytest.mark.slow
def test_a_format_that_keeps_all_passes() -> None:
    assert [check.status for check in tripped("door")] == ["pass"]


@pytest.mark.slow
def test_what_gets_lost_without_a_word_fails_with_its_attribute() -> None:
    (check,) = tripped("door", lost_limit)
    assert (check.status, check.causes[0].attribute) == ("fail", "physics:upperLimit")


@pytest.mark.slow
def test_what_a_format_says_that_it_does_not_keep_is_no_failure_and_has_its_words() -> None:
    unrelated = Issue("PaperNotSaid", "info", f"{W}/Leaf", "Leaf", "Paper has no colours.", "Use ink.")
    told = Issue(
        "PaperNotSaid", "info", f"{W}/Hinge", "Hinge", "Paper has no upper limits: that of 'Hinge'.", "Use ink."
    )
    (check,) = tripped("door", lost_limit, unrelated, told)
    assert (check.status, check.causes[0].attribute) == ("differs", "physics:upperLimit")
    assert "Paper does not keep it: Paper has no upper limits" in check.message
    (check,) = tripped("door", lost_limit, unrelated)
    assert check.status == "fail"


@pytest.mark.slow
def test_where_no_cause_is_found_what_a_format_says_of_a_body_of_the_joint_may_be_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """MJCF named the damping of the planks of a bridge, and its joints failed as if that were lost without a word."""
    monkeypatch.setattr(joint_statements, "narrowed", lambda _found, _has_time: ([], "There was no time."))
    told = Issue("PaperNotSaid", "info", f"{W}/Leaf", "Leaf", "Paper has no damping: that of 'Leaf'.", "Use ink.")
    (check,) = tripped("door", lost_limit, told)
    assert (check.status, check.path, check.fix) == ("differs", f"{W}/Hinge", "Use ink.")
    assert "Paper says what may be why: Paper has no damping" in check.message


@pytest.mark.slow
def test_a_body_that_is_gone_is_missing_unless_it_stood_still() -> None:
    def without(name: str) -> Any:
        def change(model: Any) -> Any:
            for path in [path for path in model.prims if path.startswith(f"{W}/{name}")]:
                del model.prims[path]
            return model

        return change

    assert [(check.status, check.path) for check in tripped("ball", without("Ball"))][:1] == [("fail", f"{W}/Ball")]

    def fixed_to_the_world(model: Any) -> Any:
        """The base of the arm is a part of the world, as what it is fixed to."""
        del model.prims[f"{W}/Fix"]
        model.prims[f"{W}/Base"].schemas.clear()
        return model

    assert [check.status for check in tripped("arm", fixed_to_the_world, seconds=0.25)] == ["pass"]


@pytest.mark.slow
def test_a_format_may_swap_the_sides_of_a_joint_and_place_frames_elsewhere() -> None:
    def otherwise(model: Any) -> Any:
        joint = model.prims[f"{W}/Hinge"].get(usd_physics.RevoluteJoint)
        swapped = {f"{name}{side}": getattr(joint, f"{name}{1 - side}")
                   for name in ("body", "local_pos", "local_rot") for side in (0, 1)}  # fmt: skip
        return edited(
            model, "Hinge", usd_physics.RevoluteJoint, **swapped, lower_limit=-joint.upper_limit,
            upper_limit=-joint.lower_limit,
        )  # fmt: skip

    assert [check.status for check in tripped("door", otherwise)] == ["pass"]


def test_frames_of_bodies_are_made_alike_and_what_is_said_in_them_with_it() -> None:
    one, other = (model_of(stage_of(DEMOS["chain"](METERS))) for _ in range(2))
    path = f"{W}/Link1"
    shift = frames.transform((0.2, -0.1, 0.3), frames.matrix_of(frames.turn_by(np.array((0.3, 0.5, -0.2)))))
    moved = other.copied()
    world = other.prims[path].world @ shift
    trips.say_anew(moved, path, world)
    for joint_path, prim in moved.joints.items():
        joint: Any = prim.get(usd_physics.Joint)
        for side in (0, 1):
            if getattr(joint, f"body{side}") == (path,):
                pose = (joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
                place, turn = frames.local_frame(world, frames.world_frame(other.prims[path].world, *pose))
                name = next(key for key, value in prim.schemas.items() if value is joint)
                joint = joint.copy(**{f"local_pos{side}": place, f"local_rot{side}": turn})
                moved.prims[joint_path].schemas[name] = joint
    back = trips.rebased(one, moved)
    assert np.allclose(back.prims[path].world, one.prims[path].world)
    was, now = (model.prims[path].get(usd_physics.RigidBodyAPI) for model in (one, back))
    assert np.allclose(was.velocity, now.velocity, atol=1e-6)
    for name in ("Ball1", "Ball2"):
        was, now = (model.prims[f"{W}/{name}"].get(usd_physics.Joint) for model in (one, back))
        for field in ("local_pos0", "local_pos1", "local_rot0", "local_rot1"):
            assert np.allclose(was.resolved(field), now.resolved(field), atol=1e-6), (name, field)


def test_masses_and_frames_of_joints_in_other_words_are_no_difference() -> None:
    """MJCF says all masses, and each axis as Z: of 16 such words, no search found which lost the motion of a plank."""
    one, other = (model_of(stage_of(DEMOS["door"](METERS))) for _ in range(2))
    hinge: Any = other.prims[f"{W}/Hinge"].get(usd_physics.RevoluteJoint)
    axis = np.eye(3)["XYZ".index(hinge.resolved("axis"))]
    onto_x = np.array([axis, np.roll(axis, 1), np.roll(axis, 2)]).T
    turned = {
        f"local_rot{side}": frames.quaternion_of(frames.matrix_of(hinge.resolved(f"local_rot{side}")) @ onto_x)
        for side in (0, 1)
    }  # fmt: skip
    edited(other, "Hinge", usd_physics.RevoluteJoint, axis="X", **turned)
    weight = mass.mass_properties(other, f"{W}/Leaf")
    other.prims[f"{W}/Leaf"].add(usd_physics.MassAPI(
        mass=weight.mass, center_of_mass=weight.center_of_mass, diagonal_inertia=weight.diagonal_inertia,
        principal_axes=weight.principal_axes,
    ))  # fmt: skip
    assert len(opinions.differences(one, other)) > 3
    assert not opinions.differences(one, trips.said_alike(one, other))
    # The other way round.
    back = {
        f"local_rot{side}": frames.quaternion_of(
            frames.matrix_of(hinge.resolved(f"local_rot{side}")) @ onto_x @ np.diag((-1.0, 1.0, -1.0))
        )
        for side in (0, 1)
    }  # fmt: skip
    limits = {"lower_limit": -hinge.upper_limit, "upper_limit": -hinge.lower_limit}
    turned_round = edited(other.copied(), "Hinge", usd_physics.RevoluteJoint, **back, **limits)
    assert not opinions.differences(one, trips.said_alike(one, turned_round))
    round_y = np.diag((-1.0, 1.0, -1.0)) @ onto_x
    for values in (limits, {"local_pos1": (0.0, 0.1, 0.0)}, {"local_rot1": frames.quaternion_of(round_y)}):
        wrong = edited(other.copied(), "Hinge", usd_physics.RevoluteJoint, **values)
        assert opinions.differences(one, trips.said_alike(one, wrong))
    heavy = edited(other.copied(), "Leaf", usd_physics.MassAPI, mass=1.001 * weight.mass)
    assert "mass" in [opinion.field for opinion in opinions.differences(one, trips.said_alike(one, heavy))]


def test_the_frame_of_a_body_that_is_scaled_to_nothing_stays() -> None:
    one, other = (model_of(stage_of(DEMOS["chain"](METERS))) for _ in range(2))
    path = f"{W}/Link1"
    for model in (one, other):
        prim = model.prims[path]
        for name, value in list(prim.schemas.items()):
            if isinstance(value, usd_physics.MassAPI):
                del prim.schemas[name]
        mass = usd_physics.MassAPI(mass=1.0, center_of_mass=(0.0, 0.0, 0.0), diagonal_inertia=(1.0, 1.0, 1.0))
        prim.schemas[usd_physics.MassAPI.usd_name] = mass
    one.prims[path].world = one.prims[path].world @ np.diag([1.0, 1.0, 0.0, 1.0])
    back = trips.rebased(one, other)
    assert np.array_equal(back.prims[path].world, other.prims[path].world)


@pytest.mark.slow
def test_two_models_that_are_balanced_are_told_apart_where_gravity_leans() -> None:
    """A pendulum that stands upright without moving, with its centre of mass on the other side."""

    def turned(model: Any) -> Any:
        return edited(model, "Bar", usd_physics.MassAPI, center_of_mass=(0.3, 0.0, 0.0))

    def upright(model: Any) -> Any:
        return edited(model, "Scene", usd_physics.PhysicsScene, gravity_direction=(-1.0, 0.0, 0.0))

    stage, other = stage_of(DEMOS["pendulum"](METERS)), stage_of(DEMOS["pendulum"](METERS))
    wish = Wish("a.usda", upright(model_of(stage)), None, sections=frozenset({"against"}), seconds=1.0)
    wish.against = turned(upright(model_of(other)))
    causes = [cause.attribute for check in prove(wish).certificate.checks for cause in check.causes]
    assert "physics:centerOfMass" in causes


def test_without_blender_the_trips_that_need_it_are_said_to_be_left_out(tmp_path: Path) -> None:
    file = tmp_path / "door.usda"
    file.write_text(DEMOS["door"](METERS), encoding="utf-8")
    found = round_trips.trips_of(str(file))
    if blender.is_here():
        assert set(found) == {"MJCF", ".blend", "glTF", "URDF"}
    else:
        assert set(found) == {"MJCF", ".blend, glTF, URDF"}
        assert "need Blender" in str(found[".blend, glTF, URDF"])


@pytest.mark.slow
@pytest.mark.parametrize("demo", ["door", "crates", "drawer", "lift"])
def test_a_clean_asset_moves_alike_after_a_round_trip_through_mjcf(demo: str, tmp_path: Path) -> None:
    file = tmp_path / f"{demo}.usda"
    file.write_text(DEMOS[demo](METERS), encoding="utf-8")
    stage = stage_of(DEMOS[demo](METERS))
    wish = Wish(str(file), model_of(stage), stage, seconds=1.0, sections=frozenset({"rewrites"}))
    wish.trips = {"MJCF": round_trips.trips_of(str(file))["MJCF"]}
    assert [check.line() for check in prove(wish).certificate.checks if check.status != "pass"] == []


@pytest.mark.slow
def test_velocities_of_bodies_which_mjcf_does_not_have_are_named_as_such(tmp_path: Path) -> None:
    file = tmp_path / "chain.usda"
    file.write_text(DEMOS["chain"](METERS), encoding="utf-8")
    stage = stage_of(DEMOS["chain"](METERS))
    wish = Wish(str(file), model_of(stage), stage, seconds=0.5, sections=frozenset({"rewrites"}))
    wish.trips = {"MJCF": round_trips.trips_of(str(file))["MJCF"]}
    (check,) = [one for one in prove(wish).certificate.checks if one.name == "MJCF"]
    assert check.status == "differs"
    assert "physics:velocity" in {cause.attribute for cause in check.causes}
    assert "which bodies of MJCF do not have" in check.message


def test_what_a_format_says_of_a_name_with_a_dot_is_about_the_prim_without_it() -> None:
    model = model_of(stage_of(DEMOS["door"](METERS)))
    for word, is_about in (("'Hin.ge'", False), ("'Hinge'", True)):
        issue = Issue("MjcfNotSaid", "warning", "", "", f"It has no drive of joints: that of {word} is left out.", "")
        assert trips.is_about(model, issue, f"{W}/Hinge") == is_about
    model = model.renamed({f"{W}/Hinge": f"{W}/Hin_ge"})
    issue = Issue("MjcfNotSaid", "warning", "", "", "It has no drive of joints: that of 'Hin.ge' is left out.", "")
    assert trips.is_about(model, issue, f"{W}/Hin_ge")


@pytest.mark.slow
def test_a_body_that_is_locked_to_the_world_may_be_a_part_of_it_after_the_trip() -> None:
    """As MJCF has the base of an arm; what the joint to it said is said otherwise then."""

    def grounded(model: Any) -> Any:
        base = model.prims[f"{W}/Base"]
        own = (usd_physics.RigidBodyAPI, usd_physics.MassAPI)
        base.schemas = {name: value for name, value in base.schemas.items() if not isinstance(value, own)}
        del model.prims[f"{W}/Fix"]
        return model

    assert [check.status for check in tripped("arm", grounded, seconds=0.25)] == ["pass"]
    one = model_of(stage_of(DEMOS["arm"](METERS)))
    one.prims[f"{W}/Base"].add(usd_physics.ArticulationRootAPI())
    found = trips.grounded(one, grounded(one.copied()))
    assert f"{W}/Base" not in found.bodies
    assert f"{W}/Fix" not in found.prims
    assert found.prims[f"{W}/Shoulder"].get(usd_physics.ArticulationRootAPI) is not None
    pairs = found.prims[f"{W}/Upper"].get(usd_physics.FilteredPairsAPI)
    assert pairs is not None and pairs.filtered_pairs == (f"{W}/Base/Shape",)
    # What is a body there as well stays one.
    assert f"{W}/Base" in trips.grounded(one, one).bodies


def test_filtered_pairs_are_the_same_whichever_side_says_them_and_whatever_is_below_a_prim() -> None:
    """A format may write the pair on the other body, write what joints say as well, and put bodies elsewhere."""
    one, other = (model_of(stage_of(DEMOS["arm"](METERS))) for _ in range(2))
    upper, lower, base = (f"{W}/{name}" for name in ("Upper", "Lower", "Base"))
    one.prims[lower].add(usd_physics.FilteredPairsAPI(filtered_pairs=(base,)))
    other.prims[base].add(usd_physics.FilteredPairsAPI(filtered_pairs=(lower, upper)))
    other.prims[upper].add(usd_physics.FilteredPairsAPI(filtered_pairs=(lower,)))
    found = trips.with_pairs_of(one, other)
    said = {path: prim.get(usd_physics.FilteredPairsAPI) for path, prim in found.prims.items()}
    assert {path: api.filtered_pairs for path, api in said.items() if api is not None} == {lower: (base,)}
    standing = other.copied()
    for name in ("PhysicsRigidBodyAPI", "PhysicsMassAPI"):
        standing.prims[base].schemas.pop(name)
    named = trips.with_colliders_in_pairs(standing)
    assert named.prims[base].get(usd_physics.FilteredPairsAPI) is None
    assert named.prims[f"{base}/Shape"].get(usd_physics.FilteredPairsAPI).filtered_pairs == (lower, upper)


def nunchaku(units: Any = METERS) -> str:
    """Three rods on a floor, in a row, on ball joints."""
    file = File(units)
    file.add(file.ground())
    for number, name in enumerate(("A", "B", "C")):
        file.add(file.body(name, (0.5 * number, 0, 0.3), mass=1.0, size=(0.5, 0.1, 0.1)))
    for one, other in (("A", "B"), ("B", "C")):
        file.add(file.joint(
            f"{one}{other}", "Spherical", f"/World/{one}", f"/World/{other}", pos0=(0.25, 0, 0), pos1=(-0.25, 0, 0)
        ))  # fmt: skip
    return file.text()


@pytest.mark.slow
def test_an_articulation_that_a_format_makes_of_joints_is_no_fault_of_the_asset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The trip of a nunchaku through MJCF failed: each engine solves an articulation in another way."""
    monkeypatch.setitem(DEMOS, "nunchaku", nunchaku)

    def rooted(model: Any) -> Any:
        model.prims[f"{W}/A"].add(usd_physics.ArticulationRootAPI())
        return model

    (check,) = tripped("nunchaku", rooted)
    assert check.status == "differs" and check.causes[0].attribute == "PhysicsArticulationRootAPI"
    assert "What joints connect is an articulation in Paper, which is solved in another way." in check.message
