"""Drag the handles of a collider, of a hinge and of a ball joint with the mouse; undo each; see them step aside."""

import math
import sys
from importlib import import_module

sys.path.insert(0, "/share/drivers")

import bpy
import kit
import numpy as np

DEGREE = math.pi / 180.0


def module(name):
    return import_module(f"{kit.MODULE}.usdphys_addon.viewport.{name}")


def shown():
    """The handles of the active object, as the view has them."""
    with kit.in_view():
        view = module("shown_handles").view_of(bpy.context)
        return module("object_handles").shown_for(bpy.context, bpy.context.object, view)


def at(key):
    """Where a handle is, in pixels of the window."""
    found = shown()
    handle = next(handle for handle in found.handles if handle.key == key)
    place, region = found.view.project(handle.point(found.view)), kit.region()
    return region.x + place[0], region.y + place[1]


def pixel_of(point):
    region = kit.region()
    place = shown().view.project(point)
    return region.x + place[0], region.y + place[1]


def activate(obj):
    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    kit.area().tag_redraw()


def press(x, y, value="PRESS", kind="LEFTMOUSE", **modifiers):
    kit.window().event_simulate(type=kind, value=value, x=int(x), y=int(y), **modifiers)


def drag(start, end, name="", *, ends_with="RELEASE", **modifiers):
    """Take a handle and move it; a screenshot in the middle."""
    kit.move(*start)
    yield 0.4
    if name:
        kit.shot(f"{name}-1-before")
    press(*start)
    yield 0.3
    for step in range(1, 9):
        way = np.add(start, np.subtract(end, start) * step / 8)
        kit.window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(way[0]), y=int(way[1]), **modifiers)
        yield 0.1
    yield 0.3
    if name:
        kit.shot(f"{name}-2-during")
    if ends_with == "RELEASE":
        press(*end, value="RELEASE", **modifiers)
    else:
        press(*end, kind=ends_with)
        yield 0.2
        press(*end, kind=ends_with, value="RELEASE")
        press(*end, value="RELEASE")
    yield 0.4
    if name:
        kit.move(end[0] + 150, end[1] + 120)
        yield 0.3
        kit.shot(f"{name}-3-after")


def undo():
    with kit.in_view():
        bpy.ops.ed.undo()


def push(message):
    """An undo step, and what Python has changed is drawn."""
    bpy.context.view_layer.update()
    kit.area().tag_redraw()
    with kit.in_view():
        bpy.ops.ed.undo_push(message=message)


def empty(name, kind, **settings):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.empty_display_size = 0.4
    for key, value in settings.items():
        setattr(obj, key, value)
    obj.usdphys.joint.is_applied, obj.usdphys.joint.type = True, kind
    return obj


def the(name):
    return bpy.data.objects[name]


def steps():
    yield from kit.install()
    gizmos = module("gizmos")
    for name in ("show_axis_x", "show_axis_y", "show_cursor", "show_relationship_lines"):
        setattr(kit.area().spaces.active.overlay, name, False)
    kit.area().spaces.active.region_3d.view_distance = 7.0
    cube = the("Cube")
    cube.name = "Crate"
    cube.scale = (1.0, 0.6, 0.8)
    cube.rotation_euler = (0.0, 0.0, 0.4)
    item = cube.usdphys.colliders.add()
    item.shape = "CUBE"
    activate(cube)
    push("Crate")
    yield 0.8

    # A face: the other side stays; what was fitted is authored.
    start = at("collider.size:+X")
    outward = np.array(cube.matrix_world.col[0].xyz)
    outward /= np.linalg.norm(outward)
    face = np.array(cube.matrix_world @ bpy.data.objects["Crate"].matrix_world.col[0].xyz.__class__((1.0, 0.0, 0.0)))
    end = pixel_of(face + outward * 0.6)
    assert not item.is_property_set("size")
    yield from drag(start, end, "1-face")
    item = the("Crate").usdphys.colliders[0]
    assert abs(item.size[0] - 2.6) < 0.03, tuple(item.size)
    assert np.allclose(tuple(item.size)[1:], (2.0, 2.0)), tuple(item.size)
    assert abs(item.location[0] - 0.3) < 0.02 and abs(item.location[1]) < 1e-5, tuple(item.location)
    undo()
    yield 0.5
    item = the("Crate").usdphys.colliders[0]
    assert not item.is_property_set("size") and not item.is_property_set("location"), "one undo takes it back"

    # Esc leaves nothing behind, and no undo step.
    start = at("collider.size:+Z")
    yield from drag(start, (start[0], start[1] + 80), ends_with="ESC")
    item = the("Crate").usdphys.colliders[0]
    assert not item.is_property_set("size") and not item.is_property_set("location")
    assert the("Crate").select_get()

    # A press without a move is nothing.
    yield from kit.click(*at("collider.size:+X"))
    assert not the("Crate").usdphys.colliders[0].is_property_set("size")

    # A capsule, by its radius.
    item.shape = "CAPSULE"
    push("Capsule")
    yield 0.5
    start, middle = at("collider.radius"), at("collider.location")
    before = item.radius
    yield from drag(start, np.add(start, np.subtract(start, middle) * 0.5), "2-capsule")
    item = the("Crate").usdphys.colliders[0]
    assert item.is_property_set("radius") and not item.is_property_set("height") and item.radius != before
    kept = item.radius

    # A hinge: the upper limit, snapped.
    hinge = empty("Hinge", "REVOLUTE", location=(0.0, 0.0, 1.6), rotation_euler=(0.3, 0.0, 0.0))
    joint = hinge.usdphys.joint
    joint.axis, joint.body1 = "Z", the("Crate")
    joint.revolute.lower_limit, joint.revolute.upper_limit = -30 * DEGREE, 40 * DEGREE
    joint.drives.angular.is_applied = True
    joint.drives.angular.target_position = 10 * DEGREE
    activate(hinge)
    push("Hinge")
    yield 0.8
    found = shown()
    dial = next(handle for handle in found.handles if handle.key == "joint.revolute.upper_limit")
    goal = dial.origin + (dial.zero * math.cos(1.572) + np.cross(dial.axis, dial.zero) * math.sin(1.572)) * dial.scale
    yield from drag(at(dial.key), pixel_of(goal), "3-dial", ctrl=True)
    joint = the("Hinge").usdphys.joint
    assert abs(joint.revolute.upper_limit - 90 * DEGREE) < 1e-5, joint.revolute.upper_limit / DEGREE
    assert abs(joint.revolute.lower_limit + 30 * DEGREE) < 1e-5
    assert the("Crate").usdphys.colliders[0].radius == kept
    undo()
    yield 0.5
    joint = the("Hinge").usdphys.joint
    assert abs(joint.revolute.upper_limit - 40 * DEGREE) < 1e-5, "one undo takes it back"

    # The lower limit stops at the upper one.
    goal = dial.origin + (dial.zero * math.cos(1.2) + np.cross(dial.axis, dial.zero) * math.sin(1.2)) * dial.scale
    yield from drag(at("joint.revolute.lower_limit"), pixel_of(goal))
    assert abs(the("Hinge").usdphys.joint.revolute.lower_limit - 40 * DEGREE) < 1e-5

    # A ball joint without a cone gets one.
    ball = empty("Ball", "SPHERICAL", location=(0.0, 0.0, 1.4))
    ball.usdphys.joint.axis = "Z"
    ball.usdphys.joint.spherical.cone_angle1_limit = 25 * DEGREE
    activate(ball)
    push("Ball")
    yield 0.8
    cone = next(handle for handle in shown().handles if handle.key == "joint.spherical.cone_angle0_limit")
    goal = cone.origin + (cone.zero * math.cos(0.7) + np.cross(cone.axis, cone.zero) * math.sin(0.7)) * cone.scale
    yield from drag(at(cone.key), pixel_of(goal), "4-cone")
    spherical = the("Ball").usdphys.joint.spherical
    assert abs(spherical.cone_angle0_limit - 0.7) < 0.03, spherical.cone_angle0_limit / DEGREE
    assert abs(spherical.cone_angle1_limit - 25 * DEGREE) < 1e-5
    undo()
    yield 0.5
    assert not the("Ball").usdphys.joint.spherical.is_property_set("cone_angle0_limit")

    # The offset of a collider, along one axis; Backspace takes back that it is authored.
    activate(the("Crate"))
    push("Crate again")
    yield 0.8
    start = at("collider.location")
    kit.move(*start)
    yield 0.3
    press(*start)
    yield 0.2
    yield from kit.key("Z", *start)
    for step in range(1, 7):
        kit.move(start[0] + 10 * step, start[1] + 10 * step)
        yield 0.1
    kit.shot("5-offset")
    press(start[0] + 60, start[1] + 60, value="RELEASE")
    yield 0.4
    item = the("Crate").usdphys.colliders[0]
    assert item.location[2] > 0.2 and tuple(item.location)[:2] == (0.0, 0.0), tuple(item.location)
    assert item.radius == kept
    with kit.in_view():
        bpy.ops.screen.redo_last("INVOKE_DEFAULT")
    yield 0.6
    kit.shot("5-offset-again")
    yield from kit.key("ESC", start[0] + 60, start[1] + 60)
    start = at("collider.location")
    kit.move(*start)
    yield 0.4
    press(*start)
    yield 0.2
    yield from kit.key("BACK_SPACE", *start)
    press(*start, value="RELEASE")
    yield 0.4
    assert not the("Crate").usdphys.colliders[0].is_property_set("location")
    undo()
    yield 0.5
    assert the("Crate").usdphys.colliders[0].location[2] > 0.2

    # A slider and a distance, to be looked at, on a light background, too.
    slider = empty("Slider", "PRISMATIC", location=(0.0, -2.0, 0.5))
    slider.usdphys.joint.prismatic.upper_limit = 1.0
    slider.usdphys.joint.drives.linear.is_applied = True
    slider.usdphys.joint.drives.linear.target_position = 0.4
    slider.usdphys.joint.local_pos1, slider.usdphys.joint.local_rot1 = (1.5, -2.0, 0.5), (1, 0, 0, 0)
    activate(slider)
    yield 0.8
    kit.shot("6-slider")
    rope = empty("Rope", "DISTANCE", location=(0.0, -1.0, 1.5))
    rope.usdphys.joint.distance.max_distance = 1.0
    activate(rope)
    kit.area().spaces.active.shading.background_type = "VIEWPORT"
    kit.area().spaces.active.shading.background_color = (0.95, 0.95, 0.95)
    yield 0.8
    kit.shot("6-rope-on-light")
    activate(the("Hinge"))
    yield 0.8
    kit.shot("7-dial-on-light")
    the("Crate").usdphys.rigid_body.is_applied = the("Crate").usdphys.mass.is_applied = True
    the("Crate").usdphys.colliders[0].shape = "CONE"
    activate(the("Crate"))
    yield 1.2
    kit.shot("8-cone-on-light")

    # The inertia, while the overlay shows it: a face makes two moments larger, and both values are authored.
    bpy.context.window_manager.usdphys_overlay.mass = "ALL"
    the("Crate").usdphys.colliders[0].shape = "CUBE"
    the("Crate").usdphys.mass.mass = 6.0
    push("Crate with a mass")
    yield from kit.until(lambda: any(one.key == "mass.diagonal_inertia:X" for one in shown().handles), "a known mass")
    mass = the("Crate").usdphys.mass
    assert not mass.is_property_set("diagonal_inertia")
    # The handles of the mass before are still shown for a moment: the aim is taken when the new ones stand still.
    places = []

    def stands_still():
        found = next((one for one in shown().handles if one.key == "mass.diagonal_inertia:X"), None)
        places.append(None if found is None else tuple(map(float, found.point(shown().view))))
        return len(places) > 12 and places[-1] is not None and len(set(places[-12:])) == 1

    yield from kit.until(stands_still, "handles of the inertia that stand still")
    handle = next(handle for handle in shown().handles if handle.key == "mass.diagonal_inertia:X")
    end = pixel_of(handle.point(shown().view) + handle.axis * 0.5)
    yield from drag(at(handle.key), end, "10-inertia")
    yield from kit.until(lambda: the("Crate").usdphys.mass.is_property_set("diagonal_inertia"), "an authored inertia")
    mass = the("Crate").usdphys.mass
    x, y, z = mass.diagonal_inertia
    assert mass.is_property_set("principal_axes")
    axes = tuple(mass.principal_axes)
    assert max(abs(a - b) for a, b in zip(axes, (1.0, 0.0, 0.0, 0.0), strict=True)) < 1e-5, axes
    edge = math.sqrt(6.0 * (y + z - x) / 6.0)
    assert abs(edge - float(handle.value) - 1.0) < 0.1, (edge, handle.value)
    kept = (x, y, z)
    yield from drag(at("mass.diagonal_inertia:Z"), (end[0], end[1] + 60), ends_with="ESC")
    assert tuple(the("Crate").usdphys.mass.diagonal_inertia) == kept
    undo()
    yield 0.8
    mass = the("Crate").usdphys.mass
    assert not mass.is_property_set("diagonal_inertia") and not mass.is_property_set("principal_axes")
    bpy.context.window_manager.usdphys_overlay.mass = "NONE"
    yield 0.5

    # They step aside: for Blender's own move tool, in edit mode, when gizmos are off.
    def is_wanted():
        with kit.in_view():
            return gizmos.USDPHYS_GGT_handles.poll(bpy.context)

    assert is_wanted()
    with kit.in_view():
        bpy.ops.wm.tool_set_by_id(name="builtin.move")
    yield 0.5
    assert not is_wanted()
    kit.shot("9-move-tool")
    with kit.in_view():
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")
    kit.area().spaces.active.show_gizmo = False
    assert not is_wanted()
    kit.area().spaces.active.show_gizmo = True
    x, y = at("collider.location")
    kit.move(x + 200, y + 100)
    yield 0.3
    yield from kit.key("G", x + 200, y + 100)
    running = [operator.bl_idname for operator in kit.window().modal_operators]
    assert "TRANSFORM_OT_translate" in running, running
    assert not is_wanted()
    yield from kit.key("ESC", x + 200, y + 100)
    assert is_wanted()
    with kit.in_view():
        bpy.ops.object.mode_set(mode="EDIT")
        assert not gizmos.USDPHYS_GGT_handles.poll(bpy.context)
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.usdphys.preview_play()
        assert not gizmos.USDPHYS_GGT_handles.poll(bpy.context)
        bpy.ops.usdphys.preview_reset()
    yield 0.5
    assert is_wanted()
    assert not gizmos.failures.has_failed and not gizmos.failures.objects

    # Off and on again.
    bpy.ops.preferences.addon_disable(module=kit.MODULE)
    yield 0.5
    assert bpy.types.GizmoGroup.bl_rna_get_subclass_py("USDPHYS_GGT_handles") is None
    bpy.ops.preferences.addon_enable(module=kit.MODULE)
    yield 0.8
    kit.shot("9-enabled-again")


kit.run(steps)
