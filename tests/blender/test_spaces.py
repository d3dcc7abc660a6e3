"""Axes, units and spaces with known answers: planes, spins, deltas, a Y-up file, guides."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from pxr import UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes


def written(path: Path, body: str, head: str = 'upAxis = "Z"\n    metersPerUnit = 1') -> Path:
    path.write_text(f"#usda 1.0\n(\n    {head}\n)\n{body}")
    return path


def import_usd(path: Path, **options: Any) -> Any:
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(**options))


# --------------------------------------------------------------------------- planes

#: Size along x, y and z of a plane that is 2 wide and 6 long. Source: the documentation of UsdGeomPlane.
PLANES = {"X": (0, 6, 2), "Y": (2, 0, 6), "Z": (2, 6, 0)}


def plane_file(path: Path, axis: str) -> Path:
    return written(path, f"""
def Plane "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{{
    uniform token axis = "{axis}"
    double width = 2
    double length = 6
}}
""")  # fmt: skip


@pytest.mark.parametrize("axis", PLANES)
def test_an_imported_plane_is_as_wide_and_long_as_in_the_file(tmp_path, axis):
    import_usd(plane_file(tmp_path / "plane.usda", axis))
    (item,) = bpy.data.objects["Floor"].usdphys.colliders
    assert (item.shape, item.axis, tuple(item.size)) == ("PLANE", axis, PLANES[axis])


@pytest.mark.parametrize("axis", PLANES)
def test_an_imported_plane_is_exported_as_wide_and_long_as_it_was(tmp_path, axis):
    import_usd(plane_file(tmp_path / "plane.usda", axis))
    stage, _ = scenes.export(tmp_path / "out.usda")
    (plane,) = [UsdGeom.Plane(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Plane)]
    found = plane.GetAxisAttr().Get(), plane.GetWidthAttr().Get(), plane.GetLengthAttr().Get()
    assert found == (axis, 2.0, 6.0)


@pytest.mark.parametrize("axis", PLANES)
def test_a_plane_that_is_attached_is_as_wide_and_long_as_in_the_file(tmp_path, axis):
    floor = scenes.add_box("Floor")
    import_usd(plane_file(tmp_path / "plane.usda", axis), attach=True)
    (item,) = floor.usdphys.colliders
    assert (item.shape, item.axis, tuple(item.size)) == ("PLANE", axis, PLANES[axis])


@pytest.mark.parametrize("axis", PLANES)
def test_a_plane_collider_of_an_object_is_exported_as_wide_and_long_as_it_is_shown(tmp_path, axis):
    floor = scenes.add_box("Floor")
    scenes.make_collider(floor, "PLANE", axis=axis, size=PLANES[axis], location=(0, 0, 0))
    stage, _ = scenes.export(tmp_path / "out.usda")
    (plane,) = [UsdGeom.Plane(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Plane)]
    found = plane.GetAxisAttr().Get(), plane.GetWidthAttr().Get(), plane.GetLengthAttr().Get()
    assert found == (axis, 2.0, 6.0)


# --------------------------------------------------------------------------- what is turned with its space


def turned_mesh(path: Path, *lines: str) -> Path:
    """A body that is the mesh of a prim, turned by a quarter about Z against that, and moved along its X."""
    authored = "\n        ".join(lines)
    return written(path, f"""
def Xform "Crate"
{{
    def Mesh "Crate_mesh" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    )
    {{
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        {authored}
        double3 xformOp:translate = (3, 0, 0)
        double xformOp:rotateZ = 90
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    }}
}}
""")  # fmt: skip


def test_velocities_that_are_attached_to_the_object_around_a_mesh_are_turned_with_it(tmp_path):
    crate = scenes.add_box("Crate")
    lines = "vector3f physics:velocity = (1, 2, 3)", "vector3f physics:angularVelocity = (90, 180, 360)"
    import_usd(turned_mesh(tmp_path / "crate.usda", *lines), attach=True)
    body = crate.usdphys.rigid_body
    assert body.is_applied
    # A quarter turn about Z brings X to Y, and Y to -X.
    assert tuple(body.velocity) == pytest.approx((-2, 1, 3), abs=1e-5)
    spin = np.degrees(body.angular_velocity)
    assert spin == pytest.approx((-180, 90, 360), abs=1e-3)


def test_a_mass_that_is_attached_to_the_object_around_a_mesh_is_where_it_was(tmp_path):
    crate = scenes.add_box("Crate")
    lines = (
        "point3f physics:centerOfMass = (1, 2, 3)", "float3 physics:diagonalInertia = (1, 2, 4)",
        "quatf physics:principalAxes = (1, 0, 0, 0)",
    )  # fmt: skip
    import_usd(turned_mesh(tmp_path / "crate.usda", *lines), attach=True)
    mass = crate.usdphys.mass
    assert tuple(mass.center_of_mass) == pytest.approx((1, 1, 3), abs=1e-5)
    half = math.sqrt(0.5)
    assert np.abs(tuple(mass.principal_axes)) == pytest.approx((half, 0, 0, half), abs=1e-5)
    assert mass.principal_axes[0] * mass.principal_axes[3] > 0


# --------------------------------------------------------------------------- what stands on delta transforms


@pytest.mark.parametrize("parented", [False, True])
def test_a_body_with_a_delta_location_is_shown_where_it_is(parented):
    crate = scenes.solid("Crate", location=(1, 2, 3))
    crate.delta_location = (10, 20, 30)
    if parented:
        crate.parent = scenes.add("Parent")
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    session.step_once(bpy.context)
    bpy.context.view_layer.update()
    place = crate.matrix_world.translation
    assert tuple(place)[:2] == pytest.approx((11, 22), abs=1e-4)
    # One step of a fall is too short to be seen.
    assert place.z == pytest.approx(33, abs=0.01)
    assert tuple(crate.location)[:2] == pytest.approx((1, 2), abs=1e-4)


def test_a_baked_spin_has_no_jumps_between_its_keys():
    """Two rotations in a row are less than half a turn apart, so neither may be the opposite quaternion."""
    bpy.context.scene.use_gravity = False
    crate = scenes.solid("Crate")
    crate.usdphys.rigid_body.angular_velocity = (0.0, 0.0, 4 * math.pi)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 25
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    found = []
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        found.append(Quaternion(crate.rotation_quaternion))
    assert all(one.dot(other) > 0.5 for one, other in itertools.pairwise(found))
    # Two whole turns in a second: there and back through the opposite quaternion.
    assert min(one.dot(found[0]) for one in found) < -0.9


# --------------------------------------------------------------------------- Y up


def test_an_export_with_y_up_turns_the_scene_with_its_axis(tmp_path):
    crate = scenes.solid("Crate", location=(1, 2, 3))
    crate.usdphys.rigid_body.velocity = (0, 0, 1)
    stage, _ = scenes.export(tmp_path / "out.usda", units=StageUnits(up_axis="Y"))
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    (body,) = scenes.bodies_of(stage)
    place = scenes.world_pose(body)
    assert place[:3, 3] == pytest.approx((1, 3, -2), abs=1e-5)
    # What is up in the body's own space is up in the world.
    velocity = place[:3, :3] @ np.array(UsdPhysics.RigidBodyAPI(body).GetVelocityAttr().Get())
    assert velocity == pytest.approx((0, 1, 0), abs=1e-5)


@pytest.mark.parametrize("up", "YZ")
@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1)])
def test_a_check_of_a_file_finds_mirrored_bodies_whatever_axis_points_up(tmp_path, capfd, up, scale):
    file = written(tmp_path / "crate.usda", f"""
def PhysicsScene "Scene" {{}}
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{{
    double size = 1
    double3 xformOp:translate = (1, 2, 3)
    float3 xformOp:scale = {scale}
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
}}
""", f'upAxis = "{up}"\n    metersPerUnit = 1')  # fmt: skip
    cli.main(["validate", str(file)])
    assert ("mirrored by a negative scale" in capfd.readouterr().out) == (scale[0] < 0)


# --------------------------------------------------------------------------- guides


GUIDES = """
def Xform "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Mesh "Seen"
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
    }
    def Mesh "Hull" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        uniform token purpose = "guide"
    }
}
"""


def test_an_imported_guide_is_a_wire_that_is_not_rendered_and_stays_a_guide(tmp_path):
    import_usd(written(tmp_path / "guide.usda", GUIDES))
    seen, hull = bpy.data.objects["Seen"], bpy.data.objects["Hull"]
    assert (seen.hide_render, seen.display_type) == (False, "TEXTURED")
    assert (hull.hide_render, hull.display_type) == (True, "WIRE")
    stage, _ = scenes.export(tmp_path / "out.usda")
    purposes = {prim.GetName(): UsdGeom.Imageable(prim).ComputePurpose() for prim in stage.Traverse()
                if prim.IsA(UsdGeom.Mesh)}  # fmt: skip
    assert purposes == {"Seen": "default", "Hull": "guide"}


# --------------------------------------------------------------------------- imported joints


TURNED_JOINT = """
def Xform "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    double3 xformOp:translate = (3, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def PhysicsRevoluteJoint "Hinge"
{
    rel physics:body1 = </Crate>
    point3f physics:localPos0 = (2, 0, 0)
    point3f physics:localPos1 = (-1, 0, 0)
    quatf physics:localRot1 = (0.5, 0.5, 0.5, 0.5)
}
"""


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_an_imported_joint_stands_at_its_frame_in_the_units_of_the_scene(tmp_path, scale_length):
    bpy.context.scene.unit_settings.scale_length = scale_length
    import_usd(written(tmp_path / "joint.usda", TURNED_JOINT))
    hinge, crate = bpy.data.objects["Hinge"], bpy.data.objects["Crate"]
    assert scenes.world_of(crate)[:3, 3] * scale_length == pytest.approx((3, 0, 0), abs=1e-5)
    assert scenes.world_of(hinge)[:3, 3] * scale_length == pytest.approx((2, 0, 0), abs=1e-5)


def test_frames_of_an_imported_joint_that_only_turn_against_each_other_are_kept_apart(tmp_path):
    """The hinge is bent from its zero: a joint without a frame of its own in body 1 would take this for the zero."""
    import_usd(written(tmp_path / "joint.usda", TURNED_JOINT))
    joint = bpy.data.objects["Hinge"].usdphys.joint
    assert not joint.is_property_set("local_rot0")
    assert tuple(joint.local_rot1) == pytest.approx((0.5, 0.5, 0.5, 0.5))
    # Moved, the joint is read from where it stands: the frame in body 1 stays.
    bpy.data.objects["Hinge"].location.z += 1.0
    (prim,) = scenes.read_model().joints.values()
    found = prim.get(usd_physics.Joint)
    assert found.local_rot1 == pytest.approx((0.5, 0.5, 0.5, 0.5))
    assert found.local_rot0 == pytest.approx((1, 0, 0, 0))
    assert found.local_pos0 == pytest.approx((2, 0, 1), abs=1e-6)
