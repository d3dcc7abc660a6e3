"""Checks while one works: slices, what they find and when; fixes that mend one thing and nothing else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import bpy
import mathutils
import pytest
from usdphys_ext.usdphys_addon.authoring import vendor_edits
from usdphys_ext.usdphys_addon.bridge import mesh as meshes
from usdphys_ext.usdphys_addon.bridge import placements, vendor_rows
from usdphys_ext.usdphys_addon.checks import fix_table, fixes, issue_data, report
from usdphys_ext.usdphys_addon.checks import live as checks
from usdphys_ext.usdphys_addon.checks import run as check_run
from usdphys_ext.usdphys_addon.core import validate
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.worker import jobs

from . import scenes

NAN = float("nan")


@pytest.fixture(autouse=True)
def _no_memory(clock):
    """Nothing is known of any scene, and no check is too slow for this machine."""
    checks.forget()
    yield
    checks.forget()


@pytest.fixture
def live():
    """The handlers and the timer of a Blender with windows."""
    checks.unregister()
    checks.register(is_live=True)
    yield
    checks.unregister()
    checks.register()


def check() -> report.Report:
    return checks.check(bpy.context.scene, bpy.context.view_layer)


def run_in_slices() -> check_run.Check:
    """One check as the timer does it, to its end."""
    layer = bpy.context.view_layer
    layer.update()
    run = checks.begin(bpy.context.scene.name, layer)
    assert run is not None
    while not checks.proceed(run, layer):
        pass
    return run


def found(code: str) -> list[report.FoundIssue]:
    return [issue for issue in check().issues if issue.code == code]


def the_issue(code: str) -> report.FoundIssue:
    """The issue of a code; a body and its collider may have the same one."""
    issues = found(code)
    assert len({issue.name for issue in issues}) == 1, [issue.code for issue in check().issues]
    return issues[0]


# --------------------------------------------------------------------------- everything that a fix could change


def values(owner: Any, path: str, into: dict[str, Any]) -> dict[str, Any]:
    """All properties that are set on a property group and below, by path."""
    for name in owner.keys():
        if name not in owner.bl_rna.properties:
            continue
        item, value = owner.bl_rna.properties[name], getattr(owner, name)
        here = f"{path}.{name}"
        if item.type == "COLLECTION":
            into[f"{here}.length"] = len(value)
            for row, part in enumerate(value):
                values(part, f"{here}[{row}]", into)
        elif isinstance(value, bpy.types.PropertyGroup):
            values(value, here, into)
        elif isinstance(value, bpy.types.ID):
            into[here] = value.name
        else:
            into[here] = tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
    return into


def state() -> dict[str, Any]:
    bpy.context.view_layer.update()
    into: dict[str, Any] = {}
    for obj in bpy.data.objects:
        values(obj.usdphys, obj.name, into)
        for name in ("location", "rotation_euler", "scale"):
            into[f"{obj.name}.{name}"] = tuple(round(part, 5) for part in getattr(obj, name))
        if obj.type == "MESH":
            into[f"{obj.name}.mesh"] = obj.data.name
            world = [obj.matrix_world @ vertex.co for vertex in obj.data.vertices]
            into[f"{obj.name}.world"] = tuple(round(part, 4) + 0.0 for point in world for part in point)
    for thing in (*bpy.data.materials, *bpy.data.scenes):
        values(thing.usdphys, thing.name, into)
    return {path: repr(value) for path, value in into.items() if not path.endswith((".name", "_index"))}


def changes(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


# --------------------------------------------------------------------------- broken scenes, one for each code


def body(name: str = "A", **settings: Any) -> Any:
    made = scenes.solid(name, **settings)
    made.usdphys.colliders[0].approximation = "convexHull"
    return made


def floor() -> None:
    """A static collider below everything."""
    scenes.make_collider(scenes.add_box("Floor", half=(20, 20, 1), location=(0, 0, -20)), shape="AUTO")


def mass(**amounts: Any) -> None:
    scenes.assign(body().usdphys.mass, is_applied=True, **amounts)


def collider_mass(**amounts: Any) -> None:
    scenes.assign(body().usdphys.colliders[0].mass, is_applied=True, **amounts)


def idle_mass() -> None:
    scenes.assign(scenes.add_box("A").usdphys.mass, is_applied=True, mass=2)


def massless() -> None:
    scenes.make_body(scenes.add_box("A"))


def nested_roots() -> None:
    parent = body("P")
    child = body("A", parent=parent, location=(3, 0, 0))
    for obj in (parent, child):
        obj.usdphys.articulation_root.is_applied = True


def kinematic_root() -> None:
    made = body()
    made.usdphys.articulation_root.is_applied = True
    made.usdphys.rigid_body.kinematic_enabled = True


def disabled_root() -> None:
    made = body()
    made.usdphys.articulation_root.is_applied = True
    made.usdphys.rigid_body.rigid_body_enabled = False


def lost_owner() -> None:
    body().usdphys.rigid_body.simulation_owner = "Gone"


def owner_of_a_file() -> None:
    """An imported body keeps the path that its file has, where that is no physics scene."""
    body().usdphys.rigid_body.simulation_owner = "/World/Gone"


def two_scenes() -> None:
    for name in ("One", "Two"):
        bpy.context.scene.usdphys.physics_scenes.add().name = name
    body()


def no_scene() -> None:
    bpy.context.scene.usdphys.source.filepath = "/tmp/imported.usda"
    body()


def long_gravity() -> None:
    scenes.assign(bpy.context.scene.usdphys.physics_scenes.add(), name="S", gravity_direction=(0, 0, -2))


def triangles() -> None:
    body().usdphys.colliders[0].approximation = "none"


def bounded() -> None:
    """A crate whose rotation was applied to its mesh, for PhysX."""
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    obj = body()
    obj.data.transform(mathutils.Matrix.Rotation(0.5, 4, "Z"))
    obj.usdphys.colliders[0].approximation = "boundingCube"


def no_faces() -> None:
    scenes.make_collider(scenes.make_body(scenes.add("A", bpy.data.meshes.new("A"))))


def odd_approximation() -> None:
    scenes.make_collider(
        scenes.make_body(scenes.add("A")), "SPHERE", radius=1, is_geometry=True, has_mesh_collision=True,
        approximation="convexHull",
    )  # fmt: skip


def two_meshes() -> None:
    scenes.make_collider(body())


def gprim_and_mesh() -> None:
    obj = body()
    obj.usdphys.colliders.clear()
    scenes.make_collider(obj, "CUBE", is_geometry=True)
    scenes.make_collider(obj)


def clash() -> None:
    parent = body("P")
    child = body("A", parent=parent, location=(3, 0, 0))
    parent.data.name = "clash"
    child.name = "clash"


def mirrored() -> None:
    child = scenes.add_box("Child", parent=body(scale=(-1, 2, 1)), location=(3, 0, 0))
    assert child.parent


def sheared() -> None:
    parent = scenes.add("P", scale=(1, 2, 1))
    body(parent=parent, rotation_euler=(0, 0, 0.5))


def joint(kind: str = "FIXED", **settings: Any) -> Any:
    return scenes.add_joint("J", kind, body("A"), body("B", location=(3, 0, 0)), **settings).usdphys.joint


def same_body() -> None:
    made = joint()
    made.body1 = made.body0


def deleted_body() -> None:
    joint()
    bpy.data.objects.remove(bpy.data.objects["B"])


def left_behind() -> None:
    joint()
    home = scenes.new_collection("Whole", linked=True)
    for name in ("A", "B"):
        bpy.context.scene.collection.objects.unlink(bpy.data.objects[name])
        home.objects.link(bpy.data.objects[name])
    home.asset_mark()
    bpy.context.view_layer.update()


def joint_as_body() -> None:
    made = joint()
    made.body1 = scenes.add_joint("K", "FIXED", made.body1)


def sunken() -> None:
    floor()
    body(location=(0, 0, -18.75))


def copied() -> None:
    body()
    body("B")


def kinematic_speed() -> None:
    body().usdphys.rigid_body.kinematic_enabled = True
    bpy.data.objects["A"].usdphys.rigid_body.velocity = (1, 0, 0)


def no_body() -> None:
    scenes.add_joint("J", "FIXED", scenes.add_box("A"), None)


def long_rotation() -> None:
    joint().local_rot0 = (2, 0, 0, 0)


def zero_rotation() -> None:
    joint().local_rot0 = (0, 0, 0, 0)


def apart() -> None:
    joint().local_pos0 = (5, 0, 0)


def tilted() -> None:
    joint().local_rot0 = (math.cos(0.5), math.sin(0.5), 0, 0)


def reversed_limits(kind: str, **limits: Any) -> Callable[[], None]:
    return lambda: scenes.assign(getattr(joint(kind), kind.lower()), **limits) and None


def typed_limit() -> None:
    scenes.assign(joint("REVOLUTE").limits.transX, is_applied=True, low=-1, high=1)


def wrong_drive() -> None:
    scenes.assign(joint("REVOLUTE").drives.linear, is_applied=True, stiffness=1)


def drive(**gains: Any) -> Callable[[], None]:
    return lambda: scenes.assign(joint("REVOLUTE").drives.angular, is_applied=True, **gains) and None


def stranger() -> None:
    scenes.join_group(body(), "Nobody")


def filtered_stranger() -> None:
    scenes.define_group("G", ("Gone", "G"))
    scenes.join_group(body(), "G")


def twice() -> None:
    scenes.define_group("G")
    made = body()
    scenes.join_group(made, "G")
    scenes.join_group(made, "G")


def empty_group() -> None:
    scenes.define_group("G")


def merge() -> None:
    for name, inverted in (("G", False), ("H", True)):
        scenes.define_group(name, merge_group="M", invert_filtered_groups=inverted)
        scenes.join_group(body(name + "body"), name)


def pairs() -> Any:
    return scenes.assign(body().usdphys.filtered_pairs, is_applied=True).filtered_pairs


def deleted_pair() -> None:
    rows, other = pairs(), body("B", location=(3, 0, 0))
    rows.add().object = other
    rows.add().object = body("C", location=(6, 0, 0))
    bpy.data.objects.remove(other)


def self_pair() -> None:
    rows = pairs()
    rows.add().object = bpy.data.objects["A"]


def material(**amounts: Any) -> Callable[[], None]:
    def build() -> None:
        body().usdphys.physics_material = scenes.physics_material("M", **amounts)

    return build


def with_mass(**amounts: Any) -> Callable[[], None]:
    return lambda: mass(**amounts)


_RIGID, _MASS = "A.rigid_body", "A.mass"
#: What a fix sets in an object that had no physics: it gets the stamp of the version, too.
_NEW_BODY = {f"{_RIGID}.is_applied", "A.colliders.length", "A.version"}


def of_vendor(kind: str, applied: str, attribute: str, *, root: bool = False) -> Callable[[], None]:
    """A joint, or the body A with a mesh, that has one attribute of a simulator."""

    def build() -> None:
        thing = body("A").usdphys if not kind else joint(kind).id_data.usdphys
        bpy.data.objects["A"].usdphys.articulation_root.is_applied = root
        owner = thing.colliders[0] if "Collision" in applied else thing
        vendor_edits.add_attribute(owner, applied, attribute, bpy.context.scene)
        for row in owner.vendor:
            if row.type == "bool":
                row.flag = True
            elif row.type == "float":
                row.number = 2.0

    return build


def unheld_friction() -> None:
    """As in a file that another program has written."""
    of_vendor("REVOLUTE", "PhysxJointAxisAPI:angular", "physxJointAxis:angular:viscousFrictionCoefficient", root=True)()
    thing = bpy.data.objects["J"].usdphys
    vendor_rows.add_row(thing, "PhysxJointAxisAPI:angular", DYNAMIC_FRICTION, "float", "3")
    bpy.context.scene.usdphys.targets = {"PHYSX"}


DYNAMIC_FRICTION = "physxJointAxis:angular:dynamicFrictionEffort"


def soft_limit() -> None:
    """Of a hinge in a scene that is written for PhysX."""
    of_vendor("REVOLUTE", "PhysxLimitAPI:angular", "physxLimit:angular:stiffness")()
    bpy.context.scene.usdphys.targets = {"NEUTRAL", "PHYSX"}


def light_first() -> None:
    """A hinge between 1 and 20 kg, in the wrong order."""
    group = joint("REVOLUTE")
    for side, kilograms in ((0, 1.0), (1, 20.0)):
        scenes.assign(getattr(group, f"body{side}").usdphys.mass, is_applied=True, mass=kilograms)
    group.revolute.lower_limit, group.revolute.upper_limit = -0.5, 1.0


def turned_articulation() -> None:
    """An articulation of two bodies, of which the second is turned by 30 degrees about their hinge; for PhysX."""
    made = joint("REVOLUTE")
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    bpy.data.objects["A"].usdphys.articulation_root.is_applied = True
    half = math.radians(15)
    made.local_rot1 = (math.cos(half), math.sin(half), 0, 0)


def rows_of(path: str) -> set[str]:
    """What changes where the two rows of an attribute and its schema appear or vanish."""
    return {f"{path}.vendor.length", f"{path}.vendor[0].applied",
            *(f"{path}.vendor[1].{name}" for name in ("applied", "type", "text"))}  # fmt: skip


def two_roots() -> None:
    made = joint("REVOLUTE")
    for obj in (made.body0, made.body1):
        obj.usdphys.articulation_root.is_applied = True


def floating_root() -> None:
    """A robot whose root a fixed joint holds to the world, for PhysX."""
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    joint("REVOLUTE").body0.usdphys.articulation_root.is_applied = True
    scenes.add_joint("Fix", "FIXED", None, bpy.data.objects["A"])


def stuck_root() -> None:
    """A hinge to the world that is an articulation root, for PhysX."""
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    made = joint("REVOLUTE")
    made.body0 = None
    made.id_data.usdphys.articulation_root.is_applied = True


def massless_empty() -> None:
    """Nothing that could collide: a collider was offered, and refused."""
    scenes.make_body(scenes.add("A"))


def lone_mesh() -> None:
    """A joint that was added alone, beside a mesh without physics."""
    scenes.add_box("A")
    scenes.add_joint("J", "REVOLUTE")


def held_by_static() -> None:
    """A door that a joint made by hand holds to its static frame, in a scene for PhysX."""
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    joint("REVOLUTE").body1.usdphys.rigid_body.is_applied = False


_JOINT = "J.joint"


def in_both_worlds() -> None:
    obj = body()
    bpy.ops.rigidbody.world_add()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.rigidbody.object_add()


#: (code, build, paths that the fix changes)
BROKEN: list[tuple[str, Callable[[], Any], set[str]]] = [
    ("BlenderSimulatesToo", in_both_worlds, set()),
    ("MassInvalidValues", with_mass(mass=-1, density=3), {f"{_MASS}.mass"}),
    ("MassInvalidValues", lambda: collider_mass(mass=-1), {"A.colliders[0].mass.mass"}),
    ("DensityInvalidValues", with_mass(mass=2, density=-1), {f"{_MASS}.density"}),
    ("InertiaInvalidValues", with_mass(mass=2, diagonal_inertia=(1, 1, 1)), {f"{_MASS}.principal_axes"}),
    ("InertiaInvalidValues", with_mass(mass=2, principal_axes=(0, 1, 0, 0)), {f"{_MASS}.principal_axes"}),
    ("InertiaInvalidValues", with_mass(mass=2, principal_axes=(2, 0, 0, 0), diagonal_inertia=(1, 1, 1)),
     {f"{_MASS}.principal_axes"}),
    ("InertiaImpossible", with_mass(mass=2, principal_axes=(1, 0, 0, 0), diagonal_inertia=(1, 1, 9)),
     {f"{_MASS}.principal_axes", f"{_MASS}.diagonal_inertia"}),
    ("MassWithoutBody", idle_mass, {f"{_MASS}.is_applied"}),
    ("BodyWithoutMass", massless, {"A.colliders.length"}),
    ("BodyWithoutMass", massless_empty, {f"{_MASS}.is_applied", f"{_MASS}.mass"}),
    ("NestedArticulation", nested_roots, {"A.articulation_root.is_applied"}),
    ("ArticulationRootTwice", two_roots, {"B.articulation_root.is_applied"}),
    ("ArticulationOnKinematicBody", kinematic_root, {"A.articulation_root.is_applied"}),
    ("ArticulationRootGives", floating_root, {"A.articulation_root.is_applied", "Fix.articulation_root.is_applied"}),
    ("ArticulationRootStuck", stuck_root, {"B.articulation_root.is_applied", "J.articulation_root.is_applied"}),
    ("ArticulationOnStaticBody", disabled_root, {f"{_RIGID}.rigid_body_enabled"}),
    ("OwnerMissing", lost_owner, {f"{_RIGID}.simulation_owner"}),
    ("SimulationOwnerInvalid", owner_of_a_file, {f"{_RIGID}.simulation_owner"}),
    ("SceneAmbiguous", two_scenes, {f"{_RIGID}.simulation_owner"}),
    ("NoScene", no_scene, {"Scene.physics_scenes.length"}),
    ("GravityDirectionNotUnit", long_gravity, {"Scene.physics_scenes[0].gravity_direction"}),
    ("ColliderTriangleMeshDynamic", triangles, {"A.colliders[0].approximation"}),
    ("BoundsFittedAnew", bounded, {"A.colliders[0].approximation", "A.colliders[0].shape"}),
    ("ColliderWithoutGeometry", no_faces, {"A.colliders.length", "A.colliders[0].shape"}),
    ("MeshCollisionOnNonMesh", odd_approximation,
     {"A.colliders[0].approximation", "A.colliders[0].has_mesh_collision"}),
    ("MeshColliderTwice", two_meshes, {"A.colliders.length", "A.colliders[1].shape"}),
    ("MeshColliderTwice", gprim_and_mesh, {"A.colliders.length", "A.colliders[1].shape"}),
    ("NameClash", clash, {"P.mesh"}),
    ("NegativeScale", mirrored, {"A.scale", "A.rotation_euler"}),
    ("RigidBodyOrientationScale", sheared, {"A.rotation_euler"}),
    ("ColliderSheared", sheared, {"A.rotation_euler"}),
    ("JointSameBody", same_body, {f"{_JOINT}.body0", f"{_JOINT}.body0_name"}),
    ("JointBodyMissing", deleted_body, {f"{_JOINT}.body1_name"}),
    ("JointLeftBehind", left_behind, set()),
    ("JointRelNotXformable", joint_as_body, {f"{_JOINT}.body1", f"{_JOINT}.body1_name"}),
    ("JointNoEnabledRigidBody", no_body, _NEW_BODY),
    ("JointTouchesStatic", held_by_static,
     {"A.filtered_pairs.is_applied", "A.filtered_pairs.filtered_pairs.length",
      "A.filtered_pairs.filtered_pairs[0].object"}),
    ("JointNoEnabledRigidBody", lone_mesh, _NEW_BODY | {f"{_JOINT}.body1", f"{_JOINT}.body1_name"}),
    ("JointRotationNotUnit", long_rotation, {f"{_JOINT}.local_rot0"}),
    ("JointRotationNotUnit", zero_rotation, {f"{_JOINT}.local_rot0"}),
    ("JointFramesApart", apart, {f"{_JOINT}.local_pos0"}),
    ("JointFramesTilted", tilted, {f"{_JOINT}.local_rot0"}),
    ("LimitsReversed", reversed_limits("REVOLUTE", lower_limit=1.0, upper_limit=-1.0),
     {f"{_JOINT}.revolute.lower_limit", f"{_JOINT}.revolute.upper_limit"}),
    ("LimitsReversed", reversed_limits("DISTANCE", min_distance=2.0, max_distance=1.0),
     {f"{_JOINT}.distance.min_distance", f"{_JOINT}.distance.max_distance"}),
    ("JointLightFirst", light_first,
     {f"{_JOINT}.{name}" for name in ("body0", "body0_name", "body1", "body1_name", "revolute.lower_limit",
                                      "revolute.upper_limit")}),
    ("LimitNotOnJoint", typed_limit, {f"{_JOINT}.limits.transX.is_applied"}),
    ("DriveNotOnJoint", wrong_drive, {f"{_JOINT}.drives.linear.is_applied"}),
    ("DriveWithoutGain", drive(), {f"{_JOINT}.drives.angular.is_applied"}),
    ("DriveInvalidValues", drive(stiffness=1, damping=-1), {f"{_JOINT}.drives.angular.damping"}),
    ("GroupUndefined", stranger, {"A.collision_groups.length"}),
    ("GroupTargetMissing", filtered_stranger, {"Scene.collision_groups[0].filtered_groups.length"}),
    ("GroupDuplicateTarget", twice, {"A.collision_groups.length"}),
    ("GroupEmpty", empty_group, {"Scene.collision_groups.length"}),
    ("GroupMergeConflict", merge, {"Scene.collision_groups[1].invert_filtered_groups"}),
    ("FilteredPairMissing", deleted_pair,
     {"A.filtered_pairs.filtered_pairs.length", "A.filtered_pairs.filtered_pairs[0].object",
      "A.filtered_pairs.filtered_pairs[1].object"}),
    ("FilteredPairSelf", self_pair,
     {"A.filtered_pairs.filtered_pairs.length", "A.filtered_pairs.filtered_pairs[0].object"}),
    ("MaterialInvalidValues", material(static_friction=-1, dynamic_friction=0.0),
     {"M.physics_material.static_friction"}),
    ("RestitutionAboveOne", material(restitution=2), {"M.physics_material.restitution"}),
    ("FrictionOrder", material(static_friction=0.1, dynamic_friction=0.5), {"M.physics_material.static_friction"}),
    ("NotFinite", with_mass(mass=NAN), {f"{_MASS}.mass"}),
    ("BodiesOverlap", sunken, {"A.location", "A.world"}),
    ("BodiesInOnePlace", copied, {"B.location", "B.world"}),
    ("KinematicVelocity", kinematic_speed, {f"{_RIGID}.velocity"}),
    ("VendorJointApiDead", of_vendor("REVOLUTE", "PhysxJointAPI", "physxJoint:armature", root=True),
     {"J.vendor[0].applied", "J.vendor[1].applied"}),
    ("VendorDeprecated", of_vendor("REVOLUTE", "MjcJointAPI", "mjc:armature"),
     {"J.vendor[0].applied", "J.vendor[1].applied", "J.vendor[1].type"}),
    ("VendorNeedsArticulation",
     of_vendor("REVOLUTE", "PhysxJointAxisAPI:angular", "physxJointAxis:angular:armature"), rows_of("J")),
    ("VendorNotInArticulation",
     of_vendor("REVOLUTE", "PhysxLimitAPI:angular", "physxLimit:angular:damping", root=True), rows_of("J")),
    ("VendorOtherApproximation",
     of_vendor("", "PhysxSDFMeshCollisionAPI", "physxSDFMeshCollision:sdfResolution"), rows_of("A.colliders[0]")),
    ("FrictionAboveStatic", unheld_friction,
     {"J.vendor.length", *(f"J.vendor[3].{name}" for name in ("applied", "type", "text"))}),
    ("MimicWithoutLimits", of_vendor("REVOLUTE", "NewtonMimicAPI", "newton:mimicCoef1"),
     {"J.joint.revolute.lower_limit", "J.joint.revolute.upper_limit"}),
    ("MimicWithoutLimits", of_vendor("PRISMATIC", "NewtonMimicAPI", "newton:mimicCoef1"),
     {"J.joint.prismatic.lower_limit", "J.joint.prismatic.upper_limit"}),
    ("LimitStiffnessPerRadian", soft_limit,
     {"J.vendor.length", "J.vendor[1].text", "J.vendor[2].applied",
      *(f"J.vendor[3].{name}" for name in ("applied", "type", "text"))}),
    ("JointJumpsAtStart", turned_articulation, rows_of("J")),
    ("CcdNotInScene", of_vendor("", "PhysxRigidBodyAPI", "physxRigidBody:enableCCD"),
     {"Scene.physics_scenes.length", *rows_of("Scene.physics_scenes[0]")}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("code", "build", "expected"), BROKEN, ids=[f"{row[0]}{n}" for n, row in enumerate(BROKEN)])
def test_fix_mends_one_thing_and_nothing_else(code, build, expected):
    build()
    issue, before = the_issue(code), state()
    assert bpy.ops.usdphys.check_fix(code=code, kind=issue.kind, name=issue.name, path=issue.path) == {"FINISHED"}
    report = checks.report("Scene")
    assert code not in [left.code for left in report.issues]
    assert changes(before, state()) == expected


@pytest.mark.parametrize("approximation", ["none", "convexDecomposition", "convexHull", "meshSimplification"])
@pytest.mark.parametrize("is_dense", [False, True])
def test_a_cup_of_100_m_is_unusual_and_gets_a_floor_whatever_its_approximation(approximation, is_dense):
    """Only hulls and boxes of few vertices were looked at, and *Add a ground* failed for the others."""
    if is_dense:
        obj = scenes.operator_mesh("primitive_uv_sphere_add", segments=64, ring_count=40, radius=50)
    else:
        obj = scenes.add_box("Cup", half=(50, 50, 50))
    scenes.make_collider(scenes.make_body(obj), approximation=approximation)
    bpy.context.scene.usdphys.physics_scenes.add().name = "PhysicsScene"
    assert found("SceneScaleUnusual")[0].message == "A typical moving body is 100 m large."
    issue = the_issue("NoFloor")
    assert bpy.ops.usdphys.check_fix(code="NoFloor", kind=issue.kind, name=issue.name) == {"FINISHED"}
    assert found("NoFloor") == []
    ground = next(other for other in bpy.context.scene.objects if other.name != obj.name)
    assert (ground.matrix_world @ ground.data.vertices[0].co).z <= -50 + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("approximation", "is_dense"), [("convexDecomposition", False), ("convexHull", True)])
def test_a_copy_in_the_same_place_is_named_and_moved_whatever_its_approximation(approximation, is_dense):
    for _ in range(2):
        if is_dense:
            obj = scenes.operator_mesh("primitive_uv_sphere_add", segments=64, ring_count=40)
        else:
            obj = scenes.add_box("Cup")
        scenes.make_collider(scenes.make_body(obj), approximation=approximation)
    scenes.make_collider(scenes.make_body(scenes.add_box("Cat", location=(0.3, 0, 0))), approximation=approximation)
    bpy.context.view_layer.update()
    issue = the_issue("BodiesInOnePlace")
    assert issue.name == obj.name
    bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    assert found("BodiesInOnePlace") == []
    assert obj.location.length == pytest.approx(max(obj.dimensions), abs=0.01)


def test_what_is_wrong_in_an_instanced_collection_is_mended_there_and_its_place_is_that_of_the_instance():
    """It was said to be no longer in the scene."""
    collection = scenes.new_collection("Kit")
    crate = scenes.make_body(scenes.add_box("Crate", collection=collection))
    scenes.make_collider(crate, approximation="convexHull")
    scenes.assign(crate.usdphys.mass, is_applied=True, mass=-1)
    outer = scenes.new_collection("Outer")
    scenes.add_instance("Inner", collection, collection=outer)
    instances = [scenes.add_instance(name, outer, location=(0, 0, 5)) for name in ("One", "Two")]
    issue = found("MassInvalidValues")[0]
    assert bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path) == {"FINISHED"}
    assert found("MassInvalidValues") == [] and not crate.usdphys.mass.is_property_set("mass")
    issue = found("BodiesInOnePlace")[0]
    with pytest.raises(RuntimeError, match="'Crate' is in the collection that 'One' and maybe others instance"):
        bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    assert tuple(crate.location) == (0, 0, 0)
    assert issue_data.culprits(bpy.context.scene, issue) == instances


def test_what_only_one_simulator_minds_is_shown_in_a_scene_that_is_made_for_it_and_is_no_error():
    held_by_static()
    assert the_issue("JointTouchesStatic").severity == "warning"
    bpy.context.scene.usdphys.targets = {"NEUTRAL"}
    assert found("JointTouchesStatic") == []
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    bpy.data.objects["A"].usdphys.articulation_root.is_applied = True
    others = (scenes.solid("C", location=(9, 0, 0)), scenes.solid("D", location=(12, 0, 0)))
    loose = scenes.add_joint("Loose", "REVOLUTE", *others)
    issues = [issue for issue in check().issues if issue.code == "JointOutsideArticulation"]
    assert [(issue.name, issue.severity) for issue in issues] == [(loose.name, "warning")]


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("jointed", [False, True])
def test_a_light_body_that_bears_a_heavy_one_is_named_with_both_masses(typed, jointed):
    """By the sizes of their boxes, 8 kg and 8 t, or by typed masses."""
    peg = scenes.add_box("Peg", half=(0.1, 0.1, 0.1), location=(0, 0, 0.1))
    piano = scenes.add_box("Piano", half=(1, 1, 1), location=(0, 0, 7.0 if jointed else 1.2))
    for obj in (peg, piano):
        obj.select_set(True)
    bpy.ops.usdphys.make_dynamic()
    if jointed:
        scenes.add_joint("Rope", "SPHERICAL", peg, piano)
    if typed:
        peg.usdphys.mass.mass, piano.usdphys.mass.mass = 0.5, 60.0
    issue = the_issue("MassRatioHigh")
    assert issue.name == "Peg"
    shown = ("(0.5 kg)", "(60 kg)") if typed else ("(8 kg)", "(8000 kg)")
    assert all(text in issue.message for text in shown), issue.message
    piano.usdphys.mass.mass = 40.0
    peg.usdphys.mass.mass = 0.5
    assert found("MassRatioHigh") == []


@pytest.mark.parametrize("has_instance", [False, True])
def test_a_check_finds_objects_where_a_reading_has_them(has_instance):
    """It holds no Blender data between slices, and has all else that a placement has."""
    scenes.solid("Child", parent=scenes.add("Parent"), location=(1, 2, 3))
    if has_instance:
        parts = scenes.new_collection("Parts")
        scenes.solid("Part", collection=parts)
        scenes.add_instance("Twice", parts, location=(4, 5, 6))
    layer = bpy.context.view_layer
    layer.update()
    objects = check_run.ObjectsByName(bpy.context.scene.name, layer.name)
    objects.renew(layer.depsgraph, math.inf)
    in_slices = check_run.SlicedPlacements(objects)
    assert list(in_slices.steps())
    at_once = placements.ScenePlacements(in_slices.root)
    at_once.gather(layer.depsgraph)
    assert len(in_slices.all) == len(at_once.all) == (4 if has_instance else 2)
    assert in_slices.are_certain == at_once.are_certain == (not has_instance)
    apart = {"obj", "evaluated", "physics", "touched", "parent", "_matrix", "_turn"}
    for place, plain in zip(in_slices.all, at_once.all, strict=True):
        assert (place.obj, place.evaluated, place.physics) == (plain.obj, plain.evaluated, plain.physics)
        assert place.matrix.tolist() == plain.matrix.tolist()
        assert type(place.touched) is list and place.touched == list(plain.touched)
        for name in {field.name for field in dataclasses.fields(plain)} - apart:
            assert getattr(place, name) == getattr(plain, name), name
        assert [above.path for above in place.ancestors()] == [above.path for above in plain.ancestors()]
    objects.release()


def test_every_fix_is_tested():
    # The fix of the missing floor adds an object, and has tests of its own.
    assert {code for code, _, _ in BROKEN} == set(fixes.FIXES) - {"NoFloor"}


def test_a_code_has_one_fix():
    """A second one replaced the first."""
    with pytest.raises(ValueError, match="NoFloor has a fix already"):
        fix_table.fix("NoFloor", safe=True, label="Do nothing")(fixes.FIXES["NoFloor"].apply)


def test_the_fix_of_a_missing_pair_leaves_the_others():
    deleted_pair()
    fixes.apply_fix(bpy.context.scene, the_issue("FilteredPairMissing"))
    (row,) = bpy.data.objects["A"].usdphys.filtered_pairs.filtered_pairs
    assert row.object == bpy.data.objects["C"]


def test_the_fix_of_a_pair_with_a_hidden_object_asks_to_show_it():
    rows, other = pairs(), body("B", location=(3, 0, 0))
    rows.add().object = other
    other.hide_viewport = True
    bpy.context.view_layer.update()
    with pytest.raises(InputError, match="'B', which is hidden"):
        fixes.apply_fix(bpy.context.scene, the_issue("FilteredPairMissing"))
    assert len(rows) == 1


def test_fix_that_is_not_needed_says_so():
    mass(mass=2)
    with pytest.raises(RuntimeError, match="'A' no longer has this problem"):
        bpy.ops.usdphys.check_fix(code="MassInvalidValues", name="A")
    with pytest.raises(RuntimeError, match="'Gone' is no longer in the scene"):
        bpy.ops.usdphys.check_fix(code="MassInvalidValues", name="Gone")
    with pytest.raises(RuntimeError, match="has no automatic fix"):
        bpy.ops.usdphys.check_fix(code="UnitsInvalid", name="A")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda obj: bpy.data.objects.new("Copy", obj.data), "is linked or has other users"),
        (lambda obj: obj.modifiers.new("S", "SUBSURF"), "modifiers"),
        (lambda obj: obj.keyframe_insert("location"), "animated"),
        (lambda obj: scenes.make_collider(obj, "SPHERE", radius=2), "its own place or size"),
        (lambda obj: scenes.assign(obj.usdphys.mass, center_of_mass=(1, 0, 0)), "centre of mass"),
    ],
    ids=["shared", "modifier", "animated", "sized", "mass"],
)
def test_scale_is_not_applied_where_it_would_change_something(spoil, reason):
    mirrored()
    spoil(bpy.data.objects["A"])
    before, issues = state(), found("NegativeScale")
    with pytest.raises(InputError, match=reason):
        fixes.apply_fix(bpy.context.scene, issues[0])
    assert changes(before, state()) == set()


def test_applied_scale_keeps_normals_outside():
    mirrored()
    obj = bpy.data.objects["A"]
    fixes.apply_fix(bpy.context.scene, the_issue("NegativeScale"))
    assert all(face.normal.dot(face.center) > 0 for face in obj.data.polygons)


def test_hidden_is_not_missing():
    joint()
    bpy.data.objects["B"].hide_set(True)
    issue = the_issue("JointBodyMissing")
    with pytest.raises(InputError, match="'B' is hidden"):
        fixes.apply_fix(bpy.context.scene, issue)
    assert bpy.data.objects["J"].usdphys.joint.body1 is bpy.data.objects["B"]


def test_linked_objects_are_left_alone(tmp_path):
    mass(mass=-1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    scenes_module_empty()
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.objects = ["A"]
    bpy.context.scene.collection.objects.link(into.objects[0])
    issue = the_issue("MassInvalidValues")
    assert issue.name == into.objects[0].name_full != "A"
    with pytest.raises(InputError, match="linked from a library"):
        fixes.apply_fix(bpy.context.scene, issue)
    assert bpy.ops.usdphys.check_fix_all() == {"CANCELLED"}


def scenes_module_empty() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


# --------------------------------------------------------------------------- operators


def test_check_now_finds_what_the_export_would():
    mass(mass=-1)
    joint_of_two = scenes.add_joint("J2", "FIXED", bpy.data.objects["A"], bpy.data.objects["A"])
    assert joint_of_two
    assert bpy.ops.usdphys.check() == {"FINISHED"}
    reading = scenes.read()
    expected = reading.issues + validate.validate(reading.model, check_geometry=False)
    report = checks.report("Scene")
    assert sorted((i.code, i.message) for i in report.issues) == sorted((i.code, i.message) for i in expected)
    assert all("/root" not in issue.short and issue.short for issue in report.issues)
    assert report.counts["error"] == sum(issue.severity == "error" for issue in expected) >= 2
    assert [issue.severity for issue in report.issues] == sorted(
        (issue.severity for issue in report.issues), key=["error", "warning", "info"].index
    )


def test_nothing_wrong():
    body()
    floor()
    assert bpy.ops.usdphys.check() == {"FINISHED"}
    assert checks.report("Scene").issues == ()


def test_fix_all_is_safe_and_the_same_again():
    mass(mass=-1, density=-2)
    floor()
    scenes.join_group(bpy.data.objects["A"], "Nobody")
    body("B", location=(3, 0, 0)).usdphys.physics_material = scenes.physics_material("M", restitution=2)
    assert bpy.ops.usdphys.check_fix_all() == {"FINISHED"}
    # What changes the physics is left to the author.
    assert [issue.code for issue in checks.report("Scene").issues] == ["RestitutionAboveOne"]
    before = state()
    assert bpy.ops.usdphys.check_fix_all() == {"CANCELLED"}
    assert changes(before, state()) == set()


def test_fix_all_mends_what_two_issues_say_once():
    mass(mass=-1)
    scenes.assign(bpy.data.objects["A"].usdphys.colliders[0].mass, is_applied=True, mass=-1)
    assert len(found("MassInvalidValues")) == 2
    assert fixes.apply_safe(bpy.context.scene, check().issues) == (1, [])
    assert found("MassInvalidValues") == []


def test_fix_all_is_one_undo_step():
    mass(mass=-1, density=-2)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.usdphys.check_fix_all() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    again = bpy.data.objects["A"].usdphys.mass
    assert (again.mass, again.density) == (-1, -2)


def test_select_by_name_and_by_path():
    first, second = body("A"), body("B", location=(3, 0, 0))
    first.select_set(True)
    assert bpy.ops.usdphys.check_select(name="B") == {"FINISHED"}
    assert bpy.context.selected_objects == [second]
    assert bpy.context.view_layer.objects.active is second
    assert bpy.ops.usdphys.check_select(path="/root/A/A") == {"FINISHED"}
    assert bpy.context.selected_objects == [first]
    assert bpy.ops.usdphys.check_select(name="Gone") == {"CANCELLED"}
    assert bpy.context.selected_objects == [first]


def test_select_users_of_a_material_and_members_of_a_group():
    material(restitution=2)()
    scenes.join_group(body("B", location=(3, 0, 0)), "Nobody")
    for code, names in (("RestitutionAboveOne", ["A"]), ("GroupUndefined", ["B"])):
        issue = the_issue(code)
        assert bpy.ops.usdphys.check_select(code=code, kind=issue.kind, name=issue.name) == {"FINISHED"}
        assert [obj.name for obj in bpy.context.selected_objects] == names


def test_polls():
    body()
    bpy.context.view_layer.objects.active = bpy.data.objects["A"]
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for operator in (bpy.ops.usdphys.check_fix, bpy.ops.usdphys.check_fix_all, bpy.ops.usdphys.check_select):
            assert not operator.poll()
        with pytest.raises(RuntimeError, match="Switch to Object Mode"):
            bpy.ops.usdphys.check_fix_all()
        assert bpy.ops.usdphys.check.poll()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    preview_guard.start(bpy.context)
    try:
        with pytest.raises(RuntimeError, match="Reset the preview first"):
            bpy.ops.usdphys.check()
    finally:
        preview_guard.stop()


# --------------------------------------------------------------------------- slices


def crowd(count: int) -> None:
    before = None
    for number in range(count):
        made = scenes.solid(f"B{number}", location=(2 * number, 0, 0), shape="AUTO" if number % 2 else "MESH")
        if number % 5 == 0:
            scenes.assign(made.usdphys.mass, is_applied=True, mass=-1)
        if before is not None and number % 4 == 0:
            scenes.add_joint(f"J{number}", "REVOLUTE", before, made, location=(2 * number, 0, 0))
        before = made


@pytest.mark.slow
@pytest.mark.parametrize("steps_per_slice", [4, 20])
def test_slices_end_with_the_budget_and_find_the_same(clock, steps_per_slice):
    crowd(60)
    hidden = body("Hidden", location=(0, 5, 0))
    hidden.hide_set(True)
    collection = scenes.new_collection("Rig")
    collection.objects.link(scenes.make_body(bpy.data.objects.new("Inside", scenes.box_mesh("Inside"))))
    scenes.add_instance("Rigs", collection, location=(0, 9, 0))
    step = clock.per_look = checks.BUDGET / steps_per_slice
    run = run_in_slices()
    # The step in which the budget is used up is the last.
    assert max(run.slices) < checks.BUDGET + 3 * step < checks.SLICE
    assert len(run.slices) > 400 / steps_per_slice
    sliced = checks.report("Scene")
    assert sliced.counts["error"] >= 12
    assert "NotExported" in [issue.code for issue in sliced.issues]
    clock.per_look = 0.0
    assert sliced == check()


@pytest.mark.slow
@pytest.mark.parametrize("objects", [60, 240])
def test_no_step_is_much_longer_than_the_scene_is_large(count_calls, objects):
    """A slice lasts at least one step. Of the work for all objects, a step does only a few calls for each."""
    crowd(objects)
    run_in_slices()
    layer = bpy.context.view_layer
    run = checks.begin("Scene", layer)
    # Without any time, each slice is one step.
    calls, ends = [], []
    while not any(ends):
        calls.append(count_calls(lambda: ends.append(run.advance(layer.depsgraph, 0.0))))
    assert len(calls) > 5 * objects
    assert max(calls) < 500 + 10 * objects < 0.1 * sum(calls)


def dense_grid(edge: int) -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=edge, y_subdivisions=edge)
    obj = scenes.make_body(bpy.context.object)
    scenes.make_collider(obj, "AUTO")
    scenes.make_collider(obj, "SPHERE")


def test_vertices_of_a_large_mesh_are_not_looked_at(monkeypatch):
    """Only a check on demand, which is as exact as the export, looks at them."""
    looked = []
    for name in ("vertices_of", "surface_of", "read_mesh"):
        function = getattr(meshes, name)
        monkeypatch.setattr(meshes, name, lambda *args, f=function: looked.append(f.__name__) or f(*args))
    dense_grid(50)
    assert len(bpy.context.object.data.vertices) > check_run.DENSE_VERTICES
    run_in_slices()
    assert looked == []
    check()
    assert "surface_of" in looked


def test_too_many_objects_are_checked_on_demand():
    for number in range(checks.MAX_OBJECTS + 1):
        scenes.add(f"E{number}")
    mass(mass=-1)
    bpy.context.view_layer.update()
    assert checks.begin("Scene", bpy.context.view_layer) is None
    assert str(checks.MAX_OBJECTS) in checks.on_demand("Scene")
    assert bpy.ops.usdphys.check() == {"FINISHED"}
    assert checks.report("Scene").counts["error"] == 1


def test_too_many_joints_are_checked_on_demand():
    first = body()
    for number in range(report.MAX_JOINTS + 1):
        scenes.add_joint(f"J{number}", "FIXED", first)
    run_in_slices()
    assert "joints" in checks.on_demand("Scene")
    assert checks.report("Scene") is None
    bpy.context.view_layer.update()
    assert checks.begin("Scene", bpy.context.view_layer) is None


@pytest.mark.slow
def test_scene_that_is_too_slow_is_left_until_it_is_smaller(clock):
    crowd(60)
    layer = bpy.context.view_layer
    clock.per_look = 1.01 * checks.SLICE
    run = run_in_slices()
    clock.per_look = 0.0
    assert len(run.slices) == checks.MAX_LATE + 1
    assert "too long" in checks.on_demand("Scene")
    assert checks.is_outdated("Scene")
    assert checks.begin("Scene", layer) is None
    assert check() and not checks.is_outdated("Scene")
    bpy.data.objects.remove(bpy.data.objects["B3"])
    layer.update()
    run_in_slices()
    assert checks.on_demand("Scene") == ""
    assert checks.report("Scene") == check()


@pytest.mark.slow
def test_scene_is_not_left_because_other_programs_hold_it_up(clock):
    crowd(60)
    clock.per_look, clock.share = 100 * checks.SLICE, 0.001
    run_in_slices()
    assert checks.on_demand("Scene") == ""
    assert checks.report("Scene").counts["error"] >= 12


def test_rule_that_fails_does_not_end_the_timer(monkeypatch, capsys):
    body()
    monkeypatch.setattr(check_run, "Facts", None)
    run_in_slices()
    assert "see the console" in checks.on_demand("Scene")
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("after", range(6))
def test_object_that_goes_between_slices_ends_the_check(clock, after):
    crowd(60)
    layer = bpy.context.view_layer
    layer.update()
    run = checks.begin("Scene", layer)
    clock.per_look = checks.BUDGET / 20
    for _ in range(after):
        assert not checks.proceed(run, layer)
    clock.per_look = 0.0
    for obj in list(bpy.data.objects)[::2]:
        bpy.data.objects.remove(obj)
    layer.update()
    while not checks.proceed(run, layer):
        pass
    # Whatever came of that check, the next one tells what is there.
    assert run_in_slices() and checks.report("Scene") == check()


# --------------------------------------------------------------------------- while one works


@pytest.fixture
def pump(clock):
    """Call with seconds: the timer ticks as long as that."""

    def pump(seconds: float = 3.0) -> None:
        end = clock.seconds + seconds
        while clock.seconds < end:
            clock.advance(jobs.turn(checks.watch))

    return pump


def test_change_is_checked_once_it_is_quiet(live, clock, pump):
    assert bpy.context.window_manager.windows, "no scene is shown"
    mass(mass=-1)
    bpy.context.view_layer.update()
    jobs.turn(checks.watch)
    clock.advance(0.9 * checks.QUIET)
    assert jobs.turn(checks.watch) == checks.IDLE
    # Another change: it is not quiet yet.
    bpy.data.objects["A"].location.x += 1
    bpy.context.view_layer.update()
    clock.advance(0.9 * checks.QUIET)
    assert jobs.turn(checks.watch) == checks.IDLE
    assert checks.report("Scene") is None
    pump(0.3)
    assert checks.report("Scene").counts["error"] == 1
    assert checks.is_current("Scene")
    first = checks.report("Scene")
    # Nothing changes: nothing is done.
    for _ in range(3):
        assert jobs.turn(checks.watch) == checks.IDLE
    assert checks.report("Scene") is first
    bpy.data.objects["A"].usdphys.mass.mass = 1
    # What a script sets is seen with the next change that Blender tells of.
    bpy.data.objects["A"].location.x += 1
    bpy.context.view_layer.update()
    assert not checks.is_current("Scene")
    pump()
    assert checks.report("Scene").counts["error"] == 0


def test_a_selection_does_not_make_a_report_outdated(live, clock, pump):
    mass(mass=-1)
    pump()
    first = checks.report("Scene")
    bpy.ops.object.select_all(action="DESELECT")
    bpy.data.objects["A"].select_set(True)
    bpy.context.view_layer.update()
    jobs.turn(checks.watch)
    assert checks.is_current("Scene")
    pump()
    assert checks.report("Scene") is first


@pytest.mark.slow
def test_a_selection_does_not_start_a_running_check_anew(live, clock):
    crowd(60)
    bpy.context.view_layer.update()
    clock.advance(1.01 * checks.QUIET)
    clock.per_look = checks.BUDGET / 4
    for _ in range(4000):
        obj = bpy.data.objects["B1"]
        obj.select_set(not obj.select_get())
        bpy.context.view_layer.update()
        jobs.turn(checks.watch)
        if checks.report("Scene") is not None:
            break
    assert checks.report("Scene").counts["error"] >= 12


@pytest.mark.parametrize("way", ["object", "excluded collection"])
def test_hiding_is_checked_although_blender_reports_it_like_a_selection(live, pump, way):
    body("Other", location=(5, 0, 0))
    obj = body()
    floor()
    child = scenes.new_collection("Rig", linked=True)
    child.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    pump()
    assert [issue.code for issue in checks.report("Scene").issues] == []
    if way == "object":
        obj.hide_set(True)
    else:
        bpy.context.view_layer.layer_collection.children["Rig"].exclude = True
    bpy.context.view_layer.update()
    assert not checks.is_current("Scene")
    pump()
    assert [issue.code for issue in checks.report("Scene").issues] == ["NotExported"]
    assert checks.is_current("Scene")


def test_an_edit_during_a_check_starts_it_anew(live, clock, pump):
    crowd(60)
    bpy.context.view_layer.update()
    clock.advance(1.01 * checks.QUIET)
    clock.per_look = checks.BUDGET / 4
    for _ in range(10):
        jobs.turn(checks.watch)
    clock.per_look = 0.0
    extra = body("Late")
    scenes.assign(extra.usdphys.mass, is_applied=True, mass=-1)
    bpy.context.view_layer.update()
    pump()
    assert any(issue.name == "Late" for issue in checks.report("Scene").issues)
    assert checks.report("Scene") == check()


def test_another_frame_is_checked(live, pump):
    mass(mass=1)
    pump()
    assert checks.is_current("Scene")
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 1)
    assert not checks.is_current("Scene")
    pump()
    assert checks.is_current("Scene")


def test_undo_is_checked(live, pump):
    mass(mass=-1)
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["A"].usdphys.mass.mass = 1
    bpy.ops.ed.undo_push(message="after")
    pump()
    assert checks.report("Scene").counts["error"] == 0
    bpy.ops.ed.undo()
    assert not checks.is_current("Scene")
    pump()
    assert checks.report("Scene").counts["error"] == 1


def test_what_was_edited_while_the_preview_played_is_checked_afterwards(live, pump):
    obj = body()
    pump()
    preview_guard.start(bpy.context)
    scenes.assign(obj.usdphys.mass, is_applied=True, mass=-1)
    obj.update_tag()
    bpy.context.view_layer.update()
    preview_guard.stop()
    assert not checks.is_current("Scene")
    pump()
    assert checks.report("Scene").counts["error"] == 1


def test_shown_scene_is_the_one_that_is_checked(live, pump):
    mass(mass=-1)
    pump()
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    bpy.context.view_layer.update()
    pump()
    assert checks.report("Other").issues == ()
    assert checks.report("Scene").counts["error"] == 1


def test_switched_off_in_the_preferences(live, pump):
    checks.set_live(False)
    try:
        mass(mass=-1)
        bpy.context.view_layer.update()
        pump(100.0)
        assert checks.report("Scene") is None
    finally:
        checks.set_live(True)
    pump()
    assert checks.report("Scene").counts["error"] == 1


def test_undo_and_load_forget(live):
    mass(mass=-1)
    check()
    assert checks.is_current("Scene")
    bpy.data.objects["A"].location.x += 1
    bpy.context.view_layer.update()
    assert not checks.is_current("Scene")
    scenes_module_empty()
    assert checks.report("Scene") is None
    assert checks.on_demand("Scene") == "" and not checks.is_outdated("Scene")


def test_nothing_while_the_preview_plays(live, pump):
    body()
    bpy.context.view_layer.update()
    checks.forget()
    preview_guard.start(bpy.context)
    try:
        bpy.data.objects["A"].location.x += 1
        bpy.context.view_layer.update()
        assert jobs.turn(checks.watch) == checks.IDLE
        pump(100.0)
        assert checks.report("Scene") is None
    finally:
        preview_guard.stop()
    pump()
    assert checks.report("Scene") is not None


def test_background_has_no_timer_and_no_handler():
    assert bpy.app.background
    assert not jobs.is_waiting(checks.watch)
    assert not [one for one in bpy.app.handlers.depsgraph_update_post if one.__module__ == checks.__name__]
    mass(mass=-1)
    bpy.context.view_layer.update()
    assert checks.report("Scene") is None


def test_live_checks_leave_nothing_behind():
    names = ("depsgraph_update_post", "load_pre", "undo_pre", "undo_post", "redo_pre", "redo_post")
    checks.unregister()
    before = [len(getattr(bpy.app.handlers, name)) for name in names]
    for _ in range(3):
        checks.register(is_live=True)
        assert jobs.is_waiting(checks.watch)
        checks.unregister()
    assert [len(getattr(bpy.app.handlers, name)) for name in names] == before
    assert not jobs.is_waiting(checks.watch)
    checks.register()


def test_a_sunken_body_is_lifted_to_the_floor():
    sunken()
    bpy.ops.usdphys.check_fix(code="BodiesOverlap", kind="object", name="A", path=the_issue("BodiesOverlap").path)
    assert bpy.data.objects["A"].location.z == pytest.approx(-18.5, abs=0.01)


@pytest.mark.parametrize("depth", [0.2, 0.9, 1.05])
def test_a_body_below_the_middle_of_a_thin_ground_is_dropped_on_its_top(depth):
    """The shortest way out of a ground of 0.2 m may be down, from where it falls for ever."""
    bpy.ops.usdphys.add_physics(kind="GROUND")
    crate = body(location=(0, 0, 0.5 - depth))
    bpy.ops.usdphys.check_fix(
        code="BodiesOverlap", kind="object", name=crate.name, path=the_issue("BodiesOverlap").path
    )
    assert crate.location.z == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("named", ["A", "B"])
def test_what_joints_tie_together_is_dropped_on_top_together(nested, named):
    bpy.ops.usdphys.add_physics(kind="GROUND")
    holder = scenes.add("Holder", scale=(2, 2, 2), rotation_euler=(0, 0, 1))
    first = body(location=(0, 0, -0.2), parent=holder)
    second = body("B", location=(3, 0, 0.3), parent=first if nested else None)
    pin = scenes.add_joint("J", "REVOLUTE", first, second, location=(1.5, 0, 0.7))
    parts = (first, second, pin)
    bpy.context.view_layer.update()
    before = [part.matrix_world.copy() for part in parts]
    issue = the_issue("BodiesOverlap")
    assert "So does 1 body that joints tie to it." in issue.message
    bpy.ops.usdphys.check_fix(code="BodiesOverlap", kind="object", name=named, path=reading_path(named))
    bpy.context.view_layer.update()
    ways = [part.matrix_world.translation - old.translation for part, old in zip(parts, before, strict=True)]
    assert ways[0].z > 0.5 and all((way - ways[0]).length < 1e-4 for way in ways)
    assert "BodiesOverlap" not in {left.code for left in checks.report("Scene").issues}


def reading_path(name: str) -> str:
    sites = scenes.read().sites
    return next(path for path, site in sites.items() if site.obj.name == name)


@pytest.mark.parametrize(("scale", "spread"), [(1.0, 3.0), (0.01, 300.0), (1.0, 90.0)])
def test_bodies_without_a_floor_get_one_at_their_lowest_point(scale, spread):
    """In metres, in centimetres, and with bodies further apart than the ground of Add > Physics is wide."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = scale
    body(location=(spread / 2, 0, 6.5))
    body("B", location=(-spread / 2, 4, 12))
    issue = the_issue("NoFloor")
    assert issue.can_be_fixed
    bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    ground = bpy.data.objects["Ground"]
    bpy.context.view_layer.update()
    corners = [ground.matrix_world @ mathutils.Vector(corner) for corner in ground.bound_box]
    assert max(corner.z for corner in corners) == pytest.approx(6.0, abs=1e-3)
    assert (
        min(corner.x for corner in corners) < -spread / 2 - 1 and max(corner.x for corner in corners) > spread / 2 + 1
    )
    assert len(ground.usdphys.colliders) == 1 and not ground.usdphys.rigid_body.is_applied
    left = [left.code for left in checks.report("Scene").issues]
    assert not {"NoFloor", "BodiesOverlap"} & set(left)


def test_a_floor_is_not_put_beside_a_gravity_that_goes_sideways():
    scene = bpy.context.scene
    body()
    scene.usdphys.physics_scenes.add().gravity_direction = (1, 0, 0)
    issue = the_issue("NoFloor")
    with pytest.raises(RuntimeError, match="across the direction of gravity"):
        bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    assert "Ground" not in bpy.data.objects


def test_a_joint_without_bodies_leaves_the_ground_static():
    """Its origin was the nearest, and it fell."""
    ground, crate = scenes.add_box("Ground"), scenes.add_box("Crate", location=(3, 0, 0))
    ground.usdphys.colliders.add()
    scenes.add_joint("J", "REVOLUTE")
    issue = the_issue("JointNoEnabledRigidBody")
    bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    assert bpy.data.objects["J"].usdphys.joint.body1 == crate
    assert crate.usdphys.rigid_body.is_applied and not ground.usdphys.rigid_body.is_applied


def test_a_joint_without_bodies_takes_the_nearest_one():
    """The fix was offered and always failed."""
    body("Far", location=(9, 0, 0))
    near = body(location=(1, 0, 0))
    joint = scenes.add_joint("J", "REVOLUTE")
    issue = the_issue("JointNoEnabledRigidBody")
    assert issue.can_be_fixed
    bpy.ops.usdphys.check_fix(code=issue.code, kind=issue.kind, name=issue.name, path=issue.path)
    assert joint.usdphys.joint.body1 == near
    assert "JointNoEnabledRigidBody" not in [left.code for left in checks.report("Scene").issues]


#: As a file of Newton's own has it: a rotation of the wrong length, and an offset that PhysX chooses.
IMPORTED = """#usda 1.0
(
    defaultPrim = "W"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "W"
{
    def Cube "B" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxCollisionAPI"])
    {
        float physxCollision:restOffset = -inf
    }
    def PhysicsFixedJoint "J"
    {
        rel physics:body1 = </W/B>
        quatf physics:localRot1 = (0.6324555, 0, 0, 0)
    }
}
"""


@pytest.mark.parametrize("code", ["JointRotationNotUnit", "VendorDeprecated"])
def test_the_fix_of_what_a_file_brought_mends_it_and_breaks_nothing(code, tmp_path):
    """The frames of a file are kept as text, which the fix passed over; -inf became an error in Newton's words."""
    path = tmp_path / "w.usda"
    path.write_text(IMPORTED)
    bpy.ops.usdphys.import_usd(filepath=str(path))
    bpy.context.scene.usdphys.targets = {"PHYSX"}
    others = {issue.code for issue in check().issues} - {code}
    issue = the_issue(code)
    bpy.ops.usdphys.check_fix(code=code, kind=issue.kind, name=issue.name, path=issue.path)
    assert {left.code for left in check().issues} == others
