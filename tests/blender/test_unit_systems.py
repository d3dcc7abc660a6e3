# SPDX-License-Identifier: GPL-3.0-or-later
"""One scene in four unit systems is the same physics, by the word of an independent judge."""

import itertools
import math

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

pytestmark = pytest.mark.slow

SYSTEMS = {
    "m_kg_z": StageUnits(1.0, 1.0, "Z"),
    "cm_kg_y": StageUnits(0.01, 1.0, "Y"),
    "cm_g_y": StageUnits(0.01, 0.001, "Y"),
    "inch_pound_z": StageUnits(0.0254, 0.45359237, "Z"),
}


def add(name, location=(0, 0, 0), *, parent=None, mesh=None):
    obj = bpy.data.objects.new(name, mesh)
    obj.location = location
    obj.parent = parent
    bpy.context.scene.collection.objects.link(obj)
    return obj


def box(name, location=(0, 0, 0), parent=None):
    bpy.ops.mesh.primitive_cube_add(size=0.5, location=location)
    obj = bpy.context.object
    obj.name, obj.parent = name, parent
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def joint(name, kind, body0, body1, location):
    obj = add(name, location)
    obj.rotation_euler = (0.2, 0.1, 0.4)
    group = obj.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, kind, body0, body1
    return group


def build_everything():
    """Every quantity with a dimension, on bodies that are rotated, nested and scaled."""
    scene = bpy.context.scene
    gravity = scene.usdphys.physics_scenes.add()
    gravity.name, gravity.gravity_direction, gravity.gravity_magnitude = "Moon", (0.6, 0.0, -0.8), 1.62
    a = box("A", (0, 0, 1))
    a.rotation_euler = (0.3, 0.5, 0.7)
    a.usdphys.rigid_body.velocity = (1.0, 2.0, 3.0)
    a.usdphys.rigid_body.angular_velocity = (0.1, -0.2, 0.3)
    mass = a.usdphys.mass
    mass.is_applied = True
    mass.mass, mass.center_of_mass = 2.5, (0.1, 0.2, 0.3)
    mass.diagonal_inertia, mass.principal_axes = (0.2, 0.3, 0.4), (0.5, 0.5, 0.5, 0.5)
    b = box("B", (1, 0, 0.5), a)
    b.scale = (1.0, 2.0, 1.0)
    b.usdphys.mass.is_applied = True
    b.usdphys.mass.density = 700.0
    c = box("C", (2, 0, 1))
    material = bpy.data.materials.new("Rubber")
    material.usdphys.physics_material.is_applied = True
    material.usdphys.physics_material.density = 1100.0
    c.data.materials.append(material)
    for shape in ("CUBE", "SPHERE", "CAPSULE", "CYLINDER", "CONE"):
        collider = c.usdphys.colliders.add()
        collider.shape, collider.location, collider.size = shape, (0.1, 0.2, 0.3), (0.2, 0.3, 0.4)
        collider.radius, collider.height, collider.axis = 0.15, 0.35, "Y"
    hinge = joint("Hinge", "REVOLUTE", a, b, (0.5, 0, 1))
    hinge.revolute.lower_limit, hinge.revolute.upper_limit = -math.pi / 2, math.pi / 3
    hinge.break_force, hinge.break_torque = 100.0, 20.0
    drive = hinge.drives.angular
    drive.is_applied = True
    drive.stiffness, drive.damping, drive.max_force = 1.5, 0.25, 30.0
    drive.target_position, drive.target_velocity = math.radians(20), math.radians(5)
    slider = joint("Slider", "PRISMATIC", b, c, (1.5, 0, 1))
    slider.prismatic.lower_limit, slider.prismatic.upper_limit = -0.25, 0.75
    drive = slider.drives.linear
    drive.is_applied = True
    drive.type = "acceleration"
    drive.stiffness, drive.damping, drive.target_position = 12.0, 3.0, 0.5
    joint("Rope", "DISTANCE", a, c, (0.1, 0.4, 1)).distance.max_distance = 0.9
    ball = joint("Ball", "SPHERICAL", None, c, (2, 0.1, 1))
    ball.spherical.cone_angle0_limit, ball.spherical.cone_angle1_limit = 0.5, 0.75
    generic = joint("Generic", "GENERIC", None, a, (0, 0.1, 1))
    for dof, low, high in (("transX", -0.1, 0.2), ("rotZ", -0.5, 1.0)):
        limit = getattr(generic.limits, dof)
        limit.is_applied, limit.low, limit.high = True, low, high
    drive = generic.drives.transY
    drive.is_applied = True
    drive.stiffness, drive.damping, drive.max_force = 40.0, 4.0, 9.0
    bpy.context.view_layer.update()


@pytest.mark.parametrize(
    ("system", "scale_length"),
    zip([name for name in SYSTEMS if name != "m_kg_z"], itertools.cycle((0.01, 1.0)), strict=False),
)
def test_units_do_not_change_the_physics(tmp_path, compare, validator_errors, system, scale_length):
    build_everything()
    bpy.context.scene.unit_settings.scale_length = scale_length
    files = []
    for name in ("m_kg_z", system):
        files.append(tmp_path / f"{name}.usda")
        usd_export.export_usd(bpy.context, files[-1], usd_export.ExportOptions(SYSTEMS[name]))
    figures = compare(*files)
    assert figures["score"] == 1.0, figures["text"]
    # Nothing is compared by chance: the scene has this many facts.
    assert figures["facts"] > 150, figures["text"]
    units = figures["units"]["roundtrip"]
    assert units == [pytest.approx(SYSTEMS[system].meters_per_unit, rel=1e-12),
                     pytest.approx(SYSTEMS[system].kilograms_per_unit, rel=1e-12), SYSTEMS[system].up_axis]  # fmt: skip
    assert validator_errors(*files) == []


def attribute(stage, prim, name):
    return stage.GetPrimAtPath(prim).GetAttribute(name).Get()


#: (prim, attribute, value in metres and kilograms, factor to centimetres and grams): by hand, from the dimensions.
BY_HAND = [
    ("/root/A", "physics:mass", 2.5, 1e3),
    ("/root/A/B", "physics:density", 700.0, 1e3 / 1e6),
    ("/root/_materials/Rubber", "physics:density", 1100.0, 1e3 / 1e6),
    ("/root/Moon", "physics:gravityMagnitude", 1.62, 1e2),
    ("/root/Hinge", "physics:breakForce", 100.0, 1e5),
    ("/root/Hinge", "physics:breakTorque", 20.0, 1e7),
    ("/root/Hinge", "physics:upperLimit", 60.0, 1.0),
    ("/root/Hinge", "drive:angular:physics:stiffness", 1.5, 1e7),
    ("/root/Hinge", "drive:angular:physics:damping", 0.25, 1e7),
    ("/root/Hinge", "drive:angular:physics:maxForce", 30.0, 1e7),
    ("/root/Hinge", "drive:angular:physics:targetPosition", 20.0, 1.0),
    ("/root/Hinge", "drive:angular:physics:targetVelocity", 5.0, 1.0),
    ("/root/Slider", "physics:upperLimit", 0.75, 1e2),
    ("/root/Slider", "drive:linear:physics:stiffness", 12.0, 1.0),
    ("/root/Slider", "drive:linear:physics:targetPosition", 0.5, 1e2),
    ("/root/Rope", "physics:maxDistance", 0.9, 1e2),
    ("/root/Ball", "physics:coneAngle0Limit", math.degrees(0.5), 1.0),
    ("/root/Generic", "limit:transX:physics:high", 0.2, 1e2),
    ("/root/Generic", "limit:rotZ:physics:high", math.degrees(1.0), 1.0),
    ("/root/Generic", "drive:transY:physics:stiffness", 40.0, 1e3),
    ("/root/Generic", "drive:transY:physics:maxForce", 9.0, 1e5),
]


def test_values_by_hand(tmp_path):
    build_everything()
    metric, small = tmp_path / "m.usda", tmp_path / "cm_g.usda"
    usd_export.export_usd(bpy.context, metric, usd_export.ExportOptions(SYSTEMS["m_kg_z"]))
    usd_export.export_usd(bpy.context, small, usd_export.ExportOptions(SYSTEMS["cm_g_y"]))
    from pxr import Usd

    metric, small = Usd.Stage.Open(str(metric)), Usd.Stage.Open(str(small))
    for prim, name, value, factor in BY_HAND:
        assert attribute(metric, prim, name) == pytest.approx(value, rel=1e-6), (prim, name)
        assert attribute(small, prim, name) == pytest.approx(value * factor, rel=1e-6), (prim, name)
    inertia = attribute(small, "/root/A", "physics:diagonalInertia")
    assert tuple(inertia) == pytest.approx((0.2e7, 0.3e7, 0.4e7), rel=1e-6)
    direction = attribute(small, "/root/Moon", "physics:gravityDirection")
    assert tuple(direction) == pytest.approx((0.6, -0.8, 0.0), abs=1e-6), "Y is up"


@pytest.mark.parametrize("scale_length", [1.0, 0.01, 0.0254])
@pytest.mark.parametrize("meters_per_unit", [1.0, 0.01])
def test_unit_scale_of_the_scene_counts_for_geometry_and_physics_alike(tmp_path, scale_length, meters_per_unit):
    import bpy
    import numpy as np
    from pxr import Usd, UsdGeom
    from usdphys_ext.usdphys_addon.core.units import StageUnits
    from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

    scene = bpy.context.scene
    scene.unit_settings.scale_length = scale_length
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(3.0, 0.0, 1.0))
    cube = bpy.context.object
    cube.usdphys.rigid_body.is_applied = True
    cube.usdphys.colliders.add()
    options = usd_export.ExportOptions(StageUnits(meters_per_unit, 1.0, "Z"))
    usd_export.export_usd(bpy.context, tmp_path / "out.usda", options)
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert UsdGeom.GetStageMetersPerUnit(stage) == meters_per_unit
    box = UsdGeom.BBoxCache(0, ["default"]).ComputeWorldBound(stage.GetPrimAtPath("/root/Cube")).ComputeAlignedRange()
    expected = np.array([[2.0, -1.0, 0.0], [4.0, 1.0, 2.0]]) * scale_length
    assert np.allclose(np.array([box.GetMin(), box.GetMax()]) * meters_per_unit, expected, rtol=1e-5, atol=1e-7)

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.1
    usd_import.import_usd(bpy.context, tmp_path / "out.usda", usd_import.ImportOptions())
    bpy.context.view_layer.update()
    place = bpy.data.objects["Cube"].matrix_world.translation
    assert np.allclose(np.array(place) * 0.1, np.array([3.0, 0.0, 1.0]) * scale_length, rtol=1e-5)


ODD_UNITS = [(1.0, 1e-6, "Z"), (1.0, 1e6, "Y"), (1000.0, 0.001, "Y"), (1e-6, 1.0, "Z"), (0.01, 1e9, "Z")]


def world_box(path):
    """Corners of the bounding box of a stage in metres, Z up, and metersPerUnit."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    box = UsdGeom.BBoxCache(1, ["default", "render"]).ComputeWorldBound(stage.GetPseudoRoot()).ComputeAlignedRange()
    corners = np.array([box.GetMin(), box.GetMax()]) * meters
    if UsdGeom.GetStageUpAxis(stage) == "Y":
        corners = np.array([corners[:, 0], -corners[:, 2], corners[:, 1]]).T
    return np.sort(corners, axis=0), meters


@pytest.mark.parametrize(("scale_length", "meters_per_unit", "up_axis"), ODD_UNITS)
def test_units_by_which_blender_cannot_scale_are_exported_all_the_same(
    tmp_path, compare, scale_length, meters_per_unit, up_axis
):
    """Its exporter takes units from 0.1 mm to 1 km only, and the checks find nothing wrong with others."""
    build_everything()
    bpy.context.scene.unit_settings.scale_length = scale_length
    plain, odd = tmp_path / "plain.usda", tmp_path / "odd.usda"
    usd_export.export_usd(bpy.context, plain, usd_export.ExportOptions(StageUnits(scale_length)))
    usd_export.export_usd(bpy.context, odd, usd_export.ExportOptions(StageUnits(meters_per_unit, 1.0, up_axis)))
    (expected, _), (corners, meters) = world_box(plain), world_box(odd)
    assert meters == pytest.approx(meters_per_unit, rel=1e-12)
    assert np.allclose(corners, expected, rtol=1e-5, atol=1e-5 * scale_length)
    figures = compare(plain, odd)
    # OpenUSD takes inertias of less than 1e-8 for zero, whatever the units: what it computes is no measure here.
    bad = [line for line in figures["text"].splitlines() if line.split()[0] in ("changed", "lost", "spurious")]
    assert [line for line in bad if ": computed " not in line] == [] and len(bad) < 5
    assert figures["facts"] > 150, figures["text"]


@pytest.mark.parametrize(("scale_length", "fits"), [(1e-5, False), (0.001, True), (10000.0, True), (1e5, False)])
def test_a_scene_by_whose_unit_blender_cannot_scale_an_import_is_named(tmp_path, scale_length, fits):
    bpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))
    usd_export.export_usd(bpy.context, tmp_path / "cube.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.unit_settings.scale_length = scale_length
    if not fits:
        with pytest.raises(InputError, match="cannot scale by"):
            usd_import.import_usd(bpy.context, tmp_path / "cube.usda", usd_import.ImportOptions())
        assert not bpy.data.objects
        return
    usd_import.import_usd(bpy.context, tmp_path / "cube.usda", usd_import.ImportOptions())
    bpy.context.view_layer.update()
    assert bpy.data.objects["Cube"].matrix_world.translation.x * scale_length == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("meters_per_unit", [1e-6, 1e6])
@pytest.mark.parametrize("animation", [False, True])
def test_imported_units_by_which_blender_cannot_scale_go_back(tmp_path, compare, meters_per_unit, animation):
    def length(value):
        return repr(value / meters_per_unit)

    source, target = tmp_path / "source.usda", tmp_path / "target.usda"
    source.write_text(
        f"""#usda 1.0
(
    metersPerUnit = {meters_per_unit}
    upAxis = "Z"
    startTimeCode = 1
    endTimeCode = 2
)
def Cube "Still" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{{
    double size = {length(1)}
}}
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{{
    double size = {length(1)}
    double3 xformOp:translate = ({length(3)}, 0, {length(1)})
    double3 xformOp:translate.timeSamples = {{
        1: ({length(3)}, 0, {length(1)}),
        2: ({length(4)}, 0, {length(1)}),
    }}
    float3 xformOp:scale = (2, 1, 1)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
}}
"""
    )
    usd_import.import_usd(bpy.context, source, usd_import.ImportOptions())
    units = StageUnits(meters_per_unit, 1.0, "Z")
    usd_export.export_usd(bpy.context, target, usd_export.ExportOptions(units, animation=animation))
    (expected, _), (corners, meters) = world_box(source), world_box(target)
    assert np.allclose(expected, [[-0.5, -0.5, -0.5], [4.0, 0.5, 1.5]], rtol=1e-5)
    assert meters == meters_per_unit and np.allclose(corners, expected, rtol=1e-5)
    figures = compare(source, target)
    assert figures["score"] == 1.0, figures["text"]


def test_blenders_own_export_keeps_physics_in_step_with_its_geometry(tmp_path, capfd):
    import bpy
    from pxr import Usd

    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.mesh.primitive_cube_add(size=2.0)
    cube = bpy.context.object
    cube.usdphys.rigid_body.is_applied = True
    cube.usdphys.colliders.add()
    joint = bpy.data.objects.new("Slide", None)
    bpy.context.scene.collection.objects.link(joint)
    joint.location.x = 1.0
    joint.usdphys.joint.is_applied, joint.usdphys.joint.type, joint.usdphys.joint.body1 = True, "PRISMATIC", cube
    bpy.context.view_layer.update()
    bpy.ops.wm.usd_export(filepath=str(tmp_path / "own.usda"))
    stage = Usd.Stage.Open(str(tmp_path / "own.usda"))
    assert tuple(stage.GetPrimAtPath("/root/Slide").GetAttribute("physics:localPos1").Get()) == (1.0, 0.0, 0.0)
    assert "ignores the unit scale" in capfd.readouterr().out


def test_a_distance_without_limit_is_minus_one_in_all_units(tmp_path):
    """In the file, in the model and in the panel, where a Blender unit is a centimetre."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    first, second = box("A"), box("B", (100, 0, 0))
    rope = joint("Rope", "DISTANCE", first, second, (50, 0, 0))
    rope.distance.min_distance, rope.distance.max_distance = -1.0, 150.0
    for system in ("m_kg_z", "cm_g_y"):
        path = tmp_path / f"{system}.usda"
        usd_export.export_usd(bpy.context, path, usd_export.ExportOptions(units=SYSTEMS[system]))
        text = path.read_text()
        assert "physics:minDistance = -1\n" in text
        most = 1.5 if system == "m_kg_z" else 150
        assert f"physics:maxDistance = {most}\n" in text
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    ropes = [obj for obj in bpy.data.objects if obj.usdphys.joint.is_applied]
    assert len(ropes) == 2
    assert {obj.usdphys.joint.distance.min_distance for obj in ropes} == {-1.0}
