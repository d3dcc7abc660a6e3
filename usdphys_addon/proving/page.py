# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about an asset: one HTML file that asks no network, with its numbers as JSON inside.

The tables, the plots and a picture are HTML and SVG, made here: they are read without a script. `page.js` draws the
asset with WebGL 2, or without that on a canvas of two dimensions, sorted by depth.
"""

from __future__ import annotations

import html
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..core import mass
from ..core.model import PhysicsModel
from ..core.validate import validate
from ..core.words import counted
from ..simulation.engine import ENGINES
from . import answers, failures, still
from . import joints as bench
from .certificate import FOUND, NOTABLE, ORDER, Check
from .drawn_asset import COLOURS, scene_of
from .prove import Proof, Wish
from .runs import STEP, Motion

#: In a cell that says nothing.
NONE = "\N{EN DASH}"
_HERE = Path(__file__).parent
WORDS = {"pass": "passed", "fail": "wrong", "doubtful": "doubtful", "differs": "differs", "skipped": "not tried"}
_NOTABLE = (
    "Doubtful is what is true of the asset, and seldom meant; what differs, an engine or a format does in its own way."
)


def page(proof: Proof, wish: Wish) -> str:
    """The whole page."""
    certificate = proof.certificate
    title = Path(wish.file).name
    scene = scene_of(proof, wish)
    sections = [
        _viewer(proof, scene), _verdicts(proof), _masses(proof), _joints(proof), _issues(wish.model), _plots(proof),
    ]  # fmt: skip
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    content = f"""<header>
<h1>{_text(title)}</h1>
<p class="verdict {certificate.verdict}">{WORDS[certificate.verdict]}</p>
<p>{_text(certificate.headline.capitalize())}.</p>
<p>{_text(_numbers(proof))}</p>
<p class="small">Digest <code>{certificate.digest}</code></p>
</header>
<main>
{"".join(sections)}
</main>
<script type="application/json" id="summary">{_json(_summary(proof, title))}</script>
<script type="application/json" id="scene">{_json(scene)}</script>
<script>{script}</script>"""
    return document(title, WORDS[certificate.verdict], content)


def of_unread(file: str, problem: str) -> str:
    """The page of a file that cannot be read. problem: why."""
    title = Path(file).name
    summary = {"file": title, "verdict": "fail", "counts": {"fail": 1}, "found": problem, "cause": ""}
    content = f"""<header>
<h1>{_text(title)}</h1>
<p class="verdict fail">{WORDS["fail"]}</p>
<p>{_text(problem)}</p>
</header>
<script type="application/json" id="summary">{_json(summary)}</script>"""
    return document(title, WORDS["fail"], content)


def document(title: str, words: str, content: str) -> str:
    """A page that asks no network. title, words: for the tab of the browser. content: HTML of the body."""
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src \
'unsafe-inline'; img-src data:">
<title>{_text(title)}: {_text(words)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{content}
<footer><p class="small">Made by USD Physics. This page asks no network.</p></footer>
</body>
</html>
"""


def url_of(path: str) -> str:
    """A relative path of a file as a URL."""
    return quote(path)


def _json(content: Any) -> str:
    # A name may hold what begins a comment or a script in HTML.
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _summary(proof: Proof, title: str) -> dict[str, Any]:
    """What a list of assets tells of this one, see `library`."""
    certificate = proof.certificate
    worst = next((check for status in FOUND for check in certificate.having(status)), None)
    return {
        "file": title, "verdict": certificate.verdict, "digest": certificate.digest,
        "counts": dict(Counter(check.status for check in certificate.checks)),
        "found": worst.message if worst is not None else "",
        "cause": "; ".join(map(str, worst.causes)) if worst is not None else "",
    }  # fmt: skip


def _text(value: object) -> str:
    return html.escape(str(value))


def _numbers(proof: Proof) -> str:
    model = proof.subject.model
    found = [counted(len(proof.subject.layout.bodies), "body"), counted(len(model.colliders), "collider"),
             counted(len(model.joints), "joint")]  # fmt: skip
    return (
        f"{', '.join(found)}. {counted(len(proof.certificate.checks), 'check')} in {proof.certificate.seconds:.1f} s."
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, none: str) -> str:
    """A table, of which each row is a list on a narrow window. none: what is said without rows."""
    lines = []
    for row in rows:
        pairs = zip(headings, row, strict=True)
        cells = (f'<td data-label="{_text(heading)}">{_cell(value)}</td>' for heading, value in pairs)
        lines.append(f"<tr>{''.join(cells)}</tr>")
    if not lines:
        return f"<p>{_text(none)}</p>"
    head = "".join(f'<th scope="col">{_text(heading)}</th>' for heading in headings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def _cell(value: object) -> str:
    return value if isinstance(value, Html) else _breaking(value)


def _breaking(value: object) -> str:
    # Long paths may break after a slash, and nowhere else.
    return _text(value).replace("/", "/<wbr>")


# --------------------------------------------------------------------------- tables


def _verdicts(proof: Proof) -> str:
    """What is wrong, and then what was left out and what passed, which a click shows."""
    checks = sorted(proof.certificate.checks, key=lambda check: ORDER.index(check.status))
    wrong = [check for check in checks if check.status == "fail"]
    parts = [_verdict_table(wrong) if wrong else "<p>Nothing is wrong.</p>" if checks else "<p>Nothing was tried.</p>"]
    notable = [check for check in checks if check.status in NOTABLE]
    if notable:
        parts.append(f"<h3>Worth knowing</h3><p>{_NOTABLE}</p>{_verdict_table(notable)}")
    for status in ("skipped", "pass"):
        found = [check for check in checks if check.status == status]
        if found:
            title = f"{counted(len(found), 'check')} {WORDS[status]}"
            parts.append(f"<details><summary>{title}</summary>{_verdict_table(found)}</details>")
    return f'<section id="verdicts"><h2>Verdicts</h2>{"".join(parts)}</section>'


def _verdict_table(checks: Sequence[Check]) -> str:
    """Without columns in which nothing is said."""
    headings = ["Verdict", "Of", "Found"]
    headings += ["Cause"] if any(check.causes for check in checks) else []
    headings += ["What to do"] if any(check.fix for check in checks) else []
    rows = []
    for check in checks:
        cells: dict[str, object] = {
            "Verdict": Html(f'<span class="verdict {check.status}">{WORDS[check.status]}</span>'),
            "Of": check.section, "Found": check.message,
            "Cause": Html("<br>".join(_breaking(cause) for cause in check.causes) or NONE),
            "What to do": check.fix or NONE,
        }  # fmt: skip
        rows.append([cells[heading] for heading in headings])
    return table(headings, rows, none="")


def _masses(proof: Proof) -> str:
    model, rows = proof.subject.model, []
    for path, body in proof.subject.layout.bodies.items():
        found = mass.mass_properties(model, path)
        kind = "kinematic" if body.is_kinematic else "dynamic"
        rows.append((
            path, kind, f"{found.mass:.4g}", found.mass_source.text,
            _vector(found.center_of_mass), " ".join(f"{part:.4g}" for part in found.diagonal_inertia),
            found.inertia_source.text,
        ))  # fmt: skip
    headings = ("Body", "Kind", "Mass (kg)", "Mass from", "Centre (m)", "Inertia (kg m²)", "Inertia from")
    return f'<section id="masses"><h2>Masses</h2>{table(headings, rows, none="There are no bodies.")}</section>'


def _shown(value: float) -> str:
    """A number of a plot, without what is rounding."""
    return f"{0.0 if abs(value) < 5e-7 else value:.3g}"


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{0.0 if abs(part) < 5e-7 else part:.4g}" for part in values)


def _joints(proof: Proof) -> str:
    rows = []
    predicted = _predicted(proof)
    for facts in proof.subject.joints:
        for name, freedom in facts.moving.items() or ():
            angular = 3 <= facts.names[name] < 6
            drive: Any = facts.prim.schemas.get(f"PhysicsDriveAPI:{name}")
            limits = f"{_measure(freedom.low, angular)} to {_measure(freedom.high, angular)}"
            rows.append((
                facts.path, f"{facts.kind.removesuffix('Joint') or 'generic'}, {name}", _ends(facts),
                limits if freedom.is_limited else "none", _drive(drive), predicted.get(facts.path, NONE),
                _response(proof, facts.path),
            ))  # fmt: skip
        if not facts.moving:
            kind = facts.kind.removesuffix("Joint") or "generic"
            rows.append((facts.path, kind, _ends(facts), NONE, NONE, NONE, NONE))
    headings = ("Joint", "Kind", "Between", "Limits", "Drive", "Predicted response", "Experiments: wanted and got")
    return f'<section id="joints"><h2>Joints</h2>{table(headings, rows, none="There are no joints.")}</section>'


def _predicted(proof: Proof) -> dict[str, str]:
    """What the drive of each joint does by its numbers, by path."""
    probes = [probe for probe in bench.probes_of(proof.subject)[0] if bench.applies(probe, "step")]
    if not probes:
        return {}
    model = bench.bench(proof.subject, probes, "step")
    told = {probe.facts.path: answers.response(probe, model) for probe in probes}
    return {path: words for path, words in told.items() if words}


def _ends(facts: Any) -> str:
    ends = (facts.body0 or facts.static0 or "world", facts.body1 or facts.static1 or "world")
    return " and ".join(end.rpartition("/")[2] or end for end in ends)


def _measure(value: float, angular: bool) -> str:
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    return f"{math.degrees(value):.4g}°" if angular else f"{value:.4g} m"


def _drive(drive: Any) -> str:
    if drive is None:
        return "none"
    most = drive.decided("max_force")
    parts = [f"stiffness {drive.resolved('stiffness'):.4g}", f"damping {drive.resolved('damping'):.4g}"]
    parts += [f"largest force {most:.4g}"] if most is not None and math.isfinite(most) else []
    return ", ".join(parts) + " (SI, radians)"


def _response(proof: Proof, path: str) -> Html | str:
    found = [outcome for outcome in proof.outcomes if outcome.joint == path]
    # A joint that is tried has one degree of freedom.
    facts = next(one for one in proof.subject.joints if one.path == path)
    angular = all(axis > 2 for axis in (facts.names[name] for name in facts.moving))
    lines = []
    for outcome in found:
        name = ENGINES[outcome.engine].name
        lost = f", without its {outcome.lost}" if outcome.lost else ""
        kind = "pass" if outcome.is_kept else "differs"
        ends = " and ".join(_measure(0.0 if abs(end) < 5e-6 else end, angular) for end in (outcome.wanted, outcome.got))
        lines.append(f'<span class="{kind}">{_text(outcome.experiment)}, {_text(name)}: {ends}{_text(lost)}</span>')
    return Html("<br>".join(lines)) if lines else NONE


def _issues(model: PhysicsModel) -> str:
    with np.errstate(all="ignore"):
        found = validate(model)
    rows = [(issue.severity, issue.code, issue.message, issue.fix) for issue in found]
    listed = table(("Severity", "Code", "What", "What to do"), rows, none="The checks find nothing.")
    return f'<section id="issues"><h2>Issues</h2>{listed}</section>'


# --------------------------------------------------------------------------- plots


#: J and m: what is less is rounding, and does not fill a plot.
_LEAST_ROOM = 1e-6


class _Curve(NamedTuple):
    """number: of the engine, which has the same colour everywhere."""

    name: str
    number: int
    values: NDArray[np.float64]


def _plots(proof: Proof) -> str:
    plots = []
    bodies = [path for part in proof.subject.parts for path in part.bodies]
    curves = []
    for number, (key, motion) in enumerate(proof.motions.items()):
        if motion.velocities.size and all(path in motion.paths for path in bodies) and bodies:
            energies = failures.energies_of(proof.subject, bodies, motion).sum(axis=1)
            curves.append(_Curve(ENGINES[key].name, number, energies - energies[0]))
    plots.append(_plot("Kinetic energy and that of height, since the start", "J", curves))
    reference = next(iter(proof.motions.values()), None)
    apart = [
        _Curve(f"{ENGINES[key].name} and the preview", number, _largest(reference, motion))
        for number, (key, motion) in enumerate(proof.motions.items()) if number and reference is not None
    ]  # fmt: skip
    plots.append(_plot("Largest distance of a body between two engines", "m", apart))
    return f'<section id="plots"><h2>Plots</h2>{"".join(filter(None, plots))}</section>'


def _largest(one: Motion, other: Motion) -> NDArray[np.float64]:
    """(f,), m."""
    both = [path for path in one.paths if path in other.paths]
    count = min(len(one.positions), len(other.positions))
    if not both:
        return np.zeros(count)
    rows = [[motion.paths.index(path) for path in both] for motion in (one, other)]
    apart = np.linalg.norm(one.positions[:count, rows[0]] - other.positions[:count, rows[1]], axis=2)
    return np.asarray(apart.max(axis=1))


def _plot(title: str, unit: str, curves: Sequence[_Curve]) -> str:
    """A picture as SVG, with a table of the ends for those who do not see it."""
    curves = [curve for curve in curves if len(curve.values) > 1 and np.isfinite(curve.values).all()]
    if not curves:
        return ""
    low = min(0.0, *(float(curve.values.min()) for curve in curves))
    high = max(0.0, *(float(curve.values.max()) for curve in curves))
    room = max(high - low, _LEAST_ROOM)
    width, height, left, top = 640, 220, 84, 12
    inner, tall = width - left - 12, height - top - 36
    longest = max(len(curve.values) for curve in curves)

    def x(frame: float) -> float:
        return left + inner * frame / max(1, longest - 1)

    def y(value: float) -> float:
        return top + tall * (1.0 - (value - low) / room)

    lines = []
    for share in (0.0, 0.5, 1.0):
        value = low + share * room
        lines.append(f'<line class="grid" x1="{left}" x2="{width - 12}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
                     f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>')  # fmt: skip
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        frame = share * (longest - 1)
        lines.append(f'<text x="{x(frame):.1f}" y="{height - 16}" text-anchor="{anchor}">{frame * STEP:.3g} s</text>')
    legend = []
    for name, number, values in curves:
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(frame):.1f},{y(float(value)):.1f}" for frame, value in enumerate(values))
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
        legend.append(f'<span><i style="background:{colour}"></i>{_text(name)}: at the end {_shown(values[-1])} {unit}'
                      f", at most {_shown(values.max())} {unit}</span>")  # fmt: skip
    lines.append(f'<line class="now" x1="{left}" x2="{left}" y1="{top}" y2="{top + tall}" data-left="{left}" '
                 f'data-inner="{inner}"/>')  # fmt: skip
    return (
        f'<figure><figcaption>{_text(title)} ({unit})</figcaption><svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{_text(title)}">{"".join(lines)}</svg><p class="legend">{"".join(legend)}</p></figure>'
    )


# --------------------------------------------------------------------------- the viewer


def _viewer(proof: Proof, scene: dict[str, Any]) -> str:
    engines = "".join(
        f'<label><input type="checkbox" data-engine="{_text(key)}" checked> '
        f'<i style="background:{COLOURS[number % len(COLOURS)]}"></i>{_text(ENGINES[key].name)}</label>'
        for number, key in enumerate(proof.motions)
    )
    overlays = "".join(
        f'<label><input type="checkbox" data-overlay="{name}" checked> {words}</label>'
        for name, words in (
            ("colliders", "Colliders"), ("joints", "Joints and limits"), ("centers", "Centres of mass"),
            ("names", "Names"),
        )
    )  # fmt: skip
    return f"""<section id="viewer"><h2>Motion</h2>
<div class="stage"><noscript>{still.picture(scene)}</noscript>
<canvas id="solid" aria-hidden="true"></canvas><canvas id="canvas" tabindex="0" role="img" \
aria-label="The asset in 3D. Arrow keys turn it, plus and minus zoom, the space bar plays."></canvas></div>
<noscript><p>Without a script, this is a picture of the start. The tables and plots need none.</p></noscript>
<div class="controls"><button id="play" type="button">Play</button>
<input id="time" type="range" min="0" max="0" value="0" step="1" aria-label="Time"><output id="now">0 s</output></div>
<fieldset><legend>Show</legend>{overlays}</fieldset>
<fieldset><legend>Engines</legend>{engines}</fieldset>
</section>"""
