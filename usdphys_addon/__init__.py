# SPDX-License-Identifier: GPL-3.0-or-later
"""The code of the extension, without its operators and panels. The wheel `usdphys` has the parts without Blender."""
