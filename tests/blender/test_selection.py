"""The properties of the selection: what applies to the active object is shown, an edit authors it on all."""

from __future__ import annotations

import math

import bpy
import pytest
from mathutils import Vector
from usdphys_ext.usdphys_addon.authoring import selected
from usdphys_ext.usdphys_addon.bridge import joint_frames
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.layout import DEFAULT_FRICTION
from usdphys_ext.usdphys_addon.viewport import readout, selection, shown_values

from . import scenes


@pytest.fixture(autouse=True)
def _nothing_known():
    readout.forget()
    yield
    readout.forget()


def chosen():
    return selection.current(bpy.context)


def differing() -> frozenset[str]:
    return selection.differing(bpy.context.object, bpy.context.selected_objects)


def known() -> None:
    """Ask and compute, as a draw and its job do."""
    for name in shown_values.VALUES:
        shown_values.of_active().value(name)
    differing()
    bpy.context.view_layer.update()
    for _ in readout.compute():
        pass


def test_the_role_of_each_kind_of_object():
    box, ground, hand = scenes.solid("Box"), scenes.add_box("Ground"), scenes.solid("Hand")
    scenes.make_collider(ground)
    hand.usdphys.rigid_body.kinematic_enabled = True
    joint, lamp = scenes.add_joint("Hinge", "REVOLUTE", box, ground), scenes.add("Empty")
    roles = [selected.role_of(obj) for obj in (box, ground, hand, joint, lamp)]
    assert roles == ["DYNAMIC", "STATIC", "KINEMATIC", "JOINT", "NONE"]
    box.usdphys.rigid_body.rigid_body_enabled = False
    assert selected.role_of(box) == "STATIC"


def test_the_mass_is_computed_until_one_is_typed():
    wood = scenes.physics_material("Wood", density=500.0)
    box = scenes.solid("Box", half=(0.5, 0.5, 1.0))
    box.usdphys.physics_material = wood
    scenes.select(box)
    known()
    assert chosen().mass == pytest.approx(1000.0, rel=1e-5)
    assert not shown_values.of_active().is_authored("mass")
    assert not box.usdphys.mass.is_applied, "looking authors nothing"
    chosen().mass = 12.0
    assert box.usdphys.mass.is_applied
    assert box.usdphys.mass.mass == 12.0
    assert chosen().mass == 12.0
    assert shown_values.of_active().is_authored("mass")


def test_one_edit_sets_all_that_are_selected_and_can_have_it():
    one, other, away = (scenes.solid(name) for name in ("One", "Other", "Away"))
    ground, joint = scenes.add_box("Ground"), scenes.add_joint("Hinge", "REVOLUTE", one, other)
    scenes.make_collider(ground)
    scenes.select(one, other, ground, joint)
    bpy.context.view_layer.objects.active = one
    chosen().mass = 3.0
    chosen().rigid_body_velocity = (1.0, 2.0, 3.0)
    assert [obj.usdphys.mass.mass for obj in (one, other)] == [3.0, 3.0]
    assert tuple(other.usdphys.rigid_body.velocity) == (1.0, 2.0, 3.0)
    for obj in (away, ground, joint):
        assert not obj.usdphys.mass.is_applied
        assert not obj.usdphys.rigid_body.is_property_set("velocity")
    assert not ground.usdphys.rigid_body.is_applied


def test_an_active_object_that_is_not_selected_stands_alone():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one)
    bpy.context.view_layer.objects.active = other
    chosen().mass = 3.0
    assert other.usdphys.mass.mass == 3.0
    assert not one.usdphys.mass.is_applied


def test_values_that_differ_are_named():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one, other)
    chosen().mass = 3.0
    other.usdphys.mass.mass = 4.0
    known()
    assert differing() == {"mass", "mass_diagonal_inertia"}, "the inertia follows"
    chosen().mass = 5.0
    readout.forget()
    known()
    assert differing() == frozenset()


def test_computed_values_that_differ_are_named():
    one, other = scenes.solid("One"), scenes.solid("Other", location=(5.0, 0.0, 0.0))
    for obj in (one, other):
        obj.usdphys.colliders[0].shape = "AUTO"
        obj.usdphys.rigid_body.starts_asleep = False
    other.rotation_euler = 0.3, 0.2, 0.1
    scenes.select(one, other)
    known()
    assert differing() == frozenset(), "the same box elsewhere is the same"
    other.scale = 2.0, 1.0, 1.0
    readout.forget()
    known()
    assert differing() == {"mass", "mass_diagonal_inertia"}
    other.usdphys.mass.is_applied = True
    other.usdphys.mass.mass = readout.compute_mass(bpy.context, one.name).mass
    other.scale = 1.0, 1.0, 1.0
    readout.forget()
    known()
    assert "mass" not in differing(), "one is typed, and both are the same"


def test_automatic_shapes_that_differ_are_named():
    one = scenes.solid("One")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(5.0, 0.0, 0.0))
    ball = bpy.context.object
    ball.usdphys.rigid_body.is_applied = True
    ball.usdphys.colliders.add()
    for obj in (one, ball):
        obj.usdphys.colliders[0].shape = "AUTO"
    scenes.select(one, ball)
    known()
    assert selection.SHAPES in differing()


def test_friction_without_a_material_is_that_of_the_preview_and_makes_one_material_for_all():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one, other)
    assert chosen().friction == pytest.approx(DEFAULT_FRICTION)
    assert not bpy.data.materials
    chosen().bounce = 0.75
    (material,) = bpy.data.materials
    assert one.usdphys.physics_material == other.usdphys.physics_material == material
    surface = material.usdphys.physics_material
    assert surface.is_applied
    assert surface.restitution == 0.75
    # What the preview has assumed so far did not change.
    assert (surface.static_friction, surface.dynamic_friction) == (DEFAULT_FRICTION, DEFAULT_FRICTION)
    chosen().friction = 0.25
    assert (surface.static_friction, surface.dynamic_friction, surface.restitution) == (0.25, 0.25, 0.75)
    assert len(bpy.data.materials) == 1


@pytest.mark.parametrize("place", ["object", "slot", "collider"])
def test_a_surface_that_others_share_is_made_single_and_the_others_keep_theirs(place):
    wood = scenes.physics_material("Wood", dynamic_friction=0.5, density=600.0)
    one, other = scenes.solid("One"), scenes.solid("Other")
    for obj in (one, other):
        if place == "slot":
            obj.data.materials.append(wood)
        else:
            holder = obj.usdphys if place == "object" else obj.usdphys.colliders[0]
            holder.physics_material = wood
    scenes.select(one)
    chosen().friction = 0.125
    assert chosen().friction == 0.125
    assert wood.usdphys.physics_material.dynamic_friction == 0.5
    assert selected.material_of(other) == wood
    own = selected.material_of(one)
    assert own != wood
    assert own.usdphys.physics_material.density == 600.0
    chosen().friction = 0.25
    assert selected.material_of(one) == own, "it is single now"
    if place == "slot":
        assert one.data.materials[0] == wood, "it looks as it did"


def test_a_surface_of_its_own_is_changed_in_place():
    wood = scenes.physics_material("Wood", dynamic_friction=0.5)
    one = scenes.solid("One")
    one.usdphys.physics_material = wood
    scenes.select(one)
    chosen().friction = 0.125
    assert wood.usdphys.physics_material.dynamic_friction == 0.125
    assert len(bpy.data.materials) == 1


def test_damping_and_group_of_all():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.define_group("Team")
    scenes.select(one, other)
    assert (chosen().damping, chosen().group) == (0.0, "")
    chosen().damping, chosen().group = 0.25, "Team"
    assert chosen().damping == pytest.approx(0.25)
    assert [selected.BEHIND["damping"].read(obj) for obj in (one, other)] == [0.25, 0.25]
    assert [[item.name for item in obj.usdphys.collision_groups] for obj in (one, other)] == [["Team"], ["Team"]]
    chosen().group = ""
    assert not len(other.usdphys.collision_groups)


def test_a_new_name_makes_a_group_of_all_that_are_selected():
    """The first one could not be made in the panel: the list was empty, and a name that was typed was lost."""
    one, other = scenes.solid("One"), scenes.solid("Other")
    groups = bpy.context.scene.usdphys.collision_groups
    scenes.select(one, other)
    for names in (["Red"], ["Red", "Blue"]):
        chosen().group = names[-1]
        assert [group.name for group in groups] == names
        memberships = [[item.name for item in obj.usdphys.collision_groups] for obj in (one, other)]
        assert memberships == [names[-1:]] * 2


def test_every_property_of_the_objects_is_shown_and_set():
    """Whatever the table has: what is set on the selection is on the object, and is shown again."""
    solid = scenes.solid("Solid")
    joint = scenes.add_joint("Joint", "GENERIC", solid)
    for name, (path, field) in shown_values.PLACES.items():
        obj = joint if shown_values.VALUES[name].need == "joint" else solid
        scenes.select(obj)
        declared = chosen().bl_rna.properties[name]
        if declared.type == "ENUM":
            value = declared.enum_items[-1].identifier
        elif declared.type == "BOOLEAN":
            value = True
        else:
            value = (0.25,) * declared.array_length if declared.is_array else 0.25
        setattr(chosen(), name, value)
        group = selected.group_at(obj, path)
        assert group.is_property_set(field), name
        for holder in (group, chosen()):
            found = getattr(holder, field if holder is group else name)
            assert (tuple(found) if declared.type == "FLOAT" and declared.is_array else found) == value, name


@pytest.mark.parametrize("kind", ["REVOLUTE", "PRISMATIC"])
def test_what_moves_a_joint(kind):
    frame = scenes.add_box("Frame")
    scenes.make_collider(frame)
    door = scenes.solid("Door", location=(1.0, 0.0, 0.0))
    hinge = scenes.add_joint("Hinge", kind, frame, door)
    scenes.select(hinge)
    drive = hinge.usdphys.joint.drives.angular if kind == "REVOLUTE" else hinge.usdphys.joint.drives.linear
    assert chosen().mover == "NOTHING"
    for mover in ("SPRING", "MOTOR", "SERVO", "SPRING", "SERVO", "MOTOR", "NOTHING"):
        chosen().mover = mover
        assert chosen().mover == mover
        assert drive.is_applied == (mover != "NOTHING")
        if mover == "MOTOR":
            assert drive.target_velocity > 0.0
            assert drive.stiffness == 0.0
        if mover in ("SPRING", "SERVO"):
            assert drive.stiffness > 0.0
            assert drive.damping > 0.0
            assert drive.target_velocity == 0.0
        assert drive.is_property_set("max_force") == (mover == "SERVO")
    chosen().mover = "SPRING"
    drive.stiffness = 123.0
    chosen().mover = "SERVO"
    assert drive.stiffness == 123.0, "gains that are there stay"


@pytest.mark.parametrize("kind", ["REVOLUTE", "PRISMATIC"])
@pytest.mark.parametrize("mover", ["NOTHING", "SPRING", "MOTOR", "SERVO"])
def test_a_drive_without_stiffness_and_damping_moves_nothing(kind, mover):
    """It was called a motor. Importers of robots make such drives, which only have a largest force."""
    frame = scenes.add_box("Frame")
    scenes.make_collider(frame)
    idle, moved = [
        scenes.add_joint(name, kind, frame, scenes.solid(f"Door {name}", location=(1.0, 0.0, 0.0)))
        for name in ("Idle", "Moved")
    ]
    drives = [getattr(obj.usdphys.joint.drives, selected.dof_of(obj.usdphys.joint)) for obj in (idle, moved)]
    for drive in drives:
        drive.is_applied, drive.max_force, drive.target_velocity = True, 5.0, 2.0
    drives[1].damping = 1.0
    scenes.select(moved, idle)
    assert [selected.mover_of(obj) for obj in (idle, moved)] == ["NOTHING", "MOTOR"]
    assert "mover" in selection.compute_differing(bpy.context, "")
    chosen().mover = mover
    assert [selected.mover_of(obj) for obj in (idle, moved)] == [mover, mover]
    assert [drive.is_applied for drive in drives] == [mover != "NOTHING"] * 2


def test_limits_are_switched_on_and_off():
    hinge = scenes.add_joint("Hinge", "REVOLUTE", scenes.solid("Door"))
    scenes.select(hinge)
    assert not chosen().is_limited
    chosen().is_limited = True
    limits = hinge.usdphys.joint.revolute
    assert (limits.lower_limit, limits.upper_limit) == (pytest.approx(-math.pi / 4), pytest.approx(math.pi / 4))
    assert chosen().joint_revolute_upper_limit == pytest.approx(math.pi / 4)
    chosen().is_limited = False
    assert not limits.is_property_set("lower_limit")
    assert not limits.is_property_set("upper_limit")
    # A generic joint has limits of its own.
    hinge.usdphys.joint.type = "GENERIC"
    chosen().is_limited = True
    chosen().mover = "MOTOR"
    assert (chosen().is_limited, chosen().mover) == (False, "NOTHING")


@pytest.mark.parametrize("size", [0.02, 20.0])
def test_a_slide_is_limited_to_as_much_as_what_slides_is_long(size):
    """In scenes of screws and of ships: half a unit was nothing for one, and all for the other."""
    drawer = scenes.solid("Drawer", scale=(size, size, size))
    slide = scenes.add_joint("Slide", "PRISMATIC", None, drawer)
    scenes.select(slide)
    chosen().is_limited = True
    limits = slide.usdphys.joint.prismatic
    assert limits.upper_limit - limits.lower_limit == pytest.approx(size)


def hung():
    """A crate, 3 m below the middle of a hook and 1 m beside it; the joint is between them."""
    hook = scenes.add_box("Hook", (0.1, 0.1, 0.1), location=(0, 0, 3))
    scenes.make_collider(hook)
    crate = scenes.solid("Crate", shape="AUTO", location=(1, 0, 0))
    return crate, scenes.add_joint("Joint", "SPHERICAL", hook, crate, location=(0.3, 0, 2))


def test_what_becomes_a_rope_holds_at_once_and_gives_the_rope_back():
    """It had no length, and held nothing."""
    crate, joint = hung()
    scenes.select(joint)
    bpy.context.view_layer.update()
    chosen().joint_type = "DISTANCE"
    assert chosen().joint_distance_max_distance == pytest.approx(math.sqrt(10.0))
    session = preview_guard.start(bpy.context)
    lengths = []
    for _ in range(60):
        session.simulate(bpy.context)
        session.show(bpy.context)
        bpy.context.view_layer.update()
        lengths.append((crate.matrix_world.translation - Vector((0, 0, 3))).length)
    assert max(lengths) < math.sqrt(10.0) + 0.02 and crate.matrix_world.translation.z < -0.1, "it swings"
    preview_guard.stop()
    chosen().joint_type = "REVOLUTE"
    both = joint_frames.side_frames(joint, bpy.context.evaluated_depsgraph_get())
    assert [tuple(frame[:3, 3]) for frame in both] == [pytest.approx((0.3, 0.0, 2.0), abs=1e-6)] * 2
    assert not joint.usdphys.joint.distance.is_property_set("max_distance")


def test_a_rope_that_was_edited_keeps_its_length():
    _, joint = hung()
    scenes.select(joint)
    chosen().joint_type = "DISTANCE"
    chosen().joint_distance_max_distance = 5.0
    chosen().joint_type = "FIXED"
    chosen().joint_type = "DISTANCE"
    assert chosen().joint_distance_max_distance == pytest.approx(5.0)


def test_a_rope_between_two_objects_is_as_long_as_they_are_apart():
    hook, crate = scenes.add_box("Hook", location=(0, 0, 5)), scenes.add_box("Crate", location=(0, 3, 1))
    scenes.select(crate, hook)
    assert bpy.ops.usdphys.joint_add(type="DISTANCE") == {"FINISHED"}
    joint = bpy.context.object.usdphys.joint
    assert (joint.type, joint.distance.max_distance) == ("DISTANCE", pytest.approx(5.0))
    scenes.select(crate, hook)
    assert bpy.ops.usdphys.joint_add(type="DISTANCE", has_limits=True, upper_distance=2.0) == {"FINISHED"}
    assert bpy.context.object.usdphys.joint.distance.max_distance == pytest.approx(2.0)


@pytest.mark.parametrize(("system", "unit", "scale", "text", "expected"), [
    ("METRIC", "METERS", 1.0, "2", 2.0), ("METRIC", "MILLIMETERS", 0.001, "2", 2.0),
    ("METRIC", "ADAPTIVE", 0.001, "30 cm", 300.0), ("IMPERIAL", "INCHES", 1.0, "10", 0.254),
    ("NONE", "ADAPTIVE", 0.001, "7", 7.0), ("METRIC", "METERS", 1.0, "long", -1.0),
])  # fmt: skip
def test_what_has_no_limit_says_so_and_takes_a_length_or_an_angle(system, unit, scale, text, expected):
    """It was a length of -1 m, and a cone of -57 degrees."""
    settings = bpy.context.scene.unit_settings
    settings.system, settings.scale_length = system, scale
    if system != "NONE":
        settings.length_unit = unit
    joint = scenes.add_joint("Rope", "DISTANCE", None, scenes.solid("Crate"))
    scenes.select(joint)
    typed = shown_values.of_active().typed_over("joint_distance_min_distance")
    assert typed.placeholder == "No Limit"
    setattr(chosen(), typed.name, text)
    assert joint.usdphys.joint.distance.min_distance == pytest.approx(expected)
    assert (shown_values.of_active().typed_over("joint_distance_min_distance") is None) == (expected > 0.0)
    joint.usdphys.joint.type = "SPHERICAL"
    typed = shown_values.of_active().typed_over("joint_spherical_cone_angle0_limit")
    assert typed.placeholder == "No Limit"
    setattr(chosen(), typed.name, "30°")
    assert joint.usdphys.joint.spherical.cone_angle0_limit == pytest.approx(math.radians(30.0))


def test_linked_objects_stay_as_they_are(tmp_path):
    scenes.solid("Crate")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crate.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "crate.blend"), link=True) as (_, wanted):
        wanted.objects = ["Crate"]
    crate = wanted.objects[0]
    bpy.context.collection.objects.link(crate)
    scenes.select(crate)
    chosen().mass = 3.0
    chosen().friction = 0.125
    assert not crate.usdphys.mass.is_applied
    assert not bpy.data.materials


def test_a_value_is_taken_back_from_all():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one, other)
    chosen().mass = 3.0
    assert bpy.ops.usdphys.selection_unset(name="mass") == {"FINISHED"}
    assert [obj.usdphys.mass.is_property_set("mass") for obj in (one, other)] == [False, False]
    for name in ("mass", "friction", "nothing"):
        assert bpy.ops.usdphys.selection_unset(name=name) == {"CANCELLED"}


@pytest.mark.parametrize(("kind", "free"), [("REVOLUTE", ["rotZ"]), ("PRISMATIC", ["transZ"]), ("FIXED", []),
                                            ("SPHERICAL", ["rotX", "rotY", "rotZ"])])  # fmt: skip
def test_a_joint_that_becomes_custom_holds_what_it_has_held(kind, free):
    joint = scenes.add_joint("Joint", kind, None, scenes.solid("Body"))
    own = joint.usdphys.joint
    own.axis = "Z"
    scenes.select(joint)
    chosen().joint_type = "GENERIC"
    dofs = [f"{motion}{axis}" for motion in ("trans", "rot") for axis in "XYZ"]
    assert [
        dof for dof in dofs if not (limit := getattr(own.limits, dof)).is_applied or limit.low <= limit.high
    ] == free


def test_limits_and_drive_of_a_hinge_go_along_when_it_becomes_custom_and_come_back():
    joint = scenes.add_joint("Joint", "REVOLUTE", None, scenes.solid("Body"))
    own = joint.usdphys.joint
    own.axis, own.revolute.lower_limit = "Y", -0.5
    scenes.assign(own.drives.angular, is_applied=True, stiffness=7.0, target_position=0.25)
    scenes.select(joint)
    chosen().joint_type = "GENERIC"
    limit, drive = own.limits.rotY, own.drives.rotY
    assert limit.low == pytest.approx(-0.5) and not limit.is_property_set("high")
    assert (drive.stiffness, drive.target_position) == (7.0, 0.25)
    assert not own.drives.angular.is_applied
    limit.high, drive.damping = 1.0, 2.0
    chosen().joint_type = "REVOLUTE"
    assert (own.revolute.lower_limit, own.revolute.upper_limit) == pytest.approx((-0.5, 1.0))
    back = own.drives.angular
    assert back.is_applied and (back.stiffness, back.damping) == (7.0, 2.0) and not drive.is_applied
    assert not any(getattr(own.limits, dof).is_applied for dof in ("transX", "rotX", "rotY"))


def test_a_ball_that_becomes_custom_keeps_its_cone_as_limits():
    joint = scenes.add_joint("Joint", "SPHERICAL", None, scenes.solid("Body"))
    own = joint.usdphys.joint
    own.axis, own.spherical.cone_angle0_limit, own.spherical.cone_angle1_limit = "X", 0.3, 0.4
    scenes.select(joint)
    chosen().joint_type = "GENERIC"
    assert (own.limits.rotZ.high, own.limits.rotY.high) == pytest.approx((0.3, 0.4))
    assert own.limits.rotY.low == pytest.approx(-0.4) and not own.limits.rotX.is_applied
