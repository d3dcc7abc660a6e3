# SPDX-License-Identifier: GPL-3.0-or-later
"""Height fields of MJCF: read as meshes from texts and files, and written for meshes on a grid."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.mjcf import height_fields, layout, read
from usdphys_ext.usdphys_addon.usd import mjcf_file, mjcf_stage
from usdphys_ext.usdphys_addon.usd import read as usd_read

#: Three rows, the first at the largest y, of four columns.
ROWS = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], float)


def model(asset: str) -> str:
    return (
        f'<mujoco><asset><hfield name="hills" size="3 2 1.1 0.2" {asset}/></asset><worldbody>'
        '<geom name="ground" type="hfield" hfield="hills" pos="1 0 0.5"/><body name="b" pos="0 0 3"><freejoint/>'
        '<geom size="0.1"/></body></worldbody></mujoco>'
    )


def png(rows: np.ndarray, filters: list[int], samples: int = 1) -> bytes:
    """A PNG of 8 bits whose lines have these filters."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines, above = b"", [0] * (rows.shape[1] * samples)
    for row, kind in zip(rows.astype(int), filters, strict=True):
        line = np.repeat(row, samples).tolist()
        made = []
        for at, value in enumerate(line):
            a, c = (line[at - samples], above[at - samples]) if at >= samples else (0, 0)
            b = above[at]
            guess = a + b - c
            nearest = min((a, b, c), key=lambda one: abs(guess - one))
            made.append((value - [0, a, b, (a + b) // 2, nearest][kind]) % 256)
        lines += bytes([kind, *made])
        above = line
    color = {1: 0, 3: 2}[samples]
    header = struct.pack(">2I5B", rows.shape[1], rows.shape[0], 8, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def surface_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    plan = layout.plan(read.read_file(path))
    prim = next(prim for prim in plan.model.colliders.values() if prim.mesh is not None)
    mesh = prim.mesh()
    return mesh.points @ prim.world[:3, :3].T + prim.world[:3, 3], mesh.triangles


def expected() -> np.ndarray:
    """Points by hand: x from -2 to 4, y from 2 down to -2 in the order of the rows, z = 0.5 + 1.1 * h / 11."""
    return np.array([
        (-2 + 2 * column, 2 - 2 * row, 0.5 + ROWS[row, column] / 10) for row in range(3) for column in range(4)
    ])  # fmt: skip


def as_set(points: np.ndarray) -> set[tuple[float, ...]]:
    return {tuple(row) for row in np.round(points, 6).tolist()}


@pytest.mark.parametrize("kind", ["text", "png", "colour", "own"])
def test_heights_come_from_a_text_an_image_or_a_file(kind: str, tmp_path: Path) -> None:
    if kind == "text":
        asset = f'nrow="3" ncol="4" elevation="{" ".join(map(str, ROWS.ravel()))}"'
    elif kind == "own":
        # In MuJoCo's own files the first row is at the least y.
        (tmp_path / "h.bin").write_bytes(struct.pack("<2i", 3, 4) + ROWS[::-1].astype("<f4").tobytes())
        asset = 'file="h.bin"'
    else:
        (tmp_path / "h.png").write_bytes(png(ROWS * 20, [4, 3, 1], 3 if kind == "colour" else 1))
        asset = 'file="h.png"'
    path = tmp_path / "m.xml"
    path.write_text(model(asset))
    points, triangles = surface_of(path)
    assert as_set(points) == as_set(expected())
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(triangles) == 12 and (normals[:, 2] > 0).all() and normals[:, 2].sum() / 2 == pytest.approx(24)


@pytest.mark.parametrize("filters", [[0, 0, 0], [1, 2, 3], [2, 4, 1], [4, 4, 4], [3, 3, 3]])
def test_each_filter_of_an_image_is_undone(filters: list[int], tmp_path: Path) -> None:
    heights = np.random.default_rng(sum(filters)).integers(0, 256, (3, 9)).astype(float)
    (tmp_path / "h.png").write_bytes(png(heights, filters))
    found = height_fields.read(tmp_path / "h.png")
    assert found == pytest.approx(height_fields.scaled(heights[::-1]))


def test_a_height_field_goes_through_usd_and_comes_out_as_one(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(model(f'nrow="3" ncol="4" elevation="{" ".join(map(str, ROWS.ravel()))}"'))
    mjcf_stage.write_stage(mjcf_stage.plan(path), tmp_path / "m.usdc")
    stage = usd_read.open_stage(tmp_path / "m.usdc")
    # Without the text that came along, the model is written anew.
    stage.GetDefaultPrim().RemoveProperty(mjcf_stage.SOURCE)
    mjcf_file.write_file(stage, usd_read.read_stage(stage), tmp_path / "new.xml")
    text = (tmp_path / "new.xml").read_text()
    assert 'type="hfield"' in text and "<mesh" not in text
    assert as_set(surface_of(tmp_path / "new.xml")[0]) == as_set(expected())


def test_what_is_no_even_grid_is_no_height_field() -> None:
    points, triangles = height_fields.surface(  # type: ignore[misc]
        height_fields.HeightField((1.0, 1.0, 1.0, 0.1), height_fields.scaled(ROWS))
    )
    assert height_fields.of_mesh(points, triangles) is not None
    uneven = points.copy()
    uneven[uneven[:, 0] > 0.9, 0] += 0.2
    assert height_fields.of_mesh(uneven, triangles) is None
    assert height_fields.of_mesh(points[:-1], triangles[:-1]) is None
    crossed = triangles.copy()
    crossed[0, 2] = 11
    assert height_fields.of_mesh(points, crossed) is None


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("h.png", b"not an image", "is no PNG"),
        ("h.png", png(ROWS, [0, 0, 0])[:50], "is damaged"),
        ("h.bin", struct.pack("<2i", 1 << 30, 1 << 30), "does not fit"),
        ("h.bin", struct.pack("<2i4f", 2, 2, 0, 1, float("nan"), 1), "no numbers"),
    ],
)
def test_a_damaged_file_of_heights_ends_in_a_sentence(name: str, data: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        height_fields.read(tmp_path / name)
    (tmp_path / "m.xml").write_text(model(f'file="{name}"'))
    plan = layout.plan(read.read_file(tmp_path / "m.xml"))
    assert any(sentence in issue.message for issue in plan.issues) and plan.model.bodies
