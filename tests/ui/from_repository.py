"""Runs in a real Blender without a window, with the extension from a repository: a crate falls for a second."""

import json
import sys

import bpy

bpy.ops.mesh.primitive_cube_add(location=(0, 0, 10))
crate = bpy.context.object
crate.usdphys.rigid_body.is_applied = True
crate.usdphys.colliders.add()
guard = sys.modules["bl_ext.stranger.usdphys_addon.usdphys_addon.playback.guard"]
session = guard.start(bpy.context)
while session.world.time < 1.0:
    session.step_once(bpy.context)
bpy.context.view_layer.update()
facts = {"seconds": session.world.time, "height": crate.matrix_world.translation.z, "version": bpy.app.version_string}
guard.stop()
print(f"FACTS {json.dumps(facts)}", flush=True)
