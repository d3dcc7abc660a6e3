# SPDX-License-Identifier: GPL-3.0-or-later
"""Make whole constructions from what the user selects: ropes, walls, ragdolls, vehicles; and settle objects."""
