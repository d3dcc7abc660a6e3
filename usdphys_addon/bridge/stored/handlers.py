# SPDX-License-Identifier: GPL-3.0-or-later
"""When stored values are migrated (load, append, link, an add-on that is enabled late) and stamps written (save).

Nothing is pushed to the undo history: Blender makes its steps of a load, an append or a link after these handlers.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...worker import jobs
from ...worker.handlers import Handlers
from .. import constructions
from . import migrations, stamps

#: Former versions, by `session_uid`, of data-blocks that were open when the add-on was enabled. Undo brings their old
#: values back.
_open_before: dict[int, str] = {}
#: The local data-blocks with properties of ours before an import, by `session_uid`.
_there: set[int] = set()


def migrate_open_file() -> dict[int, str]:
    """Migrate all that the open file holds, see `migrations.migrate`."""
    return migrations.migrate((owner, owner.library) for owner in stamps.owners())


def _after_load(*_: Any) -> None:
    _open_before.clear()
    migrate_open_file()


def _before_import(*_: Any) -> None:
    _there.clear()
    if not migrations.MIGRATIONS:
        return
    _there.update(owner.session_uid for owner in stamps.owners() if owner.library is None)
    if bpy.app.version < (5, 0):
        # 4.5 tells of a library that is loaded again before, and not after.
        jobs.call_later(_migrate_linked)


def _migrate_linked() -> None:
    migrations.migrate((owner, owner.library) for owner in stamps.owners() if owner.library is not None)


def _after_import(*_: Any) -> None:
    """Data-blocks were appended, linked, pasted, or their library was loaded again.

    Blender lists what was asked for, and not what came with it. A library that is loaded again has its old values.
    """
    if migrations.MIGRATIONS:
        migrations.migrate(
            (owner, owner.library) for owner in stamps.owners()
            if owner.library is not None or owner.session_uid not in _there
        )  # fmt: skip
    _there.clear()


def _after_undo_step(*_: Any) -> None:
    if not _open_before:
        return
    for owner in stamps.owners():
        former = _open_before.get(owner.session_uid)
        if former is not None:
            migrations.migrate_from(owner, stamps.stamp_of(owner) or former)


def _before_save(*_: Any) -> None:
    if jobs.cancel(_after_enabling):
        # Without a window no job runs.
        _after_enabling()
    for scene in bpy.data.scenes:
        if scene.library is None:
            constructions.forget_deleted(scene)
    stamps.mark_all()


def _after_enabling() -> None:
    """The open file was loaded without this version of the add-on."""
    _open_before.update(migrate_open_file())


_handlers = Handlers(
    ("load_post", _after_load), ("blend_import_pre", _before_import), ("blend_import_post", _after_import),
    ("undo_post", _after_undo_step), ("redo_post", _after_undo_step), ("save_pre", _before_save),
)  # fmt: skip


def _data_is_there() -> bool:
    """False while Blender enables or disables add-ons, at its start and at its end."""
    return isinstance(bpy.data, bpy.types.BlendData)


def register() -> None:
    _handlers.register()
    if _data_is_there():
        _after_enabling()
    else:
        jobs.call_later(_after_enabling, survives=True)


def unregister() -> None:
    jobs.cancel(_migrate_linked)
    if not jobs.cancel(_after_enabling) and _data_is_there():
        # The next version is told what this one has made.
        stamps.mark_all()
    _open_before.clear()
    _handlers.unregister()
