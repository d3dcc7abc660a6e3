# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input and full disks: one clear sentence, nothing half-written, the old file intact."""

import gzip
import math
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import environment
from usdphys_ext.usdphys_addon.core.errors import (
    InputError,
    MissingDependencyError,
    OutputError,
    ValidationFailedError,
)
from usdphys_ext.usdphys_addon.exchange import blend_file, scene_export, usd_export
from usdphys_ext.usdphys_addon.system import files

from . import scenes

OLD = "#usda 1.0\n# what was there before\n"


def body(name="Box", location=(0, 0, 0)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=location)
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def joint(name, body0=None, body1=None):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    group = obj.usdphys.joint
    group.is_applied, group.body0, group.body1 = True, body0, body1
    return obj


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "old.usda"
    path.write_text(OLD)
    yield path
    assert path.read_text() == OLD, "the old file was touched"
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.usda"], "something was left behind"


def export(path, **options):
    bpy.context.view_layer.update()
    return usd_export.export_usd(bpy.context, path, usd_export.ExportOptions(**options))


def refusal(path, error=ValidationFailedError):
    """The sentence with which an export is refused; it has to name the file or say what is wrong with it."""
    with pytest.raises(error) as caught:
        export(path, strict=True)
    text = str(caught.value)
    assert "\n" not in text and text.endswith((".", ")")), text
    return text


def test_deleted_body_of_a_joint(target):
    joint("Hinge", body("Door"), body("Frame", (2, 0, 0)))
    bpy.data.objects.remove(bpy.data.objects["Door"])
    text = refusal(target)
    assert "'Hinge'" in text and "'Door'" in text and "deleted" in text


def test_body_taken_out_of_the_scene(target):
    joint("Hinge", body("Door"), body("Frame", (2, 0, 0)))
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Door"])
    assert "'Door'" in refusal(target)


def test_cleared_body_is_the_world(tmp_path):
    hinge = joint("Hinge", body("Door"), body("Frame", (2, 0, 0)))
    hinge.usdphys.joint.body0 = None
    assert export(tmp_path / "new.usda").counts["joints"] == 1


def test_collider_without_geometry(target):
    empty = bpy.data.objects.new("Nothing", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.usdphys.colliders.add()
    assert "'Nothing'" in refusal(target)


def test_mesh_without_faces(target):
    body("Wire").data.clear_geometry()
    assert "'Wire'" in refusal(target)


def test_zero_scale_parent(target):
    parent = bpy.data.objects.new("Flat", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (1, 1, 0)
    body("Child").parent = parent
    text = refusal(target)
    assert "'Child'" in text and "scale" in text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_number_that_is_none(target, value):
    box = body("Box")
    box.usdphys.mass.is_applied = True
    box.usdphys.mass.mass = value
    text = refusal(target)
    assert "'Box'" in text and "mass" in text.lower()


def test_nan_in_a_place(target):
    body("Lost").location = (math.nan, 0, 0)
    assert "'Lost'" in refusal(target)


def test_force_writes_in_spite_of_errors(tmp_path):
    box = body("Box")
    box.usdphys.mass.is_applied = True
    box.usdphys.mass.mass = -1
    result = export(tmp_path / "new.usda")
    assert result.errors and "physics:mass = -1" in (tmp_path / "new.usda").read_text()


@pytest.mark.parametrize(
    ("name", "word"), [("no/such/folder.usda", "folder"), ("old.blend", ".usda"), ("old", ".usda")]
)
def test_target_that_cannot_be(tmp_path, name, word):
    body()
    text = refusal(tmp_path / name, OutputError)
    assert word in text and not list(tmp_path.iterdir())


def test_target_is_a_folder(tmp_path):
    body()
    (tmp_path / "folder.usda").mkdir()
    assert "folder" in refusal(tmp_path / "folder.usda", OutputError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_write_protected_target(target):
    body()
    target.chmod(0o444)
    assert "protected" in refusal(target, OutputError)


def test_write_protection_is_asked_for(target, monkeypatch):
    body()
    monkeypatch.setattr(files.os, "access", lambda path, mode: Path(path) != target)
    assert "protected" in refusal(target, OutputError)


def test_target_that_cannot_be_replaced(target, monkeypatch):
    body()

    def refuse(self, _target):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "replace", refuse)
    assert "old.usda" in refusal(target, OutputError)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz", ".usd", ".blend"])
def test_disk_that_fills_up(tmp_path, suffix):
    """A limit on the size of files stands in for a full disk: writes beyond it fail in the same way."""
    script = tmp_path / "fill.py"
    script.write_text(_FILL)
    path = tmp_path / f"old{suffix}"
    path.write_text(OLD)
    result = subprocess.run(
        [sys.executable, str(script), str(Path(__file__).resolve().parents[1] / "conftest.py"), str(path)],
        capture_output=True, text=True, timeout=900, check=False, preexec_fn=_limit_file_size,
        # Half of a compiled module would end every later process that imports it.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert "REFUSED" in result.stdout, result.stdout + result.stderr
    assert path.read_text() == OLD
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["fill.py", path.name])


def _limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


_FILL = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("alias", sys.argv[1])
spec.loader.exec_module(importlib.util.module_from_spec(spec))
import bpy
from usdphys_ext.usdphys_addon.bridge import props
from usdphys_ext.usdphys_addon.exchange import blend_file, scene_export, usd_export
from usdphys_ext.usdphys_addon.system import files
from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
props.register()
bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=64)
bpy.context.object.usdphys.rigid_body.is_applied = True
bpy.context.object.usdphys.colliders.add()
try:
    if sys.argv[2].endswith(".blend"):
        blend_file.save_blend(sys.argv[2])
    else:
        usd_export.export_usd(bpy.context, sys.argv[2], usd_export.ExportOptions())
except UsdPhysError as error:
    print("REFUSED", error, flush=True)
os._exit(0)
"""


def test_blender_without_usd(target, monkeypatch):
    body()
    monkeypatch.setattr(environment, "usd_is_supported", lambda: False)
    assert "without USD: it reads and writes no USD" in refusal(target, MissingDependencyError)
    assert bpy.ops.usdphys.export_usd.poll() is False


def test_pxr_that_cannot_be_imported(target, monkeypatch):
    body()
    monkeypatch.setitem(sys.modules, "pxr.Usd", None)
    assert "USD" in refusal(target, MissingDependencyError)


def test_hidden_physics_is_said(tmp_path):
    body("Shown")
    body("Hidden").hide_set(True)
    result = export(tmp_path / "new.usda")
    assert result.counts["bodies"] == 1
    assert [(issue.code, issue.label) for issue in result.issues if issue.severity == "warning"] == [
        ("NotExported", "Hidden")
    ]


def test_operator_reports_the_sentence(target):
    joint("Loose")
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.usdphys.export_usd(filepath=str(target), strict=True)
    assert "'Loose'" in str(caught.value)


def test_old_file_is_replaced_in_place(tmp_path):
    path = tmp_path / "old.usda"
    path.write_text(OLD)
    path.chmod(0o640)
    body()
    export(path)
    assert "PhysicsRigidBodyAPI" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.usda"]


@pytest.mark.parametrize("kind", ["curve", "cloud", "instanced"])
def test_object_with_which_blender_crashes_is_named_instead(tmp_path, kind):
    """Blender before 5.2 ends by a segmentation fault on a curve or a point cloud without points."""
    body()
    data = bpy.data.pointclouds.new("Dots") if kind == "cloud" else bpy.data.curves.new("Dots", "CURVE")
    obj = bpy.data.objects.new("Dots", data)
    collection = bpy.context.scene.collection
    if kind == "instanced":
        collection = bpy.data.collections.new("Parts")
        instance = bpy.data.objects.new("Instance", None)
        instance.instance_type, instance.instance_collection = "COLLECTION", collection
        bpy.context.scene.collection.objects.link(instance)
    collection.objects.link(obj)
    if bpy.app.version >= (5, 2):
        assert export(tmp_path / "new.usda").counts["bodies"] == 1
    else:
        with pytest.raises(InputError, match="'Dots', which has no points"):
            export(tmp_path / "new.usda")
        assert not list(tmp_path.iterdir())


def test_empty_curve_that_is_in_no_scene_is_no_obstacle(tmp_path):
    body()
    bpy.data.curves.new("Unused", "CURVE").use_fake_user = True
    assert export(tmp_path / "new.usda").counts["bodies"] == 1


def test_no_script_of_a_blend_is_run_whatever_the_preferences_say(tmp_path):
    mark = tmp_path / "ran"
    text = bpy.data.texts.new("start.py")
    text.write(f"open({str(mark)!r}, 'w')")
    text.use_module = True
    curve = body().driver_add("location", 0)
    curve.driver.expression = f"len(open({str(mark)!r}, 'w').name)"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "evil.blend"))
    mark.unlink(missing_ok=True)
    before = bpy.context.preferences.filepaths.use_scripts_auto_execute
    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    try:
        issues = blend_file.open_blend(str(tmp_path / "evil.blend"))
        bpy.context.view_layer.update()
    finally:
        bpy.context.preferences.filepaths.use_scripts_auto_execute = before
    assert not mark.exists()
    assert [issue.code for issue in issues] == ["ScriptsNotRun"]


def test_a_package_holds_no_file_of_the_machine_that_is_no_asset(tmp_path):
    (secret := tmp_path / "secret").write_text("password")
    image = bpy.data.images.new("Picture", 4, 4)
    image.source, image.filepath = "FILE", str(secret)
    body().data.materials.append(scenes.painted_material("Paint", image))
    export(tmp_path / "new.usdz")
    assert b"password" not in (tmp_path / "new.usdz").read_bytes()


def linked(target, library, name, compress):
    """A file that links a collection of another one."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.collections = [name]
    made = bpy.data.collections.new(target.stem)
    made.children.link(bpy.data.collections[name])
    bpy.context.scene.collection.children.link(made)
    bpy.ops.wm.save_as_mainfile(filepath=str(target), compress=compress)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
@pytest.mark.parametrize("compress", [False, True])
def test_a_blend_that_links_a_pipe_is_refused_and_not_waited_for_also_behind_another_library(tmp_path, compress):
    inner, middle, outer = (tmp_path / f"{name}.blend" for name in ("inner", "middle", "outer"))
    bpy.context.scene.collection.children.link(bpy.data.collections.new("inner"))
    bpy.ops.wm.save_as_mainfile(filepath=str(inner), compress=compress)
    linked(middle, inner, "inner", compress)
    linked(outer, middle, "middle", compress)
    assert not blend_file.open_blend(str(outer))
    inner.unlink()
    os.mkfifo(inner)
    for file in (middle, outer):
        with pytest.raises(InputError, match=r"links to the library '.*inner.blend', which is a device or a pipe"):
            blend_file.open_blend(str(file))
    inner.unlink()
    with pytest.raises(InputError, match=r"inner.blend', which is missing"):
        blend_file.open_blend(str(middle))


def packed(content: bytes, kind: str) -> bytes:
    """kind: how Blender packs a file, since 3.0 and before."""
    if kind == "gzip":
        return gzip.compress(content, 1)
    return pytest.importorskip("zstandard").compress(content)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zstd", "gzip"])
def test_zeros_that_are_packed_are_refused_before_blender_fills_the_memory_with_them(tmp_path, kind):
    file = tmp_path / "zeros.blend"
    file.write_bytes(packed(b"BLENDER-v405" + bytes(300 << 20), kind))
    with pytest.raises(InputError, match=r"unpacks to more than \d+ MB"):
        blend_file.open_blend(str(file))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
def test_a_blend_that_an_old_blender_has_packed_is_opened_and_its_libraries_are_looked_at(tmp_path):
    inner, outer = tmp_path / "inner.blend", tmp_path / "outer.blend"
    bpy.context.scene.collection.children.link(bpy.data.collections.new("inner"))
    bpy.ops.wm.save_as_mainfile(filepath=str(inner), compress=False)
    linked(outer, inner, "inner", False)
    outer.write_bytes(packed(outer.read_bytes(), "gzip"))
    assert not blend_file.open_blend(str(outer))
    inner.unlink()
    os.mkfifo(inner)
    with pytest.raises(InputError, match="which is a device or a pipe"):
        blend_file.open_blend(str(outer))


@pytest.mark.parametrize("kind", ["images", "volumes"])
def test_a_blend_that_reads_a_pipe_is_refused_and_not_waited_for(tmp_path, kind):
    pipe, file = tmp_path / "pipe.png", tmp_path / "scene.blend"
    os.mkfifo(pipe)
    item = bpy.data.images.new("Pipe", 8, 8) if kind == "images" else bpy.data.volumes.new("Pipe")
    if kind == "images":
        item.source = "FILE"
    item.filepath, item.use_fake_user = str(pipe), True
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    with pytest.raises(InputError, match=r"reads '.*pipe.png', which is a device or a pipe"):
        blend_file.open_blend(str(file))


def test_hidden_text_that_a_script_has_changed_costs_the_memory_and_not_the_export(tmp_path):
    """What the import remembers is text in properties that the panels do not show."""
    hinge = joint("Hinge", body("Door"), body("Frame", (2, 0, 0)))
    group = hinge.usdphys.joint
    group.has_remembered_frames = True
    group.remembered_local_pos0, group.remembered_local_rot1 = "Crate", "1 2"
    group.body0, group.body0_path = None, "..//not a path\x7f"
    source = bpy.context.scene.usdphys.source
    source.units, source.default_prim, source.carried = "metres", "9 lives/..", "no USD {"
    bpy.context.view_layer.update()
    result = scene_export.export_scene(bpy.context, tmp_path / "new.usda", usd_export.ExportOptions())
    assert result.counts["joints"] == 1
    assert "not a path" not in (tmp_path / "new.usda").read_text()


def test_a_default_prim_that_a_script_has_changed_costs_its_name_and_not_the_export(tmp_path):
    crate = body("Crate")
    crate.data.materials.append(bpy.data.materials.new("Oak"))
    source = bpy.context.scene.usdphys.source
    source.filepath, source.default_prim = str(tmp_path / "gone.usda"), "9 lives/.."
    bpy.context.view_layer.update()
    result = scene_export.export_scene(bpy.context, tmp_path / "new.usda", usd_export.ExportOptions(), "composed")
    assert result.counts["bodies"] == 1
    assert "9 lives" not in (tmp_path / "new.usda").read_text()


@pytest.mark.parametrize("name", ["carried", "carried_trees", "carried_looks"])
def test_kept_text_that_a_script_has_broken_is_refused_and_says_what_to_do(tmp_path, name):
    body("Crate")
    source = bpy.context.scene.usdphys.source
    source.filepath = str(tmp_path / "gone.usda")
    setattr(source, name, "no USD {")
    bpy.context.view_layer.update()
    with pytest.raises(InputError, match=r"is broken .*; import the file again\.$"):
        scene_export.export_scene(bpy.context, tmp_path / "new.usda", usd_export.ExportOptions(), "composed")
    assert not (tmp_path / "new.usda").exists()
