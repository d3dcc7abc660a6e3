# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line on hostile USD files and arguments: one sentence and the right status, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon import cli

from .helpers import require_pxr

ROOT = Path(__file__).resolve().parents[2]
#: An option that shows the traceback of a fault, so that a failing test tells where it is.
DEBUG = "--debug"


@pytest.fixture(autouse=True)
def _usd() -> None:
    require_pxr()


def stage(metadata: str = "metersPerUnit = 1", body: str = "", mesh: str = "", above: str = "") -> str:
    return f"""#usda 1.0
(
    upAxis = "Z"
    {metadata}
)
def Xform "World"
{{
    {above}
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
    {{
        {body}
    }}
    {mesh}
}}
"""


MESH = """
    def Mesh "Rock" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {{
        point3f[] points = {points}
        int[] faceVertexCounts = {counts}
        int[] faceVertexIndices = {indices}
    }}
"""
CORNERS = "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"
PLACED = 'uniform token[] xformOpOrder = ["xformOp:translate"]'

#: name: (text of the file, status of inspect, of simulate). A body that is nowhere is inspected, not simulated.
FILES = {
    "a box inside of one that is larger than the earth": (stage(mesh="""
        def Cube "Huge" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
        {
            bool physics:kinematicEnabled = 1
            double size = 4294967296
        }
    """), 0, 0),
    "no unit of length": (stage("metersPerUnit = 0"), 1, 1),
    "negative unit of mass": (stage("kilogramsPerUnit = -1"), 1, 1),
    "length that is no number": (stage("metersPerUnit = nan"), 1, 1),
    "no time": (stage("timeCodesPerSecond = 0"), 0, 1),
    "a billion frames a second": (stage("timeCodesPerSecond = 1e9"), 0, 1),
    "a start that is no number": (stage("startTimeCode = nan\n    endTimeCode = 2"), 0, 1),
    "huge size": (stage(body="double size = 1e300"), 0, 1),
    "place that is no number": (stage(body=f"double3 xformOp:translate = (nan, 0, 0)\n{PLACED}"), 0, 1),
    "place beyond the solver": (stage(body=f"double3 xformOp:translate = (1e30, 0, 0)\n{PLACED}"), 0, 1),
    "mass of another type": (stage(body="float3 physics:mass = (1, 2, 3)"), 0, 0),
    "velocity of words": (stage(body='string[] physics:velocity = ["a", "b", "c"]'), 0, 0),
    "inertia of no numbers": (stage(body="float3[] physics:diagonalInertia = []"), 0, 0),
    "thousands of levels": (stage(above='def "A" {\n' * 1500 + "}\n" * 1500), 1, 1),
    "operation without a name": (stage(body='uniform token[] xformOpOrder = ["", "nonsense"]'), 0, 0),
    "index below zero": (stage(mesh=MESH.format(points=CORNERS, counts="[3]", indices="[0, 1, -7]")), 0, 0),
    "index beyond the points": (stage(mesh=MESH.format(points=CORNERS, counts="[3]", indices="[0, 1, 99]")), 0, 0),
    "more corners than indices": (stage(mesh=MESH.format(points=CORNERS, counts="[900]", indices="[0, 1, 2]")), 0, 0),
    "corners below zero": (stage(mesh=MESH.format(points=CORNERS, counts="[-3, 3]", indices="[0, 1, 2]")), 0, 0),
    "points that are none": (stage(mesh='def Mesh "M" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {\n'
                                        "quatf points = (1, 0, 0, 0)\n}"), 0, 0),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FILES))
def test_a_hostile_file_gets_one_sentence_and_no_traceback(name: str, tmp_path: Path, capfd) -> None:
    text, inspected, simulated = FILES[name]
    file = tmp_path / "in.usda"
    file.write_text(text)
    assert cli.main([DEBUG, "validate", str(file)]) in (0, 1)
    capfd.readouterr()
    assert cli.main([DEBUG, "inspect", str(file), "--json"]) == inspected
    printed = capfd.readouterr()
    if inspected == 0:
        json.loads(printed.out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    poses = tmp_path / "poses.json"
    for output in (("--json", poses), ("--out", tmp_path / "motion.usda")):
        assert cli.main([DEBUG, "simulate", str(file), "--seconds", "0.1", *map(str, output)]) == simulated
        errors = [line for line in capfd.readouterr().err.splitlines() if line.startswith("usdphys: error: ")]
        assert len(errors) == simulated
        assert output[1].exists() == (simulated == 0)
    if simulated == 0:
        json.loads(poses.read_text(), parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


@pytest.mark.parametrize("name", [b"Crate", b"PhysicsRigidBodyAPI"])
def test_names_that_are_no_text_get_one_sentence(name: bytes, tmp_path: Path, capfd) -> None:
    """A binary file holds its names as bytes, which nobody has checked."""
    from pxr import Sdf

    text, file = tmp_path / "in.usda", tmp_path / "in.usdc"
    text.write_text(stage(body="float physics:mass = 1"))
    Sdf.Layer.FindOrOpen(str(text)).Export(str(file))
    data = file.read_bytes()
    file.write_bytes(data.replace(name, b"\xf0" + name[1:]))
    assert file.read_bytes() != data, "the name is in the file as it is"
    for command in (
        ["validate"],
        ["inspect"],
        ["simulate", "--seconds", "0.1", "--json", str(tmp_path / "poses.json")],
    ):
        assert cli.main([DEBUG, command[0], str(file), *command[1:]]) == 1
        errors = [line for line in capfd.readouterr().err.splitlines() if "error: " in line]
        assert len(errors) == 1 and ("not UTF-8" in errors[0] or "damaged" in errors[0])


@pytest.mark.parametrize(
    "arguments",
    [("--seconds", "1e9"), ("--seconds", "1e300"), ("--seconds", "0.1", "--fps", "1e12"),
     ("--seconds", "0.1", "--fps", "1e-9"), ("--seconds", "0.1", "--substeps", "9" * 20),
     ("--seconds", "0.1", "--substeps", "1001"), ("--seconds", "nan"), ("--seconds", "1000000", "--fps", "100000")],
)  # fmt: skip
def test_more_than_fits_is_a_wrong_argument_before_anything_is_allocated(arguments, tmp_path: Path, capfd) -> None:
    file, poses = tmp_path / "in.usda", tmp_path / "poses.json"
    file.write_text(stage())
    assert cli.main([DEBUG, "simulate", str(file), *arguments, "--json", str(poses)]) == 2
    assert "error: " in capfd.readouterr().err
    assert not poses.exists()


@pytest.mark.parametrize("arguments", [("--prefix", "\udcff"), ("--arg", "a:=\udcff"), ("--package", "\udcff=.")])
def test_an_option_that_is_no_text_is_a_wrong_argument(arguments, tmp_path: Path, capfd) -> None:
    (tmp_path / "in.xacro").write_text('<robot name="r"><link name="l"/></robot>')
    assert cli.main([DEBUG, "inspect", str(tmp_path / "in.xacro"), *arguments]) == 2
    assert "is not encoded in UTF-8" in capfd.readouterr().err


def test_names_in_a_file_do_not_reach_the_terminal_as_commands(tmp_path: Path, capfd) -> None:
    file = tmp_path / "a\x1b[31m\n\u202eb.usda"
    file.write_text(stage(body='token physics:axis = "\x1b]0;owned\x07"'))
    for command in ("validate", "inspect"):
        assert cli.main([DEBUG, command, str(file)]) == 0
        printed = capfd.readouterr()
        assert "\x1b" not in printed.out + printed.err
        assert printed.out.splitlines()[0 if command == "inspect" else -1].startswith(str(tmp_path))
    assert cli.main([DEBUG, "validate", f"{file}\x1bgone"]) == 1
    assert cli.main(["nonsense\x1b"]) == 2
    assert "\x1b" not in capfd.readouterr().err


# --------------------------------------------------------------------------- processes


def run(arguments: list[str], folder: Path, shell: str = "", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A command line in a process of its own, whose shell does something first."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = ["sh", "-c", shell or 'exec "$@"', "sh", sys.executable, "-m", "usdphys_addon", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, check=False)


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    file = tmp_path / "crate.usda"
    file.write_text(stage())
    return file


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_result_that_does_not_fit_is_an_error(crate: Path) -> None:
    found = run(["inspect", str(crate)], crate.parent, 'exec "$@" >/dev/full')
    assert found.returncode == 1
    assert found.stderr.decode().splitlines() == [
        "usdphys: error: The result could not be printed (No space left on device); stdout has to be writable."
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the stack cannot grow after the start")
def test_prims_nested_30_000_levels_deep_are_refused_and_do_not_end_the_process(tmp_path: Path) -> None:
    depth = 30_000
    (tmp_path / "deep.usda").write_text("#usda 1.0\n" + 'def "a" {\n' * depth + "}\n" * depth)
    found = run(["validate", "deep.usda"], tmp_path)
    assert found.returncode == 1 and b"more than 1000 levels deep" in found.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of other systems end in another way")
def test_a_reader_that_has_gone_is_an_error_and_no_traceback(crate: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "usdphys_addon", "inspect", str(crate)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        command, stdout=writer, stderr=subprocess.PIPE, env=environment, timeout=300, check=False
    )  # fmt: skip
    os.close(writer)
    assert found.returncode == 1
    assert found.stderr.decode().splitlines() == [
        "usdphys: error: The result could not be printed (Broken pipe); stdout has to be writable."
    ]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&- >&-", "<&- >&- 2>&-", "2>&-"])
def test_nothing_is_printed_into_the_output_where_streams_are_closed(crate: Path, closed: str) -> None:
    """A file that is opened while stdout is closed gets its number: what is printed would land in that file."""
    motion = crate.parent / "motion.usda"
    found = run(["simulate", str(crate), "--seconds", "0.1", "--out", str(motion)], crate.parent, f'exec "$@" {closed}')
    assert found.returncode == 0
    text = motion.read_text()
    assert text.startswith("#usda 1.0") and text.rstrip().endswith("}") and "1 body" not in text


@pytest.mark.skipif(os.name != "posix", reason="other systems keep a folder that is in use")
def test_a_working_folder_that_is_gone_is_named(crate: Path) -> None:
    (folder := crate.parent / "gone").mkdir()
    found = run(["validate", str(crate)], folder, 'rmdir "$PWD"; exec "$@"')
    assert found.returncode == 1
    assert found.stderr.decode().splitlines() == [
        "usdphys: error: The working folder does not exist any more; change to another one."
    ]


def test_a_fault_of_ours_has_its_own_status_and_no_traceback(crate: Path, monkeypatch, capfd) -> None:
    from usdphys_ext.usdphys_addon.core import summary

    def fail(_model: object) -> None:
        raise ZeroDivisionError("a fault\nof ours")

    monkeypatch.setattr(summary, "summarise", fail)
    assert cli.main(["inspect", str(crate)]) == 3
    printed = capfd.readouterr().err
    assert printed.count("\n") == 1 and "ZeroDivisionError: a fault of ours" in printed
    assert cli.main([DEBUG, "inspect", str(crate)]) == 3
    assert "Traceback" in capfd.readouterr().err


CRASH = """
import faulthandler, os, pathlib
def write_text(self, *arguments, **options):
    self.write_bytes(b"half")
    faulthandler._sigsegv()
if "USDPHYS_FAULT_LOG" in os.environ:
    pathlib.Path.write_text = write_text
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX systems only")
def test_a_crash_in_an_isolated_command_costs_a_sentence_and_leaves_nothing(crate: Path, tmp_path_factory) -> None:
    (hooks := tmp_path_factory.mktemp("hooks")).joinpath("sitecustomize.py").write_text(CRASH)
    (poses := crate.with_name("poses.json")).write_text("old")
    arguments = ["simulate", str(crate), "--seconds", "0.1", "--isolate", "--json", str(poses)]
    found = run(arguments, crate.parent, PYTHONPATH=f"{hooks}{os.pathsep}{ROOT}")
    assert found.returncode == 1, found
    assert found.stderr.decode().splitlines() == [
        f"usdphys: error: '{crate}' makes Blender crash (segmentation fault); no output was written."
    ]
    assert poses.read_text() == "old"
    assert sorted(path.name for path in crate.parent.iterdir()) == [crate.name, poses.name]


@pytest.mark.slow
def test_an_isolated_command_says_and_returns_what_it_does_without(crate: Path) -> None:
    for arguments in (["inspect", str(crate)], ["validate", str(crate)], ["inspect", str(crate) + "x"]):
        here, isolated = run(arguments, crate.parent), run([*arguments, "--isolate"], crate.parent)
        assert (isolated.returncode, isolated.stdout, isolated.stderr) == (here.returncode, here.stdout, here.stderr)
