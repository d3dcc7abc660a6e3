# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulators that run outside Blender, one row each. Command line, panel and preferences loop over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """A simulator. program: file beside this one. packages: what its Python needs, as pip takes it.

    variable: environment variable with the path of that Python. doc: what it is, for a tooltip.
    """

    name: str
    program: str
    packages: str
    variable: str
    doc: str


#: By the name that the command line takes. The preference with the path of its Python is this name with `_python`.
ENGINES: Mapping[str, Engine] = {
    "physx": Engine(
        "PhysX", "run_physx.py", "ovphysx physx-usd-schemas newton-usd-schemas", "USDPHYS_PHYSX_PYTHON",
        "PhysX, the engine of Isaac Sim and Omniverse",
    ),
    # Newton needs scipy for colliders that are meshes, and does not bring it.
    "newton": Engine(
        "Newton", "run_newton.py", '"newton[sim]" newton-usd-schemas usd-core scipy', "USDPHYS_NEWTON_PYTHON",
        "Newton with the solver of MuJoCo",
    ),
}  # fmt: skip
