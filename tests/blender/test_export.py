"""Scenes written to files, by our export and by Blender's own with the hook, and read back with pxr."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.core import frames
from usdphys_ext.usdphys_addon.core.errors import OutputError, ValidationFailedError
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import scene_export, source_export, usd_export, usd_hooks, usd_import
from usdphys_ext.usdphys_addon.usd import asset_layers, write

from . import scenes
from .scenes import applied, codes, export, native_export, prim_of, prims_of, targets, world_pose

pytestmark = pytest.mark.slow

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


@pytest.fixture
def hook():
    """Our hook, as the extension has it registered for the user's own exports."""
    was_registered = usd_hooks.is_registered(usd_hooks.USDPHYS_ExportHook)
    usd_hooks.register(usd_hooks.USDPHYS_ExportHook)
    assert usd_hooks.is_registered(usd_hooks.USDPHYS_ExportHook)
    yield
    if not was_registered:
        usd_hooks.unregister(usd_hooks.USDPHYS_ExportHook)


@pytest.fixture
def no_hook():
    was_registered = usd_hooks.is_registered(usd_hooks.USDPHYS_ExportHook)
    usd_hooks.unregister(usd_hooks.USDPHYS_ExportHook)
    yield
    if was_registered:
        usd_hooks.register(usd_hooks.USDPHYS_ExportHook)


def robot(parent: Any = None) -> None:
    """A base with an arm with a hand, joints, a floor, a group, materials."""
    base = scenes.solid("Base", location=(0, 0, 1), scale=(2, 2, 2), rotation_euler=(0, 0, 0.5), parent=parent)
    base.data.name = "BaseMesh"
    base.data.materials.append(scenes.physics_material("Steel", static_friction=0.5))
    scenes.assign(base.usdphys.mass, is_applied=True, mass=2)
    base.usdphys.colliders[0].approximation = "convexHull"
    base.usdphys.articulation_root.is_applied = True
    arm = scenes.make_body(scenes.add_box("Arm", parent=base, location=(2, 0, 0), rotation_euler=(0.5, 0, 0)))
    scenes.make_collider(arm, "SPHERE", radius=0.5, location=(0, 0, 0)).name = "Ball"
    arm.usdphys.physics_material = scenes.physics_material("Rubber", restitution=0.75)
    hand = scenes.solid("Hand", parent=arm, location=(0, 0, 1))
    shoulder = scenes.add_joint("Shoulder", "REVOLUTE", base, arm, location=(1, 0, 1))
    scenes.assign(shoulder.usdphys.joint.drives.angular, is_applied=True, stiffness=10)
    scenes.add_joint("Wrist", "FIXED", arm, hand, parent=arm, location=(0, 0, 0.5))
    floor = scenes.add_box("Floor", (5, 5, 0.1), hide_render=True)
    scenes.make_collider(floor)
    scenes.define_group("Machine", ("Machine",))
    scenes.join_group(base, "Machine")
    scenes.assign(floor.usdphys.filtered_pairs, is_applied=True).filtered_pairs.add().object = arm


def check_robot(stage: Usd.Stage) -> None:
    base, arm, hand, floor = (prim_of(stage, name) for name in ("Base", "Arm", "Hand", "Floor"))
    for prim in (base, arm, hand):
        assert prim.GetTypeName() == "Xform"
    assert applied(base) == ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI", "PhysicsMassAPI"]
    assert base.GetAttribute("physics:mass").Get() == 2
    assert applied(arm) == ["PhysicsRigidBodyAPI"]
    mesh = base.GetChild("BaseMesh")
    assert mesh.GetTypeName() == "Mesh"
    assert sorted(applied(mesh)) == ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
    assert mesh.GetAttribute("physics:approximation").Get() == "convexHull"
    ball = arm.GetChild("Ball")
    assert ball.GetTypeName() == "Sphere"
    assert applied(ball) == ["PhysicsCollisionAPI"]
    assert UsdGeom.Imageable(ball).ComputePurpose() == "guide"
    assert np.allclose(world_pose(ball)[:3, 3], world_pose(arm)[:3, 3], atol=1e-6)
    assert applied(arm.GetChild("Arm")) == []
    # The colliders of the floor and of the arm.
    assert UsdGeom.Imageable(floor.GetChild("Floor")).ComputePurpose() == "guide"
    assert UsdGeom.Imageable(mesh).ComputePurpose() == "default"
    assert targets(floor.GetChild("Floor"), "physics:filteredPairs") == [str(arm.GetPath())]
    check_joint(stage, "Shoulder", "PhysicsRevoluteJoint", base, arm)
    check_joint(stage, "Wrist", "PhysicsFixedJoint", arm, hand)
    shoulder = prim_of(stage, "Shoulder")
    assert applied(shoulder) == ["PhysicsDriveAPI:angular"]
    assert shoulder.GetAttribute("drive:angular:physics:stiffness").Get() == pytest.approx(10)
    (scene,) = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene)]
    assert scene.GetPath().GetParentPath() == stage.GetDefaultPrim().GetPath()
    (group,) = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.CollisionGroup)]
    assert targets(group, "physics:filteredGroups") == [str(group.GetPath())]
    query = UsdPhysics.CollisionGroup(group).GetCollidersCollectionAPI().ComputeMembershipQuery()
    assert query.IsPathIncluded(mesh.GetPath())
    assert query.IsPathIncluded(ball.GetPath())
    assert not query.IsPathIncluded(floor.GetChild("Floor").GetPath())
    assert bound(mesh).GetAttribute("physics:staticFriction").Get() == 0.5
    assert bound(ball).GetAttribute("physics:restitution").Get() == 0.75
    assert ball.GetRelationship("material:binding:physics").GetTargets()
    for prim in stage.Traverse():
        for relationship in prim.GetRelationships():
            for path in relationship.GetTargets():
                assert stage.GetPrimAtPath(path).IsValid(), (relationship.GetPath(), path)


def check_joint(stage: Usd.Stage, name: str, kind: str, body0: Any, body1: Any) -> None:
    prim = prim_of(stage, name)
    assert prim.GetTypeName() == kind
    assert not [item for item in prim.GetPropertyNames() if item.startswith("xformOp")]
    assert targets(prim, "physics:body0") == [str(body0.GetPath())]
    assert targets(prim, "physics:body1") == [str(body1.GetPath())]
    places = [
        world_pose(body) @ [*prim.GetAttribute(f"physics:localPos{side}").Get(), 1]
        for side, body in enumerate((body0, body1))
    ]
    assert np.allclose(*places, atol=1e-5)


def bound(prim: Usd.Prim) -> Usd.Prim:
    """The material that counts for physics."""
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    assert material.GetPrim().HasAPI(UsdPhysics.MaterialAPI)
    return material.GetPrim()


# --------------------------------------------------------------------------- our export


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_file_types(tmp_path, suffix):
    robot()
    stage, result = export(tmp_path / f"robot{suffix}")
    check_robot(stage)
    assert [issue for issue in result.issues if issue.severity == "error"] == []
    assert result.counts == {
        "scenes": 1, "bodies": 3, "colliders": 4, "joints": 2, "groups": 1, "materials": 2, "articulations": 1,
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == [f"robot{suffix}"]


def test_world_poses_are_those_of_blender(tmp_path):
    robot()
    stage, _ = export(tmp_path / "robot.usda")
    for name in ("Base", "Arm", "Hand", "Floor"):
        assert np.allclose(world_pose(prim_of(stage, name)), scenes.world_of(bpy.data.objects[name]), atol=1e-5)
    joint = prim_of(stage, "Shoulder")
    place = world_pose(prim_of(stage, "Base")) @ [*joint.GetAttribute("physics:localPos0").Get(), 1]
    assert np.allclose(place[:3], (1, 0, 1), atol=1e-5)


def painted() -> None:
    """A cube with an image that Blender would write into the folder `textures`."""
    cube = scenes.solid("cube", (1, 1, 1))
    image = bpy.data.images.new("wood", 8, 8)
    image.pack()
    cube.data.materials.append(scenes.painted_material("wood", image))
    bpy.context.view_layer.update()


def images_of(stage: Usd.Stage) -> list[Any]:
    shaders = [UsdShade.Shader(prim) for prim in stage.Traverse() if prim.IsA(UsdShade.Shader)]
    return [file.Get() for shader in shaders if (file := shader.GetInput("file"))]


def test_an_image_of_another_scene_in_the_same_folder_is_not_taken_for_that_of_this_one(tmp_path):
    painted()
    (tmp_path / "textures").mkdir()
    (tmp_path / "textures" / "wood.png").write_bytes(b"of another scene")
    for _ in range(2):
        stage, _ = export(tmp_path / "out.usda")
        (image,) = images_of(stage)
        assert image.path == "./textures/wood_1.png"
        assert (tmp_path / image.path).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "textures" / "wood.png").read_bytes() == b"of another scene"
    assert len(list((tmp_path / "textures").iterdir())) == 2


def test_an_image_that_another_process_writes_at_the_same_time_stays_its_own(tmp_path, monkeypatch):
    """As of two jobs of a batch, whose scenes have different images of one name."""
    painted()
    copyfile = shutil.copyfile

    def slow(source, scratch):
        copyfile(source, scratch)
        if Path(source).name == "wood.png" and not (other := tmp_path / "textures" / "wood.png").exists():
            other.write_bytes(b"of another scene")

    monkeypatch.setattr("shutil.copyfile", slow)
    stage, _ = export(tmp_path / "out.usda")
    (image,) = images_of(stage)
    assert image.path == "./textures/wood_1.png"
    assert (tmp_path / "textures" / "wood.png").read_bytes() == b"of another scene"
    assert len(list((tmp_path / "textures").iterdir())) == 2


@pytest.mark.parametrize("name", ["photo.png", "photo.jpg"])
def test_a_photo_with_bytes_behind_its_end_and_any_suffix_is_exported_as_it_is(tmp_path, name):
    """Phones and cameras write such files, and Blender reads them."""
    painted()
    settings = bpy.context.scene.render.image_settings
    settings.file_format = "JPEG"
    bpy.data.images["wood"].save_render(str(tmp_path / name), scene=bpy.context.scene)
    photo = (tmp_path / name).read_bytes() + b"trailer" * 20
    assert photo.startswith(b"\xff\xd8\xff")
    (tmp_path / name).write_bytes(photo)
    image = bpy.data.images.load(str(tmp_path / name))
    bpy.context.scene.objects["cube"].data.materials[0] = scenes.painted_material("photo", image)
    for suffix in (".usda", ".usdz", ".gltf"):
        folder = tmp_path / suffix
        folder.mkdir()
        formats.format_of(f"out{suffix}").write(str(folder / f"out{suffix}"), formats.WriteOptions())
        assert (folder / f"out{suffix}").is_file()
    assert [file.read_bytes() for file in (tmp_path / ".usda/textures").iterdir()] == [photo]


def test_images_that_stay_where_they_are_are_named_as_seen_from_the_file(tmp_path):
    painted()
    image = bpy.data.images["wood"]
    image.filepath_raw, image.file_format = str(tmp_path / "photos" / "wood.png"), "PNG"
    (tmp_path / "photos").mkdir()
    image.save()
    stage, _ = export(tmp_path / "out.usda", native={"export_textures_mode": "KEEP"})
    (found,) = images_of(stage)
    assert found.path == "./photos/wood.png"
    assert not (tmp_path / "textures").exists()


def test_a_full_disk_leaves_no_torn_image_beside_the_file(tmp_path, monkeypatch):
    """A later export would take it for whole."""
    painted()
    copyfile = shutil.copyfile

    def full(source, place):
        copyfile(source, place)
        place.write_bytes(place.read_bytes()[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OutputError, match="No space left"):
        export(tmp_path / "out.usda")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_nothing_that_is_not_set_is_authored(tmp_path):
    scenes.solid("Body")
    stage, _ = export(tmp_path / "body.usda")
    names = [name for prim in stage.Traverse() for name in prim.GetAuthoredPropertyNames() if "physics" in name]
    assert names == []


def test_errors_are_refused_only_by_a_strict_export(tmp_path):
    scenes.make_collider(scenes.add("Empty"), "MESH")
    file = tmp_path / "wrong.usda"
    with pytest.raises(ValidationFailedError, match="'Empty'"):
        export(file, strict=True)
    assert list(tmp_path.iterdir()) == []
    stage, result = export(file)
    assert [issue.code for issue in result.errors] == ["ColliderWithoutGeometry"]
    assert prim_of(stage, "Empty").IsValid()


def test_a_strict_operator_names_the_first_error_and_the_number(tmp_path):
    file = tmp_path / "broken.usda"
    for number in range(3):
        obj = scenes.solid(f"Body{number}", location=(3 * number, 0, 0))
        scenes.assign(obj.usdphys.mass, is_applied=True, mass=-1)
    with pytest.raises(RuntimeError, match=r"'Body0'.* has a negative mass.*\(2 more\)"):
        bpy.ops.usdphys.export_usd(filepath=str(file), strict=True)
    assert not file.exists()
    assert bpy.ops.usdphys.export_usd(filepath=str(file)) == {"FINISHED"}
    assert prim_of(Usd.Stage.Open(str(file)), "Body0").GetAttribute("physics:mass").Get() == -1


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="it is asked there what is mapped")
def test_a_file_that_is_split_into_layers_is_closed_before_it_is_removed(tmp_path, monkeypatch):
    """Windows removes no file that is open."""
    scenes.solid("Crate")
    held, unlink = [], Path.unlink

    def watched(path: Path, **more: Any) -> None:
        if path.suffix == ".usdc":
            held.append((path.name, path.exists() and str(path) in Path("/proc/self/maps").read_text()))
        unlink(path, **more)

    monkeypatch.setattr(Path, "unlink", watched)
    assert bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "asset.usda"), layers=True) == {"FINISHED"}
    assert ("whole.usdc", False) in held
    assert not [name for name, is_held in held if is_held]


def test_a_layered_asset_of_the_operator_holds_the_same_scene_and_its_own_layers_are_never_its_input(tmp_path):
    robot()
    plain, _ = export(tmp_path / "plain.usda")
    file = tmp_path / "robot.usda"
    for _ in range(2):
        assert bpy.ops.usdphys.export_usd(filepath=str(file), layers=True) == {"FINISHED"}
    layered = Usd.Stage.Open(str(file))
    assert [str(prim.GetPath()) for prim in layered.Traverse()] != []
    assert {str(prim.GetPath()) for prim in layered.Traverse()} == {str(prim.GetPath()) for prim in plain.Traverse()}
    assert {path.name for path in tmp_path.iterdir()} == {"plain.usda", "robot.usda", "Payload"}
    with pytest.raises(RuntimeError, match="is a package"):
        bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "robot.usdz"), layers=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.usdphys.import_usd(filepath=str(file))
    with pytest.raises(RuntimeError, match="is the input itself"):
        bpy.ops.usdphys.export_usd(filepath=str(file), layers=True)


def test_meshes_of_an_instanceable_asset_are_instances_with_their_colliders(tmp_path):
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    bpy.ops.mesh.primitive_monkey_add()
    body, scene = bpy.context.object, bpy.context.scene
    body.usdphys.rigid_body.is_applied = True
    body.usdphys.colliders.add().shape = "MESH"
    copy = body.copy()
    copy.location.x = 5.0
    scene.collection.objects.link(copy)
    file = tmp_path / "heads.usda"
    with pytest.raises(RuntimeError, match="switch the layers on"):
        bpy.ops.usdphys.export_usd(filepath=str(file), instanceable=True)
    assert bpy.ops.usdphys.export_usd(filepath=str(file), layers=True, instanceable=True) == {"FINISHED"}
    stage = Usd.Stage.Open(str(file))
    assert (len(stage.GetPrototypes()), sum(prim.IsInstance() for prim in stage.Traverse())) == (1, 2)
    model = usd_read.read_stage(stage)
    assert (len(model.bodies), len(model.colliders)) == (2, 2)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.usdphys.import_usd(filepath=str(file))
    assert sum(len(obj.usdphys.colliders) for obj in bpy.data.objects) == 2


MERGED = """#usda 1.0
(
    defaultPrim = "World"
)
def Xform "World"
{
    def Mesh "Wedge" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 3
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 0.8, 0), (0, 0, 0.6)]
        uniform token subdivisionScheme = "none"
    }
    def Xform "Cart" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (3, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "Hull" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI"])
        {
            float physics:density = 500
            uniform token physics:approximation = "convexHull"
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
            point3f[] points = [(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)]
            uniform token subdivisionScheme = "none"
        }
    }
    def PhysicsFixedJoint "Weld"
    {
        rel physics:body0 = </World/Wedge>
        rel physics:body1 = </World/Cart>
        point3f physics:localPos0 = (3, 0, 0)
    }
}
"""


def test_an_instanceable_asset_holds_what_is_shown(tmp_path):
    """Its colliders are below the prims that they were: of bodies and meshes that are one prim, too."""
    (tmp_path / "merged.usda").write_text(MERGED)
    bpy.ops.usdphys.import_usd(filepath=str(tmp_path / "merged.usda"))
    file = tmp_path / "out.usda"
    options = usd_export.ExportOptions(layers=True, instanceable=True)
    result = scene_export.export_scene(bpy.context, file, options)
    assert "FileDiffers" not in {issue.code for issue in result.issues}
    assert (result.counts["bodies"], result.counts["colliders"], result.counts["joints"]) == (2, 2, 1)
    stage = Usd.Stage.Open(str(file))
    assert applied(stage.GetPrimAtPath("/World/Wedge")) == ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    assert sorted(applied(stage.GetPrimAtPath("/World/Cart/Hull/mesh"))) == [
        "PhysicsCollisionAPI", "PhysicsMassAPI", "PhysicsMeshCollisionAPI",
    ]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), [
    ("physics:approximation", "boundingCube"), ("physics:density", 1.0), ("points", [(0, 0, 0), (9, 0, 0), (0, 1, 0)]),
])  # fmt: skip
def test_what_differs_in_the_prototype_of_an_instanceable_asset_is_named(tmp_path, monkeypatch, field, value):
    (tmp_path / "merged.usda").write_text(MERGED)
    bpy.ops.usdphys.import_usd(filepath=str(tmp_path / "merged.usda"))
    split = asset_layers.split

    def spoiled(whole, interface, **options):
        made = split(whole, interface, **options)
        layer = Sdf.Layer.FindOrOpen(str(next(interface.parent.rglob("*Library.usd*"))))
        spec = next(spec for name in layer.GetPrimAtPath("/Geometry").nameChildren.keys()
                    if (spec := layer.GetPropertyAtPath(f"/Geometry/{name}/mesh.{field}")) is not None)  # fmt: skip
        spec.default = value
        layer.Save()
        return made

    monkeypatch.setattr(asset_layers, "split", spoiled)
    options = usd_export.ExportOptions(layers=True, instanceable=True)
    result = scene_export.export_scene(bpy.context, tmp_path / "out.usda", options)
    assert "FileDiffers" in {issue.code for issue in result.issues}


def test_an_asset_in_which_no_mesh_can_be_an_instance_says_so(tmp_path):
    """A mesh with materials by face stays a mesh."""
    bpy.ops.mesh.primitive_monkey_add()
    mesh, file = bpy.context.object.data, tmp_path / "head.usda"
    for blocks in (False, True):
        for name in ("Skin", "Eyes") if blocks else ():
            mesh.materials.append(bpy.data.materials.new(name))
            mesh.polygons[0].material_index = len(mesh.materials) - 1
        options = usd_export.ExportOptions(layers=True, instanceable=True)
        result = scene_export.export_scene(bpy.context, file, options)
        stage = Usd.Stage.Open(str(file))
        instances = sum(prim.IsInstance() for prim in stage.Traverse())
        said = [issue.message for issue in result.issues if issue.code == "NoInstances"]
        assert (instances, said) == ((0, ["The asset has no instances: no mesh can be one."]) if blocks else (1, []))


def test_layered_assets_that_are_written_into_a_folder_at_the_same_time_take_folders_of_their_own(
    tmp_path, monkeypatch
):
    """Of two jobs of a batch one failed: both wanted Payload, which neither had found."""
    robot()
    split, names = asset_layers.split, ["second", "third"]

    def split_beside_another(whole, interface, **options):
        if names:
            bpy.ops.usdphys.export_usd(filepath=str(tmp_path / f"{names.pop()}.usda"), layers=True)
        return split(whole, interface, **options)

    monkeypatch.setattr(asset_layers, "split", split_beside_another)
    assert bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "first.usda"), layers=True) == {"FINISHED"}
    folders = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert folders == {"Payload", "second_Payload", "third_Payload"}
    for name in ("first", "second", "third"):
        assert len(list(Usd.Stage.Open(str(tmp_path / f"{name}.usda")).Traverse())) > 3


def test_operator_without_a_window_depends_on_no_setting(tmp_path):
    """What the scene and the preferences ask for fills in the dialog, not the calls of scripts."""
    scenes.solid("Body")
    scenes.assign(bpy.context.scene.usdphys.stage, meters_per_unit=0.01, hierarchy="FLAT")
    assert bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "plain.usda")) == {"FINISHED"}
    assert UsdGeom.GetStageMetersPerUnit(Usd.Stage.Open(str(tmp_path / "plain.usda"))) == 1.0


def test_selected_only(tmp_path):
    robot()
    for name in ("Base", "Arm", "Shoulder"):
        bpy.data.objects[name].select_set(True)
    stage, result = export(tmp_path / "part.usda", selected_only=True)
    assert set(prims_of(stage)) == {"Base", "Arm", "Shoulder"}
    assert result.counts["bodies"] == 2
    check_joint(stage, "Shoulder", "PhysicsRevoluteJoint", prim_of(stage, "Base"), prim_of(stage, "Arm"))


def test_selected_only_with_a_joint_that_loses_its_body(tmp_path):
    robot()
    for name in ("Arm", "Shoulder"):
        bpy.data.objects[name].select_set(True)
    with pytest.raises(ValidationFailedError, match="'Base'"):
        export(tmp_path / "part.usda", selected_only=True, strict=True)


# --------------------------------------------------------------------------- hierarchy


def poses(stage: Usd.Stage, times: Any = (None,)) -> dict[str, list[np.ndarray]]:
    """World matrices of all objects that have a place, and of their colliders."""
    found = {}
    objects = prims_of(stage)
    for name, (prim,) in objects.items():
        for one in [prim, *prim.GetChildren()]:
            if one == prim or (one.IsA(UsdGeom.Xformable) and [one] not in objects.values()):
                found[name, one.GetName() if one != prim else ""] = [world_pose(one, time) for time in times]
    return found


def check_same(first: dict[Any, list[np.ndarray]], second: dict[Any, list[np.ndarray]]) -> None:
    assert first.keys() == second.keys()
    for key in first:
        assert np.allclose(first[key], second[key], atol=1e-5), key


def nested_bodies(stage: Usd.Stage) -> set[str]:
    """Bodies that move with a body above them."""
    found = set()
    for prim in stage.Traverse():
        above = prim
        while prim.HasAPI(UsdPhysics.RigidBodyAPI) and not UsdGeom.Xformable(above).GetResetXformStack():
            above = above.GetParent()
            if above.IsPseudoRoot():
                break
            if above.HasAPI(UsdPhysics.RigidBodyAPI):
                found.add(prim.GetName())
    return found


@pytest.fixture(params=["robot", "robot below a parent"])
def placed_robot(request):
    robot(None if request.param == "robot" else scenes.add("Rig", location=(5, 0, 0), scale=(3, 3, 3)))


def test_hierarchies_have_the_same_world_poses(placed_robot, tmp_path):
    files = {form: export(tmp_path / f"{form}.usda", hierarchy=form) for form in ("nested", "flat", "reset")}
    stages = {form: stage for form, (stage, _) in files.items()}
    assert {form: nested_bodies(stage) for form, stage in stages.items()} == {
        "nested": {"Arm", "Hand"}, "flat": set(), "reset": set(),
    }  # fmt: skip
    expected = poses(stages["nested"])
    assert len(expected) >= 9
    for form, stage in stages.items():
        check_robot(stage)
        check_same(expected, poses(stage))
        resets = {name for name, (prim,) in prims_of(stage).items()
                  if UsdGeom.Xformable(prim) and UsdGeom.Xformable(prim).GetResetXformStack()}  # fmt: skip
        assert resets == ({"Arm", "Hand"} if form == "reset" else set())
    assert {old.rsplit("/", 1)[1] for old in files["flat"][1].moved} == {"Arm", "Hand"}
    assert prim_of(stages["flat"], "Arm").GetParent() == prim_of(stages["flat"], "Base").GetParent()


@pytest.mark.parametrize("hierarchy", ["nested", "flat", "reset"])
@pytest.mark.parametrize("moving", ["Base", "Arm", "both"])
def test_animated_bodies_keep_their_world_poses(tmp_path, hierarchy, moving):
    robot()
    for name in ("Base", "Arm") if moving == "both" else (moving,):
        obj = bpy.data.objects[name]
        scenes.make_body(obj, kinematic_enabled=True)
        for frame, turn in ((1, 0.0), (5, 1.0), (9, -2.0)):
            obj.rotation_euler = (0, turn, 0.5)
            obj.location.x = frame
            for channel in ("rotation_euler", "location"):
                obj.keyframe_insert(channel, frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    stage, _ = export(tmp_path / "moving.usda", hierarchy=hierarchy, animation=True)
    for frame in range(1, 10):
        scene.frame_set(frame)
        for name in ("Base", "Arm", "Hand"):
            found = world_pose(prim_of(stage, name), frame)
            assert np.allclose(found, scenes.world_of(bpy.data.objects[name]), atol=1e-4), (name, frame)
    assert not np.allclose(world_pose(prim_of(stage, "Hand"), 1), world_pose(prim_of(stage, "Hand"), 9))


# --------------------------------------------------------------------------- Blender's own export, with the hook


NAMELESS = {"author_blender_name": False}
VIEWPORT = {"evaluation_mode": "VIEWPORT"}


@pytest.mark.parametrize("options", [{}, VIEWPORT, NAMELESS], ids=str)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_native_export(tmp_path, hook, suffix, options):
    """The floor is hidden in renders."""
    robot()
    check_robot(native_export(tmp_path / f"robot{suffix}", **options))


def seen_by_usd(stage: Usd.Stage) -> dict[str, Any]:
    """What the file says of each collider, by its path, in metres and Z up: type, purpose, body, box around it."""
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) if UsdGeom.GetStageUpAxis(stage) == "Y" else np.eye(3)
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default", "guide", "render", "proxy"])
    found = {}
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.CollisionAPI):
            box = cache.ComputeWorldBound(prim).ComputeAlignedRange()
            corners = np.array([turn @ np.array(box.GetCorner(index)) * unit for index in range(8)])
            body = prim
            while body and not body.HasAPI(UsdPhysics.RigidBodyAPI):
                body = body.GetParent()
            bounds = tuple(np.round([corners.min(0), corners.max(0)], 4).ravel() + 0.0)
            purpose = UsdGeom.Imageable(prim).ComputePurpose()
            found[str(prim.GetPath())] = (prim.GetTypeName(), purpose, str(body.GetPath()) if body else "", bounds)
    return found


HIDDEN_OPTIONS = [
    {}, NAMELESS, {"root_prim_path": ""}, {"root_prim_path": "/a/b"}, {"merge_parent_xform": True},
    {"convert_orientation": True, "export_global_forward_selection": "NEGATIVE_Z", "export_global_up_selection": "Y"},
    {"convert_scene_units": "CENTIMETERS"}, {"use_instancing": True},
    {
        "convert_scene_units": "CENTIMETERS", "root_prim_path": "", "convert_orientation": True,
        "export_global_forward_selection": "NEGATIVE_Z", "export_global_up_selection": "Y",
    },
]  # fmt: skip


@pytest.mark.parametrize("options", HIDDEN_OPTIONS, ids=str)
def test_native_export_has_the_physics_that_renders_do_not_show(tmp_path, hook, capfd, options):
    """With its default settings as with those of the viewport, whatever hides it: object, collection or instancer."""
    turned = {"rotation_euler": (0.3, -0.5, 1.1)}
    body = scenes.make_body(scenes.add_box("Body", (0.1, 0.2, 0.3), location=(1, 2, 3), **turned))
    guide = scenes.add_box("Guide", (0.4, 0.3, 0.2), parent=body, location=(0.5, 0, 0), hide_render=True, **turned)
    scenes.make_collider(guide).approximation = "convexHull"
    guide.data.materials.append(scenes.physics_material("Ice", static_friction=0.1))
    inner = scenes.add_box("Inner", (0.1, 0.1, 0.1), parent=guide, location=(0, 0, 0.5), scale=(1, 2, 3))
    scenes.make_collider(inner)
    inner.hide_render = True
    shape = scenes.add("Shape", parent=body, location=(0, 0, -0.5))
    scenes.make_collider(shape, "SPHERE", radius=0.25)
    shape.hide_render = True
    collection = scenes.new_collection("Colliders")
    bpy.context.scene.collection.children.link(collection)
    collection.hide_render = True
    proxy = scenes.solid("Proxy", collection=collection, location=(-2, 0, 1), **turned)
    scenes.add_joint("Hinge", "REVOLUTE", proxy, body, location=(0, 1, 2))
    proxy.usdphys.colliders[0].approximation = "convexHull"
    floor = scenes.add_box("Floor", (5, 5, 0.1), hide_render=True)
    scenes.make_collider(floor)
    kit = scenes.new_collection("Kit")
    part = scenes.make_body(scenes.add_box("Part", collection=kit))
    scenes.make_collider(scenes.add_box("Hull", collection=kit, parent=part, location=(0, 0, 1), hide_render=True))
    scenes.add_instance("One", kit, location=(10, 0, 0), **turned)
    as_rendered = native_export(tmp_path / "renders.usda", **options)
    printed = capfd.readouterr().out
    assert "error" not in printed and "out." not in printed
    expected = seen_by_usd(native_export(tmp_path / "viewport.usda", **options, **VIEWPORT))
    found = seen_by_usd(as_rendered)
    assert len(found) == 6
    assert sorted(map(repr, found.values())) == sorted(map(repr, expected.values()))
    assert [applied(prim) for prim in as_rendered.Traverse() if prim.IsA(UsdPhysics.Joint)] == [[]]
    (joint,) = [prim for prim in as_rendered.Traverse() if prim.IsA(UsdPhysics.Joint)]
    assert all(as_rendered.GetPrimAtPath(targets(joint, f"physics:body{side}")[0]) for side in (0, 1))
    hulls = [prim for prim in as_rendered.Traverse() if prim.GetName() == "Guide" and prim.IsA(UsdGeom.Mesh)]
    assert [bound(hull).GetAttribute("physics:staticFriction").Get() for hull in hulls] == [pytest.approx(0.1)]


def test_native_export_names_hidden_physics_in_instances_of_instances(tmp_path, hook, capfd):
    """Blender numbers what it instances, without what is hidden: whose it is cannot be told."""
    kit, outer = scenes.new_collection("Kit"), scenes.new_collection("Outer")
    part = scenes.make_body(scenes.add_box("Part", collection=kit))
    scenes.make_collider(scenes.add_box("Hull", collection=kit, parent=part, hide_render=True))
    scenes.add_instance("Inner", kit, collection=outer)
    scenes.add_instance("Top", outer)
    native_export(tmp_path / "renders.usda")
    printed = capfd.readouterr().out
    assert "'Hull' is hidden in renders" in printed and "Choose Viewport in Use Settings For" in printed
    stage = native_export(tmp_path / "viewport.usda", **VIEWPORT)
    assert len(seen_by_usd(stage)) == 1
    assert "hidden in renders" not in capfd.readouterr().out


def test_native_export_of_a_selection_leaves_hidden_physics_out_that_is_not_selected(tmp_path, hook):
    body, other = scenes.make_body(scenes.add_box("Body")), scenes.add_box("Other", location=(9, 0, 0))
    scenes.make_collider(scenes.add_box("Guide", parent=body, hide_render=True))
    for name in ("Floor", "Wall"):
        scenes.make_collider(scenes.add_box(name, hide_render=True))
    scenes.make_collider(scenes.add_box("OfOther", parent=other, hide_render=True))
    for name in ("Body", "Wall"):
        bpy.data.objects[name].select_set(True)
    stage = native_export(tmp_path / "part.usda", selected_objects_only=True)
    assert set(prims_of(stage)) == {"Body", "Guide", "Wall"}
    assert set(prims_of(native_export(tmp_path / "all.usda"))) == {"Body", "Guide", "Wall", "Floor", "Other", "OfOther"}


def test_native_export_of_a_collection_leaves_hidden_physics_of_others_out(tmp_path, hook):
    kit = scenes.new_collection("Kit")
    bpy.context.scene.collection.children.link(kit)
    body = scenes.make_body(scenes.add_box("Body", collection=kit))
    scenes.make_collider(scenes.add_box("Guide", collection=kit, parent=body, hide_render=True))
    scenes.add_box("Other", location=(9, 0, 0))
    scenes.make_collider(scenes.add_box("Floor", hide_render=True))
    stage = native_export(tmp_path / "kit.usda", collection="Kit")
    assert set(prims_of(stage)) == {"Body", "Guide"}


def test_native_export_names_hidden_animation_that_it_cannot_write(tmp_path, hook, capfd):
    """What is hidden on a body that moves is where it is on the body."""
    body = scenes.make_body(scenes.add_box("Body"))
    guide = scenes.add_box("Guide", parent=body, hide_render=True)
    fixed = scenes.add_box("Fixed", parent=body, hide_render=True, location=(0, 0, 3))
    for obj in (guide, fixed):
        scenes.make_collider(obj)
    for frame, place in ((1, 0.5), (20, 4.0)):
        for obj in (body, guide):
            obj.location.x = place
            obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 20
    bpy.context.scene.frame_set(1)
    stage = native_export(tmp_path / "moving.usda", export_animation=True)
    assert "'Guide' is hidden in renders, so its pose was written without its animation" in capfd.readouterr().out
    for name, place in (("Guide", (0.5, 0, 0)), ("Fixed", (0, 0, 3))):
        local = UsdGeom.Xformable(prim_of(stage, name)).GetLocalTransformation()
        assert np.allclose(local.ExtractTranslation(), place, atol=1e-6)
    assert len(prim_of(stage, "Body").GetAttribute("xformOp:translate").GetTimeSamples()) > 1


def test_native_export_without_the_hook(tmp_path, no_hook):
    robot()
    stage = native_export(tmp_path / "robot.usda")
    assert not [prim for prim in stage.Traverse() if applied(prim) or prim.GetTypeName().startswith("Physics")]
    assert prim_of(stage, "Base").IsValid()


def test_our_export_leaves_the_hook_as_it_was(tmp_path, no_hook):
    robot()
    export(tmp_path / "robot.usda")
    assert not usd_hooks.is_registered(usd_hooks.USDPHYS_ExportHook)


def test_native_export_of_a_scene_without_physics_is_untouched(tmp_path, hook):
    scenes.add_box("Box")
    stage = native_export(tmp_path / "with.usda")
    usd_hooks.unregister(usd_hooks.USDPHYS_ExportHook)
    plain = native_export(tmp_path / "without.usda")
    usd_hooks.register(usd_hooks.USDPHYS_ExportHook)
    assert stage.GetRootLayer().ExportToString() == plain.GetRootLayer().ExportToString()


@pytest.mark.parametrize("is_native", [False, True])
def test_physics_materials_of_a_library_without_bodies_are_written(tmp_path, hook, is_native):
    """A file of materials alone; one that no mesh has is in no file of Blender."""
    bpy.ops.mesh.primitive_cube_add()
    for name in ("Steel", "Unused"):
        material = bpy.data.materials.new(name)
        material.use_fake_user = True
        material.usdphys.physics_material.is_applied = True
        material.usdphys.physics_material.density = 7850.0
    bpy.context.object.data.materials.append(bpy.data.materials["Steel"])
    file = tmp_path / "library.usda"
    stage = native_export(file) if is_native else export(file)[0]
    densities = [UsdPhysics.MaterialAPI(prim).GetDensityAttr().Get() for prim in stage.Traverse() if applied(prim)]
    assert [density for density in densities if density] == [7850.0]
    assert not [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene)]


def test_native_hierarchy_is_that_of_the_scene(tmp_path, hook):
    robot()
    bpy.context.scene.usdphys.stage.hierarchy = "FLAT"
    stage = native_export(tmp_path / "robot.usda", evaluation_mode="VIEWPORT")
    assert nested_bodies(stage) == set()
    check_robot(stage)


def test_native_merged_transforms(tmp_path, hook):
    """Xform and Mesh are one prim: it is body and collider at once."""
    body = scenes.solid("Body", location=(1, 2, 3))
    scenes.assign(body.usdphys.colliders[0], approximation="convexHull")
    other = scenes.make_body(scenes.add_box("Other"))
    scenes.make_collider(other, "CUBE").name = "Crate"
    scenes.add_joint("Joint", "FIXED", body, other)
    stage = native_export(tmp_path / "merged.usda", merge_parent_xform=True)
    prim = prim_of(stage, "Body")
    assert prim.GetTypeName() == "Mesh"
    assert sorted(applied(prim)) == ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsRigidBodyAPI"]
    assert np.allclose(world_pose(prim)[:3, 3], (1, 2, 3))
    assert prim_of(stage, "Other").GetChild("Crate").GetTypeName() == "Cube"
    check_joint(stage, "Joint", "PhysicsFixedJoint", prim, prim_of(stage, "Other"))


NAMES = ("A.001", "A_001", "1x", "é", "PhysicsScene", "Ca fé 2", "CollisionGroups", "_materials")


@pytest.mark.parametrize(
    "options",
    [
        {},
        NAMELESS,
        {"export_custom_properties": False},
        {"root_prim_path": ""},
        {"root_prim_path": "/a/b"},
        {**NAMELESS, "root_prim_path": ""},
    ],
    ids=str,
)
def test_names(tmp_path, hook, options):
    """Every object keeps its own physics, whatever becomes of its name."""
    for number, name in enumerate(NAMES):
        body = scenes.solid(name, location=(number, 0, 0))
        scenes.assign(body.usdphys.mass, is_applied=True, mass=number + 1)
        scenes.join_group(body, f"Group {number}")
    stage = native_export(tmp_path / "names.usda", **options)
    bodies = scenes.bodies_of(stage)
    assert len(bodies) == len(NAMES)
    for prim in bodies:
        assert prim.GetTypeName() == "Xform"
        number = round(world_pose(prim)[0, 3])
        assert prim.GetAttribute("physics:mass").Get() == number + 1
        assert [applied(child) for child in prim.GetChildren() if child.GetTypeName() == "Mesh"] == [
            ["PhysicsCollisionAPI"]
        ]
        if options.get("author_blender_name", True) and options.get("export_custom_properties", True):
            assert prim.GetAttribute(scenes.OBJECT_NAME).Get() == NAMES[number]
    (scene,) = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene)]
    assert not scene.HasAPI(UsdPhysics.RigidBodyAPI)
    assert len([prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.CollisionGroup)]) == len(NAMES)


def test_our_export_names(tmp_path):
    for number, name in enumerate(NAMES):
        body = scenes.solid(name, location=(number, 0, 0))
        scenes.assign(body.usdphys.mass, is_applied=True, mass=number + 1)
    stage, result = export(tmp_path / "names.usda")
    for number, name in enumerate(NAMES):
        assert prim_of(stage, name).GetAttribute("physics:mass").Get() == number + 1
    assert {issue.code for issue in result.issues} == {"NameChanged", "ColliderTriangleMeshDynamic", "NoFloor"}


def test_names_are_written_only_where_they_are_needed(tmp_path):
    """They are there to find the objects by: nothing else reads them, and they are a fifth of a large file."""
    for number, name in enumerate(("A.001", "1x", "Crate")):
        body = scenes.solid(name, location=(number, 0, 0))
        scenes.assign(body.usdphys.mass, is_applied=True, mass=number + 1)
    stage, _ = export(tmp_path / "certain.usda")
    assert not [prim for prim in stage.Traverse() if "userProperties:blender" in str(prim.GetPropertyNames())]
    masses = {prim.GetName(): prim.GetAttribute("physics:mass").Get() for prim in scenes.bodies_of(stage)}
    assert masses == {"A_001": 1, "_1x": 2, "Crate": 3}
    body = scenes.solid("A_001", location=(9, 0, 0))
    scenes.assign(body.usdphys.mass, is_applied=True, mass=9)
    stage, _ = export(tmp_path / "two_names_become_one.usda")
    masses = {prim.GetAttribute(scenes.OBJECT_NAME).Get(): prim.GetAttribute("physics:mass").Get()
              for prim in scenes.bodies_of(stage)}  # fmt: skip
    assert masses == {"A.001": 1, "1x": 2, "Crate": 3, "A_001": 9}


@pytest.mark.parametrize("root", ["", "/root", "/a/b"])
@pytest.mark.parametrize("number", [1, 2])
def test_native_root(tmp_path, hook, root, number):
    for index in range(number):
        scenes.solid(f"Body{index}")
    stage = native_export(tmp_path / "root.usda", root_prim_path=root)
    bodies = {str(prim.GetPath()) for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)}
    assert bodies == {f"{root}/Body{index}" for index in range(number)}
    (scene,) = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Scene)]
    assert not scene.GetParent().HasAPI(UsdPhysics.RigidBodyAPI)


def test_child_named_like_the_mesh_of_its_parent(tmp_path):
    """Blender's exporter writes both to one prim, and the place of the child is then that of the mesh."""
    parent = scenes.solid("Car")
    parent.data.name = "Wheel"
    scenes.solid("Wheel", parent=parent, location=(3, 0, 0)).data.name = "Disc"
    with pytest.raises(ValidationFailedError, match="'Wheel'"):
        export(tmp_path / "car.usda")


@pytest.fixture
def instances():
    """Two instances of a collection with two bodies and a joint."""
    collection = scenes.new_collection("Rig")
    base = scenes.solid("Base", collection=collection)
    arm = scenes.solid("Arm", collection=collection, location=(2, 0, 0))
    scenes.add_joint("Hinge", "REVOLUTE", base, arm, collection=collection, location=(1, 0, 0))
    for name, place in (("One", (10, 0, 0)), ("Two", (0, 20, 0))):
        scenes.add_instance(name, collection, location=place)


@pytest.mark.parametrize("use_instancing", [False, True])
def test_instances(tmp_path, hook, instances, use_instancing):
    stage = native_export(tmp_path / "instances.usda", use_instancing=use_instancing)
    found = {}
    for prim in stage.Traverse():
        if prim.IsA(UsdPhysics.Joint):
            bodies = [stage.GetPrimAtPath(targets(prim, f"physics:body{side}")[0]) for side in (0, 1)]
            assert all(body.HasAPI(UsdPhysics.RigidBodyAPI) for body in bodies)
            assert all(body.GetPath().GetParentPath() == prim.GetPath().GetParentPath() for body in bodies)
            colliders = [child for body in bodies for child in body.GetChildren() if applied(child)]
            assert len(colliders) == 2
            found[tuple(np.round(world_pose(bodies[0])[:2, 3]).astype(int))] = prim
    assert set(found) == {(10, 0), (0, 20)}
    assert len(scenes.bodies_of(stage)) == 4


def test_filtered_pairs_of_static_objects_are_between_colliders(tmp_path):
    """The Xform of a static object is neither a collider nor a body; Newton ignores pairs with it."""
    wall, group = scenes.add_box("Wall"), scenes.add("Group")
    scenes.make_collider(wall)
    scenes.make_collider(wall, "SPHERE", radius=0.5).name = "Knob"
    post = scenes.add_box("Post", parent=group)
    scenes.make_collider(post)
    door, lid, ball = scenes.solid("Door", parent=wall), scenes.solid("Lid", parent=group), scenes.solid("Ball")
    for obj, others in ((door, (wall,)), (ball, (group, lid)), (post, (door,)), (lid, (ball,))):
        pairs = scenes.assign(obj.usdphys.filtered_pairs, is_applied=True)
        for other in others:
            pairs.filtered_pairs.add().object = other
    stage, result = export(tmp_path / "pairs.usda")
    assert "FilteredPairUnread" not in {issue.code for issue in result.issues}
    holders = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.FilteredPairsAPI)]
    found = {str(prim.GetPath()): sorted(targets(prim, "physics:filteredPairs")) for prim in holders}
    assert found == {
        "/root/Wall/Door": ["/root/Wall/Knob", "/root/Wall/Wall"],
        "/root/Ball": ["/root/Group/Lid", "/root/Group/Post/Post"],
        "/root/Group/Post/Post": ["/root/Wall/Door"],
        "/root/Group/Lid": ["/root/Ball"],
    }


def test_native_selection_with_a_joint_that_loses_its_body(tmp_path, hook, capfd):
    first, second = scenes.solid("First"), scenes.solid("Second")
    joint = scenes.add_joint("Joint", "FIXED", first, second)
    pairs = scenes.assign(first.usdphys.filtered_pairs, is_applied=True)
    pairs.filtered_pairs.add().object = second
    for obj in (first, second):
        scenes.join_group(obj, "Group")
    first.select_set(True)
    joint.select_set(True)
    stage = native_export(tmp_path / "part.usda", selected_objects_only=True)
    assert set(prims_of(stage)) == {"First", "Joint"}
    assert "PhysicsRigidBodyAPI" in applied(prim_of(stage, "First"))
    assert not [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    assert prim_of(stage, "Joint").GetTypeName() == "Xform"
    assert "'Joint' was left out" in capfd.readouterr().out
    for prim in stage.Traverse():
        for relationship in prim.GetRelationships():
            assert all(stage.GetPrimAtPath(path) for path in relationship.GetTargets()), relationship.GetPath()


def test_joint_that_carries_something_keeps_it_in_place(tmp_path):
    body = scenes.solid("Body")
    joint = scenes.add_joint("Joint", "FIXED", body, location=(1, 0, 0))
    scenes.add_box("Flag", parent=joint, location=(0, 2, 0))
    stage, _ = export(tmp_path / "joint.usda")
    assert np.allclose(world_pose(prim_of(stage, "Flag"))[:3, 3], (1, 2, 0))
    assert prim_of(stage, "Joint").GetTypeName() == "Xform"
    (made,) = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    assert np.allclose(made.GetAttribute("physics:localPos0").Get(), (1, 0, 0))


# --------------------------------------------------------------------------- materials


def friction(stage: Usd.Stage, name: str) -> float:
    (mesh,) = [child for child in prim_of(stage, name).GetChildren() if child.GetTypeName() == "Mesh"]
    return float(bound(mesh).GetAttribute("physics:staticFriction").Get())


@pytest.mark.parametrize("options", [{}, {"export_materials": False}], ids=["", "without materials"])
def test_slots_bind_their_own_physics(tmp_path, options):
    """Names that become equal in USD, and materials that Blender does not write."""
    values = {"M.1": 0.25, "M_1": 0.5, "é": 0.75, "Plain": 1.0}
    for name, value in values.items():
        body = scenes.solid(f"With {name}")
        body.data.materials.append(scenes.physics_material(name, static_friction=value))
    stage, result = export(tmp_path / "materials.usda", native=options)
    assert {name: friction(stage, f"With {name}") for name in values} == values
    assert [issue.code for issue in result.errors] == []


def test_faces_of_several_materials(tmp_path):
    body = scenes.solid("Body")
    for name, value in (("Front", 0.25), ("Back", 0.5)):
        body.data.materials.append(scenes.physics_material(name, static_friction=value))
    for face in body.data.polygons[:3]:
        face.material_index = 1
    stage, _ = export(tmp_path / "faces.usda")
    (mesh,) = [child for child in prim_of(stage, "Body").GetChildren() if child.GetTypeName() == "Mesh"]
    subsets = {child.GetName(): bound(child) for child in mesh.GetChildren() if child.IsA(UsdGeom.Subset)}
    assert {prim.GetAttribute("physics:staticFriction").Get() for prim in subsets.values()} == {0.25, 0.5}


# --------------------------------------------------------------------------- options of the user


def test_kinds_of_geometry(tmp_path):
    """Text, curves and metaballs collide with the mesh that Blender writes for them."""
    text = bpy.data.curves.new("Words", "FONT")
    scenes.assign(text, body="USD", extrude=0.1)
    scenes.make_collider(scenes.add("Text", text), "MESH")
    ball = bpy.data.metaballs.new("Blob")
    ball.elements.new()
    scenes.make_collider(scenes.add("Meta", ball), "MESH")
    stage, result = export(tmp_path / "kinds.usda")
    assert codes(result.errors) == []
    for name in ("Text", "Meta"):
        colliders = [child for child in prim_of(stage, name).GetChildren() if "PhysicsCollisionAPI" in applied(child)]
        assert [child.GetTypeName() for child in colliders] == ["Mesh"], name


@pytest.mark.parametrize("kind", ["BEZIER", "NURBS", "POLY"])
def test_a_thick_curve_collides_with_its_faces_of_which_blender_writes_the_line(tmp_path, kind):
    curve = bpy.data.curves.new("Ring", "CURVE")
    scenes.assign(curve, dimensions="3D", bevel_depth=0.1)
    spline = curve.splines.new(kind)
    places = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)]
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(len(places) - 1)
    for point, place in zip(points, places, strict=True):
        point.co = place if kind == "BEZIER" else (*place, 1.0)
    ring = scenes.add("Ring", curve, location=(0.0, 0.0, 2.0))
    scenes.make_collider(scenes.make_body(ring), "MESH", approximation="convexHull")
    bpy.context.view_layer.update()
    evaluated = ring.evaluated_get(bpy.context.evaluated_depsgraph_get())
    shown = np.array([vertex.co[:] for vertex in evaluated.to_mesh().vertices])
    stage, result = export(tmp_path / "ring.usda")
    assert codes(result.errors) == []
    (collider,) = [prim for prim in stage.Traverse() if "PhysicsCollisionAPI" in applied(prim)]
    points = np.array(UsdGeom.Mesh(collider).GetPointsAttr().Get())
    assert np.allclose(points.min(axis=0), shown.min(axis=0), atol=1e-4)
    assert np.allclose(points.max(axis=0), shown.max(axis=0), atol=1e-4)
    assert np.allclose(world_pose(collider)[:3, 3], (0.0, 0.0, 2.0))


def test_a_surface_is_written_with_its_faces_or_named_with_the_reason(tmp_path):
    """Blender 5.2 writes it."""
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()
    scenes.make_collider(scenes.make_body(bpy.context.object), "MESH")
    bpy.context.view_layer.update()
    stage, result = export(tmp_path / "surface.usda")
    named = [issue for issue in result.issues if issue.code == "NotExported"]
    written = [prim for prim in stage.Traverse() if "PhysicsCollisionAPI" in applied(prim)]
    assert len(written) + len(named) == 1 and codes(result.errors) == []
    for issue in named:
        assert "writes no such surfaces" in issue.message and "to a mesh" in issue.fix
    for prim in written:
        assert len(UsdGeom.Mesh(prim).GetPointsAttr().Get()) > 100


def test_curve_without_faces_is_said(tmp_path):
    curve = bpy.data.curves.new("Line", "CURVE")
    curve.splines.new("POLY").points.add(1)
    scenes.make_collider(scenes.add("Line", curve), "MESH")
    with pytest.raises(ValidationFailedError, match="'Line'"):
        export(tmp_path / "line.usda", strict=True)


def test_parent_in_the_file_that_is_hidden(tmp_path):
    parent = scenes.add("Parent", location=(1, 0, 0), rotation_euler=(0, 0, math.pi / 2), hide_viewport=True)
    scenes.solid("Child", parent=parent, location=(2, 0, 0))
    stage, result = export(tmp_path / "hidden.usda")
    prim = prim_of(stage, "Child")
    assert "PhysicsRigidBodyAPI" in applied(prim)
    assert np.allclose(world_pose(prim)[:3, 3], (1, 2, 0), atol=1e-6)
    assert codes(result.errors) == []


def test_second_export_is_the_same(tmp_path):
    """Nothing of the first is left in the scene or in USD's memory of layers."""
    robot()
    file = tmp_path / "robot.usda"
    export(file)
    first = file.read_text()
    export(file)
    assert sorted(file.read_text().splitlines()) == sorted(first.splitlines())
    bpy.data.objects["Base"].usdphys.mass.mass = 3
    stage, _ = export(file)
    stage.Reload()
    assert prim_of(stage, "Base").GetAttribute("physics:mass").Get() == 3


@pytest.mark.parametrize("has_constraint", [False, True])
@pytest.mark.parametrize("collides_only", [False, True])
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_body_below_an_uneven_parent_stays_where_it_is(tmp_path, meters, collides_only, has_constraint):
    """Parented with its place kept: the place below the parent is sheared, which no location, rotation, scale holds.

    A constraint that does nothing changes nothing: no time samples are written for it.
    """
    bpy.ops.mesh.primitive_cube_add(rotation=(0.3, 0.4, 0.5))
    parent = bpy.context.object
    parent.scale = (1.0, 3.0, 0.5)
    bpy.ops.mesh.primitive_cube_add(location=(3, 1, 2), rotation=(0.7, -0.2, 1.0))
    child = bpy.context.object
    bpy.context.view_layer.update()
    child.parent, child.matrix_parent_inverse = parent, parent.matrix_world.inverted()
    if has_constraint:
        child.constraints.new("LIMIT_SCALE")
    child.usdphys.rigid_body.is_applied = not collides_only
    child.usdphys.colliders.add()
    bpy.context.view_layer.update()
    wanted = np.array(child.matrix_world, float)
    target = tmp_path / "sheared.usda"
    usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(StageUnits(meters_per_unit=meters)))
    from usdphys_ext.usdphys_addon.usd import read as usd_read

    model = usd_read.read_stage(usd_read.open_stage(target))
    (path,) = model.colliders if collides_only else model.bodies
    assert np.abs(model.prims[path].world - wanted).max() < 1e-5 / meters


def cube_body(name, parent=None):
    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    obj.name, obj.parent = name, parent
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


@pytest.mark.parametrize("hierarchy", ["nested", "flat", "reset"])
@pytest.mark.parametrize("root", ["/root", ""])
def test_skeletons_and_skins_lie_below_a_skel_root_without_which_usd_ignores_them(
    tmp_path, validator_errors, hierarchy, root
):
    """Blender makes none for an armature that deforms nothing, and a body that is moved leaves its own."""

    base = cube_body("Base")
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    rig.name, rig.parent = "Rig", base
    skin = cube_body("Skin", rig)
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    skin.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    bpy.ops.object.armature_add()
    idle = bpy.context.object
    idle.name = "Idle"
    face = cube_body("Face", idle)
    face.shape_key_add(name="Basis")
    face.shape_key_add(name="Smile").data[0].co.x += 1.0
    target = tmp_path / "rig.usda"
    usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(hierarchy=hierarchy, root=root))
    stage = Usd.Stage.Open(str(target))
    bound = [prim for prim in stage.Traverse() if "SkelBindingAPI" in prim.GetAppliedSchemas()]
    assert len(bound) == 5, "two armatures, the skin, the face and its skeleton"
    roots = [prim.GetPath() for prim in stage.Traverse() if prim.GetTypeName() == "SkelRoot"]
    assert all(any(prim.GetPath().HasPrefix(path) for path in roots) for prim in bound)
    assert not any(path.HasPrefix(other) for path in roots for other in roots if path != other)
    assert [line for line in validator_errors(target) if "Skel" in line] == []


def shape_weights(file):
    """Of the one animation of blend shapes of a file, which a skeleton is bound to."""
    stage = Usd.Stage.Open(str(file))
    (found,) = [prim for prim in stage.Traverse() if prim.GetAttribute("blendShapes").Get()]
    bound = [prim.GetRelationship("skel:animationSource").GetTargets() for prim in stage.Traverse()]
    assert [found.GetPath()] in bound
    names, weights = (found.GetAttribute(each).Get() for each in ("blendShapes", "blendShapeWeights"))
    return dict(zip(names, weights, strict=True))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("rigged", [False, True])
def test_shape_keys_are_written_as_far_as_they_are_on(tmp_path, rigged, native):
    """Blender alone writes no weight at all, and other programs show the first shape."""
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    face = cube_body("Face", rig if rigged else None)
    cube_body("Other")
    if rigged:
        face.modifiers.new("Armature", "ARMATURE").object = rig
        face.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    face.shape_key_add(name="Basis")
    for name, value, is_muted in (("Smile", 0.25, False), ("Frown", 1.0, True), ("Left Eye", 0.75, False)):
        key = face.shape_key_add(name=name)
        key.data[0].co.x += 1.0
        key.value, key.mute = value, is_muted
    target = tmp_path / "face.usda"
    if native:
        bpy.ops.wm.usd_export(filepath=str(target))
    else:
        usd_export.export_usd(bpy.context, target, usd_export.ExportOptions())
    assert shape_weights(target) == {"Smile": 0.25, "Frown": 0.0, "Left_Eye": 0.75}
    face.show_only_shape_key, face.active_shape_key_index = True, 2
    usd_export.export_usd(bpy.context, tmp_path / "one.usda", usd_export.ExportOptions())
    assert shape_weights(tmp_path / "one.usda") == {"Smile": 0.0, "Frown": 1.0, "Left_Eye": 0.0}


@pytest.mark.parametrize(("scene_meters", "meters", "up_axis", "turn", "root", "native"), [
    (1.0, 1.0, "Y", (0.3, -1.2, 2.0), "/root", False),
    (1.0, 0.01, "Y", (0.0, 0.0, 0.0), "/root", False),
    (1.0, 0.01, "Z", (0.3, -1.2, 2.0), "", False),
    (1.0, 0.0254, "Y", (0.3, -1.2, 2.0), "", False),
    (0.01, 1.0, "Z", (0.0, 0.0, 0.0), "/root", False),
    (0.01, 1e-6, "Y", (0.3, -1.2, 2.0), "/root", False),
    (1.0, 0.01, "Y", (0.3, -1.2, 2.0), "/root", True),
    (1.0, 1.0, "Z", (0.0, 0.0, 0.0), "/root", True),
])  # fmt: skip
def test_a_simulator_starts_a_body_with_its_speed(tmp_path, scene_meters, meters, up_axis, turn, root, native):
    """Newton turns a velocity with its prim and does not multiply it by a scale above; PhysX does so where it is asked.

    native: by Blender's own export, which knows no unit of the scene.
    """
    bpy.context.scene.unit_settings.scale_length = scene_meters
    bpy.ops.object.empty_add(location=(1, 2, 3), rotation=(0.5, 0.0, 0.0))
    parent = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(rotation=turn, location=(4, 0, 1))
    obj = bpy.context.object
    obj.parent = parent
    body = obj.usdphys
    body.rigid_body.is_applied = True
    body.rigid_body.velocity = (4.0, -1.0, 2.0)
    body.colliders.add()
    bpy.context.view_layer.update()
    wanted = np.array(obj.matrix_world.to_3x3()) @ (4.0, -1.0, 2.0) * scene_meters
    target = tmp_path / "moving.usda"
    if native:
        bpy.ops.wm.usd_export(
            filepath=str(target), convert_scene_units="CUSTOM", meters_per_unit=meters,
            convert_orientation=up_axis == "Y", export_global_forward_selection="NEGATIVE_Z",
            export_global_up_selection="Y",
        )  # fmt: skip
    else:
        options = usd_export.ExportOptions(StageUnits(meters, 1.0, up_axis), root=root)
        issues = usd_export.export_usd(bpy.context, target, options).issues
        assert [issue for issue in issues if issue.severity != "info"] == []
    stage = Usd.Stage.Open(str(target))
    (prim,) = [prim for prim in stage.Traverse() if prim.HasAttribute("physics:velocity")]
    world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(prim)).T
    units = StageUnits(UsdGeom.GetStageMetersPerUnit(stage), 1.0, UsdGeom.GetStageUpAxis(stage))
    assert frames.scale_of(world) == pytest.approx([1.0] * 3, rel=1e-5)
    speed = units.to_z_up @ frames.rotation_of(world) @ np.array(prim.GetAttribute("physics:velocity").Get())
    assert speed * units.meters_per_unit == pytest.approx(wanted, rel=1e-4)
    place = units.to_z_up @ world[:3, 3] * units.meters_per_unit
    assert place == pytest.approx(np.array(obj.matrix_world.translation) * scene_meters, rel=1e-5)
    assert bool(prim.GetCustomDataByKey("physics:localSpaceVelocities")), "its parent is turned"


@pytest.mark.parametrize("form", ["composed", "flat"])
def test_a_new_body_of_an_imported_scene_in_centimetres_is_named_where_newton_reads_another_speed(tmp_path, form):
    bpy.ops.mesh.primitive_cube_add()
    old = bpy.context.object.usdphys
    old.rigid_body.is_applied, old.rigid_body.velocity = True, (1.0, 0.0, 0.0)
    old.colliders.add()
    bpy.context.view_layer.update()
    source, target = tmp_path / "source.usda", tmp_path / "target.usda"
    usd_export.export_usd(bpy.context, source, usd_export.ExportOptions(StageUnits(0.01)))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, source, usd_import.ImportOptions())

    def written():
        bpy.context.view_layer.update()
        if form == "composed":
            result = usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(StageUnits(0.01)))
        else:
            result = source_export.export_edits(bpy.context, target, form)
        return [issue for issue in result.issues if issue.code in ("VelocityInUnits", "FileDiffers")]

    assert written() == [], "the imported body starts with its speed"
    bpy.ops.mesh.primitive_cube_add(location=(5, 0, 0))
    new = bpy.context.object
    new.name = "New"
    new.usdphys.rigid_body.is_applied, new.usdphys.rigid_body.velocity = True, (1.0, 0.0, 0.0)
    new.usdphys.colliders.add()
    (issue,) = written()
    assert issue.code == "VelocityInUnits" and "'New'" in issue.message and "0.01 of its speed" in issue.message
    stage = Usd.Stage.Open(str(target))
    (prim,) = [one for one in stage.Traverse() if one.GetName() == "New" and one.HasAttribute("physics:velocity")]
    assert prim.GetCustomDataByKey("physics:localSpaceVelocities"), "PhysX multiplies by the scale where it is asked"


def test_a_skeleton_and_what_is_animated_move_as_far_in_centimetres(tmp_path):
    """Points as OpenUSD skins and places them, at several frames."""
    from pxr import UsdSkel, Vt

    bpy.ops.object.armature_add(location=(1, 0, 0))
    armature = bpy.context.object
    bpy.ops.mesh.primitive_cube_add(location=(1, 0, 0.5))
    skin = bpy.context.object
    skin.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    skin.parent, skin.matrix_parent_inverse = armature, armature.matrix_world.inverted()
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    bone = armature.pose.bones[0]
    bpy.ops.mesh.primitive_cube_add(location=(5, 0, 0))
    body = bpy.context.object
    body.usdphys.rigid_body.is_applied = True
    body.usdphys.colliders.add()
    for frame, height in ((1, 0.0), (5, 2.0)):
        bone.location, body.location = (0, height, 0), (5, height, 0)
        bone.keyframe_insert("location", frame=frame)
        body.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_end = 5
    scene.frame_set(1)

    def points(units):
        target = tmp_path / f"{units.meters_per_unit:g}.usda"
        usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(units, animation=True))
        stage = Usd.Stage.Open(str(target))
        found = {}
        for frame in (1, 3, 5):
            places = UsdGeom.XformCache(frame)
            for prim in stage.Traverse():
                if not prim.IsA(UsdGeom.Mesh):
                    continue
                own, holder = UsdGeom.Mesh(prim).GetPointsAttr().Get(frame), prim
                if prim.HasAPI(UsdSkel.BindingAPI):
                    cache = UsdSkel.Cache()
                    cache.Populate(UsdSkel.Root.Find(prim), Usd.PrimDefaultPredicate)
                    bones = cache.GetSkelQuery(UsdSkel.BindingAPI(prim).GetInheritedSkeleton())
                    own, holder = Vt.Vec3fArray(own), bones.GetPrim()
                    query = cache.GetSkinningQuery(prim)
                    assert query.ComputeSkinnedPoints(bones.ComputeSkinningTransforms(frame), own, frame)
                world = np.array(places.GetLocalToWorldTransform(holder))
                placed = (np.c_[np.array(own), np.ones(len(own))] @ world)[:, :3] * units.meters_per_unit
                found[str(prim.GetPath()), frame] = placed @ units.to_z_up.T
        return found

    metres, centimetres = points(StageUnits()), points(StageUnits(0.01, 1.0, "Y"))
    assert len(metres) == 6 and metres.keys() == centimetres.keys()
    for key, placed in metres.items():
        assert np.allclose(centimetres[key], placed, atol=1e-5), key
    assert metres["/root/Armature/Cube/Cube", 5].mean(axis=0) == pytest.approx((1, 0, 2.5), abs=1e-4)


def test_physx_is_asked_for_the_axes_of_the_body_only_where_it_matters(tmp_path):
    for name, turn, scale, velocity in (
        ("Straight", 0.0, 1.0, 1.0), ("Turned", 1.0, 1.0, 1.0), ("Still", 1.0, 1.0, 0.0), ("Large", 1.0, 3.0, 1.0),
    ):  # fmt: skip
        bpy.ops.mesh.primitive_cube_add(rotation=(turn, 0, 0))
        obj = bpy.context.object
        obj.name, obj.scale = name, (scale,) * 3
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.rigid_body.angular_velocity = (0.0, 0.0, velocity)
        obj.usdphys.colliders.add()
    bpy.context.view_layer.update()
    asked = {}
    for up_axis in "ZY":
        options = usd_export.ExportOptions(StageUnits(1.0, 1.0, up_axis))
        usd_export.export_usd(bpy.context, tmp_path / f"{up_axis}.usda", options)
        stage = Usd.Stage.Open(str(tmp_path / f"{up_axis}.usda"))
        asked[up_axis] = {
            prim.GetName() for prim in stage.Traverse() if prim.GetCustomDataByKey("physics:localSpaceVelocities")
        }
    # PhysX would multiply the speed of a large body by its scale, too.
    assert asked == {"Z": {"Turned"}, "Y": {"Straight", "Turned"}}


@pytest.mark.parametrize("fails", [False, True])
def test_stages_are_composed_again_after_an_export(tmp_path, monkeypatch, fails):
    """While Blender saves a stage that nobody reads any more, it is not composed."""
    scenes.solid("Box")
    bpy.context.view_layer.update()
    if fails:
        monkeypatch.setattr(write, "write_model", lambda *_: 1 / 0)
        with pytest.raises(OutputError, match="division by zero"):
            usd_export.export_usd(bpy.context, tmp_path / "box.usdc", usd_export.ExportOptions())
    else:
        usd_export.export_usd(bpy.context, tmp_path / "box.usdc", usd_export.ExportOptions())
        stage = Usd.Stage.Open(str(tmp_path / "box.usdc"))
        assert stage.GetPrimAtPath("/root/Box").HasAPI(UsdPhysics.RigidBodyAPI)
    stage = Usd.Stage.CreateInMemory()
    Sdf.CreatePrimInLayer(stage.GetRootLayer(), "/Later")
    assert stage.GetPrimAtPath("/Later")


def test_properties_that_are_copied_from_prim_to_prim_are_those_of_each(tmp_path):
    """Equal boxes share what is written; others, and a second material, do not."""
    boxes = [scenes.solid(f"Box {number}", location=(3 * number, 0, 0)) for number in range(6)]
    for number, box in enumerate(boxes):
        scenes.assign(box.usdphys.mass, is_applied=True, mass=1.0 + number % 2)
        box.data = boxes[0].data
        box.usdphys.colliders[0].approximation = "convexHull" if number == 3 else "boundingCube"
    boxes[5].usdphys.mass.is_applied = False
    bpy.context.view_layer.update()
    stage, _ = export(tmp_path / "boxes.usda")
    found = [stage.GetPrimAtPath(f"/root/Box_{number}") for number in range(6)]
    assert [prim.GetAttribute("physics:mass").Get() for prim in found[:5]] == [1.0, 2.0, 1.0, 2.0, 1.0]
    assert not found[5].HasAPI(UsdPhysics.MassAPI)
    meshes = [next(child for child in prim.GetChildren() if child.IsA(UsdGeom.Mesh)) for prim in found]
    shapes = [UsdPhysics.MeshCollisionAPI(mesh).GetApproximationAttr() for mesh in meshes]
    assert [shape.Get() for shape in shapes] == [*["boundingCube"] * 3, "convexHull", *["boundingCube"] * 2]
    layer = stage.GetRootLayer()
    specs = [layer.GetAttributeAtPath(shape.GetPath()) for shape in shapes]
    assert [(spec.variability, spec.custom) for spec in specs] == [(Sdf.VariabilityUniform, False)] * 6
