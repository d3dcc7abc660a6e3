"""Vendor schemas as data: an invented vendor through values, units and USD; in Blender see tests/blender."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd
from usdphys_ext.usdphys_addon.core import array_text, runtimes, schema, units, value_types, vendor_schemas
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.usd import carry
from usdphys_ext.usdphys_addon.usd import opinions as usd_opinions
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write

#: A value, as it is in the model, of every type that can be declared.
VALUES = {
    "bool": True, "uchar": 200, "int": -3, "uint": 4_000_000_000, "int64": -(2**60), "uint64": 2**63,
    "half": 0.5, "float": 0.25, "double": 0.1, "string": "a text", "token": "spring", "asset": "./tyre.usda",
    "int2": (1, 2), "int3": (1, 2, 3), "int4": (1, 2, 3, 4), "float2": (0.5, 1.5), "double3": (0.1, 0.2, 0.3),
    "half4": (0.5, 1.0, 1.5, 2.0), "point3f": (1.0, 2.0, 3.0), "vector3d": (1.0, 0.0, -1.0),
    "normal3f": (0.0, 0.0, 1.0), "color3f": (0.25, 0.5, 1.0), "quatf": (0.0, 1.0, 0.0, 0.0),
    "quatd": (0.6, 0.8, 0.0, 0.0), "bool[]": (True, False), "int[]": (1, 2, 3), "float[]": (0.5, 0.25),
    "token[]": ("left", "right"), "string[]": ("a", "b c"), "asset[]": ("./a.png", "./b.png"),
    "float3[]": ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), "quatf[]": ((1.0, 0.0, 0.0, 0.0),), "uint[]": (1, 4_000_000_000),
}  # fmt: skip


@pytest.fixture
def acme() -> Iterator[type[schema.Schema]]:
    rows = [{"usd": f"acme:v{number}", "type": type_, "unit": "1"} for number, type_ in enumerate(VALUES)] + [
        {"usd": "acme:drag", "type": "float", "fallback": 0.0, "unit": "kg*m^2/s^2"},
        {"usd": "acme:offset", "type": "point3f", "fallback": [0.0, 0.0, 0.0], "unit": "m", "space": "local"},
        {"usd": "acme:reach", "type": "float[]", "unit": "m"},
        {"usd": "acme:up", "type": "vector3f", "fallback": [0.0, 0.0, 1.0], "unit": "1", "space": "world"},
        {"usd": "acme:guide", "type": "rel"},
    ]  # fmt: skip
    vendor_schemas.add_table(table([{"name": "AcmeEverythingAPI", "kind": "single", "on": "body", "attributes": rows}]))
    found = vendor_schemas.find("AcmeEverythingAPI")
    assert found is not None
    yield found
    vendor_schemas.remove_table("Acme")


def table(schemas: list[dict]) -> dict:
    return {"runtime": "Acme", "schemas": schemas}


def written(value: schema.Schema, system: units.StageUnits) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, system)
    stage.DefinePrim("/Thing", "Xform")
    model = PhysicsModel()
    model.add(Prim("/Thing")).add(value)
    usd_write.write_model(stage, model, system)
    return stage


def test_every_value_type_goes_to_usd_and_back(acme) -> None:
    value = acme(**{f"v{number}": content for number, content in enumerate(VALUES.values())})
    stage = written(value, units.SI)
    prim = stage.GetPrimAtPath("/Thing")
    for number, type_ in enumerate(VALUES):
        assert prim.GetAttribute(f"acme:v{number}").GetTypeName() == type_
    assert prim.GetAttribute("acme:v3").Get() == 4_000_000_000
    assert prim.GetAttribute(f"acme:v{list(VALUES).index('asset')}").Get() == Sdf.AssetPath("./tyre.usda")
    found = usd_read.read_stage(stage).prims["/Thing"].get(acme)
    for number, (type_, content) in enumerate(VALUES.items()):
        read = getattr(found, f"v{number}")
        assert type(read) is type(content), type_
        if value_types.value_type(type_).base == "float":
            np.testing.assert_allclose(np.array(read), np.array(content), rtol=1e-6, err_msg=type_)
        else:
            assert read == content, type_


def test_vendor_numbers_follow_the_units_of_the_file(acme) -> None:
    """A torque of 3 N m, a point 0.5 m away in a file of centimetres, grams and Y up."""
    value = acme(drag=3.0, offset=(0.5, 0.0, 0.0), reach=(1.0, 2.0), up=(0.0, 0.0, 1.0))
    stage = written(value, units.StageUnits(0.01, 0.001, "Y"))
    prim = stage.GetPrimAtPath("/Thing")
    assert prim.GetAttribute("acme:drag").Get() == pytest.approx(3.0 / (0.01**2 * 0.001))
    assert prim.GetAttribute("acme:offset").Get() == Gf.Vec3f(50, 0, 0)
    assert list(prim.GetAttribute("acme:reach").Get()) == [100.0, 200.0]
    assert Gf.IsClose(prim.GetAttribute("acme:up").Get(), Gf.Vec3f(0, 1, 0), 1e-6)
    found = usd_read.read_stage(stage).prims["/Thing"].get(acme)
    assert found.drag == pytest.approx(3.0) and found.reach == pytest.approx((1.0, 2.0))
    assert found.up == pytest.approx((0.0, 0.0, 1.0))


def test_what_blender_has_no_property_for_is_carried(acme) -> None:
    """Attributes beside those of the tables, and schemas on prims without a place for them, stay as they are."""
    stage = written(acme(drag=1.0), units.SI)
    prim = stage.GetPrimAtPath("/Thing")
    prim.CreateAttribute("acme:beside", Sdf.ValueTypeNames.Opaque)
    prim.CreateRelationship("acme:guide", custom=False).SetTargets(["/Thing"])
    text = carry.capture(usd_opinions.Opinions(prim), units.SI)
    assert "acme:beside" in text and "acme:drag" not in text and "acme:guide" not in text
    assert usd_read.read_stage(stage).prims["/Thing"].get(acme).guide == ("/Thing",)
    scope = stage.DefinePrim("/Looks", "Material")
    scope.AddAppliedSchema("AcmeEverythingAPI")
    scope.CreateAttribute("acme:drag", Sdf.ValueTypeNames.Float).Set(2.0)
    text = carry.capture(usd_opinions.Opinions(scope), units.SI)
    assert "acme:drag" in text and "AcmeEverythingAPI" in text
    assert "/Looks" not in usd_read.read_stage(stage).prims


def test_declarations_that_cannot_work_are_refused() -> None:
    def one(name: str = "AcmeAPI", **attribute) -> dict:
        attributes = [{"usd": "acme:a", **attribute}] if attribute else []
        return table([{"name": name, "kind": "single", "on": "body", "attributes": attributes}])

    refused = [
        (one(type="matrix4q"), "not known"), (one(type="int", fallback="much"), "which is no int"),
        (one(type="float", unit="N"), "is no unit"), (one("PhysicsMassAPI"), "declared already"),
        (one("PhysxRigidBodyAPI"), "declared already"),
    ]  # fmt: skip
    for wrong, reason in refused:
        with pytest.raises(ValueError, match=reason):
            vendor_schemas.add_table(wrong)
    assert vendor_schemas.find("AcmeAPI") is None


def test_units_are_named_by_their_dimension() -> None:
    """A torque is no inertia, though both are length squared times mass."""
    assert units.unit_name(units.TORQUE) == "N·m" and units.unit_name(units.INERTIA) == "kg·m²"
    assert units.unit_name(units.VELOCITY) == "m/s" and units.unit_name(units.ANGULAR_VELOCITY) == "°/s"
    assert units.unit_name(units.SQUARED_RATE_PER_ANGLE) == "1/°/s²" and units.unit_name(units.NONE) == ""
    assert units.unit_name(units.Dimension(length=-1, time=3)) == "s³/m"
    assert units.StageUnits(0.01, 0.001).factor(units.TORQUE) == pytest.approx(1e-7)
    assert units.StageUnits().factor(units.ANGULAR_DAMPING) == pytest.approx(180 / math.pi)


def test_arrays_as_text() -> None:
    for type_, value in VALUES.items():
        kind = value_types.value_type(type_)
        if kind.is_array:
            assert array_text.parse_array(kind, array_text.format_array(value)) == value, type_
    floats = value_types.value_type("float[]")
    assert array_text.parse_array(floats, " ") == () and array_text.parse_array(floats, "[1, 2]") == (1.0, 2.0)
    for text in ("1, 2", "[1,", '["a"]', "[[1, 2]]", "[true]", "{}"):
        with pytest.raises(ValueError, match="is not a list"):
            array_text.parse_array(floats, text)


def test_typed_numbers_keep_their_32_bits() -> None:
    """The shortest decimal is the same 32-bit number: seven digits are not enough for half of them."""
    rng = np.random.default_rng(1)
    for value in (10.0 ** rng.uniform(-30, 30, 2000)).astype(np.float32):
        assert np.float32(units.shortest(float(value))) == value
    assert units.shortest(float(np.float32(0.01))) == 0.01


def test_words_of_physx_hold_what_newton_says_and_replace_nothing() -> None:
    model = PhysicsModel()
    hinge, knob, slide, rail = (
        model.add(Prim(f"/robot/{name}", type_name))
        for name, type_name in (
            ("hinge", "PhysicsRevoluteJoint"), ("knob", "PhysicsRevoluteJoint"), ("slide", "PhysicsPrismaticJoint"),
            ("rail", "PhysicsPrismaticJoint"),
        )
    )  # fmt: skip
    hinge.add(usd_physics.RevoluteJoint(axis="Z"))
    knob.add(usd_physics.RevoluteJoint(axis="Y"))
    for prim in (slide, rail):
        prim.add(usd_physics.PrismaticJoint())
    joint_api, mimic, axis = (
        vendor_schemas.find(name) for name in ("NewtonJointAPI", "NewtonMimicAPI", "PhysxJointAxisAPI")
    )
    assert joint_api is not None and mimic is not None and axis is not None
    knob.add(joint_api(velocity_limit=2.0, damping=0.5, friction=3.0))
    knob.add(axis(viscous_friction_coefficient=9.0), "angular")
    knob.add(mimic(mimic_joint=("/robot/hinge",), mimic_coef0=0.25, mimic_coef1=-2.0))
    slide.add(mimic(mimic_joint=("/robot/rail",), mimic_coef1=1.0))
    rail.add(mimic(mimic_joint=("/robot/gone",)))
    runtimes.add_physx_words(model)
    written: Any = knob.schemas["PhysxJointAxisAPI:angular"]
    assert (written.max_joint_velocity, written.viscous_friction_coefficient) == (2.0, 9.0)
    # PhysX refuses a dynamic friction above the static one.
    assert written.dynamic_friction_effort == written.static_friction_effort == 3.0
    follows: Any = knob.schemas["PhysxMimicJointAPI:rotY"]
    # PhysX holds position + gearing * leader + offset at zero.
    assert (follows.gearing, follows.offset) == (2.0, -0.25)
    assert (follows.reference_joint, follows.reference_joint_axis) == (("/robot/hinge",), "rotZ")
    # PhysX ignores its words for slides that follow.
    assert not any("Physx" in name for prim in (slide, rail) for name in prim.schemas)
