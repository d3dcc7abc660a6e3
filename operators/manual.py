# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual, which is bundled: by a button, and by F1 over a button or a property of the add-on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from . import generate

#: (pattern of what the mouse is over, page), in the form of Blender's own manual maps; the first that fits counts.
PAGES = (
    ("bpy.ops.usdphys.preview*", "preview.html"),
    ("bpy.ops.usdphys.aim*", "preview.html"),
    ("bpy.ops.usdphys.settle*", "generators.html"),
    *((f"bpy.ops.{cls.bl_idname}*", "generators.html") for cls in generate.CLASSES),
    ("bpy.ops.usdphys.inspect*", "tasks/arm.html"),
    ("bpy.ops.usdphys.robot_arm*", "tasks/arm.html"),
    ("bpy.ops.usdphys.joint_motor*", "tasks/car.html"),
    ("bpy.ops.usdphys.joint_chain*", "tasks/chain.html"),
    ("bpy.ops.usdphys.joint*", "tasks/door.html"),
    ("bpy.ops.usdphys.check*", "issue_codes.html"),
    ("bpy.ops.usdphys.fix*", "issue_codes.html"),
    ("bpy.ops.usdphys.batch*", "tasks/pipeline.html"),
    ("bpy.ops.usdphys.export_collections*", "tasks/pipeline.html"),
    ("bpy.ops.usdphys.export_layer*", "tasks/layer.html"),
    ("bpy.ops.usdphys.export*", "concept_mapping.html"),
    ("bpy.ops.usdphys.import*", "concept_mapping.html"),
    ("bpy.ops.usdphys.from_rigid_bodies*", "tasks/rigid_bodies.html"),
    ("bpy.ops.usdphys.sample_scene*", "first_minutes.html"),
    ("bpy.ops.usdphys.manual*", "index.html"),
    ("bpy.ops.usdphys.*", "window.html"),
    ("bpy.types.usdphys*preview*", "preview.html"),
    ("bpy.types.usdphys*preferences*", "window.html"),
    ("bpy.types.usdphys*", "concept_mapping.html"),
)


def written() -> Path:
    """The folder of the pages, which are written when they are first asked for in a session."""
    folder = Path(bpy.app.tempdir, "usdphys_manual")
    if not (folder / "index.html").exists():
        from ..usdphys_addon.system import manual

        manual.write(folder)
    return folder


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Blender calls this at F1. Properties are looked up by the names of their groups, which have no prefix."""
    package = (__package__ or "").rpartition(".")[0] + "."
    names = {
        cls.__name__.lower() for cls in bpy.types.PropertyGroup.__subclasses__() if cls.__module__.startswith(package)
    }
    groups = [
        (f"bpy.types.{name}.*", "preview.html" if name.startswith("preview") else "concept_mapping.html")
        for name in sorted(names)
    ]
    return written().as_uri() + "/", (*PAGES, *groups)


class USDPHYS_OT_manual(bpy.types.Operator):
    """Open the manual of the add-on in the web browser; it needs no network. F1 over a button opens its page"""

    bl_idname = "usdphys.manual"
    bl_label = "Manual"

    def execute(self, _context: bpy.types.Context) -> set[Any]:
        bpy.ops.wm.url_open(url=(written() / "index.html").as_uri())
        return {"FINISHED"}


CLASSES = (USDPHYS_OT_manual,)


def register() -> None:
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
