# SPDX-License-Identifier: GPL-3.0-or-later
"""A file as an asset of layers: they compose to the same stage, and each holds its own kind of opinions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdShade
from usdphys_ext.usdphys_addon.core.errors import OutputError
from usdphys_ext.usdphys_addon.system.files import replace_together
from usdphys_ext.usdphys_addon.usd import asset_layers
from usdphys_ext.usdphys_addon.usd import read as usd_read

ROBOT = """#usda 1.0
(
    defaultPrim = "robot"
    kilogramsPerUnit = 0.001
    metersPerUnit = 0.01
    startTimeCode = 1
    endTimeCode = 5
    timeCodesPerSecond = 30
    upAxis = "Y"
)
def Xform "robot" ( kind = "component" )
{
    def Scope "Geometry"
    {
        def Xform "arm" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "SomeStrangeAPI"] )
        {
            float physics:mass = 3
            float physxRigidBody:maxAngularVelocity = 7
            custom string urdf:note = "kept"
            double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 5: (1, 0, 0) }
            uniform token[] xformOpOrder = ["xformOp:translate"]
            def Mesh "left" ( prepend apiSchemas = ["MaterialBindingAPI", "PhysicsCollisionAPI"] )
            {
                int[] faceVertexCounts = [3, 3]
                int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
                point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.123456789)]
                float3 xformOp:scale = (1, 2, 3)
                uniform token[] xformOpOrder = ["xformOp:scale"]
                rel material:binding = </robot/Materials/red>
                rel material:binding:physics = </robot/Materials/rubber>
                def GeomSubset "half" ( prepend apiSchemas = ["MaterialBindingAPI"] )
                {
                    uniform token elementType = "face"
                    int[] indices = [1]
                    rel material:binding = </robot/Materials/red>
                }
            }
            def Mesh "right"
            {
                int[] faceVertexCounts = [3, 3]
                int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
                point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.123456789)]
                def GeomSubset "half"
                {
                    uniform token elementType = "face"
                    int[] indices = [1]
                }
            }
            def Mesh "other"
            {
                int[] faceVertexCounts = [3, 3]
                int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
                point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.12345678)]
            }
        }
    }
    def Scope "Physics"
    {
        def PhysicsFixedJoint "weld"
        {
            rel physics:body1 = </robot/Geometry/arm>
        }
    }
    def Scope "Materials"
    {
        def Material "red"
        {
            token outputs:surface.connect = </robot/Materials/red/Image.outputs:rgb>
            def Shader "Image"
            {
                asset inputs:file = @./textures/red.png@
                asset inputs:other = @../../else/blue.png@
                token outputs:rgb
            }
        }
        def Material "rubber" ( prepend apiSchemas = ["PhysicsMaterialAPI"] )
        {
            float physics:restitution = 0.5
        }
    }
}
"""


def layered(folder: Path, text: str = ROBOT, name: str = "robot.usda") -> Path:
    """A text as an asset of layers in a folder, made in a folder inside it as an export does."""
    target = folder / name
    payload, replaceable = asset_layers.payload_folder(target)
    scratch = folder / "scratch"
    (scratch / payload / "textures").mkdir(parents=True)
    (scratch / payload / "textures/red.png").write_bytes(b"red IEND\xaeB`\x82")
    whole = scratch / payload / "whole.usda"
    whole.write_text(text)
    asset_layers.split(whole, scratch / name)
    replace_together(scratch, target, replaceable)
    for path in sorted(scratch.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    scratch.rmdir()
    return target


def facts(stage: Usd.Stage) -> dict[str, Any]:
    """All that a stage says but where it says it: asset paths are those of the files."""
    found: dict[str, Any] = {}
    for prim in stage.TraverseAll():
        found[str(prim.GetPath())] = (prim.GetTypeName(), {*prim.GetAppliedSchemas()}, prim.GetMetadata("kind"))
        for item in prim.GetAuthoredProperties():
            if isinstance(item, Usd.Relationship):
                value: Any = item.GetTargets()
            else:
                value = [item.Get(time) for time in (Usd.TimeCode.Default(), *item.GetTimeSamples())]
                value = [None if isinstance(one, Sdf.AssetPath) else one for one in value] + item.GetConnections()
            found[str(item.GetPath())] = value
    return found


def test_layers_compose_to_the_same_stage_with_its_units_and_times(tmp_path: Path) -> None:
    whole = Sdf.Layer.CreateAnonymous(".usda")
    whole.ImportFromString(ROBOT)
    stage = Usd.Stage.Open(str(layered(tmp_path)))
    assert facts(stage) == facts(Usd.Stage.Open(whole))
    for name in ("metersPerUnit", "kilogramsPerUnit", "upAxis", "startTimeCode", "endTimeCode", "timeCodesPerSecond"):
        assert stage.GetMetadata(name) == whole.pseudoRoot.GetInfo(name)
    assert stage.GetDefaultPrim().GetName() == "robot"


def test_each_layer_holds_its_own_kind_so_that_a_simulator_or_a_renderer_can_leave_one_out(tmp_path: Path) -> None:
    folder = layered(tmp_path).parent / "Payload"
    geometry, physics, looks = (
        Sdf.Layer.OpenAsAnonymous(str(folder / f"{name}.usda")).ExportToString()
        for name in ("Geometry", "Physics", "Materials")
    )
    assert "physics:" not in geometry + looks and "physx" not in geometry + looks
    assert "Physics" not in geometry.replace("/Physics", "") and "SomeStrangeAPI" in geometry
    assert "Material" not in geometry and "points" not in geometry and "urdf:note" in geometry
    moved = ("physics:mass", "physxRigidBody:maxAngularVelocity", "weld", "restitution", "material:binding:physics")
    assert all(text in physics for text in moved)
    assert "outputs:surface" in looks and "rel material:binding = " in looks


def test_equal_meshes_are_one_in_the_library_and_those_that_differ_in_the_last_bit_are_two(tmp_path: Path) -> None:
    layered(tmp_path)
    library = Usd.Stage.Open(str(tmp_path / "Payload/GeometryLibrary.usdc"))
    assert [prim.GetName() for prim in library.GetPrimAtPath("/Geometry").GetChildren()] == ["left", "other"]


def test_images_move_into_the_asset_and_files_elsewhere_are_still_found(tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else/blue.png").write_bytes(b"blue")
    stage = Usd.Stage.Open(str(layered(tmp_path)))
    image = stage.GetPrimAtPath("/robot/Materials/red/Image")
    found = {name: image.GetAttribute(f"inputs:{name}").Get().resolvedPath for name in ("file", "other")}
    assert {name: Path(path).relative_to(tmp_path).as_posix() for name, path in found.items()} == {
        "file": "Payload/Textures/red.png", "other": "else/blue.png",
    }  # fmt: skip


def test_an_asset_is_written_again_and_leaves_that_of_another_name_alone(tmp_path: Path) -> None:
    layered(tmp_path)
    layered(tmp_path, ROBOT.replace("physics:mass = 3", "physics:mass = 4"))
    other = layered(tmp_path, ROBOT.replace("physics:mass = 3", "physics:mass = 5"), "other.usda")
    stages = [Usd.Stage.Open(str(tmp_path / name)) for name in ("robot.usda", "other.usda")]
    masses = [stage.GetAttributeAtPath("/robot/Geometry/arm.physics:mass").Get() for stage in stages]
    assert masses == [4.0, 5.0] and (tmp_path / "other_Payload/Contents.usda").is_file()
    other.unlink()
    with pytest.raises(OutputError, match="choose another folder"):
        asset_layers.payload_folder(other)


def test_root_prims_that_point_at_each_other_become_sublayers_because_a_payload_would_cut_the_targets(
    tmp_path: Path,
) -> None:
    text = ROBOT.replace("rel physics:body1", "rel physics:body0 = </world>\n            rel physics:body1")
    text += 'def Xform "world"\n{\n}\n'
    stage = Usd.Stage.Open(str(layered(tmp_path, text)))
    weld = stage.GetPrimAtPath("/robot/Physics/weld")
    assert weld.GetRelationship("physics:body0").GetTargets() == [Sdf.Path("/world")]
    assert stage.GetRootLayer().subLayerPaths == ["./Payload/Contents.usda"]


def test_opinions_of_sublayers_and_offsets_of_the_file_stay_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "below.usda").write_text(
        '#usda 1.0\n(\n    timeCodesPerSecond = 30\n)\n'
        'over "robot"\n{\n    over "Geometry"\n    {\n        over "arm"\n        {\n'
        "            float physics:mass = 9\n            double late.timeSamples = { 0: 1, 10: 2 }\n"
        "            over \"right\"\n            {\n                uniform token orientation = \"leftHanded\"\n"
        "                point3f[] points = [(9, 9, 9)]\n            }\n        }\n    }\n}\n"
    )  # fmt: skip
    text = ROBOT.replace("(\n    def", "(\n    subLayers = [ @../../below.usda@ (offset = 4) ]\n    def", 1)
    stage = Usd.Stage.Open(str(layered(tmp_path, text)))
    arm = stage.GetPrimAtPath("/robot/Geometry/arm")
    assert arm.GetAttribute("physics:mass").Get() == 3.0 and arm.GetAttribute("late").GetTimeSamples() == [4.0, 14.0]
    right = arm.GetChild("right")
    assert len(right.GetAttribute("points").Get()) == 4 and right.GetAttribute("orientation").Get() == "leftHanded"


# --------------------------------------------------------------------------- instances


@pytest.mark.parametrize(("below", "why"), [("", ""), ("\n    subLayers = [ @../../below.usda@ ]", "sublayers")])
def test_a_file_with_sublayers_has_no_instances_and_that_is_said(tmp_path: Path, below: str, why: str) -> None:
    (tmp_path / "below.usda").write_text("#usda 1.0\n")
    folder = tmp_path / "made" / "Payload"
    folder.mkdir(parents=True)
    text = '#usda 1.0\n(\n    defaultPrim = "R"' + below + '\n)\ndef Xform "R"\n{\n    def Mesh "M"\n    {\n    '
    (folder / "whole.usda").write_text(f"{text}{SQUARE}\n    }}\n}}\n")
    interface = folder.parent / "robot.usda"
    said, _ = asset_layers.split(folder / "whole.usda", interface, instances=True)
    assert (why in said) if why else said == ""
    assert Usd.Stage.Open(str(interface)).GetPrimAtPath("/R/M").IsInstance() is not bool(why)


SQUARE = """int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.5)]"""
SHARED = """#usda 1.0
( defaultPrim = "robot" )
def Xform "robot"
{{
    def Xform "arm" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] )
    {{
        {meshes}
    }}
    def Material "skin" {{ }}
    def PhysicsScene "scene" {{ }}
    def Material "rubber" ( prepend apiSchemas = ["PhysicsMaterialAPI"] )
    {{
        float physics:dynamicFriction = 0.5
    }}
}}
"""


def square(name: str, applied: str = "", lines: str = "", place: float = 0.0) -> str:
    schemas = f"( prepend apiSchemas = [{applied}] )" if applied else ""
    return f"""def Mesh "{name}" {schemas} {{
    {SQUARE}
    double3 xformOp:translate = ({place}, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {lines}
    }}
"""


COLLIDES = '"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI", "MaterialBindingAPI"'
HULL = """uniform token physics:approximation = "convexHull"
    float physics:mass = 2
    uniform token purpose = "guide"
    rel material:binding:physics = </robot/rubber>
    rel material:binding = </robot/skin>"""


def instanced(folder: Path, meshes: str) -> Usd.Stage:
    whole = folder / "Payload" / "whole.usda"
    whole.parent.mkdir()
    whole.write_text(SHARED.format(meshes=meshes))
    asset_layers.split(whole, folder / "robot.usda", instances=True)
    return Usd.Stage.Open(str(folder / "robot.usda"))


def test_copies_of_a_mesh_are_instances_that_share_their_collider_and_keep_their_places(tmp_path: Path) -> None:
    meshes = "".join(square(f"hull{number}", COLLIDES, HULL, number) for number in range(3))
    stage = instanced(tmp_path, meshes + square("seen") + square("seen_too", place=7.0))
    assert len(stage.GetPrototypes()) == 2
    for number in range(3):
        above, mesh = (stage.GetPrimAtPath(f"/robot/arm/hull{number}{rest}") for rest in ("", "/mesh"))
        assert (above.GetTypeName(), above.IsInstance(), mesh.IsInstanceProxy()) == ("Xform", True, True)
        assert "PhysicsCollisionAPI" not in above.GetAppliedSchemas()
        assert {"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI"} <= set(mesh.GetAppliedSchemas())
        assert mesh.GetAttribute("physics:approximation").Get() == "convexHull"
        assert UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(0).ExtractTranslation()[0] == number
        assert UsdGeom.Imageable(mesh).ComputePurpose() == "guide"
        for purpose, material in (("physics", "rubber"), ("", "skin")):
            bound, _ = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial(purpose)
            assert bound.GetPath() == f"/robot/{material}"
    assert (
        stage.GetPrimAtPath("/robot/arm/seen_too").GetPrototype()
        == stage.GetPrimAtPath("/robot/arm/seen").GetPrototype()
    )
    model = usd_read.read_stage(stage)
    assert sorted(model.colliders) == [f"/robot/arm/hull{number}/mesh" for number in range(3)]


@pytest.mark.parametrize(
    ("applied", "lines"),
    [('"PhysicsCollisionAPI"', "rel physics:simulationOwner = </robot/scene>"), ('"SomeStrangeAPI"', ""),
     ("", 'def Xform "child" { }'), ("", """def GeomSubset "part" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {
    uniform token elementType = "face"
    int[] indices = [0]
    rel material:binding = </robot/skin>
    }""")],
)  # fmt: skip
def test_a_mesh_whose_opinions_an_instance_would_hide_stays_a_mesh(tmp_path: Path, applied: str, lines: str) -> None:
    stage = instanced(tmp_path, square("odd", applied, lines))
    prim = stage.GetPrimAtPath("/robot/arm/odd")
    assert (prim.GetTypeName(), prim.IsInstance()) == ("Mesh", False)
    assert len(prim.GetAttribute("points").Get()) == 4


def test_a_mesh_that_is_a_body_keeps_its_body_and_mass_on_the_xform(tmp_path: Path) -> None:
    applied = '"PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI"'
    stage = instanced(tmp_path, square("stone", applied, "float physics:mass = 2"))
    above, mesh = (stage.GetPrimAtPath(f"/robot/arm/stone{rest}") for rest in ("", "/mesh"))
    assert above.IsInstance()
    assert {"PhysicsRigidBodyAPI", "PhysicsMassAPI"} <= set(above.GetAppliedSchemas())
    assert (mesh.GetAppliedSchemas(), above.GetAttribute("physics:mass").Get()) == (["PhysicsCollisionAPI"], 2)
