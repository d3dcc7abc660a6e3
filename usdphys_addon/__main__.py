# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m usdphys_addon`, from the root of the repository, and `python -m usdphys` with the wheel."""

from .cli import run

run()
