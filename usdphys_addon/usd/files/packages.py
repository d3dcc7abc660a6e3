# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages (.usdz): which are safe to read, and what may be packed into one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from pxr import Sdf, Tf, Usd

from ...core.errors import InputError, OutputError
from ...core.validate import Issue
from ...core.words import counted, named
from ...system.files import USD_SUFFIXES, scratch_folder, torn

#: In another module from OpenUSD 25.08 on; Blender 4.5 has 25.02.
_Writer = Sdf.ZipFileWriter if hasattr(Sdf, "ZipFileWriter") else Usd.ZipFileWriter

#: Beginnings of images, sounds and volumes.
_MAGIC = (
    b"\x89PNG", b"\xff\xd8\xff", b"\x76\x2f\x31\x01", b"#?RADIANCE", b"#?RGBE", b"II*\0", b"MM\0*", b"II+\0", b"BM",
    b"RIFF", b"ID3", b"\xff\xfb", b"OggS", b"fLaC", b" BDV", b"8BPS", b"\0\0\0\x0cjP", b"SDPX", b"XPDS", b"DDS ",
)  # fmt: skip
#: Formats whose files have no beginning of their own.
_PLAIN = (".tga", ".mtlx", ".ies")
_HEAD = 16


def check(path: str | Path) -> None:
    """Raise InputError for a package that is broken, or made to write or fill more than it is."""
    name = Path(path).name
    try:
        with zipfile.ZipFile(path) as package:
            entries = package.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(f"'{name}' is not a package that can be read ({str(error)[:80]}).") from error
    for entry in entries:
        inside = PurePosixPath(entry.filename)
        if inside.is_absolute() or ".." in inside.parts or "\\" in entry.filename or ":" in inside.parts[0]:
            raise InputError(f"'{name}' holds the file '{entry.filename[:80]}', which would lie outside of it.")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            raise InputError(f"'{name}' holds a compressed or encrypted file; USD packages hold them as they are.")
    size, held = Path(path).stat().st_size, sum(entry.file_size for entry in entries)
    if held > size:
        raise InputError(f"'{name}' has {size} bytes, but states a content of {held}; it is damaged.")


def check_used(layers: Iterable[Sdf.Layer]) -> None:
    """`check` for all packages that layers come from."""
    files = {layer.realPath.partition("[")[0] for layer in layers}
    for package in files:
        if package.lower().endswith(".usdz"):
            check(package)


def cleaned(package: Path, target: Path) -> list[Issue]:
    """Take the files out of a package that are no assets; issues about these and about the others in it.

    Raises OutputError where USD has not written all of it, as on a full disk. target: the name for the message.
    """
    try:
        strangers = take_out_strangers(package)
        return described(names_in(package), strangers)
    except (zipfile.BadZipFile, Tf.ErrorException) as error:
        raise OutputError(torn(target)) from error


def described(packed: Iterable[str], strangers: list[str]) -> list[Issue]:
    """Issues about the files in a package: none is there, or is missing, without a word."""
    issues = []
    others = [name for name in packed if PurePosixPath(name).suffix.lower() not in USD_SUFFIXES]
    if others:
        issues.append(Issue(
            "FilesPacked", "info", "", "", f"The package holds {counted(len(others), 'file')}: {named(others)}.",
            "Remove files that the recipient must not get.",
        ))  # fmt: skip
    if strangers:
        issues.append(Issue(
            "FilesNotPacked", "warning", "", "",
            f"Left out of the package, because they are neither USD, image, sound nor volume: {named(strangers)}.",
            "Deliver them beside the package.",
        ))  # fmt: skip
    return issues


def take_out_strangers(package: Path) -> list[str]:
    """Take the files out of a package that are no assets, whatever asset paths led to them; their names."""
    with zipfile.ZipFile(package) as whole:
        names = whole.namelist()
        strangers = [name for name in names if not _is_asset(name, whole.open(name).read(_HEAD))]
        if not strangers:
            return []
        with scratch_folder(package) as folder:
            made, kept = folder / package.name, [name for name in names if name not in strangers]
            whole.extractall(folder / "files", kept)
            pack(made, folder / "files", kept)
            made.replace(package)
    return strangers


def pack(package: Path, folder: Path, names: Iterable[str]) -> None:
    """Write a package of files below a folder, in the order of their names."""
    with _Writer.CreateNew(str(package)) as writer:
        for name in names:
            writer.AddFile(str(folder / name), name)


def _is_asset(name: str, head: bytes) -> bool:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in USD_SUFFIXES:
        return head.startswith((b"PXR-USDC", b"#usda", b"PK\3\4"))
    return suffix in _PLAIN or head.startswith(_MAGIC) or head[4:8] == b"ftyp"


def names_in(package: Path) -> list[str]:
    """Names of the files in a package."""
    with zipfile.ZipFile(package) as whole:
        return whole.namelist()
