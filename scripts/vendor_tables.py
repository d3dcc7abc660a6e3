# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables of vendor schemas, usdphys_addon/core/vendor_tables/*.json, from a dump of the vendors' schemas.

    python3 scripts/vendor_tables.py DUMP.json

DUMP.json: {"classes": [{name, family, kind, attributes: [{usd, type, default, units, dimension, tokens, ...}]}]}, made
from the schema files of PhysX (BSD-3-Clause), Newton and MuJoCo (Apache-2.0). Names, types, defaults and units are
taken over, texts are not. What the dump does not say about units, or says in prose only, is in this file.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "usdphys_addon" / "core" / "vendor_tables"
#: File and name of the runtime by schema family.
RUNTIMES = {
    "PhysxSchema": ("physx", "PhysX"), "OmniPhysicsDeformable": ("physx", "PhysX"), "Newton": ("newton", "Newton"),
    "Mjc": ("mujoco", "MuJoCo"),
}  # fmt: skip
LICENCES = {"physx": "BSD-3-Clause", "newton": "Apache-2.0", "mujoco": "Apache-2.0"}

Powers = dict[str, int]
_FORCE = {"kg": 1, "m": 1, "s": -2}
_TORQUE = {"kg": 1, "m": 2, "s": -2}
#: Words of the vendors' units. Radians need no conversion: USD's angles are degrees.
_WORDS: dict[str, Powers] = {
    "distance": {"m": 1}, "mass": {"kg": 1}, "degrees": {"deg": 1}, "radians": {}, "seconds": {"s": 1},
    "second": {"s": 1}, "time": {"s": 1}, "force": _FORCE, "torque": _TORQUE, "hertz": {"s": -1}, "1": {},
    "dimensionless": {}, "unitless": {}, "cells": {}, "None": {}, "radians/distance": {"m": -1},
    "acceleration": {"m": 1, "s": -2},
}  # fmt: skip

#: Units that the vendors say in prose only, or not at all. A pair is of linear and angular degrees of freedom.
_SAID: dict[str, Any] = {
    "physxConvexDecompositionCollision:errorPercentage": "1",
    "physxTriangleMeshSimplificationCollision:metric": "1",
    "physxMimicJoint:__INSTANCE_NAME__:naturalFrequency": "1/s",
    "physxMimicJoint:__INSTANCE_NAME__:dampingRatio": "1",
    "physxMimicJoint:__INSTANCE_NAME__:gearing": "1",
    "physxJoint:armature": ["kg", "kg*m^2"],
    "physxJoint:maxJointVelocity": ["m/s", "deg/s"],
    "physxLimit:__INSTANCE_NAME__:stiffness": ["kg/s^2", "kg*m^2/s^2/deg"],
    "physxLimit:__INSTANCE_NAME__:damping": ["kg/s", "kg*m^2/s/deg"],
    "physxDrivePerformanceEnvelope:__INSTANCE_NAME__:speedEffortGradient": ["s/kg", "deg*s/kg/m^2"],
    "physxDrivePerformanceEnvelope:__INSTANCE_NAME__:velocityDependentResistance": ["kg/s", "kg*m^2/s/deg"],
    # Without a unit for the axes that move, and a length (for each degree) for those that turn.
    "physxTendon:__INSTANCE_NAME__:gearing float[]": None, "physxTendon:__INSTANCE_NAME__:forceCoefficient": None,
    "physxTendon:__INSTANCE_NAME__:gearing float": "1",
    "physxPBDMaterial:surfaceTension": "m",
    "physxJointAxis:__INSTANCE_NAME__:armature": ["kg", "kg*m^2"],
    "physxJointAxis:__INSTANCE_NAME__:maxJointVelocity": ["m/s", "deg/s"],
    "physxJointAxis:__INSTANCE_NAME__:staticFrictionEffort": ["kg*m/s^2", "kg*m^2/s^2"],
    "physxJointAxis:__INSTANCE_NAME__:dynamicFrictionEffort": ["kg*m/s^2", "kg*m^2/s^2"],
    "physxJointAxis:__INSTANCE_NAME__:viscousFrictionCoefficient": ["kg/s", "kg*m^2/s/deg"],
    "physxDrivePerformanceEnvelope:__INSTANCE_NAME__:maxActuatorVelocity": ["m/s", "deg/s"],
    "physxLimit:__INSTANCE_NAME__:bounceThreshold": ["m/s", "deg/s"],
    "state:__INSTANCE_NAME__:physics:position": ["m", "deg"],
    "state:__INSTANCE_NAME__:physics:velocity": ["m/s", "deg/s"],
    "physxMaterial:compliantContactStiffness": "kg/s^2",
    "physxMaterial:compliantContactDamping": "kg/s",
    "physxForce:force": "m/s^2",
    "physxForce:torque": "deg/s^2",
    "physxVehicleWheel:mass": "kg", "physxVehicleWheel:radius": "m", "physxVehicleWheel:width": "m",
    "physxVehicleWheel:maxSteerAngle": "1", "physxVehicleWheel:toeAngle": "1",
    "physxVehicleWheelAttachment:suspensionFramePosition": "m",
    "physxVehicleWheelAttachment:wheelFramePosition": "m",
    "physxVehicleWheelAttachment:suspensionForceAppPointOffset": "m",
    "physxVehicleWheelAttachment:tireForceAppPointOffset": "m",
    "physxVehicleWheelAttachment:wheelCenterOfMassOffset": "m",
    "physxVehicleWheelAttachment:suspensionTravelDirection": "1",
    "physxVehicleWheelController:steerAngle": "1", "physxVehicleSteering:maxSteerAngle": "1",
    "physxVehicleAckermannSteering:maxSteerAngle": "1", "physxCharacterController:slopeLimit": "1",
    "physxVehicle:longitudinalStickyTireThresholdTime": "s", "physxVehicle:lateralStickyTireThresholdTime": "s",
    "physxVehicleSuspension:camberAtMaxCompression": "1", "physxVehicleSuspension:camberAtMaxDroop": "1",
    "physxVehicleSuspension:camberAtRest": "1",
    "physxParticle:simulationPoints": "m", "omniphysics:restShapePoints": "m", "omniphysics:localPositionsSrc1": "m",
    "deformablePose:__INSTANCE_NAME__:omniphysics:points": "m", "physics:localPos0": "m", "physics:localPos1": "m",
    "physics:localPos0s": "m", "physics:localPos1s": "m", "physics:breakForce": "kg*m/s^2",
    "physics:breakTorque": "kg*m^2/s^2", "physics:ratio": "deg/m", "physics:gearRatio": "1",
    "newton:mimicCoef0": ["m", "deg"], "newton:mimicCoef1": "1",
    "newton:armature": ["kg", "kg*m^2"], "newton:damping": ["kg/s", "kg*m^2/s/deg"],
    "newton:friction": ["kg*m/s^2", "kg*m^2/s^2"], "newton:velocityLimit": ["m/s", "deg/s"],
    "newton:limitStiffness": ["kg/s^2", "kg*m^2/s^2/deg"], "newton:limitDamping": ["kg/s", "kg*m^2/s/deg"],
    "newton:timeStepsPerSecond": "1/s", "newton:contactStiffness": "kg/s^2", "newton:contactDamping": "kg/s",
    "newton:hydroelasticStiffness": "kg/m^2/s^2",
    "mjc:option:timestep": "s", "mjc:option:impratio": "1", "mjc:solmix": "1", "mjc:torqueScale": "1",
    "mjc:option:tolerance": "1", "mjc:option:ls_tolerance": "1", "mjc:option:noslip_tolerance": "1",
    "mjc:option:ccd_tolerance": "1", "mjc:rgba": "1",
}  # fmt: skip
#: Attributes in PhysX's vehicles, particles and materials that are ratios, shares and gains.
_RATIOS = re.compile(
    r"[Rr]atio|[Mm]ultiplier|^physx.*[Ff]riction|[Ff]rictionValue|torqueCurve|"
    r"Controller:(accelerator|brake|handbrake|steer|thrust)|Scale|"
    r"commandValues|:strength$|^mjc:.*sol(ref|mix)|Quat|[Oo]rientation|localRot|Coords|restNormals|displayColor"
)
#: Vectors in world space, which turn with the up axis; the attribute that decides, and its fallback.
_WORLD = {
    "physxForce:force": ("physxForce:worldFrameEnabled", True, False),
    "physxForce:torque": ("physxForce:worldFrameEnabled", True, False),
    "physxSurfaceVelocity:surfaceVelocity": ("physxSurfaceVelocity:surfaceVelocityLocalSpace", False, True),
    "physxSurfaceVelocity:surfaceAngularVelocity": ("physxSurfaceVelocity:surfaceVelocityLocalSpace", False, True),
}
#: Bits of the world axes X, Y, Z. Those of lockedRotAxis are axes of the body (measured in ovphysx 0.7).
_AXES = ("physxRigidBody:lockedPosAxis",)
#: Attribute and values with which a unit is another one: (attribute, value, fallback, unit) of each.
_TENDON_AXIS = "physxTendon:__INSTANCE_NAME__:jointAxis"
_TURNS, _SLIDES = (_TENDON_AXIS, {"each": "rot"}, []), (_TENDON_AXIS, {"each": "trans"}, [])
_UNIT_IF = {
    "physxTendon:__INSTANCE_NAME__:gearing float[]": [(*_TURNS, "m/deg"), (*_SLIDES, "1")],
    "physxTendon:__INSTANCE_NAME__:forceCoefficient": [(*_TURNS, "m"), (*_SLIDES, "1")],
    "physxForce:force": [("physxForce:mode", "force", "acceleration", "kg*m/s^2")],
    "physxForce:torque": [("physxForce:mode", "force", "acceleration", "kg*m^2/s^2")],
    "physxMaterial:compliantContactStiffness": [
        ("physxMaterial:compliantContactAccelerationSpring", True, False, "1/s^2")],
    "physxMaterial:compliantContactDamping": [
        ("physxMaterial:compliantContactAccelerationSpring", True, False, "1/s")],
}  # fmt: skip
#: Without a value they stand for the axis of the joint (measured in ovphysx 0.7).
_AXIS_OF_JOINT = (_TENDON_AXIS,)
#: Fallbacks that have a unit and decide how far things move: they are authored where the units of a file change.
_STATED = ("physxTendon:__INSTANCE_NAME__:gearing float[]", "physxTendon:__INSTANCE_NAME__:forceCoefficient",
           "physics:ratio", "newton:torsionalFriction", "newton:rollingFriction", "newton:sdfNarrowBandInner",
           "newton:sdfNarrowBandOuter", "newton:hydroelasticStiffness")  # fmt: skip
#: Documented as per degree and taken as per radian (both measured in ovphysx 0.7).
_PER_RADIAN = ("physxLimit:__INSTANCE_NAME__:stiffness", "physxLimit:__INSTANCE_NAME__:damping")
#: Attributes that PhysX reads of a schema because its own schema brings another one.
_BROUGHT = {
    "PhysxTendonAxisRootAPI": "PhysxTendonAxisAPI", "PhysxTendonAttachmentRootAPI": "PhysxTendonAttachmentAPI",
    "PhysxTendonAttachmentLeafAPI": "PhysxTendonAttachmentAPI",
}  # fmt: skip
#: Lengths in the space of the prim.
_LOCAL = re.compile(r"physics:localPos|^physxTendon:.*:localPos$|Position$|PointOffset$|OffsetPosition|"
                    r"simulationPoints|restShapePoints|:points$|localPositions|wheelCenterOfMassOffset")  # fmt: skip

#: What a schema belongs to in Blender, by name; the first pattern that fits counts. Others are carried as text.
_PLACES = (
    ("articulation", r"ArticulationAPI$|ArticulationRootAPI$"),
    ("scene", r"SceneAPI$|QuasistaticAPI$|VehicleContextAPI$"),
    ("material", r"MaterialAPI$"),
    ("dof", r"^PhysxLimitAPI$|^PhysicsJointStateAPI$|^PhysxMimicJointAPI$|^PhysxJointAxisAPI$|EnvelopeAPI$"),
    ("joint", r"JointAPI$|^NewtonMimicAPI$|^MjcEquality|^PhysxTendonAxis"),
    ("body", r"^Physx(RigidBody|ContactReport|SurfaceVelocity|SplinesSurfaceVelocity|Force|Vehicle\w*|MeshMerge\w*|"
             r"TendonAttachment\w*)API$|^NewtonMassAPI$|^MjcImageableAPI$"),
    ("collider", r"CollisionAPI$|^PhysxTrigger|SiteAPI$|^PhysxCharacterControllerAPI$"),
    ("prim", r"^Newton\w*(Clamping|Control|Delay)\w*API$"),
)  # fmt: skip
#: How a mirror plane reflects the vectors.
_MIRROR = {
    "physxForce:force": "vector", "physxForce:torque": "spin", "physxSurfaceVelocity:surfaceVelocity": "vector",
    "physxSurfaceVelocity:surfaceAngularVelocity": "spin",
}  # fmt: skip
#: Names of the degrees of freedom of the schemas for which the vendor lists none.
_JOINT_AXES = ["transX", "transY", "transZ", "rotX", "rotY", "rotZ", "angular", "linear"]
#: Instances that PhysX reads and its schema does not list: the limit of a ball joint.
_MORE_INSTANCES = {"PhysxLimitAPI": ("cone",)}
_WITH_JOINT_AXES = ("PhysxJointAxisAPI", "PhysxDrivePerformanceEnvelopeAPI")


def place_of(name: str) -> str:
    """What a schema belongs to; empty where nothing in Blender holds it."""
    return next((place for place, pattern in _PLACES if re.search(pattern, name)), "")


def unit_text(powers: Powers) -> str:
    """ "kg*m^2/s^2" of {"kg": 1, "m": 2, "s": -2}; "1" without any."""
    above = [f"{name}^{power}" if power > 1 else name for name, power in powers.items() if power > 0]
    below = [f"/{name}^{-power}" if power < -1 else f"/{name}" for name, power in powers.items() if power < 0]
    return ("*".join(above) or "1") + "".join(below)


def product(text: str) -> Powers | None:
    """Powers of "mass * distance / seconds"; None if a word is unknown."""
    found: Powers = {}
    sign, inside = 1, False
    for token in re.findall(r"[\w]+|[*/()]", text):
        if token in "*/":
            sign = -1 if token == "/" else (sign if inside else 1)
        elif token == "(":
            inside = True
        elif token == ")":
            inside, sign = False, 1
        elif token not in _WORDS:
            return None
        else:
            for name, power in _WORDS[token].items():
                found[name] = found.get(name, 0) + sign * power
            if not inside:
                sign = 1
    return {name: found[name] for name in ("kg", "m", "s", "deg") if found.get(name)}


def unit_of(row: dict[str, Any]) -> Any:
    """The unit of an attribute: text, a pair of texts, or None where the vendor does not say it."""
    name = row["usd"]
    for key in (name, f"{name} {row['type']}"):
        if key in _SAID:
            return _SAID[key]
    text = str(row.get("units") or "").split("|")[0].strip().rstrip(".")
    dimension = row.get("dimension")
    if "effort" in text:
        pair = [text.replace("effort", word) for word in ("force", "torque")]
        if " or " in text:  # "... (angular DOFs) or ... (linear DOFs)"
            angular, linear = (part.partition("(")[0] for part in text.split(" or "))
            pair = [linear.replace("effort", "force"), angular.replace("effort", "torque")]
        return [unit_text(product(part) or {}) for part in pair]
    if " or " in text and "(local" not in text:
        parts = [part.partition("(")[0] if "DOF" in part else part for part in text.split(" or ")]
        pair = parts[::-1] if "(angular" in text.split(" or ")[0] else parts
        found = [product(part.partition(" (")[0]) for part in pair]
        if all(one is not None for one in found):
            return [unit_text(one or {}) for one in found]
    text = text.rpartition(" = ")[2].replace("(local-frame)", "").strip()
    found_one = product(text) if text else None
    if found_one is None and dimension is not None:
        powers = {"kg": dimension["mass"], "m": dimension["length"], "deg": dimension["angle"]}
        found_one = {unit: power for unit, power in powers.items() if power}
    if found_one == {"m": 1} and "elocity" in name.rpartition(":")[2]:
        found_one = {"m": 1, "s": -1}  # some say the length only
    if found_one is not None:
        return unit_text(found_one)
    if row.get("dimensions"):
        pair = [row["dimensions"].get(kind) for kind in ("linear", "angular")]
        if all(pair):
            return [unit_text({k: p for k, p in (("kg", d["mass"]), ("m", d["length"]), ("deg", d["angle"])) if p})
                    for d in pair]  # fmt: skip
    return "1" if _RATIOS.search(name) else None


def is_number(type_name: str) -> bool:
    return not type_name.startswith(("bool", "int", "uint", "uchar", "token", "rel", "string", "asset"))


def plain(value: Any) -> Any:
    """A fallback as JSON holds it: infinities as text, floats without the noise of 32 bits."""
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return ("inf" if value > 0 else "-inf") if math.isinf(value) else float(f"{value:.7g}")
    return value


def table_row(row: dict[str, Any]) -> dict[str, Any]:
    name, type_name = row["usd"], row["type"]
    made: dict[str, Any] = {"usd": name, "type": type_name, "fallback": plain(row["default"])}
    if is_number(type_name) or name in _SAID:
        made["unit"] = unit_of(row)
    for key in (name, f"{name} {type_name}"):
        if key in _UNIT_IF:
            made["unit_if"] = [list(case) for case in _UNIT_IF[key]]
        if key in _STATED:
            made["stated"] = True
    if name in _PER_RADIAN:
        made["per_radian"] = True
    if name in _AXIS_OF_JOINT:
        made["otherwise"] = "axis"
    if row["default"] == -1.0 and is_number(type_name) and made["unit"] != "1":
        made["automatic"] = "negative"  # minus one of no unit is such a word everywhere
    if name in _WORLD:
        made["world_if"] = list(_WORLD[name])
    elif name.startswith(("mjc:option:wind", "mjc:option:magnetic")):
        made["space"] = "world"
    elif _LOCAL.search(name):
        made["space"] = "local"
    if name in _AXES:
        made["axes"] = True
    if name in _MIRROR:
        made["mirror"] = _MIRROR[name]
    if row.get("tokens"):
        made["tokens"] = row["tokens"]
    if row.get("uniform"):
        made["uniform"] = True
    if row.get("deprecated"):
        made["deprecated"] = True
    return made


def main(dump: Path) -> None:
    tables: dict[str, dict[str, Any]] = {}
    kinds = {"singleApplyAPI": "single", "multipleApplyAPI": "multiple", "concreteTyped": "typed"}
    classes = json.loads(dump.read_text())["classes"]
    attributes = {cls["name"]: cls["attributes"] for cls in classes}
    for cls in classes:
        file, runtime = RUNTIMES[cls["family"]]
        table = tables.setdefault(file, {"runtime": runtime, "licence": LICENCES[file], "schemas": []})
        found = [*cls["attributes"], *attributes.get(_BROUGHT.get(cls["name"], ""), ())]
        rows = [table_row(row) for row in found if not row["usd"].startswith("primvars:")]
        schema = {"name": cls["name"], "kind": kinds[cls["kind"]], "attributes": rows}
        instances = cls["instances"] or (_JOINT_AXES if cls["name"] in _WITH_JOINT_AXES else [])
        instances = [*instances, *_MORE_INSTANCES.get(cls["name"], ())]
        if instances:
            schema["instances"] = instances
        if place := "prim" if schema["kind"] == "typed" else place_of(cls["name"]):
            schema["on"] = place
        table["schemas"].append(schema)
    FOLDER.mkdir(exist_ok=True)
    for file, table in tables.items():
        # A line for each attribute, so that differences can be read.
        text = json.dumps({**table, "schemas": "SCHEMAS"}, indent=1)
        blocks = []
        for schema in sorted(table["schemas"], key=lambda one: str(one["name"])):
            head = {key: value for key, value in schema.items() if key != "attributes"}
            lines = ",\n".join(f"   {json.dumps(row)}" for row in schema["attributes"])
            body = f"[\n{lines}\n  ]" if lines else "[]"
            blocks.append(f'  {json.dumps(head)[:-1]}, "attributes": {body}}}')
        text = text.replace('"SCHEMAS"', "[\n" + ",\n".join(blocks) + "\n ]")
        (FOLDER / f"{file}.json").write_text(text + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
