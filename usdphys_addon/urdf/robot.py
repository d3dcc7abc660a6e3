# SPDX-License-Identifier: GPL-3.0-or-later
"""A robot as a URDF or an SDF describes it: metres, kilograms, radians. Each part keeps its element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.validate import Issue
from .markup import Element
from .mesh_data import MeshData

Color = tuple[float, float, float, float]
#: Joint types of URDF with one degree of freedom.
SINGLE = frozenset({"revolute", "continuous", "prismatic"})
JOINT_TYPES = SINGLE | {"fixed", "floating", "planar"}
LOOP_TYPES = SINGLE | {"fixed", "spherical"}


@dataclass(slots=True)
class Material:
    """rgba: sRGB. texture: the URI as it was written. Both are None in a mere reference by name."""

    name: str
    rgba: Color | None = None
    texture: str | None = None


@dataclass(frozen=True, slots=True)
class Surface:
    """How a collision touches others. friction: static, then dynamic."""

    friction: tuple[float, float]
    restitution: float = 0.0


@dataclass(slots=True)
class Shape:
    """A visual or collision. pose: (4, 4) in the link. kind: box, sphere, cylinder, capsule, cone, plane or mesh.

    size: edges of a box, two of a plane, (radius,) or (radius, length). uri, scale: of a mesh. mesh: one that no file
    has; its uri tells it from others.
    """

    kind: str
    pose: Matrix
    element: Element
    name: str = ""
    size: tuple[float, ...] = ()
    uri: str = ""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    material: Material | None = None
    mesh: MeshData | None = None
    surface: Surface | None = None


@dataclass(slots=True)
class Inertial:
    """pose: (4, 4) of the centre of mass and the axes of the tensor, in the link. tensor: (3, 3); None if missing."""

    mass: float
    pose: Matrix
    tensor: Matrix | None
    element: Element

    @property
    def in_link(self) -> Matrix | None:
        """The tensor (3, 3) about the centre of mass, along the axes of the link."""
        if self.tensor is None:
            return None
        turn = self.pose[:3, :3]
        return np.asarray(turn @ self.tensor @ turn.T, float)


@dataclass(slots=True)
class Link:
    """floats: no gravity pulls it. self_collides: False: as a base, its robot does not collide with itself."""

    name: str
    element: Element
    inertial: Inertial | None = None
    visuals: list[Shape] = field(default_factory=list)
    collisions: list[Shape] = field(default_factory=list)
    is_kinematic: bool = False
    floats: bool = False
    self_collides: bool = True

    @property
    def mass(self) -> float:
        return self.inertial.mass if self.inertial is not None else 0.0

    @property
    def is_bare(self) -> bool:
        """True for a frame only: no mass and no shape."""
        return not (self.mass or self.visuals or self.collisions)


@dataclass(slots=True)
class Mimic:
    joint: str
    multiplier: float
    offset: float


@dataclass(slots=True)
class Joint:
    """pose: (4, 4) of the joint in the parent. axis: unit vector in the joint. Missing numbers are None.

    numbers: those of limit, dynamics, calibration and safety_controller by "element:attribute". inner: (4, 4) of the
    joint in the child link, which only in SDF can be elsewhere than the link. axis2: of a universal joint, at a right
    angle to the other; the child turns about it. Its numbers begin with "limit2:".
    """

    name: str
    type: str
    parent: str
    child: str
    pose: Matrix
    axis: tuple[float, float, float]
    element: Element
    numbers: dict[str, float] = field(default_factory=dict)
    mimic: Mimic | None = None
    inner: Matrix = field(default_factory=lambda: np.eye(4))
    axis2: tuple[float, float, float] | None = None

    @property
    def child_pose(self) -> Matrix:
        """Matrix (4, 4) of the child link in the parent, where the joint is at zero."""
        return self.pose @ frames.inverse_pose(self.inner)


@dataclass(slots=True)
class Loop:
    """A `loop_joint`: links, and the places (4, 4) in them that it holds together. ROS knows none, others do.

    limits: lower and upper, None without.
    """

    name: str
    type: str
    links: tuple[str, str]
    poses: tuple[Matrix, Matrix]
    axis: tuple[float, float, float]
    limits: tuple[float | None, float | None]
    element: Element


@dataclass(slots=True)
class Robot:
    """parents: joint above each link. roots: links without one, in the order of the file. Trees only.

    text: the file as it was read, or what xacro has made of it; empty for other formats than URDF. path: of the file.
    files: that it includes; meshes and images are added when a stage is made.
    """

    name: str
    path: Path
    text: str
    element: Element
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    loops: dict[str, Loop] = field(default_factory=dict)
    materials: dict[str, Material] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    parents: dict[str, Joint] = field(default_factory=dict)
    children: dict[str, list[Joint]] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def downwards(self, link: str) -> Iterator[str]:
        """A link and all below it, parents first, in the order of the joints."""
        pending = [link]
        while pending:
            name = pending.pop()
            yield name
            pending += [joint.child for joint in reversed(self.children.get(name, []))]

    def in_order(self) -> Iterator[str]:
        """All links, parents first."""
        for root in self.roots:
            yield from self.downwards(root)
