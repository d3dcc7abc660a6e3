# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in the words of Newton, in those of PhysX as well: some versions of it read only their own."""

from __future__ import annotations

from typing import Any

from . import concepts, schema, vendor_schemas
from .joint_settings import following
from .model import PhysicsModel, Prim
from .schemas import usd_physics


def add_physx_words(model: PhysicsModel) -> None:
    """Add PhysX's twin of each attribute of Newton, and its mimic joints. What is authored already stays."""
    for prim in model.prims.values():
        for applied, value in list(prim.schemas.items()):
            if value.family != "Newton":
                continue
            for attribute, content in value.authored():
                found = concepts.concept_of(applied, attribute.usd_name(""))
                for twin in found[0].twins if found is not None else ():
                    if twin.runtime == "PhysX":
                        for name, usd in concepts.placed(twin, concepts.dofs_of(prim.type_name)):
                            _put(prim, name, usd, content)
        _add_mimic(model, prim)


def _put(prim: Prim, applied: str, usd: str, content: Any) -> None:
    base, instance = schema.split_applied(applied)
    cls = vendor_schemas.find(base)
    if cls is None:
        return
    attribute = next(item for item in cls.attributes if item.usd_name(instance) == usd)
    held: Any = prim.schemas.setdefault(applied, cls())
    if getattr(held, attribute.field) is None:
        setattr(held, attribute.field, content)


def _add_mimic(model: PhysicsModel, prim: Prim) -> None:
    """PhysX holds position + gearing * leader + offset at zero. The offset is an angle: that of a slide must be 0."""
    found = following(prim)
    leader = model.prims.get(found.leader) if found is not None else None
    axes = [_axis(joint) for joint in (prim, leader) if joint is not None]
    if found is None or len(axes) < 2 or not all(axes):
        return
    slides = prim.get(usd_physics.PrismaticJoint) is not None
    if any(name.startswith("PhysxMimicJointAPI:") for name in prim.schemas) or (slides and found.offset):
        return
    cls = vendor_schemas.find("PhysxMimicJointAPI")
    assert cls is not None
    prim.add(
        cls(gearing=-found.ratio, offset=-found.offset, reference_joint=(found.leader,), reference_joint_axis=axes[1]),
        axes[0],
    )


def _axis(prim: Prim) -> str:
    """The degree of freedom of a hinge or slide, as PhysX's mimic joints call it; empty for other joints."""
    joint = prim.get(usd_physics.RevoluteJoint) or prim.get(usd_physics.PrismaticJoint)
    return f"rot{joint.resolved('axis')}" if joint is not None else ""
