"""An entry and the text of the row that keeps it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import Platform, RecordError, SessionEntry, SessionSource
from warmstart.gateway.entry_row import read_row, write_row

NOON = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
NAMES = st.none() | st.text(st.characters(), max_size=20)
SOURCES = st.builds(
    SessionSource, platform=st.sampled_from(Platform), chat_id=st.text(max_size=9),
    chat_name=NAMES, chat_topic=NAMES, is_bot=st.booleans(),
)  # fmt: skip
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "display_name": NAMES, "origin": st.none() | SOURCES, "suspended": st.booleans(),
        "input_tokens": st.integers(0, 2**53), "estimated_cost_usd": st.floats(0, 9),
        "updated_at": st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - a bound
    },
)  # fmt: skip


def make(**fields: Any) -> SessionEntry:
    origin = SessionSource(Platform.SLACK, "C1", chat_name="Shop")
    basics = {"session_key": "agent:main:slack:dm:C1", "session_id": "s1", "origin": origin}
    return SessionEntry(**(basics | {"created_at": NOON, "updated_at": NOON} | fields))


@given(first=CHANGES, then=CHANGES)
def test_any_entry_is_read_as_it_was_written_and_as_it_was_changed(
    first: dict[str, Any], then: dict[str, Any]
) -> None:
    row = write_row(make(**first))
    assert read_row(row.text, aware=True).entry == row.entry
    for name, value in then.items():
        setattr(row.entry, name, value)
    assert read_row(row.renew().text, aware=True).entry == row.entry


def test_a_touch_writes_the_time_anew_and_leaves_the_rest() -> None:
    row = write_row(make())
    row.entry.updated_at += timedelta(minutes=5)
    renewed = row.renew()
    assert json.loads(renewed.text) == json.loads(row.text) | {
        "updated_at": "2026-04-10T12:05:00+00:00"
    }
    assert read_row(renewed.text, aware=True).entry == row.entry


@pytest.mark.parametrize(
    "change",
    [{"suspended": True}, {"display_name": '","updated_at":"x'}, {"display_name": "half \ud83d"}],
)
def test_whatever_else_its_holder_changed_is_written_too(change: dict[str, Any]) -> None:
    row = write_row(make())
    for name, value in change.items():
        setattr(row.entry, name, value)
    assert row.is_changed
    renewed = row.renew()
    assert not renewed.is_changed
    assert read_row(renewed.text, aware=True).entry == row.entry


def test_a_change_in_the_origin_is_a_change() -> None:
    row = write_row(make())
    assert row.entry.origin is not None
    row.entry.origin.chat_topic = "Repairs"
    assert row.is_changed
    assert "Repairs" in row.renew().text


def test_a_row_of_an_older_gateway_is_renewed_as_a_whole() -> None:
    older = json.dumps(make().to_dict())
    row = read_row(older, aware=True)
    assert not row.is_changed
    assert read_row(row.renew().text, aware=True).entry == row.entry


def test_what_a_newer_gateway_added_survives_a_touch() -> None:
    text = write_row(make()).text.replace(',"session_key"', ',"mood":"calm","session_key"')
    row = read_row(text, aware=True)
    row.entry.updated_at += timedelta(minutes=1)
    assert json.loads(row.renew().text)["mood"] == "calm"


def test_without_a_zone_times_are_stored_in_utc_and_come_back_as_the_wall_clock() -> None:
    wall = NOON.astimezone().replace(tzinfo=None)
    row = write_row(make(created_at=wall, updated_at=wall))
    assert json.loads(row.text)["updated_at"] == "2026-04-10T12:00:00+00:00"
    assert read_row(row.text, aware=False).entry.updated_at == wall


@pytest.mark.parametrize("text", ["", "{", "[]", '{"updated_at":"', "null", '{"session_id": "s"}'])
def test_a_text_that_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        read_row(text, aware=True)
