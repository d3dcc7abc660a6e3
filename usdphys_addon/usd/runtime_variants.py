# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides a file into a neutral base and one file for each simulator, which a variant set brings in.

As SimReady 2026.8 wants it (RV.001 to RV.011): the default prim has the variant sets PhysX, Newton and MuJoCo with the
variants Disabled, which is chosen, and Enabled, a payload in `runnables/physics`. With one of them the file holds the
schemas of that simulator only.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pxr import Sdf, Tf, Usd

from ..core import paths, runtimes, schema, vendor_schemas
from ..core.errors import InputError, OutputError
from ..core.model import PhysicsModel, Prim
from ..core.runtimes import FILES
from ..core.schemas.usd_physics import MassAPI
from . import read as usd_read
from . import write as usd_write
from .opinions import applied_schemas

FOLDER = "runnables/physics"
_APPROXIMATION = "physics:approximation"
_UNITS = ("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond")


def payload_of(runtime: str) -> str:
    """Path of the file of a simulator, relative to the base."""
    return f"./{FOLDER}/{FILES[runtime]}.usda"


def replaceable(target: Path) -> list[Path]:
    """The files of simulators that belong to an old file. Raises OutputError where they are those of another one."""
    files = [path for runtime in FILES if (path := (target.parent / payload_of(runtime)).absolute()).exists()]
    if files and not _is_divided(target):
        raise OutputError(
            f"'{files[0]}' belongs to another file: runtime variants need a folder for each asset; choose another one."
        )
    return files


def _is_divided(target: Path) -> bool:
    layer = Sdf.Layer.OpenAsAnonymous(str(target)) if target.is_file() else None
    spec = layer.GetPrimAtPath(layer.defaultPrim) if layer is not None and layer.defaultPrim else None
    return spec is not None and not FILES.keys().isdisjoint(spec.variantSets.keys())


class Divided(NamedTuple):
    """left: paths of prims whose settings stay in the base. weighed: of bodies that got the mass that they have."""

    left: list[str]
    weighed: list[str]


def divide(file: Path, target: Path) -> Divided:
    """Write a file as a neutral base with the files of the simulators beside it, in a folder that is empty.

    A file that is divided already keeps what its simulators' files say, with what the file itself says in place of it.
    Raises InputError where there is no default prim.
    """
    stage = usd_read.open_stage(file)
    default = usd_read.default_prim_name(stage)
    if not default:
        raise InputError(f"'{target.name}' has no default prim, which would hold the runtime variants; give it one.")
    model = usd_read.read_stage(stage)
    base = Sdf.Layer.CreateAnonymous(target.suffix)
    base.TransferContent(stage.GetRootLayer())
    layers = {runtime: _new_layer(base, default) for runtime in FILES}
    known = {runtime: old for runtime in FILES if (old := _file_of(stage.GetRootLayer(), f"/{default}", runtime))}
    for runtime, old in known.items():
        layers[runtime].TransferContent(old)
    divider = _Divider(base, layers, model, f"/{default}", known)
    with Sdf.ChangeBlock():
        for path in _paths(base):
            divider.prim(path)
    left, weighed = divider.foreign(stage), _weigh(base, model, default)
    _author_variants(base, f"/{default}")
    (target.parent / FOLDER).mkdir(parents=True)
    for runtime, layer in layers.items():
        layer.Export(str(target.parent / payload_of(runtime)))
    base.Export(str(target))
    return Divided(left, weighed)


def _weigh(base: Sdf.Layer, model: PhysicsModel, default: str) -> list[str]:
    """Author the masses that SimReady misses, at bodies below the default prim. Returns their paths."""
    writer = usd_write.SpecWriter(base, model.units)
    weighed = []
    for path, mass in runtimes.unweighed(model).items():
        spec = base.GetPrimAtPath(path) if paths.is_at_or_below(path, f"/{default}") else None
        if spec is not None:
            writer.write(Prim(path, str(spec.typeName), schemas={MassAPI.usd_name: MassAPI(mass=mass)}), spec)
            weighed.append(path)
    return weighed


def _new_layer(base: Sdf.Layer, default: str) -> Sdf.Layer:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    for name in _UNITS:
        if base.pseudoRoot.HasInfo(name):
            layer.pseudoRoot.SetInfo(name, base.pseudoRoot.GetInfo(name))
    layer.defaultPrim = default
    Sdf.CreatePrimInLayer(layer, f"/{default}")
    return layer


def _file_of(divided: Sdf.Layer, path: str, runtime: str) -> Sdf.Layer | None:
    """The file of a simulator that a divided one has; None if there is none.

    Raises InputError for what would be lost: several files, one that cannot be read, and one for another prim.
    """
    enabled = divided.GetPrimAtPath(f"{path}{{{runtime}=Enabled}}")
    payloads = enabled.payloadList.GetAddedOrExplicitItems() if enabled is not None else ()
    if not payloads:
        return None
    mend = "repair it, or export flattened."
    if len(payloads) > 1 or not payloads[0].assetPath:
        raise InputError(f"The variant {runtime}=Enabled of '{path}' must have exactly one payload, a file; {mend}")
    file = divided.ComputeAbsolutePath(payloads[0].assetPath)
    try:
        old = Sdf.Layer.FindOrOpen(file)
    except Tf.ErrorException as error:
        raise InputError(f"'{file}', the payload of {runtime}=Enabled, cannot be read; {mend}") from error
    if old is None:
        raise InputError(f"'{file}', the payload of {runtime}=Enabled, is missing; {mend}")
    if str(payloads[0].primPath or f"/{old.defaultPrim}") != path:
        name = path[1:]
        raise InputError(f"'{file}', the payload of {runtime}=Enabled, has no default prim '{name}'; {mend}")
    return old


def _paths(layer: Sdf.Layer) -> list[Sdf.Path]:
    """Paths of all prims of a layer, parents first."""
    paths: list[Sdf.Path] = []

    def note(path: Sdf.Path) -> None:
        if path.IsPrimPath():
            paths.append(path)

    layer.Traverse(Sdf.Path.absoluteRootPath, note)
    return sorted(paths)


def _author_variants(base: Sdf.Layer, path: str) -> None:
    spec = base.GetPrimAtPath(path)
    physics = {}
    for runtime in FILES:
        is_known = runtime in spec.variantSets
        variants = spec.variantSets[runtime] if is_known else Sdf.VariantSetSpec(spec, runtime)
        for option in ("Disabled", "Enabled"):
            if option not in variants.variants:
                Sdf.VariantSpec(variants, option)
        payloads = variants.variants["Enabled"].primSpec.payloadList
        payloads.ClearEdits()
        payloads.prependedItems = [Sdf.Payload(payload_of(runtime))]
        if not is_known:
            spec.variantSetNameList.prependedItems = [*spec.variantSetNameList.prependedItems, runtime]
        spec.variantSelections[runtime] = "Disabled"
        physics[runtime] = {"prim": path, "variantSetName": runtime, "activateOption": "Enabled"}
    data = dict(base.customLayerData)
    ready = dict(data.get("SimReady_Metadata", {}))
    ready["Variants"] = {**dict(ready.get("Variants", {})), "Physics": physics}
    base.customLayerData = {**data, "SimReady_Metadata": ready}


class _Divider:
    """Moves the opinions about simulators from a layer to those of each."""

    def __init__(
        self, base: Sdf.Layer, layers: dict[str, Sdf.Layer], model: PhysicsModel, root: str,
        known: dict[str, Sdf.Layer],
    ) -> None:  # fmt: skip
        """known: earlier files of simulators, whose contents are in their layers."""
        self.base, self.layers, self.model, self.root, self.known = base, layers, model, root, known
        self.writers = {runtime: usd_write.SpecWriter(layer, model.units) for runtime, layer in layers.items()}

    def prim(self, path: Sdf.Path) -> None:
        """Divide one prim; those that are not below the default prim stay as they are."""
        spec = self.base.GetPrimAtPath(path)
        if spec is None or not paths.is_at_or_below(str(path), self.root):
            return
        runtime = runtimes.runtime_of(spec.typeName) if spec.typeName else ""
        if runtime:
            self.move_whole(spec, runtime)
            return
        runtime = self.typed_in(path)
        if runtime:
            for name in list(spec.properties.keys()):
                self.move(spec, name, runtime)
            if not spec.nameChildren:
                del spec.nameParent.nameChildren[spec.name]
            return
        prim = self.model.prims.get(str(path), Prim(str(path), str(spec.typeName)))
        owners = _owners(spec)
        for name in list(spec.properties.keys()):
            owner = owners.get(name) or runtimes.runtime_of_property(name)
            if owner:
                self.move(spec, name, owner)
        for name in _deleted(spec):
            owner = runtimes.runtime_of(name)
            if owner in self.known:
                usd_write.remove_schema(self.over(owner, path), name)
                usd_write.forget_deleted(spec, name)
        for name in _applied(spec):
            owner = runtimes.runtime_of(name)
            if owner:
                usd_write.apply_schemas(self.over(owner, path), [name])
                usd_write.remove_schema(spec, name)
        for runtime in FILES:
            if runtime not in self.known:
                self.translate(prim, runtime)
        self.approximation(spec)

    def typed_in(self, path: Sdf.Path) -> str:
        """The simulator whose earlier file defines a prim of its own type; empty for others."""
        for runtime in self.known:
            spec = self.layers[runtime].GetPrimAtPath(path)
            if spec is not None and spec.typeName and runtimes.runtime_of(spec.typeName) == runtime:
                return runtime
        return ""

    def move(self, spec: Sdf.PrimSpec, name: str, runtime: str) -> None:
        """Move a property to the layer of a simulator."""
        over = self.over(runtime, spec.path)
        Sdf.CopySpec(self.base, spec.properties[name].path, over.layer, over.path.AppendProperty(name))
        spec.RemoveProperty(spec.properties[name])

    def move_whole(self, spec: Sdf.PrimSpec, runtime: str) -> None:
        """Move a prim of a simulator's own type."""
        path, layer = spec.path, self.layers[runtime]
        self.over(runtime, path.GetParentPath())
        Sdf.CreatePrimInLayer(layer, path)
        Sdf.CopySpec(self.base, path, layer, path)
        siblings = spec.nameParent.nameChildren
        del siblings[spec.name]

    def over(self, runtime: str, path: Sdf.Path) -> Sdf.PrimSpec:
        layer = self.layers[runtime]
        return layer.GetPrimAtPath(path) or Sdf.CreatePrimInLayer(layer, path)

    def translate(self, prim: Prim, runtime: str) -> None:
        """Add what a prim says for other simulators only."""
        writer = self.writers[runtime]
        for name, value in runtimes.translated(self.model, prim, runtime).items():
            over = self.over(runtime, Sdf.Path(prim.path))
            usd_write.apply_schemas(over, [name])
            for item in writer.translator.values(value, usd_write.instance_of(value, name, prim.type_name)):
                writer.put(over, item)

    def approximation(self, spec: Sdf.PrimSpec) -> None:
        """Give each simulator the approximation that it knows, where they differ: the base is stronger than all."""
        item = spec.attributes.get(_APPROXIMATION)
        if item is None:
            return
        mujoco = self.layers["MuJoCo"].GetPrimAtPath(spec.path)
        wants_hull = mujoco is not None and "MjcCollisionAPI" in _applied(mujoco) and item.default != "convexHull"
        if item.default not in runtimes.OF_PHYSX and not wants_hull:
            return
        kept = {"PhysX": item.default, "MuJoCo": "convexHull"}
        if item.default not in runtimes.OF_PHYSX:
            kept["Newton"] = item.default
        for runtime, token in kept.items():
            over = self.over(runtime, spec.path)
            self.writers[runtime].set(over, _APPROXIMATION, "token", token, uniform=True)
        spec.RemoveProperty(item)

    def foreign(self, stage: Usd.Stage) -> list[str]:
        """Paths of prims with opinions about simulators outside of the default prim, or in another layer."""
        left = []
        divided = (stage.GetRootLayer(), *self.known.values())
        for usd_prim in stage.Traverse():
            path = str(usd_prim.GetPath())
            has_any = any(map(runtimes.runtime_of, (str(usd_prim.GetTypeName()), *applied_schemas(usd_prim))))
            is_here = paths.is_at_or_below(path, self.root)
            own = [spec for spec in usd_prim.GetPrimStack() if spec.layer not in divided]
            if has_any and (not is_here or any(map(_has_vendors, own))):
                left.append(path)
        return left


def _owners(spec: Sdf.PrimSpec) -> dict[str, str]:
    """The simulator by name of the properties that schemas applied to a prim declare."""
    owners = {}
    for name in _applied(spec):
        runtime, (base, instance) = runtimes.runtime_of(name), schema.split_applied(name)
        cls = vendor_schemas.find(base) if runtime else None
        for attribute in cls.attributes if cls is not None else ():
            owners[attribute.usd_name(instance)] = runtime
    return owners


def _applied(spec: Sdf.PrimSpec) -> list[str]:
    if not spec.HasInfo("apiSchemas"):
        return []
    return [str(name) for name in spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()]


def _deleted(spec: Sdf.PrimSpec) -> list[str]:
    return [str(name) for name in spec.GetInfo("apiSchemas").deletedItems] if spec.HasInfo("apiSchemas") else []


def _has_vendors(spec: Sdf.PrimSpec) -> bool:
    return any(map(runtimes.runtime_of, (str(spec.typeName), *_applied(spec))))
