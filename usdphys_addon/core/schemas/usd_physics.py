# SPDX-License-Identifier: GPL-3.0-or-later
"""Every class and attribute of UsdPhysics. Source: the schema of OpenUSD 26.11."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import units
from ..schema import INF, INSTANCE, Quaternion, Schema, Vector, attr, rel, schema


@schema("PhysicsScene", "typed", "scene")
class PhysicsScene(Schema):
    gravity_direction: Vector | None = attr(
        "physics:gravityDirection", "vector3f", (0.0, 0.0, 0.0), "Direction of gravity; zero is down the up axis",
        automatic="zero", space="world", live=True,
    )  # fmt: skip
    gravity_magnitude: float | None = attr(
        "physics:gravityMagnitude", "float", -INF, "Acceleration of gravity; negative is earth gravity",
        automatic="negative", dimension=units.ACCELERATION, live=True,
    )  # fmt: skip


@schema("PhysicsRigidBodyAPI", "single", "body")
class RigidBodyAPI(Schema):
    rigid_body_enabled: bool | None = attr(
        "physics:rigidBodyEnabled",
        "bool",
        True,
        "The body moves; a disabled body is a static collider",
        label="Enabled",
        animates=True,
    )
    kinematic_enabled: bool | None = attr(
        "physics:kinematicEnabled", "bool", False, "Animation moves the body, and it pushes others", label="Kinematic",
        animates=True,
    )  # fmt: skip
    simulation_owner: tuple[str, ...] | None = rel(
        "physics:simulationOwner", "The physics scene that simulates this body"
    )
    starts_asleep: bool | None = attr(
        "physics:startsAsleep", "bool", False, "The body sleeps until something touches it",
        label="Starts Asleep", uniform=True,
    )  # fmt: skip
    velocity: Vector | None = attr(
        "physics:velocity", "vector3f", (0.0, 0.0, 0.0), "Initial linear velocity along the body's own axes",
        label="Velocity", dimension=units.VELOCITY, space="local", mirror="vector",
    )  # fmt: skip
    angular_velocity: Vector | None = attr(
        "physics:angularVelocity", "vector3f", (0.0, 0.0, 0.0), "Initial angular velocity about the body's own axes",
        dimension=units.ANGULAR_VELOCITY, mirror="spin",
    )  # fmt: skip


@schema("PhysicsMassAPI", "single", "body")
class MassAPI(Schema):
    mass: float | None = attr(
        "physics:mass", "float", 0.0, "Mass; zero lets density or the colliders decide",
        dimension=units.MASS, automatic="zero", live=True,
    )  # fmt: skip
    density: float | None = attr(
        "physics:density", "float", 0.0, "Density; zero lets the material decide. An explicit mass wins over it",
        dimension=units.DENSITY, automatic="zero",
    )  # fmt: skip
    center_of_mass: Vector | None = attr(
        "physics:centerOfMass", "point3f", (-INF, -INF, -INF), "Centre of mass in the object's own space",
        label="Centre of Mass", dimension=units.LENGTH, space="local", automatic="infinite", mirror="point",
    )  # fmt: skip
    diagonal_inertia: Vector | None = attr(
        "physics:diagonalInertia", "float3", (0.0, 0.0, 0.0), "Moments of inertia about the principal axes",
        label="Inertia", dimension=units.INERTIA, automatic="zero",
    )  # fmt: skip
    principal_axes: Quaternion | None = attr(
        "physics:principalAxes", "quatf", (0.0, 0.0, 0.0, 0.0), "Orientation of the axes of the inertia",
        automatic="zero",
    )  # fmt: skip


@schema("PhysicsCollisionAPI", "single", "collider")
class CollisionAPI(Schema):
    collision_enabled: bool | None = attr(
        "physics:collisionEnabled", "bool", True, "The collider touches others", label="Enabled", animates=True
    )
    simulation_owner: tuple[str, ...] | None = rel(
        "physics:simulationOwner", "The physics scene of a static collider; a body's own scene wins"
    )


@schema("PhysicsMeshCollisionAPI", "single", "collider")
class MeshCollisionAPI(Schema):
    approximation: str | None = attr(
        "physics:approximation", "token", "none", "What the mesh collides as: its triangles, or a simpler shape",
        label="Collides As",
        tokens=("none", "convexDecomposition", "convexHull", "boundingSphere", "boundingCube", "meshSimplification"),
        uniform=True,
    )  # fmt: skip


@schema("PhysicsMaterialAPI", "single", "material")
class MaterialAPI(Schema):
    static_friction: float | None = attr(
        "physics:staticFriction", "float", 0.0, "Coefficient of friction that holds a body at rest", live=True
    )
    dynamic_friction: float | None = attr(
        "physics:dynamicFriction", "float", 0.0, "Coefficient of friction that slows a sliding body", live=True
    )
    restitution: float | None = attr(
        "physics:restitution", "float", 0.0, "Bounciness: 0 is no bounce, 1 keeps the whole speed", live=True
    )
    density: float | None = attr(
        "physics:density", "float", 0.0, "Density of the material; zero is automatic",
        dimension=units.DENSITY, automatic="zero",
    )  # fmt: skip


@schema("PhysicsCollisionGroup", "typed", "group")
class CollisionGroup(Schema):
    merge_group: str | None = attr(
        "physics:mergeGroup", "string", None, "Groups with the same merge name are one", label="Merge Group"
    )
    invert_filtered_groups: bool | None = attr(
        "physics:invertFilteredGroups",
        "bool",
        None,
        "Collide with the filtered groups only, and with nothing else",
        label="Inverted",
    )
    filtered_groups: tuple[str, ...] | None = rel(
        "physics:filteredGroups", "Groups that members of this one pass through"
    )
    colliders: str | None = attr("collection:colliders", "opaque", None, "The collection itself", uniform=True)
    includes: tuple[str, ...] | None = rel("collection:colliders:includes", "Prims that belong to the group")
    excludes: tuple[str, ...] | None = rel("collection:colliders:excludes", "Prims that do not belong to the group")
    expansion_rule: str | None = attr(
        "collection:colliders:expansionRule", "token", "expandPrims",
        "Whether the descendants of included prims are included, too",
        tokens=("explicitOnly", "expandPrims", "expandPrimsAndProperties"), uniform=True,
    )  # fmt: skip
    include_root: bool | None = attr(
        "collection:colliders:includeRoot", "bool", None, "The whole stage belongs to the group", uniform=True
    )
    membership_expression: str | None = attr(
        "collection:colliders:membershipExpression", "pathExpression", None, "A path expression for the members",
        uniform=True,
    )  # fmt: skip
    mode: str | None = attr(
        "collection:colliders:mode", "token", "automatic", "Whether lists or the expression decide",
        tokens=("automatic", "relationship", "expression"), uniform=True,
    )  # fmt: skip


@schema("PhysicsFilteredPairsAPI", "single", "body")
class FilteredPairsAPI(Schema):
    filtered_pairs: tuple[str, ...] | None = rel("physics:filteredPairs", "Objects that this one passes through")


@schema("PhysicsArticulationRootAPI", "single", "articulation")
class ArticulationRootAPI(Schema):
    """Joints below this prim prefer reduced coordinates."""


@schema("PhysicsJoint", "typed", "joint")
class Joint(Schema):
    """The generic joint; its limits and drives per degree of freedom are LimitAPI and DriveAPI."""

    body0: tuple[str, ...] | None = rel("physics:body0", "First body; none is the world", label="Body 0")
    body1: tuple[str, ...] | None = rel("physics:body1", "Second body; none is the world", label="Body 1")
    local_pos0: Vector | None = attr(
        "physics:localPos0", "point3f", (0.0, 0.0, 0.0), "Position of the joint frame in the space of body 0",
        label="Local Position 0", dimension=units.LENGTH, space="local", body=0,
    )  # fmt: skip
    local_rot0: Quaternion | None = attr(
        "physics:localRot0", "quatf", (1.0, 0.0, 0.0, 0.0), "Orientation of the joint frame in the space of body 0",
        label="Local Rotation 0", body=0,
    )  # fmt: skip
    local_pos1: Vector | None = attr(
        "physics:localPos1", "point3f", (0.0, 0.0, 0.0), "Position of the joint frame in the space of body 1",
        label="Local Position 1", dimension=units.LENGTH, space="local", body=1,
    )  # fmt: skip
    local_rot1: Quaternion | None = attr(
        "physics:localRot1", "quatf", (1.0, 0.0, 0.0, 0.0), "Orientation of the joint frame in the space of body 1",
        label="Local Rotation 1", body=1,
    )  # fmt: skip
    joint_enabled: bool | None = attr(
        "physics:jointEnabled", "bool", True, "The joint holds", label="Enabled", live=True
    )
    collision_enabled: bool | None = attr(
        "physics:collisionEnabled",
        "bool",
        False,
        "The two bodies of the joint collide with each other",
        label="Bodies Collide",
    )
    exclude_from_articulation: bool | None = attr(
        "physics:excludeFromArticulation", "bool", False, "Leave this joint out of the articulation: it closes a loop",
        label="Not Articulated", uniform=True,
    )  # fmt: skip
    break_force: float | None = attr(
        "physics:breakForce", "float", INF, "The joint breaks above this force", dimension=units.FORCE, animates=True
    )
    break_torque: float | None = attr(
        "physics:breakTorque", "float", INF, "The joint breaks above this torque", dimension=units.TORQUE, animates=True
    )


_AXIS: dict[str, Any] = {"tokens": ("X", "Y", "Z"), "uniform": True}


@schema("PhysicsFixedJoint", "typed", "joint")
class FixedJoint(Joint):
    """No relative motion."""


@schema("PhysicsRevoluteJoint", "typed", "joint")
class RevoluteJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of rotation in the joint frame", **_AXIS)
    lower_limit: float | None = attr(
        "physics:lowerLimit", "float", -INF, "Smallest angle", dimension=units.ANGLE, animates=True
    )
    upper_limit: float | None = attr(
        "physics:upperLimit", "float", INF, "Largest angle", dimension=units.ANGLE, animates=True
    )


@schema("PhysicsPrismaticJoint", "typed", "joint")
class PrismaticJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of the slide in the joint frame", **_AXIS)
    lower_limit: float | None = attr(
        "physics:lowerLimit", "float", -INF, "Smallest distance along the axis", dimension=units.LENGTH, animates=True
    )
    upper_limit: float | None = attr(
        "physics:upperLimit", "float", INF, "Largest distance along the axis", dimension=units.LENGTH, animates=True
    )


@schema("PhysicsSphericalJoint", "typed", "joint")
class SphericalJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of the cone in the joint frame", **_AXIS)
    cone_angle0_limit: float | None = attr(
        "physics:coneAngle0Limit", "float", -1.0, "Half angle of the cone towards the next axis; negative is free",
        label="Cone Angle 0 Limit", dimension=units.ANGLE, automatic="negative", animates=True,
    )  # fmt: skip
    cone_angle1_limit: float | None = attr(
        "physics:coneAngle1Limit", "float", -1.0, "Half angle of the cone towards the third axis; negative is free",
        label="Cone Angle 1 Limit", dimension=units.ANGLE, automatic="negative", animates=True,
    )  # fmt: skip


@schema("PhysicsDistanceJoint", "typed", "joint")
class DistanceJoint(Joint):
    min_distance: float | None = attr(
        "physics:minDistance", "float", -1.0, "Smallest distance of the anchors; negative is no limit",
        label="Minimum Distance", dimension=units.LENGTH, automatic="negative", animates=True,
    )  # fmt: skip
    max_distance: float | None = attr(
        "physics:maxDistance", "float", -1.0, "Largest distance of the anchors; negative is no limit",
        label="Maximum Distance", dimension=units.LENGTH, automatic="negative", animates=True,
    )  # fmt: skip


@schema(
    "PhysicsLimitAPI", "multiple", "dof", instances=("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance")
)
class LimitAPI(Schema):
    low: float | None = attr(
        f"limit:{INSTANCE}:physics:low", "float", -INF, "Lower limit; above the upper one locks the degree of freedom",
        label="Low", dimension=units.LENGTH, angular_dimension=units.ANGLE, distance_automatic="negative",
        animates=True,
    )  # fmt: skip
    high: float | None = attr(
        f"limit:{INSTANCE}:physics:high", "float", INF, "Upper limit; below the lower one locks the degree of freedom",
        label="High", dimension=units.LENGTH, angular_dimension=units.ANGLE, distance_automatic="negative",
        animates=True,
    )  # fmt: skip


@schema(
    "PhysicsDriveAPI", "multiple", "dof",
    instances=("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance", "linear", "angular"),
)  # fmt: skip
class DriveAPI(Schema):
    mode_field: ClassVar[str] = "type"
    type: str | None = attr(
        f"drive:{INSTANCE}:physics:type", "token", "force", "Whether the gains produce a force or an acceleration",
        tokens=("force", "acceleration"), uniform=True, live=True,
    )  # fmt: skip
    max_force: float | None = attr(
        f"drive:{INSTANCE}:physics:maxForce", "float", INF, "Largest force or torque of the drive",
        dimension=units.FORCE, angular_dimension=units.TORQUE, live=True,
    )  # fmt: skip
    target_position: float | None = attr(
        f"drive:{INSTANCE}:physics:targetPosition", "float", 0.0, "Position or angle that the drive aims at",
        dimension=units.LENGTH, angular_dimension=units.ANGLE, live=True,
    )  # fmt: skip
    target_velocity: float | None = attr(
        f"drive:{INSTANCE}:physics:targetVelocity", "float", 0.0, "Velocity that the drive aims at",
        dimension=units.VELOCITY, angular_dimension=units.ANGULAR_VELOCITY, live=True,
    )  # fmt: skip
    damping: float | None = attr(
        f"drive:{INSTANCE}:physics:damping", "float", 0.0, "Force per unit of velocity error",
        dimension=units.DAMPING, angular_dimension=units.ANGULAR_DAMPING,
        acceleration_dimensions=(units.RATE, units.RATE_PER_ANGLE), live=True,
    )  # fmt: skip
    stiffness: float | None = attr(
        f"drive:{INSTANCE}:physics:stiffness", "float", 0.0, "Force per unit of position error",
        dimension=units.STIFFNESS, angular_dimension=units.ANGULAR_STIFFNESS,
        acceleration_dimensions=(units.SQUARED_RATE, units.SQUARED_RATE_PER_ANGLE), live=True,
    )  # fmt: skip
