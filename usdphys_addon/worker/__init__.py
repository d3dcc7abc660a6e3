# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs although no operator runs: at events of Blender, in slices of its main thread, and in a thread."""
