# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes bodies and colliders of the solver from prims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import rapier3d
from rapier3d import ActiveHooks, CoefficientCombineRule, Group, InteractionGroups, Isometry3

from ...core import frames
from ...core.coasting import keeps_velocity
from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schemas import usd_physics
from ...core.steps import Steps, part
from ..filters import Filters
from ..layout import Body, ContactMaterial, Layout, contact_material
from ..notices import Notices
from ..vendor_settings import PLAIN, BodySettings, body_settings, combine_modes, is_trigger, surface_of
from .constraints import isometry
from .contact_hook import Grip, Roller
from .matter import Weigher, massless
from .rounding import Placed
from .shapes import shape_steps
from .templates import Template

#: m/s. The solver clamps velocities to it.
CLAMP = 1e5
#: A velocity that the scale of the prim changes by less than this part counts as unscaled.
SAME_SPEED = 1e-3
#: By the attributes of PhysX.
_COMBINE = {
    "average": CoefficientCombineRule.AVERAGE, "min": CoefficientCombineRule.MIN, "max": CoefficientCombineRule.MAX,
    "multiply": CoefficientCombineRule.MULTIPLY,
}  # fmt: skip


class BodyMaker:
    """Makes the bodies of one scene, and notes what they need beside the solver.

    grips: of the physics materials of its colliders, by path; "" is what colliders without one have. is_moving: a body
    has a velocity at the start.
    """

    def __init__(self, layout: Layout, filters: Filters, notices: Notices) -> None:
        self.model, self.places, self.masks, self.notices = layout.model, layout.places, filters.masks, notices
        self.grips: dict[str, Grip] = {}
        self.is_moving = False

    def template(self, body: Body, weigher: Weigher) -> Steps[Template]:
        """What is added to the solver for a body, and for its twins elsewhere; in steps."""
        api = body.prim.get(usd_physics.RigidBodyAPI)
        assert api is not None
        kind = rapier3d.RigidBody.kinematic_position_based if body.is_kinematic else rapier3d.RigidBody.dynamic
        builder = kind()
        moves = bool(api.velocity or api.angular_velocity)
        weight, settings = None, PLAIN
        if not body.is_kinematic:
            settings = body_settings(body.prim, self.model.air)
            builder = _with_settings(builder, settings)
            if moves:
                self.is_moving = True
                velocity = body.velocity_scale * body.rotation @ np.asarray(api.resolved("velocity"), float)
                self._say_scaled(body, velocity)
                spin = body.rotation @ np.asarray(api.resolved("angular_velocity"), float)
                # The solver locks axes against forces only.
                velocity, spin = _clamped(velocity * settings.moves), _clamped(spin * settings.turns)
                builder = builder.linvel(tuple(velocity.tolist())).angvel(tuple(spin.tolist()))
            weight, of_solver = yield from part(weigher.steps(body), 0.0, 0.5)
            builder = builder.additional_mass_properties(of_solver)
        elif (
            moves and (any(api.resolved("velocity")) or any(api.resolved("angular_velocity")))
            and (not keeps_velocity(body.prim) or body.prim.is_animated)
        ):  # fmt: skip
            self.notices.add(
                "KinematicVelocity", body.prim,
                f"{body.prim.display} is kinematic; its initial velocity does nothing.",
            )  # fmt: skip
        # Without this the solver slows each body to an eighth of a turn in a step, which is 900 turns a minute.
        solver_body = builder.allow_fast_rotation(True).build()
        template = Template(solver_body, weight, settings, surface_of(body.prim), bool(api.resolved("starts_asleep")))
        many = 2 * len(body.colliders)
        for number, prim in enumerate(body.colliders):
            geometry = weigher.geometries.of(prim)
            steps = shape_steps(prim, geometry, self.places.of(prim).rotation, self.notices, moves=True)
            placed = yield from part(steps, 0.5 + number / many, 0.5 + (number + 1) / many)
            if placed is None:
                continue
            frame = None
            if prim is not body.prim and not np.array_equal(prim.world, body.prim.world):
                own, back = self.places.of(prim), body.rotation.T
                frame = frames.transform(back @ (own.position - body.position), back @ own.rotation)
            material = contact_material(self.model, prim, self.notices)
            shape, place = placed[0], place_of(placed, frame)
            collider = self.collider(prim, shape, material, place)
            if place is not None:
                exact, nothing = massless(place)
                collider = collider.position(exact).mass_properties(nothing)
            if body.is_kinematic:
                # Rapier reuses contacts while two bodies move little relative to each other; where one turns in a
                # circle it then pushes the other off. It does not for colliders with a hook; there is none.
                collider = collider.active_hooks(ActiveHooks.MODIFY_SOLVER_CONTACTS)
            if (cuboid := shape.as_cuboid()) is not None:
                template.boxes[len(template.colliders)] = cuboid.half_extents.to_tuple()
            elif shape.as_ball() is None:
                template.is_searched = True
                if shape.as_trimesh() is not None:
                    template.surfaces.append(len(template.colliders))
                elif (roller := roller_of(shape)) is not None:
                    template.rollers[len(template.colliders)] = roller
            template.colliders.append(collider.build())
            box = shape.compute_aabb(Isometry3.identity())
            template.sides.append(_sides(box))
            template.radius = max(template.radius, _radius(box if place is None else shape.compute_aabb(place)))
            template.materials.append(material.material)
            template.bounce = max(template.bounce, material.restitution)
        return template

    def _say_scaled(self, body: Body, velocity: Matrix) -> None:
        """Notice a velocity on a scaled prim: the specification scales it, PhysX and Newton do not."""
        authored = body.rotation.T @ velocity / body.velocity_scale
        speeds = [float(np.linalg.norm(each)) for each in (velocity, authored, body.stretch @ authored)]
        if max(speeds) - min(speeds) > SAME_SPEED * speeds[0]:
            self.notices.add(
                "VelocityScaled", body.prim,
                f"{body.prim.display} starts at {speeds[0]:.3g} m/s here. Its scale makes this {speeds[2]:.3g} m/s by "
                f"the specification, and {speeds[1]:.3g} m/s in PhysX and Newton.",
            )  # fmt: skip

    def collider(self, prim: Prim, shape: Any, material: ContactMaterial, place: Isometry3 | None) -> Any:
        """A collider builder. place: see `place_of`."""
        friction_mode, restitution_mode = combine_modes(self.model, material.material)
        self.grips[material.material] = Grip(material.static_friction, material.friction, friction_mode)
        builder = (
            rapier3d.Collider.new(shape)
            .density(0.0)
            .friction(material.friction)
            .restitution(material.restitution)
            .friction_combine_rule(_COMBINE.get(friction_mode, CoefficientCombineRule.AVERAGE))
            .restitution_combine_rule(_COMBINE.get(restitution_mode, CoefficientCombineRule.AVERAGE))
        )
        if is_trigger(prim):
            builder = builder.sensor(True)
        if place is not None:
            builder = builder.position(place)
        mask = self.masks.get(prim.path)
        if mask is not None:
            builder = builder.collision_groups(InteractionGroups(Group(mask.member), Group(mask.meets)))
        return builder


def roller_of(shape: Any) -> Roller | None:
    """How a shape rolls about its Y; None of one that does not, or touches in a point."""
    wide, high, _ = shape.compute_aabb(Isometry3.identity()).maxs.to_tuple()
    if (cone := shape.as_round_cone() or shape.as_cone()) is not None:
        tangent = 0.5 * cone.radius / cone.half_height
        slant = math.hypot(1.0, tangent)
        return Roller(0.5 * cone.radius + (high - cone.half_height) * slant, cone.half_height, tangent / slant)
    if (capsule := shape.as_capsule()) is not None:
        return Roller(high - capsule.half_height, capsule.half_height)
    return None if shape.as_round_cylinder() is None else Roller(wide, high)


def place_of(placed: Placed, frame: Matrix | None = None) -> Isometry3 | None:
    """Pose of a shape in its body; None: identity. frame: pose (4, 4) of its prim there; None: identity."""
    _, center, turn = placed
    if center is None and turn is None:
        return None if frame is None else isometry(frame)
    if center is not None and frame is None and turn is None:
        return Isometry3(tuple(center.tolist()))
    own = frames.transform(np.zeros(3) if center is None else center, turn)
    return isometry(own if frame is None else frame @ own)


def _sides(box: Any) -> tuple[float, float]:
    """The shortest and the longest side of a bounding box; a plate counts as a tenth as thick as long."""
    sides = [float(high - low) for high, low in zip(box.maxs.to_tuple(), box.mins.to_tuple(), strict=True)]
    return max(min(sides), 0.1 * max(sides)), max(sides)


def _radius(box: Any) -> float:
    """Distance (m) from the origin within which a bounding box is."""
    return math.hypot(*[max(-low, high) for low, high in zip(box.mins.to_tuple(), box.maxs.to_tuple(), strict=True)])


def _clamped(velocity: Matrix) -> Matrix:
    """A velocity (3,) no larger than CLAMP: the solver takes those for none whose square is too large for it."""
    size = float(np.linalg.norm(velocity))
    return velocity * (CLAMP / size) if CLAMP < size < math.inf else velocity


def _with_settings(builder: Any, settings: BodySettings) -> Any:
    """The builder of a body with its damping and the axes of the world that are locked."""
    if settings.linear_damping:
        builder = builder.linear_damping(settings.linear_damping)
    if settings.angular_damping:
        builder = builder.angular_damping(settings.angular_damping)
    if settings.gravity != 1.0:
        builder = builder.gravity_scale(settings.gravity)
    if not all(settings.moves):
        builder = builder.enabled_translations(settings.moves)
    if not all(settings.turns):
        builder = builder.enabled_rotations(settings.turns)
    return builder.ccd_enabled(True) if settings.is_fast else builder
