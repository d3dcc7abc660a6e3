"""The independent comparer, as other tests use it, sees what is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import assets
import pytest
from pxr import Sdf, Usd, UsdPhysics

TEXT = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
{
    float physics:mass = 3
}
"""


def test_a_change_is_a_loss(compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path) -> None:
    """Also of a file that was another when it was compared before."""
    original, copy = tmp_path / "original.usda", tmp_path / "copy.usda"
    original.write_text(TEXT)
    copy.write_text(TEXT)
    whole = compare(original, copy)
    assert (whole["score"], whole["diffs"]) == (1.0, []) and whole["facts"] > 3 and "score 1.0000" in whole["text"]
    copy.write_text(TEXT.replace("mass = 3", "mass = 4"))
    found = compare(original, copy)
    assert 0.0 < found["score"] < 1.0
    assert any("mass" in str(row) for row in found["diffs"])


def test_a_file_that_cannot_be_read_is_no_success(
    compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path
) -> None:
    """And the next pair is judged as if nothing had been."""
    original, broken = tmp_path / "original.usda", tmp_path / "broken.usda"
    original.write_text(TEXT)
    broken.write_text("#usda 1.0\ndef {")
    found = compare(original, broken)
    assert found["score"] == 0.0 and "cannot compare" in found["text"]
    assert compare(original, original)["score"] == 1.0


def test_the_composed_comparison_names_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    """In one sentence, without a stack, and with a status of its own: 1 says that two stages differ."""
    good, crate = tmp_path / "good.usda", tmp_path / "cut.usdc"
    good.write_text(TEXT)
    crate.write_bytes(b"PXR-USDC")
    script = Path(__file__).parents[2] / "scripts" / "compare_composed.py"
    for bad in (crate, tmp_path / "missing.usda", tmp_path):
        done = subprocess.run([sys.executable, script, good, bad], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"'{bad}' cannot be opened (") and len(done.stderr.splitlines()) == 1


def test_a_file_in_a_package_is_the_same_file_from_outside_of_it(tmp_path: Path) -> None:
    """Also where no single file has its name, as of the tiles of an image."""
    names = ("tiles/paint_<UDIM>.png", "../car.usdz[tiles/paint_<UDIM>.png]", "../car.usdz[tiles/rust_<UDIM>.png]")
    files = [tmp_path / f"{number}.usda" for number in range(len(names))]
    for file, name in zip(files, names, strict=True):
        file.write_text(f'#usda 1.0\ndef "A"\n{{\n    asset file = @{name}@\n}}\n')
    script = Path(__file__).parents[2] / "scripts" / "compare_composed.py"
    found = [subprocess.run([sys.executable, script, files[0], other], capture_output=True, check=False).returncode
             for other in files[1:]]  # fmt: skip
    assert found == [0, 1]


# --------------------------------------------------------------------------- the project's own judges

ROBOT = """#usda 1.0
(
    metersPerUnit = {meters}
    kilogramsPerUnit = {kilograms}
    upAxis = "{up}"
)
def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxRigidBodyAPI"])
{{
    float physics:mass = {mass}
    float3 physics:diagonalInertia = ({moment}, {moment}, {moment})
    quatf physics:principalAxes = (1, 0, 0, 0)
    vector3f physics:velocity = {velocity}
    double3 xformOp:translate = {place}
    quatf xformOp:orient = {turn}
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    float physxRigidBody:linearDamping = 0.5
    def Sphere "Hand" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {{
        double radius = {radius}
        rel material:binding:physics = </Rubber>
    }}
}}
def Material "Rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
{{
    float physics:staticFriction = 0.5
}}
def PhysicsRevoluteJoint "Hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
{{
    rel physics:body1 = </Arm>
    point3f physics:localPos0 = {place}
    quatf physics:localRot0 = {turn}
    uniform token physics:axis = "X"
    float physics:upperLimit = 30
    float drive:angular:physics:stiffness = {stiffness}
}}
"""
SI = {"meters": 1, "kilograms": 1, "up": "Z", "mass": 2, "moment": 0.5, "velocity": "(1, 2, 3)", "place": "(4, 5, 6)",
      "radius": 0.5, "stiffness": 20, "turn": "(1, 0, 0, 0)"}  # fmt: skip
#: The same in centimetres, grams and Y up, by hand: (x, y, z) of the world is (x, z, -y), and the body is turned so.
CGS = {"meters": 0.01, "kilograms": 0.001, "up": "Y", "mass": 2000, "moment": 5e6,
       "velocity": "(100, 200, 300)", "place": "(400, 600, -500)", "radius": 50, "stiffness": 2e8,
       "turn": "(0.70710678, -0.70710678, 0, 0)"}  # fmt: skip
LOSSES = {
    "mass": {"mass": 2.1}, "inertia": {"moment": 0.6}, "velocity": {"velocity": "(1, 2, 3.1)"},
    "radius": {"radius": 0.6}, "turn": {"turn": "(0.8, 0.6, 0, 0)"},
    "place": {"place": "(4, 5, 6.01)"}, "drive": {"stiffness": 21}, "units": {"meters": 0.5},
}  # fmt: skip
#: A line of the file, and what stands there instead.
EDITS = {
    "schema": ('"PhysicsMassAPI", ', ""), "binding": ("rel material:binding:physics = </Rubber>", ""),
    "friction": ("staticFriction = 0.5", "staticFriction = 0.25"), "axis": ('axis = "X"', 'axis = "Y"'),
    "limit": ("float physics:upperLimit = 30", ""), "body": ("rel physics:body1 = </Arm>", ""),
    "collider": ('"PhysicsCollisionAPI", ', ""), "joint": ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"),
    "prim": ('def Sphere "Hand"', 'def Sphere "Foot"'),
}  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_own_judge_sees_through_units_and_up_axis(
    own_compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path
) -> None:
    original = written(tmp_path / "a.usda", ROBOT.format(**SI))
    found = own_compare(original, written(tmp_path / "b.usda", ROBOT.format(**CGS)))
    assert (found["score"], found["diffs"]) == (1.0, []) and found["facts"] > 25
    assert found["vendor"] is None, "numbers of vendors have units that OpenUSD does not know"
    assert own_compare(original, original)["vendor"] == 1.0


def test_the_own_judge_finds_each_loss(own_compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path) -> None:
    original = written(tmp_path / "a.usda", ROBOT.format(**SI))
    texts = {name: ROBOT.format(**SI | change) for name, change in LOSSES.items()}
    texts |= {name: ROBOT.format(**SI).replace(*edit) for name, edit in EDITS.items()}
    found = {name: own_compare(original, written(tmp_path / f"{name}.usda", text)) for name, text in texts.items()}
    assert [name for name, report in found.items() if report["score"] == 1.0] == []
    without = written(tmp_path / "v.usda", ROBOT.format(**SI).replace("float physxRigidBody:linearDamping = 0.5", ""))
    report = own_compare(original, without)
    assert report["score"] == 1.0 and 0 < report["vendor"] < 1.0


@pytest.mark.slow
def test_the_own_judge_agrees_with_the_independent_one(
    compare: Callable[[Path, Path], dict[str, Any]],
    own_compare: Callable[[Path, Path], dict[str, Any]],
    files_of_others: Path,
    tmp_path: Path,
) -> None:
    """On files of others against themselves, and against themselves with one number of physics changed."""
    disagreed, changed = [], 0
    for number, file in enumerate(assets.usd_files()):
        stage = Usd.Stage.Open(str(file))
        whole, other = tmp_path / f"{number}.usda", tmp_path / f"{number}_other.usda"
        stage.Flatten().Export(str(whole))
        copy = Sdf.Layer.OpenAsAnonymous(str(whole))
        edited = Usd.Stage.Open(copy)
        prim = next((prim for prim in edited.Traverse() if prim.HasAPI(UsdPhysics.MassAPI)), None)
        pairs = [(file, whole, True)]
        if prim:
            UsdPhysics.MassAPI(prim).CreateMassAttr().Set(1234.5)
            copy.Export(str(other))
            pairs.append((file, other, False))
            changed += 1
        for one, two, is_same in pairs:
            scores = compare(one, two)["score"], own_compare(one, two)["score"]
            if [score == 1.0 for score in scores] != [is_same] * 2:
                disagreed.append((two.name, file.name, scores))
    assert disagreed == []
    assert changed > 10


GLTF = {
    "asset": {"version": "2.0"}, "extensionsUsed": ["KHR_physics_rigid_bodies", "KHR_implicit_shapes"], "scene": 0,
    "scenes": [{"nodes": [0, 1]}],
    "extensions": {
        "KHR_implicit_shapes": {"shapes": [{"type": "capsule", "capsule": {"height": 1, "radiusTop": 0.5}}]},
        "KHR_physics_rigid_bodies": {"physicsJoints": [{
            "limits": [{"linearAxes": [0, 1, 2], "min": 0, "max": 0}, {"angularAxes": [0], "min": -1, "max": 0.5}]}]},
    },
    "nodes": [
        {"name": "A", "rotation": [0, 0, 0.6, 0.8], "extensions": {"KHR_physics_rigid_bodies": {
            "motion": {"mass": 2, "linearVelocity": [1, 0, 0]}, "collider": {"geometry": {"shape": 0}}}}},
        {"name": "B", "children": [2], "extensions": {"KHR_physics_rigid_bodies": {"motion": {}}}},
        {"name": "J", "extensions": {"KHR_physics_rigid_bodies": {"joint": {"joint": 0, "connectedNode": 0}}}},
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "other", "score"),
    [
        ("", "", "score 1.0000"),
        ('"mass": 2', '"mass": 3', "body A: changed mass"),
        ("[1, 0, 0]", "[0, 1, 0]", "body A: changed velocity"),
        ('"height": 1', '"height": 1.5', "collider A: changed reach"),
        ('"max": 0.5', '"max": 0.75', "joint A B: changed angular range"),
        ('"min": -1, "max": 0.5', '"min": -0.5, "max": 1', "joint A B: changed angular range"),
        ('"name": "B"', '"name": "C"', "body C: spurious"),
        ("KHR_physics_rigid_bodies", "KHR_something_else", "score 0.0000"),
    ],
)
def test_the_own_judge_of_gltf_finds_each_loss(tmp_path: Path, word: str, other: str, score: str) -> None:
    script = Path(__file__).parents[2] / "scripts" / "compare_gltf.py"
    one = written(tmp_path / "one.gltf", json.dumps(GLTF))
    two = written(tmp_path / "two.gltf", json.dumps(GLTF).replace(word, other) if word else json.dumps(GLTF))
    done = subprocess.run([sys.executable, script, "compare", one, two], capture_output=True, text=True, check=False)
    assert score in done.stdout, done.stdout + done.stderr
