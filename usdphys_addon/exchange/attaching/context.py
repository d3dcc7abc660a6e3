# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of one attaching share: where prims and objects are, how they have moved, and what cannot be attached.

World matrices are (4, 4), with translations in metres.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Object, Scene

from ...bridge.identity.match import ObjectMatcher
from ...bridge.identity.remembered import objects_of
from ...bridge.writing import unit_length
from ...core import frames
from ...core.model import PhysicsModel, Prim
from ...core.paths import ancestors_of
from ...core.validate import Issue

#: Rotations that differ less in each number of their matrices are the same.
SAME_ROTATION = 1e-6


class AttachContext:
    """meters: length of a Blender unit. issues: takes what cannot be attached. missing: paths of prims left out."""

    def __init__(self, scene: Scene, model: PhysicsModel, issues: list[Issue]) -> None:
        self.model, self.issues = model, issues
        self.scene: Any = scene
        self.meters = unit_length(scene)
        _update_matrices(scene)
        self.match = ObjectMatcher(objects_of(scene, model.source), model)
        self.missing: list[str] = []
        #: Paths that an issue names.
        self.reported: set[str] = set()
        self._linked: set[Any] = set()
        self._motions: dict[str, frames.Matrix] = {}

    # ------------------------------------------------------------------ where things are

    def world_now(self, obj: Object) -> frames.Matrix:
        """Object space to world."""
        world = np.array(obj.matrix_world, float)
        world[:3, 3] *= self.meters
        return world

    def world_in_file(self, path: str) -> frames.Matrix:
        """Prim space to world, as the file has it."""
        prim = self.model.prims.get(path)
        world = prim.world if prim is not None else self.model.locate(path) if self.model.locate is not None else None
        return np.eye(4) if world is None else np.nan_to_num(world, posinf=0.0, neginf=0.0)

    def motion(self, path: str) -> frames.Matrix:
        """How the object at or above a prim has moved since the file was written: rotation, translation, mirroring.

        Without scale: lengths in the world stay those of the file.
        """
        site, obj = self.match.above(path)
        if site not in self._motions:
            moved = np.eye(4)
            if obj is not None:
                moved = _unscaled(self.world_now(obj)) @ _inverse(_unscaled(self.world_in_file(site)))
            self._motions[site] = moved
        return self._motions[site]

    def world_moved(self, path: str) -> frames.Matrix:
        """Prim space to world, moved as its object has moved."""
        return np.asarray(self.motion(path) @ self.world_in_file(path), float)

    def change(self, prim: Prim, space: frames.Matrix) -> frames.Matrix:
        """From the space of a prim, moved, to another; the identity if that is scaled to nothing."""
        if is_flat(space):
            return np.eye(4)
        return np.asarray(np.linalg.solve(space, self.world_moved(prim.path)), float)

    def rotation(self, prim: Prim, space: frames.Matrix) -> frames.Matrix:
        """Rotation (3, 3) from the space of a prim, moved, to another; exactly the identity if it is noise.

        Between the spaces without scale. That in `change` differs where both are scaled unevenly, along other axes.
        """
        rotation = frames.rotation_of(space).T @ frames.rotation_of(self.world_moved(prim.path))
        return np.eye(3) if np.abs(rotation - np.eye(3)).max() <= SAME_ROTATION else rotation

    def carrier(self, path: str) -> Any | None:
        """The object for a gprim that has none of its own: that of the nearest prim above, within the same body."""
        site, obj = self.match.above(path)
        body = self.model.body_of(path)
        return None if body is not None and len(body.path) > len(site) else obj

    # ------------------------------------------------------------------ what cannot be attached

    def issue(self, code: str, severity: str, path: str, label: str, message: str, fix: str) -> None:
        self.issues.append(Issue(code, severity, path, label, message, fix))  # type: ignore[arg-type]

    def leave_out(self, path: str, message: str, fix: str) -> None:
        """Report a prim as missing."""
        self.missing.append(path)
        self.issue("AttachMissing", "warning", path, "", message, fix)

    def leave_out_unmatched(self, path: str) -> None:
        """Report a prim that has no object, or the ambiguous prim above that is the cause; each of them once."""
        match = self.match
        decides = (
            one for one in (path, *ancestors_of(path)) if one in match.rivals or match.object_of(one) is not None
        )
        cause = next(decides, "")
        if cause in match.rivals:
            self.missing.append(path)
            if cause not in self.reported:
                self.reported.add(cause)
                self._report_ambiguous(cause)
            return
        body = self.model.body_of(path)
        if path in self.reported or (body is not None and body.path in self.reported):
            self.missing.append(path)
            return
        self.reported.add(path)
        self.leave_out(
            path, f"There is no object for '{path}', so its physics is left out.",
            f"Name its object '{path.rpartition('/')[2]}', or import the file as a whole.",
        )  # fmt: skip

    def _report_ambiguous(self, path: str) -> None:
        objects, prims = self.match.rivals[path]
        others = f", and so could {_listed(prims)}" if prims else ""
        self.issue(
            "AttachAmbiguous", "warning", path, "",
            f"'{path}' could be {_listed(objects, ' or ')}{others}: its physics is left out.",
            "Parent or name the objects like the prims, so that one of them fits best.",
        )  # fmt: skip

    def is_editable(self, thing: ID, path: str) -> bool:
        """False (and reports an issue, once) if an object or a material is linked."""
        if thing.is_editable:
            return True
        if thing not in self._linked:
            self._linked.add(thing)
            self.issue(
                "AttachLinked", "warning", path, thing.name,
                f"'{thing.name}' is linked from another file and cannot be changed.",
                "Make a library override of it, and attach the physics again.",
            )  # fmt: skip
        return False


def is_flat(space: frames.Matrix) -> bool:
    """True if a space is scaled to nothing along an axis, or holds NaN."""
    return frames.is_flat(np.linalg.det(space[:3, :3]))


def is_within(obj: Object | None, other: Any) -> bool:
    """True if an object is the other one, or is parented to it, directly or not."""
    while obj is not None:
        if obj == other:
            return True
        obj = obj.parent
    return False


def _unscaled(world: frames.Matrix) -> frames.Matrix:
    """A matrix without its scale, but mirrored if it was."""
    rotation = frames.rotation_of(world)
    return frames.transform(world[:3, 3], -rotation if frames.determinant(world) < 0 else rotation)


def _inverse(pose: frames.Matrix) -> frames.Matrix:
    """The inverse of a matrix without scale, mirrored or not."""
    return frames.transform(-pose[:3, :3].T @ pose[:3, 3], pose[:3, :3].T)


def _listed(names: list[str], last: str = " and ") -> str:
    quoted = [f"'{name}'" for name in names]
    return last.join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _update_matrices(scene: Scene) -> None:
    """Have Blender compute the world matrices of what was moved since it drew last."""
    context: Any = bpy.context
    layer: Any = context.view_layer if context.scene == scene else scene.view_layers[0]
    layer.update()
