# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as a user types it: a process of its own, exit status, stdout for results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


def usdphys(*arguments, cwd=ROOT):
    command = [sys.executable, "-m", "usdphys_addon", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=180, check=False)


def environment(**more):
    """What a shell would pass on: without the variables that bpy has set in this process."""
    return {name: value for name, value in os.environ.items() if name != "OCIO"} | more


def save(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def blend(tmp_path):
    """A crate that falls on a floor."""
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 2))
    crate = bpy.context.object
    crate.name = "Crate"
    crate.usdphys.rigid_body.is_applied = True
    crate.usdphys.colliders.add()
    crate.usdphys.mass.is_applied = True
    crate.usdphys.mass.mass = 3
    bpy.ops.mesh.primitive_plane_add(size=10)
    bpy.context.object.usdphys.colliders.add()
    return save(tmp_path / "crate.blend")


@pytest.fixture
def bullet_blend(tmp_path):
    """The same with Blender's own rigid bodies."""
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 2))
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    bpy.ops.mesh.primitive_plane_add(size=10)
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    return save(tmp_path / "bullet.blend")


def test_convert(blend, tmp_path):
    target = tmp_path / "crate.usda"
    result = usdphys("convert", blend, target)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"{target}: 1 scenes, 1 bodies, 2 colliders"]
    text = target.read_text()
    assert "PhysicsRigidBodyAPI" in text and "physics:mass = 3" in text


def test_convert_options(blend, tmp_path):
    target = tmp_path / "crate.usda"
    result = usdphys("convert", blend, target, "--meters-per-unit", "0.01", "--kilograms-per-unit", "0.001",
                     "--up-axis", "Y", "--hierarchy", "reset")  # fmt: skip
    assert result.returncode == 0, result.stderr
    text = target.read_text()
    for line in ("metersPerUnit = 0.01\n", "kilogramsPerUnit = 0.001\n", 'upAxis = "Y"', "physics:mass = 3000\n"):
        assert line in text


def test_convert_takes_the_units_of_the_scene(blend, tmp_path):
    stage = bpy.context.scene.usdphys.stage
    stage.meters_per_unit, stage.up_axis = 0.01, "Y"
    save(blend)
    assert usdphys("convert", blend, tmp_path / "a.usda").returncode == 0
    assert "metersPerUnit = 0.01\n" in (tmp_path / "a.usda").read_text()


def test_convert_rigid_bodies(bullet_blend, tmp_path):
    target = tmp_path / "bullet.usda"
    assert "no physics" in usdphys("convert", bullet_blend, target).stdout
    result = usdphys("convert", bullet_blend, target, "--from-rigid-bodies")
    assert result.returncode == 0, result.stderr
    assert "1 bodies, 2 colliders" in result.stdout


def test_validate(blend):
    result = usdphys("validate", blend)
    assert (result.returncode, result.stdout.splitlines()[-1].split(": ")[1]) == (0, "0 errors, 0 warnings, 0 infos")


def test_validate_finds_errors(blend):
    bpy.data.objects["Crate"].usdphys.mass.mass = -3
    save(blend)
    result = usdphys("validate", blend, "--json")
    assert result.returncode == 1
    issues = json.loads(result.stdout)["issues"]
    assert [(issue["severity"], issue["label"]) for issue in issues] == [("error", "Crate")]
    assert issues[0]["fix"]
    plain = usdphys("validate", blend)
    assert plain.returncode == 1 and plain.stdout.startswith("error: ") and "1 errors" in plain.stdout


def test_validate_by_target(tmp_path):
    """A dynamic triangle mesh is legal USD and no use to PhysX."""
    bpy.ops.mesh.primitive_monkey_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    collider = bpy.context.object.usdphys.colliders.add()
    collider.shape, collider.approximation = "MESH", "none"
    blend = save(tmp_path / "monkey.blend")
    assert usdphys("validate", blend).returncode == 0
    assert usdphys("validate", blend, "--target", "physx").returncode == 1


def test_inspect(blend, tmp_path):
    usdphys("convert", blend, tmp_path / "crate.usdc")
    for path in (blend, tmp_path / "crate.usdc"):
        table = json.loads(usdphys("inspect", path, "--json").stdout)
        assert table["units"] == {"metersPerUnit": 1.0, "kilogramsPerUnit": 1.0, "upAxis": "Z"}
        (crate,) = table["bodies"]
        assert (crate["path"], crate["kind"], crate["mass"], crate["colliders"]) == ("/root/Crate", "dynamic", 3.0, 1)
        assert crate["massSource"] == "mass authored on the body"
        assert len(table["colliders"]) == 2
        text = usdphys("inspect", path).stdout
        assert "bodies (1)" in text and "/root/Crate" in text


def test_validate_usd_of_others(shared):
    result = usdphys("validate", shared / "devset" / "usd" / "usdPhysicsNestedArticulation.usda")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "COMMAND"),
        (("frobnicate",), "frobnicate"),
        (("convert", "a.blend"), "OUT"),
        (("convert", "a.blend", "b.usda", "--up-axis", "X"), "up-axis"),
        (("convert", "a.blend", "b.usda", "--meters-per-unit", "0"), "greater than zero"),
        (("validate", "a.usda", "--target", "bullet"), "target"),
    ],
)
def test_wrong_use(arguments, word):
    result = usdphys(*arguments)
    assert result.returncode == 2 and word in result.stderr and not result.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("convert", "missing.blend", "out.usda"), "missing.blend"),
        (("convert", "notes.txt", "out.usda"), "notes.txt"),
        (("convert", "broken.blend", "out.usda"), "broken.blend"),
        (("convert", "crate.blend", "out.fbx"), "out.fbx"),
        (("convert", "crate.blend", "nowhere/out.usda"), "nowhere"),
        (("validate", "missing.usda"), "missing.usda"),
        (("validate", "broken.usda"), "broken.usda"),
        (("inspect", "notes.txt"), "notes.txt"),
    ],
)
def test_bad_input_is_one_sentence(blend, arguments, word):
    folder = blend.parent
    (folder / "broken.blend").write_text("nothing of Blender")
    (folder / "broken.usda").write_text("#usda 1.0\ndef {")
    (folder / "notes.txt").write_text("notes")
    names = {path.name for path in folder.iterdir()}
    command = [sys.executable, "-m", "usdphys_addon", *arguments]
    result = subprocess.run(
        command, cwd=folder, env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("usdphys: error: ")]
    assert len(lines) == 1 and word in lines[0]
    assert "Traceback" not in result.stderr
    assert {path.name for path in folder.iterdir()} == names


def test_missing_library(blend, tmp_path):
    """A file that links to a library that is gone would lose bodies in silence."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(blend), link=True) as (source, target):
        target.objects = source.objects
    for obj in target.objects:
        bpy.context.scene.collection.objects.link(obj)
    user = save(tmp_path / "user.blend")
    blend.unlink()
    result = usdphys("convert", user, tmp_path / "out.usda")
    assert result.returncode == 1 and "crate.blend" in result.stderr
    assert not (tmp_path / "out.usda").exists()


@pytest.mark.parametrize("command", ["", "convert", "validate", "inspect"])
def test_help(command):
    result = usdphys(*command.split(), "--help")
    assert result.returncode == 0 and "usage: usdphys" in result.stdout
    if command == "convert":
        for option in ("--from-rigid-bodies", "--hierarchy", "--meters-per-unit", "--kilograms-per-unit", "--up-axis"):
            assert option in result.stdout


def test_blender_command(blend, tmp_path, extension):
    """`blender --command usdphys` ends in the same function, with the add-on already registered."""
    from usdphys_ext import preferences

    target = tmp_path / "command.usda"
    assert preferences._run_command(["convert", str(blend), str(target)]) == 0
    assert "PhysicsRigidBodyAPI" in target.read_text()
    assert preferences._run_command(["convert"]) == 2
