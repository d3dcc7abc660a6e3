# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies edits to a USD file: in a layer over it, in a copy of its root layer, or in one flat file.

The source is only read. The target is replaced atomically.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from pxr import Sdf, Tf, Usd, UsdUtils

from ..core.difference import Difference
from ..core.errors import InputError, OutputError
from ..core.units import StageUnits
from ..core.validate import Issue
from ..system.files import USD_SUFFIXES, replacing, scratch_file, scratch_folder
from . import read as usd_read
from . import scene_edits, unit_conversion, verify
from .carry_fields import PRIM_FIELDS, copy_fields, relative_path, type_in_file
from .composition import VariantChoice, refuse_parts, select_variants, write_selections
from .files import layers, packages
from .physics_edits import Editor
from .scene_edits import SceneEdits
from .specs import children_of

SUFFIXES = (".usd", ".usda", ".usdc")


#: Metadata of a root layer that say how it is composed; a layer over it shows all others as its own.
_COMPOSED = frozenset({"subLayers", "subLayerOffsets", "layerRelocates", "hasOwnedSubLayers"})
Form = Literal["layer", "copy", "flat"]


@dataclass(slots=True)
class LayerResult:
    """uninstanced: paths whose `instanceable` was set to false. missing: edited paths that the source lacks.

    over_variants: paths of prims whose values are from a variant, and were edited for all variants. packed: about the
    files in a package. unconverted: path of a prim by the name of an attribute of which nobody knows the unit.
    """

    path: Path
    uninstanced: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    over_variants: tuple[str, ...] = ()
    packed: tuple[Issue, ...] = ()
    unconverted: dict[str, str] = field(default_factory=dict)


def write_edits(
    source: str | Path, target: str | Path, form: Form, difference: Difference, scene: SceneEdits | None = None, *,
    units: StageUnits | None = None, variants: Sequence[VariantChoice] = (), converted: StageUnits | None = None,
    check: Callable[[Path], None] | None = None,
) -> LayerResult:  # fmt: skip
    """Write a source with edits of its physics, and of the rest of the scene.

    layer: a layer whose only sublayer is the source, with a relative path if both are on one drive. It contains changes
    only: values and targets, prepended and deleted API schemas, blocks for values that are no longer authored, `def`s
    for new prims, `active = false` for removed prims, `instanceable = false` for instances with edits inside. An
    edited value hides the time samples of the source.
    copy: a copy of the root layer of the source. Its own opinions are changed or removed; weaker ones (sublayers,
    variants, references) are overridden as in a layer. All other opinions stay. Relative asset paths are re-anchored
    to the same files. Without changes, a copy in the same format is identical byte by byte.
    flat: one file without references, payloads and variants. A target .usdz is a copy with all that it refers to.

    units: that the edits are written in; by default the source's. variants: selections that the edits were made with,
    authored in the target. converted: other units of the target, which is flat then. check: of the written file, before
    it replaces the target; raises. Raises InputError if the source
    cannot be read, OutputError if the target cannot be written.
    """
    stage, target = _checked(Path(source), Path(target), form)
    edits = scene or SceneEdits()
    root = stage.GetRootLayer()
    layer = Sdf.Layer.CreateAnonymous(".usda")
    is_moved = False
    if form == "layer":
        for name in set(root.pseudoRoot.ListInfoKeys()) - _COMPOSED:
            layer.pseudoRoot.SetInfo(name, root.pseudoRoot.GetInfo(name))
        folder = Path(os.path.realpath(Path(source).absolute().parent))
        layer.subLayerPaths.append(relative_path(str(folder / Path(source).name), os.path.realpath(target.parent)))
    else:
        layer.TransferContent(root)
        is_moved = _reanchor(layer, root, target.parent)
    select_variants(stage, variants)
    write_selections(layer, variants)
    editor = Editor(layer, stage, units or usd_read.stage_units(stage), None if form == "layer" else root)
    scene_edits.apply_first(editor, edits)
    editor.apply(difference)
    scene_edits.apply_last(editor, edits)
    packed: list[Issue] = []
    unconverted: dict[str, str] = {}
    suffix = target.suffix.lower()
    is_same = suffix == Path(root.realPath).suffix.lower() and suffix != ".usdz"
    if form == "flat" or converted is not None:
        layer = flattened(layer, target)
    if converted is not None:
        unconverted = unit_conversion.convert(Usd.Stage.Open(layer), converted)
    is_untouched = converted is None and not (is_moved or difference or edits or variants)
    if form == "copy" and is_same and is_untouched:
        _save(target, lambda scratch: bool(shutil.copyfile(root.realPath, scratch)), layer, check)
    elif suffix == ".usdz":
        _save(target, lambda scratch: _export_package(layer, scratch, target, packed), layer, check)
    else:
        _save(target, lambda scratch: bool(layer.Export(str(scratch))), layer, check)
    over_variants = tuple(editor.over_variants)
    return LayerResult(
        target, tuple(editor.uninstanced), tuple(editor.missing), over_variants, tuple(packed), unconverted
    )  # fmt: skip


def flattened(layer: Sdf.Layer, target: Path) -> Sdf.Layer:
    """The composition of a layer, whose relative paths are those of the folder of the target, as one layer."""
    # A file of its own in that folder, so that the paths are found.
    with scratch_file(target.with_suffix(".usdc")) as whole:
        try:
            layer.Export(str(whole))
            stage = Usd.Stage.Open(str(whole))
        except Tf.ErrorException as error:
            raise _unwritten(target, error) from error
        try:
            flat = stage.Flatten(addSourceFileComment=False)
        except Tf.ErrorException as error:
            raise InputError(f"'{target}' cannot be written as one file: {_why_not_flat(error)}.") from error
        _keep_types(flat, stage)
        _add_unknown_fields(flat, stage)
        del stage
    UsdUtils.ModifyAssetPaths(flat, lambda path: _seen_from(path, target.parent))
    return flat


def _why_not_flat(error: Tf.ErrorException) -> str:
    text = " ".join(str(error).split())
    match = re.search(r"<([^<>]+)> is not an? (?:attribute|relationship)", text)
    if match:
        return f"'{match[1]}' is an attribute in one layer or schema and a relationship in another; rename one"
    return text[:200]


def _seen_from(path: str, folder: Path) -> str:
    """A path that flattening has made absolute, relative to a folder; as it is where it leads to no folder."""
    file = Path(path.partition("[")[0])
    if not file.is_absolute() or not file.parent.is_dir():
        return path
    return relative_path(path, os.path.realpath(folder))


def _keep_types(layer: Sdf.Layer, stage: Usd.Stage) -> None:
    """Give attributes of a flattened layer the types of their values, where flattening has taken those of schemas.

    A text with a value of another type cannot be read.
    """
    pending = list(layer.rootPrims)
    while pending:
        prim = pending.pop()
        pending += children_of(prim)
        for attribute in prim.attributes:
            value = attribute.default
            if value is None or isinstance(value, Sdf.ValueBlock | _class_of(attribute.typeName)):
                continue
            known = type_in_file(stage.GetAttributeAtPath(attribute.path))
            attribute.SetInfo("typeName", known or str(Sdf.GetValueTypeNameForValue(value)))


@cache
def _class_of(type_name: Sdf.ValueTypeName) -> type:
    return type(type_name.defaultValue)


def _add_unknown_fields(layer: Sdf.Layer, stage: Usd.Stage) -> None:
    """Copy the metadata of prims to a flattened layer that flattening leaves out, because this USD does not know it."""
    for prim in stage.TraverseAll():
        spec = layer.GetPrimAtPath(prim.GetPath())
        missing = prim.GetAllAuthoredMetadata().keys() - PRIM_FIELDS - set(spec.ListInfoKeys()) if spec else ()
        for source in reversed(prim.GetPrimStack()) if missing else ():
            copy_fields(source, spec, lambda name, _there, missing=missing: name in missing)  # type: ignore[misc]


def _export_package(layer: Sdf.Layer, scratch: Path, target: Path, packed: list[Issue]) -> bool:
    """Write a layer and all assets that it refers to as one .usdz. packed: gets what is to be said about them."""
    with scratch_folder(target) as folder:
        inside = folder / f"{target.stem}.usdc"
        # One folder deeper than where its relative paths are anchored.
        moved = Sdf.Layer.CreateAnonymous(".usda")
        moved.TransferContent(layer)
        UsdUtils.ModifyAssetPaths(moved, lambda path: f"../{path}" if path.startswith(("./", "../")) else path)
        packages.take_along(moved, folder)
        if not (moved.Export(str(inside)) and UsdUtils.CreateNewUsdzPackage(str(inside), str(scratch))):
            return False
        packed.extend(packages.cleaned(scratch, target))
        return True


def _reanchor(layer: Sdf.Layer, root: Sdf.Layer, folder: Path) -> bool:
    """Re-anchor the relative asset paths of a copy in another folder. Returns True if any has changed."""
    to_folder = os.path.realpath(folder)
    changed: list[str] = []

    def moved(path: str) -> str:
        plain, arguments = Sdf.Layer.SplitIdentifier(path) if path else ("", {})
        if not plain or ":" in plain or plain.startswith(("/", "\\", "`")):
            return path
        # "./", because a <UDIM> or frame pattern does not exist as a file and would be taken for a search path.
        anchored = root.ComputeAbsolutePath(f"./{plain}" if "<" in plain and plain[0] != "." else plain)
        if not Path(anchored.split("[")[0]).is_absolute():
            return path
        inside, bracket, rest = anchored.partition("[")
        real = Path(os.path.realpath(Path(inside).parent), Path(inside).name)
        relative = relative_path(str(real), to_folder) + bracket + rest
        if os.path.normpath(relative) == os.path.normpath(plain):
            return path
        changed.append(path)
        return str(Sdf.Layer.CreateIdentifier(relative, arguments))

    layers.modify_asset_paths(layer, moved)
    return bool(changed)


# --------------------------------------------------------------------------- files


def _checked(source: Path, target: Path, form: Form) -> tuple[Usd.Stage, Path]:
    """(stage of the source, absolute target path). Raises InputError or OutputError."""
    target = target.absolute()
    suffixes = SUFFIXES if form == "layer" else USD_SUFFIXES
    if target.suffix.lower() not in suffixes:
        what = "a layer" if form == "layer" else "a USD file"
        raise OutputError(f"'{target}' is not a name of {what}; end it with one of {', '.join(suffixes)}.")
    if not target.parent.is_dir():
        raise OutputError(f"The folder '{target.parent}' does not exist; make it or choose another.")
    if target.is_dir():
        raise OutputError(f"'{target}' is a folder; choose a file name.")
    stage = usd_read.open_stage(source)
    refuse_parts(stage, target)
    return stage, target


def _save(
    target: Path, write: Callable[[Path], bool], layer: Sdf.Layer, check: Callable[[Path], None] | None
) -> None:  # fmt: skip
    """Replace the target by the layer that `write` puts into a scratch file; it returns False where it fails."""
    outline = verify.outline(layer)

    def verified(scratch: Path) -> None:
        verify.verify(scratch, target, outline)
        if check is not None:
            check(scratch)

    try:
        with replacing(target, verify=verified) as scratch:
            if not write(scratch):
                raise OutputError(f"'{target}' could not be written; the old file is untouched.")
    except Tf.ErrorException as error:
        raise _unwritten(target, error) from error
    layers.reload([target])


def _unwritten(target: Path, error: Tf.ErrorException) -> OutputError:
    # Without the place in OpenUSD's code, and the name of the scratch file.
    reason = next(iter(re.findall(r" : '(.*)'", str(error))), "").split(" /")[0]
    return OutputError(f"'{target}' could not be written ({reason}); the old file is untouched.")
