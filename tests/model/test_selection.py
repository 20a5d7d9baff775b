"""Each filter keeps what it names and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from support.sessions import STARTED, make_session
from warmstart.model.selection import Selection, count_messages, last_active

DAY = 86_400.0


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({}, True),
        ({"source": "hermes"}, True),
        ({"source": "codex"}, False),
        ({"agent": "HERMES"}, True),
        ({"agent": "herm"}, False),
        ({"model": "LARGE"}, True),
        ({"model": "small"}, False),
        ({"project": "shop"}, True),
        ({"project": "bank"}, False),
        ({"since": STARTED + 90}, True),
        ({"since": STARTED + 91}, False),
        ({"until": STARTED + 1}, True),
        ({"until": STARTED}, False),
        ({"tool": "terminal"}, True),
        ({"tool": "READ_*"}, True),
        ({"tool": "write_file"}, False),
        ({"min_messages": 6}, True),
        ({"min_messages": 7}, False),
        ({"max_messages": 6}, True),
        ({"max_messages": 5}, False),
        ({"errors_only": True}, True),
    ],
)
def test_a_filter_keeps_what_it_names(filters: dict[str, Any], kept: bool) -> None:  # noqa: FBT001
    assert Selection(**filters).matches(make_session()) is kept


def test_a_platform_is_named_in_full_and_in_any_case() -> None:
    session = replace(make_session(), platform="telegram")
    assert Selection(platform="Telegram").matches(session)
    assert not Selection(platform="tele").matches(session)
    assert not Selection(platform="telegram").matches(make_session())


def test_a_session_without_errors_is_no_session_with_errors() -> None:
    session = replace(make_session(), calls=make_session().calls[1:])
    assert not Selection(errors_only=True).matches(session)


def test_a_session_without_a_time_matches_no_time() -> None:
    session = replace(make_session(), started_at=None, ended_at=None)
    assert last_active(session) is None
    assert not Selection(since=0.0).matches(session)
    assert not Selection(until=9e9).matches(session)


def test_only_messages_that_happened_here_are_counted() -> None:
    messages = make_session().messages
    copied = replace(messages[0], fate="copied")
    assert count_messages(make_session(messages=[copied, *messages[1:]])) == 5
