# SPDX-License-Identifier: GPL-3.0-or-later
"""The public API of USD Physics, for scripts: docs/api.md is its manual, and says what stays as it is.

Whatever works on files alone needs no Blender; each other function says so in one sentence where it is not here.
Numbers are SI with angles in degrees: kg, m, m/s, °, °/s, N·m/°. Every error that a caller can mend is a UsdPhysError
with a sentence that says how; then nothing has been changed.
"""

from ..core.errors import (
    InputError,
    MissingDependencyError,
    NeedsBlenderError,
    OutputError,
    UsageError,
    UsdPhysError,
    ValidationFailedError,
)
from ..core.units import StageUnits
from ..core.validate import Issue
from . import generate
from .actions import group, ignore_groups, join, set_material, tag
from .files import (
    ExportOptions,
    bake,
    clear_bake,
    convert,
    export,
    fix_file,
    fix_scene,
    import_file,
    open_scene,
    simulate_file,
    simulate_scene,
    validate_file,
    validate_scene,
)
from .names import AttributeInfo, attributes, describe
from .results import FileReport, FixReport, Motion, Report
from .stages import Stage, open_stage, variants
from .values import applied, apply_schema, get_value, remove_schema, set_value, set_values

__all__ = [
    "AttributeInfo", "ExportOptions", "FileReport", "FixReport", "InputError", "Issue", "MissingDependencyError",
    "Motion", "NeedsBlenderError", "OutputError", "Report", "Stage", "StageUnits", "UsageError", "UsdPhysError",
    "ValidationFailedError", "applied", "apply_schema", "attributes", "bake", "clear_bake", "convert", "describe",
    "export", "fix_file", "fix_scene", "generate", "get_value", "group", "ignore_groups", "import_file", "join",
    "open_scene", "open_stage", "remove_schema", "set_material", "set_value", "set_values", "simulate_file",
    "simulate_scene", "tag", "validate_file", "validate_scene", "variants",
]  # fmt: skip
