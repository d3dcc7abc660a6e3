# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic of the generators: places, shapes of ropes, areas of contact, tables of ragdolls."""
