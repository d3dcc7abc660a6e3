# SPDX-License-Identifier: GPL-3.0-or-later
"""A switch that is on within a block: what is called from there can tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Switch:
    """For callbacks of Blender, which take no arguments of ours: such as, to ignore what the block itself sets."""

    def __init__(self) -> None:
        self.is_on = False

    @contextmanager
    def on(self) -> Iterator[None]:
        before, self.is_on = self.is_on, True
        try:
            yield
        finally:
            self.is_on = before
