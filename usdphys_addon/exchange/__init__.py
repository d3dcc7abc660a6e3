# SPDX-License-Identifier: GPL-3.0-or-later
"""Files from and to Blender, one module per direction and format."""
