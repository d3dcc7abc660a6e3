# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files: convert a folder, export collections as assets. Processes beside Blender do the work."""

from typing import Any

import bpy

from ..usdphys_addon.bridge.choices import items_of
from ..usdphys_addon.bridge.known_names import KnownNames
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import (
    BoolProperty,
    CollectionProperty,
    EnumFlagProperty,
    EnumProperty,
    IntProperty,
    StringProperty,
    annotate,
)
from ..usdphys_addon.core.words import named
from . import needs
from .in_background import InBackground
from .outcome import draw_rows

#: Name of the text with the report.
REPORT = "USD Physics Batch"
FORMATS = items_of("format of assets")
GLTF = (".glb", "glTF", "One binary glTF file")
OTHERS = (GLTF, (".blend", "Blender", "A file of Blender"))
INPUTS = items_of("kind of input")
#: Files that the file browser shows, so that one sees what a folder holds.
_GLOB = "*.blend;*.usd;*.usda;*.usdc;*.usdz;*.gltf;*.glb;*.urdf;*.xacro;*.sdf;*.world"
_SUFFIXES = {
    "BLEND": (".blend",), "USD": (".usd", ".usda", ".usdc", ".usdz"), "GLTF": (".gltf", ".glb"),
    "URDF": (".urdf", ".xacro", ".sdf", ".world"),
}  # fmt: skip


_NO_BATCH: needs.Need = (
    lambda context: not context.window_manager.usdphys_batch.is_running,
    "A batch is running; wait for its end or press Esc",
)


class USDPHYS_PG_batch_job(KnownNames, bpy.types.PropertyGroup):
    __slots__ = ()

    status = StringProperty()
    message = StringProperty()


class USDPHYS_PG_batch(KnownNames, bpy.types.PropertyGroup):
    """The running batch of this window, or the last one."""

    __slots__ = ()

    jobs: Any = CollectionProperty(type=USDPHYS_PG_batch_job)
    active = IntProperty()
    total = IntProperty()
    is_running = BoolProperty()


def summary(state: Any) -> str:
    """How many jobs of a batch are done, and what became of them."""
    counts: dict[str, int] = {}
    for job in state.jobs:
        counts[job.status] = counts.get(job.status, 0) + 1
    parts = [f"{number} {status}" for status, number in counts.items()]
    return f"{len(state.jobs)} of {state.total} done" + (f": {', '.join(parts)}" if parts else "")


class BatchOperator(InBackground):
    """Mix-in: runs a batch beside Blender, whose results it lists as they come."""

    properties: Any

    poll = needs.poll(_NO_BATCH)

    def jobs(self, context: bpy.types.Context) -> list[dict[str, Any]]:
        raise NotImplementedError

    def state(self, context: bpy.types.Context) -> Any:
        return context.window_manager.usdphys_batch

    def start(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.batch.background import BackgroundBatch

        jobs = self.jobs(context)
        self.command = BackgroundBatch(jobs)
        state = self.state(context)
        state.jobs.clear()
        state.total, state.active = len(jobs), 0

    def look(self, context: bpy.types.Context) -> None:
        """List the results that are new."""
        state = self.state(context)
        for result in self.command.results():
            job = state.jobs.add()
            job.name, job.status = result["id"], result["status"]
            worst = [issue["message"] for issue in result.get("issues", ()) if issue["severity"] == "error"]
            job.message = result.get("error") or (worst[0] if worst else "")
            state.active = len(state.jobs) - 1

    def progress(self, context: bpy.types.Context) -> str:
        return f"Batch: {summary(self.state(context))}    Esc: stop"

    def stopped(self, context: bpy.types.Context) -> str:
        return f"The batch was stopped: {summary(self.state(context))}"

    def done(self, context: bpy.types.Context) -> set[Any]:
        state = self.state(context)
        if bad := [job.name for job in state.jobs if job.status != "ok"]:
            # The list shows why.
            state.active = state.jobs.find(bad[0])
            self.report(
                {"WARNING"}, tr(f"{summary(state)}. The reasons for {named(bad)} are in the sidebar: Batch > Files")
            )
        else:
            self.report({"INFO"}, tr(summary(state)))
        return {"FINISHED"}


class USDPHYS_OT_batch_convert_folder(BatchOperator, bpy.types.Operator):
    """Convert all files of a folder in background processes; Blender stays usable"""

    bl_idname = "usdphys.batch_convert_folder"
    bl_label = "Batch Convert Folder"

    directory = StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
    filter_folder = BoolProperty(default=True, options={"HIDDEN"})
    filter_glob = StringProperty(default=_GLOB, options={"HIDDEN"})
    target = StringProperty(
        name="Output Folder",
        description="Folder for the converted files; empty: the folder 'converted' in the chosen one",
    )
    inputs = EnumFlagProperty(
        name="Convert", items=INPUTS, options={"ENUM_FLAG"}, default={"BLEND", "USD", "GLTF", "URDF"},
        description="Kinds of files that are converted",
    )  # fmt: skip
    format = EnumProperty(name="Format", items=(*FORMATS, *OTHERS), description="Format of the new files")
    below = BoolProperty(name="Subfolders", description="Include files in subfolders", default=True)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = draw_rows(self, "format")
        # One below the other: side by side their names are cut.
        layout.column(align=True).prop(self, "inputs", expand=True)
        layout.prop(self, "below")
        layout.prop(self, "target")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        if self.directory:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def jobs(self, context: bpy.types.Context) -> list[dict[str, Any]]:
        from pathlib import Path

        from ..usdphys_addon.batch import plans

        source = Path(bpy.path.abspath(self.directory))
        target = Path(bpy.path.abspath(self.target)) if self.target else source / "converted"
        suffixes = [suffix for kind in _SUFFIXES if kind in self.inputs for suffix in _SUFFIXES[kind]]
        if self.format == ".blend":
            # Blender's own files are converted to other formats only.
            suffixes = [suffix for suffix in suffixes if suffix != ".blend"]
        return plans.of_folder(source, target, suffixes, self.format, below=self.below)


class USDPHYS_OT_export_collections(BatchOperator, bpy.types.Operator):
    """Export each child collection of the active collection to a file of its own, in background processes"""

    bl_idname = "usdphys.export_collections"
    bl_label = "Export Collections"
    #: A copy of the scene with the edits that are not saved.
    scene: Any = None

    directory = StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})
    filter_folder = BoolProperty(default=True, options={"HIDDEN"})
    collection = StringProperty(
        name="Collection",
        description="Collection whose child collections are exported; without any, it is exported itself. Empty: "
        "the collections of the scene",
    )
    format = EnumProperty(name="Format", items=(*FORMATS, GLTF), description="Format of the new files")

    poll = needs.poll(needs.USD, _NO_BATCH)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = draw_rows(self)
        layout.prop_search(self, "collection", bpy.data, "collections")
        layout.prop(self, "format")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        active = context.collection
        if (
            not self.properties.is_property_set("collection")
            and active is not None
            and active.name in bpy.data.collections
        ):
            self.collection = active.name
        if self.directory:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def jobs(self, context: bpy.types.Context) -> list[dict[str, Any]]:
        import tempfile
        from pathlib import Path

        from ..usdphys_addon.batch import plans
        from ..usdphys_addon.core.errors import InputError
        from ..usdphys_addon.exchange import blend_file

        chosen = bpy.data.collections.get(self.collection) if self.collection else context.scene.collection
        if chosen is None:
            raise InputError(f"There is no collection '{self.collection}'; choose another.")
        parts = [part.name for part in chosen.children if len(part.all_objects)]
        if not parts and self.collection and len(chosen.all_objects):
            parts = [chosen.name]
        if not parts:
            raise InputError(f"'{chosen.name}' has no collections with objects in them; choose another.")
        folder = Path(bpy.path.abspath(self.directory))
        if not folder.is_dir():
            raise InputError(f"'{folder}' is no folder; choose another.")
        self.scene = tempfile.TemporaryDirectory(prefix="usdphys-", ignore_cleanup_errors=True)
        copy = Path(self.scene.name, "scene.blend")
        blend_file.save_blend(str(copy))
        return plans.of_collections(copy, parts, folder, self.format)

    def clean(self) -> None:
        if self.scene is not None:
            self.scene.cleanup()
            self.scene = None


class USDPHYS_OT_batch_report(bpy.types.Operator):
    """Write the result of each job of the last batch into a text for the Text Editor"""

    bl_idname = "usdphys.batch_report"
    bl_label = "Batch Report"
    bl_options = {"REGISTER", "UNDO"}

    poll = needs.poll((lambda context: len(context.window_manager.usdphys_batch.jobs), "There was no batch yet"))

    def execute(self, context: bpy.types.Context) -> set[Any]:
        state = context.window_manager.usdphys_batch
        text = bpy.data.texts.get(REPORT) or bpy.data.texts.new(REPORT)
        text.clear()
        # What needs attention comes first.
        jobs = sorted(state.jobs, key=lambda each: (each.status == "ok", each.name))
        lines = (f"{job.status:8} {job.name}{f': {tr(job.message)}' if job.message else ''}" for job in jobs)
        text.write("\n".join((tr(summary(state)), "", *lines)) + "\n")
        self.report({"INFO"}, tr(f"The report is in the text '{REPORT}'"))
        return {"FINISHED"}


GROUPS = (USDPHYS_PG_batch_job, USDPHYS_PG_batch)
CLASSES = (USDPHYS_OT_batch_convert_folder, USDPHYS_OT_export_collections, USDPHYS_OT_batch_report)


def register() -> None:
    for cls in GROUPS:
        annotate(cls)
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.usdphys_batch = bpy.props.PointerProperty(type=USDPHYS_PG_batch, options={"SKIP_SAVE"})


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.usdphys_batch
    for cls in reversed(GROUPS):
        bpy.utils.unregister_class(cls)
