"""Models of SDF for the tests: one by hand, and random ones whose answer is known before their text is written."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

ARM = """<?xml version="1.0"?>
<sdf version="1.9">
  <model name="arm">
    <link name="base">
      <pose>0 0 0.1 0 0 0</pose>
      <inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.02</iyy><izz>0.03</izz></inertia></inertial>
      <collision name="base_box"><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision>
      <visual name="base_look">
        <geometry><box><size>0.2 0.2 0.2</size></box></geometry>
        <material><diffuse>0.8 0.1 0.1 1</diffuse></material>
      </visual>
    </link>
    <joint name="anchor" type="fixed"><parent>world</parent><child>base</child></joint>
    <link name="upper">
      <pose relative_to="shoulder">0 0 0.2 0 0 0</pose>
      <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.001</izz></inertia></inertial>
      <collision name="upper_bar">
        <geometry><cylinder><radius>0.03</radius><length>0.4</length></cylinder></geometry>
        <surface>
          <bounce><restitution_coefficient>0.25</restitution_coefficient></bounce>
          <friction><ode><mu>0.4</mu><mu2>0.4</mu2></ode></friction>
        </surface>
      </collision>
    </link>
    <joint name="shoulder" type="revolute">
      <pose relative_to="base">0 0 0.1 0 0 0</pose>
      <parent>base</parent><child>upper</child>
      <axis>
        <xyz>0 1 0</xyz>
        <limit><lower>-1</lower><upper>1.5</upper><effort>20</effort><velocity>3</velocity></limit>
        <dynamics><damping>0.5</damping><friction>0.1</friction></dynamics>
      </axis>
    </joint>
    <frame name="tip" attached_to="upper"><pose>0 0 0.2 0 0 0</pose></frame>
    <link name="finger"><pose relative_to="tip"/></link>
    <joint name="slide" type="prismatic">
      <parent>upper</parent><child>finger</child>
      <axis><xyz>1 0 0</xyz><limit><lower>0</lower><upper>0.05</upper></limit></axis>
    </joint>
    <link name="other"><pose relative_to="tip">0 0.1 0 0 0 0</pose></link>
    <joint name="follows" type="prismatic">
      <parent>upper</parent><child>other</child>
      <axis>
        <xyz>-1 0 0</xyz><limit><lower>-1</lower><upper>1</upper></limit>
        <mimic joint="slide"><multiplier>2</multiplier><offset>0.01</offset><reference>0.02</reference></mimic>
      </axis>
    </joint>
  </model>
</sdf>
"""


def turn_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation (4, 4) about a unit vector, by Rodrigues."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    made = np.eye(4)
    made[:3, :3] += np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    return made


def pose_of(x: float, y: float, z: float, roll: float, pitch: float, yaw: float) -> np.ndarray:
    made = (
        turn_about(np.array([0.0, 0.0, 1.0]), yaw)
        @ turn_about(np.array([0.0, 1.0, 0.0]), pitch)
        @ turn_about(np.array([1.0, 0.0, 0.0]), roll)
    )
    made[:3, 3] = x, y, z
    return made


def pose_text(matrix: np.ndarray, rng: random.Random) -> tuple[str, str]:
    """(attributes, text) of a pose: radians, degrees or a quaternion."""
    place = " ".join(repr(float(value)) for value in matrix[:3, 3])
    turn = matrix[:3, :3]
    roll, yaw = np.arctan2(turn[2, 1], turn[2, 2]), np.arctan2(turn[1, 0], turn[0, 0])
    pitch = np.arctan2(-turn[2, 0], np.hypot(turn[2, 1], turn[2, 2]))
    angles = np.array([roll, pitch, yaw])
    kind = rng.randrange(3)
    if kind == 0:
        return "", f"{place} {' '.join(repr(float(value)) for value in angles)}"
    if kind == 1:
        return ' degrees="true"', f"{place} {' '.join(repr(float(value)) for value in np.degrees(angles))}"
    half = angles / 2
    (sr, sp, sy), (cr, cp, cy) = np.sin(half), np.cos(half)
    quaternion = (
        sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy,
    )  # fmt: skip
    return ' rotation_format="quat_xyzw"', f"{place} {' '.join(repr(float(value)) for value in quaternion)}"


@dataclass
class Tree:
    """A random model. text: of the SDF. links: pose (4, 4) in the world by full name.

    joints: by full name: type, parent, child, pose (4, 4) in the world, unit vector in the world.
    """

    text: str = ""
    links: dict[str, np.ndarray] = field(default_factory=dict)
    joints: dict[str, tuple[str, str, str, np.ndarray, np.ndarray]] = field(default_factory=dict)

    def at(self, coordinates: dict[str, float]) -> dict[str, np.ndarray]:
        """Pose (4, 4) of each link in the world, with the joints at these coordinates."""
        moved: dict[str, np.ndarray] = {"world": np.eye(4)}
        places = {**self.links, "world": np.eye(4)}
        pending = dict(self.joints)
        children = {joint[2] for joint in pending.values()}
        moved |= {name: place for name, place in places.items() if name not in children}
        while pending:
            for name, (kind, parent, child, pose, axis) in list(pending.items()):
                if parent not in moved:
                    continue
                value = coordinates.get(name, 0.0)
                motion = np.eye(4)
                if kind in ("revolute", "continuous"):
                    there = np.eye(4)
                    there[:3, 3] = pose[:3, 3]
                    motion = there @ turn_about(axis, value) @ np.linalg.inv(there)
                elif kind == "prismatic":
                    motion[:3, 3] = axis * value
                moved[child] = moved[parent] @ np.linalg.inv(places[parent]) @ motion @ places[child]
                del pending[name]
        return moved


def random_tree(seed: int) -> Tree:
    """Links in nested models whose poses are relative to anything that has a name."""
    rng = random.Random(seed)
    tree = Tree()

    def place() -> np.ndarray:
        return pose_of(*(rng.uniform(-1, 1) for _ in range(3)), *(rng.uniform(-3, 3) for _ in range(3)))

    def model(name: str, above: np.ndarray, prefix: str, depth: int, pose: str) -> tuple[str, list[str]]:
        """(text, full names of links) of a model whose frame is at a place in the world."""
        known: dict[str, np.ndarray] = {"__model__": above}
        parts: list[str] = []
        own: list[str] = []

        def placed(tag: str, world: np.ndarray, usual: str) -> str:
            """A pose relative to something that is known, or to what is usual."""
            base = rng.choice([*known, ""])
            origin = known[base or usual]
            attributes, text = pose_text(np.linalg.inv(origin) @ world, rng)
            return f"<pose{attributes}{f' relative_to={base!r}' if base else ''}>{text}</pose>".replace("'", '"')

        for index in range(rng.randrange(1, 5)):
            link = f"l{index}"
            world = place()
            parts.append(f'<link name="{link}">{placed("link", world, "__model__")}</link>')
            known[link] = tree.links[prefix + link] = world
            own.append(prefix + link)
            if rng.random() < 0.5:
                frame, world = f"f{index}", place()
                held = rng.choice([one for one in known if one != "__model__"])
                parts.append(f'<frame name="{frame}" attached_to="{held}">{placed("frame", world, held)}</frame>')
                known[frame] = world
        if depth < 2 and rng.random() < 0.7:
            inner = f"m{depth}"
            world = place()
            attributes, words = pose_text(np.linalg.inv(above) @ world, rng)
            text, more = model(inner, world, f"{prefix}{inner}::", depth + 1, f"<pose{attributes}>{words}</pose>")
            parts.append(text)
            own += more
        rng.shuffle(own)
        hung = own[:1]
        for full in own[1:]:
            local = full.removeprefix(prefix)
            if any(joint[2] == full for joint in tree.joints.values()):
                hung.append(full)
                continue
            # Only those that no joint of an inner model leads to can be the parent of none of their own.
            parent = rng.choice(hung)
            above_it, cycle = parent, False
            while (upper := next((j[1] for j in tree.joints.values() if j[2] == above_it), None)) is not None:
                above_it, cycle = upper, cycle or upper == full
            if cycle or above_it == full:
                hung.append(full)
                continue
            kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"])
            world = place()
            axis = np.array([rng.gauss(0, 1) for _ in range(3)])
            axis /= np.linalg.norm(axis)
            expressed = rng.choice([*known, ""])
            base = known[expressed] if expressed else world
            words = " ".join(repr(float(value)) for value in base[:3, :3].T @ axis)
            limit = "<limit><lower>-0.5</lower><upper>0.7</upper></limit>" if kind in ("revolute", "prismatic") else ""
            said = f' expressed_in="{expressed}"' if expressed else ""
            joint = f"j{len(tree.joints)}"
            usual = tree.links[full]
            base_name = rng.choice([*known, ""])
            origin = known[base_name] if base_name else usual
            attributes, pose_words = pose_text(np.linalg.inv(origin) @ world, rng)
            if base_name:
                attributes += f' relative_to="{base_name}"'
            axis_text = f"<axis><xyz{said}>{words}</xyz>{limit}</axis>" if kind != "fixed" else ""
            parts.append(
                f'<joint name="{joint}" type="{kind}"><pose{attributes}>{pose_words}</pose>'
                f"<parent>{parent.removeprefix(prefix)}</parent><child>{local}</child>{axis_text}</joint>"
            )
            tree.joints[prefix + joint] = (kind, parent, full, world, axis)
            hung.append(full)
        return f'<model name="{name}">{pose}{"".join(parts)}</model>', own

    top = place()
    attributes, words = pose_text(top, rng)
    text, _ = model("robot", top, "", 0, f"<pose{attributes}>{words}</pose>")
    tree.text = f'<sdf version="1.9">{text}</sdf>'
    return tree
