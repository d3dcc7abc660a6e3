# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion from the physics model, without Blender: what moves, what is joined, what collides."""
