# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own glTF export and import, as a ratio in one run.

    .venv/bin/python scripts/bench_gltf.py [--check] [--runs N]

The bodies are crates with a box as collider and one mesh for all, as .glb. `export` and `import` are of one family
without the facts of USD, `kept` of both families with them, as by default. `floor` are hooks that read or set what a
crate needs and nothing else. Native is of a file without physics, with the add-on off.

Each of them has processes of its own, in turns: in one process, the second of two large imports took longer. What the
first leaves in memory may be the reason; that was not measured. In each process, a small scene comes first, which loads
the modules. Ratios are medians of these pairs.

Python's garbage collector works, as for a user, except where the add-on lets it rest. `resting` ones are
with the collector off on both sides, which leaves the work itself. `growth` is the time of 10,000 over that of 1,000,
and is checked against Blender's own, which is not linear either. Prints `name value unit` per figure; with --check,
exit status 1 where a bound is not met.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import bench

BOUNDS = {"export_10000": 1.20, "import_10000": 1.10, "growth_export": 1.15, "growth_import": 1.15}
SIZES = (1_000, 10_000)
#: File that each kind reads, in the order of the turns.
FILES = {"native": "native", "floor": "physics", "ours": "physics", "kept": "kept"}


def build(number: int) -> None:
    """A grid of crates, each a body with a box as its collider; one mesh for all."""
    context, mesh = bench.empty(), bench.box("Crate")
    for index, place in enumerate(bench.grid(number)):
        bench.body(f"Crate {index}", mesh, place).usdphys.colliders[0].shape = "CUBE"
    context.view_layer.update()


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


class FloorImport:
    """Announces the extension, which Blender asks for; sets four properties of each body, all in one assignment."""

    values: dict[str, Any] = {  # noqa: RUF012
        "rigid_body": {"is_applied": True}, "colliders": [{"shape": 2, "size": [1.0] * 3, "location": [0.0] * 3}],
    }  # fmt: skip

    def __init__(self) -> None:
        from io_scene_gltf2.io.com.gltf2_io_extensions import Extension

        self.extensions = [Extension(BODY, {}, required=True)]

    def gather_import_scene_after_nodes_hook(self, _gltf_scene: Any, _scene: Any, gltf: Any) -> None:
        import bpy

        for index, node in enumerate(gltf.data.nodes):
            if BODY in (node.extensions or {}):
                obj = gltf.vnodes[index].blender_object
                holder = obj.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0) else obj
                holder["usdphys"] = self.values


def floor() -> str:
    """Name of a module that Blender takes for an add-on with the hooks of the floor."""
    module: Any = ModuleType("bench_gltf_floor")
    module.glTF2ExportUserExtension, module.glTF2ImportUserExtension = FloorExport, FloorImport
    sys.modules[module.__name__] = module
    return str(module.__name__)


@contextmanager
def enabled(module: str) -> Iterator[None]:
    """An add-on as Blender knows it when a user has enabled it. module: none if empty."""
    import bpy

    addons = bpy.context.preferences.addons
    entry = addons.new() if module else None
    if entry is not None:
        entry.module = module
    yield
    if entry is not None:
        addons.remove(entry)


def seconds(action: Callable[[], Any], *, rests: bool) -> float:
    """Processor time of this thread. rests: with the collector off."""
    gc.collect()
    if rests:
        gc.disable()
    found = bench.seconds(action, time.thread_time)
    gc.enable()
    return found


def export(kind: str, file: Path) -> None:
    import bpy

    settings = bpy.context.scene.usdphys.gltf
    settings.families, settings.keeps_usd = ("BOTH", True) if kind == "kept" else ("KHR", False)
    bpy.ops.export_scene.gltf(filepath=str(file))


def child(action: str, kind: str, folder: Path) -> None:
    """One turn, in a process of its own: prints the seconds by size and by whether the collector rests, as JSON."""
    import bpy

    logging.disable(logging.INFO)
    found: dict[str, float] = {}
    with bench.extension(), enabled({"native": "", "floor": floor()}.get(kind, "usdphys_ext")):
        # The first is for the modules.
        for size in (SIZES[0], *SIZES):
            if action == "export":
                build(size)
            for rests in (False, True):
                file = folder / f"{FILES[kind]}{size}.glb"
                if action == "import":
                    bench.empty()
                    todo = lambda file=file: bpy.ops.import_scene.gltf(filepath=str(file))  # noqa: E731
                else:
                    file = file if kind != "floor" else folder / "floor.glb"
                    todo = lambda file=file: export(kind, file)  # noqa: E731
                found[f"{size}{' resting' if rests else ''}"] = seconds(todo, rests=rests)
        bench.empty()
    print(json.dumps(found))


def turn(action: str, kind: str, folder: Path) -> dict[str, float]:
    """What a process prints."""
    said = bench.process(sys.executable, __file__, "--child", action, kind, folder)[2]
    # Blender 4.5 says something at its end.
    return dict(json.loads(next(line for line in reversed(said.splitlines()) if line.startswith("{"))))


def measure(wanted: Any) -> bench.Rows:
    with tempfile.TemporaryDirectory() as folder:
        for action in ("export", "import"):
            turns: dict[str, list[dict[str, float]]] = {kind: [] for kind in FILES}
            for number in range(wanted.runs):
                for kind in list(FILES)[:: -1 if number % 2 else 1]:
                    turns[kind].append(turn(action, kind, Path(folder)))
            native = turns.pop("native")
            for key in native[0]:
                name = f"{action}_{'_'.join(reversed(key.split()))}"
                yield f"native_{name}", median(one[key] for one in native) * 1e3, "ms"
                for kind, found in turns.items():
                    ratio = median(one[key] / other[key] for one, other in zip(found, native, strict=True))
                    yield name if kind == "ours" else f"{kind}_{name}", ratio, "x native"
            small, large = map(str, SIZES)
            growths = [
                median(one[large] for one in some) / median(one[small] for one in some)
                for some in (native, turns["ours"])
            ]
            yield f"native_growth_{action}", growths[0], "x for 10 times the bodies"
            yield f"growth_{action}", growths[1] / growths[0], "x that of native"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:  # one turn: ACTION KIND FOLDER, also for a profiler
        child(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
        sys.exit()
    bench.main(__doc__, measure, BOUNDS, runs=(5, "turns of each kind"))
