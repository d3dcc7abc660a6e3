"""The wheel: what is in it, that its commands work where there is no Blender, and what they do where one is needed."""

import hashlib
import json
import re
import shutil
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import api_page
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
    kilogramsPerUnit = 1
    defaultPrim = "World"
)
def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 2
        double3 xformOp:translate = (0, 0, -1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    {
        double radius = 0.5
        float physics:mass = 2
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
#: The beginning of the prim World, with a mesh whose fix has to change its geometry.
MIRRORED = """{
    def Mesh "Left" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"
        uniform token subdivisionScheme = "none"
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
        double3 xformOp:scale = (-1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
"""
GLTF = {
    "asset": {"version": "2.0"},
    "scene": 0,
    "scenes": [{"nodes": [0]}],
    "nodes": [{
        "name": "Box",
        "extensions": {"KHR_physics_rigid_bodies": {
            "motion": {"mass": 3.0}, "collider": {"geometry": {"shape": 0}},
        }},
    }],
    "extensions": {"KHR_implicit_shapes": {"shapes": [{"type": "box", "box": {"size": [1, 1, 1]}}]}},
    "extensionsUsed": ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"],
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a file of each format."""
    (tmp_path / "scene.usda").write_text(SCENE)
    (tmp_path / "heavy.usda").write_text(SCENE.replace("physics:mass = 2", "physics:mass = 5"))
    (tmp_path / "box.gltf").write_text(json.dumps(GLTF))
    shutil.copy(ROOT / "scripts" / "robot.urdf", tmp_path / "robot.urdf")
    (tmp_path / "scene.blend").write_bytes(b"BLENDER-v500")
    return tmp_path


# --------------------------------------------------------------------------- what is in it


def excluded() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [name.lstrip("/") for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]]


def test_the_wheel_has_the_files_of_the_tree_but_for_those_that_need_blender(wheel):
    with zipfile.ZipFile(wheel) as archive:
        made = {name: archive.read(name) for name in archive.namelist() if name.startswith("usdphys/")}
    tree = {}
    for file in (ROOT / "usdphys_addon").rglob("*"):
        name = file.relative_to(ROOT).as_posix()
        out = any(name == part or name.startswith(f"{part}/") for part in excluded())
        if file.is_file() and not out and file.suffix != ".pyc" and file.name != "ruff.toml":
            tree[name.replace("usdphys_addon/", "usdphys/", 1)] = file.read_bytes()
    assert made == tree
    assert "usdphys/py.typed" in made and "usdphys/core/vendor_tables/newton.json" in made
    assert not [name for name in made if name.split("/")[1] in ("bridge", "exchange", "viewport", "operators")]


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        facts = message_from_string(archive.read(name).decode())
        licences = {Path(name).name for name in archive.namelist() if "/licenses/" in name}
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert facts["Version"] == manifest["version"].replace("-dev", ".dev0")
    assert facts["License-Expression"] == "GPL-3.0-or-later" and licences == {"LICENSE", "THIRD_PARTY_NOTICES.md"}
    assert "rapier3d==0.36.1" in facts.get_all("Requires-Dist")
    text = facts.get_payload()
    assert "pip install usdphys" in text
    assert "](" not in text.replace("](http", ""), "a link that leads nowhere on a package index"


def test_the_same_tree_gives_the_same_bytes(build, wheel, tmp_path):
    again = build(tmp_path)
    assert again.name == wheel.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


# --------------------------------------------------------------------------- without Blender


def test_versions(usdphys):
    done = usdphys("--version")
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert done.returncode == 0 and done.stdout.startswith(f"usdphys {manifest['version'].partition('-')[0]}")
    assert "usd-core" in done.stdout and "rapier3d 0.36.1" in done.stdout and "Blender" not in done.stdout
    assert usdphys("inspect", "--version").stdout == done.stdout


@pytest.mark.parametrize("file", ["scene.usda", "box.gltf", "robot.urdf"])
def test_files_are_checked_and_shown(usdphys, files, file):
    done = usdphys("validate", file)
    assert done.returncode == 0 and "0 errors" in done.stdout, done.stdout + done.stderr
    table = json.loads(usdphys("inspect", file, "--json").stdout)
    assert len(table["bodies"]) == {"scene.usda": 1, "box.gltf": 1, "robot.urdf": 5}[file]
    assert usdphys.wanted == []


def test_errors_are_found(usdphys, files):
    broken = files / "broken.usda"
    broken.write_text(SCENE.replace("physics:mass = 2", "physics:mass = -2"))
    done = usdphys("validate", broken)
    assert done.returncode == 1 and "error: " in done.stdout
    assert usdphys.wanted == []


def test_a_ball_falls(usdphys, files):
    done = usdphys("simulate", "scene.usda", "--seconds", "2", "--json", "poses.json", "--out", "moved.usda")
    assert done.returncode == 0, done.stderr
    poses = json.loads((files / "poses.json").read_text())
    ball = poses["bodies"]["/World/Ball"]
    assert ball["translation"][0] == pytest.approx([0, 0, 3])
    assert ball["translation"][-1][2] == pytest.approx(0.5, abs=0.02)
    assert usdphys("inspect", "moved.usda").returncode == 0
    assert usdphys("simulate", "robot.urdf", "--seconds", "0.2", "--out", "robot.usda").returncode == 0
    assert usdphys.wanted == []


def test_differences_are_named(usdphys, files):
    done = usdphys("diff", "scene.usda", "heavy.usda")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "'/World/Ball': physics:mass is 5.0; was 2.0.", "scene.usda, heavy.usda: 1 difference"
    ]  # fmt: skip
    (found,) = json.loads(usdphys("diff", "scene.usda", "heavy.usda", "--json").stdout)["differences"]
    assert (found["path"], found["name"], found["first"], found["second"]) == ("/World/Ball", "physics:mass", 2.0, 5.0)
    assert usdphys("diff", "scene.usda", "scene.usda").returncode == 0
    assert usdphys.wanted == []


@pytest.mark.parametrize("name", ["robot.usda", "robot.usdc", "robot.usdz", "made/here/robot.usd"])
def test_a_robot_becomes_usd(usdphys, files, name):
    done = usdphys("convert", "robot.urdf", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{name}: 5 bodies, 5 colliders, 5 joints, 1 articulation\n"
    assert ("was made" in done.stderr) == ("/" in name)
    assert usdphys("diff", "robot.urdf", name).returncode == 0, "the same physics"
    assert usdphys.wanted == []


def test_an_image_of_a_robot_goes_with_it(usdphys, files):
    """A second conversion replaces the images of the first, and no others."""
    urdf = files / "robot.urdf"
    text = urdf.read_text()
    (files / "plate.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n")
    shape = '<visual><geometry><mesh filename="plate.obj"/></geometry>'
    shown = f'{shape}<material name="paint"><texture filename="paint.png"/>'
    urdf.write_text(text.replace("</link>", f"{shown}</material></visual></link>", 1))
    picture = files / "paint.png"
    for colour in (b"\0", b"\1"):
        # The end of a PNG, which is what is looked at.
        picture.write_bytes(b"\x89PNG\r\n\x1a\n" + colour + b"\0\0\0\0IEND\xaeB`\x82")
        done = usdphys("convert", "robot.urdf", "out/robot.usda")
        assert done.returncode == 0, done.stderr
        assert (files / "out" / "robot_textures" / "paint.png").read_bytes() == picture.read_bytes()
    assert "./robot_textures/paint.png" in (files / "out" / "robot.usda").read_text()


def test_a_batch_does_what_it_can(usdphys, files):
    jobs = [
        {"op": "convert", "in": "robot.urdf", "out": "many/robot.usda"},
        {"op": "validate", "in": "box.gltf"},
        {"op": "convert", "in": "scene.usda", "out": "many/scene.glb"},
    ]
    (files / "jobs.jsonl").write_text("\n".join(map(json.dumps, jobs)))
    done = usdphys("batch", "jobs.jsonl", "--workers", "1")
    assert done.returncode == 1 and "2 ok, 1 failed" in done.stdout, done.stdout + done.stderr
    results = [json.loads(line) for line in (files / "jobs.results.jsonl").read_text().splitlines()]
    assert sorted(result["exit"] for result in results) == [0, 0, 2]
    assert usdphys.wanted == []


def test_quiet(usdphys, files):
    for command in (("--quiet", "convert"), ("convert", "--quiet")):
        done = usdphys(*command, "robot.urdf", "quiet.usda")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert usdphys("validate", "--quiet", "robot.urdf").stdout == ""
    done = usdphys("convert", "--quiet", "scene.blend", "quiet.usda")
    assert done.returncode == 2 and "needs Blender" in done.stderr


# --------------------------------------------------------------------------- the API, without Blender


@pytest.fixture
def page_script(usdphys):
    """Runs a script of docs/api.md with the import that the page gives for the wheel."""
    (line,) = re.findall(r"`(from usdphys import api)`", api_page.PAGE.read_text(encoding="utf-8"))
    return lambda name, *arguments: usdphys.script(api_page.write(name, usdphys.folder, line), *arguments)


def test_the_gate_of_the_api_page(page_script, usdphys, files):
    (files / "wrong.usda").write_text(api_page.WRONG)
    done = page_script("ci_gate.py", "scene.usda", "robot.urdf", "box.gltf")
    assert done.returncode == 0, done.stdout + done.stderr
    done = page_script("ci_gate.py", "scene.usda", "wrong.usda", "scene.blend")
    assert done.returncode == 1 and "wrong.usda: error: MassInvalidValues" in done.stdout
    assert "scene.blend: validate_file() needs Blender, which is not here" in done.stdout
    assert usdphys.wanted == []


def test_the_cache_of_the_api_page(page_script, usdphys, files):
    done = page_script("cache.py", "scene.usda", "cache.usda")
    assert done.stdout == "1 bodies, 2 s\n", done.stderr
    assert ".timeSamples" in (files / "cache.usda").read_text()
    assert usdphys.wanted == []


def test_the_edit_of_the_api_page(page_script, usdphys, files):
    light = files / "light.usda"
    light.write_text(SCENE.replace("float physics:mass = 2", ""))
    done = page_script("edit_stage.py", "light.usda", "edits.usda")
    assert done.returncode == 0, done.stderr
    (body,) = json.loads(usdphys("inspect", "edits.usda", "--json").stdout)["bodies"]
    assert body["mass"] == pytest.approx(0.8)
    assert usdphys.wanted == []


def test_other_scripts_of_the_api_page_say_that_they_need_blender(page_script, usdphys, files):
    alone = {"ci_gate.py", "cache.py", "edit_stage.py", "density_by_material.py"}  # the last one imports bpy itself
    others = sorted(set(api_page.scripts()) - alone)
    given = {
        "batch_convert.py": [".", "out"], "one_file_per_variant.py": ["paint.usda", "out"],
        "simulate_and_bake.py": ["scene.usda", "poses.json", "out.usda"], "tag_by_name.py": ["scene.usda", "out.usda"],
    }  # fmt: skip
    (files / "paint.usda").write_text(api_page.STAGE)
    for name in others:
        done = page_script(name, *given.get(name, []))
        assert done.returncode == 1 and "() needs Blender, which is not here; run the script in a" in done.stderr, name
    assert usdphys.wanted == []


SCRIPT = """
from usdphys import api

for name in api.__all__:
    getattr(api, name)
print(api.variants("paint.usda"))
print(len(api.attributes()) > 100, api.describe("physics:mass")[0].unit)
with api.open_stage("robot.urdf") as robot:
    print(len(robot.bodies), len(robot.joints))
print(api.convert("robot.urdf", "robot.usda").counts["bodies"])
print(api.fix_file("wrong.usda").fixed)
"""


def test_functions_on_files(usdphys, files):
    (files / "paint.usda").write_text(api_page.STAGE)
    (files / "wrong.usda").write_text(api_page.WRONG)
    script = files / "script.py"
    script.write_text(SCRIPT)
    done = usdphys.script(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["{('/World/Red', 'paint'): ('blue', 'red')}", "True kg", "5 5", "5", "1"]
    assert usdphys("diff", "robot.urdf", "robot.usda").returncode == 0
    assert usdphys("validate", "wrong.usda").returncode == 0
    assert usdphys.wanted == []


# --------------------------------------------------------------------------- with one

NEEDING = [
    ("inspect", "scene.blend"),
    ("validate", "scene.blend"),
    ("diff", "scene.usda", "scene.blend"),
    ("simulate", "scene.blend", "--seconds", "1"),
    ("simulate", "box.gltf", "--seconds", "1", "--json", "new/poses.json"),
    ("convert", "scene.blend", "new/out.usda"),
    ("convert", "scene.usda", "new/out.glb"),
    ("convert", "scene.usda", "new/out.usda"),
    ("convert", "robot.urdf", "new/out.blend"),
    ("convert", "robot.urdf", "new/out.usda", "--animation"),
    ("convert", "robot.urdf", "new/out.usda", "--flatten"),
]


@pytest.mark.parametrize("arguments", NEEDING, ids=" ".join)
def test_what_needs_blender_says_so(usdphys, files, arguments):
    done = usdphys(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("usdphys: error: ") and "needs Blender" in line and "USDPHYS_BLENDER" in line
    assert not (files / "new").exists()
    assert usdphys.wanted == []


def posix_script(path: Path, text: str) -> str:
    if sys.platform == "win32":
        pytest.skip("the stand-in for Blender is a shell script")
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("arguments", NEEDING, ids=" ".join)
def test_another_blender_gets_arguments_and_streams_and_its_status_comes_back(usdphys, files, arguments):
    blender = posix_script(files / "blender", 'echo "$@"; echo told >&2; exit 41')
    done = usdphys(*arguments, USDPHYS_BLENDER=blender)
    assert done.returncode == 41 and done.stderr == "told\n"
    assert done.stdout.split() == ["--command", "usdphys", *arguments]


#: Runs of `validate` that another Blender does as a whole: only it reads a .blend, and only it applies scales.
MANY = [
    ("validate", "scene.usda", "scene.blend"),
    ("validate", "."),
    ("validate", "--json", "scene.blend", "robot.urdf"),
    ("validate", "--fix", "scene.usda", "heavy.usda"),
]


@pytest.mark.parametrize("arguments", MANY, ids=" ".join)
def test_another_blender_checks_all_files_of_a_run_that_needs_it(usdphys, files, arguments):
    blender = posix_script(files / "blender", 'echo "$@"; exit 41')
    done = usdphys(*arguments, USDPHYS_BLENDER=blender)
    assert done.returncode == 41 and done.stdout.split() == ["--command", "usdphys", *arguments], done


@pytest.mark.parametrize("arguments", MANY, ids=" ".join)
def test_without_another_blender_the_files_that_need_none_are_checked(usdphys, files, arguments):
    done = usdphys(*arguments)
    needs = [line for line in done.stderr.splitlines() if "'scene.blend' needs Blender" in line]
    is_fix = "--fix" in arguments
    assert (done.returncode, len(needs)) == ((0, 0) if is_fix else (1, 1)), done
    assert "robot.urdf" in done.stdout or "scene.usda: info: " in done.stdout or " files: 0 errors" in done.stdout
    assert usdphys.wanted == []


def test_files_that_need_no_blender_stay_here(usdphys, files):
    blender = posix_script(files / "blender", "exit 41")
    done = usdphys("validate", "scene.usda", "robot.urdf", "box.gltf", USDPHYS_BLENDER=blender)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("3 files: 0 errors"), done


@pytest.mark.parametrize("is_there", [False, True])
def test_a_program_that_writes_nothing_is_no_blender(usdphys, files, is_there):
    blender = posix_script(files / "blender", "exit 0")
    if is_there:
        (files / "new.glb").write_bytes(b"old")
    done = usdphys("convert", "scene.usda", "new.glb", USDPHYS_BLENDER=blender)
    assert done.returncode == 2
    assert f"'{blender}', which USDPHYS_BLENDER names, ended without writing 'new.glb'" in done.stderr


def test_a_blender_without_the_extension(usdphys, files):
    blender = posix_script(files / "blender", '[ "$2" = help ] && echo extension; [ "$2" = help ]')
    done = usdphys("inspect", "scene.blend", USDPHYS_BLENDER=blender)
    assert done.returncode == 2 and f"'{blender}'" in done.stderr and "install the extension" in done.stderr
    # One that has it may have failed because of the file: its own message is enough.
    blender = posix_script(files / "blender", '[ "$2" = help ] && echo usdphys; [ "$2" = help ]')
    done = usdphys("inspect", "scene.blend", USDPHYS_BLENDER=blender)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("named", ["no-such-blender", "python"])
def test_no_blender_at_the_name(usdphys, files, python, named):
    named = str(python) if named == "python" else named
    done = usdphys("inspect", "scene.blend", USDPHYS_BLENDER=named)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and named in line and "USDPHYS_BLENDER" in line


def test_a_python_with_bpy_does_the_rest(usdphys, files):
    """The one of `make env`, with the add-on from this checkout."""
    pythons = sorted(ROOT.glob(".venvs/bpy-*/bin/python"))
    if not pythons:
        pytest.skip("no environment with bpy; 'make env' makes one")
    blender = {"USDPHYS_BLENDER": str(pythons[-1]), "PYTHONPATH": str(ROOT)}
    done = usdphys("convert", "scene.usda", "made/out.blend", **blender)
    assert done.returncode == 0 and done.stdout.endswith("made/out.blend: 1 scene, 1 body, 2 colliders\n"), done.stderr
    assert json.loads(usdphys("inspect", "made/out.blend", "--json", **blender).stdout)["bodies"][0]["mass"] == 2
    mirrored = files / "heavy.usda"
    mirrored.write_text(SCENE.replace("{\n    def PhysicsScene", MIRRORED + "    def PhysicsScene", 1))
    done = usdphys("validate", "--fix", "made/out.blend", "heavy.usda", **blender)
    assert done.returncode == 0 and "heavy.usda: fixed: NegativeScale: /World/Left" in done.stdout, done
    assert done.stdout.splitlines()[-1] == "2 files: 0 errors, 0 warnings, 0 infos, 1 fixed"
    jobs = {"op": "convert", "in": "scene.usda", "out": "made/out.glb"}
    (files / "jobs.jsonl").write_text(json.dumps(jobs))
    done = usdphys("batch", "jobs.jsonl", "--workers", "1", **blender)
    assert done.returncode == 0 and (files / "made" / "out.glb").is_file(), done.stdout + done.stderr
