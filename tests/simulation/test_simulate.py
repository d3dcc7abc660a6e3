# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `simulate` on USD files: time samples and JSON, in two unit systems."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from usdphys_ext.usdphys_addon import cli

from .author import CENTIMETERS, METERS, File, Units, about, block
from .catalogue import SCENES
from .helpers import require_pxr

G = 9.81
W = "/World"


@pytest.fixture(autouse=True)
def _usd() -> None:
    require_pxr()


def simulate(folder, text: str, *arguments: str) -> int:
    (folder / "in.usda").write_text(text, encoding="utf-8")
    return cli.main(["simulate", str(folder / "in.usda"), *map(str, arguments)])


def world_at(stage, path: str, time: float) -> np.ndarray:
    from pxr import UsdGeom

    return np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(stage.GetPrimAtPath(path))).T


def opened(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


def test_poses_as_json(tmp_path, capfd) -> None:
    file = File(CENTIMETERS)
    file.add(file.body("Ball", (1, 2, 30), about("Z", 90), shape="Sphere", size=(0.2,), spin=(0, 0, 1.0)))
    poses = tmp_path / "poses.json"
    assert simulate(tmp_path, file.text(), "--seconds", 2, "--fps", 50, "--json", poses) == 0
    said = "1 body, 101 frames at 50 per second, 0 broken joints, 0 unstable bodies"
    assert capfd.readouterr().out.strip().endswith(said)
    table = json.loads(poses.read_text(encoding="utf-8"))
    assert (table["fps"], table["frames"]) == (50, 101)
    ball = table["bodies"][f"{W}/Ball"]
    assert len(ball["translation"]) == len(ball["rotation"]) == 101
    assert ball["translation"][0] == pytest.approx(file.lengths(file.world((1, 2, 30))))
    end = file.lengths(file.world((1, 2, 30 - G * 2)))
    assert ball["translation"][-1] == pytest.approx(end, abs=file.length(0.05))
    start = np.array(ball["rotation"][0])
    assert abs(start @ file.turn(about("Z", 90))) == pytest.approx(1.0)
    last = np.array(ball["rotation"][-1])
    assert abs(last @ file.turn(about("Z", 90 + np.degrees(2.0)))) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "units"),
    [("revolute_pendulum", CENTIMETERS), ("articulated_arm", CENTIMETERS), ("rider", METERS), ("collision", METERS)],
)
def test_baked_layer_moves_bodies_as_the_poses_say(name: str, units: Units, tmp_path) -> None:
    file = File(units)
    SCENES[name](file)
    baked, poses = tmp_path / "baked.usda", tmp_path / "poses.json"
    assert simulate(tmp_path, file.text(), "--seconds", 1, "--fps", 30, "--out", baked, "--json", poses) == 0
    stage = opened(baked)
    from pxr import UsdGeom, UsdPhysics

    assert stage.GetTimeCodesPerSecond() == 30
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 30)
    assert UsdGeom.GetStageMetersPerUnit(stage) == units.meters
    assert UsdGeom.GetStageUpAxis(stage) == units.up
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == units.kilograms
    assert stage.GetDefaultPrim().GetPath() == W
    assert stage.GetRootLayer().subLayerPaths[:] == ["./in.usda"]
    table = json.loads(poses.read_text(encoding="utf-8"))
    for path, body in table["bodies"].items():
        for frame in (0, 7, 30):
            place = world_at(stage, path, frame)[:3, 3]
            assert place == pytest.approx(body["translation"][frame], abs=file.length(1e-5))


def test_bake_below_parents_and_scale(tmp_path) -> None:
    """A body below turned, moved and scaled parents; a body below that body; one that resets the stack."""
    file = File(CENTIMETERS)
    inner = file.xform("Inner", (0, 0, 1), apis=["PhysicsRigidBodyAPI"], nested=True, scale=(0.5, 0.5, 0.5),
                       inside=[file.shape("Shape", "Cube", (0.5, 0.5, 0.5))])  # fmt: skip
    between = file.xform("Between", (0.3, 0, 0), nested=True, inside=[inner])
    cube = file.shape("Shape", "Cube", (1, 1, 1))
    reset = file.xform("Reset", (9, 9, 9), apis=["PhysicsRigidBodyAPI"], inside=[cube])
    reset = reset.replace('["xformOp:translate"', '["!resetXformStack!", "xformOp:translate"')
    outer = file.xform("Outer", (0, 0, 2), about("X", 20), apis=["PhysicsRigidBodyAPI"], nested=True,
                       lines=[f"vector3f physics:velocity = ({file.length(1)}, 0, 0)",
                              "vector3f physics:angularVelocity = (0, 90, 0)"],
                       inside=[file.shape("Shape", "Cube", (1, 1, 1)), between, reset])  # fmt: skip
    file.add(file.xform("Room", (3, 1, 20), about("Z", 30), scale=(2, 2, 2), inside=[outer]))
    baked, poses = tmp_path / "baked.usdc", tmp_path / "poses.json"
    assert simulate(tmp_path, file.text(), "--seconds", 0.5, "--fps", 20, "--out", baked, "--json", poses) == 0
    stage, before = opened(baked), opened(tmp_path / "in.usda")
    table = json.loads(poses.read_text(encoding="utf-8"))
    assert sorted(table["bodies"]) == [f"{W}/Room/Outer", f"{W}/Room/Outer/Between/Inner", f"{W}/Room/Outer/Reset"]
    for path, body in table["bodies"].items():
        assert world_at(stage, path, 0) == pytest.approx(world_at(before, path, 0), abs=file.length(1e-5))
        for frame in range(11):
            world = world_at(stage, path, frame)
            assert world[:3, 3] == pytest.approx(body["translation"][frame], abs=file.length(1e-5))
            lengths = np.linalg.norm(world[:3, :3], axis=0)
            assert lengths == pytest.approx(np.linalg.norm(world_at(before, path, 0)[:3, :3], axis=0), rel=1e-5)


@pytest.mark.slow
def test_animated_kinematic_body_pushes(tmp_path) -> None:
    """A wall whose time codes begin at 24 and run at 12 a second comes along with 1 m/s."""
    file = File(CENTIMETERS)
    file.gravity = (0, 0, 0)
    samples = ", ".join(f"{time}: {tuple(file.lengths(file.world((x, 0, 0))))}" for time, x in ((24, 0.0), (48, 2.0)))
    wall = file.body("Wall", size=(0.2, 2, 2), kinematic=True)
    still = wall.splitlines()[4].strip()
    assert still.startswith("double3 xformOp:translate = ")
    wall = wall.replace(still, f"double3 xformOp:translate.timeSamples = {{{samples}}}", 1)
    file.add(wall, file.body("Ball", (1, 0, 0), shape="Sphere", size=(0.2,)))
    times = "timeCodesPerSecond = 12\n    startTimeCode = 24\n    endTimeCode = 48"
    text = file.text().replace("upAxis", f"{times}\n    upAxis")
    baked = tmp_path / "baked.usda"
    assert simulate(tmp_path, text, "--seconds", 2, "--fps", 60, "--out", baked) == 0
    stage = opened(baked)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (120, 240)
    # USD brings the time codes of the file below to those of the layer.
    assert world_at(stage, f"{W}/Wall", 180)[:3, 3] == pytest.approx(file.lengths(file.world((1, 0, 0))))
    moved = file.lengths(file.world((2.3, 0, 0)))
    assert world_at(stage, f"{W}/Ball", 240)[:3, 3] == pytest.approx(moved, abs=file.length(0.05))
    assert not stage.GetRootLayer().GetPrimAtPath(f"{W}/Wall")


def test_bodies_in_instances_get_free(tmp_path) -> None:
    file = File()
    prototype = file.body("Crate", (0, 0, 0))
    head = "(\n    instanceable = true\n    references = </Proto>\n)"
    instances = [
        file.xform(f"I{index}", (3.0 * index, 0, 5)).replace(f'"I{index}"', f'"I{index}" {head}', 1)
        for index in range(2)
    ]
    file.add(*instances)
    text = file.text() + "\n" + block("Xform", "Proto", [prototype]).replace("def Xform", "class Xform", 1)
    baked = tmp_path / "baked.usda"
    assert simulate(tmp_path, text, "--seconds", 0.5, "--fps", 24, "--out", baked) == 0
    stage = opened(baked)
    for index in range(2):
        assert world_at(stage, f"{W}/I{index}/Crate", 12)[:3, 3] == pytest.approx((3.0 * index, 0, 5 - G / 8), abs=0.03)


@pytest.mark.parametrize("line", ["timeCodesPerSecond = 0", "startTimeCode = nan\n    endTimeCode = 1"])
def test_times_that_cannot_be_simulated_are_an_error_of_validate_too(tmp_path, capfd, line) -> None:
    text = File().text()
    assert simulate(tmp_path, text.replace("(\n", f"(\n    {line}\n", 1), "--seconds", 1) == 1
    assert cli.main(["validate", str(tmp_path / "in.usda")]) == 1
    assert "StageTimes: 'in.usda' has" in capfd.readouterr().out
    (tmp_path / "in.usda").write_text(text)
    assert cli.main(["validate", str(tmp_path / "in.usda")]) == 0


def test_missing_folders_of_outputs_are_made(tmp_path, capfd) -> None:
    outputs = "--out", tmp_path / "new" / "out.usda", "--json", tmp_path / "other" / "out.json"
    assert simulate(tmp_path, File().text(), "--seconds", 0.1, *outputs) == 0
    assert (tmp_path / "new" / "out.usda").is_file() and (tmp_path / "other" / "out.json").is_file()
    text = "".join(capfd.readouterr())
    assert "/new'" in text and "/other'" in text


def test_wrong_use(tmp_path, capfd) -> None:
    text = File().text()
    assert simulate(tmp_path, text, "--seconds", 1, "--out", tmp_path / "in.usda") == 1
    assert simulate(tmp_path, text, "--seconds", 1, "--out", tmp_path / "out.usdz") == 1
    assert simulate(tmp_path, text, "--seconds", -1) == 2
    assert simulate(tmp_path, text) == 2
    assert cli.main(["simulate", str(tmp_path / "missing.usda"), "--seconds", "1"]) == 1
    said = capfd.readouterr().err
    assert sum(line.startswith("usdphys: error") for line in said.splitlines()) == 3
    assert "usage: usdphys simulate" in said and "\\n" not in said
    assert (tmp_path / "in.usda").read_text(encoding="utf-8") == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.usda"]
    sys.stdout.flush()


@pytest.mark.parametrize("arc", ["references", "payload", "subLayers"])
def test_a_part_of_the_input_is_no_output(arc: str, tmp_path, capfd) -> None:
    """The motion would replace the geometry, and be a layer over a file that refers to itself."""
    file = File()
    file.add(file.body("Ball", (0, 0, 5)))
    part = tmp_path / "part.usda"
    part.write_text(file.text(), encoding="utf-8")
    whole = f'#usda 1.0\n()\ndef "World" ({arc} = @./part.usda@</World>)\n{{\n}}\n'
    if arc == "subLayers":
        whole = "#usda 1.0\n(\n    subLayers = [@./part.usda@]\n)\n"
    before = part.read_bytes()
    assert simulate(tmp_path, whole, "--seconds", 0.1, "--out", part) == 1
    assert "part.usda' is a part of 'in.usda'" in capfd.readouterr().err
    assert part.read_bytes() == before
    assert simulate(tmp_path, whole, "--seconds", 0.1, "--out", tmp_path / "other.usda") == 0


def test_poses_replace_no_file_of_another_kind(tmp_path, capfd) -> None:
    """An image that is not there yet would be no image; of a name without a kind, the content says what is lost."""
    for name, status in (("Checks.png", 2), ("photo.JPG", 2), ("sky.exr", 1), ("model.py", 1), ("empty", 0)):
        (tmp_path / name).write_bytes(b"" if status == 0 else b"import this")
        assert simulate(tmp_path, File().text(), "--seconds", 0.1, "--json", tmp_path / name) == status
        said = "is the name of another kind of file" if status == 2 else "is there and holds no JSON" if status else ""
        assert said in capfd.readouterr().err
        assert (tmp_path / name).read_bytes() == b"import this" or status == 0
    for _ in range(2):
        assert simulate(tmp_path, File().text(), "--seconds", 0.1, "--json", tmp_path / "poses.txt") == 0
    assert simulate(tmp_path, File().text(), "--seconds", 0.1, "--json", tmp_path / "new.png") == 2


def test_notices_go_to_stderr(tmp_path, capfd) -> None:
    file = File()
    file.add(file.body("Thing", geometry=file.shape("Shape", "Plane", ())))
    assert simulate(tmp_path, file.text(), "--seconds", 0.1) == 0
    captured = capfd.readouterr()
    assert "PlaneMoves" in captured.err
    assert "PlaneMoves" not in captured.out


def test_variations_say_what_is_not_simulated_as_written_once(tmp_path, capfd) -> None:
    file = File()
    file.add(file.body("Thing", geometry=file.shape("Shape", "Plane", ())))
    arguments = ("--vary", "place.z=1..2", "--runs", 3, "--json", tmp_path / "runs.json")
    assert simulate(tmp_path, file.text(), "--seconds", 0.1, *arguments) == 0
    assert capfd.readouterr().err.count("PlaneMoves") == 1


@pytest.mark.slow
def test_runs_with_varied_friction_slide_less_the_more_there_is(tmp_path, capfd) -> None:
    """A box that is thrown over a floor slides v^2 / (2 mu g)."""
    source = tmp_path / "slide.usda"
    source.write_text(SLIDE, encoding="utf-8")
    poses = tmp_path / "runs.json"
    arguments = ["--seconds", "3", "--fps", "60", "--vary", "friction=0.3..0.7", "--runs", "8", "--json", str(poses)]
    assert cli.main(["simulate", str(source), *arguments]) == 0
    first = poses.read_text(encoding="utf-8")
    runs = json.loads(first)["runs"]
    assert len(runs) == 8
    for run in runs:
        friction = run["values"]["/World/Matter:dynamic_friction"]
        assert friction == run["values"]["/World/Matter:static_friction"] and 0.3 <= friction <= 0.7
        way = run["bodies"]["/World/Box"]["translation"]
        assert way[-1][0] - way[0][0] == pytest.approx(3.0**2 / (2 * friction * G), rel=0.06)
    assert cli.main(["simulate", str(source), *arguments, "--seed", "0"]) == 0
    assert poses.read_text(encoding="utf-8") == first
    assert "8 runs of 181 frames, 2 values varied" in capfd.readouterr().out


def test_varied_runs_follow_what_is_animated(tmp_path, capfd) -> None:
    """A kinematic wall goes 1 m in a second, and pushes a box on ice, wherever that begins."""
    wall = """def Cube "Wall" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        bool physics:kinematicEnabled = 1
        double size = 1
        double3 xformOp:translate.timeSamples = {0: (-1, 0, 1), 24: (0, 0, 1)}
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    """
    text = SLIDE.replace('def Cube "Box"', wall + 'def Cube "Box"')
    text = text.replace("(3, 0, 0)", "(0, 0, 0)").replace("Friction = 0.5", "Friction = 0")
    text = text.replace("upAxis", "timeCodesPerSecond = 24\n    upAxis")
    poses = tmp_path / "runs.json"
    arguments = ("--vary", "/World/Box:place.x=1..1.3", "--runs", 4, "--json", poses)
    assert simulate(tmp_path, text, "--seconds", 1, "--fps", 60, *arguments) == 0
    for run in json.loads(poses.read_text())["runs"]:
        way = run["bodies"]["/World/Box"]["translation"]
        # The faces are 0.5 m and 1 m from the centres.
        assert way[0][0] < 1.31 and way[-1][0] > 1.45
    assert simulate(tmp_path, text, "--seconds", 1, "--vary", "/World/Wall:place.x=0..1", "--json", poses) != 0
    assert "'/World/Wall:place.x' is animated" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--vary", "friction=0..1"], "add --json"), (["--vary", "colour=0..1", "--json", "x.json"], "colour"),
        (["--vary", "friction=0..1", "--json", "x.json", "--out", "x.usda"], "leave out --out"),
        (["--runs", "10", "--json", "x.json"], "--vary"), (["--seed", "0", "--json", "x.json"], "--vary"),
        (["--base", "free", "--engine", "newton", "--engine-python", "/nowhere"], "--base is for"),
    ],
)  # fmt: skip
def test_variations_that_cannot_be_made_are_refused(tmp_path, monkeypatch, capfd, arguments, part) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slide.usda").write_text(SLIDE, encoding="utf-8")
    assert cli.main(["simulate", "slide.usda", "--seconds", "1", *arguments]) != 0
    assert part in capfd.readouterr().err
    assert not (tmp_path / "x.json").exists()


SLIDE = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Plane "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        uniform token axis = "Z"
        rel material:binding:physics = </World/Matter>
    }
    def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        double size = 1
        vector3f physics:velocity = (3, 0, 0)
        double3 xformOp:translate = (0, 0, 0.25)
        float3 xformOp:scale = (2, 2, 0.5)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        rel material:binding:physics = </World/Matter>
    }
    def Material "Matter" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    {
        float physics:dynamicFriction = 0.5
        float physics:staticFriction = 0.5
    }
}
"""
