# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects from and to the physics model, and nothing else."""
