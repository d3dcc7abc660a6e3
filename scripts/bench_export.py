# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own USD export, as a ratio in one run.

    .venv/bin/python scripts/bench_export.py [--check]

Every body has a mass, a collider and a material. Prints `name value unit` per figure; with --check, exit status 1
where a bound is not met.
"""

from __future__ import annotations

import compileall
import gc
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bench

BOUNDS = {"ratio_1000": 0.25, "ratio_10000": 0.10, "growth_added": 12.0, "register": 50.0}
RUNS = {1_000: 7, 10_000: 3}
#: Blender is asked for the same by itself as by us.
NATIVE = {"evaluation_mode": "VIEWPORT", "use_instancing": False}


def build(number: int, *, shared: bool = True) -> None:
    """A grid of crates, each a body with a mass, a collider and one of eight physics materials.

    shared: crates of one material are copies with the same mesh, as a person makes them; else each has its own.
    """
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    materials = []
    for index in range(8):
        material = bpy.data.materials.new(f"Material {index}")
        physics = material.usdphys.physics_material
        physics.is_applied = True
        physics.static_friction = physics.dynamic_friction = index / 10
        physics.density = 1000.0 + index
        materials.append(material)
    collection = bpy.context.scene.collection
    side = round(number ** (1 / 3)) + 1
    meshes = []
    for index in range(8 if shared else number):
        mesh = bpy.data.meshes.new(f"Box {index}")
        mesh.from_pydata(corners, [], faces)
        mesh.materials.append(materials[index % 8])
        meshes.append(mesh)
    for index in range(number):
        obj = bpy.data.objects.new(f"Box {index}", meshes[index % len(meshes)])
        obj.location = (2 * (index % side), 2 * (index // side % side), 2 * (index // side**2) + 1)
        collection.objects.link(obj)
        physics = obj.usdphys
        physics.rigid_body.is_applied = True
        physics.mass.is_applied = True
        physics.mass.mass = 1.0 + index % 7
        physics.colliders.add()
    bpy.context.view_layer.update()


class Stopwatch:
    """Time spent in functions of a module, while inside."""

    def __init__(self, module: object, *names: str) -> None:
        self.module, self.originals = module, {name: getattr(module, name) for name in names}
        self.seconds = dict.fromkeys(names, 0.0)

    def __enter__(self) -> Stopwatch:
        for name in self.originals:
            setattr(self.module, name, self.timed(name))
        return self

    def __exit__(self, *_: object) -> None:
        for name, function in self.originals.items():
            setattr(self.module, name, function)

    def timed(self, name: str) -> object:
        def call(*arguments: object, **keywords: object) -> object:
            start = time.perf_counter()
            try:
                return self.originals[name](*arguments, **keywords)
            finally:
                self.seconds[name] += time.perf_counter() - start

        return call


def saving_time(context: object, path: Path) -> float:
    """Seconds that the stage under a hook takes to be written, the best of several."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        context.get_stage().GetRootLayer().Export(str(path))  # type: ignore[attr-defined]
        times.append(time.perf_counter() - start)
    return min(times)


def our_time(folder: Path) -> tuple[float, float]:
    """Seconds of one export in all, and in our code: before, in and after Blender's.

    Blender's own part varies by more than all of that from run to run, so it is taken out by the clock and not by a
    difference of totals.
    """
    import bpy
    from usdphys_ext.usdphys_addon.exchange import usd_export

    with Stopwatch(usd_export, "_native_export") as native, Stopwatch(usd_export, "_write_physics") as hook:
        start = time.perf_counter()
        usd_export.export_usd(bpy.context, folder / "bench.usdc", usd_export.ExportOptions())
        total = time.perf_counter() - start
    return total, total - native.seconds["_native_export"] + hook.seconds["_write_physics"]


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
    usd_export._write_physics = write_and_save
    try:
        usd_export.export_usd(bpy.context, folder / "bench.usdc", usd_export.ExportOptions())
    finally:
        usd_export._write_physics = original
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
        start = time.perf_counter()
        block.__enter__()
        write_least(context)
        spent.append(time.perf_counter() - start)
        return True

    path = str(folder / "floor.usdc")
    with hook_calls.handled_by("on_export", write):
        bpy.ops.wm.usd_export(filepath=path, **NATIVE)
    start = time.perf_counter()
    block.__exit__(None, None, None)
    spent.append(time.perf_counter() - start)
    masses = []
    layer = Sdf.Layer.OpenAsAnonymous(path)
    layer.Traverse("/root", lambda found: masses.append(found) if str(found).endswith(".physics:mass") else None)
    assert len(masses) == number, f"the floor has written {len(masses)} masses"
    return sum(spent)


def export_times(number: int, folder: Path) -> tuple[float, float, float, float]:
    """(native, added by physics, whole, floor): the best of several runs in s, in turns; what disturbs only adds."""
    import bpy

    build(number)
    native, added, whole, floor = [], [], [], []
    for _ in range(RUNS[number]):
        gc.collect()
        start = time.perf_counter()
        bpy.ops.wm.usd_export(filepath=str(folder / f"bench_{number}.usdc"), **NATIVE)
        native.append(time.perf_counter() - start)
        gc.collect()
        total, ours = our_time(folder)
        whole.append(total)
        added.append(ours)
        gc.collect()
        floor.append(floor_time(folder, number))
    larger = larger_file_time(folder)
    return min(native), min(added) + larger, min(whole), min(floor) + larger


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
    command = [sys.executable, "-c", _REGISTER, str(bench.ROOT / "scripts")]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout.split()[-1]) for run in runs)


def measure() -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit)."""
    figures = {"register": (register_time() * 1e3, "ms")}
    import bpy  # noqa: F401

    extension = bench.load_extension()
    extension.register()
    from usdphys_ext.usdphys_addon.exchange import usd_hooks

    usd_hooks.unregister(usd_hooks.USDPHYS_ExportHook)
    added = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in RUNS:
                native, added[number], whole, floor = export_times(number, Path(folder))
                figures[f"native_{number}"] = (native * 1e3, "ms")
                figures[f"added_{number}"] = (added[number] * 1e3, "ms")
                figures[f"whole_{number}"] = (whole * 1e3, "ms")
                figures[f"ratio_{number}"] = (added[number] / native, "1")
                figures[f"floor_{number}"] = (floor / native, "1")
    finally:
        extension.unregister()
    figures["growth_added"] = (added[10_000] / added[1_000], "1")
    return figures


if __name__ == "__main__":
    wanted = bench.parser(__doc__).parse_args()
    sys.exit(bench.report(measure(), BOUNDS, check=wanted.check))
