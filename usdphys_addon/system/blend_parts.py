# SPDX-License-Identifier: GPL-3.0-or-later
"""The libraries that a .blend links, before Blender opens it: it waits for ever for one that is a named pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ..core.errors import InputError
from .files import is_endless

_ZSTD = b"\x28\xb5\x2f\xfd"
#: The code of a block that describes a library. Within its next bytes are the paths. Other places that look like one
#: do no harm: what is found there leads to no pipe.
_BLOCK = re.compile(rb"LI\0\0")
_BLOCK_SIZE = 8192
_PATH = re.compile(rb"(?:/|[A-Za-z]:[\\/])[^\0]{1,1023}(?=\0)")
_AT_ONCE = 1 << 22


def check_libraries(file: Path) -> None:
    """Raise InputError where a library that a .blend links, also through other libraries, is a device or a pipe."""
    waiting, known = [file], {file}
    while waiting:
        blend = waiting.pop()
        try:
            found = [_resolved(text, blend) for text in set(_paths(blend))]
        except (OSError, ValueError):  # Blender says what is wrong with the file
            continue
        for library in found:
            if is_endless(library):
                raise InputError(
                    f"'{file}' links to the library '{library}', which is a device or a pipe; copy it into a file."
                )
            if library not in known and library.suffix.lower() == ".blend" and library.is_file():
                known.add(library)
                waiting.append(library)


def _resolved(text: str, blend: Path) -> Path:
    if text.startswith("//"):
        return blend.parent / text[2:].replace("\\", "/")
    return Path(text)


def _paths(blend: Path) -> Iterator[str]:
    """What can be paths of libraries in a .blend."""
    rest = b""
    for part in contents(blend):
        text = rest + part
        for block in _BLOCK.finditer(text):
            for path in _PATH.finditer(text, block.end(), block.end() + _BLOCK_SIZE):
                yield path[0].decode("utf-8", "surrogateescape")
        rest = text[-_BLOCK_SIZE:]


def contents(blend: Path) -> Iterator[bytes]:
    """The bytes of a .blend, unpacked, in parts. Raises ValueError where it is damaged or cannot be unpacked here."""
    with blend.open("rb") as stream:
        is_packed = stream.read(4) == _ZSTD
        stream.seek(0)
        if not is_packed:
            yield from iter(partial(stream.read, _AT_ONCE), b"")
            return
        try:
            import zstandard
        except ImportError as error:  # it comes with Blender's Python
            raise ValueError(str(error)) from error
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
            yield from iter(partial(reader.read, _AT_ONCE), b"")
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
