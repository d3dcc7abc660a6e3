# SPDX-License-Identifier: GPL-3.0-or-later
"""The option of a scene: gravity, and what MuJoCo's own schema says."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from ..core.schemas import usd_physics
from .draft import Draft
from .words import option, row

#: Of a scene that says nothing.
_USUAL = {"timestep": "0.002", "cone": "elliptic", "impratio": "10", "integrator": "implicitfast"}


def lines_of(draft: Draft) -> list[str]:
    """The element, line by line."""
    scene = next(iter(draft.model.scenes.values()), None)
    own = scene.get(usd_physics.PhysicsScene) if scene is not None else None
    way, size = np.array([0.0, 0.0, -1.0]), 9.81
    if own is not None:
        given = np.array(own.resolved("gravity_direction"), float)
        way = given / np.linalg.norm(given) if np.linalg.norm(given) > 0 else way
        value = float(own.resolved("gravity_magnitude"))
        size = value if 0.0 <= value < math.inf else size
    found = words_of(draft)
    words = "".join(f' {word}="{escape(text)}"' for word, text in found["option"].items())
    head = f'  <option gravity="{row(way * size)}"{words}'
    if not found["flag"]:
        return [f"{head}/>"]
    flags = "".join(f' {word}="{text}"' for word, text in found["flag"].items())
    return [f"{head}>", f"    <flag{flags}/>", "  </option>"]


def words_of(draft: Draft) -> dict[str, dict[str, str]]:
    """Words of the option and of its flag, without gravity."""
    scene = next(iter(draft.model.scenes.values()), None)
    mujoco: Any = scene.schemas.get("MjcSceneAPI") if scene is not None else None
    found: dict[str, dict[str, str]] = {"option": {}, "flag": {}}
    for attribute in type(mujoco).attributes if mujoco is not None else ():
        _, _, rest = attribute.usd.partition(":")
        kind, _, word = rest.partition(":")
        value = mujoco.allowed(attribute.field)
        if kind in found and value is not None and word != "gravity":
            found[kind][word] = option(value)
    source = draft.further.source
    if source is not None:
        # As the text has them: numbers of a USD file have fewer digits.
        found = {"option": dict(source.options), "flag": dict(source.flags)}
        for kind in found:
            found[kind].pop("gravity", None)
    elif not found["option"]:
        found["option"] = dict(_USUAL)
    return found
