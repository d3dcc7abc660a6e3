"""Blender properties against the schema table, and their survival of all that a .blend goes through."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import property_values, props
from usdphys_ext.usdphys_addon.core import joint_kinds, schema
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics

from . import scenes

FLOAT_MAX = 3.4028234663852886e38
LIMITED = {
    usd_physics.RevoluteJoint: props.RevoluteProperties, usd_physics.PrismaticJoint: props.PrismaticProperties,
    usd_physics.SphericalJoint: props.SphericalProperties, usd_physics.DistanceJoint: props.DistanceProperties,
}  # fmt: skip

#: Where the attributes of a class live, and which of its fields the group holds in another way.
HOMES: list[tuple[type[schema.Schema], Any, set[str]]] = [
    (usd_physics.PhysicsScene, props.PhysicsSceneProperties, set()),
    (usd_physics.RigidBodyAPI, props.RigidBodyProperties, set()),
    (usd_physics.MassAPI, props.MassProperties, set()),
    (usd_physics.CollisionAPI, props.ColliderProperties, set()),
    (usd_physics.MeshCollisionAPI, props.ColliderProperties, set()),
    (usd_physics.MaterialAPI, props.MaterialProperties, set()),
    # Members name the group: the two lists are kept on the objects.
    (usd_physics.CollisionGroup, props.CollisionGroupProperties, {"colliders", "includes", "excludes"}),
    (usd_physics.FilteredPairsAPI, props.FilteredPairsProperties, set()),
    (usd_physics.ArticulationRootAPI, props.ArticulationRootProperties, set()),
    (usd_physics.Joint, props.JointProperties, set()),
    (usd_physics.FixedJoint, props.JointProperties, set()),
    (usd_physics.LimitAPI, props.LinearLimitProperties, set()),
    (usd_physics.LimitAPI, props.AngularLimitProperties, set()),
    (usd_physics.DriveAPI, props.LinearDriveProperties, set()),
    (usd_physics.DriveAPI, props.AngularDriveProperties, set()),
    *((cls, group, {a.field for a in usd_physics.Joint.attributes} | {"axis"}) for cls, group in LIMITED.items()),
    *((cls, props.JointProperties, {a.field for a in cls.attributes} - {"axis"}) for cls in LIMITED
      if cls is not usd_physics.DistanceJoint),
]  # fmt: skip

#: What our groups hold beside the attributes of the schemas.
OUR_OWN = {
    "RigidBodyProperties": {"is_applied", "keeps_velocity"},
    "MassProperties": {"is_applied"},
    "MaterialProperties": {"is_applied"},
    "ArticulationRootProperties": {"is_applied"},
    "FilteredPairsProperties": {"is_applied", "active_index"},
    "ColliderProperties": {
        "shape", "location", "rotation", "size", "radius", "height", "axis", "purpose", "mass", "physics_material",
        "filtered_pairs", "collision_groups", "is_geometry", "has_mesh_collision", "other_approximation", "vendor",
        "extras",
    },
    "JointProperties": {
        "is_applied", "type", "body0_name", "body1_name", "revolute", "prismatic", "spherical", "distance", "limits",
        "drives", "body0_path", "body1_path", "has_remembered_frames",
        *(f"remembered_{name}" for name in ("local_pos0", "local_rot0", "local_pos1", "local_rot1")),
    },
    "LinearLimitProperties": {"is_applied"},
    "AngularLimitProperties": {"is_applied"},
    "LinearDriveProperties": {"is_applied"},
    "AngularDriveProperties": {"is_applied"},
    "CollisionGroupProperties": {"list_name", "active_index", "prim", "other_includes", "other_excludes"},
    "PhysicsSceneProperties": {"prim", "vendor"},
    **{group.__name__: set() for group in LIMITED.values()},
}  # fmt: skip
HOUSEKEEPING = {
    props.ObjectReference, props.GroupReference, props.GroupMembership, props.LimitsProperties,
    props.DrivesProperties, props.ObjectPhysicsProperties, props.StageProperties, props.ScenePhysicsProperties,
    props.MaterialPhysicsProperties, props.RememberedPrim, props.SourceProperties,
    props.PreviewProperties, props.GltfProperties, props.VendorRow, props.LandHereProperties, props.CableProperties,
    props.DataReference,
    props.ChangedData, props.MadeObject, props.ConstructionProperties,
}  # fmt: skip
KINDS = {
    "bool": ("BOOLEAN", 0), "token": ("ENUM", 0), "string": ("STRING", 0), "pathExpression": ("STRING", 0),
    "float": ("FLOAT", 0), "float3": ("FLOAT", 3), "point3f": ("FLOAT", 3), "vector3f": ("FLOAT", 3),
    "quatf": ("FLOAT", 4),
}  # fmt: skip
ROWS = [
    (group, attribute)
    for cls, group, elsewhere in HOMES
    for attribute in cls.attributes
    if attribute.field not in elsewhere
]


def properties(group: Any) -> dict[str, Any]:
    return {item.identifier: item for item in group.bl_rna.properties if item.identifier not in ("rna_type", "name")}


def default_of(item: Any) -> Any:
    return tuple(item.default_array) if getattr(item, "array_length", 0) else item.default


# --------------------------------------------------------------------------- the table


def kind_of(item: Any) -> tuple[Any, ...]:
    """(type, length of an array, whether it is a quaternion, tokens) of a property."""
    length = getattr(item, "array_length", 0)
    tokens = tuple(item.enum_items.keys()) if item.type == "ENUM" else ()
    return item.type, length, length > 0 and item.subtype == "QUATERNION", tokens


def wanted_kind(attribute: Any) -> tuple[Any, ...]:
    if attribute.is_relationship:
        kind = "STRING" if attribute.field == "simulation_owner" else "POINTER" if "body" in attribute.field else None
        return kind or "COLLECTION", 0, False, ()
    return *KINDS[attribute.type], attribute.type == "quatf", attribute.tokens


def test_every_attribute_has_its_property():
    assert len(ROWS) > 70
    for group, attribute in ROWS:
        item, where = properties(group)[attribute.field], f"{group.__name__}.{attribute.field}"
        names = attribute.usd, attribute.usd.replace(schema.INSTANCE, "*")
        assert attribute.is_relationship or any(name in item.description for name in names), where
        assert item.is_overridable, where
        assert kind_of(item) == wanted_kind(attribute), where


def bounded(value: Any) -> Any:
    """Some versions of Blender hold an infinite number as the largest that it has."""
    return max(-FLOAT_MAX, min(value, FLOAT_MAX)) if isinstance(value, float) else value


def shown_fallback(attribute: Any) -> Any:
    """What a property shows where nothing is authored."""
    fallback = attribute.fallback
    if fallback is None:
        return "" if attribute.type in ("string", "pathExpression", "token") else False
    if isinstance(fallback, tuple) and (not all(map(math.isfinite, fallback)) or len(fallback) == 4):
        # No place and no orientation: shown as the plain one.
        return (0, 0, 0) if len(fallback) == 3 else (1, 0, 0, 0)
    if isinstance(fallback, float):
        return pytest.approx(bounded(fallback), rel=1e-6)
    return fallback


def test_every_default_is_the_fallback():
    rows = [row for row in ROWS if not row[1].is_relationship]
    found = {
        f"{group.__name__}.{item.field}": bounded(default_of(properties(group)[item.field])) for group, item in rows
    }
    assert found == {f"{group.__name__}.{item.field}": shown_fallback(item) for group, item in rows}


def test_all_of_usdphysics_has_a_home():
    assert {cls for cls, _, _ in HOMES} == set(schema.schemas_of("UsdPhysics").values())


def test_every_attribute_has_exactly_one_place():
    for cls in {cls for cls, _, _ in HOMES}:
        assert wrong_places(cls) == {}, cls.__name__


def wrong_places(cls: Any) -> dict[str, int]:
    """Attributes of a schema that are not in as many groups as they should be."""
    homes = [(group, elsewhere) for home, group, elsewhere in HOMES if home is cls]
    places = 2 if cls in (usd_physics.LimitAPI, usd_physics.DriveAPI) else 1  # for translations and for rotations
    inherited = {attribute.field for attribute in usd_physics.Joint.attributes} if cls in LIMITED else set()
    kept = [
        item.field for item in cls.attributes if item.field not in inherited | {"colliders", "includes", "excludes"}
    ]
    found = {name: sum(name not in elsewhere for _, elsewhere in homes) for name in kept}
    return {name: number for name, number in found.items() if number != places}


def test_groups_have_nothing_else():
    found = {}
    for group in [cls for cls in props.CLASSES if cls not in HOUSEKEEPING]:
        declared = {attribute.field for owner, attribute in ROWS if owner is group}
        found[group.__name__] = set(properties(group)) - declared
    assert found == {name: OUR_OWN[name] for name in found} and len(found) > 15


@pytest.mark.parametrize(
    ("group", "cls", "linear", "angular"),
    [
        (props.LimitsProperties, usd_physics.LimitAPI, props.LinearLimitProperties, props.AngularLimitProperties),
        (props.DrivesProperties, usd_physics.DriveAPI, props.LinearDriveProperties, props.AngularDriveProperties),
    ],
)
def test_every_degree_of_freedom_has_its_group(group, cls, linear, angular):
    found = {name: item.fixed_type.identifier for name, item in properties(group).items()}
    assert found == {
        dof: (angular if dof in schema.ANGULAR_DOFS else linear).__name__ for dof in cls.instances
    }  # fmt: skip


@pytest.mark.parametrize("cls", [kind.cls for kind in joint_kinds.JOINT_KINDS], ids=list(joint_kinds.BY_IDENTIFIER))
def test_joint_types_are_all_there(cls):
    kinds = {usd_physics.Joint, *usd_physics.Joint.__subclasses__()}
    assert cls in kinds
    assert {kind.cls for kind in joint_kinds.JOINT_KINDS} == kinds
    assert set(properties(props.JointProperties)["type"].enum_items.keys()) == set(joint_kinds.BY_IDENTIFIER)


def test_shapes_are_all_there():
    shapes = set(properties(props.ColliderProperties)["shape"].enum_items.keys())
    assert shapes == {"AUTO", "MESH", *props.GPRIM_SHAPES}
    assert set(props.GPRIM_SHAPES.values()) == set(schema.schemas_of("UsdGeom").values()) - {usd_geom.Gprim}


# --------------------------------------------------------------------------- authored or not

#: (path from an object's physics, value that is not the default)
VALUES: list[tuple[str, Any]] = [
    ("rigid_body.is_applied", True),
    ("rigid_body.rigid_body_enabled", False),
    ("rigid_body.velocity", (1.5, -2.0, 0.25)),
    ("rigid_body.simulation_owner", "Other"),
    ("mass.mass", 2.5),
    ("mass.principal_axes", (0.5, 0.5, 0.5, 0.5)),
    ("joint.type", "REVOLUTE"),
    ("joint.axis", "Z"),
    ("joint.break_force", 12.0),
    ("joint.revolute.lower_limit", -0.5),
    ("joint.spherical.cone_angle0_limit", 0.25),
    ("joint.limits.rotY.high", 0.75),
    ("joint.drives.transX.type", "acceleration"),
    ("joint.drives.angular.stiffness", 4.0),
]
#: Set to what they show anyway: this too is authored.
DEFAULTS = [("mass.density", 0.0), ("joint.joint_enabled", True), ("joint.drives.rotX.type", "force")]
COLLIDER_VALUES: list[tuple[str, Any]] = [
    ("shape", "CAPSULE"),
    ("approximation", "convexHull"),
    ("radius", 0.25),
    ("size", (1.0, 2.0, 4.0)),
    ("mass.mass", 8.0),
]


def collider_values(number: int) -> list[tuple[str, Any]]:
    return [*COLLIDER_VALUES, ("name", f"Hull {number}"), ("location", (0.0, 0.0, float(number)))]


def resolve(physics: Any, path: str) -> tuple[Any, str]:
    owner, _, name = path.rpartition(".")
    return (physics.path_resolve(owner) if owner else physics), name


def plain(value: Any) -> Any:
    return value if isinstance(value, (str, bool, float, int)) else tuple(value)


def mark(physics: Any, values: list[tuple[str, Any]]) -> None:
    for path, value in values:
        group, name = resolve(physics, path)
        setattr(group, name, value)


def check(physics: Any, values: list[tuple[str, Any]]) -> None:
    for path, value in values:
        group, name = resolve(physics, path)
        assert group.is_property_set(name), path
        assert plain(getattr(group, name)) == value, path


@pytest.mark.parametrize(("path", "value"), [*VALUES, *DEFAULTS])
def test_set_is_authored_and_unset_takes_it_back(path, value):
    group, name = resolve(scenes.add("Thing").usdphys, path)
    before = plain(getattr(group, name))
    assert not group.is_property_set(name)
    setattr(group, name, value)
    assert group.is_property_set(name)
    assert plain(getattr(group, name)) == value
    group.property_unset(name)
    assert not group.is_property_set(name)
    assert plain(getattr(group, name)) == before


@pytest.mark.parametrize("side", [0, 1])
def test_body_leaves_its_name_behind(side):
    body, joint = scenes.add("Wheel"), scenes.add_joint("Joint", "FIXED")
    group = joint.usdphys.joint
    setattr(group, f"body{side}", body)
    assert getattr(group, f"body{side}_name") == "Wheel"
    bpy.data.objects.remove(body)
    assert getattr(group, f"body{side}") is None
    assert getattr(group, f"body{side}_name") == "Wheel"
    setattr(group, f"body{side}", None)
    assert getattr(group, f"body{side}_name") == ""


# --------------------------------------------------------------------------- survival


def build() -> None:
    """A pair of bodies with a joint, and one property of every kind."""
    collection = scenes.new_collection("Rig", linked=True)
    base, arm = (scenes.add_box(name, collection=collection) for name in ("Base", "Arm"))
    joint = scenes.add_joint("Hinge", "REVOLUTE", base, arm, collection=collection)
    for obj in (base, arm):
        scenes.make_body(obj)
    mark(joint.usdphys, VALUES + DEFAULTS)
    for number in range(2):
        mark(arm.usdphys.colliders.add(), collider_values(number))
    scenes.join_group(arm, "Arms", exclude=True)
    pairs = scenes.assign(arm.usdphys.filtered_pairs, is_applied=True)
    pairs.filtered_pairs.add().object = base
    arm.usdphys.physics_material = scenes.physics_material("Rubber", restitution=0.5)
    collection.objects.link(scenes.add("Plain"))
    scene = bpy.context.scene.usdphys
    scenes.assign(scene.physics_scenes.add(), name="Moon", gravity_magnitude=1.5)
    scenes.define_group("Arms", ("Legs",), merge_group="limbs", expansion_rule="explicitOnly")
    scenes.assign(scene.stage, up_axis="Y", meters_per_unit=0.5)


def check_rig(base: Any, arm: Any, joint: Any) -> None:
    """Everything that `build` has set on the objects, and nothing else."""
    check(joint.usdphys, VALUES + DEFAULTS)
    group = joint.usdphys.joint
    assert (group.body0, group.body1) == (base, arm)
    assert not group.is_property_set("break_torque")
    assert not group.drives.angular.is_property_set("damping")
    assert len(arm.usdphys.colliders) == 2
    for number, collider in enumerate(arm.usdphys.colliders):
        check(collider, collider_values(number))
        assert not collider.is_property_set("height")
    assert [(item.name, item.exclude) for item in arm.usdphys.collision_groups] == [("Arms", True)]
    assert [item.object for item in arm.usdphys.filtered_pairs.filtered_pairs] == [base]
    check(arm.usdphys.physics_material.usdphys.physics_material, [("restitution", 0.5)])
    assert not arm.usdphys.rigid_body.is_property_set("velocity")
    assert not props.is_physical(bpy.data.objects["Plain"])


def check_scene(scene: Any) -> None:
    physics = scene.usdphys
    assert [item.name for item in physics.physics_scenes] == ["Moon"]
    check(physics.physics_scenes[0], [("gravity_magnitude", 1.5)])
    assert not physics.physics_scenes[0].is_property_set("gravity_direction")
    (group,) = physics.collision_groups
    check(group, [("name", "Arms"), ("merge_group", "limbs"), ("expansion_rule", "explicitOnly")])
    assert [item.name for item in group.filtered_groups] == ["Legs"]
    check(physics.stage, [("up_axis", "Y"), ("meters_per_unit", 0.5)])
    assert not physics.stage.is_property_set("hierarchy")


def rig() -> tuple[Any, Any, Any]:
    return tuple(bpy.data.objects[name] for name in ("Base", "Arm", "Hinge"))


def test_build_sets_what_is_checked():
    build()
    check_rig(*rig())
    check_scene(bpy.context.scene)


def test_save_and_load(tmp_path):
    build()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    check_rig(*rig())
    check_scene(bpy.context.scene)


def test_undo_and_redo():
    build()
    bpy.ops.ed.undo_push(message="built")
    joint, arm = bpy.data.objects["Hinge"], bpy.data.objects["Arm"]
    joint.usdphys.joint.property_unset("break_force")
    joint.usdphys.joint.break_torque = 3.0
    joint.usdphys.joint.body0 = None
    arm.usdphys.colliders.clear()
    bpy.context.scene.usdphys.physics_scenes.clear()
    bpy.ops.ed.undo_push(message="changed")
    bpy.ops.ed.undo()
    check_rig(*rig())
    check_scene(bpy.context.scene)
    bpy.ops.ed.redo()
    joint = bpy.data.objects["Hinge"].usdphys.joint
    assert not joint.is_property_set("break_force")
    assert joint.break_torque == 3.0
    assert joint.body0 is None
    assert len(bpy.data.objects["Arm"].usdphys.colliders) == 0


def test_copies_have_values_of_their_own():
    build()
    base, arm, joint = rig()
    copies = arm.copy(), joint.copy()
    check(copies[1].usdphys, VALUES + DEFAULTS)
    assert (copies[1].usdphys.joint.body0, copies[1].usdphys.joint.body1) == (base, arm)
    copies[1].usdphys.joint.body1 = copies[0]
    check_rig(base, *copies)
    copies[1].usdphys.joint.break_force = 1.0
    copies[0].usdphys.colliders[0].radius = 1.0
    copies[0].usdphys.colliders.remove(1)
    check_rig(base, arm, joint)
    assert copies[0].usdphys.colliders[0].radius == 1.0


@pytest.mark.parametrize("linked", [False, True])
def test_duplicates_of_a_rig_belong_together(linked):
    build()
    for obj in rig():
        obj.select_set(True)
    bpy.ops.object.duplicate(linked=linked)
    check_rig(*rig())
    base, arm, joint = (bpy.data.objects[f"{name}.001"] for name in ("Base", "Arm", "Hinge"))
    check_rig(base, arm, joint)
    assert joint.usdphys.joint.body0_name in ("Base", "Base.001")


def test_duplicate_of_the_joint_alone_keeps_the_bodies():
    build()
    base, arm, joint = rig()
    joint.select_set(True)
    bpy.ops.object.duplicate()
    copy = bpy.data.objects["Hinge.001"].usdphys.joint
    assert (copy.body0, copy.body1) == (base, arm)


@pytest.fixture
def library(tmp_path):
    """A .blend with the rig, and an empty scene open."""
    build()
    file = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return file


def load(file: Any, *, link: bool) -> Any:
    with bpy.data.libraries.load(str(file), link=link) as (source, wanted):
        assert "Rig" in source.collections
        wanted.collections = ["Rig"]
    return wanted.collections[0]


@pytest.mark.parametrize("link", [False, True])
def test_append_and_link(library, link):
    collection = load(library, link=link)
    assert (collection.library is not None) == link
    check_rig(*rig())


def test_append_of_the_joint_brings_its_bodies(library):
    with bpy.data.libraries.load(str(library), link=False) as (_, wanted):
        wanted.objects = ["Hinge"]
    joint = wanted.objects[0].usdphys.joint
    assert joint.body0 == bpy.data.objects["Base"]
    assert joint.body1 == bpy.data.objects["Arm"]


def overridden(*names: str) -> list[Any]:
    """The local overrides of linked objects."""
    local = {obj.name: obj for obj in bpy.data.objects if obj.override_library}
    return [local[name] for name in names]


def override(library: Any) -> None:
    collection = load(library, link=True)
    bpy.context.scene.collection.children.link(collection)
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)


def save_and_load(file: Any) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.open_mainfile(filepath=str(file))


def test_library_override_is_edited_and_saved(library, tmp_path):
    override(library)
    base, arm, joint = overridden("Base", "Arm", "Hinge")
    check_rig(base, arm, joint)
    joint.usdphys.joint.break_force = 99.0
    joint.usdphys.joint.break_torque = 11.0
    joint.usdphys.joint.drives.angular.damping = 7.0
    joint.usdphys.joint.axis = "Y"
    joint.usdphys.joint.body0 = arm
    arm.usdphys.colliders[1].radius = 0.125
    arm.usdphys.colliders.add().name = "Added"
    save_and_load(tmp_path / "user.blend")
    _, arm, joint = overridden("Base", "Arm", "Hinge")
    changed = [("joint.break_force", 99.0), ("joint.break_torque", 11.0), ("joint.drives.angular.damping", 7.0),
               ("joint.axis", "Y")]  # fmt: skip
    check(joint.usdphys, changed)
    assert joint.usdphys.joint.body0 == arm
    assert [(item.name, item.radius) for item in arm.usdphys.colliders] == [
        ("Hull 0", 0.25), ("Hull 1", 0.125), ("Added", 0.5),
    ]  # fmt: skip
    # What was not touched still comes from the library, whose own objects are as they were.
    check(joint.usdphys, [row for row in VALUES if row[0] not in dict(changed)])
    linked = next(obj for obj in bpy.data.objects if obj.library and obj.name == "Hinge")
    check(linked.usdphys, VALUES)
    assert not linked.usdphys.joint.is_property_set("break_torque")


def test_library_override_of_an_object_without_physics(library, tmp_path):
    override(library)
    (plain,) = overridden("Plain")
    plain.usdphys.mass.mass = 5.0
    plain.usdphys.joint.drives.rotX.stiffness = 3.0
    scenes.make_collider(plain, "SPHERE", radius=2.0)
    save_and_load(tmp_path / "user.blend")
    (plain,) = overridden("Plain")
    check(plain.usdphys, [("mass.mass", 5.0), ("joint.drives.rotX.stiffness", 3.0)])
    assert [item.radius for item in plain.usdphys.colliders] == [2.0]


#: (path of the group whose schema is applied, path of a value in it, value).
TYPED = (
    ("rigid_body", "rigid_body.velocity", (1.0, 0.0, 0.0)),
    ("rigid_body", "rigid_body.kinematic_enabled", True),
    ("mass", "mass.mass", 5.0),
    ("mass", "mass.density", 700.0),
    ("joint", "joint.type", "REVOLUTE"),
    ("joint", "joint.axis", "Z"),
    ("joint", "joint.break_force", 5.0),
    ("joint", "joint.revolute.lower_limit", -0.5),
    ("joint", "joint.distance.max_distance", 2.0),
    ("joint", "joint.limits.rotX.high", 0.5),
    ("joint.limits.rotX", "joint.limits.rotX.high", 0.5),
    ("joint.drives.transY", "joint.drives.transY.stiffness", 50.0),
    ("joint", "joint.drives.transY.is_applied", True),
)


@pytest.mark.parametrize("group,path,value", TYPED)
def test_a_typed_value_applies_its_schema(group, path, value):
    obj = scenes.add_box("Box")
    physics: Any = obj.usdphys
    assert not physics.path_resolve(group).is_applied
    owner, _, name = path.rpartition(".")
    setattr(physics.path_resolve(owner), name, value)
    assert physics.path_resolve(group).is_applied


def test_a_typed_mass_of_a_collider_and_a_material_count():
    obj = scenes.add_box("Box")
    collider = obj.usdphys.colliders.add()
    collider.mass.mass = 5.0
    assert collider.mass.is_applied and not obj.usdphys.mass.is_applied
    material: Any = bpy.data.materials.new("Rubber")
    material.usdphys.physics_material.density = 900.0
    assert material.usdphys.physics_material.is_applied


def test_a_body_that_is_picked_makes_the_object_a_joint():
    obj, other = scenes.add_box("Joint"), scenes.add_box("Box")
    obj.usdphys.joint.body1 = other
    assert obj.usdphys.joint.is_applied


def test_switching_a_part_of_a_joint_off_does_not_make_a_joint():
    obj = scenes.add_box("Box")
    obj.usdphys.joint.drives.rotX.is_applied = False
    obj.usdphys.joint.body0 = None
    assert not obj.usdphys.joint.is_applied


def test_clearing_a_value_of_a_schema_that_is_off_leaves_it_off():
    obj = scenes.add_box("Box")
    obj.usdphys.mass.mass = 5.0
    obj.usdphys.mass.is_applied = False
    obj.usdphys.mass.property_unset("mass")
    assert not obj.usdphys.mass.is_applied


def test_a_filtered_pair_that_is_added_is_applied():
    obj = scenes.add_box("Box")
    bpy.context.view_layer.objects.active = obj
    bpy.ops.usdphys.list_add(which="filtered_pairs")
    assert obj.usdphys.filtered_pairs.is_applied


def test_a_copy_of_a_schema_that_is_off_is_off():
    source, target = scenes.add_box("Source"), scenes.add_box("Target")
    source.usdphys.mass.mass = 5.0
    source.usdphys.mass.is_applied = False
    property_values.copy_property(source.usdphys, target.usdphys, "mass")
    assert target.usdphys.mass.mass == 5.0 and not target.usdphys.mass.is_applied
    property_values.restore(scenes.add_box("Third").usdphys, property_values.snapshot(source.usdphys))
    assert not bpy.data.objects["Third"].usdphys.mass.is_applied
