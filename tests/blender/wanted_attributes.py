"""The attributes of simulators that matter most to artists."""

#: By place, most wanted first. {}: a degree of freedom of a hinge.
WANTED = {
    "collider": """physics:approximation=sdf physics:approximation=sphereFill physxSDFMeshCollision:sdfResolution
        newton:sdfMaxResolution newton:contactMargin newton:contactGap physxCollision:contactOffset
        physxCollision:restOffset physxCollision:torsionalPatchRadius newton:maxHullVertices
        physxConvexHullCollision:hullVertexLimit physxConvexDecompositionCollision:maxConvexHulls
        physxConvexDecompositionCollision:voxelResolution physxConvexDecompositionCollision:shrinkWrap
        physxSphereFillCollision:maxSpheres PhysxTriggerAPI""",
    "joint": """newton:friction newton:damping newton:armature newton:velocityLimit newton:limitStiffness
        newton:limitDamping physxLimit:{}:stiffness physxLimit:{}:damping newton:mimicJoint newton:mimicCoef0
        newton:mimicCoef1 newton:mimicEnabled physxJointAxis:{}:staticFrictionEffort
        physxJointAxis:{}:dynamicFrictionEffort physxJointAxis:{}:viscousFrictionCoefficient
        physxJointAxis:{}:maxJointVelocity physxJointAxis:{}:armature physxJoint:maxJointVelocity
        physxJoint:jointFriction physxJoint:armature state:{}:physics:position state:{}:physics:velocity
        physxLimit:{}:restitution physxLimit:{}:bounceThreshold""",
    "distance": """physxPhysicsDistanceJoint:springEnabled physxPhysicsDistanceJoint:springStiffness
        physxPhysicsDistanceJoint:springDamping""",
    "PhysxPhysicsGearJoint": "physics:gearRatio physics:hinge0 physics:hinge1",
    "PhysxPhysicsRackAndPinionJoint": "physics:ratio physics:hinge physics:prismatic",
    "articulation": """newton:selfCollisionEnabled physxArticulation:enabledSelfCollisions
        physxArticulation:solverPositionIterationCount physxArticulation:articulationEnabled""",
    "body": """physxRigidBody:linearDamping physxRigidBody:angularDamping physxRigidBody:disableGravity
        physxRigidBody:enableCCD physxRigidBody:enableSpeculativeCCD physxRigidBody:solverPositionIterationCount
        physxRigidBody:maxDepenetrationVelocity physxRigidBody:maxLinearVelocity physxRigidBody:maxAngularVelocity
        physxRigidBody:lockedPosAxis physxRigidBody:lockedRotAxis physxRigidBody:sleepThreshold
        physxRigidBody:maxContactImpulse physxRigidBody:enableGyroscopicForces newton:massModel newton:shellThickness
        physxSurfaceVelocity:surfaceVelocity physxForce:force physxForce:torque physxForce:mode""",
    "material": """physxMaterial:frictionCombineMode physxMaterial:restitutionCombineMode
        physxMaterial:compliantContactStiffness physxMaterial:compliantContactDamping newton:contactStiffness
        newton:contactDamping newton:torsionalFriction newton:rollingFriction""",
    "scene": """physxScene:enableCCD newton:timeStepsPerSecond physxScene:timeStepsPerSecond physxScene:solverType
        physxScene:minPositionIterationCount physxScene:enableStabilization""",
}  # fmt: skip
