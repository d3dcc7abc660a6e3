# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages (.usdz): which are safe to read, and what may be packed into one."""

from __future__ import annotations

import os
import posixpath
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from pxr import Sdf, Tf, Usd, UsdUtils

from ...core.errors import InputError, OutputError
from ...core.validate import Issue
from ...core.words import counted, named
from ...system.files import USD_SUFFIXES, scratch_folder, torn
from .layers import modify_asset_paths

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
#: Suffixes of layers that are no packages.
_LAYERS = tuple(suffix for suffix in USD_SUFFIXES if suffix != ".usdz")


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

    Of packages in it, the files that its layers name take the place of the whole. Raises OutputError where USD has not
    written all of it, as on a full disk. target: the name for the message.
    """
    try:
        unpack_packages(package)
        strangers = take_out_strangers(package)
        return described(names_in(package), strangers)
    except (zipfile.BadZipFile, Tf.ErrorException) as error:
        raise OutputError(torn(target)) from error


def described(packed: Iterable[str], strangers: list[str]) -> list[Issue]:
    """Issues about the files in a package: none is there, or is missing, without a word."""
    issues = []
    others = [name for name in packed if PurePosixPath(name).suffix.lower() not in _LAYERS]
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


def unpack_packages(package: Path) -> None:
    """Put the files that layers of a package name in another package in it beside that: readers know no packages in
    packages, and the other files in it are nobody's business. A package that is a layer itself stays."""
    with zipfile.ZipFile(package) as whole:
        names = whole.namelist()
        inner = {name for name in names if name.lower().endswith(".usdz")}
        if not inner:
            return
        with scratch_folder(package) as folder:
            files = folder / "files"
            whole.extractall(files, names)
            made, kept = _with_files_of(files, names, inner), folder / package.name
            pack(kept, files, made)
            kept.replace(package)


def take_along(layer: Sdf.Layer, folder: Path) -> None:
    """Copy the files of other packages that a layer names, if they are no layers, below the folder that its paths are
    relative to: USD's packer says of files in packages that it cannot find them, although it packs them."""
    made = dict[tuple[str, str], str]()

    def renamed(path: str) -> str:
        outer, _, rest = path.partition("[")
        inside = rest[:-1]
        if not inside or "[" in inside or PurePosixPath(inside).suffix.lower() in USD_SUFFIXES:
            return path
        file = os.path.realpath(folder / outer)
        if (file, inside) not in made:
            try:
                with zipfile.ZipFile(file) as package:
                    data = package.read(inside)
            except (OSError, KeyError, zipfile.BadZipFile):
                return path
            name = _free(f"{PurePosixPath(file).stem}_files/{PurePosixPath(inside).name}", set(made.values()))
            place = folder / name
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(data)
            made[file, inside] = name
        return f"./{made[file, inside]}"

    modify_asset_paths(layer, renamed)


def _with_files_of(folder: Path, names: list[str], inner: set[str]) -> list[str]:
    """Names for a package in which layers name files of inner packages as its own. names: below a folder."""
    taken, moved, needed = set(names), dict[tuple[str, str], str](), set[str]()
    for name in [name for name in names if PurePosixPath(name).suffix.lower() in _LAYERS]:
        above = PurePosixPath(name).parent

        def renamed(path: str, above: PurePosixPath = above) -> str:
            outer, _, rest = path.partition("[")
            whole = posixpath.normpath(str(above / outer))
            if whole not in inner:
                return path
            if not rest or "[" in rest or PurePosixPath(rest[:-1]).suffix.lower() in USD_SUFFIXES:
                needed.add(whole)
                return path
            key = whole, rest[:-1]
            if key not in moved:
                moved[key] = _free(f"{PurePosixPath(whole).parent}/{rest[:-1]}".removeprefix("./"), taken)
                taken.add(moved[key])
            return posixpath.relpath(moved[key], str(above))

        layer = Sdf.Layer.FindOrOpen(str(folder / name))
        UsdUtils.ModifyAssetPaths(layer, renamed)
        layer.Save()
    for (whole, inside), target in moved.items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / whole) as package:
            (folder / target).write_bytes(package.read(inside))
    return [name for name in names if name not in inner or name in needed] + list(moved.values())


def _free(name: str, taken: set[str]) -> str:
    stem, end = posixpath.splitext(name)
    number = 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}{end}"
    return name


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
