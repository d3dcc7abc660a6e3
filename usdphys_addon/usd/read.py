# SPDX-License-Identifier: GPL-3.0-or-later
"""USD stage -> PhysicsModel."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdUtils, Vt

from ..core import deformables, frames, paths, pointers, schema, units, vendor_schemas
from ..core.animation import Key, Samples
from ..core.errors import InputError
from ..core.misnamed import Misnamed, Names
from ..core.model import EXTRAS_KEY, GRAVCOMP, Mesh, PhysicsModel, Prim, SpherePoints
from ..core.prototypes import SharedSchemas
from ..core.schema import Attribute, Schema
from ..core.schemas import usd_geom, usd_physics
from ..core.schemas.usd_geom import TAPERED
from ..core.seen import SeenBounds
from ..core.units import StageUnits
from ..core.value_types import with_elements
from ..core.vendors import held_class, is_held, is_vendor
from ..system.console import warn
from . import deformables as soft
from . import opinions as usd_opinions
from . import rest_time
from .files import composed_size, layers, packages
from .instancers import Instancers
from .opinions import PHYSICS_BINDING, Opinions, PrimKind

_Answer = TypeVar("_Answer")
#: Largest depth of prims: USD's own time for a prim grows with its depth.
_MOST_LEVELS = 1000
#: Time codes per second whose ratios are numbers, scaled by offsets of references, too.
_COUNTABLE_RATES = (1e-9, 1e15)
_UNITS = {"metersPerUnit": UsdGeom.GetStageMetersPerUnit, "kilogramsPerUnit": UsdPhysics.GetStageKilogramsPerUnit}
#: Formats of layers that USD can read again; of MaterialX it loses what it had.
_RELOADABLE = ("usd", "usda", "usdc", "usdz")
#: (first bytes of a file, how its name ends).
_MARKS = ((b"#usda", ".usda"), (b"PXR-USDC", ".usdc"), (b"PK\x03\x04", ".usdz"))
#: (pattern in an error message of USD, reason for the user).
_REASONS = (
    ("bad_alloc", "there is too little memory for it"),
    ("is not a valid usda layer", "it does not begin like a USD text file"),
    ("too small|[Cc]orrupt|while reading @|out of range|Failed to read", "it is cut off or damaged"),
    ("[Cc]annot determine file format|Unsupported|not a valid usdc|version", "its format is unknown"),
)


def open_stage(path: str | Path) -> Usd.Stage:
    """Open a file as it is on disk. Raises InputError if it is missing or invalid."""
    if Path(path).is_dir():
        raise InputError(f"'{path}' is a folder; choose a file name.")
    if not Path(path).is_file():
        raise InputError(f"There is no file '{path}'; check the name.")
    pointers.refuse_file(Path(path))
    if Path(path).suffix.lower() == ".usdz":
        packages.check(path)
    # A layer that the garbage collector has freed since is false.
    cached = {layer.identifier for layer in Sdf.Layer.GetLoadedLayers() if layer}
    try:
        opened = layers.open_all(str(path), cached)
        opened += composed_size.check(str(path))
        stage = Usd.Stage.Open(str(path))
    except InputError as error:
        raise type(error)(f"'{path}' cannot be opened: {error}") from error
    except Exception as error:
        reason = _wrong_suffix(Path(path)) or _reason(error)
        raise InputError(f"'{path}' is not a USD file that can be read{reason}.") from error
    del opened
    if stage is None:
        raise InputError(f"'{path}' is not a USD file that can be read.")
    packages.check_used(stage.GetUsedLayers())
    # USD caches layers while anybody holds them. Reload these by force: a plain Reload goes by the time stamp, which is
    # the same if the file changed quickly, or was copied with its time. Layers that were just opened need nothing.
    try:
        _reload(stage, cached)
    except Exception as error:
        raise InputError(f"'{path}' is not a USD file that can be read{_reason(error)}.") from error
    for layer in stage.GetUsedLayers(includeClipLayers=False):
        layers.check_roots(layer, layer.realPath or str(path))
    check_rates(stage)
    say_units_as_doubles(stage)
    return stage


def say_units_as_doubles(stage: Usd.Stage) -> None:
    """Blender 2.8 and 2.9 wrote units into crate files as floats, which USD refuses: the session layer has doubles."""
    for name, ask in _UNITS.items():
        try:
            ask(stage)
        except Tf.ErrorException:
            if isinstance(value := stage.GetRootLayer().pseudoRoot.GetInfo(name), float):
                stage.GetSessionLayer().pseudoRoot.SetInfo(name, value)


def units_as_floats(stage: Usd.Stage) -> list[str]:
    """Names of the units that the file of a stage of `open_stage` has as floats."""
    return [name for name in _UNITS if stage.GetSessionLayer().pseudoRoot.HasInfo(name)]


def check_rates(stage: Usd.Stage) -> None:
    """Raise InputError for an impossible timeCodesPerSecond, and for time samples at times that are no numbers.

    With the first, USD never ends to map the time samples of its layer.
    """
    rates = {layer: layer.timeCodesPerSecond for layer in stage.GetUsedLayers() if not layer.anonymous}
    least, most = _COUNTABLE_RATES
    wrong = next((layer for layer, rate in rates.items() if not least <= abs(rate) <= most), None)
    if wrong and len(set(rates.values())) > 1 and any(layer.ListAllTimeSamples() for layer in rates):
        raise InputError(
            f"'{wrong.GetDisplayName()}' has {rates[wrong]:g} time codes per second, so its animation has no times; "
            "set timeCodesPerSecond in it, for example to 24."
        )
    for layer in rates:
        refuse_odd_times(layer, layer.GetDisplayName())


def refuse_odd_times(layer: Sdf.Layer, name: str) -> None:
    """Raise InputError for a time sample at a time that is no number: USD crashes when it writes that into a crate.

    name: of the file of the layer.
    """
    if not layer.ListAllTimeSamples():
        return  # which takes a twentieth of the time
    found: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, found.append)
    for path in found:
        # All times would be equal to it, so that it is alone.
        if path.IsPropertyPath() and any(map(math.isnan, layer.ListTimeSamplesForPath(path))):
            raise InputError(f"'{name}' has a time sample of {path} at a time that is no number; remove it.")


#: What USD says of the metadata of another program, such as those of Omniverse, when it flattens a stage into a file
#: that an engine reads.
_LEFT_BY_FLATTENING = "Failed copying metadata: Cannot set value for unknown field"


@contextmanager
def damage_refused(path: str | Path) -> Iterator[None]:
    """Raise InputError for an error of USD: values are read when they are asked for, long after the file is opened.

    What USD prints itself, which quotes the bytes of the file, is printed as all else is.
    """
    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    except Tf.ErrorException as error:
        raise InputError(f"'{path}' holds values that USD cannot read{short_reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' holds names that are not UTF-8; it is damaged.") from error
    finally:
        for text in dict.fromkeys(map(_commentary, delegate.TakeUncoalescedDiagnostics())):
            if not text.startswith(_LEFT_BY_FLATTENING):
                warn(f"usd: {text[:500]}")
        del delegate


def _commentary(diagnostic: Any) -> str:
    try:
        return str(diagnostic.commentary)
    except UnicodeDecodeError:
        return "the file holds bytes that are not UTF-8"


def _reload(stage: Usd.Stage, identifiers: set[str]) -> None:
    """Reload those layers of a stage from disk, also those that a reloaded one brings in."""
    remaining = set(identifiers)
    while stale := [layer for layer in stage.GetUsedLayers() if not layer.anonymous and layer.identifier in remaining]:
        remaining.difference_update(layer.identifier for layer in stale)
        for layer in stale:
            if layer.GetFileFormat().formatId in _RELOADABLE:
                layer.Reload(force=True)


def _wrong_suffix(path: Path) -> str:
    """Reason in brackets for a USD file whose name ends like another kind; empty for others."""
    start = b""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(8)
    kind = next((kind for mark, kind in _MARKS if start.startswith(mark)), "")
    if not kind or path.suffix.lower() in (kind, ".usd"):
        return ""
    reason = f"it is a {kind} file; give its name that ending"
    return f" ({reason})"


def _reason(error: Exception) -> str:
    """Short reason in brackets why USD cannot read a file; empty if unknown."""
    text = error_message(error)
    if not text:
        return " (it holds bytes that are not UTF-8)"
    place = re.search(r":(\d+):\d+: | on line (\d+)", text)
    if place is not None:
        return f" (line {place[1] or place[2]} is wrong)"
    for pattern, reason in _REASONS:
        if re.search(pattern, text):
            return f" ({reason})"
    return ""


def error_message(error: object) -> str:
    """The message of a USD error; empty if it contains invalid UTF-8 from the file."""
    try:
        return str(error)
    except UnicodeDecodeError:
        return ""


def short_reason(error: object) -> str:
    """The message of a USD error in brackets, without its C++ source location; empty if unknown."""
    # An apostrophe between letters is none that ends the message.
    quoted = re.search(r"\.(?:cpp|h) : '\s*((?:[^'\n]|(?<=\w)'(?=\w)){1,120})", error_message(error))
    return f" ({quoted[1].strip(' .')})" if quoted else ""


def despite_broken_ops(ask: Callable[[Usd.Prim], _Answer], usd_prim: Usd.Prim) -> _Answer:
    """Call a method of UsdGeom.XformCache. For invalid transform operations it raises once, then ignores them."""
    try:
        return ask(usd_prim)
    except Tf.ErrorException:
        return ask(usd_prim)


def local_transform(cache: UsdGeom.XformCache, usd_prim: Usd.Prim) -> tuple[Gf.Matrix4d, bool]:
    """(matrix, resets the transform stack) of a prim; invalid operations are skipped."""
    try:
        matrix, resets = cache.GetLocalTransformation(usd_prim)
        return matrix, bool(resets)
    except Tf.ErrorException:
        pass
    matrix, resets = Gf.Matrix4d(1.0), False
    order = usd_prim.GetAttribute("xformOpOrder").Get()
    for name in order if isinstance(order, Vt.TokenArray) else ():
        if name == UsdGeom.XformOpTypes.resetXformStack:
            matrix, resets = Gf.Matrix4d(1.0), True
            continue
        bare = name.removeprefix("!invert!")
        attribute = usd_prim.GetAttribute(bare) if bare else None
        if not attribute:
            continue
        try:
            operation = UsdGeom.XformOp(attribute, isInverseOp=name.startswith("!invert!"))
            matrix = operation.GetOpTransform(cache.GetTime()) * matrix
        except Tf.ErrorException:
            continue
    return matrix, resets


def stage_units(stage: Usd.Stage) -> StageUnits:
    """Units metadata of a stage, with USD's fallbacks."""
    return StageUnits(
        UsdGeom.GetStageMetersPerUnit(stage),
        UsdPhysics.GetStageKilogramsPerUnit(stage),
        "Y" if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y else "Z",
    )


def default_prim_name(stage: Usd.Stage) -> str:
    """Name of the default prim; empty if there is none or the metadata is invalid."""
    try:
        prim = stage.GetDefaultPrim()
    except Tf.ErrorException:
        return ""
    return str(prim.GetName()) if prim else ""


def read_stage(
    stage: Usd.Stage, opinions: Iterable[Opinions] | None = None, local_meters: float | None = None
) -> PhysicsModel:
    """All the physics of a stage, in SI. Prims without physics are only listed in `other_paths`.

    opinions: of all its prims, if already collected. local_meters: length of a unit in the space of a prim; by default
    of the stage.
    """
    reader = _Reader(stage, local_meters)
    shared = SharedSchemas()
    others = {}
    for one in usd_opinions.of_stage(stage) if opinions is None else opinions:
        path = one.path
        if path.count("/") > _MOST_LEVELS:
            name = stage.GetRootLayer().GetDisplayName()
            raise InputError(f"'{name}' has prims nested more than {_MOST_LEVELS} levels deep below '{path[:60]}'.")
        reader.model.order[path] = len(reader.model.order)
        reader.has_purposes = reader.has_purposes or "purpose" in one.names
        still = len(reader.model.animated)
        prim = reader.read(one)
        reader.note_subset(one)
        reader.note_misnamed(one)
        if prim is None:
            others[path] = one.type_name
            continue
        reader.model.add(prim)
        if len(reader.model.animated) == still:
            shared.share(prim)
    reader.bind_materials()
    reader.add_joint_targets(stage)
    reader.model.other_paths = frozenset(others) - reader.model.prims.keys()
    reader.model.other_types = others
    reader.model.locate = reader.places.locate
    reader.model.seen = partial(_seen, stage, reader.units, reader.model.bodies)
    if any(map(deformables.kind_of, reader.model.prims.values())):
        model = reader.model
        model.deformables = lambda: (soft.of_stage(stage, model), soft.pins(stage))
    return reader.model


def _seen(stage: Usd.Stage, stage_units: StageUnits, bodies: Collection[str]) -> dict[str, frames.Matrix]:
    """`SeenBounds.found` of the shapes that are neither invisible nor guides."""
    purposes = [UsdGeom.Tokens.default_, UsdGeom.Tokens.render, UsdGeom.Tokens.proxy]
    caches = rest_time.RestCaches(stage, lambda time: UsdGeom.BBoxCache(time, purposes))
    turn = np.asarray(stage_units.to_z_up, float).T * stage_units.meters_per_unit
    bounds = SeenBounds(bodies)
    traversed = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    shapes = {str(prim.GetPath()): prim for prim in traversed if prim.IsA(UsdGeom.Boundable)}
    endless = Instancers({path: prim for path, prim in shapes.items() if prim.IsA(UsdGeom.PointInstancer)}).endless()
    # The bounds of a prim are those of all below it, too.
    untold = {above for path in endless for above in (path, *paths.ancestors_of(path))}
    for path, prim in shapes.items():
        if path in untold:
            continue
        box = despite_broken_ops(caches.of(prim).ComputeWorldBound, prim).ComputeAlignedRange()
        if not box.IsEmpty():
            bounds.add(path, np.array([box.GetMin(), box.GetMax()]) @ turn)
    return bounds.found


def count_vendor_prims(stage: Usd.Stage) -> int:
    """Number of prims with an API schema that is neither registered in USD nor one of the add-on's own schemas."""
    registry = Usd.SchemaRegistry()
    known: dict[str, bool] = {}
    count = 0
    for usd_prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
        names = {schema.split_applied(name)[0] for name in usd_opinions.applied_schemas(usd_prim)}
        for name in names - known.keys():
            declared = vendor_schemas.find(name)
            is_own = declared is not None and not is_vendor(declared)
            known[name] = is_own or bool(registry.FindAppliedAPIPrimDefinition(name))
        count += not all(known[name] for name in names)
    return count


class _StagePrim(Prim):
    """A prim that computes its world matrix on first access: most are never needed."""

    __slots__ = ("_world", "find")
    _world: frames.Matrix | None
    find: Callable[[], frames.Matrix | None]

    @property
    def world(self) -> frames.Matrix:
        if self._world is None:
            self.world = self.find()
        assert self._world is not None
        return self._world

    @world.setter
    def world(self, value: frames.Matrix | None) -> None:
        self._world = value


class _Places:
    """Where the prims of a stage are. Holds no model: prims of the model hold it, and are freed with the model."""

    def __init__(self, stage: Usd.Stage, stage_units: StageUnits) -> None:
        self.stage, self.units = stage, stage_units
        self.caches = rest_time.places(stage)
        self.rotation = stage_units.to_z_up

    def locate(self, path: str) -> frames.Matrix | None:
        """World matrix (4, 4) of a prim, metres and Z up; None if it does not exist."""
        usd_prim = self.stage.GetPrimAtPath(path)
        if not usd_prim:
            return None
        matrix = np.array(despite_broken_ops(self.caches.of(usd_prim).GetLocalToWorldTransform, usd_prim)).T
        if self.units.up_axis == "Z" and self.units.meters_per_unit == 1.0:
            return matrix
        matrix[:3, :3] = self.rotation @ matrix[:3, :3]
        matrix[:3, 3] = self.rotation @ matrix[:3, 3] * self.units.meters_per_unit
        return matrix


class _Reader:
    def __init__(self, stage: Usd.Stage, local_meters: float | None) -> None:
        self.stage = stage
        stage_units_checked = units.checked_units(stage_units(stage), stage.GetRootLayer().GetDisplayName())
        self.units = stage_units_checked._replace(local_meters_per_unit=local_meters)
        self.model = PhysicsModel(self.units, source=stage.GetRootLayer().identifier)
        self.places = _Places(stage, self.units)
        self.rotation = self.places.rotation
        self.purposes = frozenset(UsdGeom.Imageable.GetOrderedPurposeTokens())
        self.colliders: list[tuple[Prim, Usd.Prim]] = []
        #: GeomSubsets by path of their mesh.
        self.subsets: dict[str, list[Usd.Prim]] = {}
        self.model.time_codes = float(stage.GetTimeCodesPerSecond()) or 1.0
        self.names = Names()
        self.misnamed: dict[PrimKind, tuple[Misnamed, ...]] = {}
        self.has_purposes = False
        self.has_instances = bool(stage.GetPrototypes())

    def read(self, opinions: Opinions) -> Prim | None:
        """The prim with its schemas, or None if it has no physics."""
        kind = opinions.kind
        rows = _authored_schemas(kind)
        extras = self.extras(opinions)
        role = deformables.role_of(kind.schemas)
        if role and (rows or role != deformables.MATERIAL):
            extras = {**extras, deformables.KEY: role}
        if not rows and not extras:
            return None
        schemas = self.schemas(opinions, rows)
        is_collider = usd_physics.CollisionAPI.usd_name in schemas
        tapered = TAPERED.get(kind.type_name) if is_collider else None
        if tapered is not None:
            extras = {**extras, "usd_type": kind.type_name, "taper": self.taper(opinions, tapered, schemas)}
        if GRAVCOMP in kind.names and usd_physics.RigidBodyAPI.usd_name in schemas:
            extras = self.with_gravity(opinions, extras)
        prim = self.placed(opinions, schemas)
        prim.extras = extras
        if tapered is not None:
            prim.type_name = tapered.usd_name
        # Parents come before children: before the first authored purpose, no prim can inherit one.
        imageable = UsdGeom.Imageable(opinions.usd_prim) if self.has_purposes else None
        if imageable:
            purpose = str(imageable.ComputePurpose())
            prim.purpose = purpose if purpose in self.purposes else "default"
        if is_collider:
            self.colliders.append((prim, opinions.usd_prim))
            prim.mesh = self.geometry(opinions)
        if PHYSICS_BINDING in kind.names:
            bound = targets(opinions.usd_prim.GetRelationship(PHYSICS_BINDING))
            prim.physics_binding = bound[0] if bound else ""
        typed = schemas.get(kind.type_name)
        if isinstance(typed, usd_physics.Joint):
            self.turn_world_frames(typed)
        return prim

    def schemas(self, opinions: Opinions, rows: tuple[_Row, ...]) -> dict[str, Schema]:
        """The schemas of a prim by name with instance. rows: see `_authored_schemas`."""
        kind, by_name = opinions.kind, dict[str, Schema]()
        for name, cls, instance, authored in rows:
            value = by_name[name] = by_name.get(name) or cls()
            if cls.unsaid:
                vendor_schemas.say_axis(value, by_name.get(kind.type_name))
            if authored:
                self.fill(value, opinions, instance, authored)
                if not opinions.is_still:
                    self.note_samples(name, value, opinions, instance, authored)
            for item in cls.unsaid:
                factor = self.factor(item, instance, value)
                if factor != 1.0 and vendor_schemas.is_unstated(item, value):
                    made = with_elements(item.value, item.fallback, partial(units.scaled, factor=factor))
                    setattr(value, item.field, made)
        typed = schema.SCHEMAS.get(kind.type_name)
        if typed is not None and issubclass(typed, usd_geom.Gprim):
            by_name[kind.type_name] = typed()
            self.fill(by_name[kind.type_name], opinions, "", typed.attributes, resolve=True)
            self.note_odd_sizes(opinions, by_name[kind.type_name])
        return by_name

    def note_odd_sizes(self, opinions: Opinions, gprim: Schema) -> None:
        """Give the sizes of a gprim that are negative or blocked the values that its shape has, and note them."""
        noted: list[tuple[str, float | None]] = []
        for item in gprim.attributes:
            if item.space != "local" or not isinstance(item.fallback, float):
                continue
            size = getattr(gprim, item.field)
            if size is None and opinions.usd_prim.GetAttribute(item.usd_name()).GetResolveInfo().ValueIsBlocked():
                setattr(gprim, item.field, self.converted(item.fallback, item, "", gprim))
                noted.append((item.usd_name(), None))
            elif isinstance(size, float) and size < 0.0:
                setattr(gprim, item.field, -size)
                noted.append((item.usd_name(), size))
        if noted:
            self.model.odd_sizes[opinions.path] = tuple(noted)

    def extras(self, opinions: Opinions) -> dict[str, Any]:
        """What an export has kept of a glTF file."""
        if opinions.spec is not None and "customData" not in opinions.fields:
            return {}
        text = opinions.usd_prim.GetCustomDataByKey(EXTRAS_KEY)
        try:
            decoded = json.loads(text) if isinstance(text, str) else {}
        except (ValueError, RecursionError):
            return {}
        return decoded if isinstance(decoded, dict) else {}

    def with_gravity(self, opinions: Opinions, extras: dict[str, Any]) -> dict[str, Any]:
        """Extras with the gravity factor that MuJoCo and Newton read, which wins over that of a glTF file before."""
        value, motion = opinions.usd_prim.GetAttribute(GRAVCOMP).Get(), extras.get("motion")
        if not isinstance(value, int | float) or not math.isfinite(value):
            return extras
        kept = motion if isinstance(motion, dict) else {}
        return {**extras, "motion": {**kept, "gravityFactor": float(f"{1.0 - value:.7g}"), GRAVCOMP: True}}

    def taper(self, opinions: Opinions, cls: type[usd_geom.Gprim], found: dict[str, Schema]) -> list[float]:
        """Add a capsule or cylinder with the larger of two radii; returns the shares of it that the two are."""
        made: Any = cls()
        found[cls.usd_name] = made
        self.fill(made, opinions, "", cls.attributes, resolve=True)
        height, *radii = (
            max(float(opinions.usd_prim.GetAttribute(name).Get() or 0.0), 0.0)
            for name in ("height", "radiusBottom", "radiusTop")
        )
        largest = max(radii)
        made.height, made.radius = height * self.units.local, largest * self.units.local
        return [radius / largest if largest > 0.0 else 1.0 for radius in radii]

    def note_subset(self, opinions: Opinions) -> None:
        if opinions.kind.is_subset:
            self.subsets.setdefault(opinions.path.rpartition("/")[0], []).append(opinions.usd_prim)

    def note_misnamed(self, opinions: Opinions) -> None:
        kind = opinions.kind
        misnamed = self.misnamed.get(kind)
        if misnamed is None:
            misnamed = self.misnamed[kind] = self.names.misnamed(kind.type_name, kind.schemas, kind.names)
        if misnamed:
            self.model.misnamed[opinions.path] = misnamed

    def bind_materials(self) -> None:
        """Bind the physics materials of all colliders in one call, which is many times faster."""
        parts = [[*self.subsets.get(prim.path, ()), usd_prim] for prim, usd_prim in self.colliders]
        bound = iter(bound_materials([one for several in parts for one in several]))
        for (prim, _), several in zip(self.colliders, parts, strict=True):
            *subsets, own = (next(bound) for _ in several)
            others = dict.fromkeys(path for path in subsets if path and path != own)
            prim.materials = (*others, own) if others or own else ()

    def placed(self, opinions: Opinions, found: dict[str, Schema]) -> Prim:
        prim = _StagePrim(opinions.path, opinions.type_name, None, found)  # type: ignore[arg-type]
        prim.find = partial(self.places.locate, opinions.path)
        prim.is_instance_proxy = self.has_instances and opinions.usd_prim.IsInstanceProxy()
        kind = opinions.kind
        prim.is_xformable = kind.is_xformable
        if kind.is_xformable and "xformOpOrder" in kind.operations:
            prim.resets_xform_stack = opinions.resets_xform_stack()
            prim.is_animated = opinions.is_animated()
        prim.is_sampled = kind.is_xformable and self.places.caches.is_sampled(opinions.usd_prim)
        return prim

    def add_joint_targets(self, stage: Usd.Stage) -> None:
        """Add prims without physics that joints target: their world matrices are needed."""
        for joint in list(self.model.joints.values()):
            for attribute, targets in joint.get(usd_physics.Joint).authored():  # type: ignore[union-attr]
                if not attribute.is_relationship:
                    continue
                for path in targets:
                    usd_prim = stage.GetPrimAtPath(path)
                    if usd_prim and path not in self.model.prims:
                        self.model.add(self.placed(Opinions(usd_prim), {}))

    def fill(
        self, value: Schema, opinions: Opinions, instance: str, attributes: Iterable[Attribute], resolve: bool = False
    ) -> None:
        """Set some attributes of a schema. resolve: use USD's fallbacks for unauthored values."""
        for attribute in attributes:
            read = self.value(opinions, attribute, instance, value, resolve)
            if read is not None:
                setattr(value, attribute.field, read)

    def value(self, opinions: Opinions, attribute: Attribute, instance: str, read: Schema, resolve: bool) -> Any:
        """read: the fields before this one."""
        name = attribute.usd_name(instance)
        if attribute.is_relationship:
            relationship = opinions.usd_prim.GetRelationship(name)
            if not relationship or not relationship.HasAuthoredTargets():
                return None
            return targets(relationship)
        raw = opinions.value(name)
        if raw is None and resolve and (fallback := opinions.usd_prim.GetAttribute(name)):
            raw = fallback.Get()
        return self.converted(raw, attribute, instance, read)

    def note_samples(
        self, name: str, value: Schema, opinions: Opinions, instance: str, attributes: Iterable[Attribute]
    ) -> None:
        """Note the values of a schema that change over time. USD lets those vary that are not uniform."""
        for attribute in attributes:
            if attribute.is_relationship or attribute.uniform or getattr(value, attribute.field) is None:
                continue
            usd_attribute = opinions.usd_prim.GetAttribute(attribute.usd_name(instance))
            samples = Samples()
            is_vendors = isinstance(attribute, vendor_schemas.VendorAttribute)
            if not is_vendors and not usd_opinions.varies(usd_attribute, attribute):
                continue
            for time in usd_attribute.GetTimeSamples():
                content = self.converted(usd_attribute.Get(time), attribute, instance, value)
                if attribute.allows(content):
                    samples.moments.append(time / self.model.time_codes)
                    samples.values.append(content)
            if any(content != samples.values[0] for content in samples.values[1:]):
                self.model.animated[Key(opinions.path, name, attribute.field)] = samples

    def converted(self, raw: Any, attribute: Attribute, instance: str, read: Schema) -> Any:
        """The value of a stage in SI. read: the other fields."""
        if raw is None or isinstance(raw, bool | str):
            return raw
        if attribute.is_sentinel(raw):
            return float(raw)
        value = plain_value(raw, self.factor(attribute, instance, read))
        return attribute.turned(value, self.rotation) if attribute.turns(read) else value

    def factor(self, attribute: Attribute, instance: str, read: Schema) -> float:
        """SI value of one unit of an attribute. read: the fields before this one."""
        dimension = attribute.dimension_for(instance, read.unit_mode)
        return self.units.factor(dimension, local=attribute.space == "local")

    def turn_world_frames(self, joint: Schema) -> None:
        """Bring the frames of joint sides without a body, which are in world space, to world units and Z up."""
        scale = self.units.meters_per_unit / self.units.local
        if (self.units.up_axis == "Z" and scale == 1.0) or not isinstance(joint, usd_physics.Joint):
            return
        for side in (0, 1):
            position, rotation = getattr(joint, f"local_pos{side}"), getattr(joint, f"local_rot{side}")
            if not getattr(joint, f"body{side}") and scale != 1.0 and isinstance(position, tuple):
                position = tuple(scale * part for part in position)
                setattr(joint, f"local_pos{side}", position)
            if self.units.up_axis == "Z":
                continue
            # A frame that nobody has authored is that of the world of the file.
            is_default = position is None and rotation is None
            is_readable = joint.holds(f"local_pos{side}") or joint.holds(f"local_rot{side}")
            if not getattr(joint, f"body{side}") and (is_default or is_readable):
                frame = frames.world_frame(None, joint.resolved(f"local_pos{side}"), joint.resolved(f"local_rot{side}"))
                turned, rotation = frames.local_frame(None, frames.transform((0, 0, 0), self.rotation) @ frame)
                if position is not None:
                    setattr(joint, f"local_pos{side}", turned)
                setattr(joint, f"local_rot{side}", rotation)

    def geometry(self, opinions: Opinions) -> Callable[[], Mesh | SpherePoints | None] | None:
        # The closures keep the stage alive until the geometry is loaded.
        stage, path, meters = self.stage, opinions.path, self.units.local
        if opinions.kind.is_mesh:
            return lambda: mesh_of(UsdGeom.Mesh(stage.GetPrimAtPath(path)), meters)
        if opinions.kind.is_points:
            return lambda: _points(UsdGeom.Points(stage.GetPrimAtPath(path)), meters)
        return None


#: (name, class, instance, attributes with opinions) of a schema of a prim.
_Row = tuple[str, type[Schema], str, tuple[Attribute, ...]]


@lru_cache(maxsize=4096)
def _authored_schemas(kind: PrimKind) -> tuple[_Row, ...]:
    """The schemas of a prim, without gprims."""
    rows = []
    taken: set[str] = set()
    for name in (kind.type_name, *kind.schemas):
        cls, (_, instance) = held_class(name, kind.type_name, kind.schemas), schema.split_applied(name)
        if cls is not None:
            instance = vendor_schemas.dof_of(cls, instance, kind.type_name)
        if cls is None or issubclass(cls, usd_geom.Gprim) or (cls.kind == "typed") != (name == kind.type_name):
            continue
        # Two schemas of a vendor can have the same attribute; one of them holds it.
        own = {item.usd_name(instance): item for item in cls.attributes if is_held(cls, item)}
        authored = tuple(item for usd_name, item in own.items() if usd_name in kind.names and usd_name not in taken)
        taken.update(own)
        rows.append((name, cls, instance, authored))
    return tuple(rows)


def plain_value(raw: Any, factor: float) -> Any:
    """Python value of a USD value: floats scaled, vectors, quaternions and arrays as tuples, the rest as text."""
    if raw is None or isinstance(raw, bool) or (isinstance(raw, int) and factor == 1.0):
        return raw
    if isinstance(raw, int | float):
        return units.scaled(float(raw), factor)
    if isinstance(raw, _QUATERNIONS):
        return (float(raw.GetReal()), *(float(part) for part in raw.GetImaginary()))
    if isinstance(raw, _VECTORS):
        return tuple(units.scaled(float(part), factor) for part in raw)
    if isinstance(raw, _INT_VECTORS):
        return tuple(map(int, raw))
    if isinstance(raw, Sdf.AssetPath):
        return raw.path
    if isinstance(raw, Sdf.PathExpression):
        return raw.GetText()
    if hasattr(raw, "__len__") and not isinstance(raw, str) and type(raw).__module__ in _ARRAY_MODULES:
        return tuple(plain_value(part, factor) for part in raw)
    return str(raw)


_QUATERNIONS = (Gf.Quatf, Gf.Quatd, Gf.Quath)
_VECTORS = tuple(getattr(Gf, f"Vec{size}{kind}") for size in (2, 3, 4) for kind in "hfd")
_INT_VECTORS = (Gf.Vec2i, Gf.Vec3i, Gf.Vec4i)
_ARRAY_MODULES = frozenset({Vt.__name__, Sdf.__name__})


def bound_materials(usd_prims: list[Usd.Prim]) -> list[str]:
    """Path of the physics material of each prim, or ""."""
    try:
        materials, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(usd_prims, "physics")
    except Tf.ErrorException:  # a binding is an attribute, not a relationship
        materials = [_bound_material(usd_prim) for usd_prim in usd_prims]
    is_physical: dict[str, bool] = {}
    paths = []
    for material in materials:
        path = str(material.GetPath()) if material else ""
        if path and path not in is_physical:
            is_physical[path] = usd_physics.MaterialAPI.usd_name in usd_opinions.applied_schemas(material.GetPrim())
        paths.append(path if path and is_physical[path] else "")
    return paths


def targets(relationship: Usd.Relationship) -> tuple[str, ...]:
    """Targets of a relationship; empty if another layer has an attribute of this name."""
    try:
        return tuple(str(path) for path in relationship.GetTargets()) if relationship else ()
    except Tf.ErrorException:
        return ()


def _bound_material(usd_prim: Usd.Prim) -> UsdShade.Material | None:
    try:
        material, _ = UsdShade.MaterialBindingAPI(usd_prim).ComputeBoundMaterial("physics")
    except Tf.ErrorException:
        return None
    return material


def mesh_of(mesh: UsdGeom.Mesh, meters: float = 1.0) -> Mesh | None:
    """The geometry of a mesh; None if it has none, or its arrays do not fit together. meters: of a unit."""
    points = _array(mesh.GetPointsAttr(), Vt.Vec3fArray)
    counts, indices = (
        _array(attribute, Vt.IntArray).astype(np.int64)
        for attribute in (mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    )
    if not len(points) or not len(counts) or not len(indices) or counts.min() < 0:
        return None
    triangles = triangulated(counts, indices)
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        triangles = triangles[:, ::-1]
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
        return None
    return Mesh(points.astype(float) * meters, triangles)


def _array(attribute: Usd.Attribute, kind: Any) -> Any:
    """Array of an attribute, without a default its earliest sample; empty if it has another type."""
    for time in (Usd.TimeCode.Default(), Usd.TimeCode.EarliestTime()):
        value = attribute.Get(time)
        if isinstance(value, kind) and len(value):
            return np.asarray(value)
    return np.zeros(0)


def triangulated(counts: Any, indices: Any) -> Any:
    """Fan triangulation (m, 3) of polygons with vertex counts (f,) and indices; faces beyond the end are dropped."""
    size = int(counts[0]) if len(counts) else 0
    if size > 2 and size * len(counts) == len(indices) and (counts == size).all():
        polygons = indices.reshape(-1, size)
        return np.concatenate([polygons[:, (0, offset, offset + 1)] for offset in range(1, size - 1)])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, np.int64)
    inside = starts + counts <= len(indices)
    starts, counts = starts[inside], counts[inside]
    fans = [np.zeros((0, 3), np.int64)]
    for size in np.unique(counts):
        if size < 3:
            continue
        corner = starts[counts == size][:, None]
        for offset in range(1, int(size) - 1):
            fan = corner + np.array([0, offset, offset + 1])
            fans.append(indices[fan])
    return np.concatenate(fans)


def _points(points: UsdGeom.Points, meters: float) -> SpherePoints | None:
    positions = _array(points.GetPointsAttr(), Vt.Vec3fArray)
    primvar = UsdGeom.PrimvarsAPI(points).GetPrimvar("widths")
    flattened = primvar.ComputeFlattened() if primvar.HasAuthoredValue() else None
    widths = (
        np.asarray(flattened) if isinstance(flattened, Vt.FloatArray) else _array(points.GetWidthsAttr(), Vt.FloatArray)
    )
    if not len(positions) or len(positions) != len(widths):
        return None
    return SpherePoints(positions.astype(float) * meters, widths.astype(float) * meters / 2)
