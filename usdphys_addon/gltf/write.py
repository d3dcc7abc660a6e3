# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> additions to a finished glTF document. Indices of nodes stay; new nodes and meshes are appended."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core import mass, paths
from ..core.model import PhysicsModel, Prim
from ..core.prototypes import schemas_key
from ..core.schemas import usd_physics
from . import additions, axes, filters, names, vehicles
from .additions import Additions, WriteOptions, Written
from .document import Document
from .names import Family
from .write_colliders import Colliders
from .write_joints import Joints
from .write_motions import Motions


def write(
    document: Document, model: PhysicsModel, nodes: Mapping[str, int], options: WriteOptions,
    origins: Mapping[str, int] | None = None, carrying: Collection[str] = (),
) -> Written:  # fmt: skip
    """Put the physics of a model into a document.

    nodes: index of the node of each object, by the path of its prim. origins: the same by the path that the object had
    when it was imported from glTF, which compound triggers name. carrying: prims that say more about physics than the
    model holds.
    """
    file = Additions(document, model, nodes, options, origins or {})
    for path in carrying:
        if path in model.prims:
            file.lose(model.prims[path], "attributes that its schemas do not declare")
    _Writer(file).write()
    return file.written


class _Known(NamedTuple):
    """A body with all its colliders on its own node, and the extensions of that."""

    prim: Prim
    colliders: list[Prim]
    extensions: dict[str, Any]


class _Writer:
    def __init__(self, file: Additions) -> None:
        self.file, self.document, self.model, self.nodes = file, file.document, file.model, file.nodes
        self.options, self.families, self.bodies = file.options, file.families, file.bodies
        self.motions, self.colliders, self.joints = Motions(file), Colliders(file), Joints(file)

    def write(self) -> None:
        self._find_bodies()
        self._name_nodes()
        if self.options.is_flat:
            self._flatten()
        self._write_bodies()
        for prim in self.model.joints.values():
            self.joints.write(prim)
        self._write_kept()
        self._write_gravity()
        self.motions.report()
        self.file.report_lost()
        if self.file.written.counts:
            for family in self.families:
                # Babylon needs an object of the document, even an empty one.
                self.document.root_extension(family.body)
                self.document.written.add(family.body)

    # ------------------------------------------------------------------ bodies

    def _find_bodies(self) -> None:
        for path, prim in self.model.bodies.items():
            index = self.nodes.get(path)
            if index is None:
                self.file.issue(
                    "GltfNotExported", f"{prim.display} has no node of its own in the file, so its physics is left "
                    "out.", "Export the object; switch Geometry Nodes Instances on, and GPU Instances and Flatten, "
                    "which merge nodes, off.",
                    "error", prim,
                )  # fmt: skip
            elif "skin" in self.document.nodes[index]:
                self.file.issue(
                    "GltfSkinned", f"{prim.display} is deformed by an armature, and glTF gives such a node no place, "
                    "so its physics is left out.", "Put the body on the bone, or on an Empty.", "error", prim,
                )  # fmt: skip
            else:
                self.bodies[path] = index
        self.file.body_nodes = set(self.bodies.values())

    def _name_nodes(self) -> None:
        """Give nodes back the names that no prim can have, if they are called like their prims."""
        for path, prim in self.model.prims.items():
            name, index = prim.extras.get("name"), self.nodes.get(path)
            if isinstance(name, str) and index is not None and self.document.node_name(index) == names.leaf(name):
                self.document.nodes[index]["name"] = name

    def _flatten(self) -> None:
        """Move bodies below bodies beside the topmost of them. Animated ones stay."""
        animated = self.document.animated()
        for path, index in self.bodies.items():
            above = [
                one for one in self.document.ancestors(self.document.parents[index]) if one in self.file.body_nodes
            ]
            if not above:
                continue
            if index in animated:
                self.file.issue(
                    "GltfNested", f"'{path}' is animated, so it stays below another body.",
                    "Parent it to an object that is not a rigid body.", "info", self.model.prims[path],
                )  # fmt: skip
                continue
            world, parent = self.document.world(index), self.document.parents[above[-1]]
            scene = self.file.scene_of(index)
            self.document.detach(index)
            self.document.put_below(index, parent, scene)
            self.file.place(index, world, self.model.prims[path])

    def _write_body(self, prim: Prim, index: int, colliders: list[Prim]) -> None:
        body = prim.get(usd_physics.RigidBodyAPI)
        assert body is not None
        for family in self.families:
            motion = self.motions.motion_of(family, prim, body, colliders)
            if motion is not None:
                self.document.put_extension(index, family.body, {"motion": motion})

    def _write_bodies(self) -> None:
        """Write all bodies and colliders. Bodies of one prototype, with colliders of one, get the same extensions."""
        by_body = mass.colliders_by_body(self.model)
        chosen = {
            path: prim for path, prim in self.model.colliders.items()
            if (api := prim.get(usd_physics.CollisionAPI)) and self.colliders.is_written(prim, api)
        }  # fmt: skip
        filters_found, numbers = filters.filters_of(self.model, list(chosen))
        rest = dict(chosen)
        known: dict[Hashable, _Known | None] = {}
        for path, index in self.bodies.items():
            prim, own = self.model.prims[path], by_body.get(path, [])
            self.file.written.counts["bodies"] += 1
            if names.leaf(self.document.node_name(index)) != prim.name:
                self.file.lose(prim, additions.PRIM_NAME)
            key = self._key_of(prim, index, own, numbers)
            if key is None:
                self._write_body(prim, index, own)
                continue
            for one in own:
                rest.pop(one.path, None)
            first = known.get(key)
            if first is not None:
                self._write_equal(first, prim, index, own)
                continue
            before = len(self.document.nodes), len(self.file.written.issues)
            self._write_body(prim, index, own)
            for one in own:
                self.colliders.write(one, filters_found[numbers[one.path]] if one.path in numbers else None)
            if before == (len(self.document.nodes), len(self.file.written.issues)):
                known[key] = _Known(prim, own, dict(self.document.nodes[index].get("extensions", {})))
        for path, prim in rest.items():
            self.colliders.write(prim, filters_found[numbers[path]] if path in numbers else None)

    def _key_of(
        self, prim: Prim, index: int, colliders: list[Prim], filter_of: Mapping[str, int]
    ) -> Hashable | None:  # fmt: skip
        """What decides about the extensions of the node of a body; None where more than its own prims may."""
        node = self.document.nodes[index]
        if prim.extras or "extensions" in node or self.colliders.parts:
            return None
        key: list[Hashable] = [schemas_key(prim), prim.world[:3, :3].tobytes(), node.get("mesh")]
        for one in colliders:
            is_below = paths.parent_of(one.path) == prim.path and one.path not in self.nodes
            is_placed = one.local is not None or one.world is prim.world
            if (one is not prim and not (is_below and is_placed)) or one.extras or one.resets_xform_stack:
                return None
            material = self.file.material_of(one)
            key += schemas_key(one), id(one.local), id(one.mesh), one.materials, one.physics_binding
            key += "" if material is None else material.path, filter_of.get(one.path)
        return (*key, prim.materials, prim.physics_binding)

    def _write_equal(self, first: _Known, prim: Prim, index: int, colliders: list[Prim]) -> None:
        """Give the node of a body the extensions of an equal one, and note the same losses."""
        if first.extensions:
            self.document.nodes[index]["extensions"] = first.extensions.copy()
        pairs = ((first.prim, prim), *zip(first.colliders, colliders, strict=True))
        for (what, _), prims in self.file.unsaid.items():
            if what != additions.PRIM_NAME:
                for known, own in pairs:
                    if known.path in prims:
                        prims[own.path] = own
        for bodies in self.motions.decided.values():
            if first.prim.path in bodies:
                bodies[prim.path] = None
        for one, own in pairs[1:]:
            self.colliders.compare_name(own, index, *self.colliders.written[one.path])
        self.file.written.counts["colliders"] += len(colliders)
        self.file.written.colliders.update((one.path, [index]) for one in colliders)

    # ------------------------------------------------------------------ the rest

    def _write_kept(self) -> None:
        """Compound triggers, volumes with gravity, vehicles and seats, as they were imported."""
        for path, prim in self.model.prims.items():
            if not prim.extras:
                continue
            index = self.nodes.get(path)
            parts = prim.extras.get("trigger_nodes")
            if index is not None and isinstance(parts, list):
                origins = [self.file.origins[part] for part in parts if part in self.file.origins]
                origins = (
                    [part for part in origins if self._triggers_at(part, self.families[0])] if self.families else []
                )
                if len(origins) < len(parts):
                    self.file.lose(
                        prim, "the parts of a compound trigger that are not exported", "Export all its parts."
                    )
                for family in self.families:
                    triggers = [one for part in origins for one in self._triggers_at(part, family)]
                    if triggers:
                        self.document.put_extension(index, family.body, {"trigger": {"nodes": triggers}})
                        self.file.written.counts["triggers"] += 1
            volume = prim.extras.get("gravity")
            if index is not None and isinstance(volume, dict):
                kind = volume.get("type")
                if kind in names.VOLUMES:
                    # The schema wants the object of the type, even an empty one.
                    volume = {kind: {}, **volume}
                self.document.put_extension(index, names.GRAVITY, volume)
            if index is not None and not vehicles.write(self.file, index, prim.extras):
                self.file.lose(prim, "a pilot seat that is not exported", "Export the seat, too.")

    def _triggers_at(self, index: int, family: Family) -> list[int]:
        """The nodes with the trigger of an object: its own, or those of its shapes below it."""
        if "trigger" in self.document.node_extension(index, family.body):
            return [index]
        children = self.document.nodes[index].get("children", ())
        return [one for child in children for one in self._triggers_at(child, family)]

    def _write_gravity(self) -> None:
        scenes = [scene for prim in self.model.scenes.values() if (scene := prim.get(usd_physics.PhysicsScene))]
        if not scenes:
            return
        if len(scenes) > 1:
            prim = list(self.model.scenes.values())[1]
            self.file.lose(prim, "more than one physics scene, such as this one", "Use one gravity for all.")
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
