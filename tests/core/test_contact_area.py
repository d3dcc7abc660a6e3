# SPDX-License-Identifier: GPL-3.0-or-later
"""Which contacts of pieces get a bond."""

from __future__ import annotations

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.building import contact_area


def contacts(*areas):
    """(first, second, area) as contacts."""
    return [(one, other, contact_area.Contact(area, np.zeros(3), np.array([1.0, 0.0, 0.0])))
            for one, other, area in areas]  # fmt: skip


def bonds(*areas):
    return [(one, other) for one, other, _ in contact_area.bonded(contacts(*areas))]


def test_a_sliver_between_pieces_that_larger_contacts_hold_gets_no_bond():
    assert bonds((0, 1, 1.0), (0, 2, 0.005), (1, 2, 0.8)) == [(0, 1), (1, 2)]
    assert bonds((0, 1, 1.0), (0, 2, 0.02), (1, 2, 0.8)) == [(0, 1), (0, 2), (1, 2)]


def test_a_small_piece_keeps_its_bonds_to_large_ones():
    assert bonds((0, 1, 1.0), (0, 2, 0.005), (1, 2, 0.004)) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("turned", [False, True])
def test_a_neck_that_alone_holds_two_halves_keeps_its_largest_bond(turned):
    found = [(0, 1, 1.0), (2, 3, 1.0), (1, 2, 0.004), (0, 3, 0.005)]
    held = bonds(*(reversed(found) if turned else found))
    assert sorted(held) == [(0, 1), (0, 3), (2, 3)]
