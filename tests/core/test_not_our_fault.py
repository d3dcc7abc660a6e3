# SPDX-License-Identifier: GPL-3.0-or-later
"""Status 3 is for faults of this program: what the file or the disk does wrong has status 1 or 2 and one sentence."""

from __future__ import annotations

import errno
import json
import os
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.batch import worker
from usdphys_ext.usdphys_addon.cli import arguments
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.model import Prim
from usdphys_ext.usdphys_addon.core.units import StageUnits
from usdphys_ext.usdphys_addon.core.validate import validate
from usdphys_ext.usdphys_addon.gltf import additions
from usdphys_ext.usdphys_addon.system import arcs
from usdphys_ext.usdphys_addon.usd import edit_layer, read, unit_conversion, write

TWO_KINDS = """#usda 1.0
def Cube "A" (
    prepend apiSchemas = ["PhysicsMassAPI"]
)
{
    rel physics:mass = </A>
    float physics:simulationOwner = 3
}
"""


ROOT = Path(__file__).resolve().parents[2]
#: A type that USD does not know, such as one whose first letters were cut off.
UNKNOWN_TYPE = """#usda 1.0
def PhysicsRevoluteJoint "Hinge"
{
    t physics:breakForce = 100
    t physics:breakTorque
}
def Cube "A" (
    prepend apiSchemas = ["PhysicsMassAPI"]
)
{
    t physics:mass
}
"""


@pytest.fixture
def two_kinds() -> Sdf.Layer:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(TWO_KINDS)
    return layer


@pytest.mark.parametrize("kind", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_a_disk_that_is_full_or_broken_is_no_fault_of_the_program(monkeypatch, capsys, kind):
    def fail(_options):
        raise OSError(kind, "The disk is to blame", "out.urdf")

    monkeypatch.setattr(arguments, "inspect_file", fail)
    assert cli.main(["inspect", "a.usda"]) == 1
    said = capsys.readouterr().err
    assert "The disk is to blame" in said
    assert "fault of this program" not in said


def test_a_disk_that_takes_no_temporary_files_is_no_fault_of_the_program(monkeypatch, capsys):
    def fail(_options):
        # As `tempfile` has it.
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(arguments, "inspect_file", fail)
    assert cli.main(["inspect", "a.usda"]) == 1
    assert "temporary directory" in capsys.readouterr().err


_WRITES = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from pxr import Sdf, Tf
from usdphys_addon.cli import blame
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    Sdf.Layer.CreateAnonymous().Export(sys.argv[2])
except Tf.ErrorException as error:
    print(blame.judged(error, "'a.usda'"))
"""


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_what_usd_says_of_a_full_disk_is_no_fault_of_the_program(tmp_path, suffix):
    pytest.importorskip("resource", reason="Windows has no limit for files")
    command = [sys.executable, "-c", _WRITES, str(ROOT), str(tmp_path / f"out.{suffix}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "'a.usda' could not be handled (File too large); no output was written."
    assert done.stdout.strip() == repr((said, False)), done.stderr


def test_another_error_of_the_system_is_a_fault(monkeypatch, capsys):
    def fail(_options):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(arguments, "inspect_file", fail)
    assert cli.main(["inspect", "a.usda"]) == 3
    assert "fault of this program" in capsys.readouterr().err


def test_flattening_names_what_is_an_attribute_and_a_relationship(two_kinds, tmp_path):
    with pytest.raises(InputError, match=r"flat\.usda.*'/A\.physics:\w+' is an attribute in one layer"):
        edit_layer.flattened(two_kinds, tmp_path / "flat.usda")
    assert not list(tmp_path.iterdir())


_FLATTENS = """
import pathlib, resource, sys
sys.path.insert(0, sys.argv[1])
from pxr import Sdf
from usdphys_addon.core.errors import OutputError
from usdphys_addon.usd import edit_layer
layer = Sdf.Layer.CreateAnonymous(".usda")
layer.ImportFromString('#usda 1.0\\ndef Xform "A" {}\\n')
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    edit_layer.flattened(layer, pathlib.Path(sys.argv[2]))
except OutputError as error:
    print(error)
"""


def test_flattening_onto_a_disk_without_space_is_an_error_of_the_output(tmp_path):
    """It is composed from a file of its own beside the target, which cannot be written first."""
    pytest.importorskip("resource", reason="Windows has no limit for files")
    target = str(tmp_path / "out.usda")
    done = subprocess.run([sys.executable, "-c", _FLATTENS, str(ROOT), target], capture_output=True, text=True)
    assert done.stdout.startswith(f"'{target}' could not be written (") and "untouched" in done.stdout, done.stderr
    assert not list(tmp_path.iterdir())


def test_writing_an_attribute_over_a_relationship_names_it(two_kinds):
    writer = write.SpecWriter.__new__(write.SpecWriter)
    writer.layer = two_kinds
    spec = two_kinds.GetPrimAtPath("/A")
    with pytest.raises(InputError, match=r"'/A\.physics:mass' is an attribute and a relationship"):
        writer.set(spec, "physics:mass", "float", 2.0)
    with pytest.raises(InputError, match=r"'/A\.physics:simulationOwner' is an attribute and a relationship"):
        writer.relationship(spec, "physics:simulationOwner", [])


@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_a_value_of_a_type_that_usd_does_not_know_is_left_to_the_file(tmp_path, capsys, command):
    file = tmp_path / "unknown.usda"
    file.write_text(UNKNOWN_TYPE)
    assert cli.main([command, str(file)]) in (0, 1)
    said = capsys.readouterr()
    assert "fault of this program" not in said.err
    assert "is of type t, which OpenUSD does not have (3 such values)" in said.out + said.err
    assert "UnregisteredValue" not in said.out


def test_a_value_of_a_type_that_usd_does_not_know_stays_as_it_is_in_other_units(tmp_path):
    file = tmp_path / "unknown.usda"
    file.write_text(UNKNOWN_TYPE)
    stage = Usd.Stage.Open(str(file))
    unit_conversion.convert(stage, StageUnits(meters_per_unit=0.01))
    assert "t physics:breakForce = 100" in stage.GetRootLayer().ExportToString()


def test_a_place_below_a_node_scaled_to_zero_names_the_prim():
    with pytest.raises(InputError, match=r"/World/J .*scaled to 0"):
        additions.relative(np.diag([0.0, 0.0, 0.0, 1.0]), np.eye(4), Prim("/World/J", "PhysicsFixedJoint"))


def test_a_bpy_that_lacks_a_library_of_the_system_is_no_fault_of_the_program(tmp_path):
    (tmp_path / "bpy.py").write_text("raise ImportError('libGL.so.1: cannot open shared object file')")
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    (tmp_path / "a.blend").write_bytes(b"BLENDER-v405")
    program = worker.program(sys.executable, str(ROOT))
    for command in (["convert", "a.usda", "b.blend"], ["validate", "a.blend"], ["inspect", "a.usda"]):
        done = subprocess.run(
            [*program, *command], capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
        # Only reading a .usda could do without Blender.
        assert done.returncode == 1 or (command[0] == "inspect" and done.returncode == 0), done.stderr
        assert done.returncode == 0 or "libGL.so.1" in done.stderr + done.stdout


@pytest.mark.parametrize("unit", ["--meters-per-unit", "--kilograms-per-unit"])
@pytest.mark.parametrize("value", ["1e-300", "1e300", "0", "nan"])
def test_units_that_no_number_can_be_converted_to_are_wrong_arguments(capsys, unit, value):
    assert cli.main(["convert", "a.blend", "b.usda", unit, value]) == 2
    assert unit in capsys.readouterr().err


@pytest.mark.parametrize("reference", ["other.usda", ""])
@pytest.mark.parametrize("name", ["Cube", "1st", ""])
def test_a_root_prim_that_a_crate_names_and_does_not_hold_is_damage_and_ends_no_process(tmp_path, name, reference):
    whole, damaged = tmp_path / "whole.usdc", tmp_path / "damaged.usdc"
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for root in ("A", "B"):
        prim = Sdf.PrimSpec(layer, root, Sdf.SpecifierDef, "Cube")
        if reference:
            prim.referenceList.Prepend(Sdf.Reference(reference))
    Sdf.AttributeSpec(layer.GetPrimAtPath("/A"), "word", Sdf.ValueTypeNames.Token).default = "1st"
    layer.Export(str(whole))
    data = whole.read_bytes()
    names = arcs.names_of_crate(data).split(b"\0")
    children = struct.pack("<QII", 2, names.index(b"A"), names.index(b"B"))
    assert data.count(children) == 1
    wrong = struct.pack("<QII", 2, names.index(b"A"), names.index(name.encode()))
    damaged.write_bytes(data.replace(children, wrong))
    out, program = tmp_path / "out.usda", worker.program(sys.executable, str(ROOT))
    for command in (["validate", str(damaged)], ["validate", "--fix", str(damaged), str(whole)],
                    ["merge", str(whole), str(damaged), str(whole), "-o", str(out)]):  # fmt: skip
        done = subprocess.run([*program, *command], capture_output=True, text=True, check=False)
        errors = [line for line in done.stderr.splitlines() if line.startswith("usdphys: error: ")]
        assert done.returncode == 1 and len(errors) == 1, done.stderr
        assert "damaged.usdc" in errors[0] and "fault of this program" not in errors[0]
    assert not out.exists()


def test_a_joint_state_of_another_type_does_not_stop_the_rules(tmp_path):
    file = tmp_path / "state.usda"
    file.write_text("""#usda 1.0
def Cube "A" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI", "PhysicsCollisionAPI"]
)
{
}
def Cube "B" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
)
{
}
def PhysicsRevoluteJoint "Hinge" (
    prepend apiSchemas = ["PhysicsJointStateAPI:angular"]
)
{
    rel physics:body0 = </A>
    rel physics:body1 = </B>
    float physics:lowerLimit = 10
    float physics:upperLimit = 20
    point3f physics:localPos0 = (0, 0, 0)
    float state:angular:physics:position = 1
}
""")
    model = read.read_stage(read.open_stage(file))
    state = model.prims["/Hinge"].schemas["PhysicsJointStateAPI:angular"]
    state.position = (1.0, 2.0, 3.0)  # as a damaged crate holds it
    assert validate(model, "physx")


def test_proving_a_file_that_cannot_be_flattened_is_an_error_of_the_file(tmp_path, capsys):
    """The experiment in other units flattens the file."""
    file = tmp_path / "two.usda"
    apis = '["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'
    text = TWO_KINDS.replace('["PhysicsMassAPI"]', apis) + 'def PhysicsScene "Scene"\n{\n}\n'
    file.write_text(text, encoding="utf-8")
    assert cli.main(["prove", str(file), "--budget", "600", "--seconds", "0.1"]) == 1
    assert "two.usda' holds values that USD cannot read" in capsys.readouterr().err


def test_a_difference_in_numbers_that_json_does_not_have_is_told_by_their_names(tmp_path, capsys):
    names = []
    for number in ("inf", "nan", "1"):
        file = tmp_path / f"{number}.usda"
        file.write_text(f'#usda 1.0\ndef PhysicsRevoluteJoint "J"\n{{\n    float physics:lowerLimit = {number}\n}}\n')
        names.append(str(file))
    for one, other in pairwise(names):
        assert cli.main(["diff", one, other, "--json"]) == 1
        said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        assert said["differences"] and "nan" in json.dumps(said["differences"])


def test_a_file_that_turns_out_to_be_damaged_leaves_no_mjcf(tmp_path, monkeypatch, capsys):
    """Names of a damaged crate are read when they are asked for."""
    from usdphys_ext.usdphys_addon.usd import overview

    def issues_of(*_):
        return b"\xc1".decode()

    monkeypatch.setattr(overview, "issues_of", issues_of)
    file, target = tmp_path / "scene.usda", tmp_path / "scene.xml"
    file.write_text('#usda 1.0\n(\n    defaultPrim = "World"\n)\ndef Xform "World"\n{\n}\n')
    assert cli.main(["convert", str(file), str(target)]) == 1
    assert "is damaged" in capsys.readouterr().err
    assert not target.exists()
