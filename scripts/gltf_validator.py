# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors and warnings that the validator of Khronos finds in glTF files; needs node and npm.

    python3 scripts/gltf_validator.py FILE...

The validator is the npm package gltf-validator. It is taken from NODE_PATH, or installed once into .venv-node. It does
not know the physics extensions, and judges the rest of a file. Prints a line per finding; exit status 1 where there is
one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "gltf-validator@2.0.0-dev.3.10"
FOLDER = ROOT / ".venv-node"
PROGRAM = """
const validator = require("gltf-validator"), fs = require("fs"), path = require("path");
(async () => {
  const found = [];
  for (const file of process.argv.slice(1)) {
    const read = uri => Promise.resolve(new Uint8Array(fs.readFileSync(path.join(path.dirname(file), uri))));
    const options = { maxIssues: 1000, externalResourceFunction: uri => read(decodeURIComponent(uri)) };
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), options);
    for (const one of report.issues.messages.filter(one => one.severity < 2))
      found.push(`${path.basename(file)}: ${one.code} ${one.pointer || ""} ${one.message}`);
  }
  console.log(JSON.stringify(found));
})();
"""


class ValidatorError(Exception):
    """The validator cannot be run; the message is one sentence for the user."""


def modules() -> str:
    """A NODE_PATH that has the validator. Raises ValidatorError."""
    if shutil.which("node") is None:
        raise ValidatorError("node is not installed")
    for place in (os.environ.get("NODE_PATH", ""), str(FOLDER / "node_modules")):
        command = ["node", "-e", 'require("gltf-validator")']
        done = subprocess.run(command, env={**os.environ, "NODE_PATH": place}, capture_output=True, check=False)
        if done.returncode == 0:
            return place
    if shutil.which("npm") is None:
        raise ValidatorError("npm is not installed")
    # Several test runs may install it at once.
    with tempfile.TemporaryDirectory(prefix=".venv-node-", dir=ROOT) as made:
        command = ["npm", "install", "--prefix", made, "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ValidatorError(f"npm cannot install {PACKAGE}: {reason}")
        FOLDER.mkdir(exist_ok=True)
        shutil.copytree(Path(made) / "node_modules", FOLDER / "node_modules", dirs_exist_ok=True)
    return str(FOLDER / "node_modules")


def findings(*files: Path) -> list[str]:
    """The errors and warnings in files, each after the name of its file. Raises ValidatorError."""
    if not files:
        return []
    environment = {**os.environ, "NODE_PATH": modules()}
    done = subprocess.run(
        ["node", "-e", PROGRAM, *map(str, files)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ValidatorError(f"the validator failed: {done.stderr.strip()[-300:]}")
    found: list[str] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        problems = findings(*map(Path, sys.argv[1:]))
    except ValidatorError as error:
        sys.exit(str(error))
    print("\n".join(problems) or f"{len(sys.argv) - 1} files, no error and no warning")
    sys.exit(1 if problems else 0)
