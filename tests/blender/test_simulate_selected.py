# SPDX-License-Identifier: GPL-3.0-or-later
"""Only the selection moves, with what joints tie to it; the rest stands still and can be run into."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.playback import guard

from . import scenes
from .scenes import select


def heights(*objects):
    return [obj.matrix_world.translation.z for obj in objects]


def run(steps):
    session = guard.current()
    for _ in range(steps):
        session.step_once(bpy.context)
    bpy.context.view_layer.update()
    return session


@pytest.mark.slow
def test_others_stand_still_in_the_air_and_carry_what_falls_on_them():
    low, high, aside = (scenes.solid(name, location=place) for name, place in (
        ("Low", (0, 0, 3)), ("High", (0, 0, 6)), ("Aside", (9, 0, 3))
    ))  # fmt: skip
    select(high)
    bpy.ops.usdphys.preview_play_selected()
    session = run(240)
    size = low.dimensions.z
    assert heights(low, aside) == [3, 3]
    assert heights(high)[0] == pytest.approx(3 + size, abs=0.05)
    assert session.shown.moving == ["High"] and session.notices == []
    guard.stop()
    assert high.location.z == 6
    bpy.ops.usdphys.preview_play()
    run(20)
    assert max(heights(low, aside)) < 2.9


def test_joints_tie_what_hangs_on_the_selection_but_not_beyond_what_stands():
    post = scenes.add_box("Post", (0.1,) * 3, location=(0, 0, 5))
    scenes.make_collider(post)
    bodies = [scenes.solid(name, location=place) for name, place in (
        ("A", (0, 0, 3)), ("B", (3, 0, 3)), ("C", (6, 0, 3)), ("D", (0, 4, 3)), ("E", (0, 9, 3)))]  # fmt: skip
    a, b, c, d, _ = bodies
    for name, one, other in (("AB", a, b), ("BC", b, c), ("Post A", post, a), ("Post D", post, d)):
        scenes.add_joint(name, "FIXED", one, other)
    select(c)
    bpy.ops.usdphys.preview_play_selected()
    assert run(1).shown.moving == ["A", "B", "C"]


def test_a_joint_or_a_part_of_a_body_stands_for_it():
    one, other = scenes.solid("One"), scenes.solid("Other", location=(3, 0, 0))
    scenes.solid("Third", location=(6, 0, 0))
    part = scenes.add_box("Part", (0.1,) * 3, parent=other)
    scenes.make_collider(part)
    select(part)
    bpy.ops.usdphys.preview_play_selected()
    assert run(1).shown.moving == ["Other"]
    guard.stop()
    select(scenes.add_joint("Tie", "FIXED", one, other))
    bpy.ops.usdphys.preview_play_selected()
    assert run(1).shown.moving == ["One", "Other"]


def test_an_edit_while_it_plays_leaves_the_others_standing():
    one, other = scenes.solid("One", location=(0, 0, 5)), scenes.solid("Other", location=(5, 0, 5))
    select(one)
    bpy.ops.usdphys.preview_play_selected()
    run(5)
    scenes.solid("New", location=(9, 0, 5))
    bpy.context.view_layer.update()
    run(20)
    assert heights(other, bpy.data.objects["New"]) == [5, 5] and heights(one)[0] < 4.9


def test_a_selection_that_cannot_move_is_refused():
    scenes.solid("Body", location=(0, 0, 5))
    floor = scenes.add_box("Floor", (1, 1, 0.1))
    scenes.make_collider(floor)
    select(floor)
    with pytest.raises(RuntimeError, match="Nothing that is selected can move"):
        bpy.ops.usdphys.preview_play_selected()
    assert guard.current() is None


def test_an_instance_that_is_selected_plays_and_another_stands_still():
    held = scenes.new_collection("Held")
    for name, x in (("One", 0), ("Two", 2)):
        scenes.solid(name, collection=held, location=(x, 0, 0))
    empties = [scenes.add_instance(name, held, location=place) for name, place in (
        ("Here", (0, 0, 5)), ("There", (0, 9, 5)))]  # fmt: skip
    select(empties[0])
    bpy.ops.usdphys.preview_play_selected()
    session = run(5)
    assert len(session.shown.moving) == 2
    assert all(bpy.data.objects[name].parent == empties[0] for name in session.shown.moving)
