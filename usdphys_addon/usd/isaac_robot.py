# SPDX-License-Identifier: GPL-3.0-or-later
"""Isaac Sim's robot schema on a finished file: which bodies and joints are the robot, in the order of its tree.

Robot Inspector, Gain Tuner and ROS bridge of Isaac Sim read it; USD itself does not know these schemas.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from pxr import Sdf

from ..core import paths
from ..core.model import PhysicsModel
from ..core.schemas import usd_physics
from ..core.validate import Issue
from ..system.files import replacing
from . import robot_extras
from .read import open_stage, read_stage
from .write import apply_schemas

#: Kinds of robots as Isaac Sim's validator takes them, by the word of the command line.
TYPES = {
    "default": "Default", "manipulator": "Manipulator", "end-effector": "End Effector", "humanoid": "Humanoid",
    "wheeled": "Wheeled", "holonomic": "Holonomic", "quadruped": "Quadruped",
    "mobile-manipulator": "Mobile Manipulators", "aerial": "Aerial",
}  # fmt: skip
_LINKS, _JOINTS, _TYPE = "isaac:physics:robotLinks", "isaac:physics:robotJoints", "isaac:robotType"


def add_to_file(file: Path, kind: str) -> list[Issue]:
    """Add Isaac Sim's robot schema to a USD file. kind: of TYPES. Returns an issue where there is no robot.

    The file is replaced in one step. Raises OutputError.
    """
    stage = open_stage(file)
    model = read_stage(stage)
    trees = trees_of(model)
    if not trees:
        return [Issue(
            "IsaacRobotMissing", "warning", "/", "", "No bodies are on joints, so there is no robot schema.",
            "Connect the links of the robot by joints, and give it an articulation root.",
        )]  # fmt: skip
    home = stage.GetDefaultPrim()
    frames = [frame.path for frame in robot_extras.frames_of(stage, model)]
    layer = Sdf.Layer.OpenAsAnonymous(str(file))
    for links, joints in trees:
        robot = str(home.GetPath()) if len(trees) == 1 and home else _above((*links, *joints))
        spec = Sdf.CreatePrimInLayer(layer, robot)
        apply_schemas(spec, ["IsaacRobotAPI"])
        _put(spec, _TYPE, Sdf.ValueTypeNames.Token, TYPES[kind])
        for name, targets in ((_LINKS, links), (_JOINTS, joints)):
            relationship = spec.relationships.get(name) or Sdf.RelationshipSpec(spec, name, custom=False)
            relationship.targetPathList.ClearEdits()
            relationship.targetPathList.prependedItems = [Sdf.Path(path) for path in targets]
        sites = [path for path in frames if paths.nearest(path, set(links))]
        for api, places in (("IsaacLinkAPI", links), ("IsaacJointAPI", joints), ("IsaacSiteAPI", sites)):
            for path in places:
                if not stage.GetPrimAtPath(path).IsInstanceProxy():
                    apply_schemas(Sdf.CreatePrimInLayer(layer, path), [api])
    del stage
    with replacing(file) as scratch:
        layer.Export(str(scratch))
    return []


def _put(spec: Sdf.PrimSpec, name: str, type_: Sdf.ValueTypeName, value: object) -> None:
    item = spec.attributes.get(name) or Sdf.AttributeSpec(spec, name, type_)
    item.default = value


def _above(listed: Iterable[str]) -> str:
    """The nearest prim above all of some, or one of them that is above the others."""
    first, *others = listed
    for path in (first, *paths.ancestors_of(first)):
        if all(paths.is_at_or_below(other, path) for other in others):
            return path
    return f"/{first.split('/')[1]}"


def trees_of(model: PhysicsModel) -> list[tuple[list[str], list[str]]]:
    """(links, joints) of each robot of a model, from the root outwards; a joint to the world is the first.

    A robot is what joints connect, with an articulation root in it. Where nothing has one, it is what most joints do.
    """
    around: dict[str, list[tuple[str, str]]] = {}
    ends: dict[str, list[str]] = {}
    for path, prim in model.joints.items():
        joint = prim.get(usd_physics.Joint)
        assert joint is not None
        owners = [model.body_of(targets[0]) for targets in (joint.body0, joint.body1) if targets]
        ends[path] = [owner.path for owner in owners if owner is not None]
        for index, body in enumerate(ends[path]):
            others = [other for at, other in enumerate(ends[path]) if at != index]
            around.setdefault(body, []).append((path, others[0] if others else ""))
    groups = [_walk(root, around) for root in _roots(model, around, ends)]
    roots = tuple(model.articulations)
    if roots:
        return [
            group for group in groups
            if any(paths.is_at_or_below(path, root) or paths.is_at_or_below(root, path)
                   for root in roots for path in (*group[0], *group[1]))
        ]  # fmt: skip
    return sorted(groups, key=lambda group: -len(group[1]))[:1]


def _roots(model: PhysicsModel, around: dict[str, list[tuple[str, str]]], ends: dict[str, list[str]]) -> Iterable[str]:
    """One body of each connected group: that of the articulation root or on the world, else one that nothing holds."""
    held = {bodies[1] for bodies in ends.values() if len(bodies) == 2}
    fixed = [bodies[0] for bodies in ends.values() if len(bodies) == 1]
    # A root on a joint means the body that this holds.
    marked = [body for root in model.articulations for body in (ends.get(root, [])[-1:] or [root]) if body in around]
    seen: set[str] = set()
    for body in (*marked, *fixed, *(body for body in around if body not in held), *around):
        if body not in seen:
            seen.update(_walk(body, around)[0])
            yield body


def _walk(root: str, around: dict[str, list[tuple[str, str]]]) -> tuple[list[str], list[str]]:
    """The bodies and joints that hang together with a body, in the order of their distance from it."""
    links, joints, pending = [root], list[str](), deque([root])
    while pending:
        body = pending.popleft()
        # Joints to the world first: Isaac takes the first joint for that of the base.
        for joint, other in sorted(around[body], key=lambda row: bool(row[1])):
            if joint not in joints:
                joints.append(joint)
            if other and other not in links:
                links.append(other)
                pending.append(other)
    return links, joints
