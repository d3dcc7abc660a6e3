# SPDX-License-Identifier: GPL-3.0-or-later
"""What a proof says of one asset without any other: surfaces, joints that break, layers with other units."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from usdphys_ext.usdphys_addon.core import clock
from usdphys_ext.usdphys_addon.proving import at_start, bearing, oddities
from usdphys_ext.usdphys_addon.proving.budget import Budget
from usdphys_ext.usdphys_addon.proving.certificate import Check
from usdphys_ext.usdphys_addon.proving.prove import Wish, prove
from usdphys_ext.usdphys_addon.proving.runs import subject_of, with_floor
from usdphys_ext.usdphys_addon.usd import layer_units, overview, read

from .author import CENTIMETERS, METERS, File, Units, about, block

W = "/World"


@pytest.fixture(autouse=True)
def _time_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 0.0)


def checks_of(stage: Any, name: str) -> list[Check]:
    proof = prove(Wish("asset.usda", read.read_stage(stage), stage, sections=frozenset({"asset"})))
    return [check for check in proof.certificate.checks if check.name == name]


def stage_of(text: str) -> Any:
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(text)
    return Usd.Stage.Open(layer)


# --------------------------------------------------------------------------- surfaces


def box_with(*lines: str) -> Any:
    file = File(METERS)
    values = "\n".join(lines)
    file.add(f'def Material "Skin" (prepend apiSchemas = ["PhysicsMaterialAPI"])\n{{\n{values}\n}}')
    file.add(file.body("Box", (0, 0, 0.5), material=f"{W}/Skin"))
    return stage_of(file.text())


DYNAMIC, STATIC = "float physics:dynamicFriction = {}", "float physics:staticFriction = {}"
FRICTIONS = ["staticFriction", "dynamicFriction"]
RESTITUTION = "float physics:restitution = {}"


@pytest.mark.parametrize(("lines", "status", "attributes", "words"), [
    ([DYNAMIC.format(0.5), STATIC.format(0.6)], "pass", [], ""),
    ([DYNAMIC.format(0.0), STATIC.format(0.0)], "doubtful", FRICTIONS, "a friction of 0"),
    (["float physics:density = 900"], "doubtful", FRICTIONS, "does not say its friction"),
    ([DYNAMIC.format(60), STATIC.format(60)], "doubtful", FRICTIONS, "no surface has"),
    ([DYNAMIC.format(0.6)], "doubtful", FRICTIONS, "more dynamic (0.6)"),
    ([DYNAMIC.format(0.5), STATIC.format(0.5), RESTITUTION.format(1.05)], "doubtful", ["restitution"], "1.05"),
    ([DYNAMIC.format(-0.5), STATIC.format(0.5)], "fail", ["dynamicFriction"], "negative"),
])  # fmt: skip
def test_a_surface_that_nothing_has_is_doubtful_with_its_attribute(
    lines: list[str], status: str, attributes: list[str], words: str
) -> None:
    (check,) = checks_of(box_with(*lines), "surfaces")
    assert check.status == status
    assert [cause.attribute for cause in check.causes] == [f"physics:{name}" for name in attributes]
    assert words in check.message and (check.path == f"{W}/Skin") == (status != "pass")


def test_a_material_that_nothing_collides_with_is_not_looked_at() -> None:
    file = File(METERS)
    file.add(file.material("Skin", 0.0), file.body("Box", (0, 0, 0.5)))
    assert checks_of(stage_of(file.text()), "surfaces") == []


# --------------------------------------------------------------------------- joints that break


def lamp(force: float, torque: float = float("inf"), units: Units = METERS) -> Any:
    """2 kg that hang on a bracket from the world: 19.6 N and 9.81 N m at its frame."""
    file = File(units)
    file.add(
        file.body("Lamp", (0.5, 0, 2), mass=2.0, size=(0.2, 0.2, 0.2), collides=False),
        file.joint("Hook", "Fixed", "", f"{W}/Lamp", pos0=(0, 0, 2), pos1=(-0.5, 0, 0), break_force=force,
                   break_torque=torque),
    )  # fmt: skip
    return stage_of(file.text())


def borne(stage: Any) -> list[Check]:
    subject = subject_of(read.read_stage(stage))
    return list(bearing.checks_of("asset", subject, with_floor(subject), 1.1))


@pytest.mark.slow
def test_a_proof_asks_joints_that_break_what_they_bear() -> None:
    (check,) = checks_of(lamp(10.0), "bearing")
    assert (check.status, check.path) == ("fail", f"{W}/Hook")


@pytest.mark.parametrize("units", [METERS, CENTIMETERS], ids=lambda units: units.name)
@pytest.mark.parametrize(("force", "torque", "status", "attribute"), [
    (100.0, 100.0, "pass", ""), (10.0, 100.0, "fail", "physics:breakForce"),
    (25.0, 100.0, "doubtful", "physics:breakForce"), (100.0, 5.0, "fail", "physics:breakTorque"),
])  # fmt: skip
def test_a_joint_that_breaks_by_what_hangs_on_it_is_named_with_the_load(
    force: float, torque: float, status: str, attribute: str, units: Units
) -> None:
    (check,) = borne(lamp(force, torque, units))
    assert check.status == status
    assert [cause.attribute for cause in check.causes] == ([attribute] if attribute else [])
    if attribute == "physics:breakForce":
        assert "19.6" in check.message and f"{force:g} N" in check.message


def test_what_cannot_break_is_not_asked_what_it_bears() -> None:
    file = File(METERS)
    file.add(file.body("Lamp", (0.5, 0, 2)), file.joint("Hook", "Fixed", "", f"{W}/Lamp", pos0=(0.5, 0, 2)))
    assert borne(stage_of(file.text())) == []


def swing(force: float) -> Any:
    """A plank of 8 kg on two hinges that close a loop with the world: each bears 39 N."""
    file = File(METERS)
    file.add(file.body("Plank", (0, 0, 2), mass=8.0, size=(2.0, 0.2, 0.1), collides=False))
    for name, x in (("Left", -1.0), ("Right", 1.0)):
        file.add(
            file.body(f"Rope{name}", (x, 0, 2.5), mass=0.1, size=(0.05, 0.05, 0.9), collides=False),
            file.joint(f"Top{name}", "Revolute", "", f"{W}/Rope{name}", pos0=(x, 0, 3), pos1=(0, 0, 0.5), axis="Y"),
            file.joint(f"Foot{name}", "Revolute", f"{W}/Rope{name}", f"{W}/Plank", pos0=(0, 0, -0.5), pos1=(x, 0, 0),
                       axis="Y", break_force=force),
        )  # fmt: skip
    return stage_of(file.text())


@pytest.mark.parametrize(("force", "status"), [(200.0, "pass"), (20.0, "fail"), (60.0, "doubtful")])
def test_what_the_preview_does_not_know_of_a_loop_another_engine_is_asked(force: float, status: str) -> None:
    pytest.importorskip("mujoco", reason="needs MuJoCo")
    subject = subject_of(read.read_stage(swing(force)))
    alone = list(bearing.checks_of("asset", subject, with_floor(subject), 1.1))
    (check,) = bearing.checks_of("asset", subject, with_floor(subject), 1.1, ["mujoco"])
    assert check.status == status
    if alone[0].status == "skipped":
        assert "is not known: it is in a loop. So it is of 1 other joint." in alone[0].message
        assert ("and MuJoCo does" in check.message) == (status != "pass")


def test_joints_that_break_alike_are_told_together() -> None:
    file = File(METERS)
    for number in range(3):
        file.add(
            file.body(f"Lamp{number}", (number, 0, 2), mass=2.0, size=(0.2, 0.2, 0.2)),
            file.joint(f"Hook{number}", "Fixed", "", f"{W}/Lamp{number}", pos0=(number, 0, 2),
                       break_force=10.0),
        )  # fmt: skip
    (check,) = borne(stage_of(file.text()))
    assert check.message.endswith("So do 2 other joints.")
    assert len(check.causes) == 3


# --------------------------------------------------------------------------- what is not tried


def test_joints_that_are_left_out_for_one_reason_are_told_together() -> None:
    """A foot with 46 joints that follow another one had as many lines about them."""
    file = File(METERS)
    for number in range(4):
        file.add(
            file.body(f"Ball{number}", (2 * number, 0, 2)),
            file.joint(f"Socket{number}", "Spherical", "", f"{W}/Ball{number}", pos0=(2 * number, 0, 3),
                       pos1=(0, 0, 1)),
        )  # fmt: skip
    stage = stage_of(file.text())
    proof = prove(Wish("a", read.read_stage(stage), stage, sections=frozenset({"joints"})))
    (check,) = [one for one in proof.certificate.having("skipped") if "whole asset only" in one.message]
    assert check.message.endswith("So are 3 other joints.")
    assert check.data["joints"] == [f"{W}/Socket{number}" for number in range(4)]


def test_experiments_without_time_are_told_once_for_each_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    file = File(METERS)
    file.add(
        file.body("Bar", (0.5, 0, 2), size=(1.0, 0.1, 0.1), collides=False),
        file.joint("Pin", "Revolute", "", f"{W}/Bar", pos0=(0, 0, 2), pos1=(-0.5, 0, 0), axis="Y", low=-40, high=40),
    )  # fmt: skip
    monkeypatch.setattr(Budget, "has", lambda *_: False)
    proof = prove(Wish("a", read.read_stage(stage_of(file.text())), sections=frozenset({"joints"})))
    late = [one for one in proof.certificate.having("skipped") if one.data.get("engine") == "preview"]
    assert [len(one.data["experiments"]) > 1 for one in late] == [True]
    assert "There was no time for the free swing under gravity in" in late[0].message
    assert "other experiment" in late[0].message


# --------------------------------------------------------------------------- layers


def around(folder: Path, name: str, how: str, part: str, *, meters: float = 1.0, up: str = "Z") -> Any:
    """A stage in metres that has another file as a sublayer, or below a prim with a transform."""
    from pxr import Usd

    head = f'#usda 1.0\n(\n metersPerUnit = {meters}\n kilogramsPerUnit = 1\n upAxis = "{up}"\n'
    if how == "sublayer":
        text = head + f' defaultPrim = "World"\n subLayers = [@{part}@]\n)\n'
    else:
        text = head + f' defaultPrim = "Room"\n)\ndef Xform "Room"\n{{\n{how}\n def Xform "Asset" (\n' \
            f"  prepend references = @{part}@\n )\n {{\n }}\n}}\n"  # fmt: skip
    (folder / name).write_text(text)
    return Usd.Stage.Open(str(folder / name))


def part(folder: Path, units: Units) -> str:
    file = File(units)
    file.add(file.body("Box", (0, 0, 0.5), mass=2.0))
    (folder / "part.usda").write_text(file.text(scene=False))
    return "part.usda"


def scaled(factor: float) -> str:
    return f' double3 xformOp:scale = ({factor}, {factor}, {factor})\n uniform token[] xformOpOrder = ["xformOp:scale"]'


def turned(degrees: float) -> str:
    return f' float xformOp:rotateX = {degrees}\n uniform token[] xformOpOrder = ["xformOp:rotateX"]'


TURNED = ' float xformOp:rotateX = 90\n double3 xformOp:scale = (0.01, 0.01, 0.01)\n' \
    ' uniform token[] xformOpOrder = ["xformOp:rotateX", "xformOp:scale"]'  # fmt: skip


@pytest.mark.parametrize(("units", "how", "found"), [
    (METERS, "", []), (METERS, "sublayer", []),
    (Units("cm", 0.01, 1.0, "Z"), "", ["metersPerUnit"]), (Units("cm", 0.01, 1.0, "Z"), "sublayer", ["metersPerUnit"]),
    (Units("cm", 0.01, 1.0, "Z"), scaled(0.01), []), (Units("cm", 0.01, 1.0, "Z"), scaled(0.02), []),
    (METERS, scaled(0.01), []), (Units("cm", 0.01, 1.0, "Z"), scaled(100.0), ["metersPerUnit"]),
    (Units("up", 1.0, 1.0, "Y"), "", ["upAxis"]), (Units("up", 1.0, 1.0, "Y"), "sublayer", ["upAxis"]),
    (Units("all", 0.01, 1.0, "Y"), TURNED, []), (Units("up", 1.0, 1.0, "Y"), turned(-90), ["upAxis"]),
    (Units("up", 1.0, 1.0, "Y"), turned(90), []),
    (Units("grams", 1.0, 0.001, "Z"), "", ["kilogramsPerUnit"]),
    (CENTIMETERS, "sublayer", ["kilogramsPerUnit", "metersPerUnit", "upAxis"]),
])  # fmt: skip
def test_a_layer_with_other_units_that_nothing_corrects_is_named(
    tmp_path: Path, units: Units, how: str, found: list[str]
) -> None:
    stage = around(tmp_path, "room.usda", how, part(tmp_path, units))
    told = layer_units.other_units(stage)
    assert sorted(one.attribute for one in told) == found
    assert all("'part.usda'" in one.message for one in told)
    issues = [issue.code for issue in overview.overview(tmp_path / "room.usda").issues if issue.code == "LayerUnits"]
    assert len(issues) == len(found)


@pytest.mark.parametrize(("units", "how", "words"), [
    (Units("cm", 0.01, 1.0, "Z"), "", "it has 100 times its size. Scale '/Room/Asset' by 0.01"),
    (Units("cm", 0.01, 1.0, "Z"), scaled(100.0), "it has 1e+04 times its size. Scale '/Room/Asset' by 0.01"),
    (Units("up", 1.0, 1.0, "Y"), "", "it lies on its side. Turn '/Room/Asset' by 90 degrees"),
    (Units("up", 1.0, 1.0, "Y"), turned(-90), "it is upside down. Turn '/Room/Asset' by 90 degrees"),
    (Units("grams", 1.0, 0.001, "Z"), "", "it weighs 1000 times as much."),
])  # fmt: skip
def test_what_other_units_do_is_said_in_numbers(tmp_path: Path, units: Units, how: str, words: str) -> None:
    (one,) = layer_units.other_units(around(tmp_path, "room.usda", how, part(tmp_path, units)))
    assert words in f"{one.message} {one.fix}"


@pytest.mark.parametrize(("how", "words"), [("", ["it lies on its side"]), (turned(90), [])])
def test_what_a_layer_turns_itself_is_no_correction(tmp_path: Path, how: str, words: list[str]) -> None:
    """Blender writes a Z-up scene with Y up as a root that is turned by -90 degrees."""
    own = ' float xformOp:rotateX = -90\n uniform token[] xformOpOrder = ["xformOp:rotateX"]\n'
    head = '#usda 1.0\n(\n defaultPrim = "root"\n metersPerUnit = 1\n upAxis = "Y"\n)\n'
    (tmp_path / "y.usda").write_text(head + f'def Xform "root"\n{{\n{own}\n def Cube "Box" {{}}\n}}\n')
    found = layer_units.other_units(around(tmp_path, "room.usda", how, "y.usda"))
    assert [one.message.split(": ")[1].rstrip(".") for one in found] == words


def test_a_layer_in_a_corrected_layer_is_measured_by_that_one(tmp_path: Path) -> None:
    """A part in centimetres in a house in centimetres, which is scaled in the town in metres."""
    part(tmp_path, Units("cm", 0.01, 1.0, "Z"))
    around(tmp_path, "house.usda", "", "part.usda", meters=0.01)
    assert layer_units.other_units(around(tmp_path, "town.usda", scaled(0.01), "house.usda")) == []
    (one,) = layer_units.other_units(around(tmp_path, "large.usda", "", "house.usda"))
    assert (one.path, one.attribute, one.said, one.around) == ("/Room/Asset", "metersPerUnit", "0.01", "1")


@pytest.mark.parametrize(("how", "path"), [("", "/Room/Asset"), ("sublayer", "/")])
def test_a_proof_names_the_unit_of_a_layer(tmp_path: Path, how: str, path: str) -> None:
    stage = around(tmp_path, "room.usda", how, part(tmp_path, Units("cm", 0.01, 1.0, "Z")))
    (check,) = checks_of(stage, "units")
    assert (check.status, check.path, [cause.attribute for cause in check.causes]) == (
        "doubtful", path, ["metersPerUnit"]
    )  # fmt: skip
    assert "centimetres" in check.causes[0].hint and "part.usda" in check.message


def test_what_has_no_physics_may_have_any_unit_in_a_proof(tmp_path: Path) -> None:
    head = '#usda 1.0\n(\n defaultPrim = "Tree"\n metersPerUnit = 0.01\n)\n'
    (tmp_path / "tree.usda").write_text(head + 'def Cube "Tree" {}')
    stage = around(tmp_path, "room.usda", "", "tree.usda")
    assert [check.status for check in checks_of(stage, "units")] == ["pass"]


# --------------------------------------------------------------------------- numbers that no joint has


def arm(*, low: float = -1.5, high: float = 1.5, hinges: int = 1, target: float | None = None, armature: float = 0.0,
        kind: str = "Revolute") -> Any:  # fmt: skip
    """Bars of 1 kg and 0.4 m in a row, the first one on the world. low, high, target: degrees, or metres of a slide."""
    file, unit = File(METERS), math.pi / 180.0 if kind == "Revolute" else 1.0
    drive = {"stiffness": 50.0, "damping": 5.0, "targetPosition": (target or 0.0) * unit}
    dof = "angular" if kind == "Revolute" else "linear"
    for number in range(hinges):
        file.add(
            file.body(f"Bar{number}", (0.4 * number, 0, 1), size=(0.3, 0.05, 0.05), mass=1.0, collides=False),
            file.joint(
                f"Joint{number}", kind, f"{W}/Bar{number - 1}" if number else "", f"{W}/Bar{number}",
                pos0=(0.2, 0, 0) if number else (-0.2, 0, 1), pos1=(-0.2, 0, 0), axis="Z",
                low=None if low == -math.inf else low * unit, high=None if high == math.inf else high * unit,
                drives={} if target is None else {dof: drive},
                apis=["NewtonJointAPI"] * bool(armature),
                lines=[f"float newton:armature = {armature}"] * bool(armature),
            ),
        )  # fmt: skip
    return stage_of(file.text())


def odd(stage: Any) -> list[Check]:
    found = oddities.checks_of(subject_of(read.read_stage(stage)), lambda: True)
    return [check for check in found if check.status != "pass"]


def causes_of(check: Check) -> list[tuple[str, str]]:
    return [(cause.path, cause.attribute) for cause in check.causes]


@pytest.mark.parametrize(("values", "attributes"), [
    ({"low": -1.5708, "high": 1.5708}, ["physics:lowerLimit", "physics:upperLimit"]),
    ({"low": 0.0, "high": 3.14}, ["physics:upperLimit"]),
    ({"low": -5.0, "high": 1.5708}, ["physics:lowerLimit", "physics:upperLimit"]),
    ({"low": -1.5708, "high": 100.0}, ["physics:lowerLimit"]),
    ({"low": -90.0, "high": 90.0, "target": 0.7854}, ["drive:angular:physics:targetPosition"]),
    ({"low": -math.inf, "high": math.inf, "target": 0.7854}, ["drive:angular:physics:targetPosition"]),
    ({"low": 0.0, "high": 5156.62}, ["physics:upperLimit"]),
    ({"low": 0.0, "high": 3600.0}, []),
    ({"low": -1.5, "high": 1.5}, []),
    ({"low": 0.0, "high": 1.5708, "kind": "Prismatic"}, []),
])  # fmt: skip
def test_an_angle_in_the_wrong_unit_is_doubtful_without_another_file(values: Any, attributes: list[str]) -> None:
    found = odd(arm(**values))
    assert [check.name for check in found] == ["angles"] * bool(attributes)
    assert [causes_of(check) for check in found] == [[(f"{W}/Joint0", name) for name in attributes]] * len(found)


@pytest.mark.parametrize(("hinges", "step", "is_told"), [(2, -0.3, False), (4, -0.3, True), (4, 0.0, False)])
def test_many_hinges_that_hardly_turn_have_limits_in_radians(hinges: int, step: float, is_told: bool) -> None:
    """step: by which the limits of the next hinge are others. All links of a chain turn by as little."""
    stage = arm(low=-2.8973, high=2.8973, hinges=hinges)
    for number in range(hinges):
        stage.GetPrimAtPath(f"{W}/Joint{number}").GetAttribute("physics:upperLimit").Set(2.8973 + number * step)
    assert [check.message for check in odd(stage)] == [
        f"{W}/Joint0 has an angle of -2.897 degrees: in radians, that is one of -166 degrees. So do 3 other joints."
    ] * is_told


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
@pytest.mark.parametrize(("armature", "is_told"), [(0.04, False), (2.0, False), (200.0, True)])
def test_a_rotor_that_outweighs_all_that_hangs_together_is_doubtful(kind: str, armature: float, is_told: bool) -> None:
    """Of real robots, small ones have the largest: some ten times of what their links have."""
    found = odd(arm(armature=armature, hinges=3, low=-90, high=90, kind=kind))
    said = {(f"{W}/Joint{number}", "newton:armature") for number in range(3)}
    assert [(check.name, set(causes_of(check))) for check in found] == [("armature", said)] * is_told


@pytest.mark.parametrize(
    ("density", "is_told"), [(7.85, True), (0.7, True), (30.0, False), (7850.0, False), (7.85e6, True)]
)
@pytest.mark.parametrize("place", ["body", "collider", "material"])
def test_a_density_in_grams_is_named_wherever_it_is_said(place: str, density: float, is_told: bool) -> None:
    said = f"float physics:density = {density}"
    file, extra = File(METERS), {}
    if place == "body":
        extra = {"apis": ["PhysicsMassAPI"], "extra": [said]}
    elif place == "collider":
        shape = block("Cube", "Shape", ["double size = 0.2", said], ["PhysicsCollisionAPI", "PhysicsMassAPI"])
        extra = {"geometry": shape}
    else:
        extra = {"material": f"{W}/Steel"}
        frictions = [f"float physics:{kind}Friction = 0.5" for kind in ("dynamic", "static")]
        file.add(block("Material", "Steel", [said, *frictions], ["PhysicsMaterialAPI"]))
    file.add(file.body("Box", mass=None, size=(0.2,) * 3, **extra))
    found = odd(stage_of(file.text()))
    path = {"body": f"{W}/Box", "collider": f"{W}/Box/Shape", "material": f"{W}/Steel"}[place]
    assert [causes_of(check) for check in found] == [[(path, "physics:density")]] * is_told


@pytest.mark.parametrize(("mass", "center", "names"), [
    (3.0, -0.06, []), (3000.0, -0.06, ["density", "center"]), (3.0, -6.0, ["center"]),
])  # fmt: skip
def test_a_link_that_collides_with_less_than_it_is_has_no_odd_mass(
    mass: float, center: float, names: list[str]
) -> None:
    """The hip of a humanoid: 3 kg, a collider of 6 cm3 at its axis, and the moments of a motor of 6 cm beside it."""
    file = File(METERS)
    file.add(file.body("Hip", (0, 0, 1), size=(0.018,) * 3, mass=mass, inertia=(0.005, 0.005, 0.004),
                       center=(center, 0.0, 0.0)))  # fmt: skip
    fields = {"density": "physics:mass", "center": "physics:centerOfMass"}
    found = [name for check in odd(stage_of(file.text())) for _, name in causes_of(check) if name in fields.values()]
    assert found == [fields[name] for name in names]


def welded(**joint: Any) -> Any:
    """Two boxes whose frames meet 0.3 m beside the first one, of which the second one is turned."""
    file = File(METERS)
    file.add(
        file.body("A", (0, 0, 2), size=(0.2,) * 3), file.body("B", (0.5, 0.1, 2), about("Z", 70.0), size=(0.2,) * 3),
        file.joint("Weld", "Fixed", **{
            "body0": f"{W}/A", "body1": f"{W}/B", "pos0": (0.5, 0.1, 0), "rot0": about("Z", 70.0), **joint
        }),
    )  # fmt: skip
    return stage_of(file.text())


@pytest.mark.slow
@pytest.mark.parametrize(("joint", "attributes", "hint"), [
    ({"body0": f"{W}/B", "body1": f"{W}/A"}, ["physics:body0", "physics:body1"], "they fit exchanged"),
    ({"rot0": (0.0, 0.0, math.sin(math.radians(35)), math.cos(math.radians(35)))}, ["physics:localRot0"],
     "its numbers fit in the order x, y, z, w"),
    ({"rot0": about("Z", -70.0)}, ["physics:localRot0"], "its inverse fits"),
])  # fmt: skip
def test_a_joint_that_starts_apart_names_exchanged_bodies_and_the_order_of_a_rotation(
    joint: dict[str, Any], attributes: list[str], hint: str
) -> None:
    assert [check.status for check in checks_of(welded(), "joints")] == ["pass"]
    (check,) = checks_of(welded(**joint), "joints")
    assert causes_of(check) == [(f"{W}/Weld", name) for name in attributes]
    assert {cause.hint for cause in check.causes} == {hint}


@pytest.mark.slow
def test_a_drive_that_is_damped_too_much_has_its_damping_as_the_cause() -> None:
    """A damping for each radian, said for each degree."""
    file, angle = File(METERS), math.pi / 180.0
    drive = {"stiffness": 50.0, "damping": 5.0 / angle, "targetPosition": 0.5}
    file.add(
        file.body("Arm", (0.2, 0, 1), size=(0.4, 0.05, 0.05), mass=1.0, collides=False),
        file.joint("Hinge", "Revolute", "", f"{W}/Arm", pos0=(0, 0, 1), pos1=(-0.2, 0, 0), axis="Z",
                   drives={"angular": drive}),
    )  # fmt: skip
    stage = stage_of(file.text())
    found = prove(Wish("a.usda", read.read_stage(stage), stage, sections=frozenset({"joints"}))).certificate.checks
    (check,) = [one for one in found if one.name == "drive moves"]
    assert check.status != "pass"
    assert causes_of(check) == [(f"{W}/Hinge", "drive:angular:physics:damping")]


def crane(force: float) -> Any:
    """A driven boom of 1 kg on the world, with a lamp of 2 kg that is welded to its end."""
    file = File(METERS)
    drive = {"stiffness": 5000.0, "damping": 200.0}
    file.add(
        file.body("Boom", (0.5, 0, 2), size=(1.0, 0.05, 0.05), mass=1.0, collides=False),
        file.body("Lamp", (1.1, 0, 2), size=(0.2,) * 3, mass=2.0, collides=False),
        file.joint("Luff", "Revolute", "", f"{W}/Boom", pos0=(0, 0, 2), pos1=(-0.5, 0, 0), axis="Y",
                   drives={"angular": drive}, break_force=force),
        file.joint("Hook", "Fixed", f"{W}/Boom", f"{W}/Lamp", pos0=(0.6, 0, 0)),
    )  # fmt: skip
    return stage_of(file.text())


@pytest.mark.slow
@pytest.mark.parametrize(("force", "status"), [(20.0, "fail"), (1000.0, "pass")])
def test_a_joint_that_breaks_is_told_by_its_break_force_and_not_as_a_weak_drive(force: float, status: str) -> None:
    """29.4 N hang on it. The drive of a joint that had broken was called too weak, with its stiffness as the cause."""
    (bears,) = checks_of(crane(force), "bearing")
    assert bears.status == status
    assert causes_of(bears) == [(f"{W}/Luff", "physics:breakForce")] * (status == "fail")
    (drives,) = checks_of(crane(force), "drives")
    assert (drives.status, drives.causes) == ("skipped" if status == "fail" else "pass", ())


# --------------------------------------------------------------------------- what nobody listens to

HEAD = '#usda 1.0\n(\n defaultPrim = "Cart"\n metersPerUnit = 1\n upAxis = "Z"\n)\n'
CART = (
    'def Xform "Cart"\n{\ndef Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", '
    '"PhysicsCollisionAPI"])\n{\nfloat physics:mass = 2\n}\n}\n'
)


def carts(folder: Path, *, is_instance: bool, name: str = "physics:mass") -> Any:
    """A stage that references a cart, and says of its box that it weighs 5 kg."""
    from pxr import Usd

    (folder / "cart.usda").write_text(HEAD + CART)
    instanceable = "instanceable = true" if is_instance else ""
    over = f'over "Box"\n{{\nfloat {name} = 5\n}}\n'
    (folder / "yard.usda").write_text(
        f'{HEAD}def Xform "Cart" (\nprepend references = @cart.usda@\n{instanceable}\n)\n{{\n{over}}}\n'
    )
    return Usd.Stage.Open(str(folder / "yard.usda"))


@pytest.mark.parametrize(("is_instance", "name", "is_told"), [
    (True, "physics:mass", True), (False, "physics:mass", False), (True, "userProperties:mass", False),
])  # fmt: skip
def test_an_edit_below_an_instance_is_named_because_usd_leaves_it_out(
    tmp_path: Path, is_instance: bool, name: str, is_told: bool
) -> None:
    stage = carts(tmp_path, is_instance=is_instance, name=name)
    (check,) = checks_of(stage, "unheard")
    assert check.status == ("doubtful" if is_told else "pass")
    assert causes_of(check) == [("/Cart/Box", "physics:mass")] * is_told
    issues = [issue.code for issue in overview.overview(tmp_path / "yard.usda").issues]
    assert ("InstanceEdited" in issues) == is_told


def test_an_instance_that_holds_another_one_hides_nothing_of_what_it_references(tmp_path: Path) -> None:
    from pxr import Usd

    carts(tmp_path, is_instance=True)
    (tmp_path / "town.usda").write_text(
        HEAD + 'def Xform "Cart" (\nprepend references = @yard.usda@\ninstanceable = true\n)\n{\n}\n'
    )
    (tmp_path / "cart.usda").write_text(HEAD + CART)
    (tmp_path / "yard.usda").write_text(
        HEAD + 'def Xform "Cart"\n{\ndef "Inner" (\nprepend references = @cart.usda@\ninstanceable = true\n)\n{\n}\n}\n'
    )
    (check,) = checks_of(Usd.Stage.Open(str(tmp_path / "town.usda")), "unheard")
    assert check.status == "pass"


@pytest.mark.parametrize(
    ("purpose", "is_told"), [("", False), (":physics", False), (":preview", True), (":full", True)]
)
def test_a_physics_material_that_is_bound_for_pictures_is_named(purpose: str, is_told: bool, tmp_path: Path) -> None:
    file = File(METERS)
    binding = f"rel material:binding{purpose} = <{W}/Ice>"
    shape = block("Cube", "Shape", [binding], ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    file.add(
        block("Material", "Ice", ["float physics:dynamicFriction = 0.1", "float physics:staticFriction = 0.1"],
              ["PhysicsMaterialAPI"]),
        file.body("Box", (0, 0, 0.5), geometry=shape),
    )  # fmt: skip
    (check,) = checks_of(stage_of(file.text()), "unheard")
    assert check.status == ("doubtful" if is_told else "pass")
    assert causes_of(check) == [(f"{W}/Box/Shape", f"material:binding{purpose}")] * is_told
    (tmp_path / "a.usda").write_text(file.text())
    codes = [issue.code for issue in overview.overview(tmp_path / "a.usda").issues]
    assert ("MaterialOtherPurpose" in codes) == is_told


@pytest.mark.parametrize(("old", "new", "names"), [
    ('def PhysicsDistanceJoint "Rope"', 'def DistancePhysicsJoint "Rope"', {"physics:body1", "physics:maxDistance"}),
    ("physics:maxDistance", "physics:maxDistanse", {"physics:maxDistanse"}),
    ("", "", set()),
])  # fmt: skip
def test_what_nobody_reads_because_of_a_name_is_told_with_the_name(old: str, new: str, names: set[str]) -> None:
    """A public sample has the name that the type of a joint had before it was declared: its box fell without a cause.
    What is zero in a wrong name does no harm."""
    file = File(METERS)
    file.add(
        file.body("Box", (0, 0, 1), size=(0.2,) * 3, extra=["vector3f physics:linearVelocity = (0, 0, 0)"]),
        file.joint("Rope", "Distance", "", f"{W}/Box", pos0=(0, 0, 2), distance=(-1, 1.0)),
    )
    checks = checks_of(stage_of(file.text().replace(old, new) if old else file.text()), "unheard")
    assert {check.status for check in checks} == ({"doubtful"} if names else {"pass"})
    assert names <= {name for check in checks for _, name in causes_of(check)}


@pytest.mark.slow
def test_a_cause_is_named_once_where_a_body_is_its_own_collider() -> None:
    file = File(METERS)
    lines = ["double size = 1", "double3 xformOp:translate = (0, 0, 0.5)", f"rel physics:filteredPairs = <{W}/Ground>",
             'uniform token[] xformOpOrder = ["xformOp:translate"]']  # fmt: skip
    apis = ["PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI", "PhysicsCollisionAPI"]
    file.add(block("Cube", "Box", lines, apis), file.ground())
    (check,) = checks_of(stage_of(file.text()), "rest")
    assert causes_of(check) == [(f"{W}/Box", "physics:filteredPairs")]


@pytest.mark.slow
@pytest.mark.parametrize("flies", [True, False])
def test_what_gravity_does_not_act_on_flies_on_and_gains_no_energy_by_its_height(flies: bool) -> None:
    """A public sample in which a box flies for ever was said not to come to rest."""
    file = File(METERS)
    values = {"apis": ["PhysxRigidBodyAPI"], "extra": [f"bool physxRigidBody:disableGravity = {int(flies)}"]}
    file.add(file.body("Kite", (0, 0, 1), size=(0.2,) * 3, velocity=(0, 0, 0.5), **values), file.ground(-500.0))
    stage = stage_of(file.text())
    assert [checks_of(stage, name)[0].status for name in ("rest", "energy")] == ["pass" if flies else "fail", "pass"]


# --------------------------------------------------------------------------- joints that follow


def finger(offset: float, ratio: float = 1.0, leader_at: float = 0.0, apis: str = "NewtonMimicAPI") -> Any:
    """A joint at zero that follows another one, which is turned by so many degrees. offset: degrees."""
    file = File(METERS)
    turn = math.radians(leader_at) / 2.0
    lines = [f"rel newton:mimicJoint = <{W}/Lead>", f"float newton:mimicCoef1 = {ratio}"]
    lines += [f"float newton:mimicCoef0 = {offset}"] * (offset != 0.0)
    for number, name in enumerate(("Lead", "Follow")):
        file.add(file.body(f"Bar{number}", (0.5, 0.5 * number, 1), mass=0.1, size=(1, 0.05, 0.05), collides=False))
        file.add(file.joint(
            name, "Revolute", "", f"{W}/Bar{number}", pos0=(0, 0.5 * number, 1), pos1=(-0.5, 0, 0), axis="Y",
            rot0=(math.cos(turn), 0, -math.sin(turn), 0) if name == "Lead" else (1, 0, 0, 0),
            apis=[apis] * number, lines=lines * number,
        ))  # fmt: skip
    return stage_of(file.text())


@pytest.mark.parametrize(("offset", "ratio", "leader_at", "attributes", "words"), [
    (0.0, 1.0, 0.0, None, ""), (30.0, 1.0, 0.0, ["newton:mimicCoef0", "newton:mimicCoef1"], "at 30 degrees"),
    (0.0, 2.0, 20.0, ["newton:mimicCoef1"], "at 40 degrees"), (-40.0, 2.0, 20.0, None, ""),
    (360.0, 1.0, 0.0, None, ""),
])  # fmt: skip
@pytest.mark.parametrize("is_posed", [True, False])
def test_a_joint_that_starts_where_its_leader_does_not_have_it_is_named_with_the_numbers(
    offset: float, ratio: float, leader_at: float, attributes: list[str] | None, words: str, is_posed: bool
) -> None:
    subject = subject_of(read.read_stage(finger(offset, ratio, leader_at)))
    (check,) = at_start.followers(subject, at_start.Pose(is_posed))
    if attributes is None:
        assert check.status == "pass"
        return
    assert check.status == ("fail" if is_posed else "doubtful") and at_start.is_of_the_start(check)
    assert [cause.attribute for cause in check.causes] == attributes
    assert words in check.message and check.path == f"{W}/Follow"
    assert ("no pose to start in" in check.message) != is_posed


def test_without_a_joint_that_follows_nothing_is_said_of_followers() -> None:
    assert list(at_start.followers(subject_of(read.read_stage(lamp(10.0))), at_start.POSED)) == []


@pytest.mark.slow
def test_the_energy_of_a_joint_that_is_pulled_to_its_leader_is_not_from_nowhere() -> None:
    """A hand whose fingers follow with an offset gained 15 mJ "from no source"."""
    stage = finger(40.0)
    wish = Wish("hand.urdf", read.read_stage(stage), stage, sections=frozenset({"asset"}), is_posed=False)
    checks = {check.name: check for check in prove(wish).certificate.checks}
    assert (checks["followers"].status, checks["energy"].status) == ("doubtful", "skipped")
    assert "pulled there" in checks["energy"].message
