# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `convert`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError
from ..core.words import tally
from ..system import console
from ..system.console import warn
from ..system.files import USD_SUFFIXES, checked, noted, refuse_parts
from .inputs import load_options
from .output import output_to_stderr, print_issues, summarise, tell_note

if TYPE_CHECKING:
    from ..exchange.formats import Format
    from ..exchange.usd_export import ExportResult


#: Flag and help of the forms in which an imported scene is written.
FORMS = {
    "copy": ("--merge", "OUT is a copy of the imported file with the edits since the import (the default)"),
    "layer": ("--physics-layer", "OUT holds only the edits since the import, as a layer over the imported file"),
    "flat": ("--flatten", "OUT is one file with the edits, without references, payloads and variants"),
    "composed": ("--composed", "OUT is as Blender's exporter composes the scene, without what Blender lacks"),
}


#: Flags that are not called like what they set.
_FLAGS = {"physx_words": "--physx-attributes"}


def convert_file(options: argparse.Namespace) -> int:
    """Convert one file into another. Returns the exit status."""
    from ..exchange import formats

    load = load_options(options)
    source, target = formats.check_conversion(options.input, options.output, load)
    _check_convert_options(options, target)
    if options.ros_package:
        from ..urdf import ros_package

        ros_package.package_around(Path(options.output).absolute(), options.ros_package.strip())
    checked(Path(options.output), [options.input, *([options.onto] if options.onto else [])])
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

            for note in blender_rigid_bodies.convert_scene(scene).notes:
                tell_note(options, note, "usdphys: note: ")
        wanted = formats.WriteOptions(
            options.meters_per_unit, options.kilograms_per_unit, options.up_axis, options.hierarchy,
            animation=options.animation, strict=options.strict, form=options.form, physics_only=options.physics_only,
            collection=options.collection, layers=options.layers, runtimes=options.runtimes,
            physx_words=options.physx_words, ros_package=options.ros_package.strip(),
        )  # fmt: skip
        assert target.write is not None  # as `check_conversion` says
        with console.without_scratch_names():
            result = target.write(options.output, wanted)
    return _report_conversion(options, result)


def _check_convert_options(options: argparse.Namespace, target: Format) -> None:
    """Raise UsageError for options that contradict each other or do nothing."""
    for name, unset in (
        ("hierarchy", None), ("meters_per_unit", None), ("kilograms_per_unit", None), ("up_axis", None),
        ("animation", False), ("strict", False), ("physics_only", False), ("form", "auto"),
        ("collection", ""), ("layers", False), ("runtimes", False), ("physx_words", False), ("ros_package", ""),
    ):  # fmt: skip
        value = getattr(options, name)
        if value != unset and name not in target.heeds:
            flag = FORMS[value][0] if name == "form" else _FLAGS.get(name, f"--{name.replace('_', '-')}")
            kind = target.name.removesuffix(" file")
            raise UsageError(f"{flag} has no effect on '{options.output}', which is a {kind}; leave it out.")
    if target.heeds and options.hierarchy == "reset" and "up_axis" not in target.heeds:
        raise UsageError(f"--hierarchy reset is for USD files, and '{options.output}' is none; use flat or nested.")
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
    if Path(options.output).suffix.lower() == ".usdz":
        for flag, is_on in (
            ("--physics-layer", is_layer), ("--layers", options.layers), ("--runtimes", options.runtimes)
        ):  # fmt: skip
            if is_on:
                raise UsageError(f"{flag} does not write a package, which is one .usdz file; end OUT with .usda.")


def _report_conversion(options: argparse.Namespace, result: ExportResult) -> int:
    print_issues(options, result.issues, warn)
    found = ", ".join(tally(number, kind) for kind, number in result.counts.items() if number)
    summarise(f"{options.output}: {found or 'no physics'}")
    return 0
