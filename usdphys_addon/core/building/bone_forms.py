# SPDX-License-Identifier: GPL-3.0-or-later
"""What the form of a rig says of its bones, where their names say nothing: a human has two legs, two arms and a head.

The two halves are mirror images. The legs are the pair that reaches the ground, the arms another one above it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .bone_names import Named

Array = NDArray[np.float64]

#: As parts of the height of a rig: how far a bone may be from its mirror image; how high above the ground a leg may
#: end; how long a limb is at least.
_MIRRORED, _LOW, _LIMB = 0.03, 0.12, 0.15
#: Part of the bones that must have a mirror image.
_SYMMETRIC = 0.8
#: How long an arm is at most, in lengths of a leg: wings are longer.
_ARM = 1.6
_OTHER = Named("", "", True)
#: The segments of a limb, from the bone before its two longest ones.
_LEG, _ARMS = ("", "thigh", "shank", "foot"), ("shoulder", "upper_arm", "forearm", "hand")


class BoneLike(Protocol):
    """A bone in the world, m; see `ragdolls.Bone`."""

    above: int
    head: Array
    tail: Array
    deforms: bool


class _Limb(NamedTuple):
    """One half of a pair. rows: its bones from the trunk outwards. other: those of the other half. start: the bone of
    the trunk that it hangs on."""

    rows: list[int]
    other: list[int]
    start: int


def named_by_form(bones: Sequence[BoneLike]) -> list[Named] | None:
    """The segments of a human that stands or sits upright, by bone. None if the rig is none."""
    rig = _Rig(bones)
    mirror = rig.mirror()
    if mirror is None:
        return None
    limbs = rig.limbs(mirror)
    on_ground = [limb for limb in limbs if rig.lowest(limb) < rig.ground + _LOW * rig.height]
    if len(on_ground) != 1:
        return None
    (leg,) = on_ground
    arms = [
        limb for limb in limbs
        if limb is not leg and len(limb.rows) > 1 and rig.is_above(limb.start, leg.start)
        and rig.length(limb) < _ARM * rig.length(leg)
    ]  # fmt: skip
    if not arms or len(leg.rows) < 2:
        return None
    return rig.words(leg, max(arms, key=rig.length), mirror)


class _Rig:
    def __init__(self, bones: Sequence[BoneLike]) -> None:
        self.bones = bones
        some_deform = any(bone.deforms for bone in bones)
        self.rows = [row for row, bone in enumerate(bones) if bone.deforms or not some_deform]
        there = set(self.rows)
        self.above: dict[int, int] = {}
        self.below: dict[int, list[int]] = defaultdict(list)
        for row in self.rows:
            at = bones[row].above
            while at >= 0 and at not in there:
                at = bones[at].above
            self.above[row] = at
            self.below[at].append(row)
        self.points = np.array([(bones[row].head, bones[row].tail) for row in self.rows]).reshape(-1, 2, 3)
        flat = self.points.reshape(-1, 3)
        self.ground = float(flat[:, 2].min(initial=np.inf))
        self.height = float(np.ptp(flat, axis=0).max()) if len(flat) else 0.0

    def mirror(self) -> dict[int, int] | None:
        """The mirror image of each bone, which may be itself, at the better of two planes; None without symmetry."""
        best: dict[int, int] = {}
        for axis in (0, 1):
            mirrored = self._mirrored(axis)
            if self._worth(mirrored) > self._worth(best):
                best = mirrored
        return best if len(best) >= max(_SYMMETRIC * len(self.rows), 8) and self._worth(best) else None

    @staticmethod
    def _worth(found: dict[int, int]) -> int:
        """How many bones have another as their image."""
        return sum(row != image for row, image in found.items())

    def _mirrored(self, axis: int) -> dict[int, int]:
        if not self.height:
            return {}
        flipped = self.points.copy()
        middle = 0.5 * (self.points[..., axis].min() + self.points[..., axis].max())
        flipped[..., axis] = 2.0 * middle - flipped[..., axis]
        apart = np.abs(self.points[:, None] - flipped[None]).max(axis=(2, 3))
        nearest = apart.argmin(axis=1)
        return {
            self.rows[number]: self.rows[image] for number, image in enumerate(nearest.tolist())
            if apart[number, image] < _MIRRORED * self.height and nearest[image] == number
        }  # fmt: skip

    def limbs(self, mirror: dict[int, int]) -> list[_Limb]:
        """The pairs that hang on bones of the middle, each once and by its longest chain."""
        pairs = []
        for row in self.rows:
            image, at = mirror.get(row, row), self.above[row]
            if row < image and (at < 0 or mirror.get(at) == at):
                rows = self._chain(row)
                other = [mirror.get(one, -1) for one in rows]
                if -1 not in other and self._length(rows) > _LIMB * self.height:
                    pairs.append(_Limb(rows, other, at))
        return pairs

    def _chain(self, row: int) -> list[int]:
        """From a bone outwards, along the longest way, to where it parts into fingers."""
        rows = [row]
        while (below := self.below.get(rows[-1])) and len(below) < 3:
            rows.append(max(below, key=self._reach))
        return rows

    def _reach(self, row: int) -> float:
        return self._own(row) + max(map(self._reach, self.below.get(row, ())), default=0.0)

    def _own(self, row: int) -> float:
        """From the head of a bone to that of the next, which need not be its tail."""
        below = self.below.get(row, ())
        ends = [self.bones[one].head for one in below] if len(below) == 1 else [self.bones[row].tail]
        return float(np.linalg.norm(ends[0] - self.bones[row].head))

    def _length(self, rows: Sequence[int]) -> float:
        return sum(map(self._own, rows))

    def length(self, limb: _Limb) -> float:
        return self._length(limb.rows)

    def lowest(self, limb: _Limb) -> float:
        return min(float(min(self.bones[row].head[2], self.bones[row].tail[2])) for row in limb.rows)

    def is_above(self, row: int, other: int) -> bool:
        """Whether a bone of the trunk is one or hangs on one, and is higher than it or the same."""
        at = row
        while at >= 0 and at != other:
            at = self.above[at]
        return at == other or (row >= 0 and other >= 0 and self.bones[row].head[2] > self.bones[other].head[2])

    def words(self, leg: _Limb, arm: _Limb, mirror: dict[int, int]) -> list[Named] | None:
        words = [_OTHER] * len(self.bones)
        left = self._left(leg)
        for limb, segments in ((leg, _LEG), (arm, _ARMS)):
            # The two longest bones that follow each other.
            pairs = [self._length(limb.rows[at : at + 2]) for at in range(len(limb.rows) - 1)]
            first = pairs.index(max(pairs))
            for rows in (limb.rows, limb.other):
                side = "L" if float((self.bones[rows[first]].head - self._middle(limb)) @ left) > 0.0 else "R"
                for place, segment in enumerate(segments, first - 1):
                    if segment and 0 <= place < len(rows):
                        words[rows[place]] = Named(segment, side, False)
        trunk = self._trunk(leg, arm, mirror)
        if trunk is None:
            return None
        for segment, rows in trunk.items():
            for row in rows:
                words[row] = Named(segment, "", False)
        return words

    def _middle(self, limb: _Limb) -> Array:
        return 0.5 * (self.bones[limb.rows[0]].head + self.bones[limb.other[0]].head)

    def _left(self, leg: _Limb) -> Array:
        """Leftwards: feet point forwards, else a character of Blender looks along -Y."""
        ways = [self.bones[rows[-1]].tail - self.bones[rows[-1]].head for rows in (leg.rows, leg.other)]
        apart = self.bones[leg.rows[0]].head - self.bones[leg.other[0]].head
        apart[2] = 0.0
        apart /= max(float(np.linalg.norm(apart)), 1e-12)
        ahead = np.cross((0.0, 0.0, 1.0), apart)
        forward = float(sum(ways) @ ahead)
        if abs(forward) < 1e-3 * self.height:
            forward = float(-ahead[1] or ahead[0])
        # Up x forwards is left.
        return np.asarray(np.cross((0.0, 0.0, 1.0), ahead * np.sign(forward)), float)

    def _trunk(self, leg: _Limb, arm: _Limb, mirror: dict[int, int]) -> dict[str, list[int]] | None:
        """The bones of the middle, from the hips upwards."""
        chain, at = [], arm.start
        while at >= 0 and at != leg.start:
            chain.append(at)
            at = self.above[at]
        if at < 0 and leg.start >= 0:
            # Hips and spine hang on a common bone.
            ways = self._ancestors(leg.start)
            chain = [row for row in chain if row not in ways]
        chain.reverse()
        upper = []
        row = arm.start
        while middle := [one for one in self.below.get(row, ()) if mirror.get(one) == one]:
            row = max(middle, key=self._highest)
            upper.append(row)
        upper = [one for one in upper if self._highest(one) > self._middle(arm)[2]]
        if not upper:
            return None
        hips = [leg.start] if leg.start >= 0 else chain[:1]
        spine = [one for one in chain if one not in hips]
        if not hips:
            return None
        return {"hips": hips, "spine": spine, "neck": upper[:-1][:1], "head": upper[1:2] or upper[:1]}

    def _ancestors(self, row: int) -> set[int]:
        rows = set()
        while (row := self.above[row]) >= 0:
            rows.add(row)
        return rows

    def _highest(self, row: int) -> float:
        return float(max(self.bones[row].head[2], self.bones[row].tail[2]))
