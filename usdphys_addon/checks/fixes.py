# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes in one click for issues of a check: one function for each code that Blender can fix.

A safe fix changes nothing that works: it only removes or corrects values that are invalid, dangling or without effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import bpy
import mathutils
import numpy as np

from ..authoring import joint_edits, vendor_edits
from ..authoring.joint_maker import JointMaker, JointOptions
from ..bridge import props, vendor_rows
from ..bridge.joint_frames import is_joint
from ..bridge.roles import is_body
from ..bridge.writing import unit_length
from ..core import frames, joint_kinds
from ..core.errors import InputError
from ..core.rules import joint_frames, scene_setup
from ..core.rules.base import Facts
from ..core.rules.colliders import TRIANGLES
from ..core.schemas import usd_physics
from ..core.units import is_infinite
from .report import FoundIssue

FixFunction = Callable[[Any, FoundIssue], None]


class Fix(NamedTuple):
    """apply(scene, issue): raises InputError, with nothing changed, if the issue cannot be fixed."""

    apply: FixFunction
    safe: bool
    #: Label of the button, in the imperative.
    label: str


FIXES: dict[str, Fix] = {}


def _fix(*codes: str, safe: bool, label: str) -> Callable[[FixFunction], FixFunction]:
    def register(function: FixFunction) -> FixFunction:
        for code in codes:
            FIXES[code] = Fix(function, safe, label)
        return function

    return register


def apply_fix(scene: bpy.types.Scene, issue: FoundIssue) -> None:
    """Fix one issue. Raises InputError, with nothing changed, if that is not possible."""
    fix = FIXES.get(issue.code)
    if fix is None:
        raise InputError(f"This issue has no automatic fix. {issue.fix}")
    fix.apply(scene, issue)


def apply_safe(scene: bpy.types.Scene, issues: Iterable[FoundIssue]) -> tuple[int, list[str]]:
    """Apply all safe fixes. Returns (number of fixes, reasons why others could not be applied)."""
    done, refused = 0, []
    # One fix covers all issues of one code on one object, such as those of a body and its collider.
    distinct = {(issue.code, issue.kind, issue.name): issue for issue in issues}
    for issue in distinct.values():
        fix = FIXES.get(issue.code)
        if fix is None or not fix.safe:
            continue
        try:
            fix.apply(scene, issue)
            done += 1
        except InputError as error:
            refused.append(str(error))
    return done, refused


# --------------------------------------------------------------------------- data of an issue


def find_object(scene: Any, name: str) -> Any:
    """The object with a full name in a scene; None if there is none."""
    return next((obj for obj in scene.objects if obj.name_full == name), None)


def culprits(scene: Any, issue: FoundIssue) -> list[Any]:
    """The objects that an issue is about: the object, the users of the material, or the members of the group."""
    if issue.kind == "object":
        obj = find_object(scene, issue.name)
        return [] if obj is None else [obj]
    if issue.kind == "material":
        return [obj for obj in scene.objects if _uses(obj, issue.name)]
    if issue.kind == "group":
        return [obj for obj in scene.objects if any(row.name == issue.name for _, row in _memberships(obj))]
    return []


def _uses(obj: Any, name: str) -> bool:
    physics = obj.usdphys
    bound = [physics.physics_material, *(item.physics_material for item in physics.colliders)]
    bound += [slot.material for slot in obj.material_slots]
    return any(material is not None and material.name_full == name for material in bound)


def _memberships(obj: Any) -> Iterator[tuple[Any, Any]]:
    """(memberships, membership) for each group membership of an object and of its colliders."""
    for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders)):
        for row in rows:
            yield rows, row


def _editable(thing: Any) -> Any:
    if thing.library is not None:
        raise InputError(f"'{thing.name}' is linked from a library; fix it there, or make a library override of it.")
    return thing


def _object(scene: Any, issue: FoundIssue) -> Any:
    obj = find_object(scene, issue.name) if issue.kind == "object" else None
    if obj is None:
        raise InputError(f"The object '{issue.name}' is no longer in the scene; check again.")
    return _editable(obj)


def _joint(scene: Any, issue: FoundIssue) -> Any:
    return _object(scene, issue).usdphys.joint


def _material(issue: FoundIssue) -> Any:
    found = next((item for item in bpy.data.materials if item.name_full == issue.name), None)
    if found is None or issue.kind != "material":
        raise InputError(f"The material '{issue.name}' is no longer in the file; check again.")
    return _editable(found).usdphys.physics_material


def _group(scene: Any, issue: FoundIssue) -> tuple[int, Any]:
    """(index, collision group) that an issue names."""
    _editable(scene)
    for row, item in enumerate(scene.usdphys.collision_groups):
        if item.name == issue.name:
            return row, item
    raise InputError(f"The collision group '{issue.name}' is no longer in the scene; check again.")


def _unset(group: Any, *names: str) -> None:
    for name in names:
        if group.is_property_set(name):
            group.property_unset(name)


def _nothing_to_do(issue: FoundIssue) -> InputError:
    return InputError(f"'{issue.name}' no longer has this problem, or it cannot be fixed automatically. {issue.fix}")


# --------------------------------------------------------------------------- mass


def _masses(scene: Any, issue: FoundIssue) -> list[Any]:
    """The applied mass properties of an object and of its colliders."""
    physics = _object(scene, issue).usdphys
    found = [physics.mass, *(item.mass for item in physics.colliders)]
    return [mass for mass in found if mass.is_applied]


@_fix("MassInvalidValues", safe=True, label="Set the mass to automatic")
def _unset_negative_mass(scene: Any, issue: FoundIssue) -> None:
    _unset_where(scene, issue, "mass", lambda value: value < 0)


@_fix("DensityInvalidValues", safe=True, label="Set the density to automatic")
def _unset_negative_density(scene: Any, issue: FoundIssue) -> None:
    _unset_where(scene, issue, "density", lambda value: value < 0)


def _unset_where(scene: Any, issue: FoundIssue, name: str, is_wrong: Callable[[float], bool]) -> None:
    found = [mass for mass in _masses(scene, issue) if mass.is_property_set(name) and is_wrong(getattr(mass, name))]
    if not found:
        raise _nothing_to_do(issue)
    for mass in found:
        mass.property_unset(name)


@_fix("InertiaInvalidValues", safe=True, label="Normalize the axes, or set the inertia to automatic")
def _mend_inertia(scene: Any, issue: FoundIssue) -> None:
    names = ("diagonal_inertia", "principal_axes")
    found = [mass for mass in _masses(scene, issue) if any(map(mass.is_property_set, names))]
    if not found:
        raise _nothing_to_do(issue)
    for mass in found:
        axes, moments = tuple(mass.principal_axes), tuple(mass.diagonal_inertia)
        length = math.hypot(*axes)
        is_inertia = mass.is_property_set("diagonal_inertia") and min(moments) > 0
        if not is_inertia or not math.isfinite(length):
            _unset(mass, *names)
        elif not mass.is_property_set("principal_axes") or length == 0:
            # Simulators that accept an inertia without axes take those of the body.
            mass.principal_axes = (1, 0, 0, 0)
        elif abs(length - 1) > 1e-6:
            mass.principal_axes = [part / length for part in axes]


@_fix("InertiaImpossible", safe=False, label="Set the inertia to automatic")
def _unset_inertia(scene: Any, issue: FoundIssue) -> None:
    for mass in _masses(scene, issue):
        _unset(mass, "diagonal_inertia", "principal_axes")


@_fix("MassWithoutBody", safe=True, label="Remove the mass")
def _remove_mass(scene: Any, issue: FoundIssue) -> None:
    _object(scene, issue).usdphys.mass.is_applied = False


@_fix("BodyWithoutMass", safe=False, label="Add an automatic collider, or 1 kg without a mesh")
def _add_collider(scene: Any, issue: FoundIssue) -> None:
    obj = _object(scene, issue)
    if obj.type != "MESH" or not len(obj.data.polygons):
        obj.usdphys.mass.is_applied, obj.usdphys.mass.mass = True, 1.0
        return
    obj.usdphys.colliders.add()


# --------------------------------------------------------------------------- bodies, articulations


@_fix(
    "NestedArticulation", "ArticulationOnKinematicBody", "ArticulationRootTwice", safe=False,
    label="Remove the articulation root",
)  # fmt: skip
def _remove_root(scene: Any, issue: FoundIssue) -> None:
    _object(scene, issue).usdphys.articulation_root.is_applied = False


@_fix("ArticulationRootGives", safe=True, label="Move the articulation root to the joint")
def _root_to_joint(scene: Any, issue: FoundIssue) -> None:
    base = _object(scene, issue)
    for obj in filter(is_joint, scene.objects):
        joint = obj.usdphys.joint
        if joint.type == "FIXED" and base in (joint.body0, joint.body1):
            other = joint.body1 if joint.body0 == base else joint.body0
            if other is None or not is_body(other):
                joint_edits.move_root(base, obj)
                return
    raise _nothing_to_do(issue)


@_fix("ArticulationRootStuck", safe=True, label="Move the articulation root to the body")
def _root_to_body(scene: Any, issue: FoundIssue) -> None:
    root = _object(scene, issue)
    joint = root.usdphys.joint if is_joint(root) else None
    ends = (joint.body1, joint.body0) if joint is not None else ()
    body = next((obj for obj in ends if obj is not None and is_body(obj)), None)
    if body is None:
        raise InputError(f"'{root.name}' is no joint; remove its articulation root, and make a body of it the root.")
    joint_edits.move_root(root, body)


@_fix("ArticulationOnStaticBody", safe=False, label="Enable the rigid body")
def _enable_body(scene: Any, issue: FoundIssue) -> None:
    _unset(_object(scene, issue).usdphys.rigid_body, "rigid_body_enabled")


@_fix("OwnerMissing", safe=True, label="Clear the simulation owner")
def _clear_owner(scene: Any, issue: FoundIssue) -> None:
    physics = _object(scene, issue).usdphys
    known = {item.name for item in scene.usdphys.physics_scenes}
    owned = [
        group for group in (physics.rigid_body, *physics.colliders)
        if group.simulation_owner and group.simulation_owner not in known
    ]  # fmt: skip
    if not owned:
        raise _nothing_to_do(issue)
    for group in owned:
        group.property_unset("simulation_owner")


@_fix("SceneAmbiguous", safe=False, label="Let the first physics scene simulate it")
def _choose_owner(scene: Any, issue: FoundIssue) -> None:
    scenes = scene.usdphys.physics_scenes
    if not len(scenes):
        raise _nothing_to_do(issue)
    _object(scene, issue).usdphys.rigid_body.simulation_owner = scenes[0].name


@_fix("NoScene", safe=False, label="Add a physics scene")
def _add_scene(scene: Any, _issue: FoundIssue) -> None:
    _editable(scene).usdphys.physics_scenes.add().name = "PhysicsScene"


@_fix("GravityDirectionNotUnit", safe=True, label="Normalize the direction")
def _normalize_gravity(scene: Any, issue: FoundIssue) -> None:
    _editable(scene)
    found = next((item for item in scene.usdphys.physics_scenes if item.name == issue.name), None)
    length = 0.0 if found is None else math.hypot(*found.gravity_direction)
    if found is None or not math.isfinite(length) or not length:
        raise _nothing_to_do(issue)
    found.gravity_direction = [part / length for part in found.gravity_direction]


@_fix("NoFloor", safe=False, label="Add a ground at the lowest point")
def _add_ground(scene: Any, issue: FoundIssue) -> None:
    from ..authoring import generators
    from ..bridge import scene_read

    if any(item.gravity_direction[2] > 0 or any(item.gravity_direction[:2]) for item in scene.usdphys.physics_scenes):
        raise InputError(
            "Things do not fall along -Z here: add a box across the direction of gravity, and make it Static."
        )
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    found = scene_setup.moving_bounds(Facts(reading.model))
    if found is None:
        raise _nothing_to_do(issue)
    low, high = (bound / reading.model.units.meters_per_unit for bound in found)
    middle = (low + high) / 2.0
    generators.ground(_editable(scene), (middle[0], middle[1], low[2]), 2.0 * max((high - low)[:2]))


# --------------------------------------------------------------------------- colliders


@_fix("ColliderTriangleMeshDynamic", safe=True, label="Use the convex hull")
def _use_hull(scene: Any, issue: FoundIssue) -> None:
    found = [
        item for item in _object(scene, issue).usdphys.colliders
        if item.shape in ("MESH", "AUTO") and item.approximation in TRIANGLES
        and (item.shape == "MESH" or item.is_property_set("approximation"))
    ]  # fmt: skip
    if not found:
        raise _nothing_to_do(issue)
    for item in found:
        item.approximation = "convexHull"


@_fix("MeshCollisionOnNonMesh", safe=True, label="Remove the approximation")
def _remove_approximation(scene: Any, issue: FoundIssue) -> None:
    for item in _object(scene, issue).usdphys.colliders:
        if item.shape in props.GPRIM_SHAPES:
            _unset(item, "approximation", "other_approximation", "has_mesh_collision")


@_fix("ColliderWithoutGeometry", safe=False, label="Remove the mesh collider")
def _remove_empty_collider(scene: Any, issue: FoundIssue) -> None:
    items = _object(scene, issue).usdphys.colliders
    for row in reversed(range(len(items))):
        if items[row].shape in ("MESH", "AUTO"):
            items.remove(row)


@_fix("MeshColliderTwice", safe=False, label="Keep the first mesh collider")
def _remove_second_mesh(scene: Any, issue: FoundIssue) -> None:
    items = _object(scene, issue).usdphys.colliders
    rows = [row for row, item in enumerate(items) if item.shape in ("MESH", "AUTO") and not item.is_geometry]
    for row in reversed(rows[1:]):
        items.remove(row)


@_fix("NameClash", safe=False, label="Rename the mesh of the parent")
def _rename_mesh(scene: Any, issue: FoundIssue) -> None:
    obj = _object(scene, issue)
    data = obj.parent.data if obj.parent is not None else None
    if data is None:
        raise _nothing_to_do(issue)
    _editable(data).name = f"{data.name}_mesh"


# --------------------------------------------------------------------------- scale


@_fix("NegativeScale", "ColliderSheared", "RigidBodyOrientationScale", safe=True, label="Apply the scale")
def _apply_scale(scene: Any, issue: FoundIssue) -> None:
    """Move scale and shear of an object from its transform into its mesh, so that nothing moves in the world."""
    obj = _object(scene, issue)
    _refuse_scale(scene, obj)
    world = np.array(obj.matrix_world)
    rigid = frames.transform(world[:3, 3], frames.rotation_of(world))
    rest = np.linalg.solve(rigid, world)
    residue = mathutils.Matrix(rest.tolist())
    above = obj.parent.matrix_world if obj.parent is not None else None
    if obj.data is not None:
        obj.data.transform(residue, shape_keys=True)
        if np.linalg.det(rest[:3, :3]) < 0:
            obj.data.flip_normals()
        obj.data.update()
    if above is not None:
        # Only this matrix can hold the inverse of any parent, which may be sheared.
        obj.matrix_parent_inverse = above.inverted()
    for name in ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale"):
        obj.property_unset(name)
    obj.matrix_basis = mathutils.Matrix(rigid.tolist())
    obj.scale = (1.0, 1.0, 1.0)
    for child in obj.children:
        child.matrix_parent_inverse = residue @ child.matrix_parent_inverse


def _refuse_scale(scene: Any, obj: Any) -> None:
    """Raise InputError if the scale of an object cannot be applied without changing something else."""
    reason = ""
    colliders = list(obj.usdphys.colliders)
    joints = [other for other in scene.objects if other.usdphys.joint.is_applied]
    local = [
        joint.name for joint in joints for side in (0, 1)
        if getattr(joint.usdphys.joint, f"body{side}") == obj
        and joint.usdphys.joint.is_property_set(f"local_pos{side}")
    ]  # fmt: skip
    animation = obj.animation_data
    if obj.type not in ("MESH", "EMPTY"):
        reason = "it is not a mesh"
    elif obj.type == "EMPTY" and obj.instance_type != "NONE":
        reason = "it instances other objects"
    elif obj.data is not None and (obj.data.library is not None or obj.data.users > 1):
        reason = f"its mesh '{obj.data.name}' is linked or has other users"
    elif len(obj.modifiers) or len(obj.constraints):
        reason = "it has modifiers or constraints"
    elif animation is not None and (animation.action is not None or len(animation.drivers)):
        reason = "it is animated"
    elif obj.parent is not None and (
        obj.parent_type != "OBJECT" or frames.is_flat(obj.parent.matrix_world.determinant())
    ):
        reason = f"its parent '{obj.parent.name}' is flat, or holds it by a bone or vertex"
    elif frames.is_flat(obj.matrix_world.determinant()):
        reason = "it is scaled to nothing"
    elif any(item.is_geometry or any(map(item.is_property_set, _SIZES)) for item in colliders):
        reason = "a collider of it has its own place or size"
    elif any(map(obj.usdphys.mass.is_property_set, ("center_of_mass", "diagonal_inertia"))):
        reason = "its centre of mass or its inertia is set"
    elif local:
        reason = f"the joint '{local[0]}' has a stored frame in it"
    elif any(child.library is not None for child in obj.children):
        reason = "a child of it is linked from a library"
    if reason:
        raise InputError(f"The scale of '{obj.name}' cannot be applied, because {reason}; apply it by hand.")


_SIZES = ("location", "rotation", "size", "radius", "height")


# --------------------------------------------------------------------------- joints


@_fix("JointSameBody", safe=False, label="Attach the joint to the world instead of its first body")
def _clear_first_body(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    _clear_body(joint, 0)


def _clear_body(joint: Any, side: int) -> None:
    setattr(joint, f"body{side}", None)
    _unset(joint, f"body{side}_path", f"local_pos{side}", f"local_rot{side}")


@_fix("JointBodyMissing", safe=False, label="Clear the missing body")
def _clear_missing_body(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    missing = []
    for side in (0, 1):
        body = getattr(joint, f"body{side}")
        if body is not None:
            if body.name_full in scene.objects and not body.visible_get():
                raise InputError(f"'{body.name}' is hidden; show it, or choose another body {side} for '{issue.name}'.")
            if find_object(scene, body.name_full) is None:
                missing.append(side)
        elif getattr(joint, f"body{side}_name") or getattr(joint, f"body{side}_path"):
            missing.append(side)
    if not missing:
        raise _nothing_to_do(issue)
    for side in missing:
        _clear_body(joint, side)


@_fix("JointRelNotXformable", safe=False, label="Clear the body that is a joint itself")
def _clear_joint_as_body(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    bodies = [(side, getattr(joint, f"body{side}")) for side in (0, 1)]
    sides = [side for side, body in bodies if body is not None and body.usdphys.joint.is_applied]
    if not sides:
        raise _nothing_to_do(issue)
    for side in sides:
        _clear_body(joint, side)


@_fix(
    "JointNoEnabledRigidBody", safe=False, label="Make its second body, its first, or the nearest object a rigid body"
)
def _make_body(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    bodies = [body for body in (joint.body1, joint.body0) if body is not None]
    if not bodies:
        # A joint without bodies was often added or imported alone: it belongs to what is next to it.
        bodies = [_nearest(scene, _object(scene, issue))]
        joint.body1 = bodies[0]
    body = next((body for body in bodies if body.usdphys.rigid_body.is_applied), bodies[0])
    group = _editable(body).usdphys.rigid_body
    group.is_applied = True
    _unset(group, "rigid_body_enabled")
    is_solid = any(len(one.usdphys.colliders) for one in (body, *body.children_recursive))
    if not is_solid and body.type == "MESH" and len(body.data.polygons):
        # Else the next check would name a body without a mass.
        body.usdphys.colliders.add()


def _nearest(scene: Any, joint: Any) -> Any:
    """The visible body whose origin is nearest to a joint, else the nearest mesh without physics, else collider.

    A static collider comes last: it is often the ground, which would fall as a body.
    """
    found = [obj for obj in scene.objects if obj.visible_get() and obj.library is None and not is_joint(obj)]
    meshes = [obj for obj in found if obj.type == "MESH"]
    chosen = (
        [obj for obj in found if is_body(obj)]
        or [obj for obj in meshes if not len(obj.usdphys.colliders)]
        or [obj for obj in found if len(obj.usdphys.colliders)]
    )
    if not chosen:
        raise InputError(f"There is no object that the joint '{joint.name}' could hold; add one, or delete the joint.")
    return min(chosen, key=lambda obj: (obj.matrix_world.translation - joint.matrix_world.translation).length)


@_fix("BodiesOverlap", "BodiesInOnePlace", safe=False, label="Separate: move it out of the other, the shortest way")
def _separate(scene: Any, issue: FoundIssue) -> None:
    from ..bridge import scene_read

    obj = _object(scene, issue)
    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    way = scene_setup.separation(Facts(reading.model), issue.path)
    if way is None:
        raise _nothing_to_do(issue)
    # From the world to the space of the location.
    space = (obj.matrix_world @ obj.matrix_basis.inverted_safe()).to_3x3()
    obj.location += space.inverted_safe() @ mathutils.Vector((way / reading.model.units.meters_per_unit).tolist())


@_fix("KinematicVelocity", safe=True, label="Clear the velocities")
def _clear_velocity(scene: Any, issue: FoundIssue) -> None:
    body = _object(scene, issue).usdphys.rigid_body
    if not body.kinematic_enabled or not (body.is_property_set("velocity") or body.is_property_set("angular_velocity")):
        raise _nothing_to_do(issue)
    _unset(body, "velocity", "angular_velocity")


@_fix("JointTouchesStatic", safe=False, label="Filter the contacts of the two")
def _filter_static(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    if not JointMaker(bpy.context, JointOptions("FIXED", "CLOSEST")).part_from_static(joint.body0, joint.body1):
        raise _nothing_to_do(issue)


@_fix("JointRotationNotUnit", safe=True, label="Normalize the rotation")
def _normalize_rotation(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    for name in ("local_rot0", "local_rot1", "remembered_local_rot0", "remembered_local_rot1"):
        # Frames of a file are text.
        is_text = name.startswith("remembered")
        if not joint.is_property_set(name):
            continue
        found = getattr(joint, name)
        value = tuple(map(float, found.split())) if is_text else tuple(found)
        length = math.hypot(*value)
        if not math.isfinite(length) or length == 0:
            joint.property_unset(name)
        elif abs(length - 1) > 1e-3:
            turned = [part / length for part in value]
            setattr(joint, name, " ".join(map(repr, turned)) if is_text else turned)


@_fix("JointFramesApart", "JointFramesTilted", safe=False, label="Use the place of the joint for both frames")
def _forget_frames(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    if not any(map(joint.is_property_set, props.LOCAL_FRAME_FIELDS)):
        raise _nothing_to_do(issue)
    _unset(joint, *props.LOCAL_FRAME_FIELDS)


@_fix("JointJumpsAtStart", safe=False, label="Set the start positions of its articulation from the poses")
def _set_start_positions(scene: Any, issue: FoundIssue) -> None:
    from ..bridge import scene_read

    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    groups = joint_frames.jumps(Facts(reading.model, "physx"))
    found = next((group for group in groups if issue.name in (jump.prim.label for jump in group)), [])
    settable = [(jump, find_object(scene, jump.prim.label)) for jump in found if jump.is_settable]
    chosen = [(jump, _editable(obj)) for jump, obj in settable if obj is not None]
    if not chosen:
        raise _nothing_to_do(issue)
    for jump, obj in chosen:
        place = f"PhysicsJointStateAPI:{jump.dof}", f"state:{jump.dof}:physics:position"
        vendor_edits.add_attribute(obj.usdphys, *place, scene)
        vendor_edits.put_concept(scene, obj.usdphys, "start_position", jump.position, jump.dof)


@_fix("LimitsReversed", safe=True, label="Swap the limits")
def _swap_limits(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    group = getattr(joint, joint.type.lower(), None)
    names = ("min_distance", "max_distance") if joint.type == "DISTANCE" else ("lower_limit", "upper_limit")
    if group is None or not all(map(group.is_property_set, names)):
        raise _nothing_to_do(issue)
    low, high = (getattr(group, name) for name in names)
    if low <= high:
        raise _nothing_to_do(issue)
    setattr(group, names[0], high)
    setattr(group, names[1], low)


@_fix("JointLightFirst", safe=False, label="Swap the bodies")
def _light_second(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    obj = joint.id_data
    if note := joint_edits.swap_bodies(obj):
        joint_edits.swap_bodies(obj)
        raise InputError(note)


@_fix("LimitNotOnJoint", safe=True, label="Remove the limits per degree of freedom")
def _remove_limits(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    if joint.type == "GENERIC":
        raise _nothing_to_do(issue)
    for dof in usd_physics.LimitAPI.instances:
        limit = getattr(joint.limits, dof)
        if limit.is_applied:
            limit.is_applied = False


@_fix("DriveNotOnJoint", safe=True, label="Remove the drive")
def _remove_drives(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    allowed = joint_kinds.BY_IDENTIFIER[joint.type].drives
    for dof, drive in _drives(joint):
        if dof not in allowed:
            drive.is_applied = False


def _drives(joint: Any) -> list[tuple[str, Any]]:
    """(degree of freedom, drive) of the drives that are applied."""
    found = [(dof, getattr(joint.drives, dof)) for dof in usd_physics.DriveAPI.instances]
    return [(dof, drive) for dof, drive in found if drive.is_applied]


@_fix("DriveWithoutGain", safe=False, label="Remove the drive")
def _remove_idle_drives(scene: Any, issue: FoundIssue) -> None:
    for _, drive in _drives(_joint(scene, issue)):
        if not (drive.stiffness or drive.damping) or drive.max_force == 0:
            drive.is_applied = False


@_fix("DriveInvalidValues", safe=True, label="Set negative values to automatic")
def _unset_negative_gains(scene: Any, issue: FoundIssue) -> None:
    for _, drive in _drives(_joint(scene, issue)):
        _unset(drive, *(name for name in ("stiffness", "damping", "max_force") if getattr(drive, name) < 0))


# --------------------------------------------------------------------------- groups and pairs


@_fix("GroupUndefined", safe=True, label="Take the objects out of the group")
def _leave_group(scene: Any, issue: FoundIssue) -> None:
    members = [obj for obj in scene.objects if any(row.name == issue.name for _, row in _memberships(obj))]
    for obj in members:
        _editable(obj)
    for obj in members:
        for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders)):
            for row in reversed(range(len(rows))):
                if rows[row].name == issue.name:
                    rows.remove(row)


@_fix("GroupTargetMissing", safe=True, label="Remove missing groups")
def _remove_missing_groups(scene: Any, issue: FoundIssue) -> None:
    _, group = _group(scene, issue)
    known = {item.name for item in scene.usdphys.collision_groups}
    # A group that is only named by memberships exists, too.
    known.update(row.name for obj in scene.objects for _, row in _memberships(obj))
    rows = group.filtered_groups
    missing = [row for row in range(len(rows)) if rows[row].name not in known]
    if not missing:
        raise _nothing_to_do(issue)
    for row in reversed(missing):
        rows.remove(row)


@_fix("GroupDuplicateTarget", safe=True, label="Remove duplicates")
def _remove_duplicates(scene: Any, issue: FoundIssue) -> None:
    _, group = _group(scene, issue)
    lists = [
        rows for obj in scene.objects if obj.library is None
        for rows in (obj.usdphys.collision_groups, *(item.collision_groups for item in obj.usdphys.colliders))
    ]  # fmt: skip
    _drop_repeated(group.filtered_groups, None)
    for rows in lists:
        _drop_repeated(rows, issue.name)


def _drop_repeated(rows: Any, only: str | None) -> None:
    """Remove rows that repeat an earlier one. only: the name of the rows to look at; None for all."""
    seen, doubled = set(), []
    for row, item in enumerate(rows):
        key = (item.name, getattr(item, "exclude", False))
        if only is not None and item.name != only:
            continue
        if key in seen:
            doubled.append(row)
        seen.add(key)
    for row in reversed(doubled):
        rows.remove(row)


@_fix("GroupEmpty", safe=False, label="Remove the group")
def _remove_group(scene: Any, issue: FoundIssue) -> None:
    row, _ = _group(scene, issue)
    scene.usdphys.collision_groups.remove(row)


@_fix("GroupMergeConflict", safe=False, label="Invert like the first merged group")
def _agree_on_inversion(scene: Any, issue: FoundIssue) -> None:
    _, group = _group(scene, issue)
    first = next(item for item in scene.usdphys.collision_groups if item.merge_group == group.merge_group)
    if bool(first.invert_filtered_groups) == bool(group.invert_filtered_groups):
        raise _nothing_to_do(issue)
    group.invert_filtered_groups = first.invert_filtered_groups


def _pair_lists(scene: Any, issue: FoundIssue) -> tuple[Any, list[Any]]:
    obj = _object(scene, issue)
    owners = (obj.usdphys, *obj.usdphys.colliders)
    return obj, [owner.filtered_pairs.filtered_pairs for owner in owners if owner.filtered_pairs.is_applied]


@_fix("FilteredPairMissing", safe=True, label="Remove missing objects")
def _remove_missing_pairs(scene: Any, issue: FoundIssue) -> None:
    _, lists = _pair_lists(scene, issue)
    missing = []
    for rows in lists:
        for row in reversed(range(len(rows))):
            other = rows[row].object
            if other is not None and find_object(scene, other.name_full) is not None:
                if not other.visible_get():
                    raise InputError(f"'{issue.name}' filters '{other.name}', which is hidden; show it or remove it.")
                continue
            if other is not None or not rows[row].path or rows[row].path in issue.message:
                missing.append((rows, row))
    if not missing:
        raise _nothing_to_do(issue)
    for rows, row in missing:
        rows.remove(row)


@_fix("FilteredPairSelf", safe=True, label="Remove the object from its own pairs")
def _remove_self(scene: Any, issue: FoundIssue) -> None:
    obj, lists = _pair_lists(scene, issue)
    for rows in lists:
        for row in reversed(range(len(rows))):
            if rows[row].object == obj:
                rows.remove(row)


# --------------------------------------------------------------------------- materials


@_fix("MaterialInvalidValues", safe=True, label="Set negative values to automatic")
def _unset_negative_material(_scene: Any, issue: FoundIssue) -> None:
    material = _material(issue)
    names = ("static_friction", "dynamic_friction", "restitution", "density")
    _unset(material, *(name for name in names if getattr(material, name) < 0))


@_fix("RestitutionAboveOne", safe=False, label="Set the restitution to 1")
def _limit_restitution(_scene: Any, issue: FoundIssue) -> None:
    _material(issue).restitution = 1.0


@_fix("FrictionOrder", safe=False, label="Raise the static to the dynamic friction")
def _raise_friction(_scene: Any, issue: FoundIssue) -> None:
    material = _material(issue)
    material.static_friction = material.dynamic_friction


# --------------------------------------------------------------------------- simulators


@_fix("VendorJointApiDead", safe=False, label="Use Newton's words for motor inertia and velocity")
def _convert_dead_joint_api(scene: Any, issue: FoundIssue) -> None:
    obj = _editable(_object(scene, issue))
    if not vendor_edits.convert_joint_api(obj.usdphys):
        raise _nothing_to_do(issue)


@_fix("VendorDeprecated", safe=False, label="Use Newton's words")
def _convert_deprecated(scene: Any, issue: FoundIssue) -> None:
    if issue.kind == "material":
        things: list[Any] = [_material(issue).id_data.usdphys]
    elif issue.kind == "scene":
        things = [item for item in _editable(scene).usdphys.physics_scenes if item.name == issue.name]
    else:
        physics = _editable(_object(scene, issue)).usdphys
        things = [physics, *physics.colliders]
    converted = [vendor_edits.convert_deprecated(scene, thing) for thing in things]
    if not any(converted):
        raise _nothing_to_do(issue)


#: Of a joint that follows another, to either side: a turn, and metres. PhysX takes no more than a turn.
_TURN, _WAY = math.tau, 100.0


@_fix("LimitStiffnessPerRadian", safe=False, label="Write it per radian for PhysX, per degree for others")
def _correct_limits(scene: Any, issue: FoundIssue) -> None:
    if not vendor_edits.correct_limits(scene, _editable(_object(scene, issue)).usdphys):
        raise _nothing_to_do(issue)


@_fix("MimicWithoutLimits", safe=False, label="Limit it to a turn, or to 100 m")
def _limit_follower(scene: Any, issue: FoundIssue) -> None:
    joint = _joint(scene, issue)
    is_hinge = joint.type == "REVOLUTE"
    group = joint.revolute if is_hinge else joint.prismatic
    most = _TURN if is_hinge else _WAY / unit_length(scene)
    for name, value in (("lower_limit", -most), ("upper_limit", most)):
        if not group.is_property_set(name) or is_infinite(getattr(group, name)):
            setattr(group, name, value)


@_fix("CcdNotInScene", safe=False, label="Enable it in the physics scenes")
def _enable_scene_ccd(scene: Any, issue: FoundIssue) -> None:
    items = _editable(scene).usdphys.physics_scenes
    if not len(items):
        items.add().name = "PhysicsScene"
    for item in items:
        vendor_edits.add_attribute(item, "PhysxSceneAPI", "physxScene:enableCCD", scene).text = "true"


@_fix("VendorNeedsArticulation", "VendorNotInArticulation", "VendorOtherApproximation", safe=True,
      label="Remove the settings without effect")  # fmt: skip
def _remove_without_effect(scene: Any, issue: FoundIssue) -> None:
    obj = _editable(_object(scene, issue))
    name = next((word for word in issue.message.replace(",", " ").split() if word.endswith("API")), "")
    for thing in (obj.usdphys, *obj.usdphys.colliders):
        for applied in vendor_rows.applied_names(thing):
            if applied.partition(":")[0] == name:
                vendor_edits.remove_attribute(thing, applied, "")


# --------------------------------------------------------------------------- numbers


@_fix("NotFinite", safe=True, label="Set invalid numbers to automatic")
def _unset_not_a_number(scene: Any, issue: FoundIssue) -> None:
    if issue.kind == "material":
        groups = [_material(issue)]
    elif issue.kind == "scene":
        groups = [item for item in _editable(scene).usdphys.physics_scenes if item.name == issue.name]
    else:
        groups = list(_groups_of(_object(scene, issue).usdphys))
    wrong = [(group, name) for group in groups for name in group.keys() if _is_not_a_number(group, name)]
    if not wrong:
        raise _nothing_to_do(issue)
    for group, name in wrong:
        group.property_unset(name)


def _groups_of(group: Any) -> Iterator[Any]:
    """A property group and all groups below it that are set."""
    yield group
    for name in group.keys():
        value: Any = getattr(group, name)
        if isinstance(value, bpy.types.PropertyGroup):
            yield from _groups_of(value)
        elif group.bl_rna.properties[name].type == "COLLECTION":
            items: Any = value
            for item in items:
                yield from _groups_of(item)


def _is_not_a_number(group: Any, name: str) -> bool:
    if group.bl_rna.properties[name].type != "FLOAT":
        return False
    value = getattr(group, name)
    return any(map(math.isnan, value if hasattr(value, "__len__") else (value,)))
