# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs together: things that are tied to each other, directly or by others."""

from __future__ import annotations

from collections.abc import Iterable


class Ties:
    """Paths that are tied to each other. Each belongs to the group of one of them, its root."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def root(self, path: str) -> str:
        """The path by which the group of a path is known until the next tie."""
        above = self._above
        above.setdefault(path, path)
        while above[path] != path:
            above[path] = path = above[above[path]]
        return path

    def tie(self, paths: Iterable[str]) -> None:
        """Tie paths, of which there is one at least, to each other."""
        first, *others = map(self.root, paths)
        for other in others:
            self._above[self.root(other)] = self.root(first)

    def groups(self) -> dict[str, set[str]]:
        """By root, the paths that were asked for or tied."""
        by_root: dict[str, set[str]] = {}
        for path in self._above:
            by_root.setdefault(self.root(path), set()).add(path)
        return by_root
