# SPDX-License-Identifier: GPL-3.0-or-later
"""URDF and xacro files and the meshes that they name, as values. Imports core and system, never bpy or pxr."""
