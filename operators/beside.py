# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a body moves otherwise in what runs beside the preview, and which attribute is the cause."""

import json
from collections.abc import Mapping
from typing import Any

import bpy

from ..usdphys_addon.bridge.environment import redraw
from ..usdphys_addon.bridge.known_names import KnownNames
from ..usdphys_addon.bridge.language import tr
from ..usdphys_addon.bridge.typed_props import BoolProperty, StringProperty, annotate
from ..usdphys_addon.core import clock
from ..usdphys_addon.core.errors import InputError
from ..usdphys_addon.core.words import joined, phrase
from ..usdphys_addon.playback import guard as preview_guard
from . import needs
from .in_background import InBackground

#: Seconds that the search for a cause may take, that it simulates at least and at most, and after a parting.
BUDGET, LEAST, MOST, AFTER = 90.0, 2.0, 8.0, 0.5

#: What was asked last: (world of the session, row of the body).
_asked: list[tuple[Any, int]] = []
#: What was found last: (world of the session, sentences).
_found: list[tuple[Any, list[str]]] = []


class USDPHYS_PG_cause(KnownNames, bpy.types.PropertyGroup):
    """The running search for a cause."""

    __slots__ = ()

    is_running = BoolProperty()


def _has_twins(_context: bpy.types.Context) -> bool:
    session = preview_guard.current()
    return session is not None and session.twins is not None


def asked(session: Any) -> int | None:
    """The body that was asked about in this session, as a row of its world; None if none was."""
    return _asked[0][1] if _asked and _asked[0][0] is session.world else None


def _cause() -> Any:
    """The search of this window."""
    manager: Any = bpy.context.window_manager
    return manager.usdphys_cause


def is_searching() -> bool:
    """Whether a cause is being searched."""
    return bool(_cause().is_running)


def found(session: Any) -> list[str]:
    """What is the cause in this session; empty while nothing is known."""
    return _found[0][1] if _found and _found[0][0] is session.world else []


class USDPHYS_OT_why(bpy.types.Operator):
    """Say why a body moves otherwise in what runs beside the preview, and select it: the active object, or the one \
that parts first"""

    bl_idname = "usdphys.why"
    bl_label = "Why"
    bl_options = {"REGISTER"}

    name = StringProperty(
        name="Object", description="Object of the body; empty: the active one, or that of the body that parts first",
        options={"SKIP_SAVE"},
    )  # fmt: skip

    poll = needs.poll(needs.IN_PREVIEW, (_has_twins, "Switch on Compare or Confidence first"))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[Any]:
        answer = self.execute(context)
        session = preview_guard.current()
        ops: Any = bpy.ops
        if session is not None and _parted_engine(session) is not None and ops.usdphys.find_cause.poll():
            ops.usdphys.find_cause("INVOKE_DEFAULT")
        return answer

    def execute(self, context: bpy.types.Context) -> set[Any]:
        session = preview_guard.current()
        twins = None if session is None else session.twins
        if session is None or twins is None:
            return {"CANCELLED"}
        row = self._row(context, session, twins)
        _asked[:] = [(session.world, row)]
        obj = bpy.data.objects.get(session.shown.names[row])
        if obj is not None and obj.name in context.view_layer.objects:
            for other in context.selected_objects:
                other.select_set(False)
            obj.select_set(True)
            context.view_layer.objects.active = obj
        self.report({"INFO"}, tr(joined(" ", twins.why(row))))
        redraw("VIEW_3D")
        return {"FINISHED"}

    def _row(self, context: bpy.types.Context, session: Any, twins: Any) -> int:
        """Row of the body."""
        active = getattr(context, "object", None)
        # Without a name, an active object that moves alike in all is no answer while others part.
        wanted = self.name or (active.name if active is not None else "")
        path = session.shown.body_at(wanted) if wanted else ""
        first = twins.first()
        if path and (self.name or first is None or twins.splits_of(session.world.index(path))):
            return int(session.world.index(path))
        if first is not None:
            return int(first[1].row)
        if path:
            return int(session.world.index(path))
        raise InputError("Nothing parts; select a body to hear about it")


def _parted_engine(session: Any) -> tuple[Any, Any] | None:
    """(twin, split) of another engine from which the body that was asked about has parted."""
    row = asked(session)
    if row is None or session.twins is None:
        return None
    return next((pair for pair in session.twins.splits_of(row) if pair[0].kind.rate == 1), None)


def _has_parted(_context: bpy.types.Context) -> bool:
    session = preview_guard.current()
    return session is not None and _parted_engine(session) is not None


class USDPHYS_OT_find_cause(InBackground, bpy.types.Operator):
    """Find the attribute that is the cause why the body that was asked about parts from another engine: a process \
beside Blender takes the values of the scene out, one after the other, until both engines move it alike"""

    bl_idname = "usdphys.find_cause"
    bl_label = "Find Cause"
    bl_options = {"REGISTER"}

    #: The world of the session, its twins, and the names of objects by path.
    world: Any = None
    twins: Any = None
    names: Mapping[str, str]
    began = 0.0

    poll = needs.poll(
        needs.IN_PREVIEW, needs.USD, (_has_parted, "Ask why a body parts from another engine first"),
        (lambda _context: not _cause().is_running,
         "The cause is being searched; wait for its end or press Esc"),
    )  # fmt: skip

    def state(self, _context: bpy.types.Context) -> Any:
        return _cause()

    def start(self, context: bpy.types.Context) -> None:
        from ..usdphys_addon.batch.background import BackgroundCommand
        from ..usdphys_addon.usd import restated

        session: Any = preview_guard.current()
        pair = _parted_engine(session)
        assert pair is not None
        self.world, self.twins = session.world, session.twins
        self.names = dict(zip(session.world.paths, session.shown.names, strict=True))
        self.command = BackgroundCommand()
        self.command.what = self.bl_label
        file = self.command.folder / "scene.usda"
        seconds = min(max(pair[1].time + AFTER, LEAST), MOST)
        try:
            restated.write_alone(session.twins.model, file)
            self.command.start([
                "prove", str(file), "--only", "engines", "--seconds", str(seconds), "--budget", str(BUDGET),
                "--json", str(file.with_suffix(".json")), "--quiet",
            ])  # fmt: skip
        except BaseException:
            self.command.close()
            raise
        self.began = clock.now()
        _found.clear()

    def progress(self, _context: bpy.types.Context) -> str:
        return phrase("{work}: {seconds:.0f} of at most about {budget:.0f} s    Esc: stop",
                      work=self.bl_label, seconds=clock.now() - self.began, budget=BUDGET)  # fmt: skip

    def stopped(self, _context: bpy.types.Context) -> str:
        return phrase("{work} was stopped", work=self.bl_label)

    def done(self, _context: bpy.types.Context) -> set[Any]:
        table = json.loads((self.command.folder / "scene.json").read_text(encoding="utf-8"))
        told = self.sentences(table["checks"])
        _found[:] = [(self.world, told)]
        self.report({"INFO"}, tr(joined(" ", told)))
        return {"FINISHED"}

    def sentences(self, checks: Any) -> list[str]:
        """What the checks of the engines say."""
        differing = [check for check in checks if check["status"] == "differs"]
        if any(check["status"] == "pass" for check in checks) and not differing:
            return [
                phrase("From the start both engines move it alike: what was grabbed or edited since then is the cause.")
            ]
        if not differing:
            # Why nothing was compared.
            return [check["message"] for check in checks]
        told: list[str] = []
        for check in differing:
            body = self.names.get(check["path"], check["path"])
            causes = [phrase("{attribute} of {prim}", attribute=one["attribute"], prim=self.name_of(one["path"]))
                      for one in check["causes"]]  # fmt: skip
            if len(causes) == 1:
                told.append(phrase("{cause} is the cause that {body} parts: without it, both move alike.",
                                   cause=causes[0], body=body))  # fmt: skip
            elif causes:
                told.append(phrase("{body} parts only with all of {causes}: without one of them, both move alike.",
                                   causes=joined(", ", causes), body=body))  # fmt: skip
            else:
                told.append(phrase("No attribute is the cause that {body} parts: the engines themselves differ.",
                                   body=body))  # fmt: skip
        return told

    def name_of(self, path: str) -> str:
        """What a user calls a prim."""
        prim = self.twins.model.prims.get(path)
        return self.names.get(path) or (prim.label if prim is not None and prim.label else path)


GROUPS = (USDPHYS_PG_cause,)
CLASSES = (USDPHYS_OT_why, USDPHYS_OT_find_cause)


def register() -> None:
    for cls in GROUPS:
        annotate(cls)
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.usdphys_cause = bpy.props.PointerProperty(type=USDPHYS_PG_cause, options={"SKIP_SAVE"})


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.usdphys_cause
    for cls in reversed(GROUPS):
        bpy.utils.unregister_class(cls)
