# SPDX-License-Identifier: GPL-3.0-or-later
"""What was proven of an asset: checks with verdicts and causes, as text, JSON and a digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core import summary
from ..core.model import PhysicsModel
from ..core.words import counted
from .opinions import Cause

#: fail: the asset does not move as it says, or a demand is not met. doubtful: true of the asset, and seldom meant.
#: differs: an engine moves it differently, or a format cannot keep it, and says so. skipped: not tried, and why.
Status = Literal["pass", "fail", "doubtful", "differs", "skipped"]
#: What is not wrong, but worth knowing; and with it all that is found, the worst first.
NOTABLE: tuple[Status, ...] = ("doubtful", "differs")
FOUND: tuple[Status, ...] = ("fail", *NOTABLE)
#: All, as they are listed.
ORDER: tuple[Status, ...] = (*FOUND, "skipped", "pass")
#: Changes with what the checks mean, so that an old digest is no proof of new checks.
VERSION = 4


@dataclass(frozen=True, slots=True)
class Check:
    """section, name: what was tried. path: of a prim, or "". message: one sentence. fix: one that says what to do, or
    "". data: numbers for reports, JSON.
    """

    section: str
    name: str
    status: Status
    message: str
    path: str = ""
    causes: tuple[Cause, ...] = ()
    fix: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """The check in one line."""
        found = f"{self.status}: {self.section}: {self.message}"
        if self.causes:
            found += f" Cause: {'; or '.join(map(str, self.causes))}."
        return f"{found} {self.fix}".rstrip()


@dataclass(slots=True)
class Certificate:
    """All checks of one file, in their order. physics: digest of what was proven. seconds: used."""

    file: str
    checks: list[Check] = field(default_factory=list)
    physics: str = ""
    seconds: float = 0.0

    def having(self, *statuses: Status) -> list[Check]:
        """The checks with one of these verdicts."""
        return [check for check in self.checks if check.status in statuses]

    @property
    def verdict(self) -> Status:
        """The worst of all checks; skipped only where nothing was tried."""
        found = {check.status for check in self.checks}
        return next((status for status in (*FOUND, "pass") if status in found), "skipped")

    @property
    def headline(self) -> str:
        """How much is wrong, and how much is worth knowing: what an author may mean, and what others do differently."""
        if self.verdict == "skipped":
            return "nothing was tried"
        wrong, notable = len(self.having("fail")), len(self.having(*NOTABLE))
        return f"{wrong or 'nothing'} wrong{f', {notable} worth knowing' if notable else ''}"

    @property
    def digest(self) -> str:
        """SHA-256 of the physics and of all verdicts: the same asset and the same answers have the same one."""
        rows = [(check.section, check.name, check.path, check.status) for check in self.checks]
        return _digest([VERSION, self.physics, rows])

    def as_json(self) -> dict[str, Any]:
        """The table that --json prints."""
        return {
            "version": VERSION, "file": self.file, "verdict": self.verdict, "headline": self.headline,
            "wrong": len(self.having("fail")), "worth_knowing": len(self.having(*NOTABLE)),
            "digest": self.digest,
            "physics": self.physics, "seconds": round(self.seconds, 2),
            "counts": dict(Counter(check.status for check in self.checks)),
            "checks": [
                {
                    "section": check.section, "name": check.name, "status": check.status, "path": check.path,
                    "message": check.message, "fix": check.fix, **({"data": check.data} if check.data else {}),
                    "causes": [
                        {
                            "path": cause.path, "attribute": cause.attribute, "said": cause.said,
                            "other": cause.other, "hint": cause.hint,
                        }
                        for cause in check.causes
                    ],
                }
                for check in self.checks
            ],
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """For people: what is wrong, and what was left out."""
        for status in (*FOUND, "skipped"):
            yield from (check.line() for check in self.having(status))

    def summary(self) -> str:
        """Verdict and numbers in one line."""
        numbers = Counter(check.status for check in self.checks)
        words: dict[Status, str] = {
            "pass": "passed", "fail": "failed", "doubtful": "doubtful", "differs": "differ", "skipped": "skipped"
        }  # fmt: skip
        told = ", ".join(f"{numbers[status]} {word}" for status, word in words.items() if numbers[status])
        checks = f"{counted(len(self.checks), 'check')} ({told})"
        return f"{self.file}: {self.verdict}: {self.headline}; {checks}, digest {self.digest[:12]}"


def also(count: int, one: str, more: str) -> str:
    """The end of a message that is about so many others, too. one, more: the sentence about one, and about several."""
    sentence = one if count == 1 else more
    return f" {sentence}" if count else ""


def so_do_joints(count: int) -> str:
    """The end of a message that is about so many other joints, too."""
    return also(count, "So does 1 other joint.", f"So do {count} other joints.")


def measure(value: float, axis: int) -> str:
    """A position of a joint in words. value: m or rad. axis: of its degree of freedom; from 3 on it turns."""
    value = 0.0 if abs(value) < 1e-7 else value  # what is left by rounding, of single precision, too
    return f"{math.degrees(value):.4g} degrees" if axis >= 3 else f"{value:.4g} m"


def digest_of(model: PhysicsModel) -> str:
    """SHA-256 of all that a model says about physics: values to seven digits, places to five; no points of meshes."""
    rows = []
    for path, prim in sorted(model.prims.items()):
        if not prim.schemas:
            continue
        said = {name: summary.authored(value) for name, value in sorted(prim.schemas.items())}
        rows.append([path, prim.type_name, said, [_rounded(part) for part in prim.world.ravel()], prim.materials])
    return _digest(rows)


def _rounded(value: float) -> str:
    return f"{value + 0.0:.5g}" if abs(value) > 1e-9 else "0"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
