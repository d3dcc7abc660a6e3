# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties of the physics: one PropertyGroup per schema, generated from the schema table.

A property that is not set is "not authored"; setting it authors it, `property_unset` reverts that. Angles are radians
(shown in degrees), lengths Blender units, all else SI; drive gains are per degree, as angles are shown.
See docs/concept_mapping.md.
"""

import atexit
from collections.abc import Callable
from typing import Any

import bpy
from bpy.types import ID, Context, PropertyGroup

from ..core import schema
from ..core.air import CHOICES as AIRS
from ..core.air import TARGET
from ..core.qualities import NORMAL, QUALITY_TEXTS
from ..core.readers import READERS
from ..core.schema import Schema
from ..core.schemas import usd_geom, usd_physics
from . import group_names
from .choices import items_of
from .property_types import (
    OVERRIDABLE,
    apply_schema,
    hidden_flag,
    hidden_text,
    index,
    is_applied,
    list_of,
    make_group,
    make_properties,
    pointer,
    stamp,
)
from .vendor_rows import VendorRow, rows_property

#: Colliders that are exact primitives, by the identifier of the enum.
GPRIM_SHAPES: dict[str, type[usd_geom.Gprim]] = {
    "CUBE": usd_geom.Cube,
    "SPHERE": usd_geom.Sphere,
    "CAPSULE": usd_geom.Capsule,
    "CYLINDER": usd_geom.Cylinder,
    "CONE": usd_geom.Cone,
    "PLANE": usd_geom.Plane,
}
_TARGETS = (
    ("NEUTRAL", "Neutral", "One attribute for each setting: Newton's if there is one, because PhysX reads it, too", 1),
    ("NEWTON", "Newton", "Newton's own schemas", 2),
    ("PHYSX", "PhysX", "The schemas of PhysX, Omniverse and Isaac Sim", 4),
    ("MUJOCO", "MuJoCo", "The schemas of MuJoCo", 8),
)
LOCAL_FRAME_FIELDS = ("local_pos0", "local_rot0", "local_pos1", "local_rot1")
AXES = tuple((axis, axis, f"The {axis} axis") for axis in "XYZ")


def nested_bodies(note: str = "", **options: Any) -> Any:
    """The choice of how nested bodies are exported, for scene, export and preferences. note: added to the tooltip."""
    return bpy.props.EnumProperty(
        name="Hierarchy", items=items_of("nesting"), default="NESTED",
        description=f"How to export rigid bodies that are parented to other rigid bodies{note}", **options,
    )  # fmt: skip


def _owner() -> Any:
    return bpy.props.StringProperty(
        name="Physics Scene",
        description="Name of the physics scene that simulates this; empty: the only one. USD: physics:simulationOwner",
        override=OVERRIDABLE,
    )


def _object(label: str, doc: str) -> Any:
    return bpy.props.PointerProperty(type=bpy.types.Object, name=label, description=doc, override=OVERRIDABLE)


#: Called after a joint has got another body.
after_joining: list[Callable[[], None]] = []


def on_joined() -> None:
    for call in after_joining:
        call()


def _body(side: int, doc: str) -> dict[str, Any]:
    """Pointer to a body, with its last known name: a deleted body leaves the name behind, a cleared one does not."""
    field, name_field = f"body{side}", f"body{side}_name"

    def remember(joint: PropertyGroup, _context: Context) -> None:
        body = getattr(joint, field)
        setattr(joint, name_field, body.name if body else "")
        on_joined()
        if body is not None:
            apply_schema(joint, _context)

    return {
        field: bpy.props.PointerProperty(
            type=bpy.types.Object, name=f"Body {side}", description=doc, override=OVERRIDABLE, update=remember
        ),
        name_field: bpy.props.StringProperty(options={"HIDDEN"}, override=OVERRIDABLE),
    }


def _material(doc: str) -> Any:
    return bpy.props.PointerProperty(
        type=bpy.types.Material, name="Physics Material", description=doc, override=OVERRIDABLE
    )


def _hidden_texts(*names: str) -> dict[str, Any]:
    return {name: hidden_text() for name in names}


RememberedPrim = make_group(
    "RememberedPrim",
    "The prim that a data-block was imported from. An export uses its name unless the data-block was renamed.",
    {
        # noted: state after the import, see `import_notes`. source: file that a material is from.
        # extras: data of a glTF file that no schema has, as JSON; see `Prim.extras`.
        **_hidden_texts(
            "path", "type_name", "id_name", "transform", "carried", "shape", "binding", "noted", "source", "extras"
        ),
        "order": bpy.props.IntProperty(options={"HIDDEN"}, override=OVERRIDABLE),
    },
)
ObjectReference = make_group(
    "ObjectReference", "An object in a list, or the path of a prim that has no object.",
    {"object": _object("Object", "The object"), "path": hidden_text()},
)  # fmt: skip
DataReference = make_group(
    "DataReference", "A data-block that a construction refers to.",
    {
        "object": _object("Object", "The object"),
        "material": bpy.props.PointerProperty(type=bpy.types.Material, name="Material", override=OVERRIDABLE),
        "collection": bpy.props.PointerProperty(type=bpy.types.Collection, name="Collection", override=OVERRIDABLE),
    },
)  # fmt: skip
ChangedData = make_group(
    "ChangedData", "What a generator changed: states before and after it as JSON, see `generators.records`.",
    {
        # whole: the mesh of an object that was broken into pieces.
        "whole": bpy.props.PointerProperty(type=bpy.types.Mesh, name="Mesh", override=OVERRIDABLE),
        "object": _object("Object", "The object"),
        "material": bpy.props.PointerProperty(type=bpy.types.Material, name="Material", override=OVERRIDABLE),
        **_hidden_texts("before", "after"),
    },
)  # fmt: skip
MadeObject = make_group(
    "MadeObject", "An object that a generator made, and where, for what is made at the 3D cursor.",
    # path: as of `ObjectReference`, which it was.
    {"object": _object("Object", "The object"), **_hidden_texts("path", "place")},
)  # fmt: skip
ConstructionProperties = make_group(
    "ConstructionProperties", "What a generator made, so that it can be removed, and made again.",
    {
        # settings: how it was made, as JSON, see `generators.records`. selected: of what; the active object first.
        "kind": hidden_text(), "settings": hidden_text(), "selected": list_of(ObjectReference),
        "made": list_of(MadeObject), "changed": list_of(ChangedData),
        "references": list_of(DataReference), "collections": list_of(DataReference),
    },
)  # fmt: skip
GroupReference = make_group("GroupReference", "A collision group, by its name.", {})
GroupMembership = make_group(
    "GroupMembership", "The object and all below it belong to the group of this name.",
    {"exclude": bpy.props.BoolProperty(
        name="Exclude", description="Exclude the object from a group that it would inherit from its parent",
        override=OVERRIDABLE)},
)  # fmt: skip

RigidBodyProperties = make_group(
    "RigidBodyProperties", "PhysicsRigidBodyAPI",
    {
        "is_applied": is_applied("Rigid body"),
        **make_properties(usd_physics.RigidBodyAPI),
        "simulation_owner": _owner(),
        "keeps_velocity": bpy.props.BoolProperty(
            name="Keep Velocity", override=OVERRIDABLE,
            description="While it is kinematic and nothing animates it, the body moves on with its velocity, as in "
            "glTF. USD gets it as animation",
        ),
    },
)  # fmt: skip
MassProperties = make_group(
    "MassProperties", "PhysicsMassAPI", {"is_applied": is_applied("Mass"), **make_properties(usd_physics.MassAPI)}
)
MaterialProperties = make_group(
    "MaterialProperties", "PhysicsMaterialAPI",
    {"is_applied": is_applied("Physics material"), **make_properties(usd_physics.MaterialAPI)},
)  # fmt: skip
ArticulationRootProperties = make_group(
    "ArticulationRootProperties", "PhysicsArticulationRootAPI", {"is_applied": is_applied("Articulation root")}
)
FilteredPairsProperties = make_group(
    "FilteredPairsProperties", "PhysicsFilteredPairsAPI",
    {
        "is_applied": is_applied("Filtered pairs"),
        "filtered_pairs": list_of(ObjectReference, "Filtered Pairs"),
        "active_index": index(),
    },
)  # fmt: skip


def _length(name: str, doc: str, default: float) -> Any:
    return bpy.props.FloatProperty(
        name=name, description=doc, default=default, min=0.0, unit="LENGTH", precision=4, override=OVERRIDABLE
    )


ColliderProperties = make_group(
    "ColliderProperties",
    "One collider of an object: its own mesh, or a primitive with its own size and place in the object's space.",
    {
        "shape": bpy.props.EnumProperty(
            name="Shape", items=items_of("shape of a collider"), default="AUTO", description="Shape that collides",
            override=OVERRIDABLE,
        ),
        **make_properties(usd_physics.CollisionAPI),
        "simulation_owner": _owner(),
        **make_properties(usd_physics.MeshCollisionAPI),
        "location": bpy.props.FloatVectorProperty(
            name="Offset", size=3, subtype="TRANSLATION", precision=4, override=OVERRIDABLE,
            description="Centre of the primitive in the object's space; until it is set, it is fitted to the mesh",
        ),
        "rotation": bpy.props.FloatVectorProperty(
            name="Rotation", size=4, subtype="QUATERNION", default=(1.0, 0.0, 0.0, 0.0), override=OVERRIDABLE,
            description="Orientation of the primitive in the object's space",
        ),
        "size": bpy.props.FloatVectorProperty(
            name="Size", size=3, subtype="TRANSLATION", default=(1.0, 1.0, 1.0), min=0.0, precision=4,
            override=OVERRIDABLE,
            description="Edge lengths of a box, or drawn size of a plane; until it is set, it is fitted to the mesh",
        ),
        "radius": _length("Radius", "Radius; until it is set, it is fitted to the mesh", 0.5),
        "height": _length("Height", "Length along the axis without the caps of a capsule; fitted until it is set", 1.0),
        "axis": bpy.props.EnumProperty(
            name="Axis", items=AXES, default="Z", description="Axis of the primitive", override=OVERRIDABLE
        ),
        "purpose": bpy.props.EnumProperty(
            name="Shown To", items=items_of("purpose of a collider"), default="AUTO", override=OVERRIDABLE,
            description="Who sees the collider in other programs: its purpose in USD",
        ),
        "mass": pointer(MassProperties, "Mass"),
        "physics_material": _material("Material of this collider, for physics only"),
        "filtered_pairs": pointer(FilteredPairsProperties, "Filtered Pairs"),
        "collision_groups": list_of(GroupMembership, "Collision Groups"),
        "is_geometry": bpy.props.BoolProperty(
            name="Is the Object's Geometry", override=OVERRIDABLE,
            description="Export the object itself as this primitive instead of its mesh",
        ),
        "vendor": rows_property(),
        "has_mesh_collision": hidden_flag(),
        "extras": hidden_text(),
        "other_approximation": bpy.props.StringProperty(
            name="Collides As (Other)", override=OVERRIDABLE,
            description="Shape for the mesh that only one simulator knows, such as sdf and sphereFill of PhysX. It is "
            "written where Collides As is not set",
        ),
    },
)  # fmt: skip

#: Schema fields whose property is shared by all joint types.
JOINT_SHARED_FIELDS = frozenset(attribute.field for attribute in usd_physics.Joint.attributes) | {"axis"}


def _limits_of(name: str, cls: type[Schema]) -> Any:
    """The limits of a joint of one type, whose name is that of its group, too."""
    properties = make_properties(cls, skip=JOINT_SHARED_FIELDS)
    return make_group(f"{name}Properties", f"Limits of a Physics{name}Joint", properties, of_joint=True)


RevoluteProperties = _limits_of("Revolute", usd_physics.RevoluteJoint)
PrismaticProperties = _limits_of("Prismatic", usd_physics.PrismaticJoint)
SphericalProperties = _limits_of("Spherical", usd_physics.SphericalJoint)
DistanceProperties = _limits_of("Distance", usd_physics.DistanceJoint)


def _of_dof(label: str, cls: type[Schema], *, angular: bool) -> Any:
    """A limit or drive of a translation or rotation."""
    return make_group(
        f"{'Angular' if angular else 'Linear'}{label}Properties",
        f"Physics{label}API of a {'rotation' if angular else 'translation'}",
        {"is_applied": is_applied(label), **make_properties(cls, angular=angular)}, of_joint=True,
    )  # fmt: skip


LinearLimitProperties = _of_dof("Limit", usd_physics.LimitAPI, angular=False)
AngularLimitProperties = _of_dof("Limit", usd_physics.LimitAPI, angular=True)
LinearDriveProperties = _of_dof("Drive", usd_physics.DriveAPI, angular=False)
AngularDriveProperties = _of_dof("Drive", usd_physics.DriveAPI, angular=True)


def _per_dof(cls: type[Schema], linear: Any, angular: Any) -> dict[str, Any]:
    return {dof: pointer(angular if dof in schema.ANGULAR_DOFS else linear, dof) for dof in cls.instances}


LimitsProperties = make_group(
    "LimitsProperties", "Limits by degree of freedom",
    _per_dof(usd_physics.LimitAPI, LinearLimitProperties, AngularLimitProperties),
)  # fmt: skip
DrivesProperties = make_group(
    "DrivesProperties", "Drives by degree of freedom",
    _per_dof(usd_physics.DriveAPI, LinearDriveProperties, AngularDriveProperties),
)  # fmt: skip
JointProperties = make_group(
    "JointProperties",
    "A joint; its frame is the place of the object unless a local position or rotation is set for a body.",
    {
        "is_applied": is_applied("Joint"),
        "type": bpy.props.EnumProperty(
            name="Type", items=items_of("type of a joint"), default="FIXED", description="Kind of joint",
            override=OVERRIDABLE,
        ),
        **_body(0, "First body; leave empty for the world. USD: physics:body0"),
        **_body(1, "Second body; leave empty for the world. USD: physics:body1"),
        "body0_path": hidden_text(),
        "body1_path": hidden_text(),
        **make_properties(usd_physics.Joint),
        # Local frames of an imported joint: exported unchanged if the objects have not moved.
        "has_remembered_frames": hidden_flag(),
        # As text, because 32-bit floats would lose precision with every import and export.
        **{f"remembered_{name}": hidden_text() for name in LOCAL_FRAME_FIELDS},
        "axis": bpy.props.EnumProperty(
            name="Axis", items=AXES, default="X", override=OVERRIDABLE,
            description="Axis of the joint in its frame. USD: physics:axis",
        ),
        "revolute": pointer(RevoluteProperties),
        "prismatic": pointer(PrismaticProperties),
        "spherical": pointer(SphericalProperties),
        "distance": pointer(DistanceProperties),
        "limits": pointer(LimitsProperties),
        "drives": pointer(DrivesProperties),
    },
)  # fmt: skip


def show_thickness(group: Any, context: Context) -> None:
    """Draw the curve of a cable as thick as it is."""
    apply_schema(group, context)
    data = group.id_data.data
    if isinstance(data, bpy.types.Curve):
        data.bevel_depth = group.thickness / 2.0


def _held_end(side: str) -> dict[str, Any]:
    return {
        f"{side}_is_held": bpy.props.BoolProperty(
            name=f"Hold {side.title()}",
            override=OVERRIDABLE,
            description=f"The {side} of the cable is held in place",
        ),
        side: _object(f"{side.title()} Holder", f"Object that holds the {side}; empty: it stays where it is"),
    }


LandHereProperties = make_group(
    "LandHereProperties",
    "An Empty where a body is to be at a frame. It is for aims, and no physics.",
    {
        "is_applied": is_applied("Land Here"),
        "body": _object("Body", "Body that is to be there"),
        "frame": bpy.props.IntProperty(
            name="At Frame", default=0, override=OVERRIDABLE,
            description="Frame at which the body is there; 0: the last one",
        ),
        "tolerance": bpy.props.FloatProperty(
            name="Tolerance", default=0.02, min=1e-5, subtype="DISTANCE", override=OVERRIDABLE,
            description="Largest distance from the Empty",
        ),
        "use_place": bpy.props.BoolProperty(
            name="Land Here", default=True, override=OVERRIDABLE, description="The body is to be where the Empty is",
        ),
        "face": bpy.props.EnumProperty(
            name="Face", items=items_of("face of a body"), default="NONE", override=OVERRIDABLE,
            description="Axis of the body that is to point along the Z axis of the Empty, within 5 degrees",
        ),
        "at_rest": bpy.props.BoolProperty(
            name="At Rest", override=OVERRIDABLE, description="The body is to come to rest there",
        ),
    },
)  # fmt: skip

CableProperties = make_group(
    "CableProperties",
    "A cable: a curve of straight parts that bends. OpenUSD's words for it are still a proposal.",
    {
        "is_applied": is_applied("Cable"),
        "thickness": bpy.props.FloatProperty(
            name="Thickness", default=0.02, min=1e-6, subtype="DISTANCE", precision=4, override=OVERRIDABLE,
            description="Diameter of the cable", update=show_thickness,
        ),
        "density": bpy.props.FloatProperty(
            name="Density (kg/m³)", default=1000.0, min=1e-3, override=OVERRIDABLE,
            description="Mass of a cubic metre of the cable",
        ),
        "youngs_modulus": bpy.props.FloatProperty(
            name="Young's Modulus (Pa)", default=1e7, min=1.0, override=OVERRIDABLE,
            description="How stiff the material is against stretching and bending. Rubber has 10 million, nylon 3 "
            "billion",
        ),
        "bending_stiffness": bpy.props.FloatProperty(
            name="Stiffness (N m²)", default=0.0, min=0.0, precision=5, override=OVERRIDABLE,
            description="Bending stiffness; 0: that of a solid rod. A rope of strands bends much more easily",
        ),
        "poissons_ratio": bpy.props.FloatProperty(
            name="Poisson's Ratio", default=0.3, min=0.0, max=0.49, override=OVERRIDABLE,
            description="How much thinner the material becomes as it is stretched",
        ),
        "dynamic_friction": bpy.props.FloatProperty(
            name="Friction", default=0.5, min=0.0, soft_max=2.0, override=OVERRIDABLE,
            description="Friction of the cable against what it touches",
        ),
        **_held_end("start"),
        **_held_end("end"),
    },
)  # fmt: skip

ObjectPhysicsProperties = make_group(
    "ObjectPhysicsProperties",
    "All physics of an object.",
    {
        "rigid_body": pointer(RigidBodyProperties, "Rigid Body"),
        "mass": pointer(MassProperties, "Mass"),
        "colliders": list_of(ColliderProperties, "Colliders"),
        "active_collider_index": index(),
        "joint": pointer(JointProperties, "Joint"),
        "articulation_root": pointer(ArticulationRootProperties, "Articulation Root"),
        "filtered_pairs": pointer(FilteredPairsProperties, "Filtered Pairs"),
        "collision_groups": list_of(GroupMembership, "Collision Groups"),
        "active_group_index": index(),
        "physics_material": _material("Material of all colliders of the object, for physics only"),
        "physics_material_path": hidden_text(),
        # While the object shows a simulated pose; see `authored_poses`.
        "authored_transform": hidden_text(),
        # A ground that the add-on has made: it stays static when it is made dynamic together with others.
        "is_ground": hidden_flag(),
        "land_here": pointer(LandHereProperties, "Land Here"),
        "cable": pointer(CableProperties, "Cable"),
        "vendor": rows_property(),
        "prim": pointer(RememberedPrim),
        **stamp(),
    },
)

PhysicsSceneProperties = make_group(
    "PhysicsSceneProperties", "PhysicsScene",
    {**make_properties(usd_physics.PhysicsScene), "vendor": rows_property(), "prim": pointer(RememberedPrim)},
)  # fmt: skip
CollisionGroupProperties = make_group(
    "CollisionGroupProperties", "PhysicsCollisionGroup; its members are stored on the objects, by its name.",
    {
        **make_properties(usd_physics.CollisionGroup),
        "list_name": group_names.editable_name(),
        "filtered_groups": list_of(GroupReference, "Filtered Groups"),
        "active_index": index(),
        "prim": pointer(RememberedPrim),
        # Paths of members that have no object, one per line.
        "other_includes": hidden_text(),
        "other_excludes": hidden_text(),
    },
)  # fmt: skip
# objects: paths of all prims that became objects, one a line. meters: length of a Blender unit at the import.
# units: metres and kilograms per unit and up axis of the file. others: files imported into the scene before.
# files: that the scene came from, see `system.files.note_of`; of a robot without digests and without its URDF.
SourceProperties = make_group(
    "SourceProperties", "The USD file that the scene was imported from.",
    _hidden_texts(
        "filepath", "default_prim", "prim_path", "variants", "carried", "carried_trees", "carried_looks", "objects",
        "meters", "units", "others", "files",
    ),
)  # fmt: skip
StageProperties = make_group(
    "StageProperties",
    "Settings of the exported stage.",
    {
        "meters_per_unit": bpy.props.FloatProperty(
            name="m per Unit", default=1.0, min=1e-9, precision=6, override=OVERRIDABLE,
            description="Length of one unit of the stage. USD: metersPerUnit",
        ),
        "kilograms_per_unit": bpy.props.FloatProperty(
            name="kg per Unit", default=1.0, min=1e-9, precision=6, override=OVERRIDABLE,
            description="Mass of one unit of the stage. USD: kilogramsPerUnit",
        ),
        "up_axis": bpy.props.EnumProperty(
            name="Up Axis", items=items_of("up axis of the stage"), default="Z",
            description="Axis that points up in the stage. USD: upAxis", override=OVERRIDABLE,
        ),
        "hierarchy": nested_bodies(override=OVERRIDABLE),
    },
)  # fmt: skip


def _take_reader(settings: Any, _context: bpy.types.Context) -> None:
    """Set the options of the program that a glTF file is for."""
    reader = READERS.get(settings.reader.lower())
    if reader is None:
        return
    settings.families, settings.hierarchy = reader.options["families"], reader.options["hierarchy"].upper()
    settings.is_for_godot = bool(reader.options.get("godot_capsules"))


GltfProperties = make_group(
    "GltfProperties",
    "Settings of glTF files, shown in the dialogs of Blender's own importer and exporter.",
    {
        "is_exported": bpy.props.BoolProperty(
            name="Physics", default=True, description="Write the physics of the scene into the glTF file",
        ),
        "reader": bpy.props.EnumProperty(
            name="For", items=items_of("reader of a glTF file"), update=_take_reader,
            description="Program that reads the file: sets the options below for it, and names what it leaves out",
        ),
        "families": bpy.props.EnumProperty(
            name="Extensions", default="BOTH",
            items=items_of("extensions of glTF"),
            description="Extensions of glTF that the physics is written in",
        ),
        "hierarchy": bpy.props.EnumProperty(
            name="Hierarchy", default="NESTED",
            items=items_of("nesting of glTF"),
            description="How to export rigid bodies that are parented to other rigid bodies",
        ),
        "keeps_usd": bpy.props.BoolProperty(
            name="Keep USD Physics", default=True,
            description="Store physics that glTF cannot express in the extras of the file, for an import with this "
            "add-on",
        ),
        "is_for_godot": bpy.props.BoolProperty(
            name="Godot 4 Capsules",
            description="Write OMI capsules and cylinders as Godot 4 reads them: with one radius, and capsules with "
            "their full height. The published specification differs",
        ),
        "is_imported": bpy.props.BoolProperty(
            name="Physics", default=True, description="Read the physics of glTF files",
        ),
    },
)  # fmt: skip
PreviewProperties = make_group(
    "PreviewProperties",
    "Settings of the preview.",
    {
        "frequency": bpy.props.IntProperty(
            name="Frequency", default=60, min=10, max=1000,
            description="Time steps per second of simulated time (Hz)",
        ),
        "quality": bpy.props.EnumProperty(
            name="Quality", items=[(name, text.label, text.cost) for name, text in QUALITY_TEXTS.items()],
            default=NORMAL,
            description="How exact contacts and joints are, and how much time they take",
        ),
        "substeps": bpy.props.IntProperty(
            name="Substeps", default=0, min=0, max=64,
            description="Solver steps per time step; 0 leaves it to the quality",
        ),
        "air": bpy.props.EnumProperty(
            name="Air and Rolling", items=[(name, *texts) for name, texts in AIRS.items()], default=TARGET,
            description="What slows down bodies in the preview that have no damping set",
        ),
        "linear_damping": bpy.props.FloatProperty(
            name="Linear Damping", default=0.0, min=0.0, soft_max=1.0, precision=3,
            description="Share of its speed that a body loses each second where its own damping is not set (1/s)",
        ),
        "angular_damping": bpy.props.FloatProperty(
            name="Angular Damping", default=0.05, min=0.0, soft_max=1.0, precision=3,
            description="Share of its spin that a body loses each second where its own damping is not set (1/s)",
        ),
        "rolling_resistance": bpy.props.FloatProperty(
            name="Rolling Resistance", default=0.01, min=0.0, soft_max=0.2, precision=3,
            description="Force that brakes what rolls, relative to its load: 0.01 for a tyre on asphalt, 0.001 for "
            "steel on steel",
        ),
        "engine": bpy.props.StringProperty(
            name="Engine", default="preview", description="Engine that simulates, by its name on the command line"
        ),
        "blend_frames": bpy.props.IntProperty(
            name="Blend",
            default=0,
            min=0,
            soft_max=100,
            description="Frames in which a body goes over to its animation when that takes it from physics; 0 is at "
            "once",
        ),
        "speed": bpy.props.FloatProperty(
            name="Speed", default=1.0, min=0.01, max=10.0, soft_max=2.0,
            description="Simulated seconds per second of real time; less than 1 is slow motion",
        ),
        "is_fast": bpy.props.BoolProperty(
            name="As Fast as It Can", description="Simulate as fast as possible, not in real time"
        ),
        "with_timeline": bpy.props.BoolProperty(
            name="Play with Timeline",
            description="Playing the timeline (Space) plays the physics, too: animated kinematic bodies push, each "
            "frame is simulated once, and frames already simulated can be scrubbed",
        ),
        "by_clock": bpy.props.BoolProperty(
            name="Play by Clock",
            description="Play by the clock although something of the simulation is animated: it stays as it is at the "
            "current frame",
        ),
        "marks_contacts": bpy.props.BoolProperty(
            name="Mark Contacts",
            description="Bakes set markers in the timeline where bodies hit something, as they do where joints break",
        ),
        "least_impulse": bpy.props.FloatProperty(
            name="From Impulse (N s)", default=1.0, min=0.0, soft_max=100.0, precision=2,
            description="Impulse of a contact, along its normal, from which on it is marked (N s): a kilogram that "
            "falls by 5 cm has 1",
        ),
        # True while the objects hold simulated poses, so that undo steps with such poses are recognised.
        "is_running": bpy.props.BoolProperty(options={"HIDDEN"}),
    },
)  # fmt: skip
ScenePhysicsProperties = make_group(
    "ScenePhysicsProperties",
    "All physics of a scene.",
    {
        "physics_scenes": list_of(PhysicsSceneProperties, "Physics Scenes"),
        "active_scene_index": index(),
        "collision_groups": list_of(CollisionGroupProperties, "Collision Groups"),
        "active_group_index": index(),
        "targets": bpy.props.EnumProperty(
            name="Targets",
            items=_TARGETS,
            default={"NEUTRAL"},
            options={"ENUM_FLAG"},
            override=OVERRIDABLE,
            description="Simulators for which settings beyond UsdPhysics are written",
        ),
        "stage": pointer(StageProperties, "Stage"),
        "source": pointer(SourceProperties),
        "preview": pointer(PreviewProperties, "Preview"),
        "gltf": pointer(GltfProperties, "glTF"),
        "constructions": list_of(ConstructionProperties),
        **stamp(),
    },
)
MaterialPhysicsProperties = make_group(
    "MaterialPhysicsProperties", "All physics of a material.",
    {
        "physics_material": pointer(MaterialProperties, "Physics Material"), "vendor": rows_property(),
        "prim": pointer(RememberedPrim), **stamp(),
    },
)  # fmt: skip

#: In the order of registration: the targets of pointers come first.
CLASSES: tuple[type[PropertyGroup], ...] = (
    VendorRow, RememberedPrim, ObjectReference, DataReference, ChangedData, MadeObject, ConstructionProperties,
    GroupReference, GroupMembership, RigidBodyProperties,
    MassProperties, MaterialProperties, ArticulationRootProperties, FilteredPairsProperties, ColliderProperties,
    RevoluteProperties, PrismaticProperties, SphericalProperties, DistanceProperties, LinearLimitProperties,
    AngularLimitProperties, LinearDriveProperties, AngularDriveProperties, LimitsProperties, DrivesProperties,
    JointProperties, LandHereProperties, CableProperties, ObjectPhysicsProperties, PhysicsSceneProperties,
    CollisionGroupProperties, SourceProperties, StageProperties, PreviewProperties, GltfProperties,
    ScenePhysicsProperties,
    MaterialPhysicsProperties,
)  # fmt: skip
_OWNERS: tuple[tuple[Any, Any], ...] = (
    (bpy.types.Object, ObjectPhysicsProperties),
    (bpy.types.Scene, ScenePhysicsProperties),
    (bpy.types.Material, MaterialPhysicsProperties),
)


def is_registered() -> bool:
    return hasattr(bpy.types.Object, "usdphys")


def register() -> None:
    if ObjectPhysicsProperties.is_registered:
        return  # by a script, before the add-on was enabled: see `api.blender`
    # Blender 4.5 as a Python module hangs at exit while Python property groups are registered. The application itself
    # unregisters add-ons at exit, after this.
    atexit.register(unregister)
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for owner, group in _OWNERS:
        owner.usdphys = bpy.props.PointerProperty(type=group, name="USD Physics", override=OVERRIDABLE)


def unregister() -> None:
    if not is_registered():
        return
    atexit.unregister(unregister)
    for owner, _ in reversed(_OWNERS):
        del owner.usdphys
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)


def is_physical(obj: ID) -> bool:
    """True if any physics is applied to the object itself."""
    physics = obj.usdphys
    return holds_physics(physics, physics.keys())


def holds_physics(physics: Any, touched: list[str]) -> bool:
    """True if any physics is applied. physics: properties of an object. touched: their keys, the groups ever set."""
    return bool(
        ("rigid_body" in touched and physics.rigid_body.is_applied)
        or ("colliders" in touched and len(physics.colliders))
        or ("joint" in touched and physics.joint.is_applied)
        or ("mass" in touched and physics.mass.is_applied)
        or ("articulation_root" in touched and physics.articulation_root.is_applied)
        or ("filtered_pairs" in touched and physics.filtered_pairs.is_applied)
        or ("collision_groups" in touched and len(physics.collision_groups))
        or ("prim" in touched and physics.prim.extras)
        or ("vendor" in touched and len(physics.vendor))
        or ("cable" in touched and physics.cable.is_applied)
    )
