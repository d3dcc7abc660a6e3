# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots in URDF and SDF as USD files, without Blender: for imports, commands that only read, and for conversions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import InputError, OutputError, UsageError
from ..system.files import (
    SDF_SUFFIXES,
    checked,
    refuse_parts,
    replace_together,
    replacing,
    scratch_folder,
    work_folder,
)

if TYPE_CHECKING:
    from ..core.validate import Issue
    from ..urdf.assets import Assets
    from ..urdf.layout import Base, Drives, Layout
    from ..urdf.robot import Robot
    from .robot_stage import RobotTexts


@dataclass(slots=True)
class RobotOptions:
    """packages: folder by name. arguments: of xacro, by name. srdf: file with pairs of links that do not collide.

    Others: see `urdf.layout.LayoutOptions`.
    """

    packages: Mapping[str, Path] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    base: Base = "file"
    prefix: str = ""
    merge_fixed: bool = False
    approximation: str = "convexHull"
    srdf: str = ""
    drives: Drives = "effort"
    self_collision: bool = True
    visuals: bool = True
    visual_colliders: bool = False


def parse_packages(texts: tuple[str, ...]) -> dict[str, Path]:
    """Folder by name from texts like NAME=FOLDER. Raises UsageError."""
    folders = {}
    for text in texts:
        name, mark, folder = text.partition("=")
        if not (mark and name and folder):
            raise UsageError(f"'{text}' names no package; write NAME=FOLDER.")
        if not Path(folder).is_dir():
            raise InputError(f"The folder '{folder}' of the package '{name}' does not exist; check its name.")
        folders[name] = Path(folder).absolute()
    return folders


def known_packages(texts: tuple[str, ...]) -> dict[str, Path]:
    """As `parse_packages`, without folders that are gone: these packages are there for all robots."""
    parts = [text.partition("=") for text in texts]
    return {name: Path(folder).absolute() for name, _, folder in parts if name and folder and Path(folder).is_dir()}


def parse_arguments(texts: tuple[str, ...]) -> dict[str, str]:
    """Value by name from texts like NAME:=VALUE. Raises UsageError."""
    values = {}
    for text in texts:
        name, mark, value = text.partition(":=")
        if not (mark and name):
            raise UsageError(f"'{text}' is no argument of xacro; write NAME:=VALUE.")
        values[name] = value
    return values


def arguments_of(path: Path) -> dict[str, str]:
    """The arguments of a xacro file with their values, without those that other values decide. Raises InputError."""
    from ..urdf import read, xacro

    defaults = xacro.arguments_of(read.markup_of(path)[0])
    return {name: value for name, value in defaults.items() if "$" not in value and ";" not in value}


def read_robot(path: Path, options: RobotOptions) -> Robot:
    """Read a URDF or an SDF, or expand a xacro. Raises InputError."""
    from ..sdf import read as sdf_read
    from ..urdf import read as urdf_read
    from ..urdf.packages import Packages

    packages = Packages(path.absolute().parent, options.packages)
    if path.suffix.lower() in SDF_SUFFIXES:
        return sdf_read.read_file(path, packages)
    return urdf_read.read_file(path, packages, options.arguments)


def plan_robot(path: Path, options: RobotOptions) -> Layout:
    """Read a robot and decide on its prims. Raises InputError."""
    from ..urdf import layout, srdf
    from ..urdf.packages import Packages

    file = Path(options.srdf).absolute()
    apart = srdf.read_pairs(file, Packages(file.parent, options.packages)) if options.srdf else ()
    chosen = layout.LayoutOptions(
        options.base, options.prefix, options.merge_fixed, options.approximation, apart, options.drives,
        options.self_collision, options.visuals, options.visual_colliders,
    )  # fmt: skip
    return layout.plan(read_robot(path, options), chosen)


def write_stage(
    plan: Layout, assets: Assets, target: Path, *, textures: Path | None = None, physics: bool = True
) -> RobotTexts:
    """Write a robot as a USD file. textures: folder beside it that images are copied to; None leaves them in place.

    assets: see `assets_of`. physics: see `robot_stage.write_robot`.
    """
    from pxr import Usd

    from . import robot_stage

    stage = Usd.Stage.CreateInMemory(target.name)
    texts = robot_stage.write_robot(plan, assets, stage, textures, physics=physics)
    if not stage.GetRootLayer().Export(str(target)):
        raise OutputError(f"'{target}' could not be written; the old file is untouched.")
    plan.robot.files += assets.packages.used
    return texts


def assets_of(plan: Layout, options: RobotOptions) -> Assets:
    """Finds and reads the meshes and images of a robot."""
    from ..urdf.assets import Assets
    from ..urdf.packages import Packages

    return Assets(Packages(plan.robot.path.absolute().parent, options.packages))


@contextmanager
def robot_as_stage(
    path: Path, options: RobotOptions, *, physics: bool = True
) -> Iterator[tuple[Path, Layout, RobotTexts]]:  # fmt: skip
    """A robot as a USD file in a folder that is deleted on exit. physics: see `robot_stage.write_robot`."""
    with work_folder() as folder:
        plan = plan_robot(path, options)
        target = folder / f"{plan.root[1:][:80]}.usdc"
        yield target, plan, write_stage(plan, assets_of(plan, options), target, physics=physics)


def convert(
    path: Path, options: RobotOptions, target: Path, *, strict: bool = False, physx_words: bool = False
) -> tuple[list[Issue], dict[str, int]]:
    """Write a robot as a USD file that takes the place of the target, with its images in NAME_textures beside it.

    Returns (issues, number of prims with physics by kind). strict: write nothing where the checks find errors.
    physx_words: see `core.runtimes`. Raises InputError, OutputError and ValidationFailedError.
    """
    from ..core import runtimes, validate

    checked(target, [path])
    plan = plan_robot(path, options)
    refuse_parts(target, path, plan.robot.files)
    if physx_words:
        runtimes.add_physx_words(plan.model)
    with scratch_folder(target) as folder:
        is_package = target.suffix.lower() == ".usdz"
        made = folder / (f"{target.stem}.usdc" if is_package else target.name)
        images = folder / f"{target.stem}_textures"
        assets = assets_of(plan, options)
        write_stage(plan, assets, made, textures=images)
        issues, counts = _checks(made, plan, assets)
        validate.refuse_errors(plan.issues + issues, target, strict=strict)
        if is_package:
            issues += _pack(made, target)
        else:
            replace_together(folder, target, images_of(target, images.name))
    return plan.issues + issues, counts


def _checks(made: Path, plan: Layout, assets: Assets) -> tuple[list[Issue], dict[str, int]]:
    """(what the checks find in a file, and where it differs from the robot; number of prims with physics by kind)."""
    from ..core import proof, summary, validate
    from ..urdf import verify
    from . import read

    stage = read.open_stage(made)
    model = read.read_stage(stage)
    # Links below each other are what a robot is written as, so nobody is told of them.
    issues = validate.validate(model, hierarchy="reset", check_geometry=False)
    issues += proof.issues_of(verify.stage_differences(plan, model, assets), is_of_robot=True)
    return issues, summary.counts(model)


def _pack(made: Path, target: Path) -> list[Issue]:
    """Put a file and its images into a package, which takes the place of the target."""
    from pxr import UsdUtils

    from .files import packages

    with replacing(target) as scratch:
        if not UsdUtils.CreateNewUsdzPackage(str(made), str(scratch)):
            raise OutputError(f"'{target}' could not be written; the old file is untouched.")
        return packages.cleaned(scratch, target)


def images_of(target: Path, folder: str) -> list[Path]:
    """The images in a folder beside an old target that it uses: they may be replaced with it."""
    from pxr import Sdf, Tf

    from .files.layers import modify_asset_paths

    images: list[Path] = []

    def note(asset: str) -> str:
        if asset.startswith(f"./{folder}/"):
            images.append(target.parent / asset)
        return asset

    if target.is_file():
        with suppress(Tf.ErrorException):
            modify_asset_paths(Sdf.Layer.OpenAsAnonymous(str(target)), note)
    return images
