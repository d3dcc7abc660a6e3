"""Files with odd numbers are simulated or refused in a sentence, and are no fault of this program."""

import json
import math

import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.simulation.world import World
from usdphys_ext.usdphys_addon.usd import read as usd_read

from .helpers import codes

HEAD = '#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
BODIES = '(prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])'


def simulated(tmp_path, text, *options):
    """(exit status, translations of each body)"""
    source, poses = tmp_path / "odd.usda", tmp_path / "poses.json"
    source.write_text(HEAD + text, encoding="utf-8")
    status = cli.main(["simulate", str(source), "--seconds", "0.5", "--json", str(poses), *options])
    found = json.loads(poses.read_text(encoding="utf-8"))["bodies"] if status == 0 else {}
    return status, {path: body["translation"] for path, body in found.items()}


@pytest.mark.parametrize("low", [0, -90])
def test_the_animated_drive_of_a_hinge_that_its_limits_hold_fast_has_no_effect(tmp_path, low):
    status, found = simulated(tmp_path, f'''
def Cube "Door" {BODIES} {{
    bool physics:kinematicEnabled = 0
}}
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular", "PhysicsDriveAPI:transX"])
{{
    rel physics:body1 = </Door>
    uniform token physics:axis = "Y"
    float physics:lowerLimit = {low}
    float physics:upperLimit = 0
    point3f physics:localPos1 = (2, 0, 0)
    float drive:angular:physics:stiffness = 1e6
    float drive:angular:physics:damping = 1e5
    float drive:angular:physics:targetPosition.timeSamples = {{ 0: 0, 12: -45 }}
    float drive:transX:physics:stiffness = 100
    float drive:transX:physics:targetPosition.timeSamples = {{ 0: 0, 12: 5 }}
}}
''')  # fmt: skip
    assert status == 0
    (way,) = found.values()
    turned = max(abs(place[2] - way[0][2]) for place in way)
    assert turned < 1e-3 if low == 0 else turned > 0.5


def test_a_velocity_that_is_no_number_does_not_end_the_run_of_what_is_apart_from_its_body(tmp_path):
    """A robot and the loose bodies are in worlds of their own, which are looked at before each step."""
    links = "".join(
        f'def Cube "Link{number}" {BODIES}\n{{\n    double3 xformOp:translate = (0, 0, {20 - 4 * number})\n'
        '    uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
        for number in range(2)
    )
    status, found = simulated(tmp_path, f'''
def Cube "Loose" {BODIES}
{{
    vector3f physics:velocity = (0, nan, 0)
    double3 xformOp:translate = (60, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{{
{links}
def PhysicsFixedJoint "Base"
{{
    rel physics:body1 = </Robot/Link0>
    point3f physics:localPos0 = (0, 0, 20)
}}
def PhysicsRevoluteJoint "Joint"
{{
    rel physics:body0 = </Robot/Link0>
    rel physics:body1 = </Robot/Link1>
    point3f physics:localPos0 = (0, 0, -2)
    point3f physics:localPos1 = (0, 0, 2)
    uniform token physics:axis = "Y"
}}
}}
''')  # fmt: skip
    assert status == 0
    assert found["/Robot/Link1"][-1] == pytest.approx([0, 0, 16], abs=1e-2)


@pytest.mark.parametrize(
    ("low", "high"), [("-3.4028235e38", "-inf"), ("inf", "inf"), ("1e12", "2e12"), ("-inf", "-1e30")]
)
def test_limits_of_a_hinge_without_end_end_the_search_for_its_first_turn(tmp_path, low, high):
    status, found = simulated(tmp_path, f'''
def Cube "Door" {BODIES} {{
}}
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
{{
    rel physics:body1 = </Door>
    uniform token physics:axis = "Y"
    float drive:angular:physics:stiffness = 100
    float drive:angular:physics:targetPosition = 300
    float physics:lowerLimit = {low}
    float physics:upperLimit = {high}
}}
''')  # fmt: skip
    assert status in (0, 1)
    assert len(found) == (status == 0)


@pytest.mark.parametrize("moments", ["(1e-30, 1, 0)", "(0, 0, 5)", "(1e-40, 1, 1)"])
def test_a_body_that_cannot_turn_about_an_axis_meets_the_floor(tmp_path, moments):
    """The solver takes a moment of 0 for one that nothing turns."""
    status, found = simulated(tmp_path, f'''
def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
    float3 xformOp:scale = (10, 10, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}}
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = {moments}
    vector3f physics:velocity = (5, 0, -20)
    vector3f physics:angularVelocity = (0, 0, 500)
    double3 xformOp:translate = (0, 0, 2.2)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
''')  # fmt: skip
    assert status == 0 and found["/Crate"][-1][2] == pytest.approx(2.0, abs=0.9)


@pytest.mark.parametrize("limit", ["physics:upperLimit = nan", "physics:upperLimit.timeSamples = { 0: 20, 6: nan }"])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_a_limit_that_is_no_number_does_not_limit(tmp_path, kind, limit):
    drive = "angular" if kind == "Revolute" else "linear"
    text = f"""
def Cube "Door" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {{
}}
def Physics{kind}Joint "Joint" (prepend apiSchemas = ["PhysicsDriveAPI:{drive}"]) {{
    rel physics:body1 = </Door>
    float physics:lowerLimit = -45
    float {limit}
    float drive:angular:physics:stiffness = 10
}}
"""
    status, found = simulated(tmp_path, text)
    assert status == 0 and all(math.isfinite(part) for place in found["/Door"] for part in place)
    if "timeSamples" not in limit:
        assert cli.main(["validate", str(tmp_path / "odd.usda")]) == 1  # an error names it


@pytest.mark.parametrize("kind", ["Capsule", "Cylinder", "Cone", "Sphere"])
def test_a_radius_that_is_zero_to_the_solver_is_left_out_of_the_run(tmp_path, kind):
    """It divides by the radius of what rolls."""
    bone = "" if kind == "Sphere" else 'double height = 30\n    uniform token axis = "X"'
    status, found = simulated(tmp_path, f'''
def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
    float3 xformOp:scale = (10, 10, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}}
def Cube "Crate" {BODIES} {{
    double3 xformOp:translate = (0, 0, 2.01)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def {kind} "Bone" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{
        double radius = 1e-310
        {bone}
        double3 xformOp:translate = (0, 0, -1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
}}
''')  # fmt: skip
    assert status == 0 and found["/Crate"][-1][2] == pytest.approx(2.0, abs=0.02)


def test_a_time_that_is_no_number_is_refused_before_usd_crashes_on_it(tmp_path, capsys):
    """Behind samples of other attributes, in which it is not found."""
    status, _ = simulated(tmp_path, f'''
def Cube "Crate" {BODIES} {{
    custom double first.timeSamples = {{ 1: 1, 2: 2 }}
    custom double second.timeSamples = {{ nan: 1 }}
}}
''')  # fmt: skip
    assert status == 1
    assert "'odd.usda' has a time sample of /Crate.second at a time that is no number" in capsys.readouterr().err


INSTANCER = f"""
def PhysicsScene "Scene" {{}}
def Cube "Free" {BODIES}
{{
    double3 xformOp:translate = (9, 0, 5)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
def PointInstancer "Copies"
{{
    point3f[] positions = [(0, 0, 5), (4, 0, 5)]
    int[] protoIndices = [0, 0]
    rel prototypes = </Copies/Protos/Box>
    def Scope "Protos"
    {{
        def Cube "Box" {BODIES} {{}}
        def Cube "Ball" {BODIES} {{}}
        def PhysicsFixedJoint "Weld"
        {{
            rel physics:body0 = </Copies/Protos/Box>
            rel physics:body1 = </Copies/Protos/Ball>
        }}
    }}
}}
"""


def test_what_is_in_a_point_instancer_is_no_body_of_its_own_and_is_named(tmp_path, capsys):
    status, found = simulated(tmp_path, INSTANCER)
    said = capsys.readouterr().err
    assert (status, list(found)) == (0, ["/Free"])
    assert "/Copies/Protos/Box is in the point instancer '/Copies': it is not simulated." in said
    assert "Weld" not in said, "it goes with what it holds"
    world = World(usd_read.read_stage(usd_read.open_stage(tmp_path / "odd.usda")))
    assert codes(world).count("InInstancer") == 2  # a notice for each body


def test_validate_names_the_physics_in_a_point_instancer(tmp_path, capsys):
    (tmp_path / "copies.usda").write_text(HEAD + INSTANCER, encoding="utf-8")
    cli.main(["validate", str(tmp_path / "copies.usda")])
    said = capsys.readouterr().out
    assert "PhysicsInInstancer" in said
    assert said.count("physics in the point instancer '/Copies'") == 1


def test_validate_advises_nothing_on_where_the_prototypes_of_a_point_instancer_stand(tmp_path, capsys):
    """Each stands where it is copied from, most at the origin, which is no fault of the file."""
    floor = 'def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { }\n'
    (tmp_path / "copies.usda").write_text(HEAD + INSTANCER.replace("{{", "{").replace("}}", "}") + floor)
    cli.main(["validate", str(tmp_path / "copies.usda")])
    said = capsys.readouterr().out
    assert "Overlap" not in said and "InOnePlace" not in said, said


def test_mjcf_leaves_a_point_instancer_out_and_says_so(tmp_path, capsys):
    source, target = tmp_path / "copies.usda", tmp_path / "copies.xml"
    source.write_text(HEAD + INSTANCER, encoding="utf-8")
    assert cli.main(["convert", str(source), str(target)]) == 0
    said = capsys.readouterr()
    assert "The point instancer '/Copies' is left out" in said.err
    assert target.read_text(encoding="utf-8").count("<body") == 1 and "1 body" in said.out + said.err
