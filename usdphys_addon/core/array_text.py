# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as text that a person can edit: `[1, 2, 3]`, `[[0, 0, 1], [1, 0, 0]]`, `["left", "right"]`, `0.5`."""

from __future__ import annotations

import json
from typing import Any

from .value_types import RANGES, ValueType, with_elements


def format_array(value: tuple[Any, ...]) -> str:
    """The text of an array; empty for an empty one."""
    return json.dumps(value, ensure_ascii=False) if value else ""


def parse_array(kind: ValueType, text: str) -> tuple[Any, ...]:
    """The array that a text holds; empty for blank text. Raises ValueError if it is not an array of this type."""
    if not text.strip():
        return ()
    try:
        read = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a list like [1, 2, 3] ({error})") from error
    value = _tuples(read)
    if kind.base == "float":
        value = _floats(value)
    if not kind.accepts(value):
        raise ValueError(f"{text!r} is not a list of values of the type {kind.name.removesuffix('[]')}")
    return value  # type: ignore[no-any-return]


def _tuples(value: Any) -> Any:
    return tuple(_tuples(part) for part in value) if isinstance(value, list) else value


def _floats(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_floats(part) for part in value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def text_of(kind: ValueType, value: Any) -> str:
    """A value as the text of a row."""
    if kind.is_array:
        return format_array(value)
    if kind.base == "text":
        return str(value)
    return json.dumps(value)


def parse(kind: ValueType, text: str) -> Any:
    """The value of the text of a row. Raises ValueError with a sentence."""
    if kind.is_array:
        return parse_array(kind, text)
    if kind.base == "text":
        return text
    try:
        read = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no {kind.name}") from error
    value: Any = tuple(read) if isinstance(read, list) else read
    if kind.base == "float" and kind.accepts(value):
        value = with_elements(kind, value, float)
    if not kind.accepts(value) or (kind.base == "int" and not _is_in_range(kind, value)):
        raise ValueError(f"{text!r} is no {kind.name}")
    return value


def _is_in_range(kind: ValueType, value: Any) -> bool:
    low, high = RANGES.get(kind.name, RANGES["int"])
    numbers = value if isinstance(value, tuple) else (value,)
    return all(isinstance(number, int) and low <= number <= high for number in numbers)
