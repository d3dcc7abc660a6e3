"""Settings of simulators on bodies, colliders, materials, scenes and joints, in the Properties editor, by clicks."""

import sys

sys.path.insert(0, "/share/drivers")

import bpy
import kit


def build():
    body, frame = kit.crate("Body", (0, 0, 2)), kit.crate("Frame", (0, 0, 4), moves=False)
    body.usdphys.rigid_body.is_applied = True
    joint = bpy.data.objects.new("Joint", None)
    bpy.context.scene.collection.objects.link(joint)
    group = joint.usdphys.joint
    group.is_applied, group.type, group.body0, group.body1 = True, "GENERIC", frame, body
    return body, joint


def open_panels(*labels):
    panels = sys.modules[f"{kit.MODULE}.panels"].CLASSES
    for cls in [cls for cls in panels if issubclass(cls, bpy.types.Panel) and cls.bl_label in labels]:
        kit.open_panel(cls)


def show(obj, tab="PHYSICS"):
    bpy.context.view_layer.objects.active = obj
    for other in bpy.context.scene.objects:
        other.select_set(other is obj)
    properties = kit.area("PROPERTIES")
    properties.spaces.active.context = tab
    properties.tag_redraw()


def at(x, from_top):
    """A click on a pixel, counted from the upper left corner of the window."""
    yield from kit.click(x, kit.window().height - from_top)
    yield 0.3


def three_clicks(body):
    """The panels are as at first: Rigid Body, More Settings, a setting; then the lens of PhysX, and a choice."""
    header, more = 218, 420
    yield from at(52, header)
    kit.shot("1-rigid-body")
    yield from at(52, more)
    kit.shot("2-more-settings")
    yield from at(300, more + 20)
    assert [row.name for row in body.usdphys.vendor if row.name], "the third click sets something"
    kit.shot("3-set")
    body.usdphys.vendor.clear()
    yield from at(52, more)
    before = len(body.usdphys.vendor)
    yield from at(1257, more + 35)
    kit.shot("4-search")
    x, y = 1257, kit.window().height - more - 35
    yield from kit.key("DOWN_ARROW", x, y)
    yield from kit.key("RET", x, y)
    assert len(body.usdphys.vendor) > before, "an attribute is chosen from the search"
    kit.shot("5-found")
    body.usdphys.vendor.clear()
    yield from at(52, header)
    body.usdphys.colliders[0].shape = "MESH"
    yield from at(52, header + 42)
    kit.shot("6-colliders")
    yield from at(52, header + 42)


def steps():
    yield from kit.install()
    bpy.context.preferences.view.ui_scale = 0.8
    body, joint = build()
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    properties = kit.area("PROPERTIES")
    # The Properties editor is as high as the window: its panels need the room.
    with bpy.context.temp_override(window=kit.window(), area=properties, region=properties.regions[-1]):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    show(body)
    yield 0.5
    yield from three_clicks(body)
    yield from at(52, 238)
    for concept in ("linear_damping", "max_speed", "locked_rotation", "ccd", "surface_velocity", "force"):
        with bpy.context.temp_override(window=kit.window(), object=body):
            bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    yield 1.5
    kit.shot("7-body")

    yield from at(52, 238)
    show(joint)
    yield 0.5
    yield from at(52, 247)
    with bpy.context.temp_override(window=kit.window(), object=joint):
        bpy.ops.usdphys.joint_preset(preset="CYLINDRICAL")
        bpy.ops.usdphys.joint_motion(dof="rotX", motion="LIMITED")
        for concept in ("joint_armature", "joint_friction", "limit_stiffness", "mimic_joint"):
            bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    drive = joint.usdphys.joint.drives.rotX
    drive.is_applied = True
    yield 1.5
    kit.shot("8-joint")
    assert joint.usdphys.joint.limits.rotX.is_applied

    open_panels("USD Physics")
    body.data.materials.append(bpy.data.materials.new("Rubber"))
    show(body)
    yield 0.5
    show(body, "MATERIAL")
    yield 1.0
    kit.shot("9-material")
    show(body, "SCENE")
    yield 1.0
    kit.shot("10-scene")


kit.run(steps)
