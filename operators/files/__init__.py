# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the File menu: import and export of USD and URDF."""
