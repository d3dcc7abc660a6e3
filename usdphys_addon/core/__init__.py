# SPDX-License-Identifier: GPL-3.0-or-later
"""The physics model and its file format: numpy and the standard library only (pxr in usd_read and usd_write)."""
