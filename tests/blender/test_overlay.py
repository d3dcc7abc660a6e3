"""The overlays on real scenes: what is known of them, how it follows, and, where there is a GPU, what is drawn."""

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.bridge import scene_read
from usdphys_ext.usdphys_addon.playback import guard as preview_guard
from usdphys_ext.usdphys_addon.viewport import joint_loads, overlay, overlay_settings, overlay_state, scene_shapes
from usdphys_ext.usdphys_addon.viewport.scene_shapes import Options
from usdphys_ext.usdphys_addon.worker import jobs

from . import scenes

EVERY = Options("ALL", "ALL", "ALL", "ALL", "ALL", "ALL")


@pytest.fixture(scope="module", autouse=True)
def _drawn():
    """Without windows the add-on does not register what draws."""
    overlay.register()
    yield
    overlay.unregister()


@pytest.fixture(autouse=True)
def _nothing_known():
    overlay_state.forget()
    yield
    preview_guard.stop()
    settings = overlay_settings.current(bpy.context)
    for name in list(settings.keys()):
        settings.property_unset(name)


def cube(name, location=(0, 0, 0), moves=True, scale=(1, 1, 1)):
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=location)
    obj = bpy.context.object
    obj.name, obj.scale = name, scale
    obj.usdphys.colliders.add()
    if moves:
        obj.usdphys.rigid_body.is_applied = True
    obj.select_set(False)
    bpy.context.view_layer.update()
    return obj


def joint(name, first, second, location=(0, 0, 0)):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    group = obj.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, "REVOLUTE", first, second
    return obj


def key():
    return bpy.context.scene.name, bpy.context.view_layer.name, 0


def shown(options=EVERY):
    """What a redraw draws, once what it asks for is read."""
    bpy.context.view_layer.update()
    overlay_state.view_of(key(), options)
    overlay_state.renew(key(), options, bpy.context.view_layer)
    return overlay_state.view_of(key(), options)


def extent(view):
    return view.positions.min(axis=0), view.positions.max(axis=0)


def test_defaults_are_colliders_and_joints_of_what_is_selected():
    settings = overlay_settings.current(bpy.context)
    options = overlay_settings.options_of(settings)
    assert options == Options()
    assert (options.colliders, options.joints) == ("SELECTED", "SELECTED")
    assert not settings.contacts and not settings.use_xray and settings.show
    crate = cube("Crate")
    assert shown(options) is None
    crate.select_set(True)
    assert shown(options).drawing.total == 24


def test_a_scene_without_physics_is_not_read(monkeypatch):
    bpy.ops.mesh.primitive_cube_add()
    assert bpy.context.object.select_get()
    monkeypatch.setattr(scene_read, "read_scene", lambda *_: 1 / 0)
    assert shown(Options()) is None


def test_settings_are_not_of_the_scene():
    settings = overlay_settings.current(bpy.context)
    settings.colliders = "ALL"
    assert bpy.context.window_manager.usdphys_overlay.colliders == "ALL"
    assert not any("overlay" in name for name in bpy.context.scene.usdphys.bl_rna.properties.keys())


def test_lines_follow_without_another_reading(monkeypatch):
    crate = cube("Crate", (1, 2, 3))
    other = cube("Other", (-5, 0, 0), moves=False)
    options = Options("ALL", joints="NONE")
    view = shown(options)
    low, high = extent(view)
    assert low == pytest.approx((-5.5, -0.5, -0.5)) and high == pytest.approx((1.5, 2.5, 3.5))
    monkeypatch.setattr(scene_read, "read_scene", lambda *_: 1 / 0)
    crate.location.z, other.location.x = 10, -8
    bpy.context.view_layer.update()
    moved = overlay_state.view_of(key(), options)
    assert moved is view and view.moved
    assert extent(view)[1][2] == pytest.approx(10.5) and extent(view)[0][0] == pytest.approx(-8.5)
    # Nothing has changed: nothing is computed.
    view.moved = False
    before = view.positions
    assert overlay_state.view_of(key(), options).positions is before and not view.moved


def test_parents_animation_and_units():
    bpy.context.scene.unit_settings.scale_length = 0.01
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    crate = cube("Crate", (100, 0, 0))
    crate.parent = holder
    view = shown()
    assert extent(shown(Options("ALL")))[1][0] == pytest.approx(100.5)
    for frame, x in ((1, 0.0), (10, 500.0)):
        holder.location.x = x
        holder.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    view = shown(Options("ALL"))
    bpy.context.scene.frame_set(10)
    assert overlay_state.view_of(key(), Options("ALL")) is view
    assert extent(view)[1][0] == pytest.approx(600.5)


def test_what_is_deleted_renamed_hidden_or_excluded_is_not_drawn_elsewhere():
    crate, other = cube("Crate", (0, 0, 0)), cube("Other", (9, 0, 0))
    options = Options("ALL", joints="NONE")
    view = shown(options)
    assert view.drawing.total == 48
    bpy.data.objects.remove(crate)
    # The rows of the list of objects are others now: nothing until it is read again.
    assert overlay_state.view_of(key(), options) is None
    assert shown(options).drawing.total == 24
    other.name = "Aardvark"
    low, _ = extent(shown(options))
    assert low[0] == pytest.approx(8.5)
    other.hide_set(True)
    assert shown(options) is None
    other.hide_set(False)
    assert shown(options).drawing.total == 24
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(other)
    bpy.context.scene.collection.objects.unlink(other)
    assert shown(options).drawing.total == 24
    bpy.context.view_layer.layer_collection.children["Away"].hide_viewport = True
    assert shown(options) is None
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    assert shown(options) is None


def test_a_hidden_object_that_was_not_read_comes_with_the_next_reading():
    crate = cube("Crate")
    crate.hide_set(True)
    options = Options("ALL", joints="NONE")
    assert shown(options) is None
    crate.hide_set(False)
    assert shown(options).drawing.total == 24


def test_selection_needs_no_reading_but_for_meshes_that_are_gone(monkeypatch):
    crate = cube("Crate")
    bpy.ops.mesh.primitive_torus_add(location=(5, 0, 0))
    ring = bpy.context.object
    item = ring.usdphys.colliders.add()
    item.shape, item.approximation = "MESH", "none"
    ring.select_set(False)
    crate.select_set(True)
    options = Options()
    readings = []
    read = scene_read.read_scene
    monkeypatch.setattr(scene_read, "read_scene", lambda *args: readings.append(1) or read(*args))
    first = shown(options).drawing.total
    ring.select_set(True)
    assert shown(options).drawing.total > first + 1000 and len(readings) == 2
    ring.select_set(False)
    assert shown(options).drawing.total == first and len(readings) == 2


def test_edit_mode_shapes_and_edits():
    crate = cube("Crate")
    options = Options("ALL", joints="NONE")
    assert extent(shown(options))[1][0] == pytest.approx(0.5)
    bpy.context.view_layer.objects.active = crate
    bpy.ops.object.mode_set(mode="EDIT")
    assert shown(options).drawing.total == 24
    bpy.ops.object.mode_set(mode="OBJECT")
    for vertex in crate.data.vertices:
        vertex.co.x *= 3
    crate.data.update()
    crate.update_tag()
    assert extent(shown(options))[1][0] == pytest.approx(1.5)


def resized(obj):
    """Another shape, which Blender tells of with another update."""
    item = obj.usdphys.colliders[0]
    item.shape = "CAPSULE" if item.shape != "CAPSULE" else "CUBE"
    obj.update_tag()
    bpy.context.view_layer.update()


def test_a_scene_that_changes_is_read_again_once_it_is_left_in_peace(clock):
    crate = cube("Crate")
    options = Options("ALL", joints="NONE")
    first = shown(options).drawing
    assert jobs.turn(overlay_state.read_wanted) is None
    for _ in range(3):
        resized(crate)
        assert overlay_state.view_of(key(), options).drawing is first
        clock.advance(0.9 * overlay_state.QUIET)
        assert jobs.turn(overlay_state.read_wanted) >= 0.05 * overlay_state.QUIET
        assert overlay_state.view_of(key(), options).drawing is first
    clock.advance(0.2 * overlay_state.QUIET)
    assert jobs.turn(overlay_state.read_wanted) is None
    assert overlay_state.view_of(key(), options).drawing.total > first.total


def test_what_blender_tells_nobody_of_is_seen_by_a_redraw_later(clock):
    crate = cube("Crate")
    options = Options("ALL", joints="NONE")
    first = shown(options).drawing

    def redraw(seconds):
        clock.advance(seconds)
        view = overlay_state.view_of(key(), options, region=1, perspective="camera")
        jobs.turn(overlay_state.read_wanted)
        return view.drawing

    redraw(0.0)
    crate.usdphys.colliders[0].shape = "CAPSULE"
    assert redraw(0.9 * overlay_state.KEEP) is first
    assert overlay_state.view_of(key(), options).drawing is first
    redraw(0.2 * overlay_state.KEEP)
    assert overlay_state.view_of(key(), options).drawing.total > first.total


def test_two_scenes_are_two():
    cube("Crate")
    options = Options("ALL", joints="NONE")
    first = shown(options)
    other = bpy.data.scenes.new("Other")
    assert overlay_state.renew(("Other", other.view_layers[0].name, 0), options, other.view_layers[0])
    assert overlay_state.view_of(("Other", other.view_layers[0].name, 0), options) is None
    assert overlay_state.view_of(key(), options) is first


def test_instances_move_with_their_instancer():
    source = bpy.data.collections.new("Source")
    crate = cube("Crate", (1, 0, 0))
    bpy.context.scene.collection.objects.unlink(crate)
    source.objects.link(crate)
    instancer = bpy.data.objects.new("Instancer", None)
    instancer.instance_type, instancer.instance_collection = "COLLECTION", source
    bpy.context.scene.collection.objects.link(instancer)
    options = Options("ALL", joints="NONE")
    assert extent(shown(options))[1][0] == pytest.approx(1.5)
    instancer.location.x = 10
    bpy.context.view_layer.update()
    assert extent(overlay_state.view_of(key(), options))[1][0] == pytest.approx(11.5)


def test_scaled_to_nothing_and_broken_joints_draw_numbers_only():
    flat = cube("Flat", scale=(1, 1, 0))
    joint("Hinge", flat, None)
    joint("Loose", None, None)
    view = shown()
    assert view is None or np.isfinite(view.positions).all()


def test_a_joint_stays_with_its_object_and_its_lines_with_the_bodies():
    base, arm = cube("Base", moves=False), cube("Arm", (4, 0, 0))
    hinge = joint("Hinge", base, arm, (2, 0, 0))
    options = Options("NONE", joints="ALL")
    view = shown(options)
    colors = np.repeat(view.drawing.colors, view.drawing.counts)
    lines = view.positions[colors == scene_shapes.JOINT].reshape(-1, 2, 3)
    assert np.abs(lines[:, 0] - (2, 0, 0)).max() < 1e-5
    assert sorted(lines[:, 1, 0]) == pytest.approx([0, 4])
    hinge.location.z, arm.location.x = 1, 6
    bpy.context.view_layer.update()
    lines = overlay_state.view_of(key(), options).positions[colors == scene_shapes.JOINT].reshape(-1, 2, 3)
    assert np.abs(lines[:, 0] - (2, 0, 1)).max() < 1e-5 and sorted(lines[:, 1, 0]) == pytest.approx([0, 6])


@pytest.mark.slow
def test_the_preview_is_followed_and_left():
    crate = cube("Crate", (0, 0, 5))
    cube("Floor", (0, 0, -0.5), moves=False, scale=(20, 20, 1))
    options = Options("ALL", joints="NONE")
    before = shown(options)
    start = before.positions.copy()
    session = preview_guard.start(bpy.context)
    assert overlay_state.view_of(key(), options) is None
    view = shown(options)
    for _ in range(40):
        session.step_once(bpy.context)
    assert overlay_state.view_of(key(), options) is view
    dynamic = np.repeat(view.drawing.owners, view.drawing.counts) == 1
    middle = view.positions[dynamic].mean(axis=0)
    assert middle == pytest.approx(crate.matrix_world.translation, abs=1e-4) and middle[2] < 4
    for _ in range(300):
        session.step_once(bpy.context)
    assert not session.world.awake.any()
    overlay_state.view_of(key(), options)
    assert scene_shapes.ASLEEP in view.colors and scene_shapes.DYNAMIC not in view.colors
    points, _, _ = session.world.contact_points()
    assert len(points) and np.abs(points[:, 2]).max() < 0.05
    preview_guard.stop()
    assert overlay_state.view_of(key(), options) is not view
    assert shown(options).positions == pytest.approx(start, abs=1e-4)


def test_meshes_are_there_when_the_preview_has_read_the_scene_again():
    crate = cube("Crate", (0, 0, 5))
    bpy.ops.mesh.primitive_cone_add(location=(3, 0, 0))
    lump = bpy.context.object
    item = lump.usdphys.colliders.add()
    item.shape, item.approximation = "MESH", "convexHull"
    lump.select_set(False)
    options = Options("ALL", joints="NONE")
    total = shown(options).drawing.total
    session = preview_guard.start(bpy.context)
    model = session.model
    crate.usdphys.rigid_body.starts_asleep = True
    crate.update_tag()
    bpy.context.view_layer.update()
    session.step_once(bpy.context)
    assert session.model is not model
    overlay_state.forget()
    assert shown(options).drawing.total == total
    crate.select_set(True)
    assert shown(Options()).drawing.total == 24


def test_linked_and_overridden_objects_are_drawn_as_well(tmp_path):
    crate = cube("Crate")
    file = str(tmp_path / "library.blend")
    bpy.data.libraries.write(file, {crate})
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    for place, is_override in (((0, 0, 0), False), ((5, 0, 0), True)):
        with bpy.data.libraries.load(file, link=True) as (_, wanted):
            wanted.objects = ["Crate"]
        obj = wanted.objects[0]
        if is_override:
            obj = obj.override_create(remap_local_usages=False)
            obj.location = place
        bpy.context.scene.collection.objects.link(obj)
    low, high = extent(shown())
    assert (low[0], high[0]) == pytest.approx((-0.5, 5.5), abs=0.3)


def test_another_file_is_not_taken_for_the_one_before(tmp_path):
    """Also where its scene and its objects have the same names."""
    crate = cube("Crate")
    file = str(tmp_path / "crate.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    crate.scale.x = 3.0
    assert extent(shown(Options("ALL")))[1][0] == pytest.approx(1.5)
    bpy.ops.wm.open_mainfile(filepath=file)
    assert overlay_state.view_of(key(), Options("ALL")) is None
    assert extent(shown(Options("ALL")))[1][0] == pytest.approx(0.5)


def test_registering_again_leaves_nothing_behind(extension):
    def handlers():
        lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
        lists |= {"ours at load": jobs.on_load, "ours at undo": jobs.on_undo}
        return {name: len(functions) for name, functions in lists.items() if isinstance(functions, list)}

    before = handlers()
    overlay.unregister()
    overlay_settings.unregister()
    assert sum(handlers().values()) < sum(before.values())
    assert not hasattr(bpy.types.WindowManager, overlay_settings.NAME)
    overlay_settings.register()
    overlay.register()
    assert handlers() == before


# --------------------------------------------------------------------------- pixels

SIZE = 128


@pytest.fixture(scope="module")
def drawn():
    """Call with settings; the picture (SIZE, SIZE, 3) of the overlays from a camera above, 0 to 1."""
    if bpy.app.version < (5, 2):
        pytest.skip("this Blender has no GPU without a window")
    import gpu

    try:
        gpu.init()
    except Exception as error:
        pytest.skip(f"there is no GPU without a window here: {error}")
    from mathutils import Matrix

    def draw(wall=False, far=10.0):
        """wall: something opaque has been drawn before, at a height of 2."""
        projection = Matrix(((0.25, 0, 0, 0), (0, 0.25, 0, 0), (0, 0, -2 / far, -1), (0, 0, 0, 1)))
        camera = Matrix.Translation((0, 0, -far / 2))
        target = gpu.types.GPUOffScreen(SIZE, SIZE)
        settings = overlay_settings.current(bpy.context)
        with target.bind():
            frame = gpu.state.active_framebuffer_get()
            depth = 1.0 if not wall else 0.5 + (-2.0 + far / 2 - far / 2) / far
            frame.clear(color=(0, 0, 0, 1), depth=depth)
            with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
                gpu.matrix.load_matrix(camera)
                gpu.matrix.load_projection_matrix(projection)
                overlay.draw_physics(bpy.context, None, None, None, settings)
            buffer = frame.read_color(0, 0, SIZE, SIZE, 4, 0, "UBYTE")
            buffer.dimensions = SIZE * SIZE * 4
        picture = np.array(buffer, dtype=np.uint8).reshape(SIZE, SIZE, 4)[..., :3] / 255.0
        target.free()
        return picture

    return draw


def lit(picture):
    return picture.max(axis=2) > 0.3


def look(**settings):
    for name, value in settings.items():
        setattr(overlay_settings.current(bpy.context), name, value)
    return shown(overlay_settings.options_of(overlay_settings.current(bpy.context)))


def test_pixels_of_a_collider_have_the_colour_of_its_kind(drawn):
    crate = cube("Crate", scale=(4, 4, 1))
    assert not lit(drawn()).any()
    look(colliders="ALL", line_width=3)
    picture = drawn()
    # An edge at x = 2, in a view of 8 units: a quarter from the right.
    row = picture[SIZE // 2]
    right = row[3 * SIZE // 4 - 3 : 3 * SIZE // 4 + 3]
    assert right[:, 2].max() > 0.7 and right[:, 0].max() < 0.5
    assert lit(picture).mean() < 0.2 and not lit(picture)[SIZE // 2, SIZE // 2]
    crate.usdphys.rigid_body.kinematic_enabled = True
    crate.update_tag()
    look()
    right = drawn()[SIZE // 2][3 * SIZE // 4 - 3 : 3 * SIZE // 4 + 3]
    assert right[:, 0].max() > 0.7 and right[:, 2].max() < 0.5


def test_pixels_behind_a_surface_only_with_xray(drawn):
    cube("Crate", scale=(4, 4, 1))
    look(colliders="ALL", line_width=3)
    in_front = drawn()
    assert not lit(drawn(wall=True)).any()
    look(use_xray=True)
    faint = drawn(wall=True)
    assert 0.05 < faint.max() < 0.7 * in_front.max()
    cube("Higher", (0, 0, 3), scale=(4, 4, 1))
    look(use_xray=False)
    assert lit(drawn(wall=True)).any()


def bounds(picture):
    """(left, right, lower, upper) of what is lit, Blender units; the view is 8 units wide."""
    rows, columns = np.nonzero(lit(picture))
    return tuple(float(edge) / SIZE * 8.0 - 4.0 for edge in (columns.min(), columns.max(), rows.min(), rows.max()))


#: What each part may cover where the base is at 0, the hinge at 0.7 and the arm at 1.5: (left, right, half height).
REGIONS = {
    "colliders": (-0.5, 2.0, 0.5), "bodies": (-0.8, 2.3, 0.8), "mass": (1.0, 2.0, 0.5), "joints": (-0.1, 1.6, 0.9),
    "filtered_pairs": (-0.6, 2.1, 0.6), "articulations": (-0.6, 2.1, 0.6),
}  # fmt: skip


def test_pixels_of_each_part_are_where_they_belong_and_nowhere_else(drawn):
    base, arm = cube("Base", moves=False), cube("Arm", (1.5, 0, 0))
    arm.usdphys.articulation_root.is_applied = True
    arm.usdphys.mass.is_applied = True
    pairs = arm.usdphys.filtered_pairs
    pairs.is_applied = True
    pairs.filtered_pairs.add().object = base
    hinge = joint("Hinge", base, arm, (0.7, 0, 0))
    pictures = {}
    for up in (0.0, 2.0):
        for obj in (base, arm, hinge):
            obj.location.y = up
        bpy.context.view_layer.update()
        for name, (left, right, half) in REGIONS.items():
            look(**dict.fromkeys(REGIONS, "NONE") | {name: "ALL"}, line_width=2)
            pictures[name, up] = drawn()
            found = bounds(pictures[name, up])
            slack = 0.15
            assert left - slack < found[0] and found[1] < right + slack, (name, found)
            assert up - half - slack < found[2] and found[3] < up + half + slack, (name, found)
        look(**dict.fromkeys(REGIONS, "NONE"))
        assert not lit(drawn()).any()
    for one in REGIONS:
        for other in REGIONS:
            if one < other:
                assert (lit(pictures[one, 0.0]) != lit(pictures[other, 0.0])).any(), (one, other)


def test_joints_are_seen_inside_of_their_bodies(drawn):
    """They are drawn behind surfaces too, fainter, without X-ray."""
    base, arm = cube("Base"), cube("Arm", (1.5, 0, 0))
    joint = scenes.add_joint("Hinge", "REVOLUTE", base, arm)
    joint.location = (0.7, 0, 0)
    look(colliders="NONE", joints="ALL", line_width=3)
    in_front, behind = drawn(), drawn(wall=True)
    assert lit(in_front).any()
    assert 0.05 < behind.sum() / in_front.sum() < 0.7


@pytest.mark.parametrize(("height", "scale", "rows"), [(660, 1.0, 2), (1300, 1.0, 4), (1300, 2.0, 2), (200, 1.0, 1)])
def test_plots_of_loads_leave_half_of_the_view_free(height, scale, rows):
    """A plot and its margin have 120 pixels at a scale of 1. A new robot arm has all its joints selected."""
    assert joint_loads.rows_in(height, scale) == rows


def test_a_joint_that_nothing_has_been_measured_of_has_no_empty_plot():
    base, arm = scenes.solid("Base"), scenes.solid("Arm", location=(1.5, 0, 0))
    scenes.select(scenes.add_joint("Hinge", "REVOLUTE", base, arm))
    session = preview_guard.start(bpy.context)
    assert [name for name, _ in joint_loads.of_selected(bpy.context, session)] == ["Hinge"]
    assert joint_loads.plotted(bpy.context, session) == []
    session.step_once(bpy.context)
    assert [name for name, _ in joint_loads.plotted(bpy.context, session)] == ["Hinge"]
    preview_guard.stop()


def test_numbers_are_those_of_the_largest_forces_and_do_not_cover_each_other():
    from usdphys_ext.usdphys_addon.viewport import contact_forces

    forces = np.array([5.0, 100.0, 0.5, 50.0, 0.0])
    assert contact_forces.numbered(forces) == [1, 3, 0]
    assert contact_forces.numbered(np.zeros(3)) == [] and contact_forces.numbered(np.zeros(0)) == []
    places = [(0.0, 0.0), (10.0, 4.0), (0.0, 20.0), (100.0, 0.0), (120.0, 40.0)]
    assert list(contact_forces.apart(places, 1.0)) == [0, 2, 3, 4]
    assert list(contact_forces.apart(places, 2.0)) == [0, 4]
    many = [(100.0 * row, 0.0) for row in range(100)]
    assert len(list(contact_forces.apart(many, 1.0))) == contact_forces.MOST
