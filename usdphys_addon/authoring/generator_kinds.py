# SPDX-License-Identifier: GPL-3.0-or-later
"""What *Add > Physics* and *Sample Scenes* offer. Apart from `generators`, which takes time to load."""

from __future__ import annotations

#: (kind, label, icon, tooltip)
KINDS = (
    (
        "GROUND",
        "Ground",
        "MESH_GRID",
        "A static box of 20 m, or as wide as bodies need it, with its surface at the cursor, or below what is selected",
    ),
    ("RAMP", "Ramp", "MOD_BEVEL", "A static wedge"),
    ("STACK", "Box Stack", "MESH_CUBE", "Boxes stacked on each other, each a rigid body"),
    (
        "BALL",
        "Ball",
        "MESH_UVSPHERE",
        "A ball that is thrown at the selected bodies; without a selection it begins at the 3D cursor",
    ),
    ("DOMINOES", "Domino Row", "ALIGN_JUSTIFY", "Dominoes in a row, each a rigid body"),
)
#: (kind, label, icon, tooltip) of sample scenes.
SAMPLES = (
    ("DOMINOES", "Dominoes", "ALIGN_JUSTIFY", "A ball rolls into a row of dominoes"),
    ("CAR", "Car", "AUTO", "A car with four driven wheels"),
    ("ARM", "Robot Arm", "CON_KINEMATIC", "A robot arm of three joints that holds itself by servos"),
    ("CHIMNEY", "Chimney", "MOD_EXPLODE", "A ball breaks a chimney of bricks"),
    ("RAGDOLL", "Ragdoll", "ARMATURE_DATA", "A figure falls down a flight of stairs"),
    ("BRIDGE", "Bridge", "LINKED", "Crates fall on a bridge of planks"),
    ("MACHINES", "Machines", "MODIFIER", "A pulley, a scissor lift and a conveyor"),
)
