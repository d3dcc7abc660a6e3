# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes every robot of a folder through Blender and back, and says which came through.

    .venv/bin/python scripts/robots.py FOLDER [--out FOLDER] [--judge TOOLS] [--package NAME=PATH] [--only WORD]
    .venv/bin/python scripts/robots.py FOLDER --quick

FOLDER holds .urdf and .xacro files, such as a collection of public robots; each below its own packages. Each goes to
.usda, to .blend, from there to .usda and .urdf, and from the .usda to .urdf; with --quick to .blend only. With --judge,
the folder of urdf_check.py and urdf_diff.py, the files are compared with the URDF by these, in the Python of usd-core;
those of a xacro with the URDF that was written from its .blend.
Prints a row for each robot: score of the .usda, of the .usda from the .blend, whether both URDFs are the same robot,
time. Exit status 1 if a command failed with anything but a refusal in one sentence.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench
import venvs


def robots_of(folder: Path, only: str) -> list[Path]:
    """The files that describe a robot: of xacro those that have a name, as others are parts of them."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".urdf", ".xacro") and only in str(path))
    is_named = re.compile(rb"<robot[^>]*\bname\s*=").search
    return [path for path in files if path.suffix == ".urdf" or is_named(path.read_bytes())]


def judged(tools: Path, script: str, *arguments: str) -> str:
    """What the judge says last: "score 0.99", "same" or the number of differences."""
    python = str(venvs.python_in(bench.ROOT / ".venv-usd"))
    ended = subprocess.run(
        [python, str(tools / script), *arguments], capture_output=True, text=True, check=False, timeout=600
    )  # fmt: skip
    if script == "urdf_diff.py":
        return "same" if ended.returncode == 0 else f"{len(ended.stdout.splitlines())} differences"
    found = re.findall(r"score\s+(\d[\d.]*)", ended.stdout)
    return str(found[-1]) if found else f"status {ended.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build/robots"))
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--only", default="", help="files whose path holds this")
    parser.add_argument("--quick", action="store_true", help="import only")
    options = parser.parse_args()
    bench.load_extension()
    from usdphys_ext.usdphys_addon import cli

    packages = [part for package in options.package for part in ("--package", package)]
    failed = refused = 0
    options.out.mkdir(parents=True, exist_ok=True)
    files = robots_of(options.folder, options.only)
    for number, file in enumerate(files):
        base = options.out / f"{number:03d}_{file.stem}"
        out = {kind: f"{base}{kind}" for kind in (".usda", ".blend", "_b.usda", "_b.urdf", "_u.urdf")}
        steps = (
            (str(file), out[".usda"], *packages), (str(file), out[".blend"], *packages),
            (out[".blend"], out["_b.usda"]), (out[".blend"], out["_b.urdf"]), (out[".usda"], out["_u.urdf"]),
        )  # fmt: skip
        steps = steps[1:2] if options.quick else steps
        start, row = time.perf_counter(), []
        for step in steps:
            Path(step[1]).unlink(missing_ok=True)
            answer = cli.perform(["convert", *step])
            # Converting reports warnings by a status of its own; a file that is there is a success.
            if Path(step[1]).is_file():
                continue
            error = answer.get("error") or f"status {answer['exit']}"
            is_refusal = bool(answer.get("error")) and "\n" not in error and "unexpected" not in error.lower()
            refused, failed = refused + is_refusal, failed + (not is_refusal)
            row.append(f"{'refused' if is_refusal else 'FAILED'} {Path(step[1]).name}: {error[:300]}")
        spent = time.perf_counter() - start
        if options.judge is not None and not row and not options.quick:
            plain = str(file) if file.suffix == ".urdf" else out["_b.urdf"]
            for script, kinds in (("urdf_check.py", (".usda", "_b.usda")), ("urdf_diff.py", ("_b.urdf", "_u.urdf"))):
                others = [out[kind] for kind in kinds if out[kind] != plain]
                row += [judged(options.judge, script, plain, other, *packages) for other in others]
        print(f"{file.relative_to(options.folder)}: {', '.join(row)} ({spent:.1f} s)", flush=True)
    print(f"{len(files)} robots, {refused} refusals, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
