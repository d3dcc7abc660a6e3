# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated USD files: of fuzz_stages/, and of the shared set where it is there. One chance gives one file."""

from __future__ import annotations

import math
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz import ROOT, SHARED, damaged
from pxr import Gf, Sdf, Tf, Usd, Vt


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OWN = {path.name: path for path in sorted((ROOT / "scripts" / "fuzz_stages").glob("*.usda"))}
NUMBERS = (
    math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1e-45, 1e-310, 1e-30, 3.4028235e38, -3.4028235e38, 1e30, 1e300,
    2147483647, -2147483648, 4294967296, 1e-7, 0.5,
)  # fmt: skip
INDICES = (-1, -2147483648, 2147483647, 1_000_000, 3, 0, 65536)
NAMES = ("a" * 300, "b" * 3000, "Größe", "名前", "Ñandú", "_", "__class__", "World", "CON", "prim_001", "zażółć")
TEXTS = ("", " ", "\n", "\x01", "x" * 20_000, "名前 \U0001f600", "../../..", "/", "</World>", "%s%n{0}", '"', "\\")
TYPES = (
    "", *words(
    "Nonsense Xform Scope Mesh Cube Sphere Capsule Cylinder Cone Plane Points BasisCurves NurbsCurves NurbsPatch "
    "HermiteCurves PointInstancer GeomSubset Camera Material Shader NodeGraph SphereLight DomeLight DistantLight "
    "RectLight Skeleton SkelRoot SkelAnimation BlendShape Volume OpenVDBAsset TetMesh PhysicsScene "
    "PhysicsCollisionGroup PhysicsJoint PhysicsRevoluteJoint PhysicsFixedJoint PhysicsDistanceJoint "
    "PhysicsSphericalJoint PhysicsPrismaticJoint RenderSettings Capsule_1 Cylinder_1 SpatialAudio Backdrop"),
)  # fmt: skip
SCHEMAS = (
    "", *words("PhysicsRigidBodyAPI PhysicsCollisionAPI PhysicsMeshCollisionAPI PhysicsMassAPI PhysicsMaterialAPI "
    "PhysicsArticulationRootAPI PhysicsFilteredPairsAPI PhysicsDriveAPI PhysicsLimitAPI PhysicsDriveAPI:rotX "
    "PhysicsDriveAPI:angular PhysicsDriveAPI:wrong PhysicsDriveAPI: PhysicsLimitAPI: PhysicsLimitAPI:transX:more "
    "PhysicsLimitAPI:distance PhysicsLimitAPI:is_applied PhysicsRigidBodyAPI:name PhysicsMassAPI:mass "
    "CollectionAPI:colliders CollectionAPI PhysicsScene physicsRigidBodyAPI PhysicsRigidBody PhysxRigidBodyAPI "
    "VendorAPI:a:b:c MaterialBindingAPI SkelBindingAPI Größe:API"),
)  # fmt: skip
VALUE_TYPES = words(
    "bool int int64 uint uchar half float double string token asset timecode float2 float3 double3 half3 point3f "
    "color3f float4 int3 quatf quatd quath matrix3d matrix4d frame4d bool[] int[] float[] double[] float3[] quatf[] "
    "string[] token[] asset[] matrix4d[] opaque group pathExpression timecode[] point3f[]"
)
XFORM_OPS = {
    "translate": "double3", "rotateXYZ": "float3", "rotateZ": "float", "scale": "float3", "orient": "quatf",
    "transform": "matrix4d", "translate:pivot": "double3", "nonsense": "float",
}  # fmt: skip
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


def sources() -> list[tuple[Path, list[Path]]]:
    """(root file, files that belong to it), always in the same order."""
    found, devset = [(path, []) for path in OWN.values()], SHARED / "devset"
    for root in sorted(
        [*devset.glob("usd/*.usd*"), *devset.glob("usd/*/*.usd*"), *devset.glob("urdf/*/reference_usd/*.usd*")]
    ):
        files = () if root.parent.name == "usd" else root.parent.rglob("*")
        found.append((root, sorted(path for path in files if path.is_file() and path != root)))
    return found


def make(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    """Write a mutated file, with what belongs to it, into an empty folder; (its path, what was done)."""
    kind = rng.choices(("layer", "bytes", "text", "file"), (66, 14, 12, 8))[0]
    if kind == "file":
        return make_file(rng, folder)
    source, others = rng.choice(sources())
    notes, copied = [source.name], []
    for path in (source, *others):
        to = folder / path.relative_to(source.parent)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        copied += [to] if path.suffix in (".usd", ".usda", ".usdc") else []
    root = copied[0]
    if others and rng.random() < 0.4:
        Usd.Stage.Open(str(root)).Flatten().Export(str(folder / f"flat_{root.stem}.usda"))
        root = folder / f"flat_{root.stem}.usda"
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
        notes += Mutator(rng, layer).mutate()
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
        notes.append(mutate_bytes(rng, target))
    return root, [*notes, f"in {target.name}"]


def loaded(path: Path) -> Sdf.Layer:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(Sdf.Layer.OpenAsAnonymous(str(path)))
    return layer


def exported(layer: Sdf.Layer, path: Path, form: str) -> None:
    """Write a layer in a format that its suffix need not tell."""
    scratch = path.with_name(f"scratch.{form}")
    layer.Export(str(scratch))
    scratch.replace(path)


def mutate_bytes(rng: random.Random, path: Path) -> str:
    data, what = damaged(rng, path.read_bytes())
    path.write_bytes(data)
    return what


def mutate_text(rng: random.Random, path: Path) -> list[str]:
    """Replace numbers, strings, types, paths and names of a text file."""
    text = Sdf.Layer.OpenAsAnonymous(str(path)).ExportToString()
    kinds = rng.choices(list(PATTERNS), k=rng.choice((1, 1, 2, 5)))
    for kind in kinds:
        pattern, replacements = PATTERNS[kind]
        found = list(re.finditer(pattern, text))
        for match in sorted(rng.sample(found, min(len(found), rng.choice((1, 1, 3)))), key=lambda one: -one.start()):
            text = text[: match.start()] + rng.choice(replacements) + text[match.end() :]
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return [f"text {kind}" for kind in kinds]


# --------------------------------------------------------------------------- files that are odd as files

ODD_NAMES = {
    "odd name": ("a b.usda", "名前.usda", "a%20b.usda", "a@b.usda", "a[b].usda", "a:SDF_FORMAT_ARGS:x=y.usda",
                 "-x.usda", "#.usda", "a\nb.usda", "a<UDIM>.usda", "a'b\"c.usda", "a\\b.usda"),
    "long name": ("n" * 240 + ".usda",),
    "suffix": ("a.txt", "a.obj", "a.USDA", "a.usda.bak", "a.abc", "a.mtlx", "a.vdb"),
    "no suffix": ("a", ".usda", "a.", "..usda"),
}  # fmt: skip
#: What is in a file, of the text of a stage.
CONTENTS: dict[str, Callable[[random.Random, str], str | bytes]] = {
    "empty": lambda rng, text: "",
    "noise": lambda rng, text: rng.randbytes(rng.choice((1, 100, 10_000))),
    "blend": lambda rng, text: b"BLENDER-v405" + bytes(1000),
    "png": lambda rng, text: b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "text as crate": lambda rng, text: text,
    "bom": lambda rng, text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": lambda rng, text: text.encode("utf-16"),
    "nul": lambda rng, text: text.replace("World", "Wor\0ld"),
    "header": lambda rng, text: text.replace("1.0", rng.choice(("2.0", "9.9", "", "0", "1.0.0")), 1),
    "large number": lambda rng, text: text.replace("= 50\n", f"= {'9' * 100_000}\n"),
    "deep text": lambda rng, text: nested(rng.choice((500, 3000, 20_000)), 'def Xform "a" {\n', "}\n"),
    "brackets": lambda rng, text: nested(5000, "{dictionary a = ", "}", "(customLayerData = ", "{})\n"),
    **{name: lambda rng, text: text for name in ODD_NAMES},
}
WHOLE = ("folder", "missing", "loop", "crate as text", "usdz broken", "usdz", "usdz nested")


def nested(depth: int, begin: str, end: str, before: str = "", after: str = "") -> str:
    return f"#usda 1.0\n{before}{begin * depth}{after[:-2]}{end * depth}{after[-2:]}"


def make_file(rng: random.Random, folder: Path) -> tuple[Path, list[str]]:
    what, own = rng.choice((*CONTENTS, *WHOLE)), rng.choice(list(OWN))
    text = OWN[own].read_text(encoding="utf-8")
    path = folder / f"file{rng.choice(('.usda', '.usdc', '.usd', '.usdz'))}"
    if what == "folder":
        path.mkdir()
    elif what == "loop":
        path.symlink_to(path.name)
    elif what == "crate as text":
        path = path.with_suffix(".usda")
        exported(loaded(OWN[own]), path, "usdc")
    elif what in WHOLE[4:]:
        path = path.with_suffix(".usdz")
        inner = path.with_name("inner.usda")
        of_itself = '#usda 1.0\ndef "a" (references = @file.usdz@</World>) {}\n'
        inner.write_text(of_itself if what == "usdz nested" else text, encoding="utf-8")
        with (Sdf if hasattr(Sdf, "ZipFileWriter") else Usd).ZipFileWriter.CreateNew(str(path)) as writer:
            writer.AddFile(str(inner), inner.name)
        inner.unlink()
        if what == "usdz broken":
            mutate_bytes(rng, path)
    elif what != "missing":
        path = folder / rng.choice(ODD_NAMES[what]) if what in ODD_NAMES else path
        path = path.with_suffix(".usdc") if what == "text as crate" else path
        content = CONTENTS[what](rng, text)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path, [what, own]


# --------------------------------------------------------------------------- layers

#: Methods of `Mutator`, and how often each is chosen.
WEIGHTS = {
    "wrong_type": 5, "attribute_for_relationship": 1, "odd_numbers": 5, "odd_physics_number": 3, "odd_token": 2,
    "odd_schemas": 3, "everything_at_once": 1, "odd_type": 3, "composition": 3, "odd_targets": 3, "odd_transform": 3,
    "flat_scale": 2, "odd_mesh": 5, "odd_primvar": 1, "large_mesh": 0.7, "deep": 0.7, "many": 0.4, "odd_metadata": 2,
    "odd_name": 2, "time_samples": 2, "block": 2, "prim_fields": 2, "connection": 1, "nested_bodies": 1, "moved": 1,
}  # fmt: skip
REFUSED = (Tf.ErrorException, RuntimeError, LookupError, MemoryError, TypeError, ValueError, OverflowError)


class Mutator:
    """Changes the opinions in a layer."""

    def __init__(self, rng: random.Random, layer: Sdf.Layer) -> None:
        self.rng, self.layer, self.choice = rng, layer, rng.choice

    def mutate(self) -> list[str]:
        """One to six mutations; what USD itself refuses is passed over."""
        names, notes = self.rng.choices(list(WEIGHTS), WEIGHTS.values(), k=self.choice((1, 1, 2, 3, 6))), []
        for name in names:
            try:
                getattr(self, name)()
                notes.append(name)
            except REFUSED:
                notes.append(f"({name})")
        return notes

    def prims(self) -> list[Sdf.PrimSpec]:
        """All prims, with those in variants."""
        paths: list[Sdf.Path] = []
        self.layer.Traverse(Sdf.Path.absoluteRootPath, lambda path: paths.append(path) if path.IsPrimPath() else None)
        return [spec for path in sorted(paths, key=str) if (spec := self.layer.GetPrimAtPath(path))]

    def prim(self, *types: str) -> Sdf.PrimSpec:
        known = self.prims()
        fitting = [spec for spec in known if spec.typeName in types] if types else known
        return self.choice(fitting or known or [Sdf.CreatePrimInLayer(self.layer, "/World")])

    def attributes(self, pattern: str = "") -> list[Sdf.AttributeSpec]:
        return [one for spec in self.prims() for one in spec.attributes if re.search(pattern, one.name)]

    def attribute(self, pattern: str = "") -> Sdf.AttributeSpec:
        if found := self.attributes(pattern) or self.attributes():
            return self.choice(found)
        return Sdf.AttributeSpec(self.prim(), "physics:mass", Sdf.ValueTypeNames.Float)

    def relationships(self) -> list[Sdf.RelationshipSpec]:
        return [one for spec in self.prims() for one in spec.relationships]

    def path(self) -> str:
        path = str(self.prim().path)
        odd = (
            "/",
            "/Nowhere",
            "/Nowhere.size",
            f"{path}.physics:mass",
            f"{path}.nothing",
            f"{path}/Nothing",
            "..",
            ".",
        )
        return self.choice((path, path, self.choice(odd)))

    def number(self) -> float:
        return float(self.choice(NUMBERS))

    def value(self, type_name: str) -> Any:
        """A value of a type, of odd parts."""
        kind = Sdf.ValueTypeNames.Find(type_name)
        if type_name.endswith("[]"):
            size = self.choice((0, 1, 3, 4, 1000))
            return kind.type.pythonClass([self.value(type_name[:-2])] * size)
        simple: dict[str, Callable[[], Any]] = {
            "bool": lambda: self.rng.random() < 0.5,
            **dict.fromkeys(("int", "int64"), lambda: self.choice(INDICES)),
            **dict.fromkeys(("uint", "uchar", "uint64"), lambda: self.choice((0, 1, 255))),
            **dict.fromkeys(("half", "float", "double"), self.number),
            "timecode": lambda: Sdf.TimeCode(self.number()),
            **dict.fromkeys(("string", "token"), lambda: self.choice((*TEXTS, "X", "none", "nonsense"))),
            "asset": lambda: Sdf.AssetPath(self.choice(("missing.png", "", "./a", "/nowhere/x.usd", "a<UDIM>.png"))),
            "pathExpression": lambda: Sdf.PathExpression(
                self.choice(("//", "/World//", "%/World:colliders", "/a - /b"))),
        }  # fmt: skip
        if type_name in simple:
            return simple[type_name]()
        default = kind.defaultValue
        if isinstance(default, Gf.Quatf | Gf.Quatd | Gf.Quath):
            return type(default)(*(self.number() for _ in range(4)))
        if isinstance(default, Gf.Matrix3d | Gf.Matrix4d):
            return self.choice((type(default)(0), type(default)(self.number()), type(default)(1)))
        if hasattr(default, "__len__") and not isinstance(default, str):
            parts = [self.choice(INDICES) if "int" in type_name else self.number() for _ in range(len(default))]
            return type(default)(*parts)
        return default

    def put(self, spec: Sdf.PrimSpec, name: str, type_name: str, value: Any = ...) -> Sdf.AttributeSpec:
        """Author an attribute anew, whatever was there; without a value, with an odd one."""
        value = self.value(type_name) if value is ... else value
        if (old := spec.properties.get(name)) is not None:
            spec.RemoveProperty(old)
        made = Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.Find(type_name))
        made.default = value
        return made

    @staticmethod
    def apply(spec: Sdf.PrimSpec, *names: str, explicit: bool = False) -> None:
        listed = Sdf.TokenListOp()
        setattr(listed, "explicitItems" if explicit else "prependedItems", list(dict.fromkeys(names)))
        spec.SetInfo("apiSchemas", listed)

    def wrong_type(self) -> None:
        attribute = self.attribute("physics:|limit:|drive:" if self.rng.random() < 0.7 else "")
        spec, name = attribute.owner, attribute.name
        if self.rng.random() < 0.1:
            spec.RemoveProperty(attribute)
            Sdf.RelationshipSpec(spec, name).targetPathList.explicitItems = [spec.path]
        else:
            self.put(spec, name, self.choice(VALUE_TYPES))

    def attribute_for_relationship(self) -> None:
        relationship = self.choice(self.relationships())
        self.put(relationship.owner, relationship.name, self.choice(VALUE_TYPES))

    def renew(self, attribute: Sdf.AttributeSpec) -> None:
        attribute.default = self.value(str(attribute.typeName))

    def odd_numbers(self) -> None:
        for _ in range(self.choice((1, 3, 10))):
            self.renew(self.attribute())

    def odd_physics_number(self) -> None:
        self.renew(self.attribute("physics:|radius|height|size|width|length"))

    def odd_token(self) -> None:
        self.renew(
            self.choice([one for one in self.attributes() if str(one.typeName) in ("token", "string", "token[]")])
        )

    def odd_schemas(self) -> None:
        self.apply(self.prim(), *self.rng.choices(SCHEMAS, k=self.choice((1, 3, 8))), explicit=self.rng.random() < 0.5)

    def everything_at_once(self) -> None:
        spec = self.prim()
        self.apply(spec, *SCHEMAS[1:])
        spec.typeName = self.choice(TYPES)

    def odd_type(self) -> None:
        self.prim().typeName = self.choice(TYPES)

    def composition(self) -> None:
        """Cycles and dead ends of references, payloads, inherits, specializes and sublayers."""
        spec, other, file = self.prim(), self.prim(), self.layer.customLayerData.get("file", "")
        target = Sdf.Path(self.choice((
            str(spec.path), str(spec.path.GetParentPath()), f"{spec.path}/Below", self.path(), "", "/Nowhere",
        )))  # fmt: skip
        arc = self.choice(
            ("reference", "reference", "payload", "inherit", "specialize", "sublayer", "variant", "mutual")
        )
        asset = self.choice(("", "", f"./{file}", "./missing.usda", "@", "http://localhost:1/a.usda"))
        if arc == "reference":
            offset = Sdf.LayerOffset(0, self.choice((1, 0, -1, math.nan)))
            spec.referenceList.Prepend(Sdf.Reference(asset, target, offset))
        elif arc == "payload":
            spec.payloadList.Prepend(Sdf.Payload(asset, target))
        elif arc == "inherit":
            spec.inheritPathList.Prepend(target)
        elif arc == "specialize":
            spec.specializesList.Prepend(target)
        elif arc == "sublayer":
            self.layer.subLayerPaths.append(self.choice((f"./{file}", "./missing.usda", ".", "")))
        elif arc == "variant":
            variant = Sdf.VariantSpec(Sdf.VariantSetSpec(spec, "kind"), "one")
            variant.primSpec.referenceList.Prepend(Sdf.Reference("", spec.path))
            spec.variantSetNameList.Prepend("kind")
            spec.variantSelections["kind"] = self.choice(("one", "two", ""))
        else:
            spec.referenceList.Prepend(Sdf.Reference("", other.path))
            other.referenceList.Prepend(Sdf.Reference("", spec.path))

    def odd_targets(self) -> None:
        found = self.relationships()
        if found and self.rng.random() < 0.7:
            relationship = self.choice(found)
        else:
            names = ("physics:body0", "physics:body1", "physics:filteredPairs", "physics:simulationOwner", "proxyPrim",
                     "collection:colliders:includes", "physics:filteredGroups", "material:binding:physics",
                     "material:binding", "skel:skeleton", "prototypes", "skel:animationSource")  # fmt: skip
            spec, name = self.prim(), self.choice(names)
            relationship = spec.relationships.get(name) or Sdf.RelationshipSpec(spec, name)
        relationship.targetPathList.ClearEditsAndMakeExplicit()
        listed = [Sdf.Path(self.path()) for _ in range(self.choice((0, 1, 2, 5)))]
        if self.rng.random() < 0.3:
            listed.append(self.choice((relationship.owner.path, relationship.path)))
        relationship.targetPathList.explicitItems = list(dict.fromkeys(path.MakeAbsolutePath("/") for path in listed))

    def odd_transform(self) -> None:
        spec, order = self.prim(), []
        for op in self.rng.sample(list(XFORM_OPS), self.choice((1, 2, 4))):
            type_name = XFORM_OPS[op] if self.rng.random() < 0.8 else self.choice(VALUE_TYPES)
            if self.rng.random() < 0.8:
                self.put(spec, f"xformOp:{op}", type_name)
            order.append(f"{self.choice(('', '', '!invert!'))}xformOp:{op}")
        if self.rng.random() < 0.3:
            order = [*order, *order, "!resetXformStack!", "xformOp:missing", ""]
        self.put(spec, "xformOpOrder", "token[]", Vt.TokenArray(order))

    def flat_scale(self) -> None:
        spec = self.prim()
        scale = Gf.Vec3f(*self.rng.choices((0.0, 0.0, 1.0, -1.0, 1e-20, 1e20), k=3))
        self.put(spec, "xformOp:scale", "float3", scale)
        self.put(spec, "xformOpOrder", "token[]", Vt.TokenArray(["xformOp:scale"]))

    def odd_mesh(self) -> None:
        """Arrays of meshes, curves, points, instancers and skeletons that do not fit together."""
        kinds = ("Mesh", "BasisCurves", "NurbsCurves", "Points", "PointInstancer", "Skeleton", "SkelAnimation",
                 "BlendShape", "GeomSubset")  # fmt: skip
        spec = self.prim(*(kinds if self.rng.random() < 0.7 else ("Mesh",)))
        found = [one for one in spec.attributes if one.typeName.isArray]
        for _ in range(self.choice((1, 1, 3))):
            attribute = self.choice(found)
            values = list(attribute.default or ())
            what = self.choice(("index", "index", "shorter", "longer", "empty", "none", "odd"))
            if what == "none":
                spec.RemoveProperty(attribute)
                found.remove(attribute)
                continue
            if what == "index" and values and isinstance(values[0], int):
                values[self.rng.randrange(len(values))] = self.choice(INDICES)
            elif what == "shorter":
                values = values[: self.rng.randrange(len(values) + 1)]
            elif what == "longer" and values:
                values = values * self.choice((2, 100))
            elif what == "empty":
                values = []
            else:
                self.renew(attribute)
                continue
            attribute.default = attribute.typeName.type.pythonClass(values)

    def odd_primvar(self) -> None:
        spec = self.prim("Mesh", "BasisCurves", "Points", "Cube")
        arrays = [name for name in VALUE_TYPES if name.endswith("[]")]
        name = self.choice(("st", "displayColor", "displayOpacity", "own", "skel:jointIndices", "normals", "", "a:b"))
        made = self.put(spec, f"primvars:{name}", self.choice([*arrays, "float", "color3f[]", "texCoord2f[]"]))
        made.SetInfo("interpolation", self.choice(("vertex", "faceVarying", "uniform", "constant", "varying", "wrong")))
        if self.rng.random() < 0.5:
            indices = [self.choice(INDICES) for _ in range(self.choice((1, 8, 24)))]
            self.put(spec, f"primvars:{name}:indices", "int[]", Vt.IntArray(indices))

    def large_mesh(self) -> None:
        spec, size = self.prim("Mesh"), self.choice((10_000, 300_000))
        spec.typeName = "Mesh"
        self.apply(spec, "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
        self.put(spec, "points", "point3f[]", Vt.Vec3fArray(size, [Gf.Vec3f(1, 2, 3), Gf.Vec3f(4, 5, 6)]))
        counts = Vt.IntArray(size // 3, [3]) if self.rng.random() < 0.5 else Vt.IntArray([size])
        self.put(spec, "faceVertexCounts", "int[]", counts)
        self.put(spec, "faceVertexIndices", "int[]", Vt.IntArray(range(sum(counts))))

    def below(self, path: Sdf.Path, name: str, type_name: str) -> Sdf.PrimSpec:
        spec = Sdf.CreatePrimInLayer(self.layer, path.AppendChild(name))
        spec.specifier, spec.typeName = Sdf.SpecifierDef, type_name
        return spec

    def deep(self) -> None:
        path, with_physics = self.prim().path, self.rng.random() < 0.5
        names = self.choice((("Xform",), ("",), ("Xform", "", "Scope"), ("Cube",), ("Mesh",), ("Material",)))
        for level in range(self.choice((100, 300, 1000, 3000))):
            spec = self.below(path, "n", names[level % len(names)])
            path = spec.path
            if with_physics and level % 10 == 0:
                self.apply(spec, "PhysicsRigidBodyAPI", "PhysicsCollisionAPI")

    def many(self) -> None:
        above, type_name = self.prim().path, self.choice(TYPES)
        for number in range(self.choice((100, 500))):
            self.below(above, f"many_{number}", type_name)

    def odd_metadata(self) -> None:
        name = self.choice(("metersPerUnit", "metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond",
                            "startTimeCode", "endTimeCode", "framesPerSecond", "defaultPrim", "comment"))  # fmt: skip
        words = {"upAxis": ("X", "", "y", "nonsense", "Y", "Z")} | dict.fromkeys(
            ("defaultPrim", "comment"), (*TEXTS, "Nowhere", "World/Crate", "/World")
        )
        self.layer.pseudoRoot.SetInfo(name, self.choice(words[name]) if name in words else self.number())

    def odd_name(self) -> None:
        spec = self.prim()
        old, spec.name = spec.path, self.choice(NAMES)
        if self.rng.random() < 0.7:
            for relationship in self.relationships():
                relationship.ReplaceTargetPath(old, spec.path)

    def time_samples(self) -> None:
        attribute = self.attribute(self.choice(("physics:", "xformOp", "points|visibility|widths", "")))
        if self.rng.random() < 0.5:
            attribute.ClearDefaultValue()
        for _ in range(self.choice((1, 3, 200))):
            time = self.choice((math.nan, math.inf, 1e300, 0.0, float(self.rng.randrange(100))))
            value = Sdf.ValueBlock() if self.rng.random() < 0.2 else self.value(str(attribute.typeName))
            self.layer.SetTimeSample(attribute.path, time, value)

    def block(self) -> None:
        for _ in range(self.choice((1, 5))):
            self.attribute(self.choice(("physics:", ""))).default = Sdf.ValueBlock()

    def prim_fields(self) -> None:
        spec = self.prim()
        what = self.choice(("specifier", "active", "instanceable", "kind", "hidden", "documentation", "customData",
                            "visibility", "purpose", "clips", "variant", "assetInfo", "orderings"))  # fmt: skip
        if what == "specifier":
            spec.specifier = self.choice((Sdf.SpecifierOver, Sdf.SpecifierClass, Sdf.SpecifierDef))
        elif what in ("active", "instanceable", "hidden"):
            spec.SetInfo(what, what != "active" or self.rng.random() < 0.2)
        elif what in ("kind", "documentation"):
            spec.SetInfo(what, self.choice((*TEXTS, "component", "group", "nonsense")))
        elif what in ("customData", "assetInfo"):
            data: dict[str, Any] = {"value": self.number(), "text": self.choice(TEXTS), "blender": {"x": True}}
            for _ in range(self.choice((1, 30))):
                data = {"deeper": data}
            spec.SetInfo(what, data)
        elif what in ("visibility", "purpose"):
            tokens = ("invisible", "inherited", "nonsense", "guide", "proxy", "render", "")
            self.put(spec, what, "token", self.choice(tokens))
        elif what == "clips":
            nowhere = {"assetPaths": [Sdf.AssetPath("missing.usda")], "primPath": "/Nowhere"}
            times = dict.fromkeys(("active", "times"), Vt.Vec2dArray([(0, 0)]))
            spec.SetInfo("clips", {"default": {**nowhere, **times}})
        elif what == "variant":
            spec.variantSelections["look"] = "nowhere"
        else:
            spec.SetInfo("primOrder", ["nowhere", "Crate"])

    def connection(self) -> None:
        attribute, other = self.attribute(self.choice(("physics:", "inputs:|outputs:", ""))), self.attribute()
        places = (attribute.path, other.path, Sdf.Path("/Nowhere.size"), attribute.owner.path)
        attribute.connectionPathList.Prepend(self.choice(places))

    def nested_bodies(self) -> None:
        for spec in self.prims():
            if self.rng.random() < 0.5:
                self.apply(spec, "PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsArticulationRootAPI")

    def moved(self) -> None:
        """A prim below another one, or gone."""
        spec, other = self.prim(), self.prim()
        if self.rng.random() < 0.5:
            del (spec.nameParent or self.layer.pseudoRoot).nameChildren[spec.name]
        else:
            Sdf.CopySpec(self.layer, spec.path, self.layer, other.path.AppendChild(spec.name))
