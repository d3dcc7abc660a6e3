# SPDX-License-Identifier: GPL-3.0-or-later
"""Fidelity of glTF on files of others, through Blender, judged by independent comparers.

    .venv/bin/python scripts/gltf_rounds.py [FILE ...] [--ways WAY ...] [--out FOLDER] [--usd-python PYTHON] [--all]

Without files: those of the shared set. Ways of a .gltf or .glb: `own` back to glTF in its own family; `other` to the
other family; `usd` to USD and back to glTF. Ways of a USD file: `kept` to glTF and back to USD; `bare` the same
without the facts of USD in the extras. A row per file and way: score, differences, and how many of them no report of
the way names; these are listed (--all: the others as well). Exit status 1 where there is one.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import bench
import venvs
from comparer import Comparer

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SHARED_DIR", ROOT.parent / "shared"))
GLTF, USD = ("own", "other", "usd"), ("kept", "bare")
#: Kind of a difference, part of its key, what happened -> words of the report, one of which names it with its prim.
NAMED = (
    ("", "name", "changed", ("the name of the USD prim", "the name of a physics scene")),
    ("articulation", "", "", ("an articulation",)),
    ("group", "", "", ("a collision group as such", "filtered pairs as such")),
    ("filter", "", "", ("filtered pairs as such",)),
    ("collider", "in group", "", ("a collision group as such", "filtered pairs as such")),
    ("collider", "MeshCollisionAPI", "", ("an approximation of a shape that is not a mesh",)),
    ("collider", "approximation", "", ("an approximation of a shape that is not a mesh",)),
    ("collider", "n points", "", ("the polygons of a mesh",)),
    ("collider", "n faces", "", ("the polygons of a mesh",)),
    ("collider", "material", "", ("the physics materials of single faces",)),
    ("collider", "facts", "", ("the shape Xform",)),
    ("collider", "", "", ("a mass or a density of a shape", "a density")),
    ("material", "", "", ("a density", "a physics material that belongs to no whole shape")),
    ("body", "", "", ("a density", "densities that its mass follows from", "an automatic mass that is authored")),
    ("body", "sim", "", ("a physics scene of its own",)),
    ("joint", "breakForce", "", ("a break force",)),
    ("joint", "breakTorque", "", ("a break torque",)),
    ("joint", "minDistance", "", ("a minimum distance of 0",)),
    ("joint", "articulation", "", ("excluded from its articulation",)),
    ("joint", "type", "", ("the type ",)),
    ("joint", "", "", ("the two bodies are swapped", "a disabled joint", "the type ")),
)  # fmt: skip

#: What stands before and after the path of a prim in a report.
AROUND = (("(", ")"), (" ", ","), (" ", " "), (" ", "."))


class Rounds:
    """Converts files in this process, and judges what came of them."""

    def __init__(self, out: Path, python: Path) -> None:
        bench.load_extension().register()
        self.out = out
        out.mkdir(parents=True, exist_ok=True)
        self.of_gltf = Comparer(SHARED / "tools" / "gltf_physics_check.py", python, ("compare",))
        self.of_usd = Comparer(SHARED / "tools" / "compare_physics.py", python)

    def load(self, file: Path) -> list[str]:
        """Open a file as the scene; returns the report."""
        from usdphys_ext.usdphys_addon import formats

        kind = formats.format_of(str(file))
        return [issue.message for issue in kind.load(str(file), kind.options())]

    def write_usd(self, file: Path) -> list[str]:
        from usdphys_ext.usdphys_addon import formats

        written = formats.USD.write(str(file), formats.WriteOptions(form="composed"))
        return [] if written is None else [issue.message for issue in written.issues]

    def write_gltf(self, file: Path, family: Any, *, keeps_usd: bool = False) -> list[str]:
        import bpy
        from usdphys_ext.usdphys_addon.exchange import gltf_export
        from usdphys_ext.usdphys_addon.gltf import additions, names

        families = names.FAMILIES if family is None else (family,)
        options = additions.WriteOptions(families, keeps_usd=keeps_usd)
        return [issue.message for issue in gltf_export.export_gltf(bpy.context, file, options).issues]

    def round(self, file: Path, way: str) -> tuple[dict[str, Any], list[str]] | None:
        """(what the comparer says, the reports of all steps) of a file on a way; None for a file without physics."""
        from usdphys_ext.usdphys_addon.gltf import names, read
        from usdphys_ext.usdphys_addon.gltf.document import Document

        stem = self.out / f"{file.parent.name}_{file.stem}_{way}"
        usd, gltf = stem.with_name(f"{stem.name}.usda"), stem.with_name(f"{stem.name}.glb")
        if way in USD:
            texts = [*self.load(file), *self.write_gltf(gltf, None, keeps_usd=way == "kept")]
            texts += [*self.load(gltf), *self.write_usd(usd)]
            return self.of_usd.compare(file, usd), texts
        family = read.family_of(Document.load(file))
        if family is None:
            return None
        texts = self.load(file)
        if way == "usd":
            texts += [*self.write_usd(usd), *self.load(usd)]
        elif way == "other":
            family = next(one for one in names.FAMILIES if one is not family)
        texts += self.write_gltf(gltf, family)
        return self.of_gltf.compare(file, gltf), texts


def is_named(way: str, row: list[str], texts: list[str]) -> bool:
    """Whether a report names a difference [kind, what, prim, key, before, after]."""
    kind, what, prim, key = row[:4]
    if way in GLTF:
        # A unnamed node has the name of its mesh in Blender.
        words = {"mass is automatic": ("no automatic mass",), "centre of mass (m)": ("no automatic centre of mass",)}
        words["mass (kg)"] = ("an infinite mass",)
        words["inverse inertia"] = words["inertia (kg m2)"] = ("an infinite inertia",)
        return any(word in text for text in texts for word in words.get(key, ()))
    if "added" in what.lower():
        # What was not said is not lost.
        return True
    here = [
        text for text in texts if any(f"{before}{prim}{after}" in text for before, after in AROUND) or " more." in text
        or (key.startswith("in group") and "a collision group as such" in text)
    ]  # fmt: skip
    if any("the name of the USD prim" in text and f"/{prim.rpartition('/')[2]})" in text for text in texts):
        # Prims of one name are told apart by their bodies, if at all.
        return True
    if kind == "vendor":
        wanted = [*schemas_of(key), "attributes that its schemas do not declare"]
        return any(words in text for text in here for words in wanted)
    for one, part, how, words in NAMED:
        if one in ("", kind) and part in key and how in what and any(word in text for text in here for word in words):
            return True
    return False


def schemas_of(key: str) -> list[str]:
    """The simulators' schemas that a difference can be of: "schema NAME:instance", or an attribute."""
    from usdphys_ext.usdphys_addon.core import vendor_schemas
    from usdphys_ext.usdphys_addon.core.schema import Place

    if key.startswith("schema "):
        return [key.removeprefix("schema ").split(":")[0]]
    parts = key.split(":")
    return [
        cls.usd_name for cls in vendor_schemas.all_schemas(*get_args(Place))
        if any(item.usd.split(":")[0] == parts[0] and item.usd.split(":")[-1] == parts[-1] for item in cls.attributes)
        or (len(parts) == 3 and any(item.usd.split(":")[0] == parts[0] for item in cls.attributes))
    ]  # fmt: skip


def shared_files() -> Iterator[Path]:
    devset = SHARED / "devset"
    yield from sorted(devset.glob("gltf/*.gl*"))
    yield from sorted([*devset.glob("usd/*.usd*"), *devset.glob("usd/*/*.usd*")])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--ways", nargs="+", choices=(*GLTF, *USD), default=(*GLTF, *USD))
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gltf_rounds")
    parser.add_argument("--usd-python", type=Path, default=venvs.python_in(ROOT / ".venv-usd"))
    parser.add_argument("--all", action="store_true", help="list the differences that are named, too")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print("The folder of shared test files is not beside the checkout (SHARED_DIR names another).")
        return 1
    logging.disable(logging.INFO)
    rounds = Rounds(options.out.absolute(), options.usd_python)
    scores: dict[str, list[float]] = {}
    silent = 0
    for file in [path.absolute() for path in options.files] or shared_files():
        for way in GLTF if file.suffix in (".gltf", ".glb") else USD:
            found = rounds.round(file, way) if way in options.ways else None
            if found is None:
                continue
            judged, texts = found
            rows = judged["diffs"]
            unnamed = [row for row in rows if not is_named(way, row, texts)]
            scores.setdefault(way, []).append(judged["score"])
            silent += len(unnamed)
            print(f"{judged['score']:.4f} {len(rows):5} {len(unnamed):5}  {way:6} {file.name}", flush=True)
            for row in rows if options.all else unnamed:
                print("        ", *(str(item)[:90] for item in row))
    for way, values in scores.items():
        print(f"{way}: mean {sum(values) / len(values):.4f}, least {min(values):.4f}, {len(values)} files")
    print(f"{silent} differences that no report names")
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
