# SPDX-License-Identifier: GPL-3.0-or-later
"""Value types of USD attributes and their Python form in the model.

Numbers are int or float, vectors and quaternions (real part first) tuples of numbers, arrays tuples of elements.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

Base = Literal["bool", "int", "float", "text"]

_SCALARS: dict[str, Base] = {
    "bool": "bool", "uchar": "int", "int": "int", "uint": "int", "int64": "int", "uint64": "int",
    "half": "float", "float": "float", "double": "float",
    "string": "text", "token": "text", "asset": "text", "pathExpression": "text", "opaque": "text",
}  # fmt: skip
#: Largest and smallest value of the integer types.
RANGES = {
    "uchar": (0, 2**8 - 1), "int": (-(2**31), 2**31 - 1), "uint": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}  # fmt: skip
_ROLES = ("point", "vector", "normal", "color", "texCoord")


class ValueType(NamedTuple):
    """One Sdf value type.

    base: type of a component. size: number of components of a value or array element; 1 for scalars. is_array: any
    number of elements. is_quaternion: the four components are a rotation.
    """

    name: str
    base: Base
    size: int = 1
    is_array: bool = False
    is_quaternion: bool = False

    @property
    def is_number(self) -> bool:
        return self.base in ("int", "float")

    @property
    def has_unit(self) -> bool:
        """True if values may have a unit: floats that are not quaternions."""
        return self.base == "float" and not self.is_quaternion

    def accepts(self, value: Any) -> bool:
        """True if a value of the model has this type."""
        if type(value) is float:  # the usual case
            return self.base in ("int", "float") and self.size == 1 and not self.is_array
        if self.is_array:
            return isinstance(value, tuple) and all(self._accepts_element(element) for element in value)
        return self._accepts_element(value)

    def _accepts_element(self, value: Any) -> bool:
        if self.size == 1:
            return self._accepts_component(value)
        return isinstance(value, tuple) and len(value) == self.size and all(map(self._accepts_component, value))

    def _accepts_component(self, value: Any) -> bool:
        if type(value) is float:
            return self.base in ("int", "float")
        if self.base == "bool":
            return isinstance(value, bool)
        if self.base == "text":
            return isinstance(value, str)
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    @property
    def zero(self) -> Any:
        """Neutral value: False, 0, empty string or array, identity quaternion."""
        if self.is_array:
            return ()
        if self.is_quaternion:
            return (1.0, 0.0, 0.0, 0.0)
        plain: Any = {"bool": False, "int": 0, "float": 0.0, "text": ""}[self.base]
        return plain if self.size == 1 else (plain,) * self.size


@cache
def value_type(name: str) -> ValueType:
    """The type with a name such as "float", "point3f", "quatd", "token[]". Raises KeyError for an unknown name."""
    bare = name.removesuffix("[]")
    is_array = bare != name
    if bare in _SCALARS:
        return ValueType(name, _SCALARS[bare], is_array=is_array)
    if bare in ("quath", "quatf", "quatd"):
        return ValueType(name, "float", 4, is_array, is_quaternion=True)
    for scalar in ("int", "half", "float", "double"):
        for size in (2, 3, 4):
            if bare == f"{scalar}{size}":
                return ValueType(name, _SCALARS[scalar], size, is_array)
    for role in _ROLES:
        if bare[:-2] == role and bare[-2] in "234" and bare[-1] in "hfd":
            return ValueType(name, "float", int(bare[-2]), is_array)
    raise KeyError(name)


def elements_of(kind: ValueType, value: Any) -> tuple[Any, ...]:
    """All components of a value, flattened."""
    elements = value if kind.is_array else (value,)
    if kind.size == 1:
        return tuple(elements)
    return tuple(part for element in elements for part in element)


def with_elements(kind: ValueType, value: Any, change: Any) -> Any:
    """The value with `change` applied to each component."""
    if kind.is_array:
        single = ValueType(kind.name, kind.base, kind.size)
        return tuple(with_elements(single, element, change) for element in value)
    return tuple(change(part) for part in value) if kind.size > 1 else change(value)
