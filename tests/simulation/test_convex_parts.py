# SPDX-License-Identifier: GPL-3.0-or-later
"""Convex parts of meshes: as few as an error allows, measured, by Rapier or by a program beside, and as colliders."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.core.fitting import Surface, hull
from usdphys_ext.usdphys_addon.core.misfit import MisfitMeter
from usdphys_ext.usdphys_addon.core.steps import finished
from usdphys_ext.usdphys_addon.simulation import convex_parts
from usdphys_ext.usdphys_addon.simulation.convex_parts import Wanted

#: An L of two arms: corners (x, y) of its outline, drawn up by 1 m. Its volume is 3, that of its hull 3.5.
OUTLINE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)


def box(low: tuple[float, ...], high: tuple[float, ...]) -> Surface:
    points = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]]
                       for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)  # fmt: skip
    made = hull(points)
    assert made is not None
    return made


def angle() -> Surface:
    points = np.concatenate([np.c_[OUTLINE, np.zeros(6)], np.c_[OUTLINE, np.ones(6)]])
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    sides = [(n, (n + 1) % 6) for n in range(6)]
    triangles = [(a, c, b) for a, b, c in caps] + [(a + 6, b + 6, c + 6) for a, b, c in caps]
    triangles += [corner for a, b in sides for corner in ((a, b, b + 6), (a, b + 6, a + 6))]
    return Surface(points, np.array(triangles))


def test_the_misfit_of_boxes_is_what_one_computes_by_hand() -> None:
    meter = MisfitMeter(angle())
    exact = [box((0, 0, 0), (2, 1, 1)), box((0, 1, 0), (1, 2, 1))]
    assert meter.misfit(exact)[:3] == pytest.approx((0, 0, 0), abs=1e-9)
    missing = meter.misfit(exact[:1])
    assert missing.missing == pytest.approx(1 / 3, abs=0.03) and missing.extra == 0.0
    # The far corner of the other arm.
    assert missing.distance == pytest.approx(1.0, abs=0.02)
    whole = meter.misfit([box((0, 0, 0), (2, 2, 1))])
    assert whole.missing == 0.0 and whole.extra == pytest.approx(1 / 3, abs=0.03)
    assert whole.distance == pytest.approx(1.0, abs=0.03)  # of the corner (2, 2), both faces of the notch 1 m away


@pytest.mark.slow
def test_the_fewest_parts_whose_error_is_allowed_are_made() -> None:
    # The hull of the L adds 0.5 of 3, a sixth.
    loose = finished(convex_parts.split(angle(), Wanted(error=0.25)))
    assert len(loose.parts) == 1 and loose.misfit.extra == pytest.approx(1 / 6, abs=0.03)
    tight = finished(convex_parts.split(angle(), Wanted(error=0.05)))
    assert len(tight.parts) == 2 and tight.misfit.error <= 0.05
    assert "2 parts, 0.0% missing" in convex_parts.described(*tight[:2])


def test_the_least_number_of_parts_is_suggested_for_each_error() -> None:
    """The L is two boxes; its hull adds a sixth, so that one part is enough for no error that is suggested."""
    assert finished(convex_parts.split(angle(), Wanted(most=1))).fewest == {0.1: 2, 0.05: 2, 0.02: 2, 0.01: 2}
    assert convex_parts.suggested({0.1: 1, 0.02: 3}) == "10%: 1 part, 2%: 3 parts"


@pytest.mark.slow
def test_a_slider_that_moves_divides_a_mesh_once(monkeypatch: pytest.MonkeyPatch) -> None:
    surface, made = angle().moved(np.diag([1.0, 1.0, 1.5])), []
    whole = convex_parts.Series
    monkeypatch.setattr(convex_parts, "Series", lambda *arguments: made.append(1) or whole(*arguments))
    found = [finished(convex_parts.split(surface, Wanted(most=most))) for most in (1, 2, 16, 1)]
    assert [len(split.parts) for split in found] == [1, 2, 2, 1] and len(made) == 1
    assert found[0].misfit.extra == pytest.approx(1 / 6, abs=0.03) and found[1].misfit.error < 0.01
    finished(convex_parts.split(surface.moved(np.diag([1.0, 1.0, 2.0])), Wanted()))
    assert len(made) == 2


def fake(folder: Path, text: str) -> str:
    """A Python for CoACD's program, with a module of that name in its place."""
    (folder / "coacd.py").write_text(text)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


COACD = """
import numpy as np
class Mesh:
    def __init__(self, points, triangles): self.points = points
def set_log_level(level): pass
def run_coacd(mesh, **options):
    x, y = mesh.points[:, 0], mesh.points[:, 1]
    assert options["threshold"] == 0.025
    return [(mesh.points[y < 1.01], None), (mesh.points[(x < 1.01) & ((y > 0.99) | (x < 0.01))], None)]
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a script of sh stands for a Python")
def test_parts_of_coacd_come_from_a_process_of_its_own(tmp_path: Path) -> None:
    python = fake(tmp_path, COACD)
    found = finished(convex_parts.split(angle(), Wanted("precise", 0.05, python=python)))
    assert len(found.parts) == 2 and found.misfit.missing == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="a script of sh stands for a Python")
def test_coacd_is_ended_when_nobody_waits_for_it(tmp_path: Path) -> None:
    note = f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))"
    python = fake(tmp_path, f"import pathlib, os, time\n{note}\ntime.sleep(600)\n")
    steps = convex_parts.split(angle(), Wanted("precise", 0.05, python=python))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        next(steps)
    number = (tmp_path / "pid").read_text()
    steps.close()
    assert not Path(f"/proc/{number}").exists() or "Z" in Path(f"/proc/{number}/stat").read_text().split()[2]


@pytest.mark.skipif(sys.platform == "win32", reason="a script of sh stands for a Python")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raise SystemExit('no licence')", "no licence"),
        ("1 / 0", "ZeroDivisionError"),
        ("import os; os._exit(0)", "nothing"),
    ],
)
def test_a_coacd_that_fails_ends_in_a_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        finished(convex_parts.split(angle(), Wanted("precise", 0.05, python=fake(tmp_path, text))))


def test_where_coacd_is_not_here_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(convex_parts.VARIABLE, raising=False)
    monkeypatch.setattr(convex_parts.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install coacd"):
        convex_parts.python_with_coacd()
    with pytest.raises(InputError, match="is not a program"):
        convex_parts.python_with_coacd("/no/such/python")


# ------------------------------------------------------------------ files


@pytest.fixture
def stage_file(tmp_path: Path) -> Path:
    """An L in centimetres that is stretched along X, turned and moved, on a body; and a standing one."""
    path = tmp_path / "scene.usda"
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    body = UsdGeom.Xform.Define(stage, "/World/Body")
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    material = stage.DefinePrim("/World/Rubber", "Material")
    UsdPhysics.MaterialAPI.Apply(material)
    for name, above in (("Moving", "/World/Body"), ("Standing", "/World")):
        surface = angle()
        mesh = UsdGeom.Mesh.Define(stage, f"{above}/{name}")
        mesh.CreatePointsAttr(surface.points.tolist())
        mesh.CreateFaceVertexCountsAttr([3] * len(surface.triangles))
        mesh.CreateFaceVertexIndicesAttr(surface.triangles.reshape(-1).tolist())
        mesh.AddTranslateOp().Set((5, 6, 7))
        mesh.AddRotateZOp().Set(30)
        mesh.AddScaleOp().Set((300, 100, 100))
        UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
        mesh.GetPrim().CreateRelationship("material:binding:physics").SetTargets(["/World/Rubber"])
    stage.Save()
    return path


def run(*arguments: str) -> int:
    return cli.main(list(arguments))


def test_a_file_gets_parts_beside_its_moving_colliders(
    stage_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    target = tmp_path / "parts.usda"
    assert run("decompose", str(stage_file), str(target), "--error", "error=5%", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["fewest"] == {"10%": 2, "5%": 2, "2%": 2, "1%": 2}
    assert (row["mesh"], row["parts"], row["fits"]) == ("/World/Body/Moving", 2, True)
    stage = Usd.Stage.Open(str(target))
    mesh = stage.GetPrimAtPath("/World/Body/Moving")
    assert UsdPhysics.CollisionAPI(mesh).GetCollisionEnabledAttr().Get() is False
    parts = [prim for prim in stage.Traverse() if prim.GetName().startswith("Moving_part")]
    assert len(parts) == 2
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for part in parts:
        assert UsdPhysics.MeshCollisionAPI(part).GetApproximationAttr().Get() == "convexHull"
        assert part.GetRelationship("material:binding:physics").GetTargets() == ["/World/Rubber"]
        world = np.array(UsdGeom.Xformable(part).ComputeLocalToWorldTransform(0))
        points = np.c_[
            np.array(UsdGeom.Mesh(part).GetPointsAttr().Get()), np.ones(len(UsdGeom.Mesh(part).GetPointsAttr().Get()))
        ]
        low, high = (
            np.minimum(low, (points @ world).min(axis=0)[:3]),
            np.maximum(high, (points @ world).max(axis=0)[:3]),
        )
    whole = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(0))
    corners = np.c_[angle().points, np.ones(12)] @ whole
    assert low == pytest.approx(corners.min(axis=0)[:3], abs=1e-3)
    assert high == pytest.approx(corners.max(axis=0)[:3], abs=1e-3)
    # What stands still collides as its triangles, which every simulator can.
    assert not stage.GetPrimAtPath("/World/Standing_part")


@pytest.mark.slow
def test_a_batch_decomposes_a_library(stage_file: Path, tmp_path: Path) -> None:
    job = {"op": "decompose", "in": str(stage_file), "out": str(tmp_path / "made" / "parts.usda"),
           "options": {"error": "5%"}}  # fmt: skip
    (tmp_path / "jobs.jsonl").write_text(json.dumps(job))
    assert run("batch", str(tmp_path / "jobs.jsonl"), "--out", str(tmp_path / "done.jsonl"), "--workers", "1") == 0
    assert (tmp_path / "made" / "parts.usda").is_file()
    refused = {**job, "options": {"coacd_python": "/bin/sh"}}
    (tmp_path / "jobs.jsonl").write_text(json.dumps(refused))
    assert run("batch", str(tmp_path / "jobs.jsonl"), "--out", str(tmp_path / "more.jsonl")) != 0


def test_a_file_gets_the_settings_of_simulators(stage_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "settings.usda"
    assert run("decompose", str(stage_file), str(target), "--error", "0.05", "--form", "settings",
               "--mesh", "/World/Standing") == 0  # fmt: skip
    stage = Usd.Stage.Open(str(target))
    prim = stage.GetPrimAtPath("/World/Standing")
    assert prim.GetAttribute("physics:approximation").Get() == "convexDecomposition"
    assert prim.GetAttribute("physxConvexDecompositionCollision:maxConvexHulls").Get() == 2
    assert prim.GetAttribute("physxConvexDecompositionCollision:errorPercentage").Get() == pytest.approx(5)


def test_a_body_that_is_its_mesh_has_its_parts_below_it(stage_file: Path, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(stage_file))
    UsdPhysics.RigidBodyAPI.Apply(stage.GetPrimAtPath("/World/Standing"))
    stage.Save()
    target = tmp_path / "parts.usda"
    assert run("decompose", str(stage_file), str(target), "--error", "5%", "--mesh", "/World/Standing") == 0
    stage = Usd.Stage.Open(str(target))
    made = [prim.GetPath().pathString for prim in stage.Traverse() if "_part" in prim.GetName()]
    assert sorted(made) == ["/World/Standing/Standing_part", "/World/Standing/Standing_part_1"]


@pytest.mark.parametrize("error", ["nan", "-1%", "error", "2000%"])
def test_an_error_that_is_none_is_refused(error: str, stage_file: Path, tmp_path: Path) -> None:
    assert run("decompose", str(stage_file), str(tmp_path / "out.usda"), f"--error={error}") == 2
    assert not (tmp_path / "out.usda").exists()


@pytest.mark.parametrize(("command", "options"), [("decompose", []), ("tetmesh", ["--cell", "1e-3"])])
def test_a_file_in_units_of_nothing_is_refused(
    command: str, options: list[str], stage_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = stage_file.read_text()
    (source := tmp_path / "none.usda").write_text(text.replace("metersPerUnit = 0.01", "metersPerUnit = 0"))
    assert run(command, str(source), str(tmp_path / "out.usda"), *options) == 1
    assert "none.usda' has metersPerUnit = 0; set it to a plausible number" in capsys.readouterr().err
    assert not (tmp_path / "out.usda").exists()
