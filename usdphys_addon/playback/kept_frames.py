# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated frames of the timeline, and their cache in the .blend: packed in the scene, with a digest of its physics.

They are in the .blend and not beside it, so that a file that is moved, renamed or sent keeps them.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from bpy.types import Scene

from ..core.animation import Key
from ..core.errors import InputError
from ..core.model import Mesh, PhysicsModel
from ..proving.certificate import digest_of
from ..simulation.world import Motion

#: In the properties of the preview: the arrays, and what panels show of them as JSON.
_DATA, _ABOUT = "kept_frames", "kept_frames_about"
#: Bytes that a .blend takes at most: Blender counts those of a property in 31 bits.
_MOST = 1 << 30
#: Settings of the preview on which the motion depends.
_SETTINGS = (
    "engine", "quality", "substeps", "frequency", "blend_frames", "air", "linear_damping", "angular_damping",
    "rolling_resistance",
)  # fmt: skip
_CHANGES_WITH_VERSIONS = 1


class Frame(NamedTuple):
    """How all bodies move in a frame, and what was known of the scene then.

    animated: (k, 4, 4), world matrices of the animated kinematic bodies; None if Blender has skipped the frame. broken:
    the joints that are broken, which a world cannot begin with. values: of all else that is animated; None as above.
    """

    motion: Motion
    animated: Any
    broken: tuple[str, ...]
    values: dict[Any, Any] | None = None


class Events(NamedTuple):
    """Frames, which may be fractions: breaks with labels of joints, contacts with the labels of both that touch."""

    breaks: list[tuple[float, str]]
    contacts: list[tuple[float, str, str]]


class Kept(NamedTuple):
    """start: the frame at which the simulation began. digest: of what it was made of. paths: of the bodies."""

    start: int
    digest: str
    paths: tuple[str, ...]
    frames: dict[int, Frame]
    events: Events = Events([], [])


class About(NamedTuple):
    """Of the cache of a scene. start, end: frames. size: bytes that it takes in the .blend."""

    start: int
    end: int
    size: int

    @property
    def text(self) -> str:
        """The size as users read it."""
        return f"{self.size / 1e6:.1f} MB" if self.size >= 1e5 else f"{self.size / 1e3:.0f} kB"


#: Session-wide identifiers of scenes whose caches did not fit them when they were last compared.
_stale: set[int] = set()


def about(scene: Scene) -> About | None:
    """What a scene keeps in the .blend; None for nothing."""
    text = scene.usdphys.preview.get(_ABOUT)
    return None if text is None else About(*json.loads(text))


def is_stale(scene: Scene) -> bool:
    """True if the physics was another one when the cache was last compared with it, which each start does."""
    return scene.session_uid in _stale


def note_stale(scene: Scene, stale: bool) -> None:
    """Keep the result of a comparison."""
    if stale and about(scene) is not None:
        _stale.add(scene.session_uid)
    else:
        _stale.discard(scene.session_uid)


def drop(scene: Scene) -> bool:
    """Take the cache out of the .blend. Returns whether there was one."""
    note_stale(scene, False)
    preview: Any = scene.usdphys.preview
    preview.pop(_DATA, None)
    return preview.pop(_ABOUT, None) is not None


def digest(scene: Scene, model: PhysicsModel, rate: float) -> str:
    """Of all on which the motion depends: physics, geometry, settings. model: at the start. rate: frames a second."""
    made = hashlib.sha256(digest_of(model).encode())
    preview: Any = scene.usdphys.preview
    made.update(json.dumps([_CHANGES_WITH_VERSIONS, rate, *(getattr(preview, name) for name in _SETTINGS)]).encode())
    made.update(repr(model.air).encode())
    for path, prim in sorted(model.prims.items()):
        if prim.schemas:
            made.update((prim.world.astype(np.float32) + 0.0).tobytes())  # no -0
        shape = prim.mesh() if prim.mesh is not None else None
        if shape is not None:
            made.update(path.encode())
            arrays = (shape.points, shape.triangles) if isinstance(shape, Mesh) else (shape.centers, shape.radii)
            for array in arrays:
                made.update(np.ascontiguousarray(array, np.float32).tobytes())
    return made.hexdigest()


def store(scene: Scene, kept: Kept) -> About:
    """Put frames without a gap into the .blend, in place of those there. Raises InputError if they are too many."""
    numbers = sorted(kept.frames)
    frames = [kept.frames[number] for number in numbers]
    notes = {
        "start": kept.start, "first": numbers[0], "digest": kept.digest, "paths": kept.paths, "events": kept.events,
        "broken": [frame.broken for frame in frames],
        "values": [None if frame.values is None else _plain(frame.values) for frame in frames],
        "known": [frame.animated is not None for frame in frames],
    }  # fmt: skip
    motions = [frame.motion for frame in frames]
    arrays: dict[str, Any] = {name: np.stack([getattr(motion, name) for motion in motions]) for name in Motion._fields}
    known = [frame.animated for frame in frames if frame.animated is not None]
    arrays["animated"] = np.stack(known) if known else np.zeros((0, 0, 4, 4), np.float32)
    data = BytesIO()
    np.savez_compressed(data, notes=np.frombuffer(json.dumps(notes).encode(), np.uint8), **arrays)
    size = data.tell()
    if size > _MOST:
        raise InputError(f"The frames take {size / 1e9:.1f} GB, too much for a .blend; bake them to keyframes instead.")
    drop(scene)  # Blender cuts bytes at a zero where they take the place of others
    made = About(numbers[0], numbers[-1], size)
    scene.usdphys.preview[_DATA] = data.getvalue()
    scene.usdphys.preview[_ABOUT] = json.dumps(made)
    return made


def load(scene: Scene) -> Kept | None:
    """What a scene keeps; None for nothing, and for what is damaged."""
    stored = scene.usdphys.preview.get(_DATA)
    if stored is None:
        return None
    try:
        with np.load(BytesIO(stored), allow_pickle=False) as arrays:
            return _unpacked(arrays)
    except (BadZipFile, OSError, ValueError, KeyError, IndexError, TypeError, zlib.error):
        return None


def _unpacked(arrays: Mapping[str, Any]) -> Kept:
    notes = json.loads(arrays["notes"].tobytes())
    parts = {name: arrays[name] for name in Motion._fields}
    paths = tuple(notes["paths"])
    if any(len(part) != len(notes["known"]) or part.shape[1] != len(paths) for part in parts.values()):
        raise ValueError("arrays of different lengths")
    known, frames = iter(arrays["animated"]), {}
    for row, is_known in enumerate(notes["known"]):
        values = notes["values"][row]
        frames[notes["first"] + row] = Frame(
            Motion(*(part[row] for part in parts.values())), next(known) if is_known else None,
            tuple(notes["broken"][row]), None if values is None else _rich(values),
        )  # fmt: skip
    return Kept(notes["start"], notes["digest"], paths, frames, Events(*notes["events"]))


def _plain(values: Mapping[Any, Any]) -> list[Any]:
    """Animated values as JSON takes them. Their keys are those of values, or paths of bodies."""
    return [[key, value.tolist() if isinstance(value, np.ndarray) else value] for key, value in values.items()]


def _rich(values: list[Any]) -> dict[Any, Any]:
    return {key if isinstance(key, str) else Key(*key): value for key, value in values}
