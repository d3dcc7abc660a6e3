"""What the wheels in the zips are made of, by the list of parts (CycloneDX) in each: a table of THIRD_PARTY_NOTICES.md.

`notices.py` writes the table anew, from wheels/ (`make build` fetches those). Standard library only.
"""

import json
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD_PARTY_NOTICES.md"
START, END = "<!-- parts of the wheels: written by scripts/notices.py -->\n", "<!-- end of the parts -->\n"


def parts(wheel: str | Path | IO[bytes]) -> set[tuple[str, str, str, str]]:
    """(name, version, licence, authors) of all that is compiled into a wheel."""
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".cyclonedx.json"):
                for part in json.loads(archive.read(name))["components"]:
                    licence = " / ".join(_licence(item) for item in part.get("licenses", ())) or "not stated"
                    authors = str(part.get("author") or "not stated").replace("|", "/")
                    found.add((part["name"], part["version"], licence, authors))
    return found


def _licence(item: dict[str, object]) -> str:
    inner = item.get("license")
    return str(item.get("expression") or (isinstance(inner, dict) and (inner.get("id") or inner.get("name"))))


def row(part: tuple[str, str, str, str]) -> str:
    return f"| {' | '.join(part)} |\n"


def table(wheels: Iterable[str | Path]) -> str:
    rows = sorted(set().union(*map(parts, wheels)))
    return "| part | version | licence | authors |\n|---|---|---|---|\n" + "".join(map(row, rows))


def main() -> None:
    wheels = sorted((ROOT / "wheels").glob("*.whl"))
    if not wheels:
        sys.exit("There are no wheels; run 'make build' first.")
    text = NOTICES.read_text(encoding="utf-8")
    before, rest = text.split(START)
    NOTICES.write_text(before + START + table(wheels) + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
