# SPDX-License-Identifier: GPL-3.0-or-later
"""What Changed: each edit of an imported scene is one sentence, and can be taken back alone."""

import math
from collections.abc import Callable
from typing import Any

import bpy
import pytest
from pxr import Usd
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.bridge import scene_watch, source_report
from usdphys_ext.usdphys_addon.bridge.source_report import Key
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import (
    mjcf_import,
    source_changes,
    source_export,
    source_revert,
    urdf_import,
    usd_import,
)
from usdphys_ext.usdphys_addon.usd.robot_files import RobotOptions

from .layout_recorder import LayoutRecorder, draw

DOOR = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "World"
{
    def PhysicsScene "Scene"
    {
        float physics:gravityMagnitude = 981
    }
    def Cube "Frame" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 50
        double3 xformOp:translate = (0, 25, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Xform "Door" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxRigidBodyAPI"])
    {
        float physics:mass = 10
        float physxRigidBody:linearDamping = 0.5
        double3 xformOp:translate = (100, 100, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "Leaf" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
        {
            point3f[] points = [(0, 0, 0), (80, 0, 0), (80, 200, 0), (0, 200, 0), (0, 0, 4)]
            int[] faceVertexCounts = [4, 3]
            int[] faceVertexIndices = [0, 1, 2, 3, 0, 1, 4]
            rel material:binding = </World/Looks/Oak>
        }
        def Sphere "Knob" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 5
            double3 xformOp:translate = (70, 100, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
    }
    def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        rel physics:body0 = </World/Frame>
        rel physics:body1 = </World/Door>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (100, 75, 0)
        float physics:lowerLimit = 0
        float physics:upperLimit = 90
        float drive:angular:physics:stiffness = 3
    }
    def PhysicsCollisionGroup "Doors"
    {
        rel collection:colliders:includes = </World/Door>
    }
    def Scope "Looks"
    {
        def Material "Oak" (prepend apiSchemas = ["PhysicsMaterialAPI"])
        {
            float physics:density = 0.0007
            token outputs:surface.connect = </World/Looks/Oak/Shader.outputs:surface>
            def Shader "Shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                float inputs:roughness = 0.5
                token outputs:surface
            }
        }
        def Material "Pine"
        {
        }
    }
}
"""


@pytest.fixture
def door(tmp_path):
    path = tmp_path / "door.usda"
    path.write_text(DOOR)
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    bpy.context.view_layer.update()
    return path


def texts() -> list[str]:
    bpy.context.view_layer.update()
    return [change.text for change in source_changes.compare(bpy.context).changes]


def of(name: str) -> Any:
    return bpy.data.objects[name]


def blocks() -> dict[str, list[str]]:
    """Names of all data that is used, by kind. Deleting an object leaves its mesh, which then has the name."""
    kinds = ("objects", "meshes", "materials", "collections", "scenes", "images", "actions")
    return {
        kind: sorted(item.name.removesuffix(".001") for item in getattr(bpy.data, kind) if item.users) for kind in kinds
    }


def mass() -> None:
    of("Door").usdphys.mass.mass = 12.0


def limit() -> None:
    of("Hinge").usdphys.joint.revolute.upper_limit = 1.919862


def stiffness() -> None:
    of("Hinge").usdphys.joint.drives.angular.stiffness *= 2


def no_drive() -> None:
    of("Hinge").usdphys.joint.drives.angular.is_applied = False


def kinematic() -> None:
    of("Door").usdphys.rigid_body.kinematic_enabled = True


def no_body() -> None:
    of("Door").usdphys.rigid_body.is_applied = False


def no_mass() -> None:
    of("Door").usdphys.mass.property_unset("mass")


def other_joint() -> None:
    of("Hinge").usdphys.joint.type = "SPHERICAL"


def other_body() -> None:
    of("Hinge").usdphys.joint.body0 = of("Knob")


def static_collider() -> None:
    of("Leaf").usdphys.colliders.clear()


def approximation() -> None:
    of("Leaf").usdphys.colliders[0].approximation = "convexDecomposition"


def radius() -> None:
    of("Knob").usdphys.colliders[0].radius *= 2


def extra_collider() -> None:
    item = of("Frame").usdphys.colliders.add()
    item.shape = "SPHERE"


def density() -> None:
    bpy.data.materials["Oak"].usdphys.physics_material.density = 650.0


def friction() -> None:
    bpy.data.materials["Oak"].usdphys.physics_material.dynamic_friction = 0.3


def physics_material() -> None:
    of("Knob").usdphys.physics_material = bpy.data.materials["Oak"]


def damping() -> None:
    row = next(row for row in of("Door").usdphys.vendor if row.name == "physxRigidBody:linearDamping")
    row.text = "0.75"


def gravity() -> None:
    bpy.context.scene.usdphys.physics_scenes[0].gravity_magnitude = 3.7


def member() -> None:
    of("Door").usdphys.collision_groups.clear()


def move() -> None:
    of("Door").location.x += 50


def turn() -> None:
    of("Frame").rotation_euler.z += 0.3


def scale() -> None:
    of("Knob").scale *= 2


def move_joint() -> None:
    of("Hinge").location.x += 7


def rename() -> None:
    of("Door").name = "Gate"


def reparent() -> None:
    world = of("Knob").matrix_world.copy()
    of("Knob").parent = of("Frame")
    of("Knob").matrix_world = world


def new_object() -> None:
    obj = bpy.data.objects.new("Ball", bpy.data.meshes.new("BallMesh"))
    bpy.context.scene.collection.objects.link(obj)
    obj.usdphys.rigid_body.is_applied = True


def new_joint() -> None:
    of("Door").usdphys.joint.is_applied = True


def delete() -> None:
    bpy.data.objects.remove(of("Knob"))


def delete_tree() -> None:
    for name in ("Leaf", "Knob", "Door"):
        bpy.data.objects.remove(of(name))


def delete_joint() -> None:
    bpy.data.objects.remove(of("Hinge"))


def delete_scene() -> None:
    bpy.context.scene.usdphys.physics_scenes.clear()


def mesh() -> None:
    of("Leaf").data.vertices[0].co.x -= 10


def modifier() -> None:
    of("Leaf").modifiers.new("Bevel", "BEVEL")


def slot() -> None:
    of("Leaf").material_slots[0].material = bpy.data.materials["Pine"]


def look() -> None:
    nodes = bpy.data.materials["Oak"].node_tree.nodes
    next(node for node in nodes if node.type == "BSDF_PRINCIPLED").inputs["Roughness"].default_value = 0.9


def custom() -> None:
    of("Door")["note"] = "new"


#: An edit, and the sentences that are said of it.
EDITS = [
    (mass, ["'Door': mass is 12 kg; was 10 kg"]),
    (limit, ["'Hinge': upper limit is 110°; was 90°"]),
    (stiffness, ["'Hinge': stiffness (angular) is 0.0006 N·m/°; was 0.0003 N·m/°"]),
    (no_drive, ["'Hinge' has no drive angular any more"]),
    (kinematic, ["'Door': kinematic enabled is on; was not set"]),
    (no_body, ["'Door' has no rigid body any more"]),
    (no_mass, ["'Door': mass is not set; was 10 kg"]),
    (other_joint, ["'Hinge': type is spherical joint; was revolute joint"]),
    (other_body, None),
    (static_collider, ["'Leaf' has no collision any more"]),
    (approximation, None),
    (radius, ["'Knob': radius is 0.1 m; was 0.05 m"]),
    (extra_collider, ["'Frame' has a new collider"]),
    (density, ["'Oak': density is 650 kg/m³; was 700 kg/m³"]),
    (friction, ["'Oak': dynamic friction is 0.3; was not set"]),
    (physics_material, ["The physics material of 'Knob' is Oak"]),
    (damping, ["'Door': linear damping is 0.75; was 0.5"]),
    (gravity, ["'Scene': gravity magnitude is 3.7 m/s²; was 9.81 m/s²"]),
    (member, ["'Doors': includes is not set; was Door"]),
    (move, ["'Door' is moved by 0.5 m", "The place of the joint 'Hinge' on its bodies is edited"]),
    (turn, ["'Frame' is turned by 17.19°", "The place of the joint 'Hinge' on its bodies is edited"]),
    (scale, ["'Knob' is scaled by 2 x 2 x 2"]),
    (move_joint, ["The place of the joint 'Hinge' on its bodies is edited"]),
    (rename, ["'Gate' is renamed; was 'Door'"]),
    (reparent, ["'Knob' is below '/World/Frame'; was below '/World/Door'"]),
    (new_object, ["'Ball' is new"]),
    (new_joint, ["'Door' has a new joint"]),
    (delete, ["'Knob' is deleted"]),
    (delete_tree, None),
    (delete_joint, ["'Hinge' is deleted"]),
    (delete_scene, ["'Scene' is deleted"]),
    (mesh, ["The mesh or data of 'Leaf' is edited"]),
    (modifier, ["The mesh or data of 'Leaf' is edited"]),
    (slot, ["'Leaf' has other materials"]),
    (look, ["The look of the material 'Oak' is edited"]),
    (custom, ["The custom properties of 'Door' are edited"]),
]


def test_a_scene_as_it_was_imported_has_no_changes(door):
    assert texts() == []


@pytest.mark.slow
@pytest.mark.parametrize(("edit", "said"), EDITS, ids=[edit.__name__ for edit, _ in EDITS])
def test_each_edit_is_said_and_can_be_taken_back(tmp_path, door, edit, said):
    before = blocks()
    edit()
    found = texts()
    assert found and (said is None or found == said)
    changes = source_changes.compare(bpy.context).changes
    assert source_revert.revert(bpy.context, [change.key for change in changes]) == []
    assert texts() == []
    assert blocks() == before
    source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
    written = (tmp_path / "layer.usda").read_text()
    assert "over " not in written and "def " not in written


def key_of(text: str) -> Key:
    return next(change.key for change in source_changes.compare(bpy.context).changes if change.text == text)


@pytest.mark.slow
def test_one_edit_is_taken_back_and_the_others_stay(door):
    for edit in (mass, limit, scale, density, rename):
        edit_name = edit.__name__
        edit()
        assert texts(), edit_name
    before = texts()
    left = source_revert.revert(bpy.context, [key_of("'Gate': mass is 12 kg; was 10 kg")])
    assert left == []
    assert texts() == [text for text in before if "mass is" not in text]
    assert of("Gate").usdphys.mass.mass == 10.0


@pytest.mark.slow
@pytest.mark.parametrize("is_all", [False, True])
def test_what_is_taken_back_counts_as_an_edit_and_the_list_is_of_the_scene_after_it(door, is_all):
    """Blender reports no change where only a property is set."""
    scene = bpy.context.scene
    mass()
    (change,) = source_changes.compare(bpy.context).changes
    before = scene_watch.stamp_of(scene.name).edits
    if is_all:
        source_revert.revert_all(bpy.context)
    else:
        source_revert.revert(bpy.context, [change.key])
    assert scene_watch.stamp_of(scene.name).edits > before and not source_report.is_outdated(scene.name)


@pytest.mark.slow
def test_an_edit_that_another_one_holds_is_named(door):
    """The frame of a joint follows from where its body is."""
    move()
    texts()
    text = "The place of the joint 'Hinge' on its bodies is edited"
    assert [change.text for change in source_revert.revert(bpy.context, [key_of(text)])] == [text]
    assert source_revert.revert(bpy.context, [key_of("'Door' is moved by 0.5 m")]) == []
    assert texts() == []


@pytest.mark.slow
def test_a_deleted_tree_comes_back_with_its_parents_bodies_and_materials(door):
    delete_tree()
    texts()
    source_revert.revert(bpy.context, [change.key for change in source_changes.compare(bpy.context).changes])
    assert of("Knob").parent == of("Door") and of("Hinge").usdphys.joint.body1 == of("Door")
    assert of("Leaf").material_slots[0].material == bpy.data.materials["Oak"]
    assert [round(part, 5) for part in of("Door").matrix_world.translation] == [1.0, 0.0, 1.0]
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_an_edit_that_is_gone_is_refused_and_nothing_is_changed(door):
    mass()
    before = blocks()
    with pytest.raises(InputError, match="has no such edit"):
        source_revert.revert(bpy.context, [Key("value", "/World/Door", "PhysicsMassAPI density")])
    assert blocks() == before and of("Door").usdphys.mass.mass == 12.0


def test_a_scene_without_a_usd_source_says_so(tmp_path):
    with pytest.raises(InputError, match="was not imported from a file"):
        source_changes.compare(bpy.context)
    bpy.context.scene.usdphys.source.filepath = str(tmp_path / "robot.obj")
    with pytest.raises(InputError, match=r"'robot.obj'.* not compared"):
        source_changes.compare(bpy.context)


def test_a_source_that_is_gone_or_has_changed_is_named(door):
    door.write_text(DOOR.replace("= 10", "= 11"))
    with pytest.raises(InputError, match="has changed since"):
        source_changes.compare(bpy.context)
    door.unlink()
    with pytest.raises(InputError, match="is gone"):
        source_changes.compare(bpy.context)


# --------------------------------------------------------------------------- in the window


def drawn() -> LayoutRecorder:
    return draw(bpy.types.USDPHYS_PT_source_changes)


@pytest.mark.slow
def test_the_panel_lists_the_edits_with_a_button_for_each(door, capfd):
    mass()
    limit()
    assert "Not compared yet" in drawn().labels()
    assert bpy.ops.usdphys.compare_source() == {"FINISHED"}
    assert "Differs from the source: 2 edits. The first: 'Door': mass is 12 kg" in capfd.readouterr().out
    texts_drawn = " ".join(drawn().labels())
    assert "'Door': mass is 12 kg; was 10 kg" in texts_drawn and "'Hinge': upper limit" in texts_drawn
    buttons = [item.values for item in drawn().buttons("usdphys.revert_change")]
    assert len(buttons) == 2
    assert bpy.ops.usdphys.revert_change(**buttons[0]) == {"FINISHED"}
    assert len(drawn().buttons("usdphys.revert_change")) == 1
    assert bpy.ops.usdphys.revert_all_changes() == {"FINISHED"}
    assert "Nothing differs from the source" in drawn().labels()
    with pytest.raises(RuntimeError, match="Nothing differs"):
        bpy.ops.usdphys.revert_all_changes()
    mass()
    scene_watch.note_edit(bpy.context.scene.name)
    said = " ".join(drawn().labels())
    assert "Changed since the last comparison" in said and "Nothing differs" not in said


def test_the_panel_says_where_there_is_no_source():
    assert "Not imported from a file with physics" in " ".join(drawn().labels())
    assert drawn().buttons("usdphys.compare_source") == []


def test_the_panel_of_another_file_knows_nothing_of_this_one(door):
    mass()
    bpy.ops.usdphys.compare_source()
    name = bpy.context.scene.name
    assert source_report.report(name) is not None
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert source_report.report(name) is None


@pytest.mark.slow
def test_taking_back_is_one_step_of_undo(door):
    bpy.ops.ed.undo_push(message="imported")
    mass()
    delete()
    bpy.ops.ed.undo_push(message="edited")
    bpy.ops.usdphys.compare_source()
    assert bpy.ops.usdphys.revert_all_changes() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="reverted")
    assert "Knob" in bpy.data.objects
    bpy.ops.ed.undo()
    assert "Knob" not in bpy.data.objects and of("Door").usdphys.mass.mass == 12.0
    assert len(bpy.data.scenes) == 1


@pytest.mark.slow
def test_a_joint_that_becomes_a_body_is_taken_back(door):
    of("Hinge").usdphys.rigid_body.is_applied = True
    found = source_changes.compare(bpy.context).changes
    assert source_revert.revert(bpy.context, [change.key for change in found]) == []
    assert texts() == []


@pytest.mark.slow
def test_taking_all_back_finds_what_an_edit_has_hidden(door):
    """The type of a joint hides its frames, a collider on a joint its prim."""
    other_joint()
    move_joint()
    of("Hinge").usdphys.mass.mass = 3.0
    of("Hinge").usdphys.colliders.add()
    number, left = source_revert.revert_all(bpy.context)
    assert number and left == [] and texts() == []
    assert of("Hinge").usdphys.joint.type == "REVOLUTE" and not len(of("Hinge").usdphys.colliders)


# --------------------------------------------------------------------------- robots

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="1"/>
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.1 0.1 $(arg length)"/></geometry></visual>
    <collision><geometry><box size="0.1 0.1 $(arg length)"/></geometry></collision>
  </link>
  <link name="lower">
    <collision><geometry><sphere radius="0.2"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 $(arg length)"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
</robot>
"""
#: With arguments, prims with a prefix, and a base that the file does not say.
ROBOT_OPTIONS = [
    ("arm.urdf", RobotOptions()),
    ("arm.xacro", RobotOptions(arguments={"length": "3"}, prefix="left_", base="fixed", drives="none")),
]


def imported_robot(folder, name, options):
    path = folder / name
    text = ARM if name.endswith(".xacro") else ARM.replace("$(arg length)", "1")
    path.write_text(text if name.endswith(".xacro") else text.replace('  <xacro:arg name="length" default="1"/>\n', ""))
    urdf_import.import_urdf(bpy.context, path, options)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), ROBOT_OPTIONS, ids=["urdf", "xacro"])
def test_edits_of_a_robot_are_compared_with_its_file(tmp_path, name, options):
    imported_robot(tmp_path, name, options)
    assert texts() == []
    upper = of(f"{options.prefix}upper")
    upper.usdphys.mass.mass = 3.0
    assert texts() == [f"'{upper.name}': mass is 3 kg; was 2 kg"]
    of(f"{options.prefix}elbow").usdphys.joint.revolute.upper_limit = math.pi / 2
    bpy.data.objects.remove(of(f"{options.prefix}lower"))
    found = texts()
    assert f"'{options.prefix}lower' is deleted" in found
    assert any(text.startswith(f"'{options.prefix}elbow': upper limit is 90°") for text in found)


def test_the_comparison_with_a_robot_survives_saving_and_needs_the_file_as_it_was(tmp_path):
    path = imported_robot(tmp_path, *ROBOT_OPTIONS[1])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "arm.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "arm.blend"))
    assert texts() == []
    path.write_text(ARM.replace('"2"', '"3"'))
    with pytest.raises(InputError, match=r"'arm.xacro'.* has changed since"):
        source_changes.compare(bpy.context)
    path.unlink()
    with pytest.raises(InputError, match="is gone"):
        source_changes.compare(bpy.context)
    del bpy.context.scene.usdphys.source["robot"]
    with pytest.raises(InputError, match="an older version"):
        source_changes.compare(bpy.context)


@pytest.mark.slow
def test_edits_of_a_robot_are_taken_back_from_the_panel(tmp_path):
    imported_robot(tmp_path, *ROBOT_OPTIONS[0])
    of("upper").usdphys.mass.mass = 3.0
    of("elbow").usdphys.joint.revolute.upper_limit = 0.5
    assert bpy.ops.usdphys.compare_source() == {"FINISHED"}
    layout = drawn()
    assert "'upper': mass is 3 kg; was 2 kg" in " ".join(layout.labels())
    assert len(layout.buttons("usdphys.revert_change")) == 2
    assert bpy.ops.usdphys.revert_change(**layout.buttons("usdphys.revert_change")[0].values) == {"FINISHED"}
    assert len(texts()) == 1
    assert bpy.ops.usdphys.revert_all_changes() == {"FINISHED"}
    assert of("upper").usdphys.mass.mass == 2.0 and of("elbow").usdphys.joint.revolute.upper_limit == 1.0


def edits_of_robot(prefix: str) -> list[Callable[[], None]]:
    """An edit of each kind that the file of a robot can say, or that hides what it says."""

    def named(name: str) -> Any:
        return of(prefix + name)

    def inertia():
        named("upper").usdphys.mass.diagonal_inertia = (1.0, 2.0, 2.5)

    def effort():
        named("elbow").usdphys.joint.drives.angular.max_force = 3.0

    def collider():
        named("lower").children_recursive[0].usdphys.colliders.clear()

    def radius():
        ball = next(obj for obj in named("lower").children_recursive if len(obj.usdphys.colliders))
        ball.usdphys.colliders[0].radius *= 2

    def friction():
        material = bpy.data.materials.new("Rubber")
        material.usdphys.physics_material.is_applied = True
        named("lower").usdphys.physics_material = material

    def rename():
        named("upper").name = "other"

    def delete_link():
        for obj in (*named("lower").children_recursive, named("lower")):
            bpy.data.objects.remove(obj)

    def delete_joint():
        bpy.data.objects.remove(named("elbow"))

    def no_articulation():
        for obj in bpy.data.objects:
            obj.usdphys.articulation_root.is_applied = False

    def move():
        named("upper").location.x += 0.5

    return [inertia, effort, collider, radius, friction, rename, delete_link, delete_joint, no_articulation, move]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), ROBOT_OPTIONS, ids=["urdf", "xacro"])
def test_each_edit_of_a_robot_is_taken_back(tmp_path, name, options):
    imported_robot(tmp_path, name, options)
    names = {obj.name for obj in bpy.data.objects}
    for edit in edits_of_robot(options.prefix):
        edit()
        assert texts(), edit.__name__
        left = source_revert.revert_all(bpy.context)[1]
        assert left == [] and texts() == [], (edit.__name__, left)
        assert {obj.name for obj in bpy.data.objects} == names, edit.__name__


def test_edits_of_a_model_of_mujoco_are_compared_with_what_was_imported(tmp_path):
    (tmp_path / "ball.xml").write_text(
        '<mujoco><worldbody><body name="ball"><freejoint/><geom type="sphere" size="0.2" mass="2"/></body>'
        '<geom type="plane" size="5 5 0.1"/></worldbody></mujoco>'
    )
    mjcf_import.import_mjcf(bpy.context, tmp_path / "ball.xml")
    assert texts() == []
    of("ball").location.z += 0.5
    assert texts() == ["'ball' is moved by 0.5 m"]


@pytest.mark.parametrize("side", [0, 1])
def test_a_rotation_of_a_joint_alone_is_an_edit_and_is_written(door, tmp_path, side):
    """It was left out without a word unless a position of the same side was set."""
    hinge = of("Hinge").usdphys.joint
    for name in ("local_pos0", "local_rot0", "local_pos1", "local_rot1"):
        hinge.property_unset(name)
    bpy.context.view_layer.update()
    assert not [text for text in texts() if "place of the joint" in text]
    setattr(hinge, f"local_rot{side}", (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    bpy.context.view_layer.update()
    assert [text for text in texts() if "place of the joint" in text] == [
        "The place of the joint 'Hinge' on its bodies is edited"
    ]
    api.export(tmp_path / "out.usda", form="copy")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    turn = stage.GetPrimAtPath("/World/Hinge").GetAttribute(f"physics:localRot{side}").Get()
    assert (turn.real, turn.imaginary[0]) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)), abs=1e-6)


@pytest.mark.parametrize("form", ["copy", "layer", "flat", "composed"])
@pytest.mark.parametrize(("shape", "kind"), [("AUTO", "Mesh"), ("MESH", "Mesh"), ("CUBE", "Cube"), ("PLANE", "Plane")])
def test_an_imported_sphere_gets_another_shape_in_every_form(tmp_path, shape, kind, form):
    """A mesh without points was written, and a composed file kept the sphere."""
    (tmp_path / "ball.usda").write_text(
        """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
)
def Xform "World"
{
    def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double radius = 0.5
    }
}
"""
    )
    api.import_file(tmp_path / "ball.usda")
    of("Ball").usdphys.colliders[0].shape = shape
    bpy.context.view_layer.update()
    result = api.export(tmp_path / "out.usda", form=form)
    assert [issue.message for issue in result.issues if issue.code == "FileDiffers"] == []
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    (ball,) = [prim for prim in stage.Traverse() if prim.GetName() == "Ball"]
    assert ball.GetTypeName() == kind
    assert bool(ball.GetAttribute("points").Get()) == (kind == "Mesh")
