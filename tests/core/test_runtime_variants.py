# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with a variant for each simulator: what each holds, and in which words and units."""

import math
import shutil
from pathlib import Path

import pytest
from pxr import Sdf, Usd

from usdphys_addon.core import runtimes
from usdphys_addon.core.errors import InputError, OutputError
from usdphys_addon.usd import read as usd_read
from usdphys_addon.usd import runtime_variants
from usdphys_addon.usd.opinions import applied_schemas

#: A door in centimetres with Y up, with the words of one simulator for each thing.
DOOR = """#usda 1.0
(
    defaultPrim = "Door"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "Door" (prepend apiSchemas = ["PhysicsArticulationRootAPI", "NewtonArticulationRootAPI"])
{
    bool newton:selfCollisionEnabled = 0
    def Cube "Leaf" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxRigidBodyAPI", "NewtonCollisionAPI"]
    )
    {
        float newton:contactMargin = 0.5
        float physxRigidBody:linearDamping = 0.5
        float physxRigidBody:linearDamping.timeSamples = { 1: 0.5, 2: 0.7 }
        float physxRemoved:thing = 3
    }
    def Mesh "Part" (
        prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysxSDFMeshCollisionAPI"]
    )
    {
        uniform token physics:approximation = "sdf"
        uniform int physxSDFMeshCollision:sdfResolution = 128
    }
    def Mesh "Other" (
        prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MjcCollisionAPI"]
    )
    {
        uniform token physics:approximation = "convexDecomposition"
    }
    def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["NewtonJointAPI"])
    {
        rel physics:body1 = </Door/Leaf>
        uniform token physics:axis = "Y"
        float newton:damping = 500
        float newton:armature = 20000
        float newton:limitStiffness = 4
    }
    def PhysicsRevoluteJoint "Follower" (prepend apiSchemas = ["NewtonMimicAPI", "PhysxLimitAPI:angular"])
    {
        float physxLimit:angular:damping = 3
        uniform token physics:axis = "Z"
        rel newton:mimicJoint = </Door/Hinge>
        float newton:mimicCoef0 = 10
        float newton:mimicCoef1 = 2
    }
    def PhysxPhysicsGearJoint "Gear"
    {
        rel physics:hinge0 = </Door/Hinge>
        rel physics:hinge1 = </Door/Follower>
    }
}
"""


@pytest.fixture
def divided(tmp_path: Path) -> Path:
    source, folder = tmp_path / "door.usda", tmp_path / "out"
    source.write_text(DOOR)
    folder.mkdir()
    assert runtime_variants.divide(source, folder / "door.usda") == ([], ["/Door/Leaf"])
    return folder / "door.usda"


def chosen(file: Path, *names: str) -> Usd.Stage:
    stage = Usd.Stage.Open(Sdf.Layer.FindOrOpen(str(file)), Sdf.Layer.CreateAnonymous())
    stage.SetEditTarget(stage.GetSessionLayer())
    for name in names:
        stage.GetDefaultPrim().GetVariantSets().SetSelection(name, "Enabled")
    return stage


def get(stage: Usd.Stage, path: str) -> object:
    attribute = stage.GetAttributeAtPath(f"/Door/{path}")
    return attribute.Get() if attribute else None


@pytest.mark.parametrize("chosen_name", ["", *runtimes.FILES])
def test_each_selection_holds_the_schemas_of_its_own_simulator_only(divided: Path, chosen_name: str) -> None:
    stage = chosen(divided, *filter(None, [chosen_name]))
    found = set()
    for prim in stage.Traverse():
        found |= {runtimes.runtime_of(name) for name in (str(prim.GetTypeName()), *applied_schemas(prim))}
        found |= {runtimes.runtime_of_property(name) for name in prim.GetPropertyNames()}
    assert found == {"", *filter(None, [chosen_name])}
    assert [*stage.GetDefaultPrim().GetVariantSets().GetNames()] == [*runtimes.FILES]


def test_a_soft_limit_of_physx_alone_is_for_newton_what_physx_makes_of_it() -> None:
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString("""#usda 1.0
(
    metersPerUnit = 1
)
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysxLimitAPI:angular"])
{
    float physxLimit:angular:stiffness = 57.2957795
    float physxLimit:angular:damping = 5.72957795
}
""")
    model = usd_read.read_stage(stage)
    (prim,) = model.joints.values()
    made = runtimes.translated(model, prim, "Newton")["NewtonJointAPI"]
    # N m per degree are 57.3 N m per radian.
    assert (made.limit_stiffness, made.limit_damping) == pytest.approx((math.degrees(1), math.degrees(0.1)))


def test_what_is_said_for_one_simulator_is_said_for_the_others_in_their_words(divided: Path) -> None:
    physx, newton, mujoco = (chosen(divided, name) for name in runtimes.FILES)
    assert get(newton, "Hinge.newton:armature") == get(physx, "Hinge.physxJointAxis:angular:armature") == 20000
    assert get(physx, "Hinge.physxJointAxis:angular:viscousFrictionCoefficient") == 500
    # PhysX says that it is per degree, and takes it per radian.
    assert get(physx, "Hinge.physxLimit:angular:stiffness") == pytest.approx(4 * 57.2957795)
    assert get(physx, "Leaf.physxCollision:restOffset") == pytest.approx(0.5)
    # MuJoCo has metres, kilograms and radians.
    assert get(mujoco, "Hinge.mjc:armature") == pytest.approx(2.0)
    # The damping of a hard limit does nothing in PhysX.
    assert get(newton, "Follower.newton:limitDamping") is None
    assert get(newton, "Part.newton:sdfMaxResolution") == 128
    assert physx.GetAttributeAtPath("/Door.physxArticulation:enabledSelfCollisions").Get() is False
    follower = physx.GetPrimAtPath("/Door/Follower")
    assert "PhysxMimicJointAPI:rotZ" in applied_schemas(follower)
    assert get(physx, "Follower.physxMimicJoint:rotZ:gearing") == -2.0
    assert get(physx, "Follower.physxMimicJoint:rotZ:offset") == pytest.approx(-10.0)
    assert get(physx, "Follower.physxMimicJoint:rotZ:referenceJointAxis") == "rotY"
    (leader,) = follower.GetRelationship("physxMimicJoint:rotZ:referenceJoint").GetTargets()
    assert leader == "/Door/Hinge"


def test_a_body_that_says_no_mass_gets_the_one_that_it_has(divided: Path) -> None:
    """SimReady wants it (RB.007). A cube of two centimetres of 1,000 kg/m3, which is the density of what says none."""
    assert get(chosen(divided), "Leaf.physics:mass") == pytest.approx(1000 * 0.02**3)
    stage = chosen(divided, "PhysX")
    assert "PhysicsMassAPI" in applied_schemas(stage.GetPrimAtPath("/Door/Leaf"))


def test_nothing_is_lost_that_the_file_said(divided: Path) -> None:
    """Animation, prims of a simulator's type and properties of schemas that nobody knows any more."""
    physx = chosen(divided, "PhysX")
    damping = physx.GetAttributeAtPath("/Door/Leaf.physxRigidBody:linearDamping")
    assert damping.GetTimeSamples() == [1.0, 2.0] and get(physx, "Leaf.physxRemoved:thing") == 3.0
    gear = physx.GetPrimAtPath("/Door/Gear")
    assert gear.GetTypeName() == "PhysxPhysicsGearJoint"
    assert gear.GetRelationship("physics:hinge1").GetTargets() == ["/Door/Follower"]
    assert not chosen(divided, "Newton").GetPrimAtPath("/Door/Gear")


def test_each_simulator_gets_an_approximation_that_it_knows(divided: Path) -> None:
    tokens = {name: [get(chosen(divided, *filter(None, [name])), f"{prim}.physics:approximation")
                     for prim in ("Part", "Other")] for name in ("", *runtimes.FILES)}  # fmt: skip
    assert tokens["PhysX"] == ["sdf", "convexDecomposition"] and tokens["MuJoCo"] == ["convexHull", "convexHull"]
    assert tokens["Newton"] == ["none", "convexDecomposition"] and tokens[""] == ["none", "none"]


def test_two_files_do_not_share_the_files_of_simulators(divided: Path) -> None:
    assert len(runtime_variants.replaceable(divided)) == 3
    with pytest.raises(OutputError, match="belongs to another file"):
        runtime_variants.replaceable(divided.with_name("window.usda"))


def test_a_file_that_cannot_hold_variants_is_refused(tmp_path: Path) -> None:
    loose = tmp_path / "loose.usda"
    loose.write_text('#usda 1.0\ndef Xform "A" {\n}\n')
    with pytest.raises(InputError, match="default prim"):
        runtime_variants.divide(loose, tmp_path / "out" / "loose.usda")


def test_colliders_joints_and_roots_have_the_schemas_that_simready_wants(divided: Path) -> None:
    newton, mujoco = chosen(divided, "Newton"), chosen(divided, "MuJoCo")
    has = {
        (stage, path): set(applied_schemas(stage.GetPrimAtPath(f"/Door/{path}")))
        for stage in (newton, mujoco) for path in ("Leaf", "Part", "Other", "Hinge")
    }  # fmt: skip
    assert "NewtonSDFCollisionAPI" in has[newton, "Part"] and "NewtonMeshCollisionAPI" in has[newton, "Other"]
    assert all("MjcCollisionAPI" in has[mujoco, name] for name in ("Leaf", "Part"))
    assert "MjcJointAPI" in has[mujoco, "Hinge"]
    assert newton.GetAttributeAtPath("/Door.newton:selfCollisionEnabled").Get() is False


def test_what_is_edited_with_a_simulator_chosen_goes_into_its_file(divided: Path, tmp_path: Path) -> None:
    """As an export of edits writes them: over the base. What the other simulators have stays as it was."""
    whole, target = divided.with_name("whole.usda"), tmp_path / "new" / "door.usda"
    layer = Sdf.Layer.FindOrOpen(str(divided))
    edited = Sdf.Layer.CreateAnonymous()
    edited.TransferContent(layer)
    edited.GetPrimAtPath("/Door").variantSelections["PhysX"] = "Enabled"
    edited.Export(str(whole))
    stage = Usd.Stage.Open(str(whole))
    stage.GetAttributeAtPath("/Door/Hinge.physxJointAxis:angular:armature").Set(7.0)
    stage.GetPrimAtPath("/Door/Gear").GetRelationship("physics:hinge0").SetTargets(["/Door/Follower"])
    stage.GetPrimAtPath("/Door/Leaf").RemoveAppliedSchema("PhysxRigidBodyAPI")
    stage.GetPrimAtPath("/Door/Part").AddAppliedSchema("PhysxCollisionAPI")
    stage.Save()
    target.parent.mkdir()
    assert runtime_variants.divide(whole, target).left == []
    physx, newton, neutral = chosen(target, "PhysX"), chosen(target, "Newton"), chosen(target)
    assert get(physx, "Hinge.physxJointAxis:angular:armature") == 7.0
    assert physx.GetPrimAtPath("/Door/Gear").GetRelationship("physics:hinge0").GetTargets() == ["/Door/Follower"]
    assert "PhysxRigidBodyAPI" not in applied_schemas(physx.GetPrimAtPath("/Door/Leaf"))
    assert "PhysxCollisionAPI" in applied_schemas(physx.GetPrimAtPath("/Door/Part"))
    assert get(newton, "Hinge.newton:armature") == 20000 and get(newton, "Part.newton:sdfMaxResolution") == 128
    assert not neutral.GetPrimAtPath("/Door/Gear") or not neutral.GetPrimAtPath("/Door/Gear").GetProperties()
    selection = neutral.GetDefaultPrim().GetVariantSets().GetVariantSelection("PhysX")
    assert selection == "Disabled" and len(neutral.GetUsedLayers()) == 2
    text = target.read_text()
    assert "physx" not in text.replace("./runnables/physics/physx.usda", "") and "PhysxRigid" not in text


def of_physx(file: Path) -> Path:
    return file.parent / runtime_variants.payload_of("PhysX")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda file: file.write_text(file.read_text().replace(
            "prepend payload = @./runnables/physics/physx.usda@",
            "prepend payload = [@./runnables/physics/physx.usda@, @./runnables/physics/newton.usda@]")),
         "must have exactly one payload"),
        (lambda file: of_physx(file).unlink(), "physx.usda', the payload .* is missing"),
        (lambda file: of_physx(file).write_text("#usda 1.0\ndef {{"), "physx.usda', the payload .* cannot be read"),
        (lambda file: of_physx(file).write_text('#usda 1.0\nover "Door"\n{\n}\n'), "has no default prim 'Door'"),
    ],
    ids=["two", "missing", "broken", "no default prim"],
)  # fmt: skip
def test_settings_of_a_simulator_that_cannot_be_taken_over_are_not_dropped(divided, tmp_path, spoil, reason) -> None:
    """As of a file that somebody else has divided, or that lies alone."""
    copy = tmp_path / "copy"
    shutil.copytree(divided.parent, copy)
    spoil(copy / divided.name)
    (tmp_path / "again").mkdir()
    with pytest.raises(InputError, match=reason):
        runtime_variants.divide(copy / divided.name, tmp_path / "again" / divided.name)
    assert not any((tmp_path / "again").iterdir())
