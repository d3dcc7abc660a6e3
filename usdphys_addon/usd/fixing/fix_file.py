# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes the issues of a USD file in place: the file with the edits of `core.model_fixes`, and nothing else changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pxr import Sdf, Usd

from ...core import model_fixes
from ...core.difference import Difference
from ...core.errors import InputError
from ...core.model import Prim
from ...core.model_fixes import Planned
from ...core.rules.base import Target
from ...system.files import replacing, scratch_file
from .. import edit_layer
from .. import read as usd_read
from ..files import layers
from . import layer_text


@dataclass(frozen=True, slots=True)
class Fixed:
    """planned: what is fixed and what is not. is_rewritten: USD has written the text anew, without its comments."""

    planned: Planned
    is_rewritten: bool = False


def fix_file(file: Path, targets: Collection[Target], wanted: Callable[[str], bool]) -> Fixed:
    """Fix what has a safe fix. Without any, the file is not touched. wanted: whether a code is to be fixed.

    Raises InputError and OutputError; the file is as it was then.
    """
    with usd_read.damage_refused(file):
        stage = usd_read.open_stage(file)
        planned = model_fixes.plan(usd_read.read_stage(stage), targets, wanted, partial(_obstacle, stage))
    if not planned.done:
        return Fixed(planned)
    if file.suffix.lower() == ".usdz":
        left = [
            (code, path, "the file is a package; unpack it, and fix what is in it") for code, path, _ in planned.done
        ]
        return Fixed(Planned(Difference(), [], planned.left + left))
    edits = planned.difference
    return Fixed(planned, write_in_place(file, lambda made: edit_layer.write_edits(file, made, "copy", edits)))


def parts_of(files: Collection[str]) -> dict[str, str]:
    """Those of some files that another of them reads as a layer, reference or payload, and one that does."""
    places = {os.path.realpath(file): file for file in files}
    parts: dict[str, str] = {}
    for real, file in places.items():
        try:
            layer = Sdf.Layer.FindOrOpen(file)
            names = layers.dependencies(layer) if layer else ()
        except Exception:  # pxr.Tf.ErrorException, InputError: whoever reads the file says so
            continue
        for name in names:
            part = os.path.realpath(layer.ComputeAbsolutePath(name))
            if part in places and part != real:
                parts[places[part]] = file
    return parts


def _obstacle(stage: Usd.Stage, prim: Prim) -> str:
    """Why the physics of a prim is not edited, or ""."""
    prim_now = stage.GetPrimAtPath(prim.path)
    if not prim_now.IsDefined():
        return "the file does not define this prim, so it is a layer for another file; fix that one"
    for spec in prim_now.GetPrimStack():
        if spec.path.ContainsPrimVariantSelection() and _has_physics(spec):
            return "its physics comes from a variant, and an edit above would change the other variants, too"
    if any(
        name.startswith("physics:") and prim_now.GetAttribute(name).GetNumTimeSamples() for name in _names(prim_now)
    ):
        return "its physics is animated"
    return ""


def _names(prim: Usd.Prim) -> list[str]:
    return [attribute.GetName() for attribute in prim.GetAuthoredAttributes()]


def _has_physics(spec: Sdf.PrimSpec) -> bool:
    return spec.HasInfo("apiSchemas") or any(":" in item.name for item in spec.properties)


def write_in_place(file: Path, write: Callable[[Path], object]) -> bool:
    """Replace a file by an edited copy, with its own text where only statements differ.

    write: writes the copy to a path beside the file. Returns True if USD has written its text anew.
    """
    with file.open("rb") as stream:
        is_text = stream.read(5) == b"#usda"
    # Beside the file, where its relative paths lead to the same files.
    with scratch_file(file.with_suffix(".usda" if is_text else ".usdc")) as made:
        write(made)
        text = _kept_text(file, made) if is_text else None
        with replacing(file) as scratch:
            if text is None:
                shutil.copyfile(made, scratch)
            else:
                scratch.write_bytes(text.encode("utf-8", "surrogateescape"))
    layers.reload([file])
    return is_text and text is None


def _kept_text(file: Path, made: Path) -> str | None:
    """The text of a file with the statements that an edit has changed; None where that would not say the same."""
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    before, after = (Sdf.Layer.FindOrOpen(str(path)) for path in (file, made))
    if before is None or after is None:
        raise InputError(f"'{file}' has changed while it was fixed; run the command again.")
    wanted = after.ExportToString()
    merged = layer_text.merged(text, before.ExportToString(), wanted)
    if merged is None:
        return None
    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        is_read = layer.ImportFromString(merged)
    except Exception:  # pxr.Tf.ErrorException, and what its parser raises
        return None
    return merged if is_read and layer.ExportToString() == wanted else None
