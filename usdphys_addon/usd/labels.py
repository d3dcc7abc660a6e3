# SPDX-License-Identifier: GPL-3.0-or-later
"""Semantic labels of a finished file, for what generates training data of it: UsdSemantics' LabelsAPI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pxr import Sdf

from ..core.errors import UsageError
from ..core.validate import Issue
from ..system.files import replacing
from .read import open_stage
from .write import apply_schemas

_API = "SemanticsLabelsAPI"


def parse(texts: Iterable[str]) -> dict[str, list[str]]:
    """Words by taxonomy of texts such as "category=robot"; one taxonomy can have several words. Raises UsageError."""
    found: dict[str, list[str]] = {}
    for text in texts:
        taxonomy, equals, word = (part.strip() for part in text.partition("="))
        if not (equals and word and Sdf.Path.IsValidIdentifier(taxonomy)):
            raise UsageError(f"'{text}' is no label; give a taxonomy and a word, such as category=robot.")
        words = found.setdefault(taxonomy, [])
        if word not in words:
            words.append(word)
    return found


def add_to_file(file: Path, labels: dict[str, list[str]]) -> list[Issue]:
    """Put labels on the default prim of a USD file, in the place of those of the same taxonomies.

    Returns an issue where there is no default prim. The file is replaced in one step. Raises OutputError.
    """
    stage = open_stage(file)
    home = stage.GetDefaultPrim()
    if not home:
        return [Issue(
            "LabelsMissing", "warning", "/", "", "The file has no default prim, so it has no labels.",
            "Put all objects below one.",
        )]  # fmt: skip
    layer = Sdf.Layer.OpenAsAnonymous(str(file))
    spec = Sdf.CreatePrimInLayer(layer, home.GetPath())
    for taxonomy, words in labels.items():
        apply_schemas(spec, [f"{_API}:{taxonomy}"])
        name = f"semantics:labels:{taxonomy}"
        item = spec.attributes.get(name) or Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.TokenArray)
        item.default = words
    del stage
    with replacing(file) as scratch:
        layer.Export(str(scratch))
    return []
