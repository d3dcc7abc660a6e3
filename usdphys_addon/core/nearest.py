# SPDX-License-Identifier: GPL-3.0-or-later
"""The name that somebody meant who has typed another one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like another, without regard to case; "" if none is."""
    import difflib  # for messages only: Blender loads this module at its start

    by_lower = {each.lower(): each for each in known}
    wanted = name.lower()
    matches = difflib.get_close_matches(wanted, by_lower, 1, 0.6)
    # A part of a name is near it, too: "kinematic" is less than 0.6 like "kinematic_enabled".
    parts = matches or sorted((each for each in by_lower if wanted and wanted in each), key=len)
    return by_lower[parts[0]] if parts else ""


def did_you_mean(name: object, known: Iterable[str], otherwise: str = ".") -> str:
    """The end of a sentence about an unknown name: the nearest known one, or `otherwise` where none is near."""
    meant = nearest(name, known) if isinstance(name, str) else ""
    return f"; did you mean '{meant}'?" if meant else otherwise
