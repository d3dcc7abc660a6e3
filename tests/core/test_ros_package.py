# SPDX-License-Identifier: GPL-3.0-or-later
"""A package of ROS that is written around a URDF."""

from __future__ import annotations

from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.urdf import ros_package
from usdphys_ext.usdphys_addon.urdf.packages import Packages


def source(folder: Path) -> list[Path]:
    """Two meshes; the first refers to a texture in another folder by way of an MTL."""
    (folder / "src/visual").mkdir(parents=True)
    (folder / "src/textures").mkdir()
    (folder / "src/visual/a.obj").write_text("mtllib my looks.mtl\nv 0 0 0\n")
    (folder / "src/visual/my looks.mtl").write_text("newmtl m\nmap_Kd -s 1 1 1 ../textures/t.png\n")
    (folder / "src/textures/t.png").write_bytes(b"png")
    (folder / "src/textures/secret.txt").write_text("of no mesh")
    (folder / "src/b.stl").write_bytes(b"stl")
    return [folder / "src/visual/a.obj", folder / "src/b.stl"]


def test_meshes_are_found_by_their_uris_with_what_they_refer_to_and_nothing_else_is_copied(tmp_path):
    files = source(tmp_path)
    target = tmp_path / "arm_description/urdf/arm.urdf"
    package = ros_package.package_around(target, "arm_description")
    uris = package.take(files)
    package.write(package.folder)
    assert target.parent.is_dir()
    (tmp_path / "src").rename(tmp_path / "gone")
    packages = Packages(target.parent)
    for file in files:
        found = packages.file(uris[file])
        assert found is not None
        assert uris[file].startswith("package://arm_description/meshes/")
        assert found.is_relative_to(tmp_path / "arm_description")
    obj = packages.file(uris[files[0]])
    assert obj is not None
    assert (obj.parent / "my looks.mtl").is_file()
    assert (obj.parent / "../textures/t.png").is_file()
    made = {file.name for file in (tmp_path / "arm_description").rglob("*") if file.is_file()}
    assert made == {"package.xml", "CMakeLists.txt", "a.obj", "my looks.mtl", "t.png", "b.stl"}


def test_all_mtl_files_of_a_mesh_are_copied_also_those_that_name_each_other(tmp_path):
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.obj").write_text("mtllib one.mtl two.mtl\n")
    (folder / "one.mtl").write_text("map_Kd two.mtl\nmap_Kd one.png\n")
    (folder / "two.mtl").write_text("map_Kd one.mtl\nmap_Kd -s 1 1 1 two.png\n")
    for name in ("one.png", "two.png"):
        (folder / name).write_bytes(b"png")
    names = sorted(file.name for file in ros_package.parts_of(folder / "a.obj"))
    assert names == ["one.mtl", "one.png", "two.mtl", "two.png"]


def test_all_materials_of_a_line_are_copied_and_those_that_name_themselves_end(tmp_path):
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.obj").write_text("mtllib one.mtl my two.mtl round.mtl\n")
    for name in ("one", "two", "my two", "round"):
        (folder / f"{name}.mtl").write_text("newmtl m\nmap_Kd round.mtl\nmap_Kd -blendu on its own.png\n")
    (folder / "its own.png").write_bytes(b"png")
    package = ros_package.package_around(tmp_path / "arm/urdf/arm.urdf", "arm")
    package.take([folder / "a.obj"])
    assert {file.name for file in package.copied} >= {"a.obj", "one.mtl", "two.mtl", "round.mtl", "its own.png"}


def test_what_is_in_the_package_already_stays_there(tmp_path):
    files = source(tmp_path)
    package = ros_package.package_around(tmp_path / "arm.urdf", "arm")
    assert package.take(files)[files[1]] == "package://arm/src/b.stl"
    assert not (tmp_path / "meshes").exists()


def test_the_manifest_of_a_package_is_kept_and_another_package_is_refused(tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>arm</name></package>")
    ros_package.package_around(tmp_path / "arm.urdf", "arm").write(tmp_path)
    assert (tmp_path / "package.xml").read_text() == "<package><name>arm</name></package>"
    with pytest.raises(InputError, match="is of the package 'arm'"):
        ros_package.package_around(tmp_path / "arm.urdf", "leg")


@pytest.mark.parametrize("name", ["", "a/b", "../x", "1a", "a b", "<name>"])
def test_a_name_that_ros_does_not_take_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="no name of a package"):
        ros_package.package_around(tmp_path / "arm.urdf", name)
