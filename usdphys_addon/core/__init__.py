# SPDX-License-Identifier: GPL-3.0-or-later
"""What physics is: the model, its schemas, units, rules and checks. No Blender, no pxr, no engine."""
