# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for deformables: cloth, soft bodies and cables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import deformables, overlap, paths
from ..building.tet_lattice import FACES
from ..deformables import FAMILIES, Deformable, Ints
from ..model import Prim
from ..schemas import usd_physics
from ..words import counted
from .base import Facts, Finding, name, rule
from .overlaps import solids_of_scene


def _each(facts: Facts, kind: str = "") -> Iterator[tuple[Prim, Deformable]]:
    """Deformables of a kind, or all, with their prims."""
    return ((facts.model.prims[one.path], one) for one in facts.deformables[0] if kind in ("", one.kind))


@rule("DeformableNotTriangles")
def not_triangles(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts, "surface"):
        if deformable.others:
            number = counted(deformable.others, "face")
            yield Finding(prim, f"The cloth {prim.display} has {number} that are not triangles.")


@rule("DeformableNonManifold")
def non_manifold(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts):
        if deformable.kind == "curves":
            continue
        corners = FACES if deformable.kind == "volume" else ((0, 1), (1, 2), (2, 0))
        if most := _most_sharing(deformable.elements, corners):
            what = "tetrahedra share a face" if deformable.kind == "volume" else "triangles share an edge"
            yield Finding(prim, f"In {prim.display}, {most} {what}; two may.")


def _most_sharing(elements: Ints, sides: tuple[tuple[int, ...], ...]) -> int:
    """How many elements have the side that most have; 0 where none is had by more than two."""
    if not len(elements):
        return 0
    every = np.sort(np.concatenate([elements[:, side] for side in sides]), axis=1)
    most = int(np.unique(every, axis=0, return_counts=True)[1].max())
    return most if most > 2 else 0


@rule("TetInverted")
def inverted(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts, "volume"):
        if not len(deformable.elements):
            continue
        volumes = deformables.volumes(deformable.points[deformable.elements])
        wrong = int((~(volumes > 1e-9 * float(np.abs(volumes).max()))).sum())
        if wrong:
            yield Finding(prim, f"{wrong} of the {len(volumes)} tetrahedra of {prim.display} are flat or inverted.")


@rule("DeformableUnderRigid")
def below_a_body(facts: Facts) -> Iterator[Finding]:
    bodies = {deformable.body for _, deformable in _each(facts)}
    for prim, deformable in _each(facts):
        carrier = facts.owner.at(prim.path)
        other = next((path for path in paths.ancestors_of(deformable.body) if path in bodies), "")
        if carrier is not None or other:
            above = carrier.display if carrier is not None else other
            yield Finding(prim, f"The deformable {prim.display} is below the body {above}.")


@rule("DeformableMassAPI")
def with_mass_api(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts):
        if usd_physics.MassAPI.usd_name in deformable.schemas:
            yield Finding(prim, f"The deformable {prim.display} has the mass of a rigid body, which nothing reads.")


@rule("DeformableThicknessMissing")
def without_thickness(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts):
        if (
            deformable.kind != "volume"
            and not len(deformable.thicknesses[0])
            and f"Physics{deformable.kind.title()}DeformableSimAPI" in deformable.schemas
        ):
            yield Finding(prim, f"{prim.display} has no thickness: 1 mm is taken.")


#: A point is inside a collider if it is deeper than this part of the size of the deformable.
_DEEP = 0.002


@rule("DeformableIntersects")
def starts_inside(facts: Facts) -> Iterator[Finding]:
    holders: dict[str, set[str]] = {}
    for pin in facts.deformables[1]:
        holders.setdefault(pin.deformable, set()).add(pin.target)
    for prim, deformable in _each(facts):
        if not len(deformable.points):
            continue
        low, high = deformable.points.min(axis=0), deformable.points.max(axis=0)
        least = _DEEP * float(np.linalg.norm(high - low))
        # What holds it may reach into it; but not all that is below a common parent.
        held = [
            path
            for path in holders.get(deformable.path, ())
            if path and not paths.is_at_or_below(deformable.path, path)
        ]
        for solid in facts.once(solids_of_scene):
            is_near = (solid.low <= high).all() and (low <= solid.high).all()
            if not is_near or any(paths.is_at_or_below(solid.prim.path, path) for path in held):
                continue
            number = int((overlap.depths_inside(solid, deformable.points) > least).sum())
            if number:
                points, place = f"{number} of the {len(deformable.points)} points", solid.prim.display
                text = f"{points} of {prim.display} start inside {place}."
                yield Finding(prim, text, {"other": name(solid.prim)})
                break


@rule("DeformableDialects")
def dialects(facts: Facts) -> Iterator[Finding]:
    for prim, deformable in _each(facts):
        families = {family for family in FAMILIES for name in deformable.schemas
                    if name.startswith(family) and "Deformable" in name}  # fmt: skip
        if len(families) > 1:
            yield Finding(prim, f"{prim.display} has schemas of OpenUSD's proposal and of PhysX for deformables.")


@rule("DeformablePinStatic")
def pinned_to_nothing_that_moves(facts: Facts) -> Iterator[Finding]:
    kinds = {deformable.path: (prim, deformable.kind) for prim, deformable in _each(facts)}
    for pin in facts.deformables[1]:
        prim, kind = kinds.get(pin.deformable, (None, ""))
        if prim is not None and kind != "curves" and facts.carrier.at(pin.target) is None:
            place = pin.target or "the world"
            yield Finding(prim, f"{pin.path} holds {prim.display} at {place}, which is no rigid body.")


@rule("DeformableCurvesInPhysx")
def curves_in_physx(facts: Facts) -> Iterator[Finding]:
    for prim, _ in _each(facts, "curves"):
        yield Finding(prim, f"The cable {prim.display} is not simulated by PhysX.")
