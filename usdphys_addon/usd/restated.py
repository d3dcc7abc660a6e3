# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages that say the same in other units, have more prims, or hold a model alone; and the proof that one carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Usd

from ..core.errors import InputError, OutputError
from ..core.model import PhysicsModel, Prim
from ..core.rules.base import Above
from ..core.runtimes import FILES
from ..core.units import SI, StageUnits
from ..core.vendors import is_placeless
from . import unit_conversion, write
from .carry_fields import relative_path
from .read import open_stage, stage_units

#: Key in the customData of a default prim.
PROOF_KEY = "usdphysProof"


def in_units(stage: Usd.Stage, units: StageUnits) -> Usd.Stage:
    """A flat copy of a stage, in memory, in other units."""
    layer = stage.Flatten()
    flat = Usd.Stage.Open(layer)
    unit_conversion.convert(flat, units)
    return flat


def write_alone(model: PhysicsModel, target: Path) -> None:
    """Write a model to a file, in SI, with the meshes of its colliders. Raises OutputError."""
    stage = Usd.Stage.CreateInMemory(target.name)
    write.write_units(stage, SI)
    placed = model.copied()
    above = Above(placed.prims)
    for path, prim in placed.prims.items():
        parent = None if prim.resets_xform_stack else above.over(path)
        prim.local = prim.world if parent is None else np.linalg.inv(parent.world) @ prim.world
        if not prim.is_xformable or is_placeless(prim):
            prim.local = None
        prim.physics_binding = prim.physics_binding or next(reversed(prim.materials), "")
    write.write_model(stage, placed, SI)
    stage.SetDefaultPrim(stage.GetPrimAtPath(next(iter(stage.GetPseudoRoot().GetChildren())).GetPath()))
    if not stage.GetRootLayer().Export(str(target)):
        raise OutputError(f"'{target}' could not be written.")


def write_with(
    stage: Usd.Stage, prims: Iterable[Prim], target: Path, *, runtime: str = "",
    without: Iterable[tuple[str, str, Sequence[str]]] = (),
) -> None:  # fmt: skip
    """Write a flat copy of a stage with further prims at its root to a file. world of the prims: SI, Z up.

    runtime: simulator, a key of `core.runtimes.FILES`, whose variants are chosen where prims have them. without: paths
    of prims with the API schema, or "", and the properties that they lose.
    """
    with _chosen(stage, runtime):
        stage.Flatten().Export(str(target))
    flat = open_stage(target)
    for path, schema, names in without:
        prim = flat.GetPrimAtPath(path)
        for name in names if prim else ():
            prim.RemoveProperty(name)
        if prim and schema:
            prim.RemoveAppliedSchema(schema)
    units = stage_units(flat)
    model = PhysicsModel()
    for prim in prims:
        copied = Prim(prim.path, prim.type_name, prim.world, dict(prim.schemas))
        local = prim.world.copy()
        local[:3] = units.to_z_up.T @ local[:3]
        copied.local = local
        model.add(copied)
    write.write_model(flat, model, units)
    flat.GetRootLayer().Save()


@contextmanager
def _chosen(stage: Usd.Stage, runtime: str) -> Iterator[None]:
    """The variants of a simulator enabled, and those of the others not, while a block runs."""
    owners = [prim for prim in stage.Traverse() if runtime in prim.GetVariantSets().GetNames()] if runtime else []
    if not owners:
        yield
        return
    session = stage.GetSessionLayer()
    before = session.ExportToString()
    with Usd.EditContext(stage, session):
        for prim in owners:
            sets = prim.GetVariantSets()
            for name in FILES:
                if name in sets.GetNames():
                    sets.SetSelection(name, "Enabled" if name == runtime else "Disabled")
    try:
        yield
    finally:
        session.ImportFromString(before)


def stamp(source: Path, target: Path, proof: Mapping[str, Any]) -> None:
    """Write a layer over a file whose default prim has a proof in its customData. Raises InputError, OutputError."""
    root = open_stage(source).GetRootLayer()
    if not root.defaultPrim:
        raise InputError(f"'{source.name}' has no default prim, which could hold the digest; set one.")
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.subLayerPaths.append(relative_path(str(source), str(target.parent)))
    for name in ("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond"):
        if root.pseudoRoot.HasInfo(name):
            layer.pseudoRoot.SetInfo(name, root.pseudoRoot.GetInfo(name))
    layer.defaultPrim = root.defaultPrim
    spec = Sdf.CreatePrimInLayer(layer, Sdf.Path.absoluteRootPath.AppendChild(root.defaultPrim))
    spec.customData = {PROOF_KEY: dict(proof)}
    if not layer.Export(str(target)):
        raise OutputError(f"'{target}' could not be written.")


def proof_of(source: Path) -> dict[str, Any]:
    """The proof in the customData of the default prim of a file; empty without one."""
    stage = open_stage(source)
    prim = stage.GetDefaultPrim()
    return dict(prim.GetCustomDataByKey(PROOF_KEY) or {}) if prim else {}
