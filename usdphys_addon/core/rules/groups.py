# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for physics scenes, collision groups and filtered pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..model import Prim
from ..schemas import usd_physics
from .base import Facts, Finding, name, rule

# --------------------------------------------------------------------------- scenes


@rule(
    "NoScene", "info", "info", "info",
    meaning="There are bodies but no physics scene; simulators create one with earth gravity.",
    fix="Add a physics scene.",
)  # fmt: skip
def no_scene(facts: Facts) -> Iterator[Finding]:
    if len(facts.bodies) and not len(facts.all(usd_physics.PhysicsScene)):
        yield Finding(None, "There are rigid bodies but no physics scene.")


@rule(
    "SceneAmbiguous", "warning", "warning", "warning",
    meaning="There are several physics scenes, and a body has no simulation owner.",
    fix="Set the simulation owner of {X}.",
)  # fmt: skip
def ambiguous_scene(facts: Facts) -> Iterator[Finding]:
    scenes = facts.all(usd_physics.PhysicsScene)
    if len(scenes) < 2:
        return
    for prim, body in facts.bodies:
        if not body.simulation_owner:
            yield Finding(prim, f"{prim.display} has no simulation owner, but there are {len(scenes)} physics scenes.")


@rule(
    "SimulationOwnerInvalid", "error", "error", "error",
    meaning="The simulation owner of a body or collider is missing or not a physics scene; PhysX ignores the body.",
    fix="Set the simulation owner of {X} to a physics scene, or clear it.",
)  # fmt: skip
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
            yield Finding(prim, f"{prim.display} has the simulation owner {target}, which {problem}.")


# --------------------------------------------------------------------------- groups and pairs


def _targets(value: usd_physics.CollisionGroup) -> Iterator[tuple[str, tuple[str, ...]]]:
    for attribute, targets in value.authored():
        if attribute.is_relationship:
            yield attribute.label.lower(), targets


@rule(
    "GroupMissingTarget", "warning", "warning", "warning",
    meaning="A collision group lists a prim that does not exist, or filters a prim that is not a collision group.",
    fix="Remove {other} from the {list} of {X}.",
)  # fmt: skip
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


@rule(
    "GroupDuplicateTarget", "warning", "warning", "warning",
    meaning="A collision group lists the same prim twice.",
    fix="Remove one {other} from the {list} of {X}.",
)  # fmt: skip
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


@rule(
    "GroupEmpty", "warning", "warning", "warning",
    meaning="A collision group has no members.",
    fix="Add colliders to {X}, or remove it.",
)  # fmt: skip
def empty_group(facts: Facts) -> Iterator[Finding]:
    for prim, group in facts.groups:
        if not group.includes and not group.include_root and not group.membership_expression:
            yield Finding(prim, f"The collision group {prim.display} has no members.")


@rule(
    "GroupMergeConflict", "warning", "warning", "warning",
    meaning="Groups with the same merge name differ in Invert Filtered Groups.",
    fix="Set Invert Filtered Groups to the same value on {X} and {other}.",
)  # fmt: skip
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


@rule(
    "FilteredPairMissing", "warning", "warning", "warning",
    meaning="A filtered pair points to a prim that does not exist.",
    fix="Remove {other} from the filtered pairs of {X}.",
)  # fmt: skip
def missing_pair(facts: Facts) -> Iterator[Finding]:
    for prim, value in facts.all(usd_physics.FilteredPairsAPI):
        for target in value.filtered_pairs or ():
            if not facts.exists(target):
                yield Finding(
                    prim, f"{prim.display} filters the pair with {target}, which does not exist.", {"other": target}
                )


@rule(
    "FilteredPairSelf", "warning", "warning", "warning",
    meaning="A filtered pair points to the prim itself.",
    fix="Remove {X} from its own filtered pairs.",
)  # fmt: skip
def self_pair(facts: Facts) -> Iterator[Finding]:
    for prim, value in facts.all(usd_physics.FilteredPairsAPI):
        if prim.path in (value.filtered_pairs or ()):
            yield Finding(prim, f"{prim.display} is in its own filtered pairs.")
