# SPDX-License-Identifier: GPL-3.0-or-later
"""The live preview without Blender: a PhysicsModel becomes a Rapier world, and the world gives poses."""
