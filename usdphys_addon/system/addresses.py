# SPDX-License-Identifier: GPL-3.0-or-later
"""Where strangers reach the project: what a release has filled in. Other builds have no addresses."""

from __future__ import annotations

from .version import PACKAGE, manifest


def addresses() -> dict[str, str]:
    """The website, tracker and contact that are known, by these names."""
    if own := manifest():
        return dict(own.get("addresses", {}))
    from importlib import metadata

    lines = metadata.metadata(PACKAGE).get_all("Project-URL") or []
    pairs = (line.partition(",") for line in lines)
    return {name.strip().lower(): url.strip() for name, _, url in pairs}
