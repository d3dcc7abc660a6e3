# SPDX-License-Identifier: GPL-3.0-or-later
"""Do glTF files move in the preview as in the viewer of the KHR extensions' authors? Needs node and npm.

    .venv/bin/python scripts/compare_havok.py --loader FOLDER [--seconds S] [--check] [--bodies] FILE...

--loader: a copy of github.com/eoineoineoin/glTF_Physics_Babylon, whose sources are bundled with `havok.ts`. Babylon.js
and Havok are installed once into .venv-havok. For each file: the body that is farthest from its place in Havok at any
frame, and when it is first 5 cm away. Two more runs of Havok tell what that means: how far a start 1e-6 m aside takes
it, and how far 16 times as many steps do. Far is a body that is more than 5 cm from both, and farther than these are
from each other, if a start aside takes it less than 5 cm: else it is chaos. With --check the exit status is 1 where a
body is far. --bodies: a line for each that is more than 1 cm away.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-havok"
PACKAGES = ("@babylonjs/core@8", "@babylonjs/loaders@8", "@babylonjs/havok@1", "esbuild")
RATE, FAR, ASIDE = 60, 0.05, 1e-6
#: How many times as many steps the third run has.
FINER = 16
#: Decorators of Babylon.js are those of older TypeScript.
_TYPESCRIPT = '{"compilerOptions":{"experimentalDecorators":true,"useDefineForClassFields":false}}'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--loader", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bodies", action="store_true", help="print all bodies that are more than 1 cm away")
    options = parser.parse_args()
    far = 0
    with tempfile.TemporaryDirectory() as made:
        program = bundled(options.loader, Path(made))
        for file in options.files:
            far += compare(program, file, Path(made), options.seconds, tells_all=options.bodies)
    print(
        f"{far} of {len(options.files)} files have bodies that are more than {FAR} m away, and than Havok from itself"
    )
    return 1 if far and options.check else 0


def bundled(loader: Path, folder: Path) -> Path:
    """The program that plays files, for node."""
    if shutil.which("npm") is None:
        sys.exit("npm is not installed")
    modules = FOLDER / "node_modules"
    if not (modules / "esbuild").is_dir():
        _run("npm", "install", "--prefix", str(FOLDER), "--no-audit", "--no-fund", "--loglevel=error", *PACKAGES)
    # Sources are looked up beside node_modules.
    sources = FOLDER / "loader"
    shutil.rmtree(sources, ignore_errors=True)
    shutil.copytree(loader / "packages" / "loader" / "src", sources)
    shutil.copy(ROOT / "scripts" / "havok.ts", FOLDER)
    program = folder / "havok.js"
    _run(
        str(modules / ".bin" / "esbuild"), str(FOLDER / "havok.ts"), "--bundle", "--platform=node", "--format=cjs",
        f"--outfile={program}", "--log-level=error", f"--tsconfig-raw={_TYPESCRIPT}",
        f"--alias:khr-loader={sources / 'index.ts'}",
        f"--alias:havok-module={modules / '@babylonjs/havok/lib/umd/HavokPhysics_umd.js'}",
    )  # fmt: skip
    return program


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name} failed: {done.stderr.strip()[-500:]}")


def compare(program: Path, file: Path, folder: Path, seconds: float, *, tells_all: bool = False) -> bool:
    """Print how far the runs of a file are apart. Returns whether a body is far away."""
    steps = round(seconds * RATE)
    ours = _preview(file, folder, seconds)
    theirs, aside, finer = (
        poses_in_havok(program, file, folder, steps, *how) for how in ((0.0, 1), (ASIDE, 1), (0.0, FINER))
    )  # fmt: skip
    for run in (ours, theirs, aside, finer):
        if isinstance(run, str):
            print(f"{file.name}: {run}")
            return False
    names = node_names(file)
    rows = []
    for number in theirs["moving"]:
        places, beside, fine = (np.array(run["poses"][str(number)])[:, :3] for run in (theirs, aside, finer))
        path, own = _same(names[number], places[0], ours)
        own = np.concatenate((own, np.repeat(own[-1:], max(steps + 1 - len(own), 0), axis=0)))[: steps + 1]
        near, near_fine, own_chaos, own_steps = (
            np.linalg.norm(one - other, axis=1)
            for one, other in ((own, places), (own, fine), (places, beside), (places, fine))
        )  # fmt: skip
        apart = min(float(near.max()), float(near_fine.max()))
        first = float(np.argmax(near > FAR)) / RATE if (near > FAR).any() else math.nan
        chaos, by_steps = float(own_chaos.max()), float(own_steps.max())
        is_far = apart > max(FAR, by_steps) and chaos < FAR
        rows.append((is_far, apart, path, float(near.max()), first, chaos, by_steps))
    if not rows:
        print(f"{file.name}: nothing moves")
        return False
    for place, (is_far, apart, path, at_once, first, chaos, by_steps) in enumerate(sorted(rows, reverse=True)):
        if place == 0 or (tells_all and apart > 0.01):
            print(
                f"{file.name}: {'FAR ' if is_far else ''}{apart:.3f} m ({at_once:.3f} from the first run, from "
                f"{first:.2f} s on), {path}; Havok itself {chaos:.1e} m aside, {by_steps:.3f} m by its steps",
                flush=True,
            )
    return any(row[0] for row in rows)


def node_names(file: Path) -> list[str]:
    """Names of the nodes of a .gltf or .glb file."""
    data = file.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    return [node.get("name", "") for node in json.loads(data)["nodes"]]


def _same(name: str, start: Any, ours: dict[str, Any]) -> tuple[str, Any]:
    """The body that starts there; of several, the one with the name, in which USD has no full stops."""
    word = re.sub(r"\W", "_", name)

    def order(pair: tuple[str, Any]) -> tuple[float, bool]:
        return round(float(np.linalg.norm(pair[1][0] - start)), 3), pair[0].rsplit("/", 1)[-1] != word

    return min(ours.items(), key=order)


def poses_in_havok(
    program: Path, file: Path, folder: Path, steps: int, aside: float = 0.0, finer: int = 1
) -> Any:  # fmt: skip
    """The run in Havok, or why there is none; of more steps those of the others."""
    output = folder / "havok.json"
    output.unlink(missing_ok=True)
    wasm = FOLDER / "node_modules/@babylonjs/havok/lib/esm/HavokPhysics.wasm"
    numbers = map(str, (finer * steps, finer * RATE, aside))
    command = ["node", str(program), str(wasm), str(file), str(output), *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if not output.exists():
        return f"the loader refuses it: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}"
    run = json.loads(output.read_text(encoding="utf-8"))
    return {**run, "poses": {node: poses[::finer] for node, poses in run["poses"].items()}}


def _preview(file: Path, folder: Path, seconds: float) -> dict[str, Any] | str:
    """Places (n, 3) of bodies by path, with Y up, or why there are none."""
    output = folder / "preview.json"
    output.unlink(missing_ok=True)
    command = [
        sys.executable, "-m", "usdphys_addon", "--quiet", "simulate", str(file.resolve()),
        "--seconds", str(seconds), "--fps", str(RATE), "--json", str(output),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    if not output.exists():
        return (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    bodies = json.loads(output.read_text(encoding="utf-8"))["bodies"]
    places = {path: np.array(one["translation"], float) for path, one in bodies.items()}
    return {path: np.stack((one[:, 0], one[:, 2], -one[:, 1]), axis=1) for path, one in places.items()}


if __name__ == "__main__":
    raise SystemExit(main())
