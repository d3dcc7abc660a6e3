# SPDX-License-Identifier: GPL-3.0-or-later
"""USD files with physics, written as text in any units: values here are SI, radians and Z up.

Local axes of prims are the same in all files; the world of a Y-up file is turned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Vector = Sequence[float]
DEGREE = math.pi / 180.0
INF = math.inf
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Units:
    name: str
    meters: float
    kilograms: float
    up: str


METERS = Units("m_kg_Z", 1.0, 1.0, "Z")
CENTIMETERS = Units("cm_g_Y", 0.01, 0.001, "Y")
UNITS = (METERS, CENTIMETERS)
#: Turns the Z-up world into the Y-up one.
TO_Y_UP = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)


def multiply(a: Vector, b: Vector) -> tuple[float, ...]:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw,
    )  # fmt: skip


def about(axis: str, degrees: float) -> tuple[float, ...]:
    """Quaternion, w first."""
    half = degrees * DEGREE / 2
    return (math.cos(half), *(math.sin(half) * (name == axis) for name in "XYZ"))


def prism(sides: int, radius: float, height: float) -> tuple[list[tuple[float, ...]], list[tuple[int, ...]]]:
    """(points, faces) of an upright prism, such as a drum, about the origin."""
    around = [2 * math.pi * index / sides for index in range(sides)]
    points = [(radius * math.cos(a), radius * math.sin(a), z) for z in (-height / 2, height / 2) for a in around]
    walls = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    return points, [tuple(range(sides))[::-1], tuple(range(sides, 2 * sides)), *walls]


def number(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def row(values: Vector) -> str:
    return f"({', '.join(map(number, values))})"


@dataclass
class File:
    """One file in the making."""

    units: Units = METERS
    blocks: list[str] = field(default_factory=list)
    gravity: Vector | None = (0.0, 0.0, -9.81)

    # ------------------------------------------------------------------- conversions

    def length(self, value: float) -> float:
        return value / self.units.meters

    def lengths(self, values: Vector) -> list[float]:
        return [self.length(value) for value in values]

    def force(self, value: float) -> float:
        return value / (self.units.kilograms * self.units.meters)

    def torque(self, value: float) -> float:
        return value / (self.units.kilograms * self.units.meters**2)

    def world(self, values: Vector) -> list[float]:
        x, y, z = values
        return [x, y, z] if self.units.up == "Z" else [x, z, -y]

    def turn(self, quaternion: Vector) -> Vector:
        return quaternion if self.units.up == "Z" else multiply(TO_Y_UP, quaternion)

    # ------------------------------------------------------------------- prims

    def body(
        self,
        name: str,
        position: Vector = (0, 0, 0),
        rotation: Vector = IDENTITY,
        *,
        shape: str = "Cube",
        size: Vector = (1.0, 1.0, 1.0),
        mass: float | None = 1.0,
        inertia: Vector | None = None,
        center: Vector | None = None,
        velocity: Vector | None = None,
        spin: Vector | None = None,
        kinematic: bool = False,
        asleep: bool = False,
        enabled: bool = True,
        dynamic: bool = True,
        collides: bool = True,
        material: str = "",
        apis: Sequence[str] = (),
        extra: Sequence[str] = (),
        children: Sequence[str] = (),
        geometry: str | None = None,
        density: float | None = None,
        axes: Vector | None = None,
        owner: str = "",
    ) -> str:
        """An Xform with a collider of this size below it; Sphere, Capsule, ... take (radius, height, -)."""
        api = list(apis)
        lines = []
        if dynamic:
            api.append("PhysicsRigidBodyAPI")
            if mass is not None or inertia is not None or center is not None or density is not None:
                api.append("PhysicsMassAPI")
        if mass is not None and dynamic:
            lines.append(f"float physics:mass = {number(mass / self.units.kilograms)}")
        if density is not None:
            value = density * self.units.meters**3 / self.units.kilograms
            lines.append(f"float physics:density = {number(value)}")
        if inertia is not None:
            lines.append(f"float3 physics:diagonalInertia = {row([self.torque(part) for part in inertia])}")
            lines.append(f"quatf physics:principalAxes = {row(axes or IDENTITY)}")
        if center is not None:
            lines.append(f"point3f physics:centerOfMass = {row(self.lengths(center))}")
        if velocity is not None:
            lines.append(f"vector3f physics:velocity = {row(self.lengths(velocity))}")
        if spin is not None:
            lines.append(f"vector3f physics:angularVelocity = {row([part / DEGREE for part in spin])}")
        if kinematic:
            lines.append("bool physics:kinematicEnabled = 1")
        if asleep:
            lines.append("uniform bool physics:startsAsleep = 1")
        if not enabled:
            lines.append("bool physics:rigidBodyEnabled = 0")
        if owner:
            lines.append(f"rel physics:simulationOwner = <{owner}>")
        inside = list(children)
        if geometry is not None:
            inside.append(geometry)
        elif collides:
            inside.append(self.shape("Shape", shape, size, material=material, owner="" if dynamic else owner))
        return self.xform(name, position, rotation, api, [*lines, *extra], inside)

    def xform(
        self,
        name: str,
        position: Vector,
        rotation: Vector = IDENTITY,
        apis: Sequence[str] = (),
        lines: Sequence[str] = (),
        inside: Sequence[str] = (),
        *,
        nested: bool = False,
        scale: Vector | None = None,
        type_name: str = "Xform",
    ) -> str:
        """nested: the place is in the space of a parent that is no world."""
        place = self.lengths(position if nested else self.world(position))
        turn = rotation if nested else self.turn(rotation)
        order = ["xformOp:translate", "xformOp:orient", *(["xformOp:scale"] if scale else [])]
        text = [
            f"double3 xformOp:translate = {row(place)}", f"quatd xformOp:orient = {row(turn)}",
            *([f"float3 xformOp:scale = {row(scale)}"] if scale else []),
            f"uniform token[] xformOpOrder = [{', '.join(map(quoted, order))}]", *lines, *inside,
        ]  # fmt: skip
        return block(type_name, name, text, apis)

    def shape(
        self,
        name: str,
        kind: str,
        size: Vector,
        position: Vector = (0, 0, 0),
        rotation: Vector = IDENTITY,
        *,
        material: str = "",
        axis: str = "Z",
        scale: Vector | None = None,
        lines: Sequence[str] = (),
        apis: Sequence[str] = (),
        owner: str = "",
    ) -> str:
        """A collider. Cube: edge lengths; others: (radius, height)."""
        if kind == "Cube":
            text = [f"double size = {number(self.length(1.0))}"]
            scale = [a * b for a, b in zip(size, scale or (1, 1, 1), strict=True)]
        elif kind == "Plane":
            text = [f'uniform token axis = "{axis}"']
        else:
            text = [f"double radius = {number(self.length(size[0]))}"]
            if kind != "Sphere":
                text += [f"double height = {number(self.length(size[1]))}", f'uniform token axis = "{axis}"']
        text += list(lines)
        api = ["PhysicsCollisionAPI", *apis]
        if material:
            api.append("MaterialBindingAPI")
            text.append(f"rel material:binding:physics = <{material}>")
        if owner:
            text.append(f"rel physics:simulationOwner = <{owner}>")
        return self.xform(name, position, rotation, api, text, nested=True, scale=scale, type_name=kind)

    def mesh(
        self,
        name: str,
        points: Sequence[Vector],
        faces: Sequence[Sequence[int]],
        approximation: str = "",
        *,
        position: Vector = (0, 0, 0),
        scale: Vector | None = None,
        material: str = "",
    ) -> str:
        text = [
            f"point3f[] points = [{', '.join(row(self.lengths(point)) for point in points)}]",
            f"int[] faceVertexCounts = [{', '.join(str(len(face)) for face in faces)}]",
            f"int[] faceVertexIndices = [{', '.join(str(index) for face in faces for index in face)}]",
        ]
        api = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
        if approximation:
            text.append(f'uniform token physics:approximation = "{approximation}"')
        if material:
            api.append("MaterialBindingAPI")
            text.append(f"rel material:binding:physics = <{material}>")
        return self.xform(name, position, IDENTITY, api, text, nested=True, scale=scale, type_name="Mesh")

    def ground(self, height: float = 0.0, material: str = "", size: float = 200.0, tilt: float = 0.0) -> str:
        """A static box with its top at this height, tilted about Y by some degrees."""
        angle = tilt * DEGREE
        down = (-math.sin(angle) * 0.5, 0.0, height - math.cos(angle) * 0.5)
        return self.body("Ground", down, about("Y", tilt), size=(size, size, 1.0), dynamic=False, material=material)

    def material(self, name: str, friction: float, restitution: float = 0.0, static: float | None = None) -> str:
        return block(
            "Material", name,
            [
                f"float physics:dynamicFriction = {number(friction)}",
                f"float physics:staticFriction = {number(friction if static is None else static)}",
                f"float physics:restitution = {number(restitution)}",
            ],
            ["PhysicsMaterialAPI"],
        )  # fmt: skip

    def joint(
        self,
        name: str,
        kind: str,
        body0: str = "",
        body1: str = "",
        *,
        pos0: Vector = (0, 0, 0),
        pos1: Vector = (0, 0, 0),
        rot0: Vector = IDENTITY,
        rot1: Vector = IDENTITY,
        axis: str = "",
        low: float | None = None,
        high: float | None = None,
        cone: Vector | None = None,
        distance: Vector | None = None,
        limits: dict[str, Vector] | None = None,
        drives: dict[str, dict[str, float | str]] | None = None,
        break_force: float = INF,
        break_torque: float = INF,
        lines: Sequence[str] = (),
        apis: Sequence[str] = (),
    ) -> str:
        text = []
        for side, (body, place, turn) in enumerate(((body0, pos0, rot0), (body1, pos1, rot1))):
            if body:
                text.append(f"rel physics:body{side} = <{body}>")
            else:
                place, turn = self.world(place), self.turn(turn)
            text.append(f"point3f physics:localPos{side} = {row(self.lengths(place))}")
            text.append(f"quatf physics:localRot{side} = {row(turn)}")
        if axis:
            text.append(f'uniform token physics:axis = "{axis}"')
        unit = (lambda value: value / DEGREE) if kind == "Revolute" else self.length
        text += [
            f"float physics:{end}Limit = {number(unit(value))}"
            for end, value in (("lower", low), ("upper", high)) if value is not None
        ]  # fmt: skip
        if cone is not None:
            text += [f"float physics:coneAngle{i}Limit = {number(angle / DEGREE)}" for i, angle in enumerate(cone)]
        if distance is not None:
            for end, value in zip(("min", "max"), distance, strict=True):
                text.append(f"float physics:{end}Distance = {number(self.length(value) if value >= 0 else -1.0)}")
        for value, end in ((break_force, "Force"), (break_torque, "Torque")):
            if value < INF:
                converted = self.force(value) if end == "Force" else self.torque(value)
                text.append(f"float physics:break{end} = {number(converted)}")
        api = list(apis)
        for dof, (lower, upper) in (limits or {}).items():
            api.append(f"PhysicsLimitAPI:{dof}")
            angular = dof.startswith("rot")
            for end, value in (("low", lower), ("high", upper)):
                converted = value / DEGREE if angular else self.length(value)
                text.append(f"float limit:{dof}:physics:{end} = {number(converted)}")
        for dof, values in (drives or {}).items():
            api.append(f"PhysicsDriveAPI:{dof}")
            text += self._drive(dof, values)
        usd_kind = "PhysicsJoint" if kind == "D6" else f"Physics{kind}Joint"
        return block(usd_kind, name, [*text, *lines], api)

    def _drive(self, dof: str, values: dict[str, float | str]) -> list[str]:
        angular = dof in ("angular", "rotX", "rotY", "rotZ")
        acceleration = values.get("type") == "acceleration"
        gain = DEGREE if angular else 1.0
        if not acceleration:
            gain /= self.units.kilograms * (self.units.meters**2 if angular else 1.0)
        place = 1.0 / DEGREE if angular else 1.0 / self.units.meters
        factors = {
            "stiffness": gain, "damping": gain, "targetPosition": place, "targetVelocity": place,
            "maxForce": self.torque(1.0) if angular else self.force(1.0),
        }  # fmt: skip
        lines = []
        for key, value in values.items():
            if key == "type":
                lines.append(f'uniform token drive:{dof}:physics:type = "{value}"')
            else:
                lines.append(f"float drive:{dof}:physics:{key} = {number(value * factors[key])}")
        return lines

    def scene(self, name: str = "Scene", gravity: Vector | None = None) -> str:
        gravity = self.gravity if gravity is None else gravity
        size = math.hypot(*gravity)
        direction = self.world([part / size for part in gravity]) if size else [0, 0, 0]
        return block(
            "PhysicsScene", name,
            [f"vector3f physics:gravityDirection = {row(direction)}",
             f"float physics:gravityMagnitude = {number(self.length(size))}"],
        )  # fmt: skip

    def add(self, *blocks: str) -> File:
        self.blocks += blocks
        return self

    def text(self, scene: bool = True) -> str:
        world = block("Xform", "World", [*([self.scene()] if scene else []), *self.blocks])
        return (
            f'#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = {number(self.units.meters)}\n'
            f'    kilogramsPerUnit = {number(self.units.kilograms)}\n    upAxis = "{self.units.up}"\n)\n\n{world}\n'
        )


def quoted(text: str) -> str:
    return f'"{text}"'


def block(type_name: str, name: str, lines: Sequence[str], apis: Sequence[str] = ()) -> str:
    head = f'def {type_name} "{name}"'
    if apis:
        head += f" (\n    prepend apiSchemas = [{', '.join(map(quoted, apis))}]\n)"
    body = "\n".join(lines).replace("\n", "\n    ")
    return f"{head}\n{{\n    {body}\n}}"
