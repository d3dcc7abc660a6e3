# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation of the physics model, without Blender. Engines are behind the door of `engine`."""
