# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments on an asset whose answers are known: certificates of its motion, and the page that shows them."""
