"""What a .blend stores survives: names, values of all releases, versions, and values that get another name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.bridge import property_values, scene_read
from usdphys_ext.usdphys_addon.bridge.stored import handlers, migrations, stamps
from usdphys_ext.usdphys_addon.system import blend_parts
from usdphys_ext.usdphys_addon.system.version import addon_version, order

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "stored"
FILES = sorted(STORED.glob("*.blend"))
NEWER = "99.0.0"
#: The version, and what loading takes back because no simulation runs then.
NO_VALUES = ("usdphys.version", "preview.is_running")


@pytest.fixture(scope="module")
def scripts():
    """(stored_names, store_blend)"""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        import store_blend
        import stored_names

        yield stored_names, store_blend


def add(name: str = "Box") -> Any:
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


# --------------------------------------------------------------------------- names


def advice(gone: set[str], new: set[str]) -> str:
    """What to do about names that differ from those of the list."""
    said = []
    if gone:
        said.append(
            f"Files hold values under names, numbers or defaults that are not there any more: {sorted(gone)}. Add a "
            "migration for each to bridge/stored/migrations.py (docs/recipes.md, 'Rename a saved property'), "
            "then write the list anew."
        )
    if new:
        said.append(f"Files will hold these, too: {sorted(new)}.")
    return " ".join([*said, "The list is written by: .venv/bin/python scripts/stored_names.py"])


def test_the_names_in_files_are_those_of_the_list(scripts):
    now, listed = set(scripts[0].names()), set(scripts[0].NAMES.read_text(encoding="utf-8").splitlines())
    assert len(now) > 250
    assert now == listed, advice(listed - now, now - listed)


def test_the_list_holds_what_a_change_would_lose(scripts):
    lines = scripts[0].NAMES.read_text(encoding="utf-8").splitlines()
    assert "Object.usdphys.mass.mass FLOAT default 0" in lines
    assert "Object.usdphys.colliders[].axis ENUM X=0 Y=1 Z=2 default Z" in lines
    assert "Scene.usdphys.targets ENUM NEUTRAL=1 NEWTON=2 PHYSX=4 MUJOCO=8 default NEUTRAL" in lines
    assert "Object.usdphys.colliders[].filtered_pairs.filtered_pairs[].object POINTER Object" in lines
    assert 'Action["usdphys_bake"]' in lines
    assert not any(".list_name " in line or ".vendor[].number " in line for line in lines), "these show other values"


# --------------------------------------------------------------------------- files of all releases


def today(path: str, version: str) -> str:
    """The path of a stored value in the groups of today; empty if it is stored no longer."""
    kind, group_name, *parts = path.split(".")
    rna = getattr(bpy.types, kind).bl_rna.properties[group_name].fixed_type
    at = 0
    while at < len(parts):
        for step in migrations.pending(version):
            old = step.old.split(".")
            if step.group == rna.identifier and [part.removesuffix("[]") for part in parts[at : at + len(old)]] == old:
                if not step.new:
                    return ""
                tail = "[]" if parts[at + len(old) - 1].endswith("[]") else ""
                parts[at : at + len(old)] = f"{step.new}{tail}".split(".")
        item = rna.properties.get(parts[at].removesuffix("[]"))
        rna = item.fixed_type if item is not None and item.type in ("POINTER", "COLLECTION") else rna
        at += 1
    return ".".join((kind, group_name, *parts))


def stored_value(path: str) -> Any:
    """The value at a path of `store_blend.values` in the open file; None for one that is not set."""
    kinds: dict[str, Any] = {
        "Object": bpy.data.objects, "Material": bpy.data.materials, "Scene": bpy.data.scenes,
        "Action": bpy.data.actions,
    }  # fmt: skip
    if '["' in path:
        kind, _, key = path.removesuffix('"]').partition('["')
        return kinds[kind]["Stored"].get(key)
    kind, *parts = path.split(".")
    value = kinds[kind]["Stored"]
    for part in parts:
        name = part.removesuffix("[]")
        if not value.is_property_set(name):
            return None
        item, value = value.bl_rna.properties[name], getattr(value, name)
        value = value[0] if part.endswith("[]") else value
    if isinstance(value, bpy.types.ID):
        return value.name
    if item.type == "ENUM" and item.is_enum_flag:
        return sorted(value)
    return list(value) if getattr(item, "array_length", 0) else value


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_value_of_a_release_is_there(file):
    wanted = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(file))
    converted = {
        (step.group, step.new.rpartition(".")[2]) for step in migrations.pending(file.stem) if step.convert is not None
    }
    lost = {}
    for path, value in wanted.items():
        place = path if '["' in path else today(path, file.stem)
        if not place or path.endswith(NO_VALUES):
            continue
        found = stored_value(place)
        if found != value and (found is None or place.rpartition(".")[2] not in {name for _, name in converted}):
            lost[place] = (value, found)
    assert not lost
    assert len(wanted) >= 220


def test_there_is_a_file_of_a_version_before_stamps_and_of_this_one():
    assert "0.0.0-0" in {file.stem for file in FILES}
    numbers = {order(file.stem)[0] for file in FILES}
    assert max(numbers) <= order(addon_version())[0], "a stored file is of a version that is still to come"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_stored_files_are_small_and_hold_no_path_of_a_machine(file):
    content = b"".join(blend_parts.contents(file))
    assert b"stored Object.usdphys.prim.path" in content  # it was unpacked
    assert not [path for path in (b"/work/", b"/root\0", b"/root/", b"/tmp/", b"/home/") if path in content]
    assert file.stat().st_size < 150_000


def test_a_stored_file_has_all_names_and_no_default(scripts, tmp_path):
    stored_names, store_blend = scripts
    found = store_blend.build()
    named = {line.split(" ")[0] for line in stored_names.names() if not line.startswith(("Action[", "Object["))}
    assert named <= set(found)
    for path, item in stored_names.owners():
        assert_nothing_is_default(stored_names, item.fixed_type, path, found)
    store_blend.save(tmp_path / "all.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "all.blend"))
    assert {path: stored_value(path) for path in found if not path.endswith(NO_VALUES)} == {
        path: value for path, value in found.items() if not path.endswith(NO_VALUES)
    }


def assert_nothing_is_default(stored_names: Any, rna: Any, path: str, found: dict[str, Any]) -> None:
    for item in stored_names.stored_items(rna):
        below = f"{path}.{item.identifier}"
        if stored_names.is_group(item):
            assert_nothing_is_default(
                stored_names, item.fixed_type, f"{below}[]" if item.type == "COLLECTION" else below, found
            )
        elif item.type == "POINTER":
            assert found[below] == "Target"
        elif item.identifier != "version":
            many = getattr(item, "array_length", 0)
            flags = item.type == "ENUM" and item.is_enum_flag
            default = sorted(item.default_flag) if flags else list(item.default_array) if many else item.default
            assert found[below] != default, below


@pytest.mark.skipif(bpy.app.version < (5, 0), reason="this Blender is the oldest")
def test_a_newer_blender_refuses_to_store_a_file(scripts):
    with pytest.raises(scripts[1].NotStorableError, match=r"older ones could not open its file. Run .*4\.5"):
        scripts[1].store("0.0.1")
    assert not (STORED / "0.0.1.blend").exists()


def test_a_path_of_the_machine_is_not_stored(scripts, tmp_path):
    add(str(tmp_path))["where"] = str(ROOT)
    with pytest.raises(scripts[1].NotStorableError, match="would hold the path"):
        scripts[1].save(tmp_path / "all.blend")
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------- stamps


def test_tagging_stamps_and_saving_stamps_the_rest(tmp_path):
    tagged, shape, idle, plain = add("Tagged"), add("Shape"), add("Idle"), add("Plain")
    tagged.usdphys.rigid_body.is_applied = True
    shape.usdphys.colliders.add()
    idle.usdphys.rigid_body, idle.usdphys.joint.limits.rotX  # noqa: B018  looking makes empty groups, as a panel does
    material = bpy.data.materials.new("Ice")
    material.usdphys.physics_material.is_applied = True
    assert [stamps.stamp_of(one) for one in (tagged, shape, idle, plain)] == [addon_version(), "", "", ""]
    assert not plain.is_property_set("usdphys")
    bpy.context.scene.usdphys.preview.frequency = 120
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert [stamps.stamp_of(one) for one in (tagged, shape, idle, plain)] == [addon_version()] * 2 + ["", ""]
    assert not plain.is_property_set("usdphys")
    assert stamps.stamp_of(material) == stamps.stamp_of(bpy.context.scene) == addon_version()


def test_a_scene_without_physics_has_no_stamp(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert stamps.stamp_of(bpy.context.scene) == ""


def test_the_stamp_is_no_physics():
    first, second = add("First"), add("Second")
    first.usdphys.rigid_body.is_applied = True
    first.usdphys.version = "0.0.1"
    assert "version" not in property_values.snapshot(first.usdphys)
    property_values.copy_property(first.usdphys, second.usdphys, "version")
    assert stamps.stamp_of(second) == ""
    property_values.unset_all(first.usdphys)
    assert first.usdphys.version == "0.0.1"
    assert not stamps.holds_values(first.usdphys)


@pytest.mark.parametrize("text", ["", "stored", "1"])
def test_a_stamp_that_is_no_version_is_none(text):
    obj = add()
    obj.usdphys.version = text
    assert stamps.stamp_of(obj) == ""
    assert not stamps.is_newer(text)


# --------------------------------------------------------------------------- newer versions


def newer_file(folder: Path) -> Path:
    """A file of a newer version, with a value that this one has no property for."""
    obj = add("Box")
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.mass.mass = 4.0
    obj.usdphys.mass["hardness"] = 7.0
    obj.usdphys.version = NEWER
    path = folder / "newer.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_nothing_that_a_newer_version_has_saved_is_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(
        migrations, "MIGRATIONS", (migrations.Migration("100.0.0", "MassProperties", "mass", "density"),)
    )
    path = newer_file(tmp_path)
    assert handlers.migrate_open_file() == {}
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.data.objects["Box"].usdphys.rigid_body.is_applied = False
    bpy.data.objects["Box"].usdphys.rigid_body.is_applied = True
    add("Ours").usdphys.rigid_body.is_applied = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "again.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "again.blend"))
    physics = bpy.data.objects["Box"].usdphys
    assert (physics.version, physics.mass.mass, physics.mass["hardness"]) == (NEWER, 4.0, 7.0)
    assert not physics.mass.is_property_set("density")
    assert bpy.data.objects["Ours"].usdphys.version == addon_version()


def test_a_newer_version_is_reported_with_what_to_do(tmp_path):
    newer_file(tmp_path)
    other = add("Lid")
    other.usdphys.rigid_body.is_applied = True
    found = [
        issue for issue in scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).issues
        if issue.code == "NewerVersion"
    ]  # fmt: skip
    assert [(issue.severity, issue.fix) for issue in found] == [("warning", f"Update the add-on to {NEWER}.")]
    assert "'Box': saved by USD Physics 99.0.0, which is newer than this" in found[0].message
    assert "'Lid'" not in found[0].message
    bpy.data.objects["Box"].usdphys.version = addon_version()
    issues = scene_read.read_scene(bpy.context.evaluated_depsgraph_get()).issues
    assert "NewerVersion" not in {issue.code for issue in issues}


@pytest.mark.parametrize("arguments", [["validate", "IN"], ["convert", "IN", "OUT.usda"], ["inspect", "IN"]])
def test_the_command_line_says_that_a_file_is_newer(tmp_path, capfd, arguments):
    path = newer_file(tmp_path)
    names = {"IN": str(path), "OUT.usda": str(tmp_path / "out.usda")}
    cli.main([names.get(word, word) for word in arguments])
    said = "".join(capfd.readouterr())
    assert said.count("saved by USD Physics 99.0.0, which is newer than this") == 1


def test_a_scene_that_gets_physics_and_is_newer_says_so(tmp_path, capfd):
    path = newer_file(tmp_path)
    source = tmp_path / "source.usda"
    assert cli.main(["convert", str(path), str(source)]) == 0
    capfd.readouterr()
    cli.main(["convert", str(source), str(tmp_path / "out.blend"), "--onto", str(path)])
    assert "saved by USD Physics 99.0.0" in "".join(capfd.readouterr())


# --------------------------------------------------------------------------- migrations


def test_migrations_are_for_versions_that_there_are():
    assert [step for step in migrations.MIGRATIONS if order(step.version) > order(addon_version())] == []


def test_data_without_a_stamp_is_as_old_as_its_file(monkeypatch):
    monkeypatch.setattr(
        migrations, "MIGRATIONS",
        (migrations.Migration("0.0.5", "MassProperties", "mass", "mass", lambda value: value * 2),),
    )  # fmt: skip
    old, known, unknown = add("Old"), add("Known"), add("Unknown")
    for obj in (old, known, unknown):
        obj.usdphys.mass.mass = 4.0
    old.usdphys.version, known.usdphys.version, unknown.usdphys.version = "0.0.4", "0.0.5", ""
    migrations.migrate([(old, "a"), (unknown, "a"), (known, "a")])
    assert [obj.usdphys.mass.mass for obj in (old, known, unknown)] == [8.0, 4.0, 4.0]
    unknown.usdphys.version = ""
    migrations.migrate([(unknown, "b")])
    assert unknown.usdphys.mass.mass == 8.0
    assert unknown.usdphys.version == addon_version()


def test_headless_commands_migrate(tmp_path, monkeypatch, capfd):
    obj = add("Box")
    obj.usdphys.rigid_body.is_applied = obj.usdphys.mass.is_applied = True
    obj.usdphys.mass["weight"] = 3.5
    obj.usdphys.version = "0.0.4"
    monkeypatch.setattr(stamps, "mark_all", lambda: None)  # saving would say that it is of this version
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (migrations.Migration("0.1.0", "MassProperties", "weight", "mass"),))
    # The command line registers what it needs by itself.
    extension = sys.modules["usdphys_ext"]
    extension.unregister()
    try:
        assert cli.main(["convert", str(tmp_path / "old.blend"), str(tmp_path / "out.usda")]) == 0
    finally:
        extension.register()
    assert "physics:mass = 3.5" in (tmp_path / "out.usda").read_text(encoding="utf-8")


FULL = {
    "weight": 83.375, "in a list": 28.375, "more": "stored Object.usdphys.prim.extras",
    "ignored": ["stored Object.usdphys.colliders[].filtered_pairs.filtered_pairs[].path"], "target": "Target",
    "length": 10.375, "axis": "X", "radius": False, "left": [], "stamp": "0.2.0-dev.1",
}  # fmt: skip
WITH_OTHERS = {
    **FULL, "of the material": ["stored Material.usdphys.prim.extras", "0.2.0-dev.1"],
    "of the scene": ["stored Scene.usdphys.physics_scenes[].prim.extras", "0.2.0-dev.1"],
}  # fmt: skip


@pytest.fixture(scope="module")
def later(tmp_path_factory) -> dict[str, Any]:
    """What a later version with renamed properties finds in the file that 0.1.0 has stored."""
    folder = tmp_path_factory.mktemp("later")
    stored = folder / "stored.blend"
    shutil.copy(STORED / "0.1.0.blend", stored)
    command = [sys.executable, Path(__file__).with_name("stored_round.py"), ROOT, stored, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_without_a_migration_a_renamed_value_is_lost(later):
    assert later["without a migration"] is False


@pytest.mark.slow
@pytest.mark.parametrize("way", ["open", "saved and opened", "link"])
def test_renamed_values_arrive(later, way):
    assert later[way] == WITH_OTHERS


@pytest.mark.parametrize("way", ["twice", "append", "open with links", "reload", "enabled late", "undone"])
def test_renamed_values_of_an_object_arrive(later, way):
    assert later[way] == FULL


def test_an_append_leaves_what_was_there(later):
    assert later["append again"] == FULL | {"target": "Target.001"}
    assert later["the first one"] == "Y"
    assert later["there before"] == ["", "X"]


def test_new_data_is_stamped_when_it_is_tagged(later):
    assert later["new"] == "0.2.0-dev.1"


def test_keyframes_and_drivers_follow_a_renamed_property(later):
    assert later["keys"] == ["usdphys.mass.weight"]
    assert later["drivers"] == ["usdphys.mass.density", "usdphys.mass.middle"]
