# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulators in a Python of the user's own: a USD file goes in, the poses of its bodies come back.

`engine.ENGINES` has a row for each. `run_physx.py` and `run_newton.py` are programs for that Python, which nothing
imports.
"""
