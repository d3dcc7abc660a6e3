"""An artist's actions, counted: a click, a key, a typed value; and what they are done with."""

import bpy
import kit


class Actions:
    """Counts what the artist does."""

    def __init__(self, task, most):
        self.task, self.most, self.number = task, most, 0

    def __call__(self, number=1):
        self.number += number

    def end(self):
        print(f"ACTIONS {self.task}: {self.number} of {self.most}", flush=True)
        assert self.number <= self.most, self.task


def box(name, location, size, color=(0.6, 0.6, 0.6, 1)):
    mesh = bpy.data.meshes.new(name)
    x, y, z = (part / 2 for part in size)
    corners = [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    return linked(name, mesh, location, color)


def wheel(name, location):
    bpy.ops.mesh.primitive_cylinder_add(radius=0.35, depth=0.25, rotation=(1.5707963, 0, 0), location=location)
    obj = bpy.context.object
    obj.name, obj.color = name, (0.2, 0.2, 0.2, 1)
    return obj


def linked(name, data, location, color):
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.color = location, color
    return obj


def clear():
    if kit.session() is not None:
        bpy.ops.usdphys.preview_reset()
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)


def click_on(actions, obj, offset=(0, 0, 0), shift=False):
    """Select an object with the mouse, by a place on it."""
    actions()
    bpy.context.view_layer.update()
    x, y = kit.pixel([a + b for a, b in zip(obj.matrix_world.translation, offset, strict=True)])
    kit.move(x, y)
    yield 0.3
    for value in ("PRESS", "RELEASE"):
        kit.window().event_simulate(type="LEFTMOUSE", value=value, x=int(x), y=int(y), shift=shift)
        yield 0.2
    yield from kit.until(lambda: obj.select_get(), f"{obj.name} is selected")


def press(actions, name, **options):
    """Click a button: as the sidebar calls it."""
    actions()
    operator = getattr(bpy.ops.usdphys, name)
    with kit.in_view():
        assert operator.poll(), name
        result = operator("INVOKE_DEFAULT", **options)
    assert result & {"FINISHED", "RUNNING_MODAL"}, (name, result)
    yield 0.3


def play(actions):
    yield from press(actions, "preview_play")
    yield from kit.begun()


def select_all(actions):
    actions()
    with kit.in_view():
        bpy.ops.object.select_all(action="SELECT")
    yield 0.2


def look(rotation, location, distance):
    view = kit.area().spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation, view.view_location, view.view_distance = rotation, location, distance


def front(distance, height=1.0, turned=0.5):
    from mathutils import Euler

    look(Euler((1.25, 0, turned)).to_quaternion(), (0, 0, height), distance)
