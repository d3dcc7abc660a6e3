# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands `prove` and `report`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import formats
from ..batch.worker import BLENDER
from ..core import clock
from ..core.errors import InputError, NeedsBlenderError, UsageError
from ..core.words import counted
from ..simulation.engine import PYTHONS, others
from ..system.console import say, warn
from ..system.files import checked, replacing, work_folder, write_text
from . import junit
from .file_checks import named_files
from .inputs import choices_of, model_in
from .output import folders_made, output_to_stderr, print_issues, summarise
from .round_trips import trips_of

if TYPE_CHECKING:
    from ..core.model import PhysicsModel
    from ..core.rules.base import Issue
    from ..proving.certificate import Certificate
    from ..proving.opinions import Cause
    from ..proving.prove import Proof, Wish


def prove_file(options: argparse.Namespace) -> int:
    """Prove a file. Returns the exit status."""
    _check(options)
    targets = _targets(options, {"--json": ".json", "--junit": ".xml", "--stamp": ".usda"})
    if options.stamp and formats.format_of(options.file) is not formats.USD:
        raise UsageError("--stamp is for USD files; leave it out, or prove the USD file.")
    from ..proving.certificate import FOUND

    with folders_made(options, *targets):
        for target in targets:
            checked(Path(target), [options.file])
        with _proof_of(options) as (proof, _wish):
            certificate = proof.certificate
        options.answer["table"] = certificate.as_json()
        if options.json:
            write_text(Path(options.json), json.dumps(certificate.as_json(), indent=1) + "\n")
        if options.junit:
            write_text(Path(options.junit), junit.of_certificate(certificate))
        if options.stamp:
            _stamp(options, certificate)
    for line in () if options.quiet else certificate.lines():
        say(line)
    say(certificate.summary())
    failing = certificate.having(*FOUND) if options.strict else certificate.having("fail")
    return 1 if failing else 0


def report_file(options: argparse.Namespace) -> int:
    """Write the page about a file, or those about many with an index. Returns the exit status."""
    if options.index:
        return _write_index(options)
    if not options.files or not options.output:
        raise UsageError("report needs FILE and -o REPORT.html, or --index FOLDER.")
    files = list(named_files(options.files))
    if Path(options.output).suffix.lower() != ".html" or len(files) > 1:
        return _report_all(options, files)
    options.file = files[0]
    proof = _write_page(options, options.output)
    summarise(options, proof.certificate.summary())
    return 0


def _write_page(options: argparse.Namespace, target: str) -> Proof:
    from ..proving import page

    _check(options)
    with folders_made(options, target):
        checked(Path(target), [options.file])
        with _proof_of(options) as (proof, wish):
            text = page.page(proof, wish)
        write_text(Path(target), text)
    return proof


def _report_all(options: argparse.Namespace, files: list[str]) -> int:
    """A page for each file, also for one that cannot be read, and the index. Returns the exit status: 1 if an asset
    fails, or cannot be read."""
    folder = Path(options.output)
    if folder.suffix.lower() == ".html" or folder.is_file():
        raise UsageError(f"'{folder}' is one page, and there are {len(files)} files; name a folder with -o.")
    if options.against or options.expect:
        raise UsageError("--against and --expect are for one file; expectations beside each file are found.")
    if os.environ.get(BLENDER):
        _require_stages(files)
    from ..proving import page

    above = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])  # noqa: PTH100, PTH120
    unread: dict[Path, str] = {}
    for options.file in files:
        name = os.path.relpath(os.path.abspath(options.file), above).replace(os.sep, "-")  # noqa: PTH100
        target = folder / f"{name}.html"
        try:
            proof = _write_page(options, str(target))
        except InputError as error:
            warn(f"usdphys: error: {error}")
            unread[target] = page.of_unread(options.file, str(error))
            continue
        if not options.quiet:
            say(proof.certificate.summary())
    # An older page would have the verdict of what could be read.
    for target, text in unread.items() if folder.is_dir() else ():
        write_text(target, text)
    status = _index_of(options, folder) if len(unread) < len(files) else 1
    return 1 if unread else status


def _require_stages(files: Iterable[str]) -> None:
    """Raises NeedsBlenderError for files that need Blender: the one that is named then writes all pages."""
    for file in files:
        try:
            formats.require_stage(file)
        except NeedsBlenderError:
            raise
        except InputError:
            continue  # is told when its page is to be written


def _write_index(options: argparse.Namespace) -> int:
    if options.files or options.output:
        raise UsageError("--index makes a page of reports that are there; leave FILE and -o out.")
    if not Path(options.index).is_dir():
        raise InputError(f"'{options.index}' is no folder.")
    return _index_of(options, Path(options.index))


def _index_of(options: argparse.Namespace, folder: Path) -> int:
    """Write the index page of a folder of reports. Returns the exit status: 1 if an asset of them fails."""
    from ..proving import library

    text, counts = library.index(folder)
    write_text(folder / library.NAME, text)
    summarise(options, f"{folder / library.NAME}: {counted(counts.total(), 'report')}, {counts['fail']} failed")
    return 1 if counts["fail"] else 0


def _check(options: argparse.Namespace) -> None:
    from ..proving.prove import SECTIONS

    if unknown := set(getattr(options, "only", ())) - SECTIONS:
        raise UsageError(f"'{min(unknown)}' is no section; choose one of {', '.join(sorted(SECTIONS))}.")
    formats.require_stage(options.file)
    formats.check_choices(options.file, choices_of(options))
    for name in (options.file, options.against, options.expect):
        if name and not Path(name).exists():
            raise InputError(f"'{name}' does not exist.")


def _targets(options: argparse.Namespace, ends: dict[str, str]) -> list[str]:
    """The files to write. Raises UsageError for one that ends otherwise, or that two options name."""
    found = []
    for flag, end in ends.items():
        name = options.output if flag == "-o" else getattr(options, flag.removeprefix("--"))
        if name:
            if Path(name).suffix.lower() != end:
                raise UsageError(f"'{name}' must end with {end}, because {flag} writes such a file.")
            found.append(name)
    if len({os.path.realpath(name) for name in found}) < len(found):
        raise UsageError("Two options name the same file; choose two names.")
    return found


@contextmanager
def _proof_of(options: argparse.Namespace) -> Iterator[tuple[Proof, Wish]]:
    """The proof of the file; meshes are there while the block runs."""
    began = clock.now()
    formats.expose_pxr()
    from ..proving import expectations
    from ..proving.prove import Wish, prove
    from ..usd import read as usd_read

    source = formats.require_stage(options.file)
    place = Path(options.expect) if options.expect else expectations.beside(Path(options.file))
    expected = expectations.read(place) if place.is_file() else []
    pythons = _pythons(options)
    with output_to_stderr(), _as_stage(options, source) as (file, found), _used(pythons):
        with usd_read.damage_refused(file):
            stage = usd_read.open_stage(file)
            model = usd_read.read_stage(stage)
        wish = Wish(options.file, model, stage, options.budget, options.seconds, pythons, expected)
        wish.issues = found
        wish.sections = frozenset(getattr(options, "only", ())) or wish.sections
        wish.trips = trips_of(file) if "rewrites" in wish.sections else {}
        # A keyframe is a pose that is chosen.
        wish.is_posed = source.is_posed or bool(options.keyframe)
        if source is formats.MJCF and not wish.is_posed:
            from ..usd import mjcf_stage

            wish.keyframes = mjcf_stage.keyframes_of(Path(options.file))
        with ExitStack() as stack:
            if options.against:
                other, issues = stack.enter_context(model_in(options.against, choices_of(options)))
                print_issues(options, issues, warn)
                wish.against, wish.against_words = _matched(model, other), f"in '{Path(options.against).name}'"
                wish.unread = _unread(options)
            wish.used = clock.now() - began
            with usd_read.damage_refused(file):
                proof = prove(wish)
            yield proof, wish


@contextmanager
def _as_stage(options: argparse.Namespace, source: formats.Format) -> Iterator[tuple[str, list[Issue]]]:
    """(the file as a USD file, issues of reading it); a scene of Blender is exported."""
    if source.as_stage is not None:
        with source.as_stage(options.file, source.chosen(choices_of(options))) as (file, issues):
            print_issues(options, issues, warn)
            yield file, issues
        return
    import bpy

    from ..exchange import blend_file, usd_export

    with blend_file.properties_registered(), work_folder() as folder:
        issues = source.load(options.file, source.options())
        print_issues(options, issues, warn)
        units, hierarchy = usd_export.stage_options(bpy.context.scene)
        exported = folder / f"{Path(options.file).stem}.usdc"
        wanted = usd_export.ExportOptions(units, hierarchy)
        print_issues(options, usd_export.export_usd(bpy.context, exported, wanted).issues, warn)
        yield str(exported), issues


def _unread(options: argparse.Namespace) -> list[Cause]:
    """What differs between two MJCF files, such as the gain of an actuator of a tendon, and is in no model of them."""
    files = [options.file, options.against]
    if any(formats.format_of(file) is not formats.MJCF for file in files):
        return []
    from ..proving.opinions import Cause, hint_of
    from ..usd import mjcf_file

    return [
        Cause(element, attribute, said, other or "not said", hint_of(said, other))
        for element, attribute, said, other in mjcf_file.unread_differences(*map(Path, files))
    ]


def _matched(model: PhysicsModel, other: PhysicsModel) -> PhysicsModel:
    """The other model with the paths of the first, where its prims are found by name or place."""
    from ..core import matching

    moves = matching.matches(model, other)
    return other.renamed(moves) if moves else other


def _pythons(options: argparse.Namespace) -> dict[str, str]:
    """The Pythons or folders of engines, by their key: those that are named, and those of the environment."""
    from ..simulation.engines import external

    named: dict[str, str] = {}
    for text in options.engine_python:
        key, sign, python = text.partition("=")
        if not sign or key not in others():
            raise UsageError(f"'{text}' must be ENGINE=PYTHON with one of {', '.join(others())}.")
        named[key] = external.python_of(key, python)
    for key, row in others().items():
        if key not in named and os.environ.get(row.variable):
            named[key] = external.python_of(key)
    return named


@contextmanager
def _used(pythons: dict[str, str]) -> Iterator[None]:
    """Engines start by these while the block runs."""
    before = dict(PYTHONS)
    PYTHONS.update(pythons)
    try:
        yield
    finally:
        PYTHONS.clear()
        PYTHONS.update(before)


def _stamp(options: argparse.Namespace, certificate: Certificate) -> None:
    from ..usd import restated

    proof: dict[str, Any] = {
        "verdict": certificate.verdict, "digest": certificate.digest, "physics": certificate.physics,
    }  # fmt: skip
    target = Path(options.stamp).absolute()
    with replacing(target, inputs=[options.file]) as scratch:
        restated.stamp(Path(options.file).absolute(), scratch, proof)
