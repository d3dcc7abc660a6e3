# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for scenes that are legal but do not do what was meant: overlaps, sizes, masses, values without effect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .. import mass, overlap, paths
from ..coasting import keeps_velocity
from ..joint_kinds import limits_of
from ..model import Mesh, Prim
from ..schema import ANGULAR_DOFS
from ..schemas import usd_geom, usd_physics
from ..words import counted, joint_value_text, length_text
from . import overlaps
from .base import OF_GLTF, Above, Facts, Finding, name, rule

_NO_TRIANGLES = np.zeros((0, 3), np.int64)
#: Part of the larger extent of both by which a collider is far from what is seen of its body.
_FAR = 0.25
#: Mass ratio that solvers bear.
RATIO = 100.0
#: Targets so little (rad, m) beyond a limit are at it.
_NEAR = 1e-4
#: Approximations whose volume takes no hull.
_BOUNDS = ("boundingCube", "boundingSphere")
#: From which ratio on PhysX wants the light body to be the second of a joint, and not between two heavy ones.
JOINT_RATIO = 10.0
SMALLEST, LARGEST = 1e-3, 1e4
#: Usual sizes of moving bodies, m.
USUAL_LOW, USUAL_HIGH = 2e-3, 50.0


class _Uneven(NamedTuple):
    """Two moving bodies and their masses, kg."""

    light: Prim
    heavy: Prim
    lower: float
    higher: float


def prepare(facts: Facts) -> Iterator[None]:
    """Compute in short steps what the rules of this module need, for checks that must not block the interface."""
    yield from overlaps.prepare(facts)
    far: list[tuple[Prim, Prim | None, float]] = []
    yield from _far_steps(facts, far)
    facts.remember(_far, far)
    masses = Masses(facts)
    yield from masses.steps()
    facts.remember(Masses, masses)
    for _, *bodies in facts.once(_joined):
        for body in bodies:
            masses.of(body.path)
            yield
    uneven: list[_Uneven] = []
    yield from _uneven_steps(facts, uneven)
    facts.remember(_uneven, uneven)


def _far(facts: Facts) -> list[tuple[Prim, Prim | None, float]]:
    found: list[tuple[Prim, Prim | None, float]] = []
    for _ in _far_steps(facts, found):
        pass
    return found


def _far_steps(facts: Facts, found: list[tuple[Prim, Prim | None, float]]) -> Iterator[None]:
    """Find colliders far from what is seen: (collider, its body, distance in m)."""
    seen_bounds = facts.seen_bounds
    yield
    for box in facts.once(overlaps.boxes_of_scene) if seen_bounds else ():
        prim = box.prim
        yield
        if prim.path in seen_bounds or any("Trigger" in applied for applied in prim.schemas):
            continue
        body = facts.carrier.at(prim.path)
        seen = seen_bounds.get(body.path if body is not None else paths.parent_of(prim.path))
        if seen is None:
            continue
        gap = float(np.linalg.norm(np.maximum(np.maximum(seen[0] - box.high, box.low - seen[1]), 0.0)))
        if gap > _FAR * max(float((box.high - box.low).max()), float((seen[1] - seen[0]).max())):
            found.append((prim, body, gap))


@rule("ColliderFarFromMesh")
def far_from_mesh(facts: Facts) -> Iterator[Finding]:
    for prim, body, gap in facts.once(_far):
        what = body.display if body is not None else "the object that it is on"
        yield Finding(prim, f"The collider {prim.display} is {length_text(gap)} away from what is seen of {what}.")


# --------------------------------------------------------------------------- masses and sizes


class Masses:
    """Masses of moving bodies (kg), computed when first asked for; 0 where it is not known."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._found = facts, dict[str, float]()
        self._colliders: dict[str, list[Prim]] | None = None

    def steps(self) -> Iterator[None]:
        """Find the colliders of all bodies in steps, as `mass.colliders_by_body` does in one; `of` needs them."""
        by_body: dict[str, list[Prim]] = {path: [] for path in self._facts.enabled}
        owners = Above(self._facts.enabled)
        for prim, collider in self._facts.colliders:
            body = owners.at(prim.path) if collider.collision_enabled is not False else None
            if body is not None:
                by_body[body.path].append(prim)
            yield
        self._colliders = by_body

    def of(self, path: str) -> float:
        if path not in self._found:
            if self._colliders is None:
                for _ in self.steps():
                    pass
            self._found[path] = _mass_of(self._facts, path, (self._colliders or {}).get(path, []))
        return self._found[path]


def _uneven(facts: Facts) -> list[_Uneven]:
    """Pairs of moving bodies that differ much in mass, joined outside of articulations or stacked."""
    pairs: list[_Uneven] = []
    for _ in _uneven_steps(facts, pairs):
        pass
    return pairs


def _uneven_steps(facts: Facts, found: list[_Uneven]) -> Iterator[None]:
    pairs: dict[tuple[str, str], None] = {}
    for _, *bodies in facts.once(_joined):
        first, second = sorted(body.path for body in bodies)
        pairs[first, second] = None
    yield
    solids = facts.once(overlaps.solids_of_scene) if facts.dynamic else []
    carriers = [facts.carrier.at(solid.prim.path) for solid in solids]
    moving = [body.path if body is not None and body.path in facts.dynamic else "" for body in carriers]
    lows, middles = [float(solid.low[2]) for solid in solids], [float(solid.points[:, 2].mean()) for solid in solids]
    yield
    for one, other in overlap.close_pairs(solids, 1e-4):
        if not moving[one] or not moving[other] or moving[one] == moving[other]:
            continue
        upper, lower = (other, one) if middles[one] < middles[other] else (one, other)
        if lows[upper] >= middles[lower]:
            first, second = sorted((moving[one], moving[other]))
            pairs[first, second] = None
        yield
    if not pairs:
        return
    masses = facts.once(Masses)
    for pair in pairs:
        light, heavy = sorted(pair, key=masses.of)
        if 0.0 < masses.of(light) * RATIO < masses.of(heavy):
            found.append(_Uneven(facts.dynamic[light], facts.dynamic[heavy], masses.of(light), masses.of(heavy)))
        yield


def _mass_of(facts: Facts, path: str, colliders: list[Prim]) -> float:
    """Mass of a body, kg; 0 if it depends on meshes that are not loaded."""
    if not facts.check_geometry:
        own = facts.model.prims[path].get(usd_physics.MassAPI)
        if own is not None and isinstance(own.mass, int | float) and own.mass > 0.0:  # text where the type is wrong
            return float(own.mass)
        known = [_with_points(facts, prim) for prim in colliders]
        colliders = [prim for prim in known if prim is not None]
        if len(colliders) < len(known) or not colliders:
            return 0.0
    return mass.mass_properties(facts.model, path, colliders).mass


def _with_points(facts: Facts, prim: Prim) -> Prim | None:
    """A collider whose volume can be computed from the points that are read already, or None."""
    if prim.get(usd_geom.Gprim) is not None or prim.mesh is not None:
        return prim
    points = facts.points.get(prim.path)
    settings = prim.get(usd_physics.MeshCollisionAPI)
    approximation = "none" if settings is None else settings.resolved("approximation")
    is_cheap = approximation in _BOUNDS or (approximation == "convexHull" and points is not None and len(points) <= 64)
    if points is None or not is_cheap:
        return None
    return replace(prim, mesh=lambda: Mesh(points, _NO_TRIANGLES))


@rule("MassRatioHigh")
def mass_ratio(facts: Facts) -> Iterator[Finding]:
    for pair in facts.once(_uneven):
        lower, higher = (float(f"{value:.3g}") for value in (pair.lower, pair.higher))
        yield Finding(
            pair.light,
            f"{pair.light.display} ({lower:g} kg) holds, or is held by, {pair.heavy.display} ({higher:g} kg).",
            {"other": name(pair.heavy)},
        )


def _joined(facts: Facts) -> list[tuple[Prim, Prim, Prim]]:
    """(joint, first body, second body) of the joints between two moving bodies that are in no articulation.

    glTF has none.
    """
    inside = facts.articulated if facts.target not in OF_GLTF else frozenset()
    joints = []
    for prim, joint in facts.joints:
        first, second = overlaps.ends_of(facts.mover, joint)
        if first is None or second is None or first is second or joint.joint_enabled is False:
            continue
        if first.path in facts.dynamic and second.path in facts.dynamic and prim.path not in inside:
            joints.append((prim, first, second))
    return joints


@rule("JointLightFirst")
def light_body_first(facts: Facts) -> Iterator[Finding]:
    for prim, first, second in facts.once(_joined):
        masses = facts.once(Masses)
        light, heavy = masses.of(first.path), masses.of(second.path)
        if 0.0 < light * JOINT_RATIO < heavy:
            yield Finding(
                prim, f"The first body of the joint {prim.display}, {first.display} ({light:.3g} kg), is much lighter "
                f"than the second, {second.display} ({heavy:.3g} kg).",
            )  # fmt: skip


@rule("LightBetweenHeavy")
def light_between_heavy(facts: Facts) -> Iterator[Finding]:
    heavy: dict[str, dict[str, Prim]] = {}
    for _, first, second in facts.once(_joined):
        masses = facts.once(Masses)
        for own, other in ((first, second), (second, first)):
            if 0.0 < masses.of(own.path) * JOINT_RATIO < masses.of(other.path):
                heavy.setdefault(own.path, {})[other.path] = other
    for path, others in heavy.items():
        if len(others) > 1:
            body, masses = facts.dynamic[path], facts.once(Masses)
            one, other = list(others.values())[:2]
            yield Finding(
                body, f"{body.display} ({masses.of(path):.3g} kg) is between {one.display} "
                f"({masses.of(one.path):.3g} kg) and {other.display} ({masses.of(other.path):.3g} kg).",
            )  # fmt: skip


@rule("ColliderSizeExtreme")
def extreme_size(facts: Facts) -> Iterator[Finding]:
    for prim, low, high in facts.once(overlaps.boxes_of_scene):
        size = float((high - low).max())
        # What is 1 mm large, but for rounding, is not smaller.
        if 0.0 < size < SMALLEST * (1.0 - 1e-4) or LARGEST * (1.0 + 1e-4) < size < np.inf:
            yield Finding(prim, f"The collider {prim.display} is {length_text(size)} large.")


@rule("SceneScaleUnusual")
def unusual_scale(facts: Facts) -> Iterator[Finding]:
    sizes: dict[str, float] = defaultdict(float)
    for prim, low, high in facts.once(overlaps.boxes_of_scene):
        body = overlaps.moved_by(facts, prim)
        if body is not None:
            sizes[body.path] = max(sizes[body.path], float((high - low).max()))
    if not sizes:
        return
    middle = float(np.median(list(sizes.values())))
    if not USUAL_LOW <= middle <= USUAL_HIGH:
        yield Finding(None, f"A typical moving body is {length_text(middle)} large.")


# --------------------------------------------------------------------------- floor, joints


@rule("NoFloor")
def no_floor(facts: Facts) -> Iterator[Finding]:
    scenes = facts.all(usd_physics.PhysicsScene)
    if not facts.dynamic or not len(scenes) or any(scene.gravity_magnitude == 0 for _, scene in scenes):
        return
    falls = False
    for prim, collider in facts.colliders:
        body = facts.carrier.at(prim.path)
        if collider.collision_enabled is not False:
            if body is None or body.path not in facts.dynamic:
                return
            falls = True
    if not falls:
        return
    for _, joint in facts.joints:
        ends = overlaps.ends_of(facts.mover, joint)
        if any(end is None or end.path not in facts.dynamic for end in ends):
            return
    yield Finding(None, "Nothing is there to land on: all colliders belong to bodies that fall.")


@rule("JointMovesNothing")
def idle_joint(facts: Facts) -> Iterator[Finding]:
    for prim, joint in facts.joints:
        ends = overlaps.ends_of(facts.mover, joint)
        if any(ends) and not any(end is not None and end.path in facts.dynamic for end in ends):
            yield Finding(prim, f"The joint {prim.display} joins no dynamic body.")


@rule("ArticulationRootTwice")
def two_roots(facts: Facts) -> Iterator[Finding]:
    roots = facts.all(usd_physics.ArticulationRootAPI).prims
    if len(roots) < 2:
        return
    # Union of the bodies that joints connect; the world connects nothing.
    leader: dict[str, str] = {}

    def find(path: str) -> str:
        while leader.setdefault(path, path) != path:
            leader[path] = path = leader[leader[path]]
        return path

    ends_of: dict[str, str] = {}
    for prim, joint in facts.joints:
        ends = overlaps.ends_of(facts.mover, joint)
        bodies = [end.path for end in ends if end is not None and end.path in facts.dynamic]
        if joint.exclude_from_articulation is True or not bodies:
            continue
        ends_of[prim.path] = bodies[0]
        for path in bodies[1:]:
            leader[find(path)] = find(bodies[0])
    seen: dict[str, Prim] = {}
    inside = paths.inside_each((*leader, *ends_of), {root.path for root in roots})
    for root in roots:
        trees = {find(ends_of.get(path, path)) for path in inside[root.path]}
        for tree in trees:
            other = seen.setdefault(tree, root)
            nests = paths.is_below(root.path, other.path) or paths.is_below(other.path, root.path)
            if other is not root and not nests:
                message = f"{root.display} and {other.display} are articulation roots of the same bodies."
                yield Finding(root, message, {"other": name(other)})
                break


@rule("PlaceInSamples")
def place_in_samples(facts: Facts) -> Iterator[Finding]:
    """One finding for all: such files have every place so."""
    found = [prim for prim in facts.model.prims.values() if prim.is_sampled]
    if found:
        others = f" and {counted(len(found) - 1, 'other prim')}" if len(found) > 1 else ""
        yield Finding(
            found[0], f"The file has the place of {found[0].display}{others} in time samples only: a simulator that "
            "reads the default time, such as Newton, puts it at the origin.",
        )  # fmt: skip


# --------------------------------------------------------------------------- values without effect


@rule("KinematicVelocity")
def kinematic_velocity(facts: Facts) -> Iterator[Finding]:
    for prim, body in facts.bodies:
        is_moving = any(body.velocity or ()) or any(body.angular_velocity or ())
        if body.kinematic_enabled is True and is_moving and (prim.is_animated or not keeps_velocity(prim)):
            yield Finding(prim, f"{prim.display} is kinematic, so its velocity has no effect.")


@rule("DensityWithoutEffect")
def idle_density(facts: Facts) -> Iterator[Finding]:
    for prim, values in facts.masses:
        if (values.mass or 0.0) > 0.0 and (values.density or 0.0) > 0.0:
            yield Finding(prim, f"{prim.display} has a mass, so its density has no effect.")


@rule("DriveTargetWithoutEffect")
def idle_target(facts: Facts) -> Iterator[Finding]:
    for prim, dof, drive in facts.applied(usd_physics.DriveAPI):
        if not (drive.stiffness or drive.damping):
            continue  # reported by DriveWithoutGain
        for target, gain in (("target_position", "stiffness"), ("target_velocity", "damping")):
            value = getattr(drive, target)
            if value and math.isfinite(value) and not getattr(drive, gain):
                what = target.replace("_", " ")
                message = f"The {what} of the drive {dof} of {prim.display} has no effect without {gain}."
                yield Finding(prim, message, {"gain": gain, "dof": dof})


@rule("DriveTargetBeyondLimit")
def unreachable_target(facts: Facts) -> Iterator[Finding]:
    for prim, dof, drive in facts.applied(usd_physics.DriveAPI):
        target, (low, high) = drive.target_position, _limits(prim, dof)
        if target is None or not drive.stiffness or low > high:
            continue  # where both limits are locked or reversed, other rules say so
        if target < low - _NEAR:
            limit, value = "lower", low
        elif target > high + _NEAR:
            limit, value = "upper", high
        else:
            continue
        aim, end = (joint_value_text(one, is_angular=dof in ANGULAR_DOFS) for one in (target, value))
        message = f"The drive {dof} of {prim.display} aims at {aim}, beyond its {limit} limit, {end}."
        yield Finding(prim, message, {"dof": dof, "limit": limit})


def _limits(prim: Prim, dof: str) -> tuple[float, float]:
    """Limits of a degree of freedom of a prim, rad or m; infinite where it has none."""
    joint = {"angular": usd_physics.RevoluteJoint, "linear": usd_physics.PrismaticJoint}.get(dof)
    limited = prim.schemas.get(f"{usd_physics.LimitAPI.usd_name}:{dof}") if joint is None else prim.get(joint)
    return limits_of(limited, dof) if limited is not None else (-math.inf, math.inf)
