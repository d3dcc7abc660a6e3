# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `convert`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import formats
from ..core import readers
from ..core.errors import UsageError
from ..core.words import counted, tally
from ..system import blender, console
from ..system.console import warn
from ..system.files import USD_SUFFIXES, checked, noted, refuse_parts, write_text
from .inputs import choices_of, model_in
from .output import folders_made, output_to_stderr, print_issues, print_notices, summarise, tell_note

if TYPE_CHECKING:
    from ..core.readers import Reader
    from ..core.validate import Issue
    from ..formats import Format


#: Options and values that a conversion without Blender has anyway.
_PLAIN = (("meters_per_unit", 1.0), ("kilograms_per_unit", 1.0), ("up_axis", "Z"))
#: Flag and help of the forms in which an imported scene is written.
FORMS = {
    "copy": ("--merge", "OUT is a copy of the imported file with the edits (the default if IN was imported from USD)"),
    "layer": ("--physics-layer", "OUT holds only the edits since the import, as a layer over the imported file"),
    "flat": ("--flatten", "OUT is one file with the edits, without references, payloads and variants"),
    "composed": (
        "--composed",
        "OUT is a new file that Blender's exporter composes, without data that Blender does not know",
    ),
}


def convert_file(options: argparse.Namespace) -> int:
    """Convert one file into another. Returns the exit status."""
    choices = choices_of(options)
    reader = readers.READERS.get(options.reader)
    if reader is not None:
        _check_reader(options, reader)
    source, target = formats.check_conversion(options.input, options.output, choices, options.reader)
    load = source.chosen(choices)
    wanted = _write_options(options)
    _check_convert_options(options, target, wanted)
    if reader is not None:
        wanted = _with_preset(wanted, reader, target)
    labelled = _labels_of(options, target)
    direct = None if blender.is_here() else _conversion_without_blender(options, source, target, wanted)
    with folders_made(options, options.output, options.receipt):
        if options.ros_package:
            from ..urdf import ros_package

            ros_package.package_around(Path(options.output).absolute(), options.ros_package.strip())
        checked(Path(options.output), [options.input, *([options.onto] if options.onto else [])])
        if options.receipt:
            checked(Path(options.receipt), [options.input, options.output])
        changed: dict[str, int] | None = None
        if direct is None:
            issues, counts, changed = _convert_in_blender(options, source, target, load, wanted)
        else:
            with output_to_stderr():
                issues, counts = direct.run(options.input, load, options.output, wanted)
    if options.isaac_robot:
        from ..usd import isaac_robot

        issues = [*issues, *isaac_robot.add_to_file(Path(options.output), options.isaac_robot)]
    if labelled:
        from ..usd import labels

        issues = [*issues, *labels.add_to_file(Path(options.output), labelled)]
    counted = _issues_for(options, reader, target) if reader is not None else []
    known = {(issue.code, said) for issue in issues for said in (issue.path, issue.short)}
    issues = [
        *issues,
        *(issue for issue in counted if not known & {(issue.code, issue.path), (issue.code, issue.short)}),
    ]
    if options.receipt:
        _write_receipt(options, issues, counts, changed)
    print_notices(options, issues, warn)
    numbers = ", ".join(tally(number, kind) for kind, number in counts.items() if number)
    summarise(options, f"{options.output}: {numbers or ('no edits' if options.form == 'layer' else 'no physics')}")
    return 1 if any(issue.severity == "error" for issue in counted) else 0


def _labels_of(options: argparse.Namespace, target: Format) -> dict[str, list[str]]:
    """Semantic labels by taxonomy. Raises UsageError for what is none, and for another kind of file."""
    if not options.label:
        return {}
    if target is not formats.USD or Path(options.output).suffix.lower() == ".usdz":
        raise UsageError("--label is for USD files that are no package; end OUT with .usda or .usdc.")
    formats.expose_pxr()
    from ..usd import labels

    return labels.parse(options.label)


def _check_reader(options: argparse.Namespace, reader: Reader) -> None:
    """Raise UsageError for a file that the reader does not get, or an option that its preset decides."""
    suffix = Path(options.output).suffix.lower()
    if suffix not in reader.suffixes:
        raise UsageError(
            f"--for {options.reader} writes {' or '.join(reader.suffixes)}, and '{options.output}' is none of these."
        )
    if options.form == "layer" and reader.adds:
        raise UsageError(f"--physics-layer is no whole file, which {reader.label} needs; leave it out.")
    if options.isaac_robot and "isaac_robot" in reader.adds:
        raise UsageError("--for isaac adds Isaac's robot schema itself; drop --for or --isaac-robot.")


def _with_preset(wanted: formats.WriteOptions, reader: Reader, target: Format) -> formats.WriteOptions:
    """The options of writing, with those of a preset that nobody has set. A layer has the units of its source."""
    known = {*formats.set_names(wanted), *(dict(_PLAIN) if wanted.form == "layer" else ())}
    return replace(wanted, **{
        name: value for name, value in reader.options.items() if name in target.heeds and name not in known
    })  # fmt: skip


def _issues_for(options: argparse.Namespace, reader: Reader, target: Format) -> list[Issue]:
    """Add to the written file what its reader wants, and check it by the rules for the reader."""
    from ..core import validate

    if target is formats.USD:
        formats.expose_pxr()
        from ..usd import for_reader

        return for_reader.finish(Path(options.output), reader)
    if reader.target is None or target is not formats.GLTF:
        return []  # a model of MuJoCo has been read again, and its rules are for USD
    with model_in(options.output, {}) as (model, _):
        return validate.validate(model, reader.target)


def _write_options(options: argparse.Namespace) -> formats.WriteOptions:
    return formats.WriteOptions(
        options.meters_per_unit, options.kilograms_per_unit, options.up_axis, options.hierarchy,
        animation=options.animation, strict=options.strict, form=options.form, physics_only=options.physics_only,
        collection=options.collection, layers=options.layers, instanceable=options.instanceable,
        runtimes=options.runtimes, physx_attributes=options.physx_attributes, materialx=options.materialx,
        ros_package=options.ros_package.strip(),
    )  # fmt: skip


def _conversion_without_blender(
    options: argparse.Namespace, source: Format, target: Format, wanted: formats.WriteOptions
) -> formats.Conversion:
    """How one format becomes another. Raises NeedsBlenderError where that, or one of the options, needs Blender."""
    known = source.conversions.get(target.name)
    if known is None:
        blender.require(f"Converting '{options.input}' to '{options.output}'")
    assert known is not None  # as Blender is not here
    if options.from_rigid_bodies:
        blender.require("--from-rigid-bodies")
    if options.thumbnail:
        blender.require("--thumbnail")
    for name in formats.set_names(wanted):
        if name not in known.heeds and (name, getattr(wanted, name)) not in _PLAIN:
            blender.require(_flag_of(options, name))
    return known


def _convert_in_blender(
    options: argparse.Namespace, source: Format, target: Format, load: Any, wanted: formats.WriteOptions
) -> tuple[list[Issue], dict[str, int], dict[str, int] | None]:
    """Load a file into Blender and write the scene. Returns (issues of writing, number of prims by kind, what differs
    from the imported file).

    Of a layer, the first of these numbers is that of edited prims.
    """  # fmt: skip
    import bpy

    from ..exchange import blend_file

    with blend_file.properties_registered(), output_to_stderr():
        print_issues(options, source.load(options.input, load), warn)
        scene: Any = bpy.context.scene
        read = Path(bpy.path.abspath(scene.usdphys.source.filepath))
        if read.suffix.lower() not in USD_SUFFIXES:  # whose layers the writer of USD refuses
            refuse_parts(Path(options.output), read, noted(scene.usdphys.source.files, read.parent))
        if options.from_rigid_bodies:
            from ..authoring import blender_rigid_bodies

            for note in blender_rigid_bodies.convert_scene(scene, takes_out=True).notes:
                tell_note(options, note, "usdphys: note: ")
        assert target.write is not None  # as `check_conversion` says
        with console.without_scratch_names():
            result = target.write(options.output, wanted)
            if options.thumbnail:
                from ..exchange import thumbnail

                result.issues += thumbnail.write(bpy.context, Path(options.output).absolute())
    counts = {**({"edited prims": result.edited} if result.edited else {}), **result.counts}
    return result.issues, counts, result.changed


def _write_receipt(
    options: argparse.Namespace, issues: list[Issue], counts: dict[str, int], changed: dict[str, int] | None
) -> None:  # fmt: skip
    """Write what was written as JSON: numbers, what differs from the imported file, and issues."""
    said = None
    if changed is not None:
        listed = ", ".join(counted(number, kind) for kind, number in changed.items())
        said = f"{listed}; nothing else" if listed else "nothing"
    content = {
        "input": options.input, "output": options.output, "counts": counts, "changed": changed, "text": said,
        "proven": not any(issue.code == "FileDiffers" for issue in issues),
        "issues": [asdict(issue) for issue in issues],
    }  # fmt: skip
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    write_text(Path(options.receipt).absolute(), text, [options.input, options.output])


def _flag_of(options: argparse.Namespace, name: str) -> str:
    """The flag that has set a field of the options of writing."""
    return FORMS[options.form][0] if name == "form" else f"--{name.replace('_', '-')}"


def _check_convert_options(options: argparse.Namespace, target: Format, wanted: formats.WriteOptions) -> None:
    """Raise UsageError for options that contradict each other or do nothing."""
    for name in formats.set_names(wanted):
        if name not in target.heeds:
            flag, kind = _flag_of(options, name), target.name.removesuffix(" file")
            raise UsageError(f"{flag} has no effect on '{options.output}', which is a {kind}; leave it out.")
    if target.heeds and options.hierarchy == "reset" and "up_axis" not in target.heeds:
        raise UsageError(f"--hierarchy reset is for USD files, and '{options.output}' is none; use flat or nested.")
    if options.pack_source and target is not formats.BLEND:
        raise UsageError("--pack-source keeps the input in a .blend file; end OUT with .blend, or leave it out.")
    if options.isaac_robot and (target is not formats.USD or Path(options.output).suffix.lower() == ".usdz"):
        raise UsageError("--isaac-robot is for USD files that are no package; end OUT with .usda or .usdc.")
    if options.thumbnail and target is not formats.USD:
        raise UsageError("--thumbnail is for USD files; end OUT with .usda, .usdc or .usdz, or leave it out.")
    if options.physics_only and options.form == "composed":
        raise UsageError("--physics-only is for edits of an imported file, and --composed writes no edits; drop one.")
    is_layer = options.form == "layer"
    for first, second, is_clash in (
        ("--physics-layer", "--layers", is_layer and options.layers),
        ("--physics-layer", "--runtimes", is_layer and options.runtimes),
        ("--physics-only", "--runtimes", options.physics_only and options.runtimes),
        ("--layers", "--runtimes", options.layers and options.runtimes),
    ):
        if is_clash:
            raise UsageError(f"{first} and {second} ask for different files; drop one.")
    if options.instanceable and not options.layers:
        raise UsageError("--instanceable is for an asset of layers; add --layers.")
    if Path(options.output).suffix.lower() == ".usdz":
        for flag, is_on in (
            ("--physics-layer", is_layer), ("--layers", options.layers), ("--runtimes", options.runtimes)
        ):  # fmt: skip
            if is_on:
                raise UsageError(f"{flag} does not write a package, which is one .usdz file; end OUT with .usda.")
