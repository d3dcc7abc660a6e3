"""Collision groups: the matrix of who ignores whom, and members."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import group_edits
from usdphys_ext.usdphys_addon.viewport import readout

from . import scenes


def add(*names):
    scene = bpy.context.scene.usdphys
    for name in names:
        scene.collision_groups.add().name = name
    return [group_edits.group_named(bpy.context.scene, name) for name in names]


def cubes(number):
    found = []
    for _ in range(number):
        bpy.ops.mesh.primitive_cube_add()
        found.append(bpy.context.object.name)
    for name in found:
        bpy.data.objects[name].select_set(True)
    return [bpy.data.objects[name] for name in found]


def are_ignored(one, other):
    return group_edits.are_ignored(bpy.context.scene, one.name, other.name)


def ignore(one, other):
    return bpy.ops.usdphys.group_ignore(one=one, other=other)


def test_two_groups_ignore_each_other_and_collide_again():
    one, other = add("Wheels", "Body")
    assert not are_ignored(one, other)
    assert ignore("Wheels", "Body") == {"FINISHED"}
    assert are_ignored(one, other)
    assert are_ignored(other, one)
    assert not are_ignored(one, one)
    assert ignore("Body", "Wheels") == {"FINISHED"}
    assert not are_ignored(one, other)
    assert not len(one.filtered_groups)
    assert not len(other.filtered_groups)


def test_a_group_ignores_itself():
    (one,) = add("Chain")
    ignore("Chain", "Chain")
    assert are_ignored(one, one)
    assert [item.name for item in one.filtered_groups] == ["Chain"]
    ignore("Chain", "Chain")
    assert not are_ignored(one, one)


def test_an_inverted_group_ignores_all_that_it_does_not_list():
    one, other = add("Hand", "Table")
    one.invert_filtered_groups = True
    assert are_ignored(one, other)
    ignore("Hand", "Table")
    assert not are_ignored(one, other)
    assert [item.name for item in one.filtered_groups] == ["Table"]
    assert not len(other.filtered_groups)


def test_collide_again_takes_it_from_whoever_said_it():
    one, other = add("A", "B")
    other.filtered_groups.add().name = "A"
    ignore("A", "B")
    assert not are_ignored(one, other)
    assert not len(other.filtered_groups)


def test_the_matrix_refuses_a_group_that_is_not_there():
    add("A")
    with pytest.raises(RuntimeError, match="no collision group 'Gone'"):
        ignore("A", "Gone")


def test_members_come_and_go_and_are_selected():
    add("A", "B")
    one, other, third = cubes(3)
    third.select_set(False)
    assert bpy.ops.usdphys.group_add_selected(group="B") == {"FINISHED"}
    assert group_edits.members("B") == [one, other]
    assert bpy.ops.usdphys.group_add_selected(group="B") == {"CANCELLED"}
    assert [item.name for item in one.usdphys.collision_groups] == ["B"]
    other.select_set(False)
    bpy.ops.usdphys.group_remove_selected(group="B")
    assert group_edits.members("B") == [other]
    bpy.ops.usdphys.group_select(group="B")
    assert bpy.context.selected_objects == [other]


def test_an_excluded_member_is_taken_in_again():
    add("A")
    (one,) = cubes(1)
    membership = one.usdphys.collision_groups.add()
    membership.name, membership.exclude = "A", True
    assert group_edits.members("A") == []
    bpy.ops.usdphys.group_add_selected(group="A")
    assert [(item.name, item.exclude) for item in one.usdphys.collision_groups] == [("A", False)]


def test_removing_from_a_group_keeps_an_exclusion_from_it():
    """Without the exclusion, the child would be in the group through its parent."""
    add("A")
    parent, child = cubes(2)
    child.parent = parent
    scenes.join_group(parent, "A")
    scenes.join_group(child, "A", exclude=True)
    parent.select_set(False)
    assert bpy.ops.usdphys.group_remove_selected(group="A") == {"CANCELLED"}
    assert [(item.name, item.exclude) for item in child.usdphys.collision_groups] == [("A", True)]
    parent.select_set(True)
    assert bpy.ops.usdphys.group_remove_selected(group="A") == {"FINISHED"}
    assert not len(parent.usdphys.collision_groups) and len(child.usdphys.collision_groups) == 1


def test_the_active_group_counts_where_none_is_named():
    add("A", "B")
    bpy.context.scene.usdphys.active_group_index = 1
    (one,) = cubes(1)
    bpy.ops.usdphys.group_add_selected()
    assert group_edits.members("B") == [one]


def test_members_and_filters_follow_a_new_name():
    one, other = add("A", "B")
    (obj,) = cubes(1)
    bpy.ops.usdphys.group_add_selected(group="A")
    ignore("B", "A")
    assert bpy.ops.usdphys.group_rename(group="A", new_name="Arms") == {"FINISHED"}
    assert group_edits.members("Arms") == [obj]
    one, other = (group_edits.group_named(bpy.context.scene, name) for name in ("Arms", "B"))
    assert are_ignored(one, other)
    with pytest.raises(RuntimeError, match="cannot be the name of the group"):
        bpy.ops.usdphys.group_rename(group="Arms", new_name="B")


def test_without_groups_the_operators_say_what_is_missing():
    cubes(1)
    assert not bpy.ops.usdphys.group_add_selected.poll()


def test_members_are_told_to_a_panel_a_moment_later(clock):
    add("A")
    (one,) = cubes(1)
    bpy.ops.usdphys.group_add_selected(group="A")
    assert readout.members_of("A") is None
    scenes.finish(readout.compute)
    assert readout.members_of("A") == (one.name,)
    bpy.ops.usdphys.group_remove_selected(group="A")
    bpy.context.view_layer.update()
    clock.advance(1.01 * readout.KEEP)
    readout.members_of("A")
    scenes.finish(readout.compute)
    assert readout.members_of("A") == ()


def test_a_filter_counts_for_all_that_merge_with_its_groups():
    """As in OpenUSD and in the preview: A and B merge, A filters C, so B passes through C."""
    a, b, c, d = add("A", "B", "C", "D")
    a.merge_group = b.merge_group = "arm"
    c.merge_group = d.merge_group = "table"
    ignore("A", "C")
    assert are_ignored(b, c) and are_ignored(b, d) and are_ignored(d, a)
    assert not are_ignored(a, b)
    # What one of them said is taken back through another one.
    ignore("D", "B")
    assert not any(are_ignored(one, other) for one in (a, b) for other in (c, d))
    assert not any(len(group.filtered_groups) for group in (a, b, c, d))


def test_exclusions_and_colliders_follow_a_group_to_its_new_name():
    group = scenes.define_group("Wheels")
    obj = scenes.solid("Crate")
    scenes.join_group(obj, "Wheels", exclude=True)
    item = obj.usdphys.colliders[0].collision_groups.add()
    item.name = "Wheels"
    assert bpy.ops.usdphys.group_rename(group="Wheels", new_name="Tyres") == {"FINISHED"}
    assert group.name == "Tyres"
    (membership,) = obj.usdphys.collision_groups
    assert (membership.name, membership.exclude) == ("Tyres", True)
    assert item.name == "Tyres"


def test_members_and_filters_follow_a_name_that_is_typed_in_the_row_of_a_list():
    one, other = add("A", "B")
    (obj,) = cubes(1)
    scenes.join_group(obj, "A")
    ignore("B", "A")
    one.list_name = "Arms"
    assert (one.name, one.list_name) == ("Arms", "Arms")
    assert group_edits.members("Arms") == [obj] and group_edits.members("A") == []
    assert are_ignored(one, other)


def test_a_name_that_is_typed_in_the_row_of_a_list_does_not_merge_two_groups():
    one, other = add("A", "B")
    (obj,) = cubes(1)
    scenes.join_group(obj, "A")
    one.list_name = "B"
    assert (one.name, other.name) == ("B2", "B")
    assert [item.name for item in obj.usdphys.collision_groups] == ["B2"]
    one.list_name = ""
    assert one.name == "B2"
