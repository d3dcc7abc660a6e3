# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixes of a USD file in place, statement by statement."""
