# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies and static colliders of one physics scene, ready to be added to worlds of the solver, in any number."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapier3d import Isometry3, RigidBody, Rotation3, SharedShape

from ...core.frames import Matrix
from ...core.steps import gains
from ..engine import Setup
from ..layout import Body, contact_material
from ..weights import Geometries
from .bodies import BodyMaker, place_of, roller_of
from .constraints import matrix_of
from .contact_hook import Grip, Roller
from .flush import shares
from .matter import Weigher
from .shapes import shape_steps
from .templates import Template, Twins, turns_of

#: Equal bodies that are made in one step of the build.
TOGETHER = 100


@dataclass(frozen=True, slots=True)
class Static:
    """A static collider: its pose, its builder, and the path of its physics material. bounce: its restitution.
    roller: see `bodies.roller_of`.
    """

    path: str
    pose: Any
    builder: Any
    material: str
    bounce: float
    roller: Roller | None


class Stock:
    """templates: of bodies that are equal but for their place. template_of (n,): its number, of each body.

    sizes, masses (t,): m and kg, of the templates; 0 without colliders, or of a kinematic body. is_dynamic, radii (n,):
    of the bodies. positions (n, 3), turns: of the bodies, the latter as the solver takes them. surfaces: physics
    materials that were changed while the world ran, by path: friction, restitution, static friction.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._paths = list(setup.bodies)
        self._maker = BodyMaker(setup.layout, setup.filters, setup.notices)
        self.templates: list[Template] = []
        self.template_of: NDArray[np.int64] = np.zeros(0, np.int64)
        self.positions: Matrix = np.zeros((0, 3))
        self.turns: list[Any] = []
        self.statics: list[Static] = []
        self.surfaces: dict[str, tuple[float, float | None, float | None]] = {}
        self._by_key: dict[Hashable, int] = {}

    @property
    def grips(self) -> dict[str, Grip]:
        """See `BodyMaker`."""
        return self._maker.grips

    @property
    def is_moving(self) -> bool:
        """See `BodyMaker`."""
        return self._maker.is_moving

    def bounces(self, rows: NDArray[np.int64]) -> bool:
        """True if the bodies in these rows, or static colliders, have restitution."""
        kinds = np.unique(self.template_of[rows]).tolist()
        bounces = [self.templates[kind].bounce for kind in kinds] + [static.bounce for static in self.statics]
        return max(bounces, default=0.0) > 0.0

    def fill(self) -> Iterator[float]:
        """Make everything, in steps that each yield how many bodies and static colliders they made."""
        yield from self._bodies()
        yield from self._statics()
        self._place_joints()

    def _bodies(self) -> Iterator[float]:
        setup, geometries = self._setup, Geometries()
        model, places = setup.layout.model, setup.layout.places
        weigher = Weigher(model, geometries)
        bodies = list(setup.bodies.values())
        twins = Twins(bodies, places, geometries, setup.filters, model.angular_precision)
        self.positions, self.turns = places.positions[twins.rows], turns_of(places, twins.rows)
        made: dict[int, int] = {}
        numbers: list[int] = []
        told, before, number = 0.0, None, 0
        for start in range(0, len(bodies), TOGETHER):
            for quick in twins.quick[start : start + TOGETHER]:
                if quick != before:
                    before = quick
                    if quick not in made:
                        row = len(numbers)
                        key = twins.key(row)
                        number, gained = yield from self._template(bodies[row], key, weigher)
                        if key in self._by_key:
                            made[quick] = number
                        else:
                            before = None
                        geometries.forget()
                        yield row + 1 - told - gained
                        told = row + 1.0
                    else:
                        number = made[quick]
                numbers.append(number)
            yield len(numbers) - told
            told = float(len(numbers))
        self.template_of = np.array(numbers, np.int64)
        self.sizes = np.array([template.size for template in self.templates], float)
        weights = [template.weight for template in self.templates]
        self.masses = np.array([0.0 if weight is None else weight.mass for weight in weights], float)
        self.is_dynamic = np.array([weight is not None for weight in weights], bool)[self.template_of]
        self.radii = np.array([template.radius for template in self.templates], float)[self.template_of]

    def _template(self, body: Body, key: Hashable, weigher: Weigher) -> Generator[float, None, tuple[int, float]]:
        """The template of a body, by its key in `Twins` if others may have the same; and what the steps have told."""
        if key is not None and key in self._by_key:
            return self._by_key[key], 0.0
        notices = self._setup.notices
        said = len(notices.issues)
        template, told = yield from gains(self._maker.template(body, weigher))
        self.templates.append(template)
        number = len(self.templates) - 1
        # What is said about one is to be said about each.
        if key is not None and len(notices.issues) == said:
            self._by_key[key] = number
        return number, told

    def _statics(self) -> Iterator[float]:
        layout, notices = self._setup.layout, self._setup.notices
        for prim in self._setup.statics:
            place = layout.places.of(prim)
            geometry = prim.mesh() if prim.mesh is not None else None
            placed, told = yield from gains(shape_steps(prim, geometry, place.rotation, notices, moves=False))
            yield 1.0 - told
            if placed is None:
                continue
            material = contact_material(layout.model, prim, notices)
            builder = self._maker.collider(prim, placed[0], material, place_of(placed))
            pose = Isometry3(tuple(place.position.tolist()), Rotation3(*place.quaternion))
            self.statics.append(
                Static(prim.path, pose, builder, material.material, material.restitution, roller_of(placed[0]))
            )

    def _place_joints(self) -> None:
        """Convert joint frames on static colliders from the world to the space of the solver's fixed body."""
        poses = {static.path: static.pose for static in self.statics}
        for facts in self._setup.joints:
            if facts.static0 in poses and not facts.body0:
                facts.frame0 = np.linalg.inv(matrix_of(poses[facts.static0])) @ facts.frame0
            if facts.static1 in poses and not facts.body1:
                facts.frame1 = np.linalg.inv(matrix_of(poses[facts.static1])) @ facts.frame1

    def add_bodies(self, physics: Any, rows: NDArray[np.int64]) -> list[Any]:
        """Add the bodies in these rows to a world of the solver. Returns their handles."""
        add, cuboid, handles = physics.add_body, SharedShape.cuboid, list[Any]()
        listed = rows.tolist()
        parts = shares(map(self._paths.__getitem__, listed))
        turns = map(self.turns.__getitem__, listed)
        # The solver takes tuples sooner than lists.
        places = zip(*self.positions[rows].T.tolist(), strict=True)
        each = zip(places, turns, parts, strict=True)
        # Most bodies stand beside their twins.
        for kind, twins in groupby(self.template_of[rows].tolist()):
            template, turn = self.templates[kind], None
            body, colliders = template.body, template.colliders
            boxes = [(colliders[number], *half) for number, half in template.boxes.items()]
            for place, own, share in islice(each, len(list(twins))):
                # Both as one pose take four times as long.
                body.translation = place
                if own is not turn:
                    body.rotation = turn = own
                for collider, x, y, z in boxes:
                    collider.shape = cuboid(x * share, y * share, z * share)
                handles.append(add(body, colliders))
        return handles

    def add_statics(self, physics: Any) -> dict[str, Any]:
        """Add the static colliders. Returns their handles by path."""
        return {
            static.path: physics.add_body(RigidBody.fixed().position(static.pose), [static.builder])
            for static in self.statics
        }
