# SPDX-License-Identifier: GPL-3.0-or-later
"""Height fields of MJCF <-> meshes whose points lie on a grid."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core import pointers
from ..core.errors import InputError
from .values import Floats, HeightField

#: Most rows, and most columns.
_MOST = 4096
#: Samples of a pixel of a PNG by its type of colour; the first is the height, as MuJoCo takes it.
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
#: Parts of a cell by which points of a grid may be off.
_OFF = 1e-3


def surface(field: HeightField) -> tuple[Floats, Any] | None:
    """Points (n, 3) and triangles (m, 3) of the top of a height field; None without heights or a size."""
    if field.heights is None or len(field.size) != 4 or min(field.size[:3]) <= 0.0:
        return None
    rows, columns = field.heights.shape
    x, y = (np.linspace(-half, half, count) for half, count in zip(field.size, (columns, rows), strict=False))
    points = np.stack([*np.meshgrid(x, y), field.heights * field.size[2]], axis=-1).reshape(-1, 3)
    at = np.arange(rows * columns).reshape(rows, columns)
    one, right, up, both = (part.ravel() for part in (at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]))
    return points, np.stack([one, right, both, one, both, up], axis=1).reshape(-1, 3)


def scaled(heights: Floats) -> Floats:
    """Heights from 0 to 1, as MuJoCo scales them."""
    low, high = float(heights.min()), float(heights.max())
    return (heights - low) / (high - low) if high > low else np.zeros_like(heights)


def of_numbers(numbers: tuple[float, ...], rows: int, columns: int) -> Floats | None:
    """The heights that stand in a text, whose first row is at the largest y; flat without any."""
    if not (2 <= rows <= _MOST and 2 <= columns <= _MOST) or len(numbers) not in (0, rows * columns):
        return None
    heights = np.array(numbers or np.zeros(rows * columns), float).reshape(rows, columns)
    return scaled(heights[::-1]) if np.isfinite(heights).all() else None


def read(file: Path) -> Floats:
    """The heights (rows, columns) of a PNG, or of MuJoCo's own kind of file. Raises InputError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"'{file.name}' cannot be read ({error.strerror}).") from error
    pointers.refuse(data, file.name)
    if file.suffix.lower() == ".png":
        return scaled(_gray(data, file.name)[::-1])
    rows, columns = struct.unpack("<2i", data[:8]) if len(data) >= 8 else (0, 0)
    if not (2 <= rows <= _MOST and 2 <= columns <= _MOST) or len(data) != 8 + 4 * rows * columns:
        raise InputError(f"'{file.name}' is no height field: its length does not fit its numbers of rows and columns.")
    heights = np.frombuffer(data, "<f4", rows * columns, 8).astype(float).reshape(rows, columns)
    if not np.isfinite(heights).all():
        raise InputError(f"'{file.name}' has heights that are no numbers.")
    return scaled(heights)


def _gray(data: bytes, name: str) -> Floats:
    """The first sample (rows, columns) of the pixels of a PNG of 8 bits a sample, which is not interlaced."""
    content, at, header = b"", 8, b""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise InputError(f"'{name}' is no PNG.")
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        kind, part = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        header = part if kind == b"IHDR" else header
        content += part if kind == b"IDAT" else b""
        at += 12 + size
    if len(header) != 13 or header[8] != 8 or header[12] or header[9] not in _SAMPLES:
        raise InputError(f"'{name}' is no PNG of 8 bits that is not interlaced, as height fields are read.")
    columns, rows = struct.unpack(">2I", header[:8])
    if not (2 <= rows <= _MOST and 2 <= columns <= _MOST):
        raise InputError(f"'{name}' has {rows} rows and {columns} columns; a height field has 2 to {_MOST}.")
    samples = _SAMPLES[header[9]]
    width = columns * samples
    try:
        raw = zlib.decompressobj().decompress(content, rows * (width + 1))
    except zlib.error as error:
        raise InputError(f"'{name}' is damaged.") from error
    if len(raw) != rows * (width + 1):
        raise InputError(f"'{name}' is damaged.")
    lines = np.frombuffer(raw, np.uint8).reshape(rows, width + 1)
    made = np.zeros((rows + 1, width), np.int64)
    for row, line in enumerate(lines):
        made[row + 1] = _unfiltered(int(line[0]), line[1:].astype(np.int64), made[row], samples)
    return made[1:, ::samples].astype(float)


def _unfiltered(kind: int, line: Any, above: Any, samples: int) -> Any:
    """A line of a PNG without its filter."""
    if kind == 0:
        return line
    if kind == 2:
        return (line + above) % 256
    if kind == 1:
        return line.reshape(-1, samples).cumsum(axis=0).reshape(-1) % 256
    left = [0] * samples
    corner = [0] * samples
    made: list[int] = []
    up = above.tolist()
    for number, value in enumerate(line.tolist()):
        a, b, c = left[number % samples], up[number], corner[number % samples]
        if kind == 3:
            value += (a + b) // 2
        else:
            to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            value += a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c
        left[number % samples], corner[number % samples] = value % 256, b
        made.append(value % 256)
    return np.array(made)


class Grid(NamedTuple):
    """A mesh as a height field. center: (3,) of the middle of its lowest level."""

    field: HeightField
    center: Floats


def of_mesh(points: Floats, triangles: Any) -> Grid | None:
    """The height field of a mesh whose points lie on an even grid along x and y; None for others."""
    if len(points) < 4:
        return None
    cells, axes = [], []
    for values in (points[:, 0], points[:, 1]):
        low, high = float(values.min()), float(values.max())
        steps = np.diff(np.sort(values))
        gap = steps.max() if len(steps) else 0.0
        if gap <= 0.0:
            return None
        count = round((high - low) / gap) + 1
        place = (values - low) / (high - low) * (count - 1) if count > 1 else values
        cell = np.round(place).astype(np.int64)
        if not 2 <= count <= _MOST or np.abs(place - cell).max() > _OFF:
            return None
        cells.append(cell)
        axes.append((low, high, count))
    (left, right, columns), (front, back, rows) = axes
    if len(points) != rows * columns or len(triangles) != 2 * (rows - 1) * (columns - 1):
        return None
    heights = np.full((rows, columns), np.nan)
    heights[cells[1], cells[0]] = points[:, 2]
    # Each triangle is half of a cell.
    spans = [np.ptp(cell[triangles], axis=1) for cell in cells]
    if np.isnan(heights).any() or any((span != 1).any() for span in spans):
        return None
    low, high = float(heights.min()), float(heights.max())
    size = ((right - left) / 2.0, (back - front) / 2.0, max(high - low, 1e-6), max(high - low, 0.1))
    return Grid(HeightField(size, scaled(heights)), np.array([(left + right) / 2.0, (front + back) / 2.0, low]))
