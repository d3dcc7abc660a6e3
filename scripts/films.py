# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the short films of the manual: scenes built by the add-on's operators, simulated by its preview.

    .venv/bin/python scripts/films.py [NAME ...]

Needs the environment `docs`, which `make docs` makes. Each scene is baked by *Bake to Keyframes* and rendered by
Workbench without a window. `pictures.py` puts the frames together: docs/films/NAME.webp, which repeats, and
docs/stills/NAME.webp for readers who want no motion.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bench
import bpy
import demo_scene
import venvs
from mathutils import Vector

FILMS = bench.ROOT / "docs" / "films"
#: Pixels of a picture, and pictures a second.
SIZE, RATE = (640, 400), 20
#: Colours by how a name begins; what has none is grey.
COLORS = {
    "Ground": (0.62, 0.64, 0.66), "Post": (0.45, 0.34, 0.26), "Leaf": (0.80, 0.50, 0.22), "Ball": (0.16, 0.36, 0.66),
    "Chassis": (0.75, 0.16, 0.12), "Cab": (0.75, 0.16, 0.12), "Wheel": (0.10, 0.10, 0.11), "Bump": (0.85, 0.66, 0.20),
    "Bridge": (0.62, 0.42, 0.24), "Crate": (0.16, 0.50, 0.52), "Brick": (0.66, 0.28, 0.20), "Step": (0.50, 0.52, 0.55),
    "Landing": (0.50, 0.52, 0.55), "Base": (0.25, 0.27, 0.31), "Link": (0.90, 0.52, 0.10),
}  # fmt: skip
FLESH = (0.85, 0.60, 0.42)


@dataclass(frozen=True)
class Film:
    """build: fills the current scene. seconds: its length. eye, aim: of the camera, m. still: second of the still
    picture. follows: object with which the camera moves along."""

    build: Callable[[], None]
    seconds: float
    eye: tuple[float, float, float]
    aim: tuple[float, float, float]
    still: float
    follows: str = ""


# --------------------------------------------------------------------------- scenes


def press(operator: str, **options: Any) -> None:
    """As a click on the button does."""
    if getattr(bpy.ops.usdphys, operator)(**options) != {"FINISHED"}:
        raise SystemExit(f"usdphys.{operator} was cancelled")


def part(name: str, place: tuple[float, float, float], size: tuple[float, float, float]) -> Any:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=place)
    obj = bpy.context.object
    obj.name, obj.scale = name, size
    bpy.ops.object.transform_apply(location=False, rotation=False)
    return obj


def select(*objects: Any) -> None:
    """Select these alone; the last is active."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1]
    bpy.context.view_layer.update()


def sample(kind: str) -> Callable[[], None]:
    return lambda: press("sample_scene", kind=kind)


def door() -> None:
    """A ball opens a door, which closes itself."""
    press("add_physics", kind="GROUND")
    frame = part("Post", (-0.65, 0.0, 1.1), (0.14, 0.2, 2.2))
    part("Post Right", (0.65, 0.0, 1.1), (0.14, 0.2, 2.2))
    part("Post Top", (0.0, 0.0, 2.27), (1.44, 0.2, 0.14))
    leaf = part("Leaf", (0.0, 0.0, 1.08), (1.14, 0.06, 2.04))
    select(leaf, frame)
    press("joint_add", type="REVOLUTE")
    joint = bpy.context.object
    joint.usdphys.joint.revolute.lower_limit, joint.usdphys.joint.revolute.upper_limit = 0.0, 1.9
    leaf.usdphys.mass.is_applied, leaf.usdphys.mass.mass = True, 20.0
    press("joint_motor", holds=True, response=3.0)
    bpy.context.scene.cursor.location = (0.3, -1.6, 0.0)
    press("add_physics", kind="BALL")
    ball = bpy.context.object
    ball.usdphys.rigid_body.velocity = (0.0, 5.0, 0.0)
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 30.0


def car() -> None:
    """A vehicle drives over bumps; its wheels are on springs."""
    press("add_physics", kind="GROUND")
    chassis = part("Chassis", (-6.0, 0.0, 0.62), (2.3, 1.0, 0.36))
    cab = part("Cab", (-6.15, 0.0, 0.98), (1.1, 0.86, 0.4))
    wheels = []
    for x in (-6.78, -5.22):
        for y in (-0.62, 0.62):
            bpy.ops.mesh.primitive_cylinder_add(radius=0.35, depth=0.24, rotation=(math.pi / 2, 0, 0),
                                                location=(x, y, 0.35), vertices=40)  # fmt: skip
            bpy.context.object.name = "Wheel"
            wheels.append(bpy.context.object)
    select(*wheels, cab, chassis)
    press("vehicle")
    for number, x in enumerate((-3.4, -1.9, -0.4, 1.1, 2.6)):
        side = 0.62 if number % 2 else -0.62
        bump = part("Bump", (x, side, 0.0), (0.34, 0.5, 0.16))
        select(bump)
        press("make_static")


def arm() -> None:
    """The servos of an arm take it to their positions, and take up a crate that falls on it."""
    press("sample_scene", kind="ARM")
    hinges = [obj for obj in bpy.context.scene.objects if obj.usdphys.joint.type == "REVOLUTE"]
    for hinge, angle in zip(sorted(hinges, key=lambda obj: obj.location.x), (-0.75, 0.95, -0.2), strict=True):
        select(hinge)
        press("joint_motor", holds=True, angle=angle, response=0.8)
    crate = part("Crate", (2.36, 0.0, 6.5), (0.3, 0.3, 0.3))
    select(crate)
    press("make_dynamic")


def servo() -> None:
    """The targets of an arm's servos are keyed, and the arm follows them with a crate on its hand."""
    press("sample_scene", kind="ARM")
    scene: Any = bpy.context.scene
    scene.render.fps = RATE
    hinges = [obj for obj in scene.objects if obj.usdphys.joint.type == "REVOLUTE"]
    angles = ((0.0, 0.0, 0.0), (-0.9, 1.1, -0.5), (-0.2, -0.5, 0.9), (-0.7, 0.2, 0.6), (0.0, 0.0, 0.0))
    for number, hinge in enumerate(sorted(hinges, key=lambda obj: obj.location.x)):
        select(hinge)
        press("joint_motor", holds=True, angle=0.0, response=0.3)
        drive = hinge.usdphys.joint.drives.angular
        for key, angle in enumerate(angles):
            drive.target_position = angle[number]
            drive.keyframe_insert("target_position", frame=5 + 16 * key)


def throw() -> None:
    """Keyframes swing a ball, and let it go: it flies on as they threw it, and meets a pile of crates."""
    press("add_physics", kind="GROUND")
    scene: Any = bpy.context.scene
    scene.render.fps = RATE
    for row in range(4):
        for column in range(4 - row):
            crate = part("Crate", (1.3 + 0.46 * (column + 0.5 * row), 0.0, 0.2 + 0.41 * row), (0.4, 0.4, 0.4))
            select(crate)
            press("make_dynamic")
            crate.usdphys.mass.is_applied, crate.usdphys.mass.mass = True, 6.0
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.22)
    ball = bpy.context.object
    ball.name = "Ball"
    select(ball)
    press("make_dynamic")
    ball.usdphys.mass.is_applied, ball.usdphys.mass.mass = True, 60.0
    # Round a point above the ground, ever faster, and let go on the way up.
    last = 26
    for frame in range(1, last + 4):
        turn = 6.85 - 5.1 * ((frame - 1) / (last - 1)) ** 2
        ball.location = (-3.0 + 0.9 * math.cos(turn), 0.0, 1.4 + 0.9 * math.sin(turn))
        ball.keyframe_insert("location", frame=frame)
    body = ball.usdphys.rigid_body
    for frame, held in ((1, True), (last, False)):
        body.kinematic_enabled = held
        body.keyframe_insert("kinematic_enabled", frame=frame)
    scene.frame_set(1)


def aim() -> None:
    """A ball was aimed at a box: it flies over a wall and lands there."""
    press("add_physics", kind="GROUND")
    scene: Any = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = RATE, 1, 50
    walls = [part("Brick", (-0.4, 0.0, 0.7), (0.2, 2.0, 1.4))]
    for x, y, size in ((0.35, 0.0, (0.06, 0.76, 0.4)), (-0.35, 0.0, (0.06, 0.76, 0.4)), (0.0, 0.35, (0.76, 0.06, 0.4)),
                       (0.0, -0.35, (0.76, 0.06, 0.4))):  # fmt: skip
        walls.append(part("Bump", (1.6 + x, y, 0.2), size))
    select(*walls)
    press("make_static")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.16, location=(-3.0, 0.4, 0.4))
    ball = bpy.context.object
    ball.name = "Ball"
    bpy.ops.object.empty_add(location=(1.6, 0.0, 0.16))
    target = bpy.context.object
    select(ball)
    press("make_dynamic")
    ball.usdphys.rigid_body.velocity = (4.0, 0.0, 5.0)
    select(ball, target)
    press("aim", frame=36, tolerance=0.1, speed=4.0)


ALL = {
    "door": Film(door, 5.0, (2.6, -4.6, 2.5), (0.15, 0.0, 0.95), 1.4),
    "car": Film(car, 4.0, (-3.6, -5.2, 2.3), (-5.9, 0.0, 0.5), 1.6, "Chassis"),
    "bridge": Film(sample("BRIDGE"), 4.0, (3.4, -7.6, 3.4), (0.0, 0.0, 1.35), 1.5),
    "chimney": Film(sample("CHIMNEY"), 3.0, (5.6, -4.6, 2.6), (0.0, 0.2, 1.05), 0.8),
    "ragdoll": Film(sample("RAGDOLL"), 4.0, (4.4, -5.2, 3.0), (0.0, -0.5, 1.2), 1.2),
    "servo": Film(servo, 3.6, (1.5, -6.6, 2.4), (1.35, 0.0, 1.2), 1.2),
    "throw": Film(throw, 2.8, (-0.7, -8.6, 2.3), (-0.7, 0.0, 1.1), 1.95),
    "aim": Film(aim, 2.3, (0.4, -9.0, 3.2), (-0.6, 0.0, 1.75), 1.1),
    "arm": Film(arm, 2.6, (1.5, -6.2, 2.4), (1.35, 0.0, 1.15), 1.8),
}


# --------------------------------------------------------------------------- pictures


def paint(scene: Any) -> None:
    rig = any(obj.type == "ARMATURE" for obj in scene.objects)
    for obj in scene.objects:
        color = next((color for start, color in COLORS.items() if obj.name.startswith(start)), None)
        obj.color = (*(color or (FLESH if rig else (0.6, 0.6, 0.6))), 1.0)
        obj.hide_render = obj.type == "ARMATURE"


def set_up(scene: Any, film: Film) -> Any:
    """Camera, light and size of the pictures. Returns the camera."""
    demo_scene.set_up_picture(*SIZE)
    camera = scene.camera
    camera.location, camera.data.lens = film.eye, 36.0
    camera.rotation_euler = (Vector(film.aim) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.display.shading.color_type, scene.display.render_aa = "OBJECT", "8"
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.46, 0.57, 0.66)
    scene.view_settings.exposure = -0.1
    return camera


def shoot(film: Film, folder: Path) -> int:
    """Build, bake and render a film: 0000.png and so on in a folder. Returns the number of the still picture."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bench.load_extension().register()
    film.build()
    scene: Any = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = RATE, 1, round(film.seconds * RATE)
    press("preview_bake")
    paint(scene)
    camera = set_up(scene, film)
    scene.frame_set(1)
    followed = bpy.data.objects.get(film.follows)
    start = followed.matrix_world.translation.x if followed else 0.0
    for frame in range(1, scene.frame_end + 1):
        scene.frame_set(frame)
        if followed:
            camera.location.x = film.eye[0] + followed.matrix_world.translation.x - start
        scene.render.filepath = str(folder / f"{frame - 1:04}.png")
        bpy.ops.render.render(write_still=True)
    return round(film.still * RATE)


def main(names: list[str]) -> None:
    """Make the films of these names, or all; each in a process of its own, because Blender starts anew for it."""
    unknown = set(names) - ALL.keys()
    if unknown:
        sys.exit(f"There is no film {', '.join(sorted(unknown))}; choose from {', '.join(ALL)}.")
    if len(names) != 1:
        for name in names or ALL:
            subprocess.run([sys.executable, __file__, name], check=True)
        return
    (name,) = names
    with tempfile.TemporaryDirectory() as folder:
        still = shoot(ALL[name], Path(folder))
        python, maker = venvs.folder("docs") / "bin" / "python", Path(__file__).with_name("pictures.py")
        command = [python, maker, "film", folder, FILMS / f"{name}.webp", str(RATE), str(still)]
        subprocess.run(list(map(str, command)), check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
