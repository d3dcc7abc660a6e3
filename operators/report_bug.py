# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts that a bug report needs, in the clipboard."""

from __future__ import annotations

import platform
from typing import Any

import bpy

from ..usdphys_addon.core.words import phrase
from ..usdphys_addon.system import faults
from ..usdphys_addon.system.addresses import addresses
from ..usdphys_addon.system.version import addon_version
from .outcome import finish

#: Names of the addresses of a release, in the order of preference.
_TARGETS = ("tracker", "contact", "website")


def address() -> str:
    """Where reports go to; empty in a build that is no release."""
    known = addresses()
    return next((known[name] for name in _TARGETS if name in known), "")


def open_page(url: str) -> None:
    bpy.ops.wm.url_open(url=url)


def facts() -> str:
    """Versions, machine and last errors as text, without names of the user's folders. In English, as reports are."""
    # Its import takes a third of the time that Blender waits for the registration.
    from importlib import metadata

    app: Any = bpy.app
    packages = [package.version for package in metadata.distributions(name="rapier3d")]
    lines = (
        ("USD Physics", f"{addon_version()} ({(__package__ or '').removesuffix('.operators')})"),
        ("Blender", f"{app.version_string} ({app.build_hash.decode(errors='replace')})"),
        ("USD", app.usd.version_string.strip() if app.usd.supported else "none"),
        ("Python", platform.python_version()),
        ("Rapier", packages[0] if packages else "none"),
        ("Platform", platform.platform()),
        ("Mode", "module" if app.module else "background" if app.background else "window"),
        ("Language", app.translations.locale or "en_US"),
        ("Refusal", faults.last_refusal() or "none"),
    )
    fault = faults.last_fault() or "none"
    return "".join(f"{name}: {value}\n" for name, value in lines) + f"Fault: {fault}\n"


class USDPHYS_OT_report_bug(bpy.types.Operator):
    """Copy what a bug report needs: versions, the platform and the last errors. Opens the page for reports"""

    bl_idname = "usdphys.report_bug"
    bl_label = "Report a Bug"

    def execute(self, context: bpy.types.Context) -> set[Any]:
        context.window_manager.clipboard = facts()
        target = address()
        if not target:
            return finish(self, "The report is in the clipboard; send it to the authors of this build")
        if "://" in target:
            open_page(target)
        text = phrase(
            "Versions and errors are in the clipboard; paste them into a bug report: {address}", address=target
        )
        return finish(self, text)


CLASSES = (USDPHYS_OT_report_bug,)
