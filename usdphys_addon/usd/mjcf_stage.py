# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of MuJoCo as USD files, without Blender: for its import, for commands that only read, and for a conversion."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pxr import Gf, Kind, Sdf, Usd, UsdGeom, UsdShade, Vt

from ..core import paths
from ..core.errors import OutputError
from ..core.model import GRAVCOMP
from ..core.units import SI
from ..core.validate import Issue
from ..core.words import named
from ..mjcf import layout, poses, read, source
from ..mjcf.values import Actuator
from ..system.files import checked, refuse_parts, replace_together, scratch_folder, work_folder
from ..urdf.mesh_data import linear
from . import looks, write
from .opinions import BINDING_API
from .robot_files import images_of

if TYPE_CHECKING:
    from ..mjcf.layout import Layout
    from ..mjcf.values import Look


#: The whole text of the model, on the root prim: a later export of MJCF changes only what was edited.
SOURCE = "mjcf:source"
#: Of the text, as JSON: name and encoding of its file, texts of the files that it includes, the keyframe in whose pose
#: the prims are, if any, and where it was, seen from the USD file, if that is known.
ABOUT = "mjcf:about"


def keyframes_of(path: Path) -> list[str]:
    """Names of the keyframes of a file. Raises InputError."""
    return poses.names(read.read_file(path))


def plan(path: Path, keyframe: str = "") -> Layout:
    """Read a model and decide on its prims. keyframe: whose pose it gets, see `layout.plan`. Raises InputError."""
    model = read.read_file(path)
    if not keyframe and (known := poses.names(model)):
        model.issues.append(Issue(
            "MjcfKeyframes", "info", "", model.name, f"'{path.name}' has keyframes, and is read in none of them: "
            f"{named(known)}.", "Choose one when the file is read.",
        ))  # fmt: skip
    return layout.plan(model, keyframe=keyframe)


def write_stage(planned: Layout, target: Path, textures: Path | None = None, home: Path | None = None) -> None:
    """Write a model as a USD file. textures: folder beside it that images are copied to; None leaves them in place.

    home: folder of the final file, from which the text of the model is to find its meshes again.
    """
    stage = Usd.Stage.CreateInMemory(target.name)
    fill_stage(planned, stage, textures)
    _keep_text(stage, planned, home)
    if not stage.GetRootLayer().Export(str(target)):
        raise OutputError(f"'{target}' could not be written; the old file is untouched.")


def fill_stage(planned: Layout, stage: Usd.Stage, textures: Path | None = None) -> None:
    """Write a model to an empty stage, without its text."""
    write.write_units(stage, SI)
    write.write_model(stage, planned.model, SI)
    root = stage.GetRootLayer().GetPrimAtPath(planned.root)
    root.SetInfo("kind", Kind.Tokens.component)
    stage.GetRootLayer().defaultPrim = root.name
    for path, lift in planned.lifts.items():
        stage.GetPrimAtPath(path).CreateAttribute(GRAVCOMP, Sdf.ValueTypeNames.Float).Set(lift)
    for prim in planned.model.prims.values():
        if prim.label and prim.label != prim.name:
            stage.GetPrimAtPath(prim.path).SetDisplayName(prim.label)
    _Looks(stage, planned, textures).write()


def _keep_text(stage: Usd.Stage, planned: Layout, home: Path | None) -> None:
    path, kept = planned.source.path, source.of_model(planned.source)
    about: dict[str, object] = {"name": kept.name, "encoding": kept.encoding}
    if kept.parts:
        about["parts"] = kept.parts
    if kept.missing:
        about["missing"] = sorted(kept.missing)
    if planned.keyframe:
        about["keyframe"] = planned.keyframe
    if home is not None:
        about["folder"] = Path(os.path.relpath(path.parent, home)).as_posix()
    root = stage.GetPrimAtPath(planned.root)
    for name, text in ((SOURCE, kept.text), (ABOUT, json.dumps(about))):
        root.CreateAttribute(name, Sdf.ValueTypeNames.String, True, Sdf.VariabilityUniform).Set(text)


def actuator_of(prim: Usd.Prim, name: str, target: str) -> Actuator:
    """The numbers of a prim of type MjcActuator. target: path of what it moves."""

    def value(word: str, usual: Any) -> Any:
        found = prim.GetAttribute(f"mjc:{word}").Get()
        return usual if found is None else found

    def pair(word: str) -> tuple[float, float] | None:
        low, high = (float(value(f"{word}Range:{end}", 0.0)) for end in ("min", "max"))
        limited = value(f"{word}Limited", "auto")
        return (low, high) if limited == "true" or (limited == "auto" and low < high) else None

    made = Actuator(name, target)
    made.gain_type, made.bias_type, made.dynamics_type = (
        str(value(word, usual)) for word, usual in (("gainType", "fixed"), ("biasType", "none"), ("dynType", "none"))
    )
    made.gains, made.biases, made.gears, made.dynamics = (
        tuple(map(float, value(word, usual))) for word, usual in
        (("gainPrm", (1.0,)), ("biasPrm", ()), ("gear", (1.0,)), ("dynPrm", (1.0,)))
    )  # fmt: skip
    made.force, made.control, made.activity = pair("force"), pair("ctrl"), pair("act")
    return made


class _Looks:
    """Writes the materials of geoms that are seen, each once."""

    def __init__(self, stage: Usd.Stage, planned: Layout, textures: Path | None) -> None:
        self.stage, self.planned, self.images = stage, planned, looks.Images(textures)
        self.made: dict[tuple[object, ...], str] = {}

    def write(self) -> None:
        for path, look in self.planned.looks.items():
            prim = self.stage.GetPrimAtPath(path)
            key = (look.name, look.rgba, look.texture)
            if key not in self.made:
                self.made[key] = self._material(look)
            prim.AddAppliedSchema(BINDING_API)
            UsdShade.MaterialBindingAPI(prim).Bind(UsdShade.Material.Get(self.stage, self.made[key]))
            red, green, blue, alpha = linear(look.rgba)
            color = UsdGeom.Gprim(prim).CreateDisplayColorPrimvar()
            color.Set(Vt.Vec3fArray([Gf.Vec3f(red, green, blue)]))
            if alpha < 1.0:
                UsdGeom.Gprim(prim).CreateDisplayOpacityPrimvar().Set(Vt.FloatArray([alpha]))

    def _material(self, look: Look) -> str:
        above = f"{self.planned.root}/materials"
        if not self.stage.GetPrimAtPath(above):
            UsdGeom.Scope.Define(self.stage, above)
        path = paths.free(f"{above}/{layout.identifier(look.name)}", self.stage.GetPrimAtPath)
        material = UsdShade.Material.Define(self.stage, path)
        shader = UsdShade.Shader.Define(self.stage, f"{path}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        names, (red, green, blue, alpha) = Sdf.ValueTypeNames, linear(look.rgba)
        diffuse = shader.CreateInput("diffuseColor", names.Color3f)
        diffuse.Set(Gf.Vec3f(red, green, blue))
        if look.texture is not None:
            image = UsdShade.Shader.Define(self.stage, f"{path}/Texture")
            image.CreateIdAttr("UsdUVTexture")
            image.CreateInput("file", names.Asset).Set(Sdf.AssetPath(self.images.asset(look.texture)))
            diffuse.ConnectToSource(image.ConnectableAPI(), "rgb")
        shader.CreateInput("opacity", names.Float).Set(alpha)
        shader.CreateInput("roughness", names.Float).Set(0.5)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        return path


@contextmanager
def as_stage(path: Path, keyframe: str = "") -> Iterator[tuple[Path, Layout]]:
    """A model as a USD file in a folder that is deleted on exit. keyframe: see `plan`."""
    with work_folder() as folder:
        planned = plan(path, keyframe)
        target = folder / f"{planned.root[1:][:80]}.usdc"
        write_stage(planned, target, home=folder)
        yield target, planned


def convert(
    path: Path, target: Path, *, strict: bool = False, keyframe: str = ""
) -> tuple[list[Issue], dict[str, int]]:  # fmt: skip
    """Write a model as a USD file that takes the place of the target, with its images in NAME_textures beside it.

    Returns (issues, number of prims with physics by kind). strict: write nothing where the checks find errors.
    keyframe: see `plan`. Raises InputError, OutputError and ValidationFailedError.
    """
    from ..core import proof, summary, validate
    from . import read as usd_read
    from . import verify

    checked(target, [path])
    planned = plan(path, keyframe)
    refuse_parts(target, path, planned.source.files)
    with scratch_folder(target) as folder:
        made, images = folder / target.name, folder / f"{target.stem}_textures"
        write_stage(planned, made, images, target.parent)
        model = usd_read.read_stage(usd_read.open_stage(made))
        issues = validate.validate(model, check_geometry=False)
        deviations, _ = proof.Proof(planned.model).mismatches(partial(verify.facts_of_file, made))
        issues += proof.issues_of(deviations, is_of_robot=True)
        validate.refuse_errors(planned.issues + issues, target, strict=strict)
        replace_together(folder, target, images_of(target, images.name))
    return planned.issues + issues, summary.counts(model)
