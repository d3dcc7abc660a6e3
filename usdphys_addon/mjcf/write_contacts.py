# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches what, and how: friction, bits of groups, and pairs that pass through each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from html import escape
from itertools import product
from typing import Any

from ..core import collision_groups, paths
from ..core.model import Prim
from ..core.schemas import usd_physics
from ..core.words import counted
from . import options
from .draft import Draft
from .words import short

#: Friction of a collider without a material: that of the preview and of PhysX.
FRICTION = 0.5
#: Each set of groups has a bit of 32.
_MOST_GROUPS = 32


class Contacts:
    """Writes what concerns contacts."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self.model, self.tree, self.bodies = draft, draft.model, draft.tree, draft.tree.bodies
        #: Physics materials of written colliders that bounce.
        self._bouncing: dict[str, Prim] = {}
        #: Bits of the groups that each group meets, by its number.
        self._affinities: dict[int, int] = {}
        #: Names of bodies that never move, by the one collider that each has.
        self._homes: dict[str, str] = {}

    # ------------------------------------------------------------------ colliders

    def words_of(self, prim: Prim) -> str:
        """Words for the surface of a collider, and for what it touches."""
        material = self.model.prims.get(prim.physics_binding or (prim.materials[-1] if prim.materials else ""))
        own = material.get(usd_physics.MaterialAPI) if material is not None else None
        friction = FRICTION if own is None else own.resolved("dynamic_friction")
        if material is not None and own is not None and own.resolved("restitution") > 0.0:
            self._bouncing[material.path] = material
        newton: Any = material.schemas.get("NewtonMaterialAPI") if material is not None else None
        more = [newton.allowed(word) for word in ("torsional_friction", "rolling_friction")] if newton else []
        numbers = [max(friction, 1e-5)] + ([] if None in more else more)
        words = f' friction="{short(numbers)}"'
        mujoco: Any = prim.schemas.get("MjcCollisionAPI")
        for word in ("condim", "priority"):
            value = mujoco.allowed(word) if mujoco else None
            words += f' {word}="{value}"' if value is not None else ""
        if prim.path in self._masks:
            number = self._masks[prim.path]
            words += f' contype="{1 << number}" conaffinity="{self._affinities[number]}"'
        return words

    def tell_surfaces(self) -> None:
        """Name what surfaces do, and those of MuJoCo do not."""
        running = [prim for prim in self.model.prims.values() if _runs(prim)]
        for prims, one, many, what, fix in (
            (
                list(self._bouncing.values()), "bounces", "bounce", "(restitution), and nothing bounces in MuJoCo",
                "Export USD to keep it.",
            ),
            (
                running, "has", "have", "a running surface, which stands still in MuJoCo",
                "Export USD for PhysX to keep it.",
            ),
        ):  # fmt: skip
            if prims:
                more = f" and {counted(len(prims) - 1, 'more prim')} {many}" if len(prims) > 1 else f" {one}"
                self.draft.issue(prims[0], f"{prims[0].display}{more} {what}.", fix)

    @cached_property
    def _masks(self) -> dict[str, int]:
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
            self.draft.issue_of_file(
                f"The colliders are in {len(kinds)} sets of groups, and MuJoCo has {_MOST_GROUPS}: all collide.",
                "Use fewer groups.",
            )
            return {}
        self._affinities = {
            number: sum(1 << other for name, other in kinds.items() if meet(kind, name))
            for kind, number in kinds.items()
        }  # fmt: skip
        return by_collider

    # ------------------------------------------------------------------ pairs

    def excludes(self) -> list[str]:
        """Pairs of bodies that do not collide. What stands still gets a body of its own if it is in one of them."""
        pairs: dict[tuple[str, str], None] = {}
        said = list(self.model.filtered_pairs())
        meant = self._filtered_at({end for pair in said for end in pair})
        for path, other in said:
            told = [
                (one, two) for one, two in product(meant[path], meant[other])
                if one != two and (one in self.bodies or two in self.bodies)
            ]  # fmt: skip
            for ends in told:
                one, two = sorted(self._body_of(end) for end in ends)
                pairs[one, two] = None
            part = next(filter(self._is_one_of_several, (path, other)), None)
            if told and part is not None:
                prim = self.model.prims[path]
                self.draft.issue(
                    prim, f"MuJoCo excludes whole bodies: what {prim.display} does not collide with passes through "
                    f"all colliders of the body of {part}.", "Put it into a body of its own, on a fixed joint.",
                )  # fmt: skip
        for joint in [*self.tree.loops, *self.tree.holding.values()]:
            if not joint.schema.resolved("collision_enabled") and joint.parent.body and joint.child.body:
                one, two = sorted((self.bodies[joint.parent.body].name, self.bodies[joint.child.body].name))
                pairs[one, two] = None
        self._tell_tied(pairs)
        return [f'    <exclude body1="{escape(one)}" body2="{escape(other)}"/>' for one, other in pairs]

    def in_own_body(self, prim: Prim, lines: list[str]) -> list[str]:
        """The geoms of a collider, in the body that it has where it stands still and is filtered."""
        name = self._homes.get(prim.path)
        if name is None or not lines:
            return lines
        return [f'<body name="{escape(name)}">', *(f"  {line}" for line in lines), "</body>"]

    def _tell_tied(self, excluded: Collection[tuple[str, str]]) -> None:
        """Name what collides here and not in MuJoCo, which lets pass what is on the two sides of a joint, together with
        all that is fixed to these. excluded: names of pairs that do not collide here either."""
        if options.words_of(self.draft)["flag"].get("filterparent") == "disable":
            return
        roots = {path: self.tree.fixed_to(path) for path in self.bodies}
        rigid: dict[str, list[str]] = defaultdict(list)
        for path, root in roots.items():
            rigid[root].append(path)
        tied = []
        for root, members in rigid.items():
            joint = self.bodies[root].joint if root else None
            above = roots[joint.parent.body] if joint is not None and joint.parent.body else ""
            for one, other in product(rigid[above] if above else (), members):
                first, second = sorted((self.bodies[one].name, self.bodies[other].name))
                if (first, second) not in excluded and self._meet(one, other):
                    tied.append((one, other))
        if tied:
            first_prim, other_prim = (self.model.prims[path] for path in tied[0])
            more = f" So do {counted(len(tied) - 1, 'other pair')}." if len(tied) > 2 else ""
            more = " So does 1 other pair." if len(tied) == 2 else more
            self.draft.issue(
                first_prim, f"{first_prim.display} and {other_prim.display} collide, and pass through each other in "
                f"MuJoCo, because a joint ties them, or what they are fixed to.{more}",
                "Switch filterparent of the scene off (mjc:flag:filterparent).",
            )  # fmt: skip

    def _meet(self, one: str, other: str) -> bool:
        """Whether a collider of a body may touch one of another, by their groups."""
        masks = [
            {self._masks.get(prim.path) for prim in self.draft.colliders.get(path, ()) if collides(prim)}
            for path in (one, other)
        ]  # fmt: skip
        return any(
            first is None or second is None or self._affinities[first] & 1 << second
            for first, second in product(*masks)
        )

    def _is_one_of_several(self, path: str) -> bool:
        """True for a collider of a body that moves and has others."""
        body = self.tree.owner_of(path)
        return body not in ("", path) and len(self.draft.colliders.get(body, ())) > 1 and path in self.model.colliders

    def _filtered_at(self, ends: set[str]) -> dict[str, list[str]]:
        """The bodies, and the colliders of what stands still, that filtered pairs mean by prims: those at them, or
        below."""
        known = {end for end in ends if end in self.model.prims}
        meant = {end: [end] if end in self.bodies else [] for end in ends}
        for end, colliders in paths.inside_each(self.model.colliders, known - self.bodies.keys()).items():
            meant[end] = list(dict.fromkeys(self.tree.owner_of(collider) or collider for collider in colliders))
        return meant

    def _body_of(self, path: str) -> str:
        """The name of a body, or of one that never moves, for a collider of what stands still."""
        if path in self.bodies:
            return self.bodies[path].name
        if path not in self._homes:
            prim = self.model.prims[path]
            self._homes[path] = self.draft.name_of(f"{path} body", prim.label or prim.name, "body")
        return self._homes[path]


def collides(prim: Prim) -> bool:
    api = prim.get(usd_physics.CollisionAPI)
    return api is not None and api.collision_enabled is not False


def _runs(prim: Prim) -> bool:
    """True for a prim whose surface moves, as that of a conveyor does."""
    value: Any = prim.schemas.get("PhysxSurfaceVelocityAPI")
    if value is None or value.surface_velocity_enabled is False:
        return False
    return any((*(value.surface_velocity or ()), *(value.surface_angular_velocity or ())))
