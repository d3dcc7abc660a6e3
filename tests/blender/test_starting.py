# SPDX-License-Identifier: GPL-3.0-or-later
"""A preview is started in slices: between them Blender handles events, and nothing has changed in the scene."""

import types

import bpy
import numpy as np
import pytest
from usdphys_ext.operators import preview as operators
from usdphys_ext.usdphys_addon.bridge import collider_read, scene_read
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.steps import finished, part
from usdphys_ext.usdphys_addon.playback import bake
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.playback.session import PreviewSession

from .test_preview import crate, raw, run

BODIES = 20
#: Steps of a slice, by a clock that each look at it moves.
STEPS = 7
SLICE = 0.1


@pytest.fixture
def crates():
    crate("Floor", (0, 0, -1), scale=(90, 90, 1)).usdphys.rigid_body.is_applied = False
    found = [crate(f"Crate {index}", (3.0 * index, 0, 0.1 + 0.2 * index)) for index in range(BODIES)]
    bpy.context.view_layer.update()
    return found


def steps_of_all():
    """How many steps it takes to start the session of the scene."""
    fractions = []

    def counted():
        steps = PreviewSession.steps(bpy.context)
        while True:
            try:
                fractions.append(next(steps))
            except StopIteration as done:
                return done.value
            yield fractions[-1]

    finished(counted()).stop()
    return fractions


def begin(clock, with_timeline=False):
    clock.per_look = SLICE / (STEPS - 0.5)
    return preview_guard.begin(bpy.context, with_timeline=with_timeline)


def test_a_start_takes_at_least_one_step_for_each_body_and_its_progress_grows(crates):
    fractions = steps_of_all()
    assert len(fractions) > 2 * BODIES
    assert fractions == sorted(fractions) and fractions[0] < 0.05 and 0.95 < fractions[-1] <= 1.0


@pytest.mark.parametrize("with_timeline", [False, True])
def test_each_slice_ends_with_its_time_and_the_scene_is_changed_in_the_last_only(crates, clock, with_timeline):
    total, before = len(steps_of_all()), raw()
    work = begin(clock, with_timeline)
    session = None
    while session is None:
        assert raw() == before and not bpy.context.scene.usdphys.preview.is_running
        assert preview_guard.starting() is work and preview_guard.current() is None
        session = preview_guard.go_on(bpy.context, SLICE)
    # The last slice may have nothing left to do but to end.
    assert work.slices == total // STEPS + 1
    assert preview_guard.starting() is None and preview_guard.current() is session
    assert (preview_guard.timeline() is not None) == with_timeline
    assert bpy.context.scene.usdphys.preview.is_running


@pytest.mark.slow
def test_what_was_started_in_slices_moves_as_what_was_started_at_once(crates, clock):
    session = preview_guard.start(bpy.context)
    run(session, 0.5)
    at_once = session.world.positions.copy()
    preview_guard.stop()
    begin(clock)
    while not (sliced := preview_guard.go_on(bpy.context, SLICE)):
        pass
    run(sliced, 0.5)
    assert (sliced.world.positions == at_once).all()


def half_started(clock):
    begin(clock)
    for _ in range(3):
        assert preview_guard.go_on(bpy.context, SLICE) is None


def heavy(rows, is_body):
    """A bumpy ball of 2 * rows ** 2 triangles above the crates."""
    around, tilt = np.meshgrid(np.arange(rows) / rows * 2 * np.pi, np.arange(1, rows + 2) / (rows + 2) * np.pi)
    sizes = 1.0 + 0.3 * np.sin(3 * around) * np.sin(tilt) ** 2
    points = np.stack((np.sin(tilt) * np.cos(around), np.sin(tilt) * np.sin(around), np.cos(tilt)), -1)
    here = np.arange(rows)[:, None] * rows + np.arange(rows)
    beside = np.arange(rows)[:, None] * rows + (np.arange(rows) + 1) % rows
    faces = np.stack((here, here + rows, beside + rows, beside), -1).ravel().astype(np.int32)
    mesh = bpy.data.meshes.new("Rock")
    mesh.vertices.add(sizes.size)
    mesh.vertices.foreach_set("co", (points * sizes[..., None]).astype(np.float32).ravel())
    mesh.loops.add(len(faces))
    mesh.loops.foreach_set("vertex_index", faces)
    mesh.polygons.add(rows**2)
    mesh.polygons.foreach_set("loop_start", np.arange(0, len(faces), 4, dtype=np.int32))
    mesh.update()
    obj = bpy.data.objects.new("Rock", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location.z = 20.0
    obj.usdphys.rigid_body.is_applied = is_body
    obj.usdphys.colliders.add()
    bpy.context.view_layer.update()
    return obj


@pytest.mark.slow
@pytest.mark.parametrize("is_body", [True, False])
def test_one_heavy_mesh_is_prepared_in_many_slices_and_esc_ends_it_in_each(crates, clock, is_body, monkeypatch):
    from usdphys_ext.usdphys_addon.simulation.rapier import shapes

    monkeypatch.setattr(shapes, "TOGETHER", 2000)
    few = len(steps_of_all())
    heavy(150, is_body)
    before, slices = raw(), 0
    begin(clock)
    for _ in range(few // STEPS + 2):
        assert preview_guard.go_on(bpy.context, SLICE) is None
    preview_guard.stop()
    assert raw() == before and not bpy.context.scene.usdphys.preview.is_running
    begin(clock)
    while preview_guard.go_on(bpy.context, SLICE) is None:
        slices += 1
        assert raw() == before
    # 65 parts of the directions in which the points of a hull are farthest; 45,000 triangles, 2,000 at once.
    assert slices >= (few + (60 if is_body else 20)) // STEPS
    assert preview_guard.current() is not None


def test_what_a_heavy_mesh_is_is_found_in_steps_of_its_own_with_the_same_result(crates, monkeypatch):
    depsgraph = bpy.context.evaluated_depsgraph_get()
    models, steps = [], []
    for heavy_from in (collider_read.HEAVY, 4):
        monkeypatch.setattr(collider_read, "HEAVY", heavy_from)
        reading = scene_read.read_steps(depsgraph)
        steps.append(0)
        try:
            while True:
                next(reading)
                steps[-1] += 1
        except StopIteration as done:
            models.append(done.value.model)
    # Of equal meshes, the first alone is looked at; of each other one, whether it is equal.
    assert steps[1] >= steps[0] + BODIES + 3
    shapes = [[(path, prim.type_name, sorted(prim.schemas)) for path, prim in model.prims.items()] for model in models]
    assert shapes[0] == shapes[1]


def test_what_cannot_be_cut_is_named_in_a_slice_of_its_own_before_it_is_made(crates, clock, window, monkeypatch):
    from usdphys_ext.usdphys_addon.simulation.rapier import shapes

    monkeypatch.setattr(shapes, "MANY_TRIANGLES", 1000)
    heavy(24, is_body=False)
    calls = []
    real = shapes.SharedShape.trimesh
    monkeypatch.setattr(shapes.SharedShape, "trimesh", lambda *given: calls.append(list(window.texts)) or real(*given))
    # All of the start would fit into one slice.
    clock.per_look = 0.0
    window.invoke(window, None)
    assert window.texts[-1].endswith("now 'Rock': a search tree of 1,152 triangles    Esc: cancel") and not calls
    window.event("TIMER")
    assert preview_guard.current() is not None and len(calls) == 1 and "search tree" in calls[0][-1]


def test_giving_up_between_two_slices_leaves_the_scene_as_it_was(crates, clock):
    before = raw()
    half_started(clock)
    preview_guard.stop()
    assert preview_guard.starting() is None and preview_guard.current() is None
    assert raw() == before and not bpy.context.scene.usdphys.preview.is_running


def test_a_change_between_two_slices_is_in_the_preview(crates, clock):
    half_started(clock)
    crates[0].location.z = 5.0
    late = crate("Late", (0, 9, 4.0))
    session = preview_guard.go_on(bpy.context, SLICE)
    assert session is not None, "read anew, and at once: a scene may change all the time"
    assert len(session.world.paths) == BODIES + 1
    run(session, 0.1)
    assert 4.9 < crates[0].matrix_world.translation.z < 5.0 and 3.9 < late.matrix_world.translation.z < 4.0


@pytest.mark.parametrize("removed", ["meshes", "objects"])
@pytest.mark.parametrize("slices", [1, 3, 6, 9])
def test_data_that_is_removed_between_two_slices_is_not_touched(crates, clock, slices, removed):
    begin(clock)
    for _ in range(slices):
        assert preview_guard.go_on(bpy.context, SLICE) is None
    for obj in crates[::2]:
        bpy.data.meshes.remove(obj.data) if removed == "meshes" else bpy.data.objects.remove(obj)
    session = preview_guard.go_on(bpy.context, SLICE)
    assert session is not None and len(session.world.paths) == BODIES // 2


def test_another_view_layer_between_two_slices_is_the_one_that_plays(crates, clock):
    half_started(clock)
    layer = bpy.context.scene.view_layers.new("Few")
    bpy.context.window.view_layer = layer
    for obj in crates[5:]:
        obj.hide_set(True, view_layer=layer)
    session = preview_guard.go_on(bpy.context, SLICE)
    assert session is not None and len(session.world.paths) == 5


def test_another_scene_between_two_slices_is_the_one_that_plays(crates, clock):
    half_started(clock)
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    obj = crate("Alone", (0, 0, 3))
    session = preview_guard.go_on(bpy.context, SLICE)
    assert session is not None and session.scene_name == "Other" and session.shown.names == [obj.name]


def test_an_undo_or_another_file_gives_the_start_up(crates, clock):
    for end in (bpy.app.handlers.undo_pre, bpy.app.handlers.load_pre):
        half_started(clock)
        for handler in list(end):
            if handler.__module__.endswith("playback.guard"):
                handler(None)
        assert preview_guard.starting() is None and preview_guard.current() is None


def test_a_scene_without_bodies_is_refused_once_and_nothing_goes_on(clock):
    crate("Floor").usdphys.rigid_body.is_applied = False
    with pytest.raises(InputError, match="No rigid body"):
        preview_guard.begin(bpy.context)
        preview_guard.go_on(bpy.context, float("inf"))
    assert preview_guard.starting() is None and preview_guard.current() is None


def test_parts_of_work_keep_their_result_and_scale_their_progress():
    def work():
        yield 0.0
        yield 0.5
        return "done"

    def whole():
        return (yield from part(work(), 0.2, 0.6))

    assert list(part(work(), 0.2, 0.6)) == pytest.approx([0.2, 0.4])
    assert finished(whole()) == "done"


# --------------------------------------------------------------------------- the operator in a window


class Window(operators.Player):
    """The operator and its context at once, as far as the operator uses them."""

    ignores_timeline = False

    def __init__(self):
        self.texts, self.reports, self.timers, self.handlers = [], [], 0, 0
        self.window = self.window_manager = self.workspace = self
        self.screen = None
        self.options = types.SimpleNamespace(is_invoke=True, is_repeat=False)

    def __getattr__(self, name):
        return getattr(bpy.context, name)

    def as_pointer(self):
        return 1

    def event_timer_add(self, _seconds, window):
        self.timers += 1
        return window

    def event_timer_remove(self, _timer):
        self.timers -= 1

    def modal_handler_add(self, _operator):
        self.handlers += 1

    def status_text_set(self, text):
        self.texts.append(text)

    def report(self, kind, text):
        self.reports.append((kind, text))

    def event(self, kind):
        return self.modal(self, types.SimpleNamespace(type=kind, value="PRESS", ctrl=False))


@pytest.fixture
def window(clock):
    clock.per_look = operators.SLICE / (STEPS - 0.5)
    made = Window()
    yield made
    made.cancel(made)
    operators.listening.clear()


def test_play_shows_its_progress_lets_no_edit_between_and_then_listens(crates, window):
    assert window.invoke(window, None) == {"RUNNING_MODAL"}
    assert window.event("MOUSEMOVE") == window.event("A") == {"RUNNING_MODAL"}, "an edit would come in between"
    while preview_guard.current() is None:
        assert window.event("TIMER") == {"RUNNING_MODAL"}
    *progress, last = window.texts
    shares = [int(text.split("(")[1].split("%")[0]) for text in progress]
    assert len(shares) > 5 and shares == sorted(shares) and shares[0] < 20 and shares[-1] > 80
    assert all("Esc: cancel" in text for text in progress) and last == operators.GRAB_HINT
    assert window.timers == window.handlers == 1
    assert preview_guard.current().is_playing
    assert window.event("A") == {"PASS_THROUGH"}
    assert window.event("ESC") == {"CANCELLED"}
    assert preview_guard.current() is None and window.timers == 0 and window.texts[-1] is None


def test_esc_ends_a_start_and_nothing_has_changed(crates, window):
    before = raw()
    window.invoke(window, None)
    window.event("TIMER")
    assert window.event("ESC") == {"CANCELLED"}
    assert window.timers == 0 and window.texts[-1] is None and window.reports[-1][0] == {"INFO"}
    assert preview_guard.starting() is None and preview_guard.current() is None
    assert raw() == before and not operators.listening


def test_a_start_that_something_else_gives_up_ends_its_operator(crates, window):
    window.invoke(window, None)
    preview_guard.stop()
    assert window.event("TIMER") == {"CANCELLED"} and window.timers == 0


def test_a_start_ends_with_its_window(crates, window):
    window.invoke(window, None)
    window.cancel(window)
    assert preview_guard.starting() is None and not operators.listening


def test_a_scene_without_bodies_that_is_found_out_late_ends_the_operator_in_one_sentence(crates, window):
    for obj in crates:
        obj.usdphys.rigid_body.kinematic_enabled = True
    window.invoke(window, None)
    while (status := window.event("TIMER")) == {"RUNNING_MODAL"}:
        pass
    assert status == {"CANCELLED"} and window.timers == 0
    ((kind, text),) = window.reports
    assert kind == {"ERROR"} and "No rigid body can move" in text


def test_a_small_scene_plays_in_the_first_slice(window, clock):
    crate()
    clock.per_look = 0.0
    assert window.invoke(window, None) == {"RUNNING_MODAL"}
    assert window.texts == [operators.GRAB_HINT] and preview_guard.current().is_playing


def test_a_script_gets_the_whole_start_at_once(crates, window):
    assert window.execute(window) == {"RUNNING_MODAL"}
    assert preview_guard.current().is_playing and window.texts == [operators.GRAB_HINT]


def test_a_first_step_is_prepared_in_slices_too_and_shows_one_frame(crates, window):
    window.play = types.MethodType(operators.USDPHYS_OT_preview_step.play, window)
    assert window.invoke(window, None) == {"RUNNING_MODAL"} and preview_guard.current() is None
    while preview_guard.current() is None:
        assert window.event("TIMER") == {"RUNNING_MODAL"}
    assert preview_guard.current().world.time == pytest.approx(1 / bpy.context.scene.render.fps, rel=0.3)
    assert not preview_guard.current().is_playing


def play_timeline():
    for handler in bpy.app.handlers.animation_playback_pre:
        handler(bpy.context.scene, None)


def test_space_does_not_wait_for_a_large_scene_where_a_window_can_show_its_progress(crates, clock, monkeypatch):
    waiting = []
    monkeypatch.setattr(preview_guard, "after_slice", [lambda: waiting.append(preview_guard.starting())])
    bpy.context.scene.usdphys.preview.with_timeline = True
    clock.per_look = preview_guard.SLICE / STEPS
    play_timeline()
    assert waiting == [preview_guard.starting()] and 0.0 < waiting[0].fraction < 1.0
    assert preview_guard.current() is None
    preview_guard.stop()
    clock.per_look = 0.0
    play_timeline()
    assert len(waiting) == 1 and preview_guard.timeline() is not None, "a small scene begins with the handler"


def test_a_bake_prepares_in_slices_and_esc_then_leaves_the_scene_as_it_was(crates, clock):
    bpy.context.scene.frame_set(7)
    before = raw()
    clock.per_look = bake.SLICE / STEPS
    steps = bake.bake_steps(bpy.context, 1, 3)
    shares = [next(steps) for _ in range(4)]
    assert shares == sorted(shares) and 0.0 < shares[-1] < bake.STARTED
    steps.close()
    assert bpy.context.scene.frame_current == 7 and raw() == before
    assert bake.bake(bpy.context, 1, 3) == BODIES
