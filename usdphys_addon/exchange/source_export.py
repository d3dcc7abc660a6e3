# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of an imported scene: its source with the edits since the import, and nothing else.

What nobody edited keeps the opinions of the source: references, payloads, instances, materials, time samples, all that
Blender does not know. What was edited is found by comparing the scene with the source and with the notes of the import.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Context, Material, Object, Scene

from ..bridge import authored_poses, curves, import_notes, props, scene_read
from ..bridge.environment import require_usd
from ..bridge.identity import remembered
from ..bridge.identity.names import prim_name
from ..bridge.identity.remembered import source_paths, used_materials
from ..bridge.placements import Placement
from ..bridge.reading import SceneReading
from ..core import frames, paths, summary, validate
from ..core.coasting import coasting_paths
from ..core.errors import InputError
from ..core.model import PhysicsModel, Prim
from ..core.proof import Proof
from ..core.runtimes import FILES, add_physx_words
from ..core.schemas import usd_geom, usd_physics
from ..core.validate import Issue, refuse_errors
from ..core.vendors import is_placeless
from ..system.collector import gc_paused
from ..system.files import USD_SUFFIXES, checked, first_changed, noted, scratch_folder
from . import packed_source
from .edited_geometry import Chosen, Geometry
from .image_files import brought
from .import_repair import world_conversion
from .materialx import SURFACE
from .source_outcome import counts_of, issues_of_edits, not_of_source, round_frames, told_apart
from .usd_export import ExportResult, moving_paths, report_scaled_velocities, report_uniform, report_unknown_units

if TYPE_CHECKING:
    from pxr import Usd

    from ..core.difference import Difference
    from ..core.units import StageUnits
    from ..usd.edit_layer import Form
    from ..usd.scene_edits import SceneEdits

#: Rounding of a local transform in 32 bits, relative to its largest number.
_NOISE = 2e-6
#: Bounds of a mesh, as an approximation, that are the gprim which it is in the file.
_BOUNDS = {"Sphere": "boundingSphere", "Cube": "boundingCube"}


@authored_poses.authored()
def export_edits(
    context: Context, filepath: str | Path, form: Form, *, physics_only: bool = False, strict: bool = False,
    physx_words: bool = False, converted: StageUnits | None = None, proves: bool | None = True,
    materialx: bool = False,
) -> ExportResult:  # fmt: skip
    """Write the source of the scene with the edits since the import. See `usd.edit_layer.write_edits` for the forms.

    The source is only read. physics_only: leave out all edits but those of the physics. strict: refuse errors that the
    edits have made. physx_words: see `core.runtimes`. converted: other units than those of the source. proves: hold the
    written file against the scene, see `core.proof`. materialx: for new and edited materials, see `materialx`. Raises
    InputError where the scene was not imported or its source is gone, and OutputError.
    """
    require_usd()
    with gc_paused():
        target = Path(bpy.path.abspath(str(filepath))).absolute()
        return _export(context, target, form, physics_only, strict, physx_words, converted, proves, materialx)


def source_of(scene: Scene) -> Path | None:
    """The USD file that a scene was imported from; None if it was not.

    Where it is gone, the same file that lies by the .blend as it did when both were elsewhere; else, or where it has
    changed, the one that is packed in the .blend.
    """
    memory = scene.usdphys.source
    if not memory.filepath:
        return None
    file = Path(bpy.path.abspath(memory.filepath))
    if file.suffix.lower() not in USD_SUFFIXES:
        return None
    is_packed = packed_source.is_packed(scene)
    if (file.is_file() and not (is_packed and first_changed(memory.files, file.parent))) or not memory.files:
        return file
    for above in Path(bpy.data.filepath).parents[:3] if bpy.data.filepath else ():
        for count in range(1, min(4, len(file.parts))):
            moved = above.joinpath(*file.parts[-count:])
            if moved.is_file() and not first_changed(memory.files, moved.parent):
                return moved
    return packed_source.stand_in(scene) or file


def files_of_source(scene: Scene) -> list[Path]:
    """The USD file that a scene was imported from, and those that it is composed of; none if it was not."""
    source = source_of(scene)
    if source is None:
        return []
    return [source, *noted(scene.usdphys.source.files, source.parent)]


def errors_of_source(scene: Scene) -> frozenset[tuple[str, str]]:
    """(code, name of the object, material or item) of the errors that the source of a scene has itself."""
    from ..usd import read as usd_read

    source = source_of(scene)
    if source is None or not source.is_file():
        return frozenset()
    try:
        old = usd_read.read_stage(usd_read.open_stage(source))
    except InputError:
        return frozenset()
    places = source_paths(scene, old.order)
    names = {path: name for known in (places.materials, places.objects) for name, path in known.items()}
    issues = validate.validate(old, check_geometry=False)
    return frozenset((issue.code, names.get(issue.path, "")) for issue in issues if issue.severity == "error")


def chosen_runtimes(scene: Scene) -> bool:
    """True if the scene was imported with a runtime variant, such as `/Robot{PhysX=Enabled}`."""
    lines = scene.usdphys.source.variants.splitlines()
    return any(line.endswith(f"{{{runtime}=Enabled}}") for line in lines for runtime in FILES)


def _export(
    context: Context, target: Path, form: Form, physics_only: bool, strict: bool,
    physx_words: bool, converted: StageUnits | None, proves: bool | None, materialx: bool,
) -> ExportResult:  # fmt: skip
    from ..usd import composition, edit_layer
    from ..usd import read as usd_read
    from ..usd import verify as usd_verify

    source = _checked_source(context.scene, form)
    comparison = compared(context, source)
    reading, stage, variants = comparison.reading, comparison.stage, comparison.variants
    if physx_words:
        add_physx_words(reading.model)
    issues = reading.issues + validate.validate(reading.model, check_geometry=False)
    issues = told_apart(issues, comparison.old)
    refuse_errors(issues, target, strict=strict)
    edits = comparison.physics_edits()
    units = usd_read.stage_units(stage)._replace(local_meters_per_unit=reading.model.units.meters_per_unit)
    result = ExportResult(target, issues, summary.counts(reading.model))
    if form == "layer":
        result.edited = 0
    result.proof = comparison.proof(physics_only=physics_only) if proves is not False else None
    with scratch_folder(checked(target, [source])) as folder:
        scene_edits = None if physics_only else comparison.scene_edits(folder, materialx=materialx)
        if scene_edits is not None:
            scene_edits.textures = partial(brought, folder, target)
            gone = frozenset(scene_edits.removed)
            edits.removed = tuple(path for path in edits.removed if not paths.nearest(path, gone))
        result.changed = counts_of(edits, comparison.old, scene_edits)
        written = edit_layer.write_edits(
            source, target, form, edits, scene_edits, units=units, variants=variants, converted=converted,
            check=partial(usd_verify.prove, result=result, strict=strict) if proves else None,
        )  # fmt: skip
    result.issues += comparison.issues
    report_scaled_velocities(reading.model, units, result.issues)
    if form == "layer":
        edited = _edited_prims(comparison, edits, scene_edits)
        result.edited, result.counts = len(edited), summary.counts(_physics_of(comparison, edited))
        result.issues = not_of_source(result.issues, comparison.old, edited)
    report_uniform(reading.model, reading.frame, result.issues)
    coasting = coasting_paths(comparison.new) - coasting_paths(comparison.old)
    result.issues += issues_of_edits(written, form, sorted(coasting))
    if converted is not None:
        if form != "flat" and composition.is_composed(stage):
            result.issues.append(Issue(
                "WrittenFlat", "warning", "", "",
                "In other units than the imported file's, the file is written flat: references, payloads, variants and "
                "sublayers are not in it.",
                "Export in the units and with the up axis of the imported file to keep them.",
            ))  # fmt: skip
        report_unknown_units(written.unconverted, result.issues)
    return result


def _checked_source(scene: Scene, form: Form) -> Path:
    """The file on which edits can be put in this form. Raises InputError."""
    source = source_of(scene)
    if source is None:
        raise InputError("The scene was not imported from a USD file, so there is no source to put edits on.")
    if not source.is_file():
        raise InputError(
            f"'{source}', from which the scene was imported, is gone; put it back, or export as Blender composes it."
        )
    if form == "layer" and packed_source.is_stand_in(source):
        raise InputError(
            f"'{source.name}', over which the layer would lie, is nowhere but in the .blend. {packed_source.UNPACK}"
        )
    return source


# --------------------------------------------------------------------------- comparison


def _edited_prims(comparison: Comparison, edits: Difference, found: SceneEdits | None) -> set[str]:
    """Paths of the prims that a layer edits, in the source or as they are new. Those with physics below a deleted one
    count, too.
    """  # fmt: skip
    removed = set(edits.removed)
    edited = {*edits.edits, *edits.added}
    if found is not None:
        removed.update(found.removed)
        edited.update(found.transforms, found.moves, found.objects, found.meshes, found.materials, found.bindings)
        edited.update(found.properties)
    return edited | removed | {path for path in comparison.old.prims if paths.nearest(path, removed)}


def _physics_of(comparison: Comparison, edited: Iterable[str]) -> PhysicsModel:
    known = [comparison.new.prims.get(path) or comparison.old.prims.get(path) for path in edited]
    return PhysicsModel(prims={prim.path: prim for prim in known if prim is not None})


def compared(context: Context, source: Path) -> Comparison:
    """The scene beside its source, a USD file, with the variants that were imported."""
    from ..core import difference
    from ..usd import composition
    from ..usd import read as usd_read

    scene: Any = context.scene
    variants = [composition.parse_choice(line) for line in scene.usdphys.source.variants.splitlines()]
    stage = usd_read.open_stage(source)
    composition.select_variants(stage, variants)
    for obj in scene.objects:
        if obj.mode == "EDIT":
            obj.update_from_editmode()
    context.view_layer.update()
    made = Comparison(context, source, stage, variants)
    made.new.animated = curves.in_time_codes(curves.sampled(context, made.reading.animated), scene, made.old.time_codes)
    difference.take_animated(made.old, made.new)
    return made


class Comparison:
    """A scene beside its source, a USD file. old, new: their physics, both by the paths of the source."""

    def __init__(self, context: Context, source: Path, stage: Usd.Stage, variants: list[Any]) -> None:
        from ..usd import opinions as usd_opinions
        from ..usd import read as usd_read

        self.context, self.source, self.stage, self.variants = context, source, stage, variants
        scene: Any = context.scene
        self.scene = scene
        self.issues: list[Issue] = []
        opinions = list(usd_opinions.of_stage(stage))
        meters = float(self.scene.unit_settings.scale_length) or 1.0
        self.old = usd_read.read_stage(stage, opinions, local_meters=meters)
        self.sources = source_paths(self.scene, self.old.order)
        self.reading: SceneReading = scene_read.read_scene(
            context.evaluated_depsgraph_get(), root="", sources=self.sources
        )
        self.new = self.reading.model
        self.placements = {
            placement.path: placement for placement in self.reading.placements if placement.instance is None
        }
        self.by_name = {placement.obj.name: placement for placement in self.placements.values()}
        self.living = set(self.sources.objects.values())
        self.parts: dict[str, str] = {}
        self.hidden = self.living - self.placements.keys()
        imported = [placement for path, placement in self.placements.items() if path in self.living]
        edits = import_notes.edits_of((placement.obj for placement in imported), self.sources.materials)
        self.edited = {placement.path: edited for placement, edited in zip(imported, edits, strict=True)}
        self.changes_of_place: dict[str, frames.Matrix] = {}
        self._report_hidden()
        self.removed = self._removed()
        self.moves = self._moves()
        self._leave_out_instancers(opinions)
        self._leave_out_what_blender_has_not()
        self._hold_what_joints_got()
        self._match_geometry()
        self._match_materials()

    def _report_hidden(self) -> None:
        """Report edits of objects that are not shown; the reading reports those with physics."""
        hidden = [self.scene.objects[name] for name, path in self.sources.objects.items() if path in self.hidden]
        hidden = [obj for obj in hidden if not props.is_physical(obj)]
        for obj, edited in zip(hidden, import_notes.edits_of(hidden, self.sources.materials), strict=True):
            if edited.transform or edited.data or edited.slots or edited.properties:
                self.issues.append(Issue(
                    "NotExported", "warning", self.sources.objects[obj.name], obj.name,
                    f"'{obj.name}' is hidden, so its edits are left out.", f"Show '{obj.name}' to write it.",
                ))  # fmt: skip

    def _removed(self) -> tuple[str, ...]:
        """Paths of imported prims whose objects were deleted; the topmost only.

        A prim that holds what is still in use stays: the default prim, those above materials, scenes and groups.
        """
        from pxr import UsdGeom

        physics = self.scene.usdphys
        used = {self.sources.materials.get(name, "") for name in used_materials(self.scene)}
        used |= {item.prim.path for item in (*physics.physics_scenes, *physics.collision_groups)}
        if self.living:
            used.add(self.sources.home)
        holders = {above for path in used if path for above in (path, *paths.ancestors_of(path))}
        gone = set()
        for path in self.sources.imported - self.living:
            prim = self.stage.GetPrimAtPath(path)
            if prim and (path not in holders or prim.IsA(UsdGeom.Gprim)):
                gone.add(path)
        return tuple(sorted(path for path in gone if not paths.is_below_any(path, gone)))

    # ------------------------------------------------------------------ physics

    def proof(self, *, physics_only: bool) -> Proof:
        """What Blender shows, at the paths of the file that is written. physics_only: which keeps its own places."""
        from ..usd import read as usd_read

        meters = usd_read.stage_units(self.stage).meters_per_unit
        local_units = meters / self.new.units.meters_per_unit if physics_only else None
        proof = Proof(self.new, moving=moving_paths(self.reading), local_units=local_units)
        if physics_only:
            # New objects, which is said; joints, scenes and groups are physics and nothing else.
            own = {*self.new.joints, *self.new.scenes, *self.new.groups}
            proof.left_out = frozenset(
                path for path in self.new.prims if path not in own and not self.stage.GetPrimAtPath(path)
            )  # fmt: skip
        else:
            proof.moves.append(self.moves)
        for kind, number in self.instanced.items():
            proof.counts[kind] += number
        return proof

    def _leave_out_instancers(self, opinions: Iterable[Any]) -> None:
        """Leave out point instancers: Blender shows them, and holds nothing of their prototypes."""
        from ..usd import composition

        instancers = frozenset(composition.instancer_paths(opinions))
        inside = {path: prim for path, prim in self.old.prims.items() if paths.nearest(path, instancers)}
        self.instanced = summary.counts(PhysicsModel(prims=inside))
        for model in (self.old, self.new):
            for path in [path for path in model.prims if paths.nearest(path, instancers)]:
                del model.prims[path]

    def _leave_out_what_blender_has_not(self) -> None:
        """Keep the old prims that are hidden, or that never became objects: nobody has removed them."""
        gone = frozenset(self.removed)
        # With the objects above it, a material goes that none of the others uses.
        for path in [path for path, prim in self.new.prims.items() if prim.type_name == "Material"]:
            if paths.nearest(path, gone):
                del self.new.prims[path]
        for path, prim in list(self.old.prims.items()):
            is_item = prim.type_name in ("PhysicsScene", "Material", "PhysicsCollisionGroup")
            if path in self.new.prims or is_item:
                continue
            if path in self.hidden or path not in self.sources.imported:
                if paths.nearest(paths.followed(path, self.moves), gone):
                    del self.old.prims[path]
                else:
                    self.new.add(self._as_in_blender(prim))
        self.new.other_paths = frozenset(
            path for path in self.old.order if not paths.nearest(paths.followed(path, self.moves), gone)
        )

    def _hold_what_joints_got(self) -> None:
        """Add prims for imported joints whose objects got colliders: the joint is below, and so are the colliders."""
        lost = {path for path, prim in self.old.prims.items() if is_placeless(prim)} - self.new.prims.keys()
        holders = {above for path in self.new.prims for above in paths.ancestors_of(path)} if lost else set()
        for path in sorted(lost & holders & self.placements.keys()):
            placement = self.placements[path]
            world = placement.matrix.astype(float)
            world[:3, 3] *= float(self.scene.unit_settings.scale_length) or 1.0
            self.new.add(Prim(path, "Xform", world, label=placement.chain[-1]))

    def _as_in_blender(self, prim: Prim) -> Prim:
        """A prim of the source with the place that its object has: in Blender, the unit of the file is a scale."""
        made, world = copy(prim), prim.world.copy()
        world[:3, :3] *= self.old.units.meters_per_unit / self.new.units.meters_per_unit
        above = next((path for path in paths.ancestors_of(prim.path) if path in self.placements), "")
        made.world = self._change_of_place(above) @ world if above and not prim.resets_xform_stack else world
        return made

    def _change_of_place(self, path: str) -> frames.Matrix:
        """(4, 4), metres: takes what the source has below a shown object to where the object has it now."""
        from ..usd.rest_time import place_cache

        change: frames.Matrix = self.changes_of_place.get(path, np.eye(4))
        usd_prim = self.stage.GetPrimAtPath(path)
        if path in self.changes_of_place or not usd_prim:
            return change
        before = self._turn @ np.array(place_cache(usd_prim).GetLocalToWorldTransform(usd_prim)).T
        now = self.placements[path].matrix.astype(float)
        is_moved = np.abs(now - before).max() > _NOISE * max(1.0, float(np.abs(before).max()))
        if is_moved and not frames.is_flat(frames.determinant(before)):
            change = now @ np.linalg.inv(before)
            change[:3, 3] *= float(self.scene.unit_settings.scale_length) or 1.0
        self.changes_of_place[path] = change
        return change

    @cached_property
    def _turn(self) -> frames.Matrix:
        """(4, 4): converts the units and the up axis of the source to Blender's."""
        from pxr import UsdGeom

        meters = float(self.scene.usdphys.source.meters or 1.0)
        return np.array(world_conversion(self.stage, UsdGeom.GetStageMetersPerUnit(self.stage) / meters), float)

    def _match_geometry(self) -> None:
        """Geometry that does not collide keeps its type: Blender has meshes in place of gprims, which is no edit."""
        for path in self.old.prims.keys() | self.new.prims.keys():
            before, after = self.old.prims.get(path), self.new.prims.get(path)
            if after is not None and after.get(usd_physics.CollisionAPI) is None and path in self.old.order:
                type_name = self._type_before(path)
                if not any(one is not None and is_placeless(one) for one in (before, after)):
                    after.type_name = type_name
            is_collider = after is not None and after.get(usd_physics.CollisionAPI) is not None
            for prim in (before, after):
                if prim is not None and not is_collider:
                    _drop_gprim(prim)

    def _match_materials(self) -> None:
        """Take over the old materials of objects whose slots are as imported: Blender binds meshes in its own way."""
        for path, prim in self.new.prims.items():
            before, edited = self.old.prims.get(path), self.edited.get(path)
            if before is None or edited is None:
                continue
            if not edited.slots:
                # A physics material of its own that was changed counts, whatever the slots are.
                if prim.physics_binding == before.physics_binding:
                    prim.materials = before.materials
            elif {*before.materials} - {""} == {*prim.materials} - {""}:
                prim.materials, prim.physics_binding = before.materials, before.physics_binding

    def physics_edits(self) -> Difference:
        """The edits of the physics, without noise of 32 bits."""
        from ..core import difference

        edits = difference.difference(self.old, self.new)
        round_frames(edits)
        # Of an instance Blender writes nothing here, and so binds nothing.
        brought = {one.geometry or one.path for one in self.reading.placements if one.instance is not None}
        for path in edits.added.keys() & brought:
            prim, physical = edits.added[path], self.new.materials
            if not prim.physics_binding and prim.get(usd_physics.CollisionAPI) is not None:
                prim.physics_binding = next((one for one in reversed(prim.materials) if one in physical), "")
        self._keep_from_inheriting(edits)
        return edits

    def _keep_from_inheriting(self, edits: Difference) -> None:
        """Bind colliders below others that get another physics material: USD prefers that to what they bind for all."""
        from ..core.difference import PrimEdit

        bound = {path for path, edit in edits.edits.items() if edit.binding}
        for path, prim in self.new.prims.items() if bound else ():
            own = [one for one in prim.materials if one]
            if path in bound or path in edits.added or prim.physics_binding or not own:
                continue
            if prim.get(usd_physics.CollisionAPI) is not None and paths.nearest(path, bound):
                edits.edits.setdefault(path, PrimEdit(prim)).binding = own[-1]

    # ------------------------------------------------------------------ the rest of the scene

    def scene_edits(self, folder: Path, *, materialx: bool = False) -> SceneEdits:
        """All edits but those of the physics. folder: for a temporary file. materialx: of new and edited materials."""
        edits, chosen = self.placed_edits()
        if chosen:
            geometry = Geometry(
                self.context, self.placements.values(), self.sources, self.material_path, chosen, edits
            )  # fmt: skip
            geometry.add(folder, has_materialx=materialx)
            self.issues += geometry.issues
            self._report_other_looks(edits.materials, materialx=materialx)
        for path in chosen.new:
            spec = (
                edits.geometry.GetPrimAtPath(edits.objects[path]) if edits.geometry and path in edits.objects else None
            )
            if spec is None or is_placeless(self.new.prims.get(path, Prim(path))):
                edits.transforms.pop(path, None)
        return edits

    def _report_other_looks(self, edited: Iterable[str], *, materialx: bool) -> None:
        """Report shaders of other renderers in edited materials. materialx: those of MaterialX are written anew."""
        names = {path: name for name, path in self.sources.materials.items()}
        for path in edited:
            prim = self.stage.GetPrimAtPath(path)
            outputs = [item.GetName() for item in prim.GetAuthoredAttributes()] if prim else []
            kept = [
                name for name in outputs
                if name.startswith("outputs:") and name.count(":") > 1 and not (materialx and name == SURFACE)
            ]  # fmt: skip
            if kept:
                self.issues.append(Issue(
                    "ShaderKept", "warning", path, names.get(path, ""),
                    f"The look of '{names.get(path, path)}' was edited, and its shaders of other renderers "
                    f"({', '.join(kept)}) are as they were in the file.",
                    "Edit them in a program that has these shaders, or export as Blender composes it to leave them "
                    "out.",
                ))  # fmt: skip

    def placed_edits(self) -> tuple[SceneEdits, Chosen]:
        """(edits of places, names and materials, objects of which Blender would have to write more)."""
        from ..usd.scene_edits import SceneEdits

        edits = SceneEdits(removed=self.removed, moves=self.moves)
        chosen = self._chosen()
        for path, placement in self.placements.items():
            if path in chosen.new:
                edits.transforms[path] = self._local(placement, path)
            elif path in self.edited and (
                self.edited[path].transform or self._has_new_parent(path, placement.obj)
                or self._is_below_moved(placement) or self._gets_a_place(path)
            ):  # fmt: skip
                self._add_transform(edits, path, placement)
        for path in self._left_behind(edits):
            self._add_transform(edits, path, self.placements[path])
        for path, edited in self.edited.items():
            if edited.slots:
                edits.bindings[path] = self._binding(self.placements[path])
        for path in self._without_inherited(edits):
            edits.bindings[path] = self._binding(self.placements[path])
        return edits, chosen

    def _without_inherited(self, edits: SceneEdits) -> list[str]:
        """Paths of imported objects whose materials are as they were, and which no longer inherit them."""
        if not (edits.bindings or self.removed or self.moves):
            return []
        gone, found = frozenset(self.removed), []
        for path, edited in self.edited.items():
            if edited.slots or not self._binding(self.placements[path]):
                continue
            bound = (path, *paths.ancestors_of(path))
            above = next((one for one in bound if self._is_bound(one)), path)
            if above != path and (
                above in edits.bindings or paths.nearest(above, gone)
                or not paths.is_below(paths.followed(path, self.moves), paths.followed(above, self.moves))
            ):  # fmt: skip
                found.append(path)
        return found

    def _is_bound(self, path: str) -> bool:
        """Whether a prim of the source binds a material itself."""
        prim = self.stage.GetPrimAtPath(path)
        return bool(prim) and prim.GetRelationship("material:binding").HasAuthoredTargets()

    def _left_behind(self, edits: SceneEdits) -> list[str]:
        """Paths of imported objects that edited ones have moved with them in Blender, and whose prims do not move along
        because they reset the transform stack."""
        from pxr import UsdGeom

        moved = edits.transforms.keys()
        if not moved:
            return []
        carried = [
            path for path, placement in self.placements.items()
            if path in self.edited and path not in moved and any(above.path in moved for above in placement.ancestors())
        ]  # fmt: skip
        prims = ((path, UsdGeom.Xformable(self.stage.GetPrimAtPath(path))) for path in carried)
        return [path for path, prim in prims if prim and prim.GetResetXformStack()]

    def _has_new_parent(self, path: str, obj: Object) -> bool:
        """Whether an object has another parent than its prim, which can be another than in Blender, see `parent_of`."""
        parent = self.sources.parent_of(obj)
        if parent != obj.parent:
            return True
        before, now = paths.parent_of(path), self.sources.objects.get(parent.name, "?") if parent is not None else ""
        return now != (before if before in self.sources.imported else "")

    def _is_below_moved(self, placement: Placement) -> bool:
        """Whether hidden objects, which are written as they were imported, have moved this one with them, or kept it
        where it is: they are no longer below what they were.
        """  # fmt: skip
        above = self.sources.parent_of(placement.obj)
        while above is not None and (path := self.sources.objects.get(above.name)) in self.hidden:
            if import_notes.is_moved(above) or self._has_new_parent(path, above):
                return True
            above = self.sources.parent_of(above)
        return False

    def _gets_a_place(self, path: str) -> bool:
        """Whether a prim without a place, such as a joint, becomes one with a place: a body or a collider."""
        before, after = self.old.prims.get(path), self.new.prims.get(path)
        return before is not None and after is not None and is_placeless(before) and not is_placeless(after)

    def _add_transform(self, edits: SceneEdits, path: str, placement: Placement) -> None:
        """Add the transform of an imported object if it is another than the prim's."""
        from pxr import UsdGeom

        usd_prim = self.stage.GetPrimAtPath(path)
        prim = self.new.prims.get(path)
        if prim is not None and is_placeless(prim):
            return
        takes_place = usd_prim and (usd_prim.IsA(UsdGeom.Xformable) or usd_prim.GetTypeName() in ("", "Scope"))
        if not takes_place and not (usd_prim and self._gets_a_place(path)):
            return
        local, before = self._local(placement, path), self.local_before(path)
        if np.abs(local - before).max() <= _NOISE * max(1.0, float(np.abs(before).max())):
            return
        edits.transforms[path] = local
        xformable = UsdGeom.Xformable(usd_prim)
        if xformable and xformable.TransformMightBeTimeVarying():
            self.issues.append(Issue(
                "AnimationReplaced", "warning", path, placement.obj.name,
                f"'{placement.obj.name}' was moved, so its animation in the source is replaced by the new place.",
                f"Undo the move of '{placement.obj.name}' to keep the animation.",
            ))  # fmt: skip
        if placement.obj.constraints or placement.obj.animation_data:
            self.issues.append(Issue(
                "AnimationLeftOut", "warning", path, placement.obj.name,
                f"'{placement.obj.name}' is animated in Blender; its place at the current frame was written.",
                "Export as Blender composes it, with the animation, to write time samples.",
            ))  # fmt: skip

    def local_before(self, path: str) -> frames.Matrix:
        """Local matrix (4, 4) of a prim of the source, in its numbers; the identity for one without a place."""
        from pxr import UsdGeom

        from ..usd import read as usd_read
        from ..usd.rest_time import place_cache

        prim = self.stage.GetPrimAtPath(path)
        if not prim.IsA(UsdGeom.Xformable):
            return np.eye(4)
        local, _ = usd_read.local_transform(place_cache(prim), prim)
        return np.array(local, float).T

    def _local(self, placement: Placement, path: str) -> frames.Matrix:
        """Local matrix (4, 4) of the prim of an object, in the numbers of the source."""
        from pxr import UsdGeom

        usd_prim = self.stage.GetPrimAtPath(path)
        above = placement.parent
        resets = bool(usd_prim and UsdGeom.Xformable(usd_prim) and UsdGeom.Xformable(usd_prim).GetResetXformStack())
        place = paths.parent_of(paths.followed(path, self.moves))
        if above is None and not resets:
            above = self._at_new_path.get(place)
        if above is not None and not resets:
            obj: Any = placement.obj
            plain = obj.parent is above.obj and obj.parent_type == "OBJECT" and not obj.constraints
            has_delta = any(obj.delta_location) or any(obj.delta_rotation_euler) or any(
                part != 1.0 for part in obj.delta_scale
            )  # fmt: skip
            if plain and not has_delta and obj.animation_data is None:
                local: frames.Matrix = np.array(obj.matrix_parent_inverse, float) @ np.array(obj.matrix_basis, float)
                return local
            return self._below(above.matrix.astype(float), placement)
        return self._below(self._turn if resets else self._place_in_file(place), placement)

    def _below(self, above: frames.Matrix, placement: Placement) -> frames.Matrix:
        """The local matrix (4, 4) of an object below a place (4, 4); reports it where none leads to the object."""
        world = placement.matrix.astype(float)
        local = frames.place_below(above, world)
        if np.abs(above @ local - world).max() > _NOISE * max(1.0, float(np.abs(world).max())):
            name = placement.obj.name
            self.issues.append(Issue(
                "PlaceNotWritten", "warning", placement.path, name,
                f"'{name}' is not written at its place, because what is above it is scaled to nothing.",
                f"Give the parents of '{name}' a scale, or remove them.",
            ))  # fmt: skip
        return local

    def _place_in_file(self, path: str) -> frames.Matrix:
        """The place in Blender (4, 4) that what is written at a path has there.

        What is hidden, or no object, stays as it is below the nearest object that is shown.
        """
        from ..usd.rest_time import place_cache

        below: frames.Matrix = np.eye(4)
        resets = False
        while path and not resets:
            shown = self._at_new_path.get(path)
            if shown is not None:
                return np.asarray(shown.matrix.astype(float) @ below)
            usd_prim = self.stage.GetPrimAtPath(paths.followed(path, self._origins))
            if not usd_prim:
                break
            local, resets = place_cache(usd_prim).GetLocalTransformation(usd_prim)
            below, path = np.array(local).T @ below, paths.parent_of(path)
        return np.asarray(self._turn @ below)

    @cached_property
    def _origins(self) -> dict[str, str]:
        """Paths in the source by the paths that they have after all moves."""
        return {new: old for old, new in self.moves.items()}

    @cached_property
    def _at_new_path(self) -> dict[str, Placement]:
        """The shown objects by the paths that they have after all moves."""
        return {paths.followed(placement.path, self.moves): placement for placement in self.placements.values()}

    def _moves(self) -> dict[str, str]:
        """New paths of imported things that were renamed, or given another parent."""
        placed = {name: placement.path for name, placement in self.by_name.items()}
        # A parent need not be in the scene.
        objects = remembered.objects_by_name(with_linked=True)
        moves = self.sources.moves(objects, placed, remembered.is_renamed, self.old.order)
        physics = self.scene.usdphys
        materials = (material for material in bpy.data.materials if material.name in self.sources.materials)
        for thing in (*materials, *physics.physics_scenes, *physics.collision_groups):
            origin = remembered.memory_of(thing).path
            if origin and remembered.is_renamed(thing) and self.stage.GetPrimAtPath(origin):
                place = moves.followed(paths.parent_of(origin))
                moves.add(origin, f"{place}/{prim_name(thing.name)}", thing.name)
        for name, wanted, path in moves.changed:
            self.issues.append(Issue(
                "NameChanged", "info", path, name,
                f"'{name}' is written as '{paths.name_of(path)}', because the source has a prim '{wanted}'.",
                f"Give '{name}' a name that no prim of the source has.",
            ))  # fmt: skip
        return moves.new

    # ------------------------------------------------------------------ geometry and materials

    def edited_materials(self) -> dict[str, str]:
        """Paths of the imported materials whose look was edited, by name."""
        known = self.sources.materials
        imported = [material for material in bpy.data.materials if known.get(material.name)]
        return {
            material.name: known[material.name] for material in imported
            if import_notes.edited_inputs(material) != frozenset()
        }  # fmt: skip

    def items_of(self, scene: Scene) -> dict[str, Any]:
        """Physics scenes and collision groups of a scene by the prims that they were imported from."""
        physics: Any = scene.usdphys
        return {item.prim.path: item for item in (*physics.physics_scenes, *physics.collision_groups) if item.prim.path}

    def _chosen(self) -> Chosen:
        """The objects whose geometry or materials Blender has to write."""
        chosen = Chosen()
        edited_materials = self.edited_materials().keys()
        for path, placement in self.placements.items():
            obj = placement.obj
            edited = self.edited.get(path)
            if edited is None:
                chosen.new[path] = placement
                continue
            if edited.properties:
                chosen.properties[path] = placement
            slots = {slot.material.name for slot in obj.material_slots if slot.material is not None}
            takes_faces = edited.slots and len(slots) > 1 and obj.type == "MESH"
            if takes_faces and (gprim := self._gprim(path)):
                takes_faces = False
                self.issues.append(Issue(
                    "DataEditLeftOut", "warning", path, obj.name,
                    f"'{obj.name}' has several materials, of which only the first is written: its collider is a "
                    f"{gprim}, and has no faces.",
                    f"Give '{obj.name}' one material, or its mesh as the collider.",
                ))  # fmt: skip
            if takes_faces or self._becomes_mesh(path) or (edited.data and self._takes_geometry(path, obj)):
                chosen.changed[path] = placement
            elif slots & edited_materials or not slots <= self.sources.materials.keys():
                chosen.looks[path] = placement
        known = self.new.prims
        chosen.merged = frozenset(
            path for path in (*chosen.new, *chosen.changed) if path in known and known[path].type_name == "Mesh"
        )
        chosen.faces = frozenset(
            path for path, placement in chosen.new.items()
            if (prim := known.get(placement.geometry)) is not None and prim.type_name == "Mesh"
        )  # fmt: skip
        return chosen

    def _type_before(self, path: str) -> str:
        """The type of a prim of the source."""
        before = self.old.prims.get(path)
        return before.type_name if before is not None else self.old.other_types.get(path, "")

    def _gprim(self, path: str) -> str:
        """The type of a collider that is a gprim; empty for others."""
        prim = self.new.prims.get(path)
        return prim.type_name if prim is not None and prim.get(usd_geom.Gprim) is not None else ""

    def _becomes_mesh(self, path: str) -> bool:
        """True for a collider that was a gprim in the source, and is now the mesh of its object."""
        after, type_name = self.new.prims.get(path), self._type_before(path)
        if type_name not in usd_geom.GPRIM_TYPES or after is None or after.type_name != "Mesh":
            return False
        mesh = after.get(usd_physics.MeshCollisionAPI)
        # One that had physics gets the type Mesh, which is nothing without points.
        is_its_bounds = path not in self.old.prims and not self.edited[path].data and (
            mesh is not None and mesh.approximation == _BOUNDS.get(type_name)
        )  # fmt: skip
        return after.get(usd_physics.CollisionAPI) is not None and not is_its_bounds

    def _takes_geometry(self, path: str, obj: Object) -> bool:
        """True if the changed data of an object can be written to its prim; reports where it cannot."""
        prim = self.new.prims.get(path)
        if any(modifier.type == "MESH_SEQUENCE_CACHE" for modifier in obj.modifiers):
            reason = "its points are animated in the source"
        elif obj.type == "MESH" and self._type_before(path) == "TetMesh":
            if self.edited[path].parts <= {"points", "shading"}:
                return True
            reason = "its tetrahedra have other points; make them anew as a new object"
        elif obj.type == "MESH" and remembered.is_geometry(obj):
            if prim is None or prim.get(usd_geom.Gprim) is None:
                return True
            if self.edited[path].parts <= {"points", "shading"}:
                return False  # the size of the gprim says it
            reason = f"its collider is a {prim.type_name}, which has a size and no mesh"
        else:
            kind = self._gprim(path) or obj.type.lower().replace("_", " ")
            reason = f"the source keeps its own {kind}"
        self.issues.append(Issue(
            "DataEditLeftOut", "warning", path, obj.name,
            f"The data of '{obj.name}' was edited, which is not written: {reason}.",
            "Export as Blender composes it to write the data.",
        ))  # fmt: skip
        return False

    def _binding(self, placement: Placement) -> str:
        """Path of the first material of an object; empty if it has none."""
        material = next((slot.material for slot in placement.obj.material_slots if slot.material is not None), None)
        return "" if material is None else self.material_path(material)

    def material_path(self, material: Material) -> str:
        known = self.sources.materials.get(material.name) or self.reading.materials.get(material.name_full)
        return known or f"{self.sources.looks}/{prim_name(material.name)}"


def _drop_gprim(prim: Prim) -> None:
    for name in [name for name, value in prim.schemas.items() if isinstance(value, usd_geom.Gprim)]:
        del prim.schemas[name]
