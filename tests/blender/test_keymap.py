"""Shortcuts: those of Blender's default keymap stay what they are; ours come and go with the add-on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

KEYMAPS = (
    "Object Mode", "3D View", "3D View Generic", "Window", "Screen", "Screen Editing", "Frames", "Object Non-modal",
    "User Interface",
)  # fmt: skip
MODIFIERS = ("shift", "ctrl", "alt", "oskey")


@pytest.fixture(scope="module")
def keymap() -> Any:
    return sys.modules["usdphys_ext.keymap"]


@pytest.fixture(scope="module")
def defaults() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """(operator, event) of Blender's default keymaps by name; a Blender without a window has only their source."""
    folder = bpy.utils.system_resource("SCRIPTS", path="presets/keyconfig")
    spec = importlib.util.spec_from_file_location("default_keys", Path(folder, "keymap_data", "blender_default.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for name, _, content in module.generate_keymaps(module.Params()):
        if name in KEYMAPS:
            found[name] = [(item[0], item[1]) for item in content["items"]]
    return found


def pressed(event: dict[str, Any]) -> tuple[Any, ...]:
    return (event["type"], *(bool(event.get(name)) for name in MODIFIERS))


def ours(keymap: Any) -> list[Any]:
    config = bpy.context.window_manager.keyconfigs.addon
    return [item for item in config.keymaps[keymap.KEYMAP].keymap_items if keymap.is_ours(item)]


def test_defaults_are_there(defaults):
    assert set(defaults) == set(KEYMAPS)
    assert ("LEFT_ARROW", True, False, False, False) in [pressed(event) for _, event in defaults["Frames"]]
    assert len(defaults["Object Mode"]) > 20


@pytest.fixture(params=["SHIFT_ALT", "SHIFT_CTRL"])
def held(request: pytest.FixtureRequest, keymap: Any) -> Iterator[str]:
    """The keys that a user has chosen to hold."""
    keymap.hold(SimpleNamespace(shortcut_keys=request.param), None)
    yield request.param
    keymap.unregister()
    keymap.register()


def test_no_shortcut_of_blender_is_taken(keymap, defaults, held):
    taken = {pressed(event): (name, operator) for name, items in defaults.items() for operator, event in items}
    always = {event["type"] for items in defaults.values() for _, event in items if event.get("any")}
    items = ours(keymap)
    assert len(items) == len(keymap.KEYS)
    for item in items:
        keys = (item.type, item.shift_ui, item.ctrl_ui, item.alt_ui, item.oskey_ui)
        assert keys not in taken, taken.get(keys)
        assert item.type not in always
    assert len({(item.type, item.shift, item.alt) for item in items}) == len(items)


def test_shortcuts_call_what_is_there(keymap):
    for item in ours(keymap):
        if item.idname == "wm.call_menu_pie":
            assert item.properties.name == "USDPHYS_MT_pie"
            assert hasattr(bpy.types, item.properties.name)
            assert (item.type, item.shift, item.alt, item.ctrl) == ("P", True, True, False)
        else:
            module, name = item.idname.split(".")
            assert getattr(getattr(bpy.ops, module), name).get_rna_type()


def test_shortcuts_go_with_the_addon(keymap):
    keymap.unregister()
    try:
        assert ours(keymap) == []
    finally:
        keymap.register()
    assert len(ours(keymap)) == len(keymap.KEYS)


def test_a_user_chooses_the_keys_that_are_held(keymap, held):
    assert len(ours(keymap)) == len(keymap.KEYS)
    for item in ours(keymap):
        assert (item.shift, item.alt, item.ctrl) == (True, held == "SHIFT_ALT", held == "SHIFT_CTRL")


def test_windows_gets_keys_that_do_not_switch_its_keyboard(keymap, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("keymap_of_windows", keymap.__file__)
    there = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(there)
    assert there.DEFAULT == "SHIFT_CTRL" != keymap.DEFAULT


def test_users_see_them(keymap):
    if not bpy.context.window_manager.keyconfigs.user:
        pytest.skip("no keymaps of a user")
    bpy.context.window_manager.keyconfigs.update()
    names = [item.idname for _, item in keymap.user_items(bpy.context)]
    assert names == [operator for operator, _, _ in keymap.KEYS]


def test_shortcuts_are_those_of_the_readme(keymap):
    found = {item.type: (item.idname, item.shift, item.alt, item.ctrl, item.value) for item in ours(keymap)}
    assert found == {
        key: (operator, True, True, False, "PRESS")
        for key, operator in (
            ("SPACE", "usdphys.preview_play"), ("RIGHT_ARROW", "usdphys.preview_step"),
            ("LEFT_ARROW", "usdphys.preview_reset"), ("W", "usdphys.why"), ("P", "wm.call_menu_pie"),
        )
    }  # fmt: skip
