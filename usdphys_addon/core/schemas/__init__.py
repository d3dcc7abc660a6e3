# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemas as data, one module per USD library."""
