"""The imported USD inside of the .blend: an export puts the edits on it after it is gone from the disk."""

import shutil

import bpy
import pytest
from pxr import Sdf, Usd
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import blend_file, packed_source, scene_export, source_export, usd_import
from usdphys_ext.usdphys_addon.exchange.usd_export import ExportOptions

CRATE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World" ( {layers} )
{{
    custom string studio:note = "keep me"
    def Cube "Crate" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"] )
    {{
        double size = 1
        float physics:mass = 2
        float[] studio:numbers = [1, 2]
    }}
}}
"""
WHEEL = """#usda 1.0
(
    defaultPrim = "Wheel"
)
def Xform "Wheel"
{
    custom string studio:wheel = "round"
}
"""


@pytest.fixture
def alone(tmp_path):
    """A file that names no other."""
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "crate.usda"
    file.write_text(CRATE.format(layers=""))
    return file


@pytest.fixture
def divided(tmp_path):
    """A file that refers to one of another folder."""
    for folder in ("in/robots", "in/parts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "in/parts/wheel.usda").write_text(WHEEL)
    file = tmp_path / "in/robots/car.usda"
    file.write_text(CRATE.format(layers="prepend references = @../parts/wheel.usda@"))
    return file


def imported(file, **options):
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions(**options))


def edited_export(target, form="auto"):
    bpy.data.objects["Crate"].usdphys.mass.mass = 7.0
    result = scene_export.export_scene(bpy.context, target, ExportOptions(), form)
    stage = Usd.Stage.Open(str(target))
    assert stage.GetPrimAtPath("/World/Crate").GetAttribute("physics:mass").Get() == 7.0
    return result, stage


def reopened(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))


def codes(result):
    return {issue.code for issue in result.issues}


@pytest.mark.parametrize("loss", ["gone", "changed"])
def test_a_packed_file_serves_when_the_one_on_the_disk_is_lost(tmp_path, alone, loss):
    imported(alone, pack=True)
    reopened(tmp_path)
    if loss == "gone":
        shutil.rmtree(alone.parent)
    else:
        alone.write_text(CRATE.format(layers="").replace("keep me", "something else"))
    result, stage = edited_export(tmp_path / "out.usda")
    assert "ComposedByBlender" not in codes(result)
    assert stage.GetPrimAtPath("/World").GetAttribute("studio:note").Get() == "keep me"
    text = (tmp_path / "out.usda").read_text()
    assert "studio:numbers = [1, 2]" in text and "usdphys_packed" not in text and "PhysicsScene" not in text


def test_without_a_pack_the_loss_is_named(tmp_path, alone):
    imported(alone)
    reopened(tmp_path)
    shutil.rmtree(alone.parent)
    result, _ = edited_export(tmp_path / "out.usda")
    assert "ComposedByBlender" in codes(result)


def test_the_file_on_the_disk_is_used_while_it_is_what_was_imported(alone):
    imported(alone, pack=True)
    assert source_export.source_of(bpy.context.scene) == alone


def test_a_file_that_names_others_is_unpacked_first_and_stands_to_them_as_it_did(tmp_path, divided):
    imported(divided)
    assert bpy.ops.usdphys.pack_source() == {"FINISHED"}
    reopened(tmp_path)
    shutil.rmtree(tmp_path / "in")
    result, _ = edited_export(tmp_path / "composed.usda")
    told = next(issue for issue in result.issues if issue.code == "ComposedByBlender")
    assert told.fix == packed_source.UNPACK
    with pytest.raises(InputError, match="is gone"):
        edited_export(tmp_path / "copy.usda", "copy")

    assert bpy.ops.usdphys.unpack_source(directory=str(tmp_path / "back")) == {"FINISHED"}
    assert (tmp_path / "back/robots/car.usda").is_file() and (tmp_path / "back/parts/wheel.usda").is_file()
    assert packed_source.size(bpy.context.scene) == 0 and not bpy.ops.usdphys.unpack_source.poll()
    result, stage = edited_export(tmp_path / "out.usda", "layer")
    assert stage.GetPrimAtPath("/World").GetAttribute("studio:wheel").Get() == "round"
    assert Sdf.Layer.FindOrOpen(str(tmp_path / "out.usda")).subLayerPaths


def test_a_layer_over_what_is_in_the_blend_alone_is_refused(tmp_path, alone):
    imported(alone, pack=True)
    alone.unlink()
    with pytest.raises(InputError, match=r"nowhere but in the .blend.*Unpack Imported USD"):
        edited_export(tmp_path / "layer.usda", "layer")
    assert not (tmp_path / "layer.usda").exists()


def test_unpacking_replaces_no_other_file(tmp_path, alone):
    imported(alone, pack=True)
    (tmp_path / "back").mkdir()
    (tmp_path / "back/crate.usda").write_text("another")
    with pytest.raises(RuntimeError, match="exists and is another file"):
        bpy.ops.usdphys.unpack_source(directory=str(tmp_path / "back"))
    assert (tmp_path / "back/crate.usda").read_text() == "another" and packed_source.size(bpy.context.scene)


def test_a_file_that_has_changed_is_not_packed_as_what_was_imported(alone):
    imported(alone)
    alone.write_text(CRATE.format(layers="").replace("keep me", "something else"))
    with pytest.raises(RuntimeError, match="no longer what was imported"):
        bpy.ops.usdphys.pack_source()
    alone.unlink()
    with pytest.raises(RuntimeError, match="is gone and cannot be packed"):
        bpy.ops.usdphys.pack_source()


def test_the_next_import_takes_the_pack_of_the_last_one_along(alone, divided):
    imported(alone, pack=True)
    imported(divided)
    assert packed_source.size(bpy.context.scene) == 0


@pytest.mark.parametrize("damage", ["cut", "flipped", "leads_out"])
def test_a_damaged_pack_is_a_sentence(tmp_path, alone, damage):
    imported(alone, pack=True)
    alone.unlink()
    memory = bpy.context.scene.usdphys.source
    data = memory["packed"]
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data = data[:60] + bytes([data[60] ^ 255]) + data[61:]
    else:
        data = data.replace(b"crate.usda", b"../../crat")
    del memory["packed"]
    memory["packed"] = data
    with pytest.raises(InputError, match="damaged" if damage != "leads_out" else "leads out of the folder"):
        packed_source.unpack(bpy.context.scene, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_an_import_names_what_it_cannot_pack(alone, monkeypatch):
    monkeypatch.setattr(packed_source, "pack", lambda scene, source: [alone.with_name("far.png")])
    result = usd_import.import_usd(bpy.context, alone, usd_import.ImportOptions(pack=True))
    assert ["far.png" in issue.message for issue in result.issues if issue.code == "SourceNotPacked"] == [True]


def test_packing_twice_is_packing_once(tmp_path, alone):
    imported(alone, pack=True)
    size = packed_source.size(bpy.context.scene)
    assert bpy.ops.usdphys.pack_source() == {"FINISHED"} and packed_source.size(bpy.context.scene) == size
    content = alone.read_bytes()
    alone.unlink()
    assert packed_source.unpack(bpy.context.scene, tmp_path / "back").read_bytes() == content


def test_the_pack_is_read_when_the_file_is_loaded_elsewhere(tmp_path, alone):
    imported(alone, pack=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    alone.unlink()
    blend_file.open_blend(str(tmp_path / "scene.blend"))
    _, stage = edited_export(tmp_path / "out.usdc")
    assert stage.GetPrimAtPath("/World").GetAttribute("studio:note").Get() == "keep me"
