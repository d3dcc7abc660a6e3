# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene in centimetres, grams and Y up is the same model as in metres, kilograms and Z up.

Other tests simulate in one of the two: what a world does depends on nothing but its model.
"""

from __future__ import annotations

from typing import Any

import pytest
from usdphys_ext.usdphys_addon.core.model import Mesh, PhysicsModel, Prim, SpherePoints
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

from .author import CENTIMETERS, METERS, File, about, block
from .catalogue import SCENES, W
from .helpers import model_in


def zoo(file: File) -> None:
    """What the catalogue leaves out: every shape, meshes, points, density, scales, limits and drives of every kind."""
    turned = about("X", 30)
    for index, (kind, size) in enumerate(
        [("Sphere", (0.3,)), ("Capsule", (0.2, 0.6)), ("Cylinder", (0.2, 0.6)), ("Cone", (0.2, 0.6)), ("Plane", ())]
    ):
        sides = [f"double {side} = {file.length(5.0)}" for side in ("width", "length")] if kind == "Plane" else []
        inner = file.shape(
            "Shape", kind, size, (0.1, 0.2, 0.3), turned, axis="XYZ"[index % 3], scale=(1, 2, 3), lines=sides
        )
        file.add(file.body(f"Body{index}", (index, 2, 3), turned, geometry=inner, mass=None, density=7800.0))
    corners, faces = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    mesh = file.mesh(
        "Shape", corners, faces, "convexHull", position=(0.5, 0, 0), scale=(1, 2, 3), material=f"{W}/Rubber"
    )
    file.add(file.body("Tetrahedron", (0, 5, 1), turned, geometry=mesh, velocity=(1, 2, 3), spin=(3, 2, 1)))
    widths = ", ".join([str(file.length(0.4))] * 2)
    points = block(
        "Points", "Shape", ["point3f[] points = [(0, 0, 0), (100, 0, 0)]", f"float[] widths = [{widths}]"],
        ["PhysicsCollisionAPI"],
    )  # fmt: skip
    if file.units is METERS:
        points = points.replace("(100, 0, 0)", "(1, 0, 0)")
    file.add(file.body("Points", (0, 7, 1), geometry=points), file.material("Rubber", 0.9, 0.8))
    file.add(file.joint("Cone", "Spherical", "", f"{W}/Points", pos0=(0, 7, 1), rot0=turned, cone=(0.2, 0.3), axis="Y"))
    file.add(
        file.joint(
            "D6", "D6", f"{W}/Body1", f"{W}/Body2", pos0=(0.1, 0, 0), rot1=turned, break_force=5.0, break_torque=6.0,
            limits={"transX": (-1, 2), "rotY": (-1, 1), "distance": (0.5, 3)},
            drives={"transZ": {"stiffness": 3.0, "damping": 2.0, "maxForce": 7.0, "targetPosition": 0.3},
                    "rotX": {"stiffness": 3.0, "damping": 2.0, "maxForce": 7.0, "targetVelocity": 0.3},
                    "rotZ": {"stiffness": 3.0, "damping": 2.0, "type": "acceleration"}},
        )
    )  # fmt: skip


def numbers(geometry: Mesh | SpherePoints | None) -> list[Any]:
    if geometry is None:
        return []
    if isinstance(geometry, SpherePoints):
        return [geometry.centers, geometry.radii]
    return [geometry.points, geometry.triangles]


def differences(first: Prim, second: Prim) -> list[str]:
    """What two prims do not agree in, in words."""
    # What is not placed has the axes of its stage.
    is_placed = first.get(usd_physics.RigidBodyAPI) or first.get(usd_physics.CollisionAPI)
    same_place = not is_placed or first.world == pytest.approx(second.world, abs=1e-6)
    found = [] if same_place else ["world"]
    found += [
        name for name in ("type_name", "materials", "physics_binding") if getattr(first, name) != getattr(second, name)
    ]
    if first.schemas.keys() != second.schemas.keys():
        return [*found, "schemas"]
    for name, value in first.schemas.items():
        for attribute, one, other in zip(
            value.attributes, value.all_values(), second.schemas[name].all_values(), strict=True
        ):
            is_number = isinstance(one, float) or (isinstance(one, tuple) and isinstance(one[0], float))
            if attribute.is_automatic(one) and attribute.is_automatic(other):
                continue
            if one != (pytest.approx(other, rel=1e-5, abs=1e-6) if is_number and other is not None else other):
                found.append(f"{name}.{attribute.field}: {one} and {other}")
    shapes = [numbers(prim.mesh() if prim.mesh else None) for prim in (first, second)]
    same = len(shapes[0]) == len(shapes[1]) and all(
        a == pytest.approx(b, abs=1e-6) for a, b in zip(*shapes, strict=True)
    )
    return found if same else [*found, "geometry"]


def compared(first: PhysicsModel, second: PhysicsModel) -> dict[str, list[str]]:
    assert list(first.prims) == list(second.prims) and first.prims
    found = {path: differences(prim, second.prims[path]) for path, prim in first.prims.items()}
    return {path: words for path, words in found.items() if words}


def test_units_do_not_change_the_model() -> None:
    found = {}
    for name, fill in {**SCENES, "zoo": zoo}.items():
        files = File(METERS), File(CENTIMETERS)
        for file in files:
            fill(file)
        found[name] = compared(*map(model_in, files))
    assert found == {name: {} for name in found}


def test_a_difference_would_be_seen() -> None:
    """The comparison above, on models that are not the same."""
    first, second = File(METERS), File(METERS)
    first.add(first.body("Ball", (0, 0, 1), shape="Sphere", size=(0.3,), velocity=(1, 0, 0)))
    second.add(second.body("Ball", (0, 0, 2), shape="Sphere", size=(0.2,), velocity=(1, 0.1, 0)))
    found = compared(model_in(first), model_in(second))
    assert set(found) == {f"{W}/Ball", f"{W}/Ball/Shape"}
    assert any("velocity" in words for words in found[f"{W}/Ball"]) and "world" in found[f"{W}/Ball"]
    assert any("radius" in words for words in found[f"{W}/Ball/Shape"])
