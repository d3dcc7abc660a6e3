# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a Python with `ovphysx` and `physx-usd-schemas`: simulates USD files in PhysX, on the processor.

    python run_physx.py FILE STEPS SECONDS POSES [FILE STEPS SECONDS POSES ...]
    python run_physx.py --live

See `pipe.main`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from pipe import Arrays, Message, Scene, main  # type: ignore[import-not-found,unused-ignore]

#: What is read of a body.
STATE = ("position", "orientation", "linearVelocity", "angularVelocity")


class Attached:
    """A USD file in PhysX. names: of its bodies, in the order of all arrays."""

    def __init__(self, px: Any, file: str, name: str) -> None:
        import ovstage

        self.px, self.stage = px, ovstage.Stage(name)
        ovstage.population.open_usd(self.stage, file, ordinal=1, domains=ovstage.PopulationDomain.ALL)
        self.stage.advance_write_floor(ordinal=1).wait()
        px.wait_task(px.attach_ovstage(self.stage, read_ordinal=1))
        self.paths = ovstage.PathDictionary(self.stage)
        #: By kind of object: the paths of its groups, as a read lists them.
        self._groups: dict[Any, list[tuple[str, ...]]] = {}
        self._tokens: dict[str, int] = {}
        self.links: set[str] = set()
        self._find()

    def _find(self) -> None:
        from ovphysx.types import ObjectScope, SimObjectType

        for kind in (SimObjectType.RIGID_BODY, SimObjectType.ARTICULATION_LINK):
            self._groups[kind] = []
            with self.px.read_sync(kind, ["position"], scope=ObjectScope.ALL) as reading:
                for group in reading.groups:
                    if not group.is_delete and not group.is_array and group.tensors:
                        found = self.paths.get_paths(group.prim_list)
                        names = tuple(map(self.paths.path_to_string, found))
                        self._groups[kind].append(names[group.prim_offset : group.prim_offset + group.prim_count])
            if kind is SimObjectType.ARTICULATION_LINK:
                self.links = {name for names in self._groups[kind] for name in names}
        self.names = sorted({name for groups in self._groups.values() for names in groups for name in names})
        rows = {name: row for row, name in enumerate(self.names)}
        self._rows = {
            kind: [np.array([rows[name] for name in names], int) for names in groups]
            for kind, groups in self._groups.items()
        }

    def read(self, attributes: Sequence[str]) -> Any:
        """(n, k) numbers of all bodies, attribute after attribute, as PhysX has them."""
        from ovphysx.types import ObjectScope

        result: Any = None
        for kind, groups in self._rows.items():
            if not groups:
                continue
            columns: dict[int, list[Any]] = {}
            with self.px.read_sync(kind, list(attributes), scope=ObjectScope.ALL) as reading:
                for group in reading.groups:
                    if group.is_delete or group.is_array or not group.tensors:
                        continue
                    columns.setdefault(group.attribute, []).append(
                        np.array(group.tensors[0].numpy(), float).reshape(group.prim_count, -1)
                    )
            part = np.concatenate([np.concatenate(columns[self._token(name)]) for name in attributes], axis=1)
            if result is None:
                result = np.zeros((len(self.names), part.shape[1]))
            result[np.concatenate(groups)] = part
        return np.zeros((0, 3 * len(attributes) + 1)) if result is None else result

    def _token(self, name: str) -> int:
        if name not in self._tokens:
            self._tokens[name] = self.paths.intern_token(name)
        return self._tokens[name]

    def write(self, kind: Any, attribute: str, names: Sequence[str], values: Any) -> None:
        """Set an attribute of some prims to rows (n, k) of numbers."""
        rows = {name: row for row, name in enumerate(names)}
        handles = [self.paths.intern_path(name) for name in names]
        with self.px.write_sync(kind, [attribute], prim_paths=handles) as session:
            for group in session.groups:
                found = map(self.paths.path_to_string, self.paths.get_paths(group.prim_list))
                listed = list(found)[group.prim_offset : group.prim_offset + group.prim_count]
                own = np.array([values[rows[name]] for name in listed], np.float32)
                start = 0
                for tensor in group.tensors:
                    # One for all prims, or one for each.
                    count = group.prim_count if len(group.tensors) == 1 else 1
                    tensor.assign(np.ascontiguousarray(own[start : start + count]).reshape(tuple(tensor.shape)))
                    start += count
                session.commit_sync(group)

    def joints(self) -> list[str]:
        """Joints of articulations with one degree of freedom, whose drives can change."""
        from ovphysx.types import ObjectScope, SimObjectType

        found: list[str] = []
        with self.px.read_sync(
            SimObjectType.ARTICULATION_JOINT, ["jointPositionTarget"], scope=ObjectScope.ALL
        ) as reading:
            for group in reading.groups:
                paths = self.paths.get_paths(group.prim_list)
                names = list(map(self.paths.path_to_string, paths))
                names = names[group.prim_offset : group.prim_offset + group.prim_count]
                if len(group.tensors) == len(names):
                    found += [
                        name for name, tensor in zip(names, group.tensors, strict=True) if tensor.numpy().size == 1
                    ]
        return found

    def detach(self) -> None:
        self.px.wait_task(self.px.detach_ovstage())


class Live(Scene):  # type: ignore[misc,unused-ignore]
    """A scene that is stepped as it is asked for, in the units of its file."""

    def __init__(self, px: Any) -> None:
        self._px = px

    def build(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        self._file, self._seconds = str(header["file"]), float(header["seconds"])
        self._parts = max(1, int(header["substeps"]))
        self._scene = Attached(self._px, self._file, "live")
        self._joints = self._scene.joints()
        return (
            {"bodies": self._scene.names, "takes": ["drives"], "joints": self._joints}, {"states": self._states()},
        )  # fmt: skip

    def reset(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        self._scene.detach()
        self._scene = Attached(self._px, self._file, "live")
        return {}, {"states": self._states()}

    def close(self) -> None:
        self._scene.detach()

    def step(self, header: Mapping[str, Any], arrays: Arrays) -> Message:
        for row in header.get("drives", ()):
            self._drive(*row)
        for part in range(1, self._parts + 1):
            if "led" in arrays:
                self._lead(arrays["led"], arrays["poses"], part / self._parts)
            # A wrench lasts for one step of PhysX.
            if "pushed" in arrays:
                self._push([self._scene.names[row] for row in arrays["pushed"]], arrays["wrenches"])
            self._px.step_sync(self._seconds / self._parts)
        return {}, {"states": self._states()}

    def _lead(self, rows: Any, poses: Any, share: float) -> None:
        """Let kinematic bodies reach a share of their way to poses (k, 7) in the next step of PhysX."""
        from ovphysx.types import SimObjectType

        names, before = [self._scene.names[row] for row in rows], self._last[rows, :7]
        turns = np.where((before[:, 3:] * poses[:, 3:]).sum(axis=1, keepdims=True) < 0.0, -poses[:, 3:], poses[:, 3:])
        turns = before[:, 3:] + share * (turns - before[:, 3:])
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        places = before[:, :3] + share * (poses[:, :3] - before[:, :3])
        self._scene.write(SimObjectType.RIGID_BODY, "kinematicTargetPosition", names, places)
        turns = np.roll(turns, -1, axis=1)
        self._scene.write(SimObjectType.RIGID_BODY, "kinematicTargetOrientation", names, turns)

    def _push(self, names: list[str], wrenches: Any) -> None:
        from ovphysx.types import SimObjectType

        for kind, is_link in ((SimObjectType.RIGID_BODY, False), (SimObjectType.ARTICULATION_LINK, True)):
            own = [row for row, name in enumerate(names) if (name in self._scene.links) == is_link]
            if own:
                self._scene.write(kind, "wrench", [names[row] for row in own], wrenches[own])

    def _drive(
        self, joint: str, dof: str, stiffness: float, damping: float, target: float, speed: float, most: float | None
    ) -> None:
        from ovphysx.types import SimObjectType

        turn = np.pi / 180.0 if dof == "angular" or dof.startswith("rot") else 1.0
        for name, value in (
            ("jointStiffness", stiffness * turn), ("jointDamping", damping * turn),
            ("jointMaxForce", float(np.finfo(np.float32).max) if most is None else most),
            ("jointPositionTarget", target / turn), ("jointVelocityTarget", speed / turn),
        ):  # fmt: skip
            self._scene.write(SimObjectType.ARTICULATION_JOINT, name, [joint], np.array([[value]]))

    def _states(self) -> Any:
        states = self._scene.read(STATE)
        states[:, 3:7] = np.roll(states[:, 3:7], 1, axis=1)
        self._last = states
        # As PhysX has them.
        return states.astype(np.float32)


@cache
def _started() -> Any:
    """PhysX on the processor."""
    import ovphysx
    import ovstage
    from ovphysx.samples.python_samples import schema_support
    from ovphysx.types import GlobalConfigKey

    ovphysx.set_global_config(GlobalConfigKey.CPU_ONLY, True)
    roots = [*map(str, schema_support.physx_schema_paths()), str(ovphysx.newton_schema_root())]
    ovstage.population.register_usd_schemas(roots)
    return ovphysx.PhysX()


if __name__ == "__main__":
    sys.exit(main(lambda: Live(_started()), sys.argv[1:]))
