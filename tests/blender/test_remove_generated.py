# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove takes away what a generator has made, gives the selection back what it was, and nothing else.

Edit makes it again with other settings.
"""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from usdphys_ext.usdphys_addon.bridge import property_values
from usdphys_ext.usdphys_addon.core.errors import InputError
from usdphys_ext.usdphys_addon.generators import records, ropes

from . import scenes
from .test_ragdoll import WOLF, add_armature
from .test_vehicle import car

pytestmark = pytest.mark.slow


def select(*objects):
    """The last one is active."""
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1]
    bpy.context.view_layer.update()


def scene_state():
    """All that a generator may touch, by the names of objects."""
    bpy.context.view_layer.update()
    found = {}
    for obj in bpy.context.scene.objects:
        state = {
            "physics": {
                key: value for key, value in property_values.snapshot(obj.usdphys).items() if value is not None
            },
            "parent": obj.parent,
            "place": np.array(obj.matrix_world).round(5).tolist(),
            "materials": [slot.material for slot in obj.material_slots],
            "own": sorted(key for key in obj.keys() if not key.startswith("usdphys")),
        }  # fmt: skip
        if obj.type == "ARMATURE":
            state["constraints"] = [
                (bone.name, item.type, item.influence) for bone in obj.pose.bones for item in bone.constraints
            ]
            state["drivers"] = len(obj.animation_data.drivers) if obj.animation_data else 0
        found[obj.name] = state
    collections = sorted(one.name for one in bpy.context.scene.collection.children_recursive)
    materials = {one.name: property_values.snapshot(one.usdphys) for one in bpy.data.materials if one.users}
    return found, collections, materials


def data_names():
    """Names of all data-blocks, and the mesh of each object."""
    lists = (bpy.data.meshes, bpy.data.materials, bpy.data.curves, bpy.data.armatures, bpy.data.actions,
             bpy.data.collections, bpy.data.node_groups, bpy.data.textures, bpy.data.images)  # fmt: skip
    return [sorted(one.name for one in each) for each in lists], {obj.name: obj.data for obj in bpy.data.objects}


def posts():
    one = scenes.add_box("Post", (0.1, 0.1, 1), location=(-2, 0, 1))
    other = scenes.add_box("Other", (0.1, 0.1, 1), location=(2, 0, 1))
    select(one, other)


def brick():
    select(scenes.add_box("Brick", (0.1, 0.05, 0.04), location=(0, 0, 0.04)))


def pieces():
    wood = scenes.physics_material("Wood", dynamic_friction=0.123)
    made = [scenes.add_box(f"Piece{number}", location=(1.001 * number, 0, 0)) for number in range(3)]
    made[0].data.materials.append(wood)
    select(*made)


def block():
    select(scenes.add_box("Block", (1, 1, 1), location=(1, 2, 3)))


def loose():
    data = scenes.box_mesh("Loose")
    made = bmesh.new()
    made.from_mesh(data)
    made.from_mesh(scenes.box_mesh("Second", center=(1.0, 0.0, 0.0)))
    made.to_mesh(data)
    made.free()
    select(scenes.add("Loose", data, location=(0, 0, 2)))


def rig():
    select(add_armature())


def wolf():
    obj = add_armature(WOLF)
    foot = obj.pose.bones["shin.L"].constraints.new("IK")
    foot.target, foot.influence = scenes.add("Aim", location=(0.1, 0.5, 0)), 0.75
    select(obj)


def vehicle():
    chassis, wheels = car()
    wheels[0].parent = chassis
    wheels[0].matrix_parent_inverse = chassis.matrix_world.inverted()
    rim = scenes.add_box("Rim", (0.05, 0.05, 0.05), location=wheels[1].location)
    select(*wheels, rim, chassis)


def door():
    frame = scenes.add_box("Frame", (0.1, 0.1, 1), location=(0, 0, 1))
    select(scenes.add_box("Door", (0.4, 0.03, 1), location=(0.5, 0, 1)), frame)


def lift():
    base = scenes.add_box("Base", (0.6, 0.4, 0.05), location=(0, 0, 0.05))
    select(scenes.add_box("Platform", (0.6, 0.4, 0.05), location=(0, 0, 0.6)), base)


def arm():
    base = scenes.add_box("Base", (0.2, 0.2, 0.5), location=(0, 0, 0.5))
    links = [scenes.add_box(f"Arm{index}", (0.45, 0.07, 0.07), location=(0.7 + index, 0, 0.9)) for index in range(3)]
    select(*links, base)


CASES = [
    ("rope", posts, {}), ("rope", posts, {"kind": "BRIDGE", "articulation": True}), ("net", posts, {}),
    ("rope", posts, {"skin": True}), ("wall", brick, {"counts": (3, 1, 2), "bonded": True}),
    ("wall", brick, {"kind": "CHIMNEY", "counts": (8, 1, 2), "turn": 0.1}), ("break_apart", pieces, {}),
    ("break_apart", block, {"pieces": 4, "material": "RUBBER"}), ("break_apart", loose, {}),
    ("ragdoll", rig, {}), ("ragdoll", rig, {"active": True}), ("ragdoll", wolf, {}), ("vehicle", vehicle, {}),
    ("mechanism", door, {"kind": "DOOR", "articulation": True}), ("mechanism", door, {"kind": "CONVEYOR"}),
    ("mechanism", lift, {"kind": "SCISSOR_LIFT"}), ("robot_arm", arm, {"upper": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "build", "options"), CASES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_a_scene_is_as_before_a_generator(operator, build, options):
    build()
    before, data = scene_state(), data_names()
    chosen = list(bpy.context.selected_objects)
    assert getattr(bpy.ops.usdphys, operator)(**options) == {"FINISHED"}
    assert scene_state() != before
    if operator != "net":
        select(*chosen)
    assert bpy.ops.usdphys.remove_generated() == {"FINISHED"}
    assert scene_state() == before and data_names() == data
    assert len(bpy.context.scene.usdphys.constructions) == 0


def made_rope():
    posts()
    bpy.ops.usdphys.rope(segments=4)
    return [obj for obj in bpy.context.selected_objects if obj.usdphys.rigid_body.is_applied]


def test_what_the_user_has_added_and_edited_stays():
    segments = made_rope()
    post = bpy.data.objects["Post"]
    post.usdphys.mass.mass = 3.0
    lamp = scenes.add("Lamp", parent=segments[1])
    bpy.context.view_layer.update()
    place = lamp.matrix_world.copy()
    copy = segments[2].copy()
    bpy.context.scene.collection.objects.link(copy)
    select(segments[0])
    bpy.ops.usdphys.remove_generated()
    bpy.context.view_layer.update()
    assert {obj.name for obj in bpy.context.scene.objects} == {"Post", "Other", "Lamp", copy.name}
    assert (lamp.matrix_world.translation - place.translation).length < 1e-5 and lamp.parent is None
    assert post.usdphys.mass.mass == 3.0 and not len(post.usdphys.colliders)


def test_an_edit_of_what_the_generator_has_set_is_kept_and_named():
    segments = made_rope()
    post = bpy.data.objects["Post"]
    post.usdphys.colliders[0].approximation = "convexHull"
    select(segments[0])
    bpy.ops.usdphys.remove_generated()
    assert post.usdphys.colliders[0].approximation == "convexHull"
    assert not len(bpy.data.objects["Other"].usdphys.colliders)


def test_two_ropes_on_a_post_go_one_by_one():
    first = made_rope()
    third = scenes.add_box("Third", (0.1, 0.1, 1), location=(0, 3, 1))
    select(third, bpy.data.objects["Post"])
    bpy.ops.usdphys.rope(segments=4)
    select(first[0])
    bpy.ops.usdphys.remove_generated()
    assert len(bpy.context.scene.usdphys.constructions) == 1
    assert len(third.usdphys.colliders) and len(bpy.data.objects["Post"].usdphys.colliders)
    select(third)
    bpy.ops.usdphys.remove_generated()
    assert {obj.name for obj in bpy.context.scene.objects} == {"Post", "Other", "Third"}


def test_what_a_joint_of_the_user_holds_keeps_its_physics():
    segments = made_rope()
    lamp = scenes.solid("Lamp", location=(-2, 1, 1))
    scenes.make_body(lamp)
    scenes.add_joint("Chain", "SPHERICAL", bpy.data.objects["Post"], lamp)
    select(segments[0])
    bpy.ops.usdphys.remove_generated()
    assert len(bpy.data.objects["Post"].usdphys.colliders) and not len(bpy.data.objects["Other"].usdphys.colliders)


def test_without_anything_made_it_says_so():
    posts()
    assert not bpy.ops.usdphys.remove_generated.poll() and not bpy.ops.usdphys.edit_generated.poll()
    with pytest.raises(RuntimeError, match="Nothing that Make has made is selected; select a part of it"):
        bpy.ops.usdphys.remove_generated()
    bpy.ops.usdphys.rope(segments=4)
    assert bpy.ops.usdphys.remove_generated.poll() and bpy.ops.usdphys.edit_generated.poll()
    select(scenes.add_box("Stranger"))
    with pytest.raises(RuntimeError, match="Nothing that Make has made is selected; select a part of it"):
        bpy.ops.usdphys.remove_generated()


def test_a_ragdoll_whose_bodies_were_deleted_can_be_made_again():
    obj = add_armature()
    select(obj)
    bpy.ops.usdphys.ragdoll()
    number = len(bpy.context.selected_objects)
    select(*(one for one in bpy.context.scene.objects if one != obj))
    bpy.ops.object.delete()
    select(obj)
    assert bpy.ops.usdphys.ragdoll() == {"FINISHED"}
    assert len(bpy.context.selected_objects) == number
    targets = [item.target for bone in obj.pose.bones for item in bone.constraints]
    assert targets and all(target.users_scene for target in targets)


def test_deleted_objects_are_not_kept_in_the_file_for_a_later_removal(tmp_path):
    select(*made_rope())
    bpy.ops.object.delete()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    (item,) = bpy.context.scene.usdphys.constructions
    assert all(one.object.users_scene for one in (*item.made, *item.changed))


def test_what_was_made_can_be_removed_after_the_file_was_opened_again(tmp_path):
    made_rope()
    for obj in bpy.context.scene.objects:
        obj.location += Vector((0, 0, 1)) if obj.name == "Post" else Vector()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rope.blend"))
    select(bpy.data.objects["Post"])
    bpy.ops.usdphys.remove_generated()
    assert {obj.name for obj in bpy.context.scene.objects} == {"Post", "Other"}
    assert bpy.data.objects["Post"].location.z == pytest.approx(2.0)


# --------------------------------------------------------------------------- edit


def without_ids(state):
    """A state with the names of what it refers to, to be compared with what is made anew: other data of these names."""
    found, collections, materials = state
    return {name: str(one) for name, one in found.items()}, collections, str(materials)


@pytest.mark.parametrize(("operator", "build", "options"), CASES, ids=lambda one: getattr(one, "__name__", str(one)))
def test_made_again_with_the_same_settings_it_is_the_same(operator, build, options):
    build()
    assert getattr(bpy.ops.usdphys, operator)(**options) == {"FINISHED"}
    made = without_ids(scene_state())
    (item,) = bpy.context.scene.usdphys.constructions
    select(next(one.object for one in (*item.made, *item.changed) if one.object is not None))
    bpy.context.scene.cursor.location = (5, 5, 5)
    assert bpy.ops.usdphys.edit_generated() == {"FINISHED"}
    assert without_ids(scene_state()) == made
    assert len(bpy.context.scene.usdphys.constructions) == 1
    assert tuple(bpy.context.scene.cursor.location) == (5, 5, 5)


def edit(number=0, **changed):
    """As the window does it: the settings of a construction with a change, from its sources."""
    settings = records.settings_of(bpy.context.scene, number)
    records.select_sources(bpy.context, number)
    module, _, name = settings.operator.partition(".")
    return getattr(getattr(bpy.ops, module), name)(edited=number, **{**settings.values, **changed})


def test_a_rope_gets_other_segments_and_a_mass_that_fits_them():
    made_rope()
    assert edit(segments=9, radius=0.05) == {"FINISHED"}
    (item,) = bpy.context.scene.usdphys.constructions
    bodies = [one.object for one in item.made if one.object.usdphys.rigid_body.is_applied]
    assert len(bodies) == 9
    assert records.settings_of(bpy.context.scene, 0).values["radius"] == pytest.approx(0.05)
    # 1000 kg/m3, as long as nobody types a mass: the mass for each metre goes with the square of the radius.
    thin = records.settings_of(bpy.context.scene, 0).values["mass"]
    edit(radius=0.1)
    assert records.settings_of(bpy.context.scene, 0).values["mass"] == pytest.approx(4.0 * thin)
    select(bpy.data.objects["Post"])
    bpy.ops.usdphys.remove_generated()
    assert {obj.name for obj in bpy.context.scene.objects} == {"Post", "Other"}


@pytest.mark.parametrize("alone", [False, True])
def test_a_net_that_was_moved_stays_there_with_other_knots(alone):
    """Not one knot that was pulled out of it: that is an edit of a part. What was selected then has no part in it."""
    select(scenes.add_box("Bystander"))
    bpy.ops.usdphys.net(knots=(3, 3))
    bpy.data.objects.remove(bpy.data.objects["Bystander"])
    item = bpy.context.scene.usdphys.constructions[0]
    for one in [item.made[0]] if alone else item.made:
        turn = Matrix.Rotation(0.5, 4, "Z") @ Matrix.Translation((3, 0, 1))
        one.object.matrix_world = turn @ one.object.matrix_world
    bpy.context.scene.cursor.location = (5, 5, 5)
    assert edit(knots=(1, 2)) == {"FINISHED"}
    knots = [obj for obj in bpy.context.selected_objects if obj.usdphys.rigid_body.is_applied]
    middle = sum((knot.matrix_world.translation for knot in knots), Vector()) / 2.0
    expected = tuple(Vector() if alone else turn.translation)
    assert len(knots) == 2 and tuple(middle) == pytest.approx(expected, abs=1e-5)
    assert tuple(bpy.context.scene.cursor.location) == (5, 5, 5)
    assert edit(knots=(2, 2)) == {"FINISHED"}
    knots = [obj for obj in bpy.context.selected_objects if obj.usdphys.rigid_body.is_applied]
    middle = sum((knot.matrix_world.translation for knot in knots), Vector()) / 4.0
    assert len(knots) == 4 and tuple(middle) == pytest.approx(expected, abs=1e-5)


def test_settings_that_are_refused_leave_it_as_it_was(monkeypatch):
    made_rope()
    made = without_ids(scene_state())

    def refuse(context, options, make=ropes.make_row):
        if options.segments == 7:
            raise InputError("Seven is refused.")
        return make(context, options)

    monkeypatch.setattr(ropes, "make_row", refuse)
    with pytest.raises(RuntimeError, match="Seven is refused"):
        edit(segments=7)
    assert without_ids(scene_state()) == made
    assert len(bpy.context.scene.usdphys.constructions) == 1


def test_what_it_was_made_of_has_to_be_there():
    segments = made_rope()
    bpy.data.objects.remove(bpy.data.objects["Other"])
    before = scene_state()
    select(segments[0])
    with pytest.raises(RuntimeError, match="are deleted or hidden; bring them back first"):
        bpy.ops.usdphys.edit_generated()
    assert scene_state() == before


def test_two_constructions_are_not_edited_at_once_and_one_without_settings_not_at_all():
    segments = made_rope()
    third = scenes.add_box("Third", (0.1, 0.1, 1), location=(0, 3, 1))
    select(third, bpy.data.objects["Post"])
    bpy.ops.usdphys.rope(segments=4)
    select(segments[0], third)
    assert len(bpy.context.scene.usdphys.constructions) == 2
    select(segments[0], next(obj for obj in bpy.context.scene.objects if obj.name.startswith("Rope") and
                             obj not in segments and obj.usdphys.rigid_body.is_applied))  # fmt: skip
    with pytest.raises(RuntimeError, match="select one of them"):
        bpy.ops.usdphys.edit_generated()
    for item in bpy.context.scene.usdphys.constructions:
        item.settings = ""
    select(segments[0])
    with pytest.raises(RuntimeError, match="were not kept; remove it, and make it again"):
        bpy.ops.usdphys.edit_generated()


def test_a_construction_is_made_again_after_the_file_was_opened_again(tmp_path):
    made_rope()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rope.blend"))
    assert edit(segments=6) == {"FINISHED"}
    (item,) = bpy.context.scene.usdphys.constructions
    assert sum(one.object.usdphys.rigid_body.is_applied for one in item.made) == 6
