# SPDX-License-Identifier: GPL-3.0-or-later
"""Every output of the add-on is written by `replacing`: beside the target, checked, then put in place in one step."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PureWindowsPath
from zlib import crc32

from ..core import clock
from ..core.errors import InputError, OutputError

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
GLTF_SUFFIXES = (".gltf", ".glb")
SDF_SUFFIXES = (".sdf", ".world")
#: Of files that describe a robot and nothing of the world that it is in.
ROBOT_SUFFIXES = (".urdf", ".xacro", *SDF_SUFFIXES)
#: Age in seconds from which a temporary file is one that a killed run has left.
ABANDONED = 3600.0
#: The same for the temporary files of the system, which nothing but its age tells from those of a run at work.
FORGOTTEN = 86400.0
#: Beginning of the names of our folders there.
WORK = "usdphys-run-"
#: Names of temporary files beside a target, see `_prefix`.
_TEMPORARY = re.compile(r"\.usdphys-\w*-[0-9a-f]{8}-")
#: Names of devices, whatever suffix they have; characters that no name has; ends that Windows cuts off.
_NOT_ON_WINDOWS = re.compile(
    r"^(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[1-9\u00b9\u00b2\u00b3])\s*(\.|$)"
    r"|[<>:\"|?*\x00-\x1f]|[. ]$",
    re.IGNORECASE,
)
#: The end of a .blend: the header of its last block, or of the table of a compressed one.
_BLEND_ENDS = (b"ENDB", b"\xb1\xea\x92\x8f")
#: What text files end with, by their suffix.
TEXT_ENDS = {".gltf": b"}", ".json": b"}", ".urdf": b">"}
#: Bytes in which the last statement of a layer is sought.
_TAIL_OF_A_LAYER = 1 << 16
#: What the system says where the disk, and not this program, is why a file could not be written.
_DISK = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ENODEV, errno.ENXIO, errno.ESTALE,
    errno.ENOTCONN, errno.EMFILE, errno.ENFILE,
})  # fmt: skip
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg"})
#: Bytes of a path that Blender takes, less those of the longest name of a temporary file.
_LONGEST_PATH = 940
#: Bytes of a file name that file systems take.
_LONGEST_NAME = 255


def usable_name(name: str) -> str:
    """The name of a file in a form that Blender and USD take for the same file. Raises InputError if there is none.

    Blender reads two leading slashes as "beside the open file", and USD reads arguments behind a name.
    """
    short = name if len(name) <= 120 else f"{name[:60]}...{name[-57:]}"
    if not name:
        raise InputError("The name of a file is empty.")
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"'{short}' is not encoded in UTF-8, which Blender and USD need; rename the file.") from error
    if ":SDF_FORMAT_ARGS:" in name or "\0" in name:
        raise InputError(f"'{short}' has characters that USD does not allow in a name; rename the file.")
    if max(len(part) for part in encoded.split(b"/")) > _LONGEST_NAME:
        raise InputError(
            f"'{short}' has a file or folder name of more than {_LONGEST_NAME} bytes; choose a shorter one."
        )
    if os.name == "posix" and name.startswith("//"):
        name = f"/{name.lstrip('/')}"
    elif os.name == "nt" and (part := refused_by_windows(name)):
        raise InputError(f"'{part}' in '{short}' is a name that Windows reserves or changes; choose another one.")
    if len(os.fsencode(Path(name).absolute())) > _LONGEST_PATH:
        raise InputError(f"'{short}' is a path of more than {_LONGEST_PATH} bytes; Blender needs a shorter one.")
    return name


def refused_by_windows(name: str) -> str:
    """The part of a path that Windows takes for a device, a stream of another file, or a shorter name; "" for none."""
    parts = PureWindowsPath(name).parts
    rest = parts[1:] if PureWindowsPath(name).anchor else parts
    return next((part for part in rest if part != ".." and _NOT_ON_WINDOWS.search(part)), "")


@contextmanager
def replacing(
    target: Path, *, inputs: Iterable[str | Path] = (), verify: Callable[[Path], None] | None = None,
    apart: bool = False,
) -> Iterator[Path]:  # fmt: skip
    """Yield an unused path beside the target; what is written there replaces the target when the block ends.

    Before that the file must be whole, and is forced to the disk. If anything fails, the target stays as it was.
    If the target is a symbolic link, the link stays, and the file that it names is replaced.
    inputs: files that the output is made from, which it never replaces. verify: further checks, which raise.
    apart: in a temporary folder of its own, for a writer that makes more files beside it. Raises OutputError.
    """
    from concurrent.futures import ThreadPoolExecutor

    checked(target, inputs)
    try:
        with scratch_file(target, apart=apart) as scratch:
            yield scratch
            if scratch.is_file():
                # The disk works while the file is read back.
                with ThreadPoolExecutor(1) as threads:
                    forced = threads.submit(_force_to_disk, scratch)
                    if verify is not None:
                        verify(scratch)
                    forced.result()
            _put(scratch, target)
    except OSError as error:
        raise OutputError(f"'{target}' could not be written ({_reason(error)}); the old file is untouched.") from error


def write_text(target: Path, text: str, inputs: Iterable[str | Path] = ()) -> None:
    """Write a text in UTF-8 to a file as `replacing` does. Raises OutputError."""
    with replacing(target, inputs=inputs) as scratch:
        scratch.write_text(text, encoding="utf-8")


def replace_together(
    folder: Path, target: Path, replaceable: Collection[Path] = (), root: Path | None = None
) -> None:  # fmt: skip
    """Put the files of a folder beside the target in place, the one with the name of the target last.

    All are whole, in their folders and on the disk before the first of them replaces an old file. Files that are as
    before stay.
    replaceable: old files that are those of the target. Another one stays, unless the new one is the same.
    root: where the folder is copied to: the folder of the target, which is the default, or one above it. Raises
    OutputError.
    """
    root = root or target.parent
    last = folder / target.relative_to(root)
    made = sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path == last)
    places = [root / path.relative_to(folder) for path in made]
    try:
        for path, place in zip(made, places, strict=True):
            place.parent.mkdir(parents=True, exist_ok=True)
            checked(place)
            if place != target and place.exists() and place not in replaceable and not _are_same(place, path):
                raise OutputError(_taken(target, place))
            if not is_whole(path):
                raise OutputError(torn(target))
        with ExitStack() as stack:
            pairs = [(path, _real(place)) for path, place in zip(made, places, strict=True)]
            pairs = [(path, real) for path, real in pairs if path == last or not _are_same(path, real)]
            reals = [real for _, real in pairs]
            unused = {real for path, real in pairs if path != last and not real.exists()}
            copies = [stack.enter_context(scratch_file(real)) for real in reals]
            for (path, real), copy in zip(pairs, copies, strict=True):
                shutil.copyfile(path, copy)
                _take_mode(copy, real)
                _force_to_disk(copy)
            # Nothing else is done here: a kill between two of these leaves whole files, some old and some new.
            for copy, real in zip(copies, reals, strict=True):
                if real not in unused:
                    copy.replace(real)
                elif not _add(copy, real):
                    raise OutputError(_taken(target, real))
            for parent in {real.parent for real in reals}:
                _force_to_disk(parent)
    except OSError as error:
        raise OutputError(f"'{target}' could not be written ({_reason(error)}); the old file is untouched.") from error


def _taken(target: Path, place: Path) -> str:
    return (
        f"'{target}' needs the file '{place.name}' beside it, and another one has that name; choose another folder, or "
        "a format of one file."
    )


def add(source: Path, target: Path) -> bool:
    """Copy a whole file to an unused name. Returns False where another file has that name. Raises OutputError.

    Of processes that add files of one name at the same time, one wins.
    """
    try:
        with scratch_file(target) as scratch:
            shutil.copyfile(source, scratch)
            if not is_whole(scratch):
                raise OutputError(torn(target))
            _take_mode(scratch, target)
            _force_to_disk(scratch)
            is_added = _add(scratch, target)
        _force_to_disk(target.parent)
        return is_added
    except OSError as error:
        raise OutputError(f"'{target}' could not be written ({_reason(error)}); the old file is untouched.") from error


def _add(scratch: Path, target: Path) -> bool:
    """Give a finished file an unused name. Returns False where another file has it, but for one with this content."""
    try:
        os.link(scratch, target)
    except FileExistsError:
        return _are_same(scratch, target)
    except OSError:  # a file system without hard links
        scratch.replace(target)
    scratch.unlink(missing_ok=True)
    return True


def is_endless(path: Path) -> bool:
    """True where a path leads to a device or a pipe, whose end would never come."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):  # a name that no file can have
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


def regular(path: Path) -> Path:
    """The path itself. Raises InputError where it leads to a device or a pipe."""
    if is_endless(path):
        raise InputError(f"'{path}' is a device or a pipe, which is not read; copy it into a file.")
    return path


def checked(target: Path, inputs: Iterable[str | Path] = ()) -> Path:
    """The absolute target. Raises OutputError where its folder or its permissions forbid it, or if it is an input."""
    target = target.absolute()
    if not target.parent.is_dir():
        raise OutputError(f"'{target}' cannot be written: its folder does not exist; make it or choose another.")
    if target.is_dir():
        raise OutputError(f"'{target}' is a folder; choose a file name.")
    # What "/dev/stdout" leads to can be a file: a replacement would still take the place of the link.
    if (target.exists() and not target.is_file()) or target.as_posix().startswith(("/dev/", "/proc/")):
        raise OutputError(f"'{target}' is a device or a pipe, which cannot be replaced; choose a file name.")
    real = _real(target)
    if not real.parent.is_dir():
        raise OutputError(
            f"'{target}' is a link to '{real}', whose folder does not exist; make it or choose another name."
        )
    # By its mode, because a file system lets root write to everything.
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise OutputError(f"'{target}' is write-protected; choose another name or allow writing.")
    for folder in {target.parent, real.parent}:
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"The folder '{folder}' cannot be written to; choose another.")
    for other in inputs:
        if os.path.realpath(target) == os.path.realpath(other):
            raise OutputError(f"'{target}' is the input itself, which is never changed; choose another name.")
    return target


def refuse_parts(target: Path, source: Path, parts: Iterable[Path]) -> None:
    """Raise OutputError where a target is one of the files that a source is made of."""
    place = _canonical(target)
    if any(_canonical(part) == place for part in parts):
        raise OutputError(f"'{target}' is a part of '{source.name}', which is never changed; choose another name.")


def _canonical(path: Path) -> str:
    return os.path.normcase(os.path.realpath(path))


def _real(target: Path) -> Path:
    """The file that is to be replaced: the target, or the one that it is a symbolic link to. Raises OutputError."""
    if not target.is_symlink():
        return target
    try:
        real = Path(os.path.realpath(target))
        is_circle = real.is_symlink()
    except OSError:
        is_circle = True
    if is_circle:
        raise OutputError(f"'{target}' is a link that leads in a circle; choose another name.")
    return real


def note_of(files: Iterable[Path], folder: Path, *, digests: bool = True) -> str:
    """Digests of files, or "-", one a line, with their paths relative to a folder."""
    lines = []
    for file in files:
        try:
            name = os.path.relpath(file, folder)
        except ValueError:  # on another drive of Windows
            name = str(file)
        lines.append(f"{_digest(file) if digests else '-'} {name}")
    return "\n".join(sorted(lines))


def noted(note: str, folder: Path) -> list[Path]:
    """The files of `note_of`."""
    return [folder / line.partition(" ")[2] for line in note.splitlines()]


def first_changed(note: str, folder: Path) -> str:
    """The first file of `note_of` that is not as it was; empty if all are."""
    for line in note.splitlines():
        digest, _, name = line.partition(" ")
        if _digest(folder / name) != digest:
            return name
    return ""


def _are_same(one: Path, other: Path) -> bool:
    """True for two files of the same content that can be read."""
    import filecmp

    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _digest(file: Path) -> str:
    """Digest of the content of a file; "-" if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=12)).hexdigest()
    except OSError:
        return "-"


@contextmanager
def scratch_file(target: Path, *, apart: bool = False) -> Iterator[Path]:
    """Yield an unused path beside the target; a file that is still there on exit is deleted.

    A .usdz gets a temporary folder, because the names inside the package come from its file name. Other files must be
    in the folder of the target, because they hold paths relative to it, unless they are made apart. Raises OutputError
    if it takes no files.
    """
    if apart or target.suffix.lower() == ".usdz":
        with scratch_folder(target) as folder:
            yield folder / target.name
        return
    _clean(target)
    try:
        handle, name = tempfile.mkstemp(prefix=_prefix(target), suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise _unwritable(target, error) from error
    os.close(handle)
    scratch = Path(name)
    scratch.unlink()
    try:
        yield scratch
    finally:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)


@contextmanager
def scratch_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside the target, which is deleted on exit. Raises OutputError if none can be made."""
    _clean(target)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def work_folder() -> Iterator[Path]:
    """Yield an empty folder among the temporary files of the system, which is deleted on exit.

    What killed runs have left there is deleted after a day: others may still be at work.
    """
    clean_work_folders()
    with tempfile.TemporaryDirectory(prefix=WORK) as name:
        yield Path(name)


def clean_work_folders() -> None:
    """Delete what killed runs have left among the temporary files of the system, after a day."""
    for path in Path(tempfile.gettempdir()).glob(f"{WORK}*"):
        _delete_forgotten(path)


def _delete_forgotten(path: Path) -> None:
    """Delete a file or folder of ours that nobody has changed for a day. A link of somebody else is not followed."""
    with suppress(OSError):
        state = path.lstat()
        is_ours = not hasattr(os, "getuid") or state.st_uid == os.getuid()
        is_plain = stat.S_ISDIR(state.st_mode) or stat.S_ISREG(state.st_mode)
        if is_ours and is_plain and clock.wall() - _last_change(path) > FORGOTTEN:
            delete(path)


def _last_change(path: Path) -> float:
    """When a file, or a folder or what is in it, was last changed."""
    files = [path, *path.iterdir()] if path.is_dir() else [path]
    return max(one.lstat().st_mtime for one in files)


def _prefix(target: Path) -> str:
    """Beginning of the names of all temporary files of a target. It is short, however long the name is."""
    stem = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in target.stem[:24])
    return f".usdphys-{stem}-{crc32(target.name.encode('utf-8', 'surrogateescape')):08x}-"


def temporary_files(target: Path) -> list[Path]:
    """Temporary files and folders for a target that are there now."""
    prefix = _prefix(target)
    with suppress(OSError):
        folder = target.absolute().parent
        # Not `iterdir`: there may be ten thousand others.
        return [folder / name for name in os.listdir(folder) if name.startswith(prefix)]  # noqa: PTH208
    return []


def delete(path: Path) -> None:
    """Delete a file or a folder, if it can be deleted."""
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _clean(target: Path) -> None:
    """Delete what killed runs have left beside a target: for the same one after an hour, for others after a day."""
    now = clock.wall()
    with suppress(OSError):
        folder = target.absolute().parent
        for name in os.listdir(folder):  # noqa: PTH208 - as in temporary_files
            if _TEMPORARY.match(name):
                _delete_forgotten(folder / name)
    for path in temporary_files(target):
        with suppress(OSError):
            if now - path.stat().st_mtime > ABANDONED:
                delete(path)


def _put(scratch: Path, target: Path) -> None:
    """Replace the target by a finished file that is on the disk. Raises OutputError if it is missing or truncated."""
    if not scratch.is_file() or not is_whole(scratch):
        raise OutputError(torn(target))
    real = _real(target)
    if real.parent == target.parent:
        _replace(scratch, real)
        return
    # The file was made beside the link, where its relative paths begin. A folder elsewhere can be on another disk.
    with scratch_file(real) as copy:
        shutil.copyfile(scratch, copy)
        _replace(copy, real)


def torn(target: Path) -> str:
    """What is said of an output that is not whole."""
    if target.suffix.lower() in IMAGE_SUFFIXES:
        return (
            f"'{target}' could not be written completely (is the disk full, or is the image in the scene cut off?); "
            "the old file is untouched."
        )
    return f"'{target}' could not be written completely (is the disk full?); the old file is untouched."


def _replace(scratch: Path, target: Path) -> None:
    _take_mode(scratch, target)
    scratch.replace(target)
    _force_to_disk(target.parent)


def _take_mode(scratch: Path, target: Path) -> None:
    """Give a finished file the permissions of the one that it replaces, or those of a new file."""
    if target.exists():
        shutil.copymode(target, scratch)
    else:
        mask = os.umask(0)
        os.umask(mask)
        scratch.chmod(0o666 & ~mask)


def _force_to_disk(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk. A full disk shows here at the latest."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot do it for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF) or stat.S_ISREG(os.fstat(handle).st_mode):
            raise
    finally:
        os.close(handle)


def is_whole(path: Path) -> bool:
    """False if a file is truncated, as far as its end or its own size shows: its last brace, table or block."""
    suffix = path.suffix.lower()
    size = path.stat().st_size
    if suffix == ".usdz":
        return _is_whole_package(path)
    with path.open("rb") as stream:
        head = stream.read(24)
        stream.seek(max(0, size - 64))
        tail = stream.read()
    if suffix == ".blend":
        return any(end in tail for end in _BLEND_ENDS)
    if suffix == ".glb":
        return int.from_bytes(head[8:12], "little") == size
    if suffix in IMAGE_SUFFIXES:
        return _is_whole_image(path.read_bytes())
    if suffix not in USD_SUFFIXES:
        return size > 0 and tail.rstrip().endswith(TEXT_ENDS.get(suffix, b""))
    if head.startswith(b"PXR-USDC"):
        contents = int.from_bytes(head[16:24], "little")
        return len(head) == 24 and 0 < contents < size
    return head.startswith(b"#usda") and _is_whole_layer(path, size)


def _is_whole_layer(path: Path, size: int) -> bool:
    """False for the text of a layer whose last statement is cut. Comments may follow it."""
    with path.open("rb") as stream:
        stream.seek(max(0, size - _TAIL_OF_A_LAYER))
        text_lines = stream.read().splitlines()
    lines = [line for line in map(bytes.strip, text_lines) if line and not line.startswith(b"#")]
    # A layer without prims and metadata is its first line.
    return not lines or re.search(rb"[})]\s*(#.*)?$", lines[-1]) is not None


def _is_whole_image(data: bytes) -> bool:
    """False for a PNG or JPEG without its end mark, and for nothing. Anything may follow the mark."""
    if data.startswith(b"\x89PNG"):
        return b"IEND\xaeB`\x82" in data
    if data.startswith(b"\xff\xd8\xff"):
        # A preview among the segments before the image has an end mark of its own.
        at = 2
        while data[at : at + 1] == b"\xff" and data[at + 1 : at + 2] != b"\xda":
            at += 2 + int.from_bytes(data[at + 2 : at + 4])
        return b"\xff\xd9" in data[at:]
    return bool(data)


def _is_whole_package(path: Path) -> bool:
    # Every start of Blender loads this module; few write a package.
    import zipfile

    try:
        with zipfile.ZipFile(path) as package:
            return package.testzip() is None
    except zipfile.BadZipFile:
        return False


def trouble_of_the_disk(error: BaseException) -> str:
    """What an error says about a disk that is full, broken or gone; empty if it is about something else."""
    if type(error).__name__ == "ErrorException":  # of USD, which has what the system says in its text
        return next((words for words in map(os.strerror, _DISK) if f": {words}" in str(error)), "")
    if not isinstance(error, OSError):
        return ""
    # How `tempfile` says that no folder for temporary files can be written to.
    is_there = error.errno in _DISK or (error.errno == errno.ENOENT and "temporary directory" in str(error.strerror))
    return str(error) if is_there else ""


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def _unwritable(target: Path, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    return OutputError(
        f"'{target}' could not be written: no file can be made in its folder ({reason}); choose another folder."
    )
