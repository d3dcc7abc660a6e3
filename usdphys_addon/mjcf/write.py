# SPDX-License-Identifier: GPL-3.0-or-later
"""A model -> MJCF: bodies along a tree of joints, the rest of the joints as equalities, drives as actuators.

The file stands alone: meshes are in it. What MuJoCo cannot say is named.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core import collision_groups, fitting, frames, gprims, joint_settings, mass, paths
from ..core.errors import InputError
from ..core.model import Mesh, PhysicsModel, Prim, SpherePoints
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue
from ..core.words import counted
from ..urdf import markup
from ..urdf.build import Part
from ..urdf.mesh_data import MeshMaterial, srgb
from . import classes, further, height_fields, joints, loops, values
from .further import Further, Spring
from .values import Actuator, Floats

#: Friction of a collider without a material: that of the preview and of PhysX.
FRICTION = 0.5
#: Each set of groups has a bit of 32.
_MOST_GROUPS = 32
#: Half of the thickness of a box that stands for a flat mesh, m.
_THIN = 0.001
#: Sizes of shapes below this (m) are none to MuJoCo.
_LEAST = 1e-9
_LETTERS = "XYZ"
#: Width of the least range that MuJoCo takes for one.
_NARROW = 1e-6
#: What moves a body and has no word of MuJoCo: fields, and the names that users know.
_UNSAID_OF_BODY = (("velocity", "velocity"), ("angular_velocity", "angularVelocity"), ("starts_asleep", "startsAsleep"))
_UNSAID_OF_PHYSX = (
    ("linear_damping", "linearDamping"), ("angular_damping", "angularDamping"), ("locked_pos_axis", "lockedPosAxis"),
    ("locked_rot_axis", "lockedRotAxis"), ("max_linear_velocity", "maxLinearVelocity"),
    ("max_angular_velocity", "maxAngularVelocity"),
)  # fmt: skip
#: Distance of the two points that hold a hinge which closes a loop, m.
_APART = 0.1
#: Groups of geoms that are only seen, and of colliders that are not, which MuJoCo hides.
_VISUALS, _GUIDES = 2, 3


class _End(NamedTuple):
    """A side of a joint: path of its body, empty for the world, and its frame (4, 4) in the world."""

    body: str
    frame: Floats


@dataclass(slots=True)
class _Joint:
    """A joint of the model. child, parent: its sides; the child is the one further from the world. sign: -1 where the
    child is the first side."""

    prim: Prim
    schema: usd_physics.Joint
    parent: _End
    child: _End
    sign: float


@dataclass(slots=True)
class _Body:
    prim: Prim
    pose: Floats
    name: str
    joint: _Joint | None = None
    children: list[str] = field(default_factory=list)


class Written(NamedTuple):
    """text: the file. names: of what is in it, by path. issues: what could not be said. lost_joints: number of joints
    that are not in it.
    """

    text: str
    names: dict[str, str]
    issues: list[Issue]
    lost_joints: int = 0


def text_of(model: PhysicsModel, name: str, further: Further | None = None) -> Written:
    """The text of a model. name: of it. further: what it has beside. Raises InputError where it holds nothing."""
    return _Writer(model, name, further or Further()).written()


class _Writer:
    def __init__(self, model: PhysicsModel, name: str, further: Further) -> None:
        self.model, self.name, self.further = model, name, further
        self.seen = {part.path: part for part in further.seen}
        self.moving = values.by_target(further.actuators)
        self.materials: dict[tuple[Any, ...], str] = {}
        #: Physics materials of written colliders that bounce.
        self.bouncing: dict[str, Prim] = {}
        self.textures: dict[Path, str | None] = {}
        self.issues: list[Issue] = []
        self.names: dict[str, str] = {}
        #: Names by kind of part: each kind has its own.
        self.taken: dict[str, set[str]] = {}
        self.bodies: dict[str, _Body] = {}
        self.loops: list[_Joint] = []
        self.holds: dict[str, _Joint] = {}
        self.seen_by_body: dict[str, list[Part]] = {}
        self.meshes: dict[bytes, str] = {}
        self.assets: list[str] = []
        self.actuators: list[str] = []
        #: Bits of the groups that each group meets, by its number.
        self.affinities: dict[int, int] = {}
        self.equalities: list[str] = []
        self.tendons: list[str] = []
        self.sites: dict[str, list[str]] = {}
        #: Names of bodies that never move, by the one collider that each has.
        self.homes: dict[str, str] = {}
        self.colliders = mass.colliders_by_body(model)
        self.shown: set[str] = set()
        self.is_balanced = False
        #: Joints with what MuJoCo has no word for, by what that is.
        self.unsaid: dict[str, dict[str, Prim]] = {}
        #: Joints that close a loop and are left out, by type.
        self.left_open: dict[str, list[Prim]] = defaultdict(list)

    def written(self) -> Written:
        self.find_bodies()
        self.find_tree()
        self.tell_air()
        self.masks = self.find_masks()
        for loop in self.loops:
            self.close(loop)
        for path, prim in self.model.joints.items():
            self.couple(path, prim)
        self.find_sites()
        excludes = self.excludes()
        world = [*self.shapes("", np.eye(4), 2), *(f"    {site}" for site in self.sites.get("", ()))]
        for path, body in self.bodies.items():
            if body.joint is None or not body.joint.parent.body:
                world += self.body(path, np.eye(4), 2)
        if not world:
            raise InputError("There is no body and no collider to write.")
        self.actuate()
        self.tell_unsaid()
        self.tell_surfaces()
        self.tell_left_open()
        sections = [self.options(), ("asset", self.assets), ("worldbody", world), ("contact", excludes)]
        sections += [("equality", self.equalities), ("tendon", self.tendons), ("actuator", self.actuators)]
        sections = _with_classes(self.with_kept(sections))
        balance = ' balanceinertia="true"' if self.is_balanced else ""
        lines = [f'<mujoco model="{escape(self.name)}">', f'  <compiler angle="radian" autolimits="true"{balance}/>']
        for tag, content in sections:
            if content and (tag == "option" or tag in further.SINGLE):
                lines += content
            elif content:
                lines += [f"  <{tag}>", *content, f"  </{tag}>"]
        return Written(
            "\n".join([*lines, "</mujoco>", ""]), self.names, self.issues, sum(map(len, self.left_open.values()))
        )

    def issue(self, prim: Prim, message: str, fix: str, severity: Any = "warning") -> None:
        self.issues.append(Issue("MjcfNotSaid", severity, prim.path, prim.label, message, fix))

    def name_of(self, path: str, wanted: str, kind: str) -> str:
        if path not in self.names:
            taken = self.taken.setdefault(kind, set())
            self.names[path] = paths.free(wanted, taken.__contains__, start=2)
            taken.add(self.names[path])
        return self.names[path]

    # ------------------------------------------------------------------ what is beside bodies and joints

    def find_sites(self) -> None:
        for path, name in self.further.sites.items():
            world = self.model.locate(path) if self.model.locate is not None else None
            if world is None:
                continue
            body = self.model.body_of(path)
            owner = body.path if body is not None and body.path in self.bodies else ""
            pose = _seen_from(self.bodies[owner].pose if owner else np.eye(4), _rigid(world))
            label = self.name_of(path, name, "site")
            self.sites.setdefault(owner, []).append(f'<site name="{escape(label)}"{_placed(pose)}/>')

    def actuate(self) -> None:
        """Actuators of sites and bodies."""
        for one in self.further.actuators:
            name = self.names.get(one.target)
            if one.kind in ("site", "body") and name is not None and name in self.taken.get(one.kind, ()):
                self.general(one, f'{one.kind}="{escape(name)}"')

    def general(self, one: Actuator, target: str) -> None:
        """An actuator with its own numbers. target: as an attribute."""
        words = f'{target} gainprm="{_row(one.gains)}" gear="{_row(one.gears)}"'
        for tag, kind, numbers in (("gain", one.gain_type, ()), ("bias", one.bias_type, one.biases),
                                   ("dyn", one.dynamics_type, one.dynamics)):  # fmt: skip
            if kind not in ("fixed", "none"):
                words += f' {tag}type="{kind}"'
                words += f' {tag}prm="{_row(numbers)}"' if numbers else ""
        for tag, pair in (("ctrl", one.control), ("force", one.force), ("act", one.activity)):
            words += f' {tag}limited="true" {tag}range="{_row(pair)}"' if pair is not None else ""
        name = self.name_of(f"actuator {one.name}", one.name, "actuator")
        self.actuators.append(f'    <general name="{escape(name)}" {words}/>')

    def with_kept(self, sections: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
        """Sections with the further elements of the imported model whose parts are all there; names the others."""
        source = self.further.source
        if source is None:
            return sections
        made = dict(sections)
        lost: Counter[str] = Counter()
        self.taken |= further.plugins(source)
        for section in further.SINGLE:
            for element in further.elements(source, section):
                made[section] = ["  " + markup.start_tag(section, element.attributes, closed=True)]
        for section in (*further.WHOLE, *further.PARTS):
            for element in further.elements(source, section):
                if not further.is_known(element, self.taken):
                    lost[element.tag] += 1
                    continue
                if section in further.PARTS and element.get("name"):
                    kind = section if section in ("tendon", "actuator") else f"{section}s"
                    self.taken.setdefault(kind, set()).add(element.get("name") or "")
                made.setdefault(section, []).append(markup.to_text(element, level=2).rstrip("\n"))
        for tag, number in lost.items():
            self.issues.append(Issue(
                "MjcfNotSaid", "warning", "", self.name,
                f"{counted(number, tag)} of the imported model name parts that are gone, and are left out."
                if number > 1 else f"One {tag} of the imported model names a part that is gone, and is left out.",
                "Keep the names of the parts.",
            ))  # fmt: skip
        order = ("extension", "size", "visual", "statistic", "option", "custom", "asset")
        return sorted(made.items(), key=lambda one: order.index(one[0]) if one[0] in order else len(order))

    def tell_air(self) -> None:
        """Name what slows down bodies in a preview of this scene alone."""
        if self.model.air.told:
            self.issues.append(Issue(
                "MjcfNotSaid", "info", "", self.name,
                f"{self.model.air.told} MJCF has no word for that; it is left out.",
                "Damp the joints, or switch the damping of the scene off.",
            ))  # fmt: skip

    # ------------------------------------------------------------------ the tree

    def find_bodies(self) -> None:
        for path, prim in self.model.bodies.items():
            if prim.get(usd_physics.RigidBodyAPI).resolved("rigid_body_enabled"):  # type: ignore[union-attr]
                name = self.name_of(path, prim.label or prim.name, "body")
                self.bodies[path] = _Body(prim, _rigid(prim.world), name)

    def end(self, joint: usd_physics.Joint, side: int) -> _End:
        targets = getattr(joint, f"body{side}") or ()
        prim = self.model.prims.get(targets[0]) if targets else None
        world = prim.world if prim is not None else None
        if prim is None and targets and self.model.locate is not None:
            world = self.model.locate(targets[0])
        body = self.model.body_of(targets[0]) if targets else None
        frame = frames.world_frame(world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
        return _End(body.path if body is not None and body.path in self.bodies else "", frame)

    def find_tree(self) -> None:
        """Make a tree of the joints, from what stands still outwards; the others close loops."""
        waiting = []
        for prim in self.model.joints.values():
            joint = prim.get(usd_physics.Joint)
            assert joint is not None
            if joint.joint_enabled is False:
                continue
            ends = self.end(joint, 0), self.end(joint, 1)
            if ends[0].body == ends[1].body:
                continue
            is_loop = bool(joint.exclude_from_articulation) or prim.type_name == "PhysicsDistanceJoint"
            waiting.append((is_loop, prim, joint, ends))
        # First what would be lost as an equality, then what would lose a part.
        closings = {prim.path: loops.closing_of(prim) for _, prim, _, _ in waiting}
        ranks = {path: 0 if one is None else 1 if one.more else 2 for path, one in closings.items()}
        waiting.sort(key=lambda one: (one[0], ranks[one[1].path]))
        held = {""} | {path for path, body in self.bodies.items() if self.is_kinematic(body.prim)}
        while waiting:
            next_row = next((row for row, (loop, _, _, ends) in enumerate(waiting) if not loop and
                          (ends[0].body in held) != (ends[1].body in held)), None)  # fmt: skip
            if next_row is None:
                loose = next((row for row, (loop, _, _, ends) in enumerate(waiting) if not loop and
                              not {ends[0].body, ends[1].body} & held), None)  # fmt: skip
                if loose is None:
                    break
                # A tree that floats begins at the first side of its first joint.
                held.add(waiting[loose][3][0].body)
                continue
            _, prim, joint, ends = waiting.pop(next_row)
            side = 1 if ends[0].body in held else 0
            made = _Joint(prim, joint, ends[1 - side], ends[side], 1.0 if side else -1.0)
            self.bodies[made.child.body].joint = made
            if made.parent.body:
                self.bodies[made.parent.body].children.append(made.child.body)
            held.add(made.child.body)
        self.loops = [_Joint(prim, joint, ends[0], ends[1], 1.0) for _, prim, joint, ends in waiting]

    @staticmethod
    def is_kinematic(prim: Prim) -> bool:
        return bool(prim.get(usd_physics.RigidBodyAPI).resolved("kinematic_enabled"))  # type: ignore[union-attr]

    # ------------------------------------------------------------------ bodies

    def body(self, path: str, above: Floats, depth: int) -> list[str]:
        own = self.bodies[path]
        # What hangs on the world by a joint, or on nothing, is in the world.
        pose = _seen_from(above, own.pose)
        pad = "  " * depth
        is_mocap = self.is_kinematic(own.prim)
        mocap = ' mocap="true"' if is_mocap else ""
        lift = "" if is_mocap else self.lift(own.prim)
        lines = [f'{pad}<body name="{escape(own.name)}"{_placed(pose)}{mocap}{lift}>']
        if own.joint is not None:
            lines += self.joint(own.joint, own.pose, depth + 1)
        elif not is_mocap:
            name = escape(self.name_of(f"{path}.free", f"{own.name}_free", "joint"))
            more = self.further.words.get(f"{path}.free")
            tag = f'joint name="{name}" type="free"{more}' if more else f'freejoint name="{name}"'
            lines.append(f"{pad}  <{tag}/>")
        lines.append(pad + "  " + self.inertial(path))
        lines += self.shapes(path, own.pose, depth + 1)
        lines += [f"{pad}  {site}" for site in self.sites.get(path, ())]
        for child in own.children:
            lines += self.body(child, own.pose, depth + 1)
        return [*lines, f"{pad}</body>"]

    def lift(self, prim: Prim) -> str:
        """The share of its gravity that does not pull a body. Names what else moves it and cannot be said."""
        api, physx = prim.get(usd_physics.RigidBodyAPI), prim.schemas.get("PhysxRigidBodyAPI")
        unsaid = [
            name for schema, fields in ((api, _UNSAID_OF_BODY), (physx, _UNSAID_OF_PHYSX))
            for field_, name in fields if np.any(getattr(schema, field_, None) or 0.0)
        ]  # fmt: skip
        if unsaid:
            self.issue(
                prim, f"{prim.display} has {', '.join(unsaid)}, which bodies of MJCF do not have; it is left out.",
                "Export USD to keep it, or set it in the simulation.",
            )  # fmt: skip
        factor = mass.gravity_factor(prim)
        return f' gravcomp="{_short([1.0 - factor])}"' if factor != 1.0 else ""

    def inertial(self, path: str) -> str:
        properties = mass.mass_properties(self.model, path, self.colliders.get(path, ()))
        turn = frames.matrix_of(properties.principal_axes)
        moments = np.maximum(np.array(properties.diagonal_inertia, float), 1e-12)
        if 2.0 * moments.max() > moments.sum() * (1.0 + 1e-9):
            self.is_balanced = True
            prim = self.bodies[path].prim
            self.issue(
                prim, f"{prim.display} has an inertia that no body can have; MuJoCo takes the mean of its moments.",
                "Correct its moments.",
            )  # fmt: skip
        pose = frames.transform(properties.center_of_mass, turn)
        words = f'mass="{_short([max(properties.mass, 1e-9)])}" diaginertia="{_short(moments)}"'
        return f"<inertial{_placed(pose, always=True)} {words}/>"

    # ------------------------------------------------------------------ shapes

    def find_masks(self) -> dict[str, int]:
        """The group of each collider that is filtered: its number among the sets of groups that occur."""
        groups = {path: prim.get(usd_physics.CollisionGroup) for path, prim in self.model.groups.items()}
        known = {path: group for path, group in groups.items() if group is not None}
        if not known:
            return {}
        merged = collision_groups.merge(known)
        inside = {path: collision_groups.members(group, self.model.colliders) for path, group in known.items()}
        kinds: dict[tuple[str, ...], int] = {}
        by_collider = {}
        for path in self.model.colliders:
            own = tuple(sorted(name for name, members in inside.items() if path in members))
            by_collider[path] = kinds.setdefault(own, len(kinds))
        rows = merged.number

        def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
            return not any(merged.ignore_each_other(rows[a], rows[b]) for a in one for b in other)

        if all(meet(one, other) for one in kinds for other in kinds):
            return {}
        if len(kinds) > _MOST_GROUPS:
            self.issues.append(Issue(
                "MjcfNotSaid", "warning", "", self.name,
                f"The colliders are in {len(kinds)} sets of groups, and MuJoCo has {_MOST_GROUPS}: all collide.",
                "Use fewer groups.",
            ))  # fmt: skip
            return {}
        self.affinities = {
            number: sum(1 << other for name, other in kinds.items() if meet(kind, name))
            for kind, number in kinds.items()
        }  # fmt: skip
        return by_collider

    def shapes(self, path: str, pose: Floats, depth: int) -> list[str]:
        """The geoms of a body, or with an empty path those of what stands still."""
        if path:
            own = self.colliders.get(path, ())
        else:
            moved = {prim.path for body in self.bodies for prim in self.colliders.get(body, ())}
            own = [prim for prim in self.model.colliders.values() if prim.path not in moved]
        lines = []
        for prim in own:
            if _collides(prim):
                lines += self.in_own_body(prim, ["  " * depth + line for line in self.geom(prim, pose)], depth)
        for part in self.seen_in().get(path, ()):
            if part.path not in self.shown:
                lines += ["  " * depth + line for line in self.visual(part, pose)]
        return lines

    def seen_in(self) -> dict[str, list[Part]]:
        """What is to be seen by the body that carries it, which is empty for what stands still."""
        if not self.seen_by_body:
            for part in self.further.seen:
                body = self.model.body_of(part.path)
                owner = body.path if body is not None and body.path in self.bodies else ""
                self.seen_by_body.setdefault(owner, []).append(part)
        return self.seen_by_body

    def visual(self, part: Part, body: Floats) -> list[str]:
        """Geoms that are seen and do not collide."""
        if not np.abs(part.world).max() <= values.FARTHEST:  # also NaN
            return self.lost(part)
        world = _rigid(part.world)
        stretch, pose = world[:3, :3].T @ part.world[:3, :3], _seen_from(body, world)
        words = f' mass="0" contype="0" conaffinity="0" group="{_VISUALS}"'
        label, more = paths.name_of(part.path), self.further.words.get(part.path, "")
        if part.gprim is not None:
            shape, turn = self.gprim_words(part.gprim, np.diag(stretch)) or ("", np.eye(3))
            made = [(shape, self.material(part.material))] if shape else []
            pose = pose @ frames.transform((0, 0, 0), turn)
        else:
            made = [(f'type="mesh" mesh="{mesh}"', look) for mesh, look in self.seen_meshes(part, stretch, label)]
        lines = []
        for number, (shape, look) in enumerate(made):
            name = self.name_of(f"{part.path} seen {number}", label, "geom")
            lines.append(f'<geom name="{escape(name)}" {shape}{_placed(pose)}{words}{look}{more}/>')
        return lines

    def lost(self, part: Part) -> list[str]:
        """No geoms, and an issue that says so."""
        label = paths.name_of(part.path)
        self.issues.append(Issue(
            "MjcfNotSaid", "warning", part.path, label,
            f"'{label}' is nowhere, or has points beyond {values.FARTHEST:g} m; it is left out.",
            "Correct its place and its mesh.",
        ))  # fmt: skip
        return []

    def seen_meshes(self, part: Part, stretch: Floats, label: str) -> Iterator[tuple[str, str]]:
        """(name of a mesh, words for its look) for each material of a mesh that is seen."""
        assert part.mesh is not None
        mesh = part.mesh.transformed(np.asarray(stretch))
        if not np.abs(mesh.points).max(initial=0.0) <= values.FARTHEST:
            self.lost(part)
            return
        corners = _fans(mesh.counts)
        of_face = np.repeat(np.arange(len(mesh.counts)), mesh.counts - 2)
        used = mesh.faces[of_face] if mesh.faces is not None and mesh.materials else np.full(len(corners), -1)
        for number in np.unique(used).tolist():
            own = corners[used == number]
            points, where = mesh.points[mesh.corners[own.ravel()]], None
            key = points if mesh.uvs is None else np.concatenate((points, mesh.uvs[own.ravel()]), axis=1)
            rows, where = np.unique(np.round(key, 9), axis=0, return_inverse=True)
            triangles = where.reshape(-1, 3)
            sides = [rows[triangles[:, side], :3] for side in range(3)]
            areas = np.linalg.norm(np.cross(sides[1] - sides[0], sides[2] - sides[0]), axis=1)
            triangles = triangles[areas > 0.0]
            if len(rows) < 4 or not len(triangles):
                self.issues.append(Issue(
                    "MjcfNotSaid", "info", part.path, label,
                    f"A part of '{label}' has fewer than four points, which MuJoCo takes for no mesh; it is left out.",
                    "Give it some thickness.",
                ))  # fmt: skip
                continue
            look = self.material(mesh.materials[number] if number >= 0 else part.material)
            flipped = None if mesh.uvs is None else rows[:, 3:] * (1.0, -1.0) + (0.0, 1.0)
            yield self.mesh_name(rows[:, :3], triangles, label, flipped, is_seen=True), look

    def look_words(self, path: str) -> str:
        """Words for the look of a collider that is seen as it is, of one material; empty for others."""
        part = self.seen.get(path)
        if part is None or (part.mesh is not None and part.mesh.materials):
            return ""
        return self.material(part.material) or ' rgba="0.5 0.5 0.5 1"'

    def material(self, look: MeshMaterial | None) -> str:
        if look is None:
            return ""
        rgba = tuple(round(value, 4) for value in srgb(look.color or (0.5, 0.5, 0.5, 1.0)))
        if look.texture is not None and look.texture not in self.textures:
            self.textures[look.texture] = self.texture(look.texture)
        texture = self.textures.get(look.texture) if look.texture is not None else None
        key = (look.name, rgba, texture)
        if key not in self.materials:
            name = self.materials[key] = self.name_of(f"material {len(self.materials)}", look.name, "material")
            words = f' texture="{escape(texture)}"' if texture else ""
            self.assets.append(f'    <material name="{escape(name)}" rgba="{_short(rgba)}"{words}/>')
        return f' material="{escape(self.materials[key])}"'

    def texture(self, file: Path) -> str | None:
        copied = self.further.image(file)
        if copied is None:
            self.issues.append(Issue(
                "MjcfNotSaid", "info", "", self.name, f"The image '{file.name}' is left out, as MuJoCo reads PNG only.",
                "Convert it to PNG.",
            ))  # fmt: skip
            return None
        name = self.name_of(f"texture {file}", file.stem, "texture")
        self.assets.append(f'    <texture name="{escape(name)}" type="2d" file="{escape(copied)}"/>')
        return name

    def geom(self, prim: Prim, body: Floats) -> list[str]:
        world = _rigid(prim.world)
        stretch = world[:3, :3].T @ prim.world[:3, :3]
        pose = _seen_from(body, world)
        gprim = prim.get(usd_geom.Gprim)
        shape = self.gprim_words(gprim, np.diag(stretch), prim) if isinstance(gprim, usd_geom.Gprim) else None
        if shape is not None:
            words, turn = shape
            pose = pose @ frames.transform((0, 0, 0), turn)
            parts = [(words, pose)]
            looks = self.look_words(prim.path)
        else:
            parts = self.mesh_parts(prim, stretch, pose)
            is_whole = len(parts) == 1 and parts[0][0].startswith(('type="mesh"', 'type="hfield"'))
            looks = self.look_words(prim.path) if is_whole else ""
        if looks:
            self.shown.add(prim.path)
        elif self.further.seen:
            looks = f' group="{_GUIDES}"'
        lines = []
        for number, (words, place) in enumerate(parts):
            name = self.name_of(f"{prim.path}.{number}" if number else prim.path, prim.label or prim.name, "geom")
            words += f'{_placed(place)} mass="0"{self.contact_words(prim)}{looks}'
            lines.append(f'<geom name="{escape(name)}" {words}{self.further.words.get(prim.path, "")}/>')
        return lines

    def gprim_words(
        self, gprim: usd_geom.Gprim, scale: Any, collider: Prim | None = None
    ) -> tuple[str, Floats] | None:  # fmt: skip
        """(words of a geom, rotation (3, 3)). collider: the prim, which is named where it has a size of zero."""
        sizes = gprims.sizes(gprim, scale)
        turn, radius, height, edges = _to_axis(sizes.spine), sizes.radius, sizes.height, np.array(sizes.edges)
        if sizes.kind is usd_geom.Plane:
            return 'type="plane" size="0 0 1"', turn
        is_capsule = sizes.kind is usd_geom.Capsule
        is_flat_ended = sizes.kind in (usd_geom.Cylinder, usd_geom.Cone)
        if min(edges if sizes.kind is usd_geom.Cube else [radius, height] if is_flat_ended else [radius]) < _LEAST:
            if collider is not None:
                self.issue(
                    collider, f"{collider.display} has a size of zero and is written 2 mm thick, as MuJoCo takes no "
                    "such shapes.", "Give it a size, or remove it.", "info",
                )  # fmt: skip
            radius, edges = max(radius, _THIN), np.maximum(edges, 2 * _THIN)
            height = max(height, 2 * _THIN) if is_flat_ended else height
        if sizes.kind is usd_geom.Cube:
            return f'type="box" size="{_row(edges / 2)}"', np.eye(3)
        if sizes.kind is usd_geom.Sphere or (is_capsule and height < _LEAST):
            return f'type="sphere" size="{_row([radius])}"', np.eye(3)
        if sizes.kind is not usd_geom.Cone:
            return f'type="{"capsule" if is_capsule else "cylinder"}" size="{_row([radius, height / 2])}"', turn
        angles = np.linspace(0.0, 2.0 * math.pi, 24, endpoint=False)
        rim = np.stack((np.cos(angles), np.sin(angles), np.zeros(24)), axis=1) * radius
        points = np.concatenate((rim - (0, 0, height / 2), [(0, 0, height / 2)]))
        return f'type="mesh" mesh="{self.mesh_name(points, None, "cone")}"', turn

    def mesh_parts(self, prim: Prim, stretch: Floats, pose: Floats) -> list[tuple[str, Floats]]:
        geometry = prim.mesh() if prim.mesh is not None else None
        if isinstance(geometry, SpherePoints):
            size = float(np.abs(np.linalg.det(stretch))) ** (1 / 3)
            return [(f'type="sphere" size="{_row([radius * size])}"', pose @ frames.transform(stretch @ center))
                    for center, radius in zip(geometry.centers, geometry.radii, strict=True)]  # fmt: skip
        if not isinstance(geometry, Mesh) or not len(geometry.points):
            self.issue(prim, f"{prim.display} has no shape that can be written.", "Give it a primitive or a mesh.")
            return []
        with np.errstate(invalid="ignore", over="ignore"):
            points = np.asarray(geometry.points, float) @ stretch.T
        if not np.abs(points).max() <= values.FARTHEST:  # also NaN
            self.issue(
                prim, f"{prim.display} is nowhere, or has points beyond {values.FARTHEST:g} m; it is left out.",
                "Correct its place and its mesh.",
            )  # fmt: skip
            return []
        settings = prim.get(usd_physics.MeshCollisionAPI)
        word = settings.resolved("approximation") if settings is not None else "none"
        low, high = points.min(axis=0), points.max(axis=0)
        if word == "boundingCube":
            return [(f'type="box" size="{_row((high - low) / 2)}"', pose @ frames.transform((high + low) / 2))]
        if word == "boundingSphere":
            middle, radius = fitting.bounding_ball(points)
            return [(f'type="sphere" size="{_row([radius])}"', pose @ frames.transform(middle))]
        if word not in ("convexHull", "convexDecomposition") and (grid := self.height_field(prim, geometry, points)):
            words, place = grid
            return [(words, pose @ place)]
        if (flat := _flat_box(points)) is not None:
            size, place = flat
            self.issue(
                prim, f"{prim.display} is flat and is written as a thin box, as MuJoCo has no flat meshes.",
                "Use a plane or a thin box.", "info",
            )  # fmt: skip
            return [(f'type="box" size="{_row(size)}"', pose @ place)]
        if word != "convexHull":
            self.issue(
                prim, f"{prim.display} collides as {word or 'a mesh'} and is written as its hull, which is what MuJoCo "
                "makes of a mesh.", "Make convex parts of it.",
            )  # fmt: skip
        return [(f'type="mesh" mesh="{self.mesh_name(points, geometry.triangles, prim.label or prim.name)}"', pose)]

    def height_field(self, prim: Prim, geometry: Mesh, points: Floats) -> tuple[str, Floats] | None:
        """(words of a geom, pose (4, 4)) of a mesh on a grid that stands still, as MuJoCo's height fields have to."""
        body = self.model.body_of(prim.path)
        if body is not None and body.path in self.bodies:
            return None
        found = height_fields.of_mesh(points, geometry.triangles)
        if found is None or found.field.heights is None:
            return None
        rows, columns = found.field.heights.shape
        name = self.name_of(f"field of {prim.path}", prim.label or prim.name, "hfield")
        # The first row of the text is at the largest y.
        heights = "\n      ".join(_short(row) for row in found.field.heights[::-1])
        self.assets.append(
            f'    <hfield name="{escape(name)}" nrow="{rows}" ncol="{columns}" size="{_row(found.field.size)}" '
            f'elevation="{heights}"/>'
        )
        return f'type="hfield" hfield="{escape(name)}"', frames.transform(found.center)

    def mesh_name(
        self, points: Floats, triangles: Any, wanted: str, uvs: Floats | None = None, *, is_seen: bool = False
    ) -> str:  # fmt: skip
        """The name of a mesh, which is written once. is_seen: it may be flat, as nothing collides with it."""
        parts = [one for one in (points, uvs, triangles if is_seen else None) if one is not None]
        key = b"".join(np.round(one, 9).tobytes() for one in parts)
        if key not in self.meshes:
            name = self.name_of(f"mesh {len(self.meshes)}", wanted, "mesh")
            faces = "" if triangles is None else f' face="{" ".join(map(str, np.ravel(triangles).tolist()))}"'
            faces += "" if uvs is None else f' texcoord="{_short(np.ravel(uvs))}"'
            faces += ' inertia="shell"' if is_seen else ""
            self.assets.append(f'    <mesh name="{escape(name)}" vertex="{_row(points)}"{faces}/>')
            self.meshes[key] = name
        return self.meshes[key]

    def contact_words(self, prim: Prim) -> str:
        material = self.model.prims.get(prim.physics_binding or (prim.materials[-1] if prim.materials else ""))
        own = material.get(usd_physics.MaterialAPI) if material is not None else None
        friction = FRICTION if own is None else own.resolved("dynamic_friction")
        if material is not None and own is not None and own.resolved("restitution") > 0.0:
            self.bouncing[material.path] = material
        newton: Any = material.schemas.get("NewtonMaterialAPI") if material is not None else None
        more = [newton.allowed(word) for word in ("torsional_friction", "rolling_friction")] if newton else []
        numbers = [max(friction, 1e-5)] + ([] if None in more else more)
        words = f' friction="{_short(numbers)}"'
        mujoco: Any = prim.schemas.get("MjcCollisionAPI")
        for word in ("condim", "priority"):
            value = mujoco.allowed(word) if mujoco else None
            words += f' {word}="{value}"' if value is not None else ""
        if prim.path in self.masks:
            number = self.masks[prim.path]
            words += f' contype="{1 << number}" conaffinity="{self.affinities[number]}"'
        return words

    # ------------------------------------------------------------------ joints

    def joint(self, joint: _Joint, body: Floats, depth: int) -> list[str]:
        """The elements of the joint that holds a body."""
        kind = joint.prim.type_name
        local = _seen_from(body, joint.child.frame)
        between = _seen_from(joint.parent.frame, joint.child.frame)
        if joint.sign < 0:
            # The child is the first side: what the joint measures is the way back.
            between = np.asarray(np.linalg.inv(between))
        made: list[str] = []
        if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
            number = _LETTERS.index(joint.schema.resolved("axis"))
            is_hinge = kind == "PhysicsRevoluteJoint"
            start = _angle(between, number) if is_hinge else float(between[number, 3])
            limits = joint.schema.resolved("lower_limit"), joint.schema.resolved("upper_limit")
            made.append(self.single(joint, "", number, is_hinge, local, start, limits, self.drive(joint, is_hinge)))
        elif kind == "PhysicsSphericalJoint":
            made.append(self.ball(joint, local))
        elif kind == "PhysicsJoint":
            made += self.generic(joint, local, between)
        elif kind != "PhysicsFixedJoint":
            self.issue(joint.prim, f"{joint.prim.display} is a {kind}, which MuJoCo has no joint for.", "Use another.")
        return ["  " * depth + line for line in made]

    def drive(self, joint: _Joint, is_hinge: bool) -> usd_physics.DriveAPI | None:
        api = joint.prim.schemas.get(f"PhysicsDriveAPI:{'angular' if is_hinge else 'linear'}")
        return api if isinstance(api, usd_physics.DriveAPI) else None

    def single(
        self, joint: _Joint, dof: str, number: int, is_hinge: bool, local: Floats, start: float,
        limits: Sequence[Any], drive: usd_physics.DriveAPI | None,
    ) -> str:  # fmt: skip
        """A hinge or a slide. dof: of a generic joint. number: of the axis. start: value in the pose of the model."""
        base = joint.prim.label or joint.prim.name
        wanted = self.further.joints.get((joint.prim.path, dof), f"{base}_{dof}" if dof else base)
        name = self.name_of(f"{joint.prim.path}.{dof}" if dof else joint.prim.path, wanted, "joint")
        axis = local[:3, number] * joint.sign
        words = f'type="{"hinge" if is_hinge else "slide"}" pos="{_row(local[:3, 3])}" axis="{_row(axis)}"'
        if abs(start) > 1e-9:
            words += f' ref="{_row([start])}"'
        low, high = (float(value) for value in limits)
        if math.isfinite(low) or math.isfinite(high):
            far = 1e3
            low, high = max(low, -far), min(high, far)
            # MuJoCo takes a range without width for none.
            words += f' range="{_row([low, low + _NARROW if low == high else high])}"'
        words += self.dynamics(joint.prim, dof or ("angular" if is_hinge else "linear"))
        words += self.further.words.get(wanted, "")
        words += self.driven(joint, dof, name, drive, lambda: self.weight_of(
            joint, drive, local, number, is_hinge=is_hinge))  # fmt: skip
        return f'<joint name="{escape(name)}" {words}/>'

    def dynamics(self, prim: Prim, dof: str) -> str:
        """Words for what resists in a joint, whichever simulator it is said for. dof: instance name of its schemas."""
        settings = joint_settings.axis_settings(prim, dof)
        if settings.max_speed < math.inf:
            self.unsaid.setdefault("largest speed", {})[prim.path] = prim
        pairs = (("armature", settings.armature), ("damping", settings.resistance), ("frictionloss", settings.friction))
        return "".join(f' {word}="{_short([value])}"' for word, value in pairs if value)

    def tell_unsaid(self) -> None:
        """Name what joints have and MuJoCo has no word for, in one sentence for all of them."""
        for what, prims in self.unsaid.items():
            names = ", ".join(f"'{prim.label or prim.name}'" for prim in prims.values())
            self.issue(
                next(iter(prims.values())), f"MuJoCo has no {what} of joints: that of {names} is left out.",
                "Export USD to keep it.", "info",
            )  # fmt: skip

    def tell_surfaces(self) -> None:
        """Name what surfaces do, and those of MuJoCo do not."""
        running = [prim for prim in self.model.prims.values() if _runs(prim)]
        for prims, one, many, what, fix in (
            (
                list(self.bouncing.values()), "bounces", "bounce", "(restitution), and nothing bounces in MuJoCo",
                "Export USD to keep it.",
            ),
            (
                running, "has", "have", "a running surface, which stands still in MuJoCo",
                "Export USD for PhysX to keep it.",
            ),
        ):  # fmt: skip
            if prims:
                more = f" and {counted(len(prims) - 1, 'more prim')} {many}" if len(prims) > 1 else f" {one}"
                self.issue(prims[0], f"{prims[0].display}{more} {what}.", fix)

    def tell_left_open(self) -> None:
        for kind, prims in self.left_open.items():
            more = f" and {len(prims) - 1} more are" if len(prims) > 1 else " is"
            self.issue(prims[0], f"MuJoCo closes no loop by a {kind}, so {prims[0].display}{more} left out.",
                       "Let another joint close the loop.")  # fmt: skip

    def driven(
        self, joint: _Joint, dof: str, name: str, drive: usd_physics.DriveAPI | None, weight: Callable[[], float]
    ) -> str:  # fmt: skip
        """Writes what drives a joint. Returns words for its own spring.

        Actuators of MuJoCo are written as they are, where they and the spring are what the drive says; else the drive.
        """
        path = joint.prim.path
        own = [one for one in self.moving.get(f"{path}.{dof}", ()) if one.kind == "joint"]
        spring = self.further.springs.get((path, dof), Spring())
        meant = joints.drive_of(
            values.Joint(path, "hinge", np.zeros(3), np.zeros(3), stiffness=spring.stiffness, spring=spring.position,
                         damping=spring.damping, force_range=spring.force),
            [replace(one, target=path) for one in own], 1.0, is_shared=True,
        )  # fmt: skip
        target = f'joint="{escape(name)}"'
        is_same = _is_same_drive(meant, drive)
        for one in own:
            if is_same or not one.is_servo:
                self.general(one, target)
        if not is_same:
            if drive is not None:
                self.actuator(joint.prim, name, drive, weight())
            return ""
        found = "".join(
            f' {word}="{_short([value])}"' for word, value in
            (("stiffness", spring.stiffness), ("springref", spring.position), ("damping", spring.damping)) if value
        )  # fmt: skip
        return found if spring.force is None else f'{found} actuatorfrcrange="{_short(spring.force)}"'

    def weight_of(
        self, joint: _Joint, drive: usd_physics.DriveAPI | None, local: Floats, number: int, *, is_hinge: bool
    ) -> float:  # fmt: skip
        """What the gains of a drive are times: the inertia that it moves, if it gives an acceleration."""
        if drive is None or drive.resolved("type") != "acceleration":
            return 1.0
        self.issue(
            joint.prim, f"{joint.prim.display} has a drive of type acceleration: MuJoCo gets its gains times the "
            "inertia that it moves in this pose.", "Use type force.", "info",
        )  # fmt: skip
        frame = self.bodies[joint.child.body].pose @ local
        newton: Any = joint.prim.schemas.get("NewtonJointAPI")
        total = float((newton.allowed("armature") if newton else None) or 0.0)
        waiting = [joint.child.body]
        while waiting:
            path = waiting.pop()
            waiting += self.bodies[path].children
            own = mass.mass_properties(self.model, path, self.colliders.get(path, ()))
            pose = self.bodies[path].pose
            if not is_hinge:
                total += own.mass
                continue
            turn = pose[:3, :3] @ frames.matrix_of(own.principal_axes)
            center = pose[:3, :3] @ np.array(own.center_of_mass, float) + pose[:3, 3]
            tensor = mass.rotated(np.diag(own.diagonal_inertia), turn)
            tensor = mass.translated(tensor, own.mass, center - frame[:3, 3])
            total += float(frame[:3, number] @ tensor @ frame[:3, number])
        return total

    def actuator(self, prim: Prim, joint: str, drive: usd_physics.DriveAPI, weight: float) -> None:
        stiffness, damping = (weight * float(drive.resolved(word)) for word in ("stiffness", "damping"))
        if stiffness <= 0.0 and damping <= 0.0:
            self.unsaid.setdefault("drive without gains", {})[prim.path] = prim
            return
        # The target is in the bias, so that the pose is held without a control, which is added to it.
        offset = stiffness * float(drive.resolved("target_position")) + damping * float(
            drive.resolved("target_velocity")
        )
        gain = stiffness if stiffness > 0.0 else damping
        words = f'gainprm="{_short([gain])}" biastype="affine" biasprm="{_short([offset, -stiffness, -damping])}"'
        most = float(drive.resolved("max_force"))
        if math.isfinite(most):
            words += f' forcerange="{_short([-most, most])}"'
        name = self.name_of(f"actuator {joint}", f"{joint}_drive", "actuator")
        self.actuators.append(f'    <general name="{escape(name)}" joint="{escape(joint)}" {words}/>')

    def ball(self, joint: _Joint, local: Floats) -> str:
        words = f'type="ball" pos="{_row(local[:3, 3])}"' + self.dynamics(joint.prim, "")
        cones = [float(joint.schema.resolved(f"cone_angle{side}_limit")) for side in (0, 1)]
        if min(cones) >= 0.0:
            words += f' range="{_row([0.0, min(max(cones), math.pi)])}"'
            self.issue(
                joint.prim, f"The cone of {joint.prim.display} limits its twist in MuJoCo, too.",
                "Raise the cone, or make it a generic joint, if it twists by more.", "info",
            )  # fmt: skip
        name = self.name_of(joint.prim.path, joint.prim.label or joint.prim.name, "joint")
        for one in self.moving.get(f"{joint.prim.path}.", ()):
            if one.kind == "joint":
                self.general(one, f'joint="{escape(name)}"')
        return f'<joint name="{escape(name)}" {words}/>'

    def generic(self, joint: _Joint, local: Floats, between: Floats) -> list[str]:
        """Slides along the axes of the frame, then hinges about its Z, Y and X, as the angles of the joint are.

        Where the child is the first side it is the way back: hinges about X, Y and Z, then slides.
        """
        limits = dict(joint.prim.instances(usd_physics.LimitAPI))
        drives = dict(joint.prim.instances(usd_physics.DriveAPI))
        ranges: dict[str, tuple[float, float]] = {}
        for family in ("trans", "rot"):
            for letter in _LETTERS:
                limit = limits.get(f"{family}{letter}")
                low, high = (-math.inf, math.inf) if limit is None else (limit.resolved("low"), limit.resolved("high"))
                if low <= high:
                    ranges[f"{family}{letter}"] = (float(low), float(high))
        turn = between[:3, :3]
        angles = {"Z": math.atan2(turn[1, 0], turn[0, 0]), "Y": -math.asin(max(-1.0, min(1.0, float(turn[2, 0])))),
                  "X": math.atan2(turn[2, 1], turn[2, 2])}  # fmt: skip
        # The frame of the parent, in the body: what turns first turns the axes of the rest.
        first = local @ frames.transform((0, 0, 0), turn.T if joint.sign > 0 else turn)
        lines = []
        order = [f"trans{letter}" for letter in _LETTERS] + ["rotZ", "rotY", "rotX"]
        passed, place = np.eye(3), local[:3, 3]
        if joint.sign < 0:
            order.reverse()
            slid = [between[row, 3] if f"trans{letter}" in ranges else 0.0 for row, letter in enumerate(_LETTERS)]
            place = (local @ np.array([*slid, 1.0]))[:3]
        for dof in order:
            letter, number = dof[-1], _LETTERS.index(dof[-1])
            is_hinge = dof.startswith("rot")
            start = angles[letter] if is_hinge else float(between[number, 3])
            frame = first @ frames.transform((0, 0, 0), passed)
            frame[:3, 3] = place
            if dof in ranges:
                lines.append(self.single(joint, dof, number, is_hinge, frame, start, ranges[dof], drives.get(dof)))
            if is_hinge:
                passed = passed @ _about(number, joint.sign * angles[letter])
        return lines

    # ------------------------------------------------------------------ what closes loops

    def close(self, joint: _Joint) -> None:
        prim, kind = joint.prim, joint.prim.type_name
        name = self.name_of(prim.path, prim.label or prim.name, "equality")
        bodies = [self.bodies[end.body].name if end.body else "world" for end in (joint.parent, joint.child)]
        poses = [self.bodies[end.body].pose if end.body else np.eye(4) for end in (joint.parent, joint.child)]
        local = [_seen_from(pose, end.frame)
                 for pose, end in zip(poses, (joint.parent, joint.child), strict=True)]  # fmt: skip
        head = f'name="{escape(name)}" body1="{escape(bodies[0])}" body2="{escape(bodies[1])}"'
        closing = loops.closing_of(prim)
        if closing is None:
            self.left_open[kind].append(prim)
            return
        if closing.more:
            self.issue(
                prim, "MuJoCo closes a loop by points that stay together: limits, locked turns, drives, friction, "
                f"damping and armature of {prim.display} are left out.", "Let another joint close the loop.",
            )  # fmt: skip
        if closing.kind == "weld":
            turn = frames.quaternion_of(local[0][:3, :3] @ local[1][:3, :3].T)
            numbers = f'anchor="{_row(local[1][:3, 3])}" relpose="{_row([*local[0][:3, 3], *turn])}"'
            self.equalities.append(f"    <weld {head} {numbers}{self.softness(prim.path)}/>")
        elif closing.kind == "distance":
            self.distance(name, joint, local)
        else:
            self.connect(name, joint, local, (closing.axis,) if closing.kind == "hinge" else ())

    def softness(self, path: str) -> str:
        """The attributes by which MuJoCo's solver holds the equality that a joint becomes."""
        return self.further.words.get(path, "")

    def connect(self, name: str, joint: _Joint, local: Sequence[Floats], axes: Sequence[int]) -> None:
        """Points that stay together: one of a ball, two along the axis of a hinge."""
        for number, shift in enumerate((0.0, *(_APART for _ in axes))):
            label = f"{name}_{number}" if axes else name
            sites = []
            for side, (end, frame) in enumerate(zip((joint.parent, joint.child), local, strict=True)):
                place = frame[:3, 3] + (frame[:3, axes[0]] * shift if axes else 0.0)
                site = self.name_of(f"{joint.prim.path} {number} {side}", f"{label}_{side}", "site")
                self.sites.setdefault(end.body, []).append(f'<site name="{escape(site)}" pos="{_row(place)}"/>')
                sites.append(site)
            if axes:
                label = self.name_of(f"{joint.prim.path} {number}", label, "equality")
            self.equalities.append(
                f'    <connect name="{escape(label)}" site1="{escape(sites[0])}" site2="{escape(sites[1])}"'
                f"{self.softness(joint.prim.path)}/>"
            )

    def distance(self, name: str, joint: _Joint, local: Sequence[Floats]) -> None:
        low, high = (float(joint.schema.resolved(word)) for word in ("min_distance", "max_distance"))
        least, has_most = low if 0.0 < low < math.inf else 0.0, 0.0 <= high < math.inf
        if not least and not has_most:
            return
        sites = []
        for side, (end, frame) in enumerate(zip((joint.parent, joint.child), local, strict=True)):
            site = self.name_of(f"{joint.prim.path} d{side}", f"{name}_{side}", "site")
            self.sites.setdefault(end.body, []).append(f'<site name="{escape(site)}" pos="{_row(frame[:3, 3])}"/>')
            sites.append(site)
        most = high if has_most else 1e3
        self.tendons += [
            f'    <spatial name="{escape(name)}" range="{_row([least, max(most, least + _NARROW)])}">',
            *(f'      <site site="{escape(site)}"/>' for site in sites), "    </spatial>",
        ]  # fmt: skip

    def couple(self, path: str, prim: Prim) -> None:
        """A joint that follows another one."""
        mimic: Any = prim.schemas.get("NewtonMimicAPI")
        if mimic is None or mimic.mimic_enabled is False or not mimic.mimic_joint:
            return
        leader = mimic.mimic_joint[0]
        kinds, held = {"PhysicsRevoluteJoint", "PhysicsPrismaticJoint"}, self.holding().keys()
        other = self.model.prims.get(leader)
        if other is None or not {prim.type_name, other.type_name} <= kinds or not {path, leader} <= held:
            self.issue(
                prim, f"{prim.display} follows a joint that MuJoCo cannot couple.",
                "Couple hinges and slides that are on and close no loop.",
            )  # fmt: skip
            return
        names = [self.name_of(one.path, one.label or one.name, "joint") for one in (prim, other)]
        offset, ratio = float(mimic.resolved("mimic_coef0")), float(mimic.resolved("mimic_coef1"))
        # MuJoCo couples what has changed since the start.
        starts = [self.start_of(one.path) for one in (prim, other)]
        bias = offset + ratio * starts[1] - starts[0]
        label = self.name_of(f"mimic {path}", f"{names[0]}_follows", "equality")
        self.equalities.append(
            f'    <joint name="{escape(label)}" joint1="{escape(names[0])}" joint2="{escape(names[1])}" '
            f'polycoef="{_row([bias, ratio, 0, 0, 0])}"{self.softness(path)}/>'
        )

    def holding(self) -> dict[str, _Joint]:
        """The joints that hold bodies, by path."""
        if not self.holds:
            self.holds = {body.joint.prim.path: body.joint for body in self.bodies.values() if body.joint}
        return self.holds

    def start_of(self, path: str) -> float:
        """The angle or distance of a hinge or a slide in the pose of the model."""
        start_joint = self.holding().get(path)
        if start_joint is None:
            return 0.0
        between = _seen_from(start_joint.parent.frame, start_joint.child.frame)
        between = np.asarray(np.linalg.inv(between)) if start_joint.sign < 0 else between
        number = _LETTERS.index(start_joint.schema.resolved("axis"))
        return (
            _angle(between, number)
            if start_joint.prim.type_name == "PhysicsRevoluteJoint"
            else float(between[number, 3])
        )

    # ------------------------------------------------------------------ the rest

    def excludes(self) -> list[str]:
        """Pairs of bodies that do not collide. What stands still gets a body of its own if it is in one of them."""
        pairs: dict[tuple[str, str], None] = {}
        said = list(self.model.filtered_pairs())
        meant = self.filtered_at({end for pair in said for end in pair})
        for path, other in said:
            prim = self.model.prims[path]
            told = [
                (one, two) for one, two in product(meant[path], meant[other])
                if one != two and (one in self.bodies or two in self.bodies)
            ]  # fmt: skip
            for ends in told:
                one, two = sorted(self.names[end] if end in self.bodies else self.own_body_of(end) for end in ends)
                pairs[one, two] = None
            part = next(filter(self.is_one_of_several, (path, other)), None)
            if told and part is not None:
                self.issue(
                    prim, f"MuJoCo excludes whole bodies: what {prim.display} does not collide with passes through "
                    f"all colliders of the body of {part}.", "Put it into a body of its own, on a fixed joint.",
                )  # fmt: skip
        for joint in [*self.loops, *(body.joint for body in self.bodies.values() if body.joint is not None)]:
            if not joint.schema.resolved("collision_enabled") and joint.parent.body and joint.child.body:
                one, other = sorted((self.names[joint.parent.body], self.names[joint.child.body]))
                pairs[one, other] = None
        self.tell_tied(pairs)
        return [f'    <exclude body1="{escape(one)}" body2="{escape(other)}"/>' for one, other in pairs]

    def tell_tied(self, excluded: Collection[tuple[str, str]]) -> None:
        """Name what collides here and not in MuJoCo, which lets pass what is on the two sides of a joint, together with
        all that is fixed to these. excluded: names of pairs that do not collide here either."""
        if self.words_of_options()["flag"].get("filterparent") == "disable":
            return
        roots = {path: self.fixed_to(path) for path in self.bodies}
        rigid: dict[str, list[str]] = defaultdict(list)
        for path, root in roots.items():
            rigid[root].append(path)
        tied = []
        for root, members in rigid.items():
            joint = self.bodies[root].joint if root else None
            above = roots[joint.parent.body] if joint is not None and joint.parent.body else ""
            for one, other in product(rigid[above] if above else (), members):
                first, second = sorted((self.names[one], self.names[other]))
                if (first, second) not in excluded and self.meet(one, other):
                    tied.append((one, other))
        if tied:
            first_prim, other_prim = (self.model.prims[path] for path in tied[0])
            more = f" So do {counted(len(tied) - 1, 'other pair')}." if len(tied) > 2 else ""
            more = " So does 1 other pair." if len(tied) == 2 else more
            self.issue(
                first_prim, f"{first_prim.display} and {other_prim.display} collide, and pass through each other in "
                f"MuJoCo, because a joint ties them, or what they are fixed to.{more}",
                "Switch filterparent of the scene off (mjc:flag:filterparent).",
            )  # fmt: skip

    def fixed_to(self, path: str) -> str:
        """The first body of those that no joint moves against a body; empty where that stands still."""
        while path:
            joint = self.bodies[path].joint
            if joint is None or joint.prim.type_name != "PhysicsFixedJoint":
                return path
            path = joint.parent.body
        return path

    def meet(self, one: str, other: str) -> bool:
        """Whether a collider of a body may touch one of another, by their groups."""
        masks = [
            {self.masks.get(prim.path) for prim in self.colliders.get(path, ()) if _collides(prim)}
            for path in (one, other)
        ]  # fmt: skip
        return any(
            first is None or second is None or self.affinities[first] & 1 << second for first, second in product(*masks)
        )

    def is_one_of_several(self, path: str) -> bool:
        """True for a collider of a body that moves and has others."""
        body = self.model.body_of(path)
        return body is not None and body.path != path and body.path in self.bodies and (
            len(self.colliders.get(body.path, ())) > 1 and path in self.model.colliders
        )  # fmt: skip

    def filtered_at(self, ends: set[str]) -> dict[str, list[str]]:
        """The bodies, and the colliders of what stands still, that filtered pairs mean by prims: those at them, or
        below."""
        known = {end for end in ends if end in self.model.prims}
        meant = {end: [end] if end in self.bodies else [] for end in ends}
        for end, colliders in paths.inside_each(self.model.colliders, known - self.bodies.keys()).items():
            bodies = [(collider, self.model.body_of(collider)) for collider in colliders]
            found = [body.path if body and body.path in self.bodies else collider for collider, body in bodies]
            meant[end] = list(dict.fromkeys(found))
        return meant

    def own_body_of(self, collider: str) -> str:
        """The name of a body that never moves, for a collider of what stands still."""
        if collider not in self.homes:
            prim = self.model.prims[collider]
            self.homes[collider] = self.name_of(f"{collider} body", prim.label or prim.name, "body")
        return self.homes[collider]

    def in_own_body(self, prim: Prim, lines: list[str], depth: int) -> list[str]:
        """The geoms of a collider, in the body that it has where it stands still and is filtered."""
        name, pad = self.homes.get(prim.path), "  " * depth
        if name is None or not lines:
            return lines
        return [f'{pad}<body name="{escape(name)}">', *(f"  {line}" for line in lines), f"{pad}</body>"]

    def options(self) -> tuple[str, list[str]]:
        """Gravity, and what MuJoCo's own schema of the scene says."""
        scene = next(iter(self.model.scenes.values()), None)
        own = scene.get(usd_physics.PhysicsScene) if scene is not None else None
        way, size = np.array([0.0, 0.0, -1.0]), 9.81
        if own is not None:
            given = np.array(own.resolved("gravity_direction"), float)
            way = given / np.linalg.norm(given) if np.linalg.norm(given) > 0 else way
            value = float(own.resolved("gravity_magnitude"))
            size = value if 0.0 <= value < math.inf else size
        found = self.words_of_options()
        words = "".join(f' {word}="{escape(text)}"' for word, text in found["option"].items())
        head = f'  <option gravity="{_row(way * size)}"{words}'
        if not found["flag"]:
            return "option", [f"{head}/>"]
        flags = "".join(f' {word}="{text}"' for word, text in found["flag"].items())
        return "option", [f"{head}>", f"    <flag{flags}/>", "  </option>"]

    def words_of_options(self) -> dict[str, dict[str, str]]:
        """Words of the option of the scene and of its flag, without gravity."""
        scene = next(iter(self.model.scenes.values()), None)
        mujoco: Any = scene.schemas.get("MjcSceneAPI") if scene is not None else None
        found: dict[str, dict[str, str]] = {"option": {}, "flag": {}}
        for attribute in type(mujoco).attributes if mujoco is not None else ():
            _, _, rest = attribute.usd.partition(":")
            kind, _, word = rest.partition(":")
            value = mujoco.allowed(attribute.field)
            if kind in found and value is not None and word != "gravity":
                found[kind][word] = _word(value)
        if self.further.source is not None:
            # As the text has them: numbers of a USD file have fewer digits.
            found = {"option": dict(self.further.source.options), "flag": dict(self.further.source.flags)}
            for kind in found:
                found[kind].pop("gravity", None)
        elif not found["option"]:
            found["option"] = {"timestep": "0.002", "cone": "elliptic", "impratio": "10", "integrator": "implicitfast"}
        return found


def _with_classes(sections: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Sections with default classes for what bodies and actuators have in common."""
    names = ("worldbody", "actuator")
    found = {tag: content for tag, content in sections if tag in names}
    sizes = [len(found.get(tag, ())) for tag in names]
    defaults, made = classes.with_classes([line for tag in names for line in found.get(tag, ())])
    found = {"worldbody": made[: sizes[0]], "actuator": made[sizes[0] :]}
    changed = [(tag, found.get(tag, content)) for tag, content in sections]
    at = next(number for number, (tag, _) in enumerate(changed) if tag in ("asset", "worldbody"))
    return [*changed[:at], ("default", defaults), *changed[at:]]


def _word(value: Any) -> str:
    """A value of the scene as MJCF has it."""
    if isinstance(value, bool):
        return "enable" if value else "disable"
    if isinstance(value, tuple):
        return _row(value)
    named = {"euler": "Euler", "rk4": "RK4", "pgs": "PGS", "cg": "CG", "newton": "Newton"}
    return named.get(value, value) if isinstance(value, str) else f"{value:.9g}"


def _is_same_drive(one: usd_physics.DriveAPI | None, other: usd_physics.DriveAPI | None) -> bool:
    if one is None or other is None:
        return one is other
    numbers = [[float(drive.resolved(word)) for word in ("stiffness", "damping", "max_force", "target_velocity")]
               for drive in (one, other)]  # fmt: skip
    efforts = [float(drive.resolved("target_position")) * float(drive.resolved("stiffness")) for drive in (one, other)]
    return (other.resolved("type") == "force" and bool(np.allclose(numbers[0], numbers[1], rtol=1e-5, atol=1e-9))
            and abs(efforts[0] - efforts[1]) <= 1e-5 * max(1e-3, abs(efforts[0])))  # fmt: skip


def _fans(counts: Any) -> Any:
    """Triangles (m, 3) of corners of faces, face by face."""
    starts = np.cumsum(counts) - counts
    of_face = np.repeat(np.arange(len(counts)), counts - 2)
    step = np.arange(len(of_face)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
    first = starts[of_face]
    return np.stack((first, first + step + 1, first + step + 2), axis=1)


def _row(values: Iterable[Any]) -> str:
    """Numbers as text: as short as they are exact to 1e-12."""
    return " ".join(f"{float(value):.12g}" for value in np.ravel(np.asarray(list(values), float))).replace("-0 ", "0 ")


def _short(values: Iterable[Any]) -> str:
    """Numbers that were 32-bit floats as text."""
    return " ".join(f"{float(value) + 0.0:.7g}" for value in values)


def _placed(pose: Floats, *, always: bool = False) -> str:
    words = f' pos="{_row(pose[:3, 3])}"' if always or np.abs(pose[:3, 3]).max() > 0 else ""
    turn = frames.quaternion_of(pose[:3, :3])
    return words if frames.is_identity(turn, 1e-12) else f'{words} quat="{_row(turn)}"'


def _seen_from(frame: Floats, world: Floats) -> Floats:
    """A matrix (4, 4) of the world in the space of a frame."""
    return np.asarray(np.linalg.solve(frame, world))


def _collides(prim: Prim) -> bool:
    api = prim.get(usd_physics.CollisionAPI)
    return api is not None and api.collision_enabled is not False


def _rigid(world: Floats) -> Floats:
    """A matrix (4, 4) without its scale and shear."""
    return frames.unscaled(world)


def _flat_box(points: Floats) -> tuple[Floats, Floats] | None:
    """(half lengths (3,), pose (4, 4)) of the box about points (n, 3) in a plane; None for points in space."""
    middle = points.mean(axis=0)
    # One or two points have no three axes: the middle is added.
    around = np.pad(points - middle, ((0, max(0, 3 - len(points))), (0, 0)))
    _, sizes, axes = np.linalg.svd(around, full_matrices=False)
    if sizes[-1] > 1e-6 * max(float(sizes[0]), 1e-30):
        return None
    turn = np.asarray(axes).T
    if np.linalg.det(turn) < 0.0:
        turn[:, 2] = -turn[:, 2]
    along = (points - middle) @ turn
    low, high = along.min(axis=0), along.max(axis=0)
    pose = frames.transform(middle + turn @ ((low + high) / 2.0), turn)
    return np.maximum((high - low) / 2.0, _THIN), pose


def _to_axis(number: int) -> Floats:
    """The rotation (3, 3) that takes Z to an axis, as shapes of MuJoCo are along Z."""
    return (np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]], float), np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float),
            np.eye(3))[number]  # fmt: skip


def _about(number: int, angle: float) -> Floats:
    return frames.matrix_of(frames.turn_by(np.eye(3)[number] * angle))


def _angle(between: Floats, number: int) -> float:
    """The angle of a rotation about an axis of its frame."""
    after, last = (number + 1) % 3, (number + 2) % 3
    return math.atan2(float(between[last, after]), float(between[after, after]))


def _runs(prim: Prim) -> bool:
    """True for a prim whose surface moves, as that of a conveyor does."""
    value: Any = prim.schemas.get("PhysxSurfaceVelocityAPI")
    if value is None or value.surface_velocity_enabled is False:
        return False
    return any((*(value.surface_velocity or ()), *(value.surface_angular_velocity or ())))
