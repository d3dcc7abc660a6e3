# SPDX-License-Identifier: GPL-3.0-or-later
"""What nobody understands is on the exported layer again, in one piece and in its place."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import assets
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt
from usdphys_ext.usdphys_addon.core import schema, vendor_schemas
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.core.vendors import is_vendor
from usdphys_ext.usdphys_addon.usd import carry, carry_restore, looks
from usdphys_ext.usdphys_addon.usd import opinions as usd_opinions
from usdphys_ext.usdphys_addon.usd import read as usd_read
from usdphys_ext.usdphys_addon.usd import write as usd_write
from usdphys_ext.usdphys_addon.usd.opinions import Opinions

from .devset import flattened

#: Said here once more, so that the code under test does not decide what it has to bring back.
FOREIGN_PROPERTY = re.compile(r"^(physx\w*|newton|mjc|state|physics:tensor):|^(drive|limit):\w+:physx|^gravity$")
FOREIGN_SCHEMA = re.compile(r"^(Physx|Newton|Mjc|Tensor|PhysicsJointState|GeomModel)")
FOREIGN_PRIM = re.compile(r"^(Mjc|Newton|Physx)")
FIELDS = ("kind", "assetInfo", "customData", "displayName", "documentation", "uiHints")
SI = StageUnits()
#: A prim does not keep its stage.
_alive: list[Usd.Stage] = []


def same_path(path: str) -> str:
    return path


def stage_of(text: str) -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(f"#usda 1.0\n{text}")
    _alive.append(Usd.Stage.Open(layer))
    return _alive[-1]


def restored(text: str, into: str = '(upAxis = "Z"\nmetersPerUnit = 1)\ndef Xform "A"\n{\n}', path: str = "/A",
             moved: Callable[[str], str] = same_path) -> Usd.Stage:  # fmt: skip
    """The text put on a prim of a fresh stage."""
    stage = stage_of(into)
    carry_restore.restore(text, stage.GetRootLayer().GetPrimAtPath(path), moved)
    return stage


def captured(text: str, path: str = "/A", units: StageUnits = SI) -> str:
    return carry.capture(Opinions(stage_of(text).GetPrimAtPath(path)), units)


# --------------------------------------------------------------------------- values


VALUES: dict[str, Any] = {
    "bool": True,
    "uchar": 200,
    "int": -5,
    "uint": 4_000_000_000,
    "int64": -5_000_000_000,
    "uint64": 18_000_000_000_000_000_000,
    "half": 0.5,
    "float": 0.1,
    "double": 0.1,
    "timecode": Sdf.TimeCode(7),
    "string": 'a "quoted"\nline',
    "token": "tok",
    "int3": Gf.Vec3i(1, 2, 3),
    "half3": Gf.Vec3h(0.5, 1, 2),
    "float2": Gf.Vec2f(0.1, 2),
    "float3": Gf.Vec3f(0.1, 2, 3),
    "double4": Gf.Vec4d(0.1, 2, 3, 4),
    "point3f": Gf.Vec3f(0.1, 2, 3),
    "normal3d": Gf.Vec3d(0.1, 2, 3),
    "color3f": Gf.Vec3f(0.1, 2, 3),
    "quath": Gf.Quath(1, 0, 0, 0),
    "quatf": Gf.Quatf(0.5, 0.1, 0.2, 0.3),
    "quatd": Gf.Quatd(0.5, 0.1, 0.2, 0.3),
    "matrix3d": Gf.Matrix3d(2),
    "matrix4d": Gf.Matrix4d(0.1),
    "bool[]": Vt.BoolArray([True, False]),
    "int[]": Vt.IntArray([1, 2]),
    "float[]": Vt.FloatArray([0.1, float("inf")]),
    "double[]": Vt.DoubleArray([0.1, 1e300]),
    "token[]": Vt.TokenArray(["a", "b"]),
    "string[]": Vt.StringArray(["a", "b c"]),
    "float3[]": Vt.Vec3fArray([(0.1, 2, 3)]),
    "point3f[]": Vt.Vec3fArray([]),
    "quatf[]": Vt.QuatfArray([Gf.Quatf(0.5, 0.1, 0.2, 0.3)]),
}


@pytest.mark.parametrize("uniform", [True, False])
def test_values_of_every_type(uniform: bool) -> None:
    stage = stage_of('def Xform "A"\n{\n}')
    variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
    expected = {}
    for number, (type_name, value) in enumerate(VALUES.items()):
        kind = Sdf.ValueTypeNames.Find(type_name)
        made = stage.GetPrimAtPath("/A").CreateAttribute(f"vendor:x{number}", kind, uniform, variability)
        made.Set(value)
        expected[type_name] = (type_name, uniform, variability, made.Get(), type(made.Get()))
    copy = restored(carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI))
    found = {}
    for number, type_name in enumerate(VALUES):
        one = copy.GetAttributeAtPath(f"/A.vendor:x{number}")
        found[type_name] = (one.GetTypeName(), one.IsCustom(), one.GetVariability(), one.Get(), type(one.Get()))
    assert found == expected


def test_path_expression_opaque_and_no_value() -> None:
    text = captured('def Xform "A"\n{\npathExpression v:e = "/A//*"\ncustom opaque v:o\ncustom float v:n\n}')
    prim = restored(text).GetPrimAtPath("/A")
    assert prim.GetAttribute("v:e").Get().GetText() == "/A//*"
    assert prim.GetAttribute("v:o").GetTypeName() == "opaque"
    assert prim.GetAttribute("v:n").IsAuthored()
    assert not prim.GetAttribute("v:n").HasAuthoredValue()


def test_purpose_and_visibility_are_carried_unless_the_model_holds_them() -> None:
    """The model holds the purpose of colliders only; Blender holds no visibility of prims."""
    lines = '{\ntoken visibility = "invisible"\nuniform token purpose = "guide"\n}'
    plain, collider = captured(f'def Cube "A" {lines}'), captured(
        f'def Cube "A" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {lines}'
    )  # fmt: skip
    assert "visibility" in plain and "purpose" in plain
    assert "visibility" in collider and "purpose" not in collider


def test_nothing_is_an_empty_text() -> None:
    plain = captured(
        'def Mesh "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "MaterialBindingAPI"]'
        "\ninstanceable = false\n)"
        "\n{\nfloat physics:mass = 3\npoint3f[] points = []\nfloat3[] extent = []\nrel material:binding = </M>"
        '\ndouble3 xformOp:translate = (1, 2, 3)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
        '\ncustom string userProperties:x = "u"\ncolor3f[] primvars:displayColor = []\n}'
    )
    assert plain == ""
    stage = stage_of('def Xform "A"\n{\n}')
    before = stage.GetRootLayer().ExportToString()
    carry_restore.restore("", stage.GetRootLayer().GetPrimAtPath("/A"), same_path)
    assert stage.GetRootLayer().ExportToString() == before


def test_broken_text_is_said() -> None:
    with pytest.raises(InputError, match="broken"):
        restored("#usda 1.0\nover {")


# --------------------------------------------------------------------------- time, connections, targets, metadata


def test_time_samples_with_blocks() -> None:
    text = captured('def Xform "A"\n{\nfloat v:x = 9\nfloat v:x.timeSamples = {\n1: 1,\n2: None,\n4: 3\n}\n}')
    found = restored(text).GetAttributeAtPath("/A.v:x")
    assert found.GetTimeSamples() == [1, 2, 4]
    assert [found.Get(time) for time in (1, 2, 4)] == [1, None, 3]
    assert found.Get() == 9


def test_time_samples_of_a_layer_with_an_offset() -> None:
    below = Sdf.Layer.CreateAnonymous(".usda")
    below.ImportFromString('#usda 1.0\ndef Xform "A"\n{\nfloat v:x.timeSamples = {\n1: 1,\n2: 2\n}\n}')
    stage = stage_of("")
    stage.GetRootLayer().subLayerPaths.append(below.identifier)
    stage.GetRootLayer().subLayerOffsets[0] = Sdf.LayerOffset(10, 2)
    found = restored(carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI)).GetAttributeAtPath("/A.v:x")
    assert found.GetTimeSamples() == [12, 14]


@pytest.mark.parametrize(("units", "into", "expected"), [
    (StageUnits(0.01), '(upAxis = "Z"\nmetersPerUnit = 1)', (1.0, 0.0, 0.02)),
    (StageUnits(1.0), '(upAxis = "Z"\nmetersPerUnit = 0.001)', (100_000.0, 0.0, 2000.0)),
])  # fmt: skip
def test_samples_of_the_table_follow_the_units(units: StageUnits, into: str, expected: tuple[float, ...]) -> None:
    body = 'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{\n'
    text = captured(f"{body}vector3f physics:velocity.timeSamples = {{\n1: (100, 0, 2)\n}}\n}}", units=units)
    stage = stage_of(f"{into}\n{body}vector3f physics:velocity = (7, 0, 0)\n}}")
    carry_restore.restore(text, stage.GetRootLayer().GetPrimAtPath("/A"), same_path)
    found = stage.GetAttributeAtPath("/A.physics:velocity")
    assert found.Get(1) == Gf.Vec3f(*expected)
    assert found.Get() == Gf.Vec3f(7, 0, 0)


def test_samples_of_gravity_turn_with_the_up_axis() -> None:
    scene = 'def PhysicsScene "A"\n{\nvector3f physics:gravityDirection.timeSamples = {\n1: (0, -1, 0)\n}\n}'
    text = captured(scene, units=StageUnits(1.0, 1.0, "Y"))
    stage = restored(text, '(upAxis = "Z"\nmetersPerUnit = 1)\ndef PhysicsScene "A"\n{\n}')
    assert stage.GetAttributeAtPath("/A.physics:gravityDirection").Get(1) == Gf.Vec3f(0, 0, -1)


def test_samples_in_the_space_of_a_prim_have_the_unit_of_that_space() -> None:
    """Below a root that carries the conversion as a scale a length is not one of the world."""
    body = 'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{\n'
    text = captured(f"{body}vector3f physics:velocity.timeSamples = {{\n1: (3, 0, 0)\n}}\n}}")
    units = StageUnits(0.01, 1.0, "Z", local_meters_per_unit=0.5)
    stage = stage_of(f'(upAxis = "Z"\nmetersPerUnit = 0.01)\n{body}\n}}')
    carry_restore.restore(text, stage.GetRootLayer().GetPrimAtPath("/A"), same_path, units)
    assert stage.GetAttributeAtPath("/A.physics:velocity").Get(1) == Gf.Vec3f(6, 0, 0)
    text = captured(f"{body}vector3f physics:velocity.timeSamples = {{\n1: (6, 0, 0)\n}}\n}}", units=units)
    assert restored(text, f'(upAxis = "Z"\nmetersPerUnit = 1)\n{body}\n}}').GetAttributeAtPath(
        "/A.physics:velocity"
    ).Get(1) == Gf.Vec3f(3, 0, 0)


@pytest.mark.parametrize(
    "metadata", ["", '(upAxis = "Z")', '(upAxis = "Y"\nmetersPerUnit = 1)', "(kilogramsPerUnit = 2)"]
)
def test_units_of_a_layer_are_those_that_usd_reads_from_it(metadata: str) -> None:
    stage = stage_of(f'{metadata}\ndef Xform "A"\n{{\n}}')
    assert carry_restore.layer_units(stage.GetRootLayer()) == usd_read.stage_units(stage)


def test_bounds_that_blenders_edits_make_wrong_are_not_carried() -> None:
    assert captured('def Xform "A"\n{\nfloat3[] extentsHint = [(0, 0, 0), (1, 1, 1)]\n}') == ""


def test_samples_of_gravity_turn_back() -> None:
    scene = 'def PhysicsScene "A"\n{\nvector3f physics:gravityDirection.timeSamples = {\n1: (0, 0, -1)\n}\n}'
    stage = restored(captured(scene), '(upAxis = "Y"\nmetersPerUnit = 1)\ndef PhysicsScene "A"\n{\n}')
    assert stage.GetAttributeAtPath("/A.physics:gravityDirection").Get(1) == Gf.Vec3f(0, -1, 0)


@pytest.mark.parametrize(("drive_type", "expected"), [("force", 0.2), ("acceleration", 2.0)])
def test_samples_of_a_drive_follow_its_type(drive_type: str, expected: float) -> None:
    drive = ('def PhysicsRevoluteJoint "A" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])'
             f'\n{{\nuniform token drive:angular:physics:type = "{drive_type}"\n')  # fmt: skip
    samples = f"{drive}float drive:angular:physics:stiffness.timeSamples = {{\n1: 2\n}}\n}}"
    text = captured(samples, units=StageUnits(0.01, 0.1))
    stage = restored(text, f'(upAxis = "Z"\nmetersPerUnit = 0.01)\n{drive}}}')
    assert stage.GetAttributeAtPath("/A.drive:angular:physics:stiffness").Get(1) == pytest.approx(expected, rel=1e-6)


def test_samples_of_the_table_that_are_there_stay() -> None:
    body = 'def Xform "A" (prepend apiSchemas = ["PhysicsMassAPI"])\n{\nfloat physics:mass.timeSamples = {\n'
    stage = restored(captured(f"{body}1: 1,\n2: 2\n}}\n}}"), f"{body}1: 7\n}}\n}}")
    assert stage.GetAttributeAtPath("/A.physics:mass").GetTimeSamples() == [1]
    assert stage.GetAttributeAtPath("/A.physics:mass").Get(1) == 7


def test_table_opinions_do_not_come_back_without_their_schema() -> None:
    text = captured(
        'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "VendorAPI"])\n{\n'
        "vector3f physics:velocity.timeSamples = {\n1: (1, 0, 0)\n}\nbool physics:kinematicEnabled = None\n}"
    )
    assert "physics:velocity" in text
    gone = restored(text).GetPrimAtPath("/A")
    assert not gone.HasAttribute("physics:velocity")
    assert not gone.HasAttribute("physics:kinematicEnabled")
    there = restored(text, 'def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{\n}').GetPrimAtPath("/A")
    assert there.GetAttribute("physics:velocity").GetTimeSamples() == [1]
    assert there.GetAttribute("physics:kinematicEnabled").HasAuthoredValueOpinion()
    assert not there.GetAttribute("physics:kinematicEnabled").HasAuthoredValue()


def test_table_attribute_without_its_schema_is_a_stranger() -> None:
    text = captured('def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{\nfloat physics:mass = 3\n}')
    assert restored(text).GetAttributeAtPath("/A.physics:mass").Get() == 3


def test_wrong_type_is_carried_and_never_overwrites() -> None:
    body = 'def Xform "A" (prepend apiSchemas = ["PhysicsMassAPI"])\n{\n'
    text = captured(f'{body}string physics:mass = "heavy"\nint physics:density = 4\n}}')
    assert "physics:density" not in text
    spec = restored(text, f"{body}}}").GetRootLayer().GetAttributeAtPath("/A.physics:mass")
    assert (str(spec.typeName), spec.default) == ("string", "heavy")
    spec = restored(text, f"{body}float physics:mass = 5\n}}").GetRootLayer().GetAttributeAtPath("/A.physics:mass")
    assert (str(spec.typeName), spec.default) == ("float", 5)


def test_metadata_of_a_table_attribute() -> None:
    body = 'def Xform "A" (prepend apiSchemas = ["PhysicsMassAPI"])\n{\n'
    text = captured(f'{body}float physics:mass = 3 (doc = "weighed")\n}}')
    found = restored(text, f"{body}float physics:mass = 4\n}}").GetAttributeAtPath("/A.physics:mass")
    assert (found.Get(), found.GetMetadata("documentation")) == (4, "weighed")
    assert not restored(text, f"{body}}}").GetRootLayer().GetAttributeAtPath("/A.physics:mass")


def test_what_is_there_wins() -> None:
    text = captured('def Xform "A" (kind = "component")\n{\nfloat v:x = 1\nfloat v:x.timeSamples = {\n1: 1\n}\n'
                    "float v:y.timeSamples = {\n1: 1\n}\nrel v:r = </A>\nfloat v:z.timeSamples = {\n1: 1\n}\n"
                    "float v:c.connect = </A.v:x>\nfloat v:d.connect = </A.v:x>\n}")  # fmt: skip
    stage = restored(
        text, 'def Xform "A" (kind = "group")\n{\nfloat v:x = 2\nfloat v:y.timeSamples = {\n5: 5\n}\n'
        "rel v:r = </B>\nrel v:z = </B>\nfloat v:c = 1\nfloat v:d.connect = </A.v:y>\n}"
    )  # fmt: skip
    prim = stage.GetPrimAtPath("/A")
    assert prim.GetMetadata("kind") == "group"
    assert (prim.GetAttribute("v:x").Get(), prim.GetAttribute("v:x").GetTimeSamples()) == (2, [1])
    assert prim.GetAttribute("v:y").GetTimeSamples() == [5]
    assert prim.GetRelationship("v:r").GetTargets() == ["/B"]
    assert prim.GetRelationship("v:z").GetTargets() == ["/B"]
    assert "v:z.timeSamples" not in stage.GetRootLayer().ExportToString()
    assert prim.GetAttribute("v:c").GetConnections() == ["/A.v:x"]
    assert prim.GetAttribute("v:d").GetConnections() == ["/A.v:y"]


def test_targets_and_connections_move() -> None:
    text = captured('def Xform "A" (prepend apiSchemas = ["VendorAPI"])\n{\nrel v:r = [</A/B>, </A/B.v:x>, </C>]\n'
                    "custom rel v:none = None\nrel v:bare\nfloat v:x = 1\nfloat v:x.connect = </A/B.outputs:o>\n"
                    'def Xform "B"\n{\n}\n}')  # fmt: skip

    def moved(path: str) -> str:
        return re.sub("^/A", "/root/A_001", path)

    stage = restored(text, 'def "root"\n{\ndef Xform "A_001"\n{\n}\n}', "/root/A_001", moved)
    prim = stage.GetPrimAtPath("/root/A_001")
    assert prim.GetRelationship("v:r").GetTargets() == ["/root/A_001/B", "/root/A_001/B.v:x", "/C"]
    assert prim.GetRelationship("v:none").HasAuthoredTargets()
    assert prim.GetRelationship("v:none").IsCustom()
    assert not prim.GetRelationship("v:bare").HasAuthoredTargets()
    assert not prim.GetRelationship("v:bare").IsCustom()
    assert prim.GetAttribute("v:x").GetConnections() == ["/root/A_001/B.outputs:o"]


METADATA = """def Xform "A" (
    "a comment"
    kind = "component"
    assetInfo = {
        string name = "n"
    }
    customData = {
        int a = 1
        dictionary d = {
            double[] x = [1, 2]
        }
    }
    doc = "d"
    hidden = true
    no_delete = true
    hints = {
        string a = "x"
    }
)
{
    float v:x = 1 (
        allowedTokens = ["a"]
        customData = {
            string c = "d"
        }
        displayGroup = "g"
        displayName = "X"
        doc = "p"
        hidden = true
        vendorKey = "unknown"
    )
    rel v:r (
        doc = "q"
    )
}
"""


def test_metadata_known_and_unknown_to_usd() -> None:
    before, after = stage_of(METADATA), restored(captured(METADATA))
    for path in ("/A", "/A.v:x", "/A.v:r"):
        old, new = before.GetObjectAtPath(path), after.GetObjectAtPath(path)
        assert len(old.GetAllAuthoredMetadata()) > 2
        assert new.GetAllAuthoredMetadata() == old.GetAllAuthoredMetadata()


def test_dictionaries_are_merged() -> None:
    text = captured('def Xform "A" (customData = {\nint a = 1\ndictionary d = {\nint x = 1\nint y = 1\n}\n})\n{\n}')
    stage = restored(text, 'def Xform "A" (customData = {\nint b = 2\ndictionary d = {\nint x = 2\n}\n})\n{\n}')
    assert dict(stage.GetRootLayer().GetPrimAtPath("/A").customData) == {"a": 1, "b": 2, "d": {"x": 2, "y": 1}}


# --------------------------------------------------------------------------- API schemas


def test_schema_order_is_the_original_one() -> None:
    text = captured(
        'def Mesh "A" (prepend apiSchemas = ["PhysxAAPI", "PhysicsRigidBodyAPI", "NewtonAPI", "PhysicsMassAPI", "Z:a"])'
        "\n{\n}"
    )
    stage = restored(text, 'def Mesh "A" (prepend apiSchemas = ["MaterialBindingAPI", "PhysicsMassAPI", '
                           '"PhysicsRigidBodyAPI"])\n{\n}')  # fmt: skip
    assert usd_opinions.applied_schemas(stage.GetPrimAtPath("/A")) == [
        "PhysxAAPI", "PhysicsRigidBodyAPI", "NewtonAPI", "PhysicsMassAPI", "Z:a", "MaterialBindingAPI",
    ]  # fmt: skip


def test_schema_lists_are_composed() -> None:
    stage = stage_of(
        'def Xform "A" (inherits = </C>\nprepend apiSchemas = ["OneAPI"]\ndelete apiSchemas = ["ThreeAPI"])\n{\n}\n'
        'class "C" (prepend apiSchemas = ["ThreeAPI", "TwoAPI"]\nappend apiSchemas = ["FourAPI"])\n'
        "{\nfloat v:x = 4\n}"
    )
    prim = restored(carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI)).GetPrimAtPath("/A")
    assert usd_opinions.applied_schemas(prim) == ["OneAPI", "TwoAPI", "FourAPI"]
    assert prim.GetAttribute("v:x").Get() == 4


def test_lists_of_all_kinds_become_one() -> None:
    text = captured('def Xform "A" (prepend apiSchemas = ["PhysicsMassAPI", "OneAPI"])\n{\n}')
    prim = restored(text, 'def Xform "A" (append apiSchemas = ["PhysicsMassAPI", "SkelBindingAPI"])\n{\n}')
    spec = prim.GetRootLayer().GetPrimAtPath("/A")
    assert spec.GetInfo("apiSchemas").prependedItems == ["PhysicsMassAPI", "OneAPI", "SkelBindingAPI"]
    assert spec.GetInfo("apiSchemas").appendedItems == []


def test_strongest_opinion_and_fitting_type() -> None:
    stage = stage_of(
        'def Xform "A" (inherits = </C>\nodd = 1)\n{\nstring v:x\n}\nclass "C" (odd = 2)\n{\nfloat v:x = 0.5\n}'
    )
    prim = restored(carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI)).GetPrimAtPath("/A")
    assert prim.GetAllAuthoredMetadata()["odd"].value == "1"
    assert (prim.GetAttribute("v:x").GetTypeName(), prim.GetAttribute("v:x").Get()) == ("float", 0.5)


def test_inputs_are_blenders_on_shading_only() -> None:
    body = '(prepend apiSchemas = ["PhysicsMaterialAPI"])\n{\nfloat inputs:x = 1\nfloat v:x = 1\n'
    body += "rel proxyPrim = </B>\n}"
    assert "inputs:x" not in captured(f'def Material "A" {body}')
    assert "v:x" in captured(f'def Material "A" {body}')
    text = captured(f'def Xform "A" {body}')
    assert "inputs:x" in text
    assert "proxyPrim" in text


def test_explicit_list_stays_explicit() -> None:
    text = captured('def Xform "A" (apiSchemas = ["OneAPI", "PhysicsMassAPI"])\n{\n}')
    spec = restored(text, 'def Xform "A" (apiSchemas = ["PhysicsMassAPI"])\n{\n}').GetRootLayer().GetPrimAtPath("/A")
    assert spec.GetInfo("apiSchemas").explicitItems == ["OneAPI", "PhysicsMassAPI"]


def test_twice_is_once() -> None:
    text = captured(METADATA)
    stage = restored(text)
    once = stage.GetRootLayer().ExportToString()
    carry_restore.restore(text, stage.GetRootLayer().GetPrimAtPath("/A"), same_path)
    assert stage.GetRootLayer().ExportToString() == once


# --------------------------------------------------------------------------- composition, files


def test_composed_through_reference_variant_and_instance(tmp_path: Path) -> None:
    (tmp_path / "robot.usda").write_text(
        '#usda 1.0\n(defaultPrim = "R")\ndef Xform "R" (variants = {\nstring v = "b"\n}\nprepend variantSets = "v")\n'
        '{\ndef Xform "L" (prepend apiSchemas = ["VendorAPI"])\n{\nfloat v:x = 1\nrel v:r = </R/L>\n}\n'
        'variantSet "v" = {\n"a" {\nover "L"\n{\nfloat v:y = 1\n}\n}\n'
        '"b" {\nover "L" (\nodd = 7\n)\n{\nfloat v:y = 2\n}\n'
        "}\n}\n}\n"
    )
    (tmp_path / "scene.usda").write_text(
        '#usda 1.0\ndef Xform "S" (prepend references = @robot.usda@\ninstanceable = true)\n{\n}\n'
    )
    stage = Usd.Stage.Open(str(tmp_path / "scene.usda"))
    text = carry.capture(Opinions(stage.GetPrimAtPath("/S/L")), SI)
    prim = restored(text).GetPrimAtPath("/A")
    assert usd_opinions.applied_schemas(prim) == ["VendorAPI"]
    assert (prim.GetAttribute("v:x").Get(), prim.GetAttribute("v:y").Get()) == (1, 2)
    assert prim.GetRelationship("v:r").GetTargets() == ["/S/L"]
    assert "odd" in prim.GetAllAuthoredMetadata()


def test_asset_paths_still_resolve_from_another_folder(tmp_path: Path) -> None:
    for name in ("from/sub", "to"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("from/sub/one.png", "from/two.png"):
        (tmp_path / name).write_text("x")
    source = tmp_path / "from/sub/scene.usda"
    source.write_text(
        '#usda 1.0\ndef Xform "A" (assetInfo = {\nasset identifier = @./one.png@\n})\n{\nasset v:a = @one.png@\n'
        "asset[] v:b = [@../two.png@, @/absolute.png@, @./gone.png@]\nasset v:c.timeSamples = {\n1: @./one.png@\n}\n}"
    )
    stage = Usd.Stage.Open(str(source))
    text = carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI)
    layer = Sdf.Layer.CreateNew(str(tmp_path / "to/out.usda"))
    carry_restore.restore(text, Sdf.CreatePrimInLayer(layer, "/A"), same_path)
    stage = Usd.Stage.Open(layer)
    prim = stage.GetPrimAtPath("/A")
    assert prim.GetAttribute("v:a").Get().path == "../from/sub/one.png"
    assert Path(prim.GetAttribute("v:a").Get().resolvedPath).samefile(tmp_path / "from/sub/one.png")
    assert [one.path for one in prim.GetAttribute("v:b").Get()] == [
        "../from/two.png", "/absolute.png", "../from/sub/gone.png",
    ]  # fmt: skip
    assert prim.GetAttribute("v:c").Get(1).path == "../from/sub/one.png"
    assert prim.GetAssetInfo()["identifier"].path == "../from/sub/one.png"


def test_spline(tmp_path: Path) -> None:
    spec = Sdf.AttributeSpec
    if not hasattr(spec, "SetSpline"):
        pytest.skip("this USD keeps no splines in layers")
    stage = stage_of('def Xform "A"\n{\ndouble v:x.spline = {\n1: 5; post linear,\n11: 15; post held,\n}\n}')
    found = restored(carry.capture(Opinions(stage.GetPrimAtPath("/A")), SI)).GetAttributeAtPath("/A.v:x")
    assert found.Get(6) == 10


# --------------------------------------------------------------------------- whole prims and the layer


WHOLE = """(
    "said"
    customLayerData = {
        string maker = "m"
    }
    endTimeCode = 20
    framesPerSecond = 30
    metersPerUnit = 0.01
    startTimeCode = 10
    strange = 5
    timeCodesPerSecond = 30
)
def Xform "World"
{
    def Scope "Physics"
    {
        def VendorActuator "act" (
            prepend apiSchemas = ["VendorAPI"]
        )
        {
            float gain = 3
            rel target = </World/Body>
        }
    }
    def Xform "Body"
    {
        def "data"
        {
            custom string v:x = "y"
        }
        def "empty"
        {
        }
        def Mesh "off" (
            active = false
        )
        {
            point3f[] points = [(1, 2, 3)]
            def Sphere "deeper" (
                active = false
            )
            {
                double radius = 3
            }
        }
    }
}
class "Defaults"
{
    float v:x = 1
    def "more"
    {
        float v:x = 2
    }
}
class Xform "Shape"
{
    def Cube "c"
    {
    }
}
over "Dangling"
{
    float v:x = 1
}
def RenderSettings "Render"
{
    rel camera = </World/Body>
}
def Cube "unseen"
{
}
def Material "unused"
{
    float v:x = 1
}
def SkelAnimation "swing"
{
}
"""
KNOWN = {"/World", "/World/Body"}


def moved_world(path: str) -> str:
    return re.sub("^/World", "/root/World", path)


def test_whole_prims() -> None:
    text = carry.capture_prims(stage_of(WHOLE), KNOWN)
    stage = stage_of('def Xform "root"\n{\ndef Xform "World"\n{\ndef Xform "Body"\n{\n}\n}\n}')
    made = carry_restore.restore_prims(text, stage.GetRootLayer(), moved_world)
    assert sorted(made) == [
        "/Dangling", "/Defaults", "/Defaults/more", "/Render", "/root/World/Body/data", "/root/World/Body/off",
        "/root/World/Body/off/deeper", "/root/World/Physics/act",
    ]  # fmt: skip
    assert stage.GetAttributeAtPath("/Defaults/more.v:x").Get() == 2
    actuator = stage.GetPrimAtPath("/root/World/Physics/act")
    assert (actuator.GetTypeName(), usd_opinions.applied_schemas(actuator)) == ("VendorActuator", ["VendorAPI"])
    assert actuator.GetRelationship("target").GetTargets() == ["/root/World/Body"]
    assert actuator.GetAttribute("gain").Get() == 3
    assert actuator.GetParent().GetTypeName() == "Scope"
    assert actuator.IsDefined()
    specifiers = [stage.GetPrimAtPath(path).GetSpecifier() for path in ("/Defaults", "/Dangling")]
    assert specifiers == [Sdf.SpecifierClass, Sdf.SpecifierOver]
    off = stage.GetPrimAtPath("/root/World/Body/off")
    assert not off.IsActive()
    off.SetActive(True)
    assert list(UsdGeom.Mesh(off).GetPointsAttr().Get()) == [Gf.Vec3f(1, 2, 3)]
    deeper = stage.GetPrimAtPath("/root/World/Body/off/deeper")
    assert not deeper.IsActive()
    assert stage.GetRootLayer().GetAttributeAtPath("/root/World/Body/off/deeper.radius").default == 3


def test_capturing_leaves_the_stage_alone() -> None:
    stage = stage_of(WHOLE)
    before = stage.GetRootLayer().ExportToString(), stage.GetSessionLayer().ExportToString()
    assert carry.capture_prims(stage, KNOWN) != ""
    assert (stage.GetRootLayer().ExportToString(), stage.GetSessionLayer().ExportToString()) == before


def test_layer_metadata() -> None:
    text = carry.capture_prims(stage_of(WHOLE), KNOWN)
    stage = stage_of('(customLayerData = {\nstring maker = "b"\n}\nstartTimeCode = 1)')
    layer = stage.GetRootLayer()
    carry_restore.restore_prims(text, layer, same_path)
    assert layer.startTimeCode == 1
    assert (layer.endTimeCode, layer.timeCodesPerSecond, layer.framesPerSecond) == (20, 30, 30)
    assert layer.comment == "said"
    assert not layer.pseudoRoot.HasInfo("metersPerUnit")
    assert layer.customLayerData == {"maker": "b"}
    assert "strange = 5" in layer.ExportToString()
    fresh = Sdf.Layer.CreateAnonymous(".usda")
    carry_restore.restore_prims(text, fresh, same_path)
    assert fresh.customLayerData == {"maker": "m"}


def test_a_prim_that_is_there_stays() -> None:
    text = carry.capture_prims(stage_of(WHOLE), KNOWN)
    stage = stage_of('def Xform "World"\n{\ndef Scope "Physics"\n{\ndef Cube "act"\n{\n}\n}\n}')
    assert "/World/Physics/act" not in carry_restore.restore_prims(text, stage.GetRootLayer(), same_path)
    assert stage.GetPrimAtPath("/World/Physics/act").GetTypeName() == "Cube"
    assert not stage.GetPrimAtPath("/World/Physics/act").HasAttribute("gain")


def test_inactive_prim_below_an_instance(tmp_path: Path) -> None:
    (tmp_path / "part.usda").write_text(
        '#usda 1.0\n(defaultPrim = "P")\ndef Xform "P"\n{\ndef Xform "x" (active = false)\n{\ncustom int v:x = 1\n}\n}'
    )
    (tmp_path / "scene.usda").write_text(
        '#usda 1.0\ndef Xform "I" (references = @./part.usda@\ninstanceable = true)\n{\n}'
    )
    text = carry.capture_prims(Usd.Stage.Open(str(tmp_path / "scene.usda")), {"/I"})
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert carry_restore.restore_prims(text, layer, same_path) == ["/I/x"]
    assert layer.GetAttributeAtPath("/I/x.v:x").default == 1
    assert not layer.GetPrimAtPath("/I/x").active


def test_nothing_to_bring() -> None:
    assert carry.capture_prims(stage_of('(upAxis = "Z")\ndef Xform "A"\n{\ndef Mesh "m"\n{\n}\n}'), {"/A"}) == ""


@pytest.mark.slow
@pytest.mark.parametrize("count", [4000])
def test_many_prims_take_linear_time(count: int) -> None:
    """Not a benchmark: a quadratic way would take minutes."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    with Sdf.ChangeBlock():
        for number in range(count):
            spec = Sdf.CreatePrimInLayer(layer, f"/g{number % 50}/p{number}")
            spec.specifier, spec.typeName = Sdf.SpecifierDef, "VendorThing"
            spec.nameParent.specifier = Sdf.SpecifierDef
            Sdf.AttributeSpec(spec, "v:x", Sdf.ValueTypeNames.FloatArray).default = Vt.FloatArray([0.5] * 100)
    text = carry.capture_prims(Usd.Stage.Open(layer), ())
    again = Sdf.Layer.CreateAnonymous(".usda")
    assert len(carry_restore.restore_prims(text, again, same_path)) == count


# --------------------------------------------------------------------------- files that others wrote


@pytest.fixture(scope="module")
def judge(shared: Path) -> Any:
    spec = importlib.util.spec_from_file_location("comparer", assets.comparer())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def specs(layer: Sdf.Layer) -> Iterator[Sdf.Path]:
    found: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, found.append)
    yield from (path for path in found if path.IsPrimPath() or path.IsPrimPropertyPath())


def strip(layer: Sdf.Layer) -> int:
    """Take off what Blender and the model do not bring; how many opinions that were."""
    count = 0
    for path in [path for path in specs(layer) if path.IsPrimPath()]:
        spec = layer.GetPrimAtPath(path)
        if spec is None:
            continue
        if FOREIGN_PRIM.match(spec.typeName):
            del spec.nameParent.nameChildren[spec.name]
            count += 1
            continue
        for item in [item for item in spec.properties if FOREIGN_PROPERTY.match(item.name)]:
            spec.RemoveProperty(item)
            count += 1
        for field in [field for field in FIELDS if spec.HasInfo(field)]:
            spec.ClearInfo(field)
            count += 1
        if spec.HasInfo("apiSchemas"):
            names = list(spec.GetInfo("apiSchemas").GetAddedOrExplicitItems())
            kept = [name for name in names if not FOREIGN_SCHEMA.match(name)]
            count += len(names) - len(kept)
            spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=kept))
    return count


def facts(layer: Sdf.Layer) -> dict[tuple[str, str], Any]:
    """Every field of every prim and property."""
    found: dict[tuple[str, str], Any] = {}
    for path in specs(layer):
        spec = layer.GetObjectAtPath(path)
        for field in spec.ListInfoKeys():
            value = spec.GetInfo(field)
            if field == "apiSchemas":
                value = list(value.GetAddedOrExplicitItems())
                if not value:
                    continue
            elif field in ("targetPaths", "connectionPaths"):
                value = list(value.GetAddedOrExplicitItems())
            found[str(path), field] = value
    return found


def is_of_table(path: str, stage: Usd.Stage) -> bool:
    """True for an attribute that a schema of a vendor on its prim has."""
    item = stage.GetPropertyAtPath(path)
    names = usd_opinions.applied_schemas(item.GetPrim())
    return any(vendor_schemas.attribute_named(name, item.GetName()) for name in names)


def vendors_only(model: PhysicsModel) -> PhysicsModel:
    """What the model holds of vendors: the rest of the physics is still in the stripped files."""
    found = PhysicsModel(model.units)
    for path, prim in model.prims.items():
        schemas = {name: value for name, value in prim.schemas.items() if is_vendor(type(value))}
        if schemas:
            found.add(Prim(path, prim.type_name, schemas=schemas))
    return found


@pytest.mark.slow
def test_devset_survives(shared: Path, judge: Any, tmp_path: Path) -> None:
    wrong: list[str] = []
    stripped_count = vendor_facts = losses = 0
    for file in assets.usd_files():
        whole = flattened(file)
        bare = Usd.Stage.Open(whole.Flatten())
        layer = bare.GetRootLayer()
        stripped_count += strip(layer)
        original = Usd.Stage.Open(str(file))
        units = usd_read.stage_units(original)
        kept = {str(path) for path in specs(layer) if path.IsPrimPath()}
        texts = {
            str(prim.GetPath()): carry.capture(Opinions(prim), units)
            for prim in Usd.PrimRange.Stage(original, Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))
            if str(prim.GetPath()) in kept
        }
        names = [str(tmp_path / name) for name in ("a.usda", "bare.usda", "b.usda")]
        whole.GetRootLayer().Export(names[0])
        layer.Export(names[1])
        prims = carry.capture_prims(original, kept)
        usd_write.write_model(bare, vendors_only(usd_read.read_stage(original)), units)
        for path, text in texts.items():
            carry_restore.restore(text, layer.GetPrimAtPath(path), same_path)
        carry_restore.restore_prims(prims, layer, same_path)
        layer.Export(names[2])
        score = judge.compare(names[0], names[2])
        if score["vendor"] not in (None, 1.0):
            wrong.append(f"{file.name}: {score['vendor']} of {score['vendor_facts']}")
        vendor_facts += score["vendor_facts"]
        losses += judge.compare(names[0], names[1])["vendor"] not in (None, 1.0)
        before, after = facts(whole.GetRootLayer()), facts(layer)
        wrong += [f"{file.name}: lost {key} {before[key]}" for key in before.keys() - after.keys()]
        # A tendon without an axis is about that of its joint; the model says so.
        new = [key for key in after.keys() - before.keys() if not key[0].endswith(":jointAxis")]
        wrong += [f"{file.name}: new {key} {after[key]}" for key in new]
        wrong += [
            f"{file.name}: {key} {before[key]} {after[key]}"
            for key in before.keys() & after.keys()
            # The model writes schemas in their order, but here without those that were not stripped; and attributes
            # of vendors with the variability that their schema has.
            if before[key] != after[key]
            and not (key[1] == "apiSchemas" and {*before[key]} == {*after[key]})
            and not (key[1] == "variability" and is_of_table(key[0], whole))
        ]
    assert wrong == []
    assert stripped_count > assets.either(500, 300)
    assert vendor_facts > 200
    assert losses > assets.either(15, 6)


@pytest.mark.slow
def test_devset_after_the_model(shared: Path) -> None:
    """With the writer in between, as in an export: nothing that the model wrote is touched."""
    restored_texts = 0
    for file in assets.usd_files():
        stage = flattened(file)
        units = usd_read.stage_units(stage)
        model = usd_read.read_stage(stage)
        texts = {path: carry.capture(Opinions(stage.GetPrimAtPath(path)), units) for path in model.prims}
        bare = Usd.Stage.Open(stage.Flatten())
        for path in model.prims:
            spec = bare.GetRootLayer().GetPrimAtPath(path)
            for item in list(spec.properties):
                if item.name.partition(":")[0] in ("physics", "physxLimit", "newton", "mjc", "limit", "drive"):
                    spec.RemoveProperty(item)
            spec.ClearInfo("apiSchemas")
        usd_write.write_model(bare, model, units)
        values = facts(bare.GetRootLayer())
        for path, text in texts.items():
            restored_texts += bool(text)
            carry_restore.restore(text, bare.GetRootLayer().GetPrimAtPath(path), same_path)
        after = facts(bare.GetRootLayer())
        assert {key: after[key] for key in values if key[1] != "apiSchemas"} == {
            key: value for key, value in values.items() if key[1] != "apiSchemas"
        }
        for path, prim in model.prims.items():
            original = usd_opinions.applied_schemas(stage.GetPrimAtPath(path))
            known = [name for name in original if name not in ("MaterialBindingAPI", "CollectionAPI:colliders")]
            found = usd_opinions.applied_schemas(bare.GetPrimAtPath(path))
            if texts[path]:
                assert [name for name in found if name in known] == known
            assert set(known) <= set(found)
            assert prim.schemas.keys() - {"PhysicsScene"} <= {*found, *schema.SCHEMAS, prim.type_name}
    assert restored_texts > assets.either(80, 8)


def test_looks_of_all_materials_below_a_path_are_carried_after_one_that_has_shaders() -> None:
    stage = Usd.Stage.CreateInMemory()
    for path in ("/A/Looks/First", "/A/Looks/Second", "/B/Looks/Third"):
        UsdShade.Material.Define(stage, path)
        UsdShade.Shader.Define(stage, f"{path}/Surface").CreateIdAttr("UsdPreviewSurface")
    materials = ["/A/Looks/First", "/A/Looks/Second", "/B/Looks/Third"]
    text = looks.capture_looks(stage, materials, {"/A/Looks/First"}, "/A")
    assert looks.looks_in(text) == {"/A/Looks/First": True, "/A/Looks/Second": False}
