"""An invented vendor, declared as data, all the way: properties, panels, export, import, copy, mirror, units."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What happened in a Blender in which the table of the vendor was added."""
    folder = tmp_path_factory.mktemp("vendor")
    command = [sys.executable, str(HERE / "vendor_round.py"), str(HERE.parent.parent), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    lines = [line for line in done.stdout.splitlines() if line.startswith("SEEN ")]
    assert lines, done.stdout + done.stderr
    return json.loads(lines[0][5:])


@pytest.mark.slow
def test_values_are_written_in_the_units_of_the_file(seen):
    text = seen["export"]
    # 3 N m in centimetres and grams.
    for line in (
        'float acme:drag = 30000000', 'point3f acme:nose = (50, 0, 0)', 'token[] acme:modes = ["a", "b"]',
        'token acme:mode = "hard"', 'uint acme:seed = 4000000000', 'asset acme:curve = @./curve.usda@',
        'float acmeSkin:margin = 5', 'int[] acmeSkin:layers = [1, 2]', 'bool acmeGrip:wet = 1',
        'int acmeStep:rate = 240', 'double acmeGear:angular:ratio = 12.5', 'float acmeGear:angular:slack = 28.64',
    ):  # fmt: skip
        assert line in text, line
    for name in ("AcmeBodyAPI", "AcmeSkinAPI", "AcmeGripAPI", "AcmeStepAPI", "AcmeGearAPI:angular"):
        assert f'"{name}"' in text, name


@pytest.mark.slow
def test_a_text_that_is_no_list_is_named(seen):
    (message,) = seen["unreadable"]
    assert "acme:modes of 'Box'" in message and "is not a list" in message


@pytest.mark.slow
def test_a_prim_of_a_type_of_the_vendor_is_an_object(seen):
    """Its lengths, its forces and that of the schema applied to it are in the units of the file; targets follow."""
    text = seen["export"][seen["export"].index('def AcmeWinch "Winch"') :].split("}")[0]
    for line in (
        'prepend apiSchemas = ["AcmeBrakeAPI"]', "float acme:reel = 25", "double[] acme:loads = [100000, 200000]",
        "float acmeBrake:torque = 30000000", "/Box>", "/Other>",
    ):  # fmt: skip
        assert line in text, line
    assert "xformOp" not in text
    assert seen["imported"]["reel"] == pytest.approx(0.25) and seen["imported"]["ends"] == ["Box", "Other"]
    again = seen["again"][seen["again"].index('def AcmeWinch "Winch"') :].split("}")[0]
    assert "float acme:reel = 0.5" in again and "/Renamed>" in again and "double[] acme:loads = [1, 2]" in again


def test_copy_clear_and_mirror(seen):
    assert seen["copied"] == 3.0 and seen["cleared"] and seen["added"] == 0.0
    assert seen["mirrored"] == pytest.approx([-0.5, 0.25, 0.0])


def test_a_copied_body_or_joint_brings_its_own_vendor_schemas_only(seen):
    assert seen["copied with a body"] == ["AcmeBodyAPI"]
    assert seen["copied with a joint"] == ["AcmeGearAPI:angular"]


def test_vendor_values_of_colliders_are_mirrored(seen):
    left, right = seen["flows"]
    assert len(left) == len(right) == 2
    for one, other in zip(left, right, strict=True):
        assert other == pytest.approx([-one[0], one[1], one[2]], abs=1e-6)


def test_cleared_physics_leaves_no_vendor_schema_behind(seen):
    assert seen["removal"] == "Removed the physics of 1 object: 1 body, 1 collider, 1 vendor schema"
    assert seen["left"] == [[], False, False]
    assert seen["has vendor alone"]


def test_rows_survive_saving_and_appending(seen):
    assert seen["loaded"] == [3.0, "hard", pytest.approx(0.05)] and seen["appended"] == 3.0


def test_nothing_of_vendors_is_loaded_with_the_add_on(seen):
    assert not [name for name in seen["loaded with the add-on"] if name.endswith("concepts")]
    assert not seen["tables read with the add-on"]


def test_an_edit_is_written_as_a_layer_over_the_source(seen):
    assert "float acme:drag = 40000000" in seen["layer"] and 'delete apiSchemas = ["AcmeGripAPI"]' in seen["layer"]
    assert "acme:mode" not in seen["layer"] and "acmeSkin" not in seen["layer"]


def test_an_attribute_of_nobody_is_written(seen):
    assert seen["other"] == ["NobodysAPI", "double nobody:speed = 2.5"]


def test_an_import_gives_the_properties_back_and_an_edit_is_written(seen):
    found = seen["imported"]
    # The object has the scale of the unit now.
    assert found["drag"] == pytest.approx(3.0) and found["nose"] == pytest.approx([50.0, 0, 0])
    assert (found["modes"], found["mode"], found["seed"]) == ('["a", "b"]', "hard", "4000000000")
    assert found["curve"].endswith("curve.usda") and found["rate"] == 240 and found["wet"] is True
    assert found["gear"] == 12.5 and found["slack"] == pytest.approx(0.5)
    assert found["margin"] == pytest.approx([0.05])
    assert "float acme:drag = 4\n" in seen["again"] and "float acmeSkin:margin = 0.05" in seen["again"]
