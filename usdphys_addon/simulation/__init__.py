# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation of the physics model, without Blender. Only `rapier` imports the engine."""
