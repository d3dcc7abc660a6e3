"""Every option of the command line has its effect; run in this process, where it is quick."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdPhysics
from usdphys_ext.usdphys_addon import cli
from usdphys_ext.usdphys_addon.bridge import props

from . import scenes


def saved(path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def run(*arguments: Any) -> int:
    return cli.main([str(argument) for argument in arguments])


def opened(path: Path) -> Usd.Stage:
    return Usd.Stage.Open(str(path))


def keyed(obj: Any, *places: tuple[int, float]) -> Any:
    """Keys of the place along X, with even speed between them."""
    for frame, place in places:
        obj.location.x = place
        obj.keyframe_insert("location", frame=frame)
    action = obj.animation_data.action
    for curve in action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return obj


@pytest.fixture
def nested(tmp_path):
    """A body below a body."""
    parent = scenes.solid("Parent")
    scenes.solid("Child", parent=parent, location=(3, 0, 0))
    for obj in bpy.data.objects:
        obj.usdphys.colliders[0].approximation = "convexHull"
    return saved(tmp_path / "nested.blend")


# --------------------------------------------------------------------------- convert


@pytest.mark.parametrize(
    ("flags", "has_physx"), [((), False), (("--physx-attributes",), True), (("--physx-words",), True)]
)
def test_settings_of_newton_are_written_for_physx_too(tmp_path, flags, has_physx):
    """The option has two names, of which the help shows one."""
    source, target = tmp_path / "hinge.usda", tmp_path / "out.usda"
    source.write_text(
        '#usda 1.0\n(metersPerUnit = 1\nupAxis = "Z")\ndef PhysicsRevoluteJoint "Hinge" '
        '(prepend apiSchemas = ["NewtonJointAPI"]) {\n    float newton:friction = 3\n}\n'
    )
    assert run("convert", source, target, *flags) == 0
    stage = opened(target)
    names = [str(name) for name in stage.GetPrimAtPath("/Hinge").GetAuthoredPropertyNames()]
    assert "newton:friction" in names
    assert any(name.startswith("physx") for name in names) == has_physx


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [((), ["/root/Parent", "/root/Parent/Child"]), (("--hierarchy", "flat"), ["/root/Parent", "/root/Child"])],
)
def test_nested_bodies_become_what_is_asked_for(tmp_path, nested, chosen, expected):
    assert run("convert", nested, tmp_path / "out.usda", *chosen) == 0
    stage = opened(tmp_path / "out.usda")
    assert [str(prim.GetPath()) for prim in scenes.bodies_of(stage)] == expected


def converted(source: Path, target: Path, capfd: Any) -> tuple[list[str], list[str]]:
    """Lines on stdout and on stderr, as of a process of its own: Blender's lines take the way of all others."""
    capfd.readouterr()
    with open(1, "w", closefd=False) as stream, redirect_stdout(stream):
        assert run("convert", source, target) == 0
    printed, warned = capfd.readouterr()
    return printed.splitlines(), warned.splitlines()


@pytest.mark.slow
def test_each_format_ends_with_one_line_that_names_the_file_and_counts(tmp_path, nested, capfd):
    """Blender's own lines name a temporary file, which is not there any more."""
    source = nested
    for suffix in (".usda", ".blend", ".glb", ".blend", ".usdc"):
        target = tmp_path / f"from{source.suffix[1:]}{suffix}"
        (line,), warned = converted(source, target, capfd)
        assert line.startswith(f"{target}: ") and "2 bodies" in line and "2 colliders" in line
        assert not [line for line in warned if target.stem in line and ".usdphys-" in line]
        source = target


def test_a_blend_without_physics_is_said_to_have_none(tmp_path, capfd):
    (tmp_path / "bare.usda").write_text('#usda 1.0\ndef Cube "Cube" {}\n')
    printed, _ = converted(tmp_path / "bare.usda", tmp_path / "bare.blend", capfd)
    assert printed == [f"{tmp_path / 'bare.blend'}: no physics"]


def test_the_scene_says_what_becomes_of_nested_bodies_where_nobody_else_does(tmp_path, nested):
    bpy.context.scene.usdphys.stage.hierarchy = "FLAT"
    saved(nested)
    run("convert", nested, tmp_path / "out.usda")
    stage = opened(tmp_path / "out.usda")
    assert [str(prim.GetPath()) for prim in scenes.bodies_of(stage)] == ["/root/Parent", "/root/Child"]
    run("convert", nested, tmp_path / "again.usda", "--hierarchy", "nested")
    stage = opened(tmp_path / "again.usda")
    assert [str(prim.GetPath()) for prim in scenes.bodies_of(stage)] == ["/root/Parent", "/root/Parent/Child"]


def test_units_that_are_typed_count_more_than_those_of_the_scene(tmp_path):
    scenes.solid("Crate", location=(0, 0, 3))
    scenes.assign(bpy.context.scene.usdphys.stage, meters_per_unit=0.5, kilograms_per_unit=2.0, up_axis="Z")
    blend, out = saved(tmp_path / "crate.blend"), tmp_path / "out.usda"
    assert run("convert", blend, out, "--kilograms-per-unit", 0.001, "--up-axis", "Y") == 0
    stage = opened(out)
    found = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
    assert (*found, UsdGeom.GetStageUpAxis(stage)) == (0.5, 0.001, "Y")
    (body,) = scenes.bodies_of(stage)
    assert scenes.world_pose(body)[:3, 3] == pytest.approx((0, 6, 0), abs=1e-5)


def test_animation_is_written_only_where_it_is_asked_for(tmp_path):
    door = keyed(scenes.solid("Door"), (1, 0.0), (25, 1.0))
    door.usdphys.rigid_body.kinematic_enabled = True
    blend = saved(tmp_path / "door.blend")
    for option, is_animated in (((), False), (("--animation",), True)):
        out = tmp_path / f"{is_animated}.usda"
        assert run("convert", blend, out, *option) == 0
        stage = opened(out)
        (body,) = scenes.bodies_of(stage)
        assert UsdGeom.Xformable(body).TransformMightBeTimeVarying() == is_animated


def test_a_file_with_errors_is_refused_only_by_strict(tmp_path, capfd):
    crate = scenes.solid("Crate")
    scenes.assign(crate.usdphys.mass, is_applied=True, mass=-1.0)
    blend, out = saved(tmp_path / "crate.blend"), tmp_path / "out.usda"
    assert run("convert", blend, out, "--strict") == 1
    assert not out.exists()
    assert capfd.readouterr().err.count("usdphys: error: ") == 1
    assert run("convert", blend, out) == 0
    assert out.exists()


PARTS = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "World"
{
    def Cube "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 1
    }
    def Cube "Wall" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        double3 xformOp:translate = (3, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""


@pytest.fixture
def parts(tmp_path):
    file = tmp_path / "parts.usda"
    file.write_text(PARTS)
    return file


def test_a_usd_file_becomes_a_blend_with_its_physics(tmp_path, parts):
    assert run("convert", parts, tmp_path / "out.blend") == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    assert bpy.data.objects["Crate"].usdphys.rigid_body.is_applied
    assert len(bpy.data.objects["Wall"].usdphys.colliders) == 1


def test_a_prim_of_a_usd_file_is_read_alone(tmp_path, parts):
    assert run("convert", parts, tmp_path / "out.usda", "--prim", "/World/Wall") == 0
    stage = opened(tmp_path / "out.usda")
    assert stage.GetPrimAtPath("/World/Wall").HasAPI(UsdPhysics.CollisionAPI)
    assert not stage.GetPrimAtPath("/World/Crate").IsValid()


def test_options_of_one_format_are_refused_for_others(tmp_path, nested, capfd):
    for option in (("--prim", "/World"), ("--variant", "/World{a=b}"), ("--onto", nested)):
        assert run("convert", nested, tmp_path / "out.usda", *option) == 2
        assert not (tmp_path / "out.usda").exists()
    assert run("convert", nested, tmp_path / "other.blend") == 1
    assert run("convert", nested, tmp_path / "out.usda", "--base", "fixed") == 2
    assert "--base is for URDF files, xacro files or SDF files." in capfd.readouterr().err


@pytest.mark.parametrize(("option", "is_copy"), [("--physics-layer", False), ("--merge", True)])
def test_edits_since_the_import_become_a_layer_or_a_copy(tmp_path, parts, option, is_copy):
    run("convert", parts, tmp_path / "parts.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "parts.blend"))
    bpy.data.objects["Crate"].usdphys.rigid_body.kinematic_enabled = True
    blend = saved(tmp_path / "edited.blend")
    assert run("convert", blend, tmp_path / "out.usda", option) == 0
    text = (tmp_path / "out.usda").read_text()
    assert "physics:kinematicEnabled = 1" in text
    assert ("double size = 1" in text, "subLayers" in text) == (is_copy, not is_copy)


# --------------------------------------------------------------------------- validate


def test_errors_make_the_exit_status_and_warnings_do_not(tmp_path, capfd):
    crate = scenes.solid("Crate")
    blend = saved(tmp_path / "crate.blend")
    assert run("validate", blend) == 0
    # A triangle mesh that moves is legal, and no solver likes it.
    assert "0 errors, 1 warning, " in capfd.readouterr().out
    assert run("validate", blend, "--target", "physx") == 1
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    crate = bpy.data.objects["Crate"]
    scenes.assign(crate.usdphys.mass, is_applied=True, mass=-1.0)
    assert run("validate", saved(blend)) == 1


def test_properties_stay_registered_for_who_had_them(tmp_path, nested):
    run("validate", nested)
    assert props.is_registered()


def test_properties_go_with_a_command_that_has_brought_them(tmp_path, nested, extension):
    extension.unregister()
    try:
        assert not props.is_registered()
        assert run("validate", nested) == 0
        assert not props.is_registered()
    finally:
        extension.register()


# --------------------------------------------------------------------------- simulate


def poses_of(path: Path, *arguments: Any, seconds: float = 0.5) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(the table, places of the bodies by name) of a simulation."""
    target = path.with_suffix(".json")
    assert run("simulate", path, "--seconds", seconds, "--json", target, *arguments) == 0
    table = json.loads(target.read_text())
    return table, {name.rpartition("/")[2]: np.array(body["translation"]) for name, body in table["bodies"].items()}


@pytest.fixture
def falling(tmp_path):
    scenes.solid("Crate", location=(0, 0, 5)).usdphys.colliders[0].approximation = "convexHull"
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 50, 2.0
    return saved(tmp_path / "crate.blend")


@pytest.mark.slow
def test_frames_are_those_of_the_scene_unless_others_are_asked_for(falling):
    table, places = poses_of(falling)
    assert (table["fps"], table["frames"]) == (pytest.approx(25.0), 13)
    table, more = poses_of(falling, "--fps", 100)
    assert (table["fps"], table["frames"]) == (pytest.approx(100.0), 51)
    for found in (places["Crate"][-1], more["Crate"][-1]):
        assert 5.0 - found[2] == pytest.approx(9.81 / 2 * 0.5**2, rel=0.1)


def test_more_substeps_are_more_exact(falling):
    """A free fall by steps is too long by half a step of it: the error is as large as a step is long."""
    exact, errors = 9.81 / 2 * 0.5**2, []
    for substeps in (1, 16):
        _, places = poses_of(falling, "--fps", 10, "--substeps", substeps)
        errors.append(abs(5.0 - places["Crate"][-1][2] - exact))
    assert errors[0] > 3.9 * errors[1]


def kinematic_scene(path: Path, scale_length: float = 1.0) -> Path:
    """A pusher that is keyed to go a metre in a second, and a crate out of its way."""
    scene = bpy.context.scene
    scene.render.fps, scene.unit_settings.scale_length, scene.use_gravity = 20, scale_length, False
    for name, place in (("Pusher", 0.0), ("Crate", 50.0)):
        obj = scenes.solid(name, location=(0, place, 0))
        obj.usdphys.colliders[0].approximation = "convexHull"
    pusher = keyed(bpy.data.objects["Pusher"], (1, 0.0), (21, 1.0 / scale_length))
    pusher.usdphys.rigid_body.kinematic_enabled = True
    scene.frame_set(1)
    return saved(path)


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
@pytest.mark.parametrize("fps", [20, 40])
def test_what_is_keyed_goes_its_way_at_any_frame_rate_and_in_any_unit(tmp_path, scale_length, fps):
    blend = kinematic_scene(tmp_path / "pusher.blend", scale_length)
    _, places = poses_of(blend, "--fps", fps, seconds=1.0)
    way = places["Pusher"][:, 0]
    assert way == pytest.approx(np.linspace(0.0, 1.0, fps + 1), abs=1e-4)


@pytest.mark.parametrize("with_layer", [False, True])
def test_a_simulation_starts_at_the_first_frame_whatever_frame_was_saved(tmp_path, with_layer):
    blend = kinematic_scene(tmp_path / "pusher.blend")
    bpy.context.scene.frame_set(11)
    saved(blend)
    more = ("--out", tmp_path / "motion.usda") if with_layer else ()
    _, places = poses_of(blend, *more, seconds=0.5)
    assert places["Pusher"][:, 0] == pytest.approx(np.linspace(0.0, 0.5, 11), abs=1e-4)


def test_poses_have_the_units_of_the_stage_with_a_layer_and_without(tmp_path):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.1
    scene.usdphys.stage.meters_per_unit, scene.usdphys.stage.up_axis = 0.01, "Y"
    blend = kinematic_scene(tmp_path / "pusher.blend", 0.1)
    found = [poses_of(blend, *more)[1] for more in ((), ("--out", tmp_path / "motion.usda"))]
    for places in found:
        # 50 Blender units of 0.1 m along Y are 500 cm along -Z of a stage with Y up.
        assert places["Crate"][0] == pytest.approx((0, 0, -500), abs=1e-3)
        # Half a metre to the right.
        assert places["Pusher"][-1] - places["Pusher"][0] == pytest.approx((50, 0, 0), abs=1e-3)


def test_a_layer_of_motion_holds_what_the_solver_moves_and_nothing_that_is_keyed(tmp_path):
    blend = kinematic_scene(tmp_path / "pusher.blend")
    stage, out = tmp_path / "pusher.usda", tmp_path / "motion.usda"
    assert run("convert", blend, stage, "--animation") == 0
    assert run("simulate", stage, "--seconds", 0.5, "--out", out) == 0
    text = out.read_text()
    assert "Crate" in text
    assert "Pusher" not in text


def test_the_motion_of_a_blend_covers_the_time_that_is_asked_for(tmp_path):
    blend = kinematic_scene(tmp_path / "pusher.blend")
    out = tmp_path / "motion.usda"
    assert run("simulate", blend, "--seconds", 1.0, "--out", out) == 0
    stage = opened(out)
    pusher = next(prim for prim in scenes.bodies_of(stage) if prim.GetName() == "Pusher")
    for frame in (1, 11, 21):
        assert scenes.world_pose(pusher, frame)[0, 3] == pytest.approx((frame - 1) / 20, abs=1e-4)


def test_a_motion_is_never_written_over_its_own_input(tmp_path, parts):
    before = parts.read_bytes()
    assert run("simulate", parts, "--seconds", 0.1, "--out", parts) == 1
    assert run("simulate", parts, "--seconds", 0.1, "--out", tmp_path / "motion.usdz") == 1
    assert parts.read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [("--hierarchy", "flat"), ("--up-axis", "Y"), ("--meters-per-unit", "1"), ("--strict",), ("--physics-layer",),
     ("--physics-only",), ("--animation",)],
)  # fmt: skip
def test_options_without_effect_on_a_blend_are_wrong_arguments(tmp_path, parts, options, capfd):
    assert run("convert", parts, tmp_path / "out.blend", *options) == 2
    assert options[0] in capfd.readouterr().err
    assert not (tmp_path / "out.blend").exists()


def test_forms_exclude_each_other(tmp_path, nested):
    for options in (("--merge", "--physics-layer"), ("--flatten", "--composed"), ("--composed", "--physics-only")):
        assert run("convert", nested, tmp_path / "out.usda", *options) == 2
    assert not (tmp_path / "out.usda").exists()


@pytest.mark.parametrize(
    ("name", "options", "names"),
    [("out.usda", ("--physics-layer", "--layers"), ("--physics-layer", "--layers")),
     ("out.usda", ("--physics-layer", "--runtimes"), ("--physics-layer", "--runtimes")),
     ("out.usda", ("--physics-only", "--runtimes"), ("--physics-only", "--runtimes")),
     ("out.usda", ("--layers", "--runtimes"), ("--layers", "--runtimes")),
     ("out.usda", ("--instanceable",), ("--instanceable", "--layers")),
     ("out.usdz", ("--physics-layer",), ("--physics-layer", ".usdz")),
     ("out.usdz", ("--layers",), ("--layers", ".usdz")),
     ("out.USDZ", ("--runtimes",), ("--runtimes", ".usdz"))],
)  # fmt: skip
def test_options_that_contradict_each_other_or_the_output_are_wrong_arguments(tmp_path, name, options, names, capfd):
    """No file is opened to find that out: there is none."""
    (tmp_path / "in.blend").write_bytes(b"not looked at")
    assert run("convert", tmp_path / "in.blend", tmp_path / name, *options) == 2
    said = [line for line in capfd.readouterr().err.splitlines() if "error: " in line]
    assert len(said) == 1 and all(each in said[0] for each in names), said
    assert not (tmp_path / name).exists()


def test_an_output_is_no_input_and_no_other_kind_of_file(tmp_path, parts):
    before = parts.read_bytes()
    poses, layer = tmp_path / "poses.json", tmp_path / "baked.usda"
    for options in (("--json", parts), ("--out", parts), ("--json", tmp_path / "poses.usda"),
                    ("--json", tmp_path / "poses.blend"), ("--json", poses, "--out", poses)):  # fmt: skip
        assert run("simulate", parts, "--seconds", "0.1", *options) in (1, 2)
    assert run("convert", parts, parts) == 1
    poses.write_text("{}")
    poses.chmod(0o444)
    assert run("simulate", parts, "--seconds", "0.1", "--out", layer, "--json", poses) == 1
    assert not layer.exists(), "refused before anything is written"
    assert parts.read_bytes() == before and poses.read_text() == "{}"


def test_a_package_whose_name_usd_does_not_take_says_so(tmp_path, nested, capfd):
    assert run("convert", nested, tmp_path / "a\tb.usdz") == 1
    assert "a\\tb.usdz' has a control character in its name" in capfd.readouterr().err
    assert run("convert", nested, tmp_path / "a\tb.usda") == 0


MOVING = """#usda 1.0
(
    endTimeCode = 10
    startTimeCode = 1
)
def Mesh "Sail"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 9: [(0, 0, 5), (1, 0, 5), (0, 1, 5)] }
}
"""


def test_a_cache_that_a_blend_reads_is_no_output(tmp_path, capfd):
    """A frame of it would replace all others."""
    cache = tmp_path / "sail.usda"
    cache.write_text(MOVING)
    bpy.ops.wm.usd_import(filepath=str(cache))
    assert [each.filepath for each in bpy.data.cache_files]
    blend = saved(tmp_path / "scene.blend")
    assert run("convert", blend, cache) == 1
    assert "sail.usda' is read by the scene" in capfd.readouterr().err
    assert run("simulate", blend, "--seconds", 0.1, "--out", cache) == 1
    assert cache.read_text() == MOVING
    assert run("convert", blend, tmp_path / "other.usda") == 0


def test_a_library_that_a_blend_links_is_no_output(tmp_path, parts, capfd):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scenes.solid("Crate")
    library = saved(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (there, here):
        here.objects = there.objects
    bpy.context.collection.objects.link(bpy.data.objects["Crate"])
    scene, before = saved(tmp_path / "scene.blend"), library.read_bytes()
    assert run("convert", parts, library, "--onto", scene) == 1
    assert "library.blend' is read by the scene" in capfd.readouterr().err
    assert library.read_bytes() == before


def test_progress_that_nobody_can_read_is_no_fault(tmp_path, parts, monkeypatch):
    """An import that takes a second prints its steps to stderr, which can be full."""
    from usdphys_ext.usdphys_addon.core import clock

    times = iter(range(0, 10_000, 10))
    monkeypatch.setattr(clock, "now", lambda: float(next(times)))

    class Full:
        encoding, closed = "utf-8", False

        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None: ...

    monkeypatch.setattr("sys.stderr", Full())
    monkeypatch.setattr("usdphys_ext.usdphys_addon.system.console.silence", lambda number: None)
    assert run("convert", parts, tmp_path / "out.blend") == 0


def test_two_scenes_are_compared_with_the_shapes_of_their_meshes(tmp_path, nested, capfd):
    """Blender frees the first one when it opens the second one."""
    assert run("diff", nested, nested) == 0
    bpy.ops.wm.open_mainfile(filepath=str(nested))
    bpy.data.objects["Child"].data.vertices[0].co.x -= 1.0
    other = saved(tmp_path / "other.blend")
    capfd.readouterr()
    assert run("diff", nested, other) == run("diff", other, nested) == 1
    said = capfd.readouterr().out
    assert said.count("/Child' has other points or faces.") == 2
    assert "/Parent'" not in said
