# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex parts of a mesh by CoACD, in a Python that has it: run_coacd.py MESH.npz THRESHOLD PARTS.npz.

A process of its own, because CoACD says nothing about its progress and cannot be stopped. It imports nothing of this
package.
"""

import sys
from pathlib import Path

import coacd
import numpy as np

#: Corners of a part: what simulators of games take.
CORNERS = 64


def main() -> None:
    source, threshold, target = sys.argv[1:]
    with np.load(source) as mesh:
        given = coacd.Mesh(mesh["points"], mesh["triangles"])
    coacd.set_log_level("error")
    parts = coacd.run_coacd(given, threshold=float(threshold), max_ch_vertex=CORNERS, decimate=True, seed=1)
    with Path(target).open("wb") as stream:
        np.savez(stream, *(np.asarray(points, float) for points, _ in parts))


if __name__ == "__main__":
    main()
