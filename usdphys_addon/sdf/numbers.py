# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers and poses in the text of elements; what is none is reported, and a usual value taken."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.validate import Issue, Severity
from ..urdf.markup import Element
from ..urdf.read import rotation_of

#: Numbers further from zero mean that there is no limit, or are no lengths, masses or angles.
_MOST = 1e15


@dataclass(slots=True)
class Numbers:
    issues: list[Issue]

    def tell(
        self, code: str, severity: Severity, element: Element, message: str, fix: str, label: str = ""
    ) -> None:  # fmt: skip
        self.issues.append(Issue(code, severity, "", label, f"{element.file}:{element.line}: {message}", fix))

    def list_of(self, element: Element | None, count: int) -> tuple[float, ...] | None:
        """The numbers in the text of an element; None if it is missing or has others."""
        if element is None:
            return None
        parts = element.text.split() if len(element.text) < 1000 else []
        try:
            values = tuple(float(part) for part in parts if "_" not in part)
        except ValueError:
            values = ()
        if len(values) == count and all(abs(value) <= _MOST for value in values):
            return values
        text = element.text.strip()[:40]
        if count == 1:
            self.tell("SdfNumber", "warning", element, f"'{text}' in {element.tag} is no number.",
                      "Write a finite number.")  # fmt: skip
        else:
            self.tell("SdfNumber", "warning", element, f"'{text}' in {element.tag} are not {count} numbers.",
                      f"Write {count} finite numbers.")  # fmt: skip
        return None

    def of(self, element: Element | None, usual: float) -> float:
        values = self.list_of(element, 1)
        return usual if values is None else values[0]

    def limit(self, element: Element | None, usual: float) -> float:
        """A number that can be infinite, or so large that it means so."""
        text = element.text.strip() if element is not None else ""
        try:
            value = float(text) if "_" not in text else math.nan
        except ValueError:
            value = math.nan
        if abs(value) > _MOST:
            return math.copysign(math.inf, value)
        return self.of(element, usual)

    def pose(self, element: Element | None) -> Matrix:
        """Matrix (4, 4) of a pose: x y z and roll pitch yaw, which can be degrees, or a quaternion x y z w."""
        if element is None or not element.text.strip():
            return np.eye(4)
        if element.get("rotation_format") == "quat_xyzw":
            values = self.list_of(element, 7)
            if values is None:
                return np.eye(4)
            x, y, z, w = values[3:]
            if not any((x, y, z, w)):
                self.tell("SdfNumber", "warning", element, "The quaternion is zero.", "Write a unit quaternion.")
            return frames.transform(values[:3], frames.matrix_of((w, x, y, z)))
        values = self.list_of(element, 6)
        if values is None:
            return np.eye(4)
        unit = math.radians(1.0) if element.get("degrees") in ("true", "1") else 1.0
        angles = [value * unit for value in values[3:]]
        return frames.transform(values[:3], rotation_of(*angles) if any(angles) else None)
