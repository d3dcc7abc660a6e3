"""Build the wheel `usdphys` into dist/: the rooms that need no Blender, with the command `usdphys`.

hatchling does the work, because it takes part of a package under another name (see pyproject.toml) and writes the same
bytes for the same tree; so `pip install` of a checkout gives the same package.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import venvs

#: Seconds since 1970: time of all files in the wheel, as in the zips of `build.py`.
EPOCH = "315532800"


def build_wheel(out: Path) -> Path:
    """Build the wheel into a folder, where it replaces those of earlier builds. Raises EnvError."""
    python = venvs.make("build")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("usdphys-*.whl"):
        old.unlink()
    done = subprocess.run(
        [python, "-m", "hatchling", "build", "--target", "wheel", "--directory", out.resolve()], cwd=venvs.ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    made = sorted(out.glob("usdphys-*.whl"))
    if done.returncode != 0 or len(made) != 1:
        raise venvs.EnvError(f"{done.stdout}{done.stderr}\nThe wheel could not be built.")
    return made[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=venvs.ROOT / "dist")
    try:
        made = build_wheel(parser.parse_args().out)
    except venvs.EnvError as error:
        sys.exit(str(error))
    print(f"{made.name}  {made.stat().st_size / 1024:,.0f} KiB")


if __name__ == "__main__":
    main()
