# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation: PhysicsModel -> [Issue], for a USD file or for one simulator.

The rules are in `rules`. They cover the physics validators of OpenUSD 26.11, with the same names, and more.
`python -m usdphys_addon.core.validate` prints the table of codes (docs/issue_codes.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .errors import ValidationFailedError
from .model import PhysicsModel
from .rules import (
    bodies,
    colliders,
    deformables,
    gltf_readers,
    groups,
    joint_frames,
    joints,
    mujoco,
    newton,
    overlaps,
    scene_setup,
    values,
    vendors,
)  # fmt: skip
from .rules.base import RULES, Facts, Finding, Hierarchy, Issue, Rule, Severity, Target, name

__all__ = [
    "TARGETS", "Hierarchy", "Issue", "Severity", "Target", "issue_table", "issue_table_text", "refuse_errors",
    "validate",
]  # fmt: skip

TARGETS: tuple[Target, ...] = ("usd", "physx", "newton", "mujoco", "havok", "godot")
_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}
#: Errors with which a file would hold something else than the scene.
_UNWRITABLE = frozenset({"NameClash"})
# Importing a module registers its rules.
_MODULES = (
    bodies, colliders, joints, joint_frames, groups, values, overlaps, scene_setup, vendors, mujoco, newton,
    deformables, gltf_readers,
)  # fmt: skip


def validate(
    model: PhysicsModel, target: Target = "usd", *, hierarchy: Hierarchy = "nested", check_geometry: bool = True,
    codes: Collection[str] = (),
) -> list[Issue]:  # fmt: skip
    """All issues of a model, errors first.

    target: the simulator that will read the file; "usd" applies the rules of OpenUSD's own validators. hierarchy: how
    the export will arrange nested bodies. check_geometry: False skips the rules that load collider meshes. codes: of
    the rules that are asked; all if there are none.
    """
    facts = Facts(model, target, hierarchy, check_geometry)
    # Overflow and NaN are reported as issues; numpy must not also print warnings.
    with np.errstate(all="ignore"):
        issues = [
            issue_of(rule, severity, finding)
            for rule in RULES
            if (not codes or rule.code in codes) and (severity := rule.severities.get(target)) is not None
            for finding in rule.check(facts)
        ]
    issues.sort(key=lambda issue: _ORDER[issue.severity])
    return issues


def refuse_errors(issues: list[Issue], target: Path, *, strict: bool) -> None:
    """Raise ValidationFailedError with the first error and the number of the others.

    Refused are errors with which no sensible file can be written. strict: all errors.
    """
    errors = [issue for issue in issues if issue.severity == "error" and (strict or issue.code in _UNWRITABLE)]
    if errors:
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise ValidationFailedError(f"'{target.name}' was not written: {errors[0].message} {errors[0].fix}{more}")


def issue_of(rule: Rule, severity: Severity, finding: Finding) -> Issue:
    prim, message, words = finding
    if prim is None:
        return Issue(rule.code, severity, "/", "", message, rule.fix.format(**words))
    return Issue(rule.code, severity, prim.path, prim.label, message, rule.fix.format(X=name(prim), **words))


class Row(NamedTuple):
    """One row of the table of codes. severities: in the order of TARGETS, "" if the rule does not apply."""

    code: str
    severities: tuple[str, ...]
    meaning: str
    fix: str


def _shown(place: re.Match[str]) -> str:
    word = place[1]
    return {"X": "X", "instead": ""}.get(word, f"*{word}*")


def issue_table() -> list[Row]:
    """Every code, by name."""
    rows = [
        Row(
            rule.code, tuple(rule.severities.get(target, "") for target in TARGETS), rule.meaning,
            re.sub(r"\{(\w+)\}", _shown, rule.fix),
        )
        for rule in RULES
    ]  # fmt: skip
    return sorted(rows)


def issue_table_text() -> str:
    """The table of codes as Markdown."""
    lines = [
        "# Issue codes",
        "",
        "Generated; do not edit. After a change of the rules run, in the root of the repository:",
        "`python -m usdphys_addon.core.validate > docs/issue_codes.md`",
        "",
        "Codes of OpenUSD's own validators have the same names there. X is the prim or object with the issue.",
        "`mujoco` is MuJoCo's own reader of USD (mujoco-usd 4.0.0). `havok` is Babylon.js with Havok and the KHR",
        "plugin, and `godot` is Godot's own reader; both read glTF. Without a measurement, they are as `usd`.",
        "",
        "| code | severity | what it means | what to do |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.code} | {_severities_text(row.severities)} | {row.meaning} | {row.fix} |" for row in issue_table()
    ]
    return "\n".join(lines) + "\n"


def _severities_text(severities: Sequence[str]) -> str:
    """What most targets say, and what others do: "warning; physx: error; havok, godot: none"."""
    named = [severity or "none" for severity in severities]
    most = max(dict.fromkeys(named), key=named.count)
    others = {
        severity: ", ".join(target for target, own in zip(TARGETS, named, strict=True) if own == severity)
        for severity in dict.fromkeys(named) if severity != most
    }  # fmt: skip
    return "; ".join([most, *(f"{targets}: {severity}" for severity, targets in others.items())])


if __name__ == "__main__":
    print(issue_table_text(), end="")
