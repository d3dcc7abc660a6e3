# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share: the extension as a package, scenes of crates, clocks, and the report of figures."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
#: Figures by name: (value, unit).
Figures = dict[str, tuple[float, str]]
#: (name, value, unit)
Rows = Iterator[tuple[str, float, str]]


def load_extension() -> Any:
    """The extension as a package, whatever the folder of the checkout is called."""
    spec = importlib.util.spec_from_file_location(
        "usdphys_ext", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["usdphys_ext"] = package
    spec.loader.exec_module(package)
    return package


@contextmanager
def extension() -> Iterator[Any]:
    """The extension while it is registered in this Blender."""
    import bpy

    bpy.utils.expose_bundled_modules()
    package = load_extension()
    package.register()
    try:
        yield package
    finally:
        package.unregister()


# --------------------------------------------------------------------------- scenes


def empty() -> Any:
    """An empty file without the garbage of the last one. Returns the context."""
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    gc.collect()
    return bpy.context


def box(name: str) -> Any:
    """The mesh of a cube of 1 m."""
    import bpy

    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    return mesh


def placed(name: str, data: Any, place: Iterable[float]) -> Any:
    """A new object of the scene."""
    import bpy

    obj = bpy.data.objects.new(name, data)
    obj.location = place
    bpy.context.scene.collection.objects.link(obj)
    return obj


def body(name: str, mesh: Any, place: Iterable[float]) -> Any:
    """A rigid body with a collider."""
    obj = placed(name, mesh, place)
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def grid(number: int) -> Iterator[tuple[int, int, int]]:
    """Places of so many crates, with a gap between."""
    side = round(number ** (1 / 3)) + 1
    for index in range(number):
        yield 2 * (index % side), 2 * (index // side % side), 2 * (index // side**2) + 1


def rigid_bodies(floor: Any, objects: Iterable[Any], frames: int, *, substeps: int = 0) -> None:
    """Make rigid bodies of Blender's, all boxes. substeps: 0 is the default."""
    import bpy

    bpy.ops.rigidbody.world_add()
    world = bpy.context.scene.rigidbody_world
    world.collection = bpy.data.collections.new("Rigid Bodies")
    world.substeps_per_frame = substeps or world.substeps_per_frame
    for obj, kind in ((floor, "PASSIVE"), *((one, "ACTIVE") for one in objects)):
        world.collection.objects.link(obj)
        obj.rigid_body.type, obj.rigid_body.collision_shape = kind, "BOX"
    world.point_cache.frame_end = frames


# --------------------------------------------------------------------------- clocks


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    action()
    return clock() - start


@contextmanager
def stopwatch(module: Any, name: str) -> Iterator[list[float]]:
    """Seconds of each call of a function of a module."""
    original, spent = getattr(module, name), []

    def timed(*arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*arguments, **keywords)
        finally:
            spent.append(time.perf_counter() - start)

    with patch.object(module, name, timed):
        yield spent


def process(*command: object) -> tuple[float, float, str]:
    """(processor seconds, peak memory in MB, output) of a command, with byte code as installed programs have it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as said:
        started = subprocess.Popen(
            list(map(str, command)), stdout=said, stderr=subprocess.STDOUT, env=environment
        )  # fmt: skip
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if started.returncode:
        sys.exit(f"{command[-2:]} ended with {started.returncode}: {text[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


# --------------------------------------------------------------------------- the run


def parser(doc: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--check", action="store_true", help="exit with 1 where a bound is not met")
    return made


def report(
    figures: Figures, most: Mapping[str, float], least: Mapping[str, float] | None = None, *, check: bool
) -> int:
    """Print `name value unit` per figure. Returns 1 where `check` and one is above its most or below its least."""
    failed = False
    for name, (value, unit) in figures.items():
        low, high = (least or {}).get(name), most.get(name)
        missed = (low is not None and value < low) or (high is not None and value > high)
        bound = low if high is None else high
        failed |= missed
        print(f"{name} {value:.4g} {unit}" + (f"  (bound {bound:g} missed)" if missed else ""))
    return 1 if failed and check else 0


def main(
    doc: str | None, measure: Callable[[argparse.Namespace], Rows], most: Mapping[str, float],
    least: Callable[[Figures], Mapping[str, float]] = lambda figures: {}, **options: tuple[Any, str],
) -> None:  # fmt: skip
    """The command line of a benchmark, which ends the process.

    least: of the figures. options: their default and help by name; one that is False is a switch, and words are parts
    of the benchmark that can be chosen.
    """
    reader = parser(doc)
    for name, (default, text) in options.items():
        if isinstance(default, tuple):
            reader.add_argument(name, nargs="*", choices=[*default, []], default=[], help=text)
            continue
        kind = {"action": "store_true"} if default is False else {"type": type(default), "default": default}
        reader.add_argument(f"--{name}", help=text, **kind)
    wanted = reader.parse_args()
    figures = {name: (value, unit) for name, value, unit in measure(wanted)}
    status = report(figures, most, least(figures), check=wanted.check)
    sys.stdout.flush()
    os._exit(status)  # bpy may hang while Python ends
