# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample scenes, each made in a scene of its own by the functions behind the operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..authoring import generators, joint_edits, joint_maker, robot_arm
from ..authoring.generator_kinds import SAMPLES
from ..authoring.joint_maker import JointOptions, make_body
from . import bonds, linkages, mechanisms, ragdoll, ropes, shapes, walls

#: Radius and width of the wheels, m, and their turns, rad/s: the car drives 2.1 m in a second.
WHEEL, WIDTH, TURNS = 0.35, 0.25, 6.0
#: Speed of the ball that meets the dominoes, m/s.
BALL_SPEED = 2.0
DOMINOES = 10
#: Bricks of a course, courses, and size of a brick, m; mass (kg) and speed (m/s) of the ball that meets the chimney.
CHIMNEY, BRICK, WRECKER = (8, 1, 10), (0.4, 0.2, 0.25), (600.0, 20.0)
#: Distance of a view from a sample, as a multiple of the sample's diagonal.
_FRAMED = 1.5
#: (name, parent, head, tail) of the bones of a figure of 1.8 m, with the names of Rigify; those with .L are mirrored.
BONES = (
    ("spine", "", (0, 0, 0.95), (0, 0, 1.08)), ("spine.001", "spine", (0, 0, 1.08), (0, 0, 1.25)),
    ("spine.002", "spine.001", (0, 0, 1.25), (0, 0, 1.5)), ("head", "spine.002", (0, 0, 1.58), (0, 0, 1.8)),
    ("upper_arm.L", "spine.002", (0.2, 0, 1.45), (0.48, 0, 1.45)),
    ("forearm.L", "upper_arm.L", (0.48, 0, 1.45), (0.74, 0, 1.45)),
    ("hand.L", "forearm.L", (0.74, 0, 1.45), (0.9, 0, 1.45)), ("thigh.L", "spine", (0.1, 0, 0.95), (0.1, 0, 0.5)),
    ("shin.L", "thigh.L", (0.1, 0, 0.5), (0.1, 0, 0.08)), ("foot.L", "shin.L", (0.1, 0, 0.08), (0.1, -0.15, 0.02)),
)  # fmt: skip


def make(context: Any, kind: str) -> Any:
    """Make a sample in a new scene, which the window shows then. kind: of `SAMPLES`. Returns the scene."""
    label = next(label for name, label, *_ in SAMPLES if name == kind)
    scene: Any = bpy.data.scenes.new(label)
    context.window.scene = scene
    scene.cursor.location = (0.0, 0.0, 0.0)
    generators.add(context, "GROUND")
    fill = {
        "DOMINOES": _dominoes, "CAR": _car, "ARM": _arm, "CHIMNEY": _chimney, "RAGDOLL": _ragdoll, "BRIDGE": _bridge,
        "MACHINES": _machines,
    }[kind]  # fmt: skip
    fill(context)
    _select(context, ())
    return scene


def frame(scene: Any, view: Any) -> None:
    """Let a view (`RegionView3D`) show what a sample has besides its ground, which is far wider."""
    shown = [obj for obj in scene.objects if obj.type != "EMPTY" and not obj.name.startswith("Ground")]
    corners = np.concatenate([np.array(obj.bound_box) @ np.array(obj.matrix_world)[:3, :3].T
                              + np.array(obj.matrix_world.translation) for obj in shown])  # fmt: skip
    low, high = corners.min(axis=0), corners.max(axis=0)
    view.view_location = ((low + high) / 2.0).tolist()
    view.view_distance = _FRAMED * float(np.linalg.norm(high - low))


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


def _chimney(context: Any) -> None:
    """A ball breaks a chimney of bricks."""
    brick = _box(context, "Brick", (0.0, 0.0, BRICK[2] / 2.0), BRICK)
    _select(context, [brick])
    bricks = walls.make_wall(context, walls.WallOptions("CHIMNEY", CHIMNEY))
    bonds.bond(context, bricks, bonds.BondOptions())
    context.scene.cursor.location = (0.0, -3.0, 0.3)
    mass, speed = WRECKER
    (ball,) = generators.add(context, "BALL", velocity=(0.0, speed, 0.0))
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, mass
    context.scene.cursor.location = (0.0, 0.0, 0.0)


def _ragdoll(context: Any) -> None:
    """A figure falls down a flight of stairs."""
    steps = [_box(context, "Step", (0.0, -0.4 * n, 0.5 - 0.1 * n), (2.0, 0.4, 1.0 - 0.2 * n)) for n in range(5)]
    make_body([_box(context, "Landing", (0.0, 0.7, 0.5), (2.0, 1.0, 1.0))], moves=False)
    for step in steps:
        make_body([step], moves=False)
    rig = add_figure(context)
    rig.location, rig.rotation_euler = (0.0, 0.3, 1.05), (0.35, 0.0, 0.2)
    for body in ragdoll.make_ragdoll(context, ragdoll.RagdollOptions()).bodies:
        item = body.usdphys.colliders[0]
        if item.shape == "CUBE":
            mesh = shapes.box("Part", item.size)
        else:
            mesh = shapes.capsule("Part", item.radius, item.height)
        part: Any = bpy.data.objects.new(f"{body.name} Part", mesh)
        context.collection.objects.link(part)
        part.parent, part.location = body, item.location
        part.rotation_euler = (0.0, 0.0, 0.0 if item.shape == "CUBE" else math.pi / 2.0)


def add_figure(context: Any) -> Any:
    """Add an armature of a figure of 1.8 m that stands with its arms spread, and select it alone."""
    data: Any = bpy.data.armatures.new("Figure")
    rig: Any = bpy.data.objects.new("Figure", data)
    context.collection.objects.link(rig)
    _select(context, [rig])
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in BONES:
        for side, sign in ((".L", 1.0), (".R", -1.0)) if name.endswith(".L") else (("", 1.0),):
            bone = data.edit_bones.new(name.removesuffix(".L") + side)
            bone.head, bone.tail = (sign * head[0], *head[1:]), (sign * tail[0], *tail[1:])
            above = parent.removesuffix(".L") + side if parent.endswith(".L") else parent
            bone.parent = data.edit_bones.get(above)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _bridge(context: Any) -> None:
    """Crates fall on a bridge."""
    posts = [_box(context, "Post", (x, 0.0, 1.0), (0.4, 1.4, 2.0)) for x in (-3.0, 3.0)]
    _select(context, posts)
    ropes.make_row(context, ropes.RopeOptions("BRIDGE", 16, 0.04, slack=0.05, mass=15.0))
    for n in range(3):
        make_body([_box(context, "Crate", (n - 1.0, 0.0, 2.5 + 0.5 * n), (0.4, 0.4, 0.4))], moves=True)


def _machines(context: Any) -> None:
    """A pulley with two loads, and a scissor lift with a crate."""
    wheel: Any = bpy.data.objects.new("Pulley", generators.cylinder("Pulley", 0.3, 0.2))
    context.collection.objects.link(wheel)
    wheel.location, wheel.rotation_euler = (-1.5, 0.0, 3.0), (math.pi / 2.0, 0.0, 0.0)
    loads = [_box(context, "Load", (-1.5 + x, 0.0, 1.5), (size,) * 3) for x, size in ((-0.32, 0.3), (0.32, 0.32))]
    _select(context, [wheel, *loads])
    linkages.make_pulley(context)
    base = _box(context, "Base", (1.5, 0.0, 0.1), (2.0, 1.0, 0.2))
    platform = _box(context, "Platform", (1.5, 0.0, 0.75), (2.0, 1.0, 0.1))
    _select(context, [base, platform])
    linkages.make_scissor_lift(context, 2, 0.8)
    make_body([_box(context, "Crate", (1.5, 0.0, 1.0), (0.4, 0.4, 0.4))], moves=True)
    belt = _box(context, "Belt", (0.0, -2.0, 0.2), (3.0, 0.5, 0.4))
    _select(context, [belt])
    mechanisms.make_mechanism(context, "CONVEYOR", 0.5)
    make_body([_box(context, "Parcel", (-1.2, -2.0, 0.55), (0.3, 0.3, 0.3))], moves=True)
