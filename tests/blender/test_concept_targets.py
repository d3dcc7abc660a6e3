# SPDX-License-Identifier: GPL-3.0-or-later
"""Every field of More Settings for every target: what is written is what that simulator takes."""

from __future__ import annotations

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import vendor_edits
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core import concepts, schema, validate, vendor_schemas
from usdphys_ext.usdphys_addon.core.array_text import text_of
from usdphys_ext.usdphys_addon.core.concepts import TARGETS
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import scenes

#: In the order of the panels, with the fields that belong to each degree of freedom of a joint.
FIELDS = [
    (identifier, target)
    for identifier, concept in concepts.concepts().items() for target in TARGETS
    # A follower without a joint to follow is not written.
    if concept.twins_for((target,)) and identifier != "mimic_joint"
]  # fmt: skip
#: By place: the properties of the object that hold the rows.
SPECIAL = {"spring": "DISTANCE", "spring_stiffness": "DISTANCE", "spring_damping": "DISTANCE"}
#: Rules of the place that a field needs, which this scene does not have: they are named, not silent.
NEEDS = {"VendorNeedsArticulation", "VendorNotInArticulation", "CcdNotInScene", "VendorOtherApproximation",
         "MimicWithoutLimits", "TriggerOnBody", "VendorDeprecated", "LimitStiffnessPerRadian"}  # fmt: skip


def owner(place: str, identifier: str):
    """What has the rows of a field, in a scene with one of each."""
    body = scenes.solid("Body")
    if place == "scene":
        item = bpy.context.scene.usdphys.physics_scenes.add()
        item.name = "PhysicsScene"
        return item
    if place == "collider":
        return body.usdphys.colliders[0]
    if place == "articulation":
        body.usdphys.articulation_root.is_applied = True
        return body.usdphys
    if place == "material":
        material = bpy.data.materials.new("Stuff")
        material.usdphys.physics_material.is_applied = True
        body.usdphys.physics_material = material
        return material.usdphys
    if place in ("joint", "dof"):
        joint = scenes.add_joint("Joint", SPECIAL.get(identifier, "REVOLUTE"), body)
        return joint.usdphys
    return body.usdphys


def put(thing, concept, target: str, value: float) -> list:
    bpy.context.scene.usdphys.targets = {target.upper()}
    dof = concepts.dofs_of(vendor_rows.joint_type(thing.id_data))[0] if concept.place == "dof" else ""
    made = vendor_edits.add_concept(bpy.context.scene, thing, concept, dof)
    places = [(row.applied, row.name) for row in made if row.name]
    for applied, name in places:
        row = next(row for row in thing.vendor if (row.applied, row.name) == (applied, name))
        attribute = vendor_rows.attribute_of(row)
        if attribute is None or attribute.value.is_array or attribute.value.base not in ("float", "double"):
            continue
        if attribute.value.size == 1:
            row.number = value
        else:
            row.text = text_of(attribute.value, (value,) * attribute.value.size)
    return places


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "target"), FIELDS, ids=lambda one: one)
def test_a_field_is_written_in_words_that_its_target_takes(tmp_path, identifier, target):
    """The schema is declared, applied and of that simulator or of Newton; no rule of the target objects."""
    concept = concepts.concepts()[identifier]
    places = put(owner(concept.place, identifier), concept, target, 2.0)
    stage, _ = scenes.export(tmp_path / "out.usda")
    for applied, name in places:
        cls = vendor_schemas.find(schema.split_applied(applied)[0])
        assert cls is not None
        if target != "Neutral":
            assert cls.family in (target, "Newton") or applied.startswith("PhysicsJointStateAPI")
        holders = [prim for prim in stage.Traverse() if prim.HasAuthoredMetadata("apiSchemas")
                   and applied in prim.GetMetadata("apiSchemas").GetAddedOrExplicitItems()]  # fmt: skip
        assert holders, f"{applied} is applied to nothing"
        values = [prim.GetAttribute(name) for prim in holders] if name else []
        assert all(one.HasAuthoredValue() or holders[0].GetRelationship(name) for one in values), name
    runtime = {"PhysX": "physx", "Newton": "newton", "MuJoCo": "mujoco"}.get(target, "usd")
    found = [
        issue for issue in validate.validate(usd_read.read_stage(stage), runtime)
        if any(applied.partition(":")[0] in issue.message or name in issue.message for applied, name in places if name)
        or issue.code.startswith(("Vendor", "Friction", "Limit"))
    ]  # fmt: skip
    assert [issue for issue in found if issue.code not in NEEDS] == []
