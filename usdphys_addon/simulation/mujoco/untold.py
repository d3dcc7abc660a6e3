# SPDX-License-Identifier: GPL-3.0-or-later
"""What MuJoCo is not told of a prim, as sentences. name: of the prim, for messages."""

from __future__ import annotations


def bond(name: str) -> str:
    return f"MuJoCo is not told that the bond {name} yields, or only holds pull and shear."


def breaking(name: str) -> str:
    return f"MuJoCo is not told the load under which {name} breaks: a joint of its kind cannot break there."


def speeds(name: str) -> str:
    return f"MuJoCo is not told the largest speeds of {name}, because it is on a joint."


def loop(name: str) -> str:
    return f"MuJoCo is not told of the loop that {name} closes: a joint of its kind cannot close one."


def settings(name: str) -> str:
    return f"MuJoCo is not told limits, drives, friction, damping and armature of {name}, because it closes a loop."


def leader(name: str) -> str:
    return f"MuJoCo is not told what {name} follows: both are not single hinges or slides of trees."


def gearing(name: str, needs: str) -> str:
    """needs: what the joints of the gearing have to be."""
    return f"MuJoCo is not told the gearing of {name}: its joints are not {needs} of trees."
