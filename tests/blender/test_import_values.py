"""What an import leaves in Blender: nothing of the file is lost on a save, nothing is said that is not so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.exchange import usd_import


def import_usd(path: Path, text: str, **options: Any) -> Any:
    path.write_text(f'#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n{text}')
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(**options))


STAGE_WIDE = """
def Scope "Looks"
{
    def Material "Unused" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.125
    }
}
def PhysicsScene "Scene"
{
    float physics:gravityMagnitude = 1.5
}
def PhysicsCollisionGroup "Group" (prepend apiSchemas = ["CollectionAPI:colliders"])
{
    prepend rel collection:colliders:includes = </Box>
}
def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    double size = 1
}
"""


def test_what_lives_in_the_scene_and_in_materials_is_not_missed(tmp_path):
    result = import_usd(tmp_path / "stage.usda", STAGE_WIDE)
    assert result.issues == []
    assert result.counts == {"scenes": 1, "materials": 1, "colliders": 1, "groups": 1}


@pytest.mark.parametrize("attach", [False, True])
def test_a_physics_material_that_nothing_uses_is_still_there_after_a_save(tmp_path, attach):
    import_usd(tmp_path / "stage.usda", STAGE_WIDE, attach=attach)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "stage.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "stage.blend"))
    assert bpy.data.materials["Unused"].usdphys.physics_material.dynamic_friction == 0.125
