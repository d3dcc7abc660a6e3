"""The first panel of the sidebar: one box about what is selected, by its role."""

from __future__ import annotations

import math

import bpy
import pytest
from usdphys_ext.panels import fitting
from usdphys_ext.usdphys_addon.authoring import group_edits, selected, value_keys
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core import collision_groups, mass
from usdphys_ext.usdphys_addon.playback import guard
from usdphys_ext.usdphys_addon.viewport import readout, selection, shown_values

from . import scenes
from .test_panels import drawn

BODY = ["mass", "collider_shape", "surface", "friction", "bounce", "damping", "group"]


@pytest.fixture(autouse=True)
def _nothing_known():
    readout.forget()
    yield
    readout.forget()


def box(*opened: str):
    return drawn("selection", "VIEW_3D", opened=tuple(f"usdphys_selection_{name}" for name in opened))


def compute() -> None:
    """What the panel has asked for."""
    box()
    bpy.context.view_layer.update()
    for _ in readout.compute():
        pass


def dots() -> dict[str, str]:
    """Icon of the button that animates a value, by its name."""
    return {one.values["name"]: one.icon for one in box().buttons("usdphys.selection_key")}


def key(name: str) -> None:
    next(one for one in box().buttons("usdphys.selection_key") if one.values == {"name": name}).press()


def rows() -> list[str]:
    values = selection.current(bpy.context)
    return [one.name for one in box().all() if one.kind in ("prop", "prop_search") and one.data == values]


def pressed() -> list[str]:
    return [one.text for one in box().buttons() if one.arguments.get("depress")]


def linkage():
    """An upper arm with a mesh that is seen and one that collides, on a hinge at a post."""
    post, upper = scenes.add_box("Post"), scenes.make_body(scenes.add("Upper"))
    scenes.make_collider(post)
    seen, collides = scenes.add_box("Seen", parent=upper), scenes.add_box("Collides", parent=upper)
    scenes.make_collider(collides)
    hinge = scenes.add_joint("Lift", "REVOLUTE", post, upper)
    return post, upper, seen, collides, hinge


def test_what_is_clicked_of_a_robot_leads_to_its_body_and_the_joints_that_hold_it():
    post, upper, *parts, hinge = linkage()
    for part in parts:
        scenes.select(part)
        compute()
        assert "Part of the body 'Upper'" in " ".join(box().labels())
        assert "Static" not in pressed(), "it moves with its body"
        box().button("usdphys.select_object", name="Upper").press()
        assert bpy.context.object == upper and bpy.context.selected_objects == [upper]
    compute()
    assert not [text for text in box().labels() if text.startswith("Part of")]
    for holds in (upper, post, *parts):
        scenes.select(holds)
        compute()
        button = box().button("usdphys.select_object", name="Lift")
        assert button.text == "Lift" and button.arguments["translate"] is False
    button.press()
    assert bpy.context.object == hinge
    assert pressed() == []
    hinge.hide_set(True)
    scenes.select(upper)
    with pytest.raises(RuntimeError, match="'Lift' is not a visible object"):
        bpy.ops.usdphys.select_object(name="Lift")


def test_what_is_below_the_roles_does_not_move_after_a_moment():
    scenes.select(scenes.solid("Crate"), scenes.add_box("Bare"))
    first = box().labels()
    compute()
    assert box().labels() == first
    assert any("Not all are the same" in text for text in first)


def test_a_body_that_many_joints_hold_names_some_and_says_how_many_more():
    _, upper, *_ = linkage()
    for number in range(9):
        scenes.add_joint(f"Strut {number}", "FIXED", None, upper)
    scenes.select(upper)
    compute()
    assert len(box().buttons("usdphys.select_object")) == 6
    assert "and 4 more" in box().labels()
    scenes.select(scenes.solid("Free"))
    compute()
    assert not box().buttons("usdphys.select_object")


@pytest.mark.slow
def test_each_role_has_its_button_and_its_rows():
    body, ground, hand = scenes.solid("Body"), scenes.add_box("Ground"), scenes.solid("Hand")
    scenes.make_collider(ground)
    hand.usdphys.rigid_body.kinematic_enabled = True
    bare = scenes.add("Bare")
    for obj, text, wanted in (
        (body, "Dynamic", BODY), (hand, "Animated", BODY),
        (ground, "Static", ["collider_shape", "surface", "friction", "bounce", "group"]), (bare, "None", []),
    ):  # fmt: skip
        scenes.select(obj)
        compute()
        assert pressed() == [text]
        assert rows() == wanted
    scenes.select()
    bpy.context.view_layer.objects.active = None
    assert rows() == []


@pytest.mark.parametrize("text", ["Dynamic", "Static", "Animated", "None"])
def test_the_button_of_a_role_gives_it(text):
    crate = scenes.solid("Crate")
    scenes.select(crate)
    next(one for one in box().buttons() if one.text == text).press()
    assert pressed() == [text]


def test_the_gravity_of_a_scene_in_millimetres_says_what_is_simulated():
    """Blender shows -0.0098 m/s² for its default, which is earth gravity in a scene of any unit."""
    scene, text = bpy.context.scene, "Automatic: 9.81 m/s², down"
    scenes.select()
    bpy.context.view_layer.objects.active = None
    assert text not in box().labels()
    scene.unit_settings.scale_length = 0.001
    assert text in box().labels()
    scene.gravity = (0.0, 0.0, -1620.0)
    assert text not in box().labels()


def test_the_field_of_the_group_takes_a_name_that_is_not_in_its_list():
    scenes.select(scenes.solid("Crate"))
    (field,) = (one for one in box().all("prop_search") if one.name == "group")
    assert field.arguments["results_are_suggestions"]


@pytest.mark.parametrize(
    ("kind", "dof", "text"), [("REVOLUTE", "angular", "Max Torque"), ("PRISMATIC", "linear", "Max Force")]
)
def test_what_a_motor_may_use_at_most_is_a_torque_where_it_turns(monkeypatch, kind, dof, text):
    # Of a sidebar as wide as Blender makes it: the label stands beside the field.
    monkeypatch.setattr(fitting, "room", lambda: 224.0)
    door, frame = scenes.solid("Door"), scenes.add_box("Frame")
    scenes.select(scenes.add_joint("Joint", kind, frame, door))
    selection.current(bpy.context).mover = "SERVO"
    layout = box()
    assert layout.prop_of(selection.current(bpy.context), f"joint_drives_{dof}_max_force").text == text


def test_a_joint_shows_what_its_type_and_its_mover_need():
    door, frame = scenes.solid("Door"), scenes.add_box("Frame")
    scenes.make_collider(frame)
    hinge = scenes.add_joint("Hinge", "REVOLUTE", frame, door)
    scenes.select(hinge)
    # In place of infinite numbers.
    breaks = ["joint_break_force_text", "joint_break_torque_text"]
    assert rows() == ["is_limited", *breaks]
    values = selection.current(bpy.context)
    values.is_limited, values.mover = True, "SERVO"
    limits = ["joint_revolute_lower_limit", "joint_revolute_upper_limit"]
    drive = [f"joint_drives_angular_{name}" for name in ("target_position", "stiffness", "damping", "max_force")]
    assert rows() == ["is_limited", *limits, *drive, *breaks]
    choices = [one.arguments["value"] for one in box().all("prop_enum")]
    assert sorted(choices) == sorted([
        "REVOLUTE", "PRISMATIC", "SPHERICAL", "FIXED", "DISTANCE", "GENERIC", "NOTHING", "SPRING", "MOTOR", "SERVO"
    ])  # fmt: skip
    drive = hinge.usdphys.joint.drives.angular
    drive.stiffness = drive.damping = 0.0
    gains = [f"joint_drives_angular_{name}" for name in ("stiffness", "damping")]
    assert (rows(), values.mover) == (["is_limited", *limits, *gains, *breaks], "NOTHING"), "it was a motor"
    assert any("are 0" in text for text in box().labels())
    values.joint_type = "DISTANCE"
    assert hinge.usdphys.joint.type == "DISTANCE"
    assert rows() == ["joint_distance_min_distance_text", "joint_distance_max_distance", *breaks]
    values.joint_type = "GENERIC"
    assert rows() == breaks


def test_the_objects_that_a_body_passes_through_unfold_below_its_box():
    door, frame = scenes.solid("Door"), scenes.add_box("Frame")
    scenes.select(door)
    assert "Filtered Pairs" not in box().labels()
    door.usdphys.filtered_pairs.is_applied = True
    door.usdphys.filtered_pairs.filtered_pairs.add().object = frame
    assert "Filtered Pairs" in box().labels() and not box().all("template_list")
    (listed,) = box("filtered").all("template_list")
    assert listed.arguments["dataptr"] == door.usdphys.filtered_pairs


def test_each_degree_of_freedom_of_a_custom_joint_is_set_in_its_box():
    door, frame = scenes.solid("Door"), scenes.add_box("Frame")
    joint = scenes.add_joint("Joint", "REVOLUTE", frame, door)
    scenes.select(joint)
    selection.current(bpy.context).joint_type = "GENERIC"
    physics = joint.usdphys.joint
    free = next(dof for dof in ("rotX", "rotY", "rotZ") if not getattr(physics.limits, dof).is_applied)
    limit = getattr(physics.limits, free)
    assert box().props(limit) == []
    assert box().button("usdphys.joint_motion", dof=free, motion="LIMITED").press() == {"FINISHED"}
    assert [(name, box().prop_of(limit, name).text) for name in box().props(limit)] == [
        ("low", f"Rotation {free[-1]}"), ("high", "Up To"),
    ]  # fmt: skip
    drive = getattr(physics.drives, free)
    assert box().props(drive) == []
    assert "is_applied" in box("drives").props(drive)
    other = scenes.add_joint("Other", "REVOLUTE", frame, door)
    scenes.select(other, joint)
    assert "The freedoms of 'Joint' alone:" in box().labels()


@pytest.mark.parametrize(
    ("values", "is_offered"),
    [
        ({}, False),
        ({"bevel_depth": 0.1}, True),
        ({"extrude": 0.1}, True),
        ({"dimensions": "2D", "fill_mode": "BOTH"}, True),
    ],
)
def test_a_curve_that_is_shown_with_faces_is_offered_to_become_a_mesh(values, is_offered):
    """Static and Dynamic refuse it, because files hold it without faces."""
    data = bpy.data.curves.new("Track", "CURVE")
    data.dimensions = "3D"
    data.splines.new("POLY").points.add(1)
    scenes.assign(data, **values)
    track = scenes.add("Track", data)
    scenes.select(track)
    assert [one.text for one in box().buttons("object.convert")] == ["Convert to Mesh"] * is_offered
    track.usdphys.cable.is_applied = True
    assert not box().buttons("object.convert")


def test_values_that_differ_have_a_sign_and_what_is_authored_a_button():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one, other)
    for obj, kilograms in ((one, 1.0), (other, 2.0)):
        obj.usdphys.mass.mass = kilograms
    box()
    bpy.context.view_layer.update()
    for _ in readout.compute():
        pass
    texts = {row.name: row.text for row in box().all("prop")}
    assert "\N{NOT EQUAL TO}" in texts["mass"]
    assert "\N{NOT EQUAL TO}" not in texts["friction"]
    button = next(row for row in box().buttons("usdphys.selection_unset") if row.values == {"name": "mass"})
    assert button.press() == {"FINISHED"}
    assert [selected.BEHIND["mass"].read(obj) for obj in (one, other)] == [0.0, 0.0]


def test_a_sign_moves_no_row(monkeypatch):
    """It comes a moment later, when the mouse is above the rows below."""
    one, other = scenes.solid("One", shape="AUTO"), scenes.solid("Other", shape="AUTO")
    scenes.select(one, other)
    monkeypatch.setattr(fitting, "room", lambda: 190.0)
    compute()
    before = list(box().all())
    other.scale = 1.0, 1.0, 3.0
    readout.forget()
    compute()
    after = list(box().all())
    assert "Mass \N{NOT EQUAL TO}" in [row.text for row in after if row.name == "mass"]
    assert [row.kind for row in after] == [row.kind for row in before]


def test_values_that_differ_have_a_sign_while_it_plays():
    """What is selected then, too: a field without the sign says that all have its value."""
    one, other = scenes.solid("One", shape="AUTO"), scenes.solid("Other", shape="AUTO")
    for obj, kilograms in ((one, 1.0), (other, 2.0)):
        obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, kilograms
    bpy.context.view_layer.update()
    guard.start(bpy.context)
    scenes.select(one, other)
    compute()
    texts = {row.name: row.text for row in box().all("prop")}
    assert "\N{NOT EQUAL TO}" in texts["mass"] and "\N{NOT EQUAL TO}" not in texts["friction"]


def test_collides_as_is_shown_where_it_counts_and_is_not_none():
    body = scenes.solid("Body", shape="AUTO")
    scenes.select(body)
    (collider,) = body.usdphys.colliders

    def is_shown():
        return "collider_approximation" in [row.name for row in box("shape").all("prop")]

    assert not is_shown(), "an automatic shape is not that of the fallback"
    collider.shape = "MESH"
    assert is_shown()
    collider.shape, collider.approximation = "AUTO", "convexHull"
    assert is_shown()
    collider.shape = "CUBE"
    assert not is_shown(), "a box has no approximation"
    items = selection.current(bpy.context).bl_rna.properties["collider_approximation"].enum_items
    assert {item.identifier: item.name for item in items}["none"] == "Triangle Mesh"


def test_what_is_computed_moves_no_row_under_the_mouse():
    scenes.select(scenes.solid("Body", shape="AUTO"))
    before = box().all()
    compute()
    after = box().all()
    assert "Box" in box().labels()
    assert [one.kind for one in after] == [one.kind for one in before]


def test_door_of_the_grid_is_a_door_whatever_was_made_before():
    actions = drawn("actions", "VIEW_3D")
    button = next(one for one in actions.buttons("usdphys.mechanism"))
    assert (button.text, button.values) == ("Door", {"kind": "DOOR"})
    balls = [one for one in actions.buttons("usdphys.add_physics") if one.text == "Ball"]
    assert [one.values for one in balls] == [{"kind": "BALL"}]


def test_drawing_reads_a_number_of_objects_that_does_not_grow_with_the_selection(monkeypatch):
    """What differs among many is computed by a job: a draw asks for it, and reads the active object alone."""
    objects = [scenes.solid(f"Crate {number}") for number in range(30)]
    scenes.select(*objects)
    seen = set()
    read = selected.group_at
    monkeypatch.setattr(selected, "group_at", lambda obj, path: (seen.add(obj.name), read(obj, path))[1])
    box()
    assert seen == {bpy.context.object.name}


# --------------------------------------------------------------------------- keyframes


def test_a_value_that_animation_moves_has_a_dot_and_no_other_has():
    """The table of the manual: mass, friction and restitution are simulated as they are keyed, damping is not."""
    scenes.select(scenes.solid("Crate"))
    assert dots() == dict.fromkeys(("mass", "friction", "bounce"), "DECORATE")
    hinge = scenes.add_joint("Hinge", "REVOLUTE", None, scenes.solid("Door"))
    scenes.select(hinge)
    values = selection.current(bpy.context)
    values.is_limited, values.mover = True, "SERVO"
    drive = [f"joint_drives_angular_{name}" for name in ("target_position", "stiffness", "damping", "max_force")]
    limits = [f"joint_revolute_{name}_limit" for name in ("lower", "upper")]
    assert list(dots()) == [*limits, *drive, "joint_break_force", "joint_break_torque"]


def test_the_dot_keys_the_value_of_each_selected_object_and_takes_the_key_back():
    doors = [scenes.solid(f"Door {number}") for number in range(2)]
    hinges = [scenes.add_joint(f"Hinge {door.name}", "REVOLUTE", None, door) for door in doors]
    scenes.select(*hinges)
    for hinge, target in zip(hinges, (0.5, 0.75), strict=True):
        hinge.usdphys.joint.drives.angular.is_applied = True
        hinge.usdphys.joint.drives.angular.stiffness = 10.0
        hinge.usdphys.joint.drives.angular.target_position = target
    name, path = "joint_drives_angular_target_position", "usdphys.joint.drives.angular.target_position"
    scene = bpy.context.scene
    scene.frame_set(1)
    key(name)
    assert dots()[name] == "DECORATE_KEYFRAME"
    scene.frame_set(11)
    assert dots()[name] == "DECORATE_ANIMATE"
    selection.current(bpy.context).joint_drives_angular_target_position = 1.0
    key(name)
    for frame, wanted in ((1, [0.5, 0.75]), (11, [1.0, 1.0])):
        scene.frame_set(frame)
        assert [hinge.usdphys.joint.drives.angular.target_position for hinge in hinges] == wanted
    key(name)
    curves = [value_keys.curves_by_path(hinge)[path][0] for hinge in hinges]
    assert [[point.co.x for point in curve.keyframe_points] for curve in curves] == [[1.0], [1.0]]


def test_a_mass_that_is_not_computed_yet_is_no_zero():
    """Its place has dots until it is there; a typed one is there at once."""
    crate, other = scenes.solid("Crate"), scenes.solid("Other")
    other.usdphys.mass.is_applied, other.usdphys.mass.mass = True, 3.0
    scenes.select(crate)
    before = rows()
    assert before[0] == "mass_text" and "mass" not in before and "mass" in dots()
    compute()
    assert rows() == ["mass", *before[1:]]
    scenes.select(other)
    assert "mass" in rows()


@pytest.mark.parametrize("problem", ["", "There is no object 'Crate'"])
@pytest.mark.parametrize(("typed", "expected"), [("2.5", 2.5), ("500 g", 0.5), ("2,5kg", 2.5)])
def test_a_mass_is_typed_over_the_dots_of_one_that_is_not_computed(problem, typed, expected, monkeypatch):
    """Not yet, or not at all; then the panel says why."""
    crate, other = scenes.solid("Crate"), scenes.solid("Other")
    scenes.select(crate, other)
    computed = readout.MassReadout(problem=problem) if problem else None
    monkeypatch.setattr(readout, "mass_of", lambda _name: computed)
    values = selection.current(bpy.context)
    field = box().prop_of(values, "mass_text")
    assert field.arguments["placeholder"] == ("Unknown" if problem else "\N{HORIZONTAL ELLIPSIS}")
    assert values.mass_text == ""
    assert (problem in box().labels()) == bool(problem)
    for wrong in ("", "heavy", "-1", "0", "nan", "inf", "1e400"):
        values.mass_text = wrong
        assert not crate.usdphys.mass.is_applied
    values.mass_text = typed
    assert [obj.usdphys.mass.mass for obj in (crate, other)] == pytest.approx([expected, expected])
    assert "mass" in rows() and "mass_text" not in rows()


@pytest.mark.parametrize(
    ("name", "typed", "expected", "wrong"),
    [
        ("center_of_mass", "0, 0, -1.5", (0.0, 0.0, -1.5), ("", "low", "1", "1 2", "1, 2, 3, 4", "0 0 nan")),
        ("center_of_mass", "0,5 0 1", (0.5, 0.0, 1.0), ()),
        ("center_of_mass", "0,5; 0; 1", (0.5, 0.0, 1.0), ()),
        ("diagonal_inertia", "1,2,3", (1.0, 2.0, 3.0), ("0 1 1", "1 -1 1")),
    ],
)
def test_centre_and_inertia_are_typed_over_dots_as_the_mass_is(name, typed, expected, wrong):
    crate, other = scenes.solid("Crate"), scenes.solid("Other")
    scenes.select(crate, other)
    values, text = selection.current(bpy.context), f"mass_{name}_text"
    assert box("mass").prop_of(values, text).arguments["placeholder"] == "\N{HORIZONTAL ELLIPSIS}"
    for nonsense in wrong:
        setattr(values, text, nonsense)
        assert not crate.usdphys.mass.is_applied, nonsense
    setattr(values, text, typed)
    for obj in (crate, other):
        assert tuple(getattr(obj.usdphys.mass, name)) == pytest.approx(expected)
    assert text not in [row.name for row in box("mass").all("prop")]


def in_edit_mode(_crate, _monkeypatch):
    bpy.ops.object.mode_set(mode="EDIT")


def failing(_crate, monkeypatch):
    monkeypatch.setattr(mass, "mass_properties", lambda *_: 1 / 0)


@pytest.mark.parametrize(("happens", "reason"), [(in_edit_mode, "Object Mode"), (failing, "console")])
def test_a_mass_that_is_not_computed_says_why(happens, reason, monkeypatch):
    """A mesh in edit mode cannot be read: it weighed 1 kg."""
    crate = scenes.solid("Crate")
    scenes.select(crate)
    happens(crate, monkeypatch)
    compute()
    drawn = box("mass")
    assert sum(reason in text for text in drawn.labels()) == 2, "for the mass, and once for centre and inertia"
    texts = [row for row in drawn.all("prop") if row.name.startswith("mass_") and row.name.endswith("_text")]
    assert {row.arguments["placeholder"] for row in texts} == {"Unknown"}


def test_what_a_body_weighs_is_told_while_it_plays(monkeypatch):
    """It said "Unknown" of a body that was not selected before. A box of 2 x 1 x 1 m of 500 kg/m3, which falls."""
    crate, other = scenes.solid("Crate", (1.0, 0.5, 0.5)), scenes.solid("Other", location=(5, 0, 0))
    crate.usdphys.mass.is_applied, crate.usdphys.mass.density = True, 500.0
    session = guard.start(bpy.context)
    scenes.select(crate)
    for _ in range(30):
        session.step_once(bpy.context)
    values = selection.current(bpy.context)
    assert not session.has_edits
    with monkeypatch.context() as patch:
        patch.setattr(scene_read, "read_scene", lambda *_, **__: pytest.fail("it made the preview stutter"))
        compute()
        assert values.mass == pytest.approx(1000.0)
        assert "mass_text" not in rows() and "Triangle Mesh" in box().labels()
    assert values.mass_diagonal_inertia[:] == pytest.approx((500 / 3, 1250 / 3, 1250 / 3))
    # Paused, the preview takes no edit before its next step.
    crate.usdphys.mass.density = 600.0
    bpy.context.view_layer.update()
    assert session.has_edits
    readout.forget()
    compute()
    assert values.mass == pytest.approx(1200.0)
    scenes.select(crate, other)
    compute()
    assert "mass" in selection.differing(bpy.context.object, [crate, other])


@pytest.mark.parametrize("hides", [lambda obj: obj.hide_set(True), lambda obj: setattr(obj, "hide_viewport", True)])
def test_a_hidden_body_is_not_said_to_be_none(hides):
    """The properties editor can be pinned to it."""
    crate = scenes.solid("Crate")
    hides(crate)
    bpy.context.view_layer.update()
    assert "hidden" in readout.compute_mass(bpy.context, crate.name).problem


@pytest.mark.slow
def test_what_is_infinite_is_said_in_words_and_a_number_is_typed_over_it():
    """A joint that does not break said "inf"."""
    hinge = scenes.add_joint("Hinge", "REVOLUTE", None, scenes.solid("Door"))
    scenes.select(hinge)
    values = selection.current(bpy.context)
    values.mover = "MOTOR"
    hinge.usdphys.joint.drives.angular.property_unset("max_force")
    names = {"joint_break_force": "Never", "joint_break_torque": "Never", "joint_drives_angular_max_force": "No Limit"}
    for name, word in names.items():
        assert box().prop_of(values, f"{name}_text").arguments["placeholder"] == word
        for text in ("endless", "__import__('os')", "1/0", "9**9", "5 g", "-3", "1e400"):
            setattr(values, f"{name}_text", text)
        assert math.isinf(getattr(values, name)) and not shown_values.of_active().is_authored(name)
        setattr(values, f"{name}_text", "2.5e3")
        assert getattr(values, name) == 2500.0 and shown_values.of_active().is_authored(name)
        assert name in rows() and f"{name}_text" not in rows()
        assert bpy.ops.usdphys.selection_unset(name=name) == {"FINISHED"}
        assert f"{name}_text" in rows()


def test_a_computed_mass_is_keyed_as_it_is():
    """1 m3 of the default density: 1000 kg."""
    crate = scenes.solid("Crate")
    scenes.select(crate)
    key("mass")
    assert crate.usdphys.mass.is_applied
    curve, _ = value_keys.curves_by_path(crate)["usdphys.mass.mass"]
    assert curve.keyframe_points[0].co.y == pytest.approx(1000.0)


def test_the_dot_of_a_surface_keys_a_material_that_only_the_selection_has():
    one, other = scenes.solid("One"), scenes.solid("Other")
    shared = bpy.data.materials.new("Wood")
    shared.usdphys.physics_material.dynamic_friction = 0.25
    for obj in (one, other):
        obj.usdphys.physics_material = shared
    scenes.select(one)
    key("friction")
    own = one.usdphys.physics_material
    assert own != shared and shared.animation_data is None and other.usdphys.physics_material == shared
    fields = ("dynamic_friction", "static_friction")
    assert set(value_keys.curves_by_path(own)) == {f"usdphys.physics_material.{field}" for field in fields}
    assert selection.current(bpy.context).friction == 0.25


def test_what_has_no_number_and_what_a_driver_moves_is_not_keyed():
    hinge = scenes.add_joint("Hinge", "REVOLUTE", None, scenes.solid("Door"))
    scenes.select(hinge)
    with pytest.raises(RuntimeError, match="'Break Force' of 'Hinge' has no number yet"):
        key("joint_break_force")
    assert hinge.animation_data is None
    hinge.usdphys.joint.break_force = 5.0
    hinge.driver_add("usdphys.joint.break_force")
    assert dots()["joint_break_force"] == "DECORATE_DRIVER"
    with pytest.raises(RuntimeError, match="A driver moves 'Break Force' of 'Hinge'"):
        key("joint_break_force")


# --------------------------------------------------------------------------- scene, group, surface, articulation


def test_without_a_selection_it_shows_the_scene():
    scene = bpy.context.scene
    crate = scenes.solid("Crate")
    scenes.select(crate)
    scenes.select()
    bpy.context.view_layer.objects.active = crate
    assert box().props(scene) == ["use_gravity", "gravity"]
    assert box().props(scene.usdphys.preview) == ["quality"]
    scenes.select(crate)
    assert box().props(scene) == []
    scenes.select()
    own = scene.usdphys.physics_scenes.add()
    assert box().props(scene) == []
    assert sorted(box().props(own)) == ["gravity_direction", "gravity_magnitude"]
    assert "Automatic: 9.81 m/s², down" in box().labels()


def test_a_group_says_what_it_passes_through_and_each_button_switches_it():
    crate = scenes.solid("Crate")
    for name in ("One", "Two"):
        scenes.define_group(name)
    scenes.select(crate)
    selection.current(bpy.context).group = "One"
    buttons = box("group").buttons("usdphys.group_ignore")
    assert [(one.text, one.icon) for one in buttons] == [("Itself", "CHECKBOX_DEHLT"), ("Two", "CHECKBOX_DEHLT")]
    buttons[1].press()
    assert group_edits.are_ignored(bpy.context.scene, "One", "Two")
    assert [one.icon for one in box("group").buttons("usdphys.group_ignore")] == ["CHECKBOX_DEHLT", "CHECKBOX_HLT"]


def test_the_surface_is_that_of_all_selected_and_its_fold_is_about_the_one_that_counts():
    objects = [scenes.solid(f"Crate {number}") for number in range(2)]
    painted, rubber = bpy.data.materials.new("Painted"), bpy.data.materials.new("Rubber")
    painted.usdphys.physics_material.dynamic_friction = 0.25
    objects[1].data.materials.append(painted)
    scenes.select(*objects)
    values = selection.current(bpy.context)
    assert values.surface == "Painted"
    assert box("surface").prop_of(painted.usdphys.physics_material, "dynamic_friction")
    values.surface = "Rubber"
    assert [obj.usdphys.physics_material for obj in objects] == [rubber, rubber]
    # A material that was none for physics is no ice.
    assert (values.friction, values.bounce) == (0.5, 0.0)
    row = next(one for one in box("surface").buttons("usdphys.unset") if "friction" in one.values["data_path"])
    row.press()
    assert not all(rubber.usdphys.physics_material.is_property_set(f"{one}_friction") for one in ("static", "dynamic"))
    values.surface = ""
    assert values.surface == "Painted" and objects[0].usdphys.physics_material is None


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_robots_root_says_what_it_holds_and_switches_self_collision(is_fixed):
    base, arm = scenes.solid("Base"), scenes.solid("Arm", location=(2, 0, 0))
    base.usdphys.articulation_root.is_applied = True
    scenes.add_joint("Shoulder", "REVOLUTE", base, arm)
    if is_fixed:
        scenes.add_joint("Foot", "FIXED", None, base)
    scenes.select(base)
    assert "Articulation" in box().labels()
    number = len(box().all("label"))
    compute()
    title, numbers = ("fixed to the world", "2 bodies, 2 joints") if is_fixed else ("free", "2 bodies, 1 joint")
    assert f"Articulation, {title}" in box().labels() and numbers in box().labels()
    # A line that came a moment later would move what is below it under the mouse.
    assert len(box().all("label")) == number
    assert "self_collision" in rows()
    values = selection.current(bpy.context)
    assert values.self_collision
    values.self_collision = False
    assert not values.self_collision
    root = next(prim for prim in scenes.read_model().prims.values() if prim.label == "Base")
    assert not collision_groups.collides_with_itself(root)


def test_the_root_of_a_ragdoll_counts_joints_that_the_preview_does_not_reduce():
    """Ball joints with cones: an articulation in PhysX and Newton, and joints like others in the preview."""
    base, arm = scenes.solid("Base"), scenes.solid("Arm", location=(2, 0, 0))
    base.usdphys.articulation_root.is_applied = True
    joint = scenes.add_joint("Neck", "SPHERICAL", base, arm).usdphys.joint
    joint.spherical.cone_angle0_limit = joint.spherical.cone_angle1_limit = math.radians(30)
    scenes.select(base)
    compute()
    assert {"Articulation, free", "2 bodies, 1 joint"} <= set(box().labels())


def test_an_instance_says_what_plays_inside_of_it():
    held = scenes.new_collection("Door")
    leaf, frame = (scenes.solid(name, collection=held) for name in ("Leaf", "Frame"))
    hinge = scenes.add_joint("Hinge", "REVOLUTE", frame, leaf)
    held.objects.link(hinge)
    scenes.select(scenes.add_instance("Asset", held))
    compute()
    assert "Has 2 bodies, 1 joint inside, which play" in " ".join(box().labels())
    held.objects.unlink(hinge)
    scenes.select(scenes.add_instance("Without Hinge", held))
    compute()
    assert "Has 2 bodies inside, which play" in " ".join(box().labels())
    scenes.select(scenes.add_instance("Empty", scenes.new_collection("Nothing")))
    compute()
    assert "inside" not in " ".join(box().labels())


def test_a_root_without_joints_says_that_it_has_no_effect():
    alone = scenes.solid("Alone")
    alone.usdphys.articulation_root.is_applied = True
    scenes.select(alone)
    compute()
    assert "has no effect" in " ".join(box().labels())


def test_unlike_roles_have_a_sign():
    crate, floor = scenes.solid("Crate"), scenes.add_box("Floor")
    scenes.make_collider(floor)
    scenes.select(floor, crate)
    compute()
    assert "\N{NOT EQUAL TO} Not all are the same" in " ".join(box().labels())
    next(one for one in box().buttons() if one.text == "Static").press()
    readout.forget()
    compute()
    assert pressed() == ["Static"]
    assert "Not all" not in " ".join(box().labels())


@pytest.mark.slow
def test_a_bake_is_shown_below_play_and_cleared_there():
    crate = scenes.solid("Crate", location=(0, 0, 5))
    scenes.select(crate)
    compute()
    assert not box().buttons("usdphys.preview_clear_bake")
    assert bpy.ops.usdphys.preview_bake(use_scene_range=False, frame_start=1, frame_end=5) == {"FINISHED"}
    compute()
    panel = box()
    assert "Baked 1 object" in panel.labels()
    panel.buttons("usdphys.preview_clear_bake")[0].press()
    assert crate.animation_data is None
    compute()
    assert "Baked 1 object" not in box().labels() and not box().buttons("usdphys.preview_clear_bake")


def test_a_cache_is_deleted_below_play():
    scenes.select(scenes.solid("Crate", location=(0, 0, 5)))
    assert not box().buttons("usdphys.preview_delete_cache")
    assert bpy.ops.usdphys.preview_cache(use_scene_range=False, frame_start=1, frame_end=5) == {"FINISHED"}
    guard.stop()
    box().buttons("usdphys.preview_delete_cache")[0].press()
    assert not box().buttons("usdphys.preview_delete_cache")
