"""Calls counted by column are the calls one by one."""

from __future__ import annotations

from itertools import compress

from hypothesis import given
from hypothesis import strategies as st

from support.profiles import any_facts, make_calls
from warmstart.facts.columns import ERROR_CLASS, MESSAGE, SAME, SHAPE, TURN, columns_of
from warmstart.facts.verdicts import CLASSES, MASKED_TABLE, VERDICTS, count_statuses, encode_parts
from warmstart.model import Status
from warmstart.model.facts import SessionFacts

STATUSES = list(Status)


@given(any_facts())
def test_every_column_holds_what_the_calls_hold(facts: SessionFacts) -> None:
    columns = columns_of(facts.calls)
    assert [columns.names[number] for number in columns.tools] == [c.tool for c in facts.calls]
    assert [STATUSES[place] for place in columns.statuses] == [c.status for c in facts.calls]
    classes = columns.column(ERROR_CLASS)
    assert [CLASSES[number] for number in classes] == [c.error_class for c in facts.calls]
    assert list(columns.endings.translate(MASKED_TABLE)) == [c.masked for c in facts.calls]
    assert list(columns.column(SAME)) == [c.same for c in facts.calls]
    assert list(columns.column(SHAPE)) == [c.shape for c in facts.calls]
    assert list(columns.column(MESSAGE)) == [c.message for c in facts.calls]
    assert list(columns.column(TURN)) == [c.turn for c in facts.calls]
    assert list(columns.positions) == [c.position for c in facts.calls]


@given(any_facts(), st.data())
def test_calls_that_were_taken_are_columns_again(facts: SessionFacts, data: st.DataObject) -> None:
    mask = bytes(data.draw(st.lists(st.booleans(), min_size=len(facts.calls),
                                    max_size=len(facts.calls))))  # fmt: skip
    taken = columns_of(facts.calls).take(mask)
    wanted = tuple(compress(facts.calls, mask))
    assert (tuple(taken), len(taken)) == (wanted, len(wanted))
    assert taken == wanted
    assert [taken.names[number] for number in taken.tools] == [call.tool for call in wanted]
    assert taken[:2] == wanted[:2]


def test_more_tools_than_a_byte_can_number_are_told_apart() -> None:
    calls = make_calls([f"tool{number}" for number in range(300)] * 2, "." * 600)
    columns = columns_of(calls)
    assert columns == calls
    assert (columns.tools.count(0), columns.tools.count(299)) == (2, 2)
    assert tuple(columns.take(b"\1" * 600)) == calls


def test_columns_are_their_own_columns() -> None:
    columns = columns_of(make_calls(["bash"], "."))
    assert columns_of(columns) is columns


def test_every_verdict_has_a_number_of_its_own() -> None:
    assert len({encode_parts(tuple(verdict)) for verdict in VERDICTS.values()}) == len(VERDICTS)
    assert all(encode_parts(tuple(verdict)) == code for code, verdict in VERDICTS.items())


def test_statuses_are_counted_whatever_else_a_verdict_says() -> None:
    counts = count_statuses(VERDICTS)
    assert counts == [len(VERDICTS) // len(Status)] * len(Status)
