# SPDX-License-Identifier: GPL-3.0-or-later
"""Drop objects onto the scene and keep the poses in which they come to rest. Nothing else changes."""

from __future__ import annotations

import math
from collections.abc import Container, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import mathutils
import numpy as np
from bpy.types import Context, Object
from numpy.typing import NDArray

from ..authoring.collider_choice import exports_faces
from ..authoring.edit_report import LINKED
from ..authoring.tagging import Tagging
from ..bridge import mesh as meshes
from ..bridge.authored_poses import restored
from ..bridge.identity.remembered import objects_by_name
from ..bridge.joint_frames import is_joint, set_world_matrix
from ..bridge.roles import applies, is_body, parents_of
from ..core.building import scattering
from ..core.errors import InputError
from ..core.steps import finished
from ..core.words import counted, named, phrase
from ..playback import guard as preview_guard
from ..playback.session import PreviewSession
from . import shapes
from .borrowing import Borrowed

#: Everything is at rest if no body moves by more than this part of its size, or turns by more than this (rad), in
#: `_REST` seconds.
_STILL, _REST = 0.005, 0.25
#: A body that is so many sizes of the scene below everything has fallen past it.
_BELOW = 1.0


@dataclass(frozen=True, slots=True)
class SettleOptions:
    """How objects are settled.

    seconds: longest time that is simulated. copies: of each object, which are scattered; 0 to settle the objects from
    where they are. spread: radius in which copies are scattered, Blender units. turns: give copies random rotations.
    seed: of the random numbers. keeps_physics: the settled objects stay rigid bodies.
    """

    seconds: float = 10.0
    copies: int = 0
    spread: float = 2.0
    turns: bool = True
    seed: int = 0
    keeps_physics: bool = False


@dataclass(slots=True)
class Settled:
    """text: what was done. objects: names of the settled ones. seconds: simulated. is_at_rest: nothing moves."""

    text: str
    seconds: float
    is_at_rest: bool
    objects: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def settle_steps(
    context: Context, objects: Sequence[Object], options: SettleOptions, *, is_shown: bool = False
) -> Generator[float, None, Settled]:  # fmt: skip
    """Let objects fall onto the visible objects of the scene. Yields the completed fraction.

    Closing the generator puts everything back. is_shown: move the objects while they fall. Returns what was done.
    Raises InputError, with nothing changed.
    """
    preview_guard.stop()
    movers = _movers(objects)
    made: list[Any] = []
    if options.copies:
        made = _scatter(context, movers, options)
        movers = made
    borrowed = None
    session = None
    is_done = False
    try:
        context.view_layer.update()
        held = _held(context, movers)
        borrowed = Borrowed([*_with_children(movers), *held])
        keeps, notes = _give_physics(context, movers, held)
        context.view_layer.update()
        session = PreviewSession(context)
        authored = dict(session.shown.authored)
        rows = np.array([session.world.index(path) for path in session.world.paths], int)
        lowest = _lowest(session)
        at_rest = yield from _fall(context, session, options.seconds, lowest, is_shown)
        seconds = session.world.time
        names = [session.shown.names[row] for row in rows if session.shown.names[row] in authored]
        fallen = [
            session.shown.names[row] for row in rows
            if session.shown.names[row] in authored and session.world.positions[row, 2] < lowest
        ]  # fmt: skip
        ending, session = session, None
        ending.apply(context, makes_real=False)
        known = objects_by_name(with_linked=True)
        names, fallen = ([name for name in some if name in known] for some in (names, fallen))
        for name in fallen:
            restored(known[name], authored[name])
        is_done = True
    finally:
        if session is not None:
            session.stop()
        if borrowed is not None:
            borrowed.give_back()
        if not is_done:
            for obj in made:
                bpy.data.objects.remove(obj)
    settled = len(names) - len(fallen)
    if made and fallen:
        # They would hang in the air where they were scattered.
        movers = [obj for obj in movers if obj.name not in fallen]
        for name in fallen:
            bpy.data.objects.remove(known[name])
        names = [name for name in names if name not in fallen]
    if options.keeps_physics:
        keeps(names)
    if movers:
        shapes.select_only(context, movers)
    if fallen:
        notes.append(
            phrase("Copies that fell past the scene are not kept: {number}", number=len(fallen)) if made
            else phrase("Nothing is below {names} to land on, so no new pose was kept; add a ground first",
                        names=named(fallen))
        )  # fmt: skip
    if not at_rest:
        notes.append(f"Not everything was at rest after {seconds:.3g} s; settle again, or for longer")
    return Settled(_text(settled, seconds, at_rest), seconds, at_rest, names, notes)


def _fall(
    context: Context, session: PreviewSession, seconds: float, lowest: float, is_shown: bool
) -> Generator[float, None, bool]:
    """Simulate until all is at rest, or so many seconds. Yields the completed fraction; returns whether it is at rest.

    lowest: m, below which nothing counts.
    """
    sizes, before = _sizes(session), _poses(session)
    steps = max(1, round(seconds / session.world.time_step))
    between = max(1, round(_REST / session.world.time_step))
    for step in range(steps):
        session.simulate(context)
        if (step + 1) % between == 0:
            now = _poses(session)
            if _is_still(before, now, sizes, lowest):
                return True
            before = now
            if is_shown:
                session.show(context)
        yield step / steps
    return False


def _text(number: int, seconds: float, at_rest: bool) -> str:
    if not number:
        return "No object was settled"
    template = "Settled {objects} in {seconds} s of simulated time"
    if not at_rest:
        template = "Let {objects} fall for {seconds} s of simulated time"
    return phrase(template, objects=counted(number, "object"), seconds=f"{seconds:.2g}")


def settle(context: Context, objects: Sequence[Object], options: SettleOptions | None = None) -> Settled:
    """Run `settle_steps` to the end."""
    return finished(settle_steps(context, objects, options or SettleOptions()))


# --------------------------------------------------------------------------- who moves, who holds still


def _movers(objects: Sequence[Object]) -> list[Any]:
    """The objects that fall: those below others of them fall with them. Raises InputError."""
    chosen = [obj for obj in objects if obj.library is None and not is_joint(obj)]
    known = {obj.name_full for obj in chosen}
    movers = [obj for obj in chosen if not any(above.name_full in known for above in parents_of(obj))]
    if not movers and (linked := [obj.name for obj in objects if obj.library is not None]):
        raise InputError(phrase(LINKED, names=named(linked)))
    if not movers:
        raise InputError("Select the objects that are to fall.")
    return movers


def _with_children(objects: Sequence[Object]) -> list[Any]:
    """Objects and all below them, each once."""
    below: dict[str, list[Any]] = {}
    for obj in bpy.data.objects:
        if obj.parent is not None:
            below.setdefault(obj.parent.name_full, []).append(obj)
    by_name = {obj.name_full: obj for obj in objects}
    left = list(by_name)
    for name in left:
        for child in below.get(name, ()):
            if child.name_full not in by_name:
                by_name[child.name_full] = child
                left.append(child.name_full)
    return list(by_name.values())


def _held(context: Context, movers: Sequence[Object]) -> list[Any]:
    """Visible objects with faces, and all with physics, that do not move."""
    moving = {obj.name_full for obj in _with_children(movers)}
    depsgraph = context.evaluated_depsgraph_get()
    objects = []
    for obj in context.view_layer.objects:
        if obj.name_full in moving or is_joint(obj) or obj.library is not None:
            continue
        has_physics = bool(obj.usdphys.keys()) and (is_body(obj) or len(obj.usdphys.colliders) > 0)
        if has_physics or (obj.visible_get() and obj.type in meshes.GEOMETRY_TYPES and exports_faces(obj, depsgraph)):
            objects.append(obj)
    return objects


def _give_physics(context: Context, movers: Sequence[Object], held: Sequence[Object]) -> tuple[Any, list[str]]:
    """Make the movers dynamic and the others static. Returns (gives them their bodies back after all, notes)."""
    depsgraph = context.evaluated_depsgraph_get()
    for obj in held:
        if is_body(obj):
            # A disabled body holds still, and its colliders stay.
            obj.usdphys.rigid_body.rigid_body_enabled = False
    bare = [obj for obj in held if not len(obj.usdphys.colliders) and not _is_carried(obj)]
    if bare:
        Tagging(depsgraph, bare, "STATIC").apply()
    plan = Tagging(depsgraph, movers, "DYNAMIC")
    if not plan.steps:
        raise InputError(". ".join(plan.refusals()) or "Select objects with faces, which can collide.")
    plan.apply()

    def keeps(names: Sequence[str]) -> None:
        objects = objects_by_name(with_linked=True)
        wanted = [objects[name] for name in names]
        Tagging(context.evaluated_depsgraph_get(), wanted, "DYNAMIC").apply()

    return keeps, plan.refusals()


def _is_carried(obj: Object) -> bool:
    return any(is_body(above) and applies(above, "rigid_body") for above in parents_of(obj))


# --------------------------------------------------------------------------- scattering


def _scatter(context: Context, sources: Sequence[Object], options: SettleOptions) -> list[Any]:
    """Copies of objects, which share their data, at random places about the 3D cursor and above it."""
    depsgraph = context.evaluated_depsgraph_get()
    reach = {}
    for obj in sources:
        points = meshes.vertices_of(obj.evaluated_get(depsgraph))
        if not len(points):
            raise InputError(f"'{obj.name}' has no faces, so it cannot be scattered; select objects with faces.")
        linear = np.array(obj.matrix_world)[:3, :3]
        reach[obj.name] = float(np.linalg.norm(points @ linear.T, axis=1).max())
    chosen = [obj for _ in range(options.copies) for obj in sources]
    radii = [reach[obj.name] for obj in chosen]
    where = scattering.places(radii, options.spread, options.seed)
    where[:, 2] += max(radii)
    turned = scattering.turns(len(chosen), options.seed + 1)
    made = []
    home: NDArray[np.float64] = np.array(context.scene.cursor.location)
    where[:, 2] += _lifts(context, home, where, max(radii), {obj.name for obj in sources})
    for obj, place, turn in zip(chosen, where, turned, strict=True):
        copy = obj.copy()
        copy.parent = None
        (obj.users_collection or (context.collection,))[0].objects.link(copy)
        basis: Any = obj.matrix_world.to_3x3().to_4x4()
        if options.turns:
            basis = mathutils.Quaternion(turn.tolist()).to_matrix().to_4x4() @ basis
        set_world_matrix(copy, mathutils.Matrix.Translation((home + place).tolist()) @ basis)
        made.append(copy)
    return made


#: Points of the outline of a ball, by its radius, where the ground is looked for; how many surfaces a ray passes.
_AROUND = [(0.0, 0.0), *((math.cos(turn), math.sin(turn)) for turn in np.linspace(0.0, math.tau, 9)[:-1].tolist())]
_MOST_SURFACES = 64


def _lifts(
    context: Context, home: NDArray[np.float64], where: NDArray[np.float64], radius: float, ignored: Container[str]
) -> Any:
    """How far balls must be lifted to be above the ground, (n,), such as in a hill about the cursor.

    home: what their places (n, 3) are relative to. All that are above each other are lifted alike. radius: of the
    largest. ignored: names of objects.
    """
    cell = (2.0 + scattering.GAP) * radius
    columns = [tuple(column) for column in np.round(where[:, :2] / cell).astype(int).tolist()]
    heights: dict[tuple[int, ...], float] = {}
    for column, place in zip(columns, (home + where).tolist(), strict=True):
        if column not in heights:
            # The lowest of a column comes first.
            tops = [_top(context, (place[0] + x * radius, place[1] + y * radius, place[2] - 0.999 * radius), ignored)
                    for x, y in _AROUND]  # fmt: skip
            heights[column] = max(max(tops) - (place[2] - radius), 0.0)
    return np.array([heights[column] for column in columns])


def _top(context: Context, place: Sequence[float], ignored: Container[str]) -> float:
    """Height of the highest ground above a place, whose faces look up, as those of a ceiling do not; -inf if none."""
    depsgraph, up, height = context.evaluated_depsgraph_get(), mathutils.Vector((0.0, 0.0, 1.0)), -math.inf
    start: Any = mathutils.Vector(place)
    for _ in range(_MOST_SURFACES):
        is_hit, hit, normal, _, obj, _ = context.scene.ray_cast(depsgraph, start, up)
        is_ignored = obj is not None and obj.name in ignored
        if not is_hit or (normal.z < 0.0 and not is_ignored):
            break
        if not is_ignored:
            height = hit.z
        start = hit + up * 1e-4 * max(abs(hit.z), 1.0)
    return height


# --------------------------------------------------------------------------- at rest


def _sizes(session: PreviewSession) -> Any:
    """Size of each body (n,), m."""
    sizes, objects = [], objects_by_name(with_linked=True)
    for name in session.shown.names:
        obj = objects.get(name)
        size = max(obj.dimensions) * session.meters if obj is not None else 0.0
        sizes.append(size or 1.0)
    return np.array(sizes)


def _lowest(session: PreviewSession) -> float:
    """Height below which a body has fallen past the scene, m."""
    heights = [float(prim.world[2, 3]) for prim in session.model.prims.values() if np.isfinite(prim.world).all()]
    objects = objects_by_name(with_linked=True)
    boxes = [
        prim.world[:3, :3] @ corner + prim.world[:3, 3]
        for prim in session.model.colliders.values() for corner in _corners(session, objects.get(prim.label))
    ]  # fmt: skip
    places = np.array([*boxes, *([0.0, 0.0, height] for height in heights)])
    low, high = places.min(axis=0), places.max(axis=0)
    return float(low[2] - _BELOW * max(float(np.linalg.norm(high - low)), 1e-6))


def _corners(session: PreviewSession, obj: Object | None) -> Any:
    return () if obj is None else np.array(obj.bound_box) * session.meters


def _poses(session: PreviewSession) -> Any:
    return session.world.positions.copy(), session.world.rotations.copy()


def _is_still(before: NDArray[np.float64], now: NDArray[np.float64], sizes: NDArray[np.float64], lowest: float) -> bool:
    """True if no body has moved between two poses, apart from those that have fallen past the scene."""
    moved = np.linalg.norm(now[0] - before[0], axis=1) > _STILL * sizes
    # Half the angle between two rotations has this cosine.
    cosines = np.abs(np.einsum("ij,ij->i", before[1], now[1]))
    turned = cosines < np.cos(_STILL / 2.0)
    return not bool(((moved | turned) & (now[0][:, 2] > lowest)).any())
