# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of values in imported files of others, in each form of export, judged by an independent comparer.

    .venv/bin/python scripts/value_edits.py [FILE ...] [--forms FORM ...] [--out FOLDER] [--usd-python PYTHON]

Without files: those of the shared set. Each authored number, switch and token of physics in a file belongs to a kind,
its name in USD. For each kind the file is imported, all of its values are changed in Blender's properties, and the
scene is exported as a copy, a layer, a flat file and as Blender composes it. What is expected is the file itself with
the same values changed by USD alone. A row where a score is below 1; exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench
import venvs
from comparer import Comparer
from roundtrip import SHARED, TOOL, shared_files

ROOT = Path(__file__).resolve().parent.parent
FORMS = ("copy", "layer", "flat", "composed")
PROPERTY = re.compile(r"^(?:(drive|limit):(\w+):)?physics:(\w+)$")
BODY = frozenset({"rigidBodyEnabled", "kinematicEnabled", "startsAsleep", "velocity", "angularVelocity"})
MASS = frozenset({"mass", "density", "centerOfMass", "diagonalInertia"})
GPRIM = frozenset({"radius", "height", "size"})
#: Of the type of a joint, not of all.
OWN = frozenset({
    "lowerLimit", "upperLimit", "coneAngle0Limit", "coneAngle1Limit", "minDistance", "maxDistance",
})  # fmt: skip
#: Other tokens than a value that a file has.
TOKENS = {
    "axis": ("X", "Y", "Z"), "approximation": ("convexHull", "convexDecomposition", "boundingCube"),
    "type": ("force", "acceleration"),
}  # fmt: skip
#: Local frames are places of objects, and what is left needs no edit.
LEFT_OUT = frozenset({"localPos0", "localPos1", "localRot0", "localRot1", "principalAxes", "gravityDirection"})


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])(?<!\d)", "_", name).lower().replace("angle_0", "angle0").replace(
        "angle_1", "angle1"
    )  # fmt: skip


def edited(name: str, value: Any) -> Any:
    """Another value of a kind; None where there is none that would mean something."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return next((token for token in TOKENS.get(name, ()) if token != value), None)
    if isinstance(value, (int, float)):
        return value * 0.5 if value and abs(value) < 1e30 else None
    parts = [part * 0.5 for part in value] if hasattr(value, "__len__") else []
    return type(value)(*parts) if any(parts) and all(abs(part) < 1e30 for part in parts) else None


def set_property(group: Any, name: str, other: Any) -> None:
    """Change a property of Blender, which may be in other units, as `edited` changes the value."""
    old = getattr(group, name)
    if isinstance(other, (bool, str)):
        setattr(group, name, other)
    elif hasattr(old, "__len__"):
        setattr(group, name, [part * 0.5 for part in old])
    else:
        setattr(group, name, old * 0.5)


class Scene:
    """The properties of an imported scene by the paths of their prims."""

    def __init__(self) -> None:
        import bpy
        from usdphys_ext.usdphys_addon.bridge.identity import remembered

        self.objects: dict[str, Any] = {remembered.path_of(obj): obj for obj in bpy.data.objects}
        self.materials: dict[str, Any] = {remembered.path_of(one): one for one in bpy.data.materials}
        scene: Any = bpy.context.scene
        self.scenes: dict[str, Any] = {remembered.path_of(one): one for one in scene.usdphys.physics_scenes}

    def group(self, prim: Any, instance: tuple[str, str] | None, name: str) -> Any:
        """The property group that holds a value; None where it is not one of a single object."""
        path = str(prim.GetPath())
        if path in self.scenes:
            return self.scenes[path]
        if path in self.materials:
            return self.materials[path].usdphys.physics_material
        obj = self.objects.get(path)
        if obj is not None and obj.usdphys.joint.is_applied:
            joint = obj.usdphys.joint
            if instance is not None:
                return getattr(getattr(joint, f"{instance[0]}s"), instance[1])
            return getattr(joint, joint.type.lower()) if name in OWN else joint
        if obj is not None and name in BODY:
            return obj.usdphys.rigid_body
        is_collider = "PhysicsCollisionAPI" in prim.GetAppliedSchemas()
        if obj is not None and name in MASS and obj.usdphys.mass.is_applied:
            return obj.usdphys.mass
        owner = obj or self.objects.get(str(prim.GetPath().GetParentPath()))
        if owner is None or not is_collider or len(owner.usdphys.colliders) != 1:
            return None
        collider = owner.usdphys.colliders[0]
        return collider.mass if name in MASS else collider


def values_of(stage: Any) -> Iterator[tuple[str, Any, tuple[str, str] | None, str, Any]]:
    """(kind, prim, (drive or limit, degree of freedom), name, other value) of each value that can be edited."""
    for prim in stage.Traverse():
        is_shape = prim.GetTypeName() in ("Cube", "Sphere", "Capsule", "Cylinder", "Cone")
        for attribute in prim.GetAuthoredAttributes():
            full = attribute.GetName()
            match = PROPERTY.match(full)
            name = match[3] if match else full
            if name in LEFT_OUT or (match is None and not (is_shape and name in GPRIM)) or not attribute.HasValue():
                continue
            if attribute.GetNumTimeSamples():
                continue
            other = edited(name, attribute.Get())
            if other is not None:
                instance = (match[1], match[2]) if match and match[1] else None
                yield f"{match[1]}:{name}" if match and match[1] else name, prim, instance, name, other


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "value_edits")
    parser.add_argument("--usd-python", type=Path, default=venvs.python_in(ROOT / ".venv-usd"))
    options = parser.parse_args()
    if not SHARED.is_dir():
        print("The folder of shared test files is not beside the checkout (SHARED_DIR names another).")
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    with bench.extension(), Comparer(TOOL, options.usd_python) as comparer:
        return Edits(comparer, options).run(options.files or shared_files())


class Edits:
    def __init__(self, comparer: Comparer, options: argparse.Namespace) -> None:
        self.comparer, self.options = comparer, options
        self.right: dict[str, list[int]] = {form: [0, 0] for form in options.forms}
        self.kinds: dict[str, int] = defaultdict(int)

    def run(self, files: list[Path]) -> int:
        for file in files:
            self.edit(file.resolve())
        for form, (right, number) in self.right.items():
            print(f"{form}: {right} of {number} edits are right")
        print(", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items())))
        return int(any(right < number for right, number in self.right.values()))

    def edit(self, file: Path) -> None:
        import bpy
        from pxr import Usd
        from usdphys_ext.usdphys_addon.exchange import usd_import

        untouched = Usd.Stage.Open(str(file))
        for kind in sorted({row[0] for row in values_of(untouched)}):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
            try:
                usd_import.import_usd(bpy.context, file, usd_import.ImportOptions())
            except Exception as error:
                print(f"{file.name} is not imported: {error}", flush=True)
                return
            wanted, scene, count = Usd.Stage.Open(str(file)), Scene(), 0
            wanted.SetEditTarget(wanted.GetSessionLayer())
            for of_kind, prim, instance, name, other in values_of(wanted):
                if of_kind != kind or prim.IsInstanceProxy():
                    continue
                group = scene.group(prim, instance, name)
                if group is None or not hasattr(group, snake(name)):
                    continue
                set_property(group, snake(name), other)
                full = f"{instance[0]}:{instance[1]}:physics:{name}" if instance else f"physics:{name}"
                prim.GetAttribute(name if name in GPRIM else full).Set(other)
                count += 1
            if not count:
                print(f"{file.name} {kind}: nothing to edit", flush=True)
                continue
            self.kinds[kind] += count
            expected = self.options.out / "expected.usda"
            wanted.Flatten().Export(str(expected))
            self.judge(file, kind, expected)

    def judge(self, file: Path, kind: str, expected: Path) -> None:
        import bpy
        from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export

        units, hierarchy = usd_export.stage_options(bpy.context.scene)
        for form in self.options.forms:
            target = self.options.out / f"{form}.usda"
            self.right[form][1] += 1
            try:
                scene_export.export_scene(bpy.context, target, usd_export.ExportOptions(units, hierarchy), form)
            except Exception as error:
                print(f"{file.name} {kind} {form}: {error}", flush=True)
                continue
            found = self.comparer.compare(expected, target)
            if found["score"] == 1.0:
                self.right[form][0] += 1
            else:
                print(f"{file.name} {kind} {form}: {found['score']:.4f} {found['diffs'][:3]}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("PXR_USDC_EMIT_DEPRECATION_WARNINGS", "0")
    sys.exit(main())
