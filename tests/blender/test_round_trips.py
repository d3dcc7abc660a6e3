# SPDX-License-Identifier: GPL-3.0-or-later
"""The round trips of `usdphys prove` that need Blender: what each format keeps, and what it says that it does not."""

import json
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.cli import main

#: A leaf on a hinge of a frame that stands, held by a spring, on the ground.
GATE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def PhysicsScene "Scene"
    {
    }
    def Cube "Post" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        float3 xformOp:scale = (0.1, 0.1, 2)
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Xform "Leaf" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 10
        double3 xformOp:translate = (0.6, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 1
            float3 xformOp:scale = (0.9, 0.05, 1.8)
            uniform token[] xformOpOrder = ["xformOp:scale"]
        }
    }
    def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        uniform token physics:axis = "Z"
        rel physics:body1 = </World/Leaf>
        point3f physics:localPos0 = (0.1, 0, 1)
        point3f physics:localPos1 = (-0.5, 0, 0)
        float physics:lowerLimit = -10
        float physics:upperLimit = 80
        float drive:angular:physics:stiffness = 0.4
        float drive:angular:physics:damping = 0.2
        float drive:angular:physics:targetPosition = 30
    }
}
"""


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    folder = tmp_path_factory.mktemp("gate")
    file, proof = folder / "gate.usda", folder / "proof.json"
    file.write_text(GATE, encoding="utf-8")
    assert main(["prove", str(file), "--json", str(proof), "--budget", "5000", "--seconds", "1"]) == 0
    found: dict[str, list[dict]] = {}
    for check in json.loads(Path(proof).read_text(encoding="utf-8"))["checks"]:
        found.setdefault(check["name"], []).append(check)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MJCF", ".blend", "glTF"])
def test_a_format_that_has_words_for_all_keeps_the_motion(checks: dict[str, list[dict]], name: str) -> None:
    assert [(check["status"], check["message"]) for check in checks[name] if check["status"] != "pass"] == []


@pytest.mark.slow
def test_urdf_says_that_it_has_no_gains_of_drives_which_is_no_failure(checks: dict[str, list[dict]]) -> None:
    assert {check["status"] for check in checks["URDF"]} == {"differs"}
    first = checks["URDF"][0]
    assert "URDF does not keep it" in first["message"]
    attributes = {cause["attribute"] for check in checks["URDF"] for cause in check["causes"]}
    assert "drive:angular:physics:stiffness" in attributes
