# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files through children that hold Blender: every format, and a warm child writes what a fresh one writes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import assets
import bpy
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.batch import drive, executors, journal, worker
from usdphys_ext.usdphys_addon.batch import jobs as batch_jobs
from usdphys_ext.usdphys_addon.system import isolate

pytestmark = pytest.mark.slow

ROBOT = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""


@pytest.fixture(autouse=True)
def _shell(monkeypatch):
    """What a shell would pass on: without the variable that bpy has set in this process."""
    monkeypatch.delenv("OCIO", raising=False)


def run(lines: list[dict], results: Path, **more) -> dict[str, dict]:
    file = results.with_suffix(".jobs")
    file.write_text("\n".join(map(json.dumps, lines)))
    settings = worker.Settings((*isolate.program(), "serve"), isolate.ROOT, **more)
    with executors.local(settings, 1) as crew:
        drive.run(batch_jobs.read(file), crew, results, lambda *_: None)
    return journal.done(results)


@pytest.fixture
def sources(tmp_path, shared) -> dict[str, Path]:
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 2))
    crate = bpy.context.object
    crate.usdphys.rigid_body.is_applied = True
    crate.usdphys.colliders.add()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crate.blend"))
    (tmp_path / "arm.urdf").write_text(ROBOT)
    (tmp_path / "arm.xacro").write_text(ROBOT)
    gltf = assets.gltf_files()[0]
    usd = assets.file("usd/usdPhysicsNestedArticulation.usda", "usd/nested_articulation.usda")
    found = (tmp_path / "crate.blend", tmp_path / "arm.urdf", tmp_path / "arm.xacro", usd, gltf)
    return {path.suffix: path for path in found}


def test_every_operation_takes_every_format_and_one_child_does_them_all(sources, tmp_path):
    lines = []
    for suffix, path in sources.items():
        name = suffix[1:]
        lines += [{"id": f"{op} {name}", "op": op, "in": str(path)} for op in ("validate", "inspect")]
        target = str(tmp_path / "out" / f"{name}.usda")
        lines.append({"id": f"convert {name}", "op": "convert", "in": str(path), "out": target})
        poses = str(tmp_path / "out" / f"{name}.json")
        options = {"seconds": 0.1}
        lines.append({"id": f"simulate {name}", "op": "simulate", "in": str(path), "json": poses, "options": options})
    lines.append({"id": "to glTF", "op": "convert", "in": str(sources[".usda"]), "out": str(tmp_path / "to.glb")})
    found = run(lines, tmp_path / "r.jsonl")
    assert {name: each.get("error") for name, each in found.items() if each["status"] != "ok"} == {}
    assert len({each["pid"] for each in found.values()}) == 1
    assert [body["kind"] for body in found["inspect blend"]["table"]["bodies"]] == ["dynamic"]
    assert found["inspect urdf"]["table"]["bodies"][0]["mass"] == 2.0
    assert {issue["code"] for issue in found["validate usda"]["issues"]} == {"NestedRigidBody"}
    for each in found.values():
        for output in each["outputs"]:
            assert Path(output["path"]).stat().st_size == output["bytes"] > 0


def test_a_warm_child_writes_to_the_byte_what_a_fresh_one_writes(sources, shared, tmp_path):
    """What one file leaves behind in Blender does not reach the next one."""
    files = [*sources.values(), *sorted((shared / "devset" / "usd").glob("*.usda"))[:2]]
    # Twice, in another order, so that each has other files before it.
    orders = {"warm": [*files, *reversed(files)], "fresh": files}
    digests: dict[str, dict[str, set[str]]] = {}
    for kind, order in orders.items():
        lines = []
        for number, path in enumerate(order):
            target = tmp_path / kind / str(number) / f"{path.name}.usda"
            lines.append({"id": f"{number} {path.name}", "op": "convert", "in": str(path), "out": str(target)})
        found = run(lines, tmp_path / f"{kind}.jsonl", jobs_per_child=1 if kind == "fresh" else 1000)
        kept = digests[kind] = {}
        for name, each in found.items():
            of_file = kept.setdefault(name.partition(" ")[2], set())
            of_file.update([each["error"]] if each["status"] != "ok" else [out["sha256"] for out in each["outputs"]])
    assert digests["warm"] == digests["fresh"]
    assert all(len(kept) == 1 for kept in digests["fresh"].values())


@pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX systems only")
def test_a_file_that_makes_blender_crash_costs_its_own_job_and_is_named_with_the_step(sources, tmp_path, monkeypatch):
    (hooks := tmp_path / "hooks").mkdir()
    hooks.joinpath("sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "def watch(frame, event, argument):\n"
        "    if frame.f_code.co_name == '_load_blend' and 'deadly' in str(frame.f_locals.get('file')):\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "if 'USDPHYS_FAULT_LOG' in os.environ:\n"
        "    sys.setprofile(watch)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(hooks))
    deadly = tmp_path / "deadly.blend"
    deadly.write_bytes(sources[".blend"].read_bytes())
    lines = [
        {"id": str(number), "op": "convert", "in": str(path), "out": str(tmp_path / f"{number}.usda")}
        for number, path in enumerate((sources[".blend"], deadly, sources[".blend"]))
    ]
    found = run(lines, tmp_path / "r.jsonl", retries=1)
    assert [found[str(number)]["status"] for number in range(3)] == ["ok", "crashed", "ok"]
    assert found["1"]["attempts"] == 2
    assert found["1"]["error"] == f"'{deadly}' makes Blender crash (segmentation fault); no output was written."
    assert (tmp_path / "0.usda").exists() and not (tmp_path / "1.usda").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".usdphys-")]


def test_the_python_that_the_environment_names_holds_the_children(sources, tmp_path, monkeypatch):
    monkeypatch.setenv(worker.BLENDER, sys.executable)
    settings = worker.Settings(("no-such-program",), isolate.ROOT)
    workers = worker.Workers(settings)
    job = batch_jobs.job_of({"op": "inspect", "in": str(sources[".blend"])})
    try:
        assert workers.run(job.as_table())["status"] == "ok"
    finally:
        workers.close()
    assert worker.program("/opt/blender/blender", "/root") == ["/opt/blender/blender", "--command", "usdphys"]


def test_notes_of_a_command_are_in_the_results(tmp_path):
    """What Blender's rigid bodies have and UsdPhysics has not is no issue of the file."""
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.rigidbody.object_add()
    bpy.context.object.rigid_body.collision_margin = 0.5
    bpy.context.object.rigid_body.use_margin = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    names = [str(tmp_path / "a.blend"), str(tmp_path / "a.usda")]
    found = cli.perform(["convert", "--from-rigid-bodies", "--", *names])
    assert found["exit"] == 0 and found["notes"] and not any("usdphys:" in note for note in found["notes"])
    assert "notes" not in cli.perform(["convert", "--", *names])
