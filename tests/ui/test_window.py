"""What only a window shows. Each test is one driver in drivers/."""

import platform
import zipfile

import pytest
import window

pytestmark = pytest.mark.slow


@pytest.fixture
def mujoco(script, tmp_path, monkeypatch):
    """MuJoCo in the Python of the Blender with USD, as the extension of engines puts it there."""
    build = script("build")
    manifest = (build.ENGINES / build.MANIFEST).read_text(encoding="utf-8")
    machine = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}[platform.machine()]
    (wheel,) = [name for name in build.wheels_of(manifest, machine) if "mujoco" in name and "cp313" in name]
    build.fetch_wheels([wheel])
    with zipfile.ZipFile(build.WHEELS / wheel) as archive:
        archive.extractall(tmp_path / "engines")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "engines"))


def test_physics_tab_draws_and_export_refuses_in_one_sentence(drive):
    log = drive("physics_tab")
    refusal = [line for line in log.splitlines() if line.startswith("REFUSAL:")]
    assert len(refusal) == 1


def test_every_panel_draws(drive):
    drive("panels")


def test_preview_plays_is_grabbed_paused_reset_kept_and_baked(drive):
    drive("preview")


def test_preview_plays_in_a_process_of_its_own_and_survives_its_death(drive):
    log = drive("preview_engine", files=(window.ROOT / "tests" / "stand_in.py",), usd=True)
    assert "PLAYED IN A PROCESS OF ITS OWN" in log


def test_a_large_preview_is_started_while_blender_draws_and_listens(drive):
    assert "ESC ENDED IT" in drive("preview_start")


def test_disabling_the_add_on_and_quitting_while_it_plays_leaves_no_trace(drive):
    assert "QUITS WHILE IT PLAYS" in drive("preview_exit")


def test_preview_shows_what_breaks_and_bears_selection_orbits_animation_and_failures(drive):
    drive("preview_view")


def test_the_preferences_draw_and_a_bug_report_is_in_the_clipboard(drive):
    log = drive("preferences")
    assert "Rapier: 0." in log and "USD: none" in log  # of Debian's Blender


def test_the_sidebar_draws_every_panel(drive):
    drive("sidebar")


def test_the_box_of_the_selection_draws_a_body_several_and_a_joint(drive):
    assert "SELECTION DRAWN" in drive("selection")


def test_tasks_take_few_actions(drive):
    """A door in 6, a table in 2, a car in 6, an arm in 5, a scene of rigid bodies in 2, a stack that is hit in 5."""
    log = drive("tasks")
    assert log.count("ACTIONS ") == 9


def test_tasks_of_the_first_hour_take_few_actions(drive):
    """A pile in 12, a door with a spring in 8, drawers in 6, a car in 5, a ragdoll in 4, a bridge and a wall in 5."""
    assert drive("short_tasks").count("ACTIONS ") == 7


def test_gizmos_are_dragged_undone_and_step_aside(drive):
    drive("gizmos")


def test_overlays_show_each_part_in_every_kind_of_view(drive):
    drive("overlays")


def test_preview_goes_on_in_a_second_window_and_when_its_own_is_closed(drive):
    drive("preview_windows")


def test_space_plays_animation_and_physics_on_one_clock_and_frames_are_scrubbed(drive):
    drive("timeline")


def test_cached_frames_survive_closing_and_are_scrubbed_until_the_physics_changes(drive):
    assert "CACHE SHOWN" in drive("cache")


def test_assets_are_dragged_into_the_scene_appended_linked_and_duplicated_and_play(drive):
    assert "LIBRARY USED" in drive("library")


def test_a_folder_is_converted_while_the_window_stays_in_use_and_esc_stops(drive):
    log = drive("batch_files")
    assert "EDITED WHILE IT RAN" in log and "STOPPED BY ESC" in log


def test_the_first_minutes_hint_sample_manual_and_language(drive):
    drive("first_run")


def test_settings_of_simulators_and_generic_joints_are_drawn(drive):
    drive("joint_settings")


def test_every_panel_of_the_sidebar_draws_in_german_french_japanese_and_chinese(drive):
    drive("words")


def test_generators_settle_with_progress_and_esc_and_one_undo_step_and_their_scenes_play(drive):
    drive("generators")


def test_the_settings_of_a_rope_are_shown_again_and_showing_changes_nothing(drive):
    assert "SETTINGS SHOWN" in drive("edit_generated")


def test_the_dialog_of_blenders_gltf_exporter_has_the_physics_and_its_choices_count(drive):
    assert "glTF dialog: ok" in drive("gltf_dialog")


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_a_robot_is_dropped_adjusted_undone_and_redone_in_one_step_posed_played_and_exported(drive):
    log = drive("robot", files=(window.ROOT / "scripts" / "robot.urdf",), usd=True)
    assert "ADJUSTED" in log and "UNDONE AND REDONE IN ONE STEP" in log and "EXPORTED AS IT CAME" in log
    assert "ACTIONS arm from URDF: 2 of 2" in log


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_each_collection_is_exported_as_an_asset_through_the_file_browser(drive):
    assert "EXPORTED AS USD" in drive("assets", usd=True)


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_the_dialog_of_exports_writes_runtime_variants(drive):
    assert "VARIANTS WRITTEN" in drive("export_variants", usd=True)


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_the_dialog_of_blenders_own_export_writes_physics_that_renders_do_not_show(drive):
    assert "HIDDEN PHYSICS WRITTEN" in drive("native_export", usd=True)


def test_stored_values_are_migrated_beside_the_undo_history_and_newer_ones_are_named(drive):
    drive("stored", files=(window.ROOT / "tests" / "stored" / "0.1.0.blend",))


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_a_file_that_composes_very_many_prims_is_opened_after_a_question_only(drive):
    log = drive("large_file", usd=True)
    assert "ANSWERED Escape 0" in log and "OPENED ANYWAY" in log


def test_a_search_shows_its_paths_and_esc_keeps_the_best(drive):
    log = drive("aims")
    assert "ESC KEPT THE BEST" in log and "CHOSEN" in log


def test_the_cause_is_found_by_a_click_and_a_scene_is_proven_and_shared_in_the_window(drive, mujoco):
    log = drive("cause", usd=True)
    assert "PROVEN: " in log and "SHARED " in log
    assert "CAUSE: Odd parts" in log


def test_other_engines_run_beside_the_preview_and_are_drawn_painted_and_explained(drive):
    assert "BESIDE DRAWN" in drive("beside")


ARM = """<mujoco model="arm"><default><geom rgba="0.8 0.5 0.2 1"/></default><worldbody>
<body name="base"><geom type="box" size=".1 .1 .1" mass="5"/>
<body name="upper" pos="0 0 .1"><joint name="lift" axis="0 1 0" range="-90 90" damping="0.1"/>
<geom type="capsule" size=".04" fromto="0 0 .05 .3 0 .1" mass="1"/>
<body name="hand" pos=".35 0 .1"><joint name="bend" axis="0 1 0" range="-90 90" damping="0.1"/>
<geom type="box" size=".06 .04 .04" mass="0.3"/></body></body></body></worldbody><actuator>
<position joint="lift" kp="30" dampratio="1"/><position joint="bend" kp="10" dampratio="1"/></actuator></mujoco>
"""


@pytest.mark.skipif(not window.WITH_USD.exists(), reason="needs .venvs/bpy-5.2.3, a Blender with USD")
def test_a_model_of_mujoco_is_dropped_played_dragged_and_exported_in_three_formats(drive, mujoco, tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "arm.xml").write_text(ARM, encoding="utf-8")
    log = drive("mujoco_robot", files=(folder,), usd=True)
    assert "DRAGGED" in log and "joints [2, 2, 2]" in log
