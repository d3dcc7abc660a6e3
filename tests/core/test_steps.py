"""Long work as steps: its slices, and its progress as a part of larger work."""

import pytest
from usdphys_ext.usdphys_addon.core.steps import Next, advance, finished, gains, part

INFINITE = float("inf")


def work(*fractions, result="result"):
    yield from fractions
    return result


def test_a_slice_ends_with_its_seconds_and_makes_one_step_at_least(clock):
    steps = work(0.1, 0.2, 0.3, 0.4, 0.5)
    clock.per_look = 1.0
    assert advance(steps, 0.0) == 0.1
    assert advance(steps, 2.5) == 0.4
    with pytest.raises(StopIteration) as end:
        advance(steps, 100.0)
    assert end.value.value == "result"


def test_a_slice_ends_before_what_cannot_be_interrupted_unless_all_is_done_at_once(clock):
    fractions = 0.1, Next(0.2, "slow"), 0.3
    steps = work(*fractions)
    assert advance(steps, 100.0).about == "slow"
    with pytest.raises(StopIteration):
        advance(steps, 100.0)
    with pytest.raises(StopIteration):
        advance(work(*fractions), INFINITE)


def test_parts_and_increases_keep_result_and_message():
    seen = []

    def whole():
        result = yield from part(work(0.5, Next(1.0, "slow")), 0.2, 0.6)
        seen.append(result)
        return (yield from gains(work(0.25, Next(0.75, "last"))))

    steps = whole()
    assert [next(steps) for _ in range(4)] == pytest.approx([0.4, 0.6, 0.25, 0.5])
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert seen == ["result"] and end.value.value == ("result", 0.75)
    texts = [one.about for one in whole() if isinstance(one, Next)]
    assert texts == ["slow", "last"] and finished(whole()) == ("result", 0.75)
