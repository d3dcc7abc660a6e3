# SPDX-License-Identifier: GPL-3.0-or-later
"""Panics of the solver, which are no Exception in Python."""


def is_panic(error: BaseException) -> bool:
    """True for a panic of the solver."""
    return type(error).__name__ == "PanicException"
