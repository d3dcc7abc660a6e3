# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse below a folder what other file systems refuse; `faults.py` has each process run this at its start.

FILE_RULES is JSON with `root`, the folder, and `rule`:
windows: no names that Windows reserves or cuts, no path of 260 characters, and no replacement, move or removal of a
file that this process has open or mapped.
stale: from the touch with the number `after` on, the folder of a server that has gone away.
slow: each touch takes `seconds`.

A touch is what Python does with a file. What USD and Blender do by themselves is not seen: they write to names that
this product chooses, and those are seen when they are put in place.
"""

import contextlib
import errno
import json
import os
import sys
import time
from pathlib import Path, PureWindowsPath

RULES = json.loads(os.environ.get("FILE_RULES", "{}"))
ROOT = os.path.realpath(RULES.get("root", "/nowhere"))
#: Characters that no name has on Windows; the longest path without a setting of the machine.
REFUSED, LONGEST = set('<>:"|?*\\'), 259
#: Events of `sys.addaudithook`, and which of their arguments are paths. The first of `GONE` is gone afterwards.
PATHS = {
    "open": 1, "os.rename": 2, "os.link": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.listdir": 1,
    "os.scandir": 1, "os.chmod": 1, "os.truncate": 1,
}  # fmt: skip
GONE = ("os.rename", "os.remove")
touches = 0


def inside(path: object) -> str:
    """The path as text where it is below the folder, else ""."""
    if isinstance(path, bytes | str) and path:
        text = os.path.normpath(Path(os.fsdecode(path)).absolute())
        if text == ROOT or text.startswith(f"{ROOT}/"):
            return text
    return ""


def held() -> set[str]:
    """Files that this process has open or mapped."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(str(number.readlink()))
    with Path("/proc/self/maps").open(encoding="utf-8", errors="replace") as lines:
        found |= {line.rstrip("\n")[73:] for line in lines if len(line) > 73}
    return found


def windows(event: str, paths: list[str]) -> None:
    for path in paths:
        for name in path.removeprefix(ROOT).split("/"):
            if REFUSED & set(name) or name != name.rstrip(". ") or PureWindowsPath(name).is_reserved():
                raise OSError(errno.EINVAL, "Windows takes no such name", path)
        if len(path) - len(ROOT) + len("C:\\Users\\somebody\\Documents") > LONGEST:
            raise FileNotFoundError(errno.ENOENT, "Windows takes no path of this length", path)
    if event in GONE and (busy := held() & set(paths)):
        raise PermissionError(errno.EACCES, "Windows keeps what is open", min(busy))


def hook(event: str, arguments: tuple[object, ...]) -> None:
    global touches
    if event not in PATHS:
        return
    paths = [path for path in map(inside, arguments[: PATHS[event]]) if path]
    if not paths:
        return
    touches += 1
    if RULES["rule"] == "windows":
        windows(event, paths)
    elif RULES["rule"] == "slow":
        time.sleep(RULES["seconds"])
    elif touches > RULES["after"]:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), paths[0])


if RULES:
    sys.addaudithook(hook)
