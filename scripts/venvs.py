"""Virtual environments, one per dependency group of pyproject.toml; remade when the group or its Python changes.

`venvs.py env [BPY]` makes the developer's pair: .venv (bpy) and .venv-usd. Standard library only.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS: dict[str, list[str]] = PYPROJECT["dependency-groups"]
PYTHON_OF: dict[str, str] = PYPROJECT["tool"]["usdphys"]["python"]
IS_WINDOWS = os.name == "nt"
BPY_GROUPS = sorted(group for group in GROUPS if group.startswith("bpy-"))
#: In an environment: the Python that it was made from, then its packages, a line each.
_STAMP = "made-from.txt"


class EnvError(Exception):
    """An environment cannot be made; the message is one sentence for the user."""


def python_in(place: Path) -> Path:
    """The Python of a virtual environment on this system."""
    return place / "Scripts" / "python.exe" if IS_WINDOWS else place / "bin" / "python"


def packages_in(place: Path) -> Path:
    """The folder of the packages of a virtual environment on this system; of one that is not there, any."""
    if IS_WINDOWS:
        return place / "Lib" / "site-packages"
    return next(place.glob("lib/python3*/site-packages"), place)


@cache
def find_python(version: str) -> str | None:
    """An interpreter of this minor version that really runs and can make environments (a pyenv shim may do neither)."""
    # In an environment, the Python that it was made from: tests there and make want the same ones.
    stamp = Path(sys.prefix, _STAMP)
    own = stamp.read_text(encoding="utf-8").partition("\n")[0] if stamp.is_file() else sys.executable
    candidates = [own, shutil.which(f"python{version}"), shutil.which("python3")]
    candidates += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python3")), reverse=True)
    candidates += [f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"]
    candidates += [f"/Library/Frameworks/Python.framework/Versions/{version}/bin/python3", _of_launcher(version)]
    probe = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for candidate in filter(None, candidates):
        try:
            done = subprocess.run([candidate, "-c", probe], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def _of_launcher(version: str) -> str | None:
    """On Windows, the interpreter that the launcher `py` starts for a version."""
    if not IS_WINDOWS or not shutil.which("py"):
        return None
    command = ["py", f"-{version}", "-c", "import sys; print(sys.executable)"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or None


def python_for(group: str) -> str | None:
    versions = [PYTHON_OF[group]] if group in PYTHON_OF else ["3.11", "3.13", "3.12", "3.14"]
    return next(filter(None, map(find_python, versions)), None)


def folder(group: str) -> Path:
    return ROOT / ".venvs" / group if group in BPY_GROUPS else ROOT / f".venv-{group}"


def make(group: str) -> Path:
    """Return the Python of the group's environment, making or remaking it when it is not as pinned."""
    if not _is_as_pinned(group):
        with _alone():
            # Another process may have made it meanwhile.
            if not _is_as_pinned(group):
                _make(group)
    return python_in(folder(group))


def _is_as_pinned(group: str) -> bool:
    """Whether the packages are the pinned ones.

    The name of the Python does not count: one has several, and the link to one that is gone dangles.
    """
    stamp = folder(group) / _STAMP
    if not python_in(folder(group)).exists() or not stamp.exists():
        return False
    return stamp.read_text(encoding="utf-8").split("\n")[1:] == GROUPS[group]


def _make(group: str) -> None:
    base = python_for(group)
    if base is None:
        raise EnvError(f"{group} needs Python {PYTHON_OF.get(group, '3.11')}, which this machine has not.")
    place = folder(group)
    print(f"making {place.relative_to(ROOT)}: {', '.join(GROUPS[group])}", flush=True)
    run_quietly([base, "-m", "venv", "--clear", str(place)])
    install = [str(python_in(place)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    run_quietly([*install, "--retries", "5", *GROUPS[group]])
    (place / _STAMP).write_text("\n".join([base, *GROUPS[group]]), encoding="utf-8")


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time makes environments: suites that run side by side want the same ones."""
    with (ROOT / ".venv-lock").open("ab") as lock:
        if IS_WINDOWS:
            import msvcrt

            while True:
                # It gives up after ten seconds.
                with suppress(OSError):
                    msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def runnable_bpy() -> list[str]:
    """The bpy groups for which this machine has a Python."""
    return [group for group in BPY_GROUPS if python_for(group)]


def make_developer_env(bpy_version: str | None) -> None:
    """.venv is a link to one of .venvs, so that choosing another bpy costs nothing and tests share it."""
    if bpy_version is None:
        here = "{}.{}".format(*sys.version_info[:2])
        fitting = [group for group in runnable_bpy() if PYTHON_OF[group] == here] or runnable_bpy()
        if not fitting:
            raise EnvError("bpy needs Python 3.11 or 3.13, and this machine has neither.")
        group = fitting[-1]
    else:
        group = f"bpy-{bpy_version}"
        if group not in BPY_GROUPS:
            raise EnvError(f"No bpy {bpy_version} is pinned here; choose from {', '.join(g[4:] for g in BPY_GROUPS)}.")
    make(group)
    link = ROOT / ".venv"
    if link.exists() and not is_link(link):
        raise EnvError(".venv is a folder that was not made by 'make env'; please remove it.")
    link.unlink(missing_ok=True)
    link_folder(link, folder(group))
    make("usd")
    print(f".venv is {group}, .venv-usd is {GROUPS['usd'][0]}")


def is_link(path: Path) -> bool:
    """True for a symbolic link, and for a junction of Windows."""
    try:
        path.readlink()
    except OSError:
        return False
    return True


def link_folder(link: Path, target: Path) -> None:
    if IS_WINDOWS:
        import _winapi

        # Unlike a symbolic link, a junction needs no rights.
        _winapi.CreateJunction(str(target), str(link))
    else:
        link.symlink_to(os.path.relpath(target, link.parent))


def run_quietly(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print("\n".join(done.stdout.splitlines()[-20:]), file=sys.stderr)
        raise EnvError(f"This command failed: {' '.join(command[1:5])} ...")


if __name__ == "__main__":
    if sys.argv[1:2] != ["env"]:
        sys.exit(__doc__)
    try:
        make_developer_env(sys.argv[2] if len(sys.argv) > 2 else None)
    except EnvError as error:
        sys.exit(str(error))
