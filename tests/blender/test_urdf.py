# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots in Blender: what an import makes of a URDF, what an export has of it, and that a failure changes nothing."""

from __future__ import annotations

import math
import shutil
import struct
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import bpy
import numpy as np
import pytest
from usdphys_ext.operators.files import import_urdf
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import SI
from usdphys_ext.usdphys_addon.core.validate import validate
from usdphys_ext.usdphys_addon.exchange import urdf_export, urdf_import, usd_export, usd_import
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.urdf import meshes, packages, read
from usdphys_ext.usdphys_addon.usd import importable, robot_files

from . import scenes

pytestmark = pytest.mark.slow

ROBOT = """<?xml version="1.0"?>
<robot name="little arm">
  <link name="base-link"><inertial><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><box size="0.2 0.2 0.1"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
  </link>
  <link name="arm"><inertial><origin xyz="0 0 0.25"/><mass value="0.5"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/></inertial>
    <collision><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.05" length="0.5"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="base-link"/><child link="arm"/>
    <origin xyz="0 0 0.1" rpy="1e-5 1.5707963 0"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.3"/></joint>
  <gazebo reference="arm"><mu1>0.75</mu1></gazebo>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ROBOT)
    return file


def test_options_of_an_import_are_in_the_file_and_leave_the_urdf_as_it_is(urdf, tmp_path):
    options = ("--drives", "hold", "--no-self-collision", "--no-visuals", "--visual-colliders")
    for name in ("robot.usda", "robot.blend"):
        assert cli.main(["convert", str(urdf), str(tmp_path / name), *options]) == 0
        assert cli.main(["convert", str(tmp_path / name), str(tmp_path / "again.urdf")]) == 0
        assert (tmp_path / "again.urdf").read_text() == ROBOT
    text = (tmp_path / "robot.usda").read_text()
    for part in (
        "newton:selfCollisionEnabled = 0",
        "physxArticulation:enabledSelfCollisions = 0",
        "base_link_collision",
    ):
        assert part in text
    assert "base_link_visual" not in text
    stiffness = float(text.partition("drive:angular:physics:stiffness = ")[2].split()[0])
    # 0.5 kg at 0.25 m, and 0.02 kg m2 about its own centre, at 5 Hz; per degree.
    assert stiffness == pytest.approx((0.5 * 0.25**2 + 0.02) * (10 * math.pi) ** 2 * math.pi / 180, rel=1e-6)


def test_colliders_of_many_faces_are_boxes_that_hide_nothing(tmp_path):
    """A fan of 600 triangles, and one."""
    for name, count in (("many", 600), ("one", 1)):
        points = "".join(f"v {index} {index % 2} 0\n" for index in range(count + 2))
        faces = "".join(f"f {index + 1} {index + 2} {index + 3}\n" for index in range(count))
        (tmp_path / f"{name}.obj").write_text(points + faces)
    shapes = "".join(f'<{kind} name="{name}_{kind}"><geometry><mesh filename="{name}.obj"/></geometry></{kind}>'
                     for name in ("many", "one") for kind in ("visual", "collision"))  # fmt: skip
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="r"><link name="a">{shapes}</link></robot>')
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    drawn = {name: bpy.data.objects[name].display_type for name in (
        "many_visual", "many_collision", "one_visual", "one_collision"
    )}  # fmt: skip
    assert drawn == {
        "many_visual": "TEXTURED", "many_collision": "BOUNDS", "one_visual": "TEXTURED", "one_collision": "WIRE"
    }  # fmt: skip


def test_packages_of_the_preferences_are_found_unless_they_are_gone(tmp_path):
    (tmp_path / "here").mkdir()
    found = robot_files.known_packages((f"arm={tmp_path / 'here'}", f"leg={tmp_path / 'gone'}", "nonsense", "=x", "y="))
    assert found == {"arm": tmp_path / "here"}


def test_an_import_takes_the_packages_of_the_preferences(tmp_path, monkeypatch):
    """The package has another name than its folder, so nothing but the preference leads there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    file = tmp_path / "urdf/r.urdf"
    file.parent.mkdir()
    mesh = '<geometry><mesh filename="package://arm_description/part.obj"/></geometry>'
    file.write_text(f'<robot name="r"><link name="a"><visual>{mesh}</visual></link></robot>')
    told = SimpleNamespace(ros_packages=f"arm_description={tmp_path / 'elsewhere'}")
    monkeypatch.setattr(sys.modules["usdphys_ext.preferences"], "current", lambda _context: told)
    assert bpy.ops.usdphys.import_urdf(filepath=str(file)) == {"FINISHED"}
    assert "a_visual" in bpy.data.objects


def test_the_arguments_of_a_xacro_are_shown_with_their_values(tmp_path):
    file = tmp_path / "arm.xacro"
    file.write_text(
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="side" default="left"/>'
        '<xacro:arg name="mesh" default="$(find r)/mesh"/><xacro:arg name="size" default="2"/><link name="a"/></robot>'
    )
    assert robot_files.arguments_of(file) == {"side": "left", "size": "2"}


def test_objects_have_the_names_of_the_urdf_and_their_physics(urdf):
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    base, arm, elbow = (bpy.data.objects[name] for name in ("base-link", "arm", "elbow"))
    assert arm.parent == base
    assert (base.usdphys.mass.mass, arm.usdphys.mass.mass) == (1.0, 0.5)
    joint = elbow.usdphys.joint
    assert (joint.type, joint.body0, joint.body1) == ("REVOLUTE", base, arm)
    assert joint.revolute.lower_limit == pytest.approx(-1)
    assert joint.drives.angular.max_force == pytest.approx(5)
    assert bpy.data.objects["arm_collision"].usdphys.colliders[0].shape == "CYLINDER"
    assert base.usdphys.articulation_root.is_applied


def test_the_root_of_a_robot_is_active_after_its_import(urdf):
    """The sidebar shows the robot then; Blender made the last of its objects active, which was a visual."""
    result = urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    active = bpy.context.view_layer.objects.active
    assert active.usdphys.articulation_root.is_applied
    assert active.select_get() and active.name in result.objects


def test_a_robot_in_a_scene_of_other_units_has_its_size(urdf):
    bpy.context.scene.unit_settings.scale_length = 0.01
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    bpy.context.view_layer.update()
    assert bpy.data.objects["arm"].matrix_world.translation.z == pytest.approx(10)


def test_a_second_robot_stands_beside_the_first(urdf):
    for _ in range(2):
        urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions(prefix=""))
    assert len([obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]) == 4


def test_a_failed_import_leaves_the_scene_as_it_was(tmp_path, urdf):
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "materials", "collections")}
    (tmp_path / "bad.urdf").write_text("<robot><link")
    with pytest.raises(InputError):
        urdf_import.import_urdf(bpy.context, tmp_path / "bad.urdf", robot_files.RobotOptions())
    steps = urdf_import.import_steps(bpy.context, urdf, robot_files.RobotOptions())
    while next(steps) < 0.9:
        pass
    steps.close()
    assert before == {kind: len(getattr(bpy.data, kind)) for kind in before}
    assert bpy.context.scene.usdphys.source.filepath == ""


def test_a_robot_of_more_shapes_than_blender_bears_is_refused_by_name(tmp_path, urdf, monkeypatch, capsys):
    monkeypatch.setenv(usd_import.VARIABLE, "2")
    target = tmp_path / "arm.blend"
    assert cli.main(["convert", str(urdf), str(target)]) == 0  # a visual and a collision
    target.unlink()
    monkeypatch.setenv(usd_import.VARIABLE, "1")
    assert cli.main(["convert", str(urdf), str(target)]) == 1
    said = capsys.readouterr().err
    assert "'arm.urdf' has 2 visuals and collisions" in said and "USDPHYS_MOST_SHAPES" in said
    assert not target.exists()
    assert cli.main(["inspect", str(urdf)]) == 0  # which makes no objects


def test_through_a_blend_everything_arrives_in_the_usd_file(tmp_path, urdf):
    from pxr import Usd, UsdGeom, UsdPhysics

    blend, usd = tmp_path / "arm.blend", tmp_path / "arm.usda"
    assert cli.main(["convert", str(urdf), str(blend)]) == 0
    assert cli.main(["convert", str(blend), str(usd)]) == 0
    stage = Usd.Stage.Open(str(usd))
    prims = {prim.GetDisplayName() or prim.GetName(): prim for prim in stage.Traverse()}
    assert {"little arm", "base-link", "arm", "elbow", "red"} <= set(prims)
    assert prims["arm"].HasAPI(UsdPhysics.RigidBodyAPI)
    elbow = prims["elbow"]
    assert elbow.GetAttribute("newton:velocityLimit").Get() == pytest.approx(math.degrees(2))
    assert elbow.GetAttribute("newton:damping").Get() == pytest.approx(math.radians(0.3))
    world = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(prims["arm"])).T
    # Blender's own angles are wrong by 4e-4 at a quarter turn.
    assert world[:3, :3] == pytest.approx(read.rotation_of(1e-5, 1.5707963, 0), abs=1e-8)
    assert "<mu1>0.75</mu1>" in prims["little arm"].GetAttribute("urdf:source").Get()


@pytest.mark.parametrize("meters", [1.0, 0.01])
@pytest.mark.parametrize(
    ("shape", "edited"),
    [('<cylinder radius="0.035" length="0.1"/>', "radius"), ('<sphere radius="0.7"/>', "radius"),
     ('<box size="0.1 0.1 0.1"/>', "size"), ('<box size="0.1 0.2 0.3"/>', "size")],
)  # fmt: skip
def test_colliders_keep_the_digits_of_the_file_and_have_extents_also_when_they_are_edited(
    shape, edited, meters, tmp_path
):  # fmt: skip
    from pxr import Usd, UsdGeom

    file, out = tmp_path / "r.urdf", tmp_path / "out.usda"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    collision = f"<collision><geometry>{shape}</geometry></collision>"
    file.write_text(f'<robot name="r"><link name="a">{inertial}{collision}</link></robot>')
    robot_files.convert(file, robot_files.RobotOptions(), tmp_path / "wanted.usda")
    first = Usd.Stage.Open(str(tmp_path / "wanted.usda"))
    wanted = first.GetPrimAtPath("/r/Geometry/a/a_collision")
    bpy.context.scene.unit_settings.scale_length = meters
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    for factor in (1.0, 2.0):
        collider = bpy.data.objects["a_collision"].usdphys.colliders[0]
        setattr(collider, edited, getattr(collider, edited) * factor)
        usd_export.export_usd(bpy.context, out, usd_export.ExportOptions(SI))
        stage = Usd.Stage.Open(str(out))
        stage.Reload()
        made = stage.GetPrimAtPath("/r/Geometry/a/a_collision")
        size = made.GetAttribute(edited).Get()
        assert size == pytest.approx(factor * wanted.GetAttribute(edited).Get(), rel=0 if factor == 1.0 else 1e-6)
        own = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(made), Usd.TimeCode.Default())
        extent = np.array(made.GetAttribute("extent").Get())
        assert extent == pytest.approx(np.array(own), rel=1e-6)
        assert extent == pytest.approx(np.array(wanted.GetAttribute("extent").Get()), rel=0) or factor > 1


def test_links_below_each_other_are_no_news_of_a_robot(tmp_path, urdf):
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    found = usd_export.export_usd(bpy.context, tmp_path / "out.usda", usd_export.ExportOptions(SI)).issues
    assert "NestedRigidBody" not in {issue.code for issue in found}
    found, _ = robot_files.convert(urdf, robot_files.RobotOptions(), tmp_path / "out.usda")
    assert "NestedRigidBody" not in {issue.code for issue in found}


def test_commands_take_a_robot(tmp_path, urdf, capfd):
    assert cli.main(["inspect", str(urdf)]) == 0
    assert "elbow" in capfd.readouterr().out
    assert cli.main(["validate", str(urdf)]) == 0
    assert cli.main(["simulate", str(urdf), "--seconds", "0.1", "--out", str(tmp_path / "moved.usda")]) == 0
    assert "timeSamples" in (tmp_path / "moved.usda").read_text()
    assert cli.main(["convert", str(urdf), str(tmp_path / "out.usda"), "--variant", "/a{b=c}"]) == 2


def test_small_rotations_and_names_that_blender_writes_alike_survive_a_blend(tmp_path):
    """Blender's exporter writes a rotation by 1e-4 radians as none, and two objects to one prim."""
    from pxr import Usd, UsdGeom

    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/></inertial></link>' for name in ("a", "b-c", "b_c")
    )
    joints = "".join(
        f'<joint name="{name}" type="fixed"><parent link="a"/><child link="{name}"/><origin rpy="1e-4 0 0"/></joint>'
        for name in ("b-c", "b_c")
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    assert cli.main(["convert", str(tmp_path / "r.urdf"), str(tmp_path / "r.blend")]) == 0
    assert cli.main(["convert", str(tmp_path / "r.blend"), str(tmp_path / "r.usda")]) == 0
    stage = Usd.Stage.Open(str(tmp_path / "r.usda"))
    cache = UsdGeom.XformCache()
    for path, name in (("/r/Geometry/a/b_c", ""), ("/r/Geometry/a/b_c_1", "b-c")):
        prim = stage.GetPrimAtPath(path)
        assert (prim.GetDisplayName(), cache.GetLocalToWorldTransform(prim)[1][2]) == (name, pytest.approx(1e-4))


def test_the_menu_imports_a_robot_with_its_options(urdf):
    assert bpy.ops.usdphys.import_urdf(filepath=str(urdf), prefix="left_", base="free") == {"FINISHED"}
    assert {"left_base-link", "left_arm", "left_elbow"} <= set(bpy.data.objects.keys())
    assert "left_root_joint" not in bpy.data.objects
    with pytest.raises(RuntimeError, match="NAME=FOLDER"):
        bpy.ops.usdphys.import_urdf(filepath=str(urdf), packages="nonsense")


def test_what_nobody_edited_comes_back_to_the_byte(tmp_path, urdf):
    text = "<!-- made by hand -->\n".join(ROBOT.split("\n", 1)).replace("1e-5 1.5707963 0", "1.0e-5   1.5707963 0.000")
    text = text.replace('<joint name="elbow"', '<joint  foo="bar"\n name="elbow"')
    urdf.write_text(text)
    for between in ("arm.blend", "arm.usda"):
        assert cli.main(["convert", str(urdf), str(tmp_path / between)]) == 0
        assert cli.main(["convert", str(tmp_path / between), str(tmp_path / "back.urdf")]) == 0
        assert (tmp_path / "back.urdf").read_text() == text


def test_edits_are_written_into_the_text_and_nothing_else_changes(tmp_path, urdf):
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    joint = bpy.data.objects["elbow"].usdphys.joint
    joint.revolute.upper_limit = 0.5
    joint.drives.angular.max_force = 7
    bpy.data.objects["arm"].usdphys.mass.mass = 0.75
    urdf_export.export_urdf(bpy.context, tmp_path / "out.urdf")
    wanted = ROBOT.replace('upper="1" effort="5"', 'upper="0.5" effort="7"').replace('value="0.5"', 'value="0.75"')
    assert (tmp_path / "out.urdf").read_text() == wanted


def test_a_moved_joint_is_a_new_origin(tmp_path, urdf):
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    bpy.context.view_layer.update()
    for name in ("arm", "elbow"):
        bpy.data.objects[name].matrix_world.translation.z += 0.25
    bpy.context.view_layer.update()
    urdf_export.export_urdf(bpy.context, tmp_path / "out.urdf")
    found = read.read_file(tmp_path / "out.urdf").joints["elbow"]
    assert found.pose[:3, 3] == pytest.approx([0, 0, 0.35], abs=1e-6)
    assert found.axis == pytest.approx((0, -1, 0), abs=1e-6)


def test_numbers_that_ros_demands_are_completed(tmp_path, urdf):
    urdf.write_text(ROBOT.replace(' effort="5" velocity="2"', "").replace(' ixy="0"', ""))
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    urdf_export.export_urdf(bpy.context, tmp_path / "out.urdf")
    text = (tmp_path / "out.urdf").read_text()
    assert 'upper="1" effort="0" velocity="0"/>' in text
    assert text.count('ixy="0"') == 2


def test_other_parts_than_those_of_the_urdf_are_refused_by_name(tmp_path, urdf):
    urdf_import.import_urdf(bpy.context, urdf, robot_files.RobotOptions())
    with pytest.raises(InputError, match="elbow"):
        bpy.data.objects.remove(bpy.data.objects["elbow"])
        urdf_export.export_urdf(bpy.context, tmp_path / "out.urdf")
    assert not (tmp_path / "out.urdf").exists()


def test_a_scene_without_bodies_is_refused(tmp_path):
    with pytest.raises(InputError, match="no robot"):
        urdf_export.export_urdf(bpy.context, tmp_path / "out.urdf")


def test_the_menu_exports_the_robot(tmp_path, urdf):
    bpy.ops.usdphys.import_urdf(filepath=str(urdf))
    assert bpy.ops.usdphys.export_urdf(filepath=str(tmp_path / "out.urdf")) == {"FINISHED"}
    assert (tmp_path / "out.urdf").read_text() == ROBOT


def test_the_arguments_of_a_xacro_that_is_chosen_in_the_file_browser_are_filled_in(tmp_path):
    """Blender calls `check` when a file is chosen, and after an edit of the options, which stays."""

    class Chooser:
        filepath, looked_at, arguments = "", "", "old:=1"
        check = import_urdf.USDPHYS_OT_import_urdf.check
        fill_arguments = import_urdf.USDPHYS_OT_import_urdf.fill_arguments

    (first := tmp_path / "a.xacro").write_text(
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">'
        '<xacro:arg name="side" default="left"/><link name="base"/></robot>'
    )
    (second := tmp_path / "b.urdf").write_text('<robot name="r"><link name="base"/></robot>')
    chooser = Chooser()
    assert not chooser.check(None)
    chooser.filepath = str(first)
    assert chooser.check(None) and chooser.arguments == "side:=left"
    chooser.arguments = "side:=right"
    assert not chooser.check(None) and chooser.arguments == "side:=right"
    chooser.filepath = str(second)
    assert chooser.check(None) and chooser.arguments == ""


def test_a_xacro_file_is_converted_with_its_arguments(tmp_path, urdf):
    (tmp_path / "arm.xacro").write_text(ROBOT.replace('name="little arm"', 'name="$(arg name)"'))
    out = tmp_path / "arm.usda"
    assert cli.main(["convert", str(tmp_path / "arm.xacro"), str(out)]) == 1
    assert cli.main(["convert", str(tmp_path / "arm.xacro"), str(out), "--arg", "name:=mine"]) == 0
    assert 'def Xform "mine"' in out.read_text()


def test_what_ros_would_refuse_is_an_error_for_its_target_alone(tmp_path, urdf, capfd):
    assert cli.main(["validate", str(urdf), "--target", "ros"]) == 0
    urdf.write_text(
        ROBOT.replace(' velocity="2"', "").replace(' ixy="0"', "").replace("</robot>", '<link name="c"/></robot>')
    )
    assert cli.main(["validate", str(urdf)]) == 0
    capfd.readouterr()
    assert cli.main(["validate", str(urdf), "--target", "ros"]) == 1
    said = capfd.readouterr().out
    assert all(code in said for code in ("RosLimitMissing", "RosInertialIncomplete", "RosSeveralRoots"))
    assert cli.main(["validate", str(tmp_path / "a.usda"), "--target", "ros"]) == 2


def test_a_mesh_file_that_is_used_often_is_one_datablock(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    shape = '<geometry><mesh filename="part.obj" scale="{0} 1 1"/></geometry>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    lines = "".join(
        f'<link name="l{at}"><visual>{shape.format(at + 1)}{red if at == 3 else ""}</visual>'
        f"<collision>{shape.format(at + 1)}</collision></link>"
        for at in range(4)
    )
    joints = "".join(
        f'<joint name="j{at}" type="continuous"><parent link="l0"/><child link="l{at}"/></joint>' for at in (1, 2, 3)
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{lines}{joints}</robot>')
    urdf_import.import_urdf(bpy.context, tmp_path / "robot.urdf", robot_files.RobotOptions())
    users = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    assert len(users) == 8
    # The red one is another mesh: materials belong to meshes.
    assert len({obj.data.name for obj in users}) == len(bpy.data.meshes) == 2
    bpy.context.view_layer.update()
    assert bpy.data.objects["l2_visual"].dimensions.x == pytest.approx(3)


def equal_links(tmp_path) -> Path:
    """Five equal links with a box and a mesh on equal hinges, each 0.1 m above and turned; one has a link's name."""
    (tmp_path / "part.stl").write_bytes(
        b"".ljust(80) + struct.pack("<I", 1) + struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    )  # fmt: skip
    pose = '<origin xyz="{} 0.5 0" rpy="0 0 {}"/>'
    text = ["<robot name='row'>"]
    for at in range(5):
        box = f"{pose.format(at, 0.2)}<geometry><box size='1 2 3'/></geometry>"
        mesh = f"{pose.format(-at, 0.3)}<geometry><mesh filename='part.stl' scale='2 -1 1'/></geometry>"
        text.append(
            f"<link name='l{at}'><visual>{box}</visual><visual>{mesh}</visual><collision>{box}</collision></link>"
        )
    for at in range(1, 5):
        name = "l2" if at == 1 else f"j{at}"
        text.append(
            f"<joint name='{name}' type='revolute'><parent link='l{at - 1}'/><child link='l{at}'/>"
            "<origin xyz='0 0 0.1' rpy='0 0 0.1'/><axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='1' "
            "velocity='1'/></joint>"
        )
    file = tmp_path / "row.urdf"
    file.write_text("\n".join([*text, "</robot>"]))
    return file


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_equal_parts_have_their_own_places_and_names_though_blender_imports_one_of_them(tmp_path, meters):
    """World places by hand, before anything evaluates the scene; in metres, and in centimetres."""
    bpy.context.scene.unit_settings.scale_length = meters
    urdf_import.import_urdf(bpy.context, equal_links(tmp_path), robot_files.RobotOptions())
    objects = bpy.data.objects
    for at in range(5):
        turn = 0.1 * at
        c, s = math.cos(turn), math.sin(turn)
        for name, x in ((f"l{at}", None), (f"l{at}_visual", at), (f"l{at}_visual_1", -at), (f"l{at}_collision", at)):
            place = (0, 0, 0.1 * at) if x is None else (c * x - s * 0.5, s * x + c * 0.5, 0.1 * at)
            assert np.array(objects[name].matrix_world.translation) * meters == pytest.approx(place, abs=1e-5), name
            assert objects[name].parent == (
                objects[f"l{at}"] if x is not None else objects.get(f"l{at - 1}", objects["Geometry"])
            )
    before = {obj.name: np.array(obj.matrix_world) for obj in objects}
    bpy.context.view_layer.update()
    for obj in objects:
        assert np.array(obj.matrix_world) == pytest.approx(before[obj.name], abs=1e-5 / meters), obj.name
    assert objects["l2"].usdphys.prim.path == "/row/Geometry/l0/l1/l2"
    assert objects["l2.001"].usdphys.joint.body1 == objects["l1"]
    assert len({objects[f"l{at}_visual_1"].data.name for at in range(5)}) == 1
    assert len({objects[f"l{at}_visual"].data.name for at in range(5)}) == 5
    assert all(obj.select_get() for obj in objects)


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_usd_file_that_has_left_its_robot_gives_a_urdf_with_all_meshes(tmp_path, meters):
    """The URDF and its mesh files are gone; the meshes are in the USD file, in metres or in centimetres."""
    home = tmp_path / "home"
    home.mkdir()
    urdf, usd, other = equal_links(home), tmp_path / "row.usda", tmp_path / "other" / "new.urdf"
    units = [] if meters == 1.0 else ["--meters-per-unit", str(meters)]
    assert cli.main(["convert", str(urdf), str(usd), *units]) == 0
    points = meshes.read_mesh(home / "part.stl").points
    shutil.rmtree(home)
    other.parent.mkdir()
    assert cli.main(["convert", str(usd), str(other)]) == 0
    robot = read.read_file(other, packages.Packages(other.parent), {})
    shapes = [shape for link in robot.links.values() for shape in link.visuals if shape.kind == "mesh"]
    assert [shape.scale for shape in shapes] == [(2.0, -1.0, 1.0)] * 5
    files = {other.parent / shape.uri for shape in shapes}
    assert [file.name for file in files] == ["part.obj"]
    found = meshes.read_mesh(files.pop()).points
    assert found[np.lexsort(found.T)] == pytest.approx(points[np.lexsort(points.T)], abs=1e-6)


def test_blender_imports_one_of_many_equal_prims(tmp_path, monkeypatch):
    """Of 5 links, 15 shapes and 4 hinges: a link, 3 shapes, a hinge, the joint to the world, and 3 above them."""
    counts = []
    real = importable.check

    def counted(stage, path):
        found = real(stage, path)
        counts.append(sum(one.path != "/" for one in found[0]))
        return found

    monkeypatch.setattr(importable, "check", counted)
    urdf_import.import_urdf(bpy.context, equal_links(tmp_path), robot_files.RobotOptions())
    assert counts == [9]
    assert len(bpy.data.objects) == 5 + 15 + 4 + 4


def test_errors_of_32_bits_do_not_add_up_in_a_chain_of_copies(tmp_path):
    """60 links, each 0.1 m on and turned: the places against products in 64 bits. An export takes 5e-6 for an edit."""
    links = "".join(f"<link name='l{at}'/>" for at in range(61))
    joints = "".join(
        f"<joint name='j{at}' type='continuous'><parent link='l{at - 1}'/><child link='l{at}'/>"
        "<origin xyz='0.1 0.02 0.03' rpy='0.3 0.2 0.1'/></joint>"
        for at in range(1, 61)
    )
    file = tmp_path / "chain.urdf"
    file.write_text(f"<robot name='chain'>{links}{joints}</robot>")
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    bpy.context.view_layer.update()
    worlds = robot_files.plan_robot(file, robot_files.RobotOptions()).worlds
    for at in (1, 30, 60):
        assert np.array(bpy.data.objects[f"l{at}"].matrix_world) == pytest.approx(worlds[f"l{at}"], abs=3e-6)


def steep_chain() -> str:
    """Four links, each turned by nearly 90 degrees about Y, with joints about several axes."""
    links = "".join(
        f'<link name="l{index}"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" '
        'izz="0.1"/></inertial></link>' for index in range(5)
    )  # fmt: skip
    joints = "".join(
        f'<joint name="j{index}" type="revolute"><parent link="l{index}"/><child link="l{index + 1}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.3 {1.5708 - 1e-5 * index} {0.7 * index}"/><axis xyz="{axis}"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for index, axis in enumerate(("-1 0 6e-17", "0 0.6 0.8", "0 0 1", "0 1 0"))
    )  # fmt: skip
    return f'<robot name="steep">{links}{joints}</robot>'


def local_rotations() -> dict[str, np.ndarray]:
    """Local rotations of both sides of all joints (8,), by label."""
    found = {}
    for prim in scenes.read_model().joints.values():
        joint = prim.get(usd_physics.Joint)
        found[prim.label] = np.array([*joint.resolved("local_rot0"), *joint.resolved("local_rot1")])
    return found


def test_frames_of_joints_stay_exact_where_angles_of_blender_do_not_and_a_small_turn_by_hand_is_written(tmp_path):
    """Links that stand at a pitch of 90 degrees are off by 1e-5 rad in Blender; that is no edit."""
    file = tmp_path / "steep.urdf"
    file.write_text(steep_chain())
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    remembered = {
        obj.name: [*map(float, f"{joint.remembered_local_rot0} {joint.remembered_local_rot1}".split())]
        for obj in bpy.data.objects if (joint := obj.usdphys.joint).has_remembered_frames
    }  # fmt: skip
    before = local_rotations()
    for name in ("j0", "j1", "j2", "j3"):
        assert np.abs(before[name] - remembered[name]).max() < 1e-7
    bpy.data.objects["l3"].rotation_euler.x += 3e-4
    bpy.context.view_layer.update()
    after = local_rotations()
    assert np.abs(after["j2"] - before["j2"]).max() == pytest.approx(1.5e-4, rel=0.2)
    assert np.abs(after["j0"] - before["j0"]).max() < 1e-7


@pytest.mark.parametrize("lines", ["", "vt 0 0\nvt 1 0\nvt 0 1\n", "vn 0 0 1\nvn 0.6 0 0.8\nvn 0 0.6 0.8\n"],
                         ids=["plain", "uvs", "normals"])  # fmt: skip
def test_faces_without_normals_are_flat_and_normals_are_kept(lines, tmp_path):
    """As Blender imports such a file: parts from CAD have edges, and welded points would smooth them."""
    tail = {"": "", "vt": "/{0}", "vn": "//{0}"}[lines[:2]]
    faces = "".join(f"f {' '.join(str(one) + tail.format(index + 1) for index, one in enumerate(face))}\n"
                    for face in ((1, 2, 3), (1, 4, 2)))  # fmt: skip
    (tmp_path / "part.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n{lines}{faces}")
    file = tmp_path / "r.urdf"
    mesh = '<geometry><mesh filename="part.obj"/></geometry>'
    file.write_text(f'<robot name="r"><link name="a"><visual>{mesh}</visual></link></robot>')
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    assert (bpy.data.objects["a_visual"].data.normals_domain == "FACE") == (lines[:2] != "vn")


# --------------------------------------------------------------------------- images


def textured(folder: Path) -> dict[str, bytes]:
    """Write a robot of two meshes whose images have one name. Returns what is in these by the folder of each."""
    contents, parts = {}, ""
    for number, name in enumerate(("left", "right")):
        home = folder / "robo" / name
        home.mkdir(parents=True)
        image = bpy.data.images.new("skin", 2, 2)
        image.pixels = [number, 1.0 - number, 0.5, 1.0] * 4
        image.filepath_raw, image.file_format = str(home / "skin.png"), "PNG"
        image.save()
        bpy.data.images.remove(image)
        contents[name] = (home / "skin.png").read_bytes()
        (home / "a.mtl").write_text(f"newmtl {name}\nKd 1 1 1\nmap_Kd skin.png\n")
        points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        (home / "a.obj").write_text(f"mtllib a.mtl\n{points}usemtl {name}\nf 1/1 2/2 3/3\n")
        parts += f'<visual name="{name}"><geometry><mesh filename="{name}/a.obj"/></geometry></visual>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    (folder / "robo" / "r.urdf").write_text(f'<robot name="r"><link name="a">{inertial}{parts}</link></robot>')
    return contents


@pytest.mark.parametrize("name", ["out.usda", "out.usdz", "out.usda --layers", "native"])
@pytest.mark.parametrize("by_blend", [False, True])
def test_images_of_a_robot_go_along_and_the_file_is_whole_in_another_place(tmp_path, name, by_blend):
    from pxr import Sdf, Usd, UsdShade

    contents = textured(tmp_path)
    source, made = tmp_path / "robo" / "r.urdf", tmp_path / "made"
    made.mkdir()
    if by_blend:
        (tmp_path / "kept").mkdir()
        assert cli.main(["convert", str(source), str(tmp_path / "kept" / "r.blend")]) == 0
        (tmp_path / "kept").rename(tmp_path / "moved")
        source = tmp_path / "moved" / "r.blend"
        shutil.rmtree(tmp_path / "robo")
    if name == "native":
        if by_blend:
            bpy.ops.wm.open_mainfile(filepath=str(source))
        else:
            urdf_import.import_urdf(bpy.context, source, robot_files.RobotOptions())
        target = made / "out.usda"
        bpy.ops.wm.usd_export(filepath=str(target))
    else:
        file, *flags = name.split()
        target = made / file
        assert cli.main(["convert", str(source), str(target), *flags]) == 0
    shutil.rmtree(tmp_path / "robo", ignore_errors=True)
    shutil.rmtree(tmp_path / "moved", ignore_errors=True)
    made.rename(tmp_path / "elsewhere")
    stage = Usd.Stage.Open(str(tmp_path / "elsewhere" / target.name))
    found = {}
    for prim in stage.TraverseAll():
        asset = prim.GetAttribute("inputs:file").Get()
        if isinstance(asset, Sdf.AssetPath):
            assert not Path(asset.path).is_absolute()
            material = UsdShade.Material(prim.GetParent()).GetPrim().GetName()
            package, _, inner = asset.resolvedPath.partition("[")
            assert package.startswith(str(tmp_path / "elsewhere"))
            if inner:
                with zipfile.ZipFile(package) as archive:
                    found[material] = archive.read(inner.removesuffix("]"))
            else:
                found[material] = Path(package).read_bytes()
    assert found == contents
    assert str(tmp_path).encode() not in b"".join(
        file.read_bytes() for file in (tmp_path / "elsewhere").rglob("*.usda")
    )  # fmt: skip


def test_blenders_own_export_has_the_colliders_of_a_robot_at_its_default_settings(tmp_path) -> None:
    """They are hidden in renders, and so are the defaults of that export."""
    from pxr import Usd, UsdGeom, UsdPhysics

    shapes = ('<box size="1 2 3"/>', '<sphere radius="2"/>', '<cylinder radius="1" length="4"/>')
    parts = "".join(
        f'<collision><origin xyz="{index} 0 1" rpy="0.1 0.2 0.3"/><geometry>{shape}</geometry></collision>'
        for index, shape in enumerate(shapes)
    )
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 5"/></joint>'
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="r"><link name="a">{parts}</link><link name="b">{parts}</link>{joint}</robot>')
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    stages = []
    for name, options in (("renders", {}), ("viewport", {"evaluation_mode": "VIEWPORT"})):
        bpy.ops.wm.usd_export(filepath=str(tmp_path / f"{name}.usda"), **options)
        stages.append(Usd.Stage.Open(str(tmp_path / f"{name}.usda")))

    def facts_of(prim):
        purpose = UsdGeom.Imageable(prim).ComputePurpose()
        return str(prim.GetPath()), prim.GetTypeName(), prim.GetAppliedSchemas(), purpose

    facts = [
        [facts_of(prim) for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.CollisionAPI)] for stage in stages
    ]  # fmt: skip
    assert len(facts[0]) == 6 and {fact[3] for fact in facts[0]} == {"guide"}
    assert sorted(facts[0]) == sorted(facts[1])


@pytest.mark.parametrize("kind", ["obj", "dae"])
@pytest.mark.parametrize("options", [(), ("--composed",)])
def test_an_image_of_light_goes_along(tmp_path, kind, options) -> None:
    from pxr import Sdf, Usd, UsdShade

    textured(tmp_path)
    home = tmp_path / "robo" / "left"
    (home / "skin.png").rename(home / "glow.png")
    glow = (home / "glow.png").read_bytes()
    (home / "a.mtl").write_text("newmtl left\nKd 0.2 0.2 0.2\nKe 1 1 1\nmap_Ke glow.png\n")
    points = "0 0 0 1 0 0 0 1 0"
    (home / "a.dae").write_text(f"""<COLLADA version="1.4.1"><asset><up_axis>Z_UP</up_axis></asset>
    <library_images><image id="i"><init_from>glow.png</init_from></image></library_images>
    <library_effects><effect id="e"><profile_COMMON>
    <newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
    <newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam><technique sid="c"><lambert>
    <emission><texture texture="t" texcoord="UV"/></emission><diffuse><color>0.2 0.2 0.2 1</color></diffuse>
    </lambert></technique></profile_COMMON></effect></library_effects>
    <library_materials><material id="m" name="left"><instance_effect url="#e"/></material></library_materials>
    <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="f" count="9">{points}</float_array><technique_common>
    <accessor source="#f" count="3" stride="3"/></technique_common></source>
    <source id="u"><float_array id="h" count="6">0 0 1 0 0 1</float_array><technique_common>
    <accessor source="#h" count="3" stride="2"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1" material="a"><input semantic="VERTEX" source="#v" offset="0"/>
    <input semantic="TEXCOORD" source="#u" offset="1"/><p>0 0 1 1 2 2</p></triangles></mesh></geometry>
    </library_geometries><library_visual_scenes><visual_scene id="w"><node><instance_geometry url="#g"><bind_material>
    <technique_common><instance_material symbol="a" target="#m"/></technique_common></bind_material>
    </instance_geometry></node></visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#w"/></scene></COLLADA>""")
    text = (tmp_path / "robo" / "r.urdf").read_text()
    (tmp_path / "robo" / "r.urdf").write_text(text.replace("left/a.obj", f"left/a.{kind}"))
    (tmp_path / "made").mkdir()
    target = tmp_path / "made" / "out.usda"
    assert cli.main(["convert", str(tmp_path / "robo" / "r.urdf"), str(target), *options]) == 0
    shutil.rmtree(tmp_path / "robo")
    stage = Usd.Stage.Open(str(target))
    (lamp,) = [UsdShade.Material(prim) for prim in stage.Traverse() if prim.IsA(UsdShade.Material)
               and prim.GetName() == "left"]  # fmt: skip
    surface = lamp.ComputeSurfaceSource()[0]
    (source,) = surface.GetInput("emissiveColor").GetValueProducingAttributes()
    asset = source.GetPrim().GetAttribute("inputs:file").Get()
    assert isinstance(asset, Sdf.AssetPath) and not Path(asset.path).is_absolute()
    assert Path(asset.resolvedPath).read_bytes() == glow
    assert np.allclose(surface.GetInput("diffuseColor").Get(), 0.0331, atol=1e-3)


def test_the_gravity_of_blenders_scene_counts_for_an_imported_robot_as_it_is_shown(urdf):
    bpy.ops.usdphys.import_urdf(filepath=str(urdf))
    (scene,) = scenes.read_model().scenes.values()
    assert list(scene.schemas["PhysicsScene"].authored()) == []
    bpy.context.scene.gravity = (0, 0, -1.62)
    (scene,) = scenes.read_model().scenes.values()
    assert scene.schemas["PhysicsScene"].gravity_magnitude == pytest.approx(1.62)
    bpy.context.scene.use_gravity = False
    (scene,) = scenes.read_model().scenes.values()
    assert scene.schemas["PhysicsScene"].gravity_magnitude == 0.0


def test_nothing_says_that_the_scene_of_an_imported_robot_has_no_physics_scene(urdf, tmp_path):
    """A URDF cannot have one: that of Blender's scene is checked, simulated and exported. The URDF stays as it is."""
    from pxr import Usd

    bpy.ops.usdphys.import_urdf(filepath=str(urdf))
    assert "NoScene" not in {issue.code for issue in validate(scenes.read_model())}
    preview_guard.start(bpy.context)
    assert "SceneMissing" not in {notice.code for notice in preview_guard.current().notices}
    preview_guard.stop()
    bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "robot.usda"))
    stage = Usd.Stage.Open(str(tmp_path / "robot.usda"))
    assert [prim.GetTypeName() for prim in stage.Traverse()].count("PhysicsScene") == 1
    bpy.ops.usdphys.export_urdf(filepath=str(tmp_path / "again.urdf"))
    joints = [
        [(joint.get("name"), joint.get("type")) for joint in ElementTree.parse(file).getroot().iter("joint")]
        for file in (urdf, tmp_path / "again.urdf")
    ]
    assert joints[0] == joints[1]


def dropped(file, given=(), asks=False):
    """(operator, what its `invoke` returned) for a file that was dropped into a window."""
    asked = SimpleNamespace(
        filepath=str(file), drives="effort", fill_arguments=lambda: asks, execute=lambda _: {"FINISHED"},
        properties=SimpleNamespace(is_property_set=lambda name: name in given),
    )  # fmt: skip
    window = SimpleNamespace(window_manager=SimpleNamespace(invoke_props_dialog=lambda *_, **__: {"RUNNING_MODAL"}))
    return asked, import_urdf.USDPHYS_OT_import_urdf.invoke(asked, window, None)


@pytest.mark.parametrize(("given", "wanted"), [((), "hold"), (("drives",), "effort")])
def test_a_robot_holds_its_pose_where_it_was_dropped_and_nothing_else_is_chosen(tmp_path, given, wanted) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text("<robot name='r'><link name='a'/></robot>")
    asked, answer = dropped(file, given)
    assert answer == {"FINISHED"} and asked.drives == wanted


def test_a_dropped_file_is_asked_about_only_where_it_has_arguments(tmp_path) -> None:
    file = tmp_path / "robot.xacro"
    file.write_text("<robot name='r'><link name='a'/></robot>")
    assert dropped(file, asks=True)[1] == {"RUNNING_MODAL"} and dropped(file)[1] == {"FINISHED"}
