# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands `prove` and `report`: exit status, files, and what they refuse."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from usdphys_ext.usdphys_addon.cli import hand_over, main
from usdphys_ext.usdphys_addon.proving import budget
from usdphys_ext.usdphys_addon.proving.budget import Budget
from usdphys_ext.usdphys_addon.simulation.engine import PYTHONS, others
from usdphys_ext.usdphys_addon.simulation.engines import pipe
from usdphys_ext.usdphys_addon.system import blender

from .author import METERS
from .demos import DEMOS

#: So much that nothing is left out on a slow machine.
LONG = ["--budget", "5000", "--seconds", "0.5"]


@pytest.fixture(autouse=True)
def _no_other_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in others().values():
        monkeypatch.delenv(row.variable, raising=False)


@pytest.fixture
def door(tmp_path: Path) -> Path:
    file = tmp_path / "door.usda"
    file.write_text(DEMOS["door"](METERS), encoding="utf-8")
    return file


@pytest.mark.slow
def test_a_clean_asset_has_status_0_and_a_certificate_as_json_and_junit(door: Path, capsys) -> None:
    proof, cases = door.with_name("out") / "proof.json", door.with_name("proof.xml")
    assert main(["prove", str(door), "--json", str(proof), "--junit", str(cases), *LONG]) == 0
    table = json.loads(proof.read_text(encoding="utf-8"))
    assert table["verdict"] == "pass"
    assert {check["section"] for check in table["checks"]} >= {"asset", "words", "joints", "rewrites"}
    root = ElementTree.parse(cases).getroot()
    assert root.get("tests") == str(len(table["checks"]))
    assert root.get("failures") == "0"
    # What this Python cannot try, it says.
    left_out = [check["message"] for check in table["checks"] if check["status"] == "skipped"]
    assert [message for message in left_out if "need Blender" not in message] == [
        "Nothing is said of engines that are not here: PhysX, Newton, Havok."
    ]
    assert len(left_out) == int(root.get("skipped", "")) == 1 + (not blender.is_here())
    assert table["digest"][:12] in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_wrong_has_status_1_and_its_attribute_on_the_screen_and_in_junit(door: Path, capsys) -> None:
    text = door.read_text(encoding="utf-8").replace("physics:lowerLimit = 0.0", "physics:lowerLimit = 20.0")
    door.write_text(text, encoding="utf-8")
    assert main(["prove", str(door), "--junit", str(door.with_suffix(".xml")), *LONG]) == 1
    told = capsys.readouterr().out
    assert "physics:lowerLimit of /World/Hinge (20" in told
    failures = ElementTree.parse(door.with_suffix(".xml")).getroot().findall(".//failure")
    assert any("physics:lowerLimit" in (failure.text or "") for failure in failures)


def test_an_asset_whose_files_are_not_there_does_not_pass(tmp_path: Path, capsys) -> None:
    """It had nothing that moves, and passed."""
    robot = tmp_path / "robot.usda"
    robot.write_text('#usda 1.0\n(\n    subLayers = [@base.usda@]\n)\nover "A" (references = </Gone>)\n{\n}\n')
    assert main(["prove", str(robot), "--only", "asset"]) == 1
    told = capsys.readouterr().out
    assert "fail: asset: 'base.usda' cannot be read; its content is missing. In all, 2 parts are missing. Put" in told
    other = tmp_path / "robot.urdf"
    mesh = '<geometry><mesh filename="gone.stl"/></geometry>'
    other.write_text(
        f'<robot name="r"><link name="a"><visual>{mesh}</visual><collision>{mesh.replace("gone", "lost")}</collision>'
        "</link></robot>"
    )
    assert main(["prove", str(other), "--only", "asset"]) == 0
    told = capsys.readouterr().out
    assert "doubtful: asset: robot.urdf:1: The mesh '" in told and "In all, 2 meshes are left out." in told


@pytest.mark.parametrize("end", [".urdf", ".xacro", ".urdf.xacro"])
def test_a_description_of_a_robot_has_no_pose_to_start_in_whatever_it_is_written_in(
    tmp_path: Path, capsys, end: str
) -> None:
    """A robot in xacro failed because its elbow cannot be at zero, and the same in URDF did not."""
    robot = tmp_path / f"robot{end}"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    robot.write_text(
        f'<robot name="r"><link name="a"/><link name="b">{inertial}</link><joint name="elbow" type="revolute"><parent '
        'link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="0.5" upper="1" effort="1" velocity="1"/></joint>'
        "</robot>"
    )
    assert main(["prove", str(robot), "--only", "asset"]) == 0
    told = capsys.readouterr().out
    assert "doubtful: asset: /r/Physics/elbow starts 0 degrees, outside of its limits" in told
    assert "a description of a robot has no pose to start in" in told


@pytest.mark.slow
def test_an_asset_is_proven_against_its_source(door: Path, capsys) -> None:
    source = door.with_name("source.usda")
    source.write_text(door.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["prove", str(door), "--against", str(source), *LONG]) == 0
    lines = [line for line in door.read_text(encoding="utf-8").splitlines() if "upperLimit" not in line]
    door.write_text("\n".join(lines), encoding="utf-8")
    capsys.readouterr()
    assert main(["prove", str(door), "--against", str(source), *LONG]) == 1
    assert "physics:upperLimit of /World/Hinge (not said; 108" in capsys.readouterr().out


@pytest.mark.slow
def test_a_model_with_a_keyframe_is_told_to_start_there_and_is_silent_in_it(tmp_path: Path, capsys) -> None:
    """Legs of a robot, whose limits exclude zero, were said to have no pose to start in."""
    model = tmp_path / "leg.xml"
    model.write_text("""<mujoco><compiler angle="radian"/><worldbody><body name="leg" pos="0 0 1">
        <joint name="knee" axis="0 1 0" range="-2 -0.5"/>
        <geom type="box" size="0.02 0.02 0.1" pos="0 0 -0.1" mass="1"/></body></worldbody>
        <keyframe><key name="home" qpos="-1"/></keyframe></mujoco>""")
    limits = ["prove", str(model), "--only", "asset", "--budget", "5000"]
    assert main(limits) == 0
    told = capsys.readouterr().out
    assert "starts 0 degrees, outside of its limits" in told and "(--keyframe home)." in told
    assert main([*limits, "--keyframe", "home"]) == 0
    assert "limits" not in capsys.readouterr().out


@pytest.mark.slow
def test_what_differs_in_a_part_of_mjcf_that_is_not_read_is_named(tmp_path: Path, capsys) -> None:
    """The gain of a gripper's actuator, which pulls a tendon, was a hundredth, and the proof passed."""
    text = """<mujoco><worldbody><body name="finger"><joint name="slide" type="slide" axis="1 0 0" range="0 0.04"/>
      <geom size="0.02"/></body></worldbody>
      <tendon><fixed name="both"><joint joint="slide" coef="0.5"/></fixed></tendon>
      <actuator><general name="grip" tendon="both" gainprm="{} 0 0"/></actuator></mujoco>"""
    one, other = (tmp_path / f"{name}.xml" for name in ("one", "other"))
    one.write_text(text.format("0.01"))
    other.write_text(text.format("1.0"))
    assert main(["prove", str(one), "--against", str(other), "--only", "against", *LONG]) == 0
    told = capsys.readouterr().out
    assert "doubtful: against: gainprm of general grip differs in 'other.xml', and is not simulated here." in told
    assert "(0.01 0 0; 1.0 0 0 in the other)" in told
    other.write_text(one.read_text())
    assert main(["prove", str(one), "--against", str(other), "--only", "against", *LONG]) == 0
    assert "gainprm" not in capsys.readouterr().out


@pytest.mark.slow
def test_expectations_beside_an_asset_are_found_and_those_elsewhere_are_named(door: Path, capsys) -> None:
    demand = "[[expect]]\nname = 'light'\nbody = '/World/Leaf'\nmass = [1, 2]\n"
    door.with_name("door.expect.toml").write_text(demand, encoding="utf-8")
    assert main(["prove", str(door), *LONG]) == 1
    assert "light: it weighs 20 kg" in capsys.readouterr().out
    other = door.with_name("other.toml")
    other.write_text(demand.replace("[1, 2]", "[1, 200]"), encoding="utf-8")
    assert main(["prove", str(door), "--expect", str(other), *LONG]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("end", ["yaml", "json"])
def test_expectations_in_a_format_that_is_not_read_are_an_error_and_no_silence(door: Path, capsys, end: str) -> None:
    door.with_name(f"door.expect.{end}").write_text("expect: []", encoding="utf-8")
    assert main(["prove", str(door), "--only", "expectations"]) == 1
    assert "write the expectations as TOML, in 'door.expect.toml'" in capsys.readouterr().err
    door.with_name("door.expect.toml").write_text("", encoding="utf-8")
    assert main(["prove", str(door), "--only", "expectations"]) == 0


@pytest.mark.slow
def test_the_digest_travels_in_the_custom_data_of_a_layer_over_the_asset(door: Path) -> None:
    from pxr import Usd
    from usdphys_ext.usdphys_addon.usd import restated

    stamped, proof = door.with_name("stamped.usda"), door.with_name("proof.json")
    assert main(["prove", str(door), "--stamp", str(stamped), "--json", str(proof), *LONG]) == 0
    kept = restated.proof_of(stamped)
    assert kept["digest"] == json.loads(proof.read_text(encoding="utf-8"))["digest"]
    assert Usd.Stage.Open(str(stamped)).GetPrimAtPath("/World/Hinge").GetTypeName() == "PhysicsRevoluteJoint"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--json", "out.xml"], 2, "must end with .json"),
        (["--against", "nothing.usda"], 1, "does not exist"),
        (["--expect", "nothing.toml"], 1, "does not exist"),
        (["--engine-python", "unreal=python"], 2, "must be ENGINE=PYTHON"),
        (["--engine-python", "havok=/nowhere"], 1, "has no package @babylonjs/havok"),
        (["--engine-python", "physx=/nowhere/python"], 1, "is not a program"),
        (["--budget", "0"], 2, "greater than zero"),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(door: Path, capsys, arguments, status: int, said: str) -> None:
    assert main(["prove", str(door), *arguments]) == status
    assert said in capsys.readouterr().err


#: Stands for a simulator in which nothing moves: it reads the paths of the bodies from its own copy of the asset.
FROZEN = """#!{python}
import os, re, sys
import numpy as np
open({log!r}, "a").write(str(len(sys.argv) // 4) + " ")
for file, steps, seconds, target in zip(*(sys.argv[2:][start::4] for start in range(4))):
    text = open(file).read()
    joints = sorted(set(re.findall('"([a-z]+_J[0-9]+)"', text)))
    names = ["/World/Leaf"] if "Leaf" in text else ["/Bench/" + name + "/Link" for name in joints]
    poses = np.zeros((int(steps) + 1, len(names), 7))
    poses[..., 2], poses[..., 0], poses[..., 6] = 1.05, 0.5, 1
    np.savez(target + ".npz", names=np.array(names), poses=poses, is_z_up=True)
    os.replace(target + ".npz", target)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line")
def test_an_engine_in_another_python_runs_the_asset_and_the_joints_and_its_difference_is_told(
    door: Path, capsys
) -> None:
    program = door.with_name("python")
    log = door.with_name("runs.txt")
    program.write_text(FROZEN.format(python=sys.executable, log=str(log)), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    turning = "vector3f physics:angularVelocity = (0, 0, 60)\n float physics:mass"
    text = door.read_text(encoding="utf-8").replace("float physics:mass", turning, 1)
    door.write_text(text, encoding="utf-8")
    proof = door.with_suffix(".json")
    arguments = ["prove", str(door), "--engine-python", f"physx={program}", "--json", str(proof), *LONG]
    assert main(arguments) == 0
    assert main([*arguments, "--strict"]) == 1
    checks = json.loads(proof.read_text(encoding="utf-8"))["checks"]
    found = [check for check in checks if check["section"] == "engines" and check["name"] == "physx"]
    assert [(check["status"], check["path"]) for check in found] == [("differs", "/World/Leaf")]
    # Without the speed that it begins with, it stands still in both.
    assert [cause["attribute"] for cause in found[0]["causes"]] == ["physics:angularVelocity"]
    assert "in PhysX" in capsys.readouterr().out
    joints = [check for check in checks if check["section"] == "joints" and check["status"] == "differs"]
    assert {check["data"]["engine"] for check in joints} == {"physx"}
    # It comes up once for the asset and all joints, whose experiments have two gravities.
    assert log.read_text(encoding="utf-8").startswith("3 ")


#: Stands for Node.js and Havok, in which nothing moves: it answers requests, and steps nothing.
STILL = """#!{python}
import sys
sys.path.insert(0, {engines!r})
import pipe

class Scene(pipe.Scene):
    def build(self, header, arrays):
        self.states = {{"states": arrays["states"]}}
        return {{"bodies": header["bodies"], "takes": [], "joints": []}}, self.states

    def step(self, header, arrays):
        return {{}}, self.states

assert sys.argv[2:] == ["--live", {modules!r}], sys.argv
sys.exit(pipe.serve(Scene))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line")
def test_an_engine_that_answers_requests_runs_the_asset_and_its_difference_is_told(
    door: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, modules = door.with_name("node"), door.with_name("node_modules")
    (modules / "@babylonjs" / "havok").mkdir(parents=True)
    folder = str(Path(pipe.__file__).parent)
    node.write_text(STILL.format(python=sys.executable, engines=folder, modules=str(modules)), encoding="utf-8")
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(node.parent), prepend=os.pathsep)
    turning = "vector3f physics:angularVelocity = (0, 0, 60)\n float physics:mass"
    door.write_text(door.read_text(encoding="utf-8").replace("float physics:mass", turning, 1), encoding="utf-8")
    proof, before = door.with_suffix(".json"), dict(PYTHONS)
    assert main(["prove", str(door), "--engine-python", f"havok={modules}", "--json", str(proof), *LONG]) == 0
    assert before == PYTHONS
    checks = json.loads(proof.read_text(encoding="utf-8"))["checks"]
    (found,) = [check for check in checks if check["section"] == "engines" and check["name"] == "havok"]
    assert (found["status"], found["path"]) == ("differs", "/World/Leaf")
    assert [cause["attribute"] for cause in found["causes"]] == ["physics:angularVelocity"]
    joints = [check for check in checks if check["section"] == "joints" and check["status"] == "differs"]
    assert {check["data"]["engine"] for check in joints} == {"havok"}
    absent = next(check["message"] for check in checks if check["name"] == "absent")
    assert absent.endswith(": PhysX, Newton.")


@pytest.mark.slow
def test_without_node_havok_is_skipped_and_how_to_get_it_is_said(
    door: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (door.parent / "@babylonjs" / "havok").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(door.parent))
    assert main(["prove", str(door), "--engine-python", f"havok={door.parent}", *LONG]) == 0
    assert "Havok: Havok needs Node.js; install it" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line")
def test_an_engine_that_takes_longer_than_the_budget_is_ended_and_said_so(
    door: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = door.with_name("python")
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(3600)\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(budget, "LEAST_RUN", 0.2)
    monkeypatch.setattr(Budget, "used", 4999.8)
    monkeypatch.setattr(Budget, "has", lambda _budget, _share=1.0: True)
    assert main(["prove", str(door), "--engine-python", f"physx={program}", *LONG]) == 0
    assert "PhysX: it takes longer than the budget leaves" in capsys.readouterr().out


def test_an_engine_gets_the_asset_by_its_own_variant_and_without_what_is_taken_out(tmp_path: Path) -> None:
    from pxr import Usd
    from usdphys_ext.usdphys_addon.usd import restated

    text = """#usda 1.0
(
    defaultPrim = "World"
)
def Xform "World" (
    prepend variantSets = ["PhysX", "Newton"]
    variants = {
        string PhysX = "Disabled"
        string Newton = "Enabled"
    }
)
{
    variantSet "PhysX" = {
        "Disabled" {
        }
        "Enabled" {
            float own = 1
        }
    }
    variantSet "Newton" = {
        "Disabled" {
        }
        "Enabled" {
            float other = 2
        }
    }
    def Xform "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        bool physics:kinematicEnabled = 1
        vector3f physics:velocity = (1, 0, 0)
    }
}
"""
    source, target = tmp_path / "asset.usda", tmp_path / "flat.usda"
    source.write_text(text, encoding="utf-8")
    stage = Usd.Stage.Open(str(source))
    box = "/World/Box"
    restated.write_with(stage, [], target, runtime="PhysX", without=[(box, "", ["physics:velocity"])])
    flat = Usd.Stage.Open(str(target))
    world, prim = (flat.GetPrimAtPath(path) for path in ("/World", box))
    assert (world.GetAttribute("own").Get(), world.HasAttribute("other")) == (1.0, False)
    assert prim.HasAPI("PhysicsRigidBodyAPI")
    assert not prim.GetAttribute("physics:velocity").HasAuthoredValue()
    # The stage is as before.
    assert stage.GetPrimAtPath("/World").GetAttribute("other").Get() == 2.0
    assert stage.GetPrimAtPath(box).GetAttribute("physics:velocity").HasAuthoredValue()
    restated.write_with(stage, [], tmp_path / "bare.usda", without=[(box, "PhysicsRigidBodyAPI", [])])
    assert not Usd.Stage.Open(str(tmp_path / "bare.usda")).GetPrimAtPath(box).HasAPI("PhysicsRigidBodyAPI")


@pytest.mark.slow
def test_reports_of_a_folder_are_listed_the_worst_first(door: Path, capsys) -> None:
    bad = door.with_name("bad.usda")
    text = door.read_text(encoding="utf-8").replace("physics:lowerLimit = 0.0", "physics:lowerLimit = 20.0")
    bad.write_text(text, encoding="utf-8")
    pages = door.with_name("pages")
    arguments = ["-o", str(pages), "--budget", "1", "--seconds", "0.1"]
    assert main(["report", str(door), str(bad), *arguments]) == 1
    listed = (pages / "index.html").read_text(encoding="utf-8")
    assert listed.index('href="bad.usda.html"') < listed.index('href="door.usda.html"')
    assert "physics:lowerLimit of /<wbr>World/<wbr>Hinge" in listed
    bad.unlink()
    (pages / "bad.usda.html").unlink()
    assert main(["report", "--index", str(pages)]) == 0
    assert "bad.usda" not in (pages / "index.html").read_text(encoding="utf-8")
    # A file that is no asset is said, and the others are written.
    capsys.readouterr()
    bad.write_text("nonsense", encoding="utf-8")
    assert main(["report", str(door), str(bad), *arguments]) == 1
    assert "bad.usda" in capsys.readouterr().err
    assert (pages / "door.usda.html").is_file()
    listed = (pages / "index.html").read_text(encoding="utf-8")
    assert listed.index('href="bad.usda.html"') < listed.index('href="door.usda.html"')
    assert "is not a USD file that can be read" in listed


def test_a_page_of_what_could_be_read_before_does_not_stay(door: Path, capsys) -> None:
    """A file that had become unreadable was listed with its old verdict."""
    pages, other = door.with_name("pages"), door.with_name("other.usda")
    first = door.with_name("first.usda")
    first.write_text("nonsense", encoding="utf-8")
    other.write_text(door.read_text(encoding="utf-8"), encoding="utf-8")
    arguments = ["report", str(first), str(door), str(other), "-o", str(pages), "--budget", "1", "--seconds", "0.1"]
    main(arguments)
    other.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:3\nsize 3\n", encoding="utf-8")
    assert main(arguments) == 1
    found = (pages / "other.usda.html").read_text(encoding="utf-8")
    assert "is a pointer of Git LFS" in found and 'class="verdict fail"' in found
    assert "3 reports, 2 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "needs FILE"),
        (["door.usda"], 2, "needs FILE"),
        (["--index", "."], 1, "holds no reports"),
        (["--index", "nothing"], 1, "is no folder"),
        (["--index", ".", "door.usda"], 2, "leave FILE and -o out"),
        (["door.usda", "other.usda", "-o", "page.html"], 2, "is one page"),
        (["door.usda", "other.usda", "-o", "pages", "--against", "door.usda"], 2, "are for one file"),
    ],
)
def test_reports_that_cannot_be_meant_are_refused(
    door: Path, capsys, monkeypatch: pytest.MonkeyPatch, arguments, status: int, said: str
) -> None:
    monkeypatch.chdir(door.parent)
    (door.parent / "other.usda").write_text(door.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["report", *arguments]) == status
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_is_one_file_that_names_no_network_and_has_all_tables(door: Path) -> None:
    target = door.with_name("pages") / "door.html"
    assert main(["report", str(door), "-o", str(target), *LONG]) == 0
    text = target.read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    for name in ("verdicts", "viewer", "masses", "joints", "issues", "plots"):
        assert f'<section id="{name}">' in text
    assert "mass authored on the body" in text
    assert "<svg" in text


@pytest.mark.slow
@pytest.mark.skipif(blender.is_here(), reason="this Python has Blender")
def test_a_folder_with_files_that_need_blender_is_reported_in_the_one_that_is_named(
    door: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    """The others were reported, and those failed with a sentence that said to name the Blender that was named."""
    (door.parent / "lamp.glb").touch()
    handed: list[list[str]] = []

    def run(arguments: list[str], _outputs: object, _refusal: object) -> int:
        handed.append(arguments)
        return 0

    monkeypatch.setattr(hand_over, "run_in_blender", run)
    arguments = ["report", str(door.parent), "-o", str(door.parent / "pages"), *LONG]
    monkeypatch.setenv("USDPHYS_BLENDER", "blender")
    assert main(arguments) == 0
    assert handed == [arguments]
    assert not (door.parent / "pages").exists()
    monkeypatch.delenv("USDPHYS_BLENDER")
    assert main(arguments) == 1
    assert len(handed) == 1
    assert "lamp.glb' needs Blender" in capsys.readouterr().err
    assert (door.parent / "pages" / "door.usda.html").is_file()
