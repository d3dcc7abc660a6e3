# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models of MuJoCo that ask for endless work or memory, each of which must end with one sentence or a file.

Run as a script, it converts each to USD in a process of its own with limits, and prints the seconds, megabytes and
outcome of each as lines of JSON: python hostile_mjcf.py ROOT_OF_THE_REPOSITORY FOLDER [quick] [NAME ...]
"""

from __future__ import annotations

import base64
import json
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import limited_child

#: Bytes of address space and seconds of the processor of a case.
MEMORY, SECONDS = 4 << 30, 60
#: Numbers that are none, none that is finite, or none that fits.
_NUMBERS = ("nan", "inf", "-inf", "1e400", "1e300", "-1", "0", "1e-320", "", "x", "1 2", "1,2,3", "9" * 400, "0x10")
_BOX = '<geom type="box" size="1 1 1"/>'
_TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


class Case(NamedTuple):
    """text: of the model. others: files beside it, by name."""

    text: str
    others: Mapping[str, str | bytes] = MappingProxyType({})


def _model(body: str, head: str = "", tail: str = "", before: str = "") -> str:
    return f"{before}<mujoco>{head}<worldbody>{body}</worldbody>{tail}</mujoco>"


def _assets(*elements: str) -> str:
    return f"<asset>{''.join(elements)}</asset>"


def _bodies(count: int, inside: str = _BOX) -> str:
    """Bodies beside each other, in which {} is the number of the body."""
    return "".join(f'<body name="b{n}">{inside.replace("{}", str(n))}</body>' for n in range(count))


def _msh(points: int, normals: int, places: int, faces: int, data: bytes = b"") -> bytes:
    """A mesh of MuJoCo's own format, by what it says that it has."""
    return struct.pack("<4i", points, normals, places, faces) + data


def _sphere(rings: int) -> str:
    """The text of a mesh with 2 * rings^2 points."""
    lines = [f"v {x} {y} {x * y % 7}" for x in range(rings) for y in range(2 * rings)]
    at = [(x * 2 * rings + y + 1, y) for x in range(rings - 1) for y in range(2 * rings - 1)]
    lines += [f"f {one} {one + 1} {one + 2 * rings + 1}" for one, _ in at]
    return "\n".join(lines)


def _entities() -> str:
    """Each stands for ten of the one before it."""
    rows = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    return f'<!DOCTYPE mujoco [<!ENTITY a "xxxxxxxxxx">{rows}]>'


def _texts() -> Iterator[tuple[str, Case]]:
    """XML, files that are included, and names."""
    yield "entities that multiply", Case(_model('<geom name="&j;" size="1"/>', before=_entities()))
    yield (
        "entities inside an attribute of a class",
        Case(_model(_BOX, '<default><geom class="&j;"/></default>', before=_entities())),
    )
    yield "an entity of a file", Case(_model("&f;", before='<!DOCTYPE mujoco [<!ENTITY f SYSTEM "file:///dev/zero">]>'))
    yield "elements in elements", Case(_model('<body name="b">' * 100_000 + "</body>" * 100_000))
    yield "frames in frames", Case(_model("<frame>" * 100_000 + _BOX + "</frame>" * 100_000))
    yield "a text that ends at once", Case("<mujoco><worldbody>")
    yield "no text", Case("")
    yield "zeros", Case("\0" * 100_000)
    yield "an attribute of 20 MB", Case(_model(f'<geom size="1" name="{"x" * (20 << 20)}"/>'))
    yield (
        "a name of the model of 1 MB",
        Case(f'<mujoco model="{"x" * (1 << 20)}"><worldbody>{_BOX}</worldbody></mujoco>'),
    )
    yield "a comment of 50 MB", Case(_model(_BOX, f"<!--{'x' * (50 << 20)}-->"))
    yield "200,000 unknown elements", Case(_model(_BOX, tail="".join(f"<e{n}/>" for n in range(200_000))))
    yield "a file that includes itself", Case(_model('<include file="m.xml"/>' * 3))
    part = '<mujocoinclude><include file="{}"/></mujocoinclude>'
    yield (
        "files that include each other",
        Case(_model('<include file="a.xml"/>'), {"a.xml": part.format("b.xml"), "b.xml": part.format("a.xml")}),
    )
    yield (
        "a chain of included files",
        Case(_model('<include file="p0.xml"/>'), {f"p{n}.xml": part.format(f"p{n + 1}.xml") for n in range(100)}),
    )
    deep = '<mujocoinclude>{0}<include file="p{1}.xml"/>{2}</mujocoinclude>'
    yield (
        "included elements in elements",
        Case(
            _model('<include file="p0.xml"/>'),
            {f"p{n}.xml": deep.format("<body>" * 190, n + 1, "</body>" * 190) for n in range(30)}
            | {"p30.xml": f"<mujocoinclude>{_BOX}</mujocoinclude>"},
        ),
    )
    yield (
        "5,000 included files",
        Case(
            _model("".join(f'<include file="p{n}.xml"/>' for n in range(5000))),
            {f"p{n}.xml": f"<mujocoinclude>{_BOX}</mujocoinclude>" for n in range(5000)},
        ),
    )
    for name, file in (
        ("that never ends", "/dev/zero"),
        ("from a pipe", "/proc/self/fd/0"),
        ("of the machine", "/etc/passwd"),
        ("that is a folder", "."),
        ("with a long name", "x" * 5000),
        ("with a name of many folders", "a/" * 3000 + "a"),
        ("far above", "../" * 40 + "etc/passwd"),
        ("with a name of another system", "\\\\?\\C:\\CON"),
    ):
        yield f"a file {name}", Case(_model(f'<include file="{file}"/>'))
        mesh = f'<mesh name="m" file="{file}"/>'
        yield f"a mesh {name}", Case(_model('<geom type="mesh" mesh="m"/>' + _BOX, _assets(mesh)))
        texture = f'<texture name="t" type="2d" file="{file}"/><material name="m" texture="t"/>'
        yield f"an image {name}", Case(_model('<geom size="1" material="m"/>', _assets(texture)))
    yield (
        "a folder of meshes that is a device",
        Case(
            _model(
                _BOX, '<compiler meshdir="/dev" texturedir="/proc/self/fd"/>' + _assets('<mesh name="m" file="zero"/>')
            )
        ),
    )


def _multiplied() -> Iterator[tuple[str, Case]]:
    """Replicas, classes and meshes that stand for very much."""
    replica = '<replicate count="{}" offset="1 0 0">{}</replicate>'
    yield "a replica of 1e15", Case(_model(replica.format("1e15", _BOX)))
    yield "a replica of nothing of 1e15", Case(_model(_BOX + replica.format("1e15", "")))
    yield "a replica of -1e15", Case(_model(_BOX + replica.format("-1e15", _BOX)))
    nested = _BOX
    for _ in range(30):
        nested = replica.format("10", nested)
    yield "replicas that multiply", Case(_model(nested))
    yield "replicas of nothing that multiply", Case(_model(_BOX + nested.replace(_BOX, "")))
    for tag in ("site", "camera", "light", "joint", "inertial", "plugin"):
        one = f'<{tag} mass="1"/>' if tag == "inertial" else f"<{tag}/>"
        inside = f'<body name="b">{_BOX}{replica.format("24000", one * 2000)}</body>'
        yield f"replicas of elements {tag}", Case(_model(inside))
    yield "replicas of frames", Case(_model(_BOX + replica.format("24000", "<frame/>" * 2000)))
    yield "a long name in replicas", Case(_model(replica.format("24000", f'<geom size="1" name="{"x" * 100_000}"/>')))
    yield (
        "a long separator of replicas",
        Case(_model(f'<replicate count="24000" sep="{"x" * 100_000}">{_BOX}</replicate>')),
    )
    words = " ".join(f'w{n}="1"' for n in range(2000))
    classes = "".join(f'<default class="c{n}"/>' for n in range(50_000))
    yield (
        "a class of many attributes in many classes",
        Case(_model(_BOX, f"<default><geom {words}/>{classes}</default>")),
    )
    yield (
        "a class of many attributes in many geoms",
        Case(_model(replica.format("24000", '<geom size="1"/>'), f"<default><geom {words}/></default>")),
    )
    yield (
        "classes in classes",
        Case(_model(_BOX, "".join(f'<default class="c{n}"><geom {words}/>' for n in range(180)) + "</default>" * 180)),
    )
    yield (
        "a million numbers in a class",
        Case(_model(replica.format("24000", "<geom/>"), f'<default><geom size="{"1 " * 1_000_000}"/></default>')),
    )
    yield (
        "a class that is not there, with a long name",
        Case(_model(f'<body childclass="{"x" * 100_000}">' + replica.format("24000", '<geom size="1"/>') + "</body>")),
    )
    yield (
        "a mesh in many geoms",
        Case(
            _model(replica.format("24000", '<geom type="mesh" mesh="m"/>'), _assets('<mesh name="m" file="m.obj"/>')),
            {"m.obj": _sphere(70)},
        ),
    )
    yield (
        "a mesh of the text in many geoms",
        Case(
            _model(
                replica.format("24000", '<geom type="mesh" mesh="m"/>'),
                _assets(f'<mesh name="m" vertex="{" ".join(str(n % 97) for n in range(30_000))}"/>'),
            )
        ),
    )
    yield "24,000 ellipsoids", Case(_model(replica.format("24000", '<geom type="ellipsoid" size="1 2 3"/>')))
    yield "24,000 boxes at one place", Case(_model(replica.format("24000", _BOX).replace("1 0 0", "0 0 0")))
    yield (
        "a composite of 1e9 parts",
        Case(_model(_BOX + '<body><composite type="grid" count="1000 1000 1000"/></body>')),
    )
    yield (
        "a flexible body of 1e9 parts",
        Case(_model(_BOX + '<body><flexcomp type="grid" count="1000 1000 1000" dim="3"/></body>')),
    )
    yield (
        "a model that attaches itself",
        Case(_model(_BOX + '<attach model="m" prefix="p"/>' * 3, _assets('<model name="m" file="m.xml"/>'))),
    )
    yield (
        "models that attach each other",
        Case(
            _model(_BOX + '<attach model="a" prefix="p"/>', _assets('<model name="a" file="a.xml"/>')),
            {"a.xml": _model('<attach model="m" prefix="q"/>', _assets('<model name="m" file="m.xml"/>'))},
        ),
    )


def _many() -> Iterator[tuple[str, Case]]:
    """Parts whose pairs are very many."""
    yield "8,000 free bodies", Case(_model(_bodies(8_000, f"<freejoint/>{_BOX}")))
    yield "8,000 bodies without mass", Case(_model(_bodies(8_000, '<joint name="j{}"/>')))
    joint, motor = '<joint name="j{}"/>', '<position joint="j{}" inheritrange="1" forcerange="-1 1" dampratio="1"/>'
    motors = "".join(motor.replace("{}", str(n)) for n in range(8_000))
    yield "8,000 joints with servos", Case(_model(_bodies(8_000, joint + _BOX), tail=f"<actuator>{motors}</actuator>"))
    yield (
        "8,000 servos of one joint",
        Case(
            _model(
                _bodies(1, joint + _BOX),
                tail=f"<actuator>{motors.replace('j', 'j0').replace('j0oint', 'joint')}</actuator>",
            )
        ),
    )
    pairs = "".join(f'<joint joint1="j{n}" joint2="j{n + 1}"/>' for n in range(7_999))
    yield (
        "8,000 joints that follow each other",
        Case(_model(_bodies(8_000, joint + _BOX), tail=f"<equality>{pairs}</equality>")),
    )
    welds = "".join(f'<weld body1="b{n}" body2="b{n + 1}"/>' for n in range(7_999))
    yield "8,000 welds", Case(_model(_bodies(8_000, joint + _BOX), tail=f"<equality>{welds}</equality>"))
    apart = "".join(f'<exclude body1="b{n}" body2="b{n + 1}"/>' for n in range(7_999))
    yield (
        "8,000 pairs that do not collide",
        Case(_model(_bodies(8_000, joint + _BOX), tail=f"<contact>{apart}</contact>")),
    )
    yield (
        "8,000 masks of contacts",
        Case(_model("".join(f'<geom size="1" contype="{n}" conaffinity="{2 * n}"/>' for n in range(8_000)))),
    )
    yield (
        "8,000 frictions of one name",
        Case(_model("".join(f'<geom size="1" friction="{1 + n * 1e-9:.12f}"/>' for n in range(8_000)))),
    )
    yield (
        "8,000 colours of one name",
        Case(_model("".join(f'<geom size="1" rgba="{n / 30_000:.6f} 0 0 1"/>' for n in range(8_000)))),
    )
    yield (
        "2,000 joints of one body",
        Case(_model(_bodies(1, "".join(f'<joint name="j{n}" axis="1 {n} 0"/>' for n in range(2000)) + _BOX))),
    )
    yield "8,000 geoms of one name", Case(_model('<geom size="1" name="a"/>' * 8_000))
    yield "8,000 bodies of one name", Case(_model(f'<body name="a"><freejoint/>{_BOX}</body>' * 8_000))
    yield (
        "8,000 meshes that are not there",
        Case(_model(_BOX, _assets(*(f'<mesh name="m{n}" file="m{n}.obj"/>' for n in range(8_000))))),
    )
    yield "8,000 keyframes", Case(_model(_bodies(20, joint + _BOX), tail=f"<keyframe>{'<key/>' * 8_000}</keyframe>"))
    yield (
        "a keyframe of a million numbers",
        Case(_model(_bodies(20, joint + _BOX), tail=f'<keyframe><key qpos="{"1 " * 1_000_000}"/></keyframe>')),
    )
    yield (
        "8,000 tendons and sensors",
        Case(
            _model(
                _bodies(20, joint + _BOX),
                tail='<tendon><fixed name="t"><joint joint="j0" coef="1"/></fixed></tendon><sensor>'
                + '<jointpos joint="j0"/>' * 8_000
                + "</sensor>",
            )
        ),
    )


def _numbers() -> Iterator[tuple[str, Case]]:
    """Numbers and sizes that nothing stands behind."""
    robot = (
        '<body name="b" pos="{}" quat="{}" gravcomp="{}"><inertial mass="{}" pos="{}" diaginertia="{}"/>'
        '<joint name="j" axis="{}" range="{}" damping="{}"/><geom type="box" size="{}" friction="{}" contype="{}" '
        'group="{}"/><geom type="capsule" size="1" fromto="{}"/><site euler="{}"/></body>'
    )
    for number in _NUMBERS:
        name = number if len(number) < 20 else f"{number[:3]}..."
        yield f"numbers '{name}'", Case(_model(robot.replace("{}", number), f'<option gravity="{number}"/>'))
        words = ("settotalmass", "boundmass", "boundinertia", "inertiagrouprange", "eulerseq", "angle", "meshdir")
        for word in words if number in ("nan", "1e400", "", "x", "-1", "1e300") else ():
            head = f'<compiler {word}="{number}" inertiafromgeom="true" balanceinertia="true"/>'
            yield f"{word} '{name}'", Case(_model(f'<body euler="1 2 3"><freejoint/>{_BOX}</body>', head))
    huge = (
        '<body pos="1e15 1e15 1e15"><joint pos="1e15 0 0" range="-1e15 1e15" stiffness="1e15" damping="1e15"/>'
        '<geom type="box" size="1e15 1e15 1e15" density="1e15" friction="1e15"/></body>'
    )
    yield "whole numbers of 1e15", Case(_model('<geom size="1" contype="1e15" group="1e15" condim="1e15"/>'))
    yield "the largest numbers", Case(_model(huge.replace("</body>", "") + huge.replace("<body", "<body") + "</body>"))
    yield "the smallest numbers", Case(_model(huge.replace("1e15", "1e-15")))
    yield (
        "a height field of 1e18 points",
        Case(
            _model(
                _BOX + '<geom type="hfield" hfield="h"/>',
                _assets('<hfield name="h" nrow="1000000000" ncol="1000000000" size="1e15 1e15 1e15 1e15"/>'),
            )
        ),
    )
    yield (
        "heights of 20 MB",
        Case(
            _model(
                _BOX + '<geom type="hfield" hfield="h"/>',
                _assets(f'<hfield name="h" nrow="10" ncol="10" size="1 1 1 1" elevation="{"0.5 " * (5 << 20)}"/>'),
            )
        ),
    )
    yield (
        "sizes of a terabyte",
        Case(
            _model(
                _bodies(2, f"<freejoint/>{_BOX}"),
                '<size memory="1000000G" njmax="2000000000" nconmax="2000000000" '
                'nstack="2000000000" nuserdata="2000000000" nkey="2000000000" nuser_geom="2000000000"/>',
            )
        ),
    )
    yield (
        "a texture of 1e18 pixels",
        Case(
            _model(
                '<geom size="1" material="m"/>',
                _assets(
                    '<texture name="t" type="2d" builtin="checker" width="1000000000" height="1000000000"/>'
                    '<material name="m" texture="t" texrepeat="1e15 1e15"/>'
                ),
            )
        ),
    )
    yield (
        "a built-in mesh of 1e9 parts",
        Case(
            _model(
                _BOX + '<geom type="mesh" mesh="m"/>', _assets('<mesh name="m" builtin="sphere" params="1000000000"/>')
            )
        ),
    )
    yield "a grid of the statistic", Case(_model(_BOX, '<statistic extent="1e300" center="nan nan nan"/>'))


def _meshes() -> Iterator[tuple[str, Case]]:
    """Meshes that lie about their counts, and attributes of meshes that do not fit."""
    shown = '<geom type="mesh" mesh="m"/>' + _BOX

    def of(name: str, content: str | bytes, more: str = "") -> Case:
        return Case(
            _model(f"<body><freejoint/>{shown}</body>", _assets(f'<mesh name="m" file="{name}" {more}/>')),
            {name: content},
        )

    most = 2**31 - 1
    triangle = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    yield "counts that are not there", of("m.msh", _msh(most, most, most, most))
    yield "counts below nothing", of("m.msh", _msh(-1, -1, -1, -1, bytes(100)))
    yield "counts that cancel each other", of("m.msh", _msh(3, -3, 0, 3, triangle))
    yield "points that are not there", of("m.msh", _msh(3, 0, 0, 1, triangle + struct.pack("<3i", 0, 1, most)))
    yield "points before the first", of("m.msh", _msh(3, 0, 0, 1, triangle + struct.pack("<3i", 0, 1, -2)))
    yield "points that are none", of("m.msh", _msh(3, 0, 0, 1, struct.pack("<9f3i", *[float("nan")] * 9, 0, 1, 2)))
    yield "no points", of("m.msh", _msh(0, 0, 0, 0))
    yield "an empty mesh", of("m.msh", b"")
    yield "three bytes", of("m.msh", b"abc")
    yield "a mesh without an ending", of("m", _TETRAHEDRON)
    yield "triangles of STL that are not there", of("m.stl", bytes(80) + struct.pack("<I", 0xFFFFFFFF) + bytes(50))
    yield "corners of OBJ that are not there", of("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1000000000\n")
    yield "a mesh in a line", of("m.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")
    yield "a mesh at one place", of("m.obj", "v 1 1 1\n" * 3 + "f 1 2 3\n")
    for number in _NUMBERS:
        name = number if len(number) < 20 else f"{number[:3]}..."
        for word in ("scale", "refpos", "refquat"):
            yield f"{word} '{name}' of a mesh", of("m.obj", _TETRAHEDRON, f'{word}="{number}"')
    yield (
        "the largest mesh",
        of("m.obj", _TETRAHEDRON.replace("1", "1e15", 3).replace("f 1e15", "f 1"), 'scale="1e15 1e15 1e15"'),
    )
    points, kinds = "0 0 0 1 0 0 0 1 0 0 0 1", ("legacy", "exact", "convex", "shell", "x")
    for name, words in (
        ("corners that are not there", f'vertex="{points}" face="0 1 1000000000"'),
        ("corners before the first", f'vertex="{points}" face="-1 -2 -1000000000"'),
        ("corners that are no whole numbers", f'vertex="{points}" face="0.5 1.5 2.5"'),
        ("corners of 1e15", f'vertex="{points}" face="1e15 1e15 1e15"'),
        ("points that are cut off", f'vertex="{points} 1" face="0 1"'),
        ("one point", 'vertex="0 0 0" face="0 0 0"'),
        ("no points", 'vertex="" face=""'),
        ("points on one place", f'vertex="{"1 1 1 " * 1000}"'),
        ("points on a line", f'vertex="{" ".join(f"{n} 0 0" for n in range(1000))}"'),
    ):
        for kind in kinds:
            mesh = f'<mesh name="m" {words} inertia="{kind}"/>'
            yield f"{name} in the text, {kind}", Case(_model(f"<body><freejoint/>{shown}</body>", _assets(mesh)))
    yield (
        "a hull of a million points",
        Case(
            _model(
                shown, _assets(f'<mesh name="m" vertex="{" ".join(f"{n * 7919 % 99991}" for n in range(600_000))}"/>')
            )
        ),
    )
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAPQkAAD0JACAIAAAAlC+aJ")
    yield (
        "an image that is cut off",
        Case(
            _model(
                '<geom size="1" material="m"/>',
                _assets('<texture name="t" type="2d" file="t.png"/><material name="m" texture="t"/>'),
            ),
            {"t.png": png},
        ),
    )


def cases(*, quick: bool = False) -> dict[str, Case]:
    """Models by name. quick: without those of thousands of parts, which take up to a minute each."""
    kinds = (_texts, _numbers, _meshes) if quick else (_texts, _multiplied, _many, _numbers, _meshes)
    return {name: case for rows in kinds for name, case in rows()}


def write(case: Case, folder: Path) -> Path:
    """The file of a case, with those beside it."""
    for name, content in case.others.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    path = folder / "m.xml"
    path.write_text(case.text, encoding="utf-8")
    return path


def _convert(path: Path, target: Path) -> str:
    """What became of a file: a sentence, or the number of issues."""
    from usdphys_addon.core.errors import UsdPhysError
    from usdphys_addon.usd import mjcf_stage

    try:
        return f"{len(mjcf_stage.convert(path, target)[0])} issues"
    except UsdPhysError as error:
        return str(error)


def run(folder: Path, case: Case) -> dict[str, object]:
    """Convert a case in a child with limits. Returns status, seconds, megabytes, sentence."""
    path = write(case, folder)
    outcome = limited_child.run(lambda: _convert(path, folder / "out.usdc"), folder, MEMORY, SECONDS)
    for name in case.others:
        (folder / name).unlink()
    return outcome


def main(root: str, folder: str, *names: str) -> Iterator[dict[str, object]]:
    sys.path.insert(0, root)
    _convert(Path(folder, "none.xml"), Path(folder, "none.usdc"))  # imports, which the children need not make again
    for name, case in cases(quick="quick" in names).items():
        if not names or name in names or names == ("quick",):
            yield {"name": name, "bytes": len(case.text), **run(Path(folder), case)}


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(json.dumps(line), flush=True)
