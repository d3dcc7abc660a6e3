# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinematic bodies that keep their velocity, as in KHR_physics_rigid_bodies."""

import math
from pathlib import Path

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import coasting
from usdphys_ext.usdphys_addon.core.animation import Key, Samples
from usdphys_ext.usdphys_addon.core.model import Prim
from usdphys_ext.usdphys_addon.core.schemas.usd_geom import Cube
from usdphys_ext.usdphys_addon.core.schemas.usd_physics import (
    CollisionAPI,
    MassAPI,
    MaterialAPI,
    PhysicsScene,
    RigidBodyAPI,
)
from usdphys_ext.usdphys_addon.gltf import read
from usdphys_ext.usdphys_addon.gltf.document import Document

from .test_animated import GRAVITY, STEP, Case, place


def coasting_case(*, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), center=None, at=None) -> tuple[Case, Prim]:
    case = Case()
    case.add("/Scene", "PhysicsScene", PhysicsScene((0.0, 0.0, -1.0), GRAVITY))
    body = RigidBodyAPI(kinematic_enabled=True, velocity=velocity, angular_velocity=spin)
    prim = case.add("/Platform", "Cube", body, CollisionAPI(), Cube(size=2.0), at=at)
    if center is not None:
        prim.add(MassAPI(mass=1.0, center_of_mass=center))
    coasting.set_kept(prim)
    return case, prim


def test_a_platform_goes_on_and_carries_its_crate_after_it_slipped():
    case, prim = coasting_case(velocity=(0.5, 0.0, 0.0))
    prim.materials = ("/M",)
    case.add("/M", "Material", MaterialAPI(0.5, 0.5, 0.0))
    crate = case.add("/Crate", "Cube", RigidBodyAPI(), CollisionAPI(), Cube(size=0.2), at=place(z=1.1))
    crate.materials = ("/M",)
    made = case.run(2.0)
    row = made.paths.index("/Platform")
    assert made.positions[-1, row] == pytest.approx((1.0, 0.0, 0.0), abs=1e-5)
    # It slips until friction has given it the speed: v^2 / (2 mu g).
    slipped = 0.5**2 / (2.0 * 0.5 * GRAVITY)
    assert made.positions[-1, 1 - row, 0] == pytest.approx(1.0 - slipped, abs=0.003)
    assert case.world is not None and "KinematicVelocity" not in [notice.code for notice in case.world.notices]


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_the_center_of_mass_moves_straight_while_the_body_spins(turn):
    at = place(x=1.0)
    at[:2, :2] = (math.cos(turn), -math.sin(turn)), (math.sin(turn), math.cos(turn))
    case, _ = coasting_case(velocity=(0.3, 0.0, 0.2), spin=(0.0, 0.0, 2.0), center=(0.5, 0.0, 0.0), at=at)
    made = case.run(1.0)
    linear = np.array((0.3 * math.cos(turn), 0.3 * math.sin(turn), 0.2))
    center = np.array((1.0 + 0.5 * math.cos(turn), 0.5 * math.sin(turn), 0.0)) + linear
    now = turn + 2.0
    wanted = center - 0.5 * np.array((math.cos(now), math.sin(now), 0.0))
    assert made.positions[-1, 0] == pytest.approx(wanted, abs=1e-5)
    assert abs(made.rotations[-1, 0] @ (math.cos(now / 2), 0.0, 0.0, math.sin(now / 2))) == pytest.approx(1.0, abs=1e-6)


def test_what_is_animated_does_not_coast():
    case, prim = coasting_case(velocity=(0.5, 0.0, 0.0))
    prim.is_animated = True
    made = case.run(0.5)
    assert made.positions[-1, 0] == pytest.approx((0.0, 0.0, 0.0))
    assert case.world is not None and "KinematicVelocity" in [notice.code for notice in case.world.notices]


def test_physics_takes_a_body_over_with_the_velocity_that_it_kept():
    case, prim = coasting_case(velocity=(1.5, 0.0, 2.0))
    key = Key(prim.path, "PhysicsRigidBodyAPI", "kinematic_enabled")
    case.model.animated[key] = Samples([0.0, 0.5], [True, False])
    made = case.run(1.0)
    # In free flight for half a second.
    assert made.positions[-1, 0, 0] == pytest.approx(1.5, abs=2e-3)
    assert made.positions[-1, 0, 2] == pytest.approx(2.0 - 0.5 * GRAVITY * 0.25, abs=1.5 * GRAVITY * 0.5 * STEP)


def test_a_rebuilt_world_goes_on_with_the_same_velocity():
    case, prim = coasting_case(velocity=(0.4, 0.0, 0.0), spin=(0.0, 0.0, 3.0))
    case.run(0.5)
    assert case.world is not None
    moved = case.world.moved_copy(case.model)
    motion = coasting.coasting_of(moved, moved.prims[prim.path])
    assert motion is not None
    assert motion.velocity == pytest.approx((0.4, 0.0, 0.0), abs=1e-6)
    assert motion.spin == pytest.approx((0.0, 0.0, 3.0), abs=1e-6)


def document(motion: dict, family: str = "KHR_physics_rigid_bodies") -> Document:
    shapes = {"shapes": [{"type": "box", "box": {"size": [1, 1, 1]}}]}
    body = {"motion": motion, "collider": {"geometry": {"shape": 0}}}
    return Document({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "extensionsUsed": ["KHR_implicit_shapes", family], "extensions": {"KHR_implicit_shapes": shapes},
        "nodes": [{"name": "Body", "extensions": {family: body}}],
    }, Path("a.gltf"))  # fmt: skip


def test_kinematic_bodies_of_khr_keep_their_velocity_and_no_others():
    for motion, kept in (
        ({"isKinematic": True, "linearVelocity": [0, 1, 0]}, True), ({"linearVelocity": [0, 1, 0]}, False),
        ({"isKinematic": True, "angularVelocity": [0, 1, 0]}, True), ({"isKinematic": True}, False),
    ):  # fmt: skip
        model = read.read(document(motion)).model
        (body,) = model.bodies.values()
        assert coasting.keeps_velocity(body) is kept, motion
