"""Time samples of physics in a stage are simulated: in all units, rates and ranges of time codes."""

import itertools
from typing import Any

import numpy as np
import pytest
from pxr import Usd, UsdPhysics
from usdphys_ext.usdphys_addon import stage_motion
from usdphys_ext.usdphys_addon.usd import read as usd_read

GRAVITY = 9.81
UNITS = [(1.0, 1.0, "Z"), (0.01, 1.0, "Y"), (0.001, 0.001, "Z")]
TIMES = list(itertools.product((24, 60), (0, 1, 100, -7)))


def stage_of(folder: Any, units: tuple[float, float, str], rate: float, start: float, physics: str) -> Usd.Stage:
    meters, kilograms, up = units
    file = folder / "stage.usda"
    file.write_text(
        f"""#usda 1.0
(
    metersPerUnit = {meters}
    kilogramsPerUnit = {kilograms}
    upAxis = "{up}"
    timeCodesPerSecond = {rate}
    startTimeCode = {start}
    endTimeCode = {start + 2 * rate}
)
def PhysicsScene "Scene" {{ }}
{physics}
""",
        encoding="utf-8",
    )
    return usd_read.open_stage(file)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("rate", "start"), TIMES)
def test_gravity_grows_with_its_samples(tmp_path: Any, units: Any, rate: float, start: float) -> None:
    physics = """
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) { }
"""
    stage = stage_of(tmp_path, units, rate, start, physics)
    magnitude = UsdPhysics.Scene(stage.GetPrimAtPath("/Scene")).CreateGravityMagnitudeAttr()
    magnitude.Set(0.0, start)
    magnitude.Set(6.0 / units[0], start + rate)
    motion = stage_motion.simulate_stage(stage, 1.0, fps=60.0)
    # An acceleration that grows by 6 m/s3 in a second: t^3.
    assert motion.recording.positions[-1, 0, 2] == pytest.approx(-1.0, rel=0.03)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("rate", "start"), TIMES)
def test_a_body_is_thrown_by_its_samples(tmp_path: Any, units: Any, rate: float, start: float) -> None:
    meters, _, up = units
    count = round(rate / 2)
    keys = []
    for number in range(2 * count):
        t = number / rate
        x, z = 2.0 * t, 4.0 * t - 3.0 * t * t
        place = (x, 0.0, z) if up == "Z" else (x, z, 0.0)
        keys.append(f"{start + number}: ({', '.join(str(part / meters) for part in place)})")
    physics = f"""
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{{
    double radius = {0.1 / meters}
    bool physics:kinematicEnabled.timeSamples = {{ {start}: 1, {start + count}: 0 }}
    double3 xformOp:translate.timeSamples = {{ {", ".join(keys)} }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
"""
    stage = stage_of(tmp_path, units, rate, start, physics)
    recording = stage_motion.simulate_stage(stage, 1.5).recording
    t0, t = count / rate, 1.5 - count / rate
    begin = np.array((2.0 * t0, 0.0, 4.0 * t0 - 3.0 * t0 * t0))
    flown = np.array((2.0, 0.0, 4.0 - 6.0 * t0)) * t - (0.0, 0.0, 0.5 * GRAVITY * t * t)
    assert np.linalg.norm(recording.positions[-1, 0] - begin - flown) < 0.01 * np.linalg.norm(flown)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [24, 60])
def test_a_servo_follows_its_samples(tmp_path: Any, rate: float) -> None:
    physics = f"""
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{{
    double radius = 0.1
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
{{
    uniform token physics:axis = "Z"
    rel physics:body1 = </Ball>
    point3f physics:localPos1 = (-1, 0, 0)
    float drive:angular:physics:stiffness = 100
    float drive:angular:physics:damping = 10
    float drive:angular:physics:targetPosition.timeSamples = {{ 0: 0, {rate}: 30 }}
}}
"""
    motion = stage_motion.simulate_stage(stage_of(tmp_path, UNITS[0], rate, 0, physics), 2.0)
    assert np.degrees(motion.world.joint_position("/Hinge", "angular")) == pytest.approx(30.0, abs=0.5)


def test_a_recording_may_hold_what_was_led_to_its_end(tmp_path: Any) -> None:
    physics = """
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double radius = 0.1
    bool physics:kinematicEnabled.timeSamples = { 0: 0, 12: 1 }
}
"""
    stage = stage_of(tmp_path, UNITS[0], 24, 0, physics)
    motion = stage_motion.simulate_stage(stage, 1.0)
    stage_motion.write_cache(stage, tmp_path / "moves.usda", motion, motion.recording)
    moves = Usd.Stage.Open(str(tmp_path / "moves.usda"))
    written = moves.GetPrimAtPath("/Ball")
    places = [written.GetAttribute("xformOp:translate:simulated").Get(time)[2] for time in (0, 12, 24)]
    assert places[0] == 0.0 and places[1] == pytest.approx(-0.125 * GRAVITY, rel=0.1) and places[2] == places[1]
