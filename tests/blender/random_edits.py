# SPDX-License-Identifier: GPL-3.0-or-later
"""Random operations of Blender on an imported scene, and whether a written file has the world that Blender shows."""

from __future__ import annotations

import random
from pathlib import Path

import bmesh
import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector
from usdphys_ext.usdphys_addon.core.errors import UsdPhysError
from usdphys_ext.usdphys_addon.exchange import gltf_export, scene_export, usd_export, usd_import
from usdphys_ext.usdphys_addon.gltf import additions

from pxr import Usd, UsdGeom, UsdSkel  # isort: skip

SOURCE = """#usda 1.0
(
    defaultPrim = "World"
    metersPerUnit = 1
    upAxis = "Z"
)
class Xform "Prototype" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
{
    def Cube "Shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 0.4
    }
}
def Xform "World"
{
    def PhysicsScene "Scene" {}
    def Scope "Looks"
    {
        def Material "Rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
        {
            float physics:dynamicFriction = 0.8
        }
    }
    def Cube "Floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        double3 xformOp:translate = (0, 0, -0.5)
        double3 xformOp:scale = (20, 20, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Scope "Set"
    {
        def "Group"
        {
            def Xform "Crate" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
            {
                float physics:mass = 2
                double3 xformOp:translate = (1, 2, 3)
                float3 xformOp:rotateXYZ = (10, 20, 30)
                uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]
                def Cube "Box" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
                {
                    double size = 0.5
                    rel material:binding:physics = </World/Looks/Rubber>
                    double3 xformOp:scale = (1, 2, 1)
                    uniform token[] xformOpOrder = ["xformOp:scale"]
                }
            }
        }
    }
    def Sphere "Ball" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double radius = 0.3
        double3 xformOp:translate = (-2, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def Xform "Arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (1, 2, 4)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Capsule "Bone" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.1
            double height = 0.6
            uniform token axis = "X"
        }
        def Cylinder "Disk" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.2
            double height = 0.1
            uniform token axis = "Z"
            double3 xformOp:translate = (0.4, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
        def Mesh "Skin"
        {
            int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
            int[] faceVertexIndices = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
            point3f[] points = [(-0.5, -0.1, -0.1), (0.5, -0.1, -0.1), (-0.5, 0.1, -0.1), (0.5, 0.1, -0.1),
                (-0.5, -0.1, 0.1), (0.5, -0.1, 0.1), (-0.5, 0.1, 0.1), (0.5, 0.1, 0.1)]
            uniform token subdivisionScheme = "none"
        }
        def PhysicsFixedJoint "Weld"
        {
            rel physics:body0 = </World/Arm>
            rel physics:body1 = </World/Wedge>
            point3f physics:localPos0 = (0, 1, 0)
            point3f physics:localPos1 = (1, -1, 3)
        }
    }
    def Mesh "Wedge" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
    {
        uniform token physics:approximation = "convexHull"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 0.8, 0), (0, 0, 0.6)]
        uniform token subdivisionScheme = "none"
        double3 xformOp:translate = (0, 4, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def PhysicsRevoluteJoint "Hinge"
    {
        rel physics:body0 = </World/Set/Group/Crate>
        rel physics:body1 = </World/Arm>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (0, 0, 0.5)
        point3f physics:localPos1 = (0, 0, -0.5)
        float physics:lowerLimit = -30
        float physics:upperLimit = 45
    }
    def PhysicsPrismaticJoint "Slide"
    {
        rel physics:body1 = </World/Ball>
        uniform token physics:axis = "X"
        point3f physics:localPos0 = (-2, 0, 1)
        float physics:lowerLimit = -1
        float physics:upperLimit = 1
    }
    def Xform "Copies"
    {
        def "One" (
            instanceable = true
            prepend references = </Prototype>
        )
        {
            double3 xformOp:translate = (4, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
        def "Two" (
            instanceable = true
            prepend references = </Prototype>
        )
        {
            double3 xformOp:translate = (4, 2, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
    }
}
"""
FORMS = ("copy", "layer", "flat", "composed", "gltf")


class Nothing(Exception):  # noqa: N818
    """An operation has no object to work on."""


class Edits:
    """Operations with one source of random numbers. log: what was done."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log: list[str] = []

    def one(self, kinds=("MESH", "EMPTY"), keep=lambda obj: True):
        objects = sorted((obj for obj in bpy.context.view_layer.objects if obj.type in kinds and keep(obj)),
                         key=lambda obj: obj.name)  # fmt: skip
        objects = [obj for obj in objects if obj.visible_get()]
        if not objects:
            raise Nothing
        obj = self.random.choice(objects)
        for other in bpy.context.view_layer.objects:
            other.select_set(other == obj)
        bpy.context.view_layer.objects.active = obj
        return obj

    def mesh(self):
        return self.one(("MESH",))

    def pair(self):
        first = self.one()
        below = {first, *first.children_recursive}
        return first, self.one(keep=lambda obj: obj not in below)

    def number(self, low, high):
        return self.random.uniform(low, high)

    def vector(self, size=1.0):
        return Vector([self.number(-size, size) for _ in range(3)])

    def run(self, count: int) -> None:
        """Run operations, fewer than `count` where nothing is left to work on."""
        names = sorted(OPERATIONS)
        for _ in range(1000):
            if len(self.log) == count:
                return
            name = self.random.choice(names)
            try:
                target = OPERATIONS[name](self)
            except (Nothing, RuntimeError):
                continue
            bpy.context.view_layer.update()
            self.log.append(f"{name} {target}")


def of_one(change):
    def run(edits):
        obj = edits.one()
        name = obj.name
        change(edits, obj)
        return name

    return run


def of_mesh(change):
    def run(edits):
        obj = edits.mesh()
        name = obj.name
        change(edits, obj)
        return name

    return run


def _move(edits, obj):
    obj.location += edits.vector()


def _turn(edits, obj):
    obj.matrix_world = obj.matrix_world @ Euler(edits.vector()).to_matrix().to_4x4()


def _grow(edits, obj):
    obj.scale *= edits.number(0.5, 2.0)


def _stretch(edits, obj):
    obj.scale[edits.random.randrange(3)] *= edits.number(0.5, 2.0)


def _mirror(edits, obj):
    obj.scale[edits.random.randrange(3)] *= -1.0


def _apply(**what):
    def change(_edits, _obj):
        bpy.ops.object.transform_apply(**{"location": False, "rotation": False, "scale": False, **what})

    return change


def _origin(edits, _obj):
    bpy.context.scene.cursor.location = edits.vector(3.0)
    to = edits.random.choice(("ORIGIN_CURSOR", "GEOMETRY_ORIGIN", "ORIGIN_GEOMETRY", "ORIGIN_CENTER_OF_MASS"))
    bpy.ops.object.origin_set(type=to)


def _edit(edits, obj):
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    matrix = Matrix.Translation(edits.vector(0.2)) @ Matrix.Diagonal((edits.number(0.5, 2.0), 1.0, 1.5, 1.0))
    bmesh.ops.transform(edited, matrix=matrix, verts=list(edited.verts))
    edited.to_mesh(obj.data)
    edited.free()


def _one_corner(edits, obj):
    obj.data.vertices[edits.random.randrange(len(obj.data.vertices))].co += edits.vector(0.3)


def _parent(edits):
    parent, child = edits.pair()
    place = child.matrix_world.copy()
    child.parent = parent
    child.matrix_parent_inverse = parent.matrix_world.inverted_safe()
    child.matrix_world = place
    return f"{child.name} to {parent.name}"


def _parent_plainly(edits):
    parent, child = edits.pair()
    child.parent, child.matrix_parent_inverse = parent, Matrix()
    return f"{child.name} to {parent.name}"


def _unparent(edits, obj):
    place = obj.matrix_world.copy()
    obj.parent = None
    obj.matrix_world = place


def _new_parent(edits, obj):
    empty = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(empty)
    empty.location = edits.vector()
    bpy.context.view_layer.update()
    place = obj.matrix_world.copy()
    obj.parent = empty
    obj.matrix_world = place


def _duplicate(linked):
    def change(edits, _obj):
        bpy.ops.object.duplicate(linked=linked)
        bpy.context.object.location += edits.vector(3.0)

    return change


def _duplicate_branch(edits, obj):
    for child in obj.children_recursive:
        child.select_set(True)
    bpy.ops.object.duplicate()
    bpy.context.object.location += edits.vector(3.0)


def _delete(_edits, obj):
    bpy.data.objects.remove(obj)


def _delete_branch(_edits, obj):
    for child in obj.children_recursive:
        bpy.data.objects.remove(child)
    bpy.data.objects.remove(obj)


def _rename(edits, obj):
    obj.name = edits.random.choice(("Renamed", "Crate", "Shape", "7 things", "Größe"))


def _join(edits):
    first = edits.mesh()
    second = edits.one(("MESH",), lambda obj: obj != first and not obj.children)
    first.select_set(True)
    bpy.context.view_layer.objects.active = first
    names = f"{second.name} into {first.name}"
    bpy.ops.object.join()
    return names


def _separate(edits, obj):
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    made = bmesh.ops.create_cube(edited, size=0.2, matrix=Matrix.Translation((1.0, 0.0, 0.0)))
    assert made
    edited.to_mesh(obj.data)
    edited.free()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.separate(type="LOOSE")
    bpy.ops.object.mode_set(mode="OBJECT")


def _modifier(kind, **values):
    def change(_edits, obj):
        modifier = obj.modifiers.new("Modifier", kind)
        for name, value in values.items():
            setattr(modifier, name, value)

    return change


def _in_edit_mode(change):
    def run(edits, obj):
        if obj.data.users > 1:
            obj.data = obj.data.copy()
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        change(edits)
        bpy.ops.object.mode_set(mode="OBJECT")

    return run


def _extrude(edits):
    bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": tuple(edits.vector(0.5))})


def _cut(edits):
    plane = {"plane_co": (0.0, 0.0, 0.0), "plane_no": tuple(edits.vector())}
    bpy.ops.mesh.bisect(**plane, clear_inner=True, use_fill=True)


def _applied_modifier(edits, obj):
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    kind = edits.random.choice(("SUBSURF", "ARRAY", "SOLIDIFY", "BEVEL", "TRIANGULATE", "MIRROR"))
    bpy.ops.object.modifier_apply(modifier=obj.modifiers.new("Modifier", kind).name)


def _several_materials(edits, obj):
    for name in ("One", "Other"):
        obj.data.materials.append(bpy.data.materials.new(name))
    if len(obj.data.polygons):
        obj.data.polygons[0].material_index = 1


def _to_deltas(edits, _obj):
    bpy.ops.object.transforms_to_deltas(mode=edits.random.choice(("ALL", "LOC", "ROT", "SCALE")))


def _visual_transform(_edits, _obj):
    bpy.ops.object.visual_transform_apply()


def _second_collider(edits, obj):
    obj.usdphys.colliders.add().shape = edits.random.choice(("MESH", "CUBE", "SPHERE", "CAPSULE"))


def _undone(edits, obj):
    bpy.ops.ed.undo_push(message="before")
    edits.random.choice((_move, _rename, _mirror, _unparent))(edits, obj)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()


def _shape_key(edits, obj):
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Key")
    for point in key.data:
        point.co.z *= 1.5
    key.value = 1.0


def _hide(edits, obj):
    obj.hide_render = True


def _hide_here(edits, obj):
    obj.hide_viewport = True


def _to_collection(_edits, obj):
    collection = bpy.data.collections.new("Other")
    bpy.context.scene.collection.children.link(collection)
    for other in list(obj.users_collection):
        other.objects.unlink(obj)
    collection.objects.link(obj)


def _constrain(edits):
    target, obj = edits.pair()
    above = target
    while above is not None:
        if above == obj:
            # Blender gives such a cycle no place that another evaluation would give again.
            raise Nothing
        above = above.parent
    constraint = obj.constraints.new("COPY_LOCATION")
    constraint.target = target
    return f"{obj.name} to {target.name}"


def _single_user(_edits, obj):
    if obj.data is not None:
        obj.data = obj.data.copy()


def _new_body(edits, obj):
    mesh = bpy.data.meshes.new("New")
    edited = bmesh.new()
    bmesh.ops.create_cube(edited, size=0.3)
    edited.to_mesh(mesh)
    edited.free()
    new = bpy.data.objects.new("New", mesh)
    bpy.context.collection.objects.link(new)
    new.location = edits.vector(2.0)
    new.usdphys.rigid_body.is_applied = True
    new.usdphys.colliders.add().shape = edits.random.choice(("CUBE", "MESH"))
    if edits.random.random() < 0.5:
        new.parent = obj


def _collection_instance(edits, obj):
    collection = bpy.data.collections.new("Set")
    collection.objects.link(obj)
    empty = bpy.data.objects.new("Instance", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", collection
    empty.location = edits.vector(4.0)
    bpy.context.collection.objects.link(empty)


def _delta(edits, obj):
    obj.delta_location += edits.vector()
    obj.delta_scale *= 1.5


def _other_mesh(edits):
    first = edits.mesh()
    second = edits.mesh()
    if first == second:
        raise Nothing
    second.data = first.data
    return f"{second.name} gets that of {first.name}"


def _mirror_operator(edits, _obj):
    axis = [False] * 3
    axis[edits.random.randrange(3)] = True
    bpy.ops.transform.mirror(constraint_axis=axis)


def _hold(edits):
    joint = edits.one(("EMPTY",), lambda obj: obj.usdphys.joint.is_applied)
    side = edits.random.choice(("body0", "body1"))
    body = edits.one(keep=lambda obj: obj.usdphys.rigid_body.is_applied)
    setattr(joint.usdphys.joint, side, body)
    return f"{side} of {joint.name} is {body.name}"


def _weigh(edits, obj):
    obj.usdphys.mass.is_applied = True
    obj.usdphys.mass.mass = edits.number(1.0, 5.0)


def _kinematic(_edits, obj):
    obj.usdphys.rigid_body.is_applied = True
    obj.usdphys.rigid_body.kinematic_enabled = True


OPERATIONS = {
    "move": of_one(_move), "turn": of_one(_turn), "grow": of_one(_grow), "stretch": of_one(_stretch),
    "mirror": of_one(_mirror), "apply location": of_one(_apply(location=True)),
    "apply rotation": of_one(_apply(rotation=True)), "apply scale": of_one(_apply(scale=True)),
    "apply all": of_one(_apply(location=True, rotation=True, scale=True)), "origin": of_mesh(_origin),
    "edit": of_mesh(_edit), "one corner": of_mesh(_one_corner), "parent": _parent, "parent plainly": _parent_plainly,
    "unparent": of_one(_unparent), "new parent": of_one(_new_parent), "duplicate": of_one(_duplicate(False)),
    "linked duplicate": of_one(_duplicate(True)), "duplicate branch": of_one(_duplicate_branch),
    "delete": of_one(_delete), "delete branch": of_one(_delete_branch), "rename": of_one(_rename), "join": _join,
    "separate": of_mesh(_separate), "subdivide": of_mesh(_modifier("SUBSURF", levels=1)),
    "mirror modifier": of_mesh(_modifier("MIRROR")), "array": of_mesh(_modifier("ARRAY")),
    "solidify": of_mesh(_modifier("SOLIDIFY", thickness=0.2)), "shape key": of_mesh(_shape_key),
    "hide in renders": of_one(_hide), "hide": of_one(_hide_here), "to a collection": of_one(_to_collection),
    "constrain": _constrain, "single user": of_one(_single_user), "new body": of_one(_new_body),
    "collection instance": of_one(_collection_instance), "delta": of_one(_delta), "other mesh": _other_mesh,
    "mirror operator": of_one(_mirror_operator), "hold": _hold, "weigh": of_one(_weigh),
    "kinematic": of_one(_kinematic), "extrude": of_mesh(_in_edit_mode(_extrude)),
    "cut": of_mesh(_in_edit_mode(_cut)), "applied modifier": of_mesh(_applied_modifier),
    "several materials": of_mesh(_several_materials), "to deltas": of_one(_to_deltas),
    "visual transform": of_one(_visual_transform), "second collider": of_mesh(_second_collider),
    "undone": of_one(_undone),
}  # fmt: skip


# --------------------------------------------------------------------------- worlds


def load(folder: Path) -> None:
    (folder / "source.usda").write_text(SOURCE)
    options = usd_import.ImportOptions()
    usd_import.import_usd(bpy.context, folder / "source.usda", options, usd_import.LateProgress())


def export(folder: Path, form: str):
    if form == "gltf":
        return gltf_export.export_gltf(bpy.context, folder / "out.glb", additions.WriteOptions())
    return scene_export.export_scene(bpy.context, folder / f"{form}.usda", usd_export.ExportOptions(), form)


def shown() -> list[tuple[str, np.ndarray]]:
    """(name, corners (2, 3) in the world) of each mesh that Blender shows, instances among them."""
    found = []
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        obj = instance.object
        if obj.type != "MESH" or not len(obj.data.vertices):
            continue
        points = np.empty(3 * len(obj.data.vertices), np.float32)
        obj.data.vertices.foreach_get("co", points)
        world = np.array(instance.matrix_world)
        placed = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        found.append((obj.name, np.array([placed.min(axis=0), placed.max(axis=0)])))
    return found


def written(file: Path) -> list[tuple[np.ndarray, bool]]:
    """(corners (2, 3) in the world, whether they are those of points) of each mesh and gprim of a USD file."""
    stage = Usd.Stage.Open(str(file))
    cache = UsdGeom.XformCache()
    found = []
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        if not prim.IsA(UsdGeom.Gprim):
            continue
        world = np.array(cache.GetLocalToWorldTransform(prim)).T
        linear, kind = world[:3, :3], prim.GetTypeName()
        if kind == "Mesh":
            points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get() or ())
            if not len(points):
                continue
            points = points + _shape_offsets(stage, prim, len(points))
            placed = points @ linear.T + world[:3, 3]
            is_exact = prim.GetAttribute("subdivisionScheme").Get() == "none"
            found.append((np.array([placed.min(axis=0), placed.max(axis=0)]), is_exact))
            continue

        def value(name, prim=prim):
            return prim.GetAttribute(name).Get()

        if kind == "Cube":
            reach = np.abs(linear).sum(axis=1) * value("size") / 2
        elif kind == "Sphere":
            reach = np.linalg.norm(linear, axis=1) * value("radius")
        elif kind in ("Capsule", "Cylinder"):
            spine = "XYZ".index(value("axis"))
            across = linear if kind == "Capsule" else np.delete(linear, spine, axis=1)
            reach = np.abs(linear[:, spine]) * value("height") / 2 + np.linalg.norm(across, axis=1) * value("radius")
        else:
            continue
        found.append((np.array([world[:3, 3] - reach, world[:3, 3] + reach]), False))
    return found


def _shape_offsets(stage, prim, count):
    """(count, 3): by which blend shapes move the points of a mesh, as far as they are on."""
    moved = np.zeros((count, 3))
    binding = UsdSkel.BindingAPI(prim)
    for skeleton in map(stage.GetPrimAtPath, binding.GetSkeletonRel().GetTargets()):
        for source in map(stage.GetPrimAtPath, UsdSkel.BindingAPI(skeleton).GetAnimationSourceRel().GetTargets()):
            names = source.GetAttribute("blendShapes").Get() or ()
            weights = dict(zip(names, source.GetAttribute("blendShapeWeights").Get() or (), strict=False))
            targets = binding.GetBlendShapeTargetsRel().GetTargets()
            for name, path in zip(binding.GetBlendShapesAttr().Get() or (), targets, strict=True):
                shape = UsdSkel.BlendShape(stage.GetPrimAtPath(path))
                rows = shape.GetPointIndicesAttr().Get() or range(count)
                moved[list(rows)] += weights.get(name, 0.0) * np.array(shape.GetOffsetsAttr().Get())
    return moved


def lost(file: Path) -> list[str]:
    """Names of the meshes that Blender shows and that are nowhere in a USD file."""
    boxes = written(file)
    missing = []
    for name, box in shown():
        size = float(np.ptp(box, axis=0).max())

        def is_near(other, is_exact, box=box, size=size):
            noise = 1e-4 * np.abs(box).max()
            is_cage = not is_exact and np.abs((other - box).sum(axis=0)).max() <= 0.1 * size + noise
            if is_cage and ((other - box) * [[1], [-1]] <= noise).all() and np.ptp(other, axis=0).max() < 2.0 * size:
                return True  # what is subdivided lies within the mesh of the file
            return np.abs(other - box).max() <= (1e-3 if is_exact else 0.12) * size + noise

        if not any(is_near(*other) for other in boxes):
            missing.append(name)
    return missing


def faults(folder: Path, forms=FORMS) -> list[str]:
    """What is wrong with the files that the scene is written to: what differs, and what is lost without a word."""
    found = []
    for form in forms:
        try:
            result = export(folder, form)
        except UsdPhysError as error:
            found.append(f"{form}: refused: {error}")
            continue
        found += [f"{form}: {issue.message}" for issue in result.issues if issue.code == "FileDiffers"]
        if form != "gltf":
            said = " ".join(f"{issue.message} {issue.path}" for issue in result.issues)
            found += [f"{form}: '{name}' is lost" for name in lost(result.path) if name not in said]
    return found
