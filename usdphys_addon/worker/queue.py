# SPDX-License-Identifier: GPL-3.0-or-later
"""A queue of jobs that take turns in short slices. It knows no Blender: `jobs` calls it from a timer.

A job is a generator. It does a short step of its work, yields the seconds to wait before the next step, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable

from ..core import clock

#: Yields the seconds until the next step, 0 for as soon as possible.
Job = Generator[float, None, None]


class _Entry:
    """A job in the queue. due: time of its next step. survives: it goes on when Blender's data is replaced."""

    def __init__(self, job: Job, survives: bool) -> None:
        self.job, self.survives = job, survives
        self.due, self.is_running = 0.0, False


class Queue:
    """Jobs by their keys; a key is in the queue once."""

    def __init__(self, report: Callable[[], None]) -> None:
        """report: called in the `except` clause of a job that has raised. Such a job is over, the others go on."""
        self._report = report
        self._entries: dict[Hashable, _Entry] = {}
        #: True during a step: the job, or what it calls, may add and cancel jobs.
        self.is_working = False

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def add(self, key: Hashable, make: Callable[[], Job], *, survives: bool = False) -> bool:
        """Begin a job: it runs to its first `yield` now. Returns False if the key is in the queue already."""
        if key in self._entries:
            return False
        self._advance(key, _Entry(make(), survives))
        return True

    def cancel(self, key: Hashable) -> bool:
        """Close a job, which runs its `finally` clauses. Returns False if there is no such job."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return False
        if not entry.is_running:  # a job that cancels itself is closed after its step
            try:
                entry.job.close()
            except Exception:
                self._report()
        return True

    def cancel_all(self, *, survivors: bool = True) -> None:
        """Close all jobs. survivors: also those that survive a replacement of Blender's data."""
        for key, entry in list(self._entries.items()):
            if survivors or not entry.survives:
                self.cancel(key)

    def wait(self, key: Hashable = None) -> float | None:
        """Seconds until a job is due, 0 if it is, None if it is not in the queue. Without a key: the first of all."""
        dues = [entry.due for name, entry in self._entries.items() if key is None or key == name]
        return max(0.0, min(dues) - clock.now()) if dues else None

    def work(self, seconds: float) -> None:
        """Advance the jobs that are due, one after the other, until the seconds are over. At least one step is made.

        Nothing is done during a step, as where a job has Blender handle its events.
        """
        end = clock.now() + seconds
        while self.wait() == 0.0 and not self.is_working:
            self.turn([key for key, entry in self._entries.items() if entry.due <= clock.now()], end)
            if clock.now() >= end:
                break

    def turn(self, keys: list[Hashable], end: float = float("inf")) -> None:
        """One step of each of these jobs, due or not, until the time `end`. The jobs left out come first next time."""
        for key in keys:
            entry = self._entries.get(key)
            if entry is not None and not entry.is_running:
                del self._entries[key]  # it goes behind those that wait for their turn
                self._advance(key, entry)
                if clock.now() >= end:
                    break

    def _advance(self, key: Hashable, entry: _Entry) -> None:
        was_working, self.is_working = self.is_working, True
        self._entries[key] = entry
        entry.is_running = True
        try:
            entry.due = next(entry.job) + clock.now()
            if self._entries.get(key) is not entry:
                entry.job.close()  # it was cancelled during its step
            return
        except StopIteration:
            pass
        except Exception:
            self._report()
        finally:
            self.is_working, entry.is_running = was_working, False
        if self._entries.get(key) is entry:
            del self._entries[key]
