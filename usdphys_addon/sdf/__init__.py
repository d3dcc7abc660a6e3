# SPDX-License-Identifier: GPL-3.0-or-later
"""SDF, the files of Gazebo, as the values that the reader of URDF makes. Imports urdf and core, never bpy or pxr."""
