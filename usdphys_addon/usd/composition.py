# SPDX-License-Identifier: GPL-3.0-or-later
"""Composition of a stage: variant selections, missing files, instances."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pxr import Pcp, Sdf, Usd, UsdGeom, UsdShade

from ..core import paths, pointers
from ..core.errors import InputError, OutputError
from ..core.validate import Issue
from ..core.words import counted, named
from ..system import files
from . import opinions as usd_opinions
from . import read as usd_read
from .carry_fields import is_mistyped, relative_path, table_properties, type_in_file
from .opinions import BINDING_API, PHYSICS_BINDING, Opinions

_CHOICE = re.compile(r"(/[^{}]*)\{([^{}=]+)=([^{}]*)\}\Z")
_ASSET = re.compile(r"@([^@]*)@")
_FILE_ERRORS = (Pcp.ErrorInvalidAssetPath, Pcp.ErrorInvalidSublayerPath, Pcp.ErrorMutedAssetPath)
#: Metadata that USD reads from the root layer of a stage only.
STAGE_FIELDS = (
    "metersPerUnit", "kilogramsPerUnit", "upAxis", "defaultPrim", "timeCodesPerSecond", "framesPerSecond",
    "startTimeCode", "endTimeCode", "expressionVariables", "colorConfiguration", "colorManagementSystem",
    "renderSettingsPrimPath",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class VariantChoice:
    """A variant selection; as text like in USD paths: /Prim{set=choice}."""

    prim_path: str
    set_name: str
    choice: str

    def __str__(self) -> str:
        return f"{self.prim_path}{{{self.set_name}={self.choice}}}"


@dataclass(frozen=True, slots=True)
class VariantSet:
    """A variant set of a prim. choices: variant names. selection: the selected one, or empty."""

    prim_path: str
    name: str
    choices: tuple[str, ...]
    selection: str


def files_of(stage: Usd.Stage) -> list[Path]:
    """The files that a stage is composed of; packages once."""
    names = {layer.realPath.split("[")[0] for layer in stage.GetUsedLayers(includeClipLayers=False)}
    return [Path(name) for name in sorted(names) if name]


def refuse_parts(stage: Usd.Stage, target: Path) -> None:
    """Raise OutputError if an output is one of the files that a stage is composed of."""
    source, *others = (Path(layer.realPath.split("[")[0]) for layer in (stage.GetRootLayer(), *stage.GetUsedLayers()))
    if source.name and os.path.realpath(source) == os.path.realpath(target):
        raise OutputError(f"'{target}' is the source itself, which is never changed; choose another name.")
    files.refuse_parts(target, source, (file for file in others if file.name))


def files_outside(stage: Usd.Stage, path: Path) -> list[str]:
    """The files that a stage is composed of and that lie in other folders than its file, or those below."""
    folder = path.absolute().parent.resolve()
    return [str(file) for file in files_of(stage) if not file.resolve().is_relative_to(folder)]


def parse_choice(text: str) -> VariantChoice:
    """Parse a variant selection like /Prim{set=choice}. Raises InputError."""
    match = _CHOICE.match(text.strip())
    if match is None:
        raise InputError(f"'{text}' names no variant; write it like '/Prim{{set=choice}}'.")
    return VariantChoice(*match.groups())


def variant_sets(stage: Usd.Stage) -> list[VariantSet]:
    """All variant sets of a stage, in stage order, except those inside unselected variants."""
    listed = []
    for prim in stage.Traverse():
        if prim.HasVariantSets():
            sets = prim.GetVariantSets()
            for name in sets.GetNames():
                one = sets.GetVariantSet(name)
                listed.append(
                    VariantSet(str(prim.GetPath()), name, tuple(one.GetVariantNames()), one.GetVariantSelection())
                )
    return listed


def is_composed(stage: Usd.Stage) -> bool:
    """True if a flat file would lose how a stage is composed: sublayers, references, payloads or variants."""
    return bool(stage.GetRootLayer().subLayerPaths) or any(
        prim.HasAuthoredReferences() or prim.HasAuthoredPayloads() or prim.HasVariantSets()
        for prim in stage.TraverseAll()
    )


def select_variants(stage: Usd.Stage, choices: Sequence[VariantChoice]) -> None:
    """Select variants in the session layer of a stage. Raises InputError if a prim, set or variant does not exist."""
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for choice in choices:
            name = Path(stage.GetRootLayer().identifier).name
            prim = stage.GetPrimAtPath(choice.prim_path)
            if not prim:
                raise InputError(f"'{name}' has no prim '{choice.prim_path}' to choose a variant of; check the path.")
            if choice.set_name not in prim.GetVariantSets().GetNames():
                sets = ", ".join(prim.GetVariantSets().GetNames()) or "none"
                raise InputError(f"'{choice.prim_path}' has no variant set '{choice.set_name}'; it has: {sets}.")
            one = prim.GetVariantSet(choice.set_name)
            if choice.choice and choice.choice not in one.GetVariantNames():
                raise InputError(
                    f"The variant set '{choice.set_name}' of '{choice.prim_path}' has no choice '{choice.choice}'; "
                    f"it has: {', '.join(one.GetVariantNames())}."
                )
            one.SetVariantSelection(choice.choice)


def write_selections(layer: Sdf.Layer, choices: Iterable[VariantChoice]) -> None:
    """Author variant selections in a layer."""
    for choice in choices:
        Sdf.CreatePrimInLayer(layer, choice.prim_path).variantSelections[choice.set_name] = choice.choice


def write_selected(
    source: str | Path, choices: Iterable[VariantChoice], target: str | Path, edit: Callable[[Sdf.Layer], None] | None
) -> None:
    """Write a layer with `source` as its sublayer, these variant selections, and what `edit` adds to it."""
    root = Sdf.Layer.FindOrOpen(str(source))
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for name in STAGE_FIELDS:
        if root.pseudoRoot.HasInfo(name):
            layer.pseudoRoot.SetInfo(name, root.pseudoRoot.GetInfo(name))
    layer.subLayerPaths.append(Path(source).absolute().as_posix())
    write_selections(layer, choices)
    if edit is not None:
        edit(layer)
    layer.Export(str(target))


@contextmanager
def opened_once(stage: Usd.Stage) -> Iterator[None]:
    """Within the block, opening the file of a stage in this thread gives that stage, which is not composed twice."""
    cache = Usd.StageCache()
    cache.Insert(stage)
    with Usd.StageCacheContext(Usd.UseButDoNotPopulateCache(cache)):
        yield


def write_moved(source: Path, target: Path) -> None:
    """Write a layer of `write_selected` to another folder. Raises OSError or OutputError."""
    layer = Sdf.Layer.OpenAsAnonymous(str(source))
    layer.subLayerPaths[:] = [relative_path(path, str(target.parent)) for path in layer.subLayerPaths]
    files.write_text(target, layer.ExportToString())


def write_over(source: str | Path, target: Path, edit: Callable[[Sdf.Layer], None]) -> None:
    """Write a layer over a file, whose paths are relative to its own folder. Raises OSError or OutputError."""
    with files.scratch_file(target) as scratch:
        write_selected(source, (), scratch, edit)
        write_moved(scratch, target)


def missing_parts(stage: Usd.Stage) -> list[Issue]:
    """One warning for each layer, reference and payload of a stage that is missing or cannot be composed; those of
    files first."""
    issues: dict[str, Issue] = {}
    # Prims that are missing may be so because a file is.
    for error in sorted(stage.GetCompositionErrors(), key=lambda error: not isinstance(error, _FILE_ERRORS)):
        text = usd_read.error_message(error)
        assets = _ASSET.findall(text)
        path = str(error.rootSite.path)
        if isinstance(error, _FILE_ERRORS):
            what = f"'{assets[0]}' cannot be read" if assets else "A file cannot be read"
            is_pointer = bool(assets) and pointers.is_pointer_file(assets[0])
            if is_pointer:
                what = f"'{assets[0]}' is a pointer of Git LFS"
            whom = "" if path in ("", "/") else f", which '{path}' brings in"
            message = f"{what}{whom}; its content is missing."
            fix = pointers.FIX if is_pointer else "Put the file there, or correct the path in the USD file."
        elif isinstance(error, Pcp.ErrorArcCycle | Pcp.ErrorSublayerCycle):
            loop = named(Path(asset).name for asset in assets if not asset.startswith("anon:"))
            message = f"A part of '{path}' is missing, because it references itself by way of {loop}."
            fix = "Remove the circular reference from one of these files."
        else:
            message = f"A part of '{path}' is missing: {' '.join(text.split()).rstrip('.')}."
            fix = "Correct the reference in the USD file."
        issues.setdefault(message, Issue("AssetMissing", "warning", path, "", message, fix))
    return list(issues.values())


def missing_assets(stage: Usd.Stage, opinions: Iterable[Opinions]) -> list[Issue]:
    """One warning for each missing layer, reference, payload, texture and source of a shader of a stage.

    opinions: of all its prims.
    """
    issues = {issue.message: issue for issue in missing_parts(stage)}
    for one in opinions:
        if not usd_opinions.is_a(one.type_name, UsdShade.Shader):
            continue
        for item in usd_opinions.authored_properties(one.usd_prim):
            asset = item.Get() if isinstance(item, Usd.Attribute) else None
            if not isinstance(asset, Sdf.AssetPath):
                continue
            is_pointer = pointers.is_pointer_file(asset.resolvedPath) if asset.resolvedPath else False
            is_there = asset.resolvedPath and not is_pointer and not _is_empty(asset.resolvedPath)
            if not asset.path or "<UDIM>" in asset.path or is_there:
                continue
            is_source, file = item.GetName().startswith("info:"), asset.path
            fix = "Put the file there, or correct the path in the USD file."
            if is_pointer:
                message, fix = f"'{file}' of '{one.path}' is a pointer of Git LFS.", pointers.FIX
            elif is_source and asset.resolvedPath:
                message = f"The source '{file}' of the shader '{one.path}' is an empty file."
            elif is_source:
                message = f"The source '{file}' of the shader '{one.path}' is missing."
                if "/" not in file:
                    fix = (
                        "Nothing, if the renderer brings it, as Omniverse does; else correct the path in the USD file."
                    )
            elif asset.resolvedPath:
                message = f"The texture '{file}' of '{one.path}' is an empty file."
            else:
                message = f"The texture '{file}' of '{one.path}' is missing."
            issues.setdefault(asset.path, Issue("AssetMissing", "warning", one.path, "", message, fix))
    return list(issues.values())


def _is_empty(name: str) -> bool:
    """True for a file without bytes. What is in a package counts as full: its name is none of the system."""
    try:
        return Path(name).stat().st_size == 0
    except OSError:
        return False


def odd_up_axis(stage: Usd.Stage) -> str:
    """The up axis of a stage that USD does not know; empty for Y and Z."""
    axis = str(UsdGeom.GetStageUpAxis(stage))
    return "" if axis in ("Y", "Z") else axis


def odd_metadata(stage: Usd.Stage) -> list[Issue]:
    """Warnings about an up axis that USD does not know, and a default prim that is not there."""
    issues: list[Issue] = []
    root = stage.GetRootLayer()
    if axis := odd_up_axis(stage):
        issues.append(Issue(
            "StageUpAxis", "warning", "/", "", f"The up axis is '{axis}', which USD does not know; Z is taken.",
            "Set upAxis in the USD file to Y or Z.",
        ))  # fmt: skip
    if root.defaultPrim and not usd_read.default_prim_name(stage):
        issues.append(Issue(
            "DefaultPrimMissing", "warning", "/", "",
            f"The default prim '{root.defaultPrim}' does not exist: a reference to this file brings in nothing.",
            "Name a prim at the top of the USD file as its defaultPrim.",
        ))  # fmt: skip
    return issues


def unapplied_bindings(opinions: Iterable[Opinions]) -> list[Issue]:
    """A warning if colliders bind a physics material without the schema for it."""
    unapplied = [one.path for one in opinions if PHYSICS_BINDING in one.kind.names and BINDING_API not in one.schemas]
    if not unapplied:
        return []
    return [Issue(
        "BindingNotApplied", "warning", unapplied[0], "",
        f"'{unapplied[0]}' binds a physics material without MaterialBindingAPI "
        f"({counted(len(unapplied), 'such prim')}): simulators and the preview use the material, OpenUSD's own reader "
        "of physics does not.",
        "Apply MaterialBindingAPI to such prims in the USD file.",
    )]  # fmt: skip


def mistyped_values(stage: Usd.Stage, opinions: Iterable[Opinions]) -> list[Issue]:
    """A warning if units or numbers of schemas have another type than the schema says."""
    mistyped = [("/", name, "float", "double") for name in usd_read.units_as_floats(stage)]
    unknown: list[tuple[str, str, str]] = []
    for one in opinions:
        for name, (attribute, _) in table_properties(one.type_name, one.schemas).items():
            if name in one.names and attribute.type not in ("rel", "opaque"):
                kind = type_in_file(one.usd_prim.GetAttribute(name)) or attribute.type
                if is_mistyped(kind, attribute):
                    mistyped.append((one.path, name, kind, attribute.type))
                elif not Sdf.ValueTypeNames.Find(kind):
                    unknown.append((one.path, name, kind))
    issues = [] if not unknown else [_unknown_type(*unknown[0], len(unknown))]
    if not mistyped:
        return issues
    path, name, kind, wanted = mistyped[0]
    return [*issues, Issue(
        "WrongValueType", "warning", path, "",
        f"'{name}' of '{path}' is of type {kind} in place of {wanted} ({counted(len(mistyped), 'such value')}): the "
        "add-on uses the value, OpenUSD's own reader of physics and simulators built on it ignore it.",
        "Declare such values with the type of their schema in the USD file.",
    )]  # fmt: skip


def _unknown_type(path: str, name: str, kind: str, count: int) -> Issue:
    return Issue(
        "WrongValueType", "warning", path, "",
        f"'{name}' of '{path}' is of type {kind}, which OpenUSD does not have ({counted(count, 'such value')}): "
        "nobody reads its value.",
        "Declare such values with the type of their schema in the USD file.",
    )  # fmt: skip


def instance_paths(stage: Usd.Stage) -> list[str]:
    """Paths of the instances of a stage, without nested ones."""
    if not stage.GetPrototypes():
        return []
    return [str(prim.GetPath()) for prim in stage.Traverse() if prim.IsInstance()]


def instancer_paths(opinions: Iterable[Opinions]) -> list[str]:
    """Paths of the point instancers of a stage, without nested ones."""
    instancers: list[str] = []
    for one in opinions:
        if usd_opinions.is_a(one.type_name, UsdGeom.PointInstancer) and not (
            instancers and paths.is_below(one.path, instancers[-1])
        ):
            instancers.append(one.path)
    return instancers
