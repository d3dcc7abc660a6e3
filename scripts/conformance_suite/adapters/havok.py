# SPDX-License-Identifier: GPL-3.0-or-later
"""Havok in Babylon.js: `run.py adapters/havok.py PROGRAM WASM --form glb`.

PROGRAM is the bundle that scripts/compare_havok.py of USD Physics makes for node, WASM the HavokPhysics.wasm of the
package @babylonjs/havok.
"""

import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def simulate(file, seconds, rate, program, wasm):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "poses.json")
        command = ["node", program, wasm, str(file), str(output), str(round(seconds * rate)), str(rate), "0"]
        done = subprocess.run(command, capture_output=True, text=True)
        if not output.is_file():
            raise NotImplementedError((done.stderr.strip().splitlines() or ["no poses"])[0])
        poses = json.loads(output.read_text())["poses"]
    data = Path(file).read_bytes()
    nodes = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])["nodes"]
    # x, y, z and a quaternion x, y, z, w.
    return {nodes[int(node)]["name"]: np.array(rows)[:, [0, 1, 2, 6, 3, 4, 5]] for node, rows in poses.items()}
