# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated attributes of simulators: a belt whose speed is keyed or driven, simulated, baked and in files."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from pxr import Usd
from usdphys_ext.operators import translations
from usdphys_ext.usdphys_addon import stage_motion
from usdphys_ext.usdphys_addon.authoring import vendor_edits
from usdphys_ext.usdphys_addon.bridge import animated, vendor_rows
from usdphys_ext.usdphys_addon.core import vendor_schemas
from usdphys_ext.usdphys_addon.core.words import in_language
from usdphys_ext.usdphys_addon.exchange import source_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.playback import bake, clock_choice, scene_motion
from usdphys_ext.usdphys_addon.playback import guard as preview_guard

from . import scenes

FIRST, LAST, FPS = 100, 124, 24
#: m/s at the last frame, reached evenly from 0 in a second: friction of 0.8 g carries a crate along without slipping.
SPEED = 1.5
SURFACE = "PhysxSurfaceVelocityAPI"
VELOCITY = "physxSurfaceVelocity:surfaceVelocity"


@pytest.fixture(autouse=True)
def _frames():
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, FIRST, LAST
    scene.frame_set(FIRST)
    yield
    preview_guard.stop()


def row_of(obj: Any, name: str, value: Any, applied: str = SURFACE) -> tuple[Any, str]:
    """A new row of an object, and its number in the list."""
    attribute = vendor_schemas.attribute_named(applied, name)
    vendor_edits.apply_row(obj.usdphys, applied, attribute, value)
    number, row = next((number, row) for number, row in enumerate(obj.usdphys.vendor) if row.name == name)
    return row, f"usdphys.vendor[{number}]"


def belt(how: str, meters: float = 1.0) -> tuple[Any, Any]:
    """(belt, crate): a kinematic belt that speeds up, and a crate on it."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = meters
    grip = scenes.physics_material("Grip", static_friction=0.8, dynamic_friction=0.8)
    made = scenes.solid("Belt", (3.0 / meters, 1.0 / meters, 0.1 / meters), shape="CUBE")
    crate = scenes.solid("Crate", (0.1 / meters,) * 3, shape="CUBE")
    crate.location = (-2.0 / meters, 0.0, 0.2 / meters)
    made.usdphys.rigid_body.kinematic_enabled = True
    made.usdphys.physics_material = crate.usdphys.physics_material = grip
    row, home = row_of(made, VELOCITY, (0.0, 0.0, 0.0))
    if how == "keyframes":
        for frame, speed in ((FIRST, 0.0), (LAST, SPEED / meters)):
            row.vector3 = (speed, 0.0, 0.0)
            assert made.keyframe_insert(f"{home}.vector3", frame=frame)
        for curve, _ in animated.curves_of(made):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    else:
        driver = made.driver_add(f"{home}.vector3", 0).driver
        driver.expression = f"min(frame - {FIRST}, {LAST - FIRST}) / {LAST - FIRST} * {SPEED / meters}"
    scene.frame_set(FIRST)
    return made, crate


#: m: with the speed of the belt all the time.
CARRIED = -2.0 + 0.5 * SPEED


@pytest.mark.slow
@pytest.mark.parametrize("how", ["keyframes", "driver"])
@pytest.mark.parametrize("meters", [1.0, 0.01])
def test_a_belt_that_speeds_up_carries_its_crate(how, meters, tmp_path):
    _, crate = belt(how, meters)
    scene = bpy.context.scene
    ways = {}
    preview_guard.start(bpy.context, with_timeline=True)
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
    ways["timeline"] = crate.matrix_world.translation.x * meters
    preview_guard.stop()
    scene.frame_set(FIRST)
    bake.bake(bpy.context, FIRST, LAST)
    scene.frame_set(LAST)
    ways["bake"] = crate.matrix_world.translation.x * meters
    bake.clear_bake(scene)
    scene.frame_set(FIRST)
    reading = scenes.read()
    _, recording = scene_motion.simulate_scene(scene, reading.model, 1.0, 24.0, animated=reading.animated)
    ways["simulate"] = recording.positions[-1, recording.paths.index("/root/Crate"), 0]
    # By the clock, while somebody plays the timeline beside it.
    scene.usdphys.preview.frequency = 2 * FPS
    session = preview_guard.start(bpy.context)
    for frame in range(FIRST, LAST):
        for half in (0.5, 1.0):
            scene.frame_set(frame + int(half), subframe=half % 1.0)
            session.simulate(bpy.context)
    session.show(bpy.context)
    ways["clock"] = crate.matrix_world.translation.x * meters
    preview_guard.stop()
    scene.frame_set(FIRST)
    for name, units in (("m", (1.0, 1.0, "Z")), ("cm", (0.01, 1.0, "Y"))):
        target = tmp_path / f"{name}.usda"
        scene.usdphys.stage.meters_per_unit, scene.usdphys.stage.kilograms_per_unit, scene.usdphys.stage.up_axis = units
        options = usd_export.ExportOptions(*usd_export.stage_options(scene), animation=True)
        result = usd_export.export_usd(bpy.context, target, options)
        assert "AnimationWritten" in [issue.code for issue in result.issues] and not result.errors
        motion = stage_motion.simulate_stage(Usd.Stage.Open(str(target)), 1.0)
        ways[f"file in {name}"] = motion.recording.positions[-1, motion.recording.paths.index("/root/Crate"), 0]
    assert ways == {way: pytest.approx(CARRIED, abs=0.015) for way in ways}


ROWS = (
    # applied, name, type of its samples in a file, values at the first and the last frame, does the preview take them
    (SURFACE, VELOCITY, (0.0, 0.0, 0.0), (1.0, 2.0, 0.5), True),
    (SURFACE, "physxSurfaceVelocity:surfaceAngularVelocity", (0.0, 0.0, 0.0), (0.0, 0.0, 3.0), True),
    (SURFACE, "physxSurfaceVelocity:surfaceVelocityEnabled", True, False, True),
    ("PhysxRigidBodyAPI", "physxRigidBody:linearDamping", 0.5, 2.0, False),
    ("PhysxRigidBodyAPI", "physxRigidBody:maxLinearVelocity", 3.0, 9.0, False),
    ("PhysxRigidBodyAPI", "physxRigidBody:lockedPosAxis", 1, 4, False),
    ("PhysxRigidBodyAPI", "physxRigidBody:disableGravity", True, False, False),
)


def keyed(applied: str, name: str, values: tuple[Any, Any]) -> Any:
    obj = scenes.solid("Box", shape="CUBE")
    row, home = row_of(obj, name, values[0], applied)
    view = vendor_rows.view_of(row)
    for frame, value in zip((FIRST, LAST), values, strict=True):
        setattr(row, view, value)
        assert obj.keyframe_insert(f"{home}.{view}", frame=frame)
    for curve, _ in animated.curves_of(obj):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR" if isinstance(values[0], float | tuple) else "CONSTANT"
    bpy.context.scene.frame_set(FIRST)
    return obj


@pytest.mark.slow
@pytest.mark.parametrize("units", [(1.0, 1.0, "Z"), (0.01, 1.0, "Y")], ids=["m", "cm"])
@pytest.mark.parametrize(("applied", "name", "first", "last", "is_taken"), ROWS, ids=[row[1] for row in ROWS])
def test_an_attribute_of_a_simulator_goes_to_usd_and_back(applied, name, first, last, is_taken, units, tmp_path):
    keyed(applied, name, (first, last))
    scene = bpy.context.scene
    attribute = vendor_schemas.attribute_named(applied, name)
    reading = scenes.read()
    (key,) = reading.model.animated
    assert (key.schema, key.field) == (applied, attribute.field)
    values = {}
    for frame in (FIRST, FIRST + 12, LAST):
        scene.frame_set(frame)
        values[frame] = reading.animated.now(bpy.context.evaluated_depsgraph_get())[key]
    assert values[FIRST] != values[LAST]
    scene.frame_set(FIRST)
    scenes.solid("Ball", shape="SPHERE").location.z = 4.0
    session = preview_guard.start(bpy.context)
    notices = [notice for notice in session.notices if notice.code == "AnimatedStill"]
    assert [attribute.label in notice.message for notice in notices] == ([] if is_taken else [True])
    preview_guard.stop()
    scene.usdphys.stage.meters_per_unit, scene.usdphys.stage.kilograms_per_unit, scene.usdphys.stage.up_axis = units
    target = tmp_path / "a.usda"
    options = usd_export.ExportOptions(*usd_export.stage_options(scene), animation=True)
    usd_export.export_usd(bpy.context, target, options)
    stage = Usd.Stage.Open(str(target))
    (written,) = [prim.GetAttribute(name) for prim in stage.Traverse() if prim.HasAttribute(name)]
    assert {FIRST, LAST} <= set(written.GetTimeSamples()) <= {FIRST, LAST - 1e-3, LAST}
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    result = usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
    assert "AnimationLeftOut" not in [issue.code for issue in result.issues]
    assert not bpy.data.objects["Box"].usdphys.prim.carried.count("timeSamples")
    again = scenes.read()
    (key,) = again.model.animated
    for frame, value in values.items():
        scene.frame_set(frame)
        now = again.animated.now(bpy.context.evaluated_depsgraph_get())[key]
        assert now == pytest.approx(value, rel=1e-5, abs=1e-6), frame
    # Written over its source, nothing has changed at any frame; an edited curve is.
    layer = tmp_path / "edits.usda"
    source_export.export_edits(bpy.context, layer, "layer")
    assert name not in layer.read_text(encoding="utf-8")
    obj = bpy.data.objects["Box"]
    row = next(row for row in obj.usdphys.vendor if row.name == name)
    if isinstance(first, float | tuple):
        for curve, _ in animated.curves_of(obj):
            if curve.data_path.endswith(vendor_rows.view_of(row)):
                curve.keyframe_points[-1].co.y += 1.0
                curve.update()
        source_export.export_edits(bpy.context, layer, "layer")
        assert f"{name}.timeSamples" in layer.read_text(encoding="utf-8")


def test_tokens_and_lists_of_simulators_stay_as_text(tmp_path):
    target = tmp_path / "a.usda"
    target.write_text("""#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def Cube "Box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysxForceAPI"])
{
    token physxForce:mode.timeSamples = { 1: "acceleration", 9: "force" }
}
""")
    usd_import.import_usd(bpy.context, target, usd_import.ImportOptions())
    assert "timeSamples" in bpy.data.objects["Box"].usdphys.prim.carried
    assert not scenes.read().model.animated
    usd_export.export_usd(bpy.context, tmp_path / "b.usda", usd_export.ExportOptions(animation=True))
    stage = Usd.Stage.Open(str(tmp_path / "b.usda"))
    (again,) = [prim for prim in stage.Traverse() if prim.HasAttribute("physxForce:mode")]
    assert again.GetAttribute("physxForce:mode").GetNumTimeSamples() == 2


def test_animation_follows_its_row_where_another_is_removed():
    obj = scenes.solid("Box", shape="CUBE")
    for name, value in (("linearDamping", 1.0), ("angularDamping", 2.0), ("maxLinearVelocity", 3.0)):
        row_of(obj, f"physxRigidBody:{name}", value, "PhysxRigidBodyAPI")
    names = [row.name for row in obj.usdphys.vendor]
    for number, name in enumerate(names):
        if name:
            assert obj.keyframe_insert(f"usdphys.vendor[{number}].number", frame=FIRST)
    obj.usdphys.vendor[names.index("physxRigidBody:maxLinearVelocity")].id_data.driver_add("delta_location", 0)
    vendor_edits.remove_rows(obj.usdphys, "PhysxRigidBodyAPI", "physxRigidBody:angularDamping")
    found = {
        curve.data_path: curve.keyframe_points[0].co.y for curve, by in animated.curves_of(obj) if by != "a driver"
    }
    rows = {f"usdphys.vendor[{number}].number": row.number for number, row in enumerate(obj.usdphys.vendor) if row.name}
    assert found == rows and sorted(rows.values()) == [1.0, 3.0]


def test_animation_follows_its_collider_where_another_is_removed():
    obj = scenes.solid("Box", shape="CUBE")
    for _ in range(2):
        obj.usdphys.colliders.add()
    for number in range(3):
        obj.usdphys.colliders[number].collision_enabled = number != 1
        obj.keyframe_insert(f"usdphys.colliders[{number}].collision_enabled", frame=FIRST)
    scenes.select(obj)
    obj.usdphys.active_collider_index = 0
    assert bpy.ops.usdphys.list_remove(which="colliders") == {"FINISHED"}
    found = {curve.data_path: curve.keyframe_points[0].co.y for curve, _ in animated.curves_of(obj)}
    assert found == {
        "usdphys.colliders[0].collision_enabled": 0.0, "usdphys.colliders[1].collision_enabled": 1.0,
    }  # fmt: skip


def test_the_reason_for_the_clock_has_the_labels_of_the_panels():
    scene = bpy.context.scene
    belt("driver")
    reason = clock_choice.what_is_animated(scene)
    assert reason == "'Surface Velocity' of 'Belt' is animated by a driver"
    german = translations.table("de_DE")
    shown = in_language(reason, lambda text: german.get(("*", text), text))
    assert shown == "'Oberflächentempo' von 'Belt' wird animiert durch einen Treiber"
    scene.gravity = (0.0, 0.0, -3.0)
    scene.keyframe_insert("gravity", frame=FIRST)
    assert clock_choice.what_is_animated(scene) == f"'Gravity' of '{scene.name}' is animated by keyframes"
