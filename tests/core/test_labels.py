# SPDX-License-Identifier: GPL-3.0-or-later
"""Semantic labels: on the default prim, as UsdSemantics reads them."""

import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import cli

UsdSemantics = pytest.importorskip("pxr.UsdSemantics", reason="this USD is older than UsdSemantics")

ROBOT = """<robot name="arm"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def convert(folder, *arguments, output="out.usda"):
    (folder / "arm.urdf").write_text(ROBOT)
    return cli.main(["convert", str(folder / "arm.urdf"), str(folder / output), *arguments])


def labels_of(file):
    stage = Usd.Stage.Open(str(file))
    prim = stage.GetDefaultPrim()
    names = UsdSemantics.LabelsAPI.GetDirectTaxonomies(prim)
    return {name: list(UsdSemantics.LabelsAPI(prim, name).GetLabelsAttr().Get()) for name in names}


def test_labels_are_on_the_default_prim_and_the_physics_is_as_without_them(tmp_path):
    assert convert(tmp_path, "--label", "category=robot", "--label", "category=arm", "--label", "wikidata=Q1") == 0
    assert labels_of(tmp_path / "out.usda") == {"category": ["robot", "arm"], "wikidata": ["Q1"]}
    stage = Usd.Stage.Open(str(tmp_path / "out.usda"))
    assert sum(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in stage.Traverse()) == 1
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0


@pytest.mark.parametrize("text", ["robot", "=robot", "category=", "a b=robot"])
def test_what_is_no_label_is_refused_before_anything_is_written(tmp_path, capsys, text):
    assert convert(tmp_path, "--label", text) == 2
    assert "is no label" in capsys.readouterr().err and not (tmp_path / "out.usda").exists()


def test_only_usd_files_that_are_no_package_take_labels(tmp_path, capsys):
    assert convert(tmp_path, "--label", "category=robot", output="out.xml") == 2
    assert "--label is for USD files" in capsys.readouterr().err
