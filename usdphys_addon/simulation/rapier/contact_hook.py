# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that the solver asks about: with bodies whose surface runs, such as conveyor belts, which have a speed of
their own; of materials that hold a resting body better than a sliding one; and of bodies that slide, roll or bounce.

The solver turns friction towards the direction in which the two bodies alone would yield most at that point: a corner
of a box, or a wheel, yields differently along and across. So a box would slide 7 % too far, and a robot that skids on
the spot would turn up to a quarter too fast. A contact that slides gets a speed that turns the friction back against
the slip.

In a step the solver moves a body along the tangent, so that what turns on something, or with it, would move away from
the axis. A contact of bodies that turn gets the speed that lets its points go round.

The solver applies restitution after friction, for the speed at the beginning of its step. So a ball that bounces would
get too little spin, and loses height in each bounce. A contact that begins gets the friction of the whole impact, and a
restitution that gives the ball the speed of its energy at the moment of the impact. Of an impact at several points one
is left (`impacts`).

The solver keeps the points of contacts on the bodies until these have turned by a degree. So a cylinder, capsule or
cone that rolls bears behind its middle, and rolls ever faster, and a plank that rocks on one rocks ever more: its
points are put back below its axis.

Two bodies that share an edge and a hinge there touch at what the hinge holds: by rounding errors the solver finds them
inside each other, and brakes the hinge. Such points are removed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapier3d import ActiveHooks, PhysicsHooks, PhysicsWorld

from ..vendor_settings import Surface
from ..weights import Weight
from . import meetings, running
from .constraints import Constraint, matrix_of
from .impacts import SLOW_FALLS, Impacts
from .ledges import Ledges, Rider
from .sides import FIRM, STILL, Side, Vector, cross, dot, flat, minus, plus, yields_to

#: m/s: a contact of a body of 1 m that slides more slowly is at rest, of a smaller one by the root of its size.
REST = 0.002
#: m/s: a point of a body of 1 m slides that slips faster, of a smaller one by the root of its size. Nothing can be said
#: of the direction of less than CREEPS. A body that MOVES so fast, times the same root, may begin to slide.
SKID, CREEPS, MOVES = 0.02, 1e-6, 0.2
#: 1/s: spins of which the square times a step is less go round in no time step.
ROUND = 1e-4
#: Part of its slip that a contact may lose in one step, in which its friction is still turned by a speed.
BRAKED = 0.1
#: Part of what friction is turned by that is missing from an impact, in which points correct each other. Measured.
IMPACT = 0.5
#: Relative to the size of the smaller body, and m: points of a contact that are further from each other belong to two
#: places. The solver keeps points that slide until they are a millimetre apart.
FACING, SLID = 0.02, 0.002
#: A body lies whose mantle is no more than this sine from the other one. Relative to its radius: how far its points are
#: put back; those of no more than SAME are right, and those of TURNED belong to something else.
LYING, SAME, TURNED = 0.02, 1e-5, 0.06
#: Relative to its radius: how far below a body that lies the surface is looked for. Relative to the depth of a contact:
#: how much less deep the body may be below its axis.
BELOW, BESIDE = 0.2, 0.5
#: Sine of half the angle of a cone from which on it has no side to lie on.
FLAT = 1.0 - 1e-6
#: Relative to the size of the smaller body: points of a contact that are so near to the axis of their joint are held.
HELD = 0.01
#: Relative to the size of a mesh that moves: how deep it may be in something before that is doubted. Relative to the
#: distance of a point from the surface: how deep it can be.
SUNK, DEEPER = 0.01, 2.0
#: Words of PhysX for how two coefficients are combined, the strongest last.
_MODES = ("average", "min", "multiply", "max")


class Grip(NamedTuple):
    """Coefficients of friction of a material at rest and sliding, and the word for their combination."""

    static: float
    dynamic: float
    mode: str

    @property
    def is_uneven(self) -> bool:
        return self.static > self.dynamic


class Pivot(NamedTuple):
    """What a joint holds together of two bodies that collide: a point, a line through it, or all.

    body: the solver's handle of one. place, axis: in its space, m; axis: None for a point. is_all: nothing moves.
    joint: it holds while that is active.
    """

    body: Any
    place: NDArray[np.float64]
    axis: NDArray[np.float64] | None
    is_all: bool
    joint: Constraint


class Roller(NamedTuple):
    """A shape that rolls about its Y, on a line of its mantle.

    radius: m, at the middle. half_height: m. sine: of the angle by which it narrows towards +Y; 0 unless it is a cone.
    """

    radius: float
    half_height: float
    sine: float = 0.0

    def foot(self, middle: Vector, axis: Vector, far: float, down: Vector) -> Vector:
        """The point (3,), m, of the mantle in a direction across the axis, so far (m) from the middle along that."""
        here = self.radius - self.sine / math.sqrt(1.0 - self.sine * self.sine) * far
        x, y, z = (at + far * along + here * part for at, along, part in zip(middle, axis, down, strict=True))
        return x, y, z


class ContactHook(PhysicsHooks):  # type: ignore[misc]
    """Called by the solver for the contacts of marked colliders.

    surfaces: by the solver's handle of a body. handles: by path, of all bodies. sizes: m, of these, in their order.
    weights: by path, of those that are dynamic now; live. reduced: paths of those in reduced coordinates. wheels:
    handles of those that are always looked at. grips: by the handle of a collider; of all, if any is uneven.
    """

    def __init__(
        self, surfaces: Mapping[Any, Surface], handles: Mapping[str, Any], sizes: Sequence[float],
        weights: Mapping[str, Weight], reduced: Collection[str], wheels: Collection[Any],
    ) -> None:  # fmt: skip
        super().__init__()
        self.surfaces, self.weights, self.wheels = surfaces, weights, wheels
        #: Of bodies that feel the armature of a joint, by path, with what it adds.
        self.felt: Mapping[str, Weight] = {}
        self._handles, self._sizes, self._reduced = handles, sizes, reduced
        #: Path and size of each body by its handle; made on first use, which most worlds never need.
        self._known: dict[Any, tuple[str, float]] | None = None
        #: True where the solver's friction is that of each contact. slid: True once a point has slid.
        self.is_coupled = self.slid = False
        self.grips: dict[Any, Grip] = {}
        #: Of bodies that a joint lets collide, by the handles of both.
        self.pivots: dict[frozenset[Any], list[Pivot]] = {}
        #: Of colliders that roll, by handle.
        self.rollers: dict[Any, Roller] = {}
        #: Of these, those on which something may rock so slowly that it is not looked at.
        self.lying: set[Any] = set()
        #: Colliders of bodies that move and are surfaces of triangles.
        self.meshes: set[Any] = set()
        self.ledges = Ledges()
        #: Handles of the kinematic bodies that stand still.
        self._still: set[Any] = set()
        #: Bodies whose contacts are looked at for how they slide and bounce.
        self._sliding: set[Any] = set(wheels)
        #: m/s2, and the direction against it; 0 without.
        self._gravity: Vector = (0.0, 0.0, 0.0)
        self._up = np.zeros(3)
        #: s: the step of the solver.
        self._step = 1.0
        self._sides: dict[Any, Side] = {}
        #: Inverse inertia by path, and of which weight it is.
        self._inverses: dict[str, tuple[Weight, Any]] = {}
        self._shapes: dict[tuple[Any, Callable[[Any], bool]], bool] = {}
        #: By the handle of a body, whether it has several colliders.
        self._parted: dict[Any, bool] = {}
        self._impacts = Impacts(self.ledges)
        #: Handles of bodies on joints, or with axes that are locked.
        self.bound: set[Any] = set()
        #: Points of this step of the solver at which other bodies bounce.
        self._met: list[meetings.Point] = []

    def attach(self, physics: PhysicsWorld) -> None:
        """Mark the colliders, and have the solver call this."""
        marked = self._always(physics)
        for body in self._sliding:
            marked |= set(physics.rigid_bodies[body].colliders)
        for handle in marked:
            physics.colliders[handle].active_hooks = ActiveHooks.MODIFY_SOLVER_CONTACTS
        if marked:
            physics.physics_hooks = self

    def _always(self, physics: PhysicsWorld) -> set[Any]:
        """The colliders that are marked whatever moves."""
        marked = {handle for handle, grip in self.grips.items() if grip.is_uneven} | self.lying | self.meshes
        for body in (*self.surfaces, *self.wheels, *(one.body for own in self.pivots.values() for one in own)):
            marked |= set(physics.rigid_bodies[body].colliders)
        return marked

    def slide(self, physics: PhysicsWorld, sliding: Collection[Any]) -> None:
        """Look at the contacts of these bodies from now on, and of the wheels."""
        wanted = {*sliding, *self.wheels}
        always = self._always(physics)
        for body in self._sliding - wanted:
            for handle in physics.rigid_bodies[body].colliders:
                if handle not in always:
                    physics.colliders[handle].active_hooks = ActiveHooks.NONE
        self._sliding = wanted
        self.attach(physics)

    def lay(self, floor: Collection[Any], still: Collection[Any]) -> None:
        """Take these bodies for the floor, by handle. still: those of them that are kinematic."""
        self.ledges.statics = floor
        if self._still != set(still):
            self._still = set(still)
            self.ledges.forget()

    def begin(self, physics: PhysicsWorld) -> None:
        """Before each step of the solver: what is known of bodies is of the last one."""
        self._sides.clear()
        self._met.clear()
        if self._sliding or self.meshes:
            parameters = physics.integration_parameters
            self._gravity = physics.gravity.to_tuple()
            self._up = -np.array(self._gravity) / max(math.hypot(*self._gravity), 1e-12)
            self._step = parameters.dt
            self._impacts.begin(self._gravity, self._step, self._step / parameters.num_solver_iterations)

    def end(self, physics: PhysicsWorld) -> None:
        """After each step of the solver."""
        if len(self._met):
            slow = SLOW_FALLS * math.hypot(*self._gravity) * self._step
            meetings.settle(physics, self._met, self._step, slow)

    def modify_solver_contacts(self, ctx: Any) -> None:
        """Give each contact the velocity of the surface there, and the friction of a body at rest."""
        if self.pivots:
            self._drop_held(ctx)
        if self.surfaces:
            running.run(ctx, self.surfaces)
        first, second = self.grips.get(ctx.collider1), self.grips.get(ctx.collider2)
        if first is not None and second is not None and (first.is_uneven or second.is_uneven) and self._rests(ctx):
            ctx.friction = held(first, second)
        is_mesh = ctx.collider1 in self.meshes or ctx.collider2 in self.meshes
        if is_mesh:
            self._drop_far_faces(ctx)
        slides = ctx.rigid_body1 in self._sliding or ctx.rigid_body2 in self._sliding
        if slides:
            self._drop_far_sides(ctx)
        if slides or is_mesh:
            self._drop_ledges(ctx)
        may_roll = slides or ctx.collider1 in self.lying or ctx.collider2 in self.lying
        if may_roll and (ctx.collider1 in self.rollers) is not (ctx.collider2 in self.rollers):
            self._bear_below(ctx)
        if slides:
            self._slip(ctx)

    def _rests(self, ctx: Any) -> bool:
        """True if nothing slides at the first point of a contact."""
        contacts = ctx.solver_contacts
        if not contacts:
            return False
        slip = _slip(ctx, contacts[0])
        along = sum(part * way for part, way in zip(slip, ctx.normal.to_tuple(), strict=True))
        sizes = [size for path, size in map(self._body, (ctx.rigid_body1, ctx.rigid_body2)) if path in self.weights]
        return bool(sum(part * part for part in slip) - along * along < REST * REST * min(*sizes, 1.0))

    def _drop_held(self, ctx: Any) -> None:
        """Remove points that a joint of the two bodies holds."""
        bodies = ctx.rigid_body1, ctx.rigid_body2
        for pivot in self.pivots.get(frozenset(bodies), ()):
            if not pivot.joint.active:
                continue
            pose = matrix_of(ctx.bodies[pivot.body].position)
            near = HELD * min((size for path, size in map(self._body, bodies) if path in self.weights), default=0.0)
            contacts = ctx.solver_contacts
            for number in range(len(contacts) - 1, -1, -1):
                arm = (contacts[number].point.to_tuple() - pose[:3, 3]) @ pose[:3, :3] - pivot.place
                if pivot.axis is not None:
                    arm -= pivot.axis * (arm @ pivot.axis)
                if pivot.is_all or arm @ arm < near * near:
                    ctx.remove_solver_contact(number)

    def _drop_far_faces(self, ctx: Any) -> None:
        """Remove points at which a triangle of a mesh that moves would be pushed through all of the other shape.

        A triangle that stands on a floor touches it with an edge. Where it just touches, the solver takes the normal of
        the triangle for that of the contact, as if the edge were as deep in the floor as the floor is wide.
        """
        sides = ctx.collider1, ctx.collider2
        for is_first, (handle, other) in ((True, sides), (False, sides[::-1])):
            if handle not in self.meshes:
                continue
            near = SUNK * self._body(ctx.rigid_body1 if is_first else ctx.rigid_body2)[1]
            contacts = ctx.solver_contacts
            for number in range(len(contacts) - 1, -1, -1):
                contact = contacts[number]
                if contact.dist > -near:
                    continue
                point = (contact.point if is_first else contact.point2).to_tuple()
                if -contact.dist > near + DEEPER * self.ledges.depth(ctx, other, point):
                    ctx.remove_solver_contact(number)

    def _drop_far_sides(self, ctx: Any) -> None:
        """Remove points at which a triangle of a mesh would push a cylinder or cone out beyond its middle.

        The solver finds them where the rim crosses a triangle, and throws the body aside.
        """
        for handle, other, is_first in (
            (ctx.collider1, ctx.collider2, True),
            (ctx.collider2, ctx.collider1, False),
        ):
            if not self._is_of(ctx, handle, _has_rim) or not self._is_of(ctx, other, _is_mesh):
                continue
            middle, normal = ctx.colliders[handle].position.translation.to_tuple(), ctx.normal.to_tuple()
            outside = normal if is_first else (-normal[0], -normal[1], -normal[2])
            contacts = ctx.solver_contacts
            for number in range(len(contacts) - 1, -1, -1):
                point = contacts[number].point2 if is_first else contacts[number].point
                if dot(minus(point.to_tuple(), middle), outside) < 0.0:
                    ctx.remove_solver_contact(number)

    def _drop_ledges(self, ctx: Any) -> None:
        """Remove points at edges of a floor beyond which the surface goes on that the other body lies on."""
        bodies = ctx.rigid_body1, ctx.rigid_body2
        stands = self._is_static(bodies[0]), self._is_static(bodies[1])
        is_static = stands[0] or stands[1]
        floors = [is_first for is_first, stands_there, body in zip((True, False), stands, bodies, strict=True)
                  if (stands_there if is_static else self._has_parts(ctx, body))]  # fmt: skip
        contacts = ctx.solver_contacts if floors and stands != (True, True) else ()
        if not contacts:
            return
        points = [(each.point.to_tuple(), each.point2.to_tuple()) for each in contacts]
        normal = np.array(ctx.normal.to_tuple())
        for is_first in floors:
            floor, body = bodies if is_first else bodies[::-1]
            handle = ctx.collider2 if is_first else ctx.collider1
            rider = Rider(
                middle=np.array(ctx.bodies[body].center_of_mass.to_tuple()), size=self._body(body)[1],
                is_ball=self._is_of(ctx, handle, _is_ball), has_rim=self._is_of(ctx, handle, _has_rim),
                groups=ctx.colliders[handle].collision_groups, up=self._up,
            )  # fmt: skip
            pairs = points if is_first else [pair[::-1] for pair in points]
            if self.ledges.is_one(ctx, rider, pairs, normal if is_first else -normal, None if is_static else floor):
                ctx.clear_solver_contacts()
                return

    def _has_parts(self, ctx: Any, body: Any) -> bool:
        """Whether a body has several colliders."""
        if body not in self._parted:
            self._parted[body] = body is not None and len(ctx.bodies[body].colliders) > 1
        return self._parted[body]

    def _is_static(self, body: Any) -> bool:
        return body is not None and (body in self._still or not self._body(body)[0])

    def _is_of(self, ctx: Any, handle: Any, test: Callable[[Any], bool]) -> bool:
        """A test of the shape of a collider, made once."""
        key = handle, test
        if key not in self._shapes:
            self._shapes[key] = test(ctx.colliders[handle].shape)
        return self._shapes[key]

    def _bear_below(self, ctx: Any) -> None:
        """Put the points of a body that lies on its side below its axis, where the other one is flat."""
        is_first = ctx.collider1 in self.rollers
        handle = ctx.collider1 if is_first else ctx.collider2
        roller = self.rollers[handle]
        pose = matrix_of(ctx.colliders[handle].position)
        middle, axis = pose[:3, 3].tolist(), pose[:3, 1].tolist()
        normal: Vector = ctx.normal.to_tuple()
        if is_first:
            # That of the first body turns with it, too.
            turn = matrix_of(ctx.colliders[ctx.collider2].position)[:3, :3]
            x, y, z = (turn @ ctx.local_n2.to_tuple()).tolist()
            normal = -x, -y, -z
        outward = normal if is_first else minus((0.0, 0.0, 0.0), normal)
        lean = dot(outward, axis)
        if abs(lean - roller.sine) > LYING or max(abs(lean), abs(roller.sine)) > FLAT:
            return
        ctx.normal = normal
        down = _across(outward, axis)
        rows = []
        for contact in ctx.solver_contacts:
            own, other = contact.point.to_tuple(), contact.point2.to_tuple()
            if not is_first:
                own, other = other, own
            far = dot(minus(own, middle), axis)
            rows.append((far, roller.foot(middle, axis, far, down), own, other))
        if rows and self._bear_on_mesh(ctx, rows, middle, axis, down):
            return
        for number, (far, foot, own, other) in enumerate(rows):
            if abs(far) <= roller.half_height and SAME < math.dist(foot, own) / roller.radius < TURNED:
                _set_point(ctx, number, foot, dot(minus(other, foot), outward), outward, is_first)

    def _bear_on_mesh(
        self, ctx: Any, rows: Sequence[tuple[float, Vector, Vector, Vector]], middle: Vector, axis: Vector,
        down: Vector,
    ) -> bool:  # fmt: skip
        """Put the points of a body that lies on triangles to the ends of the line below its axis.

        Round this line the body touches several triangles, where these are small. Of all the points there the solver
        keeps four, with the normal of one of the triangles. So the body would tilt where the deepest point of one end
        is lost, and would be thrown off by triangles beside the line, along which it does not move.

        rows: of each point its distance (m) from the middle along the axis, the foot below it, and the points of both
        bodies. Returns False where that is not so.
        """
        is_first = ctx.collider1 in self.rollers
        handle, floor, body = (
            (ctx.collider1, ctx.collider2, ctx.rigid_body2) if is_first
            else (ctx.collider2, ctx.collider1, ctx.rigid_body1)
        )  # fmt: skip
        roller = self.rollers[handle]
        aside = max(math.dist(foot, own) for _, foot, own, _ in rows)
        if aside < TURNED * roller.radius or not (self._is_static(body) and self._is_of(ctx, floor, _is_mesh)):
            return False
        fars = [far for far, *_ in rows]
        ends = (min(fars), max(fars))[: len(rows)]
        groups, reach = ctx.colliders[handle].collision_groups, BELOW * roller.radius
        outward = down
        feet: list[Vector] = []
        gaps: list[float] = []
        # The first time with the normal of the contact, then with that of the surface below.
        for _ in range(2):
            down = _across(outward, axis)
            feet = [roller.foot(middle, axis, far, down) for far in ends]
            below = [self.ledges.below(ctx, np.array(foot), np.array(down), reach, groups) for foot in feet]
            found = [each for each in below if each is not None]
            if len(found) < len(below):
                return False
            gaps = [gap for gap, _ in found]
            mean = np.mean([normal for _, normal in found], axis=0)
            x, y, z = (mean / np.linalg.norm(mean)).tolist()
            outward = x, y, z
            if abs(dot(outward, axis) - roller.sine) > LYING:
                return False
        deepest = min(each.dist for each in ctx.solver_contacts)
        if min(gaps) > deepest + BESIDE * abs(deepest):
            return False
        ctx.normal = outward if is_first else minus((0.0, 0.0, 0.0), outward)
        for number in range(len(rows) - 1, len(feet) - 1, -1):
            ctx.remove_solver_contact(number)
        for number, (foot, gap) in enumerate(zip(feet, gaps, strict=True)):
            _set_point(ctx, number, foot, gap, outward, is_first)
        return True

    def _slip(self, ctx: Any) -> None:
        """Turn the friction of points that slide against their slip, and make up for what an impact lacks."""
        contacts = ctx.solver_contacts
        if not contacts:
            return
        one, other = self._side(ctx, ctx.rigid_body1), self._side(ctx, ctx.rigid_body2)
        if one is None or other is None:
            return
        if len(contacts) > 2:
            contacts = _facing(ctx, contacts, FACING * min(one.size, other.size) + SLID)
            if not contacts:
                return
        normal: Vector = ctx.normal.to_tuple()
        if ctx.restitution > 0.0:
            contacts = self._impacts.gather(ctx, contacts, one, other, normal)
            if not contacts:
                return
        friction = ctx.friction
        is_one = not other.yields
        # m/s2, about: what friction can do. What it can stop within the step does not slide.
        braking = friction * abs(dot(self._gravity, normal))
        slow = max(SKID * math.sqrt(min(one.size, other.size, 1.0)), braking * self._step)
        turning = running.turning(ctx, self.surfaces) if self.surfaces else ()
        turns = bool(turning) or max(dot(one.spin, one.spin), dot(other.spin, other.spin)) * self._step > ROUND
        lost, rows = 0.0, []
        for number, contact in enumerate(contacts):
            if contact.dist > 0.0 and friction > 0.0 and (is_one or not one.yields):
                # The solver takes the arm of a contact from the middle of its gap, not from the body that moves.
                x, y, z = (contact.point if is_one else contact.point2).to_tuple()
                half = 0.5 * contact.dist
                ctx.set_solver_contact(
                    number, point2=(x + normal[0] * half, y + normal[1] * half, z + normal[2] * half)
                )  # fmt: skip
            tx, ty, tz = contact.tangent_velocity.to_tuple()
            arm = minus(contact.point.to_tuple(), one.middle)
            other_arm = minus(contact.point2.to_tuple(), other.middle)
            rim, other_rim = cross(one.spin, arm), cross(other.spin, other_arm)
            (ax, ay, az), (bx, by, bz) = rim, other_rim
            late: Vector = (0.0, 0.0, 0.0)
            if turns:
                # Points go round in a step, and not along the tangent of its beginning. And it takes friction a part of
                # the step to turn what it carries.
                late = minus(cross(one.spin, rim), cross(other.spin, other_rim))
                for is_first, spin, about in turning:
                    point = (contact.point if is_first else contact.point2).to_tuple()
                    inward = cross(spin, cross(spin, minus(point, about)))
                    late = plus(late, inward) if is_first else minus(late, inward)
                late = flat(late, normal)
                taken = min(math.hypot(*late) / braking, 1.0) if braking > 0.0 else 0.0
                ahead = 0.5 * self._step * (1.0 + taken)
                tx, ty, tz = tx + ahead * late[0], ty + ahead * late[1], tz + ahead * late[2]
                ctx.set_solver_contact(number, tangent_velocity=(tx, ty, tz))
            vx, vy, vz = one.velocity
            wx, wy, wz = other.velocity
            slip = vx + ax - wx - bx + tx, vy + ay - wy - by + ty, vz + az - wz - bz + tz
            if number == 0 and ctx.restitution > 0.0 and contact.is_new:
                pull = dot(self._gravity, normal) * (one.falls - other.falls)
                self._impacts.bounce(ctx, dot(slip, normal), max(contact.dist, 0.0), pull)
            rows.append((number, (tx, ty, tz), arm, other_arm, slip, late))
        # An impact at one point brakes the others.
        approach = max(dot(row[4], normal) for row in rows)
        is_impact = approach > SLOW_FALLS * math.hypot(*self._gravity) * self._step
        for number, (tx, ty, tz), arm, other_arm, slip, (lx, ly, lz) in rows:
            slip = flat(slip, normal)
            (sx, sy, sz), speed = slip, math.hypot(*slip)
            # What friction changes in a step of bodies that go round together is no slip.
            slides = math.hypot(sx - self._step * lx, sy - self._step * ly, sz - self._step * lz) >= slow
            self.slid |= slides
            if friction == 0.0 or speed < CREEPS or not self.is_coupled:
                continue
            yielding = flat(
                plus(yields_to(one, arm, slip), yields_to(other, other_arm, slip)), normal
            )  # fmt: skip
            part = speed / math.hypot(*yielding)
            is_braked = is_impact and friction * approach > BRAKED * speed
            if not slides or is_braked:
                # It may rest: a speed would let it creep. Where it slides all the same, friction is turned by so much.
                # Or an impact brakes it: a speed that is right before is too large after it, and turns friction aside.
                share = IMPACT if is_braked else 1.0
                lost += share * (speed / (part * dot(slip, yielding) / speed) - 1.0)
                continue
            yx, yy, yz = yielding
            ctx.set_solver_contact(
                number, tangent_velocity=(tx + yx * part - sx, ty + yy * part - sy, tz + yz * part - sz)
            )  # fmt: skip
        if lost:
            ctx.friction *= 1.0 + lost / len(contacts)
        if ctx.restitution > 0.0 and self.bound.isdisjoint((ctx.rigid_body1, ctx.rigid_body2)):
            self._met += meetings.noted(ctx, contacts, one, other, normal)

    def _side(self, ctx: Any, body: Any) -> Side | None:
        """None for a body in reduced coordinates."""
        if body is None:
            return STILL
        side = self._sides.get(body)
        if side is None:
            item = ctx.bodies[body]
            path, size = self._body(body)
            weight = self.weights.get(path)
            if path in self._reduced and weight is not None:
                return None
            if weight is None:
                side = Side(item.linvel.to_tuple(), item.angvel.to_tuple(), item.center_of_mass.to_tuple(), *FIRM,
                            is_static=not path)  # fmt: skip
            else:
                weight = self.felt.get(path, weight)
                held = self._inverses.get(path)
                if held is None or held[0] is not weight:
                    held = self._inverses[path] = weight, weight.inverse_inertia
                turn = matrix_of(item.position)[:3, :3]
                turns: Any = tuple(map(tuple, (turn @ held[1] @ turn.T).tolist()))
                side = Side(item.linvel.to_tuple(), item.angvel.to_tuple(), item.center_of_mass.to_tuple(),
                              1.0 / weight.mass, turns, item.gravity_scale, size)  # fmt: skip
            self._sides[body] = side
        return side

    def _body(self, handle: Any) -> tuple[str, float]:
        """Path and size, m, of a body; of one that is none of ours, as a hand, "" and 0."""
        if self._known is None:
            self._known = dict(zip(self._handles.values(), zip(self._handles, self._sizes, strict=True), strict=True))
        return self._known.get(handle, ("", 0.0))


def _across(direction: Vector, axis: Vector) -> Vector:
    """The unit vector of a direction across an axis. Without contacts the direction is 0, and so is this."""
    along = dot(direction, axis)
    length = math.sqrt(1.0 - along * along)
    x, y, z = flat(direction, axis)
    return x / length, y / length, z / length


def _set_point(ctx: Any, number: int, own: Vector, gap: float, outward: Vector, is_first: bool) -> None:
    """Put a point of a contact to a place (3,), m, on a body, so far (m) from the other one along its outward normal.

    is_first: it is the first body of the contact.
    """
    x, y, z = outward
    other = plus(own, (gap * x, gap * y, gap * z))
    first, second = (own, other) if is_first else (other, own)
    ctx.set_solver_contact(number, point=first, point2=second, dist=gap)


def _has_rim(shape: Any) -> bool:
    return any(made() is not None for made in (shape.as_round_cylinder, shape.as_round_cone, shape.as_cone))


def _is_ball(shape: Any) -> bool:
    return shape.as_ball() is not None or shape.as_capsule() is not None


def _is_mesh(shape: Any) -> bool:
    return shape.as_trimesh() is not None


def _facing(ctx: Any, contacts: Any, near: float) -> Any:
    """The contacts whose two points are apart by their distance and no more than `near` (m) besides; the solver loses
    the others.
    """
    count = len(contacts)
    for number in range(count - 1, -1, -1):
        contact = contacts[number]
        if math.dist(contact.point.to_tuple(), contact.point2.to_tuple()) > abs(contact.dist) + near:
            ctx.remove_solver_contact(number)
    return contacts if ctx.num_solver_contacts() == count else ctx.solver_contacts


def held(first: Grip, second: Grip) -> float:
    """The coefficient of friction between two materials at rest."""
    mode = max(first.mode, second.mode, key=_MODES.index)
    one, other = max(first.static, first.dynamic), max(second.static, second.dynamic)
    if mode == "multiply":
        return one * other
    return {"average": (one + other) / 2.0, "min": min(one, other), "max": max(one, other)}[mode]


def _slip(ctx: Any, contact: Any) -> tuple[float, ...]:
    """Velocity (3,) of the first body relative to the second at a contact, with that of surfaces that run."""
    slip: tuple[float, ...] = contact.tangent_velocity.to_tuple()
    for body, point, sign in ((ctx.rigid_body1, contact.point, 1.0), (ctx.rigid_body2, contact.point2, -1.0)):
        if body is None:
            continue
        moving = ctx.bodies[body]
        (vx, vy, vz), (wx, wy, wz) = moving.linvel.to_tuple(), moving.angvel.to_tuple()
        x, y, z = (
            here - middle for here, middle in zip(point.to_tuple(), moving.center_of_mass.to_tuple(), strict=True)
        )
        here = vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x
        slip = tuple(part + sign * more for part, more in zip(slip, here, strict=True))
    return slip
