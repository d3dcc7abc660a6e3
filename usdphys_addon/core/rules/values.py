# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for plain values: types, infinities, tokens, units, gravity and materials."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import deformables, gprims
from ..misnamed import Misnamed
from ..model import Prim
from ..schema import Attribute
from ..schemas import usd_physics
from ..value_types import elements_of
from ..vendor_schemas import VendorAttribute
from ..words import length_text
from .base import Facts, Finding, rule

#: Approximations that the PhysX schemas add to UsdPhysics' own.
PHYSX_TOKENS = frozenset(("sdf", "sphereFill"))
#: Attributes of gprims that are lengths.
_SIZES = frozenset(("size", "radius", "height", "width", "length"))


def _parts(value: Any) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)


def _may_be_infinite(attribute: Attribute) -> tuple[bool, bool]:
    """Whether -infinity and +infinity are valid in an attribute: as "no limit" or as its sentinel."""
    fallback = attribute.fallback
    numbers = _parts(fallback) if isinstance(fallback, int | float | tuple) else ()
    unlimited = any(math.isinf(number) for number in numbers) and attribute.automatic != "negative"
    # Converters write an infinite `maxJointVelocity` for "no limit".
    unlimited |= isinstance(attribute, VendorAttribute) and attribute.usd_name("").rpartition(":")[2].startswith("max")
    return unlimited or attribute.automatic in ("negative", "infinite"), unlimited


@rule("NotFinite")
def not_finite(facts: Facts) -> Iterator[Finding]:
    for prim in facts.placements.where(~facts.placements.finite):
        yield Finding(prim, f"The transform of {prim.display} is not finite.", {"value": "transform"})
    for column in facts.columns:
        kind = column.attribute.value
        if not kind.is_number:
            continue
        if math.isfinite(sum(sum(elements_of(kind, value)) for value in column.values if value is not None)):
            continue
        minus, plus = _may_be_infinite(column.attribute)
        for prim, value in column.authored():
            for part in elements_of(kind, value):
                if not (math.isfinite(part) or (minus and part == -math.inf) or (plus and part == math.inf)):
                    problem = "infinite" if math.isinf(part) else "not a number"
                    yield Finding(prim, f"{column.name} of {prim.display} is {problem}.", {"value": column.name})
                    break


@rule("TooLargeToSimulate")
def too_large(facts: Facts) -> Iterator[Finding]:
    placed = facts.placements
    lengths = [abs(value) for column in facts.columns if column.name in _SIZES for _, value in column.authored()]
    # Most files end here: what could be too large is measured exactly.
    if 2.0 * np.max(placed.reach, initial=0.0) * max((2.0, *lengths)) <= gprims.LARGEST:
        return
    for prim in placed.prims:
        transform, size = gprims.reach(prim)
        # NotFinite names other numbers.
        if math.isfinite(transform) and (transform > gprims.LARGEST or size > gprims.LARGEST):
            yield Finding(prim, f"{prim.display} is {length_text(max(transform, size))} large or far away.")


@rule("AttributeTypeMismatch")
def mistyped(facts: Facts) -> Iterator[Finding]:
    for prim, property_name, attribute in facts.mistyped:
        yield Finding(
            prim, f"{property_name} of {prim.display} is not a {attribute.type}.",
            {"value": property_name, "type": attribute.type},
        )  # fmt: skip


@rule("NameMisspelt")
def misspelt(facts: Facts) -> Iterator[Finding]:
    for prim, mistake in _misnamed(facts):
        if mistake.meant:
            yield Finding(
                prim, f"{mistake.name} of {prim.display} is not declared by any schema, and has no effect.",
                {"value": mistake.name, "meant": mistake.meant},
            )  # fmt: skip


@rule("SchemaMissing")
def schema_missing(facts: Facts) -> Iterator[Finding]:
    for prim, mistake in _misnamed(facts):
        if mistake.schema:
            yield Finding(
                prim, f"{mistake.name} of {prim.display} has no effect without {mistake.schema}.",
                {"value": mistake.name, "schema": mistake.schema},
            )  # fmt: skip


def _misnamed(facts: Facts) -> Iterator[tuple[Prim, Misnamed]]:
    for path, several in facts.model.misnamed.items():
        prim = facts.model.prims.get(path) or Prim(path)
        yield from ((prim, one) for one in several)


@rule("TokenUnknown")
def unknown_token(facts: Facts) -> Iterator[Finding]:
    for column in facts.columns:
        attribute = column.attribute
        if not attribute.tokens:
            continue
        known = frozenset(attribute.tokens)
        if attribute.field == "approximation":
            known |= PHYSX_TOKENS
        if set(column.values) <= known | {None}:
            continue
        for prim, value in column.authored():
            other = next(
                (token for token in (value if isinstance(value, tuple) else (value,)) if token not in known), None
            )
            if other is not None:
                yield Finding(
                    prim, f"{column.name} of {prim.display} is '{other}', which is not one of the allowed values.",
                    {"value": column.name, "tokens": ", ".join(attribute.tokens)},
                )  # fmt: skip


@rule("ApproximationOfPhysx")
def physx_approximation(facts: Facts) -> Iterator[Finding]:
    for prim, options in facts.all(usd_physics.MeshCollisionAPI):
        if options.approximation in PHYSX_TOKENS:
            yield Finding(prim, f"{prim.display} collides as '{options.approximation}', which only PhysX knows.")


# --------------------------------------------------------------------------- units and gravity


@rule("UnitsInvalid")
def invalid_units(facts: Facts) -> Iterator[Finding]:
    units = facts.model.units
    for unit, value in (("metersPerUnit", units.meters_per_unit), ("kilogramsPerUnit", units.kilograms_per_unit)):
        if not (math.isfinite(value) and value > 0):
            yield Finding(None, f"{unit} is {value:g}, so the values of the file have no meaning.", {"value": unit})


@rule("NewtonMetres")
def not_in_metres(facts: Facts) -> Iterator[Finding]:
    """Of a file: a scene is exported in units that are chosen then."""
    meters, file = facts.model.units.meters_per_unit, facts.model.source
    if file and not file.endswith(".blend") and abs(meters - 1.0) > 1e-6:
        yield Finding(None, f"A unit of the file is {meters:g} m long, and Newton supports metres alone.")


@rule("GravityDirectionNotUnit")
def gravity_direction(facts: Facts) -> Iterator[Finding]:
    for prim, scene in facts.all(usd_physics.PhysicsScene):
        if scene.gravity_direction and any(scene.gravity_direction):
            length = math.hypot(*scene.gravity_direction)
            if abs(length - 1) > 1e-3:
                yield Finding(prim, f"The direction of gravity of {prim.display} has length {length:.4g}.")


# --------------------------------------------------------------------------- materials


@rule("MaterialInvalidValues")
def negative_material(facts: Facts) -> Iterator[Finding]:
    for prim, material in facts.all(usd_physics.MaterialAPI):
        for attribute, value in material.authored():
            if value < 0:
                label = attribute.label.lower()
                message = f"The material {prim.display} has a negative {label} ({value:.6g})."
                yield Finding(prim, message, {"value": label})


@rule("RestitutionAboveOne")
def high_restitution(facts: Facts) -> Iterator[Finding]:
    for prim, material in facts.all(usd_physics.MaterialAPI):
        if material.restitution is not None and material.restitution > 1:
            yield Finding(prim, f"The material {prim.display} has a restitution of {material.restitution:.6g}.")


@rule("FrictionOrder")
def friction_order(facts: Facts) -> Iterator[Finding]:
    for prim, material in facts.all(usd_physics.MaterialAPI):
        static, dynamic = material.static_friction or 0.0, material.dynamic_friction or 0.0
        if dynamic > static and not (material.static_friction is None and deformables.is_material(prim)):
            yield Finding(
                prim,
                f"The material {prim.display} has more dynamic ({dynamic:.4g}) than static friction ({static:.4g}).",
            )
