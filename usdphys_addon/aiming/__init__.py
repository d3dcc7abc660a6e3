# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a simulation with changed values: searched until bodies meet their targets, or varied at random."""
