# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulators in another Python: what they are given, and what becomes of the poses, of failures and of differences."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stand_in

from usdphys_addon import cli
from usdphys_addon.core.errors import InputError
from usdphys_addon.core.units import StageUnits
from usdphys_addon.simulation.engine import ENGINES, Program
from usdphys_addon.simulation.engines import external
from usdphys_addon.simulation.record import Recording
from usdphys_addon.usd import read as usd_read

CRATE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 50
        double3 xformOp:translate = (10, 300, 20)
        float3 xformOp:rotateXYZ = (0, 90, 0)
        float3 xformOp:scale = (1, 2, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
    }
    def Cube "Other" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 50
        double3 xformOp:translate = (500, 300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
#: Moves the crate by 100 units along X of the stage in each step, as a simulator would write it.
MOVES = """
import sys
import numpy as np
file, steps, seconds, target = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
assert "Crate" in open(file).read() and seconds == 0.1
turn = [0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4)]
poses = np.array([[[10.0 + 100.0 * step, 300.0, 20.0, *turn]] for step in range(steps + 1)])
print(f"step {steps}")
np.savez(target, names=np.array(["/World/Crate"]), poses=poses, is_z_up=False)
"""
LONG = "a" * (2 * external.MOST_SAID)


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    file = tmp_path / "crate.usda"
    file.write_text(CRATE)
    return file


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Let a program stand for PhysX, in this Python."""

    def make(program: str) -> None:
        file = tmp_path / "program.py"
        file.write_text(program)
        known = replace(ENGINES["physx"], program=str(file))
        monkeypatch.setitem(ENGINES, "physx", known)
        monkeypatch.setenv(known.variable, sys.executable)

    return make


def simulate(crate: Path, *more: str) -> int:
    return cli.main(["simulate", str(crate), "--seconds", "0.3", "--fps", "10", "--engine", "physx", *more])


def fallen(steps: int, seconds: float) -> float:
    """How far a body of the stand-in is below its start, m: velocities come first."""
    return 9.81 * seconds**2 * steps * (steps + 1) / 2


@pytest.mark.slow
def test_motion_of_the_engine_is_written(crate, monkeypatch, tmp_path, capsys):
    """Poses come out as time samples in the units of the stage, with the scale that the prim had."""
    stand_in.stands_for(monkeypatch, ENGINES)
    out, poses = tmp_path / "out.usda", tmp_path / "poses.json"
    assert simulate(crate, "--out", str(out), "--json", str(poses)) == 0
    stage = usd_read.open_stage(out)
    from pxr import Gf, UsdGeom

    for frame in range(4):
        time = stage.GetStartTimeCode() + frame
        world = UsdGeom.Xformable(stage.GetPrimAtPath("/World/Crate")).ComputeLocalToWorldTransform(time)
        height = 300 - 100 * fallen(frame, 0.1)
        wanted = Gf.Matrix4d(Gf.Rotation(Gf.Vec3d(0, 1, 0), 90), Gf.Vec3d(10, height, 20))
        wanted = Gf.Matrix4d().SetScale(Gf.Vec3d(1, 2, 1)) * wanted
        assert np.allclose(np.array(world), np.array(wanted), atol=1e-4)
    found = json.loads(poses.read_text())["bodies"]["/World/Crate"]
    assert found["translation"][3] == pytest.approx([10, 300 - 100 * fallen(3, 0.1), 20], abs=1e-4)
    said = capsys.readouterr().err
    # The crate falls by 4.905 * 0.3**2 = 0.44 m in the preview, and by 0.59 m in the stand-in.
    assert "PhysX against the preview" in said and "/World/Crate: 0.1" in said


@pytest.mark.slow
def test_an_animated_body_moves_in_the_engine_too(monkeypatch, tmp_path):
    stand_in.stands_for(monkeypatch, ENGINES)
    file, poses = tmp_path / "lift.usda", tmp_path / "poses.json"
    text = CRATE.replace("double size = 50", "double size = 50\n        bool physics:kinematicEnabled = 1", 1)
    text = text.replace("translate = (10, 300, 20)", "translate.timeSamples = {0: (0, 0, 0), 24: (240, 0, 0)}", 1)
    file.write_text(text.replace("metersPerUnit", "endTimeCode = 24\n    startTimeCode = 0\n    metersPerUnit"))
    assert simulate(file, "--json", str(poses)) == 0
    found = json.loads(poses.read_text())["bodies"]["/World/Crate"]
    assert [place[0] for place in found["translation"]] == pytest.approx([0, 24, 48, 72], abs=1e-3)


@pytest.mark.slow
def test_what_the_engine_cannot_do_is_a_warning_and_no_file_is_left(crate, monkeypatch, tmp_path, capsys):
    out = tmp_path / "out.usda"
    stand_in.stands_for(monkeypatch, ENGINES)
    assert simulate(crate, "--quality", "exact", "--out", str(out)) == 0
    assert "PhysX does not know the quality: set the substeps." in capsys.readouterr().err
    out.unlink()
    stand_in.stands_for(monkeypatch, ENGINES, fault="raises@build")
    assert simulate(crate, "--out", str(out)) == 1
    said = capsys.readouterr().err
    assert "PhysX could not simulate 'crate.usda': the scene is too odd" in said
    assert "Traceback" not in said and not out.exists()


@pytest.mark.slow
def test_failure_of_the_engine_is_one_sentence(crate, engine):
    for program, sentence in (
        ("import nowhere_to_be_found", "no module 'nowhere_to_be_found'; install ovphysx"),
        ("raise SystemExit('the stage is too odd')", "could not simulate 'crate.usda': the stage is too odd"),
        (
            "raise ValueError('Error: mass and inertia of moving bodies must be larger than mjMINVAL\\nElement name '"
            "\"'/World/Arm', id 2\")",
            "cannot simulate 'crate.usda', because '/World/Arm' moves without a mass or an inertia",
        ),
        (
            "raise ValueError(\"Error: inertia must satisfy A + B >= C; use 'balanceinertia' to fix\\nElement name \"\n"
            "\"'/World/Arm', id 2\")",
            "because '/World/Arm' has moments of inertia that no body has; correct them, or leave them out.",
        ),
        (
            "raise ValueError('Found 2 joint(s) not belonging to any articulation. Call add_articulation() for all '"
            "'joints. Orphan joints: ' + str(['/World/Hinge', '/World/Slide']))",
            "because the joint '/World/Hinge' is in no articulation; add an Articulation Root",
        ),
        (
            "raise NotImplementedError('Joint type 5 is not supported yet')",
            "its solver has no distance joints; use ball",
        ),
        (
            "import atexit\natexit.register(lambda: print('Module newton._src.sim 1f0 load on device cpu took 1 ms'))"
            "\nraise AssertionError('Only plane shapes are allowed to have a size of zero')",
            "because a collider is mirrored by a negative scale, or has no size; apply the scale.",
        ),
        (
            "import atexit\natexit.register(lambda: print('Module newton._src.sim 1f0 load on device cpu took 1 ms'))"
            "\nraise AssertionError('a word')",
            "could not simulate 'crate.usda': a word|",
        ),
        ("raise RuntimeError('two\\nlines')", "could not simulate 'crate.usda': two lines"),
        (
            "raise RuntimeError('the first line\\nValueError: is the cause of it')",
            "could not simulate 'crate.usda': the first line ValueError: is the cause of it",
        ),
        (
            "try:\n    raise ValueError('before')\nexcept ValueError:\n    raise RuntimeError('after')",
            "could not simulate 'crate.usda': after",
        ),
        # What is told of a name longer than what is passed on as it is.
        (f"raise ModuleNotFoundError(\"No module named '{LONG}'\")", f"has no module '{LONG}'; install"),
        (f"raise RuntimeError('{LONG}')", f"could not simulate 'crate.usda': {LONG[: external.MOST_SAID]}"),
        ("import os; os.abort()", "could not simulate 'crate.usda'"),
        ("", "could not simulate 'crate.usda': exit status 0"),
        (MOVES.replace("300.0, 20.0", "float('nan'), 20.0"), "PhysX gave NaN for the poses of bodies of 'crate.usda'"),
    ):
        engine(program)
        with external.Run("physx", sys.executable, crate, 3, 0.1) as run:
            run.wait()
            with pytest.raises(InputError) as raised:
                run.poses(StageUnits(0.01, 1.0, "Y"))
        said = f"{raised.value}|"
        assert sentence in said and "Traceback" not in said


@pytest.mark.slow
def test_each_file_of_a_run_is_told_its_own_failure(crate, engine, tmp_path):
    """All were told that of the last one."""
    other = tmp_path / "other.usda"
    other.write_text(crate.read_text())
    folder = str(Path(external.__file__).parent)
    engine(
        f"import sys\nfrom pathlib import Path\nsys.path.append({folder!r})\nimport pipe\n"
        "class Odd(pipe.Scene):\n    def build(self, header, arrays):\n"
        "        raise ValueError(Path(header['file']).stem + ' is odd')\n"
        "sys.exit(pipe.main(Odd, sys.argv[1:]))\n"
    )
    with external.Run("physx", sys.executable, crate, 3, 0.1, more=[external.Job(other, 3, 0.1)]) as run:
        run.wait()
        for number, name in enumerate(("crate", "other")):
            with pytest.raises(InputError, match=f"could not simulate '{name}.usda': {name} is odd"):
                run.poses(StageUnits(0.01, 1.0, "Y"), number)


def test_python_that_is_not_there(crate, monkeypatch, capsys):
    variable = ENGINES["physx"].variable
    monkeypatch.delenv(variable, raising=False)
    assert simulate(crate) == 1
    assert f"(--engine-python, {variable})" in capsys.readouterr().err
    assert simulate(crate, "--engine-python", "/nowhere/python") == 1
    assert "'/nowhere/python' is not a program" in capsys.readouterr().err
    assert cli.main(["simulate", str(crate), "--seconds", "1", "--engine-python", sys.executable]) == 2


def test_the_simulator_is_ended_with_its_files(crate, engine, tmp_path):
    """A user who gives up leaves neither a process nor a folder."""
    engine("import sys, time\nprint('step 1', flush=True)\nwhile True: time.sleep(1)")
    with external.Run("physx", sys.executable, crate, 4, 0.1) as run:
        while not run.done:
            assert run.is_running()
        assert run.done == 0.25
        folder, child = run.folder, run.pid
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.slow
def test_poses_with_z_up_are_not_turned(crate, engine):
    """Newton turns a stage with Y up by itself."""
    engine(MOVES.replace("is_z_up=False", "is_z_up=True").replace("== 0.1", "== 0.5"))
    with external.Run("physx", sys.executable, crate, 1, 0.5) as run:
        run.wait()
        for units, place in (
            (StageUnits(0.01, 1.0, "Y"), [1.1, 3.0, 0.2]), (StageUnits(1.0, 1.0, "Z"), [110.0, 300.0, 20.0])
        ):  # fmt: skip
            assert run.poses(units).positions[1, 0] == pytest.approx(place)


def test_largest_differences_come_first():
    def recording(places: list[list[float]]) -> Recording:
        count = len(places)
        positions = np.zeros((count, 2, 3))
        positions[:, :, 0] = places
        rotations = np.tile([1.0, 0.0, 0.0, 0.0], (count, 2, 1))
        return Recording(10.0, ("/A", "/B"), np.zeros(2, bool), np.zeros((count, 2, 4, 4)), positions, rotations)

    still = recording([[0, 0], [0, 0], [0, 0]])
    found = external.differences(recording([[0, 0], [0.5, 1], [0.25, 3]]), still)
    assert [(each.path, each.distance, each.frame) for each in found] == [("/B", 3.0, 2), ("/A", 0.5, 1)]


def test_the_command_line_knows_the_engines(capsys):
    assert cli.main(["simulate", "--help"]) == 0
    text = capsys.readouterr().out
    assert "{" + ",".join(ENGINES) + "}" in text
    for engine in (row for row in ENGINES.values() if isinstance(row, Program)):
        assert engine.name in text and engine.variable in text
        assert (Path(external.__file__).parent / engine.program).is_file()


def test_pip_is_told_all_that_newtons_importer_needs():
    """Without scipy it refuses every file with a hull of a mesh."""
    assert {"newton-usd-schemas", "usd-core", "scipy"} <= set(ENGINES["newton"].packages.split())


def test_no_python_is_an_input_error(monkeypatch):
    monkeypatch.delenv("USDPHYS_NEWTON_PYTHON", raising=False)
    with pytest.raises(InputError, match="Newton needs a Python of its own"):
        external.python_of("newton")


@pytest.mark.skipif(not os.environ.get("PHYSX_PYTHON"), reason="PHYSX_PYTHON names no Python with ovphysx")
def test_physx_falls_as_it_should(crate):
    with external.Run("physx", os.environ["PHYSX_PYTHON"], crate, 30, 1 / 60) as run:
        run.wait()
        poses = run.poses(StageUnits(0.01, 1.0, "Y"))
    height = poses.positions[30, poses.names.index("/World/Crate"), 2]
    # Half of g t², to the way of one step of PhysX.
    assert height == pytest.approx(3.0 - 0.5 * 9.81 * 0.5**2, abs=0.02)
