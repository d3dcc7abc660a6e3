# SPDX-License-Identifier: GPL-3.0-or-later
"""Little scenes for settings of simulators: what a body does without the setting, and with it.

Needs Blender (bpy) with the add-on registered. Settings are made by the operators that the panels draw, and values
through the properties that they draw. All is in metres with Z up; bodies are authored without a rotation.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy

# isort: split
# Outside Blender bpy brings this.
import bmesh

GRAVITY = 9.81
#: Mass (kg), length (m) and thickness (m) of an arm; it turns about its end.
MASS, LENGTH, THICK = 1.0, 1.0, 0.1
TORQUE = MASS * GRAVITY * LENGTH / 2
INERTIA = MASS * (LENGTH**2 + THICK**2) / 12 + MASS * (LENGTH / 2) ** 2
STEP = 1 / 60
LEAST_PATCH = "PhysxCollisionAPI physxCollision:minTorsionalPatchRadius"
HINGE = "Body Hinge"
Span = tuple[float, float]
Build = Callable[[], None]


@dataclass(frozen=True)
class Experiment:
    """One setting, and a measure of the body "Body" (or `watched`) at the end.

    build: makes the scene, with all that both runs share. change: makes the setting.
    measure: "x", "y", "z", "way": metres that it moved; "turn x" and the like: degrees about a world axis; "turned":
    about any axis; "tilt": degrees of its X axis. without, with_: least and most of the measure in each run.
    """

    build: Build
    change: Build
    measure: str
    without: Span
    with_: Span
    seconds: float = 1.5
    targets: frozenset[str] = frozenset({"PHYSX"})
    watched: str = "Body"


def about(value: float, part: float = 0.04, least: float = 0.01) -> Span:
    """The value, give or take a part of it."""
    slack = max(abs(value) * part, least)
    return value - slack, value + slack


# --------------------------------------------------------------------------- objects


def linked(name: str, mesh: Any, place: Sequence[float]) -> Any:
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = place
    return obj


def solid(
    name: str = "Body", place: Sequence[float] = (0, 0, 0), size: Sequence[float] = (0.4, 0.4, 0.4), *,
    moves: bool = True, mass: float = MASS, shape: str = "CUBE", mesh: Any = None,
) -> Any:  # fmt: skip
    """A box, or a mesh, that collides; with moves, a body."""
    if mesh is None:
        made = bmesh.new()
        bmesh.ops.create_cube(made, size=1.0)
        bmesh.ops.scale(made, vec=size, verts=made.verts)
        mesh = bpy.data.meshes.new(name)
        made.to_mesh(mesh)
    obj = linked(name, mesh, place)
    obj.usdphys.colliders.add().shape = shape
    if moves:
        obj.usdphys.rigid_body.is_applied = True
        obj.usdphys.mass.is_applied = True
        obj.usdphys.mass.mass = mass
    return obj


def ball(name: str, place: Sequence[float], radius: float, **more: Any) -> Any:
    """Its mesh has 42 corners, which is less than the hulls of the simulators may have."""
    made = bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=2, radius=radius)
    mesh = bpy.data.meshes.new(name)
    made.to_mesh(mesh)
    return solid(name, place, mesh=mesh, **{"shape": "SPHERE", **more})


def ground(top: float = 0.0, **more: Any) -> Any:
    return solid("Ground", (0, 0, top - 0.5), (60, 60, 1), moves=False, **more)


def cup(name: str, *, moves: bool) -> Any:
    """An open box of 1.2 m with walls of 0.1 m, upright on z = 0, as one mesh."""
    made = bmesh.new()
    parts = [((0, 0, 0.05), (1.2, 1.2, 0.1))]
    parts += [((x, 0, 0.6), (0.1, 1.2, 1.2)) for x in (-0.55, 0.55)]
    parts += [((0, y, 0.6), (1.2, 0.1, 1.2)) for y in (-0.55, 0.55)]
    for middle, size in parts:
        corners = bmesh.ops.create_cube(made, size=1.0)["verts"]
        bmesh.ops.scale(made, vec=size, verts=corners)
        bmesh.ops.translate(made, vec=middle, verts=corners)
    mesh = bpy.data.meshes.new(name)
    made.to_mesh(mesh)
    obj = solid(name, mesh=mesh, shape="MESH", moves=moves, mass=100.0)
    obj.usdphys.colliders[0].approximation = "convexDecomposition" if not moves else "convexHull"
    return obj


def joint(name: str, kind: str, place: Sequence[float], body0: Any, body1: Any, axis: str = "Y") -> Any:
    obj = linked(name, None, place)
    group = obj.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1, group.axis = True, kind, body0, body1, axis
    return obj


def material(name: str, obj: Any, **values: float) -> Any:
    made = bpy.data.materials.new(name)
    group = made.usdphys.physics_material
    group.is_applied = True
    for key, value in values.items():
        setattr(group, key, value)
    obj.data.materials.append(made)
    obj.usdphys.physics_material = made
    return made


def scene_item() -> None:
    bpy.context.scene.usdphys.physics_scenes.add().name = "Scene"


def of(name: str) -> Any:
    return bpy.data.objects[name]


# --------------------------------------------------------------------------- settings, as a person makes them


def put(name: str, key: str, value: Any = True, *, part: str = "object", dof: str = "") -> None:
    """Add a setting and give it a value. name: of an object. part: "object", "collider", "material" or "scene".

    key: a concept of the panels, or "SchemaAPI attribute" as the search of a simulator's box has it.
    """
    vendor_rows = importlib.import_module("usdphys_ext.usdphys_addon.bridge.vendor_rows")
    edits = importlib.import_module("usdphys_ext.usdphys_addon.authoring.vendor_edits")
    concepts = importlib.import_module("usdphys_ext.usdphys_addon.core.concepts").concepts()
    if name:
        bpy.context.view_layer.objects.active = of(name)
    path, thing = {
        "object": lambda: ("object.usdphys", of(name).usdphys),
        "collider": lambda: ("object.usdphys.colliders[0]", of(name).usdphys.colliders[0]),
        "material": lambda: ("material.usdphys", of(name).usdphys.physics_material.usdphys),
        "scene": lambda: ("scene.usdphys.physics_scenes[0]", bpy.context.scene.usdphys.physics_scenes[0]),
    }[part]()
    if key in concepts:
        done = bpy.ops.usdphys.concept_add(data_path=path, concept=key, dof=dof)
        made = edits.rows_of(thing, concepts[key], dof)
        found = made[:1]
    else:
        done = bpy.ops.usdphys.vendor_add(data_path=path, owner=part, attribute=key)
        found = [row for row in thing.vendor if row.name and row.name == key.partition(" ")[2]]
    if done != {"FINISHED"} or not found:
        raise RuntimeError(f"'{key}' was not added to '{name}'")
    for row in found:
        if row.name:
            setattr(row, vendor_rows.view_of(row), value)


def later(*calls: tuple[Any, ...], **more: Any) -> Build:
    """Settings to be made: arguments of `put`; those by name hold for all."""

    def make() -> None:
        for call in calls:
            put(*call, **more)

    return make


def one(key: str, value: Any = True, *, name: str = "Body", **more: Any) -> Build:
    return later((name, key, value), **more)


def of_scene(key: str, value: Any = True) -> Build:
    return later(("", key, value), part="scene")


def both(*makers: Build) -> Build:
    def make() -> None:
        for maker in makers:
            maker()

    return make


# --------------------------------------------------------------------------- scenes


def free(spin: float = 0.0, speed: float = 0.0) -> Build:
    """A body in free fall. spin: degrees per second about Z. speed: along X."""

    def build() -> None:
        group = solid().usdphys.rigid_body
        group.angular_velocity, group.velocity = (0, 0, math.radians(spin)), (speed, 0, 0)

    return build


def tumbler() -> None:
    """It spins about its middle axis of inertia, and a little about another."""
    obj = solid()
    obj.usdphys.mass.diagonal_inertia = (2.0, 3.0, 1.0)
    obj.usdphys.rigid_body.angular_velocity = (math.radians(400), 0.0, math.radians(4))


def above_ground(gap: float = 0.2) -> Build:
    def build() -> None:
        ground()
        solid(place=(0, 0, 0.2 + gap))

    return build


def bullet() -> None:
    scene_item()
    solid("Wall", (12, 0, 0), (0.02, 20, 20), moves=False)
    obj = ball("Body", (0, 0, 0), 0.05)
    obj.usdphys.rigid_body.velocity = (200, 0, 0)


def slider() -> None:
    material("Ice", ground(), static_friction=0.0, dynamic_friction=0.0)
    obj = solid(place=(0, 0, 0.2))
    material("Rough", obj, static_friction=0.8, dynamic_friction=0.8)
    obj.usdphys.rigid_body.velocity = (3, 0, 0)


def bouncer() -> None:
    material("Dead", ground(), restitution=0.0)
    material("Lively", ball("Body", (0, 0, 2.2), 0.2), restitution=0.9)


def soft_ground() -> None:
    material("Soft", ground())
    material("Hard", ball("Body", (0, 0, 0.2), 0.2))


def spinner() -> None:
    """A ball that spins on one point."""
    material("Floor", ground(), static_friction=1.0, dynamic_friction=1.0)
    obj = ball("Body", (0, 0, 0.2), 0.2)
    material("Ball", obj, static_friction=1.0, dynamic_friction=1.0)
    obj.usdphys.rigid_body.angular_velocity = (0, 0, math.radians(90))


def belt() -> None:
    obj = solid("Belt", (0, 0, -0.5), (60, 2, 1))
    obj.usdphys.rigid_body.kinematic_enabled = True
    solid(place=(0, 0, 0.2))


def roller() -> None:
    """A round mesh that rolls as long as its hull is round."""
    ground()
    obj = ball("Body", (0, 0, 0.2), 0.2, shape="MESH")
    obj.usdphys.colliders[0].approximation = "convexHull"
    obj.usdphys.rigid_body.velocity = (3, 0, 0)
    obj.usdphys.rigid_body.angular_velocity = (0, 15, 0)


def cup_below(*, moves: bool) -> Build:
    def build() -> None:
        ground()
        cup("Cup", moves=moves)
        ball("Body", (0, 0, 2.2), 0.2)

    return build


def rolling_ball() -> None:
    ground()
    body = ball("Body", (0, 0, 0.2), 0.2).usdphys.rigid_body
    body.velocity, body.angular_velocity = (0.4, 0, 0), (0, 2, 0)


def heavy_on_light() -> None:
    """A stack, each body ten times as heavy as the one below, with one iteration."""
    ground()
    for index in range(4):
        name = f"Body {index}" if index else "Body"
        solid(name, (0, 0, 0.2 + 0.4 * index), mass=10.0**index)
        put(name, "iterations", 1)


def iterate() -> None:
    for obj in bpy.context.scene.objects:
        if obj.name.startswith("Body"):
            put(obj.name, "iterations", 255)


def arm(name: str = "Body", body0: Any = None, place: Sequence[float] = (0, 0, 0), axis: str = "Y") -> Any:
    """An arm along X that a hinge holds at its end. Returns the hinge. A positive angle about Y lowers the arm."""
    x, y, z = place
    body = solid(name, (x + LENGTH / 2, y, z), (LENGTH, THICK, THICK))
    return joint(f"{name} Hinge", "REVOLUTE", place, body0, body, axis)


def stand(name: str = "Base", place: Sequence[float] = (0, 0, 0)) -> Any:
    """A body that is fixed to the world, the root of an articulation."""
    base = solid(name, place, (0.2, 0.2, 0.2), mass=10.0)
    base.usdphys.articulation_root.is_applied = True
    joint(f"{name} Fix", "FIXED", place, None, base)
    return base


def articulated_arm(limit: float | None = None, axis: str = "Y") -> Build:
    """limit: largest angle in degrees."""

    def build() -> None:
        hinge = arm(body0=stand(), axis=axis)
        if limit is not None:
            hinge.usdphys.joint.revolute.lower_limit = -math.radians(170)
            hinge.usdphys.joint.revolute.upper_limit = math.radians(limit)

    return build


def plain_arm(limit: float, kind: str = "REVOLUTE") -> Build:
    def build() -> None:
        if kind == "REVOLUTE":
            hinge = arm()
            hinge.usdphys.joint.revolute.lower_limit = -math.radians(170)
            hinge.usdphys.joint.revolute.upper_limit = math.radians(limit)
            return
        body = solid("Body", (LENGTH / 2, 0, 0), (LENGTH, THICK, THICK))
        held = joint("Body Hinge", kind, (0, 0, 0), None, body, "X").usdphys.joint
        if kind == "SPHERICAL":
            held.spherical.cone_angle0_limit = held.spherical.cone_angle1_limit = math.radians(limit)
            return
        for dof in ("transX", "transY", "transZ", "rotX", "rotZ"):
            lock = getattr(held.limits, dof)
            lock.is_applied, lock.low, lock.high = True, 1.0, -1.0
        held.limits.rotY.is_applied = True
        held.limits.rotY.low, held.limits.rotY.high = -math.radians(limit), math.radians(limit)

    return build


def hanging_slide() -> None:
    """A body on a vertical slide that ends 0.1 m below."""
    body = solid()
    slide = joint("Slide", "PRISMATIC", (0, 0, 0), None, body, "Z").usdphys.joint.prismatic
    slide.lower_limit, slide.upper_limit = -0.1, 0.1


def hanging_body() -> None:
    """A body on a rope of 1 m. PhysX lets it go 0.025 m farther, as it does without a spring."""
    body = solid()
    held = joint("Rope", "DISTANCE", (0, 0, 1), None, body).usdphys.joint
    held.local_pos0, held.local_pos1 = (0, 0, 1), (0, 0, 0)
    held.distance.max_distance = 1.0


def hung_fixed() -> None:
    joint("Fix", "FIXED", (0, 0, 0), None, solid())


def driven(hinge: Any, target: float) -> None:
    """A strong drive of a hinge to an angle in degrees."""
    drive = hinge.usdphys.joint.drives.angular
    drive.is_applied, drive.type = True, "acceleration"
    drive.stiffness, drive.damping, drive.target_position = 8.0, 1.0, math.radians(target)


def two_hinges() -> None:
    """A leader that is driven to 30 degrees, and a follower; both turn about Z."""
    base = stand()
    leader = arm("Leader", base, (0, 0, 0.5), "Z")
    follower = arm("Body", base, (0, 0, -0.5), "Z")
    driven(leader, 30.0)
    for hinge in (leader, follower):
        limits = hinge.usdphys.joint.revolute
        limits.lower_limit, limits.upper_limit = -math.radians(150), math.radians(150)


def two_slides() -> None:
    base = stand()
    for name, y in (("Leader", 1.0), ("Body", -1.0)):
        slide = joint(f"{name} Hinge", "PRISMATIC", (0, y, 0), base, solid(name, (0, y, 0)), "X").usdphys.joint
        slide.prismatic.lower_limit, slide.prismatic.upper_limit = -2.0, 2.0
        if name == "Leader":
            slide.drives.linear.is_applied = True
            slide.drives.linear.type = "acceleration"
            slide.drives.linear.stiffness, slide.drives.linear.damping = 400.0, 40.0
            slide.drives.linear.target_position = 0.25


def two_wheels() -> None:
    """Two plain hinges about Z, the first one driven to 30 degrees."""
    leader = arm("Leader", None, (0, 0, 0.5), "Z")
    arm("Body", None, (0, 0, -0.5), "Z")
    driven(leader, 30.0)


def wheel_and_slide() -> None:
    """A plain hinge about Z, driven to 45 degrees, and a slide along X."""
    driven(arm("Leader", None, (0, 0, 0.5), "Z"), 45.0)
    joint("Body Hinge", "PRISMATIC", (0, 0, -0.5), None, solid("Body", (0, 0, -0.5)), "X")


def couple(ratio: float = 2.0, radius: float = 0.5) -> Build:
    def make() -> None:
        for obj in bpy.context.scene.objects:
            obj.select_set(obj.name in ("Leader Hinge", "Body Hinge"))
        bpy.context.view_layer.objects.active = of("Leader Hinge")
        bpy.ops.usdphys.joint_couple(ratio=ratio, radius=radius)

    return make


def pushed_links() -> None:
    """An arm of three links whose last is pulled along -X, onto the first, 0.8 m away; neighbours never collide."""
    base = stand()
    middle = solid("Middle", (0.0, 2.0, 0.0), (0.2, 0.2, 0.2))
    # No fixed joint: MuJoCo would take both as one body, the last one's neighbour.
    held = joint("Middle Slide", "PRISMATIC", (0, 1, 0), base, middle).usdphys.joint
    held.prismatic.lower_limit, held.prismatic.upper_limit = -0.001, 0.001
    last = solid("Body", (1.0, 0.0, 0.0), (0.2, 0.2, 0.2))
    slide = joint("Slide", "PRISMATIC", (1, 0, 0), middle, last, "X").usdphys.joint
    slide.prismatic.lower_limit, slide.prismatic.upper_limit = -1.0, 1.0
    drive = slide.drives.linear
    drive.is_applied, drive.stiffness, drive.damping, drive.target_position = True, 100.0, 20.0, -1.0


# --------------------------------------------------------------------------- answers


def fallen(
    seconds: float, *, inertia: float = INERTIA, damping: float = 0.0, most: float = math.inf, speed: float = 0.0
) -> float:
    """Degrees that a level arm has turned. damping: N m s per radian. most: largest rate. speed: the first; rad/s."""
    angle, rate, parts = 0.0, speed, 20000
    for _ in range(parts):
        rate = min(rate + (TORQUE * math.cos(angle) - damping * rate) / inertia * seconds / parts, most)
        angle += rate * seconds / parts
    return math.degrees(angle)


def held_by(stiffness: float, limit: float) -> float:
    """Degrees at which a limit spring (N m per radian) holds an arm."""
    low, high = limit, 90.0
    for _ in range(60):
        middle = (low + high) / 2
        is_lower = stiffness * math.radians(middle - limit) < TORQUE * math.cos(math.radians(middle))
        low, high = (middle, high) if is_lower else (low, middle)
    return low


def dropped(seconds: float) -> float:
    return -GRAVITY * seconds**2 / 2


def drag_fall(seconds: float, damping: float) -> float:
    """Metres that a body falls whose speed is damped by a share per second."""
    return -GRAVITY / damping * (seconds - (1 - math.exp(-damping * seconds)) / damping)


PER_DEGREE = math.degrees(1.0)
FALL = about(dropped(1.5))
STILL = about(0.0, least=0.02)
#: Degrees.
FIRM = about(0.0, least=1.5)
NEUTRAL = frozenset({"NEUTRAL"})


def in_physx() -> dict[str, Experiment]:
    """By the name that the list of runs has for it; what PhysX ignores there must change nothing."""
    made = bodies() | contacts() | joints() | newtons_words()
    ignored = {name: replace(made[name], with_=made[name].without) for name in ("n_limitStiffness", "nfric_mat")}
    return made | ignored


def in_newton() -> dict[str, Experiment]:
    """The same for what Newton reads.

    MuJoCo's solver there has no margin, largest speed, torsional friction and soft contacts. It takes the stiffness of
    a limit for the inertia that it acts on, so it is softer.
    """
    made = newtons_words()
    ignored = ("n_velocityLimit", "n_contactMargin", "nfric_mat")
    changed = {name: replace(made[name], with_=made[name].without) for name in ignored}
    changed["n_limitStiffness"] = replace(made["n_limitStiffness"], without=(-5.0, 15.0), with_=(20.0, 70.0))
    soft = contacts()["compliantContact"]
    changed["compliantContact"] = replace(soft, with_=soft.without, targets=frozenset({"NEWTON"}))
    return made | changed


def bodies() -> dict[str, Experiment]:
    turned = about(90 / 0.05 * (1 - math.exp(-0.05 * 1.5)))
    passed, stopped = (50.0, 400.0), (-5.0, 12.0)
    ccd = both(of_scene("scene_ccd"), one("ccd"))
    return {
        "disableGravity": Experiment(free(), one("no_gravity"), "z", FALL, STILL),
        "linearDamping": Experiment(free(), one("linear_damping", 2.0), "z", FALL, about(drag_fall(1.5, 2.0))),
        "angularDamping": Experiment(
            free(90), one("angular_damping", 5.0), "turn z", turned, about(90 / 5 * (1 - math.exp(-5 * 1.5)), 0.1)),
        # It reaches 2 m/s after 0.2 s.
        "maxLinearVelocity": Experiment(
            free(), one("max_speed", 2.0), "z", FALL, about(-(2 * 1.5 - 2**2 / 2 / GRAVITY), 0.06)),
        "maxAngularVelocity": Experiment(
            free(90), one("max_spin", math.radians(10)), "turn z", turned, about(14.7, 0.06)),
        "lockedPosAxis": Experiment(free(speed=1), one("locked_position", 4), "z", FALL, STILL),
        "lockedRotAxis": Experiment(free(90), one("locked_rotation", 4), "turn z", turned, FIRM),
        "gyroscopic": Experiment(tumbler, one("gyroscopic", False), "tilt", (20.0, 180.0), (0.0, 10.0)),
        "PhysxForceAPI": Experiment(free(), one("force", (5.0, 0.0, 0.0)), "x", STILL, about(5 * 1.5**2 / 2)),
        "solveContact": Experiment(
            above_ground(), one("PhysxRigidBodyAPI physxRigidBody:solveContact", False), "z", about(-0.2), FALL),
        "ccd_body": Experiment(bullet, ccd, "x", passed, stopped),
        "ccd_spec": Experiment(bullet, one("speculative_ccd"), "x", passed, stopped),
        "maxDepenetrationVelocity": Experiment(
            above_ground(-0.2), one("max_depenetration", 0.1), "z", (0.19, 0.5), about(0.15, least=0.03)),
        "sleepThreshold": Experiment(rolling_ball, one("sleep", 10.0), "x", about(0.6, 0.06), (0.0, 0.4)),
        "solverPositionIterations": Experiment(heavy_on_light, iterate, "way", (0.02, 60.0), (0.0, 0.01)),
        "maxContactImpulse": Experiment(above_ground(), one("max_impulse", 0.01), "z", about(-0.2), (-11.2, -10.0)),
        "surfaceVelocity": Experiment(
            belt, one("surface_velocity", (1.0, 0.0, 0.0), name="Belt"), "x", STILL, about(1.5, 0.1)),
    }  # fmt: skip


def contacts() -> dict[str, Experiment]:
    body, slid = "Body", about(9 / (2 * 0.4 * GRAVITY))
    # After a fall of 2 m, 0.64 s, it flies up with 0.9 of its speed, for 0.86 s.
    fall = math.sqrt(2 * 2 / GRAVITY)
    up = -2 + 0.9 * GRAVITY * fall * (1.5 - fall) - GRAVITY * (1.5 - fall) ** 2 / 2
    soft = later((body, "contact_stiffness", 100.0), (body, "contact_damping", 30.0), part="material")
    # The offset of rest has to be below that of contact.
    offsets = later((body, "contact_offset", 0.15), (body, "margin", 0.1), part="collider")
    patch = later(
        *(
            (name, key, value)
            for key, value in (("patch_radius", 0.2), (LEAST_PATCH, 0.1))
            for name in (body, "Ground")
        ),
        part="collider",
    )
    inside, on_top = (-1.92, -1.85), (-1.0, -0.7)
    return {
        "frictionCombine_max": Experiment(
            slider, one("friction_combine", "max", part="material"), "x", slid, about(9 / (1.6 * GRAVITY))),
        "frictionCombine_min": Experiment(
            slider, one("friction_combine", "min", part="material"), "x", slid, about(4.5)),
        "restitutionCombine_max": Experiment(
            bouncer, one("restitution_combine", "max", part="material"), "z", (-2.0, -1.9), about(up, least=0.2)),
        "compliantContact": Experiment(soft_ground, soft, "z", STILL, about(-0.0981, least=0.02)),
        "restOffset": Experiment(above_ground(), offsets, "z", about(-0.2), about(-0.1)),
        "contactOffset_fast": Experiment(
            bullet, one("contact_offset", 4.0, part="collider"), "x", (50.0, 400.0), (-200.0, 12.0)),
        "torsionalPatchRadius": Experiment(spinner, patch, "turn z", about(130.0), (0.0, 20.0)),
        "hullVertexLimit": Experiment(
            roller, one("hull_vertices", 6, part="collider"), "x", (2.0, 5.0), (0.0, 1.8)),
        "decomp_maxHulls1": Experiment(
            cup_below(moves=False), one("max_hulls", 1, name="Cup", part="collider"), "z", inside, on_top),
        "sdf": Experiment(cup_below(moves=True), approximated("sdf"), "z", on_top, inside),
        "sphereFill": Experiment(cup_below(moves=True), approximated("sphereFill"), "z", on_top, (-2.1, -1.2)),
        "PhysxTriggerAPI": Experiment(above_ground(), one("trigger", part="collider"), "z", about(-0.2), FALL),
    }  # fmt: skip


def approximated(word: str) -> Build:
    def make() -> None:
        collider = of("Cup").usdphys.colliders[0]
        collider.property_unset("approximation")
        collider.other_approximation = word
        if word == "sdf":
            put("Cup", "sdf_resolution", 64, part="collider")

    return make


def joints() -> dict[str, Experiment]:
    # PhysX takes the stiffness of an angle per radian. The spring is damped so that it comes to rest.
    soft, hard = about(held_by(20.0, 10.0), 0.07), about(10.0, least=0.6)
    # One field for all, per degree: the panel writes the number that PhysX needs for it.
    both_ = later((HINGE, "limit_stiffness", math.radians(20.0)), (HINGE, "limit_damping", math.radians(5.0)))
    linear = later(("Slide", "limit_stiffness", 100.0), ("Slide", "limit_damping", 10.0))
    rope = later(("Rope", "spring"), ("Rope", "spring_stiffness", 50.0), ("Rope", "spring_damping", 10.0))
    axis = "PhysxJointAxisAPI:angular physxJointAxis:angular"
    down, fast, rate = about(fallen(0.4)), math.radians(90), math.radians(20)

    def limit(dof: str) -> Build:
        schema = f"PhysxLimitAPI:{dof} physxLimit:{dof}"
        return later((HINGE, f"{schema}:stiffness", 20.0), (HINGE, f"{schema}:damping", 5.0))

    # Plain joints have no friction of articulations.
    rough = both(articulated_arm(), one("static_friction", 8.0, name=HINGE, dof="angular"))
    found = {
        name: Experiment(plain_arm(10.0, kind), limit(dof), "turn y", hard, soft, 4.0)
        for name, kind, dof in (("soft_limit_rev", "REVOLUTE", "angular"), ("soft_cone", "SPHERICAL", "cone"),
                                ("soft_d6_rotY", "GENERIC", "rotY"))
    } | {
        "soft_limit_both": Experiment(
            plain_arm(10.0, "REVOLUTE"), both_, "turn y", hard, soft, 4.0, frozenset({"NEUTRAL", "PHYSX"})),
        "softfit_lin_100": Experiment(hanging_slide, linear, "z", about(-0.1), about(-0.1981), 3.0),
        "distance_spring": Experiment(hanging_body, rope, "z", about(-0.025), about(-0.025 - GRAVITY / 50), 3.0),
        "breakForce": Experiment(
            hung_fixed, lambda: setattr(of("Fix").usdphys.joint, "break_force", 5.0), "z", STILL, about(dropped(1.5))),
        "gear": Experiment(two_wheels, couple(ratio=2.0), "turn z", FIRM, about(-15.0, 0.1), 3.0),
        "rack": Experiment(
            wheel_and_slide, couple(radius=0.5), "x", STILL, about(0.5 * math.radians(45), 0.1), 3.0),
        "a_state_angular": Experiment(
            posed_arm, one("start_position", math.radians(45), name=HINGE, dof="angular"), "turn y", (0.0, 3.0),
            about(45.0, least=1.0), 2 * STEP),
        "a_state_vel": Experiment(
            articulated_arm(), one("start_velocity", fast, name=HINGE, dof="angular"), "turn y", about(fallen(0.3)),
            about(fallen(0.3, speed=fast)), 0.3),
        "a_selfcollision_off": Experiment(
            pushed_links, one("self_collision", False, name="Base"), "x", about(-0.8, least=0.03),
            about(-1.0, least=0.03), 4.0),
        "a_articulationEnabled_off": Experiment(
            rough, one("articulation_enabled", False, name="Base"), "turn y", FIRM, down, 0.4),
        "a_mimic_physx": Experiment(two_hinges, follow_in_physx, "turn z", FIRM, about(60.0), 3.0),
    }  # fmt: skip
    for name, key, value, with_, dof in (
        ("a_maxJointVel_new", "joint_speed", rate, about(fallen(0.4, most=rate), 0.08), ""),
        ("a_friction_new", "static_friction", 8.0, FIRM, "angular"),
        ("a_viscous_new", "joint_damping", 0.1, about(fallen(0.4, damping=0.1 * PER_DEGREE), 0.08), ""),
        ("a_armature_new", f"{axis}:armature", 1.0, about(fallen(0.4, inertia=INERTIA + 1.0), 0.05), ""),
        # What PhysX ignores.
        ("a_maxJointVel_old", "PhysxJointAPI physxJoint:maxJointVelocity", rate, down, ""),
        ("a_friction_old", "PhysxJointAPI physxJoint:jointFriction", 8.0, down, ""),
        ("a_armature_old", "PhysxJointAPI physxJoint:armature", 5.0, down, ""),
    ):
        found[name] = Experiment(articulated_arm(), one(key, value, name=HINGE, dof=dof), "turn y", down, with_, 0.4)
    return found


def posed_arm() -> None:
    """A drive holds it at 45 degrees, where it is only in time."""
    articulated_arm()()
    driven(of(HINGE), 45.0)


def follow_in_physx() -> None:
    name = "PhysxMimicJointAPI:rotZ"
    for key, value in (("Joint", of("Leader Hinge")), ("JointAxis", "rotZ")):
        put(HINGE, f"{name} physxMimicJoint:rotZ:reference{key}", value)
    put(HINGE, f"{name} physxMimicJoint:rotZ:gearing", -2.0)


def newtons_words() -> dict[str, Experiment]:
    """What Newton's own words do; PhysX reads most of them."""
    down, rate = about(fallen(0.4)), math.radians(20)
    follow: Build = lambda: later((HINGE, "mimic_joint", of("Leader Hinge")), (HINGE, "mimic_ratio", 2.0))()  # noqa: E731
    spring = later((HINGE, "limit_stiffness", 20.0 / PER_DEGREE), (HINGE, "limit_damping", 0.2))
    rough = later(*((name, "torsional_friction", 0.2) for name in ("Body", "Ground")), part="material")
    found = {
        name: Experiment(articulated_arm(), one(key, value, name=HINGE), "turn y", down, with_, 0.4)
        for name, key, value, with_ in (
            ("a_armature_newton", "joint_armature", 1.0, about(fallen(0.4, inertia=INERTIA + 1.0), 0.05)),
            ("a_friction_newton", "joint_friction", 8.0, FIRM),
            ("n_damping", "joint_damping", 0.1, about(fallen(0.4, damping=0.1 * PER_DEGREE), 0.08)),
            ("n_velocityLimit", "joint_speed", rate, about(fallen(0.4, most=rate), 0.08)),
        )
    } | {
        "a_mimic_newton": Experiment(two_hinges, follow, "turn z", FIRM, about(60.0), 3.0),
        "mimic_prismatic_newton": Experiment(two_slides, follow, "x", STILL, about(0.5), 3.0),
        "a_selfcol_newton_off": Experiment(
            pushed_links, one("self_collision", False, name="Base"), "x", about(-0.8, least=0.03),
            about(-1.0, least=0.03), 4.0),
        "n_contactMargin": Experiment(
            above_ground(), one("margin", 0.1, part="collider"), "z", about(-0.2), about(-0.1)),
        "n_maxHullVertices": Experiment(
            roller, one("hull_vertices", 6, part="collider"), "x", (2.0, 5.0), (0.0, 1.8)),
        "n_limitStiffness": Experiment(
            articulated_arm(10.0), spring, "turn y", about(10.0, least=0.8), about(held_by(20.0, 10.0), 0.08), 4.0),
        "nfric_mat": Experiment(spinner, rough, "turn z", about(130.0, 0.06), (0.0, 60.0)),
    }  # fmt: skip
    return {name: replace(made, targets=NEUTRAL) for name, made in found.items()}
