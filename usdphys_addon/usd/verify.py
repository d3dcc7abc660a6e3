# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a file that was just written: is it whole, and does it hold what Blender shows?

A writer on a full disk can report success, and so can one that has written something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pxr import Sdf, Tf, Usd, UsdGeom, Vt

from ..core import proof, summary
from ..core.errors import OutputError
from ..core.joint_kinds import BY_TYPE_NAME
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue, refuse_errors
from ..system.files import torn
from . import opinions as usd_opinions
from . import read as usd_read
from . import rest_time
from .files import layers

#: OpenUSD 25.08 has moved it.
_CrateInfo: Any = getattr(Sdf, "CrateInfo", None) or Usd.CrateInfo


def outline(layer: Sdf.Layer) -> list[str]:
    """The root prims of a layer and the names of its metadata: enough to know it whole.

    What is cut off inside a root prim cannot be read at all: in text a bracket is not closed, and a crate file has the
    table of its contents at its end.
    """
    root = layer.pseudoRoot
    # Python cannot read the offsets, which follow the sublayers.
    named = [name for name in root.ListInfoKeys() if name != "subLayerOffsets" and not _is_empty(root.GetInfo(name))]
    return [*layer.rootPrims.keys(), *named]


def _is_empty(value: Any) -> bool:
    """True for empty texts and lists, which a text file does not hold."""
    return hasattr(value, "__len__") and not len(value)


def verify(scratch: Path, target: Path, expected: list[str]) -> Sdf.Layer | None:
    """Raise OutputError unless a file is whole: text has this outline, and the tables of a crate file can be read.

    target: the name for the message. Returns the layer of a file of text: while it is held, USD does not read the file
    again, see `prove`.
    """
    layer = None
    try:
        with scratch.open("rb") as stream:
            is_crate = stream.read(8) == b"PXR-USDC"
        if is_crate:
            # All tables of the file are read, and no layer is made of them.
            is_whole = bool(_CrateInfo.Open(str(scratch)))
        else:
            # One that USD has open already is not the file.
            is_open = Sdf.Layer.Find(str(scratch)) is not None
            layer = (Sdf.Layer.OpenAsAnonymous if is_open else Sdf.Layer.FindOrOpen)(str(scratch))
            is_whole = bool(layer) and outline(layer) == expected
    except (OSError, Tf.ErrorException):
        is_whole = False
    if not is_whole:
        raise OutputError(torn(target))
    return layer


# --------------------------------------------------------------------------- proof


class Provable(Protocol):
    """The result of an export: what Blender has shown, the target, and what is said about them."""

    path: Path
    issues: list[Issue]
    counts: dict[str, int]
    edited: int | None
    proof: proof.Proof | None


def prove(file: Path, result: Provable, *, strict: bool, read: Sdf.Layer | None = None) -> None:
    """Hold a written file against what Blender has shown, and count its physics; add what differs to the issues.

    strict: raise ValidationFailedError where it differs. read: its layer, if `verify` has just read it.
    """
    if result.proof is None:
        return
    is_read = read is not None and not read.anonymous
    deviations, counts = result.proof.mismatches(partial(facts_of_file, file, is_read=is_read))
    issues = proof.issues_of(deviations)
    refuse_errors(issues, result.path, strict=strict)
    result.issues += issues
    if result.edited is None:
        result.counts = counts


# --------------------------------------------------------------------------- facts


def facts_of_file(
    file: Path, wanted: Sequence[str], alike: Sequence[object], *, is_read: bool = False
) -> proof.Facts:  # fmt: skip
    """The facts of a USD file about the prims at some paths. alike: equal for prims that are written alike.

    Values are read of one prim of each kind, and places and shapes of all. is_read: its layer is open and as the file.
    """
    if not is_read:
        layers.reload([file])
    stage = Usd.Stage.Open(str(file))
    usd_read.say_units_as_doubles(stage)
    units = usd_read.stage_units(stage)
    usd_prims = [stage.GetPrimAtPath(path) for path in wanted]
    held = [_schemas_of(prim) if prim else None for prim in usd_prims]
    caches = rest_time.places(stage)
    worlds = np.full((len(wanted), 4, 4), np.nan)
    boxes = np.full((len(wanted), 2, 3), np.nan)
    representatives: dict[object, str] = {}
    meshes: dict[int, NDArray[np.float32]] = {}
    for index, (prim, schemas) in enumerate(zip(usd_prims, held, strict=True)):
        if schemas is None:
            continue
        worlds[index] = usd_read.despite_broken_ops(caches.of(prim).GetLocalToWorldTransform, prim)
        # Each joint has its own values; for others the writer goes by their prototype.
        is_own = not schemas.isdisjoint(BY_TYPE_NAME)
        representatives.setdefault(wanted[index] if is_own else (alike[index], schemas), wanted[index])
        if usd_physics.CollisionAPI.usd_name in schemas and "Mesh" in schemas:
            points = prim.GetAttribute("points").Get()
            if isinstance(points, Vt.Vec3fArray) and len(points):
                meshes[index] = np.asarray(points)
    boxes[list(meshes)] = proof.boxes_of(list(meshes.values())) * units.meters_per_unit
    worlds = worlds.transpose(0, 2, 1)
    worlds[:, :3] = units.to_z_up @ worlds[:, :3]
    worlds[:, :3, 3] *= units.meters_per_unit
    chosen = (usd_opinions.Opinions(stage.GetPrimAtPath(path)) for path in representatives.values())
    model = usd_read.read_stage(stage, chosen)
    prims: list[Any] = []
    for index, (path, schemas) in enumerate(zip(wanted, held, strict=True)):
        key = (alike[index], schemas)
        prims.append(None if schemas is None else model.prims.get(representatives.get(path) or representatives[key]))
        gprim = prims[-1].get(usd_geom.Gprim) if prims[-1] is not None else None
        if gprim is not None and usd_physics.CollisionAPI.usd_name in (schemas or ()):
            boxes[index] = proof.gprim_box(gprim)
    return proof.Facts(
        worlds,
        boxes,
        held,
        prims,
        _materials_of(usd_prims, held),
        _counts(stage, dict(zip(usd_prims, held, strict=True))),
    )


def _schemas_of(usd_prim: Usd.Prim) -> frozenset[str]:
    """Type and API schemas of a prim, by the names that a model has for them."""
    return _set_of(usd_prim.GetTypeName(), tuple(usd_opinions.applied_schemas(usd_prim)))


@lru_cache(maxsize=4096)
def _set_of(type_name: str, applied: tuple[str, ...]) -> frozenset[str]:
    tapered = usd_geom.TAPERED.get(type_name)
    return frozenset((type_name if tapered is None else tapered.usd_name, *applied))


def _materials_of(found: Sequence[Usd.Prim], held: Sequence[frozenset[str] | None]) -> list[tuple[str, ...]]:
    """Paths of the physics materials of each collider and its subsets; none for other prims."""
    parts = [
        (prim, *(child for child in prim.GetChildren() if child.GetTypeName() == "GeomSubset"))
        if schemas is not None and usd_physics.CollisionAPI.usd_name in schemas else ()
        for prim, schemas in zip(found, held, strict=True)
    ]  # fmt: skip
    bound = iter(usd_read.bound_materials(list(chain.from_iterable(parts))))
    return [tuple(path for path in islice(bound, len(several)) if path) for several in parts]


def _counts(stage: Usd.Stage, known: Mapping[Usd.Prim, frozenset[str] | None]) -> dict[str, int]:
    """Number of prims with physics by kind, as `summary.counts` of a model of the whole stage. known: their schemas."""
    proxies = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    prims = Usd.PrimRange(stage.GetPseudoRoot(), proxies)
    return _counts_of(Counter(known.get(prim) or _schemas_of(prim) for prim in prims))


def counts_of_prototypes(stage: Usd.Stage) -> dict[str, int]:
    """Number of prims with physics by kind in the point instancers of a stage: no object stands for a prototype."""
    seen = iter(Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimDefaultPredicate))
    kinds: Counter[frozenset[str]] = Counter()
    for prim in seen:
        if prim.IsA(UsdGeom.PointInstancer):
            seen.PruneChildren()
            kinds.update(map(_schemas_of, Usd.PrimRange(prim)))
    return _counts_of(kinds)


def _counts_of(kinds: Mapping[frozenset[str], int]) -> dict[str, int]:
    numbers: Counter[str] = Counter()
    for schemas, number in kinds.items():
        numbers.update(dict.fromkeys(schemas, number))
    return summary.counts_of_names(numbers)
