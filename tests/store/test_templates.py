"""States, uses and verdicts of templates, and starts of sessions, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from warmstart.errors import NotFoundError, UsageError
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import (
    SessionDB,
    Start,
    TemplateRecord,
    TemplateRow,
    TemplateVerdict,
    open_template_db,
)

ROW = TemplateRow(
    name="a", version=1, template_id="id1", state=TemplateState.DRAFT, created_at=1.0,
    changed_at=1.0, summary={"examples": 3, "anchors": ["é"]}, current=True,
)  # fmt: skip
START = Start(
    agent="hermes", model="m", template="a", template_id="id1", version=1, arm=Arm.WARM,
    form="openai", message_hash="ff", started_at=100.0, cwd="/x", native_id="n1",
)  # fmt: skip


def test_a_row_comes_back_as_it_was_put(db: SessionDB) -> None:
    db.put_template(ROW)
    assert db.list_template_rows() == [ROW]
    assert db.find_template_row("id1") == ROW
    assert db.find_template_row("id2") is None


def test_a_version_that_is_known_is_not_put_again(db: SessionDB) -> None:
    db.put_template(ROW)
    db.put_template(replace(ROW, state=TemplateState.APPROVED))
    assert db.list_template_rows("a")[0].state is TemplateState.DRAFT


def test_one_version_is_current_at_a_time(db: SessionDB) -> None:
    db.put_template(ROW)
    db.put_template(replace(ROW, version=2, template_id="id2", current=False))
    db.set_current_template("a", 2)
    assert [row.current for row in db.list_template_rows("a")] == [False, True]


def test_a_state_is_kept_with_its_reason(db: SessionDB) -> None:
    db.put_template(ROW)
    db.set_template_state("a", 1, TemplateState.RETIRED, "because \0 of it")
    row = db.list_template_rows("a")[0]
    assert (row.state, row.reason) == (TemplateState.RETIRED, "because   of it")
    with pytest.raises(NotFoundError):
        db.set_template_state("a", 2, TemplateState.RETIRED)


def test_deleting_forgets_one_version_or_all(db: SessionDB) -> None:
    for version in (1, 2, 3):
        db.put_template(replace(ROW, version=version, template_id=f"id{version}"))
    assert db.delete_template_rows("a", 2) == 1
    assert db.delete_template_rows("a") == 2
    assert db.list_template_rows() == []


def test_starts_count_uses_and_settling_counts_outcomes(db: SessionDB) -> None:
    first = db.record_start(START)
    db.record_start(START)
    assert db.settle_start(first, "hermes:s1", calls=12, errors=2, success=True)
    assert db.list_template_records("id1") == [
        TemplateRecord(
            template_id="id1", model="m", arm=Arm.WARM, uses=2, successes=1, failures=0, calls=12,
            errors=2,
        )
    ]  # fmt: skip


def test_a_start_settles_exactly_once(db: SessionDB) -> None:
    start = db.record_start(START)
    assert db.settle_start(start, "hermes:s1", 5, 1, success=False)
    assert not db.settle_start(start, "hermes:s1", 5, 1, success=False)
    assert not db.settle_start(start, "hermes:s2", 9, 0, success=True)
    assert db.list_template_records("id1")[0].failures == 1
    assert db.get_start(start).session_id == "hermes:s1"


def test_a_session_settles_one_start_only(db: SessionDB) -> None:
    one, other = db.record_start(START), db.record_start(START)
    db.settle_start(one, "hermes:s1", 5, 1, success=None)
    with pytest.raises(UsageError, match="already"):
        db.settle_start(other, "hermes:s1", 5, 1, success=True)
    assert db.list_template_records("id1")[0].successes == 0


def test_an_outcome_nobody_knows_counts_calls_only(db: SessionDB) -> None:
    start = db.record_start(replace(START, model=None))
    db.settle_start(start, "hermes:s1", 5, 1, success=None)
    record = db.list_template_records("id1")[0]
    assert (record.model, record.calls, record.successes, record.failures) == ("", 5, 0, 0)


def test_starts_without_a_template_are_the_ones_to_compare_with(db: SessionDB) -> None:
    cold = replace(START, arm=Arm.COLD, template=None, template_id=None, version=None)
    db.settle_start(db.record_start(cold), "hermes:s1", 5, 1, success=True)
    assert db.list_template_records("")[0].successes == 1


def test_starts_are_listed_by_what_is_still_to_do(db: SessionDB) -> None:
    late = db.record_start(replace(START, started_at=200.0))
    early = db.record_start(START)
    db.settle_start(early, "hermes:s1", 1, 0, success=True)
    assert [start.id for start in db.list_starts()] == [early, late]
    assert [start.id for start in db.list_starts(unsettled=True)] == [late]
    assert [start.id for start in db.list_starts(unsettled=False)] == [early]
    assert [start.id for start in db.list_starts(since=150.0, template_id="id1")] == [late]
    settled = db.get_start(early)
    assert settled.arm is Arm.WARM
    assert (settled.success, settled.calls, settled.settled_at is not None) == (True, 1, True)


@pytest.mark.parametrize(("calls", "errors"), [(1, 2), (-1, 0), (3, -1)])
def test_numbers_that_cannot_be_are_refused(db: SessionDB, calls: int, errors: int) -> None:
    start = db.record_start(START)
    with pytest.raises(UsageError):
        db.settle_start(start, "hermes:s1", calls, errors, success=True)


def test_a_start_that_is_not_there_is_not_found(db: SessionDB) -> None:
    with pytest.raises(NotFoundError):
        db.settle_start(99, "hermes:s1", 1, 0, success=True)


def test_what_was_settled_before_a_state_is_remembered_with_it(db: SessionDB) -> None:
    db.put_template(ROW)
    for number in range(3):
        db.settle_start(db.record_start(START), f"hermes:{number}", 1, 0, success=True)
    db.set_template_state("a", 1, TemplateState.APPROVED)
    assert db.list_template_rows("a")[0].settled_before == 3


def test_verdicts_are_kept_in_order(db: SessionDB) -> None:
    verdict = TemplateVerdict(
        template_id="id1", model="m", text="better", numbers={"n": 61, "p": 0.01}, decided_at=2.0
    )
    db.record_verdict(verdict)
    db.record_verdict(replace(verdict, text="inconclusive", decided_at=1.0))
    assert [found.text for found in db.list_verdicts("id1")] == ["inconclusive", "better"]
    assert db.list_verdicts("id1")[1] == verdict
    assert db.list_verdicts("other") == []


def test_settling_from_many_threads_counts_every_start_once(
    open_store: Callable[..., SessionDB],
) -> None:
    db = open_store()
    starts = [db.record_start(START) for _ in range(20)]

    def settle() -> None:
        mine = open_store()
        for start in starts:
            mine.settle_start(start, f"hermes:{start}", 2, 1, success=True)

    threads = [threading.Thread(target=settle) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record = db.list_template_records("id1")[0]
    assert (record.uses, record.successes, record.calls) == (20, 20, 40)


def test_a_failing_write_changes_nothing(db: SessionDB) -> None:
    def work() -> None:
        db.put_template(ROW)
        raise UsageError("no")

    with pytest.raises(UsageError):
        db.in_one_write(work)
    assert db.list_template_rows() == []


def test_a_reader_knows_what_the_store_knows(db: SessionDB, address: str) -> None:
    db.put_template(ROW)
    db.record_start(START)
    opened = open_template_db(address)
    assert opened is not None
    with opened:
        assert opened.list_template_rows() == [ROW]
        assert opened.list_template_records() == db.list_template_records()
