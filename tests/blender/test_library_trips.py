# SPDX-License-Identifier: GPL-3.0-or-later
"""Each asset of the library, written as MJCF or glTF and read back: bodies, joints and a second of motion are the same,
or what is not has been named."""

import math
import re
from collections import Counter
from pathlib import Path

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import api, formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import frames, mass
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

from . import scenes
from .test_library import CHECKS, FILE

#: What an asset loses, by words of the issue that says so; then the motion is another.
MOVES = {
    "MJCF": {
        "Wheel": "angularVelocity", "Ragdoll": "linearDamping", "Crane": "written as its hull",
        "Conveyor": "running surface",
    },
    "glTF": {},
}  # fmt: skip
#: m: what a collision or a loop of a hundred parts makes of rounding.
NEAR = {"Pulley": 0.03, "Seesaw": 0.01}


def linked(name: str) -> None:
    with bpy.data.libraries.load(str(FILE), link=True, assets_only=True) as (_, wanted):
        wanted.collections = [name]
    scenes.add_instance("Asset", wanted.collections[0])
    bpy.context.view_layer.update()


def bodies_of(model) -> list[tuple[np.ndarray, float]]:
    """The centre of mass in the world and the mass of each body."""
    colliders = mass.colliders_by_body(model)
    found = []
    for path, prim in model.bodies.items():
        own = mass.mass_properties(model, path, colliders.get(path, ()))
        found.append(((frames.unscaled(prim.world) @ np.array([*own.center_of_mass, 1.0]))[:3], own.mass))
    return found


def freedoms_of(prim) -> tuple:
    """What a joint lets move: a word, the limits, and the numbers of its drive, of each degree of freedom; whichever
    way it is written. A hinge and a generic joint with one rotation are the same."""
    joint = prim.get(usd_physics.Joint)
    drives = dict(prim.instances(usd_physics.DriveAPI))
    kind = prim.type_name
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        word, dof = ("turn", "angular") if "Revolute" in kind else ("slide", "linear")
        return (freedom(word, joint.resolved("lower_limit"), joint.resolved("upper_limit"), drives.get(dof)),)
    if kind == "PhysicsSphericalJoint":
        return ("ball",)
    if kind == "PhysicsDistanceJoint":
        return ("distance", *(number(joint.resolved(name)) for name in ("min_distance", "max_distance")))
    limits = dict(prim.instances(usd_physics.LimitAPI))
    found = []
    for family, word in (("trans", "slide"), ("rot", "turn")):
        for axis in "XYZ":
            limit = limits.get(f"{family}{axis}")
            low, high = (-math.inf, math.inf) if limit is None else (limit.resolved("low"), limit.resolved("high"))
            if kind == "PhysicsJoint" and low < high:
                found.append(freedom(word, low, high, drives.get(f"{family}{axis}")))
    free = freedom("turn", -math.inf, math.inf, None)
    return ("ball",) if found == [free] * 3 else tuple(sorted(found))


def freedom(word: str, low: float, high: float, drive) -> tuple:
    gains = ()
    if drive is not None and (drive.resolved("stiffness") > 0.0 or drive.resolved("damping") > 0.0):
        names = ("stiffness", "damping", "max_force")
        stiffness, damping, most = (float(drive.resolved(name)) for name in names)
        aim = stiffness * drive.resolved("target_position") + damping * drive.resolved("target_velocity")
        gains = tuple(map(number, (stiffness, damping, most, abs(aim))))
    # MuJoCo has no motion without a limit on one side: 1 km is none.
    limits = (abs(one) if abs(one) < 1e3 else math.inf for one in (low, high))
    return (word, tuple(sorted(map(number, limits))), gains)


def number(value: float) -> float:
    return float(f"{value:.3g}") + 0.0


def moved(motion) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(motion.positions[:, row], motion.rotations[:, row]) for row in range(len(motion.names))]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), [(name, form) for form in ("MJCF", "glTF") for name in CHECKS])
def test_an_asset_comes_back_as_it_was(name: str, form: str, tmp_path: Path) -> None:
    linked(name)
    before = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    wanted, weights = moved(api.simulate_scene(1.0)), bodies_of(before)
    joints = Counter(freedoms_of(prim) for prim in before.joints.values())
    fps = bpy.context.scene.render.fps
    file = tmp_path / ("asset.xml" if form == "MJCF" else "asset.glb")
    said = " ".join(issue.message for issue in api.export(file).issues)
    row = formats.format_of(str(file))
    with row.read(str(file), row.options()) as (after, _):
        there = bodies_of(after)
        again = Counter(freedoms_of(prim) for prim in after.joints.values())
    for place, weight in weights:
        nearest = min(there, key=lambda one: float(np.abs(one[0] - place).max()) + abs(one[1] - weight))
        assert nearest[0] == pytest.approx(place, abs=1e-4)
        assert nearest[1] == pytest.approx(weight, rel=1e-4)
    assert len(there) == len(weights)
    # A joint that closes a loop of MuJoCo is points that stay together, or left out, which is said of each.
    left_out = re.findall(r"closes no loop by a \w+, so \S+(?: and (\d+) more)? (?:is|are) left out", said)
    lost = said.count("closes a loop by points") + sum(1 + int(more or 0) for more in left_out)
    assert sum((joints - again).values()) == lost, (joints - again, again - joints)
    if form == "MJCF":
        motion = api.simulate_file(file, 1.0, fps=fps)
    else:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.scene.render.fps = fps
        api.import_file(file)
        motion = api.simulate_scene(1.0)
    if name in MOVES[form]:
        assert MOVES[form][name] in said
        return
    found = moved(motion)
    for positions, _ in wanted:
        assert min(np.abs(one - positions).max() for one, _ in found) < NEAR.get(name, 3e-3)
