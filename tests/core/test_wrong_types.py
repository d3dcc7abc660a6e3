# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of any schema with values of another type: what reads and writes a file goes by what is allowed."""

from __future__ import annotations

import io
import sys

import pytest
from pxr import Sdf
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core import schema, vendor_schemas
from usdphys_ext.usdphys_addon.usd import edit_layer

JOINT = "    rel physics:body0 = </World/A>\n    rel physics:body1 = </World/B>\n"
CUBE = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"]'
BODY = "    rel material:binding:physics = </World/Mat>\n    double3 xformOp:translate = ({}, 0, 5)\n"
BODY += '    uniform token[] xformOpOrder = ["xformOp:translate"]\n'
#: Type and name of each prim, its metadata, and what is in it.
PRIMS = [
    ("PhysicsScene", "Scene", "", ""),
    ("Material", "Mat", 'prepend apiSchemas = ["PhysicsMaterialAPI"]', ""),
    *(("Cube", name, CUBE, BODY.format(x)) for name, x in (("A", 0), ("B", 3))),
    *((f"Physics{kind}Joint", kind, "", JOINT) for kind in ("Revolute", "Prismatic", "Spherical", "Distance")),
]
TEXT = '#usda 1.0\n(\n    defaultPrim = "World"\n)\ndef Xform "World"\n{\n'
TEXT += "".join(f'def {kind} "{name}" ({more})\n{{\n{inside}}}\n' for kind, name, more, inside in PRIMS) + "}\n"
#: What the attributes become: none of the declared ones is such a list.
WRONG = {"numbers": ("float[]", [1.5, 2.5, 3.5, 4.5, 5.5]), "words": ("token[]", ["a", "b", "c"])}


def schemas() -> list[type[schema.Schema]]:
    places = ("articulation", "body", "collider", "dof", "joint", "material", "prim", "scene")
    return [*schema.SCHEMAS.values(), *vendor_schemas.all_schemas(*places)]


def write_wrong(layer: Sdf.Layer, cls: type[schema.Schema], type_name: str, value: list[object]) -> None:
    """Give all prims all attributes of a schema, as values of a type."""
    for instance in ("rotX", "angular", "transX", "linear") if cls.kind == "multiple" else ("",):
        for child in layer.GetPrimAtPath("/World").nameChildren:
            if cls.kind != "typed":
                applied = child.GetInfo("apiSchemas")
                applied.prependedItems = [*applied.prependedItems, cls.usd_name + (f":{instance}" if instance else "")]
                child.SetInfo("apiSchemas", applied)
            for attribute in cls.attributes:
                name = attribute.usd_name(instance)
                if name not in child.properties and not attribute.is_relationship:
                    item = Sdf.AttributeSpec(child, name, Sdf.ValueTypeNames.Find(type_name))
                    item.default = value


@pytest.mark.parametrize("wrong", WRONG)
def test_no_schema_with_values_of_another_type_is_a_fault_of_the_program(tmp_path, monkeypatch, wrong):
    file, found = tmp_path / "wrong.usda", []
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    assert len(schemas()) > 100
    for cls in schemas():
        layer = Sdf.Layer.CreateAnonymous(".usda")
        assert layer.ImportFromString(TEXT)
        write_wrong(layer, cls, *WRONG[wrong])
        layer.Export(str(file))
        if cli.main(["--debug", "convert", str(file), str(tmp_path / "out.xml")]) not in (0, 1):
            found.append((cls.usd_name, said.getvalue()[-300:]))
        said.truncate(0)
    assert not found


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
@pytest.mark.parametrize(("type_name", "text", "value"), [
    ("token", '"heavy"', "heavy"), ("string", '"heavy"', "heavy"), ("float[]", "[2]", [2.0]), ("int", "3", 3),
    ("bool", "1", True), ("float3", "(1, 2, 3)", (1.0, 2.0, 3.0)), ("float", "None", None), ("float", "2", 2.0),
])  # fmt: skip
def test_a_flat_file_has_values_of_another_type_as_they_were(tmp_path, type_name, text, value, suffix):
    layer = Sdf.Layer.CreateAnonymous(".usda")
    first, rest = TEXT.split('def Cube "A" (', 1)
    own = CUBE.replace("]", ', "PhysicsMassAPI"]')
    body = f'def Cube "A" ({own})\n{{\n    {type_name} physics:mass = {text}\n}}\ndef Cube "Old" ('
    assert layer.ImportFromString(first + body + rest)
    file = tmp_path / f"flat{suffix}"
    edit_layer.flattened(layer, file).Export(str(file))
    flat = Sdf.Layer.OpenAsAnonymous(str(file))
    mass = flat.GetAttributeAtPath("/World/A.physics:mass")
    assert str(mass.typeName) == type_name
    made = None if isinstance(mass.default, Sdf.ValueBlock) else mass.default
    assert (list(made) == list(value)) if isinstance(value, list | tuple) else (made == value)
