# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of MuJoCo in Blender: imported as objects that play, written as USD in every form, and undone in one step."""

from pathlib import Path
from xml.etree import ElementTree

import bpy
import pytest
from mjcf_models import ARM
from pxr import Usd
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.bridge.identity import remembered
from usdphys_ext.usdphys_addon.exchange import mjcf_import, packed_source, usd_import
from usdphys_ext.usdphys_addon.mjcf import read as mjcf_read
from usdphys_ext.usdphys_addon.usd import read


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = tmp_path / "arm.xml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.mark.slow
def test_the_operator_imports_a_model_beside_what_is_there(arm: Path) -> None:
    bpy.ops.mesh.primitive_cube_add(location=(5, 5, 0))
    assert bpy.ops.usdphys.import_mjcf(filepath=str(arm)) == {"FINISHED"}
    model = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).model
    assert len(model.bodies) == 5 and len(model.joints) == 4 and "Cube" in bpy.data.objects
    wedge = next(obj for obj in bpy.data.objects if obj.name.startswith("wedge"))
    assert wedge.type == "MESH" and wedge.active_material is not None
    assert packed_source.is_packed(bpy.context.scene)


@pytest.mark.slow
def test_a_model_is_imported_in_the_pose_of_a_keyframe_and_its_text_comes_back(arm: Path) -> None:
    """Of a pendulum of 1 m that hangs, and is lifted by 90 degrees."""
    arm.write_text(
        '<mujoco model="m"><worldbody><body name="rod" pos="0 0 2"><joint name="hinge" axis="0 1 0"/>'
        '<geom name="bob" size=".1" pos="0 0 -1"/></body></worldbody>'
        '<keyframe><key name="up" qpos="-1.5707963267948966"/></keyframe></mujoco>',
        encoding="utf-8",
    )
    assert mjcf_import.keyframes_of(arm) == ["up"]
    assert bpy.ops.usdphys.import_mjcf(filepath=str(arm), keyframe="up") == {"FINISHED"}
    bob = next(obj for obj in bpy.data.objects if obj.name.startswith("bob"))
    assert tuple(bob.matrix_world.translation) == pytest.approx((1.0, 0.0, 2.0), abs=1e-6)
    assert bpy.ops.usdphys.export_mjcf(filepath=str(arm.with_name("again.xml"))) == {"FINISHED"}
    assert arm.with_name("again.xml").read_bytes() == arm.read_bytes()
    with pytest.raises(RuntimeError, match="has no keyframe 'down'; it has 'up'"):
        bpy.ops.usdphys.import_mjcf(filepath=str(arm), keyframe="down")
    # The next model is not asked for the keyframe of the last one.
    assert bpy.ops.usdphys.import_mjcf.get_rna_type().properties["keyframe"].is_skip_save


@pytest.mark.slow
def test_the_scene_names_the_file_that_was_chosen_not_the_stage_that_was_made_of_it(arm: Path, tmp_path: Path) -> None:
    assert remembered.source_name(bpy.context.scene) == ""
    bpy.ops.usdphys.import_mjcf(filepath=str(arm))
    assert remembered.source_name(bpy.context.scene) == "arm.xml"
    packed_source.unpack(bpy.context.scene, tmp_path)
    assert remembered.source_name(bpy.context.scene).startswith("arm.usd")


def test_a_bad_file_leaves_the_scene_as_it_was(arm: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    arm.write_text("<mujoco><worldbody/></mujoco>", encoding="utf-8")
    with pytest.raises(RuntimeError, match="holds no body"):
        bpy.ops.usdphys.import_mjcf(filepath=str(arm))
    assert [obj.name for obj in bpy.data.objects] == ["Cube"]


@pytest.mark.parametrize(
    ("variable", "words"),
    [(usd_import.VARIABLE, "geoms"), (usd_import.PRIMS_VARIABLE, "bodies, geoms, joints, actuators and other parts")],
)
def test_a_model_of_more_parts_than_blender_bears_is_refused_by_name(arm: Path, monkeypatch, variable, words) -> None:
    bpy.ops.mesh.primitive_cube_add()
    monkeypatch.setenv(variable, "1")
    with pytest.raises(RuntimeError, match=rf"'arm\.xml' has \d+ {words}, and Blender needs much .* {variable} allows"):
        bpy.ops.usdphys.import_mjcf(filepath=str(arm))
    assert [obj.name for obj in bpy.data.objects] == ["Cube"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["copy", "flat", "composed"])
@pytest.mark.parametrize("units", [{}, {"meters_per_unit": 0.01, "up_axis": "Y"}], ids=["metres", "centimetres"])
def test_an_imported_model_is_written_in_every_form(
    arm: Path, form: str, units: dict[str, object], tmp_path: Path
) -> None:
    formats.MJCF.load(str(arm), formats.MjcfChoices())
    result = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions(form=form, **units))
    assert not [issue.code for issue in result.issues if issue.severity == "error"]
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    model = read.read_stage(stage)
    drive = model.joints["/arm/joints/shoulder"].schemas["PhysicsDriveAPI:angular"]
    assert (drive.stiffness, drive.damping) == pytest.approx((50, 4), rel=1e-5)
    assert len(model.bodies) == 5 and stage.GetPrimAtPath("/arm/actuators/push").GetTypeName() == "MjcActuator"
    assert model.prims["/arm/hand"].world[2, 3] == pytest.approx(0.65, abs=1e-6)


@pytest.mark.slow
def test_a_scene_that_nobody_edited_is_exported_as_the_text_that_was_imported(arm: Path, tmp_path: Path) -> None:
    formats.MJCF.load(str(arm), formats.MjcfChoices())
    bpy.ops.mesh.primitive_cube_add(location=(9, 0, 0))
    bpy.context.object.name = "Backdrop"
    assert bpy.ops.usdphys.export_mjcf(filepath=str(tmp_path / "out.xml")) == {"FINISHED"}
    assert (tmp_path / "out.xml").read_text(encoding="utf-8") == ARM
    issues = formats.MJCF.write(str(tmp_path / "again.xml"), formats.WriteOptions()).issues
    assert [issue.label for issue in issues if issue.code == "MjcfNotSaid"] == ["Backdrop"]
    bpy.data.objects["hand"].usdphys.mass.mass = 0.75
    formats.MJCF.write(str(tmp_path / "heavy.xml"), formats.WriteOptions())
    assert (tmp_path / "heavy.xml").read_text(encoding="utf-8") == ARM.replace('mass="0.3"', 'mass="0.75"')


@pytest.mark.slow
def test_a_robot_whose_links_are_below_each_other_is_no_finding(tmp_path: Path) -> None:
    """A tree of bodies is what a model of MuJoCo is: the report named a body below another one by their paths."""
    links = "".join(f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
                    f'iyz="0"/></inertial></link>' for name in ("base", "arm", "hand"))  # fmt: skip
    joints = "".join(f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
                     f'</joint>' for parent, child in (("base", "arm"), ("arm", "hand")))  # fmt: skip
    robot = tmp_path / "robot.urdf"
    robot.write_text(f'<robot name="robot">{links}{joints}</robot>', encoding="utf-8")
    assert bpy.ops.usdphys.import_urdf(filepath=str(robot)) == {"FINISHED"}
    issues = formats.MJCF.write(str(tmp_path / "out.xml"), formats.WriteOptions()).issues
    assert "NestedRigidBody" not in [issue.code for issue in issues]


@pytest.mark.slow
def test_a_scene_with_other_parts_is_written_anew(arm: Path, tmp_path: Path) -> None:
    formats.MJCF.load(str(arm), formats.MjcfChoices())
    for name in [obj.name for obj in bpy.data.objects if obj.name.startswith("ball")]:
        bpy.data.objects.remove(bpy.data.objects[name])
    issues = formats.MJCF.write(str(tmp_path / "out.xml"), formats.WriteOptions()).issues
    assert "MjcfWrittenAnew" in [issue.code for issue in issues] and not [i for i in issues if i.severity == "error"]
    model = mjcf_read.read_file(tmp_path / "out.xml")
    assert {body.name for body in model.bodies} == {"world", "upper", "hand", "one", "two"}
    assert "shoulder" in {joint.name for body in model.bodies for joint in body.joints}


MOVING = """#usda 1.0
(
    defaultPrim = "World"
    endTimeCode = 48
    metersPerUnit = 1
    startTimeCode = 0
    timeCodesPerSecond = 24
    upAxis = "Z"
)
def Xform "World"
{
    def Cube "Lift" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        bool physics:kinematicEnabled = 1
        double size = 1
        double3 xformOp:translate.timeSamples = {0: (1, 2, 3), 48: (1, 2, 5)}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


def place_of(file: Path, name: str) -> list[float]:
    (body,) = ElementTree.parse(file).iterfind(f".//body[@name='{name}']")
    return [float(part) for part in body.get("pos", "0 0 0").split()]


@pytest.mark.parametrize("frame", [0, 24])
def test_what_the_imported_file_moves_is_written_where_it_is_shown_and_its_motion_is_missed(
    tmp_path: Path, frame: int
) -> None:  # fmt: skip
    (tmp_path / "in.usda").write_text(MOVING)
    usd_import.import_usd(bpy.context, tmp_path / "in.usda", usd_import.ImportOptions())
    bpy.context.scene.frame_set(frame)
    result = formats.MJCF.write(str(tmp_path / "out.xml"), formats.WriteOptions())
    assert place_of(tmp_path / "out.xml", "Lift") == pytest.approx([1, 2, 3 + frame / 24], abs=1e-4)
    assert "FileDiffers" not in [issue.code for issue in result.issues]
    (issue,) = [issue for issue in result.issues if issue.code == "AnimationLeftOut"]
    assert issue.label == "Lift" and f"at frame {frame} was written" in issue.message and "MJCF" in issue.fix


def test_a_file_with_motion_is_converted_in_its_first_pose(tmp_path: Path) -> None:
    (tmp_path / "in.usda").write_text(MOVING.replace("startTimeCode = 0", "startTimeCode = 24"))
    conversion = formats.USD.conversions[formats.MJCF.name]
    options = formats.USD.chosen({})
    issues, _ = conversion.run(str(tmp_path / "in.usda"), options, str(tmp_path / "out.xml"), formats.WriteOptions())
    assert place_of(tmp_path / "out.xml", "Lift") == pytest.approx([1, 2, 4], abs=1e-4)
    (issue,) = [issue for issue in issues if issue.code == "AnimationLeftOut"]
    assert issue.path == "/World/Lift" and "at frame 24 was written" in issue.message
    assert not [issue for issue in issues if issue.code == "FileDiffers"]


@pytest.mark.slow
def test_what_falls_is_not_missed_as_motion_and_an_error_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "in.usda").write_text(MOVING.replace("bool physics:kinematicEnabled = 1", ""))
    usd_import.import_usd(bpy.context, tmp_path / "in.usda", usd_import.ImportOptions())
    flat = bpy.data.objects["Lift"].copy()
    flat.animation_data_clear()
    flat.constraints.clear()
    flat.name, flat.scale.z = "Flat", 0.0
    bpy.context.collection.objects.link(flat)
    bpy.context.view_layer.update()
    result = formats.MJCF.write(str(tmp_path / "out.xml"), formats.WriteOptions())
    told = [(issue.code, issue.path, issue.label) for issue in result.issues]
    assert "AnimationLeftOut" not in [issue.code for issue in result.issues]
    stage = formats.USD.write(str(tmp_path / "out.usda"), formats.WriteOptions(form="composed"))
    assert sorted(one for one in told if one[0] == "ZeroScale") == sorted(
        (issue.code, issue.path, issue.label) for issue in stage.issues if issue.code == "ZeroScale"
    )
