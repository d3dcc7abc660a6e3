# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports and return values of finished and refused operators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import wraps
from typing import Any

from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.core.errors import InputError, UsdPhysError
from ..usdphys_addon.core.words import counted, joined, phrase
from ..usdphys_addon.system import faults

#: Characters of a report that the status bar shows whole in a window of usual width.
_BANNER = 140


def finish(operator: Any, text: str, notes: Iterable[str] = ()) -> set[Any]:
    """Report the notes as warnings and the result as information."""
    tell(operator, text, [("WARNING", note) for note in notes])
    return {"FINISHED"}


def tell(operator: Any, text: str, notes: Sequence[tuple[str, str]] = ()) -> None:
    """Report a result and its notes, each with its level ("WARNING" or "INFO").

    The status bar shows the last report alone: a short note that is the only one is a part of it. Of others it says
    how many there are, and where.
    """
    if len(notes) == 1:
        (level, note), whole = notes[0], tr(joined(". ", (text, notes[0][1])))
        if len(whole) <= _BANNER:
            operator.report({level}, whole)
            return
    for level, note in notes:
        operator.report({level}, tr(note))
    if notes:
        text = joined("; ", (text, phrase("{notes}, see the Info editor", notes=counted(len(notes), "note"))))
    operator.report({"INFO"}, tr(text))


def message_of(error: Exception) -> str:
    """The message of an error as it was raised: `str(error)` would lose the template of a phrase."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def refuse(operator: Any, error: Exception) -> set[Any]:
    """Report the reason as an error, and cancel.

    As a warning in *Adjust Last Operation*: Blender crashes where that pops up an error above itself.
    """
    faults.note(error)
    operator.report({"WARNING" if operator.options.is_repeat else "ERROR"}, tr(message_of(error)))
    return {"CANCELLED"}


def refusing(method: Any) -> Any:
    """Decorator of `execute` and `invoke`: an error of a room below is reported, and the operator is cancelled."""

    @wraps(method)
    def execute_or_refuse(self: Any, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except UsdPhysError as error:
            return refuse(self, error)

    return execute_or_refuse


def report_refusals(cls: Any) -> None:
    """Decorate an operator with `refusing`. `modal` is not: it has to clean up before it is cancelled."""
    for name in ("invoke", "execute"):
        if hasattr(cls, name):
            setattr(cls, name, refusing(getattr(cls, name)))


def draw_rows(operator: Any, *names: str) -> Any:
    """Draw properties of an operator below each other, with their names on the left. Returns the layout."""
    operator.layout.use_property_split = True
    for name in names:
        operator.layout.prop(operator, name)
    return operator.layout


def check_numbers(operator: Any) -> None:
    """Raise InputError for a NaN or an infinity, which Blender's fields take whatever their bounds are."""
    for item in operator.properties.bl_rna.properties:
        if item.type == "FLOAT":
            value = getattr(operator.properties, item.identifier)
            if not all(map(math.isfinite, value if item.is_array else (value,))):
                raise InputError(phrase("'{name}' is no finite number.", name=item.name))


def may_go_on(operator: Any) -> bool:
    """True if an operator may return before its work is done: it was called by a person, as one of Blender's own.

    An operator that *Adjust Last Operation* runs again may not: Blender frees it when it returns, and crashes.
    """
    return bool(operator.options.is_invoke and not operator.options.is_repeat)
