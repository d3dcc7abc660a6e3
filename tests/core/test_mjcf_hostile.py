# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models of MuJoCo that ask for endless work or memory end with a sentence, within limits of the system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hostile_mjcf import cases, write
from shares import each_of
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.core.validate import validate
from usdphys_ext.usdphys_addon.mjcf import layout, read

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_no_small_model_takes_all_memory_or_time_or_ends_as_a_fault(tmp_path: Path) -> None:
    """Every third one, as all take a minute; `scripts/hostile.py mjcf` takes all."""
    script = ROOT / "tests" / "hostile_mjcf.py"
    names = each_of(sorted(cases(quick=True)), 3)
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT), str(tmp_path), "quick", *names],
        capture_output=True,
        text=True,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(names) > 60
    wrong = [one for one in found if one["status"] or one["sentence"].startswith("raised") or not one["sentence"]]
    assert not wrong
    # The script ends each after 60 seconds of the processor; resident, each takes less than 2 GB.
    assert max(one["mb"] for one in found) < 2048


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("replicas of elements site", "replicas of more than 50000 elements"),
        ("replicas of frames", "replicas of more than 50000 elements"),
        ("a replica of nothing of 1e15", "replicas of more than 50000 elements"),
        ("a class of many attributes in many classes", "stand for more than 64 MB of text"),
        ("a class of many attributes in many geoms", "stand for more than 64 MB of text"),
        ("a long name in replicas", "stand for more than 64 MB of text"),
        ("a long separator of replicas", "stand for more than 64 MB of text"),
        ("included elements in elements", "nested more than 200 levels deep"),
        ("a mesh in many geoms", "whose meshes have more than 20000000 points and triangles"),
    ],
)
def test_what_multiplies_is_refused_before_it_takes_the_memory(name: str, sentence: str, tmp_path: Path) -> None:
    path = write(cases()[name], tmp_path)
    with pytest.raises(InputError, match=sentence):
        layout.plan(read.read_file(path))


def test_many_kinds_of_masks_are_named_and_not_made_into_pairs(tmp_path: Path) -> None:
    geoms = "".join(f'<geom size="1" contype="{n}" conaffinity="{2 * n}"/>' for n in range(1, 601))
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    planned = layout.plan(read.read_file(path))
    assert not planned.model.groups
    assert any("600 kinds of contype" in one.message for one in planned.issues)


def test_a_class_that_is_missing_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    geoms = '<geom class="a" size="1"/>' * 50
    path.write_text(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    assert [one.code for one in read.read_file(path).issues].count("MjcfClassMissing") == 1


@pytest.mark.parametrize(
    "body",
    [
        '<body xyaxes="0 0 1 0 0 1"><joint/><geom size="1"/></body>',
        '<body xyaxes="0 0 0 0"><joint/><geom size="1"/></body>',
        '<geom size="1" group="1e15"/>',
    ],
)
def test_axes_and_whole_numbers_that_are_none_are_refused_in_one_sentence(body: str, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(InputError, match=r"no two axes|32 bits"):
        read.read_file(path)


def test_a_mass_that_is_text_does_not_stop_the_checks_without_geometry() -> None:
    model = PhysicsModel(SI)
    for path, place, mass in (("/light", 0.0, "1"), ("/heavy", 0.5, 1000.0)):
        world = frames.transform((0.0, 0.0, place))
        prim = model.add(Prim(path, "Cube", world, local=world))
        prim.add(usd_geom.Cube(size=1.0))
        prim.add(usd_physics.CollisionAPI())
        prim.add(usd_physics.RigidBodyAPI())
        prim.add(usd_physics.MassAPI(mass=mass))
    assert isinstance(validate(model, check_geometry=False), list)


def _jointed(number: int) -> str:
    bodies = "".join(f'<body name="b{n}" pos="{n} 0 0"><joint name="j{n}"/></body>' for n in range(number))
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


def test_rules_for_many_articulations_take_time_in_proportion(count_calls) -> None:
    def model(number: int) -> PhysicsModel:
        made = PhysicsModel(SI)
        for n in range(number):
            body = made.add(Prim(f"/M/b{n}", "Xform", np.eye(4), local=np.eye(4)))
            for schema in (usd_physics.RigidBodyAPI(), usd_physics.ArticulationRootAPI()):
                body.add(schema)
            joint = made.add(Prim(f"/M/b{n}/j", "PhysicsRevoluteJoint", np.eye(4), local=np.eye(4)))
            joint.add(usd_physics.RevoluteJoint(body1=(f"/M/b{n}",)))
        return made

    few = count_calls(lambda: validate(model(100), check_geometry=False))
    assert count_calls(lambda: validate(model(400), check_geometry=False)) < 5 * few


def test_an_edit_of_many_bodies_looks_for_the_bodies_once(tmp_path: Path, monkeypatch) -> None:
    source = tmp_path / "m.xml"
    source.write_text(_jointed(40))
    assert cli.main(["convert", str(source), str(tmp_path / "m.usda")]) == 0
    searches: list[type] = []
    having = PhysicsModel.having
    monkeypatch.setattr(PhysicsModel, "having", lambda model, cls: searches.append(cls) or having(model, cls))
    assert cli.main(["convert", str(tmp_path / "m.usda"), str(tmp_path / "back.xml")]) == 0
    assert searches.count(usd_physics.RigidBodyAPI) < 40
    assert (tmp_path / "back.xml").read_text() == source.read_text()
