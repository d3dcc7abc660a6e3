# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m usdphys_addon`, from the root of the repository."""

from .cli import run

run()
