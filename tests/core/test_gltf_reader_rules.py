"""What readers of glTF leave out or hold less firmly is named for them, and for no other simulator."""

from __future__ import annotations

import random

import pytest
from pxr import Sdf, Usd
from usdphys_ext.usdphys_addon.core import validate
from usdphys_ext.usdphys_addon.usd import read as usd_read

from .test_mujoco_rules import GROUP, HEAD, joint, prim, solid


def row(number: int, *, held: tuple[int, ...] = (0,)) -> str:
    """Bodies B0, B1, ... on ball joints; some are held by the world."""
    text = "".join(solid(name=f"B{place}") for place in range(number))
    for place in range(number - 1):
        text += link(f"J{place}", f"B{place}", f"B{place + 1}")
    return text + "".join(link(f"H{place}", "", f"B{place}") for place in held)


def link(name: str, *ends: str) -> str:
    targets = "\n    ".join(f"rel physics:body{side} = </{end}>" for side, end in enumerate(ends) if end)
    return prim("PhysicsSphericalJoint", name, "", targets)


MATERIAL = 'def Material "M" (prepend apiSchemas = ["PhysicsMaterialAPI"])\n{{\n    float physics:{} = 0.5\n}}\n'
SPEED = """def Cube "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxSurfaceVelocityAPI"])
{{
    bool physics:kinematicEnabled = 1
    vector3f physxSurfaceVelocity:surfaceVelocity = ({}, 0, 0)
}}
"""
DRIVE = "float drive:angular:physics:damping = 5\n    float drive:angular:physics:{} = 5"
SPRING = (
    "float physics:maxDistance = 1\n    bool physxPhysicsDistanceJoint:springEnabled = {}\n"
    "    float physxPhysicsDistanceJoint:springStiffness = 100"
)
RANGE = "float physics:lowerLimit = -1\n    float physics:upperLimit = 1"
NEWTON_SOFT, PHYSX_SOFT = "float newton:limitStiffness = 100", "float physxLimit:linear:stiffness = 100"
BOTH, HAVOK, GODOT = ("havok", "godot"), ("havok",), ("godot",)


def weighed(*masses: float, root: bool = False) -> str:
    """A row of bodies with these masses."""
    applied = '"PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"'
    text = ""
    for number, mass in enumerate(masses):
        own = applied + (', "PhysicsArticulationRootAPI"' if root and number == 0 else "")
        text += f'def Cube "B{number}" (prepend apiSchemas = [{own}])\n{{\n    float physics:mass = {mass}\n}}\n'
    return text + "".join(link(f"J{number}", f"B{number}", f"B{number + 1}") for number in range(len(masses) - 1))


def heavy(mass: float, inertia: str = "(0.2, 0.2, 0.2)") -> str:
    """A body with a mass, and a moment of inertia if there is one."""
    said = f"float3 physics:diagonalInertia = {inertia}\n    quatf physics:principalAxes = (1, 0, 0, 0)"
    return weighed(mass).replace("\n}", f"\n    {said}\n}}") if inertia else weighed(mass)


def soft(kind: str, api: str, inside: str) -> str:
    """A joint with a schema of a simulator."""
    return joint(kind, inside, "Soft").replace("PhysicsSoft", api)


#: (code, targets that name it, what they do otherwise, what they do alike).
CASES = [
    ("ArticulationLeftOut", BOTH, solid(apis="ArticulationRootAPI"), solid()),
    ("JointLeftOut", GODOT, joint("Fixed"), joint("Fixed", "bool physics:jointEnabled = 0")),
    ("MaterialLeftOut", GODOT, MATERIAL.format("restitution"), MATERIAL.format("density")),
    ("GroupsLeftOut", GODOT, GROUP.format("rel physics:filteredGroups = </G>"), GROUP.format("")),
    ("BreakIgnored", HAVOK, joint("Fixed", "float physics:breakForce = 5"), joint("Fixed")),
    ("SurfaceVelocityIgnored", BOTH, SPEED.format(1), SPEED.format(0)),
    ("VelocityDriveFaster", HAVOK, joint("Revolute", DRIVE.format("targetVelocity"), "DriveAPI:angular"),
     joint("Revolute", DRIVE.format("targetPosition"), "DriveAPI:angular")),
    ("SoftLimitHard", HAVOK, soft("Distance", "PhysxPhysicsDistanceJointAPI", SPRING.format(1)),
     soft("Distance", "PhysxPhysicsDistanceJointAPI", SPRING.format(0))),
    ("SoftLimitHard", HAVOK, soft("Prismatic", "NewtonJointAPI", f"{RANGE}\n    {NEWTON_SOFT}"),
     soft("Prismatic", "PhysxLimitAPI:linear", f"{RANGE}\n    {PHYSX_SOFT}")),
    ("SoftLimitHard", HAVOK, soft("Revolute", "NewtonJointAPI", f"{RANGE}\n    {NEWTON_SOFT}"),
     soft("Revolute", "NewtonJointAPI", NEWTON_SOFT)),
    ("LongRow", HAVOK, row(16), row(4)), ("LongRow", HAVOK, row(16, held=()), row(4, held=())),
    ("InertiaTimesMass", HAVOK, heavy(10.0), heavy(1.0)), ("InertiaTimesMass", HAVOK, heavy(0.1), heavy(0.1, "")),
    ("JointsInLoop", HAVOK, row(4) + link("End", "B0", "B3"), row(4)),
]  # fmt: skip


def issues(text: str, target: str) -> list[validate.Issue]:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD + text)
    return validate.validate(usd_read.read_stage(Usd.Stage.Open(layer)), target)


def codes(text: str, target: str) -> dict[str, str]:
    """Severity by code."""
    return {issue.code: issue.severity for issue in issues(text, target)}


@pytest.mark.parametrize(("code", "targets", "wrong", "right"), CASES)
def test_what_is_otherwise_in_games_is_a_warning_there_alone(code, targets, wrong, right) -> None:
    for target in ("usd", "physx", "havok", "godot"):
        assert (codes(wrong, target).get(code) == "warning") == (target in targets)
        assert code not in codes(right, target)


def test_a_light_body_between_heavy_ones_is_a_warning_in_havok_inside_of_an_articulation_too() -> None:
    """There is none in glTF."""
    text = weighed(100.0, 1.0, 100.0, root=True)
    assert codes(text, "havok")["LightBetweenHeavy"] == "warning" and "LightBetweenHeavy" not in codes(text, "physx")
    assert codes(weighed(100.0, 1.0, 100.0), "physx")["LightBetweenHeavy"] == "info"
    assert "LightBetweenHeavy" not in codes(weighed(100.0, 50.0, 100.0, root=True), "havok")


def test_messages_name_the_simulator() -> None:
    text = joint("Fixed", "float physics:breakForce = 5")
    said = {
        target: next(issue.message for issue in issues(text, target) if issue.code == "BreakIgnored")
        for target in ("havok", "newton")
    }
    assert said["havok"].endswith("never breaks in Havok.")
    assert said["newton"].endswith("never breaks in Newton and MuJoCo.")


def test_a_row_is_as_long_as_its_middle_is_from_what_holds_it() -> None:
    (found,) = (issue for issue in issues(row(16, held=(0, 15)), "havok") if issue.code == "LongRow")
    assert found.path in ("/B7", "/B8") and "7 bodies" in found.message
    assert "LongRow" not in codes(row(12, held=(0, 11)), "havok")


@pytest.mark.parametrize("seed", range(20))
def test_loops_are_those_of_the_graph(seed: int) -> None:
    """A graph has a loop where it has more links than a forest of its bodies."""
    chance = random.Random(seed)
    number = chance.randint(2, 8)
    pairs = {tuple(sorted(chance.sample(range(number), 2))) for _ in range(chance.randint(1, 9))}
    parts = [{place} for place in range(number)]
    for one, other in pairs:
        first, second = (next(part for part in parts if place in part) for place in (one, other))
        if first is not second:
            first |= second
            parts.remove(second)
    looped = [part for part in parts if sum(one in part for one, _ in pairs) > len(part) - 1]
    text = "".join(solid(name=f"B{place}") for place in range(number))
    text += "".join(link(f"J{one}_{other}", f"B{one}", f"B{other}") for one, other in sorted(pairs))
    found = [issue for issue in issues(text, "havok") if issue.code == "JointsInLoop"]
    assert len(found) == len(looped)
    for issue in found:
        assert any(int(issue.path[2]) in part for part in looped)
