# SPDX-License-Identifier: GPL-3.0-or-later
"""Add > Physics: what is added stands, lies and falls as it should, in any unit scale."""

import bpy
import numpy as np
import pytest
from usdphys_ext.panels import action_bar_panel as panels
from usdphys_ext.usdphys_addon.authoring import generator_kinds
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes
from .layout_recorder import draw


@pytest.fixture(autouse=True)
def _no_session():
    yield
    preview_guard.stop()


def added(kind, **options):
    assert bpy.ops.usdphys.add_physics(kind=kind, **options) == {"FINISHED"}
    return list(bpy.context.selected_objects)


@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_stack_stands_on_the_ground_and_a_ball_rolls_down_the_ramp(meters):
    bpy.context.scene.unit_settings.scale_length = meters
    added("GROUND")
    stack = added("STACK", count=4)
    bpy.context.scene.cursor.location = (5 / meters, 0, 0)
    (ramp,) = added("RAMP")
    bpy.context.scene.cursor.location = (5.9 / meters, 0, 0.65 / meters)
    (ball,) = added("BALL")
    before = [np.array(box.location) for box in stack]
    start = ball.location.x
    for _ in range(24):
        bpy.ops.usdphys.preview_step()
    for box, place in zip(stack, before, strict=True):
        assert np.abs(np.array(box.location) - place).max() < 0.01 / meters
    assert ball.location.x < start - 0.2 / meters
    assert ramp.location.z == pytest.approx(0.3 / meters)


def test_colliders_are_primitives_where_the_form_is_one():
    shapes = {}
    for kind in ("GROUND", "STACK", "BALL", "DOMINOES"):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        obj = added(kind)[0]
        from usdphys_ext.usdphys_addon.viewport import readout

        shapes[kind] = readout.compute_shapes(bpy.context, obj.name)
        assert obj.usdphys.rigid_body.is_applied == (kind != "GROUND")
    assert shapes == {"GROUND": ("Box",), "STACK": ("Box",), "BALL": ("Sphere",), "DOMINOES": ("Box",)}


def test_dominoes_do_not_touch_and_reach_each_other():
    row = added("DOMINOES", count=3)
    assert len(row) == 3 and len({obj.data.name for obj in row}) == 1
    step = row[1].location.x - row[0].location.x
    assert row[0].dimensions.x < step < row[0].dimensions.z


def test_all_kinds_are_in_the_menu():
    buttons = draw(panels.USDPHYS_MT_add).buttons("usdphys.add_physics")
    assert [one.values["kind"] for one in buttons] == [kind for kind, *_ in generator_kinds.KINDS]
    assert draw(panels.USDPHYS_PT_actions).button("usdphys.add_physics").values == {"kind": "GROUND"}
    assert scenes.read_model().bodies == {}
