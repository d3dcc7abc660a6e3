# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests of the simulation ask of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_number_of_ours_is_lost() -> Iterator[None]:
    """numpy warns of what is no number and goes on with it; in our own code that is a fault."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning, module="usdphys_ext")
        yield
