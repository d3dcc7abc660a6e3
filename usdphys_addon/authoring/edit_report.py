# SPDX-License-Identifier: GPL-3.0-or-later
"""What an action on objects says: what it has done, and what it has left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.words import named, phrase

#: Sentences about objects that are left out; {names} is replaced by their names.
LINKED = "Linked objects cannot be edited; make library overrides of them first: {names}"
NOT_JOINTS = "Joints are not bodies and do not collide; select the objects that they join instead of {names}"


def sentences(left_out: dict[str, list[str]]) -> list[str]:
    """One sentence per reason to leave objects out. left_out: names of the objects by sentence with {names}."""
    return [phrase(text, names=named(names)) for text, names in left_out.items() if names]


@dataclass(slots=True)
class EditReport:
    """text: what was done, as a sentence. notes: further sentences for the user."""

    text: str
    notes: list[str] = field(default_factory=list)
    #: Names of the objects that were written to.
    objects: list[str] = field(default_factory=list)
