# SPDX-License-Identifier: GPL-3.0-or-later
"""An edited scene: attaching, a copy with the edits and a layer of them mean the same objects by prims of a file."""

import random

import bpy
import pytest
from pxr import Usd, UsdGeom
from usdphys_ext.usdphys_addon import formats
from usdphys_ext.usdphys_addon.bridge.identity import remembered
from usdphys_ext.usdphys_addon.bridge.identity.match import ObjectMatcher
from usdphys_ext.usdphys_addon.exchange import usd_import
from usdphys_ext.usdphys_addon.exchange.attaching import attach
from usdphys_ext.usdphys_addon.usd import read as usd_read

pytestmark = pytest.mark.slow


def write_source(path):
    """Bodies, each with its own path as a value that Blender knows nothing of."""
    prims = {"": "World", "/World": "A B C", "/World/A": "Wheel Bolt", "/World/B": "Wheel", "/World/C": "Wheel Bolt"}

    def text(above):
        return "".join(
            f'def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{\n'
            f'custom string mark = "{above}/{name}"\n{text(f"{above}/{name}")}}}\n'
            for name in prims.get(above, "").split()
        )

    path.write_text(f'#usda 1.0\n(\ndefaultPrim = "World"\nmetersPerUnit = 1\nupAxis = "Z"\n)\n{text("")}')
    return path


def load(path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())


def edit(chance):
    """Rename, copy, reparent and delete objects; then give each a place of its own."""
    for number in range(7):
        obj = chance.choice([one for one in bpy.data.objects if one.name != "World"])
        kind = chance.choice(("rename", "copy", "copy and rename", "reparent", "delete"))
        if kind == "delete":
            bpy.data.objects.remove(obj)
        elif kind == "reparent":
            below = {obj, *obj.children_recursive}
            obj.parent = chance.choice([one for one in bpy.data.objects if one not in below])
        elif kind == "rename":
            obj.name = f"Named{number}"
        else:
            copy = obj.copy()
            bpy.context.scene.collection.objects.link(copy)
            if kind == "copy and rename":
                copy.name = f"Copied{number}"
    for number, obj in enumerate(bpy.data.objects):
        obj.location.x = 2.0**number
    bpy.context.view_layer.update()


def marks_by_place(path):
    """The marks of the prims of a file, by their place."""
    cache, found, stage = UsdGeom.XformCache(), {}, Usd.Stage.Open(str(path))
    for prim in stage.Traverse():
        if UsdGeom.Xformable(prim):
            x = round(cache.GetLocalToWorldTransform(prim).ExtractTranslation()[0])
            found[x] = prim.GetAttribute("mark").Get() or ""
    return found


@pytest.mark.parametrize("seed", range(24))
def test_all_take_the_same_objects_for_the_prims_of_a_file(tmp_path, seed):
    file = write_source(tmp_path / "source.usda")
    load(file)
    scene, model = bpy.context.scene, usd_read.read_stage(usd_read.open_stage(file))
    imported = {obj.name: obj.usdphys.prim.path for obj in scene.objects}
    assert remembered.source_paths(scene, model.order).objects == imported
    edit(random.Random(seed))
    known = remembered.source_paths(scene, model.order).objects
    matcher = ObjectMatcher(remembered.objects_of(scene, str(file)), model)
    for name, path in known.items():
        if path in matcher.rivals:
            assert name in matcher.rivals[path][0] and path not in matcher.direct
        else:
            assert matcher.direct[path].name == name
    places = {round(obj.matrix_world.translation.x): known.get(obj.name, "") for obj in scene.objects}
    assert len(places) == len(scene.objects)
    for form in ("copy", "layer"):
        formats.USD.write(str(tmp_path / f"{form}.usda"), formats.WriteOptions(form=form))
        assert marks_by_place(tmp_path / f"{form}.usda") == places


def test_a_renamed_object_is_attached_to_from_its_own_file_only(tmp_path):
    """A prim of another file can have its path by chance."""
    file = write_source(tmp_path / "source.usda")
    other = write_source(tmp_path / "other.usda")
    load(file)
    bpy.data.objects["Bolt"].name = "Screw"
    for obj in bpy.data.objects:
        obj.usdphys.property_unset("rigid_body")

    def attached(path):
        issues = []
        attach.attach(bpy.context.scene, usd_read.read_stage(usd_read.open_stage(path)), issues)
        return [(issue.code, issue.path) for issue in issues]

    assert attached(other) == [("AttachMissing", "/World/A/Bolt")]
    assert not bpy.data.objects["Screw"].usdphys.rigid_body.is_applied
    assert attached(file) == []
    assert bpy.data.objects["Screw"].usdphys.rigid_body.is_applied


def test_two_that_could_be_a_prim_are_named(tmp_path):
    """Attaching decides neither for the renamed object nor for a renamed copy of it."""
    file = write_source(tmp_path / "source.usda")
    load(file)
    copy = bpy.data.objects["Bolt"].copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.data.objects["Bolt"].name, copy.name = "Screw", "Nail"
    issues = []
    attach.attach(bpy.context.scene, usd_read.read_stage(usd_read.open_stage(file)), issues)
    assert [(issue.code, issue.path) for issue in issues] == [("AttachAmbiguous", "/World/A/Bolt")]
    assert "'Screw' or 'Nail'" in issues[0].message


def test_what_moves_below_a_renamed_parent_takes_no_place_of_another_one(tmp_path):
    """The parent's own child ends at the path that the name of the other one asks for."""
    file = write_source(tmp_path / "source.usda")
    load(file)
    objects = bpy.data.objects
    wheels = {obj.usdphys.prim.path: obj for obj in objects}
    objects["A"].name = "Axle"
    wheels["/World/B/Wheel"].parent = objects["Axle"]
    bpy.context.view_layer.update()
    formats.USD.write(str(tmp_path / "copy.usda"), formats.WriteOptions(form="copy"))
    stage = Usd.Stage.Open(str(tmp_path / "copy.usda"))
    marks = {str(prim.GetPath()): prim.GetAttribute("mark").Get() for prim in stage.Traverse()}
    assert marks["/World/Axle/Wheel"] == "/World/A/Wheel"
    assert marks["/World/Axle/Wheel_1"] == "/World/B/Wheel"
