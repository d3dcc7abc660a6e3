"""Run in a Blender of its own: an invented vendor is declared, then the add-on registered and used as a user would.

Usage: vendor_round.py REPOSITORY FOLDER. Prints one JSON object with what was seen.
"""

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="usdphys-blender-")

import bpy
import mathutils

bpy.utils.expose_bundled_modules()
root, folder = Path(sys.argv[1]), Path(sys.argv[2])
spec = importlib.util.spec_from_file_location(
    "usdphys_ext", root / "__init__.py", submodule_search_locations=[str(root)]
)
module = sys.modules["usdphys_ext"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
module.register()
seen: dict = {"loaded with the add-on": list(sys.modules)}

from usdphys_ext.usdphys_addon.bridge import vendor_rows
from usdphys_ext.usdphys_addon.core import schema, vendor_data, vendor_schemas

seen["tables read with the add-on"] = vendor_data.are_read()

EACH = schema.INSTANCE


def attribute(usd: str, type_: str, fallback, **more):
    return {"usd": usd, "type": type_, "fallback": fallback, **more}


DOFS = ["transX", "transY", "transZ", "rotX", "rotY", "rotZ", "angular", "linear"]
vendor_schemas.add_table({
    "runtime": "Acme",
    "schemas": [
        {"name": "AcmeBodyAPI", "kind": "single", "on": "body", "attributes": [
            attribute("acme:drag", "float", 0.0, unit="kg*m^2/s^2", doc="Brakes the body"),
            attribute("acme:nose", "point3f", [0.0, 0.0, 0.0], unit="m", space="local", mirror="point"),
            attribute("acme:modes", "token[]", None),
            attribute("acme:mode", "token", "soft", tokens=["soft", "hard"]),
            attribute("acme:seed", "uint", 7),
            attribute("acme:curve", "asset", ""),
            attribute("acme:guide", "rel", None),
        ]},
        {"name": "AcmeSkinAPI", "kind": "single", "on": "collider", "attributes": [
            attribute("acmeSkin:margin", "float", 0.02, unit="m"),
            attribute("acmeSkin:layers", "int[]", None),
            attribute("acmeSkin:flow", "vector3f", [0.0, 0.0, 0.0], unit="1", space="local", mirror="vector"),
        ]},
        {"name": "AcmeGripAPI", "kind": "single", "on": "material", "attributes": [
            attribute("acmeGrip:wet", "bool", False)]},
        {"name": "AcmeStepAPI", "kind": "single", "on": "scene", "attributes": [attribute("acmeStep:rate", "int", 60)]},
        {"name": "AcmeGearAPI", "kind": "multiple", "on": "dof", "instances": DOFS, "attributes": [
            attribute(f"acmeGear:{EACH}:ratio", "double", 1.0, unit="1"),
            attribute(f"acmeGear:{EACH}:slack", "float", 0.0, unit=["m", "deg"]),
        ]},
        {"name": "AcmeWinch", "kind": "typed", "on": "prim", "attributes": [
            attribute("acme:reel", "float", 0.1, unit="m"), attribute("acme:ends", "rel", None),
            attribute("acme:loads", "double[]", None, unit="kg*m/s^2"),
        ]},
        {"name": "AcmeBrakeAPI", "kind": "single", "on": "prim", "attributes": [
            attribute("acmeBrake:torque", "float", 0.0, unit="kg*m^2/s^2")]},
    ],
})  # fmt: skip

from usdphys_ext.usdphys_addon.authoring import clearing, copying, vendor_edits
from usdphys_ext.usdphys_addon.bridge import props, scene_read
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import


def put(thing, applied: str, **values):
    """Apply a schema of an owner and set attributes, by their last word."""
    vendor_edits.add_attribute(thing, applied, "", bpy.context.scene)
    base, instance = schema.split_applied(applied)
    for one in vendor_schemas.find(base).attributes:
        word = one.usd.rsplit(":", 1)[-1]
        if word in values:
            row = vendor_edits.add_attribute(thing, applied, one.usd_name(instance), bpy.context.scene)
            setattr(row, vendor_rows.view_of(row), values[word])


def got(thing, name: str):
    """The value of an attribute as the panels show it; None without a row."""
    row = vendor_rows.row_of(thing, name)
    value = getattr(row, vendor_rows.view_of(row)) if row is not None else None
    return list(value) if hasattr(value, "to_tuple") or hasattr(value, "foreach_get") else value


def cube(name: str, x: float):
    bpy.ops.mesh.primitive_cube_add(location=(x, 0, 0))
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


box, other = cube("Box", 0.0), cube("Other", 3.0)
put(box.usdphys, "AcmeBodyAPI", drag=3.0, nose=(0.5, 0.0, 0.0), modes='["a", "b"]', mode="hard", seed="4000000000",
    curve="./curve.usda")  # fmt: skip
put(box.usdphys.colliders[0], "AcmeSkinAPI", margin=0.05, layers="[1, 2]")
material = bpy.data.materials.new("Rubber")
material.usdphys.physics_material.is_applied = True
put(material.usdphys, "AcmeGripAPI", wet=True)
box.usdphys.physics_material = material
scene_item = bpy.context.scene.usdphys.physics_scenes.add()
scene_item.name = "Scene"
put(scene_item, "AcmeStepAPI", rate=240)
empty = bpy.data.objects.new("Hinge", None)
bpy.context.collection.objects.link(empty)
joint = empty.usdphys.joint
joint.is_applied, joint.type, joint.body0, joint.body1 = True, "REVOLUTE", box, other
put(empty.usdphys, "AcmeGearAPI:angular", ratio=12.5, slack=0.5)

bpy.ops.usdphys.vendor_prim_add(type="AcmeWinch")
winch = bpy.context.object
winch.name = "Winch"
put(winch.usdphys, "AcmeWinch", reel=0.25, loads="[1.0, 2.0]")
put(winch.usdphys, "AcmeBrakeAPI", torque=3.0)
for target in (box, other):
    found = [row for row in winch.usdphys.vendor if row.name == "acme:ends" and row.target is None]
    (found or [vendor_edits.add_attribute(winch.usdphys, "AcmeWinch", "acme:ends", bpy.context.scene)])[
        0
    ].target = target
    bpy.ops.usdphys.vendor_target_add(data_path="object.usdphys", applied="AcmeWinch", attribute="acme:ends")
winch.usdphys.vendor.remove(len(winch.usdphys.vendor) - 1)

file = folder / "vendor.usda"
usd_export.export_usd(bpy.context, file, usd_export.ExportOptions(StageUnits(0.01, 0.001, "Y")))
seen["export"] = file.read_text(encoding="utf-8")

# A text that is no list: named, not written.
modes = vendor_rows.row_of(box.usdphys, "acme:modes")
modes.text = "a, b"
reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
seen["unreadable"] = [issue.message for issue in reading.issues if issue.code == "ValueUnreadable"]
modes.text = '["a", "b"]'


# Copy to another object, part by part; clear a value with the operator of the panels.
def applied_to(obj) -> list[str]:
    return vendor_rows.applied_names(obj.usdphys)


put(box.usdphys, "AcmeGearAPI:angular", ratio=2.0)
copying.copy_physics(box, [other], ["BODY"])
seen["copied with a body"] = applied_to(other)
third = bpy.data.objects.new("Other Hinge", None)
bpy.context.collection.objects.link(third)
third.usdphys.joint.is_applied = True
put(empty.usdphys, "AcmeBodyAPI", drag=1.0)
copying.copy_physics(empty, [third], ["JOINT"])
seen["copied with a joint"] = applied_to(third)
vendor_edits.remove_rows(box.usdphys, "AcmeGearAPI:angular")
vendor_edits.remove_rows(empty.usdphys, "AcmeBodyAPI")
seen["copied"] = got(other.usdphys, "acme:drag")
bpy.context.view_layer.objects.active = other
bpy.ops.usdphys.vendor_remove(data_path="object.usdphys", applied="AcmeBodyAPI", attribute="acme:drag")
seen["cleared"] = got(other.usdphys, "acme:drag") is None and got(other.usdphys, "acme:mode") == "hard"
bpy.ops.usdphys.vendor_add(data_path="object.usdphys", owner="object", attribute="AcmeBodyAPI acme:drag")
seen["added"] = got(other.usdphys, "acme:drag")
bpy.ops.usdphys.vendor_add_other(
    data_path="object.usdphys", applied="NobodysAPI", attribute="nobody:speed", value_type="double", value="2.5"
)

extra = folder / "other.usda"
usd_export.export_usd(bpy.context, extra, usd_export.ExportOptions())
lines = [line.strip() for line in extra.read_text(encoding="utf-8").splitlines()]
seen["other"] = ["NobodysAPI" if any("NobodysAPI" in line for line in lines) else "",
                 next(line for line in lines if "nobody:speed" in line)]  # fmt: skip

# Mirror: the nose of the left side at the mirrored place of the right one.
left, right = cube("Arm.L", 10.0), cube("Arm.R", -10.0)
put(left.usdphys, "AcmeBodyAPI", nose=(0.5, 0.25, 0.0))
# One collider is the mesh, one a primitive that is turned by 90 degrees about Z: its X is the object's Y.
turned = left.usdphys.colliders.add()
turned.shape, turned.rotation = "CAPSULE", (0.5**0.5, 0.0, 0.0, 0.5**0.5)
for collider in left.usdphys.colliders:
    put(collider, "AcmeSkinAPI", flow=(1.0, 2.0, 3.0))
for obj in bpy.context.selected_objects:
    obj.select_set(False)
left.select_set(True)
bpy.context.view_layer.objects.active = left
bpy.ops.usdphys.mirror_physics(axis="X")
seen["mirrored"] = got(right.usdphys, "acme:nose")


def flow_in_object(collider) -> list[float]:
    flow = mathutils.Vector(got(collider, "acmeSkin:flow"))
    if collider.shape == "CAPSULE":
        flow.rotate(mathutils.Quaternion(collider.rotation))
    return list(flow)


seen["flows"] = [[flow_in_object(collider) for collider in obj.usdphys.colliders] for obj in (left, right)]

# Clear all physics of an object: nothing of a vendor stays, and there is nothing left to clear.
alone = cube("Alone", 20.0)
put(alone.usdphys, "AcmeBodyAPI")
seen["removal"] = clearing.clear_physics([alone]).text
seen["left"] = [applied_to(alone), clearing.has_any(alone), props.is_physical(alone)]
put(alone.usdphys, "AcmeBodyAPI")
seen["has vendor alone"] = clearing.has_any(alone)

# Saved, loaded, appended, undone.
blend = folder / "vendor.blend"
bpy.ops.wm.save_as_mainfile(filepath=str(blend))
bpy.ops.wm.open_mainfile(filepath=str(blend))
box = bpy.data.objects["Box"]
seen["loaded"] = [
    got(box.usdphys, "acme:drag"),
    got(box.usdphys, "acme:mode"),
    got(box.usdphys.colliders[0], "acmeSkin:margin"),
]
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
with bpy.data.libraries.load(str(blend)) as (there, here):
    here.objects = ["Box"]
seen["appended"] = got(here.objects[0].usdphys, "acme:drag")

# Into an empty scene and out again.
text = file.read_text(encoding="utf-8").replace("        custom", "        custom", 1)
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
back = bpy.data.objects["Box"].usdphys
seen["imported"] = {
    **{word: got(back, f"acme:{word}") for word in ("drag", "nose", "modes", "mode", "seed", "curve")},
    "rate": got(bpy.context.scene.usdphys.physics_scenes[0], "acmeStep:rate"),
    "gear": got(bpy.data.objects["Hinge"].usdphys, "acmeGear:angular:ratio"),
    "slack": got(bpy.data.objects["Hinge"].usdphys, "acmeGear:angular:slack"),
    "wet": got(bpy.data.materials["Rubber"].usdphys, "acmeGrip:wet"),
    "margin": [found for obj in bpy.data.objects for item in obj.usdphys.colliders
               if (found := got(item, "acmeSkin:margin")) is not None],
    "reel": got(bpy.data.objects["Winch"].usdphys, "acme:reel"),
    "ends": [row.target.name for row in bpy.data.objects["Winch"].usdphys.vendor if row.name == "acme:ends"],
}  # fmt: skip
bpy.data.objects["Other"].name = "Renamed"
put(bpy.data.objects["Winch"].usdphys, "AcmeWinch", reel=0.5)
put(back, "AcmeBodyAPI", drag=4.0)
vendor_edits.remove_attribute(bpy.data.materials["Rubber"].usdphys, "AcmeGripAPI", "acmeGrip:wet")
again = folder / "again.usda"
usd_export.export_usd(bpy.context, again, usd_export.ExportOptions(StageUnits(1.0, 1.0, "Z")))
seen["again"] = again.read_text(encoding="utf-8")

# An edit as a layer over the source.
from usdphys_ext.usdphys_addon.exchange import source_export

layer = folder / "layer.usda"
source_export.export_edits(bpy.context, layer, "layer")
seen["layer"] = layer.read_text(encoding="utf-8")
module.unregister()
print("SEEN " + json.dumps(seen), flush=True)
os._exit(0)
