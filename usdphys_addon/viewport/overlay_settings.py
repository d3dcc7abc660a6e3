# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the overlays. They belong to the window manager, so files do not store them."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, PropertyGroup

from ..bridge.choices import items_of
from ..bridge.environment import redraw
from ..bridge.known_names import KnownNames
from ..bridge.typed_props import BoolProperty, EnumProperty, FloatProperty, annotate
from ..playback import beside

if TYPE_CHECKING:
    from .scene_shapes import Options

NAME = "usdphys_overlay"


def _redraw(_settings: Any, _context: Context) -> None:
    redraw("VIEW_3D")


def _switch_compare(_settings: Any, value: bool) -> None:
    beside.switch(beside.COMPARE, value)
    redraw("VIEW_3D")


def _switch_confidence(_settings: Any, value: bool) -> None:
    beside.switch(beside.CONFIDENCE, value)
    redraw("VIEW_3D")


def _scope(name: str, description: str, default: str = "NONE") -> str:
    return EnumProperty(
        name=name, description=description, items=items_of("what an overlay shows"), default=default, update=_redraw,
        options={"SKIP_SAVE"},
    )  # fmt: skip


def _switch(name: str, description: str, default: bool) -> bool:
    return BoolProperty(name=name, description=description, default=default, update=_redraw, options={"SKIP_SAVE"})


class USDPHYS_OverlaySettings(KnownNames, bpy.types.PropertyGroup):
    __slots__ = ()

    show = _switch("Physics", "Draw the physics over the 3D view", True)
    colliders = _scope("Colliders", "Collision shapes, as the preview simulates them", "SELECTED")
    color_by = EnumProperty(
        name="Color", description="Meaning of the colours of colliders", items=items_of("colours of an overlay"),
        default="KIND", update=_redraw, options={"SKIP_SAVE"},
    )  # fmt: skip
    bodies = _scope("Bodies", "Corners of the bounding box of each rigid body, in the colour of its kind")
    mass = _scope("Mass", "Centre of mass, and the uniform box with the mass and inertia of the body")
    joints = _scope("Joints", "Joints, with lines to their bodies", "SELECTED")
    joint_frames = _switch("Frames", "Axes of the joint frame on both bodies", True)
    joint_limits = _switch("Limits", "Ranges that joint limits allow, and the position of the joint", True)
    joint_drives = _switch("Drives", "Targets of drives", True)
    filtered_pairs = _scope("Filtered Pairs", "Dashed lines between objects that do not collide with each other")
    articulations = _scope("Articulations", "Root of each articulation, and the tree of its links")
    contacts = _switch(
        "Contacts",
        "Contact points of colliders with the force there, an arrow and a number, while the preview runs",
        False,
    )
    broken = _switch("Broken Joints", "Crosses at joints that broke, while the preview runs", True)
    loads = _switch(
        "Joint Loads", "Force and torque of the selected joints over the last seconds, while the preview runs", True
    )
    energy = _switch(
        "Energy", "Energy of what moves and what is high over the last seconds, while the preview runs", False
    )
    use_xray = _switch("X-Ray", "Also draw lines behind surfaces, fainter", False)
    line_width = FloatProperty(
        name="Line Width", description="Width of the lines, in pixels at a resolution scale of 1",
        default=1.5, min=1.0, max=6.0, update=_redraw, options={"SKIP_SAVE"},
    )  # fmt: skip
    compare = BoolProperty(
        name="Compare", description="Run the other engines of this Blender beside the preview, and draw their bodies "
        "as ghosts where they are elsewhere",
        get=lambda _self: beside.COMPARE in beside.wanted(), set=_switch_compare,
        options={"SKIP_SAVE"},
    )  # fmt: skip
    confidence = BoolProperty(
        name="Confidence", description="Run the preview at twice the rate beside itself, and other engines, and paint "
        "each body by how far they disagree on it",
        get=lambda _self: beside.CONFIDENCE in beside.wanted(), set=_switch_confidence,
        options={"SKIP_SAVE"},
    )  # fmt: skip
    joint_size = FloatProperty(
        name="Joint Size", description="Size of the joint symbols, as a factor",
        default=1.0, min=0.05, soft_max=5.0, max=100.0, update=_redraw, options={"SKIP_SAVE"},
    )  # fmt: skip


def current(context: Context) -> Any:
    """The settings; None where there is no window manager yet."""
    manager = context.window_manager
    return getattr(manager, NAME, None) if manager is not None else None


def options_of(settings: PropertyGroup) -> "Options":
    """The settings that affect the drawing of a scene, as a value that can be compared."""
    from .scene_shapes import Options

    return Options(
        settings.colliders, settings.bodies, settings.mass, settings.joints, settings.filtered_pairs,
        settings.articulations, settings.color_by == "GROUP", settings.joint_frames, settings.joint_limits,
        settings.joint_drives, round(settings.joint_size, 4),
    )  # fmt: skip


annotate(USDPHYS_OverlaySettings)


def register() -> None:
    bpy.utils.register_class(USDPHYS_OverlaySettings)
    setattr(bpy.types.WindowManager, NAME, bpy.props.PointerProperty(type=USDPHYS_OverlaySettings))


def unregister() -> None:
    delattr(bpy.types.WindowManager, NAME)
    bpy.utils.unregister_class(USDPHYS_OverlaySettings)
