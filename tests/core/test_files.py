# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs: whole or not at all, never an input, nothing left behind."""

import os
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path

import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError, OutputError
from usdphys_ext.usdphys_addon.system import files
from usdphys_ext.usdphys_addon.usd.files import packages

WHOLE = b'#usda 1.0\ndef Xform "A"\n{\n}\n'


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "asset.usda"
    path.write_bytes(b"#usda 1.0\n# old\n")
    return path


def is_alone(target: Path) -> bool:
    return [path.name for path in target.parent.iterdir()] == [target.name]


def test_the_new_file_replaces_the_old_one_and_takes_its_mode(target: Path) -> None:
    target.chmod(0o640)
    with files.replacing(target) as scratch:
        scratch.write_bytes(WHOLE)
        assert target.read_bytes() != WHOLE, "not before the end"
    assert target.read_bytes() == WHOLE and target.stat().st_mode & 0o777 == 0o640
    assert is_alone(target)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("asset.usda", WHOLE[:-3]), ("asset.usda", b""),
        ("asset.usdc", b"PXR-USDC" + bytes(8) + b"\xff" * 8 + bytes(9)),
        ("asset.usdz", b"PK no package"), ("scene.blend", b"BLENDER-v500" + bytes(200)), ("poses.json", b""),
        ("poses.json", b'{"fps": 24'), ("arm.urdf", b"<robot><link"), ("a.gltf", b'{"asset": {'),
        ("a.png", b"\x89PNG..IEN"),
        ("a.glb", b"glTF" + bytes([2, 0, 0, 0, 21, 0, 0, 0]) + bytes(8)),
    ],
)  # fmt: skip
def test_a_torn_file_replaces_nothing(tmp_path: Path, name: str, content: bytes) -> None:
    target = tmp_path / name
    target.write_bytes(b"old")
    with pytest.raises(OutputError, match="disk full"), files.replacing(target) as scratch:
        scratch.write_bytes(content)
    assert target.read_bytes() == b"old" and is_alone(target)


@pytest.mark.parametrize(
    "content", [b"BLENDER-v500" + bytes(99) + b"ENDB" + bytes(20), b"(\xb5/\xfd" + b"\xb1\xea\x92\x8f"]
)
def test_whole_blends_are_known_by_their_last_block(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scene.blend"
    path.write_bytes(content)
    assert files.is_whole(path)


#: A JPEG: its start, a segment that holds a whole preview, the image, and its end mark.
JPEG_HEAD = b"\xff\xd8\xff\xe1\x00\x0aExif\xff\xd8\xff\xd9\xff\xdb\x00\x03q\xff\xda\x00\x02scan"
JPEG = JPEG_HEAD + b"\xff\xd9"
PNG = b"\x89PNG\r\n\x1a\nIDATxIEND\xaeB`\x82"


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "A.JPEG"])
def test_images_are_judged_by_what_is_in_them_and_may_have_more_behind_their_end(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (
        JPEG,
        PNG,
        JPEG + b"trailer of a camera" * 9,
        PNG + bytes(200),
        b"RIFF....WEBP",
        b"version of a store",
    ):
        path.write_bytes(content)
        assert files.is_whole(path), content
    for content in (JPEG_HEAD, JPEG_HEAD[:9], JPEG[:-1], PNG[:-1], b"\x89PNG", b"\xff\xd8\xff", b""):
        path.write_bytes(content)
        assert not files.is_whole(path), content


def test_a_layer_without_anything_in_it_is_whole(target: Path) -> None:
    with files.replacing(target) as scratch:
        scratch.write_bytes(b"#usda 1.0\n\n")
    assert target.read_bytes() == b"#usda 1.0\n\n"


@pytest.mark.parametrize(
    ("end", "is_whole"),
    [(b"}\n# made by hand\n", True), (b"} # Crate\n", True), (b"}\n#" + b"-" * 9999, True), (b"}\n\n\t# }", True),
     (b"float a = 1\n# }\n", False), (b"float a = 1 # wide\n", False), (b"float[] a = [" + b"1, " * 99999, False)],
)  # fmt: skip
def test_comments_may_follow_the_end_of_a_layer(tmp_path: Path, end: bytes, is_whole: bool) -> None:
    path = tmp_path / "a.usda"
    path.write_bytes(b'#usda 1.0\ndef "Crate"\n{\n' + end)
    assert files.is_whole(path) == is_whole


def test_a_package_with_a_broken_member_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "asset.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("asset.usda", WHOLE)
    assert files.is_whole(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Xform", b"Xfarm", 1))
    assert not files.is_whole(path)


def test_a_check_that_fails_keeps_the_old_file(target: Path) -> None:
    old = target.read_bytes()

    def refuse(scratch: Path) -> None:
        raise OutputError(f"{scratch.suffix} is wrong")

    with pytest.raises(OutputError, match="is wrong"), files.replacing(target, verify=refuse) as scratch:
        scratch.write_bytes(WHOLE)
    assert target.read_bytes() == old and is_alone(target)


def test_a_full_disk_that_shows_when_the_data_is_forced_out_keeps_the_old_file(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = target.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"), files.replacing(target) as scratch:
        scratch.write_bytes(WHOLE)
    assert target.read_bytes() == old and is_alone(target)


def test_file_and_folder_are_forced_to_the_disk_before_and_after_the_replacement(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def forced(handle: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def replaced(self: Path, other: Path) -> Path:
        order.append("replace")
        return replace(self, other)

    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setattr(Path, "replace", replaced)
    with files.replacing(target) as scratch:
        scratch.write_bytes(WHOLE)
    assert order == ["file", "replace", "folder"]


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """An old .gltf with its .bin, and new ones in a folder beside them."""
    for name in ("a.gltf", "a.bin", "sub/wood.png"):
        for place, text in ((tmp_path / name, "{old}"), (tmp_path / "new" / name, "{new}")):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode() + (b"IEND\xaeB`\x82" if name.endswith("png") else b""))
    return tmp_path / "a.gltf"


def contents(target: Path) -> set[bytes]:
    assert not list(target.parent.rglob(".usdphys-*"))
    return {(target.parent / name).read_bytes()[:5] for name in ("a.gltf", "a.bin", "sub/wood.png")}


def test_files_that_belong_together_are_replaced_together(pair: Path) -> None:
    files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin"), pair.parent / "sub/wood.png"])
    assert contents(pair) == {b"{new}"}


def test_of_files_that_belong_together_those_stay_that_are_as_before(pair: Path) -> None:
    """The fewer are replaced, the shorter is the moment in which a kill leaves some old and some new."""
    image = pair.parent / "sub/wood.png"
    image.write_bytes((pair.parent / "new/sub/wood.png").read_bytes())
    kept, changed = image.stat().st_ino, pair.stat().st_ino
    files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin")])
    assert contents(pair) == {b"{new}"}
    assert image.stat().st_ino == kept and pair.stat().st_ino != changed


def test_a_full_disk_at_any_of_several_files_keeps_all_old_ones(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copyfile = shutil.copyfile
    for fails in ("a.gltf", "a.bin", "wood.png"):

        def full(source: Path, place: Path, fails: str = fails) -> None:
            copyfile(source, place)
            if source.name == fails:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr("shutil.copyfile", full)
        with pytest.raises(OutputError, match="No space left"):
            files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin"), pair.parent / "sub/wood.png"])
        assert contents(pair) == {b"{old}"}


@pytest.mark.parametrize(("name", "content"), [("a.gltf", b"{new"), ("sub/wood.png", b"\x89PNG new")])
def test_a_torn_file_among_several_replaces_none(pair: Path, name: str, content: bytes) -> None:
    (pair.parent / "new" / name).write_bytes(content)
    with pytest.raises(OutputError, match="disk full"):
        files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin"), pair.parent / "sub/wood.png"])
    assert contents(pair) == {b"{old}"}


def test_a_file_of_somebody_else_beside_the_target_is_not_replaced(pair: Path) -> None:
    with pytest.raises(OutputError, match=r"'wood.png'.*another one has that name"):
        files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin")])
    assert contents(pair) == {b"{old}"}


@pytest.mark.parametrize("has_links", [True, False])
def test_of_two_processes_that_add_one_name_at_the_same_time_one_wins(
    pair: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """The other one writes its image after it was seen that there is none; and without hard links nothing is torn."""
    place, copyfile = pair.parent / "sub/wood.png", shutil.copyfile
    place.unlink()

    def slow(source: Path, scratch: Path) -> None:
        copyfile(source, scratch)
        if source.name == place.name and has_links:
            place.write_bytes(b"{who}")

    def no_links(source: Path, scratch: Path) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("shutil.copyfile", slow)
    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
        files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin")])
        assert contents(pair) == {b"{new}"}
        return
    assert not files.add(pair.parent / "new/sub/wood.png", place)
    assert place.read_bytes() == b"{who}"
    place.unlink()
    with pytest.raises(OutputError, match=r"'wood.png'.*another one has that name"):
        files.replace_together(pair.parent / "new", pair, [pair.with_suffix(".bin")])
    assert place.read_bytes() == b"{who}"
    assert pair.read_bytes() == b"{old}"


def test_an_output_is_never_an_input_not_even_by_a_link(target: Path) -> None:
    link = target.with_name("link.usda")
    link.symlink_to(target)
    for name in (target, link):
        with pytest.raises(OutputError, match="input itself"):
            files.checked(name, [target])


@pytest.mark.parametrize("place", ["beside", "elsewhere"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_the_file_that_it_names_is_replaced(target: Path, place: str, is_there: bool) -> None:
    folder = target.parent if place == "beside" else target.parent / "store"
    folder.mkdir(exist_ok=True)
    real = target.rename(folder / "v003.usda")
    real.chmod(0o640)
    if not is_there:
        real.unlink()
    target.symlink_to(os.path.relpath(real, target.parent))
    with files.replacing(target) as scratch:
        assert scratch.parent == target.parent, "relative paths in the file begin at the name that was given"
        scratch.write_bytes(WHOLE)
    assert target.is_symlink() and real.read_bytes() == WHOLE and not real.is_symlink()
    assert not is_there or real.stat().st_mode & 0o777 == 0o640
    expected = {target, real} | ({folder} if place == "elsewhere" else set())
    assert set(target.parent.rglob("*")) == expected


@pytest.mark.parametrize("name", ["../a.usda", "sub/../../a.usda", "/a.usda", "sub\\..\\a.usda", "C:/a.usda"])
def test_a_package_that_would_write_outside_of_itself_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "asset.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr(name, WHOLE)
    with pytest.raises(InputError, match="which would lie outside of it"):
        packages.check(path)


@pytest.mark.parametrize("size", [0, 1, 30])
def test_a_package_that_is_cut_off_is_an_output_that_could_not_be_written(tmp_path: Path, size: int) -> None:
    path = tmp_path / "asset.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("a.usda", WHOLE)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(OutputError, match=r"'out.usdz' could not be written completely \(is the disk full\?\)"):
        packages.cleaned(path, Path("out.usdz"))


def test_a_compressed_package_is_refused_and_one_of_whole_layers_is_not(tmp_path: Path) -> None:
    path = tmp_path / "asset.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("sub/a.usda", WHOLE)
    packages.check(path)
    assert packages.cleaned(path, path) == []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("a.usda", WHOLE)
    with pytest.raises(InputError, match="compressed or encrypted"):
        packages.check(path)


def test_a_package_is_written_through_a_link(tmp_path: Path) -> None:
    link, real = tmp_path / "asset.usdz", tmp_path / "v003.usdz"
    link.symlink_to(real.name)
    with files.replacing(link) as scratch, zipfile.ZipFile(scratch, "w") as package:
        package.writestr("asset.usda", WHOLE)
    assert link.is_symlink() and files.is_whole(real)


def test_a_link_whose_file_cannot_be_written_is_refused_before_the_work(target: Path) -> None:
    link, missing, circle = (target.with_name(f"{name}.usda") for name in ("link", "missing", "circle"))
    link.symlink_to(target)
    target.chmod(0o444)
    missing.symlink_to("no_folder/asset.usda")
    circle.symlink_to(circle.name)
    for name, reason in ((link, "write-protected"), (missing, "folder does not exist"), (circle, "circle")):
        with pytest.raises(OutputError, match=reason), files.replacing(name):
            pytest.fail("the work was begun")
        assert name.is_symlink()


def test_a_full_disk_behind_a_link_keeps_the_old_file(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = target.parent / "store"
    folder.mkdir()
    real = target.rename(folder / "v003.usda")
    target.symlink_to(real)
    old = real.read_bytes()

    def full(source: Path, place: Path) -> None:
        place.write_bytes(source.read_bytes()[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OutputError, match="No space left"), files.replacing(target) as scratch:
        scratch.write_bytes(WHOLE)
    assert real.read_bytes() == old and set(target.parent.rglob("*")) == {target, folder, real}


def test_a_read_only_file_is_refused_also_for_root(target: Path) -> None:
    target.chmod(0o444)
    with pytest.raises(OutputError, match="write-protected"):
        files.checked(target)


def test_what_a_killed_run_left_is_deleted_after_an_hour(target: Path) -> None:
    with files.scratch_file(target) as scratch, files.scratch_folder(target) as folder:
        left, young = scratch.with_name(f"{scratch.name}.left"), scratch.with_name(f"{scratch.name}.young")
        inside = folder.with_name(f"{folder.name}left")
    for path in (left, young):
        path.write_text("torn")
    inside.mkdir()
    (inside / "geometry.usdc").write_text("torn")
    other = target.with_name(".usdphys-of-another-target")
    other.write_text("keep")
    for path in (left, inside, other):
        os.utime(path, (1e9, 1e9))
    with files.scratch_file(target):
        pass
    assert not left.exists() and not inside.exists()
    assert young.exists() and other.exists()


def test_temporary_names_are_short_for_the_longest_name(tmp_path: Path) -> None:
    target = tmp_path / f"{'ä' * 124}.usda"
    with files.replacing(target) as scratch:
        scratch.write_bytes(WHOLE)
    assert target.read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "empty"), ("n" * 256 + ".usda", "255 bytes"), ("名" * 86 + ".usda", "255 bytes"),
     ("x/" * 500 + "a", "940 bytes"), ("a:SDF_FORMAT_ARGS:b=c.usda", "USD does not allow"),
     ("\udcff.usda", "UTF-8"), ("a\0b", "USD does not allow")],
)  # fmt: skip
def test_names_that_blender_or_usd_do_not_take_are_refused_in_one_short_sentence(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        files.usable_name(name)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "name", ["a b.usda", "a\tb.usda", "\U0001f600.usda", "n" * 250 + ".usda", "-x.usda", "a@b.usda"]
)
def test_names_that_are_only_odd_stay_as_they_are(name: str) -> None:
    assert files.usable_name(name) == name


@pytest.mark.skipif(os.name != "posix", reason="two slashes begin a server's name elsewhere")
def test_two_leading_slashes_are_not_beside_the_open_file() -> None:
    assert files.usable_name("//tmp/a.usda") == "/tmp/a.usda"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX systems have pipes with names")
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    """As root, "--json /dev/stdout" would put a file in the place of the device."""
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(OutputError, match="device or a pipe"), files.replacing(tmp_path / "pipe.json") as scratch:
        scratch.write_text("{}")
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)
    with pytest.raises(OutputError, match="device or a pipe"):
        files.checked(Path("/dev/stdout"))


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero.gltf").symlink_to("/dev/zero")
    for name in ("pipe", "zero.gltf"):
        with pytest.raises(InputError, match="device or a pipe"):
            files.regular(tmp_path / name)
    for name in (".", "missing"):
        assert files.regular(tmp_path / name) == tmp_path / name


def test_what_a_killed_run_left_among_the_temporary_files_of_the_system_is_deleted_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, busy, other = tmp_path / f"{files.WORK}left", tmp_path / f"{files.WORK}busy", tmp_path / "usdphys-other"
    for folder in (left, busy, other):
        folder.mkdir()
        (folder / "log.txt").write_text("")
        os.utime(folder / "log.txt", (1e9, 1e9))
        os.utime(folder, (1e9, 1e9))
    os.utime(busy / "log.txt")
    link = tmp_path / f"{files.WORK}link"
    link.symlink_to(other)
    with files.work_folder() as folder:
        assert {path.name for path in tmp_path.iterdir()} == {busy.name, other.name, link.name, folder.name}
    assert not folder.exists() and (other / "log.txt").exists()


def test_what_killed_runs_left_beside_other_outputs_is_deleted_after_a_day(tmp_path: Path) -> None:
    names = {}
    for age in ("old", "new"):
        with files.scratch_file(tmp_path / f"{age}.usda") as scratch:
            names[age] = scratch.name
        (tmp_path / names[age]).write_text("half")
        with files.scratch_folder(tmp_path / f"{age}.usdz") as folder:
            names[f"{age} folder"] = folder.name
        (tmp_path / names[f"{age} folder"]).mkdir()
        (tmp_path / names[f"{age} folder"] / "part").write_text("half")
    (tmp_path / ".usdphys-mine").write_text("a file of the user")
    for path in (*(tmp_path / names["old folder"]).iterdir(), *tmp_path.iterdir()):
        if path.name not in (names["new"], names["new folder"]):
            os.utime(path, (1e9, 1e9))
    with files.replacing(tmp_path / "another.json") as scratch:
        scratch.write_text("{}")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"another.json", ".usdphys-mine", names["new"], names["new folder"]}


@pytest.mark.parametrize(("name", "part"), [
    ("C:\\scenes\\con.usda", "con.usda"), ("NUL", "NUL"), ("a/COM1.tar.usd/b.usda", "COM1.tar.usd"),
    ("out:1.usda", "out:1.usda"), ("scenes./a.usda", "scenes."), ("a.usda ", "a.usda "), ("a?.usda", "a?.usda"),
    ("lpt9 .usda", "lpt9 .usda"), ("C:\\scenes\\a.usda", ""), ("C:a.usda", ""), ("../b/./a.usda", ""),
    ("console.usda", ""), ("com10.usda", ""),
    ("\\\\server\\share\\a.usda", ""), ("\\\\?\\C:\\a.usda", ""), (".usda", ""),
])  # fmt: skip
def test_names_that_windows_takes_for_something_else_are_known(name, part):
    assert files.refused_by_windows(name) == part
