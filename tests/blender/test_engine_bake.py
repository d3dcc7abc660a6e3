"""A scene plays and is baked in an engine in a process of its own. A program stands for it: it needs no environment."""

import os

import bpy
import pytest
import stand_in
from usdphys_ext.usdphys_addon.core.errors import EngineError, InputError
from usdphys_ext.usdphys_addon.playback import bake
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.simulation.engine import ENGINES, PYTHONS, programs

from . import scenes, test_panels
from .test_preview import raw, run
from .test_vendor_targets import imported

G, STEP = 9.81, 1.0 / 24.0


@pytest.fixture(autouse=True)
def _ended():
    yield
    preview_guard.stop()


def falling(monkeypatch, scale=1.0, **environment):
    stand_in.stands_for(monkeypatch, ENGINES, **environment)
    scene = bpy.context.scene
    scene.usdphys.preview.engine = "physx"
    scene.usdphys.preview.frequency = 24
    scene.unit_settings.scale_length = scale
    scene.frame_start, scene.frame_end = 1, 11
    ball = scenes.solid("Ball")
    ball.location.z = 3.0 / scale
    bpy.context.view_layer.update()
    return ball


def fallen(steps, step=STEP):
    """How far a body of the stand-in is below its start: velocities come first."""
    return G * step**2 * steps * (steps + 1) / 2


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_motion_of_an_engine_is_baked(monkeypatch, scale):
    ball = falling(monkeypatch, scale)
    assert bpy.ops.usdphys.preview_bake() == {"FINISHED"}
    for frame in (1, 6, 11):
        bpy.context.scene.frame_set(frame)
        assert ball.matrix_world.translation.z * scale == pytest.approx(3.0 - fallen(frame - 1), rel=1e-5)
    bake.clear_bake(bpy.context.scene)
    assert ball.animation_data is None and ball.location.z * scale == pytest.approx(3.0)


@pytest.mark.slow
def test_the_preview_plays_in_the_engine_shows_its_delay_and_is_exactly_back(monkeypatch):
    ball = falling(monkeypatch)
    before = raw()
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    assert ball.matrix_world.translation.z == pytest.approx(3.0 - fallen(12), rel=1e-5)
    said = dict(session.readout)
    assert "Contacts" not in said and str(said["PhysX"]).endswith("ms for an answer")
    session.reset(bpy.context)
    assert session.world.frame == 0
    run(session, 0.5)
    assert ball.matrix_world.translation.z == pytest.approx(3.0 - fallen(12), rel=1e-5)
    preview_guard.stop()
    assert raw() == before


@pytest.mark.slow
def test_an_animated_body_leads_and_a_grab_pulls(monkeypatch):
    ball = falling(monkeypatch)
    # As the stand-in has it.
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 1.0
    lift = scenes.solid("Lift")
    lift.usdphys.rigid_body.kinematic_enabled = True
    for frame, height in ((1, 0.0), (11, 1.0)):
        lift.location.z = height
        lift.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    session = preview_guard.start(bpy.context)
    bpy.context.scene.frame_set(11)
    run(session, 0.2)
    row = session.world.index("/root/Lift")
    assert session.world.positions[row, 2] == pytest.approx(1.0, abs=1e-4)
    number = session.grab("/root/Ball", ball.matrix_world.translation)
    session.drag(number, (1.0, 0.0, 3.0))
    run(session, 2.0)
    assert session.grabs[0][0][0] == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
def test_an_edit_that_it_takes_at_the_start_only_goes_on_from_there(monkeypatch):
    ball = falling(monkeypatch)
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 2.0
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    world, place = session.world, session.world.positions.copy()
    ball.usdphys.mass.mass = 3.0
    bpy.context.view_layer.update()
    assert session.take_edits(bpy.context) and session.world is not world
    assert session.world.positions == pytest.approx(place, abs=1e-5)
    session.simulate(bpy.context)
    assert session.world.positions[0, 2] == pytest.approx(3.0 - fallen(13), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["dies", "raises", "rubbish", "text"])
def test_an_engine_that_fails_is_a_sentence_and_the_scene_is_as_before(monkeypatch, fault):
    falling(monkeypatch, fault=f"{fault}@step")
    before = raw()
    session = preview_guard.start(bpy.context)
    with pytest.raises(EngineError, match="PhysX"):
        run(session, 0.5)
    preview_guard.stop()
    assert raw() == before
    with pytest.raises(RuntimeError, match="PhysX"):
        bpy.ops.usdphys.preview_step()
        bpy.ops.usdphys.preview_step()
        bpy.ops.usdphys.preview_step()
    assert preview_guard.current() is None and raw() == before


def test_an_engine_that_fails_leaves_no_key(monkeypatch):
    ball = falling(monkeypatch, fault="raises@step")
    with pytest.raises(RuntimeError, match="the scene is too odd"):
        bpy.ops.usdphys.preview_bake()
    assert ball.animation_data is None and bpy.context.scene.frame_current == 1


def test_an_environment_that_is_not_there_is_explained(monkeypatch):
    falling(monkeypatch)
    monkeypatch.delenv(ENGINES["newton"].variable, raising=False)
    bpy.context.scene.usdphys.preview.engine = "newton"
    for call in (bpy.ops.usdphys.preview_bake, bpy.ops.usdphys.preview_play):
        with pytest.raises(RuntimeError, match="in it with pip"):
            call()


def test_the_panel_offers_an_engine_whose_python_is_set_and_greys_the_others(monkeypatch):
    for row in programs().values():
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setitem(PYTHONS, "physx", "/somewhere/python")
    layout = test_panels.drawn("preview", "VIEW_3D")
    physx, newton = (layout.button("usdphys.choose_engine", engine=key) for key in ("physx", "newton"))
    assert (physx.text, physx.is_enabled, newton.text, newton.is_enabled) == ("PhysX", True, "Newton", False)
    bpy.context.scene.usdphys.preview.engine = "newton"
    assert "Set the Python of Newton" in " ".join(test_panels.drawn("preview", "VIEW_3D").labels())
    bpy.ops.usdphys.choose_engine(engine="physx")
    assert bpy.context.scene.usdphys.preview.engine == "physx"


def test_aims_and_variations_are_refused_there(monkeypatch):
    falling(monkeypatch)
    from usdphys_ext.usdphys_addon.playback import aims

    with pytest.raises(InputError, match="PhysX does not run a scene again and again"):
        aims.AimedScene(bpy.context)


@pytest.mark.skipif(not os.environ.get("USDPHYS_PHYSX_PYTHON"), reason="PhysX is not here: set USDPHYS_PHYSX_PYTHON")
def test_physx_itself_drops_a_ball():
    scene = bpy.context.scene
    scene.usdphys.preview.engine = "physx"
    scene.frame_start, scene.frame_end = 1, 13
    ball = scenes.solid("Ball")
    ball.location.z = 3.0
    bpy.ops.usdphys.preview_bake()
    scene.frame_set(13)
    assert ball.matrix_world.translation.z == pytest.approx(3.0 - 9.81 / 2 * 0.5**2, abs=0.15)


@pytest.mark.slow
def test_an_imported_scene_plays_in_it(monkeypatch, tmp_path):
    stand_in.stands_for(monkeypatch, ENGINES)
    objects = imported(tmp_path)
    scene = bpy.context.scene
    scene.usdphys.preview.engine = "physx"
    scene.frame_start, scene.frame_end = 1, 3
    scene.usdphys.physics_scenes[0].gravity_magnitude = G
    before = [objects[name].matrix_world.translation.z for name in ("Arm", "Finger")]
    bpy.ops.usdphys.preview_bake()
    scene.frame_set(3)
    after = [objects[name].matrix_world.translation.z for name in ("Arm", "Finger")]
    assert all(new < old for new, old in zip(after, before, strict=True))
