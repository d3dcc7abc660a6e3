# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges that need usd-core run in a process and environment of their own: never together with bpy."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def usd_python() -> Path:
    """The Python of the environment with usd-core ($USDPHYS_USD_PYTHON names another)."""
    python = Path(os.environ.get("USDPHYS_USD_PYTHON", ROOT / ".venv-usd" / "bin" / "python"))
    if not python.exists():
        pytest.skip("there is no .venv-usd with usd-core; `make env` makes it")
    return python


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script with usd-core."""
    command = [str(usd_python()), *map(str, arguments)]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=clean, check=False)


def validator_errors(*files: Path) -> list[str]:
    """Messages of all validators of usd-core that concern these files."""
    result = run("-c", _VALIDATE, *files)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


_VALIDATE = """
import sys
from pxr import Usd, UsdValidation
registry = UsdValidation.ValidationRegistry()
context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
for path in sys.argv[1:]:
    for error in context.Validate(Usd.Stage.Open(path)):
        print(path, error.GetName(), error.GetMessage())
"""
