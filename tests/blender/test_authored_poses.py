# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever happens to objects while they are simulated, they keep their authored transforms to the bit."""

import random
import re
from pathlib import Path

import bpy
import pytest
from usdphys_ext.usdphys_addon.bridge import authored_poses
from usdphys_ext.usdphys_addon.exchange import scene_export, usd_export
from usdphys_ext.usdphys_addon.playback import guard

MODES = ("XYZ", "ZYX", "QUATERNION", "AXIS_ANGLE")
ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")


def body(name, location=(0.0, 0.0, 5.0), **changes):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    for key, value in changes.items():
        setattr(obj, key, value)
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    return obj


def state(obj):
    """Every property of an object that says where it is, to the last bit, and who else says so."""
    data = obj.animation_data
    return (
        obj.rotation_mode, tuple(obj.location), *(tuple(getattr(obj, name)) for name in ROTATIONS),
        tuple(item.mute for item in obj.constraints),
        tuple(curve.mute for curve in (data.drivers if data is not None else ())),
        obj.rigid_body is not None and obj.rigid_body.kinematic, bool(obj.usdphys.authored_transform),
    )  # fmt: skip


def mixed_scene(chance):
    """Bodies in all rotation modes, with constraints, drivers, parents and Blender's own rigid bodies."""
    bpy.ops.rigidbody.world_add()
    floor = body("Floor", (0.0, 0.0, -0.6), scale=(20.0, 20.0, 0.1))
    floor.usdphys.rigid_body.is_applied = False
    for number in range(5):
        place = [chance.uniform(-8, 8), chance.uniform(-8, 8), chance.uniform(1, 6)]
        obj = body(f"Body{number}", place, rotation_mode=chance.choice(MODES))
        obj.rotation_euler = [chance.uniform(-3, 3) for _ in range(3)]
        obj.rotation_quaternion = [chance.uniform(-1, 1) for _ in range(4)]
        obj.rotation_axis_angle = [chance.uniform(-3, 3), 0.0, 0.6, 0.8]
        kind = chance.choice(("constraint", "driver", "bullet", "parent", ""))
        if kind == "constraint":
            obj.constraints.new("LIMIT_SCALE")
            obj.constraints.new("COPY_SCALE").mute = True
        elif kind == "driver":
            obj.driver_add("location", 2).driver.expression = f"{place[2]:.3f}"
        elif kind == "bullet":
            bpy.context.view_layer.objects.active = obj
            bpy.ops.rigidbody.object_add()
        elif kind == "parent":
            above = bpy.data.objects.new(f"Above{number}", None)
            above.location = (0.0, 1.0, 0.3)
            bpy.context.scene.collection.objects.link(above)
            obj.parent = above
    bpy.context.view_layer.update()
    for obj in bpy.data.objects:
        obj["origin"] = obj.name


class Sequence:
    """Random acts while the preview runs."""

    def __init__(self, seed, folder):
        self.chance, self.folder, self.count = random.Random(seed), folder, 0
        mixed_scene(self.chance)
        bpy.ops.ed.undo_push(message="authored")
        self.authored = {obj["origin"]: state(obj) for obj in bpy.data.objects}
        self.play()

    def play(self):
        session = guard.current() or guard.start(bpy.context)
        for _ in range(self.chance.randrange(2, 12)):
            session.step_once(bpy.context)
        assert any(authored_poses.simulated())

    def file(self, suffix):
        self.count += 1
        return str(self.folder / f"{self.count}{suffix}")

    def any_object(self):
        return self.chance.choice([obj for obj in bpy.context.scene.objects if obj.type == "MESH"])

    def is_authored(self, objects):
        return {obj.name: state(obj) == self.authored[obj["origin"]] for obj in objects}

    # ------------------------------------------------------------------ acts

    def duplicate(self):
        bpy.ops.object.select_all(action="DESELECT")
        self.any_object().select_set(True)
        there = set(bpy.data.objects)
        bpy.ops.object.duplicate()
        bpy.context.view_layer.update()
        made = set(bpy.data.objects) - there
        assert len(made) == 1 and all(self.is_authored(made).values())

    def copy(self):
        made = self.any_object().copy()
        if self.chance.random() < 0.7:  # the others are in no scene until the end
            bpy.context.scene.collection.objects.link(made)
            bpy.context.view_layer.update()
            assert all(self.is_authored([made]).values())

    def copy_scene(self):
        copy = bpy.context.scene.copy()
        if self.chance.random() < 0.5:
            for obj in list(copy.collection.objects):
                copy.collection.objects.unlink(obj)
                copy.collection.objects.link(obj.copy())
        bpy.context.view_layer.update()
        assert not copy.usdphys.preview.is_running

    def autosave(self):
        """As Blender saves by itself: without a handler."""
        pre, post = list(bpy.app.handlers.save_pre), list(bpy.app.handlers.save_post)
        bpy.app.handlers.save_pre.clear()
        bpy.app.handlers.save_post.clear()
        self.saved = self.file(".blend")
        bpy.ops.wm.save_as_mainfile(filepath=self.saved, copy=True)
        bpy.app.handlers.save_pre.extend(pre)
        bpy.app.handlers.save_post.extend(post)

    def export(self):
        options = usd_export.ExportOptions(*usd_export.stage_options(bpy.context.scene))
        shown = {obj.name: tuple(obj.location) for obj in bpy.data.objects}
        path = self.file(".usda")
        scene_export.export_scene(bpy.context, path, options)
        assert shown == {obj.name: tuple(obj.location) for obj in bpy.data.objects}
        written = {
            tuple(float(part) for part in found.split(", "))
            for found in re.findall(r"xformOp:translate = \((.*)\)", Path(path).read_text())
        }
        for obj in bpy.context.scene.objects:
            where = self.authored[obj["origin"]][1]
            if obj.parent is None:
                assert any(place == pytest.approx(where, abs=1e-5) for place in written), obj.name

    def append(self):
        path = self.file(".blend")
        bpy.data.libraries.write(path, {self.any_object()})
        with bpy.data.libraries.load(path, link=False) as (there, wanted):
            wanted.objects = list(there.objects)
        assert all(self.is_authored(wanted.objects).values())

    def undo(self):
        bpy.ops.ed.undo_push(message="while it plays")
        self.play()
        bpy.ops.ed.undo_push(message="while it plays on")
        bpy.ops.ed.undo()
        assert all(self.is_authored(bpy.data.objects).values())

    def rename(self):
        self.any_object().name = f"Renamed{self.count}"
        bpy.context.scene.name = f"Scene{self.count}"
        self.count += 1

    def crash(self):
        """Blender ends without another call, and its last file is opened."""
        self.autosave()
        session = guard.forget()
        assert session is not None
        bpy.ops.wm.open_mainfile(filepath=self.saved)
        assert all(self.is_authored(bpy.data.objects).values())
        assert not any(scene.usdphys.preview.is_running for scene in bpy.data.scenes)
        bpy.ops.ed.undo_push(message="opened")


ACTS = ("duplicate", "copy", "copy_scene", "autosave", "export", "append", "undo", "rename", "crash")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_authored_transforms_survive_whatever_happens_while_it_plays(seed, tmp_path):
    sequence = Sequence(seed, tmp_path)
    for _ in range(4):
        getattr(sequence, sequence.chance.choice(ACTS))()
        sequence.play()
    guard.stop()
    wrong = [name for name, is_right in sequence.is_authored(bpy.data.objects).items() if not is_right]
    assert not wrong
    assert not any(scene.usdphys.preview.is_running for scene in bpy.data.scenes)


# --------------------------------------------------------------------------- who else moves it


def shown_height(obj):
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z


def drive(obj, path, index=-1, expression="2.0"):
    obj.driver_add(path, index).driver.expression = expression


def in_bullet(obj):
    bpy.ops.rigidbody.world_add()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.rigidbody.object_add()


def limit(obj):
    constraint = obj.constraints.new("LIMIT_LOCATION")
    constraint.use_min_z, constraint.min_z = True, 4.9


MUTED = {
    "driver": lambda obj: drive(obj, "location", 2, "5.0"),
    "turning driver": lambda obj: drive(obj, "rotation_euler", 0, "0.5"),
    "constraint": limit,
    "bullet": in_bullet,
}


@pytest.mark.parametrize("way", ["clock", "timeline"])
@pytest.mark.parametrize("mover", MUTED)
def test_physics_wins_over_what_can_be_muted_and_says_so(mover, way):
    obj = body("Crate")
    MUTED[mover](obj)
    bpy.context.view_layer.update()
    before = state(obj)
    session = guard.start(bpy.context, with_timeline=way == "timeline")
    codes = {issue.code for issue in session.notices}
    assert codes & {"PreviewMuted", "BlenderSimulatesToo"}
    for frame in range(2, 14):
        if way == "timeline":
            bpy.context.scene.frame_set(frame)
        else:
            for _ in range(3):
                session.step_once(bpy.context)
        wanted = float(session.world.positions[0][2])
        assert shown_height(obj) == pytest.approx(wanted, abs=1e-4)
    assert shown_height(obj) < 4.5
    assert not session.shown.moved_by_others
    guard.stop()
    assert state(obj) == before


def lifted(obj):
    curve = obj.driver_add("delta_location", 2)
    variable = curve.driver.variables.new()
    variable.name = "z"
    variable.targets[0].id, variable.targets[0].data_path = obj, "location[2]"
    curve.driver.expression = "z * 0.5"


def below_a_bone(obj):
    arm = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(arm)
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode="EDIT")
    bone = arm.data.edit_bones.new("Bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    follow = arm.pose.bones["Bone"].constraints.new("COPY_LOCATION")
    follow.target = obj
    other = body("Other", (0, 0, 9))
    other.parent, other.parent_type, other.parent_bone = arm, "BONE", "Bone"


def hooked(obj):
    empty = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(empty)
    hook = obj.modifiers.new("Hook", "HOOK")
    hook.object = empty
    hook.vertex_indices_set(range(8))


OTHERS = {
    "delta driver": lifted,
    "bone": below_a_bone,
    "hook": hooked,
}


@pytest.mark.parametrize("mover", OTHERS)
def test_what_moves_a_body_all_the_same_is_named(mover):
    obj = body("Crate")
    OTHERS[mover](obj)
    bpy.context.view_layer.update()
    session = guard.start(bpy.context)
    for _ in range(40):
        session.step_once(bpy.context)
    found = session.shown.moved_by_others
    assert [issue.code for issue in found] == ["PreviewMovedByOthers"]
    assert {"delta driver": "driver", "bone": "Rig", "hook": "Hook"}[mover] in found[0].message


def test_a_body_that_nobody_else_moves_is_not_named():
    for number, mode in enumerate(MODES):
        obj = body(f"Crate{number}", (3.0 * number, 0.0, 5.0), rotation_mode=mode)
        obj.scale = (1.0, 2.0, -0.5)
        obj.modifiers.new("Edge", "BEVEL")
        obj.delta_location = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    session = guard.start(bpy.context)
    for _ in range(40):
        session.step_once(bpy.context)
    assert not session.shown.moved_by_others
    assert not [issue for issue in session.notices if issue.code == "PreviewMuted"]


@pytest.mark.parametrize("mover", MUTED)
def test_keys_of_a_bake_are_shown_whoever_moved_the_object_before(mover):
    from usdphys_ext.usdphys_addon.playback import bake

    obj = body("Crate")
    MUTED[mover](obj)
    bpy.context.view_layer.update()
    before = state(obj)
    bake.bake(bpy.context, 1, 12)
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    seconds = 11 / (bpy.context.scene.render.fps / bpy.context.scene.render.fps_base)
    assert shown_height(obj) == pytest.approx(5 - 9.81 / 2 * seconds**2, abs=0.1)
    bake.clear_bake(bpy.context.scene)
    bpy.context.scene.frame_set(1)
    assert state(obj) == before
