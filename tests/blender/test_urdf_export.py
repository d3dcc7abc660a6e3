# SPDX-License-Identifier: GPL-3.0-or-later
"""URDF of robots that were built in Blender or came from USD: read back, it is the same robot in metres."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import mathutils
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import cli, formats
from usdphys_ext.usdphys_addon.core import frames, mass
from usdphys_ext.usdphys_addon.core.errors import InputError, OutputError
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import urdf_export, urdf_import
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.urdf import meshes, packages, read
from usdphys_ext.usdphys_addon.usd import robot_files

from . import scenes

pytestmark = pytest.mark.slow


def crane(unit: float = 1.0):
    """A mast on the ground, a boom that turns on it, a trolley that slides on that and is scaled and turned.

    unit: Blender units for each metre.
    """
    bpy.context.scene.unit_settings.scale_length = 1 / unit
    mast = scenes.solid("mast", (0.1 * unit, 0.1 * unit, 0.5 * unit), location=(unit, 0, 0.5 * unit))
    boom = scenes.solid("boom", (0.5, 0.05, 0.05), location=(1.4 * unit, 0, 1.1 * unit), scale=(unit, 2 * unit, unit))
    trolley = scenes.solid(
        "trolley", (0.1, 0.1, 0.1), location=(1.6 * unit, 0, 0.9 * unit), rotation_euler=(0.3, 0.2, 1.1),
        scale=(unit, 0.5 * unit, -1.5 * unit),
    )  # fmt: skip
    boom.usdphys.mass.is_applied = True
    boom.usdphys.mass.mass = 3.0
    scenes.add_joint("hold", "FIXED", None, mast, location=(unit, 0, 0))
    swing = scenes.add_joint("swing", "REVOLUTE", mast, boom, location=(unit, 0, 1.1 * unit))
    swing.usdphys.joint.axis = "Z"
    scenes.assign(swing.usdphys.joint.revolute, lower_limit=-1.0, upper_limit=2.0)
    # The trolley is body 0: in the URDF it is the child all the same.
    slide = scenes.add_joint("slide", "PRISMATIC", trolley, boom, location=(1.6 * unit, 0, unit))
    scenes.assign(slide.usdphys.joint.prismatic, lower_limit=-0.3 * unit, upper_limit=0.2 * unit)
    bpy.context.view_layer.update()
    return mast, boom, trolley


def mesh_of(operator):
    made = scenes.operator_mesh(operator)
    data = made.data
    bpy.data.objects.remove(made)
    return data


def written(tmp_path, name="made.urdf"):
    file = tmp_path / name
    result = urdf_export.export_urdf(bpy.context, file)
    return file, read.read(file.read_text(), file), result


def read_back(file):
    """The physics that a URDF says, as a model."""
    with formats.URDF.read(str(file), formats.URDF.options()) as (model, _issues):
        return {body.path.rpartition("/")[2]: facts(model, body) for body in model.bodies.values()}


def facts(model, body):
    """(mass, centre in the world, tensor along the axes of the world) of a body."""
    found = mass.mass_properties(model, body.path)
    turn = frames.rotation_of(body.world)
    center = body.world[:3, 3] + turn @ np.array(found.center_of_mass)
    return found.mass, center, turn @ found.inertia @ turn.T


@pytest.mark.parametrize("unit", [1.0, 100.0, 0.001])
def test_masses_and_places_are_those_of_the_scene_whatever_its_unit(tmp_path, unit):
    crane(unit)
    model = scenes.read_model()
    wanted = {body.path.rpartition("/")[2]: facts(model, body) for body in model.bodies.values()}
    file, robot, _ = written(tmp_path)
    there = read_back(file)
    assert robot.roots == ["world"]
    assert there.keys() == wanted.keys()
    for name, (weight, center, tensor) in wanted.items():
        assert there[name][0] == pytest.approx(weight, rel=1e-6)
        assert there[name][1] == pytest.approx(center, abs=1e-6)
        assert there[name][2] == pytest.approx(tensor, rel=1e-5, abs=1e-9)


def test_a_joint_whose_first_body_is_the_child_moves_the_same_way(tmp_path):
    crane()
    _, robot, _ = written(tmp_path)
    slide, swing = robot.joints["slide"], robot.joints["swing"]
    assert (slide.parent, slide.child, slide.type) == ("boom", "trolley", "prismatic")
    assert (slide.numbers["limit:lower"], slide.numbers["limit:upper"]) == pytest.approx((-0.3, 0.2))
    place = robot.joints["hold"].pose @ swing.pose @ slide.pose
    # Body 1 moves towards +X if the joint opens: seen from body 1, body 0 moves towards -X.
    assert place[:3, :3] @ slide.axis == pytest.approx((-1, 0, 0), abs=1e-6)
    assert place[:3, 3] == pytest.approx((1.6, 0, 1), abs=1e-6)
    assert (swing.numbers["limit:lower"], swing.numbers["limit:upper"]) == pytest.approx((-1, 2))


def test_boxes_stay_boxes_and_other_meshes_are_files_where_they_were(tmp_path):
    _, _, trolley = crane(100.0)
    ball = scenes.add("ball", mesh_of("primitive_ico_sphere_add"), parent=trolley)
    ball.scale = (0.05, 0.1, 0.05)
    bpy.context.view_layer.update()
    file, robot, _ = written(tmp_path)
    assert [shape.kind for shape in robot.links["boom"].visuals] == ["box"]
    assert sorted(robot.links["boom"].visuals[0].size) == pytest.approx([0.1, 0.2, 1.0])
    (shape,) = (shape for shape in robot.links["trolley"].visuals if shape.kind == "mesh")
    world = np.eye(4)
    for name in ("hold", "swing", "slide"):
        world = world @ robot.joints[name].pose
    data = meshes.read_mesh(file.parent / shape.uri)
    places = (data.points * shape.scale) @ (world @ shape.pose)[:3, :3].T + (world @ shape.pose)[:3, 3]
    corners = [np.array(ball.matrix_world @ vertex.co) / 100 for vertex in ball.data.vertices]
    for axis in range(3):
        assert (places[:, axis].min(), places[:, axis].max()) == pytest.approx(
            (min(corner[axis] for corner in corners), max(corner[axis] for corner in corners)), abs=1e-6
        )


def test_the_report_counts_the_colliders_that_the_file_has(tmp_path):
    mast, *_ = crane()
    mast.usdphys.colliders.add()
    bpy.context.view_layer.update()
    _, robot, result = written(tmp_path)
    assert result.counts["colliders"] == sum(len(link.collisions) for link in robot.links.values()) > 0


def test_equal_meshes_share_a_file(tmp_path):
    mast, *_ = crane()
    data = mesh_of("primitive_monkey_add")
    for at in range(3):
        scenes.add(f"head{at}", data, parent=mast, location=(0, at, 0))
    bpy.context.view_layer.update()
    _, robot, _ = written(tmp_path)
    assert len([one for one in robot.links["mast"].visuals if one.kind == "mesh"]) == 3
    assert len(list((tmp_path / "made_meshes").rglob("*.obj"))) == 1


def test_a_full_disk_keeps_the_old_robot_with_its_old_meshes(tmp_path, monkeypatch):
    mast, *_ = crane()
    head = scenes.add("head", mesh_of("primitive_monkey_add"), parent=mast)
    bpy.context.view_layer.update()
    file, *_ = written(tmp_path)
    old = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    head.data.transform(mathutils.Matrix.Scale(2, 4))

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        written(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == old
    assert [path for path in old if path.suffix == ".obj"] and file in old


def test_no_output_replaces_what_a_robot_is_made_of(tmp_path, capfd):
    part, mesh, whole = tmp_path / "part.urdf", tmp_path / "tip.glb", tmp_path / "whole.xacro"
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.export_scene.gltf(filepath=str(mesh), export_format="GLB")
    shape = '<geometry><mesh filename="tip.glb"/></geometry>'
    part.write_text(f'<robot name="r"><link name="base"><visual>{shape}</visual></link></robot>')
    whole.write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><xacro:include filename="part.urdf"/></robot>'
    )
    old = {path: path.read_bytes() for path in (part, mesh, whole)}
    blend = tmp_path / "saved.blend"
    assert cli.main(["convert", str(whole), str(blend)]) == 0
    for source in (whole, blend):
        for target in (part, mesh):
            assert cli.main(["convert", str(source), str(target)]) == 1
            assert f"'{target}' is a part of 'whole.xacro', which is never changed" in capfd.readouterr().err
    assert {path: path.read_bytes() for path in old} == old


def robot_with_a_head(tmp_path, operator, name, package=""):
    """Write a robot of which one part is a mesh, built in an empty scene. Returns the file of the mesh."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    mast, *_ = crane()
    scenes.add("head", mesh_of(operator), parent=mast).data.name = "head"
    bpy.context.view_layer.update()
    file = tmp_path / name
    urdf_export.export_urdf(bpy.context, file, package)
    (shape,) = (one for one in read.read(file.read_text(), file).links["mast"].visuals if one.kind == "mesh")
    mesh = packages.Packages(file.parent).file(shape.uri)
    assert mesh is not None
    return mesh


@pytest.mark.parametrize(
    ("second", "package"),
    [
        ("urdf/small.urdf", "cranes"),
        ("crane.urdf", "cranes"),
        ("other.urdf", ""),
        ("urdf/R&D crane.urdf", "cranes"),
        ("urdf/crane.urdf", "cranes"),
    ],
)
def test_another_robot_beside_the_first_leaves_its_meshes(tmp_path, second, package):
    home = tmp_path / "cranes"
    (home / "urdf").mkdir(parents=True)
    first = robot_with_a_head(home, "primitive_monkey_add", "urdf/crane.urdf" if package else "crane.urdf", package)
    old = first.read_bytes()
    if second.endswith("urdf/crane.urdf"):
        # A copy of the old robot stands for another one that the meshes belong to.
        (home / "urdf/copy.urdf").write_text((home / "urdf/crane.urdf").read_text())
    other = robot_with_a_head(home, "primitive_ico_sphere_add", second, package)
    assert first.read_bytes() == old
    assert other != first and other.read_bytes() != old
    for _ in range(2):
        assert robot_with_a_head(home, "primitive_ico_sphere_add", second, package) == other
    kept = other.read_bytes()
    assert robot_with_a_head(home, "primitive_cone_add", second, package) != other
    assert other.read_bytes() == kept, "a kill before the URDF is replaced leaves the old robot whole"
    made = {
        robot_with_a_head(home, f"primitive_{kind}_add", second, package)
        for kind in ("cone", "torus", "ico_sphere") * 2
    }
    assert first.read_bytes() == old and len(made) == 2, "one for the new robot beside the one of the robot before"


def test_a_robot_beside_the_new_one_that_may_not_be_read_is_no_obstacle(tmp_path, monkeypatch):
    crane()
    other = tmp_path / "other.urdf"
    other.write_text("<robot/>")
    written(tmp_path)
    read_bytes = Path.read_bytes

    def refused(path):
        if path == other:
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert written(tmp_path)[0].is_file()


def test_meshes_that_lie_there_before_the_first_robot_stay(tmp_path):
    own = tmp_path / "crane_meshes/visual/Head.obj"
    own.parent.mkdir(parents=True)
    own.write_text("made by hand")
    first = robot_with_a_head(tmp_path, "primitive_monkey_add", "crane.urdf")
    assert own.read_text() == "made by hand"
    assert first.name == "head_1.obj"


def test_loops_are_loop_joints_and_what_no_joint_holds_is_left_out_by_name(tmp_path):
    mast, _, trolley = crane()
    scenes.add_joint("brace", "DISTANCE", mast, trolley)
    scenes.add_joint("bar", "REVOLUTE", mast, trolley)
    scenes.solid("cup", location=(9, 0, 0))
    _, robot, result = written(tmp_path)
    told = {issue.code: issue.message for issue in result.issues}
    assert "'brace'" in told["UrdfJointLeftOut"]
    assert "'cup'" in told["UrdfBodyLeftOut"]
    assert set(robot.links) == {"world", "mast", "boom", "trolley"}
    (loop,) = robot.loops
    assert loop in ("bar", "slide") and f"'{loop}'" in told["UrdfLoop"]
    assert {*robot.joints, loop} == {"hold", "swing", "slide", "bar"}


def test_a_joint_out_of_the_articulation_is_the_one_that_closes_the_loop(tmp_path):
    mast, _, trolley = crane()
    bar = scenes.add_joint("bar", "REVOLUTE", mast, trolley)
    bpy.data.objects["slide"].usdphys.joint.exclude_from_articulation = True
    file, robot, _ = written(tmp_path)
    assert set(robot.joints) == {"hold", "swing", bar.name} and set(robot.loops) == {"slide"}
    # Both links have the joint at the same place and along the same axis, in metres.
    with formats.URDF.read(str(file), formats.URDF.options()) as (model, _issues):
        prim = next(prim for prim in model.joints.values() if prim.name == "slide")
        loop = prim.get(usd_physics.PrismaticJoint)
        assert (loop.lower_limit, loop.upper_limit) == pytest.approx((-0.3, 0.2), abs=1e-6)
        places = [
            frames.world_frame(model.prims[body].world, pos, turn)
            for (body,), pos, turn in (
                (loop.body0, loop.local_pos0, loop.local_rot0), (loop.body1, loop.local_pos1, loop.local_rot1),
            )
        ]  # fmt: skip
    assert np.abs(places[0] - places[1]).max() < 1e-5


def test_a_ball_joint_is_three_hinges_with_links_between(tmp_path):
    socket, ball = scenes.solid("socket"), scenes.solid("ball", location=(0, 0, 2))
    scenes.add_joint("neck", "SPHERICAL", socket, ball, location=(0, 0, 1))
    bpy.context.view_layer.update()
    _, robot, result = written(tmp_path)
    assert [joint.type for joint in robot.joints.values()] == ["continuous"] * 3
    assert len(robot.links) == 4
    axes = np.array([joint.axis for joint in robot.joints.values()])
    assert abs(np.linalg.det(axes)) == pytest.approx(1)
    assert "UrdfJointChain" in {issue.code for issue in result.issues}


@pytest.mark.parametrize(
    ("kind", "type_"), [("REVOLUTE", "continuous"), ("PRISMATIC", "prismatic"), ("FIXED", "fixed")]
)
def test_joints_without_limits_are_free_also_when_they_are_read_again(tmp_path, kind, type_):
    base, tip = scenes.solid("base"), scenes.solid("tip", location=(0, 0, 2))
    scenes.add_joint("joint", kind, base, tip, location=(0, 0, 1))
    bpy.context.view_layer.update()
    file, robot, _ = written(tmp_path)
    assert robot.joints["joint"].type == type_
    with formats.URDF.read(str(file), formats.URDF.options(base="free")) as (model, _):
        (joint,) = (prim.get(usd_physics.Joint) for prim in model.joints.values())
        assert all(math.isinf(joint.resolved(f"{end}_limit")) for end in ("lower", "upper") if kind != "FIXED")


def test_drives_friction_and_followers_arrive(tmp_path):
    crane()
    swing, slide = bpy.data.objects["swing"], bpy.data.objects["slide"]
    scenes.assign(swing.usdphys.joint.drives.angular, is_applied=True, max_force=7.0, stiffness=0.0, damping=0.0)
    second = scenes.solid("hook", (0.05, 0.05, 0.05), location=(1.6, 0, 0.5))
    drop = scenes.add_joint("drop", "PRISMATIC", bpy.data.objects["trolley"], second, location=(1.6, 0, 0.6))
    scenes.assign(drop.usdphys.joint.drives.linear, is_applied=True, max_force=2.0, stiffness=50.0, damping=1.0)
    _, robot, result = written(tmp_path)
    assert robot.joints["swing"].numbers["limit:effort"] == 7
    assert robot.joints["slide"].numbers["limit:effort"] == 0
    assert robot.joints["drop"].numbers["limit:effort"] == 2
    assert slide.name in robot.joints
    (gains,) = (issue.message for issue in result.issues if issue.code == "UrdfGainsNotWritten")
    assert "'drop'" in gains and "'swing'" not in gains


def places_left_out(result):
    return [issue.message for issue in result.issues if issue.code == "UrdfPlaceLeftOut"]


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_where_a_robot_that_nothing_holds_stands_is_said_to_be_left_out(tmp_path, unit):
    mast, _, _ = crane(unit)
    assert not places_left_out(written(tmp_path)[2]), "a joint to the world holds it where it is"
    bpy.data.objects.remove(bpy.data.objects["hold"])
    mast.usdphys.articulation_root.is_applied = True
    mast.rotation_euler.z = math.pi / 2.0
    bpy.context.view_layer.update()
    (said,) = places_left_out(written(tmp_path)[2])
    assert "'mast' is at (1, 0, 0.5) m, turned by 90 degrees here, and at the origin there" in said


def test_a_robot_of_a_urdf_that_was_moved_is_said_to_stand_elsewhere(tmp_path):
    file = tmp_path / "arm.urdf"
    inertia = '<mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    link = f'<link name="{{}}"><inertial>{inertia}</inertial></link>'
    joint = '<joint name="bend" type="continuous"><parent link="base"/><child link="tip"/><origin xyz="0 0 1"/></joint>'
    file.write_text(f'<robot name="arm">{link.format("base")}{link.format("tip")}{joint}</robot>')
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    assert not places_left_out(written(tmp_path)[2])
    top = next(obj for obj in bpy.context.scene.objects if obj.parent is None and obj.children_recursive)
    top.location.x += 2.0
    bpy.context.view_layer.update()
    (said,) = places_left_out(written(tmp_path)[2])
    assert "'base' is at (2, 0, 0) m here" in said


def test_of_several_robots_the_selected_one_is_written(tmp_path):
    for name in ("left", "right"):
        base, tip = scenes.solid(f"{name}_base"), scenes.solid(f"{name}_tip", location=(0, 0, 2))
        scenes.add_joint(f"{name}_joint", "REVOLUTE", base, tip)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    with pytest.raises(InputError, match="2 robots"):
        written(tmp_path)
    assert not (tmp_path / "made.urdf").exists()
    bpy.data.objects["right_tip"].select_set(True)
    _, robot, _ = written(tmp_path)
    assert set(robot.links) == {"right_base", "right_tip"}


def test_a_usd_file_with_y_up_in_centimetres_becomes_a_urdf_in_metres(tmp_path, capfd):
    crane()
    stage, _ = scenes.export(tmp_path / "crane.usda", units=StageUnits(0.01, 0.001, "Y"))
    del stage
    assert cli.main(["convert", str(tmp_path / "crane.usda"), str(tmp_path / "crane.urdf")]) == 0
    robot = read.read((tmp_path / "crane.urdf").read_text(), tmp_path / "crane.urdf")
    assert (robot.joints["hold"].pose @ robot.joints["swing"].pose)[:3, 3] == pytest.approx((1, 0, 1.1), abs=1e-6)
    assert robot.links["boom"].mass == pytest.approx(3)


def test_a_textured_mesh_takes_its_image_along(tmp_path):
    mast, *_ = crane()
    head = scenes.add("head", mesh_of("primitive_monkey_add"), parent=mast)
    image = bpy.data.images.new("skin", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "skin.png"), "PNG"
    image.save()
    head.data.materials.append(scenes.painted_material("skin", image))
    bpy.context.view_layer.update()
    file, robot, _ = written(tmp_path)
    (shape,) = (one for one in robot.links["mast"].visuals if one.kind == "mesh")
    data = meshes.read_mesh(file.parent / shape.uri)
    assert data.uvs is not None
    assert data.materials[0].texture is not None
    assert data.materials[0].texture.parent == file.parent / "made_meshes" / "visual"


def test_an_added_link_is_written_and_what_the_urdf_had_besides_stays(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><gazebo><plugin name="p">x</plugin></gazebo></robot>'
    )
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    tip = scenes.solid("tip", location=(0, 0, 2))
    scenes.add_joint("wrist", "REVOLUTE", bpy.data.objects["base"], tip, location=(0, 0, 1))
    bpy.context.view_layer.update()
    out, robot, result = written(tmp_path)
    assert set(robot.links) >= {"base", "tip"}
    assert "wrist" in robot.joints
    assert '<plugin name="p">' in out.read_text()
    assert "UrdfWrittenAnew" in {issue.code for issue in result.issues}


@pytest.mark.parametrize("package", ["", "arm"])
def test_a_missing_mesh_that_no_object_has_is_named_once(tmp_path, package):
    file = tmp_path / "arm.urdf"
    shape = '<geometry><mesh filename="gone/tip.stl"/></geometry>'
    file.write_text(
        f'<robot name="arm"><link name="base"><visual>{shape}</visual><collision>{shape}</collision></link></robot>'
    )
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    result = urdf_export.export_urdf(bpy.context, tmp_path / "made.urdf", package)
    named = [issue for issue in result.issues if issue.code == "UrdfFileMissing"]
    assert [issue.message.split("'")[1] for issue in named] == ["gone/tip.stl"]


FOLLOWER = """<robot name="grip">
  <link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="right"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <link name="tool"/>
  <joint name="one" type="prismatic"><parent link="base"/><child link="left"/><limit lower="0" upper="1"/></joint>
  <joint name="two" type="prismatic"><parent link="base"/><child link="right"/><limit lower="0" upper="1"/>
    <mimic joint="one" multiplier="-0.5" offset="0.25"/></joint>
  <joint name="mount" type="fixed"><parent link="left"/><child link="tool"/><origin xyz="0 0 0.5"/></joint>
</robot>
"""


def test_followers_frames_and_the_base_of_an_extended_urdf_stay(tmp_path):
    file = tmp_path / "grip.urdf"
    file.write_text(FOLLOWER)
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    tip = scenes.solid("tip", location=(0, 0, 2))
    scenes.add_joint("wrist", "REVOLUTE", bpy.data.objects["left"], tip, location=(0, 0, 1))
    bpy.context.view_layer.update()
    _, robot, _ = written(tmp_path)
    mimic = robot.joints["two"].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("one", -0.5, 0.25)
    assert robot.roots == ["base"]
    assert (robot.joints["mount"].parent, robot.joints["mount"].child) == ("left", "tool")
    assert robot.joints["mount"].pose[:3, 3] == pytest.approx((0, 0, 0.5))


def test_a_body_without_mass_gets_no_invented_one(tmp_path):
    base = scenes.solid("base")
    scenes.make_body(scenes.add("ghost"))
    scenes.add_joint("joint", "REVOLUTE", base, bpy.data.objects["ghost"])
    bpy.context.view_layer.update()
    _, robot, result = written(tmp_path)
    assert robot.links["ghost"].inertial is None
    assert "UrdfNoMass" in {issue.code for issue in result.issues}


# --------------------------------------------------------------------------- robots that others have made

ELSEWHERE = """#usda 1.0
(
    defaultPrim = "arm"
    metersPerUnit = {meters}
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "arm"
{{
    def Xform "footprint"
    {{
        def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI", "PhysicsMassAPI"])
        {{
            float physics:mass = 2
            float3 physics:diagonalInertia = (1, 1, 1)
            quatf physics:principalAxes = (1, 0, 0, 0)
            def Xform "visuals" {{ }}
            def Xform "collisions" {{
                def Cube "hull" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
                    double size = {size}
                }}
            }}
            def Xform "mount" {{
                double3 xformOp:translate = (0, 0, {half})
                quatd xformOp:orient = (0.5, 0.5, 0.5, 0.5)
                uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
                def Xform "optical_frame" {{
                    double3 xformOp:translate = ({half}, 0, 0)
                    uniform token[] xformOpOrder = ["xformOp:translate"]
                    def Camera "eye" {{ }}
                }}
                def Xform "tip" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
                {{
                    float physics:mass = 1
                    float3 physics:diagonalInertia = (1, 1, 1)
                    quatf physics:principalAxes = (1, 0, 0, 0)
                    double3 xformOp:translate = (0, {half}, 0)
                    uniform token[] xformOpOrder = ["xformOp:translate"]
                    def Xform "flange" {{
                        double3 xformOp:translate = (0, 0, {size})
                        uniform token[] xformOpOrder = ["xformOp:translate"]
                    }}
                }}
            }}
        }}
    }}
    def PhysicsFixedJoint "root_joint" {{
        rel physics:body1 = </arm/footprint/base>
    }}
    def PhysicsRevoluteJoint "turn" ({applied})
    {{
        rel physics:body0 = </arm/footprint/base>
        rel physics:body1 = </arm/footprint/base/mount/tip>
        uniform token physics:axis = "Z"
        point3f physics:localPos0 = ({half}, 0, {half})
        quatf physics:localRot0 = (0.5, 0.5, 0.5, 0.5)
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
{lines}
    }}
{others}
}}
"""


def from_elsewhere(tmp_path, meters=1.0, applied="", lines="", others=""):
    text = ELSEWHERE.format(
        meters=meters, size=1.0 / meters, half=0.5 / meters, lines=lines, others=others,
        applied=f"prepend apiSchemas = [{applied}]" if applied else "",
    )  # fmt: skip
    (tmp_path / "in.usda").write_text(text)
    assert cli.main(["convert", str(tmp_path / "in.usda"), str(tmp_path / "out.urdf")]) == 0
    return read.read((tmp_path / "out.urdf").read_text(), tmp_path / "out.urdf")


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_xforms_below_a_body_are_links_on_fixed_joints_and_holders_of_shapes_are_none(tmp_path, meters):
    robot = from_elsewhere(tmp_path, meters)
    assert {joint.child: joint.parent for joint in robot.joints.values()} == {
        "base": "footprint", "footprint": "world", "mount": "base", "optical_frame": "mount", "tip": "mount",
        "flange": "tip",
    }  # fmt: skip
    worlds = {"world": np.eye(4)}
    for name in list(robot.in_order())[1:]:
        worlds[name] = worlds[robot.parents[name].parent] @ robot.parents[name].pose
    # The mount turns X to Y, Y to Z and Z to X.
    places = {"base": (0, 0, 0), "footprint": (0, 0, 0), "mount": (0, 0, 0.5), "optical_frame": (0, 0.5, 0.5),
              "tip": (0, 0, 1.0), "flange": (1.0, 0, 1.0)}  # fmt: skip
    for name, place in places.items():
        if name not in ("tip", "flange"):
            assert worlds[name][:3, 3] == pytest.approx(place, abs=1e-6), name
    # Where the frames of a joint are apart, the child is where the joint holds it.
    assert worlds["tip"][:3, 3] == pytest.approx((0.5, 0, 0.5), abs=1e-6)
    assert robot.parents["optical_frame"].type == robot.parents["flange"].type == "fixed"
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert worlds["flange"][:3, :3] == pytest.approx(turn, abs=1e-6)


@pytest.mark.parametrize(
    ("applied", "lines", "others", "effort"),
    [("", "custom float urdf:limit:effort = 42", "", 42),
     ('"PhysicsDriveAPI:angular"', "float drive:angular:physics:maxForce = 7\ncustom float urdf:limit:effort = 42",
      "", 7),
     ('"PhysicsDriveAPI:angular"', "custom float urdf:limit:effort = 42", "", 42),
     ('"MjcJointAPI"', "uniform double mjc:actuatorfrcrange:min = -9\nuniform double mjc:actuatorfrcrange:max = 8", "",
      9),
     ('"MjcJointAPI"', 'uniform token mjc:actuatorfrclimited = "false"\nuniform double mjc:actuatorfrcrange:max = 8',
      "", 0),
     ("", "", """def MjcActuator "a" {
        rel mjc:target = </arm/turn>
        uniform double mjc:forceRange:min = -3
        uniform double mjc:forceRange:max = 4
        uniform double[] mjc:gear = [10, 0, 0, 0, 0, 0]
        }""", 40),
     ("", "", """def MjcActuator "a" {
        rel mjc:target = </arm/turn>
        uniform double mjc:ctrlRange:min = -2
        uniform double mjc:ctrlRange:max = 2
        uniform double[] mjc:gear = [100, 0, 0, 0, 0, 0]
        }""", 200),
     ("", "", """def MjcActuator "a" {
        rel mjc:target = </arm/turn>
        uniform token mjc:biasType = "affine"
        uniform double mjc:ctrlRange:max = 2
        }""", 0)],
)  # fmt: skip
def test_efforts_come_from_drives_notes_and_ranges_of_actuators(tmp_path, applied, lines, others, effort):
    robot = from_elsewhere(tmp_path, applied=applied, lines=lines, others=others)
    assert robot.joints["turn"].numbers["limit:effort"] == pytest.approx(effort)


def test_calibration_and_safety_come_back_and_what_has_no_place_is_named(tmp_path, capfd):
    robot = from_elsewhere(
        tmp_path, applied='"NewtonJointAPI"', lines="""float newton:armature = 0.5
        custom float urdf:calibration:rising = 0.25
        custom float urdf:safety_controller:k_velocity = 3
        float physics:breakForce = 5""",
    )  # fmt: skip
    numbers = robot.joints["turn"].numbers
    assert (numbers["calibration:rising"], numbers["safety_controller:k_velocity"]) == (0.25, 3)
    told = capfd.readouterr().err
    for what in ("newton:armature", "physics:breakForce", "Camera"):
        assert f"{what}" in "".join(line for line in told.splitlines() if "UrdfNotWritten" in line), what


ARM = """<robot name="arm">
<link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
 <collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
<link name="bar"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
 <collision><geometry><box size=".4 .1 .1"/></geometry></collision></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="bar"/><origin xyz=".3 0 0"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
</robot>"""


@pytest.mark.parametrize(("moved", "bar", "anchor"), [("bar", 0.1, 0.0), ("swing", 0.0, 0.1)])
def test_a_link_or_a_joint_of_a_urdf_that_was_moved_alone_is_written_where_it_is(tmp_path, moved, bar, anchor):
    (tmp_path / "arm.urdf").write_text(ARM)
    urdf_import.import_urdf(bpy.context, tmp_path / "arm.urdf", robot_files.RobotOptions())
    bpy.data.objects[moved].location.z += 0.1
    bpy.context.view_layer.update()
    file, robot, result = written(tmp_path)
    said = [issue.message for issue in result.issues if issue.code in ("FileDiffers", "UrdfWrittenAnew")]
    assert len(said) == 1 and said[0].startswith("'swing' holds its link at another point")
    assert robot.joints["swing"].pose[:3, 3] == pytest.approx((0.3, 0, anchor), abs=1e-6)
    with formats.URDF.read(str(file), formats.URDF.options()) as (model, _issues):
        heights = {round(float(one.world[2, 3]), 5) for path, one in model.colliders.items() if "bar" in path}
    assert heights == {bar}


def test_hinges_of_the_same_bodies_by_different_axes_get_links_between_them(tmp_path):
    """The second one was a loop, which ROS ignores. Played in the preview, the robot moves as its file does."""
    mast, boom, _ = crane()
    mast.usdphys.articulation_root.is_applied = True
    nod = scenes.add_joint("nod", "REVOLUTE", mast, boom, location=(1, 0, 1.1))
    nod.usdphys.joint.axis = "Y"
    bpy.context.view_layer.update()
    file, robot, result = written(tmp_path)
    assert not robot.loops
    assert not [issue for issue in result.issues if issue.code == "UrdfLoop"]
    swing, nod = robot.joints["swing"], robot.joints["nod"]
    assert (swing.parent, nod.child, swing.child) == ("mast", "boom", nod.parent)
    place = robot.joints["hold"].pose @ swing.pose
    assert place[:3, :3] @ swing.axis == pytest.approx((0, 0, 1), abs=1e-6)
    assert (place @ nod.pose)[:3, :3] @ nod.axis == pytest.approx((0, 1, 0), abs=1e-6)
    assert (place @ nod.pose)[:3, 3] == pytest.approx(place[:3, 3], abs=1e-6)
    played = scenes.play(0.2).world  # then the boom meets the mast, which a URDF cannot keep apart
    with formats.URDF.read(str(file), formats.URDF.options()) as (model, _issues):
        world = World(model, time_step=played.time_step)
    for _ in range(played.frame):
        world.step()
    there = next(row for row, path in enumerate(world.paths) if path.endswith("/boom"))
    here = next(row for row, path in enumerate(played.paths) if path.endswith("/boom"))
    turned = frames.matrix_of(played.rotations[here])
    assert abs(turned[2, 0]) > 0.05  # it nods
    assert frames.matrix_of(world.rotations[there]) == pytest.approx(turned, abs=0.02)


def test_limits_that_are_the_wrong_way_round_are_named(tmp_path):
    text = ELSEWHERE.format(meters=1.0, size=1.0, half=0.5, lines="", others="", applied="")
    (tmp_path / "in.usda").write_text(text.replace("float physics:upperLimit = 90", "float physics:upperLimit = -120"))
    answer = cli.perform(["convert", str(tmp_path / "in.usda"), str(tmp_path / "out.urdf")])
    assert [issue["path"] for issue in answer["issues"] if issue["code"] == "UrdfLimitsSwapped"] == ["/arm/turn"]
