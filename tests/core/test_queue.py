"""The queue of jobs, without Blender: whose turn it is, what ends a job, and that one job does not stop the others."""

import sys

import pytest
from usdphys_ext.usdphys_addon.worker.queue import Queue


class Log(list):
    """What jobs have done, and the exceptions that were reported."""

    def report(self):
        self.append(sys.exception())

    def job(self, name, *waits, error=None):
        """A job with a step after each wait; it notes its steps, and that it was closed or has ended."""

        def run():
            try:
                for number, wait in enumerate(waits):
                    yield wait
                    self.append(f"{name}{number}")
                if error is not None:
                    raise error
            finally:
                self.append(f"{name} over")

        return run

    def take(self):
        taken, self[:] = list(self), []
        return taken


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def queue(log):
    return Queue(log.report)


def test_a_job_waits_as_long_as_it_says(queue, log, clock):
    queue.add("a", log.job("a", 1.0, 0.5))
    assert queue.wait() == 1.0 and log.take() == []
    clock.advance(0.75)
    queue.work(1.0)
    assert log.take() == [] and queue.wait() == pytest.approx(0.25)
    clock.advance(0.25)
    queue.work(1.0)
    assert log.take() == ["a0"] and queue.wait() == pytest.approx(0.5)
    clock.advance(7.0)
    assert queue.wait() == 0.0
    queue.work(1.0)
    assert log.take() == ["a1", "a over"] and queue.wait() is None and "a" not in queue


def test_the_same_job_is_there_once_until_it_is_over(queue, log):
    assert queue.add("a", log.job("a", 0.0))
    assert not queue.add("a", log.job("other", 0.0))
    queue.work(1.0)
    assert log.take() == ["a0", "a over"]
    assert queue.add("a", log.job("other", 0.0))


def test_jobs_take_turns_and_those_that_a_slice_leaves_out_come_first(queue, log, clock):
    for name in "abc":
        queue.add(name, log.job(name, 0.0, 0.0, 0.0))
    clock.per_look = 0.1  # so that the time of a slice is over after one step
    for _ in range(3):
        queue.work(0.0)
    assert log.take() == ["a0", "b0", "c0"]
    clock.per_look = 0.0
    queue.work(1.0)
    assert log.take() == ["a1", "b1", "c1", "a2", "a over", "b2", "b over", "c2", "c over"]


def test_a_slice_ends_after_its_seconds(queue, log, clock):
    def slow():
        while True:
            yield 0.0
            log.append("step")
            clock.advance(1.0)

    queue.add("slow", slow)
    queue.work(2.5)
    assert log.take() == ["step"] * 3
    queue.work(0.0)
    assert log.take() == ["step"]
    queue.cancel_all()


def test_an_error_is_reported_once_ends_its_job_and_no_other(queue, log):
    queue.add("bad", log.job("bad", 0.0, error=KeyError("bad")))
    queue.add("good", log.job("good", 0.0, 0.0))
    queue.work(1.0)
    assert [str(one) for one in log.take()] == ["bad0", "bad over", "'bad'", "good0", "good1", "good over"]
    queue.work(1.0)
    assert log.take() == [] and queue.wait() is None


def test_an_error_before_the_first_wait_or_while_it_is_closed_is_reported_as_well(queue, log):
    def broken():
        raise KeyError("broken")
        yield

    def stubborn():
        try:
            yield 0.0
        finally:
            raise KeyError("stubborn")

    queue.add("broken", broken)
    queue.add("stubborn", stubborn)
    assert [str(one) for one in log.take()] == ["'broken'"] and "broken" not in queue
    assert queue.cancel("stubborn") and [str(one) for one in log.take()] == ["'stubborn'"]


def test_a_cancelled_job_cleans_up_also_before_its_first_step(queue, log):
    queue.add("a", log.job("a", 0.0))
    assert queue.cancel("a") and log.take() == ["a over"]
    assert not queue.cancel("a") and queue.wait() is None


def test_some_survive_what_cancels_the_others(queue, log):
    queue.add("a", log.job("a", 0.0))
    queue.add("b", log.job("b", 0.0), survives=True)
    queue.cancel_all(survivors=False)
    assert log.take() == ["a over"] and "b" in queue
    queue.cancel_all()
    assert log.take() == ["b over"] and queue.wait() is None


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_job_may_cancel_itself_and_begin_anew(queue, log, goes_on):
    def again():
        try:
            yield 0.0
            queue.cancel("a")
            assert queue.add("a", log.job("new", 0.0))
            if goes_on:
                yield 0.0
                log.append("never")
        finally:
            log.append("old over")

    job = again()  # which nothing but the queue closes
    queue.add("a", lambda: job)
    queue.work(1.0)
    assert log.take() == ["old over", "new0", "new over"]


def test_a_job_may_add_and_cancel_others(queue, log):
    def first():
        yield 0.0
        assert queue.is_working
        queue.cancel("b")
        queue.add("c", log.job("c", 0.0))

    queue.add("a", first)
    queue.add("b", log.job("b", 0.0))
    queue.work(1.0)
    assert log.take() == ["b over", "c0", "c over"] and not queue.is_working


def test_a_turn_waits_for_nobody(queue, log):
    queue.add("a", log.job("a", 100.0, 50.0))
    queue.add("b", log.job("b", 1.0))
    queue.turn(["a", "nobody"])
    assert log.take() == ["a0"] and queue.wait("a") == pytest.approx(50.0, abs=1.0) and queue.wait("nobody") is None
    queue.cancel_all()


def test_a_step_within_which_the_timer_rings_is_not_begun_again(queue, log):
    def nested():
        yield 0.0
        queue.work(1.0)
        queue.turn(["a"])
        log.append("once")

    queue.add("a", nested)
    queue.add("b", log.job("b", 0.0))
    queue.work(1.0)
    assert log.take() == ["once", "b0", "b over"]
