"""Shapes of ropes: the way over a pulley."""

import math

import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core.building import rope_shapes
from usdphys_ext.usdphys_addon.core.errors import InputError


def test_a_rope_over_a_pulley_is_two_straight_ends_and_half_a_turn():
    part, radius = 0.1, 2.0
    outside = radius / math.cos(part / 2.0)
    points = rope_shapes.over_pulley((-outside, -5.0), (outside, -3.0), radius, part)
    assert points[0] == pytest.approx((-outside, -5.0)) and points[-1] == pytest.approx((outside, -3.0))
    assert rope_shapes.length_of(points) == pytest.approx(5.0 + 3.0 + math.pi * outside, rel=2e-3)
    middles = (points[1:] + points[:-1]) / 2.0
    assert np.linalg.norm(middles[middles[:, 1] > 0.0], axis=1).min() > radius * 0.999


def test_the_rope_begins_at_the_first_load_whichever_side_it_is_on():
    points = rope_shapes.over_pulley((3.0, -4.0), (-3.0, -4.0), 1.0, 0.25)
    assert points[0] == pytest.approx((3.0, -4.0)) and points[-1] == pytest.approx((-3.0, -4.0))


@pytest.mark.parametrize("other", [(2.0, 1.0), (-2.0, -3.0), (0.5, -0.5)])
def test_loads_above_inside_or_on_one_side_are_refused(other):
    with pytest.raises(InputError, match="below the middle"):
        rope_shapes.over_pulley((-2.0, -3.0), other, 1.0, 0.25)
