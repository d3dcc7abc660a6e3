# SPDX-License-Identifier: GPL-3.0-or-later
"""Translation between Blender scenes and the physics model."""
