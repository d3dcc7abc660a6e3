# SPDX-License-Identifier: GPL-3.0-or-later
"""Large scenes and long runs: processor time and memory of each command, and what stays behind in memory.

    .venv/bin/python scripts/bench_scale.py [growth] [scale] [leaks] [mesh] [hour] [--check]

growth: 20,000 bodies (--many) and a quarter of them, with a tenth as many joints, in groups of a hundred, through each
command and form of output. `exponent_NAME` says how its time grows, beside that of ten bodies; `native` is Blender's
own import and export, and `own_exponent_NAME` is of the time beside theirs. `composed_over_native` compares an export
of the imported and edited scene with Blender's own of the same scene. scale: 1,000 and 20,000 bodies (--many) through
validate, inspect, simulate and convert, each in a process of its own; Blender's own export beside them, whose
time grows with the square of the objects under one parent. leaks: 50 imports and 50 exports in one process. mesh: a
mesh of five million triangles. hour: an hour of the preview's world at 60 Hz.
Times are of the processor, so that other work on the machine disturbs them little.

Prints `name value unit` per figure; with --check, exit status 1 where a bound is not met.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import bench

KINDS = ("growth", "scale", "leaks", "mesh", "hour")
FEW = 1_000
#: Bodies of a scene whose time is the start of a command; largest exponent of the time that is left of larger ones.
START, EXPONENT = 10, 1.1
BOUNDS = {
    "growth_convert_over_native": 1.2, "inspect_over_validate": 2.0, "convert_over_native": 1.5,
    "composed_over_native": 2.2, "leak_import": 1.05, "leak_export": 1.05, "leak_hour": 1.05,
}  # fmt: skip
_START = "import os, sys; sys.path[:0] = [{root!r}, {root!r} + '/scripts']\n"
_MAKE = """
import bench, bench_export
import bpy
bench.load_extension().register()
from usdphys_ext.usdphys_addon.exchange import usd_export
for number in map(int, sys.argv[2:]):
    bench_export.build(number)
    for obj in bpy.data.objects:
        obj.usdphys.colliders[0].approximation = "convexHull"
    bpy.ops.wm.save_as_mainfile(filepath=f"{sys.argv[1]}/{number}.blend")
    usd_export.export_usd(bpy.context, f"{sys.argv[1]}/{number}.usdc", usd_export.ExportOptions())
os._exit(0)
"""
_GROUPS = """
import bench
import bpy
bench.load_extension().register()
from usdphys_ext.usdphys_addon.exchange import blend_file
for number in map(int, sys.argv[2:]):
    bench.empty()
    box, above, last = bench.box("Box"), None, None
    for index, place in enumerate(bench.grid(number)):
        if index % 100 == 0:
            above = bench.placed(f"Group {index // 100}", None, (0, 0, 0))
        crate = bench.body(f"Crate {index}", box, place)
        crate.usdphys.colliders[0].approximation = "boundingCube"
        crate.parent = above
        if index % 10 == 9:
            joint = bench.placed(f"Hinge {index // 10}", None, place)
            joint.parent = above
            joint.usdphys.joint.is_applied, joint.usdphys.joint.type = True, "REVOLUTE"
            joint.usdphys.joint.body0, joint.usdphys.joint.body1 = last, crate
        last = crate
    os.makedirs(f"{sys.argv[1]}/{number}")
    bpy.ops.wm.save_as_mainfile(filepath=f"{sys.argv[1]}/{number}/scene.blend")
os._exit(0)
"""
_EDIT = """
import bpy
from usdphys_addon.bridge import props
props.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], load_ui=False)
crates = [obj for obj in bpy.data.objects if obj.name.startswith("Crate")]
for obj in crates[::10]:
    obj.location.x += 0.1
for obj in crates[::7]:
    obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 2.0
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
os._exit(0)
"""
_COMMAND = """
from usdphys_addon import cli
status = cli.main(sys.argv[1:])
sys.stdout.flush()
os._exit(0 if sys.argv[1] == "diff" and status == 1 else status)
"""
_NATIVE = """
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1], load_ui=False)
bpy.ops.wm.usd_export(filepath=sys.argv[2], evaluation_mode="VIEWPORT", use_instancing=False)
os._exit(0)
"""
_NATIVE_IMPORT = """
import bpy
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.wm.usd_import(filepath=sys.argv[1])
os._exit(0)
"""
_NATIVE_IMPORT_GLB = """
import bpy
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.import_scene.gltf(filepath=sys.argv[1])
os._exit(0)
"""
_LEAKS = """
import bench, bench_export
import bpy
bench.load_extension().register()
from pathlib import Path
from usdphys_ext.usdphys_addon.exchange import usd_export, usd_import
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
bench_export.build(500)
target = Path(sys.argv[1], "leak.usdc")
sizes = []
for _ in range(50):
    usd_export.export_usd(bpy.context, target, usd_export.ExportOptions())
    sizes.append(resident())
print("leak_export", max(sizes[40:]) / max(sizes[5:15]), "1", flush=True)
sizes = []
for _ in range(50):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
    sizes.append(resident())
print("leak_import", max(sizes[40:]) / max(sizes[5:15]), "1", flush=True)
os._exit(0)
"""
_MESH = """
import bpy
from usdphys_addon.bridge import props
props.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.mesh.primitive_grid_add(x_subdivisions=1581, y_subdivisions=1581)
bpy.context.object.usdphys.rigid_body.is_applied = True
bpy.context.object.usdphys.colliders.add()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""
_HOUR = """
from pathlib import Path
import bpy
bpy.utils.expose_bundled_modules()
from usdphys_addon.simulation.world import World
from usdphys_addon.usd import read
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
world = World(read.read_stage(read.open_stage(sys.argv[1])), time_step=1 / 60)
sizes = []
for minute in range(60):
    for _ in range(3600):
        world.step()
    sizes.append(resident())
print("leak_hour", max(sizes[50:]) / max(sizes[:5]), "1", flush=True)
os._exit(0)
"""
_TOY = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    float3 xformOp:scale = (50, 50, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    double3 xformOp:translate = (0, 0, 5)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
{
    vector3f physics:angularVelocity = (0, 400, 0)
    double3 xformOp:translate = (9, 0, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
"""


def run(script: str, *arguments: object) -> tuple[float, float, str]:
    """(processor seconds, peak memory in MB, output) of a script in a process of its own."""
    return bench.process(sys.executable, "-c", _START.format(root=str(bench.ROOT)) + script, *arguments)


def measure_scale(folder: Path, many: int) -> bench.Rows:
    run(_MAKE, folder, FEW, many)
    seconds: dict[str, list[float]] = {}
    for number in (FEW, many):
        stage, blend = folder / f"{number}.usdc", folder / f"{number}.blend"
        lines = {
            "validate": (_COMMAND, "validate", stage),
            "inspect": (_COMMAND, "inspect", stage),
            "simulate": (_COMMAND, "simulate", stage, "--seconds", 0.1, "--json", folder / "poses.json"),
            "read_blend": (_COMMAND, "validate", blend),
            "convert": (_COMMAND, "convert", blend, folder / "out.usdc"),
            "native": (_NATIVE, blend, folder / "native.usdc"),
        }
        for name, line in lines.items():
            spent, memory, _ = run(*line)
            seconds.setdefault(name, []).append(spent)
            yield f"{name}_{number}", spent, "s"
            yield f"{name}_{number}_memory", memory, "MB"
    growth = {name: found[1] / found[0] for name, found in seconds.items()}
    for name, value in growth.items():
        yield f"growth_{name}", value, "1"
    yield "growth_convert_over_native", growth["convert"] / growth["native"], "1"
    yield "inspect_over_validate", seconds["inspect"][1] / seconds["validate"][1], "1"
    yield "convert_over_native", seconds["convert"][1] / seconds["native"][1], "1"


#: What is done with each scene, in this order: {at} is its name without a suffix.
_STEPS = {
    "to_usdc": "convert {at}.blend {at}.usdc", "to_usda": "convert {at}.blend {at}.usda",
    "to_usdz": "convert {at}.blend {at}.usdz", "to_glb": "convert {at}.blend {at}.glb",
    "to_gltf": "convert {at}.blend {at}.gltf",
    "layers": "convert {at}.blend {at}_layers.usda --layers",
    "runtimes": "convert {at}.blend {at}_runtimes.usda --runtimes",
    "validate": "validate {at}.usdc --target usd physx", "inspect": "inspect {at}.usdc",
    "validate_blend": "validate {at}.blend", "validate_glb": "validate {at}.glb",
    "simulate": "simulate {at}.usdc --seconds 0.1 --json {at}.json",
    "motion": "simulate {at}.usdc --seconds 0.1 --out {at}_motion.usdc",
    "motion_blend": "simulate {at}.blend --seconds 0.1 --out {at}_motion_blend.usdc",
    "import": "convert {at}.usdc {at}_imported.blend", "import_glb": "convert {at}.glb {at}_glb.blend",
    "onto": "convert {at}.usdc {at}_onto.blend --onto {at}.blend", "edit": "",
    "edits": "convert {at}_edited.blend {at}_edits.usda", "merge": "convert {at}_edited.blend {at}_merge.usda --merge",
    "composed": "convert {at}_edited.blend {at}_composed.usda --composed",
    "flatten": "convert {at}_edited.blend {at}_flat.usda --flatten",
    "physics_layer": "convert {at}_edited.blend {at}_physics.usda --physics-layer",
    "units": "convert {at}_edited.blend {at}_units.usda --meters-per-unit 0.01",
    "diff": "diff {at}.usdc {at}_merge.usda", "native": "", "native_edited": "", "native_import": "",
    "native_import_glb": "",
}  # fmt: skip


#: What Blender itself does within a step.
_NATIVE_OF = {
    "to_usdc": "native", "composed": "native_edited", "import": "native_import", "import_glb": "native_import_glb",
}  # fmt: skip


def measure_growth(folder: Path, few: int, many: int, only: list[str]) -> bench.Rows:
    sizes = (START, few, many)
    run(_GROUPS, folder, *sizes)
    spent: dict[str, list[float]] = {}
    for number in sizes:
        at = folder / str(number) / "scene"
        scripts = {
            "edit": (_EDIT, f"{at}_imported.blend", f"{at}_edited.blend"),
            "native": (_NATIVE, f"{at}.blend", f"{at}_native.usdc"), "native_import": (_NATIVE_IMPORT, f"{at}.usdc"),
            "native_import_glb": (_NATIVE_IMPORT_GLB, f"{at}.glb"),
            "native_edited": (_NATIVE, f"{at}_edited.blend", f"{at}_native_edited.usdc"),
        }  # fmt: skip
        for name, line in _STEPS.items():
            if only and name not in only:
                continue
            command = scripts.get(name) or (_COMMAND, *line.format(at=at).split())
            seconds, memory, _ = run(*command)
            spent.setdefault(name, []).append(seconds)
            yield f"{name}_{number}", seconds, "s"
            yield f"{name}_{number}_memory", memory, "MB"
    for name, (start, shorter, longer) in spent.items():
        yield f"exponent_{name}", math.log((longer - start) / (shorter - start)) / math.log(many / few), "1"
        if native := spent.get(_NATIVE_OF.get(name, "")):
            own = (longer - start - native[2] + native[0]) / (shorter - start - native[1] + native[0])
            yield f"own_exponent_{name}", math.log(own) / math.log(many / few), "1"
    if "composed" in spent and "native_edited" in spent:
        yield "composed_over_native", spent["composed"][2] / spent["native_edited"][2], "1"


def measure_mesh(folder: Path) -> bench.Rows:
    blend, stage = folder / "mesh.blend", folder / "mesh.usdc"
    run(_MESH, blend)
    for name, line in {
        "mesh_native": (_NATIVE, blend, folder / "native.usdc"),
        "mesh_convert": (_COMMAND, "convert", blend, stage),
        "mesh_validate": (_COMMAND, "inspect", stage),
        "mesh_import": (_COMMAND, "convert", stage, folder / "back.blend"),
    }.items():
        seconds, memory, _ = run(*line)
        yield name, seconds, "s"
        yield f"{name}_memory", memory, "MB"


def leaks(text: str) -> bench.Rows:
    for line in text.splitlines():
        if line.startswith("leak_"):
            name, value, unit = line.split()
            yield name, float(value), unit


def measure(wanted: Any) -> bench.Rows:
    kinds = wanted.kinds or KINDS
    with tempfile.TemporaryDirectory(prefix="usdphys-scale-") as name:
        folder = Path(name)
        if "leaks" in kinds:
            yield from leaks(run(_LEAKS, folder)[2])
        if "hour" in kinds:
            (folder / "toy.usda").write_text(_TOY)
            yield from leaks(run(_HOUR, folder / "toy.usda")[2])
        if "mesh" in kinds:
            yield from measure_mesh(folder)
        if "growth" in kinds:
            yield from measure_growth(folder, wanted.many // 4, wanted.many, wanted.only.split())
            # Blender's own time grows faster, which no bound of ours changes.
            ours = {name for name in _STEPS if name != "edit" and not name.startswith("native")}
            words = {name: "own_exponent" if name in _NATIVE_OF else "exponent" for name in ours}
            BOUNDS.update((f"{word}_{name}", EXPONENT) for name, word in words.items())
        if "scale" in kinds:
            yield from measure_scale(folder, wanted.many)
            for name in ("validate", "inspect", "simulate", "read_blend"):
                BOUNDS[f"growth_{name}"] = 1.2 * wanted.many / FEW


if __name__ == "__main__":
    bench.main(
        __doc__,
        measure,
        BOUNDS,
        kinds=(KINDS, "parts"),
        many=(20_000, "bodies of the larger scene"),
        only=("", "steps of growth, such as 'import edit merge'"),
    )
