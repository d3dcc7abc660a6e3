# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors shown to users. Each message is one sentence that names the cause and what to do."""

from __future__ import annotations


class UsdPhysError(Exception):
    """Base of every error that an operator reports or the command line prints."""


class InputError(UsdPhysError):
    """A file or scene cannot be used as it is."""


class PointerError(InputError):
    """A file holds a pointer of Git LFS in place of its content."""


class UsageError(InputError):
    """Arguments that contradict each other, or have no effect."""


class NeedsBlenderError(UsageError):
    """What was asked for needs Blender, which this Python lacks."""


class OutputError(UsdPhysError):
    """A result cannot be written; an existing file is untouched."""


class MissingDependencyError(UsdPhysError):
    """A required module or feature is missing in this Blender or Python."""


class ValidationFailedError(UsdPhysError):
    """Validation found errors, so nothing was exported."""


class EngineError(UsdPhysError):
    """The physics engine failed within itself."""
