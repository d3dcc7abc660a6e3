# SPDX-License-Identifier: GPL-3.0-or-later
"""Document with physics -> PhysicsModel, with Z up.

A node with physics is an Xform; its collider, trigger or joint is a prim below it, unless a joint is all that it has.
What no schema holds is kept in `Prim.extras`:
  motion: values of a body (`gravityFactor`; `mass` 0 and moments 0 where no axes can be locked for them)
  shape: {type: values} of a tapered or a finite shape; settings: limits and drives of a joint
  name: of a node, if no prim can be called so; shares_node: of a joint on the node of something else
  sheared: of a joint whose nodes are sheared by a scale above them
  unwritten: kinds of combine modes that a material does not say
  trigger_nodes: paths of the parts of a compound trigger; gravity: a volume with gravity of its own
  vehicle: see `vehicles`
Each is written back while the values of the schemas are still those that it gave.
"""

from __future__ import annotations

import marshal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import frames, paths
from ..core.coasting import set_kept
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim
from ..core.schema import Quaternion, Schema, Vector
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..core.words import and_more, counted
from . import axes, filters, joints, names, vehicles, vendor
from .document import Document, is_number, is_numbers
from .names import KHR, OMI, Family

_TYPES = {"box": "Cube", "sphere": "Sphere", "capsule": "Capsule", "cylinder": "Cylinder", "plane": "Plane"}
_ALL = frozenset(names.ALL)
_DIGITS = frozenset("0123456789")
MATERIALS, GROUPS = "/Materials", "/CollisionGroups"


@dataclass(slots=True)
class GltfReading:
    """The physics of a document.

    paths: of the nodes of the scene, by index. own_mesh: colliders that are the mesh of their own node. sources: nodes
    that only stand for the mesh of a collider. copies: nodes that say the same of physics as another one, with that;
    they have neither a path nor prims. issues: what was not understood.
    """

    document: Document
    model: PhysicsModel = field(default_factory=PhysicsModel)
    paths: dict[int, str] = field(default_factory=dict)
    own_mesh: set[str] = field(default_factory=set)
    sources: set[int] = field(default_factory=set)
    copies: dict[int, int] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    family: Family | None = None


def family_of(document: Document) -> Family | None:
    """The family of extensions that the physics of a document is read from; None if it has none."""
    used = document.json.get("extensionsUsed")
    declared = set(filter(_is_text, used)) if isinstance(used, list) else set()
    declared |= document.extensions.keys()
    if names.KHR_BODY in declared:
        return KHR
    for extensions in document.column("extensions"):
        declared |= (extensions or {}).keys()
    if names.KHR_BODY in declared:
        return KHR
    if names.DRAFT_BODY in declared:
        return names.KHR_DRAFT
    return OMI if declared & {*OMI.extensions, names.OLD_COLLIDER, names.GRAVITY} else None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def read(document: Document, *, finds_copies: bool = False) -> GltfReading:
    """Read the physics of a document. Raises InputError with one sentence for one that is damaged.

    finds_copies: leave nodes out of the model whose physics is that of another one; see `GltfReading.copies`.
    """
    reading = GltfReading(document, PhysicsModel(source=str(document.path)))
    try:
        _Reader(reading).read(finds_copies=finds_copies)
    except (TypeError, KeyError, AttributeError, IndexError, OverflowError, ValueError, np.linalg.LinAlgError) as error:
        raise InputError(
            f"The physics of '{document.path.name}' is damaged: a value is not of the type that glTF asks for."
        ) from error
    return reading


class _Reader:
    def __init__(self, reading: GltfReading) -> None:
        self.reading, self.document, self.model = reading, reading.document, reading.model
        reading.family = family_of(self.document)
        self.family = reading.family or OMI
        self.live = self.document.live()
        self.taken: set[str] = set()
        self.bodies: set[int] = set()
        #: Nodes with a collider.
        self.solid: set[int] = set()
        #: Nodes whose own mesh is a collider.
        self.shown: set[int] = set()
        self.materials: dict[int, str] = {}
        self.members: dict[int, list[str]] = {}
        #: Kinds of combine modes that materials do not say, by path.
        self.unwritten: dict[str, list[str]] = {}
        self.pools: dict[tuple[str, str], list[dict[str, Any]]] = {}
        #: Schemas of bodies, and whole colliders, by what the file says of them: equal ones are read once.
        self.body_kinds: dict[str, dict[str, Schema]] = {}
        self.collider_kinds: dict[str, Prim] = {}

    def read(self, *, finds_copies: bool) -> None:
        copies = self.reading.copies
        # Most nodes of a scene may have nothing to do with physics.
        extensions = self.document.column("extensions")
        physical = [index for index in self.live if extensions[index] and not _ALL.isdisjoint(extensions[index])]
        kept = [
            index for index in self.live
            if extensions[index] and not vehicles.KINDS.keys().isdisjoint(extensions[index])
        ]  # fmt: skip
        if finds_copies and self.reading.family is not None:
            self._find_copies([index for index in physical if index not in kept])
        self._name_nodes([index for index in self.live if index not in copies])
        if self.reading.family is None:
            self._read_vehicles(kept)
            return
        self._report_other_scenes()
        self._report_sheared()
        self._read_gravity()
        self._read_nodes([index for index in physical if index not in copies])
        if copies:
            special = self._special_nodes()
            alone = {first for first in set(copies.values()) if self.reading.paths[first] in special}
            late = [index for index, first in copies.items() if first in alone]
            for index in late:
                del copies[index]
            self._name_nodes(late)
            self._read_nodes(late)
        for index in physical:
            if index not in copies:
                self._read_joint(index)
        self._report_uneven(physical)
        self._report_unwritten()
        self._give_inertia(physical)
        self._read_vehicles(kept)
        self._read_groups()
        self.model.order = {path: number for number, path in enumerate(self.model.prims)}

    def _read_nodes(self, physical: list[int]) -> None:
        for index in physical:
            motion = self._motion(index)
            if motion is not None:
                self.bodies.add(index)
                self._read_body(index, motion)
        for index in physical:
            self._read_colliders(index)
            self._read_parts(index)

    # ------------------------------------------------------------------ copies

    def _find_copies(self, physical: list[int]) -> None:
        """Find nodes without children that say the same as one before, and nothing of a third one."""
        meshes, extensions, below, called = map(self.document.column, ("mesh", "extensions", "children", "name"))
        kinds: defaultdict[tuple[Any, bytes], list[int]] = defaultdict(list)
        runs = self.document.runs()
        last = None
        same: list[int] = []
        for index in physical:
            # A collider may be the mesh of its node. Mostly, neighbours are equal.
            what = meshes[index], runs[index]
            if what != last:
                # Without references, equal values have equal bytes.
                last, same = what, kinds[what[0], marshal.dumps(extensions[index], 2)]
            same.append(index)
        named = {one for same in kinds.values() for one in self._named_nodes(same[0])}
        for same in kinds.values():
            if len(same) > 1 and not self._depends_on_others(same[0]):
                free = [
                    index for index in same
                    if index not in named and not below[index] and str(called[index])[:1] not in _DIGITS
                ]  # fmt: skip
                self.reading.copies.update(dict.fromkeys(free[1:], *free[:1]))

    def _named_nodes(self, index: int) -> Iterator[int]:
        """Nodes that the joint or the trigger of a node names."""
        extensions = self.document.nodes[index]["extensions"]
        body, joint = extensions.get(self.family.body), extensions.get(self.family.joint)
        for holder in (joint, *((body.get("joint"), body.get("trigger")) if isinstance(body, dict) else ())):
            if isinstance(holder, dict):
                values = [holder.get(key) for key in ("connectedNode", "nodeA", "nodeB")]
                parts = holder.get("nodes")
                yield from (one for one in (*values, *(parts if isinstance(parts, list) else ())) if type(one) is int)

    def _depends_on_others(self, index: int) -> bool:
        """True for the physics of a node that others are a part of, or whose values depend on its place."""
        body = self.document.node_extension(index, self.family.body)
        if self.document.node_extension(index, names.GRAVITY) or "joint" in body:
            return True
        if not self.family.is_khr and any(
            self.document.node_extension(index, name) for name in (self.family.joint, self.family.shape)
        ):
            return True
        parts = [body.get(key) for key in ("motion", "collider", "trigger")]
        known = {"collisionFilter", "nodes", "angularVelocity"}
        if not self.family.is_khr:
            known.add("linearVelocity")
        return any(isinstance(part, dict) and known & part.keys() for part in (body, *parts))

    def _special_nodes(self) -> set[str]:
        """Paths of nodes that something was said about, or whose prims are more than values of schemas."""
        special = {issue.path for issue in self.reading.issues}
        for path, prim in self.model.prims.items():
            if prim.extras or (prim.type_name == "Mesh" and path not in self.reading.own_mesh):
                special |= {path, paths.parent_of(path)}
        return special | {paths.parent_of(path) for path in special}

    def _report_other_scenes(self) -> None:
        others = len(self.document.json.get("scenes", [])) - 1
        if others > 0:
            self._issue(
                "GltfOtherScenes", f"The file has {counted(others, 'more scene')}, whose physics is not read.",
                "Make the scene that you need the default one of the file.",
            )  # fmt: skip

    def _report_sheared(self) -> None:
        """Name the nodes whose matrix is no place, rotation and scale, as glTF wants it."""
        matrices = self.document.column("matrix")
        own = [index for index in self.live if matrices[index]]
        if not own:
            return
        linear = np.array([matrices[index] for index in own], float).reshape(-1, 4, 4)[:, :3, :3]
        lengths = np.linalg.norm(linear, axis=2, keepdims=True)
        units = linear / np.where(lengths == 0.0, 1.0, lengths)
        cosines = np.abs(units @ units.transpose(0, 2, 1) * (1.0 - np.eye(3))).max(axis=(1, 2), initial=0.0)
        sheared = [f"'{self.document.node_name(own[number])}'" for number in np.flatnonzero(cosines > 1e-4)]
        if sheared:
            self._issue(
                "GltfSheared", f"The matrices of these nodes are sheared, which glTF does not allow, and Blender takes "
                f"the nearest rotation and scale: {and_more(sheared[:20], len(sheared))}.",
                "Apply the scale in the program that wrote the file.",
            )  # fmt: skip

    def _report_uneven(self, physical: list[int]) -> None:
        """Name the bodies and primitives that an uneven scale above them shears."""
        scales = self.document.column("scale")
        uneven = {
            one for one in self.live
            if (scale := scales[one]) and not scale[0] == scale[1] == scale[2] and not _is_even(*map(abs, scale))
        }  # fmt: skip
        if not uneven:
            return
        shaped = {paths.parent_of(path) for path, prim in self.model.prims.items() if prim.get(usd_geom.Gprim)}
        shaped |= self.model.bodies.keys()
        sheared = [
            f"'{self.document.node_name(index)}'" for index in physical
            if self.reading.paths[self.reading.copies.get(index, index)] in shaped
            and not uneven.isdisjoint(self.document.ancestors(self.document.parents[index]))
            and frames.is_sheared(self.document.world(index))
        ]  # fmt: skip
        if sheared:
            self._issue(
                "GltfSheared", "An uneven scale above them shears these nodes, which no simulator can do: their bodies "
                f"and primitives have the nearest rotation and sizes: {and_more(sheared[:20], len(sheared))}.",
                "Apply the scale in the program that wrote the file.",
            )  # fmt: skip

    def _pool(self, extension: str, name: str) -> list[dict[str, Any]]:
        key = (extension, name)
        if key not in self.pools:
            self.pools[key] = self.document.pool(extension, name)
        return self.pools[key]

    # ------------------------------------------------------------------ nodes

    def _name_nodes(self, nodes: Iterable[int]) -> None:
        for index in nodes:
            parent = self.document.parents[index]
            above = self.reading.paths.get(parent, "") if parent is not None else ""
            leaf = names.leaf(self.document.node_name(index)) or f"node_{index}"
            path = paths.free(f"{above}/{leaf}", self.taken.__contains__)
            self.taken.add(path)
            self.reading.paths[index] = path

    def _made(self, path: str) -> str:
        path = paths.free(path, self.taken.__contains__)
        self.taken.add(path)
        return path

    def _node_prim(self, index: int) -> Prim:
        path = self.reading.paths[index]
        prim = self.model.prims.get(path)
        if prim is None:
            prim = self.model.add(Prim(path, "Xform", self.document.world(index)))
            prim.label = self.document.node_name(index)
            if prim.label[:1].isdigit():
                prim.extras["name"] = prim.label
        return prim

    def _issue(self, code: str, message: str, fix: str, severity: Any = "warning", path: str = "") -> None:
        self.reading.issues.append(Issue(code, severity, path, "", message, fix))

    def _body(self, index: int) -> int | None:
        """The nearest body at or above a node."""
        return next((one for one in self.document.ancestors(index) if one in self.bodies), None)

    def _end(self, index: int) -> int | None:
        """The node that a joint ties: the body at or above a node of it, else the nearest static collider."""
        body = self._body(index)
        if body is not None:
            return body
        return next((one for one in self.document.ancestors(index) if one in self.solid), None)

    # ------------------------------------------------------------------ bodies

    def _motion(self, index: int) -> dict[str, Any] | None:
        extension = self.document.node_extension(index, self.family.body)
        motion = extension.get("motion")
        if isinstance(motion, dict):
            return motion
        # The first form of OMI_physics_body has the values on the node itself.
        return extension if not self.family.is_khr and _is_text(extension.get("type")) else None

    def _read_body(self, index: int, motion: dict[str, Any]) -> None:
        prim = self._node_prim(index)
        # The first form of OMI_physics_body has the values on the node itself.
        is_old = motion is self.document.node_extension(index, self.family.body)
        # Velocities of OMI depend on the place, and what is said of turning on its mirroring.
        is_placed = "angularVelocity" in motion or (not self.family.is_khr and "linearVelocity" in motion)
        key = "" if is_old or is_placed else repr(motion)
        if key in self.body_kinds:
            prim.schemas = dict(self.body_kinds[key])
            return
        before = len(self.reading.issues)
        if self.family.is_khr:
            kind = "kinematic" if motion.get("isKinematic") else "dynamic"
        else:
            kind = str(motion.get("type", "dynamic"))
            kind = names.OLD_MOTIONS.get(kind, kind)
            if kind not in ("dynamic", "kinematic", "static"):
                self._issue(
                    "GltfMotionUnknown", f"'{prim.path}' is a body of the type '{kind}', which is not known, so it is "
                    "dynamic.", "Choose dynamic, kinematic or static in the program that wrote the file.",
                    path=prim.path,
                )  # fmt: skip
        body = usd_physics.RigidBodyAPI()
        if kind == "kinematic":
            body.kinematic_enabled = True
        elif kind == "static":
            body.rigid_body_enabled = False
        self._read_velocities(prim, body, motion)
        if kind == "kinematic" and self.family.is_khr and (body.velocity or body.angular_velocity):
            # Constant, as that of a body with an infinite mass.
            set_kept(prim)
        prim.add(body)
        self._read_mass(prim, motion, kind)
        factor = motion.get("gravityFactor")
        if is_number(factor) and factor != 1.0:
            if factor == 0.0:
                vendor.apply(prim, vendor.BODY, disableGravity=True)
            prim.extras.setdefault("motion", {})["gravityFactor"] = factor
        for what, lock in self._kept_motion(prim):
            self._issue(
                "GltfMotionKept", f"'{prim.path}' has {what}, which UsdPhysics does not have: {lock} locks its axes."
                if lock else f"'{prim.path}' has {what}, which UsdPhysics does not have: it is kept for glTF.",
                "Set a value that USD supports if this matters.", "info", prim.path,
            )  # fmt: skip
        if key and not prim.extras and len(self.reading.issues) == before:
            self.body_kinds[key] = dict(prim.schemas)
        for name, trigger in (("collider", False), ("trigger", True)) if is_old else ():
            if is_number(motion.get(name)):
                self._issue(
                    "GltfOldForm", f"'{prim.path}' has a {'trigger' if trigger else 'collider'} in a form that was "
                    "never published, so it is left out.", "Save the file again with a newer program.", path=prim.path,
                )  # fmt: skip

    def _kept_motion(self, prim: Prim) -> Iterator[tuple[str, str]]:
        """The values of a body that no schema of UsdPhysics holds, and the attribute that says nearly the same."""
        kept = prim.extras.get("motion", {})
        if kept.get("gravityFactor", 0.0) != 0.0:
            yield "a gravity factor", ""
        for what, leaf, key in (
            ("an infinite mass", "lockedPosAxis", "mass"),
            ("an infinite inertia", "lockedRotAxis", "inertiaDiagonal"),
        ):
            if vendor.value(prim, vendor.BODY, leaf):
                yield what, f"physxRigidBody:{leaf}"
            elif key in kept:
                yield what, ""

    def _read_velocities(self, prim: Prim, body: usd_physics.RigidBodyAPI, motion: dict[str, Any]) -> None:
        linear, angular = motion.get("linearVelocity"), motion.get("angularVelocity")
        if linear is not None and is_numbers(linear, 3) and any(linear):
            velocity = np.array(axes.vector_in(linear))
            if not self.family.is_khr:
                # In the world, as Godot has it; the model's is in the space of the body.
                velocity = np.linalg.solve(prim.world[:3, :3], velocity)
            body.velocity = _triple(velocity)
        if angular is not None and is_numbers(angular, 3) and any(angular):
            spin = np.array(axes.vector_in(angular))
            if not self.family.is_khr:
                spin = frames.rotation_of(prim.world).T @ spin
            else:
                self._report_mirrored(prim.path, prim.world)
            body.angular_velocity = _triple(spin)

    def _report_mirrored(self, path: str, world: Matrix) -> None:
        """Name what turns, or is the frame of a joint, in a mirrored space: no specification has a word about it."""
        if frames.determinant(world) < 0.0:
            self._issue(
                "GltfMirrored", f"'{path}' is mirrored by a negative scale, where programs do not agree about the "
                "signs of rotations and of joints' axes; here, as in USD, all three axes are reversed.",
                "Apply the scale in the program that wrote the file.", "info", path,
            )  # fmt: skip

    def _read_mass(self, prim: Prim, motion: dict[str, Any], kind: str) -> None:
        if not motion and self.family.is_khr:
            return
        is_static = kind == "static"
        mass = usd_physics.MassAPI()
        value = motion.get("mass", None if is_static else self.family.mass)
        if is_number(value) and value > 0.0:
            mass.mass = float(value)
        elif is_number(value) and self.family.is_khr and value == 0.0:
            if kind == "dynamic":
                vendor.apply(prim, vendor.BODY, lockedPosAxis=vendor.ALL_AXES)
            else:
                prim.extras.setdefault("motion", {})["mass"] = 0
        elif is_number(value) and not is_static:
            self._issue(
                "GltfMassIgnored", f"'{prim.path}' has a mass of {value:g} kg, which is not valid, so the simulator "
                "decides it.", "Give it a mass.", path=prim.path,
            )  # fmt: skip
        center = motion.get("centerOfMass", None if self.family.is_khr or is_static else [0.0, 0.0, 0.0])
        if center is not None and is_numbers(center, 3):
            mass.center_of_mass = axes.vector_in(center)
        moments, turn = motion.get("inertiaDiagonal"), motion.get("inertiaOrientation")
        if moments is not None and is_numbers(moments, 3) and (any(moments) or self.family.is_khr):
            about = axes.rotation_in(turn) if is_numbers(turn, 4) else frames.IDENTITY_ROTATION
            locked = _locked_axes(axes.size_in(moments), about, prim.world) if kind == "dynamic" else None
            if locked:
                vendor.apply(prim, vendor.BODY, lockedRotAxis=locked)
            if any(moments) and (locked or all(moments)):
                # Of a locked axis any moment will do that a solid can have.
                most = max(moments)
                mass.diagonal_inertia = axes.size_in([one or most for one in moments])
                mass.principal_axes = about
            elif not all(moments) and not locked:
                kept = prim.extras.setdefault("motion", {})
                kept["inertiaDiagonal"] = moments
                if is_numbers(turn, 4):
                    kept["inertiaOrientation"] = turn
        if any(value is not None for value in mass.all_values()):
            prim.add(mass)

    # ------------------------------------------------------------------ colliders

    def _read_colliders(self, index: int) -> None:
        extension = self.document.node_extension(index, self.family.body)
        for key in ("collider", "trigger"):
            value = extension.get(key)
            if not isinstance(value, dict):
                continue
            # Drafts of KHR name the shape as OMI does.
            shape = value.get("geometry", {}) if self.family.is_khr and "shape" not in value else value
            if isinstance(shape, dict):
                self._read_shape(index, value, shape, trigger=key == "trigger")
        if not self.family.is_khr:
            # Until 2024 a shape was on a node, and the kind of the body above told whether it is solid.
            old = self.document.node_extension(index, self.family.shape)
            if "shape" in old:
                above = (self.document.node_extension(one, self.family.body) for one in self.document.ancestors(index))
                kinds = [one["type"] for one in above if "type" in one]
                self._read_shape(index, {}, old, trigger=kinds[:1] == ["trigger"])
            self._read_old_collider(index)

    def _read_old_collider(self, index: int) -> None:
        """OMI_collider: the shape is on the node, or in a list of the document."""
        extension = self.document.node_extension(index, names.OLD_COLLIDER)
        if not extension:
            return
        pool = self._pool(names.OLD_COLLIDER, "colliders")
        number = extension.get("collider")
        value = pool[number] if isinstance(number, int) and 0 <= number < len(pool) else extension
        kind = {"hull": "convex"}.get(str(value.get("type")), str(value.get("type")))
        sizes = {key: item for key, item in value.items() if key in ("size", "radius", "height", "mesh")}
        if kind == "capsule":
            sizes.setdefault("radius", 0.5)
            sizes.setdefault("height", 2.0)
        shape = {"type": kind, kind: sizes}
        self._add_shape(index, {}, shape, kind, trigger=bool(value.get("isTrigger")))

    def _read_shape(self, index: int, value: dict[str, Any], shape: dict[str, Any], *, trigger: bool) -> None:
        if self.family.is_khr and ("mesh" in shape or "node" in shape):
            kind = "convex" if shape.get("convexHull") else "trimesh"
            self._add_shape(index, value, {"type": kind, kind: shape}, kind, trigger=trigger)
            return
        number = shape.get("shape", -1)
        pool = self._pool(self.family.shape, "shapes") or self._pool(names.DRAFT_SHAPE, "shapes")
        if number in (None, -1) or isinstance(number, bool) or not isinstance(number, int):
            return
        if not 0 <= number < len(pool):
            raise InputError(
                f"'{self.document.path.name}' is damaged: node {index} names the shape {number}, which does not exist."
            )
        raw_shape = pool[number]
        kind = str(raw_shape.get("type"))
        if kind == "mesh":
            # The first draft of KHR.
            extensions = raw_shape.get("extensions", {})
            kind = "convex" if extensions.get(self.family.body, {}).get("convexHull") else "trimesh"
            raw_shape = {kind: raw_shape.get("mesh")}
        self._add_shape(index, value, raw_shape, kind, trigger=trigger)

    def _add_shape(
        self, index: int, value: dict[str, Any], shape: dict[str, Any], kind: str, *, trigger: bool
    ) -> None:  # fmt: skip
        node = self.reading.paths[index]
        world = self.document.world(index)
        sizes = shape.get(kind)
        sizes = sizes if isinstance(sizes, dict) else {}
        # As those that a user makes in Blender, so that objects with equal colliders have equal properties.
        is_cone = kind == "cylinder" and is_number(sizes.get("radiusTop")) and not sizes["radiusTop"]
        path = self._made(f"{node}/{'Cone' if is_cone else _TYPES.get(kind, 'Mesh')}_collider")
        label = self.document.node_name(index)
        # Filters list their colliders.
        key = f"{kind} {trigger} {value!r}" if value and "collisionFilter" not in value else ""
        known = self.collider_kinds.get(key)
        if known is not None and known.local is not None:
            self._node_prim(index)
            if not trigger:
                self.solid.add(index)
            prim = Prim(path, known.type_name, world @ known.local, dict(known.schemas), label=label)
            prim.local, prim.purpose = known.local, known.purpose
            prim.physics_binding, prim.materials = known.physics_binding, known.materials
            self.model.add(prim)
            return
        prim = Prim(path, "Mesh", world, label=label, local=np.eye(4))
        if not self._set_shape(prim, index, kind, sizes):
            if kind in ("convex", "trimesh") and self.document.is_compressed(sizes.get("mesh")):
                self._issue(
                    "GltfMeshCompressed", f"'{node}' has a collider mesh with Draco or meshopt compression, which only "
                    "Blender reads, and only where a visible object has it: it is left out.",
                    "Save the file without compression.", path=node,
                )  # fmt: skip
                return
            self._issue(
                "GltfShapeUnknown", f"'{node}' has a shape '{kind}' that is not known or has no mesh, so it is left "
                "out.", "Choose another shape in the program that wrote the file.", path=node,
            )  # fmt: skip
            return
        self._node_prim(index)
        if not trigger:
            self.solid.add(index)
        prim.purpose = "guide" if prim.type_name != "Mesh" else "default"
        prim.add(usd_physics.CollisionAPI())
        if trigger:
            vendor.apply(prim, vendor.TRIGGER)
        self._bind(prim, value)
        self.model.add(prim)
        if key and prim.mesh is None and not prim.extras:
            self.collider_kinds[key] = prim

    def _set_shape(self, prim: Prim, index: int, kind: str, sizes: dict[str, Any]) -> bool:
        """Make a prim the shape of a file; False if it is unknown."""
        if kind == "box":
            size = sizes.get("size", [1.0, 1.0, 1.0])
            if not is_numbers(size, 3) or min(size) <= 0.0:
                return False
            prim.add(usd_geom.Cube(1.0))
            prim.local = np.diag((*axes.size_in(size), 1.0))
            prim.world = prim.world @ prim.local
        elif kind == "sphere":
            prim.add(usd_geom.Sphere(_length(sizes.get("radius", 0.5))))
        elif kind in ("capsule", "cylinder"):
            self._set_round(prim, kind, sizes)
        elif kind == "plane":
            prim.add(usd_geom.Plane(_length(sizes.get("sizeX", 2.0)), _length(sizes.get("sizeZ", 2.0)), "Z"))
            known = {name: value for name, value in sizes.items() if name not in ("sizeX", "sizeZ") or is_number(value)}
            if known:
                prim.extras["shape"] = {"plane": known}
        elif kind in ("convex", "trimesh"):
            return self._set_mesh(prim, index, kind, sizes)
        else:
            return False
        prim.type_name = next(name for name in prim.schemas if name != usd_physics.CollisionAPI.usd_name)
        return True

    def _set_round(self, prim: Prim, kind: str, sizes: dict[str, Any]) -> None:
        default = self.family.capsule if kind == "capsule" else self.family.cylinder
        if "radius" in sizes and "radiusTop" not in sizes and "radiusBottom" not in sizes:
            # Before September 2024: one radius, and the full height of capsules.
            bottom = top = _length(sizes["radius"])
            height = _length(sizes.get("height", 2.0)) - (2.0 * bottom if kind == "capsule" else 0.0)
        else:
            height = _length(sizes.get("height", default))
            bottom = _length(sizes.get("radiusBottom", self.family.radius))
            top = _length(sizes.get("radiusTop", self.family.radius))
        height = max(height, 0.0)
        made: dict[str, Any] = {"height": height, "radius": max(bottom, top), "axis": "Z"}
        if kind == "cylinder" and top == 0.0 < bottom:
            prim.add(usd_geom.Cone(**made))
        else:
            prim.add(usd_geom.Capsule(**made) if kind == "capsule" else usd_geom.Cylinder(**made))
            if top != bottom:
                prim.extras["shape"] = {kind: {"height": height, "radiusBottom": bottom, "radiusTop": top}}
                self._issue(
                    "GltfTapered", f"'{prim.path}' is a {kind} with two radii, which UsdPhysics does not have: the "
                    "preview has it, it is kept for glTF, and a USD file has the larger radius.",
                    "Use a convex hull where the taper matters.", "info", prim.path,
                )  # fmt: skip

    def _set_mesh(self, prim: Prim, index: int, kind: str, sizes: dict[str, Any]) -> bool:
        number, node = sizes.get("mesh"), sizes.get("node")
        document = self.document
        if number is None and isinstance(node, int) and 0 <= node < len(document.nodes):
            if node == index and not document.nodes[node].get("children"):
                number = document.nodes[node].get("mesh")
            else:
                mesh_below = self._mesh_below(node)
                if mesh_below is None:
                    return False
                prim.mesh = lambda: mesh_below
                if node not in self.reading.paths:
                    self.reading.sources.add(node)
        if number is not None:
            mesh = document.mesh(number)
            if mesh is None:
                return False
            prim.mesh = lambda: mesh
            if document.nodes[index].get("mesh") == number and index not in self.shown:
                # A trigger beside a collider of the same mesh has an object of its own.
                self.shown.add(index)
                self.reading.own_mesh.add(prim.path)
        if prim.mesh is None:
            return False
        prim.add(usd_physics.MeshCollisionAPI("convexHull" if kind == "convex" else "none"))
        return True

    def _mesh_below(self, node: int) -> Mesh | None:
        """The meshes of a node and those below it, in the space of the node."""
        points, triangles, first = [], [], 0
        todo = [(node, np.eye(4))]
        while todo:
            index, matrix = todo.pop()
            mesh = self.document.mesh(self.document.nodes[index].get("mesh"))
            if mesh is not None:
                points.append(mesh.points @ matrix[:3, :3].T + matrix[:3, 3])
                triangles.append(mesh.triangles + first)
                first += len(mesh.points)
            todo += [(child, matrix @ self.document.local(child)) for child in self._children(index)]
        return Mesh(np.concatenate(points), np.concatenate(triangles)) if points else None

    def _children(self, index: int) -> list[int]:
        return list(self.document.nodes[index].get("children", []))

    def _bind(self, prim: Prim, value: dict[str, Any]) -> None:
        """Material and filter of a collider."""
        number = value.get("physicsMaterial", -1)
        pool = self._pool(self.family.body, "physicsMaterials")
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
            if number >= len(pool):
                raise InputError(
                    f"'{self.document.path.name}' is damaged: a collider names the material {number}, which does not "
                    "exist."
                )
            prim.physics_binding = self._material(number, pool[number])
            prim.materials = (prim.physics_binding,)
        chosen = value.get("collisionFilter", -1)
        if isinstance(chosen, int) and not isinstance(chosen, bool) and chosen >= 0:
            if chosen >= len(self._pool(self.family.body, "collisionFilters")):
                raise InputError(
                    f"'{self.document.path.name}' is damaged: a collider names the filter {chosen}, which does not "
                    "exist."
                )
            self.members.setdefault(chosen, []).append(prim.path)

    def _material(self, number: int, value: dict[str, Any]) -> str:
        if number in self.materials:
            return self.materials[number]
        name = names.leaf(str(value.get("name") or f"physics_material_{number}"))
        path = self.materials[number] = self._made(f"{MATERIALS}/{name}")
        prim = self.model.add(Prim(path, "Material", is_xformable=False, label=name))
        prim.add(usd_physics.MaterialAPI(
            static_friction=_length(value.get("staticFriction", names.FRICTION)),
            dynamic_friction=_length(value.get("dynamicFriction", names.FRICTION)),
            restitution=_length(value.get("restitution", 0.0)),
        ))  # fmt: skip
        words = {kind: str(value.get(f"{kind}Combine")).lower() for kind in names.UNWRITTEN}
        unwritten = [kind for kind, word in words.items() if word not in names.COMBINE] if self.family.is_khr else []
        words.update({kind: names.UNWRITTEN[kind] for kind in unwritten})
        if unwritten:
            prim.extras["unwritten"] = unwritten
            self.unwritten[path] = unwritten
        modes = {f"{kind}CombineMode": names.COMBINE[word] for kind, word in words.items() if word in names.COMBINE}
        if modes:
            vendor.apply(prim, vendor.MATERIAL, **modes)
        return path

    def _read_vehicles(self, nodes: list[int]) -> None:
        """Keep what nodes say of vehicles and seats, and name it: no schema has it, and nothing here drives."""
        for name, kind in vehicles.KINDS.items():
            kept: list[str] = []
            broken: list[str] = []
            for index in nodes:
                if name not in self.document.nodes[index]["extensions"]:
                    continue
                value = vehicles.values_of(self.document, index, name, self.reading.paths, self.family.body)
                (kept if value is not None else broken).append(f"'{self.document.node_name(index)}'")
                if value is not None:
                    self._node_prim(index).extras.setdefault(vehicles.KEY, {})[name] = value
            if kept:
                self._issue(
                    "GltfVehicleKept", f"These nodes are {kind.what} ({name}), which is kept for glTF and has no "
                    f"effect here: {and_more(kept[:20], len(kept))}.",
                    "Make a vehicle of them with Generate > Vehicle, if they are to drive.",
                )  # fmt: skip
            if broken:
                self._issue(
                    "GltfUnread", f"These nodes are {kind.what} ({name}) whose settings are not in the file, so that "
                    f"is left out: {and_more(broken[:20], len(broken))}.", "Correct the number of the settings.",
                )  # fmt: skip

    def _report_unwritten(self) -> None:
        """Name the combine modes that the loader of the extension's authors decides: two specifications differ."""
        for kind, word in names.UNWRITTEN.items():
            unwritten = [f"'{paths.name_of(path)}'" for path, kinds in self.unwritten.items() if kind in kinds]
            if unwritten:
                self._issue(
                    "GltfCombineUnwritten", f"These materials do not say how the {kind} of two surfaces is combined, "
                    f"so the {word} counts, as in the loader of the extension's authors: "
                    f"{and_more(unwritten[:20], len(unwritten))}.",
                    f"Choose a {kind} combine mode in the physics of the material where it matters.", "info",
                )  # fmt: skip

    def _give_inertia(self, physical: list[int]) -> None:
        """Give what bodies without shapes do not say, and the specification takes from the shapes.

        The loader of the extension's authors has 1 kg and 1 kg m2.
        """
        if self.family is None or not self.family.is_khr:
            return
        # The mesh of a collider may be one that only Blender reads.
        shaped = {self.reading.paths[index] for index in physical if index in self.reading.paths
                  and self.document.node_extension(index, self.family.body).get("collider")}  # fmt: skip
        shaped |= self.model.colliders.keys()
        solid = {owner.path for path in shaped if (owner := self.model.body_of(path)) is not None}
        given = []
        for path, prim in self.model.bodies.items():
            body, mass = prim.get(usd_physics.RigidBodyAPI), prim.get(usd_physics.MassAPI)
            if (
                path in solid
                or body is None
                or body.kinematic_enabled
                or vendor.value(prim, vendor.BODY, "lockedRotAxis")
            ):
                continue
            if mass is None or mass.diagonal_inertia is None:
                fields: dict[str, Any] = dict(names.SHAPELESS)
                if (mass is not None and mass.mass is not None) or vendor.value(prim, vendor.BODY, "lockedPosAxis"):
                    del fields["mass"]
                # Bodies that say the same share their schemas.
                prim.schemas["PhysicsMassAPI"] = (mass or usd_physics.MassAPI()).copy(**fields)
                prim.extras["unwritten"] = sorted(fields)
                given.append(f"'{paths.name_of(path)}'")
        if given:
            self._issue(
                "GltfInertiaUnwritten", "These bodies have no shapes and do not say how hard they are to turn, so it "
                f"is 1 kg m2, as in the loader of the extension's authors: {and_more(given[:20], len(given))}.",
                "Give them moments of inertia, or colliders.", "info",
            )  # fmt: skip

    def _read_parts(self, index: int) -> None:
        """Compound triggers, and volumes with gravity: no schema has them, so they are kept."""
        trigger = self.document.node_extension(index, self.family.body).get("trigger")
        parts = trigger.get("nodes") if isinstance(trigger, dict) else None
        if isinstance(parts, list) and parts:
            known = [self.reading.paths[part] for part in parts if part in self.reading.paths]
            self._node_prim(index).extras["trigger_nodes"] = known
            self._issue(
                "GltfTriggerKept", f"'{self.reading.paths[index]}' is a trigger of several parts, which UsdPhysics "
                "does not have: it is kept for glTF, and its parts are triggers of their own.",
                "Use one trigger where the parts must act as one.", "info", self.reading.paths[index],
            )  # fmt: skip
        volume = self.document.node_extension(index, names.GRAVITY)
        if volume:
            self._node_prim(index).extras["gravity"] = volume
            self._issue(
                "GltfGravityVolume", f"'{self.reading.paths[index]}' has gravity of its own, which UsdPhysics does not "
                "have: it is kept for glTF, and has no effect here.", "Set the gravity of the scene instead.", "info",
                self.reading.paths[index],
            )  # fmt: skip

    # ------------------------------------------------------------------ joints

    def _read_joint(self, index: int) -> None:
        read_settings = self._joint_settings(index)
        if read_settings is None:
            return
        settings, first, second, places, value = read_settings
        node = self.reading.paths[index]
        only = (
            node not in self.model.prims and not self.document.nodes[index].get("children")
            and "mesh" not in self.document.nodes[index]
        )  # fmt: skip
        path = node if only else self._made(f"{node}/{paths.name_of(node)}_joint")
        prim = Prim(path, "PhysicsJoint", places[0], is_xformable=False, label=self.document.node_name(index))
        if not only:
            prim.local, prim.extras["shares_node"] = np.eye(4), True
            self._node_prim(index)
        self._report_mirrored(node, self.document.world(index))
        joints.read_settings(prim, settings)
        joint = prim.get(usd_physics.Joint)
        assert joint is not None
        for side, body, place in ((0, first, places[0]), (1, second, places[1])):
            # `body` may be a static collider: a joint switches the contacts with what it is tied to off.
            world = self.document.world(body) if body is not None else None
            position, rotation = frames.local_frame(world, place)
            setattr(joint, f"local_pos{side}", position)
            setattr(joint, f"local_rot{side}", rotation)
            if body is not None:
                setattr(joint, f"body{side}", (self._node_prim(body).path,))
        if value.get("enableCollision"):
            joint.collision_enabled = True
        if value.get("sheared") is True:
            # It gets such nodes again.
            prim.extras["sheared"] = True
        said = joints.settings_of(prim, joint)
        if not joints.is_same(said, settings):
            prim.extras["settings"] = joints.well_formed(settings)
        if not joints.is_same(said, joints.with_springs(settings)):
            self._issue(
                "GltfJointKept", f"UsdPhysics has no exact equivalent of the limits or drives of the joint '{node}': "
                "glTF files keep them, USD files and simulators get the nearest ones.",
                "Compare its limits where the difference matters.", "info", path,
            )  # fmt: skip
        self.model.add(prim)

    def _joint_settings(
        self, index: int
    ) -> tuple[dict[str, Any], int | None, int | None, tuple[Matrix, Matrix], dict[str, Any]] | None:
        """(limits and drives, node of body 0, of body 1, frames, the extension) of a joint node; None for others."""
        document = self.document
        if self.family.is_khr:
            value = document.node_extension(index, self.family.body).get("joint")
        else:
            value = document.node_extension(index, names.OMI_JOINT)
        if not isinstance(value, dict) or not value:
            return None
        if "constraints" in value:
            return self._old_joint(index, value)
        pool = self._pool(self.family.joint, "physicsJoints") or self._pool(self.family.joint, "physicsJointLimits")
        number, other = value.get("joint", value.get("jointLimits")), value.get("connectedNode")
        valid = [isinstance(one, int) and not isinstance(one, bool) for one in (number, other)]
        if not all(valid) or not (0 <= number < len(pool) and 0 <= other < len(document.nodes)):  # type: ignore[operator]
            self._issue(
                "GltfJointDamaged", f"The joint '{self.reading.paths[index]}' names settings or a node that do not "
                "exist, so it is left out.", "Correct it in the program that wrote the file.",
                path=self.reading.paths[index],
            )  # fmt: skip
            return None
        assert isinstance(number, int) and isinstance(other, int)
        places = (_frame(document.world(index)), _frame(document.world(other)))
        is_sheared = any(frames.is_sheared(self.document.world(one)) for one in (index, other))
        return pool[number], self._end(index), self._end(other), places, {**value, "sheared": is_sheared}

    def _old_joint(
        self, index: int, value: dict[str, Any]
    ) -> tuple[dict[str, Any], int | None, int | None, tuple[Matrix, Matrix], dict[str, Any]]:
        """The first form of OMI_physics_joint: two bodies at one place, and constraints instead of limits."""
        pool = self._pool(names.OMI_JOINT, "constraints")
        numbers = value["constraints"] if isinstance(value["constraints"], list) else []
        limits = [
            {**pool[one], "min": pool[one].get("lowerLimit", 0.0), "max": pool[one].get("upperLimit", 0.0)}
            for one in numbers if isinstance(one, int) and 0 <= one < len(pool)
        ]  # fmt: skip
        ends = [
            one if isinstance(one := value.get(key), int) and one in self.reading.paths else None
            for key in ("nodeA", "nodeB")
        ]
        place = _frame(self.document.world(index))
        return {"limits": limits}, ends[0], ends[1], (place, place), value

    # ------------------------------------------------------------------ the document

    def _read_gravity(self) -> None:
        value = self.document.extensions.get(names.GRAVITY, {})
        if not is_number(value.get("gravity")):
            return
        direction = value.get("direction", [0.0, -1.0, 0.0])
        turned = np.array(axes.vector_in(direction)) if is_numbers(direction, 3) else np.array((0.0, 0.0, -1.0))
        size = float(np.linalg.norm(turned)) or 1.0
        prim = self.model.add(Prim(self._made("/PhysicsScene"), "PhysicsScene", is_xformable=False))
        prim.add(usd_physics.PhysicsScene(
            gravity_direction=_triple(turned / size), gravity_magnitude=float(value["gravity"])
        ))  # fmt: skip

    def _read_groups(self) -> None:
        """Each filter that a collider has becomes a group; groups whose filters refuse each other are filtered."""
        pool = self._pool(self.family.body, "collisionFilters")
        group_of_filter: dict[int, str] = {}
        for number in sorted(self.members):
            leaf = names.leaf(filters.label(pool[number], number))
            group_of_filter[number] = self._made(f"{GROUPS}/{leaf}")
        for number, path in group_of_filter.items():
            apart = [other for one, other in group_of_filter.items() if not filters.collide(pool[number], pool[one])]
            group = usd_physics.CollisionGroup(includes=tuple(self.members[number]))
            group.filtered_groups = tuple(apart) or None
            prim = self.model.add(Prim(path, "PhysicsCollisionGroup", is_xformable=False, label=paths.name_of(path)))
            prim.add(group)


def _is_even(x: float, y: float, z: float) -> bool:
    # Without numpy: there may be a scale for each node.
    return max(x, y, z) - min(x, y, z) <= 1e-4 * max(x, y, z)


def _locked_axes(moments: Vector, about: Quaternion, world: Matrix) -> int | None:
    """Bits of the world axes about which moments are infinite, that is 0; None where those are along no such axes."""
    if not any(moments):
        return vendor.ALL_AXES
    columns = np.abs(frames.rotation_of(world) @ frames.matrix_of(about)).T[np.array(moments) == 0.0]
    if any(column.max() < 1.0 - 1e-6 for column in columns):
        return None
    return sum(1 << int(column.argmax()) for column in columns)


def _length(value: object) -> float:
    return float(value) if is_number(value) else 0.0


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) + 0.0 for value in values)
    return (x, y, z)


def _frame(world: Matrix) -> Matrix:
    """A world matrix without scale."""
    return frames.unscaled(world)
