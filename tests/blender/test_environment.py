# SPDX-License-Identifier: GPL-3.0-or-later
"""`run_in_thread` shortens the switch interval of Python while the work lasts, and restores it, also after errors."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from usdphys_ext.usdphys_addon.bridge.environment import run_in_thread


def test_the_switch_interval_is_short_while_a_thread_works():
    before = sys.getswitchinterval()
    with ThreadPoolExecutor(1) as threads:
        during = run_in_thread(threads, sys.getswitchinterval).result()
    assert during < before / 10
    assert sys.getswitchinterval() == before


def test_work_that_fails_leaves_the_interval_as_it_was():
    def fail(reason):
        raise ValueError(reason)

    before = sys.getswitchinterval()
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="broken"):
        run_in_thread(threads, fail, "broken").result()
    assert sys.getswitchinterval() == before
