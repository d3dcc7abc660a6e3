# SPDX-License-Identifier: GPL-3.0-or-later
"""Fidelity of import and export on files that others wrote: USD -> .blend -> USD, judged by an independent comparer.

    .venv/bin/python scripts/roundtrip.py [FILE ...] [--out FOLDER] [--usd-python PYTHON] [--twice]
        [--composed | --both | --units] [--vendor]

Without files: every USD of the shared set of test files, and those that the tests author themselves. Prints a row
per file and way; exit status 1 where a score is below 1. The ways: the source with the edits, which is the default,
and as Blender composes the scene (--composed). --units does both in other units: files in metres with Z up in
centimetres with Y up, others in metres with Z up; the comparer looks at values in SI. --vendor also asks for all that
simulators' schemas say. --twice also makes a second round trip and compares the two files byte by byte.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import venvs
from comparer import Comparer

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
TOOL = SHARED / "tools" / "compare_physics.py"


def shared_files() -> list[Path]:
    """Every USD of the set that is opened by itself: no payloads."""
    devset = SHARED / "devset"
    found = [*devset.glob("usd/*.usd*"), *devset.glob("usd/*/*.usda"), *devset.glob("urdf/*/reference_usd/*.usda")]
    return sorted(path for path in found if "Payload" not in path.parts)


def authored_files(folder: Path) -> list[Path]:
    """The files of the tests that are made from text, one per corner of UsdPhysics."""
    sys.path[:0] = [str(ROOT / "tests" / "blender"), str(ROOT / "tests")]
    import authored_stages

    return authored_stages.write(folder)


def convert(*arguments: object) -> str:
    """Run the command line; returns the reason where it fails, else nothing."""
    command = [sys.executable, "-m", "usdphys_addon", "convert", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("usdphys: error")]
    return lines[-1] if lines else f"exit status {done.returncode}"


def is_metric(path: Path, python: Path) -> bool:
    """Whether a USD file is in metres with Z up."""
    asked = (
        "import sys; from pxr import Usd, UsdGeom; s = Usd.Stage.Open(sys.argv[1], Usd.Stage.LoadNone); "
        "print(UsdGeom.GetStageMetersPerUnit(s) == 1.0 and UsdGeom.GetStageUpAxis(s) == 'Z')"
    )
    done = subprocess.run([python, "-c", asked, path], capture_output=True, text=True, timeout=300, check=False)
    return done.stdout.strip().endswith("True")


def exported(blend: Path, name: str, folder: Path, way: str, *, to_centimetres: bool) -> tuple[Path, str]:
    """(USD file of a round trip, reason of a failure). to_centimetres: of the ways in other units."""
    target = folder / way / f"{name}.usda"
    target.parent.mkdir(exist_ok=True)
    flags = ["--composed"] if way.startswith("composed") else []
    if way.endswith("units"):
        flags += ["--meters-per-unit", *(("0.01", "--up-axis", "Y") if to_centimetres else ("1", "--up-axis", "Z"))]
    # What the file has for errors is not ours to refuse here: it has to come back as it was.
    return target, convert(blend, target, *flags)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "roundtrip")
    parser.add_argument("--usd-python", type=Path, default=venvs.python_in(ROOT / ".venv-usd"))
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--composed", action="store_const", dest="ways", const=("composed",), default=("source",))
    ways.add_argument("--both", action="store_const", dest="ways", const=("source", "composed"))
    ways.add_argument("--units", action="store_const", dest="ways", const=("units", "composed_units"))
    parser.add_argument("--vendor", action="store_true", help="what simulators' schemas say must be whole, too")
    parser.add_argument("--twice", action="store_true", help="two round trips must give the same file as one")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print("The folder of shared test files is not beside the checkout (SHARED_DIR names another).")
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    files = [path.resolve() for path in options.files] or [*shared_files(), *authored_files(options.out / "authored")]
    whole = dict.fromkeys(options.ways, 0)
    comparer = Comparer(TOOL, options.usd_python)
    print(f"{'score':>7} {'facts':>6} {'vendor':>7}  {'way':14} file")
    for path in files:
        name = "_".join(path.parts[-3:]).replace(" ", "_")
        blend = options.out / f"{name}.blend"
        unread = convert(path, blend)
        to_centimetres = options.ways[0] == "units" and is_metric(path, options.usd_python)
        for way in options.ways:
            target, reason = (
                exported(blend, name, options.out, way, to_centimetres=to_centimetres) if not unread else (path, unread)
            )
            found = {"score": 0.0, "diffs": [reason]} if reason else comparer.compare(path, target)
            again = ""
            if options.twice and not reason:
                second = options.out / f"{name}_twice.blend"
                reason = convert(target, second)
                other, reason = (
                    exported(second, f"{name}_twice", options.out, way, to_centimetres=to_centimetres)
                    if not reason
                    else (target, reason)
                )
                is_same = not reason and other.read_bytes() == target.read_bytes()
                again = "" if is_same else "  second trip differs"
            vendor = found.get("vendor")
            share = f"{vendor:.4f}" if isinstance(vendor, float) else "-"
            print(
                f"{found['score']:7.4f} {found.get('facts', 0):>6} {share:>7}  {way:14} {path.name}{again}", flush=True
            )
            is_whole = found["score"] == 1.0 and not (options.vendor and isinstance(vendor, float) and vendor < 1.0)
            if is_whole and not again:
                whole[way] += 1
            else:
                for row in found["diffs"][:5]:
                    print(f"        {row}")
    comparer.close()
    for way, count in whole.items():
        print(f"{count} of {len(files)} files come back whole ({way})")
    return 0 if all(count == len(files) for count in whole.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
