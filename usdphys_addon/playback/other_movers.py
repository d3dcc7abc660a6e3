# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else moves the objects of a preview: what is muted for it, and what moves them all the same.

The second is found by asking Blender where an object is after its pose was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bpy.types import Depsgraph, Object
from numpy.typing import NDArray

from ..bridge import authored_poses
from ..bridge.identity.remembered import objects_by_name
from ..core import frames
from ..core.validate import Issue
from ..core.words import named

#: An object is elsewhere from this distance on, in Blender units and as a part of its distance from the origin, or from
#: this angle, rad: parents that shear have rotations that are only close.
_FAR, _TURNED = 1e-3, 0.03
#: A mesh is deformed if the corners of its bounding box have moved by this part of its size.
_DEFORMED = 0.01


def issues_of_muted(names: list[str], path_of: Mapping[str, str]) -> list[Issue]:
    """What would move the objects, which must be freed, and is muted while they are simulated."""
    issues, known = [], objects_by_name(with_linked=True)
    for name in names:
        before = authored_poses.stored(known[name])
        if before is None:
            continue
        muted = [f"the constraint '{constraint}'" for constraint in before.constraints]
        muted += [f"the driver of {_channel(path, index)}" for path, index in before.drivers]
        if muted:
            issues.append(Issue(
                "PreviewMuted", "info", path_of.get(name, ""), name,
                f"Physics moves '{name}', so this is muted until the reset: {', '.join(muted)}.",
                "Make the body kinematic if it is to follow them, or remove them.",
            ))  # fmt: skip
    return issues


def _channel(path: str, index: int) -> str:
    axes = "WXYZ" if path in ("rotation_quaternion", "rotation_axis_angle") else "XYZ"
    kind = path.partition("_")[0]
    return f"{kind} {axes[index]}" if path != "rotation_mode" else "rotation mode"


class OtherMovers:
    """Looks whether the objects are where they were written, less and less often: a look evaluates all of them."""

    def __init__(self, names: list[str], path_of: Mapping[str, str]) -> None:
        """names: of the objects, evaluated where they were authored. path_of: of their bodies."""
        self._path_of = path_of
        self._writes = 0
        self.issues: list[Issue] = []
        self._named: set[str] = set()
        known = objects_by_name(with_linked=True)
        self._boxes = {name: _box(known[name]) for name in names if known[name].modifiers}

    def is_due(self) -> bool:
        """Count a write of the objects. True for the first, the second, the fourth, the eighth ..."""
        self._writes += 1
        return not self._writes & (self._writes - 1)

    def look(self, depsgraph: Depsgraph, names: list[str], worlds: NDArray[np.float64]) -> None:
        """Note the objects that are not at `worlds` (n, 4, 4), Blender units, or whose meshes are not as they were."""
        known = objects_by_name(with_linked=True)
        for name, world in zip(names, worlds, strict=True):
            obj: Any = known.get(name)
            if obj is None or name in self._named:
                continue
            evaluated = obj.evaluated_get(depsgraph)
            if _is_elsewhere(np.array(evaluated.matrix_world), world):
                self._note(obj, *_cause(obj))
            elif name in self._boxes and _is_deformed(self._boxes[name], _box(evaluated)):
                self._note(
                    obj, f"its mesh by {_modifiers(obj)}", "Remove it, or make a collider that does not need it."
                )

    def _note(self, obj: Object, what: str, fix: str) -> None:
        self._named.add(obj.name)
        self.issues.append(Issue(
            "PreviewMovedByOthers", "warning", self._path_of.get(obj.name, ""), obj.name,
            f"'{obj.name}' is not shown where it is simulated, because Blender moves {what}.", fix,
        ))  # fmt: skip


def _is_elsewhere(shown: NDArray[np.float64], wanted: NDArray[np.float64]) -> bool:
    distance = float(np.linalg.norm(shown[:3, 3] - wanted[:3, 3]))
    if distance > _FAR * (1.0 + float(np.linalg.norm(wanted[:3, 3]))):
        return True
    turn = frames.rotation_of(shown).T @ frames.rotation_of(wanted)
    return bool(np.trace(turn) < 1.0 + 2.0 * np.cos(_TURNED))


def _box(obj: Object) -> NDArray[np.float64]:
    """Corners (8, 3) of the bounding box in the space of the object."""
    return np.array(obj.bound_box, float)


def _is_deformed(before: NDArray[np.float64], now: NDArray[np.float64]) -> bool:
    return bool(np.abs(now - before).max() > _DEFORMED * (np.ptp(before, axis=0).max() or 1.0))


def _modifiers(obj: Object) -> str:
    return f"the modifiers {named(item.name for item in obj.modifiers if item.show_viewport)}"


def _cause(obj: Object) -> tuple[str, str]:
    """(what moves the object, what to do)."""
    data = obj.animation_data
    drivers = [] if data is None else [curve for curve in data.drivers if not curve.mute]
    if obj.parent is not None and obj.parent_type != "OBJECT":
        return f"it with its parent '{obj.parent.name}'", "Clear the parent, and keep the transform."
    for curve in drivers:
        if curve.data_path.startswith("constraints"):
            return f"it by a driver of '{curve.data_path}'", "Remove the driver."
        if curve.data_path.startswith(("delta", "scale", "matrix", "parent")):
            return f"it by the driver of its {curve.data_path}", "Remove the driver, or make the body kinematic."
    if data is not None and (data.action is not None or len(data.nla_tracks)):
        return "it by its animation", "Remove the animation, or make the body kinematic."
    if obj.parent is not None:
        return f"it with its parent '{obj.parent.name}'", "Clear the parent, and keep the transform."
    return "it", "Look for what else determines its transform, and remove it."
