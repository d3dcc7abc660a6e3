# SPDX-License-Identifier: GPL-3.0-or-later
"""Each asset of the library does what its description says, as the linked instance that the asset browser makes."""

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
from conftest import load_script
from usdphys_ext.usdphys_addon.playback import guard

from . import scenes

FOLDER = Path(__file__).resolve().parents[2] / "library"
FILE = FOLDER / "physics_library.blend"


class Played:
    """An instance of an asset on a ground, while it plays."""

    def __init__(self, name):
        with bpy.data.libraries.load(str(FILE), link=True, assets_only=True) as (_, wanted):
            wanted.collections = [name]
        (self.collection,) = wanted.collections
        ground = scenes.add_box("Ground", (20, 20, 0.5), location=(0, 0, -0.5))
        scenes.make_collider(ground)
        self.empty = scenes.add_instance("Asset", self.collection)
        bpy.context.view_layer.update()
        self.session = guard.start(bpy.context)
        self.start = self.poses()

    def run(self, seconds):
        for _ in range(round(seconds / self.session.world.time_step)):
            self.session.step_once(bpy.context)
        assert self.session.warnings == []
        return self

    def pull(self, part, by, seconds=1.0):
        """Grab the first body with this label at its origin, and pull it to a point that is so far away, m."""
        path = next(path for path in self.session.world.paths if self.label(path) == part)
        point = self.poses()[part][0, :3, 3]
        grab = self.session.grab(path, point)
        self.session.drag(grab, point + by)
        self.run(seconds)
        pulled = self.moved(part)[0], self.turned(part)[0]
        self.session.release(grab)
        return pulled

    def label(self, path):
        return self.session.model.prims[path].label.split(".")[0]

    def poses(self):
        """(n, 4, 4) by label of the bodies, each with its number of times."""
        world = self.session.world
        found = {}
        for path, matrix in zip(world.paths, world.matrices(), strict=True):
            found.setdefault(self.label(path), []).append(matrix.copy())
        return {label: np.array(matrices) for label, matrices in found.items()}

    def moved(self, part):
        """How far each body with this label has moved (n, 3), m."""
        return self.poses()[part][:, :3, 3] - self.start[part][:, :3, 3]

    def turned(self, part):
        """By which angle each has turned, degrees."""
        turns = np.swapaxes(self.start[part][:, :3, :3], 1, 2) @ self.poses()[part][:, :3, :3]
        return np.degrees(np.arccos(np.clip((np.trace(turns, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)))


def door(name):
    played = Played(name).run(1.0)
    assert np.abs(played.moved("Leaf")).max() < 0.01
    # It opens to one side, and stops at its limit, however far it is pulled.
    angles = [played.pull("Leaf", (0, side, 0), 2.0)[1] for side in (-0.6, 3.0, -3.0)]
    assert max(angles) > 45.0 and max(angles) < 140.0
    assert np.abs(played.moved("Leaf")[:, 2]).max() < 0.02


def chest(name):
    played = Played(name).run(1.0)
    assert played.turned("Lid")[0] < 2.0
    assert played.pull("Lid", (0, 0, 0.3))[1] > 20.0


def drawers(name):
    played = Played(name).run(1.0)
    assert np.abs(played.moved("Drawer")).max() < 0.02
    moved = played.pull("Drawer", (0, -2.0, 0), 2.0)[0]
    assert 0.2 < -moved[1] < 0.46 and np.abs(moved[[0, 2]]).max() < 0.02


def wheel(name):
    played = Played(name).run(0.2)
    assert played.turned("Wheel")[0] > 20.0 and np.abs(played.moved("Wheel")).max() < 0.01


def turntable(name):
    played = Played(name).run(1.5)
    before = played.turned("Plate")[0]
    played.run(0.5)
    assert played.turned("Plate")[0] - before == pytest.approx(30.0, abs=3.0)


def conveyor(name):
    played = Played(name).run(2.0)
    # It takes a while until the parcel has the speed of the belt.
    assert 0.7 < played.moved("Parcel")[0, 0] < 1.05 and abs(played.moved("Parcel")[0, 2]) < 0.05


def pulley(name):
    heights = Played(name).run(1.0).moved("Load")[:, 2]
    assert heights.min() < -0.1 and heights.max() > 0.1 and abs(heights.sum()) < 0.1


def lift(name):
    played = Played(name).run(3.0)
    assert played.moved("Platform")[0, 2] > 0.4 and played.turned("Platform")[0] < 3.0


def crane(name):
    played = Played(name).run(3.0)
    assert np.abs(played.moved("Load")).max() < 0.1


def arm(name):
    assert np.abs(Played(name).run(2.0).moved("Link")).max() < 0.1


def car(name):
    played = Played(name).run(4.0)
    moved = played.moved("Chassis")[0]
    assert np.linalg.norm(moved[:2]) > 5.0 and abs(moved[2]) < 0.2 and played.turned("Chassis")[0] < 30.0


def hangs(part, most):
    def check(name):
        played = Played(name).run(3.0)
        assert all(np.abs(played.moved(label)).max() < most for label in played.start if label.startswith(part))

    return check


def ragdoll(name):
    played = Played(name).run(2.5)
    low = min(played.poses()[label][:, 2, 3].min() for label in played.start)
    high = max(played.poses()[label][:, 2, 3].max() for label in played.start)
    assert low > -0.05 and high < 0.9


def pendulum(name):
    played = Played(name)
    # A quarter of the period from rest at 90 degrees: 1.18034 times that of small swings.
    played.run(1.18034 * math.pi / 2.0 * math.sqrt(1.009 / 9.81))
    assert abs(played.poses()["Bob"][0, 0, 3]) < 0.1
    assert played.moved("Bob")[0, 2] == pytest.approx(-1.0, abs=0.03)


def seesaw(name):
    played = Played(name).run(2.0)
    assert played.moved("Crate")[0, 2] < -0.1 and 5.0 < played.turned("Plank")[0] < 40.0


def dominoes(name):
    played = Played(name)
    fallen = {}
    while played.session.world.time < 4.0:
        played.run(1 / 30)
        for number, angle in enumerate(played.turned("Domino")):
            if angle > 20.0:
                fallen.setdefault(number, played.session.world.time)
    assert len(fallen) >= 11
    order = sorted(range(12), key=lambda number: played.start["Domino"][number, 0, 3])
    times = [fallen[number] for number in order if number in fallen]
    assert times == sorted(times) and times[-1] > times[0] + 0.3


def stands(part):
    def check(name):
        assert np.abs(Played(name).run(2.0).moved(part)).max() < 0.03

    return check


def lever(name):
    played = Played(name).run(0.5)
    angles = [played.pull("Lever", by)[1] for by in ((0.3, 0, 0), (0, 0.3, 0), (2.0, 0, 0), (0, 2.0, 0))]
    assert 10.0 < max(angles) < 100.0


def button(name):
    played = Played(name).run(1.0)
    rest = played.moved("Button")[0, 2]
    assert played.pull("Button", (0, 0, -3.0))[0][2] < rest - 0.005
    assert played.run(1.5).moved("Button")[0, 2] == pytest.approx(rest, abs=0.005)


def gate(name):
    played = Played(name).run(4.0)
    assert played.turned("Boom")[0] == pytest.approx(60.0, abs=6.0) and played.moved("Boom")[0, 2] > 0.5


CHECKS = {
    "Door": door, "Double Door": door, "Boom Gate": gate, "Chest": chest, "Drawers": drawers,
    "Lever": lever, "Button": button, "Wheel": wheel, "Turntable": turntable, "Conveyor": conveyor, "Pulley": pulley,
    "Scissor Lift": lift, "Crane": crane, "Robot Arm": arm, "Car": car, "Chain": hangs("Weight", 0.05),
    "Rope": hangs("Rope", 0.1), "Rope Bridge": hangs("Plank", 0.3), "Ragdoll": ragdoll, "Pendulum": pendulum,
    "Seesaw": seesaw, "Dominoes": dominoes, "Brick Wall": stands("Brick"), "Chimney": stands("Brick"),
    "Pyramid": stands("Brick"), "Crates": stands("Crate"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_an_asset_does_what_it_says(name):
    CHECKS[name](name)


@pytest.mark.slow
def test_the_file_has_the_assets_of_its_script_with_text_picture_and_catalog():
    script = load_script("library")
    assert {asset.name for asset in script.ASSETS} == CHECKS.keys()
    with bpy.data.libraries.load(str(FILE), link=True, assets_only=True) as (there, wanted):
        wanted.collections = there.collections
    assert {one.name for one in wanted.collections} == CHECKS.keys()
    catalogs = (FOLDER / script.CATALOGS).read_text(encoding="utf-8")
    assert catalogs == script.catalogs()
    texts = {asset.name: asset for asset in script.ASSETS}
    for one in wanted.collections:
        data = one.asset_data
        assert data.description == texts[one.name].text and data.license == "GPL-3.0-or-later"
        assert data.catalog_id in catalogs
        pixels = np.array(one.preview.image_pixels_float[:]).reshape(-1, 4)
        assert len(pixels) == script.SIZE**2 and 0.02 < (pixels[:, 3] > 0.5).mean() < 0.95
