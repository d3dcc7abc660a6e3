# SPDX-License-Identifier: GPL-3.0-or-later
"""Files without Blender: the physics of a stage, its values by their names in USD, and its edits as another file."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from .. import formats
from ..core import joint_kinds
from ..core.errors import InputError, UsageError
from ..core.nearest import did_you_mean
from ..core.units import StageUnits
from ..core.validate import TARGETS, Issue, Target, validate
from .names import Declared, declared, from_model, to_model
from .results import FileReport

if TYPE_CHECKING:
    from ..core.model import PhysicsModel, Prim
    from ..formats import Choices

StageForm = Literal["copy", "layer", "flat"]


def choices_of(
    variants: Sequence[str], packages: Mapping[str, str | Path] | None, prim: str = ""
) -> Choices:  # fmt: skip
    if isinstance(variants, str):
        raise UsageError(f"variants is a list of choices; give ({variants!r},).")
    texts = tuple(f"{name}={folder}" for name, folder in (packages or {}).items())
    given = {"variants": tuple(variants), "prim": prim, "packages": texts}
    return {name: value for name, value in given.items() if value}


def read_as(file: str, choices: Choices) -> tuple[formats.Format, Any]:
    """The format of a file, and its options of reading. Raises UsageError for one that has no effect on it."""
    kind = formats.format_of(file)
    refuse_idle(file, kind, choices, kind.takes)
    return kind, kind.chosen(choices)


def refuse_idle(file: str, kind: formats.Format, names: Iterable[str], heeded: Collection[str]) -> None:
    """Raise UsageError for an option that is set and has no effect on a file of this kind."""
    idle = next((name for name in names if name not in heeded), None)
    if idle is not None:
        raise UsageError(f"{idle} has no effect on '{file}', which is a {kind.name}; leave it out.")


class Stage:
    """The physics of a file, by the paths of its prims. Made by `open_stage`; `close` it, or use it in a with block.

    path: of the file. units: of the file; the values are in those of the API all the same. issues: what could not be
    read. Nothing is written before `save`.
    """

    def __init__(self, path: Path, model: PhysicsModel, issues: list[Issue], opened: ExitStack) -> None:
        self.path = path
        self.issues: tuple[Issue, ...] = tuple(issues)
        self._model, self._opened = model, opened
        self._edited: dict[str, Prim] = {}

    @property
    def units(self) -> StageUnits:
        """metersPerUnit, kilogramsPerUnit and up axis of the file."""
        return self._model.units

    # ------------------------------------------------------------------ what there is

    @property
    def prims(self) -> tuple[str, ...]:
        """Paths of all prims with physics, in the order of the stage."""
        return tuple(self._model.prims)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Paths of the rigid bodies."""
        return tuple(self._model.bodies)

    @property
    def colliders(self) -> tuple[str, ...]:
        """Paths of the colliders."""
        return tuple(self._model.colliders)

    @property
    def joints(self) -> tuple[str, ...]:
        """Paths of the joints."""
        return tuple(self._model.joints)

    @property
    def materials(self) -> tuple[str, ...]:
        """Paths of the physics materials."""
        return tuple(self._model.materials)

    def applied(self, path: str) -> tuple[str, ...]:
        """The physics schemas of a prim, with their instances. Raises InputError with the nearest path."""
        return tuple(self._prim(path).schemas)

    def summary(self) -> dict[str, Any]:
        """Units, bodies, colliders, joints and the rest as `usdphys inspect --json` prints them. SI, degrees."""
        from ..core import summary

        return summary.summarise(self._now())

    # ------------------------------------------------------------------ values

    def get_value(self, path: str, name: str) -> Any:
        """The authored value of an attribute of a prim; None without one. A relationship gives paths.

        name: in USD, such as "physics:mass". Numbers are SI with angles in degrees, see `describe`, whatever the units
        of the file are; directions are Z up. Raises InputError, with the nearest name, for unknown names and paths, and
        for an attribute that the prim cannot have.
        """
        prim = self._prim(path)
        one = self._meant(prim, name)
        value = prim.schemas.get(one.applied)
        if value is None:
            return None
        return from_model(one, getattr(value, one.attribute.field), one.dimension(value.unit_mode, prim.type_name))

    def set_value(self, path: str, name: str, value: Any, *, unit: str | None = None) -> None:
        """Author an attribute of a prim, to be written by `save`. A schema that can be applied is.

        value: SI with angles in degrees, or in `unit` ("g", "cm", "rad"); paths for a relationship; None removes what
        is authored. Raises InputError as `get_value` does, and for a value of another type or a wrong unit; nothing is
        changed then.
        """
        self._set(path, {name: value}, unit)

    def set_values(self, path: str, values: Mapping[str, Any]) -> None:
        """`set_value` for several attributes of a prim: all of them are set, or none."""
        self._set(path, values, None)

    def _set(self, path: str, values: Mapping[str, Any], unit: str | None) -> None:
        if self._format is not formats.USD:
            raise InputError(f"'{self.path}' is a {self._format.name}; only USD files are edited without Blender.")
        prim = copy.copy(self._prim(path))
        prim.schemas = dict(prim.schemas)
        # What decides about the units of others goes first.
        for name in sorted(values, key=lambda each: not each.endswith(":type")):
            one = self._meant(prim, name)
            key = one.applied
            held = prim.schemas.get(key) or one.cls()
            prim.schemas[key] = held.copy(**{one.attribute.field: self._content(one, held, prim, values[name], unit)})
        self._edited[path] = prim

    def _content(self, one: Declared, held: Any, prim: Prim, value: Any, unit: str | None) -> Any:
        if value is None:
            return None
        if not one.attribute.is_relationship:
            return to_model(one, value, one.dimension(held.unit_mode, prim.type_name), unit)
        targets = (value,) if isinstance(value, str) else tuple(value)
        for target in targets:
            known = self._model.prims.keys() | (self._model.other_paths or set())
            if target not in known:
                hint = did_you_mean(str(target), known)
                raise InputError(f"'{self.path}' has no prim {target!r} for '{one.name}'{hint}")
        return targets

    @property
    def _format(self) -> formats.Format:
        return formats.format_of(str(self.path))

    def _prim(self, path: str) -> Prim:
        prim = self._edited.get(path) or self._model.prims.get(path)
        if prim is None:
            if path in (self._model.other_paths or ()):
                raise InputError(f"'{path}' of '{self.path}' has no physics.")
            hint = did_you_mean(path, self._model.prims)
            raise InputError(f"'{self.path}' has no prim '{path}' with physics{hint}")
        return prim

    def _meant(self, prim: Prim, name: str) -> Declared:
        """The attribute of a prim that has a name, of a schema that the prim has or could get."""
        known = declared(name)
        for one in known:
            if one.applied in prim.schemas:
                return one
        for one in known:
            if one.cls.kind != "typed" and self._may_have(prim, one):
                return one
        schemas = sorted({one.applied for one in known})
        raise InputError(f"'{prim.path}' cannot have '{name}', which is of {' and '.join(schemas)}.")

    @staticmethod
    def _may_have(prim: Prim, one: Declared) -> bool:
        place, joint = one.cls.on, joint_kinds.BY_TYPE_NAME.get(prim.type_name)
        if place in ("joint", "dof"):
            dofs = (*joint.limits, *joint.drives) if joint is not None else ()
            return joint is not None and (place == "joint" or one.is_vendors or one.instance in dofs)
        if place == "scene":
            return prim.type_name == "PhysicsScene"
        if place == "material":
            return "PhysicsMaterialAPI" in prim.schemas or prim.type_name == "Material"
        if place == "collider":
            return "PhysicsCollisionAPI" in prim.schemas
        # A rigid body or its mass can be anywhere but on what is no part of the scene.
        return place in ("body", "articulation") and joint is None and prim.is_xformable

    # ------------------------------------------------------------------ check, simulate and write

    def _now(self) -> PhysicsModel:
        """The model with the edits."""
        model = copy.copy(self._model)
        model.prims = {**self._model.prims, **self._edited}
        return model

    def validate(self, target: Target = "usd") -> list[Issue]:
        """What is wrong with the file and its edits, errors first. target: "usd", or the simulator that will read it.

        Raises InputError for an unknown target.
        """
        return [*self.issues, *validate(self._now(), checked_target(target))]

    def save(self, path: str | Path, form: StageForm = "copy") -> FileReport:
        """Write the file with the edits; the source itself is never changed.

        form: "copy" is a copy of the root layer, in which all else stays as it is; "layer" holds the edits alone, over
        the source; "flat" is one file without references, payloads and variants. Raises InputError and OutputError.
        """
        if self._format is not formats.USD:
            raise InputError(f"'{self.path}' is a {self._format.name}; only USD files are edited without Blender.")
        if form not in ("copy", "layer", "flat"):
            raise InputError(f"There is no form {form!r}; choose one of copy, layer, flat.")
        from ..core.difference import difference
        from ..core.summary import counts
        from ..usd.edit_layer import write_edits

        now = self._now()
        result = write_edits(self.path, Path(path).absolute(), form, difference(self._model, now))
        return FileReport(result.path, tuple(result.packed), counts(now))

    def close(self) -> None:
        """Let go of the file."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        self.close()


def open_stage(path: str | Path, *, packages: Mapping[str, str | Path] | None = None) -> Stage:
    """Open a USD, URDF, xacro or glTF file to read its physics, and to edit that of a USD file. Needs no Blender.

    packages: folders of the ROS packages of a robot, by name. Raises InputError for a file that cannot be read, and for
    a .blend, which `open_scene` opens.
    """
    file = str(path)
    row = formats.format_of(file)
    if row.is_scene:
        raise InputError(f"'{file}' is a .blend file; open it with open_scene(), in Blender.")
    _, load = read_as(file, choices_of((), packages))
    opened = ExitStack()
    with ExitStack() as until_read:
        until_read.push(opened)
        model, issues = opened.enter_context(row.read(file, load))
        until_read.pop_all()
    return Stage(Path(file).absolute(), model, issues, opened)


def checked_target(target: str) -> Target:
    for known in TARGETS:
        if target == known:
            return known
    hint = did_you_mean(str(target), TARGETS, f"; choose one of {', '.join(TARGETS)}.")
    raise UsageError(f"There is no target {target!r}{hint}")


def variants(path: str | Path) -> dict[tuple[str, str], tuple[str, ...]]:
    """The variants of a USD file by (path of the prim, name of the set). Needs no Blender. Raises InputError."""
    if formats.format_of(str(path)) is not formats.USD:
        raise InputError(f"'{path}' has no variants; only USD files have any.")
    formats.expose_pxr()
    from ..usd import composition
    from ..usd import read as usd_read

    with usd_read.damage_refused(str(path)):
        sets = composition.variant_sets(usd_read.open_stage(str(path)))
    return {(one.prim_path, one.name): one.choices for one in sets}
