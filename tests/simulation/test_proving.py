# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates: silent on what is right, and with the attribute that is the cause of what is wrong."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from shares import each_of
from usdphys_ext.usdphys_addon.core import clock, frames, mass, validate
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import Prim
from usdphys_ext.usdphys_addon.core.rules.base import RULES, Issue
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.proving import (
    answers,
    at_start,
    certificate,
    drawn_asset,
    expectations,
    experiments,
    failures,
    joint_checks,
    joints,
    oddities,
    opinions,
    other_engines,
    page,
    plain,
    reasons,
    rewrites,
    runs,
)
from usdphys_ext.usdphys_addon.proving import prove as prove_module
from usdphys_ext.usdphys_addon.proving.budget import Budget
from usdphys_ext.usdphys_addon.proving.prove import Proof, Wish, prove
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES, Habit
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read

from .author import CENTIMETERS, METERS, File, Units, about, block, prism
from .demos import CLEAN, DEMOS, FAULTS, Fault

W = "/World"
FOUND = certificate.FOUND


@pytest.fixture(autouse=True)
def _time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget is used by a clock, and no test depends on the speed of the machine."""
    monkeypatch.setattr(clock, "now", lambda: 0.0)


def stage_of(text: str) -> Any:
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(text)
    return Usd.Stage.Open(layer)


def model_of(stage: Any) -> Any:
    from usdphys_ext.usdphys_addon.usd import read

    return read.read_stage(stage)


def proof_of(text: str, **wish: Any) -> Proof:
    stage = stage_of(text)
    return prove(Wish("asset.usda", model_of(stage), stage, **wish))


def lines(proof: Proof) -> list[str]:
    return [check.line() for check in proof.certificate.having(*FOUND)]


def proof_with(fault: Fault) -> Proof:
    clean, stage = (stage_of(DEMOS[fault.demo](METERS)) for _ in range(2))
    fault.edit(stage)
    return prove(Wish(
        "asset.usda", model_of(stage), stage, sections=fault.sections,
        against=model_of(clean) if fault.against else None, against_words="in 'clean.usda'",
    ))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", each_of(FAULTS, 5), ids=lambda fault: fault.name)
def test_the_certificate_names_the_attribute_of_a_planted_fault(fault: Fault) -> None:
    found = proof_with(fault).certificate.having(*FOUND)
    causes = [(cause.path, name) for check in found for cause in check.causes for name in cause.attribute.split(", ")]
    assert (f"{W}/{fault.prim}", fault.attribute) in causes


@pytest.mark.slow
def test_many_faults_are_planted_and_the_demos_are_clean_without_them() -> None:
    assert len(FAULTS) >= 30
    assert len(CLEAN) == 20
    for fault in FAULTS:
        stage = stage_of(DEMOS[fault.demo](METERS))
        before = certificate.digest_of(model_of(stage))
        fault.edit(stage)
        assert certificate.digest_of(model_of(stage)) != before, fault.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("demo", "units"), each_of(CLEAN, 5), ids=lambda one: one.name if isinstance(one, Units) else one
)
def test_the_certificate_is_silent_about_a_clean_asset(demo: str, units: Units) -> None:
    proof = proof_of(DEMOS[demo](units))
    assert lines(proof) == []
    assert proof.certificate.verdict == "pass"


@pytest.mark.slow
def test_of_three_simulators_the_one_that_stands_against_two_is_the_cause() -> None:
    fault = next(one for one in FAULTS if one.name == "friction_physx_degrees")
    (check,) = [one for one in proof_with(fault).certificate.having("fail") if one.section == "words"]
    (cause,) = check.causes
    assert cause.attribute == "physxJointAxis:angular:dynamicFrictionEffort"
    assert "degrees and radians" in cause.hint


@pytest.mark.parametrize(("newton", "status"), [(90.0, "pass"), (1.5708, "fail")])
def test_a_speed_in_the_older_words_of_physx_is_compared_with_that_of_newton(newton: float, status: str) -> None:
    lines = ["float physxJoint:maxJointVelocity = 90", f"float newton:velocityLimit = {newton}"]
    file = hinge_file("Y", apis=["PhysxJointAPI", "NewtonJointAPI"], lines=lines)
    (check,) = proof_of(file.text(), sections=frozenset({"words"})).certificate.checks
    assert check.status == status
    names = {cause.attribute: cause.hint for cause in check.causes}
    assert names.keys() == ({"physxJoint:maxJointVelocity", "newton:velocityLimit"} if status == "fail" else set())
    assert all("degrees and radians" in hint for hint in names.values())


# --------------------------------------------------------------------------- joints


def hinge_file(axis: str = "Z", **more: Any) -> File:
    """A bar of 1 kg on a hinge to the world, horizontal at the start."""
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False,
                       inertia=(0.01, 1 / 12, 1 / 12)))  # fmt: skip
    return file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", pos1=(-0.5, 0, 0), axis=axis, **more))


def hinge(**more: Any) -> Any:
    """The bar, and its hinge on the bench."""
    stage = stage_of(hinge_file(**more).text())
    subject = runs.subject_of(model_of(stage))
    (probe,), left_out = joints.probes_of(subject)
    assert not left_out
    return subject, probe


def answer(subject: Any, probe: Any, experiment: str) -> Any:
    model = joints.bench(subject, [probe], experiment)
    return answers.answer(probe, answers.terms_of(probe, model, experiment), joints.EXPERIMENTS[experiment][0])


def test_a_bar_on_an_upright_axis_does_not_swing_and_its_inertia_is_that_of_the_formula() -> None:
    subject, probe = hinge()
    assert probe.matter == pytest.approx(1 / 3)
    assert np.allclose(answer(subject, probe, "swing"), 0.0)


def test_friction_stops_a_joint_after_the_time_and_the_way_of_the_formula() -> None:
    subject, probe = hinge(apis=["NewtonJointAPI"], lines=["float newton:friction = 2.0"])
    found = answer(subject, probe, "coast")
    slow = 2.0 / (1 / 3)
    assert found[-1] == pytest.approx(joints.COAST**2 / (2 * slow), rel=0.02)
    stop = joints.COAST / slow
    assert found[math.ceil(stop / runs.STEP) + 1] == pytest.approx(found[-1])


def test_a_drive_settles_as_the_damped_oscillator_does() -> None:
    drive = {"stiffness": 40.0, "damping": 1.0}
    subject, probe = hinge(drives={"angular": drive})
    found = answer(subject, probe, "step")
    rate, decay = math.sqrt(40.0 * 3.0), 1.0 * 3.0 / 2.0
    damped = math.sqrt(rate**2 - decay**2)
    times = np.arange(len(found)) * runs.STEP
    wanted = 0.3 * (1 - np.exp(-decay * times) * (np.cos(damped * times) + decay / damped * np.sin(damped * times)))
    assert np.abs(found - wanted).max() < 0.012


def test_the_largest_force_gives_a_constant_acceleration() -> None:
    subject, probe = hinge(drives={"angular": {"stiffness": 10.0, "damping": 1.0, "maxForce": 2.0}})
    found = answer(subject, probe, "force")
    assert found[-1] == pytest.approx(0.5 * 2.0 * 3.0 * 0.25, rel=0.02)


def test_an_engine_that_drops_a_number_is_told_which() -> None:
    """The bench runs without the friction that the asset has: what the engine loses, whichever engine it is."""
    subject, probe = hinge(apis=["NewtonJointAPI"], lines=["float newton:friction = 2.0"])
    model = joints.bench(subject, [probe], "coast")
    deaf = model.copied()
    del deaf.prims[probe.joint].schemas["NewtonJointAPI"]
    outcome = answers.judged(probe, "coast", "preview", model, runs.simulated(deaf, 1.0))
    assert (outcome.is_kept, outcome.lost) == (False, "friction")
    assert joints.said_at(probe.facts.prim, "friction") == ("NewtonJointAPI", "friction")
    assert answers.judged(probe, "coast", "preview", model, runs.simulated(model, 1.0)).is_kept


RESISTS = {"apis": ["NewtonJointAPI"], "lines": ["float newton:friction = 0.5", "float newton:damping = 0.008"]}


def test_an_engine_that_drops_several_numbers_of_a_joint_is_told_which() -> None:
    subject, probe = hinge(**RESISTS)
    model = joints.bench(subject, [probe], "coast")
    deaf = model.copied()
    del deaf.prims[probe.joint].schemas["NewtonJointAPI"]
    outcome = answers.judged(probe, "coast", "preview", model, runs.simulated(deaf, 1.0))
    assert answers.terms_in(outcome.lost) == ["friction", "damping of the joint"]


def test_a_joint_of_an_articulation_tells_physx_where_it_starts_and_how_fast() -> None:
    """Measured: PhysX takes neither the poses nor the velocities of links for it."""
    subject, probe = hinge(**RESISTS)
    probe.is_articulated = True
    for experiment, speed in (("coast", joints.coasting(probe)), ("swing", 0.0)):
        state = (
            joints.bench(subject, [probe], experiment).prims[probe.joint].schemas[f"PhysicsJointStateAPI:{probe.dof}"]
        )
        assert (state.position, state.velocity) == (probe.start, speed)


@pytest.mark.slow
def test_what_an_engine_says_that_it_is_not_told_is_the_one_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that has no word for what resists in joints, and says so, differs once, and not in each experiment."""

    def deaf(model: Any, seconds: float, *, engine: str = "preview", **more: Any) -> Any:
        if engine != "havok":
            return runs.simulated(model, seconds, engine=engine, **more)
        heard = model.copied()
        said = [path for path in heard.joints if heard.prims[path].schemas.pop("NewtonJointAPI", None)]
        motion = runs.simulated(heard, seconds)
        motion.notices += [Issue("EngineLimits", "warning", path, "", "It is not told.", "") for path in said]
        return motion

    for module in (joint_checks, prove_module):
        monkeypatch.setattr(module, "simulated", deaf)
    stage = stage_of(hinge_file("Y", **RESISTS).text())
    wish = Wish("asset.usda", model_of(stage), stage, sections=frozenset({"joints", "engines"}), pythons={"havok": "."})
    found = prove(wish).certificate.having(*FOUND)
    assert [(check.section, check.name) for check in found] == [("joints", "untold"), ("engines", "havok")]
    for check in found:
        assert [cause.attribute for cause in check.causes] == ["newton:friction", "newton:damping"]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_bench_moves_a_joint_the_same_way_whichever_body_moves(swapped: bool) -> None:
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0), mass=1.0, collides=False, inertia=(0.01, 1 / 12, 1 / 12)))
    ends = (f"{W}/Bar", "") if swapped else ("", f"{W}/Bar")
    place = {"pos0" if swapped else "pos1": (-0.5, 0, 0)}
    file.add(file.joint("Pin", "Revolute", *ends, axis="Y", low=-0.4, high=0.9, **place))
    subject = runs.subject_of(model_of(stage_of(file.text())))
    (probe,), _ = joints.probes_of(subject)
    for experiment, end in (("up", 0.9), ("down", -0.4), ("swing", -0.4 if swapped else 0.9)):
        model = joints.bench(subject, [probe], experiment)
        motion = runs.simulated(model, joints.EXPERIMENTS[experiment][0])
        assert joints.positions(probe, motion)[-1] == pytest.approx(end, abs=0.01), experiment
        assert answers.judged(probe, experiment, "preview", model, motion).is_kept


def test_a_body_whose_centre_of_mass_is_not_its_origin_coasts_as_fast_as_it_is_told() -> None:
    """Its origin is on the axis; both engines must begin with the same speed as the answer."""
    file = File(METERS)
    file.add(file.body("Bar", mass=1.0, collides=False, center=(0.5, 0, 0), inertia=(0.01, 1 / 12, 1 / 12)))
    file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", axis="Z", low=-0.2, high=1.0, apis=["NewtonJointAPI"],
                        lines=[f"float newton:damping = {0.4 / 57.29578}"]))  # fmt: skip
    subject = runs.subject_of(model_of(stage_of(file.text())))
    (probe,), _ = joints.probes_of(subject)
    assert joints.coasting(probe) == pytest.approx(0.8)
    model = joints.bench(subject, [probe], "coast")
    rate = 0.4 / (1 / 3)
    found = answer(subject, probe, "coast")
    assert found[-1] == pytest.approx(0.8 / rate * (1 - math.exp(-rate)), rel=0.01)
    assert answers.judged(probe, "coast", "preview", model, runs.simulated(model, 1.0)).is_kept


def test_a_joint_that_starts_outside_of_its_limits_is_left_out_with_the_reason() -> None:
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0)))
    file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", pos1=(-0.5, 0, 0), axis="Z", low=0.5, high=1.0))
    assert joints.probes_of(runs.subject_of(model_of(stage_of(file.text())))) == (
        [], {f"{W}/Pin": "it starts outside of its limits"}
    )  # fmt: skip


def test_a_push_to_a_limit_asks_nothing_of_the_largest_speed_which_has_an_experiment_of_its_own() -> None:
    subject, probe = hinge(low=-2.0, high=2.0, apis=["NewtonJointAPI"],
                           lines=[f"float newton:velocityLimit = {math.degrees(0.5)}"])  # fmt: skip
    assert answer(subject, probe, "up")[-1] == pytest.approx(2.0)
    assert answer(subject, probe, "speed")[-1] == pytest.approx(0.5, rel=0.05)
    model = joints.bench(subject, [probe], "speed")
    assert answers.judged(probe, "speed", "preview", model, runs.simulated(model, 1.0)).is_kept
    deaf = model.copied()
    del deaf.prims[probe.joint].schemas["NewtonJointAPI"]
    assert answers.judged(probe, "speed", "preview", model, runs.simulated(deaf, 1.0)).lost == "largest speed"


def test_how_a_joint_bounces_off_a_hard_limit_is_not_asked_where_it_swings() -> None:
    subject, probe = hinge(axis="Y", low=-1.0, high=1.0)
    model = joints.bench(subject, [probe], "swing")
    motion = runs.simulated(model, 1.0)
    hit = int(np.argmax(np.abs(answer(subject, probe, "swing")) >= 1.0))
    assert 5 < hit < 50
    back = np.arange(len(motion.rotations) - hit) % hit
    bounces = replace(motion, rotations=motion.rotations.copy(), positions=motion.positions.copy())
    bounces.rotations[hit:], bounces.positions[hit:] = (
        motion.rotations[hit - 1 - back],
        motion.positions[hit - 1 - back],
    )
    assert answers.judged(probe, "swing", "newton", model, bounces).is_kept
    assert not answers.judged(probe, "swing", "newton", model, runs.simulated(sleeping(model, probe), 1.0)).is_kept


@pytest.mark.parametrize("most, is_clipped", [(10.0, True), (200.0, False)])
def test_a_drive_whose_step_needs_more_than_its_largest_force_is_clipped(most: float, is_clipped: bool) -> None:
    """Measured in Newton: 0.049 rad after 1/15 s where 0.121 was the answer, as with damping / 480 Hz as inertia."""
    subject, probe = hinge(axis="Z", drives={"angular": {"stiffness": 100.0, "damping": 60.0, "maxForce": most}})
    assert joints.step_of(probe) == pytest.approx(0.3)
    assert (Habit.CLIPPED in answers.habits_of(probe, "step", subject.gravity)) == is_clipped


def test_the_answer_to_a_step_of_a_spring_without_damping_swings_for_ever() -> None:
    """Of 0.3 rad at 3 Hz: there and back, and the report says that it does not arrive."""
    matter = 1 / 3
    stiffness = matter * (6 * math.pi) ** 2
    subject, probe = hinge(axis="Z", drives={"angular": {"stiffness": stiffness}})
    found = answer(subject, probe, "step")
    assert found[90:].max() == pytest.approx(0.6, rel=0.02) and found[90:].min() == pytest.approx(0.0, abs=0.02)
    assert "does not arrive" in answers.response(probe, joints.bench(subject, [probe], "step"))


def test_a_drive_that_swings_its_link_faster_than_frames_show_is_not_tried_on_the_bench() -> None:
    """Grippers for Isaac have drives of 30 Hz without damping: which end of a swing a frame shows, nobody can say."""
    for hertz, damping, is_resolved in ((3.0, 0.0, True), (30.0, 0.0, False), (30.0, 50.0, True)):
        stiffness = (math.tau * hertz) ** 2
        drive = {"type": "acceleration", "stiffness": stiffness, "damping": damping}
        _, probe = hinge(axis="Z", drives={"angular": drive})
        assert joints.is_resolved(probe, "step") == is_resolved, (hertz, damping)
        assert joints.is_resolved(probe, "swing")


@pytest.mark.slow
def test_a_term_that_an_experiment_of_its_own_finds_kept_is_not_called_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The preview was told to have no largest speed, beside an experiment that found it there."""

    def fast(model: Any, seconds: float, **more: Any) -> Any:
        model = model.copied()
        for prim in model.joints.values():
            if prim.schemas.get("PhysicsDriveAPI:angular").resolved("stiffness"):
                del prim.schemas["NewtonJointAPI"]
        return runs.simulated(model, seconds)

    drives = {"angular": {"stiffness": 1.0, "damping": 0.05}}
    subject, _ = hinge(axis="Z", drives=drives, apis=["NewtonJointAPI"], lines=["float newton:velocityLimit = 20"])
    monkeypatch.setattr(joints, "EXPERIMENTS", {one: joints.EXPERIMENTS[one] for one in ("step", "speed")})
    monkeypatch.setattr(joint_checks, "simulated", fast)
    found = prove(Wish("a.usda", subject.model, sections=frozenset({"joints"}))).certificate.having("differs")
    assert found and all(check.data["experiment"] == "step" for check in found)
    assert not any("no largest speed" in check.message or check.fix for check in found)


def test_an_engine_that_has_no_acceleration_drives_is_said_to_take_them_as_forces() -> None:
    subject, probe = hinge(axis="Z", drives={"angular": {"type": "acceleration", "stiffness": 9.0, "damping": 3.0}})
    assert Habit.FORCES_ONLY in answers.habits_of(probe, "step", subject.gravity)
    assert Habit.FORCES_ONLY not in answers.habits_of(probe, "swing", subject.gravity)
    _, probe = hinge(axis="Z", drives={"angular": {"stiffness": 9.0, "damping": 3.0}})
    assert Habit.FORCES_ONLY not in answers.habits_of(probe, "step", subject.gravity)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["acceleration", "force"])
def test_newton_is_said_to_take_a_drive_of_type_acceleration_as_one_of_type_force(kind: str) -> None:
    """A gripper whose gains were per kilogram went 144 degrees beyond a limit there, and that limit was named."""
    drive = {"type": kind, "stiffness": 30.0, "damping": 2.0, "targetPosition": 0.5}
    model = hinge(axis="Z", drives={"angular": drive})[0].model
    joint = model.prims[f"{W}/Pin"]
    other = model.copied()
    name = "PhysicsDriveAPI:angular"
    other.prims[joint.path].schemas[name] = joint.schemas[name].copy(
        type="force", stiffness=90.0 if kind == "force" else 30.0
    )
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)

    def forced(_chosen: Any, _rate: int = 1) -> Any:
        return runs.simulated(other, 0.5)

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"newton": forced}, [], Budget(60.0), 1.0)
    is_told = "as one of type force" in check.message
    assert is_told == (kind == "acceleration")
    assert (
        ("drive:angular:physics:type" in [one.attribute for one in check.causes]) and "type force" in check.fix
    ) == is_told


@pytest.mark.slow
def test_what_only_an_older_word_says_is_told_with_the_word_that_is_read_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """PhysX reads the largest speed at the axis, where robots for Isaac say it at the joint."""

    def without(model: Any, seconds: float, *, engine: str = "preview", **more: Any) -> Any:
        model = model.copied()
        for prim in model.joints.values() if engine == "havok" else ():
            prim.schemas.pop("PhysxJointAPI", None)
        return runs.simulated(model, seconds)

    subject, _ = hinge(axis="Z", apis=["PhysxJointAPI"], lines=["float physxJoint:maxJointVelocity = 60"])
    monkeypatch.setattr(joint_checks, "simulated", without)
    monkeypatch.setitem(
        ENGINES, "havok", replace(ENGINES["havok"], hurry=1.0, habits=frozenset({Habit.NEW_WORDS_ONLY}))
    )
    wish = Wish("a.usda", subject.model, sections=frozenset({"joints"}), pythons={"havok": "."})
    (check,) = [one for one in prove(wish).certificate.having("differs") if one.data.get("experiment") == "speed"]
    assert "physxJointAxis:angular:maxJointVelocity" in check.fix and "physxJoint:maxJointVelocity" in check.fix


def test_a_limit_that_a_joint_meets_between_two_frames_ends_what_is_asked() -> None:
    """An arm swung beyond its balance to a limit and fell back from it: at no frame it was at the limit."""
    subject, probe = hinge(axis="Y", low=-2.5, high=2.5)
    model = joints.bench(subject, [probe], "swing")
    found = answer(subject, probe, "swing")
    hit = int(np.argmax(np.abs(found)))
    assert 20 < hit < 60 and abs(found[hit]) < 2.5 and abs(found[-1]) < 2.4
    motion = runs.simulated(model, 1.0)
    # As fast back as there.
    back = hit - 1 - np.arange(len(motion.rotations) - hit) % hit
    rotations, positions = motion.rotations.copy(), motion.positions.copy()
    rotations[hit:], positions[hit:] = rotations[back], positions[back]
    bounces = replace(motion, rotations=rotations, positions=positions)
    assert answers.judged(probe, "swing", "newton", model, bounces).is_kept


def sleeping(model: Any, probe: Any) -> Any:
    """A copy of a bench without gravity."""
    still = model.copied()
    for prim in still.scenes.values():
        prim.add(prim.get(usd_physics.PhysicsScene).copy(gravity_magnitude=0.0))
    return still


@pytest.mark.parametrize("experiment", ["up", "down", "speed", "force"])
def test_an_engine_that_runs_drives_too_fast_gets_the_same_push(experiment: str) -> None:
    """Havok runs a drive to a velocity 2.5 times as fast, which is no fault of the limits of an asset."""
    subject, probe = hinge(low=-2.0, high=2.0, apis=["NewtonJointAPI"],
                           lines=[f"float newton:velocityLimit = {math.degrees(0.5)}"],
                           drives={"angular": {"stiffness": 10.0, "maxForce": 5.0}})  # fmt: skip
    plain, slower = (
        joints.bench(subject, [probe], experiment, hurry=hurry).prims[probe.joint].schemas["PhysicsDriveAPI:angular"]
        for hurry in (1.0, 2.5)
    )
    assert slower.target_velocity == pytest.approx(plain.target_velocity / 2.5)
    assert replace(slower, target_velocity=0.0) == replace(plain, target_velocity=0.0)


def test_the_push_of_the_bench_is_not_the_cause_of_what_an_engine_does() -> None:
    subject, probe = hinge(low=-2.0, high=2.0, drives={"angular": {"stiffness": 10.0}})
    model = joints.bench(subject, [probe], "up")
    deaf = model.copied()
    del deaf.prims[probe.joint].schemas["PhysicsDriveAPI:angular"]
    outcome = answers.judged(probe, "up", "physx", model, runs.simulated(deaf, 2.0))
    assert not outcome.is_kept and outcome.lost == ""


def test_what_smaller_time_steps_heal_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """PhysX turned the hips of a quadruped twice as fast: its steps are long for so much damping of so light a link."""

    def coarse(model: Any, seconds: float, *, engine: str = "preview", rate: int = 1, **more: Any) -> Any:
        if engine != "havok" or rate > 1:
            return runs.simulated(model, seconds, rate=rate, **more)
        still = model.copied()
        for prim in still.scenes.values():
            prim.add(prim.get(usd_physics.PhysicsScene).copy(gravity_magnitude=1.0))
        return runs.simulated(still, seconds)

    monkeypatch.setattr(joint_checks, "simulated", coarse)
    stage = stage_of(hinge_file("Y").text())
    wish = Wish("a.usda", model_of(stage), stage, sections=frozenset({"joints"}), pythons={"havok": "."})
    (check,) = prove(wish).certificate.having(*FOUND)
    assert "With 60 steps a second it does not, and with 240 it does." in check.message
    assert "as if there were no" not in check.message
    assert check.fix == "Let it make smaller time steps."


@pytest.mark.slow
@pytest.mark.parametrize("experiment, words", [
    ("force", " At its largest force, a drive in Havok turns what is not balanced about its axis as if that were "
              "heavier."),
    ("swing", " Havok turns a hinge by a part of what bends it."),
])  # fmt: skip
def test_what_an_engine_does_in_its_own_way_is_said_where_it_shows(
    experiment: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured in Havok: 10 to 50 % less speed by the largest force, unless the hinge was a principal axis."""

    def slow(model: Any, seconds: float, *, engine: str = "preview", rate: int = 1, **more: Any) -> Any:
        motion = runs.simulated(model, seconds, rate=rate, **more)
        if engine == "havok" and model.prims.keys() == bench.prims.keys():
            motion.positions, motion.rotations = (
                np.repeat(values[:1], len(values), axis=0) for values in (motion.positions, motion.rotations)
            )
        return motion

    file = hinge_file("Y", drives={"angular": {"stiffness": 400.0, "damping": 60.0, "maxForce": 200.0}})
    subject = runs.subject_of(model_of(stage_of(file.text())))
    bench = joints.bench(subject, joints.probes_of(subject)[0], experiment, leans=True)
    monkeypatch.setattr(joints, "EXPERIMENTS", {experiment: joints.EXPERIMENTS[experiment]})
    monkeypatch.setattr(joints, "LEAN", frames.matrix_of(frames.turn_by(np.array((1.5, 0.0, 0.0)))))
    monkeypatch.setattr(joint_checks, "simulated", slow)
    wish = Wish("a.usda", subject.model, sections=frozenset({"joints"}), pythons={"havok": "."})
    (check,) = prove(wish).certificate.having(*FOUND)
    assert check.message.partition(f"{joints.EXPERIMENTS[experiment][1]}.")[2] == words


def test_a_hinge_on_a_principal_axis_through_its_centre_of_mass_is_balanced() -> None:
    subject, probe = hinge(axis="Y")
    # A bar about its end: a quarter of its matter is about its own centre.
    assert answers.imbalance(probe) == pytest.approx(0.75)
    assert answers.imbalance(replace(probe, center=probe.anchor, matter=1 / 12)) == pytest.approx(0.0, abs=1e-6)
    # Gravity along the axis only bends it, and across it only turns it.
    assert answers.bending(probe, np.array((0.0, 9.81, 0.0))) > 1e6
    assert answers.bending(probe, np.array((0.0, 0.0, -9.81))) < 1e-6
    assert not list(answers.habits_of(replace(probe, axis=0), "force", subject.gravity))


@pytest.mark.slow
@pytest.mark.parametrize("soft", [True, False])
def test_an_engine_that_yields_at_a_limit_is_told_how_far_and_where_that_is_said(
    soft: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newton holds limits as mjc:solreflimit says, and a cart of 8 kg went centimetres beyond its own."""

    def yielding(model: Any, seconds: float, *, engine: str = "preview", rate: int = 1, **more: Any) -> Any:
        if engine == "havok":
            model = model.copied()
            for prim in model.joints.values():
                name = next(name for name in prim.schemas if name == "PhysicsRevoluteJoint")
                prim.schemas[name] = prim.schemas[name].copy(upper_limit=0.5 + math.radians(10.0))
        return runs.simulated(model, seconds, rate=rate, **more)

    words = {"apis": ["MjcJointAPI"], "lines": ["uniform double[] mjc:solreflimit = [0.08, 1]"]} if soft else {}
    subject, _ = hinge(low=-1.5, high=0.5, **words)
    monkeypatch.setattr(joints, "EXPERIMENTS", {"up": joints.EXPERIMENTS["up"]})
    monkeypatch.setattr(joint_checks, "simulated", yielding)
    wish = Wish("a.usda", subject.model, sections=frozenset({"joints"}), pythons={"havok": "."})
    (check,) = prove(wish).certificate.having(*FOUND)
    told = re.search(r"It goes ([0-9.]+) degrees beyond its limit, which \w+ holds by a spring\.", check.message)
    assert told is not None and "how stiff the limit is" in check.fix
    assert float(told[1]) == pytest.approx(10.0, abs=1.0)
    assert [cause.attribute for cause in check.causes] == (["mjc:solreflimit"] if soft else [])


def test_what_damping_stops_within_a_part_of_a_frame_is_not_tried_on_the_bench() -> None:
    for damping, is_resolved in ((1.0, True), (300.0, True), (400.0, False)):
        subject, probe = hinge(
            apis=["NewtonJointAPI"], lines=[f"float newton:damping = {damping * (1 / 3) / 57.29578 * 6}"]
        )
        found = {name for name in joints.EXPERIMENTS if joints.is_resolved(probe, name)}
        assert ("swing" in found) == is_resolved
        assert "force" in found
        checks = prove(Wish("a", subject.model, sections=frozenset({"joints"}))).certificate.checks
        assert any("so light for its damping" in check.message for check in checks) != is_resolved


def test_a_joint_without_room_has_no_force_that_could_be_measured() -> None:
    drive = {"stiffness": 1.0, "maxForce": 1000.0}
    for high, applies in ((0.0, False), (1.0, True)):
        _, probe = hinge(low=0.0, high=high, drives={"angular": drive})
        assert joints.applies(probe, "force") == applies


def test_rounding_does_not_decide_on_which_side_of_equal_rooms_a_joint_is_tried() -> None:
    _, probe = hinge(low=-9.0, high=9.0, drives={"angular": {"stiffness": 10.0}})
    for start in (-1e-12, 0.0, 1e-12):
        probe.start = start
        assert joints.step_of(probe) == pytest.approx(0.3)


def articulated(**more: Any) -> tuple[Any, Any]:
    """The bar of `hinge` in an articulation whose base hangs on the world."""
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False, inertia=(0.01, 0.1, 0.1)))
    file.add(file.body("Base", mass=3.0, collides=False, apis=["PhysicsArticulationRootAPI"], inertia=(0.1, 0.1, 0.1)))
    file.add(file.joint("Fix", "Fixed", "", f"{W}/Base"))
    file.add(file.joint("Pin", "Revolute", f"{W}/Base", f"{W}/Bar", pos1=(-0.5, 0, 0), axis="Y", **more))
    subject = runs.subject_of(model_of(stage_of(file.text())))
    (probe,), _ = joints.probes_of(subject)
    return subject, probe


@pytest.mark.parametrize("experiment", list(joints.EXPERIMENTS))
def test_a_joint_of_an_articulation_is_one_of_an_articulation_on_the_bench(experiment: str) -> None:
    """There the preview has an armature that is much larger than the link; it lets no joint alone have it."""
    words = ["float newton:armature = 40", "float newton:friction = 1.5", "float newton:velocityLimit = 60"]
    subject, probe = articulated(
        low=-1.0, high=1.5, apis=["NewtonJointAPI"], lines=words,
        drives={"angular": {"stiffness": 400.0, "damping": 60.0, "maxForce": 200.0}},
    )  # fmt: skip
    model = joints.bench(subject, [probe], experiment, leans=True)
    assert [path for path, _ in model.articulations.items()] == [f"{joints.BENCH}/{probe.name}"]
    motion = runs.simulated(model, joints.EXPERIMENTS[experiment][0])
    outcome = answers.judged(probe, experiment, "preview", model, motion)
    assert outcome.is_kept or (experiment, outcome.lost) == ("step", "friction")
    assert not [notice for notice in motion.notices if notice.code.startswith("ArticulationNot")]


def test_the_base_of_a_link_that_is_made_heavier_is_as_heavy() -> None:
    """Joints of Havok yield where a heavy body hangs on a light one."""
    subject, probe = articulated(drives={"angular": {"stiffness": 400.0, "damping": 60.0, "maxForce": 2000.0}})
    prims = joints.bench(subject, [probe], "force").prims
    link, base = (prims[path].get(usd_physics.MassAPI).mass for path in (probe.path, probe.base))
    assert link == pytest.approx(joints.burden(probe) * probe.mass)
    assert base == pytest.approx(link)
    assert link > 100.0


def test_friction_may_yield_a_little_to_the_load_that_it_holds() -> None:
    subject, probe = hinge(apis=["NewtonJointAPI"], lines=["float newton:friction = 9.0"])
    model = joints.bench(subject, [probe], "swing", leans=True)
    motion = runs.simulated(model, 1.0)
    assert answers.judged(probe, "swing", "preview", model, motion).is_kept
    load = 9.81 * 0.5 / (1 / 3)
    for rate, is_kept in ((5e-4, True), (1e-2, False)):
        moved = motion.only(motion.paths)
        turns = rate * load * np.arange(len(motion.positions)) * runs.STEP
        crept = [frames.turn_by(np.array((0.0, 0.0, turn))) for turn in turns]
        moved = replace(moved, rotations=np.array(crept)[:, None], memo={})
        assert answers.judged(probe, "swing", "mujoco", model, moved).is_kept == is_kept


def test_a_joint_that_is_put_to_sleep_while_it_is_slow_is_compared_until_then() -> None:
    """It would fall away from its balance later: an engine that finds it at rest does not lose a number."""
    subject, probe = hinge(apis=["NewtonJointAPI"], lines=["float newton:damping = 20"])
    model = joints.bench(subject, [probe], "swing", leans=True)
    motion = runs.simulated(model, 1.0)
    found = answers.answer(probe, answers.terms_of(probe, model, "swing"), 1.0)
    assert 0.001 < abs(found[-1]) < 0.01
    for faster, is_kept in ((1.0, True), (100.0, False)):
        turns = faster * np.where(np.arange(len(found)) < 20, found, found[20])
        turned = [frames.turn_by(np.array((0.0, 0.0, turn))) for turn in turns]
        stopped = replace(motion, rotations=np.array(turned)[:, None], memo={})
        assert answers.judged(probe, "swing", "preview", model, stopped).is_kept == is_kept


# --------------------------------------------------------------------------- wrong, and worth knowing


def odd_bodies() -> str:
    """Three bodies whose inertia nobody has computed, and one that is as it should be."""
    file = File(METERS)
    for number in range(3):
        file.add(file.body(f"Odd{number}", (number, 0, 0.25), size=(0.5, 0.5, 0.5), mass=1.0, inertia=(5, 5, 5)))
    file.add(file.body("Good", (5, 0, 0.25), size=(0.5, 0.5, 0.5), mass=1.0), file.ground())
    return file.text()


def test_what_is_true_of_the_asset_and_seldom_meant_is_doubtful_told_once_and_not_wrong() -> None:
    found = proof_of(odd_bodies(), sections=frozenset({"asset"})).certificate
    (check,) = found.having(*FOUND)
    assert (check.status, check.name, found.verdict) == ("doubtful", "matter", "doubtful")
    assert check.message.endswith("2 other bodies are odd in the same way.")
    assert [cause.path for cause in check.causes] == [f"{W}/Odd{number}" for number in range(3)]
    assert found.headline == "nothing wrong, 1 worth knowing"
    assert ": doubtful: nothing wrong, 1 worth knowing; " in found.summary()
    assert (found.as_json()["wrong"], found.as_json()["worth_knowing"]) == (0, 1)


def test_what_rounding_leaves_of_a_position_is_said_as_nothing() -> None:
    assert certificate.measure(1e-16, 3) == "0 degrees"
    assert certificate.measure(-1e-12, 0) == "0 m" and certificate.measure(-4.3e-9, 3) == "0 degrees"
    assert certificate.measure(0.5, 0) == "0.5 m"


@pytest.mark.parametrize(("is_posed", "status"), [(True, "fail"), (False, "doubtful")])
def test_a_start_outside_of_limits_is_wrong_where_somebody_has_chosen_it(is_posed: bool, status: str) -> None:
    file = File(METERS)
    for number in range(2):
        file.add(file.body(f"Bar{number}", (0.5, number, 0), mass=1.0, collides=False))
        file.add(file.joint(f"Pin{number}", "Revolute", "", f"{W}/Bar{number}", pos0=(0, number, 0),
                            pos1=(-0.5, 0, 0), axis="Z", low=0.5, high=1.0))  # fmt: skip
    proof = proof_of(file.text(), sections=frozenset({"asset"}), is_posed=is_posed)
    (check,) = [one for one in proof.certificate.checks if one.name == "limits"]
    assert (check.status, len(check.causes)) == (status, 2)
    assert "So does 1 other joint." in check.message
    assert ("no pose to start in" in check.message) != is_posed
    assert at_start.is_of_the_start(check)


@pytest.mark.slow
@pytest.mark.parametrize("section", ["rewrites", "asset"])
def test_what_is_pushed_at_the_start_is_known_where_only_one_section_is_asked_for(
    section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --only engines, the thumb of a hand that is pushed into its limits was no reason any more."""
    seen: list[list[str]] = []

    def noted(*args: Any) -> certificate.Check:
        seen.append([check.name for check in args[3]])
        return certificate.Check("rewrites", "order", "pass", "It is noted.")

    monkeypatch.setattr(rewrites, "rewrite_check", noted)
    stage = stage_of(DEMOS["door"](METERS))
    stage.GetPrimAtPath(f"{W}/Hinge").GetAttribute("physics:lowerLimit").Set(20.0)
    prove(Wish("a.usda", model_of(stage), sections=frozenset({"rewrites", section})))
    assert seen and all(names == ["limits"] for names in seen)


def test_engines_that_push_a_joint_back_into_its_limits_part_because_of_that() -> None:
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    experiment = experiments.Experiment(model, 0.5)
    start = certificate.Check("asset", "limits", "doubtful", "", f"{W}/Pin", (opinions.Cause(f"{W}/Pin", "limit"),),
                              data={"what": at_start.STARTS})  # fmt: skip

    def aside(_chosen: Any, _rate: int = 1) -> Any:
        motion = runs.simulated(model, 0.5)
        motion.positions[3:, 0, 0] += 1.0
        return motion

    budget = Budget(1e6)
    for starts, causes in (([start], ["limit"]), ([], [])):
        ((check, _, _),) = other_engines.engine_checks(model, experiment, {"mujoco": aside}, starts, budget, 1.0)
        assert check.status == "differs"
        assert [cause.attribute for cause in check.causes] == causes
        assert ("are pushed back, which each engine does" in check.message) == bool(starts)


@pytest.mark.slow
@pytest.mark.parametrize("moves_elsewhere", [True, False])
def test_what_the_preview_alone_does_is_no_fault_of_the_asset(
    monkeypatch: pytest.MonkeyPatch, moves_elsewhere: bool
) -> None:
    """The fingers of a gripper came apart in the preview; in MuJoCo they did not move."""
    pytest.importorskip("mujoco")

    def torn(motion: runs.Motion) -> runs.Motion:
        places = motion.positions.copy()
        places[10:, 0, 0] += 0.3
        return replace(motion, positions=places, memo={})

    own = runs.simulated
    monkeypatch.setattr(runs, "simulated", lambda *args, **kwargs: torn(own(*args, **kwargs)))
    monkeypatch.setattr(
        plain, "simulated",
        lambda *args, **kwargs: torn(own(*args, **kwargs)) if not moves_elsewhere else own(*args, **kwargs),
    )  # fmt: skip
    found = proof_of(DEMOS["pendulum"](METERS), sections=frozenset({"asset"})).certificate.having(*FOUND)
    (check,) = [one for one in found if one.name == "joints"]
    assert "comes apart by 0.3 m" in check.message
    assert check.status == ("differs" if moves_elsewhere else "fail")
    assert ("So it is in the preview alone, and not in MuJoCo." in check.message) == moves_elsewhere
    assert ("Trust MuJoCo" in check.fix) == moves_elsewhere


@pytest.mark.slow
def test_what_the_preview_alone_does_has_the_attribute_without_which_it_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("mujoco")
    lines = ["float drive:angular:physics:stiffness = 500", "float drive:angular:physics:damping = 50",
             "float drive:angular:physics:maxForce = 0.01"]  # fmt: skip
    file = hinge_file("Y", apis=["PhysicsDriveAPI:angular"], lines=lines)
    own = runs.simulated
    weak = opinions.Opinion(f"{W}/Pin", "PhysicsDriveAPI:angular", "max_force")

    def strong_elsewhere(model: Any, seconds: float, **options: Any) -> runs.Motion:
        return own(opinions.removed(model, [weak]) if "engine" in options else model, seconds)

    monkeypatch.setattr(plain, "simulated", strong_elsewhere)
    found = proof_of(file.text(), sections=frozenset({"asset"})).certificate.having(*FOUND)
    (check,) = [one for one in found if one.name == "drives"]
    assert check.status == "differs"
    assert "drive:angular:physics:maxForce" in [cause.attribute for cause in check.causes]
    assert check.fix.startswith("Trust MuJoCo here, or correct the attribute")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "collides", "status"), [(0.6, True, "doubtful"), (8.0, False, "fail")])
def test_what_slides_off_an_edge_where_there_is_no_floor_is_doubtful_and_what_falls_through_is_wrong(
    width: float, collides: bool, status: str
) -> None:
    """The crate of a seesaw slid off its plank, and the asset was said to be wrong."""
    file = File(METERS)
    tilt = about("Y", 40)
    file.add(file.body("Plank", (0, 0, 0), tilt, size=(width, 0.5, 0.05), dynamic=False, collides=collides))
    if not collides:
        file.add(file.body("Sign", (0, 0, 0), size=(width, 0.5, 0.01), dynamic=False, collides=False))
        file.add(file.body("Post", (3.0, 0, -1.0), size=(0.1, 0.1, 0.1), dynamic=False))
        file.add(file.body("Far", (-3.0, 0, -1.0), size=(0.1, 0.1, 0.1), dynamic=False))
    file.add(file.body("Crate", (0, 0, 0.2), tilt, size=(0.2, 0.2, 0.2)))
    checks = proof_of(file.text(), sections=frozenset({"asset"})).certificate.checks
    (check,) = [one for one in checks if one.name == "rest"]
    assert check.status == status
    assert ("over an edge, and there is no floor" in check.message) == (status == "doubtful")


def test_energy_of_bodies_that_no_joint_can_move_apart_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tips of a closed gripper were inside each other, and were pushed with no cause named."""
    told = f"{W}/Post and {W}/Bar touch at the start, and no joint can move them apart at once: they pass through."

    def pushed(*args: Any, **kwargs: Any) -> runs.Motion:
        motion = own(*args, **kwargs)
        motion.velocities[30:, 0, :3] += 3.0
        motion.notices.append(Issue("ContactJammed", "info", f"{W}/Post", "", told, ""))
        return motion

    own = runs.simulated
    monkeypatch.setattr(runs, "simulated", pushed)
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    model.add(Prim(f"{W}/Post", "Cube"))
    checks = prove(Wish("a", model, sections=frozenset({"asset"}))).certificate.having(*FOUND)
    (check,) = [one for one in checks if one.name == "energy"]
    assert (check.status, check.fix) == ("doubtful", "Make the shapes smaller, or filter the pair.")
    assert "touch at the start, and no joint can move them apart at once." in check.message
    assert {cause.path for cause in check.causes} == {f"{W}/Post", f"{W}/Bar"}


def weak_arm(*, held: bool = True, target: float = 0.0) -> str:
    """A bar on a hinge whose drive gives way to gravity."""
    file = File(METERS)
    base = "" if held else f"{W}/Foot"
    if not held:
        file.add(file.body("Foot", (0, 0, 0), mass=50.0, size=(0.4, 0.4, 0.2)))
    file.add(file.body("Bar", (0.5, 0, 0.5), mass=1.0, size=(0.4, 0.05, 0.05)))
    drive = {"stiffness": 20.0, "damping": 2.0, "targetPosition": target}
    file.add(file.joint("Pin", "Revolute", base, f"{W}/Bar", pos0=(0, 0, 0.5), pos1=(-0.5, 0, 0), axis="Y", low=-0.5,
                        high=0.5, drives={"angular": drive}))  # fmt: skip
    return file.text()


@pytest.mark.slow
@pytest.mark.parametrize(("is_posed", "status"), [(True, "fail"), (False, "doubtful")])
def test_how_much_a_drive_gives_way_in_a_pose_that_nobody_has_chosen_is_doubtful(is_posed: bool, status: str) -> None:
    proof = proof_of(weak_arm(), sections=frozenset({"asset"}), is_posed=is_posed)
    (check,) = [one for one in proof.certificate.checks if one.name == "drives"]
    assert check.status == status
    assert ("no pose to start in" in check.message) != is_posed


def test_drives_of_a_robot_that_falls_from_a_pose_that_nobody_has_chosen_are_not_asked() -> None:
    proof = proof_of(weak_arm(held=False), sections=frozenset({"asset"}), is_posed=False)
    (check,) = [one for one in proof.certificate.checks if one.name == "drives"]
    assert (check.status, check.path) == ("skipped", f"{W}/Foot")
    assert "nothing holds it" in check.message


def test_a_spring_that_presses_against_its_limit_is_told_of_the_limit_alone() -> None:
    """One knuckle of a gripper is pressed by a spring that never reaches its target, and friction holds it."""
    proof = proof_of(weak_arm(target=1.5), sections=frozenset({"asset"}))
    assert {one.name: one.status for one in proof.certificate.having("fail", "doubtful")} == {"limits": "doubtful"}


@pytest.mark.slow
def test_what_fails_because_bodies_are_pushed_apart_at_a_start_that_nobody_has_chosen_names_that() -> None:
    """Two arms of a robot are inside each other where all joints are at zero, and stay out of their poses."""
    file = File(METERS)
    for number, x in enumerate((0.5, 0.52, 0.54)):
        file.add(file.body(f"Bar{number}", (x, 0, 0.5), mass=1.0, size=(0.4, 0.1, 0.1)))
        file.add(file.joint(f"Pin{number}", "Revolute", "", f"{W}/Bar{number}", pos0=(x - 0.5, 0, 0.5),
                            pos1=(-0.5, 0, 0), axis="Z",
                            drives={"angular": {"stiffness": 1.0, "damping": 0.2}}))  # fmt: skip
    proof = proof_of(file.text(), sections=frozenset({"asset"}), is_posed=False)
    found = {one.name: one for one in proof.certificate.having(*FOUND)}
    assert found.keys() == {"inside", "drives"}
    assert {one.status for one in found.values()} == {"doubtful"}
    assert "So does 1 other pair of bodies." in found["inside"].message
    assert {cause.path for cause in found["inside"].causes} == {f"{W}/Bar{number}" for number in range(3)}
    assert "are pushed apart, and nobody has chosen that start." in found["drives"].message
    assert found["drives"].causes == found["inside"].causes


@pytest.mark.parametrize("is_pushed", [True, False])
def test_what_moves_otherwise_said_in_another_order_names_the_limits_that_push_it(is_pushed: bool) -> None:
    """Legs that start far outside of their limits are thrown back, and the order of the joints decides how."""
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)
    start = certificate.Check("asset", "limits", "doubtful", "", f"{W}/Pin", (opinions.Cause(f"{W}/Pin", "limit"),),
                              "Correct the limit.", {"what": at_start.STARTS})  # fmt: skip
    aside = runs.simulated(model, 0.5)
    aside.positions[20:] += 1.0
    with patch.object(rewrites, "simulated", lambda *_: aside):
        rewrite = rewrites.Rewrite("order", "in another order", model)
        check = rewrites.rewrite_check(experiment, model, rewrite, [start] if is_pushed else [])
    assert check.status == "differs"
    assert [cause.attribute for cause in check.causes] == (["limit"] if is_pushed else [])
    assert ("are pushed back, and rounding decides what comes first." in check.message) == is_pushed
    assert ("the program is at fault" in check.fix) != is_pushed


@pytest.mark.slow
def test_a_leader_that_is_not_pushed_back_in_the_preview_is_the_reason_why_an_engine_moves_it_otherwise() -> None:
    """Of two coupled joints with different loads, each engine but the preview moves the leader by both."""
    pytest.importorskip("mujoco")
    file = File(METERS)
    for number, name in enumerate(("Leader", "Follower")):
        file.add(file.body(name, (0.5, 2.0 * number, 0), mass=1.0 + 4.0 * number, collides=False))
        lines = [f"rel newton:mimicJoint = <{W}/Leader_joint>", "float newton:mimicCoef1 = -1"] if number else []
        file.add(file.joint(f"{name}_joint", "Revolute", "", f"{W}/{name}", pos0=(0, 2.0 * number, 0),
                            pos1=(-0.5, 0, 0), axis="Y", apis=["NewtonMimicAPI"] * number, lines=lines))  # fmt: skip
    proof = proof_of(file.text(), sections=frozenset({"engines"}), seconds=0.3)
    (check,) = [one for one in proof.certificate.checks if one.name == "mujoco"]
    assert (check.status, check.fix) == ("differs", "Trust MuJoCo where a joint that others follow is pushed.")
    assert "In the preview, /World/Follower_joint follows /World/Leader_joint, but no force acts back" in check.message
    assert "newton:mimicJoint" in {cause.attribute for cause in check.causes}


@pytest.mark.parametrize("lost", ["numbers", "unstable"])
def test_an_engine_that_gives_no_numbers_is_said_to_be_so_and_no_cause_is_searched(lost: str) -> None:
    """MuJoCo stood still after a hand had become unstable, and a contact was said to be the reason."""
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    experiment = experiments.Experiment(model, 0.3, is_cheap=True)

    def gone(_chosen: Any, _rate: int = 1) -> runs.Motion:
        places = experiment.motion.positions.copy()
        places[5:] = np.nan if lost == "numbers" else places[5]
        unstable = {f"{W}/Bar": "its pose is not a number any more"} if lost == "unstable" else {}
        return replace(experiment.motion, positions=places, unstable=unstable)

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"mujoco": gone}, [], Budget(60.0), 1.0)
    assert (check.status, check.causes) == ("differs", ())
    assert "MuJoCo gives no numbers for /World/Bar from then on." in check.message
    assert "inf" not in check.message
    # Smaller ones, which were tried, do not help.
    assert check.fix == "Check the masses, moments of inertia and gains there."


def test_an_engine_that_is_lost_where_bodies_start_inside_others_is_said_to_be_so_with_them() -> None:
    """Of a robot whose hips start 6 cm inside its trunk, PhysX gave no numbers, and the masses were to be checked."""
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    experiment = experiments.Experiment(model, 0.3, is_cheap=True)
    cause = opinions.Cause(f"{W}/Bar", "physics:filteredPairs")
    start = certificate.Check("asset", "inside", "doubtful", "", f"{W}/Bar", (cause,))

    def gone(_chosen: Any, _rate: int = 1) -> runs.Motion:
        places = experiment.motion.positions.copy()
        places[1:] = np.nan
        return replace(experiment.motion, positions=places)

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"mujoco": gone}, [start], Budget(60.0), 1.0)
    assert (check.causes, check.fix) == ((cause,), "")
    assert "no numbers for /World/Bar from then on. Bodies that start inside others are pushed apart" in check.message


def test_each_engine_is_run_before_a_reason_is_searched_for_one() -> None:
    """The search for what Havok does took all the time, and PhysX and Newton were left out."""
    model = model_of(stage_of(DEMOS["pendulum"](METERS)))
    experiment = experiments.Experiment(model, 0.2, is_cheap=True)
    asked: list[str] = []

    def runner(name: str, far: float) -> Any:
        def run(_chosen: Any, _rate: int = 1) -> runs.Motion:
            asked.append(name)
            places = experiment.motion.positions
            return replace(experiment.motion, positions=places + np.linspace(0.0, far, len(places))[:, None, None])

        return run

    engines = {"havok": runner("havok", 1.0), "mujoco": runner("mujoco", 0.0)}
    checks = [check for check, _, _ in other_engines.engine_checks(model, experiment, engines, [], Budget(60.0), 1.0)]
    assert asked[:3] == ["havok", "mujoco", "havok"]
    assert [check.status for check in checks] == ["differs", "pass"]
    # What no attribute explains, and another engine does as the preview does, is not to be trusted.
    assert not checks[0].causes
    assert checks[0].fix == "Trust the preview and MuJoCo here: they move it alike."


def test_a_joint_that_breaks_in_the_preview_and_cannot_elsewhere_is_why_they_part() -> None:
    """A door that fell out of its frame was said to have no reason in an engine without joints that break."""
    file = hinge_file("Y", break_force=2.0)
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 1.0)
    assert experiment.motion.broken == (f"{W}/Pin",)
    told = Issue("EngineLimits", "info", f"{W}/Pin", "", "Havok does not measure what joints bear.", "")

    def holding(_chosen: Any, _rate: int = 1) -> runs.Motion:
        still = np.repeat(experiment.motion.positions[:1], len(experiment.motion.positions), axis=0)
        return replace(experiment.motion, positions=still, broken=(), notices=[told])

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"havok": holding}, [], Budget(60.0), 1.0)
    assert [cause.attribute for cause in check.causes] == ["physics:breakForce"]
    assert "breaks in the preview, and cannot in Havok." in check.message


@pytest.mark.parametrize("rate", [1, 4, 16, 0])
def test_what_smaller_time_steps_of_an_engine_heal_in_the_whole_asset_is_said_to_be_so(rate: int) -> None:
    """Joints of Havok gave way by 7 mm with 60 steps a second, and by nothing with 960."""
    model = model_of(stage_of(hinge_file().text()))
    experiment = experiments.Experiment(model, 0.2, is_cheap=True)

    def yielding(_chosen: Any, steps: int = 1) -> runs.Motion:
        places = experiment.motion.positions
        far = 0.0 if rate and steps >= rate else 1.0
        return replace(experiment.motion, positions=places + np.linspace(0.0, far, len(places))[:, None, None])

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"havok": yielding}, [], Budget(60.0), 1.0)
    assert check.status == ("pass" if rate == 1 else "differs")
    assert (f"With {60 * rate} steps a second, Havok moves it as the preview does." in check.message) == (rate > 1)
    assert check.fix == ("Let it make smaller time steps." if rate > 1 else "")


@pytest.mark.parametrize("needed", [50.0, 1e6])
def test_a_link_that_is_too_light_for_an_engine_is_said_to_be_so(
    monkeypatch: pytest.MonkeyPatch, needed: float
) -> None:
    """The fingers of a hand flew off in Havok; with a thousand times their moments of inertia they did not."""
    model = model_of(stage_of(hinge_file().text()))
    experiment = experiments.Experiment(model, 0.2, is_cheap=True)
    own = runs.simulated
    (body,) = runs.subject_of(model).parts[0].bodies
    most = max(mass.mass_properties(model, body).diagonal_inertia)

    def flung(motion: runs.Motion) -> runs.Motion:
        return replace(motion, positions=motion.positions + np.linspace(0.0, 1.0, len(motion.positions))[:, None, None])

    def simulated(model: Any, seconds: float, *, engine: str = "preview", **options: Any) -> runs.Motion:
        motion = own(model, seconds, **options)
        is_held = max(mass.mass_properties(model, body).diagonal_inertia) > needed * most
        return motion if engine == "preview" or is_held else flung(motion)

    monkeypatch.setattr(reasons, "simulated", simulated)
    havok = {"havok": lambda *_: flung(experiment.motion)}
    ((check, _, _),) = other_engines.engine_checks(model, experiment, havok, [], Budget(60.0), 1.0)
    assert ("is too light for Havok" in check.message) == (needed < 1000.0)
    assert ("with 100 times of them, Havok moves all" in check.message) == (needed < 1000.0)


@pytest.mark.slow
@pytest.mark.parametrize("is_all", [True, False])
def test_what_an_engine_is_not_told_is_no_reason_where_smaller_time_steps_heal(is_all: bool) -> None:
    """An arm gave way in Havok, which is not told of a small armature: that was said to be the cause."""
    file = hinge_file("Y", apis=["NewtonJointAPI"], lines=["float newton:armature = 0.5"])
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)
    lacks = [Issue("EngineLimits", "info", f"{W}/Pin", "", "Havok is not told armature.", "")]
    untold = opinions.removed(model, [opinions.Opinion(f"{W}/Pin", "NewtonJointAPI", "armature")])

    def engine(_chosen: Any, steps: int = 1) -> runs.Motion:
        motion = runs.simulated(untold, 0.5) if is_all else experiment.motion
        far = 0.0 if is_all or steps > 1 else 1.0
        away = np.linspace(0.0, far, len(motion.positions))[:, None, None]
        return replace(motion, positions=motion.positions + away, notices=lacks)

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"havok": engine}, [], Budget(60.0), 1.0)
    assert [cause.attribute for cause in check.causes] == ["newton:armature"] * is_all
    assert ("With 240 steps a second" in check.message) == (not is_all)
    assert ("is not told" in check.message) == is_all


@pytest.mark.slow
def test_moments_of_inertia_that_no_body_has_are_why_a_joint_moves_otherwise_in_mujoco() -> None:
    """The fingers of a gripper did not move there as the numbers say, in three experiments, and no reason was told."""
    pytest.importorskip("mujoco")
    text = hinge_file("Y").text()
    odd = text.replace("0.08333", "0.9", 1)
    assert odd != text
    stage = stage_of(odd)
    found = proof_of(odd, sections=frozenset({"joints"})).certificate.having("differs")
    assert model_of(stage).prims[f"{W}/Bar"].get(usd_physics.MassAPI)
    (check,) = [one for one in found if one.section == "joints"]
    assert f"MuJoCo takes the mean of the moments of inertia of {W}/Bar, which no body can have." in check.message
    assert [(cause.path, cause.attribute) for cause in check.causes] == [(f"{W}/Bar", "physics:diagonalInertia")]


@pytest.mark.slow
@pytest.mark.parametrize("axis", ["Z", "Y"])
def test_a_mass_without_an_effect_in_the_preview_is_no_reason_why_an_engine_differs(axis: str) -> None:
    """A finger that stood still swayed by 0.8 mm in PhysX, and less with another mass: its mass was the cause."""
    lines = [] if axis == "Z" else ["float newton:damping = 0.1"]
    text = hinge_file(axis, apis=["NewtonJointAPI"], lines=lines).text()
    assert "physics:mass = 1.0" in text
    model = model_of(stage_of(text.replace("physics:mass = 1.0", "physics:mass = 5.0")))
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)

    def engine(chosen: Any, _rate: int = 1) -> runs.Motion:
        motion = runs.simulated(opinions.removed(model, chosen), 0.5)
        far = 0.0 if any(one.field == "mass" for one in chosen) else 1.0
        away = np.linspace(0.0, far, len(motion.positions))[:, None, None]
        return replace(motion, positions=motion.positions + away)

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"physx": engine}, [], Budget(60.0), 1.0)
    assert [cause.attribute for cause in check.causes] == ["physics:mass"] * (axis == "Y")


def _slow_worlds(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """A run of 2 s takes so many seconds of the clock."""
    now = [0.0]
    monkeypatch.setattr(clock, "now", lambda: now[0])

    class Slow(runs.World):
        def step(self) -> None:
            now[0] += seconds * runs.STEP / 2.0
            super().step()

    monkeypatch.setattr(runs, "World", Slow)


@pytest.mark.parametrize(("seconds", "told"), [(1.0, ""), (20.0, "There was time for 0.9")])
def test_of_what_is_simulated_slowly_a_shorter_motion_is_compared_and_said_so(
    monkeypatch: pytest.MonkeyPatch, seconds: float, told: str
) -> None:
    """A gripper whose runs took 16 s was not compared with its source within 120 s."""
    was, now = (model_of(stage_of(hinge_file("Y", lines=[f"bool physics:jointEnabled = {enabled}"]).text()))
                for enabled in (1, 0))  # fmt: skip
    _slow_worlds(monkeypatch, seconds)
    sections = frozenset({"against"})
    proof = prove(Wish("asset.usda", now, budget=100.0, against=was, against_words="in 'was'", sections=sections))
    (failed,) = proof.certificate.having("fail")
    assert "physics:jointEnabled" in {cause.attribute for cause in failed.causes}
    messages = [check.message for check in proof.certificate.having("skipped")]
    assert [message[: len(told)] for message in messages] == [told] * bool(told)


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "verdict"), [(0.1, "pass"), (0.9, "doubtful"), (2.5, "fail")])
def test_a_drive_that_friction_stops_short_of_its_target_is_doubtful_and_wrong_where_it_hardly_moves(
    friction: float, verdict: str
) -> None:
    """A thumb of a hand was said not to move, which went most of the way."""
    file = hinge_file(low=-90.0, high=90.0, drives={"angular": {"stiffness": 10.0, "damping": 3.0}},
                      apis=["NewtonJointAPI"], lines=[f"float newton:friction = {friction}"])  # fmt: skip
    proof = prove(Wish("a", model_of(stage_of(file.text())), sections=frozenset({"joints"})))
    (check,) = (check for check in proof.certificate.checks if check.name == "drive moves")
    assert check.status == verdict
    assert [cause.attribute for cause in check.causes] == ["newton:friction"] * (verdict != "pass")


@pytest.mark.slow
@pytest.mark.parametrize(("damping", "verdict"), [(0.02, "doubtful"), (0.8, "pass"), (30.0, "fail")])
def test_a_drive_that_swings_about_its_target_can_move_its_joint(damping: float, verdict: str) -> None:
    """Of a pendulum with a servo of 1 N m/rad it was said that it does not move it to a target."""
    # A swing of 3.6 s.
    file = hinge_file(low=-90.0, high=90.0, drives={"angular": {"stiffness": 1.0, "damping": damping}})
    proof = prove(Wish("a", model_of(stage_of(file.text())), sections=frozenset({"joints"})))
    (check,) = (check for check in proof.certificate.checks if check.name == "drive moves")
    assert check.status == verdict, check.message
    if verdict == "doubtful":
        assert "still swings about it after 5 s" in check.message
        assert [one.attribute.rpartition(":")[2] for one in check.causes] == ["damping", "stiffness"]


@pytest.mark.slow
def test_each_drive_that_friction_stops_short_is_told() -> None:
    file = File(METERS)
    for number in range(2):
        file.add(file.body(f"Bar{number}", (0.5, 2.0 * number, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False))
        file.add(file.joint(
            f"Pin{number}", "Revolute", "", f"{W}/Bar{number}", pos0=(0, 2.0 * number, 0), pos1=(-0.5, 0, 0), axis="Z",
            low=-90.0, high=90.0, drives={"angular": {"stiffness": 10.0, "damping": 3.0}}, apis=["NewtonJointAPI"],
            lines=["float newton:friction = 0.9"],
        ))  # fmt: skip
    checks = proof_of(file.text(), sections=frozenset({"joints"})).certificate.checks
    found = [check.path for check in checks if check.name == "drive moves" and check.status == "doubtful"]
    assert found == [f"{W}/Pin0", f"{W}/Pin1"]


@pytest.mark.slow
def test_a_spring_that_presses_against_a_limit_is_no_drive_that_has_to_arrive() -> None:
    """The links of a gripper have springs that keep them on a limit, with friction that is stronger."""
    found = {}
    for target in (0.0, 150.0):
        drive = {"angular": {"stiffness": 0.05, "targetPosition": target}}
        rubs = {"apis": ["NewtonJointAPI"], "lines": ["float newton:friction = 1"]}
        file = hinge_file(low=0.0, high=48.0, drives=drive, **rubs)
        proof = prove(Wish("a", model_of(stage_of(file.text())), sections=frozenset({"joints"})))
        found[target] = [check.status for check in proof.certificate.checks if check.name == "drive moves"]
    assert found == {0.0: ["fail"], 150.0: []}


def two_chains(held: str) -> Any:
    """Two chains of three links, 5 m apart. held: the last link that the first chain holds."""
    file, shape = File(METERS), {"shape": "Capsule", "size": (0.125, 0.125, 0.0)}
    ends = {"pos0": (0.25, 0, 0), "pos1": (-0.25, 0, 0), "axis": "Y", "low": -5.0, "high": 5.0}
    for chain, x in (("A", -2.5), ("B", 2.5)):
        links = [f"{chain}{number}" for number in range(3)]
        last = held if chain == "A" else "B2"
        file.add(
            *(file.body(link, (x + 0.5 * number, 0, 24), **shape) for number, link in enumerate(links)),
            file.joint(f"Root{chain}", "Fixed", "", f"{W}/{links[0]}", pos0=(x, 0, 24)),
            file.joint(f"First{chain}", "Revolute", f"{W}/{links[0]}", f"{W}/{links[1]}", **ends),
            file.joint(f"Last{chain}", "Revolute", f"{W}/{links[1]}", f"{W}/{last}", **ends),
        )  # fmt: skip
    return model_of(stage_of(file.text()))


@pytest.mark.slow
def test_what_flies_apart_otherwise_in_each_run_does_not_move_as_what_hangs() -> None:
    """A joint to the wrong robot tore two of them apart, and they were said to move alike until that was chaos."""
    wish = Wish("a", two_chains("B2"), against=two_chains("A2"), against_words="in 'was'", seconds=0.2)
    proof = prove(replace(wish, sections=frozenset({"against"})))
    (failed,) = proof.certificate.having("fail")
    assert [(cause.path, cause.attribute) for cause in failed.causes] == [(f"{W}/LastA", "physics:body1")]


@pytest.mark.slow
def test_what_cannot_be_simulated_is_compared_with_what_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that refused a link of an articulation that is kinematic ended the proof with a traceback."""

    class Refusing(runs.World):
        def __init__(self, model: Any, **how: Any) -> None:
            if any(prim.get(usd_physics.RigidBodyAPI).kinematic_enabled for prim in model.bodies.values()):
                raise InputError("It is refused.")
            super().__init__(model, **how)

    monkeypatch.setattr(runs, "World", Refusing)
    models = []
    for kinematic in (True, False):
        file = File(METERS)
        file.add(file.body("Post", (0, 0, 1)), file.body("Box", (3, 0, 1), kinematic=kinematic))
        models.append(model_of(stage_of(file.text())))
    wish = Wish("a", models[0], against=models[1], against_words="in 'was'", seconds=0.2)
    proof = prove(replace(wish, sections=frozenset({"asset", "rewrites", "against"})))
    assert [check.section for check in proof.certificate.having("fail")] == ["asset", "against"]
    causes = [cause.attribute for cause in proof.certificate.having("fail")[1].causes]
    assert causes == ["physics:kinematicEnabled"]


@pytest.mark.slow
def test_what_is_the_cause_for_several_joints_is_told_once() -> None:
    models = []
    for gravity in ((0.0, 0.0, -9.81), (0.0, 0.0, -0.981)):
        file = replace(hinge_file("Y"), gravity=gravity)
        for number in (1, 2):
            file.add(
                file.body(f"Bar{number}", (0.5, number, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False),
                file.joint(f"Pin{number}", "Revolute", "", f"{W}/Bar{number}", pos0=(0, number, 0), pos1=(-0.5, 0, 0),
                           axis="Y"),
            )  # fmt: skip
        models.append(model_of(stage_of(file.text())))
    wish = Wish("a", models[1], against=models[0], against_words="in 'was'", seconds=0.2)
    proof = prove(replace(wish, sections=frozenset({"against"})))
    (failed,) = proof.certificate.having("fail")
    assert [cause.attribute for cause in failed.causes] == ["physics:gravityMagnitude"]
    assert failed.message.endswith(" So do 2 other joints.")


def test_what_differs_is_named_also_where_there_was_no_time_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    was, now = (model_of(stage_of(hinge_file("Y", lines=[f"bool physics:jointEnabled = {enabled}"]).text()))
                for enabled in (1, 0))  # fmt: skip
    _slow_worlds(monkeypatch, 40.0)
    sections = frozenset({"against"})
    proof = prove(Wish("asset.usda", now, budget=10.0, against=was, against_words="in 'was'", sections=sections))
    assert "There was no time to compare it in 'was'." in [one.message for one in proof.certificate.having("skipped")]
    (named,) = proof.certificate.having("doubtful")
    assert "physics:jointEnabled" in {cause.attribute for cause in named.causes}


@pytest.mark.slow
def test_what_is_asked_for_by_name_is_compared_before_what_is_always_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    was, now = (model_of(stage_of(hinge_file("Y", lines=[f"bool physics:jointEnabled = {enabled}"]).text()))
                for enabled in (1, 0))  # fmt: skip
    _slow_worlds(monkeypatch, 4.0)
    sections = frozenset({"rewrites", "against"})
    proof = prove(Wish("asset.usda", now, budget=60.0, against=was, against_words="in 'was'", sections=sections))
    assert [check.section for check in proof.certificate.having("fail")] == ["against"]
    assert "rewrites" in {check.section for check in proof.certificate.having("skipped")}


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_joint_that_rests_on_a_limit_which_an_engine_holds_by_a_spring_is_said_to(is_elsewhere: bool) -> None:
    """An arm that rests on its limits sways for ever in Newton, where limits are springs that are hardly damped."""
    model = model_of(stage_of(hinge_file("Y", low=0.0, high=0.0001).text()))
    soft = {"lines": ["float newton:limitStiffness = 1"], "apis": ["NewtonJointAPI"]}
    springy = runs.simulated(model_of(stage_of(hinge_file("Y", low=0.0, high=0.0001, **soft).text())), 0.5)
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)
    # What limits do not explain: it is somewhere else at once.
    aside = replace(springy, positions=springy.positions + is_elsewhere * np.array((0.0, 1.0, 0.0)))
    engines = {"mujoco": lambda _chosen, _rate=1: aside}
    ((check, _, _),) = other_engines.engine_checks(model, experiment, engines, [], Budget(60.0), 1.0)
    assert ([cause.attribute for cause in check.causes] == ["physics:upperLimit"]) == (not is_elsewhere)
    assert ("degrees beyond its limit in MuJoCo, which holds limits by springs." in check.message) != is_elsewhere


@pytest.mark.parametrize("is_articulated", [True, False])
def test_a_foot_of_an_articulation_that_slides_in_the_preview_and_stands_elsewhere_is_said_to(
    is_articulated: bool,
) -> None:
    """The feet of a robot that sank slid by 45 mm, and stood in MuJoCo."""
    file = File(METERS)
    root = {"apis": ["PhysicsArticulationRootAPI"]} if is_articulated else {}
    file.add(
        file.material("Rubber", friction=1.0), file.ground(material="Rubber"),
        file.body("Foot", (0, 0, 0.05), size=(0.4, 0.2, 0.1), material="Rubber"),
        file.body("Mast", (0, 0, 0.25), size=(0.1, 0.1, 0.3), **root),
        file.joint("Ankle", "Revolute", f"{W}/Foot", f"{W}/Mast", pos0=(0, 0, 0.05), pos1=(0, 0, -0.15), axis="Y"),
    )  # fmt: skip
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 0.4, is_cheap=True)
    stands, row = experiment.motion, experiment.motion.paths.index(f"{W}/Foot")
    assert np.isfinite(experiment.coarse + experiment.sensitivity).all()  # of the motion that stands
    places = stands.positions.copy()
    places[:, row, 0] += np.linspace(0.0, 0.1, len(places))
    experiment.motion = replace(stands, positions=places)
    engines = {"mujoco": lambda _chosen, _rate=1: stands}
    ((check, _, _),) = other_engines.engine_checks(model, experiment, engines, [], Budget(60.0), 1.0)
    told = [(cause.path, cause.attribute) for cause in check.causes]
    assert (told == [(f"{W}/Mast", "PhysicsArticulationRootAPI")]) == is_articulated
    assert ("it stands in MuJoCo, and in the preview without the articulation" in check.message) == is_articulated


@pytest.mark.parametrize("approximation", ["convexDecomposition", "convexHull"])
def test_a_mesh_that_each_engine_takes_to_pieces_may_be_why_a_body_on_it_moves_otherwise(approximation: str) -> None:
    """Books on a table stood 2 cm higher in PhysX, which makes other parts of the table, and no cause was named."""
    file = File(METERS)
    points, faces = prism(5, 1.0, 0.4)
    shape = file.mesh("Shape", points, faces, approximation)
    file.add(file.body("Table", (0, 0, 0.2), geometry=shape, dynamic=False))
    file.add(file.body("Book", (0, 0, 0.425), size=(0.2, 0.2, 0.05)))
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 0.1, is_cheap=True)
    raised = replace(experiment.motion, positions=experiment.motion.positions + np.array((0, 0, 0.02)))
    run = {"havok": lambda *_: raised}
    ((check, _, _),) = other_engines.engine_checks(model, experiment, run, [], Budget(60.0), 1.0)
    is_said = "makes its own convex parts of" in check.message
    assert is_said == (approximation == "convexDecomposition")
    assert ("physics:approximation" in [cause.attribute for cause in check.causes]) == is_said


def test_what_passes_through_each_other_in_the_preview_is_the_reason_why_an_engine_pushes_it_apart() -> None:
    model = model_of(stage_of(hinge_file().text()))
    model.add(Prim(f"{W}/Post", "Cube"))
    experiment = experiments.Experiment(model, 0.2, is_cheap=True)
    told = f"{W}/Post and {W}/Bar touch at the start, and no joint can move them apart at once: they pass through."
    experiment.motion.notices.append(Issue("ContactJammed", "info", f"{W}/Post", "", told, ""))

    def pushing(_chosen: Any, _rate: int = 1) -> runs.Motion:
        places = experiment.motion.positions
        return replace(experiment.motion, positions=places + np.linspace(0.0, 1.0, len(places))[:, None, None])

    ((check, _, _),) = other_engines.engine_checks(model, experiment, {"havok": pushing}, [], Budget(60.0), 1.0)
    assert "they pass through each other in the preview, and Havok pushes them apart" in check.message
    assert {cause.path for cause in check.causes} == {f"{W}/Post", f"{W}/Bar"}


def test_a_body_that_parts_on_the_floor_that_the_proof_adds_parts_there() -> None:
    """A path that is in no file was named, or nothing at all."""
    file = File(METERS)
    file.add(file.body("Box", (0, 0, 0.5), mass=1.0))
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(runs.with_floor(runs.subject_of(model)), 0.4, is_cheap=True)
    slides = experiment.motion.positions + np.linspace((0.0,) * 3, (1.0, 0.0, 0.0), 25)[:, None]
    engines = {"mujoco": lambda _chosen, _rate=1: replace(experiment.motion, positions=slides)}
    ((check, _, _),) = other_engines.engine_checks(model, experiment, engines, [], Budget(60.0), 1.0)
    assert "s on, at the contact with the floor that the proof adds, by up to" in check.message


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_what_an_armature_takes_and_gives_back_is_no_energy_from_nowhere(kind: str) -> None:
    """A rotor that turns with a pendulum takes a third of its fall, and lifts it again."""
    matter = 0.2 if kind == "Revolute" else 1.0
    more = {"apis": ["NewtonJointAPI"], "lines": [f"float newton:armature = {matter}"]}
    file = hinge_file("Y", **more)
    if kind == "Prismatic":
        # A cart of 1 kg hangs on a slide beside a pendulum that moves it to and fro.
        file = File(METERS)
        file.add(file.body("Cart", mass=1.0, size=(0.1,) * 3, collides=False),
                 file.body("Bar", (0.5, 0, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False),
                 file.joint("Slide", "Prismatic", "", f"{W}/Cart", axis="X", **more),
                 file.joint("Pin", "Revolute", f"{W}/Cart", f"{W}/Bar", pos1=(-0.5, 0, 0), axis="Y"))  # fmt: skip
    checks = proof_of(file.text(), sections=frozenset({"asset"})).certificate.checks
    assert [check.status for check in checks if check.name == "energy"] == ["pass"]


@pytest.mark.parametrize(("size", "is_seen"), [((1.0, 1.0, 1.0), True), ((30.0, 30.0, 1.0), False)])
def test_the_page_shows_all_that_moves_and_what_stands_near_it_but_no_wide_floor(size: Any, is_seen: bool) -> None:
    """The chest under its lid was cut off by the edge of the picture."""
    file = File(METERS)
    file.add(file.body("Lid", (0, 0, 0.55), size=(1.0, 1.0, 0.1)), file.body("Chest", dynamic=False, size=size))
    proof = proof_of(file.text(), sections=frozenset())
    view = drawn_asset.scene_of(proof, Wish("a.usda", proof.subject.model))["view"]
    middle, radius = ((0.0, 0.0, 0.05), 0.5 * math.sqrt(3.21)) if is_seen else ((0.0, 0.0, 0.55), 0.5 * math.sqrt(2.01))
    assert view["middle"] == pytest.approx(middle, abs=1e-4) and view["radius"] == pytest.approx(radius, rel=1e-3)


@pytest.mark.parametrize(
    ("below", "filtered"),
    [(True, ""), (False, ""), (True, "/Frame/Shape"), (True, "/Frame"), (True, "a group"), (True, "a body")],
)
def test_what_an_engine_lets_collide_that_a_joint_keeps_apart_is_said(below: bool, filtered: str) -> None:
    """PhysX pushed a cart off its rails, which are static and below the other side of its slide. Newton was said to do
    so with a lid and its chest, which are a filtered pair. Groups keep apart as well; the bodies below a joint's static
    side do not."""
    file = File(METERS)
    pair = {"apis": ["PhysicsFilteredPairsAPI"], "extra": [f"rel physics:filteredPairs = <{W}{filtered}>"]}
    is_body = filtered == "a body"
    frame = W if is_body else f"{W}/Frame"
    file.add(file.body("Frame", dynamic=is_body, kinematic=is_body, size=(3.0, 0.2, 0.2)),
             file.body("Cart", (0, 0, 0.15), size=(0.4,) * 3, **(pair if filtered.startswith("/") else {})),
             file.joint("Slide", "Prismatic", frame if below else "", f"{W}/Cart",
                        pos1=(0, 0, -0.15), axis="X"))  # fmt: skip
    if filtered == "a group":
        file.add(block("PhysicsCollisionGroup", "Frames", [f"rel collection:colliders:includes = <{W}/Frame>"],
                       ["CollectionAPI:colliders"]),
                 block("PhysicsCollisionGroup", "Carts", [f"rel collection:colliders:includes = <{W}/Cart>",
                       f"rel physics:filteredGroups = <{W}/Frames>"], ["CollectionAPI:colliders"]))  # fmt: skip
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 0.2, is_cheap=True)

    def colliding(_chosen: Any, _rate: int = 1) -> runs.Motion:
        places = experiment.motion.positions
        return replace(experiment.motion, positions=places + np.linspace(0.0, 1.0, len(places))[:, None, None])

    checks = other_engines.engine_checks(model, experiment, {"physx": colliding}, [], Budget(60.0), 1.0)
    ((check, _, _),) = checks
    told = f"PhysX lets it collide with {W}/Frame/Shape; elsewhere {W}/Slide keeps the two apart"
    is_told = below and not filtered
    assert (told in check.message) == ("keeps the two apart" in check.message) == is_told
    assert ((f"{W}/Slide", "physics:body0") in [(one.path, one.attribute) for one in check.causes]) == is_told


@pytest.mark.parametrize(("shape", "spin", "height", "is_said"), [
    ("Cylinder", 180.0, 0.5, True), ("Cylinder", 0.0, 0.5, False), ("Sphere", 180.0, 0.5, False),
    ("Cylinder", 180.0, 5.0, False),
])  # fmt: skip
def test_an_engine_that_gives_cylinders_edges_is_said_to_where_one_rolls(
    shape: str, spin: float, height: float, is_said: bool
) -> None:
    """A wheel that rolled 2.00 m by the formula, 1.94 m in PhysX and 1.19 m in Havok. An arm that swings rolls nowhere:
    of a humanoid that hung by its trunk, the upper arm was said to roll."""
    file = File(METERS)
    file.add(file.ground(), file.body("Wheel", (0, 0, height), rotation=about("X", 90.0), shape=shape,
                                      size=(0.5, 0.2, 0.0), spin=(0.0, 0.0, spin)))  # fmt: skip
    model = model_of(stage_of(file.text()))
    experiment = experiments.Experiment(model, 0.5, is_cheap=True)

    def slowed(_chosen: Any, _rate: int = 1) -> runs.Motion:
        places = experiment.motion.positions
        return replace(experiment.motion, positions=places + np.linspace(0.0, 30.0, len(places))[:, None, None])

    for engine, has_edges in (("physx", True), ("newton", False)):
        ((check, _, _),) = other_engines.engine_checks(model, experiment, {engine: slowed}, [], Budget(60.0), 1.0)
        assert check.status == "differs"
        assert ("on edges, which slow them, such as /World/Wheel" in check.message) == (is_said and has_edges)


@pytest.mark.slow
def test_what_falls_for_ever_gains_no_energy_and_its_joints_are_not_apart() -> None:
    """A robot on slides, in a file without a ground, is 48 m/s fast when the checks end."""
    file = File(METERS)
    file.add(file.body("Light", (0, 0, 0), mass=0.004, collides=False, inertia=(4e-5, 4e-5, 4e-5)))
    file.add(file.body("Torso", (0, 0, 0), mass=4.0, size=(0.1, 0.1, 0.4)))
    file.add(file.body("Leg", (0.3, 0, -0.4), mass=4.0, size=(0.1, 0.1, 0.6)))
    file.add(file.joint("Rail", "Prismatic", "", f"{W}/Light", axis="Z"))
    file.add(file.joint("Spin", "Revolute", f"{W}/Light", f"{W}/Torso", axis="Y"))
    file.add(file.joint("Hip", "Revolute", f"{W}/Torso", f"{W}/Leg", pos0=(0, 0, -0.2), pos1=(-0.3, 0, 0.2), axis="Y"))
    found = proof_of(file.text(), sections=frozenset({"asset"})).certificate
    assert {check.name: check.status for check in found.checks if check.name in ("energy", "joints")} == {
        "energy": "pass", "joints": "pass"
    }  # fmt: skip


@pytest.mark.parametrize(("metres", "status"), [(0.002, "pass"), (0.2, "fail")])
def test_what_joints_stretch_by_and_give_back_is_no_energy_from_nowhere(metres: float, status: str) -> None:
    """The chain of a crane gave way by 2 mm, which is allowed, pulled its load back up, and was said to gain 0.8 J."""
    file, links = File(METERS), 4
    for number in range(links):
        file.add(file.body(f"Link{number}", (0, 0, 3.0 - 0.15 * (number + 0.5)), mass=0.15, size=(0.03, 0.03, 0.1)))
        above, place = (f"{W}/Link{number - 1}", (0, 0, -0.075)) if number else ("", (0, 0, 3.0))
        file.add(file.joint(f"Eye{number}", "Spherical", above, f"{W}/Link{number}", pos0=place, pos1=(0, 0, 0.075)))
    file.add(file.body("Load", (0, 0, 3.0 - 0.15 * links - 0.25), mass=50.0, size=(0.5, 0.5, 0.4)))
    file.add(file.joint("Hook", "Spherical", f"{W}/Link{links - 1}", f"{W}/Load", pos0=(0, 0, -0.075),
                        pos1=(0, 0, 0.25)))  # fmt: skip
    subject = runs.subject_of(model_of(stage_of(file.text())))
    start = runs.Start(subject.model)
    motion = start.motion(1.0)
    sinks = -metres * np.sin(np.pi * np.arange(len(motion.positions)) * runs.STEP) ** 2
    for row, path in enumerate(motion.paths):
        share = 1.0 if path.endswith("Load") else (int(path.removeprefix(f"{W}/Link")) + 1) / (links + 1)
        motion.positions[:, row] = motion.positions[0, row] + share * sinks[:, None] * (0, 0, 1)
    motion.velocities[:] = 0.0
    found = {check.name: check.status for check in plain.checks_of(start, subject, Budget(60.0), 0.0, 1.0)}
    assert found["energy"] == status


def gripper(ratio: float, kind: str) -> str:
    """Two fingers on slides, of which one follows the other one, or two wheels on a pair of gears. Without gravity,
    nothing moves by itself."""
    file = File(METERS, gravity=(0, 0, 0))
    file.add(file.body("Palm", (0, 0, 1), size=(0.2,) * 3, kinematic=True, collides=False))
    for name, x in (("A", 0.3), ("B", -0.3)):
        follows = kind == "mimic" and name == "B"
        file.add(
            file.body(name, (x, 0, 1), size=(0.05,) * 3, mass=0.2, collides=False),
            file.joint(
                f"Joint{name}", "Prismatic" if kind == "mimic" else "Revolute", f"{W}/Palm", f"{W}/{name}",
                pos0=(x, 0, 0), axis="Y" if kind == "mimic" else "Z", apis=["NewtonMimicAPI"] * follows,
                lines=[f"rel newton:mimicJoint = <{W}/JointA>", f"float newton:mimicCoef1 = {ratio}"] * follows,
            ),
        )  # fmt: skip
    if kind == "gear":
        ends = [(f"hinge{number}", f"Joint{name}") for number, name in enumerate("AB")]
        ends += [(f"body{number}", name) for number, name in enumerate("AB")]
        lines = [f"rel physics:{end} = <{W}/{target}>" for end, target in ends]
        file.add(block("PhysxPhysicsGearJoint", "Gear", [*lines, f"float physics:gearRatio = {ratio}"]))
    return file.text()


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "prim", "attribute"), [
    ("mimic", "JointB", "newton:mimicCoef1"), ("gear", "Gear", "physics:gearRatio"),
])  # fmt: skip
def test_a_ratio_by_which_a_joint_follows_is_the_cause_though_nothing_moves_by_itself(
    kind: str, prim: str, attribute: str
) -> None:
    """It was said to be without effect."""
    wish = {"sections": frozenset({"against"}), "against_words": "in 'a.usda'"}
    one, other = (model_of(stage_of(gripper(ratio, kind))) for ratio in (1.0, 0.5))
    assert [check.status for check in proof_of(gripper(1.0, kind), against=one, **wish).certificate.checks] == ["pass"]
    (check,) = proof_of(gripper(1.0, kind), against=other, **wish).certificate.having(*FOUND)
    assert check.status == "fail" and "where joints are driven that others follow" in check.message
    assert [(cause.path, cause.attribute) for cause in check.causes] == [(f"{W}/{prim}", attribute)]


@pytest.mark.slow
def test_what_differs_from_the_source_without_effect_is_named_and_not_wrong() -> None:
    one, other = (stage_of(DEMOS["pendulum"](METERS)) for _ in range(2))
    model, clean = model_of(one), model_of(other)
    bar = model.prims[f"{W}/Bar"]
    bar.add(bar.get(usd_physics.MassAPI).copy(density=7.0))
    wish = Wish("a", model, sections=frozenset({"against"}), against=clean, against_words="in the source")
    found = prove(wish).certificate.checks
    assert [check.status for check in found] == ["pass", "doubtful"]
    assert [cause.attribute for cause in found[1].causes] == ["physics:density"]
    assert found[1].message.startswith("Without effect on these experiments, these differ in the source: ")


@pytest.mark.parametrize(
    ("was", "now", "attribute"),
    [("metersPerUnit = 1.0", "metersPerUnit = 0.01", "metersPerUnit"), ('upAxis = "Z"', 'upAxis = "Y"', "upAxis"),
     ("kilogramsPerUnit = 1.0", "kilogramsPerUnit = 0.001", "kilogramsPerUnit")],
)  # fmt: skip
def test_a_unit_of_the_stage_that_is_wrong_is_the_one_cause(was: str, now: str, attribute: str) -> None:
    """It was told as the size and place of each box."""
    file = File(METERS)
    file.add(file.ground(), file.body("Low", (0.2, 0, 0.5)), file.body("High", (0.4, 0.1, 2.0), mass=3.0))
    clean, wrong = (model_of(stage_of(text)) for text in (file.text(), file.text().replace(was, now)))
    wish = Wish("asset.usda", wrong, None, against=clean, against_words="in 'clean.usda'",
                sections=frozenset({"against"}))  # fmt: skip
    (check,) = prove(wish).certificate.having(*FOUND)
    assert [(check.status, cause.path, cause.attribute) for cause in check.causes] == [("fail", "/", attribute)]


@pytest.mark.parametrize(("matrix", "attribute"), [
    (np.array(((1, 0, 0), (0, 0, 1), (0, -1, 0))), "upAxis"), (100.0 * np.eye(3), "metersPerUnit"),
    (frames.matrix_of(frames.turn_by(np.array((0, 0, 0.5)))), ""), (1.37 * np.eye(3), ""),
])  # fmt: skip
def test_what_is_turned_or_larger_as_a_whole_has_the_units_of_its_layer_as_the_cause(
    matrix: Any, attribute: str
) -> None:
    """A chest of drawers was referenced with another up axis: four findings, and no cause of any."""
    model = model_of(stage_of(DEMOS["door"](METERS)))
    wrong = model.copied()
    for prim in wrong.prims.values():
        prim.world = np.block([[matrix @ prim.world[:3, :3], (matrix @ prim.world[:3, 3])[:, None]], [0, 0, 0, 1]])
    sections = frozenset({"against"})
    found = prove(Wish("a", wrong, against=model, against_words="in 'was'", sections=sections, budget=1e9)).certificate
    causes = [cause.attribute for check in found.having("fail") for cause in check.causes]
    assert (causes == [attribute]) == bool(attribute)
    assert ("Convert what is referenced" in found.having("fail")[0].fix) == bool(attribute)
    told = " ".join(check.message for check in found.having("doubtful"))
    # What no cause is found for is not without effect.
    assert ("may be why together" in told) == (not attribute)
    assert "Without effect" not in told


def test_an_asset_that_is_said_in_other_units_differs_in_nothing() -> None:
    one, other = (model_of(stage_of(DEMOS["crates"](units))) for units in (METERS, CENTIMETERS))
    wish = Wish("asset.usda", one, None, against=other, against_words="in 'other.usda'",
                sections=frozenset({"against"}))  # fmt: skip
    assert not prove(wish).certificate.having("fail")


@pytest.mark.slow
def test_a_material_that_is_bound_is_the_cause_with_what_it_says_and_has_an_effect() -> None:
    file = File(METERS)
    file.add(file.body("Slope", (0, 0, 0), about("Y", 20), size=(4, 1, 0.1), dynamic=False))
    file.add(file.body("Crate", (0, 0, 0.17), about("Y", 20), size=(0.2, 0.2, 0.2)))
    was, now = stage_of(file.text()), stage_of(file.text())
    from pxr import Sdf, UsdPhysics, UsdShade

    material = UsdShade.Material.Define(now, f"{W}/Ice").GetPrim()
    UsdPhysics.MaterialAPI.Apply(material).CreateDynamicFrictionAttr(0.01)
    shape = next(
        prim for prim in now.Traverse() if prim.HasAPI(UsdPhysics.CollisionAPI) and "Crate" in str(prim.GetPath())
    )
    shape.AddAppliedSchema("MaterialBindingAPI")
    shape.CreateRelationship("material:binding:physics").SetTargets([Sdf.Path(f"{W}/Ice")])
    sections = frozenset({"against"})
    found = prove(Wish("a", model_of(now), now, against=model_of(was), against_words="in 'was'", sections=sections))
    (check,) = found.certificate.having(*FOUND)
    (cause,) = check.causes
    assert (check.status, cause.attribute) == ("fail", "material:binding")
    assert cause.said == f"{W}/Ice: dynamicFriction 0.01"


@pytest.mark.slow
def test_gravity_in_centimetres_is_the_cause_of_what_swings_faster_and_is_doubtful_alone() -> None:
    one, other = (stage_of(DEMOS["pendulum"](METERS)) for _ in range(2))
    model, clean = model_of(one), model_of(other)
    path, scene = next(iter(model.scenes.items()))
    scene.add(scene.get(usd_physics.PhysicsScene).copy(gravity_magnitude=981.0))
    wish = Wish("a", model, sections=frozenset({"asset", "against"}), against=clean, against_words="in the source")
    found = {check.section: check for check in prove(wish).certificate.having(*FOUND)}
    assert found["asset"].status == "doubtful"
    assert "981 m/s2" in found["asset"].message
    for check in found.values():
        assert [(cause.path, cause.attribute) for cause in check.causes] == [(path, "physics:gravityMagnitude")]


def test_bodies_part_where_they_are_well_beyond_what_is_allowed() -> None:
    experiment = experiments.Experiment(model_of(stage_of(DEMOS["pendulum"](METERS))), 0.5)
    allowed = experiment.allowed(0.01)[-10:, 0]
    for share, parts in ((1.2, False), (2.0, True)):
        other = runs.simulated(experiment.model, 0.5)
        other.positions[-10:, 0, 0] += share * allowed
        found = experiment.parting(other, 0.01)
        assert bool(found) == parts
    assert found[0].times > 1.5
    assert found[0].apart / found[0].allowed == pytest.approx(found[0].times)


@pytest.mark.parametrize(("late", "parts"), [(0.04, False), (-0.04, False), (0.15, True), (-0.15, True)])
def test_what_is_hit_a_little_earlier_or_later_moves_alike(late: float, parts: bool) -> None:
    """A row of dominoes parted by 2.7 mm in another engine, because the first one fell by 3 % more slowly there."""
    file = File(METERS)
    file.add(file.ground(), file.body("Puck", (0, 0, 0.05), size=(0.1, 0.1, 0.1)))
    experiment = experiments.Experiment(model_of(stage_of(file.text())), 1.0)
    lying, other = runs.simulated(experiment.model, 1.0), runs.simulated(experiment.model, 1.0)
    seconds = np.arange(len(lying.positions)) * runs.STEP
    for motion, start in ((lying, 0.5), (other, 0.5 * (1.0 + late))):
        motion.positions[:, 0, 0] = 2.0 * np.maximum(seconds - start, 0.0)
    assert experiment.is_measured()
    alike = experiment.like(lying)
    assert bool(alike.parting(other, 0.06)) == parts


# --------------------------------------------------------------------------- causes


def test_a_search_by_halves_finds_all_that_is_needed_and_nothing_else() -> None:
    ones = [opinions.Opinion("/A", "", str(number)) for number in range(23)]
    asked = []

    def heals(chosen: Any) -> bool:
        asked.append(len(chosen))
        return {"4", "19"} <= {one.field for one in chosen}

    found = opinions.smallest(ones, heals, lambda: True)
    assert {one.field for one in found} == {"4", "19"}
    assert opinions.smallest(ones, lambda _chosen: False, lambda: True) == []
    asked.clear()
    opinions.smallest(ones, lambda chosen: any(one.field == "7" for one in chosen), lambda: True)
    assert len(asked) < len(ones)


def test_a_search_that_had_no_time_to_end_names_no_cause() -> None:
    ones = [opinions.Opinion("/A", "", str(number)) for number in range(23)]
    found = opinions.smallest(ones, lambda chosen: any(one.field == "7" for one in chosen), lambda: False)
    assert opinions.narrowed(found, lambda: False) == (
        [], "There was no time to find the cause among 23 attributes."
    )  # fmt: skip
    assert opinions.narrowed(ones[:2], lambda: False) == (ones[:2], "")
    assert opinions.narrowed(ones, lambda: True) == (ones, "")


def test_swapped_opinions_are_those_of_the_other_model_and_the_first_one_stays_as_it_is() -> None:
    one, other = (model_of(stage_of(DEMOS["door"](METERS))) for _ in range(2))
    joint = other.prims[f"{W}/Hinge"].get(usd_physics.RevoluteJoint)
    other.prims[f"{W}/Hinge"].add(joint.copy(upper_limit=None, axis="X"))
    found = opinions.differences(one, other)
    assert {opinion.field for opinion in found} == {"upper_limit", "axis"}
    result = opinions.swapped(one, other, [one for one in found if one.field == "axis"])
    assert [prim.get(usd_physics.RevoluteJoint).axis for prim in (
        one.prims[f"{W}/Hinge"], result.prims[f"{W}/Hinge"])] == ["Z", "X"]  # fmt: skip
    assert result.prims[f"{W}/Hinge"].get(usd_physics.RevoluteJoint).upper_limit is not None


@pytest.mark.slow
def test_a_check_that_passes_says_from_when_on_motions_are_chaos_and_not_compared() -> None:
    """A pendulum of three links that begins upright, but for little, beside a pendulum of one link."""
    file, above = File(METERS), ""
    for number in range(3):
        name = f"Link{number}"
        file.add(
            file.body(name, (0.02 * number, 0, 0.5 + number), size=(0.1, 0.1, 1.0), mass=1.0, collides=False),
            file.joint(f"Pin{number}", "Revolute", above, f"{W}/{name}", pos0=(0, 0, 0.5 if above else 0),
                       pos1=(-0.02 if number else 0, 0, -0.5), axis="Y"),
        )  # fmt: skip
        above = f"{W}/{name}"
    file.add(
        file.body("Lone", (3.5, 0, 0), size=(1.0, 0.1, 0.1), mass=1.0, collides=False),
        file.joint("Pin", "Revolute", "", f"{W}/Lone", pos0=(3, 0, 0), pos1=(-0.5, 0, 0), axis="Y"),
    )  # fmt: skip
    found = proof_of(file.text(), sections=frozenset({"rewrites"}), seconds=4.0).certificate.checks
    assert found and {check.status for check in found} == {"pass"}
    pattern = r"; from \d\.\d\d s on the motion of 3 bodies is chaos, and is not compared\.$"
    assert all(re.search(pattern, check.message) for check in found)


def test_a_budget_that_is_used_up_is_said_and_no_verdict_is_invented() -> None:
    with patch.object(clock, "now", side_effect=iter(range(0, 100000, 10)).__next__):
        proof = proof_of(DEMOS["door"](METERS), budget=1.0)
    skipped = proof.certificate.having("skipped")
    assert {check.section for check in skipped} >= {"joints", "rewrites"}
    assert not proof.certificate.having(*FOUND)


def test_a_run_of_the_preview_is_cut_when_the_seconds_are_used_and_what_is_left_out_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hand with a foot of springs took 246 s of 90: each run went on to its end."""
    steps = 0

    def ticking() -> float:
        return 0.1 * steps

    def counted(world: World) -> None:
        nonlocal steps
        steps += 1
        own(world)

    own = World.step
    monkeypatch.setattr(clock, "now", ticking)
    monkeypatch.setattr(World, "step", counted)
    proof = proof_of(DEMOS["crates"](METERS), budget=1.0)
    assert proof.certificate.seconds <= 1.2
    skipped = {check.section for check in proof.certificate.checks if check.status == "skipped"}
    assert skipped >= {"asset", "rewrites", "engines"}
    assert not proof.certificate.having("fail")


@pytest.mark.slow
def test_no_answer_of_a_joint_is_computed_when_the_seconds_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A foot with 46 springs took 261 s of 90: the answers of its joints, 0.6 s each, were in no budget."""
    computed = 0

    def counted(*args: Any) -> Any:
        nonlocal computed
        computed += 1
        return own(*args)

    own = answers.answer
    monkeypatch.setattr(clock, "now", lambda: 0.3 * computed)
    monkeypatch.setattr(answers, "answer", counted)
    proof = proof_of(DEMOS["arm"](METERS), budget=1.0, sections=frozenset({"joints"}))
    assert proof.certificate.seconds <= 1.5
    told = " ".join(check.message for check in proof.certificate.having("skipped"))
    assert "used up in the middle" in told or "There was no time to see whether" in told


def test_a_proof_asks_of_the_checks_only_what_is_inside_another_and_surfaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether its hulls fill hollows took more of the time of a gripper than its first motion."""
    asked = {at_start.INSIDE, *oddities.SURFACE_RULES}
    unasked = [
        rule if rule.code in asked else replace(rule, check=lambda _facts: pytest.fail("nobody asks"))
        for rule in RULES
    ]  # fmt: skip
    monkeypatch.setattr(validate, "RULES", unasked)
    subject = runs.subject_of(model_of(stage_of(DEMOS["crates"](METERS))))
    start = runs.Start(runs.with_floor(subject))
    checks = list(plain.checks_of(start, subject, Budget(60.0), 0.0, 1.0))
    assert [check.status for check in checks if check.name == "inside"] == ["pass"]


def test_a_mesh_is_loaded_once_for_all_runs_of_a_proof() -> None:
    """The hulls of a gripper were found anew for each look at a mass: 3 s each, and 120 s of a budget of 90."""
    file = File(METERS)
    points, faces = prism(5, 0.2, 0.3)
    for number in range(2):
        shape = file.mesh("Shape", points, faces, "convexHull")
        file.add(file.body(f"Post{number}", (number, 0, 0.15), geometry=shape, size=(0.3, 0.3, 0.3)))
    file.add(file.ground())
    with patch.object(read, "mesh_of", wraps=read.mesh_of) as loaded:
        proof_of(file.text(), sections=frozenset({"asset"}))
    assert loaded.call_count == 2


def test_masses_that_there_was_no_time_to_look_at_are_said_to_be_left_out() -> None:
    subject = runs.subject_of(model_of(stage_of(DEMOS["crates"](METERS))))
    start = runs.Start(runs.with_floor(subject))
    (check,) = [one for one in plain.checks_of(start, subject, Budget(60.0), 0.0, 1.0) if one.name == "matter"]
    bodies = len(subject.layout.bodies)
    assert (check.status, f"moments of inertia of {bodies} bodies" in check.message) == ("skipped", True)


def test_the_energy_of_many_parts_is_computed_once() -> None:
    file = File(METERS)
    for number in range(12):
        file.add(file.body(f"Box{number}", (2 * number, 0, 0.5)))
    file.add(file.ground())
    with patch.object(failures, "energies_of", wraps=failures.energies_of) as computed:
        proof = proof_of(file.text(), sections=frozenset({"asset"}))
    assert computed.call_count == 1
    assert next(check for check in proof.certificate.checks if check.name == "energy").status == "pass"


def test_what_cannot_be_compared_in_time_is_skipped_and_the_motion_is_there_for_the_page() -> None:
    """The budget ends while the starts aside are run."""
    with (
        patch.object(experiments, "displaced", side_effect=lambda *_: pytest.fail("there is no time")),
        patch.object(Budget, "has", lambda *_: False),
    ):
        proof = proof_of(DEMOS["pendulum"](METERS), sections=frozenset({"rewrites", "engines"}))
    assert [(check.section, check.status) for check in proof.certificate.checks] == [
        ("rewrites", "skipped"),
        ("engines", "skipped"),
        # Those that are not here.
        ("engines", "skipped"),
    ]
    assert len(proof.motions["preview"].positions) > 100


@pytest.mark.slow
def test_the_digest_is_the_same_for_the_same_and_another_for_another_asset() -> None:
    first, again, other = (
        proof_of(DEMOS[name](units), sections=frozenset({"asset"})).certificate
        for name, units in (("door", METERS), ("door", METERS), ("pendulum", METERS))
    )
    assert first.digest == again.digest != other.digest
    assert first.as_json()["digest"] == first.digest


def test_a_joint_that_starts_apart_is_told_once_and_not_as_energy_from_nowhere() -> None:
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 2), mass=1.5, size=(1.0, 0.05, 0.05)))
    file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", pos0=(0, 0, 2.6), pos1=(-0.5, 0, 0), axis="Y"))
    checks = proof_of(file.text(), sections=frozenset({"asset"})).certificate.checks
    found = {check.name: check for check in checks}
    assert (found["joints"].status, found["joints"].path) == ("fail", f"{W}/Pin")
    assert found["joints"].message.endswith("comes apart by 0.6 m at the start.")
    assert found["joints"].fix == "Correct the frames of the joint, or put its bodies where they meet."
    assert found["energy"].status == "skipped"


@pytest.mark.parametrize(("wrong", "hint"), [((8.0, 0, 0), "centimetres"), ((0.2, 0.1, 0), ""), ((0.08, 0, 0.3), "")])
def test_a_joint_that_starts_apart_names_the_place_of_its_frame(wrong: tuple[float, ...], hint: str) -> None:
    stage = stage_of(DEMOS["door"](METERS))
    stage.GetPrimAtPath(f"{W}/Hinge").GetAttribute("physics:localPos0").Set(wrong)
    found = prove(Wish("a", model_of(stage), sections=frozenset({"asset", "joints"}))).certificate.having(*FOUND)
    (check,) = found
    assert (check.name, check.path) == ("joints", f"{W}/Hinge")
    names = [cause.attribute for cause in check.causes]
    assert names == (["physics:localPos0"] if hint else ["physics:localPos0", "physics:localPos1"])
    assert hint in check.causes[0].hint


@pytest.mark.slow
def test_a_material_is_the_cause_by_its_value_and_not_by_its_binding() -> None:
    stage = stage_of(DEMOS["ball"](METERS))
    stage.GetPrimAtPath(f"{W}/Rubber").GetAttribute("physics:restitution").Set(1.3)
    found = prove(Wish("a", model_of(stage), sections=frozenset({"asset"}))).certificate.having("fail")
    causes = {(cause.path, cause.attribute) for check in found for cause in check.causes}
    assert (f"{W}/Rubber", "physics:restitution") in causes
    assert "material:binding" not in {name for _, name in causes}


def test_a_density_that_nothing_has_is_doubtful_as_a_mass_is() -> None:
    stage = stage_of(DEMOS["lift"](METERS))
    load = stage.GetPrimAtPath(f"{W}/Load")
    load.RemoveProperty("physics:mass")
    load.GetAttribute("physics:density").Set(0.7)
    (check,) = prove(Wish("a", model_of(stage), sections=frozenset({"asset"}))).certificate.having("doubtful")
    assert [cause.attribute for cause in check.causes] == ["physics:density"]


def test_moments_of_inertia_that_usd_ignores_are_doubtful() -> None:
    file = File(METERS)
    file.add(file.body("Box", (0, 0, 0.5), mass=None, inertia=(1e-9, 1e-9, 1e-9)))
    stage = stage_of(file.text())
    (check,) = prove(Wish("a", model_of(stage), sections=frozenset({"asset"}))).certificate.having("doubtful")
    assert "so small in the units of the file that USD ignores them" in check.message
    assert [cause.attribute for cause in check.causes] == ["physics:diagonalInertia"]


@pytest.mark.parametrize("is_hollow", [True, False])
def test_what_a_hull_fills_has_the_approximation_as_a_cause(is_hollow: bool) -> None:
    """A toy lay in a box whose hull was its collider: the proof said to move it."""
    corners = [(x, y) for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
    low, high = [(x, y, 0.0) for x, y in corners], [(x, y, 0.3) for x, y in corners]
    inner = [(0.8 * x, 0.8 * y, 0.05) for x, y in corners], [(0.8 * x, 0.8 * y, 0.3) for x, y in corners]
    points = [*low, *high, *inner[0], *inner[1]]
    around = [(0, 1), (1, 3), (3, 2), (2, 0)]
    faces = [(0, 2, 3, 1), (8, 9, 11, 10)]
    for a, b in around:
        faces += [(a, b, b + 4, a + 4), (b + 8, a + 8, a + 12, b + 12), (a + 4, b + 4, b + 12, a + 12)]
    file = File(METERS)
    shape = file.mesh("Shape", points, [face[::-1] for face in faces], "convexHull")
    file.add(file.body("Tray", geometry=shape, dynamic=False))
    at = (0.0, 0.0, 0.11) if is_hollow else (0.27, 0.0, 0.15)
    file.add(file.body("Toy", at, size=(0.1, 0.1, 0.1)))
    checks = proof_of(file.text(), sections=frozenset({"asset"})).certificate.checks
    (check,) = [one for one in checks if one.name == "inside"]
    assert check.status == "fail"
    assert ("physics:approximation" in [cause.attribute for cause in check.causes]) == is_hollow
    assert check.fix.startswith("Make convex parts of it") == is_hollow


def test_what_is_animated_is_said_to_stand_still() -> None:
    stage = stage_of(DEMOS["pendulum"](METERS))
    place = stage.GetPrimAtPath(f"{W}/Bar").GetAttribute("xformOp:translate")
    for frame, height in ((0.0, 2.0), (24.0, 3.0)):
        place.Set((0.5, 0, height), frame)
    proof = prove(Wish("asset.usda", model_of(stage), stage, sections=frozenset()))
    assert [(check.name, check.status, check.path) for check in proof.certificate.checks] == [
        ("animation", "skipped", f"{W}/Bar")
    ]


def test_a_shape_that_does_not_collide_any_more_has_its_schema_as_the_cause() -> None:
    """The shape itself was said to be missing, which was still there."""
    clean, stage = (stage_of(DEMOS["crates"](METERS)) for _ in range(2))
    shape = f"{W}/Crate0/Shape"
    stage.GetPrimAtPath(shape).RemoveAppliedSchema("PhysicsCollisionAPI")
    one, other = model_of(stage), model_of(clean)
    causes = [opinions.cause_between(one, other, each) for each in opinions.differences(one, other)]
    assert f"PhysicsCollisionAPI of {shape} (not said; there in the other)" in [str(cause) for cause in causes]


# --------------------------------------------------------------------------- the page


def test_the_page_is_read_by_a_browser_where_an_engine_loses_a_body_and_names_look_like_html() -> None:
    name = "<!--<script>.usda"
    stage = stage_of(DEMOS["pendulum"](METERS))
    wish = Wish(name, model_of(stage), stage, sections=frozenset({"rewrites"}), seconds=0.5)
    proof = prove(wish)
    (motion,) = proof.motions.values()
    motion.positions[10:] = np.nan
    text = page.page(proof, wish)
    for part in ("summary", "scene"):
        found = re.search(rf'<script type="application/json" id="{part}">(.*?)</script>', text, re.DOTALL)
        assert found is not None and "<" not in found[1]
        content = json.loads(found[1], parse_constant=pytest.fail)
    (poses,) = (poses for path, poses in content["engines"][0]["motion"].items() if path == f"{W}/Bar")
    assert poses[-1] == poses[4] != poses[0]


def test_an_engine_has_one_colour_on_a_page_and_all_labels_are_in_the_picture() -> None:
    """The line of MuJoCo was blue in one plot, as the preview is elsewhere, and half of the last label was cut off."""
    proof = proof_of(DEMOS["pendulum"](METERS), sections=frozenset({"rewrites"}), seconds=0.3)
    proof.motions["mujoco"] = proof.motions["preview"]
    text = page.page(proof, Wish("asset.usda", proof.subject.model))
    colours = re.findall(r'<i style="background:(#\w+)"></i>(MuJoCo)', text)
    assert len(colours) == 3 and len(set(colours)) == 1
    labels = re.findall(r'<text x="(\d+)[.\d]*" y="204" text-anchor="(\w+)">', text)
    assert [anchor for _, anchor in labels] == ["start", "middle", "end"] * 2


def test_rounding_does_not_fill_a_plot() -> None:
    """Two engines that are nanometres apart had a curve from the bottom of its plot to the top."""
    stage = stage_of(hinge_file().text())
    wish = Wish("asset.usda", model_of(stage), stage, sections=frozenset({"engines"}), seconds=0.2)
    proof = prove(wish)
    first = next(iter(proof.motions.values()))
    proof.motions["mujoco"] = replace(first, positions=first.positions + 1e-9 * np.arange(3))
    text = page.page(proof, wish)
    plot = text[text.index("Largest distance of a body") :]
    (points,) = re.findall('points="([^"]*)"', plot)[:1]
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert max(heights) - min(heights) < 1.0 and min(heights) > 150.0
    assert "at the end 0 m, at most 0 m" in plot


def test_a_page_has_what_joints_do_in_the_unit_of_their_limits() -> None:
    """Limits were in degrees, and what was wanted and got in radians without a word."""
    stage = stage_of(hinge_file("Y", low=-0.5, high=0.5).text())
    wish = Wish("asset.usda", model_of(stage), stage, sections=frozenset({"joints"}))
    text = page.page(prove(wish), wish)
    row = text[text.index('id="joints"') :]
    assert "-28.65° to 28.65°" in row
    assert "up, Preview: 28.65° and 28.65°" in row


# --------------------------------------------------------------------------- expectations


def expected(tmp_path: Path, text: str, demo: str = "door") -> dict[str, certificate.Check]:
    file = tmp_path / "asset.expect.toml"
    file.write_text(text, encoding="utf-8")
    rows = expectations.read(file)
    proof = proof_of(DEMOS[demo](METERS), sections=frozenset({"expectations"}), expected=rows)
    return {check.name: check for check in proof.certificate.checks}


@pytest.mark.slow
def test_a_door_opens_as_far_as_a_force_moves_it_and_its_friction_is_named_where_it_does_not(tmp_path: Path) -> None:
    found = expected(
        tmp_path,
        f"""
[[expect]]
name = "opens at 20 N"
joint = "{W}/Hinge"
reaches = 80
force = 20
lever = 0.7
within = 3

[[expect]]
name = "opens at a touch"
joint = "{W}/Hinge"
reaches = 80
force = 1
lever = 0.7

[[expect]]
name = "opens by both"
joint = "{W}/Hinge"
reaches = 80
force = 20
torque = 30

[[expect]]
name = "opens too far"
joint = "{W}/Hinge"
reaches = 170
torque = 30
""",
    )
    assert found["opens by both"].status == "fail" and "by a force" in found["opens by both"].message
    assert found["opens at 20 N"].status == "pass"
    assert found["opens at a touch"].status == "fail"
    assert [cause.attribute for cause in found["opens at a touch"].causes] == ["newton:friction"]
    assert [cause.attribute for cause in found["opens too far"].causes] == ["physics:upperLimit"]


def test_what_is_demanded_of_values_is_compared_in_degrees_and_si(tmp_path: Path) -> None:
    found = expected(
        tmp_path,
        f"""
[[expect]]
name = "limits"
joint = "{W}/Hinge"
limits = [0, 108.86]

[[expect]]
name = "weight"
body = "{W}/Leaf"
mass = [5, 10]

[[expect]]
name = "wider"
joint = "{W}/Hinge"
limits = [0, 170]

[[expect]]
name = "axis"
prim = "{W}/Hinge"
attribute = "physics:axis"
value = "Z"

[[expect]]
name = "other axis"
prim = "{W}/Hinge"
attribute = "physics:axis"
value = "X"

[[expect]]
name = "gone"
body = "{W}/Nothing"
mass = 1

[[expect]]
name = "short"
joint = "hinge"
limits = [0, 108.86]

[[expect]]
name = "still"
body = "{W}/Leaf"
moves_at_most = 0.01
""",
    )
    assert {name: check.status for name, check in found.items()} == {
        "limits": "pass", "wider": "fail", "weight": "fail", "axis": "pass", "other axis": "fail", "gone": "fail",
        "short": "fail", "still": "pass",
    }  # fmt: skip
    # In a robot, nobody knows the paths of prims by heart.
    assert found["gone"].message.endswith(f"; it has {W}/Leaf.")
    assert found["short"].message.endswith(f"; did you mean '{W}/Hinge'?")
    assert found["weight"].message == "weight: it weighs 20 kg, and should weigh 5 to 10 kg."
    assert found["other axis"].message == "other axis: it is Z, and should be X."
    assert found["wider"].message.endswith(", and should be 0 degrees to 170 degrees.")
    assert [cause.attribute for cause in found["wider"].causes] == ["physics:upperLimit"]
    assert "physics:mass" in {cause.attribute for cause in found["weight"].causes}


def winch() -> str:
    """A drum whose hinge has all of its way beyond half a turn, where a drive holds it."""
    file = File(METERS)
    file.add(file.body("Drum", (0, 0, 1), about("Z", 200.0), shape="Cylinder", size=(0.2, 0.1, 0), mass=2.0))
    drive = {"angular": {"stiffness": 50.0, "damping": 5.0, "targetPosition": math.radians(200.0)}}
    limits = {"low": math.radians(170.0), "high": math.radians(300.0)}
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Drum", pos0=(0, 0, 1), axis="Z", drives=drive, **limits))
    return file.text()


@pytest.mark.slow
def test_a_hinge_whose_limits_are_beyond_half_a_turn_is_right(tmp_path: Path) -> None:
    file = tmp_path / "asset.expect.toml"
    file.write_text(
        f"""
[[expect]]
name = "holds"
joint = "{W}/Hinge"
holds = 1

[[expect]]
name = "winds"
joint = "{W}/Hinge"
reaches = 290
torque = 5
""",
        encoding="utf-8",
    )
    proof = proof_of(winch(), expected=expectations.read(file), sections=frozenset({"asset", "joints", "expectations"}))
    assert lines(proof) == []
    checks = {check.name: check for check in proof.certificate.checks}
    assert (checks["holds"].status, checks["winds"].status) == ("pass", "pass")
    assert not [check for check in proof.certificate.having("skipped") if check.path == f"{W}/Hinge"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[expect]]\njoint = '/A'\nreaches = 3\ntorque = 1\nwithin = 0", "must be above 0"),
        ("[[expect]]\njoint = '/A'\nreaches = 3\ntorque = 1\nwithin = 1e9", "at most 600"),
        ("[[expect]]\njoint = '/A'", "demands nothing"),
        ("[[expect]]\njoint = '/A'\nreachs = 3", "has 'reachs', which is no key; did you mean 'reaches'\\?"),
        ("[[expect]]\nreaches = 3", "needs 'joint'"),
        ("[[expect]]\njoint = '/A'\nreaches = 3\nmess = 1", "has 'mess'"),
        ("[[expect]]\njoint = '/A'\nlimits = [1]", "two numbers"),
        ("[[expect]]\njoint = '/A'\nreaches = 'far'", "must be a number"),
        ("[[expect]]\njoint = '/A'\nlimits = [90, -90]", r"write \[-90, 90\]"),
        ("[[expect]]\nprim = '/A'\nattribute = 'physics:mass'", "needs 'value' or 'range'"),
        ("expect = 3", "must hold tables"),
        ("[other]", "must hold tables"),
        ("a = ", "is no TOML"),
    ],
)
def test_a_file_of_expectations_that_is_wrong_is_refused_with_the_reason(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "bad.expect.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        expectations.read(file)
