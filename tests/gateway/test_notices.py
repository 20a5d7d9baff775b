"""Notices of resets, and sessions suspended after a crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from warmstart.gateway import Platform, SessionEntry, SessionSource, SessionStore

Open = Callable[..., SessionStore]
IDLE = {"default_reset_policy": {"mode": "idle", "idle_minutes": 90}}


def expire(store: SessionStore, source: SessionSource, clock: Any) -> SessionEntry:
    """The new session of a chat in which something was said two hours ago."""
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, {"role": "user", "content": "hello"})
    clock.turn(hours=2)
    return store.get_or_create_session(source)


def test_a_notice_names_the_reason_and_is_given_once(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE)
    entry = expire(store, source, clock)
    notice = store.take_reset_notice(entry)
    assert notice is not None
    assert "nothing was written here for 90 minutes" in notice
    assert store.take_reset_notice(entry) is None
    again = open_store(IDLE).get_or_create_session(source)
    assert not again.was_auto_reset


def test_of_two_gateways_one_gives_the_notice(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    here, there = open_store(IDLE), open_store(IDLE)
    first = expire(here, source, clock)
    second = there.get_or_create_session(source)
    notices = [there.take_reset_notice(second), here.take_reset_notice(first)]
    assert [notice is None for notice in notices] == [False, True]


def test_an_entry_can_still_be_saved_after_its_notice(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE)
    entry = expire(store, source, clock)
    store.take_reset_notice(entry)
    entry.display_name = "Mira's phone"
    assert store.save_entry(entry)
    found = store.find_entry(entry.session_key)
    assert found is not None
    assert (found.display_name, found.was_auto_reset) == ("Mira's phone", False)


@pytest.mark.parametrize(
    ("policy", "platform"),
    [
        ({"notify": False}, Platform.TELEGRAM),
        ({"notify_exclude_platforms": ["telegram"]}, Platform.TELEGRAM),
        ({}, Platform.WEBHOOK),
    ],
)
def test_a_policy_may_want_no_notice(
    open_store: Open, source: SessionSource, clock: Any, policy: dict[str, Any], platform: Platform
) -> None:
    store = open_store({"default_reset_policy": IDLE["default_reset_policy"] | policy})
    entry = expire(store, replace(source, platform=platform), clock)
    assert entry.was_auto_reset
    assert store.take_reset_notice(entry) is None
    assert not store.get_or_create_session(replace(source, platform=platform)).was_auto_reset


def test_a_session_in_which_nothing_was_said_gets_no_notice(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE)
    store.get_or_create_session(source)
    clock.turn(hours=2)
    assert store.take_reset_notice(store.get_or_create_session(source)) is None


def test_a_daily_reset_names_its_hour(open_store: Open, source: SessionSource, clock: Any) -> None:
    store = open_store(
        {"default_reset_policy": {"mode": "daily", "at_hour": 13, "timezone": "UTC"}}
    )
    assert "every day at 13:00" in str(store.take_reset_notice(expire(store, source, clock)))


def test_sessions_active_a_moment_ago_are_suspended(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store({"default_reset_policy": {"mode": "none"}})
    old = store.get_or_create_session(source)
    clock.turn(seconds=200)
    new = store.get_or_create_session(replace(source, chat_id="100"))
    assert (store.suspend_recently_active(), store.suspend_recently_active()) == (1, 0)
    states = [store.find_state(entry) for entry in store.list_sessions()]
    assert sorted(states) == ["open", "suspended"]
    assert store.get_or_create_session(source).session_id == old.session_id
    after = store.get_or_create_session(replace(source, chat_id="100"))
    assert (after.session_id != new.session_id, after.auto_reset_reason) == (True, "suspended")


def test_how_recent_is_recent_can_be_named(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store()
    store.get_or_create_session(source)
    clock.turn(seconds=200)
    assert [store.suspend_recently_active(199), store.suspend_recently_active(200)] == [0, 1]
