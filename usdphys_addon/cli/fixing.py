# SPDX-License-Identifier: GPL-3.0-or-later
"""`validate --fix`: the safe fixes of one file, written into it as edits; a file without a fix is not touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import InputError
from ..core.validate import TARGETS, Target
from ..system import blender
from ..system.files import checked
from .file_checks import FileReport, Found, Repair

#: Why an issue is left, where nothing more is known.
_NO_FIX = "it has no fix that is safe for every file"
_NEEDS_BLENDER = "the scale has to be applied to the geometry, for which Blender is needed: run this in Blender"
_NEWER = "a newer Blender has saved the file, of which this one would lose a part: fix it in that Blender"
#: Issues whose fix changes geometry.
_OF_GEOMETRY = frozenset({"NegativeScale", "ColliderSheared", "RigidBodyOrientationScale"})


@contextmanager
def replaceable(files: Sequence[str]) -> Iterator[None]:
    """Within the block, nothing holds the USD files among these open, so they can be replaced on Windows, too."""
    if not (stages := _stages(files)):
        yield
        return
    from .. import formats

    formats.expose_pxr()
    from ..usd.files import layers

    with layers.in_memory(stages):
        yield


def _stages(files: Sequence[str]) -> list[str]:
    from .. import formats

    return [file for file in files if Path(file).suffix.lower() in formats.USD.suffixes and Path(file).is_file()]


def parts_of(files: Sequence[str]) -> dict[str, str]:
    """The USD files that another file of the same run is composed of, and that file."""
    from .. import formats

    stages = _stages(files)
    if len(stages) < 2:
        return {}
    formats.expose_pxr()
    from ..usd.fixing import fix_file as usd_fixes

    return usd_fixes.parts_of(stages)


def fix_file(report: FileReport, wanted: Callable[[str], bool], targets: Sequence[str], whole: str = "") -> bool:
    """Fix what has a safe fix in a file, and note what was and what was not. Returns True if the file has changed.

    wanted: whether issues of a code are to be fixed. whole: the file that this one is a part of, which is fixed in its
    place: a rule can find in a part what is right in the whole. Raises InputError and OutputError; the file is as it
    was then.
    """
    from .. import formats

    if not report.found:
        return False
    file = Path(report.file)
    known: list[Target] = [target for target in TARGETS if target in targets] or ["usd"]
    source = formats.format_of(report.file)
    if whole:
        _leave(report, lambda _found: f"the file is a part of '{whole}', which has the fix if it needs one")
    elif source is formats.USD:
        _fix_usd(report, file, known, wanted)
    elif source is formats.BLEND:
        _fix_blend(report, file, wanted)
    elif source is formats.URDF:
        _fix_urdf(report, file, wanted)
    else:
        _leave(report, lambda _found: f"a {source.name} is not written; change it by hand, or in its source")
    return bool(report.fixed)


def _leave(report: FileReport, reason: Callable[[Found], str]) -> None:
    """Note why the issues that are neither fixed nor noted yet are left."""
    known = {(repair.code, repair.path) for repair in (*report.fixed, *report.unfixed)}
    for found in report.found:
        key = (found.issue.code, found.issue.path)
        if key not in known:
            known.add(key)
            report.unfixed.append(Repair(*key, reason(found)))


# --------------------------------------------------------------------------- USD and URDF, without Blender


def _fix_usd(report: FileReport, file: Path, targets: Sequence[Target], wanted: Callable[[str], bool]) -> None:
    from .. import formats

    formats.expose_pxr()
    from ..usd.fixing import fix_file as usd_fixes

    checked(file)
    fixed = usd_fixes.fix_file(file, targets, wanted)
    report.fixed += [Repair(*row) for row in fixed.planned.done]
    report.unfixed += [Repair(*row) for row in fixed.planned.left]
    is_rewritten = fixed.is_rewritten
    wrong = {found.issue.code for found in report.found} & _OF_GEOMETRY
    if any(map(wanted, wrong)) and file.suffix.lower() != ".usdz" and blender.is_here():
        is_rewritten |= _apply_scales(report, file, wanted)
    if is_rewritten:
        report.notes.append(
            f"'{file}' is written in a way that is not understood line by line; USD has written its text anew, without "
            "its comments."
        )
    _leave(report, lambda found: _NEEDS_BLENDER if found.issue.code in _OF_GEOMETRY else _NO_FIX)


def _apply_scales(report: FileReport, file: Path, wanted: Callable[[str], bool]) -> bool:
    """Import a USD file into Blender, apply scales to the geometry, and write these edits into the file.

    Returns True if USD has written its text anew.
    """
    import bpy

    from ..bridge.reading import DEFAULT_ROOT
    from ..checks import fixes, live
    from ..exchange import blend_file, source_export, usd_import
    from ..usd.fixing.fix_file import write_in_place
    from .output import output_to_stderr

    done = []
    with blend_file.properties_registered(), output_to_stderr():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        usd_import.import_usd(bpy.context, file.absolute(), usd_import.ImportOptions(), usd_import.LateProgress())
        scene: Any = bpy.context.scene
        for issue in live.check(scene, bpy.context.view_layer).issues:
            if issue.code not in _OF_GEOMETRY or not wanted(issue.code):
                continue
            path = issue.path.removeprefix(DEFAULT_ROOT)
            try:
                fixes.apply_fix(scene, issue)
            except InputError as error:
                report.unfixed.append(Repair(issue.code, path, str(error).rstrip(".")))
            else:
                done.append(Repair(issue.code, path, f"{fixes.FIXES[issue.code].label} to the geometry"))
        if not done:
            return False
        is_rewritten = write_in_place(file, partial(source_export.export_edits, bpy.context, form="copy"))
    report.fixed += done
    report.notes.append(
        f"Blender has written the fixed meshes of '{file}' anew: points, faces and extent, and the "
        "normals that they had."
    )
    return is_rewritten


def _fix_urdf(report: FileReport, file: Path, wanted: Callable[[str], bool]) -> None:
    from ..urdf import fix_text

    codes = {found.issue.code for found in report.found if found.issue.code in fix_text.CODES}
    if any(map(wanted, codes)):
        try:
            names = fix_text.swap_limits(file)
        except InputError as error:
            report.unfixed += [Repair(code, "", str(error)) for code in codes]
        else:
            report.fixed += [Repair(fix_text.CODES[0], f"'{name}'", fix_text.LABEL) for name in names]
    _leave(report, lambda _found: "a URDF has no safe fix for it; correct its text")


# --------------------------------------------------------------------------- .blend, in Blender


def _fix_blend(report: FileReport, file: Path, wanted: Callable[[str], bool]) -> None:
    """Open a .blend, apply the safe fixes of the panel *Checks*, and save it."""
    import bpy

    from ..checks import fixes, live
    from ..exchange import blend_file
    from .output import output_to_stderr

    checked(file)
    with blend_file.properties_registered(), output_to_stderr():
        blend_file.open_blend(str(file))
        if blend_file.is_newer():
            _leave(report, lambda _found: _NEWER)
            return
        scene: Any = bpy.context.scene
        named: dict[tuple[str, str, str], Any] = {}
        for issue in live.check(scene, bpy.context.view_layer).issues:
            if wanted(issue.code):
                named.setdefault((issue.code, issue.kind, issue.name), issue)
        done = []
        for issue in named.values():
            fix = fixes.FIXES.get(issue.code)
            if fix is None or not fix.safe:
                continue
            try:
                fixes.apply_fix(scene, issue)
            except InputError as error:
                report.unfixed.append(Repair(issue.code, issue.path, str(error).rstrip(".")))
            else:
                done.append(Repair(issue.code, issue.path, fix.label))
        if done:
            blend_file.save_blend(str(file))
    report.fixed += done
    _leave(report, lambda _found: _NO_FIX)
