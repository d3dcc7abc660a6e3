# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that close loops, as equalities and tendons, and joints that follow others."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import Any

from ..core import frames
from ..core.model import Prim
from . import loops
from .draft import Draft
from .tree import Joint, seen_from
from .values import NARROW, Floats
from .words import row

#: Distance of the two points that hold a hinge which closes a loop, m.
_APART = 0.1


class Loops:
    """Writes what holds together beside the tree of joints."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self.model, self.tree = draft, draft.model, draft.tree
        #: Joints that close a loop and are left out, by type.
        self._left_open: dict[str, list[Prim]] = defaultdict(list)

    def write(self) -> int:
        """Write all of them. Returns the number of those that cannot be."""
        for loop in self.tree.loops:
            self._close(loop)
        for path, prim in self.model.joints.items():
            self._couple(path, prim)
        for kind, prims in self._left_open.items():
            more = f" and {len(prims) - 1} more are" if len(prims) > 1 else " is"
            self.draft.issue(prims[0], f"MuJoCo closes no loop by a {kind}, so {prims[0].display}{more} left out.",
                             "Let another joint close the loop.")  # fmt: skip
        return sum(map(len, self._left_open.values()))

    def _close(self, joint: Joint) -> None:
        prim = joint.prim
        closing = loops.closing_of(prim)
        if closing is None:
            self._left_open[prim.type_name].append(prim)
            return
        if closing.more:
            self.draft.issue(
                prim, "MuJoCo closes a loop by points that stay together: limits, locked turns, drives, friction, "
                f"damping and armature of {prim.display} are left out.", "Let another joint close the loop.",
            )  # fmt: skip
        kind = "tendon" if closing.kind == "distance" else "equality"
        name = self.draft.name_of(prim.path, prim.label or prim.name, kind)
        local = [seen_from(self.tree.pose_of(end.body), end.frame) for end in (joint.parent, joint.child)]
        if closing.kind == "weld":
            self._weld(name, joint, local)
        elif closing.kind == "distance":
            self._tie(name, joint, local)
        else:
            self._connect(name, joint, local, (closing.axis,) if closing.kind == "hinge" else ())

    def _weld(self, name: str, joint: Joint, local: Sequence[Floats]) -> None:
        bodies = [self.tree.bodies[end.body].name if end.body else "world" for end in (joint.parent, joint.child)]
        turn = frames.quaternion_of(local[0][:3, :3] @ local[1][:3, :3].T)
        self.draft.equalities.append(
            f'    <weld name="{escape(name)}" body1="{escape(bodies[0])}" body2="{escape(bodies[1])}" '
            f'anchor="{row(local[1][:3, 3])}" relpose="{row([*local[0][:3, 3], *turn])}"'
            f"{self._softness(joint.prim.path)}/>"
        )

    def _connect(self, name: str, joint: Joint, local: Sequence[Floats], axes: Sequence[int]) -> None:
        """Points that stay together: one of a ball, two along the axis of a hinge."""
        for number, shift in enumerate((0.0, *(_APART for _ in axes))):
            label = f"{name}_{number}" if axes else name
            places = [frame[:3, 3] + (frame[:3, axes[0]] * shift if axes else 0.0) for frame in local]
            sites = self._sites(joint, f"{number} ", label, places)
            if axes:
                label = self.draft.name_of(f"{joint.prim.path} {number}", label, "equality")
            self.draft.equalities.append(
                f'    <connect name="{escape(label)}" site1="{escape(sites[0])}" site2="{escape(sites[1])}"'
                f"{self._softness(joint.prim.path)}/>"
            )

    def _tie(self, name: str, joint: Joint, local: Sequence[Floats]) -> None:
        """A tendon between two points that are so far apart."""
        low, high = (float(joint.schema.resolved(word)) for word in ("min_distance", "max_distance"))
        least, has_most = low if 0.0 < low < math.inf else 0.0, 0.0 <= high < math.inf
        if not least and not has_most:
            return
        sites = self._sites(joint, "d", name, [frame[:3, 3] for frame in local])
        most = high if has_most else 1e3
        self.draft.tendons += [
            f'    <spatial name="{escape(name)}" range="{row([least, max(most, least + NARROW)])}">',
            *(f'      <site site="{escape(site)}"/>' for site in sites), "    </spatial>",
        ]  # fmt: skip

    def _sites(self, joint: Joint, key: str, label: str, places: Sequence[Floats]) -> list[str]:
        """The names of new points of the two bodies. key: of the pair, among those of the joint."""
        return [
            self.draft.add_site(
                f"{joint.prim.path} {key}{side}", f"{label}_{side}", end.body, frames.transform(places[side])
            )
            for side, end in enumerate((joint.parent, joint.child))
        ]

    def _softness(self, path: str) -> str:
        """The attributes by which MuJoCo's solver holds the equality that a joint becomes."""
        return self.draft.further.words.get(path, "")

    def _couple(self, path: str, prim: Prim) -> None:
        """A joint that follows another one."""
        mimic: Any = prim.schemas.get("NewtonMimicAPI")
        if mimic is None or not mimic.mimic_joint:
            return
        is_off = mimic.mimic_enabled is False
        pair = [self.tree.holding.get(one) for one in (path, mimic.mimic_joint[0])]
        kinds = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
        one, other = (joint if joint is not None and joint.prim.type_name in kinds else None for joint in pair)
        if one is None or other is None:
            if is_off:
                return
            self.draft.issue(
                prim, f"{prim.display} follows a joint that MuJoCo cannot couple.",
                "Couple hinges and slides that are on and close no loop.",
            )  # fmt: skip
            return
        names = [self.draft.name_of_joint(joint.prim) for joint in (one, other)]
        offset, ratio = float(mimic.resolved("mimic_coef0")), float(mimic.resolved("mimic_coef1"))
        # MuJoCo couples what has changed since the start.
        bias = offset + ratio * other.start - one.start
        label = self.draft.name_of(f"mimic {path}", f"{names[0]}_follows", "equality")
        off = ' active="false"' if is_off else ""
        self.draft.equalities.append(
            f'    <joint name="{escape(label)}" joint1="{escape(names[0])}" joint2="{escape(names[1])}" '
            f'polycoef="{row([bias, ratio, 0, 0, 0])}"{self._softness(path)}{off}/>'
        )
