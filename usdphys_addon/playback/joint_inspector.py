# SPDX-License-Identifier: GPL-3.0-or-later
"""The joint inspector: a slider for each degree of freedom of some joints, which poses the bodies of the preview.

The rows are in the window manager, so they are in no file and no undo step.
"""

import math
import weakref
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Context, PropertyGroup

from ..bridge.known_names import KnownNames
from ..core import paths
from ..core.errors import InputError
from ..core.switch import Switch
from . import guard as preview_guard

if TYPE_CHECKING:
    from .session import PreviewSession

#: Largest number of rows in the panel.
MAX_ROWS = 64
#: Within it, setting a slider only shows the value and poses nothing.
_filling = Switch()
#: The session that the rows belong to, or none: another one starts without rows.
_owner: "weakref.WeakSet[PreviewSession]" = weakref.WeakSet()


def _pose(row: PropertyGroup, context: Context) -> None:
    """Update callback of a slider: bring the joint to its value."""
    session = preview_guard.current()
    if _filling.is_on or session is None:
        return
    inspector = context.window_manager.usdphys_inspector
    value = row.angle if row.is_angular else row.distance
    try:
        session.set_joint(row.path, row.dof, value, physics=inspector.physics)
        inspector.problem = ""
    except (InputError, KeyError) as error:
        inspector.problem = (
            str(error) if isinstance(error, InputError) else "The joint is gone; inspect the joints again"
        )
        return
    value = min(max(value, row.low), row.high)
    _show(row, value)
    if not inspector.physics:
        _pose_coupled(session, inspector, row.path, value)


def _pose_coupled(session: "PreviewSession", inspector: PropertyGroup, path: str, value: float) -> None:
    """Bring the joints that follow a posed one to where they are then, and the one that it follows itself."""
    from ..core.joint_settings import following

    rules = {name: rule for name, prim in session.model.joints.items() if (rule := following(prim)) is not None}
    pending, placed = [(path, value)] if rules else [], {path}
    while pending:
        here, value = pending.pop()
        coupled = [(name, rule.offset + rule.ratio * value) for name, rule in rules.items() if rule.leader == here]
        own = rules.get(here)
        if own is not None and own.ratio:
            coupled.append((own.leader, (value - own.offset) / own.ratio))
        for name, wanted in coupled:
            dofs = session.joint_positions().get(name, {})
            if name in placed or len(dofs) != 1:
                continue
            placed.add(name)
            dof = next(iter(dofs))
            low, high = session.joint_range(name, dof)
            wanted = min(max(wanted, low), high)
            try:
                session.set_joint(name, dof, wanted, physics=False)
            except InputError as error:
                inspector.problem = str(error)
                continue
            for row in inspector.rows:
                if row.path == name:
                    _show(row, wanted)
            pending.append((name, wanted))


def _follow(inspector: PropertyGroup, _context: Context) -> None:
    """Update callback of `physics`: play if it is on, pause if it is off."""
    session = preview_guard.current()
    if session is not None:
        session.play() if inspector.physics else session.pause()


def _show(row: Any, value: float) -> None:
    with _filling.on():
        setattr(row, "angle" if row.is_angular else "distance", value)


class USDPHYS_PG_inspected(KnownNames, bpy.types.PropertyGroup):
    """A degree of freedom of a joint."""

    __slots__ = ()

    if TYPE_CHECKING:
        path: str
        dof: str
        joint: str
        is_angular: bool
        low: float
        high: float
        angle: float
        distance: float
    else:
        path: bpy.props.StringProperty()
        dof: bpy.props.StringProperty()
        joint: bpy.props.StringProperty(description="Name of the joint's object")
        is_angular: bpy.props.BoolProperty()
        low: bpy.props.FloatProperty()
        high: bpy.props.FloatProperty()
        angle: bpy.props.FloatProperty(
            name="Angle", subtype="ANGLE", soft_min=-math.pi, soft_max=math.pi, update=_pose,
            description="Angle of the joint; the bodies attached beyond it move along",
        )  # fmt: skip
        distance: bpy.props.FloatProperty(
            name="Position", unit="LENGTH", soft_min=-1.0, soft_max=1.0, update=_pose,
            description="Position of the joint; the bodies attached beyond it move along",
        )  # fmt: skip


class USDPHYS_PG_inspector(KnownNames, bpy.types.PropertyGroup):
    """State of the joint inspector."""

    __slots__ = ()

    if TYPE_CHECKING:
        rows: Any
        physics: bool
        problem: str
    else:
        rows: bpy.props.CollectionProperty(type=USDPHYS_PG_inspected)
        physics: bpy.props.BoolProperty(
            name="Physics", update=_follow,
            description="Simulate, and let drives bring the joints to their values; otherwise bodies are posed at once",
        )  # fmt: skip
        problem: bpy.props.StringProperty()


def open_rows(context: Context) -> int:
    """Fill the rows with the joints of the selection, or all if it has none. Returns how many. Raises InputError."""
    session = preview_guard.current()
    if session is None:
        raise InputError("The preview is not running; press Play first.")
    _owner.clear()
    _owner.add(session)
    inspector = context.window_manager.usdphys_inspector
    inspector.rows.clear()
    inspector.problem = ""
    positions = session.joint_positions()
    chosen = _chosen(context, session, set(positions))
    shown = [(path, dof, value) for path in chosen for dof, value in positions[path].items()]
    if not shown:
        raise InputError("No joint can move; add one, or reset and look at the checks.")
    for path, dof, value in shown[:MAX_ROWS]:
        row = inspector.rows.add()
        label = session.model.prims[path].label or path
        row.name = label if len(positions[path]) == 1 else f"{label} {dof}"
        row.path, row.dof, row.joint = path, dof, label
        row.is_angular = dof == "angular" or dof.startswith("rot")
        row.low, row.high = session.joint_range(path, dof)
        _show(row, value)
    return len(inspector.rows)


def live_rows(context: Context) -> list[tuple[int, Any]]:
    """(index, row) of the rows whose joint is still simulated, and not deleted since."""
    session = preview_guard.current()
    if session is None or session not in _owner:
        return []
    known = set(session.world.joints)
    rows = context.window_manager.usdphys_inspector.rows
    return [(index, row) for index, row in enumerate(rows) if row.path in known and row.joint in bpy.data.objects]


def _chosen(context: Context, session: "PreviewSession", known: set[str]) -> list[str]:
    """Paths of the selected joints and those of selected bodies and articulations; all if there are none."""
    selected = {obj.name for obj in context.selected_objects}
    bodies = {session.shown.body_at(name) for name in selected} - {""}
    roots = {path for path, prim in session.model.articulations.items() if prim.label in selected or path in bodies}
    found, joints = [], session.model.joints
    for path in known:
        joint = joints[path]
        value: Any = next(iter(joint.schemas.values()))
        ends = {*(value.body0 or ()), *(value.body1 or ())}
        if joint.label in selected or ends & bodies or paths.is_below_any(path, roots):
            found.append(path)
    order = {path: index for index, path in enumerate(joints)}
    return sorted(found or known, key=order.__getitem__)


def set_limit(row: PropertyGroup, which: str) -> None:
    """Set a limit of a joint to its current value. which: LOWER or UPPER. Raises InputError."""
    from ..bridge import joint_frames

    obj = bpy.data.objects.get(row.joint)
    session = preview_guard.current()
    if obj is None or session is None:
        raise InputError(f"'{row.joint}' is gone; inspect the joints again.")
    if obj.library is not None:
        raise InputError(f"'{obj.name}' is linked; make a library override of it first.")
    value = session.joint_positions()[row.path][row.dof]
    if abs(value) < joint_frames.NOISE:
        value = 0.0
    group, low, high, _ = joint_frames.limit_of(obj, row.dof)
    own, other = (low, high) if which == "LOWER" else (high, low)
    if group.is_property_set(other) and (getattr(group, other) < value) == (which == "LOWER"):
        end = "upper" if which == "LOWER" else "lower"
        raise InputError(f"'{obj.name}' would be beyond its {end} limit; move that limit first.")
    if hasattr(group, "is_applied"):
        group.is_applied = True
    setattr(group, own, value)
    if which == "LOWER":
        row.low = value
    else:
        row.high = value


_CLASSES = (USDPHYS_PG_inspected, USDPHYS_PG_inspector)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    manager: Any = bpy.types.WindowManager
    manager.usdphys_inspector = bpy.props.PointerProperty(type=USDPHYS_PG_inspector, options={"SKIP_SAVE"})


def unregister() -> None:
    manager: Any = bpy.types.WindowManager
    del manager.usdphys_inspector
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
