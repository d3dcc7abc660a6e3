# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables of vendor schemas, usdphys_addon/core/vendor_tables/*.json, from a dump of the vendors' schemas.

    python3 scripts/vendor_tables.py DUMP.json

DUMP.json: {"classes": [{name, family, kind, attributes: [{usd, type, default, units, dimension, tokens, ...}]}]}, made
from the schema files of PhysX (BSD-3-Clause), Newton and MuJoCo (Apache-2.0). Names, types, defaults and units are
taken over, texts are not. What the dump does not say about units, or says in prose only, is in vendor_facts.toml.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "usdphys_addon" / "core" / "vendor_tables"
#: What the dump does not say, or says in prose only.
FACTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("vendor_facts.toml").read_text(encoding="utf-8"))
UNITS: dict[str, Any] = FACTS["units"]

Powers = dict[str, int]


def place_of(name: str) -> str:
    """What a schema belongs to; empty where nothing in Blender holds it."""
    return next((place for place, pattern in FACTS["places"].items() if re.search(pattern, name)), "")


def unit_text(powers: Powers) -> str:
    """ "kg*m^2/s^2" of {"kg": 1, "m": 2, "s": -2}; "1" without any."""
    above = [f"{name}^{power}" if power > 1 else name for name, power in powers.items() if power > 0]
    below = [f"/{name}^{-power}" if power < -1 else f"/{name}" for name, power in powers.items() if power < 0]
    return ("*".join(above) or "1") + "".join(below)


def product(text: str) -> Powers | None:
    """Powers of "mass * distance / seconds"; None if a word is unknown."""
    found: Powers = {}
    sign, inside = 1, False
    for token in re.findall(r"[\w]+|[*/()]", text):
        if token in "*/":
            sign = -1 if token == "/" else (sign if inside else 1)
        elif token == "(":
            inside = True
        elif token == ")":
            inside, sign = False, 1
        elif token not in FACTS["words"]:
            return None
        else:
            for name, power in FACTS["words"][token].items():
                found[name] = found.get(name, 0) + sign * power
            if not inside:
                sign = 1
    return {name: found[name] for name in ("kg", "m", "s", "deg") if found.get(name)}


def unit_of(row: dict[str, Any]) -> Any:
    """The unit of an attribute: text, a pair of texts, or None where the vendor does not say it."""
    name = row["usd"]
    for key in (name, f"{name} {row['type']}"):
        if key in UNITS:
            return UNITS[key] or None
    text = str(row.get("units") or "").split("|")[0].strip().rstrip(".")
    dimension = row.get("dimension")
    if "effort" in text:
        pair = [text.replace("effort", word) for word in ("force", "torque")]
        if " or " in text:  # "... (angular DOFs) or ... (linear DOFs)"
            angular, linear = (part.partition("(")[0] for part in text.split(" or "))
            pair = [linear.replace("effort", "force"), angular.replace("effort", "torque")]
        return [unit_text(product(part) or {}) for part in pair]
    if " or " in text and "(local" not in text:
        parts = [part.partition("(")[0] if "DOF" in part else part for part in text.split(" or ")]
        pair = parts[::-1] if "(angular" in text.split(" or ")[0] else parts
        found = [product(part.partition(" (")[0]) for part in pair]
        if all(one is not None for one in found):
            return [unit_text(one or {}) for one in found]
    text = text.rpartition(" = ")[2].replace("(local-frame)", "").strip()
    found_one = product(text) if text else None
    if found_one is None and dimension is not None:
        powers = {"kg": dimension["mass"], "m": dimension["length"], "deg": dimension["angle"]}
        found_one = {unit: power for unit, power in powers.items() if power}
    if found_one == {"m": 1} and "elocity" in name.rpartition(":")[2]:
        found_one = {"m": 1, "s": -1}  # some say the length only
    if found_one is not None:
        return unit_text(found_one)
    if row.get("dimensions"):
        pair = [row["dimensions"].get(kind) for kind in ("linear", "angular")]
        if all(pair):
            return [unit_text({k: p for k, p in (("kg", d["mass"]), ("m", d["length"]), ("deg", d["angle"])) if p})
                    for d in pair]  # fmt: skip
    return "1" if re.search(FACTS["ratios"], name) else None


def is_number(type_name: str) -> bool:
    return not type_name.startswith(("bool", "int", "uint", "uchar", "token", "rel", "string", "asset"))


def plain(value: Any) -> Any:
    """A fallback as JSON holds it: infinities as text, floats without the noise of 32 bits."""
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return ("inf" if value > 0 else "-inf") if math.isinf(value) else float(f"{value:.7g}")
    return value


def table_row(row: dict[str, Any]) -> dict[str, Any]:
    name, type_name = row["usd"], row["type"]
    made: dict[str, Any] = {"usd": name, "type": type_name, "fallback": plain(row["default"])}
    if is_number(type_name) or name in UNITS:
        made["unit"] = unit_of(row)
    for key in (name, f"{name} {type_name}"):
        if key in FACTS["unit_if"]:
            made["unit_if"] = FACTS["unit_if"][key]
        if key in FACTS["stated"]:
            made["stated"] = True
    if name in FACTS["per_radian"]:
        made["per_radian"] = True
    if name in FACTS["axis_of_joint"]:
        made["otherwise"] = "axis"
    if row["default"] == -1.0 and is_number(type_name) and made["unit"] != "1":
        made["automatic"] = "negative"  # minus one of no unit is such a word everywhere
    if name in FACTS["world"]:
        made["world_if"] = FACTS["world"][name]
    elif name.startswith(("mjc:option:wind", "mjc:option:magnetic")):
        made["space"] = "world"
    elif re.search(FACTS["local"], name):
        made["space"] = "local"
    if name in FACTS["axes"]:
        made["axes"] = True
    if name in FACTS["mirror"]:
        made["mirror"] = FACTS["mirror"][name]
    if row.get("tokens"):
        made["tokens"] = row["tokens"]
    if row.get("uniform"):
        made["uniform"] = True
    if row.get("deprecated"):
        made["deprecated"] = True
    return made


def main(dump: Path) -> None:
    tables: dict[str, dict[str, Any]] = {}
    kinds = {"singleApplyAPI": "single", "multipleApplyAPI": "multiple", "concreteTyped": "typed"}
    classes = json.loads(dump.read_text())["classes"]
    attributes = {cls["name"]: cls["attributes"] for cls in classes}
    for cls in classes:
        file, runtime = FACTS["runtimes"][cls["family"]]
        table = tables.setdefault(file, {"runtime": runtime, "licence": FACTS["licences"][file], "schemas": []})
        found = [*cls["attributes"], *attributes.get(FACTS["brought"].get(cls["name"], ""), ())]
        rows = [table_row(row) for row in found if not row["usd"].startswith("primvars:")]
        schema = {"name": cls["name"], "kind": kinds[cls["kind"]], "attributes": rows}
        instances = cls["instances"] or (FACTS["joint_axes"] if cls["name"] in FACTS["with_joint_axes"] else [])
        instances = [*instances, *FACTS["more_instances"].get(cls["name"], ())]
        if instances:
            schema["instances"] = instances
        if place := "prim" if schema["kind"] == "typed" else place_of(cls["name"]):
            schema["on"] = place
        table["schemas"].append(schema)
    FOLDER.mkdir(exist_ok=True)
    for file, table in tables.items():
        # A line for each attribute, so that differences can be read.
        text = json.dumps({**table, "schemas": "SCHEMAS"}, indent=1)
        blocks = []
        for schema in sorted(table["schemas"], key=lambda one: str(one["name"])):
            head = {key: value for key, value in schema.items() if key != "attributes"}
            lines = ",\n".join(f"   {json.dumps(row)}" for row in schema["attributes"])
            body = f"[\n{lines}\n  ]" if lines else "[]"
            blocks.append(f'  {json.dumps(head)[:-1]}, "attributes": {body}}}')
        text = text.replace('"SCHEMAS"', "[\n" + ",\n".join(blocks) + "\n ]")
        (FOLDER / f"{file}.json").write_text(text + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
