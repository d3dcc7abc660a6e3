# SPDX-License-Identifier: GPL-3.0-or-later
"""Full disks, kills and power cuts: no output is torn or lost, and none is claimed that is not there.

    .venv/bin/python scripts/faults.py [full] [kill] [power] [small] [trust] [leavings] [blame] [windows] [stale]
        [slow] [stopped]
        [--moments N] [--pages N] [--check]

full: every command with files that may not grow beyond so many pages of 4 KiB, from none to the whole output, and on a
small disk in memory with as many pages free, where mounting is allowed. kill: every command is killed at N random
moments. power: strace tells whether a file is on the disk before it replaces the old one, and the folder after it.
Each command of these replaces an old file, or those that belong together; for full and kill it runs in a copy of a
process that has imported everything, so that all moments are those of its work. small: the small files of `hostile.py`
that once took all memory. trust: files of jobs that name programs, and glTF that names files of the machine. leavings:
what killed runs have left is deleted when its time has come, and not before. blame: what is wrong with a file, a disk
or the arguments has status 1 or 2. windows: every command in a folder with the rules of Windows for names and open
files, twice into the same file. stale: in one whose server goes away after so many touches. slow: in one where each
touch takes 50 ms. (`file_rules.py` says what that is, and what of it is not seen.) stopped: children that are stopped,
and neither work nor end.

Bad is an old file that is neither intact nor replaced by a whole new one (torn), is gone (lost), or a success without
the new file (lie), what is left behind beside the target (left), status 3 in whatever run (fault), a program that was
run (ran), and what `hostile.py` calls bad. A program of the tests stands for the simulator of
--engine.

Prints `name value unit` per figure and a line for each bad run; with --check, exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hostile

ROOT = Path(__file__).resolve().parent.parent
PAGE = 4096
OLD = b"what was there before\n"
#: It names what may be replaced together with it.
OLD_GLTF = b'{"asset": {"version": "2.0"}, "buffers": [{"uri": "out.bin"}], "images": [{"uri": "Checks.png"}]}'
BAD = ("torn", "lost", "ran", *hostile.BAD)
MAKE = """
import os
import sys
sys.path.insert(0, sys.argv[1])
import bpy
from usdphys_addon.bridge import props
from usdphys_addon import cli
props.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=48, location=(0, 0, 3))
for name in ("Ball", "Crate"):
    if name == "Crate":
        bpy.ops.mesh.primitive_cube_add(location=(4, 0, 3))
    bpy.context.object.name = name
    bpy.context.object.usdphys.rigid_body.is_applied = True
    bpy.context.object.usdphys.colliders.add()
image = bpy.data.images.new("Checks", 256, 256)
image.generated_type = "COLOR_GRID"
image.pack()
material = bpy.data.materials.new("Checks")
material.use_nodes = True
texture = material.node_tree.nodes.new("ShaderNodeTexImage")
texture.image = image
material.node_tree.links.new(texture.outputs[0], material.node_tree.nodes["Principled BSDF"].inputs[0])
bpy.context.object.data.materials.append(material)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2] + "/scene.blend")
assert cli.main(["convert", sys.argv[2] + "/scene.blend", sys.argv[2] + "/stage.usda"]) == 0
assert cli.main(["convert", sys.argv[2] + "/scene.blend", sys.argv[2] + "/scene.glb"]) == 0
assert cli.main(["convert", sys.argv[2] + "/stage.usda", sys.argv[2] + "/imported.blend"]) == 0
joint = bpy.data.objects.new("Hinge", None)
bpy.context.collection.objects.link(joint)
joint.usdphys.joint.is_applied = True
joint.usdphys.joint.body0, joint.usdphys.joint.body1 = bpy.data.objects["Ball"], bpy.data.objects["Crate"]
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2] + "/joined.blend")
for name in ("scene", "joined"):
    bpy.ops.wm.open_mainfile(filepath=f"{sys.argv[2]}/{name}.blend")
    for mesh in bpy.data.meshes:
        mesh.transform(__import__("mathutils").Matrix.Scale(1.5, 4))
    bpy.data.objects["Ball"].usdphys.rigid_body.kinematic_enabled = name == "scene"
    os.makedirs(sys.argv[2] + "/other", exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=f"{sys.argv[2]}/other/{name}.blend")
bpy.ops.wm.open_mainfile(filepath=sys.argv[2] + "/imported.blend")
bpy.data.objects["Crate"].usdphys.rigid_body.kinematic_enabled = True
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2] + "/edited.blend")
os._exit(0)
"""
ROBOT = """<robot name="arm">
<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="1"/></geometry></visual></link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="tip"/><origin xyz="0 0 2"/></joint>
<!-- __FILL__ -->
</robot>
""".replace("__FILL__", "arm " * 8000)
#: Stands for a simulator: nothing moves.
ENGINE = f"""#!/bin/sh
shift
exec {sys.executable} {ROOT}/tests/stand_in.py "$@"
"""
_CONVERT, _MOVE = "convert {in}/", "simulate {in}/stage.usda --seconds 2 "
_ENGINE = _MOVE + "--engine newton --engine-python {in}/engine "
#: name: (arguments with {in} for the folder of the inputs and {out} for the target, suffix of the target).
COMMANDS = {
    "usda": (_CONVERT + "scene.blend {out}", ".usda"), "usdc": (_CONVERT + "scene.blend {out}", ".usdc"),
    "usdz": (_CONVERT + "scene.blend {out}", ".usdz"), "blend": (_CONVERT + "stage.usda {out}", ".blend"),
    "copy": (_CONVERT + "edited.blend {out} --merge", ".usda"),
    "layer": (_CONVERT + "edited.blend {out} --physics-layer", ".usda"),
    "motion": (_MOVE + "--out {out}", ".usdc"), "poses": (_MOVE + "--json {out}", ".json"),
    "engine": (_ENGINE + "--json {out}", ".json"), "engine_motion": (_ENGINE + "--out {out}", ".usdc"),
    "gltf": (_CONVERT + "scene.blend {out}", ".gltf"), "glb": (_CONVERT + "scene.blend {out}", ".glb"),
    "from_gltf": (_CONVERT + "scene.glb {out}", ".blend"), "urdf": (_CONVERT + "robot.urdf {out}", ".urdf"),
    "from_urdf": (_CONVERT + "robot.urdf {out}", ".usdc"),
    "flat": (_CONVERT + "edited.blend {out} --flatten", ".usdc"),
    "onto": (_CONVERT + "stage.usda {out} --onto {in}/scene.blend", ".blend"),
    "layers": (_CONVERT + "scene.blend {out} --layers", ".usda"),
    "runtimes": (_CONVERT + "scene.blend {out} --runtimes", ".usda"),
    "usdz_copy": (_CONVERT + "edited.blend {out} --merge", ".usdz"),
    "robot": (_CONVERT + "joined.blend {out}", ".urdf"),
    "blend_motion": ("simulate {in}/scene.blend --seconds 2 --out {out}", ".usdc"),
    "batch": ("batch {in}/jobs.jsonl --workers 1 --out {out}.results.jsonl", ".usda"),
}  # fmt: skip
#: Commands that write several files: the old ones are those that they make of another scene.
SEVERAL = ("layers", "runtimes", "robot")


def run(name: str, inputs: Path, target: Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command_of(name, inputs, target), capture_output=True, check=False, timeout=300, **options)


def command_of(name: str, inputs: Path, target: Path) -> list[str]:
    if name == "batch":
        job = {"op": "convert", "in": str(inputs / "scene.blend"), "out": str(target)}
        (inputs / "jobs.jsonl").write_text(json.dumps(job))
    parts = COMMANDS[name][0].split()
    arguments = [part.replace("{in}", str(inputs)).replace("{out}", str(target)) for part in parts]
    return [*hostile.program(), *arguments]


def is_new(target: Path, whole: int) -> bool:
    """True if the target is a whole new file, told apart from a short one by what is in it."""
    from usdphys_addon.system.files import is_whole

    if is_old(target) or not is_whole(target):
        return False
    if target.suffix == ".json":
        return len(json.loads(target.read_text())["bodies"]) == 2
    if target.suffix == ".urdf":
        return len(ET.parse(target).findall("link")) == 2
    if target.suffix == ".gltf":
        buffers = json.loads(target.read_text())["buffers"]
        return [one["byteLength"] for one in buffers] == [path.stat().st_size for path in with_it(target)[:1]]
    # The paths of temporary files, and so sizes, differ a little from run to run.
    return target.stat().st_size > 0.9 * whole


def with_it(target: Path) -> list[Path]:
    """Files that a command writes beside its target."""
    if target.suffix != ".gltf":
        return []
    return [target.with_suffix(".bin"), target.with_name("Checks.png")]


def make_old(name: str, inputs: Path, target: Path) -> None:
    target.with_name(f"{target.name}.results.jsonl").unlink(missing_ok=True)
    if name in SEVERAL:
        shutil.copytree(inputs / f"old_{name}", target.parent, dirs_exist_ok=True)
        return
    for path in (target, *with_it(target)):
        path.write_bytes(OLD_GLTF if path.suffix == ".gltf" else OLD)


def is_old(path: Path) -> bool:
    return path.read_bytes() in (OLD, OLD_GLTF)


def judged(status: int, name: str, inputs: Path, target: Path, whole: int) -> str:
    """The bad outcome of a run, or ""."""
    if status == 3:
        return "fault"
    if name in SEVERAL:
        return judged_together(status, target.parent, inputs / f"old_{name}", inputs / f"new_{name}")
    if not all(path.exists() for path in (target, *with_it(target))):
        return "lost"
    stays = is_old(target)
    if not stays and not is_new(target, whole):
        return "torn"
    if any(is_old(path) != stays for path in with_it(target)):
        return "torn"
    if status == 0 and stays:
        return "lie"
    return ""


def judged_together(status: int, folder: Path, old: Path, new: Path) -> str:
    """The same for several files. old: a folder with the old ones. new: with those that a run without faults makes."""
    from usdphys_addon.system.files import is_whole

    before, after = (
        {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for place in (old, new)
    )
    if not all((folder / name).is_file() for name in before):
        return "lost"
    changed = {name for name, content in before.items() if (folder / name).read_bytes() != content}
    if not changed:
        return "lie" if status == 0 else ""
    for name, content in after.items():
        file = folder / name
        differs = lines_of(content) != lines_of(before.get(name, b""))
        if not file.is_file() or (differs and name in before and name not in changed) or not is_whole(file):
            return "torn"
        if file.stat().st_size < 0.9 * len(content):
            return "torn"
    return ""


def lines_of(content: bytes) -> list[bytes]:
    """The lines of a file in an order of their own: Blender writes siblings in another order from run to run."""
    return sorted(content.splitlines())


Tell = Callable[[str, str, str, str], None]


@contextmanager
def new_target(name: str, folder: Path | None = None) -> Iterator[Path]:
    """Where a command writes, in a folder of its own or in this one."""
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
        yield (folder or Path(made)) / f"out{COMMANDS[name][1]}"


#: Runs the commands that end in their own process.
server: hostile.Server


def status_of(name: str, inputs: Path, target: Path, most: int = hostile.WRITTEN, moment: float | None = None) -> int:
    """The exit status of a command. most: bytes of a file. moment: seconds after which it is killed."""
    arguments = command_of(name, inputs, target)[len(hostile.program()) :]
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as said:
        return server.ended(hostile.Job(arguments, said, most, moment)).status


def tried(name: str, inputs: Path, target: Path, size: int, most: int = hostile.WRITTEN) -> tuple[str, int]:
    """(bad outcome of a run or "", its status). most: bytes of a file."""
    make_old(name, inputs, target)
    status = status_of(name, inputs, target, most)
    outcome = judged(status, name, inputs, target, size)
    left = [path for path in target.parent.iterdir() if path != target and path.name.startswith(".usdphys-")]
    return outcome or ("left" if left else ""), status


# --------------------------------------------------------------------------- full disks


def full(name: str, inputs: Path, size: int, pages: int, tell: Tell) -> None:
    most = size // PAGE + 1
    for limit in sorted({round(most * step / min(pages, most)) for step in range(min(pages, most) + 1)}):
        with new_target(name) as target:
            outcome, status = tried(name, inputs, target, size, limit * PAGE)
        tell("full", name, outcome, f"files of at most {limit} of {most} pages, status {status}")


@contextmanager
def small_disk(size: int) -> Iterator[Path | None]:
    """A disk in memory; None where mounting is not allowed."""
    with tempfile.TemporaryDirectory(prefix="usdphys-disk-") as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name]
        if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=False)


def full_disk(name: str, inputs: Path, size: int, pages: int, tell: Tell) -> None:
    most = 3 * size // PAGE + 8
    with small_disk((most + 8) * PAGE) as disk, new_target(name, disk) as target:
        if disk is None:
            return print("full disk: skipped, because mounting is not allowed here")
        filler = disk / "filler"
        for step in range(pages + 1):
            free = round(most * step / pages)
            make_old(name, inputs, target)
            filler.write_bytes(b"")
            status = os.statvfs(disk)
            filler.write_bytes(bytes(max(0, (status.f_bavail - free) * status.f_frsize)))
            outcome, ended = tried(name, inputs, target, size)
            tell("full", name, outcome, f"a disk with {free} free pages, status {ended}")
            filler.unlink()


# --------------------------------------------------------------------------- kills


def kill(name: str, inputs: Path, size: int, moments: int, tell: Tell) -> None:
    rng = random.Random(1)
    with new_target(name) as target:
        begun = time.monotonic()
        status_of(name, inputs, target)
        seconds = time.monotonic() - begun
        for _ in range(moments):
            make_old(name, inputs, target)
            moment = rng.uniform(0.0, 1.05) * seconds
            status = status_of(name, inputs, target, moment=moment)
            tell("kill", name, judged(status, name, inputs, target, size), f"after {moment:.3f} s")


# --------------------------------------------------------------------------- power cuts


def power(name: str, inputs: Path, tell: Tell) -> None:
    if shutil.which("strace") is None:
        return print("power: skipped, because there is no strace here")
    with new_target(name) as target:
        log = target.with_name("calls.txt")
        make_old(name, inputs, target)
        trace = f"strace -f -y -qq -e trace=fsync,fdatasync,rename,renameat,renameat2 -o {log}".split()
        done = subprocess.run([*trace, *command_of(name, inputs, target)], capture_output=True, check=False)
        if done.returncode:
            return print(f"power: {name} skipped, because it cannot be traced here (status {done.returncode})")
        calls = log.read_text(errors="replace").splitlines()
        places = order_of(calls, target)
        is_safe = -1 < places[0] < places[1] < places[2]
        tell("power", name, "" if is_safe else "lost", f"calls {places} of {len(calls)}")


def order_of(calls: list[str], target: Path) -> list[int]:
    """Where, in a log of strace, a file is forced to the disk, then replaces the target, then its folder is forced.

    Files may be put in place in the same folder before: the last one that becomes the target counts. -1: nowhere.
    """
    moves = [
        (at, re.search(rf'rename.*?"([^"]*)", .*"{re.escape(str(target))}"', call)) for at, call in enumerate(calls)
    ]
    moved, found = next(((at, found) for at, found in reversed(moves) if found), (-1, None))
    if found is None:
        return [-1, -1, -1]

    def forced(path: Path, first: int, last: int) -> int:
        wanted = re.compile(rf"fsync\(\d+<{re.escape(os.path.realpath(path))}>\)")
        return next((at for at in range(first, last) if wanted.search(calls[at])), -1)

    return [forced(Path(found[1]), 0, moved), moved, forced(target.parent, moved, len(calls))]


# --------------------------------------------------------------------------- small files, trust, leavings, blame

#: Of `hostile.py`: what once took 1 to 4 GB, or had no end.
SMALL = {
    "xacro": ("range in a comprehension", "repeated texts added", "zip of ranges", "sum of lists", "equal lists",
              "texts of lists", "equal nested lists"),
    "gltf": ("an accessor without bytes", "a sparse accessor"),
    "usd": ("references that multiply", "references that multiply in a crate", "references that multiply in a package",
            "inherits that multiply", "instances that multiply", "sublayers that multiply"),
}  # fmt: skip


def small(_inputs: Path, tell: Tell) -> None:
    for kind, names in SMALL.items():
        makers = hostile.KINDS[kind]()
        for name in names:
            with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
                folder = Path(made)
                path = makers[name](folder)
                for arguments, out in hostile.commands(path, folder, [".blend"]):
                    found = hostile.run(arguments, folder)
                    detail = f"{name}: status {found.status}, {found.seconds:.0f} s, {found.memory >> 20} MB"
                    tell("small", f"{kind} {arguments[0]}", hostile.judged(found, arguments, out), detail)


def trust(inputs: Path, tell: Tell) -> None:
    """A file of jobs runs no program of its choice, and a glTF brings no file of the machine along."""
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
        folder = Path(made)
        marker, program, secret = folder / "ran", folder / "program", folder / "secret.png"
        program.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
        program.chmod(0o755)
        secret.write_bytes(hostile.png(8, 8))
        job = {"op": "simulate", "in": str(inputs / "stage.usda"), "out": str(folder / "motion.usdc")}
        for name in ("engine-python", "engine_python", "--engine-python", "Engine-Python"):
            options = {"seconds": 0.1, "engine": "newton", name: str(program)}
            (folder / "jobs.jsonl").write_text(json.dumps({**job, "options": options}))
            found = hostile.run(["batch", str(folder / "jobs.jsonl"), "--workers", "1"], folder)
            outcome = "ran" if marker.exists() else "fault" if found.status == 3 else ""
            tell("trust", f"option {name}", outcome, f"status {found.status}")
        below, made_file = folder / "below", folder / "below" / "made.usdz"
        below.mkdir()
        shutil.copy(secret, below / "own.png")
        # The first one is beside the glTF file, and shows that an image which is taken is seen.
        for uri in ("own.png", "../secret.png", str(secret), f"file://{secret}", "%2e%2e/secret.png"):
            document = hostile.gltf_scene(
                images=[{"uri": uri}], textures=[{"source": 0}],
                materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
            )  # fmt: skip
            (below / "s.gltf").write_text(json.dumps(document))
            (below / "t.bin").write_bytes(hostile.TRIANGLE)
            made_file.unlink(missing_ok=True)
            found = hostile.run(["convert", str(below / "s.gltf"), str(made_file)], folder)
            is_taken, is_own = made_file.exists() and secret.read_bytes() in made_file.read_bytes(), uri == "own.png"
            wrong = "lost" if is_own and not is_taken else "ran" if is_taken and not is_own else ""
            tell("trust", f"image {uri[:3]}", wrong or ("fault" if found.status == 3 else ""), f"status {found.status}")


def leavings(inputs: Path, tell: Tell) -> None:
    """What killed runs have left: each file is (name, age in seconds, whether it is to be gone after a run)."""
    from usdphys_addon.batch import worker
    from usdphys_addon.system import files

    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made, tempfile.TemporaryDirectory() as system:
        folder, out = Path(made), Path(made, "out.usda")
        own = prefix_of(out).name
        beside = (
            (f"{own}abc.usda", 2 * files.ABANDONED, True), (f"{own}abd.usda", 60.0, False),
            (".usdphys-other-01234567-abc.usdc", 2 * files.FORGOTTEN, True),
            (".usdphys-other-01234567-abd.usdc", 2 * files.ABANDONED, False),
            ("usdphys-other.usdc", 2 * files.FORGOTTEN, False),
        )  # fmt: skip
        for command in (["convert", str(inputs / "scene.blend"), str(out)], ["batch", str(folder / "jobs.jsonl")]):
            (folder / "jobs.jsonl").write_text(
                json.dumps({"op": "convert", "in": str(inputs / "scene.blend"), "out": str(out)})
            )
            for name, age, _ in beside:
                (folder / name).write_text("x")
                os.utime(folder / name, (time.time() - age,) * 2)
            child = Path(system, f"{worker.FOLDER}dead")
            child.mkdir(exist_ok=True)
            (child / "log.txt").write_text("x")
            os.utime(child, (time.time() - 2 * files.FORGOTTEN,) * 2)
            environment = {**os.environ, "TMPDIR": system}
            subprocess.run([*hostile.program(), *command], capture_output=True, check=False, env=environment)
            for name, age, is_gone in beside:
                kept = (folder / name).exists()
                tell("leavings", command[0], "left" if kept and is_gone else "lost" if not kept and not is_gone else "",
                     f"{name} of {age:.0f} s")  # fmt: skip
            tell("leavings", command[0], "left" if command[0] == "batch" and child.exists() else "", child.name)


def prefix_of(target: Path) -> Path:
    """Beginning of the paths of the temporary files of a target, as a run makes them."""
    from usdphys_addon.system import files

    with files.scratch_file(target) as scratch:
        return scratch.with_name(scratch.name[: scratch.name.rindex("-") + 1])


TWO_KINDS = """#usda 1.0
(
    subLayers = [@below.usda@]
)
over "World"
{
    rel physics:mass = </World>
}
"""
BELOW = """#usda 1.0
(
    defaultPrim = "World"
)
def Xform "World" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
    KIND physics:mass = VALUE
}
"""
SCALED = """
import sys
sys.path.insert(0, sys.argv[1])
import bpy, os
from usdphys_addon.bridge import props
props.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[2] + "/joined.blend")
above = bpy.data.objects.new("Above", None)
bpy.context.collection.objects.link(above)
above.scale = eval(sys.argv[4])
for name in ("Ball", "Crate", "Hinge"):
    bpy.data.objects[name].parent = above
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[3])
os._exit(0)
"""


def blame(inputs: Path, tell: Tell) -> None:
    """What a file, the arguments or the machine do wrong."""
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
        folder = Path(made)

        def judge(name: str, *arguments: str, **environment: str) -> None:
            done = subprocess.run(
                [*hostile.program(), *arguments], capture_output=True, check=False, env={**os.environ, **environment}
            )
            tell("blame", name, "fault" if done.returncode not in (0, 1, 2) else "", f"status {done.returncode}")

        stage, out = folder / "stage.usda", str(folder / "out.usda")
        for kind, value in (("float", "1"), ("double", "1"), ("int", "1"), ("string", '"1"'), ("float[]", "[1]"),
                            ("matrix4d", "((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))"), ("t", "1"), ("token", '"a"'),
                            ("asset", "@a.usda@"), ("bool", "true")):  # fmt: skip
            (folder / "below.usda").write_text(BELOW.replace("KIND", kind).replace("VALUE", value))
            for form, content in (("two kinds", TWO_KINDS), ("a type", (folder / "below.usda").read_text())):
                stage.write_text(content)
                blend = folder / "made.blend"
                judge(f"{form} {kind} to .blend", "convert", str(stage), str(blend))
                if blend.exists():
                    for flags in ((), ("--flatten",), ("--runtimes",), ("--composed",), ("--physics-layer",),
                                  ("--meters-per-unit", "0.01")):  # fmt: skip
                        judge(f"{form} {kind} {' '.join(flags)}", "convert", str(blend), out, *flags)
                    blend.unlink()
        for scale in ("(0, 0, 0)", "(1, 0, 1)", "(1e-38, 1, 1)", "(-1, 1, 0)"):
            scaled = folder / "scaled.blend"
            subprocess.run([sys.executable, "-c", SCALED, str(ROOT), str(inputs), str(scaled), scale], check=True,
                           capture_output=True)  # fmt: skip
            for suffix in (".glb", ".gltf", ".usda", ".usdz", ".urdf"):
                judge(f"scale {scale} to {suffix}", "convert", str(scaled), str(folder / f"scaled{suffix}"))
            judge(f"scale {scale} simulated", "simulate", str(scaled), "--seconds", "0.1", "--out", out)
        for option in ("--meters-per-unit", "--kilograms-per-unit"):
            for value in ("1e-300", "1e300", "1e-12", "1e12", "5e-324", "nan"):
                for target in (out, str(folder / "out.glb"), str(folder / "out.usdz")):
                    judge(f"{option} {value}", "convert", str(inputs / "edited.blend"), target, option, value)
        # Another Python has no bpy, and none of its modules.
        nothing = folder / "nothing"
        nothing.mkdir()
        (nothing / "bpy.py").write_text("raise ImportError('No module named bpy')\n")
        for command in (("convert", str(inputs / "scene.blend"), out), ("validate", str(inputs / "scene.blend")),
                        ("inspect", str(inputs / "stage.usda"))):  # fmt: skip
            judge(f"{command[0]} without bpy", *command, PYTHONPATH=str(nothing))
        for name, target in (("no temporary folder", {"TMPDIR": "/dev/null", "TEMP": "/dev/null", "TMP": "/dev/null"}),
                             ("no home", {"HOME": str(folder / "nowhere")})):  # fmt: skip
            judge(name, "convert", str(inputs / "scene.blend"), str(folder / "out.usdz"), **target)


# --------------------------------------------------------------------------- other file systems, stopped children


@contextmanager
def under(rule: str, **more: Any) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with a rule of `file_rules.py`, and the environment of commands that are to feel it."""
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
        folder, start = Path(made, "folder"), Path(made, "start")
        folder.mkdir()
        start.mkdir()
        shutil.copy(ROOT / "scripts" / "file_rules.py", start / "sitecustomize.py")
        rules = json.dumps({"root": str(folder), "rule": rule, **more})
        yield folder, {**os.environ, "FILE_RULES": rules, "PYTHONPATH": str(start)}


def judge_run(name: str, done: subprocess.CompletedProcess[bytes], target: Path) -> tuple[str, str]:
    """(one of BAD or "", detail) of a run into a file that held OLD, or nothing."""
    said = (done.stderr + done.stdout).decode(errors="replace")
    there = target.exists() and not is_old(target)
    outcome = (
        "fault" if done.returncode not in (0, 1, 2) or "Traceback (most recent" in said
        else "lie" if done.returncode == 0 and name != "batch" and not there
        else "silent" if done.returncode and name != "batch" and "error: " not in said else ""
    )  # fmt: skip
    return outcome, f"status {done.returncode}: {' '.join(said.split())[-200:]}" if outcome else ""


def windows(inputs: Path, tell: Tell) -> None:
    for name, (_, suffix) in COMMANDS.items():
        with under("windows") as (folder, environment):
            for turn in ("first", "second"):
                done = run(name, inputs, folder / f"out{suffix}", env=environment)
                outcome, detail = judge_run(name, done, folder / f"out{suffix}")
                wrong = outcome or ("lost" if done.returncode else "")
                tell("windows", f"{name} {turn}", wrong, detail or done.stderr.decode(errors="replace")[-300:])
    for fixed in ("broken.usda", "broken.usdc"):
        with under("windows") as (folder, environment):
            line = [*hostile.program(), "convert", str(inputs / "scene.blend"), str(folder / fixed)]
            subprocess.run(line, check=True, capture_output=True)
            subprocess.run([sys.executable, "-c", SPOIL, str(folder / fixed)], check=True, capture_output=True)
            done = subprocess.run([*hostile.program(), "validate", "--fix", str(folder / fixed)], capture_output=True,
                                  check=False, env=environment)  # fmt: skip
            said = (done.stdout + done.stderr).decode(errors="replace")
            tell("windows", f"--fix {fixed}", "" if "fixed" in said and done.returncode == 0 else "lost", said[-300:])


#: A negative mass, which has a safe fix.
SPOIL = """
import os, sys
import bpy
bpy.utils.expose_bundled_modules()
from pxr import Usd, UsdPhysics
stage = Usd.Stage.Open(sys.argv[1])
body = next(prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI))
UsdPhysics.MassAPI.Apply(body).CreateMassAttr(-1.0)
stage.Save()
os._exit(0)
"""


def stale(inputs: Path, tell: Tell) -> None:
    for name, (_, suffix) in COMMANDS.items():
        for after in (0, 1, 2, 4, 8, 16):
            with under("stale", after=after) as (folder, environment):
                target = folder / f"out{suffix}"
                target.write_bytes(OLD_GLTF if suffix == ".gltf" else OLD)
                outcome, detail = judge_run(name, run(name, inputs, target, env=environment), target)
                tell("stale", f"{name} after {after}", outcome or ("" if target.exists() else "lost"), detail)


def slow(inputs: Path, tell: Tell) -> None:
    for name, (_, suffix) in COMMANDS.items():
        with under("slow", seconds=0.05) as (folder, environment):
            done = run(name, inputs, folder / f"out{suffix}", env=environment)
            outcome, detail = judge_run(name, done, folder / f"out{suffix}")
            tell("slow", name, outcome or ("lost" if done.returncode else ""), detail)


def stopped(inputs: Path, tell: Tell) -> None:
    """A stopped child is ended by the limit of its time; its command says so, or has the job done by another one."""
    stage = str(inputs / "stage.usda")
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as made:
        jobs = Path(made, "jobs.jsonl")
        jobs.write_text(json.dumps({"op": "inspect", "in": stage}))
        lines = {
            "batch": ["batch", str(jobs), "--workers", "1", "--timeout", "8", "--retries", "0"],
            "isolate": ["inspect", stage, "--isolate"],
        }
        for name, line in lines.items():
            process = subprocess.Popen(
                [*hostile.program(), *line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env={**os.environ, "USDPHYS_SECONDS": "8"}, start_new_session=True,
            )  # fmt: skip
            children: list[int] = []
            for _ in range(1000):
                time.sleep(0.01)
                tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
                children = [int(one) for task in tasks for one in task.read_text().split()]
                # Before it has become another program, the one that starts it waits for that, without a limit.
                own = Path(f"/proc/{process.pid}/cmdline").read_bytes()
                is_started = all(Path(f"/proc/{child}/cmdline").read_bytes() != own for child in children)
                if (children and is_started) or process.poll() is not None:
                    break
            for child in children:
                os.kill(child, signal.SIGSTOP)
            try:
                said = process.communicate(timeout=400)[0].decode(errors="replace")
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said = process.communicate()[0].decode(errors="replace")
                tell("stopped", name, "time", said[-200:])
                continue
            left = [child for child in children if Path(f"/proc/{child}").exists()]
            outcome = "left" if left else "silent" if process.returncode not in (0, 1) or not said.strip() else ""
            tell("stopped", name, outcome, f"status {process.returncode}, {len(children)} children: {said[-200:]}")


#: Kinds that need no command of `COMMANDS`.
ALONE: dict[str, Callable[[Path, Tell], None]] = {
    "small": small, "trust": trust, "leavings": leavings, "blame": blame, "windows": windows, "stale": stale,
    "slow": slow, "stopped": stopped,
}  # fmt: skip

# --------------------------------------------------------------------------- the run


def make_inputs(inputs: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKE, str(ROOT), str(inputs)], check=True, capture_output=True)
    (inputs / "robot.urdf").write_text(ROBOT)
    (inputs / "engine").write_text(ENGINE)
    (inputs / "engine").chmod(0o755)


def whole_size(name: str, inputs: Path) -> int:
    """Bytes of all that a command writes without any fault; what it makes of the two scenes is kept for `SEVERAL`."""

    def made(place: Path, target: Path) -> int:
        done = run(name, place, target)
        if done.returncode:
            sys.exit(f"{name} fails without any fault: {done.stderr.decode()[-500:]}")
        return target.stat().st_size

    suffix = COMMANDS[name][1]
    if name not in SEVERAL:
        return made(inputs, inputs / f"whole_{name}{suffix}")
    old, new = inputs / f"old_{name}", inputs / f"new_{name}"
    old.mkdir()
    made(inputs / "other", old / f"out{suffix}")
    shutil.copytree(old, new)  # what is there already can decide about the names of new files
    made(inputs, new / f"out{suffix}")
    return sum(path.stat().st_size for path in new.rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=["full", "kill", "power", *ALONE, []], default=[])
    parser.add_argument("--moments", type=int, default=200, help="kills of each command")
    parser.add_argument("--pages", type=int, default=60, help="sizes of disks for each command")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a run is bad")
    parser.add_argument("--only", help="some of the commands", choices=list(COMMANDS), nargs="+")
    options = parser.parse_args()
    kinds = options.kinds or ["full", "kill", "power", *ALONE]
    sys.path.insert(0, str(ROOT))
    found: Counter[str] = Counter()

    def tell(kind: str, name: str, outcome: str, detail: str) -> None:
        found[kind] += 1
        found[outcome] += 1
        if outcome:
            print(f"{outcome} {kind} {name}: {detail}", flush=True)

    global server
    server = hostile.Server()
    with tempfile.TemporaryDirectory(prefix="usdphys-faults-") as folder:
        inputs = Path(folder)
        make_inputs(inputs)
        for kind in (kind for kind in ALONE if kind in kinds):
            ALONE[kind](inputs, tell)
            print(f"{kind} is done", file=sys.stderr, flush=True)
        for name in (options.only or COMMANDS) if set(kinds) - set(ALONE) else ():
            size = whole_size(name, inputs)
            if "full" in kinds:
                full(name, inputs, size, options.pages, tell)
                full_disk(name, inputs, size, options.pages, tell)
            if "kill" in kinds:
                kill(name, inputs, size, options.moments, tell)
            if "power" in kinds:
                power(name, inputs, tell)
            print(f"{name} is done", file=sys.stderr, flush=True)
    for figure in (*kinds, *BAD):
        print(f"{figure} {found[figure]} 1")
    return 1 if options.check and any(found[figure] for figure in BAD) else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # bpy may hang while Python ends
