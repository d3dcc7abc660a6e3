# SPDX-License-Identifier: GPL-3.0-or-later
"""Do glTF files move in the preview as in the viewer of the KHR extensions' authors? Needs node and npm.

    .venv/bin/python scripts/compare_havok.py --loader FOLDER [--seconds S] [--check] FILE...

--loader: a copy of github.com/eoineoineoin/glTF_Physics_Babylon, whose sources are bundled with `havok.ts`. Babylon.js
and Havok are installed once into .venv-havok. For each file: the body that is farthest from its place in Havok at any
frame, when it is first 5 cm away, and how far a start 1e-6 m aside takes Havok itself: what that makes larger is chaos.
With --check the exit status is 1 where a body is more than 5 cm away, and Havok's own two runs are not.
"""

from __future__ import annotations

import argparse
import json
import math
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
#: Decorators of Babylon.js are those of older TypeScript.
_TYPESCRIPT = '{"compilerOptions":{"experimentalDecorators":true,"useDefineForClassFields":false}}'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--loader", required=True, type=Path, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    far = 0
    with tempfile.TemporaryDirectory() as made:
        program = bundled(options.loader, Path(made))
        for file in options.files:
            far += compare(program, file, Path(made), options.seconds)
    print(f"{far} of {len(options.files)} files are more than {FAR} m away, and are not chaotic")
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


def compare(program: Path, file: Path, folder: Path, seconds: float) -> bool:
    """Print how far the runs of a file are apart. Returns whether that is too far and no chaos."""
    steps = round(seconds * RATE)
    ours = _preview(file, folder, seconds)
    theirs, aside = (_havok(program, file, folder, steps, away) for away in (0.0, ASIDE))
    if isinstance(theirs, str) or isinstance(ours, str):
        print(f"{file.name}: {theirs if isinstance(theirs, str) else ours}")
        return False
    worst = (0.0, "every body", 0.0, math.nan)
    for number in theirs["moving"]:
        places = np.array(theirs["poses"][str(number)])[:, :3]
        chaos = 0.0
        if not isinstance(aside, str):
            chaos = float(np.linalg.norm(places - np.array(aside["poses"][str(number)])[:, :3], axis=1).max())
        # Names differ in glTF and USD: the body that starts nearest.
        name, own = min(ours.items(), key=lambda pair: float(np.linalg.norm(pair[1][0] - places[0])))
        own = np.concatenate((own, np.repeat(own[-1:], max(steps + 1 - len(own), 0), axis=0)))[: steps + 1]
        apart = np.linalg.norm(own - places, axis=1)
        first = float(np.argmax(apart > FAR)) / RATE if (apart > FAR).any() else math.nan
        worst = max(worst, (float(apart.max()), name, chaos, first))
    apart, name, chaos, first = worst
    print(f"{file.name}: {apart:.3f} m, {name}, from {first:.2f} s on; Havok itself {chaos:.1e} m")
    return apart > FAR and chaos < FAR


def _havok(program: Path, file: Path, folder: Path, steps: int, aside: float) -> Any:
    """The run in Havok, or why there is none."""
    output = folder / "havok.json"
    output.unlink(missing_ok=True)
    wasm = FOLDER / "node_modules/@babylonjs/havok/lib/esm/HavokPhysics.wasm"
    command = ["node", str(program), str(wasm), str(file), str(output), str(steps), str(RATE), str(aside)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if not output.exists():
        return f"the loader refuses it: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}"
    return json.loads(output.read_text(encoding="utf-8"))


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
