# SPDX-License-Identifier: GPL-3.0-or-later
"""The time at which a prim stands where it is before anything moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from pxr import Sdf, Tf, Usd, UsdGeom

Cache = TypeVar("Cache")


def start_of(stage: Usd.Stage) -> float:
    """The time code at which the animation of a stage begins, 0 where it does not say."""
    return float(stage.GetStartTimeCode()) if stage.HasAuthoredTimeCodeRange() else 0.0


class RestCaches(Generic[Cache]):
    """Caches of places or bounds, for the default time and, if it is needed, for the start of the animation.

    Where a transform has time samples only, as Houdini and Maya write them for what stands still, too, the place of a
    prim is that at the start: at the default time it would be at the origin, where no viewer shows it.
    """

    def __init__(self, stage: Usd.Stage, make: Callable[[Usd.TimeCode], Cache]) -> None:
        self.stage, self.make = stage, make
        self.default = make(Usd.TimeCode.Default())
        self._start: Cache | None = None
        #: Whether what a prim inherits has time samples only, by path; None where no layer has any.
        self._sampled: dict[Sdf.Path, bool] | None = None
        if any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers()):
            self._sampled = {Sdf.Path.absoluteRootPath: False}

    def of(self, prim: Usd.Prim) -> Cache:
        """The cache that knows where a prim is."""
        if not self.is_sampled(prim):
            return self.default
        if self._start is None:
            self._start = self.make(Usd.TimeCode(start_of(self.stage)))
        return self._start

    def is_sampled(self, prim: Usd.Prim) -> bool:
        """Whether the place of a prim, or of what is above it, is in time samples only."""
        known = self._sampled
        if known is None:
            return False
        above: list[Usd.Prim] = []
        while prim.GetPath() not in known:
            above.append(prim)
            prim = prim.GetParent()
        found = known[prim.GetPath()]
        for one in reversed(above):
            own, resets = transform_of(one)
            found = known[one.GetPath()] = own or (found and not resets)
        return found


def places(stage: Usd.Stage) -> RestCaches[UsdGeom.XformCache]:
    """Caches of the places of many prims of a stage."""
    return RestCaches(stage, UsdGeom.XformCache)


def place_cache(prim: Usd.Prim) -> UsdGeom.XformCache:
    """A new cache that knows where one prim is."""
    above, is_sampled, resets = prim, False, False
    while not (is_sampled or resets or above.IsPseudoRoot()):
        is_sampled, resets = transform_of(above)
        above = above.GetParent()
    return UsdGeom.XformCache(Usd.TimeCode(start_of(prim.GetStage())) if is_sampled else Usd.TimeCode.Default())


def transform_of(prim: Usd.Prim) -> tuple[bool, bool]:
    """(has values in time samples only, resets the transform stack)."""
    xformable = UsdGeom.Xformable(prim)
    if not xformable:
        return False, False
    try:
        resets = xformable.GetResetXformStack()
        operations = xformable.GetOrderedXformOps() if xformable.GetTimeSamples() else ()
    except Tf.ErrorException:  # a transform that USD cannot read
        return False, False
    attributes = [operation.GetAttr() for operation in operations]
    return any(one.GetNumTimeSamples() and one.Get() is None for one in attributes), resets
