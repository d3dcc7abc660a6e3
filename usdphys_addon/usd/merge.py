# SPDX-License-Identifier: GPL-3.0-or-later
"""Two edits of one layer, merged: prims, properties, metadata, lists, time samples and variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pxr import Sdf, Tf

from ..core import paths
from ..core.errors import InputError
from ..core.three_way import MISSING, merged_dictionary, merged_list, merged_order, one_sided, same
from ..system.files import regular, work_folder
from .files.layers import check_roots
from .hierarchy import move_prims
from .read import refuse_odd_times, short_reason
from .targets import LISTS, properties_of

#: Fields that make a property another one: they are never merged with other edits of it.
_NATURE = ("typeName", "variability")
#: Lists of paths that are set through the lists of a property.
_TARGETS = {"targetPaths": "targetPathList", "connectionPaths": "connectionPathList"}
#: The field of a layer with its sublayers, as (path, offset, scale).
_SUBLAYERS = "subLayers"
#: Orders of children, and the names in Python.
_ORDERS = {"primOrder": "nameChildrenOrder", "propertyOrder": "propertyOrder"}
#: Letters of a value in a sentence.
_LONGEST = 60
_Fields = dict[str, Any]


class Conflict(NamedTuple):
    """What both edits have changed differently. where: path and field; the values are texts."""

    where: str
    base: str
    ours: str
    theirs: str
    kept: str

    def __str__(self) -> str:
        return f"{self.where}: {self.base} in the base, {self.ours} in ours, {self.theirs} in theirs; {self.kept}."


def read_layer(file: Path) -> Sdf.Layer:
    """The layer in a file, whatever its name; its relative paths stay as they are written. An empty file is empty.

    Raises InputError where it is no layer.
    """
    if not file.is_file():
        raise InputError(f"There is no file '{file}'; check the name.")
    data = regular(file).read_bytes()
    layer = Sdf.Layer.CreateAnonymous(".usda")
    try:
        if data.startswith(b"PXR-USDC"):
            _read_crate(file, data, layer)
        elif data.startswith(b"#usda"):
            layer.ImportFromString(data.decode())
        elif data.strip():
            raise InputError(f"'{file}' is no USD layer, neither as text nor as crate.")
    except (Tf.ErrorException, UnicodeDecodeError) as error:
        raise InputError(f"'{file}' is not a USD file that can be read{short_reason(error)}.") from error
    check_roots(layer, str(file))
    refuse_odd_times(layer, str(file))
    for path, spec in prims_of(layer):
        if any(item is None for item in (*spec.properties, *spec.nameChildren)):
            raise InputError(f"'{file}' says that {path} has parts which are not in it; it is damaged.")
    return layer


def _read_crate(file: Path, data: bytes, layer: Sdf.Layer) -> None:
    if file.suffix in (".usd", ".usdc"):
        layer.TransferContent(Sdf.Layer.OpenAsAnonymous(str(file)))
        return
    # Git names its files otherwise.
    with work_folder() as folder:
        named = Path(folder) / "layer.usdc"
        named.write_bytes(data)
        layer.TransferContent(Sdf.Layer.OpenAsAnonymous(str(named)))


def text_in(file: Path) -> str:
    """The text of a layer in a file; empty where it is a crate. Call it after `read_layer`, which refuses others."""
    data = regular(file).read_bytes()
    return data.decode() if data.startswith(b"#usda") else ""


def crate_of(layer: Sdf.Layer) -> bytes:
    """The content of a crate file with a layer."""
    with work_folder() as folder:
        file = Path(folder) / "layer.usdc"
        layer.Export(str(file))
        return file.read_bytes()


def merge_layers(
    base: Sdf.Layer, ours: Sdf.Layer, theirs: Sdf.Layer, favor: str = ""
) -> tuple[Sdf.Layer, list[Conflict]]:
    """A layer with both edits of the base, and what they have changed differently.

    There the value of ours is kept, or what was edited where the other edit has removed it. favor: "ours" or "theirs"
    decides all of these. Prims that one edit has moved or renamed have the other's edits at their new paths. The three
    layers are changed.
    """
    merger = _Merger(base, ours, theirs, favor)
    merger.follow_moves()
    merger.merge()
    merger.order()
    merger.find_lost_targets()
    return merger.out, merger.conflicts


class _Merger:
    def __init__(self, base: Sdf.Layer, ours: Sdf.Layer, theirs: Sdf.Layer, favor: str) -> None:
        self.base, self.ours, self.theirs, self.favor = base, ours, theirs, favor
        self.conflicts: list[Conflict] = []
        self.out = Sdf.Layer.CreateAnonymous(".usda")

    def follow_moves(self) -> None:
        """Bring the base, and each edit, to the paths to which the other has moved prims."""
        ours, theirs = _moves(self.base, self.ours), _moves(self.base, self.theirs)
        # Where the other has put a new prim, both have added one.
        ours, theirs = (
            {old: new for old, new in moves.items() if others.get(old) == new or not layer.GetPrimAtPath(new)}
            for moves, others, layer in ((ours, theirs, self.theirs), (theirs, ours, self.ours))
        )
        for old in ours.keys() & theirs.keys():
            if ours[old] != theirs[old]:
                first, second = (theirs, ours) if self.favor == "theirs" else (ours, theirs)
                layer = self.ours if self.favor == "theirs" else self.theirs
                self._clash(f"path of {old}", old, ours[old], theirs[old], f"it is at {first[old]}")
                move_prims(layer, {second[old]: first[old]})
                second[old] = first[old]
        move_prims(self.ours, {old: new for old, new in theirs.items() if old not in ours})
        move_prims(self.theirs, {old: new for old, new in ours.items() if old not in theirs})
        move_prims(self.base, {**ours, **theirs})

    def merge(self) -> None:
        sides = [specs_of(layer) for layer in (self.base, self.ours, self.theirs)]
        base, ours, theirs = sides
        self.out.TransferContent(self.ours)
        edited = [_edited(base, side) for side in (ours, theirs)]
        done: set[Sdf.Path] = set()
        for path in sorted(base.keys() | ours.keys() | theirs.keys()):
            if done.intersection(path.GetPrefixes()):
                continue
            if path in ours and path in theirs:
                self._merge_spec(path, base.get(path, {}), ours[path], theirs[path])
                continue
            done.add(path)
            if path not in base or (path not in ours and path not in theirs):
                if path in theirs:
                    self._copy(path)
                continue
            is_ours = path in ours
            is_edited = path in edited[0 if is_ours else 1]
            keeps = is_edited and self.favor != ("theirs" if is_ours else "ours")
            if is_edited:
                states = ("edited", "removed") if is_ours else ("removed", "edited")
                self._clash(str(path), "it is", *states, "the edited one is kept" if keeps else "it is removed")
            if is_ours and not keeps:
                self._remove(path)
            elif not is_ours and keeps:
                self._copy(path)

    def order(self) -> None:
        """Bring prims and properties into the order that either edit gives them; new ones stand where they were put."""
        before: Sdf.Layer | None = None
        listed: list[Sdf.Path] = []
        self.out.Traverse(Sdf.Path.absoluteRootPath, listed.append)
        # Those above first: what is copied has the old order below itself.
        for path in sorted(listed):
            if path != Sdf.Path.absoluteRootPath and path.GetPrimOrPrimVariantSelectionPath() != path:
                continue
            for kind in ("nameChildren", "properties"):
                sides = [_names(layer, path, kind) for layer in (self.out, self.base, self.ours, self.theirs)]
                if sides[0] in sides[2:] and sides[2] == sides[3]:
                    continue
                found = merged_order(*sides)
                if found is None:
                    what = "prims" if kind == "nameChildren" else "properties"
                    self._clash(f"{path} (order of {what})", *(" ".join(side) for side in sides[1:]), self._kept())
                    found = merged_order(sides[0], sides[1], *([sides[3 if self.favor == "theirs" else 2]] * 2))
                if found is not None and found != sides[0]:
                    if before is None:
                        before = Sdf.Layer.CreateAnonymous(".usda")
                        before.TransferContent(self.out)
                    self._reorder(path, found, before, is_property=kind == "properties")

    def _reorder(self, path: Sdf.Path, names: list[str], before: Sdf.Layer, *, is_property: bool) -> None:
        """Take children of a prim out and in again: USD moves none among its own. before: a copy of the result."""
        listed = [path.AppendProperty(name) if is_property else path.AppendChild(name) for name in names]
        edit = Sdf.BatchNamespaceEdit()
        for child in listed:
            edit.Add(Sdf.NamespaceEdit.Remove(child))
        self.out.Apply(edit)
        with Sdf.ChangeBlock():
            for child in listed:
                Sdf.CopySpec(before, child, self.out, child)

    def find_lost_targets(self) -> None:
        """Name targets that one edit has removed, and that the other points to."""
        for spec in properties_of(self.out):
            for target in _targets(spec):
                if self.out.GetObjectAtPath(target):
                    continue
                points = [
                    bool((kept_spec := layer.GetPropertyAtPath(spec.path)) and target in _targets(kept_spec))
                    for layer in (self.ours, self.theirs)
                ]
                is_there = [bool(layer.GetObjectAtPath(target)) for layer in (self.ours, self.theirs)]
                if any(one and there for one, there in zip(points, is_there, strict=True)):
                    was = "there" if self.base.GetObjectAtPath(target) else "not there"
                    texts = ["there" if there else "removed" for there in is_there]
                    self._clash(f"{spec.path} points to {target}", was, *texts, "the target is missing")

    def _merge_spec(self, path: Sdf.Path, base: _Fields, ours: _Fields, theirs: _Fields) -> None:
        if path.IsPropertyPath() and any(ours.get(name) != theirs.get(name) for name in _NATURE):
            whole = one_sided(base, ours, theirs)
            if whole is None:
                texts = (_text(one.get("typeName", MISSING) if one else MISSING) for one in (base, ours, theirs))
                self._clash(f"{path} (type)", *texts, self._kept())
            if (self.favor == "theirs") if whole is None else whole[0] is theirs:
                self._remove(path)
                self._copy(path)
            return
        for name in dict.fromkeys((*ours, *theirs, *base)):
            values = [side.get(name, MISSING) for side in (base, ours, theirs)]
            value = one_sided(*values)
            if value is None:
                value = (self._merged(path, name, *values),)
            if value[0] is not values[1]:
                self._set(path, name, value[0])

    def _merged(self, path: Sdf.Path, name: str, base: Any, ours: Any, theirs: Any) -> Any:
        """A field that both have changed differently."""
        settle = partial(self._settle, path, name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            return merged_dictionary({} if base is MISSING else base, ours, theirs, settle)
        if name in (_SUBLAYERS, *_ORDERS):
            merged = merged_list(*([] if one is MISSING else list(one) for one in (base, ours, theirs)))
            return settle((), base, ours, theirs) if merged is None else merged
        if hasattr(ours, "prependedItems") or hasattr(theirs, "prependedItems"):
            merged = _merged_lists(name, base, ours, theirs)
            return settle((), base, ours, theirs) if merged is None else merged
        return settle((), base, ours, theirs)

    def _settle(self, path: Sdf.Path, name: str, keys: tuple[Any, ...], base: Any, ours: Any, theirs: Any) -> Any:
        if name == "timeSamples":
            where = f"{path} at time {keys[0]:g}"
        elif name in ("default", *_TARGETS):
            where = str(path)
        else:
            where = f"{path} ({':'.join((name, *map(str, keys)))})"
        self._clash(where, *map(_text, (base, ours, theirs)), self._kept())
        return theirs if self.favor == "theirs" else ours

    def _kept(self) -> str:
        return f"that of {self.favor or 'ours'} is kept"

    def _clash(self, *texts: str) -> None:
        self.conflicts.append(Conflict(*texts))

    def _set(self, path: Sdf.Path, name: str, value: Any) -> None:
        """Set a field of the result."""
        spec = self.out.GetObjectAtPath(path)
        if name in _TARGETS:
            items = getattr(spec, _TARGETS[name])
            items.ClearEdits()
            if value is not MISSING:
                _fill(items, value)
        elif name == "timeSamples":
            for time in self.out.ListTimeSamplesForPath(path):
                self.out.EraseTimeSample(path, time)
            for time, sample in ({} if value is MISSING else value).items():
                self.out.SetTimeSample(path, time, sample)
        elif name == _SUBLAYERS:
            rows = [] if value is MISSING else value
            self.out.subLayerPaths[:] = [row[0] for row in rows]
            for index, (_, offset, scale) in enumerate(rows):
                self.out.subLayerOffsets[index] = Sdf.LayerOffset(offset, scale)
        elif name in _ORDERS:
            setattr(spec, _ORDERS[name], [] if value is MISSING else list(value))
        elif value is MISSING:
            spec.ClearInfo(name)
        else:
            spec.SetInfo(name, value)

    def _copy(self, path: Sdf.Path) -> None:
        """Take a spec of theirs, with all below it."""
        if path.IsPrimVariantSelectionPath():
            prim, name = self.out.GetObjectAtPath(path.GetParentPath()), path.GetVariantSelection()[0]
            if name not in prim.variantSets:
                # Not that of theirs, whose names of sets are a field of the prim.
                names = prim.GetInfo("variantSetNames")
                Sdf.VariantSetSpec(prim, name)
                prim.SetInfo("variantSetNames", names)
        Sdf.CopySpec(self.theirs, path, self.out, path)

    def _remove(self, path: Sdf.Path) -> None:
        if path.IsPrimVariantSelectionPath():
            prim, (name, choice) = self.out.GetObjectAtPath(path.GetParentPath()), path.GetVariantSelection()
            variants = prim.variantSets[name]
            variants.RemoveVariant(variants.variants[choice])
            if not variants.variants:
                del prim.variantSets[name]
            return
        edit = Sdf.BatchNamespaceEdit()
        edit.Add(Sdf.NamespaceEdit.Remove(path))
        self.out.Apply(edit)


def specs_of(layer: Sdf.Layer) -> dict[Sdf.Path, _Fields]:
    """The fields of all prims, properties and variants of a layer."""
    found: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, found.append)
    specs = {}
    for path in found:
        is_set = path.IsPrimVariantSelectionPath() and not path.GetVariantSelection()[1]
        if not is_set and not path.IsTargetPath() and (spec := layer.GetObjectAtPath(path)):
            specs[path] = _fields(layer, spec)
    return specs


def _fields(layer: Sdf.Layer, spec: Any) -> _Fields:
    fields = {name: spec.GetInfo(name) for name in spec.ListInfoKeys() if name not in (_SUBLAYERS, "subLayerOffsets")}
    if spec == layer.pseudoRoot and layer.subLayerPaths:
        fields[_SUBLAYERS] = [
            (path, offset.offset, offset.scale)
            for path, offset in zip(layer.subLayerPaths, layer.subLayerOffsets, strict=True)
        ]
    return fields


def _names(layer: Sdf.Layer, path: Sdf.Path, kind: str) -> list[str]:
    """Names of the children or the properties of a prim, in their order; none where it is not there."""
    spec = layer.GetPrimAtPath(path) if path != Sdf.Path.absoluteRootPath else layer.pseudoRoot
    if not spec or (kind == "properties" and spec == layer.pseudoRoot):
        return []
    return [str(child.name) for child in getattr(spec, kind)]


def _edited(base: dict[Sdf.Path, _Fields], side: dict[Sdf.Path, _Fields]) -> set[Sdf.Path]:
    """Paths of all that is not as in the base, and of all above it."""
    paths_of_edits = (
        path for path in base.keys() | side.keys()
        if path not in base or path not in side or not same(base[path], side[path])
    )  # fmt: skip
    return {above for path in paths_of_edits for above in path.GetPrefixes()}


def _merged_lists(name: str, base: Any, ours: Any, theirs: Any) -> Any:
    """A list operation with both edits; None where they exclude each other."""
    kind = type(ours if ours is not MISSING else theirs)
    base, ours, theirs = (kind() if one is MISSING else one for one in (base, ours, theirs))
    if ours.isExplicit != theirs.isExplicit:
        return None
    merged = kind() if not ours.isExplicit else kind.CreateExplicit([])
    for part in LISTS:
        lists = [list(getattr(one, part)) for one in (base, ours, theirs)]
        is_one_thing = name in _TARGETS and max(map(len, lists)) == 1
        # What both have replaced would be there twice.
        is_replaced = name != "apiSchemas" and any(
            item not in lists[1] and item not in lists[2] and _has_new(lists, 1) and _has_new(lists, 2)
            for item in lists[0]
        )
        one_sided_edit = one_sided(*lists) or ((None,) if is_one_thing or is_replaced else (merged_list(*lists),))
        if one_sided_edit[0] is None:
            return None
        if one_sided_edit[0]:
            setattr(merged, part, one_sided_edit[0])
    return merged


def _has_new(lists: list[list[Any]], side: int) -> bool:
    return any(item not in lists[0] for item in lists[side])


def _fill(items: Any, value: Any) -> None:
    if value.isExplicit:
        items.ClearEditsAndMakeExplicit()
    for part in LISTS:
        if listed := list(getattr(value, part)):
            setattr(items, part, listed)


def _targets(spec: Sdf.PropertySpec) -> list[Sdf.Path]:
    name = "targetPaths" if isinstance(spec, Sdf.RelationshipSpec) else "connectionPaths"
    if not spec.HasInfo(name):
        return []
    value = spec.GetInfo(name)
    return [path for part in LISTS if part != "deletedItems" for path in getattr(value, part)]


def _moves(base: Sdf.Layer, side: Sdf.Layer) -> dict[str, str]:
    """Prims that an edit has moved or renamed: the same name and type elsewhere, or the same content."""
    old, new = dict(prims_of(base)), dict(prims_of(side))
    gone = {path: spec for path, spec in old.items() if path not in new}
    added = {path: spec for path, spec in new.items() if path not in old}
    moves: dict[str, str] = {}
    for sign in (_name_and_type, _content):
        lost = _unique(sign, {path: spec for path, spec in gone.items() if path not in moves})
        came = _unique(sign, {path: spec for path, spec in added.items() if path not in moves.values()})
        moves.update({lost[key]: came[key] for key in lost.keys() & came.keys() if key})
    # What is below a moved prim goes along.
    return {old: new for old, new in moves.items() if _is_moved_itself(old, new, moves)}


def _is_moved_itself(old: str, new: str, moves: dict[str, str]) -> bool:
    is_elsewhere = paths.followed(paths.parent_of(old), moves) != paths.parent_of(new)
    return is_elsewhere or paths.name_of(old) != paths.name_of(new)


def prims_of(layer: Sdf.Layer) -> Iterator[tuple[str, Sdf.PrimSpec]]:
    """The prims of a layer by path, those of variants left out."""
    paths: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
    for path in sorted(paths):
        if path.IsPrimPath() and not path.ContainsPrimVariantSelection():
            yield str(path), layer.GetPrimAtPath(path)


def _unique(sign: Callable[[Sdf.PrimSpec], Any], specs: dict[str, Sdf.PrimSpec]) -> dict[Any, str]:
    """Paths by a sign that no other of these prims has."""
    signs = {path: sign(spec) for path, spec in specs.items()}
    counts = Counter(signs.values())
    return {key: path for path, key in signs.items() if counts[key] == 1}


def _name_and_type(spec: Sdf.PrimSpec) -> Any:
    return spec.name, spec.typeName, spec.specifier


def _content(spec: Sdf.PrimSpec) -> Any:
    """Type and values of a prim, without names of paths. Nothing for one without properties: all such are alike."""
    values = tuple(
        (item.name, repr(item.default)) for item in sorted(spec.properties, key=lambda one: one.name)
        if isinstance(item, Sdf.AttributeSpec)
    )  # fmt: skip
    return (spec.typeName, values, tuple(child.name for child in spec.nameChildren)) if values else None


def _text(value: Any) -> str:
    if hasattr(value, "prependedItems"):
        value = [str(item) for part in LISTS for item in getattr(value, part)]
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
