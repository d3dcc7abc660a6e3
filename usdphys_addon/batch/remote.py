# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of a remote folder an input names, itself or through others: only these are copied here.

A name counts wherever it stands in a file, so that this needs no reader for each format.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from ..system import arcs, blend_parts
from ..system.files import SDF_SUFFIXES

#: Files that name no others.
_LEAVES = frozenset({
    ".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".tga", ".bmp", ".webp", ".stl", ".vdb", ".bin", ".mp4",
    ".wav", ".mp3", ".ogg", ".ply", ".abc", ".ttf", ".usdz",
})  # fmt: skip
_SEQUENCES = frozenset({".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".tga", ".bmp", ".webp", ".vdb"})
_XML = frozenset({".urdf", ".srdf", ".sdf", ".world", ".dae", ".xml"})
_NUMBER, _DIGIT, _TILE = re.compile(rb"\d+"), re.compile(rb"\d"), re.compile(rb"1\d{3}(?=\D*$)")
#: Bytes times names that are looked for, above which all files are fetched.
_MOST_WORK = 20_000_000_000


def fetch(main: str, names: Collection[str], get: Callable[[str], Path]) -> None:
    """Get a file and all that it names, in turn. names: of all files in its folder and below, relative to that.

    get: copies a file here, and returns its path. Where it cannot be known what a file names, all are fetched.
    """
    waiting, left = [main], set(names) - {main}
    while waiting:
        file = get(waiting.pop())
        names_left = set(named(file, left))
        left -= names_left
        waiting += sorted(names_left)


def named(file: Path, names: Collection[str]) -> Iterator[str]:
    """Those of the names that a file may name: by the last part of their path."""
    text = _text(file) if file.suffix.lower() not in _LEAVES else b""
    if text is None or len(text) * len(names) > _MOST_WORK:
        yield from names
    elif text:
        unnumbered = _NUMBER.sub(b"0", text)
        for name in names:
            last = PurePosixPath(name).name.encode("utf-8", "surrogateescape")
            # One of several tiles, of the frames of a value clip, and of a sequence.
            forms = {last, _TILE.sub(b"<UDIM>", last), _DIGIT.sub(b"#", last)}
            is_frame = PurePosixPath(name).suffix.lower() in _SEQUENCES and _NUMBER.sub(b"0", last) in unnumbered
            if is_frame or any(form in text for form in forms):
                yield name


def _text(file: Path) -> bytes | None:
    """What may be names in a file; None where it cannot be known."""
    suffix = file.suffix.lower()
    with suppress(OSError, ValueError, IndexError, struct.error, RecursionError):
        if suffix == ".blend":
            return b"".join(blend_parts.contents(file))
        if suffix == ".xacro":  # it can put names together
            return None
        data = file.read_bytes()
        if data.startswith(arcs.CRATE):
            data = arcs.names_of_crate(data)
        if b"`" in data and b"${" in data:  # an expression of USD can put a name together
            return None
        if suffix == ".glb":
            data = data[20 : 20 + int.from_bytes(data[12:16], "little")]
        if suffix in (".gltf", ".glb"):
            # Its texts can hold escapes of JSON, and of URLs.
            data = json.dumps(json.loads(data), ensure_ascii=False).encode()
        if suffix in _XML:
            text = data.decode("utf-8")
            # Another encoding; or a macro in a URDF, which can put names together.
            if "\0" in text or (suffix == ".urdf" and any(mark in text for mark in ("${", "$(", "xacro:"))):
                return None
            # The folder of a model is named, and what is in it.
            if suffix in SDF_SUFFIXES and "<include" in text:
                return None
            data = unescape(text).encode("utf-8", "replace")
        return data + unquote(data.decode("utf-8", "replace")).encode() if b"%" in data else data
    return None
