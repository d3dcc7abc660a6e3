# SPDX-License-Identifier: GPL-3.0-or-later
"""A file of MJCF while it is written: its names, its sections, and what could not be said."""

from __future__ import annotations

from collections import defaultdict
from html import escape
from typing import Any

from ..core import mass, paths
from ..core.model import PhysicsModel, Prim
from ..core.validate import Issue
from .further import Further
from .tree import Tree
from .values import Actuator, Floats
from .words import placed, row


class Draft:
    """name: of the model. further: what it has beside. names: of what is in the file, by path. issues: what could not
    be said. assets, equalities, tendons, actuators: lines of sections. sites: those of each body, by its path.
    """

    def __init__(self, model: PhysicsModel, name: str, further: Further) -> None:
        self.model, self.name, self.further = model, name, further
        self.issues: list[Issue] = []
        self.names: dict[str, str] = {}
        #: Names by kind of part: each kind has its own.
        self.taken: dict[str, set[str]] = {}
        self.assets: list[str] = []
        self.equalities: list[str] = []
        self.tendons: list[str] = []
        self.actuators: list[str] = []
        self.sites: dict[str, list[str]] = defaultdict(list)
        self.colliders = mass.colliders_by_body(model)
        #: Joints with what MuJoCo has no word for, by what that is.
        self._unsaid: dict[str, dict[str, Prim]] = {}
        self.tree = Tree(model, self.name_of)

    def name_of(self, path: str, wanted: str, kind: str) -> str:
        """The name of a part, by its path: that which is wanted, with a number where another part has it."""
        if path not in self.names:
            taken = self.taken.setdefault(kind, set())
            self.names[path] = paths.free(wanted, taken.__contains__, start=2)
            taken.add(self.names[path])
        return self.names[path]

    def name_of_joint(self, prim: Prim, dof: str = "") -> str:
        """The name of a joint that holds a body, or of one degree of freedom of a generic joint."""
        base = prim.label or prim.name
        wanted = self.further.joints.get((prim.path, dof), f"{base}_{dof}" if dof else base)
        return self.name_of(f"{prim.path}.{dof}" if dof else prim.path, wanted, "joint")

    def issue(self, prim: Prim, message: str, fix: str, severity: Any = "warning") -> None:
        """Say of a prim what could not be said in the file."""
        self.issues.append(Issue("MjcfNotSaid", severity, prim.path, prim.label, message, fix))

    def issue_of_file(self, message: str, fix: str, severity: Any = "warning") -> None:
        """Say of the whole what could not be said in the file."""
        self.issues.append(Issue("MjcfNotSaid", severity, "", self.name, message, fix))

    def add_site(self, path: str, wanted: str, body: str, pose: Floats) -> str:
        """A point of a body, with an empty path of the world. pose: in its space. Returns the name."""
        name = self.name_of(path, wanted, "site")
        self.sites[body].append(f'<site name="{escape(name)}"{placed(pose)}/>')
        return name

    def add_actuator(self, one: Actuator, target: str) -> None:
        """An actuator of the imported model with its own numbers. target: as an attribute."""
        words = f'{target} gainprm="{row(one.gains)}" gear="{row(one.gears)}"'
        for tag, kind, numbers in (("gain", one.gain_type, ()), ("bias", one.bias_type, one.biases),
                                   ("dyn", one.dynamics_type, one.dynamics)):  # fmt: skip
            if kind not in ("fixed", "none"):
                words += f' {tag}type="{kind}"'
                words += f' {tag}prm="{row(numbers)}"' if numbers else ""
        for tag, pair in (("ctrl", one.control), ("force", one.force), ("act", one.activity)):
            words += f' {tag}limited="true" {tag}range="{row(pair)}"' if pair is not None else ""
        name = self.name_of(f"actuator {one.name}", one.name, "actuator")
        self.actuators.append(f'    <general name="{escape(name)}" {words}/>')

    def leave_out(self, what: str, prim: Prim) -> None:
        """Remember that a joint has something that MuJoCo has no word for."""
        self._unsaid.setdefault(what, {})[prim.path] = prim

    def tell_left_out(self) -> None:
        """Name it, in one sentence for all joints that have it."""
        for what, prims in self._unsaid.items():
            names = ", ".join(f"'{prim.label or prim.name}'" for prim in prims.values())
            self.issue(
                next(iter(prims.values())), f"MuJoCo has no {what} of joints: that of {names} is left out.",
                "Export USD to keep it.", "info",
            )  # fmt: skip
