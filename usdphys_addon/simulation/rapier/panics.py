# SPDX-License-Identifier: GPL-3.0-or-later
"""Panics of the solver, which are no Exception in Python."""

from collections.abc import Iterator
from contextlib import contextmanager

from ...core.errors import EngineError


def is_panic(error: BaseException) -> bool:
    """True for a panic of the solver."""
    return type(error).__name__ == "PanicException"


@contextmanager
def panics_named() -> Iterator[None]:
    """Turn a panic into an EngineError."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        text = " ".join(str(error).split())
        raise EngineError(
            f"The physics engine failed ({text}); look for huge or tiny sizes, masses and gains, and simulate parts of "
            "the scene to find the body."
        ) from None
