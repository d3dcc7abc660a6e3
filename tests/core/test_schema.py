# SPDX-License-Identifier: GPL-3.0-or-later
"""The schema table against the schema registry of usd-core: nothing missing, nothing extra, nothing different."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pxr import Gf, Plug, Sdf, Tf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import joint_kinds, schema, units, vendor_schemas
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schema import Attribute
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.usd import opinions as usd_opinions
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write

KINDS = {
    Usd.SchemaKind.ConcreteTyped: "typed",
    Usd.SchemaKind.SingleApplyAPI: "single",
    Usd.SchemaKind.MultipleApplyAPI: "multiple",
}


def registered(plugin: str) -> dict[str, Usd.SchemaKind]:
    """Schema name -> kind of all the schemas of a plugin that can be on a prim."""
    plugins = Plug.Registry()
    found = {}
    for type_ in plugins.GetAllDerivedTypes(Tf.Type.FindByName("UsdSchemaBase")):
        owner = plugins.GetPluginForType(type_)
        info = Usd.SchemaRegistry.FindSchemaInfo(type_)
        if owner and owner.name == plugin and info and info.kind in KINDS:
            found[str(Usd.SchemaRegistry.GetSchemaTypeName(type_))] = info.kind
    return found


REGISTERED = registered("usdPhysics")
#: Attributes of a later UsdPhysics, which the pinned usd-core does not know yet.
AHEAD: frozenset[str] = frozenset()
#: What joints inherit: proxyPrim, purpose, visibility.
IMAGEABLE = set(Usd.SchemaRegistry().FindConcretePrimDefinition("Scope").GetPropertyNames())


def definition(name: str) -> Usd.PrimDefinition:
    registry = Usd.SchemaRegistry()
    return registry.FindConcretePrimDefinition(name) or registry.FindAppliedAPIPrimDefinition(name)


def properties(name: str) -> set[str]:
    names = set(definition(name).GetPropertyNames())
    return names - IMAGEABLE if KINDS[REGISTERED[name]] == "typed" else names


def plain(value: Any) -> Any:
    if isinstance(value, Gf.Quatf):
        return (value.GetReal(), *value.GetImaginary())
    if isinstance(value, Gf.Vec3f):
        return tuple(value)
    return value


def test_the_registry_was_found() -> None:
    assert len(REGISTERED) >= 17
    assert {"proxyPrim", "purpose", "visibility"} == IMAGEABLE


def test_every_class_is_declared_and_no_other() -> None:
    assert set(schema.schemas_of("UsdPhysics")) == set(REGISTERED)


def as_declared(attribute: Attribute) -> tuple[Any, ...]:
    return attribute.type, attribute.fallback, attribute.uniform, attribute.tokens


def as_registered(known: Usd.PrimDefinition, name: str) -> tuple[Any, ...]:
    """The same of the registry: type, fallback, whether it is uniform, tokens."""
    if known.GetSpecType(name) == Sdf.SpecTypeRelationship:
        return "rel", None, False, ()
    return (
        str(known.GetAttributeDefinition(name).GetTypeName()),
        plain(known.GetAttributeFallbackValue(name)),
        known.GetPropertyMetadata(name, "variability") == Sdf.VariabilityUniform,
        tuple(known.GetPropertyMetadata(name, "allowedTokens") or ()),
    )


@pytest.mark.parametrize("name", sorted(REGISTERED))
def test_class_has_the_registered_kind_and_properties(name: str) -> None:
    cls = schema.SCHEMAS[name]
    assert cls.kind == KINDS[REGISTERED[name]]
    assert len({attribute.field for attribute in cls.attributes}) == len(cls.attributes)
    assert len({attribute.usd for attribute in cls.attributes}) == len(cls.attributes)
    found = {attribute.usd: as_declared(attribute) for attribute in cls.attributes if attribute.usd not in AHEAD}
    assert found == {usd: as_registered(definition(name), usd) for usd in properties(name)}


def test_attributes_can_be_shown() -> None:
    rows = [(name, attribute) for name, cls in schema.SCHEMAS.items() for attribute in cls.attributes]
    assert len(rows) > 100
    for name, attribute in rows:
        assert attribute.doc and attribute.label, (name, attribute.field)
        assert attribute.field.isidentifier() and attribute.field.islower(), (name, attribute.field)


@pytest.mark.parametrize("name", [name for name, kind in REGISTERED.items() if KINDS[kind] == "multiple"])
def test_instance_names_take_the_place_of_the_template(name: str) -> None:
    cls = schema.SCHEMAS[name]
    assert schema.INSTANCE == "__INSTANCE_NAME__"
    axes = {f"{motion}{axis}" for motion in ("trans", "rot") for axis in "XYZ"}
    assert set(cls.instances) - axes == {"PhysicsLimitAPI": {"distance"}}.get(name, {"distance", "linear", "angular"})
    for instance in cls.instances:
        assert getattr(UsdPhysics.Tokens, instance) == instance
        assert (instance in schema.ANGULAR_DOFS) == (instance in ("rotX", "rotY", "rotZ", "angular"))
        for attribute in cls.attributes:
            made = Usd.SchemaRegistry.MakeMultipleApplyNameInstance(attribute.usd, instance)
            assert attribute.usd_name(instance) == made != attribute.usd


def test_gprims_have_all_their_parameters_as_registered() -> None:
    of_every_gprim = set(definition("Mesh").GetPropertyNames()) | set(definition("Xform").GetPropertyNames())
    gprims = schema.schemas_of("UsdGeom")
    assert set(gprims) == {"Cube", "Sphere", "Capsule", "Cylinder", "Cone", "Plane"}
    for name, cls in gprims.items():
        own = set(definition(name).GetPropertyNames()) - of_every_gprim
        found = {attribute.usd: as_declared(attribute) for attribute in cls.attributes}
        assert found == {usd: as_registered(definition(name), usd) for usd in own}, name


@pytest.mark.parametrize(
    ("cls", "field", "sentinel", "value"),
    [
        (usd_physics.MassAPI, "mass", 0.0, 1.0),
        (usd_physics.MassAPI, "center_of_mass", (-math.inf,) * 3, (0.0, 0.0, 0.0)),
        # One part is enough: there is no such place.
        (usd_physics.MassAPI, "center_of_mass", (0.0, -math.inf, 0.0), (1.0, 2.0, 3.0)),
        (usd_physics.MassAPI, "principal_axes", (0.0,) * 4, (1.0, 0.0, 0.0, 0.0)),
        (usd_physics.PhysicsScene, "gravity_magnitude", -math.inf, 0.0),
        (usd_physics.PhysicsScene, "gravity_direction", (0.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
        (usd_physics.DistanceJoint, "max_distance", -1.0, 0.0),
    ],
)
def test_sentinels_are_automatic(cls: type[schema.Schema], field: str, sentinel: object, value: object) -> None:
    attribute = schema.attribute_of(cls, field)
    assert attribute.is_automatic(sentinel)
    assert attribute.is_automatic(None)
    assert attribute.is_automatic(attribute.fallback)
    assert not attribute.is_automatic(value)


#: What many files write for "no limit".
LARGEST = 3.4028234663852886e38


@pytest.mark.parametrize(
    ("cls", "field", "instance", "value", "is_decided"),
    [
        (usd_physics.RevoluteJoint, "lower_limit", "", -LARGEST, False),
        (usd_physics.RevoluteJoint, "lower_limit", "", -math.inf, False),
        (usd_physics.RevoluteJoint, "lower_limit", "", -3.0, True),
        # A lower limit above the upper one locks: infinity of the other sign is no "no limit".
        (usd_physics.RevoluteJoint, "lower_limit", "", math.inf, True),
        (usd_physics.LimitAPI, "high", "rotX", LARGEST, False),
        (usd_physics.LimitAPI, "high", "rotX", -LARGEST, True),
        (usd_physics.LimitAPI, "high", "rotX", -1.0, True),
        # A distance is never negative.
        (usd_physics.LimitAPI, "high", "distance", -1.0, False),
        (usd_physics.LimitAPI, "high", "distance", 0.0, True),
        (usd_physics.DistanceJoint, "max_distance", "", -1.0, False),
        (usd_physics.DriveAPI, "max_force", "rotX", LARGEST, False),
        (usd_physics.DriveAPI, "max_force", "rotX", 0.0, True),
        (usd_physics.Joint, "break_force", "", math.inf, False),
        (usd_physics.MassAPI, "center_of_mass", "", (0.0, -LARGEST, 0.0), False),
        (usd_physics.MassAPI, "center_of_mass", "", (0.0, math.nan, 0.0), False),
        (usd_physics.MassAPI, "center_of_mass", "", (0.0, 0.0, 0.0), True),
        (usd_physics.MassAPI, "diagonal_inertia", "", (0.0, 0.0, 0.0), False),
        (usd_physics.MassAPI, "diagonal_inertia", "", (0.0, 0.0, 1.0), True),
        # Infinity is nothing special where the fallback is finite: the checks report it.
        (usd_physics.DriveAPI, "target_velocity", "rotX", math.inf, True),
    ],
)
def test_automatic_and_unlimited_values_decide_nothing(
    cls: type[schema.Schema], field: str, instance: str, value: Any, is_decided: bool
) -> None:
    assert schema.attribute_of(cls, field).is_decided(value, instance) == is_decided
    assert cls(**{field: value}).decided(field, instance) == (value if is_decided else None)


def test_what_is_not_authored_decides_what_its_fallback_decides() -> None:
    assert usd_physics.RevoluteJoint().decided("upper_limit") is None
    assert usd_physics.RevoluteJoint().decided("axis") == "X"
    assert usd_physics.MassAPI().decided("mass") is None
    assert usd_physics.DriveAPI().decided("target_position", "rotX") == 0.0


@pytest.mark.parametrize(
    ("angles", "expected"),
    [
        ((None, None), None),
        ((-1.0, LARGEST), None),
        ((0.5, -1.0), (0.5, math.pi)),
        ((4.0, 0.25), (math.pi, 0.25)),
        ((0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_cone_without_a_limit_is_free(angles: Any, expected: Any) -> None:
    joint = usd_physics.SphericalJoint(cone_angle0_limit=angles[0], cone_angle1_limit=angles[1])
    assert joint_kinds.cone_angles(joint) == expected


@pytest.mark.parametrize(
    ("cls", "field", "right", "wrong"),
    [
        (usd_physics.MassAPI, "mass", [1.0, 2, math.inf], [True, "1", (1.0,)]),
        (usd_physics.MassAPI, "center_of_mass", [(0.0, 0, 1.0)], [1.0, (0.0, 0.0), (0.0, 0.0, "0")]),
        (usd_physics.MassAPI, "principal_axes", [(1.0, 0.0, 0.0, 0.0)], [(1.0, 0.0, 0.0)]),
        (usd_physics.RigidBodyAPI, "kinematic_enabled", [True, False], [1, 0.0, "yes"]),
        (usd_physics.MeshCollisionAPI, "approximation", ["none", "sdf"], [True, 1]),
        (usd_physics.Joint, "body0", [("/a",), ()], ["/a"]),
    ],
)
def test_values_of_another_type_are_told(cls: type[schema.Schema], field: str, right: list, wrong: list) -> None:
    attribute = schema.attribute_of(cls, field)
    assert [value for value in right if not attribute.accepts(value)] == []
    assert [value for value in wrong if attribute.accepts(value)] == []


def test_what_a_schema_does_not_allow_is_read_as_its_fallback() -> None:
    settings = usd_physics.MeshCollisionAPI("sdf")
    assert (settings.approximation, settings.holds("approximation")) == ("sdf", False)
    assert settings.resolved("approximation") == "none"
    assert usd_physics.RigidBodyAPI(kinematic_enabled="yes").resolved("kinematic_enabled") is False


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(AttributeError):
        schema.attribute_of(usd_physics.MassAPI, "weight")
    with pytest.raises(AttributeError):
        usd_physics.MassAPI().weight = 3.0


# --------------------------------------------------------------------------- vendor schemas


@pytest.fixture
def vendor() -> tuple[type[schema.Schema], type[schema.Schema]]:
    body, limit = vendor_schemas.find("PhysxRigidBodyAPI"), vendor_schemas.find("PhysxLimitAPI")
    assert body is not None and limit is not None
    return body, limit


def centimetre_stage() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    usd_write.write_units(stage, units.StageUnits(0.01, 0.001, "Z"))
    stage.DefinePrim("/Body", "Xform")
    return stage


def test_vendor_schema_is_read(vendor: tuple[type[schema.Schema], type[schema.Schema]]) -> None:
    body, limit = vendor
    stage = centimetre_stage()
    prim, joint = stage.GetPrimAtPath("/Body"), stage.DefinePrim("/Joint", "PhysicsJoint")
    prim.AddAppliedSchema("PhysxRigidBodyAPI")
    joint.AddAppliedSchema("PhysxLimitAPI:rotX")
    for owner, name, value in (
        (prim, "physxRigidBody:linearDamping", 0.5),
        (prim, "physxRigidBody:maxLinearVelocity", 300.0),
        (joint, "physxLimit:rotX:damping", 7.0),
    ):
        owner.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)
    model = usd_read.read_stage(stage)
    read = model.prims["/Body"]
    found = read.get(body)
    assert (found.linear_damping, found.max_linear_velocity) == (0.5, pytest.approx(3.0))
    assert (found.sleep_threshold, found.solve_contact) == (None, None)
    assert found.resolved("solve_contact") is True
    ((instance, damping),) = model.prims["/Joint"].instances(limit)
    assert instance == "rotX"
    assert damping.damping == pytest.approx(7.0 * 0.001 * 0.01**2 * 180 / math.pi)


def test_vendor_schema_is_written(vendor: tuple[type[schema.Schema], type[schema.Schema]]) -> None:
    body, limit = vendor
    stage = centimetre_stage()
    prim = Prim("/Body")
    prim.add(body(linear_damping=0.25, max_linear_velocity=3.0, solve_contact=False))
    stage.DefinePrim("/Joint", "PhysicsJoint")
    joint = Prim("/Joint", "PhysicsJoint")
    joint.add(limit(damping=2.0), "transZ")
    model = PhysicsModel()
    model.add(prim)
    model.add(joint)
    usd_write.write_model(stage, model, usd_read.stage_units(stage))
    written = stage.GetPrimAtPath("/Body")
    assert usd_opinions.applied_schemas(written) == ["PhysxRigidBodyAPI"]
    assert {str(name) for name in written.GetAuthoredPropertyNames()} == {
        "physxRigidBody:linearDamping", "physxRigidBody:maxLinearVelocity", "physxRigidBody:solveContact",
    }  # fmt: skip
    assert written.GetAttribute("physxRigidBody:linearDamping").Get() == 0.25
    assert written.GetAttribute("physxRigidBody:maxLinearVelocity").Get() == pytest.approx(300.0)
    assert written.GetAttribute("physxRigidBody:solveContact").Get() is False
    written_joint = stage.GetPrimAtPath("/Joint")
    assert usd_opinions.applied_schemas(written_joint) == ["PhysxLimitAPI:transZ"]
    assert written_joint.GetAttribute("physxLimit:transZ:damping").Get() == pytest.approx(2000.0)


def test_vendor_schemas_are_not_among_those_of_usd(vendor: tuple[type[schema.Schema], type[schema.Schema]]) -> None:
    assert not {cls.usd_name for cls in vendor} & schema.SCHEMAS.keys()


def test_nothing_authored_is_nothing_written() -> None:
    stage = centimetre_stage()
    model = PhysicsModel()
    prim = model.add(Prim("/Body"))
    for name, cls in schema.schemas_of("UsdPhysics").items():
        if cls.kind == "single":
            prim.add(schema.SCHEMAS[name]())
    usd_write.write_model(stage, model, usd_read.stage_units(stage))
    written = stage.GetPrimAtPath("/Body")
    assert written.HasAPI(UsdPhysics.MassAPI) and written.HasAPI(UsdPhysics.RigidBodyAPI)
    assert written.GetAuthoredPropertyNames() == []
    read = usd_read.read_stage(stage).prims["/Body"]
    assert all(not list(value.authored()) for value in read.schemas.values())
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01


@pytest.mark.parametrize("name", [name for name in REGISTERED if name.endswith("Joint")])
def test_joint_frames_know_their_body(name: str) -> None:
    sides = {attribute.usd: attribute.body for attribute in schema.SCHEMAS[name].attributes}
    wanted = {usd: int(usd[-1]) if usd.startswith("physics:local") else None for usd in sides}
    assert sides == wanted
