# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that the physics adds to Blender's own USD import, as a ratio in one run.

    .venv/bin/python scripts/bench_import.py [--check]

The scene is that of bench_export.py: every body has a mass, a collider and a material. Prints `name value unit` per
figure; with --check, exit status 1 where a bound is not met.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench
from bench_export import build

BOUNDS = {"ratio_1000": 0.5, "ratio_10000": 0.5, "growth_added": 12.0}
#: Runs of each in a round.
RUNS = {1_000: 4, 10_000: 1}
ROUNDS = 6


def empty() -> None:
    """A file with nothing in it, and no garbage of the last one."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gc.collect()


def options_of(path: Path) -> dict[str, Any]:
    """The options that our import gives to Blender's."""
    import bpy
    from usdphys_ext.usdphys_addon.core.errors import InputError
    from usdphys_ext.usdphys_addon.exchange import usd_import

    given: dict[str, Any] = {}

    class Recorder:
        """Stands for the operator."""

        def __call__(self, **keywords: Any) -> set[str]:
            given.update(keywords)
            return {"FINISHED"}

        def get_rna_type(self) -> Any:
            return bpy.ops.wm.usd_import.get_rna_type()

    class Ops:
        """Stands for bpy, as far as the operator is looked up in it."""

        def __getattr__(self, name: str) -> Any:
            return getattr(bpy, name)

        class ops:  # noqa: N801
            class wm:  # noqa: N801
                usd_import = Recorder()

    class Nothing:
        """Stands for the physics."""

        scene_meters, complete = 1.0, None

        def begin(self) -> None:
            pass

        def finish(self, found: Any) -> Any:
            pass

    module: Any = usd_import
    original, module.bpy = module.bpy, Ops()
    try:
        usd_import._native_import(path, usd_import.ImportOptions(), Nothing())
    except InputError:  # nothing came in
        pass
    finally:
        module.bpy = original
    return given


def our_time(path: Path) -> float:
    """Seconds of one import with its physics, until the scene is evaluated, as it is after Blender's own."""
    import bpy
    from usdphys_ext.usdphys_addon.exchange import usd_import

    start = time.perf_counter()
    usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
    bpy.context.view_layer.update()
    return time.perf_counter() - start


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
    """A file to import. native, ours: seconds of each import so far. main: seconds that Blender's thread computed."""

    def __init__(self, number: int, folder: Path) -> None:
        import bpy
        from usdphys_ext.usdphys_addon.exchange import usd_export

        build(number)
        self.path = folder / f"bench_{number}.usdc"
        usd_export.export_usd(bpy.context, self.path, usd_export.ExportOptions())
        self.options = options_of(self.path)
        self.native: list[float] = []
        self.ours: list[float] = []
        self.main: list[tuple[float, float]] = []
        self.carried = 0

    def run(self) -> None:
        """Import once without and once with the physics."""
        import bpy

        empty()
        start, computed = time.perf_counter(), time.thread_time()
        bpy.ops.wm.usd_import(**self.options)
        self.native.append(time.perf_counter() - start)
        native = time.thread_time() - computed
        empty()
        computed = time.thread_time()
        self.ours.append(our_time(self.path))
        self.main.append((native, time.thread_time() - computed))
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
    empty()
    return cases


def measure() -> dict[str, tuple[float, str]]:
    """All figures, by name: (value, unit)."""
    import bpy

    bpy.utils.expose_bundled_modules()
    extension: Any = bench.load_extension()
    extension.register()
    from usdphys_ext.usdphys_addon.exchange import usd_hooks

    for hook in (usd_hooks.USDPHYS_ExportHook, usd_hooks.USDPHYS_ImportHook):
        usd_hooks.unregister(hook)
    figures: dict[str, tuple[float, str]] = {}
    added = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number, case in import_times(Path(folder)).items():
                native = min(case.native)
                added[number] = more = min(case.ours) - native
                alone, with_physics = (min(times) for times in zip(*case.main, strict=True))
                figures[f"native_{number}"] = (native * 1e3, "ms")
                figures[f"added_{number}"] = (more * 1e3, "ms")
                figures[f"ratio_{number}"] = (more / native, "1")
                # What would be added if reading beside Blender cost nothing.
                figures[f"ratio_of_main_thread_{number}"] = ((with_physics - alone) / alone, "1")
                figures[f"carried_{number}"] = (case.carried / 1e3, "kB")
    finally:
        extension.unregister()
    figures["growth_added"] = (added[10_000] / added[1_000], "1")
    return figures


if __name__ == "__main__":
    wanted = bench.parser(__doc__).parse_args()
    sys.exit(bench.report(measure(), BOUNDS, check=wanted.check))
