"""The API without Blender: names, values and units, stages as values, and the list of all that is public."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
from pathlib import Path

import api_page
import api_surface
import numpy as np
import pytest
from pxr import Usd
from usdphys_ext.usdphys_addon import api
from usdphys_ext.usdphys_addon.api.unit_text import read_unit
from usdphys_ext.usdphys_addon.core import validate


@pytest.fixture
def stage(tmp_path: Path):
    (tmp_path / "crates.usda").write_text(api_page.STAGE, encoding="utf-8")
    with api.open_stage(tmp_path / "crates.usda") as opened:
        yield opened


# --------------------------------------------------------------------------- what is public


def test_what_is_public_is_as_listed() -> None:
    """A change here can break scripts of others. Add what is new to the list; see "What stays as it is" in docs/api.md.

    The list is made anew with `.venv-usd/bin/python tests/api_surface.py`.
    """
    assert api_surface.surface(api) == api_surface.LISTED.read_text(encoding="utf-8")


def test_everything_public_has_a_docstring() -> None:
    for module in (api, api.generate):
        for name in module.__all__:
            thing = getattr(module, name)
            assert inspect.getdoc(thing), name
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_") and inspect.isfunction(value):
                    assert inspect.getdoc(value), (name, member)


def test_the_package_is_typed() -> None:
    assert (Path(api.__file__).parents[1] / "py.typed").is_file()


def test_the_import_brings_neither_blender_nor_usd() -> None:
    code = (
        "import sys; from usdphys_addon import api; print([n for n in ('bpy', 'pxr', 'rapier3d') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=api_page.ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_what_needs_blender_says_so_in_one_sentence() -> None:
    for call in (
        lambda: api.open_scene("a.blend"), lambda: api.tag("Crate", "dynamic"), lambda: api.export("a.usda"),
        lambda: api.get_value("Crate", "physics:mass"), lambda: api.set_value("Crate", "physics:mass", 1.0),
        lambda: api.bake(), lambda: api.generate.rope("Crate"), lambda: api.validate_file("a.blend"),
        lambda: api.simulate_scene(1.0), lambda: api.fix_scene(), lambda: api.convert("a.usda", "b.glb"),
    ):  # fmt: skip
        with pytest.raises(api.NeedsBlenderError, match=r"\(\) needs Blender, which is not here; run the script in"):
            call()


# --------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("physics:maas", "physics:mass"),
        ("mass", "physics:mass"),
        ("physics:Mass", "physics:mass"),
        ("drive:angular:physics:stifness", "drive:angular:physics:stiffness"),
        ("linearDamping", "physxRigidBody:linearDamping"),
        ("physxRigidBody:lineardamping", "physxRigidBody:linearDamping"),
        ("newton:armatur", "newton:armature"),
    ],
)
def test_an_unknown_name_names_the_nearest_one(typo: str, meant: str) -> None:
    with pytest.raises(api.InputError, match=f"No schema has an attribute '{typo}'; did you mean '{meant}'"):
        api.describe(typo)


def test_a_name_that_is_like_none_says_where_they_are_listed() -> None:
    with pytest.raises(api.InputError, match=r"attributes\(\) lists"):
        api.describe("§§§§")


def test_an_attribute_of_several_schemas_is_described_for_each() -> None:
    found = {one.schema: one for one in api.describe("physics:density")}
    assert set(found) == {"PhysicsMassAPI", "PhysicsMaterialAPI"}
    assert found["PhysicsMassAPI"].unit == "kg/m³"
    (tendon,) = api.describe("physxTendon:left:stiffness")[:1]
    assert tendon.schema.endswith(":left")


def test_attributes_of_one_schema() -> None:
    assert [one.name for one in api.attributes("PhysicsMassAPI")] == [
        "physics:centerOfMass", "physics:density", "physics:diagonalInertia", "physics:mass", "physics:principalAxes",
    ]  # fmt: skip
    assert len(api.attributes()) > 500
    with pytest.raises(api.InputError, match="did you mean 'PhysicsMassAPI'"):
        api.attributes("PhysicMassAPI")


@pytest.mark.parametrize(
    ("text", "factor"),
    [
        ("g", 1e-3), ("cm", 1e-2), ("°", math.radians(1.0)), ("deg/s", math.radians(1.0)), ("N·m/rad", 1.0),
        ("N·m/°", math.degrees(1.0)), ("g/cm³", 1000.0), ("kg/m^3", 1.0), ("kg·m²", 1.0),
        ("N*m*s/deg", math.degrees(1.0)),        ("1/s", 1.0), ("mm", 1e-3),
    ],
)  # fmt: skip
def test_units_are_read(text: str, factor: float) -> None:
    found = read_unit(text)
    assert found is not None and found.factor == pytest.approx(factor)


@pytest.mark.parametrize("text", ["", "kilo", "m//s", "kg m-", "5", "m/s/"])
def test_what_is_no_unit_is_not_read(text: str) -> None:
    assert read_unit(text) is None


# --------------------------------------------------------------------------- values of a stage


def test_values_are_si_whatever_the_units_of_the_file(stage: api.Stage) -> None:
    assert stage.units.meters_per_unit == 0.01 and stage.units.up_axis == "Y"
    assert stage.bodies == ("/World/Red", "/World/Plain")
    assert stage.get_value("/World/Red", "physics:mass") == 3.0
    assert stage.get_value("/World/Plain", "physics:mass") is None
    stage.set_value("/World/Red", "physics:velocity", [1, 0, 0])
    stage.set_value("/World/Red", "physics:angularVelocity", (0.0, math.pi, 0.0), unit="rad/s")
    assert stage.get_value("/World/Red", "physics:angularVelocity") == pytest.approx((0.0, 180.0, 0.0))
    stage.set_value("/World/Red", "physics:velocity", (3.6, 0.0, 0.0), unit="km/h")
    assert stage.get_value("/World/Red", "physics:velocity") == pytest.approx((1.0, 0.0, 0.0))
    report = stage.save(stage.path.with_name("out.usda"))
    saved = Usd.Stage.Open(str(report.path))
    prim = saved.GetPrimAtPath("/World/Red")
    # One metre is a hundred units of the file.
    assert tuple(prim.GetAttribute("physics:velocity").Get()) == pytest.approx((100.0, 0.0, 0.0))
    assert tuple(prim.GetAttribute("physics:angularVelocity").Get()) == pytest.approx((0.0, 180.0, 0.0))


WRONG_VALUES = [
    ("physics:mass", "heavy", None, "takes a number (kg), and not 'heavy'"),
    ("physics:mass", True, None, "takes a number (kg), and not True"),
    ("physics:mass", [1.0], None, "takes a number (kg), and not [1.0]"),
    ("physics:mass", math.nan, None, "takes numbers, and not NaN"),
    ("physics:mass", math.inf, None, "takes finite numbers, and not inf"),
    ("physics:mass", 1e38, None, "takes numbers below 1e+37"),
    ("physics:mass", 1.0, "cm", "'cm' is no unit for 'physics:mass', which takes kg"),
    ("physics:mass", 1.0, "stone", "'physics:mass' takes kg. Put · or / between m, km,"),
    ("physics:velocity", 1.0, None, "takes 3 numbers (m/s), and not 1.0"),
    ("physics:velocity", (1.0, 2.0), None, "takes 3 numbers (m/s), and not (1.0, 2.0)"),
    ("physics:kinematicEnabled", 1, None, "takes True or False, and not 1"),
    ("physics:kinematicEnabled", True, "kg", "'kg' is no unit for 'physics:kinematicEnabled'"),
    ("physics:approximation", "convexhull", None, "did you mean 'convexHull'"),
    ("physics:approximation", 3, None, "takes a text, and not 3"),
    ("physxRigidBody:solverPositionIterationCount", 1.5, None, "takes a whole number, and not 1.5"),
    ("physics:staticFriction", 0.5, None, "cannot have 'physics:staticFriction'"),
    ("physics:lowerLimit", 0.5, None, "cannot have 'physics:lowerLimit'"),
    ("physics:maas", 1.0, None, "did you mean 'physics:mass'"),
]


@pytest.mark.parametrize(("name", "value", "unit", "sentence"), WRONG_VALUES)
def test_a_wrong_value_raises_one_sentence_and_sets_nothing(stage: api.Stage, name, value, unit, sentence) -> None:
    with pytest.raises(api.InputError) as error:
        stage.set_value("/World/Red", name, value, unit=unit)
    assert sentence in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(api.InputError):
        stage.set_values("/World/Red", {"physics:mass": 9.0, "physxRigidBody:linearDamping": 0.5, name: math.nan})
    assert stage.get_value("/World/Red", "physics:mass") == 3.0
    assert "PhysxRigidBodyAPI" not in stage.applied("/World/Red")


def test_values_of_numpy_are_taken(stage: api.Stage) -> None:
    stage.set_value("/World/Red", "physics:mass", np.float32(2.5))
    stage.set_value("/World/Red", "physics:centerOfMass", np.array([0.5, 0.25, 0.0]))
    assert stage.get_value("/World/Red", "physics:mass") == 2.5
    stage.set_value("/World/Red", "physics:mass", np.float32(0.1))
    assert stage.get_value("/World/Red", "physics:mass") == 0.1
    assert stage.get_value("/World/Red", "physics:centerOfMass") == (0.5, 0.25, 0.0)


def test_an_unknown_prim_names_the_nearest_one(stage: api.Stage) -> None:
    with pytest.raises(api.InputError, match="did you mean '/World/Red'"):
        stage.get_value("/World/Rod", "physics:mass")
    with pytest.raises(api.InputError, match="has no physics"):
        stage.get_value("/World", "physics:mass")


def test_a_relationship_takes_paths_that_there_are(stage: api.Stage) -> None:
    stage.set_value("/World/Red", "physics:filteredPairs", ["/World/Plain"])
    assert stage.get_value("/World/Red", "physics:filteredPairs") == ("/World/Plain",)
    with pytest.raises(api.InputError, match="did you mean '/World/Plain'"):
        stage.set_value("/World/Red", "physics:filteredPairs", ["/World/Plan"])


def test_none_removes_what_is_authored(stage: api.Stage) -> None:
    stage.set_value("/World/Red", "physics:mass", None)
    assert stage.get_value("/World/Red", "physics:mass") is None
    report = stage.save(stage.path.with_name("out.usda"))
    saved = Usd.Stage.Open(str(report.path))
    assert not saved.GetPrimAtPath("/World/Red").GetAttribute("physics:mass").IsAuthored()


def test_the_checks_see_the_edits(stage: api.Stage) -> None:
    assert not [issue for issue in stage.validate() if issue.severity == "error"]
    stage.set_value("/World/Red", "physics:mass", -1.0)
    assert "MassInvalidValues" in {issue.code for issue in stage.validate()}
    with pytest.raises(api.InputError, match="did you mean 'physx'"):
        stage.validate("phisx")


@pytest.mark.parametrize("target", validate.TARGETS)
def test_each_simulator_is_a_target(stage: api.Stage, target: validate.Target) -> None:
    stage.set_value("/World/Red", "physics:kinematicEnabled", True)
    only_mujoco = "DisabledStillActs" in {issue.code for issue in stage.validate(target)}
    assert only_mujoco == (target == "mujoco")
    # The file is in centimetres.
    expected = {"NewtonMetres"} if target == "newton" else set()
    assert {issue.code for issue in api.validate_file(stage.path, target)} == expected


def test_variants_and_unusable_files(stage: api.Stage, tmp_path: Path) -> None:
    assert api.variants(stage.path) == {("/World/Red", "paint"): ("blue", "red")}
    with pytest.raises(api.InputError, match="There is no file"):
        api.open_stage(tmp_path / "nowhere.usda")
    with pytest.raises(api.InputError, match=r"open it with open_scene\(\)"):
        api.open_stage("a.blend")
    with pytest.raises(api.InputError, match="no file of a known format"):
        api.validate_file("a.txt")
    with pytest.raises(api.UsageError, match="'ros' is for robots in URDF"):
        api.validate_file(stage.path, "ros")


REVERSED = '<limit lower="1" upper="-1" effort="9" velocity="9"/>'
ROBOT = f"""<robot name="arm">
  <link name="base"/> <!-- stays -->
  <link name="hand">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/>{REVERSED}</joint>
</robot>
"""


def test_a_file_is_fixed_in_place_and_nothing_else_in_it(tmp_path: Path) -> None:
    file = tmp_path / "wrong.usda"
    file.write_text(f"{api_page.WRONG}# stays\n", encoding="utf-8")
    report = api.fix_file(file)
    assert (report.fixed, report.refused, report.notes) == (1, (), ())
    assert "MassInvalidValues" not in {issue.code for issue in report.left}
    text = file.read_text(encoding="utf-8")
    assert text.endswith("# stays\n") and "physics:mass = -1" not in text
    assert api.fix_file(file).fixed == 0 and file.read_text(encoding="utf-8") == text


def test_reversed_limits_of_a_robot_are_swapped_in_its_text(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(ROBOT, encoding="utf-8")
    assert api.fix_file(file).fixed == 1
    swapped = REVERSED.replace('"1"', '"-1"', 1).replace('upper="-1"', 'upper="1"')
    assert file.read_text(encoding="utf-8") == ROBOT.replace(REVERSED, swapped)
    file.write_bytes(f'<?xml version="1.0" encoding="latin-1"?><!-- é -->{ROBOT}'.encode("latin-1"))
    report = api.fix_file(file)
    assert report.fixed == 0 and "is not in UTF-8" in report.refused[0]


def test_what_cannot_be_fixed_in_place_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match="is a glTF file; only USD and URDF files are fixed in place"):
        api.fix_file(tmp_path / "a.glb")
    with pytest.raises(api.InputError, match="There is no file"):
        api.fix_file(tmp_path / "nowhere.usda")
    with pytest.raises(api.InputError, match="did you mean 'physx'"):
        api.fix_file(tmp_path / "a.usda", "phisx")
    file = tmp_path / "good.usda"
    file.write_text(api_page.STAGE, encoding="utf-8")
    before = file.stat().st_mtime_ns
    assert api.fix_file(file).fixed == 0 and file.stat().st_mtime_ns == before


def test_a_robot_becomes_usd_without_blender(tmp_path: Path) -> None:
    file, target = tmp_path / "arm.urdf", tmp_path / "arm.usda"
    file.write_text(ROBOT, encoding="utf-8")
    report = api.convert(file, target, physx_attributes=True)
    assert report.path == target and report.counts["joints"] == 1
    assert "UrdfLimitsSwapped" in {issue.code for issue in report.issues}
    with api.open_stage(target) as stage:
        assert len(stage.bodies) == 1
    written = target.read_bytes()
    with pytest.raises(api.UsageError, match="ros_package has no effect on"):
        api.convert(file, target, ros_package="arm")
    with pytest.raises(api.NeedsBlenderError, match=r"convert\(\) with animation needs Blender"):
        api.convert(file, target, animation=True)
    with pytest.raises(api.OutputError, match="its folder does not exist"):
        api.convert(file, tmp_path / "none" / "arm.usda")
    with pytest.raises(api.InputError, match="There is no file"):
        api.convert(tmp_path / "none.urdf", target)
    assert target.read_bytes() == written


def test_a_simulation_gives_poses_by_path_and_name(stage: api.Stage) -> None:
    motion = api.simulate_file(stage.path, 1.0, fps=50)
    assert motion.fps == 50 and motion.seconds == 1.0 and motion.positions.shape == (51, 2, 3)
    assert motion.position("/World/Red", 0) == pytest.approx((0.0, 0.0, 3.0))
    assert motion.position("Red") == motion.position("/World/Red")
    with pytest.raises(api.InputError, match="did you mean 'Red'"):
        motion.position("Rod")
    for wrong in (
        {"seconds": 0},
        {"seconds": 1.0, "fps": -1},
        {"seconds": math.inf},
        {"seconds": 1.0, "quality": "nice"},
    ):
        with pytest.raises(api.InputError):
            api.simulate_file(stage.path, **wrong)
    assert motion.write_json(stage.path.with_suffix(".json")).is_file()


def test_a_cache_does_not_overwrite_its_source(stage: api.Stage) -> None:
    with pytest.raises(api.OutputError):
        api.simulate_file(stage.path, 1.0, cache=stage.path)
    assert stage.path.read_text(encoding="utf-8") == api_page.STAGE
    with pytest.raises(api.UsageError, match=r"end it with \.usda"):
        api.simulate_file(stage.path, 1.0, cache=stage.path.with_suffix(".glb"))
