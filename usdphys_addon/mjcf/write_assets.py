# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes, height fields, materials and textures, each of which is written once."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..urdf.mesh_data import MeshMaterial, srgb
from .draft import Draft
from .values import Floats
from .words import row, short


class Assets:
    """Gives geoms the names of what they are made of."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._meshes: dict[bytes, str] = {}
        self._materials: dict[tuple[Any, ...], str] = {}
        self._textures: dict[Path, str | None] = {}

    def mesh(
        self, points: Floats, triangles: Any, wanted: str, uvs: Floats | None = None, *, is_seen: bool = False
    ) -> str:  # fmt: skip
        """The name of a mesh of points (n, 3). is_seen: it may be flat, as nothing collides with it."""
        parts = [one for one in (points, uvs, triangles if is_seen else None) if one is not None]
        key = b"".join(np.round(one, 9).tobytes() for one in parts)
        if key not in self._meshes:
            name = self.draft.name_of(f"mesh {len(self._meshes)}", wanted, "mesh")
            faces = "" if triangles is None else f' face="{" ".join(map(str, np.ravel(triangles).tolist()))}"'
            faces += "" if uvs is None else f' texcoord="{short(np.ravel(uvs))}"'
            faces += ' inertia="shell"' if is_seen else ""
            self.draft.assets.append(f'    <mesh name="{escape(name)}" vertex="{row(points)}"{faces}/>')
            self._meshes[key] = name
        return self._meshes[key]

    def height_field(self, path: str, wanted: str, size: tuple[float, ...], heights: Floats) -> str:
        """The name of the height field of a prim. heights: (rows, columns), the first row at the least y."""
        name = self.draft.name_of(f"field of {path}", wanted, "hfield")
        # The first row of the text is at the largest y.
        elevation = "\n      ".join(short(one) for one in heights[::-1])
        self.draft.assets.append(
            f'    <hfield name="{escape(name)}" nrow="{heights.shape[0]}" ncol="{heights.shape[1]}" '
            f'size="{row(size)}" elevation="{elevation}"/>'
        )
        return name

    def look(self, material: MeshMaterial | None) -> str:
        """Words for a look, empty for none."""
        if material is None:
            return ""
        rgba = tuple(round(value, 4) for value in srgb(material.color or (0.5, 0.5, 0.5, 1.0)))
        texture = self._texture(material.texture) if material.texture is not None else None
        key = (material.name, rgba, texture)
        if key not in self._materials:
            name = self.draft.name_of(f"material {len(self._materials)}", material.name, "material")
            words = f' texture="{escape(texture)}"' if texture else ""
            self.draft.assets.append(f'    <material name="{escape(name)}" rgba="{short(rgba)}"{words}/>')
            self._materials[key] = name
        return f' material="{escape(self._materials[key])}"'

    def _texture(self, file: Path) -> str | None:
        if file not in self._textures:
            self._textures[file] = self._new_texture(file)
        return self._textures[file]

    def _new_texture(self, file: Path) -> str | None:
        copied = self.draft.further.image(file)
        if copied is None:
            self.draft.issue_of_file(
                f"The image '{file.name}' is left out, as MuJoCo reads PNG only.", "Convert it to PNG.", "info"
            )
            return None
        name = self.draft.name_of(f"texture {file}", file.stem, "texture")
        self.draft.assets.append(f'    <texture name="{escape(name)}" type="2d" file="{escape(copied)}"/>')
        return name
