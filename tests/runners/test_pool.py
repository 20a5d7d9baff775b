from __future__ import annotations

import threading

import pytest

from warmstart.errors import InternalError, UsageError
from warmstart.experiment.schedule import Slot, build_schedule
from warmstart.experiment.trial import Trial
from warmstart.runners import EndpointError, EndpointFailure, FinishedTrial, Pool
from warmstart.runners.endpoint import TrialTranscript

SLOTS = build_schedule([f"t{i}" for i in range(10)], ["cold", "warm:x"], 1, 1)


def _done(slot: Slot) -> FinishedTrial:
    trial = Trial(experiment="e", task=slot.task, arm=slot.arm, number=slot.number)
    return FinishedTrial(trial=trial, conversation=TrialTranscript())


def _pool(work: object, jobs: int = 3) -> Pool:
    return Pool(work, jobs, threading.Event())  # type: ignore[arg-type] # works of every kind


@pytest.mark.parametrize("jobs", [1, 3, 50])
def test_every_slot_is_done_once(jobs: int) -> None:
    done = [one.trial.key for one in _pool(_done, jobs).run(SLOTS)]
    assert sorted(done) == sorted(slot.key for slot in SLOTS)


def test_one_worker_keeps_the_order() -> None:
    done = [one.trial.key for one in _pool(_done, 1).run(SLOTS)]
    assert done == [slot.key for slot in SLOTS]


def test_after_a_halt_nothing_more_is_started() -> None:
    pool = _pool(_done, 2)
    seen = []
    for one in pool.run(SLOTS):
        seen.append(one)
        pool.halt()
    assert 1 <= len(seen) <= 2


def test_a_failure_lets_what_runs_end_and_is_raised() -> None:
    stop = threading.Event()

    def work(slot: Slot) -> FinishedTrial:
        if slot.order == 0:
            raise UsageError("broken")
        assert stop.wait(5)
        return _done(slot)

    recorded = []
    with pytest.raises(UsageError, match="broken"):
        recorded.extend(Pool(work, 2, stop).run(SLOTS))
    assert [one.trial.key for one in recorded] == [SLOTS[1].key]


def test_what_failed_is_told_rather_than_what_was_stopped_by_it() -> None:
    def work(slot: Slot) -> FinishedTrial:
        failure = EndpointFailure.STOPPED if slot.order == 0 else EndpointFailure.DENIED
        raise EndpointError(f"{slot.order}", failure=failure)

    with pytest.raises(EndpointError) as raised:
        list(_pool(work, 2).run(SLOTS))
    assert raised.value.failure is EndpointFailure.DENIED


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_of_our_own_ends_the_run() -> None:
    def work(slot: Slot) -> FinishedTrial:
        raise KeyError(slot)

    with pytest.raises(InternalError):
        list(_pool(work, 1).run(SLOTS))


def test_leaving_early_stops_the_workers() -> None:
    stop = threading.Event()
    run = Pool(_done, 2, stop).run(SLOTS)
    next(run)
    run.close()
    assert stop.is_set()
