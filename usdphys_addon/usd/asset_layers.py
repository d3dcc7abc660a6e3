# SPDX-License-Identifier: GPL-3.0-or-later
"""One USD file -> an asset of layers, which compose to the same stage.

NAME.usda is the interface: its root prims and their payload, Payload/Contents.usda. The sublayers of that are
Physics.usda, Materials.usda and Geometry.usda. Each mesh lies once in GeometryLibrary.usdc, to which Geometry.usda
refers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd

from ..core import paths, schema, vendor_schemas
from ..core.errors import InputError, OutputError
from . import instanceable
from .files import layers
from .files.layers import modify_asset_paths
from .opinions import BINDING_API, PHYSICS_BINDING

#: Folder beside the interface, and the one in it for images.
PAYLOAD = "Payload"
TEXTURES = "Textures"
#: The sublayers of the contents, the strongest first; the last one defines the prims.
PHYSICS, MATERIALS, GEOMETRY = "Physics", "Materials", "Geometry"
_LIBRARY = "GeometryLibrary.usdc"
#: Metadata of root layers that say how they are composed.
_COMPOSITION = frozenset({"subLayers", "subLayerOffsets", "layerRelocates", "hasOwnedSubLayers", "primChildren"})
#: What the interface says about its root prims before their payload is loaded.
_INTERFACE = ("typeName", "kind", "assetInfo", "displayName", "documentation")
#: Composition arcs of a prim: their opinions might come before those of the library.
_ARCS = frozenset({"references", "payload", "inheritPaths", "specializes", "variantSetNames", "clips"})
#: Namespaces of properties that are not about physics, though schemas of physics use them.
_SHARED = frozenset({"collection", "xformOp"})


def payload_folder(target: Path) -> tuple[str, list[Path]]:
    """(name of the folder for the layers beside a target, files in it that are the target's and may be replaced).

    Raises OutputError if other assets have taken the names.
    """
    named: Iterable[str] = ()
    if target.is_file():
        with suppress(Tf.ErrorException, InputError):
            old = Sdf.Layer.OpenAsAnonymous(str(target))
            named = layers.dependencies(old) if old else ()
    used = {Path(path).parts[0] for path in named if Path(path).parts}
    for name in (PAYLOAD, f"{target.stem}_{PAYLOAD}"):
        folder = target.parent / name
        if name in used:
            return name, [path for path in folder.rglob("*") if path.is_file()]
        if not folder.exists():
            return name, []
    raise OutputError(f"'{target}' needs a folder '{name}' beside it, which there is already; choose another folder.")


@contextmanager
def claimed(target: Path) -> Iterator[tuple[str, list[Path]]]:
    """`payload_folder`, whose folder is made at once: no other process that writes beside the target takes it."""
    name, old = payload_folder(target)
    while True:
        try:
            (target.parent / name).mkdir()
            break
        except FileExistsError:
            before, (name, old) = name, payload_folder(target)
            if name == before:  # that of the target
                break
    try:
        yield name, old
    finally:
        with suppress(OSError):  # it is not empty: all went well
            (target.parent / name).rmdir()


def split(whole: Path, interface: Path, *, instances: bool = False) -> tuple[str, set[str]]:
    """Write the layers of an asset beside a USD file that holds it all, and the interface a folder above.

    whole: in the folder of the payload, with its images in `textures`. instances: of meshes with their colliders; see
    `instanceable`. Returns why there are no instances, if they are wanted, else "", and the paths of the prims whose
    meshes are below them now. Raises OutputError.
    """
    made = _split(whole, interface, instances=instances)
    # Nobody has it open any more, without which Windows does not remove it.
    whole.unlink()
    return made


def _split(whole: Path, interface: Path, *, instances: bool) -> tuple[str, set[str]]:
    """`split`, without removing the whole."""
    folder, source = whole.parent, Sdf.Layer.OpenAsAnonymous(str(whole))
    shared: set[str] = set()
    missing = ""
    if instances and len(source.subLayerPaths):
        missing = "the file has sublayers, which would hide the meshes that instances share"
    elif instances:
        shared = instanceable.wrap(source, _is_shape)
        source.Export(str(whole))
        missing = "" if shared else "no mesh can be one"
    layers = _Splitter(source, folder, shared).write(interface)
    _compare(whole, interface)
    if (folder / "textures").is_dir():
        # In two steps: some file systems do not tell upper from lower case.
        (folder / "textures").rename(folder / "renamed").rename(folder / TEXTURES)
    for file, layer in layers.items():
        if _moved(layer):
            layer.Export(str(file))
    return missing, shared


@cache
def _namespaces() -> frozenset[str]:
    """First namespaces of all properties of physics."""
    places = ("scene", "body", "collider", "material", "group", "articulation", "joint", "dof")
    tables = vendor_schemas.all_schemas(*places)  # type: ignore[arg-type]
    classes = (cls for cls in (*schema.SCHEMAS.values(), *tables) if cls.on != "gprim")
    return frozenset(item.usd.partition(":")[0] for cls in classes for item in cls.attributes) - _SHARED


def _is_physics(name: str) -> bool:
    return name.partition(":")[0] in _namespaces() or name == PHYSICS_BINDING


def _is_physics_schema(applied: str) -> bool:
    cls = vendor_schemas.find(schema.split_applied(applied)[0])
    return cls is not None and cls.on != "gprim"


@cache
def _mesh_properties() -> frozenset[str]:
    registry = Usd.SchemaRegistry()
    mesh, any_prim = (registry.FindConcretePrimDefinition(name) for name in ("Mesh", "Xform"))
    return frozenset(mesh.GetPropertyNames()) - frozenset(any_prim.GetPropertyNames())


def _is_shape(name: str) -> bool:
    return name in _mesh_properties() or name.startswith("primvars:")


class _Splitter:
    """Takes the source apart: the geometry begins as its copy, and physics, materials and meshes are moved out."""

    def __init__(self, source: Sdf.Layer, folder: Path, shared: Collection[str] = ()) -> None:
        """shared: paths of Xforms with a mesh below that become instances."""
        self.source, self.folder, self.shared = source, folder, shared
        self.layers = {name: self.empty() for name in (PHYSICS, MATERIALS)}
        self.geometry = Sdf.Layer.CreateAnonymous(".usda")
        self.geometry.TransferContent(source)
        self.geometry.subLayerPaths.clear()
        self.library = self.empty()
        self.shapes: dict[bytes, str] = {}
        # Opinions of the library are weaker than those of any sublayer.
        self.has_library = not len(source.subLayerPaths)

    def empty(self) -> Sdf.Layer:
        layer = Sdf.Layer.CreateAnonymous(".usda")
        for key in set(self.source.pseudoRoot.ListInfoKeys()) - _COMPOSITION:
            layer.pseudoRoot.SetInfo(key, self.source.pseudoRoot.GetInfo(key))
        return layer

    def write(self, interface: Path) -> dict[Path, Sdf.Layer]:
        """Write all layers; returns those that may name files. Their paths are as in the source."""
        with Sdf.ChangeBlock():
            for root in list(self.source.rootPrims):
                self.prim(root, is_plain=True)
        layers = {name: layer for name, layer in (*self.layers.items(), (GEOMETRY, self.geometry)) if layer.rootPrims}
        if self.library.rootPrims:
            self.library.defaultPrim = GEOMETRY
            self.library.Export(str(self.folder / _LIBRARY))
        contents = self.empty()
        contents.subLayerPaths[:] = [*(f"./{name}.usda" for name in layers), *self.source.subLayerPaths]
        for index, offset in enumerate(self.source.subLayerOffsets):
            contents.subLayerOffsets[len(layers) + index] = offset
        files = {self.folder / f"{name}.usda": layer for name, layer in (*layers.items(), ("Contents", contents))}
        for file, layer in files.items():
            layer.Export(str(file))
        self.interface(f"./{self.folder.name}/Contents.usda").Export(str(interface))
        return files

    def interface(self, contents: str) -> Sdf.Layer:
        """The layer that is opened. Where root prims point at each other, it has a sublayer: a payload holds one."""
        layer = self.empty()
        roots = list(self.source.rootPrims)
        if len(self.source.subLayerPaths) or not all(map(_is_closed, roots)):
            layer.subLayerPaths.append(contents)
            return layer
        for root in roots:
            spec = Sdf.CreatePrimInLayer(layer, root.path)
            spec.specifier = root.specifier
            for key in _INTERFACE:
                if root.HasInfo(key):
                    spec.SetInfo(key, root.GetInfo(key))
            is_default = root.name == self.source.defaultPrim
            payload = Sdf.Payload(contents) if is_default else Sdf.Payload(contents, root.path)
            spec.payloadList.prependedItems.append(payload)
        return layer

    # ------------------------------------------------------------------ prims

    def prim(self, spec: Sdf.PrimSpec, *, is_plain: bool) -> None:
        """Take a prim apart. is_plain: nothing above it comes from elsewhere."""
        home = _home(spec)
        if home:
            self.move(spec, self.layers[home])
            if home == MATERIALS:
                self.materials(spec)
            return
        is_plain = is_plain and not _ARCS.intersection(spec.ListInfoKeys())
        self.physics(self.geometry, spec.path)
        if is_plain and str(spec.path) in self.shared:
            self.instance(self.geometry.GetPrimAtPath(spec.path))
            return
        for child in list(spec.nameChildren):
            self.prim(child, is_plain=is_plain)
        if is_plain and self.has_library and spec.typeName == "Mesh" and spec.specifier == Sdf.SpecifierDef:
            self.mesh(self.geometry.GetPrimAtPath(spec.path))

    def materials(self, spec: Sdf.PrimSpec) -> None:
        """Take the physics out of materials that have been moved."""
        self.physics(self.layers[MATERIALS], spec.path)
        for child in spec.nameChildren:
            self.materials(child)

    def move(self, spec: Sdf.PrimSpec, layer: Sdf.Layer) -> None:
        Sdf.CreatePrimInLayer(layer, spec.path)
        Sdf.CopySpec(self.source, spec.path, layer, spec.path)
        _delete(self.geometry.GetPrimAtPath(spec.path))

    def physics(self, layer: Sdf.Layer, path: Sdf.Path) -> None:
        """Move the physics of a prim, and the material that it shows, to the layers of those."""
        spec = layer.GetPrimAtPath(path)
        self.schemas(spec)
        for name in list(spec.properties.keys()):
            is_look = name.startswith("material:binding") and layer is self.geometry
            home = PHYSICS if _is_physics(name) else MATERIALS if is_look else ""
            if home:
                target = Sdf.CreatePrimInLayer(self.layers[home], path)
                Sdf.CopySpec(layer, path.AppendProperty(name), target.layer, path.AppendProperty(name))
                spec.RemoveProperty(spec.properties[name])

    def schemas(self, spec: Sdf.PrimSpec) -> None:
        """Move applied API schemas to the layer of their properties."""
        list_op = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else None
        if list_op is None:
            return
        names = list(list_op.prependedItems)
        if list_op.isExplicit or list_op.appendedItems or list_op.addedItems or list_op.deletedItems:
            # The strongest layer says what others must not add to.
            homes = {PHYSICS: list_op}
        else:
            physics = [name for name in names if _is_physics_schema(name)]
            looks = [name for name in names if name == BINDING_API and spec.layer is self.geometry]
            rest = [name for name in names if name not in physics and name not in looks]
            homes = {
                home: Sdf.TokenListOp.Create(prependedItems=items)
                for home, items in ((PHYSICS, physics), (MATERIALS, looks), ("", rest)) if items
            }  # fmt: skip
        spec.ClearInfo("apiSchemas")
        for home, items in homes.items():
            target = Sdf.CreatePrimInLayer(self.layers[home], spec.path) if home else spec
            target.SetInfo("apiSchemas", items)

    # ------------------------------------------------------------------ meshes

    def mesh(self, spec: Sdf.PrimSpec) -> None:
        """Move the shape of a mesh to the library, where equal ones are one, and refer to it."""
        names = [
            name for name, item in spec.properties.items()
            if _is_shape(name) and isinstance(item, Sdf.AttributeSpec)
            and not item.connectionPathList.GetAddedOrExplicitItems()
        ]  # fmt: skip
        if "points" not in names:
            return
        subsets = [child for child in spec.nameChildren if child.typeName == "GeomSubset"]
        path, is_new = self.shape(spec.name, _texts(spec, names, subsets))
        if is_new:
            made = Sdf.CreatePrimInLayer(self.library, path)
            made.specifier, made.typeName = Sdf.SpecifierDef, "Mesh"
            for name in names:
                Sdf.CopySpec(spec.layer, spec.path.AppendProperty(name), self.library, made.path.AppendProperty(name))
            for subset in subsets:
                Sdf.CopySpec(spec.layer, subset.path, self.library, made.path.AppendChild(subset.name))
        for name in names:
            spec.RemoveProperty(spec.properties[name])
        for subset in subsets:
            _delete(subset)
        spec.referenceList.prependedItems.append(Sdf.Reference(f"./{_LIBRARY}", path))

    def instance(self, spec: Sdf.PrimSpec) -> None:
        """Move the mesh below an Xform to the library, with its collider, and make the Xform an instance of it."""
        mesh = spec.nameChildren[instanceable.MESH]
        path, is_new = self.shape(
            spec.name,
            (
                b"instance",
                *_texts(mesh, list(mesh.properties.keys()), list(mesh.nameChildren)),
                str(mesh.GetInfo("apiSchemas")).encode(),
            ),
        )
        if is_new:
            above = Sdf.CreatePrimInLayer(self.library, path)
            above.specifier, above.typeName = Sdf.SpecifierDef, "Xform"
            Sdf.CopySpec(spec.layer, mesh.path, self.library, above.path.AppendChild(mesh.name))
        _delete(mesh)
        spec.referenceList.prependedItems.append(Sdf.Reference(f"./{_LIBRARY}", path))
        spec.instanceable = True

    def shape(self, name: str, texts: Iterable[bytes]) -> tuple[str, bool]:
        """(path in the library of what these texts tell from all else, whether it is still to be written there)."""
        digest = hashlib.blake2b(digest_size=20)
        for text in texts:
            digest.update(text)
        path = self.shapes.get(digest.digest())
        if path is not None:
            return path, False
        path = self.shapes[digest.digest()] = paths.free(f"/{GEOMETRY}/{name}", self.library.GetPrimAtPath)
        home = Sdf.CreatePrimInLayer(self.library, f"/{GEOMETRY}")
        home.specifier, home.typeName = Sdf.SpecifierDef, "Scope"
        return path, True


def _texts(spec: Sdf.PrimSpec, names: list[str], subsets: list[Any]) -> Iterator[bytes]:
    """What tells a mesh from another."""
    for name in sorted(names):
        yield name.encode()
        yield from _values(spec.properties[name])
    for subset in subsets:
        yield subset.name.encode()
        for key in sorted(set(subset.ListInfoKeys()) - {"properties"}):
            yield f"{key}{subset.GetInfo(key)}".encode()
        for name, item in subset.properties.items():
            yield name.encode()
            yield from _values(item)


def _values(item: Any) -> Iterator[bytes]:
    for key in sorted(item.ListInfoKeys()):
        value = item.GetInfo(key)
        is_array = isinstance(item, Sdf.AttributeSpec) and key == "default" and item.typeName.isArray
        yield key.encode()
        # The text of an array leaves digits out.
        yield bytes(memoryview(value)) if is_array and _has_memory(value) else str(value).encode()


def _has_memory(value: Any) -> bool:
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def _home(spec: Sdf.PrimSpec) -> str:
    """The layer that a prim belongs to with all that is below it; empty for one that stays."""
    if spec.specifier != Sdf.SpecifierDef:
        return ""
    cls = vendor_schemas.find(spec.typeName) if spec.typeName else None
    if cls is not None and cls.kind == "typed" and cls.on != "gprim":
        return PHYSICS
    if spec.typeName == "Material":
        return MATERIALS
    if spec.typeName == "Scope" and spec.nameChildren and not spec.properties and not spec.variantSets:
        homes = {_home(child) for child in spec.nameChildren}
        return homes.pop() if len(homes) == 1 else ""
    return ""


def _is_closed(root: Sdf.PrimSpec) -> bool:
    """True if nothing below a root prim points at another one."""
    paths: list[Sdf.Path] = []
    inside: list[str] = []

    def visit(path: Sdf.Path) -> None:
        inside.append(str(path))
        item = root.layer.GetObjectAtPath(path)
        if isinstance(item, Sdf.RelationshipSpec):
            paths.extend(item.targetPathList.GetAddedOrExplicitItems())
        elif isinstance(item, Sdf.AttributeSpec):
            paths.extend(item.connectionPathList.GetAddedOrExplicitItems())
        elif isinstance(item, Sdf.PrimSpec):
            paths.extend(item.inheritPathList.GetAddedOrExplicitItems())
            paths.extend(item.specializesList.GetAddedOrExplicitItems())
            for arcs in (item.referenceList, item.payloadList):
                paths.extend(arc.primPath for arc in arcs.GetAddedOrExplicitItems() if not arc.assetPath)

    root.layer.Traverse(root.path, visit)
    return all(path.HasPrefix(root.path) or not path.IsAbsolutePath() for path in paths)


def _delete(spec: Sdf.PrimSpec) -> None:
    siblings = spec.nameParent.nameChildren if spec.nameParent else spec.layer.rootPrims
    del siblings[spec.name]


def _moved(layer: Sdf.Layer) -> bool:
    """Adapt asset paths to the folder of the payload: the whole file was one folder deeper, with its images beside.

    Returns True if any has changed.
    """
    changed = []

    def moved(path: str) -> str:
        for old, new in (("./textures/", f"./{TEXTURES}/"), ("textures/", f"./{TEXTURES}/"), ("../../", "../")):
            if path.startswith(old):
                changed.append(path)
                return new + path.removeprefix(old)
        return path

    modify_asset_paths(layer, moved)
    return bool(changed)


def _compare(whole: Path, interface: Path) -> None:
    """Raise OutputError unless both files have the same prims with the same properties."""
    one, other = (Usd.Stage.Open(str(path), Usd.Stage.LoadAll) for path in (whole, interface))
    for first, second in ((one, other), (other, one)):
        for prim in first.TraverseAll():
            twin = second.GetPrimAtPath(prim.GetPath())
            if not twin or set(prim.GetAuthoredPropertyNames()) - set(twin.GetAuthoredPropertyNames()):
                raise OutputError(f"'{interface.name}' cannot be split into layers: '{prim.GetPath()}' would be lost.")
