# SPDX-License-Identifier: GPL-3.0-or-later
"""The preview in a Blender scene: session, poses, baking, joint inspector."""
