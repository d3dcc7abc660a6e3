# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts skeletons and skinned meshes below a SkelRoot, without which USD ignores them."""

from __future__ import annotations

from pxr import Sdf, Usd

from ..core import paths

_ROOT, _BINDING = "SkelRoot", "SkelBindingAPI"


def root_skeletons(stage: Usd.Stage) -> None:
    """Make an Xform above each skeleton and skinned mesh a SkelRoot, where there is none.

    Blender makes none for an armature that deforms no mesh, and a body that was moved has left its own.
    """
    layer = stage.GetEditTarget().GetLayer()
    for prim in [prim for prim in stage.TraverseAll() if _BINDING in prim.GetAppliedSchemas()]:
        above = [str(prim.GetPath()), *paths.ancestors_of(str(prim.GetPath()))]
        if any(stage.GetPrimAtPath(path).GetTypeName() == _ROOT for path in above):
            continue
        xforms = [path for path in above if stage.GetPrimAtPath(path).GetTypeName() == "Xform"]
        targets = [str(target) for target in prim.GetRelationship("skel:skeleton").GetTargets()]
        shared = [path for path in xforms if all(paths.is_at_or_below(target, path) for target in targets)]
        # The nearest one that holds the skeleton, too; without one the outermost.
        chosen = (shared or xforms[-1:])[:1]
        spec = layer.GetPrimAtPath(chosen[0]) if chosen else None
        if spec is not None:
            _make_root(stage, spec)


def _make_root(stage: Usd.Stage, spec: Sdf.PrimSpec) -> None:
    """Make a prim a SkelRoot, and those below it plain: SkelRoots do not nest."""
    spec.typeName = _ROOT
    for prim in Usd.PrimRange(stage.GetPrimAtPath(spec.path)):
        inner = spec.layer.GetPrimAtPath(prim.GetPath())
        if prim.GetTypeName() == _ROOT and inner is not None and inner != spec:
            inner.typeName = "Xform"
