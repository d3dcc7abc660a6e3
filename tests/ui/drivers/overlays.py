"""The overlays in a window: each part on and off, in every mode and kind of view, while the preview plays."""

import sys
from importlib import import_module

sys.path.insert(0, "/share/drivers")

import bpy
import kit
import numpy as np


def thing(name, mesh, location, scale=(1, 1, 1), moves=True, shape="AUTO", approximation=None):
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.scale = location, scale
    item = obj.usdphys.colliders.add()
    item.shape = shape
    if approximation:
        item.approximation = approximation
    obj.usdphys.rigid_body.is_applied = moves
    return obj


def joint(name, kind, location, first, second, **limits):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.empty_display_size = location, 0.1
    group = obj.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, kind, first, second
    for key, value in limits.items():
        setattr(getattr(group, kind.lower()), key, value)
    return obj


def mesh_of(add, **options):
    add(**options)
    obj = bpy.context.object
    mesh = obj.data
    bpy.data.objects.remove(obj)
    return mesh


def pixels(name):
    kit.shot(name)
    image = bpy.data.images.load(f"/share/shots/{name}.png")
    values = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(values)
    width, height = image.size
    bpy.data.images.remove(image)
    region = kit.region()
    whole = values.reshape(height, width, 4)
    return whole[region.y : region.y + region.height, region.x : region.x + region.width, :3]


def differs(first, second):
    return int((np.abs(first - second).max(axis=2) > 0.15).sum())


def build():
    ops = bpy.ops.mesh
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    cube = mesh_of(ops.primitive_cube_add, size=1)
    monkey = mesh_of(ops.primitive_monkey_add, size=1)
    ball = mesh_of(ops.primitive_uv_sphere_add, radius=0.5)
    torus = mesh_of(ops.primitive_torus_add, major_radius=0.5, minor_radius=0.18)
    made = {
        "floor": thing("Floor", cube, (0, 0, -1.05), (14, 10, 0.1), moves=False),
        "box": thing("Box", cube, (-4, -1.5, 0.5)),
        "hull": thing("Hull", monkey, (-2.2, -1.5, 0.5), shape="MESH", approximation="convexHull"),
        "parts": thing("Parts", torus, (-0.4, -1.5, 0.5), shape="MESH", approximation="convexDecomposition"),
        "ball": thing("Ball", ball, (1.2, -1.5, 0.5)),
        "capsule": thing("Capsule", ball, (2.6, -1.5, 0.7), (1, 1, 1.8), shape="CAPSULE"),
        "mesh": thing("Mesh", torus, (4.2, -1.5, -0.6), moves=False, shape="MESH", approximation="none"),
        "post": thing("Post", cube, (-3, 2, 0), (0.3, 0.3, 2)),
        "arm": thing("Arm", cube, (-2, 2, 0.8), (1.6, 0.2, 0.2)),
        "slider": thing("Slider", cube, (1.2, 2, 0), (0.6, 0.6, 0.6)),
        "bob": thing("Bob", cube, (3.4, 2, -0.2), (0.3, 0.3, 1.2)),
        "kite": thing("Kite", cube, (5.2, 2, 0.5), (0.5, 0.5, 0.1)),
    }
    made["post"].usdphys.rigid_body.kinematic_enabled = True
    hinge = joint("Hinge", "REVOLUTE", (-2.8, 2, 0.8), made["post"], made["arm"], lower_limit=-0.6, upper_limit=1.2)
    hinge.rotation_euler.x = 1.5708
    hinge.usdphys.joint.axis = "Z"
    drive = hinge.usdphys.joint.drives.angular
    drive.is_applied, drive.stiffness, drive.damping, drive.target_position = True, 5.0, 1.0, 0.8
    rail = joint("Rail", "PRISMATIC", (0.6, 2, 0), None, made["slider"], lower_limit=-0.5, upper_limit=1.5)
    cone = {"cone_angle0_limit": 0.6, "cone_angle1_limit": 0.3}
    socket = joint("Socket", "SPHERICAL", (3.4, 2, 0.6), None, made["bob"], **cone)
    socket.rotation_euler.y = 1.5708
    rope = joint("Rope", "DISTANCE", (5.2, 2, 1.4), None, made["kite"], max_distance=1.0)
    rope.usdphys.joint.local_pos1 = (0, 0, 0)
    made.update(hinge=hinge, rail=rail, socket=socket, rope=rope)
    rail.usdphys.articulation_root.is_applied = True
    pairs = made["box"].usdphys.filtered_pairs
    pairs.is_applied = True
    pairs.filtered_pairs.add().object = made["hull"]
    for name, members in (("Toys", ("box", "hull")), ("Rings", ("parts", "mesh"))):
        bpy.context.scene.usdphys.collision_groups.add().name = name
        for member in members:
            made[member].usdphys.collision_groups.add().name = name
    return made


def steps():
    yield from kit.install()
    state = import_module(f"{kit.MODULE}.usdphys_addon.viewport.overlay_state")
    jobs = import_module(f"{kit.MODULE}.usdphys_addon.worker.jobs")
    overlay = import_module(f"{kit.MODULE}.usdphys_addon.viewport.overlay")
    energy_plot = import_module(f"{kit.MODULE}.usdphys_addon.viewport.energy_plot")
    contact_forces = import_module(f"{kit.MODULE}.usdphys_addon.viewport.contact_forces")
    guard = kit.guard()
    settings = bpy.context.window_manager.usdphys_overlay
    space = kit.area().spaces.active
    for name in ("show_axis_x", "show_axis_y", "show_floor", "show_cursor", "show_outline_selected",
                 "show_object_origins"):  # fmt: skip
        setattr(space.overlay, name, False)
    # Two pictures of the same are to be the same.
    bpy.context.preferences.system.viewport_aa = "OFF"
    # Nothing physical: nothing is known, nothing drawn.
    yield 1.0
    assert not any(view.drawing.total for view in state.views.values())
    made = build()
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    space.region_3d.view_rotation = (0.85, 0.45, 0.11, 0.2)
    space.region_3d.view_location, space.region_3d.view_distance = (0.3, 0, 0.2), 13.0

    def shown():
        return sum(view.drawing.total for key, view in state.views.items() if not key[2])

    def settled():
        """A slow redraw may ask for another look at the scene, and so on: what was asked for until now is read now."""
        assert not overlay.drawing.failed
        return jobs.turn(state.read_wanted) is None

    def ready():
        """What has changed is asked for by a redraw, read, and drawn."""
        yield 0.1
        yield from kit.until(settled, "the scene is read")
        yield 0.1
        yield from kit.until(settled, "the scene is read")
        yield 0.1

    yield from ready()
    without = pixels("00-nothing-selected")
    assert shown() == 0
    made["hull"].select_set(True)
    made["hinge"].select_set(True)
    yield from kit.until(lambda: shown() > 0, "the scene is read by itself")
    yield from ready()
    default = pixels("01-default")
    assert differs(default, without) > 200
    made["hull"].select_set(False)
    made["hinge"].select_set(False)
    yield from ready()

    def parts_off():
        for name in ("colliders", "bodies", "mass", "joints", "filtered_pairs", "articulations"):
            setattr(settings, name, "NONE")

    parts_off()
    yield from ready()
    assert differs(pixels("02-all-off"), without) < 60
    number = 3
    for name in ("colliders", "bodies", "mass", "joints", "filtered_pairs", "articulations"):
        for xray in (False, True):
            parts_off()
            setattr(settings, name, "ALL")
            settings.use_xray = xray
            yield from ready()
            assert differs(pixels(f"{number:02d}-{name}{'-xray' if xray else ''}"), without) > 60 or not xray, name
            number += 1
    settings.use_xray = False
    parts_off()
    settings.colliders, settings.color_by = "ALL", "GROUP"
    yield from ready()
    kit.shot("20-groups")
    settings.color_by = "KIND"

    # Everything at once, on a light theme, and with a larger interface.
    for name in ("colliders", "bodies", "mass", "joints", "filtered_pairs", "articulations"):
        setattr(settings, name, "ALL")
    settings.use_xray = True
    yield from ready()
    kit.shot("21-everything")
    gradients = bpy.context.preferences.themes[0].view_3d.space.gradients
    dark = tuple(gradients.high_gradient)
    gradients.high_gradient = (0.9, 0.9, 0.9)
    yield from ready()
    kit.shot("22-light")
    gradients.high_gradient = dark
    bpy.context.preferences.view.ui_scale = 1.6
    yield from ready()
    kit.shot("23-large")
    bpy.context.preferences.view.ui_scale = 1.0
    settings.use_xray = False
    parts_off()
    settings.colliders, settings.joints = "ALL", "ALL"

    # Modes and kinds of views.
    bpy.context.view_layer.objects.active = made["hull"]
    made["hull"].select_set(True)
    with kit.in_view():
        bpy.ops.object.mode_set(mode="EDIT")
    yield from ready()
    kit.shot("30-edit-mode")
    with kit.in_view():
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.view3d.localview()
    yield from ready()
    kit.shot("31-local-view")
    assert any(key[2] for key in state.views), "the local view is a view of its own"
    with kit.in_view():
        bpy.ops.view3d.localview()
        bpy.ops.view3d.view_camera()
    yield from ready()
    kit.shot("32-camera")
    with kit.in_view():
        bpy.ops.view3d.view_camera()
        bpy.ops.screen.region_quadview()
    yield from ready()
    kit.shot("33-quad")
    with kit.in_view():
        bpy.ops.screen.region_quadview()
        bpy.ops.wm.window_new_main()
    yield 1.0
    scene, other = kit.window().scene, bpy.data.scenes.new("Other")
    bpy.context.window_manager.windows[-1].scene = other
    yield from ready()
    kit.shot("34-two-windows")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()
    yield 0.5
    assert kit.window().scene == scene
    for shading in ("WIREFRAME", "SOLID"):
        space.shading.type = shading
        yield from ready()
        kit.shot(f"35-{shading.lower()}")

    # What is deleted, hidden or renamed goes, and nothing is drawn in its place.
    before = shown()
    bpy.data.objects.remove(made["mesh"])
    yield from ready()
    assert shown() < before, [(key, view.drawing.total) for key, view in state.views.items()]
    before = shown()
    made["box"].hide_set(True)
    yield from ready()
    assert shown() < before
    made["box"].hide_set(False)
    made["ball"].name = "Aardvark"
    yield from ready()
    assert shown() == before
    kit.shot("36-changed")

    # The preview: the lines follow, contacts show.
    settings.contacts, settings.energy, settings.bodies = True, True, "ALL"
    yield from ready()
    before = shown()
    yield from kit.play()
    session = guard.current()
    yield from kit.until(lambda: session.world.time > 0.4, "the preview plays")
    kit.shot("40-playing")
    key = next(iter(state.views))
    view = state.views[key]
    assert view.known.world is session.world and view.drawing.total == before, (view.drawing.total, before)
    yield from kit.hurry(session, 2.5)
    kit.shot("41-landed")
    assert np.isfinite(view.positions).all() and not overlay.drawing.failed and not contact_forces.drawing.failed
    assert not energy_plot.drawing.failed and len(session.energies.values) > 60
    kit.reset()
    settings.contacts = settings.energy = False
    yield from ready()
    kit.shot("42-reset")
    with kit.in_view():
        bpy.ops.ed.undo_push()
        bpy.ops.ed.undo()
    yield from ready()
    assert not overlay.drawing.failed

    # The panel and the popover.
    space.show_region_ui = True
    yield 0.5
    kit.region("UI").active_panel_category = "USD Physics"
    with kit.in_view():
        bpy.ops.wm.call_panel(name="USDPHYS_PT_overlays", keep_open=True)
    yield 1.0
    kit.shot("50-popover")
    assert not overlay.drawing.failed


kit.run(steps)
