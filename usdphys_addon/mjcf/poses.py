# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes of a model as poses: where its bodies are at them, and what its actuators are told then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core import frames
from ..core.errors import InputError
from ..core.validate import Issue
from ..core.words import named
from .further import SIZES, actuator_names, addresses, keys
from .values import Body, Floats, Joint, Model


class Pose(NamedTuple):
    """joints: the numbers of each joint, by name: 7 of a free one, 4 of a ball, else 1, rad or m. mocaps: pose (4, 4)
    of kinematic bodies in the world, by name."""

    joints: Mapping[str, tuple[float, ...]]
    mocaps: Mapping[str, Floats]


#: In which nothing has moved.
REST = Pose({}, {})


def names(model: Model) -> list[str]:
    """Of the keyframes; the number of one without a name."""
    return [element.get("name") or str(number) for number, element in enumerate(keys(model))]


def choose(model: Model, name: str) -> Pose:
    """The pose of a keyframe; tells the actuators of the model what they are told there.

    name: or the number, from 0. Raises InputError where there is none, or where it is one of other joints.
    """
    known = names(model)
    if not known:
        raise InputError(f"'{model.path.name}' has no keyframes.")
    if name not in known:
        raise InputError(f"'{model.path.name}' has no keyframe '{name}'; it has {named(known)}.")
    key = keys(model)[known.index(name)]
    mocaps = [(index, body.name) for index, body in enumerate(model.bodies) if body.is_mocap]
    told = actuator_names(model)
    joints = [joint for body in model.bodies for joint in body.joints]

    def row(word: str, size: int | None = None) -> tuple[float, ...]:
        return _numbers(model, name, word, key.get(word), size)

    positions = row("qpos", sum(SIZES[joint.type] for joint in joints))
    places, turns = row("mpos", 3 * len(mocaps)), row("mquat", 4 * len(mocaps))
    controls = dict(zip(told, row("ctrl", len(told)), strict=False))
    for one in model.actuators:
        one.told = controls.get(one.name, 0.0)
    moves = any(one.told and not (one.is_servo and one.kind == "joint") for one in model.actuators)
    if moves or any(row("qvel")) or any(row("act")):
        model.issues.append(Issue(
            "MjcfKeyframePart", "info", "", model.name, f"The keyframe '{name}' of '{model.path.name}' also has "
            "speeds, activations, or controls of what is no servo, which are left out.",
            "Set them where it is simulated.",
        ))  # fmt: skip
    at = addresses(model, SIZES)
    rest = worlds_at(model, REST) if mocaps else []
    moved = {}
    for number, (index, body) in enumerate(mocaps):
        # What the keyframe does not say of it is as the body has it.
        moved[body] = rest[index][-1].copy()
        if places:
            moved[body][:3, 3] = places[3 * number : 3 * number + 3]
        if turns:
            moved[body][:3, :3] = frames.matrix_of(_unit(turns[4 * number : 4 * number + 4]))
    return Pose(
        {one.name: positions[at[one.name] : at[one.name] + SIZES[one.type]] for one in joints if positions}, moved
    )  # fmt: skip


def _numbers(model: Model, name: str, word: str, text: str | None, size: int | None) -> tuple[float, ...]:
    """A row of a keyframe; empty where it has none. size: how many there must be; None for any number."""
    try:
        numbers = tuple(map(float, (text or "").split()))
    except ValueError:
        numbers = (np.nan,)
    if not np.isfinite(numbers).all():
        raise InputError(f"'{model.path.name}': {word} of the keyframe '{name}' is no list of finite numbers.")
    if numbers and size is not None and len(numbers) != size:
        raise InputError(
            f"'{model.path.name}': {word} of the keyframe '{name}' has {len(numbers)} numbers; the parts that are read "
            f"need {size}."
        )
    return numbers


def worlds_at(model: Model, pose: Pose) -> list[list[Floats]]:
    """Of each body its poses (4, 4) in the world after each of its joints but free ones, and at the end."""
    worlds: list[list[Floats]] = []
    for body in model.bodies:
        worlds.append(_steps(body, worlds[body.parent][-1] if body.parent >= 0 else np.eye(4), pose))
    return worlds


def _steps(body: Body, above: Floats, pose: Pose) -> list[Floats]:
    world = pose.mocaps.get(body.name, above @ body.pose)
    steps = []
    for joint in body.joints:
        numbers = pose.joints.get(joint.name)
        if joint.type == "free":
            world = world if numbers is None else _placed(numbers[:3], numbers[3:])
        else:
            world = world if numbers is None else world @ _moved(joint, numbers)
            steps.append(world)
    return [*steps, world]


def _moved(joint: Joint, numbers: tuple[float, ...]) -> Floats:
    """What a joint does to its body (4, 4), in the space that the body has before it."""
    if joint.type == "slide":
        return frames.transform(joint.axis * (numbers[0] - joint.reference))
    if joint.type == "ball":
        turn = frames.matrix_of(_unit(numbers))
    else:
        turn = frames.matrix_of(frames.turn_by(joint.axis * (numbers[0] - joint.reference)))
    return frames.transform(joint.place - turn @ joint.place, turn)


def _placed(position: tuple[float, ...], quaternion: tuple[float, ...]) -> Floats:
    return frames.transform(position, frames.matrix_of(_unit(quaternion)))


def _unit(quaternion: tuple[float, ...]) -> tuple[float, float, float, float]:
    """A quaternion of no length is no turn, as in MuJoCo."""
    size = float(np.linalg.norm(quaternion))
    if size <= 0.0:
        return 1.0, 0.0, 0.0, 0.0
    w, x, y, z = (float(part) / size for part in quaternion)
    return w, x, y, z
