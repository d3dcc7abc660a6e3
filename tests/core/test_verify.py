# SPDX-License-Identifier: GPL-3.0-or-later
"""A written file that is cut off, or of which a part never reached the disk, is refused."""

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom
from usdphys_ext.usdphys_addon.core.errors import OutputError
from usdphys_ext.usdphys_addon.usd import verify


def written(target: Path) -> list[str]:
    """The outline of a stage that is written there."""
    stage = Usd.Stage.CreateNew(str(target))
    for name in ("A", "B"):
        UsdGeom.Cube.Define(stage, f"/{name}/Cube").CreateSizeAttr(2.0)
    stage.SetMetadata("comment", "two cubes")
    stage.Save()
    return verify.outline(stage.GetRootLayer())


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_file_that_is_cut_off_is_refused(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"two{suffix}"
    outline = written(target)
    verify.verify(target, target, outline)
    content = target.read_bytes()
    for part in (0.0, 0.1, 0.4, 0.7, 0.9):
        target.write_bytes(content[: int(part * len(content))])
        with pytest.raises(OutputError, match="could not be written completely"):
            verify.verify(target, target, outline)


def test_crate_file_with_a_hole_in_its_tables_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "two.usdc"
    outline = written(target)
    sections = {section.name: section for section in Sdf.CrateInfo.Open(str(target)).GetSections()}
    content = bytearray(target.read_bytes())
    for name in ("TOKENS", "PATHS", "SPECS"):
        start, size = sections[name].start, sections[name].size
        target.write_bytes(content[:start] + bytes(size) + content[start + size :])
        with pytest.raises(OutputError, match="could not be written completely"):
            verify.verify(target, target, outline)


def test_the_file_is_judged_and_not_a_layer_of_it_that_is_open(tmp_path: Path) -> None:
    target = tmp_path / "two.usda"
    outline = written(target)
    layer = verify.verify(target, target, outline)
    assert layer is not None and Sdf.Layer.Find(str(target)) == layer
    target.write_bytes(target.read_bytes()[:-20])
    with pytest.raises(OutputError, match="could not be written completely"):
        verify.verify(target, target, outline)
