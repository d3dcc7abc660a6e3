"""The API in Blender: every function once, values by name there and back, and mistakes that change nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.core import schema, vendor_schemas
from usdphys_ext.usdphys_addon.core.schemas import usd_physics


def cube(name: str, place=(0.0, 0.0, 0.0)) -> Any:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    obj: Any = bpy.context.object
    obj.name = name
    return obj


@pytest.fixture
def scene() -> Any:
    """A crate over a ground, and a door beside its frame."""
    api.generate.add("ground")
    cube("Crate", (0.0, 0.0, 2.0))
    cube("Door", (3.0, 0.0, 2.0))
    cube("Frame", (4.0, 0.0, 2.0))
    api.tag("Crate", "dynamic")
    return bpy.context.scene


@pytest.fixture
def hinge(scene) -> Any:
    return api.join("Door", "Frame", "revolute", name="Hinge")


# --------------------------------------------------------------------------- values


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_every_value_of_usd_physics_comes_back(scene, meters: float) -> None:
    """What is set is got, in SI and degrees, in scenes of any unit."""
    scene.unit_settings.scale_length = meters
    material = bpy.data.materials.new("Steel")
    things: dict[type[schema.Schema], Any] = {
        usd_physics.RigidBodyAPI: "Crate", usd_physics.MassAPI: "Crate", usd_physics.CollisionAPI: "Crate",
        usd_physics.MeshCollisionAPI: "Crate", usd_physics.MaterialAPI: material, usd_physics.PhysicsScene: scene,
    }  # fmt: skip
    for kind in ("fixed", "revolute", "prismatic", "spherical", "distance", "generic"):
        joint: Any = api.join("Door", "Frame", kind)
        names = {"fixed": usd_physics.FixedJoint, "revolute": usd_physics.RevoluteJoint,
                 "prismatic": usd_physics.PrismaticJoint, "spherical": usd_physics.SphericalJoint,
                 "distance": usd_physics.DistanceJoint, "generic": usd_physics.Joint}  # fmt: skip
        things[names[kind]] = joint
    done = 0
    for cls, thing in things.items():
        for one in cls.attributes:
            if one.is_editable:
                wanted = _some_value(one)
                api.set_value(thing, one.usd, wanted)
                _same(api.get_value(thing, one.usd), wanted, one.usd)
                done += 1
    for cls, joint, dofs in (
        (usd_physics.LimitAPI, things[usd_physics.Joint], ("transX", "rotZ", "distance")),
        (usd_physics.DriveAPI, things[usd_physics.Joint], ("transY", "rotX")),
        (usd_physics.DriveAPI, things[usd_physics.RevoluteJoint], ("angular",)),
        (usd_physics.DriveAPI, things[usd_physics.PrismaticJoint], ("linear",)),
    ):
        for dof in dofs:
            for one in cls.attributes:
                wanted = _some_value(one)
                api.set_value(joint, one.usd_name(dof), wanted)
                _same(api.get_value(joint, one.usd_name(dof)), wanted, one.usd_name(dof))
                done += 1
    assert done > 60


def _some_value(one: schema.Attribute) -> Any:
    if one.tokens:
        return one.tokens[-1]
    if one.value.base == "bool":
        return True
    if one.value.base == "text":
        return "some text"
    if one.value.is_quaternion:
        return (0.5, 0.5, 0.5, 0.5)
    return 12.5 if one.value.size == 1 else (0.25, 0.5, 12.5)[: one.value.size]


def _same(found: Any, wanted: Any, name: str) -> None:
    if isinstance(wanted, str | bool):
        assert found == wanted, name
    else:
        assert found == pytest.approx(wanted, rel=1e-6), name


@pytest.mark.slow
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_every_number_of_the_simulators_comes_back(scene, meters: float) -> None:
    scene.unit_settings.scale_length = meters
    material = bpy.data.materials.new("Steel")
    hinge = api.join("Door", "Frame", "revolute")
    things = {"body": "Crate", "collider": "Crate", "material": material, "scene": scene, "joint": hinge, "dof": hinge}
    done = 0
    for cls in vendor_schemas.all_schemas("body", "collider", "material", "scene", "joint", "dof"):
        if cls.kind == "typed":
            continue
        instance = "angular" if "angular" in cls.instances else next(iter(cls.instances), "")
        for one in cls.attributes:
            if one.value.base != "float" or one.value.is_array or one.value.is_quaternion or not one.is_editable:
                continue
            name, wanted = one.usd_name(instance or "default"), _some_value(one)
            api.set_value(things[cls.on], name, wanted)
            _same(api.get_value(things[cls.on], name), wanted, name)
            done += 1
    assert done > 100


def test_a_value_is_written_to_usd_as_it_was_set(hinge, tmp_path: Path) -> None:
    from pxr import Usd

    bpy.context.scene.unit_settings.scale_length = 0.5
    api.set_values("Crate", {"physics:mass": 2.5, "physics:velocity": (1.0, 0.0, 0.0)})
    api.set_values(hinge, {
        "drive:angular:physics:stiffness": 5.0, "drive:angular:physics:targetPosition": 45.0,
        "physics:lowerLimit": -90.0, "physxLimit:angular:stiffness": 7.0,
    })  # fmt: skip
    api.export(tmp_path / "out.usda", meters_per_unit=0.5, kilograms_per_unit=0.1, up_axis="Y")
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    values = {
        attribute.GetName(): attribute.Get()
        for prim in stage.Traverse()
        for attribute in prim.GetAuthoredAttributes()
        if "physics" in attribute.GetName() or "physx" in attribute.GetName()
    }
    assert values["physics:mass"] == pytest.approx(25.0) and values["physics:lowerLimit"] == pytest.approx(-90.0)
    # 1 N m is 1 kg m²/s²: 10 units of mass, 4 of area.
    assert values["drive:angular:physics:stiffness"] == pytest.approx(200.0)
    assert values["drive:angular:physics:targetPosition"] == pytest.approx(45.0)
    assert values["physxLimit:angular:stiffness"] == pytest.approx(280.0)
    assert math.hypot(*values["physics:velocity"]) == pytest.approx(2.0)
    with api.open_stage(tmp_path / "out.usda") as opened:
        (body,) = [path for path in opened.bodies if "Crate" in path]
        assert opened.get_value(body, "physics:mass") == pytest.approx(2.5)
        assert opened.get_value(body, "physics:velocity") == pytest.approx((1.0, 0.0, 0.0))
        (joint,) = opened.joints
        assert opened.get_value(joint, "drive:angular:physics:targetPosition") == pytest.approx(45.0)


def test_gains_of_an_acceleration_drive_have_other_units_than_those_of_a_force(hinge) -> None:
    hinge.users_scene[0].unit_settings.scale_length = 0.01
    slide = api.join("Crate", "Frame", "prismatic")
    api.set_values(slide, {"drive:linear:physics:type": "acceleration", "drive:linear:physics:stiffness": 4.0})
    assert slide.usdphys.joint.drives.linear.stiffness == pytest.approx(4.0)
    assert api.get_value(slide, "drive:linear:physics:stiffness") == pytest.approx(4.0)


def test_units_are_converted(scene) -> None:
    api.set_value("Crate", "physics:mass", 2500.0, unit="g")
    assert api.get_value("Crate", "physics:mass") == 2.5
    material = bpy.data.materials.new("Steel")
    api.set_value(material, "physics:density", 7.85, unit="g/cm³")
    assert api.get_value(material, "physics:density") == pytest.approx(7850.0)


def test_none_removes_a_value(scene) -> None:
    for name in ("physics:mass", "physxRigidBody:linearDamping"):
        api.set_value("Crate", name, 1.0)
        assert api.get_value("Crate", name) == 1.0
        api.set_value("Crate", name, None)
        assert api.get_value("Crate", name) is None


def test_what_is_not_applied_has_no_value(scene) -> None:
    obj: Any = bpy.data.objects["Crate"]
    assert api.get_value(obj, "physics:mass") is None
    obj.usdphys.mass.mass = 3.0
    obj.usdphys.mass.is_applied = False
    assert api.get_value(obj, "physics:mass") is None


MISTAKES = [
    ("Crate", "physics:maas", 1.0, "did you mean 'physics:mass'"),
    ("Crate", "physics:mass", "heavy", "takes a number (kg), and not 'heavy'"),
    ("Crate", "physics:velocity", (1.0, 2.0), "takes 3 numbers (m/s)"),
    ("Crate", "physics:approximation", "convexhull", "did you mean 'convexHull'"),
    ("Crate", "physxRigidBody:linearDamping", "a lot", "takes a number"),
    ("Crate", "physxRigidBody:linearDampin", 1.0, "did you mean 'physxRigidBody:linearDamping'"),
    ("Crate", "physics:staticFriction", 0.5, "is for materials, and 'Crate' is none of these; give its material"),
    ("Crate", "physics:lowerLimit", 0.5, "is for joints, and 'Crate' is none of these; make it one with join()"),
    ("Crate", "physics:gravityMagnitude", 9.81, "is for physics scenes"),
    ("Crate", "physics:filteredPairs", ["Dor"], "did you mean 'Door'"),
    ("Crate", "physics:simulationOwner", "Moon", "no physics scene 'Moon'"),
    ("Crte", "physics:mass", 1.0, "no object 'Crte'; did you mean 'Crate'"),
    ("Frame", "physics:approximation", "convexHull", "make one with tag() first"),
    (3, "physics:mass", 1.0, "3 is no object"),
]


@pytest.mark.parametrize(("thing", "name", "value", "sentence"), MISTAKES)
def test_a_mistake_raises_one_sentence_and_sets_nothing(scene, thing, name, value, sentence) -> None:
    api.set_value("Crate", "physics:mass", 2.0)
    with pytest.raises(api.InputError) as error:
        api.set_value(thing, name, value)
    assert sentence in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(api.InputError):
        api.set_values(thing, {"physics:mass": 9.0, "physxRigidBody:angularDamping": 0.5, name: value})
    assert api.get_value("Crate", "physics:mass") == 2.0
    assert "PhysxRigidBodyAPI" not in api.applied("Crate")
    assert api.applied("Door") == ()


def test_a_joint_refuses_what_its_kind_has_not(hinge) -> None:
    for name in ("limit:rotX:physics:low", "drive:linear:physics:stiffness", "physics:coneAngle0Limit"):
        with pytest.raises(api.InputError, match=f"'Hinge' is a revolute joint, which has no '{name}'"):
            api.set_value(hinge, name, 1.0)


def test_a_physics_scene_is_made_for_a_right_value_only(scene) -> None:
    physics = scene.usdphys.physics_scenes
    with pytest.raises(api.InputError):
        api.set_value(scene, "physics:gravityMagnitude", "strong")
    assert len(physics) == 0 and api.get_value(scene, "physics:gravityMagnitude") is None
    api.set_value(scene, "physics:gravityMagnitude", 1.62)
    assert len(physics) == 1 and api.get_value(scene, "physics:gravityMagnitude") == pytest.approx(1.62)
    physics.add().name = "Other"
    with pytest.raises(api.InputError, match="has 2 physics scenes"):
        api.set_value(scene, "physics:gravityMagnitude", 3.0)
    api.set_value(physics["Other"], "physics:gravityMagnitude", 3.7)
    assert api.get_value(physics["Other"], "physics:gravityMagnitude") == pytest.approx(3.7)


def test_one_of_several_colliders(scene) -> None:
    obj: Any = bpy.data.objects["Crate"]
    obj.usdphys.colliders.add().shape = "SPHERE"
    with pytest.raises(api.InputError, match="has 2 colliders"):
        api.set_value(obj, "physics:collisionEnabled", False)
    api.set_value(obj.usdphys.colliders[1], "physics:collisionEnabled", False)
    assert [api.get_value(item, "physics:collisionEnabled") for item in obj.usdphys.colliders] == [None, False]
    with pytest.raises(api.InputError, match="is for physics scenes"):
        api.set_value(obj.usdphys.colliders[1], "physics:gravityMagnitude", 1.0)
    with pytest.raises(api.InputError, match="RigidBodyProperties has no attributes"):
        api.get_value(obj.usdphys.rigid_body, "physics:mass")


def test_relationships_take_objects_and_names(hinge) -> None:
    door = bpy.data.objects["Door"]
    assert api.get_value(hinge, "physics:body1") == door
    api.set_value(hinge, "physics:body0", None)
    assert api.get_value(hinge, "physics:body0") is None
    api.set_value("Crate", "physics:filteredPairs", ["Frame", door])
    assert api.get_value("Crate", "physics:filteredPairs") == (bpy.data.objects["Frame"], door)


def test_a_linked_object_is_refused(scene, tmp_path: Path) -> None:
    api.export(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_source, wanted):
        wanted.objects = ["Crate"]
    linked = bpy.data.objects["Crate"]
    bpy.context.scene.collection.objects.link(linked)
    with pytest.raises(api.InputError, match="linked from a library"):
        api.set_value(linked, "physics:mass", 1.0)
    with pytest.raises(api.InputError, match="Linked objects cannot be edited"):
        api.tag(linked, "static")


# --------------------------------------------------------------------------- actions


def test_objects_are_named_in_many_ways(scene) -> None:
    crate, door = bpy.data.objects["Crate"], bpy.data.objects["Door"]
    assert api.tag([crate, "Door"], "kinematic").objects == ("Crate", "Door")
    assert set(api.tag("*r*e", "static").objects) == {"Crate", "Frame"}
    assert api.tag(door, "clear").objects == ("Door",)
    for wrong, sentence in (
        ("Crte", "did you mean 'Crate'"), ("X*", "has a name like 'X*'"), ([], "the list is empty"), ([3], "no object"),
    ):  # fmt: skip
        with pytest.raises(api.InputError, match=sentence.replace("*", r"\*")):
            api.tag(wrong, "dynamic")
    with pytest.raises(api.InputError, match="no role 'dynamc'; did you mean 'dynamic'"):
        api.tag("Crate", "dynamc")


def test_joints(scene) -> None:
    joint = api.join("Door", "Frame", "prismatic", axis="world_z", name="Slide")
    assert joint.name == "Slide" and joint.usdphys.joint.type == "PRISMATIC"
    # A joint to a static collider makes the two a filtered pair.
    assert api.applied("Door") == ("PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI", "PhysicsCollisionAPI")
    assert api.applied(joint) == ("PhysicsPrismaticJoint",)
    api.apply_schema(joint, "PhysicsDriveAPI:linear")
    assert api.applied(joint) == ("PhysicsPrismaticJoint", "PhysicsDriveAPI:linear")
    api.remove_schema(joint, "PhysicsDriveAPI:linear")
    assert api.applied(joint) == ("PhysicsPrismaticJoint",)
    assert api.join("Crate").usdphys.joint.body0 is None
    for wrong in ({"body1": "Door", "body0": "Door"}, {"body1": "Door", "kind": "hinge"}, {"body1": "Doors"}):
        with pytest.raises(api.InputError):
            api.join(**wrong)


def test_schemas_without_values(scene) -> None:
    for name in ("PhysicsArticulationRootAPI", "PhysxContactReportAPI"):
        api.apply_schema("Crate", name)
        assert name in api.applied("Crate")
        api.remove_schema("Crate", name)
        assert name not in api.applied("Crate")
    with pytest.raises(api.InputError, match="did you mean 'PhysicsArticulationRootAPI'"):
        api.apply_schema("Crate", "PhysicsArticulationRotAPI")
    with pytest.raises(api.InputError, match="is for joints"):
        api.apply_schema("Crate", "PhysicsDriveAPI:linear")
    with pytest.raises(api.InputError, match=r"is made with tag\(\)"):
        api.apply_schema("Crate", "PhysicsCollisionAPI")


def test_groups_and_materials(scene) -> None:
    assert api.group("Crate", "Boxes").objects == ("Crate",)
    assert api.group(["Crate", "Door"], "Boxes").text == "Added 1 object to 'Boxes'"
    api.group("Ground", "Grounds")
    api.ignore_groups("Boxes", "Grounds")
    groups = scene.usdphys.collision_groups
    assert api.get_value(groups["Boxes"], "physics:filteredGroups") == ("Grounds",)
    api.ignore_groups("Boxes", "Grounds", ignored=False)
    assert api.get_value(groups["Boxes"], "physics:filteredGroups") == ()
    with pytest.raises(api.InputError, match="no collision group 'Box'"):
        api.ignore_groups("Boxes", "Box")
    api.set_material("Crate", "steel")
    crate: Any = bpy.data.objects["Crate"]
    assert api.get_value(crate.usdphys.physics_material or crate.active_material, "physics:density") == 7850.0
    oak = bpy.data.materials.new("Oak")
    api.set_material(["Crate", "Door"], oak)
    assert crate.usdphys.physics_material == oak and api.applied(oak) == ("PhysicsMaterialAPI",)
    with pytest.raises(api.InputError, match="did you mean 'steel'"):
        api.set_material("Crate", "stel")
    for wrong in (None, crate):
        with pytest.raises(api.InputError, match="is no material; give one"):
            api.set_material(["Crate", "Door"], wrong)
        assert crate.usdphys.physics_material == oak


# --------------------------------------------------------------------------- checks, motion, files


def test_checks_and_fixes(scene) -> None:
    api.set_value("Crate", "physics:mass", -1.0)
    assert "MassInvalidValues" in {issue.code for issue in api.validate_scene() if issue.severity == "error"}
    report = api.fix_scene()
    assert report.fixed >= 1 and "MassInvalidValues" not in {issue.code for issue in report.left}
    with pytest.raises(api.UsageError, match="did you mean 'newton'"):
        api.validate_scene("nwton")


def test_a_simulation_changes_nothing_and_a_bake_does(scene) -> None:
    crate = bpy.data.objects["Crate"]
    scene.frame_set(5)
    motion = api.simulate_scene(2.0)
    assert motion.names == ("Crate",) and motion.position("Crate", 0)[2] == pytest.approx(2.0)
    assert motion.position("Crate")[2] == pytest.approx(0.5, abs=0.01)
    assert tuple(crate.location) == (0.0, 0.0, 2.0) and scene.frame_current == 5
    assert api.bake(1, 24) == 1
    assert crate.animation_data.action is not None
    assert api.clear_bake() == 1 and tuple(crate.location) == (0.0, 0.0, 2.0)
    with pytest.raises(api.InputError, match="is empty"):
        api.bake(10, 10)


def test_motion_is_in_metres_in_scenes_of_other_units(scene) -> None:
    scene.unit_settings.scale_length = 0.01
    motion = api.simulate_scene(0.05)
    assert motion.position("Crate", 0)[2] == pytest.approx(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".usda", ".glb", ".blend"])
def test_files_there_and_back(hinge, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    written = api.export(target)
    assert written.path == target and written.counts["joints"] == 1
    read = api.open_scene(target)
    assert {**read.counts, "scenes": 0} == {**written.counts, "scenes": 0}
    assert "Crate" in bpy.data.objects
    if suffix != ".blend":
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        cube("Other")
        imported = api.import_file(target)
        assert "Crate" in imported.objects and "Other" not in imported.objects and "Other" in bpy.data.objects
    else:
        with pytest.raises(api.InputError, match=r"open it with open_scene\(\)"):
            api.import_file(target)


REFUSED = {
    "cut.usda": ("#usda 1.0\ndef Xform {", {}),
    "whole.usda": ('#usda 1.0\ndef Xform "A" {\n}\n', {"prim": "/B"}),
    "choice.usda": ('#usda 1.0\ndef Xform "A" {\n}\n', {"variants": ["red"]}),
    "page.urdf": ("<html/>", {}),
    "empty.urdf": ("<robot name='r'/>", {}),
    "cut.gltf": ("{", {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_refused_leaves_the_open_scene(scene, tmp_path: Path, name: str) -> None:
    text, options = REFUSED[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    for call in (api.open_scene, lambda file, **more: api.convert(file, tmp_path / "out.blend", **more)):
        with pytest.raises(api.InputError):
            call(tmp_path / name, **options)
        assert {"Crate", "Door", "Frame"} <= {obj.name for obj in bpy.context.scene.objects}


def test_options_that_have_no_effect_are_refused(scene, tmp_path: Path) -> None:
    for options in ({"up_axis": "Y"}, {"layers": True}, {"form": "layer"}):
        with pytest.raises(api.UsageError, match="has no effect on"):
            api.export(tmp_path / "out.glb", **options)
    for options in ({"up_axis": "X"}, {"meters_per_unit": 0.0}, {"hierarchy": "deep"}, {"form": "thin"}):
        with pytest.raises(api.InputError):
            api.export(tmp_path / "out.usda", **options)
    for name in ("out.txt", "out.xacro"):
        with pytest.raises(api.InputError):
            api.export(tmp_path / name)
    assert not list(tmp_path.iterdir())
    api.set_value("Crate", "physics:mass", -1.0)
    with pytest.raises(api.ValidationFailedError):
        api.export(tmp_path / "out.usda", strict=True)
    with pytest.raises(api.UsageError, match="packages has no effect on"):
        api.open_scene(tmp_path / "a.usda", packages={"robot": "."})
    with pytest.raises(api.UsageError, match="variants is a list"):
        api.open_scene(tmp_path / "a.usda", variants="/A{b=c}")


# --------------------------------------------------------------------------- generators


@pytest.mark.slow
def test_every_generator_makes_something(scene) -> None:
    make = api.generate
    assert len(make.add("stack", at=(10.0, 0.0, 0.0), count=3).objects) == 3
    assert bpy.data.objects[make.add("ball", at=(1.0, 2.0, 3.0), velocity=(5.0, 0.0, 0.0)).objects[0]].location.x == 1.0
    assert tuple(scene.cursor.location) == (0.0, 0.0, 0.0)
    assert len(make.rope(["Crate", "Frame"], "chain", segments=6).objects) == 6
    net = make.net(knots=(3, 3)).objects
    assert len(net) == 9
    gone = make.remove(net[:1])
    assert gone.objects == ("Net",) and not {obj.name for obj in scene.objects} & set(net)
    brick = cube("Brick", (20.0, 0.0, 0.5))
    assert len(make.wall(brick, "stack", counts=(2, 1, 2)).objects) == 4
    pieces = [cube("Piece", (30.0, 0.0, 0.5)), cube("Piece", (31.0, 0.0, 0.5))]
    assert "by 1 bonds" in make.break_apart(pieces, material="glass").text
    assert make.settle(cube("Falling", (40.0, 0.0, 1.0)), seconds=0.5).objects == ("Falling",)
    leaf = cube("Leaf", (50.0, 0.0, 1.0))
    leaf.scale = (1.0, 0.1, 2.0)
    assert len(make.mechanism(leaf, "door", cube("Post", (51.0, 0.0, 1.0))).objects) == 1
    assert len(make.mechanism(cube("Table", (55.0, 0.0, 1.0)), "turntable", speed=90.0).objects) == 1
    platform = cube("Platform", (60.0, 0.0, 2.0))
    assert "joints" in make.scissor_lift(cube("Base", (60.0, 0.0, 0.0)), platform, stages=1).text
    assert make.sample("dominoes").usdphys is not None


@pytest.mark.slow
def test_vehicle_pulley_and_ragdoll() -> None:
    make = api.generate
    chassis = cube("Chassis", (0.0, 0.0, 1.0))
    chassis.scale = (3.0, 1.5, 0.4)
    wheels = []
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            bpy.ops.mesh.primitive_cylinder_add(
                radius=0.4, depth=0.2, location=(x, y, 0.5), rotation=(math.pi / 2, 0, 0)
            )
            wheels.append(bpy.context.object)
    made = make.vehicle(chassis, wheels, speed=2.0)
    assert made.text == "Made a vehicle of 'Chassis' and 4 wheels"
    bpy.ops.mesh.primitive_cylinder_add(radius=0.5, depth=0.2, location=(20, 0, 5), rotation=(math.pi / 2, 0, 0))
    wheel = bpy.context.object
    loads = (cube("Left", (19.5, 0.0, 2.0)), cube("Right", (20.5, 0.0, 2.0)))
    assert len(make.pulley(wheel, loads).objects) > 3
    bpy.ops.object.armature_add(location=(40, 0, 1))
    rig: Any = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    upper = rig.data.edit_bones.new("Upper")
    upper.head, upper.tail, upper.parent = (0.0, 0.0, 1.0), (0.0, 0.0, 2.0), rig.data.edit_bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(make.ragdoll(rig, mass=10.0).objects) == 2
    assert make.ragdoll_bake(rig, 1, 3) == 2


def test_generators_refuse_with_one_sentence(scene) -> None:
    for call in (
        lambda: api.generate.add("hill"), lambda: api.generate.rope("Crate", "string"),
        lambda: api.generate.mechanism("Door", "gate"), lambda: api.generate.mechanism("Door", "door"),
        lambda: api.generate.mechanism("Door", "door", "Door"), lambda: api.generate.break_apart("Door", material="x"),
        lambda: api.generate.sample("moon"), lambda: api.generate.ragdoll("Crate"), lambda: api.generate.wall("Crte"),
    ):  # fmt: skip
        before = set(bpy.data.objects.keys())
        with pytest.raises(api.InputError):
            call()
        assert set(bpy.data.objects.keys()) == before
