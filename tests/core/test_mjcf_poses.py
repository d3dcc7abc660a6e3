# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes of models of MuJoCo as the poses in which they are read; MuJoCo is the judge."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.mjcf import layout, read
from usdphys_ext.usdphys_addon.usd import mjcf_file, mjcf_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read

SIZES = {"free": 7, "ball": 4, "hinge": 1, "slide": 1}


def numbers(rng: random.Random, count: int, size: float = 1.0) -> str:
    return " ".join(f"{rng.uniform(-size, size):.4f}" for _ in range(count))


def joint(rng: random.Random, name: str, kind: str) -> str:
    more = f' axis="{numbers(rng, 3)}"' if kind != "ball" else ""
    if kind != "ball" and rng.random() < 0.3:
        more += f' ref="{rng.uniform(-1, 1):.3f}"'
    return f'<joint name="{name}" type="{kind}" pos="{numbers(rng, 3, 0.2)}"{more}/>'


def random_model(seed: int) -> str:
    """A tree with all kinds of joints, several of one body, frames without joints, and a kinematic body."""
    rng = random.Random(seed)
    texts, kinds = [], []

    def body(depth: int) -> str:
        count = rng.choice((0, 1, 1, 2, 3)) if depth else 0
        own = ["ball"] if count == 1 and rng.random() < 0.3 else [rng.choice(("hinge", "slide")) for _ in range(count)]
        inside = "<freejoint/>" if depth == 0 and rng.random() < 0.5 else ""
        kinds.extend(["free"] if inside else [])
        for kind in own:
            kinds.append(kind)
            inside += joint(rng, f"j{len(kinds)}", kind)
        name = f"b{len(texts)}"
        texts.append(name)
        inside += f'<geom size=".1" pos="{numbers(rng, 3, 0.2)}" contype="0" conaffinity="0"/>'
        inside += "".join(body(depth + 1) for _ in range(rng.choice((1, 1, 2)) if depth < 3 else 0))
        return f'<body name="{name}" pos="{numbers(rng, 3)}" quat="{numbers(rng, 4)}">{inside}</body>'

    trees = "".join(body(0) for _ in range(2))
    trees += f'<body name="led" mocap="true" pos="{numbers(rng, 3)}"><geom size=".1"/></body>'
    row = " ".join(numbers(rng, SIZES[kind], 2.0) for kind in kinds)
    key = f'<key name="other"/><key name="home" qpos="{row}" mpos="{numbers(rng, 3)}" mquat="{numbers(rng, 4)}"/>'
    return (
        f'<mujoco model="m"><compiler angle="radian"/><worldbody>{trees}</worldbody><keyframe>{key}</keyframe></mujoco>'
    )


def written(folder: Path, text: str) -> Path:
    (folder / "model.xml").write_text(text, encoding="utf-8")
    return folder / "model.xml"


@pytest.mark.parametrize("seed", range(12))
def test_bodies_stand_where_mujoco_puts_them_and_the_text_comes_back(tmp_path, seed):
    mujoco = pytest.importorskip("mujoco")
    path = written(tmp_path, random_model(seed))
    planned = mjcf_stage.plan(path, "home")
    engine = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(engine)
    mujoco.mj_resetDataKeyframe(engine, data, 1)
    mujoco.mj_forward(engine, data)
    mjcf_stage.convert(path, tmp_path / "model.usda", keyframe="home")
    stage = usd_read.open_stage(tmp_path / "model.usda")
    model = usd_read.read_stage(stage)
    for place, body in zip(planned.places, planned.source.bodies, strict=True):
        world = model.prims[place].world if place in model.prims else planned.model.prims[place].world
        found = data.body(body.name)
        assert np.allclose(world[:3, 3], found.xpos, atol=1e-6)
        assert np.allclose(world[:3, :3], found.xmat.reshape(3, 3), atol=1e-6)
    # A joint reads what the keyframe says: the angle between its two frames.
    for prim in planned.model.joints.values():
        made = prim.get(usd_physics.Joint)
        if prim.type_name != "PhysicsRevoluteJoint":
            continue
        names = [name for name, (known, _) in planned.joint_paths.items() if known == prim.path]
        ends = [_frame(planned, made, side) for side in (0, 1)]
        turn = ends[0][:3, :3].T @ ends[1][:3, :3]
        first, second = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[made.axis]
        angle = np.arctan2(turn[second, first], turn[first, first])
        assert np.allclose(np.exp(1j * angle), np.exp(1j * data.joint(names[0]).qpos[0]), atol=1e-6)
    mjcf_file.write_file(stage, model, tmp_path / "back.xml", strict=True)
    assert (tmp_path / "back.xml").read_bytes() == path.read_bytes()


def _frame(planned, made, side):
    targets = getattr(made, f"body{side}") or ()
    world = planned.model.prims[targets[0]].world if targets else None
    return frames.world_frame(world, made.resolved(f"local_pos{side}"), made.resolved(f"local_rot{side}"))


@pytest.mark.parametrize(
    "said", ['mpos="1 2 3"', 'mquat="0 1 1 0"', 'mpos="1 2 3" mquat="0 1 1 0"', 'mquat="0 0 0 0"', ""]
)
def test_what_a_keyframe_does_not_say_of_a_kinematic_body_is_as_the_body_has_it(tmp_path, said):
    mujoco = pytest.importorskip("mujoco")
    text = f"""<mujoco model="m"><worldbody>
<body name="first" mocap="true" pos="4 5 6" quat="1 0 0 1"><geom size=".1"/></body></worldbody>
<keyframe><key name="up" {said}/></keyframe></mujoco>"""
    planned = mjcf_stage.plan(written(tmp_path, text), "up")
    engine = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(engine)
    mujoco.mj_resetDataKeyframe(engine, data, 0)
    mujoco.mj_forward(engine, data)
    world, found = planned.model.prims[planned.places[1]].world, data.body("first")
    assert np.allclose(world[:3, 3], found.xpos) and np.allclose(world[:3, :3], found.xmat.reshape(3, 3))


ARM = """<mujoco model="m"><worldbody><body name="arm"><joint name="elbow" axis="0 1 0" range="-90 90"/>
<geom size=".1" pos=".3 0 0"/></body></worldbody>
<actuator><position name="servo" joint="elbow" kp="20" ctrlrange="-1 1"/><motor name="motor" joint="elbow"/></actuator>
<keyframe>{keys}</keyframe></mujoco>"""


def test_servos_hold_what_they_are_told_and_what_is_left_out_is_named(tmp_path):
    path = written(tmp_path, ARM.format(keys='<key name="up" qpos="0.5" ctrl="0.7 0"/><key ctrl="3 1" qvel="0.1"/>'))
    planned = mjcf_stage.plan(path, "up")
    (prim,) = planned.model.joints.values()
    assert prim.schemas["PhysicsDriveAPI:angular"].target_position == pytest.approx(0.7)
    assert "MjcfKeyframePart" not in {issue.code for issue in planned.issues}
    # The range of the control holds; the second one has no name.
    planned = mjcf_stage.plan(path, "1")
    (prim,) = planned.model.joints.values()
    assert prim.schemas["PhysicsDriveAPI:angular"].target_position == pytest.approx(1.0)
    assert "MjcfKeyframePart" in {issue.code for issue in planned.issues}
    (issue,) = [issue for issue in mjcf_stage.plan(path).issues if issue.code == "MjcfKeyframes"]
    assert "'up' and '1'" in issue.message or "'up', '1'" in issue.message


@pytest.mark.parametrize(
    ("keys", "name", "said"),
    [
        ("", "home", "has no keyframes."),
        ('<key name="up"/>', "home", "it has 'up'."),
        ('<key name="home" qpos="1 2"/>', "home", "qpos of the keyframe 'home' has 2 numbers; "),
        ('<key name="home" ctrl="1 2 3"/>', "home", "ctrl of the keyframe 'home' has 3 numbers; "),
        ('<key name="home" qpos="nan"/>', "home", "is no list of finite numbers"),
        ('<key name="home" qpos="x"/>', "home", "is no list of finite numbers"),
    ],
)
def test_a_keyframe_that_cannot_be_taken_is_refused(tmp_path, keys, name, said):
    with pytest.raises(InputError, match=said.replace(".", r"\.")):
        layout.plan(read.read_file(written(tmp_path, ARM.format(keys=keys))), keyframe=name)
