# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of the preview as the overlay shows them, and the numbers of the largest forces in the 3D view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np

from ..core.words import number_text
from . import overlay_settings, overlay_state
from .draw_handler import DrawHandler

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

#: Numbers that are shown at most, and pixels at a resolution scale of 1 that each has for itself.
MOST, ROOM = 24, (64.0, 16.0)
_COLOR, _FONT = (0.95, 0.95, 0.95, 1.0), 0
#: Forces below this part of the largest have no number.
LEAST = 0.01


class Touching(NamedTuple):
    """points (n, 3), m; normals (n, 3); forces (n,), N."""

    points: NDArray[float64]
    normals: NDArray[float64]
    forces: NDArray[float64]


#: (solver world, its frame, its contacts then) of the last redraw, at most one.
_known: list[tuple[Any, int, Touching]] = []


def touching(scene: str) -> Touching | None:
    """The contacts of the preview of a scene; read once for each frame. None without a preview."""
    session = overlay_state.session_of(scene)
    if session is None:
        _known.clear()
        return None
    world = session.world
    if not _known or _known[0][0] is not world or _known[0][1] != world.frame:
        _known[:] = [(world, world.frame, Touching(*world.contact_points()))]
    return _known[0][2]


def forget() -> None:
    """Let go of the last world."""
    _known.clear()


def numbered(forces: NDArray[float64]) -> list[int]:
    """Rows of the forces that get a number, the largest first."""
    order: list[int] = np.argsort(-forces)[: 4 * MOST].tolist()
    return [row for row in order if forces[row] > LEAST * float(forces.max(initial=0.0))]


def apart(places: Iterable[tuple[float, float]], scale: float) -> Iterator[int]:
    """Rows of the places, in pixels, that have room beside those before them; MOST at most."""
    taken: list[tuple[float, float]] = []
    for row, (x, y) in enumerate(places):
        if all(abs(x - a) >= ROOM[0] * scale or abs(y - b) >= ROOM[1] * scale for a, b in taken):
            taken.append((x, y))
            yield row
        if len(taken) == MOST:
            return


def _draw() -> None:
    from bpy_extras.view3d_utils import location_3d_to_region_2d

    context: Any = bpy.context
    settings = overlay_settings.current(context)
    if settings is None or not (context.space_data.overlay.show_overlays and settings.show and settings.contacts):
        return
    contacts = touching(context.scene.name)
    session = overlay_state.session_of(context.scene.name)
    if contacts is None or session is None:
        return
    scale = context.preferences.system.ui_scale or 1.0
    rows, places = [], []
    for row in numbered(contacts.forces):
        place = location_3d_to_region_2d(
            context.region, context.region_data, contacts.points[row] / session.meters, default=None
        )
        if place is not None:
            rows.append(row)
            places.append((place.x, place.y))
    _write(
        [(f"{number_text(float(contacts.forces[rows[one]]))} N", places[one]) for one in apart(places, scale)], scale
    )


def _write(texts: list[tuple[str, tuple[float, float]]], scale: float) -> None:
    import blf

    blf.size(_FONT, 11.0 * scale)
    blf.enable(_FONT, blf.SHADOW)
    blf.shadow(_FONT, 3, 0.0, 0.0, 0.0, 1.0)
    blf.color(_FONT, *_COLOR)
    for text, (x, y) in texts:
        blf.position(_FONT, x + 6.0 * scale, y + 4.0 * scale, 0.0)
        blf.draw(_FONT, text)
    blf.disable(_FONT, blf.SHADOW)


drawing = DrawHandler(_draw, "POST_PIXEL")
register, unregister = drawing.register, drawing.unregister
