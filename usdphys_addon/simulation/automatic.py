# SPDX-License-Identifier: GPL-3.0-or-later
"""Which engine of this process suits a physics scene: MuJoCo for trees of joints that stand apart from piles."""

from __future__ import annotations

from collections import Counter

from ..core.model import Mesh
from ..core.schemas import usd_geom, usd_physics
from .engine import ENGINES, PREVIEW, Engine, Setup, Solver
from .layout import contact_material

#: The key of the row of MuJoCo.
TREES = "mujoco"
#: Dynamic bodies without a joint that may lie beside the trees.
FEW_LOOSE = 3
#: Triangles of a static mesh without an approximation that MuJoCo is quick with.
FEW_TRIANGLES = 200


def chosen_engine(setup: Setup) -> Engine:
    """The engine for a scene, which a notice names together with the reason. Raises MissingDependencyError."""
    why = against_trees(setup)
    key = PREVIEW if why else TREES
    row = ENGINES[key]
    assert isinstance(row, Solver)
    reason = why or "its bodies are on trees of joints"
    where = f"The scene {setup.scene}" if setup.scene else "This scene"
    setup.notices.add("EngineChosen", None, f"{where} runs in {row.doc}: {reason}.")
    return row.load()(setup)


def against_trees(setup: Setup) -> str:
    """Why a scene runs in the engine of the preview, as the end of a sentence; "" if MuJoCo suits it."""
    row = ENGINES[TREES]
    assert isinstance(row, Solver)
    if not row.is_here():
        return "MuJoCo is not installed"
    jointed = Counter(body for joint in setup.joints if joint.enabled for body in {joint.body0, joint.body1} if body)
    dynamic = [body for path, body in setup.bodies.items() if not body.is_kinematic]
    if not any(body.prim.path in jointed for body in dynamic):
        return "no dynamic body is on a joint"
    loose = [body for body in dynamic if body.prim.path not in jointed]
    if len(loose) > FEW_LOOSE:
        return f"{len(loose)} bodies are on no joint, and heaps are slow in MuJoCo"
    breaking = next((joint for joint in setup.joints if joint.breaks or joint.bond), None)
    if breaking is not None:
        return f"{breaking.prim.display} can break"
    for prim in [*setup.statics, *(each for body in dynamic for each in body.colliders)]:
        material = contact_material(setup.layout.model, prim, setup.notices)
        if material.restitution > 0.0:
            return f"{prim.display} bounces"
    for prim in setup.statics:
        mesh = None if prim.mesh is None or prim.get(usd_geom.Gprim) is not None else prim.mesh()
        api = prim.get(usd_physics.MeshCollisionAPI)
        is_plain = api is None or api.resolved("approximation") in ("none", "meshSimplification")
        if isinstance(mesh, Mesh) and is_plain and len(mesh.triangles) > FEW_TRIANGLES:
            return f"{prim.display} is a mesh of {len(mesh.triangles)} triangles, which MuJoCo is slow with"
    return ""
