# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > URDF / Xacro, also by dropping a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ImportHelper

from ... import preferences
from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import BoolProperty, EnumProperty, StringProperty
from .usd_file import SteppedImport

#: In which the options are drawn.
ORDER = (
    "base", "merge_fixed", "drives", "self_collision", "approximation", "visual_colliders", "visuals", "prefix",
    "packages",
)  # fmt: skip


def _parts(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(";"))))


class RobotImport(SteppedImport):
    """Mix-in: the options that all files of robots have."""

    if TYPE_CHECKING:  # Blender would take an annotation for a property
        filepath: str
        properties: Any
    #: Names of the options that are drawn.
    shown: tuple[str, ...] = ORDER

    base = EnumProperty(name="Base", items=items_of("base of a robot"), description="How the base of the robot is held")
    prefix = StringProperty(name="Prefix", description="Prefix of all names, to distinguish several robots in a scene")
    merge_fixed = BoolProperty(
        name="Merge Fixed Joints",
        description="Make links on fixed joints part of the body above them; they stay as frames",
    )
    approximation = EnumProperty(
        name="Mesh Colliders",
        items=items_of("colliders of a robot"),
        description="How simulators approximate collision meshes",
    )
    packages = StringProperty(
        name="Packages",
        description="Folders of ROS packages: NAME=FOLDER; NAME2=FOLDER2. Packages near the file are found "
        "without this",
    )
    drives = EnumProperty(name="Drives", items=items_of("drives of a robot"), description="What drives the joints")
    self_collision = BoolProperty(
        name="Self-Collision", default=True, description="Links of the robot collide with each other"
    )
    visuals = BoolProperty(name="Visuals", default=True, description="Import visual shapes that do not collide, too")
    visual_colliders = BoolProperty(
        name="Visuals Collide", description="Visual shapes of a link without colliders collide, too"
    )

    def draw(self, _context: bpy.types.Context) -> None:
        column = self.split_layout().column()
        for name in self.shown:
            column.prop(self, name)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        # In a window an arm that falls limp looks like a fault. Scripts get what the file says.
        if not self.properties.is_property_set("drives"):
            self.drives = "hold"
        # A dropped file comes with its path. Its options are in Adjust Last Operation.
        if self.filepath and Path(self.filepath).is_file():
            if not self.fill_arguments():
                return self.execute(context)
            answer: set[Any] = context.window_manager.invoke_props_dialog(self, width=400)
            return answer
        return super().invoke(context, event)  # type: ignore[misc, no-any-return]

    def execute(self, context: bpy.types.Context) -> set[Any]:
        """Import the file with the options."""
        return self.run_with(context)

    def fill_arguments(self) -> bool:
        """Fill in what depends on the file that was chosen. Returns whether the user is to be asked about it."""
        return False

    def done(self, result: Any) -> set[Any]:
        if self.drives != "hold":
            return super().done(result)
        self.report_result("Read {file}: {numbers}. The drives hold the pose", result)
        return {"FINISHED"}

    def run_with(self, context: bpy.types.Context, arguments: str = "", srdf: str = "") -> set[Any]:
        from ...usdphys_addon.exchange import urdf_import
        from ...usdphys_addon.usd import robot_files

        chosen = preferences.current(context)
        packages = robot_files.known_packages(_parts(chosen.ros_packages if chosen is not None else ""))
        packages |= robot_files.parse_packages(_parts(self.packages))
        options = robot_files.RobotOptions(
            packages, robot_files.parse_arguments(_parts(arguments)),
            self.base, self.prefix, self.merge_fixed, self.approximation, bpy.path.abspath(srdf),  # type: ignore[arg-type]
            self.drives, self.self_collision, self.visuals, self.visual_colliders,  # type: ignore[arg-type]
        )  # fmt: skip
        return self.run(context, urdf_import.import_steps(context, self.filepath, options))


class USDPHYS_OT_import_urdf(RobotImport, bpy.types.Operator, ImportHelper):
    """Import a robot with its meshes, joints and masses into the scene. ROS is not needed"""

    bl_idname = "usdphys.import_urdf"
    bl_label = "Import URDF / Xacro"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob = StringProperty(default="*.urdf;*.xacro", options={"HIDDEN"})
    arguments = StringProperty(
        name="Arguments", options={"SKIP_SAVE"},
        description="Arguments of a xacro file, such as name:=value; name2:=value2",
    )  # fmt: skip
    looked_at = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    srdf = StringProperty(
        name="SRDF",
        description="SRDF file of MoveIt: pairs of links whose collision it disables do not collide",
        subtype="FILE_PATH",
    )
    shown = (*ORDER, "arguments", "srdf")

    def check(self, _context: bpy.types.Context) -> bool:
        """Show the arguments of a file that was just chosen in the file browser."""
        if self.looked_at == self.filepath or not Path(self.filepath).is_file():
            return False
        self.looked_at = self.filepath
        self.fill_arguments()
        return True

    def fill_arguments(self) -> bool:
        """Show the arguments of a xacro file with their values, to be changed. Returns whether it has any."""
        from ...usdphys_addon.core.errors import UsdPhysError
        from ...usdphys_addon.usd import robot_files

        self.arguments = ""
        try:
            defaults = robot_files.arguments_of(Path(self.filepath))
        except UsdPhysError:
            return False  # execute says why
        self.arguments = "; ".join(f"{name}:={value}" for name, value in defaults.items())
        return bool(defaults)

    def execute(self, context: bpy.types.Context) -> set[Any]:
        return self.run_with(context, self.arguments, self.srdf)


class USDPHYS_FH_urdf(bpy.types.FileHandler):
    """Drop a URDF or xacro file into the 3D view"""

    bl_idname = "USDPHYS_FH_urdf"
    bl_label = "URDF / Xacro"
    bl_import_operator = USDPHYS_OT_import_urdf.bl_idname
    bl_file_extensions = ".urdf;.xacro"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:  # type: ignore[override]
        return context.area is not None and context.area.type in ("VIEW_3D", "OUTLINER")


def draw_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(USDPHYS_OT_import_urdf.bl_idname, text="URDF / Xacro (.urdf, .xacro)")


CLASSES = (USDPHYS_OT_import_urdf, USDPHYS_FH_urdf)
