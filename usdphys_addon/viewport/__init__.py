# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the 3D view: vertex arrays without Blender, and the thin shell that hands them to the GPU."""
