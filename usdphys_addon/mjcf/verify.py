# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file of MJCF that was just written, and holds it against the model that it was written from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core import frames, mass
from ..core.model import PhysicsModel
from ..core.proof import Mismatch
from . import layout, matter, read
from .write import Written

#: Largest deviation of a place, as a share of the distance from the origin and at least of a metre, and of a mass.
_NEAR = 1e-6


def differences(model: PhysicsModel, written: Written, file: Path) -> Iterator[Mismatch]:
    """Where bodies are in other places, weigh something else, or are not there."""
    source = read.read_file(file)
    worlds = layout.worlds_of(source)
    weights = matter.inertials(source, layout.mesh_reader(source))
    rows = {body.name: row for row, body in enumerate(source.bodies)}
    colliders = mass.colliders_by_body(model)
    for path, name in written.names.items():
        prim = model.bodies.get(path)
        if prim is None:
            continue
        row = rows.get(name)
        if row is None:
            yield Mismatch("missing", path, prim.label, f"the body '{name}' is not in it.")
            continue
        shown = frames.transform(prim.world[:3, 3], frames.rotation_of(prim.world))
        far = max(1.0, float(np.abs(shown[:3, 3]).max()))
        if np.abs(worlds[row] - shown).max() > _NEAR * far:
            yield Mismatch("place", path, prim.label, f"the body '{name}' is in another place.")
        wanted, found = mass.mass_properties(model, path, colliders.get(path, ())), weights[row]
        if found is None or abs(found.mass - wanted.mass) > _NEAR * max(wanted.mass, 1e-3):
            yield Mismatch("value", path, prim.label, f"the body '{name}' has another mass.")
