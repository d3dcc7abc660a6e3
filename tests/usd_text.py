# SPDX-License-Identifier: GPL-3.0-or-later
"""USD stages as text: prims, crates and joints in one line each. Needs neither USD nor Blender."""

from __future__ import annotations


def stage(body: str, *, meters: float = 1.0, kilograms: float | None = 1.0, up: str = "Z", root: str = "Xform ") -> str:
    """A file with one root prim, `World`, and what is in it. kilograms None: the file does not say."""
    mass = "" if kilograms is None else f"    kilogramsPerUnit = {kilograms!r}\n"
    head = f'(\n    defaultPrim = "World"\n    metersPerUnit = {meters!r}\n{mass}    upAxis = "{up}"\n)\n'
    return f'#usda 1.0\n{head}\ndef {root}"World"\n{{\n{body}}}\n'


def prim(kind: str, name: str, *lines: str, apis: tuple[str, ...] = (), below: str = "", meta: str = "") -> str:
    """A prim: its API schemas, its properties a line each, and what is below it."""
    listed = ", ".join(f'"{api}"' for api in apis)
    said = [f"prepend apiSchemas = [{listed}]"] if apis else []
    said += [meta] if meta else []
    head = f" (\n{_indented(said)}    )" if said else ""
    return f'    def {kind} "{name}"{head}\n    {{\n{_indented(lines)}{_deeper(below)}    }}\n'


def _indented(lines: tuple[str, ...] | list[str]) -> str:
    return "".join(f"        {line}\n" for line in lines)


def _deeper(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def at(x: float, y: float, z: float, *more: str, reset: bool = False) -> tuple[str, ...]:
    """A translation, then operations given as `type name = value`; reset: the stack starts anew here."""
    names = ["xformOp:translate", *(line.split(" = ")[0].split()[-1] for line in more)]
    order = ", ".join(f'"{name}"' for name in (["!resetXformStack!"] if reset else []) + names)
    return (f"double3 xformOp:translate = ({x}, {y}, {z})", *more, f"uniform token[] xformOpOrder = [{order}]")


def turned(x: float, y: float, z: float) -> str:
    return f"float3 xformOp:rotateXYZ = ({x}, {y}, {z})"


def scaled(x: float, y: float, z: float) -> str:
    return f"float3 xformOp:scale = ({x}, {y}, {z})"


BODY = ("PhysicsRigidBodyAPI", "PhysicsMassAPI")
CRATE = ("PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsCollisionAPI")
COLLIDER = ("PhysicsCollisionAPI",)
SCENE = prim("PhysicsScene", "Scene")


def crate(name: str, *lines: str, apis: tuple[str, ...] = CRATE, below: str = "", size: float = 1.0) -> str:
    """A cube that is body and collider."""
    return prim("Cube", name, f"double size = {size!r}", *lines, apis=apis, below=below)


def joint(kind: str, name: str, one: str, two: str, *lines: str, apis: tuple[str, ...] = ()) -> str:
    """A joint between two prims, given by their paths; an empty path is the world."""
    targets = [f"rel physics:body{side} = <{path}>" for side, path in enumerate((one, two)) if path]
    return prim(f"Physics{kind}", name, *targets, *lines, apis=apis)
