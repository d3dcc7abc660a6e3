# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory: random scenes move in one way however their physics is said, and the laboratory notices if not."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from random import Random
from typing import Any

import assets
import pytest
from shares import each_of

from .helpers import require_pxr

require_pxr()
sys.path.insert(0, str(assets.ROOT / "scripts"))
lab: Any = importlib.import_module("laboratory")
sys.path.remove(str(assets.ROOT / "scripts"))
#: Each seed tries every third transform, in turn.
SHARE = 3
SPECIMENS = [row["specimen"] | {"reason": row["reason"]} for row in lab.known_rows() if "specimen" in row]


@pytest.mark.slow
@pytest.mark.parametrize("seed", each_of(range(20), 2))
def test_a_scene_moves_in_one_way_however_it_is_said(seed: int) -> None:
    order = list(lab.TRANSFORMS)
    found, compared = lab.findings_of(seed, chosen=lambda name: order.index(name) % SHARE == seed % SHARE)
    assert compared >= 3
    assert [str(one) for one in found if (one.transform, one.exhibit) not in lab.known()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "exhibit", "seed"),
    [pytest.param(one["part"], one["exhibit"], one["seed"], id=f"{one['part']}-{one['exhibit']}",
                  marks=pytest.mark.xfail(strict=True, reason=one["reason"])) for one in SPECIMENS],
)  # fmt: skip
def test_what_is_known_to_fail(part: str, exhibit: str, seed: int) -> None:
    found, _ = lab.findings_of(seed, exhibit, chosen=lambda name: name == part)
    assert [str(one) for one in found if one.transform == part] == []


def slick(model: Any, _: Random) -> Any:
    """Says something else: the friction of all materials is a tenth less."""
    result = lab.copied(model)
    for prim in result.materials.values():
        api = prim.get(lab.usd_physics.MaterialAPI)
        api.dynamic_friction *= 0.9
        api.static_friction *= 0.9
    return lab.Statement(result)


SLICK = lab.Transform("slick", 0.01, slick)


@pytest.mark.slow
def test_the_laboratory_sees_a_tenth_less_friction() -> None:
    finding, _ = lab.Experiment(lab.scenes.scene_of(3, "slide")).compare(SLICK, Random(0))
    assert finding is not None
    assert finding.exhibit == "slide"


@pytest.mark.slow
def test_the_same_statement_is_the_same_motion() -> None:
    same = lab.Transform("same", 0.0, lambda model, _: lab.Statement(model))
    finding, _ = lab.Experiment(lab.scenes.scene_of(3), 0.5).compare(same, Random(0))
    assert finding is None


@pytest.mark.slow
def test_a_failure_is_reduced_to_what_it_needs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(lab.TRANSFORMS, "slick", SLICK)
    model = lab.scenes.scene_of(3, "slide")
    lab.scenes.EXHIBITS["pendulum"](lab.scenes.Bench(model, "/World/Other", lab.scenes.frames.transform((9, 0, 0)),
                                                     Random(1)))  # fmt: skip
    finding, _ = lab.Experiment(model).compare(SLICK, Random(0))
    small, found = lab.reduced(model, lab.failing(finding, 0))
    assert found.transform == "slick"
    assert not [path for path in small.prims if path.startswith("/World/Other")]
    assert {"/World/Floor", "/World/Slide/Body"} <= set(small.prims)
    lab.write_finding(tmp_path, "slick", small, found, 0)
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("slick.usda", "slick_other.usda")]
    assert all("slick: /World/Slide/Body parts at" in text and "def Cube" in text for text in texts)
    assert texts[0] != texts[1]


@pytest.mark.slow
def test_momentum_that_is_lost_is_noticed() -> None:
    experiment = lab.Experiment(lab.scenes.scene_of(3, "drift"), 0.5)
    assert lab.broken_laws(experiment) == []
    motion = experiment.motion
    experiment.motion = replace(motion, velocities=motion.velocities.copy())
    experiment.motion.velocities[10:] *= 0.5
    assert {one.transform for one in lab.broken_laws(experiment)} >= {"momentum", "angular momentum"}


@pytest.mark.slow
def test_energy_that_grows_is_noticed_but_not_what_is_back_after_a_frame() -> None:
    """A joint that a blow bends lifts what hangs on it again."""
    experiment = lab.Experiment(lab.scenes.scene_of(3, "fall"), 0.5)
    motion, found = experiment.motion, []
    for changed, times in ((slice(25, 26), 0.5), (slice(10, None), 1.1)):
        experiment.motion = replace(motion, velocities=motion.velocities.copy())
        experiment.motion.velocities[changed] *= times
        found.append("energy grows" in {one.transform for one in lab.broken_laws(experiment)})
    assert found == [False, True]


@pytest.mark.slow
def test_a_drive_that_gives_nothing_is_noticed() -> None:
    seed = next(seed for seed in range(99) if not lab.broken_laws(lab.Experiment(lab.scenes.scene_of(seed, "drive"))))
    experiment = lab.Experiment(lab.scenes.scene_of(seed, "drive"))
    experiment.motion = replace(experiment.motion, velocities=experiment.motion.velocities * 0.0)
    assert "momentum of a drive" in {one.transform for one in lab.broken_laws(experiment)}


@pytest.mark.parametrize("name", sorted(lab.TRANSFORMS))
def test_each_way_to_say_a_scene_applies_somewhere(name: str) -> None:
    model = lab.scenes.scene_of(3, "car")
    said = lab.TRANSFORMS[name].make(model, Random(0))
    assert said is not None
    assert len(said.model.bodies) >= 5
