# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> additions to a finished glTF document. Indices of nodes stay; new nodes and meshes are appended."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from ..core import frames, gprims, mass, paths
from ..core.frames import Matrix
from ..core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..core.words import and_more
from . import axes, filters, joints, names, unsaid, vendor
from .document import Document, is_numbers
from .names import Family

#: Two frames are one where they are nearer than this: metres, and elements of a rotation.
_SAME = 2e-5
#: Half the edge of the square that stands for an infinite plane, where a family has none; metres.
_PLANE = 500.0
#: Bodies that one message names.
_MOST_NAMES = 20
_NO_MASS = usd_physics.MassAPI()
#: Name of a material that had none.
_NUMBERED = re.compile(r"physics_material_\d+(_\d+)?")
_COMBINE = {theirs: ours for ours, theirs in names.COMBINE.items()}


@dataclass(slots=True)
class WriteOptions:
    """families: that are written. is_flat: bodies below a body are moved beside it. keeps_usd: see `gltf.keep`.

    is_for_godot: OMI capsules and cylinders have the one radius, and capsules the full height, that Godot 4 reads.
    """

    families: Sequence[Family] = names.FAMILIES
    is_flat: bool = False
    keeps_usd: bool = True
    is_for_godot: bool = False


@dataclass(slots=True)
class Written:
    """counts: bodies, colliders, joints ... issues: what was left out or kept aside."""

    counts: Counter[str] = field(default_factory=Counter)
    issues: list[Issue] = field(default_factory=list)


def write(
    document: Document, model: PhysicsModel, nodes: Mapping[str, int], options: WriteOptions,
    origins: Mapping[str, int] | None = None, copies: Mapping[str, str] | None = None, carrying: Collection[str] = (),
) -> Written:  # fmt: skip
    """Put the physics of a model into a document.

    nodes: index of the node of each object, by the path of its prim. origins: the same by the path that the object had
    when it was imported from glTF, which compound triggers name. copies: prims that differ from another one in nothing
    but their place, with the path of that; all prims of an object are copies, or none. carrying: prims that say more
    about physics than the model holds.
    """
    writer = _Writer(document, model, nodes, options, origins or {}, copies or {})
    for path in carrying:
        if path in model.prims:
            writer.lose(model.prims[path], "attributes that its schemas do not declare")
    writer.write()
    return writer.written


class _Writer:
    def __init__(
        self, document: Document, model: PhysicsModel, nodes: Mapping[str, int], options: WriteOptions,
        origins: Mapping[str, int], copies: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.document, self.model, self.nodes, self.origins = document, model, nodes, origins
        self.copies = copies
        #: What is no copy: these have no facts of their own, and most prims of a large scene are copies.
        self.first = replace(model, prims={path: prim for path, prim in model.prims.items() if path not in copies})
        self.families = [one for one in options.families if not self._is_foreign(one)]
        self.options = options
        self.written = Written()
        #: Facts that are lost and what to do about them -> prims that lose them, by path.
        self.unsaid: dict[tuple[str, str], dict[str, Prim]] = {}
        for one in options.families:
            if one not in self.families:
                self._issue(
                    "GltfForeign", f"Another add-on has written {one.body}, so that is left as it is.",
                    "Switch off one of the two add-ons for glTF physics.",
                )  # fmt: skip
        self.has_bindings = any(prim.physics_binding or prim.materials for prim in self.first.prims.values())
        self.bodies: dict[str, int] = {}
        self.body_nodes: set[int] = set()
        self.pools: dict[tuple[str, str], dict[str, int]] = {}
        self.meshes: dict[int, tuple[Mesh, int]] = {}
        self.masses: dict[tuple[Any, ...], mass.BodyMassProperties] = {}
        self.kinds: dict[tuple[Any, ...], _Kind] = {}
        self.dynamic: dict[str, bool] = {}
        #: Of bodies that have copies and whose colliders are on their own node: its extensions, its mesh, and how many
        #: colliders it has.
        self.known: dict[str, tuple[dict[str, Any], Any, int]] = {}
        #: Bodies whose mass, or whose centre of mass, the simulator decides, and which get one in the OMI family.
        self.decided: dict[str, dict[str, None]] = {"mass": {}, "centre": {}}
        #: Nodes of the parts of compound triggers.
        self.parts = {
            self.origins[part] for prim in self.first.prims.values() if prim.extras
            for part in prim.extras.get("trigger_nodes") or () if part in self.origins
        }  # fmt: skip
        #: Colliders that are written.
        self.done: set[str] = set()

    def _is_foreign(self, family: Family) -> bool:
        used = self.document.json.get("extensionsUsed") or ()
        return family.body in used and family.body not in self.document.written

    def write(self) -> None:
        self._find_bodies()
        if self.options.is_flat:
            self._flatten()
        copied = self._copied_bodies()
        self._write_bodies(self._without(copied), [path for path in self.bodies if path not in copied])
        rest = [path for path, first in copied.items() if not self._write_copy(path, first)]
        if rest:
            self._write_bodies(self.model, rest)
        for prim in self.first.joints.values():
            self._write_joint(prim)
        self._write_kept()
        self._write_gravity()
        self._report_masses()
        self._report_lost()
        if self.written.counts:
            for family in self.families:
                # Babylon needs an object of the document, even an empty one.
                self.document.root_extension(family.body)
                self.document.written.add(family.body)

    def _issue(
        self, code: str, message: str, fix: str, severity: Any = "warning", prim: Prim | None = None
    ) -> None:  # fmt: skip
        path, label = (prim.path, prim.label) if prim is not None else ("", "")
        self.written.issues.append(Issue(code, severity, path, label, message, fix))

    def lose(self, prim: Prim, what: str, fix: str = "Keep the USD file beside it.") -> None:
        """Note a fact that glTF has no word for."""
        self.unsaid.setdefault((what, fix), {})[prim.path] = prim

    def _report_lost(self) -> None:
        """Name the facts that glTF has no word for, each with its prims."""
        for prim, fact in unsaid.facts(self.model, self.copies):
            self.lose(prim, fact)
        for (what, fix), prims in self.unsaid.items():
            shown = and_more((prim.display for prim in islice(prims.values(), _MOST_NAMES)), len(prims))
            if self.options.keeps_usd:
                message = f"glTF cannot say {what} of {shown}, so that is in the extras of the file alone."
                fix = "Read the file with USD Physics where it matters."
            else:
                message = f"glTF cannot say {what} of {shown}, so that is left out."
            self._issue("GltfNotSaid", message, fix, "info", next(iter(prims.values())) if len(prims) == 1 else None)

    def _node_of(self, path: str) -> int | None:
        """The node of a prim, or of the nearest object above it."""
        found = paths.nearest(path, self.nodes)
        return self.nodes[found] if found else None

    # ------------------------------------------------------------------ copies

    def _copied_bodies(self) -> dict[str, str]:
        """Bodies whose node gets the extensions of the node of another one, with that. Filters are of each collider."""
        if self.first.groups or self.first.having(usd_physics.FilteredPairsAPI):
            return {}
        return {path: first for path in self.bodies if (first := self.copies.get(path)) in self.bodies}

    def _without(self, copied: Mapping[str, str]) -> PhysicsModel:
        """The model without the copies of bodies and their colliders."""
        if not copied:
            return self.model
        prims = {
            path: prim for path, prim in self.model.prims.items()
            if path not in self.copies or not (path in copied or path.rpartition("/")[0] in copied)
        }  # fmt: skip
        return replace(self.model, prims=prims)

    def _write_copy(self, path: str, first: str) -> bool:
        """Give the node of a copy the extensions of the first one; False where that is not all."""
        known = self.known.get(first)
        if known is None:
            return False
        extensions, mesh, colliders = known
        node = self.document.nodes[self.bodies[path]]
        if "extensions" in node or node.get("mesh") != mesh:
            return False
        node["extensions"] = extensions.copy()
        for prims in self.unsaid.values():
            if first in prims:
                prims[path] = self.model.prims[path]
        for bodies in self.decided.values():
            if first in bodies:
                bodies[path] = None
        self.written.counts["bodies"] += 1
        self.written.counts["colliders"] += colliders
        return True

    # ------------------------------------------------------------------ bodies

    def _find_bodies(self) -> None:
        for path, prim in self.model.bodies.items():
            index = self.nodes.get(path)
            if index is None:
                self._issue(
                    "GltfNotExported", f"{prim.display} has no node of its own in the file, so its physics is left "
                    "out.", "Export the object; switch off GPU Instances and Flatten, which merge nodes.",
                    "error", prim,
                )  # fmt: skip
            elif "skin" in self.document.nodes[index]:
                self._issue(
                    "GltfSkinned", f"{prim.display} is deformed by an armature, and glTF gives such a node no place, "
                    "so its physics is left out.", "Put the body on the bone, or on an Empty.", "error", prim,
                )  # fmt: skip
            else:
                self.bodies[path] = index
        self.body_nodes = set(self.bodies.values())

    def _flatten(self) -> None:
        """Move bodies below bodies beside the topmost of them. Animated ones stay."""
        animated = {
            channel.get("target", {}).get("node") for animation in self.document.json.get("animations", [])
            for channel in animation.get("channels", [])
        }  # fmt: skip
        for path, index in self.bodies.items():
            above = [one for one in self.document.ancestors(self.document.parents[index]) if one in self.body_nodes]
            if not above:
                continue
            if index in animated:
                self._issue(
                    "GltfNested", f"'{path}' is animated, so it stays below another body.",
                    "Parent it to something that is no body.", "info", self.model.prims[path],
                )  # fmt: skip
                continue
            world, parent = self.document.world(index), self.document.parents[above[-1]]
            scene = self._scene_of(index)
            self.document.detach(index)
            self.document.put_below(index, parent, scene)
            self._place(index, world, self.model.prims[path])

    def _scene_of(self, index: int) -> int | None:
        root = list(self.document.ancestors(index))[-1]
        scenes = self.document.json.get("scenes", [])
        return next((number for number, one in enumerate(scenes) if root in one.get("nodes", ())), None)

    def _place(self, index: int, world: Matrix, prim: Prim) -> None:
        """Put a node at a place in the world."""
        parent = self.document.parents[index]
        local = world if parent is None else np.linalg.solve(self.document.world(parent), world)
        if not self.document.place(index, np.asarray(local, float)):
            self._issue(
                "GltfSheared", f"{prim.display} is sheared by what is above it, which glTF cannot say.",
                "Apply the scale of its parents.", "warning", prim,
            )  # fmt: skip

    def _is_dynamic(self, path: str) -> bool:
        if path not in self.dynamic:
            self.dynamic[path] = self._find_dynamic(path)
        return self.dynamic[path]

    def _find_dynamic(self, path: str) -> bool:
        prim = self.model.prims.get(path)
        body = prim.get(usd_physics.RigidBodyAPI) if prim is not None else None
        return body is not None and body.resolved("rigid_body_enabled") and not body.resolved("kinematic_enabled")

    def _write_body(self, prim: Prim, index: int, colliders: list[Prim]) -> None:
        body = prim.get(usd_physics.RigidBodyAPI)
        assert body is not None
        self.written.counts["bodies"] += 1
        if names.leaf(self.document.node_name(index)) != prim.name:
            self.lose(prim, "the name in USD")
        for family in self.families:
            motion = self._motion(family, prim, body, colliders)
            if motion is not None:
                self.document.put_extension(index, family.body, {"motion": motion})

    def _motion(
        self, family: Family, prim: Prim, body: usd_physics.RigidBodyAPI, colliders: list[Prim]
    ) -> dict[str, Any] | None:
        motion: dict[str, Any] = {}
        is_static = not body.resolved("rigid_body_enabled")
        is_kinematic = bool(body.resolved("kinematic_enabled"))
        if family.is_khr:
            if is_static:
                return None
            if is_kinematic:
                motion["isKinematic"] = True
        else:
            motion["type"] = "static" if is_static else "kinematic" if is_kinematic else "dynamic"
        self._write_velocities(family, prim, body, motion)
        self._write_mass(family, prim, colliders, motion, is_computed=not is_static and not is_kinematic)
        factor = self._gravity_factor(prim)
        if factor != 1.0:
            motion["gravityFactor"] = factor
        return motion

    def _gravity_factor(self, prim: Prim) -> float:
        if not prim.extras and vendor.BODY not in prim.schemas:
            return 1.0
        return 0.0 if vendor.value(prim, vendor.BODY, "disableGravity") else mass.gravity_factor(prim)

    def _write_velocities(
        self, family: Family, prim: Prim, body: usd_physics.RigidBodyAPI, motion: dict[str, Any]
    ) -> None:
        if body.velocity is None and body.angular_velocity is None:
            return
        for key, value, turn in (
            ("linearVelocity", body.velocity, prim.world[:3, :3]),
            ("angularVelocity", body.angular_velocity, frames.rotation_of(prim.world)),
        ):
            if value is not None and any(value):
                # OMI: in the world, as Godot has it.
                motion[key] = axes.vector_out(value if family.is_khr else (turn @ np.array(value)).tolist())

    def _write_mass(
        self, family: Family, prim: Prim, colliders: list[Prim], motion: dict[str, Any], *, is_computed: bool
    ) -> None:
        """Write mass, centre and inertia. OMI has defaults where KHR lets the engine decide, so it gets all."""
        own = prim.get(usd_physics.MassAPI) or _NO_MASS
        kept = prim.extras.get("motion", {})
        solid = [one for one in colliders if vendor.TRIGGER not in one.schemas]
        weighted = self._has_densities(prim, solid)
        if own is _NO_MASS and family.is_khr and not weighted and not kept:
            return
        moments, turn = own.decided("diagonal_inertia"), own.principal_axes
        center, weight = own.decided("center_of_mass"), own.decided("mass")
        if is_computed and weighted:
            self.lose(prim, "densities that its mass follows from (the mass is written)")
        if is_computed and (weighted or not family.is_khr or (moments is not None and turn is None)):
            found = self._mass_properties(prim, solid)
            if weighted or not family.is_khr:
                if weight is None and not weighted and kept.get("mass") != 0:
                    self.decided["mass"][prim.path] = None
                weight = found.mass
                if center is None and (weighted or solid):
                    if not weighted and max(map(abs, found.center_of_mass)) > _SAME:
                        self.decided["centre"][prim.path] = None
                    scale = frames.scale_of(prim.world)
                    center = tuple((np.array(found.center_of_mass) / np.where(scale == 0.0, 1.0, scale)).tolist())
            if moments is not None or weighted:
                moments, turn = found.diagonal_inertia, found.principal_axes
        if kept.get("mass") == 0 and own.decided("mass") is None:
            if family.is_khr:
                motion["mass"] = 0
            else:
                self.lose(prim, "in the OMI family an infinite mass", "Give it a mass.")
        elif weight is not None and math.isfinite(weight):
            motion["mass"] = weight
        if center is not None:
            motion["centerOfMass"] = axes.vector_out(center)
        if moments is not None:
            motion["inertiaDiagonal"] = axes.size_out(moments)
            if turn is not None and not frames.is_identity(turn):
                motion["inertiaOrientation"] = axes.rotation_out(turn)
        elif is_numbers(kept.get("inertiaDiagonal"), 3) and not family.is_khr and not any(kept["inertiaDiagonal"]):
            # Three zeros: infinite in KHR, automatic in OMI.
            self.lose(prim, "in the OMI family an infinite inertia", "Give it a finite one.")
        elif is_numbers(kept.get("inertiaDiagonal"), 3):
            motion["inertiaDiagonal"] = kept["inertiaDiagonal"]
            if is_numbers(kept.get("inertiaOrientation"), 4):
                motion["inertiaOrientation"] = kept["inertiaOrientation"]

    def _report_masses(self) -> None:
        """Name the bodies that have a mass, or a centre of it, in the file and none in the scene."""
        if names.KHR in self.families:
            return
        for what, bodies in self.decided.items():
            if not bodies:
                continue
            first = [f"'{self.model.prims[path].label or path}'" for path in islice(bodies, _MOST_NAMES)]
            shown = and_more(first, len(bodies))
            if what == "mass":
                message = (
                    "glTF cannot say in the OMI family that the simulator decides a mass, so these bodies get the mass "
                    f"that follows from their shapes: {shown}."
                )
            else:
                message = (
                    "glTF cannot say in the OMI family that the simulator decides a centre of mass, so these bodies "
                    f"get the one that follows from their shapes: {shown}."
                )
            self._issue("GltfNotSaid", message, "Give them one.", "info")

    def _mass_properties(self, prim: Prim, colliders: list[Prim]) -> mass.BodyMassProperties:
        """Mass properties of a body; bodies that are copies of each other share them."""
        key = self._mass_key(prim, colliders)
        if key is None:
            return mass.mass_properties(self.model, prim.path, colliders)
        if key not in self.masses:
            self.masses[key] = mass.mass_properties(self.model, prim.path, colliders)
        return self.masses[key]

    def _mass_key(self, prim: Prim, colliders: list[Prim]) -> tuple[Any, ...] | None:
        """What decides about the mass of a body of primitives; None for a body with other colliders."""
        own = prim.get(usd_physics.MassAPI)
        parts: list[Any] = [prim.world[:3, :3].tobytes(), own.all_values() if own is not None else ()]
        for one in colliders:
            key = self._kind_key(one)
            if key is None or one.local is None or paths.parent_of(one.path) != prim.path:
                return None
            parts.append(key)
        return tuple(parts)

    def _has_densities(self, prim: Prim, colliders: list[Prim]) -> bool:
        """True if something else than the volume alone decides about the mass of a body."""
        for one in (prim, *colliders):
            own = one.get(usd_physics.MassAPI)
            if own is None:
                continue
            if own.decided("density") is not None or (one is not prim and own.decided("mass") is not None):
                return True
        for one in colliders:
            material = self._material_of(one)
            api = material.get(usd_physics.MaterialAPI) if material is not None else None
            if api is not None and api.decided("density") is not None:
                return True
        return False

    def _write_bodies(self, model: PhysicsModel, bodies: list[str]) -> None:
        """Write bodies, and all colliders of a model that were not written before."""
        colliders = mass.colliders_by_body(model)
        chosen = {
            path: prim for path, prim in model.colliders.items()
            if path not in self.done and (api := prim.get(usd_physics.CollisionAPI)) and self._is_written(prim, api)
        }  # fmt: skip
        found, numbers = filters.filters_of(self.model, list(chosen))
        firsts = set(self.copies.values())

        def write_colliders(prims: Iterable[Prim]) -> None:
            for one in prims:
                self._write_collider(one, found[numbers[one.path]] if one.path in numbers else None)
                self.done.add(one.path)

        for path in bodies:
            prim, index, own = self.model.prims[path], self.bodies[path], colliders.get(path, [])
            node = self.document.nodes[index]
            is_plain = "extensions" not in node
            before = len(self.document.nodes), len(self.written.issues)
            self._write_body(prim, index, own)
            if path not in firsts:
                continue
            write_colliders(one for one in own if one.path in chosen)
            if is_plain and "extensions" in node and before == (len(self.document.nodes), len(self.written.issues)):
                self.known[path] = (node["extensions"].copy(), node.get("mesh"), len(own))
        write_colliders(prim for path, prim in chosen.items() if path not in self.done)

    # ------------------------------------------------------------------ colliders

    def _is_written(self, prim: Prim, api: usd_physics.CollisionAPI) -> bool:
        if api.resolved("collision_enabled"):
            return True
        self.lose(prim, "that a collider is switched off")
        return False

    def _write_collider(self, prim: Prim, filter_: dict[str, Any] | None) -> None:
        owner = self.model.body_of(prim.path)
        base = self._node_of(prim.path)
        if base is None or (owner is not None and owner.path not in self.bodies):
            if owner is None or owner.path in self.nodes:
                self._issue(
                    "GltfNotExported", f"{prim.display} has no node in the file, so its collider is left out.",
                    "Export the object.", "error", prim,
                )  # fmt: skip
            return
        kind = self._kind_of(prim)
        if kind is not None:
            shapes = kind.shapes
        else:
            shapes = self._shapes(prim, is_dynamic=owner is not None and self._is_dynamic(owner.path))
        if not shapes:
            self.lose(prim, f"the shape {prim.type_name}")
            return
        self.written.counts["colliders"] += 1
        is_trigger = vendor.TRIGGER in prim.schemas
        body = self.bodies[owner.path] if owner is not None else None
        own = prim.path if prim.path in self.nodes else paths.parent_of(prim.path)
        is_of_base = own in self.nodes
        part = self.document.parents[base]
        if (
            is_trigger and base not in self.parts and part is not None and part in self.parts
            and all(self._scale_on(prim, part, offset, shape, is_of_base=False) for shape, offset in shapes)
        ):  # fmt: skip
            # The shape of a part of a compound trigger that has an object of its own, as after a round through USD.
            base, is_of_base = part, False
        for shape, offset in shapes:
            index, scale = self._collider_node(prim, base, body, offset, shape, kind, is_of_base=is_of_base)
            self._compare_name(prim, index, shape, is_trigger=is_trigger)
            for family in self.families:
                value = kind.values.get((family.name, scale)) if kind is not None else None
                if value is None:
                    value = self._collider(family, prim, index, shape.scaled(scale), is_trigger=is_trigger)
                    if kind is not None:
                        kind.values[family.name, scale] = value
                if filter_ is not None:
                    value = {**value, "collisionFilter": self._pooled(family.body, "collisionFilters", filter_)}
                self.document.put_extension(index, family.body, {"trigger" if is_trigger else "collider": value})

    def _compare_name(self, prim: Prim, index: int, shape: _Shape, *, is_trigger: bool) -> None:
        """Note a collider that does not get its name from its node again, if it has one of its own."""
        if prim.name == f"{prim.type_name}_collider":
            return
        node = names.leaf(self.document.node_name(index))
        mesh = self.document.nodes[index].get("mesh")
        is_own = shape.mesh is not None and self._mesh(prim, index, shape.mesh) == mesh
        if prim.name != (node if is_own else names.collider_leaf(node, "trigger" if is_trigger else "collider")):
            self.lose(prim, "the name in USD")

    def _kind_key(self, prim: Prim) -> tuple[Any, ...] | None:
        """What decides about the shape, the material and the mass of a primitive; None for other colliders."""
        if prim.extras or prim.get(usd_geom.Gprim) is None:
            return None
        schemas = tuple((name, one.all_values()) for name, one in prim.schemas.items())
        material = self._material_of(prim)
        local = prim.local.tobytes() if prim.local is not None else b""
        return (schemas, local, material.path if material is not None else "")

    def _kind_of(self, prim: Prim) -> _Kind | None:
        """What primitives share that are copies of each other; None where each is looked at by itself."""
        key = self._kind_key(prim)
        if key is None:
            return None
        kind = self.kinds.get(key)
        if kind is None:
            gprim = prim.get(usd_geom.Gprim)
            assert gprim is not None
            shape, offset = self._gprim_shape(prim, gprim)
            if shape.kind == "plane" or (self.options.is_for_godot and shape.is_tapered):
                return None
            kind = self.kinds[key] = _Kind([(shape, offset)])
        return kind

    def _collider(
        self, family: Family, prim: Prim, index: int, shape: _Shape, *, is_trigger: bool
    ) -> dict[str, Any]:  # fmt: skip
        value: dict[str, Any] = {}
        if shape.mesh is not None and family.is_khr:
            value["geometry"] = {"mesh": self._mesh(prim, index, shape.mesh)}
            if shape.kind == "convex":
                value["geometry"]["convexHull"] = True
        else:
            made = {"type": shape.kind, shape.kind: shape.sizes}
            if self.options.is_for_godot and not family.is_khr and "radiusTop" in shape.sizes:
                made[shape.kind] = shape.for_godot()
                if shape.is_tapered:
                    self._issue(
                        "GltfGodotTaper", f"Godot 4 reads one radius, so the {shape.kind} of {prim.display} has the "
                        "larger of its two in the OMI family.", "Use one radius, or a hull.", "info", prim,
                    )  # fmt: skip
            if shape.mesh is not None:
                made[shape.kind] = {"mesh": self._mesh(prim, index, shape.mesh)}
            elif shape.kind == "plane" and not family.is_khr:
                plane = _square(shape.sizes)
                width, depth, _ = np.ptp(plane.points, axis=0).tolist()
                self._issue(
                    "GltfPlaneAsMesh", f"The plane of {prim.display} is a mesh of {width:g} x {depth:g} m in the OMI "
                    "family, which has no planes.", "Use a box for a floor.", "info", prim,
                )  # fmt: skip
                made = {"type": "trimesh", "trimesh": {"mesh": self._mesh(prim, index, plane)}}
            number = self._pooled(family.shape, "shapes", made)
            value = {"geometry": {"shape": number}} if family.is_khr else {"shape": number}
        material = None if is_trigger else self._material_of(prim)
        if material is not None and material.get(usd_physics.MaterialAPI) is not None:
            value["physicsMaterial"] = self._pooled(family.body, "physicsMaterials", self._material(material))
        return value

    def _pooled(self, extension: str, name: str, value: dict[str, Any]) -> int:
        """Index of an entry of a list of the document; equal entries are one."""
        pool = self.pools.setdefault((extension, name), {})
        key = repr(value)
        if key not in pool:
            items = self.document.root_extension(extension).setdefault(name, [])
            pool[key] = len(items)
            items.append(value)
        return pool[key]

    def _material_of(self, prim: Prim) -> Prim | None:
        if not self.has_bindings:
            return None
        for one in (prim, *self.model.ancestors(prim.path)):
            bound = one.physics_binding or (one.materials[-1] if one.materials else "")
            if bound:
                return self.model.prims.get(bound)
        return None

    def _material(self, prim: Prim) -> dict[str, Any]:
        api = prim.get(usd_physics.MaterialAPI)
        assert api is not None
        found: dict[str, Any] = {"name": prim.name} if not _NUMBERED.fullmatch(prim.name) else {}
        found |= {
            "staticFriction": max(api.resolved("static_friction"), 0.0),
            "dynamicFriction": max(api.resolved("dynamic_friction"), 0.0),
            "restitution": min(max(api.resolved("restitution"), 0.0), 1.0),
        }
        for kind in ("friction", "restitution"):
            mode = vendor.value(prim, vendor.MATERIAL, f"{kind}CombineMode")
            if mode in _COMBINE:
                found[f"{kind}Combine"] = _COMBINE[mode]
        return found

    def _collider_node(
        self,
        prim: Prim,
        base: int,
        body: int | None,
        offset: Matrix | None,
        shape: _Shape,
        kind: _Kind | None,
        *,
        is_of_base: bool,
    ) -> tuple[int, tuple[float, float, float]]:
        """(node that a collider goes on, scale of the shape there).

        offset: place of the shape in the space of the prim. kind: what it shares with its copies. is_of_base: `base` is
        the node of the prim, or of its parent.
        """
        document = self.document
        key = "trigger" if vendor.TRIGGER in prim.schemas else "collider"
        taken = "extensions" in document.nodes[base] and any(
            key in document.node_extension(base, family.body) for family in self.families
        )
        if body is not None and base != body and not document.is_below(base, body):
            # The exporter has flattened the hierarchy.
            taken = True
        if not taken and "skin" not in document.nodes[base]:
            if kind is not None and is_of_base and prim.local is not None and prim.path not in self.nodes:
                # Only its pose below the node decides.
                if not kind.is_placed:
                    kind.scale, kind.is_placed = self._scale_on(prim, base, offset, shape, is_of_base=True), True
                scale = kind.scale
            else:
                scale = self._scale_on(prim, base, offset, shape, is_of_base=is_of_base)
            if scale is not None:
                return base, self._around(base, shape, scale)
        world = prim.world if offset is None else prim.world @ offset
        parent = body if body is not None else base
        index = document.add_node({"name": self._free_name(f"{document.node_name(base)}_{key}")}, parent)
        if shape.mesh is not None:
            self._place(index, world, prim)
            return index, (1.0, 1.0, 1.0)
        self._place(index, frames.transform(world[:3, 3], frames.rotation_of(world)), prim)
        x, y, z = np.abs(frames.scale_of(world)).tolist()
        return index, (x, y, z)

    def _around(
        self, base: int, shape: _Shape, scale: tuple[float, float, float]
    ) -> tuple[float, float, float]:  # fmt: skip
        """The scale of a shape on a node; a round one follows the largest scale there, so uneven ones do not add up."""
        last = 3 if shape.kind == "sphere" else 2
        if shape.kind not in ("sphere", "capsule", "cylinder") or max(scale) - min(scale) <= _SAME * max(scale):
            return scale
        there: Any = np.abs(frames.scale_of(self.document.world(base)))
        factor = float(max(there[:last] * scale[:last]) / max(there[:last]))
        return (factor, factor, factor if last == 3 else scale[2])

    def _scale_on(
        self, prim: Prim, base: int, offset: Matrix | None, shape: _Shape, *, is_of_base: bool
    ) -> tuple[float, float, float] | None:
        """Scale of a shape in the space of a node; None where it is moved, turned or mirrored there."""
        if is_of_base and (prim.local is not None or prim.mesh is not None or prim.path in self.nodes):
            # The mesh of an object has no place of its own.
            local = None if prim.path in self.nodes else prim.local
            if local is None and offset is None:
                return (1.0, 1.0, 1.0)
            place: Any = offset if local is None else local if offset is None else local @ offset
        else:
            world = prim.world if offset is None else prim.world @ offset
            try:
                place = np.linalg.solve(self.document.world(base), world)
            except np.linalg.LinAlgError:
                return None
        # Without numpy: its overhead dominates for so few numbers.
        (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = place.tolist()
        size = max(abs(a), abs(b), abs(c), abs(d), abs(e), abs(f), abs(g), abs(h), abs(i), 1e-12)
        slack = _SAME * size
        if a <= 0.0 or max(abs(b), abs(c), abs(d), abs(f), abs(g), abs(h)) > slack:
            return None
        if max(abs(x), abs(y), abs(z)) > _SAME * max(shape.reach * size, 1e-6):
            return None
        return (a, e, i)

    def _free_name(self, name: str) -> str:
        taken = self._names()
        found = paths.free(name, taken.__contains__)
        taken.add(found)
        return found

    def _names(self) -> set[str]:
        if not hasattr(self, "_taken_names"):
            self._taken_names = {str(node.get("name", "")) for node in self.document.nodes}
        return self._taken_names

    # ------------------------------------------------------------------ shapes

    def _shapes(self, prim: Prim, *, is_dynamic: bool) -> list[tuple[_Shape, Matrix | None]]:
        """The shapes of a collider with their places in its space (None: at its origin); none if it has no shape."""
        gprim = prim.get(usd_geom.Gprim)
        if gprim is not None:
            return [self._gprim_shape(prim, gprim)]
        geometry = prim.mesh() if prim.mesh is not None else None
        if isinstance(geometry, SpherePoints):
            return [
                (_Shape("sphere", {"radius": float(radius)}), frames.transform(center))
                for center, radius in zip(geometry.centers, geometry.radii, strict=True)
            ]
        if geometry is None or not len(geometry.triangles) or not np.isfinite(geometry.points).all():
            return []
        api = prim.get(usd_physics.MeshCollisionAPI)
        word = "none" if api is None or api.approximation is None else str(api.approximation)
        if word in ("boundingCube", "boundingSphere"):
            return [_bounds(geometry, word)]
        kind = {"none": "trimesh", "convexHull": "convex"}.get(word)
        if kind is None:
            kind = "convex" if is_dynamic and word != "meshSimplification" else "trimesh"
            self.lose(prim, f"the approximation '{word}' (it gets {kind})")
        if not self.options.keeps_usd:
            self.lose(prim, "the polygons of a mesh (its triangles are written)")
        return [(_Shape(kind, {}, geometry), None)]

    def _gprim_shape(self, prim: Prim, gprim: usd_geom.Gprim) -> tuple[_Shape, Matrix | None]:
        if isinstance(gprim, usd_geom.Cube):
            return _Shape("box", {"size": [abs(gprim.resolved("size"))] * 3}), None
        sizes = gprims.sizes(gprim)
        if sizes.kind is usd_geom.Sphere:
            return _Shape("sphere", {"radius": sizes.radius}), None
        offset = None if sizes.axis == "Z" else frames.transform((0.0, 0.0, 0.0), _upright(sizes.axis))
        kept = prim.extras.get("shape", {})
        if sizes.kind is usd_geom.Plane:
            values = kept.get("plane", {}) if self._is_kept_plane(kept, gprim) else {}
            return _Shape("plane", dict(values)), offset
        kind = "capsule" if sizes.kind is usd_geom.Capsule else "cylinder"
        bottom, top = sizes.radius, 0.0 if sizes.kind is usd_geom.Cone else sizes.radius
        bottom, top = mass.taper_of(prim) or (bottom, top)
        return _Shape(kind, {"height": sizes.height, "radiusBottom": bottom, "radiusTop": top}), offset

    def _is_kept_plane(self, kept: dict[str, Any], gprim: usd_geom.Gprim) -> bool:
        values = kept.get("plane", {})
        return _is_near(values.get("sizeX", 2.0), gprim.resolved("width")) and _is_near(
            values.get("sizeZ", 2.0), gprim.resolved("length")
        )

    def _mesh(self, prim: Prim, index: int, mesh: Mesh) -> int:
        """Index of a mesh of the document: that of the node if it is the same, else an appended one."""
        own = self.document.nodes[index].get("mesh")
        if own is not None and self._is_same_mesh(own, mesh):
            return int(own)
        if id(mesh) not in self.meshes:
            self.meshes[id(mesh)] = (mesh, self.document.add_mesh(self._free_name(f"{prim.name}_mesh"), mesh))
        return self.meshes[id(mesh)][1]

    def _is_same_mesh(self, index: int, mesh: Mesh) -> bool:
        key = ("gltf", index)
        found = mesh.derived.get(key)
        if found is None:
            primitives = self.document.json["meshes"][index].get("primitives", ())
            theirs = self.document.mesh(index) if len(primitives) == 1 else None
            plain = "targets" not in primitives[0] if primitives else False
            found = theirs is not None and plain and _are_same(theirs, mesh)
            mesh.derived[key] = found
        return bool(found)

    # ------------------------------------------------------------------ joints

    def _write_joint(self, prim: Prim) -> None:
        joint = prim.get(usd_physics.Joint)
        assert joint is not None
        if not joint.resolved("joint_enabled"):
            return
        ends: list[str] = []
        for side in (0, 1):
            target = (getattr(joint, f"body{side}") or ("",))[0]
            owner = self.model.body_of(target) if target else None
            if target and owner is None and target not in self.nodes:
                self._skip_joint(prim, target)
                return
            if owner is not None and owner.path not in self.bodies:
                self._skip_joint(prim, owner.path)
                return
            ends.append(owner.path if owner is not None else "")
        places = [self._frame(joint, side) for side in (0, 1)]
        settings = self._settings(prim, joint)
        moving = [self._is_dynamic(end) for end in ends]
        if not any(moving) and not (ends[0] or ends[1]):
            self.lose(prim, "a joint between two things that do not move")
            return
        # OMI asks for a dynamic body above the joint node, and Babylon for any body.
        is_generic = prim.type_name == "PhysicsJoint"
        if moving[1] and not moving[0] and (names.OMI in self.families or not (ends[0] or is_generic)):
            self.lose(prim, "that the body that does not move is the first (the joint is turned round)")
            ends.reverse()
            places.reverse()
            settings = joints.swapped(settings)
        self.written.counts["joints"] += 1
        index = self._joint_node(prim, ends[0], places[0])
        other = self._connected_node(prim, ends[1], places[1], index)
        if names.leaf(self.document.node_name(index)) != prim.name:
            self.lose(prim, "the name in USD")
        for family in self.families:
            value: dict[str, Any] = {
                "connectedNode": other, "joint": self._pooled(family.joint, "physicsJoints", settings)
            }  # fmt: skip
            if joint.collision_enabled:
                value["enableCollision"] = True
            if family.is_khr:
                self.document.put_extension(index, family.body, {"joint": value})
            elif ends[0]:
                self.document.put_extension(index, family.joint, value)

    def _skip_joint(self, prim: Prim, path: str) -> None:
        self._issue(
            "GltfJointSkipped", f"The joint {prim.display} holds '{path}', which is not in the file, so it is left "
            "out.", "Export both of its bodies.", "error", prim,
        )  # fmt: skip

    def _settings(self, prim: Prim, joint: usd_physics.Joint) -> dict[str, Any]:
        """Limits and drives; as they were imported while the values are still those that they gave."""
        settings = joints.settings_of(prim, joint)
        kept = prim.extras.get("settings")
        if isinstance(kept, dict):
            kept = joints.well_formed(kept)
            before = Prim(prim.path)
            joints.read_limits(before, kept)
            joints.read_drives(before, kept)
            old = before.get(usd_physics.Joint)
            if old is not None and joints.is_same(joints.settings_of(before, old), settings):
                return {key: value for key, value in kept.items() if value}
        return settings

    def _frame(self, joint: usd_physics.Joint, side: int) -> Matrix:
        target = (getattr(joint, f"body{side}") or ("",))[0]
        prim = self.model.prims.get(target)
        world = prim.world if prim is not None else None
        return frames.world_frame(world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))

    def _body_above(self, index: int | None) -> int | None:
        return next((one for one in self.document.ancestors(index) if one in self.body_nodes), None)

    def _joint_node(self, prim: Prim, body: str, place: Matrix) -> int:
        """The node of a joint, below its first body: its own Empty, moved there if need be, or a new one."""
        own = self._node_of(prim.path)
        above = self.bodies.get(body)
        if own is not None and self._body_above(own) == above and self._is_at(own, place):
            return own
        if own is not None and self.nodes.get(prim.path) == own and self._is_bare(own):
            scene = self._scene_of(own)
            parent = above if above is not None else self.document.parents[own]
            self.document.detach(own)
            self.document.put_below(own, parent, scene)
            self._place(own, place, prim)
            return own
        scene = None if own is None else self._scene_of(own)
        index = self.document.add_node({"name": self._free_name(prim.name)}, above, scene)
        self._place(index, place, prim)
        return index

    def _connected_node(self, prim: Prim, body: str, place: Matrix, joint: int) -> int:
        """A node at a frame below the second body, or a static one; a node that is there already is taken."""
        document, above = self.document, self.bodies.get(body)
        if above is None:
            index = document.add_node({"name": self._free_name(f"{prim.name}_frame1")}, None, self._scene_of(joint))
            self._place(index, place, prim)
            if names.OMI in self.families:
                document.put_extension(index, names.OMI.body, {"motion": {"type": "static"}})
                self.body_nodes.add(index)
            return index
        todo: list[int] = list(document.nodes[above].get("children", []))
        while todo:
            index = todo.pop(0)
            if index in self.body_nodes:
                continue
            if index != joint and "mesh" not in document.nodes[index] and self._is_at(index, place):
                return index
            todo += document.nodes[index].get("children", [])
        if not document.nodes[above].get("children") and not self._is_dynamic(body) and self._is_at(above, place):
            return above
        index = document.add_node({"name": self._free_name(f"{prim.name}_frame1")}, above)
        self._place(index, place, prim)
        return index

    def _is_at(self, index: int, place: Matrix) -> bool:
        world = self.document.world(index)
        size = max(1.0, float(np.abs(place[:3, 3]).max()))
        apart = float(np.abs(world[:3, 3] - place[:3, 3]).max())
        turned = float(np.abs(frames.rotation_of(world) - place[:3, :3]).max())
        return apart <= _SAME * size and turned <= _SAME

    def _is_bare(self, index: int) -> bool:
        node = self.document.nodes[index]
        return not node.keys() & {"mesh", "camera", "skin", "children", "extensions"} and index not in self.body_nodes

    # ------------------------------------------------------------------ the rest

    def _write_kept(self) -> None:
        """Compound triggers and volumes with gravity, as they were imported."""
        for path, prim in self.first.prims.items():
            if not prim.extras:
                continue
            index = self.nodes.get(path)
            parts = prim.extras.get("trigger_nodes")
            if index is not None and isinstance(parts, list):
                found = [self.origins[part] for part in parts if part in self.origins]
                found = [part for part in found if self._triggers_at(part, self.families[0])] if self.families else []
                if len(found) < len(parts):
                    self.lose(prim, "the parts of a compound trigger that are not exported", "Export all its parts.")
                for family in self.families:
                    triggers = [one for part in found for one in self._triggers_at(part, family)]
                    if triggers:
                        self.document.put_extension(index, family.body, {"trigger": {"nodes": triggers}})
                        self.written.counts["triggers"] += 1
            volume = prim.extras.get("gravity")
            if index is not None and isinstance(volume, dict):
                kind = volume.get("type")
                if kind in names.VOLUMES:
                    # The schema wants the object of the type, even an empty one.
                    volume = {kind: {}, **volume}
                self.document.put_extension(index, names.GRAVITY, volume)

    def _triggers_at(self, index: int, family: Family) -> list[int]:
        """The nodes with the trigger of an object: its own, or those of its shapes below it."""
        if "trigger" in self.document.node_extension(index, family.body):
            return [index]
        children = self.document.nodes[index].get("children", ())
        return [one for child in children for one in self._triggers_at(child, family)]

    def _write_gravity(self) -> None:
        scenes = [scene for prim in self.first.scenes.values() if (scene := prim.get(usd_physics.PhysicsScene))]
        if not scenes:
            return
        if len(scenes) > 1:
            prim = list(self.first.scenes.values())[1]
            self.lose(prim, "more than one physics scene, such as this one", "Use one gravity for all.")
        scene = scenes[0]
        size = scene.decided("gravity_magnitude")
        size = names.EARTH if size is None else size
        direction = np.array(scene.resolved("gravity_direction"), float)
        length = float(np.linalg.norm(direction))
        down = direction / length if length > 0.0 and math.isfinite(length) else np.array((0.0, 0.0, -1.0))
        if abs(size - names.EARTH) <= 1e-4 and np.abs(down - (0.0, 0.0, -1.0)).max() <= 1e-6:
            return
        value = self.document.root_extension(names.GRAVITY)
        value["gravity"] = float(size)
        value["direction"] = axes.vector_out(down.tolist())


# --------------------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape as in a file: its type, its lengths, and its mesh if it is one."""

    kind: str
    sizes: dict[str, Any]
    mesh: Mesh | None = None

    @property
    def reach(self) -> float:
        """About how large it is."""
        values = [value for value in self.sizes.values() if isinstance(value, int | float)]
        edges = self.sizes.get("size", ())
        if self.mesh is not None:
            values.append(float(np.ptp(self.mesh.points, axis=0).max()))
        return float(max([*values, *edges], default=1.0))

    @property
    def is_tapered(self) -> bool:
        return bool(self.sizes.get("radiusTop") != self.sizes.get("radiusBottom"))

    def for_godot(self) -> dict[str, float]:
        """Lengths of a capsule or cylinder in the form before September 2024."""
        radius = max(self.sizes["radiusTop"], self.sizes["radiusBottom"])
        height = self.sizes["height"] + (2.0 * radius if self.kind == "capsule" else 0.0)
        return {"radius": radius, "height": height}

    def scaled(self, scale: tuple[float, float, float]) -> _Shape:
        """In a space with a scale by the rules of UsdPhysics; axes of the model."""
        if self.mesh is not None or max(abs(factor - 1.0) for factor in scale) <= 1e-9:
            return self
        x, y, z = map(abs, scale)
        sizes = dict(self.sizes)
        if "size" in sizes:
            sizes["size"] = [one * factor for one, factor in zip(sizes["size"], (x, z, y), strict=True)]
        around = max(x, y, z) if self.kind == "sphere" else max(x, y)
        for key, factor in (("radius", around), ("radiusTop", around), ("radiusBottom", around), ("height", z)):
            if key in sizes:
                sizes[key] *= factor
        for key, factor in (("sizeX", x), ("sizeZ", y)):
            if key in sizes:
                sizes[key] *= factor
        return _Shape(self.kind, sizes)


@dataclass(slots=True)
class _Kind:
    """Primitives that are copies of each other.

    shapes: as `_Writer._shapes` gives them. scale: on the node that they belong to, if is_placed; None where they need
    a node of their own. values: what a collider says, by family and scale.
    """

    shapes: list[tuple[_Shape, Matrix | None]]
    scale: tuple[float, float, float] | None = None
    is_placed: bool = False
    values: dict[tuple[str, tuple[float, float, float]], dict[str, Any]] = field(default_factory=dict)


def _upright(axis: str) -> Matrix:
    """Rotation (3, 3) that takes Z to an axis."""
    if axis == "X":
        return np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    if axis == "Y":
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return np.eye(3)


def _bounds(mesh: Mesh, word: str) -> tuple[_Shape, Matrix]:
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    middle = (low + high) / 2.0
    place = frames.transform(middle)
    if word == "boundingCube":
        return _Shape("box", {"size": axes.size_out((high - low).tolist())}), place
    return _Shape("sphere", {"radius": float(np.linalg.norm(mesh.points - middle, axis=1).max())}), place


def _square(sizes: dict[str, Any]) -> Mesh:
    """A square, or the rectangle of a plane that has an end, in the axes of the model."""
    x = sizes.get("sizeX", 2.0 * _PLANE) / 2.0 or _PLANE
    y = sizes.get("sizeZ", 2.0 * _PLANE) / 2.0 or _PLANE
    return Mesh(np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


def _is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-9)


def _are_same(one: Mesh, other: Mesh) -> bool:
    """True if two meshes have the same triangles, whatever the order of their vertices; vertices may be split."""
    if len(one.triangles) != len(other.triangles):
        return False
    size = float(np.ptp(other.points, axis=0).max()) or 1.0
    sums = []
    for mesh in (one, other):
        corners = np.round(mesh.points[mesh.triangles] / (1e-5 * size)).sum(axis=1)
        sums.append(corners[np.lexsort(corners.T)])
    return bool(np.abs(sums[0] - sums[1]).max(initial=0.0) <= 3.0)
