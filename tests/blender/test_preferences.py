"""Preferences: defaults of exports and new files, and an add-on that leaves nothing behind when it is disabled."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import scene_watch
from usdphys_ext.usdphys_addon.checks import live as checks
from usdphys_ext.usdphys_addon.exchange import usd_hooks
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.worker import jobs

from . import scenes

MENUS = ("TOPBAR_MT_file_export", "TOPBAR_MT_file_import", "VIEW3D_MT_object")


@pytest.fixture(scope="module")
def preferences() -> Any:
    return sys.modules["usdphys_ext.preferences"]


def chosen(**values: Any) -> Any:
    """The preferences as the user may have set them."""
    return SimpleNamespace(**{"export_units": "SCENE", "export_hierarchy": "NESTED", **values})


# --------------------------------------------------------------------------- defaults


def test_export_starts_with_the_preferences(preferences):
    stage = bpy.context.scene.usdphys.stage
    expected = {"meters_per_unit": 1.0, "kilograms_per_unit": 1.0, "up_axis": "Z", "hierarchy": "NESTED"}
    assert preferences.export_defaults(None, stage) == expected
    assert preferences.export_defaults(chosen(), stage) == expected
    other = preferences.export_defaults(chosen(export_units="CENTIMETERS", export_hierarchy="FLAT"), stage)
    assert other == {**expected, "meters_per_unit": 0.01, "hierarchy": "FLAT"}


def test_what_the_scene_sets_counts_more(preferences):
    stage = bpy.context.scene.usdphys.stage
    scenes.assign(stage, meters_per_unit=0.5, hierarchy="RESET")
    found = preferences.export_defaults(chosen(export_units="MILLIMETERS", export_hierarchy="FLAT"), stage)
    assert (found["meters_per_unit"], found["hierarchy"]) == (0.5, "RESET")


def test_new_files_start_with_the_quality_of_the_preferences(preferences):
    settings = bpy.context.scene.usdphys.preview
    wanted = SimpleNamespace(preview_frequency=60, preview_substeps=0, preview_with_timeline=False)
    preferences.set_preview_defaults(wanted, bpy.data.scenes)
    assert not settings.is_property_set("frequency") and not settings.is_property_set("substeps")
    wanted = SimpleNamespace(preview_frequency=240, preview_substeps=4, preview_with_timeline=True)
    preferences.set_preview_defaults(wanted, bpy.data.scenes)
    assert (settings.frequency, settings.substeps, settings.with_timeline) == (240, 4, True)
    wanted = SimpleNamespace(preview_frequency=120, preview_substeps=4, preview_with_timeline=False)
    preferences.set_preview_defaults(wanted, bpy.data.scenes)
    assert settings.frequency == 240 and settings.with_timeline


def test_defaults_are_those_of_the_properties(preferences):
    made = preferences.USDPHYS_Preferences.bl_rna.properties
    settings = type(bpy.context.scene.usdphys.preview).bl_rna.properties
    for name in ("frequency", "substeps"):
        assert made[f"preview_{name}"].default == settings[name].default
        assert made[f"preview_{name}"].hard_max == settings[name].hard_max
    for name in preferences.OVERLAY_COLOURS:
        assert made[name].array_length == 4
        assert made[name].subtype == "COLOR_GAMMA"
    assert len({tuple(made[name].default_array) for name in preferences.OVERLAY_COLOURS}) == 5


# --------------------------------------------------------------------------- what they switch


@pytest.mark.parametrize(
    ("name", "hook", "other"),
    [
        ("add_to_usd_export", usd_hooks.USDPHYS_ExportHook, usd_hooks.USDPHYS_ImportHook),
        ("add_to_usd_import", usd_hooks.USDPHYS_ImportHook, usd_hooks.USDPHYS_ExportHook),
    ],
)
def test_a_hook_on_blenders_own_usd_is_there_as_long_as_it_is_wanted(name, hook, other):
    with scenes.enabled() as preferences:
        setattr(preferences, name, False)
        assert (usd_hooks.is_registered(hook), usd_hooks.is_registered(other)) == (False, True)
        setattr(preferences, name, True)
        assert (usd_hooks.is_registered(hook), usd_hooks.is_registered(other)) == (True, True)


def test_without_checks_while_one_works_a_changed_scene_is_outdated():
    name = bpy.context.scene.name
    with scenes.enabled() as preferences:
        preferences.check_live = False
        checks.check(bpy.context.scene, bpy.context.view_layer)
        assert not checks.is_outdated(name)
        scene_watch.note_edit(name)
        assert checks.is_outdated(name)
        preferences.check_live = True
        assert not checks.is_outdated(name)
    checks.forget()


def test_preferences_are_those_of_the_enabled_add_on(preferences):
    assert preferences.current(bpy.context) is None
    with scenes.enabled() as chosen:
        assert preferences.current(bpy.context) == chosen


@pytest.mark.parametrize(
    ("filepath", "background", "expected"), [("", False, 240), ("/tmp/old.blend", False, 60), ("", True, 60)]
)
def test_only_new_files_in_a_window_start_with_the_quality_of_the_preferences(
    preferences, monkeypatch, filepath, background, expected
):
    """A file that is opened keeps its own, and a script gets the same whatever the preferences are."""
    (handler,) = [one for one in bpy.app.handlers.load_post if one.__module__ == preferences.__name__]
    state = SimpleNamespace(app=SimpleNamespace(background=background), context=bpy.context,
                            data=SimpleNamespace(filepath=filepath, scenes=bpy.data.scenes))  # fmt: skip
    with scenes.enabled() as chosen:
        chosen.preview_frequency = 240
        monkeypatch.setattr(preferences, "bpy", state)
        handler(None)
        monkeypatch.undo()
    assert bpy.context.scene.usdphys.preview.frequency == expected


# --------------------------------------------------------------------------- nothing stays behind


def classes() -> set[str]:
    """Names of all registered classes that could be ours."""
    kinds = (
        bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.AddonPreferences, bpy.types.PropertyGroup,
        bpy.types.Gizmo, bpy.types.GizmoGroup,
    )  # fmt: skip
    made = {cls for kind in kinds for cls in kind.__subclasses__()}
    # Gizmos do not tell.
    found = {cls.__name__ for cls in made if getattr(cls, "is_registered", hasattr(bpy.types, cls.__name__))}
    return found | {name for name in dir(bpy.ops.usdphys) if not name.startswith("_")}


def leftovers() -> dict[str, Any]:
    """All that an add-on can leave in Blender, as far as it can be counted."""
    gc.collect()
    handlers = {name: len(value) for name, value in vars_of_handlers().items()}
    config = bpy.context.window_manager.keyconfigs.addon
    keys = {keymap.name: len(keymap.keymap_items) for keymap in config.keymaps} if config is not None else {}
    menus = {}
    for name in MENUS:
        draw = getattr(bpy.types, name).draw
        menus[name] = len(getattr(draw, "_draw_funcs", ()))
    return {
        "handlers": handlers, "keys": {name: count for name, count in keys.items() if count}, "menus": menus,
        "classes": {name for name in classes() if "usdphys" in name.lower()}, "ops": sorted(dir(bpy.ops.usdphys)),
        "timer": bpy.app.timers.is_registered(jobs.tick), "session": preview_guard.current(),
        "properties": [hasattr(owner, "usdphys") for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.Material)],
        "hooks": [usd_hooks.is_registered(hook)
                  for hook in (usd_hooks.USDPHYS_ExportHook, usd_hooks.USDPHYS_ImportHook)],
    }  # fmt: skip


def vars_of_handlers() -> dict[str, Any]:
    names = [name for name in dir(bpy.app.handlers) if not name.startswith("_")]
    found = {name: getattr(bpy.app.handlers, name) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, list)}


@pytest.mark.slow
def test_enabled_and_disabled_fifty_times(extension):
    # Without the jobs that other tests have asked for.
    extension.unregister()
    extension.register()
    enabled = leftovers()
    assert enabled["classes"] and enabled["ops"] and enabled["keys"]
    extension.unregister()
    try:
        disabled = leftovers()
        assert not disabled["timer"]
        assert disabled["classes"] == set()
        assert disabled["ops"] == []
        assert "Object Mode" in enabled["keys"]
        assert "Object Mode" not in disabled["keys"]
        assert disabled["properties"] == [False] * 3
        assert disabled["hooks"] == [False] * 2
        assert all(enabled["menus"][name] > disabled["menus"][name] for name in MENUS)
        for _ in range(50):
            extension.register()
            checks.unregister()
            checks.register(is_live=True)
            assert jobs.is_waiting(checks.watch) and bpy.app.timers.is_registered(jobs.tick)
            extension.unregister()
        assert leftovers() == disabled
    finally:
        extension.register()
    assert leftovers() == enabled
