# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the file of a layer can name other layers, without opening it: most that are large hold geometry only."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

_Answer = TypeVar("_Answer")

#: Fields that name layers; value clips are not among the composition arcs.
ARCS = (b"references", b"payload", b"subLayers")
CLIPS = b"clips"
#: The same with those to prims of the same file: names in a crate, and words of the text.
_ANY_ARC = (*ARCS, b"inheritPaths", b"specializes")
_WORDS = (*ARCS, b"inherits", b"specializes")
CRATE, _TEXT = b"PXR-USDC", b"#usda"
#: Tokens of more bytes are not looked at.
_MOST_BYTES = 1 << 26


def named(file: Path) -> tuple[bool, bool]:
    """(whether a file may have composition arcs to others, whether it may have value clips). In doubt, both."""
    return _found(
        file, lambda text: (text.find(b"@") >= 0, text.find(CLIPS) >= 0),
        lambda names: (_has_one(names, ARCS), _has_one(names, (CLIPS,))), (True, True),
    )  # fmt: skip


def has_any(file: Path) -> bool:
    """True if a file may have composition arcs, to others or within itself; in doubt, True."""
    return _found(
        file, lambda text: any(text.find(word) >= 0 for word in _WORDS), lambda names: _has_one(names, _ANY_ARC), True
    )


def _found(
    file: Path, in_text: Callable[[mmap.mmap], _Answer], in_crate: Callable[[bytes], _Answer], doubt: _Answer
) -> _Answer:
    """What one function finds in the text of a layer, or the other one in the names of a crate; else `doubt`."""
    try:
        with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(_TEXT)] == _TEXT:
                return in_text(data)
            if data[: len(CRATE)] == CRATE:
                return in_crate(names_of_crate(data))
    except (OSError, ValueError, IndexError, struct.error):
        pass  # USD says what is wrong with the file
    return doubt


def _has_one(names: bytes, wanted: Iterable[bytes]) -> bool:
    """names: see `names_of_crate`."""
    names = b"\0" + names
    return any(b"\0" + name + b"\0" in names for name in wanted)


def names_of_crate(data: mmap.mmap | bytes) -> bytes:
    """All names and texts in a crate file, each followed by a zero. Raises ValueError, IndexError or struct.error for
    damage."""
    version = tuple(data[8:11])
    (contents,) = struct.unpack_from("<q", data, 16)
    (count,) = struct.unpack_from("<Q", data, contents)
    for at in range(min(count, 64)):
        name, start, _ = struct.unpack_from("<16sqq", data, contents + 8 + 32 * at)
        if name.rstrip(b"\0") == b"TOKENS":
            break
    else:
        raise ValueError
    if version < (0, 4, 0):
        (size,) = struct.unpack_from("<Q", data, start + 8)
        return data[start + 16 : start + 16 + size]
    size, packed = struct.unpack_from("<QQ", data, start + 8)
    if size > _MOST_BYTES or start + 24 + packed > len(data):
        raise ValueError
    # The first byte is the number of chunks of 2 GB. If it is 0, the data is one chunk and no size precedes it.
    if packed == 0 or data[start + 24] != 0:
        raise ValueError
    data_unpacked = unpacked(data[start + 25 : start + 24 + packed], size)
    if len(data_unpacked) != size:
        raise ValueError
    return data_unpacked


def unpacked(block: bytes, most: int) -> bytes:
    """A block of LZ4. Raises ValueError or IndexError for a damaged one, or one that has more bytes than `most`."""
    made = bytearray()
    at, end = 0, len(block)
    while at < end:
        token = block[at]
        at += 1
        size = token >> 4
        if size == 15:
            more, at = _length(block, at)
            size += more
        made += block[at : at + size]
        at += size
        if at >= end:
            break
        back = block[at] | block[at + 1] << 8
        at += 2
        size = (token & 15) + 4
        if size == 19:
            more, at = _length(block, at)
            size += more
        start = len(made) - back
        if back == 0 or start < 0 or len(made) + size > most:
            raise ValueError
        if size <= back:
            made += made[start : start + size]
        else:
            made += (made[start:] * (size // back + 1))[:size]
    return bytes(made)


def _length(block: bytes, at: int) -> tuple[int, int]:
    """(what is added to a length in a block of LZ4, the place after it): bytes of 255, and a last one."""
    size = 0
    while block[at] == 255:
        size += 255
        at += 1
    return size + block[at], at + 1
