# SPDX-License-Identifier: GPL-3.0-or-later
"""One physics scene in Rapier: bodies, colliders, joints and filters, one step at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import rapier3d
from numpy.typing import NDArray
from rapier3d import (
    Isometry3,
    PhysicsWorld,
    SpringCoefficients,
)

from ...core import frames
from ...core.frames import Matrix
from ...core.model import Prim
from ...core.schema import Vector
from ...core.ties import Ties
from .. import ball_rows
from ..engine import Engine, JointPose, Setup, Step
from ..hanging import hand_mass
from ..impulse_sums import ImpulseSums
from ..joint_facts import NO_LIMIT, Drive, JointFacts
from ..vendor_settings import Surface, surface_of
from ..weights import Weight
from . import flight, joint_effects, landing, missed, tops, tuning
from .bodies import CLAMP
from .bonds import Bonds
from .constraints import NO_WRENCH, Constraint, State, isometry, matrix_of, yielding
from .contact_hook import ContactHook, Grip
from .contact_roles import driven_wheels, lying, pivots_of, rollers_of
from .corrections import Chosen, Corrections, May
from .energy import PERIOD, EnergyWatch, Matter
from .followers import Follower
from .gears import Train, trains_of
from .grab import Grab, grab, pull, release
from .grouping import Needs
from .jams import jams
from .joint_builder import JointBuilder
from .joint_tuning import tune_joints
from .leading import Leading, Way
from .led_round import angle_ahead
from .loads import Loads, most_loaded
from .matter import of_solver
from .meshed import meeting, surfaces_of
from .panics import panics_named
from .quality import (
    QUALITIES,
    impact_damping,
    led_steps,
    precessing_steps,
    rolling_steps,
    turning_steps,
)
from .racing import Racing
from .reduced import bend, follow, limit_speeds, undamp
from .rescue import Rescuer
from .rolling import brake
from .rotors import Rotors
from .sleep import drive_speeds, thresholds
from .sliding import FEW_JOINTED, LOOK_FOR_CAUGHT, SPINS_OF_CROWD, Sliding
from .start import put_to_sleep
from .stock import Stock
from .swinging import Swings
from .templates import Template
from .touching import contact_counts, contact_points, riders, touches, touching_bodies
from .wheel_drives import lead, soften, wheels_of
from .windows import Windows

#: kg. The solver loses the friction of what is heavier: measured at 2e10 kg and more.
HEAVIEST = 1e10
#: Bodies, at most, that are asked in a time step whether a surface leads them round.
LOOK_AT_LED = 8


@dataclass(slots=True)
class SavedSpace:
    """State of a SolverSpace."""

    solver: bytes
    gravity: Vector
    states: list[State]
    grabs: dict[int, Grab]
    weights: dict[str, Weight]
    broken: list[str]
    grips: dict[str, Grip]
    frame: int
    led: dict[str, Weight]
    leading: Leading
    watched: NDArray[np.bool_]
    sliding: tuple[NDArray[np.int64], int]
    steps: int
    racing: list[tuple[int, float, float]]
    ways: NDArray[np.float64]
    corrections: Chosen
    swings: bool


class SolverSpace(Engine):
    """The Rapier world of one group of bodies of a physics scene. What has no docstring is described in `Engine`."""

    def __init__(
        self, setup: Setup, stock: Stock, rows: NDArray[np.int64], needs: Needs, earlier: Sequence[SolverSpace] = ()
    ) -> None:  # fmt: skip
        """setup: of these bodies alone. stock: of the scene. rows: of the bodies in it. needs: of the dynamic ones.
        earlier: the spaces of which the bodies go on from where they are."""
        self._setup, self.notices, self.layout = setup, setup.notices, setup.layout
        self._needs = needs
        self._stock, self._rows, self._earlier = stock, rows, earlier
        self.model, self.places = self.layout.model, self.layout.places
        self.bodies = setup.bodies
        self.paths = tuple(setup.bodies)
        self.physics = PhysicsWorld(earlier[0].gravity if earlier else tuple(setup.gravity.tolist()))
        self.handles: dict[str, Any] = {}
        self.static_handles: dict[str, Any] = {}
        self._impulses = ImpulseSums()
        #: Of bodies that are equal but for their place; and the number of that of each body, (n,).
        self._templates: list[Template] = stock.templates
        self._template_of: NDArray[np.int64] = stock.template_of[rows]
        #: Materials of static colliders, by path.
        self._static_materials: dict[str, str] = {}
        #: See `BodyMaker`.
        self._grips: dict[str, Grip] = dict(stock.grips)
        self._is_bouncing = needs.bounces
        self.weights: dict[str, Weight] = {}
        self.constraints: list[Constraint] = []
        self.followers: list[Follower] = []
        self.trains: list[Train] = []
        self._by_path: dict[str, Constraint] = {}
        self.grabs: dict[int, Grab] = {}
        self.broken: list[str] = []
        #: Of broken joints: the load under which they broke, and `Constraint.wrench_in_frame`.
        self.last_loads: dict[str, tuple[tuple[float, float], tuple[Vector, Vector]]] = {}
        self._asleep: set[str] = set()
        #: Jointed bodies that see contacts from afar. The solver must not put them back to where they touch.
        self._seeing: set[str] = set()
        #: Weights of the bodies that are kinematic at times, while they are.
        self._led: dict[str, Weight] = {}
        #: Of bodies and static colliders that have changed since the build, by path.
        self._collider_handles: dict[str, Any] | None = None
        self.targets: dict[str, tuple[Matrix, Matrix]] = {}
        #: Where kinematic bodies will be a time step after their targets, where that is known.
        self._expected: dict[str, tuple[Matrix, Matrix]] = {}
        #: Drives whose targets change in the next time step, by joint and degree of freedom; and from where.
        self._led_drives: dict[tuple[str, str], tuple[float, Drive]] = {}
        self._leading = Leading()
        #: Kinematic bodies that move in this time step, by path.
        self._led_on: frozenset[str] = frozenset()
        #: Time steps made, and after how many of them energy is looked at.
        self._frame, self._period = 0, max(1, round(PERIOD / setup.time_step))
        self._surfaces: dict[Any, Surface] = {}
        self._upkeep: list[Constraint] | None = None
        self._effective: list[joint_effects.Aim] = []
        #: (row, m/s, rad/s) of bodies with a largest speed.
        self._limits: list[tuple[int, float, float]] = []
        self._limited: list[Constraint] = []
        self._softened: list[Constraint] = []
        self._rescuer = Rescuer()
        #: Pairs of paths of bodies that pass through each other, because no joint can part them.
        self.jammed: frozenset[tuple[str, ...]] = frozenset()
        self.time_step, self.quality = setup.time_step, QUALITIES[setup.quality]

    def build(self) -> Iterator[float]:
        """Nothing is long but what `Stock` has made."""
        with panics_named():
            self._build(self._setup)
        yield 0.0

    def _build(self, setup: Setup) -> None:
        time_step, filters = self.time_step, setup.filters
        self.physics.integration_parameters.length_unit = self._needs.length
        self._add_bodies()
        if self._earlier:
            self._place_again()
        else:
            self._tell_heavy()
        joints = JointBuilder(
            self.physics, self.layout, self.handles, self.static_handles, self.weights, self.notices
        )  # fmt: skip
        earlier = {path: (item, space.physics) for space in self._earlier for path, item in space._by_path.items()}
        joints.add(setup, earlier if self._earlier else None)
        joints.part(filters.pairs)
        self.constraints, self.followers, self.trains = joints.constraints, joints.followers, trains_of(joints.gears)
        self._by_path = {constraint.facts.path: constraint for constraint in self.constraints}
        self.is_moved_at_start = joints.is_moved_at_start
        self._part_jams(joints, filters.pairs)
        self._rotors = Rotors(self.constraints, self.weights, self.handles)
        self._weigh(self._rotors.paths)
        # Bonds give way, as contacts do.
        self.substeps = self.quality.steps_in(time_step, self._needs.is_busy, setup.substeps)
        self.loads = Loads(self.handles, self.weights)
        self.bonds = Bonds(self.constraints)
        self._tune()
        if self._needs.has_wheels:
            self._soften_wheels()
        #: Steps of the solver in the last time step, for which springs are set.
        self._steps = self.substeps
        self._free_springs()
        if self.constraints:
            self._set_sleep({path for item in self.constraints for path in (item.facts.body0, item.facts.body1)})
        self._kept_up()
        #: m: shorter side of each body, and from its middle to its end; 0 for those without.
        self._sizes = self._by_row(item.size for item in self._templates)
        self._radii = self._by_row(max(item.radius, 0.0) for item in self._templates)
        self._has_weight = self._by_row((item.weight is not None for item in self._templates), bool)
        #: By row, whether a body may move and turn along all axes.
        self._is_unbound = self._by_row(
            (all((*item.settings.moves, *item.settings.turns)) for item in self._templates), bool
        )
        self._jointed = {path for item in self.constraints for path in (item.facts.body0, item.facts.body1) if path}
        self._reduced = {path for item in self.constraints if item.state.reduced
                         for path in (item.facts.body0, item.facts.body1) if path}  # fmt: skip
        #: Distances, m, in a step of the solver from which a body is watched between its places; infinite without size.
        leaps = [0.5 * item.size if item.sides and item.weight is not None else np.inf for item in self._templates]
        self._leaps = self._by_row(leaps)
        self._watched = np.zeros(len(self.paths), bool)
        self._swept = np.ones(len(self.paths), bool)
        self._swept[self._rows_among(self._seeing)] = False
        #: The bodies that physics moves, tied by joints; and by row the number of what is tied, None without joints.
        self._tied = self._joined()
        self._leaping_with = self._joined_rows()
        self._got: list[Any] | None = None
        self._watch = EnergyWatch()
        matter = _matter([template.weight for template in self._templates])
        self._matter = Matter(matter.masses[self._template_of], matter.moments[self._template_of])
        self._is_told = not self.weights
        self._choose_corrections()
        self._attach_hook()
        self._part_rows()
        small = sum(item.size**2 < 4.0 * missed.LEAST_CROSS and item.weight is not None for item in self._own_templates)
        #: Of no crowd: to look at all contacts takes long.
        self._small: missed.SmallContacts | None = None
        if small and len(self.weights) <= tuning.CROWD:
            self._small = missed.SmallContacts(self.physics, len(self.weights), time_step, self._period)
        if self._surfaces:
            # What lies on them slides from the first step on.
            self._sliding.watch_ridden(self.handles.values(), self._frame)
            self._sliding.couple(self._frame)
        moves = bool(self._earlier) or self._stock.is_moving
        if self._earlier:
            self._go_on()
        #: m: ways of the bodies in the last time step.
        self._ways = np.zeros(len(self.paths))
        if moves:
            speeds = self.velocities()
            ways, turns = (time_step * np.linalg.norm(part, axis=1) for part in (speeds[:, :3], speeds[:, 3:]))
            self._ways = ways
            self.watch_fast(ways)
            self._corrections.watch_turns(turns, np.ones(len(self.paths), bool))
            self._watch_swings(np.ones(len(self.paths), bool))
            self._watch_held_back(ways, turns)
            self._sliding.watch(ways, turns, self._frame)
            self._sliding.couple(self._frame)
        if self._has_inner_edges and len(self.weights) <= tuning.CROWD:
            self._sliding.begin(self.physics, self._hook.ledges.statics, self._frame)
        self._look()
        if self._asleep:
            # Another shape of what they lie on would wake them.
            self._move_windows(np.array([self.pose(path)[0] for path in self.paths]))
            put_to_sleep(
                self.physics, [self.handles[path] for path in self._asleep],
                [self.handles[path] for path in self.weights if path not in self._asleep],
                [handle for path, handle in self.handles.items() if path not in self.weights],
            )  # fmt: skip

    def _choose_corrections(self) -> None:
        """Find what may need to be set right after a step of the solver, what swings, and what may precess."""
        is_few, count = len(self.weights) <= tuning.CROWD, len(self.paths)
        is_loose = np.ones(count, bool)
        is_loose[self._rows_among(self._jointed)] = False
        weights = [item.weight for item in self._templates]
        sweeps = [
            landing.sweeps_of(weight.mass, max(weight.moments), item.size) if weight else 0.0
            for weight, item in zip(weights, self._templates, strict=True)
        ]  # fmt: skip
        self._landings = landing.Landings(
            self._by_row(sweeps) * is_loose, self._sizes, self.physics.integration_parameters
        )  # fmt: skip
        wobbles = [flight.may_wobble(item.weight) and all(item.settings.turns) for item in self._templates]
        may_wobble = self._by_row(wobbles, bool) & is_loose & is_few
        is_reduced = np.zeros(count, bool)
        is_reduced[self._rows_among(self._reduced)] = True
        # Those of reduced coordinates cannot be moved on.
        has_seams = self._has_seams()
        #: Something may catch on the inner edges of what it lies on.
        self._has_inner_edges = has_seams or any(len(item.sides) > 1 for item in self._own_templates)
        may_be_held_back = self._has_weight & (self._sizes > 0.0) & ~is_reduced & has_seams
        may_be_slow = np.zeros(count, bool)
        if len(self.weights) <= tuning.MOST_SLIDING:
            held = self._held_in_place()
            may_be_slow[self._rows_among((held if any(self.gravity) else self.weights.keys()) - self._reduced)] = True
            may_be_slow &= self._has_weight
        at_points = tops.held_at_points(self.constraints, self.weights) if is_few else []
        row_of = {path: row for row, path in enumerate(self.paths)} if at_points else {}
        points = {row_of[each.path]: each for each in at_points if self._is_unbound[row_of[each.path]]}
        own_steps = (self.physics.rigid_bodies[self.handles[self.paths[row]]] for row in np.flatnonzero(may_be_slow))
        small_steps = int(self.physics.integration_parameters.num_solver_iterations)
        small_steps += max((body.additional_solver_iterations for body in own_steps), default=0)
        self._corrections = Corrections(
            self.paths, self.weights, May(may_wobble, may_be_slow, may_be_held_back, points), self._tied, self._sizes,
            self._radii, small_steps,
        )  # fmt: skip
        swinging = {path for item in self.constraints
                    if sum(not one.is_locked and not one.is_limited for one in item.facts.freedoms[3:]) > 1
                    for path in (item.facts.body0, item.facts.body1)}  # fmt: skip
        precessing = [row for row in self._rows_among(swinging) if self.paths[row] in self.weights]
        #: Rows of bodies that may precess; of a crowd none is looked at.
        self._tops = [row for row in precessing if row not in points] if len(precessing) <= tuning.FEW_TOPS else []
        is_led = bool(self.followers or self.trains or self._softened)
        is_done = is_led or len(points) == len(self.constraints)
        self._swings = Swings(() if is_done else self.constraints, self.weights, self.paths)
        self._swing_gently()

    def _attach_hook(self) -> None:
        """Let the solver ask for what it does not know of contacts, and watch what slides, races and lies far away."""
        self._hook = ContactHook(
            self._surfaces, self.handles, self._sizes.tolist(), self.weights, self._reduced, self._wheels()
        )  # fmt: skip
        self._hook.felt = self._rotors.felt
        bound = (self.paths[row] for row in np.flatnonzero(~self._is_unbound))
        self._hook.bound = {self.handles[path] for path in (*self._jointed, *bound)}
        may_slide = self._has_weight & (self._radii > 0.0)
        may_slide[self._rows_among(self._reduced if len(self._jointed) <= FEW_JOINTED else self._jointed)] = False
        searched = [item.size for item in self._own_templates if item.is_searched and item.weight is not None]
        self._windows = Windows(self.physics, self.static_handles.values(), min(filter(None, searched), default=0.0))
        self._rolls = rolls = self._by_row((bool(item.rollers) for item in self._templates), bool)
        self._sliding = Sliding(
            self._hook, [self.handles[path] for path in self.paths], np.where(may_slide, self._radii, -1.0),
            self._sizes, rolls, self.time_step, self._period,
        )  # fmt: skip
        self._racing = Racing(self._limits, self.time_step)
        self._grip()
        self._hook.rollers = rollers_of(
            self.physics, self._stock.statics, self.static_handles,
            ((self.handles[self.paths[row]], self._templates[self._template_of[row]]) for row in np.flatnonzero(rolls)),
        )  # fmt: skip
        #: Colliders of bodies that move and are surfaces of triangles, until it is said that two of them meet.
        self._surfaces_met = set[Any]()
        if any(item.surfaces for item in self._own_templates):
            kinds = map(self._templates.__getitem__, self._template_of.tolist())
            self._surfaces_met = surfaces_of(self.physics, zip(self.handles.values(), kinds, strict=True))
        self._hook.meshes = self._meshes()
        self._hook.lying = lying(self.physics, self._hook.rollers)
        #: Handles of the bodies that were kinematic from the beginning, by path.
        self._leaders = {path: handle for path, handle in self.handles.items() if path not in self.weights}
        self._lay_floor()
        self._hook.pivots = pivots_of(self.constraints, self.handles, self.static_handles)
        self._hook.attach(self.physics)

    @cached_property
    def _own_templates(self) -> list[Template]:
        """The templates of the bodies of this space: others of the scene have more."""
        return [self._templates[number] for number in set(self._template_of.tolist())]

    def _by_row(self, values: Iterable[Any], dtype: type = float) -> NDArray[Any]:
        """Values of templates as values of bodies (n,)."""
        return np.array(list(values), dtype)[self._template_of]

    # ----------------------------------------------------------------------- going on

    def _place_again(self) -> None:
        """Let bodies and static colliders go on from where they are in the earlier spaces, with their masses."""
        bodies = self.physics.rigid_bodies
        for space in self._earlier:
            for own, others in ((self.handles, space.handles), (self.static_handles, space.static_handles)):
                for path, handle in others.items():
                    body, before = bodies[own[path]], space.physics.rigid_bodies[handle]
                    body.position = before.position
                    if path in space.weights:
                        body.linvel, body.angvel, body.is_enabled = before.linvel, before.angvel, before.is_enabled
                    if handle in space._surfaces:
                        self._surfaces[own[path]] = space._surfaces[handle]
            for path, weight in space.weights.items():
                if weight is not self.weights[path]:
                    self.weights[path] = weight
                    bodies[self.handles[path]].set_additional_mass_properties(of_solver(weight), True)

    def _go_on(self) -> None:
        """Take over what the earlier spaces have beside bodies and joints."""
        for material, values in self._stock.surfaces.items():
            self.set_surface(material, *values)
        self._asleep, bodies = set(), self.physics.rigid_bodies
        for space in self._earlier:
            for path, weight in space._led.items():
                self.weights[path] = weight
                self.set_led(path, None)
            for own, others in ((self.handles, space.handles), (self.static_handles, space.static_handles)):
                for path, handle in others.items():
                    for new, old in zip(bodies[own[path]].colliders, space.physics.rigid_bodies[handle].colliders,
                                        strict=True):  # fmt: skip
                        self.physics.colliders[new].is_enabled = space.physics.colliders[old].is_enabled
            for path in space.weights:
                if space.physics.rigid_bodies[space.handles[path]].is_sleeping:
                    self._asleep.add(path)
            self.targets.update(space.targets)
            self._expected.update(space._expected)
            self._led_drives.update(space._led_drives)
            self._leading.take(space._leading)
            self.loads.asked |= space.loads.asked
            self.broken += space.broken
            self.last_loads.update(space.last_loads)
            for number, held in space.grabs.items():
                position, rotation = self.pose(held.path)
                self.grab(number, held.path, position + frames.matrix_of(rotation) @ np.array(held.point))
                self.grabs[number].target = held.target
                hand = space.physics.rigid_bodies[held.hand].translation
                self.physics.rigid_bodies[self.grabs[number].hand].translation = hand
        self._frame = self._earlier[0]._frame
        self._matter = _matter([self.weights.get(path) for path in self.paths])
        # The earlier spaces may be kept by a snapshot; this one needs them no more.
        self._earlier = ()

    # ----------------------------------------------------------------------- building

    def _tell_heavy(self) -> None:
        """Name the bodies whose friction the solver loses: it takes the square of so small an inverse mass for 0."""
        if all(item.weight is None or item.weight.mass <= HEAVIEST for item in self._own_templates):
            return
        for path, weight in self.weights.items():
            if weight.mass > HEAVIEST and self.bodies[path].colliders:
                prim = self.bodies[path].prim
                self.notices.add(
                    "BodyTooHeavy", prim,
                    f"{prim.display} weighs {weight.mass:.3g} kg: from {HEAVIEST:.0e} kg on the solver loses the "
                    "friction of a body, and it slides freely.",
                )  # fmt: skip

    def _part_jams(self, joints: JointBuilder, pairs: Iterable[tuple[str, ...]]) -> None:
        """Keep bodies from colliding that touch where the joints of their tree leave no way apart, and say so.

        pairs: paths of those that do not collide anyway.
        """
        ends = {item.facts.path: (item.facts.body0 or item.facts.static0, item.facts.body1 or item.facts.static1)
                for item in self.constraints}  # fmt: skip
        everything = {**self.static_handles, **self.handles}
        trees = {everything[path] for item in self.constraints if item.state.reduced
                 for path in ends[item.facts.path] if path in everything}  # fmt: skip
        if not trees:
            return
        parted = [*pairs, *(ends[item.facts.path] for item in self.constraints if not item.facts.collides)]
        known = {frozenset(everything.get(path) for path in pair) for pair in parted}
        paths = {handle: path for path, handle in everything.items()}
        jammed = {pair for space in self._earlier for pair in space.jammed}
        for first, second, moves in jams(self.physics, trees, known):
            pair = tuple(sorted((paths[first], paths[second])))
            jammed.add(pair)
            if moves and not self._earlier:
                prim, other = (self.layout.model.prims[path] for path in pair)
                self.notices.add(
                    "ContactJammed", prim,
                    f"{prim.display} and {other.display} touch at the start, and no joint can move them apart at once: "
                    "they pass through each other.",
                )  # fmt: skip
        joints.part(jammed)
        self.jammed = frozenset(jammed)

    def _tune(self) -> None:
        parameters = self.physics.integration_parameters
        parameters.dt = self.time_step / self.substeps
        parameters.normalized_max_linear_velocity = CLAMP / parameters.length_unit
        contacts = self._needs.contacts
        parameters.num_solver_iterations = contacts.small_steps
        parameters.num_internal_pgs_iterations = self.quality.sweeps
        if len(self._rows) <= tuning.FEW and not self._needs.is_jointed:
            parameters.num_internal_pgs_iterations *= tuning.FEW_SWEEPS
            parameters.num_internal_stabilization_iterations = tuning.FEW_RELAXATIONS
        self._frequency = contacts.frequency
        self._soften_contacts(0.0)
        self._seeing = tune_joints(
            self.physics, self.constraints, self.weights, self.handles, self.bodies, self.quality, contacts.small_steps,
            self.notices,
        )  # fmt: skip
        breaks = self.loads.breaks_in_loops(self.physics, self.constraints)
        if breaks:
            sweeps = max(parameters.num_internal_pgs_iterations, tuning.LOOP_SWEEPS)
            parameters.num_internal_pgs_iterations = sweeps
        for item in () if self._earlier else self.loads.unknown(self.physics, self.constraints):
            prim = item.facts.prim
            self.notices.add(
                "LoadUnknown", prim,
                f"{prim.display} never breaks: it holds bodies in a loop, where the load of a joint of its kind is "
                "not known.",
            )  # fmt: skip
        if breaks or any(joint_effects.has_armature(constraint) for constraint in self.constraints):
            # The motor of an armature remembers a speed for a whole step of the solver: it takes no smaller ones. The
            # solver tells the load of a joint for the last of the smaller ones only, in which a blow may be over.
            bodies = [self.physics.rigid_bodies[self.handles[path]] for path in self.weights]
            more = max(body.additional_solver_iterations for body in bodies)
            self.substeps *= parameters.num_solver_iterations + more
            parameters.num_solver_iterations, parameters.dt = 1, self.time_step / self.substeps
            for body in bodies:
                body.additional_solver_iterations = 0
            self.loads.forget()
        if self._is_bouncing:
            # A body that is seen to come does not enter the other in the step of its impact, which would cost height.
            sizes = [template.size for template in self._templates]
            for path, number in zip(self.paths, self._template_of.tolist(), strict=True):
                if sizes[number] > 0.0:
                    self.physics.rigid_bodies[self.handles[path]].soft_ccd_prediction = 0.5 * sizes[number]

    def _set_sleep(self, only: Collection[str] | None = None) -> None:
        """Set how slow each body must be to fall asleep. only: the paths of those for which it may have changed."""
        bodies, wanted = self.physics.rigid_bodies, self._thresholds()
        slowest: dict[Any, float] = {}
        for handle, speed in drive_speeds(self.constraints):
            slowest[handle] = min(speed, slowest.get(handle, math.inf))
        for (path, handle), number in zip(self.handles.items(), self._template_of.tolist(), strict=True):
            if path in self.weights and (only is None or path in only):
                move, turn = wanted[number]
                most = slowest.get(handle, math.inf)
                self._stay_awake_above(bodies[handle], min(move, most), min(turn, most))

    def _thresholds(self) -> list[tuple[float, float]]:
        """`thresholds` of bodies without drives, by template."""
        is_pulled = any(self.gravity)
        return [thresholds(item.size, is_heavy=is_pulled and item.settings.gravity != 0.0) for item in self._templates]

    def _stay_awake_above(self, body: Any, move: float, turn: float) -> None:
        """Set the speeds, m/s and rad/s, below which one of the solver's bodies may fall asleep."""
        activation = body.activation
        # The solver compares squares of speeds, and multiplies one side by the length unit.
        activation.linear_threshold = move / math.sqrt(self.physics.integration_parameters.length_unit)
        activation.angular_threshold = turn
        body.activation = activation

    def _soften_contacts(self, rate: float) -> None:
        """Set how contacts yield. rate: how many of its own sizes the fastest body moves in a second."""
        parameters = self.physics.integration_parameters
        step = self.time_step / self.substeps / parameters.num_solver_iterations
        for name, frequency in (
            ("contact_softness", self._frequency),
            ("static_contact_softness", tuning.STATIC_STIFFNESS * self._frequency),
        ):
            setattr(parameters, name, SpringCoefficients(frequency, impact_damping(frequency, step, rate)))

    def _add_bodies(self) -> None:
        """Add bodies and static colliders, and keep what is needed of them beside the solver."""
        numbers = self._template_of.tolist()
        slow = self._thresholds()
        for number in set(numbers):
            if self._templates[number].weight is not None:
                # Before the body is added as often as there are twins: one by one takes an eighth of the build.
                self._stay_awake_above(self._templates[number].body, *slow[number])
        self.handles = dict(zip(self.paths, self._stock.add_bodies(self.physics, self._rows), strict=True))
        self.static_handles = self._stock.add_statics(self.physics)
        self._static_materials = {static.path: static.material for static in self._stock.statics}
        weights = [template.weight for template in self._templates]
        self.weights = dict(zip(self.paths, map(weights.__getitem__, numbers), strict=True))  # type: ignore[arg-type]
        if None in weights:
            self.weights = {path: weight for path, weight in self.weights.items() if weight is not None}
        special = {number for number, template in enumerate(self._templates) if not template.is_plain}
        for row, number in enumerate(numbers) if special else ():
            if number in special:
                self._note_special(row, self._templates[number])

    def _note_special(self, row: int, template: Template) -> None:
        path, settings = self.paths[row], template.settings
        if template.weight is not None:
            if template.starts_asleep:
                self._asleep.add(path)
            if min(settings.max_speed, settings.max_spin) < NO_LIMIT:
                self._limits.append((row, settings.max_speed, settings.max_spin))
        if template.surface is not None:
            self._surfaces[self.handles[path]] = template.surface

    def _part_rows(self) -> None:
        """Make balls smaller that touch and bounce in a row, as in Newton's cradle: blows pass one after the other."""
        if not self._is_bouncing:
            return
        kinds = self._template_of
        lively = np.array([item.bounce if item.weight is not None else -1.0 for item in self._templates], float)
        sizes = np.array([template.size for template in self._templates], float)
        places = self.places.positions[[body.row for body in self.bodies.values()]]
        bodies = self.physics.rigid_bodies
        for row in ball_rows.rows_that_bounce(places, sizes[kinds], lively[kinds]):
            handles = [handle for each in row for handle in bodies[self.handles[self.paths[each]]].colliders]
            balls = [(handle, self.physics.colliders[handle].shape.as_ball()) for handle in handles]
            are_balls = all(ball is not None for _, ball in balls)
            for handle, ball in balls if are_balls else ():
                self.physics.colliders[handle].shape = rapier3d.SharedShape.ball(ball.radius * (1.0 - tuning.ROW_GAP))
            prim = self.bodies[self.paths[row[0]]].prim
            text = ball_rows.parted_text(prim, tuning.ROW_GAP) if are_balls else ball_rows.weak_text(prim)
            self.notices.add("BouncesInRow", prim, text)

    def _grip(self) -> None:
        """Let the solver ask for the friction of contacts whose material holds a resting body better; of few bodies."""
        self._hook.grips = {}
        uneven = {name for name, grip in self._grips.items() if grip.is_uneven}
        is_ground = not uneven.isdisjoint(self._static_materials.values())
        wanted = [is_ground or not uneven.isdisjoint(template.materials) for template in self._templates]
        if not uneven or not any(wanted):
            return
        number = int(np.array(wanted)[self._template_of].sum())
        if number > tuning.MOST_GRIPS:
            for name in sorted(uneven):
                material, grip = self.model.prims[name], self._grips[name]
                self.notices.add(
                    "StaticFriction", material,
                    f"{material.display} has static friction {grip.static:g} and dynamic friction {grip.dynamic:g}: "
                    f"bodies at rest get the dynamic one, too, because {number} bodies may touch it, more than "
                    f"{tuning.MOST_GRIPS}.",
                )  # fmt: skip
            return
        bodies = self.physics.rigid_bodies
        for path, kind in zip(self.paths, self._template_of.tolist(), strict=True):
            colliders = bodies[self.handles[path]].colliders
            for collider, name in zip(colliders, self._templates[kind].materials, strict=True):
                self._hook.grips[collider] = self._grips[name]
        for path, name in self._static_materials.items():
            self._hook.grips[bodies[self.static_handles[path]].colliders[0]] = self._grips[name]

    def _soften_wheels(self) -> None:
        """Give wheels softer drives where theirs are rigid."""
        number = self.physics.integration_parameters.num_solver_iterations
        for item, inertias in wheels_of(self.constraints, self.weights).items():
            more = self.physics.rigid_bodies[item.handles[1]].additional_solver_iterations
            soften(item, self.physics, inertias, self.time_step / self.substeps / (number + more))
            self._softened.append(item)

    def _free_springs(self) -> None:
        """Let springs swing as far as they do by themselves, without what the solver damps in steps of this length."""
        number = self.physics.integration_parameters.num_solver_iterations
        bodies = self.physics.rigid_bodies
        for item in self.constraints:
            if any(drive.stiffness > 0.0 for _, drive in item.drives()):
                more = max(bodies[handle].additional_solver_iterations for handle in item.handles)
                item.small_step = self.time_step / self._steps / (number + more)
                item.yields = yielding(item.facts, self.weights, is_held=True)
                if item.active:
                    item.apply_drives(self.physics)

    def _wheels(self) -> dict[Any, Weight]:
        """`ContactHook.wheels`; none if there are too many."""
        wheels = driven_wheels(self.physics, self.constraints, self.handles, self.weights)
        if len(wheels) <= tuning.MOST_GRIPS:
            return wheels
        prim = self.bodies[next(path for path in self.paths if self.handles[path] in wheels)].prim
        self.notices.add(
            "WheelsTooMany", prim,
            f"{prim.display} is one of {len(wheels)} driven wheels, more than {tuning.MOST_GRIPS}: robots with skid "
            "steering turn up to 25 % too fast.",
        )  # fmt: skip
        return {}

    def _meshes(self) -> set[Any]:
        """`ContactHook.meshes`; none if there are too many."""
        number = len(self._surfaces_met)
        if number <= tuning.MOST_SLIDING:
            return set(self._surfaces_met)
        parents = {self.physics.colliders[handle].parent for handle in self._surfaces_met}
        prim = self.bodies[next(path for path in self.paths if self.handles[path] in parents)].prim
        self.notices.add(
            "MeshesTooMany", prim,
            f"{prim.display} has one of {number} moving colliders that are triangles and not convex, more than "
            f"{tuning.MOST_SLIDING}: they may leap, stop, or slide too far.",
        )  # fmt: skip
        return set()

    def _rows_among(self, paths: Collection[str]) -> list[int]:
        """Rows of the bodies with these paths; most worlds of many bodies have none."""
        return [row for row, path in enumerate(self.paths) if path in paths] if paths else []

    @property
    def _views(self) -> list[Any]:
        """The solver's bodies, in the order of `paths`; got on first use, which is not needed to build a world."""
        if self._got is None:
            self._got = list(map(self.physics.rigid_bodies.__getitem__, self.handles.values()))
        return self._got

    # ----------------------------------------------------------------------- stepping

    def step(self, positions: NDArray[np.float64], rotations: NDArray[np.float64]) -> Step:
        """One time step. Writes the poses of the bodies that are awake, (n, 3) and (n, 4), w first."""
        before, turned = positions.copy(), rotations.copy()
        self._move_windows(positions)
        with panics_named():
            lost = self._step()
            awake = self.read_poses(positions, rotations, everything=False)
            self._frame += 1
            self._ways = ways = np.linalg.norm(positions - before, axis=1)
            self.watch_fast(ways)
            self._corrections.watch_slow(positions, ways, self._steps, self._touching)
            asks = not self._is_told and self._frame % SPINS_OF_CROWD == 0
            if self._racing or asks or len(self.weights) <= tuning.CROWD:
                turns = _turns(turned, rotations)
                self._corrections.watch_turns(turns, awake)
                self._watch_swings(awake)
                self._watch_sliding(ways, turns)
                self._racing.watch(self._views, ways, turns, self._frame)
                self._watch_held_back(ways, turns)
            else:
                self._watch_held_back(ways, 0.0)
            if self._small is not None:
                self._tell_missed(self._small)
            if self._surfaces_met and self._frame % self._period == 1:
                self._tell_meeting()
            gaining = "" if self._frame % self._period else self._made_energy(self._period * self.time_step)
        return Step(awake, lost, gaining)

    def _tell_missed(self, small: missed.SmallContacts) -> None:
        """Notice a small box or hull that tilts or sinks, because the solver finds half of its contact."""
        path = self._path_of.get(small.look(self.physics, self._frame))
        if path is not None:
            prim = self.model.prims[path]
            self.notices.add(
                "SmallBoxes", prim,
                f"{prim.display} lies on another small box or hull, and tilts or falls through: the solver misses "
                "corners of their contact or its direction, because their faces are smaller than 5 cm2.",
            )  # fmt: skip
            self._small = None

    def _tell_meeting(self) -> None:
        """Notice a body whose triangles touch those of another one, or of what does not move."""
        met = meeting(self.physics, self._surfaces_met)
        path = None if met is None else self._path_of.get(met[0])
        if met is not None and path is not None:
            prim = self.model.prims[path]
            text = (
                f"{prim.display} touches another body that moves, and both collide as their triangles, which are not "
                "convex: they creep or pass through each other."
            ) if met[1] else (
                f"{prim.display} moves, is not convex, and touches static triangles with its own: it may stick to "
                "them, slide too far, or drift aside."
            )  # fmt: skip
            self.notices.add("MeshesMeet", prim, text)
            self._surfaces_met = set()

    def _move_windows(self, positions: NDArray[np.float64]) -> None:
        """positions: of the bodies, (n, 3), m."""
        moving = self._matter.masses > 0.0
        if self._windows.move(self.physics, positions[moving], (self._radii + 2.0 * self._ways)[moving]):
            self._hook.ledges.forget()

    def _step(self) -> list[str]:
        """Let the solver make a time step. Returns the paths of bodies whose state was not finite any more."""
        lost: list[str] = []
        self._impulses.begin()
        self._rescuer.remember(self.physics, self.handles, self.constraints)
        starts = {path: self.pose(path) for path in self.targets}
        for constraint in self._softened:
            lead(constraint, self.physics, self.time_step)
        measured = [constraint for constraint in self.constraints if self.loads.measures(constraint)]
        steps = max(self.substeps, self._turning_steps(starts), self._rolling_steps(), self._led_steps(),
                    self._precessing_steps())  # fmt: skip
        self.physics.integration_parameters.dt = self.time_step / steps
        if steps != self._steps:
            self._steps = steps
            self._free_springs()
        ways = {
            path: self._leading.way(
                path, self._frame, self.time_step, starts[path], goal, self._expected.get(path)
            )
            for path, goal in self.targets.items()
        }  # fmt: skip
        self._led_on = frozenset(path for path, way in ways.items() if way.moves)
        if self._leaders:
            self._lay_floor()
        for number in range(steps):
            is_loop = bool(measured) and self.loads.breaks_in_loops(self.physics, self.constraints)
            before = self._states() if is_loop else []
            self._swing_or_advance(number, steps, ways, measured)
            overloaded = self.loads.after(self.physics, measured, self.time_step / steps) if measured else []
            for _ in range(tuning.MOST_BREAKS if before else 0):
                # What breaks first takes the load from others: the same step again without it.
                first = most_loaded(overloaded)
                if len(first) == len(overloaded):
                    break
                for constraint in first:
                    self._break(constraint)
                for view, pose, speed, spin in before:
                    view.position, view.linvel, view.angvel = pose, speed, spin
                self._advance(number, steps, ways, measured, is_again=True)
                overloaded = self.loads.after(self.physics, measured, self.time_step / steps)
            for constraint in overloaded:
                self._break(constraint)
            if not self.physics.quarantine.is_empty():
                lost += self._rescuer.rescue(self.physics, self.handles, self.constraints)
                self._rotors.forget()
                self._let_go(lost)
                self._upkeep = None
                self.loads.forget()
            if self._impulses.is_on:
                self._impulses.add(self._path_of, touching_bodies(self.physics))
            limit_speeds(self._limited, self.physics, self.weights, self._path_of)
            self._racing.slow_down(self._views)
        for constraint in self.bonds.broken(self.physics):
            self._break(constraint)
        if self.model.air.rolling > 0.0:
            bodies = self.physics.rigid_bodies
            rolling = [(bodies[self.handles[path]], weight) for path, weight in self.weights.items()]
            brake(self.physics, rolling, self.model.air.rolling, self.time_step / steps, self.time_step)
        if self.targets or self.grabs or lost:
            self._watch.forget()
        self.targets.clear()
        self._expected.clear()
        self._led_drives.clear()
        return lost

    def _lay_floor(self) -> None:
        """Kinematic bodies that stand still in this time step are part of the floor, as belts in a row are."""
        still = [handle for path, handle in self._leaders.items()
                 if path not in self._led_on and path not in self._led]  # fmt: skip
        self._hook.lay([*self.static_handles.values(), *still], still)

    def _swing_gently(self) -> None:
        if self._swings.rows:
            self._swings.close_gently(self.physics, self._views, self.time_step / self.substeps)

    def _watch_swings(self, awake: NDArray[np.bool_]) -> None:
        if self._swings.rows:
            self._swings.watch(self.physics, self._views, awake, self.time_step, self._steps)

    def _swing_or_advance(self, *step: Any) -> None:
        """`_advance`, in a way that keeps the energy of what swings freely."""
        is_free = self._swings.now and not self.grabs
        if not is_free or not self._swings.advance(self.physics, self._views, lambda: self._advance(*step)):
            self._swings.now = False
            self._advance(*step)

    def _let_go(self, lost: Collection[str]) -> None:
        """Switch off the joints of bodies that stay disabled: the solver cannot put what hangs on them to sleep."""
        bodies = self.physics.rigid_bodies
        gone = {path for path in lost if not bodies[self.handles[path]].is_enabled}
        for constraint in self.constraints:
            if constraint.active and not gone.isdisjoint((constraint.facts.body0, constraint.facts.body1)):
                constraint.set_enabled(self.physics, False)

    def _advance(
        self, number: int, steps: int, ways: Mapping[str, Way], measured: Sequence[Constraint],
        *, is_again: bool = False,
    ) -> None:  # fmt: skip
        """The step of the solver with a number, of so many in a time step. measured: joints whose loads are wanted.

        is_again: the step was made before, with joints that are broken now; their impulses are no start for others.
        """
        part, seconds = (number + 1) / steps, self.time_step / steps
        for path, way in ways.items():
            self._drive_kinematic(path, *way.at(part))
        for (path, dof), (start, drive) in self._led_drives.items():
            target = drive.target_position - (1.0 - part) * (drive.target_position - start)
            self._by_path[path].set_drive_of(self.physics, dof, replace(drive, target_position=target))
        for held in self.grabs.values():
            pull(self.physics, held, 1.0 / (steps - number))
        for constraint in self._kept_up():
            constraint.upkeep(self.physics)
        for effects in self._effective:
            effects.aim(self.physics, seconds)
        for follower in self.followers:
            follower.aim(self.physics, seconds)
        self._rotors.push(self.physics, seconds)
        for train in self.trains:
            train.push(self.physics, self.weights, seconds)
        if measured:
            self.loads.before(self.physics, self.constraints, is_next=number > 0)
        parameters = self.physics.integration_parameters
        parameters.warmstart_coefficient = 0.0 if is_again else 1.0
        self._hook.begin(self.physics)
        noted = self._corrections.noted(self.physics, self._views, self._frame, self._ways)
        self.physics.step()
        if self._swings.now:
            kinematic = [self.physics.rigid_bodies[self.handles[path]] for path in ways]
            self._swings.settle(self.physics, self._views, kinematic)
        self._hook.end(self.physics)
        self._rotors.release()
        self._corrections.go_on(noted, self.physics, self._touched, np.array(self.gravity), seconds)
        for train in self.trains:
            train.release(self.physics)

    def _states(self) -> list[tuple[Any, Any, Any, Any]]:
        """Of each body, and of each hand that holds one: itself, its pose, its linear and its angular velocity."""
        hands = [self.physics.rigid_bodies[held.hand] for held in self.grabs.values()]
        return [(view, view.position, view.linvel, view.angvel) for view in (*self._views, *hands)]

    def watch_fast(self, ways: NDArray[np.float64]) -> None:
        """Let the solver look between the places of bodies that leap, and balance slender ones that land.

        ways (n,): m, in the last time step. It looks only between those of bodies that leap: not at two that are both
        watched. Not of jointed bodies: it would put them back to where they touch without what they are joined to.
        """
        watched = ways > self._leaps * self.substeps
        if self._leaping_with is not None and watched.any():
            # Pieces that fly together touch: one that was watched alone would be stopped at its neighbours.
            watched = np.bincount(self._leaping_with[watched], minlength=len(watched))[self._leaping_with] > 0
            watched &= np.isfinite(self._leaps)
        for row in np.flatnonzero((watched != self._watched) & self._swept).tolist():
            self._views[row].ccd_enabled = bool(watched[row])
        rate = float((ways[watched] / self._leaps[watched]).max()) / (2.0 * self.time_step) if watched.any() else 0.0
        if watched.any() or self._watched.any():
            self._soften_contacts(rate)
        self._watched = watched
        self._landings.balance(self.physics.integration_parameters, ways)

    def _joined(self) -> Ties:
        ties = Ties()
        for item in self.constraints:
            if dynamic := self._dynamic_ends(item):
                ties.tie(dynamic)
        return ties

    def _dynamic_ends(self, item: Constraint) -> list[str]:
        return [path for path in (item.facts.body0, item.facts.body1) if path in self.weights]

    def _joined_rows(self) -> NDArray[np.int64] | None:
        if not self.constraints:
            return None
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(self._tied.root(path), len(numbers)) for path in self.paths], np.int64)

    def _held_in_place(self) -> set[str]:
        """Bodies that joints with what physics does not move hold: others do not hover against gravity.

        Not those on joints with others, whose places the solver sets right: their loads would be wrong.
        """
        ends = map(self._dynamic_ends, self.constraints)
        anchored = {dynamic[0] for dynamic in ends if len(dynamic) == 1}
        return {path for paths in self._tied.groups().values() if len(paths) == 1 for path in paths} & anchored

    def _has_seams(self) -> bool:
        """True if what does not move has inner edges: a surface of triangles, or several shapes beside each other."""
        bodies, colliders = self.physics.rigid_bodies, self.physics.colliders
        leaders = (handle for path, handle in self.handles.items() if path not in self.weights)
        still = [each for handle in (*self.static_handles.values(), *leaders) for each in bodies[handle].colliders]
        return len(still) > 1 or any(colliders[each].shape.as_cuboid() is None for each in still)

    def _watch_held_back(self, ways: NDArray[np.float64], turns: NDArray[np.float64] | float) -> None:
        """Look at fast bodies in each step of the solver. ways, turns (n,): m and rad, in the last time step."""
        self._corrections.watch_fast(ways, turns, self.substeps, self._frame + self._period)

    def _watch_sliding(self, ways: NDArray[np.float64], turns: NDArray[np.float64]) -> None:
        """Look at the contacts of bodies that move, or below which a surface runs. ways, turns (n,): m and rad, in the
        last time step."""
        if len(self.weights) <= tuning.CROWD:
            self._sliding.watch(ways, turns, self._frame)
            running = {*self._surfaces, *map(self.handles.__getitem__, self._led_on)}
            if running:
                self._sliding.watch_ridden(riders(self.physics, running), self._frame)
            if self._has_inner_edges and self._frame % LOOK_FOR_CAUGHT == 1:
                self._sliding.watch_caught(self.physics, self._hook.ledges.statics, self._frame)
        self._look()
        row = -1 if self._is_told else self._sliding.uncoupled(
            self.physics, self._views, ways, self._radii * turns, self._radii
        )  # fmt: skip
        if row >= 0:
            self._is_told = True
            prim = self.model.prims[self.paths[row]]
            self.notices.add(
                "FrictionOfPairs", prim,
                f"{prim.display} slides and spins at once, and turns about half as far as it should: friction couples "
                f"the two only where at most {tuning.MOST_SLIDING} bodies move, not for more than {FEW_JOINTED} "
                "jointed bodies, and not for articulations in reduced coordinates.",
            )  # fmt: skip

    def _look(self) -> None:
        self._sliding.choose(self.physics, self._frame, len(self.weights))

    def _turning_steps(self, starts: Mapping[str, tuple[Matrix, Matrix]]) -> int:
        """Steps that the fastest turn of a kinematic body takes that touches something."""
        most = 1
        for path, (_, before) in starts.items():
            cosine = min(abs(float(before @ self.targets[path][1])), 1.0)
            steps = turning_steps(self.time_step, 2.0 * math.acos(cosine) / self.time_step)
            if steps > most and self._touches(path):
                most = steps
        return most

    def _rolling_steps(self) -> int:
        """Steps that the fastest body takes that rolls."""
        most = self.substeps
        for row in np.flatnonzero(self._watched).tolist():
            steps = rolling_steps(self.time_step, self._views[row].angvel.norm(), self.substeps)
            if steps > most and self._touches(self.paths[row]):
                most = steps
        return most

    def _led_steps(self) -> int:
        """Steps that the body takes that a surface leads round most; of the fastest for their size."""
        most = self.substeps
        chosen = self._sliding.looked & self._corrections.may.held_back
        rates = np.zeros(len(chosen))
        rates[chosen] = self._ways[chosen] / self._sizes[chosen]
        # A surface that leads a slower body round so fast would have to be narrower than the body.
        rows = np.flatnonzero(rates > tuning.LED * most)
        for row in rows[np.argsort(-rates[rows], kind="stable")[:LOOK_AT_LED]].tolist():
            angle = angle_ahead(self.physics, self._views[row], self.time_step)
            # What rolls on a line is not turned by what is ahead.
            rate = 0.0 if self._rolls[row] else float(rates[row])
            most = max(most, led_steps(angle, rate, self.substeps))
        return most

    def _precessing_steps(self) -> int:
        """Steps that the fastest spin takes of a body whose joint lets the axis swing."""
        most = self.substeps
        small = self.physics.integration_parameters.num_solver_iterations
        for row in self._tops:
            body = self._views[row]
            steps = body.additional_solver_iterations + small
            most = max(most, precessing_steps(self.time_step, body.angvel.norm(), self.substeps, steps))
        return most

    def _touched(self, paths: Iterable[str]) -> set[str]:
        """Those of some bodies that something touches, or a hand holds."""
        grabbed = {grab.path for grab in self.grabs.values()}
        return {path for path in paths if path in grabbed or self._touches(path)}

    def _touching(self) -> set[str]:
        """Paths of the bodies that touch something."""
        return {self._path_of[each] for first, second, _ in touching_bodies(self.physics) for each in (first, second)
                if each in self._path_of}  # fmt: skip

    def _touches(self, path: str) -> bool:
        return touches(self.physics, self.handles[path])

    def _made_energy(self, seconds: float) -> str:
        """Path of the body that gained most if energy grew unphysically since the last call, `seconds` ago; or ""."""
        row = self._watch.look(self.physics, self._views, self._matter, self.constraints, seconds)
        return self.paths[row] if row >= 0 else ""

    def _kept_up(self) -> list[Constraint]:
        """The joints that need `upkeep` before each step; cached until a joint changes."""
        if self._upkeep is None:
            self._upkeep = [constraint for constraint in self.constraints if constraint.needs_upkeep(self.physics)]
            special = [item for item in self.constraints if item.active and any(joint_effects.freedoms_of(item))]
            apart = [item for item in special if not item.state.reduced]
            for constraint in apart:
                if not constraint.state.effects:
                    joint_effects.insert_effects(constraint, self.physics)
            self._effective = [joint_effects.Aim(item) for item in apart]
            fast = [item for item in special if item.state.reduced]
            self._limited = [
                item for item in fast
                if any(freedom.settings.max_speed < NO_LIMIT for _, freedom in joint_effects.freedoms_of(item))
            ]  # fmt: skip
        return self._upkeep

    def _break(self, constraint: Constraint) -> None:
        constraint.break_up(self.physics)
        self._weigh_ends(constraint)
        self._upkeep = None
        self.loads.forget()
        self.bonds.forget()
        self._watch.forget()
        self.broken.append(constraint.facts.path)
        self.last_loads[constraint.facts.path] = constraint.load, constraint.wrench_in_frame(self.physics)
        for path in (constraint.facts.body0, constraint.facts.body1):
            if path:
                self.physics.wake_up(self.handles[path])

    def pose(self, path: str) -> tuple[Matrix, Matrix]:
        """Pose of a body: position (3,) and quaternion (4,), w first."""
        pose = self.physics.rigid_bodies[self.handles[path]].position
        x, y, z, w = pose.rotation.quaternion
        return np.array(pose.translation.to_tuple()), np.array((w, x, y, z))

    def _drive_kinematic(self, path: str, position: Matrix, rotation: Matrix) -> None:
        body = self.physics.rigid_bodies[self.handles[path]]
        turn = rapier3d.Rotation3(*rotation.tolist())
        body.set_next_kinematic_position(Isometry3(tuple(position.tolist()), turn))

    # ----------------------------------------------------------------------- results

    def read_poses(
        self, positions: NDArray[np.float64], rotations: NDArray[np.float64], everything: bool = True
    ) -> Any:
        """Write the poses of bodies that are awake into (n, 3) and (n, 4), w first; returns the awake mask (n,).

        everything: write the poses of sleeping bodies too.
        """
        views = self._views
        awake = np.fromiter((not view.is_sleeping for view in views), bool, len(views))
        chosen = np.arange(len(views)) if everything else np.flatnonzero(awake)
        if len(chosen):
            raw = b"".join([views[index].position.to_bytes() for index in chosen.tolist()])
            values = np.frombuffer(raw, np.uint8).reshape(len(chosen), -1)[:, -28:]
            numbers = np.ascontiguousarray(values).view("<f4").reshape(len(chosen), 7).astype(float)
            rotations[chosen] = numbers[:, (3, 0, 1, 2)]
            positions[chosen] = numbers[:, 4:]
        return awake

    def velocities(self) -> NDArray[np.float64]:
        rows = [(*view.linvel.to_tuple(), *view.angvel.to_tuple()) for view in self._views]
        return np.array(rows, float).reshape(-1, 6)

    def contact_count(self) -> int:
        return sum(pair.has_any_active_contact for pair in self.physics.narrow_phase.contact_pairs())

    def contact_counts(self) -> dict[str, int]:
        return contact_counts(self.physics, {self.handles[path]: path for path in self.weights})

    def contact_points(self, most: int) -> list[tuple[float, ...]]:
        return contact_points(self.physics, {self.handles[path] for path in self.weights}, most)

    def contact_impulses(self) -> Mapping[tuple[str, str], float]:
        return self._impulses.measured()

    @cached_property
    def _path_of(self) -> dict[Any, str]:
        """Paths of bodies and static colliders by their handles in the solver."""
        return {handle: path for path, handle in (*self.static_handles.items(), *self.handles.items())}

    # ----------------------------------------------------------------------- changes

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self.targets[path] = position, rotation

    def expect_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self._expected[path] = position, rotation

    def grab(self, number: int, path: str, point: Matrix) -> None:
        masses = {each: weight.mass for each, weight in self.weights.items()}
        mass = hand_mass(path, (item.facts for item in self.constraints), masses)
        self.grabs[number] = grab(self.physics, path, self.handles[path], point, mass)

    def release(self, number: int) -> None:
        release(self.physics, self.grabs.pop(number))
        self._watch.forget()

    @property
    def gravity(self) -> tuple[float, float, float]:
        """m/s2."""
        x, y, z = self.physics.gravity.to_tuple()
        return (x, y, z)

    @gravity.setter
    def gravity(self, value: tuple[float, float, float]) -> None:
        if value != self.gravity:
            self.physics.gravity = value
            self._set_sleep()
            self.physics.wake_up_all()
            self._watch.forget()

    @property
    def statics(self) -> Collection[str]:
        return self.static_handles.keys()

    @property
    def joints(self) -> Collection[str]:
        return self._by_path.keys()

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        return self._by_path[path].frames(self.physics)

    def is_holding(self, path: str) -> bool:
        return self._by_path[path].active

    def is_reduced(self, path: str) -> bool:
        return self._by_path[path].state.reduced

    def joint_load(self, path: str) -> tuple[float, float]:
        if path in self.broken:
            return self.last_loads[path][0]
        self.loads.asked.add(path)
        return self._by_path[path].load

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        load = self.joint_load(path)
        if path in self.broken:
            return self.last_loads[path][1]
        return self._by_path[path].wrench_in_frame(self.physics) if any(load) else NO_WRENCH

    def drive(self, path: str, dof: str) -> Drive:
        return self._by_path[path].drive_of(dof)

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        self._by_path[path].set_drive_of(self.physics, dof, drive)
        self._led_drives.pop((path, dof), None)
        self._joint_changed(self._by_path[path])

    def lead_drive(self, path: str, dof: str, start: float) -> None:
        self._led_drives[path, dof] = start, self.drive(path, dof)

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        self._by_path[path].set_enabled(self.physics, enabled)
        self._joint_changed(self._by_path[path])

    def _joint_changed(self, constraint: Constraint) -> None:
        """Update caches and wake the bodies after a change of a joint."""
        self._set_sleep((constraint.facts.body0, constraint.facts.body1))
        self._weigh_ends(constraint)
        self._upkeep = None
        self.loads.forget()
        self.bonds.forget()
        self._watch.forget()
        self._swing_gently()
        if not constraint.state.reduced:
            # Rapier rebuilt the rest of its tree, with default damping.
            for other in self.constraints:
                if other.state.reduced:
                    undamp(self.physics.multibody_joints.multibody(other.state.link))
            for other in self.constraints:
                if other.state.reduced:
                    joint_effects.set_tree_settings(other, self.physics)
        for path in (constraint.facts.body0, constraint.facts.body1):
            if path in self.weights:
                self.physics.wake_up(self.handles[path])

    def set_surface(
        self, material: str, friction: float, restitution: float | None, static: float | None = None
    ) -> None:  # fmt: skip
        """Set friction and restitution of all colliders with a material."""
        self._watch.forget()
        if material in self._grips:
            mode = self._grips[material].mode
            self._grips[material] = Grip(friction if static is None else static, friction, mode)
            self._grip()
            self._hook.attach(self.physics)
        handles = [
            (self.handles[path], place)
            for path, number in zip(self.paths, self._template_of.tolist(), strict=True)
            for place, bound in enumerate(self._templates[number].materials) if bound == material
        ]  # fmt: skip
        handles += [
            (self.static_handles[path], 0) for path, bound in self._static_materials.items() if bound == material
        ]
        for handle, place in handles:
            collider = self.physics.colliders[self.physics.rigid_bodies[handle].colliders[place]]
            collider.friction = friction
            if restitution is not None:
                collider.restitution = restitution
            # Rapier caches friction per contact: re-enable the collider to recreate its contacts.
            collider.is_enabled = False
            collider.is_enabled = True
            if collider.parent is not None:
                self.physics.wake_up(collider.parent)

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        self._by_path[path].set_ranges(self.physics, facts)
        self._joint_changed(self._by_path[path])

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        body = self.physics.rigid_bodies[self.handles[path]]
        if velocity is None and path in self.weights:
            self._led[path] = self.weights.pop(path)
            body.body_type = rapier3d.RigidBodyType.KINEMATIC_POSITION_BASED
        elif velocity is not None and path in self._led:
            self.weights[path] = self._led.pop(path)
            body.body_type = rapier3d.RigidBodyType.DYNAMIC
            self.targets.pop(path, None)
            self._expected.pop(path, None)
            linear, angular = (np.array(part, float) for part in velocity)
            arm = body.center_of_mass.to_tuple() - np.array(body.position.translation.to_tuple())
            body.linvel = tuple((linear + np.cross(angular, arm)).tolist())
            body.angvel = tuple(angular.tolist())
        for handle in body.colliders:
            # See `BodyMaker.template`: contacts of kinematic bodies are not reused.
            self.physics.colliders[handle].active_hooks = rapier3d.ActiveHooks.MODIFY_SOLVER_CONTACTS
        self.physics.wake_up_all()
        self._rotors.forget()
        self._matter = _matter([self.weights.get(path) for path in self.paths])
        self.loads.forget()
        self._watch.forget()

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        if self._collider_handles is None:
            bodies = self.physics.rigid_bodies
            self._collider_handles = {
                prim.path: handle for body in self.bodies.values()
                for prim, handle in zip(body.colliders, bodies[self.handles[body.prim.path]].colliders, strict=False)
            } | {path: bodies[handle].colliders[0] for path, handle in self.static_handles.items()}  # fmt: skip
        if path in self._collider_handles:
            self.physics.colliders[self._collider_handles[path]].is_enabled = enabled
            self._hook.ledges.forget()
            self.physics.wake_up_all()
            self._watch.forget()

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        still = Surface(np.zeros(3), np.zeros(3), True)
        self._surfaces[self.handles[path]] = surface_of(prim) or still
        self._hook.attach(self.physics)
        self.physics.wake_up_all()
        self._watch.forget()

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        self._watch.forget()
        body = self.physics.rigid_bodies[self.static_handles[path]]
        w, x, y, z = rotation.tolist()
        body.position = Isometry3(tuple(position.tolist()), rapier3d.Rotation3(w, x, y, z))
        self._hook.ledges.forget()

    def pose_joint(self, pose: JointPose) -> None:
        """Teleport the bodies that a posed joint carries, and set their velocities to zero."""
        posed, paths = self._by_path[pose.path], pose.bodies
        bodies, reduced = self.physics.rigid_bodies, [item for item in self.constraints if item.state.reduced]
        if posed.state.reduced:
            bend(self.physics, posed, pose.relative, pose.value)
        elif posed.turns:
            posed.turn_to(self.physics, pose.value)
        for path in paths:
            body = bodies[self.handles[path]]
            body.position = isometry(pose.by @ matrix_of(body.position))
            body.linvel = body.angvel = (0.0, 0.0, 0.0)
        # Trees have their own coordinates in the solver.
        chosen = {self.handles[path] for path in paths}
        touched = [item for item in reduced if item is posed or not chosen.isdisjoint(item.handles)]
        follow(self.physics, touched)
        for path in paths:
            self.physics.wake_up(self.handles[path])
        self._rotors.forget()
        self._watch.forget()

    def set_mass(self, path: str, mass: float) -> None:
        if path in self._led:
            self._led[path] = self._led[path].scaled_to(mass)
            self._weigh((path,))
            return
        self.weights[path] = self.weights[path].scaled_to(mass)
        self.loads.forget()
        self._weigh((path,))
        self._matter = _matter([self.weights.get(path) for path in self.paths])
        self._free_springs()
        self._watch.forget()

    def _weigh_ends(self, constraint: Constraint) -> None:
        """Let the bodies of a joint feel its armature while it holds."""
        if constraint.is_rotor:
            self._weigh({constraint.facts.body0, constraint.facts.body1} & self._rotors.paths)

    def _weigh(self, paths: Collection[str]) -> None:
        """Give the solver the weights of bodies, with what rotors add."""
        for path in paths:
            weight = self.weights[path] if path in self.weights else self._led[path]
            felt = self._rotors.weigh(path, weight)
            self.physics.rigid_bodies[self.handles[path]].set_additional_mass_properties(of_solver(felt), True)

    # ----------------------------------------------------------------------- snapshots

    def save(self) -> SavedSpace:
        return SavedSpace(
            self.physics.snapshot(), self.gravity, [constraint.saved() for constraint in self.constraints],
            {number: copy.copy(held) for number, held in self.grabs.items()}, dict(self.weights), list(self.broken),
            dict(self._grips), self._frame, dict(self._led), self._leading.copy(), self._watched.copy(),
            self._sliding.state(), self._steps, self._racing.state(), self._ways.copy(), self._corrections.saved(),
            self._swings.now,
        )  # fmt: skip

    def load(self, saved: SavedSpace) -> None:
        self.physics = PhysicsWorld.restore(saved.solver)
        for constraint, state in zip(self.constraints, saved.states, strict=True):
            constraint.load_state(state)
            constraint.load, constraint.wrench = (0.0, 0.0), NO_WRENCH
        self.grabs = {number: copy.copy(held) for number, held in saved.grabs.items()}
        self.weights.clear()
        self.weights.update(saved.weights)
        self._led = dict(saved.led)
        self._leading = saved.leading.copy()
        self.broken = list(saved.broken)
        if self._grips != saved.grips:
            self._grips = dict(saved.grips)
            self._grip()
        self._hook.attach(self.physics)
        self._upkeep = None
        self.targets.clear()
        self._expected.clear()
        self._led_drives.clear()
        self._rescuer = Rescuer()
        self._rotors.forget()
        for path in self._rotors.paths:
            self._rotors.weigh(path, self.weights[path] if path in self.weights else self._led[path])
        self._matter = _matter([self.weights.get(path) for path in self.paths])
        self._watch.forget()
        self._got = None
        self.loads.forget()
        self.bonds.forget()
        self._watched = saved.watched.copy()
        self._frame, self.gravity = saved.frame, saved.gravity
        self._steps = saved.steps
        self._sliding.load(saved.sliding)
        self._racing.load(saved.racing)
        self._ways, self._swings.now = saved.ways.copy(), saved.swings
        self._corrections.chosen = copy.deepcopy(saved.corrections)
        self._windows.read(self.physics)
        self._hook.ledges.forget()
        if self._small is not None:
            self._small.forget()
        self._look()


def _turns(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles (n,) between quaternions (n, 4), w first, as twice the sine of half of each; rad."""
    across = np.cross(before[:, 1:], after[:, 1:]) + before[:, :1] * after[:, 1:] - after[:, :1] * before[:, 1:]
    return np.asarray(2.0 * np.linalg.norm(across, axis=1))


def _matter(weights: Sequence[Weight | None]) -> Matter:
    masses = [0.0 if weight is None else weight.mass for weight in weights]
    moments = [0.0 if weight is None else max(weight.moments) for weight in weights]
    return Matter(np.array(masses, float), np.array(moments, float))
