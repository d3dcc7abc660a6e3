# SPDX-License-Identifier: GPL-3.0-or-later
"""Nested bodies made flat or reset: every world pose stays, and every relationship follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from usdphys_ext.usdphys_addon.usd import hierarchy as usd_hierarchy

CAR, WHEEL, CAP = "/root/Car", "/root/Car/Wheel", "/root/Car/Wheel/Cap"
BODIES = (CAR, WHEEL, CAP)


def place(prim: Any, move: Any = (1, 2, 3), turn: float = 30, scale: Any = (1, 1, 1)) -> Any:
    xform = UsdGeom.Xformable(prim)
    xform.AddTranslateOp().Set(Gf.Vec3d(*move))
    xform.AddRotateXYZOp().Set(Gf.Vec3f(turn, 2 * turn, -turn))
    xform.AddScaleOp().Set(Gf.Vec3f(*scale))
    return prim


def body(stage: Any, path: str, **pose: Any) -> Any:
    prim = place(stage.DefinePrim(path, "Xform"), **pose)
    UsdPhysics.RigidBodyAPI.Apply(prim)
    mesh = stage.DefinePrim(f"{path}/Geom", "Mesh")
    UsdPhysics.CollisionAPI.Apply(mesh)
    return prim


@pytest.fixture
def stage() -> Any:
    """A car with a wheel with a cap, all below a placed root, and all that can point at them."""
    stage = Usd.Stage.CreateInMemory()
    place(stage.DefinePrim("/root", "Xform"), (0, 0, 5), 10, (2, 2, 2))
    stage.SetDefaultPrim(stage.GetPrimAtPath("/root"))
    body(stage, CAR, scale=(1, 2, 3))
    place(stage.DefinePrim(f"{CAR}/Axle", "Xform"), (0, 1, 0), 0)
    body(stage, WHEEL)
    body(stage, CAP)
    stage.DefinePrim(f"{CAP}/Bolt", "Xform")
    joint = UsdPhysics.RevoluteJoint.Define(stage, f"{CAR}/Hinge")
    joint.CreateBody0Rel().SetTargets([CAR])
    joint.CreateBody1Rel().SetTargets([WHEEL])
    inner = UsdPhysics.FixedJoint.Define(stage, f"{WHEEL}/Clip")
    inner.CreateBody0Rel().SetTargets([WHEEL])
    inner.CreateBody1Rel().SetTargets([CAP])
    material = UsdShade.Material.Define(stage, f"{WHEEL}/Looks")
    UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath(f"{CAP}/Geom")).Bind(material)
    shader = UsdShade.Shader.Define(stage, f"{WHEEL}/Looks/Shader")
    material.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    return stage


def world(stage: Any, path: str) -> np.ndarray:
    return np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path)))


def poses(stage: Any, times: Any = ()) -> dict[str, list[np.ndarray]]:
    """World matrices by the name of the prim, at the default time and others."""
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Xformable):
            codes = [Usd.TimeCode.Default(), *map(Usd.TimeCode, times)]
            name = f"{prim.GetParent().GetName()}/Geom" if prim.GetName() == "Geom" else prim.GetName()
            found[name] = [np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim)) for code in codes]
    return found


def same(first: dict[str, list[np.ndarray]], second: dict[str, list[np.ndarray]]) -> bool:
    assert first.keys() == second.keys()
    return all(np.allclose(first[name], second[name], atol=1e-5) for name in first)


def everything(stage: Any) -> str:
    return str(stage.GetRootLayer().ExportToString())


def targets(stage: Any) -> dict[str, list[str]]:
    """Targets of all relationships and connections, by the names of prim and property."""
    found = {}
    for prim in stage.Traverse():
        for relationship in prim.GetRelationships():
            if relationship.GetTargets():
                found[f"{prim.GetName()}.{relationship.GetName()}"] = [str(path) for path in relationship.GetTargets()]
        for attribute in prim.GetAttributes():
            if attribute.GetConnections():
                found[f"{prim.GetName()}.{attribute.GetName()}"] = [str(path) for path in attribute.GetConnections()]
    return found


def test_nested_is_left_alone(stage):
    before = everything(stage)
    assert usd_hierarchy.arrange(stage, BODIES, "nested") == {}
    assert everything(stage) == before


@pytest.mark.parametrize("hierarchy", ["flat", "reset"])
def test_without_nested_bodies_nothing_happens(stage, hierarchy):
    before = everything(stage)
    assert usd_hierarchy.arrange(stage, [CAR], hierarchy) == {}
    assert usd_hierarchy.arrange(stage, [], hierarchy) == {}
    assert everything(stage) == before


@pytest.mark.parametrize("hierarchy", ["flat", "reset"])
def test_world_poses_stay(stage, hierarchy):
    before = poses(stage)
    usd_hierarchy.arrange(stage, BODIES, hierarchy)
    assert same(before, poses(stage))


def test_flat_puts_three_levels_beside_each_other(stage):
    moved = usd_hierarchy.arrange(stage, reversed(BODIES), "flat")
    assert moved == {WHEEL: "/root/Wheel", CAP: "/root/Cap"}
    for path in ("/root/Car", "/root/Wheel", "/root/Cap", "/root/Cap/Bolt", "/root/Wheel/Geom", "/root/Car/Axle"):
        assert stage.GetPrimAtPath(path).IsValid(), path
    for path in (WHEEL, "/root/Wheel/Cap"):
        assert not stage.GetPrimAtPath(path).IsValid(), path
    assert not UsdGeom.Xformable(stage.GetPrimAtPath("/root/Wheel")).GetResetXformStack()


def test_flat_takes_relationships_and_connections_along(stage):
    usd_hierarchy.arrange(stage, BODIES, "flat")
    assert targets(stage) == {
        "Hinge.physics:body0": ["/root/Car"],
        "Hinge.physics:body1": ["/root/Wheel"],
        "Clip.physics:body0": ["/root/Wheel"],
        "Clip.physics:body1": ["/root/Cap"],
        "Geom.material:binding": ["/root/Wheel/Looks"],
        "Looks.outputs:surface": ["/root/Wheel/Looks/Shader.outputs:surface"],
    }


def test_reset_keeps_paths(stage):
    before = targets(stage)
    assert usd_hierarchy.arrange(stage, BODIES, "reset") == {}
    assert targets(stage) == before
    resets = {path: UsdGeom.Xformable(stage.GetPrimAtPath(path)).GetResetXformStack() for path in BODIES}
    assert resets == {CAR: False, WHEEL: True, CAP: True}


def test_names_that_are_taken(stage):
    body(stage, "/root/Wheel", move=(9, 9, 9))
    body(stage, "/root/Wheel_1/Cap")
    pose = world(stage, "/root/Wheel")
    moved = usd_hierarchy.arrange(stage, [*BODIES, "/root/Wheel"], "flat")
    assert moved == {WHEEL: "/root/Wheel_2", CAP: "/root/Cap"}
    assert np.allclose(world(stage, "/root/Wheel"), pose)
    assert targets(stage)["Hinge.physics:body1"] == ["/root/Wheel_2"]


def test_nested_bodies_of_one_name(stage):
    """Two cars with wheels of the same name."""
    body(stage, "/root/Truck")
    body(stage, "/root/Truck/Wheel", move=(7, 0, 0))
    lists = [*BODIES, "/root/Truck", "/root/Truck/Wheel"]
    worlds = {path: world(stage, path) for path in lists}
    moved = usd_hierarchy.arrange(stage, lists, "flat")
    assert sorted(moved.values()) == ["/root/Cap", "/root/Wheel", "/root/Wheel_1"]
    for old, pose in worlds.items():
        assert np.allclose(world(stage, moved.get(old, old)), pose, atol=1e-6)


def test_objects_between_bodies():
    """A plain prim between two bodies stays where it is; what is below the inner body goes with it."""
    stage = Usd.Stage.CreateInMemory()
    body(stage, "/Base")
    place(stage.DefinePrim("/Base/Mount", "Xform"), (0, 0, 4), 20)
    body(stage, "/Base/Mount/Arm")
    place(stage.DefinePrim("/Base/Mount/Arm/Tool", "Xform"), (0, 4, 0), 20)
    before = poses(stage)
    assert usd_hierarchy.arrange(stage, ["/Base", "/Base/Mount/Arm"], "flat") == {"/Base/Mount/Arm": "/Arm"}
    assert same(before, poses(stage))
    assert stage.GetPrimAtPath("/Base/Mount").IsValid()
    assert stage.GetPrimAtPath("/Arm/Tool").IsValid()


@pytest.mark.parametrize("animated", [CAR, WHEEL, "/root"])
@pytest.mark.parametrize("hierarchy", ["flat", "reset"])
def test_animation(stage, hierarchy, animated):
    """World poses stay at every frame that is authored, also where it is only the parent that moves."""
    translate = UsdGeom.Xformable(stage.GetPrimAtPath(animated)).GetOrderedXformOps()[0]
    times = (1, 2, 5)
    for time in times:
        translate.Set(Gf.Vec3d(time, -time, 1), time)
    scale = UsdGeom.Xformable(stage.GetPrimAtPath(CAP)).GetOrderedXformOps()[2]
    scale.Set(Gf.Vec3f(1, 1, 1), 3)
    scale.Set(Gf.Vec3f(2, 3, 4), 4)
    frames = (1, 2, 3, 4, 5)
    before = poses(stage, frames)
    assert not np.allclose(before["Wheel"][1], before["Wheel"][-1])
    usd_hierarchy.arrange(stage, BODIES, hierarchy)
    after = poses(stage, frames)
    assert same({name: [before[name][index] for index in (0, 1, 2, 5)] for name in before},
                {name: [after[name][index] for index in (0, 1, 2, 5)] for name in after})  # fmt: skip
    assert np.allclose(before["Cap"], after["Cap"], atol=1e-5)


def test_a_pose_that_is_only_animated(stage):
    """Without a default value the first sample counts before the animation too."""
    translate = UsdGeom.Xformable(stage.GetPrimAtPath(WHEEL)).GetOrderedXformOps()[0]
    translate.GetAttr().Clear()
    translate.Set(Gf.Vec3d(1, 0, 0), 1)
    translate.Set(Gf.Vec3d(5, 0, 0), 3)
    before = poses(stage, (0, 1, 3, 4))
    usd_hierarchy.arrange(stage, BODIES, "flat")
    after = poses(stage, (0, 1, 3, 4))
    assert np.allclose(before["Wheel"][1:], after["Wheel"][1:], atol=1e-5)


# --------------------------------------------------------------------------- collision groups


def group(stage: Any, path: str, includes: Any, excludes: Any = ()) -> Any:
    made = UsdPhysics.CollisionGroup.Define(stage, path)
    collection = made.GetCollidersCollectionAPI()
    collection.CreateIncludesRel().SetTargets(list(includes))
    if excludes:
        collection.CreateExcludesRel().SetTargets(list(excludes))
    return collection


def members(collection: Any) -> set[str]:
    """The colliders, by the names of their bodies."""
    query = collection.ComputeMembershipQuery()
    included = Usd.CollectionAPI.ComputeIncludedPaths(query, collection.GetPrim().GetStage())
    return {path.GetParentPath().name for path in included if path.name == "Geom"}


@pytest.mark.parametrize(
    ("includes", "excludes", "expected"),
    [
        ([CAR], [], {"Car", "Wheel", "Cap"}),
        ([WHEEL], [], {"Wheel", "Cap"}),
        ([CAP], [], {"Cap"}),
        ([CAR], [WHEEL], {"Car"}),
        ([CAR], [CAP], {"Car", "Wheel"}),
        ([CAR], [f"{WHEEL}/Geom"], {"Car", "Cap"}),
        ([CAR, CAP], [WHEEL], {"Car", "Cap"}),
        (["/root"], [CAR], set()),
        (["/root"], [], {"Car", "Wheel", "Cap"}),
        ([f"{WHEEL}/Geom"], [], {"Wheel"}),
    ],
)
@pytest.mark.parametrize("where", ["/root", WHEEL])
@pytest.mark.parametrize("hierarchy", ["flat", "reset"])
def test_members_of_a_group_stay(stage, includes, excludes, expected, hierarchy, where):
    path = f"{where}/Group"
    collection = group(stage, path, includes, excludes)
    assert members(collection) == expected
    moved = usd_hierarchy.arrange(stage, BODIES, hierarchy)
    prim = stage.GetPrimAtPath(f"{moved.get(where, where)}/Group")
    assert members(Usd.CollectionAPI(prim, "colliders")) == expected


# --------------------------------------------------------------------------- animation


def test_a_body_that_resets_the_stack_gets_no_animation_from_what_is_above_it(stage):
    wheel = UsdGeom.Xformable(stage.GetPrimAtPath(WHEEL))
    wheel.SetResetXformStack(True)
    translate = UsdGeom.Xformable(stage.GetPrimAtPath(CAR)).GetOrderedXformOps()[0]
    for time in (1, 5):
        translate.Set(Gf.Vec3d(time, 0, 0), time)
    before = world(stage, WHEEL)
    moved = usd_hierarchy.arrange(stage, BODIES, "flat")
    assert np.allclose(world(stage, moved[WHEEL]), before, atol=1e-5)
    assert not UsdGeom.Xformable(stage.GetPrimAtPath(moved[WHEEL])).GetTimeSamples()


def test_physics_starts_where_the_animation_is_at_the_frame_of_the_export():
    """Of bodies and of what is above them; what stands beside is left alone."""
    stage = Usd.Stage.CreateInMemory()
    for path in ("/Room", "/Room/Box", "/Other"):
        translate = UsdGeom.Xform.Define(stage, path).AddTranslateOp()
        for time in (1, 5, 9):
            translate.Set(Gf.Vec3d(time, 0, 0), time)
    usd_hierarchy.keep_current_poses(stage, ["/Room/Box"], 5.0)
    values = {
        path: stage.GetPrimAtPath(path).GetAttribute("xformOp:translate").Get() for path in ("/Room", "/Room/Box")
    }
    assert values == {"/Room": Gf.Vec3d(5, 0, 0), "/Room/Box": Gf.Vec3d(5, 0, 0)}
    assert not stage.GetRootLayer().GetPrimAtPath("/Other").attributes["xformOp:translate"].HasDefaultValue()
    assert stage.GetPrimAtPath("/Room").GetAttribute("xformOp:translate").Get(9) == Gf.Vec3d(9, 0, 0)


# --------------------------------------------------------------------------- prims that move


def test_targets_follow_prims_and_properties_that_move() -> None:
    stage = Usd.Stage.CreateInMemory()
    material = UsdShade.Material.Define(stage, "/Old/Looks/Red")
    shader = UsdShade.Shader.Define(stage, "/Old/Looks/Red/Shader")
    material.CreateSurfaceOutput().ConnectToSource(shader.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    cube = UsdGeom.Cube.Define(stage, "/Old/Cube").GetPrim()
    UsdShade.MaterialBindingAPI.Apply(cube).Bind(material)
    cube.CreateRelationship("watches").SetTargets(["/Old/Looks/Red.outputs:surface", "/Elsewhere"])
    usd_hierarchy.move_prims(stage.GetRootLayer(), {"/Old/Looks/Red": "/Materials/Crimson", "/Old/Cube": "/Old/Box"})
    found = UsdShade.Material.Get(stage, "/Materials/Crimson")
    assert found.GetSurfaceOutput().GetAttr().GetConnections() == ["/Materials/Crimson/Shader.outputs:surface"]
    box = stage.GetPrimAtPath("/Old/Box")
    assert box.GetRelationship("material:binding").GetTargets() == ["/Materials/Crimson"]
    assert box.GetRelationship("watches").GetTargets() == ["/Materials/Crimson.outputs:surface", "/Elsewhere"]
    assert stage.GetPrimAtPath("/Materials").GetTypeName() == "Scope"
    assert not stage.GetPrimAtPath("/Old/Looks/Red")


def test_a_prim_stays_where_its_new_place_is_taken() -> None:
    stage = Usd.Stage.CreateInMemory()
    for path in ("/A", "/B"):
        UsdGeom.Cube.Define(stage, path)
    stage.GetPrimAtPath("/B").CreateRelationship("watches").SetTargets(["/A"])
    usd_hierarchy.move_prims(stage.GetRootLayer(), {"/A": "/B"})
    assert stage.GetPrimAtPath("/A") and stage.GetPrimAtPath("/B").GetRelationship("watches").GetTargets() == ["/A"]
