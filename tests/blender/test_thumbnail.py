# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture beside a written file shows the bodies, and the scene stays as it is."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.exchange import thumbnail

pytestmark = pytest.mark.slow


def add(name, color, place, *, body=True, size=1.0):
    bpy.ops.mesh.primitive_cube_add(size=size, location=place)
    obj = bpy.context.object
    obj.name = name
    obj.usdphys.rigid_body.is_applied = body
    obj.usdphys.colliders.add()
    material = bpy.data.materials.new(name)
    if bpy.app.version < (5, 0):
        material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*color, 1.0)
    obj.data.materials.append(material)
    return obj


def pixels(file):
    image = bpy.data.images.load(str(file))
    values = np.array(image.pixels[:]).reshape(image.size[1], image.size[0], 4)[:, :, :3]
    bpy.data.images.remove(image)
    return values


def reddish(values):
    return (values[:, :, 0] > 0.2) & (values[:, :, 0] > 3.0 * values[:, :, 1])


@pytest.mark.parametrize("place", [(0, 0, 0), (500, -20, 3)])
def test_a_picture_shows_the_body_and_not_the_ground_around_it(tmp_path, place):
    crate = add("Crate", (0.8, 0.01, 0.01), place)
    add("Ground", (0.01, 0.8, 0.01), (place[0], place[1], place[2] - 0.6), body=False, size=0.2).scale = (500, 500, 1)
    bpy.context.view_layer.update()
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("scenes", "objects", "cameras", "materials")}
    color = tuple(crate.active_material.diffuse_color)
    assert thumbnail.write(bpy.context, tmp_path / "crate.usda") == []
    shown = pixels(tmp_path / ".thumbs" / "256x256" / "crate.usda.png")
    assert shown.shape == (256, 256, 3)
    red = reddish(shown)
    # A cube seen from above fills about half of the picture that it reaches to the edges of.
    assert 0.3 < red.mean() < 0.8 and red[:, 118:138].any() and not red[:3].any() and not red[-3:].any()
    assert {kind: len(getattr(bpy.data, kind)) for kind in before} == before
    assert tuple(crate.active_material.diffuse_color) == color and bpy.context.scene.camera is None


def test_what_renders_do_not_show_has_no_picture(tmp_path):
    add("Crate", (0.8, 0.01, 0.01), (0, 0, 0)).hide_render = True
    bpy.context.view_layer.update()
    (issue,) = thumbnail.write(bpy.context, tmp_path / "crate.usda")
    assert issue.code == "ThumbnailEmpty" and not (tmp_path / ".thumbs").exists()


def test_the_window_and_the_command_line_write_a_picture(tmp_path):
    add("Crate", (0.8, 0.01, 0.01), (0, 0, 0))
    assert bpy.ops.usdphys.export_usd(filepath=str(tmp_path / "window.usdc"), thumbnail=True) == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"))
    assert cli.main(["convert", str(tmp_path / "in.blend"), str(tmp_path / "line.usda"), "--thumbnail"]) == 0
    for name in ("window.usdc", "line.usda"):
        assert reddish(pixels(thumbnail.place_of(tmp_path / name))).mean() > 0.3
    assert cli.main(["convert", str(tmp_path / "in.blend"), str(tmp_path / "line.glb"), "--thumbnail"]) == 2
