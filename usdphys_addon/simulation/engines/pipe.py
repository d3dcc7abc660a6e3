# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages between Blender and an engine in a process of its own, and the loop in which that answers them.

Both sides import this module, so it needs the standard library and NumPy only. A message is two little-endian 32-bit
numbers, the bytes of a header and those of all arrays; the header, a JSON object; and the arrays, one after the other,
whose names, types and shapes the header has as "arrays".

A request says what to "do", the answer has the result, or a sentence as "error". All numbers are SI, radians, Z up.
States (n, 13) have a row for each body: position, rotation (w, x, y, z), velocity of the centre of mass, angular one.

build: "file", in USD; "seconds" of a time step; "substeps" of the engine in it, 0 for its own choice; "bodies", their
paths; "gravity" (3,). Arrays: states, as the file has them, and kinematic (k,), rows. The answer has "bodies", the
paths of its own rows, which all that follows means; "takes", which of "drives" and "gravity" may change; "joints",
whose drives may; "at_zero", those that begin at zero whatever the file says. Arrays: states.
step: "gravity" (3,) and "drives", where they have changed: joint, instance name, stiffness, damping, target, target
velocity, largest force (null: none). Arrays: led (k,), rows of kinematic
bodies, and their poses (k, 7) at the end of the step; pushed (k,), rows, and wrenches (k, 9): force, torque, and where
the force acts. The answer has states.
reset: the answer has the states of the start.
Every answer of `serve` has "spent", the milliseconds in the engine.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

_SIZES = struct.Struct("<II")
#: Bytes of a header and of all arrays that are believed.
MOST = 1 << 28
#: Types of arrays, as the header has them.
_TYPES: dict[str, Any] = {"f8": np.dtype("<f8"), "f4": np.dtype("<f4"), "i4": np.dtype("<i4")}

Arrays = Mapping[str, Any]
Message = tuple[dict[str, Any], dict[str, Any]]


def packed(header: Mapping[str, Any], arrays: Arrays | None = None) -> bytes:
    """A message. Arrays of whole numbers are sent in 32 bits, others with the bits that they have, 32 or 64."""
    listed, parts = [], []
    for name, content in (arrays or {}).items():
        array = np.asarray(content)
        kind = "i4" if array.dtype.kind in "iu" else "f4" if array.dtype == np.float32 else "f8"
        listed.append([name, kind, list(array.shape)])
        parts.append(array.astype(_TYPES[kind]).tobytes())
    text = json.dumps({**header, "arrays": listed}).encode()
    body = b"".join(parts)
    return _SIZES.pack(len(text), len(body)) + text + body


def received(stream: IO[bytes]) -> Message:
    """The next message of a stream: (header, arrays). Raises EOFError at its end, and ValueError for rubbish."""
    sizes = _SIZES.unpack(_exactly(stream, _SIZES.size))
    if max(sizes) > MOST:
        raise ValueError("a message of this size is none")
    header = json.loads(_exactly(stream, sizes[0]))
    body = _exactly(stream, sizes[1])
    if not isinstance(header, dict):
        raise ValueError("a message has a JSON object first")
    try:
        arrays, start = {}, 0
        for name, kind, shape in header.pop("arrays"):
            count = int(np.prod(shape, dtype=np.int64))
            arrays[str(name)] = np.frombuffer(body, _TYPES[kind], count, start).reshape(shape)
            start += count * _TYPES[kind].itemsize
    except (KeyError, TypeError) as error:
        raise ValueError("a message lists its arrays") from error
    return header, arrays


def _exactly(stream: IO[bytes], count: int) -> bytes:
    parts = []
    while count:
        part = stream.read(count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


# --------------------------------------------------------------------------- the side of the engine


class Scene:
    """A scene in an engine, as the loop calls it. Each call returns a header and arrays, see above."""

    def build(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        raise NotImplementedError

    def step(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        raise NotImplementedError

    def reset(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        raise NotImplementedError

    def close(self) -> None:
        """Make room for another scene."""


def main(make: Callable[[], Scene], arguments: list[str], *, is_z_up: bool = False) -> int:
    """What the program of an engine does with its arguments. Returns the exit status.

    --live: answers requests. FILE STEPS SECONDS POSES, several times: writes the poses of all bodies at the start and
    after each step of so many seconds to POSES, a .npz file: names (n,) of prims, poses (steps + 1, n, 7): x, y, z,
    then a quaternion x, y, z, w, in the units of the stage, and in its axes or with Z up. Exit status 1 where a file
    failed; the others are simulated all the same. What is printed about a file comes after its number, as "file 0".
    """
    if arguments == ["--live"]:
        return serve(make)
    status = 0
    for file, steps, seconds, target in jobs(arguments):
        try:
            _write_poses(make(), file, int(steps), float(seconds), target, is_z_up)
        except Exception:
            traceback.print_exc()
            status = 1
    return status


def jobs(arguments: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Each FILE STEPS SECONDS POSES of the arguments. What is printed after that belongs to the file."""
    for number, job in enumerate(zip(*(arguments[start::4] for start in range(4)), strict=True)):
        print(f"file {number}", flush=True)
        yield job


def _write_poses(scene: Scene, file: str, steps: int, seconds: float, target: str, is_z_up: bool) -> None:
    header, arrays = scene.build({"file": file, "seconds": seconds, "substeps": 0}, {})
    poses = np.empty((steps + 1, len(header["bodies"]), 7))
    for number in range(steps + 1):
        if number:
            _, arrays = scene.step({}, {})
        poses[number] = np.asarray(arrays["states"])[:, [0, 1, 2, 4, 5, 6, 3]]
        print(f"step {number}", flush=True)
    save(target, names=np.array(header["bodies"], str), poses=poses, is_z_up=is_z_up)
    scene.close()


def save(target: str, **arrays: Any) -> None:
    """Write a .npz file, which is there when it is complete."""
    part = f"{target}.part.npz"
    np.savez(part, **arrays)
    Path(part).replace(target)


def serve(make: Callable[[], Scene]) -> int:
    """Answer the requests on the standard input until it ends. Returns the exit status.

    Engines print to the standard output: what they print goes to the standard error.
    """
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    scene: Scene | None = None
    while True:
        try:
            header, arrays = received(sys.stdin.buffer)
        except EOFError:
            return 0
        try:
            began = time.perf_counter()
            if header["do"] == "build":
                if scene is not None:
                    scene.close()
                scene = make()
            told, states = getattr(scene, str(header["do"]))(header, arrays)
            answer = packed({**told, "spent": 1e3 * (time.perf_counter() - began)}, states)
        except Exception as error:
            traceback.print_exc()
            answer = packed({"error": f"{type(error).__name__}: {error}"})
        write(answers, answer)


def write(stream: IO[bytes], message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[stream.write(view) or 0 :]
