# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels and tooltips of everything that the extension registers. It has to be registered as `usdphys_ext`."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parent.parent
#: Names of formats and simulators, USD's own names, parts of sentences and units, and labels that are never drawn.
SAME = {
    "USD Physics", "KHR", "OMI", "glTF", "Newton", "PhysX", "MuJoCo", "USD", "USDA", "USDC", "USDZ", "ABS", "PLA",
    "PTFE", "X", "Y", "Z", "Apple AR", "Godot", "Houdini", "Isaac / Omniverse", "Web (KHR)",
    "USD Physics (.usd, .usda, .usdc, .usdz)", "URDF (.urdf)", "URDF / Xacro (.urdf, .xacro)",
    "transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance",
    "linear", "angular", "Filepath", "Rigid body", "Articulation root", "Filtered pairs", "Physics material",
    "Is the Object's Geometry",
}  # fmt: skip
#: Tooltips that Blender itself translates, and suffixes of files.
OF_BLENDER = {"Filepath used for exporting the file", "Name of the preset, used to make the path name", ".blend"}


def is_data(tooltip: str) -> bool:
    """True for the values of a material with their sources, which are names of books and of standards."""
    return tooltip.startswith("Density ") and "Typical values, dry: " in tooltip


def is_group(kind: Any) -> bool:
    return kind.base is not None and kind.base.identifier == "PropertyGroup"


def of_properties(kind: Any, names: set[str], tips: set[str], seen: set[str]) -> None:
    """Add the labels and tooltips of the properties of a type, and of the groups below it."""
    if kind.identifier in seen:
        return
    seen.add(kind.identifier)
    for prop in kind.properties:
        if prop.identifier == "rna_type" or prop.is_hidden or (kind.base and prop.identifier in kind.base.properties):
            continue
        # Without a name of its own a property has its identifier, and is drawn with another text or not at all.
        if prop.name != prop.identifier:
            names.add(prop.name)
        tips.add(prop.description)
        if prop.type == "ENUM":
            names |= {item.name for item in prop.enum_items if item.name != item.identifier}
            tips |= {item.description for item in prop.enum_items}
        if prop.type in ("POINTER", "COLLECTION") and is_group(prop.fixed_type):
            of_properties(prop.fixed_type, names, tips, seen)


def of_source() -> Iterator[str]:
    """Texts that panels, menus and the preferences draw, but for parts of formatted ones."""
    for path in (*(ROOT / "panels").glob("*.py"), *(ROOT / "operators").rglob("*.py"), ROOT / "preferences.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "text":
                yield from constants(node.value)


def constants(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def product(name: str) -> Any:
    return importlib.import_module(f"usdphys_ext.{name}")


def words() -> tuple[set[str], set[str]]:
    """(labels, tooltips) of everything that is registered, and of the tables that panels draw."""
    names, tips, seen = set(of_source()), set[str](), set[str]()
    for name in dir(bpy.types):
        cls = getattr(bpy.types, name)
        if name.startswith("USDPHYS_") and issubclass(cls, bpy.types.Panel | bpy.types.Menu):
            names.add(cls.bl_label)
            tips.add(getattr(cls, "bl_description", ""))
    for name in dir(bpy.ops.usdphys):
        kind = getattr(bpy.ops.usdphys, name).get_rna_type()
        names.add(kind.name)
        tips.add(kind.description)
        of_properties(kind, names, tips, seen)
    of_properties(product("preferences").USDPHYS_Preferences.bl_rna, names, tips, seen)
    for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.Material, bpy.types.WindowManager):
        for prop in owner.bl_rna.properties:
            if prop.identifier.startswith("usdphys") and prop.type == "POINTER":
                of_properties(prop.fixed_type, names, tips, seen)
    for concept in product("usdphys_addon.core.concepts").concepts().values():
        names.add(concept.label)
        tips.add(concept.doc)
    names |= {preset.name for preset in product("usdphys_addon.core.common_materials").MATERIALS}
    tips = {tip for tip in tips if tip and not is_data(tip)}
    return {name for name in names if any(map(str.isalpha, name))} - SAME, tips - OF_BLENDER
