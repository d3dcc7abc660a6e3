# SPDX-License-Identifier: GPL-3.0-or-later
"""Concepts of artists over the schemas of several simulators: one field in the panels, one attribute for each runtime.

The scene chooses its targets. "Neutral" takes the first attribute that there is in the order of NEUTRAL_ORDER: those of
Newton are read by PhysX, too, and PhysX and MuJoCo mark their own twins as outdated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from . import schema
from .joint_kinds import BY_TYPE_NAME
from .schema import INSTANCE, Place

NEUTRAL = "Neutral"
#: The degree of freedom of a ball joint that has a limit; PhysX has one for its two angles.
CONE = "cone"
NEUTRAL_ORDER = ("Newton", "PhysX", "MuJoCo")
#: What the scene can be written for.
TARGETS = (NEUTRAL, "Newton", "PhysX", "MuJoCo")


@dataclass(frozen=True, slots=True)
class Twin:
    """An attribute of a runtime. name: USD name, with INSTANCE for a degree of freedom; empty: the schema itself."""

    runtime: str
    applied: str
    name: str


@dataclass(frozen=True, slots=True)
class Concept:
    """One field of the panels. dofs: it is set for each degree of freedom of a joint."""

    identifier: str
    place: Place
    label: str
    doc: str
    twins: tuple[Twin, ...]

    def twins_for(self, targets: Collection[str]) -> tuple[Twin, ...]:
        """The attributes that the targets of a scene want; empty if none of them has a word for it."""
        wanted: dict[Twin, None] = {}
        by_runtime = {twin.runtime: twin for twin in self.twins}
        for target in targets:
            # PhysX and MuJoCo read the words of Newton where they have none of their own.
            order = NEUTRAL_ORDER if target == NEUTRAL else (target,) if target == "Newton" else (target, "Newton")
            found = next((by_runtime[name] for name in order if name in by_runtime), None)
            if found is not None:
                wanted[found] = None
        return tuple(wanted)


def _concept(identifier: str, place: Place, label: str, doc: str, **names: str) -> Concept:
    """names: "SchemaAPI attribute" by runtime, in lower case."""
    twins = []
    for runtime, text in names.items():
        applied, _, name = text.partition(" ")
        twins.append(Twin({"newton": "Newton", "physx": "PhysX", "mujoco": "MuJoCo"}[runtime], applied, name))
    return Concept(identifier, place, label, doc, tuple(twins))


_BODY, _AXIS, _LIMIT = "PhysxRigidBodyAPI physxRigidBody", f"physxJointAxis:{INSTANCE}", f"physxLimit:{INSTANCE}"
#: PhysX refuses the friction and the damping of a joint whose dynamic friction is above its static one, which is 0.
_DYNAMIC, _STATIC = f"{_AXIS}:dynamicFrictionEffort", f"{_AXIS}:staticFrictionEffort"
_HULLS = "PhysxConvexDecompositionCollisionAPI physxConvexDecompositionCollision"
_SCENE = "PhysxSceneAPI physxScene"


@cache
def concepts() -> dict[str, Concept]:
    """All concepts by identifier, in the order of the panels."""
    rows = (
        # ---------------------------------------------------------------- bodies
        _concept("linear_damping", "body", "Linear Damping", "Share of its speed that the body loses each second",
                 physx=f"{_BODY}:linearDamping"),
        _concept("angular_damping", "body", "Angular Damping", "Share of its turning that the body loses each second",
                 physx=f"{_BODY}:angularDamping"),
        _concept("no_gravity", "body", "No Gravity", "Gravity does not pull the body", physx=f"{_BODY}:disableGravity"),
        _concept("locked_position", "body", "Locked Positions",
                 "World axes along which the body does not move: X is 1, Y is 2, Z is 4, add them up",
                 physx=f"{_BODY}:lockedPosAxis"),
        _concept("locked_rotation", "body", "Locked Rotations",
                 "Axes of the body about which it does not turn: X is 1, Y is 2, Z is 4, add them up",
                 physx=f"{_BODY}:lockedRotAxis"),
        _concept("max_speed", "body", "Largest Speed",
                 "The body does not move faster", physx=f"{_BODY}:maxLinearVelocity"),
        _concept("max_spin", "body", "Largest Spin",
                 "The body does not turn faster", physx=f"{_BODY}:maxAngularVelocity"),
        _concept("max_depenetration", "body", "Push-Out Speed",
                 "Largest speed at which overlapping bodies are pushed apart",
                 physx=f"{_BODY}:maxDepenetrationVelocity"),
        _concept("max_impulse", "body", "Largest Impulse", "Contacts push no harder; the body sinks in instead",
                 physx=f"{_BODY}:maxContactImpulse"),
        _concept("ccd", "body", "Continuous Collision",
                 "A fast body does not pass through thin ones. Enable it in the physics scene, too",
                 physx=f"{_BODY}:enableCCD"),
        _concept("speculative_ccd", "body", "Speculative Contacts",
                 "Contacts are predicted where the body will be: cheaper than continuous collision, and less exact",
                 physx=f"{_BODY}:enableSpeculativeCCD"),
        _concept("iterations", "body", "Position Iterations", "More make stacks and joints of the body stiffer",
                 physx=f"{_BODY}:solverPositionIterationCount"),
        _concept("velocity_iterations", "body", "Velocity Iterations", "More make bounces and friction more exact",
                 physx=f"{_BODY}:solverVelocityIterationCount"),
        _concept("sleep", "body", "Sleep Threshold", "Kinetic energy per mass below which the body may sleep",
                 physx=f"{_BODY}:sleepThreshold"),
        _concept("gyroscopic", "body", "Gyroscopic Forces", "A spinning body that is not round tumbles as in nature",
                 physx=f"{_BODY}:enableGyroscopicForces"),
        _concept("surface_velocity", "body", "Surface Velocity", "The surface runs like a conveyor belt",
                 physx="PhysxSurfaceVelocityAPI physxSurfaceVelocity:surfaceVelocity"),
        _concept("surface_spin", "body", "Surface Spin", "The surface runs like a turntable",
                 physx="PhysxSurfaceVelocityAPI physxSurfaceVelocity:surfaceAngularVelocity"),
        _concept("force", "body", "Force", "A force or an acceleration that acts all the time",
                 physx="PhysxForceAPI physxForce:force"),
        _concept("torque", "body", "Torque", "A torque or an angular acceleration that acts all the time",
                 physx="PhysxForceAPI physxForce:torque"),
        _concept("force_mode", "body", "Force Mode", "Whether force and torque are divided by the mass",
                 physx="PhysxForceAPI physxForce:mode"),
        # ---------------------------------------------------------------- articulations
        _concept("self_collision", "articulation", "Self Collision",
                 "Links of the articulation collide with each other",
                 newton="NewtonArticulationRootAPI newton:selfCollisionEnabled",
                 physx="PhysxArticulationAPI physxArticulation:enabledSelfCollisions"),
        _concept("articulation_enabled", "articulation", "Reduced Coordinates",
                 "Off: PhysX solves each joint by itself, like joints outside of articulations",
                 physx="PhysxArticulationAPI physxArticulation:articulationEnabled"),
        _concept("articulation_iterations", "articulation", "Position Iterations", "More make the joints stiffer",
                 physx="PhysxArticulationAPI physxArticulation:solverPositionIterationCount"),
        _concept("articulation_velocity_iterations", "articulation", "Velocity Iterations",
                 "More make bounces more exact",
                 physx="PhysxArticulationAPI physxArticulation:solverVelocityIterationCount"),
        # ---------------------------------------------------------------- colliders
        _concept("trigger", "collider", "Trigger", "Nothing bounces off: the collider only reports what is inside",
                 physx="PhysxTriggerAPI"),
        _concept("margin", "collider", "Margin", "Bodies rest at this distance from the surface",
                 newton="NewtonCollisionAPI newton:contactMargin", physx="PhysxCollisionAPI physxCollision:restOffset",
                 mujoco="MjcCollisionAPI mjc:margin"),
        _concept("gap", "collider", "Detection Gap", "Contacts are generated from this distance beyond the margin",
                 newton="NewtonCollisionAPI newton:contactGap", mujoco="MjcCollisionAPI mjc:gap"),
        _concept("contact_offset", "collider", "Contact Offset", "Contacts are generated from this distance",
                 physx="PhysxCollisionAPI physxCollision:contactOffset"),
        _concept("patch_radius", "collider", "Torsional Radius",
                 "Radius of the contact patch whose friction brakes spin",
                 physx="PhysxCollisionAPI physxCollision:torsionalPatchRadius"),
        _concept("hull_vertices", "collider", "Hull Vertices", "Largest number of corners of the convex hull",
                 newton="NewtonMeshCollisionAPI newton:maxHullVertices",
                 physx="PhysxConvexHullCollisionAPI physxConvexHullCollision:hullVertexLimit",
                 mujoco="MjcMeshCollisionAPI mjc:maxhullvert"),
        _concept("max_hulls", "collider", "Most Hulls",
                 "Largest number of convex parts of a decomposition",
                 physx=f"{_HULLS}:maxConvexHulls"),
        _concept("voxel_resolution", "collider", "Voxel Resolution", "Voxels of the decomposition; more are more exact",
                 physx=f"{_HULLS}:voxelResolution"),
        _concept("shrink_wrap", "collider", "Shrink Wrap", "Convex parts are pulled onto the surface",
                 physx=f"{_HULLS}:shrinkWrap"),
        _concept("sdf_resolution", "collider", "SDF Resolution", "Cells along the longest side of the distance field",
                 newton="NewtonSDFCollisionAPI newton:sdfMaxResolution",
                 physx="PhysxSDFMeshCollisionAPI physxSDFMeshCollision:sdfResolution"),
        _concept("max_spheres", "collider", "Most Spheres", "Spheres that may fill the shape",
                 physx="PhysxSphereFillCollisionAPI physxSphereFillCollision:maxSpheres"),
        # ---------------------------------------------------------------- materials
        _concept("friction_combine", "material", "Combine Friction", "How the frictions of two materials become one",
                 physx="PhysxMaterialAPI physxMaterial:frictionCombineMode"),
        _concept("restitution_combine", "material", "Combine Restitution",
                 "How the bounciness of two materials becomes one",
                 physx="PhysxMaterialAPI physxMaterial:restitutionCombineMode"),
        _concept("contact_stiffness", "material", "Contact Stiffness", "Soft contacts: force per depth",
                 newton="NewtonMaterialAPI newton:contactStiffness",
                 physx="PhysxMaterialAPI physxMaterial:compliantContactStiffness"),
        _concept("contact_damping", "material", "Contact Damping", "Soft contacts: force per speed of sinking in",
                 newton="NewtonMaterialAPI newton:contactDamping",
                 physx="PhysxMaterialAPI physxMaterial:compliantContactDamping"),
        _concept("torsional_friction", "material", "Torsional Friction", "Friction against spinning on a contact",
                 newton="NewtonMaterialAPI newton:torsionalFriction",
                 mujoco="MjcMaterialAPI mjc:torsionalfriction"),
        _concept("rolling_friction", "material", "Rolling Friction", "Friction against rolling",
                 newton="NewtonMaterialAPI newton:rollingFriction", mujoco="MjcMaterialAPI mjc:rollingfriction"),
        # ---------------------------------------------------------------- joints
        _concept("joint_armature", "joint", "Motor Inertia",
                 "Inertia of the motor, which the joint moves along (armature)",
                 newton="NewtonJointAPI newton:armature", physx=f"PhysxJointAxisAPI:{INSTANCE} {_AXIS}:armature",
                 mujoco="MjcJointAPI mjc:armature"),
        _concept("joint_friction", "joint", "Friction", "Friction force or torque that opposes the motion of the joint",
                 newton="NewtonJointAPI newton:friction",
                 physx=f"PhysxJointAxisAPI:{INSTANCE} {_DYNAMIC}",
                 mujoco="MjcJointAPI mjc:frictionloss"),
        _concept("joint_damping", "joint", "Damping",
                 "Force or torque against the motion, for each unit of speed of the joint",
                 newton="NewtonJointAPI newton:damping",
                 physx=f"PhysxJointAxisAPI:{INSTANCE} {_AXIS}:viscousFrictionCoefficient",
                 mujoco="MjcJointAPI mjc:damping"),
        _concept("joint_speed", "joint", "Largest Velocity", "The joint does not move faster",
                 newton="NewtonJointAPI newton:velocityLimit",
                 physx=f"PhysxJointAxisAPI:{INSTANCE} {_AXIS}:maxJointVelocity"),
        _concept("limit_stiffness", "joint", "Limit Stiffness",
                 "Soft limits: force or torque for each unit beyond the limit",
                 newton="NewtonJointAPI newton:limitStiffness", physx=f"PhysxLimitAPI:{INSTANCE} {_LIMIT}:stiffness"),
        _concept("limit_damping", "joint", "Limit Damping", "Soft limits: force or torque for each unit of speed",
                 newton="NewtonJointAPI newton:limitDamping", physx=f"PhysxLimitAPI:{INSTANCE} {_LIMIT}:damping"),
        _concept("limit_bounce", "dof", "Limit Bounce",
                 "Restitution of a hard limit: 0 is no bounce, 1 keeps the whole speed",
                 physx=f"PhysxLimitAPI:{INSTANCE} {_LIMIT}:restitution"),
        _concept("bounce_threshold", "dof", "Bounce Threshold", "Slower joints do not bounce off their limits",
                 physx=f"PhysxLimitAPI:{INSTANCE} {_LIMIT}:bounceThreshold"),
        _concept("static_friction", "dof", "Static Friction",
                 "Force or torque that it takes to set the joint in motion",
                 physx=f"PhysxJointAxisAPI:{INSTANCE} {_STATIC}"),
        _concept("start_position", "dof", "Start Position", "Where the joint is at the start, in an articulation",
                 physx=f"PhysicsJointStateAPI:{INSTANCE} state:{INSTANCE}:physics:position"),
        _concept("start_velocity", "dof", "Start Velocity", "How fast the joint moves at the start, in an articulation",
                 physx=f"PhysicsJointStateAPI:{INSTANCE} state:{INSTANCE}:physics:velocity"),
        _concept("spring", "joint", "Distance Spring", "The limits of a distance joint are a spring",
                 physx="PhysxPhysicsDistanceJointAPI physxPhysicsDistanceJoint:springEnabled"),
        _concept("spring_stiffness", "joint", "Spring Stiffness",
                 "Force for each metre beyond the limits of the distance",
                 physx="PhysxPhysicsDistanceJointAPI physxPhysicsDistanceJoint:springStiffness"),
        _concept("spring_damping", "joint", "Spring Damping", "Force for each unit of speed of the distance",
                 physx="PhysxPhysicsDistanceJointAPI physxPhysicsDistanceJoint:springDamping"),
        _concept("mimic_joint", "joint", "Follow Joint", "The joint that this one follows",
                 newton="NewtonMimicAPI newton:mimicJoint"),
        _concept("mimic_ratio", "joint", "Follow Ratio", "Motion of this joint for each unit of the other's",
                 newton="NewtonMimicAPI newton:mimicCoef1"),
        _concept("mimic_offset", "joint", "Follow Offset", "Position of this joint when the other joint is at zero",
                 newton="NewtonMimicAPI newton:mimicCoef0"),
        # ---------------------------------------------------------------- scenes
        _concept("steps", "scene", "Steps per Second", "Time steps per second of simulated time",
                 newton="NewtonSceneAPI newton:timeStepsPerSecond", physx=f"{_SCENE}:timeStepsPerSecond"),
        _concept("scene_ccd", "scene", "Continuous Collision", "Bodies that ask for continuous collision get it",
                 physx=f"{_SCENE}:enableCCD"),
        _concept("solver", "scene", "Solver", "TGS is stiffer, PGS is cheaper", physx=f"{_SCENE}:solverType"),
        _concept("min_iterations", "scene", "Least Iterations",
                 "Position iterations of all bodies are at least this many",
                 physx=f"{_SCENE}:minPositionIterationCount"),
        _concept("stabilization", "scene", "Stabilization", "Large piles come to rest sooner, less exactly",
                 physx=f"{_SCENE}:enableStabilization"),
        _concept("scene_bounce", "scene", "Bounce Threshold", "Slower contacts do not bounce",
                 physx=f"{_SCENE}:bounceThreshold"),
    )  # fmt: skip
    return {row.identifier: row for row in rows}


def concepts_of(*places: Place) -> list[Concept]:
    """The concepts that belong to one of these places."""
    return [concept for concept in concepts().values() if concept.place in places]


def dofs_of(type_name: str) -> tuple[str, ...]:
    """Degrees of freedom that vendors can say something about, by USD type of a joint."""
    kind = BY_TYPE_NAME.get(type_name)
    if kind is None:
        return ()
    if kind.identifier == "SPHERICAL":
        return (CONE, "rotX", "rotY", "rotZ")
    return tuple(dof for dof in kind.drives if dof != "distance" or len(kind.drives) == 1)


@cache
def _by_name() -> dict[tuple[str, str], Concept]:
    return {(twin.applied, twin.name): concept for concept in concepts().values() for twin in concept.twins}


def concept_of(applied: str, name: str) -> tuple[Concept, str] | None:
    """(concept, degree of freedom) of an attribute of an applied schema; None if it belongs to none."""
    base, instance = schema.split_applied(applied)
    found = _by_name().get((applied, name))
    if found is not None or not instance:
        return (found, "") if found is not None else None
    found = _by_name().get((f"{base}:{INSTANCE}", name.replace(f":{instance}:", f":{INSTANCE}:", 1)))
    return (found, instance) if found is not None else None


def dofs_for(applied: str, dofs: Collection[str]) -> list[str]:
    """Those of a joint's degrees of freedom that a schema is for: the limit of a ball joint is that of its cone."""
    is_limit = applied.startswith("PhysxLimitAPI")
    return [dof for dof in dofs if (dof == CONE) == is_limit] if CONE in dofs else list(dofs)


def placed(twin: Twin, dofs: Collection[str]) -> Iterator[tuple[str, str]]:
    """(applied schema, attribute) of a twin: one, or one for each degree of freedom."""
    if INSTANCE not in twin.applied:
        yield twin.applied, twin.name
        return
    for dof in dofs_for(twin.applied, dofs):
        yield twin.applied.replace(INSTANCE, dof), twin.name.replace(INSTANCE, dof)


def floor_of(applied: str, name: str) -> str:
    """The attribute of the same schema whose value must be at least that of this one; empty if there is none."""
    instance = schema.split_applied(applied)[1]
    return _STATIC.replace(INSTANCE, instance) if name == _DYNAMIC.replace(INSTANCE, instance) else ""


def replacement(applied: str, name: str, dofs: Collection[str]) -> tuple[str, str] | None:
    """(applied schema, attribute) of Newton for an attribute of another simulator; None where Newton has no word."""
    known = concept_of(applied, name)
    for twin in known[0].twins if known is not None else ():
        if twin.runtime == "Newton" and twin.name:
            return next(placed(twin, (known[1],) if known is not None and known[1] else dofs), None)
    return None
