"""What panels show of a body's mass, and to start from it."""

import bpy
import pytest
from usdphys_ext.usdphys_addon.authoring import group_edits
from usdphys_ext.usdphys_addon.viewport import readout

from . import scenes


def body(scale=(1.0, 1.0, 1.0)):
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    obj = bpy.context.object
    obj.scale = scale
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.colliders.add()
    bpy.context.view_layer.update()
    return obj


def rubber():
    material = bpy.data.materials.new("Rubber")
    material.usdphys.physics_material.is_applied = True
    material.usdphys.physics_material.density = 1100.0
    return material


def mass_of(obj):
    return readout.compute_mass(bpy.context, obj.name)


def test_mass_tells_the_material_whose_density_wins():
    obj = body((1.0, 2.0, 1.0))
    obj.usdphys.physics_material = rubber()
    found = mass_of(obj)
    assert found.mass == pytest.approx(2200.0)
    assert dict(found.sources)["mass"] == f"density 1100 kg/m3 of material Rubber on '{obj.name}'"
    # A box of edges 1, 2, 1 m.
    assert found.diagonal_inertia == pytest.approx((2200 * 5 / 12, 2200 * 2 / 12, 2200 * 5 / 12))


def test_authored_mass_wins():
    obj = body()
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 3.0
    found = mass_of(obj)
    assert found.mass == pytest.approx(3.0)
    assert dict(found.sources)["mass"] == "mass authored on the body"


def test_children_count_and_strangers_do_not():
    obj = body()
    child = body()
    child.usdphys.rigid_body.is_applied = False
    child.parent, child.location = obj, (2, 0, 0)
    body()
    bpy.context.view_layer.update()
    found = mass_of(obj)
    assert found.mass == pytest.approx(2000.0)
    assert found.center_of_mass == pytest.approx((1, 0, 0))


def test_no_body_has_no_mass():
    obj = body()
    obj.usdphys.rigid_body.is_applied = False
    assert "rigid body" in mass_of(obj).problem
    assert not bpy.ops.usdphys.author_computed.poll()


@pytest.mark.parametrize("scale_length", [1.0, 0.01])
def test_what_is_started_from_changes_nothing(scale_length):
    """Also below a scale, and where a unit is a centimetre."""
    bpy.context.scene.unit_settings.scale_length = scale_length
    obj = body((1.0, 2.0, 3.0))
    child = body()
    child.usdphys.rigid_body.is_applied = False
    child.parent, child.location = obj, (2, 0, 0)
    bpy.context.view_layer.update()
    before = mass_of(obj)
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    for name in ("mass", "center_of_mass", "diagonal_inertia"):
        assert bpy.ops.usdphys.author_computed(field=name) == {"FINISHED"}
    after = mass_of(obj)
    assert all("authored" in text for _, text in after.sources)
    assert after.mass == pytest.approx(before.mass, rel=1e-6)
    assert after.center_of_mass == pytest.approx(before.center_of_mass, rel=1e-6)
    assert after.diagonal_inertia == pytest.approx(before.diagonal_inertia, rel=1e-6)


def test_all_selected_bodies_start_from_their_own():
    one, other = body(), body((2.0, 1.0, 1.0))
    one.select_set(True)
    bpy.ops.usdphys.author_computed(field="mass")
    assert (one.usdphys.mass.mass, other.usdphys.mass.mass) == pytest.approx((1000.0, 2000.0))
    assert not one.usdphys.mass.is_property_set("center_of_mass")


def later(clock, obj):
    """What a panel shows that is drawn again and again until nothing changes any more."""
    clock.advance(1.01 * readout.KEEP)
    readout.mass_of(obj.name)
    scenes.finish(readout.compute)
    return readout.mass_of(obj.name)


def test_a_panel_gets_what_is_known_and_something_newer_later(clock):
    obj = body()
    assert readout.mass_of(obj.name) is None
    scenes.finish(readout.compute)
    assert readout.mass_of(obj.name).mass == pytest.approx(1000.0)
    obj.scale = (2.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    assert readout.mass_of(obj.name).mass == pytest.approx(1000.0)
    assert later(clock, obj).mass == pytest.approx(2000.0)


@pytest.fixture
def computed(monkeypatch, clock):
    """Names of the groups whose members were computed, which takes `computed.takes` seconds."""

    class Computed(list):
        takes = 0.0

    names = Computed()
    members_of = group_edits.members

    def members(name):
        names.append(name)
        clock.advance(names.takes)
        return members_of(name)

    monkeypatch.setattr(group_edits, "members", members)
    return names


def test_nothing_is_computed_that_no_panel_asked_for(computed):
    body().location.x = 1.0
    bpy.context.view_layer.update()
    scenes.finish(readout.compute)
    assert computed == []
    readout.members_of("A")
    readout.members_of("A")
    scenes.finish(readout.compute)
    scenes.finish(readout.compute)
    assert computed == ["A"]


@pytest.mark.parametrize(("takes", "counts"), [(0.0, readout.KEEP), (0.1, readout.SHARE * 0.1)])
def test_an_answer_counts_longer_where_it_takes_long_to_find(clock, computed, takes, counts):
    computed.takes = takes
    for part, expected in ((0.0, 1), (0.98, 1), (0.04, 2)):
        clock.advance(part * counts)
        readout.members_of("A")
        scenes.finish(readout.compute)
        assert len(computed) == expected


def test_an_edit_right_after_an_answer_is_not_shown_with_the_old_one(clock, computed):
    """No other draw may follow for a long time."""
    readout.members_of("A")
    scenes.finish(readout.compute)
    body()
    bpy.context.view_layer.update()
    readout.members_of("A")
    scenes.finish(readout.compute)
    readout.members_of("A")
    scenes.finish(readout.compute)
    assert computed == ["A", "A"]


def test_edits_that_follow_each_other_do_not_make_a_slow_answer_be_found_each_time(clock, computed):
    computed.takes = 0.1
    obj = body()
    for _ in range(3):
        obj.location.x += 1.0
        bpy.context.view_layer.update()
        readout.members_of("A")
        scenes.finish(readout.compute)
    assert computed == ["A"]


def test_a_changed_property_counts_as_well(clock):
    obj = body()
    later(clock, obj)
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = 5.0
    bpy.context.view_layer.update()
    assert later(clock, obj).mass == pytest.approx(5.0)


def test_a_list_that_is_edited_counts_as_well(clock):
    obj = body()
    later(clock, obj)
    bpy.ops.usdphys.list_remove(which="colliders")
    assert dict(later(clock, obj).sources)["mass"] == "1 kg, because there are no colliders"


def test_automatic_says_which_shape_it_chose():
    cube = body()
    cube.usdphys.colliders[0].shape = "AUTO"
    assert readout.compute_shapes(bpy.context, cube.name) == ("Box",)
    bpy.ops.mesh.primitive_monkey_add()
    monkey = bpy.context.object
    monkey.usdphys.colliders.add().shape = "AUTO"
    assert readout.compute_shapes(bpy.context, monkey.name) == ("Triangle Mesh",)
    monkey.usdphys.rigid_body.is_applied = True
    monkey.usdphys.colliders.add().shape = "CAPSULE"
    assert readout.compute_shapes(bpy.context, monkey.name) == ("Convex Hull", "Capsule")
    bpy.ops.mesh.primitive_cylinder_add()
    wheel = bpy.context.object
    wheel.parent = monkey
    wheel.usdphys.colliders.add().shape = "AUTO"
    assert readout.compute_shapes(bpy.context, wheel.name) == ("Cylinder",)
    assert readout.compute_shapes(bpy.context, "Gone") == ()


def test_a_window_with_another_scene_has_values_of_that_scene():
    """A body of one window was hidden for the other, which computed its mass."""
    obj, window = body(), bpy.context.window_manager.windows[0]
    first, other = bpy.context.scene, bpy.data.scenes.new("Other")
    window.scene = other
    assert readout.mass_of(obj.name) is None
    window.scene = first
    assert readout.mass_of(obj.name) is None
    # No window shows the other scene now.
    scenes.finish(readout.compute)
    assert not readout.mass_of(obj.name).problem
    window.scene = other
    assert readout.mass_of(obj.name) is None
    scenes.finish(readout.compute)
    assert "hidden" in readout.mass_of(obj.name).problem
    window.scene = first
    assert not readout.mass_of(obj.name).problem
