"""Generators in a window: settling with progress and Esc and one undo step; sample scenes of the others play."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[0]


def look(distance, target=(0, 0, 0.8)):
    view = kit.area().spaces.active.region_3d
    view.view_distance, view.view_location = distance, target


def clear():
    with kit.in_view():
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.context.scene.cursor.location = (0, 0, 0)
        bpy.ops.usdphys.add_physics(kind="GROUND")


def settle():
    clear()
    with kit.in_view():
        bpy.ops.mesh.primitive_cube_add(size=0.3, location=(5, 5, 0.15))
        cube = bpy.context.object
        select(cube)
        bpy.context.scene.cursor.location = (0, 0, 0.2)
        bpy.ops.ed.undo_push(message="Before")
    number = len(bpy.data.objects)
    look(7)
    x, y = kit.pixel((0, 0, 0))
    operator = sys.modules[f"{kit.MODULE}.operators.settle"].USDPHYS_OT_settle
    usual = operator.slice
    for is_cancelled in (True, False):
        # What is to be cancelled takes one frame a turn: Esc comes before the end, however fast the machine is.
        operator.slice = 0.0 if is_cancelled else usual
        with kit.in_view():
            bpy.ops.usdphys.settle("INVOKE_DEFAULT", True, copies=30, spread=0.8)
        yield 0.3
        if is_cancelled:
            assert len(bpy.data.objects) == number + 30
            kit.shot("1-falling")
            yield from kit.key("ESC", x, y)
            yield from kit.until(lambda: len(bpy.data.objects) == number, "Esc removes the copies")
    # Blender notes an operator that has finished.
    yield from kit.until(
        lambda: any(one.bl_idname == "USDPHYS_OT_settle" for one in bpy.context.window_manager.operators), "it settles"
    )
    made = list(bpy.context.selected_objects)
    assert len(made) == 30 and not any(obj.usdphys.rigid_body.is_applied for obj in made)
    yield 0.3
    heights = [obj.matrix_world.translation.z for obj in made]
    assert min(heights) > 0.1 and max(heights) < 2.5, sorted(heights)
    kit.shot("2-settled")
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.3
    assert len(bpy.data.objects) == number, "one step to undo"


#: (kind of sample, picture, seconds to play, distance and target of the view).
SAMPLES = (
    ("CHIMNEY", "chimney", 0.45, 9, (0, 0, 1.2)), ("RAGDOLL", "ragdoll", 0.9, 7, (0, -0.8, 0.9)),
    ("BRIDGE", "bridge", 1.2, 9, (0, 0, 1.4)), ("MACHINES", "machines", 0.6, 9, (0, -0.3, 1.4)),
)  # fmt: skip


def samples():
    guard = kit.guard()
    for kind, picture, seconds, distance, target in SAMPLES:
        with kit.in_view():
            bpy.ops.usdphys.sample_scene(kind=kind)
        look(distance, target)
        yield 0.3
        yield from kit.play()
        yield from kit.hurry(guard.current(), seconds)
        kit.shot(picture)
        kit.reset()
        yield 0.3


def box(name, place, size):
    bpy.ops.mesh.primitive_cube_add(size=1, location=place)
    obj = bpy.context.object
    obj.name, obj.scale = name, size
    return obj


def car():
    chassis = box("Car", (-2, 0, 0.6), (2, 0.9, 0.4))
    wheels = []
    for x in (-2.7, -1.3):
        for y in (-0.6, 0.6):
            bpy.ops.mesh.primitive_cylinder_add(radius=0.3, depth=0.2, location=(x, y, 0.3), rotation=(1.5708, 0, 0))
            bpy.context.object.name = "Wheel"
            wheels.append(bpy.context.object)
    select(chassis, *wheels)
    bpy.ops.usdphys.vehicle()


def net():
    bpy.context.scene.cursor.location = (0, 0, 1.2)
    bpy.ops.usdphys.net()
    # A ball would be thrown at selected bodies.
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.scene.cursor.location = (0, 0, 1.4)
    bpy.ops.usdphys.add_physics(kind="BALL")


def line(kind):
    def make():
        posts = [box("Post", (x, 0, 1), (0.15, 0.15, 2)) for x in (-2, 2)]
        select(*posts)
        bpy.ops.usdphys.rope(kind=kind, slack=0.1 if kind == "ROPE" else 0.02, radius=0.03, stiffness=20.0)
        # A cloth line: things hang on its segments by joints.
        for number in () if kind == "ROPE" else (6, 10, 15):
            segment = bpy.data.objects[f"{kind.title()} {number}"]
            place = segment.matrix_world.translation
            cloth = box("Cloth", (place.x, place.y, place.z - 0.42), (0.5, 0.04, 0.8))
            select(segment, cloth)
            bpy.ops.usdphys.joint_add(type="SPHERICAL")

    return make


#: (what makes it, picture, seconds to play, distance and target of the view).
MADE = (
    (car, "vehicle", 1.0, 7, (0, 0, 0.4)), (net, "net", 0.8, 5, (0, 0, 1)),
    (line("ROPE"), "rope", 1.0, 6, (0, 0, 1)), (line("CABLE"), "line", 1.5, 6, (0, 0, 1)),
)  # fmt: skip


def made():
    """Built from nothing and played: the car is driven by the arrow keys, and each is one step to undo."""
    guard = kit.guard()
    for make, picture, seconds, distance, target in MADE:
        clear()
        with kit.in_view():
            make()
        look(distance, target)
        yield 0.3
        yield from kit.play()
        if picture == "vehicle":
            x, y = kit.pixel((0, 3, 0))
            kit.move(x, y)
            for arrow in ("UP_ARROW", "LEFT_ARROW"):
                kit.window().event_simulate(type=arrow, value="PRESS", x=int(x), y=int(y))
                yield 0.1
        yield from kit.hurry(guard.current(), seconds)
        kit.shot(picture)
        if picture == "net":
            place = bpy.data.objects["Ball"].matrix_world.translation
            assert abs(place.x) < 0.3 and 0.3 < place.z < 1.6, f"the net holds the ball: {place}"
        if picture == "vehicle":
            car_ = bpy.data.objects["Car"]
            turned = car_.matrix_world.to_euler().z
            assert car_.matrix_world.translation.x > -1.9 and turned > 0.05, (car_.matrix_world.translation, turned)
            for arrow in ("UP_ARROW", "LEFT_ARROW"):
                kit.window().event_simulate(type=arrow, value="RELEASE", x=int(x), y=int(y))
                yield 0.1
        kit.reset()
        yield 0.3


def adjusted():
    """What does not fit is refused in the panel of the last operation, too, and Blender goes on: it crashed."""
    clear()
    with kit.in_view():
        select(box("Door", (0.5, 0, 1), (0.9, 0.05, 2)), box("Frame", (0, 0, 1), (0.1, 0.1, 2)))
        bpy.context.view_layer.objects.active = bpy.data.objects["Frame"]
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.usdphys.mechanism("INVOKE_DEFAULT", True, kind="DOOR")
    number = len(bpy.data.objects)
    x, y = kit.region().x + 330, kit.region().y + 520
    kit.move(x, y)
    yield 0.3
    yield from kit.key("F9", x, y)
    yield 0.5
    # The first row, Kind: one up from the first is the last, a scissor lift.
    x, y = x + 210, y - 40
    kit.move(x, y)
    yield 0.2
    for _ in range(2):
        kit.window().event_simulate(type="WHEELUPMOUSE", value="PRESS", x=int(x), y=int(y), ctrl=True)
        yield 0.6
    kit.shot("adjusted")
    yield from kit.key("ESC", x, y)
    kit.move(kit.region().x + 20, kit.region().y + 200)
    yield 0.5
    assert len(bpy.data.objects) == number
    with kit.in_view():
        bpy.ops.ed.undo()
    yield 0.3
    assert len(bpy.data.objects) == number - 1 and not bpy.data.objects["Door"].usdphys.rigid_body.is_applied


def steps():
    yield from kit.install()
    yield from adjusted()
    yield from settle()
    yield from made()
    yield from samples()


kit.run(steps)
