# SPDX-License-Identifier: GPL-3.0-or-later
"""The demonstration: build three scenes, convert them with the real command line, judge what came out, draw a picture.

Everything lands in build/demo. Exit status 1 where anything is not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import venvs

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from usdphys_addon.core.words import tally  # noqa: E402

#: Longest time of one command, for one that hangs.
SECONDS = 600
PICTURE_BYTES = (50_000, 400_000)

#: File made -> (file it is made of, options of `convert`).
CONVERSIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "demo.usda": ("demo.blend", ()),
    "demo_cm_y.usdc": ("demo.blend", ("--meters-per-unit", "0.01", "--up-axis", "Y")),
    "demo_flat.usda": ("demo.blend", ("--hierarchy", "flat")),
    "demo_reset.usdz": ("demo.blend", ("--hierarchy", "reset")),
    "demo_animated.usdc": ("demo.blend", ("--animation",)),
    "rigid.usda": ("rigid.blend", ("--from-rigid-bodies",)),
    "generators.usda": ("generators.blend", ()),
    "generators_newton.usda": ("generators.blend", ("--collection", "Newton")),
}
#: Files with what simulators are to run, and the simulators; whether they take the file.
TARGETS = (
    ("demo.usda", "physx", True), ("demo.usda", "newton", True), ("generators.usda", "physx", True),
    ("generators.usda", "newton", False), ("generators_newton.usda", "physx", True),
    ("generators_newton.usda", "newton", True),
)  # fmt: skip


class DemoError(Exception):
    """Something is not as it should be; the message is for the user."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="where the files go")
    parser.add_argument("--usd-python", default=str(venvs.python_in(ROOT / ".venv-usd")), metavar="PYTHON",
                        help="a Python with usd-core, for the independent judge")  # fmt: skip
    parser.add_argument("--update-docs", action="store_true", help="copy the picture to docs/demo.png")
    options = parser.parse_args()
    out = options.out.resolve()
    start = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="usdphys-demo-") as resources:
            demonstrate(out, options.usd_python, {**os.environ, "BLENDER_USER_RESOURCES": resources})
        if options.update_docs:
            shutil.copyfile(out / "demo.png", ROOT / "docs" / "demo.png")
    except DemoError as error:
        print(f"demo: error: {error}", file=sys.stderr)
        return 1
    print(f"all as expected, in {time.monotonic() - start:.0f} s; the picture is {shown(out / 'demo.png')}")
    return 0


def demonstrate(out: Path, usd_python: str, environment: dict[str, str]) -> None:
    """All steps, in order. Raises DemoError at the first one that fails."""
    if not Path(usd_python).is_file():
        raise DemoError(f"There is no '{usd_python}' with usd-core; run 'make env' or name another with --usd-python.")
    out.mkdir(parents=True, exist_ok=True)
    for name in ("expected.json", "demo.png", "demo.blend", "rigid.blend", "generators.blend", *CONVERSIONS):
        (out / name).unlink(missing_ok=True)
    run([sys.executable, str(ROOT / "scripts" / "demo_scene.py"), str(out)], environment)
    expected: dict[str, Any] = json.loads((out / "expected.json").read_text(encoding="utf-8"))
    size = (out / "demo.png").stat().st_size
    if not PICTURE_BYTES[0] < size < PICTURE_BYTES[1]:
        raise DemoError(f"The picture has {size} bytes, which no good picture has.")
    print(f"built      {shown(out / 'demo.blend')}, {shown(out / 'rigid.blend')}; picture {size // 1000} kB")
    for name, (source, options) in CONVERSIONS.items():
        convert(out / source, out / name, options, environment, expected["counts"])
    for name in ("demo.blend", "generators.blend", *CONVERSIONS):
        found = run([sys.executable, "-m", "usdphys_addon", "validate", str(out / name)], environment)
        print(f"validated  {shown(out / name)}: {found.splitlines()[-1].rpartition(': ')[2]}")
    for name, target, takes in TARGETS:
        command = [sys.executable, "-m", "usdphys_addon", "validate", "--target", target, str(out / name)]
        found = run(command, environment, status=0 if takes else 1)
        print(f"validated  {shown(out / name)} for {target}: {found.splitlines()[-1].rpartition(': ')[2]}")
        if not takes:
            print(f"           {target} refuses walls, nets, pulleys and lifts; it takes generators_newton.usda")
    judge(out, usd_python, expected)
    plain = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    print("one robot in three formats")
    for line in run([usd_python, str(ROOT / "scripts" / "demo_robot.py"), str(out)], plain).splitlines():
        print(f"  {line}")


def convert(
    source: Path, target: Path, options: tuple[str, ...], environment: dict[str, str], counts: dict[str, int]
) -> None:
    """Convert with the command line; what it says it wrote must be what the playground holds."""
    command = [sys.executable, "-m", "usdphys_addon", "convert", str(source), str(target), *options]
    found = run(command, environment).splitlines()[-1].rpartition(": ")[2]
    print(f"converted  {' '.join([shown(target), *options])}: {found}")
    if source.name == "demo.blend":
        wanted = ", ".join(tally(number, kind) for kind, number in counts.items() if number)
        if found != wanted:
            raise DemoError(f"'{target.name}' should hold {wanted}, and holds {found}.")


def judge(out: Path, usd_python: str, expected: dict[str, Any]) -> None:
    """Let OpenUSD itself validate and parse every file, in a process without Blender."""
    tables = {
        "demo.blend": expected["parsed"], "rigid.blend": expected["parsed_rigid"],
        "generators.blend": expected["parsed_generators"],
    }  # fmt: skip
    table = {name: tables[source] for name, (source, _) in CONVERSIONS.items()}
    table["generators_newton.usda"] = expected["parsed_newton"]
    (out / "judge.json").write_text(json.dumps(table), encoding="utf-8")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    found = run([usd_python, str(ROOT / "scripts" / "judge.py"), str(out / "judge.json")], environment)
    print("judged by OpenUSD itself")
    print("\n".join(f"  {line}" for line in found.splitlines()))


def run(command: list[str], environment: dict[str, str], *, status: int = 0) -> str:
    """Standard output of a command; its standard error is shown only when it fails. status: with which it must end."""
    what = " ".join(Path(part).name for part in command[1:4])
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise DemoError(f"'{what} ...' did not end within {SECONDS} s.") from None
    if done.returncode != status or not (done.stdout.strip() or "demo_scene" in what):
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise DemoError(f"'{what} ...' ended with status {done.returncode}.")
    return done.stdout


def shown(path: Path) -> str:
    """A path as short as can be."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.exit(main())
