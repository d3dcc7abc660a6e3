# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for what Newton refuses with the whole file, where its solver is MuJoCo: in files without deformables.

Each was measured with Newton 1.8, which was given such a file and one without what is wrong in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Mesh, Prim
from ..schemas import usd_physics
from .base import Facts, Finding, name, rule
from .mujoco import is_flat

#: Approximations that have a thickness of their own, or take the sizes of a mirrored mesh.
_BOUNDS = ("boundingCube", "boundingSphere")


def _is_of_mujoco(facts: Facts) -> bool:
    found = facts.model.deformables
    return found is None or not found()[0]


def _meshes(facts: Facts) -> list[tuple[Prim, Mesh]]:
    """The colliders that are meshes, or hulls of some."""
    found = []
    for prim, shape in facts.shapes:
        settings = prim.get(usd_physics.MeshCollisionAPI)
        approximation = settings.approximation if settings is not None else None
        if isinstance(shape, Mesh) and len(shape.points) and approximation not in _BOUNDS:
            found.append((prim, shape))
    return found


def _flat(facts: Facts) -> dict[str, Prim]:
    return {prim.path: prim for prim, shape in facts.once(_meshes) if is_flat(shape)}


@rule("FlatMeshRefused")
def flat_mesh(facts: Facts) -> Iterator[Finding]:
    for prim in facts.once(_flat).values() if _is_of_mujoco(facts) else ():
        yield Finding(prim, f"The mesh {prim.display} is flat, for which Newton refuses the file.")


@rule("MirroredMeshRefused")
def mirrored_mesh(facts: Facts) -> Iterator[Finding]:
    mirrored = {prim.path for prim in facts.placements.where(facts.placements.mirrored)}
    for prim, _ in facts.once(_meshes) if _is_of_mujoco(facts) else ():
        if prim.path in mirrored:
            yield Finding(prim, f"The mesh {prim.display} is mirrored, for which Newton refuses the file.")


@rule("WeightlessRefused")
def weightless(facts: Facts) -> Iterator[Finding]:
    """Bodies that neither a mass nor a collider makes heavy; MuJoCo has none, also of kinematic ones."""
    if not _is_of_mujoco(facts):
        return
    heavy = {prim.path for prim, mass in facts.masses if mass.mass}
    thin = facts.once(_flat)
    solid = [prim for prim in facts.colliders.prims if prim.path not in thin]
    shaped = {owner.path for prim in solid if (owner := facts.owner.at(prim.path)) is not None}
    for path, prim in facts.enabled.items():
        if path not in heavy and path not in shaped:
            yield Finding(prim, f"{prim.display} is a body without a mass, for which Newton refuses the file.")


@rule("KinematicHeld")
def kinematic_held(facts: Facts) -> Iterator[Finding]:
    inside = facts.articulated if _is_of_mujoco(facts) else frozenset()
    for prim, joint in facts.joints:
        if prim.path not in inside or joint.joint_enabled is False:
            continue
        first, second = (facts.mover.at(targets[0]) if targets else None for targets in (joint.body0, joint.body1))
        if first is not None and second is not None and first is not second and second.path not in facts.dynamic:
            yield Finding(
                second, f"{second.display} is kinematic, and {prim.display} holds it on another body: Newton refuses "
                "the file.", {"other": name(first)},
            )  # fmt: skip


@rule("NothingMoves")
def nothing_moves(facts: Facts) -> Iterator[Finding]:
    if _is_of_mujoco(facts) and len(facts.colliders) and not facts.enabled:
        yield Finding(None, "The file has no rigid body: Newton refuses it where it is alone.")
