# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `tetmesh`: tetrahedra in the closed meshes of a USD file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..core.words import counted
from ..system.console import say
from ..system.files import checked
from .inputs import require_layer
from .output import folders_made, summarise, tell_note


def fill_file(options: argparse.Namespace) -> int:
    """Write a layer over a USD file with a TetMesh beside each closed mesh. Returns the exit status."""
    require_layer(options)
    from ..usd import read, tet_meshes

    with folders_made(options, options.output):
        target = checked(Path(options.output), (options.file,))
        stage = read.open_stage(options.file)
        with read.damage_refused(options.file):
            filled, left = tet_meshes.fill_stage(
                str(Path(options.file).absolute()), stage, target, options.mesh, options.across, options.cell
            )
    for sentence in left:
        tell_note(options, sentence, "usdphys: note: ")
    rows = [
        {
            "mesh": one.mesh, "tets": one.tets, "points": len(one.lattice.points), "tetrahedra": len(one.lattice.tets),
            "cell": one.lattice.cell, "volumeRatio": round(one.lattice.excess, 4), "embedded": one.embedded,
        }
        for one in filled
    ]  # fmt: skip
    if options.json:
        say(json.dumps(rows, allow_nan=False))
        return 0
    for row in rows:
        say(
            f"{row['tets']}  tetrahedra={row['tetrahedra']}  points={row['points']}  "
            f"volume={row['volumeRatio']:.3g} of the mesh's"
        )
    summarise(options, f"{options.output}: TetMeshes for {counted(len(rows), 'object')}")
    return 0
