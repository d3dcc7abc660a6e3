# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a MuJoCo model with defaults, classes, frames and units of angles resolved.

Lengths in metres, angles in radians, quaternions with the real part first. Poses are matrices (4, 4) in the space of
the body that holds the part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.validate import Issue
from ..urdf.markup import Element

Floats = NDArray[np.float64]
INFINITE = float("inf")
#: Meshes that reach further, m, are left out: squares of their moments are no longer finite.
FARTHEST = 1e15
#: Width of the least range that MuJoCo takes for one.
NARROW = 1e-6
#: Of a geom whose file says nothing: sliding, torsional, rolling friction; and its density, kg/m^3.
FRICTION, DENSITY = (1.0, 0.005, 0.0001), 1000.0
#: Dynamics of an actuator that let its control follow later.
FILTERS = ("filter", "filterexact")


@dataclass(slots=True)
class Mesh:
    """A mesh asset. file: None where `points` are in the model itself. pose: of its own frame, which is taken out.

    scale: (3,). faces: (m, 3), empty for the hull of the points. inertia: convex, exact, legacy or shell.
    """

    name: str
    file: Path | None = None
    points: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    faces: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), np.int64))
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    pose: Floats = field(default_factory=lambda: np.eye(4))
    inertia: str = "legacy"


@dataclass(slots=True)
class HeightField:
    """heights: (rows, columns), 0 to 1, the first row at the least y; None for one that cannot be read.

    size: half lengths along x and y, height, thickness below.
    """

    size: tuple[float, ...]
    heights: Floats | None = None


@dataclass(slots=True)
class Look:
    """A material: colour with alpha, 0 to 1. texture: file of its image, if it has one."""

    name: str
    rgba: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
    texture: Path | None = None


@dataclass(slots=True)
class Geom:
    """A shape. size: as MJCF has it: radius, half lengths. mesh, field, look: names of assets.

    A primitive with a mesh stands for it; see `matter.fit`. fit_scale: its size is times that.

    mass: kg; None: from the density. contact: masks (type, affinity). others: attributes that are not read.
    """

    name: str
    type: str
    pose: Floats
    size: tuple[float, ...] = ()
    mesh: str = ""
    field: str = ""
    look: str = ""
    rgba: tuple[float, ...] | None = None
    mass: float | None = None
    density: float = DENSITY
    contact: tuple[int, int] = (1, 1)
    friction: tuple[float, ...] = FRICTION
    group: int = 0
    priority: int = 0
    condim: int = 3
    is_shell: bool = False
    fit_scale: float = 1.0
    line: int = 0
    others: dict[str, str] = dataclass_field(default_factory=dict)

    @property
    def collides(self) -> bool:
        return self.contact != (0, 0)


@dataclass(slots=True)
class Joint:
    """A joint of a body: hinge, slide, ball or free. place, axis: (3,). range: rad or m; None: without limits.

    element: in the text; None for a replica, as edits of one would be of all. others: attributes that are not read.

    The angle or distance is `reference` in the pose of the file. stiffness, damping: of a spring at `spring`.
    timing: time constant and damping ratio of a spring whose numbers are to be computed.
    """

    name: str
    type: str
    place: Floats
    axis: Floats
    range: tuple[float, float] | None = None
    reference: float = 0.0
    stiffness: float = 0.0
    spring: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    friction: float = 0.0
    force_range: tuple[float, float] | None = None
    timing: tuple[float, float] | None = None
    line: int = 0
    element: Element | None = None
    others: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Inertial:
    """mass: kg. center: (3,), m. inertia: (3, 3) about the centre, kg m^2, along the axes of the body."""

    mass: float
    center: Floats
    inertia: Floats


@dataclass(slots=True)
class Site:
    name: str
    pose: Floats


@dataclass(slots=True)
class Body:
    """pose: in the space of the parent. parent: index in `Model.bodies`; -1 for the world, which is the first.

    frame: pose (4, 4) of the frame around it in the parent. element: as of a joint.
    """

    name: str
    pose: Floats
    parent: int
    inertial: Inertial | None = None
    joints: list[Joint] = field(default_factory=list)
    geoms: list[Geom] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    is_mocap: bool = False
    gravity_compensation: float = 0.0
    frame: Floats = field(default_factory=lambda: np.eye(4))
    element: Element | None = None


@dataclass(slots=True)
class Actuator:
    """force = gain * control + bias, of the target times the gear; see MuJoCo's `general` for types and numbers.

    kind: of the target: joint, site, body or tendon. gains, biases, dynamics: numbers of the types. gears: (6,).
    ratio: damping as a share of the critical one, which is in `biases` once masses are known; 0 without.
    force, control, activity: ranges; None without one. told: its control at the start. reference: the site that the
    place of a site is measured from, empty for the world.
    """

    name: str
    target: str
    kind: str = "joint"
    gain_type: str = "fixed"
    gains: tuple[float, ...] = (1.0,)
    bias_type: str = "none"
    biases: tuple[float, ...] = ()
    dynamics_type: str = "none"
    dynamics: tuple[float, ...] = (1.0,)
    gears: tuple[float, ...] = (1.0,)
    ratio: float = 0.0
    force: tuple[float, float] | None = None
    control: tuple[float, float] | None = None
    activity: tuple[float, float] | None = None
    told: float = 0.0
    reference: str = ""
    group: int = 0
    line: int = 0
    element: Element | None = None

    @property
    def gain(self) -> float:
        return self.gains[0] if self.gains else 1.0

    @property
    def gear(self) -> float:
        return self.gears[0] if self.gears else 1.0

    @property
    def bias(self) -> tuple[float, float, float]:
        """Constant, and per position and velocity of what moves."""
        one, two, three = (*self.biases, 0.0, 0.0, 0.0)[:3] if self.bias_type == "affine" else (0.0, 0.0, 0.0)
        return one, two, three

    @property
    def is_affine(self) -> bool:
        """True if the force is linear in control, position and velocity, once a filter of the control has settled."""
        return (self.gain_type == "fixed" and self.bias_type in ("none", "affine")
                and self.dynamics_type in ("none", *FILTERS))  # fmt: skip

    @property
    def is_servo(self) -> bool:
        return self.kind == "joint" and self.is_affine and bool(self.bias[1] or self.bias[2])


#: How the solver holds an equality, by attribute of MJCF: what MuJoCo assumes. A file may give the first numbers alone.
SOFTNESS = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0), "torquescale": (1.0,)}
#: The attributes of USD for the same.
SOFT_ATTRIBUTES = {"solref": "mjc:solref", "solimp": "mjc:solimp", "torquescale": "mjc:torqueScale"}


@dataclass(slots=True)
class Equality:
    """connect, weld or joint. one, other: bodies, or joints, empty for the world; two sites where `by_sites` is true.

    anchor: (3,) in the space of `one`, of a weld in the space of `other`; sites need none. relative: where the anchor
    is to be in the space of the first body, with the axes of the other one, (4, 4); None: where it is in the file.
    polynomial: of joints. softness: how the solver holds it, by the attributes in SOFTNESS, where the file says so.
    """

    kind: str
    name: str
    one: str
    other: str
    anchor: Floats
    relative: Floats | None = None
    polynomial: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0, 0.0)
    is_active: bool = True
    softness: dict[str, tuple[float, ...]] = field(default_factory=dict)
    by_sites: bool = False


@dataclass(slots=True)
class Rope:
    """A spatial tendon straight from one site to another, of which the file says no more than its range.

    range: of the distance between them, m. element: in the text.
    """

    name: str
    sites: tuple[str, str]
    range: tuple[float, float]
    element: Element


@dataclass(slots=True)
class Model:
    """A model. bodies: parents first; the first is the world. excludes: pairs of names. files: all that were read.

    classes: attributes by name of a class and tag; main: the class of what has none.
    root: the tree of the text, with what it includes in place. assets: other files that it names and that are there;
    missing: names of those that are not.
    """

    name: str
    path: Path
    bodies: list[Body] = field(default_factory=list)
    meshes: dict[str, Mesh] = field(default_factory=dict)
    fields: dict[str, HeightField] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    equalities: list[Equality] = field(default_factory=list)
    ropes: list[Rope] = field(default_factory=list)
    excludes: list[tuple[str, str]] = field(default_factory=list)
    gravity: Floats = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    options: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    compiler: dict[str, str] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    assets: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {"main": {}})
    main: str = "main"
    root: Element = field(default_factory=lambda: Element("mujoco"))


def by_target(actuators: Iterable[Actuator]) -> dict[str, list[Actuator]]:
    """Actuators by what they move."""
    found: dict[str, list[Actuator]] = {}
    for one in actuators:
        found.setdefault(one.target, []).append(one)
    return found
