# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion between the physics model and USD stages. Imports pxr and core, never bpy."""
