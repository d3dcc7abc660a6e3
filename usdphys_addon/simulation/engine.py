# SPDX-License-Identifier: GPL-3.0-or-later
"""x"""

from __future__ import annotations

#: m/s. A faster body counts as unstable.
FASTEST = 1000.0
