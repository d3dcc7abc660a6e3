# SPDX-License-Identifier: GPL-3.0-or-later
"""Generators: whole constructions from the selection, each in one step."""

import json
import math
from collections.abc import Iterator
from typing import Any

import bpy

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    IntVectorProperty,
    StringProperty,
)
from ..usdphys_addon.core.common_materials import MATERIALS
from ..usdphys_addon.core.words import counted, joined, named, phrase
from ..usdphys_addon.playback import guard as preview_guard
from ..usdphys_addon.viewport.wrapped_text import OPERATION_LINE, draw_text
from .action_bar import can_edit
from .outcome import check_numbers, finish

_KINDS = (
    ("ROPE", "Rope", "Bends freely, twists little"),
    ("CABLE", "Cable", "Stiff against bending; springs back to a straight line"),
    ("CHAIN", "Chain", "Links, each turned by a quarter against the one before"),
    ("BRIDGE", "Bridge", "Planks with hinges between them"),
)
_ENDS = (
    ("NONE", "None", "Both ends are free"),
    ("START", "Start", "The start is fixed"),
    ("BOTH", "Both", "Both ends are fixed"),
)
_ARTICULATION = "One articulation: joints that do not stretch. PhysX needs short time steps for long ones"


class _Generator:
    poll_message_set: Any
    report: Any
    layout: Any
    bl_options: Any = {"REGISTER", "UNDO"}
    #: Least number of selected objects, and what to select.
    needs = (1, "Select one or more objects first")
    #: It gives physics to selected objects that have none, which linked ones cannot get.
    edits_selected = False

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not can_edit(cls, context):
            return False
        if preview_guard.current() is not None:
            cls.poll_message_set(tr("Reset the preview first"))
            return False
        if len(context.selected_objects) < cls.needs[0]:
            cls.poll_message_set(tr(cls.needs[1]))
            return False
        return True

    def draw_all(self, *names: str) -> None:
        self.layout.use_property_split = True
        for name in names:
            self.layout.prop(self, name)

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        """Yields (property, value that fits the selection); later ones may read earlier ones. Raises InputError."""
        yield from ()

    def execute(self, context: Any) -> set[Any]:

        check_numbers(self)
        _check_scales(context.selected_objects)
        if self.edits_selected:
            _check_linked(context.selected_objects)
        fit(self, self.fits(context))
        text, notes = self.make(context)
        return finish(self, text, notes)

    def make(self, context: Any) -> tuple[str, list[str]]:
        """Returns (what was made, notes)."""
        raise NotImplementedError


def fit(operator: Any, values: Iterator[tuple[str, Any]]) -> None:
    """Set properties that nobody has set. What a user changes afterwards stays as it is.

    The operator has a hidden property `fitted`, and the properties are not kept for its next call.
    """

    def as_kept(name: str) -> Any:
        value = getattr(operator, name)
        return value if isinstance(value, float) else list(value)

    before = json.loads(getattr(operator, "fitted", "") or "{}")
    for name, value in values:
        is_set = operator.properties.is_property_set(name)
        if not is_set or as_kept(name) == before.get(name):
            setattr(operator, name, value)
            before[name] = as_kept(name)
    if before:
        operator.fitted = json.dumps(before)


def _check_scales(objects: Any) -> None:
    """Raises InputError for an object that is flat by its scale: it has no space to place anything in."""
    from ..usdphys_addon.core import frames
    from ..usdphys_addon.core.errors import InputError

    for obj in objects:
        if not all(map(math.isfinite, (value for row in obj.matrix_world for value in row))):
            raise InputError(f"The place of '{obj.name}' is no number; clear its transforms (Alt G, Alt R, Alt S).")
        if frames.is_flat(obj.matrix_world.determinant()):
            raise InputError(f"'{obj.name}' has scale 0 along an axis; give it another scale.")


def _check_linked(objects: Any) -> None:
    """Raises InputError for linked objects without physics, which can get none; curves and cameras need none."""
    from ..usdphys_addon.authoring.edit_report import LINKED
    from ..usdphys_addon.bridge.mesh import GEOMETRY_TYPES
    from ..usdphys_addon.core.errors import InputError

    bare = [
        obj for obj in objects
        if obj.library is not None and obj.type in GEOMETRY_TYPES - {"CURVE"}
        and not obj.usdphys.rigid_body.is_applied and not len(obj.usdphys.colliders)
    ]  # fmt: skip
    if bare:
        raise InputError(phrase(LINKED, names=named([obj.name for obj in bare])))


def kind_of(operator: Any) -> str:
    """The name of the kind that an operator makes."""
    return phrase(bpy.types.UILayout.enum_item_name(operator.properties, "kind", operator.kind))


class USDPHYS_OT_rope(_Generator, bpy.types.Operator):
    """Make a rope, cable, chain or bridge along the selected curve, or between the two selected objects"""

    bl_idname = "usdphys.rope"
    edits_selected = True
    bl_label = "Rope, Chain or Bridge"
    needs = (1, "Select a curve, or the two objects that hold the ends")

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    idle = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    kind = EnumProperty(name="Kind", items=_KINDS, description="Type of object to make")
    segments = IntProperty(
        name="Segments",
        default=20,
        min=0,
        max=1000,
        soft_max=100,
        description="Number of bodies; 0 for as many as fit the thickness",
    )
    radius = FloatProperty(
        options={"SKIP_SAVE"},
        name="Radius",
        default=0.02,
        min=1e-4,
        subtype="DISTANCE",
        description="Radius of the rope or of the wire of a chain; half of the thickness of a bridge",
    )
    width = FloatProperty(
        options={"SKIP_SAVE"},
        name="Width",
        default=1.0,
        min=1e-3,
        subtype="DISTANCE",
        description="Width of the bridge",
    )
    slack = FloatProperty(
        name="Slack",
        default=0.1,
        min=0.0,
        soft_max=1.0,
        subtype="FACTOR",
        description="Extra length, as a share of the distance between the two objects",
    )
    mass = FloatProperty(
        options={"SKIP_SAVE"},
        name="Mass (kg/m)",
        default=1.0,
        min=1e-4,
        description="Kilograms for each metre of length",
    )
    ends = EnumProperty(
        name="Fixed Ends",
        items=_ENDS,
        default="START",
        description="Ends of a curve that are fixed to the world; between two objects both ends are fixed to them",
    )
    stiffness = FloatProperty(
        options={"SKIP_SAVE"},
        name="Stiffness (N m²)",
        default=1.0,
        min=0.0,
        description="Bending stiffness of a cable",
    )
    damping = FloatProperty(
        name="Damping",
        default=0.1,
        min=0.0,
        soft_max=1.0,
        description="Damping ratio of the swing as a whole; 1 stops it without oscillation",
    )
    articulation = BoolProperty(name="Articulation", description=_ARTICULATION)
    load = FloatProperty(
        options={"SKIP_SAVE"},
        name="Load (kg)",
        default=100.0,
        min=0.0,
        description="Load that the bridge carries in PhysX, as an articulation. A larger load makes its hinges "
        "resist more",
    )
    skin = BoolProperty(
        name="Skin",
        description="A curve follows the segments and is rendered in their place. Other programs show it in its "
        "pose at the export",
    )

    def draw(self, _context: Any) -> None:
        bridge, cable = self.kind == "BRIDGE", self.kind == "CABLE"
        # What does not matter for the objects that were selected is left out.
        self.draw_all(*(name for name in (
            "kind", "segments", "radius", *(["width"] if bridge else []), "slack", "mass", "ends",
            *(["stiffness"] if cable else []), "damping", "articulation",
            *(["load"] if bridge and self.articulation else []),
            *(["skin"] if self.kind in ("ROPE", "CABLE") else []),
        ) if name not in self.idle.split()))  # fmt: skip
        if "ends" in self.idle.split():
            draw_text(self.layout, "Both ends are fixed to the selected objects", "INFO", length=OPERATION_LINE)

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        from ..usdphys_addon.generators import fitting

        radius, width = fitting.row(context, self.slack)
        yield "radius", radius
        yield "width", width
        yield "mass", fitting.weight(context, self.kind, self.radius, self.width)
        yield "stiffness", fitting.stiffness(context, self.radius)
        yield "load", fitting.load(context, self.slack, self.radius, self.width)

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import ropes

        made, steps, idle = ropes.make_row(context, ropes.RopeOptions(
            self.kind, self.segments, self.radius, self.width, self.slack, self.mass, self.ends, self.stiffness,
            self.damping, self.articulation, self.skin, self.load,
        ))  # fmt: skip
        self.idle = " ".join(idle)
        notes: list[str] = []
        if self.articulation and (ends := ropes.moving_ends(context, made)):
            notes.append(phrase(
                "{names} moves, and is kinematic or joined to another object: PhysX and Newton cannot hold an "
                "articulation at such an end. Switch Articulation off.", names=named(ends),
            ))  # fmt: skip
        if self.articulation and steps > 60:
            notes.append(phrase(
                "The segments are far too light for their load, and PhysX cannot hold them as an articulation; make "
                "them heavier or fewer, or switch Articulation off."
            ) if steps > 960 else phrase(
                "The segments are light for their load. As an articulation PhysX needs {number} time steps a "
                "second to hold them; make them heavier or fewer, or switch Articulation off.", number=steps,
            ))  # fmt: skip
        return phrase("{kind} of {number} bodies", kind=kind_of(self), number=len(made)), notes


class USDPHYS_OT_net(_Generator, bpy.types.Operator):
    """Make a net at the 3D cursor"""

    bl_idname = "usdphys.net"
    bl_label = "Net"
    needs = (0, "")

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    size: tuple[float, float] = FloatVectorProperty(
        options={"SKIP_SAVE"},
        name="Size",
        size=2,
        default=(2.0, 2.0),
        min=1e-3,
        subtype="XYZ_LENGTH",
        description="Along X and Y of the cursor",
    )
    knots: tuple[int, int] = IntVectorProperty(
        name="Knots",
        subtype="XYZ",
        size=2,
        default=(8, 8),
        min=1,
        max=100,
        soft_max=30,
        description="Number of knots along X and Y",
    )
    held = EnumProperty(
        name="Held At", description="Knots that are fixed to the world",
        items=(
            ("CORNERS", "Corners", "The four corners"), ("EDGES", "Edges", "All knots at the edges"),
            ("NONE", "None", "No knot is fixed; the net falls freely"),
        ),
    )  # fmt: skip
    radius = FloatProperty(
        options={"SKIP_SAVE"},
        name="Radius",
        default=0.01,
        min=1e-4,
        subtype="DISTANCE",
        description="Radius of the strings",
    )
    mass = FloatProperty(name="Mass (kg/m²)", default=0.5, min=1e-4, description="Kilograms for each square metre")

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        from ..usdphys_addon.bridge.writing import unit_length

        meters = unit_length(context.scene)
        yield "size", (2.0 / meters, 2.0 / meters)
        yield "radius", 0.01 / meters

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import ropes

        made = ropes.make_net(
            context,
            ropes.NetOptions(
                (self.size[0], self.size[1]), (self.knots[0], self.knots[1]), self.held, self.radius, self.mass
            ),
        )
        return f"Made a net of {len(made)} knots", []


class USDPHYS_OT_wall(_Generator, bpy.types.Operator):
    """Make a wall, a stack, a pyramid or a chimney of copies of the active object, which are rigid bodies"""

    bl_idname = "usdphys.wall"
    edits_selected = True
    bl_label = "Wall or Stack"
    needs = (1, "Select the object that is to be the brick")

    kind = EnumProperty(
        name="Kind", description="How the bricks are laid",
        items=(
            ("WALL", "Wall", "Each course is moved by half a brick"), ("STACK", "Stack", "In a grid"),
            ("PYRAMID", "Pyramid", "Each course has one brick less"),
            ("CHIMNEY", "Chimney", "In a circle; X is the number of bricks of a course"),
        ),
    )  # fmt: skip
    counts: tuple[int, int, int] = IntVectorProperty(
        name="Bricks",
        size=3,
        default=(8, 1, 6),
        min=1,
        max=1000,
        soft_max=50,
        subtype="XYZ",
        description="Number of bricks along X and Y, and of courses",
    )
    gap = FloatProperty(name="Gap", default=0.0, min=0.0, subtype="DISTANCE", description="Distance between bricks")
    shift = FloatProperty(
        name="Random Offset", default=0.0, min=0.0, subtype="DISTANCE", description="Largest offset of a brick"
    )
    turn = FloatProperty(
        name="Random Turn", default=0.0, min=0.0, subtype="ANGLE", description="Largest turn of a brick about Z"
    )
    seed = IntProperty(name="Seed", min=0, description="Random seed: another number gives other offsets")
    bonded = BoolProperty(
        name="Bonded",
        description="Join touching bricks by fixed joints that break like brick masonry, as Break Apart does",
    )

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.bridge.writing import unit_length
        from ..usdphys_addon.core.errors import InputError
        from ..usdphys_addon.generators import walls

        counts = (self.counts[0], self.counts[1], self.counts[2])
        made = walls.make_wall(
            context, walls.WallOptions(self.kind, counts, self.gap, self.shift, self.turn, self.seed)
        )
        if not self.bonded:
            return f"Made {len(made)} bricks", []
        try:
            bonded = walls.bond(context, made, walls.BondOptions(gap=self.gap + 0.001 / unit_length(context.scene)))
        except InputError as error:
            # The bricks are there, and stand without bonds.
            return f"Made {len(made)} bricks", [str(error)]
        return f"Made {len(made)} bricks with {len(bonded.joints)} bonds", []


class USDPHYS_OT_break_apart(_Generator, bpy.types.Operator):
    """Make the selected pieces, or the loose parts of one mesh, bodies with fixed joints that break where they touch"""

    bl_idname = "usdphys.break_apart"
    edits_selected = True
    bl_label = "Break Apart"
    needs = (1, "Select the pieces, or one mesh with loose parts")

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    material = EnumProperty(
        name="Material",
        default="BRICK",
        items=[(one.key, one.name, one.tooltip) for one in MATERIALS],
        description="Density, friction and strength",
    )
    strength = FloatProperty(
        name="Strength",
        default=1.0,
        min=0.0,
        soft_max=10.0,
        description="Factor of the tensile strength of the material; bonds break at the product",
    )
    gap = FloatProperty(
        options={"SKIP_SAVE"},
        name="Gap",
        default=0.0025,
        min=0.0,
        subtype="DISTANCE",
        description="Faces that are at most this far apart count as touching",
    )

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        from ..usdphys_addon.bridge.writing import unit_length

        # Cell Fracture leaves 0.002 between its pieces, in scenes of any unit.
        yield "gap", 0.0025 / min(unit_length(context.scene), 1.0)

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import walls

        options = walls.BondOptions(self.material, self.strength, self.gap)
        found = walls.bond(context, list(context.selected_objects), options)
        return f"Joined {len(found.pieces)} pieces by {len(found.joints)} bonds that break", []


class USDPHYS_OT_ragdoll(_Generator, bpy.types.Operator):
    """Make a ragdoll of the selected armature in its present pose: bodies, joints with limits, and bones that follow"""

    bl_idname = "usdphys.ragdoll"
    bl_label = "Ragdoll"
    needs = (1, "Select an armature, or a mesh that an armature deforms")

    detail = EnumProperty(
        name="Detail", default="MEDIUM", description="How many bones of a human become bodies",
        items=(
            ("LOW", "Low", "Pelvis, chest, head, arms and legs"), ("MEDIUM", "Medium", "With hands and feet"),
            ("HIGH", "High", "With the neck"),
        ),
    )  # fmt: skip
    mass = FloatProperty(
        name="Total Mass",
        default=0.0,
        min=0.0,
        unit="MASS",
        description="Mass of all bodies together. 0: 75 kg for a human rig, for other rigs the mass that their "
        "volume gives",
    )
    damping = FloatProperty(
        name="Damping",
        default=0.5,
        min=0.0,
        soft_max=1.0,
        description="Damping: a larger value brings bodies and joints to rest sooner",
    )
    articulation = BoolProperty(
        name="Articulation", default=True, description="One articulation: joints that do not stretch"
    )
    follow = BoolProperty(
        name="Bones Follow",
        default=True,
        description="Bones copy the transforms of the bodies; the property ragdoll of the armature blends between "
        "animation (0) and physics (1)",
    )
    active = BoolProperty(
        name="Active", description="Springs pull the bodies towards the animated bones, in rotation and location"
    )
    frequency = FloatProperty(
        name="Spring Frequency",
        default=4.0,
        min=0.1,
        soft_max=20.0,
        unit="FREQUENCY",
        description="How firmly an active ragdoll follows the animation (Hz); less gives way more",
    )

    def draw(self, _context: Any) -> None:
        self.draw_all(
            "detail", "mass", "damping", "articulation", "follow", "active", *(["frequency"] if self.active else [])
        )

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import ragdoll

        options = ragdoll.RagdollOptions(self.detail, self.mass, self.damping, self.articulation, self.follow,
                                         self.frequency if self.active else 0.0)  # fmt: skip
        made = ragdoll.make_ragdoll(context, options)
        total = sum(obj.usdphys.mass.mass for obj in made.bodies)
        kind = "human" if made.is_human else "rig by its volume"
        return f"Made a ragdoll of {len(made.bodies)} bodies and {total:.3g} kg: {kind}", []


class USDPHYS_OT_ragdoll_bake(_Generator, bpy.types.Operator):
    """Simulate the frames of the scene and insert keyframes for the bones that follow a ragdoll"""

    bl_idname = "usdphys.ragdoll_bake"
    bl_label = "Bake Ragdoll to Bones"
    needs = (1, "Select an armature, or a mesh that an armature deforms")

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import ragdoll

        number, muted = ragdoll.bake_bones(context, context.scene.frame_start, context.scene.frame_end)
        notes = [f"Switched off constraints and drivers of bones that would hide the keys: {muted}"] if muted else []
        return f"Baked {number} bones", notes


class USDPHYS_OT_vehicle(_Generator, bpy.types.Operator):
    """Make a vehicle of the selected chassis and wheels; the arrow keys drive it while the preview plays"""

    bl_idname = "usdphys.vehicle"
    edits_selected = True
    bl_label = "Vehicle"
    needs = (3, "Select the chassis and the wheels")

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
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
        items=(
            ("ALL", "All Wheels", "All wheels"),
            ("FRONT", "Front", "The front wheels"),
            ("REAR", "Rear", "The rear wheels"),
        ),
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
        items=(
            ("SPHERE", "Spheres", "They roll straight in every simulator"),
            ("CYLINDER", "Cylinders", "As wide as the wheels; PhysX rolls them unevenly"),
        ),
    )
    drive = BoolProperty(
        name="Drive at Start",
        default=True,
        description="The wheels turn from the start. Off: only while an arrow key is pressed",
    )
    articulation = BoolProperty(name="Articulation", description="One articulation: joints that do not stretch")

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        from ..usdphys_addon.generators import fitting

        yield from zip(("travel", "speed"), fitting.car(context), strict=True)

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import vehicle

        made = vehicle.make_vehicle(context, vehicle.VehicleOptions(
            self.frequency, self.ratio, self.travel, self.driven, self.steering, self.speed, self.drive,
            self.shape, self.articulation,
        ))  # fmt: skip
        text = f"Made a vehicle of '{made.chassis.name}' and {len(made.wheels)} wheels: play, and use the arrow keys"
        return text, made.notes


class USDPHYS_OT_mechanism(_Generator, bpy.types.Operator):
    """Make the selected objects a door, a drawer, a lid and the like, held by the active object"""

    bl_idname = "usdphys.mechanism"
    edits_selected = True
    bl_label = "Mechanism"

    fitted = StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    kind = EnumProperty(
        name="Kind", description="Mechanism to make of the selected objects",
        items=(
            ("DOOR", "Door", "A hinge at its upright side, open by up to 110°"),
            ("DRAWER", "Drawer", "A slide along its free axis, by 80 % of its length"),
            ("LID", "Lid", "A hinge at its edge, up by 110°"), ("WHEEL", "Wheel", "A hinge at its axis"),
            ("LEVER", "Lever", "A hinge where it touches, by 45° to both sides, with a spring"),
            ("BUTTON", "Button", "A slide downwards with a spring"),
            ("TURNTABLE", "Turntable", "A hinge in its middle that turns about Z"),
            ("CONVEYOR", "Conveyor", "A surface that runs along its longest side"),
            ("PULLEY", "Pulley", "Two loads on a rope over the active wheel, which turns about its axis"),
            ("SCISSOR_LIFT", "Scissor Lift", "Crossed bars that lift a platform above the active object"),
        ),
    )  # fmt: skip
    spin = FloatProperty(
        name="Velocity (°/s)", default=1.0, subtype="ANGLE", description="Angular velocity of a turntable"
    )
    speed = FloatProperty(
        options={"SKIP_SAVE"},
        name="Speed",
        default=1.0,
        unit="VELOCITY",
        description="Speed of the surface of a conveyor",
    )
    stages = IntProperty(
        name="Stages", default=2, min=1, soft_max=6, description="Pairs of crossed bars, one on the other"
    )
    rise = FloatProperty(
        options={"SKIP_SAVE"},
        name="Rise",
        default=0.3,
        subtype="DISTANCE",
        description="How far the drive lifts the platform",
    )
    articulation = BoolProperty(
        name="Articulation",
        description="Make one articulation that is fixed to the world; Newton moves it only in this form",
    )

    def draw(self, _context: Any) -> None:
        own = {"TURNTABLE": ["spin"], "CONVEYOR": ["speed"], "SCISSOR_LIFT": ["stages", "rise"]}.get(self.kind, [])
        self.draw_all("kind", *own, *([] if self.kind in ("CONVEYOR", "PULLEY", "SCISSOR_LIFT") else ["articulation"]))

    def fits(self, context: Any) -> Iterator[tuple[str, Any]]:
        from ..usdphys_addon.generators import fitting

        if self.kind == "CONVEYOR":
            yield "speed", fitting.run(context)
        elif self.kind == "SCISSOR_LIFT":
            yield "rise", fitting.rise(context, self.stages)

    def make(self, context: Any) -> tuple[str, list[str]]:
        from ..usdphys_addon.generators import linkages, mechanisms

        if self.kind == "PULLEY":
            return f"Made a pulley with a rope of {len(linkages.make_pulley(context))} bodies", []
        if self.kind == "SCISSOR_LIFT":
            joints = linkages.make_scissor_lift(context, self.stages, self.rise)
            return f"Made a scissor lift with {len(joints)} joints", []
        speed = self.spin if self.kind == "TURNTABLE" else self.speed
        made = mechanisms.make_mechanism(context, self.kind, speed, articulation=self.articulation)
        joints = [counted(len(made), "joint")] if len(made) > 1 else []
        return joined(": ", (phrase("Made"), joined(", ", (kind_of(self), *joints)))), []


CLASSES = (
    USDPHYS_OT_rope, USDPHYS_OT_net, USDPHYS_OT_wall, USDPHYS_OT_break_apart, USDPHYS_OT_ragdoll,
    USDPHYS_OT_ragdoll_bake, USDPHYS_OT_vehicle, USDPHYS_OT_mechanism,
)  # fmt: skip
