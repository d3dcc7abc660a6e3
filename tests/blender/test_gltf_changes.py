# SPDX-License-Identifier: GPL-3.0-or-later
"""What Changed of a scene that was imported from glTF: the file is imported again, and compared value by value."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import source_report
from usdphys_ext.usdphys_addon.bridge.identity import remembered
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import gltf_export, gltf_import, source_changes, source_revert, usd_import
from usdphys_ext.usdphys_addon.gltf import additions

from . import test_source_changes as of_usd
from .gltf_scenes import enabled
from .test_source_changes import blocks, drawn, of, texts


@pytest.fixture
def make(tmp_path):
    """Writes the door of the tests of USD files as glTF, and empties Blender. keeps_usd: with what glTF cannot say."""

    def made(*, keeps_usd=True, name="door.glb"):
        (tmp_path / "door.usda").write_text(of_usd.DOOR)
        usd_import.import_usd(bpy.context, tmp_path / "door.usda", usd_import.ImportOptions())
        gltf_export.export_gltf(bpy.context, tmp_path / name, additions.WriteOptions(keeps_usd=keeps_usd))
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        return tmp_path / name

    return made


@pytest.fixture(params=[True, False], ids=["kept", "plain"])
def door(request, make):
    file = make(keeps_usd=request.param)
    gltf_import.import_gltf(file)
    bpy.context.view_layer.update()
    return file


def collider() -> None:
    of("Frame").usdphys.colliders.clear()


#: Edits, and how what is said of them beside glTF begins. The last one renames the door.
EDITS = [
    (of_usd.mass, "'Gate': mass is 12 kg; was 10 kg"),
    (of_usd.stiffness, "'Hinge': stiffness (angular) is 0.0006 N·m/°; was 0.0003 N·m/°"),
    (collider, "'Frame' has no collision any more"),
    (of_usd.density, "'Oak': density is 650 kg/m³; was "),
    (of_usd.move, "'Gate' is moved by 0.5 m"),
    (of_usd.new_object, "'Ball' is new"),
    (of_usd.delete_joint, "'Hinge' is deleted"),
    (of_usd.delete, "'Knob' is deleted"),
    (of_usd.mesh, "The mesh or data of 'Leaf' is edited"),
    (of_usd.look, "The look of the material 'Oak' is edited"),
    (of_usd.custom, "The custom properties of 'Gate' are edited"),
    (of_usd.rename, "'Gate' is renamed; was 'Door'"),
]


@pytest.mark.slow
def test_edits_of_all_kinds_are_said_and_taken_back(door):
    assert texts() == []
    before = blocks()
    for edit, _ in EDITS:
        if edit is of_usd.delete_joint:
            assert any(text.startswith(EDITS[1][1]) for text in texts())
        edit()
    found = texts()
    for edit, said in EDITS:
        assert edit is of_usd.stiffness or any(text.startswith(said) for text in found), (said, found)
    number, left = source_revert.revert_all(bpy.context)
    assert number >= len(EDITS) - 1 and left == [] and texts() == []
    assert {kind: blocks()[kind] for kind in ("objects", "materials")} == {
        kind: before[kind] for kind in ("objects", "materials")
    }
    assert of("Door").usdphys.mass.mass == 10.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit", [of_usd.reparent, of_usd.extra_collider, of_usd.delete_tree], ids=lambda one: one.__name__
)
def test_an_edit_of_structure_is_taken_back(door, edit):
    edit()
    assert texts()
    assert source_revert.revert_all(bpy.context)[1] == [] and texts() == []


@pytest.mark.slow
def test_one_edit_is_taken_back_and_the_others_stay(make):
    gltf_import.import_gltf(make(keeps_usd=False))
    of_usd.mass()
    of_usd.limit()
    found = source_changes.compare(bpy.context).changes
    assert [change.text for change in found] == [
        "'Door': mass is 12 kg; was 10 kg",
        "'Hinge': upper limit is 110°; was 0°",
    ]
    assert source_revert.revert(bpy.context, [found[0].key]) == []
    assert texts() == ["'Hinge': upper limit is 110°; was 0°"] and of("Door").usdphys.mass.mass == 10.0


@pytest.mark.slow
def test_the_panel_compares_and_the_comparison_is_no_edit(make):
    file = make(keeps_usd=False, name="door.gltf")
    with enabled():
        bpy.ops.import_scene.gltf(filepath=str(file), merge_vertices=True)
    names = {obj.name for obj in bpy.data.objects}
    of_usd.mass()
    assert bpy.ops.usdphys.compare_source() == {"FINISHED"}
    assert not source_report.is_outdated(bpy.context.scene.name)
    layout = drawn()
    assert "'Door': mass is 12 kg; was 10 kg" in " ".join(layout.labels())
    assert "Imported from door.gltf" in layout.labels()
    assert bpy.ops.usdphys.revert_change(**layout.buttons("usdphys.revert_change")[0].values) == {"FINISHED"}
    assert "Nothing differs from the source" in drawn().labels()
    assert {obj.name for obj in bpy.data.objects} == names and len(bpy.data.scenes) == 1


@pytest.mark.slow
def test_the_comparison_survives_saving_and_needs_the_file_as_it_was(tmp_path, make):
    file = make()
    gltf_import.import_gltf(file)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "door.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "door.blend"))
    assert texts() == []
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(InputError, match=r"'door.glb'.* has changed since"):
        source_changes.compare(bpy.context)
    file.unlink()
    with pytest.raises(InputError, match="is gone"):
        source_changes.compare(bpy.context)


@pytest.mark.slow
def test_what_was_imported_last_is_the_source(tmp_path, make):
    file = make(keeps_usd=False)
    gltf_import.import_gltf(file)
    gltf_import.import_gltf(file)
    with pytest.raises(InputError, match=r"'door.glb' was imported into the scene, too"):
        source_changes.compare(bpy.context)
    usd_import.import_usd(bpy.context, tmp_path / "door.usda", usd_import.ImportOptions())
    assert remembered.source_file(bpy.context.scene).endswith("door.usda")


@pytest.mark.parametrize("keeps_usd", [True, False], ids=["kept", "plain"])
def test_a_material_of_the_scene_keeps_its_own_physics_beside_an_imported_one_of_its_name(make, keeps_usd):
    file = make(keeps_usd=keeps_usd)
    mine = bpy.data.materials.new("Oak")
    mine.use_fake_user = True
    gltf_import.import_gltf(file)
    assert not mine.usdphys.physics_material.is_applied
    assert [one.name for one in bpy.data.materials if one.usdphys.physics_material.is_applied] == ["Oak.001"]
    assert of("Leaf").material_slots[0].material.name == "Oak.001"
