"""Where a message came from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import GatewayError, Platform, SessionSource

ANY = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.lists(st.integers())


def at(**fields: Any) -> SessionSource:
    return SessionSource(**({"platform": Platform.SLACK, "chat_id": "C1"} | fields))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"user_name": "Mira", "user_id": "7"}, "DM with Mira"),
        ({"user_id": "7"}, "DM with 7"),
        ({}, "DM with user"),
        ({"chat_type": "group", "chat_name": "Shop"}, "group: Shop"),
        ({"chat_type": "channel"}, "channel: C1"),
        ({"chat_type": "thread", "chat_name": "Plans"}, "Plans"),
        ({"chat_type": "group", "thread_id": "t9"}, "group: C1, thread: t9"),
        ({"platform": Platform.LOCAL}, "CLI terminal"),
    ],
)
def test_a_source_describes_itself(fields: dict[str, Any], words: str) -> None:
    assert at(**fields).description == words


def test_a_full_source_survives_a_round_trip() -> None:
    source = SessionSource(
        Platform.SIGNAL, "c", "Chat", "group", "u", "Mira", "t", "Topic", "ua", "ca",
        is_bot=True, guild_id="g", parent_chat_id="p", message_id="m",
    )  # fmt: skip
    assert SessionSource.from_dict(source.to_dict()) == source


def test_rare_fields_are_stored_only_where_known() -> None:
    data = at().to_dict()
    assert data["user_name"] is None
    assert not {"user_id_alt", "chat_id_alt", "is_bot"} & data.keys()


def test_ids_written_as_numbers_are_texts() -> None:
    source = SessionSource.from_dict({"platform": "telegram", "chat_id": 99, "user_id": 7})
    assert (source.chat_id, source.user_id, source.chat_type) == ("99", "7", "dm")


def test_the_local_terminal_has_its_own_source() -> None:
    local = SessionSource.local_cli()
    assert (local.platform, local.chat_id, local.chat_type) == (Platform.LOCAL, "cli", "dm")


@pytest.mark.parametrize("data", [{}, {"platform": "slack"}, {"chat_id": "1"}, [], None, "slack"])
def test_a_record_without_platform_and_chat_is_refused(data: Any) -> None:
    with pytest.raises(GatewayError, match="names no platform and chat"):
        SessionSource.from_dict(data)


def test_an_unknown_platform_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="pager"):
        SessionSource.from_dict({"platform": "pager", "chat_id": "1"})


@given(st.dictionaries(st.sampled_from(sorted(at().to_dict())), ANY))
def test_any_record_is_a_source_or_refused(data: dict[str, Any]) -> None:
    try:
        source = SessionSource.from_dict(data)
    except GatewayError:
        return
    assert SessionSource.from_dict(source.to_dict()) == source
