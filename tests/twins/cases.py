# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins of small files that once went wrong: animation, looks of others, what is hidden, missing, without a type."""

from __future__ import annotations

from usd_text import CRATE, SCENE, at, crate, prim, stage

from .stages import tetra_lines

_ANIMATED = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
    startTimeCode = 0
    endTimeCode = 24
    timeCodesPerSecond = 24
)
def Xform "World"
{
    def Cube "Pusher" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    )
    {
        bool physics:kinematicEnabled = 1
        double size = 1
        double3 xformOp:translate.timeSamples = {
            0: (0, 0, 1),
            12: (2, 0, 1),
            24: (4, 0, 2),
        }
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Xform "Flap" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        float xformOp:rotateX.timeSamples = {
            0: 0,
            24: 60,
        }
        uniform token[] xformOpOrder = ["xformOp:rotateX"]
        vector3f physics:velocity.timeSamples = {
            0: (0, 0, 1),
            24: (0, 1, 0),
        }
    }
}
"""


def _looks_of_others() -> str:
    """A material for another renderer, one with opinions of a vendor, and one that nothing uses."""
    foreign = prim("Shader", "Shader", 'uniform token info:implementationSource = "sourceAsset"',
                   "uniform asset info:mdl:sourceAsset = @Glossy.mdl@", "token outputs:out",
                   'uniform token info:mdl:sourceAsset:subIdentifier = "Glossy"')  # fmt: skip
    looks = (
        prim("Material", "Steel", "token outputs:mdl:surface.connect = </World/Looks/Steel/Shader.outputs:out>",
             below=foreign)
        + prim("Material", "Noted", 'custom string vendor:note = "stays"', apis=("VendorLookAPI",))
        + prim("Material", "Unused", "custom float my:number = 3")
    )  # fmt: skip
    return stage(
        SCENE
        + crate("Crate", "rel material:binding = </World/Looks/Steel>", apis=(*CRATE, "MaterialBindingAPI"))
        + crate("Other", "rel material:binding = </World/Looks/Noted>", *at(3, 0, 0),
                apis=(*CRATE, "MaterialBindingAPI"))
        + prim("Scope", "Looks", below=looks)
    )  # fmt: skip


def _what_blender_does_not_bring() -> str:
    """A dome light with a texture, a soft body, a collider of a vendor's own approximation, purposes."""
    sdf = ('uniform token physics:approximation = "sdf"', "uniform int physxSDFMeshCollision:sdfResolution = 128")
    meshes = ("PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
    return stage(
        prim("DomeLight", "Sky", "float inputs:intensity = 300", "asset inputs:texture:file = @sky.hdr@")
        + prim("TetMesh", "Soft", "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]",
               "int4[] tetVertexIndices = [(0, 1, 2, 3)]")
        + prim("Mesh", "Field", *tetra_lines(), *sdf, *at(2, 0, 0), apis=(*meshes, "PhysxSDFMeshCollisionAPI"))
        + prim("Xform", "Whole", 'uniform token physics:approximation = "convexDecomposition"', *at(4, 0, 0),
               apis=meshes, below=prim("Mesh", "part", *tetra_lines()))
        + prim("Cube", "Shown", "double size = 0.5", 'uniform token purpose = "render"')
        + prim("Cube", "Ghost", 'token visibility = "invisible"', "float[] primvars:displayOpacity = [0.25]",
               apis=("PhysicsCollisionAPI",))
    )  # fmt: skip


def _hidden() -> str:
    hidden = 'token visibility = "invisible"'
    collider = ("PhysicsCollisionAPI",)
    return stage(
        prim("Cube", "Box", hidden, apis=collider) + prim("Cube", "Look", hidden)
        + prim("Mesh", "Hull", hidden, *tetra_lines(), apis=collider)
        + prim("Xform", "Colliders", hidden, below=prim("Sphere", "ball", "double radius = 0.5", apis=collider)
               + prim("Mesh", "skin", *tetra_lines()))
    )  # fmt: skip


def _untyped(meta: str = "") -> str:
    """A body whose prim has no type."""
    return stage(prim("", "drone", 'custom string tag = "kept"', "float physxRigidBody:angularDamping = 0.25",
                      *at(0, 0, 1), apis=("PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"), meta=meta,
                      below=prim("Cube", "case", "double size = 1", apis=("PhysicsCollisionAPI",))))  # fmt: skip


def _partly_measured() -> str:
    """A mass with an inertia but no axes."""
    return stage(SCENE + crate("Link", "float physics:mass = 1", "float3 physics:diagonalInertia = (0.1, 0.1, 0.1)"))


def _only_seen() -> str:
    """Gprims without physics beside one body."""
    return stage(
        SCENE + crate("Crate", *at(0, 0, 3)) + prim("Cube", "SeenBox", "double size = 2")
        + prim("Sphere", "SeenBall", "double radius = 0.5", *at(3, 0, 3))
        + prim("Cylinder", "SeenTin", "double radius = 0.5", "double height = 2", *at(-3, 0, 3))
    )  # fmt: skip


#: Files by their name.
FILES: dict[str, str] = {
    "animated.usda": _ANIMATED,
    "looks_of_others.usda": _looks_of_others(),
    "not_brought.usda": _what_blender_does_not_bring(),
    "hidden.usda": _hidden(),
    "untyped.usda": _untyped(),
    "missing_reference.usda": _untyped("prepend references = @./gone.usd@"),
    "partly_measured.usda": _partly_measured(),
    "only_seen.usda": _only_seen(),
}
