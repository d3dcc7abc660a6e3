# SPDX-License-Identifier: GPL-3.0-or-later
"""An imported scene goes back as its source with the edits: nothing else of the composed stage may differ."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assets
import bmesh
import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import import_notes
from usdphys_ext.usdphys_addon.core.errors import InputError, OutputError
from usdphys_ext.usdphys_addon.exchange import scene_export, source_export, usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

from .test_import import FILES, share_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import compare_composed  # noqa: E402

from pxr import Ar, Sdf, Usd, UsdGeom, UsdShade  # noqa: E402  isort: skip

pytestmark = pytest.mark.slow

#: Files in metres and centimetres, of Newton, PhysX, OpenUSD and of converters, with gprims, meshes and references.
EDITED = [assets.file(*names) for names in (
    ("usd/ant.usda", "usd/walker.usda"), ("usd/cartpole_mjc.usda", "usd/cart.usda"),
    ("usd/usdPhysicsBoxOnQuad.usda", "usd/box_on_quad.usda"),
    ("usd/simple_articulation_with_mesh.usda", "usd/mesh_arm.usda"),
    ("urdf/meshes/reference_usd/meshes.usda", "urdf/arm_of_meshes/reference_usd/arm_of_meshes.usda"),
    ("urdf/07-physics/reference_usd/physics.usda", "urdf/arm/reference_usd/arm.usda"),
)]  # fmt: skip
FORMS = ("copy", "layer", "flat")


def load(path: Path) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    bpy.context.view_layer.update()


def write(target: Path, form: str = "auto", **options: Any) -> Any:
    bpy.context.view_layer.update()
    return formats.USD.write(str(target), formats.WriteOptions(form=form, **options))


def differences(source: Path, target: Path) -> list[str]:
    return list(compare_composed.differences(Usd.Stage.Open(str(source)), Usd.Stage.Open(str(target))))


def reopened(folder: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "saved.blend"))


# --------------------------------------------------------------------------- nothing was edited


@pytest.mark.parametrize("path", share_of([*FILES, *assets.case_files()]), ids=lambda path: path.name)
def test_without_edits_the_source_comes_back(shared, tmp_path, path):
    load(path)
    reopened(tmp_path)
    result = write(tmp_path / "out.usda")
    assert "ComposedByBlender" not in {issue.code for issue in result.issues}
    assert differences(path, tmp_path / "out.usda") == []
    write(tmp_path / "layer.usda", "layer")
    text = (tmp_path / "layer.usda").read_text()
    assert "over " not in text and "def " not in text


def test_schemas_without_a_meaning_on_their_prim_stay(tmp_path):
    """No object holds the approximation of what does not collide, or the limit of what is no joint."""
    applied = "PhysicsMeshCollisionAPI", "PhysicsLimitAPI:rotX", "PhysicsDriveAPI:linear", "PhysicsMaterialAPI"
    kinds = (("Mesh", ""), ("Xform", '"PhysicsMassAPI", '), ("Scope", ""), ("Cube", '"PhysicsRigidBodyAPI", '))
    prims = "".join(
        f'    def {kind} "{kind}{number}" (\n        prepend apiSchemas = [{more}"{schema}"]\n    )\n    {{\n    }}\n'
        for kind, more in kinds for number, schema in enumerate(applied)
    )  # fmt: skip
    source = tmp_path / "in.usda"
    head = '(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)'
    source.write_text(f'#usda 1.0\n{head}\ndef Xform "World"\n{{\n{prims}}}\n')
    load(source)
    reopened(tmp_path)
    write(tmp_path / "out.usda")
    assert differences(source, tmp_path / "out.usda") == []
    write(tmp_path / "layer.usda", "layer")
    assert "over " not in (tmp_path / "layer.usda").read_text()


def test_an_unedited_text_file_in_the_same_folder_is_copied_byte_by_byte(shared, tmp_path):
    source = tmp_path / "ant.usda"
    source.write_bytes(EDITED[0].read_bytes())
    load(source)
    write(tmp_path / "out.usda")
    assert (tmp_path / "out.usda").read_bytes() == source.read_bytes()


def test_an_empty_list_of_sublayers_which_text_does_not_hold_is_no_loss(tmp_path):
    layer = Sdf.Layer.CreateNew(str(tmp_path / "robot.usdc"))
    Sdf.CreatePrimInLayer(layer, "/Robot").typeName = "Xform"
    layer.subLayerPaths.append("other.usda")
    del layer.subLayerPaths[0]
    assert layer.pseudoRoot.ListInfoKeys() == ["subLayerOffsets"]
    layer.Save()
    load(tmp_path / "robot.usdc")
    write(tmp_path / "out.usda")
    assert differences(tmp_path / "robot.usdc", tmp_path / "out.usda") == []


def test_a_source_with_materials_of_materialx_goes_back(tmp_path):
    """USD cannot read a layer of MaterialX again that it has in memory."""
    (tmp_path / "look.mtlx").write_text(
        '<?xml version="1.0"?>\n<materialx version="1.38">\n'
        '  <standard_surface name="shader" type="surfaceshader"></standard_surface>\n'
        '  <surfacematerial name="plastic" type="material">\n'
        '    <input name="surfaceshader" type="surfaceshader" nodename="shader" />\n'
        "  </surfacematerial>\n</materialx>\n"
    )
    source = tmp_path / "look.usda"
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Xform "A"\n{\n    def Scope "Looks" (\n'
        "        references = @./look.mtlx@</MaterialX/Materials>\n    )\n    {\n    }\n}\n"
    )
    load(source)
    held = Usd.Stage.Open(str(source))
    reopened(tmp_path)
    (tmp_path / "else").mkdir()
    write(tmp_path / "else" / "out.usda")
    assert differences(source, tmp_path / "else" / "out.usda") == []
    assert held.GetPrimAtPath("/A/Looks/plastic")


def test_an_asset_of_layers_holds_the_runtime_variant_that_the_scene_was_imported_with(tmp_path):
    for name in ("plain", "variants", "layers"):
        (tmp_path / name).mkdir()
    plain, variants, layers = (tmp_path / name / "door.usda" for name in ("plain", "variants", "layers"))
    plain.write_text("""#usda 1.0
(
    defaultPrim = "Door"
)
def Xform "Door"
{
    def Cube "Leaf" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxRigidBodyAPI"])
    {
        float physxRigidBody:linearDamping = 0.5
    }
}
""")
    load(plain)
    write(variants, runtimes=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, variants, usd_import.ImportOptions(variants=("/Door{PhysX=Enabled}",)))
    write(layers, layers=True)
    chosen = Usd.Stage.Open(str(variants))
    chosen.SetEditTarget(chosen.GetSessionLayer())
    chosen.GetDefaultPrim().GetVariantSets().SetSelection("PhysX", "Enabled")
    assert chosen.GetAttributeAtPath("/Door/Leaf.physxRigidBody:linearDamping").Get() == 0.5
    assert list(compare_composed.differences(chosen, Usd.Stage.Open(str(layers)))) == []
    assert not list(layers.parent.rglob("runnables"))


# --------------------------------------------------------------------------- one edit of each kind


class NothingToEditError(Exception):
    """The file has nothing that can be edited in this way."""


def things(test: Callable[[Any], bool]) -> list[Any]:
    found = [obj for obj in bpy.context.scene.objects if test(obj)]
    if not found:
        raise NothingToEditError
    return found


def body() -> Any:
    return things(lambda obj: obj.usdphys.rigid_body.is_applied)[-1]


def path_of(thing: Any) -> str:
    return re.escape(thing.usdphys.prim.path)


def new_ball(name: str = "NewBall") -> Any:
    mesh = bpy.data.meshes.new(f"{name}Mesh")
    made = bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=1, radius=0.2)
    made.to_mesh(mesh)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def new_material(name: str = "NewLook") -> Any:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0, 1, 0, 1)
    return material


def edit_mass() -> str:
    one = body()
    one.usdphys.mass.is_applied = True
    one.usdphys.mass.mass = 7.5
    return f"{path_of(one)}(: schemas|\\.physics:mass)"


def edit_limit() -> str:
    joint = things(lambda obj: obj.usdphys.joint.is_applied and obj.usdphys.joint.type == "REVOLUTE")[0]
    joint.usdphys.joint.revolute.upper_limit = 0.5
    return f"{path_of(joint)}\\.physics:upperLimit"


def edit_add_collider() -> str:
    plain = things(lambda obj: obj.type == "MESH" and not len(obj.usdphys.colliders))[0]
    plain.usdphys.colliders.add().shape = "MESH"
    # A mesh collider of a gprim is the mesh that Blender shows.
    return f"{path_of(plain)}(: (type|schemas)|\\.(extent|normals|points|faceVertex.*|subdivisionScheme|primvars:.*):)"


def edit_remove_collider() -> str:
    collider = things(lambda obj: len(obj.usdphys.colliders))[0]
    collider.usdphys.colliders.clear()
    # What a vendor says of the collider goes with it.
    return f"{path_of(collider)}(: schemas|\\.physics:approximation|\\.physics:collisionEnabled|\\.mjc:.*)"


def edit_move() -> str:
    one = body()
    one.location.x += 0.25
    return f"({path_of(one)}\\.xformOp|.*\\.physics:local)"


def edit_turn() -> str:
    one = body()
    one.rotation_mode = "XYZ"
    one.rotation_euler.z += 0.5
    return f"({path_of(one)}\\.xformOp|.*\\.physics:local)"


def edit_add_object() -> str:
    new_ball().location = (1, 2, 3)
    return "/[^/]*(: children|/NewBall(/NewBallMesh)?: new)"


def edit_add_child() -> str:
    one, ball = body(), new_ball()
    ball.parent = one
    ball.usdphys.colliders.add()
    ball.data.materials.append(new_material())
    looks = r"/[^/]*/(Looks|Materials|Physics)(/NewLook(/.*)?)?: (new|children)"
    return f"({path_of(one)}(: children|/NewBall(/NewBallMesh)?: new)|{looks}|/[^/]*: children)"


def edit_add_joint() -> str:
    joint = bpy.data.objects.new("NewWeld", None)
    bpy.context.scene.collection.objects.link(joint)
    group = joint.usdphys.joint
    group.is_applied, group.body1 = True, body()
    return "/[^/]*(: children|/NewWeld: new)"


def edit_delete() -> str:
    leaf = things(lambda obj: obj.type == "MESH" and not obj.children and not obj.usdphys.rigid_body.is_applied)[0]
    path, parent = leaf.usdphys.prim.path, leaf.usdphys.prim.path.rpartition("/")[0]
    bpy.data.objects.remove(leaf)
    return f"({re.escape(path)}.*: (missing|active|children)|{re.escape(parent)}: children)"


def edit_rename() -> str:
    one = body()
    path, parent = one.usdphys.prim.path, one.usdphys.prim.path.rpartition("/")[0]
    one.name = "Renamed"
    moved = f"({re.escape(path)}|{re.escape(parent)}/Renamed).*: (missing|new|active|children)"
    return f"({moved}|{re.escape(parent)}: children|.*: targets .*{re.escape(path)}.*Renamed)"


def edit_mesh() -> str:
    one = things(lambda obj: obj.type == "MESH" and obj.usdphys.prim.type_name == "Mesh")[0]
    for vertex in one.data.vertices:
        vertex.co.x *= 2
    names = "points|extent|normals|primvars:normals"
    return f"{path_of(one)}\\.({names})"


def edit_material() -> str:
    one = things(lambda obj: obj.type == "MESH" and not len(obj.usdphys.colliders))[0]
    one.data.materials.clear()
    one.data.materials.append(new_material())
    looks = r"/[^/]*/(Looks|Materials|Physics)(/NewLook(/.*)?)?: (new|children)"
    return f"({path_of(one)}(: schemas|\\.material:binding)|{looks}|/[^/]*: children)"


def edit_material_value() -> str:
    used = {slot.material for obj in bpy.context.scene.objects for slot in obj.material_slots if slot.material}
    for material in sorted(used, key=lambda one: one.name):
        shader = material.node_tree.nodes.get("Principled BSDF") if material.node_tree else None
        if shader is not None and material.usdphys.prim.path:
            shader.inputs["Roughness"].default_value = 0.125
            return f"{path_of(material)}.*inputs:roughness"
    raise NothingToEditError


EDITS = [value for name, value in sorted(globals().items()) if name.startswith("edit_")]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_one_edit_is_the_only_difference(shared, tmp_path, edit):
    done, enough = 0, len(share_of(EDITED))
    for path in EDITED:
        if done == enough:
            break
        load(path)
        try:
            expected = edit()
        except NothingToEditError:
            continue
        done += 1
        for form in FORMS:
            target = tmp_path / f"{form}.usda"
            result = write(target, form)
            codes = {issue.code for issue in result.issues}
            assert "ComposedByBlender" not in codes
            # What instances share is a prim of its own in a flat file.
            found = [line for line in differences(path, target) if not line.startswith("/Flattened_Prototype_")]
            assert found and not [line for line in found if not re.match(expected, line)], (path.name, form)
        if edit in (edit_turn, edit_add_object, edit_mesh, edit_material_value):
            write(tmp_path / "physics.usda", "layer", physics_only=True)
            only = differences(path, tmp_path / "physics.usda")
            assert all("physics:" in line for line in only), "only physics is in a layer of the physics"
    assert done >= 2, "the edit was tried on two files at least"


# --------------------------------------------------------------------------- values of the edits

ROBOT = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "World"
{
    def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        custom string note = "keep"
        double3 xformOp:translate = (0, 100, 50)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        rel friend = </World/Base>
        def Cube "Hand" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 20
        }
    }
    def Cube "Base" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 50
    }
    def PhysicsFixedJoint "Weld"
    {
        rel physics:body0 = </World/Base>
        rel physics:body1 = </World/Arm>
        point3f physics:localPos0 = (0, 100, 50)
    }
}
"""


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "robot.usda"
    path.write_text(ROBOT)
    load(path)
    return path


def world_of(stage: Usd.Stage, path: str) -> list[float]:
    matrix = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path))
    return [round(part, 4) for part in matrix.ExtractTranslation()]


@pytest.mark.parametrize("form", FORMS)
def test_places_in_centimetres_and_y_up(tmp_path, robot, form):
    """A metre in Blender's Z is 100 units in Y."""
    ball, top = new_ball("Ball"), new_ball("Top")
    ball.location = (0, 0, 2)
    top.parent = bpy.data.objects["Arm"]
    bpy.data.objects["Arm"].location.x += 100  # in the space of World, which is scaled to metres
    top.location = (0, 0, 10)
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert world_of(stage, "/World/Ball") == [0, 200, 0]
    assert world_of(stage, "/World/Arm") == [100, 100, 50]
    assert world_of(stage, "/World/Arm/Top") == [100, 100, 60]
    bounds = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"])
    size = bounds.ComputeWorldBound(stage.GetPrimAtPath("/World/Ball")).ComputeAlignedRange().GetSize()
    assert 38 < max(size) < 41, "a ball of 0.2 m radius"


@pytest.mark.parametrize("form", FORMS)
def test_a_renamed_body_takes_all_of_its_prim_along(tmp_path, robot, form):
    bpy.data.objects["Arm"].name = "Lever"
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    lever = stage.GetPrimAtPath("/World/Lever")
    assert lever.GetAttribute("note").Get() == "keep"
    assert [str(path) for path in lever.GetRelationship("friend").GetTargets()] == ["/World/Base"]
    assert stage.GetPrimAtPath("/World/Lever/Hand").GetAttribute("size").Get() == 20
    assert not stage.GetPrimAtPath("/World/Arm") or not stage.GetPrimAtPath("/World/Arm").IsActive()
    model = usd_read.read_stage(stage)
    assert set(model.bodies) == {"/World/Lever"}
    (weld,) = model.joints.values()
    assert weld.schemas["PhysicsFixedJoint"].body1 == ("/World/Lever",)


def test_a_new_parent_keeps_the_place(tmp_path, robot):
    hand, base = bpy.data.objects["Hand"], bpy.data.objects["Base"]
    place = hand.matrix_world.copy()
    hand.parent = base
    hand.matrix_world = place
    before = world_of(Usd.Stage.Open(str(robot)), "/World/Arm/Hand")
    for form in FORMS:
        write(tmp_path / "out.usda", form)
        stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
        assert world_of(stage, "/World/Base/Hand") == before
        assert stage.GetPrimAtPath("/World/Base/Hand").GetTypeName() == "Cube"


def test_a_deleted_parent_leaves_its_children(tmp_path, robot):
    hand = bpy.data.objects["Hand"]
    place = hand.matrix_world.copy()
    bpy.data.objects.remove(bpy.data.objects["Arm"])
    hand.matrix_world = place
    for form in FORMS:
        write(tmp_path / "out.usda", form)
        stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
        assert world_of(stage, "/World/Hand") == [0, 100, 50]
        assert not stage.GetPrimAtPath("/World/Arm") or not stage.GetPrimAtPath("/World/Arm").IsActive()


def test_a_copy_of_an_object_is_new_and_the_original_stays(tmp_path, robot):
    base = bpy.data.objects["Base"]
    copy = base.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.parent, copy.location.x = base.parent, 300
    write(tmp_path / "out.usda")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert world_of(stage, "/World/Base") == [0, 0, 0]
    assert world_of(stage, "/World/Base_001") == [300, 0, 0]
    assert "/World/Base_001" in {path.rpartition("/")[0] if "Base_001/" in path else path
                                 for path in usd_read.read_stage(stage).colliders}  # fmt: skip


def test_a_hidden_object_keeps_what_the_source_says(tmp_path, robot):
    for name in ("Hand", "Weld", "Arm"):
        bpy.data.objects[name].hide_viewport = True
    write(tmp_path / "out.usda")
    assert differences(robot, tmp_path / "out.usda") == []


def test_a_new_material_of_a_new_object_is_bound_where_the_file_is_referenced(tmp_path, robot):
    new_ball().data.materials.append(new_material())
    write(tmp_path / "out.usda")
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/Cell/Robot").GetReferences().AddReference(str(tmp_path / "out.usda"))
    ball = stage.GetPrimAtPath("/Cell/Robot/NewBall/NewBallMesh")
    material, _ = UsdShade.MaterialBindingAPI(ball).ComputeBoundMaterial()
    shader = material.ComputeSurfaceSource()[0]
    assert tuple(shader.GetInput("diffuseColor").Get()) == (0, 1, 0)


# --------------------------------------------------------------------------- forms, and what they refuse


def test_other_units_are_those_of_the_source_with_the_edits_converted(tmp_path, robot):
    """What Blender does not know comes along; only a layer cannot have other units."""
    robot.write_text(
        ROBOT
        + """
def RenderSettings "Settings"
{
    int2 resolution = (640, 480)
}
"""
    )
    load(robot)
    bpy.data.objects["Arm"].usdphys.mass.mass = 7.0
    bpy.data.objects["Arm"].usdphys.mass.is_applied = True
    before = usd_read.read_stage(Usd.Stage.Open(str(robot)))
    result = write(tmp_path / "out.usda", meters_per_unit=1.0, up_axis="Z")
    assert "ComposedByBlender" not in {issue.code for issue in result.issues}
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    after = usd_read.read_stage(stage)
    assert (UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.GetStageUpAxis(stage)) == (1.0, "Z")
    assert tuple(stage.GetPrimAtPath("/Settings").GetAttribute("resolution").Get()) == (640, 480)
    assert after.prims["/World/Arm"].schemas["PhysicsMassAPI"].mass == pytest.approx(7.0)
    for path, prim in before.bodies.items():
        assert np.allclose(after.bodies[path].world[:3, 3], prim.world[:3, 3], atol=1e-6), path
    with pytest.raises(InputError, match="has the units and the up axis of that file"):
        write(tmp_path / "none.usda", "layer", meters_per_unit=1.0)
    assert not (tmp_path / "none.usda").exists()


@pytest.mark.parametrize("form", ["auto", "copy", "flat"])
def test_what_other_units_make_flat_is_named(tmp_path, form):
    """Only where there is something to lose, and nobody has asked for a flat file."""
    (tmp_path / "arm.usda").write_text(ROBOT)
    refers = tmp_path / "refers.usda"
    refers.write_text(
        '#usda 1.0\n(metersPerUnit = 0.01\nupAxis = "Y")\ndef "World" (references = @./arm.usda@</World>) {}\n'
    )
    load(refers)
    codes = {issue.code for issue in write(tmp_path / "out.usda", form, meters_per_unit=1.0).issues}
    assert ("WrittenFlat" in codes) == (form != "flat")
    codes = {issue.code for issue in write(tmp_path / "same.usda", form).issues}
    assert "WrittenFlat" not in codes
    load(tmp_path / "arm.usda")
    codes = {issue.code for issue in write(tmp_path / "alone.usda", form, meters_per_unit=1.0).issues}
    assert "WrittenFlat" not in codes


def test_an_option_that_changes_the_whole_has_blender_compose_it_and_says_so(tmp_path, robot):
    for options, fix in (
        ({"hierarchy": "flat"}, "Choose the nested hierarchy"),
    ):  # fmt: skip
        result = write(tmp_path / "out.usda", **options)
        (issue,) = [issue for issue in result.issues if issue.code == "ComposedByBlender"]
        assert issue.severity == "warning" and issue.fix.startswith(fix)
        with pytest.raises(InputError, match="choose As Blender Composes"):
            write(tmp_path / "none.usda", "layer", **options)
    assert not (tmp_path / "none.usda").exists()


def test_the_source_is_never_the_target(tmp_path, robot):
    with pytest.raises(OutputError, match="input itself"):
        write(robot)
    assert robot.read_text() == ROBOT


def test_two_imports_in_one_scene_have_no_single_source(tmp_path, robot):
    other = tmp_path / "other.usda"
    other.write_text(ROBOT)
    usd_import.import_usd(bpy.context, other, usd_import.ImportOptions())
    result = write(tmp_path / "out.usda")
    (issue,) = [issue for issue in result.issues if issue.code == "ComposedByBlender"]
    assert "robot.usda" in issue.message
    assert issue.fix.startswith("Import the file again")


def test_a_scene_without_a_source_has_no_layer(tmp_path):
    for form in FORMS:
        with pytest.raises(InputError, match="not imported"):
            write(tmp_path / "out.usda", form)


def test_errors_of_the_source_are_no_reason_to_refuse(tmp_path, robot):
    text = ROBOT.replace("rel physics:body1 = </World/Arm>", "rel physics:body1 = </World/Gone>")
    robot.write_text(text)
    load(robot)
    result = write(tmp_path / "out.usda", strict=True)
    assert not result.errors
    assert any("when it was imported" in issue.message for issue in result.issues)


def test_a_layer_repeats_no_note_of_its_source_but_for_what_it_edits(tmp_path, robot):
    robot.write_text(ROBOT.replace("rel physics:body1 = </World/Arm>", "rel physics:body1 = </World/Gone>"))
    load(robot)
    weld = {issue.code for issue in write(tmp_path / "copy.usda").issues if issue.path == "/World/Weld"}
    assert weld
    layer = write(tmp_path / "layer.usda", "layer")
    assert not {issue.code for issue in layer.issues if issue.path == "/World/Weld"}
    bpy.data.objects["Weld"].usdphys.joint.break_force = 5.0
    layer = write(tmp_path / "layer.usda", "layer")
    assert weld == {issue.code for issue in layer.issues if issue.path == "/World/Weld"}


def test_a_package_is_written_with_what_it_refers_to(shared, tmp_path):
    source = assets.file("urdf/07-physics/reference_usd/physics.usda",
                         "urdf/arm_of_meshes/reference_usd/arm_of_meshes.usda")  # fmt: skip
    load(source)
    bpy.context.scene.objects[0].name = "Renamed"
    write(tmp_path / "out.usdz")
    stage = Usd.Stage.Open(str(tmp_path / "out.usdz"))
    whole = Usd.Stage.Open(str(source))
    meshes = [sum(prim.IsA(UsdGeom.Mesh) for prim in one.Traverse()) for one in (stage, whole)]
    assert meshes[0] == meshes[1] > 0


def test_what_an_export_needs_survives_an_undo(tmp_path, robot):
    assert source_export.source_of(bpy.context.scene) == robot
    assert scene_export.export_scene is not None
    arm = bpy.data.objects["Arm"]
    arm.location.x += 10
    arm.location.x -= 10
    write(tmp_path / "out.usda")
    assert differences(robot, tmp_path / "out.usda") == []


def test_the_errors_that_a_source_has_are_known_by_object(tmp_path, robot):
    robot.write_text(ROBOT.replace("rel physics:body1 = </World/Arm>", "rel physics:body1 = </World/Gone>"))
    load(robot)
    found = source_export.errors_of_source(bpy.context.scene)
    assert found and {name for _, name in found} == {"Weld"}


# --------------------------------------------------------------------------- what is no edit

CELL = """#usda 1.0
(
    defaultPrim = "Cell"
    metersPerUnit = 1
    upAxis = "Z"
    startFrame = 1
)
def Xform "Cell"
{
    def PhysicsScene "Scene"
    {
    }
    def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI"])
    {
        rel physics:filteredPairs = </Cell/Base>
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "Skin" (prepend apiSchemas = ["MaterialBindingAPI"])
        {
            point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
            int[] faceVertexCounts = [4]
            int[] faceVertexIndices = [0, 1, 2, 3]
            texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "faceVarying")
            rel material:binding = </Cell/Looks/Paper>
        }
    }
    def Cube "Base" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        double size = 1
        rel material:binding:physics = </Cell/Looks/Cloth>
    }
    def PhysicsFixedJoint "Weld"
    {
        rel physics:body0 = </Cell/Base>
        rel physics:body1 = </Cell/Arm>
        point3f physics:localPos0 = (0, 0, 1)
    }
    def PhysicsCollisionGroup "Group"
    {
        rel collection:colliders:includes = [</Cell/Base>, </Cell/Arm>]
        rel physics:filteredGroups = </Elsewhere/Group>
    }
    def BasisCurves "Cable"
    {
        uniform token type = "linear"
        int[] curveVertexCounts = [3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 1)]
        float[] widths = [0.1, 0.1, 0.1] (interpolation = "vertex")
    }
    def Scope "Looks"
    {
        def Material "Cloth"
        {
            float physics:density = 1200
        }
        def Material "Paper"
        {
            float inputs:roughness = 0.8
            token outputs:surface.connect = </Cell/Looks/Paper/Shader.outputs:surface>
            def Shader "Shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor.connect = </Cell/Looks/Paper/Texture.outputs:rgb>
                float inputs:metallic = 0.25
                float inputs:roughness.connect = </Cell/Looks/Paper.inputs:roughness>
                token outputs:surface
            }
            def Shader "Texture"
            {
                uniform token info:id = "UsdUVTexture"
                asset inputs:file = @./paper.png@
                float3 outputs:rgb
            }
        }
    }
}
"""


@pytest.fixture
def cell(tmp_path):
    path = tmp_path / "cell.usda"
    path.write_text(CELL)
    image = bpy.data.images.new("paper", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "paper.png"), "PNG"
    image.save()
    load(path)
    return path


def edits_in(source: Path, folder: Path) -> list[str]:
    """The differences of a layer of edits; those of a copy and of a flat file are the same where no prim is gone."""
    found = []
    for form in FORMS:
        write(folder / f"{form}.usda", form)
        found.append(differences(source, folder / f"{form}.usda"))
    assert found[0] == found[1] == found[2]
    return found[1]


def test_saving_the_blend_elsewhere_is_no_edit_of_a_texture(tmp_path, cell):
    (tmp_path / "blends").mkdir()
    reopened(tmp_path / "blends")
    assert edits_in(cell, tmp_path) == []


def test_targets_and_densities_that_the_scene_cannot_hold_stay(tmp_path, cell):
    """A filtered group that is nowhere, a material for physics without a physics schema, an old start frame."""
    assert edits_in(cell, tmp_path) == []


def test_entering_and_leaving_edit_mode_is_no_edit(tmp_path, cell):
    for name in ("Skin", "Base"):
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
    assert edits_in(cell, tmp_path) == []


@pytest.mark.parametrize("hide", ["object", "view layer", "collection"])
def test_hiding_a_body_leaves_its_joint_group_and_pairs_alone(tmp_path, cell, hide):
    base = bpy.data.objects["Base"]
    if hide == "object":
        base.hide_viewport = True
    elif hide == "view layer":
        base.hide_set(True)
    else:
        collection = bpy.data.collections.new("Hidden")
        bpy.context.scene.collection.children.link(collection)
        for other in base.users_collection:
            other.objects.unlink(base)
        collection.objects.link(base)
        bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    assert edits_in(cell, tmp_path) == []
    bpy.data.objects["Weld"].location.z += 1
    write(tmp_path / "out.usda", strict=True)
    weld = usd_read.read_stage(Usd.Stage.Open(str(tmp_path / "out.usda"))).joints["/Cell/Weld"]
    joint = weld.schemas["PhysicsFixedJoint"]
    assert (joint.body0, joint.local_pos0) == (("/Cell/Base",), pytest.approx((0, 0, 2)))


def test_a_body_cleared_while_hidden_is_cleared(tmp_path, cell):
    bpy.data.objects["Base"].hide_set(True)
    bpy.data.objects["Weld"].usdphys.joint.body0 = None
    for form in FORMS:
        write(tmp_path / "out.usda", form)
        weld = usd_read.read_stage(Usd.Stage.Open(str(tmp_path / "out.usda"))).joints["/Cell/Weld"]
        assert not weld.schemas["PhysicsFixedJoint"].body0


def test_a_smoothing_modifier_keeps_the_faces_and_texture_coordinates(tmp_path, cell):
    bpy.data.objects["Skin"].modifiers.new("Smooth", "SUBSURF")
    assert [line for line in edits_in(cell, tmp_path) if "extent" not in line] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_source_that_changed_since_the_import_takes_no_edits(tmp_path, cell, form):
    cell.write_text(CELL.replace("(0, 0, 1)", "(0, 0, 2)"))
    with pytest.raises(InputError, match="has changed since"):
        write(tmp_path / "out.usda", form)
    assert not (tmp_path / "out.usda").exists()
    (issue,) = [issue for issue in write(tmp_path / "out.usda").issues if issue.code == "ComposedByBlender"]
    assert "cell.usda" in issue.message


def test_a_changed_sublayer_is_a_changed_source(tmp_path, cell):
    whole = tmp_path / "whole.usda"
    whole.write_text('#usda 1.0\n(\n    defaultPrim = "Cell"\n    subLayers = [@./cell.usda@]\n)\n')
    load(whole)
    assert write(tmp_path / "out.usda", "copy")
    cell.write_text(CELL.replace("(0, 0, 1)", "(0, 0, 2)"))
    with pytest.raises(InputError, match=r"'cell\.usda'"):
        write(tmp_path / "out.usda", "copy")


def test_one_value_of_a_material_changes_no_other(tmp_path, cell):
    """The source has a roughness in the interface of the material, which Blender does not read."""
    shader = bpy.data.materials["Paper"].node_tree.nodes["Principled BSDF"]
    shader.inputs["Metallic"].default_value = 0.75
    assert edits_in(cell, tmp_path) == ["/Cell/Looks/Paper/Shader.inputs:metallic: 0.25 != 0.75"]


@pytest.mark.parametrize("form", FORMS)
def test_an_emission_that_is_switched_off_and_a_value_that_the_source_animates_are_written(tmp_path, form):
    """Blender's exporter leaves out an emission of strength 0, and beside samples a default is never read."""
    path = tmp_path / "lamp.usda"
    path.write_text("""#usda 1.0
(
    defaultPrim = "Lamp"
)
def Xform "Lamp"
{
    def Cube "Bulb" (
        prepend apiSchemas = ["MaterialBindingAPI", "PhysicsCollisionAPI"]
    )
    {
        rel material:binding = </Lamp/Glow>
    }
    def Material "Glow"
    {
        token outputs:surface.connect = </Lamp/Glow/Shader.outputs:surface>
        def Shader "Shader"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:emissiveColor = (1, 0.5, 0.25)
            float inputs:roughness.timeSamples = {0: 0.125, 10: 0.875}
            token outputs:surface
        }
    }
}
""")
    load(path)
    inputs = bpy.data.materials["Glow"].node_tree.nodes["Principled BSDF"].inputs
    inputs["Emission Strength"].default_value, inputs["Roughness"].default_value = 0.0, 0.25
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    shader = UsdShade.Shader(stage.GetPrimAtPath("/Lamp/Glow/Shader"))
    assert tuple(shader.GetInput("emissiveColor").Get(5.0)) == (0.0, 0.0, 0.0)
    assert shader.GetInput("roughness").Get(5.0) == 0.25


def test_points_of_a_curve_that_cannot_be_written_are_reported(tmp_path, cell):
    curve = bpy.data.objects["Cable"].data
    points = curve.points if hasattr(curve, "points") else curve.splines[0].points
    name = "position" if hasattr(curve, "points") else "co"
    setattr(points[0], name, [5.0] * len(getattr(points[0], name)))
    for form in FORMS:
        issues = write(tmp_path / "out.usda", form).issues
        assert [issue.path for issue in issues if issue.code == "DataEditLeftOut"] == ["/Cell/Cable"]


def test_points_that_the_source_animates_stay_animated(tmp_path):
    path = tmp_path / "flag.usda"
    path.write_text("""#usda 1.0
def Mesh "Flag"
{
    point3f[] points.timeSamples = {
        1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        9: [(0, 0, 0), (1, 0, 0), (0, 2, 0)],
    }
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
}
""")
    load(path)
    bpy.data.objects["Flag"].data.vertices[0].co.z = 1
    assert edits_in(path, tmp_path) == []
    assert "DataEditLeftOut" in {issue.code for issue in write(tmp_path / "out.usda").issues}


# --------------------------------------------------------------------------- several scenes in one .blend


def same_from(scene: Any, source: Path, folder: Path) -> list[str]:
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        return edits_in(source, folder)


def test_two_scenes_with_two_sources_do_not_mix(tmp_path, cell):
    """Both files have materials at the same paths."""
    first, other = bpy.context.scene, tmp_path / "other.usda"
    other.write_text(CELL.replace("1200", "300").replace("metallic = 0.25", "metallic = 0.5"))
    second = bpy.data.scenes.new("Second")
    with bpy.context.temp_override(scene=second, view_layer=second.view_layers[0]):
        usd_import.import_usd(bpy.context, other, usd_import.ImportOptions())
    assert same_from(first, cell, tmp_path) == same_from(second, other, tmp_path) == []
    (slot,) = next(obj for obj in second.objects if obj.name.startswith("Skin")).material_slots
    slot.material.node_tree.nodes["Principled BSDF"].inputs["Metallic"].default_value = 0.75
    assert same_from(first, cell, tmp_path) == []
    assert same_from(second, other, tmp_path) == ["/Cell/Looks/Paper/Shader.inputs:metallic: 0.5 != 0.75"]


def test_a_scene_appended_beside_the_same_names_is_not_renamed(tmp_path, cell):
    other = tmp_path / "other.usda"
    other.write_text(CELL)
    load(other)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    load(cell)
    with bpy.data.libraries.load(str(tmp_path / "other.blend")) as (inside, wanted):
        wanted.scenes = inside.scenes
    assert same_from(wanted.scenes[0], other, tmp_path) == same_from(bpy.context.scene, cell, tmp_path) == []


def test_a_full_copy_of_a_scene_has_the_edits_only(tmp_path, cell):
    bpy.ops.scene.new(type="FULL_COPY")
    assert edits_in(cell, tmp_path) == []
    bpy.data.objects["Arm.001"].name = "Arm.007x"
    write(tmp_path / "out.usda")
    assert Usd.Stage.Open(str(tmp_path / "out.usda")).GetPrimAtPath("/Cell/Arm_007x")


@pytest.mark.parametrize("form", FORMS)
def test_a_gprim_collider_that_becomes_a_mesh_collider_keeps_its_geometry(tmp_path, cell, form):
    bpy.data.objects["Base"].usdphys.colliders[0].shape = "MESH"
    write(tmp_path / "out.usda", form)
    model = usd_read.read_stage(Usd.Stage.Open(str(tmp_path / "out.usda")))
    base = model.colliders["/Cell/Base"]
    points = base.mesh().points
    assert base.type_name == "Mesh"
    assert (points.min(0).tolist(), points.max(0).tolist()) == ([-0.5] * 3, [0.5] * 3)


def test_numbers_of_vendors_follow_the_units_and_others_are_named(tmp_path, robot):
    robot.write_text(ROBOT.replace(
        "double size = 50", "double size = 50\n        float physxCollision:contactOffset = 2"
    ))  # fmt: skip
    load(robot)
    codes = [issue.code for issue in write(tmp_path / "same.usda", "composed").issues]
    assert "VendorUnitsKept" not in codes
    result = write(tmp_path / "metres.usda", meters_per_unit=1.0)
    assert "VendorUnitsKept" not in {issue.code for issue in result.issues}
    stage = Usd.Stage.Open(str(tmp_path / "metres.usda"))
    offsets = [prim.GetAttribute("physxCollision:contactOffset").Get() for prim in stage.Traverse()]
    assert [offset for offset in offsets if offset is not None] == [pytest.approx(0.02)]
    robot.write_text(ROBOT.replace("double size = 50", "double size = 50\n        float acme:reach = 2"))
    load(robot)
    (issue,) = [issue for issue in write(tmp_path / "others.usda", meters_per_unit=1.0).issues
                if issue.code == "VendorUnitsKept"]  # fmt: skip
    assert "acme:reach" in issue.message and issue.path.endswith("Base")


@pytest.mark.parametrize("form", [*FORMS, "composed"])
def test_a_folder_that_takes_no_files_is_named(tmp_path, cell, form, monkeypatch):
    def refused(*_arguments: Any, **_options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    for name in ("mkstemp", "mkdtemp"):
        monkeypatch.setattr(f"tempfile.{name}", refused)
    with pytest.raises(OutputError, match=r"out\.usda.*Permission denied"):
        write(tmp_path / "out.usda", form)


def test_the_physics_alone_is_not_composed_and_says_so(tmp_path, cell):
    with pytest.raises(InputError, match="As Blender Composes writes the whole file"):
        write(tmp_path / "out.usda", "composed", physics_only=True)
    cell.unlink()
    with pytest.raises(InputError, match="gone"):
        write(tmp_path / "out.usda", physics_only=True)


@pytest.mark.parametrize("folder", [".", "scenes", "assets"])
def test_a_project_that_was_moved_finds_its_source(tmp_path, folder):
    """The .blend and the source are in one folder, or in two beside each other."""
    project = tmp_path / "project"
    (project / "assets").mkdir(parents=True)
    (project / "scenes").mkdir()
    source = project / "assets" / "cell.usda"
    source.write_text(CELL)
    load(source)
    bpy.ops.wm.save_as_mainfile(filepath=str(project / folder / "cell.blend"))
    project.rename(tmp_path / "moved")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / folder / "cell.blend"))
    assert edits_in(tmp_path / "moved" / "assets" / "cell.usda", tmp_path) == []
    (tmp_path / "moved" / "assets" / "cell.usda").write_text(CELL.replace("1200", "300"))
    with pytest.raises(InputError, match="gone"):
        write(tmp_path / "out.usda", "copy")


def test_what_is_edited_in_edit_mode_is_written_before_leaving_it(tmp_path, cell):
    skin = bpy.data.objects["Skin"]
    bpy.context.view_layer.objects.active = skin
    bpy.ops.object.mode_set(mode="EDIT")
    shape = bmesh.from_edit_mesh(skin.data)
    shape.verts.ensure_lookup_table()
    shape.verts[0].co.x = -2
    bmesh.update_edit_mesh(skin.data)
    for form in FORMS:
        write(tmp_path / "out.usda", form)
        stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Cell/Arm/Skin"))
        assert tuple(mesh.GetPointsAttr().Get()[0]) == (-2, 0, 0)


# --------------------------------------------------------------------------- the root, and parents that go


@pytest.mark.parametrize("form", FORMS)
def test_a_renamed_root_stays_the_default_prim(tmp_path, robot, form):
    bpy.data.objects["World"].name = "Machine"
    bpy.data.objects["Arm"].parent = None
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert str(stage.GetDefaultPrim().GetPath()) == "/Machine"
    assert stage.GetPrimAtPath("/Machine/Arm/Hand").GetTypeName() == "Cube"


@pytest.mark.parametrize("form", FORMS)
def test_a_deleted_root_takes_nothing_else_along(tmp_path, cell, form):
    """The objects stay where they are, with the joint, group, physics scene and materials."""
    bpy.data.objects.remove(bpy.data.objects["Cell"])
    bpy.context.view_layer.update()
    result = write(tmp_path / "out.usda", form)
    assert not result.errors
    assert differences(cell, tmp_path / "out.usda") == []


@pytest.mark.parametrize("form", FORMS)
def test_materials_below_a_deleted_object_stay_where_they_are_used(tmp_path, form):
    path = tmp_path / "nest.usda"
    path.write_text(CELL.replace('def Scope "Looks"', 'def Xform "Looks"'))
    load(path)
    bpy.data.objects.remove(bpy.data.objects["Looks"])
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    material, _ = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/Cell/Arm/Skin")).ComputeBoundMaterial()
    assert material.GetPath() == "/Cell/Looks/Paper"


@pytest.mark.parametrize("form", FORMS)
def test_an_object_whose_parent_was_cleared_is_where_blender_shows_it(tmp_path, robot, form):
    """Its own location is the same, but now in the world: metres, and Z up."""
    bpy.data.objects["Arm"].parent = None
    write(tmp_path / "out.usda", form)
    assert world_of(Usd.Stage.Open(str(tmp_path / "out.usda")), "/World/Arm") == pytest.approx(
        [0, 5000, -10000], abs=0.01
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_shape_key_deforms_the_mesh_that_is_written(tmp_path, cell, form):
    skin = bpy.data.objects["Skin"]
    skin.shape_key_add(name="Basis")
    key = skin.shape_key_add(name="Bent")
    key.data[0].co.z, key.value = 4, 0.5
    write(tmp_path / "out.usda", form)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert tuple(UsdGeom.Mesh(stage.GetPrimAtPath("/Cell/Arm/Skin")).GetPointsAttr().Get()[0]) == (0, 0, 2)


def test_a_name_that_the_source_has_is_reported(tmp_path, robot):
    bpy.data.objects["Base"].name = "Foot"
    bpy.data.objects["Arm"].name = "Base"
    issues = write(tmp_path / "out.usda").issues
    assert any(issue.code == "NameChanged" and issue.path == "/World/Base_1" for issue in issues)


def test_an_edit_of_a_hidden_object_is_reported(tmp_path, cell):
    skin = bpy.data.objects["Skin"]
    skin.hide_set(True)
    assert "NotExported" not in {issue.code for issue in write(tmp_path / "out.usda").issues}
    skin.location.x = 1
    for form in FORMS:
        issues = write(tmp_path / "out.usda", form).issues
        assert [issue.path for issue in issues if issue.code == "NotExported"] == ["/Cell/Arm/Skin"]


def test_one_object_is_compared_as_all_at_once_are(robot):
    objects = [bpy.data.objects[name] for name in ("World", "Arm", "Hand", "Base")]
    assert not any(import_notes.is_moved(obj) for obj in objects)
    for number, obj in enumerate(objects):
        obj.rotation_mode = ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX")[number]
        obj.matrix_parent_inverse = [[1, 2, 3, 4], [0, 1, 5, 6], [0, 0, 1, 7], [0, 0, 0, 1]]
    assert all(import_notes.is_moved(obj) for obj in objects)
    import_notes.note(objects, [], "robot.usda")
    assert not any(import_notes.is_moved(obj) for obj in objects)
    assert not any(edited.transform for edited in import_notes.edits_of(objects, {}))


# --------------------------------------------------------------------------- images


def painted(name: str, file: Path | None, color: tuple[float, ...]) -> Any:
    """A material with an image: a file, or packed into the .blend."""
    image = bpy.data.images.new(name, 4, 4)
    image.generated_color = color
    if file is None:
        image.pack()
    else:
        image.filepath_raw, image.file_format = str(file), "PNG"
        image.save()
        image = bpy.data.images.load(str(file))
    material = new_material(name)
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    shader = material.node_tree.nodes["Principled BSDF"]
    material.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    return material


def images_of(target: Path) -> dict[str, bytes]:
    """Content of the images that the shaders of a file read, by path of the material."""
    found, stage = {}, Usd.Stage.Open(str(target))
    for prim in stage.Traverse():
        asset = UsdShade.Shader(prim).GetInput("file") if prim.IsA(UsdShade.Shader) else None
        if asset and not prim.GetName().startswith("Texture"):
            resolved = asset.Get().resolvedPath
            assert resolved, asset.Get()
            content = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved)).GetBuffer()
            found[str(prim.GetPath().GetParentPath())] = bytes(content)
    return found


@pytest.mark.parametrize(("name", "form"), [
    ("out.usda", "copy"), ("out.usdc", "layer"), ("out.usda", "flat"), ("out.usdz", "copy"), ("out.usdz", "flat"),
])  # fmt: skip
def test_images_of_new_materials_come_with_the_file(tmp_path, cell, name, form):
    """An image of that name beside the target is another one, and stays."""
    (tmp_path / "files").mkdir()
    (tmp_path / "target" / "textures").mkdir(parents=True)
    (tmp_path / "target" / "textures" / "wood.png").write_bytes(b"of somebody else")
    ball, skin = new_ball(), bpy.data.objects["Skin"]
    ball.data.uv_layers.new()
    ball.data.materials.append(painted("wood", tmp_path / "files" / "wood.png", (1, 0, 0, 1)))
    skin.data.materials[0] = painted("packed", None, (0, 1, 0, 1))
    write(tmp_path / "target" / name, form)
    found = images_of(tmp_path / "target" / name)
    assert found["/Cell/Looks/wood"] == (tmp_path / "files" / "wood.png").read_bytes()
    assert found["/Cell/Looks/packed"].startswith(b"\x89PNG")
    assert (tmp_path / "target" / "textures" / "wood.png").read_bytes() == b"of somebody else"


def swap_image(folder: Path, color: tuple[float, ...]) -> Path:
    """Have the imported material show another image file of the same name. Returns it."""
    folder.mkdir(exist_ok=True)
    new = painted("other", folder / "paper.png", color).node_tree.nodes["Image Texture"].image
    shown = bpy.data.objects["Skin"].active_material
    (node,) = [node for node in shown.node_tree.nodes if getattr(node, "image", None) is not None]
    node.image = new
    return folder / "paper.png"


def test_another_image_of_the_same_name_is_an_edit(tmp_path, cell):
    file = swap_image(tmp_path / "new", (0, 1, 1, 1))
    (tmp_path / "target").mkdir()
    write(tmp_path / "target" / "out.usda", "copy")
    assert images_of(tmp_path / "target" / "out.usda")["/Cell/Looks/Paper"] == file.read_bytes()


@pytest.mark.parametrize("edit", ["copied", "painted in place", "lost", "noted by an older version", "packed"])
def test_a_moved_image_and_one_that_is_edited_in_place_are_no_edits(tmp_path, cell, edit):
    material = bpy.data.objects["Skin"].active_material
    (node,) = [node for node in material.node_tree.nodes if getattr(node, "image", None) is not None]
    file = Path(bpy.path.abspath(node.image.filepath))
    if edit == "copied":
        swap_image(tmp_path / "new", (0, 1, 1, 1)).write_bytes(file.read_bytes())
    elif edit == "painted in place":
        file.write_bytes(swap_image(tmp_path / "new", (0, 1, 1, 1)).read_bytes())
        node.image = bpy.data.images.load(str(file))
    elif edit == "lost":
        swap_image(tmp_path / "new", (0, 1, 1, 1)).unlink()
    elif edit == "packed":
        node.image.pack()
        file.unlink()
        node.image.filepath = "//other/paper.png"
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere.blend"))
    else:
        lines = material.usdphys.prim.noted.split("\n")
        material.usdphys.prim.noted = "\n".join(line for line in lines if not line.startswith("image "))
        swap_image(tmp_path / "new", (0, 1, 1, 1))
    assert edits_in(cell, tmp_path) == []


def test_a_flat_file_names_its_images_beside_it(tmp_path, cell):
    """So that both can be moved together."""
    write(tmp_path / "out.usda", "flat")
    assert "@./paper.png@" in (tmp_path / "out.usda").read_text()


# --------------------------------------------------------------------------- custom properties and data of meshes

DATA = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "World"
{
    custom string userProperties:owner = "me"
    custom double userProperties:length = 0.5
    custom float3 userProperties:size = (1, 2, 3)
    custom int vendor:count = 4
    custom token label = "abc"
    def Mesh "Part" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        custom bool userProperties:visible = 1
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.5)]
        texCoord2f[] primvars:Skin = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "faceVarying")
        int[] primvars:Skin:indices = [0, 1, 2, 0, 2, 3]
        float[] primvars:heat = [1, 2, 3, 4] (interpolation = "vertex")
        int64[] primvars:ids = [1, 2, 3, 4] (interpolation = "vertex")
        color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)] (interpolation = "vertex")
        normal3f[] primvars:normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
        uniform token subdivisionScheme = "none"
    }
}
"""


def part() -> Any:
    return bpy.data.objects["Part"]


def edit_world(name: str, value: Any) -> None:
    bpy.data.objects["World"][name] = value


def edit_uv() -> None:
    part().data.uv_layers["Skin"].uv[0].vector = (0.5, 0.5)


def make_flat() -> None:
    bpy.context.view_layer.objects.active = part()
    part().select_set(True)
    bpy.ops.object.shade_flat()


def set_heat() -> None:
    part().data.attributes["heat"].data[1].value = 7


def add_attribute() -> None:
    part().data.attributes.new("wet", "INT", "FACE").data[1].value = 3


def crease() -> None:
    part().data.attributes.new("crease_edge", "FLOAT", "EDGE").data[0].value = 1.0


def delete(owner: Callable[[], Any], name: str) -> None:
    del owner()[name]


#: Name of the edit: (the edit, properties below /World that differ).
SMALL_EDITS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "text": (lambda: edit_world("owner", "you"), {".userProperties:owner"}),
    "number": (lambda: edit_world("length", 0.75), {".userProperties:length"}),
    "vector": (lambda: edit_world("size", [1.0, 9.0, 3.0]), {".userProperties:size"}),
    "property of a vendor": (lambda: edit_world("vendor:count", 5), {".vendor:count"}),
    "token": (lambda: edit_world("label", "xyz"), {".label"}),
    "new property": (lambda: edit_world("fresh", 3), {".userProperties:fresh"}),
    "new property of a mesh": (lambda: part().__setitem__("mine", True), {"/Part.userProperties:mine"}),
    "property of mesh data": (lambda: part().data.__setitem__("visible", False), {"/Part.userProperties:visible"}),
    "deleted property": (lambda: delete(lambda: bpy.data.objects["World"], "label"), {".label"}),
    "flat shading": (make_flat, {"/Part.normals", "/Part.primvars:normals"}),
    "deleted map": (lambda: part().data.uv_layers.remove(part().data.uv_layers[0]), {"/Part.primvars:Skin"}),
    "heat": (set_heat, {"/Part.primvars:heat"}),
    "deleted heat": (
        lambda: part().data.attributes.remove(part().data.attributes["heat"]), {"/Part.primvars:heat"}),
    "new attribute": (add_attribute, {"/Part.primvars:wet"}),
    "crease": (crease, {f"/Part.crease{name}" for name in ("Indices", "Lengths", "Sharpnesses")}),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_EDITS)
def test_small_edits_of_data_are_written_and_nothing_else_is(tmp_path, name):
    edit, expected = SMALL_EDITS[name]
    source = tmp_path / "source.usda"
    source.write_text(DATA)
    load(source)
    edit()
    reopened(tmp_path)
    for form in FORMS:
        result = write(tmp_path / f"{form}.usda", form)
        assert not [issue for issue in result.issues if issue.severity != "info"]
        found = {line.split(": ")[0] for line in differences(source, tmp_path / f"{form}.usda")}
        assert found == {f"/World{one}" for one in expected}, form


BARE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Mesh "Part"
{
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SCHEME}
"""


@pytest.mark.parametrize("scheme", ["", "catmullClark", "none"])
def test_edited_faces_bring_neither_normals_nor_another_subdivision(tmp_path, scheme):
    """Blender writes both for every mesh, and its import takes neither from one without normals."""
    source = tmp_path / "source.usda"
    source.write_text(BARE.replace("SCHEME", f'    uniform token subdivisionScheme = "{scheme}"\n' if scheme else ""))
    load(source)
    part().data.flip_normals()
    write(tmp_path / "out.usda")
    found = {line.split(": ")[0] for line in differences(source, tmp_path / "out.usda")}
    assert found == {"/Part.faceVertexIndices", "/Part.extent"}
    # Those who shade it themselves, or subdivide it, get what they see.
    make_flat()
    write(tmp_path / "flat.usda")
    found = {line.split(": ")[0] for line in differences(source, tmp_path / "flat.usda")}
    assert "/Part.normals" in found
    load(source)
    part().modifiers.new("Subdivision", "SUBSURF")
    write(tmp_path / "smooth.usda")
    stage = Usd.Stage.Open(str(tmp_path / "smooth.usda"))
    assert UsdGeom.Mesh(stage.GetPrimAtPath("/Part")).GetSubdivisionSchemeAttr().Get() == "catmullClark"


def test_the_type_of_an_edited_custom_property_stays(tmp_path):
    source = tmp_path / "source.usda"
    source.write_text(DATA)
    load(source)
    edit_world("label", "xyz")
    edit_world("length", 0.1)
    write(tmp_path / "out.usda")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    world = stage.GetPrimAtPath("/World")
    assert (world.GetAttribute("label").GetTypeName(), world.GetAttribute("label").Get()) == ("token", "xyz")
    assert world.GetAttribute("userProperties:length").Get() == 0.1


def test_an_edited_map_of_indexed_coordinates_gives_each_corner_its_place(tmp_path):
    source = tmp_path / "source.usda"
    source.write_text(DATA)
    load(source)
    edit_uv()
    for form in FORMS:
        write(tmp_path / f"{form}.usda", form)
        stage = Usd.Stage.Open(str(tmp_path / f"{form}.usda"))
        skin = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/World/Part")).GetPrimvar("Skin")
        assert list(skin.ComputeFlattened()) == [(0.5, 0.5), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1)]


# --------------------------------------------------------------------------- words of simulators

SDF = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        def Mesh "Shell" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {
            uniform token physics:approximation = "sdf"
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        }
    }
}
"""


@pytest.mark.parametrize("form", [*FORMS, "composed"])
def test_an_approximation_of_a_simulator_is_shown_edited_and_written(tmp_path, form):
    source, target = tmp_path / "source.usda", tmp_path / "out.usda"
    source.write_text(SDF)
    load(source)
    reopened(tmp_path)
    item = bpy.data.objects["Shell"].usdphys.colliders[0]
    assert item.other_approximation == "sdf" and not item.is_property_set("approximation")

    def written() -> str:
        codes = {issue.code for issue in write(target, form).issues}
        assert "ColliderTriangleMeshDynamic" not in codes, "it is no triangle mesh"
        stage = Usd.Stage.Open(str(target))
        return stage.GetPrimAtPath("/World/Body/Shell").GetAttribute("physics:approximation").Get()

    assert written() == "sdf"
    item.other_approximation = "sphereFill"
    assert written() == "sphereFill"
    item.approximation = "convexHull"
    assert written() == "convexHull"


@pytest.mark.skipif(bpy.app.version >= (5, 2), reason="this Blender exports curves without splines")
def test_a_new_curve_without_points_is_named_and_blender_lives(tmp_path):
    source = tmp_path / "source.usda"
    source.write_text(SDF)
    load(source)
    curve = bpy.data.objects.new("Nothing", bpy.data.curves.new("Nothing", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    with pytest.raises(InputError, match="'Nothing', which has no points"):
        write(tmp_path / "out.usda")
    bpy.data.objects.remove(curve)
    write(tmp_path / "out.usda")
    assert differences(source, tmp_path / "out.usda") == []


@pytest.mark.parametrize("form", FORMS)
def test_what_resets_the_transform_stack_is_where_a_moved_parent_has_taken_it(tmp_path, form):
    source = tmp_path / "source.usda"
    source.write_text("""#usda 1.0
(
    defaultPrim = "Piv"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "Piv" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Xform "Reset" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (3, -9, 3)
        uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]
        def Sphere "Ball" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.2
        }
    }
}
""")
    load(source)
    bpy.data.objects["Piv"].location = (0, 2, 0)
    result = write(tmp_path / "out.usda", form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    ball = stage.GetPrimAtPath("/Piv/Reset/Ball")
    place = UsdGeom.XformCache().GetLocalToWorldTransform(ball).ExtractTranslation()
    assert tuple(place) == pytest.approx((3, -7, 3))
