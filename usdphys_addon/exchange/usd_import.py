# SPDX-License-Identifier: GPL-3.0-or-later
"""Import: Blender's own USD import builds the objects, the same stage read into the model gives them their physics."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, Scene

from ..bridge import gprim_mesh, import_notes, physics_collections, scene_write
from ..bridge.environment import require_usd
from ..bridge.identity import remembered
from ..bridge.identity.remembered import ImportedIDs
from ..bridge.roles import applies
from ..core import clock, paths
from ..core.animation import Key
from ..core.errors import InputError
from ..core.model import PhysicsModel
from ..core.schemas import usd_geom, usd_physics
from ..core.steps import Next
from ..core.validate import Issue
from ..core.vendors import is_vendor_type
from ..core.words import counted
from ..system import faults, limits
from ..system.collector import gc_paused
from ..system.console import note, warn
from ..system.files import note_of
from ..worker.thread import Background, shorten_walks
from . import (
    blend_file,
    curve_prims,
    gltf_source,
    import_materials,
    import_repair,
    kept_layers,
    packed_source,
    tet_prims,
)
from .attaching import attach
from .hook_calls import handled_by

if TYPE_CHECKING:
    from pxr import Usd

    from ..usd.import_source import ImportSource

    #: (stage, opinions of all its prims) -> what an import needs of them.
    ReadSource = Callable[[Any, list[Any]], ImportSource]
    #: Adds objects to those that Blender has imported.
    Complete = Callable[[ImportedIDs, ImportSource], None]


#: Shapes of a robot that become objects, unless the environment variable says another number. Blender takes 60 to
#: 110 KB of memory for each, most of it in its dependency graph, and the time for all grows with the square.
MOST_SHAPES, VARIABLE = 12_000, "USDPHYS_MOST_SHAPES"
#: The same of all prims of a model of MuJoCo: 32,000 of them take 2.1 GB and a minute.
MOST_PRIMS, PRIMS_VARIABLE = 28_000, "USDPHYS_MOST_MODEL_PRIMS"
#: First and last frame of a new scene.
_NEW_FRAMES = (1, 250)
#: First and last frame that Blender can show.
_FIRST_FRAME, _LAST_FRAME = 0, 1_048_574


@dataclass(slots=True)
class ImportOptions:
    """convert_units: scale what is imported to the scene's unit; else the scene takes the unit of the file.

    prim_path: only this prim and what is below it. variants: choices like "/Prim{set=choice}". attach: only the
    physics, onto the objects of the scene that have the names of the prims. native: further options of Blender's own
    importer, by name. opens: an empty scene takes the place of the open one, once the file has been found usable.
    pack: keep the file, and those that it names, in the .blend.
    """

    convert_units: bool = True
    prim_path: str = ""
    variants: tuple[str, ...] = ()
    attach: bool = False
    native: dict[str, Any] = field(default_factory=dict)
    opens: bool = False
    pack: bool = False


@dataclass(slots=True)
class ImportResult:
    """issues: what did not come through. counts: what got physics, by kind. objects: names of what is new."""

    path: Path
    issues: list[Issue] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)


class LateProgress:
    """Prints the steps of an import to stderr, once it has taken a second."""

    def __init__(self) -> None:
        self.start = clock.now()

    def __call__(self, step: Next) -> None:
        if clock.now() - self.start > 1.0:
            warn(f"usdphys: {step:.0%} {step.about}")


def import_usd(
    context: Context, filepath: str | Path, options: ImportOptions,
    tell: Callable[[Next], None] = lambda step: None,
) -> ImportResult:  # fmt: skip
    """Import a USD file with its physics into the scene. If that fails, the scene stays as it was.

    tell: called before each step. Raises MissingDependencyError and InputError.
    """
    return run_steps(import_steps(context, filepath, options), tell)


def refuse_many(name: str, parts: int, word: str, most: int = MOST_SHAPES, variable: str = VARIABLE) -> None:
    """Raise InputError for a robot of so many parts that Blender would fill the memory. word: for them.

    most: parts that are imported, unless an environment variable says another number.
    """
    most = limits.count(variable, most)
    if parts > most:
        raise InputError(
            f"'{name}' has {parts:,} {word}, and Blender needs much memory for each; more than {most:,} are imported "
            f"only if the environment variable {variable} allows it."
        )


def run_steps(steps: Generator[Next, None, ImportResult], tell: Callable[[Next], None]) -> ImportResult:
    """Run an import to its end. tell: called before each step."""
    # Closed here at the latest: a generator that the garbage collector closes later would undo the import when the
    # properties are no longer registered, and Blender crashes on them.
    with gc_paused(), closing(steps):
        while True:
            try:
                tell(next(steps))
            except StopIteration as end:
                result: ImportResult = end.value
                return result


def import_steps(
    context: Context, filepath: str | Path, options: ImportOptions, read: ReadSource | None = None,
    complete: Complete | None = None,
) -> Generator[Next, None, ImportResult]:  # fmt: skip
    """`import_usd` step by step. Closing the generator undoes the steps so far.

    read: reads the stage, given the opinions of all its prims; by default `import_source.read_source`. complete: makes
    the objects of prims that the stage lacks, with the world matrices of all, before the physics is put on them.
    """
    require_usd()
    shorten_walks()  # before there is anything of the file
    path = Path(bpy.path.abspath(str(filepath))).absolute()
    with _usd_errors_as_input_errors(path):
        return (yield from _steps(context, path, options, read, complete))


@contextmanager
def _usd_errors_as_input_errors(path: Path) -> Iterator[None]:
    """Turn an error of USD that nothing else has caught into an InputError that names the file."""
    from pxr import Tf

    from ..usd import read as usd_read

    try:
        yield
    except Tf.ErrorException as error:
        reason = usd_read.short_reason(error)
        raise InputError(f"'{path.name}' cannot be imported, because USD finds an error in it{reason}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"'{path.name}' holds names that are not UTF-8; it is damaged.") from error


def _steps(
    context: Context, path: Path, options: ImportOptions, read: ReadSource | None, complete: Complete | None
) -> Generator[Next, None, ImportResult]:
    from ..usd import composition, import_source, importable
    from ..usd import read as usd_read

    yield Next(0.0, f"Reading {path.name}")
    stage = usd_read.open_stage(path)
    choices = [composition.parse_choice(text) for text in options.variants]
    composition.select_variants(stage, choices)
    if options.prim_path and not stage.GetPrimAtPath(options.prim_path):
        raise InputError(f"'{path.name}' has no prim '{options.prim_path}'; check the path.")
    yield Next(0.05, "Looking through the file")
    opinions, broken = importable.check(stage, path)
    units = usd_read.stage_units(stage)
    if options.opens:
        blend_file.empty_scene()
    scene: Any = context.scene
    with undone_on_failure(scene):
        if options.attach:
            yield Next(0.5, "Attaching physics")
            result = _attach(scene, stage, import_source.read_source(stage, opinions))
            result.path = path
            return result
        if not options.convert_units:
            scene.unit_settings.scale_length = units.meters_per_unit
        yield Next(0.2, "Importing geometry, materials and physics")
        # A collector that runs in the thread would delete Blender's objects while Blender works.
        is_edited = broken or usd_read.units_as_floats(stage) or composition.odd_up_axis(stage)
        readable = (lambda layer: importable.write_readable(stage, broken, layer)) if is_edited else None
        with gc_paused(), ExitStack() as threads, _readable_file(path, choices, readable) as file:
            read = read or import_source.read_source
            landing = _Landing(context, stage, path, options, choices, opinions, threads, read, complete)
            with composition.opened_once(stage):
                result = _native_import(file, options, landing)
        result.issues[:0] = broken
        _make_root_active(context, result.objects)
        yield Next(0.9, "Updating the view")
    return result


@dataclass(slots=True)
class _Landing:
    """The physics of an import: read in a thread while Blender imports, then put on the new objects."""

    context: Context
    stage: Any
    path: Path
    options: ImportOptions
    choices: list[Any]
    opinions: list[Any]
    threads: ExitStack
    read: ReadSource
    complete: Complete | None
    reading: Background[ImportSource] | None = None
    is_new_scene: bool = False
    model: PhysicsModel = field(default_factory=PhysicsModel)

    @property
    def scene(self) -> Any:
        return self.context.scene

    @property
    def scene_meters(self) -> float:
        """Length of a Blender unit."""
        return float(self.scene.unit_settings.scale_length) or 1.0

    def begin(self) -> None:
        """Read the physics while Blender imports."""
        self.is_new_scene = not bpy.data.actions and (self.scene.frame_start, self.scene.frame_end) == _NEW_FRAMES
        if self.complete is not None:
            return  # what is left to read is little
        what = f"Reading the physics of '{self.path.name}'"
        reading = Background(what, self.read, self.stage, self.opinions)
        self.reading = self.threads.enter_context(reading)

    def finish(self, found: ImportedIDs) -> ImportResult:
        """Put the physics on the new objects, inside Blender's hook: Blender evaluates the scene once, after it."""
        from ..usd import carry, composition, looks
        from ..usd import read as usd_read

        scene, stage = self.scene, self.stage
        source = self.reading.result() if self.reading is not None else self.read(stage, self.opinions)
        self.model = model = source.model
        issues = [*source.missing, *composition.odd_metadata(stage)]
        _keep_instancers(model, source.instancers, issues)
        _report_instances(source.instances, issues)
        _report_second_bodies(model, issues)
        scale = model.units.meters_per_unit / self.scene_meters if self.options.convert_units else 1.0
        below = self.options.prim_path
        types = set(filter(is_vendor_type, {prim.type_name for prim in model.prims.values()}))
        typed = [path for path, prim in model.prims.items() if prim.type_name in types]
        import_repair.add_empties(scene, found, [path for path in typed if paths.is_at_or_below(path, below)])
        import_repair.repair(scene, stage, found, source.resets, below, scale)
        if self.complete is not None:
            self.complete(found, source)
        elif model.joints:
            # Joints are placed in the world, so the matrices of their parents must be up to date.
            self.context.view_layer.update()
        for path, prim in model.prims.items():
            gprim, obj = prim.get(usd_geom.Gprim) if "usd_type" in prim.extras else None, found.objects.get(path)
            if gprim is not None and obj is not None and obj.type == "EMPTY":
                # Blender does not know gprims with two radii.
                found.objects[path] = import_repair.with_data(
                    obj, gprim_mesh.mesh_of(prim.name, gprim, model.units.local)
                )
        tet_prims.show(stage, found.objects, [one.path for one in self.opinions if one.type_name == "TetMesh"])
        curve_prims.show(stage, found.objects, model.prims.values())
        _name_bodies(model, found)
        texts = scene_write.Texts(source.carried, source.transforms, source.shapes, source.bindings)
        made = ImportedIDs(found.objects, {**found.materials})
        result = write_physics(scene, model, made, texts=texts)
        result.path = self.path
        result.issues[:0] = issues
        import_materials.bind(source, found, made.materials, result.issues)
        physics_collections.tidy(model, found)
        import_materials.resolve_interfaces(stage, found)
        memory = scene.usdphys.source
        shown = {*found.materials, *model.materials}
        if shown.issuperset(source.materials):
            memory.carried_looks = source.looks
        else:
            memory.carried_looks = looks.capture_looks(stage, source.materials, shown, self.options.prim_path)
        known_paths = {*found.objects, *found.materials, *model.prims}
        memory.carried = carry.capture_prims(stage, known_paths, self.opinions)
        memory.carried_trees = _carried_trees(stage, source.instancers, found)
        _note_earlier_source(scene, found)
        memory.filepath, memory.prim_path = str(self.path), self.options.prim_path
        memory.files = note_of(composition.files_of(stage), self.path.parent)
        memory.variants = "\n".join(map(str, self.choices))
        memory.default_prim = usd_read.default_prim_name(stage)
        memory.objects, memory.meters = "\n".join(found.objects), repr(self.scene_meters)
        packed_source.drop(scene)
        gltf_source.forget(scene)
        if self.options.pack:
            result.issues += [
                Issue("SourceNotPacked", "warning", "", "", f"'{file}' is left out: it lies on another drive.",
                      "Move it to the drive of the imported file, and import again.")
                for file in packed_source.pack(scene, self.path)
            ]  # fmt: skip
        units = model.units
        memory.units = f"{units.meters_per_unit!r} {units.kilograms_per_unit!r} {units.up_axis}"
        _take_units(scene, model)
        if self.is_new_scene:
            _take_frames(scene, stage)
        import_notes.note(found.objects.values(), found.materials.values(), memory.filepath)
        return result


def _make_root_active(context: Context, names: Iterable[str]) -> None:
    """Have the sidebar show an imported robot: Blender leaves the last of its objects active, which may be a visual."""
    shown: Any = context.view_layer.objects
    places = {name: place for place, name in enumerate(names)}
    # A view layer looks for a name among all of its objects, one after the other.
    everything: Any = bpy.data.objects
    roots = [obj for obj in everything if obj.name in places and applies(obj, "articulation_root")]
    roots.sort(key=lambda obj: places[obj.name])
    root = next((obj for obj in roots if shown.get(obj.name) == obj), None)
    if root is not None:
        shown.active = root


def _name_bodies(model: PhysicsModel, found: ImportedIDs) -> None:
    """Give bodies the names of their prims where another new object has it: a mesh below may be called the same."""
    bodies = {path: found.objects[path] for path in model.bodies if path in found.objects}
    wrong = [(paths.name_of(path), obj) for path, obj in bodies.items() if obj.name != paths.name_of(path)]
    others = set(found.objects.values()).difference(bodies.values()) if wrong else set()
    for leaf, obj in wrong:
        other, numbered = bpy.data.objects.get((leaf, None)), obj.name
        if other is not None and other in others:
            other.name = f"{numbered} "
            obj.name, other.name = leaf, numbered


def _attach(scene: Scene, stage: Usd.Stage, source: ImportSource) -> ImportResult:
    """Put the physics of a file on the objects that the scene has already, by name."""
    from ..usd import read as usd_read

    written = attach.attach(scene, source.model, source.missing, vendor_prims=usd_read.count_vendor_prims(stage))
    return ImportResult(Path(), source.missing, written.counts)


@contextmanager
def _readable_file(path: Path, choices: list[Any], edit: Callable[[Any], None] | None) -> Iterator[Path]:
    """The file that Blender is to import: a layer over it where variants are chosen, or `edit` edits such a layer."""
    from ..usd import composition

    if not choices and edit is None:
        yield path
        return
    # Blender goes on reading what moves from the layer, so it stays until Blender quits, and goes with a saved file.
    folder = Path(tempfile.mkdtemp(prefix=kept_layers.PREFIX, dir=bpy.app.tempdir or None))
    file = folder / f"{path.stem}.usda"
    composition.write_selected(path, choices, file, edit)
    yield file


def _keep_instancers(model: PhysicsModel, instancers: list[str], issues: list[Issue]) -> None:
    """Remove the physics of point instancers from a model: Blender cannot hold it. Their prims are carried along."""
    for path in instancers:
        inside = [one for one in model.prims if paths.is_at_or_below(one, path)]
        count = counted(sum(model.prims[one].get(usd_physics.RigidBodyAPI) is not None for one in inside), "body")
        for one in inside:
            del model.prims[one]
        if inside:
            issues.append(Issue(
                "PointInstancerKept", "info", path, "",
                f"'{path}' is a point instancer: it is shown, and the physics of its prototypes ({count}) is "
                "kept as it is in the file.", "Edit its prototypes in the file that they come from.",
            ))  # fmt: skip


def _report_instances(paths: list[str], issues: list[Issue]) -> None:
    if paths:
        issues.append(Issue(
            "InstancesSeparate", "info", paths[0], "",
            f"Imported as objects of their own: {counted(len(paths), 'instance')}, such as '{paths[0]}'.",
            "Export a physics layer to keep in the file all instances whose physics you do not change.",
        ))  # fmt: skip


def _report_second_bodies(model: PhysicsModel, issues: list[Issue]) -> None:
    for prim in model.joints.values():
        for side in (0, 1):
            bodies: Sequence[str] = getattr(prim.get(usd_physics.Joint), f"body{side}") or ()
            if len(bodies) > 1:
                issues.append(Issue(
                    "JointMultiplePrimsRel", "warning", prim.path, "",
                    f"'{prim.path}' has {len(bodies)} bodies as body {side}: Blender holds the first, '{bodies[0]}'. A "
                    "file that Blender composes has that alone, others keep them all until it is edited.",
                    "Keep one body on each side of the joint in the USD file.",
                ))  # fmt: skip


def _carried_trees(stage: Usd.Stage, instancers: list[str], found: ImportedIDs) -> str:
    """USD text of the imported point instancers, from which an export restores them."""
    from ..usd import carry

    known = [path for path in instancers if path in found.objects]
    return carry.capture_trees(stage, known) if known else ""


def write_physics(
    scene: Scene, model: PhysicsModel, found: ImportedIDs, *, texts: scene_write.Texts | None = None,
    meters: float | None = None,
) -> ImportResult:  # fmt: skip
    """Put the physics of a model on imported objects. meters: length of a Blender unit; None: that of the scene.

    found: gets the materials that are new.
    """
    written = scene_write.write_scene(model, scene, found.objects, found.materials, texts=texts, meters=meters)
    names = sorted(obj.name for obj in found.objects.values())
    result = ImportResult(Path(), counts=written.counts, objects=names)
    for path in written.missing:
        result.issues.append(Issue(
            "NotImported", "warning", path, "", f"Blender imports nothing for '{path}', so its physics is left out.",
            "Check whether the prim is a point instancer or of a type that Blender does not know.",
        ))  # fmt: skip
    _report_animation(model, scene, written.still, result.issues)
    return result


def _report_animation(model: PhysicsModel, scene: Scene, still: list[Key], issues: list[Issue]) -> None:
    """Report animated values that Blender has no property for, and a frame rate at which they play at another speed."""
    issues += [
        Issue(
            "AnimationLeftOut", "warning", key.path, "",
            f"'{key.field}' of '{key.path}' is animated, which no property of Blender holds: it keeps its first value.",
            "Animate the value in the imported scene, where it has a property.",
        ) for key in still
    ]  # fmt: skip
    rate = scene.render.fps / scene.render.fps_base
    if model.animated and abs(rate - model.time_codes) > 1e-3:
        issues.append(Issue(
            "FrameRateDiffers", "warning", "", scene.name,
            f"The file has {model.time_codes:g} time codes a second, the scene {rate:g} frames: its animation plays "
            f"{rate / model.time_codes:.3g} times as fast.",
            f"Set the frame rate of the scene to {model.time_codes:g}.",
        ))  # fmt: skip


def _note_earlier_source(scene: Scene, found: ImportedIDs) -> None:
    """Note the source of objects that an earlier import has brought: one scene has one source to put edits on."""
    memory = scene.usdphys.source
    if not memory.filepath:
        return
    new = set(found.objects.values())
    if any(obj not in new and remembered.type_of(obj) for obj in scene.objects):
        memory.others = "\n".join(dict.fromkeys([*memory.others.splitlines(), memory.filepath]))


def _take_units(scene: Scene, model: PhysicsModel) -> None:
    """Let the next export use the units of the file, unless the user has set others."""
    stage = scene.usdphys.stage
    units = model.units
    wanted = (units.meters_per_unit, units.kilograms_per_unit, units.up_axis)
    for name, value in zip(("meters_per_unit", "kilograms_per_unit", "up_axis"), wanted, strict=True):
        if not stage.is_property_set(name):
            setattr(stage, name, value)


def _take_frames(scene: Scene, stage: Usd.Stage) -> None:
    """Let the scene begin and end where the file does, and show its begin: there the physics starts."""
    if not (stage.HasAuthoredTimeCodeRange() and stage.GetStartTimeCode() < stage.GetEndTimeCode()):
        return
    start, end = math.floor(stage.GetStartTimeCode()), math.ceil(stage.GetEndTimeCode())
    if start >= _FIRST_FRAME and end <= _LAST_FRAME:
        scene.frame_start, scene.frame_end = start, end
        scene.frame_current = start


def _native_import(path: Path, options: ImportOptions, landing: _Landing) -> ImportResult:
    """Have Blender import a file; its hook puts the physics on the new objects before the scene is evaluated."""
    # Blender's importer takes a unit for a metre whatever the scene says.
    scene_meters = landing.scene_meters
    keywords: dict[str, Any] = {
        "filepath": str(path),
        "import_guide": True,
        "import_proxy": True,
        "import_render": True,
        "import_all_materials": True,
        "import_visible_only": False,
        "support_scene_instancing": False,
        "merge_parent_xform": False,
        "set_frame_range": False,
        "apply_unit_conversion_scale": options.convert_units,
        "scale": 1.0 / scene_meters if options.convert_units else 1.0,
        "prim_path_mask": options.prim_path,
    }
    keywords.update(options.native)
    operator: Any = bpy.ops.wm.usd_import
    known = {item.identifier: item for item in operator.get_rna_type().properties}
    limits = known["scale"]
    if not limits.hard_min * (1.0 - 1e-6) <= keywords["scale"] <= limits.hard_max * (1.0 + 1e-6):
        raise InputError(
            f"Blender's importer cannot scale by {keywords['scale']:g}; choose a unit scale of the scene nearer to 1, "
            "or switch Convert Units off."
        )
    keywords = {name: value for name, value in keywords.items() if name in known}
    # Many new objects are made after Blender's operator, which would evaluate them at its end.
    capture = _Capture(landing.finish if landing.complete is None else None)
    with handled_by("on_import", capture.take):
        landing.begin()
        try:
            ended = bpy.ops.wm.usd_import(**keywords)
        except RuntimeError as error:
            if capture.error is None:
                reason = " ".join(str(error).split()).rstrip(".")
                raise InputError(f"Blender's USD importer failed on '{path.name}': {reason}.") from error
    if capture.error is not None:
        raise capture.error
    if "FINISHED" not in ended or not capture.was_called:
        raise InputError(f"Blender's USD importer did not finish with '{path.name}'.")
    result = capture.result or landing.finish(capture.found)
    physics_collections.size_empties(landing.model, capture.found)
    return result


@contextmanager
def undone_on_failure(scene: Scene) -> Iterator[None]:
    """If the body raises, remove all new data-blocks and our entries in the scene."""
    kinds = [item.identifier for item in bpy.data.bl_rna.properties if item.type == "COLLECTION"]
    before = {kind: set(getattr(bpy.data, kind).keys()) for kind in kinds}
    physics = scene.usdphys
    lengths = {name: len(getattr(physics, name)) for name in ("physics_scenes", "collision_groups")}
    settings = [(group, name, getattr(group, name), group.is_property_set(name))
                for group, names in ((physics.source, physics.source.bl_rna.properties.keys()),
                                     (physics.stage, ("meters_per_unit", "kilograms_per_unit", "up_axis")))
                for name in names if name not in ("rna_type", "name", "bl_system_properties")]  # fmt: skip
    scale_length = scene.unit_settings.scale_length
    view_layer: Any = bpy.context.view_layer
    active = view_layer.objects.active.name if view_layer.objects.active else ""
    selected = [obj.name for obj in view_layer.objects if obj.select_get()]
    try:
        yield
    except BaseException:
        new = [item for kind, names in before.items() for item in getattr(bpy.data, kind) if item.name not in names]
        bpy.data.batch_remove(new)
        for name, length in lengths.items():
            items = getattr(physics, name)
            while len(items) > length:
                items.remove(len(items) - 1)
        for group, name, value, was_set in settings:
            if was_set:
                setattr(group, name, value)
            else:
                group.property_unset(name)
        scene.unit_settings.scale_length = scale_length
        view_layer.update()  # it still lists what was removed
        view_layer.objects.active = view_layer.objects.get(active)
        for obj in view_layer.objects:
            obj.select_set(obj.name in selected)
        raise


# --------------------------------------------------------------------------- the hook


@dataclass(slots=True)
class _Capture:
    """Keeps the result or the error of our hook: Blender does not pass on exceptions from hooks."""

    finish: Callable[[ImportedIDs], ImportResult] | None
    found: ImportedIDs = field(default_factory=ImportedIDs)
    was_called: bool = False
    result: ImportResult | None = None
    error: BaseException | None = None

    def take(self, import_context: Any) -> bool:
        from pxr import Usd

        try:
            # Blender's importer holds each sample until the next. Cache files go on reading the same stage, see
            # `composition.opened_once`; between samples they would show another place than USD says.
            import_context.get_stage().SetInterpolationType(Usd.InterpolationTypeLinear)
            collect(import_context, self.found)
            if self.finish is not None:
                self.result = self.finish(self.found)
            self.was_called = True
        except BaseException as error:
            self.error = error
        return True


def on_native_import(import_context: Any) -> bool:
    """Standing hook: add the physics of the file to an import by Blender's own operator."""
    try:
        return _on_native_import(import_context)
    except Exception as error:  # an exception that leaves a hook is lost in Blender's log
        faults.tell()
        note(f"USD Physics: error: the physics could not be imported: {type(error).__name__}: {error}")
        return False


def _on_native_import(import_context: Any) -> bool:
    """Put physics on the objects that Blender's own operator, with its own options, has imported."""
    from ..usd import read as usd_read

    imported = ImportedIDs()
    collect(import_context, imported)
    model = usd_read.read_stage(import_context.get_stage())
    if not imported.objects or not any(prim.schemas for prim in model.prims.values()):
        return True
    scene: Any = bpy.context.scene
    bpy.context.view_layer.update()
    # Blender's own import takes a unit for a metre whatever the scene says.
    result = write_physics(scene, model, imported, meters=1.0)
    for issue in result.issues:
        note(f"USD Physics: {issue.severity}: {issue.message} {issue.fix}")
    return True


def collect(import_context: Any, found: ImportedIDs) -> None:
    """Note the objects and materials of an import by prim path."""
    known: dict[type, dict[str, Any]] = {bpy.types.Object: found.objects, bpy.types.Material: found.materials}
    for path, ids in import_context.get_prim_map().items():
        for item in ids:
            if (named := known.get(type(item))) is not None:
                named[path.pathString] = item
