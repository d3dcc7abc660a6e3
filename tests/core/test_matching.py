# SPDX-License-Identifier: GPL-3.0-or-later
"""Prims of two files are matched by path, name and place; files of other formats are compared by what they say."""

from __future__ import annotations

import random
from copy import copy

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.cli import changes
from usdphys_ext.usdphys_addon.core import frames, matching
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_geom, usd_physics


def chain(links: int = 4) -> PhysicsModel:
    """Bodies with a collider each, on hinges."""
    model = PhysicsModel()
    for number in range(links):
        world = frames.transform((float(number), 0.0, 1.0))
        body = model.add(Prim(f"/World/Link{number}", world=world))
        body.add(usd_physics.RigidBodyAPI())
        body.add(usd_physics.MassAPI(mass=1.0 + number))
        shape = model.add(Prim(f"/World/Link{number}/Shape", "Cube", world))
        shape.add(usd_geom.Cube(0.5))
        shape.add(usd_physics.CollisionAPI())
        if number:
            model.add(Prim(f"/World/Hinge{number}", "PhysicsRevoluteJoint")).add(usd_physics.RevoluteJoint(
                body0=(f"/World/Link{number - 1}",), body1=(f"/World/Link{number}",), lower_limit=-1.0, upper_limit=1.0
            ))  # fmt: skip
    return model


def renamed(model: PhysicsModel, moves: dict[str, str]) -> PhysicsModel:
    return model.renamed(moves)


@pytest.mark.parametrize("seed", range(10))
def test_a_file_with_other_paths_is_the_same_physics(seed):
    generator = random.Random(seed)
    one, other = chain(), chain()
    names = [f"/World/{prim.name}" for prim in other.prims.values() if prim.path.count("/") == 2]
    # Each is at another place of the hierarchy, and some have other names, too.
    moves = {
        path: f"/root/{generator.choice('ABC')}/{path.rpartition('/')[2] if generator.random() < 0.6 else f'x{number}'}"
        for number, path in enumerate(names)
    }
    other = renamed(other, moves)
    found = matching.matches(one, other)
    assert {found[new] for new in moves.values()} == set(names)
    assert list(changes.changes(one, other, same_format=False)) == []
    told = [change for change in changes.changes(one, other) if change.kind != "path"]
    assert told == []


def test_an_edit_is_found_in_a_file_with_other_paths():
    one, other = chain(), chain()
    link, hinge = other.prims["/World/Link2"], other.prims["/World/Hinge1"]
    link.schemas["PhysicsMassAPI"] = usd_physics.MassAPI(mass=9.0)
    hinge.schemas["PhysicsRevoluteJoint"] = hinge.get(usd_physics.Joint).copy(upper_limit=0.5)
    other = renamed(other, {"/World": "/root/Things"})
    texts = {change.text for change in changes.changes(one, other, same_format=False)}
    assert texts == {
        "'/World/Link2': physics:mass is 9.0; was 3.0.",
        f"'/World/Hinge1': physics:upperLimit is {np.degrees(0.5):.7g}; was {np.degrees(1.0):.7g}.",
    }


def test_bodies_of_one_name_are_told_apart_by_the_names_above_them_or_by_place():
    one, other = PhysicsModel(), PhysicsModel()
    for model, top in ((one, "/World"), (other, "/root")):
        for number, side in enumerate(("Left", "Right")):
            path = f"{top}/{side}/Wheel"
            model.add(Prim(path, world=frames.transform((float(number), 0.0, 0.0)))).add(usd_physics.RigidBodyAPI())
    assert matching.matches(one, other) == {
        "/root/Left/Wheel": "/World/Left/Wheel", "/root/Right/Wheel": "/World/Right/Wheel",
    }  # fmt: skip
    other = renamed(other, {"/root/Left": "/root/a", "/root/Right": "/root/b"})
    assert matching.matches(one, other) == {
        "/root/a/Wheel": "/World/Left/Wheel", "/root/b/Wheel": "/World/Right/Wheel",
    }  # fmt: skip


def test_a_body_that_collides_itself_is_one_with_a_collider_below():
    one, other = chain(1), PhysicsModel()
    body = copy(one.prims["/World/Link0"])
    body.schemas = {**body.schemas, **one.prims["/World/Link0/Shape"].schemas}
    body.type_name = "Cube"
    other.add(body)
    assert list(changes.changes(one, other, same_format=False)) == []
    assert list(changes.changes(one, other)) != []
    body.schemas["Cube"] = usd_geom.Cube(0.6)
    (change,) = changes.changes(one, other, same_format=False)
    assert change.text == "'/World/Link0/Shape' measures 0.6 x 0.6 x 0.6 m; was 0.5 x 0.5 x 0.5 m."


def test_the_unit_of_a_file_may_be_a_scale():
    one, other = chain(2), chain(2)
    for prim in other.prims.values():
        if prim.type_name != "PhysicsRevoluteJoint":
            prim.world = prim.world @ np.diag((0.01, 0.01, 0.01, 1.0))
        if prim.get(usd_geom.Gprim) is not None:
            prim.schemas["Cube"] = usd_geom.Cube(50.0)
    for model, place in ((one, 0.5), (other, 50.0)):
        hinge = model.prims["/World/Hinge1"]
        hinge.schemas["PhysicsRevoluteJoint"] = hinge.get(usd_physics.Joint).copy(local_pos0=(place, 0.0, 0.0))
    assert list(changes.changes(one, other, same_format=False)) == []
    hinge.schemas["PhysicsRevoluteJoint"] = hinge.get(usd_physics.Joint).copy(local_pos0=(70.0, 0.0, 0.0))
    assert [change.name for change in changes.changes(one, other, same_format=False)] == ["physics:localPos0"]
