# SPDX-License-Identifier: GPL-3.0-or-later
"""An extension of wheels alone: Blender puts MuJoCo and CoACD where the add-on USD Physics finds them."""


def register() -> None:
    """Nothing: the wheels are the extension."""


def unregister() -> None:
    """Nothing."""
