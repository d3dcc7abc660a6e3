# SPDX-License-Identifier: GPL-3.0-or-later
"""How far each shape key is on: without animation Blender writes it at times only, and also of keys that are muted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bpy

from ..core import paths

if TYPE_CHECKING:
    from pxr import Usd


def write_weights(stage: Usd.Stage, objects: Mapping[str, bpy.types.Object]) -> None:
    """Give blend shapes that are not animated the weights that are shown. objects: by the path of their prim."""
    from pxr import UsdSkel, Vt

    values: dict[str, dict[str, float]] = {}
    for prim in stage.TraverseAll():
        names: Any = prim.GetAttribute("skel:blendShapes").Get() if prim.GetTypeName() == "Mesh" else None
        obj = objects.get(paths.nearest(str(prim.GetPath()), objects)) if names else None
        has_keys = obj is not None and getattr(obj.data, "shape_keys", None) is not None
        targets = UsdSkel.BindingAPI(prim).GetSkeletonRel().GetTargets() if has_keys else ()
        for source in _animation_of(stage.GetPrimAtPath(targets[0])) if targets else ():
            values.setdefault(str(source), {}).update(zip(names, _weights(obj), strict=False))
    for path, weights in values.items():
        animation = UsdSkel.Animation(stage.GetPrimAtPath(path))
        attribute = animation.GetBlendShapeWeightsAttr()
        if not attribute.GetNumTimeSamples():
            order = animation.GetBlendShapesAttr().Get() or ()
            # Those of a mesh that was not found stay as Blender has written them.
            written = dict(zip(order, attribute.Get() or (), strict=False))
            attribute.Set(Vt.FloatArray([weights.get(name, written.get(name, 0.0)) for name in order]))


def _animation_of(skeleton: Usd.Prim) -> list[Any]:
    """The path of the animation of a skeleton, which is bound to it where Blender has not done so."""
    from pxr import UsdSkel

    bound = UsdSkel.BindingAPI(skeleton).GetAnimationSourceRel()
    if not bound.GetTargets():
        own = [prim.GetPath() for prim in skeleton.GetChildren()
               if prim.IsA(UsdSkel.Animation) and not prim.GetAttribute("joints").Get()]  # fmt: skip
        if own:
            UsdSkel.BindingAPI.Apply(skeleton).CreateAnimationSourceRel().SetTargets(own[:1])
        return own[:1]
    return list(bound.GetTargets()[:1])


def _weights(obj: Any) -> list[float]:
    """Of each shape key but the first, as it is shown."""
    keys = obj.data.shape_keys.key_blocks
    if obj.show_only_shape_key:
        return [float(key == obj.active_shape_key) for key in keys[1:]]
    return [0.0 if key.mute else key.value for key in keys[1:]]
