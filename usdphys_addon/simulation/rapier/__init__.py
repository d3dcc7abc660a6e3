# SPDX-License-Identifier: GPL-3.0-or-later
"""The Rapier engine: the only modules that import rapier3d."""
