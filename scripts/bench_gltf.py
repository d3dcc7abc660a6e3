# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own glTF export and import, as a ratio in one run.

    .venv/bin/python scripts/bench_gltf.py [--check] [--profile FILE]

The bodies are crates with a box as collider and one mesh for all, as .glb. `export` and `import` are of one family
without the facts of USD, `kept` of both families with them, as by default. `floor` are hooks that read or set what a
crate needs and nothing else; `asking` finds the bodies in the file and sets nothing; `bare` is Blender's import of the
file with physics, without any hook. Native (of a file without physics) and ours alternate. Prints `name value unit` per
figure; with --check, exit status 1 where a bound is not met.
"""

from __future__ import annotations

import cProfile
import gc
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bench

BOUNDS = {"export_10000": 1.20, "import_10000": 1.10, "growth_export": 15.0, "growth_import": 15.0}
RUNS = {1_000: 15, 10_000: 5}


def empty() -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gc.collect()


def build(number: int) -> None:
    """A grid of crates, each a body with a box as its collider; one mesh for all."""
    import bpy

    empty()
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new("Crate")
    mesh.from_pydata(corners, [], faces)
    side = round(number ** (1 / 3)) + 1
    for index in range(number):
        obj = bpy.data.objects.new(f"Crate {index}", mesh)
        obj.location = (2 * (index % side), 2 * (index // side % side), 2 * (index // side**2) + 1)
        bpy.context.scene.collection.objects.link(obj)
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.colliders.add().shape = "CUBE"
    bpy.context.view_layer.update()


BODY = "KHR_physics_rigid_bodies"


def taken_apart(file: str) -> tuple[dict[str, Any], bytes]:
    """(JSON, what comes after it) of a .glb."""
    data = Path(file).read_bytes()
    end = 20 + int.from_bytes(data[12:16], "little")
    return json.loads(data[20:end]), data[end:]


class FloorExport:
    """Reads the four properties of each body, and puts as many values into the finished file."""

    is_critical = False

    def vtree_after_filter_hook(self, vtree: Any, _settings: Any) -> None:
        self.found = []
        for vnode in vtree.nodes.values():
            physics = vnode.blender_object.usdphys if vnode.blender_object is not None else None
            if physics is not None and physics.rigid_body.is_applied:
                item = physics.colliders[0]
                self.found.append((vnode, item.shape, item.keys()))

    def gather_gltf_extensions_hook(self, gltf: Any, _settings: Any) -> None:
        numbers = {id(node): index for index, node in enumerate(gltf.nodes)}
        self.bodies = [numbers[id(vnode.node)] for vnode, _, _ in self.found]

    def post_export_hook(self, settings: Any) -> None:
        content, rest = taken_apart(settings["gltf_filepath"])
        for index in self.bodies:
            content["nodes"][index]["extensions"] = {BODY: {"motion": {}, "collider": {"geometry": {"shape": 0}}}}
        Path(settings["gltf_filepath"]).write_bytes(json.dumps(content).encode() + rest)


class AskingImport:
    """Announces the extension, which Blender asks for, and finds the bodies in the file."""

    def __init__(self) -> None:
        from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

        self.extensions = [Extension(BODY, {}, required=True)]

    def gather_import_scene_after_nodes_hook(self, _gltf_scene: Any, _scene: Any, gltf: Any) -> None:
        content, _ = taken_apart(gltf.filename)
        for index, node in enumerate(content["nodes"]):
            if BODY in node.get("extensions", {}):
                self.put(gltf.vnodes[index].blender_object)

    def put(self, obj: Any) -> None:
        """Nothing but the call."""


class FloorImport(AskingImport):
    """Sets four properties of each body, all in one assignment."""

    values: dict[str, Any] = {  # noqa: RUF012
        "rigid_body": {"is_applied": True}, "colliders": [{"shape": 2, "size": [1.0] * 3, "location": [0.0] * 3}],
    }  # fmt: skip

    def put(self, obj: Any) -> None:
        import bpy

        holder = obj.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0) else obj
        holder["usdphys"] = self.values


def floor(importer: type[AskingImport] = FloorImport) -> str:
    """Name of a module that Blender takes for an add-on with these hooks."""
    module: Any = ModuleType(f"bench_gltf_{importer.__name__}")
    module.glTF2ExportUserExtension, module.glTF2ImportUserExtension = FloorExport, importer
    sys.modules[module.__name__] = module
    return str(module.__name__)


class Ours:
    """An add-on as Blender knows it when a user has enabled it; by default ours."""

    def __init__(self, module: str = "usdphys_ext") -> None:
        self.module = module

    def __enter__(self) -> None:
        import bpy

        self.entry = bpy.context.preferences.addons.new()
        self.entry.module = self.module

    def __exit__(self, *_: object) -> None:
        import bpy

        bpy.context.preferences.addons.remove(self.entry)


def seconds(action: Callable[[], Any]) -> float:
    """Processor time of this thread, with the collector at rest."""
    gc.collect()
    gc.disable()
    before = time.thread_time()
    action()
    found = time.thread_time() - before
    gc.enable()
    return found


def measure(number: int, folder: Path) -> dict[str, float]:
    """Seconds of each, the quickest of its runs."""
    import bpy

    build(number)
    settings = bpy.context.scene.usdphys.gltf
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    def export(name: str) -> Callable[[], Any]:
        return lambda: bpy.ops.export_scene.gltf(filepath=str(folder / f"{name}.glb"))

    for _ in range(RUNS[number]):
        note("native_export", seconds(export("native")))
        with Ours(floor()):
            note("floor_export", seconds(export("floor")))
        with Ours():
            settings.families, settings.keeps_usd = "KHR", False
            note("export", seconds(export("physics")))
            settings.families, settings.keeps_usd = "BOTH", True
            note("export_kept", seconds(export("kept")))
    for _ in range(RUNS[number]):
        for name, file in (
            ("native_import", "native"), ("bare_import", "physics"), ("asking_import", "physics"),
            ("floor_import", "physics"), ("import", "physics"), ("import_kept", "kept"),
        ):  # fmt: skip
            empty()
            action = lambda file=file: bpy.ops.import_scene.gltf(filepath=str(folder / f"{file}.glb"))  # noqa: E731
            if name in ("native_import", "bare_import"):
                note(name, seconds(action))
            else:
                hooks = {"asking_import": AskingImport, "floor_import": FloorImport}
                with Ours(floor(hooks[name]) if name in hooks else "usdphys_ext"):
                    note(name, seconds(action))
    return {name: min(values) for name, values in found.items()}


def figures_of(profile: str) -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit); none where a profile is written."""
    import bpy

    bpy.utils.expose_bundled_modules()
    logging.disable(logging.INFO)
    extension: Any = bench.load_extension()
    extension.register()
    figures: dict[str, tuple[float, str]] = {}
    added: dict[str, list[float]] = {"export": [], "import": []}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number in RUNS:
                if profile:
                    recorder = cProfile.Profile()
                    recorder.runcall(measure, number, Path(folder))
                    recorder.dump_stats(f"{profile}.{number}")
                    continue
                found = measure(number, Path(folder))
                for kind in ("export", "import"):
                    native = found[f"native_{kind}"]
                    added[kind].append(found[kind] - native)
                    figures[f"native_{kind}_{number}"] = (native * 1e3, "ms")
                    figures[f"floor_{kind}_{number}"] = (found[f"floor_{kind}"] / native, "x native")
                    if kind == "import":
                        for name in ("bare", "asking"):
                            figures[f"{name}_{kind}_{number}"] = (found[f"{name}_{kind}"] / native, "x native")
                    figures[f"{kind}_{number}"] = (found[kind] / native, "x native")
                    figures[f"{kind}_kept_{number}"] = (found[f"{kind}_kept"] / native, "x native")
    finally:
        empty()
        extension.unregister()
    if not profile:
        for kind, (small, large) in added.items():
            figures[f"growth_{kind}"] = (large / max(small, 1e-3), "1")
    return figures


if __name__ == "__main__":
    reader = bench.parser(__doc__)
    reader.add_argument("--profile", default="", help="write profiles of cProfile in place of figures")
    wanted = reader.parse_args()
    sys.exit(bench.report(figures_of(wanted.profile), BOUNDS, check=wanted.check))
