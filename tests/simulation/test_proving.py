# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates: silent on what is right, and with the attribute that is the cause of what is wrong."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import clock
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.proving import certificate, compared, expectations, joints, opinions, plain, runs
from usdphys_ext.usdphys_addon.proving.prove import Proof, Wish, prove

from .author import METERS, File, Units
from .demos import CLEAN, DEMOS, FAULTS, Fault

W = "/World"


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
    return [check.line() for check in proof.certificate.having("fail", "differs")]


def proof_with(fault: Fault) -> Proof:
    clean, stage = (stage_of(DEMOS[fault.demo](METERS)) for _ in range(2))
    fault.edit(stage)
    return prove(Wish(
        "asset.usda", model_of(stage), stage, sections=fault.sections,
        against=model_of(clean) if fault.against else None, against_words="in 'clean.usda'",
    ))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_certificate_names_the_attribute_of_a_planted_fault(fault: Fault) -> None:
    found = proof_with(fault).certificate.having("fail", "differs")
    causes = [(cause.path, name) for check in found for cause in check.causes for name in cause.attribute.split(", ")]
    assert (f"{W}/{fault.prim}", fault.attribute) in causes


def test_many_faults_are_planted_and_the_demos_are_clean_without_them() -> None:
    assert len(FAULTS) >= 30
    assert len(CLEAN) == 20
    for fault in FAULTS:
        stage = stage_of(DEMOS[fault.demo](METERS))
        before = certificate.digest_of(model_of(stage))
        fault.edit(stage)
        assert certificate.digest_of(model_of(stage)) != before, fault.name


@pytest.mark.slow
@pytest.mark.parametrize(("demo", "units"), CLEAN, ids=lambda one: one.name if isinstance(one, Units) else one)
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


# --------------------------------------------------------------------------- joints


def hinge(**more: Any) -> Any:
    """A bar of 1 kg on a hinge to the world, horizontal at the start."""
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0), mass=1.0, size=(1.0, 0.1, 0.1), collides=False,
                       inertia=(0.01, 1 / 12, 1 / 12)))  # fmt: skip
    file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", pos1=(-0.5, 0, 0), axis="Z", **more))
    stage = stage_of(file.text())
    subject = runs.subject_of(model_of(stage))
    (probe,), left_out = joints.probes_of(subject)
    assert not left_out
    return subject, probe


def answer(subject: Any, probe: Any, experiment: str) -> Any:
    model = joints.bench(subject, [probe], experiment)
    return joints.answer(probe, joints.terms_of(probe, model, experiment), joints.EXPERIMENTS[experiment][0])


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
    outcome = joints.judged(probe, "coast", "preview", model, runs.simulated(deaf, 1.0))
    assert (outcome.is_kept, outcome.lost) == (False, "friction")
    assert joints.said_at(probe, "friction") == ("NewtonJointAPI", "friction")
    assert joints.judged(probe, "coast", "preview", model, runs.simulated(model, 1.0)).is_kept


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
        assert joints.judged(probe, experiment, "preview", model, motion).is_kept


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
    assert joints.judged(probe, "coast", "preview", model, runs.simulated(model, 1.0)).is_kept


def test_a_joint_that_starts_outside_of_its_limits_is_left_out_with_the_reason() -> None:
    file = File(METERS)
    file.add(file.body("Bar", (0.5, 0, 0)))
    file.add(file.joint("Pin", "Revolute", "", f"{W}/Bar", pos1=(-0.5, 0, 0), axis="Z", low=0.5, high=1.0))
    assert joints.probes_of(runs.subject_of(model_of(stage_of(file.text())))) == (
        [], {f"{W}/Pin": "it starts outside of its limits"}
    )  # fmt: skip


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
    assert compared.narrowed(found, lambda: False) == (
        [], " There was no time to find the cause among 23 attributes."
    )  # fmt: skip
    assert compared.narrowed(ones[:2], lambda: False) == (ones[:2], "")
    assert compared.narrowed(ones, lambda: True) == (ones, "")


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
    assert not proof.certificate.having("fail", "differs")


def test_the_energy_of_many_parts_is_computed_once() -> None:
    file = File(METERS)
    for number in range(12):
        file.add(file.body(f"Box{number}", (2 * number, 0, 0.5)))
    file.add(file.ground())
    with patch.object(plain, "energies_of", wraps=plain.energies_of) as computed:
        proof = proof_of(file.text(), sections=frozenset({"asset"}))
    assert computed.call_count == 1
    assert next(check for check in proof.certificate.checks if check.name == "energy").status == "pass"


def test_what_cannot_be_compared_in_time_is_skipped_and_the_motion_is_there_for_the_page() -> None:
    """The budget ends while the starts aside are run."""
    with (
        patch.object(runs, "displaced", side_effect=lambda *_: pytest.fail("there is no time")),
        patch.object(runs.Budget, "has", lambda *_: False),
    ):
        proof = proof_of(DEMOS["pendulum"](METERS), sections=frozenset({"rewrites", "engines"}))
    assert [(check.section, check.status) for check in proof.certificate.checks] == [
        ("rewrites", "skipped"),
        ("engines", "skipped"),
    ]
    assert len(proof.motions["preview"].positions) > 100


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
    assert "0.6 m" in found["joints"].message
    assert found["energy"].status == "skipped"


def test_what_is_animated_is_said_to_stand_still() -> None:
    stage = stage_of(DEMOS["pendulum"](METERS))
    place = stage.GetPrimAtPath(f"{W}/Bar").GetAttribute("xformOp:translate")
    for frame, height in ((0.0, 2.0), (24.0, 3.0)):
        place.Set((0.5, 0, height), frame)
    proof = prove(Wish("asset.usda", model_of(stage), stage, sections=frozenset()))
    assert [(check.name, check.status, check.path) for check in proof.certificate.checks] == [
        ("animation", "skipped", f"{W}/Bar")
    ]


# --------------------------------------------------------------------------- expectations


def expected(tmp_path: Path, text: str, demo: str = "door") -> dict[str, certificate.Check]:
    file = tmp_path / "asset.expect.toml"
    file.write_text(text, encoding="utf-8")
    rows = expectations.read(file)
    proof = proof_of(DEMOS[demo](METERS), sections=frozenset({"expectations"}), expected=rows)
    return {check.name: check for check in proof.certificate.checks}


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
name = "opens too far"
joint = "{W}/Hinge"
reaches = 170
torque = 30
""",
    )
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
name = "axis"
prim = "{W}/Hinge"
attribute = "physics:axis"
value = "Z"

[[expect]]
name = "gone"
body = "{W}/Nothing"
mass = 1

[[expect]]
name = "still"
body = "{W}/Leaf"
moves_at_most = 0.01
""",
    )
    assert {name: check.status for name, check in found.items()} == {
        "limits": "pass", "weight": "fail", "axis": "pass", "gone": "fail", "still": "pass"
    }  # fmt: skip
    assert "20 kg" in found["weight"].message
    assert "physics:mass" in {cause.attribute for cause in found["weight"].causes}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[expect]]\njoint = '/A'", "demands nothing"),
        ("[[expect]]\nreaches = 3", "needs 'joint'"),
        ("[[expect]]\njoint = '/A'\nreaches = 3\nmess = 1", "has 'mess'"),
        ("[[expect]]\njoint = '/A'\nlimits = [1]", "two numbers"),
        ("[[expect]]\njoint = '/A'\nreaches = 'far'", "must be a number"),
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
