# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics of a stage or scene as a value: prims, identified by path, that carry schemas.

SI units, radians, Z up. Lengths in the local space of a prim are metres before the prim's own scale. A model is
built when it is needed and never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import paths, schema
from .air import OFF, Air
from .animation import Key, Samples
from .frames import Matrix
from .misnamed import Misnamed
from .schema import Attribute, Schema, SchemaT
from .schemas import usd_geom, usd_physics
from .units import SI, StageUnits

#: Key of `Prim.extras` in the customData of a USD prim.
EXTRAS_KEY = "gltf"
#: Attribute that MuJoCo and Newton read of a body: the share of gravity that does not pull it. In `extras`, a USD file
#: has it, so that the text that an object carries along writes it.
GRAVCOMP = "mjc:gravcomp"
#: Names of a base schema and of all schemas that derive from it, by base class.
_DERIVED: dict[type[Schema], frozenset[str]] = {
    base: frozenset(name for name, cls in schema.SCHEMAS.items() if issubclass(cls, base))
    for base in (usd_physics.Joint, usd_geom.Gprim)
}
#: Types of prims that can be a material: the schema of one has no effect on another prim.
MATERIAL_TYPES = ("Material", "")
_INSTANCER = "PointInstancer"


@dataclass(slots=True)
class Mesh:
    """points: (n, 3) in the prim's local space, metres. triangles: (m, 3) indices.

    derived: cache for results computed from this mesh, shared by all prims that use it. Each user chooses its own keys.
    """

    points: NDArray[np.float64]
    triangles: NDArray[np.int64]
    derived: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def stretched(self, stretch: Matrix) -> Mesh:
        """This mesh under a linear map (3, 3); what is derived from that is kept here."""
        kept = self.derived.setdefault((Mesh, stretch.tobytes()), {})
        with np.errstate(invalid="ignore"):  # a point at infinity is none of a mesh, which is said elsewhere
            return Mesh(np.asarray(self.points, float) @ stretch.T, self.triangles, kept)


@dataclass(slots=True)
class SpherePoints:
    """A UsdGeomPoints collider: centers (n, 3) and radii (n,), metres, local."""

    centers: NDArray[np.float64]
    radii: NDArray[np.float64]


@dataclass(slots=True)
class Prim:
    """One prim that takes part in the physics.

    world: prim space to world, (4, 4), metres. mesh: callable that loads the geometry of a Mesh or Points collider.
    materials: paths of the bound physics materials: first those of GeomSubsets, last that of the whole prim.
    physics_binding: material bound for the "physics" purpose only. local: pose in the parent's space (4, 4), metres,
    of a prim that the writer creates; None for prims that exist already or are not Xformable. is_sampled: the file has
    its place, or that of what is above it, in time samples only. sheared_local: matrix
    (4, 4) of an existing prim relative to its parent, in scene units, if it is sheared; else None. label: name of the
    Blender object, for messages. extras: facts of a glTF file that no schema holds, by name; see `gltf.read`.
    `usd_type`, `taper`: see `usd_geom.TAPERED`.
    """

    path: str
    type_name: str = "Xform"
    world: Matrix = field(default_factory=lambda: np.eye(4))
    schemas: dict[str, Schema] = field(default_factory=dict)
    mesh: Callable[[], Mesh | SpherePoints | None] | None = None
    materials: tuple[str, ...] = ()
    physics_binding: str = ""
    purpose: str = "default"
    local: Matrix | None = None
    sheared_local: Matrix | None = None
    is_instance_proxy: bool = False
    is_xformable: bool = True
    resets_xform_stack: bool = False
    is_animated: bool = False
    is_sampled: bool = False
    label: str = ""
    extras: dict[str, Any] = field(default_factory=dict)

    def get(self, cls: type[SchemaT]) -> SchemaT | None:
        """The schema of this class, or of a class derived from it, on this prim."""
        schema = self.schemas.get(cls.usd_name)
        if schema is None and (derived := _DERIVED.get(cls)) and not derived.isdisjoint(self.schemas):
            return next(value for name, value in self.schemas.items() if name in derived)  # type: ignore[return-value]
        return schema  # type: ignore[return-value]

    def instances(self, cls: type[SchemaT]) -> Iterator[tuple[str, SchemaT]]:
        """(instance name, schema) of a multiple-apply schema on this prim."""
        prefix = f"{cls.usd_name}:"
        for name, value in self.schemas.items():
            if name.startswith(prefix):
                yield name[len(prefix) :], value  # type: ignore[misc]

    def add(self, value: Schema, instance: str = "") -> None:
        """Apply a schema; an earlier one of the same name is replaced."""
        self.schemas[f"{value.usd_name}:{instance}" if instance else value.usd_name] = value

    @property
    def name(self) -> str:
        return paths.name_of(self.path)

    @property
    def display(self) -> str:
        """Text for messages: object name and path, or the path alone."""
        return f"'{self.label}' ({self.path})" if self.label else self.path


class Holder(NamedTuple):
    """Where a value of a model is: on a prim, in a schema, as an attribute of it."""

    prim: Prim
    schema: Schema
    attribute: Attribute


@dataclass(slots=True)
class PhysicsModel:
    """All prims that take part in the physics, by path, in the order of the stage.

    units: of the file or scene that the model was read from; the values of the model are always SI.
    angular_precision: angle, in radians, below which the axes of a world matrix are rounding noise; 0 if exact.
    """

    units: StageUnits = SI
    prims: dict[str, Prim] = field(default_factory=dict)
    #: Paths of prims without physics, to tell targets without physics from missing ones. None: unknown.
    other_paths: frozenset[str] | None = None
    #: USD types of the prims in `other_paths`.
    other_types: dict[str, str] = field(default_factory=dict)
    #: Paths of prims whose colliders a scene has and cannot say, as they have no volume.
    unread: set[str] = field(default_factory=set)
    #: Index of every prim in stage order.
    order: dict[str, int] = field(default_factory=dict)
    source: str = ""
    angular_precision: float = 0.0
    #: Frames or time codes in a second.
    time_codes: float = 24.0
    #: What slows down bodies in a preview that author no damping: a choice of the user, which no file holds.
    air: Air = OFF
    #: Names of a file that no schema declares, by path of their prim.
    misnamed: dict[str, tuple[Misnamed, ...]] = field(default_factory=dict)
    #: Sizes of gprims that are negative, or None where they are blocked, as the file has them: (USD name, value).
    odd_sizes: dict[str, tuple[tuple[str, float | None], ...]] = field(default_factory=dict)
    #: The values that change over time.
    animated: dict[Key, Samples] = field(default_factory=dict)
    #: Returns the world matrix of any prim of the stage by path, None if it does not exist. Set by `usd.read` only.
    locate: Callable[[str], Matrix | None] | None = None
    #: Returns bounds (2, 3), m, of what is seen, as `SeenBounds.found`. Set where shapes can be looked at.
    seen: Callable[[], Mapping[str, Matrix]] | None = None
    #: Returns the deformables (`deformables.Deformable`) and their pins. Set by `usd.read` only, where there are some.
    deformables: Callable[[], tuple[list[Any], list[Any]]] | None = None

    def add(self, prim: Prim) -> Prim:
        self.prims[prim.path] = prim
        return prim

    def having(self, cls: type[Schema]) -> dict[str, Prim]:
        """The prims with a schema of this class, by path."""
        derived = _DERIVED.get(cls)
        if not derived:
            name = cls.usd_name
            return {path: prim for path, prim in self.prims.items() if name in prim.schemas}
        names = {cls.usd_name, *derived}
        return {path: prim for path, prim in self.prims.items() if not names.isdisjoint(prim.schemas)}

    @property
    def scenes(self) -> dict[str, Prim]:
        return self.having(usd_physics.PhysicsScene)

    @property
    def bodies(self) -> dict[str, Prim]:
        return self.having(usd_physics.RigidBodyAPI)

    @property
    def colliders(self) -> dict[str, Prim]:
        return self.having(usd_physics.CollisionAPI)

    @property
    def joints(self) -> dict[str, Prim]:
        return self.having(usd_physics.Joint)

    @property
    def groups(self) -> dict[str, Prim]:
        return self.having(usd_physics.CollisionGroup)

    @property
    def materials(self) -> dict[str, Prim]:
        return self.having(usd_physics.MaterialAPI)

    @property
    def articulations(self) -> dict[str, Prim]:
        return self.having(usd_physics.ArticulationRootAPI)

    def filtered_pairs(self) -> Iterator[tuple[str, str]]:
        """(prim, target) of each filtered pair, as it is said."""
        for path, prim in self.having(usd_physics.FilteredPairsAPI).items():
            said = prim.get(usd_physics.FilteredPairsAPI)
            yield from ((path, target) for target in (said and said.filtered_pairs) or ())

    def ancestors(self, path: str) -> Iterator[Prim]:
        """The prims of the model above a path, nearest first."""
        for above in paths.ancestors_of(path):
            prim = self.prims.get(above)
            if prim is not None:
                yield prim

    @property
    def resets(self) -> set[str]:
        """Paths of the prims that reset the transform stack: they do not move with what is above."""
        return {path for path, prim in self.prims.items() if prim.resets_xform_stack}

    def in_instancers(self) -> dict[str, str]:
        """The nearest point instancer at or above each prim that is in one, by path: UsdPhysics leaves these out."""
        instancers = {path for path, type_name in self.other_types.items() if type_name == _INSTANCER}
        instancers |= {path for path, prim in self.prims.items() if prim.type_name == _INSTANCER}
        if not instancers:
            return {}
        return {path: above for path in self.prims if (above := paths.nearest(path, instancers))}

    def is_simulated(self, path: str) -> bool:
        """True if a simulation moves a prim: it is, or is below, a body that is enabled and not kinematic."""
        body = self.body_of(path)
        values = body.get(usd_physics.RigidBodyAPI) if body is not None else None
        return values is not None and bool(
            values.resolved("rigid_body_enabled") and not values.resolved("kinematic_enabled")
        )

    def body_of(self, path: str) -> Prim | None:
        """The nearest rigid body at or above a path; the search ends at a prim that resets the transform stack."""
        name = usd_physics.RigidBodyAPI.usd_name
        while path:
            prim = self.prims.get(path)
            if prim is not None:
                if name in prim.schemas:
                    return prim
                if prim.resets_xform_stack:
                    return None
            path = paths.parent_of(path)
        return None

    def colliders_of(self, body_path: str) -> list[Prim]:
        """The colliders that move with a body, without those of bodies nested below it."""
        return [
            prim
            for path, prim in self.colliders.items()
            if paths.is_at_or_below(path, body_path)
            and (owner := self.body_of(path)) is not None
            and owner.path == body_path
        ]

    def holder(self, key: Key) -> Holder | None:
        """Where the value of a key is; None where the model has no such prim, or the prim no such schema."""
        prim = self.prims.get(key.path)
        value = None if prim is None else prim.schemas.get(key.schema)
        if prim is None or value is None:
            return None
        return Holder(prim, value, schema.attribute_of(type(value), key.field))

    def copied(self) -> PhysicsModel:
        """A copy whose prims may be changed. It shares schemas and matrices, which are replaced and never changed."""
        prims = {path: replace(prim, schemas=prim.schemas.copy()) for path, prim in self.prims.items()}
        return replace(self, prims=prims)

    def put(self, values: Mapping[Key, Any]) -> list[tuple[Prim, str, set[str]]]:
        """Replace animated values. Returns (prim, name of the schema, fields) of those that have changed."""
        changes: dict[tuple[str, str], dict[str, Any]] = {}
        for key, value in values.items():
            held = self.holder(key)
            if held is not None and getattr(held.schema, key.field) != value:
                changes.setdefault((key.path, key.schema), {})[key.field] = value
        made = []
        for (path, name), fields in changes.items():
            prim = self.prims[path]
            # Replaced, never changed in place: others may share it.
            prim.schemas[name] = prim.schemas[name].copy(**fields)
            made.append((prim, name, set(fields)))
        return made

    def renamed(self, moves: dict[str, str]) -> PhysicsModel:
        """The model with prims at new paths (old -> new); relationship targets follow, and so do prims below.

        The prims are changed in place and shared with the result.
        """

        def moved(path: str) -> str:
            return paths.followed(path, moves)

        animated = {key._replace(path=moved(key.path)): samples for key, samples in self.animated.items()}
        result = replace(self, prims={}, animated=animated)
        for original in self.prims.values():
            prim = copy(original)
            prim.path = moved(prim.path)
            prim.materials = tuple(moved(path) for path in prim.materials)
            prim.physics_binding = moved(prim.physics_binding)
            prim.schemas = {name: _with_moved_targets(value, moved) for name, value in prim.schemas.items()}
            existing = result.prims.get(prim.path)
            if existing is None:
                result.add(prim)
            else:
                # Object and geometry were exported as one prim: merge the two.
                existing.schemas.update(prim.schemas)
                existing.mesh, existing.materials = prim.mesh or existing.mesh, prim.materials or existing.materials
                existing.physics_binding = prim.physics_binding or existing.physics_binding
        return result


def _with_moved_targets(value: Schema, moved: Callable[[str], str]) -> Schema:
    """The schema with its relationships at other paths; itself where none of them changes."""
    changes = {}
    for attribute, targets in value.authored():
        if attribute.is_relationship:
            targets_now = tuple(moved(path) for path in targets)
            if targets_now != targets:
                changes[attribute.field] = targets_now
    return value.copy(**changes) if changes else value
