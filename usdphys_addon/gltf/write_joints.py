# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: their limits and drives, and the nodes at their two frames."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..core import frames
from ..core.frames import Matrix
from ..core.model import Prim
from ..core.schemas import usd_physics
from . import additions, joints, names
from .additions import Additions


class Joints:
    """Writes joints."""

    def __init__(self, file: Additions) -> None:
        self.file, self.document, self.model, self.nodes = file, file.document, file.model, file.nodes
        self.families, self.bodies = file.families, file.bodies
        #: Nodes of joints that are still to be written, and may be moved then.
        self.waiting = {self.nodes[path] for path in self.model.joints if path in self.nodes}

    def write(self, prim: Prim) -> None:
        """Write one, with its two nodes, or say why not."""
        joint = prim.get(usd_physics.Joint)
        assert joint is not None
        if not joint.resolved("joint_enabled"):
            return
        ends: list[str] = []
        #: Nodes that the frames are below.
        above: list[int | None] = []
        for side in (0, 1):
            target = (getattr(joint, f"body{side}") or ("",))[0]
            owner = self.model.body_of(target) if target else None
            if target and owner is None and target not in self.nodes:
                self._skip_joint(prim, target)
                return
            if owner is not None and owner.path not in self.bodies:
                self._skip_joint(prim, owner.path)
                return
            ends.append(owner.path if owner is not None else "")
            above.append(self.bodies[owner.path] if owner is not None else self.file.static_nodes.get(target))
        places = [self._frame(joint, side) for side in (0, 1)]
        settings = self._settings(prim, joint)
        moving = [self.file.is_dynamic(end) for end in ends]
        if not any(moving) and not any(ends):
            self.file.lose(prim, "a joint between two static objects")
            return
        # OMI asks for a dynamic body above the joint node, or else a kinematic one, and Babylon for any body.
        is_generic, is_swapped = prim.type_name == "PhysicsJoint", False
        is_omi = names.OMI in self.families
        is_behind = moving[1] and not moving[0] and (is_omi or (above[0] is None and not is_generic))
        if is_behind or (is_omi and not ends[0]):
            self.file.lose(prim, "a static first body of a joint (the two bodies are swapped)")
            for pair in (ends, above, places):
                pair.reverse()
            settings = joints.swapped(settings)
            is_swapped = True
        self.file.written.counts["joints"] += 1
        self.waiting.discard(self.nodes.get(prim.path, -1))
        index = self._joint_node(prim, above[0], places[0])
        self.file.written.joints[prim.path] = index, is_swapped
        other = self._connected_node(prim, above[1], places[1], index, is_dynamic=self.file.is_dynamic(ends[1]))
        if names.leaf(self.document.node_name(index)) != prim.name:
            self.file.lose(prim, "the name of the USD prim")
        elif prim.extras.get("shares_node"):
            self.file.lose(prim, "a joint on the node of its body (it gets a node of its own)")
        for family in self.families:
            value: dict[str, Any] = {
                "connectedNode": other, "joint": self.file.pooled(family.joint, "physicsJoints", settings)
            }  # fmt: skip
            if joint.collision_enabled:
                value["enableCollision"] = True
            if family.is_khr:
                self.document.put_extension(index, family.body, {"joint": value})
            elif ends[0]:
                self.document.put_extension(index, family.joint, value)

    def _skip_joint(self, prim: Prim, path: str) -> None:
        self.file.issue(
            "GltfJointSkipped", f"The joint {prim.display} holds '{path}', which is not in the file, so it is left "
            "out.", "Export both of its bodies.", "error", prim,
        )  # fmt: skip

    def _settings(self, prim: Prim, joint: usd_physics.Joint) -> dict[str, Any]:
        """Limits and drives; as they were imported while the values are still those that they gave."""
        settings = joints.settings_of(prim, joint)
        kept = prim.extras.get("settings")
        if isinstance(kept, dict):
            kept = joints.well_formed(kept)
            before = Prim(prim.path)
            joints.read_settings(before, kept)
            old = before.get(usd_physics.Joint)
            if old is not None and joints.is_same(joints.settings_of(before, old), settings):
                return {key: value for key, value in kept.items() if value}
        return settings

    def _frame(self, joint: usd_physics.Joint, side: int) -> Matrix:
        target = (getattr(joint, f"body{side}") or ("",))[0]
        prim = self.model.prims.get(target)
        world = prim.world if prim is not None else None
        return frames.world_frame(world, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))

    @cached_property
    def _static(self) -> set[int]:
        return set(self.file.static_nodes.values())

    def _end_above(self, index: int | None) -> int | None:
        """The body, or else the static collider, that a joint on a node ties."""
        above = list(self.document.ancestors(index))
        body = next((one for one in above if one in self.file.body_nodes), None)
        return next((one for one in above if one in self._static), None) if body is None else body

    def _joint_node(self, prim: Prim, above: int | None, place: Matrix) -> int:
        """The node of a joint, below that of its first end: its own Empty, moved there if need be, or a new one."""
        own = self.file.node_of(prim.path)
        is_movable = own is not None and self.nodes.get(prim.path) == own and self._is_bare(own)
        if (
            own is not None and self._end_above(own) == above and self._is_at(own, place)
            and not (is_movable and frames.determinant(self.document.local(own)) < 0.0)
        ):  # fmt: skip
            return own
        if own is not None and is_movable:
            scene = self.file.scene_of(own)
            parent = above if above is not None else self.document.parents[own]
            self.document.detach(own)
            self.document.put_below(own, parent, scene)
            self.file.place_frame(own, place, prim)
            return own
        scene = None if own is None else self.file.scene_of(own)
        index = self.document.add_node({"name": self.file.free_name(prim.name)}, above, scene)
        self.file.place_frame(index, place, prim)
        return index

    def _connected_node(
        self, prim: Prim, above: int | None, place: Matrix, joint: int, *, is_dynamic: bool
    ) -> int:  # fmt: skip
        """A node at a frame below that of the second end; a node that is there already is taken."""
        document = self.document
        if above is None:
            index = document.add_node(
                {"name": self.file.free_name(f"{prim.name}_frame1")}, None, self.file.scene_of(joint)
            )
            self.file.place_frame(index, place, prim)
            if names.OMI in self.families:
                document.put_extension(index, names.OMI.body, {"motion": {"type": "static"}})
                self.file.body_nodes.add(index)
            return index
        todo: list[int] = list(document.nodes[above].get("children", []))
        while todo:
            index = todo.pop(0)
            if index in self.file.body_nodes:
                continue
            is_free = index != joint and index not in self.waiting and "mesh" not in document.nodes[index]
            if is_free and self._is_at(index, place):
                return index
            todo += document.nodes[index].get("children", [])
        if not document.nodes[above].get("children") and not is_dynamic and self._is_at(above, place):
            return above
        index = document.add_node({"name": self.file.free_name(f"{prim.name}_frame1")}, above)
        self.file.place_frame(index, place, prim)
        return index

    def _is_at(self, index: int, place: Matrix) -> bool:
        world = self.document.world(index)
        size = max(1.0, float(np.abs(place[:3, 3]).max()))
        apart = float(np.abs(world[:3, 3] - place[:3, 3]).max())
        turned = float(np.abs(frames.rotation_of(world) - place[:3, :3]).max())
        return apart <= additions.SAME * size and turned <= additions.SAME

    def _is_bare(self, index: int) -> bool:
        node = self.document.nodes[index]
        return (
            not node.keys() & {"mesh", "camera", "skin", "children", "extensions"} and index not in self.file.body_nodes
        )
