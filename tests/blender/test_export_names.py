# SPDX-License-Identifier: GPL-3.0-or-later
"""The name that a dialog of an export begins with."""

from types import SimpleNamespace

import bpy
import pytest
from usdphys_ext.operators.files import usd_file
from usdphys_ext.usdphys_addon.exchange import urdf_import
from usdphys_ext.usdphys_addon.usd import robot_files

ROBOT = '<robot name="arm"><link name="base"><inertial><mass value="1"/></inertial></link></robot>'


class Dialog(usd_file.NamedExport):
    """An operator, as far as its name is concerned."""

    filename_ext = ".xml"

    def __init__(self, filepath: str) -> None:
        self.filepath = filepath


@pytest.mark.parametrize(("given", "shown"), [("", "my arm.xml"), ("/tmp/other.xml", "/tmp/other.xml")])
def test_an_export_of_an_imported_robot_has_its_name_until_the_blend_file_has_one(tmp_path, given, shown) -> None:
    """It was Untitled."""
    file = tmp_path / "my arm.urdf"
    file.write_text(ROBOT, encoding="utf-8")
    urdf_import.import_urdf(bpy.context, file, robot_files.RobotOptions())
    manager = SimpleNamespace(fileselect_add=lambda _operator: None)
    context = SimpleNamespace(scene=bpy.context.scene, window_manager=manager, blend_data=bpy.data)
    dialog = Dialog(given)
    dialog.invoke(context, None)
    assert dialog.filepath == shown
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "cell.blend"))
    saved = Dialog("")
    saved.invoke(context, None)
    assert saved.filepath == str(tmp_path / "cell.xml")
