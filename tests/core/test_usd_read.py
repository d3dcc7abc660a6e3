# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a stage becomes the model: geometry, purposes, materials, places."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade
from usdphys_ext.usdphys_addon.core import mass
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import Mesh, Prim, SpherePoints
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.system import arcs
from usdphys_ext.usdphys_addon.usd import importable, overview
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write

#: A tetrahedron whose right-handed faces look outwards.
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]


def new_stage(meters: float = 1.0) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, meters)
    return stage


def mesh(stage: Usd.Stage, path: str = "/Mesh", points=POINTS, counts=(3, 3, 3, 3), faces=FACES) -> UsdGeom.Mesh:
    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreatePointsAttr(points)
    prim.CreateFaceVertexCountsAttr(list(counts))
    prim.CreateFaceVertexIndicesAttr(faces)
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())
    return prim


def read(stage: Usd.Stage, path: str) -> Prim:
    return usd_read.read_stage(stage).prims[path]


def normals(found: Mesh) -> np.ndarray:
    a, b, c = np.moveaxis(found.points[found.triangles], 1, 0)
    return np.cross(b - a, c - a)


# --------------------------------------------------------------------------- geometry


@pytest.mark.parametrize("orientation", [None, UsdGeom.Tokens.rightHanded, UsdGeom.Tokens.leftHanded])
def test_faces_look_outwards_whatever_hand_the_file_counts_with(orientation: str | None) -> None:
    """Left-handed meshes list their corners the other way round."""
    stage = new_stage()
    prim = mesh(stage)
    if orientation is not None:
        prim.CreateOrientationAttr(orientation)
    if orientation == UsdGeom.Tokens.leftHanded:
        prim.GetFaceVertexIndicesAttr().Set([corner for i in range(0, 12, 3) for corner in FACES[i : i + 3][::-1]])
    found = read(stage, "/Mesh").mesh()
    outwards = found.points[found.triangles].mean(axis=1) - found.points.mean(axis=0)
    assert (np.einsum("ij,ij->i", normals(found), outwards) > 0).all()


def test_polygons_become_triangles_that_cover_them() -> None:
    """A hexagon and a triangle in a plane: all triangles look the same way, their areas add up."""
    turns = np.arange(6) * np.pi / 3
    rim = [(float(np.cos(turn)), float(np.sin(turn)), 0.0) for turn in turns]
    stage = new_stage(0.5)
    mesh(stage, "/Mesh", [*rim, (2.0, 0.0, 0.0), (2.0, 1.0, 0.0)], (6, 3), [0, 1, 2, 3, 4, 5, 0, 6, 7])
    found = read(stage, "/Mesh").mesh()
    assert len(found.triangles) == 5
    areas = normals(found)[:, 2] / 2
    assert (areas > 0).all()
    # Half a metre a unit.
    assert areas.sum() == pytest.approx((1.5 * 3**0.5 + 0.5) * 0.25)


def test_faces_that_name_a_missing_point_give_no_mesh() -> None:
    stage = new_stage()
    mesh(stage, "/Last", counts=(3,), faces=[0, 1, 3])
    mesh(stage, "/Beyond", counts=(3,), faces=[0, 1, 4])
    assert read(stage, "/Last").mesh() is not None
    assert read(stage, "/Beyond").mesh() is None


def test_a_capsule_with_two_radii_is_as_high_and_wide_as_its_larger_end_in_metres() -> None:
    stage = new_stage(0.01)
    capsule = UsdGeom.Capsule_1.Define(stage, "/Pin")
    for name, size in (("Height", 20.0), ("RadiusBottom", 5.0), ("RadiusTop", 2.5)):
        getattr(capsule, f"Create{name}Attr")(size)
    UsdPhysics.CollisionAPI.Apply(capsule.GetPrim())
    found = read(stage, "/Pin").get(usd_geom.Capsule)
    assert (found.height, found.radius) == pytest.approx((0.2, 0.05))


def test_points_of_a_cloud_have_half_their_width_as_radius() -> None:
    stage = new_stage(0.01)
    prim = UsdGeom.Points.Define(stage, "/Points")
    prim.CreatePointsAttr([(100, 0, 0), (0, 200, 0)])
    prim.CreateWidthsAttr([10.0, 30.0])
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())
    found = read(stage, "/Points").mesh()
    assert isinstance(found, SpherePoints)
    np.testing.assert_allclose(found.centers, [(1, 0, 0), (0, 2, 0)])
    np.testing.assert_allclose(found.radii, [0.05, 0.15])


# --------------------------------------------------------------------------- purposes


def test_colliders_below_a_guide_are_guides() -> None:
    """Collision shapes are often hidden by one purpose on the group above them."""
    stage = new_stage()
    UsdGeom.Xform.Define(stage, "/Group").CreatePurposeAttr(UsdGeom.Tokens.guide)
    for path in ("/Group/Shape", "/Shape"):
        UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, path).GetPrim())
    own = UsdGeom.Cube.Define(stage, "/Group/Own")
    own.CreatePurposeAttr(UsdGeom.Tokens.render)
    UsdPhysics.CollisionAPI.Apply(own.GetPrim())
    prims = usd_read.read_stage(stage).prims
    assert {path: prims[path].purpose for path in ("/Group/Shape", "/Shape", "/Group/Own")} == {
        "/Group/Shape": "guide", "/Shape": "default", "/Group/Own": "render",
    }  # fmt: skip


def test_a_purpose_that_usd_does_not_know_is_the_default() -> None:
    stage = new_stage()
    shape = UsdGeom.Cube.Define(stage, "/Shape")
    shape.CreatePurposeAttr().Set("decoration")
    UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    assert read(stage, "/Shape").purpose == "default"


# --------------------------------------------------------------------------- materials


def material(stage: Usd.Stage, name: str, *, physics: bool = True) -> UsdShade.Material:
    made = UsdShade.Material.Define(stage, f"/{name}")
    if physics:
        UsdPhysics.MaterialAPI.Apply(made.GetPrim())
    return made


def test_the_binding_for_physics_wins_over_that_for_everything() -> None:
    stage = new_stage()
    shape = UsdGeom.Cube.Define(stage, "/Shape")
    UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    binding = UsdShade.MaterialBindingAPI.Apply(shape.GetPrim())
    binding.Bind(material(stage, "Visible"))
    assert read(stage, "/Shape").materials == ("/Visible",)
    binding.Bind(material(stage, "Ice"), materialPurpose="physics")
    found = read(stage, "/Shape")
    assert (found.materials, found.physics_binding) == (("/Ice",), "/Ice")


def test_materials_are_inherited_and_those_without_physics_say_nothing() -> None:
    stage = new_stage()
    group = UsdGeom.Xform.Define(stage, "/Group")
    UsdShade.MaterialBindingAPI.Apply(group.GetPrim()).Bind(material(stage, "Rubber"))
    for path in ("/Group/Plain", "/Group/Painted"):
        UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, path).GetPrim())
    painted = UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath("/Group/Painted"))
    painted.Bind(material(stage, "Paint", physics=False))
    assert read(stage, "/Group/Plain").materials == ("/Rubber",)
    assert read(stage, "/Group/Plain").physics_binding == ""
    assert read(stage, "/Group/Painted").materials == ()


def test_materials_of_faces_come_before_that_of_the_whole_prim() -> None:
    stage = new_stage()
    prim = mesh(stage)
    UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(material(stage, "Whole"))
    for name, faces in (("One", [0]), ("Two", [1, 2])):
        subset = UsdGeom.Subset.CreateGeomSubset(prim, name, UsdGeom.Tokens.face, faces, "materialBind")
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material(stage, f"M{name}"))
    assert read(stage, "/Mesh").materials == ("/MOne", "/MTwo", "/Whole")
    # The faces of the same material are nothing of their own.
    binding = UsdShade.MaterialBindingAPI(stage.GetPrimAtPath("/Mesh/One"))
    binding.Bind(UsdShade.Material.Get(stage, "/Whole"))
    assert read(stage, "/Mesh").materials == ("/MTwo", "/Whole")


# --------------------------------------------------------------------------- places


def test_a_place_follows_what_is_above_unless_the_stack_is_reset() -> None:
    stage = new_stage(0.01)
    UsdGeom.Xform.Define(stage, "/Group").AddTranslateOp().Set(Gf.Vec3d(100, 0, 0))
    for path in ("/Group/Free", "/Group/Tied"):
        shape = UsdGeom.Cube.Define(stage, path)
        shape.AddTranslateOp().Set(Gf.Vec3d(0, 50, 0))
        UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    UsdGeom.Xformable(stage.GetPrimAtPath("/Group/Free")).SetResetXformStack(True)
    free, tied = read(stage, "/Group/Free"), read(stage, "/Group/Tied")
    assert (free.resets_xform_stack, tied.resets_xform_stack) == (True, False)
    np.testing.assert_allclose(free.world[:3, 3], (0, 0.5, 0))
    np.testing.assert_allclose(tied.world[:3, 3], (1, 0.5, 0))


@pytest.mark.parametrize("broken", ["xformOp:nothing", "nonsense", "xformOp:rotateZ:text"])
def test_a_broken_transform_operation_is_left_out_and_the_others_count(broken: str) -> None:
    """Turned by a quarter about a pivot: inverse operations and their order count."""
    stage = new_stage()
    shape = UsdGeom.Cube.Define(stage, "/Shape")
    shape.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    shape.AddTranslateOp(opSuffix="pivot").Set(Gf.Vec3d(1, 0, 0))
    shape.AddRotateZOp().Set(90.0)
    shape.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    shape.GetPrim().CreateAttribute("xformOp:rotateZ:text", Sdf.ValueTypeNames.String).Set("far")
    order = list(shape.GetXformOpOrderAttr().Get())
    shape.GetXformOpOrderAttr().Set([*order, broken])
    matrix, resets = usd_read.local_transform(UsdGeom.XformCache(), shape.GetPrim())
    assert tuple(matrix.Transform(Gf.Vec3d(1, 0, 0))) == pytest.approx((2, 2, 3))
    assert tuple(matrix.Transform(Gf.Vec3d(2, 0, 0))) == pytest.approx((2, 3, 3))
    assert not resets
    shape.GetXformOpOrderAttr().Set([order[0], "!resetXformStack!", *order[1:], broken])
    matrix, resets = usd_read.local_transform(UsdGeom.XformCache(), shape.GetPrim())
    assert tuple(matrix.Transform(Gf.Vec3d(2, 0, 0))) == pytest.approx((1, 1, 0))
    assert resets


def test_an_instance_name_of_a_schema_that_has_none_applies_nothing_as_in_usd() -> None:
    stage = new_stage()
    prim = UsdGeom.Cube.Define(stage, "/Cube").GetPrim()
    names = ["PhysicsRigidBodyAPI:name", "PhysicsMassAPI:x", "PhysicsCollisionAPI", "PhysicsDriveAPI"]
    prim.SetMetadata("apiSchemas", Sdf.TokenListOp.CreateExplicit(names))
    assert not prim.HasAPI(UsdPhysics.RigidBodyAPI)
    assert set(read(stage, "/Cube").schemas) == {"Cube", "PhysicsCollisionAPI"}


def test_prims_with_a_schema_that_nobody_declares_are_counted() -> None:
    stage = new_stage()
    for name, schemas in (
        ("Known", ["PhysicsRigidBodyAPI"]), ("Both", ["PhysicsRigidBodyAPI", "AcmeGlueAPI"]),
        ("Usds", ["MaterialBindingAPI"]), ("Vendor", ["AcmeGlueAPI", "AcmeTapeAPI:left"]), ("Plain", []),
    ):  # fmt: skip
        prim = UsdGeom.Cube.Define(stage, f"/{name}").GetPrim()
        for schema in schemas:
            prim.AddAppliedSchema(schema)
    assert usd_read.count_vendor_prims(stage) == 2


def test_sizes_that_a_file_leaves_out_are_those_of_usd() -> None:
    """What is written again, or edited, is the shape that the file shows."""
    stage = new_stage(0.01)
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Capsule.Define(stage, "/Capsule").GetPrim())
    found = read(stage, "/Capsule").schemas["Capsule"]
    assert found == usd_geom.Capsule(height=0.01, radius=0.005, axis="Z")


def test_prims_that_joints_hold_on_to_are_in_the_model_though_they_have_no_physics() -> None:
    stage = new_stage()
    UsdGeom.Xform.Define(stage, "/Post").AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    UsdGeom.Xform.Define(stage, "/Other")
    joint = UsdPhysics.FixedJoint.Define(stage, "/Joint")
    joint.CreateBody0Rel().SetTargets(["/Post", "/Gone"])
    model = usd_read.read_stage(stage)
    assert list(model.prims) == ["/Joint", "/Post"]
    np.testing.assert_allclose(model.prims["/Post"].world[:3, 3], (1, 2, 3))
    assert "/Other" in model.other_paths and "/Post" not in model.other_paths


def test_a_value_that_is_only_animated_is_read_at_its_first_time() -> None:
    stage = new_stage()
    scene = UsdPhysics.Scene.Define(stage, "/Scene")
    magnitude = scene.CreateGravityMagnitudeAttr()
    magnitude.Set(3.0, 10.0)
    magnitude.Set(7.0, 5.0)
    assert read(stage, "/Scene").schemas["PhysicsScene"].gravity_magnitude == 7.0
    magnitude.Set(1.5)
    assert read(stage, "/Scene").schemas["PhysicsScene"].gravity_magnitude == 1.5


def write_scene(file: Path, magnitude: float, sublayer: str = "") -> None:
    """A file with a physics scene, always with the same time stamp."""
    layer = Sdf.Layer.CreateAnonymous(f"made{file.suffix}")
    if sublayer:
        layer.subLayerPaths.append(sublayer)
    else:
        stage = Usd.Stage.Open(layer)
        UsdPhysics.Scene.Define(stage, "/Scene").CreateGravityMagnitudeAttr(magnitude)
    assert layer.Export(str(file))
    os.utime(file, (1e9, 1e9))


def magnitude_in(file: Path) -> float:
    stage = usd_read.open_stage(file)
    return UsdPhysics.Scene.Get(stage, "/Scene").GetGravityMagnitudeAttr().Get()


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_a_file_that_is_open_elsewhere_and_changed_without_another_time_stamp_is_read_as_it_is(
    tmp_path, suffix
) -> None:
    file, above = tmp_path / f"scene{suffix}", tmp_path / "above.usda"
    write_scene(file, 1.0)
    write_scene(above, 0.0, sublayer=f"./{file.name}")
    held = [Usd.Stage.Open(str(file)), Usd.Stage.Open(str(above))]
    assert (magnitude_in(file), magnitude_in(above)) == (1.0, 1.0)
    write_scene(file, 2.0)
    assert magnitude_in(above) == 2.0
    write_scene(file, 3.0)
    assert magnitude_in(file) == 3.0
    write_scene(file, 4.0)
    # Now only the layer below is cached.
    held.pop()
    assert magnitude_in(above) == 4.0


def test_a_file_that_nobody_has_open_is_read_once(tmp_path) -> None:
    file = tmp_path / "scene.usda"
    write_scene(file, 1.0)
    reloaded = []
    listener = Tf.Notice.RegisterGlobally(
        Sdf.Notice.LayerDidReloadContent, lambda notice, layer: reloaded.append(layer)
    )
    assert magnitude_in(file) == 1.0
    assert reloaded == []
    held = usd_read.open_stage(file)
    assert magnitude_in(file) == 1.0
    assert [layer.identifier for layer in reloaded] == [held.GetRootLayer().identifier]
    listener.Revoke()


def test_a_layer_that_ends_while_a_file_is_opened_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector can free a stage of somebody else at any time: its layers are still listed then."""
    stage = Usd.Stage.CreateInMemory()
    ended = stage.GetRootLayer()
    del stage
    assert ended.expired
    monkeypatch.setattr(Sdf.Layer, "GetLoadedLayers", staticmethod(lambda: {ended}))
    (file := tmp_path / "a.usda").write_text('#usda 1.0\ndef Xform "A"\n{\n}\n', encoding="utf-8")
    assert usd_read.open_stage(file).GetPrimAtPath("/A")


# --------------------------------------------------------------------------- files that do not end

USD_TEXT = "#usda 1.0\n"
#: name: text of a file that brings in "./pipe.usda", some by way of "./between.usda".
REFERRING = {
    "sublayer": f"{USD_TEXT}(\n    subLayers = [@./pipe.usda@]\n)\n",
    "reference": f'{USD_TEXT}def "A" (\n    references = @./pipe.usda@\n)\n{{\n}}\n',
    "payload": f'{USD_TEXT}def "A" (\n    payload = @./pipe.usda@</B>\n)\n{{\n}}\n',
    "two steps": f"{USD_TEXT}(\n    subLayers = [@./between.usda@]\n)\n",
    "variant": f'{USD_TEXT}def "A" (\n    prepend variantSets = "v"\n)\n{{\n'
    '    variantSet "v" = {\n        "x" (\n            references = @./pipe.usda@\n        ) {\n        }\n    }\n}\n',
    "arguments": f'{USD_TEXT}def "A" (\n    references = @./pipe.usda:SDF_FORMAT_ARGS:target=usd@\n)\n{{\n}}\n',
}  # fmt: skip


@pytest.fixture
def pipe(tmp_path: Path):
    """A pipe, with a process behind it that ends the wait of a reader, so that a test fails and does not hang."""
    file = tmp_path / "pipe.usda"
    os.mkfifo(file)
    writer = subprocess.Popen(["sh", "-c", 'while :; do : > "$0"; done', str(file)])
    yield file
    writer.kill()
    writer.wait()


@pytest.mark.parametrize("way", REFERRING)
def test_a_pipe_that_a_file_brings_in_is_refused_and_not_waited_for(way: str, pipe: Path) -> None:
    file = pipe.with_name("scene.usda")
    file.write_text(REFERRING[way])
    pipe.with_name("between.usda").write_text(REFERRING["sublayer"])
    with pytest.raises(InputError, match=r"'.*scene.usda' cannot be opened: '.*pipe.usda' is a device or a pipe"):
        usd_read.open_stage(file)


@pytest.mark.parametrize("clip", [
    "asset[] assetPaths = [@./pipe.usda@]", 'string templateAssetPath = "./pi##.usda"\ndouble templateStartTime = 10\n'
    "double templateEndTime = 10\ndouble templateStride = 1", "asset manifestAssetPath = @./pipe.usda@",
])  # fmt: skip
def test_a_value_clip_that_is_a_pipe_is_refused_before_its_values_are_read(clip: str, pipe: Path) -> None:
    if "template" in clip:
        pipe.rename(pipe.with_name("pi10.usda"))
    file = pipe.with_name("scene.usda")
    file.write_text(
        f'{USD_TEXT}def Xform "A" (\n    clips = {{ dictionary default = {{\n{clip}\nstring primPath = "/A"\n'
        "double2[] active = [(0, 0)]\ndouble2[] times = [(0, 0)]\n} }\n)\n{\n    double3 xformOp:translate\n"
        '    uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    with pytest.raises(InputError, match=r"'.*pi.*.usda' is a device or a pipe"):
        usd_read.read_stage(usd_read.open_stage(file))


@pytest.mark.parametrize("way", ["reference", "payload", "sublayer", "variant"])
def test_a_pipe_that_a_binary_file_brings_in_is_refused(way: str, pipe: Path) -> None:
    file = pipe.with_name("scene.usdc")
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(REFERRING[way])
    layer.Export(str(file))
    with pytest.raises(InputError, match=r"'.*pipe.usda' is a device or a pipe"):
        usd_read.open_stage(file)


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_a_large_layer_that_names_no_others_is_known_without_opening_it(tmp_path: Path, suffix: str) -> None:
    """A variant that nobody chooses can be such a layer."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for number in range(3000):
        # Names that are alike, for long matches in the packed table of them.
        prim = Sdf.CreatePrimInLayer(layer, f"/{'Box' * (number % 90)}_{number:05}")
        prim.specifier = Sdf.SpecifierDef
    layer.Export(str(tmp_path / f"large.{suffix}"))
    assert arcs.named(tmp_path / f"large.{suffix}") == (False, False)
    layer.GetPrimAtPath("/_00000").SetInfo("clips", {"default": {"primPath": "/A"}})
    layer.Export(str(tmp_path / f"clips.{suffix}"))
    assert arcs.named(tmp_path / f"clips.{suffix}") == (False, True)
    layer.GetPrimAtPath("/_00000").payloadList.Prepend(Sdf.Payload("a.usda"))
    layer.Export(str(tmp_path / f"payload.{suffix}"))
    assert arcs.named(tmp_path / f"payload.{suffix}") == (True, True)
    data = (tmp_path / f"payload.{suffix}").read_bytes()
    for end in (0, 3, 30, 90, len(data) // 2):
        (tmp_path / f"torn.{suffix}").write_bytes(data[:end])
        assert suffix == "usda" or arcs.named(tmp_path / f"torn.{suffix}") == (True, True)


def test_a_link_to_a_device_is_refused_and_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "scene.usda"
    file.write_text(REFERRING["sublayer"])
    (tmp_path / "pipe.usda").symlink_to("/dev/null")
    with pytest.raises(InputError, match="is a device or a pipe"):
        usd_read.open_stage(file)


def test_a_pipe_is_found_in_a_file_that_is_cached_and_has_changed(pipe: Path) -> None:
    file = pipe.with_name("scene.usda")
    file.write_text(USD_TEXT)
    held = usd_read.open_stage(file)
    file.write_text(REFERRING["sublayer"])
    with pytest.raises(InputError, match="is a device or a pipe"):
        usd_read.open_stage(file)
    assert held.GetRootLayer()


def test_layers_that_refer_to_each_other_and_to_nothing_are_opened(tmp_path: Path) -> None:
    first, second = tmp_path / "first.usda", tmp_path / "second.usda"
    first.write_text(f'{USD_TEXT}(\n    subLayers = [@./second.usda@, @./gone.usda@]\n)\ndef "A"\n{{\n}}\n')
    second.write_text(f'{USD_TEXT}def "B" (\n    references = @./first.usda@</A>\n)\n{{\n}}\n')
    stage = usd_read.open_stage(first)
    assert [prim.GetName() for prim in stage.Traverse()] == ["B", "A"]


def test_a_pipe_in_place_of_a_texture_is_refused_before_blender_waits_for_it(pipe: Path) -> None:
    file, texture = pipe.with_name("scene.usda"), pipe.with_name("image.png")
    texture.symlink_to(pipe)
    file.write_text(
        f'{USD_TEXT}def Shader "Image"\n{{\n    uniform token info:id = "UsdUVTexture"\n'
        "    asset inputs:file = @./image.png@\n}\n"
    )
    with pytest.raises(InputError, match=r"'/Image' reads '.*', which is a device or a pipe"):
        importable.check(usd_read.open_stage(file), file)


@pytest.mark.parametrize("rate", ["0", "inf", "nan", "1e-310", "1e-150"])
@pytest.mark.parametrize("above", ["subLayers = [@./low.usda@]", "timeCodesPerSecond = {rate}"])
def test_animation_without_a_rate_is_refused_before_usd_looks_for_its_times_without_end(
    tmp_path: Path, above: str, rate: str
) -> None:
    low, high = tmp_path / "low.usda", tmp_path / "high.usda"
    own = "24" if "rate" in above else rate
    low.write_text(
        f"#usda 1.0\n(\n    timeCodesPerSecond = {own}\n)\n"
        'def Xform "A"\n{\n    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 1: (1, 0, 0) }\n'
        '    uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    fields = [above.format(rate=rate), "subLayers = [@./low.usda@]"] if "rate" in above else [above]
    high.write_text("#usda 1.0\n(\n    " + "\n    ".join(fields) + "\n)\n")
    wrong = high if "rate" in above else low
    with pytest.raises(InputError, match=f"'{wrong.name}' has {rate} time codes per second"):
        usd_read.open_stage(high)


def test_a_rate_of_zero_without_animation_hurts_nobody(tmp_path: Path) -> None:
    file = tmp_path / "still.usda"
    file.write_text('#usda 1.0\n(\n    timeCodesPerSecond = 0\n)\ndef Xform "A"\n{\n}\n')
    assert usd_read.open_stage(file).GetPrimAtPath("/A")


def test_a_file_for_which_there_is_too_little_memory_is_not_called_damaged(tmp_path, monkeypatch):
    def full(*_arguments):
        raise RuntimeError("'Exception thrown while opening layer: std::bad_alloc'")

    (file := tmp_path / "large.usda").write_text("#usda 1.0\n")
    monkeypatch.setattr(Usd.Stage, "Open", full)
    with pytest.raises(InputError, match="too little memory"):
        usd_read.open_stage(file)


def test_gravity_factor_of_mujoco_is_that_of_gltf_and_back(tmp_path):
    """A body that the model takes from glTF gets the attribute; one that has it in USD keeps it as it is."""
    stage = new_stage()
    for name, value in (("Light", 0.75), ("Floating", 1.0), ("Plain", None)):
        body = UsdGeom.Xform.Define(stage, f"/{name}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(body)
        if value is not None:
            body.CreateAttribute("mjc:gravcomp", Sdf.ValueTypeNames.Float).Set(value)
    model = usd_read.read_stage(stage)
    assert {path: mass.gravity_factor(prim) for path, prim in model.bodies.items()} == {
        "/Light": 0.25, "/Floating": 0.0, "/Plain": 1.0
    }  # fmt: skip
    of_gltf = Prim("/Of", "Xform", extras={"motion": {"gravityFactor": 0.25}})
    of_gltf.add(usd_physics.RigidBodyAPI())
    for prim, expected, kept in ((model.prims["/Light"], None, None), (of_gltf, 0.75, of_gltf.extras)):
        layer = Sdf.Layer.CreateAnonymous()
        usd_write.SpecWriter(layer, StageUnits()).write(prim)
        spec = layer.GetPrimAtPath(prim.path)
        found = spec.attributes["mjc:gravcomp"].default if "mjc:gravcomp" in spec.attributes else None
        assert found == expected
        assert json.loads(spec.customData.get("gltf", "null")) == kept


def oddities(folder: Path, head: str, prims: str = 'def Xform "W"\n{\n}\n') -> list[str]:
    (folder / "in.usda").write_text(f"#usda 1.0\n(\n{head}\n)\n{prims}")
    return [f"{issue.code}: {issue.message}" for issue in overview.overview(folder / "in.usda").issues]


def test_what_is_odd_about_a_file_is_said_in_words_of_its_own(tmp_path: Path) -> None:
    """An up axis that is none, a default prim that is not there, an image without bytes, circles."""
    assert oddities(tmp_path, 'upAxis = "Z"\ndefaultPrim = "W"') == []
    assert oddities(tmp_path, 'upAxis = "X"') == [
        "StageUpAxis: The up axis is 'X', which USD does not know; Z is taken."
    ]
    assert oddities(tmp_path, 'defaultPrim = "Nope"') == [
        "DefaultPrimMissing: The default prim 'Nope' does not exist: a reference to this file brings in nothing."
    ]
    texture = 'def Shader "T"\n{\nasset inputs:file = @./paint.png@\n}\n'
    (tmp_path / "paint.png").touch()
    assert oddities(tmp_path, "", texture) == ["AssetMissing: The texture './paint.png' of '/T' is an empty file."]
    (tmp_path / "paint.png").write_bytes(b"x")
    assert oddities(tmp_path, "", texture) == []
    source = 'def Shader "T"\n{\nasset info:mdl:sourceAsset = @OmniPBR.mdl@\n}\n'
    assert oddities(tmp_path, "", source) == ["AssetMissing: The source 'OmniPBR.mdl' of the shader '/T' is missing."]
    (tmp_path / "other.usda").write_text('#usda 1.0\ndef "W" (references = @./in.usda@</W>)\n{\n}\n')
    (said,) = oddities(tmp_path, "", 'def "W" (references = @./other.usda@</W>)\n{\n}\n')
    assert (
        said
        == "AssetMissing: A part of '/W' is missing, because it references itself by way of 'in.usda', 'other.usda'."
    )
    (tmp_path / "under.usda").write_text("#usda 1.0\n(subLayers = [@./in.usda@])\n")
    (said,) = oddities(tmp_path, "subLayers = [@./under.usda@]")
    assert "it references itself by way of" in said and "'under.usda'" in said and "'in.usda'" in said


def test_a_stage_with_metadata_of_another_program_is_flattened_without_a_word(tmp_path, capsys):
    """Robots for Isaac say hide_in_stage_window, which only Omniverse knows: two lines for each file that was read."""
    file = tmp_path / "a.usda"
    file.write_text('#usda 1.0\ndef Xform "A" (\n    hide_in_stage_window = true\n)\n{\n}\n')
    with usd_read.damage_refused(file):
        usd_read.open_stage(str(file)).Flatten()
    assert capsys.readouterr().err == ""
