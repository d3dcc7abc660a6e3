"""The first panel of the sidebar: one box about what is selected, by its role."""

from __future__ import annotations

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import selected
from usdphys_ext.usdphys_addon.viewport import readout, selection

from . import scenes
from .test_panels import drawn

BODY = ["mass", "collider_shape", "friction", "bounce", "damping", "group"]


@pytest.fixture(autouse=True)
def _nothing_known():
    readout.forget()
    yield
    readout.forget()


def box():
    return drawn("selection", "VIEW_3D", opened=())


def rows() -> list[str]:
    values = selection.current(bpy.context)
    return [one.name for one in box().all() if one.kind in ("prop", "prop_search") and one.data == values]


def pressed() -> list[str]:
    return [one.text for one in box().buttons() if one.arguments.get("depress")]


def test_each_role_has_its_button_and_its_rows():
    body, ground, hand = scenes.solid("Body"), scenes.add_box("Ground"), scenes.solid("Hand")
    scenes.make_collider(ground)
    hand.usdphys.rigid_body.kinematic_enabled = True
    bare = scenes.add("Bare")
    for obj, text, wanted in (
        (body, "Dynamic", BODY), (hand, "Animated", BODY),
        (ground, "Static", ["collider_shape", "friction", "bounce", "group"]), (bare, "None", []),
    ):  # fmt: skip
        scenes.select(obj)
        assert pressed() == [text]
        assert rows() == wanted
    scenes.select()
    bpy.context.view_layer.objects.active = None
    assert rows() == []
    assert box().labels() == ["Select an object"]


@pytest.mark.parametrize("text", ["Dynamic", "Static", "Animated", "None"])
def test_the_button_of_a_role_gives_it(text):
    crate = scenes.solid("Crate")
    scenes.select(crate)
    next(one for one in box().buttons() if one.text == text).press()
    assert pressed() == [text]


def test_a_joint_shows_what_its_type_and_its_mover_need():
    door, frame = scenes.solid("Door"), scenes.add_box("Frame")
    scenes.make_collider(frame)
    hinge = scenes.add_joint("Hinge", "REVOLUTE", frame, door)
    scenes.select(hinge)
    breaks = ["joint_break_force", "joint_break_torque"]
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
    values.joint_type = "DISTANCE"
    assert hinge.usdphys.joint.type == "DISTANCE"
    assert rows() == ["joint_distance_min_distance", "joint_distance_max_distance", *breaks]
    values.joint_type = "GENERIC"
    assert rows() == breaks
    assert any("Physics tab" in text for text in box().labels())


def test_values_that_differ_have_a_sign_and_what_is_authored_a_button():
    one, other = scenes.solid("One"), scenes.solid("Other")
    scenes.select(one, other)
    for obj, mass in ((one, 1.0), (other, 2.0)):
        obj.usdphys.mass.mass = mass
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


def test_door_of_the_grid_is_a_door_whatever_was_made_before():
    button = next(one for one in drawn("actions", "VIEW_3D").buttons("usdphys.mechanism"))
    assert (button.text, button.values) == ("Door", {"kind": "DOOR"})


def test_drawing_reads_a_number_of_objects_that_does_not_grow_with_the_selection(monkeypatch):
    """What differs among many is computed by a job: a draw asks for it, and reads the active object alone."""
    objects = [scenes.solid(f"Crate {number}") for number in range(30)]
    scenes.select(*objects)
    seen = set()
    read = selected.group_at
    monkeypatch.setattr(selected, "group_at", lambda obj, path: (seen.add(obj.name), read(obj, path))[1])
    box()
    assert seen == {bpy.context.object.name}
