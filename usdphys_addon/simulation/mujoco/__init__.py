# SPDX-License-Identifier: GPL-3.0-or-later
"""MuJoCo behind the door of engines. Needs the packages that the row of the engine names."""
