# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and defaults of the physics extensions of glTF, in one place: none of them is ratified yet.

Sources: OMI_physics_* of omigroup/gltf-extensions (August 2026); KHR_physics_rigid_bodies and KHR_implicit_shapes of
eoineoineoin/glTF_Physics (October 2025), with `geometry.mesh`, which implementations have written since January 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

KHR_BODY = "KHR_physics_rigid_bodies"
KHR_SHAPE = "KHR_implicit_shapes"
OMI_BODY = "OMI_physics_body"
OMI_SHAPE = "OMI_physics_shape"
OMI_JOINT = "OMI_physics_joint"
#: Gravity is written in both families.
GRAVITY = "OMI_physics_gravity"
#: Before 2023; read only.
OLD_COLLIDER = "OMI_collider"
#: Drafts of the KHR extensions until 2024; read only.
DRAFT_BODY = "KHR_rigid_bodies"
DRAFT_SHAPE = "KHR_collision_shapes"
#: Every extension that holds physics: a file that requires one can be opened.
ALL = (KHR_BODY, KHR_SHAPE, OMI_BODY, OMI_SHAPE, OMI_JOINT, GRAVITY, OLD_COLLIDER, DRAFT_BODY, DRAFT_SHAPE)
#: Types of volumes with gravity whose object may be empty.
VOLUMES = ("directional", "disc", "point", "torus")
LIGHTS = "KHR_lights_punctual"
#: Key of our own facts in `extras`.
EXTRAS = "usdphys"

EARTH = 9.81
#: Of both families, for materials that name none.
FRICTION = 0.6
#: Kinds of body of the first form of OMI_physics_body, as they are called now.
OLD_MOTIONS = {"rigid": "dynamic", "character": "kinematic", "vehicle": "dynamic", "trigger": "static"}
#: glTF word of a combine mode -> that of PhysX.
COMBINE = {"average": "average", "minimum": "min", "maximum": "max", "multiply": "multiply"}
#: Combine modes of materials that name none, as the loader of the authors of the KHR extensions has them.
UNWRITTEN = {"friction": "maximum", "restitution": "minimum"}
#: The same of bodies without shapes that do not say it: kg, and kg m2.
SHAPELESS = {"mass": 1.0, "diagonal_inertia": (1.0, 1.0, 1.0)}


_NOT_WORD = re.compile(r"\W")


def leaf(name: str) -> str:
    """The name of a prim for a name of a file."""
    name_of_prim = _NOT_WORD.sub("_", name)
    return f"_{name_of_prim}" if name_of_prim[:1].isdigit() else name_of_prim


def collider_leaf(node: str, kind: str) -> str:
    """Name of the prim of a collider or trigger (kind) on a node: those that USD Physics has made are called so."""
    return node if node.endswith(f"_{kind}") else f"{node}_{kind}"


@dataclass(frozen=True, slots=True)
class Family:
    """One family of extensions.

    body: extension of nodes with `motion`, `collider`, `trigger`; it holds materials and filters of the document.
    shape: extension of the document with `shapes`. joint: extension of the document with `physicsJoints`.
    radius, capsule, cylinder: default radius, and heights, of round shapes. mass: default; None: the engine decides.
    """

    name: str
    body: str
    shape: str
    joint: str
    radius: float
    capsule: float
    cylinder: float
    mass: float | None

    @property
    def is_khr(self) -> bool:
        return self.name == "KHR"

    @property
    def extensions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.body, self.shape, self.joint)))


KHR = Family("KHR", KHR_BODY, KHR_SHAPE, KHR_BODY, 0.25, 0.5, 0.5, None)
OMI = Family("OMI", OMI_BODY, OMI_SHAPE, OMI_JOINT, 0.5, 1.0, 2.0, 1.0)
FAMILIES = (KHR, OMI)
KHR_DRAFT = replace(KHR, body=DRAFT_BODY, shape=DRAFT_SHAPE, joint=DRAFT_BODY)
