# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of a compiled scene read of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from numpy import float64
from numpy.typing import NDArray

from ...core.frames import Matrix
from ..engine import Grab, Setup
from ..joint_facts import JointFacts
from ..vendor_settings import BodySettings
from ..weights import Weight
from .closures import Closure
from .surfaces import Surfaces
from .tree import Link


class Compiled(Protocol):
    """A scene that is built. ids: MuJoCo's numbers of the bodies, in the order of rows. h: s, of a step."""

    setup: Setup
    model: Any
    data: Any
    ids: NDArray[Any]
    h: float
    gravity: tuple[float, float, float]
    surfaces: Surfaces
    #: Surfaces that run, by the path of their body.
    runs: dict[str, Any]
    grabs: dict[int, Grab]

    @property
    def rows(self) -> Mapping[str, int]: ...
    @property
    def weights(self) -> Mapping[str, Weight]: ...
    @property
    def facts(self) -> Mapping[str, JointFacts]: ...
    @property
    def links(self) -> Collection[Link]: ...
    @property
    def closures(self) -> Mapping[str, Closure]: ...
    @property
    def off(self) -> Collection[str]: ...
    @property
    def settings(self) -> Mapping[str, BodySettings]: ...
    @property
    def dofs(self) -> Mapping[tuple[str, int], int]: ...
    @property
    def kinematic(self) -> Collection[str]: ...
    @property
    def led(self) -> Mapping[str, tuple[NDArray[float64], NDArray[float64]]]: ...

    def inertia_of(self, dof: int) -> float: ...
    def pose_at_step(self, path: str, frame: Matrix) -> Matrix: ...
    def is_reduced(self, path: str) -> bool: ...
