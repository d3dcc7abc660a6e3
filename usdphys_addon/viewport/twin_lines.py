# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of the ghosts of twins, and the words and colours of what they say. No Blender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.words import Phrase, length_text, phrase
from ..proving.experiments import LEAST
from ..proving.twins import CLOSE, Twin, Verdict
from . import draw_data
from .draw_data import DASHES, Vertices

if TYPE_CHECKING:
    from ..proving.twins import Twins
    from .draw_data import Drawing

Color = tuple[float, float, float, float]
#: Of the twin at twice the rate, whose lines are dashed, and of the engines in their order.
STEPS_COLOR: Color = (0.34, 0.71, 0.91, 1.0)
ENGINE_COLORS: tuple[Color, ...] = ((0.90, 0.62, 0.0, 1.0), (0.80, 0.47, 0.65, 1.0))
#: Colours that people tell apart who do not see red or green, and a sign on each body besides.
COLORS: dict[Verdict, Color] = {
    Verdict.ALIKE: (0.0, 0.62, 0.45, 0.55), Verdict.CLOSE: (0.94, 0.89, 0.26, 0.6),
    Verdict.ENGINE: (0.84, 0.37, 0.0, 0.7), Verdict.STEPS: (0.72, 0.05, 0.30, 0.7),
}  # fmt: skip
SIGNS: dict[Verdict, str] = {
    Verdict.ALIKE: "", Verdict.CLOSE: "?", Verdict.ENGINE: "\N{MULTIPLICATION SIGN}", Verdict.STEPS: "~",
}  # fmt: skip
#: Half the length of a bar of the cross where a body parts first, as a share of its radius.
CROSS = 0.5


class Row(NamedTuple):
    """A line of the legend: what a colour, a sign or a kind of line means."""

    color: Color
    sign: str
    text: str


def color_of(twins: Twins, twin: Twin) -> Color:
    """The colour of the ghosts of a twin."""
    if twin.kind.rate > 1:
        return STEPS_COLOR
    engines = [other for other in twins.twins if other.kind.rate == 1]
    return ENGINE_COLORS[engines.index(twin) % len(ENGINE_COLORS)]


def dashed(lines: Vertices) -> Vertices:
    """Lines (2 n, 3) in dashes."""
    ends = lines.reshape(-1, 2, 3)
    shares = DASHES.astype(np.float32)[None, :, :, None]
    cut = ends[:, None, :1] * (1.0 - shares) + ends[:, None, 1:] * shares
    found: Vertices = np.ascontiguousarray(cut.reshape(-1, 3), np.float32)
    return found


def ghost_lines(drawing: Drawing, twins: Twins, twin: Twin, meters: float) -> Vertices:
    """The colliders of the bodies of a twin that are elsewhere than in the shown world, with a line to each body there,
    and a cross where it parted first. (2 n, 3), Blender units, of `meters` each."""
    # A ghost in its body would hide it.
    is_elsewhere = (twin.apart > LEAST * twins.radii) & (twin.share > CLOSE)
    if not twin.runs or not is_elsewhere.any():
        return np.zeros((0, 3), np.float32)
    matrices = np.concatenate((np.eye(4)[None], np.nan_to_num(twin.matrices())))
    owners = np.repeat(drawing.owners, drawing.counts)
    seen = (owners > 0) & is_elsewhere[np.maximum(owners, 1) - 1]
    lines = drawing.positions(matrices, meters)[seen]
    if twin.kind.rate > 1:
        lines = dashed(lines)
    places, _ = twin.poses()
    rows = np.flatnonzero(is_elsewhere & (twin.share > 1.0))
    links = np.stack((twins.shown.positions[rows], places[rows]), axis=1).reshape(-1, 3) / meters
    marks = [
        draw_data.cross(CROSS * twins.radii[split.row] / meters) + split.place / meters
        for split in twin.splits.values() if is_elsewhere[split.row]
    ]  # fmt: skip
    return draw_data.joined(lines, links, *marks)


def signs(twins: Twins) -> list[tuple[Any, str, Verdict]]:
    """(place (3,), m, text, verdict) of each body that is not alike in all worlds."""
    verdicts = twins.verdicts()
    found = []
    for row in np.flatnonzero(verdicts > Verdict.ALIKE).tolist():
        verdict = Verdict(int(verdicts[row]))
        apart = max(float(twin.apart[row]) for twin in twins.twins)
        text = f"{SIGNS[verdict]} {length_text(apart)}" if verdict > Verdict.CLOSE else SIGNS[verdict]
        found.append((twins.shown.positions[row], text, verdict))
    return found


def confidence_legend(twins: Twins) -> list[Row]:
    """What the colours of bodies mean, with the number of bodies of each."""
    numbers = np.bincount(twins.verdicts()[~twins.shown.kinematic], minlength=len(Verdict)).tolist()
    return [Row(COLORS[verdict], SIGNS[verdict], text(numbers[verdict])) for verdict, text in _MEANINGS.items()]


_MEANINGS: dict[Verdict, Callable[[int], Phrase]] = {
    Verdict.ALIKE: lambda count: phrase("alike in all: {count}", count=count),
    Verdict.CLOSE: lambda count: phrase("close to parting: {count}", count=count),
    Verdict.ENGINE: lambda count: phrase("engines differ: {count}", count=count),
    Verdict.STEPS: lambda count: phrase("time steps or chaos: {count}", count=count),
}


def compare_legend(twins: Twins) -> list[Row]:
    """Which ghosts are which, with the number of bodies that have parted."""
    return [Row(color_of(twins, twin), "- -" if twin.kind.rate > 1 else "\N{EM DASH}", _state(twin))
            for twin in twins.twins]  # fmt: skip


def _state(twin: Twin) -> Phrase:
    if not twin.runs:
        return phrase("{twin} does not run", twin=twin.kind.name)
    return phrase("{twin}: {count} parted", twin=twin.kind.name, count=len(twin.splits))


def rows_of(twins: Twins, wanted: Sequence[str]) -> list[Row]:
    """The legend of what is on: "compare", "confidence" or both."""
    return [
        *(compare_legend(twins) if "compare" in wanted else []),
        *(confidence_legend(twins) if "confidence" in wanted else []),
    ]
