# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as a user types it: a process of its own, exit status, stdout for results."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import assets
import bpy
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def usdphys(*arguments, cwd=ROOT, stdin=None):
    command = [sys.executable, "-m", "usdphys_addon", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=environment(), input=stdin, capture_output=True, text=True, timeout=900, check=False
    )


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


@pytest.mark.parametrize("in_child", [False, True])
def test_a_process_that_has_imported_ends(tmp_path, in_child):
    """Blender 4.5 as a module waits for its thread for sounds, without end, where Python is not taken apart at exit."""
    stage, target = tmp_path / "crate.usda", tmp_path / "crate.blend"
    stage.write_text('#usda 1.0\n\ndef Cube "Crate"\n{\n}\n')
    arguments = ["convert", str(stage), str(target)]
    if in_child:
        # The process that has started the child of a batch is gone after one job.
        result = usdphys("serve", stdin=json.dumps({"arguments": arguments, "seconds": 800}) + "\n")
    else:
        result = usdphys(*arguments)
    assert result.returncode == 0, result.stderr
    assert target.exists()


def test_convert(blend, tmp_path):
    target = tmp_path / "crate.usda"
    result = usdphys("convert", blend, target)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"{target}: 1 scene, 1 body, 2 colliders"]
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
    assert "1 body, 2 colliders" in result.stdout


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
    assert plain.returncode == 1 and plain.stdout.startswith("error: ") and "1 error, " in plain.stdout


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


def test_inspect_lists_what_is_wrong_with_the_file(tmp_path):
    """A part that is missing, as text and as JSON; a file without problems has an empty list."""
    (file := tmp_path / "arm.usda").write_text(
        '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        'def Xform "Arm" (prepend references = @gone.usda@)\n{\n}\n'
    )
    text = usdphys("inspect", file)
    assert text.returncode == 0
    (line,) = (line for line in text.stdout.splitlines() if "gone.usda" in line)
    assert line.startswith("  warning: ") or line.startswith("  error: ")
    assert "issues (1)" in text.stdout
    issues = json.loads(usdphys("inspect", file, "--json").stdout)["issues"]
    assert [issue["code"] for issue in issues] == [line.split(": ")[1]]
    file.write_text(file.read_text().replace("prepend references = @gone.usda@", 'kind = "component"'))
    assert json.loads(usdphys("inspect", file, "--json").stdout)["issues"] == []


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_simulate_a_blend(blend, tmp_path, scale_length):
    """The crate falls from 2 m as Galileo says and lands on the floor; the .blend and its USD move alike."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length, scene.render.fps = scale_length, 60
    for obj in scene.objects:
        obj.location, obj.scale = obj.location / scale_length, obj.scale / scale_length
    save(blend)
    poses, stage = tmp_path / "poses.json", tmp_path / "crate.usda"
    authored = blend.read_bytes()
    result = usdphys("simulate", blend, "--seconds", 2, "--json", poses)
    assert result.returncode == 0, result.stderr
    said = f"{blend}: 1 body, 121 frames at 60 per second, 0 broken joints, 0 unstable bodies"
    assert result.stdout.splitlines() == [said]
    assert blend.read_bytes() == authored
    table = json.loads(poses.read_text())
    assert (table["fps"], table["frames"], list(table["bodies"])) == (60, 121, ["/root/Crate"])
    crate = table["bodies"]["/root/Crate"]
    # The stage is in metres, whatever the unit of the scene.
    heights = [place[2] for place in crate["translation"]]
    for frame in (0, 10, 20, 30):
        assert 2.0 - heights[frame] == pytest.approx(9.81 / 2 * (frame / 60) ** 2, rel=0.02, abs=1e-6)
    assert heights[-1] == pytest.approx(0.5, abs=0.01)
    aside = max(max(map(abs, place[:2])) for place in crate["translation"])
    # A box of triangles on a plane of two: its corners do not land in the same step.
    assert aside < 0.03
    assert crate["rotation"][30] == pytest.approx([1, 0, 0, 0], abs=1e-5)
    # A layer over the USD file of the same scene, and the whole scene with its motion.
    baked, again = tmp_path / "baked.usda", tmp_path / "again.json"
    assert usdphys("convert", blend, stage).returncode == 0
    for source in (stage, blend):
        result = usdphys("simulate", source, "--seconds", 2, "--fps", 60, "--out", baked, "--json", again)
        assert result.returncode == 0, result.stderr
        check_baked(baked, again, heights)
    from pxr import Sdf

    whole = Sdf.Layer.FindOrOpen(str(baked))
    assert not whole.subLayerPaths
    assert whole.GetAttributeAtPath("/root/Plane/Plane.points")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def check_baked(baked, poses, heights):
    moved = json.loads(poses.read_text())["bodies"]["/root/Crate"]["translation"]
    from pxr import Usd, UsdGeom

    opened = Usd.Stage.Open(str(baked))
    prim, meters = UsdGeom.Xformable(opened.GetPrimAtPath("/root/Crate")), UsdGeom.GetStageMetersPerUnit(opened)
    assert opened.GetEndTimeCode() == opened.GetStartTimeCode() + 120
    for frame in (0, 20, 30, 120):
        place = prim.ComputeLocalToWorldTransform(opened.GetStartTimeCode() + frame).ExtractTranslation()
        assert tuple(place) == pytest.approx(moved[frame], abs=1e-4 / meters)
        assert place[2] * meters == pytest.approx(heights[frame], abs=0.01)


def test_simulate_a_blend_with_an_animated_pusher(blend, tmp_path):
    """A kinematic body goes its keyed way, and takes the crate along; the file stays as it is."""
    scene = bpy.context.scene
    scene.render.fps, scene.use_gravity = 30, False
    bpy.ops.mesh.primitive_cube_add(size=1, location=(-2, 0, 2))
    pusher = bpy.context.object
    pusher.name = "Pusher"
    pusher.usdphys.rigid_body.is_applied = pusher.usdphys.rigid_body.kinematic_enabled = True
    pusher.usdphys.colliders.add()
    for frame, x in ((1, -2.0), (31, 0.0)):
        pusher.location.x = x
        pusher.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    save(blend)
    poses, baked = tmp_path / "poses.json", tmp_path / "baked.usda"
    for more in ((), ("--out", baked)):
        result = usdphys("simulate", blend, "--seconds", 1.5, "--json", poses, *more)
        assert result.returncode == 0, result.stderr
        bodies = json.loads(poses.read_text())["bodies"]
        ways = {path: [place[0] for place in body["translation"]] for path, body in bodies.items()}
        assert ways["/root/Pusher"][0] == pytest.approx(-2.0)
        assert ways["/root/Pusher"][15] == pytest.approx(-1.0, abs=1e-4)
        assert ways["/root/Pusher"][-1] == pytest.approx(0.0, abs=1e-4)
        assert ways["/root/Crate"][5] == pytest.approx(0.0, abs=1e-4)
        assert ways["/root/Crate"][-1] > 1.0
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(baked))
    for name in ("Pusher", "Crate"):
        prim, way = UsdGeom.Xformable(stage.GetPrimAtPath(f"/root/{name}")), ways[f"/root/{name}"]
        for frame in (0, 15, 45):
            place = prim.ComputeLocalToWorldTransform(stage.GetStartTimeCode() + frame).ExtractTranslation()
            assert place[0] == pytest.approx(way[frame], abs=1e-4)


def test_folders_of_outputs_are_made_and_named(blend, tmp_path):
    place = tmp_path / "new" / "deep"
    for arguments in (("convert", blend, place / "out.usda"),
                      ("simulate", blend, "--seconds", 0.1, "--json", place / "poses.json"),
                      ("validate", blend, "--output", place / "report.xml")):  # fmt: skip
        result = usdphys(*arguments)
        assert result.returncode == 0 and Path(arguments[-1]).is_file()
        assert [line for line in result.stderr.splitlines() if "was made" in line] == [
            f"usdphys: note: The folder '{folder}' was made." for folder in (place.parent, place)
        ]
        shutil.rmtree(tmp_path / "new")
    assert usdphys("convert", tmp_path / "missing.blend", place / "out.usda").returncode == 1
    assert usdphys("validate", blend, "--ignore", "NoSuch", "--output", place / "report.xml").returncode == 2
    assert not place.parent.exists(), "a command that fails leaves no folder"


def test_simulate_refuses_in_one_sentence(blend, tmp_path):
    for arguments, word in (
        (("missing.blend", "--seconds", 1), "missing.blend"),
        ((blend, "--seconds", 1, "--json", blend / "poses.json"), "poses.json"),
    ):
        result = usdphys("simulate", *arguments)
        assert result.returncode == 1 and "Traceback" not in result.stderr
        lines = [line for line in result.stderr.splitlines() if line.startswith("usdphys: error: ")]
        assert len(lines) == 1 and word in lines[0]


def test_validate_usd_of_others(shared):
    result = usdphys("validate", assets.file("usd/usdPhysicsNestedArticulation.usda", "usd/nested_articulation.usda"))
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
        (("convert", "crate.blend", "notes.txt/out.usda"), "notes.txt"),
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
        capture_output=True, text=True, timeout=900, check=False,
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


@pytest.mark.parametrize("command", ["", "convert", "validate", "inspect", "simulate"])
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
    assert preferences.run_command(["convert", str(blend), str(target)]) == 0
    assert "PhysicsRigidBodyAPI" in target.read_text()
    assert preferences.run_command(["convert"]) == 2
