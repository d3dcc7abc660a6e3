# SPDX-License-Identifier: GPL-3.0-or-later
"""Fidelity of glTF on files of others, through Blender, judged by independent comparers.

    .venv/bin/python scripts/gltf_rounds.py FILE ... [--ways WAY ...] [--out FOLDER] [--usd-python PYTHON] [--all]

Ways of a .gltf or .glb: `own` back to glTF in its own family; `other` to the other family; `usd` to USD and back to
glTF. Ways of a USD file: `kept` to glTF and back to USD; `bare` the same without the facts of USD in the extras.
A row per file and way: score, facts that are not as before, and how many of these the report of the way names.
Exit status 1 where a fact is lost that was not named. --all prints also the facts that were named.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bench
from comparer import Comparer

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
WAYS = {"gltf": ("own", "other", "usd"), "usd": ("kept", "bare")}
