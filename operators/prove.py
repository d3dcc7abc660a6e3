# SPDX-License-Identifier: GPL-3.0-or-later
"""Prove the scene, and write a report of it that anyone can open: a process beside Blender does the work."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy

from .. import preferences
from ..usdphys_addon.bridge.known_names import KnownNames
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
    annotate,
)
from ..usdphys_addon.core import clock
from ..usdphys_addon.core.words import counted, phrase
from ..usdphys_addon.simulation.engine import others
from . import needs
from .in_background import InBackground
from .report_bug import open_page

_IDLE: needs.Need = (
    lambda context: not context.window_manager.usdphys_proof.is_running,
    "The scene is being proven; wait for its end or press Esc",
)  # fmt: skip


class USDPHYS_PG_proof_check(KnownNames, bpy.types.PropertyGroup):
    """A check of the last proof. name: of the object that it is about, or ""."""

    __slots__ = ()

    status = StringProperty()
    message = StringProperty()
    cause = StringProperty()
    fix = StringProperty()


class USDPHYS_PG_proof(KnownNames, bpy.types.PropertyGroup):
    """The running or last proof of this window. checks: those that are no pass. scene: its name."""

    __slots__ = ()

    checks: Any = CollectionProperty(type=USDPHYS_PG_proof_check)
    scene = StringProperty()
    verdict = StringProperty()
    passed = IntProperty()
    wrong = IntProperty()
    notable = IntProperty()
    is_running = BoolProperty()
    progress = FloatProperty(min=0.0, max=1.0)


class OfScene(InBackground):
    """Mix-in: exports the scene, and runs a command on the file beside Blender."""

    bl_label: str
    #: Object names by the paths in the exported file.
    names: Any = None
    began = 0.0
    budget: float

    poll = needs.poll(needs.SCENE, needs.OBJECT_MODE, needs.AT_REST, needs.USD, _IDLE)

    def arguments(self, file: Path) -> list[str]:
        """The command line, for the exported scene."""
        raise NotImplementedError

    def stem(self) -> str:
        """The name of the exported file, without its ending."""
        return "scene"

    def state(self, context: bpy.types.Context) -> Any:
        return context.window_manager.usdphys_proof

    def start(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.batch.background import BackgroundCommand

        self.command = BackgroundCommand()
        self.command.what = self.bl_label
        try:
            file = self.command.folder / f"{self.stem()}.usdc"
            self.names = _exported(context, file)
            self.command.start([*self.arguments(file), "--budget", str(self.budget), *_pythons(context)])
        except BaseException:
            self.command.close()
            raise
        self.state(context).progress, self.began = 0.0, clock.now()

    def look(self, context: bpy.types.Context) -> None:
        self.state(context).progress = min(0.99, (clock.now() - self.began) / self.budget)

    def progress(self, context: bpy.types.Context) -> str:
        return phrase("{work}: {seconds:.0f} of at most about {budget:.0f} s    Esc: stop",
                      work=self.bl_label, seconds=clock.now() - self.began, budget=self.budget)  # fmt: skip

    def stopped(self, context: bpy.types.Context) -> str:
        return phrase("{work} was stopped", work=self.bl_label)


def _exported(context: bpy.types.Context, file: Path) -> dict[str, str]:
    """Write the scene to a file whose prims have the paths of the preview. Returns the objects by these paths."""
    from ..usdphys_addon.bridge import scene_read
    from ..usdphys_addon.bridge.reading import DEFAULT_ROOT
    from ..usdphys_addon.exchange import usd_export

    usd_export.export_usd(context, file, usd_export.ExportOptions(root=DEFAULT_ROOT))
    reading = scene_read.read_scene(context.evaluated_depsgraph_get())
    return {path: site.obj.name for path, site in reading.sites.items()}


def _pythons(context: bpy.types.Context) -> list[str]:
    """The engines of the preferences, for the command line."""
    chosen = preferences.current(context)
    found = []
    for key in others():
        path = bpy.path.abspath(getattr(chosen, f"{key}_python", "") or "") if chosen is not None else ""
        found += ["--engine-python", f"{key}={path}"] if path and Path(path).exists() else []
    return found


def _budget() -> float:
    return FloatProperty(
        name="Seconds", description="About how long it may take; what does not fit is skipped, and named",
        default=60.0, min=5.0, soft_max=600.0, max=7200.0,
    )  # fmt: skip


#: A path of a prim in a text.
_PATH = re.compile(r"(?:/\w+)+")


def _of_objects(text: str, names: Mapping[str, str]) -> str:
    """A text about a file, with the objects that its prims are. names: by path."""
    return _PATH.sub(lambda found: f"'{names[found[0]]}'" if found[0] in names else found[0], text)


def _told(table: Any, shown: Sequence[Any], passed: str) -> tuple[set[str], str]:
    """(kind, text) of what is reported about a proof. shown: its checks that are no pass."""
    # The engines that are not here are in the list, and nothing is missing without them.
    skipped = sum(check["status"] == "skipped" and check["name"] != "absent" for check in shown)
    wrong, notable = table["wrong"], table["worth_knowing"]
    if wrong:
        text = phrase("{number} of the proof failed: see the sidebar", number=counted(wrong, "check"))
        return {"WARNING"}, tr(text)
    if notable:
        text = phrase("Nothing is wrong, {number} worth knowing: see the sidebar", number=notable)
        return {"INFO"}, tr(text)
    if skipped:
        text = phrase("{number} passed, and {others} were skipped: see the sidebar", number=passed, others=skipped)
        return {"WARNING"}, tr(text)
    return {"INFO"}, tr(phrase("Proven: {number} passed", number=passed))


class USDPHYS_OT_prove(OfScene, bpy.types.Operator):
    """Try the physics of the scene beside Blender: whether it rests, keeps its energy and its joints, moves the same \
in other units and in other engines, and which attribute is the cause where it does not"""

    bl_idname = "usdphys.prove"
    bl_label = "Prove"
    bl_options = {"REGISTER"}

    budget = _budget()

    def arguments(self, file: Path) -> list[str]:
        return ["prove", str(file), "--json", str(file.with_suffix(".json")), "--quiet"]

    def done(self, context: bpy.types.Context) -> set[Any]:
        table = json.loads((self.command.folder / "scene.json").read_text(encoding="utf-8"))
        state = context.window_manager.usdphys_proof
        state.checks.clear()
        state.scene, state.verdict = context.scene.name, table["verdict"]
        state.passed = table["counts"].get("pass", 0)
        state.wrong, state.notable = table["wrong"], table["worth_knowing"]
        order = ("fail", "doubtful", "differs", "skipped")
        shown = [check for check in table["checks"] if check["status"] in order]
        for check in sorted(shown, key=lambda check: order.index(check["status"])):
            row = state.checks.add()
            row.name, row.status = self.names.get(check["path"], ""), check["status"]
            row.message, row.fix = (_of_objects(check[part], self.names) for part in ("message", "fix"))
            row.cause = "; ".join(
                f"{_of_objects(cause['path'], self.names)} {cause['attribute']}" for cause in check["causes"]
            )
        self.report(*_told(table, shown, counted(state.passed, "check")))
        return {"FINISHED"}


class USDPHYS_OT_share_report(OfScene, bpy.types.Operator):
    """Write one page about the scene that opens in any browser, without a network: the scene in 3D, its motion in \
each engine, masses, joints, problems and what was proven; and open it"""

    bl_idname = "usdphys.share_report"
    bl_label = "Share Report"
    bl_options = {"REGISTER"}

    filepath = StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})
    filter_glob = StringProperty(default="*.html", options={"HIDDEN"})
    budget = _budget()
    use_open = BoolProperty(name="Open", description="Open the page in the browser", default=True)

    def draw(self, _context: bpy.types.Context) -> None:
        column = self.layout.column()
        column.prop(self, "budget")
        column.prop(self, "use_open")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        if self.filepath:
            return self.execute(context)
        self.filepath = f"{Path(bpy.data.filepath).stem or bpy.path.clean_name(context.scene.name)}.html"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @property
    def target(self) -> Path:
        """The page."""
        path = Path(bpy.path.abspath(self.filepath))
        return path if path.suffix.lower() == ".html" else path.with_name(f"{path.name}.html")

    def stem(self) -> str:
        """That of the page, which has it in its title."""
        return bpy.path.clean_name(self.target.stem) or "scene"

    def arguments(self, file: Path) -> list[str]:
        from ..usdphys_addon.core.errors import InputError

        if not self.filepath:
            raise InputError("Give the name of the page to write")
        return ["report", str(file), "-o", str(self.target)]

    def done(self, _context: bpy.types.Context) -> set[Any]:
        self.report({"INFO"}, tr(phrase("The report is in '{file}'", file=self.target.name)))
        if self.use_open and not bpy.app.background:
            open_page(self.target.as_uri())
        return {"FINISHED"}


GROUPS = (USDPHYS_PG_proof_check, USDPHYS_PG_proof)
CLASSES = (USDPHYS_OT_prove, USDPHYS_OT_share_report)


def register() -> None:
    for cls in GROUPS:
        annotate(cls)
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.usdphys_proof = bpy.props.PointerProperty(type=USDPHYS_PG_proof, options={"SKIP_SAVE"})


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.usdphys_proof
    for cls in reversed(GROUPS):
        bpy.utils.unregister_class(cls)
