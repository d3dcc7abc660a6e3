# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines in a process of their own, behind the door for engines: the scene is sent once, then poses stream."""
