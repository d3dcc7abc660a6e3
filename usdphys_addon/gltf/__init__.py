# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF documents with physics <-> PhysicsModel: KHR_physics_rigid_bodies and the OMI_physics family. No bpy, no pxr.

`document`: the file. `names`: keys and defaults of both families. `axes`: Y up to Z up and back. `read`: document ->
model. `write`: model -> additions to a document. `joints`, `filters`: limits and collision filters both ways.
"""
