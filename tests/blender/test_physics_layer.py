# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics as a layer over a file of others: only the edits, the file itself untouched."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.exchange import source_export, usd_import
from usdphys_ext.usdphys_addon.usd import read as usd_read

from .test_import import CRATE, FILES, share_of, write

pytestmark = pytest.mark.slow


@pytest.fixture
def crate(tmp_path):
    path = write(tmp_path / "crate.usda", CRATE)
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    return path


def layer(tmp_path, form="layer"):
    bpy.context.view_layer.update()
    target = tmp_path / "layer.usda"
    source_export.export_edits(bpy.context, target, form)
    return target


def test_without_edits_the_layer_is_empty(tmp_path, crate):
    before = crate.read_bytes()
    target = layer(tmp_path)
    text = target.read_text()
    assert "subLayers" in text and "@./crate.usda@" in text
    assert "over " not in text and "def " not in text
    assert crate.read_bytes() == before


@pytest.mark.parametrize("kind", ["Xform", "Scope", "Cube", "Sphere", "Mesh", "BasisCurves", "Points"])
@pytest.mark.parametrize("purpose", ["default", "guide", "proxy", "render"])
@pytest.mark.parametrize("place", ["own", "above"])
def test_what_a_collider_is_shown_to_is_no_edit(tmp_path, kind, purpose, place):
    """Also where it has no geometry of its own, as in files whose meshes are below it."""
    own, above = (f'uniform token purpose = "{purpose}"' if place == name else "" for name in ("own", "above"))
    points = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]"
    more = {
        "Mesh": f"int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n{points}",
        "BasisCurves": f'uniform token type = "linear"\nint[] curveVertexCounts = [3]\n{points}', "Points": points,
    }.get(kind, 'def Cube "Shape"\n{\n}' if kind in ("Xform", "Scope") else "")  # fmt: skip
    path = write(
        tmp_path / "file.usda",
        f'def Xform "Body" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{{\ndef Xform "Shapes"\n{{\n{above}\n'
        f'def {kind} "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])\n{{\n{own}\n'
        f'uniform token physics:approximation = "convexHull"\n{more}\n}}\n}}\n}}\n',
    )
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    text = layer(tmp_path).read_text()
    assert "over " not in text and "def " not in text


def test_a_layer_counts_its_edits_and_nothing_else(tmp_path, crate):
    def counts():
        bpy.context.view_layer.update()
        result = source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")
        return result.edited, {kind: number for kind, number in result.counts.items() if number}

    assert counts() == (0, {})
    obj = bpy.data.objects["Crate"]
    obj.usdphys.mass.mass = 5.0
    assert counts() == (1, {"bodies": 1, "colliders": 1})
    bpy.data.objects["Wall"].location.x += 1.0
    # Their joint stays where it is, so its frame on the wall is another one.
    assert counts() == (3, {"bodies": 1, "colliders": 2, "joints": 1})
    bpy.data.objects.remove(bpy.data.objects["Rail"])
    assert counts() == (3, {"bodies": 1, "colliders": 2, "joints": 1}), "one that is deleted counts"


def test_edits_are_overs(tmp_path, crate):
    before = crate.read_bytes()
    obj = bpy.data.objects["Crate"]
    obj.usdphys.mass.mass = 5.0
    obj.usdphys.rigid_body.kinematic_enabled = True
    wall = bpy.data.objects["Wall"]
    wall.usdphys.rigid_body.is_applied = True
    joint = bpy.data.objects.new("Weld", None)
    bpy.context.scene.collection.objects.link(joint)
    joint.usdphys.joint.is_applied, joint.usdphys.joint.body0, joint.usdphys.joint.body1 = True, wall, obj
    target = layer(tmp_path)
    text = target.read_text()
    assert "physics:mass = 5000" in text and "kinematicEnabled" in text
    assert "xformOp" not in text and "size" not in text and "points" not in text, "no geometry in the layer"
    assert crate.read_bytes() == before
    model = usd_read.read_stage(usd_read.open_stage(target))
    assert set(model.bodies) == {"/World/Crate", "/World/Wall"}
    assert model.bodies["/World/Crate"].schemas["PhysicsMassAPI"].mass == pytest.approx(5.0)
    (weld,) = [prim for prim in model.joints.values() if prim.type_name == "PhysicsFixedJoint"]
    assert weld.schemas["PhysicsFixedJoint"].body1 == ("/World/Crate",)


def test_removed_schema_is_deleted(tmp_path, crate):
    bpy.data.objects["Crate"].usdphys.rigid_body.is_applied = False
    target = layer(tmp_path)
    assert "delete apiSchemas" in target.read_text()
    assert not usd_read.read_stage(usd_read.open_stage(target)).bodies


def test_merged_into_a_copy(tmp_path, crate):
    bpy.data.objects["Crate"].usdphys.mass.mass = 5.0
    target = layer(tmp_path, form="copy")
    text = target.read_text()
    assert "physics:mass = 5000" in text and "physics:mass = 3000" not in text
    assert "double size = 50" in text and "subLayers" not in text
    assert "physics:mass = 3000" in crate.read_text()


@pytest.mark.parametrize("path", share_of(FILES), ids=lambda path: path.name)
def test_layer_over_files_of_others(trip_of, compare, path):
    """Nothing was edited: the layer says nothing, and what it shows is the original."""
    target = trip_of(path).layer
    assert "over " not in target.read_text() and "def " not in target.read_text()
    figures = compare(path, target)
    assert figures["score"] == 1.0, figures["text"]


def test_scene_that_was_not_imported(tmp_path):
    with pytest.raises(InputError, match="not imported"):
        source_export.export_edits(bpy.context, tmp_path / "layer.usda", "layer")


def test_source_that_is_gone(tmp_path, crate):
    crate.unlink()
    with pytest.raises(InputError, match=r"crate\.usda"):
        layer(tmp_path)
    assert not (tmp_path / "layer.usda").exists()
