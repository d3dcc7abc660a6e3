# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages that the fuzz run starts from: the files of the shared set where it is there, and a few of its own."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))

BODIES = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    kilogramsPerUnit = 0.001
    upAxis = "Y"
)
def Xform "World"
{
    def PhysicsScene "Scene"
    {
        vector3f physics:gravityDirection = (0, -1, 0)
        float physics:gravityMagnitude = 981
    }
    def Cube "Crate" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI", "MaterialBindingAPI"]
    )
    {
        double size = 50
        rel material:binding:physics = </World/Rubber>
        rel physics:simulationOwner = </World/Scene>
        float physics:mass = 3000
        point3f physics:centerOfMass = (1, 2, 3)
        float3 physics:diagonalInertia = (1, 2, 3)
        quatf physics:principalAxes = (1, 0, 0, 0)
        vector3f physics:velocity = (100, 0, 0)
        vector3f physics:angularVelocity = (0, 90, 0)
        double3 xformOp:translate = (0, 200, 0)
        float3 xformOp:rotateXYZ = (10, 20, 30)
        float3 xformOp:scale = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
    }
    def Xform "Arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsFilteredPairsAPI", "PhysicsArticulationRootAPI"]
    )
    {
        rel physics:filteredPairs = </World/Crate>
        def Capsule "Bone" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {
            uniform token purpose = "guide"
            double height = 30
            double radius = 5
            uniform token axis = "X"
        }
    }
    def Sphere "Ball" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        double radius = 5
    }
    def Plane "Ground" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        uniform token axis = "Y"
    }
    def PhysicsCollisionGroup "Group" (
        prepend apiSchemas = ["CollectionAPI:colliders"]
    )
    {
        rel collection:colliders:includes = [</World/Crate>, </World/Arm>]
        rel collection:colliders:excludes = </World/Ball>
        rel physics:filteredGroups = </World/Group>
    }
    def Material "Rubber" (
        prepend apiSchemas = ["PhysicsMaterialAPI"]
    )
    {
        float physics:dynamicFriction = 0.5
        float physics:staticFriction = 0.75
        float physics:restitution = 0.25
        float physics:density = 1000
        token outputs:surface.connect = </World/Rubber/Surface.outputs:surface>
        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (1, 0, 0)
            color3f inputs:emissiveColor.connect = </World/Rubber/Texture.outputs:rgb>
            token outputs:surface
        }
        def Shader "Texture"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./missing.png@
            float3 outputs:rgb
        }
    }
}
"""

JOINTS = """#usda 1.0
(
    defaultPrim = "Robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "Robot" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
)
{
    def Cube "Base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    )
    {
    }
    def Cube "Link" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "VendorBodyAPI"]
    )
    {
        double3 xformOp:translate = (0, 0, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float vendor:damping = 0.5
        custom asset vendor:notes = @notes.txt@
    }
    def Scope "Joints"
    {
        def PhysicsFixedJoint "Root"
        {
            rel physics:body1 = </Robot/Base>
        }
        def PhysicsRevoluteJoint "Hinge" (
            prepend apiSchemas = ["PhysicsDriveAPI:angular", "VendorJointAPI"]
        )
        {
            rel physics:body0 = </Robot/Base>
            rel physics:body1 = </Robot/Link>
            point3f physics:localPos0 = (0, 0, 1)
            quatf physics:localRot0 = (1, 0, 0, 0)
            point3f physics:localPos1 = (0, 0, -1)
            quatf physics:localRot1 = (0.707, 0, 0.707, 0)
            uniform token physics:axis = "Y"
            float physics:lowerLimit = -45
            float physics:upperLimit = 45
            uniform token drive:angular:physics:type = "force"
            float drive:angular:physics:stiffness = 100
            float drive:angular:physics:damping = 10
            float drive:angular:physics:maxForce = 50
            float drive:angular:physics:targetPosition.timeSamples = { 1: 0, 24: 90 }
        }
        def PhysicsPrismaticJoint "Rail"
        {
            rel physics:body1 = </Robot/Link>
            uniform token physics:axis = "X"
            float physics:lowerLimit = 0
        }
        def PhysicsSphericalJoint "Ball"
        {
            rel physics:body0 = </Robot/Link>
            float physics:coneAngle0Limit = 30
            float physics:coneAngle1Limit = 60
        }
        def PhysicsDistanceJoint "Rope"
        {
            rel physics:body0 = </Robot/Link>
            float physics:minDistance = 1
            float physics:maxDistance = 2
        }
        def PhysicsJoint "Free" (
            prepend apiSchemas = ["PhysicsLimitAPI:transX", "PhysicsLimitAPI:rotY", "PhysicsDriveAPI:transX"]
        )
        {
            rel physics:body0 = </Robot/Base>
            rel physics:body1 = </Robot/Link>
            float limit:transX:physics:low = 1
            float limit:transX:physics:high = -1
            float limit:rotY:physics:low = -10
            float drive:transX:physics:targetPosition = 5
            float physics:breakForce = 100
            bool physics:collisionEnabled = 1
            bool physics:excludeFromArticulation = 1
        }
    }
}
"""

MESHES = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
    startTimeCode = 1
    endTimeCode = 24
)
def Xform "World"
{
    def Mesh "Quads" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
    )
    {
        uniform token physics:approximation = "convexHull"
        float3[] extent = [(0, 0, 0), (2, 1, 0)]
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 4, 3, 1, 2, 5, 4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0)]
        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (
            interpolation = "vertex"
        )
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (
            interpolation = "faceVarying"
        )
        int[] primvars:st:indices = [0, 1, 2, 0, 1, 2, 0, 1]
        color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (
            interpolation = "uniform"
        )
        int[] holeIndices = [1]
        int[] creaseIndices = [0, 1, 4]
        int[] creaseLengths = [3]
        float[] creaseSharpnesses = [2]
        int[] cornerIndices = [2]
        float[] cornerSharpnesses = [3]
        uniform token subdivisionScheme = "none"
        vector3f[] velocities = [(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 1)]
        def GeomSubset "Left" (
            prepend apiSchemas = ["MaterialBindingAPI"]
        )
        {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [0]
            rel material:binding:physics = </World/Ice>
        }
    }
    def Material "Ice" (
        prepend apiSchemas = ["PhysicsMaterialAPI"]
    )
    {
        float physics:dynamicFriction = 0.01
    }
    def Points "Cloud" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0)]
        float[] widths = [0.1, 0.2]
    }
    def BasisCurves "Hair"
    {
        int[] curveVertexCounts = [4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)]
        float[] widths = [0.1, 0.2, 0.1, 0.2]
        uniform token type = "linear"
    }
    def NurbsCurves "Nurbs"
    {
        int[] curveVertexCounts = [4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 1, 0)]
        int[] order = [4]
        double[] knots = [0, 0, 0, 0, 1, 1, 1, 1]
        double2[] ranges = [(0, 1)]
    }
    def PointInstancer "Many"
    {
        rel prototypes = </World/Many/Prototype>
        int[] protoIndices = [0, 0, 0]
        point3f[] positions = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
        quath[] orientations = [(1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)]
        float3[] scales = [(1, 1, 1), (1, 1, 1), (1, 1, 1)]
        def Cube "Prototype" (
            prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
        )
        {
        }
    }
    def Xform "Copy" (
        instanceable = true
        prepend references = </World/Quads>
    )
    {
    }
    def Camera "Eye"
    {
        float focalLength = 35
        float2 clippingRange = (0.1, 100)
    }
    def SphereLight "Lamp"
    {
        float inputs:intensity = 100
        float inputs:radius = 0.5
    }
    def SkelRoot "Creature"
    {
        def Skeleton "Bones"
        {
            uniform token[] joints = ["hip", "hip/knee"]
            uniform matrix4d[] bindTransforms = [
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1))
            ]
            uniform matrix4d[] restTransforms = [
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
                ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1))
            ]
            rel skel:animationSource = </World/Creature/Bones/Walk>
            def SkelAnimation "Walk"
            {
                uniform token[] joints = ["hip", "hip/knee"]
                uniform token[] blendShapes = ["smile"]
                float[] blendShapeWeights = [0.5]
                quatf[] rotations = [(1, 0, 0, 0), (1, 0, 0, 0)]
                half3[] scales = [(1, 1, 1), (1, 1, 1)]
                float3[] translations.timeSamples = { 1: [(0, 0, 0), (0, 0, 1)], 24: [(0, 0, 1), (0, 0, 1)] }
            }
        }
        def Mesh "Skin" (
            prepend apiSchemas = ["SkelBindingAPI", "PhysicsCollisionAPI"]
        )
        {
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
            rel skel:skeleton = </World/Creature/Bones>
            uniform token[] skel:blendShapes = ["smile"]
            rel skel:blendShapeTargets = </World/Creature/Skin/Smile>
            int[] primvars:skel:jointIndices = [0, 0, 1] (
                elementSize = 1
                interpolation = "vertex"
            )
            float[] primvars:skel:jointWeights = [1, 1, 1] (
                elementSize = 1
                interpolation = "vertex"
            )
            def BlendShape "Smile"
            {
                uniform vector3f[] offsets = [(0, 0, 1)]
                uniform int[] pointIndices = [1]
            }
        }
    }
}
"""

OWN = {"bodies.usda": BODIES, "joints.usda": JOINTS, "meshes.usda": MESHES}


def sources() -> list[tuple[str, list[Path]]]:
    """(name of the own stage or path of the root file, files that belong to it), always in the same order."""
    found: list[tuple[str, list[Path]]] = [(name, []) for name in OWN]
    devset = SHARED / "devset"
    roots = [*devset.glob("usd/*.usd*"), *devset.glob("usd/*/*.usd*"), *devset.glob("urdf/*/reference_usd/*.usd*")]
    for root in sorted(roots):
        alone = root.parent.name == "usd"
        others = [] if alone else sorted(path for path in root.parent.rglob("*") if path.is_file() and path != root)
        found.append((str(root), others))
    return found
