# SPDX-License-Identifier: GPL-3.0-or-later
"""Summary of a USD file, shown before it is imported."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from pxr import Usd

from ..core import summary, validate
from ..core.errors import InputError, UsdPhysError
from ..core.units import StageUnits
from ..core.validate import Issue
from . import carry, composition, importable, layer_units, unheard
from . import opinions as usd_opinions
from . import read as usd_read
from .composition import VariantSet
from .opinions import Opinions
from .time_samples import Clock


@dataclass(frozen=True, slots=True)
class Overview:
    """Contents of a file, and what is wrong with it.

    error: why the file cannot be read, or "". refusal: why it is not imported, or "". outside: files that it reads from
    other folders than its own. counts: as `summary.counts`. prims, instances, ...: numbers.
    """

    error: str = ""
    refusal: str = ""
    outside: tuple[str, ...] = ()
    units: StageUnits = field(default_factory=StageUnits)
    counts: dict[str, int] = field(default_factory=dict)
    prims: int = 0
    instances: int = 0
    point_instancers: int = 0
    issues: tuple[Issue, ...] = ()
    variant_sets: tuple[VariantSet, ...] = ()

    def problems(self, severity: str) -> list[Issue]:
        return [issue for issue in self.issues if issue.severity == severity]


def overview(path: str | Path, choices: Sequence[str] = ()) -> Overview:
    """Summarise a file. choices: variant selections like "/Prim{set=choice}". Cached until the file changes on disk."""
    file = Path(path)
    try:
        state = file.stat()
    except OSError:
        return Overview(f"There is no file '{path}'; check the name.")
    return _overview(str(file), tuple(choices), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _overview(path: str, choices: tuple[str, ...], _changed: int, _size: int) -> Overview:
    try:
        stage = usd_read.open_stage(path)
        composition.select_variants(stage, [composition.parse_choice(text) for text in choices])
        with usd_read.damage_refused(path):
            return _contents(stage, Path(path))
    except UsdPhysError as error:
        return Overview(str(error))


def issues_of(stage: Usd.Stage, opinions: Collection[Opinions]) -> list[Issue]:
    """What is wrong with a file besides its physics: parts that are missing, and what only some programs would read.

    opinions: of all prims.
    """
    unusual = [one for one in opinions if not carry.is_plain(one)]
    issues = composition.missing_assets(stage, opinions) + composition.odd_metadata(stage)
    issues += layer_units.issues(stage) + unheard.issues(stage) + composition.unapplied_bindings(opinions)
    try:
        Clock(stage)
    except InputError as error:
        issues.append(Issue("StageTimes", "error", "/", "", str(error), ""))
    return issues + composition.mistyped_values(stage, unusual)


def _contents(stage: Usd.Stage, path: Path) -> Overview:
    refusal = ""
    broken: list[Issue] = []
    try:
        opinions, broken = importable.check(stage, path)
    except InputError as error:
        refusal = str(error)
        opinions = list(usd_opinions.of_stage(stage))
    try:
        model = usd_read.read_stage(stage, opinions)
    except InputError as error:
        return Overview("", refusal or str(error))
    issues = broken + issues_of(stage, opinions) + validate.validate(model, check_geometry=False)
    return Overview(
        "", refusal, tuple(composition.files_outside(stage, path)), model.units, summary.counts(model),
        len(model.order) - 1, len(composition.instance_paths(stage)), len(composition.instancer_paths(opinions)),
        tuple(issues), tuple(composition.variant_sets(stage)),
    )  # fmt: skip
