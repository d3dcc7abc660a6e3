# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of glTF: Blender's own exporter writes the file, and the finished file gets the physics.

Hooks only watch which object becomes which node. Through the exporter's own dictionaries empty objects would vanish,
and large scenes would take twice the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Object, PropertyGroup

from ..bridge import authored_poses, scene_read
from ..bridge.identity import remembered
from ..bridge.reading import DEFAULT_ROOT, SceneReading
from ..bridge.writing import unit_length
from ..core import frames, summary, validate
from ..core.errors import InputError, OutputError
from ..core.model import PhysicsModel
from ..core.proof import issues_of
from ..core.readers import READERS
from ..core.validate import Issue, refuse_errors
from ..core.words import named
from ..gltf import keep, names, scaling, verify
from ..gltf import write as gltf_write
from ..gltf.additions import WriteOptions, Written
from ..gltf.document import Document
from ..system.collector import gc_paused
from ..system.console import printed_on_success
from ..system.files import GLTF_SUFFIXES, checked, replace_together, scratch_folder
from . import gltf_calls, gltf_instances, gltf_memory
from .gltf_import import require_blenders_gltf
from .usd_export import ExportResult, report_animation, report_values_left_out

#: Looking a type up in bpy.types takes longer than a check of many objects should.
_OBJECT: Any = bpy.types.Object
FAMILIES = {"BOTH": names.FAMILIES, "KHR": (names.KHR,), "OMI": (names.OMI,)}


def options_of(settings: PropertyGroup) -> WriteOptions:
    """The options that are set in the dialog of the exporter."""
    reader = READERS.get(settings.reader.lower())
    return WriteOptions(
        FAMILIES[settings.families], settings.hierarchy == "FLAT", settings.keeps_usd, settings.is_for_godot,
        reader.target if reader is not None else None,
    )  # fmt: skip


@dataclass(slots=True)
class _Watched:
    """One scene of an export: its physics, and which object became which node.

    vnodes: of the exporter, by the names of the objects from the root down. alike: those of which several have the same
    names, as the instances on vertices have. instances: those that geometry nodes have made, by the name of
    the object that has them and by their place. copies: those of children that are instanced on vertices and faces, by
    the names of the object that has these and of the child. lenses: paths of cameras and lamps.
    """

    reading: SceneReading
    vnodes: dict[tuple[str, ...], Any] = field(default_factory=dict)
    alike: dict[tuple[str, ...], list[Any]] = field(default_factory=dict)
    instances: dict[tuple[str, bytes], list[Any]] = field(default_factory=dict)
    copies: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    beside: keep.Beside = field(default_factory=keep.Beside)
    lenses: list[str] = field(default_factory=list)


class _Alike:
    """Nodes of objects with the same names, which only their places tell from each other."""

    def __init__(self, vnodes: list[Any]) -> None:
        self.vnodes = vnodes
        self.places = np.array([vnode.matrix_world for vnode in vnodes], float)

    def take(self, place: Any) -> Any:
        """The node that is at a place (4, 4); None if none is there. Of two in one place, each is taken once."""
        off = np.abs(self.places - place).max(axis=(1, 2))
        nearest = int(np.argmin(off))
        if not off[nearest] <= 1e-5 * max(1.0, float(np.abs(place).max())):
            return None
        self.places[nearest] = np.inf
        return self.vnodes[nearest]


class GltfExport:
    """One export. issues, counts: what was found and written."""

    def __init__(
        self, options: WriteOptions, *, checks: bool = True, is_own: bool = False, is_still: bool = False,
        proves: bool = True,
    ) -> None:  # fmt: skip
        """checks: look for mistakes in the physics, which takes as long as writing it. is_own: the file gets metres.

        is_still: name the objects that move over time. proves: hold the file against the scene, see `core.likeness`.
        """
        self.proves = proves
        self.options, self.checks, self.is_own, self.is_still = options, checks, is_own, is_still
        self.scenes: list[_Watched] = []
        self.issues: list[Issue] = []
        self.counts: dict[str, int] = {}
        self.is_done = False

    def mend_instances(self, vtree: Any) -> None:
        """Have collection instances written as Blender shows them, and name what stays out."""
        for name, left_out in gltf_instances.mend(vtree).items():
            self.issues.append(Issue(
                "GltfInstanceIncomplete", "warning", "", name, "Blender's glTF exporter leaves these objects out of "
                f"the collection instance '{name}': {named(left_out)}.",
                f"Make the instances of '{name}' real before the export.",
            ))  # fmt: skip

    def watch_scene(self, vtree: Any, settings: dict[str, Any]) -> None:
        """Read the physics of the scene whose nodes are about to be written."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        scene: Any = bpy.context.scene
        self.issues += authored_poses.issues_of_export()
        if not self.is_own and _is_scaled():
            self.issues.append(Issue(
                "GltfUnitScale", "warning", "", "", "Blender's glTF exporter ignores the unit scale of the scene "
                f"({scene.unit_settings.scale_length:g}) and writes one unit as "
                "one metre; so does the physics.",
                "Set the unit scale to 1 and scale the objects.",
            ))  # fmt: skip
        if settings.get("gltf_use_gltfpack"):
            self.issues.append(Issue(
                "GltfPacked", "warning", "", "", "gltfpack drops the physics from the file in the folder 'gltfpacked'; "
                "the file beside that folder has it.", "Use the unpacked file, or switch gltfpack off.",
            ))  # fmt: skip
        if not settings.get("gltf_yup", True):
            self.issues.append(Issue(
                "GltfZUp", "error", "", "", "+Y Up is off, so the file is no valid glTF, and its physics is left out.",
                "Switch +Y Up on.",
            ))  # fmt: skip
            return
        root = "" if scene.usdphys.source.filepath else DEFAULT_ROOT
        reading = scene_read.read_scene(depsgraph, root=root, meters=None if self.is_own else 1.0)
        for prim in reading.model.prims.values():
            if prim.mesh is not None:
                # The evaluated objects are gone when the file is finished.
                prim.mesh()
        watched = _Watched(reading)
        if self.options.keeps_usd:
            gltf_memory.recall_scene(scene, reading, watched.beside)
        for uuid, vnode in vtree.nodes.items():
            chain = _chain(vtree, vnode)
            if chain and gltf_instances.is_copy(vtree, uuid):
                above = vtree.nodes[vnode.parent_uuid].blender_object
                watched.copies.setdefault((above.name_full, chain[-1]), []).append(vnode)
            elif chain:
                if watched.vnodes.setdefault(chain, vnode) is not vnode:
                    watched.alike.setdefault(chain, [watched.vnodes[chain]]).append(vnode)
            elif getattr(vnode, "original_object", None) is not None:
                place = np.array(vnode.matrix_world).tobytes()
                watched.instances.setdefault((vnode.original_object.name, place), []).append(vnode)
        issues = list(reading.issues)
        if self.is_still:
            report_animation(reading, set(), issues)
        fix = "glTF holds no animation of physics; export USD to keep it."
        report_values_left_out(reading.model, reading.frame, issues, fix)
        if self.checks or self.options.target is not None:
            wanted: Any = "flat" if self.options.is_flat else "nested"
            issues += validate.validate(
                reading.model, self.options.target or "usd", hierarchy=wanted, check_geometry=False
            )  # fmt: skip
        if settings.get("gltf_selected"):
            # Joints of the selection may hold others, so all were read.
            placements: Any = reading.placements
            others = [each for each in placements if not each.obj.original.select_get()]
            left_out = {str(each.obj.name) for each in others}
            issues = [issue for issue in issues if issue.label not in left_out]
            roots = {each.path for each in others}
            for path in [path for path, prim in reading.model.prims.items() if prim.label in left_out]:
                if path in roots or path.rpartition("/")[0] in roots:
                    del reading.model.prims[path]
        self.issues += issues
        self.scenes.append(watched)

    def is_guide(self, obj: Object) -> bool:
        """True for an object that is only a collider: its mesh is not to be seen."""
        if not isinstance(obj, _OBJECT) or not obj.hide_render:
            return False
        physics: Any = obj.usdphys
        return "colliders" in physics.keys() and bool(len(physics.colliders))

    def number_nodes(self, gltf: Any) -> None:
        """Find the index of each object's node; they are final now."""
        _drop_properties(gltf)
        numbers = {id(node): index for index, node in enumerate(gltf.nodes)}
        for watched in self.scenes:
            by_name: dict[str, Any] | None = None
            copies, alike = ({names_: _Alike(vnodes) for names_, vnodes in found.items()}
                             for found in (watched.copies, watched.alike))  # fmt: skip
            for placement in watched.reading.placements:
                chain = _full_chain(placement)
                found = copies.get((placement.instance[0], chain[-1])) if placement.instance else None
                found = alike.get(chain) if found is None else found
                if found is not None:
                    vnode = found.take(placement.matrix)
                else:
                    vnode = watched.vnodes.get(chain) if placement.instance is None else None
                    if vnode is None:
                        by_name = _only_by_name(watched.vnodes) if by_name is None else by_name
                        vnode = _vnode_of(watched, placement, chain, by_name)
                index = numbers.get(id(vnode.node)) if vnode is not None and vnode.node is not None else None
                if index is None:
                    continue
                watched.nodes[placement.path] = index
                if placement.obj.type in ("CAMERA", "LIGHT"):
                    watched.lenses.append(placement.path)
                extras = remembered.extras_of(placement.physics.prim.extras) if "prim" in placement.touched else {}
                if "path" in extras:
                    # Of the glTF file that the object was imported from.
                    watched.origins.setdefault(str(extras["path"]), index)
            watched.vnodes, watched.alike, watched.instances, watched.copies = {}, {}, {}, {}

    def write(self, file: str) -> None:
        """Put the physics into the finished file, which is replaced in one step."""
        wanted = [watched for watched in self.scenes if _has_physics(watched.reading.model)]
        self.is_done = True
        is_scaled = self.is_own and _is_scaled()
        if not wanted and not is_scaled and bpy.app.version >= (5, 0):
            return
        document = Document.load(file)
        if is_scaled:
            scaling.scale_lengths(document, unit_length(bpy.context.scene))
        # Before Blender 5.0 the properties of add-ons are custom properties, which the exporter writes on request.
        had_properties = document.drop_extras("usdphys")
        if not wanted:
            if had_properties or is_scaled:
                document.save(file)
            return
        before = len(document.nodes)
        for watched in wanted:
            _put_sheared_in_place(document, watched, unit_length(bpy.context.scene) if is_scaled else 1.0)
        written = Written()
        is_kept = self.options.keeps_usd and len(wanted) == 1 and not self.options.is_flat
        options = replace(self.options, keeps_usd=is_kept)
        for watched in wanted:
            reading = watched.reading
            for path in watched.lenses:
                if path in reading.model.prims:
                    self._stand_before(document, watched, path)
            written = gltf_write.write(
                document, reading.model, watched.nodes, options, watched.origins, gltf_memory.carrying(reading)
            )  # fmt: skip
            self.issues += written.issues
            for kind, number in summary.counts(reading.model).items():
                self.counts[kind] = self.counts.get(kind, 0) + number
        if not is_kept:
            # The file has no word for the first, and of the second only a gravity that is not the Earth's.
            self.counts["articulations"] = 0
            self.counts["scenes"] = int(names.GRAVITY in document.json.get("extensions", {}))
        if is_kept:
            beside = wanted[0].beside
            beside.nodes, beside.made = wanted[0].nodes, before
            keep.put(document, wanted[0].reading.model, beside)
        document.save(file)
        # Of several scenes, only the first is read again.
        if self.proves and len(wanted) == 1:
            self.issues += issues_of(verify.differences(Path(file), wanted[0].reading.model, written))

    def _stand_before(self, document: Document, watched: _Watched, path: str) -> None:
        """Give the physics of a camera or lamp a node above: in glTF these look along another axis, and are turned."""
        prim, index = watched.reading.model.prims[path], watched.nodes[path]
        turned = document.world(index)
        if np.abs(frames.rotation_of(turned) - frames.rotation_of(prim.world)).max() < 1e-3:
            return
        parent, name = document.parents[index], document.node_name(index)
        scene = next((number for number, one in enumerate(document.json["scenes"]) if index in one["nodes"]), None)
        above = watched.nodes[path] = document.add_node({"name": name}, parent, scene)
        local = prim.world if parent is None else np.linalg.solve(document.world(parent), prim.world)
        document.place(above, np.asarray(local, float))
        if index not in document.animated():
            document.detach(index)
            document.put_below(index, above)
            document.place(index, np.asarray(np.linalg.solve(document.world(above), turned), float))
        document.nodes[index]["name"] = f"{name}_{'camera' if 'camera' in document.nodes[index] else 'light'}"


def _put_sheared_in_place(document: Document, watched: _Watched, meters: float) -> None:
    """Put nodes where Blender shows their objects that are turned within an uneven scale of their parents.

    A node holds translation, rotation and scale, so Blender's exporter writes a place that is only near. A node between
    takes the scale out. Joints are left to the writer, which places their frames. meters: length of a Blender unit in
    the file.
    """
    others = {*watched.lenses, *watched.reading.model.joints}
    held = [
        (one.path, one.parent.matrix, one.matrix) for one in watched.reading.placements
        if one.parent is not None and one.path in watched.nodes and one.path not in others
    ]  # fmt: skip
    if not held:
        return
    placed, *matrices = zip(*held, strict=True)
    above, own = (np.array(one, float) for one in matrices)
    known = np.abs(np.linalg.det(above)) > 0.0
    local = np.linalg.solve(above[known], own[known])[:, :3, :3]
    lengths = np.linalg.norm(local, axis=1, keepdims=True)
    axes = local / np.where(lengths, lengths, 1.0)
    is_sheared = np.abs(np.triu(np.swapaxes(axes, 1, 2) @ axes, 1)).max(axis=(1, 2)) > 1e-4
    for number in np.flatnonzero(known)[is_sheared]:
        index = watched.nodes[placed[number]]
        parent, world = document.parents[index], own[number].copy()
        world[:3, 3] *= meters
        if parent is None or index in document.animated() or "skin" in document.nodes[index]:
            continue
        holder = document.world(parent)
        scale = np.abs(frames.scale_of(holder))
        if frames.is_sheared(world) or frames.is_sheared(holder) or not scale.min() > 0.0:
            continue
        document.detach(index)
        between = document.add_node({"name": f"{document.node_name(index)}_unscaled"}, parent)
        document.place(between, frames.transform(np.linalg.solve(holder, world)[:3, 3], None, 1.0 / scale))
        document.put_below(index, between)
        document.place(index, np.asarray(np.linalg.solve(document.world(between), world), float))


def _is_scaled() -> bool:
    return abs(unit_length(bpy.context.scene) - 1.0) > 1e-6


def _has_physics(model: PhysicsModel) -> bool:
    if model.bodies or model.colliders or model.joints or model.groups:
        return True
    return any(prim.extras for prim in model.prims.values())


def _chain(vtree: Any, vnode: Any) -> tuple[str, ...]:
    """Full names of the objects from the root down to a node; empty for what is no object."""
    if not isinstance(vnode.blender_object, _OBJECT) or vnode.blender_bone is not None:
        return ()
    if vnode.parent_uuid is None:
        return (vnode.blender_object.name_full,)
    names_: list[str] = []
    while vnode is not None:
        if isinstance(vnode.blender_object, _OBJECT) and vnode.blender_bone is None:
            names_.append(vnode.blender_object.name_full)
        vnode = vtree.nodes.get(vnode.parent_uuid) if vnode.parent_uuid is not None else None
    return tuple(reversed(names_))


def _full_chain(placement: Any) -> tuple[str, ...]:
    """Full names of the objects from the root down to a placement: linked ones can be called as local ones are."""
    chain = list(placement.chain)
    for index, one in enumerate((placement, *placement.ancestors()), 1):
        chain[-index] = one.obj.name_full
    return tuple(chain)


def _vnode_of(watched: _Watched, placement: Any, chain: tuple[str, ...], by_name: dict[str, Any]) -> Any:
    """The node that the exporter makes of a placement whose names do not tell it; None if there is none."""
    if placement.instance is None:
        return by_name.get(placement.obj.name_full)
    if placement.parent is not None and (vnode := watched.vnodes.get(chain)) is not None:
        return vnode
    # Geometry nodes have made it: nothing but its place tells it from the others.
    same = watched.instances.get((placement.instance[0], placement.matrix.tobytes()))
    return same.pop() if same else None


def _only_by_name(vnodes: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    """Nodes of objects that are in the file once, by name: parents may be left out, or be bones."""
    nodes: dict[str, Any] = {}
    twice = set()
    for chain, vnode in vnodes.items():
        if chain[-1] in nodes:
            twice.add(chain[-1])
        nodes[chain[-1]] = vnode
    return {name: vnode for name, vnode in nodes.items() if name not in twice}


@gc_paused(ages=True)
@authored_poses.authored()
def export_gltf(
    context: Context, file: str | Path, options: WriteOptions, *, strict: bool = False, proves: bool = True,
    **native: Any,
) -> ExportResult:  # fmt: skip
    """Write the open scene with its physics. The target is replaced at the end, or stays as it was.

    strict: write nothing where there are errors. proves: see `GltfExport`. native: options of Blender's own exporter.
    Raises InputError, OutputError and ValidationFailedError.
    """
    target = Path(bpy.path.abspath(str(file))).absolute()
    if target.suffix.lower() not in GLTF_SUFFIXES:
        raise OutputError(f"'{target}' is no glTF file name; end it with one of {', '.join(GLTF_SUFFIXES)}.")
    checked(target)
    require_blenders_gltf()
    _refuse_endless(context)
    if "export_gn_mesh" not in native:
        native["export_gn_mesh"] = gltf_instances.are_made_by_nodes(context.evaluated_depsgraph_get())
    job = GltfExport(options, is_own=True, is_still=not native.get("export_animations"), proves=proves)
    made: list[gltf_calls.ExportExtension] = []

    def make() -> gltf_calls.ExportExtension:
        made.append(gltf_calls.ExportExtension(lambda: job))
        return made[-1]

    with scratch_folder(target) as folder:
        scratch = folder / target.name
        with gltf_calls.called_by(gltf_calls.EXPORTER, make), _plain_lamps():
            _native_export(scratch, native)
        if made and made[-1].error is not None:
            raise made[-1].error
        if not job.is_done or not scratch.is_file():
            raise OutputError(f"Blender's glTF exporter wrote nothing for '{target}'; see the console for its reason.")
        refuse_errors(job.issues, target, strict=strict)
        _check_written(scratch)
        replace_together(folder, target, _files_of(target))
    return ExportResult(target, job.issues, job.counts)


def _refuse_endless(context: Context) -> None:
    """Raise OutputError where Blender's exporter would go round in instances until it fails."""
    found = gltf_instances.endless(context.scene.objects)
    if found is not None:
        instancer, inside = found
        collection: Any = instancer.instance_collection
        raise OutputError(
            f"Blender's glTF exporter would never end: '{instancer.name}' shows '{inside.name}' of the collection "
            f"'{collection.name}', and itself again below that. Clear the parent of '{instancer.name}', or take "
            f"'{inside.name}' out of the collection."
        )


@contextmanager
def _plain_lamps() -> Iterator[None]:
    """Have temperatures of lamps in their colour, and areas in their power, at which Blender 5.0's exporter fails."""
    is_needed = (5, 0) <= bpy.app.version < (5, 1)
    lamps: Any = {obj.data: obj for obj in bpy.data.objects if obj.type == "LIGHT"} if is_needed else {}
    before = [(lamp, tuple(lamp.color), lamp.use_temperature, lamp.energy, lamp.normalize) for lamp in lamps]
    for lamp, obj in lamps.items():
        if lamp.use_temperature:
            lamp.color = [one * factor for one, factor in zip(lamp.color, lamp.temperature_color, strict=True)]
            lamp.use_temperature = False
        if not lamp.normalize:
            lamp.energy *= lamp.area(matrix_world=obj.matrix_world)
            lamp.normalize = True
    try:
        yield
    finally:
        for lamp, color, use_temperature, energy, normalize in before:
            lamp.color, lamp.use_temperature, lamp.energy, lamp.normalize = color, use_temperature, energy, normalize


def _drop_properties(gltf: Any) -> None:
    """Take out the properties of the add-on that Blender writes as custom ones: a NaN in them would end its export."""
    for item in (*gltf.nodes, *gltf.scenes, *gltf.meshes, *gltf.materials):
        if isinstance(item.extras, dict) and item.extras.pop("usdphys", None) is not None and not item.extras:
            item.extras = None


def _native_export(scratch: Path, native: dict[str, Any]) -> None:
    keywords: dict[str, Any] = {
        "filepath": str(scratch), "export_format": "GLB" if scratch.suffix.lower() == ".glb" else "GLTF_SEPARATE",
        "check_existing": False, "export_extras": True, "export_apply": True, "use_active_scene": True,
        "export_animations": False, "export_cameras": True, "export_lights": True, **native,
        # Without animation, Blender's own exporter goes to frame 0.
        "export_current_frame": not native.get("export_animations"),
        # Joints in the pose that is shown, and with them what is parented to bones.
        "export_rest_position_armature": bool(native.get("export_animations")),
    }  # fmt: skip
    operator: Any = bpy.ops.export_scene.gltf
    known = operator.get_rna_type().properties.keys()
    try:
        with printed_on_success():
            ended = operator(**{name: value for name, value in keywords.items() if name in known})
    except RuntimeError as error:
        raise OutputError(f"Blender's glTF exporter failed: {' '.join(str(error).split())[-200:]}") from error
    if "FINISHED" not in ended:
        raise OutputError("Blender's glTF exporter was cancelled.")


def _check_written(scratch: Path) -> None:
    """Raise OutputError where Blender's exporter has lost a part of what it wrote, and says nothing."""
    document = Document.load(scratch)
    for index, buffer in enumerate(document.json.get("buffers", [])):
        if len(document.buffer(index)) < buffer.get("byteLength", 0):
            raise OutputError("A buffer could not be written completely (is the disk full?); no old file is touched.")


def _files_of(target: Path) -> list[Path]:
    """The buffers and images of the document that is going to be replaced."""
    try:
        return Document.load(target).files()
    except InputError:
        return []
