# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes for the tests of glTF, and what an export made of them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import bpy
from usdphys_ext.usdphys_addon.exchange import gltf_export
from usdphys_ext.usdphys_addon.gltf import additions, names
from usdphys_ext.usdphys_addon.gltf.document import Document

FAMILIES = {"KHR": (names.KHR,), "OMI": (names.OMI,), "both": names.FAMILIES}
BODY = names.KHR_BODY


@contextmanager
def enabled():
    """The add-on as Blender knows it when a user has enabled it."""
    entry = bpy.context.preferences.addons.new()
    entry.module = "usdphys_ext"
    try:
        yield
    finally:
        bpy.context.preferences.addons.remove(entry)


def exported(path: Path, families="both", **native):
    result = gltf_export.export_gltf(bpy.context, path, additions.WriteOptions(FAMILIES[families]), **native)
    return Document.load(path), result


def nodes_of(document: Document) -> dict[str, dict]:
    return {node["name"]: node for node in document.nodes}


def physics(document: Document, name: str, extension: str = BODY) -> dict:
    return nodes_of(document)[name].get("extensions", {}).get(extension, {})


def cube(name: str, location=(0, 0, 0), parent=None, **body):
    bpy.ops.mesh.primitive_cube_add(location=location)
    obj = bpy.context.active_object
    obj.name = obj.data.name = name
    obj.parent = parent
    item = obj.usdphys.colliders.add()
    item.shape = "CUBE"
    obj.usdphys.rigid_body.is_applied = True
    for key, value in body.items():
        setattr(obj.usdphys.rigid_body, key, value)
    return obj


def hinge(name: str, first, second, location=(0, 0, 0)):
    obj = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(obj)
    obj.location = location
    joint = obj.usdphys.joint
    joint.is_applied, joint.type, joint.axis = True, "REVOLUTE", "Z"
    joint.body0, joint.body1 = first, second
    joint.revolute.lower_limit, joint.revolute.upper_limit = -0.5, 1.0
    bpy.context.view_layer.update()
    return obj
