# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share: the extension as a package, and the report of figures against their bounds."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Figures by name: (value, unit).
Figures = dict[str, tuple[float, str]]


def load_extension() -> Any:
    """The extension as a package, whatever the folder of the checkout is called."""
    spec = importlib.util.spec_from_file_location(
        "usdphys_ext", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["usdphys_ext"] = package
    spec.loader.exec_module(package)
    return package


def parser(doc: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--check", action="store_true", help="exit with 1 where a bound is not met")
    return made


def report(
    figures: Figures, most: Mapping[str, float], least: Mapping[str, float] | None = None, *, check: bool
) -> int:
    """Print `name value unit` per figure. Returns 1 where `check` and one is above its most or below its least."""
    failed = False
    for name, (value, unit) in figures.items():
        low, high = (least or {}).get(name), most.get(name)
        missed = (low is not None and value < low) or (high is not None and value > high)
        bound = low if high is None else high
        failed |= missed
        print(f"{name} {value:.4g} {unit}" + (f"  (bound {bound:g} missed)" if missed else ""))
    return 1 if failed and check else 0
