# SPDX-License-Identifier: GPL-3.0-or-later
"""What an export of edits reports: issues without those of the source, what the source does not take, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace as replaced
from typing import TYPE_CHECKING

from ..core import validate
from ..core.model import PhysicsModel
from ..core.validate import Issue

if TYPE_CHECKING:
    from ..core.difference import Difference
    from ..usd.edit_layer import Form, LayerResult
    from ..usd.scene_edits import SceneEdits


def issues_of_edits(written: LayerResult, form: Form, coasting: Iterable[str]) -> list[Issue]:
    """What became of edits that the source does not take as they are. coasting: paths that keep their velocity now."""
    return [
        *(Issue(
            "EditLeftOut", "warning", path, "", f"That '{path}' keeps its velocity is left out: USD does not know it.",
            "Export as Blender composes it, which writes the motion, or key it.",
        ) for path in coasting),
        *written.packed,
        *(Issue(
            "InstanceMadeUnique", "info", path, "", f"'{path}' is no longer an instance, because it was edited.",
            "Edit the source of the instance instead to keep it.",
        ) for path in written.uninstanced),
        *(Issue(
            "EditLeftOut", "warning", path, "", f"An edit of '{path}' is left out: the source has no such prim.",
            "Import the source again, or export as Blender composes it.",
        ) for path in written.missing),
        *(Issue(
            "EditOverVariants", "warning", path, "",
            f"An edit of '{path}' holds in all variants: its value is from a variant of another file.",
            "Export flattened, or edit the file that has the variant.",
        ) for path in (written.over_variants if form != "flat" else ())),
    ]  # fmt: skip


def counts_of(edits: Difference, old: PhysicsModel, found: SceneEdits | None) -> dict[str, int]:
    """How many things of which kind differ from the source."""
    from ..core.difference import nouns

    counts = nouns(edits, old)
    if found is not None:
        new = {*edits.added, *found.objects}
        counts["new prim"], counts["deleted prim"] = len(new), len({*edits.removed, *found.removed})
        counts["place"] += len(found.transforms.keys() - new)
        counts["other path"] += len(found.moves)
        counts["mesh"] += len(found.meshes)
        counts["look"] += len(found.materials)
        counts["material"] += len(found.bindings)
        counts["set of custom properties"] += len(found.properties)
    return dict(sorted((+counts).items()))


def told_apart(issues: list[Issue], old: PhysicsModel) -> list[Issue]:
    """The issues; an error that the source has itself becomes a warning that says so."""
    if not any(issue.severity == "error" for issue in issues):
        return issues
    known = {(issue.code, issue.path) for issue in validate.validate(old, check_geometry=False)}
    return [
        replaced(issue, severity="warning", message=f"{issue.message} The file had this when it was imported.")
        if issue.severity == "error" and (issue.code, issue.path) in known else issue
        for issue in issues
    ]  # fmt: skip


def not_of_source(issues: list[Issue], old: PhysicsModel, edited: Set[str]) -> list[Issue]:
    """The issues but those that the source has itself, where a layer over it changes nothing. edited: paths."""
    if all(issue.path in edited for issue in issues):
        return issues
    known = {(issue.code, issue.path) for issue in validate.validate(old, check_geometry=False)}
    return [issue for issue in issues if issue.path in edited or (issue.code, issue.path) not in known]


def round_frames(edits: Difference) -> None:
    """Round off 32-bit noise of joint frames, which follow from the places of objects."""
    for edit in edits.edits.values():
        for (name, attribute), value in edit.values.items():
            if attribute.startswith(("local_pos", "local_rot")):
                size = max(1.0, *map(abs, value))
                edit.values[name, attribute] = tuple(
                    round(part / size, 7) * size if abs(part) > 2e-7 * size else 0.0 for part in value
                )
