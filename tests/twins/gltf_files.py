# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins of glTF files, in the OMI family: shapes, triggers, velocities, a hull, joints. All of them are plain JSON."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

BODY, SHAPE, JOINT = "OMI_physics_body", "OMI_physics_shape", "OMI_physics_joint"
#: A double pyramid: six corners, eight triangles.
CORNERS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
TRIANGLES = (0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5)


def _node(name: str, body: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, **({"extensions": {BODY: body}} if body else {}), **more}


def _scene(nodes: list[dict[str, Any]], shapes: list[dict[str, Any]], *joints: dict[str, Any], **more: Any) -> str:
    """A file whose root is the first node."""
    used = [BODY, SHAPE, *([JOINT] if joints else [])]
    extensions = {SHAPE: {"shapes": shapes}, **({JOINT: {"physicsJoints": list(joints)}} if joints else {})}
    content = {"asset": {"version": "2.0"}, "extensionsUsed": used, "extensions": extensions, "scene": 0,
               "scenes": [{"nodes": [0]}], "nodes": nodes, **more}  # fmt: skip
    return json.dumps(content, indent=1)


def _pyramid() -> dict[str, Any]:
    data = struct.pack("<18f", *(part for corner in CORNERS for part in corner)) + struct.pack("<24H", *TRIANGLES)
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    return {
        "buffers": [{"byteLength": len(data), "uri": uri}],
        "bufferViews": [{"buffer": 0, "byteLength": 72}, {"buffer": 0, "byteOffset": 72, "byteLength": 48}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3", "min": [-1] * 3, "max": [1] * 3},
            {"bufferView": 1, "componentType": 5123, "count": 24, "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}] * 2,
    }


def _pendulum() -> str:
    """Two bodies that a joint holds together by springs, and a floor."""

    def arm(name: str, *children: int, **more: Any) -> dict[str, Any]:
        return _node(name, {"motion": {"type": "dynamic", "mass": 2}}, children=list(children), **more)

    half = 0.7071067811865476
    nodes = [
        {"name": "Pendulum", "children": [1, 4, 7]},
        arm("Upper", 2, 3, rotation=[0, 0, -0.6, 0.8], translation=[-0.5, 0.75, 0]),
        _node("UpperShape", {"collider": {"shape": 0}}, rotation=[0, 0, half, half]),
        {"name": "Pin", "translation": [0.25, 0, 0], "extensions": {JOINT: {"joint": 0, "connectedNode": 6}}},
        arm("Lower", 5, 6, translation=[0, 0.5, 0]),
        _node("LowerShape", {"collider": {"shape": 0}}, rotation=[0, 0, half, half]),
        {"name": "PinEnd", "translation": [-0.25, 0, 0]},
        _node("Floor", {"motion": {"type": "static"}}, children=[8], translation=[0, -1, 0]),
        _node("FloorShape", {"collider": {"shape": 1}}),
    ]
    shapes = [{"type": "capsule", "capsule": {"height": 0.5, "radius": 0.0625}},
              {"type": "box", "box": {"size": [2, 0.25, 2]}}]  # fmt: skip
    limits = [{"linearAxes": [0, 1, 2], "min": 0, "max": 0}, {"angularAxes": [0, 1], "min": 0, "max": 0},
              {"angularAxes": [2], "min": -1, "max": 0.5}]  # fmt: skip
    return _scene(nodes, shapes, {"limits": limits})


def _slider() -> str:
    """A ball that slides along a rail, between two ends."""
    nodes = [
        {"name": "Slider", "children": [1, 3]},
        _node("Rail", {"motion": {"type": "static"}, "collider": {"shape": 0}}, children=[2]),
        {"name": "RailEnd"},
        _node("Ball", {"motion": {"type": "dynamic", "mass": 0.5}, "collider": {"shape": 1}}, children=[4]),
        {"name": "Slide", "extensions": {JOINT: {"joint": 0, "connectedNode": 2}}},
    ]
    limits = [{"linearAxes": [1, 2], "min": 0, "max": 0}, {"angularAxes": [0, 1, 2], "min": 0, "max": 0},
              {"linearAxes": [0], "min": -1.5, "max": 1.5}]  # fmt: skip
    shapes = [{"type": "box", "box": {"size": [4, 0.1, 0.1]}}, {"type": "sphere", "sphere": {"radius": 0.25}}]
    return _scene(nodes, shapes, {"limits": limits})


#: Files by their name in the folder of glTF files.
FILES: dict[str, str] = {
    "capsule.gltf": _scene([_node("Capsule", {"collider": {"shape": 0}})],
                           [{"type": "capsule", "capsule": {"height": 1.5, "radiusBottom": 0.25, "radiusTop": 0.25}}]),
    "bare_box.gltf": _scene([_node("BareBox", {"collider": {"shape": 0}})], [{"type": "box"}]),
    "hull.gltf": _scene([_node("Hull", {"collider": {"shape": 0}}, children=[1]), {"name": "HullLook", "mesh": 1}],
                        [{"type": "convex", "convex": {"mesh": 0}}], **_pyramid()),
    "moving.gltf": _scene(
        [_node("Moving", {"motion": {"type": "dynamic", "linearVelocity": [3, 2, 1], "angularVelocity": [6, 5, 4]}},
               children=[1], rotation=[0, 0.6, 0, 0.8]), _node("MovingShape", {"collider": {"shape": 0}})],
        [{"type": "sphere", "sphere": {"radius": 0.75}}]),
    "corner_trigger.gltf": _scene(
        [_node("Corner", {"trigger": {"nodes": [1, 2]}}, children=[1, 2]),
         _node("Foot", {"trigger": {"shape": 0}}, translation=[1, 0, 0]),
         _node("Post", {"trigger": {"shape": 1}}, translation=[0, 2, 0])],
        [{"type": "box", "box": {"size": [3, 1, 1]}}, {"type": "box", "box": {"size": [1, 3, 1]}}]),
    "two_boxes.gltf": _scene(
        [{"name": "TwoBoxes", "children": [1, 3]},
         _node("Still", {"motion": {"type": "static"}}, children=[2], translation=[-1, 0, 0]),
         _node("StillShape", {"collider": {"shape": 0}}),
         _node("Zone", {"trigger": {}}, children=[4], translation=[1, 0, 0]),
         _node("ZoneShape", {"trigger": {"shape": 0}})],
        [{"type": "box", "box": {"size": [1, 1, 1]}}]),
    "pendulum.gltf": _pendulum(),
    "slider.gltf": _slider(),
}  # fmt: skip
