# SPDX-License-Identifier: GPL-3.0-or-later
"""Isaac Sim's robot schema: every link and joint once, in the order of the tree, the base first."""

from pathlib import Path

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.usd import isaac_robot, read

LINKS, JOINTS = "isaac:physics:robotLinks", "isaac:physics:robotJoints"
#: Parent of each link; the order of the file is not that of the tree.
TREE = {"finger": "wrist", "wrist": "elbow", "elbow": "base", "thumb": "wrist", "head": "base"}


def robot(path: Path, *, fixed: bool, root: str = "/Robot", tree: dict[str, str] | None = None) -> Path:
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    top = UsdGeom.Xform.Define(stage, root)
    stage.SetDefaultPrim(stage.GetPrimAtPath(f"/{root.split('/')[1]}"))
    tree = TREE if tree is None else tree
    for name in dict.fromkeys((*tree, *tree.values())):
        link = UsdGeom.Cube.Define(stage, f"{root}/{name}")
        UsdPhysics.RigidBodyAPI.Apply(link.GetPrim())
        UsdPhysics.CollisionAPI.Apply(link.GetPrim())
    for name, parent in tree.items():
        joint = UsdPhysics.RevoluteJoint.Define(stage, f"{root}/joints/{name}")
        joint.GetBody0Rel().SetTargets([f"{root}/{parent}"])
        joint.GetBody1Rel().SetTargets([f"{root}/{name}"])
    if fixed:
        joint = UsdPhysics.FixedJoint.Define(stage, f"{root}/joints/zz_world")
        joint.GetBody1Rel().SetTargets([f"{root}/base"])
    frame = UsdGeom.Xform.Define(stage, f"{root}/wrist/tool_frame")
    frame.AddTranslateOp().Set(Gf.Vec3d(0, 0, 1))
    UsdPhysics.ArticulationRootAPI.Apply(top.GetPrim())
    stage.Save()
    return path


def names(stage: Usd.Stage, path: str, relationship: str) -> list[str]:
    return [target.name for target in stage.GetPrimAtPath(path).GetRelationship(relationship).GetTargets()]


def with_api(stage: Usd.Stage, api: str) -> set[str]:
    def listed(prim: Usd.Prim) -> list[str]:
        found = prim.GetMetadata("apiSchemas")
        return list(found.GetAppliedItems()) if found else []

    return {prim.GetName() for prim in stage.Traverse() if api in listed(prim)}


@pytest.mark.parametrize("fixed", [False, True])
def test_links_and_joints_stand_in_the_order_of_the_tree(tmp_path: Path, fixed: bool) -> None:
    path = robot(tmp_path / "robot.usda", fixed=fixed)
    assert isaac_robot.add_to_file(path, "manipulator") == []
    stage = Usd.Stage.Open(str(path))
    links, joints = names(stage, "/Robot", LINKS), names(stage, "/Robot", JOINTS)
    assert links[0] == "base" and sorted(links) == sorted({*TREE, "base"})
    assert all(links.index(parent) < links.index(child) for child, parent in TREE.items())
    assert (joints[0] == "zz_world") is fixed and sorted(joints) == sorted({*TREE, *(["zz_world"] * fixed)})
    assert stage.GetPrimAtPath("/Robot").GetAttribute("isaac:robotType").Get() == "Manipulator"
    assert with_api(stage, "IsaacRobotAPI") == {"Robot"}
    assert with_api(stage, "IsaacSiteAPI") == {"tool_frame"}
    assert with_api(stage, "IsaacLinkAPI") == set(links)
    # A joint and its link have one name here.
    assert len([prim for prim in stage.Traverse() if "IsaacJointAPI" in str(prim.GetMetadata("apiSchemas"))]) == len(
        joints
    )


def test_a_second_time_changes_the_kind_alone_and_the_physics_stays(tmp_path: Path) -> None:
    path = robot(tmp_path / "robot.usda", fixed=True)
    before = read.read_stage(Usd.Stage.Open(str(path)))
    isaac_robot.add_to_file(path, "humanoid")
    first = path.read_text()
    isaac_robot.add_to_file(path, "aerial")
    assert path.read_text() == first.replace('"Humanoid"', '"Aerial"')
    after = read.read_stage(Usd.Stage.Open(str(path)))
    assert {p: sorted(prim.schemas) for p, prim in before.prims.items()} == {
        p: sorted(prim.schemas) for p, prim in after.prims.items()
    }


def test_two_robots_in_a_file_have_a_schema_each(tmp_path: Path) -> None:
    path = tmp_path / "two.usda"
    robot(tmp_path / "one.usda", fixed=True)
    stage = Usd.Stage.CreateNew(str(path))
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    for name in ("Left", "Right"):
        UsdGeom.Xform.Define(stage, f"/World/{name}").GetPrim().GetReferences().AddReference("./one.usda")
    stage.Save()
    del stage
    isaac_robot.add_to_file(path, "manipulator")
    stage = Usd.Stage.Open(str(path))
    assert with_api(stage, "IsaacRobotAPI") == {"Left", "Right"}
    for name in ("Left", "Right"):
        targets = stage.GetPrimAtPath(f"/World/{name}").GetRelationship(LINKS).GetTargets()
        assert len(targets) == 6 and all(str(target).startswith(f"/World/{name}/") for target in targets)
    assert Sdf.Layer.FindOrOpen(str(tmp_path / "one.usda")).ExportToString().count("Isaac") == 0


def test_a_loop_has_each_link_and_joint_once(tmp_path: Path) -> None:
    path = robot(tmp_path / "loop.usda", fixed=True)
    stage = Usd.Stage.Open(str(path))
    joint = UsdPhysics.RevoluteJoint.Define(stage, "/Robot/joints/closing")
    joint.GetBody0Rel().SetTargets(["/Robot/finger"])
    joint.GetBody1Rel().SetTargets(["/Robot/thumb"])
    stage.Save()
    del joint, stage
    isaac_robot.add_to_file(path, "default")
    stage = Usd.Stage.Open(str(path))
    assert len(names(stage, "/Robot", LINKS)) == 6 and len(names(stage, "/Robot", JOINTS)) == 7


def test_a_file_without_joints_is_named_and_stays(tmp_path: Path) -> None:
    path = robot(tmp_path / "none.usda", fixed=False, tree={})
    before = path.read_bytes()
    (issue,) = isaac_robot.add_to_file(path, "default")
    assert issue.code == "IsaacRobotMissing" and path.read_bytes() == before
