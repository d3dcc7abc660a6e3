"""Blender as a module with a user folder of its own, the extension registered once; every test gets an empty scene."""

import gc
import importlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

# Blender reads this when bpy is imported, which test modules do at their top.
RESOURCES = tempfile.mkdtemp(prefix="usdphys-blender-")
os.environ["BLENDER_USER_RESOURCES"] = RESOURCES

import bpy

if hasattr(bpy.utils, "expose_bundled_modules"):
    bpy.utils.expose_bundled_modules()


@pytest.fixture(scope="session", autouse=True)
def extension():
    module = sys.modules["usdphys_ext"]
    empty_scene()
    module.register()
    # Without windows Blender goes without them.
    gizmos = importlib.import_module("usdphys_ext.usdphys_addon.viewport.gizmos")
    gizmos.register()
    # What lives until the end is walked neither by the collector nor by `threads_are_safe`, half of imports otherwise.
    gc.collect()
    gc.freeze()
    yield module
    gizmos.unregister()
    module.unregister()
    shutil.rmtree(RESOURCES, ignore_errors=True)


@pytest.fixture(autouse=True)
def _fresh_scene(extension):
    empty_scene()


@pytest.fixture(autouse=True)
def _no_session(monkeypatch, extension):
    """End a preview that a test has started, before what it has patched is as it was."""
    yield
    importlib.import_module("usdphys_ext.usdphys_addon.playback.guard").stop()


@pytest.fixture
def slow_steps() -> None:
    """A test that asks for this has time steps that take too long; to others none does, however busy the machine is."""


@pytest.fixture(autouse=True)
def _patience(request, monkeypatch, extension):
    if "slow_steps" not in request.fixturenames:
        session = importlib.import_module("usdphys_ext.usdphys_addon.playback.session")
        monkeypatch.setattr(session, "SLOWEST", math.inf)


def empty_scene() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


class Trip(NamedTuple):
    """What became of a file of others: a layer over it without any edit, and its export by way of a .blend."""

    layer: Path
    export: Path


@pytest.fixture(scope="session")
def trip_of(tmp_path_factory) -> Callable[[Path], Trip]:
    """A USD file -> its trip, made once: an import takes most of the time of the tests that want one."""
    from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import

    made: dict[Path, Trip] = {}

    def travel(path: Path) -> Trip:
        folder = tmp_path_factory.mktemp("trip")
        trip = Trip(folder / "layer.usda", folder / "export.usda")
        empty_scene()
        usd_import.import_usd(bpy.context, path, usd_import.ImportOptions())
        bpy.context.view_layer.update()
        source_export.export_edits(bpy.context, trip.layer, "layer")
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "trip.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(folder / "trip.blend"))
        bpy.context.view_layer.update()
        options = usd_export.ExportOptions(*usd_export.stage_options(bpy.context.scene))
        usd_export.export_usd(bpy.context, trip.export, options)
        return trip

    def get(path: Path) -> Trip:
        if path not in made:
            made[path] = travel(path)
        return made[path]

    return get


_VALIDATE = """
import sys
from pxr import Usd, UsdValidation
registry = UsdValidation.ValidationRegistry()
context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
for path in sys.argv[1:]:
    for error in context.Validate(Usd.Stage.Open(path)):
        print(path, error.GetName(), error.GetMessage())
"""


@pytest.fixture(scope="session")
def validator_errors(usd_python: Path) -> Callable[..., list[str]]:
    """Files -> the messages of all validators of usd-core on them."""

    def validate(*files: Path) -> list[str]:
        command = [usd_python, "-E", "-c", _VALIDATE, *files]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return validate


@pytest.fixture(scope="session")
def gltf_validator() -> Callable[..., list[str]]:
    """glTF files -> errors and warnings of the validator of Khronos. Skips where node or npm is not there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "scripts"))
        validator = importlib.import_module("gltf_validator")
    try:
        validator.modules()
    except validator.ValidatorError as error:
        pytest.skip(f"the validator of Khronos cannot be run here: {error}")
    return validator.findings
