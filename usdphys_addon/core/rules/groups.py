# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for physics scenes, collision groups and filtered pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..model import Prim
from ..schemas import usd_physics
from .base import Facts, Finding, name, rule

# --------------------------------------------------------------------------- scenes


@rule("NoScene")
def no_scene(facts: Facts) -> Iterator[Finding]:
    if len(facts.bodies) and not len(facts.all(usd_physics.PhysicsScene)):
        yield Finding(None, "There are rigid bodies but no physics scene.")


@rule("SceneAmbiguous")
def ambiguous_scene(facts: Facts) -> Iterator[Finding]:
    scenes = facts.all(usd_physics.PhysicsScene)
    if len(scenes) < 2:
        return
    for prim, body in facts.bodies:
        if not body.simulation_owner:
            yield Finding(prim, f"{prim.display} names no physics scene, but there are {len(scenes)}.")


@rule("SimulationOwnerInvalid")
def invalid_owner(facts: Facts) -> Iterator[Finding]:
    scenes = {prim.path for prim, _ in facts.all(usd_physics.PhysicsScene)}
    # What is body and collider has one owner, which both schemas name.
    owners = {
        (prim.path, target): prim
        for prim, value in (*facts.bodies, *facts.colliders) for target in value.simulation_owner or ()
    }  # fmt: skip
    for (_, target), prim in owners.items():
        if target not in scenes:
            problem = "is not a physics scene" if facts.exists(target) else "does not exist"
            yield Finding(prim, f"{prim.display} names {target} as its physics scene, which {problem}.")


# --------------------------------------------------------------------------- groups and pairs


def _targets(value: usd_physics.CollisionGroup) -> Iterator[tuple[str, tuple[str, ...]]]:
    for attribute, targets in value.authored():
        if attribute.is_relationship:
            yield attribute.label.lower(), targets


@rule("GroupMissingTarget")
def group_missing_target(facts: Facts) -> Iterator[Finding]:
    groups = {prim.path for prim, _ in facts.groups}
    for prim, group in facts.groups:
        for listed, targets in _targets(group):
            for target in targets:
                words = {"other": target, "list": listed}
                start = f"The collision group {prim.display} lists {target}, which"
                if not facts.exists(target):
                    yield Finding(prim, f"{start} does not exist.", words)
                elif targets is group.filtered_groups and target not in groups:
                    yield Finding(prim, f"{start} is not a collision group and cannot be filtered.", words)


@rule("GroupDuplicateTarget")
def group_duplicate_target(facts: Facts) -> Iterator[Finding]:
    for prim, group in facts.groups:
        for listed, targets in _targets(group):
            if len(set(targets)) == len(targets):
                continue
            for target in {target: None for target in targets if targets.count(target) > 1}:
                yield Finding(
                    prim, f"The collision group {prim.display} lists {target} more than once in its {listed}.",
                    {"other": target, "list": listed},
                )  # fmt: skip


@rule("GroupEmpty")
def empty_group(facts: Facts) -> Iterator[Finding]:
    for prim, group in facts.groups:
        if not group.includes and not group.include_root and not group.membership_expression:
            yield Finding(prim, f"The collision group {prim.display} has no members.")


@rule("GroupMergeConflict")
def merge_conflict(facts: Facts) -> Iterator[Finding]:
    merged: dict[str, list[tuple[Prim, bool]]] = defaultdict(list)
    for prim, group in facts.groups:
        if group.merge_group:
            merged[group.merge_group].append((prim, bool(group.invert_filtered_groups)))
    for merge_name, members in merged.items():
        first, inverted = members[0]
        for prim, other in members[1:]:
            if other != inverted:
                yield Finding(
                    prim, f"{prim.display} and {first.display} have the merge name '{merge_name}', but only one "
                    "of them inverts its filter.", {"other": name(first)},
                )  # fmt: skip


#: What UsdPhysics reads filtered pairs of.
_FILTERED = (usd_physics.RigidBodyAPI, usd_physics.CollisionAPI, usd_physics.ArticulationRootAPI)


@rule("FilteredPairMissing")
def missing_pair(facts: Facts) -> Iterator[Finding]:
    for prim, value in facts.all(usd_physics.FilteredPairsAPI):
        for target in value.filtered_pairs or ():
            if not facts.exists(target):
                yield Finding(
                    prim, f"{prim.display} filters the pair with {target}, which does not exist.", {"other": target}
                )


@rule("FilteredPairSelf")
def self_pair(facts: Facts) -> Iterator[Finding]:
    for prim, value in facts.all(usd_physics.FilteredPairsAPI):
        if prim.path in (value.filtered_pairs or ()):
            yield Finding(prim, f"{prim.display} is in its own filtered pairs.")


@rule("FilteredPairUnread")
def unread_pair(facts: Facts) -> Iterator[Finding]:
    """UsdPhysics has pairs of bodies, colliders and articulations; the preview takes all colliders below a prim.

    Of a stage only: an export puts the colliders of what stands still in the place of its object.
    """
    for prim, value in facts.all(usd_physics.FilteredPairsAPI) if facts.model.other_paths is not None else ():
        for path in dict.fromkeys((prim.path, *(value.filtered_pairs or ()))):
            found = facts.model.prims.get(path)
            if facts.exists(path) and (found is None or not any(found.get(kind) for kind in _FILTERED)):
                yield Finding(
                    prim, f"The filtered pairs of {prim.display} name {path}, which is no body, collider or "
                    "articulation: other simulators let what is below it collide.", {"other": path},
                )  # fmt: skip
