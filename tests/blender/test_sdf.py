"""Models of Gazebo in Blender: imported as objects that play, written as USD and URDF, refused without a trace."""

from pathlib import Path

import bpy
import pytest
from sdf_models import ARM
from usdphys_ext.operators.files import import_sdf
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.urdf import read as urdf_read
from usdphys_ext.usdphys_addon.usd import read


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = tmp_path / "arm.sdf"
    path.write_text(ARM, encoding="utf-8")
    return path


def test_the_operator_imports_a_model_beside_what_is_there(arm: Path) -> None:
    bpy.ops.mesh.primitive_cube_add(location=(5, 5, 0))
    assert bpy.ops.usdphys.import_sdf(filepath=str(arm)) == {"FINISHED"}
    model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    assert len(model.bodies) == 4 and len(model.joints) == 4 and "Cube" in bpy.data.objects
    upper = bpy.data.objects["upper"]
    assert tuple(upper.matrix_world.translation) == pytest.approx((0, 0, 0.4), abs=1e-6)
    bar = bpy.data.objects["upper_bar"].usdphys.physics_material
    assert bar is not None and bar.usdphys.physics_material.static_friction == pytest.approx(0.4)
    look = bpy.data.objects["base_look"].active_material
    assert look is not None and look.diffuse_color[0] > look.diffuse_color[1]


@pytest.mark.slow
def test_what_is_imported_comes_out_as_usd_and_as_urdf(arm: Path, tmp_path: Path) -> None:
    formats.SDF.load(str(arm), formats.SDF.options())
    issues = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions()).issues
    assert not [issue for issue in issues if issue.severity == "error"]
    model = read.read_stage(read.open_stage(tmp_path / "out.usda"))
    joint = next(prim for path, prim in model.joints.items() if path.endswith("/shoulder")).get(
        usd_physics.RevoluteJoint
    )
    assert joint is not None and (joint.lower_limit, joint.upper_limit) == pytest.approx((-1, 1.5))
    issues = formats.URDF.write(str(tmp_path / "out.urdf"), formats.WriteOptions()).issues
    assert not [issue for issue in issues if issue.severity == "error"]
    robot = urdf_read.read_file(tmp_path / "out.urdf")
    assert {"base", "upper", "finger", "other"} <= set(robot.links)
    mimic = robot.joints["follows"].mimic
    assert mimic is not None and (mimic.joint, mimic.multiplier, mimic.offset) == ("slide", 2.0, pytest.approx(-0.03))


def test_a_window_offers_gains_that_hold_the_pose(arm: Path) -> None:
    assert bpy.ops.usdphys.import_sdf(filepath=str(arm), drives="hold") == {"FINISHED"}
    model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    drives = [
        drive.stiffness for prim in model.joints.values() for _, drive in prim.instances(usd_physics.DriveAPI)
    ]  # fmt: skip
    assert drives and all(value > 0 for value in drives)


def test_links_and_colliders_without_gravity_keep_it_through_blender(arm: Path, tmp_path: Path) -> None:
    arm.write_text('<sdf version="1.9"><model name="m"><link name="a"><gravity>false</gravity></link></model></sdf>')
    formats.SDF.load(str(arm), formats.SDF.options())
    formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions())
    stage = read.open_stage(tmp_path / "out.usda")
    lifted = [prim.GetAttribute("mjc:gravcomp").Get() for prim in stage.Traverse() if prim.GetName() == "a"]
    assert lifted == [1.0]


def test_a_bad_file_leaves_the_scene_as_it_was(arm: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    arm.write_text('<sdf version="1.9"><model name="m"/></sdf>', encoding="utf-8")
    with pytest.raises(RuntimeError, match="has no link"):
        bpy.ops.usdphys.import_sdf(filepath=str(arm))
    assert [obj.name for obj in bpy.data.objects] == ["Cube"]


def test_both_kinds_of_files_can_be_dropped_into_the_view() -> None:
    handler = import_sdf.USDPHYS_FH_sdf
    assert handler.bl_file_extensions == ".sdf;.world" and handler.bl_import_operator == "usdphys.import_sdf"
