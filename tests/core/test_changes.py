"""`diff`: every difference of the physics is named, once, and nothing where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon import cli

SCENE = """#usda 1.0
(
    defaultPrim = "World"
    kilogramsPerUnit = 1
    metersPerUnit = {meters}
    upAxis = "Z"
)
def Xform "World"
{{
    def Xform "Door" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 2
        double3 xformOp:translate = ({x}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "Leaf" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {{
            uniform token physics:approximation = "convexHull"
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3]
            point3f[] points = [(0, 0, 0), ({length}, 0, 0), (0, {length}, 0), (0, 0, {length})]
        }}
    }}
    def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {{
        rel physics:body1 = </World/Door>
        uniform token physics:axis = "Z"
        float physics:upperLimit = 90
        float drive:angular:physics:stiffness = 5
    }}
}}
"""


@pytest.fixture
def compare(tmp_path: Path, capsys):
    """Call with replacements of the text of a scene; returns (exit status, sentences, differences as JSON)."""

    def run(*replacements: tuple[str, str], meters: float = 1.0):
        texts = [SCENE.format(meters=1, length=1, x=0), SCENE.format(meters=meters, length=1 / meters, x=0)]
        for old, new in replacements:
            assert old in texts[1]
            texts[1] = texts[1].replace(old, new)
        files = [tmp_path / "a.usda", tmp_path / "b.usda"]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        status = cli.main(["diff", *map(str, files)])
        lines = capsys.readouterr().out.splitlines()
        assert cli.main(["diff", "--json", *map(str, files)]) == status
        found = json.loads(capsys.readouterr().out)["differences"]
        assert [one["text"] for one in found] == lines[:-1]
        return status, lines[:-1], found

    return run


def test_the_same_in_other_units(compare):
    """Stiffness per length and angle, points and places: the numbers differ, and nothing else."""
    status, lines, _ = compare(("stiffness = 5", "stiffness = 50000"), meters=0.01)
    assert (status, lines) == (1, ["metersPerUnit of the stage is 0.01, and was 1.0."])


def test_the_same(compare):
    assert compare() == (0, [], [])
    assert (
        compare(('def PhysicsRevoluteJoint "Hinge"', 'def Cube "Seen" {}\n    def PhysicsRevoluteJoint "Hinge"'))[0]
        == 0
    )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("physics:mass = 2", "physics:mass = 3", "'/World/Door': physics:mass is 3.0; was 2.0."),
        ("float physics:mass = 2", "", "'/World/Door': physics:mass is not set; was 2.0."),
        ("upperLimit = 90", "upperLimit = 45", "'/World/Hinge': physics:upperLimit is 45.0; was 90.0."),
        ("stiffness = 5", "stiffness = 6",
         "'/World/Hinge': drive:angular:physics:stiffness is 6.0; was 5.0."),
        ("(0, 0, 0)\n        uniform", "(0, 3, 4)\n        uniform", "'/World/Door' has moved by 5 m."),
        ("(0, 0, 1.0)]", "(0, 0, 2)]", "'/World/Door/Leaf' has other points or faces."),
        ('"convexHull"', '"convexDecomposition"',
         "'/World/Door/Leaf': physics:approximation is convexDecomposition; was convexHull."),
        ('"PhysicsRigidBodyAPI", ', "", "'/World/Door' has no PhysicsRigidBodyAPI any more."),
        ("rel physics:body1 = </World/Door>", "",
         "'/World/Hinge': physics:body1 is not set; was ['/World/Door']."),
        ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "'/World/Hinge': type is PhysicsPrismaticJoint; was "
         "PhysicsRevoluteJoint."),
        ('"Hinge"', '"Pin"', "'/World/Hinge' is at '/World/Pin' now."),
        ("float physics:upperLimit = 90", "float physics:upperLimit = 90\n}\ndef PhysicsFixedJoint \"Weld\" {\n",
         "'/World/Weld' has physics now: PhysicsFixedJoint with PhysicsFixedJoint."),
    ],
)  # fmt: skip
def test_a_difference_is_named(compare, old, new, sentence):
    status, lines, _ = compare((old, new))
    assert status == 1 and sentence in lines, lines


def test_a_collider_moves_with_its_body_and_is_named_only_if_it_moves_on_it(compare):
    place = "double3 xformOp:translate = (0, 0, 0)"
    assert len(compare((place, place.replace("(0, 0, 0)", "(1, 0, 0)")))[1]) == 1
    turned = 'float xformOp:rotateZ = 90\nuniform token[] xformOpOrder = ["xformOp:rotateZ"]\nint[] faceVertexCounts'
    assert compare(("int[] faceVertexCounts", turned))[1] == ["'/World/Door/Leaf' has turned by 90 degrees."]


@pytest.mark.parametrize("scale", ["(1, 0, 1)", "(0, 0, 0)", "(nan, 1, 1)"])
def test_a_body_that_is_scaled_to_nothing_is_compared(compare, scale):
    flat = (
        'uniform token[] xformOpOrder = ["xformOp:translate"]',
        f"float3 xformOp:scale = {scale}\n"
        '        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]',
    )
    status, lines, _ = compare(flat)
    assert status == 1 and any("Door" in line for line in lines)


def test_files_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "a.usda").write_text(SCENE.format(meters=1, length=1, x=0))
    for other, status in (("missing.usda", 1), ("notes.txt", 1)):
        assert cli.main(["diff", str(tmp_path / "a.usda"), str(tmp_path / other)]) == status
        (line,) = capsys.readouterr().err.splitlines()
        assert other in line
    assert cli.main(["diff", str(tmp_path / "a.usda"), str(tmp_path / "a.usda"), "--base", "free"]) == 2
    assert "--base" in capsys.readouterr().err


def test_textconv_of_git_says_the_same_of_files_whose_physics_are_the_same(tmp_path, capsys):
    texts = []
    for folder, comment in (("git-blob-Uzj4wS", ""), ("git-blob-a1b2c3", "# looked over\n")):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "door.usda"
        file.write_text(SCENE.format(meters=1, x=0, length=1) + comment)
        assert cli.main(["inspect", str(file)]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0].startswith("door.usda\n")
    assert texts[0] == texts[1]
