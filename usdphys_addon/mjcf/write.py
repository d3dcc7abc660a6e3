# SPDX-License-Identifier: GPL-3.0-or-later
"""A model -> MJCF: bodies along a tree of joints, the rest of the joints as equalities, drives as actuators.

The file stands alone: meshes are in it. What MuJoCo cannot say is named.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import NamedTuple

import numpy as np

from ..core import frames, mass
from ..core.errors import InputError
from ..core.model import PhysicsModel, Prim
from ..core.schemas import usd_physics
from ..core.validate import Issue
from ..core.words import counted
from ..urdf import markup
from . import classes, further, options
from .draft import Draft
from .further import Further
from .tree import seen_from
from .values import Floats
from .words import placed, short
from .write_contacts import Contacts
from .write_joints import Joints
from .write_loops import Loops
from .write_shapes import Shapes

#: What moves a body and has no word of MuJoCo: fields, and the names that users know.
#: kg and kg m²: MuJoCo refuses a body that moves with less than 1e-15 of either.
_LEAST = 2e-15
#: kg and kg m², of a body that has none.
_NO_MASS, _NO_INERTIA = 1e-9, 1e-12
_UNSAID_OF_BODY = (("velocity", "velocity"), ("angular_velocity", "angularVelocity"), ("starts_asleep", "startsAsleep"))
_UNSAID_OF_PHYSX = (
    ("linear_damping", "linearDamping"), ("angular_damping", "angularDamping"), ("locked_pos_axis", "lockedPosAxis"),
    ("locked_rot_axis", "lockedRotAxis"), ("max_linear_velocity", "maxLinearVelocity"),
    ("max_angular_velocity", "maxAngularVelocity"),
)  # fmt: skip
#: Tag and lines of a part of the file.
Section = tuple[str, list[str]]


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
    return _Writer(Draft(model, name, further or Further())).written()


class _Writer:
    def __init__(self, draft: Draft) -> None:
        self.draft, self.further, self.bodies = draft, draft.further, draft.tree.bodies
        self.contacts = Contacts(draft)
        self.joints, self.loops, self.shapes = Joints(draft), Loops(draft), Shapes(draft, self.contacts)
        self.is_balanced = False

    def written(self) -> Written:
        draft = self.draft
        self._tell_air()
        lost_joints = self.loops.write()
        self._find_sites()
        excludes = self.contacts.excludes()
        world = self.shapes.of_body("", np.eye(4)) + draft.sites[""]
        for path, body in self.bodies.items():
            if body.joint is None or not body.joint.parent.body:
                world += self._body(path, np.eye(4))
        if not world:
            raise InputError("There is no body and no collider to write.")
        self._actuate()
        draft.tell_left_out()
        self.contacts.tell_surfaces()
        sections = [
            ("option", options.lines_of(draft)), ("asset", draft.assets), ("worldbody", _indented(world, 2)),
            ("contact", excludes), ("equality", draft.equalities), ("tendon", draft.tendons),
            ("actuator", draft.actuators),
        ]  # fmt: skip
        sections = _with_classes(self._with_kept(sections))
        balance = ' balanceinertia="true"' if self.is_balanced else ""
        lines = [f'<mujoco model="{escape(draft.name)}">', f'  <compiler angle="radian" autolimits="true"{balance}/>']
        for tag, content in sections:
            if content and (tag == "option" or tag in further.SINGLE):
                lines += content
            elif content:
                lines += [f"  <{tag}>", *content, f"  </{tag}>"]
        return Written("\n".join([*lines, "</mujoco>", ""]), draft.names, draft.issues, lost_joints)

    # ------------------------------------------------------------------ bodies

    def _body(self, path: str, above: Floats) -> list[str]:
        """A body with those that it carries. above: pose (4, 4) of what carries it."""
        own = self.bodies[path]
        mocap = ' mocap="true"' if own.is_kinematic else ""
        lift = "" if own.is_kinematic else self._lift(own.prim)
        content: list[str] = []
        if own.joint is not None:
            content += [line for joint in own.joints for line in self.joints.of_body(joint)]
        elif not own.is_kinematic:
            wanted = self.further.joints.get((path, "free"), f"{own.name}_free")
            name = escape(self.draft.name_of(f"{path}.free", wanted, "joint"))
            more = self.further.words.get(f"{path}.free")
            tag = f'joint name="{name}" type="free"{more}' if more else f'freejoint name="{name}"'
            content.append(f"<{tag}/>")
        content.append(self._inertial(path))
        content += self.shapes.of_body(path, own.pose) + self.draft.sites[path]
        for child in own.children:
            content += self._body(child, own.pose)
        pose = placed(seen_from(above, own.pose))
        return [f'<body name="{escape(own.name)}"{pose}{mocap}{lift}>', *_indented(content, 1), "</body>"]

    def _lift(self, prim: Prim) -> str:
        """The share of its gravity that does not pull a body. Names what else moves it and cannot be said."""
        api, physx = prim.get(usd_physics.RigidBodyAPI), prim.schemas.get("PhysxRigidBodyAPI")
        unsaid = [
            name for schema, fields in ((api, _UNSAID_OF_BODY), (physx, _UNSAID_OF_PHYSX))
            for field, name in fields if np.any(getattr(schema, field, None) or 0.0)
        ]  # fmt: skip
        if unsaid:
            self.draft.issue(
                prim, f"{prim.display} has {', '.join(unsaid)}, which bodies of MJCF do not have; it is left out.",
                "Export USD to keep it, or set it in the simulation.",
            )  # fmt: skip
        factor = mass.gravity_factor(prim)
        return f' gravcomp="{short([1.0 - factor])}"' if factor != 1.0 else ""

    def _inertial(self, path: str) -> str:
        properties = mass.mass_properties(self.draft.model, path, self.draft.colliders.get(path, ()))
        turn = frames.matrix_of(properties.principal_axes)
        own = np.array(properties.diagonal_inertia, float)
        # Of what has none, numbers with which MuJoCo works well; else the least that it takes.
        weight = max(properties.mass, _LEAST if properties.mass > 0.0 else _NO_MASS)
        moments = np.maximum(own, _LEAST if own.max() > 0.0 else _NO_INERTIA)
        if properties.mass < weight or (own < moments).any():
            prim = self.bodies[path].prim
            self.draft.issue(
                prim, f"{prim.display} has a mass of {properties.mass:.4g} kg and moments of inertia down to "
                f"{own.min():.4g} kg m²; MuJoCo refuses such small ones, so they are {weight:.4g} kg and "
                f"{moments.min():.4g} kg m² in the file.", "Give it a larger mass.",
            )  # fmt: skip
        moments = mass.possible_moments(moments)
        if 2.0 * moments.max() > moments.sum():
            self.is_balanced = True
            prim = self.bodies[path].prim
            self.draft.issue(
                prim, f"{prim.display} has an inertia that no body can have; MuJoCo takes the mean of its moments.",
                "Correct its moments.",
            )  # fmt: skip
        pose = frames.transform(properties.center_of_mass, turn)
        words = f'mass="{short([weight])}" diaginertia="{short(moments)}"'
        return f"<inertial{placed(pose, always=True)} {words}/>"

    # ------------------------------------------------------------------ what is beside bodies and joints

    def _tell_air(self) -> None:
        """Name what slows down bodies in a preview of this scene alone."""
        if self.draft.model.air.told:
            self.draft.issue_of_file(
                f"{self.draft.model.air.told} MJCF has no word for that; it is left out.",
                "Damp the joints, or switch the damping of the scene off.", "info",
            )  # fmt: skip

    def _find_sites(self) -> None:
        for path, name in self.further.sites.items():
            world = self.draft.model.locate(path) if self.draft.model.locate is not None else None
            if world is None:
                continue
            owner = self.draft.tree.owner_of(path)
            pose = seen_from(self.draft.tree.pose_of(owner), frames.unscaled(world))
            self.draft.add_site(path, name, owner, pose)

    def _actuate(self) -> None:
        """Actuators of sites and bodies."""
        for one in self.further.actuators:
            name = self.draft.names.get(one.target)
            if one.kind in ("site", "body") and name is not None and name in self.draft.taken.get(one.kind, ()):
                seen_from_site = self.draft.names.get(one.reference)
                reference = f' refsite="{escape(seen_from_site)}"' if seen_from_site is not None else ""
                self.draft.add_actuator(one, f'{one.kind}="{escape(name)}"{reference}')

    def _with_kept(self, sections: list[Section]) -> list[Section]:
        """Sections with the further elements of the imported model whose parts are all there; names the others."""
        source = self.further.source
        if source is None:
            return sections
        made = dict(sections)
        lost: Counter[str] = Counter()
        taken = self.draft.taken
        taken |= further.plugins(source)
        for section in further.SINGLE:
            for element in further.elements(source, section):
                made[section] = ["  " + markup.start_tag(section, element.attributes, closed=True)]
        for section in (*further.WHOLE, *further.PARTS):
            for element in further.elements(source, section):
                if not further.is_known(element, taken):
                    lost[element.tag] += 1
                    continue
                if section in further.PARTS and element.get("name"):
                    kind = section if section in ("tendon", "actuator") else f"{section}s"
                    taken.setdefault(kind, set()).add(element.get("name") or "")
                made.setdefault(section, []).append(markup.to_text(element, level=2).rstrip("\n"))
        for tag, number in lost.items():
            self.draft.issue_of_file(
                f"{counted(number, tag)} of the imported model name parts that are gone, and are left out."
                if number > 1 else f"One {tag} of the imported model names a part that is gone, and is left out.",
                "Keep the names of the parts.",
            )  # fmt: skip
        order = ("extension", "size", "visual", "statistic", "option", "custom", "asset")
        return sorted(made.items(), key=lambda one: order.index(one[0]) if one[0] in order else len(order))


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["  " * depth + line for line in lines]


def _with_classes(sections: list[Section]) -> list[Section]:
    """Sections with default classes for what bodies and actuators have in common."""
    names = ("worldbody", "actuator")
    found = {tag: content for tag, content in sections if tag in names}
    sizes = [len(found.get(tag, ())) for tag in names]
    defaults, made = classes.with_classes([line for tag in names for line in found.get(tag, ())])
    found = {"worldbody": made[: sizes[0]], "actuator": made[sizes[0] :]}
    changed = [(tag, found.get(tag, content)) for tag, content in sections]
    at = next(number for number, (tag, _) in enumerate(changed) if tag in ("asset", "worldbody"))
    return [*changed[:at], ("default", defaults), *changed[at:]]
