# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend holds outlives the version of the add-on that saved it: stamps of versions, and migrations."""
