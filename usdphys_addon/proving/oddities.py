# SPDX-License-Identifier: GPL-3.0-or-later
"""What is odd about an asset before anything runs: masses, gravity and surfaces that no thing has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import frames, mass
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.validate import validate
from ..core.words import counted
from ..simulation.layout import contact_material
from ..simulation.notices import Notices
from . import odd_joints, opinions
from .certificate import Check, Status, also
from .opinions import Cause, Opinion
from .runs import Subject, corners_of, subset

SECTION = "asset"
#: kg/m3 of what is made: aerogel and osmium have less and more than these.
DENSITIES = (1.0, 25000.0)
#: kg/m3, of which a density is said: foams have more. One in g/cm3 is a thousandth.
LIGHTEST = 10.0
#: m/s2, of what is stood on: Pluto and Jupiter have more and less than these.
PLANETS = (0.5, 30.0)
#: By how much a moment of inertia may be more or less than that of the shapes.
INERTIA = 30.0
#: By how many lengths of its colliders a centre of mass may be outside of them: many robots collide with less than they
#: are.
OUTSIDE = 1.5
#: A coefficient of friction that no two things have: one in per cent has it.
MOST_FRICTION = 10.0
#: Codes of the rules about surfaces, with the fields that are the cause; the value that is negative is found.
SURFACE_RULES = {
    "MaterialInvalidValues": (), "RestitutionAboveOne": ("restitution",),
    "FrictionOrder": ("static_friction", "dynamic_friction"),
}  # fmt: skip
_FRICTIONS = ("static_friction", "dynamic_friction")


def checks_of(subject: Subject, has_time: Callable[[], bool]) -> Iterator[Check]:
    """All of them. has_time: whether there is time to load further meshes."""
    yield from _matter(subject, has_time)
    yield from odd_joints.checks_of(subject, has_time)
    yield from _gravity(subject)
    yield from _surfaces(subject.model)


def _matter(subject: Subject, has_time: Callable[[], bool]) -> Iterator[Check]:
    """Masses, centres and moments that no thing of this shape has: bodies that are odd alike together."""
    odd: dict[str, list[Oddity]] = {}
    left = 0
    for path, body in subject.layout.bodies.items():
        if body.is_kinematic:
            continue
        if left or not has_time():
            left += 1
            continue
        for one in _odd_matter(subject.model, path):
            odd.setdefault(one.kind, []).append(one)
    for group in odd.values():
        causes = tuple(dict.fromkeys(opinions.cause_alone(subject.model, one.opinion) for one in group))
        message, others = group[0].message, len(group) - 1
        message += also(
            others, "1 other body is odd in the same way.", f"{others} other bodies are odd in the same way."
        )
        fix = "Correct it, or leave it out: it is then computed from the colliders."
        if group[0].kind == "light":
            fix = "Correct it, or leave it out: a density in g/cm3 is a thousandth of one in kg/m3."
        data = {"bodies": [{"path": one.path, **one.data} for one in group]}
        yield Check(SECTION, "matter", "doubtful", message, group[0].path, causes, fix, data)
    if left:
        bodies = counted(left, "body")
        message = f"There was no time to compare masses and moments of inertia of {bodies} with the shapes."
        yield Check(SECTION, "matter", "skipped", message)
    elif not odd:
        yield Check(SECTION, "matter", "pass", "Masses, centres of mass and inertias fit the shapes.")


class Oddity(NamedTuple):
    """What is odd about the mass of a body. kind: bodies with the same one are told together. opinion: the cause."""

    kind: str
    path: str
    opinion: Opinion
    message: str
    data: dict[str, Any]


def _odd_matter(model: PhysicsModel, path: str) -> Iterator[Oddity]:
    api = model.prims[path].get(usd_physics.MassAPI)
    if api is None and not _says_density(model, path):
        return
    own = mass.mass_properties(model, path)
    yield from _odd_density(model, path, own)
    if api is None:
        return
    shapes = [mass.collider_shape(prim) for prim in model.colliders_of(path)]
    volume = sum(shape.volume for shape in shapes)
    name = model.prims[path].display
    density = own.mass / volume if volume > 0.0 else 0.0
    ball = _ball_of(own)
    # Where colliders are less than the link, its moments tell how large that is.
    least = min(density, own.mass / (4.0 / 3.0 * math.pi * ball**3)) if ball else density
    if api.mass and density and (density < DENSITIES[0] or least > DENSITIES[1]):
        message = f"{name} weighs {own.mass:.4g} kg, which is {density:.3g} kg/m3."
        yield Oddity("density", path, _of_mass(path, "mass"), message, {"density": density})
    moments = sorted(own.diagonal_inertia)
    if any(api.diagonal_inertia or ()) and own.inertia_source.kind != "authored":
        message = f"{name} has moments of inertia that are so small in the units of the file that USD ignores them."
        yield Oddity(
            "ignored", path, _of_mass(path, "diagonal_inertia"), message, {"moments": list(api.diagonal_inertia or ())}
        )
    if own.inertia_source.kind == "authored":
        if moments[2] > 1.02 * (moments[0] + moments[1]):
            message = (
                f"{name} has moments of inertia that no body has: the largest is more than the two others together."
            )
            yield Oddity("moments", path, _of_mass(path, "diagonal_inertia"), message, {"moments": moments})
        alike = subset(model, lambda _prim: True)
        alike.prims[path].schemas["PhysicsMassAPI"] = api.copy(diagonal_inertia=None, principal_axes=None)
        by_shape = mass.mass_properties(alike, path) if volume > 0.0 else None
        if by_shape is not None and by_shape.inertia_source.kind != "fallback":
            ratio = float(np.trace(own.inertia)) / max(float(np.trace(by_shape.inertia)), 1e-30)
            if not 1.0 / INERTIA <= ratio <= INERTIA:
                message = f"{name} has {ratio:.3g} times the moments of inertia that its shapes have."
                yield Oddity("inertia", path, _of_mass(path, "diagonal_inertia"), message, {"ratio": ratio})
    if own.center_source.kind == "authored" and shapes:
        found = [corners for prim in model.colliders_of(path) if (corners := corners_of(prim)) is not None]
        if found:
            points = np.concatenate(found)
            body = model.prims[path].world
            pose = frames.unscaled(body)
            center = (pose @ np.append(own.center_of_mass, 1.0))[:3]
            outside = np.maximum(points.min(axis=0) - center, center - points.max(axis=0)).max()
            if outside > OUTSIDE * max(float(np.ptp(points, axis=0).max()), 2.0 * ball):
                message = f"{name} has its centre of mass {outside:.3g} m outside of its colliders."
                yield Oddity("center", path, _of_mass(path, "center_of_mass"), message, {"outside": float(outside)})


def _ball_of(own: mass.BodyMassProperties) -> float:
    """Radius, m, of the ball that has the moments of inertia that somebody has said of a body; 0 where nobody has."""
    if own.inertia_source.kind != "authored" or not own.mass > 0.0:
        return 0.0
    return math.sqrt(5.0 * sum(own.diagonal_inertia) / (6.0 * own.mass))


def _of_mass(path: str, field: str) -> Opinion:
    return Opinion(path, usd_physics.MassAPI.usd_name, field)


def _says_density(model: PhysicsModel, path: str) -> bool:
    """Whether a collider of a body has a mass or density of its own, or one of its material."""
    return any(
        prim.get(usd_physics.MassAPI) is not None or any(_density_of(model, one) for one in prim.materials)
        for prim in model.colliders_of(path)
    )


def _density_of(model: PhysicsModel, material: str) -> float:
    """kg/m3 that a material says; 0 where it says none."""
    prim = model.prims.get(material)
    api = prim.get(usd_physics.MaterialAPI) if prim is not None else None
    return (api.density or 0.0) if api is not None else 0.0


def _odd_density(model: PhysicsModel, path: str, own: mass.BodyMassProperties) -> Iterator[Oddity]:
    """Densities that somebody has said, and that nothing solid has."""
    for part in own.parts if own.mass_source.kind != "authored" else ():
        prim, volume = model.prims[part.path], part.shape.volume
        density = part.mass / volume if volume > 0.0 else 0.0
        if part.source.kind not in ("density", "material") or not density or LIGHTEST <= density <= DENSITIES[1]:
            continue
        opinion = next(
            (_of_mass(place, "density") for place in (part.path, path)
             if (api := model.prims[place].get(usd_physics.MassAPI)) is not None and api.density),
            None,
        )  # fmt: skip
        if opinion is None:
            bound = next(
                (one for one in (prim.physics_binding, *reversed(prim.materials)) if _density_of(model, one)), ""
            )
            opinion = Opinion(bound, usd_physics.MaterialAPI.usd_name, "density")
        is_light = density < LIGHTEST
        message = f"{prim.display} has a density of {density:.4g} kg/m3, and no metal has so much."
        if is_light:
            message = f"{prim.display} has a density of {density:.4g} kg/m3, and foams have more."
        yield Oddity("light" if is_light else "dense", path, opinion, message, {"density": density})


def _gravity(subject: Subject) -> Iterator[Check]:
    """Gravity that no planet has."""
    for path, gravity in subject.layout.gravity.items():
        size = float(np.linalg.norm(gravity))
        if size and not PLANETS[0] <= size <= PLANETS[1]:
            opinion = Opinion(path, "PhysicsScene", "gravity_magnitude")
            causes = (opinions.cause_alone(subject.model, opinion),) if path in subject.model.prims else ()
            message = f"Gravity is {size:.4g} m/s2, which no planet has."
            fix = "Correct it, or leave it out: it is then that of the earth."
            yield Check(SECTION, "gravity", "doubtful", message, path, causes, fix, {"gravity": size})


def _surfaces(model: PhysicsModel) -> Iterator[Check]:
    """Materials of colliders that nothing is made of."""
    users: dict[str, list[Prim]] = {}
    for collider in model.colliders.values():
        if bound := contact_material(model, collider, Notices()).material:
            users.setdefault(bound, []).append(collider)
    if not users:
        return
    checks = list(_wrong_surfaces(model, users))
    told = {check.path for check in checks}
    for path, colliders in users.items():
        if path not in told and (check := _friction_check(model, path, colliders)) is not None:
            checks.append(check)
    yield from checks
    if not checks:
        yield Check(SECTION, "surfaces", "pass", "Friction and restitution are those of real surfaces.")


def _wrong_surfaces(model: PhysicsModel, users: dict[str, list[Prim]]) -> Iterator[Check]:
    """What the checks of a scene say of them."""
    with np.errstate(all="ignore"):
        found = validate(model, codes=tuple(SURFACE_RULES))
    for issue in found:
        material = model.prims[issue.path].get(usd_physics.MaterialAPI) if issue.path in users else None
        if material is None:
            continue
        negative = tuple(attribute.field for attribute, value in material.authored() if value < 0)
        causes = _surface_causes(model, issue.path, SURFACE_RULES[issue.code] or negative)
        status: Status = "fail" if issue.severity == "error" else "doubtful"
        yield Check(SECTION, "surfaces", status, issue.message, issue.path, causes, issue.fix)


def _friction_check(model: PhysicsModel, path: str, colliders: Sequence[Prim]) -> Check | None:
    """Of a material with no friction, or with more than anything has."""
    material: Any = model.prims[path].get(usd_physics.MaterialAPI)
    frictions = [material.resolved(name) for name in _FRICTIONS]
    name, first = model.prims[path].display, colliders[0].display
    data = {"colliders": [collider.path for collider in colliders]}
    if not any(frictions):
        if any(getattr(material, field) is not None for field in _FRICTIONS):
            message = f"{name} has a friction of 0, which no surface has: little holds what touches {first}."
        else:
            message = f"{name} does not say its friction, which is 0 then: little holds what touches {first}."
        fix = "Set its static and dynamic friction, if it is not to be more slippery than ice."
        return Check(
            SECTION, "surfaces", "doubtful", message, path, _surface_causes(model, path, _FRICTIONS), fix, data
        )  # fmt: skip
    if (most := max(frictions)) > MOST_FRICTION:
        message = f"{name} has a friction of {most:.4g}, which no surface has: {first} sticks to all it touches."
        fix = "Correct it: 1 is much, and a friction in per cent is 100 times too large."
        return Check(
            SECTION, "surfaces", "doubtful", message, path, _surface_causes(model, path, _FRICTIONS), fix, data
        )  # fmt: skip
    return None


def _surface_causes(model: PhysicsModel, path: str, fields: Sequence[str]) -> tuple[Cause, ...]:
    return tuple(
        opinions.cause_alone(model, Opinion(path, usd_physics.MaterialAPI.usd_name, field)) for field in fields
    )
