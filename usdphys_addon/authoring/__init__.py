# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools that edit the physics of a scene: tag, join, split, mirror, copy."""
