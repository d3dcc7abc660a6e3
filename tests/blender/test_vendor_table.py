"""Every attribute of the vendors' tables through Blender: imported, saved, loaded, written in equal and other units."""

import json
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, Vt
from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

TABLES = Path(usd_export.__file__).resolve().parents[1] / "core" / "vendor_tables"
EACH = "__INSTANCE_NAME__"
#: Type of the prim and further API schema by place.
HOMES = {
    "body": ("Xform", "PhysicsRigidBodyAPI"), "collider": ("Cube", "PhysicsCollisionAPI"),
    "material": ("Material", "PhysicsMaterialAPI"), "scene": ("PhysicsScene", ""),
    "articulation": ("Xform", "PhysicsArticulationRootAPI"), "joint": ("PhysicsRevoluteJoint", ""),
    "dof": ("PhysicsRevoluteJoint", ""), "prim": ("NewtonActuator", ""), "": ("Xform", ""),
}  # fmt: skip
Expected = dict[str, tuple[dict[str, Any], str, dict[str, Any]]]


def value_for(row: dict[str, Any]) -> Any:
    """A value that is not the fallback."""
    type_, fallback = row["type"], row.get("fallback")
    bare = type_.removesuffix("[]")
    if row.get("tokens"):
        one: Any = row["tokens"][-1]
    elif bare == "bool":
        one = fallback is not True
    elif bare in ("token", "string"):
        one = "word"
    elif bare == "asset":
        one = Sdf.AssetPath("./curve.onnx")
    elif row.get("axes") or bare in ("int", "uint", "uint64", "uchar"):
        one = 3
    elif bare in ("float", "double", "half"):
        one = 2.5
    else:
        python = Sdf.ValueTypeNames.Find(bare).type.pythonClass
        size = python.dimension if not bare.startswith("quat") else 4
        numbers = [0.0, 1.0, 0.0, 0.0] if bare.startswith("quat") else [number + 0.5 for number in range(size)]
        one = python(*([int(number) for number in numbers] if bare.startswith("int") else numbers))
    if not type_.endswith("[]"):
        return one
    return Sdf.ValueTypeNames.Find(type_).type.pythonClass([one, one])


def write_stage(path: Path) -> Expected:
    """A file in centimetres with Y up, a prim for each schema. Returns (row, type name, all values) by attribute."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, "Y")
    stage.SetDefaultPrim(stage.DefinePrim("/World", "Xform"))
    expected: Expected = {}
    for file in sorted(TABLES.glob("*.json")):
        for schema in json.loads(file.read_text(encoding="utf-8"))["schemas"]:
            name, is_typed = schema["name"], schema["kind"] == "typed"
            type_name, other = (name, "") if is_typed else HOMES[schema.get("on", "")]
            instance = "angular" if "angular" in schema.get("instances", ()) else "rotX"
            prim = stage.DefinePrim(f"/World/{name}", type_name)
            applied = "" if is_typed else f"{name}:{instance}" if schema["kind"] == "multiple" else name
            for one in (other, applied):
                if one:
                    prim.AddAppliedSchema(one)
            rows = [row for row in schema["attributes"] if row["type"] != "rel" and ":" in row["usd"]]
            values = {row["usd"]: value_for(row) for row in rows}
            for row in rows:
                attribute = prim.CreateAttribute(
                    row["usd"].replace(EACH, instance), Sdf.ValueTypeNames.Find(row["type"]), False
                )
                attribute.Set(values[row["usd"]])
                expected[str(attribute.GetPath())] = (row, type_name, values)
    stage.Save()
    return expected


def is_so(value: Any, wanted: Any) -> bool:
    """Whether a value is the one that a row names, or, of an array of tokens, all of them begin as it says."""
    return all(token.startswith(wanted["each"]) for token in value) if isinstance(wanted, dict) else value == wanted


def expected_in_metres(row: dict[str, Any], type_name: str, values: dict[str, Any]) -> Any:
    """What a value is in metres with Z up, by the unit that the table has for it."""
    value = values[row["usd"]]
    if row.get("axes"):
        return 5  # X stays X, Y is Z
    unit = row.get("unit")
    unit = next((case[3] for case in row.get("unit_if", ()) if is_so(values[case[0]], case[1])), unit)
    if isinstance(unit, list):
        # Attributes of an instance are those of a rotation, and so is a revolute joint.
        unit = unit[1] if EACH in row["usd"] or type_name.startswith("Physics") else None
    is_world = row.get("space") == "world" or ("world_if" in row and values[row["world_if"][0]] == row["world_if"][1])
    if (unit is None and not is_world) or (not isinstance(value, float) and as_numbers(value).dtype.kind != "f"):
        return value
    power = 0
    for sign, exponent in re.findall(r"(^|[*/])m(?:\^(\d+))?(?![a-z])", unit or "1"):
        power += int(exponent or 1) * (-1 if sign == "/" else 1)
    factor = 0.01**power
    if isinstance(value, float):
        return value * factor
    numbers = as_numbers(value) * factor
    return numbers @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) if is_world else numbers


def differences(path: Path, expected: dict[str, Any]) -> list[str]:
    stage = Usd.Stage.Open(str(path))
    wrong = []
    for name, (row, value) in expected.items():
        attribute = stage.GetAttributeAtPath(name)
        found = attribute.Get() if attribute else None
        if found is None:
            wrong.append(f"{name} is lost")
        elif str(attribute.GetTypeName()) != row["type"]:
            wrong.append(f"{name} is {attribute.GetTypeName()}")
        elif is_number(found):
            if not np.allclose(as_numbers(found), as_numbers(value), rtol=1e-5, atol=1e-9):
                wrong.append(f"{name}: {found}, not {value}")
        elif found != value:
            wrong.append(f"{name}: {found}, not {value}")
    return wrong


QUATERNIONS = (Gf.Quatf, Gf.Quath, Gf.Quatd)


def is_number(value: Any) -> bool:
    return isinstance(value, (float, int, *QUATERNIONS)) or as_numbers(value).dtype.kind in "fiu"


def as_numbers(value: Any) -> Any:
    if isinstance(value, QUATERNIONS):
        return np.array([value.GetReal(), *value.GetImaginary()])
    if isinstance(value, Vt.QuathArray | Vt.QuatfArray):
        return np.array([as_numbers(one) for one in value])
    return np.asarray(value)


@pytest.mark.slow
@pytest.mark.parametrize("is_saved", [False, True], ids=["at once", "saved and loaded"])
def test_every_attribute_of_the_tables_goes_through_blender(tmp_path, is_saved):
    """In the same units, and in metres with Z up; and all that Blender has a place for is shown."""
    source = tmp_path / "all.usda"
    expected = write_stage(source)
    assert len(expected) > 750
    usd_import.import_usd(bpy.context, source, usd_import.ImportOptions())
    if is_saved:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "all.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "all.blend"))
    scene = bpy.context.scene.usdphys
    owners = [*scene.physics_scenes, *(material.usdphys for material in bpy.data.materials)]
    for obj in bpy.data.objects:
        owners += [obj.usdphys, *obj.usdphys.colliders]
    shown = [row.name for owner in owners if "vendor" in owner.keys() for row in owner.vendor if row.name]
    assert len(shown) > 500
    unreadable = [
        row.name for owner in owners for row in owner.vendor if row.name and vendor_rows.value_of(row) is None
    ]
    assert unreadable == []

    same = tmp_path / "same.usda"
    usd_export.export_usd(bpy.context, same, usd_export.ExportOptions(StageUnits(0.01, 1.0, "Y")))
    assert differences(same, {name: (row, values[row["usd"]]) for name, (row, _, values) in expected.items()}) == []
    metres = tmp_path / "metres.usda"
    usd_export.export_usd(bpy.context, metres, usd_export.ExportOptions(StageUnits(1.0, 1.0, "Z")))
    in_metres = {name: (found[0], expected_in_metres(*found)) for name, found in expected.items()}
    assert differences(metres, in_metres) == []
