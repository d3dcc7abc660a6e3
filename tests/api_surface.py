"""All that is public of the API, as text. `.venv-usd/bin/python tests/api_surface.py` writes the list anew."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LISTED = Path(__file__).with_name("api_surface.txt")


def surface(api: Any) -> str:
    """One line for each name that is public, with its kind and what a caller can see of it."""
    lines = []
    for module, prefix in ((api, ""), (api.generate, "generate.")):
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            lines.append(f"{_kind(thing)} {prefix}{name}{_signature(thing)}")
            if inspect.isclass(thing) and not issubclass(thing, Exception):
                lines += [f"    {line}" for line in _members(thing)]
    return "\n".join(lines) + "\n"


def _kind(thing: object) -> str:
    if inspect.ismodule(thing):
        return "module"
    if inspect.isclass(thing):
        return "error" if issubclass(thing, Exception) else "class"
    return "function"


def _signature(thing: object) -> str:
    if inspect.ismodule(thing):
        return ""
    if inspect.isclass(thing):
        return f"({', '.join(base.__name__ for base in thing.__bases__)})"
    return str(inspect.signature(thing))


def _members(cls: type) -> list[str]:
    annotations = vars(cls).get("__annotations__", {})
    fields = [
        f"{name}: {getattr(kind, '__forward_arg__', kind)}" for name, kind in annotations.items() if name[0] != "_"
    ]
    found = []
    for name, value in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            found.append(f"property {name} -> {inspect.signature(value.fget).return_annotation}")
        elif inspect.isfunction(value):
            found.append(f"method {name}{inspect.signature(value)}")
    return [*fields, *sorted(found)]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from usdphys_addon import api as public

    LISTED.write_text(surface(public), encoding="utf-8")
