# SPDX-License-Identifier: GPL-3.0-or-later
"""The door for physics engines: how one is called, what it may be able to do, and the list of them.

An engine is one row of `ENGINES` and one class or program. A `Solver` runs in this process, behind the protocol
`Engine`; a `Program` runs in a Python of its own, and gets a USD file (`engines/`). All numbers are SI, radians, Z up.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from ..core.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray

    from ..core.fitting import Surface
    from ..core.frames import Matrix
    from ..core.model import Mesh, Prim
    from ..core.schema import Vector
    from .articulations import Tree
    from .filters import Filters
    from .joint_facts import Drive, JointFacts
    from .layout import Body, Layout
    from .notices import Notices
    from .weights import Weight


class NotLiveError(InputError):
    """An edit that this engine takes only in a world that is built anew."""

    def __init__(self, path: str) -> None:
        """path: of the prim."""
        super().__init__(f"The engine takes this change of '{path}' only when it starts; reset the preview.")


#: m/s. A faster body counts as unstable.
FASTEST = 1000.0


class Ability(StrEnum):
    """What an engine may be able to do, in the words that follow "does not" where it is not."""

    MOTION = "move bodies by itself"
    CONTACTS = "stop bodies where colliders touch"
    JOINTS = "simulate joints"
    LOADS = "measure what joints bear"
    GRABS = "let bodies be grabbed"
    #: Without it a world is built anew after an edit.
    EDITS = "take edits"
    SHAPES = "tell its shapes"
    TOUCHES = "tell where colliders touch"


class Habit(StrEnum):
    """What an engine does in its own way, however small its time steps are."""

    #: At its largest force, a drive turns what is not balanced about its axis as if that were heavier.
    UNBALANCED = "unbalanced"
    #: A part of a torque that bends a hinge turns it.
    BENT = "bent"
    #: While a drive pulls with its largest force, its damping slows it as inertia would: by damping times a time step.
    CLIPPED = "clipped"
    #: A drive of type acceleration is taken as one of type force.
    FORCES_ONLY = "forces_only"
    #: What an older schema of its maker says of a joint is not read, see `core.joint_settings.OLD_SCHEMAS`.
    NEW_WORDS_ONLY = "new_words_only"
    #: Cylinders roll on edges, which slows them.
    EDGED = "edged"


@dataclass(slots=True)
class Setup:
    """One physics scene, which an engine is made of.

    gravity: (3,), m/s2. bodies: by path, in the order of the rows of all arrays. statics: static colliders. joints:
    with their frames. trees: joints that may be simulated in reduced coordinates. filters: who does not collide.
    time_step: s. substeps: steps of the solver in each, 0: by the quality, a key of `core.qualities`.
    """

    layout: Layout
    notices: Notices
    scene: str
    gravity: Matrix
    filters: Filters
    time_step: float
    substeps: int
    quality: str
    bodies: dict[str, Body] = field(default_factory=dict)
    statics: list[Prim] = field(default_factory=list)
    joints: list[JointFacts] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)


class Step(NamedTuple):
    """What a time step did. awake: (n,), bodies that do not sleep. lost: paths of bodies whose numbers were not finite,
    or would not be in the next steps.

    gaining: path of a body that gains energy from no source, or "".
    """

    awake: NDArray[bool_]
    lost: Sequence[str] = ()
    gaining: str = ""


@dataclass(slots=True)
class Grab:
    """A held body: its path, the held point in the body's frame, m, and where that is pulled to in the world."""

    path: str
    point: Vector
    target: Vector


#: A body is held by a spring: its natural frequency (Hz) and damping ratio, its largest force as a multiple of the
#: weight on earth, and the damping rate (1/s) of the rotation.
GRAB_FREQUENCY, GRAB_DAMPING_RATIO, GRAB_STRONGEST, GRAB_SPIN_DAMPING = 3.0, 1.0, 40.0, 2.0


class JointPose(NamedTuple):
    """A joint that is posed by hand. value: m or rad, of the degree of freedom. relative: (4, 4), pose of its frame 1
    in frame 0. bodies: paths of those that move along, by the matrix `by` (4, 4), to rest.
    """

    path: str
    value: float
    relative: Matrix
    bodies: Sequence[str]
    by: Matrix


class Engine(Protocol):
    """One physics scene in an engine, stepped in time steps of `setup.time_step`.

    Positions (n, 3) and rotations (n, 4), quaternions w first, are those of the bodies of the setup, in its order.
    Bodies, static colliders and joints are named by their paths. Only what the abilities of its row promise is called;
    an engine that derives from this class need not write the rest.
    """

    #: Steps of the solver in each time step.
    substeps: int = 1
    #: True if bodies are not where their prims are once it is built, because joints were closed.
    is_moved_at_start: bool = False
    #: m/s2; may be set while it runs.
    gravity: Vector
    #: Of dynamic bodies.
    weights: Mapping[str, Weight]
    #: Joints that have broken, in that order.
    broken: Sequence[str] = ()
    #: ms, that a process of its own took for the last time step, with the way there and back; 0 in this process.
    delay: float = 0.0
    #: By the number that `grab` got.
    grabs: Mapping[int, Grab]

    def __init__(self, setup: Setup) -> None: ...

    @property
    def statics(self) -> Collection[str]:
        """The static colliders that it has."""
        return ()

    @property
    def joints(self) -> Collection[str]:
        """The joints that it simulates."""
        return ()

    def build(self) -> Iterator[float]:
        """Make what is simulated, in steps that each yield how many bodies and static colliders were made in them."""
        ...

    def close(self) -> None:
        """Free what the engine holds outside this process. Nothing is called after it."""
        return

    # ----------------------------------------------------------------------- running

    def step(self, positions: NDArray[float64], rotations: NDArray[float64]) -> Step:
        """One time step. Writes the poses of the bodies that are awake. Raises EngineError."""
        ...

    def read_poses(self, positions: NDArray[float64], rotations: NDArray[float64]) -> None:
        """Write the poses of all bodies."""
        ...

    def velocities(self) -> NDArray[float64]:
        """Linear velocities of the centres of mass and angular ones (n, 6) in the world, m/s and rad/s."""
        ...

    def save(self) -> Any:
        """A copy of the state."""
        ...

    def load(self, saved: Any) -> None:
        """Restore what `save` of this engine gave, bit for bit; edits since then are undone, too."""
        ...

    # ----------------------------------------------------------------------- what others move

    def set_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        """Let a kinematic body reach a pose at the end of the next time step."""

    def expect_kinematic_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        """Take note of where a kinematic body will be a time step after the pose that was just set: from it follows
        how fast it is at that pose. Engines need not use it."""

    def set_static_pose(self, path: str, position: Matrix, rotation: Matrix) -> None:
        """Teleport a static collider."""

    # ----------------------------------------------------------------------- Ability.TOUCHES

    def contact_count(self) -> int:
        """Pairs of colliders that touch."""
        return 0

    def contact_counts(self) -> Mapping[str, int]:
        """Points of contact of each dynamic body that has any."""
        return {}

    def contact_points(self, most: int) -> Sequence[tuple[float, ...]]:
        """(x, y, z) where colliders touch, m, the normal there, towards a body that physics moves, and the force on
        that body along it, N, in the last step of the solver; about `most`."""
        return ()

    def contact_impulses(self) -> Mapping[tuple[str, str], float]:
        """Impulses along the normals, N s, over the last time step, by the paths of what touched, sorted.

        They are measured from the first call on, which returns nothing.
        """
        return {}

    # ----------------------------------------------------------------------- Ability.JOINTS

    def joint_frames(self, path: str) -> tuple[Matrix, Matrix]:
        """The frames (4, 4) of a joint on both bodies, in the world."""
        raise KeyError(path)

    def is_holding(self, path: str) -> bool:
        """False for a joint that is off or broken."""
        raise KeyError(path)

    def is_reduced(self, path: str) -> bool:
        """True for a joint in reduced coordinates, which cannot give way."""
        raise KeyError(path)

    def pose_joint(self, pose: JointPose) -> None:
        """Move the bodies of a pose. No time passes."""
        raise KeyError(pose.path)

    def drive(self, path: str, dof: str) -> Drive:
        """A copy of the drive of a degree of freedom that can move; a drive without gains where it has none."""
        raise KeyError(path)

    def set_drive(self, path: str, dof: str, drive: Drive) -> None:
        """Replace a drive."""
        raise KeyError(path)

    def lead_drive(self, path: str, dof: str, start: float) -> None:
        """Let the target of a drive come evenly from a position to where it is now, in the next step.

        An engine that takes no smaller steps has it there at once.
        """

    # ----------------------------------------------------------------------- Ability.LOADS

    def joint_load(self, path: str) -> tuple[float, float]:
        """Force (N) and torque (N m) of a joint in the last step of the solver, or under which it broke.

        An engine may measure a joint from the first call on, which returns zero.
        """
        return (0.0, 0.0)

    def joint_wrench(self, path: str) -> tuple[Vector, Vector]:
        """Both on the second body, at its joint frame and along the axes of that; of the same step."""
        return ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    # ----------------------------------------------------------------------- Ability.GRABS

    def grab(self, number: int, path: str, point: Matrix) -> None:
        """Hold a dynamic body at a world point (3,) with a spring. The target of the grab may be set then."""
        raise KeyError(path)

    def release(self, number: int) -> None:
        """Let go."""
        raise KeyError(number)

    # ----------------------------------------------------------------------- Ability.EDITS

    def set_surface(self, material: str, friction: float, restitution: float | None, static: float | None) -> None:
        """Change a physics material; "" is what colliders without one have. None: restitution as it is, static friction
        as the dynamic one."""

    def set_mass(self, path: str, mass: float) -> None:
        """Scale the mass of a dynamic body, kg, and its inertia with it."""

    def set_joint_enabled(self, path: str, enabled: bool) -> None:
        """Switch a joint; a broken one stays broken."""

    def set_joint_ranges(self, path: str, facts: JointFacts) -> None:
        """Change the limits of a joint, its cone and the load under which it breaks to those of other facts."""

    def set_led(self, path: str, velocity: tuple[Vector, Vector] | None) -> None:
        """Make a body kinematic, or with a velocity dynamic: linear, of its origin, and angular one (m/s, rad/s)."""

    def set_collider_enabled(self, path: str, enabled: bool) -> None:
        """Switch a collider of a body, or a static one."""

    def set_surface_velocity(self, path: str, prim: Prim) -> None:
        """Let the surface of a body run as another state of its prim says."""

    # ----------------------------------------------------------------------- Ability.SHAPES

    @staticmethod
    def box_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> Matrix | None:
        """Edges (3,), m, of the box that is simulated for a mesh; None if it is none. rotation: (3, 3) of the prim."""
        return None

    @staticmethod
    def surfaces_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> list[tuple[Matrix, NDArray[Any]]]:
        """Points (n, 3) and triangles (m, 3) of what is simulated for a mesh, in the prim's frame without scale."""
        return []

    @staticmethod
    def decompose(
        surface: Surface, most: int, pieces: Sequence[Surface] | None = None,
        error: Callable[[Sequence[Surface]], float] | None = None, tolerance: float = 0.0,
    ) -> list[Surface]:  # fmt: skip
        """Convex parts that fill a mesh: at most `most`, or the fewest whose error is within a tolerance.

        pieces: convex parts that another program has made, to be joined. Raises InputError if the mesh is flat.
        """
        return [surface]


# --------------------------------------------------------------------------- the list


@dataclass(frozen=True, slots=True)
class Solver:
    """An engine in this process. name: as users read it. doc: what it is, for a tooltip. engine: "module:class", the
    module from this package on, or anywhere. get: sentence that says how to get what it needs. needs: module without
    which it is not here.
    """

    name: str
    doc: str
    engine: str
    abilities: frozenset[Ability] = frozenset()
    get: str = "Install the zip of the extension for this platform."
    needs: str = ""

    def is_here(self) -> bool:
        """False where what it needs is not installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    def load(self) -> type[Engine]:
        """The class, or what takes a setup as the class does. Raises MissingDependencyError."""
        module, _, name = self.engine.partition(":")
        try:
            return cast("type[Engine]", getattr(importlib.import_module(module, __package__), name))
        except ImportError as error:
            raise MissingDependencyError(f"The physics engine is missing ({error}). {self.get}") from error


@dataclass(frozen=True, slots=True)
class Program:
    """An engine in a Python of the user's own. program: file in `engines/`. packages: what its Python needs, as pip
    takes it. variable: environment variable with the path of that Python. engine, abilities: as of a `Solver`.
    habits: as they were measured.
    """

    name: str
    doc: str
    program: str
    packages: str
    variable: str
    engine: str = "..live.scene:LiveScene"
    abilities: frozenset[Ability] = frozenset(Ability) - {Ability.LOADS, Ability.TOUCHES}
    #: True if it bakes cloth, soft bodies and cables.
    deforms: bool = False
    #: True for a program for Node.js, which needs a folder with its packages in place of a Python, and reads no files.
    is_for_node: bool = False
    #: By how much faster than its target velocity it runs a drive without a spring.
    hurry: float = 1.0
    habits: frozenset[Habit] = frozenset()

    @property
    def key(self) -> str:
        """Its name in the list; "" where it is not in there."""
        return next((key for key, row in ENGINES.items() if row == self), "")

    @property
    def python(self) -> str:
        """The path of its Python, or its folder, of the preferences or the environment; "" where it is not set."""
        return PYTHONS.get(self.key) or os.environ.get(self.variable, "")

    @property
    def get(self) -> str:
        """Sentence that says how to get what it needs."""
        if self.is_for_node:
            return f"Set the folder of {self.name} in the preferences of the add-on, under Other Simulators."
        return f"Set the Python of {self.name} in the preferences of the add-on, under Other Simulators."

    def is_here(self) -> bool:
        """False where its Python is not set."""
        return bool(self.python)

    def load(self) -> type[Engine]:
        """What takes a setup as the class of an engine does. Raises MissingDependencyError."""
        module, _, name = self.engine.partition(":")
        try:
            made = getattr(importlib.import_module(module, __package__), name)
        except ImportError as error:
            raise MissingDependencyError(
                f"{self.name} gets the scene as a USD file, and this Blender or Python has no USD ({error})."
            ) from error
        return cast("type[Engine]", partial(made, self))


#: The Python that the preferences have for a program, by its key.
PYTHONS: dict[str, str] = {}
#: The engine that everything runs in unless another one is chosen.
PREVIEW = "preview"
# Its parts refuse each other in different versions, so both are named.
_GET_MUJOCO = (
    "Install the extension USD Physics Engines in Blender; in another Python: python -m pip install mujoco==4.0.0 "
    "mujoco-core==4.0.0."
)
#: The engine that is chosen for each physics scene.
AUTOMATIC = "automatic"
#: By the name that the command line takes. Command line, panel and preferences loop over the rows. The preference with
#: the Python of a program is its name here with `_python`.
ENGINES: dict[str, Solver | Program] = {
    PREVIEW: Solver("Preview", "Rapier, the engine of the preview", ".rapier.groups:GroupedSpace", frozenset(Ability)),
    AUTOMATIC: Solver(
        "Automatic", "MuJoCo for trees of joints that stand apart from piles, else Rapier; a notice says why",
        ".automatic:chosen_engine", frozenset(Ability), _GET_MUJOCO, "mujoco",
    ),
    "mujoco": Solver(
        "MuJoCo", "MuJoCo, for robots and mechanisms", ".mujoco.scene:MujocoScene", frozenset(Ability), _GET_MUJOCO,
        "mujoco",
    ),
    "physx": Program(
        "PhysX", "PhysX, the engine of Isaac Sim and Omniverse", "run_physx.py",
        "ovphysx physx-usd-schemas newton-usd-schemas", "USDPHYS_PHYSX_PYTHON",
        habits=frozenset({Habit.EDGED, Habit.NEW_WORDS_ONLY}),
    ),
    # Newton needs scipy for colliders that are meshes, and does not bring it.
    "newton": Program(
        "Newton", "Newton with the solver of MuJoCo", "run_newton.py",
        '"newton[sim]" newton-usd-schemas usd-core scipy', "USDPHYS_NEWTON_PYTHON", deforms=True,
        habits=frozenset({Habit.CLIPPED, Habit.FORCES_ONLY}),
    ),
    "havok": Program(
        "Havok", "Havok, the engine of games in Babylon.js", "run_havok.js", "@babylonjs/havok",
        "USDPHYS_HAVOK_FOLDER", is_for_node=True, hurry=2.5,
        habits=frozenset({Habit.UNBALANCED, Habit.BENT, Habit.EDGED}),
    ),
}  # fmt: skip


def preview_engine() -> type[Engine]:
    """The engine of the preview. Raises MissingDependencyError."""
    return engine_row(PREVIEW).load()


class WithPreviewShapes(Engine):
    """An engine that simulates meshes by the shapes of the preview."""

    @staticmethod
    def box_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> Matrix | None:
        return preview_engine().box_of(prim, geometry, rotation)

    @staticmethod
    def surfaces_of(prim: Prim, geometry: Mesh, rotation: Matrix) -> list[tuple[Matrix, NDArray[Any]]]:
        return preview_engine().surfaces_of(prim, geometry, rotation)

    @staticmethod
    def decompose(
        surface: Surface, most: int, pieces: Sequence[Surface] | None = None,
        error: Callable[[Sequence[Surface]], float] | None = None, tolerance: float = 0.0,
    ) -> list[Surface]:  # fmt: skip
        return preview_engine().decompose(surface, most, pieces, error, tolerance)


def engine_row(key: str) -> Solver | Program:
    """The row of an engine. Raises InputError."""
    if key not in ENGINES:
        raise InputError(f"There is no engine '{key}'; choose one of {', '.join(ENGINES)}.")
    return ENGINES[key]


def solvers() -> dict[str, Solver]:
    """The engines in this process."""
    return {key: row for key, row in ENGINES.items() if isinstance(row, Solver)}


def others() -> dict[str, Program]:
    """The engines in a process of their own, for which the user names a Python or a folder."""
    return {key: row for key, row in ENGINES.items() if isinstance(row, Program)}


def programs() -> dict[str, Program]:
    """The engines in a Python of the user's own, which read files."""
    return {key: row for key, row in others().items() if not row.is_for_node}
