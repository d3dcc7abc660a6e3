# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine that is new: a row and a class, and the preview of a scene runs in it."""

from dataclasses import replace
from types import SimpleNamespace

import bpy
import pytest
from hanging import HANGING
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES

from . import test_panels
from .test_preview import crate, raw, run


@pytest.fixture(autouse=True)
def _row(monkeypatch):
    monkeypatch.setitem(ENGINES, "hanging", HANGING)
    bpy.context.scene.usdphys.preview.engine = "hanging"
    yield
    preview_guard.stop()


def test_objects_hang_in_the_air_and_the_notices_say_why():
    obj = crate()
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    assert tuple(obj.location) == (0.0, 0.0, 5.0) and session.world.time == pytest.approx(0.5)
    (first, *_) = [notice for notice in session.notices if notice.code == "EngineLimits"]
    assert first.message == "Hanging does not move bodies by itself, which 'Crate' (/root/Crate) needs."
    session.reset(bpy.context)
    assert session.world.frame == 0
    preview_guard.stop()
    assert raw() == before


def test_an_edit_that_a_running_engine_cannot_take_builds_its_world_anew():
    obj = crate()
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 2.0
    session = preview_guard.start(bpy.context)
    run(session, 0.1)
    world = session.world
    obj.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    assert session.take_edits(bpy.context) and session.world is not world and session.world.frame == world.frame


def test_a_kinematic_object_leads_its_body():
    obj = crate()
    obj.usdphys.rigid_body.kinematic_enabled = True
    crate("Other", (5.0, 0.0, 5.0))
    obj.keyframe_insert("location", frame=1)
    obj.location.z = 6.0
    obj.keyframe_insert("location", frame=2)
    session = preview_guard.start(bpy.context)
    bpy.context.scene.frame_set(2)
    run(session, 0.1)
    assert session.world.positions[session.world.index("/root/Crate"), 2] == pytest.approx(6.0, abs=1e-3)


def test_grabbing_is_refused_in_one_sentence():
    crate()
    session = preview_guard.start(bpy.context)
    with pytest.raises(InputError, match="does not let bodies be grabbed"):
        session.grab(session.world.paths[0], (0.0, 0.0, 5.0))


def test_an_engine_that_is_gone_is_named():
    crate()
    bpy.context.scene.usdphys.preview.engine = "lost"
    with pytest.raises(InputError, match="no engine 'lost'"):
        preview_guard.start(bpy.context)


def test_the_panel_has_a_button_for_each_engine_which_says_how_to_get_what_is_not_here(monkeypatch):
    def buttons():
        layout = test_panels.drawn("preview", "VIEW_3D")
        return [one for one in layout.buttons() if one.name == "usdphys.choose_engine"]

    assert [one.text for one in buttons()] == [row.name for row in ENGINES.values()]
    choose = bpy.types.USDPHYS_OT_choose_engine
    for key in ("automatic", "mujoco"):
        monkeypatch.setitem(ENGINES, key, replace(ENGINES[key], needs="no_such_module"))
        assert "USD Physics Engines" in choose.description(bpy.context, SimpleNamespace(engine=key))
    assert [one.text for one in buttons()] == [row.name for row in ENGINES.values()]
