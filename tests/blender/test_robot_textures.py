# SPDX-License-Identifier: GPL-3.0-or-later
"""The textures of a robot go with the USD file that is written of it, by paths that any machine has."""

import struct
import zlib

import bpy
import pytest
from usdphys_ext.usdphys_addon import formats

from pxr import Usd, UsdShade  # isort: skip

ROBOT = """<robot name="robot"><material name="skin"><texture filename="skin.png"/></material>
<link name="base"><visual><geometry><mesh filename="body.obj"/></geometry></visual>
<collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="head"><visual><geometry><mesh filename="other/body.obj"/></geometry></visual></link>
<joint name="neck" type="continuous"><parent link="base"/><child link="head"/><origin xyz="0 0 2"/></joint></robot>
"""
MESH = """mtllib body.mtl
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
vt 0 0
vt 1 0
vt 0 1
usemtl A
f 1/1 3/3 2/2
f 1/1 2/2 4/3
f 2/1 3/2 4/3
f 1/1 4/2 3/3
"""


def image(colour):
    """A PNG of one pixel."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" + colour)) + chunk(
        b"IEND", b"")  # fmt: skip


@pytest.fixture
def robot(tmp_path):
    """A robot with two images of one name."""
    folder = tmp_path / "robot"
    for place, colour in ((folder, b"\xff\0\0"), (folder / "other", b"\0\xff\0")):
        place.mkdir()
        (place / "skin.png").write_bytes(image(colour))
        (place / "body.mtl").write_text("newmtl A\nKd 1 1 1\nmap_Kd skin.png\n")
        (place / "body.obj").write_text(MESH)
    (folder / "robot.urdf").write_text(ROBOT)
    return folder / "robot.urdf"


def test_a_packed_image_of_the_same_name_is_not_taken_for_a_file_on_the_disk(tmp_path, robot):
    formats.URDF.load(str(robot), formats.RobotChoices())
    packed = next(one for one in bpy.data.images if one.filepath.endswith("other/skin.png"))
    packed.pack()
    formats.USD.write(str(tmp_path / "robot.usda"), formats.WriteOptions(form="composed"))
    found = {file.read_bytes() for file in (tmp_path / "textures").iterdir()}
    assert found == {image(b"\xff\0\0"), image(b"\0\xff\0")}


@pytest.mark.parametrize("options", [{}, {"meters_per_unit": 0.01}, {"form": "composed"}, {"hierarchy": "flat"}])
def test_textures_of_a_robot_lie_beside_the_file_by_relative_paths(tmp_path, robot, options):
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "robot.usda"
    formats.URDF.load(str(robot), formats.RobotChoices())
    formats.USD.write(str(target), formats.WriteOptions(**options))
    assert str(tmp_path) not in target.read_text()
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    for file in (robot.parent / "skin.png", robot.parent / "other" / "skin.png"):
        file.unlink()
    stage = Usd.Stage.Open(str(tmp_path / "elsewhere" / "robot.usda"))
    found = set()
    for prim in stage.Traverse():
        shader = UsdShade.Shader(prim)
        if shader and (file := shader.GetInput("file")):
            found.add((tmp_path / "elsewhere" / file.Get().path).read_bytes())
    assert found == {image(b"\xff\0\0"), image(b"\0\xff\0")}
