# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine around Blender: files that are replaced whole, streams that are printed to, child processes."""
