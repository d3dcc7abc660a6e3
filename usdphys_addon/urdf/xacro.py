# SPDX-License-Identifier: GPL-3.0-or-later
"""Xacro -> plain URDF: properties, macros, conditions, includes. Closed: no file outside the packages, no network.

Written after the documentation of xacro 2; expressions are those of `expressions`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from . import expressions, further, markup, yaml_subset
from .expressions import Budget, ExpressionError
from .markup import Element
from .packages import Packages, is_file

_NAMESPACE = "http://www.ros.org/wiki/xacro"
#: Elements that a file may expand to; deeper calls of macros are an endless recursion.
_MOST_ELEMENTS, _DEEPEST = 200_000, 60
#: Letters in an element or an attribute; letters of the parameters of a macro.
_MOST_LETTERS, _MOST_PARAMETERS = 100_000, 5_000
#: Steps of the budget that a file takes to be read, besides its size, and a command such as $(find).
_FILE, _COMMAND = 1000, 20
_XML = frozenset({".xacro", ".urdf", ".xml", ".srdf", ".gazebo", ".trans"})
_YAML = frozenset({".yaml", ".yml"})
_PART = re.compile(r"\$\$(?=[{(])|\$\{|\$\(")
_PARAMETER = re.compile(r"\s*([^\s:=]+?)(?::?=(\^\|?)?((?:'[^']*'|\"[^\"]*\"|[^\s'\"])*))?(?=\s|\Z)")


def is_xacro(root: Element) -> bool:
    """True if an element or attribute of a file is one of xacro."""
    return any(
        one.tag.startswith("xacro:") or any("${" in value or "$(" in value for value in one.attributes.values())
        for one in root.walk()
    )


def is_expanded(root: Element) -> bool:
    """True for what xacro has written: there are links, and no expression decides what links and joints are."""
    kinds = {"link": further.LINK, "joint": further.JOINT}
    parts = [(one, kinds[one.tag]) for one in root.children if one.tag in kinds]
    texts = (text for part, known in parts for text in further.known_texts(part, known))
    return any(part.tag == "link" for part, _ in parts) and not any("${" in text or "$(" in text for text in texts)


def arguments_of(root: Element) -> dict[str, str]:
    """The arguments that a file declares, with their defaults."""
    return {
        one.get("name") or "": one.get("default") or ""
        for one in root.walk()
        if one.tag == "xacro:arg" and one.get("name")
    }


def expand(root: Element, path: Path, packages: Packages, arguments: Mapping[str, str]) -> Element:
    """The robot that a file describes. arguments: values by name. Raises InputError with file and line."""
    return _Expander(path, packages, arguments).expand(root)


class _Error(Exception):
    pass


@dataclass(slots=True)
class _Lazy:
    """A property that is evaluated when it is first needed, where it was defined."""

    text: str
    scope: Scope


class Scope(Mapping[str, Any]):
    """Properties that are visible at a place: its own, then those around it."""

    def __init__(self, expander: _Expander, above: Scope | None = None) -> None:
        self.expander, self.above = expander, above
        self.own: dict[str, Any] = {}
        self.macros: dict[str, _Macro] = {}
        self.pending: set[str] = set()

    def holder(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and name not in scope.own:
            scope = scope.above
        return scope

    @property
    def outermost(self) -> Scope:
        scope = self
        while scope.above is not None:
            scope = scope.above
        return scope

    def __getitem__(self, name: str) -> Any:
        scope = self.holder(name)
        if scope is None:
            raise KeyError(name)
        value = scope.own[name]
        if isinstance(value, _Lazy):
            if name in scope.pending:
                raise ExpressionError(f"the property '{name}' is defined by itself")
            scope.pending.add(name)
            try:
                value = scope.own[name] = literal(self.expander.text(value.text, value.scope))
            finally:
                scope.pending.discard(name)
        return value

    def __contains__(self, name: object) -> bool:
        return self.holder(str(name)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)

    def macro(self, name: str) -> _Macro | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.macros:
                return scope.macros[name]
            scope = scope.above
        return None


@dataclass(slots=True)
class _Macro:
    """parameters: (name, default or None, value forwarded from outside) in order; names with * are blocks."""

    element: Element
    parameters: list[tuple[str, str | None, bool]]
    scope: Scope


def literal(value: Any) -> Any:
    """A text as the number or truth value that it spells."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    if text in ("True", "true", "False", "false"):
        return text.lower() == "true"
    if "_" not in text:
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return value


class _Expander:
    def __init__(self, path: Path, packages: Packages, arguments: Mapping[str, str]) -> None:
        self.packages, self.budget = packages, Budget()
        self.arguments: dict[str, str] = dict(arguments)
        self.files = [path.absolute()]
        self.places: list[Element] = []
        self.elements, self.depth = 0, 0
        self.top = Scope(self)
        # Around a file, without a package: the folder beside its own is where files of one robot lie.
        home = next((above for above in path.absolute().parents if (above / "package.xml").is_file()), None)
        self.allowed = [Path(os.path.realpath(home or path.absolute().parent.parent))]

    def expand(self, root: Element) -> Element:
        try:
            made = self.inside(root, self.top)
        except (_Error, ExpressionError) as error:
            place = self.places[-1] if self.places else root
            raise InputError(f"{place.file}:{place.line}: {error}.") from error
        except RecursionError:
            raise InputError(f"'{self.files[0].name}' is nested too deep.") from None
        return made

    # ------------------------------------------------------------------ text

    def text(self, text: str, scope: Scope) -> Any:
        """A text with its ${expressions} and $(commands); the value itself where it is nothing but one of them."""
        parts: list[Any] = []
        at, letters = 0, 0
        while match := _PART.search(text, at):
            if match.start() > at:
                parts.append(text[at : match.start()])
            if match[0] == "$$":
                opening = text[match.end()]
                parts.append(f"${opening}")
                at = match.end() + 1
                continue
            end = _closing(text, match.end(), "}" if match[0] == "${" else ")")
            inner = text[match.end() : end]
            if match[0] == "${":
                if "$(" in inner:
                    inner = self.shown(self.text(inner, scope))
                parts.append(expressions.evaluate(inner, _Names(self, scope), self.budget))
                letters += len(parts[-1]) if isinstance(parts[-1], str) else 0
                if letters > _MOST_LETTERS:
                    raise ExpressionError("a text is too long")
            else:
                parts.append(self.command(self.shown(self.text(inner, scope)), scope))
            at = end + 1
        if at < len(text):
            parts.append(text[at:])
        if len(parts) == 1:
            return parts[0]
        made = "".join(map(self.shown, parts))
        if len(made) > 1_000_000:
            raise ExpressionError("a text is too long")
        self.budget.take_size(made)
        return made

    def shown(self, value: Any) -> str:
        """A value as text, as Python writes it."""
        if isinstance(value, str):
            return value
        self.budget.take_all(value)
        return str(value)

    def command(self, text: str, scope: Scope) -> Any:
        self.budget.take(_COMMAND)
        name, _, rest = text.strip().partition(" ")
        rest = rest.strip()
        if name == "find":
            return str(self.package(rest))
        if name == "arg":
            if rest not in self.arguments:
                raise _Error(f"the argument '{rest}' has no value; give it one (--arg {rest}:=VALUE)")
            return self.arguments[rest]
        if name == "eval":
            return expressions.evaluate(rest, _Names(self, scope, commands=True), self.budget)
        if name == "dirname":
            return str(self.files[-1].parent)
        if name in ("env", "optenv"):
            # The environment of the user is nobody's business; defaults are taken.
            _, _, default = rest.partition(" ")
            if name == "optenv":
                return default
            raise _Error(f"the environment variable '{rest}' is not read")
        if name == "anon":
            return rest
        raise _Error(f"'$({name})' is not known")

    def package(self, name: str) -> Path:
        folder = self.packages.package(name)
        if folder is None:
            raise _Error(f"the package '{name}' is not found; say where it is (--package {name}=FOLDER)")
        real = Path(os.path.realpath(folder))
        if real not in self.allowed:
            self.allowed.append(real)
        return folder

    def file(self, name: str, suffixes: frozenset[str]) -> Path:
        """A file that another names. Raises _Error where it is missing, outside the packages, or of another kind."""
        path = Path(name.removeprefix("file://"))
        if name.startswith(("package://", "model://")):
            package, _, inside = name.split("://", 1)[1].lstrip("/").partition("/")
            path = self.package(package) / inside
        path = path if path.is_absolute() else self.files[-1].parent / path
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(folder) for folder in self.allowed):
            raise _Error(f"'{name}' is outside the packages of the robot, so it is not read")
        if real.suffix.lower() not in suffixes:
            raise _Error(f"'{name}' is not read: it does not end with one of {', '.join(sorted(suffixes))}")
        if not is_file(real):
            raise _Error(f"there is no file '{name}'")
        self.budget.take(_FILE + real.stat().st_size // 16)
        self.packages.used.add(path)
        return path

    def yaml(self, name: str) -> Any:
        try:
            document = yaml_subset.load(markup.text_of(self.file(name, _YAML).read_bytes()))
        except (OSError, ValueError) as error:
            raise _Error(f"'{name}' cannot be read ({' '.join(str(error).split())[:100]})") from error
        self.budget.take_all(document)
        return document

    def truth(self, text: str, scope: Scope) -> bool:
        value = literal(self.text(text, scope))
        if isinstance(value, str):
            raise _Error(f"'{value[:40]}' is neither true nor false")
        return bool(value)

    # ------------------------------------------------------------------ elements

    def inside(self, element: Element, scope: Scope) -> Element:
        """A plain element with everything in it expanded."""
        attributes = {
            name: self.shown(self.text(value, scope)) for name, value in element.attributes.items()
            if not name.startswith("xmlns:xacro") and not (name == "xmlns" and value == _NAMESPACE)
        }  # fmt: skip
        made = Element(element.tag, attributes, line=element.line, file=element.file)
        made.text = self.shown(self.text(element.text, scope)) if "$" in element.text else element.text
        self.children(element, scope, made)
        return made

    def children(self, element: Element, scope: Scope, made: Element) -> None:
        for child in element.children:
            self.places.append(child)
            self.one(child, scope, made)
            self.places.pop()

    def one(self, element: Element, scope: Scope, made: Element) -> None:
        self.count(element.attributes)
        if not element.tag.startswith("xacro:"):
            made.children.append(self.inside(element, scope))
            return
        known: dict[str, Callable[[Element, Scope, Element], None]] = {
            "property": self.on_property, "arg": self.on_arg, "include": self.on_include, "macro": self.on_macro,
            "if": self.on_if, "unless": self.on_if, "insert_block": self.on_insert, "call": self.on_call,
            "element": self.on_element, "attribute": self.on_attribute,
        }  # fmt: skip
        name = element.tag.removeprefix("xacro:")
        handler = known.get(name)
        if handler is not None:
            handler(element, scope, made)
        else:
            self.call(name, element, scope, made)

    def count(self, attributes: Sized) -> None:
        """Count an element, and its attributes where they are many."""
        self.elements += 1 + len(attributes) // 10
        if self.elements > _MOST_ELEMENTS:
            raise _Error("the file expands to more elements than a robot description needs")

    def required(self, element: Element, name: str, scope: Scope) -> str:
        value = element.get(name)
        if value is None:
            raise _Error(f"{element.tag} lacks '{name}'")
        return self.shown(self.text(value, scope))

    def on_property(self, element: Element, scope: Scope, _made: Element) -> None:
        name = self.required(element, "name", scope)
        if name.startswith("__"):
            raise _Error(f"the name '{name}' is not allowed")
        where = {"parent": scope.above or scope, "global": scope.outermost}.get(element.get("scope") or "", scope)
        if element.get("remove") in ("true", "1") and "value" not in element.attributes:
            where.own.pop(name, None)
            return
        if "default" in element.attributes and "value" not in element.attributes:
            if name in scope:
                return
            value: Any = _Lazy(element.attributes["default"], scope)
        elif "value" in element.attributes:
            value = _Lazy(element.attributes["value"], scope)
        else:
            where.own[f"**{name}"] = element
            return
        if (
            where is not scope
            or element.get("lazy_eval") in ("false", "0")
            or (name in scope.own and _uses(value.text, name))
        ):
            value = literal(self.text(value.text, scope))
        where.own[name] = value

    def on_arg(self, element: Element, scope: Scope, _made: Element) -> None:
        name = self.required(element, "name", scope)
        if name not in self.arguments and element.get("default") is not None:
            self.arguments[name] = self.shown(self.text(element.attributes["default"], scope))

    def on_include(self, element: Element, scope: Scope, made: Element) -> None:
        name = self.required(element, "filename", scope)
        try:
            path = self.file(name, _XML)
        except _Error:
            if element.get("optional") in ("true", "1"):
                return
            raise
        if len(self.files) > _DEEPEST:
            raise _Error("files include each other without end")
        try:
            root, _ = markup.parse(path.read_bytes(), path.name)
        except OSError as error:
            raise _Error(f"'{name}' cannot be read") from error
        target = scope
        if element.get("ns"):
            target = Scope(self, scope)
        self.files.append(path.absolute())
        self.children(root, target, made)
        self.files.pop()
        if element.get("ns"):
            namespace = self.required(element, "ns", scope)
            scope.own[namespace] = target
            for macro, value in target.macros.items():
                scope.macros[f"{namespace}.{macro}"] = value

    def on_macro(self, element: Element, scope: Scope, _made: Element) -> None:
        name = self.required(element, "name", scope).removeprefix("xacro:")
        if len(element.get("params") or "") > _MOST_PARAMETERS:
            raise _Error(f"the macro '{name}' has too many parameters")
        parameters: list[tuple[str, str | None, bool]] = []
        for match in _PARAMETER.finditer(element.get("params") or ""):
            default = match[3] if match[3] is not None else None
            forwards = match[2] is not None
            if forwards and match[2] == "^":
                default = None
            if default is not None and len(default) >= 2 and default[0] == default[-1] and default[0] in "'\"":
                default = default[1:-1]
            parameters.append((match[1], default, forwards))
        scope.macros[name] = _Macro(element, parameters, scope)

    def on_if(self, element: Element, scope: Scope, made: Element) -> None:
        value = element.get("value")
        if value is None:
            raise _Error(f"{element.tag} lacks 'value'")
        if self.truth(value, scope) == (element.tag == "xacro:if"):
            self.children(element, scope, made)

    def on_insert(self, element: Element, scope: Scope, made: Element) -> None:
        name = self.required(element, "name", scope)
        for key in (f"**{name}", f"*{name}"):
            holder = scope.holder(key)
            if holder is not None:
                block = holder.own[key]
                source, inner = block if isinstance(block, tuple) else (block, scope)
                if key.startswith("**"):
                    made.text += self.shown(self.text(source.text, inner)).strip()
                    if len(made.text) > _MOST_LETTERS:
                        raise ExpressionError("a text is too long")
                    self.children(source, inner, made)
                else:
                    self.places.append(source)
                    self.one(source, inner, made)
                    self.places.pop()
                return
        raise _Error(f"there is no block '{name}'")

    def on_call(self, element: Element, scope: Scope, made: Element) -> None:
        self.call(self.required(element, "macro", scope).removeprefix("xacro:"), element, scope, made, skip="macro")

    def on_element(self, element: Element, scope: Scope, made: Element) -> None:
        name = self.required(element, "xacro:name", scope)
        rest = {key: value for key, value in element.attributes.items() if key != "xacro:name"}
        renamed = Element(name, rest, element.children, element.text, element.line, file=element.file)
        made.children.append(self.inside(renamed, scope))

    def on_attribute(self, element: Element, scope: Scope, made: Element) -> None:
        made.attributes[self.required(element, "name", scope)] = self.required(element, "value", scope)

    # ------------------------------------------------------------------ macros

    def call(self, name: str, element: Element, scope: Scope, made: Element, skip: str = "") -> None:
        macro = scope.macro(name)
        if macro is None:
            raise _Error(f"there is no macro '{name}'")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Error(f"the macro '{name}' calls itself without end")
        self.count(macro.parameters)
        # Macros see the properties of their callers; those of a namespace see the properties of that.
        inner = Scope(self, macro.scope if "." in name else scope)
        given = {key: value for key, value in element.attributes.items() if key != skip}
        blocks = self.blocks(element, scope)
        for parameter, default, forwards in macro.parameters:
            if parameter.startswith("*"):
                block = next(blocks, None)
                if block is None:
                    raise _Error(f"the macro '{name}' needs the block '{parameter.lstrip('*')}'")
                inner.own[parameter] = (block, scope)
            elif parameter in given:
                inner.own[parameter] = literal(self.text(given.pop(parameter), scope))
            elif forwards and parameter in scope:
                inner.own[parameter] = scope[parameter]
            elif default is not None:
                inner.own[parameter] = literal(self.text(default, inner))
            else:
                raise _Error(f"the macro '{name}' needs the parameter '{parameter}'")
        for parameter in given:
            raise _Error(f"the macro '{name}' has no parameter '{parameter}'")
        if next(blocks, None) is not None:
            raise _Error(f"the macro '{name}' takes fewer blocks")
        self.children(macro.element, inner, made)
        self.depth -= 1

    def blocks(self, element: Element, scope: Scope) -> Iterator[Element]:
        """The elements in a call; conditions around them are decided."""
        self.count(element.children)
        for child in element.children:
            if child.tag in ("xacro:if", "xacro:unless"):
                if self.truth(child.get("value") or "", scope) == (child.tag == "xacro:if"):
                    yield from self.blocks(child, scope)
            else:
                yield child


def _tokens(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    """The parts of a text between characters."""
    parts = re.split("|".join(map(re.escape, sep)), text) if sep else [text]
    return [part for part in parts if part or not skip_empty]


def _refuse(*texts: Any) -> None:
    raise ExpressionError(" ".join(map(str, texts))[:200])


#: Functions of the module `xacro`. What a file says on its way is not shown; what it finds wrong ends it.
_XACRO: dict[str, Any] = {
    "tokenize": _tokens, "dotify": dict, "error": _refuse, "fatal": _refuse,
    "message": lambda *_texts, **_options: "", "warning": lambda *_texts, **_options: "",
}  # fmt: skip


class _Names(Mapping[str, Any]):
    """What an expression can name: properties, and the functions of xacro.

    commands: in $(eval), arguments by their names before properties, and the other commands as functions.
    """

    def __init__(self, expander: _Expander, scope: Scope, *, commands: bool = False) -> None:
        self.expander, self.scope = expander, scope
        self.functions: dict[str, Any] = {"load_yaml": expander.yaml, "arg": self.argument}
        self.functions["xacro"] = {**self.functions, **_XACRO}
        self.arguments: Mapping[str, str] = {}
        if commands:
            self.arguments = expander.arguments
            for name in ("find", "env", "optenv", "anon", "dirname"):
                self.functions[name] = partial(self.command, name)

    def __getitem__(self, name: str) -> Any:
        if name in self.arguments:
            return literal(self.arguments[name])
        return self.scope[name] if name in self.scope else self.functions[name]

    def argument(self, name: str) -> Any:
        return literal(self.command("arg", name))

    def command(self, name: str, *words: Any) -> Any:
        return self.expander.command(" ".join(map(str, (name, *words))), self.scope)

    def __contains__(self, name: object) -> bool:
        return name in self.arguments or name in self.scope or name in self.functions

    def __iter__(self) -> Iterator[str]:
        return iter(self.scope)

    def __len__(self) -> int:
        return len(self.scope)


def _closing(text: str, start: int, mark: str) -> int:
    """Where an expression or a command ends; brackets and quotes inside it are skipped."""
    opening = "{" if mark == "}" else "("
    level, quote = 0, ""
    for index in range(start, len(text)):
        letter = text[index]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == opening:
            level += 1
        elif letter == mark:
            if level == 0:
                return index
            level -= 1
    raise _Error(f"'{text[max(0, start - 2) : start + 30]}' has no end")


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
