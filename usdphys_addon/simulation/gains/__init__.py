# SPDX-License-Identifier: GPL-3.0-or-later
"""Gains of drives from the inertia that they move: of servos, of motors, and of oscillators by their frequency."""
