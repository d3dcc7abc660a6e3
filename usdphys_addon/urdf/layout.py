# SPDX-License-Identifier: GPL-3.0-or-later
"""Robot -> prims: which link is a body, how prims are called, what joints, masses and limits become.

The result is a PhysicsModel, and beside it the frames, shapes and notes that UsdPhysics has no place for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core import frames, paths
from ..core.errors import InputError
from ..core.frames import Matrix
from ..core.model import GRAVCOMP, PhysicsModel, Prim
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue, Severity
from . import further, inertia
from .markup import Element
from .robot import SINGLE, Joint, Link, Loop, Robot, Shape, Surface
from .srdf import Pairs

Base = Literal["file", "fixed", "free"]
Drives = Literal["effort", "hold", "velocity", "none"]
#: Suffixes of degrees of freedom by the index of an axis.
_AXES = "XYZ"
#: Limits beyond, in rad or m, mean that there is none.
_UNLIMITED = 1e6
#: Links below each other: USD's time for a prim grows with its depth.
_MOST_LINKS_DEEP = 900
#: Of drives that hold a position, alone (Hz): an arm of 0.5 m sinks by 2 % of its length.
_FREQUENCY = 5.0
#: Kinds of joints whose coordinate is an angle.
ANGULAR = frozenset({"revolute", "continuous"})


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """base: fixed to the world as in the file, always, or never. prefix: of all names.

    merge_fixed: links on fixed joints become part of the body above. approximation: of mesh colliders. apart: names of
    links that do not collide with each other. drives: with the effort as a limit, gains that hold the position or the
    velocity, no gains, or no drives at all. self_collision: False: links of the robot do not collide with each other.
    visuals: False: only what collides. visual_colliders: visuals collide where a link has no collision.
    """

    base: Base = "file"
    prefix: str = ""
    merge_fixed: bool = False
    approximation: str = "convexHull"
    apart: Pairs = ()
    drives: Drives = "effort"
    self_collision: bool = True
    visuals: bool = True
    visual_colliders: bool = False


class Note(NamedTuple):
    """An attribute that UsdPhysics has no place for; a relationship if the type is "rel"."""

    name: str
    type: str
    value: Any


@dataclass(slots=True)
class Frame:
    """The prim of a link. local: (4, 4) in its parent prim."""

    path: str
    local: Matrix
    link: Link


@dataclass(slots=True)
class PlacedShape:
    path: str
    shape: Shape
    link: Link
    is_collider: bool


@dataclass(slots=True)
class Layout:
    """frames: of all links, parents first. names: URDF's name by path, where the prim has another.

    notes, applied: further attributes and API schemas by path. fixed_base: links that are welded to the world.
    """

    robot: Robot
    root: str
    options: LayoutOptions
    model: PhysicsModel = field(default_factory=PhysicsModel)
    frames: list[Frame] = field(default_factory=list)
    shapes: list[PlacedShape] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)
    applied: dict[str, list[str]] = field(default_factory=dict)
    link_paths: dict[str, str] = field(default_factory=dict)
    joint_paths: dict[str, str] = field(default_factory=dict)
    loop_paths: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    worlds: dict[str, Matrix] = field(default_factory=dict)
    fixed_base: list[str] = field(default_factory=list)
    #: Physics material by path of a collider.
    surfaces: dict[str, str] = field(default_factory=dict)
    #: Prims without a type that keep unknown elements, parents first.
    others: list[str] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    @property
    def geometry(self) -> str:
        return f"{self.root}/Geometry"

    @property
    def physics(self) -> str:
        return f"{self.root}/Physics"

    @property
    def materials(self) -> str:
        return f"{self.root}/Materials"


def plan(robot: Robot, options: LayoutOptions) -> Layout:
    """Decide on all prims of a robot."""
    return _Planner(robot, options).layout


class _Names:
    """Names that are taken; those that need no change come first."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def all(self, names: list[str]) -> dict[str, str]:
        by_name = {name: name for name in names if paths.ascii_name(name) == name}
        self.taken.update(by_name)
        for name in names:
            if name not in by_name:
                by_name[name] = self.one(name)
        return by_name

    def one(self, name: str) -> str:
        made = paths.free(paths.ascii_name(name), self.taken.__contains__)
        self.taken.add(made)
        return made


class _Planner:
    def __init__(self, robot: Robot, options: LayoutOptions) -> None:
        self.robot, self.options = robot, options
        self.layout = Layout(
            robot, f"/{paths.ascii_name(options.prefix + robot.name)}", options, issues=list(robot.issues)
        )
        #: Body that a link belongs to: the name of its link, or None for the world.
        self.owner: dict[str, str | None] = {}
        #: Links whose mass a body has, by its link.
        self.parts: dict[str, list[str]] = {}
        self.used = _Names()
        self.made_surfaces: dict[Surface, str] = {}
        self.has_masses = any(link.mass > 0 for link in robot.links.values())
        self.choose_bodies()
        self.place_links()
        self.write_bodies()
        self.joint_names = _Names()
        #: Results of `last_leader`, by the name of the joint.
        self.last_leaders: dict[str, tuple[Joint, float, float] | None] = {}
        self.write_joints()
        self.write_loops()
        self.write_shapes()
        self.write_roots()
        self.write_filters()
        if robot.text:
            self.write_others()

    def tell(
        self, code: str, severity: Severity, element: Element, message: str, fix: str, label: str = ""
    ) -> None:  # fmt: skip
        place = f"{element.file}:{element.line}"
        self.layout.issues.append(Issue(code, severity, "", label, f"{place}: {message}", fix))

    def name_of(self, name: str) -> str:
        return self.options.prefix + name

    # ------------------------------------------------------------------ links

    def place_links(self) -> None:
        layout, robot = self.layout, self.robot
        layout.model.add(Prim(layout.root))
        if layout.root[1:] != self.name_of(robot.name):
            layout.names[layout.root] = self.name_of(robot.name)
        made = self.used.all([self.name_of(name) for name in robot.links])
        for name in robot.in_order():
            joint = robot.parents.get(name)
            is_free = self.is_free(name)
            above = layout.geometry if joint is None or is_free else layout.link_paths[joint.parent]
            path = f"{above}/{made[self.name_of(name)]}"
            if path.count("/") > _MOST_LINKS_DEEP:
                raise InputError(f"'{robot.path.name}' has more than {_MOST_LINKS_DEEP} links below each other.")
            layout.link_paths[name] = path
            if made[self.name_of(name)] != self.name_of(name):
                layout.names[path] = self.name_of(name)
            local = np.eye(4) if joint is None else joint.child_pose
            layout.worlds[name] = local if joint is None else layout.worlds[joint.parent] @ local
            layout.frames.append(Frame(path, layout.worlds[name] if is_free else local, robot.links[name]))

    def is_free(self, name: str) -> bool:
        """True for a body that floats beside the body above: a robot of its own, which simulators look for below it."""
        joint = self.robot.parents.get(name)
        return joint is not None and joint.type == "floating" and self.owner[joint.parent] is not None

    def choose_bodies(self) -> None:
        """Decide for each link, parents first, which body it belongs to."""
        robot = self.robot
        for name in robot.in_order():
            link, joint = robot.links[name], robot.parents.get(name)
            if joint is None:
                # A bare root is a frame of the world.
                self.own(name, None if link.is_bare else name)
                continue
            above = self.owner[joint.parent]
            if joint.type != "fixed":
                self.own(name, name)
            elif link.mass <= 0 or (above is not None and (self.options.merge_fixed or self.is_weightless(above))):
                # Without a mass it would get one from its colliders; below a body without one it gives it its own.
                self.own(name, above)
            else:
                self.own(name, name)

    def own(self, name: str, body: str | None) -> None:
        self.owner[name] = body
        if body is not None:
            self.parts.setdefault(body, []).append(name)

    def is_weightless(self, body: str) -> bool:
        return not any(self.robot.links[name].mass > 0 for name in self.parts[body])

    # ------------------------------------------------------------------ bodies and masses

    def write_bodies(self) -> None:
        layout, robot = self.layout, self.robot
        for frame in layout.frames:
            name = frame.link.name
            if self.owner[name] != name:
                continue
            layout.bodies[name] = frame.path
            prim = layout.model.add(Prim(frame.path, world=layout.worlds[name], label=name))
            prim.add(usd_physics.RigidBodyAPI(kinematic_enabled=True if frame.link.is_kinematic else None))
            if frame.link.floats:
                self.note(frame.path, GRAVCOMP, "float", 1.0)
                prim.extras["motion"] = {"gravityFactor": 0.0, GRAVCOMP: True}
            inverse = frames.inverse_pose(layout.worlds[name])
            lump = inertia.lump_of(
                (robot.links[part], np.eye(4) if part == name else inverse @ layout.worlds[part])
                for part in self.parts[name]
            )
            if lump is not None:
                self.write_mass(prim, frame.link, lump)
            elif self.has_masses:
                self.tell("UrdfNoMass", "warning", frame.link.element,
                          f"'{name}' moves and has no mass; a simulator takes that of its colliders, or none.",
                          "Write an inertial, or set a mass.", name)  # fmt: skip

    def write_mass(self, prim: Prim, link: Link, lump: inertia.Lump) -> None:
        mass = usd_physics.MassAPI(mass=lump.mass, center_of_mass=frames.vector(lump.center))
        prim.add(mass)
        moments = inertia.moments_of(lump.tensor) if lump.tensor is not None else None
        if moments is None:
            self.tell("UrdfInertiaZero", "warning", link.element,
                      f"'{link.name}' has a mass and no inertia; a simulator takes that of its colliders.",
                      "Write the inertia, or compute it from the colliders.", link.name)  # fmt: skip
            return
        mass.diagonal_inertia, mass.principal_axes = moments
        if not inertia.is_physical(moments.moments):
            values = ", ".join(f"{value:g}" for value in moments.moments)
            self.tell("UrdfInertiaUnphysical", "warning", link.element,
                      f"No body has the moments of inertia of '{link.name}' ({values}): each is above zero, and not "
                      "more than the sum of the others.", "Compute them from the colliders.", link.name)  # fmt: skip

    # ------------------------------------------------------------------ joints

    def write_joints(self) -> None:
        robot, layout = self.robot, self.layout
        made = self.joint_names.all([self.name_of(name) for name in robot.joints])
        for name, joint in robot.joints.items():
            path = f"{layout.physics}/{made[self.name_of(name)]}"
            child = layout.link_paths[joint.child]
            is_free = joint.type == "floating" or self.owner[joint.child] != joint.child
            if not is_free and joint.type == "fixed" and self.options.base == "free":
                is_free = self.owner[joint.parent] is None
            if is_free:
                if not robot.text:
                    continue
                # There is no prim for it; its data are kept with the child.
                self.note(child, "urdf:joint:name", "string", name)
                self.note(child, "urdf:joint:type", "string", joint.type)
                self.note_numbers(child, joint)
                continue
            layout.joint_paths[name] = path
            if path != f"{layout.physics}/{self.name_of(name)}":
                layout.names[path] = self.name_of(name)
            self.write_joint(path, joint)
        for name in robot.joints:
            if name in layout.joint_paths:
                self.write_mimic(name)

    def note(self, path: str, name: str, type_: str, value: Any) -> None:
        self.layout.notes.setdefault(path, []).append(Note(name, type_, value))

    def note_numbers(self, path: str, joint: Joint) -> None:
        for key, value in joint.numbers.items():
            if key in ("limit:lower", "limit:upper", "limit:velocity") or key.startswith("dynamics:"):
                continue
            if not math.isfinite(value):
                continue
            # Of URDF 1.2: the mapping of URDF to USD has no numbers for these.
            kind = "string" if key.startswith("limit:") and key != "limit:effort" else "float"
            self.note(path, f"urdf:{key}", kind, f"{value:g}" if kind == "string" else value)

    def write_joint(self, path: str, joint: Joint) -> None:
        layout = self.layout
        body = self.owner[joint.parent]
        above = layout.root if body is None else layout.link_paths[body]
        between = layout.worlds[joint.parent]
        if body is not None and body != joint.parent:
            between = frames.inverse_pose(layout.worlds[body]) @ between
        elif body is not None:
            between = np.eye(4)
        axis, turn = _axis(joint)
        frame, inner = between @ joint.pose @ turn, joint.inner @ turn
        kind: type[usd_physics.Joint] = _KINDS[joint.type]
        value = kind(
            body0=(above,), body1=(layout.link_paths[joint.child],),
            local_pos0=frames.vector(frame[:3, 3]), local_rot0=frames.quaternion_of(frame[:3, :3]),
            local_pos1=frames.vector(inner[:3, 3]), local_rot1=frames.quaternion_of(inner[:3, :3]),
        )  # fmt: skip
        prim = layout.model.add(Prim(path, kind.usd_name, label=joint.name))
        prim.add(value)
        if isinstance(value, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
            value.axis = _AXES[axis]
            if joint.type != "continuous":
                limits = (joint.numbers.get(f"limit:{name}", 0.0) for name in ("lower", "upper"))
                value.lower_limit, value.upper_limit = map(_limit_of, limits)
            self.write_dynamics(prim, joint)
        elif joint.type == "universal":
            for dof in ("transX", "transY", "transZ", "rotZ"):
                prim.add(usd_physics.LimitAPI(low=1.0, high=-1.0), dof)
            # Turned about X last: Y stays with the parent.
            for dof, limit in (("rotY", "limit"), ("rotX", "limit2")):
                low, high = (_limit_of(joint.numbers.get(f"{limit}:{end}")) for end in ("lower", "upper"))
                if low is not None or high is not None:
                    prim.add(usd_physics.LimitAPI(low=low, high=high), dof)
        elif joint.type == "planar":
            for dof in ("transX", "rotY", "rotZ"):
                prim.add(usd_physics.LimitAPI(low=1.0, high=-1.0), dof)
        if self.robot.text:
            self.note_numbers(path, joint)

    def write_loops(self) -> None:
        """Joints that close loops: they hold bodies together, and are not of the articulation, which is a tree."""
        layout = self.layout
        for name, loop in self.robot.loops.items():
            owners = [self.owner[link] for link in loop.links]
            if owners[0] == owners[1]:
                continue
            made = self.joint_names.one(self.name_of(name))
            path = layout.loop_paths[name] = f"{layout.physics}/{made}"
            if made != self.name_of(name):
                layout.names[path] = self.name_of(name)
            axis, turn = _axis(loop)
            kind: type[usd_physics.Joint] = _KINDS[loop.type]
            ends, places = [], []
            for link, body, pose in zip(loop.links, owners, loop.poses, strict=True):
                ends.append(layout.root if body is None else layout.link_paths[body])
                above = np.eye(4) if body is None else frames.inverse_pose(layout.worlds[body])
                places.append(above @ layout.worlds[link] @ pose @ turn)
            value = kind(
                body0=(ends[0],), body1=(ends[1],), exclude_from_articulation=True,
                local_pos0=frames.vector(places[0][:3, 3]), local_rot0=frames.quaternion_of(places[0][:3, :3]),
                local_pos1=frames.vector(places[1][:3, 3]), local_rot1=frames.quaternion_of(places[1][:3, :3]),
            )  # fmt: skip
            if isinstance(value, usd_physics.RevoluteJoint | usd_physics.PrismaticJoint):
                value.axis = _AXES[axis]
                value.lower_limit, value.upper_limit = map(_limit_of, loop.limits)
            layout.model.add(Prim(path, kind.usd_name, label=name)).add(value)

    def write_dynamics(self, prim: Prim, joint: Joint) -> None:
        """Effort is a drive without gains; velocity, damping and friction are Newton's, whose angles are degrees."""
        is_angular = joint.type in ANGULAR
        effort = _finite(joint.numbers.get("limit:effort", 0.0))
        stiffness, damping = self.gains(joint)
        spring = joint.numbers.get("dynamics:spring_stiffness", 0.0)
        if spring > 0:
            rest = joint.numbers.get("dynamics:spring_reference", 0.0)
            prim.add(usd_physics.DriveAPI(
                type="force", stiffness=spring, target_position=rest
            ), "angular" if is_angular else "linear")  # fmt: skip
        elif self.options.drives != "none" and (effort > 0 or damping > 0):
            drive = usd_physics.DriveAPI(
                type="force", max_force=effort if effort > 0 else None, stiffness=stiffness, damping=damping
            )
            prim.add(drive, "angular" if is_angular else "linear")
        degree = math.degrees(1.0) if is_angular else 1.0
        values = (
            ("newton:velocityLimit", _finite(joint.numbers.get("limit:velocity", 0.0)) * degree),
            ("newton:damping", joint.numbers.get("dynamics:damping", 0.0) / degree),
            ("newton:friction", joint.numbers.get("dynamics:friction", 0.0)),
        )
        notes = [Note(name, "float", value) for name, value in values if value > 0]
        if notes:
            self.layout.notes.setdefault(prim.path, []).extend(notes)
            self.layout.applied.setdefault(prim.path, []).append("NewtonJointAPI")
        for key in ("dynamics:damping", "dynamics:friction"):
            if joint.numbers.get(key, 0.0) < 0:
                self.note(prim.path, f"urdf:{key}", "float", joint.numbers[key])

    def gains(self, joint: Joint) -> tuple[float, float]:
        """Stiffness and damping of the drive of a joint, per rad or m, from the inertia of all that hangs on it."""
        if self.options.drives not in ("hold", "velocity") or joint.mimic is not None:
            return 0.0, 0.0
        world = self.layout.worlds[joint.child] @ joint.inner
        axis, moved = world[:3, :3] @ np.array(joint.axis), 0.0
        for name in self.robot.downwards(joint.child):
            inertial = self.robot.links[name].inertial
            if inertial is None or inertial.mass <= 0:
                continue
            place = self.layout.worlds[name]
            if joint.type not in ANGULAR:
                moved += inertial.mass
                continue
            arm = np.cross(axis, (place @ inertial.pose)[:3, 3] - world[:3, 3])
            moved += inertial.mass * float(arm @ arm)
            if inertial.in_link is not None:
                along = place[:3, :3].T @ axis
                moved += max(0.0, float(along @ inertial.in_link @ along))
        speed = 2.0 * math.pi * _FREQUENCY
        return moved * speed**2 if self.options.drives == "hold" else 0.0, 2.0 * moved * speed

    def write_mimic(self, name: str) -> None:
        """A joint that follows another. Chains lead to the last leader: Newton refuses chains."""
        robot, layout = self.robot, self.layout
        joint, path = robot.joints[name], layout.joint_paths[name]
        if joint.mimic is None:
            return
        end = self.last_leader(name)
        if end is None:
            self.note_mimic(path, joint)
            return
        leader, multiplier, offset = end
        if (leader.type in ANGULAR) != (joint.type in ANGULAR):
            self.tell("UrdfMimicMixed", "warning", joint.element,
                      f"'{name}' and '{leader.name}', which it follows, are not both angles or both lengths; "
                      "the coupling is kept and not simulated.",
                      "Keep it for ROS, or change the joint.", name)  # fmt: skip
            self.note_mimic(path, joint)
            return
        degree = math.degrees(1.0) if joint.type in ANGULAR else 1.0
        layout.notes.setdefault(path, []).extend((
            Note("newton:mimicJoint", "rel", (layout.joint_paths[leader.name],)),
            Note("newton:mimicCoef0", "float", offset * degree), Note("newton:mimicCoef1", "float", multiplier),
        ))  # fmt: skip
        layout.applied.setdefault(path, []).append("NewtonMimicAPI")

    def last_leader(self, name: str) -> tuple[Joint, float, float] | None:
        """The joint at the end of the chain in which joints follow each other, with the multiplier and the offset to
        it; None where it has no such end. Each chain is walked once."""
        robot, known = self.robot, self.last_leaders
        way: list[Joint] = []
        joint = robot.joints[name]
        while joint.name not in known:
            way.append(joint)
            known[joint.name] = None  # who comes back here walks in a circle
            if joint.mimic is None:
                known[joint.name] = joint, 1.0, 0.0
                break
            leading = robot.joints.get(joint.mimic.joint)
            if leading is None or leading.name not in self.layout.joint_paths or leading.type not in SINGLE:
                break
            joint = leading
        end = known[joint.name]
        for joint in reversed(way):
            if end is not None and joint.mimic is not None:
                leader, multiplier, offset = end
                own = joint.mimic
                end = leader, own.multiplier * multiplier, own.offset + own.multiplier * offset
            known[joint.name] = end
        return known[name]

    def note_mimic(self, path: str, joint: Joint) -> None:
        assert joint.mimic is not None
        self.note(path, "urdf:mimic:joint", "string", joint.mimic.joint)
        self.note(path, "urdf:mimic:multiplier", "float", joint.mimic.multiplier)
        self.note(path, "urdf:mimic:offset", "float", joint.mimic.offset)

    # ------------------------------------------------------------------ the world and articulations

    def write_roots(self) -> None:
        """Weld bases to the world as the options say, and mark one articulation root for each connected robot."""
        robot, layout, base = self.robot, self.layout, self.options.base
        for root in robot.roots:
            plain = self.owner[root] is not None
            bases = [root] if plain else self.first_bodies(root)
            welded = set() if plain else {name for name in bases if self.is_welded(name)}
            for name in bases:
                if (base == "fixed" and (plain or self.floats(name))) or (base == "file" and plain):
                    self.weld(name)
                    welded.add(name)
            layout.fixed_base += [name for name in bases if name in welded]
            joints = [joint for name in robot.downwards(root) if (joint := robot.parents.get(name)) is not None]
            # Also where all are fixed: Newton refuses a file with a joint that no articulation holds, but for one that
            # holds a single body to the world.
            has_joints = any(joint.name in layout.joint_paths for joint in joints)
            if not bases or not (has_joints or (welded and len(robot.roots) == 1)):
                continue
            jointed = [name for name in bases if self.has_joints(name)] or bases
            # A base that floats is a robot of its own.
            apart = [name for name in jointed if len(jointed) > 1 and self.floats(name)]
            for name in apart:
                self.write_articulation(layout.bodies[name])
            jointed = [name for name in jointed if name not in apart]
            for name in filter(self.is_free, robot.downwards(root)):
                if self.has_joints(name):
                    self.write_articulation(layout.bodies[name])
            if len(jointed) == 1:
                self.write_articulation(layout.bodies[jointed[0]])
            elif jointed:
                self.write_articulation(layout.link_paths[root] if len(robot.roots) > 1 else layout.root)

    def floats(self, name: str) -> bool:
        joint = self.robot.parents.get(name)
        return joint is not None and joint.type == "floating"

    def write_articulation(self, path: str) -> None:
        layout = self.layout
        layout.model.prims.setdefault(path, Prim(path)).add(usd_physics.ArticulationRootAPI())
        links = [link for name, link in self.robot.links.items() if paths.is_at_or_below(layout.link_paths[name], path)]
        if not (self.options.self_collision and any(link.self_collides for link in links)):
            self.note(path, "newton:selfCollisionEnabled", "bool", False)
            self.note(path, "physxArticulation:enabledSelfCollisions", "bool", False)
            layout.applied.setdefault(path, []).extend(("NewtonArticulationRootAPI", "PhysxArticulationAPI"))

    def first_bodies(self, root: str) -> list[str]:
        """The bodies nearest below a root that is a frame of the world."""
        bodies, pending = [], [root]
        while pending:
            name = pending.pop()
            for joint in reversed(self.robot.children.get(name, [])):
                if self.owner[joint.child] is None:
                    pending.append(joint.child)
                else:
                    bodies.append(joint.child)
        return list(reversed(bodies))

    def has_joints(self, name: str) -> bool:
        """True if a joint that moves is at or below a body, or holds it."""
        joint = self.robot.parents.get(name)
        if joint is not None and joint.name in self.layout.joint_paths and joint.type != "fixed":
            return True
        return any(
            (below := self.robot.parents.get(one)) is not None
            and one != name
            and below.type in (*SINGLE, "planar", "spherical", "universal")
            for one in self.robot.downwards(name)
        )

    def is_welded(self, name: str) -> bool:
        joint = self.robot.parents.get(name)
        return joint is not None and joint.type == "fixed" and joint.name in self.layout.joint_paths

    def weld(self, name: str) -> None:
        layout = self.layout
        path = f"{layout.physics}/{self.joint_names.one('root_joint')}"
        world = layout.worlds[name]
        prim = layout.model.add(Prim(path, usd_physics.FixedJoint.usd_name, label=paths.name_of(path)))
        prim.add(usd_physics.FixedJoint(
            body0=(layout.root,), body1=(layout.bodies[name],), local_pos0=frames.vector(world[:3, 3]),
            local_rot0=frames.quaternion_of(world[:3, :3]), local_pos1=(0.0, 0.0, 0.0),
            local_rot1=frames.IDENTITY_ROTATION,
        ))  # fmt: skip

    def write_filters(self) -> None:
        """Filter the collisions of links that an SRDF keeps apart."""
        unknown = []
        for pair in self.options.apart:
            unknown += [name for name in pair if name not in self.owner]
            bodies = [body for name in pair if (body := self.owner.get(name)) is not None]
            if len(bodies) < 2 or bodies[0] == bodies[1]:
                continue
            prim = self.layout.model.prims[self.layout.bodies[bodies[0]]]
            other = self.layout.bodies[bodies[1]]
            filters = prim.get(usd_physics.FilteredPairsAPI) or usd_physics.FilteredPairsAPI(filtered_pairs=())
            filters.filtered_pairs = tuple(dict.fromkeys((*(filters.filtered_pairs or ()), other)))
            prim.add(filters)
        if unknown:
            names = ", ".join(f"'{name}'" for name in sorted(set(unknown))[:5])
            self.tell("SrdfLinkMissing", "warning", self.robot.element,
                      f"The SRDF names links that there are not: {names}.", "Use the SRDF of this robot.")  # fmt: skip

    # ------------------------------------------------------------------ shapes

    def write_shapes(self) -> None:
        for frame in self.layout.frames:
            names = _Names()
            names.taken.update(
                paths.name_of(self.layout.link_paths[joint.child])
                for joint in self.robot.children.get(frame.link.name, [])
            )
            names.taken.add(paths.name_of(frame.path))
            visuals, collisions = frame.link.visuals, frame.link.collisions
            if self.options.visual_colliders:
                collisions = collisions or visuals
            for is_collider, shapes in ((False, visuals if self.options.visuals else []), (True, collisions)):
                word = "collision" if is_collider else "visual"
                for shape in shapes:
                    is_own = bool(shape.name) and not (is_collider and shapes is visuals)
                    wanted = self.name_of(shape.name) if is_own else f"{paths.name_of(frame.path)}_{word}"
                    path = f"{frame.path}/{names.one(wanted)}"
                    if is_own and paths.name_of(path) != wanted:
                        self.layout.names[path] = wanted
                    self.layout.shapes.append(PlacedShape(path, shape, frame.link, is_collider))
                    if is_collider and shape.surface is not None:
                        self.layout.surfaces[path] = self.surface(shape.surface)

    def surface(self, surface: Surface) -> str:
        """Path of the physics material of a surface."""
        if surface not in self.made_surfaces:
            static, dynamic = surface.friction
            path = paths.free(
                f"{self.layout.physics}/friction_{paths.ascii_name(f'{static:g}')}",
                self.layout.model.prims.__contains__,
            )
            self.made_surfaces[surface] = path
            self.layout.model.add(Prim(path, "Material", is_xformable=False)).add(usd_physics.MaterialAPI(
                static_friction=static, dynamic_friction=dynamic, restitution=surface.restitution
            ))  # fmt: skip
        return self.made_surfaces[surface]

    # ------------------------------------------------------------------ what is unknown

    def write_others(self) -> None:
        """Notes of unknown attributes, and prims of unknown elements, at the link or joint that they are of."""
        robot, layout = self.robot, self.layout
        owners = [(layout.root, layout.root + "/Other", robot.element, further.ROBOT)]
        owners += [(path, path, robot.links[name].element, further.LINK) for name, path in layout.link_paths.items()]
        for name, joint in robot.joints.items():
            path = layout.joint_paths.get(name, layout.link_paths[joint.child])
            owners.append((path, path, joint.element, further.JOINT))
        for element in robot.element.findall("material"):
            owners.append((layout.root, layout.root + "/Other", element, further.MATERIAL))
        taken: set[str] = {*layout.link_paths.values(), *(one.path for one in layout.shapes)}
        for path, home, element, known in owners:
            for name, text in further.attributes(element, known):
                self.note(path, paths.free(name, {note.name for note in layout.notes.get(path, [])}.__contains__),
                          "string", text)  # fmt: skip
            for child in further.elements(element, known):
                if element is robot.element and child.tag in ("link", "joint", "material"):
                    continue
                if child.get("name") in layout.loop_paths and child.tag == "loop_joint":
                    continue
                if home not in taken and home == layout.root + "/Other":
                    taken.add(home)
                    layout.others.append(home)
                self.write_other(home, child, taken)

    def write_other(self, above: str, element: Element, taken: set[str]) -> None:
        path = paths.free(f"{above}/{paths.ascii_name(element.tag)}", taken.__contains__)
        taken.add(path)
        self.layout.others.append(path)
        for name, text in further.strings(element):
            if name not in {note.name for note in self.layout.notes.get(path, [])}:
                self.note(path, name, "string", text)
        for child in element.children:
            self.write_other(path, child, taken)


def _limit_of(value: float | None) -> float | None:
    """A limit of a joint; None where it is so far away that it means none."""
    return value if value is not None and abs(value) <= _UNLIMITED else None


def _finite(value: float) -> float:
    """A number, or zero for an infinite one: no limit is authored for either."""
    return value if math.isfinite(value) else 0.0


def local_of(shape: Shape) -> Matrix:
    """Matrix (4, 4) of the prim of a shape in its link: a box is a cube of edge 1 that is scaled."""
    if shape.kind == "mesh":
        return shape.pose @ np.diag([*shape.scale, 1.0])
    if shape.kind == "box" and len(set(shape.size)) > 1:
        return shape.pose @ np.diag([*shape.size, 1.0])
    return shape.pose


def gprim_of(shape: Shape) -> usd_geom.Gprim | None:
    """The gprim of a shape; None for a mesh."""
    if shape.kind == "box":
        return usd_geom.Cube(size=shape.size[0] if len(set(shape.size)) == 1 else 1.0)
    if shape.kind == "sphere":
        return usd_geom.Sphere(radius=shape.size[0])
    if shape.kind == "cylinder":
        return usd_geom.Cylinder(radius=shape.size[0], height=shape.size[1], axis="Z")
    if shape.kind == "capsule":
        return usd_geom.Capsule(radius=shape.size[0], height=shape.size[1], axis="Z")
    if shape.kind == "cone":
        return usd_geom.Cone(radius=shape.size[0], height=shape.size[1], axis="Z")
    if shape.kind == "plane":
        return usd_geom.Plane(width=shape.size[0], length=shape.size[1], axis="Z")
    return None


_KINDS: dict[str, type[usd_physics.Joint]] = {
    "revolute": usd_physics.RevoluteJoint, "continuous": usd_physics.RevoluteJoint,
    "prismatic": usd_physics.PrismaticJoint, "fixed": usd_physics.FixedJoint, "planar": usd_physics.Joint,
    "spherical": usd_physics.SphericalJoint, "universal": usd_physics.Joint,
}  # fmt: skip


def _axis(joint: Joint | Loop) -> tuple[int, Matrix]:
    """(index of the axis of the joint frame, (4, 4) that turns it to the axis of the joint)."""
    if joint.type in ("fixed", "spherical"):
        return 0, np.eye(4)
    if isinstance(joint, Joint) and joint.axis2 is not None:
        return 0, frames.transform(
            (0.0, 0.0, 0.0), np.stack([joint.axis2, joint.axis, np.cross(joint.axis2, joint.axis)], axis=1)
        )
    x, y, z = joint.axis
    for index in range(3):
        if joint.axis == tuple(float(other == index) for other in range(3)) and joint.type != "planar":
            return index, np.eye(4)
    # The rotation from X to the axis; about Z where they are opposite.
    if x < -1 + 1e-12:
        return 0, np.diag([-1.0, -1.0, 1.0, 1.0])
    turn = np.eye(4)
    turn[:3, :3] = frames.matrix_of((1.0 + x, 0.0, -z, y))
    return 0, turn
