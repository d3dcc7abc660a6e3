# SPDX-License-Identifier: GPL-3.0-or-later
"""What is added to a finished glTF document: which node is which prim, entries of its lists, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..core import frames, paths
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import PhysicsModel, Prim
from ..core.prototypes import schemas_key
from ..core.rules.base import OF_GLTF
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue, Target
from ..core.words import and_more
from . import names, unsaid
from .document import Document
from .names import Family

#: Two frames are one where they are nearer than this: metres, and elements of a rotation.
SAME = 2e-5
_MIRROR = np.diag([-1.0, -1.0, -1.0, 1.0])
PRIM_NAME = "the name of the USD prim"
#: Facts that only a way back to the same USD file needs.
_MINOR = (
    PRIM_NAME,
    "the name of a physics scene",
    "the polygons of a mesh (its triangles are written)",
)
#: Bodies that one message names.
MOST_NAMES = 20


@dataclass(slots=True)
class WriteOptions:
    """families: that are written. is_flat: bodies below a body are moved beside it. keeps_usd: see `gltf.keep`.

    is_for_godot: OMI capsules and cylinders have the one radius, and capsules the full height, that Godot 4 reads.
    target: by whose rules the physics is checked; None: by those of USD, if it is checked at all.
    """

    families: Sequence[Family] = names.FAMILIES
    is_flat: bool = False
    keeps_usd: bool = True
    is_for_godot: bool = False
    target: Target | None = None


@dataclass(slots=True)
class Written:
    """counts: bodies, colliders, joints ... issues: what was left out or kept aside.

    bodies, colliders: nodes by the paths of their prims. joints: likewise, with True where their bodies are swapped.
    families: that are written.
    """

    counts: Counter[str] = field(default_factory=Counter)
    issues: list[Issue] = field(default_factory=list)
    bodies: dict[str, int] = field(default_factory=dict)
    colliders: dict[str, list[int]] = field(default_factory=dict)
    joints: dict[str, tuple[int, bool]] = field(default_factory=dict)
    families: Sequence[Family] = ()


class Additions:
    """A document that gets the physics of a model."""

    def __init__(
        self, document: Document, model: PhysicsModel, nodes: Mapping[str, int], options: WriteOptions,
        origins: Mapping[str, int],
    ) -> None:  # fmt: skip
        self.document, self.model, self.nodes, self.origins = document, model, nodes, origins
        self.families = [one for one in options.families if not self._is_foreign(one)]
        self.options = options
        self.written = Written(families=self.families)
        #: Facts that are lost and what to do about them -> prims that lose them, by path.
        self.unsaid: dict[tuple[str, str], dict[str, Prim]] = {}
        for one in options.families:
            if one not in self.families:
                self.issue(
                    "GltfForeign", f"Another add-on has written {one.body}, so that is left as it is.",
                    "Switch off one of the two add-ons for glTF physics.",
                )  # fmt: skip
        self.has_bindings = any(prim.physics_binding or prim.materials for prim in model.prims.values())
        #: Nodes of the bodies that are written, by path.
        self.bodies = self.written.bodies
        self.body_nodes: set[int] = set()
        #: Nodes of static colliders, by the paths of these and of all above them.
        self.static_nodes: dict[str, int] = {}
        self.pools: dict[tuple[str, str], dict[str, int]] = {}
        self.dynamic: dict[str, bool] = {}

    def _is_foreign(self, family: Family) -> bool:
        used = self.document.json.get("extensionsUsed") or ()
        return family.body in used and family.body not in self.document.written

    def issue(
        self, code: str, message: str, fix: str, severity: Any = "warning", prim: Prim | None = None
    ) -> None:  # fmt: skip
        path, label = (prim.path, prim.label) if prim is not None else ("", "")
        self.written.issues.append(Issue(code, severity, path, label, message, fix))

    def lose(self, prim: Prim, what: str, fix: str = "Keep the USD file beside it.") -> None:
        """Note a fact that glTF has no word for."""
        self.unsaid.setdefault((what, fix), {})[prim.path] = prim

    def report_lost(self) -> None:
        """Name the facts that glTF has no word for, each with its prims."""
        is_checked = self.options.target in OF_GLTF
        for prim, fact in unsaid.facts(self.model):
            if not (is_checked and fact == unsaid.ARTICULATION):  # which a rule for the reader names, and its effect
                self.lose(prim, fact)
        for (what, fix), prims in self.unsaid.items():
            shown = and_more((prim.display for prim in islice(prims.values(), MOST_NAMES)), len(prims))
            if self.options.keeps_usd:
                message = f"glTF has no field for {what}, so it is only in the extras of the file: {shown}."
                fix = "Read the file with USD Physics where it matters."
            else:
                message = f"glTF has no field for {what}, so it is left out: {shown}."
            severity = "info" if self.options.keeps_usd or what in _MINOR else "warning"
            self.issue("GltfNotSaid", message, fix, severity, next(iter(prims.values())) if len(prims) == 1 else None)

    def node_of(self, path: str) -> int | None:
        """The node of a prim, or of the nearest object above it."""
        nearest_path = paths.nearest(path, self.nodes)
        return self.nodes[nearest_path] if nearest_path else None

    def scene_of(self, index: int) -> int | None:
        root = list(self.document.ancestors(index))[-1]
        scenes = self.document.json.get("scenes", [])
        return next((number for number, one in enumerate(scenes) if root in one.get("nodes", ())), None)

    def place(self, index: int, world: Matrix, prim: Prim) -> None:
        """Put a node at a place in the world."""
        parent = self.document.parents[index]
        local = world if parent is None else relative(self.document.world(parent), world, prim)
        if not self.document.place(index, np.asarray(local, float)):
            self.issue(
                "GltfSheared", f"{prim.display} is sheared by its parents, and glTF has no shear.",
                "Apply the scale of its parents.", "warning", prim,
            )  # fmt: skip

    def place_frame(self, index: int, place: Matrix, prim: Prim) -> bool:
        """Put a node at a place without scale. Below a mirrored node it is mirrored too, which is then returned.

        So it has no negative scale of its own, and its rotation is that of a frame in UsdPhysics. Where it is turned
        within an uneven scale, a node between takes the scale out.
        """
        document, parent = self.document, self.document.parents[index]
        if parent is None:
            self.place(index, place, prim)
            return False
        above = document.world(parent)
        is_mirrored = frames.determinant(above) < 0.0
        place = place @ _MIRROR if is_mirrored else place
        scale = np.abs(frames.scale_of(above))
        if (
            scale.min() > 0.0 and not frames.is_uniform(scale, 1e-4) and not frames.is_sheared(above)
            and "sheared" not in prim.extras and frames.is_sheared(relative(above, place, prim))
        ):  # fmt: skip
            document.detach(index)
            between = document.add_node({"name": self.free_name(f"{document.node_name(index)}_unscaled")}, parent)
            at = relative(above, place, prim)[:3, 3]
            document.place(between, frames.transform(at, None, 1.0 / scale))
            document.put_below(index, between)
        if prim.get(usd_physics.Joint) is not None and frames.is_sheared(above):
            place = _without_stretch(above, place, prim)
        self.place(index, place, prim)
        return is_mirrored

    def is_dynamic(self, path: str) -> bool:
        if path not in self.dynamic:
            self.dynamic[path] = self._find_dynamic(path)
        return self.dynamic[path]

    def _find_dynamic(self, path: str) -> bool:
        prim = self.model.prims.get(path)
        body = prim.get(usd_physics.RigidBodyAPI) if prim is not None else None
        return body is not None and body.resolved("rigid_body_enabled") and not body.resolved("kinematic_enabled")

    def kind_key(self, prim: Prim) -> tuple[Any, ...] | None:
        """What decides about the shape, the material and the mass of a primitive; None for other colliders."""
        if prim.extras or prim.get(usd_geom.Gprim) is None:
            return None
        material = self.material_of(prim)
        local = prim.local.tobytes() if prim.local is not None else b""
        return (schemas_key(prim), local, material.path if material is not None else "")

    def pooled(self, extension: str, name: str, value: dict[str, Any]) -> int:
        """Index of an entry of a list of the document; equal entries are one."""
        pool = self.pools.setdefault((extension, name), {})
        key = repr(value)
        if key not in pool:
            items = self.document.root_extension(extension).setdefault(name, [])
            pool[key] = len(items)
            items.append(value)
        return pool[key]

    def material_of(self, prim: Prim) -> Prim | None:
        if not self.has_bindings:
            return None
        for one in (prim, *self.model.ancestors(prim.path)):
            bound = one.physics_binding or (one.materials[-1] if one.materials else "")
            if bound:
                return self.model.prims.get(bound)
        return None

    def free_name(self, name: str) -> str:
        taken = self._names()
        name_free = paths.free(name, taken.__contains__)
        taken.add(name_free)
        return name_free

    def _names(self) -> set[str]:
        if not hasattr(self, "_taken_names"):
            self._taken_names = {str(node.get("name", "")) for node in self.document.nodes}
        return self._taken_names

    # ------------------------------------------------------------------ shapes


def _without_stretch(above: Matrix, place: Matrix, prim: Prim) -> Matrix:
    """A place below a sheared node that has the rotation of another and needs no shear: it is scaled in the world."""
    local = relative(above, place, prim)
    local[:3, :3] = frames.rotation_of(local)
    return np.asarray(above @ local, float)


def relative(above: Matrix, place: Matrix, prim: Prim) -> Matrix:
    """A place in the world relative to a node. Raises InputError below a node that is scaled to zero."""
    try:
        return np.asarray(np.linalg.solve(above, place), float)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"{prim.display} cannot be placed in a glTF file, because an object above it is scaled to 0; give "
            "that another scale."
        ) from error
