# SPDX-License-Identifier: GPL-3.0-or-later
"""Default classes of a new MJCF: the text is shorter by them, and means the same."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.mjcf import classes, read, write

WORDS = re.compile(r'([\w:]+)="([^"]*)"')


def expanded(defaults: list[str], lines: list[str]) -> list[dict[str, str]]:
    """The attributes of each line with those of its class."""
    known = {}
    for text in defaults:
        name, *_ = re.findall(r'<default class="([^"]*)">', text)
        known[name] = dict(WORDS.findall(text.split("\n")[1]))
    made = []
    for line in lines:
        words = dict(WORDS.findall(line))
        made.append({**known.get(words.pop("class", ""), {}), **words})
    return made


@pytest.mark.parametrize("seed", range(20))
def test_an_element_has_the_same_words_by_its_class_and_the_text_is_no_longer(seed: int) -> None:
    rng = random.Random(seed)
    lines = []
    for number in range(rng.randrange(2, 60)):
        tag = rng.choice(["joint", "geom", "general", "site"])
        words = {"name": f"n{number}", "pos": f"{number} 0 0"}
        for word in ("type", "friction", "range", "gainprm", "biasprm", "mass"):
            if rng.random() < 0.7:
                words[word] = rng.choice(["0 0 1", "a longer value of a word", "&quot;", str(number)])
        lines.append(f"    <{tag} {' '.join(f'{name}={value!r}' for name, value in words.items())}/>".replace("'", '"'))
    defaults, made = classes.with_classes(lines)
    assert expanded(defaults, made) == [dict(WORDS.findall(line)) for line in lines]
    assert len("\n".join([*defaults, *made])) <= len("\n".join(lines))


def test_what_has_a_class_or_children_stays_as_it_is() -> None:
    lines = ['<geom class="mine" type="box" friction="0.5 0.1 0.1"/>', '<body name="a" pos="0 0 0">'] * 20
    assert classes.with_classes(lines) == ([], lines)


def test_servos_and_colliders_of_a_robot_share_classes_and_few_parts_do_not() -> None:
    def model(count: int) -> PhysicsModel:
        made = PhysicsModel()
        for number in range(count + 1):
            body = made.add(Prim(f"/b{number}"))
            body.add(usd_physics.RigidBodyAPI())
            body.add(usd_physics.MassAPI(mass=1.0, diagonal_inertia=(0.1, 0.1, 0.1)))
            shape = made.add(Prim(f"/b{number}/shape", "Cube"))
            shape.add(usd_geom.Cube(size=0.1))
            shape.add(usd_physics.CollisionAPI())
            if number:
                joint = made.add(Prim(f"/j{number}", "PhysicsRevoluteJoint"))
                joint.add(usd_physics.RevoluteJoint(body0=(f"/b{number - 1}",), body1=(f"/b{number}",), axis="Z"))
                joint.add(usd_physics.DriveAPI(stiffness=50.0, damping=5.0, max_force=20.0), "angular")
        return made

    assert "<default" not in write.text_of(model(1), "few").text
    text = write.text_of(model(12), "many").text
    assert text.count('class="servo_1"') == 13 and text.count('biastype="affine"') == 1
    robot = read.read_text(text, Path("/nowhere/many.xml"))
    assert len(robot.actuators) == 12
    assert {(one.gains[0], one.biases[1], one.force) for one in robot.actuators} == {(50.0, -50.0, (-20.0, 20.0))}
    assert {geom.type for body in robot.bodies for geom in body.geoms} == {"box"}
