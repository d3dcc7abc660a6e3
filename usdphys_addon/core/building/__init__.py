# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic of tools that build: axes of joints, places, shapes of ropes, areas of contact, tables of ragdolls."""
