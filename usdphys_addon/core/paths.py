# SPDX-License-Identifier: GPL-3.0-or-later
"""Prim paths as text."""

from __future__ import annotations

from collections.abc import Container, Iterator


def paths_above(path: str) -> Iterator[str]:
    """The paths of all prims above a prim, nearest first, without the pseudo-root."""
    while path := path.rpartition("/")[0]:
        yield path


def is_below_any(path: str, roots: Container[str]) -> bool:
    """True if a prim is below one of these, not if it is one of them."""
    return any(above in roots for above in paths_above(path))
