"""The scripts of docs/api.md, run as a person would: from a file, in a process of its own, beside the inputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
IMPORT = "from usdphys_addon import api"

#: Two crates that fall onto a floor; the paint of the first has variants.
STAGE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 0.01
    upAxis = "Y"
    timeCodesPerSecond = 24
)
def PhysicsScene "Physics" {}
def Xform "World"
{
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 2
        float3 xformOp:scale = (500, 10, 500)
        double3 xformOp:translate = (0, -10, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Cube "Red" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"]
        variants = {
            string paint = "red"
        }
        prepend variantSets = "paint"
    )
    {
        double size = 100
        double3 xformOp:translate = (0, 300, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float physics:mass = 3
        variantSet "paint" = {
            "red" {
                color3f[] primvars:displayColor = [(1, 0, 0)]
            }
            "blue" {
                float physics:density = 4
            }
        }
    }
    def Cube "Plain" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 100
        double3 xformOp:translate = (300, 50, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
#: A body of a negative mass, which is an error.
WRONG = """#usda 1.0
(
    defaultPrim = "Crate"
)
def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI"])
{
    float physics:mass = -1
}
"""


def scripts() -> dict[str, str]:
    """The whole scripts of the page by the name in their first line."""
    blocks = re.findall(r"^```python\n(# (\w+\.py)\n.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return {name: text for text, name in blocks}


def write(name: str, folder: Path, imported: str = IMPORT) -> Path:
    """Write a script of the page into a folder. imported: the line that imports the API there."""
    text = scripts()[name]
    assert text.count(f"{IMPORT}\n") == 1
    file = folder / name
    file.write_text(text.replace(IMPORT, imported), encoding="utf-8")
    return file


def run(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the page with this checkout."""
    file = write(name, folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, file, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
