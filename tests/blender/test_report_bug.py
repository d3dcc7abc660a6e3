# SPDX-License-Identifier: GPL-3.0-or-later
"""A bug report has what its reader asks for first: versions, machine, and what went wrong last."""

from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from usdphys_ext import panels
from usdphys_ext.operators import report_bug
from usdphys_ext.operators.outcome import refuse
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.system import faults
from usdphys_ext.usdphys_addon.system.version import addon_version

from . import scenes
from .layout_recorder import LayoutRecorder


@pytest.fixture(autouse=True)
def _fresh():
    faults.forget()
    yield
    faults.forget()


def lines():
    return dict(line.split(": ", 1) for line in report_bug.facts().splitlines() if ": " in line)


def test_the_report_names_all_versions_and_the_platform():
    found = lines()
    assert found["USD Physics"].startswith(addon_version()) and "usdphys_ext" in found["USD Physics"]
    assert found["Blender"].startswith(bpy.app.version_string)
    assert found["USD"].replace(" ", "").startswith("0,2")
    assert found["Rapier"].count(".") == 2 and found["Platform"] and found["Mode"] == "module"
    assert found["Refusal"] == found["Fault"] == "none"


def test_an_operator_that_fails_leaves_its_traceback(monkeypatch):
    scenes.select(scenes.solid("Crate"))

    def fail(*_arguments, **_options):
        raise ZeroDivisionError("crossed wires")

    monkeypatch.setattr("usdphys_ext.usdphys_addon.authoring.tagging.tag", fail)
    with pytest.raises(RuntimeError, match="crossed wires"):
        bpy.ops.usdphys.make_dynamic()
    report = report_bug.facts()
    assert "Fault: Traceback" in report and "ZeroDivisionError: crossed wires" in report
    # The folder of the checkout is not named.
    assert "usdphys_addon/operators/" in report
    assert str(Path.home()) not in report


def test_a_panel_that_fails_leaves_its_traceback():
    cls = next(cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel))
    with pytest.raises(AttributeError):
        cls.draw(object(), None)
    assert "AttributeError" in faults.last_fault()


def test_a_refusal_is_kept_beside_the_fault_and_does_not_replace_it():
    class Operator:
        class options:  # noqa: N801
            is_repeat = False

        @staticmethod
        def report(_kind, _text):
            return None

    try:
        raise ValueError("of ours")
    except ValueError:
        faults.tell()
    refuse(Operator, InputError(f"'{Path.home() / 'a.usda'}' is not there."))
    assert "ValueError: of ours" in faults.last_fault()
    assert faults.last_refusal() == f"'{Path('~') / 'a.usda'}' is not there."


def test_the_operator_says_where_the_facts_go(monkeypatch):
    opened, said = [], []
    monkeypatch.setattr(report_bug, "address", lambda: "")
    monkeypatch.setattr(report_bug, "finish", lambda _operator, text: said.append(text) or {"FINISHED"})
    assert bpy.ops.usdphys.report_bug() == {"FINISHED"}
    monkeypatch.setattr(report_bug, "address", lambda: "https://example.org/issues")
    monkeypatch.setattr(report_bug, "open_page", opened.append)
    assert bpy.ops.usdphys.report_bug() == {"FINISHED"}
    assert opened == ["https://example.org/issues"]
    assert "authors of this build" in said[0] and "https://example.org/issues" in said[1]


def test_a_build_that_is_no_release_has_no_address():
    assert report_bug.address() == ""


def test_the_preferences_have_the_button():
    from usdphys_ext import preferences

    layout = LayoutRecorder()
    preferences.USDPHYS_Preferences.draw_help(SimpleNamespace(layout=layout))
    assert [one.name for one in layout.buttons()][:2] == ["usdphys.manual", "usdphys.report_bug"]
