# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each made in a scene of its own by the functions behind the operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from . import generators, joint_edits, joint_maker, robot_arm
from .generator_kinds import SAMPLES
from .joint_maker import JointOptions, make_body

#: Radius and width of the wheels, m, and their turns, rad/s: the car drives 2.1 m in a second.
WHEEL, WIDTH, TURNS = 0.35, 0.25, 6.0
#: Speed of the ball that meets the dominoes, m/s.
BALL_SPEED = 2.0
DOMINOES = 10


def make(context: Any, kind: str) -> Any:
    """Make a sample in a new scene, which the window shows then. kind: of `SAMPLES`. Returns the scene."""
    label = next(label for name, label, *_ in SAMPLES if name == kind)
    scene: Any = bpy.data.scenes.new(label)
    context.window.scene = scene
    scene.cursor.location = (0.0, 0.0, 0.0)
    generators.add(context, "GROUND")
    {"DOMINOES": _dominoes, "CAR": _car, "ARM": _arm}[kind](context)
    _select(context, ())
    return scene


def _select(context: Any, objects: Sequence[Any]) -> None:
    """Select these objects alone; the first is active."""
    for obj in context.scene.objects:
        obj.select_set(obj in objects)
    context.view_layer.objects.active = objects[0] if objects else None
    context.view_layer.update()


def _box(context: Any, name: str, place: Sequence[float], size: Sequence[float]) -> Any:
    obj: Any = bpy.data.objects.new(name, generators.box(name, size))
    context.collection.objects.link(obj)
    obj.location = place
    return obj


def _dominoes(context: Any) -> None:
    """A ball rolls into a row of dominoes."""
    generators.add(context, "DOMINOES", count=DOMINOES)
    context.scene.cursor.location = (-1.0, 0.0, 0.0)
    generators.add(context, "BALL", velocity=(BALL_SPEED, 0.0, 0.0))
    context.scene.cursor.location = (0.0, 0.0, 0.0)


def _car(context: Any) -> None:
    """A car with four driven wheels."""
    chassis = _box(context, "Chassis", (0.0, 0.0, 0.6), (2.4, 1.0, 0.4))
    make_body([chassis], moves=True)
    wheels = []
    for x in (-0.8, 0.8):
        for y in (-0.7, 0.7):
            wheel: Any = bpy.data.objects.new("Wheel", generators.cylinder("Wheel", WHEEL, WIDTH))
            context.collection.objects.link(wheel)
            wheel.location, wheel.rotation_euler = (x, y, WHEEL), (math.pi / 2.0, 0.0, 0.0)
            wheels.append(wheel)
    _select(context, [chassis, *wheels])
    joints = joint_maker.add_joint(context, JointOptions("REVOLUTE"))
    context.view_layer.update()
    joint_edits.add_motors(context, [(joint, "angular", TURNS) for joint in joints], holds=False, response=0.5)


def _arm(context: Any) -> None:
    """A robot arm that holds itself, and swings its first link by a quarter of a right angle."""
    parts = [_box(context, "Base", (0.0, 0.0, 0.5), (0.4, 0.4, 1.0))]
    parts += [_box(context, f"Link {n}", (0.7 + n, 0.0, 0.9), (0.9, 0.15, 0.15)) for n in range(3)]
    _select(context, parts)
    robot_arm.add_arm(context, order="NEAREST", limits=(-2.0, 2.0), response=0.1)
