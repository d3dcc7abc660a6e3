# SPDX-License-Identifier: GPL-3.0-or-later
"""Twins of the files of others: stages, robots and glTF scenes with the same features, for who has not got those.

`write` makes a folder with the layout of the shared one. A file here is made for what a file there is good for.
"""

from __future__ import annotations

from pathlib import Path

from . import assets_of_layers, cases, gltf_files, stages

#: Folder of the USD files, as in the shared set.
USD, URDF, GLTF = Path("devset", "usd"), Path("devset", "urdf"), Path("devset", "gltf")


def write(folder: Path) -> Path:
    """Write all twins below a folder, which is made. Returns the folder."""
    for part, files in (
        (USD, stages.FILES), (USD, assets_of_layers.STAGES), (URDF, assets_of_layers.ROBOTS), (GLTF, gltf_files.FILES),
        (Path("cases"), cases.FILES),
    ):  # fmt: skip
        for name, text in files.items():
            path = folder / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in assets_of_layers.CRATES:
                _write_crate(path, text)
            else:
                path.write_text(text, encoding="utf-8")
    return folder


def _write_crate(path: Path, text: str) -> None:
    from pxr import Sdf  # here: bpy has to be imported before it

    layer = Sdf.Layer.CreateAnonymous(".usda")
    if not layer.ImportFromString(text) or not layer.Export(str(path)):
        raise ValueError(f"the text of {path.name} is no USD")
