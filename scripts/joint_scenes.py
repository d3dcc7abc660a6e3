# SPDX-License-Identifier: GPL-3.0-or-later
"""Little scenes for what the guide of PhysX says about joints: what a body does without it, and with it.

As those of vendor_scenes.py, in metres with Z up; made by the operators of the panels and the properties they draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import vendor_scenes as base
from vendor_scenes import FALL, FIRM, GRAVITY, LENGTH, STILL, THICK, Build, Experiment, about, both, fallen, of

#: Degrees a second, and those that a body has turned by after a second and a half; PhysX damps by 0.05.
SPIN = 40.0
TURNED = about(SPIN / 0.05 * (1 - math.exp(-0.05 * 1.5)))
RATE = math.radians(SPIN)
DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def weightless() -> None:
    bpy.context.scene.use_gravity = False


def active(name: str = "Joint") -> Any:
    """A joint as the one that operators act on. Returns its group."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj.name == name)
    bpy.context.view_layer.objects.active = of(name)
    return of(name).usdphys.joint


def preset(name: str) -> Build:
    return click("joint_preset", preset=name)


def done(status: set[str]) -> None:
    if status != {"FINISHED"}:
        raise RuntimeError("An operator did nothing.")


def locked(*place: Any, axis: str = "X", kind: str = "GENERIC") -> Any:
    """A body that a joint to the world holds at the origin, a generic one by all. place: arguments of `solid`."""
    body = base.solid(*place)
    base.joint("Joint", kind, (0, 0, 0), None, body, axis)
    active()
    for dof in DOFS if kind == "GENERIC" else ():
        done(bpy.ops.usdphys.joint_motion(dof=dof, motion="LOCKED"))
    return body


def generic(velocity: Sequence[float] = (0, 0, 0), spin: Sequence[float] = (0, 0, 0), *, weight: bool = False) -> Build:
    """A cube whose generic joint to the world locks all. velocity: m/s; spin: rad/s."""

    def build() -> None:
        if not weight:
            weightless()
        body = locked()
        body.usdphys.rigid_body.velocity, body.usdphys.rigid_body.angular_velocity = velocity, spin

    return build


def limited(free: Sequence[str] = (), **limits: tuple[float, float]) -> Build:
    """Free or limit degrees of freedom of a generic joint; limits in metres and radians."""

    def make() -> None:
        group = active()
        for dof in (*free, *(name for name in limits if name in DOFS)):
            done(bpy.ops.usdphys.joint_motion(dof=dof, motion="FREE" if dof in free else "LIMITED"))
        for dof, (low, high) in limits.items():
            limit = getattr(group.limits, dof)
            limit.is_applied, limit.low, limit.high = True, low, high

    return make


def rod(kind: str, along: int = 0, *, pull: Sequence[float] = (0, 0, -GRAVITY)) -> Build:
    """An arm along an axis, which that of a ball joint is, held at its end; a generic joint locks all.

    along: 0, 1 or 2. pull: gravity.
    """

    def build() -> None:
        bpy.context.scene.gravity = pull
        place, size = [0.0] * 3, [THICK] * 3
        place[along], size[along] = LENGTH / 2, LENGTH
        locked("Body", place, size, axis="XYZ"[along] if kind == "SPHERICAL" else "X", kind=kind)

    return build


def cone(first: float, second: float) -> Build:
    """Largest angles of a ball joint in degrees: towards Y, and towards Z."""
    return put(spherical__cone_angle0_limit=math.radians(first), spherical__cone_angle1_limit=math.radians(second))


def put(**values: Any) -> Build:
    """Values of the joint; `distance__max_distance` is in a group of it."""

    def make() -> None:
        for name, value in values.items():
            *groups, last = name.split("__")
            owner = active()
            for group in groups:
                owner = getattr(owner, group)
            setattr(owner, last, value)

    return make


def drive(dof: str, **values: Any) -> Build:
    return put(**{f"drives__{dof}__{name}": value for name, value in {"is_applied": True, **values}.items()})


def slide(axis: str = "Z", mass: float = 1.0, *, weight: bool = True) -> Build:
    def build() -> None:
        if not weight:
            weightless()
        base.joint("Joint", "PRISMATIC", (0, 0, 0), None, base.solid(mass=mass), axis)

    return build


def hinge(*, weight: bool = False, limit: float | None = None, axis: str = "Z") -> Build:
    """An arm on a hinge. limit: largest angle in degrees."""

    def build() -> None:
        if not weight:
            weightless()
        obj = base.arm(axis=axis)
        obj.name = "Joint"
        if limit is not None:
            obj.usdphys.joint.revolute.lower_limit = -math.radians(170)
            obj.usdphys.joint.revolute.upper_limit = math.radians(limit)

    return build


def tied(*, above: bool) -> Build:
    """A body that a distance joint ties to a point one metre above or below it, as yet of any length."""

    def build() -> None:
        height = 1.0 if above else -1.0
        held = base.joint("Joint", "DISTANCE", (0, 0, height), None, base.solid()).usdphys.joint
        held.local_pos0, held.local_pos1 = (0, 0, height), (0, 0, 0)

    return build


def wall_and_slide() -> None:
    """A body that flies at one which is fixed to the world, 0.3 m away, on a slide between both."""
    weightless()
    stop = base.solid("Stop")
    base.joint("Fix", "FIXED", (0, 0, 0), None, stop)
    body = base.solid("Body", (0.7, 0, 0))
    body.usdphys.rigid_body.velocity = (-1, 0, 0)
    base.joint("Joint", "PRISMATIC", (0.35, 0, 0), stop, body, "X")


def turned(angles: Sequence[float]) -> float:
    """Degrees of the rotation Rz Ry Rx by angles in degrees."""
    from mathutils import Euler

    return math.degrees(Euler([math.radians(angle) for angle in angles], "XYZ").to_quaternion().angle)


def aimed() -> None:
    """Drives of a ball joint to 20, 30 and 40 degrees; one has gains, and the operator gives them to the others."""
    drive("rotX", type="acceleration", stiffness=8.0, damping=1.0)()
    for dof in ("rotY", "rotZ"):
        drive(dof, type="acceleration")()
    done(bpy.ops.usdphys.joint_equal_gains(dof="rotX"))
    for dof, angle in zip(("rotX", "rotY", "rotZ"), (20.0, 30.0, 40.0), strict=True):
        drive(dof, target_position=math.radians(angle))()


def experiments() -> dict[str, Experiment]:
    return types() | presets() | limits() | drives() | tools()


def types() -> dict[str, Experiment]:
    fixed = both(rod("FIXED"), put(break_torque=20.0))
    held = both(slide(), drive("linear", stiffness=1e4, damping=1e3))
    unfix: Build = lambda: setattr(active("Fix"), "joint_enabled", False)  # noqa: E731
    return {
        # PhysX lets the distance be 0.025 m too large or small.
        "distance_max": Experiment(
            tied(above=True), put(distance__max_distance=1.3), "z", FALL, about(-0.3, least=0.04)),
        "distance_min": Experiment(
            tied(above=False), put(distance__min_distance=0.8), "z", FALL, about(-0.2, least=0.04)),
        "break_torque": Experiment(fixed, put(break_torque=2.0), "z", STILL, (-20.0, -5.0)),
        # What a drive does is not counted.
        "break_not_by_drive": Experiment(held, put(break_force=5.0), "z", STILL, STILL),
        "joint_enabled": Experiment(base.hung_fixed, unfix, "z", STILL, FALL),
        "collision_enabled": Experiment(
            wall_and_slide, put(collision_enabled=True), "x", about(-1.5), about(-0.3, least=0.03)),
    }  # fmt: skip


def presets() -> dict[str, Experiment]:
    by = sum(TURNED) / 2
    found = {
        f"{name.lower()}_moves": Experiment(
            generic((1, 1, 1)), preset(name), "way", STILL, about(1.5 * math.sqrt(number)))
        for number, names in ((1, ("CYLINDRICAL", "POINT_ON_LINE", "SLIDE")), (2, ("POINT_ON_PLANE", "PLANAR")),
                              (3, ("FREE",)))
        for name in names
    }  # fmt: skip
    every, x, y, z, all_turn = (RATE,) * 3, (RATE, 0, 0), (0, RATE, 0), (0, 0, RATE), about(by * math.sqrt(3))
    for name, label, spin, angle in (
        ("CYLINDRICAL", "turns", every, TURNED), ("POINT_ON_LINE", "turns", every, all_turn),
        ("POINT_ON_PLANE", "turns", every, all_turn), ("PLANAR", "turns", every, TURNED),
        ("BALL", "turns", every, all_turn), ("HINGE", "turns", every, TURNED),
        ("UNIVERSAL", "x", x, TURNED), ("UNIVERSAL", "y", y, TURNED), ("UNIVERSAL", "z", z, FIRM),
        ("ZERO_TWIST", "x", x, FIRM), ("ZERO_TWIST", "y", y, TURNED), ("ZERO_TWIST", "z", z, TURNED),
    ):  # fmt: skip
        found[f"{name.lower()}_{label}"] = Experiment(generic((0, 0, 0), spin), preset(name), "turned", FIRM, angle)
    return found


def limits() -> dict[str, Experiment]:
    free = ("transX", "transY", "transZ")
    swing = (-math.radians(20), math.radians(20))
    aslant = (0, -GRAVITY / math.sqrt(2), -GRAVITY / math.sqrt(2))
    found = {
        "d6_linear": Experiment(
            generic(weight=True), limited(transZ=(-0.3, 0.1)), "z", STILL, about(-0.3, least=0.02)),
        # The place stays in a ball: PhysX reads the upper end.
        "d6_distance": Experiment(
            generic(weight=True), limited(free, distance=(0.0, 0.5)), "z", STILL, about(-0.5, least=0.03)),
        "d6_twist": Experiment(
            rod("GENERIC", 1), limited(rotX=(-math.radians(20), math.radians(45))), "turn x", FIRM,
            about(-20.0, least=1.0), 3.0),
        # Both limits at once, a box; a cone would stop it at 20 degrees.
        "d6_swing_box": Experiment(
            rod("GENERIC", pull=aslant), limited(rotY=swing, rotZ=swing), "tilt", FIRM, (26.0, 29.5), 3.0),
        "cone_round": Experiment(
            rod("SPHERICAL", pull=aslant), cone(20, 20), "tilt", (20.5, 180.0), about(20.0, least=0.6), 3.0),
        # It meets the limit with 2.8 m/s and would rise by 0.1 m; PhysX stops it in the step before, by which it is
        # slower.
        "bounce": Experiment(
            pgs_slide, base.one("limit_bounce", 0.5, name="Joint", dof="linear"), "z", about(-0.4, least=0.02),
            (-0.36, -0.29), 0.4),
        "hinge_low": Experiment(
            hinge(weight=True, axis="Y"), put(revolute__lower_limit=-1.0, revolute__upper_limit=math.radians(30)),
            "turn y", (60.0, 180.0), about(30.0, least=1.0), 0.8),
        "slide_low": Experiment(
            slide(), put(prismatic__lower_limit=-0.4, prismatic__upper_limit=0.1), "z", FALL,
            about(-0.4, least=0.02)),
    }  # fmt: skip
    # PhysX turns about the next axis by the first angle, where the schema says that it tilts towards it.
    for along in range(3):
        for angle, steps in ((10.0, 1), (40.0, 2)):
            towards = (along + steps) % 3
            pull = tuple(GRAVITY if number == towards else 0.0 for number in range(3))
            found[f"cone_{'XYZ'[along]}_{'XYZ'[towards]}"] = Experiment(
                rod("SPHERICAL", along, pull=pull), cone(40, 10), "turned", (-180, 180), about(angle, least=1.0), 3.0
            )
    return found


def pgs_slide() -> None:
    """A slide that ends 0.4 m below, in the solver of PhysX whose limits bounce."""
    base.scene_item()
    base.of_scene("PhysxSceneAPI physxScene:solverType", "PGS")()
    slide()()
    put(prismatic__lower_limit=-0.4, prismatic__upper_limit=0.1)()


def drives() -> dict[str, Experiment]:
    heavy, far = slide(mass=4.0), about(base.dropped(3.0))
    return {
        "drive_force": Experiment(
            heavy, drive("linear", stiffness=100.0, damping=40.0), "z", far, about(-4 * GRAVITY / 100), 3.0),
        "drive_acceleration": Experiment(
            heavy, drive("linear", type="acceleration", stiffness=100.0, damping=20.0), "z", far,
            about(-GRAVITY / 100), 3.0),
        "drive_max_force": Experiment(
            slide(), drive("linear", stiffness=1e6, damping=1e4, max_force=GRAVITY / 2), "z", FALL,
            about(base.dropped(1.5) / 2)),
        "drive_speed": Experiment(
            slide("X", weight=False), drive("linear", damping=1e4, target_velocity=0.5), "x", STILL, about(0.75)),
        "drive_spin": Experiment(
            hinge(), drive("angular", damping=1e4, target_velocity=math.radians(30)), "turn z", FIRM, about(45.0)),
        "d6_drive_place": Experiment(
            both(generic(), preset("SLIDE")), drive("transX", stiffness=400.0, damping=40.0, target_position=0.3),
            "x", STILL, about(0.3), 3.0),
        "d6_drive_turn": Experiment(
            both(generic(), preset("BALL")), aimed, "turned", FIRM, about(turned((20, 30, 40)), least=0.5), 3.0),
    }  # fmt: skip


def click(operator: str, **options: Any) -> Build:
    """An operator on the joint."""
    return lambda: done(active() and getattr(bpy.ops.usdphys, operator)(**options))


def tools() -> dict[str, Experiment]:
    stop, phase = about(10.0, least=1.0), math.pi * 0.5
    aim = both(hinge(), drive("angular", target_position=math.radians(30)))
    answer = about(30 * (1 - (1 + phase) * math.exp(-phase)), 0.06)
    return {
        "swap_bodies": Experiment(
            hinge(weight=True, limit=10.0, axis="Y"), click("joint_swap_bodies"), "turn y", stop, stop),
        "tune_gains": Experiment(
            aim, click("joint_tune", dof="angular", frequency=0.5, ratio=1.0), "turn z", FIRM, answer, 0.5),
        "motor": Experiment(hinge(), click("joint_motor", speed=math.radians(30)), "turn z", FIRM, about(45.0, 0.1)),
        "fallen": Experiment(
            both(rod("GENERIC"), limited()), limited(("rotY",)), "turn y", FIRM, about(fallen(0.4), 0.05), 0.4),
    }  # fmt: skip
