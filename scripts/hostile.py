# SPDX-License-Identifier: GPL-3.0-or-later
"""Small hostile files of every format: none takes all memory or time, and each ends in a sentence and an exit status.

    .venv/bin/python scripts/hostile.py [KIND ...] [--only NAME] [--keep FOLDER] [--list] [--check]

A few hundred bytes or some megabytes that stand for very much: arcs, macros and nodes that multiply, counts and sizes
that nothing stands behind, text that nests, packed zeros, references in circles. Each file is made anew, and goes
through `inspect`, and through `convert` to the formats of --convert, each in a process of its own: a copy of one that
has imported everything, and a new one where that is bad, or nearly.

Bad is a command that takes more than 2 GB (memory), more than 60 s of the processor or is ended after ten minutes
(time), ends by a signal (crash), with 3 (fault), or without its sentence (silent), leaves an output beside a failure
(left), or succeeds without its output (lie).
Prints `name value unit` per figure and a line for each bad run; with --check, exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: Bytes and seconds of the processor that a command may take, seconds after which it is ended, bytes likewise.
MEMORY, SECONDS, PATIENCE, MOST = 2 << 30, 60.0, 600.0, 6 << 30
#: Bytes that it may write into a file: one that prints without end fills no disk.
WRITTEN = 1 << 30
#: Part of what a command may take from which on it is run again in a new process. The file of what it prints.
NEAR, SAID = 0.8, "said.txt"
#: What a run can be called, see above.
BAD = ("memory", "time", "crash", "fault", "silent", "left", "lie")
#: Makes a file in a folder, with what it refers to, and returns its path.
Maker = Callable[[Path], Path]


def text(name: str, content: str, **more: str | bytes) -> Maker:
    """A file of text, and others beside it by their names, in which "_" stands for the dot."""

    def make(folder: Path) -> Path:
        for other, inside in more.items():
            data = inside if isinstance(inside, bytes) else inside.encode()
            (folder / other.replace("_", ".")).write_bytes(data)
        (folder / name).write_text(content, encoding="utf-8")
        return folder / name

    return make


def data(name: str, content: bytes) -> Maker:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


# --------------------------------------------------------------------------- robots


def xacro() -> dict[str, Maker]:
    """The set of the tests, which limits each in memory and time while it reads it."""
    sys.path[:0] = [str(ROOT / "tests")]
    import hostile_xacro

    return {name: partial(hostile_xacro.write, case) for name, case in hostile_xacro.cases().items()}


def mjcf() -> dict[str, Maker]:
    """The set of the tests, as `xacro`."""
    sys.path[:0] = [str(ROOT / "tests")]
    import hostile_mjcf

    return {name: partial(hostile_mjcf.write, case) for name, case in hostile_mjcf.cases().items()}


def sdf() -> dict[str, Maker]:
    """The set of the tests, as `xacro`."""
    sys.path[:0] = [str(ROOT / "tests")]
    import hostile_sdf

    return {name: partial(hostile_sdf.write, files) for name, files in hostile_sdf.cases().items()}


LINK, ROBOT = '<link name="{}">{}</link>', '<?xml version="1.0"?>{}<robot name="r">{}</robot>'
_VISUAL = '<visual><geometry><mesh filename="{}" scale="{}"/></geometry></visual>'
_JOINT = '<joint name="j{}" type="fixed"><parent link="l{}"/><child link="l{}"/></joint>'


def robot(inside: str, before: str = "", **more: str | bytes) -> Maker:
    return text("r.urdf", ROBOT.format(before, inside), **more)


def of_mesh(name: str, content: str | bytes, **more: str | bytes) -> Maker:
    """A robot whose only link shows a mesh."""
    return robot(LINK.format("a", _VISUAL.format(name, "1 1 1")), **{name.replace(".", "_"): content, **more})


#: Each stands for ten of the one before it.
ENTITIES = '<!DOCTYPE r [<!ENTITY a "xxxxxxxxxx">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


def urdf() -> dict[str, Maker]:
    links = "".join(LINK.format(f"l{number}", "") for number in range(20_000))
    chain = "".join(_JOINT.format(number, number, number + 1) for number in range(19_999))
    star = "".join(_JOINT.format(number, 0, number + 1) for number in range(19_999))
    return {
        "entities that multiply": robot(LINK.format("&j;", ""), f"{ENTITIES}]>"),
        "an entity of a file": robot(LINK.format("a", "&f;"), '<!DOCTYPE r [<!ENTITY f SYSTEM "/dev/zero">]>'),
        "elements in elements": robot("<a>" * 100_000 + "</a>" * 100_000),
        "an attribute of 20 MB": robot(f'<link name="{"x" * (20 << 20)}"/>'),
        "a chain of 20,000 links": robot(links + chain), "a star of 20,000 links": robot(links + star),
        "links in a circle": robot("".join(LINK.format(f"l{n}", "") for n in range(3))
                                   + _JOINT.format(0, 0, 1) + _JOINT.format(1, 1, 2) + _JOINT.format(2, 2, 0)),
        "a mesh that never ends": robot(LINK.format("a", _VISUAL.format("file:///dev/zero", "1 1 1"))),
        "a mesh from a pipe": robot(LINK.format("a", _VISUAL.format("/proc/self/fd/0", "1 1 1"))),
        "sizes beyond all numbers": robot(LINK.format(
            "a", '<collision><geometry><box size="1e308 1e308 1e308"/></geometry></collision>')),
        "a hundred thousand visuals": robot(LINK.format(
            "a", '<visual><geometry><box size="1 1 1"/></geometry></visual>' * 100_000)),
        "a name of 200,000 letters in 300 joints": robot(
            f'<link name="{"x" * 200_000}"/>' + "".join(
                LINK.format(f"l{n}", "") + f'<joint name="j{n}" type="fixed"><parent link="{"x" * 200_000}"/>'
                f'<child link="l{n}"/></joint>' for n in range(300))),
    }  # fmt: skip


def meshes() -> dict[str, Maker]:
    """OBJ, MTL, STL and DAE, as a robot shows them."""
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    dae = (
        '<?xml version="1.0"?>{}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        "<library_geometries>{}</library_geometries></COLLADA>"
    )
    array = (
        '<geometry id="g"><mesh><source id="s"><float_array id="f" count="{}">{}</float_array><technique_common>'
        '<accessor source="#f" count="{}" stride="3"/></technique_common></source><vertices id="v"><input '
        'semantic="POSITION" source="#s"/></vertices><triangles count="{}"><input semantic="VERTEX" source="#v" '
        'offset="{}"/><p>0 1 2</p></triangles></mesh></geometry>'
    )
    node = '<node id="n{}">{}</node>'
    nodes = "".join(node.format(n, f'<instance_node url="#n{n + 1}"/>' * 10) for n in range(12))
    return {
        "an index of a thousand million": of_mesh("m.obj", f"{corners}f 1 2 1000000000\n"),
        "an index before the first": of_mesh("m.obj", f"{corners}f -1 -2 -1000000000\n"),
        "a face of a million corners": of_mesh("m.obj", corners + "f" + " 1 2 3" * 333_333 + "\n"),
        "a million objects": of_mesh("m.obj", corners + "".join(f"o {n}\nf 1 2 3\n" for n in range(200_000))),
        "a line of 50 MB": of_mesh("m.obj", "#" + "x" * (50 << 20) + f"\n{corners}f 1 2 3\n"),
        "numbers that are none": of_mesh("m.obj", "v nan inf -inf\nv 1e999 0 0\nv 0 1 0\nf 1 2 3\n"),
        "materials that never end": of_mesh("m.obj", f"mtllib /dev/zero\n{corners}usemtl a\nf 1 2 3\n"),
        "an image that never ends": of_mesh("m.obj", f"mtllib m.mtl\n{corners}usemtl a\nf 1 2 3\n",
                                            m_mtl="newmtl a\nmap_Kd /dev/zero\n"),
        "a hundred thousand materials": of_mesh("m.obj", f"mtllib m.mtl\n{corners}usemtl m5\nf 1 2 3\n", m_mtl="".join(
            f"newmtl m{n}\nKd 1 0 0\n" for n in range(100_000))),
        "triangles that are not there": of_mesh("m.stl", bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50)),
        "a text of triangles without end": of_mesh("m.stl", "solid a\n" + "facet normal 0 0 1\nouter loop\n" * 200_000),
        "elements of COLLADA in elements": of_mesh("m.dae", dae.format("", "<a>" * 100_000 + "</a>" * 100_000)),
        "entities of COLLADA": of_mesh("m.dae", dae.format(
            f"{ENTITIES.replace('DOCTYPE r', 'DOCTYPE c')}]>", "&j;")),
        "an array of COLLADA without numbers": of_mesh("m.dae", dae.format("", array.format(
            10**9, "0 0 0", 10**9, 10**9, 0))),
        "an offset of COLLADA": of_mesh("m.dae", dae.format("", array.format(9, "0 0 0 1 0 0 0 1 0", 3, 1, 10**9))),
        "nodes of COLLADA that multiply": of_mesh("m.dae", dae.format("", array.format(
            9, "0 0 0 1 0 0 0 1 0", 3, 1, 0)).replace("</COLLADA>",
            f"<library_nodes>{nodes}{node.format(12, '<instance_geometry url=' + chr(34) + '#g' + chr(34) + '/>')}"
            f'</library_nodes><library_visual_scenes><visual_scene id="v">{node.format("r", nodes[:60])}</visual_scene>'
            '</library_visual_scenes><scene><instance_visual_scene url="#v"/></scene></COLLADA>')),
    }  # fmt: skip


# --------------------------------------------------------------------------- images


def png(width: int, height: int, rows: int = 64) -> bytes:
    """A PNG of so many pixels by its header, and some rows of zeros."""

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    packed = zlib.compress((b"\0" * (1 + 3 * min(width, 1 << 20))) * rows, 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", packed) + part(b"IEND", b"")


def jpeg(width: int, height: int) -> bytes:
    head = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    frame = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
    return head + frame + b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00\x00\xff\xd9"


def images() -> dict[str, Maker]:
    """Images of the formats that hold them: small files of very many pixels."""
    shown = {"png": png(100_000, 100_000), "png of zero": png(0, 0), "png of one row": png(2**31 - 1, 1, 1),
             "jpeg": jpeg(65_535, 65_535)}  # fmt: skip
    made: dict[str, Maker] = {}
    for kind, content in shown.items():
        suffix = kind.partition(" ")[0]
        made[f"{kind} in glTF"] = text(
            "s.gltf", json.dumps({**gltf_scene(), "images": [{"uri": f"i.{suffix}"}], "textures": [{"source": 0}],
            "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]}),
            **{f"i_{suffix}": content, "t_bin": TRIANGLE},
        )  # fmt: skip
        made[f"{kind} in USD"] = text("s.usda", USD_IMAGE.format(f"i.{suffix}"), **{f"i_{suffix}": content})
        made[f"{kind} of OBJ"] = of_mesh("m.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\n"
                                         "f 1/1 2/1 3/1\n", m_mtl=f"newmtl a\nmap_Kd i.{suffix}\n",
                                         **{f"i_{suffix}": content})  # fmt: skip
    return made


USD_IMAGE = """#usda 1.0
(defaultPrim = "W")
def Xform "W"
{{
    def Mesh "M" (prepend apiSchemas = ["MaterialBindingAPI"])
    {{
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (interpolation = "vertex")
        rel material:binding = </W/A>
    }}
    def Material "A"
    {{
        token outputs:surface.connect = </W/A/S.outputs:surface>
        def Shader "S"
        {{
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </W/A/T.outputs:rgb>
            token outputs:surface
        }}
        def Shader "T"
        {{
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @{}@
            float3 outputs:rgb
        }}
    }}
}}
"""

# --------------------------------------------------------------------------- glTF

TRIANGLE = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)


def gltf_scene(**changed: Any) -> dict[str, Any]:
    """A document with one triangle in `t.bin`. changed: top-level values."""
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}], "materials": [{}],
        "buffers": [{"uri": "t.bin", "byteLength": 36}], "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0],
                       "max": [1, 1, 0]}],
        **changed,
    }  # fmt: skip


def gltf() -> dict[str, Maker]:
    many, position = 10**8, {"componentType": 5126, "type": "VEC3", "min": [0] * 3, "max": [1] * 3}
    nodes = 10_000
    shape = {"KHR_implicit_shapes": {"shapes": [{"type": "box", "box": {"size": [1, 1, 1]}}] * 50_000}}
    documents: dict[str, dict[str, Any]] = {
        "an accessor without bytes": gltf_scene(accessors=[{**position, "count": many}]),
        "a sparse accessor": gltf_scene(accessors=[{**position, "count": many, "sparse": {
            "count": 1, "indices": {"bufferView": 0, "componentType": 5125}, "values": {"bufferView": 0}}}]),
        "more sparse values than bytes": gltf_scene(accessors=[{**position, "count": 3, "sparse": {
            "count": many, "indices": {"bufferView": 0, "componentType": 5125}, "values": {"bufferView": 0}}}]),
        "a buffer of a terabyte": gltf_scene(buffers=[{"uri": "t.bin", "byteLength": 10**12}]),
        "a buffer without a file": gltf_scene(buffers=[{"byteLength": 10**12}]),
        "a buffer that never ends": gltf_scene(buffers=[{"uri": "/dev/zero", "byteLength": 10**10}]),
        "a stride of nothing": gltf_scene(bufferViews=[{"buffer": 0, "byteLength": 36, "byteStride": 0}],
                                          accessors=[{**position, "bufferView": 0, "count": many}]),
        "nodes in a circle": gltf_scene(nodes=[{"children": [1]}, {"children": [0]}]),
        "a node that is its own child": gltf_scene(nodes=[{"mesh": 0, "children": [0]}]),
        "a chain of nodes": gltf_scene(nodes=[{"children": [n + 1]} for n in range(nodes - 1)] + [{"mesh": 0}]),
        "children twice": gltf_scene(nodes=[{"children": [n + 1, n + 1]} for n in range(40)] + [{"mesh": 0}]),
        "one mesh of many primitives": gltf_scene(meshes=[{"primitives": [{"attributes": {"POSITION": 0}}] * 50_000}]),
        "many targets": gltf_scene(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "targets": [
            {"POSITION": 0}] * 20_000}]}]),
        "an animation without bytes": gltf_scene(
            accessors=[*gltf_scene()["accessors"], {"componentType": 5126, "type": "SCALAR", "count": many},
                       {"componentType": 5126, "type": "VEC3", "count": many}],
            animations=[{"samplers": [{"input": 1, "output": 2}], "channels": [
                {"sampler": 0, "target": {"node": 0, "path": "translation"}}]}]),
        "times of a thousand million seconds": gltf_scene(
            buffers=[{"uri": "t.bin", "byteLength": 36}, {
                "byteLength": 8, "uri": "data:application/octet-stream;base64,"
                + base64.b64encode(struct.pack("<2f", 0, 1e9)).decode()}],
            bufferViews=[{"buffer": 0, "byteLength": 36}, {"buffer": 1, "byteLength": 8}],
            accessors=[*gltf_scene()["accessors"], {"bufferView": 1, "componentType": 5126, "type": "SCALAR",
                       "count": 2, "min": [0], "max": [1e9]},
                       {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 2}],
            animations=[{"samplers": [{"input": 1, "output": 2}], "channels": [
                {"sampler": 0, "target": {"node": 0, "path": "translation"}}]}]),
        "a skin of a million joints": gltf_scene(nodes=[{"mesh": 0, "skin": 0}], skins=[{"joints": [0] * 10**6}]),
        "instances without bytes": gltf_scene(
            accessors=[*gltf_scene()["accessors"], {"componentType": 5126, "type": "VEC3", "count": many}],
            nodes=[{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1}}}}]),
        "shapes": gltf_scene(extensionsUsed=list(shape), extensions=shape, nodes=[{
            "mesh": 0, "extensions": {"KHR_physics_rigid_bodies": {"collider": {"geometry": {"shape": n}}}}}
            for n in range(3)]),
        "extras in extras": gltf_scene(extras=[[[[[[[[["x" * 1000] * 10] * 10] * 10] * 10]]]]]),
        "a name of 20 MB": gltf_scene(nodes=[{"mesh": 0, "name": "x" * (20 << 20)}]),
    }  # fmt: skip
    made = {name: text("s.gltf", json.dumps(found), t_bin=TRIANGLE) for name, found in documents.items()}
    content = json.dumps(gltf_scene(buffers=[{"byteLength": 36}])).encode()
    content += b" " * (-len(content) % 4)

    def chunks(length: int, first: int, second: int) -> bytes:
        return (struct.pack("<4sII", b"glTF", 2, length) + struct.pack("<I4s", first, b"JSON") + content
                + struct.pack("<I4s", second, b"BIN\0") + TRIANGLE)  # fmt: skip

    whole = 12 + 8 + len(content) + 8 + 36
    return {
        **made, "brackets": text("s.gltf", "[" * 10**6), "objects": text("s.gltf", '{"a":' * 10**6),
        "a number of a million digits": text("s.gltf", '{"asset": {"version": "2.0"}, "scene": ' + "9" * 10**6 + "}"),
        "a chunk of 4 GB": data("s.glb", chunks(whole, len(content), 0xFFFFFFF0)),
        "text of 4 GB": data("s.glb", chunks(whole, 0xFFFFFFF0, 36)),
        "a file of 4 GB": data("s.glb", chunks(0xFFFFFFFF, len(content), 36)),
        "a whole glb": data("s.glb", chunks(whole, len(content), 36)),
    }  # fmt: skip


# --------------------------------------------------------------------------- USD

HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n)\n'


def levels(count: int, width: int, arc: str, more: str = "") -> str:
    """A layer in which each prim of a level has an arc to all of the next: width ** count prims."""
    found = HEAD
    for level in range(count, 0, -1):
        below = f" (\n    {more}\n    {arc} = </L{level + 1}>\n)" if level < count else ""
        found += f'class "L{level}"\n{{\n'
        found += "".join(f'def Xform "c{index}"{below}\n{{\n}}\n' for index in range(width)) + "}\n"
    return f'{found}def Xform "World" (\n    {arc} = </L1>\n)\n{{\n}}\n'


def layer_of(content: str) -> Any:
    import bpy

    bpy.utils.expose_bundled_modules()
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(content)
    return layer


def as_crate(content: str, name: str = "s.usdc") -> Maker:
    def make(folder: Path) -> Path:
        layer_of(content).Export(str(folder / name))
        return folder / name

    return make


def as_package(content: str, claimed: int = 0) -> Maker:
    """A .usdz of one layer. claimed: bytes that its table says the layer has, 0 for the truth."""

    def make(folder: Path) -> Path:
        as_crate(content)(folder)
        path = folder / "s.usdz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as package:
            info = zipfile.ZipInfo("s.usdc")
            info.extra = struct.pack("<HH", 0x1986, 64 - (30 + 6 + 4) % 64 + 20) + bytes(64 - (30 + 6 + 4) % 64 + 20)
            package.writestr(info, (folder / "s.usdc").read_bytes())
        (folder / "s.usdc").unlink()
        if claimed:
            found = bytearray(path.read_bytes())
            at = found.rindex(b"PK\x01\x02")
            found[at + 20 : at + 28] = struct.pack("<II", claimed, claimed)
            path.write_bytes(bytes(found))
        return path

    return make


def wide(attribute: str, zero: str, count: int) -> Maker:
    """A crate with an array of equal values, which it packs."""

    def make(folder: Path) -> Path:
        layer = layer_of(HEAD + WIDE)
        from pxr import Vt

        kinds = {"int": Vt.IntArray, "float": Vt.FloatArray, "point3f": Vt.Vec3fArray}
        layer.GetAttributeAtPath(f"/World/{attribute}").default = kinds[zero](count)
        layer.Export(str(folder / "s.usdc"))
        return folder / "s.usdc"

    return make


WIDE = """def Xform "World" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def PointInstancer "Many"
    {
        int[] protoIndices = [0]
        point3f[] positions = [(0, 0, 0)]
        rel prototypes = </World/Many/A>
        def Cube "A" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {}
    }
    def Mesh "Mesh" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }
}
"""


def usd() -> dict[str, Maker]:
    world = HEAD + 'def Xform "World"\n{{\n{}\n}}\n'
    multiply = levels(8, 10, "references")
    nested = "".join(f'def Xform "c{n}"\n{{\n' for n in range(3000)) + "}\n" * 3000
    sets = "".join(f'def Xform "w{n}" (\n    prepend variantSets = "v"\n    variants = {{ string v = "a" }}\n)\n{{\n'
                   'variantSet "v" = {\n"a" {\n' for n in range(200)) + "}\n}\n}\n" * 200  # fmt: skip
    joints = "".join(f'def PhysicsFixedJoint "j{n}"\n{{\nrel physics:body0 = </World>\n}}\n' for n in range(20_000))
    instances = "".join(f'def PointInstancer "p{n}"\n{{\nint[] protoIndices = [{", ".join("0" * 1000)}]\n'
                        f'point3f[] positions = [{", ".join(["(0, 0, 0)"] * 1000)}]\nrel prototypes = '
                        f"<{'/World' + ''.join(f'/p{one}' for one in range(n + 2))}>\n" for n in range(6))  # fmt: skip
    instances += 'def Cube "p6"\n{\n}\n' + "}\n" * 6
    times = ", ".join(f"{n}: {n}" for n in range(200_000))
    made = {
        **{f"{arc} that multiply": text("s.usda", levels(8, 10, arc))
           for arc in ("references", "payload", "inherits", "specializes")},
        "instances that multiply": text("s.usda", levels(8, 10, "references", "instanceable = true")),
        "twos that multiply": text("s.usda", levels(26, 2, "references")),
        "references that multiply in a crate": as_crate(multiply),
        "references that multiply in a package": as_package(multiply),
        "sublayers that multiply": text("s.usda", multiply.replace("(\n", "(\n    subLayers = [@a.usda@]\n", 1),
                                        a_usda="#usda 1.0\n(\n    subLayers = [@s.usda@]\n)\n"),
        "a thousand sublayers of one": text("s.usda", "#usda 1.0\n(\n    subLayers = [" + ", ".join(
            ["@a.usda@"] * 1000) + "]\n)\n", a_usda=HEAD + 'def Xform "World"\n{\n}\n'),
        "a reference to itself": text("s.usda", HEAD + 'def Xform "World" (\n    references = @s.usda@\n)\n{\n}\n'),
        "a payload that never ends": text("s.usda", HEAD + 'def "World" (\n    payload = @/dev/zero@\n)\n{\n}\n'),
        "a layer from a pipe": text("s.usda", "#usda 1.0\n(\n    subLayers = [@/proc/self/fd/0@]\n)\n"),
        "prims in prims": text("s.usda", world.format(nested)),
        "variants in variants": text("s.usda", HEAD + sets),
        "instances of instances": text("s.usda", world.format(instances)),
        "20,000 joints of one body": text("s.usda", world.format(joints)),
        "200,000 time samples": text("s.usda", world.format(f"double xformOp:rotateX.timeSamples = {{ {times} }}\n"
                                     'uniform token[] xformOpOrder = ["xformOp:rotateX"]')),
        "brackets of USD": text("s.usda", world.format("int[] a = " + "[" * 10**6)),
        "a string of 50 MB": text("s.usda", world.format(f'string a = "{"x" * (50 << 20)}"')),
        "a string without end": text("s.usda", world.format('string a = """' + "x\n" * 10**6)),
        "a rate of frames": text("s.usda", HEAD.replace(
            ")", "    timeCodesPerSecond = 1e-300\n    endTimeCode = 1e300\n)") + 'def Xform "World"\n{\n}\n'),
        "units beyond all numbers": text("s.usda", HEAD.replace(")", "    metersPerUnit = 1e300\n)")
                                         + WIDE.replace(" {}\n", "\n{\n}\n")),
        "faces of a thousand million corners": text("s.usda", world.format(
            'def Mesh "m"\n{\nint[] faceVertexCounts = [2000000000, 2000000000]\nint[] faceVertexIndices = [0]\n'
            "point3f[] points = [(0, 0, 0)]\n}")),
        "a million targets": text("s.usda", world.format("rel a = [" + ", ".join(["</World>"] * 300_000) + "]")),
        "a cut crate": data("s.usdc", b"PXR-USDC\x00\x08\x00\x00\x00\x00\x00\x00" + struct.pack("<q", 88) + bytes(64)),
        "a crate of sections": data("s.usdc", b"PXR-USDC\x00\x08\x00\x00\x00\x00\x00\x00" + struct.pack("<q", 88)
                                    + bytes(64) + struct.pack("<Q", 2**62) + bytes(64)),
        "a crate of tokens": data("s.usdc", b"PXR-USDC\x00\x08\x00\x00\x00\x00\x00\x00" + struct.pack("<q", 88)
                                  + bytes(64) + struct.pack("<Q", 1) + struct.pack("<16sqq", b"TOKENS", 128, 2**40)
                                  + struct.pack("<QQQ", 2**60, 2**60, 2**60)),
        "a package that claims 4 GB": as_package(world.format(""), 0xFFFFFF00),
        "a package of nothing": data("s.usdz", b"PK\x05\x06" + bytes(18)),
        "40 million instances": wide("Many.protoIndices", "int", 40_000_000),
        "40 million faces": wide("Mesh.faceVertexCounts", "int", 40_000_000),
        "40 million corners": wide("Mesh.faceVertexIndices", "int", 40_000_000),
    }  # fmt: skip
    return dict(made)


# --------------------------------------------------------------------------- .blend and jobs


def blend() -> dict[str, Maker]:
    head = b"BLENDER-v405"
    block = struct.pack("<4siQii", b"DATA", 2**31 - 1, 0, 0, 1)
    return {
        "a header of a .blend": data("s.blend", head),
        "a block of 2 GB": data("s.blend", head + block + bytes(64)),
        "a block of less than nothing": data("s.blend", head + struct.pack("<4siQii", b"DATA", -1, 0, 0, 1)),
        "a file that ends at once": data("s.blend", head + struct.pack("<4siQii", b"ENDB", 0, 0, 0, 0)),
        "packed zeros": data("s.blend", gzip.compress(head + bytes(1 << 30), 9)),
        "packed blocks": data("s.blend", gzip.compress(head + block + bytes(1 << 28), 9)),
        "a cut zstd": data("s.blend", b"\x28\xb5\x2f\xfd\xa4" + struct.pack("<I", 2**32 - 1) + b"\x01\x00\x00" * 9),
        "no .blend": data("s.blend", b"\0" * 1000), "an empty .blend": data("s.blend", b""),
    }  # fmt: skip


def jobs() -> dict[str, Maker]:
    line = {"op": "inspect", "in": "missing.usda"}
    lines = {
        "brackets of a job": "[" * 10**6, "an object in an object": '{"a":' * 10**5,
        "a line of 50 MB": json.dumps({**line, "id": "x" * (50 << 20)}),
        "200,000 jobs of one id": "\n".join([json.dumps({**line, "id": "a"})] * 200_000),
        "a number of digits": '{"op": "inspect", "in": ' + "9" * 10**6 + "}",
        "a program": json.dumps({**line, "options": {"engine-python": "/bin/sh"}}),
        "a program of another kind": json.dumps({"op": "simulate", "in": "a.usda", "options": {
            "seconds": 1, "engine": "newton", "engine_python": "/bin/sh"}}),
        "a command in a name": json.dumps({"op": "batch", "in": "; rm -rf x"}),
        "a batch in a batch": json.dumps({"op": "batch", "in": "s.jsonl"}),
        "an input that never ends": json.dumps({**line, "in": "/dev/zero"}),
        "numbers that are none": json.dumps({"op": "simulate", "in": "a.usda", "options": {"seconds": float("nan")}}),
    }  # fmt: skip
    made = {name: text("s.jsonl", content) for name, content in lines.items()}
    others = {"bytes that are no text": b"\xff\xfe" * 100, "zeros": bytes(1 << 20)}
    return {**made, **{name: data("s.jsonl", content) for name, content in others.items()}}


KINDS: dict[str, Callable[[], dict[str, Maker]]] = {
    "xacro": xacro, "urdf": urdf, "mjcf": mjcf, "sdf": sdf, "meshes": meshes, "images": images, "gltf": gltf,
    "usd": usd, "blend": blend, "jobs": jobs,
}  # fmt: skip

# --------------------------------------------------------------------------- a run


def commands(path: Path, folder: Path, formats: list[str]) -> Iterator[tuple[list[str], Path | None]]:
    """(arguments, output) of what is done with a file."""
    if path.suffix == ".jsonl":
        yield ["batch", str(path), "--workers", "1", "--timeout", "60", "--out", str(folder / "results.jsonl")], None
        return
    yield ["inspect", str(path)], None
    for suffix in formats:
        if suffix != path.suffix:
            out = folder / f"made{suffix}"
            yield ["convert", str(path), str(out)], out


class Ended(NamedTuple):
    """How a command has ended. seconds: of the processor. exceeded: what it took far too much of, or ""."""

    status: int
    seconds: float
    memory: int
    printed: str
    exceeded: str


def program() -> list[str]:
    """The start of a command line."""
    from usdphys_addon.batch import worker

    return worker.program(sys.executable, str(ROOT))


def limit_file() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))


def run(arguments: list[str], folder: Path) -> Ended:
    """Run a command in a new process, which is ended where it takes far too much."""
    with (folder / SAID).open("wb") as said:
        process = subprocess.Popen(
            [*program(), *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=folder,
            start_new_session=True, preexec_fn=limit_file,
        )  # fmt: skip
    ended = watched(process.pid)
    process.returncode = ended.status
    return ended._replace(printed=said_in(folder))


def watched(pid: int) -> Ended:
    """How a child ends, which leads a group of processes."""
    from usdphys_addon.system import limits

    watch = limits.Watch(pid, lambda: os.killpg(pid, signal.SIGKILL), MOST, PATIENCE)
    _, status, usage = os.wait4(pid, 0)
    watch.close()
    seconds = usage.ru_utime + usage.ru_stime
    return Ended(os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss << 10, "", watch.exceeded)


def said_in(folder: Path) -> str:
    """The end of what a command has printed; empty for one that was killed before it began."""
    if not (folder / SAID).exists():
        return ""
    with (folder / SAID).open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - (1 << 20)))
        return stream.read().decode(errors="replace")


def serve() -> None:
    """Import what the commands need once, and run each in a copy of this process: a line of JSON for each `Job`.

    Answers with a line of JSON: what `Ended` holds.
    """
    import bpy

    bpy.utils.expose_bundled_modules()
    from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdUtils  # noqa: F401

    from usdphys_addon import cli

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        job = Job(*json.loads(line))
        if pid := os.fork():
            ended = watched(pid) if job.moment is None else killed(pid, job.moment)
            answers.write(json.dumps(ended) + "\n")
        else:
            os.setsid()
            os.chdir(job.folder)
            sys.dont_write_bytecode = True  # half of a compiled module would end all that import it
            resource.setrlimit(resource.RLIMIT_FSIZE, (job.most, job.most))
            nothing = os.open(os.devnull, os.O_RDWR)
            # What it prints is not to fail in the place of its output.
            said = nothing if job.most < WRITTEN else os.open(SAID, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number, stream in enumerate((nothing, said, said)):
                os.dup2(stream, number)
            status = cli.main(job.arguments)
            sys.stdout.flush()
            os._exit(status)


def killed(pid: int, moment: float) -> Ended:
    """How a child ends that is killed after so many seconds."""
    due = time.monotonic() + moment
    while time.monotonic() < due:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return Ended(os.waitstatus_to_exitcode(status), 0.0, 0, "", "")
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    return Ended(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0.0, 0, "", "")


class Job(NamedTuple):
    """A command. folder: takes what it prints. most: bytes of a file; what is printed is lost where they are few.

    moment: seconds after which it is killed.
    """

    arguments: list[str]
    folder: str
    most: int = WRITTEN
    moment: float | None = None


class Server:
    """A process that has imported everything. A copy of it runs a command in a third of the time of a new process.

    A result that is bad, or nearly, may come of the copying, and is that of a new process.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def run(self, arguments: list[str], folder: Path, out: Path | None) -> Ended:
        if arguments[0] == "batch":
            return run(arguments, folder)
        ended = self.ended(Job(arguments, str(folder)))
        is_near = ended.seconds > SECONDS * NEAR or ended.memory > MEMORY * NEAR
        if not is_near and not judged(ended, arguments, out):
            return ended
        if out and out.exists():
            out.unlink()
        return run(arguments, folder)

    def ended(self, job: Job) -> Ended:
        """How a command ends in a copy of the process."""
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        ended = Ended(*json.loads(self._process.stdout.readline()))
        return ended if job.most < WRITTEN else ended._replace(printed=said_in(Path(job.folder)))

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def judged(found: Ended, arguments: list[str], out: Path | None) -> str:
    """One of BAD, or ""."""
    status = found.status
    lines = [line for line in found.printed.splitlines() if line.startswith("usdphys: error: ")]
    says_jobs = arguments[0] == "batch" and "failed" in found.printed
    return next((name for holds, name in (
        (found.memory > MEMORY or "memory" in found.exceeded, "memory"),
        (found.seconds > SECONDS or found.exceeded, "time"), (status < 0, "crash"),
        (status not in (0, 1, 2) or "Traceback (most recent" in found.printed, "fault"),
        (status != 0 and len(lines) != 1 and not says_jobs, "silent"), (status != 0 and out and out.exists(), "left"),
        (status == 0 and out and not out.exists(), "lie"),
    ) if holds), "")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*KINDS, []], default=[], metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--only", nargs="+", help="some of the files, by their names")
    parser.add_argument("--convert", nargs="*", default=[".blend"], help="suffixes of outputs (default: .blend)")
    parser.add_argument("--keep", type=Path, help="a folder for the files of bad runs")
    parser.add_argument("--list", action="store_true", help="print the names of the files, and do nothing")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a run is bad")
    parser.add_argument("--verbose", action="store_true", help="a line for each command")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.serve:
        serve()
        os._exit(0)
    server = None if options.list else Server()
    found: Counter[str] = Counter()
    most_seconds, most_memory = 0.0, 0
    for kind in options.kinds or KINDS:
        for name, make in KINDS[kind]().items():
            if options.only and name not in options.only:
                continue
            found["files"] += 1
            if options.list:
                print(f"{kind}: {name}")
                continue
            with tempfile.TemporaryDirectory(prefix="usdphys-hostile-") as made:
                folder = Path(made)
                path = make(folder)
                for arguments, out in commands(path, folder, options.convert):
                    result = server.run(arguments, folder, out)
                    outcome = judged(result, arguments, out)
                    found["runs"] += 1
                    found[outcome or "good"] += 1
                    most_seconds, most_memory = max(most_seconds, result.seconds), max(most_memory, result.memory)
                    if outcome or options.verbose:
                        told = " ".join(result.printed.split())[-300:]
                        taken = f"{result.seconds:.1f} s, {result.memory >> 20} MB"
                        what = f"{outcome or 'good'} {kind} '{name}' {arguments[0]}"
                        print(f"{what}: status {result.status}, {taken}: {told}", flush=True)
                        if outcome and options.keep:
                            options.keep.mkdir(parents=True, exist_ok=True)
                            path.replace(options.keep / f"{kind}_{name.replace(' ', '_')}{path.suffix}")
                            break
    if server is not None:
        server.close()
    for figure in ("files", "runs", "good", *BAD):
        print(f"{figure} {found[figure]} 1")
    print(f"longest {most_seconds:.1f} s\nlargest {most_memory >> 20} MB")
    bad = sum(found[name] for name in BAD)
    sys.stdout.flush()
    os._exit(1 if options.check and bad else 0)  # bpy may hang while Python ends


if __name__ == "__main__":
    main()
