# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of a robot -> USD stage: frames, shapes and materials here, all physics by `write.write_model`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from pxr import Gf, Kind, Sdf, Usd, UsdShade, Vt

from ..core import frames, paths, vendor_schemas
from ..core.errors import InputError
from ..core.gprims import half_extent
from ..core.model import PhysicsModel, Prim
from ..core.schema import Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.units import SI
from ..core.validate import Issue
from ..core.vendors import held_class
from ..urdf import layout as urdf_layout
from ..urdf.assets import Assets
from ..urdf.layout import Base, Drives, Layout, LayoutOptions, Note, PlacedShape
from ..urdf.mesh_data import MeshData, MeshMaterial, linear
from ..urdf.robot import Material, Shape
from . import carry, looks, write
from .import_source import ImportSource
from .opinions import BINDING_API, Opinions, transform_layer

#: Most points and faces of all meshes: a small file can show a large one very often.
_MOST_OF_MESHES = 60_000_000
_UNSCALED = (1.0, 1.0, 1.0)
#: The whole text of the URDF, on the root prim: a later export of a URDF changes only what was edited.
SOURCE = "urdf:source"
#: Name of the file that the text was read from.
SOURCE_FILE = "urdf:file"
#: Options of the import: base, whether fixed joints were merged, prefix.
SOURCE_OPTIONS = "urdf:options"


@dataclass(slots=True)
class RobotTexts:
    """What an import remembers of the prims of a robot, see `import_source.ImportSource`.

    types: of all prims, parents first. poses: local matrix (4, 4) by path. likes: by path of a prim that the stage
    lacks, the path of one that differs in its pose only. meshes: by path of a mesh that the stage has a triangle for;
    see `write_robot`. flat: paths of other meshes without normals, whose faces are flat; Blender takes them for smooth.
    """

    transforms: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    bindings: dict[str, str] = field(default_factory=dict)
    visible_materials: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    poses: dict[str, frames.Matrix] = field(default_factory=dict)
    likes: dict[str, str] = field(default_factory=dict)
    meshes: dict[str, MeshData] = field(default_factory=dict)
    flat: list[str] = field(default_factory=list)


def write_robot(
    layout: Layout, assets: Assets, stage: Usd.Stage, textures: Path | None = None, *, physics: bool = True
) -> RobotTexts:
    """Author a robot on an empty stage. What is missing is reported to the issues of the layout.

    textures: folder beside the file of the stage that images are copied to; None: their own paths are written.
    physics: False for an import, which takes the physics from the layout: joints are prims of their types only. Of
    prims that differ in their pose only, the stage then has the first: Blender imports a prim slowly, and copies an
    object quickly. Meshes of points and faces alone are triangles there: Blender fills a mesh from arrays quickly, too.
    """
    writer = _RobotWriter(layout, assets, stage, textures, physics=physics)
    writer.write()
    return writer.texts


def sources_of(stage: Usd.Stage) -> list[tuple[str, str, str, LayoutOptions]]:
    """(path of the root prim, text, name of the file, options) of the URDF of each robot that came from one."""
    sources = []
    for prim in stage.Traverse():
        text = prim.GetAttribute(SOURCE).Get()
        if isinstance(text, str):
            name, options = (str(prim.GetAttribute(key).Get() or "") for key in (SOURCE_FILE, SOURCE_OPTIONS))
            sources.append((str(prim.GetPath()), text, name or "robot.urdf", _options_of(options)))
    return sources


def _options_text(options: LayoutOptions) -> str:
    words = ["merged" if options.merge_fixed else "kept", options.drives]
    words += [name for name in ("self_collision", "visuals", "visual_colliders") if getattr(options, name)]
    return f"{options.base} {','.join(words)} {options.prefix}"


def _options_of(text: str) -> LayoutOptions:
    """The inverse of `_options_text`. A text of one word in place of several is of an earlier version."""
    base, _, rest = text.partition(" ")
    first, _, prefix = rest.partition(" ")
    merged, *words = first.split(",")
    chosen: Base = "fixed" if base == "fixed" else "free" if base == "free" else "file"
    made = LayoutOptions(chosen, prefix, merged == "merged")
    if not words:
        return made
    drives = next((one for one in get_args(Drives) if one == words[0]), made.drives)
    return replace(
        made, drives=drives, self_collision="self_collision" in words, visuals="visuals" in words,
        visual_colliders="visual_colliders" in words,
    )  # fmt: skip


def _likes(layout: Layout) -> dict[str, str]:
    """By path of a prim, the path of an earlier one that Blender would import alike but for its pose."""
    firsts: dict[tuple[Any, ...], str] = {}
    likes: dict[str, str] = {}
    kept = {*layout.names, *layout.others}

    def look(path: str, *key: Any) -> None:
        notes = repr(_unheld(layout, path)) if path in layout.notes else ""
        first = path if path in kept else firsts.setdefault((*key, notes), path)
        if first != path:
            likes[path] = first

    for frame in layout.frames:
        look(frame.path, "link")
    for placed in layout.shapes:
        shape = placed.shape
        own = shape.uri if shape.kind == "mesh" else repr(urdf_layout.gprim_of(shape))
        material = shape.material and (shape.material.name, shape.material.rgba, shape.material.texture)
        look(placed.path, placed.is_collider, shape.kind, own, material, shape.surface)
    for path, prim in layout.model.prims.items():
        if prim.get(usd_physics.Joint) is not None:
            look(path, "joint", prim.type_name)
    # What the stage has needs its parents there.
    for path in (*kept, *(path for path in layout.notes if path not in likes), *firsts.values()):
        for above in paths.ancestors_of(path):
            likes.pop(above, None)
    return likes


class _RobotWriter:
    def __init__(
        self, layout: Layout, assets: Assets, stage: Usd.Stage, textures: Path | None, *, physics: bool
    ) -> None:
        self.layout, self.assets, self.stage, self.images = layout, assets, stage, looks.Images(textures)
        self.physics = physics
        self.likes = {} if physics else _likes(layout)
        self.layer = stage.GetRootLayer()
        self.specs = write.SpecWriter(self.layer, SI)
        self.made: dict[tuple[Any, ...], str] = {}
        self.names: set[str] = set()
        self.spent = 0
        self.texts = RobotTexts()

    def write(self) -> None:
        layout = self.layout
        write.write_units(self.stage, SI)
        with Sdf.ChangeBlock():
            self.define_tree()
        # In one block, because the stage composes itself anew after each.
        with Sdf.ChangeBlock():
            shapes = [(placed, self.shape(placed)) for placed in layout.shapes]
        for placed, mesh in shapes:
            if placed.path not in self.texts.types:
                continue
            if placed.is_collider:
                self.collider(placed, mesh)
            else:
                self.bind(placed, mesh)
        if self.physics:
            write.write_model(self.stage, layout.model, SI)
        else:
            with Sdf.ChangeBlock():
                for path, prim in layout.model.prims.items():
                    if prim.type_name == "Material" or prim.get(usd_physics.Joint) is not None:
                        self.define(path, prim.type_name)
        with Sdf.ChangeBlock():
            self.write_texts()
        layout.issues += self.assets.issues
        self.texts.likes = {path: first for path, first in self.likes.items() if path in self.texts.types}

    def define_tree(self) -> None:
        """The root, the folders for geometry and physics, and the links."""
        layout = self.layout
        root = self.define(layout.root, "Xform")
        assert root is not None
        self.texts.transforms[layout.root] = transform_layer("")
        self.layer.defaultPrim = root.name
        root.SetInfo("kind", Kind.Tokens.component)
        root.SetInfo("assetInfo", {"name": layout.robot.name})
        self.define(layout.geometry, "Scope")
        if any(paths.is_below(path, layout.physics) for path in layout.model.prims):
            self.define(layout.physics, "Scope")
        for frame in layout.frames:
            self.place(frame.path, self.define(frame.path, "Xform"), frame.local, _UNSCALED)

    def write_texts(self) -> None:
        """What of the robot USD has no attribute for: notes, applied schemas, shown names, and the file itself."""
        layout = self.layout
        for path in layout.others:
            self.define(path, "")
        for path, notes in layout.notes.items():
            if path not in self.likes:
                self.notes(path, notes if self.physics else _unheld(layout, path))
        if self.physics:
            for path, names in layout.applied.items():
                write.apply_schemas(self.layer.GetPrimAtPath(path), names)
        for path, name in layout.names.items():
            spec = self.layer.GetPrimAtPath(path)
            if spec is not None:
                spec.SetInfo("displayName", name)
        if layout.robot.text:
            self.notes(layout.root, [
            Note(SOURCE, "string", layout.robot.text), Note(SOURCE_FILE, "string", layout.robot.path.name),
            Note(SOURCE_OPTIONS, "string", _options_text(layout.options)),
        ])  # fmt: skip

    # ------------------------------------------------------------------ prims

    def define(self, path: str, type_name: str) -> Sdf.PrimSpec | None:
        """Define a prim; None for one that the stage is to lack."""
        self.texts.types[path] = type_name
        if path in self.likes or paths.parent_of(path) in self.likes:
            return None
        spec = Sdf.CreatePrimInLayer(self.layer, path)
        spec.specifier = Sdf.SpecifierDef
        if type_name:
            spec.typeName = type_name
        return spec

    def place(self, path: str, spec: Sdf.PrimSpec | None, pose: frames.Matrix, scale: tuple[float, ...]) -> None:
        """Author a pose in double precision, and a scale inside it."""
        if path in self.likes:
            self.texts.poses[path] = pose @ np.diag([*scale, 1.0])
        ops: list[str] = []
        text = ""
        if pose[:3, 3].any():
            position = pose[:3, 3].tolist()
            self.set(spec, "xformOp:translate", "double3", Gf.Vec3d(*position))
            ops.append("xformOp:translate")
            text += f"    double3 xformOp:translate = {tuple(position)}\n"
        rotation = frames.quaternion_of(pose[:3, :3])
        if not frames.is_identity(rotation, 1e-15):
            self.set(spec, "xformOp:orient", "quatd", Gf.Quatd(*rotation))
            ops.append("xformOp:orient")
            text += f"    quatd xformOp:orient = {tuple(map(float, rotation))}\n"
        if tuple(scale) != _UNSCALED:
            self.set(spec, "xformOp:scale", "float3", Gf.Vec3f(*scale))
            ops.append("xformOp:scale")
            text += f"    float3 xformOp:scale = {tuple(map(float, scale))}\n"
        if ops:
            self.set(spec, "xformOpOrder", "token[]", Vt.TokenArray(ops), uniform=True)
            text += f"    uniform token[] xformOpOrder = {json.dumps(ops)}\n"
        self.texts.transforms[path] = transform_layer(text)

    def set(self, spec: Sdf.PrimSpec | None, name: str, type_: str, value: Any, *, uniform: bool = False) -> None:
        if spec is None:
            return
        self.specs.set(spec, name, type_, value, uniform)
        if name.startswith("urdf:"):
            spec.attributes[name].custom = True

    def notes(self, path: str, notes: list[Note]) -> None:
        spec = self.layer.GetPrimAtPath(path)
        for note in notes:
            if note.type == "rel":
                relationship = Sdf.RelationshipSpec(spec, note.name, custom=False)
                relationship.targetPathList.explicitItems = [Sdf.Path(target) for target in note.value]
            elif note.name not in spec.attributes:
                self.set(spec, note.name, note.type, note.value, uniform=note.name.startswith("urdf:"))

    # ------------------------------------------------------------------ shapes

    def shape(self, placed: PlacedShape) -> MeshData | None:
        """Define the prim of a shape, unless its mesh is missing. Returns the mesh."""
        shape = placed.shape
        gprim = urdf_layout.gprim_of(shape)
        mesh, mesh_read = None, None
        if gprim is None:
            mesh_read = self.assets.mesh(shape)
            if mesh_read is None:
                return None
            mesh = mesh_read[1]
        spec = self.define(placed.path, gprim.usd_name if gprim is not None else "Mesh")
        scale = shape.scale if mesh is not None else shape.size if _is_stretched(shape) else _UNSCALED
        self.place(placed.path, spec, shape.pose, scale)
        if gprim is not None:
            self.gprim(placed.path, spec, gprim)
        elif mesh is not None and spec is not None:
            if (
                not self.physics
                and mesh.uvs is None
                and mesh.normals is None
                and (mesh.faces is None or not _has_looks(mesh))
            ):
                self.texts.meshes[placed.path] = mesh
                mesh = _triangle(mesh)
            elif mesh.normals is None:
                self.texts.flat.append(placed.path)
            self.mesh(spec, mesh)
        return mesh_read[1] if mesh_read is not None else None

    def gprim(self, path: str, spec: Sdf.PrimSpec | None, gprim: usd_geom.Gprim) -> None:
        if path in self.likes and self.likes[path] in self.texts.shapes:
            self.texts.shapes[path] = self.texts.shapes[self.likes[path]]
            return
        text = ""
        for attribute, value in gprim.authored():
            self.set(spec, attribute.usd, attribute.type, value, uniform=attribute.uniform)
            text += f"    {'uniform ' * attribute.uniform}{attribute.type} {attribute.usd} = {json.dumps(value)}\n"
        half = half_extent(gprim)
        ends = [tuple(float(sign * part) for part in half) for sign in (-1, 1)]
        self.set(spec, "extent", "float3[]", Vt.Vec3fArray([Gf.Vec3f(*end) for end in ends]))
        text += f"    float3[] extent = {ends}\n"
        self.texts.shapes[path] = carry.layer_of(text)

    def mesh(self, spec: Sdf.PrimSpec, mesh: MeshData) -> None:
        self.spent += len(mesh.points) + len(mesh.counts)
        if self.spent > _MOST_OF_MESHES:
            raise InputError(f"'{self.layout.robot.path.name}' shows meshes of more than {_MOST_OF_MESHES:,} points "
                             "and faces in all.")  # fmt: skip
        points = np.ascontiguousarray(mesh.points, np.float32)
        self.set(spec, "points", "point3f[]", Vt.Vec3fArray.FromNumpy(points))
        counts, corners = (np.ascontiguousarray(part, np.int32) for part in (mesh.counts, mesh.corners))
        self.set(spec, "faceVertexCounts", "int[]", Vt.IntArray.FromNumpy(counts))
        self.set(spec, "faceVertexIndices", "int[]", Vt.IntArray.FromNumpy(corners))
        extent = np.stack([points.min(axis=0), points.max(axis=0)])
        self.set(spec, "extent", "float3[]", Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(extent)))
        self.set(spec, "subdivisionScheme", "token", "none", uniform=True)
        if mesh.normals is not None:
            values = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.normals, np.float32))
            self.set(spec, "normals", "normal3f[]", values)
            spec.attributes["normals"].SetInfo("interpolation", "faceVarying")
        if mesh.uvs is not None:
            values = Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(mesh.uvs, np.float32))
            self.set(spec, "primvars:st", "texCoord2f[]", values)
            spec.attributes["primvars:st"].SetInfo("interpolation", "faceVarying")

    def collider(self, placed: PlacedShape, mesh: MeshData | None) -> None:
        prim = self.layout.model.add(Prim(placed.path, "Mesh" if mesh is not None else "", purpose="guide"))
        prim.add(usd_physics.CollisionAPI())
        if mesh is not None:
            prim.add(usd_physics.MeshCollisionAPI(approximation=self.layout.options.approximation))
        prim.physics_binding = self.layout.surfaces.get(placed.path, "")

    # ------------------------------------------------------------------ materials

    def bind(self, placed: PlacedShape, mesh: MeshData | None) -> None:
        """Bind what a mesh brings along; faces without a material, and other shapes, get that of the URDF."""
        own = self.material_of(placed, has_uvs=mesh is not None and mesh.uvs is not None)
        if mesh is None or mesh.faces is None or not mesh.materials or not _has_looks(mesh):
            if own:
                self.bind_to(placed.path, own)
            return
        used = sorted(set(mesh.faces.tolist()))
        targets = dict.fromkeys(used, own)
        for index in used:
            if index >= 0 and _is_look(mesh.materials[index]):
                material = mesh.materials[index]
                targets[index] = self.material(
                    material.name or "material", material.color, material.texture, material.emission, material.glow
                )
        if len(set(targets.values())) == 1:
            target = next(iter(targets.values()))
            if target:
                self.bind_to(placed.path, target)
            return
        for index in used:
            name = paths.ascii_name(mesh.materials[index].name if index >= 0 else "rest")
            path = paths.free(f"{placed.path}/{name}", self.texts.types.__contains__)
            with Sdf.ChangeBlock():
                spec = self.define(path, "GeomSubset")
                self.set(spec, "elementType", "token", "face", uniform=True)
                self.set(spec, "familyName", "token", "materialBind", uniform=True)
                faces = np.ascontiguousarray(np.flatnonzero(mesh.faces == index), np.int32)
                self.set(spec, "indices", "int[]", Vt.IntArray.FromNumpy(faces))
            if targets[index]:
                self.bind_to(path, targets[index])

    def bind_to(self, path: str, material: str) -> None:
        spec, type_name = self.layer.GetPrimAtPath(path), self.texts.types[path]
        if spec is not None:
            relationship = Sdf.RelationshipSpec(spec, "material:binding", custom=False)
            relationship.targetPathList.explicitItems = [Sdf.Path(material)]
            write.apply_schemas(spec, (BINDING_API,))
        if type_name != "GeomSubset":
            self.texts.bindings[path] = carry.OWN_BINDING
            if type_name != "Mesh":
                self.texts.visible_materials[path] = material

    def material_of(self, placed: PlacedShape, *, has_uvs: bool) -> str:
        """Path of the URDF's material of a visual; empty if it has none."""
        wanted = placed.shape.material
        if wanted is None:
            return ""
        known = wanted if wanted.rgba is not None or wanted.texture else self.layout.robot.materials.get(wanted.name)
        if known is None:
            known = self.inline(wanted.name)
        if known is None:
            return ""
        texture: Path | None = None
        if known.texture:
            if has_uvs:
                texture = self.assets.image(known.texture, placed.shape.element)
            else:
                element = placed.shape.element
                self.layout.issues.append(Issue(
                    "UrdfTextureUnused", "warning", "", placed.link.name,
                    f"{element.file}:{element.line}: '{placed.link.name}' has a texture on a shape without texture "
                    "coordinates, so it is left out.", "Use a mesh with texture coordinates.",
                ))  # fmt: skip
        color = linear(known.rgba) if known.rgba is not None else None
        if color is None and texture is None:
            return ""
        return self.material(known.name or "material", color, texture)

    def inline(self, name: str) -> Material | None:
        """A material that another visual defines, as ROS takes it."""
        for link in self.layout.robot.links.values():
            for shape in link.visuals:
                material = shape.material
                if (
                    material is not None
                    and name
                    and material.name == name
                    and (material.rgba is not None or material.texture)
                ):
                    return material
        return None

    def material(
        self, name: str, color: tuple[float, float, float, float] | None, texture: Path | None,
        emission: tuple[float, float, float] = (0.0, 0.0, 0.0), glow: Path | None = None,
    ) -> str:  # fmt: skip
        key = (name, color, texture, emission, glow)
        if key in self.made:
            return self.made[key]
        if not self.made:
            self.define(self.layout.materials, "Scope")
        made = paths.free(paths.ascii_name(name), self.names.__contains__)
        self.names.add(made)
        path = f"{self.layout.materials}/{made}"
        material = UsdShade.Material.Define(self.stage, path)
        shader = UsdShade.Shader.Define(self.stage, f"{path}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        red, green, blue, alpha = color or (0.5, 0.5, 0.5, 1.0)
        diffuse = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
        if texture is None:
            diffuse.Set(Gf.Vec3f(red, green, blue))
        else:
            self.texture(f"{path}/Texture", diffuse, texture, (red, green, blue, alpha))
        shader.CreateInput("opacity", Sdf.ValueTypeNames.Float).Set(alpha)
        if any(emission):
            emissive = shader.CreateInput("emissiveColor", Sdf.ValueTypeNames.Color3f)
            if glow is None:
                emissive.Set(Gf.Vec3f(*emission))
            else:
                image = self.texture(f"{path}/EmissionTexture", emissive, glow, (*emission, 1.0))
                if emission != (1.0, 1.0, 1.0):
                    image.CreateInput("scale", Sdf.ValueTypeNames.Float4).Set(Gf.Vec4f(*emission, 1.0))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.5)
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        if made != name:
            self.layout.names[path] = name
        self.made[key] = path
        return path

    def texture(
        self, path: str, given: Any, file: Path, fallback: tuple[float, float, float, float]
    ) -> UsdShade.Shader:
        """Make the shader of an image, which gives an input its value. path: of the shader."""
        reader = UsdShade.Shader.Define(self.stage, f"{paths.parent_of(path)}/TexCoord")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
        image = UsdShade.Shader.Define(self.stage, path)
        image.CreateIdAttr("UsdUVTexture")
        image.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(Sdf.AssetPath(self.images.asset(file)))
        image.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set("sRGB")
        image.CreateInput("fallback", Sdf.ValueTypeNames.Float4).Set(Gf.Vec4f(*fallback))
        for wrap in ("wrapS", "wrapT"):
            image.CreateInput(wrap, Sdf.ValueTypeNames.Token).Set("repeat")
        st = image.CreateInput("st", Sdf.ValueTypeNames.Float2)
        st.ConnectToSource(reader.ConnectableAPI(), "result")
        given.ConnectToSource(image.ConnectableAPI(), "rgb")
        return image


def import_source_of(
    layout: Layout, texts: RobotTexts, stage: Usd.Stage, opinions: list[Opinions]
) -> ImportSource:  # fmt: skip
    """What `import_source.read_source` reads from the stage of a robot, many times faster: the layout has it.

    stage: as `write_robot` has written it without physics. opinions: of all its prims.
    """
    model = PhysicsModel(SI, source=stage.GetRootLayer().identifier)
    types = texts.types | {one.path: one.type_name for one in opinions}
    model.order = {path: index for index, path in enumerate(_depth_first(types, texts.types))}
    shapes = {placed.path: placed for placed in layout.shapes if placed.is_collider}
    source = ImportSource(model, [], [], [], {}, texts.transforms, texts.shapes, texts.bindings)
    source.visible_materials = texts.visible_materials
    special = {layout.root, *layout.names, *layout.notes, *layout.others}
    for path in model.order:
        known, type_name = layout.model.prims.get(path), types[path]
        if known is not None and known.schemas:
            model.add(_import_prim(layout, known, type_name, shapes.get(path)))
        else:
            model.other_types[path] = type_name
        if type_name == "Material":
            source.materials.append(path)
    for one in opinions:
        if one.path in special and one.type_name != "Shader" and (text := carry.capture(one, SI)):
            source.carried[one.path] = text
    for path, first in texts.likes.items():
        if first in source.carried:
            source.carried[path] = source.carried[first]
    for joint in list(model.joints.values()):
        # Also what joints hold and has no physics: the place of it counts.
        for path in _joint_targets(joint):
            if path not in model.prims and path in model.other_types:
                model.add(Prim(path, model.other_types[path], layout.model.prims[path].world))
    model.other_paths = frozenset(model.other_types) - model.prims.keys()
    source.looks = looks.capture_looks(stage, source.materials, source.materials)
    return source


def _depth_first(types: Iterable[str], defined: Iterable[str]) -> Iterator[str]:
    """Paths of prims as a stage visits them: children below their parents, in the order in which they were defined."""
    below: dict[str, list[str]] = {}
    for path in dict.fromkeys((*defined, *types)):
        if path != "/":
            below.setdefault(paths.parent_of(path), []).append(path)
    yield "/"
    pending = below.get("", [])[::-1]
    while pending:
        path = pending.pop()
        yield path
        pending += reversed(below.get(path, ()))


def _joint_targets(prim: Prim) -> Iterator[str]:
    joint = prim.get(usd_physics.Joint)
    if joint is not None:
        yield from (*(joint.body0 or ()), *(joint.body1 or ()))


def _import_prim(layout: Layout, known: Prim, type_name: str, placed: PlacedShape | None) -> Prim:
    """A prim of the layout with the schemas that its stage has beside."""
    prim = replace(known, type_name=type_name, schemas=dict(known.schemas), label="")
    for name, value in _held(layout, known):
        prim.schemas[name] = value
    if prim.get(usd_physics.Joint) is not None:
        prim.is_xformable = False
    if placed is not None:
        prim.world = layout.worlds[placed.link.name] @ urdf_layout.local_of(placed.shape)
        gprim = urdf_layout.gprim_of(placed.shape)
        if gprim is not None:
            prim.add(gprim)
    return prim


def _held(layout: Layout, prim: Prim) -> Iterator[tuple[str, Schema]]:
    """The schemas of simulators that notes of a prim stand for, with their values."""
    applied = layout.applied.get(prim.path, ())
    if not applied:
        return
    notes = {note.name: note.value for note in layout.notes[prim.path]}
    for name in applied:
        cls = held_class(name, prim.type_name, (*applied, *prim.schemas))
        if cls is None:
            continue
        value = cls()
        instance = vendor_schemas.dof_of(cls, "", prim.type_name)
        for attribute in cls.attributes:
            text = notes.get(attribute.usd_name(""))
            if isinstance(text, bool | tuple):
                setattr(value, attribute.field, text)
            elif text is not None:
                factor = SI.factor(attribute.dimension_for(instance, value.unit_mode))
                setattr(value, attribute.field, text * factor)
        yield name, value


def _unheld(layout: Layout, path: str) -> list[Note]:
    """The notes of a prim that are not values of its schemas of simulators."""
    applied = layout.applied.get(path, ())
    names = {item.usd_name("") for name in applied if (cls := vendor_schemas.find(name)) for item in cls.attributes}
    return [note for note in layout.notes[path] if note.name not in names]


def _is_stretched(shape: Shape) -> bool:
    return shape.kind == "box" and len(set(shape.size)) > 1


def _is_look(material: MeshMaterial) -> bool:
    return material.color is not None or material.texture is not None or any(material.emission)


def _triangle(mesh: MeshData) -> MeshData:
    """A triangle with the extent of a mesh: sizes are taken from it."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    return MeshData(np.stack([low, high, (low[0], high[1], low[2])]), np.array([3]), np.arange(3))


def _has_looks(mesh: MeshData) -> bool:
    return any(map(_is_look, mesh.materials))
