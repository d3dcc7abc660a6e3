# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is which prim: trees of prims and their objects, renamed, copied, reparented and deleted at random."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from usdphys_ext.usdphys_addon.bridge.identity import match, names
from usdphys_ext.usdphys_addon.bridge.identity.match import ObjectMatcher, Thing, find_written, originals
from usdphys_ext.usdphys_addon.core.model import PhysicsModel, Prim
from usdphys_ext.usdphys_addon.core.paths import followed, name_of, parent_of
from usdphys_ext.usdphys_addon.core.schemas import usd_physics

SEEDS = range(150)


class Scene:
    """Objects of an imported stage, with the edits of a user, and what each of them really is.

    truth: the object that the import made of each path, deleted ones as well. places: of objects, as in one dimension.
    """

    def __init__(self, seed: int, *, repeated: bool = True) -> None:
        self.random = random.Random(seed)
        self.paths = self.tree(repeated)
        self.objects: dict[str, Thing] = {}
        self.truth: dict[str, Thing] = {}
        for path in self.paths:
            made = self.add(name_of(path), self.truth.get(parent_of(path)), path)
            made.imported_name = made.name
            self.truth[path] = made

    def tree(self, repeated: bool) -> list[str]:
        """Paths of prims, parents first. repeated: below different parents, they have the same names."""
        found = ["/World"]
        for number in range(self.random.randint(1, 14)):
            name = self.random.choice(("Wheel", "Arm", "Hub", "Bolt", "Pin")) if repeated else f"Part{number}"
            path = f"{self.random.choice(found)}/{name}"
            if path not in found:
                found.append(path)
        return found

    def add(self, name: str, parent: Thing | None, path: str = "") -> Thing:
        name = names.free_name(name, self.objects)
        thing = self.objects[name] = Thing(object(), name, path, parent=parent)
        return thing

    def edit(self, kinds: tuple[str, ...], count: int) -> None:
        for number in range(count):
            thing = self.random.choice(list(self.objects.values()))
            getattr(self, self.random.choice(kinds))(thing, number)

    def rename(self, thing: Thing, number: int) -> None:
        del self.objects[thing.name]
        thing.name = f"Named{number}"
        self.objects[thing.name] = thing

    def duplicate(self, thing: Thing, number: int) -> None:
        """As Blender does: the copy remembers what its original does, and its name has a number."""
        base = names.copied_name(thing.name) or thing.name
        copy = self.add(names.free_name(base, {*self.objects, base}), thing.parent, thing.path)
        copy.imported_name = thing.imported_name

    def duplicate_renamed(self, thing: Thing, number: int) -> None:
        self.duplicate(thing, number)
        self.rename(list(self.objects.values())[-1], 100 + number)

    def reparent(self, thing: Thing, number: int) -> None:
        free = [other for other in self.objects.values() if thing not in above(other)]
        thing.parent = self.random.choice([None, *free])

    def delete(self, thing: Thing, number: int) -> None:
        if len(self.objects) > 1:
            del self.objects[thing.name]
            for other in self.objects.values():
                if other.parent is thing:
                    other.parent = thing.parent

    def model(self) -> PhysicsModel:
        """A body of each prim."""
        model = PhysicsModel()
        for path in self.paths:
            model.add(Prim(path, "Xform", schemas={"PhysicsRigidBodyAPI": usd_physics.RigidBodyAPI()}))
        return model


def above(thing: Thing | None) -> list[Thing]:
    """An object and all above it."""
    found = []
    while thing is not None:
        found.append(thing)
        thing = thing.parent
    return found


ALL = ("rename", "duplicate", "duplicate_renamed", "reparent", "delete")


@pytest.mark.parametrize("seed", SEEDS)
def test_each_path_has_its_object_or_is_ambiguous(seed) -> None:
    scene = Scene(seed)
    scene.edit(ALL, 8)
    living = list(scene.objects.values())
    found = originals(living)
    assert found.keys() == {thing.path for thing in living if thing.path}
    for path, same in found.items():
        original = scene.truth[path]
        if original in living:
            assert original in same, f"{original.name} is the original, not one of {[one.name for one in same]}"
            assert same == [original] or not original.keeps_name
        assert all(one.path == path for one in same)


@pytest.mark.parametrize("seed", SEEDS)
def test_attaching_and_an_export_of_edits_mean_the_same_objects(seed) -> None:
    """What decides for an import, for attaching, for paths in the source, and for the moves in a layer."""
    scene = Scene(seed)
    scene.edit(ALL, 8)
    living = scene.objects
    found = originals(living.values())
    matcher = ObjectMatcher(living.values(), scene.model())
    for path in scene.paths:
        same = found.get(path, [])
        if len(same) == 1:
            assert matcher.direct[path] == same[0].owner
        elif same:
            assert path not in matcher.direct and matcher.rivals[path] == ([one.name for one in same], [])
    taken = Counter(matcher.direct.values())
    assert not taken or max(taken.values()) == 1
    sources = names.SourcePaths(
        "/World", "/World/Looks", {same[0].name: path for path, same in found.items()}, {}, frozenset(scene.paths)
    )  # fmt: skip
    moves = moves_of(scene, sources)
    for name, path in sources.objects.items():
        thing = living[name]
        new = followed(path, moves)
        leaf = names.prim_name(name) if is_renamed(thing, living) else name_of(path)
        assert name_of(new) in (leaf, f"{leaf}_1", f"{leaf}_2")
        if thing.parent is not None and thing.parent.name in sources.objects:
            assert parent_of(new) == followed(sources.objects[thing.parent.name], moves), "below its parent's prim"
    ends = [followed(path, moves) for path in sources.objects.values()]
    assert len(set(ends)) == len(ends)


def is_renamed(thing: Thing, living: dict[str, Thing]) -> bool:
    return names.is_other_name(thing.name, thing.imported_name, living)


def moves_of(scene: Scene, sources: names.SourcePaths) -> dict[str, str]:
    moves = sources.moves(scene.objects, {}, lambda thing: is_renamed(thing, scene.objects), scene.paths)
    assert all(path.startswith(wanted) for _, wanted, path in moves.changed)
    return moves.new


@pytest.mark.parametrize("seed", SEEDS)
def test_unedited_objects_stay_where_they_are(seed) -> None:
    scene = Scene(seed)
    sources = names.SourcePaths(
        "/World", "/World/Looks", {thing.name: path for path, thing in scene.truth.items()}, {}, frozenset(scene.paths)
    )  # fmt: skip
    assert moves_of(scene, sources) == {}
    matcher = ObjectMatcher(scene.objects.values(), scene.model())
    assert matcher.direct == {path: thing.owner for path, thing in scene.truth.items()} and not matcher.rivals


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_objects_that_were_never_imported_are_found_by_their_names(seed, repeated) -> None:
    """Names that repeat below different parents are told apart by these. What is renamed has no prim, or its copy has.

    Where names repeat, nothing is edited: then a name is no proof.
    """
    scene = Scene(seed, repeated=repeated)
    for thing in scene.objects.values():
        thing.path = thing.imported_name = ""
    before = {path: thing.name for path, thing in scene.truth.items()}
    scene.edit(() if repeated else ("rename", "duplicate", "delete"), 0 if repeated else 8)
    matcher = ObjectMatcher(scene.objects.values(), scene.model())
    named = {thing.owner: thing for thing in scene.objects.values()}
    for path, thing in scene.truth.items():
        found = named.get(matcher.direct.get(path))
        if scene.objects.get(before[path]) is thing:
            assert found is thing, path
        elif found is not None:
            assert names.copied_name(found.name) == before[path], f"{path} is no {found.name}"
    for path, (called, others) in matcher.rivals.items():
        assert not others and {names.copied_name(name) for name in called} == {before[path]}, "copies of what is gone"


def test_names_decide_where_two_remember_one_prim() -> None:
    def found(*called: str, imported: str = "Wheel") -> list[str]:
        same = originals(Thing(name, name, "/Car/Wheel", imported) for name in called)
        return [thing.name for thing in same["/Car/Wheel"]]

    assert found("Wheel.001", "Wheel") == ["Wheel"]
    assert found("Wheel.001", "Rad") == ["Rad"], "the copy has the name that the original had"
    assert found("Rad.001", "Rad") == ["Rad"]
    assert found("Wheel.002", "Rad", imported="Wheel.001") == ["Rad"]
    assert found("Rad", "Roue") == ["Rad", "Roue"], "nothing tells them apart"
    assert found("Wheel.001", "Wheel.002") == ["Wheel.001", "Wheel.002"]
    linked = Thing("linked", "Wheel", "/Car/Wheel", "Wheel", is_editable=False)
    own = Thing("own", "Rad", "/Car/Wheel", "Wheel")
    assert originals([linked, own])["/Car/Wheel"] == [own]


def test_items_by_path_then_name_then_name_of_the_prim() -> None:
    steel, glass, numbered = Thing(1, "Steel", "/Looks/Glass", "Steel"), Thing(2, "Glass"), Thing(3, "Glass.1")
    things = [numbered, glass, steel]
    assert match.match_item(things, "/Looks/Glass", "Glass") is steel
    assert match.match_item(things, "/Looks/Glass", "Glass") is glass
    assert match.match_item(things, "/Looks/Glass", "Glass_1") is numbered
    assert things == [] and match.match_item(things, "/Looks/Glass", "Glass") is None


# --------------------------------------------------------------------------- prims of exported objects


class Written:
    """A stage that Blender's exporter has written: names by path, places by path."""

    def __init__(self, named: dict[str, str], places: dict[str, float]) -> None:
        self.named, self.places = named, places

    @property
    def chains(self) -> dict[tuple[str, ...], list[str]]:
        found: dict[tuple[str, ...], list[str]] = {}
        for path in self.named:
            above = [path[:end] for end, letter in enumerate(path) if letter == "/" and end] + [path]
            chain = tuple(self.named[one] for one in above if self.named.get(one))
            found.setdefault(chain, []).append(path)
        return found

    def object_name(self, path: str) -> str | None:
        return self.named.get(path)

    def distance(self, path: str, place: float) -> float:
        return abs(self.places[path] - place)


@pytest.mark.parametrize("seed", SEEDS)
def test_written_prims_are_found_under_whatever_name(seed) -> None:
    """Blender has given names of its own: each object is found by the names from the root down, copies by place."""
    scene = Scene(seed)
    scene.edit(ALL, 8)
    paths: dict[Thing, str] = {}
    order = sorted(scene.objects.values(), key=lambda thing: len(above(thing)))
    for number, thing in enumerate(order):
        paths[thing] = f"{paths[thing.parent] if thing.parent else '/root'}/p{number}"
    named = {path: thing.name for thing, path in paths.items()} | {"/root": ""}
    written = Written(named, dict.fromkeys(named, 0.0))
    for thing, path in paths.items():
        chain = tuple(one.name for one in above(thing)[::-1])
        wrong = scene.random.choice([*paths.values(), "/root/Elsewhere"])
        expected = wrong if named.get(wrong) != thing.name else "/root/Elsewhere"
        assert find_written(written, expected, chain, 0.0) == path
        assert find_written(written, path, ("any", thing.name), 0.0) == path, "where it was expected"


def test_instances_are_told_apart_by_place() -> None:
    written = Written({"/root/a": "Box", "/root/b": "Box"}, {"/root/a": 1.0, "/root/b": 5.0})
    assert find_written(written, "/root/Box", ("Box",), 4.0) == "/root/b"
    assert find_written(written, "/root/Box", ("Box",), 2.0) == "/root/a"


def test_names_in_other_letters() -> None:
    """Without a name of an object, the path counts, and the same in ASCII; not the prim of another object."""
    assert find_written(Written({"/root/R_d": ""}, {}), "/root/R_d", ("R_d",), 0.0) == "/root/R_d"
    assert find_written(Written({"/root/B__e": ""}, {}), "/root/Bäe", ("Bäe",), 0.0) == "/root/B__e"
    assert find_written(Written({"/root/B__e": "Other"}, {}), "/root/Bäe", ("Bäe",), 0.0) is None
    assert find_written(Written({}, {}), "/root/Box", ("Box",), 0.0) is None


def test_a_name_above_counts_more_than_its_copy() -> None:
    hub, copied_hub = Thing("hub", "Hub"), Thing("copied hub", "Hub.001")
    wheels = [Thing("wheel", "Wheel.001", parent=hub), Thing("other", "Wheel.002", parent=copied_hub)]
    model = PhysicsModel()
    model.add(Prim("/Hub/Wheel", "Xform", schemas={"PhysicsRigidBodyAPI": usd_physics.RigidBodyAPI()}))
    assert ObjectMatcher([hub, copied_hub, *wheels], model).direct["/Hub/Wheel"] == "wheel"
