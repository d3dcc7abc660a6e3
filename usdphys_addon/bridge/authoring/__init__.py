# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person does to the physics of a scene: tag, join, split, copy, check."""
