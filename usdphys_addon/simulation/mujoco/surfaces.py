# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction and restitution of the colliders of a scene, and how those of two are combined. Without MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..layout import ContactMaterial

Floats = NDArray[np.float64]
#: Words of PhysX for how two coefficients are combined, the strongest last.
MODES = ("average", "min", "multiply", "max")


class Surfaces:
    """values (n, 3): dynamic and static friction and restitution of n shapes. modes (n, 2): index in `MODES` of
    friction and restitution.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[float, float, float]] = []
        self._modes: list[tuple[int, int]] = []
        self._by_material: dict[str, list[int]] = {}
        self.values: Floats = np.zeros((0, 3))
        self.modes: NDArray[np.int64] = np.zeros((0, 2), np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, material: ContactMaterial, modes: tuple[str, str]) -> None:
        """One more shape."""
        self._by_material.setdefault(material.material, []).append(len(self._rows))
        self._rows.append(
            (material.friction, max(material.static_friction, material.friction), min(material.restitution, 1.0))
        )
        self._modes.append((MODES.index(modes[0]), MODES.index(modes[1])))

    def finish(self, numbers: NDArray[np.int64]) -> None:
        """All shapes are there. numbers (n,): of each in the compiled model, in the order in which they were added."""
        self.values = np.zeros((len(numbers), 3))
        self.modes = np.zeros((len(numbers), 2), np.int64)
        self.values[numbers] = np.array(self._rows).reshape(-1, 3)
        self.modes[numbers] = np.array(self._modes, np.int64).reshape(-1, 2)
        self._by_material = {name: numbers[rows].tolist() for name, rows in self._by_material.items()}

    def change(self, material: str, friction: float, restitution: float | None, static: float | None) -> None:
        """As `Engine.set_surface`."""
        rows = self._by_material.get(material, [])
        self.values[rows, 0] = friction
        self.values[rows, 1] = friction if static is None else max(static, friction)
        if restitution is not None:
            self.values[rows, 2] = min(restitution, 1.0)

    def combined(self, pairs: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """Dynamic and static friction and restitution (n,) of pairs (n, 2) of shapes."""
        first, second = self.values[pairs[:, 0]], self.values[pairs[:, 1]]
        modes = np.maximum(self.modes[pairs[:, 0]], self.modes[pairs[:, 1]])[:, [0, 0, 1]]
        mixed = np.choose(
            modes, [(first + second) / 2.0, np.minimum(first, second), first * second, np.maximum(first, second)]
        )
        return mixed[:, 0], mixed[:, 1], mixed[:, 2]
