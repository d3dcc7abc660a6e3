# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics model from and to USD stages. Imports pxr and core, never Blender."""
