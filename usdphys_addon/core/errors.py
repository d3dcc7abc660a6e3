# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors that reach a user: each message is one sentence that names the culprit and says what to do."""

from __future__ import annotations


class UsdPhysError(Exception):
    """Base of every error that an operator reports or the command line prints."""


class InputError(UsdPhysError):
    """A file or scene cannot be used as it is."""


class OutputError(UsdPhysError):
    """A result cannot be written; what was there before is untouched."""


class MissingDependencyError(UsdPhysError):
    """Something that this Blender or Python lacks is needed."""


class ValidationFailedError(UsdPhysError):
    """The physics has errors that would make a wrong file."""
