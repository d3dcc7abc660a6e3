# SPDX-License-Identifier: GPL-3.0-or-later
"""Units: every attribute of the table, to a stage in other units and back, against the units that USD documents."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from pxr import Gf, Plug, Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import frames, schema, units, vendors
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schema import Attribute
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics
from usdphys_ext.usdphys_addon.core.units import Dimension, StageUnits
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write

FLT_MAX = 3.4028234663852886e38
SYSTEMS = {
    "m kg Z": StageUnits(1.0, 1.0, "Z"),
    "cm kg Y": StageUnits(0.01, 1.0, "Y"),
    "cm g Y": StageUnits(0.01, 0.001, "Y"),
    "inch pound Z": StageUnits(0.0254, 0.45359237, "Z"),
}
#: Any units of a file. Each length, mass and up axis that occurs in practice is drawn as well.
UNITS = st.builds(
    StageUnits,
    st.sampled_from([1.0, 0.01, 0.0254]) | st.floats(1e-3, 1e3),
    st.sampled_from([1.0, 0.001, 0.45359237]) | st.floats(1e-3, 1e3),
    st.sampled_from(["Y", "Z"]),
    st.none(),
)
#: Every length and mass differs from 1, so that each is missed where it is left out.
ODD = StageUnits(0.0254, 0.45359237, "Y")
EACH_SCHEMA = hypothesis.settings(max_examples=5)
TEXTS = {"asset": "./fingers.usda", "pathExpression": "/World//"}

#: (schema, instance) of everything that has a value: attributes are tested with their schema.
INSTANCES = [
    (name, instance)
    for name, cls in schema.SCHEMAS.items()
    for instance in (cls.instances or ("",))
    if any(attribute.type != "opaque" for attribute in cls.attributes)
]
each_schema = pytest.mark.parametrize(("name", "instance"), INSTANCES)
each_physics_schema = pytest.mark.parametrize(
    ("name", "instance"), [pair for pair in INSTANCES if schema.SCHEMAS[pair[0]].family == "UsdPhysics"]
)


def attributes_of(name: str) -> list[Attribute]:
    """Those that the model holds for a schema."""
    cls = schema.SCHEMAS[name]
    return [attribute for attribute in cls.attributes if attribute.type != "opaque" and vendors.is_held(cls, attribute)]


def numbers_of(name: str) -> list[Attribute]:
    return [attribute for attribute in attributes_of(name) if attribute.type in ("float", "double")]


def sample(attribute: Attribute) -> Any:
    """A value that is not the fallback."""
    kind = attribute.value
    if attribute.is_relationship:
        return ("/World/Other",)
    if kind.base == "bool":
        value = not attribute.fallback
    elif attribute.tokens:
        value = next(token for token in attribute.tokens if token != attribute.fallback)
    elif kind.base == "text":
        value = TEXTS.get(attribute.type.removesuffix("[]"), "fingers")
    elif kind.base == "int":
        value = 3 if kind.size == 1 else tuple(range(3, 3 + kind.size))
    elif kind.size == 1:
        value = 0.7321
    else:
        parts = np.array((0.31, -1.72, 2.93, 0.5)[: kind.size])
        value = tuple((parts / np.linalg.norm(parts) if kind.is_quaternion else parts).tolist())
    return (value,) if kind.is_array else value


def host(name: str) -> Prim:
    """A prim of a type that a schema can be on, with the API schemas that it needs beside it."""
    cls = schema.SCHEMAS[name]
    if cls.kind == "typed":
        type_name = name
    else:
        type_name = {
            "scene": "PhysicsScene",
            "material": "Material",
            "joint": "PhysicsJoint",
            "dof": "PhysicsJoint",
        }.get(cls.on, "Xform")
    prim = Prim("/Thing", type_name)
    if issubclass(cls, usd_geom.Gprim) or (cls.on == "collider" and vendors.is_vendor(cls)):
        prim.add(usd_physics.CollisionAPI())
    if cls.on == "material" and vendors.is_vendor(cls):
        prim.add(usd_physics.MaterialAPI())
    return prim


def write(name: str, instance: str, system: StageUnits, **values: Any) -> Usd.Stage:
    """A stage with one prim that carries one schema with these values of the model."""
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, system)
    prim = host(name)
    stage.DefinePrim(prim.path, prim.type_name)
    prim.add(schema.SCHEMAS[name](**values), instance)
    model = PhysicsModel()
    model.add(prim)
    usd_write.write_model(stage, model, system)
    return stage


def read_schema(stage: Usd.Stage, name: str, instance: str) -> schema.Schema:
    return usd_read.read_stage(stage).prims["/Thing"].schemas[f"{name}:{instance}" if instance else name]


def read(stage: Usd.Stage, name: str, instance: str, field: str) -> Any:
    return getattr(read_schema(stage, name, instance), field)


def test_no_schema_with_attributes_is_left_out() -> None:
    assert {name for name, _ in INSTANCES} == {*schema.SCHEMAS} - {"PhysicsArticulationRootAPI"}  # it has none
    assert sum(len(attributes_of(name)) for name, _ in INSTANCES) > 100


def assert_comes_back(name: str, instance: str, system: StageUnits, values: dict[str, Any]) -> None:
    found = read_schema(write(name, instance, system, **values), name, instance)
    for field, value in values.items():
        back = getattr(found, field)
        kind = schema.attribute_of(schema.SCHEMAS[name], field).value
        if kind.base != "float":
            assert back == value, field
        elif kind.is_array:
            np.testing.assert_allclose(back, value, rtol=1e-6, err_msg=field)
        else:
            assert back == pytest.approx(value, rel=1e-6), field


@each_schema
@EACH_SCHEMA
@hypothesis.given(system=UNITS)
@hypothesis.example(system=ODD)
def test_round_trip(name: str, instance: str, system: StageUnits) -> None:
    values = {attribute.field: sample(attribute) for attribute in attributes_of(name)}
    assert_comes_back(name, instance, system, values)


@each_schema
@EACH_SCHEMA
@hypothesis.given(system=UNITS)
@hypothesis.example(system=ODD)
def test_no_limit_stays_no_limit(name: str, instance: str, system: StageUnits) -> None:
    attributes = numbers_of(name)
    for value in (math.inf, -math.inf, FLT_MAX, -FLT_MAX):
        stage = write(name, instance, system, **{attribute.field: value for attribute in attributes})
        found = read_schema(stage, name, instance)
        for attribute in attributes:
            usd = attribute.usd_name(instance)
            assert stage.GetPrimAtPath("/Thing").GetAttribute(usd).Get() == value, usd
            # The size of a shape is read without its sign.
            is_size = issubclass(schema.SCHEMAS[name], usd_geom.Gprim) and attribute.space == "local"
            assert getattr(found, attribute.field) == (abs(value) if is_size else value), usd


def test_infinite_vectors_survive() -> None:
    nowhere = (-math.inf,) * 3
    stage = write("PhysicsMassAPI", "", SYSTEMS["cm g Y"], center_of_mass=nowhere)
    assert tuple(stage.GetPrimAtPath("/Thing").GetAttribute("physics:centerOfMass").Get()) == nowhere
    assert read(stage, "PhysicsMassAPI", "", "center_of_mass") == nowhere


# --------------------------------------------------------------------------- what USD documents


#: Properties whose unit USD's documentation leaves out.
UNDOCUMENTED = {
    "physics:localPos0": units.LENGTH,
    "physics:localPos1": units.LENGTH,
}


def documented_units() -> dict[tuple[str, str], str]:
    """(schema, property) -> what stands after "Units:" in the schema.usda that OpenUSD ships."""
    plugin = Plug.Registry().GetPluginWithName("usdPhysics")
    layer = Sdf.Layer.FindOrOpen(str(Path(plugin.resourcePath) / "usdPhysics" / "schema.usda"))
    found = {}
    for prim in layer.rootPrims:
        for attribute in prim.attributes:
            _, _, text = attribute.documentation.partition("Units:")
            if text:
                found[prim.name, attribute.name] = " ".join(text.lower().split())
    return found


DOCUMENTED = documented_units()


def dimension_of(text: str, angular: bool) -> Dimension:
    """Dimension of "mass * distance / second", or of its angular or linear half."""
    halves = re.split(r"if (?:linear|angular) drive:", text)
    if len(halves) == 3:
        text = halves[2 if angular else 1]
    if text.startswith("degrees or distance"):
        return units.ANGLE if angular else units.LENGTH
    exponents = {"mass": 0, "distance": 0, "dist_units": 0, "degrees": 0, "second": 0}
    sign = 1
    for word in re.findall(r"mass|dist_units|distance|degrees|second|[*/.]", text):
        if word == ".":
            break
        if word in exponents:
            exponents[word] += sign
        sign = -1 if word == "/" else 1
    length = exponents["distance"] + exponents["dist_units"]
    return Dimension(length, exponents["mass"], exponents["degrees"], exponents["second"])


def wanted_dimension(name: str, instance: str, attribute: Attribute) -> Dimension:
    plain = attribute.usd.replace(f"limit:{schema.INSTANCE}:", "").replace(f"drive:{schema.INSTANCE}:", "")
    owner = "PhysicsJoint" if (name, plain) not in DOCUMENTED and name.endswith("Joint") else name
    text = DOCUMENTED.get((owner, plain))
    if text is None:
        return UNDOCUMENTED.get(plain, units.NONE)
    return dimension_of(text, instance.startswith("rot") or instance == "angular")


def test_the_documentation_was_found() -> None:
    assert len(DOCUMENTED) >= 20
    assert dimension_of(DOCUMENTED["PhysicsMassAPI", "physics:density"], False) == (-3, 1, 0, 0)
    assert dimension_of(DOCUMENTED["PhysicsDriveAPI", "physics:damping"], True) == (2, 1, -1, -1)


@each_physics_schema
def test_dimension_is_the_documented_one(name: str, instance: str) -> None:
    for attribute in attributes_of(name):
        assert attribute.dimension_for(instance) == wanted_dimension(name, instance, attribute), attribute.usd


@each_physics_schema
@EACH_SCHEMA
@hypothesis.given(system=UNITS)
@hypothesis.example(system=ODD)
def test_number_on_the_stage(name: str, instance: str, system: StageUnits) -> None:
    """The factor, from the documented dimension and not from the table."""
    attributes = numbers_of(name)
    stage = write(name, instance, system, **{attribute.field: 0.7321 for attribute in attributes})
    found = read_schema(stage, name, instance)
    for attribute in attributes:
        length, mass, angle, _ = wanted_dimension(name, instance, attribute)
        one = system.meters_per_unit**length * system.kilograms_per_unit**mass * (math.pi / 180) ** angle
        usd = attribute.usd_name(instance)
        assert stage.GetPrimAtPath("/Thing").GetAttribute(usd).Get() == pytest.approx(0.7321 / one, rel=1e-6), usd
        assert getattr(found, attribute.field) == pytest.approx(0.7321, rel=1e-6), usd


@pytest.mark.parametrize(("instance", "one"), [("transX", 1.0), ("linear", 1.0), ("rotX", 180 / math.pi)])
@pytest.mark.parametrize("field", ["stiffness", "damping"])
def test_gains_of_an_acceleration_drive_hold_no_mass(field: str, instance: str, one: float) -> None:
    stage = write("PhysicsDriveAPI", instance, SYSTEMS["cm g Y"], type="acceleration", **{field: 5.0})
    value = stage.GetPrimAtPath("/Thing").GetAttribute(f"drive:{instance}:physics:{field}").Get()
    assert value == pytest.approx(5.0 / one)
    assert read(stage, "PhysicsDriveAPI", instance, field) == pytest.approx(5.0)


# --------------------------------------------------------------------------- tidy numbers


@pytest.mark.parametrize(
    ("value", "factor", "wanted"),
    [
        (89.99999809, 57.29578, 90.0),
        (0.1 + 1e-9, 100.0, 0.1),
        (-45.0000019, 57.29578, -45.0),
        (89.99999809, 1.0, 89.99999809),
        (1.2345678, 100.0, 1.2345678),
        (90.0001, 57.29578, 90.0001),
        (0.0, 100.0, 0.0),
        (math.inf, 100.0, math.inf),
        (-FLT_MAX, 100.0, -FLT_MAX),
    ],
)
def test_tidy(value: float, factor: float, wanted: float) -> None:
    assert usd_write.tidy(value, factor) == wanted


def test_degrees_come_back_round() -> None:
    for degrees in range(-180, 181):
        radians = float(np.float32(math.radians(degrees)))
        stage = write("PhysicsRevoluteJoint", "", units.SI, upper_limit=radians)
        assert stage.GetPrimAtPath("/Thing").GetAttribute("physics:upperLimit").Get() == degrees


def test_scaled_leaves_what_stands_for_infinity() -> None:
    assert units.scaled(3.0, 2.0) == 6.0
    assert units.scaled(math.inf, 2.0) == math.inf
    assert units.scaled(FLT_MAX, 2.0) == FLT_MAX
    assert units.scaled(-1e38, 0.5) == -1e38


# --------------------------------------------------------------------------- axes and spaces


def stage_of(system: StageUnits) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, system)
    return stage


@pytest.mark.parametrize("system", SYSTEMS)
def test_units_metadata_round_trip(system: str) -> None:
    stage = stage_of(SYSTEMS[system])
    assert usd_read.stage_units(stage) == SYSTEMS[system]
    assert UsdGeom.StageHasAuthoredMetersPerUnit(stage) and UsdPhysics.StageHasAuthoredKilogramsPerUnit(stage)


def test_units_of_a_stage_that_says_nothing() -> None:
    assert usd_read.stage_units(Usd.Stage.CreateInMemory()) == StageUnits(0.01, 1.0, UsdGeom.GetFallbackUpAxis())


@pytest.mark.parametrize(
    ("up", "on_stage", "in_model"),
    [("Y", (0, -1, 0), (0, 0, -1)), ("Y", (0, 0, 1), (0, -1, 0)), ("Y", (1, 0, 0), (1, 0, 0)),
     ("Z", (0, 0, -1), (0, 0, -1)), ("Z", (0, -1, 0), (0, -1, 0))],
)  # fmt: skip
def test_gravity_turns_with_the_up_axis(up: str, on_stage: tuple[int, ...], in_model: tuple[int, ...]) -> None:
    stage = stage_of(StageUnits(0.01, 1.0, up))
    scene = UsdPhysics.Scene.Define(stage, "/Thing")
    scene.CreateGravityDirectionAttr(Gf.Vec3f(*on_stage))
    scene.CreateGravityMagnitudeAttr(981.0)
    assert read(stage, "PhysicsScene", "", "gravity_direction") == pytest.approx(in_model)
    assert read(stage, "PhysicsScene", "", "gravity_magnitude") == pytest.approx(9.81)
    written = write("PhysicsScene", "", StageUnits(0.01, 1.0, up), gravity_direction=in_model)
    found = written.GetPrimAtPath("/Thing").GetAttribute("physics:gravityDirection").Get()
    assert tuple(found) == pytest.approx(on_stage)


def components(value: Gf.Vec3f | Gf.Quatf) -> tuple[float, ...]:
    return (value.GetReal(), *value.GetImaginary()) if isinstance(value, Gf.Quatf) else tuple(value)


def joint_stage(up: str) -> tuple[Usd.Stage, UsdPhysics.Joint]:
    """A joint between a turned body and a place in the world, in centimetres."""
    stage = stage_of(StageUnits(0.01, 1.0, up))
    body = UsdGeom.Xform.Define(stage, "/Body")
    body.AddTranslateOp().Set((100, 200, 300))
    body.AddRotateXYZOp().Set((20, 30, 40))
    joint = UsdPhysics.Joint.Define(stage, "/Thing")
    joint.CreateBody1Rel().SetTargets(["/Body"])
    for pos, rot in (
        (joint.CreateLocalPos0Attr(), joint.CreateLocalRot0Attr()),
        (joint.CreateLocalPos1Attr(), joint.CreateLocalRot1Attr()),
    ):
        pos.Set((10, 20, 30))
        rot.Set(Gf.Quatf(Gf.Rotation((1, 2, 3), 50).GetQuat()))
    return stage, joint


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_frames_in_the_world_turn_and_frames_on_bodies_do_not(up: str) -> None:
    stage, joint = joint_stage(up)
    found = usd_read.read_stage(stage).prims["/Thing"].get(usd_physics.Joint)
    turn = Gf.Rotation((1, 0, 0), 90 if up == "Y" else 0)
    point = turn.TransformDir(Gf.Vec3d(0.1, 0.2, 0.3))
    assert found.local_pos0 == pytest.approx(tuple(point))
    stage_rotation = Gf.Matrix3d(Gf.Rotation((1, 2, 3), 50)) * Gf.Matrix3d(turn)
    np.testing.assert_allclose(frames.matrix_of(found.local_rot0), np.array(stage_rotation).T, atol=1e-6)
    assert found.local_pos1 == pytest.approx((0.1, 0.2, 0.3))
    assert found.local_rot1 == pytest.approx(components(joint.GetLocalRot1Attr().Get()))


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_frames_are_written_back_as_they_were(up: str) -> None:
    stage, joint = joint_stage(up)
    names = ("physics:localPos0", "physics:localPos1", "physics:localRot0", "physics:localRot1")
    prim = joint.GetPrim()
    before = {name: prim.GetAttribute(name).Get() for name in names}
    model = usd_read.read_stage(stage)
    for name in names:
        prim.RemoveProperty(name)
    usd_write.write_model(stage, model, usd_read.stage_units(stage))
    for name in names:
        assert components(prim.GetAttribute(name).Get()) == pytest.approx(components(before[name]), rel=1e-5), name


def test_pose_of_a_prim_turns_and_is_in_metres() -> None:
    stage, _ = joint_stage("Y")
    UsdPhysics.RigidBodyAPI.Apply(stage.GetPrimAtPath("/Body"))
    world = usd_read.read_stage(stage).prims["/Body"].world
    np.testing.assert_allclose(world[:3, 3], (1.0, -3.0, 2.0), atol=1e-6)
    assert np.linalg.det(world[:3, :3]) == pytest.approx(1.0)


@each_schema
def test_lengths_in_the_space_of_a_prim_have_their_own_unit(name: str, instance: str) -> None:
    """A root prim that scales by 0.01: worlds in metres, prims in centimetres."""
    cls = schema.SCHEMAS[name]
    used = StageUnits(1.0, 1.0, "Z", local_meters_per_unit=0.01)
    stage = write(name, instance, used, **{attribute.field: 0.7321 for attribute in numbers_of(name)})
    for attribute in numbers_of(name):
        if vendors.is_vendor(cls):
            length, _, angle, _ = attribute.dimension_for(instance)
            length *= attribute.space == "local"
        elif issubclass(cls, usd_geom.Gprim):
            length, angle = 1, 0
        else:
            length, angle = 0, wanted_dimension(name, instance, attribute).angle
        usd = attribute.usd_name(instance)
        wanted = 0.7321 / (0.01**length * (math.pi / 180) ** angle)
        assert stage.GetPrimAtPath("/Thing").GetAttribute(usd).Get() == pytest.approx(wanted, rel=1e-6), usd


@pytest.mark.parametrize(
    ("name", "field", "scale"),
    [
        ("PhysicsMassAPI", "center_of_mass", 100.0),
        ("PhysicsRigidBodyAPI", "velocity", 100.0),
        ("PhysicsRigidBodyAPI", "angular_velocity", 180 / math.pi),
        ("PhysicsMassAPI", "diagonal_inertia", 1.0),
    ],
)
def test_vectors_in_the_space_of_a_prim_have_their_own_unit(name: str, field: str, scale: float) -> None:
    used = StageUnits(1.0, 1.0, "Z", local_meters_per_unit=0.01)
    stage = write(name, "", used, **{field: (1.0, 2.0, 3.0)})
    usd = schema.attribute_of(schema.SCHEMAS[name], field).usd
    assert tuple(stage.GetPrimAtPath("/Thing").GetAttribute(usd).Get()) == pytest.approx((scale, 2 * scale, 3 * scale))


def test_joint_frames_on_bodies_have_the_unit_of_prims_and_in_the_world_that_of_the_stage() -> None:
    used = StageUnits(1.0, 1.0, "Z", local_meters_per_unit=0.01)
    stage = write("PhysicsJoint", "", used, body1=("/Body",), local_pos0=(1.0, 2.0, 3.0), local_pos1=(1.0, 2.0, 3.0))
    prim = stage.GetPrimAtPath("/Thing")
    assert tuple(prim.GetAttribute("physics:localPos0").Get()) == pytest.approx((1, 2, 3))
    assert tuple(prim.GetAttribute("physics:localPos1").Get()) == pytest.approx((100, 200, 300))
