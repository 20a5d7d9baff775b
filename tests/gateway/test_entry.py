"""The record behind a session key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import (
    GatewayError,
    Platform,
    RecordError,
    SessionEntry,
    SessionSource,
    UnsafeNameError,
)

NOON = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just([])


def make(**fields: Any) -> SessionEntry:
    basics = {"session_key": "agent:main:slack:dm:C1", "session_id": "s1"}
    return SessionEntry(**(basics | {"created_at": NOON, "updated_at": NOON} | fields))


def test_everything_survives_a_round_trip() -> None:
    entry = make(
        origin=SessionSource(Platform.SLACK, "C1"), display_name="Shop", platform=Platform.SLACK,
        chat_type="group", input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4,
        total_tokens=3, last_prompt_tokens=9, estimated_cost_usd=0.25, cost_status="estimated",
        was_auto_reset=True, auto_reset_reason="idle", reset_had_activity=True,
        expiry_finalized=True, flush_attempts=2, suspended=True,
    )  # fmt: skip
    assert SessionEntry.from_dict(entry.to_dict()) == entry


def test_a_record_of_an_older_gateway_is_enough() -> None:
    stored = {
        "session_key": "k", "session_id": "s", "created_at": "2026-03-01T10:00:00",
        "updated_at": "2026-03-01T11:00:00", "platform": "telegram", "input_tokens": 5,
    }  # fmt: skip
    entry = SessionEntry.from_dict(stored)
    assert (entry.platform, entry.input_tokens, entry.was_auto_reset) == (
        Platform.TELEGRAM,
        5,
        False,
    )


def test_a_flush_noted_under_its_older_name_counts() -> None:
    stored = make().to_dict() | {"memory_flushed": True}
    del stored["expiry_finalized"]
    assert SessionEntry.from_dict(stored).expiry_finalized


def test_an_unknown_platform_is_none() -> None:
    origin = {"platform": "pager", "chat_id": "1"}
    entry = SessionEntry.from_dict(make().to_dict() | {"platform": "pager", "origin": origin})
    assert (entry.platform, entry.origin) == (None, None)


@pytest.mark.parametrize("session_id", ["../x", "a/b", "..\\x", "/abs", "C:\\x", "", None, 5])
def test_an_id_that_leaves_its_folder_is_refused(session_id: Any) -> None:
    with pytest.raises(UnsafeNameError):
        SessionEntry.from_dict(make().to_dict() | {"session_id": session_id})


def test_a_key_that_climbs_is_refused_and_one_with_a_slash_is_not() -> None:
    with pytest.raises(UnsafeNameError):
        SessionEntry.from_dict(make().to_dict() | {"session_key": "a/../../b"})
    assert (
        SessionEntry.from_dict(make().to_dict() | {"session_key": "a:b/c"}).session_key == "a:b/c"
    )


@pytest.mark.parametrize("value", [None, "", "yesterday", 5, "0001-01-01T00:00:00", "9999-12-31"])
def test_an_entry_without_a_usable_time_is_refused(value: Any) -> None:
    with pytest.raises(RecordError, match="updated_at"):
        SessionEntry.from_dict(make().to_dict() | {"updated_at": value})


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(RecordError, match="not a session entry"):
        SessionEntry.from_dict([])


@given(st.dictionaries(st.sampled_from(sorted(make().to_dict())), ANY))
def test_any_record_is_an_entry_or_refused(changes: dict[str, Any]) -> None:
    try:
        entry = SessionEntry.from_dict(make().to_dict() | changes)
    except GatewayError:
        return
    assert SessionEntry.from_dict(entry.to_dict()) == entry
