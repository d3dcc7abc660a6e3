# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models of Gazebo that ask for endless work or memory, each of which must end with one sentence or a file.

Run as a script, it converts each to USD in a process of its own with limits, and prints the outcome of each as lines of
JSON: python hostile_sdf.py ROOT_OF_THE_REPOSITORY FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import limited_child

#: Bytes of address space and seconds of the processor of a case.
MEMORY, SECONDS = 4 << 30, 60
_BOX = "<{0} name='{0}'><geometry><box><size>1 1 1</size></box></geometry></{0}>"
_NUMBERS = ("nan", "inf", "-inf", "1e400", "1e300", "-1", "0", "1e-320", "", "x", "1 2", "1,2,3", "9" * 400, "0x10")


def _model(inside: str, name: str = "m") -> str:
    return f'<sdf version="1.9"><model name="{name}">{inside}</model></sdf>'


def _twice(name: str, inside: str = "") -> str:
    return "".join(f"<include><uri>{name}</uri><name>n{one}</name>{inside}</include>" for one in range(2))


def _joint(name: str, above: str, below: str, inside: str = "") -> str:
    return f"<joint name='{name}' type='revolute'><parent>{above}</parent><child>{below}</child>{inside}</joint>"


def cases() -> dict[str, Mapping[str, str]]:
    """Files by name; the first one is the model that is read."""
    links = [f"<link name='l{n}'/>" for n in range(20_000)]
    triangles = "".join(f"v {n} {n % 7} {n % 11}\n" for n in range(3000)) + "".join(
        f"f {n} {n + 1} {n + 2}\n" for n in range(1, 2990)
    )
    mesh = "<visual name='v{}'><geometry><mesh><uri>a.obj</uri></mesh></geometry></visual>"
    made: dict[str, Mapping[str, str]] = {
        "files that include two of the next": {
            "m.sdf": _model(_twice("f1.sdf")),
            **{f"f{n}.sdf": _model("<link name='a'/>" + _twice(f"f{n + 1}.sdf")) for n in range(1, 31)},
            "f31.sdf": _model("<link name='a'/>"),
        },
        "a link of many visuals, included often": {
            "m.sdf": _model("".join(f"<include><uri>a.sdf</uri><name>n{n}</name></include>" for n in range(5000))),
            "a.sdf": _model(f"<link name='a'>{_BOX.format('visual') * 5000}</link>"),
        },
        "files in a circle": {
            "m.sdf": _model("<link name='a'/><include><uri>b.sdf</uri></include>"),
            "b.sdf": _model("<include><uri>m.sdf</uri></include>"),
        },
        "merged files in a circle": {
            "m.sdf": _model("<link name='a'/><include merge='true'><uri>m.sdf</uri></include>"),
        },
        "a long name around many links": {"m.sdf": _model(f"<model name='{'x' * (1 << 20)}'>{''.join(links)}</model>")},
        "a mesh that many links show": {
            "m.sdf": _model(f"<link name='a'>{''.join(mesh.format(n) for n in range(20_000))}</link>"),
            "a.obj": triangles,
        },
        "models in models": {"m.sdf": _model("<model name='a'>" * 90 + "<link name='l'/>" + "</model>" * 90)},
        "links in a chain of poses": {"m.sdf": _model("<link name='l0'/>" + "".join(
            f"<link name='l{n}'><pose relative_to='l{n - 1}'>0 0 1 0 0 0</pose></link>" for n in range(1, 20_000)))},
        "frames in a chain": {"m.sdf": _model("<link name='f0'/>" + "".join(
            f"<frame name='f{n}' attached_to='f{n - 1}'/>" for n in range(1, 20_000)))},
        "frames attached in a circle": {"m.sdf": _model(
            "<link name='l'/><frame name='a' attached_to='b'><pose relative_to='l'/></frame>"
            "<frame name='b' attached_to='a'><pose relative_to='l'/></frame>")},
        "models whose poses are relative to the next": {"m.sdf": _model("".join(
            f"<model name='m{n}'><pose relative_to='m{n + 1}'/><link name='l'/></model>" for n in range(2000))
            + "<model name='m2000'><link name='l'/></model>")},
        "a chain of 20,000 joints": {"m.sdf": _model("".join(links) + "".join(
            _joint(f"j{n}", f"l{n}", f"l{n + 1}") for n in range(19_999)))},
        "a star of 20,000 joints": {"m.sdf": _model("".join(links) + "".join(
            _joint(f"j{n}", "l0", f"l{n + 1}") for n in range(19_999)))},
        "20,000 joints between two links": {"m.sdf": _model("".join(links[:2]) + "".join(
            _joint(f"j{n}", "l0", "l1") for n in range(20_000)))},
        "20,000 free links": {"m.sdf": _model("".join(links))},
        "mimics in a circle": {"m.sdf": _model("".join(links[:3]) + "".join(
            _joint(f"j{n}", f"l{n}", f"l{n + 1}", f"<axis><mimic joint='j{1 - n}'/></axis>") for n in range(2)))},
        "a name of many marks": {"m.sdf": _model(f"<link name='a'><pose relative_to='{'a::' * 100_000}'/></link>")},
        "many names of many marks": {"m.sdf": _model("".join(
            f"<link name='a{n}'><pose relative_to='{'a::' * 1000}'/></link>" for n in range(1000)))},
        "an include of a pipe": {"m.sdf": _model("<link name='a'/><include><uri>/proc/self/fd/0</uri></include>")},
        "an include that never ends": {"m.sdf": _model("<link name='a'/><include><uri>/dev/zero</uri></include>")},
        "an include far above": {"m.sdf": _model(f"<link name='a'/><include><uri>{'../' * 5000}x</uri></include>")},
        "a polyline of many points": {"m.sdf": _model(
            "<link name='a'><collision name='c'><geometry><polyline>" + "<point>1 2</point>" * 50_000
            + "</polyline></geometry></collision></link>")},
        "many ellipsoids": {"m.sdf": _model("<link name='a'>" + "".join(
            f"<collision name='c'><geometry><ellipsoid><radii>1 2 {n + 3}</radii></ellipsoid></geometry></collision>"
            for n in range(20_000)) + "</link>")},
        "elements in elements": {"m.sdf": "<sdf>" * 100_000},
        "a world of worlds": {"m.sdf": '<sdf version="1.9">' + "<world name='w'/>" * 100_000 + "</sdf>"},
    }  # fmt: skip
    for number in _NUMBERS:
        for tag, text in (
            ("pose", f"<link name='a'><pose>{number} 0 0 0 0 {number}</pose></link>"),
            ("mass", f"<link name='a'><inertial><mass>{number}</mass></inertial></link>"),
            ("inertia", f"<link name='a'><inertial><inertia><ixx>{number}</ixx></inertia></inertial></link>"),
            (
                "radius",
                "<link name='a'><collision name='c'><geometry><sphere><radius>"
                f"{number}</radius></sphere></geometry></collision></link>",
            ),
            (
                "limit",
                "<link name='a'/><link name='b'/>"
                + _joint(
                    "j",
                    "a",
                    "b",
                    f"<axis><limit><lower>{number}</lower><effort>{number}</effort></limit>"
                    f"<dynamics><damping>{number}</damping></dynamics></axis>",
                ),
            ),
        ):
            made[f"{tag} {number[:10]}"] = {"m.sdf": _model(text)}
    return made  # fmt: skip


def write(files: Mapping[str, str], folder: Path) -> Path:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder / "m.sdf"


def _convert(path: Path, target: Path) -> str:
    """What became of a file: a sentence, or the number of issues."""
    from usdphys_addon.core.errors import UsdPhysError
    from usdphys_addon.usd import robot_files

    try:
        return f"{len(robot_files.convert(path, robot_files.RobotOptions(), target)[0])} issues"
    except UsdPhysError as error:
        return str(error)


def main(root: str, folder: str, *names: str) -> Iterator[dict[str, object]]:
    sys.path.insert(0, root)
    _convert(Path(folder, "none.sdf"), Path(folder, "none.usdc"))  # imports, which the children need not make again
    for name, files in cases().items():
        if names and name not in names:
            continue
        path = write(files, Path(folder))
        outcome = limited_child.run(lambda path=path: _convert(path, path.with_name("out.usdc")), Path(folder), MEMORY,
                                    SECONDS)  # fmt: skip
        for one in files:
            Path(folder, one).unlink()
        yield {"name": name, "bytes": sum(map(len, files.values())), **outcome}


if __name__ == "__main__":
    for line in main(*sys.argv[1:]):
        print(json.dumps(line), flush=True)
