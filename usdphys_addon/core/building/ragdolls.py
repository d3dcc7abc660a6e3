# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones become bodies of a ragdoll, what they weigh, their shapes, and how far their joints turn.

Masses are those of de Leva 1996 (J. Biomech. 29(9):1223-1230), the mean of women and men. Limits are plausible and not
reviewed by an anatomist.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bone_forms import named_by_form
from .bone_names import Named, named

Array = NDArray[np.float64]

#: Part of the mass of a human, by segment; each limb once.
MASS_FRACTIONS = {
    "head": 0.0681, "upper_trunk": 0.1571, "middle_trunk": 0.1549, "lower_trunk": 0.1182, "upper_arm": 0.0263,
    "forearm": 0.0150, "hand": 0.00585, "thigh": 0.1447, "shank": 0.0457, "foot": 0.0133,
}  # fmt: skip
TRUNK = ("lower_trunk", "middle_trunk", "upper_trunk")
#: Least mass of a part of an animal, as a share of all that hangs on it.
LEAST_SHARE = 0.05
#: Density of animals, kg/m³.
DENSITY = 1000.0
#: Radius of a capsule over the length of its bone, for bones without a mesh.
RADII = {
    "head": 0.45, "lower_trunk": 0.7, "middle_trunk": 0.8, "upper_trunk": 0.6, "upper_arm": 0.17, "forearm": 0.15,
    "hand": 0.3, "thigh": 0.18, "shank": 0.13, "foot": 0.3, "neck": 0.5,
}  # fmt: skip
OTHER_RADIUS = 0.2
#: Segments whose shape is a box, if they have a mesh.
BOXES = frozenset({"lower_trunk", "middle_trunk", "upper_trunk", "hand", "foot"})
#: Bones shorter than this part of the height of the rig are no bodies.
SHORTEST = 0.035


class Limits(NamedTuple):
    """Degrees (low, high) about the joint: twist along the bone; flex, positive forwards, or upwards for a bone that
    points forwards; side, positive outwards. A hinge turns by flex alone."""

    twist: tuple[float, float]
    flex: tuple[float, float]
    side: tuple[float, float]
    is_hinge: bool = False


LIMITS = {
    "middle_trunk": Limits((-15, 15), (-15, 25), (-12, 12)), "upper_trunk": Limits((-20, 20), (-15, 25), (-15, 15)),
    "head": Limits((-40, 40), (-30, 35), (-25, 25)), "neck": Limits((-20, 20), (-15, 20), (-15, 15)),
    "upper_arm": Limits((-80, 80), (-90, 90), (-80, 80)), "forearm": Limits((0, 0), (-5, 145), (0, 0), True),
    "hand": Limits((-5, 5), (-70, 70), (-25, 25)), "thigh": Limits((-40, 40), (-20, 110), (-30, 40)),
    "shank": Limits((0, 0), (-145, 3), (0, 0), True), "foot": Limits((-10, 10), (-45, 20), (-15, 15)),
    "lower_trunk": Limits((-15, 15), (-20, 20), (-12, 12)),
}  # fmt: skip
OTHER_LIMITS = Limits((-20, 20), (-40, 40), (-30, 30))

# --------------------------------------------------------------------------- bones


#: Bones that reach so many times farther than what hangs on them are not what the artist drew.
_TOO_LONG = 4.0
#: Cosine from which a bone points to what hangs on it; from which two bones of a name are one limb.
_ALONG, _STRAIGHT = 0.7, 0.995
#: How much longer vertices must be along another axis than along that of their bone; how many say nothing of a form.
_LONGER, _FEW = 1.3, 8
#: Cosine from which edges of a sole have one direction.
_ONE_WAY = 0.99
_LIMBS = ("upper_arm", "forearm", "thigh", "shank")


@dataclass(slots=True)
class Bone:
    """A bone in the world, m. above: number of its parent in the list, -1 for none. deforms: it moves vertices.

    axes: its rotation (3, 3) in the world. turn: rotation (3, 3) in its space from Y to the axis along which it lies.
    """

    name: str
    above: int
    head: Array
    tail: Array
    deforms: bool = True
    axes: Array | None = None
    turn: Array = field(default_factory=lambda: np.eye(3))

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.tail - self.head))


def shorten(bones: Sequence[Bone]) -> None:
    """Shorten bones that are all too long by one factor, as those of glTF files with a scaled armature are in Blender.

    There a Mixamo character of 1.8 m has thighs of 43 m: its joints are in place, its tails a hundred times too far.
    """
    farthest = [0.0] * len(bones)
    for bone in bones:
        if bone.above >= 0:
            apart = float(np.linalg.norm(bone.head - bones[bone.above].head))
            farthest[bone.above] = max(farthest[bone.above], apart)
    factors = [bone.length / far for bone, far in zip(bones, farthest, strict=True) if far > 0.0]
    factor = float(np.median(factors)) if factors else 1.0
    if factor > _TOO_LONG:
        for bone in bones:
            bone.tail = bone.head + (bone.tail - bone.head) / factor


def aim(bones: Sequence[Bone]) -> None:
    """Let the bones of a rig point to what hangs on them where most do not, as in files whose bones lie along X.

    Blender shows bones along Y, whatever a glTF or FBX file means. Which axis it is may differ from limb to limb.
    """
    below: dict[int, list[Array]] = defaultdict(list)
    for bone in bones:
        if bone.above >= 0 and np.linalg.norm(away := bone.head - bones[bone.above].head) > 1e-3 * bone.length:
            below[bone.above].append(away)
    ways = [(bone.tail - bone.head) / max(bone.length, 1e-12) for bone in bones]
    aligned = {
        row: max(float(away @ ways[row]) / float(np.linalg.norm(away)) for away in all_away) > _ALONG
        for row, all_away in below.items()
    }  # fmt: skip
    single = [aligned[row] for row, all_away in below.items() if len(all_away) == 1]
    if not single or sum(single) > len(single) / 2:
        return
    turned: dict[int, tuple[int, float]] = {}
    for row in _parents_first(bones):
        bone, length = bones[row], bones[row].length
        if bone.axes is None or aligned.get(row) or named(bone.name).segment == "head":
            continue
        if row in below:
            local = bone.axes.T @ np.sum(below[row], axis=0)
            axis = int(np.argmax(np.abs(local)))
            turned[row] = axis, float(np.sign(local[axis]))
            length = max(abs(float((bone.axes.T @ away)[axis])) for away in below[row])
        elif bone.above in turned:
            turned[row] = turned[bone.above]
        else:
            continue
        _point(bone, *turned[row], length)


def aim_end(bone: Bone, points: Array, meters: float) -> None:
    """Let a bone on which nothing hangs point along its vertices: files without tails do not say where it ends.

    points: (n, 3) in the space of the bone, of that many meters a unit.
    """
    if len(points) < _FEW or bone.axes is None:
        return
    low, high = np.percentile(points, (5.0, 95.0), axis=0)
    own, axis = int(np.argmax(np.abs(bone.turn[:, 1]))), int(np.argmax(high - low))
    ahead = float(bone.turn[own, 1] * (low + high)[own])
    if (high - low)[axis] < _LONGER * (high - low)[own]:
        axis = own
    if axis != own or ahead < 0.0:
        sign = float(np.sign((low + high)[axis])) or 1.0
        _point(bone, axis, sign, meters * max(abs(low[axis]), abs(high[axis])))


def _point(bone: Bone, axis: int, sign: float, length: float) -> None:
    """Let a bone point along one of its axes."""
    assert bone.axes is not None
    bone.turn = np.zeros((3, 3))
    bone.turn[axis, 1] = sign
    bone.turn[(axis + 1) % 3, 2] = 1.0
    bone.turn[(axis + 2) % 3, 0] = sign
    bone.tail = bone.head + bone.axes[:, axis] * sign * length


def untangle(bones: Sequence[Bone]) -> None:
    """Hang deforming bones on each other where a rig hangs them on copies that do not deform, as those of Rigify are.

    A copy starts where its bone does and points the same way.
    """
    deforming = [row for row, bone in enumerate(bones) if bone.deforms]
    for row in deforming:
        at = bones[row].above
        while at >= 0 and not bones[at].deforms:
            twin = next((other for other in deforming if _is_twin(bones[at], bones[other])
                         and row not in (other, *_ancestors(bones, other))), -1)  # fmt: skip
            at = twin if twin >= 0 else bones[at].above
        if at >= 0:
            bones[row].above = at


def _ancestors(bones: Sequence[Bone], row: int) -> list[int]:
    rows = []
    while (row := bones[row].above) >= 0:
        rows.append(row)
    return rows


def _is_twin(one: Bone, other: Bone) -> bool:
    ways = (one.tail - one.head) @ (other.tail - other.head)
    return bool(
        np.abs(one.head - other.head).max() < 1e-3 * other.length and ways > 0.999 * one.length * other.length
    )  # fmt: skip


def _by_joint(bones: Sequence[Bone], words: Sequence[Named]) -> list[Named]:
    """Limbs that are called by the joint at which they start: L_Hip above L_Knee, L_Shoulder above L_Elbow."""
    there = {word[:2] for word in words if not word.is_dropped}
    renamed = list(words)
    for bone, word in zip(bones, words, strict=True):
        if bone.above < 0 or word.is_dropped or not word.side or words[bone.above].side != word.side:
            continue
        above, is_shldr = words[bone.above], "shldr" in bones[bone.above].name.lower()
        pair = (above.segment, word.segment)
        if pair in (("hips", "shank"), ("shank", "shank")) and ("thigh", word.side) not in there:
            renamed[bone.above] = above._replace(segment="thigh")
        elif pair == ("shoulder", "forearm") and ("upper_arm", word.side) not in there:
            renamed[bone.above] = above._replace(segment="upper_arm")
        elif pair == ("upper_arm", "upper_arm") and is_shldr:
            renamed[bone.above] = above._replace(segment="shoulder")
    return renamed


def _join_split(bones: Sequence[Bone], words: Sequence[Named]) -> set[int]:
    """Let limbs that are cut for twisting, such as DEF-thigh.L and DEF-thigh.L.001, reach to the end of the last piece.

    A piece may be named as a helper, such as lThighTwist below lThighBend, if the limb goes on below it. Returns the
    pieces after the first.
    """
    firsts: dict[int, int] = {}
    go_on = {bone.above for bone, word in zip(bones, words, strict=True) if not word.is_dropped}
    for row in _parents_first(bones):
        bone, above = bones[row], bones[row].above
        if above < 0 or words[row].segment not in _LIMBS or words[row][:2] != words[above][:2]:
            continue
        if words[row].is_dropped != words[firsts.get(above, above)].is_dropped and row not in go_on:
            continue
        first = bones[firsts.get(above, above)]
        way, own = first.tail - first.head, bone.tail - bone.head
        joins = np.abs(bone.head - first.tail).max() < 0.01 * first.length
        if bone.deforms == first.deforms and joins and way @ own > _STRAIGHT * first.length * bone.length:
            firsts[row] = firsts.get(above, above)
            first.tail = bone.tail
    return set(firsts)


@dataclass(slots=True)
class Part:
    """A bone that becomes a body. above: number of the part it hangs on, -1. bones: that move with it."""

    bone: int
    segment: str
    side: str
    above: int = -1
    mass: float = 0.0
    bones: list[int] = field(default_factory=list)


def parts_of(bones: Sequence[Bone], detail: str = "MEDIUM") -> tuple[list[Part], bool]:
    """(parts, parents before children; whether it is a human). detail: LOW, MEDIUM or HIGH.

    LOW: pelvis, chest, head, arms and legs without hands and feet. HIGH: neck and shoulders too. Rigs that are no human
    become bodies bone by bone. Limbs that are cut into pieces become whole: the tails of their first bones move.
    """
    words = _by_joint(bones, [named(bone.name) for bone in bones])
    if len({word.segment for word in words if word.segment in _LIMBS}) < 2 and (formed := named_by_form(bones)):
        words = formed
    pieces = _join_split(bones, words)
    segments = _human(bones, words, detail)
    is_human = bool(segments)
    if not is_human:
        size = height(bones)
        some_deform = any(bone.deforms for bone in bones)
        segments = {
            row: word.segment if word.segment in LIMITS else "" for row, (bone, word) in enumerate(zip(bones, words,
                                                                                                      strict=True))
            if (bone.deforms or not some_deform) and bone.length > SHORTEST * size
            and not (word.is_dropped and word.segment == "") and row not in pieces
        }  # fmt: skip
    parts: list[Part] = []
    of_bone: dict[int, int] = {}
    for row in _parents_first(bones):
        above = bones[row].above
        owner = of_bone.get(above, -1) if above >= 0 else -1
        if row in segments:
            parts.append(Part(row, segments[row], words[row].side, owner, bones=[row]))
            of_bone[row] = len(parts) - 1
        elif owner >= 0:
            parts[owner].bones.append(row)
            of_bone[row] = owner
    return _with_one_root(bones, parts), is_human


def _with_one_root(bones: Sequence[Bone], parts: list[Part]) -> list[Part]:
    """Hang parts that have lost their parent, such as legs below a dropped root, on the nearest earlier part."""
    roots = [number for number, part in enumerate(parts) if part.above < 0]
    if len(roots) < 2:
        return parts
    # The root is the pelvis, else the part with the most parts below it.
    below: dict[int, int] = defaultdict(int)
    for number in range(len(parts)):
        at = number
        while at >= 0:
            below[at] += 1
            at = parts[at].above
    first = max(roots, key=lambda number: (parts[number].segment == "lower_trunk", below[number]))
    for number in roots:
        if number != first:
            parts[number].above = _nearest(bones, parts, number)
    order = [first]
    for number in order:
        order += [child for child, part in enumerate(parts) if part.above == number]
    place = {number: index for index, number in enumerate(order)}
    for part in parts:
        part.above = place.get(part.above, -1)
    return [parts[number] for number in order]


def _nearest(bones: Sequence[Bone], parts: Sequence[Part], number: int) -> int:
    """The part that lies nearest to the head of another, and does not hang on it."""
    point, best = bones[parts[number].bone].head, (math.inf, 0)
    for other, part in enumerate(parts):
        at = other
        while at >= 0 and at != number:
            at = parts[at].above
        if at < 0:
            bone = bones[part.bone]
            along = bone.tail - bone.head
            share = min(max(float((point - bone.head) @ along) / max(float(along @ along), 1e-24), 0.0), 1.0)
            best = min(best, (float(np.linalg.norm(bone.head + share * along - point)), other))
    return best[1]


def _parents_first(bones: Sequence[Bone]) -> list[int]:
    depth = {}
    for row, bone in enumerate(bones):
        count, at = 0, bone.above
        while at >= 0:
            count, at = count + 1, bones[at].above
        depth[row] = count
    return sorted(depth, key=lambda row: (depth[row], row))


def height(bones: Sequence[Bone]) -> float:
    """The longest side of the box around a rig, m."""
    points = np.array([point for bone in bones for point in (bone.head, bone.tail)]).reshape(-1, 3)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0


def _human(bones: Sequence[Bone], words: Sequence[Named], detail: str) -> dict[int, str]:
    """Segments by number of bone; empty if it is no human: front legs, or arms, legs or the head are missing.

    If the bones that deform are no human, those of controls and mechanics count, too.
    """
    rows = _parents_first(bones)
    deforming = [row for row in rows if bones[row].deforms]
    return _human_of(bones, words, detail, deforming) or _human_of(bones, words, detail, rows)


def _human_of(bones: Sequence[Bone], words: Sequence[Named], detail: str, among: Sequence[int]) -> dict[int, str]:
    by_word: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in among:
        word = words[row]
        if word.segment and not word.is_dropped:
            by_word[word.segment, word.side].append(row)
    if any(segment in ("front", "tail") for segment, _ in by_word):
        return {}
    limbs = _limbs(bones, by_word, detail)
    trunk = _trunk(bones, by_word, detail, limbs) if limbs else {}
    return {**limbs, **trunk} if trunk else {}


def _limbs(bones: Sequence[Bone], by_word: Mapping[tuple[str, str], list[int]], detail: str) -> dict[int, str]:
    """Segments of arms and legs by number of bone; empty if one is missing that is no hand or foot."""
    limbs: dict[int, str] = {}
    for segment in ("upper_arm", "forearm", "hand", "thigh", "shank", "foot"):
        for side in "LR":
            rows = _of_layer(bones, by_word.get((segment, side), ()))
            if not rows and segment not in ("hand", "foot"):
                return {}
            if segment in ("hand", "foot") and detail == "LOW":
                continue
            # Deforming bones of Rigify are split, such as DEF-thigh.L and DEF-thigh.L.001: the first is the joint.
            limbs.update((row, segment) for row in rows[:1])
    return limbs


def _trunk(
    bones: Sequence[Bone], by_word: Mapping[tuple[str, str], list[int]], detail: str, limbs: Mapping[int, str]
) -> dict[int, str]:
    """Segments from the hips to the head by number of bone; empty without hips or head."""
    spine, hips, neck, head = (
        _of_layer(bones, by_word.get((name, ""), ())) for name in ("spine", "hips", "neck", "head")
    )
    chain = sorted(spine, key=lambda row: (bones[row].head + bones[row].tail)[2])
    if not head and len(chain) >= 5:
        # Rigify: all the way to the head is called spine.
        head = [chain.pop()]
        arms = np.mean([bones[row].head[2] for row in limbs if limbs[row] == "upper_arm"])
        neck = [row for row in chain if (bones[row].head + bones[row].tail)[2] / 2.0 > arms][:2]
        chain = [row for row in chain if row not in neck]
    if not head and neck:
        # Motion capture ends with the neck.
        head = [neck[-1]]
        neck = neck[:-1]
    if not hips and chain:
        hips = [chain.pop(0)]
    if not hips or not head:
        return {}
    trunk = {hips[0]: "lower_trunk", head[0]: "head"}
    if detail == "LOW":
        trunk.update((row, "upper_trunk") for row in chain[-1:])
    else:
        half = len(chain) // 2
        for number, row in enumerate(chain):
            if bones[row].length > 1e-6:
                trunk[row] = "middle_trunk" if number < half else "upper_trunk"
    if detail == "HIGH":
        trunk.update((row, "neck") for row in neck[:1])
    return trunk


def _of_layer(bones: Sequence[Bone], rows: Sequence[int]) -> list[int]:
    """Bones that deform, if any of these do: rigs have copies of a bone for control and mechanics."""
    deforming = [row for row in rows if bones[row].deforms]
    return deforming or list(rows)


# --------------------------------------------------------------------------- masses


def give_masses(bones: Sequence[Bone], parts: Sequence[Part], total: float, volumes: Sequence[float] | None) -> None:
    """Set the masses of parts. total: kg; 0 for that of the volumes. volumes: m³, of parts that are no human's; None
    for a human, whose parts weigh what de Leva measured."""
    if volumes is not None:
        whole = sum(volumes)
        scale = total / whole if total > 0.0 and whole > 0.0 else DENSITY
        for part, volume in zip(parts, volumes, strict=True):
            part.mass = max(volume * scale, 1e-6)
        _without_light_links(parts)
        heavier = sum(part.mass for part in parts)
        for part in parts:
            part.mass *= whole * scale / heavier
        return
    wanted = {(name, side): share for name, share in MASS_FRACTIONS.items() for side in _sides(name)}
    there = {(part.segment, part.side if part.segment not in TRUNK else "") for part in parts}
    # A segment without a body weighs on the one that it hangs on.
    for (name, side), share in list(wanted.items()):
        if (name, side) in there:
            continue
        heir = {"hand": "forearm", "foot": "shank", "middle_trunk": "upper_trunk", "upper_trunk": "lower_trunk"}.get(
            name
        )
        if heir == "upper_trunk" and ("upper_trunk", "") not in there:
            heir = "lower_trunk"
        if heir is not None:
            wanted[heir, side if heir not in TRUNK else ""] += share
        del wanted[name, side]
    wanted["neck", ""] = 0.012
    lengths: dict[tuple[str, str], float] = defaultdict(float)
    for part in parts:
        lengths[part.segment, _side(part)] += bones[part.bone].length
    for part in parts:
        key = (part.segment, _side(part))
        part.mass = wanted.get(key, 0.01) * bones[part.bone].length / max(lengths[key], 1e-12)
    whole = sum(part.mass for part in parts)
    for part in parts:
        part.mass *= total / whole


def _without_light_links(parts: Sequence[Part]) -> None:
    """Raise the mass of parts that are much lighter than what they carry: simulators tear such chains apart."""
    for part, carried in zip(parts, beyond(parts), strict=True):
        part.mass = max(part.mass, LEAST_SHARE * carried)


def beyond(parts: Sequence[Part]) -> list[float]:
    """The mass (kg) of each part with all that hangs on it."""
    masses = [part.mass for part in parts]
    for number in reversed(range(1, len(parts))):
        masses[parts[number].above] += masses[number]
    return masses


def _side(part: Part) -> str:
    return "" if part.segment in (*TRUNK, "head", "neck") else part.side


def _sides(segment: str) -> tuple[str, ...]:
    return ("",) if segment in (*TRUNK, "head") else ("L", "R")


# --------------------------------------------------------------------------- shapes


class Fit(NamedTuple):
    """A capsule along Y, or a box, in the space of the bone: Y along it. size: of the box. radius, height: of the
    capsule, without its caps. turn: rotation (3, 3) of a box in that space; None for none."""

    is_box: bool
    center: Array
    size: Array
    radius: float
    height: float
    turn: Array | None = None

    @property
    def volume(self) -> float:
        if self.is_box:
            return float(np.prod(self.size))
        return math.pi * self.radius**2 * (self.height + 4.0 / 3.0 * self.radius)


def reach(bones: Sequence[Bone], parts: Sequence[Part], number: int) -> float:
    """How far a part reaches from its head, m: the length of its bone.

    Files without tails of bones, such as BVH and glTF, lead to bones of some millimetres, often the hips: then it is
    the mean distance to the parts that hang on it. Simulators tear tiny shapes with the mass of a pelvis apart.
    """
    bone, least = bones[parts[number].bone], SHORTEST * height(bones)
    if bone.length >= least:
        return bone.length
    below = [np.linalg.norm(bones[part.bone].head - bone.head) for part in parts if part.above == number]
    return max(float(np.mean(below)) if below else 0.0, least)


def fit(segment: str, length: float, points: Array, *, is_end: bool = False) -> Fit:
    """The shape of a part. length: how far it reaches. is_end: nothing hangs on it, and its vertices say where it ends.

    points: (n, 3) of its vertices in the space of the bone; few or none: by the segment.
    """
    if len(points) < _FEW:
        radius = min(RADII.get(segment, OTHER_RADIUS) * length, length / 2.0)
        if segment in TRUNK:
            size = np.array([2.0 * radius, length * 0.95, 1.3 * radius])
            return Fit(True, np.array([0.0, length / 2.0, 0.0]), size, 0.0, 0.0)
        return Fit(False, np.array([0.0, length / 2.0, 0.0]), np.zeros(3), radius, length - 2.0 * radius)
    low, high = np.percentile(points, (5.0, 95.0), axis=0)
    if segment in BOXES:
        size = np.maximum(high - low, 0.05 * length)
        if segment in TRUNK:
            # Neighbours touch at the joints.
            low[1], size[1] = 0.0, length
        return Fit(True, np.array([(low[0] + low[0] + size[0]) / 2.0, low[1] + size[1] / 2.0, low[2] + size[2] / 2.0]),
                   size, 0.0, 0.0)  # fmt: skip
    across = np.median(points[:, (0, 2)], axis=0)
    radius = float(np.percentile(np.linalg.norm(points[:, (0, 2)] - across, axis=1), 80.0))
    bottom = float(low[1]) if segment == "head" else 0.0
    top = float(high[1]) if segment == "head" or is_end else length
    if top - bottom < 0.2 * length:
        bottom, top = 0.0, length
    radius = min(max(radius, 0.02 * length), 0.5 * (top - bottom))
    center = np.array([across[0], (bottom + top) / 2.0, across[1]])
    return Fit(False, center, np.zeros(3), radius, max(top - bottom - 2.0 * radius, 0.0))


def sole(points: Array, left: Array, down: Array) -> Array | None:
    """The rotation (3, 3) of a box that lies on the sole of a foot, in the space of its bone; None without a sole.

    points: (n, 3) of its vertices. left: of the character. down: along the shank, to the foot. Columns: right, along
    the sole, up from it.
    """
    along = np.array([0.0, 1.0, 0.0])
    across = left - left[1] * along
    if len(points) < _FEW or np.linalg.norm(across) < 0.1:
        return None
    across /= np.linalg.norm(across)
    upright = np.stack((along, np.cross(across, along)), axis=1)
    outline = _outline(points @ upright)
    edges = np.roll(outline, -1, axis=0) - outline
    lengths = np.linalg.norm(edges, axis=1)
    # Counterclockwise: what is right of an edge is outside.
    faces = np.stack((edges[:, 1], -edges[:, 0]), axis=1) @ (down @ upright)
    below = faces > 0.5 * lengths * np.linalg.norm(down)
    if not below.any():
        return None
    edges, lengths = edges[below], lengths[below]
    ways = edges / lengths[:, None]
    # A rounded sole is many edges of nearly one direction.
    weights = (ways @ ways.T > _ONE_WAY) @ lengths
    near = ways @ ways[weights.argmax()] > _ONE_WAY
    way = edges[near].sum(axis=0)
    way *= (1.0 if way[0] >= 0.0 else -1.0) / np.linalg.norm(way)
    ahead = upright @ way
    return np.stack((-across, ahead, np.cross(ahead, across)), axis=1)


def _outline(points: Array) -> Array:
    """The corners (n, 2) of the convex hull of points in a plane, counterclockwise."""
    ordered = np.unique(points, axis=0)

    def half(rows: Array) -> list[Array]:
        points: list[Array] = []
        for point in rows:
            while len(points) > 1:
                (x0, y0), (x1, y1) = points[-1] - points[-2], point - points[-2]
                if x0 * y1 - y0 * x1 > 0.0:
                    break
                points.pop()
            points.append(point)
        return points[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


# --------------------------------------------------------------------------- joints


class Axes(NamedTuple):
    """Directions of the character in the world (3,): left, forward, up."""

    left: Array
    forward: Array
    up: Array


def character_axes(bones: Sequence[Bone], parts: Sequence[Part]) -> Axes:
    """From the places of left and right bones; a rig without sides looks along -Y, as Blender's characters do."""
    up = np.array([0.0, 0.0, 1.0])
    sides = {side: [bones[part.bone].head for part in parts if part.side == side] for side in "LR"}
    left = np.array([1.0, 0.0, 0.0])
    if sides["L"] and sides["R"]:
        between = np.mean(sides["L"], axis=0) - np.mean(sides["R"], axis=0)
        between[2] = 0.0
        if np.linalg.norm(between) > 1e-9:
            left = between / np.linalg.norm(between)
    return Axes(left, np.cross(left, up), up)


class JointPlan(NamedTuple):
    """frame: rotation (3, 3) of the joint: X along the bone; a hinge turns about Y, other joints flex about Z and bend
    sideways about Y.

    Newton makes three hinges of a ball, and the outer two line up where the middle one is at a right angle: a thigh
    flexes so far, but does not bend so far sideways. twist, flex, side: limits from the present pose, rad.
    """

    frame: Array
    is_hinge: bool
    twist: tuple[float, float]
    flex: tuple[float, float]
    side: tuple[float, float]


def joint_plan(bones: Sequence[Bone], parts: Sequence[Part], number: int, axes: Axes) -> JointPlan:
    """The joint of a part with the one that it hangs on."""
    part = parts[number]
    bone = bones[part.bone]
    way = (bone.tail - bone.head) / max(bone.length, 1e-12)
    limits = LIMITS.get(part.segment, OTHER_LIMITS)
    ahead = axes.forward if abs(float(way @ axes.forward)) < 0.8 else axes.up
    flex = np.cross(way, ahead)
    flex /= np.linalg.norm(flex)
    bent = 0.0
    if limits.is_hinge:
        upper = bones[parts[part.above].bone]
        before = (upper.tail - upper.head) / max(upper.length, 1e-12)
        normal = np.cross(before, way)
        if np.linalg.norm(normal) > math.sin(math.radians(10.0)):
            normal /= np.linalg.norm(normal)
            # The knee bends backwards, the elbow forwards.
            wanted = -1.0 if part.segment == "shank" else 1.0
            flex = normal * wanted
        bent = math.atan2(float(np.cross(before, way) @ flex), float(before @ way))
    side = np.cross(way, flex)
    out = axes.left if part.side == "L" else -axes.left
    inwards, outwards = (math.radians(angle) for angle in limits.side)
    if float(np.cross(side, way) @ out) < 0.0:
        inwards, outwards = -outwards, -inwards
    low, high = (math.radians(angle) - bent for angle in limits.flex)
    twist = (math.radians(limits.twist[0]), math.radians(limits.twist[1]))
    flexes = (min(low, 0.0), max(high, 0.0))
    if limits.is_hinge:
        return JointPlan(np.stack((way, flex, side), axis=1), True, twist, flexes, (inwards, outwards))
    return JointPlan(np.stack((way, -side, flex), axis=1), False, twist, flexes, (-outwards, -inwards))


def dominant(weights: Sequence[Mapping[str, float]], owners: Mapping[str, int]) -> list[int]:
    """The part that moves each vertex most; -1 for none. weights: by name of the bone. owners: part by bone."""
    parts = []
    for vertex in weights:
        shares: dict[int, float] = defaultdict(float)
        for name, weight in vertex.items():
            owner = owners.get(name, -1)
            if owner >= 0:
                shares[owner] += weight
        parts.append(max(shares, key=lambda owner: shares[owner]) if shares else -1)
    return parts
