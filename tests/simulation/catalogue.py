# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of every kind of joint and most other things, for tests and for comparison with another simulator.

Each takes a `File` and fills it; none has chaotic contact within a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .author import DEGREE, File, about, block

Scene = Callable[[File], None]
SCENES: dict[str, Scene] = {}
W = "/World"
NEVER = (1.0, -1.0)
ROD = {"size": (1.0, 0.1, 0.1), "mass": 2.0, "inertia": (0.003, 0.17, 0.17)}


def scene(fill: Scene) -> Scene:
    SCENES[fill.__name__] = fill
    return fill


@scene
def free_fall(file: File) -> None:
    file.add(file.body("Ball", (1, 2, 10), shape="Sphere", size=(0.3,)))


@scene
def projectile(file: File) -> None:
    """Not turned: PhysX takes velocities in world space, the specification in the body's."""
    file.add(file.body("Ball", (0, 0, 5), shape="Sphere", size=(0.2,), velocity=(4, 1, 3), spin=(0, 2, 0)))


@scene
def tumbling(file: File) -> None:
    """Free rotation about an axis between: gyroscopic."""
    file.gravity = (0, 0, 0)
    file.add(file.body("Brick", (0, 0, 0), size=(1, 0.5, 0.2), inertia=(0.02, 0.09, 0.1), spin=(1.0, 3.0, 0.4)))


@scene
def revolute_pendulum(file: File) -> None:
    file.add(file.body("Rod", (0.5, 0, 3), **ROD))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Rod", pos0=(0, 0, 3), pos1=(-0.5, 0, 0), axis="Y"))


@scene
def revolute_limit(file: File) -> None:
    file.add(file.body("Rod", (0.5, 0, 3), **ROD))
    file.add(
        file.joint("Hinge", "Revolute", "", f"{W}/Rod", pos0=(0, 0, 3), pos1=(-0.5, 0, 0), axis="Y",
                   low=-0.6, high=0.5)
    )  # fmt: skip


@scene
def spherical_pendulum(file: File) -> None:
    file.add(file.body("Rod", (0.5, 0, 3), velocity=(0, 1, 0), spin=(0, 0, 2), **ROD))
    file.add(file.joint("Ball", "Spherical", "", f"{W}/Rod", pos0=(0, 0, 3), pos1=(-0.5, 0, 0), axis="Z"))


@scene
def spherical_cone(file: File) -> None:
    """Hangs from a cone about Z and is pressed against its limit."""
    file.gravity = (4.0, 2.0, -9.0)
    file.add(file.body("Bob", (0, 0, 2), size=(0.2, 0.2, 0.2), mass=3.0))
    file.add(file.joint("Cone", "Spherical", "", f"{W}/Bob", pos0=(0, 0, 3), pos1=(0, 0, 1), axis="Z", cone=(0.2, 0.2)))


@scene
def prismatic_slide(file: File) -> None:
    file.add(file.body("Slider", (0, 0, 2), about("Y", 30), size=(0.3, 0.3, 0.3), mass=2.0))
    file.add(
        file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(0, 0, 2), rot0=about("Y", 30), axis="X",
                   low=-5, high=1.5)
    )  # fmt: skip


@scene
def fixed_weld(file: File) -> None:
    file.add(file.body("A", (0, 0, 5), size=(0.5, 0.5, 0.5), mass=2.0, velocity=(1, 0, 2), spin=(0, 1, 0)))
    file.add(file.body("B", (1, 0, 5), size=(0.5, 0.5, 0.5), mass=2.0, velocity=(1, 0, 1), spin=(0, 1, 0)))
    file.add(file.joint("Weld", "Fixed", f"{W}/A", f"{W}/B", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0)))


@scene
def distance_max(file: File) -> None:
    """PhysX lets a rope stretch by 25 mm before it holds: the way has to be long."""
    file.add(file.body("Bob", (4, 0, 9), shape="Sphere", size=(0.1,), mass=1.5, velocity=(0, 0.5, 0)))
    file.add(file.joint("Rope", "Distance", "", f"{W}/Bob", pos0=(0, 0, 9), distance=(-1, 4.0)))


@scene
def distance_min(file: File) -> None:
    """Falls onto an invisible ball and stays on top of it; PhysX lets it in by 25 mm."""
    file.add(file.body("Bob", (0.0, 0, 6.5), shape="Sphere", size=(0.1,), mass=1.5))
    file.add(file.joint("Strut", "Distance", "", f"{W}/Bob", pos0=(0, 0, 2.5), distance=(1.0, -1)))


@scene
def d6_slide_and_turn(file: File) -> None:
    """Slides along X within limits, turns about X freely; the rest is locked."""
    file.add(file.body("Thing", (0, 0, 2), about("Y", 40), size=(0.4, 0.2, 0.1), mass=2.0, spin=(2, 0, 0)))
    file.add(
        file.joint("D6", "D6", "", f"{W}/Thing", pos0=(0, 0, 2), rot0=about("Y", 40),
                   limits={"transX": (-3, 0.8), "transY": NEVER, "transZ": NEVER, "rotY": NEVER, "rotZ": NEVER})
    )  # fmt: skip


@scene
def d6_driven(file: File) -> None:
    """The driven joint of the specification: constant speed about Z."""
    file.add(file.body("Arm", (0, 0.5, 2), size=(0.1, 1, 0.1), mass=1.0, inertia=(0.08, 0.002, 0.08)))
    every = ("transX", "transY", "transZ", "rotX", "rotY")
    file.add(
        file.joint("D6", "D6", "", f"{W}/Arm", pos0=(0, 0, 2), pos1=(0, -0.5, 0),
                   limits=dict.fromkeys(every, NEVER), drives={"rotZ": {"targetVelocity": 1.0, "damping": 50.0}})
    )  # fmt: skip


@scene
def drive_force(file: File) -> None:
    """Spring and damper along X: 1 Hz, damping ratio 0.2, 3 kg."""
    file.gravity = (0, 0, 0)
    rate = 2 * math.pi
    file.add(file.body("Slider", (0, 0, 1), size=(0.3, 0.3, 0.3), mass=3.0))
    file.add(
        file.joint("Rail", "Prismatic", "", f"{W}/Slider", pos0=(0, 0, 1), axis="X",
                   drives={"linear": {"stiffness": 3 * rate**2, "damping": 3 * 0.4 * rate, "targetPosition": 0.5}})
    )  # fmt: skip


@scene
def drive_acceleration(file: File) -> None:
    """The same for any mass and inertia, about an axis."""
    file.gravity = (0, 0, 0)
    rate = 2 * math.pi
    drive = {"type": "acceleration", "stiffness": rate**2, "damping": 0.4 * rate, "targetPosition": 0.5}
    file.add(file.body("Wheel", (0, 0, 1), size=(0.3, 0.3, 0.3), mass=5.0, inertia=(0.3, 0.3, 0.4)))
    file.add(file.joint("Hinge", "Revolute", "", f"{W}/Wheel", pos0=(0, 0, 1), axis="Z", drives={"angular": drive}))


@scene
def drive_max_force(file: File) -> None:
    """A drive that would hold the weight if it were allowed to."""
    file.add(file.body("Lift", (0, 0, 5), size=(0.3, 0.3, 0.3), mass=2.0))
    file.add(
        file.joint("Rail", "Prismatic", "", f"{W}/Lift", pos0=(0, 0, 5), axis="Z",
                   drives={"linear": {"stiffness": 1e3, "targetPosition": 9.0, "maxForce": 5.0}})
    )  # fmt: skip


@scene
def incline(file: File) -> None:
    """A box slides down 30 degrees with friction 0.3."""
    rotation = about("Y", 30)
    angle = 30 * DEGREE
    up = (math.sin(angle) * 0.25, 0, math.cos(angle) * 0.25)
    file.add(
        file.material("Ice", 0.3), file.ground(material=f"{W}/Ice", tilt=30),
        file.body("Box", up, rotation, size=(0.5, 0.5, 0.5), mass=2.0, material=f"{W}/Ice"),
    )  # fmt: skip


@scene
def center_of_mass(file: File) -> None:
    """Hangs on a ball joint at its middle with the centre of mass aside."""
    file.add(
        file.body("Box", (0, 0, 2), size=(0.5, 0.5, 0.5), mass=2.0, center=(0.2, 0, 0), inertia=(0.05, 0.06, 0.07))
    )
    file.add(file.joint("Ball", "Spherical", "", f"{W}/Box", pos0=(0, 0, 2), axis="X"))


@scene
def collision(file: File) -> None:
    """Two balls without friction or loss, 1 kg and 3 kg, head on.

    PhysX takes the moment to within a step: it is off by up to 65 mm after a second. From here it is off by 4 mm.
    """
    file.gravity = (0, 0, 0)
    file.add(
        file.material("Bouncy", 0.0, 1.0),
        file.body("Light", (-0.97, 0, 0), shape="Sphere", size=(0.25,), mass=1.0, velocity=(3, 0, 0),
                  material=f"{W}/Bouncy"),
        file.body("Heavy", (0, 0, 0), shape="Sphere", size=(0.25,), mass=3.0, material=f"{W}/Bouncy"),
    )  # fmt: skip


@scene
def articulated_arm(file: File) -> None:
    """Three driven links in reduced coordinates on a fixed base."""
    inside = [
        file.body("Base", (-0.1, 0, 3), size=(0.2, 0.2, 0.2), mass=5.0),
        file.joint("Foot", "Fixed", "", f"{W}/Arm/Base", pos0=(-0.1, 0, 3)),
    ]
    parent, offset, place = f"{W}/Arm/Base", 0.1, 0.0
    for number in range(3):
        path = f"{W}/Arm/Link{number}"
        inside.append(file.body(f"Link{number}", (place + 0.25, 0, 3), size=(0.5, 0.1, 0.1), mass=1.0,
                                inertia=(0.002, 0.022, 0.022)))  # fmt: skip
        drives = {"angular": {"stiffness": 60.0 / (1 + number), "damping": 6.0 / (1 + number), "targetPosition": 0.3}}
        inside.append(
            file.joint(f"Joint{number}", "Revolute", parent, path, pos0=(offset, 0, 0), pos1=(-0.25, 0, 0), axis="Y",
                       drives=drives)
        )  # fmt: skip
        parent, offset = path, 0.25
        place += 0.5
    file.add(block("Xform", "Arm", inside, ["PhysicsArticulationRootAPI"]))


@scene
def articulated_bent(file: File) -> None:
    """Begins with both joints turned; the drives of two links in reduced coordinates want them elsewhere."""
    inside = [
        file.body("Base", (0, 0, 3), size=(0.2, 0.2, 0.2), mass=5.0),
        file.joint("Foot", "Fixed", "", f"{W}/Arm/Base", pos0=(0, 0, 3)),
    ]
    joint, parent, offset, angle = (0.0, 0.0, 3.0), f"{W}/Arm/Base", 0.0, 0.0
    for number, turned in enumerate((40.0, 70.0)):
        angle += turned
        along = (math.cos(angle * DEGREE), 0.0, -math.sin(angle * DEGREE))
        middle = tuple(a + 0.25 * b for a, b in zip(joint, along, strict=True))
        path = f"{W}/Arm/Link{number}"
        inside.append(file.body(f"Link{number}", middle, about("Y", angle), size=(0.5, 0.1, 0.1), mass=1.0,
                                inertia=(0.002, 0.022, 0.022)))  # fmt: skip
        drive = {"angular": {"stiffness": 60.0, "damping": 5.0, "targetPosition": (turned - 60) * DEGREE}}
        inside.append(
            file.joint(f"Joint{number}", "Revolute", parent, path, pos0=(offset, 0, 0), pos1=(-0.25, 0, 0), axis="Y",
                       drives=drive)
        )  # fmt: skip
        parent, offset = path, 0.25
        joint = tuple(a + 0.5 * b for a, b in zip(joint, along, strict=True))
    file.add(block("Xform", "Arm", inside, ["PhysicsArticulationRootAPI"]))


@scene
def rider(file: File) -> None:
    """A box rests on another, on the ground; nothing happens."""
    file.add(file.ground())
    file.add(file.body("Lower", (0, 0, 0.5), mass=5.0), file.body("Upper", (0.1, 0, 1.25), size=(0.5, 0.5, 0.5)))
