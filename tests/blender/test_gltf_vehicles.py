# SPDX-License-Identifier: GPL-3.0-or-later
"""Vehicles and seats of OMI through Blender: kept, and written again."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest
from usdphys_ext.usdphys_addon.exchange import gltf_import, usd_export, usd_import
from usdphys_ext.usdphys_addon.gltf import names, vehicles
from usdphys_ext.usdphys_addon.gltf.document import Document

from .gltf_scenes import exported, nodes_of

WHEEL, SEAT, BODY, HOVER = "OMI_vehicle_wheel", "OMI_seat", "OMI_vehicle_body", "OMI_vehicle_hover_thruster"


def car(path: Path, *, has_physics: bool) -> Path:
    """A car of two kinds of wheels, with two equal seats in triggers; without physics, its seats and wheels alone."""
    seat = {SEAT: {"back": [0, 0, -0.3], "foot": [0, -0.5, 0.3], "knee": [0, 0, 0.3]}}
    chassis: dict = {}
    if has_physics:
        seat[names.OMI_BODY] = {"trigger": {"shape": 0}}
        motion = {"type": "dynamic", "mass": 1000}
        chassis = {names.OMI_BODY: {"motion": motion}, BODY: {"pilotSeat": 2, "maxSpeed": 30}}
    nodes = [
        {"name": "Car", "children": [1, 2, 3, 4, 5], "extensions": chassis},
        {"name": "Passenger", "translation": [-0.4, 0, 0], "extensions": seat},
        {"name": "Pilot", "translation": [0.4, 0, 0], "extensions": seat},
        {"name": "Front", "translation": [0, 0, 1.5], "extensions": {WHEEL: {"wheel": 0}}},
        {"name": "Rear", "translation": [0, 0, -1.5], "extensions": {WHEEL: {"wheel": 1}}},
        {"name": "Lift", "extensions": {HOVER: {"hoverThruster": 0}}},
    ]
    wheels = [{"radius": 0.35, "maxSteeringAngle": 0.5}, {"radius": 0.35, "physicsMaterial": 0}]
    content = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "extensionsUsed": [WHEEL, SEAT, HOVER, *([names.OMI_BODY, names.OMI_SHAPE, BODY] if has_physics else ())],
        "extensions": {
            WHEEL: {"wheels": wheels}, HOVER: {"hoverThrusters": [{"maxHoverEnergy": 3e4}]},
            names.OMI_SHAPE: {"shapes": [{"type": "box", "box": {"size": [0.6, 0.6, 0.6]}}]},
            names.OMI_BODY: {"physicsMaterials": [{"dynamicFriction": 0.9}]},
        },
    }  # fmt: skip
    path.write_text(json.dumps(content))
    return path


def said(document: Document) -> dict[str, dict]:
    """What the nodes say of vehicles, with what they name, by their names."""
    found: dict[str, dict] = {}
    for node in document.nodes:
        for extension, value in (node.get("extensions") or {}).items():
            kind = vehicles.KINDS.get(extension)
            if kind is None:
                continue
            value = dict(value)
            if kind.key:
                value = dict(document.pool(extension, kind.pool)[value[kind.key]])
            if "pilotSeat" in value:
                value["pilotSeat"] = document.node_name(value["pilotSeat"])
            if "physicsMaterial" in value:
                value["physicsMaterial"] = document.pool(names.OMI_BODY, "physicsMaterials")[value["physicsMaterial"]]
            found.setdefault(node["name"], {})[extension] = value
    return found


@pytest.mark.slow
@pytest.mark.parametrize("way", ["glTF", "other place", "USD"])
def test_a_vehicle_comes_back(tmp_path, way):
    path = car(tmp_path / "car.gltf", has_physics=True)
    before = said(Document.load(path))
    assert len(before) == 6 and before["Car"][BODY]["pilotSeat"] == "Pilot"
    issues = gltf_import.import_gltf(path).issues
    assert sum(one.code == "GltfVehicleKept" for one in issues) == 4
    if way == "other place":
        bpy.data.objects["Car"].location.x += 5
        bpy.data.objects["Front"].name = "Nose"
        before["Nose"] = before.pop("Front")
    elif way == "USD":
        usd_export.export_usd(bpy.context, tmp_path / "car.usda", usd_export.ExportOptions())
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        usd_import.import_usd(bpy.context, tmp_path / "car.usda", usd_import.ImportOptions())
    document, _ = exported(tmp_path / "out.glb", "OMI")
    assert said(document) == before
    assert nodes_of(document)["Car"]["extensions"][names.OMI_BODY]["motion"]["mass"] == pytest.approx(1000)


def test_seats_and_wheels_without_physics_are_named_and_come_back(tmp_path):
    path = car(tmp_path / "car.gltf", has_physics=False)
    codes = [one.code for one in gltf_import.import_gltf(path).issues]
    assert codes == ["GltfVehicleKept"] * 3
    document, _ = exported(tmp_path / "out.glb", "OMI")
    assert said(document) == said(Document.load(path))
