# SPDX-License-Identifier: GPL-3.0-or-later
"""A checkout without its large files says so: it told of damaged meshes, syntax errors and unknown formats."""

import os
from pathlib import Path

import pytest

from usdphys_addon.core import pointers
from usdphys_addon.core.errors import InputError
from usdphys_addon.gltf.document import Document
from usdphys_addon.mjcf import height_fields, layout
from usdphys_addon.mjcf import read as mjcf_read
from usdphys_addon.urdf import markup, meshes
from usdphys_addon.usd import composition, opinions
from usdphys_addon.usd import read as usd_read

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + 64 * "3" + "\nsize 20841\n"
WHAT = "is a pointer of Git LFS, and not the file itself; run 'git lfs pull' in its repository"
FIX = "Run 'git lfs pull' in its repository."


@pytest.mark.parametrize("name", ["a.usda", "a.usdc", "a.usd", "a.usdz"])
def test_a_stage_that_is_a_pointer_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(InputError, match=f"'{name}' {WHAT}"):
        usd_read.open_stage(tmp_path / name)


@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.ply", "a.dae", "a.glb", "a.gltf"])
def test_a_mesh_that_is_a_pointer_is_not_said_to_hold_no_faces(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(InputError, match=f"'{name}' {WHAT}"):
        meshes.read_mesh(tmp_path / name)


@pytest.mark.parametrize("name", ["a.gltf", "a.glb"])
def test_a_document_or_its_buffer_that_is_a_pointer_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(InputError, match=f"'{name}' {WHAT}"):
        Document.load(tmp_path / name)
    (tmp_path / "a.bin").write_text(POINTER)
    (tmp_path / "a.gltf").write_text('{"asset": {"version": "2.0"}, "buffers": [{"uri": "a.bin", "byteLength": 9}]}')
    with pytest.raises(InputError, match=f"'a.bin' {WHAT}"):
        Document.load(tmp_path / "a.gltf").buffer(0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.stl")
    assert not pointers.is_pointer_file(tmp_path / "a.stl")
    assert not pointers.is_pointer_file(tmp_path)
    assert not pointers.is_pointer_file("a\0b")


def test_robots_whose_meshes_are_pointers_say_so_of_each(tmp_path: Path) -> None:
    for name in ("m.stl", "m.png", "robot.urdf", "model.xml"):
        (tmp_path / name).write_text(POINTER)
    for name, read in (("robot.urdf", markup.parse), ("model.xml", mjcf_read.read_file)):
        with pytest.raises(InputError, match=f"'{name}' {WHAT}"):
            read((tmp_path / name).read_bytes(), name) if read is markup.parse else read(tmp_path / name)
    with pytest.raises(InputError, match=f"'m.png' {WHAT}"):
        height_fields.read(tmp_path / "m.png")
    (tmp_path / "model.xml").write_text(
        '<mujoco><asset><mesh file="m.stl"/><hfield name="h" file="m.png" size="1 1 1 1"/></asset><worldbody><body>'
        '<freejoint/><geom type="mesh" mesh="m"/><geom size="1"/></body></worldbody></mujoco>'
    )
    found = [
        issue for issue in layout.plan(mjcf_read.read_file(tmp_path / "model.xml")).issues if WHAT in issue.message
    ]
    assert {issue.code for issue in found} == {"MjcfMeshMissing"} and [issue.fix for issue in found] == [FIX, FIX]


def test_what_a_stage_references_and_shows_is_said_to_be_a_pointer(tmp_path: Path) -> None:
    for name in ("part.usda", "t.png"):
        (tmp_path / name).write_text(POINTER)
    (tmp_path / "a.usda").write_text(
        '#usda 1.0\ndef "W" (references = @part.usda@</P>)\n{\n    def Shader "S"\n    {\n'
        '        uniform token info:id = "UsdUVTexture"\n        asset inputs:file = @t.png@\n    }\n}\n'
    )
    stage = usd_read.open_stage(tmp_path / "a.usda")
    found = composition.missing_assets(stage, opinions.of_stage(stage))
    assert [issue.fix for issue in found] == [FIX, FIX]
    assert all("is a pointer of Git LFS" in issue.message for issue in found)
