"""Run in a Blender of its own: the add-on of a later version, with renamed properties, opens what 0.1.0 has stored.

Usage: stored_round.py REPOSITORY STORED.blend FOLDER. Prints one JSON object with what was seen.
"""

import importlib
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="usdphys-blender-")

import bpy

bpy.utils.expose_bundled_modules()
root, stored, folder = (Path(argument).resolve() for argument in sys.argv[1:])
spec = importlib.util.spec_from_file_location(
    "usdphys_ext", root / "__init__.py", submodule_search_locations=[str(root)]
)
module = sys.modules["usdphys_ext"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

props = importlib.import_module("usdphys_ext.usdphys_addon.bridge.props")
handlers, migrations, stamps = (
    importlib.import_module(f"usdphys_ext.usdphys_addon.bridge.stored.{name}")
    for name in ("handlers", "migrations", "stamps")
)

NEW = "0.2.0-dev.1"
for place in (stamps, migrations):
    place.addon_version = lambda: NEW

# A renamed number, a renamed text on all kinds of data-blocks, a renamed group with a list, a value that moves into
# another group, and an enum with other numbers.
mass, collider, prim = (
    one.__annotations__ for one in (props.MassProperties, props.ColliderProperties, props.RememberedPrim)
)
mass["weight"] = mass.pop("mass")
prim["more"] = prim.pop("extras")
collider["ignored"] = collider.pop("filtered_pairs")
mass["length"] = collider.pop("height")
collider["axis"].keywords["items"] = tuple(reversed(collider["axis"].keywords["items"]))
MIGRATIONS = (
    migrations.Migration(NEW, "MassProperties", "mass", "weight"),
    migrations.Migration(NEW, "RememberedPrim", "extras", "more"),
    migrations.Migration(NEW, "ColliderProperties", "filtered_pairs", "ignored"),
    migrations.Migration(NEW, "ColliderProperties", "height", "mass.length"),
    migrations.Migration(NEW, "ColliderProperties", "axis", "axis", lambda number: 2 - number),
    migrations.Migration(NEW, "ColliderProperties", "radius", "", None),
)
module.register()
seen: dict = {}


def empty() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def seen_of(obj, material=None, scene=None) -> dict:
    physics = obj.usdphys
    first = physics.colliders[0]
    pairs = first.ignored.filtered_pairs
    left = sorted({"mass", "extras"} & {*physics.mass.keys(), *physics.prim.keys()})
    found = {
        "weight": physics.mass.weight, "in a list": first.mass.weight, "more": physics.prim.more,
        "ignored": [item.path for item in pairs], "target": pairs[0].object.name, "length": first.mass.length,
        "axis": first.axis, "radius": "radius" in first.keys(), "left": left, "stamp": physics.version,
    }  # fmt: skip
    if material is not None:
        found["of the material"] = material.usdphys.prim.more, material.usdphys.version
    if scene is not None:
        found["of the scene"] = scene.usdphys.physics_scenes[0].prim.more, scene.usdphys.version
    return found


def open_stored(path=stored) -> dict:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return seen_of(bpy.data.objects["Stored"], bpy.data.materials["Stored"], bpy.data.scenes["Stored"])


bpy.ops.wm.open_mainfile(filepath=str(stored))
seen["without a migration"] = bpy.data.objects["Stored"].usdphys.mass.is_property_set("weight")
migrations.MIGRATIONS = MIGRATIONS

seen["open"] = open_stored()
handlers.migrate_open_file()
seen["twice"] = seen_of(bpy.data.objects["Stored"])
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "again.blend"))
seen["saved and opened"] = open_stored(folder / "again.blend")

empty()
# Nothing has stamped it yet.
fresh = bpy.data.objects.new("Fresh", None)
fresh.usdphys.colliders.add().axis = "X"
with bpy.data.libraries.load(str(stored)) as (_, wanted):
    wanted.objects = ["Stored"]
seen["append"] = seen_of(bpy.data.objects["Stored"])
seen["there before"] = fresh.usdphys.version, fresh.usdphys.colliders[0].axis
bpy.data.objects["Stored"].usdphys.colliders[0].axis = "Y"
bpy.ops.wm.append(filename="Stored", directory=str(stored / "Object"))
seen["append again"] = seen_of(bpy.data.objects["Stored.001"])
seen["the first one"] = bpy.data.objects["Stored"].usdphys.colliders[0].axis

empty()
with bpy.data.libraries.load(str(stored), link=True) as (_, wanted):
    wanted.scenes = ["Stored"]
linked = bpy.data.objects["Stored"]
seen["link"] = seen_of(linked, bpy.data.materials["Stored"], bpy.data.scenes["Stored", str(stored)])
bpy.context.scene.collection.objects.link(linked)
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "links.blend"))
bpy.ops.wm.open_mainfile(filepath=str(folder / "links.blend"))
seen["open with links"] = seen_of(bpy.data.objects["Stored"])
bpy.data.libraries[0].reload()
if bpy.app.version < (5, 0):
    handlers.migrate_open_file()  # by a timer there, and none runs without a window
seen["reload"] = seen_of(bpy.data.objects["Stored"])

# The add-on is enabled when the file is open, as after an update of it.
module.unregister()
bpy.ops.wm.open_mainfile(filepath=str(stored))
bpy.ops.ed.undo_push(message="Before")
module.register()
seen["enabled late"] = seen_of(bpy.data.objects["Stored"])
bpy.ops.ed.undo_push(message="After")
bpy.ops.ed.undo()
seen["undone"] = seen_of(bpy.data.objects["Stored"])

# Without a file of its own, as in the clipboard and in an autosave, data has no stamp but the version of this add-on.
empty()
made = bpy.data.objects.new("Made", None)
bpy.context.scene.collection.objects.link(made)
made.usdphys.mass.is_applied = True
seen["new"] = made.usdphys.version

# Keyframes and drivers follow.
module.unregister()
migrations.MIGRATIONS = ()
mass["mass"] = mass.pop("weight")
module.register()
for place in (stamps, migrations):
    place.addon_version = lambda: "0.1.0"
empty()
made = bpy.data.objects.new("Made", None)
bpy.context.scene.collection.objects.link(made)
made.usdphys.mass.is_applied = True
made.usdphys.mass.mass = 4.0
made.usdphys.mass.keyframe_insert("mass", frame=1)
made.usdphys.mass.driver_add("density")
made.usdphys.mass.driver_add("center_of_mass", 0)
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "keys.blend"))
module.unregister()
for place in (stamps, migrations):
    place.addon_version = lambda: NEW
mass["weight"] = mass.pop("mass")
mass["middle"] = mass.pop("center_of_mass")
migrations.MIGRATIONS = (
    MIGRATIONS[0], migrations.Migration(NEW, "MassProperties", "center_of_mass", "middle"),
)  # fmt: skip
module.register()
bpy.ops.wm.open_mainfile(filepath=str(folder / "keys.blend"))
made = bpy.data.objects["Made"]
curves = made.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
seen["keys"] = [curve.data_path for curve in curves]
seen["drivers"] = sorted(curve.data_path for curve in made.animation_data.drivers)

print(json.dumps(seen))
sys.stdout.flush()
os._exit(0)  # Blender may hang while the interpreter shuts down
