"""A child of a batch that does what the tests say, in place of Blender: the first word of the arguments is the work."""

import ctypes
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from usdphys_addon.batch.serve import serve


def perform(arguments: list[str]) -> dict[str, object]:
    work, *rest = arguments
    if work == "crash" or (work == "crash-once" and not Path(rest[0]).exists()):
        if rest:
            Path(rest[0]).touch()
        os.kill(os.getpid(), signal.SIGSEGV)
    if work == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if work == "hang":
        while True:
            signal.pause()
    if work == "noise":
        # As Blender prints, without Python.
        os.write(1, b"Read blend: x.blend\nno line feed")
    if work == "write":
        Path(rest[0]).write_text(rest[1])
    if work == "pieces":
        # Small pieces, the last of which keeps the C library from returning the others by itself.
        library = ctypes.CDLL(None)
        library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
        taken = [library.malloc(4096) for _ in range(75_000)]
        for place in taken:
            ctypes.memset(place, 1, 4096)
        for place in taken[:-1]:
            library.free(place)
    if work == "grow":
        taken = []
        while True:
            taken.append(b"x" * (1 << 20))
    if work == "temporary":
        rest = [tempfile.mkdtemp()]
    return {"exit": int(work == "fail"), "issues": [], "arguments": rest}


sys.exit(serve(perform))
