"""Blender as a module with a user folder of its own, the extension registered once; every test gets an empty scene."""

import os
import shutil
import sys
import tempfile

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
    yield module
    module.unregister()
    shutil.rmtree(RESOURCES, ignore_errors=True)


@pytest.fixture(autouse=True)
def _fresh_scene(extension):
    empty_scene()


def empty_scene() -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
