# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems of the scene: found while the user works, reported, fixed."""
