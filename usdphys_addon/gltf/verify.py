# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file that was just written, and holds its physics against the model that it was written from."""

from __future__ import annotations

from pathlib import Path

from ..core import likeness, paths
from ..core.model import PhysicsModel
from ..core.proof import Mismatch
from ..core.schemas import usd_physics
from . import vendor
from .additions import Written
from .document import Document
from .read import GltfReading, read


def differences(file: Path, model: PhysicsModel, written: Written) -> list[Mismatch]:
    """Where the physics of a file deviates from a model. written: which node stands for which prim."""
    reading = read(Document.load(file))
    if reading.family not in written.families:
        return []  # that of another add-on, about which the export has said so
    return list(likeness.mismatches(model, reading.model, _pairing(model, reading, written)))


def _pairing(model: PhysicsModel, reading: GltfReading, written: Written) -> likeness.Pairing:
    document, pairing = reading.document, likeness.Pairing()
    # Where an animation moves a node, its place in the file is the one at another time.
    animated = document.animated()

    def place(index: int) -> str | None:
        """The path of a node, unless it moves."""
        if animated and not animated.isdisjoint(document.ancestors(index)):
            return None
        return reading.paths.get(index)

    shapes: dict[str, list[str]] = {}
    for path in reading.model.colliders:
        shapes.setdefault(paths.parent_of(path), []).append(path)
    for path, index in written.bodies.items():
        if (there := place(index)) is not None and likeness.moves(model.prims[path]):
            pairing.bodies[path] = there
    for path, nodes in written.colliders.items():
        if any(place(index) is None for index in nodes):
            continue
        below = [one for index in nodes for one in shapes.get(reading.paths[index], ())]
        if len(below) > len(nodes):
            is_trigger = vendor.TRIGGER in model.prims[path].schemas
            below = [one for one in below if (vendor.TRIGGER in reading.model.prims[one].schemas) == is_trigger]
        pairing.parts.append(likeness.Parts(path, (path,), below))
    joints = {
        (path if prim.extras.get("shares_node") is None else paths.parent_of(path)): path
        for path, prim in reading.model.joints.items()
    }  # fmt: skip
    for path, (index, is_swapped) in written.joints.items():
        joint = model.prims[path].get(usd_physics.Joint)
        if joint is not None and (there := place(index)) is not None:
            pairing.joints[path] = likeness.Tie(joints.get(there, there), is_swapped)
    if animated:
        pairing.kept -= {"count"}
    return pairing
