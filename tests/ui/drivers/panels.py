"""Every panel open, on an object, a joint, a scene and a material with physics."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def depth(panel):
    """Number of panels above one."""
    parent = getattr(bpy.types, getattr(panel, "bl_parent_id", ""), None)
    return 0 if parent is None else 1 + depth(parent)


def open_all_panels(prepare=lambda panel: None):
    """Panels are closed at first; open ones show what is in them. prepare: called with each before it comes back."""
    panels = [cls for cls in sys.modules[f"{kit.MODULE}.panels"].CLASSES if issubclass(cls, bpy.types.Panel)]
    panels.sort(key=depth)
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    for panel in panels:
        panel.bl_options = set()
        prepare(panel)
        bpy.utils.register_class(panel)


def build():
    cube = bpy.data.objects["Cube"]
    physics = cube.usdphys
    physics.rigid_body.is_applied = True
    physics.rigid_body.velocity = (1, 0, 0)
    physics.mass.is_applied = True
    physics.mass.mass = 2.5
    for shape in ("AUTO", "CAPSULE"):
        physics.colliders.add().shape = shape
    physics.colliders[1].radius = 0.4
    physics.active_collider_index = 1
    physics.filtered_pairs.is_applied = True
    physics.filtered_pairs.filtered_pairs.add().object = bpy.data.objects["Camera"]
    scene = bpy.context.scene.usdphys
    for name in ("Wheels", "Chassis"):
        scene.collision_groups.add().name = name
    scene.collision_groups[0].filtered_groups.add().name = "Chassis"
    scene.physics_scenes.add().name = "Moon"
    scene.physics_scenes[0].gravity_magnitude = 1.62
    physics.collision_groups.add().name = "Wheels"
    material = cube.active_material.usdphys.physics_material
    material.is_applied = True
    material.static_friction = 0.8
    hinge = bpy.data.objects.new("Hinge", None)
    bpy.context.scene.collection.objects.link(hinge)
    joint = hinge.usdphys.joint
    joint.is_applied, joint.type, joint.body1 = True, "REVOLUTE", cube
    joint.revolute.lower_limit = -1.5
    joint.drives.angular.is_applied = True
    joint.drives.angular.stiffness = 10
    return cube, hinge


def steps():
    yield from kit.install()
    open_all_panels()
    cube, hinge = build()
    properties = kit.area("PROPERTIES")
    space = properties.spaces.active
    for name, obj, context, parts in (("body", cube, "PHYSICS", 3), ("joint", hinge, "PHYSICS", 2),
                                      ("scene", cube, "SCENE", 2), ("material", cube, "MATERIAL", 1)):  # fmt: skip
        bpy.context.view_layer.objects.active = obj
        space.context = context
        # A tall and readable column: what users see in the sidebar of a large screen.
        with bpy.context.temp_override(window=kit.window(), area=properties, region=kit.region(of="PROPERTIES")):
            bpy.ops.screen.screen_full_area()
        yield 1.0
        full = kit.area("PROPERTIES")
        main = next(region for region in full.regions if region.type == "WINDOW")
        for part in range(parts):
            full.tag_redraw()
            yield 1.5
            kit.shot(f"{name}-{part + 1}")
            with bpy.context.temp_override(window=kit.window(), area=full, region=main):
                for _ in range(20):
                    bpy.ops.view2d.scroll_down()
        with bpy.context.temp_override(window=kit.window(), area=full, region=main):
            bpy.ops.screen.screen_full_area()
        yield 1.0
        properties = kit.area("PROPERTIES")
        space = properties.spaces.active


if __name__ == "__main__":
    kit.run(steps)
