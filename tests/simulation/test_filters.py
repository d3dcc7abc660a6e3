# SPDX-License-Identifier: GPL-3.0-or-later
"""Who collides with whom: the examples of the specification and what they leave open, in two unit systems."""

from __future__ import annotations

import itertools

import pytest
from usdphys_ext.usdphys_addon.core import collision_groups
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.schemas import usd_physics
from usdphys_ext.usdphys_addon.simulation import filters
from usdphys_ext.usdphys_addon.simulation.notices import Notices

from .author import CENTIMETERS, METERS, File, block
from .helpers import codes, model_in, place, run, world_of

W = "/World"


def group(name: str, includes: list[str], filtered: list[str] = (), **options: str) -> str:
    """A collision group; options: inverted="1", merge="name"."""
    lines = [f"rel collection:colliders:includes = [{', '.join(f'<{W}/{item}>' for item in includes)}]"]
    lines.append(f"rel physics:filteredGroups = [{', '.join(f'<{W}/{item}>' for item in filtered)}]")
    if "inverted" in options:
        lines.append(f"bool physics:invertFilteredGroups = {options['inverted']}")
    if "merge" in options:
        lines.append(f'string physics:mergeGroup = "{options["merge"]}"')
    return block("PhysicsCollisionGroup", name, lines, ["CollectionAPI:colliders"])


def boxes(names: str) -> File:
    """Boxes of half a metre above the ground, one above the other, ready to fall onto each other."""
    file = File(CENTIMETERS)
    file.add(file.ground())
    for index, name in enumerate(names):
        file.add(file.body(name, (0, 0, 0.25 + 0.6 * index), size=(0.5, 0.5, 0.5)))
    return file


def heights(file: File, names: str) -> list[float]:
    world = run(world_of(file), 2.0)
    return [round(float(place(world, name)[2]), 2) for name in names]


STACKED, THROUGH = [0.25, 0.75], [0.25, 0.25]


def test_group_filtering_of_the_specification() -> None:
    """Two boxes in a group that filters itself lie in one place on the ground."""
    file = boxes("AB").add(group("Boxes", ["A", "B"], ["Boxes"]))
    assert heights(file, "AB") == THROUGH


def test_pair_filtering_of_the_specification() -> None:
    file = boxes("A")
    pair = [f"rel physics:filteredPairs = <{W}/A>"]
    file.add(file.body("B", (0, 0, 0.85), size=(0.5, 0.5, 0.5), apis=["PhysicsFilteredPairsAPI"], extra=pair))
    assert heights(file, "AB") == THROUGH


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([group("GA", ["A"]), group("GB", ["B"])], STACKED),
        ([group("GA", ["A"], ["GB"]), group("GB", ["B"])], THROUGH),
        ([group("GA", ["A"], ["GA"]), group("GB", ["B"])], STACKED),
        ([group("GA", ["A"], ["GB"]), group("GB", ["B"], ["GA"])], THROUGH),
        # Inverted: collides with nothing but the listed; the ground is in its own group.
        ([group("GA", ["A"], ["GG"], inverted="1"), group("GG", ["Ground"])], THROUGH),
        ([group("GA", ["A"], ["GG", "GB"], inverted="1"), group("GG", ["Ground"]), group("GB", ["B"])], STACKED),
        ([group("GA", ["A"], inverted="0")], STACKED),
        # Two groups of one name: members and filters of both.
        ([group("M1", ["A"], merge="m"), group("M2", ["B"], merge="m"), group("GB", [], ["M2"])], STACKED),
        ([group("M1", ["A"], ["M1"], merge="m"), group("M2", ["B"], merge="m")], THROUGH),
        ([group("M1", ["A"], merge="m"), group("M2", [], ["GB"], merge="m"), group("GB", ["B"])], THROUGH),
        # A collider in two groups: a filter of one cannot be undone by the other.
        ([group("GA", ["A"], ["GB"]), group("GB", ["B"]), group("Also", ["A", "B"])], THROUGH),
        # Merged groups that do not agree: nothing is left to collide with.
        ([group("M1", ["A"], ["GB"], merge="m"), group("M2", [], ["GB", "GG"], merge="m", inverted="1"),
          group("GB", ["B"]), group("GG", ["Ground"])], THROUGH),
    ],
)  # fmt: skip
def test_groups(groups: list[str], expected: list[float]) -> None:
    assert heights(boxes("AB").add(*groups), "AB") == expected


def test_inverted_group_falls_through_what_it_does_not_list() -> None:
    file = boxes("A").add(group("GA", ["A"], inverted="1"))
    assert heights(file, "A")[0] < -10


def test_filtered_collider_of_a_compound() -> None:
    """Only one of two colliders of a body passes through the shelf."""
    file = File(CENTIMETERS)
    shelf = file.body("Shelf", (0, 0, 1), size=(4, 4, 0.2), dynamic=False)
    pair = [f"rel physics:filteredPairs = <{W}/Shelf/Shape>"]
    low = file.shape("Low", "Cube", (0.5, 0.5, 0.5), lines=pair, apis=["PhysicsFilteredPairsAPI"])
    high = file.shape("High", "Cube", (0.5, 0.5, 0.5), (0, 0, 1))
    file.add(shelf, file.body("Tower", (0, 0, 1.5), collides=False, children=[low, high]))
    world = run(world_of(file), 2.0)
    assert place(world, "Tower")[2] == pytest.approx(1.1 + 0.25 - 1.0, abs=0.02)
    assert codes(world) == []


def test_filtered_pair_with_a_subtree() -> None:
    """The target is a plain Xform above several static colliders."""
    file = boxes("A")
    shelves = [file.body(f"Shelf{i}", (0, 0, 1 + i), size=(4, 4, 0.2), dynamic=False) for i in range(2)]
    pair = [f"rel physics:filteredPairs = <{W}/Shelves>"]
    file.add(block("Xform", "Shelves", shelves))
    file.add(file.body("B", (0, 0, 3), size=(0.5, 0.5, 0.5), apis=["PhysicsFilteredPairsAPI"], extra=pair))
    assert heights(file, "AB") == STACKED


def test_a_filtered_body_without_colliders_does_not_stand_for_the_bodies_below_it() -> None:
    """Robots have their links below each other, and some links have no shape."""
    file = boxes("A")
    pair = [f"rel physics:filteredPairs = <{W}/A>"]
    inner = file.body("B", size=(0.5, 0.5, 0.5))
    file.add(file.body("Mover", (0, 0, 0.85), collides=False, mass=0.01, children=[inner],
                       apis=["PhysicsFilteredPairsAPI"], extra=pair))  # fmt: skip
    world = run(world_of(file), 2.0)
    assert [round(float(place(world, name)[2]), 2) for name in ("A", "Mover/B")] == STACKED


@pytest.mark.slow
def test_more_kinds_of_groups_than_bits() -> None:
    """40 groups, each of which passes through one other: bits do not suffice, pairs do the rest."""
    file = File(METERS)
    file.gravity = (0, 0, 0)
    for index in range(40):
        for side in (0, 1):
            file.add(file.body(f"B{index}_{side}", (3.0 * index + 0.5 * side, 0, 0)))
        # Its own pair passes through each other; the odd ones push each other away.
        own = [f"G{index}"] if index % 2 == 0 else [f"G{(index + 2) % 40}"]
        file.add(group(f"G{index}", [f"B{index}_0", f"B{index}_1"], own))
    world = run(world_of(file), 1.0)
    for index in range(40):
        gap = place(world, f"B{index}_1")[0] - place(world, f"B{index}_0")[0]
        assert (gap == pytest.approx(0.5, abs=1e-3)) == (index % 2 == 0)
    assert codes(world) == []


def test_what_passes_through_all_others_does_so_however_many_there_are() -> None:
    """Forty boxes, each in a group that filters all other groups: the last bit is shared, pairs do the rest."""
    names = [f"/Box{index}" for index in range(40)]
    model = PhysicsModel()
    for index, name in enumerate(names):
        box = model.add(Prim(name, "Cube"))
        box.add(usd_physics.CollisionAPI())
        others = tuple(f"/Group{other}" for other in range(40) if other != index)
        group_ = usd_physics.CollisionGroup(includes=(name,), filtered_groups=others)
        model.add(Prim(f"/Group{index}", "PhysicsCollisionGroup", is_xformable=False)).add(group_)
    notices = Notices()
    found = filters.filters(model, {name: name for name in names}, {}, notices)
    assert notices.issues == []
    for one in names:
        for other in names:
            first, second = found.masks[one], found.masks[other]
            meet = bool(first.meets & second.member) and bool(second.meets & first.member)
            passes = not meet or (min(one, other), max(one, other)) in found.pairs
            assert passes == (one != other)


def test_a_pair_with_an_articulation_means_all_its_links() -> None:
    """Its root is a body; the arm that hangs on it is beside it among the prims."""
    file = File(CENTIMETERS)
    pair = [f"rel physics:filteredPairs = <{W}/Base>"]
    shelf = file.body("Shelf", (0, 0, 0), size=(9, 9, 0.2), dynamic=False, apis=["PhysicsFilteredPairsAPI"], extra=pair)
    other = file.body("Other", (0, 0, -3), size=(9, 9, 0.2), dynamic=False)
    file.add(
        shelf, other,
        file.body("Base", (0, 0, 1), size=(0.5, 0.5, 0.5), apis=["PhysicsArticulationRootAPI"]),
        file.body("Arm", (1, 0, 1), size=(0.5, 0.5, 0.5)),
        file.joint("Elbow", "Fixed", f"{W}/Base", f"{W}/Arm", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0)),
        file.body("Box", (3, 0, 1), size=(0.5, 0.5, 0.5)),
    )  # fmt: skip
    world = run(world_of(file), 2.0)
    assert [round(float(place(world, name)[2]), 1) for name in ("Base", "Arm", "Box")] == pytest.approx(
        [-2.65, -2.65, 0.35], abs=0.06
    )


@pytest.mark.slow
@pytest.mark.parametrize("stated", [("NewtonArticulationRootAPI", "newton:selfCollisionEnabled"),
                                    ("PhysxArticulationAPI", "physxArticulation:enabledSelfCollisions")])  # fmt: skip
@pytest.mark.parametrize("collides", [True, False])
def test_links_of_an_articulation_collide_unless_a_simulator_is_told_otherwise(stated, collides) -> None:
    """A lift slides down on the arm beside it until it meets the base, which it has no joint with, or the ground."""
    schema, name = stated
    file = File(METERS)
    file.add(
        file.ground(),
        file.body("Base", (0, 0, 0.25), size=(0.5, 0.5, 0.5), apis=["PhysicsArticulationRootAPI", schema],
                  extra=[f"bool {name} = {int(collides)}"]),
        file.body("Arm", (1, 0, 0.25), size=(0.5, 0.5, 0.5)),
        file.body("Lift", (0, 0, 0.9), size=(0.5, 0.5, 0.5)),
        file.body("Other", (4, 0, 0.9), size=(0.5, 0.5, 0.5)),
        file.joint("Bolt", "Fixed", f"{W}/Base", f"{W}/Arm", pos0=(0.5, 0, 0), pos1=(-0.5, 0, 0)),
        file.joint("Rail", "Prismatic", f"{W}/Arm", f"{W}/Lift", pos0=(-1, 0, 0.65), axis="Z"),
    )  # fmt: skip
    found = heights(file, ["Lift", "Other"])
    assert found == pytest.approx([0.75 if collides else 0.25, 0.25], abs=0.02)


def test_a_body_that_is_filtered_with_itself_meets_all_others() -> None:
    file = boxes("A")
    pair = [f"rel physics:filteredPairs = [<{W}/B>, <{W}/B/Shape>]"]
    file.add(file.body("B", (0, 0, 0.85), size=(0.5, 0.5, 0.5), apis=["PhysicsFilteredPairsAPI"], extra=pair))
    assert heights(file, "AB") == STACKED
    found = filters.filters(model_in(file), {f"{W}/B/Shape": f"{W}/B"}, {}, Notices())
    assert (found.pairs, found.masks) == (set(), {})


def test_groups_that_do_not_fit_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "MOST_PAIRS", 0)
    file = File(METERS)
    for index in range(40):
        file.add(file.body(f"A{index}", (3.0 * index, 0, 0)), file.body(f"B{index}", (3.0 * index, 0, 5)))
        file.add(group(f"G{index}", [f"A{index}", f"B{index}"], [f"G{index}"]))
    assert "CollisionGroupsTooMany" in codes(world_of(file))


def test_fine_pairs_that_do_not_fit_are_said() -> None:
    file = File(METERS)
    for index in range(20):
        pair = [f"rel physics:filteredPairs = <{W}/B{index}/One>"]
        parts = [file.shape("One", "Sphere", (0.1,), lines=pair, apis=["PhysicsFilteredPairsAPI"]),
                 file.shape("Two", "Sphere", (0.1,), (0, 0, 1))]  # fmt: skip
        others = [file.shape("One", "Sphere", (0.1,)), file.shape("Two", "Sphere", (0.1,), (0, 0, 1))]
        file.add(file.body(f"A{index}", (2.0 * index, 0, 0), collides=False, children=parts))
        file.add(file.body(f"B{index}", (2.0 * index, 1, 0), collides=False, children=others))
    assert "FilteredPairTooFine" in codes(world_of(file))


def test_filter_across_scenes_is_said() -> None:
    file = File(METERS)
    pair = [f"rel physics:filteredPairs = <{W}/A>"]
    file.add(file.scene("Other"), file.body("A", owner=f"{W}/Scene"))
    file.add(file.body("B", owner=f"{W}/Other", apis=["PhysicsFilteredPairsAPI"], extra=pair))
    assert codes(world_of(file)) == ["SceneMixed"]


def test_classes_are_as_few_as_the_rows_allow() -> None:
    """200 colliders, each in a group of its own and in one of three sorts, two of which pass through each other."""
    model = PhysicsModel()

    def add(name: str, members: list[str], ignored: tuple[str, ...] = ()) -> None:
        group = model.add(Prim(f"/{name}", "PhysicsCollisionGroup", is_xformable=False))
        group.add(usd_physics.CollisionGroup(includes=tuple(members), filtered_groups=ignored))

    colliders = [f"/C{index}" for index in range(200)]
    for path in colliders:
        add(f"Own{path[1:]}", [path])
    for sort in range(3):
        add(f"Sort{sort}", colliders[sort::3], ("/Sort1",) if sort == 0 else ())
    notices = Notices()
    found = filters.filters(model, {path: path for path in colliders}, {}, notices)
    assert notices.issues == []
    masks = [found.masks[path] for path in colliders]
    assert not found.pairs and len({mask.member for mask in masks}) == 3
    for a, b in itertools.combinations(range(12), 2):
        meets = bool(masks[a].meets & masks[b].member)
        assert meets == ({a % 3, b % 3} != {0, 1}) == bool(masks[b].meets & masks[a].member), (a, b)
    assert all(mask == masks[index % 3] for index, mask in enumerate(masks))


@pytest.mark.parametrize(
    ("includes", "options", "expected"),
    [
        (("/a",), {}, {"/a", "/a/x", "/a/y"}),
        (("/a",), {"expansion_rule": "explicitOnly"}, {"/a"}),
        (("/a",), {"excludes": ("/a/x",)}, {"/a", "/a/y"}),
        (("/a/x",), {"excludes": ("/a",)}, {"/a/x"}),
        ((), {"include_root": True}, {"/a", "/a/x", "/a/y", "/b"}),
        ((), {"membership_expression": "/a//"}, {"/a", "/a/x", "/a/y"}),
        ((), {"membership_expression": "/a/* + /b"}, {"/a/x", "/a/y", "/b"}),
        ((), {"membership_expression": "//* - /a/x"}, {"/a", "/a/y", "/b"}),
        ((), {"membership_expression": "/a/* & ~/a/x"}, {"/a/y"}),
        ((), {"membership_expression": "/?"}, {"/a", "/b"}),
        (("/b",), {"membership_expression": "/a//"}, {"/b"}),
        (("/b",), {"membership_expression": "/a//", "mode": "expression"}, {"/a", "/a/x", "/a/y"}),
    ],
)  # fmt: skip
def test_members_of_a_collection(includes: tuple[str, ...], options: dict, expected: set[str]) -> None:
    found = usd_physics.CollisionGroup(includes=includes or None, **options)
    assert collision_groups.members(found, ["/a", "/a/x", "/a/y", "/b"]) == expected


def test_groups_are_judged_as_the_matrix_judges_them() -> None:
    """Colliders of one group each: the preview and `MergedGroups.ignore_each_other` say the same of every pair."""
    rows = {
        "/A": {"merge_group": "arm", "filtered_groups": ("/C",)}, "/B": {"merge_group": "arm"}, "/C": {},
        "/D": {"merge_group": "table"}, "/E": {"merge_group": "table", "filtered_groups": ("/E",)},
        "/F": {"invert_filtered_groups": True, "filtered_groups": ("/D",)},
    }  # fmt: skip
    prims = {}
    for path, values in rows.items():
        prims[path] = Prim(path, "PhysicsCollisionGroup", is_xformable=False)
        prims[path].add(usd_physics.CollisionGroup(includes=(f"/Collider{path[1]}",), **values))
        prims[f"/Collider{path[1]}"] = Prim(f"/Collider{path[1]}", "Cube")
    model = PhysicsModel(prims=prims)
    groups = {path: prims[path].get(usd_physics.CollisionGroup) for path in rows}
    carriers = {path: path for path in prims if path.startswith("/Collider")}
    found = filters.filters(model, carriers, {}, Notices())
    merged = collision_groups.merge(groups)
    for one in rows:
        for other in rows:
            first, second = found.masks[f"/Collider{one[1]}"], found.masks[f"/Collider{other[1]}"]
            meets = bool(first.member & second.meets) and bool(second.member & first.meets)
            assert meets != merged.ignore_each_other(merged.number[one], merged.number[other]), (one, other)
    # By hand: B is in the merged group that filters C; F collides with what merges with D only.
    assert merged.ignore_each_other(merged.number["/B"], merged.number["/C"])
    assert not merged.ignore_each_other(merged.number["/F"], merged.number["/E"])
    assert merged.ignore_each_other(merged.number["/F"], merged.number["/C"])
