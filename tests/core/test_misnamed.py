"""Names that are typed wrong in a file are named with what was meant, and names of others are left alone."""

import random

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon.core import misnamed, validate, vendor_data
from usdphys_ext.usdphys_addon.core.schema import INSTANCE
from usdphys_ext.usdphys_addon.usd import read as usd_read

REGISTRY = Usd.SchemaRegistry()
#: What files of others have in the namespaces of UsdPhysics and of simulators, and no table declares.
OF_OTHERS = [
    "mjc:body:gravcomp", "physics:coords1", "physics:engine", "physics:indices0", "physics:poissonsRatio",
    "physics:newton:articulation_index", "physics:src0", "physics:tensor:angular:dofOffset", "physics:thicknesses",
    "physics:tensor:jointIndex", "physics:thicknesses:elementType", "physics:type0", "physics:youngsModulus",
    "state:angular:physics:appliedForce", "physics:body2", "primvars:st", "inputs:mass", "xformOp:translate:pivot",
    "userProperties:physics:mas", "mass", "ui:nodegraph:node:pos", "physic",
]  # fmt: skip
SCHEMAS_OF_OTHERS = [
    "MaterialBindingAPI", "CollectionAPI:colliders", "GeomModelAPI", "SkelBindingAPI", "SemanticsAPI:Semantics",
    "PhysicsDeformableBodyAPI", "PhysicsVolumeDeformableSimAPI", "TensorPhysicsArticulationRootAPI", "VendorLookAPI",
    "PhysxMassAPI", "NewtonThingAPI",
]  # fmt: skip


def of(*names: str, type_name: str = "", schemas: tuple[str, ...] = ()) -> dict[str, str]:
    """What is meant by names of properties, by the name; those that are declared are left out."""
    found = misnamed.Names().misnamed(type_name, schemas, names)
    return {one.name: one.meant for one in found if one.meant}


def declared() -> list[str]:
    """All attributes of UsdPhysics, as USD's registry has them, and of the tables; "rotX" is the instance."""
    apis = [name for name in registered() if name.startswith("Physics")]
    found = {str(name) for api in apis for name in REGISTRY.FindAppliedAPIPrimDefinition(api).GetPropertyNames()}
    for table in vendor_data.tables():
        found |= {item["usd"] for row in table["schemas"] for item in row["attributes"]}
    return sorted(name.replace(INSTANCE, "rotX") for name in found if ":" in name and "collection" not in name)


def registered() -> list[str]:
    types = Usd.SchemaRegistry.GetTypeFromSchemaTypeName("PhysicsRigidBodyAPI").baseTypes[0].GetAllDerivedTypes()
    return [name for kind in types if (name := str(REGISTRY.GetAPISchemaTypeName(kind)))]


@pytest.mark.parametrize(("name", "meant"), [
    ("physics:mas", "physics:mass"), ("physics:masss", "physics:mass"), ("physics:kinematic_enabled",
    "physics:kinematicEnabled"), ("physics:KinematicEnabled", "physics:kinematicEnabled"),
    ("physic:velocity", "physics:velocity"), ("physics:linearVelocity", "physics:velocity"),
    ("physics:kinematic", "physics:kinematicEnabled"), ("drive:rotX:physics:stifness", "drive:rotX:physics:stiffness"),
    ("physxRigidBody:maxAngularVelocty", "physxRigidBody:maxAngularVelocity"),
    ("physxRigidbody:maxAngularVelocity", "physxRigidBody:maxAngularVelocity"), ("newton:armatre", "newton:armature"),
    ("limit:transY:physics:hihg", "limit:transY:physics:high"),
])  # fmt: skip
def test_a_misspelt_attribute_is_named_with_what_is_meant(name, meant):
    assert of(name) == {name: meant}


@pytest.mark.parametrize(("name", "meant"), [
    ("PhysicsRigidBodyApi", "PhysicsRigidBodyAPI"), ("RigidBodyAPI", "PhysicsRigidBodyAPI"),
    ("PhysicsRigidBody", "PhysicsRigidBodyAPI"), ("UsdPhysicsCollisionAPI", "PhysicsCollisionAPI"),
    ("PhysicsMasAPI", "PhysicsMassAPI"), ("PhysxRigidbodyAPI", "PhysxRigidBodyAPI"),
    ("PhysicsDriveAPI:rotx", "PhysicsDriveAPI:rotX"), ("PhysicsDrivAPI:rotX", "PhysicsDriveAPI:rotX"),
])  # fmt: skip
def test_a_misspelt_schema_is_named_with_what_is_meant(name, meant):
    assert of(schemas=(name,)) == {name: meant}


@pytest.mark.parametrize(("name", "meant"), [
    ("PhysicsRevolutJoint", "PhysicsRevoluteJoint"), ("RevoluteJoint", "PhysicsRevoluteJoint"),
    ("physicsScene", "PhysicsScene"), ("PhysicsPhysicsScene", ""), ("Scene", ""), ("Joint", ""), ("Xfrom", ""),
    ("Cubee", ""), ("PhysicsAttachment", ""),
])  # fmt: skip
def test_a_misspelt_type_is_named_with_what_is_meant(name, meant):
    assert of(type_name=name) == ({name: meant} if meant else {})


def test_names_of_others_are_left_alone():
    assert not of(*OF_OTHERS)
    assert not of(schemas=tuple(SCHEMAS_OF_OTHERS))


def test_declared_names_are_never_misspelt():
    names = declared()
    assert len(names) > 700
    assert not of(*names)
    schemas = [name for name in registered() if name.startswith("Physics")]
    schemas += [row["name"] for table in vendor_data.tables() for row in table["schemas"]]
    instances = {name: f"{name}:rotX" for name in ("PhysicsDriveAPI", "PhysicsLimitAPI")}
    assert len(schemas) > 100
    assert not of(schemas=tuple(instances.get(name, name) for name in schemas))


def test_a_slip_of_the_finger_in_any_long_name_is_noticed():
    """One letter of the last word left out, doubled or swapped with the next: that word is meant, or one as near."""
    chance = random.Random(11)
    names = [name for name in declared() if len(name.rpartition(":")[2]) >= 8]
    taken = set(declared())
    for name in chance.sample(names, 150):
        root, _, word = name.rpartition(":")
        at = chance.randrange(1, len(word) - 1)
        slip = chance.choice((word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:],
                              word[:at] + word[at + 1] + word[at] + word[at + 2 :]))  # fmt: skip
        typed = f"{root}:{slip}"
        if typed not in taken and not slip[-1].isdigit():
            meant = of(typed).get(typed)
            assert meant in taken, (name, typed)
            assert meant == name or len(word) - 2 <= len(meant.rpartition(":")[2]) <= len(word) + 2


def stage_with(*lines: str) -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString("\n".join(("#usda 1.0", *lines)))
    return Usd.Stage.Open(layer)


def said(stage: Usd.Stage) -> list[tuple[str, str, str]]:
    """(code, path, fix)"""
    issues = validate.validate(usd_read.read_stage(stage))
    return [(one.code, one.path, one.fix) for one in issues if one.code in ("NameMisspelt", "SchemaMissing")]


def test_what_belongs_to_a_misspelt_schema_is_no_second_issue():
    stage = stage_with(
        'def Cube "A" (prepend apiSchemas = ["PhysicsRigidBodyApi"])', "{", "bool physics:kinematicEnabled = 1", "}"
    )
    rename = "Rename PhysicsRigidBodyApi of 'A' to PhysicsRigidBodyAPI."
    assert said(stage) == [("NameMisspelt", "/A", rename)]


def test_an_attribute_without_its_schema_is_named_with_it():
    stage = stage_with(
        'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsDriveAPI:rotX"])', "{",
        "float physics:mass = 2", "float drive:rotX:physics:damping = 1", "float drive:rotY:physics:damping = 1", "}",
    )  # fmt: skip
    assert said(stage) == [
        ("SchemaMissing", "/A", "Give 'A' the schema PhysicsDriveAPI:rotY, or remove drive:rotY:physics:damping."),
        ("SchemaMissing", "/A", "Give 'A' the schema PhysicsMassAPI, or remove physics:mass."),
    ]


def test_a_schema_of_a_table_can_have_an_attribute_of_usdphysics_too():
    deformable = 'def Xform "A" (prepend apiSchemas = ["PhysicsDeformableBodyAPI"])'
    assert not said(stage_with(deformable, "{", "float physics:mass = 2", "}"))


def test_attributes_of_all_own_schemas_are_at_home_where_usd_authors_them():
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.Scene.Define(stage, "/Scene").CreateGravityMagnitudeAttr(9.0)
    for name in ("Joint", "FixedJoint", "RevoluteJoint", "PrismaticJoint", "SphericalJoint", "DistanceJoint"):
        joint = getattr(UsdPhysics, name).Define(stage, f"/{name}").GetPrim()
        UsdPhysics.DriveAPI.Apply(joint, "rotX")
        UsdPhysics.LimitAPI.Apply(joint, "transY")
    shape = UsdGeom.Mesh.Define(stage, "/Mesh").GetPrim()
    for name in (
        "RigidBodyAPI",
        "CollisionAPI",
        "MeshCollisionAPI",
        "MassAPI",
        "FilteredPairsAPI",
        "ArticulationRootAPI",
    ):
        getattr(UsdPhysics, name).Apply(shape)
    UsdPhysics.MaterialAPI.Apply(stage.DefinePrim("/Material", "Material"))
    for prim in stage.Traverse():
        for attribute in prim.GetAttributes():
            if "physics:" in attribute.GetName() and attribute.Get() is not None:
                attribute.Set(attribute.Get())
    assert not said(stage)


def test_a_file_of_very_many_unknown_names_takes_a_limited_number_of_comparisons():
    compared = []
    names = misnamed.Names()

    class Counted(str):
        def split(self, *arguments):
            compared.append(self)
            return super().split(*arguments)

    names.misnamed("", (), [Counted(f"physics:{letter}{number}x") for letter in "ab" for number in range(1000)])
    assert 0 < len(compared) <= 1000


def test_public_files_have_no_name_that_is_called_misspelt_wrongly(shared, subtests):
    """Files of Newton write physics:linearVelocity, which nobody reads: UsdPhysics says physics:velocity."""
    files = sorted(path for path in (shared / "devset" / "usd").rglob("*.usd*") if path.is_file())
    for path in files:
        with subtests.test(path.name):
            model = usd_read.read_stage(usd_read.open_stage(path))
            found = {one.name for several in model.misnamed.values() for one in several}
            assert found <= {"physics:linearVelocity"}
