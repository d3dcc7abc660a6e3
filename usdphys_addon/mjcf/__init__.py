# SPDX-License-Identifier: GPL-3.0-or-later
"""MJCF, the model files of MuJoCo, as values. Neither Blender, pxr nor MuJoCo."""
