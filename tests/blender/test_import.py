# SPDX-License-Identifier: GPL-3.0-or-later
"""Import: files of others come in with their physics and go out as they were; a failure leaves no trace."""

from pathlib import Path

import assets
import bpy
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import PhysicsModel
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_hooks, usd_import

FILES = assets.usd_files()


def share_of(paths: list[Path]) -> list[Path]:
    """Which of these slow files this Blender tests: 5.0, which every machine can run, all; each other one a third."""
    start = {(4, 5): 0, (5, 2): 1}.get(bpy.app.version[:2])
    return paths if start is None else paths[start::3]


def import_usd(path, **options):
    return usd_import.import_usd(bpy.context, path, usd_import.ImportOptions(**options))


def export_usd(path):
    bpy.context.view_layer.update()
    units, hierarchy = usd_export.stage_options(bpy.context.scene)
    return usd_export.export_usd(bpy.context, path, usd_export.ExportOptions(units, hierarchy))


def test_files_are_there(files_of_others):
    assert len(FILES) >= 42


@pytest.mark.slow
@pytest.mark.parametrize("path", share_of(FILES), ids=lambda path: path.name)
def test_round_trip(trip_of, compare, path):
    figures = compare(path, trip_of(path).export)
    assert figures["score"] == 1.0, figures["text"]
    assert figures["facts"] > 0


def write(path, body):
    head = 'upAxis = "Y"\n    metersPerUnit = 0.01\n    kilogramsPerUnit = 0.001'
    path.write_text(f"#usda 1.0\n(\n    {head}\n)\n{body}")
    return path


CRATE = """
def Xform "World"
{
    def PhysicsScene "Scene"
    {
        float physics:gravityMagnitude = 981
    }
    def Cube "Crate" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
    )
    {
        double size = 50
        float physics:mass = 3000
        vector3f physics:velocity = (100, 0, 0)
        double3 xformOp:translate = (0, 200, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Cube "Wall" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        double size = 10
    }
    def PhysicsPrismaticJoint "Rail"
    {
        rel physics:body0 = </World/Wall>
        rel physics:body1 = </World/Crate>
        float physics:lowerLimit = -50
        float physics:breakForce = 100000
    }
}
"""


@pytest.mark.parametrize("convert", [True, False], ids=["converted", "kept"])
def test_values_mean_the_same(tmp_path, convert):
    """Half a metre, three kilograms, two metres up, half a metre down the rail, one newton: in either unit."""
    import_usd(write(tmp_path / "crate.usda", CRATE), convert_units=convert)
    crate, rail = bpy.data.objects["Crate"], bpy.data.objects["Rail"]
    meters = bpy.context.scene.unit_settings.scale_length
    assert meters == pytest.approx(1.0 if convert else 0.01)
    bpy.context.view_layer.update()
    assert [part * meters for part in crate.matrix_world.translation] == pytest.approx([0, 0, 2], abs=1e-6)
    assert [part * meters for part in crate.dimensions] == pytest.approx([0.5] * 3, rel=1e-5)
    assert crate.usdphys.mass.mass == pytest.approx(3.0)
    assert rail.usdphys.joint.prismatic.lower_limit * meters == pytest.approx(-0.5)
    assert rail.usdphys.joint.break_force == pytest.approx(1.0)
    gravity = bpy.context.scene.usdphys.physics_scenes[0].gravity_magnitude * meters
    assert gravity == pytest.approx(9.81)
    assert rail.usdphys.joint.body0 == bpy.data.objects["Wall"] and rail.usdphys.joint.body1 == crate
    assert not crate.usdphys.mass.is_property_set("density")


def test_what_was_edited_is_written(tmp_path):
    import_usd(write(tmp_path / "crate.usda", CRATE))
    crate = bpy.data.objects["Crate"]
    crate.usdphys.mass.mass = 5.0
    crate.usdphys.rigid_body.property_unset("velocity")
    bpy.data.objects["Rail"].usdphys.joint.prismatic.upper_limit = 0.25
    export_usd(tmp_path / "out.usda")
    text = (tmp_path / "out.usda").read_text()
    assert "physics:mass = 5000" in text and "physics:upperLimit = 25" in text and "physics:velocity" not in text
    assert 'def Cube "Crate"' in text and "double size = 50" in text


def test_renamed_objects_get_their_new_name(tmp_path):
    import_usd(write(tmp_path / "crate.usda", CRATE))
    bpy.data.objects["Crate"].name = "Box"
    export_usd(tmp_path / "out.usda")
    text = (tmp_path / "out.usda").read_text()
    assert 'def Cube "Box"' in text and '"Crate"' not in text and "</World/Box>" in text


def test_moved_joint_is_computed_anew(tmp_path):
    """A joint stays to the letter until its object moves; then its frames follow the object."""
    import_usd(write(tmp_path / "crate.usda", CRATE))
    export_usd(tmp_path / "still.usda")
    assert "localPos" not in (tmp_path / "still.usda").read_text()
    bpy.data.objects["Rail"].location.x += 100
    export_usd(tmp_path / "moved.usda")
    assert "localPos" in (tmp_path / "moved.usda").read_text()


def inventory():
    kinds = ("objects", "meshes", "materials", "collections", "cameras", "lights", "images")
    return {kind: sorted(getattr(bpy.data, kind).keys()) for kind in kinds}


@pytest.mark.parametrize("content", ["#usda 1.0\ndef {", "", "no usd at all"])
def test_broken_file_leaves_the_scene_alone(tmp_path, content):
    bpy.ops.mesh.primitive_cube_add()
    before = inventory()
    path = tmp_path / "broken.usda"
    path.write_text(content)
    with pytest.raises(InputError, match=r"broken\.usda"):
        import_usd(path)
    assert inventory() == before


def test_an_import_that_is_interrupted_is_undone_at_once_and_not_when_the_properties_are_gone(tmp_path):
    """The garbage collector did it later, in the middle of `props.unregister`, where it crashed Blender."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.usdphys.rigid_body.is_applied = True
    usd_export.export_usd(bpy.context, tmp_path / "cube.usda", usd_export.ExportOptions())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    told = []

    def interrupt(step):
        told.append(step)
        if bpy.data.objects:
            raise KeyboardInterrupt

    # The exception keeps the frames of the import alive.
    with pytest.raises(KeyboardInterrupt) as caught:
        usd_import.import_usd(bpy.context, tmp_path / "cube.usda", usd_import.ImportOptions(), interrupt)
    assert not bpy.data.objects and not bpy.context.scene.usdphys.source.filepath
    assert told and caught.type is KeyboardInterrupt


def test_failure_half_way_leaves_the_scene_alone(tmp_path, monkeypatch):
    bpy.ops.mesh.primitive_cube_add()
    before = inventory()

    def fail(*_, **__):
        raise InputError("halfway")

    monkeypatch.setattr(usd_import.scene_write, "write_scene", fail)
    with pytest.raises(InputError, match="halfway"):
        import_usd(write(tmp_path / "crate.usda", CRATE), convert_units=False)
    assert inventory() == before
    scene = bpy.context.scene
    assert scene.unit_settings.scale_length == 1.0 and not scene.usdphys.source.filepath
    assert not len(scene.usdphys.physics_scenes)


def test_a_body_has_its_name_before_a_mesh_that_is_called_the_same(tmp_path):
    (tmp_path / "names.usda").write_text(
        """#usda 1.0
def Xform "Lid"
{
    def Cube "Box" {}
    def Cube "Knob" {}
}
def Xform "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
    def Cube "Label" {}
}
"""
    )
    import_usd(tmp_path / "names.usda")
    bodies = {obj.name: obj.usdphys.prim.path for obj in bpy.data.objects if obj.usdphys.rigid_body.is_applied}
    assert bodies == {"Box": "/Box"}
    assert bpy.data.objects["Box.001"].parent.name == "Lid"


def test_the_prims_of_a_file_are_searched_as_often_for_many_bodies_as_for_few(tmp_path, monkeypatch):
    searches = []
    original = PhysicsModel.having

    def having(model, cls):
        searches[-1] += 1
        return original(model, cls)

    monkeypatch.setattr(PhysicsModel, "having", having)
    for number in (2, 20):
        body = 'def Cube "Box{}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])\n{{\n}}\n'
        path = write(tmp_path / f"{number}.usda", "".join(body.format(index) for index in range(number)))
        searches.append(0)
        import_usd(path)
    assert searches[0] == searches[1] < 20


def test_part_of_a_file(tmp_path):
    import_usd(write(tmp_path / "crate.usda", CRATE), prim_path="/World/Crate")
    assert bpy.data.objects["Crate"].usdphys.rigid_body.is_applied
    assert "Wall" not in bpy.data.objects
    with pytest.raises(InputError, match="/World/Nothing"):
        import_usd(tmp_path / "crate.usda", prim_path="/World/Nothing")


def test_hook_on_blenders_own_import(tmp_path):
    usd_hooks.register(usd_hooks.USDPHYS_ImportHook)
    bpy.ops.wm.usd_import(filepath=str(write(tmp_path / "crate.usda", CRATE)))
    crate = bpy.data.objects["Crate"]
    assert crate.usdphys.mass.mass == pytest.approx(3.0) and len(crate.usdphys.colliders) == 1


def test_hook_can_be_switched_off(tmp_path):
    usd_hooks.unregister(usd_hooks.USDPHYS_ImportHook)
    try:
        bpy.ops.wm.usd_import(filepath=str(write(tmp_path / "crate.usda", CRATE)))
        assert not bpy.data.objects["Crate"].usdphys.rigid_body.is_applied
    finally:
        usd_hooks.register(usd_hooks.USDPHYS_ImportHook)


def test_operator(tmp_path):
    assert bpy.ops.usdphys.import_usd(filepath=str(write(tmp_path / "crate.usda", CRATE))) == {"FINISHED"}
    with pytest.raises(RuntimeError, match=r"missing\.usda"):
        bpy.ops.usdphys.import_usd(filepath=str(tmp_path / "missing.usda"))
