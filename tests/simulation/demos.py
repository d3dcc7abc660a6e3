# SPDX-License-Identifier: GPL-3.0-or-later
"""Small assets as we would publish them, and the faults that somebody may put into them."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .author import CENTIMETERS, METERS, File, Units

#: Of joints that speak to three simulators at once.
SPOKEN = ("NewtonJointAPI", "MjcJointAPI", "PhysxJointAxisAPI:angular")


def spoken(friction: float, armature: float, damping: float) -> list[str]:
    """The same numbers for Newton, MuJoCo and PhysX, N m and kg m2, in metres and kilograms."""
    degree = 57.29577951308232
    return [
        f"float newton:friction = {friction}", f"float newton:armature = {armature}",
        f"float newton:damping = {damping / degree}",
        f"float mjc:frictionloss = {friction}", f"float mjc:armature = {armature}", f"float mjc:damping = {damping}",
        f"float physxJointAxis:angular:dynamicFrictionEffort = {friction}",
        f"float physxJointAxis:angular:armature = {armature}",
        f"float physxJointAxis:angular:viscousFrictionCoefficient = {damping / degree}",
    ]  # fmt: skip


def arm(units: Units = METERS) -> str:
    """A fixed arm with two servos, which speak to three simulators where the unit is a metre."""
    file = File(units)
    speaks = units is METERS
    words: dict = {"apis": SPOKEN, "lines": spoken(0.5, 0.02, 0.3)} if speaks else {}
    file.add(file.body("Base", (0, 0, 0.5), mass=5.0, size=(0.3, 0.3, 1)))
    file.add(file.body("Upper", (0.5, 0, 1.1), mass=2.0, size=(0.9, 0.1, 0.1), inertia=(0.004, 0.14, 0.14)))
    file.add(file.body("Lower", (1.5, 0, 1.1), mass=1.0, size=(0.9, 0.08, 0.08)))
    file.add(file.joint("Fix", "Fixed", "", "/World/Base", pos0=(0, 0, 0.5)))
    file.add(file.joint(
        "Shoulder", "Revolute", "/World/Base", "/World/Upper", pos0=(0, 0, 0.6), pos1=(-0.5, 0, 0), axis="Y",
        low=-1.2, high=1.2, drives={"angular": {"stiffness": 900.0, "damping": 60.0, "maxForce": 200.0}}, **words,
    ))  # fmt: skip
    file.add(file.joint(
        "Elbow", "Revolute", "/World/Upper", "/World/Lower", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0), axis="Y",
        low=-1.5, high=1.0, drives={"angular": {"stiffness": 300.0, "damping": 20.0, "maxForce": 60.0}},
    ))  # fmt: skip
    return file.text()


def door(units: Units = METERS) -> str:
    """A leaf on a frame that stands, with friction in the hinge."""
    file = File(units)
    apis, lines = (("NewtonJointAPI",), ["float newton:friction = 1.0"]) if units is METERS else ((), ())
    file.add(file.ground())
    file.add(file.body("Frame", (0, 0, 1.05), dynamic=False, size=(0.1, 0.1, 2.1)))
    file.add(file.body("Leaf", (0.5, 0, 1.05), mass=20.0, size=(0.8, 0.04, 2.0)))
    file.add(file.joint(
        "Hinge", "Revolute", "/World/Frame", "/World/Leaf", pos0=(0.08, 0, 0), pos1=(-0.42, 0, 0), axis="Z", low=0.0,
        high=1.9, apis=apis, lines=lines,
    ))  # fmt: skip
    return file.text()


def drawer(units: Units = METERS) -> str:
    """A drawer in a case, held by a spring."""
    file = File(units)
    file.add(file.ground())
    file.add(file.body("Case", (0, 0, 0.3), dynamic=False, size=(0.5, 0.6, 0.6)))
    file.add(file.body("Drawer", (0, 0.7, 0.4), mass=3.0, size=(0.4, 0.5, 0.15)))
    file.add(file.joint(
        "Slide", "Prismatic", "/World/Case", "/World/Drawer", pos0=(0, 0.7, 0.1), axis="Y", low=0.0, high=0.4,
        drives={"linear": {"stiffness": 200.0, "damping": 60.0, "targetPosition": 0.1, "maxForce": 80.0}},
    ))  # fmt: skip
    return file.text()


def crates(units: Units = METERS) -> str:
    """A stack of crates with a material, and a lamp that is let through by a filter."""
    file = File(units)
    file.add(file.material("Wood", 0.6))
    for number in range(3):
        file.add(file.body(f"Crate{number}", (0, 0, 0.25 + 0.5 * number), mass=8.0, size=(0.5, 0.5, 0.5),
                           material="/World/Wood"))  # fmt: skip
    for name in ("Rod", "Ring"):
        other = {"Rod": "/World/Ring", "Ring": "/World/Rod"}[name]
        size = (0.1, 0.1, 1.0) if name == "Rod" else (0.4, 0.4, 0.1)
        place = (2, 0, 0.5) if name == "Rod" else (2, 0, 0.05)
        file.add(file.body(name, place, mass=1.0, size=size, apis=("PhysicsFilteredPairsAPI",),
                           extra=(f"rel physics:filteredPairs = <{other}>",)))  # fmt: skip
    return file.text()


def cart(units: Units = METERS) -> str:
    """A free cart on four wheels, without a motor."""
    file = File(units)
    file.add(file.material("Rubber", 0.9))
    file.add(file.body("Chassis", (0, 0, 0.4), mass=20.0, size=(1.2, 0.6, 0.2)))
    for number, (x, y) in enumerate(((0.4, 0.4), (0.4, -0.4), (-0.4, 0.4), (-0.4, -0.4))):
        file.add(file.body(
            f"Wheel{number}", (x, y, 0.25), mass=2.0, collides=True,
            geometry=file.shape("Shape", "Cylinder", (0.25, 0.1), axis="Y", material="/World/Rubber"),
        ))  # fmt: skip
        file.add(file.joint(f"Axle{number}", "Revolute", "/World/Chassis", f"/World/Wheel{number}",
                            pos0=(x, y, -0.15), axis="Y"))  # fmt: skip
    return file.text()


def pendulum(units: Units = METERS) -> str:
    """A bar that hangs from the world and swings."""
    file = File(units)
    file.add(file.body("Bar", (0.5, 0, 2), mass=1.5, size=(1.0, 0.05, 0.05)))
    file.add(file.joint("Pin", "Revolute", "", "/World/Bar", pos0=(0, 0, 2), pos1=(-0.5, 0, 0), axis="Y"))
    return file.text()


def lift(units: Units = METERS) -> str:
    """A platform that a drive holds up, with a crate on it."""
    file = File(units)
    file.add(file.body("Platform", (0, 0, 1), mass=10.0, size=(1.0, 1.0, 0.1)))
    file.add(file.body("Load", (0, 0, 1.2), mass=5.0, size=(0.3, 0.3, 0.3)))
    file.add(file.joint(
        "Rail", "Prismatic", "", "/World/Platform", pos0=(0, 0, 1), axis="Z", low=-0.8, high=2.0,
        drives={"linear": {"stiffness": 20000.0, "damping": 2000.0, "maxForce": 1500.0}},
    ))  # fmt: skip
    return file.text()


def ball(units: Units = METERS) -> str:
    """A ball that bounces, and a box that slides, on a floor of their own."""
    file = File(units)
    file.add(file.material("Floor", 0.3, 0.5), file.material("Rubber", 0.3, 0.5))
    file.add(file.ground(material="/World/Floor"))
    file.add(file.body("Ball", (0, 0, 0.7), shape="Sphere", size=(0.2, 0, 0), mass=1.0, material="/World/Rubber"))
    file.add(file.body("Box", (1, 0, 0.15), size=(0.5, 0.5, 0.3), mass=2.0, velocity=(1.5, 0, 0),
                       material="/World/Floor"))  # fmt: skip
    return file.text()


def chain(units: Units = METERS) -> str:
    """Three links that hang from the world by ball joints."""
    file = File(units)
    for number in range(3):
        file.add(file.body(f"Link{number}", (0, 0, 2.7 - 0.5 * number), mass=1.0, size=(0.1, 0.1, 0.4),
                           velocity=(0.4 * number, 0, 0)))  # fmt: skip
        above = f"/World/Link{number - 1}" if number else ""
        place = (0, 0, -0.25) if number else (0, 0, 2.95)
        file.add(file.joint(f"Ball{number}", "Spherical", above, f"/World/Link{number}", pos0=place,
                            pos1=(0, 0, 0.25)))  # fmt: skip
    return file.text()


def lid(units: Units = METERS) -> str:
    """A chest that stands free, with a lid that friction holds."""
    file = File(units)
    file.add(file.body("Chest", (0, 0, 0.2), mass=10.0, size=(0.6, 0.4, 0.4)))
    file.add(file.body("Lid", (0, 0, 0.43), mass=2.0, size=(0.6, 0.4, 0.04)))
    file.add(file.joint("Hinge", "Revolute", "/World/Chest", "/World/Lid", pos0=(0, 0.2, 0.23), pos1=(0, 0.2, 0),
                        axis="X", low=-1.6, high=0.0))  # fmt: skip
    return file.text()


DEMOS: dict[str, Callable[[Units], str]] = {
    demo.__name__: demo for demo in (arm, door, drawer, crates, cart, pendulum, lift, ball, chain, lid)
}
CLEAN = [(name, units) for name in DEMOS for units in (METERS, CENTIMETERS)]


#: Sections that need no second file.
ALONE = frozenset({"asset", "words", "joints"})


class Fault(NamedTuple):
    """An edit of a stage of a demo. attribute: that the certificate names as a cause, of this prim. against: the clean
    demo is at hand, as for a file that an export or a second author has changed. sections: of the certificate, which
    are looked at."""

    name: str
    demo: str
    edit: Callable[[Any], None]
    attribute: str
    prim: str
    against: bool = False

    @property
    def sections(self) -> frozenset[str]:
        if self.against:
            return frozenset({"against"})
        return frozenset({"words"} if self.prim == "Shoulder" and "drive:" not in self.attribute else ALONE)


def put(prim: str, name: str, value: object) -> Callable[[Any], None]:
    """Set an attribute that is there."""

    def edit(stage: Any) -> None:
        attribute = stage.GetPrimAtPath(f"/World/{prim}").GetAttribute(name)
        assert attribute.IsAuthored(), name
        attribute.Set(value)

    return edit


def drop(prim: str, name: str) -> Callable[[Any], None]:
    """Remove an attribute or relationship."""

    def edit(stage: Any) -> None:
        owner = stage.GetPrimAtPath(f"/World/{prim}")
        assert owner.GetProperty(name).IsAuthored(), name
        owner.RemoveProperty(name)

    return edit


def give(prim: str, api: str, name: str, type_name: str, value: object) -> Callable[[Any], None]:
    """Apply a schema and set an attribute of it, or a relationship if the type is "rel"."""

    def edit(stage: Any) -> None:
        from pxr import Sdf

        owner = stage.GetPrimAtPath(f"/World/{prim}")
        if api:
            owner.AddAppliedSchema(api)
        if type_name == "rel":
            owner.CreateRelationship(name).SetTargets([value])
        else:
            owner.CreateAttribute(name, getattr(Sdf.ValueTypeNames, type_name)).Set(value)

    return edit


def both(*edits: Callable[[Any], None]) -> Callable[[Any], None]:
    """Several edits."""

    def edit(stage: Any) -> None:
        for one in edits:
            one(stage)

    return edit


_PAIRS, _INERTIA = "physics:filteredPairs", "physics:diagonalInertia"
_PHYSX = "physxJointAxis:angular"
_STEP = "drive:angular:physics"
FAULTS = [
    Fault("friction_newton", "arm", put("Shoulder", "newton:friction", 50.0), "newton:friction", "Shoulder"),
    Fault("friction_physx_degrees", "arm", put("Shoulder", f"{_PHYSX}:dynamicFrictionEffort", 28.65),
          f"{_PHYSX}:dynamicFrictionEffort", "Shoulder"),
    Fault("friction_mujoco", "arm", put("Shoulder", "mjc:frictionloss", 5.0), "mjc:frictionloss", "Shoulder"),
    Fault("armature_newton", "arm", put("Shoulder", "newton:armature", 2.0), "newton:armature", "Shoulder"),
    Fault("armature_centimetres", "arm", put("Shoulder", f"{_PHYSX}:armature", 200.0), f"{_PHYSX}:armature",
          "Shoulder"),
    Fault("damping_mujoco_degrees", "arm", put("Shoulder", "mjc:damping", 17.19), "mjc:damping", "Shoulder"),
    Fault("damping_physx_radians", "arm", put("Shoulder", f"{_PHYSX}:viscousFrictionCoefficient", 0.3),
          f"{_PHYSX}:viscousFrictionCoefficient", "Shoulder"),
    Fault("filter_dropped", "crates", both(drop("Rod", _PAIRS), drop("Ring", _PAIRS)), _PAIRS, "Rod"),
    Fault("filter_of_the_floor", "ball", give("Ball", "PhysicsFilteredPairsAPI", _PAIRS, "rel", "/World/Ground"),
          _PAIRS, "Ball"),
    Fault("collision_off", "crates", give("Crate0/Shape", "", "physics:collisionEnabled", "Bool", False),
          "physics:collisionEnabled", "Crate0/Shape"),
    Fault("inertia_impossible", "arm", put("Upper", _INERTIA, (0.004, 0.14, 1.4)), _INERTIA, "Upper"),
    Fault("inertia_centimetres", "arm", put("Upper", _INERTIA, (40.0, 1400.0, 1400.0)), _INERTIA, "Upper"),
    Fault("mass_grams", "crates", put("Crate1", "physics:mass", 8000.0), "physics:mass", "Crate1"),
    Fault("center_centimetres", "lift", give("Load", "", "physics:centerOfMass", "Point3f", (10.0, 0.0, 0.0)),
          "physics:centerOfMass", "Load"),
    Fault("limit_excludes_start", "door", put("Hinge", "physics:lowerLimit", 20.0), "physics:lowerLimit", "Hinge"),
    Fault("target_centimetres", "drawer", put("Slide", "drive:linear:physics:targetPosition", 10.0),
          "drive:linear:physics:targetPosition", "Slide"),
    Fault("force_too_small", "arm", put("Shoulder", f"{_STEP}:maxForce", 5.0), f"{_STEP}:maxForce", "Shoulder"),
    Fault("stiffness_radians", "arm", put("Elbow", f"{_STEP}:stiffness", 300.0 / 57.3**2), f"{_STEP}:stiffness",
          "Elbow"),
    Fault("friction_above_force", "arm", give("Elbow", "NewtonJointAPI", "newton:friction", "Float", 100.0),
          "newton:friction", "Elbow"),
    Fault("speed_limit", "arm", give("Elbow", "NewtonJointAPI", "newton:velocityLimit", "Float", 0.5),
          "newton:velocityLimit", "Elbow"),
    Fault("limit_dropped", "door", drop("Hinge", "physics:upperLimit"), "physics:upperLimit", "Hinge", True),
    Fault("axis", "arm", put("Shoulder", "physics:axis", "X"), "physics:axis", "Shoulder", True),
    Fault("limit_radians", "arm", put("Elbow", "physics:upperLimit", 1.0), "physics:upperLimit", "Elbow", True),
    Fault("mass", "arm", put("Lower", "physics:mass", 0.1), "physics:mass", "Lower", True),
    Fault("inertia_five_times", "arm", put("Upper", _INERTIA, (0.02, 0.7, 0.7)), _INERTIA, "Upper", True),
    Fault("damping_radians", "drawer", put("Slide", "drive:linear:physics:damping", 1.0),
          "drive:linear:physics:damping", "Slide", True),
    Fault("friction_of_a_material", "ball", put("Floor", "physics:dynamicFriction", 0.03), "physics:dynamicFriction",
          "Floor", True),
    Fault("bounce_dropped", "ball", put("Rubber", "physics:restitution", 0.0), "physics:restitution", "Rubber", True),
    Fault("frame", "pendulum", put("Pin", "physics:localPos1", (-0.05, 0, 0)), "physics:localPos1", "Pin", True),
    Fault("joint_disabled", "chain", give("Ball2", "", "physics:jointEnabled", "Bool", False),
          "physics:jointEnabled", "Ball2", True),
    Fault("velocity_dropped", "ball", drop("Box", "physics:velocity"), "physics:velocity", "Box", True),
    Fault("kinematic", "chain", give("Link1", "", "physics:kinematicEnabled", "Bool", True),
          "physics:kinematicEnabled", "Link1", True),
    Fault("drive_type", "drawer", give("Slide", "", "drive:linear:physics:type", "Token", "acceleration"),
          "drive:linear:physics:type", "Slide", True),
]  # fmt: skip
