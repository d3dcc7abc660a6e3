# SPDX-License-Identifier: GPL-3.0-or-later
"""One rule for the frames of imported joints: a side is where the joint's object is, or with its body where stored."""

from __future__ import annotations

from itertools import product
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export, usd_import

from pxr import Usd, UsdGeom  # isort: skip

TYPES = ("Fixed", "Revolute", "Prismatic", "Spherical", "Distance", "")
BODIES = {"AB": ("A", "B"), "WB": (None, "B"), "AW": ("A", None)}
ABOVE = ("", "/A", "/Holder/B", "/Holder")
#: World frames of side 1, seen from side 0: the same; moved and turned; moved alone; turned alone.
APART = {
    "same": Matrix(),
    "both": Matrix.LocRotScale(Vector((0.3, -0.2, 0.5)), Euler((0.2, 0.4, -0.6)), None),
    "moved": Matrix.Translation((0, 0, 0.25)),
    "turned": Euler((0, 0.7, 0)).to_matrix().to_4x4(),
}
PLACE = Matrix.LocRotScale(Vector((0.5, 1.0, 2.0)), Euler((0.3, -0.4, 0.8)), None)
#: Local transforms: a scaled body, and one below a turned holder of another scale.
LOCAL = {
    "A": Matrix.LocRotScale(Vector((1, 2, 3)), Euler((0.1, 0.2, 0.3)), Vector((2, 2, 2))),
    "Holder": Matrix.LocRotScale(Vector((-1, 0, 1)), Euler((0, 0, 1.0)), Vector((0.5, 0.5, 0.5))),
    "B": Matrix.LocRotScale(Vector((0.5, 0.5, -2)), Euler((0.7, 0, 0)), None),
}
MOVE = Matrix.LocRotScale(Vector((0.7, -1.1, 0.4)), Euler((-0.5, 0.3, 0.9)), None)
#: What is moved in the world, with all that is below it.
MOVED = {
    "nothing": (), "A": ("A",), "B": ("B",), "holder": ("Holder",), "both bodies": ("A", "B"), "joints": ("joints",),
    "joints and A": ("joints", "A"),
}  # fmt: skip
FORMS = ("copy", "layer", "flat", "composed")


def world_of(name: str | None) -> Matrix:
    if name is None:
        return Matrix()
    return LOCAL["Holder"] @ LOCAL["B"] if name == "B" else LOCAL[name]


def joints() -> dict[str, tuple[str, str, str, str]]:
    """(type, bodies, prim above, how far apart) of each joint by name."""
    found = {}
    for count, (bodies, above, apart) in enumerate(product(BODIES, ABOVE, APART)):
        for kind in (TYPES[count % 6], TYPES[(count // 6 + 3) % 6]):
            found[f"J_{kind}_{bodies}_{ABOVE.index(above)}_{apart}"] = (kind, bodies, above, apart)
    return found


def source() -> str:
    def placed(name: str, content: str, api: str = 'prepend apiSchemas = ["PhysicsRigidBodyAPI"]') -> str:
        rows = ", ".join(str(tuple(row)) for row in LOCAL[name].transposed())
        ops = f'matrix4d xformOp:transform = ({rows})\nuniform token[] xformOpOrder = ["xformOp:transform"]\n'
        return f'def Xform "{name}" ({api})\n{{\n{ops}{content}}}\n'

    def joint(name: str) -> str:
        kind, bodies, _, apart = joints()[name]
        lines = [f'def Physics{kind}Joint "{name}"\n{{']
        for side, frame in ((0, PLACE), (1, PLACE @ APART[apart])):
            body = BODIES[bodies][side]
            scale = world_of(body).to_scale()[0]
            rotation = world_of(body).to_quaternion().inverted() @ frame.to_quaternion()
            position = world_of(body).inverted() @ frame.translation
            assert scale > 0
            lines.append(f"point3f physics:localPos{side} = {tuple(position)}")
            lines.append(f"quatf physics:localRot{side} = {tuple(rotation)}")
            if body is not None:
                path = "/World/Holder/B" if body == "B" else "/World/A"
                lines.append(f"rel physics:body{side} = <{path}>")
        return "\n".join([*lines, "}\n"])

    below = {above: "".join(joint(name) for name, row in joints().items() if row[2] == above) for above in ABOVE}
    inner = placed("B", below["/Holder/B"])
    whole = placed("A", below["/A"]) + placed("Holder", inner + below["/Holder"], "") + below[""]
    return (
        f'#usda 1.0\n(\ndefaultPrim = "World"\nmetersPerUnit = 1\nupAxis = "Z"\n)\ndef Xform "World"\n{{\n{whole}}}\n'
    )


def rigid(matrix: Any) -> np.ndarray:
    matrix = np.array(matrix, float)
    matrix[:3, :3] /= np.cbrt(np.linalg.det(matrix[:3, :3]))
    return matrix


def written_frame(stage: Usd.Stage, prim: Usd.Prim, side: int) -> np.ndarray:
    """World frame (4, 4) of one side of a joint, without scale, from the rules of UsdPhysics alone."""
    rotation = prim.GetAttribute(f"physics:localRot{side}").Get()
    position = prim.GetAttribute(f"physics:localPos{side}").Get()
    targets = prim.GetRelationship(f"physics:body{side}").GetTargets()
    local = np.eye(4)
    if rotation is not None:
        local[:3, :3] = Quaternion((rotation.GetReal(), *rotation.GetImaginary())).to_matrix()
    local[:3, 3] = position if position is not None else (0, 0, 0)
    if not targets:
        return local
    body = np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(targets[0]))).T
    return rigid(body @ local)


@pytest.mark.slow
@pytest.mark.parametrize("moved", MOVED)
def test_a_side_of_a_joint_is_where_its_object_is_or_goes_with_its_body(tmp_path, moved):
    """A side that the file has elsewhere than its other one is stored in its body; all others follow the object."""
    file = tmp_path / "source.usda"
    file.write_text(source())
    usd_import.import_usd(bpy.context, file, usd_import.ImportOptions(), usd_import.LateProgress())
    bpy.context.view_layer.update()
    rows = joints()
    bodies, parts = {"A", "B", "Holder"}, MOVED[moved]
    objects = [bpy.data.objects[name] for name in (*sorted(bodies & set(parts)), *(rows if "joints" in parts else ()))]
    for obj, world in [(obj, MOVE @ obj.matrix_world) for obj in objects]:
        obj.matrix_world = world
        bpy.context.view_layer.update()
    goes = {name: name in parts or (name == "B" and "Holder" in parts) for name in bodies} | {None: False}
    for form in FORMS:
        target = tmp_path / f"{form}.usda"
        result = scene_export.export_scene(bpy.context, target, usd_export.ExportOptions(), form)
        assert not [issue.message for issue in result.issues if issue.code == "FileDiffers"]
        stage = Usd.Stage.Open(str(target))
        prims = {prim.GetName(): prim for prim in stage.Traverse() if prim.GetName() in rows}
        assert len(prims) == len(rows)
        wrong = []
        for name, (kind, ends, above, apart) in rows.items():
            assert prims[name].GetTypeName() == f"Physics{kind}Joint"
            parent = {"/A": "A", "/Holder/B": "B", "/Holder": "Holder", "": None}[above]
            is_with_object = "joints" in parts or goes[parent]
            for side, frame in ((0, PLACE), (1, PLACE @ APART[apart])):
                is_stored = side == 1 and apart != "same"
                is_moved = goes[BODIES[ends][side]] if is_stored else is_with_object
                expected = rigid(MOVE @ frame if is_moved else frame)
                if not np.allclose(written_frame(stage, prims[name], side), expected, atol=2e-5):
                    wrong.append((form, name, side))
        assert not wrong
