# SPDX-License-Identifier: GPL-3.0-or-later
"""One row per file format: its suffixes, how it comes into Blender, how its physics is read and how it is written.

A new format is one more row; the command line asks the rows and knows no suffix. Without Blender this module can be
imported all the same: what needs it is imported by the functions that do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.errors import InputError, UsageError
from .system import blender
from .system.files import SDF_SUFFIXES, USD_SUFFIXES

if TYPE_CHECKING:
    from .core.model import PhysicsModel
    from .core.validate import Hierarchy, Issue
    from .exchange.scene_export import SceneForm
    from .exchange.usd_export import ExportResult
    from .urdf.layout import Base, Drives
    from .usd.robot_files import RobotOptions

    #: Options of reading that somebody has set, by name.
    Choices = Mapping[str, Any]
    Reading = AbstractContextManager[tuple[PhysicsModel, list[Issue]]]
    StageFile = AbstractContextManager[tuple[str, list[Issue]]]


@dataclass(frozen=True, slots=True)
class NoOptions:
    """What is read of a file that is read as a whole."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How the open scene is written. None: as the scene says. form, physics_only: see `scene_export`.

    collection: write only the objects of this collection. layers: as an asset of layers. instanceable: in which meshes
    are instances. runtimes: as variants for each simulator. physx_attributes: write settings of Newton for PhysX, too.
    materialx: write networks of MaterialX, too, where Blender does.
    ros_package: that names the meshes of a URDF. families: extensions of a glTF file, BOTH, KHR or OMI; empty: as the
    scene says. godot_capsules: see `bridge.props.GltfProperties`.
    """

    meters_per_unit: float | None = None
    kilograms_per_unit: float | None = None
    up_axis: Any = None
    hierarchy: Hierarchy | None = None
    animation: bool = False
    strict: bool = False
    form: SceneForm = "auto"
    physics_only: bool = False
    collection: str = ""
    layers: bool = False
    instanceable: bool = False
    runtimes: bool = False
    physx_attributes: bool = False
    materialx: bool = False
    ros_package: str = ""
    families: str = ""
    godot_capsules: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion that needs no Blender.

    run: takes a file, how to read it, the file to write and how; returns the issues, and the number of prims with
    physics by kind. heeds: names of WriteOptions that it understands; others need Blender.
    """

    run: Callable[[str, Any, str, WriteOptions], tuple[list[Issue], dict[str, int]]]
    heeds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    load: brings a file into Blender, as the open scene; returns what did not come through. read: the physics of a file
    as a model, with what could not be read. write: writes the open scene; None if such files are only read. options:
    dataclass of what is read, which all of these get. heeds: names of WriteOptions that it understands. is_scene: it is
    Blender's own, converted to other formats only. checks: further targets to validate a file for. is_one: tells such
    files from others with the suffix; None if there are no others. is_posed: somebody has chosen the pose that it
    starts in; with all joints at zero nobody has.

    What needs Blender: load and write; read, if is_scene. as_stage: the file as a USD file, while a block runs, with
    what did not come through; None if that needs Blender. conversions: those that do not, by the name of the other
    format.
    """

    name: str
    suffixes: tuple[str, ...]
    load: Callable[[str, Any], list[Issue]]
    read: Callable[[str, Any], Reading]
    write: Callable[[str, WriteOptions], ExportResult] | None
    options: type[Any] = NoOptions
    heeds: frozenset[str] = frozenset()
    is_scene: bool = False
    is_posed: bool = True
    as_stage: Callable[[str, Any], StageFile] | None = None
    checks: Mapping[str, Callable[[str, Any], list[Issue]]] = field(default_factory=dict)
    is_one: Callable[[Path], bool] | None = None
    conversions: Mapping[str, Conversion] = field(default_factory=dict)

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the options of reading."""
        return tuple(item.name for item in fields(self.options))

    def chosen(self, choices: Choices) -> Any:
        """The options of reading with those of the choices that this format has."""
        return self.options(**{name: value for name, value in choices.items() if name in self.takes})

    def targets(self) -> list[Format]:
        """The formats that a file of this one can be converted to."""
        return [other for other in FORMATS if other.write is not None and (other is not self or not self.is_scene)]


def format_of(file: str) -> Format:
    """The format of a file by its suffix. Raises InputError for one that is not known."""
    suffix = Path(file).suffix.lower()
    for row in FORMATS:
        if suffix in row.suffixes:
            return row
    raise InputError(f"'{file}' is no file of a known format; these are {', '.join(_suffixes(FORMATS))}.")


def is_known(path: Path) -> bool:
    """True for a file of a known format, for which a folder is searched."""
    row = next((row for row in FORMATS if path.suffix.lower() in row.suffixes), None)
    return row is not None and (row.is_one is None or row.is_one(path))


def require_readable(file: str) -> Format:
    """The format of a file. Raises NeedsBlenderError where its physics is read by Blender, which is not here."""
    known = format_of(file)
    if known.is_scene:
        blender.require(f"Reading '{file}'")
    return known


def require_stage(file: str) -> Format:
    """The format of a file. Raises NeedsBlenderError where it becomes a stage by Blender, which is not here."""
    known = format_of(file)
    if known.as_stage is None:
        blender.require(f"Simulating '{file}'")
    return known


def check_conversion(source: str, target: str, choices: Choices, reader: str = "") -> tuple[Format, Format]:
    """(format of the source, of the target). reader: of `core.readers`, which the target is for.

    Raises InputError where one cannot be made of the other as asked.
    """
    known = format_of(source)
    check_choices(source, choices)
    targets = [UNREAL] if reader == "unreal" else known.targets()
    for row in targets:
        if Path(target).suffix.lower() in row.suffixes:
            return known, row
    raise InputError(
        f"'{target}' cannot be written from '{source}'; end it with one of {', '.join(_suffixes(targets))}."
    )


#: Name of the format of MuJoCo, for the conversions of others to it.
_MUJOCO = "MuJoCo model"
#: The arguments of the command line that are not called like the options of reading that they set.
ARGUMENTS = {"variants": "variant", "packages": "package", "arguments": "arg"}


def check_choices(source: str, choices: Choices) -> None:
    """Raise UsageError for options of reading that the format of a file does not have."""
    known = format_of(source)
    for name in choices:
        if name not in known.takes:
            *others, last = [f"{row.name}s" for row in FORMATS if name in row.takes]
            takers = f"{', '.join(others)} or {last}" if others else last
            flag = ARGUMENTS.get(name, name).replace("_", "-")
            raise UsageError(f"'{source}' is a {known.name}; --{flag} is for {takers}.")


def set_names(options: WriteOptions) -> list[str]:
    """Names of the options that somebody has set."""
    return [item.name for item in fields(options) if getattr(options, item.name) != item.default]


def suffixes() -> list[str]:
    """The suffixes of all formats."""
    return _suffixes(FORMATS)


def _suffixes(formats: list[Format] | tuple[Format, ...]) -> list[str]:
    return [suffix for row in formats for suffix in row.suffixes]


# --------------------------------------------------------------------------- USD


@dataclass(frozen=True, slots=True)
class StageOptions:
    """What is read of a USD file.

    variants: choices like "/Prim{set=choice}". prim: only this prim and below. onto: a .blend that gets the physics.
    pack_source: keep the file, and those that it names, in the scene.
    """

    variants: tuple[str, ...] = ()
    prim: str = ""
    onto: str = ""
    pack_source: bool = False


def expose_pxr() -> None:
    """Make the pxr that Blender bundles importable; outside Blender a pxr of its own does as well."""
    if not blender.is_here():
        return
    from .bridge.environment import require_usd

    require_usd()


def _load_usd(file: str, options: StageOptions) -> list[Issue]:
    """An empty scene with a USD file in it, or a scene with the physics of a USD file on its objects."""
    import bpy

    from .exchange import usd_import

    if options.onto:
        if format_of(options.onto) is not BLEND:
            raise InputError(f"'{options.onto}' is no .blend file; --onto needs one.")
        issues = _load_blend(options.onto, NoOptions())
    else:
        issues = []
    wanted = usd_import.ImportOptions(
        prim_path=options.prim, variants=options.variants, attach=bool(options.onto), opens=not options.onto,
        pack=options.pack_source,
    )  # fmt: skip
    return issues + usd_import.import_usd(bpy.context, Path(file).absolute(), wanted, usd_import.LateProgress()).issues


@contextmanager
def _usd_itself(file: str, _options: StageOptions) -> Iterator[tuple[str, list[Issue]]]:
    yield file, []


@contextmanager
def _read_usd(file: str, _options: Any = None) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    expose_pxr()
    from .usd import opinions as usd_opinions
    from .usd import overview
    from .usd import read as usd_read

    # The stage stays open inside: meshes are read when somebody asks for them.
    with usd_read.damage_refused(file):
        stage = usd_read.open_stage(file)
        opinions = list(usd_opinions.of_stage(stage))
        yield usd_read.read_stage(stage, opinions), overview.issues_of(stage, opinions)


def _write_usd(file: str, options: WriteOptions) -> ExportResult:
    import bpy

    from .core.units import StageUnits
    from .exchange import blend_file, scene_export, usd_export

    units, hierarchy = usd_export.stage_options(bpy.context.scene)
    units = StageUnits(
        options.meters_per_unit or units.meters_per_unit,
        options.kilograms_per_unit or units.kilograms_per_unit,
        options.up_axis or units.up_axis,
    )
    wanted = usd_export.ExportOptions(
        units, options.hierarchy or hierarchy, bool(options.collection), options.animation, strict=options.strict,
        layers=options.layers, instanceable=options.instanceable, runtimes=options.runtimes,
        physx_words=options.physx_attributes, materialx=options.materialx,
    )  # fmt: skip
    if options.collection:
        blend_file.select_collection(options.collection)
    return scene_export.export_scene(
        bpy.context, Path(file).absolute(), wanted, options.form, physics_only=options.physics_only
    )


# --------------------------------------------------------------------------- Blender


def _load_blend(file: str, _options: NoOptions) -> list[Issue]:
    from .exchange import blend_file

    return blend_file.open_blend(file)


@contextmanager
def _read_blend(file: str, _options: NoOptions) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    import bpy

    from .bridge import scene_read
    from .exchange import blend_file

    with blend_file.properties_registered():
        issues = blend_file.open_blend(file)
        reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
        yield reading.model, issues + reading.issues


def _write_blend(file: str, _options: WriteOptions) -> ExportResult:
    import bpy

    from .bridge import scene_read
    from .core import summary
    from .exchange import blend_file, usd_export

    reading = scene_read.read_scene(bpy.context.evaluated_depsgraph_get())
    blend_file.save_blend(file)
    newer = [issue for issue in reading.issues if issue.code == "NewerVersion"]
    return usd_export.ExportResult(Path(file), newer, summary.counts(reading.model))


# --------------------------------------------------------------------------- URDF


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """What is read of a robot in SDF. packages: NAME=FOLDER. base and the rest: as in `urdf.layout.LayoutOptions`."""

    packages: tuple[str, ...] = ()
    base: Base = "file"
    merge_fixed: bool = False
    prefix: str = ""
    approximation: str = "convexHull"
    drives: Drives = "effort"
    no_self_collision: bool = False
    no_visuals: bool = False
    visual_colliders: bool = False


@dataclass(frozen=True, slots=True)
class RobotChoices(ModelChoices):
    """What is read of a robot in URDF. arguments: NAME:=VALUE. srdf: file with links that do not collide."""

    arguments: tuple[str, ...] = ()
    srdf: str = ""


def robot_options(options: ModelChoices) -> RobotOptions:
    from .usd import robot_files

    arguments, srdf = (options.arguments, options.srdf) if isinstance(options, RobotChoices) else ((), "")
    return robot_files.RobotOptions(
        robot_files.parse_packages(options.packages), robot_files.parse_arguments(arguments),
        options.base, options.prefix, options.merge_fixed, options.approximation, srdf, options.drives,
        not options.no_self_collision, not options.no_visuals, options.visual_colliders,
    )  # fmt: skip


def _load_robot(file: str, options: ModelChoices) -> list[Issue]:
    """An empty scene with a robot in it."""
    import bpy

    from .exchange import urdf_import, usd_import

    wanted = robot_options(options)
    return urdf_import.import_urdf(bpy.context, file, wanted, usd_import.LateProgress(), opens=True).issues


@contextmanager
def _robot_as_stage(file: str, options: ModelChoices) -> Iterator[tuple[str, list[Issue]]]:
    expose_pxr()
    from .usd import robot_files

    with robot_files.robot_as_stage(Path(file).absolute(), robot_options(options)) as (stage_file, plan, _texts):
        yield str(stage_file), plan.issues


@contextmanager
def _read_robot(file: str, options: ModelChoices) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    with _robot_as_stage(file, options) as (stage_file, issues), _read_usd(stage_file) as (model, more):
        yield model, issues + more


def _check_for_ros(file: str, options: RobotChoices) -> list[Issue]:
    from .urdf import ros_rules
    from .usd import robot_files

    robot = robot_files.read_robot(Path(file).absolute(), robot_options(options))
    return robot.issues + ros_rules.check(robot)


def _robot_to_usd(
    file: str, load: ModelChoices, target: str, options: WriteOptions
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    from .usd import robot_files

    return robot_files.convert(
        Path(file).absolute(), robot_options(load), Path(target).absolute(), strict=options.strict,
        physx_words=options.physx_attributes,
    )  # fmt: skip


def _write_robot(file: str, options: WriteOptions) -> ExportResult:
    import bpy

    from .exchange import urdf_export

    return urdf_export.export_urdf(bpy.context, file, options.ros_package, strict=options.strict)


# --------------------------------------------------------------------------- MJCF


@dataclass(frozen=True, slots=True)
class MjcfChoices:
    """What is read of a model of MuJoCo. keyframe: name of the one whose pose and controls it gets."""

    keyframe: str = ""


def _load_mjcf(file: str, options: MjcfChoices) -> list[Issue]:
    """An empty scene with a model of MuJoCo in it."""
    import bpy

    from .exchange import mjcf_import, usd_import

    return mjcf_import.import_mjcf(
        bpy.context, file, usd_import.LateProgress(), opens=True, keyframe=options.keyframe
    ).issues  # fmt: skip


def _is_mjcf(path: Path) -> bool:
    from .mjcf import read

    return read.is_mjcf(path)


@contextmanager
def _mjcf_as_stage(file: str, options: MjcfChoices) -> Iterator[tuple[str, list[Issue]]]:
    expose_pxr()
    from .usd import mjcf_stage

    with mjcf_stage.as_stage(Path(file).absolute(), options.keyframe) as (stage_file, planned):
        yield str(stage_file), planned.issues


@contextmanager
def _read_mjcf(file: str, options: MjcfChoices) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    with _mjcf_as_stage(file, options) as (stage_file, issues), _read_usd(stage_file) as (model, more):
        yield model, issues + more


def _mjcf_to_usd(
    file: str, load: MjcfChoices, target: str, options: WriteOptions
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    from .usd import mjcf_stage

    return mjcf_stage.convert(
        Path(file).absolute(), Path(target).absolute(), strict=options.strict, keyframe=load.keyframe
    )  # fmt: skip


def _to_mjcf(as_stage: Callable[[str, Any], StageFile]) -> Conversion:
    """The conversion to MJCF of what a function makes a USD file of."""

    def run(file: str, load: Any, target: str, options: WriteOptions) -> tuple[list[Issue], dict[str, int]]:
        expose_pxr()
        from .usd import mjcf_file, overview, time_samples
        from .usd import opinions as usd_opinions
        from .usd import read as usd_read

        path = Path(file).absolute()
        with as_stage(file, load) as (stage_file, issues), usd_read.damage_refused(stage_file):
            stage = usd_read.open_stage(stage_file)
            start = time_samples.Clock(stage).at(0)
            moving = time_samples.stand_still(stage, start)
            opinions = list(usd_opinions.of_stage(stage))
            # First, as damage shows when a value is asked for: a file that is refused leaves no output.
            found = overview.issues_of(stage, opinions)
            model = usd_read.read_stage(stage, opinions)
            more, counts = mjcf_file.write_file(
                stage, model, Path(target).absolute(), strict=options.strict, inputs=(path,), folders=(path.parent,)
            )  # fmt: skip
        return [*issues, *found, *more, *mjcf_file.stilled(model, moving, start.GetValue())], counts

    return Conversion(run, frozenset({"strict"}))


def _write_mjcf(file: str, options: WriteOptions) -> ExportResult:
    import bpy

    from .exchange import mjcf_export

    return mjcf_export.export_mjcf(bpy.context, file, strict=options.strict)


# --------------------------------------------------------------------------- glTF


def _load_gltf(file: str, _options: NoOptions) -> list[Issue]:
    """An empty scene with a glTF file in it."""
    import bpy

    from .exchange import gltf_import

    issues = gltf_import.import_gltf(file, opens=True).issues
    ends = [action.frame_range[1] for action in bpy.data.actions]
    if ends:
        # The file begins at frame 0, an empty scene at 1.
        scene: Any = bpy.context.scene
        scene.frame_start, scene.frame_end = 0, math.ceil(max(ends))
        scene.frame_set(0)
    return issues


@contextmanager
def _read_gltf(file: str, _options: NoOptions) -> Iterator[tuple[PhysicsModel, list[Issue]]]:
    from .gltf import document, read

    reading = read.read(document.Document.load(file))
    yield reading.model, reading.issues


def _write_gltf(file: str, options: WriteOptions) -> ExportResult:
    import bpy

    from .exchange import blend_file, gltf_export

    if options.collection:
        blend_file.select_collection(options.collection)
    scene: Any = bpy.context.scene
    wanted = gltf_export.options_of(scene.usdphys.gltf)
    if options.hierarchy:
        wanted.is_flat = options.hierarchy == "flat"
    if options.families:
        wanted.families = gltf_export.FAMILIES[options.families]
    wanted.is_for_godot |= options.godot_capsules
    return gltf_export.export_gltf(
        bpy.context, file, wanted, strict=options.strict, export_animations=options.animation,
        use_selection=bool(options.collection),
    )  # fmt: skip


def _write_unreal(file: str, options: WriteOptions) -> ExportResult:
    import bpy

    from .exchange import unreal_export

    return unreal_export.export_unreal(bpy.context, file, strict=options.strict)


USD = Format(
    "USD file", USD_SUFFIXES, _load_usd, _read_usd, _write_usd, StageOptions,
    heeds=frozenset(WriteOptions.__slots__) - {"ros_package", "families", "godot_capsules"}, as_stage=_usd_itself,
    conversions={_MUJOCO: _to_mjcf(_usd_itself)},
)  # fmt: skip
BLEND = Format(".blend file", (".blend",), _load_blend, _read_blend, _write_blend, is_scene=True)
_FOR_ROS = {"ros": _check_for_ros}
_ROBOT_WITHOUT_BLENDER = {
    USD.name: Conversion(_robot_to_usd, frozenset({"strict", "physx_attributes"})), _MUJOCO: _to_mjcf(_robot_as_stage),
}  # fmt: skip
URDF = Format(
    "URDF file", (".urdf",), _load_robot, _read_robot, _write_robot, RobotChoices, as_stage=_robot_as_stage,
    checks=_FOR_ROS, heeds=frozenset({"ros_package", "strict"}), conversions=_ROBOT_WITHOUT_BLENDER, is_posed=False,
)  # fmt: skip
XACRO = Format(
    "xacro file", (".xacro",), _load_robot, _read_robot, None, RobotChoices, as_stage=_robot_as_stage, checks=_FOR_ROS,
    conversions=_ROBOT_WITHOUT_BLENDER, is_posed=False,
)  # fmt: skip
SDF = Format(
    "SDF file", SDF_SUFFIXES, _load_robot, _read_robot, None, ModelChoices, as_stage=_robot_as_stage,
    conversions=_ROBOT_WITHOUT_BLENDER, is_posed=False,
)  # fmt: skip
GLTF = Format(
    "glTF file", (".gltf", ".glb"), _load_gltf, _read_gltf, _write_gltf,
    heeds=frozenset({"hierarchy", "animation", "strict", "collection", "families", "godot_capsules"}),
)  # fmt: skip
MJCF = Format(
    _MUJOCO, (".xml",), _load_mjcf, _read_mjcf, _write_mjcf, MjcfChoices, as_stage=_mjcf_as_stage, is_one=_is_mjcf,
    heeds=frozenset({"strict"}), is_posed=False,
    conversions={USD.name: Conversion(_mjcf_to_usd, frozenset({"strict"})), _MUJOCO: _to_mjcf(_mjcf_as_stage)},
)  # fmt: skip
#: Written only, by `convert --for unreal`: no physics could be read of such a file.
UNREAL = Format("file for Unreal", (".fbx", ".glb"), _load_gltf, _read_gltf, _write_unreal, heeds=frozenset({"strict"}))
#: In the order in which messages name them.
FORMATS = (BLEND, USD, GLTF, URDF, XACRO, MJCF, SDF)
