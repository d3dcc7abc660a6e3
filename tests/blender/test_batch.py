"""Many objects at once: roles by name and by collection, physics copied as a whole and property by property."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from usdphys_ext.operators import batch
from usdphys_ext.usdphys_addon.authoring import copying
from usdphys_ext.usdphys_addon.core.errors import InputError

from . import scenes
from .layout_recorder import LayoutRecorder
from .test_action_bar import colliders, linked, memberships, run, select, state

ALL = set(copying.PARTS)


def copy(source: Any, *others: Any, **settings: Any) -> Any:
    return run("copy_physics", *others, source, **settings)


def copy_one(path: str, source: Any, *others: Any) -> Any:
    return run("copy_property", *others, source, data_path=path)


def authored(group: Any) -> dict[str, Any]:
    """All that is set, by name; what is a group or a list of groups likewise. Without the version of the add-on."""
    found: dict[str, Any] = {}
    for item in group.bl_rna.properties:
        name = item.identifier
        if name in ("rna_type", "version") or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if isinstance(value, bpy.types.PropertyGroup):
            if authored(value):
                found[name] = authored(value)
        elif item.type == "COLLECTION":
            found[name] = [authored(part) for part in value]
        elif getattr(item, "array_length", 0):
            found[name] = tuple(value)
        else:
            found[name] = value
    return found


# --------------------------------------------------------------------------- roles by name and collection


def crates() -> list[Any]:
    return [scenes.add_box(name) for name in ("Crate", "crate.001", "BigCrate", "Floor")]


@pytest.mark.parametrize(("pattern", "settings", "expected"), [
    ("crate*", {}, "dd  "), ("*crate*", {}, "ddd "), ("CRATE", {}, "d   "), ("crate.00?", {}, " d  "),
    ("[cf]*", {}, "dd d"), ("crate*", {"match_case": True}, " d  "), ("*", {}, "dddd"),
])  # fmt: skip
def test_tag_by_name(pattern, settings, expected):
    made = crates()
    assert bpy.ops.usdphys.tag_by_name(pattern=pattern, role="DYNAMIC", **settings) == {"FINISHED"}
    assert "".join("d" if state(obj)[0] else " " for obj in made) == expected
    assert all(bool(colliders(obj)) == bool(state(obj)[0]) for obj in made)


@pytest.mark.parametrize(("role", "expected"), [
    ("DYNAMIC", ("dynamic", [("AUTO", "")])), ("STATIC", ("", [("AUTO", "")])), ("COLLIDER", ("", [("AUTO", "")])),
    ("KINEMATIC", ("kinematic", [("AUTO", "")])),
])  # fmt: skip
def test_roles_by_name(role, expected):
    box, other = scenes.add_box("Box"), scenes.add_box("Other")
    bpy.ops.usdphys.tag_by_name(pattern="Box", role=role)
    assert state(box) == expected
    assert state(other) == ("", [])
    bpy.ops.usdphys.tag_by_name(pattern="Box", role="CLEAR")
    assert state(box) == ("", [])


def test_tag_by_name_tells_how_many(capfd):
    crates()
    bpy.ops.usdphys.tag_by_name(pattern="crate*", role="STATIC")
    assert "2 objects like 'crate*'. Made 2 objects static: 'Crate' a box, 'crate.001' a box" in capfd.readouterr().out


def test_tag_by_name_refuses():
    crates()
    for settings, message in (
        ({"pattern": "wheel*"}, "No object in the scene matches 'wheel.*'"), ({"pattern": " "}, "No name is given"),
        ({"pattern": "crate*", "collection": "Nowhere"}, "no collection 'Nowhere'"),
        ({"pattern": "crate*", "role": "CLEAR"}, "no physics on these objects"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=message):
            bpy.ops.usdphys.tag_by_name(**settings)
    assert all(state(obj) == ("", []) for obj in bpy.context.scene.objects)


def test_tag_by_name_within_a_collection():
    inner, outer = scenes.new_collection("Inner"), scenes.new_collection("Outer", linked=True)
    outer.children.link(inner)
    inside, outside = scenes.add_box("Crate", collection=inner), scenes.add_box("Crate2")
    bpy.ops.usdphys.tag_by_name(pattern="Crate*", role="DYNAMIC", collection="Outer")
    assert (state(inside)[0], state(outside)[0]) == ("dynamic", "")
    with pytest.raises(RuntimeError, match="No object in the collection 'Outer' matches 'Floor'"):
        bpy.ops.usdphys.tag_by_name(pattern="Floor", role="DYNAMIC", collection="Outer")


def test_tag_collection(capfd):
    inner, outer = scenes.new_collection("Inner"), scenes.new_collection("Outer", linked=True)
    outer.children.link(inner)
    made = [scenes.add_box("A", collection=outer), scenes.add_box("B", collection=inner), scenes.add_box("C")]
    assert bpy.ops.usdphys.tag_collection(collection="Outer", role="STATIC") == {"FINISHED"}
    assert "2 objects in 'Outer'. Made 2 objects static" in capfd.readouterr().out
    assert [len(colliders(obj)) for obj in made] == [1, 1, 0]
    bpy.ops.usdphys.tag_collection(collection="Inner", role="CLEAR")
    assert [len(colliders(obj)) for obj in made] == [1, 0, 0]
    for name, message in (("", "No collection is chosen"), ("Nope", "no collection 'Nope'")):
        with pytest.raises(RuntimeError, match=message):
            bpy.ops.usdphys.tag_collection(collection=name, role="STATIC")
    scenes.new_collection("Bare", linked=True)
    with pytest.raises(RuntimeError, match="no objects in the collection 'Bare'"):
        bpy.ops.usdphys.tag_collection(collection="Bare", role="STATIC")


def test_tag_collection_that_is_only_instanced():
    kit = scenes.new_collection("Kit")
    box = scenes.add_box("Box", collection=kit)
    scenes.add_instance("Instance", kit)
    bpy.ops.usdphys.tag_collection(collection="Kit", role="COLLIDER")
    assert colliders(box) == [("AUTO", "")]


def test_collections_are_found_by_part_of_their_name():
    for name in ("Wheels", "Body", "Spare Wheels"):
        scenes.new_collection(name)
    assert sorted(batch.collections_like(None, bpy.context, "wheel")) == ["Spare Wheels", "Wheels"]


# --------------------------------------------------------------------------- copies


def source() -> Any:
    """A body with some of everything, set and not set."""
    obj, other = scenes.solid("Source"), scenes.solid("Other", location=(9, 0, 0))
    physics = obj.usdphys
    scenes.assign(physics.rigid_body, velocity=(1, 2, 3), starts_asleep=True)
    scenes.assign(physics.mass, is_applied=True, mass=2, center_of_mass=(0, 0, 0.25))
    physics.colliders[0].approximation = "convexHull"
    ball = scenes.make_collider(obj, "SPHERE", radius=0.5, location=(0, 0, 1))
    ball.name = "Ball"
    scenes.assign(ball.mass, is_applied=True, density=7)
    ball.physics_material = scenes.physics_material("Rubber")
    scenes.assign(ball.filtered_pairs, is_applied=True).filtered_pairs.add().object = other
    ball.collision_groups.add().name = "Balls"
    physics.physics_material = scenes.physics_material("Steel")
    scenes.join_group(obj, "Machine")
    scenes.join_group(obj, "Fingers", exclude=True)
    scenes.assign(physics.filtered_pairs, is_applied=True).filtered_pairs.add().object = other
    physics.articulation_root.is_applied = True
    physics.prim.path, physics.prim.id_name = "/World/Source", "Source"
    return obj


def test_copy_of_everything():
    original = source()
    targets = [scenes.add_box(f"Target{index}") for index in range(3)]
    bystander = scenes.add_box("Bystander")
    assert copy(original, *targets) == {"FINISHED"}
    expected = authored(original.usdphys)
    del expected["prim"]
    for obj in targets:
        assert authored(obj.usdphys) == expected
        assert not obj.usdphys.is_property_set("prim")
    assert authored(bystander.usdphys) == {}
    # Once more changes nothing.
    copy(original, *targets)
    assert [authored(obj.usdphys) for obj in targets] == [expected] * 3
    # A copy is its own.
    targets[0].usdphys.colliders[1].radius = 3.0
    assert original.usdphys.colliders[1].radius == 0.5


def test_copy_takes_back_what_the_source_does_not_set():
    original, target = scenes.solid("Source", shape="AUTO"), source()
    target.name = "Target"
    target.usdphys.prim.id_name = "Target"
    copy(original, target)
    assert authored(target.usdphys)["rigid_body"] == {"is_applied": True}
    assert set(authored(target.usdphys)) - {"collision_groups", "colliders"} == {"rigid_body", "prim"}
    assert memberships(target) == []
    assert len(target.usdphys.colliders) == 1
    assert not target.usdphys.mass.is_applied
    assert target.usdphys.physics_material is None
    assert target.usdphys.prim.path == "/World/Source"


@pytest.mark.parametrize(("part", "keys"), [
    ("BODY", {"rigid_body", "articulation_root"}), ("MASS", {"mass"}), ("COLLIDERS", {"colliders"}),
    ("MATERIAL", {"physics_material"}), ("GROUPS", {"collision_groups"}), ("PAIRS", {"filtered_pairs"}),
])  # fmt: skip
def test_copy_of_one_part(part, keys):
    original, target = source(), scenes.add_box("Target")
    copy(original, target, parts={part})
    found = authored(target.usdphys)
    assert set(found) == keys
    assert found == {key: value for key, value in authored(original.usdphys).items() if key in keys}


def test_parts_are_those_that_can_be_chosen():
    assert [item[0] for item in batch.PARTS] == list(copying.PARTS)
    with pytest.raises(InputError, match="choose at least one"):
        copying.copy_physics(source(), [scenes.add_box("Target")], set())


def test_copy_does_not_filter_a_pair_with_itself():
    original = source()
    other = bpy.data.objects["Other"]
    copy(original, other)
    assert len(other.usdphys.filtered_pairs.filtered_pairs) == 0
    assert len(other.usdphys.colliders[1].filtered_pairs.filtered_pairs) == 0


def test_copy_of_joints_leaves_bodies_and_frames():
    a, b, c = (scenes.solid(name) for name in "ABC")
    first = scenes.add_joint("First", "REVOLUTE", a, b, location=(1, 0, 0))
    joint = first.usdphys.joint
    scenes.assign(joint, axis="Z", break_force=5, local_pos0=(1, 1, 1), has_remembered_frames=True)
    joint.remembered_local_pos0 = "1 1 1"
    joint.revolute.upper_limit = 1.0
    scenes.assign(joint.drives.angular, is_applied=True, stiffness=9)
    second = scenes.add_joint("Second", "FIXED", b, c)
    second.usdphys.joint.break_torque = 3.0
    copy(first, second, a)
    found = second.usdphys.joint
    assert (found.type, found.axis, found.break_force) == ("REVOLUTE", "Z", 5)
    assert (found.revolute.upper_limit, found.drives.angular.stiffness) == (1.0, 9)
    assert not found.is_property_set("break_torque")
    assert not found.revolute.is_property_set("lower_limit")
    assert (found.body0, found.body1, found.body0_name) == (b, c, "B")
    assert not found.is_property_set("local_pos0")
    assert not found.has_remembered_frames
    assert found.remembered_local_pos0 == ""
    # What is no joint does not become one.
    assert not a.usdphys.joint.is_applied


def test_copy_of_mesh_colliders_needs_faces():
    original, frame, target = scenes.solid("Source"), scenes.add("Frame"), scenes.add_box("Target")
    outcome = copying.copy_physics(original, [frame, target], {"COLLIDERS"})
    assert colliders(target) == [("MESH", "")]
    assert colliders(frame) == []
    assert any("'Frame'" in note for note in outcome.notes)
    with pytest.raises(RuntimeError, match="'Frame'"):
        copy(original, frame, parts={"COLLIDERS"})
    original.usdphys.colliders[0].shape = "SPHERE"
    copy(original, frame, parts={"COLLIDERS"})
    assert colliders(frame) == [("SPHERE", "")]


def test_copy_does_not_replace_the_geometry_of_the_target():
    original, target = scenes.add_box("Source"), scenes.add_box("Target")
    scenes.make_collider(original, "CUBE", size=(1, 1, 1), is_geometry=True, has_mesh_collision=True)
    copy(original, target)
    item = target.usdphys.colliders[0]
    assert (item.shape, tuple(item.size)) == ("CUBE", (1, 1, 1))
    assert not (item.is_geometry or item.has_mesh_collision)


def test_copy_refuses():
    plain, target = scenes.add_box("Plain"), scenes.solid("Target")
    with pytest.raises(RuntimeError, match="'Plain' has no physics to copy"):
        copy(plain, target)
    assert state(target) == ("dynamic", [("MESH", "")])
    with pytest.raises(RuntimeError, match="'Target' has none of the chosen parts"):
        copy(target, plain, parts={"JOINT"})


@pytest.mark.parametrize("name", ["copy_physics", "copy_property"])
def test_polls_of_copies(name):
    operator = getattr(bpy.ops.usdphys, name)
    a, b = scenes.solid("A"), scenes.add_box("B")
    select()
    with pytest.raises(RuntimeError, match="Select one or more objects first"):
        operator()
    select(a)
    with pytest.raises(RuntimeError, match="Select the objects to copy to as well"):
        operator()
    select(a, b)
    assert operator.poll()
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="no active object"):
        operator()


def test_batch_needs_object_mode():
    select(scenes.add_box("Box"))
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("tag_by_name", "tag_collection", "copy_physics", "copy_property"):
        with pytest.raises(RuntimeError, match="Switch to Object Mode first"):
            getattr(bpy.ops.usdphys, name)()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_copies_leave_linked_objects(tmp_path, capfd):
    stone = linked(tmp_path, scenes.add_box("Stone"))
    original, target = scenes.solid("Source"), scenes.add_box("Target")
    for call in (lambda *others: copy(original, *others), lambda *others: copy_one("mass.mass", original, *others)):
        with pytest.raises(RuntimeError, match="'Stone'"):
            call(stone)
        capfd.readouterr()
        call(stone, target)
        assert "'Stone'" in capfd.readouterr().out
    assert state(stone) == ("", [])
    assert state(target)[0] == "dynamic"


def test_copy_from_a_linked_object(tmp_path):
    stone = linked(tmp_path, scenes.solid("Stone"))
    target = scenes.add_box("Target")
    copy(stone, target)
    assert state(target) == ("dynamic", [("MESH", "")])


def test_copy_is_undone_in_one_step():
    source()
    for name in ("T0", "T1"):
        scenes.add_box(name)
    select(*(bpy.data.objects[name] for name in ("T0", "T1", "Source")))
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.usdphys.copy_physics()
    bpy.ops.ed.undo_push(message="after")
    assert len(bpy.data.objects["T1"].usdphys.colliders) == 2
    bpy.ops.ed.undo()
    assert [len(bpy.data.objects[name].usdphys.colliders) for name in ("T0", "T1")] == [0, 0]


def test_copies_are_valid(tmp_path):
    original = scenes.solid("Source", location=(0, 0, 5))
    original.usdphys.colliders[0].approximation = "convexHull"
    scenes.assign(original.usdphys.mass, is_applied=True, mass=2)
    targets = [scenes.add_box(f"T{index}", location=(3 * index + 3, 0, 5)) for index in range(3)]
    copy(original, *targets)
    stage, result = scenes.export(tmp_path / "copies.usda")
    assert [issue.code for issue in result.issues if issue.severity != "info"] == []
    assert [scenes.prim_of(stage, obj.name).GetAttribute("physics:mass").Get() for obj in targets] == [2, 2, 2]


# --------------------------------------------------------------------------- one property


def test_copy_of_one_property():
    original, targets = source(), [scenes.solid(f"T{index}") for index in range(2)]
    assert copy_one("rigid_body.velocity", original, *targets) == {"FINISHED"}
    for obj in targets:
        assert tuple(obj.usdphys.rigid_body.velocity) == (1, 2, 3)
        assert not obj.usdphys.rigid_body.is_property_set("starts_asleep")
    # As a panel names it, and what is not set.
    original.usdphys.rigid_body.property_unset("velocity")
    copy_one("object.usdphys.rigid_body.velocity", original, *targets)
    assert not any(obj.usdphys.rigid_body.is_property_set("velocity") for obj in targets)


def test_copy_of_an_enum_a_pointer_a_list_and_a_group():
    original, target = source(), scenes.solid("Target")
    copy_one("colliders[0].approximation", original, target)
    assert target.usdphys.colliders[0].approximation == "convexHull"
    copy_one("physics_material", original, target)
    assert target.usdphys.physics_material.name == "Steel"
    copy_one("collision_groups", original, target)
    assert memberships(target) == ["Machine", "Fingers"]
    copy_one("mass", original, target)
    assert authored(target.usdphys.mass) == authored(original.usdphys.mass)
    a, b = (scenes.add_joint(name, "REVOLUTE", original, target) for name in ("J0", "J1"))
    scenes.assign(a.usdphys.joint.drives.angular, is_applied=True, stiffness=4)
    copy_one("joint.drives.angular", a, b)
    assert authored(b.usdphys.joint.drives.angular) == {"is_applied": True, "stiffness": 4}


def test_copy_of_one_property_that_targets_lack():
    original, one, two = source(), scenes.solid("One"), scenes.solid("Two")
    scenes.make_collider(two, "SPHERE")
    outcome = copying.copy_one_property(original, [one, two], "colliders[1].radius")
    assert two.usdphys.colliders[1].radius == 0.5
    assert outcome.objects == ["Two"]
    assert any("'One'" in note for note in outcome.notes)
    with pytest.raises(RuntimeError, match="'One'"):
        copy_one("colliders[1].radius", original, one)


def test_copy_of_one_property_where_it_is_not_applied():
    original, target = source(), scenes.solid("Target")
    outcome = copying.copy_one_property(original, [target], "mass.mass")
    assert target.usdphys.mass.mass == 2
    assert not target.usdphys.mass.is_applied
    assert any("not applied" in note and "'Target'" in note for note in outcome.notes)


@pytest.mark.parametrize("path", [
    "", "nothing", "rigid_body.nothing", "rigid_body.rna_type", "colliders[7].radius",
    "joint.body0.usdphys.mass.mass", "rigid_body[", "bl_rna.name", "id_data.name", "rigid_body.velocity[0]",
])  # fmt: skip
def test_copy_of_no_property(path):
    original, target = source(), scenes.solid("Target")
    original.usdphys.joint.body0 = bpy.data.objects["Other"]
    before = authored(target.usdphys)
    with pytest.raises(RuntimeError, match="'Source' has no physics property"):
        copy_one(path, original, target)
    assert authored(target.usdphys) == before
    assert target.name == "Target"


@pytest.mark.parametrize("path", [
    "prim", ".prim", "prim.path", "object.usdphys.prim.path", "joint.remembered_local_pos0",
])  # fmt: skip
def test_the_memory_of_the_import_is_not_copied(path):
    original, target = source(), scenes.solid("Target")
    with pytest.raises(RuntimeError, match="imported from"):
        copy_one(path, original, target)
    assert not target.usdphys.is_property_set("prim")


def test_a_property_offers_to_be_copied_in_its_menu():
    from types import SimpleNamespace

    from usdphys_ext.operators import batch

    bpy.ops.mesh.primitive_cube_add()
    obj = bpy.context.object
    obj.usdphys.colliders.add()

    def offered(pointer, name):
        item = pointer.bl_rna.properties[name] if pointer is not None else None
        context = SimpleNamespace(button_pointer=pointer, button_prop=item)
        layout = LayoutRecorder()
        batch.draw_button_menu(SimpleNamespace(layout=layout), context)
        return [(button.arguments["operator"], button.values["data_path"]) for button in layout.buttons()]

    assert offered(obj.usdphys.mass, "density") == [("usdphys.copy_property", "mass.density")]
    assert offered(obj.usdphys.colliders[0], "radius") == [("usdphys.copy_property", "colliders[0].radius")]
    assert offered(obj, "location") == []
    assert offered(bpy.context.scene.usdphys.stage, "up_axis") == []
    assert offered(None, "") == []
