# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics model: schemas, units, geometry and validation rules. Imports neither bpy, pxr nor an engine."""
