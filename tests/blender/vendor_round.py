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

from usdphys_ext.usdphys_addon.core import schema, units

INSTANCE = schema.INSTANCE
schema.declare_schema(
    "AcmeBodyAPI",
    "single",
    "body",
    "Acme",
    [
        ("drag", "acme:drag", "float", 0.0, {"doc": "Brakes the body", "dimension": units.TORQUE}),
        (
            "nose",
            "acme:nose",
            "point3f",
            (0.0, 0.0, 0.0),
            {"dimension": units.LENGTH, "space": "local", "mirror": "point"},
        ),
        ("modes", "acme:modes", "token[]", (), {}),
        ("mode", "acme:mode", "token", "soft", {"tokens": ("soft", "hard")}),
        ("seed", "acme:seed", "uint", 7, {}),
        ("curve", "acme:curve", "asset", "", {}),
        ("guide", "acme:guide", "rel", None, {}),
    ],
)
schema.declare_schema(
    "AcmeSkinAPI",
    "single",
    "collider",
    "Acme",
    [
        ("margin", "acmeSkin:margin", "float", 0.02, {"dimension": units.LENGTH}),
        ("layers", "acmeSkin:layers", "int[]", (), {}),
        ("flow", "acmeSkin:flow", "vector3f", (0.0, 0.0, 0.0), {"space": "local", "mirror": "vector"}),
    ],
)
schema.declare_schema("AcmeGripAPI", "single", "material", "Acme", [("wet", "acmeGrip:wet", "bool", False, {})])
schema.declare_schema("AcmeStepAPI", "single", "scene", "Acme", [("rate", "acmeStep:rate", "int", 60, {})])
schema.declare_schema(
    "AcmeGearAPI",
    "multiple",
    "dof",
    "Acme",
    [
        ("ratio", f"acmeGear:{INSTANCE}:ratio", "double", 1.0, {}),
        (
            "slack",
            f"acmeGear:{INSTANCE}:slack",
            "float",
            0.0,
            {"dimension": units.LENGTH, "angular_dimension": units.ANGLE},
        ),
    ],
    ("angular", "linear"),
)

bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
module.register()

from usdphys_ext.usdphys_addon.authoring import copying, tagging
from usdphys_ext.usdphys_addon.bridge import props, scene_read, vendor_props
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import

seen: dict = {}


def cube(name: str, x: float):
    bpy.ops.mesh.primitive_cube_add(location=(x, 0, 0))
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


box, other = cube("Box", 0.0), cube("Other", 3.0)
body = box.usdphys.vendor.AcmeBodyAPI
body.is_applied = True
body.drag, body.nose, body.modes, body.mode, body.seed = 3.0, (0.5, 0.0, 0.0), '["a", "b"]', "hard", "4000000000"
body.curve = "./curve.usda"
skin = box.usdphys.colliders[0].vendor.AcmeSkinAPI
skin.is_applied, skin.margin, skin.layers = True, 0.05, "[1, 2]"
material = bpy.data.materials.new("Rubber")
material.usdphys.physics_material.is_applied = True
material.usdphys.vendor.AcmeGripAPI.is_applied = True
material.usdphys.vendor.AcmeGripAPI.wet = True
box.usdphys.physics_material = material
scene_item = bpy.context.scene.usdphys.physics_scenes.add()
scene_item.name = "Scene"
scene_item.vendor.AcmeStepAPI.is_applied, scene_item.vendor.AcmeStepAPI.rate = True, 240
empty = bpy.data.objects.new("Hinge", None)
bpy.context.collection.objects.link(empty)
joint = empty.usdphys.joint
joint.is_applied, joint.type, joint.body0, joint.body1 = True, "REVOLUTE", box, other
gear = empty.usdphys.vendor.AcmeGearAPI.angular
gear.is_applied, gear.ratio, gear.slack = True, 12.5, 0.5

file = folder / "vendor.usda"
usd_export.export_usd(bpy.context, file, usd_export.ExportOptions(StageUnits(0.01, 0.001, "Y")))
seen["export"] = file.read_text(encoding="utf-8")

# A text that is no list: named, not written.
body.modes = "a, b"
reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
seen["unreadable"] = [issue.message for issue in reading.issues if issue.code == "ValueUnreadable"]
body.modes = '["a", "b"]'


# Copy to another object, part by part; clear a value with the operator of the panels.
def applied_to(obj) -> list[str]:
    return [cls.usd_name for cls, _, _ in vendor_props.applied_groups(obj.usdphys.vendor, "object")]


box.usdphys.vendor.AcmeGearAPI.angular.is_applied = True
copying.copy_physics(box, [other], ["BODY"])
seen["copied with a body"] = applied_to(other)
third = bpy.data.objects.new("Other Hinge", None)
bpy.context.collection.objects.link(third)
third.usdphys.joint.is_applied = True
empty.usdphys.vendor.AcmeBodyAPI.is_applied = True
copying.copy_physics(empty, [third], ["JOINT"])
seen["copied with a joint"] = applied_to(third)
box.usdphys.vendor.property_unset("AcmeGearAPI")
empty.usdphys.vendor.property_unset("AcmeBodyAPI")
seen["copied"] = other.usdphys.vendor.AcmeBodyAPI.drag
bpy.context.view_layer.objects.active = other
bpy.ops.usdphys.unset(data_path="object.usdphys.vendor.AcmeBodyAPI.drag")
seen["cleared"] = not other.usdphys.vendor.AcmeBodyAPI.is_property_set("drag")

# Mirror: the nose of the left side at the mirrored place of the right one.
left, right = cube("Arm.L", 10.0), cube("Arm.R", -10.0)
left.usdphys.vendor.AcmeBodyAPI.is_applied = True
left.usdphys.vendor.AcmeBodyAPI.nose = (0.5, 0.25, 0.0)
# One collider is the mesh, one a primitive that is turned by 90 degrees about Z: its X is the object's Y.
turned = left.usdphys.colliders.add()
turned.shape, turned.rotation = "CAPSULE", (0.5**0.5, 0.0, 0.0, 0.5**0.5)
for collider in left.usdphys.colliders:
    collider.vendor.AcmeSkinAPI.is_applied = True
    collider.vendor.AcmeSkinAPI.flow = (1.0, 2.0, 3.0)
for obj in bpy.context.selected_objects:
    obj.select_set(False)
left.select_set(True)
bpy.context.view_layer.objects.active = left
bpy.ops.usdphys.mirror_physics(axis="X")
seen["mirrored"] = list(right.usdphys.vendor.AcmeBodyAPI.nose)


def flow_in_object(collider) -> list[float]:
    flow = mathutils.Vector(collider.vendor.AcmeSkinAPI.flow)
    if collider.shape == "CAPSULE":
        flow.rotate(mathutils.Quaternion(collider.rotation))
    return list(flow)


seen["flows"] = [[flow_in_object(collider) for collider in obj.usdphys.colliders] for obj in (left, right)]

# Clear all physics of an object: nothing of a vendor stays, and there is nothing left to clear.
alone = cube("Alone", 20.0)
alone.usdphys.vendor.AcmeBodyAPI.is_applied = True
seen["removal"] = tagging.clear_physics([alone]).text
seen["left"] = [applied_to(alone), tagging.has_any(alone), props.is_physical(alone)]
alone.usdphys.vendor.AcmeBodyAPI.is_applied = True
seen["has vendor alone"] = tagging.has_any(alone)

# The panels, as Blender draws them.
from usdphys_ext.panels import vendor as vendor_panel


class Layout:
    def __init__(self):
        self.rows: list[str] = []

    def prop(self, data, name, **_options):
        assert name in data.bl_rna.properties, name
        self.rows.append(name)

    def operator(self, *_arguments, **_options):
        return type("Button", (), {})()

    def label(self, **_options): ...

    def row(self, **_options):
        return self

    column = row


layout = Layout()
vendor_panel.draw(layout, box.usdphys, "object", "object.usdphys")
seen["drawn"] = layout.rows

# Into an empty scene and out again.
text = file.read_text(encoding="utf-8").replace("        custom", "        custom", 1)
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
back = bpy.data.objects["Box"].usdphys.vendor.AcmeBodyAPI
seen["imported"] = {
    "drag": back.drag, "nose": list(back.nose), "modes": back.modes, "mode": back.mode, "seed": back.seed,
    "curve": back.curve, "rate": bpy.context.scene.usdphys.physics_scenes[0].vendor.AcmeStepAPI.rate,
    "gear": bpy.data.objects["Hinge"].usdphys.vendor.AcmeGearAPI.angular.ratio,
    "slack": bpy.data.objects["Hinge"].usdphys.vendor.AcmeGearAPI.angular.slack,
    "wet": bpy.data.materials["Rubber"].usdphys.vendor.AcmeGripAPI.wet,
    "margin": [item.vendor.AcmeSkinAPI.margin for obj in bpy.data.objects for item in obj.usdphys.colliders
               if item.vendor.AcmeSkinAPI.is_applied],
}  # fmt: skip
back.drag = 4.0
again = folder / "again.usda"
usd_export.export_usd(bpy.context, again, usd_export.ExportOptions(StageUnits(1.0, 1.0, "Z")))
seen["again"] = again.read_text(encoding="utf-8")
module.unregister()
print("SEEN " + json.dumps(seen), flush=True)
os._exit(0)
