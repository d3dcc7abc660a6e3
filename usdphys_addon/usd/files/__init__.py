# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a stage is read from and packed into: which are safe to open. Imports pxr, never bpy."""
