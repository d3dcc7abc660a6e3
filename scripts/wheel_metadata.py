"""What the wheel says about itself that other files hold: the page that describes it, and the addresses."""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: The page of the manual that the package index shows.
PAGE = "docs/without_blender.md"
#: Ends an address that nobody has filled in.
PLACEHOLDER = ".invalid"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


class Metadata(MetadataHookInterface):
    """Called by hatchling."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill the dynamic fields."""
        project = tomllib.loads((Path(self.root) / "pyproject.toml").read_text(encoding="utf-8"))
        written = project["tool"]["usdphys"].get("addresses", {})
        addresses = {
            name: address for name, address in written.items() if "://" in address and PLACEHOLDER not in address
        }  # fmt: skip
        metadata["urls"] = {name.capitalize(): address for name, address in addresses.items()}
        text = (Path(self.root) / PAGE).read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown", "text": described(text, addresses.get("website", ""))
        }  # fmt: skip


def described(text: str, website: str) -> str:
    """The page with links that work elsewhere: to the manual on the website, or without one the words alone."""

    def moved(link: re.Match[str]) -> str:
        words, target = link.groups()
        if "://" in target:
            return link[0]
        if not website:
            return words
        page, mark, part = target.partition("#")
        return f"[{words}]({website.rstrip('/')}/{page.removesuffix('.md')}.html{mark}{part})"

    return _LINK.sub(moved, text)
