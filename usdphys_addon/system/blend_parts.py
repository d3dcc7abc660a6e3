# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a .blend, before Blender opens it: libraries that are named pipes, for which it would wait for ever, and
zeros that are packed, with which it would fill the memory."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from .files import is_endless

_ZSTD, _GZIP = b"\x28\xb5\x2f\xfd", b"\x1f\x8b"
#: The code of a block that describes a library. Within its next bytes are the paths. Other places that look like one
#: do no harm: what is found there leads to no pipe.
_BLOCK = re.compile(rb"LI\0\0")
_BLOCK_SIZE = 8192
_PATH = re.compile(rb"(?:/|[A-Za-z]:[\\/])[^\0]{1,1023}(?=\0)")
_AT_ONCE = 1 << 22
#: Unpacked bytes that any file may have, and how many times its own size that of a larger one may be: Blender keeps
#: a note of each block, and zeros are blocks of nothing that take four times their size.
_LARGE, _GROWTH = 1 << 28, 100


def check_libraries(file: Path) -> None:
    """Raise InputError where a library that a .blend links, also through others, is a device or a pipe.

    Also where the file or one of these unpacks to far more than it is.
    """
    waiting, known = [file], {file}
    while waiting:
        blend = waiting.pop()
        try:
            libraries = [_resolved(text, blend) for text in set(_paths(blend))]
        except (OSError, ValueError):  # Blender says what is wrong with the file
            continue
        for library in libraries:
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
    """The bytes of a .blend, unpacked, in parts.

    Raises ValueError where it is damaged or cannot be unpacked here, InputError where it grows beyond all measure.
    """
    most = max(_LARGE, _GROWTH * blend.stat().st_size)
    with blend.open("rb") as stream:
        mark = stream.read(4)
        stream.seek(0)
        parts = _unzipped if mark.startswith(_GZIP) else _unpacked if mark == _ZSTD else _plain
        taken = 0
        for part in parts(stream):
            taken += len(part)
            if taken > most and parts is not _plain:
                raise InputError(
                    f"'{blend}' has {blend.stat().st_size} bytes and unpacks to more than {taken >> 20} MB, as no "
                    "scene does; save it without compression if you trust it."
                )
            yield part


def _plain(stream: Any) -> Iterator[bytes]:
    return iter(partial(stream.read, _AT_ONCE), b"")


def _unzipped(stream: Any) -> Iterator[bytes]:
    """Of Blender before 3.0."""
    try:
        with gzip.GzipFile(fileobj=stream) as reader:
            yield from _plain(reader)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(str(error)) from error


def _unpacked(stream: Any) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:  # it comes with Blender's Python
        raise ValueError(str(error)) from error
    try:
        yield from _plain(zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
