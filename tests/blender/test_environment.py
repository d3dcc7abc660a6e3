# SPDX-License-Identifier: GPL-3.0-or-later
"""Work beside Blender: Python is handed over soon while it lasts, and as before when it has ended or failed."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from usdphys_ext.usdphys_addon.bridge.environment import beside_blender


def test_threads_take_turns_soon_while_one_works_beside_blender():
    before = sys.getswitchinterval()
    with ThreadPoolExecutor(1) as threads:
        during = beside_blender(threads, sys.getswitchinterval).result()
    assert during < before / 10
    assert sys.getswitchinterval() == before


def test_work_that_fails_leaves_the_interval_as_it_was():
    def fail(reason):
        raise ValueError(reason)

    before = sys.getswitchinterval()
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="broken"):
        beside_blender(threads, fail, "broken").result()
    assert sys.getswitchinterval() == before
