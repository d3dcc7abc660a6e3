"""The independent comparer, as other tests use it, sees what is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
{
    float physics:mass = 3
}
"""


def test_a_change_is_a_loss(compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path) -> None:
    """Also of a file that was another when it was compared before."""
    original, copy = tmp_path / "original.usda", tmp_path / "copy.usda"
    original.write_text(TEXT)
    copy.write_text(TEXT)
    whole = compare(original, copy)
    assert (whole["score"], whole["diffs"]) == (1.0, []) and whole["facts"] > 3 and "score 1.0000" in whole["text"]
    copy.write_text(TEXT.replace("mass = 3", "mass = 4"))
    found = compare(original, copy)
    assert 0.0 < found["score"] < 1.0
    assert any("mass" in str(row) for row in found["diffs"])


def test_a_file_that_cannot_be_read_is_no_success(
    compare: Callable[[Path, Path], dict[str, Any]], tmp_path: Path
) -> None:
    """And the next pair is judged as if nothing had been."""
    original, broken = tmp_path / "original.usda", tmp_path / "broken.usda"
    original.write_text(TEXT)
    broken.write_text("#usda 1.0\ndef {")
    found = compare(original, broken)
    assert found["score"] == 0.0 and "cannot compare" in found["text"]
    assert compare(original, original)["score"] == 1.0


def test_the_composed_comparison_names_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    """In one sentence, without a stack, and with a status of its own: 1 says that two stages differ."""
    good, crate = tmp_path / "good.usda", tmp_path / "cut.usdc"
    good.write_text(TEXT)
    crate.write_bytes(b"PXR-USDC")
    script = Path(__file__).parents[2] / "scripts" / "compare_composed.py"
    for bad in (crate, tmp_path / "missing.usda", tmp_path):
        done = subprocess.run([sys.executable, script, good, bad], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"'{bad}' cannot be opened (") and len(done.stderr.splitlines()) == 1


def test_a_file_in_a_package_is_the_same_file_from_outside_of_it(tmp_path: Path) -> None:
    """Also where no single file has its name, as of the tiles of an image."""
    names = ("tiles/paint_<UDIM>.png", "../car.usdz[tiles/paint_<UDIM>.png]", "../car.usdz[tiles/rust_<UDIM>.png]")
    files = [tmp_path / f"{number}.usda" for number in range(len(names))]
    for file, name in zip(files, names, strict=True):
        file.write_text(f'#usda 1.0\ndef "A"\n{{\n    asset file = @{name}@\n}}\n')
    script = Path(__file__).parents[2] / "scripts" / "compare_composed.py"
    found = [subprocess.run([sys.executable, script, files[0], other], capture_output=True, check=False).returncode
             for other in files[1:]]  # fmt: skip
    assert found == [0, 1]
