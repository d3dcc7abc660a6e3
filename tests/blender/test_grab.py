# SPDX-License-Identifier: GPL-3.0-or-later
"""Grabbing bodies with the mouse while they are simulated: what is under it, and what is said."""

from types import SimpleNamespace as Like

import bpy
import pytest
from mathutils import Matrix
from usdphys_ext.operators.grab import Hand, view_under
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.world import World

from . import scenes

#: Pixels of a view from above, and metres that it shows.
SIZE, METRES = 100, 10.0


def region(kind, x, y, width, height, data=None):
    return Like(type=kind, x=x, y=y, width=width, height=height, data=data)


def view():
    """The area of a 3D view."""
    return next(area for area in bpy.context.window.screen.areas if area.type == "VIEW_3D")


def screen(*regions):
    return Like(areas=[
        Like(type="OUTLINER", regions=[]), Like(type="VIEW_3D", regions=list(regions), spaces=view().spaces)
    ])  # fmt: skip


class Mouse(Hand):
    """The mouse over a view from above whose middle is the origin."""

    def __init__(self):
        side = METRES / 2
        data = Like(
            is_perspective=False, view_perspective="ORTHO", view_matrix=Matrix(),
            perspective_matrix=Matrix.Diagonal((1 / side, 1 / side, -0.01, 1.0)),
        )  # fmt: skip
        self.screen = screen(region("WINDOW", 0, 0, SIZE, SIZE, data))
        self.said = []
        self._session = preview_guard.current()

    def report(self, _kinds, text):
        self.said.append(text)

    def over(self, x, y):
        return int(SIZE * (x / METRES + 0.5)), int(SIZE * (y / METRES + 0.5))

    def press(self, x, y):
        context = Like(
            screen=self.screen, scene=bpy.context.scene, view_layer=bpy.context.view_layer,
            evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
        )  # fmt: skip
        mouse_x, mouse_y = self.over(x, y)
        return self.take(context, Like(mouse_x=mouse_x, mouse_y=mouse_y))

    def move(self, x, y, kind="MOUSEMOVE", value="NOTHING"):
        mouse_x, mouse_y = self.over(x, y)
        return self.drag(None, Like(type=kind, value=value, mouse_x=mouse_x, mouse_y=mouse_y))


def run(session, seconds):
    for _ in range(round(seconds / session.world.time_step)):
        session.step_once(bpy.context)


@pytest.fixture
def crate():
    bpy.context.scene.use_gravity = False
    obj = scenes.solid("Crate", shape="AUTO")
    bpy.context.view_layer.update()
    return obj


def test_a_body_is_grabbed_dragged_and_let_go(crate):
    session = preview_guard.start(bpy.context)
    mouse = Mouse()
    assert not mouse.press(3, 3), "there is nothing"
    assert mouse.press(0, 0)
    mouse.move(2, 0)
    run(session, 2.0)
    ((held, target),) = session.grabs
    assert held == pytest.approx(target, abs=0.1) and held[0] == pytest.approx(2.0, abs=0.1)
    assert crate.matrix_world.translation.x > 1.5
    mouse.move(2, 0, "LEFTMOUSE", "RELEASE")
    assert session.grabs == [] and mouse.said == []


@pytest.mark.parametrize("lies", ["UI", "TOOLS", "HEADER", "HUD"])
def test_what_lies_over_a_view_is_not_grabbed_through(lies):
    view, over = region("WINDOW", 10, 20, 300, 200, "view"), region(lies, 210, 20, 100, 200)
    hidden = region("ASSET_SHELF", 50, 50, 1, 1)
    found = view_under(screen(over, hidden, view), 50, 50)
    assert found is not None and found.region is view and found.place == (40, 30)
    assert view_under(screen(over, view), 250, 50) is None
    assert view_under(screen(over, view), 5, 50) is None


def test_each_of_four_views_has_a_direction_of_its_own():
    corners = {"front": (0, 0), "right": (100, 0), "top": (0, 100), "user": (100, 100)}
    quad = screen(*(region("WINDOW", x, y, 100, 100, name) for name, (x, y) in corners.items()))
    for name, (x, y) in corners.items():
        found = view_under(quad, x + 7, y + 9)
        assert found is not None and (found.data, found.place) == (name, (7, 9))


@pytest.mark.parametrize("happens", ["another body", "deleted", "reset"])
def test_the_mouse_holds_on_while_what_it_holds_is_gone(crate, happens):
    scenes.solid("Other", shape="AUTO").location = (4, 4, 0)
    bpy.context.view_layer.update()
    session = preview_guard.start(bpy.context)
    mouse = Mouse()
    assert mouse.press(0, 0)
    run(session, 0.1)
    if happens == "another body":
        scenes.solid("Late", shape="AUTO").location = (-4, 4, 0)
    elif happens == "deleted":
        bpy.data.objects.remove(crate)
    else:
        session.reset(bpy.context)
    bpy.context.view_layer.update()
    run(session, 0.1)
    mouse.move(1, 0)
    run(session, 0.1)
    mouse.move(1, 0, "LEFTMOUSE", "RELEASE")
    assert preview_guard.current() is session and session.grabs == []


@pytest.mark.parametrize("edit", ["another body", "a scale", "another name"])
def test_an_edit_that_builds_the_world_anew_leaves_the_body_in_the_hand(crate, edit):
    session = preview_guard.start(bpy.context)
    mouse = Mouse()
    assert mouse.press(0, 0)
    mouse.move(2, 0)
    run(session, 1.0)
    world = session.world
    if edit == "another body":
        scenes.solid("Late", shape="AUTO").location = (-4, 4, 0)
    elif edit == "a scale":
        crate.scale = (0.5, 0.5, 0.5)
    else:
        crate.name = "Box"
    bpy.context.view_layer.update()
    run(session, 0.1)
    assert session.world is not world
    ((_, target),) = session.grabs
    assert target == pytest.approx((2, 0, target[2]), abs=0.1)
    mouse.move(-2, 0)
    run(session, 2.0)
    assert crate.matrix_world.translation.x < -1.5
    mouse.move(-2, 0, "LEFTMOUSE", "RELEASE")
    assert session.grabs == []


def test_a_frame_that_is_only_shown_again_says_where_to_grab(crate):
    bpy.context.scene.usdphys.preview.with_timeline = True
    bpy.context.scene.frame_set(1)
    assert bpy.ops.usdphys.preview_play() == {"FINISHED"}
    for frame in (*range(2, 9), 3):
        bpy.context.scene.frame_set(frame)
    mouse = Mouse()
    assert mouse.press(0, 0) and mouse.said == [
        "This frame was simulated before. To grab a body, go to frame 8, where the simulation goes on."
    ]
    assert preview_guard.current().grabs == []
    bpy.context.scene.frame_set(8)
    assert mouse.press(0, 0) and len(mouse.said) == 1
    assert len(preview_guard.current().grabs) == 1


def test_an_engine_that_holds_nothing_says_so_and_the_preview_goes_on(crate, monkeypatch):
    session = preview_guard.start(bpy.context)
    monkeypatch.setattr(World, "can", lambda _world, _ability: False)
    mouse = Mouse()
    assert mouse.press(0, 0)
    assert len(mouse.said) == 1 and "let bodies be grabbed" in mouse.said[0]
    assert preview_guard.current() is session


def test_a_local_view_lets_one_grab_what_is_behind_what_it_leaves_out(crate):
    lid = scenes.add_box("Lid")
    lid.location.z = 2
    scenes.select(crate)
    preview_guard.start(bpy.context)
    mouse = Mouse()
    assert not mouse.press(0, 0), "the lid is over it"
    area = view()
    window = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(area=area, region=window):
        bpy.ops.view3d.localview()
        bpy.context.view_layer.update()
        try:
            assert mouse.press(0, 0)
        finally:
            bpy.ops.view3d.localview()
