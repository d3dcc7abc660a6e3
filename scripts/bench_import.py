# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own USD import, as a ratio in one run.

    .venv/bin/python scripts/bench_import.py [--check] [--floor]

The scene is that of bench_export.py: every body has a mass, a collider and a material. Prints `name value unit` per
figure; with --check, exit status 1 where a bound is not met. --floor: only what the least code would add that sets the
same properties.
"""

from __future__ import annotations

import contextlib
import gc
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch
from zlib import crc32

import bench
from bench_export import build

BOUNDS = {"ratio_1000": 0.5, "ratio_10000": 0.5, "growth_added": 12.0}
#: Runs of each in a round.
RUNS = {1_000: 4, 10_000: 1}
ROUNDS = 6


def options_of(path: Path) -> dict[str, Any]:
    """The options that our import gives to Blender's."""
    import bpy
    from usdphys_ext.usdphys_addon.core.errors import InputError
    from usdphys_ext.usdphys_addon.exchange import usd_import

    operator = Mock(return_value={"FINISHED"}, get_rna_type=bpy.ops.wm.usd_import.get_rna_type)
    stand_in = SimpleNamespace(**{**vars(bpy), "ops": SimpleNamespace(wm=SimpleNamespace(usd_import=operator))})
    # Nothing comes in, which is an error.
    with patch.object(usd_import, "bpy", stand_in), contextlib.suppress(InputError):
        usd_import._native_import(path, usd_import.ImportOptions(), Mock(scene_meters=1.0, complete=None))
    return dict(operator.call_args.kwargs)


def our_time(path: Path) -> float:
    """Seconds of one import with its physics, until the scene is evaluated, as it is after Blender's own."""
    import bpy
    from usdphys_ext.usdphys_addon.exchange import usd_import

    def work() -> None:
        usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
        bpy.context.view_layer.update()

    return bench.seconds(work)


def carried_bytes() -> int:
    """Size of all the text that the import keeps of prims."""
    import bpy

    scene: Any = bpy.context.scene
    things = [*bpy.data.objects, *bpy.data.materials]
    prims = [thing.usdphys.prim for thing in things]  # type: ignore[attr-defined]
    prims += [item.prim for item in (*scene.usdphys.physics_scenes, *scene.usdphys.collision_groups)]
    texts = [getattr(prim, name) for prim in prims for name in ("path", "type_name", "id_name", "transform", "carried")]
    return sum(len(text.encode()) for text in [*texts, scene.usdphys.source.carried])


class Case:
    """A file to import. rows: (seconds without and with the physics, seconds that Blender's thread computed in each) of
    the imports so far."""

    def __init__(self, number: int, folder: Path) -> None:
        import bpy
        from usdphys_ext.usdphys_addon.exchange import usd_export

        build(number)
        self.path = folder / f"bench_{number}.usdc"
        usd_export.export_usd(bpy.context, self.path, usd_export.ExportOptions())
        self.options, self.carried = options_of(self.path), 0
        self.rows: list[tuple[float, float, float, float]] = []

    def run(self) -> None:
        """Import once without and once with the physics."""
        import bpy

        bench.empty()
        computed = [time.thread_time()]
        native = bench.seconds(lambda: bpy.ops.wm.usd_import(**self.options))
        computed.append(time.thread_time())
        bench.empty()
        computed.append(time.thread_time())
        ours = our_time(self.path)
        computed.append(time.thread_time())
        self.rows.append((native, ours, computed[1] - computed[0], computed[3] - computed[2]))
        self.carried = carried_bytes()


def import_times(folder: Path) -> dict[int, Case]:
    """The cases after all their imports, by number of bodies.

    Part of the physics is read while Blender imports, so what it adds is a difference of whole imports: the best of
    many runs of each, taken in turns over some minutes, because what disturbs only adds and comes in spells.
    """
    cases = {number: Case(number, folder) for number in RUNS}
    for _ in range(ROUNDS):
        for number, case in cases.items():
            for _ in range(RUNS[number]):
                case.run()
    bench.empty()
    return cases


class Floor:
    """The least code that leaves the same properties on the objects: it knows all values and reads none of them.

    STEPS: what it does, each with those before it. hook: get the objects from Blender by prim path. open: open the
    file. check: ask USD whether the arrays of all meshes fit together. set: set the properties, and have Blender
    evaluate them. note: read transforms and meshes, for their checksums.
    """

    STEPS = ("native", "hook", "open", "check", "set", "note")

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        import bpy
        from usdphys_ext.usdphys_addon.bridge import property_values

        self.path, self.options = path, options
        bench.empty()
        our_time(path)
        self.known: dict[str, tuple[list[Any], str]] = {}
        for obj in bpy.data.objects:
            physics: Any = obj.usdphys  # type: ignore[attr-defined]
            material = physics.physics_material.name if physics.physics_material else ""
            self.known[physics.prim.path] = (self.plain(property_values.snapshot(physics)), material)

    @staticmethod
    def plain(values: dict[str, Any]) -> list[Any]:
        """(name of a group or list, its items) with the values that are set, by name."""
        found = []
        for name, value in values.items():
            items = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
            rows = [[pair for pair in item.items() if not isinstance(pair[1], dict | list)] for item in items]
            rows = [[pair for pair in row if pair[0] != "noted"] for row in rows]
            if rows:
                found.append((name, isinstance(value, list), rows))
        return found

    def run(self, step: str) -> float:
        """Seconds of an import with the steps up to this one."""
        import bpy
        from pxr import Usd
        from usdphys_ext.usdphys_addon.exchange import hook_calls

        rank = self.STEPS.index(step)
        bench.empty()
        gc.disable()
        start = time.perf_counter()
        stage = Usd.Stage.Open(str(self.path)) if rank >= 2 else None
        if rank >= 3:
            self.check(stage)
        if rank:
            with hook_calls.handled_by("on_import", lambda context: self.take(context, rank)):
                bpy.ops.wm.usd_import(**self.options)
        else:
            bpy.ops.wm.usd_import(**self.options)
        bpy.context.view_layer.update()
        gc.enable()
        return time.perf_counter() - start

    def check(self, stage: Any) -> None:
        from pxr import Usd, UsdGeom

        fits = UsdGeom.Mesh.ValidateTopology
        for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
            if prim.GetTypeName() == "Mesh":
                find = prim.GetPrimStack()[0].properties.get
                points, counts, indices = [
                    find(name).default for name in ("points", "faceVertexCounts", "faceVertexIndices")
                ]
                assert fits(indices, counts, len(points))[0]

    def take(self, context: Any, rank: int) -> bool:
        import bpy

        kind = bpy.types.Object
        pairs = context.get_prim_map().items()
        found = {path.pathString: item for path, items in pairs for item in items if type(item) is kind}
        if rank >= 4:
            self.set(found)
        if rank >= 5:
            self.note(found)
        return True

    def set(self, found: dict[str, Any]) -> None:
        import bpy

        materials: Any = bpy.data.materials
        for path, obj in found.items():
            groups, material = self.known[path]
            physics = obj.usdphys
            for name, is_list, items in groups:
                owner = getattr(physics, name)
                for values in items:
                    group = owner.add() if is_list else owner
                    for field, value in values:
                        setattr(group, field, value)
            if material:
                physics.physics_material = materials[material]

    def note(self, found: dict[str, Any]) -> None:
        import bpy
        import numpy as np
        from usdphys_ext.usdphys_addon.bridge.import_notes import TRANSFORM

        columns = []
        for name, size in TRANSFORM:
            columns.append(np.empty((len(bpy.data.objects), size), "f4"))
            bpy.data.objects.foreach_get(name, columns[-1].reshape(-1))
        rows = dict(zip(bpy.data.objects, np.hstack(columns), strict=True))
        for obj in found.values():
            text = f"{crc32(rows[obj].tobytes())} {len(obj.constraints)} {obj.animation_data} {obj.keys()}"
            if (mesh := obj.data) is not None:
                parts: Any = mesh.attributes
                text += f"{parts.keys()} {obj.material_slots.keys()} {mesh.keys()}"
                for items, name, size, number in (
                    (mesh.vertices, "co", 3, "f4"), (mesh.polygons, "loop_start", 1, "i4"),
                    (parts[".corner_vert"].data, "value", 1, "i4"), (parts["sharp_edge"].data, "value", 1, "?"),
                ):  # fmt: skip
                    column = np.empty(len(items) * size, number)
                    items.foreach_get(name, column)
                    text += f" {crc32(column.tobytes())}"
            obj.usdphys.prim.noted = text[-60:]


def floors(number: int, folder: Path) -> bench.Rows:
    """What the steps of `Floor` add, as ratios to Blender's own import: the best of several, taken in turns."""
    case = Case(number, folder)
    floor = Floor(case.path, case.options)
    times: dict[str, list[float]] = {step: [] for step in Floor.STEPS}
    for _ in range(2 * ROUNDS):
        for step, found in times.items():
            found.append(floor.run(step))
    native = min(times.pop("native"))
    for step, found in times.items():
        yield f"floor_{step}_{number}", min(found) / native - 1.0, "1"


def measure(wanted: Any) -> bench.Rows:
    added = {}
    with bench.extension(), tempfile.TemporaryDirectory() as folder:
        from usdphys_ext.usdphys_addon.exchange import usd_hooks

        for hook in (usd_hooks.USDPHYS_ExportHook, usd_hooks.USDPHYS_ImportHook):
            usd_hooks.unregister(hook)
        if wanted.floor:
            yield from floors(1_000, Path(folder))
            return
        for number, case in import_times(Path(folder)).items():
            native, ours, alone, with_physics = map(min, zip(*case.rows, strict=True))
            added[number] = ours - native
            yield f"native_{number}", native * 1e3, "ms"
            yield f"added_{number}", added[number] * 1e3, "ms"
            yield f"ratio_{number}", added[number] / native, "1"
            # What would be added if reading beside Blender cost nothing.
            yield f"ratio_of_main_thread_{number}", (with_physics - alone) / alone, "1"
            yield f"carried_{number}", case.carried / 1e3, "kB"
    yield "growth_added", added[10_000] / added[1_000], "1"


if __name__ == "__main__":
    bench.main(__doc__, measure, BOUNDS, floor=(False, "only what the least code would add"))
