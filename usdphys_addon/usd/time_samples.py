# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated world matrices of a stage, and layers of time samples with simulated motion."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdUtils, Vt

from ..core import coasting, frames, paths, units
from ..core.errors import OutputError
from ..core.frames import Matrix
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.units import StageUnits
from ..system.files import replacing
from .read import despite_broken_ops, stage_units
from .rest_time import start_of
from .verify import outline, verify
from .write import clear_local

#: Suffix of the written transform operations, to avoid existing attributes of another type.
SUFFIX = "simulated"
_KEPT_METADATA = ("metersPerUnit", "kilogramsPerUnit", "upAxis", "defaultPrim")


class Clock:
    """Time codes of a stage for the frames of a simulation."""

    def __init__(self, stage: Usd.Stage, fps: float | None = None) -> None:
        """fps: frames per second of the simulation; None takes the stage's time codes. Raises InputError."""
        name = stage.GetRootLayer().GetDisplayName()
        self.rate = units.checked_frame_rate(stage.GetTimeCodesPerSecond(), name, "time codes per second")
        self.fps = fps or self.rate
        self.start = units.checked_time(start_of(stage), name, "startTimeCode")

    def at(self, frame: int) -> Usd.TimeCode:
        """Time code of the stage at a frame."""
        return Usd.TimeCode(self.start + frame * self.rate / self.fps)

    def seconds(self, frame: int) -> float:
        """Seconds from time code zero of the stage to a frame."""
        return self.start / self.rate + frame / self.fps

    def baked(self, frame: int) -> float:
        """Time code of the baked layer, which has its own rate, at a frame."""
        return float(self.start / self.rate * self.fps + frame)


def animated(stage: Usd.Stage, paths: Iterable[str]) -> tuple[str, ...]:
    """The paths of prims that are animated, or have an animated ancestor."""
    known: dict[Sdf.Path, bool] = {Sdf.Path.absoluteRootPath: False}

    def moves(prim: Usd.Prim) -> bool:
        path = prim.GetPath()
        if path not in known:
            own, resets = _moves_itself(prim)
            known[path] = own or (not resets and moves(prim.GetParent()))
        return known[path]

    return tuple(path for path in paths if moves(stage.GetPrimAtPath(path)))


def _moves_itself(prim: Usd.Prim) -> tuple[bool, bool]:
    """(has an animated transform, resets the transform stack); a transform that USD cannot read stands still."""
    xformable = UsdGeom.Xformable(prim)
    if not xformable:
        return False, False
    try:
        return xformable.TransformMightBeTimeVarying(), xformable.GetResetXformStack()
    except Tf.ErrorException:
        return False, False


def worlds_at(stage: Usd.Stage, paths: Iterable[str], time: Usd.TimeCode) -> dict[str, Matrix]:
    """World matrices (4, 4) of prims at a time code: metres, Z up."""
    measures = stage_units(stage)
    cache = UsdGeom.XformCache(time)
    result = {}
    for path in paths:
        matrix = np.array(despite_broken_ops(cache.GetLocalToWorldTransform, stage.GetPrimAtPath(path))).T
        matrix[:3] = measures.to_z_up @ matrix[:3]
        matrix[:3, 3] *= measures.meters_per_unit
        result[path] = matrix
    return result


def move_to(stage: Usd.Stage, model: PhysicsModel, time: Usd.TimeCode) -> None:
    """Set the world matrices of the animated prims of a model to those at a time code."""
    listed = [path for path, prim in model.prims.items() if prim.is_xformable]
    for path, world in worlds_at(stage, animated(stage, listed), time).items():
        model.prims[path].world = world


def stand_still(stage: Usd.Stage, time: Usd.TimeCode) -> set[str]:
    """Give an open stage the poses at a time code as those for the default time, without a change of its files.

    Returns the paths of the prims that have animated transforms.
    """
    seen = Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimDefaultPredicate)
    moving = [prim for prim in seen if _moves_itself(prim)[0]]
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for prim in moving:
            for operation in UsdGeom.Xformable(prim).GetOrderedXformOps():
                attribute = operation.GetAttr()
                if attribute.GetNumTimeSamples() and (value := attribute.Get(time)) is not None:
                    attribute.Set(value)
    return {str(prim.GetPath()) for prim in moving}


def write_bake(
    stage: Usd.Stage, target: Path, paths: Sequence[str], worlds: NDArray[np.float64], clock: Clock,
    points: Mapping[str, NDArray[np.float64]] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Write a layer over the stage's root layer with time samples: worlds (f, n, 4, 4) in the stage's units and axes.

    points: of deformables (f, k, 3) in the world, by path.

    The file is replaced atomically. Raises OutputError if it cannot be written.
    """
    try:
        expected: list[str] = []
        with replacing(target, verify=lambda scratch: verify(scratch, target, expected)) as scratch:
            layer = Sdf.Layer.CreateNew(str(scratch))
            _fill(layer, stage, target, paths, worlds, clock)
            for path, places in points.items():
                _animate_points(layer, stage, path, places, clock)
            expected += outline(layer)
            if not layer.Save():
                raise OutputError(f"'{target}' could not be written; the old file is untouched.")
            del layer
    except Tf.ErrorException as error:
        raise OutputError(f"'{target}' could not be written; the old file is untouched.") from error


def _animate_points(layer: Sdf.Layer, stage: Usd.Stage, path: str, places: NDArray[np.float64], clock: Clock) -> None:
    """Write the points (f, k, 3) of a prim, in the world, as time samples in its space."""
    prim = stage.GetPrimAtPath(path)
    world = np.array(UsdGeom.XformCache(clock.at(0)).GetLocalToWorldTransform(prim))
    local = (np.concatenate([places, np.ones((*places.shape[:2], 1))], axis=2) @ np.linalg.inv(world))[..., :3]
    _break_instances(layer, stage, path)
    over = Sdf.CreatePrimInLayer(layer, path)
    attribute = Sdf.AttributeSpec(over, "points", Sdf.ValueTypeNames.Point3fArray)
    bounds = Sdf.AttributeSpec(over, "extent", Sdf.ValueTypeNames.Float3Array)
    for frame, each in enumerate(local.astype(np.float32)):
        layer.SetTimeSample(attribute.path, clock.baked(frame), Vt.Vec3fArray.FromNumpy(each))
        ends = np.stack([each.min(axis=0), each.max(axis=0)])
        layer.SetTimeSample(bounds.path, clock.baked(frame), Vt.Vec3fArray.FromNumpy(ends))


def write_coasting(
    stage: Usd.Stage, model: PhysicsModel, units: StageUnits, moves: Mapping[str, str], times: Sequence[float]
) -> list[str]:  # fmt: skip
    """Author the motion of the kinematic bodies of a model that keep their velocity, as time samples of transforms.

    units, moves: of the stage, and paths that changed since the model. times: time codes; the first is that of the pose
    of the model, and the default value. Returns the paths of these prims, parents first.
    """
    motions = {}
    for path, prim in model.bodies.items():
        motion = coasting.coasting_of(model, prim)
        if motion is not None and prim.get(usd_physics.RigidBodyAPI).resolved("kinematic_enabled"):  # type: ignore[union-attr]
            motions[paths.followed(path, moves)] = (prim, motion)
    to_stage = np.eye(4)
    to_stage[:3, :3] = units.to_z_up.T / units.meters_per_unit
    for path in sorted(motions, key=lambda one: one.count("/")):
        prim, motion = motions[path]
        target = stage.GetPrimAtPath(path)
        chosen = times if motion.spin.any() else (times[0], times[-1])
        position, rotation = prim.world[:3, 3], frames.rotation_of(prim.world)
        start = np.linalg.inv(frames.transform(position, rotation))
        before = np.array(despite_broken_ops(UsdGeom.XformCache(times[0]).GetLocalToWorldTransform, target)).T
        resets, above = _moves_itself(target)[1], target.GetParent()
        matrices = []
        for time in chosen:
            seconds = (time - times[0]) / stage.GetTimeCodesPerSecond()
            moved = frames.transform(*motion.after(seconds, position, rotation)) @ start
            world = to_stage @ moved @ np.linalg.inv(to_stage) @ before
            parent = np.array(UsdGeom.XformCache(time).GetLocalToWorldTransform(above)).T
            matrices.append(world if resets else np.linalg.solve(parent, world))
        layer = stage.GetEditTarget().GetLayer()
        clear_local(Sdf.CreatePrimInLayer(layer, target.GetPath()))
        _animate(layer, target, np.array(matrices), chosen, resets=resets, is_only=True)
    return list(motions)


def flatten(layer: Path, target: Path) -> None:
    """Flatten a baked layer and its sublayers into `target`, a file in the same folder. Raises OutputError."""
    stage = Usd.Stage.Open(str(layer))
    # Same folder: relative asset paths stay valid.
    flat = UsdUtils.FlattenLayerStack(stage, resolveAssetPathFn=lambda _layer, path: path)
    del stage
    if not flat.Export(str(target)):
        raise OutputError(f"'{target}' could not be written; the old file is untouched.")


def _fill(
    layer: Sdf.Layer, stage: Usd.Stage, target: Path, paths: Sequence[str], worlds: NDArray[np.float64], clock: Clock
) -> None:
    source = stage.GetRootLayer().realPath
    try:
        # Relative to the final path of the layer, not to the scratch file.
        below = Path(os.path.relpath(source, target.absolute().parent)).as_posix()
        layer.subLayerPaths.append(below if below.startswith("../") else f"./{below}")
    except ValueError:
        layer.subLayerPaths.append(Path(source).as_posix())
    root = stage.GetPseudoRoot()
    for name in _KEPT_METADATA:
        if stage.HasAuthoredMetadata(name):
            layer.pseudoRoot.SetInfo(name, root.GetMetadata(name))
    layer.timeCodesPerSecond = layer.framesPerSecond = clock.fps
    layer.startTimeCode, layer.endTimeCode = clock.baked(0), clock.baked(len(worlds) - 1)
    locals_, freed = _local(stage, paths, worlds, clock)
    times = [clock.baked(frame) for frame in range(len(worlds))]
    with Sdf.ChangeBlock():
        for path in paths:
            _break_instances(layer, stage, path)
            if path in locals_:
                prim = stage.GetPrimAtPath(path)
                resets = path in freed or _moves_itself(prim)[1]
                _animate(layer, prim, locals_[path], times, resets=resets)


def _break_instances(layer: Sdf.Layer, stage: Usd.Stage, path: str) -> None:
    """Set `instanceable = false` above a body: prims inside an instance cannot move independently."""
    prim = stage.GetPrimAtPath(path)
    while prim and prim.IsInstanceProxy():
        prim = prim.GetParent()
        if prim.IsInstance() or prim.IsInstanceable():
            Sdf.CreatePrimInLayer(layer, prim.GetPath()).instanceable = False


def _local(
    stage: Usd.Stage, paths: Sequence[str], worlds: NDArray[np.float64], clock: Clock
) -> tuple[dict[str, NDArray[np.float64]], set[str]]:
    """Matrices (f, 4, 4) in the space of each prim's parent, which may itself be moved by a body.

    Also the prims whose parent has no inverse, as with a scale of zero: their matrices are in the world.
    """
    rows = {path: row for row, path in enumerate(paths)}
    result: dict[str, NDArray[np.float64]] = {path: np.empty((len(worlds), 4, 4)) for path in paths}
    parents = {path: _parent(stage, path, rows) for path in paths}
    freed: set[str] = set()
    for frame, matrices in enumerate(worlds):
        cache = UsdGeom.XformCache(clock.at(frame))

        def world(prim: Usd.Prim, cache: UsdGeom.XformCache = cache) -> Matrix:
            matrix: Matrix = np.array(despite_broken_ops(cache.GetLocalToWorldTransform, prim)).T
            return matrix

        for path, (parent, carrier) in parents.items():
            try:
                space = np.eye(4) if parent is None else world(parent)
                if carrier:
                    # Prims between the carrying body and the parent keep their local transforms.
                    old = world(stage.GetPrimAtPath(carrier))
                    space = matrices[rows[carrier]] @ np.linalg.solve(old, space)
                result[path][frame] = np.linalg.solve(space, matrices[rows[path]])
            except np.linalg.LinAlgError:
                freed.add(path)
            if not np.isfinite(result[path][frame]).all():
                freed.add(path)
    for path in freed:
        result[path] = worlds[:, rows[path]]
    return result, freed


def _parent(stage: Usd.Stage, path: str, rows: Mapping[str, int]) -> tuple[Usd.Prim | None, str]:
    """(parent prim, path of the moving body at or above it, or ""); (None, "") if it resets the transform stack."""
    prim = stage.GetPrimAtPath(path)
    if _moves_itself(prim)[1]:
        return None, ""
    parent = above = prim.GetParent()
    while above and not above.IsPseudoRoot():
        if str(above.GetPath()) in rows:
            return parent, str(above.GetPath())
        if _moves_itself(above)[1]:
            break
        above = above.GetParent()
    return parent, ""


def _animate(
    layer: Sdf.Layer, prim: Usd.Prim, matrices: NDArray[np.float64], times: Sequence[float], *, resets: bool,
    is_only: bool = False,
) -> None:  # fmt: skip
    """Write time samples of translate and orient with a constant scale, or of a matrix where these cannot hold it.

    resets: the matrices are in the world, so that the prim has to leave its parent's transform. is_only: the prim has
    no transform beside, so the first sample is the default value, too.
    """
    over = Sdf.CreatePrimInLayer(layer, prim.GetPath())
    order = ["!resetXformStack!"] if resets else []
    end = "" if is_only else f":{SUFFIX}"
    scale = frames.scale_of(matrices[0])
    # Below an unevenly scaled parent a body that turns is sheared in the space of that parent, in some frames only.
    has_one_scale = all(np.allclose(frames.scale_of(matrix), scale, rtol=1e-4) for matrix in matrices)
    if not has_one_scale or (scale == 0.0).any() or any(map(frames.is_sheared, matrices)):
        name = f"xformOp:transform{end}"
        attribute = Sdf.AttributeSpec(over, name, Sdf.ValueTypeNames.Matrix4d)
        for time, matrix in zip(times, matrices, strict=True):
            layer.SetTimeSample(attribute.path, time, Gf.Matrix4d(*matrix.T.ravel().tolist()))
        order.append(name)
    else:
        place = Sdf.AttributeSpec(over, f"xformOp:translate{end}", Sdf.ValueTypeNames.Double3)
        turn = Sdf.AttributeSpec(over, f"xformOp:orient{end}", Sdf.ValueTypeNames.Quatd)
        quaternions = frames.without_jumps(frames.quaternions_of(frames.rotations_of(matrices)))
        for time, matrix, quaternion in zip(times, matrices, quaternions, strict=True):
            layer.SetTimeSample(place.path, time, Gf.Vec3d(*matrix[:3, 3].tolist()))
            layer.SetTimeSample(turn.path, time, Gf.Quatd(*quaternion.tolist()))
        order += [place.name, turn.name]
        if not np.allclose(scale, 1.0, atol=1e-9):
            size = Sdf.AttributeSpec(over, f"xformOp:scale{end}", Sdf.ValueTypeNames.Double3)
            size.default = Gf.Vec3d(*scale.tolist())
            order.append(size.name)
    for name in order if is_only else ():
        if samples := layer.ListTimeSamplesForPath(over.path.AppendProperty(name)):
            over.properties[name].default = layer.QueryTimeSample(over.path.AppendProperty(name), samples[0])
    tokens = Sdf.AttributeSpec(over, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
    tokens.default = Vt.TokenArray(order)
