# SPDX-License-Identifier: GPL-3.0-or-later
"""Vehicles."""

import math
from collections.abc import Iterator
from typing import Any

import bpy

from ...usdphys_addon.bridge.choices import items_of
from ...usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
)
from .generator import Generator


class USDPHYS_OT_vehicle(Generator, bpy.types.Operator):
    """Make a vehicle of the selected chassis and wheels; the arrow keys drive it while the preview plays"""

    bl_idname = "usdphys.vehicle"
    edits_selected = True
    bl_label = "Vehicle"
    icon = "AUTO"
    needs = (3, "Select the chassis and the wheels")

    frequency = FloatProperty(
        name="Spring Frequency",
        default=2.0,
        min=0.2,
        soft_max=10.0,
        unit="FREQUENCY",
        description="Natural frequency of the chassis on its springs (Hz); higher is stiffer",
    )
    ratio = FloatProperty(
        name="Damping", default=0.5, min=0.0, soft_max=1.0, description="Damping ratio of the springs"
    )
    travel = FloatProperty(
        options={"SKIP_SAVE"},
        name="Travel",
        default=0.1,
        min=1e-4,
        subtype="DISTANCE",
        description="Suspension travel of a wheel, up and down",
    )
    driven = EnumProperty(
        name="Driven Wheels",
        default="ALL",
        description="Wheels that are driven",
        items=items_of("driven wheels"),
    )
    steering = FloatProperty(
        name="Steering",
        default=math.radians(30.0),
        min=0.0,
        max=1.2,
        subtype="ANGLE",
        description="Largest angle of the front wheels; 0 for no steering",
    )
    speed = FloatProperty(
        options={"SKIP_SAVE"},
        name="Speed",
        default=3.0,
        min=0.0,
        unit="VELOCITY",
        description="Speed of the vehicle",
    )
    shape = EnumProperty(
        name="Wheel Shape",
        default="SPHERE",
        description="Collider shape for wheels that have no collider",
        items=items_of("shape of wheels"),
    )
    drive = BoolProperty(
        name="Drive at Start",
        default=True,
        description="The wheels turn from the start. Off: only while an arrow key is pressed",
    )
    articulation = BoolProperty(name="Articulation", description="One articulation: joints that do not stretch")

    def fits(self, context: bpy.types.Context) -> Iterator[tuple[str, Any]]:
        from ...usdphys_addon.generators import fitting

        yield from zip(("travel", "speed"), fitting.car(context), strict=True)

    def make(self, context: bpy.types.Context) -> tuple[str, list[str]]:
        from ...usdphys_addon.generators import vehicle

        made = vehicle.make_vehicle(context, vehicle.VehicleOptions(
            self.frequency, self.ratio, self.travel, self.driven, self.steering, self.speed, self.drive,
            self.shape, self.articulation,
        ))  # fmt: skip
        text = f"Made a vehicle of '{made.chassis.name}' and {len(made.wheels)} wheels: play, and use the arrow keys"
        return text, made.notes


CLASSES = (USDPHYS_OT_vehicle,)
