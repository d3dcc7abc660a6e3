# SPDX-License-Identifier: GPL-3.0-or-later
"""Python expressions of xacro, evaluated node by node of their syntax tree: nothing is handed to Python's own eval.

Only what is listed here exists: no attribute of an object, no import, no lambda, no way to a file. Work and the size of
results are limited.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any


class ExpressionError(Exception):
    """What is wrong with an expression, as a part of a sentence."""


#: Steps of all expressions of a file: evaluated nodes, and the items of what they make; longest text or list.
_MOST_STEPS, _LARGEST = 2_000_000, 100_000
#: Letters of a text that count as one step.
_LETTERS = 16
#: Bits of a number. Larger ones can be made to have the same hash, and sets of them are slow.
_BITS = 60


class Budget:
    """How much all expressions of a file may still do."""

    def __init__(self) -> None:
        self.left = _MOST_STEPS

    def take(self, count: int = 1) -> None:
        self.left -= count
        if self.left < 0:
            raise ExpressionError("the file asks for more work than a robot description needs")

    def take_size(self, value: Any) -> None:
        """Count the items or letters of a value, without those of its items."""
        if isinstance(value, str):
            self.take(len(value) // _LETTERS)
        elif isinstance(value, list | tuple | dict | set):
            self.take(len(value))

    def take_all(self, value: Any) -> None:
        """Count a value with all that is in it, as often as it is in it: so much is compared, hashed or shown."""
        waiting = [value]
        while waiting:
            one = waiting.pop()
            self.take_size(one)
            if isinstance(one, list | tuple | set):
                waiting.extend(one)
            elif isinstance(one, dict):
                waiting.extend(one.keys())
                waiting.extend(one.values())


def _sized(value: Any) -> Any:
    if isinstance(value, str | list | tuple | dict | set) and len(value) > _LARGEST:
        raise ExpressionError("a text or list is too long")
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _BITS:
        raise ExpressionError("a number is too large")
    return value


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, int) and isinstance(base, int) and abs(exponent) * max(1, base.bit_length()) > 4 * _BITS:
        raise ExpressionError("a number is too large")
    return base**exponent


def _times(one: Any, other: Any) -> Any:
    for text, count in ((one, other), (other, one)):
        if isinstance(text, str | list | tuple) and isinstance(count, int) and len(text) * max(0, count) > _LARGEST:
            raise ExpressionError("a text or list is too long")
    return one * other


def _modulo(one: Any, other: Any) -> Any:
    if isinstance(one, str):
        raise ExpressionError("formats with % are not evaluated")
    return one % other


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _times, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: _modulo, ast.Pow: _power, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other,
}  # fmt: skip
#: Methods of plain values that change nothing.
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset({
        "lower", "upper", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "replace", "find", "count",
        "join", "title", "capitalize", "isdigit", "removeprefix", "removesuffix",
    }),
    dict: frozenset({"get", "keys", "values", "items"}),
    list: frozenset({"index", "count"}),
    tuple: frozenset({"index", "count"}),
}  # fmt: skip


def _range(*arguments: Any) -> list[int]:
    numbers = range(*map(_sized, arguments))
    if len(numbers) > _LARGEST:
        raise ExpressionError("a list is too long")
    return list(numbers)


def _round(value: Any, ndigits: int | None = None) -> Any:
    # Python computes the power of ten.
    return round(value) if ndigits is None else round(value, max(-400, min(400, ndigits)))


def _sum(values: Any, start: Any = 0) -> Any:
    """The sum of numbers, or of lists, which Python would copy once for each of them."""
    if isinstance(start, list | tuple):
        joined = list(start)
        for value in values:
            if type(value) is not type(start):
                raise TypeError(f"a {type(value).__name__} is added to a {type(start).__name__}")
            joined += value
            _sized(joined)
        return type(start)(joined)
    return sum(values, start)


#: What every expression knows besides the properties of the file.
FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in dir(math) if not name.startswith("_")},
    "abs": abs, "min": min, "max": max, "round": _round, "len": len, "int": int, "float": float, "str": str,
    "bool": bool, "list": list, "dict": dict, "tuple": tuple, "sorted": sorted, "sum": _sum, "any": any, "all": all,
    "zip": lambda *lists: list(zip(*lists, strict=False)), "enumerate": lambda values: list(enumerate(values)),
    "range": _range, "set": set, "isinstance": isinstance, "True": True, "False": False, "None": None, "true": True,
    "false": False,
}  # fmt: skip
for _dangerous in ("factorial", "comb", "perm", "pow", "prod", "lcm"):
    FUNCTIONS.pop(_dangerous, None)
FUNCTIONS["pow"] = _power
#: What `sorted`, `min` and `max` may call for each item: another one could make a long list of each.
_KEYS = tuple(FUNCTIONS[name] for name in ("len", "abs", "int", "float", "str"))
#: Modules of which expressions may name functions.
_MODULES = {
    "math": {name: value for name, value in FUNCTIONS.items() if hasattr(math, name)},
    "python": {name: value for name, value in FUNCTIONS.items() if not hasattr(math, name)},
}


def evaluate(text: str, names: Mapping[str, Any], budget: Budget) -> Any:
    """The value of an expression. names: properties of the file, and functions. Raises ExpressionError."""
    if len(text) > 10_000:
        raise ExpressionError("it is too long")
    budget.take(len(text))  # it is parsed anew each time, which takes about a step for each letter
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _Evaluator(names, budget).value(tree.body)
    except ExpressionError:
        raise
    except (RecursionError, MemoryError):  # the second is how the parser says it
        raise ExpressionError("it is nested too deep") from None
    except (SyntaxError, ValueError) as error:
        raise ExpressionError(f"it cannot be read ({' '.join(str(error).split())[:80]})") from error
    except (TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ExpressionError(f"{type(error).__name__}: {' '.join(str(error).split())[:80]}") from error


class _Evaluator:
    def __init__(self, names: Mapping[str, Any], budget: Budget) -> None:
        self.names, self.budget = names, budget
        self.local: dict[str, Any] = {}

    def value(self, node: ast.AST) -> Any:
        self.budget.take()
        method = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if method is None:
            raise ExpressionError(f"{type(node).__name__} is not evaluated in a file of others")
        result = _sized(method(node))
        if not isinstance(node, ast.Name | ast.Constant | ast.Attribute):  # these make nothing new
            self.budget.take_size(result)
        return result

    def on_constant(self, node: ast.Constant) -> Any:
        return node.value

    def on_name(self, node: ast.Name) -> Any:
        if node.id.startswith("__"):
            raise ExpressionError(f"the name '{node.id}' is not allowed")
        if node.id in self.local:
            return self.local[node.id]
        if node.id in self.names:
            return self.names[node.id]
        if node.id in FUNCTIONS:
            return FUNCTIONS[node.id]
        if node.id in _MODULES:
            return _MODULES[node.id]
        raise ExpressionError(f"'{node.id}' is not defined")

    def on_attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if node.attr.startswith("_"):
            raise ExpressionError(f"the name '{node.attr}' is not allowed")
        if isinstance(owner, Mapping) and node.attr in owner:
            return owner[node.attr]
        raise ExpressionError(f"there is no '{node.attr}'")

    def on_call(self, node: ast.Call) -> Any:
        arguments: list[Any] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                arguments += list(self.value(one.value))
            else:
                arguments.append(self.value(one))
        if any(one.arg is None for one in node.keywords):
            raise ExpressionError("** is not evaluated in a file of others")
        keywords = {str(one.arg): self.value(one.value) for one in node.keywords}
        self.budget.take_all([arguments, list(keywords.values())])
        for name, one in keywords.items():
            if callable(one) and not (name == "key" and any(one is known for known in _KEYS)):
                raise ExpressionError(f"{name} is a function that is not called for each item")
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if isinstance(owner, str):
                _sized_by(owner, arguments)
            elif isinstance(owner, list | tuple):
                self.budget.take_all(owner)
            allowed = _METHODS.get(type(owner), frozenset())
            if node.func.attr in allowed and not (isinstance(owner, dict) and node.func.attr in owner):
                result = getattr(owner, node.func.attr)(*arguments, **keywords)
                return list(result) if type(owner) is dict and node.func.attr != "get" else result
        function = self.value(node.func)
        if not callable(function) or (isinstance(function, type) and function not in _TYPES):
            raise ExpressionError("what is called is no function")
        return function(*arguments, **keywords)

    def on_binop(self, node: ast.BinOp) -> Any:
        operation = _BINARY.get(type(node.op))
        if operation is None:
            raise ExpressionError(f"{type(node.op).__name__} is not evaluated in a file of others")
        return operation(self.value(node.left), self.value(node.right))

    def on_unaryop(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def on_boolop(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for one in node.values:
            result = self.value(one)
            if bool(result) != isinstance(node.op, ast.And):
                return result
        return result

    def on_compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for operation, right in zip(node.ops, node.comparators, strict=True):
            other = self.value(right)
            self.budget.take_all((left, other))
            if not _COMPARE[type(operation)](left, other):
                return False
            left = other
        return True

    def on_ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def on_subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, str | list | tuple | Mapping):
            raise ExpressionError("what is indexed is no list")
        return owner[self.key(node.slice)]

    def key(self, node: ast.AST) -> Any:
        """A value that is hashed."""
        result = self.value(node)
        self.budget.take_all(result)
        return result

    def on_slice(self, node: ast.Slice) -> Any:
        return slice(*(None if one is None else self.value(one) for one in (node.lower, node.upper, node.step)))

    def on_list(self, node: ast.List) -> Any:
        return [self.value(one) for one in node.elts]

    def on_tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(one) for one in node.elts)

    def on_dict(self, node: ast.Dict) -> Any:
        pairs = zip(node.keys, node.values, strict=True)
        return {self.key(key): self.value(one) for key, one in pairs if key is not None}

    def on_listcomp(self, node: ast.ListComp) -> Any:
        return [self.value(node.elt) for _ in self.loop(node.generators)]

    def on_generatorexp(self, node: ast.GeneratorExp) -> Any:
        return [self.value(node.elt) for _ in self.loop(node.generators)]

    def on_dictcomp(self, node: ast.DictComp) -> Any:
        return {self.key(node.key): self.value(node.value) for _ in self.loop(node.generators)}

    def loop(self, generators: list[ast.comprehension]) -> Iterator[None]:
        if not generators:
            yield
            return
        first, *rest = generators
        for item in list(self.value(first.iter)):
            self.budget.take()
            self.assign(first.target, item)
            if all(self.value(test) for test in first.ifs):
                yield from self.loop(rest)

    def assign(self, target: ast.AST, item: Any) -> None:
        if isinstance(target, ast.Name):
            self.local[target.id] = item
        elif isinstance(target, ast.Tuple | ast.List):
            for one, part in zip(target.elts, item, strict=True):
                self.assign(one, part)


def _sized_by(owner: str, arguments: list[Any]) -> None:
    """Refuse methods whose result could be many times as long as the text and what they are given."""
    lengths = [len(one) for one in arguments if isinstance(one, str | list | tuple)]
    if (len(owner) + 1) * (max(lengths, default=0) + 1) > 10 * _LARGEST:
        raise ExpressionError("a text or list is too long")


_TYPES = frozenset({int, float, str, bool, list, dict, tuple, set})
