# SPDX-License-Identifier: GPL-3.0-or-later
"""PhysicsModel -> additions to a finished glTF document. Indices of nodes stay; new nodes and meshes are appended."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import mass
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from . import axes, filters, names
from .additions import Additions, WriteOptions, Written
from .document import Document
from .names import Family
from .write_colliders import Colliders
from .write_joints import Joints
from .write_motions import Motions


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
    additions = Additions(document, model, nodes, options, origins or {}, copies or {})
    for path in carrying:
        if path in model.prims:
            additions.lose(model.prims[path], "attributes that its schemas do not declare")
    _Writer(additions).write()
    return additions.written


class _Writer:
    def __init__(self, file: Additions) -> None:
        self.file, self.document, self.model, self.nodes = file, file.document, file.model, file.nodes
        self.options, self.families, self.bodies = file.options, file.families, file.bodies
        self.motions, self.colliders, self.joints = Motions(file), Colliders(file), Joints(file)
        #: Of bodies that have copies and whose colliders are on their own node: its extensions, its mesh, and how many
        #: colliders it has.
        self.known: dict[str, tuple[dict[str, Any], Any, int]] = {}
        #: Colliders that are written.
        self.done: set[str] = set()

    def write(self) -> None:
        self._find_bodies()
        self._name_nodes()
        if self.options.is_flat:
            self._flatten()
        copied = self._copied_bodies()
        self._write_bodies(self._without(copied), [path for path in self.bodies if path not in copied])
        rest = [path for path, first in copied.items() if not self._write_copy(path, first)]
        if rest:
            self._write_bodies(self.model, rest)
        for prim in self.file.first.joints.values():
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

    def _copied_bodies(self) -> dict[str, str]:
        """Bodies whose node gets the extensions of the node of another one, with that. Filters are of each collider."""
        if self.file.first.groups or self.file.first.having(usd_physics.FilteredPairsAPI):
            return {}
        return {path: first for path in self.bodies if (first := self.file.copies.get(path)) in self.bodies}

    def _without(self, copied: Mapping[str, str]) -> PhysicsModel:
        """The model without the copies of bodies and their colliders."""
        if not copied:
            return self.model
        prims = {
            path: prim for path, prim in self.model.prims.items()
            if path not in self.file.copies or not (path in copied or path.rpartition("/")[0] in copied)
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
        for prims in self.file.unsaid.values():
            if first in prims:
                prims[path] = self.model.prims[path]
        for bodies in self.motions.decided.values():
            if first in bodies:
                bodies[path] = None
        self.file.written.counts["bodies"] += 1
        self.file.written.counts["colliders"] += colliders
        return True

    # ------------------------------------------------------------------ bodies

    def _find_bodies(self) -> None:
        for path, prim in self.model.bodies.items():
            index = self.nodes.get(path)
            if index is None:
                self.file.issue(
                    "GltfNotExported", f"{prim.display} has no node of its own in the file, so its physics is left "
                    "out.", "Export the object; switch off GPU Instances and Flatten, which merge nodes.",
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
        for path, prim in self.file.first.prims.items():
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
        self.file.written.counts["bodies"] += 1
        if names.leaf(self.document.node_name(index)) != prim.name:
            self.file.lose(prim, "the name of the USD prim")
        for family in self.families:
            motion = self.motions.motion_of(family, prim, body, colliders)
            if motion is not None:
                self.document.put_extension(index, family.body, {"motion": motion})

    def _write_bodies(self, model: PhysicsModel, bodies: list[str]) -> None:
        """Write bodies, and all colliders of a model that were not written before."""
        colliders = mass.colliders_by_body(model)
        chosen = {
            path: prim for path, prim in model.colliders.items()
            if path not in self.done and (api := prim.get(usd_physics.CollisionAPI))
            and self.colliders.is_written(prim, api)
        }  # fmt: skip
        found, numbers = filters.filters_of(self.model, list(chosen))
        firsts = set(self.file.copies.values())

        def write_colliders(prims: Iterable[Prim]) -> None:
            for one in prims:
                self.colliders.write(one, found[numbers[one.path]] if one.path in numbers else None)
                self.done.add(one.path)

        for path in bodies:
            prim, index, own = self.model.prims[path], self.bodies[path], colliders.get(path, [])
            node = self.document.nodes[index]
            is_plain = "extensions" not in node
            before = len(self.document.nodes), len(self.file.written.issues)
            self._write_body(prim, index, own)
            if path not in firsts:
                continue
            write_colliders(one for one in own if one.path in chosen)
            if (
                is_plain
                and "extensions" in node
                and before == (len(self.document.nodes), len(self.file.written.issues))
            ):
                self.known[path] = (node["extensions"].copy(), node.get("mesh"), len(own))
        write_colliders(prim for path, prim in chosen.items() if path not in self.done)

    # ------------------------------------------------------------------ the rest

    def _write_kept(self) -> None:
        """Compound triggers and volumes with gravity, as they were imported."""
        for path, prim in self.file.first.prims.items():
            if not prim.extras:
                continue
            index = self.nodes.get(path)
            parts = prim.extras.get("trigger_nodes")
            if index is not None and isinstance(parts, list):
                found = [self.file.origins[part] for part in parts if part in self.file.origins]
                found = [part for part in found if self._triggers_at(part, self.families[0])] if self.families else []
                if len(found) < len(parts):
                    self.file.lose(
                        prim, "the parts of a compound trigger that are not exported", "Export all its parts."
                    )
                for family in self.families:
                    triggers = [one for part in found for one in self._triggers_at(part, family)]
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

    def _triggers_at(self, index: int, family: Family) -> list[int]:
        """The nodes with the trigger of an object: its own, or those of its shapes below it."""
        if "trigger" in self.document.node_extension(index, family.body):
            return [index]
        children = self.document.nodes[index].get("children", ())
        return [one for child in children for one in self._triggers_at(child, family)]

    def _write_gravity(self) -> None:
        scenes = [scene for prim in self.file.first.scenes.values() if (scene := prim.get(usd_physics.PhysicsScene))]
        if not scenes:
            return
        if len(scenes) > 1:
            prim = list(self.file.first.scenes.values())[1]
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
