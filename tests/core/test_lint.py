"""`validate` on many files: which are checked, which codes, the four forms of the report, fixes and exit statuses."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pxr import Sdf, Usd
from usdphys_ext.scripts import compare_composed
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.cli import file_checks, issue_codes, sarif
from usdphys_ext.usdphys_addon.core import model_fixes, validate
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.rules.base import RULES
from usdphys_ext.usdphys_addon.system.version import addon_version

ROOT = Path(__file__).resolve().parents[2]
#: A body on a floor without an issue; `%s` are further properties and prims.
CLEAN = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)

# The scene of the crate.
def Xform "World"
{
    def PhysicsScene "Scene"
    {
    }
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 2
    }
    def Cube "Crate" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    )
    {
        double size = 1.0   # metres
        double3 xformOp:translate = (0, 0, 2)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        %s
    }
    %s
}
"""
NEGATIVE = CLEAN % ("float physics:mass = -3   # wrong", "")
KINEMATIC = CLEAN % ("bool physics:kinematicEnabled = 1\n        vector3f physics:velocity = (1, 0, 0)", "")
ROBOT = """<robot name="arm">
  <!-- The shoulder. -->
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <link name="arm">
    <inertial><mass value="1.50"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="1.50" upper='-1.5' effort="1" velocity="1"/>
  </joint>
</robot>
"""


def run(*arguments: object) -> int:
    return cli.main(["validate", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A clean file, one with an error, one with an info in a folder of its own, and a robot."""
    (tmp_path / "clean.usda").write_text(CLEAN % ("", ""))
    (tmp_path / "wrong.usda").write_text(NEGATIVE)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "moved.usda").write_text(KINEMATIC)
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "notes.txt").write_text("no file to check")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "wrong.usda").write_text("not even USD")
    return tmp_path


# --------------------------------------------------------------------------- which files


def test_a_folder_is_searched_for_all_formats_and_the_last_line_counts(folder, capsys) -> None:
    assert run(folder) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "4 files: 1 error, 2 warnings, 3 infos"
    for severity, number in (("error", 1), ("warning", 2), ("info", 3)):
        assert sum(f": {severity}: " in line for line in lines) == number
    assert {Path(line.partition(": ")[0]).name for line in lines[:-1]} == {"wrong.usda", "moved.usda", "arm.urdf"}


def test_a_file_that_is_named_twice_is_checked_once(folder, capsys) -> None:
    assert run(folder / "wrong.usda", folder, folder / "wrong.usda") == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("4 files: 1 error")


def test_what_cannot_be_read_is_an_error_of_that_file_and_the_others_are_checked(folder, capsys) -> None:
    (folder / "broken.usda").write_text("#usda 1.0\n(")
    assert run(folder / "gone.usda", folder / "broken.usda", folder / "clean.usda", folder / "wrong.usda") == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "4 files: 1 error, 0 warnings, 0 infos, 2 files that cannot be read"
    assert [line for line in said.err.splitlines() if "There is no file" in line and "gone.usda" in line]
    assert [line for line in said.err.splitlines() if "broken.usda" in line]
    assert run(folder / "gone.usda", folder / "clean.usda") == 1


def test_a_folder_without_anything_to_check_is_an_error(tmp_path, capsys) -> None:
    (tmp_path / "notes.txt").write_text("")
    assert run(tmp_path) == 1
    assert ".urdf" in capsys.readouterr().err
    assert run() == 2


def test_one_file_is_reported_as_ever(folder, capsys) -> None:
    assert run(folder / "wrong.usda") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("error: MassInvalidValues: /World/Crate ")
    assert lines[-1] == f"{folder / 'wrong.usda'}: 1 error, 0 warnings, 0 infos"
    assert run(folder / "wrong.usda", "--json", "--target", "physx") == 1
    table = json.loads(capsys.readouterr().out)
    assert list(table) == ["file", "target", "issues"] and table["target"] == "physx"
    assert set(table["issues"][0]) == {"code", "severity", "path", "label", "message", "fix"}


# --------------------------------------------------------------------------- which codes and severities


def test_codes_are_selected_and_ignored(folder, capsys) -> None:
    assert run(folder, "--ignore", "MassInvalidValues,NoScene", "--ignore", "UrdfLimitsSwapped") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "4 files: 0 errors, 1 warning, 2 infos"
    assert run(folder, "--select", "KinematicVelocity") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "4 files: 0 errors, 0 warnings, 1 info"


def test_an_unknown_code_is_refused_with_the_nearest(folder, capsys) -> None:
    for option in ("--select", "--ignore"):
        assert run(folder, option, "MassInvalidValue") == 2
        assert "MassInvalidValues" in capsys.readouterr().err
    assert run(folder, "--select", ",") == 2


def test_warnings_fail_where_they_count_as_errors(folder, capsys) -> None:
    assert run(folder / "arm.urdf") == 0
    assert run(folder / "arm.urdf", "--warnings-as-errors") == 1
    capsys.readouterr()
    assert run(folder / "clean.usda", "--warnings-as-errors", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert run(folder, "--quiet") == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert ": error: MassInvalidValues" in line


def test_all_codes_of_readers_are_known() -> None:
    """A code that the code reports and that no option takes could not be ignored."""
    found = set()
    for room in ("usd", "gltf", "urdf", "bridge", "exchange/blend_file.py", "formats.py"):
        place = ROOT / "usdphys_addon" / room
        for file in [place] if place.suffix else place.rglob("*.py"):
            if file.is_file():
                found |= {code for code in codes_in(file) if re.fullmatch(r"[A-Z][a-z]+([A-Z][a-z]*)+", code)}
    assert len(found) > 70
    assert found <= issue_codes.known_codes(), found - issue_codes.known_codes()
    assert not issue_codes.FILE_CODES & {rule.code for rule in RULES}


def codes_in(file: Path) -> set[str]:
    """The texts among the first arguments of calls that make an issue."""
    calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    makers = {"Issue", "_issue", "issue", "tell"}
    chosen = [call for call in calls if (getattr(call.func, "id", "") or getattr(call.func, "attr", "")) in makers]
    return {
        part.value for call in chosen for argument in call.args[:3] for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }  # fmt: skip


# --------------------------------------------------------------------------- targets


def test_several_targets_are_checked_at_once_and_each_issue_says_whose_it_is(tmp_path, capsys) -> None:
    joint = """def PhysicsSphericalJoint "J"
    {
        rel physics:body0 = </World/Floor>
        rel physics:body1 = </World/Crate>
    }
"""
    file = tmp_path / "a.usda"
    file.write_text(CLEAN % ("float physics:mass = -3", joint))
    for arguments in (
        ("--target", "physx", "mujoco", file), (file, "--target", "physx,mujoco"),
        (file, "--target", "physx", "--target", "mujoco"),
    ):  # fmt: skip
        assert run(*arguments, "--format", "json") == 1
        table = json.loads(capsys.readouterr().out)
        (checked,) = table["files"]
        targets = {issue["code"]: issue["targets"] for issue in checked["issues"]}
        assert targets["MassInvalidValues"] == ["physx", "mujoco"] and targets["JointWelded"] == ["mujoco"]
        assert table["targets"] == ["physx", "mujoco"]
    assert run("--target", "phisx", file) == 2
    assert "physx" in capsys.readouterr().err


def test_ros_is_for_robots_and_skips_the_others_of_many(folder, capsys) -> None:
    assert run("--target", "ros", folder / "clean.usda") == 2
    assert run("--target", "ros", folder / "clean.usda", folder / "wrong.usda") == 2
    capsys.readouterr()
    assert run("--target", "ros", folder) == 1
    assert "4 files: 1 error" in capsys.readouterr().out
    assert run("--package", "a=.", folder / "clean.usda", folder / "wrong.usda") == 2
    assert run("--package", f"a={folder}", folder) == 1


# --------------------------------------------------------------------------- forms


def sarif_problems(log: dict) -> list[str]:
    """What SARIF 2.1.0 requires and a log lacks."""
    problems = [] if log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"] else ["version"]
    for each in log["runs"]:
        driver = each["tool"]["driver"]
        problems += [] if driver["name"] else ["driver"]
        ids = [rule["id"] for rule in driver["rules"]]
        problems += ["ids"] if len(set(ids)) < len(ids) else []
        bases = each["originalUriBaseIds"]
        for result in each["results"]:
            if ids[result["ruleIndex"]] != result["ruleId"]:
                problems.append(f"ruleIndex of {result['ruleId']}")
            if result["level"] not in ("none", "note", "warning", "error") or not result["message"]["text"]:
                problems.append(f"result {result['ruleId']}")
            for location in result["locations"]:
                uri = location["physicalLocation"]["artifactLocation"]
                if uri.get("uriBaseId") not in (None, *bases) or " " in uri["uri"] or "\\" in uri["uri"]:
                    problems.append(uri["uri"])
                if location["physicalLocation"].get("region", {}).get("startLine", 1) < 1:
                    problems.append("region")
    return problems


def test_sarif_names_files_prims_and_lines(folder, capsys, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "two words.usda").write_text(NEGATIVE)
    assert run("--format", "sarif", ".", "gone.usda") == 1
    log = json.loads(capsys.readouterr().out)
    assert sarif_problems(log) == []
    results = {}
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]
        results[place["physicalLocation"]["artifactLocation"]["uri"], result["ruleId"]] = place
    wrong = results["two%20words.usda", "MassInvalidValues"]
    assert 'def Cube "Crate"' in NEGATIVE.splitlines()[wrong["physicalLocation"]["region"]["startLine"] - 1]
    place = wrong["logicalLocations"][0]
    assert place["fullyQualifiedName"] == "/World/Crate" and place["name"] == "Crate"
    line = results["arm.urdf", "UrdfLimitsSwapped"]["physicalLocation"]["region"]["startLine"]
    assert "<limit" in ROBOT.splitlines()[line - 1]
    assert ("gone.usda", "FileUnreadable") in results


def test_sarif_names_the_program_its_version_and_its_website(monkeypatch) -> None:
    def driver() -> dict:
        return sarif.sarif([])["runs"][0]["tool"]["driver"]

    assert driver() == {"name": "usdphys", "version": addon_version(), "rules": []}
    monkeypatch.setattr(sarif, "addresses", lambda: {"website": "https://example.org", "contact": "a@example.org"})
    assert driver()["informationUri"] == "https://example.org"


def test_an_error_of_one_of_several_files_names_the_file(folder, capsys, monkeypatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise InputError("This Blender was built without USD.")

    monkeypatch.setattr(file_checks, "issues_of", refuse)
    clean, wrong = folder / "clean.usda", folder / "wrong.usda"
    assert run(clean, wrong) == 1
    sentences = [f"usdphys: error: {file}: This Blender was built without USD." for file in (clean, wrong)]
    assert capsys.readouterr().err.splitlines() == sentences


def test_junit_has_a_suite_for_each_file_and_a_case_for_each_code(folder, capsys) -> None:
    assert run("--format", "junit", folder, folder / "gone.usda") == 1
    root = ElementTree.fromstring(capsys.readouterr().out)
    suites = {Path(suite.get("name")).name: suite for suite in root}
    assert set(suites) == {"clean.usda", "wrong.usda", "moved.usda", "arm.urdf", "gone.usda"}
    assert [case.find("failure") for case in suites["clean.usda"]] == [None]
    (case,) = [case for case in suites["wrong.usda"] if case.get("name") == "MassInvalidValues"]
    assert "negative mass" in case.find("failure").get("message")
    assert suites["moved.usda"].get("failures") == "0" and suites["moved.usda"].find("testcase/system-out") is not None
    assert suites["gone.usda"].find("testcase/error") is not None
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        assert int(root.get(name)) == len(list(root.iter(tag))) == sum(int(suite.get(name)) for suite in root)


def test_json_of_many_files(folder, capsys) -> None:
    assert run("--json", folder, folder / "gone.usda") == 1
    table = json.loads(capsys.readouterr().out)
    assert table["summary"] == {"files": 5, "errors": 1, "warnings": 2, "infos": 3, "unreadable": 1, "bad": 2}
    assert [bool(file["error"]) for file in table["files"]] == [False] * 4 + [True]
    assert run("--json", "--format", "sarif", folder) == 2


@pytest.mark.parametrize(("name", "start"), [("r.sarif", "{"), ("r.json", "{"), ("r.xml", "<?xml"), ("r.txt", "")])
def test_a_report_goes_to_a_file_whose_name_says_its_form(folder, capsys, name, start) -> None:
    report = folder / name
    assert run(folder, "--output", report) == 1
    assert capsys.readouterr().out == "4 files: 1 error, 2 warnings, 3 infos\n"
    text = report.read_text(encoding="utf-8")
    assert text.startswith(start) and "MassInvalidValues" in text
    old = (folder / "wrong.usda").read_bytes()
    assert run(folder, "--output", folder / "wrong.usda") == 1
    assert (folder / "wrong.usda").read_bytes() == old


def test_a_missing_folder_of_a_report_is_made_unless_the_command_fails(folder, tmp_path, capsys) -> None:
    report = tmp_path / "reports" / "deep" / "r.sarif"
    assert run(folder / "clean.usda", "--output", report, "--select", "Nothing") == 2
    assert not report.parent.parent.exists()
    assert run(folder / "clean.usda", "--output", report) == 0
    assert report.is_file() and f"The folder '{report.parent}' was made." in capsys.readouterr().err


# --------------------------------------------------------------------------- fixes


def test_a_fix_changes_its_statement_and_no_other_byte(folder, capsys) -> None:
    clean = (folder / "clean.usda").stat().st_mtime_ns
    assert run(folder, "--fix") == 0
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "4 files: 0 errors, 0 warnings, 2 infos, 3 fixed"
    assert "wrong.usda: fixed: MassInvalidValues: /World/Crate: Set the mass to automatic." in said
    assert (folder / "wrong.usda").read_text() == NEGATIVE.replace("float physics:mass = -3", "")
    line = "        vector3f physics:velocity = (1, 0, 0)\n"
    assert (folder / "deep/er/moved.usda").read_text() == KINEMATIC.replace(line, "")
    assert (folder / "clean.usda").stat().st_mtime_ns == clean
    limits = ("lower=\"1.50\" upper='-1.5'", 'lower="-1.5" upper="1.50"')
    assert (folder / "arm.urdf").read_text() == ROBOT.replace(*limits)


def test_statements_that_are_changed_or_added_stand_where_they_belong(tmp_path, capsys) -> None:
    """Written by hand: several on a line, comments in odd places, brackets without spaces."""
    file = tmp_path / "a.usda"
    text = """#usda 1.0
( "A note with a } and a # sign"
  metersPerUnit = 1; upAxis = "Z" )
def Xform "W" { # the world
  def Mesh "M" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) { string s = 'not { "this"';
    point3f[] points = [(0,0,0), # the first
      (1,0,0),(0,1,0),(0,0,1)]
    int[] faceVertexCounts = [3,3,3,3]
    int[] faceVertexIndices = [0,2,1,0,1,3,1,2,3,0,3,2]; }
  def PhysicsRevoluteJoint "J" { rel physics:body1 = </W/M>; float physics:lowerLimit = 3.0 ;
    float physics:upperLimit = -30 # too low
  }
}
"""
    file.write_text(text)
    run(file, "--fix")
    said = capsys.readouterr().out
    assert "LimitsReversed" in said and "ColliderTriangleMeshDynamic" in said and "without its comments" not in said
    for old, new in (
        ("physics:lowerLimit = 3.0 ;", "physics:lowerLimit = -30 ;"), ("upperLimit = -30 #", "upperLimit = 3 #"),
        ('"PhysicsCollisionAPI"]) {',
         '"PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {\n'
         '        uniform token physics:approximation = "convexHull"\n'),
    ):  # fmt: skip
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert file.read_text() == text


def test_without_the_option_nothing_is_written(folder) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    run(folder)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_what_is_ignored_is_not_fixed(folder, capsys) -> None:
    run(folder / "wrong.usda", "--fix", "--ignore", "MassInvalidValues")
    assert (folder / "wrong.usda").read_text() == NEGATIVE
    assert "fixed" in capsys.readouterr().out.splitlines()[-1]


#: By code: properties of the crate, further prims, and what differs after the fix, without the values.
FIXES = {
    "MassInvalidValues": ("float physics:mass = -3", "", {"/World/Crate.physics:mass: missing"}),
    "DensityInvalidValues": ("float physics:density = -3", "", {"/World/Crate.physics:density: missing"}),
    "InertiaInvalidValues": (
        "float3 physics:diagonalInertia = (1, 1, 1)\n        quatf physics:principalAxes = (2, 0, 0, 0)", "",
        {"/World/Crate.physics:principalAxes: (2, 0, 0, 0) != (1, 0, 0, 0)"},
    ),
    "MassWithoutBody": (
        "", 'def Xform "Other" (prepend apiSchemas = ["PhysicsMassAPI"])\n    {\n    }',
        {"/World/Other: schemas ['PhysicsMassAPI'] != []"},
    ),
    "KinematicVelocity": (
        "bool physics:kinematicEnabled = 1\n        vector3f physics:velocity = (1, 0, 0)", "",
        {"/World/Crate.physics:velocity: missing"},
    ),
    "SimulationOwnerInvalid": (
        "rel physics:simulationOwner = </World/Gone>", "", {"/World/Crate.physics:simulationOwner: missing"},
    ),
    "GravityDirectionNotUnit": (
        "", 'def PhysicsScene "Second"\n    {\n        vector3f physics:gravityDirection = (0, 0, -2)\n    }',
        {"/World/Second.physics:gravityDirection: (0, 0, -2) != (0, 0, -1)"},
    ),
    "MeshCollisionOnNonMesh": (
        "", 'def Cube "Wall" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])\n    {\n'
        '        uniform token physics:approximation = "none"\n        double3 xformOp:translate = (9, 0, 0)\n'
        '        uniform token[] xformOpOrder = ["xformOp:translate"]\n    }',
        {"/World/Wall.physics:approximation: missing",
         "/World/Wall: schemas ['PhysicsCollisionAPI', 'PhysicsMeshCollisionAPI'] != ['PhysicsCollisionAPI']"},
    ),
    "FilteredPairMissing": (
        "", 'def Xform "Pair" (prepend apiSchemas = ["PhysicsFilteredPairsAPI"])\n    {\n'
        "        rel physics:filteredPairs = [</World/Gone>, </World/Floor>]\n    }",
        {"/World/Pair.physics:filteredPairs: targets"},
    ),
    "FilteredPairSelf": (
        "", 'def Xform "Pair" (prepend apiSchemas = ["PhysicsFilteredPairsAPI"])\n    {\n'
        "        rel physics:filteredPairs = [</World/Pair>, </World/Floor>]\n    }",
        {"/World/Pair.physics:filteredPairs: targets"},
    ),
    "GroupDuplicateTarget": (
        "", 'def PhysicsCollisionGroup "G" (prepend apiSchemas = ["CollectionAPI:colliders"])\n    {\n'
        "        rel collection:colliders:includes = </World/Floor>\n"
        "        rel physics:filteredGroups = [</World/G>, </World/Gone>]\n    }",
        {"/World/G.physics:filteredGroups: targets"},
    ),
    "LimitsReversed": (
        "", 'def PhysicsRevoluteJoint "J"\n    {\n        rel physics:body1 = </World/Crate>\n'
        "        point3f physics:localPos0 = (0, 0, 2)\n"
        "        float physics:lowerLimit = 30\n        float physics:upperLimit = -30\n    }",
        {"/World/J.physics:lowerLimit: 30.0 != -30.0", "/World/J.physics:upperLimit: -30.0 != 30.0"},
    ),
    "JointRotationNotUnit": (
        "", 'def PhysicsFixedJoint "J"\n    {\n        rel physics:body1 = </World/Crate>\n'
        "        point3f physics:localPos0 = (0, 0, 2)\n        quatf physics:localRot0 = (2, 0, 0, 0)\n    }",
        {"/World/J.physics:localRot0: (2, 0, 0, 0) != (1, 0, 0, 0)"},
    ),
    "DriveNotOnJoint": (
        "", 'def PhysicsFixedJoint "J" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])\n    {\n'
        "        rel physics:body1 = </World/Crate>\n        point3f physics:localPos0 = (0, 0, 2)\n"
        "        float drive:angular:physics:stiffness = 3\n    }",
        {"/World/J.drive:angular:physics:stiffness: missing", "/World/J: schemas ['PhysicsDriveAPI:angular'] != []"},
    ),
    "MaterialInvalidValues": (
        "", 'def Material "M" (prepend apiSchemas = ["PhysicsMaterialAPI"])\n    {\n'
        "        float physics:staticFriction = -1\n        float physics:restitution = 0.5\n    }",
        {"/World/M.physics:staticFriction: missing"},
    ),
    "NotFinite": ("vector3f physics:velocity = (nan, 0, 0)", "", {"/World/Crate.physics:velocity: missing"}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
@pytest.mark.parametrize("code", FIXES)
def test_only_what_is_said_is_fixed(tmp_path, code, suffix, capsys) -> None:
    inside, beside, expected = FIXES[code]
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(CLEAN % (inside, beside))
    before, file = tmp_path / f"before{suffix}", tmp_path / f"a{suffix}"
    for path in (before, file):
        layer.Export(str(path))
    assert run(file, "--json") in (0, 1)
    wrong = [issue for issue in json.loads(capsys.readouterr().out)["issues"] if issue["code"] == code]
    if code == "GroupDuplicateTarget":  # nothing but a list that is edited twice lists a prim twice
        code = "GroupMissingTarget"
    else:
        assert wrong
    run(file, "--fix", "--json", "--select", code)
    table = json.loads(capsys.readouterr().out)
    assert [fixed["code"] for fixed in table["fixed"]] == [code] and table["issues"] == [] and table["notes"] == []
    found = set(compare_composed.differences(Usd.Stage.Open(str(before)), Usd.Stage.Open(str(file))))
    assert {re.sub("targets .*", "targets", line) for line in found} == expected
    assert file.read_bytes()[:5] == before.read_bytes()[:5]


def test_a_fix_of_what_another_file_says_is_an_override_in_the_file_that_was_named(tmp_path) -> None:
    part, whole = tmp_path / "part.usda", tmp_path / "whole.usda"
    part.write_text(NEGATIVE.replace('upAxis = "Z"', 'upAxis = "Z"\n    defaultPrim = "World"'))
    whole.write_text('#usda 1.0\n(\n    upAxis = "Z"\n    metersPerUnit = 1\n)\n# Keep me.\n'
                     'def "A" (\n    references = @part.usda@\n)\n{\n}\n')  # fmt: skip
    assert run(whole, "--fix") == 0
    text = whole.read_text()
    assert "# Keep me." in text and "references = @part.usda@" in text and "float physics:mass = None" in text
    assert part.read_text().count("physics:mass = -3") == 1


def test_a_part_is_fixed_in_the_whole_where_both_are_checked(tmp_path, capsys) -> None:
    """What has no effect in a layer alone can be right in the file that is composed of it."""
    test_a_fix_of_what_another_file_says_is_an_override_in_the_file_that_was_named(tmp_path)
    part, whole = tmp_path / "part.usda", tmp_path / "whole.usda"
    whole.write_text('#usda 1.0\n(\n    upAxis = "Z"\n    metersPerUnit = 1\n)\n'
                     'def "A" (\n    references = @part.usda@\n)\n{\n}\n')  # fmt: skip
    before = part.read_bytes()
    assert run(tmp_path, "--fix") == 1
    assert part.read_bytes() == before and "physics:mass" in whole.read_text()
    assert "whole.usda', which has the fix" in capsys.readouterr().out


def test_a_value_of_a_variant_is_left(tmp_path, capsys) -> None:
    """A fix above it would change the other variants, too."""
    file = tmp_path / "a.usda"
    text = """#usda 1.0
(
    upAxis = "Z"
    metersPerUnit = 1
)
def Xform "A" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    variants = { string load = "wrong" }
    prepend variantSets = "load"
)
{
    variantSet "load" = {
        "wrong" { float physics:mass = -1
        }
        "right" { float physics:mass = 1
        }
    }
}
"""
    file.write_text(text)
    assert run(file, "--fix") == 1
    assert "Not fixed: its physics comes from a variant" in capsys.readouterr().out
    assert file.read_text() == text


def test_a_text_that_is_not_understood_is_written_anew_and_that_is_said(tmp_path, capsys, monkeypatch) -> None:
    from usdphys_ext.usdphys_addon.usd.fixing import layer_text

    file = tmp_path / "a.usda"
    file.write_text(NEGATIVE)
    monkeypatch.setattr(layer_text, "merged", lambda text, before, after: text)  # it says something else
    assert run(file, "--fix") == 0
    assert "without its comments" in capsys.readouterr().out
    assert "#" not in file.read_text()[5:] and "physics:mass" not in file.read_text()


def test_a_package_and_a_gltf_file_are_left_with_a_reason(tmp_path, capsys) -> None:
    from pxr import UsdUtils

    (tmp_path / "a.usda").write_text(NEGATIVE)
    assert UsdUtils.CreateNewUsdzPackage(str(tmp_path / "a.usda"), str(tmp_path / "a.usdz"))
    before = (tmp_path / "a.usdz").read_bytes()
    assert run(tmp_path / "a.usdz", "--fix") == 1
    assert "unpack it" in capsys.readouterr().out and (tmp_path / "a.usdz").read_bytes() == before
    file = tmp_path / "a.gltf"
    motion = {"KHR_physics_rigid_bodies": {"motion": {"mass": 2.0}}}
    file.write_text(json.dumps({
        "asset": {"version": "2.0"}, "nodes": [{"name": "A", "extensions": motion}], "scenes": [{"nodes": [0]}],
        "extensionsUsed": list(motion),
    }))  # fmt: skip
    before = file.read_bytes()
    run(file, "--fix")
    assert "not written; change it by hand" in capsys.readouterr().out and file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which files a process has open")
@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_a_file_is_fixed_where_none_that_is_open_can_be_replaced(tmp_path, suffix) -> None:
    """As on Windows, where USD has a binary file mapped while its stage is there."""
    (tmp_path / "a.usda").write_text(NEGATIVE)
    file = tmp_path / f"b{suffix}"
    assert Sdf.Layer.FindOrOpen(str(tmp_path / "a.usda")).Export(str(file))
    shutil.copy(ROOT / "scripts" / "file_rules.py", tmp_path / "sitecustomize.py")
    rules = json.dumps({"root": str(tmp_path), "rule": "windows"})
    done = subprocess.run(
        [sys.executable, "-m", "usdphys_addon", "validate", "--fix", str(file)], cwd=ROOT, capture_output=True,
        text=True, check=False, env={**os.environ, "FILE_RULES": rules, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 fixed" in done.stdout and "mass = -3" not in Sdf.Layer.OpenAsAnonymous(str(file)).ExportToString()


def test_a_file_that_may_not_be_written_stays(tmp_path, capsys) -> None:
    file = tmp_path / "a.usda"
    file.write_text(NEGATIVE)
    file.chmod(0o444)
    (tmp_path / "b.usda").write_text(NEGATIVE)
    assert run(tmp_path, "--fix") == 1
    assert file.read_text() == NEGATIVE and "-3" not in (tmp_path / "b.usda").read_text()
    assert "write-protected" in capsys.readouterr().err


def test_every_fix_of_a_file_is_for_a_code_that_there_is() -> None:
    assert set(model_fixes.FIXES) <= {row.code for row in validate.issue_table()}
    assert len(model_fixes.FIXES) >= 20


# --------------------------------------------------------------------------- CI


def clean_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def program(folder: Path) -> Path:
    """A folder with a program `usdphys` that runs this tree, as the wheel installs one."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    script = bin_folder / "usdphys"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m usdphys_addon "$@"\n')
    script.chmod(0o755)
    return bin_folder


@pytest.mark.slow
def test_the_hooks_of_pre_commit_check_the_files_that_they_are_given(folder) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    hooks = [dict(re.findall(r"^(?:- |  )(\w+): (.*)$", f"- {part}", re.MULTILINE)) for part in text.split("\n- ")[1:]]
    assert [hook["id"] for hook in hooks] == ["usdphys-validate", "usdphys-fix"]
    environment = clean_environment()
    environment["PATH"] = f"{program(folder)}{os.pathsep}{environment['PATH']}"
    (folder / "clean.usda").rename(folder / "-clean.usda")
    files = ["-clean.usda", "wrong.usda", "arm.urdf", "notes.txt"]
    for hook, status in zip(hooks, (1, 0), strict=True):
        chosen = [name for name in files if re.search(hook["files"], name)]
        assert chosen == files[:3]
        arguments = [*shlex.split(hook["entry"]), *hook["args"].strip("[]").split(", "), *chosen]
        done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert done.returncode == status, done
        assert done.stdout.splitlines()[-1].startswith("3 files: ")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the action runs in a bash")
def test_the_action_of_github_runs_as_it_is_written(folder) -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    script = text.rpartition("run: |\n")[2].replace("\n        ", "\n")
    variables = dict(re.findall(r"(\w+): \$\{\{ inputs\.([\w-]+) \}\}", text.partition("Install")[2]))
    assert variables == {name.upper(): name for name in ("files", "target", "format", "args", "command", "pages")}
    defaults = dict(re.findall(r"^  ([\w-]+):\n    description: .*\n    default: (.*)$", text, re.MULTILINE))
    assert set(variables.values()) <= set(defaults)
    environment = clean_environment()
    environment["PATH"] = f"{program(folder)}{os.pathsep}{environment['PATH']}"

    def act(**inputs: str) -> subprocess.CompletedProcess[str]:
        values = {name: inputs.get(of, defaults[of].strip('"')) for name, of in variables.items()}
        return subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env={**environment, **values},
                              capture_output=True, text=True, check=False)  # fmt: skip

    done = act()
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "4 files: 1 error, 2 warnings, 3 infos", done
    done = act(files="clean.usda", target="newton", args="--json")
    assert done.returncode == 0 and json.loads(done.stdout)["target"] == "newton", done
    done = act(files="clean.usda\ndeep/er", target="physx newton", args="--ignore KinematicVelocity --output r.sarif")
    assert done.returncode == 0 and done.stdout == "2 files: 0 errors, 0 warnings, 0 infos\n", done
    assert sarif_problems(json.loads((folder / "r.sarif").read_text())) == []
    # As a block of YAML has them, and as an expression without a value.
    done = act(files="  clean.usda \n deep/er\n", target="physx\nnewton\n", args="--json\n--ignore\nNoScene\n")
    table = json.loads(done.stdout)
    assert table["targets"] == ["physx", "newton"] and len(table["files"]) == 2, done
    assert act(files="", target="").stdout == act().stdout
    act(files="clean.usda\ndeep/er", command="report", pages="out", args="--budget 1\n--seconds 0.1")
    assert (folder / "out" / "index.html").is_file()
