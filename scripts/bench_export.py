# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own USD export, as a ratio in one run.

    .venv/bin/python scripts/bench_export.py [--check]

Every body has a mass, a collider and a material. Prints `name value unit` per figure; with --check, exit status 1
where a bound is not met.
"""

from __future__ import annotations

import compileall
import gc
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import bench

BOUNDS = {
    "ratio_1000": 0.25, "ratio_10000": 0.10, "growth_added": 12.0, "register": 50.0,
    "proof_1000": 0.15, "proof_10000": 0.15,
}  # fmt: skip
RUNS = {1_000: 7, 10_000: 3}
#: Blender is asked for the same by itself as by us.
NATIVE = {"evaluation_mode": "VIEWPORT", "use_instancing": False}


def build(number: int, *, shared: bool = True) -> None:
    """A grid of crates, each a body with a mass, a collider and one of eight physics materials.

    shared: crates of one material are copies with the same mesh, as a person makes them; else each has its own.
    """
    import bpy

    bench.empty()
    materials = []
    for index in range(8):
        material = bpy.data.materials.new(f"Material {index}")
        physics = material.usdphys.physics_material
        physics.is_applied = True
        physics.static_friction = physics.dynamic_friction = index / 10
        physics.density = 1000.0 + index
        materials.append(material)
    meshes = [bench.box(f"Box {index}") for index in range(8 if shared else number)]
    for index, mesh in enumerate(meshes):
        mesh.materials.append(materials[index % 8])
    for index, place in enumerate(bench.grid(number)):
        mass = bench.body(f"Box {index}", meshes[index % len(meshes)], place).usdphys.mass
        mass.is_applied, mass.mass = True, 1.0 + index % 7
    bpy.context.view_layer.update()


def saving_time(context: Any, path: Path) -> float:
    """Seconds that the stage under a hook takes to be written, the best of several."""
    return min(bench.seconds(lambda: context.get_stage().GetRootLayer().Export(str(path))) for _ in range(5))


def export(folder: Path, *, proves: bool = False) -> None:
    import bpy
    from usdphys_ext.usdphys_addon.exchange import usd_export

    usd_export.export_usd(bpy.context, folder / "bench.usdc", usd_export.ExportOptions(proves=proves))


def our_time(folder: Path) -> tuple[float, float]:
    """Seconds of one export in all, and in our code: before, in and after Blender's.

    Blender's own part varies by more than all of that from run to run, so it is taken out by the clock and not by a
    difference of totals.
    """
    from usdphys_ext.usdphys_addon.exchange import usd_export

    with bench.stopwatch(usd_export, "_native_export") as native, bench.stopwatch(usd_export, "_write_physics") as hook:
        total = bench.seconds(lambda: export(folder))
    return total, total - sum(native) + sum(hook)


def proof_share(folder: Path) -> float:
    """Share of a whole export in which the written file is held against the scene."""
    from usdphys_ext.usdphys_addon.exchange import usd_export
    from usdphys_ext.usdphys_addon.usd import verify

    with bench.stopwatch(verify, "prove") as proof, bench.stopwatch(usd_export, "Proof") as kept:
        whole = bench.seconds(lambda: export(folder, proves=True))
    return (sum(proof) + sum(kept)) / whole


def larger_file_time(folder: Path) -> float:
    """Seconds that the file with the physics takes longer to be saved than the one that Blender writes by itself."""
    import bpy
    from usdphys_ext.usdphys_addon.exchange import hook_calls, usd_export

    saved = []
    original = usd_export._write_physics

    def save_only(context: object) -> bool:
        saved.append(saving_time(context, folder / "saved.usdc"))
        return True

    def write_and_save(context: object, job: object) -> None:
        original(context, job)
        save_only(context)

    with hook_calls.handled_by("on_export", save_only):
        bpy.ops.wm.usd_export(filepath=str(folder / "native.usdc"), **NATIVE)
    with patch.object(usd_export, "_write_physics", write_and_save):
        export(folder)
    return max(0.0, saved[1] - saved[0])


def write_least(context: object) -> None:
    """The physics of these boxes in the fewest calls: each value of Blender is read once, each opinion written once.

    It looks for nothing, checks nothing and knows what it will find. The caller opens a block around it, so that the
    stage is not composed anew.
    """
    import bpy
    from pxr import Sdf

    layer = context.get_stage().GetRootLayer()  # type: ignore[attr-defined]
    prepended = Sdf.TokenListOp.Create
    of_body = prepended(["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    of_mesh = prepended(["MaterialBindingAPI", "PhysicsMeshCollisionAPI", "PhysicsCollisionAPI"])
    number, word, varying, uniform = (
        Sdf.ValueTypeNames.Float, Sdf.ValueTypeNames.Token, Sdf.VariabilityVarying, Sdf.VariabilityUniform
    )  # fmt: skip
    layer.pseudoRoot.SetInfo("kilogramsPerUnit", 1.0)
    homes = {}

    def put(spec: Any, name: str, kind: Any, variability: Any, value: Any) -> None:
        path = spec.path.AppendProperty(name)
        if (home := homes.get((name, value))) is not None:
            Sdf.CopySpec(layer, home, layer, path)  # quicker than to make an attribute
            return
        Sdf.AttributeSpec(spec, name, kind, variability).default = value
        homes[name, value] = path

    for obj in bpy.data.objects:
        physics = obj.usdphys
        if not physics.rigid_body.is_applied or not physics.mass.is_applied:
            continue
        name = obj.name.replace(" ", "_")
        spec = layer.GetPrimAtPath(f"/root/{name}")
        spec.SetInfo("apiSchemas", of_body)
        put(spec, "physics:mass", number, varying, physics.mass.mass)
        for collider in physics.colliders:
            mesh = layer.GetPrimAtPath(f"/root/{name}/{obj.data.name.replace(' ', '_')}")
            mesh = mesh or layer.GetPrimAtPath(f"/root/{name}/{name}")
            mesh.SetInfo("apiSchemas", of_mesh)
            shape = {"AUTO": "boundingCube"}[collider.shape]
            put(mesh, "physics:approximation", word, uniform, shape)
    for material in bpy.data.materials:
        values = material.usdphys.physics_material
        spec = layer.GetPrimAtPath(f"/root/_materials/{material.name.replace(' ', '_')}")
        spec.SetInfo("apiSchemas", prepended(["PhysicsMaterialAPI"]))
        for key, value in (
            ("density", values.density), ("staticFriction", values.static_friction),
            ("dynamicFriction", values.dynamic_friction),
        ):  # fmt: skip
            put(spec, f"physics:{key}", number, varying, value)


def floor_time(folder: Path, number: int) -> float:
    """Seconds of `write_least` where ours writes, in an export with the same options."""
    import bpy
    from pxr import Sdf
    from usdphys_ext.usdphys_addon.exchange import hook_calls

    spent = []
    block = Sdf.ChangeBlock()

    def write(context: object) -> bool:
        spent.append(bench.seconds(lambda: (block.__enter__(), write_least(context))))
        return True

    path = str(folder / "floor.usdc")
    with hook_calls.handled_by("on_export", write):
        bpy.ops.wm.usd_export(filepath=path, **NATIVE)
    spent.append(bench.seconds(lambda: block.__exit__(None, None, None)))
    masses = []
    layer = Sdf.Layer.OpenAsAnonymous(path)
    layer.Traverse("/root", lambda found: masses.append(found) if str(found).endswith(".physics:mass") else None)
    assert len(masses) == number, f"the floor has written {len(masses)} masses"
    return sum(spent)


def export_times(number: int, folder: Path) -> tuple[float, float, float, float, float]:
    """(native, added by physics, whole, floor, share of the proof): the best of several runs, in turns, in s."""
    import bpy

    build(number)
    path, rows = str(folder / f"bench_{number}.usdc"), []
    for _ in range(RUNS[number]):
        gc.collect()
        native = bench.seconds(lambda: bpy.ops.wm.usd_export(filepath=path, **NATIVE))
        gc.collect()
        whole, ours = our_time(folder)
        gc.collect()
        rows.append((native, ours, whole, floor_time(folder, number), proof_share(folder)))
    larger = larger_file_time(folder)
    native, ours, whole, floor, proof = map(min, zip(*rows, strict=True))
    return native, ours + larger, whole, floor + larger, proof


_REGISTER = """
import os, sys, time
import bpy
sys.path.insert(0, sys.argv[1])
import bench
start = time.perf_counter()
bench.load_extension().register()
print(time.perf_counter() - start, flush=True)
os._exit(0)
"""


def register_time() -> float:
    """Seconds that a Blender which has just started takes to import the add-on and to register it, the best of five."""
    # From its second start on Blender finds the add-on compiled.
    for part in ("__init__.py", "preferences.py", "keymap.py", "usdphys_addon", "operators", "panels"):
        path = bench.ROOT / part
        compileall.compile_dir(path, quiet=1) if path.is_dir() else compileall.compile_file(path, quiet=1)
    command = (sys.executable, "-c", _REGISTER, bench.ROOT / "scripts")
    return min(float(bench.process(*command)[2].split()[-1]) for _ in range(5))


def measure(_wanted: Any) -> bench.Rows:
    yield "register", register_time() * 1e3, "ms"
    added = {}
    with bench.extension(), tempfile.TemporaryDirectory() as folder:
        from usdphys_ext.usdphys_addon.exchange import usd_hooks

        usd_hooks.unregister(usd_hooks.USDPHYS_ExportHook)
        for number in RUNS:
            native, added[number], whole, floor, proof = export_times(number, Path(folder))
            for name, seconds in (("native", native), ("added", added[number]), ("whole", whole)):
                yield f"{name}_{number}", seconds * 1e3, "ms"
            for name, seconds in (("ratio", added[number]), ("floor", floor)):
                yield f"{name}_{number}", seconds / native, "1"
            yield f"proof_{number}", proof, "1"
    yield "growth_added", added[10_000] / added[1_000], "1"


if __name__ == "__main__":
    bench.main(__doc__, measure, BOUNDS)
