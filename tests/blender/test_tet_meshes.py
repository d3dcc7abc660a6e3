# SPDX-License-Identifier: GPL-3.0-or-later
"""TetMeshes: made of closed meshes, written, shown after an import, and back as they were in every form."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from deformable_stages import soft
from pxr import Gf, Usd, UsdGeom
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.authoring import tet_mesh
from usdphys_ext.usdphys_addon.bridge import tet_meshes
from usdphys_ext.usdphys_addon.core.building.tet_lattice import surface_of
from usdphys_ext.usdphys_addon.exchange import usd_import

FORMS = ("copy", "flat", "composed")


@pytest.fixture(autouse=True)
def empty() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def ball(**more: object) -> bpy.types.Object:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=0.5, **more)
    return bpy.context.object


def prims(path: Path) -> dict[str, Usd.Prim]:
    stage = Usd.Stage.Open(str(path))
    found = {prim.GetName(): prim for prim in stage.Traverse() if prim.IsA(UsdGeom.TetMesh)}
    assert all(prim.IsValid() for prim in found.values())
    prims.stage = stage  # keeps them alive
    return found


def arrays(prim: Usd.Prim) -> tuple[np.ndarray, np.ndarray]:
    mesh = UsdGeom.TetMesh(prim)
    return np.array(mesh.GetPointsAttr().Get(), float), np.array(mesh.GetTetVertexIndicesAttr().Get())


def volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    corners = points[tets]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def write(path: Path, form: str = "auto", **more: object) -> list[str]:
    return [issue.code for issue in formats.USD.write(str(path), formats.WriteOptions(form=form, **more)).issues]


def imported(path: Path) -> list[bpy.types.Object]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    usd_import.import_usd(bpy.context, str(path), usd_import.ImportOptions())
    return [obj for obj in bpy.data.objects if tet_meshes.has_tets(obj.data)]


def test_the_operator_fills_a_mesh_and_a_second_run_replaces_it(tmp_path: Path) -> None:
    obj = ball(location=(1, 2, 3), rotation=(0.3, 0.1, 0.7), scale=(1, 2, 1))
    assert bpy.ops.usdphys.make_tet_mesh(across=6) == {"FINISHED"}
    (made,) = bpy.context.selected_objects
    few = len(tet_meshes.tets_of(made.data, len(made.data.vertices)))
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    assert bpy.ops.usdphys.make_tet_mesh(across=9) == {"FINISHED"}
    (made,) = bpy.context.selected_objects
    assert made.name == f"{obj.name}_tets" and len(bpy.data.objects) == 2 and len(bpy.data.meshes) == 2
    tets = tet_meshes.tets_of(made.data, len(made.data.vertices))
    assert len(tets) > 2 * few
    assert np.allclose(made.matrix_world, obj.matrix_world)
    assert write(tmp_path / "out.usda") == []
    points, written = arrays(prims(tmp_path / "out.usda")[made.data.name])
    assert (written == tets).all() and volumes(points, written).min() > 0
    assert np.allclose(points, [vertex.co for vertex in made.data.vertices], atol=1e-7)
    assert (
        "WARNING" not in (tmp_path / "out.usda").read_text()
        and "usdphys_tet" not in (tmp_path / "out.usda").read_text()
    )


def test_a_modifier_on_the_mesh_is_filled_as_shown() -> None:
    obj = ball()
    obj.modifiers.new("Array", "ARRAY").relative_offset_displace = (2.0, 0, 0)
    found = tet_mesh.make(bpy.context, [obj], 20)
    width = np.ptp([vertex.co.x for vertex in found.made[0].data.vertices])
    assert width == pytest.approx(3.0, abs=0.5)


def test_what_is_open_is_named_and_what_is_closed_beside_it_is_filled() -> None:
    closed = ball()
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    found = tet_mesh.make(bpy.context, [closed, plane], 5)
    assert len(found.made) == 1 and found.notes == [
        "'Plane': The mesh has 4 open edges; close it, for example with Remesh or Fill Holes."
    ]
    with pytest.raises(RuntimeError, match="4 open edges"):
        bpy.ops.object.select_all(action="DESELECT")
        plane.select_set(True)
        bpy.ops.usdphys.make_tet_mesh()


def test_an_edited_topology_is_written_as_faces_and_named(tmp_path: Path) -> None:
    (made,) = tet_mesh.make(bpy.context, [ball()], 5).made
    made.modifiers.new("Array", "ARRAY")
    assert "TetMeshEdited" in write(tmp_path / "out.usda")
    assert not prims(tmp_path / "out.usda")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("units", [{}, {"meters_per_unit": 0.01, "up_axis": "Y"}], ids=["same", "centimetres"])
def test_an_imported_tetmesh_is_shown_and_goes_back_untouched(
    form: str, units: dict[str, object], tmp_path: Path
) -> None:
    given, out = tmp_path / "given.usda", tmp_path / "out.usda"
    stage = soft()
    stage.GetRootLayer().Export(str(given))
    (obj,) = imported(given)
    rows = arrays(stage.GetPrimAtPath("/World/Jelly"))[1]
    assert obj.name == "Jelly" and len(obj.data.vertices) == 8 and len(obj.data.polygons) == 12
    assert {tuple(sorted(face.vertices)) for face in obj.data.polygons} == {
        tuple(sorted(face)) for face in surface_of(rows).tolist()
    }
    assert write(out, form, **units) == []
    if form == "copy" and not units:
        assert out.read_text() == given.read_text()
    points, written = arrays(prims(out)["Jelly"])
    assert (written == rows).all()
    world = UsdGeom.Xformable(prims(out)["Jelly"]).ComputeLocalToWorldTransform(0)
    meters = UsdGeom.GetStageMetersPerUnit(prims.stage)
    places = np.array([world.Transform(Gf.Vec3d(*point)) for point in points.tolist()]) * meters
    assert np.ptp(places, axis=0) == pytest.approx([0.4, 0.4, 0.4], rel=1e-5)
    assert "PhysicsVolumeDeformableSimAPI" in prims(out)["Jelly"].GetMetadata("apiSchemas").GetAppliedItems()


@pytest.mark.parametrize("form", FORMS)
def test_moved_points_are_written_and_the_tetrahedra_stay(form: str, tmp_path: Path) -> None:
    given, out = tmp_path / "given.usda", tmp_path / "out.usda"
    stage = soft()
    stage.GetRootLayer().Export(str(given))
    (obj,) = imported(given)
    obj.data.vertices[7].co.z += 0.1
    obj.data.update()
    assert "DataEditLeftOut" not in write(out, form)
    points, written = arrays(prims(out)["Jelly"])
    assert points[:, 2].max() == pytest.approx(0.5) and len(written) == 5
    assert prims(out)["Jelly"].GetTypeName() == "TetMesh" and not prims(out)["Jelly"].HasAttribute("faceVertexCounts")


@pytest.mark.slow
def test_a_new_one_beside_imported_prims_is_added_to_the_copy(tmp_path: Path) -> None:
    given, out = tmp_path / "given.usda", tmp_path / "out.usda"
    stage = soft()
    stage.GetRootLayer().Export(str(given))
    imported(given)
    tet_mesh.make(bpy.context, [ball()], 4)
    for form in FORMS:
        write(out, form)
        found = prims(out)
        assert len(found) == 2 and all(volumes(*arrays(prim)).min() > 0 for prim in found.values())


@pytest.mark.parametrize("form", FORMS)
def test_a_new_one_with_other_points_is_named_in_every_form(form: str, tmp_path: Path) -> None:
    given, out = tmp_path / "given.usda", tmp_path / "out.usda"
    stage = soft()
    stage.GetRootLayer().Export(str(given))
    imported(given)
    (made,) = tet_mesh.make(bpy.context, [ball()], 4).made
    made.modifiers.new("Array", "ARRAY")
    assert "TetMeshEdited" in write(out, form)
    assert len(prims(out)) == 1


def test_values_of_faces_are_left_out_with_a_name_and_values_of_points_are_kept(tmp_path: Path) -> None:
    (made,) = tet_mesh.make(bpy.context, [ball()], 4).made
    made.data.uv_layers.new(name="Map")
    made.data.attributes.new("heat", "FLOAT", "POINT").data.foreach_set(
        "value", np.arange(len(made.data.vertices), dtype=np.float32)
    )
    assert write(tmp_path / "out.usda") == ["TetMeshValuesLeftOut"]
    (prim,) = prims(tmp_path / "out.usda").values()
    assert not prim.HasAttribute("primvars:st") and not prim.HasAttribute("primvars:Map")
    assert list(prim.GetAttribute("primvars:heat").Get()) == list(range(len(made.data.vertices)))
