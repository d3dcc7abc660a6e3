# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is which prim: the one answer for import, export, attach, layers and edits."""
