# SPDX-License-Identifier: GPL-3.0-or-later
"""What `inspect` says of a file: SI values whatever the units of the file, angles in degrees."""

from __future__ import annotations

import json
import math

import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import summary
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.usd import read as usd_read


def new_stage() -> Usd.Stage:
    """Centimetres, grams, Y up."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    return stage


def body(stage: Usd.Stage, path: str, **values: bool) -> UsdGeom.Cube:
    """A cube of 20 cm that is a collider and a body of 2 kg."""
    cube = UsdGeom.Cube.Define(stage, path)
    cube.CreateSizeAttr(20.0)
    UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
    api = UsdPhysics.RigidBodyAPI.Apply(cube.GetPrim())
    UsdPhysics.MassAPI.Apply(cube.GetPrim()).CreateMassAttr(2000.0)
    for name, value in values.items():
        getattr(api, f"Create{name}Attr")(value)
    return cube


def table(stage: Usd.Stage) -> summary.Table:
    return summary.summarise(usd_read.read_stage(stage))


def driven(stage: Usd.Stage, kind: type, dof: str, **values: object) -> summary.Table:
    """The row of a joint with one drive."""
    body(stage, "/B")
    joint = kind.Define(stage, "/J")
    joint.CreateBody1Rel().SetTargets(["/B"])
    drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), dof)
    for name, value in values.items():
        getattr(drive, f"Create{name}Attr")(value)
    (row,) = table(stage)["joints"]
    return row[f"drive:{dof}"]


def test_gains_of_an_angular_drive_are_per_degree() -> None:
    """One newton metre is 10 million g cm2/s2."""
    found = driven(
        new_stage(), UsdPhysics.RevoluteJoint, "angular",
        Stiffness=2.5e7, Damping=4e6, MaxForce=3e7, TargetPosition=30.0, TargetVelocity=-90.0,
    )  # fmt: skip
    assert found == pytest.approx(
        {"stiffness": 2.5, "damping": 0.4, "maxForce": 3.0, "targetPosition": 30.0, "targetVelocity": -90.0}
    )


def test_gains_of_a_linear_drive_hold_no_angle() -> None:
    """One newton is 100 thousand g cm/s2."""
    found = driven(
        new_stage(), UsdPhysics.PrismaticJoint, "linear",
        Stiffness=5e3, Damping=7e3, MaxForce=2e5, TargetPosition=30.0,
    )  # fmt: skip
    assert found == pytest.approx({"stiffness": 5.0, "damping": 7.0, "maxForce": 2.0, "targetPosition": 0.3})


def test_gains_of_an_acceleration_drive_are_those_of_the_file() -> None:
    """They hold neither mass nor length, and are per degree in both."""
    found = driven(new_stage(), UsdPhysics.RevoluteJoint, "angular", Type="acceleration", Stiffness=60.0, Damping=5.0)
    assert found == {"type": "acceleration", "stiffness": 60.0, "damping": 5.0}


def test_limits_of_angles_are_in_degrees_and_those_of_lengths_in_metres() -> None:
    stage = new_stage()
    body(stage, "/B")
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/Hinge")
    hinge.CreateBody1Rel().SetTargets(["/B"])
    hinge.CreateLowerLimitAttr(-90.0)
    hinge.CreateUpperLimitAttr(45.0)
    hinge.CreateLocalPos1Attr((10.0, 0.0, -5.0))
    generic = UsdPhysics.Joint.Define(stage, "/Generic")
    generic.CreateBody1Rel().SetTargets(["/B"])
    for dof, low, high in (("rotY", -30.0, math.inf), ("transX", -50.0, 20.0)):
        limit = UsdPhysics.LimitAPI.Apply(generic.GetPrim(), dof)
        limit.CreateLowAttr(low)
        limit.CreateHighAttr(high)
    first, second = table(stage)["joints"]
    assert (first["lowerLimit"], first["upperLimit"]) == (-90.0, 45.0)
    assert first["localPos1"] == [0.1, 0.0, -0.05]
    assert (first["path"], first["type"], first["body1"]) == ("/Hinge", "RevoluteJoint", ["/B"])
    assert second["limit:rotY"] == {"low": -30.0, "high": "inf"}
    assert second["limit:transX"] == {"low": -0.5, "high": 0.2}
    # JSON knows no infinity.
    assert "Infinity" not in json.dumps(table(stage))


def test_a_body_is_dynamic_kinematic_or_static_and_switched_off_it_is_static() -> None:
    stage = new_stage()
    body(stage, "/Dynamic")
    body(stage, "/Kinematic", KinematicEnabled=True)
    body(stage, "/Off", RigidBodyEnabled=False)
    body(stage, "/KinematicOff", RigidBodyEnabled=False, KinematicEnabled=True)
    kinds = {row["path"]: row["kind"] for row in table(stage)["bodies"]}
    assert kinds == {"/Dynamic": "dynamic", "/Kinematic": "kinematic", "/Off": "static", "/KinematicOff": "static"}


def test_a_body_says_its_mass_and_how_many_colliders_move_with_it() -> None:
    stage = new_stage()
    body(stage, "/B")
    wheel = UsdGeom.Sphere.Define(stage, "/B/Wheel")
    wheel.AddTranslateOp().Set(Gf.Vec3d(30.0, 0.0, 0.0))
    UsdPhysics.CollisionAPI.Apply(wheel.GetPrim())
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, "/Floor").GetPrim())
    found = table(stage)
    (row,) = found["bodies"]
    assert (row["colliders"], row["mass"], row["massSource"]) == (2, 2.0, "mass authored on the body")
    assert {row["path"]: row["body"] for row in found["colliders"]} == {
        "/B": "/B", "/B/Wheel": "/B", "/Floor": "(static)",
    }  # fmt: skip
    # 20 cm.
    assert next(row for row in found["colliders"] if row["path"] == "/B")["size"] == 0.2


def test_every_kind_of_joint_is_counted_as_a_joint() -> None:
    stage = new_stage()
    body(stage, "/B")
    for number, kind in enumerate((UsdPhysics.Joint, UsdPhysics.RevoluteJoint, UsdPhysics.FixedJoint)):
        kind.Define(stage, f"/J{number}")
    UsdPhysics.Scene.Define(stage, "/Scene")
    found = summary.counts(usd_read.read_stage(stage))
    assert {kind: count for kind, count in found.items() if count} == {
        "scenes": 1, "bodies": 1, "colliders": 1, "joints": 3,
    }  # fmt: skip


def test_lines_for_people_name_the_units_and_every_prim() -> None:
    stage = new_stage()
    body(stage, "/B")
    text = list(summary.lines(table(stage)))
    assert text[0].startswith("units: 0.01 m, 0.001 kg, Y up")
    assert "bodies (1)" in text
    row = next(line for line in text if line.startswith("  /B") and "mass=2 " in line)
    assert "dynamic" in row and "colliders=1" in row


def test_every_value_is_in_the_line_of_its_prim() -> None:
    stage = new_stage()
    body(stage, "/B")
    UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/B")).CreateVelocityAttr(Gf.Vec3f(100 / 3, 0, 0))
    joint = UsdPhysics.RevoluteJoint.Define(stage, "/J")
    for side in (joint.CreateBody0Rel(), joint.CreateBody1Rel()):
        side.SetTargets(["/B"])
    UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular").CreateTargetPositionAttr(30.0)
    assert list(summary.lines(table(stage)))[1:] == [
        "bodies (1)",
        "  /B  dynamic  colliders=1  mass=2  massSource=mass authored on the body  centerOfMass=0,0,0  "
        "diagonalInertia=0.0133333,0.0133333,0.0133333  velocity=0.333333,0,0",
        "colliders (1)",
        "  /B  Cube  body=/B  size=0.2",
        "joints (1)",
        "  /J  RevoluteJoint  body0=/B  body1=/B  drive:angular(targetPosition=30)",
    ]


def test_inspect_walks_the_model_as_often_for_many_bodies_as_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """`having` visits every prim: one call for each body makes the work grow with the square of their number."""

    def walks(bodies: int) -> int:
        stage = new_stage()
        for index in range(bodies):
            body(stage, f"/World/Crate{index}")
            UsdGeom.Cube.Define(stage, f"/World/Crate{index}/Lid")
            UsdPhysics.CollisionAPI.Apply(stage.GetPrimAtPath(f"/World/Crate{index}/Lid"))
        model, asked = usd_read.read_stage(stage), []
        original = PhysicsModel.having
        with monkeypatch.context() as patch:
            patch.setattr(PhysicsModel, "having", lambda model, cls: asked.append(cls) or original(model, cls))
            assert len(summary.summarise(model)["bodies"]) == bodies
        return len(asked)

    assert walks(20) == walks(2)
