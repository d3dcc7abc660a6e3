# SPDX-License-Identifier: GPL-3.0-or-later
"""Every class and attribute of UsdPhysics, and of the gprims that collide, declared once.

Reader, writer, units, properties, panels and validation loop over this table. A schema is a class whose fields are the
attributes, all of them keywords of its constructor; `None` is "not authored". Values are SI, radians and Z up. Vendor
schemas are added as data with `declare_schema`.
Source: the UsdPhysics schema of OpenUSD 26.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, dataclass_transform

from . import units
from .units import Dimension

Vector = tuple[float, float, float]
#: Real part first.
Quaternion = tuple[float, float, float, float]
Kind = Literal["typed", "single", "multiple"]
Space = Literal["stage", "local", "world"]

INF = math.inf
#: Stands for the instance name in the property names of multiple-apply schemas, as in the USD schema registry.
INSTANCE = "__INSTANCE_NAME__"
LINEAR_DOFS = ("transX", "transY", "transZ", "distance", "linear")
ANGULAR_DOFS = ("rotX", "rotY", "rotZ", "angular")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute or relationship of a schema.

    field: name in the class and in Blender. usd: property name, with INSTANCE where an instance name goes.
    type: Sdf value type, or "rel". fallback: what USD assumes when nothing is authored, in USD's units.
    automatic: authored values that mean "let the simulator decide" ("negative", "infinite" or "zero").
    dimension: what its unit is made of; angular_dimension where an angular degree of freedom differs.
    space: "local" values scale with the prim, "world" directions turn with the up axis, "stage" values do neither.
    body: 0 or 1 where a joint's value lives in the space of that body.
    """

    field: str
    usd: str
    type: str
    fallback: Any
    label: str
    doc: str
    dimension: Dimension = units.NONE
    angular_dimension: Dimension | None = None
    acceleration_dimensions: tuple[Dimension, Dimension] | None = None
    automatic: str = ""
    tokens: tuple[str, ...] = ()
    uniform: bool = False
    space: Space = "stage"
    body: int | None = None

    @property
    def is_relationship(self) -> bool:
        return self.type == "rel"

    def usd_name(self, instance: str = "") -> str:
        """Property name on a prim."""
        return self.usd.replace(INSTANCE, instance) if instance else self.usd

    def dimension_for(self, instance: str = "", drive_type: str | None = None) -> Dimension:
        """Dimension for a degree of freedom; the gains of an acceleration drive hold neither mass nor length."""
        angular = instance in ANGULAR_DOFS
        if drive_type == "acceleration" and self.acceleration_dimensions:
            return self.acceleration_dimensions[angular]
        if angular and self.angular_dimension is not None:
            return self.angular_dimension
        return self.dimension

    def accepts(self, value: Any) -> bool:
        """False for a value of another type, which a file can hold all the same."""
        if self.is_relationship:
            return isinstance(value, tuple)
        if self.type == "bool":
            return isinstance(value, bool)
        if self.type in ("float", "double", "int"):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.type in ("float3", "point3f", "vector3f", "quatf"):
            size = 4 if self.type == "quatf" else 3
            return isinstance(value, tuple) and len(value) == size and not any(isinstance(part, str) for part in value)
        return isinstance(value, str)

    def allows(self, value: Any) -> bool:
        """True for a value of the right type that is, where there is a choice, one of the tokens."""
        return self.accepts(value) and (not self.tokens or value in self.tokens)

    def is_automatic(self, value: Any) -> bool:
        """True where the simulator decides: not authored, or authored as the sentinel."""
        if value is None:
            return True
        numbers = value if isinstance(value, tuple) else (value,)
        if self.automatic == "negative":
            return any(number < 0 for number in numbers)
        if self.automatic == "infinite":
            return any(not math.isfinite(number) for number in numbers)
        if self.automatic == "zero":
            return all(number == 0 for number in numbers)
        return False


class _Declared(NamedTuple):
    """An attribute in the body of a schema, which gives it its name."""

    usd: str
    type: str
    fallback: Any
    label: str
    doc: str
    extra: dict[str, Any]


def attr(usd: str, type_: str, fallback: Any, doc: str, *, label: str = "", **extra: Any) -> Any:
    """A field that is a USD attribute; see `Attribute` for the keywords."""
    return _Declared(usd, type_, fallback, label, doc, extra)


def rel(usd: str, doc: str, *, label: str = "", **extra: Any) -> Any:
    """A field that is a USD relationship: a tuple of prim paths."""
    return attr(usd, "rel", None, doc, label=label, **extra)


class Schema:
    """Base of all schemas."""

    __slots__ = ()
    usd_name: ClassVar[str]
    kind: ClassVar[Kind]
    family: ClassVar[str]
    attributes: ClassVar[tuple[Attribute, ...]] = ()
    instances: ClassVar[tuple[str, ...]] = ()
    _values: ClassVar[Callable[[Schema], tuple[Any, ...]]]

    def __init__(self, *values: Any, **named: Any) -> None:
        # The first use of a class makes what takes all fields by name: the add-on is to be there in no time.
        _make_init(type(self))
        type(self).__init__(self, *values, **named)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.all_values() == other.all_values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{attribute.field}={value!r}" for attribute, value in self.authored())
        return f"{type(self).__name__}({shown})"

    def copy(self, **changes: Any) -> Self:
        """The same values, but for those that are given."""
        values = {attribute.field: value for attribute, value in self.authored()}
        return type(self)(**{**values, **changes})

    def all_values(self) -> tuple[Any, ...]:
        """The values of all attributes, None for what is not authored."""
        return type(self)._values(self)

    def authored(self) -> Iterator[tuple[Attribute, Any]]:
        """(attribute, value) of everything that is authored."""
        values = self.all_values()
        if values.count(None) == len(values):
            return
        for attribute, value in zip(self.attributes, values, strict=True):
            if value is not None:
                yield attribute, value

    def holds(self, name: str) -> bool:
        """True where a field is authored with a value that the schema allows."""
        value = getattr(self, name)
        return value is not None and _attribute(type(self), name).allows(value)

    def resolved(self, name: str) -> Any:
        """The authored value of a field, or the schema's fallback: also where the schema does not allow the value."""
        attribute, value = _attribute(type(self), name), getattr(self, name)
        return value if value is not None and attribute.allows(value) else attribute.fallback


SchemaT = TypeVar("SchemaT", bound=Schema)

#: By USD type name, in the order of declaration.
SCHEMAS: dict[str, type[Schema]] = {}


def _attribute(cls: type[Schema], name: str) -> Attribute:
    for attribute in cls.attributes:
        if attribute.field == name:
            return attribute
    raise AttributeError(f"{cls.usd_name} has no attribute '{name}'")


def attribute_of(cls: type[Schema], name: str) -> Attribute:
    """The declaration of a field."""
    return _attribute(cls, name)


def _label(usd: str) -> str:
    leaf = usd.rsplit(":", 1)[-1]
    spaced = "".join(f" {letter}" if letter.isupper() or letter.isdigit() else letter for letter in leaf)
    return spaced.strip().title()


def _make_schema(
    name: str, kind: Kind, family: str, instances: tuple[str, ...], class_name: str, bases: tuple[type, ...],
    members: dict[str, Any],
) -> type[Schema]:  # fmt: skip
    """A class of declared attributes behind those of its base, put into the table.

    What dataclasses would make, in a third of the time: no more is generated than is used.
    """
    declared = {key: value for key, value in members.items() if isinstance(value, _Declared)}
    kept = {key: value for key, value in members.items() if key not in declared and key not in _UNSLOTTED}
    made: type[Schema] = type(class_name, bases, {**kept, "__slots__": tuple(declared)})
    made.__doc__ = made.__doc__ or name
    made.usd_name, made.kind, made.family, made.instances = name, kind, family, instances
    found = [
        Attribute(key, usd, type_, fallback, label or _label(usd), doc, **extra)
        for key, (usd, type_, fallback, label, doc, extra) in declared.items()
    ]
    made.attributes = (*made.attributes, *found)
    names = [attribute.field for attribute in made.attributes]
    if len(names) > 1:
        made._values = attrgetter(*names)
    else:
        made._values = lambda value: tuple(getattr(value, name) for name in names)
    # Not that of a base, which may have been used already and knows fewer fields.
    made.__init__ = Schema.__init__  # type: ignore[method-assign]
    SCHEMAS[name] = made
    return made


#: Members of a class that one with slots does not have.
_UNSLOTTED = ("__dict__", "__weakref__")


def _make_init(cls: type[Schema]) -> None:
    """All fields as keywords, None by default."""
    names = [attribute.field for attribute in cls.attributes]
    lines = [f"    self.{name} = {name}" for name in names] or ["    pass"]
    made: dict[str, Any] = {}
    exec("\n".join([f"def __init__(self, {', '.join(f'{name}=None' for name in names)}):", *lines]), {}, made)
    cls.__init__ = made["__init__"]  # type: ignore[method-assign]


@dataclass_transform()
def schema(name: str, kind: Kind, family: str = "UsdPhysics", instances: tuple[str, ...] = ()) -> Any:
    """Class decorator: make a schema of the declaration and put it into the table."""

    def wrap(cls: type[Schema]) -> type[Schema]:
        return _make_schema(name, kind, family, instances, cls.__name__, cls.__bases__, dict(vars(cls)))

    return wrap


def declare_schema(
    name: str, kind: Kind, family: str, rows: Iterable[tuple[str, str, str, Any, dict[str, Any]]]
) -> type[Schema]:
    """Add a vendor schema as data.

    rows: (field, USD property name, Sdf type or "rel", fallback, keywords of `Attribute` with an optional "doc").
    """
    declared = {}
    for field_name, usd, type_, fallback, extra in rows:
        keywords = {"doc": "", **extra}
        declared[field_name] = attr(usd, type_, fallback, keywords.pop("doc"), **keywords)
    return _make_schema(name, kind, family, (), name.replace(":", ""), (Schema,), declared)


# --------------------------------------------------------------------------- scenes, bodies, mass


@schema("PhysicsScene", "typed")
class PhysicsScene(Schema):
    gravity_direction: Vector | None = attr(
        "physics:gravityDirection", "vector3f", (0.0, 0.0, 0.0), "Direction of gravity; zero is down the up axis",
        automatic="zero", space="world",
    )  # fmt: skip
    gravity_magnitude: float | None = attr(
        "physics:gravityMagnitude", "float", -INF, "Acceleration of gravity; negative is earth gravity",
        automatic="negative", dimension=units.LENGTH,
    )  # fmt: skip


@schema("PhysicsRigidBodyAPI", "single")
class RigidBodyAPI(Schema):
    rigid_body_enabled: bool | None = attr(
        "physics:rigidBodyEnabled",
        "bool",
        True,
        "The body moves; a disabled body is a static collider",
        label="Enabled",
    )
    kinematic_enabled: bool | None = attr(
        "physics:kinematicEnabled", "bool", False, "Animation moves the body, and it pushes others", label="Kinematic"
    )
    simulation_owner: tuple[str, ...] | None = rel(
        "physics:simulationOwner", "The physics scene that simulates this body"
    )
    starts_asleep: bool | None = attr(
        "physics:startsAsleep", "bool", False, "The body sleeps until something touches it",
        label="Starts Asleep", uniform=True,
    )  # fmt: skip
    velocity: Vector | None = attr(
        "physics:velocity", "vector3f", (0.0, 0.0, 0.0), "Initial linear velocity in the body's own space",
        label="Velocity", dimension=units.LENGTH, space="local",
    )  # fmt: skip
    angular_velocity: Vector | None = attr(
        "physics:angularVelocity", "vector3f", (0.0, 0.0, 0.0), "Initial angular velocity in the body's own space",
        dimension=units.ANGLE,
    )  # fmt: skip


@schema("PhysicsMassAPI", "single")
class MassAPI(Schema):
    mass: float | None = attr(
        "physics:mass", "float", 0.0, "Mass; zero lets density or the colliders decide",
        dimension=units.MASS, automatic="zero",
    )  # fmt: skip
    density: float | None = attr(
        "physics:density", "float", 0.0, "Density; zero lets the material decide. An explicit mass wins over it",
        dimension=units.DENSITY, automatic="zero",
    )  # fmt: skip
    center_of_mass: Vector | None = attr(
        "physics:centerOfMass", "point3f", (-INF, -INF, -INF), "Centre of mass in the object's own space",
        dimension=units.LENGTH, space="local", automatic="infinite",
    )  # fmt: skip
    diagonal_inertia: Vector | None = attr(
        "physics:diagonalInertia", "float3", (0.0, 0.0, 0.0), "Moments of inertia about the principal axes",
        label="Inertia", dimension=units.INERTIA, automatic="zero",
    )  # fmt: skip
    principal_axes: Quaternion | None = attr(
        "physics:principalAxes", "quatf", (0.0, 0.0, 0.0, 0.0), "Orientation of the axes of the inertia",
        automatic="zero",
    )  # fmt: skip


# --------------------------------------------------------------------------- colliders and materials


@schema("PhysicsCollisionAPI", "single")
class CollisionAPI(Schema):
    collision_enabled: bool | None = attr(
        "physics:collisionEnabled", "bool", True, "The collider touches others", label="Enabled"
    )
    simulation_owner: tuple[str, ...] | None = rel(
        "physics:simulationOwner", "The physics scene of a static collider; a body's own scene wins"
    )


@schema("PhysicsMeshCollisionAPI", "single")
class MeshCollisionAPI(Schema):
    approximation: str | None = attr(
        "physics:approximation", "token", "none", "What the solver makes of the mesh",
        tokens=("none", "convexDecomposition", "convexHull", "boundingSphere", "boundingCube", "meshSimplification"),
        uniform=True,
    )  # fmt: skip


@schema("PhysicsMaterialAPI", "single")
class MaterialAPI(Schema):
    static_friction: float | None = attr(
        "physics:staticFriction", "float", 0.0, "Coefficient of friction that holds a body at rest"
    )
    dynamic_friction: float | None = attr(
        "physics:dynamicFriction", "float", 0.0, "Coefficient of friction that slows a sliding body"
    )
    restitution: float | None = attr("physics:restitution", "float", 0.0, "Bounce: 0 keeps nothing, 1 everything")
    density: float | None = attr(
        "physics:density", "float", 0.0, "Density of the material; zero is automatic",
        dimension=units.DENSITY, automatic="zero",
    )  # fmt: skip


@schema("PhysicsCollisionGroup", "typed")
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
        "collection:colliders:expansionRule", "token", "expandPrims", "How included prims bring what is below them",
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


@schema("PhysicsFilteredPairsAPI", "single")
class FilteredPairsAPI(Schema):
    filtered_pairs: tuple[str, ...] | None = rel("physics:filteredPairs", "Objects that this one passes through")


# --------------------------------------------------------------------------- joints


@schema("PhysicsArticulationRootAPI", "single")
class ArticulationRootAPI(Schema):
    """Joints below this prim prefer reduced coordinates."""


@schema("PhysicsJoint", "typed")
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
    joint_enabled: bool | None = attr("physics:jointEnabled", "bool", True, "The joint holds", label="Enabled")
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
        "physics:breakForce", "float", INF, "The joint breaks above this force", dimension=units.FORCE
    )
    break_torque: float | None = attr(
        "physics:breakTorque", "float", INF, "The joint breaks above this torque", dimension=units.TORQUE
    )


_AXIS: dict[str, Any] = {"tokens": ("X", "Y", "Z"), "uniform": True}


@schema("PhysicsFixedJoint", "typed")
class FixedJoint(Joint):
    """No relative motion."""


@schema("PhysicsRevoluteJoint", "typed")
class RevoluteJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of rotation in the joint frame", **_AXIS)
    lower_limit: float | None = attr("physics:lowerLimit", "float", -INF, "Smallest angle", dimension=units.ANGLE)
    upper_limit: float | None = attr("physics:upperLimit", "float", INF, "Largest angle", dimension=units.ANGLE)


@schema("PhysicsPrismaticJoint", "typed")
class PrismaticJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of the slide in the joint frame", **_AXIS)
    lower_limit: float | None = attr(
        "physics:lowerLimit", "float", -INF, "Smallest distance along the axis", dimension=units.LENGTH
    )
    upper_limit: float | None = attr(
        "physics:upperLimit", "float", INF, "Largest distance along the axis", dimension=units.LENGTH
    )


@schema("PhysicsSphericalJoint", "typed")
class SphericalJoint(Joint):
    axis: str | None = attr("physics:axis", "token", "X", "Axis of the cone in the joint frame", **_AXIS)
    cone_angle0_limit: float | None = attr(
        "physics:coneAngle0Limit", "float", -1.0, "Half angle of the cone towards the next axis; negative is free",
        label="Cone Angle 0 Limit", dimension=units.ANGLE, automatic="negative",
    )  # fmt: skip
    cone_angle1_limit: float | None = attr(
        "physics:coneAngle1Limit", "float", -1.0, "Half angle of the cone towards the third axis; negative is free",
        label="Cone Angle 1 Limit", dimension=units.ANGLE, automatic="negative",
    )  # fmt: skip


@schema("PhysicsDistanceJoint", "typed")
class DistanceJoint(Joint):
    min_distance: float | None = attr(
        "physics:minDistance", "float", -1.0, "Smallest distance of the anchors; negative is no limit",
        label="Minimum Distance", dimension=units.LENGTH, automatic="negative",
    )  # fmt: skip
    max_distance: float | None = attr(
        "physics:maxDistance", "float", -1.0, "Largest distance of the anchors; negative is no limit",
        label="Maximum Distance", dimension=units.LENGTH, automatic="negative",
    )  # fmt: skip


@schema("PhysicsLimitAPI", "multiple", instances=("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance"))
class LimitAPI(Schema):
    low: float | None = attr(
        f"limit:{INSTANCE}:physics:low", "float", -INF, "Lower limit; above the upper one locks the degree of freedom",
        label="Low", dimension=units.LENGTH, angular_dimension=units.ANGLE,
    )  # fmt: skip
    high: float | None = attr(
        f"limit:{INSTANCE}:physics:high", "float", INF, "Upper limit; below the lower one locks the degree of freedom",
        label="High", dimension=units.LENGTH, angular_dimension=units.ANGLE,
    )  # fmt: skip

    @property
    def is_locked(self) -> bool:
        return bool(self.resolved("low") > self.resolved("high"))


@schema(
    "PhysicsDriveAPI", "multiple",
    instances=("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance", "linear", "angular"),
)  # fmt: skip
class DriveAPI(Schema):
    type: str | None = attr(
        f"drive:{INSTANCE}:physics:type", "token", "force", "What the gains produce: a force, or an acceleration",
        tokens=("force", "acceleration"), uniform=True,
    )  # fmt: skip
    max_force: float | None = attr(
        f"drive:{INSTANCE}:physics:maxForce", "float", INF, "Largest force or torque of the drive",
        dimension=units.FORCE, angular_dimension=units.TORQUE,
    )  # fmt: skip
    target_position: float | None = attr(
        f"drive:{INSTANCE}:physics:targetPosition", "float", 0.0, "Position or angle that the drive aims at",
        dimension=units.LENGTH, angular_dimension=units.ANGLE,
    )  # fmt: skip
    target_velocity: float | None = attr(
        f"drive:{INSTANCE}:physics:targetVelocity", "float", 0.0, "Velocity that the drive aims at",
        dimension=units.LENGTH, angular_dimension=units.ANGLE,
    )  # fmt: skip
    damping: float | None = attr(
        f"drive:{INSTANCE}:physics:damping", "float", 0.0, "Force per unit of velocity error",
        dimension=units.MASS, angular_dimension=units.ANGULAR_GAIN,
        acceleration_dimensions=(units.NONE, units.ANGULAR_RATE_GAIN),
    )  # fmt: skip
    stiffness: float | None = attr(
        f"drive:{INSTANCE}:physics:stiffness", "float", 0.0, "Force per unit of position error",
        dimension=units.MASS, angular_dimension=units.ANGULAR_GAIN,
        acceleration_dimensions=(units.NONE, units.ANGULAR_RATE_GAIN),
    )  # fmt: skip


# --------------------------------------------------------------------------- gprims that collide

_LOCAL_LENGTH: dict[str, Any] = {"dimension": units.LENGTH, "space": "local"}
_GPRIM_AXIS: dict[str, Any] = {"tokens": ("X", "Y", "Z"), "uniform": True}


class Gprim(Schema):
    """A primitive whose parameters are its exact shape."""

    __slots__ = ()
    usd_name = "Gprim"


@schema("Cube", "typed", "UsdGeom")
class Cube(Gprim):
    size: float | None = attr("size", "double", 2.0, "Edge length", **_LOCAL_LENGTH)


@schema("Sphere", "typed", "UsdGeom")
class Sphere(Gprim):
    radius: float | None = attr("radius", "double", 1.0, "Radius", **_LOCAL_LENGTH)


@schema("Capsule", "typed", "UsdGeom")
class Capsule(Gprim):
    height: float | None = attr("height", "double", 1.0, "Length of the cylinder between the caps", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 0.5, "Radius", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis of the spine", **_GPRIM_AXIS)


@schema("Cylinder", "typed", "UsdGeom")
class Cylinder(Gprim):
    height: float | None = attr("height", "double", 2.0, "Length along the axis", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 1.0, "Radius", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis of the spine", **_GPRIM_AXIS)


@schema("Cone", "typed", "UsdGeom")
class Cone(Gprim):
    height: float | None = attr("height", "double", 2.0, "Length along the axis", **_LOCAL_LENGTH)
    radius: float | None = attr("radius", "double", 1.0, "Radius of the base", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Axis from base to tip", **_GPRIM_AXIS)


@schema("Plane", "typed", "UsdGeom")
class Plane(Gprim):
    width: float | None = attr("width", "double", 2.0, "Drawn width; the collider has no edge", **_LOCAL_LENGTH)
    length: float | None = attr("length", "double", 2.0, "Drawn length; the collider has no edge", **_LOCAL_LENGTH)
    axis: str | None = attr("axis", "token", "Z", "Normal of the plane", **_GPRIM_AXIS)


def schemas_of(family: str) -> dict[str, type[Schema]]:
    """The part of the table that one library declares, by USD type name."""
    return {name: cls for name, cls in SCHEMAS.items() if cls.family == family}


def split_applied(name: str) -> tuple[str, str]:
    """("PhysicsDriveAPI", "rotX") of "PhysicsDriveAPI:rotX"; the instance is empty for single-apply schemas."""
    base, _, instance = name.partition(":")
    return base, instance
