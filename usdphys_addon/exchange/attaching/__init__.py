# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the physics of a file on objects that are in the scene already: which object is which prim, and what it gets."""
