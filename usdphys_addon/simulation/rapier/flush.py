# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal boxes that lie or meet flush, in sizes whose contacts the solver finds.

It cuts one face with the other. Where the edges of both are the same lines but for rounding, it finds anything from no
contact to all four: a stack moves aside in some places of the world, and two boxes that meet face to face spin off. So
each box is smaller by its own tiny part, and one of two faces lies inside of the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

import numpy as np

#: Relative to its size, by which a box is smaller at most, and at least; nobody sees 5 micrometres of half a metre.
MOST, LEAST = 1e-5, 0.1


def shares(paths: Iterable[str]) -> list[float]:
    """What is left of the size of the boxes of each body. By its path: others, and their order, change nothing."""
    numbers = np.array(list(map(crc32, map(str.encode, paths))), float)
    return list((1.0 - MOST * (LEAST + (1.0 - LEAST) * numbers / 2**32)).tolist())
