# SPDX-License-Identifier: GPL-3.0-or-later
"""Corners of UsdPhysics, each a file of our own: in and out again with nothing lost, added or moved."""

import math

import bpy
import numpy as np
import pytest
from usdphys_ext.usdphys_addon.core import difference, schema
from usdphys_ext.usdphys_addon.usd import opinions as usd_opinions
from usdphys_ext.usdphys_addon.usd import read as usd_read

from . import authored_stages
from .test_import import export_usd, import_usd

pytestmark = pytest.mark.slow

#: Blender's matrices and properties are of 32-bit floats.
RELATIVE = 2e-6
NAMES = list(authored_stages.STAGES)


def trip(source, folder, name):
    """Import, through a .blend, and export."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    import_usd(source)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / f"{name}.blend"))
    export_usd(folder / f"{name}.usda")
    return folder / f"{name}.usda"


@pytest.fixture(scope="module")
def trips(tmp_path_factory):
    """(source, after one trip, after two) by name, each made once."""
    folder = tmp_path_factory.mktemp("authored")
    sources = {path.stem: path for path in authored_stages.write(folder / "source")}
    made = {}

    def get(name):
        if name not in made:
            once = trip(sources[name], folder, name)
            made[name] = (sources[name], once, trip(once, folder, f"{name}_twice"))
        return made[name]

    return get


@pytest.mark.parametrize("name", NAMES)
def test_nothing_has_changed(trips, name):
    """Our own comparison of the physics, and the world place of every prim that has any."""
    old, new = (usd_read.read_stage(usd_read.open_stage(path)) for path in trips(name)[:2])
    for path, prim in new.prims.items():
        if len(prim.materials) > 1 and set(prim.materials) >= set(old.prims[path].materials) - {""}:
            # Blender binds a mesh of several materials to the first of them, too.
            prim.materials = old.prims[path].materials
    found = difference.difference(old, new)
    assert not found, (found.edits, found.added, found.removed)
    assert old.units.up_axis == new.units.up_axis
    assert old.units.meters_per_unit == pytest.approx(new.units.meters_per_unit, rel=RELATIVE)
    assert old.units.kilograms_per_unit == pytest.approx(new.units.kilograms_per_unit, rel=RELATIVE)
    for path, prim in old.prims.items():
        other = new.prims[path]
        if prim.is_xformable:
            assert np.allclose(prim.world, other.world, rtol=RELATIVE, atol=1e-5), path
        assert prim.resets_xform_stack == other.resets_xform_stack, path
        assert prim.type_name == other.type_name, path
        assert (prim.purpose, prim.materials) == (other.purpose, other.materials), path
    physical = [path for path, prim in old.prims.items() if prim.schemas]
    assert physical == [path for path, prim in new.prims.items() if prim.schemas], "another order"


@pytest.mark.parametrize("name", NAMES)
def test_every_opinion_is_back(trips, name):
    """What is said of a prim is said again: schemas, and properties with type and value, and no others."""
    from pxr import Usd

    source, once = (Usd.Stage.Open(str(path)) for path in trips(name)[:2])
    for prim in source.Traverse():
        kind = prim.GetTypeName()
        if kind == "GeomSubset" or (kind == "Material" and "PhysicsMaterialAPI" not in prim.GetAppliedSchemas()):
            # Blender places materials, and names faces after them.
            continue
        other = once.GetPrimAtPath(prim.GetPath())
        assert other, prim.GetPath()
        assert other.GetTypeName() == prim.GetTypeName(), prim.GetPath()
        assert physics_schemas(other) == physics_schemas(prim), prim.GetPath()
        said, again = opinions(prim), opinions(other)
        assert said.keys() <= again.keys(), prim.GetPath()
        for key in again.keys() - said.keys():
            # The size of a gprim, and what turns with the up axis, may be said though it is the fallback.
            assert key in ("length", "width") or key.startswith("physics:local"), (prim.GetPath(), key)
            assert same(again[key][1], prim.GetAttribute(key).Get()), (prim.GetPath(), key)
        for key, (kind, value) in said.items():
            assert again[key][0] == kind, (prim.GetPath(), key)
            assert same(value, again[key][1]), (prim.GetPath(), key, value, again[key][1])


def physics_schemas(prim):
    """API schemas of a prim but for Blender's own, in any order: no two of them declare the same property."""
    return sorted(set(usd_opinions.applied_schemas(prim)) - {"MaterialBindingAPI", "ColorSpaceAPI"})


#: Properties that Blender writes in its own way: geometry, and bindings and looks of what is seen.
GEOMETRY = (
    "points", "faceVertex", "normals", "primvars:", "extent", "subdivisionScheme", "double", "orientation",
    "material:binding", "inputs:", "outputs:", "userProperties:", "visibility", "interpolate", "subsetFamily",
    "colorSpace:", "elementType", "familyName", "indices", "corner", "crease", "hole", "trianglesub", "velocities",
)  # fmt: skip


def opinions(prim):
    """(type, value) of what is authored on a prim, by name, but for geometry."""
    found = {}
    for item in prim.GetAuthoredProperties():
        name = item.GetName()
        if name.startswith(GEOMETRY) and name != "material:binding:physics":
            continue
        if hasattr(item, "GetTargets"):
            targets = [str(path) for path in item.GetTargets()]
            found[name] = ("rel", sorted(targets) if name.startswith("collection:") else targets)
        else:
            found[name] = (str(item.GetTypeName()), item.Get())
    return found


def same(one, other):
    """Whether two USD values are one, up to the noise of 32 bits."""
    if isinstance(one, float) and isinstance(other, float):
        # An unlimited value can be written as the largest number that there is.
        if max(abs(one), abs(other)) > schema.units.PRACTICALLY_INFINITE:
            return math.copysign(1, one) == math.copysign(1, other) and min(abs(one), abs(other)) > 1e38
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=1e-9)
    if hasattr(one, "GetReal"):
        one, other = ((value.GetReal(), *value.GetImaginary()) for value in (one, other))
        return all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(one, other, strict=True))
    if hasattr(one, "__len__") and not isinstance(one, str):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return one == other


@pytest.mark.parametrize("name", NAMES)
def test_the_independent_comparer_finds_no_loss(trips, compare, name):
    source, once, _ = trips(name)
    figures = compare(source, once)
    assert figures["score"] == 1.0, figures["text"]
    assert figures["facts"] > 0
    assert figures["vendor"] in (None, 1.0), figures["text"]


@pytest.mark.parametrize("name", NAMES)
def test_a_second_trip_changes_nothing(trips, name):
    _, once, twice = trips(name)
    assert without_looks(twice) == without_looks(once)


def without_looks(path):
    """The text of a file without what materials look like: Blender 4.5 renames the shaders that it has imported."""
    from pxr import Sdf, Usd

    stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(path)))
    for prim in list(stage.Traverse()):
        if prim.GetTypeName() == "Shader":
            stage.RemovePrim(prim.GetPath())
        elif prim.GetTypeName() == "Material":
            prim.RemoveProperty("outputs:surface")
    return stage.GetRootLayer().ExportToString()
