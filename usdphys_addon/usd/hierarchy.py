# SPDX-License-Identifier: GPL-3.0-or-later
"""Rearranges nested rigid bodies on an exported stage: flat, or with a reset transform stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom

from ..core import paths
from ..core.rules.base import Hierarchy
from . import write as usd_write
from .targets import followed, retarget_layer


def arrange(stage: Usd.Stage, bodies: Iterable[str], hierarchy: Hierarchy) -> dict[str, str]:
    """Rearrange bodies below other bodies; world poses, including animated ones, do not change.

    bodies: paths of all rigid bodies. "flat" moves a nested body and its subtree beside the outermost body above it
    and retargets relationships. "reset" makes nested bodies reset the transform stack. Returns new by old path of the
    moved bodies. Raises RuntimeError if a prim cannot be moved.
    """
    if hierarchy == "nested":
        return {}
    listed = set(bodies)
    above = {path: [parent for parent in paths.ancestors_of(path) if parent in listed] for path in listed}
    nested = {path: parents for path, parents in above.items() if parents}
    if not nested:
        return {}
    poses = {path: _world_samples(stage.GetPrimAtPath(path)) for path in nested}
    layer = stage.GetEditTarget().GetLayer()
    if hierarchy == "reset":
        for path, samples in poses.items():
            _write_pose(layer.GetPrimAtPath(path), samples, reset=True)
        return {}
    moved: dict[str, str] = {}
    members = _memberships(stage, nested)
    # Deepest first: moving a descendant does not change the path of a body.
    for path in sorted(nested, key=lambda path: -path.count("/")):
        parent = paths.parent_of(nested[path][-1])
        target = paths.free(f"{parent}/{paths.name_of(path)}", layer.GetPrimAtPath)
        samples = poses[path]
        parent_prim = stage.GetPrimAtPath(parent) if parent else stage.GetPseudoRoot()
        for time in samples:
            inverse = UsdGeom.XformCache(time).GetLocalToWorldTransform(parent_prim).GetInverse()
            samples[time] = samples[time] * inverse
        edit = Sdf.BatchNamespaceEdit()
        edit.Add(path, target)
        if not layer.Apply(edit):
            raise RuntimeError(f"'{path}' cannot be moved to '{target}'")
        moved[path] = target
        _write_pose(layer.GetPrimAtPath(target), samples, reset=False)
    follow = partial(followed, moves=moved)
    retarget_layer(layer, follow)
    _keep_memberships(stage, members, follow)
    return moved


def keep_current_poses(stage: Usd.Stage, animated: Iterable[str], frame: float) -> None:
    """Set the default value of animated transforms of prims and their ancestors to the value at a frame.

    Physics starts at the default time, for which Blender's exporter writes no value of an animated transform.
    """
    done: set[str] = set()
    for path in animated:
        for above in (path, *paths.ancestors_of(path)):
            if above in done:
                break
            done.add(above)
            prim = stage.GetPrimAtPath(above)
            for attribute in prim.GetAttributes() if prim else ():
                if attribute.GetName().startswith("xformOp:") and attribute.GetNumTimeSamples():
                    attribute.Set(attribute.Get(frame))


def _world_samples(prim: Usd.Prim) -> dict[Usd.TimeCode, Gf.Matrix4d]:
    """World matrix at the default time, and at every time at which the prim or anything above it is animated."""
    times: set[float] = set()
    current = prim
    while current and not current.IsPseudoRoot():
        xformable = UsdGeom.Xformable(current)
        if xformable:
            times.update(xformable.GetTimeSamples())
            if xformable.GetResetXformStack():
                break
        current = current.GetParent()
    codes = [Usd.TimeCode.Default(), *(Usd.TimeCode(time) for time in sorted(times))]
    return {code: UsdGeom.XformCache(code).GetLocalToWorldTransform(prim) for code in codes}


def _write_pose(spec: Sdf.PrimSpec, samples: dict[Usd.TimeCode, Gf.Matrix4d], *, reset: bool) -> None:
    default = samples[Usd.TimeCode.Default()]
    if len(samples) == 1:
        usd_write.write_local(spec, np.array(default).T, 1.0, reset=reset)
        return
    usd_write.write_matrix(spec, default, reset=reset)
    path = spec.path.AppendProperty("xformOp:transform")
    for code, matrix in samples.items():
        if not code.IsDefault():
            spec.layer.SetTimeSample(path, code.GetValue(), matrix)


def _memberships(stage: Usd.Stage, bodies: Iterable[str]) -> dict[Sdf.Path, dict[Sdf.Path, bool]]:
    """Whether each body is a member of each collision group, by the paths of group and body."""
    paths = [Sdf.Path(path) for path in bodies]
    memberships = {}
    for prim in stage.Traverse():
        if prim.HasAPI(Usd.CollectionAPI, "colliders"):
            query = Usd.CollectionAPI(prim, "colliders").ComputeMembershipQuery()
            memberships[prim.GetPath()] = {path: query.IsPathIncluded(path) for path in paths}
    return memberships


def _keep_memberships(
    stage: Usd.Stage, members: dict[Sdf.Path, dict[Sdf.Path, bool]], follow: Callable[[Sdf.Path], Sdf.Path]
) -> None:
    """Include or exclude moved bodies explicitly if their membership in a group has changed."""
    for path, bodies in members.items():
        collection = Usd.CollectionAPI(stage.GetPrimAtPath(follow(path)), "colliders")
        query = collection.ComputeMembershipQuery()
        for old, was_included in bodies.items():
            if query.IsPathIncluded(follow(old)) != was_included:
                relationship = collection.CreateIncludesRel() if was_included else collection.CreateExcludesRel()
                relationship.AddTarget(follow(old))


def move_prims(layer: Sdf.Layer, moves: dict[str, str]) -> None:
    """Move prims of a layer (old path -> new path); relationships and connections are retargeted.

    A prim is not moved if its new path is taken. Missing parents are created as scopes.
    """
    done: dict[str, str] = {}
    renamed = {old: new for old, new in moves.items() if old != new}
    elsewhere: list[tuple[str, str]] = []
    # For nothing but moves: one of a prim with other changes takes as long as there are many changes in the block.
    with Sdf.ChangeBlock():
        # Deepest first: a prim is moved before its ancestors are renamed.
        for old, new in sorted(renamed.items(), key=lambda move: -move[0].count("/")):
            parent, new_parent, leaf = paths.parent_of(old), paths.parent_of(new), paths.name_of(new)
            if paths.followed(parent, renamed) != new_parent:
                elsewhere.append((old, new))
            elif _is_moved(layer, old, f"{parent}/{leaf}"):
                done[old] = new
    # After all renames, so that a new scope cannot take the path of a prim that is still to be renamed.
    for old, new in elsewhere:
        new_parent = paths.parent_of(new)
        if new_parent and layer.GetPrimAtPath(new) is None:
            _make_scopes(layer, new_parent)
        if _is_moved(layer, paths.followed(old, done), new):
            done[old] = new
    if done:
        retarget_layer(layer, partial(followed, moves=done))


def _is_moved(layer: Sdf.Layer, old: str, new: str) -> bool:
    """Move a prim; False if the new path is taken or the move fails."""
    if layer.GetPrimAtPath(new) is not None:
        return False
    edit = Sdf.BatchNamespaceEdit()
    is_renamed = paths.parent_of(old) == paths.parent_of(new)
    edit.Add(old, new, Sdf.NamespaceEdit.same if is_renamed else Sdf.NamespaceEdit.atEnd)
    return bool(layer.Apply(edit))


def _make_scopes(layer: Sdf.Layer, path: str) -> None:
    """Define the prims of a path that are missing; an `over` that is there may be of a prim of another layer."""
    for prefix in Sdf.Path(path).GetPrefixes():
        if layer.GetPrimAtPath(prefix) is None:
            spec = Sdf.CreatePrimInLayer(layer, prefix)
            spec.specifier, spec.typeName = Sdf.SpecifierDef, "Scope"
