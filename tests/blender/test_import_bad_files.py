# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of files that are wrong in one way: they come in, or one clear sentence says why not and nothing changes."""

import struct

import bpy
import pytest
from mathutils import Vector
from pxr import Sdf, Tf, Usd, UsdGeom
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.usd import importable
from usdphys_ext.usdphys_addon.usd import read as usd_read

pytestmark = pytest.mark.slow


def import_usd(path):
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())


def write(path, body, head=""):
    # USD wants statements on lines of their own.
    body = body.replace("{ ", "{\n").replace(" }", "\n}")
    path.write_text(f"#usda 1.0\n({head})\n{body}", encoding="utf-8")
    return path


def comes_in(path, folder):
    """Import, read and export."""
    result = import_usd(path)
    bpy.context.view_layer.update()
    scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    units, hierarchy = usd_export.stage_options(bpy.context.scene)
    usd_export.export_usd(bpy.context, folder / "out.usda", usd_export.ExportOptions(units, hierarchy))
    return result


def warning(path, folder, prim):
    """The one warning of an import in which Blender gets an Empty for a prim that the written file still has."""
    before = set(bpy.data.objects)
    unreadable = [issue for issue in comes_in(path, folder).issues if issue.code == "GeometryUnreadable"]
    assert [issue.path for issue in unreadable] == [prim]
    names = {obj.name: obj.type for obj in set(bpy.data.objects) - before}
    assert names[prim.rsplit("/", 1)[-1]] == "EMPTY"
    formats.USD.write(str(folder / "back.usda"), formats.WriteOptions())
    back, source = (Usd.Stage.Open(str(file)) for file in (folder / "back.usda", path))
    assert back.GetPrimAtPath(prim).GetTypeName() == source.GetPrimAtPath(prim).GetTypeName() != "Xform"
    for item in source.GetPrimAtPath(prim).GetAuthoredAttributes():
        assert str(back.GetAttributeAtPath(item.GetPath()).Get(0)) == str(item.Get(0))
    return unreadable[0].message


def refusal(path):
    """The sentence with which an import is refused; it names the file, and the scene stays as it was."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "Own"
    scene = bpy.context.scene
    scene.usdphys.physics_scenes.add().name = "Own"
    kinds = [item.identifier for item in bpy.data.bl_rna.properties if item.type == "COLLECTION"]
    before = {kind: getattr(bpy.data, kind).keys() for kind in kinds}
    with pytest.raises(InputError) as caught:
        import_usd(path)
    assert {kind: getattr(bpy.data, kind).keys() for kind in kinds} == before
    assert scene.unit_settings.scale_length == 1.0 and scene.usdphys.physics_scenes.keys() == ["Own"]
    assert not any(scene.usdphys.source.is_property_set(name) for name in ("filepath", "default_prim", "carried"))
    assert not scene.usdphys.stage.is_property_set("meters_per_unit")
    assert bpy.context.object.name == "Own" and [obj.name for obj in bpy.context.selected_objects] == ["Own"]
    text = str(caught.value)
    assert path.name in text and "\n" not in text and text.endswith("."), text
    assert len(text) < 200 + len(str(path)), text
    return text


# --------------------------------------------------------------------------- files


def write_float_units(path, meters):
    """A cube of 2 units in a crate file whose metersPerUnit is a float, as Blender 2.8 and 2.9 wrote it."""
    layer = Sdf.Layer.CreateAnonymous(".usdc")
    layer.ImportFromString(f'#usda 1.0\n(\nmetersPerUnit = {meters}\nupAxis = "Z"\n)\ndef Cube "A" {{\n}}\n')
    layer.Export(str(path))
    # Bits 48 to 55 of a value are its type: 9 is a double, 8 a float; a number that is exact as a float is one in both.
    number, kinds = struct.pack("<f", meters), (b"\0\0\x09", b"\0\0\x08")
    data = path.read_bytes()
    assert data.count(number[2:] + kinds[0]) == 1
    path.write_bytes(data.replace(number[2:] + kinds[0], number[2:] + kinds[1]))
    with pytest.raises(Tf.ErrorException, match="float"):
        UsdGeom.GetStageMetersPerUnit(Usd.Stage.Open(str(path)))
    return path


def test_units_that_an_old_blender_wrote_count(tmp_path):
    file = write_float_units(tmp_path / "old.usdc", 0.25)
    result = import_usd(file)
    issues = [issue.message for issue in result.issues if issue.code == "WrongValueType"]
    assert len(issues) == 1 and "'metersPerUnit' of '/' is of type float in place of double" in issues[0]
    bpy.context.view_layer.update()
    cube = bpy.data.objects["A"]
    corners = [cube.matrix_world @ Vector(corner) for corner in cube.bound_box]
    assert max(corner.x for corner in corners) == pytest.approx(0.25)
    formats.USD.write(str(tmp_path / "back.usdc"), formats.WriteOptions())
    assert usd_read.stage_units(usd_read.open_stage(tmp_path / "back.usdc")).meters_per_unit == 0.25


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.usda", b"", "does not begin"),
        ("prose.usda", b"no usd at all", "does not begin"),
        ("brace.usda", b"#usda 1.0\n\ndef {", "line 3"),
        ("type.usda", b'#usda 1.0\ndef Cube "A"\n{\n    double size = "large"\n}\n', "line 4"),
        ("latin.usda", b'#usda 1.0\ndef Cube "\xd2\xff" {\n}\n', "not UTF-8"),
        ("crate.usdc", b"PXR-USDC" + bytes(80), "damaged"),
        ("short.usdc", b"PXR-USDC", "damaged"),
        ("text.usdc", b"#usda 1.0\n", "is a .usda file"), ("text.usdz", b"#usda 1.0\n", ""),
        ("crate.usda", b"PXR-USDC" + bytes(80), "is a .usdc file"), ("package.usdc", b"PK\x03\x04", "is a .usdz file"),
        ("package.usdz", b"PK\x03\x04" + bytes(50), ""),
        ("image.usd", b"\x89PNG\r\n\x1a\n" + bytes(50), ""),
    ],
)  # fmt: skip
def test_no_usd_at_all(tmp_path, name, content, word):
    path = tmp_path / name
    path.write_bytes(content)
    assert word in refusal(path)


def test_folder(tmp_path):
    path = tmp_path / "folder.usda"
    path.mkdir()
    assert "is a folder" in refusal(path)


def test_error_of_usd_that_nobody_foresaw(tmp_path, monkeypatch):
    def fail(*_):
        with pytest.raises(Tf.ErrorException) as caught:
            Sdf.Layer.CreateAnonymous(".usda").ImportFromString("#usda 1.0\n{")
        raise caught.value

    monkeypatch.setattr(usd_read, "default_prim_name", fail)
    assert "because USD finds an error in it" in refusal(write(tmp_path / "cube.usda", BODY + "{}"))


def test_loop_of_links(tmp_path):
    path = tmp_path / "loop.usda"
    path.symlink_to(path)
    refusal(path)


def test_reason_for_a_missing_layer_that_is_no_text(tmp_path):
    """USD quotes the bytes that it cannot read."""
    (tmp_path / "part.usda").write_bytes(b'#usda 1.0\ndef Cube "\xd2\xff" {\n}\n')
    path = write(tmp_path / "whole.usda", 'def "A" (references = @./part.usda@) {}\ndef Cube "B" {}')
    assert comes_in(path, tmp_path).issues


@pytest.mark.parametrize(
    "body",
    [
        'def Xform "A" (references = </A>) {}',
        'def Xform "A" (references = </A/B>) { def Xform "B" {} }',
        'def Xform "A" (inherits = </B>) {}\ndef Xform "B" (specializes = </A>) {}',
        'def Xform "A" (payload = @./cycle.usda@</A>) {}',
    ],
)
def test_cycles(tmp_path, body):
    comes_in(write(tmp_path / "cycle.usda", body, head="subLayers = [@./cycle.usda@]"), tmp_path)


# --------------------------------------------------------------------------- values


BODY = 'def Cube "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])\n'
VALUES = (
    'string {} = "x"', "float[] {} = [1, 2]", "float2 {} = (1, 2)", "double[] {} = []", "bool {} = 1",
    'token {} = "none"',
    "float {} = nan", "vector3f {} = (nan, inf, -inf)", "quatf {} = (0, 0, 0, 0)", "quatf {} = (nan, nan, nan, nan)",
    "rel {} = </A>", "float {} = None", "float {}.timeSamples = {{ 1: 2, 3: None }}",
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_bodies_with_values_of_another_type(tmp_path, value):
    names = ("physics:mass", "physics:velocity", "physics:principalAxes", "physics:centerOfMass", "size", "purpose")
    for name in names:
        path = tmp_path / f"{name.rsplit(':', 1)[-1]}.usda"
        comes_in(write(path, f"{BODY}{{\n    {value.format(name)}\n}}", head='upAxis = "Y"'), tmp_path)


@pytest.mark.parametrize(("axis", "value"), [*(("Y", value) for value in VALUES), ("Z", VALUES[0]), ("Z", VALUES[7])])
def test_joints_with_values_of_another_type(tmp_path, axis, value):
    for name in ("physics:localPos0", "physics:localRot1", "physics:axis", "physics:lowerLimit", "physics:body0"):
        path = tmp_path / f"{name.rsplit(':', 1)[-1]}.usda"
        joint = f"rel physics:body1 = </A>\n    {value.format(name)}"
        body = f'def Cube "A" {{}}\ndef PhysicsRevoluteJoint "J"\n{{\n    {joint}\n}}'
        comes_in(write(path, body, head=f'upAxis = "{axis}"'), tmp_path)


def test_tokens_that_nobody_knows(tmp_path):
    body = """
def Plane "A" (prepend apiSchemas = ["PhysicsCollisionAPI"]) { uniform token axis = "W" }
def Capsule "B" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
    uniform token axis = ""
    uniform token purpose = "nonsense"
}
def PhysicsPrismaticJoint "C" { uniform token physics:axis = "up" }
"""
    comes_in(write(tmp_path / "tokens.usda", body, head='upAxis = "X"'), tmp_path)
    assert bpy.data.objects["A"].usdphys.colliders[0].axis == "Z"
    assert bpy.data.objects["B"].usdphys.colliders[0].purpose == "DEFAULT"


def test_attribute_here_and_relationship_there(tmp_path):
    """USD raises where the layers do not agree on what a property is."""
    write(
        tmp_path / "part.usda",
        'def Cube "A" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {\n'
        "    float material:binding:physics = 1\n    float vendor:thing = 1\n    rel xformOp:scale = </A>\n}",
    )
    body = (
        'def Cube "A" (references = @./part.usda@</A>) {\n    rel material:binding:physics = </M>\n'
        '    rel vendor:thing = </M>\n    float3 xformOp:scale = (2, 2, 2)\n}\ndef Material "M" {}'
    )
    comes_in(write(tmp_path / "whole.usda", body), tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [*(("metersPerUnit", value) for value in ("0", "-1", "nan", "inf", "1e300")), ("kilogramsPerUnit", "0"),
     ("kilogramsPerUnit", "nan"), ("framesPerSecond", "0"), ("framesPerSecond", "nan"), ("timeCodesPerSecond", "0"),
     ("timeCodesPerSecond", "1e300")],
)  # fmt: skip
def test_odd_numbers_about_the_stage(tmp_path, name, value):
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString("#usda 1.0\n" + BODY + "{\n    float physics:mass = 1\n}")
    layer.pseudoRoot.SetInfo(name, float(value))
    path = tmp_path / "odd.usdc"
    layer.Export(str(path))
    if "PerUnit" in name:
        assert name in refusal(path)
    else:
        comes_in(path, tmp_path)


# --------------------------------------------------------------------------- transforms


@pytest.mark.parametrize(
    "order",
    [
        '["xformOp:nonsense"]', '["xformOp:missing"]', '["xformOp:translate", "xformOp:translate"]',
        '["xformOp:text", "!invert!xformOp:scale"]', '["xformOp:blocked"]', '["\\x01", ""]',
        '["!invert!xformOp:transform"]', '["!resetXformStack!", "nothing"]',
    ],
)  # fmt: skip
def test_broken_transform_operations_are_left_out(tmp_path, order):
    body = f"""
def Xform "Above" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{{
    float xformOp:nonsense = 1
    string xformOp:text = "x"
    double3 xformOp:translate:blocked = None
    double3 xformOp:blocked = None
    double3 xformOp:translate = (1, 2, 3)
    float3 xformOp:scale = (1, 0, 1)
    matrix4d xformOp:transform = ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0))
    uniform token[] xformOpOrder = {order}
    def Cube "A" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{}}
    def Scope "B" {{ def PhysicsFixedJoint "J" {{ rel physics:body0 = </Above/A> }} }}
}}
"""
    comes_in(write(tmp_path / "broken.usda", body), tmp_path)


@pytest.mark.parametrize("order", ['token xformOpOrder = "x"', "float[] xformOpOrder = [1]", "rel xformOpOrder = </A>"])
def test_order_of_another_type(tmp_path, order):
    body = f"{BODY}{{\n    {order}\n    double3 xformOp:translate = (1, 2, 3)\n}}"
    comes_in(write(tmp_path / "broken.usda", body), tmp_path)


@pytest.mark.parametrize("numbers", ["(nan, 1, 1)", "(inf, -inf, 1)", "(0, 0, 0)", "(1e30, 1e-30, -1)"])
@pytest.mark.parametrize("operation", ["translate", "scale", "rotateXYZ"])
def test_places_that_are_none(tmp_path, numbers, operation):
    body = f"""
def Xform "A" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{{
    float3 xformOp:{operation} = {numbers}
    uniform token[] xformOpOrder = ["xformOp:{operation}"]
    def Sphere "B" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{}}
    def PhysicsFixedJoint "J" {{ rel physics:body0 = </A> }}
}}
"""
    comes_in(write(tmp_path / "place.usda", body), tmp_path)


# --------------------------------------------------------------------------- what would end Blender


def mesh(points="[(0, 0, 0), (1, 0, 0), (1, 1, 0)]", counts="[3]", indices="[0, 1, 2]", more=""):
    return f"""
def Mesh "M" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{{
    point3f[] points = {points}
    int[] faceVertexCounts = {counts}
    int[] faceVertexIndices = {indices}
    normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "vertex")
    uniform token subdivisionScheme = "none"
    {more}
}}
"""


@pytest.mark.parametrize(
    "arrays",
    [
        {"indices": "[0, 1, 7]"}, {"indices": "[0, 1, -1]"}, {"indices": "[0, 1]"}, {"counts": "[4]"},
        {"counts": "[3, -3, 3]"}, {"counts": "[]"}, {"points": "[]"},
        {"more": "int[] faceVertexIndices.timeSamples = { 1: [0, 1, 2], 5: [0, 1, 9] }"},
        {"more": "point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (1, 1, 0)], 5: [(0, 0, 0)] }"},
    ],
)  # fmt: skip
def test_meshes_that_do_not_fit_together(tmp_path, arrays):
    assert "'/M'" in warning(write(tmp_path / "mesh.usda", mesh(**arrays)), tmp_path, "/M")


def test_children_of_a_broken_mesh_and_what_hangs_on_it_come_in(tmp_path):
    body = (
        mesh(indices="[0, 1, 7]", more='double3 xformOp:translate = (1, 2, 3)\n'
             '    uniform token[] xformOpOrder = ["xformOp:translate"]\n    def Cube "Inner" { double size = 1 }')
        + BODY + '{}\ndef PhysicsFixedJoint "J" { rel physics:body0 = </A>\nrel physics:body1 = </M> }'
    )  # fmt: skip
    path = write(tmp_path / "mesh.usda", body, head='metersPerUnit = 1\nupAxis = "Z"')
    warning(path, tmp_path, "/M")
    inner, outer = (next(obj for obj in bpy.data.objects if obj.name == name) for name in ("Inner", "M"))
    assert inner.parent == outer and inner.matrix_world.translation[:] == pytest.approx((1, 2, 3))
    assert outer.usdphys.colliders and "J" in bpy.data.objects


def test_a_layer_over_a_file_with_a_broken_mesh_is_empty(tmp_path):
    path = write(tmp_path / "mesh.usda", mesh(indices="[0, 1, 7]"))
    import_usd(path)
    bpy.context.view_layer.update()
    source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
    assert not Sdf.Layer.FindOrOpen(str(tmp_path / "layer.usda")).rootPrims


def test_points_of_another_type(tmp_path):
    path = write(tmp_path / "mesh.usda", mesh().replace("point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]",
                                                        "asset[] points = [@a@, @b@, @c@]"))  # fmt: skip
    assert "0 points" in warning(path, tmp_path, "/M")


def test_broken_mesh_in_an_instance(tmp_path):
    body = f"""
def Xform "I" (
    instanceable = true
    references = </P>
) {{}}
class Xform "P"
{{
    {mesh(counts="[9]")}
}}
"""
    assert "corners" in warning(write(tmp_path / "instance.usda", body), tmp_path, "/I/M")


def test_face_with_very_many_corners(tmp_path):
    corners = ", ".join(map(str, range(70_000)))
    points = ", ".join(["(0, 0, 0)"] * 70_000)
    path = write(tmp_path / "face.usda", mesh(f"[{points}]", "[70000]", f"[{corners}]"))
    assert "70000 corners" in warning(path, tmp_path, "/M")


@pytest.mark.parametrize("counts", ["[3]", "[-1]", "[2, 2]"])
def test_curves_that_do_not_fit_together(tmp_path, counts):
    body = f"""
def BasisCurves "C"
{{
    int[] curveVertexCounts = {counts}
    point3f[] points = [(0, 0, 0), (1, 0, 0)]
}}
"""
    assert "'/C'" in warning(write(tmp_path / "curves.usda", body), tmp_path, "/C")


def test_nurbs_without_knots(tmp_path):
    body = """
def NurbsCurves "C"
{
    int[] curveVertexCounts = [4]
    int[] order = [4]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)]
}
"""
    assert "knots" in warning(write(tmp_path / "curves.usda", body), tmp_path, "/C")


def test_mesh_without_faces_comes_in(tmp_path):
    comes_in(write(tmp_path / "mesh.usda", mesh(counts="[]", indices="[]")), tmp_path)


@pytest.mark.parametrize("shape", ["Cube", "Cone"])
@pytest.mark.parametrize("values", [" = [(1, 0, 0)]", ".timeSamples = {1: [(1, 0, 0), (0, 1, 0)]}"])
def test_a_shape_with_a_color_for_each_face(tmp_path, shape, values):
    """Blender 4.5 and 5.0 write the colors beyond the mesh that they make of it."""
    uniform = 'color3f[] primvars:displayColor (interpolation = "uniform")\n'
    body = f'def {shape} "S" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n{uniform}'
    file = write(tmp_path / "faces.usda", f"{body}color3f[] primvars:displayColor{values}\n}}\n")
    issues = [issue for issue in comes_in(file, tmp_path).issues if issue.code == "ColorsUnreadable"]
    assert [issue.path for issue in issues] == (["/S"] if bpy.app.version < (5, 2) else [])
    assert bpy.data.objects["S"].type == "MESH" and len(bpy.data.objects["S"].data.polygons)
    formats.USD.write(str(tmp_path / "back.usda"), formats.WriteOptions())
    stages = [Usd.Stage.Open(str(path)) for path in (tmp_path / "back.usda", file)]
    back, source = (stage.GetAttributeAtPath("/S.primvars:displayColor") for stage in stages)
    assert str(back.Get(1)) == str(source.Get(1))
    assert back.GetMetadata("interpolation") == "uniform" and back.GetTimeSamples() == source.GetTimeSamples()


def test_subset_of_faces_that_are_not_there(tmp_path):
    body = (
        mesh(
            more="""
    def GeomSubset "S" {
        uniform token elementType = "face"
        uniform token familyName = "materialBind"
        int[] indices = [0, -1, 5]
        rel material:binding:physics = </Ice>
    }"""
        )
        + 'def Material "Ice" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {}'
    )
    comes_in(write(tmp_path / "subset.usda", body), tmp_path)


def test_point_cloud_without_points(tmp_path):
    body = 'def Points "P" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}'
    assert "'/P'" in warning(write(tmp_path / "points.usda", body), tmp_path, "/P")


@pytest.mark.parametrize("kind", ["Xform", ""])
def test_deep_nesting(tmp_path, kind):
    def nested(depth):
        return f'def {kind} "n" {{\n' * depth + "}\n" * depth

    assert "levels" in refusal(write(tmp_path / "deeper.usda", nested(importable.MAX_DEPTH + 1)))
    comes_in(write(tmp_path / "deep.usda", nested(importable.MAX_DEPTH)), tmp_path)


# --------------------------------------------------------------------------- names and schemas


def test_odd_schemas(tmp_path):
    names = ("PhysicsDriveAPI", "PhysicsDriveAPI:wrong", "PhysicsLimitAPI:", "PhysicsLimitAPI:is_applied",
             "PhysicsMassAPI:mass", "PhysicsScene", "", "VendorAPI:a:b", "PhysicsRigidBodyAPI", "PhysicsMaterialAPI",
             "PhysicsCollisionAPI", "PhysicsArticulationRootAPI", "PhysicsFilteredPairsAPI")  # fmt: skip
    listed = ", ".join(f'"{name}"' for name in names)
    types = ("PhysicsRevoluteJoint", "PhysicsScene", "PhysicsCollisionGroup", "Material", "Cube", "Mesh", "", "Other")
    body = "\n".join(
        f'def {kind} "P{number}" (prepend apiSchemas = [{listed}]) {{ rel physics:filteredPairs = [</P0>, </No>] }}'
        for number, kind in enumerate(types)
    )
    comes_in(write(tmp_path / "schemas.usda", body), tmp_path)


@pytest.mark.parametrize("name", ["a" * 300, "Größe", "名前"])
def test_odd_names(tmp_path, name):
    path = tmp_path / f"{name[:40]}.usda"
    comes_in(write(path, f'def Xform "{name}"\n{{\n    {BODY}{{}}\n}}\ndef PhysicsScene "{name}_scene" {{}}'), tmp_path)


def test_name_of_the_root_is_taken_in_the_scene(tmp_path):
    """Blender exports it under another name first: the material below it must not make a scope of that name."""
    bpy.data.objects.new("World", None)
    body = (
        f'def Xform "World" {{ {BODY}{{\n    rel material:binding:physics = </World/Ice>\n}}\n'
        'def Material "Ice" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {} }'
    )
    comes_in(write(tmp_path / "world.usda", body), tmp_path)
    text = (tmp_path / "out.usda").read_text()
    assert 'def Xform "World"' in text and "rel material:binding:physics = </World/Ice>" in text


def test_point_instancer_at_the_root(tmp_path):
    body = """
def PointInstancer "Many"
{
    rel prototypes = </Many/Prototype>
    int[] protoIndices = [0, 0]
    point3f[] positions = [(0, 0, 0), (1, 0, 0)]
    def Cube "Prototype" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {}
}
"""
    comes_in(write(tmp_path / "many.usda", body), tmp_path)
    assert "protoIndices = [0, 0]" in (tmp_path / "out.usda").read_text()


def curves(number, order=None, **tokens):
    """Curves of one curve with so many points."""
    kind = "BasisCurves" if order is None else "NurbsCurves"
    lines = [f"int[] curveVertexCounts = [{number}]", f"point3f[] points = [{', '.join(['(0, 0, 1)'] * number)}]"]
    lines += [f'uniform token {name} = "{value}"' for name, value in tokens.items()]
    if order is not None:
        lines += [f"int[] order = [{order}]", f"double[] knots = [{', '.join(map(str, range(number + order)))}]"]
    return f'def {kind} "C"\n{{\n' + "\n".join(lines) + "\n}\n"


def material(first, second):
    """A material of a texture and a transform of its coordinates, whose inputs come from two properties."""
    return f"""
def Material "M"
{{
    token outputs:surface.connect = </M/S.outputs:surface>
    def Shader "S"
    {{
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </M/T.outputs:rgb>
        token outputs:surface
    }}
    def Shader "T"
    {{
        uniform token info:id = "UsdUVTexture"
        float2 inputs:st.connect = </M/{first}>
        float3 outputs:rgb
    }}
    def Shader "X"
    {{
        uniform token info:id = "UsdTransform2d"
        float2 inputs:in.connect = </M/{second}>
        float2 outputs:result
    }}
    def Shader "P"
    {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }}
}}
def Mesh "Box" (prepend apiSchemas = ["MaterialBindingAPI"])
{{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    rel material:binding = </M>
}}
"""


@pytest.mark.parametrize(
    ("body", "reason", "prim"),
    [
        (curves(2, type="cubic", basis="bezier", wrap="periodic"), "closed Bezier curve of 2 points", "/C"),
        (curves(0, type="cubic", basis="catmullRom"), "a curve without points", "/C"),
        (curves(4, 9), "do not fit their vertex counts", "/C"),
        (curves(12, 1), "do not fit their vertex counts", "/C"),
        (f'def Points "P"\n{{\npoint3f[] points = [(0, 0, 0)]\nfloat[] widths = [{", ".join(["1"] * 5000)}]\n}}\n',
         "1 point and 5000 widths", "/P"),
    ],
)  # fmt: skip
def test_geometry_that_crashes_blender_is_kept_from_it_with_its_cause(tmp_path, body, reason, prim):
    assert reason in warning(write(tmp_path / "crash.usda", body), tmp_path, prim)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (material("X.outputs:result", "X.outputs:result"), "'/M/X' feeds itself"),
        (material("X.outputs:result", "T.outputs:rgb"), "feeds itself"),
    ],
)  # fmt: skip
def test_what_crashes_blender_is_refused_with_its_cause(tmp_path, body, reason):
    assert reason in refusal(write(tmp_path / "crash.usda", body))


@pytest.mark.parametrize(
    "body",
    [curves(4, type="cubic", basis="bezier", wrap="periodic"), curves(4, 4), curves(2, type="linear"),
     material("X.outputs:result", "P.outputs:result")],
)  # fmt: skip
def test_sound_neighbours_of_what_crashes_blender_come_in(tmp_path, body):
    comes_in(write(tmp_path / "sound.usda", body), tmp_path)


def test_a_text_that_is_no_text_comes_through_as_the_bytes_that_it_is(tmp_path):
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString("""#usda 1.0
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    custom string mine = "abcdefgh"
}
""")
    file = tmp_path / "in.usdc"
    layer.Export(str(file))
    data = file.read_bytes()
    file.write_bytes(data.replace(b"abcdefgh", b"\xf0bcdefgh"))
    assert file.read_bytes() != data, "the text is in the file as it is"
    import_usd(file)
    assert bpy.data.objects["Crate"].data["mine"] == "\udcf0bcdefgh"
