# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of MuJoCo for tests, and what their joints mean, said a second time and without the product."""

import numpy as np

ARM = """<mujoco model="arm">
  <compiler angle="degree"/>
  <option timestep="0.002" gravity="0 0 -9.81"><flag contact="enable"/></option>
  <default>
    <geom density="500"/>
    <joint damping="0.1" armature="0.01"/>
    <default class="finger"><geom type="capsule" size="0.01 0.05" friction="0.7"/><joint range="-30 60"/></default>
    <default class="seen"><geom contype="0" conaffinity="0" group="2" mass="0"/></default>
  </default>
  <asset>
    <material name="red" rgba="0.8 0.1 0.1 1"/>
    <mesh name="wedge" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="base" pos="0 0 0.2">
      <geom name="foot" type="box" size="0.1 0.1 0.05" material="red"/>
      <body name="upper" pos="0 0 0.05">
        <joint name="shoulder" axis="0 1 0" range="-90 90" frictionloss="0.2"/>
        <geom name="bone" type="capsule" fromto="0 0 0 0 0 0.4" size="0.03"/>
        <geom class="seen" type="mesh" mesh="wedge" rgba="0.1 0.2 0.9 0.5"/>
        <site name="tip" pos="0 0 0.4"/>
        <body name="hand" pos="0 0 0.4" childclass="finger">
          <inertial pos="0 0 0.02" mass="0.3" diaginertia="0.001 0.002 0.0025"/>
          <joint name="wrist_x" axis="1 0 0"/>
          <joint name="wrist_y" axis="0 1 0"/>
          <body name="one" pos="0.02 0 0.05"><joint name="one" axis="0 1 0"/><geom name="one"/></body>
          <body name="two" pos="-0.02 0 0.05"><joint name="two" axis="0 1 0"/><geom name="two"/></body>
        </body>
      </body>
    </body>
    <body name="ball" pos="1 0 1"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="2"/></body>
  </worldbody>
  <actuator>
    <position name="servo" joint="shoulder" kp="50" kv="4" forcerange="-20 20" ctrlrange="-1 1"/>
    <motor name="push" joint="one" gear="3" ctrlrange="-1 1"/>
  </actuator>
  <equality><joint joint1="two" joint2="one" polycoef="0 -1 0 0 0"/></equality>
  <contact><exclude body1="one" body2="two"/></contact>
</mujoco>
"""


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """The rotation (3, 3) about a unit axis, by Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def placed(position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix


def about(place: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """A rotation about a point, (4, 4)."""
    return placed(place - rotation @ place, rotation)


class RandomTree:
    """A random tree of bodies: its text, and where its bodies are for values of the joints.

    parts: (name, parent, pose, joints) of each body; joints: (name, type, place, axis, reference).
    """

    def __init__(self, seed: int, count: int = 5) -> None:
        rng = np.random.default_rng(seed)
        self.rng, self.parts = rng, []
        for number in range(count):
            turn = turned(self.unit(), rng.uniform(-3, 3))
            parent = int(rng.integers(-1, number)) if number else -1
            self.parts.append((f"b{number}", parent, placed(rng.uniform(-1, 1, 3), turn), self.joints(number)))

    def unit(self) -> np.ndarray:
        vector = self.rng.normal(size=3)
        return vector / np.linalg.norm(vector)

    def joints(self, number: int) -> list[tuple[str, str, np.ndarray, np.ndarray, float]]:
        kind = int(self.rng.integers(0, 5))
        place, name = self.rng.uniform(-0.2, 0.2, 3), f"j{number}"
        if kind == 0:
            return []
        if kind == 1:
            return [(name, "hinge", place, self.unit(), float(self.rng.uniform(-1, 1)))]
        if kind == 2:
            return [(name, "slide", place, self.unit(), float(self.rng.uniform(-0.2, 0.2)))]
        frame = np.linalg.qr(self.rng.normal(size=(3, 3)))[0]
        if kind == 3:  # at right angles, as one joint of USD can be
            few, many = int(self.rng.integers(0, 3)), int(self.rng.integers(1, 4))
            starts = self.rng.uniform(-0.5, 0.5, 6) * int(self.rng.integers(0, 2))
            slides = [(f"{name}s{k}", "slide", place, frame[:, k], float(starts[k])) for k in range(few)]
            hinges, passed = [], np.eye(3)
            for k in range(many):
                axis = passed @ frame[:, 2 - k]  # at right angles where all angles are zero
                hinges.append((f"{name}h{k}", "hinge", place, axis, float(starts[3 + k])))
                passed = turned(axis, float(starts[3 + k])) @ passed
            return [*slides, *hinges]
        return [(f"{name}h{k}", "hinge", place + 0.1 * k, self.unit(), 0.1 * k) for k in range(2)]

    def text(self) -> str:
        def row(values: object) -> str:
            return " ".join(repr(float(value)) for value in np.ravel(values))

        def body(number: int) -> str:
            name, _, pose, joints = self.parts[number]
            axes = row(np.concatenate((pose[:3, 0], pose[:3, 1])))
            inner = "".join(
                f'<joint name="{joint}" type="{kind}" pos="{row(place)}" axis="{row(axis)}" ref="{reference!r}"/>'
                for joint, kind, place, axis, reference in joints
            )
            inner += f'<geom name="g{number}" type="box" size="0.1 0.2 0.3"/>'
            inner += "".join(body(child) for child in range(len(self.parts)) if self.parts[child][1] == number)
            return f'<body name="{name}" pos="{row(pose[:3, 3])}" xyaxes="{axes}">{inner}</body>'

        roots = "".join(body(number) for number in range(len(self.parts)) if self.parts[number][1] < 0)
        return f'<mujoco model="tree"><compiler angle="radian"/><worldbody>{roots}</worldbody></mujoco>'

    def values(self) -> dict[str, float]:
        names = [joint[0] for part in self.parts for joint in part[3]]
        return {name: float(self.rng.uniform(-0.9, 0.9)) for name in names}

    def worlds(self, values: dict[str, float]) -> dict[str, np.ndarray]:
        """Matrices (4, 4) by name of a body: each joint moves all that come after it in the body."""
        found: list[np.ndarray] = []
        for _, parent, pose, joints in self.parts:
            world = (found[parent] if parent >= 0 else np.eye(4)) @ pose
            for name, kind, place, axis, reference in joints:
                value = values[name] - reference
                moved = about(place, turned(axis, value)) if kind == "hinge" else placed(axis * value, np.eye(3))
                world = world @ moved
            found.append(world)
        return {part[0]: world for part, world in zip(self.parts, found, strict=True)}
