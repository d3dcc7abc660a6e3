# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body moves, in the words of each family: kind, velocities, mass, gravity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ..core import frames, mass, paths
from ..core.coasting import keeps_velocity
from ..core.model import Prim
from ..core.schema import Quaternion, Vector
from ..core.schemas import usd_geom, usd_physics
from ..core.vendor_schemas import turned_bits
from ..core.words import and_more
from . import additions, axes, names, vendor
from .additions import Additions
from .document import is_numbers
from .names import Family

_NO_MASS = usd_physics.MassAPI()


@dataclass(slots=True)
class _Matter:
    """What is written of the mass of a body; None is not. In its space: center, and moments about axes (a quaternion).

    is_infinite: it cannot be moved. is_partly_infinite: its finite moments do not follow from its mass any more.
    has_densities: the mass follows from these. is_bare: a body without shapes, of which readers would have to guess it.
    """

    mass: float | None
    center: Vector | None
    moments: Vector | None
    axes: Quaternion | None
    is_infinite: bool
    has_densities: bool
    is_partly_infinite: bool = False
    is_bare: bool = False


def _own_mass(prim: Prim, family: Family) -> usd_physics.MassAPI:
    """The mass of a body as its file says it: without what reading gave it, unless that was changed."""
    own = prim.get(usd_physics.MassAPI) or _NO_MASS
    given = prim.extras.get("unwritten", ()) if family.is_khr else ()
    if left := {name: None for name in given if getattr(own, name) == names.SHAPELESS[name]}:
        own = own.copy(**left)
    return own if any(value is not None for value in own.all_values()) else _NO_MASS


def _with_locked(locked: int, matter: _Matter) -> dict[str, Any]:
    """The inertia of a body with locked axes of its own: infinite moments, which are 0, about these."""
    if locked == vendor.ALL_AXES or matter.moments is None:
        return {"inertiaDiagonal": [0.0, 0.0, 0.0]}
    about = frames.matrix_of(matter.axes or frames.IDENTITY_ROTATION)
    free = [axis for axis in range(3) if not locked >> axis & 1]
    tensor = (about @ np.diag(matter.moments) @ about.T)[np.ix_(free, free)]
    turn, moments = np.eye(3), np.zeros(3)
    moments[free] = np.diag(tensor)
    if np.abs(tensor - np.diag(np.diag(tensor))).max() > 1e-6 * np.abs(tensor).max():
        moments[free], vectors = np.linalg.eigh(tensor)
        turn[np.ix_(free, free)] = vectors * np.array([1.0, np.sign(np.linalg.det(vectors))])
    entry: dict[str, Any] = {"inertiaDiagonal": axes.size_out(moments.tolist())}
    if not np.array_equal(turn, np.eye(3)):
        entry["inertiaOrientation"] = axes.rotation_out(frames.quaternion_of(turn))
    return entry


def _has_shape(collider: Prim) -> bool:
    """False for a collider of a mesh that has no faces."""
    return collider.mesh is not None or collider.get(usd_geom.Gprim) is not None


class Motions:
    """Writes the motions of bodies."""

    def __init__(self, file: Additions) -> None:
        self.file, self.model, self.families = file, file.model, file.families
        self.masses: dict[tuple[Any, ...], mass.BodyMassProperties] = {}
        #: Bodies whose mass, or whose centre of mass, the simulator decides, and which get one in the OMI family.
        self.decided: dict[str, dict[str, None]] = {"mass": {}, "centre": {}, "origin": {}}

    def motion_of(
        self, family: Family, prim: Prim, body: usd_physics.RigidBodyAPI, colliders: list[Prim]
    ) -> dict[str, Any] | None:
        motion: dict[str, Any] = {}
        is_static = not body.resolved("rigid_body_enabled")
        is_kinematic = bool(body.resolved("kinematic_enabled"))
        if family.is_khr:
            if is_static:
                return None
            if is_kinematic:
                motion["isKinematic"] = True
        else:
            motion["type"] = "static" if is_static else "kinematic" if is_kinematic else "dynamic"
        self._write_velocities(family, prim, body, motion)
        self._write_mass(family, prim, colliders, motion, is_computed=not is_static and not is_kinematic)
        factor = mass.gravity_factor(prim)
        if factor != 1.0:
            motion["gravityFactor"] = factor
        return motion

    def _write_velocities(
        self, family: Family, prim: Prim, body: usd_physics.RigidBodyAPI, motion: dict[str, Any]
    ) -> None:
        if body.velocity is None and body.angular_velocity is None:
            return
        if family.is_khr and motion.get("isKinematic") and not keeps_velocity(prim):
            if any(body.velocity or ()) or any(body.angular_velocity or ()):
                self.file.lose(prim, "a velocity of a kinematic body that has no effect", "Switch Keep Velocity on.")
            return
        for key, value, turn in (
            ("linearVelocity", body.velocity, prim.world[:3, :3]),
            ("angularVelocity", body.angular_velocity, frames.rotation_of(prim.world)),
        ):
            if value is not None and any(value):
                # OMI: in the world, as Godot has it.
                motion[key] = axes.vector_out(value if family.is_khr else (turn @ np.array(value)).tolist())

    def _write_mass(
        self, family: Family, prim: Prim, colliders: list[Prim], motion: dict[str, Any], *, is_computed: bool
    ) -> None:
        """Write mass, centre and inertia. OMI has defaults where KHR lets the engine decide, so it gets all.

        is_computed: the body moves by forces, so that its mass counts.
        """
        own = _own_mass(prim, family)
        kept = prim.extras.get("motion", {})
        solid = [one for one in colliders if vendor.TRIGGER not in one.schemas]
        has_densities = self._has_densities(prim, solid)
        # Without shapes a reader has to guess what the scene has.
        is_said = own.decided("diagonal_inertia") is not None or "unwritten" in prim.extras or kept
        is_bare = is_computed and not is_said and not any(map(_has_shape, colliders))
        if (
            own is _NO_MASS and family.is_khr and not has_densities and not kept and vendor.BODY not in prim.schemas
            and not is_bare
        ):  # fmt: skip
            return
        matter = _Matter(
            own.decided("mass"), own.decided("center_of_mass"), own.decided("diagonal_inertia"), own.principal_axes,
            is_infinite=kept.get("mass") == 0 and own.decided("mass") is None, has_densities=has_densities,
            is_bare=is_bare,
        )  # fmt: skip
        locked = 0
        if is_computed and vendor.BODY in prim.schemas:
            matter.is_infinite |= vendor.value(prim, vendor.BODY, "lockedPosAxis") == vendor.ALL_AXES
            locked = self._locked_in_body(prim)
        matter.is_partly_infinite = matter.is_infinite or locked not in (0, vendor.ALL_AXES)
        if matter.center is None and not solid and not family.is_khr and motion["type"] != "static":
            self.decided["origin"][prim.path] = None
        if is_computed:
            self._compute(family, prim, solid, matter)
        if matter.is_infinite and family.is_khr:
            motion["mass"] = 0
        elif matter.is_infinite:
            self.file.lose(prim, "an infinite mass in the OMI extensions", "Give it a mass.")
        elif matter.mass is not None and math.isfinite(matter.mass):
            motion["mass"] = matter.mass
        if matter.center is not None:
            motion["centerOfMass"] = axes.vector_out(matter.center)
        if locked and family.is_khr:
            motion.update(_with_locked(locked, matter))
            return
        if locked:
            self.file.lose(prim, "an infinite inertia in the OMI extensions", "Give it a finite one.")
        self._write_inertia(family, prim, matter, kept, motion)

    def _locked_in_body(self, prim: Prim) -> int:
        """Bits of its own axes about which a body does not turn, where those of the world are among them."""
        bits = (vendor.value(prim, vendor.BODY, "lockedRotAxis") or 0) & vendor.ALL_AXES
        if bits in (0, vendor.ALL_AXES):
            return int(bits)
        turn = frames.rotation_of(prim.world).T
        locked = [axis for axis in range(3) if bits & (1 << axis)]
        if (np.abs(turn[:, locked]).max(axis=0) < 1.0 - 1e-6).any():
            self.file.lose(prim, "locked rotations about axes of the world that are not those of the body")
            return 0
        return int(turned_bits(bits, turn))

    def _compute(self, family: Family, prim: Prim, solid: list[Prim], matter: _Matter) -> None:
        """Take from the shapes what a file cannot leave to the simulator: all of OMI, of KHR what densities decide."""
        if matter.has_densities:
            self.file.lose(prim, "the densities that its mass follows from (the mass is written)")
        says_all = matter.has_densities or matter.is_bare or not family.is_khr
        is_complete = not matter.is_partly_infinite if matter.moments is None else matter.axes is not None
        if is_complete and not says_all:
            return
        properties = self._mass_properties(prim, solid)
        if says_all:
            self._compute_mass(prim, solid, matter, properties)
        if matter.moments is not None or matter.has_densities or matter.is_bare or matter.is_partly_infinite:
            matter.moments, matter.axes = properties.diagonal_inertia, properties.principal_axes

    def _compute_mass(
        self, prim: Prim, solid: list[Prim], matter: _Matter, found: mass.BodyMassProperties
    ) -> None:  # fmt: skip
        """Take mass and centre from the shapes; notes where that decides what was left to the simulator."""
        if matter.mass is None and not matter.has_densities and not matter.is_infinite:
            self.decided["mass"][prim.path] = None
        matter.mass = found.mass
        if matter.center is not None or not (matter.has_densities or solid):
            return
        if not matter.has_densities and max(map(abs, found.center_of_mass)) > additions.SAME:
            self.decided["centre"][prim.path] = None
        scale = frames.scale_of(prim.world)
        matter.center = tuple((np.array(found.center_of_mass) / np.where(scale == 0.0, 1.0, scale)).tolist())

    def _write_inertia(
        self, family: Family, prim: Prim, matter: _Matter, kept: dict[str, Any], motion: dict[str, Any]
    ) -> None:
        """Write the moments of inertia: those of the body, else those that its file had. kept: the motion there."""
        if matter.moments is not None:
            motion["inertiaDiagonal"] = axes.size_out(matter.moments)
            if matter.axes is not None and not frames.is_identity(matter.axes):
                motion["inertiaOrientation"] = axes.rotation_out(matter.axes)
            return
        moments = kept.get("inertiaDiagonal")
        if not is_numbers(moments, 3):
            return
        if not family.is_khr and not any(moments):
            # Three zeros: infinite in KHR, automatic in OMI.
            self.file.lose(prim, "an infinite inertia in the OMI extensions", "Give it a finite one.")
            return
        motion["inertiaDiagonal"] = moments
        if is_numbers(kept.get("inertiaOrientation"), 4):
            motion["inertiaOrientation"] = kept["inertiaOrientation"]

    def report(self) -> None:
        """Name the bodies that have a mass, or a centre of it, in the file and none in the scene."""
        if names.KHR in self.families:
            return
        for what, bodies in self.decided.items():
            if not bodies:
                continue
            first = [f"'{self.model.prims[path].label or path}'" for path in islice(bodies, additions.MOST_NAMES)]
            shown = and_more(first, len(bodies))
            if what == "mass":
                message = (
                    "The OMI extensions have no automatic mass, so these bodies get the mass "
                    f"that follows from their shapes: {shown}."
                )
            elif what == "origin":
                message = (
                    "The OMI extensions have no automatic centre of mass, so these bodies "
                    f"without shapes get their origin: {shown}."
                )
            else:
                message = (
                    "The OMI extensions have no automatic centre of mass, so these bodies "
                    f"get the one that follows from their shapes: {shown}."
                )
            self.file.issue("GltfNotSaid", message, "Set it to have another value.", "info")

    def _mass_properties(self, prim: Prim, colliders: list[Prim]) -> mass.BodyMassProperties:
        """Mass properties of a body; bodies that are copies of each other share them."""
        key = self._mass_key(prim, colliders)
        if key is None:
            return mass.mass_properties(self.model, prim.path, colliders)
        if key not in self.masses:
            self.masses[key] = mass.mass_properties(self.model, prim.path, colliders)
        return self.masses[key]

    def _mass_key(self, prim: Prim, colliders: list[Prim]) -> tuple[Any, ...] | None:
        """What decides about the mass of a body of primitives; None for a body with other colliders."""
        own = prim.get(usd_physics.MassAPI)
        parts: list[Any] = [prim.world[:3, :3].tobytes(), own.all_values() if own is not None else ()]
        for one in colliders:
            key = self.file.kind_key(one)
            if key is None or one.local is None or paths.parent_of(one.path) != prim.path:
                return None
            parts.append(key)
        return tuple(parts)

    def _has_densities(self, prim: Prim, colliders: list[Prim]) -> bool:
        """True if something else than the volume alone decides about the mass of a body."""
        for one in (prim, *colliders):
            own = one.get(usd_physics.MassAPI)
            if own is None:
                continue
            if own.decided("density") is not None or (one is not prim and own.decided("mass") is not None):
                return True
        for one in colliders:
            material = self.file.material_of(one)
            api = material.get(usd_physics.MaterialAPI) if material is not None else None
            if api is not None and api.decided("density") is not None:
                return True
        return False
