# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated USD files for the fuzz run: the same generator state gives the same file."""

from __future__ import annotations

import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz_sources
from pxr import Gf, Sdf, Tf, Usd, Vt

Mutation = Callable[[random.Random, "Sdf.Layer"], None]
NUMBERS = (
    math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1e-45, 1e-310, 1e-30, 3.4028235e38, -3.4028235e38, 1e30, 1e300,
    2147483647, -2147483648, 4294967296, 1e-7, 0.5,
)  # fmt: skip
INDICES = (-1, -2147483648, 2147483647, 1_000_000, 3, 0, 65536)
NAMES = ("a" * 300, "b" * 3000, "Größe", "名前", "Ñandú", "_", "__class__", "World", "CON", "prim_001", "zażółć")
TEXTS = ("", " ", "\n", "\x01", "x" * 20_000, "名前 \U0001f600", "../../..", "/", "</World>", "%s%n{0}", '"', "\\")
TYPES = (
    "", "Nonsense", "Xform", "Scope", "Mesh", "Cube", "Sphere", "Capsule", "Cylinder", "Cone", "Plane", "Points",
    "BasisCurves", "NurbsCurves", "NurbsPatch", "HermiteCurves", "PointInstancer", "GeomSubset", "Camera", "Material",
    "Shader", "NodeGraph", "SphereLight", "DomeLight", "DistantLight", "RectLight", "Skeleton", "SkelRoot",
    "SkelAnimation", "BlendShape", "Volume", "OpenVDBAsset", "TetMesh", "PhysicsScene", "PhysicsCollisionGroup",
    "PhysicsJoint", "PhysicsRevoluteJoint", "PhysicsFixedJoint", "PhysicsDistanceJoint", "PhysicsSphericalJoint",
    "PhysicsPrismaticJoint", "RenderSettings", "Capsule_1", "Cylinder_1", "SpatialAudio", "Backdrop",
)  # fmt: skip
SCHEMAS = (
    "PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI", "PhysicsMaterialAPI",
    "PhysicsArticulationRootAPI", "PhysicsFilteredPairsAPI", "PhysicsDriveAPI", "PhysicsLimitAPI",
    "PhysicsDriveAPI:rotX", "PhysicsDriveAPI:angular", "PhysicsDriveAPI:wrong", "PhysicsDriveAPI:", "PhysicsLimitAPI:",
    "PhysicsLimitAPI:transX:more", "PhysicsLimitAPI:distance", "PhysicsLimitAPI:is_applied",
    "PhysicsRigidBodyAPI:name", "PhysicsMassAPI:mass", "CollectionAPI:colliders", "CollectionAPI", "PhysicsScene",
    "physicsRigidBodyAPI", "PhysicsRigidBody", "PhysxRigidBodyAPI", "VendorAPI:a:b:c", "MaterialBindingAPI", "",
    "SkelBindingAPI", "Größe:API",
)  # fmt: skip
VALUE_TYPES = (
    "bool", "int", "int64", "uint", "uchar", "half", "float", "double", "string", "token", "asset", "timecode",
    "float2", "float3", "double3", "half3", "point3f", "color3f", "float4", "int3", "quatf", "quatd", "quath",
    "matrix3d", "matrix4d", "frame4d", "bool[]", "int[]", "float[]", "double[]", "float3[]", "quatf[]", "string[]",
    "token[]", "asset[]", "matrix4d[]", "opaque", "group", "pathExpression", "timecode[]", "point3f[]",
)  # fmt: skip
XFORM_OPS = ("translate", "rotateXYZ", "rotateZ", "scale", "orient", "transform", "translate:pivot", "nonsense")
#: What is found in a text file, and what may take its place.
PATTERNS = {
    "number": (
        r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])",
        (*map(str, NUMBERS), "1e400", "9" * 30, "0x1", "None", '"2"', "true", "[]", "()"),
    ),
    "string": (r'"[^"\n]*"', ('"X"', '""', '"W"', "7", "None", f'"{"y" * 5000}"', '"名前"', "[]")),
    "path": (
        r"<[^>\n]*>",
        ("</Nowhere>", "</>", "<.>", "<..>", "</World>", "<../..>", "</World.size>", "<>", "</World{a=b}c>"),
    ),
    "type": (r"\b(float|double|token|rel|quatf|point3f|vector3f|bool|int|color3f)\b", VALUE_TYPES),
    "keyword": (
        r"\b(def|over|class|uniform|custom|prepend|append)\b", ("def", "over", "class", "delete", "add", "reorder"),
    ),
    "bracket": (r"[(){}\[\]=,]", ("(", ")", "{", "}", "[", "]", "", ",", "=")),
    "line": (r"\n[^\n]*", ("\n",)),
    "asset": (
        r"@[^@\n]*@", ("@@", "@.@", "@/@", "@missing.usda@", "@./@", "@http://localhost:1/x.usda@", "@bodies.usda@"),
    ),
}  # fmt: skip


# --------------------------------------------------------------------------- one case


def make(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    """Write a mutated file, with what belongs to it, into an empty folder; (its path, what was done)."""
    kind = rng.choices(("layer", "bytes", "text", "file"), (66, 14, 12, 8))[0]
    if kind == "file":
        return make_file(rng, folder)
    name, others = rng.choice(fuzz_sources.sources())
    root, copied = copy(name, others, folder)
    notes = [Path(name).name]
    if others and rng.random() < 0.4:
        root = flattened(root, folder)
        copied = [root]
        notes.append("flattened")
    target = root if rng.random() < 0.4 else rng.choice(copied)
    if kind == "layer":
        # Only by the suffix .usd may a file be either text or crate.
        form = rng.choice(("usda", "usda", "usdc")) if target == root else target.suffix[1:]
        layer = loaded(target)
        if target == root:
            root = target = target.rename(target.with_suffix(rng.choice((f".{form}", ".usd"))))
        layer.customLayerData = {**layer.customLayerData, "file": target.name}
        notes += mutate_layer(rng, layer)
        try:
            if form == "usdc" and any(map(math.isnan, layer.ListAllTimeSamples())):
                raise Tf.ErrorException("USD does not survive writing these")
            exported(layer, target, "usdc" if form == "usdc" else "usda")
        except Tf.ErrorException:  # not everything that a text can hold fits into a crate
            if target == root:
                root = target = target.rename(target.with_suffix(".usda"))
            exported(layer, target, "usda")
    elif kind == "text":
        notes += mutate_text(rng, target)
    else:
        if rng.random() < 0.6 and target == root:
            layer = loaded(target)
            root = target = target.rename(target.with_suffix(".usdc"))
            exported(layer, target, "usdc")
            notes.append("as crate")
        notes += mutate_bytes(rng, target)
    return root, [*notes, f"in {target.name}"]


def copy(name: str, others: list[Path], folder: Path) -> tuple[Path, list[Path]]:
    """Copy a source; (its root file, all its layers)."""
    if name in fuzz_sources.OWN:
        root = folder / name
        root.write_text(fuzz_sources.OWN[name], encoding="utf-8")
        return root, [root]
    source = Path(name)
    copied = []
    for path in [source, *others]:
        to = folder / path.relative_to(source.parent)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        if path.suffix in (".usd", ".usda", ".usdc"):
            copied.append(to)
    return copied[0], copied


def flattened(root: Path, folder: Path) -> Path:
    flat = folder / f"flat_{root.stem}.usda"
    Usd.Stage.Open(str(root)).Flatten().Export(str(flat))
    return flat


def loaded(path: Path) -> Sdf.Layer:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(Sdf.Layer.OpenAsAnonymous(str(path)))
    return layer


def exported(layer: Sdf.Layer, path: Path, form: str) -> None:
    """Write a layer in a format that its suffix need not tell."""
    scratch = path.with_name(f"scratch.{form}")
    layer.Export(str(scratch))
    scratch.replace(path)


# --------------------------------------------------------------------------- bytes and text


def mutate_bytes(rng: random.Random, path: Path) -> list[str]:
    data = bytearray(path.read_bytes())
    what = rng.choice(("truncate", "flip", "flip", "cut", "repeat", "zero", "noise"))
    at = rng.randrange(max(1, len(data)))
    size = rng.choice((1, 4, 16, 256, 4096))
    if what == "truncate":
        del data[at:]
    elif what == "flip":
        for _ in range(rng.choice((1, 3, 10, 100))):
            if data:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif what == "cut":
        del data[at : at + size]
    elif what == "repeat":
        data[at:at] = data[at : at + size] * rng.choice((1, 10))
    elif what == "zero":
        data[at : at + size] = bytes(size)
    else:
        data[at : at + size] = rng.randbytes(size)
    path.write_bytes(data)
    return [what]


def mutate_text(rng: random.Random, path: Path) -> list[str]:
    """Replace numbers, strings, types, paths and names of a text file."""
    scratch = path.with_name("scratch.usda")
    Sdf.Layer.OpenAsAnonymous(str(path)).Export(str(scratch))
    text = scratch.read_text(encoding="utf-8")
    scratch.unlink()
    kinds = rng.choices(list(PATTERNS), k=rng.choice((1, 1, 2, 5)))
    for kind in kinds:
        pattern, replacements = PATTERNS[kind]
        found = list(re.finditer(pattern, text))
        for match in sorted(rng.sample(found, min(len(found), rng.choice((1, 1, 3)))), key=lambda one: -one.start()):
            text = text[: match.start()] + rng.choice(replacements) + text[match.end() :]
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return [f"text {kind}" for kind in kinds]


def make_file(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    """Files that are odd as files."""
    what = rng.choice((
        "empty", "folder", "missing", "noise", "blend", "png", "crate as text", "text as crate", "usdz broken", "usdz",
        "loop", "odd name", "long name", "suffix", "no suffix", "bom", "utf-16", "nul", "header", "large number",
        "deep text", "brackets", "usdz nested",
    ))  # fmt: skip
    own = rng.choice(list(fuzz_sources.OWN))
    text = fuzz_sources.OWN[own]
    path = folder / f"file{rng.choice(('.usda', '.usdc', '.usd', '.usdz'))}"
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(text)
    if what == "empty":
        path.write_bytes(b"")
    elif what == "folder":
        path.mkdir()
    elif what == "noise":
        path.write_bytes(rng.randbytes(rng.choice((1, 100, 10_000))))
    elif what == "blend":
        path.write_bytes(b"BLENDER-v405" + bytes(1000))
    elif what == "png":
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
    elif what == "crate as text":
        path = path.with_suffix(".usda")
        exported(layer, path, "usdc")
    elif what == "text as crate":
        path = path.with_suffix(".usdc")
        path.write_text(text, encoding="utf-8")
    elif what.startswith("usdz"):
        path = path.with_suffix(".usdz")
        make_package(rng, path, text, what)
    elif what == "loop":
        path.symlink_to(path.name)
    elif what in ("odd name", "long name", "suffix", "no suffix"):
        names = {
            "odd name": ("a b.usda", "名前.usda", "a%20b.usda", "a@b.usda", "a[b].usda", "a:SDF_FORMAT_ARGS:x=y.usda",
                         "-x.usda", "#.usda", "a\nb.usda", "a<UDIM>.usda", "a'b\"c.usda", "a\\b.usda"),
            "long name": ("n" * 240 + ".usda",),
            "suffix": ("a.txt", "a.obj", "a.USDA", "a.usda.bak", "a.abc", "a.mtlx", "a.vdb"),
            "no suffix": ("a", ".usda", "a.", "..usda"),
        }[what]  # fmt: skip
        path = folder / rng.choice(names)
        path.write_text(text, encoding="utf-8")
    elif what == "bom":
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif what == "utf-16":
        path.write_bytes(text.encode("utf-16"))
    elif what == "nul":
        path.write_bytes(text.replace("World", "Wor\0ld").encode())
    elif what == "header":
        path.write_text(text.replace("1.0", rng.choice(("2.0", "9.9", "", "0", "1.0.0")), 1), encoding="utf-8")
    elif what == "large number":
        path.write_text(text.replace("= 50\n", f"= {'9' * 100_000}\n"), encoding="utf-8")
    elif what == "deep text":
        depth = rng.choice((500, 3000, 20_000))
        path.write_text("#usda 1.0\n" + 'def Xform "a" {\n' * depth + "}\n" * depth, encoding="utf-8")
    elif what == "brackets":
        path.write_text("#usda 1.0\n(customLayerData = " + "{dictionary a = " * 5000 + "{}" + "}" * 5000 + ")\n")
    return path, [what, own]


def make_package(rng: random.Random, path: Path, text: str, what: str) -> None:
    inner = path.with_name("inner.usda")
    inner.write_text(text, encoding="utf-8")
    if what == "usdz nested":
        inner.write_text('#usda 1.0\ndef "a" (references = @file.usdz@</World>) {}\n', encoding="utf-8")
    with (Sdf if hasattr(Sdf, "ZipFileWriter") else Usd).ZipFileWriter.CreateNew(str(path)) as writer:
        writer.AddFile(str(inner), inner.name)
    inner.unlink()
    if what == "usdz broken":
        mutate_bytes(rng, path)


# --------------------------------------------------------------------------- layers

MUTATIONS: dict[str, tuple[float, Mutation]] = {}


def mutation(weight: float = 1.0) -> Callable[[Mutation], Mutation]:
    def register(function: Mutation) -> Mutation:
        MUTATIONS[function.__name__] = weight, function
        return function

    return register


def mutate_layer(rng: random.Random, layer: Sdf.Layer) -> list[str]:
    """One to six mutations of the opinions in a layer; what USD itself refuses is passed over."""
    names = rng.choices(list(MUTATIONS), [weight for weight, _ in MUTATIONS.values()], k=rng.choice((1, 1, 2, 3, 6)))
    notes = []
    for name in names:
        try:
            MUTATIONS[name][1](rng, layer)
        except (Tf.ErrorException, RuntimeError, LookupError, MemoryError, TypeError, ValueError, OverflowError):
            name = f"({name})"
        notes.append(name)
    return notes


def prims(layer: Sdf.Layer) -> list[Sdf.PrimSpec]:
    """All prims, with those in variants."""
    found: list[Sdf.PrimSpec] = []

    def visit(path: Sdf.Path) -> None:
        if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
            spec = layer.GetPrimAtPath(path)
            if spec and path.IsPrimPath():
                found.append(spec)

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    return sorted(found, key=lambda spec: str(spec.path))


def any_prim(rng: random.Random, layer: Sdf.Layer, *types: str) -> Sdf.PrimSpec:
    known = prims(layer)
    fitting = [spec for spec in known if spec.typeName in types] if types else known
    return rng.choice(fitting or known or [Sdf.CreatePrimInLayer(layer, "/World")])


def attributes(layer: Sdf.Layer, pattern: str = "") -> list[Sdf.AttributeSpec]:
    return [one for spec in prims(layer) for one in spec.attributes if re.search(pattern, one.name)]


def any_attribute(rng: random.Random, layer: Sdf.Layer, pattern: str = "") -> Sdf.AttributeSpec:
    found = attributes(layer, pattern) or attributes(layer)
    if found:
        return rng.choice(found)
    return Sdf.AttributeSpec(any_prim(rng, layer), "physics:mass", Sdf.ValueTypeNames.Float)


def any_path(rng: random.Random, layer: Sdf.Layer) -> str:
    path = str(any_prim(rng, layer).path)
    odd = ("/", "/Nowhere", "/Nowhere.size", f"{path}.physics:mass", f"{path}.nothing", f"{path}/Nothing", "..", ".")
    return rng.choice((path, path, rng.choice(odd)))


def odd_number(rng: random.Random) -> float:
    return float(rng.choice(NUMBERS))


def odd_value(rng: random.Random, type_name: str) -> Any:
    """A value of a type, of odd parts."""
    if type_name.endswith("[]"):
        size = rng.choice((0, 1, 3, 4, 1000))
        scalar = Sdf.ValueTypeNames.Find(type_name[:-2])
        array = Sdf.ValueTypeNames.Find(type_name).type.pythonClass
        one = odd_value(rng, str(scalar))
        return array([one] * size)
    if type_name == "bool":
        return rng.random() < 0.5
    if type_name in ("int", "int64"):
        return rng.choice(INDICES)
    if type_name in ("uint", "uchar", "uint64"):
        return rng.choice((0, 1, 255))
    if type_name in ("half", "float", "double"):
        return odd_number(rng)
    if type_name == "timecode":
        return Sdf.TimeCode(odd_number(rng))
    if type_name in ("string", "token"):
        return rng.choice((*TEXTS, "X", "none", "nonsense"))
    if type_name == "asset":
        return Sdf.AssetPath(rng.choice(("missing.png", "", "./a", "/nowhere/x.usd", "a<UDIM>.png")))
    if type_name == "pathExpression":
        return Sdf.PathExpression(rng.choice(("//", "/World//", "%/World:colliders", "/a - /b")))
    default = Sdf.ValueTypeNames.Find(type_name).defaultValue
    if isinstance(default, Gf.Quatf | Gf.Quatd | Gf.Quath):
        return type(default)(*(odd_number(rng) for _ in range(4)))
    if isinstance(default, Gf.Matrix3d | Gf.Matrix4d):
        return rng.choice((type(default)(0), type(default)(odd_number(rng)), type(default)(1)))
    if hasattr(default, "__len__") and not isinstance(default, str):
        number = odd_number if "int" not in type_name else lambda rng: rng.choice(INDICES)
        return type(default)(*(number(rng) for _ in range(len(default))))
    return default


def set_attribute(spec: Sdf.PrimSpec, name: str, type_name: str, value: Any) -> Sdf.AttributeSpec:
    """Author an attribute anew, whatever was there."""
    old = spec.properties.get(name)
    if old is not None:
        spec.RemoveProperty(old)
    made = Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.Find(type_name))
    made.default = value
    return made


@mutation(5)
def wrong_type(rng: random.Random, layer: Sdf.Layer) -> None:
    attribute = any_attribute(rng, layer, "physics:|limit:|drive:" if rng.random() < 0.7 else "")
    type_name = rng.choice(VALUE_TYPES)
    spec, name = attribute.owner, attribute.name
    if rng.random() < 0.1:
        spec.RemoveProperty(attribute)
        Sdf.RelationshipSpec(spec, name).targetPathList.explicitItems = [spec.path]
        return
    set_attribute(spec, name, type_name, odd_value(rng, type_name))


@mutation(1)
def attribute_for_relationship(rng: random.Random, layer: Sdf.Layer) -> None:
    found = [one for spec in prims(layer) for one in spec.relationships]
    relationship = rng.choice(found)
    type_name = rng.choice(VALUE_TYPES)
    set_attribute(relationship.owner, relationship.name, type_name, odd_value(rng, type_name))


@mutation(5)
def odd_numbers(rng: random.Random, layer: Sdf.Layer) -> None:
    for _ in range(rng.choice((1, 3, 10))):
        attribute = any_attribute(rng, layer)
        attribute.default = odd_value(rng, str(attribute.typeName))


@mutation(3)
def odd_physics_number(rng: random.Random, layer: Sdf.Layer) -> None:
    attribute = any_attribute(rng, layer, "physics:|radius|height|size|width|length")
    attribute.default = odd_value(rng, str(attribute.typeName))


@mutation(2)
def odd_token(rng: random.Random, layer: Sdf.Layer) -> None:
    found = [one for one in attributes(layer) if str(one.typeName) in ("token", "string", "token[]")]
    attribute = rng.choice(found)
    attribute.default = odd_value(rng, str(attribute.typeName))


@mutation(3)
def odd_schemas(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    listed = Sdf.TokenListOp()
    names = rng.choices(SCHEMAS, k=rng.choice((1, 3, 8)))
    if rng.random() < 0.5:
        listed.explicitItems = list(dict.fromkeys(names))
    else:
        listed.prependedItems = list(dict.fromkeys(names))
    spec.SetInfo("apiSchemas", listed)


@mutation(1)
def everything_at_once(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    listed = Sdf.TokenListOp()
    listed.prependedItems = [name for name in SCHEMAS if name]
    spec.SetInfo("apiSchemas", listed)
    spec.typeName = rng.choice(TYPES)


@mutation(3)
def odd_type(rng: random.Random, layer: Sdf.Layer) -> None:
    any_prim(rng, layer).typeName = rng.choice(TYPES)


@mutation(3)
def composition(rng: random.Random, layer: Sdf.Layer) -> None:
    """Cycles and dead ends of references, payloads, inherits, specializes and sublayers."""
    spec = any_prim(rng, layer)
    file = layer.customLayerData.get("file", "")
    target = Sdf.Path(rng.choice((
        str(spec.path), str(spec.path.GetParentPath()), f"{spec.path}/Below", any_path(rng, layer), "", "/Nowhere",
    )))  # fmt: skip
    arc = rng.choice(("reference", "reference", "payload", "inherit", "specialize", "sublayer", "variant", "mutual"))
    asset = rng.choice(("", "", f"./{file}", "./missing.usda", "@", "http://localhost:1/a.usda"))
    if arc == "reference":
        spec.referenceList.Prepend(Sdf.Reference(asset, target, Sdf.LayerOffset(0, rng.choice((1, 0, -1, math.nan)))))
    elif arc == "payload":
        spec.payloadList.Prepend(Sdf.Payload(asset, target))
    elif arc == "inherit":
        spec.inheritPathList.Prepend(target)
    elif arc == "specialize":
        spec.specializesList.Prepend(target)
    elif arc == "sublayer":
        layer.subLayerPaths.append(rng.choice((f"./{file}", "./missing.usda", ".", "")))
    elif arc == "variant":
        variants = Sdf.VariantSetSpec(spec, "kind")
        variant = Sdf.VariantSpec(variants, "one")
        variant.primSpec.referenceList.Prepend(Sdf.Reference("", spec.path))
        spec.variantSetNameList.Prepend("kind")
        spec.variantSelections["kind"] = rng.choice(("one", "two", ""))
    else:
        other = any_prim(rng, layer)
        spec.referenceList.Prepend(Sdf.Reference("", other.path))
        other.referenceList.Prepend(Sdf.Reference("", spec.path))


@mutation(3)
def odd_targets(rng: random.Random, layer: Sdf.Layer) -> None:
    found = [one for spec in prims(layer) for one in spec.relationships]
    if found and rng.random() < 0.7:
        relationship = rng.choice(found)
    else:
        names = ("physics:body0", "physics:body1", "physics:filteredPairs", "physics:simulationOwner", "proxyPrim",
                 "collection:colliders:includes", "physics:filteredGroups", "material:binding:physics",
                 "material:binding", "skel:skeleton", "prototypes", "skel:animationSource")  # fmt: skip
        spec, name = any_prim(rng, layer), rng.choice(names)
        relationship = spec.relationships.get(name) or Sdf.RelationshipSpec(spec, name)
    relationship.targetPathList.ClearEditsAndMakeExplicit()
    own = [relationship.owner.path, relationship.path]
    listed = [Sdf.Path(any_path(rng, layer)) for _ in range(rng.choice((0, 1, 2, 5)))]
    if rng.random() < 0.3:
        listed.append(rng.choice(own))
    relationship.targetPathList.explicitItems = list(dict.fromkeys(path.MakeAbsolutePath("/") for path in listed))


@mutation(3)
def odd_transform(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    types = {"translate": "double3", "rotateXYZ": "float3", "rotateZ": "float", "scale": "float3", "orient": "quatf",
             "transform": "matrix4d", "translate:pivot": "double3", "nonsense": "float"}  # fmt: skip
    order = []
    for op in rng.sample(XFORM_OPS, rng.choice((1, 2, 4))):
        type_name = types[op] if rng.random() < 0.8 else rng.choice(VALUE_TYPES)
        if rng.random() < 0.8:
            set_attribute(spec, f"xformOp:{op}", type_name, odd_value(rng, type_name))
        order.append(f"{rng.choice(('', '', '!invert!'))}xformOp:{op}")
    if rng.random() < 0.3:
        order = [*order, *order, "!resetXformStack!", "xformOp:missing", ""]
    set_attribute(spec, "xformOpOrder", "token[]", Vt.TokenArray(order))


@mutation(2)
def flat_scale(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    scale = Gf.Vec3f(*rng.choices((0.0, 0.0, 1.0, -1.0, 1e-20, 1e20), k=3))
    set_attribute(spec, "xformOp:scale", "float3", scale)
    set_attribute(spec, "xformOpOrder", "token[]", Vt.TokenArray(["xformOp:scale"]))


@mutation(5)
def odd_mesh(rng: random.Random, layer: Sdf.Layer) -> None:
    """Arrays of meshes, curves, points, instancers and skeletons that do not fit together."""
    kinds = ("Mesh", "BasisCurves", "NurbsCurves", "Points", "PointInstancer", "Skeleton", "SkelAnimation",
             "BlendShape", "GeomSubset")  # fmt: skip
    spec = any_prim(rng, layer, *(kinds if rng.random() < 0.7 else ("Mesh",)))
    found = [one for one in spec.attributes if one.typeName.isArray]
    for _ in range(rng.choice((1, 1, 3))):
        attribute = rng.choice(found)
        values = list(attribute.default or ())
        what = rng.choice(("index", "index", "shorter", "longer", "empty", "none", "odd"))
        if what == "index" and values and isinstance(values[0], int):
            values[rng.randrange(len(values))] = rng.choice(INDICES)
        elif what == "shorter":
            values = values[: rng.randrange(len(values) + 1)]
        elif what == "longer" and values:
            values = values * rng.choice((2, 100))
        elif what == "empty":
            values = []
        elif what == "none":
            spec.RemoveProperty(attribute)
            found.remove(attribute)
            continue
        else:
            attribute.default = odd_value(rng, str(attribute.typeName))
            continue
        attribute.default = attribute.typeName.type.pythonClass(values)


@mutation(1)
def odd_primvar(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer, "Mesh", "BasisCurves", "Points", "Cube")
    arrays = [name for name in VALUE_TYPES if name.endswith("[]")]
    type_name = rng.choice([*arrays, "float", "color3f[]", "texCoord2f[]"])
    name = rng.choice(("st", "displayColor", "displayOpacity", "own", "skel:jointIndices", "normals", "", "a:b"))
    made = set_attribute(spec, f"primvars:{name}", type_name, odd_value(rng, type_name))
    made.SetInfo("interpolation", rng.choice(("vertex", "faceVarying", "uniform", "constant", "varying", "wrong")))
    if rng.random() < 0.5:
        indices = Vt.IntArray([rng.choice(INDICES) for _ in range(rng.choice((1, 8, 24)))])
        set_attribute(spec, f"primvars:{name}:indices", "int[]", indices)


@mutation(0.7)
def large_mesh(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer, "Mesh")
    size = rng.choice((10_000, 300_000))
    spec.typeName = "Mesh"
    listed = Sdf.TokenListOp()
    listed.prependedItems = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
    spec.SetInfo("apiSchemas", listed)
    set_attribute(spec, "points", "point3f[]", Vt.Vec3fArray(size, [Gf.Vec3f(1, 2, 3), Gf.Vec3f(4, 5, 6)]))
    if rng.random() < 0.5:
        set_attribute(spec, "faceVertexCounts", "int[]", Vt.IntArray(size // 3, [3]))
        set_attribute(spec, "faceVertexIndices", "int[]", Vt.IntArray(size // 3 * 3, list(range(size // 3 * 3))))
    else:
        set_attribute(spec, "faceVertexCounts", "int[]", Vt.IntArray([size]))
        set_attribute(spec, "faceVertexIndices", "int[]", Vt.IntArray(size, list(range(size))))


@mutation(0.7)
def deep(rng: random.Random, layer: Sdf.Layer) -> None:
    path = any_prim(rng, layer).path
    depth = rng.choice((100, 300, 1000, 3000))
    names = rng.choice((("Xform",), ("",), ("Xform", "", "Scope"), ("Cube",), ("Mesh",), ("Material",)))
    listed = Sdf.TokenListOp()
    listed.prependedItems = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    with_physics = rng.random() < 0.5
    for level in range(depth):
        path = path.AppendChild("n")
        spec = Sdf.CreatePrimInLayer(layer, path)
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = names[level % len(names)]
        if with_physics and level % 10 == 0:
            spec.SetInfo("apiSchemas", listed)


@mutation(0.4)
def many(rng: random.Random, layer: Sdf.Layer) -> None:
    above = any_prim(rng, layer).path
    type_name = rng.choice(TYPES)
    for number in range(rng.choice((100, 500))):
        spec = Sdf.CreatePrimInLayer(layer, above.AppendChild(f"many_{number}"))
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = type_name


@mutation(2)
def odd_metadata(rng: random.Random, layer: Sdf.Layer) -> None:
    root = layer.pseudoRoot
    name = rng.choice(("metersPerUnit", "metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond",
                       "startTimeCode", "endTimeCode", "framesPerSecond", "defaultPrim", "comment"))  # fmt: skip
    if name == "upAxis":
        root.SetInfo(name, rng.choice(("X", "", "y", "nonsense", "Y", "Z")))
    elif name in ("defaultPrim", "comment"):
        root.SetInfo(name, rng.choice((*TEXTS, "Nowhere", "World/Crate", "/World")))
    else:
        root.SetInfo(name, odd_number(rng))


@mutation(2)
def odd_name(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    name = rng.choice(NAMES)
    old = spec.path
    spec.name = name
    new = spec.path
    if rng.random() < 0.7:
        for other in prims(layer):
            for relationship in other.relationships:
                relationship.ReplaceTargetPath(old, new)


@mutation(2)
def time_samples(rng: random.Random, layer: Sdf.Layer) -> None:
    attribute = any_attribute(rng, layer, rng.choice(("physics:", "xformOp", "points|visibility|widths", "")))
    if rng.random() < 0.5:
        attribute.ClearDefaultValue()
    for _ in range(rng.choice((1, 3, 200))):
        time = rng.choice((math.nan, math.inf, 1e300, 0.0, float(rng.randrange(100))))
        value = Sdf.ValueBlock() if rng.random() < 0.2 else odd_value(rng, str(attribute.typeName))
        layer.SetTimeSample(attribute.path, time, value)


@mutation(2)
def block(rng: random.Random, layer: Sdf.Layer) -> None:
    for _ in range(rng.choice((1, 5))):
        any_attribute(rng, layer, rng.choice(("physics:", ""))).default = Sdf.ValueBlock()


@mutation(2)
def prim_fields(rng: random.Random, layer: Sdf.Layer) -> None:
    spec = any_prim(rng, layer)
    what = rng.choice(("specifier", "active", "instanceable", "kind", "hidden", "documentation", "customData",
                       "visibility", "purpose", "clips", "variant", "assetInfo", "orderings"))  # fmt: skip
    if what == "specifier":
        spec.specifier = rng.choice((Sdf.SpecifierOver, Sdf.SpecifierClass, Sdf.SpecifierDef))
    elif what in ("active", "instanceable", "hidden"):
        spec.SetInfo(what, what != "active" or rng.random() < 0.2)
    elif what in ("kind", "documentation"):
        spec.SetInfo(what, rng.choice((*TEXTS, "component", "group", "nonsense")))
    elif what in ("customData", "assetInfo"):
        data: dict[str, Any] = {"value": odd_number(rng), "text": rng.choice(TEXTS), "blender": {"x": True}}
        for _ in range(rng.choice((1, 30))):
            data = {"deeper": data}
        spec.SetInfo(what, data)
    elif what in ("visibility", "purpose"):
        tokens = ("invisible", "inherited", "nonsense", "guide", "proxy", "render", "")
        set_attribute(spec, what, "token", rng.choice(tokens))
    elif what == "clips":
        spec.SetInfo(
            "clips",
            {
                "default": {
                    "assetPaths": [Sdf.AssetPath("missing.usda")],
                    "primPath": "/Nowhere",
                    "active": Vt.Vec2dArray([(0, 0)]),
                    "times": Vt.Vec2dArray([(0, 0)]),
                }
            },
        )
    elif what == "variant":
        spec.variantSelections["look"] = "nowhere"
    else:
        spec.SetInfo("primOrder", ["nowhere", "Crate"])


@mutation(1)
def connection(rng: random.Random, layer: Sdf.Layer) -> None:
    attribute = any_attribute(rng, layer, rng.choice(("physics:", "inputs:|outputs:", "")))
    other = any_attribute(rng, layer)
    target = rng.choice((attribute.path, other.path, Sdf.Path("/Nowhere.size"), attribute.owner.path))
    attribute.connectionPathList.Prepend(target)


@mutation(1)
def nested_bodies(rng: random.Random, layer: Sdf.Layer) -> None:
    listed = Sdf.TokenListOp()
    listed.prependedItems = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsArticulationRootAPI"]
    for spec in prims(layer):
        if rng.random() < 0.5:
            spec.SetInfo("apiSchemas", listed)


@mutation(1)
def moved(rng: random.Random, layer: Sdf.Layer) -> None:
    """A prim below another one, or gone."""
    spec = any_prim(rng, layer)
    if rng.random() < 0.5:
        parent = spec.nameParent or layer.pseudoRoot
        del parent.nameChildren[spec.name]
        return
    other = any_prim(rng, layer)
    Sdf.CopySpec(layer, spec.path, layer, other.path.AppendChild(spec.name))
