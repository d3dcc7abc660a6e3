"""Settings of simulators on a body and on a generic joint, in the Properties editor; the gains are tuned."""

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
        bpy.utils.unregister_class(cls)
        cls.bl_options = cls.bl_options - {"DEFAULT_CLOSED"} if hasattr(cls, "bl_options") else set()
        bpy.utils.register_class(cls)


def show(obj):
    bpy.context.view_layer.objects.active = obj
    for other in bpy.context.scene.objects:
        other.select_set(other is obj)
    properties = kit.area("PROPERTIES")
    properties.spaces.active.context = "PHYSICS"
    properties.tag_redraw()


def steps():
    yield from kit.install()
    bpy.context.preferences.view.ui_scale = 0.8
    open_panels("Rigid Body", "Joint")
    body, joint = build()
    bpy.context.scene.usdphys.targets = {"NEWTON", "PHYSX"}
    properties = kit.area("PROPERTIES")
    # The Properties editor is as high as the window: its panels need the room.
    with bpy.context.temp_override(window=kit.window(), area=properties, region=properties.regions[-1]):
        bpy.ops.screen.screen_full_area()
    yield 1.0
    show(body)
    for concept in ("linear_damping", "max_speed", "locked_rotation", "ccd", "surface_velocity", "force"):
        with bpy.context.temp_override(window=kit.window(), object=body):
            bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    yield 1.5
    kit.shot("1-body")

    show(joint)
    open_panels("Joint")
    with bpy.context.temp_override(window=kit.window(), object=joint):
        bpy.ops.usdphys.joint_preset(preset="CYLINDRICAL")
        bpy.ops.usdphys.joint_motion(dof="rotX", motion="LIMITED")
        for concept in ("joint_armature", "joint_friction", "limit_stiffness", "mimic_joint"):
            bpy.ops.usdphys.concept_add(data_path="object.usdphys", concept=concept)
    drive = joint.usdphys.joint.drives.rotX
    drive.is_applied = True
    yield 1.5
    kit.shot("2-joint")
    assert joint.usdphys.joint.limits.rotX.is_applied


kit.run(steps)
