# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges between the same two bodies by different axes: what each moves is decided by their order, which files keep."""

from __future__ import annotations

import bpy
import pytest
from usdphys_ext.usdphys_addon.core.stacks import stacks
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import scenes

pytestmark = pytest.mark.slow
#: Their names are in no order.
NAMES = ("roll", "pitch", "yaw", "alpha", "zeta")
AXES = "XYZYX"
KINDS = ("REVOLUTE", "REVOLUTE", "REVOLUTE", "PRISMATIC", "PRISMATIC")


def leg(names=NAMES):
    hip, shin = scenes.solid("hip", location=(0, 0, 3)), scenes.solid("shin", (0.1, 0.1, 0.4), location=(0, 0, 2))
    hip.usdphys.articulation_root.is_applied = True
    scenes.add_joint("hold", "FIXED", None, hip, location=(0, 0, 3))
    for name, axis, kind in zip(names, AXES, KINDS, strict=False):
        scenes.add_joint(name, kind, hip, shin, location=(0, 0, 2.5)).usdphys.joint.axis = axis
    bpy.context.view_layer.update()


def order(model):
    (stack,) = stacks(model)
    return [prim.name for prim in stack.joints]


@pytest.mark.parametrize("options", [{}, {"hierarchy": "flat"}])
def test_a_file_has_the_joints_of_a_stack_in_the_order_of_the_scene(tmp_path, options):
    """Blender writes objects in any order: the file moved another way than the preview."""
    leg()
    assert order(scenes.read_model()) == list(NAMES)
    for number in range(4):
        stage, _ = scenes.export(tmp_path / f"leg{number}.usda", **options)
        assert order(usd_read.read_stage(stage)) == list(NAMES)


def test_a_joint_that_is_added_to_an_imported_stack_comes_last(tmp_path):
    leg(NAMES[:3])
    file = tmp_path / "leg.usda"
    scenes.export(file)
    bpy.ops.wm.read_homefile(use_empty=True)
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
    assert order(scenes.read_model()) == list(NAMES[:3])
    hip, shin = bpy.data.objects["hip"], bpy.data.objects["shin"]
    scenes.add_joint("alpha", "PRISMATIC", hip, shin, location=(0, 0, 2.5)).usdphys.joint.axis = "Y"
    bpy.context.view_layer.update()
    now = order(scenes.read_model())
    stage, _ = scenes.export(tmp_path / "more.usda")
    assert order(usd_read.read_stage(stage)) == now == [*NAMES[:3], "alpha"]
