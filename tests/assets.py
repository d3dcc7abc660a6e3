# SPDX-License-Identifier: GPL-3.0-or-later
"""The one place that says which files tests go over: those that others wrote, or without them the project's own twins.

The files of others lie in a folder `shared` beside the checkout; SHARED_DIR names another place. Who has not got them
tests the same code with twins, which are written to a temporary folder of this session.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Where the files of others are, or would be.
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
#: Whether they are there.
OF_OTHERS = (SHARED / "devset").is_dir()


@cache
def folder() -> Path:
    """The folder with `devset` and `cases` in it."""
    if OF_OTHERS:
        return SHARED
    import twins

    made = Path(tempfile.mkdtemp(prefix="usdphys-twins-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return twins.write(made)


def either(of_others: object, of_twins: object) -> object:
    """What a test expects of the files that it goes over."""
    return of_others if OF_OTHERS else of_twins


def usd_files() -> list[Path]:
    """Every USD file of the set that is opened by itself: no payloads."""
    patterns = ("usd/*.usd*", "usd/*/*.usda", "urdf/*/reference_usd/*.usda")
    found = {path for pattern in patterns for path in (folder() / "devset").glob(pattern)}
    return sorted(path for path in found if "Payload" not in path.parts)


def gltf_files() -> list[Path]:
    return sorted((folder() / "devset" / "gltf").glob("*.gltf"))


def case_files() -> list[Path]:
    """Small USD files that once went wrong."""
    return sorted((folder() / "cases").glob("*.usda"))


def file(of_others: str, twin: str) -> Path:
    """One file by its path below `devset`: that of others, or the twin that stands for it."""
    return folder() / "devset" / (of_others if OF_OTHERS else twin)


def comparer() -> Path:
    """The judge of two USD files: the independent one of others, or the project's own, which OpenUSD alone informs."""
    return SHARED / "tools" / "compare_physics.py" if OF_OTHERS else ROOT / "scripts" / "compare_facts.py"


def gltf_judge() -> Path:
    """The same for two glTF files: `JUDGE compare ONE OTHER` prints "score 1.0000" where nothing is lost."""
    return SHARED / "tools" / "gltf_physics_check.py" if OF_OTHERS else ROOT / "scripts" / "compare_gltf.py"
