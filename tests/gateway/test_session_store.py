"""Which session a message belongs to, across time, restarts, threads and databases."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from warmstart.gateway import (
    GatewayConfig,
    Platform,
    SessionEntry,
    SessionSource,
    SessionStore,
    UnsafeNameError,
)
from warmstart.store import Chat, SessionDB

Open = Callable[..., SessionStore]
IDLE = {"default_reset_policy": {"mode": "idle", "idle_minutes": 30}}
WRITER = """
import sys
from warmstart.gateway import GatewayConfig, Platform, SessionSource, SessionStore
name, address, folder = sys.argv[1:]
with SessionStore(folder, GatewayConfig(database=address)) as store:
    for number in range(10):
        entry = store.get_or_create_session(SessionSource(Platform.SLACK, f"{name}-{number}"))
        for turn in range(3):
            store.append_to_transcript(entry.session_id, {"role": "user", "content": str(turn)})
"""
DAILY = {"default_reset_policy": {"mode": "daily", "at_hour": 4, "timezone": "UTC"}}


def say(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text} | fields


def fail(_: object) -> bool:
    raise RuntimeError("nobody knows")


def test_one_chat_has_one_session(store: SessionStore, source: SessionSource) -> None:
    first = store.get_or_create_session(source)
    assert store.get_or_create_session(source).session_id == first.session_id
    assert (
        store.get_or_create_session(replace(source, chat_id="100")).session_id != first.session_id
    )


def test_a_new_session_knows_where_it_came_from(store: SessionStore, source: SessionSource) -> None:
    entry = store.get_or_create_session(source)
    assert (entry.session_key, entry.platform) == ("agent:main:telegram:dm:99", Platform.TELEGRAM)
    assert (entry.origin, entry.display_name, entry.was_auto_reset) == (source, "Mira", False)


def test_ids_sort_by_time(store: SessionStore, source: SessionSource, clock: Any) -> None:
    first = store.get_or_create_session(source)
    clock.turn(seconds=1)
    second = store.get_or_create_session(source, force_new=True)
    assert first.session_id.startswith("20260410_120000_")
    assert first.session_id < second.session_id


def test_a_restart_finds_the_session_again(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    first = open_store().get_or_create_session(source)
    clock.turn(minutes=5)
    again = open_store().get_or_create_session(source)
    assert (again.session_id, again.created_at) == (first.session_id, first.created_at)
    assert again.updated_at == clock()
    assert again.origin == source


def test_a_session_in_which_nothing_was_said_leaves_no_row(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    store.reset_session(store.get_or_create_session(source).session_key)
    assert db.session_count() == 0
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, say("hello"))
    row = db.get_session(entry.session_id)
    assert row is not None
    assert (db.session_count(), row["source"], row["user_id"]) == (1, "telegram", "7")
    assert (row["session_key"], row["chat_id"]) == (entry.session_key, "99")


def test_an_idle_session_is_replaced_and_the_reason_survives_a_restart(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    old = open_store(IDLE).get_or_create_session(source)
    clock.turn(minutes=31)
    new = open_store(IDLE).get_or_create_session(source)
    assert new.session_id != old.session_id
    kept = open_store(IDLE).get_or_create_session(source)
    assert (kept.session_id, kept.was_auto_reset, kept.auto_reset_reason) == (
        new.session_id, True, "idle",
    )  # fmt: skip


def test_a_touch_puts_the_pause_off(open_store: Open, source: SessionSource, clock: Any) -> None:
    store = open_store(IDLE)
    ids = set()
    for _ in range(4):
        ids.add(store.get_or_create_session(source).session_id)
        clock.turn(minutes=29)
    assert len(ids) == 1


def test_a_daily_reset_ends_the_old_row_with_its_reason(
    open_store: Open, source: SessionSource, clock: Any, db: SessionDB
) -> None:
    store = open_store(DAILY)
    old = store.get_or_create_session(source)
    store.append_to_transcript(old.session_id, say("good night"))
    clock.turn(hours=17)
    new = store.get_or_create_session(source)
    row = db.get_session(old.session_id)
    assert row is not None
    assert (row["end_reason"], new.auto_reset_reason) == ("daily", "daily")
    assert new.reset_had_activity


def test_a_reset_of_a_silent_session_had_no_activity(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE)
    store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert not store.get_or_create_session(source).reset_had_activity


def test_tokens_count_as_activity(open_store: Open, source: SessionSource, clock: Any) -> None:
    store = open_store(IDLE)
    store.update_session(store.get_or_create_session(source).session_key, last_prompt_tokens=5)
    clock.turn(minutes=31)
    assert store.get_or_create_session(source).reset_had_activity


def test_the_platform_s_policy_decides(open_store: Open, source: SessionSource, clock: Any) -> None:
    store = open_store(IDLE | {"reset_by_platform": {"telegram": {"mode": "none"}}})
    old = store.get_or_create_session(source)
    clock.turn(days=9)
    assert store.get_or_create_session(source).session_id == old.session_id


@pytest.mark.parametrize("is_active", [lambda _: True, fail])
def test_a_session_with_running_processes_is_never_reset_nor_if_nobody_can_say(
    open_store: Open, source: SessionSource, clock: Any, is_active: Callable[[str], bool]
) -> None:
    store = open_store(IDLE, has_active_processes_fn=is_active)
    old = store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert not store.is_session_expired(old)
    assert store.get_or_create_session(source).session_id == old.session_id


def test_the_guard_is_asked_for_the_session_s_key(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    asked: list[str] = []
    store = open_store(IDLE, has_active_processes_fn=lambda key: bool(asked.append(key)))
    old = store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert store.is_session_expired(old)
    assert asked == [old.session_key]


def test_a_reset_by_the_clock_is_told_with_the_entry_that_ended(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    told: list[SessionEntry] = []
    store = open_store(IDLE, on_auto_reset=told.append)
    old = store.get_or_create_session(source)
    clock.turn(minutes=31)
    store.get_or_create_session(source)
    assert [entry.session_id for entry in told] == [old.session_id]


def test_a_listener_that_raises_stops_no_message(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE, on_auto_reset=fail)
    store.get_or_create_session(source)
    clock.turn(minutes=31)
    assert store.get_or_create_session(source).was_auto_reset


def test_force_new_starts_over_and_is_no_automatic_reset(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    old = store.get_or_create_session(source)
    store.append_to_transcript(old.session_id, say("x"))
    new = store.get_or_create_session(source, force_new=True)
    row = db.get_session(old.session_id)
    assert row is not None
    assert (new.was_auto_reset, row["end_reason"]) == (False, "session_reset")


def test_a_reset_keeps_key_and_origin(store: SessionStore, source: SessionSource) -> None:
    old = store.get_or_create_session(source)
    new = store.reset_session(old.session_key)
    assert new is not None
    assert new.session_id != old.session_id
    assert (new.session_key, new.origin, new.display_name) == (old.session_key, source, "Mira")
    assert store.get_or_create_session(source).session_id == new.session_id


def test_an_unknown_key_is_neither_reset_nor_switched_nor_suspended(store: SessionStore) -> None:
    assert store.reset_session("agent:main:telegram:dm:none") is None
    assert store.switch_session("agent:main:telegram:dm:none", "s1") is None
    assert not store.suspend_session("agent:main:telegram:dm:none")
    store.update_session("agent:main:telegram:dm:none", input_tokens=1)
    assert store.list_sessions() == []


def test_switching_ends_one_session_and_reopens_the_other(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    old = store.get_or_create_session(source)
    store.append_to_transcript(old.session_id, say("first"))
    new = store.reset_session(old.session_key)
    assert new is not None
    store.append_to_transcript(new.session_id, say("second"))
    back = store.switch_session(old.session_key, old.session_id)
    assert back is not None
    assert store.load_transcript(back.session_id)[0]["content"] == "first"
    rows = [db.get_session(entry.session_id) or {} for entry in (old, new)]
    assert [row["end_reason"] for row in rows] == [None, "session_switch"]


def test_switching_to_the_same_session_changes_nothing(
    store: SessionStore, source: SessionSource
) -> None:
    entry = store.get_or_create_session(source)
    assert store.switch_session(entry.session_key, entry.session_id) == entry


def test_a_target_that_is_a_path_is_refused(store: SessionStore, source: SessionSource) -> None:
    entry = store.get_or_create_session(source)
    with pytest.raises(UnsafeNameError):
        store.switch_session(entry.session_key, "../../etc/passwd")


def test_a_suspended_session_is_replaced_with_the_next_message(
    store: SessionStore, source: SessionSource
) -> None:
    old = store.get_or_create_session(source)
    assert store.suspend_session(old.session_key)
    new = store.get_or_create_session(source)
    assert (new.session_id != old.session_id, new.auto_reset_reason) == (True, "suspended")


def test_tokens_add_up_in_entry_and_row(
    open_store: Open, source: SessionSource, db: SessionDB
) -> None:
    store = open_store()
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, say("x"))
    store.update_session(entry.session_key, 100, 20, last_prompt_tokens=90)
    store.update_session(entry.session_key, input_tokens=1, output_tokens=2)
    kept = open_store().find_entry(entry.session_key)
    row = db.get_session(entry.session_id)
    assert kept is not None
    assert row is not None
    assert (kept.input_tokens, kept.output_tokens, kept.total_tokens) == (101, 22, 123)
    assert (kept.last_prompt_tokens, row["input_tokens"], row["output_tokens"]) == (90, 101, 22)


def test_listing_is_latest_first_and_can_be_cut_by_activity(
    store: SessionStore, source: SessionSource, clock: Any
) -> None:
    for chat in ("1", "2", "3"):
        store.get_or_create_session(replace(source, chat_id=chat))
        clock.turn(minutes=10)
    keys = [entry.session_key[-1] for entry in store.list_sessions()]
    assert keys == ["3", "2", "1"]
    assert len(store.list_sessions(active_minutes=20)) == 2


def test_an_entry_is_found_by_its_session(store: SessionStore, source: SessionSource) -> None:
    entry = store.get_or_create_session(source)
    assert store.lookup_by_session_id(entry.session_id) == entry
    assert store.lookup_by_session_id("none") is None


def test_the_session_being_started_is_not_any_session(
    store: SessionStore, source: SessionSource
) -> None:
    assert not store.has_any_sessions()
    entry = store.get_or_create_session(source)
    assert not store.has_any_sessions()
    store.append_to_transcript(entry.session_id, say("hello"))
    assert not store.has_any_sessions()


def test_an_ended_session_and_a_second_key_are_sessions(
    store: SessionStore, source: SessionSource
) -> None:
    entry = store.get_or_create_session(source)
    store.append_to_transcript(entry.session_id, say("hello"))
    store.reset_session(entry.session_key)
    assert store.has_any_sessions()
    store.get_or_create_session(replace(source, chat_id="2"))
    assert store.has_any_sessions()


def test_a_change_in_an_entry_is_stored_when_saved(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    store = open_store(IDLE)
    entry = store.get_or_create_session(source)
    entry.updated_at = clock() - timedelta(hours=1)
    assert store.save_entry(entry)
    handled = store.get_or_create_session(source)
    assert handled.was_auto_reset
    handled.was_auto_reset = False
    assert store.save_entry(handled)
    kept = open_store(IDLE).find_entry(entry.session_key)
    assert kept is not None
    assert not kept.was_auto_reset


def test_every_look_gives_an_entry_of_its_own(store: SessionStore, source: SessionSource) -> None:
    entry = store.get_or_create_session(source)
    entry.suspended = True
    found = store.find_entry(entry.session_key)
    assert found is not None
    assert not found.suspended


def test_what_another_process_wrote_wins(open_store: Open, source: SessionSource) -> None:
    here, there = open_store(), open_store()
    entry = here.get_or_create_session(source)
    moved = there.reset_session(entry.session_key)
    assert moved is not None
    assert here.get_or_create_session(source).session_id == moved.session_id


def test_scopes_share_a_database_but_no_keys(open_store: Open, source: SessionSource) -> None:
    first = open_store({"scope": "a"}).get_or_create_session(source)
    second = open_store({"scope": "b"}).get_or_create_session(source)
    assert first.session_id != second.session_id


def test_settings_decide_who_shares_a_session(open_store: Open, source: SessionSource) -> None:
    group = replace(source, chat_type="group")
    other = replace(group, user_id="8")
    apart, together = open_store(), open_store({"group_sessions_per_user": False, "scope": "b"})
    ids = [s.get_or_create_session(o).session_id for s in (apart, together) for o in (group, other)]
    assert ids[0] != ids[1]
    assert ids[2] == ids[3]


def test_threads_that_start_one_session_get_one(open_store: Open, source: SessionSource) -> None:
    store = open_store()
    ids: list[str] = []

    def start() -> None:
        ids.extend(store.get_or_create_session(source).session_id for _ in range(5))

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 30
    assert len(set(ids)) == 1


def test_a_listener_may_use_the_store_from_another_thread(
    open_store: Open, source: SessionSource, clock: Any
) -> None:
    def listen(_: SessionEntry) -> None:
        thread = threading.Thread(target=lambda: listed.extend(store.list_sessions()))
        thread.start()
        thread.join(10)

    listed: list[SessionEntry] = []
    store = open_store(IDLE, on_auto_reset=listen)
    store.get_or_create_session(source)
    clock.turn(minutes=31)
    new = store.get_or_create_session(source)
    assert [entry.session_id for entry in listed] == [new.session_id]


def test_every_key_of_four_writing_processes_survives(address: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, str(n), address, str(tmp_path / "s")]) for n in range(4)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    with SessionStore(tmp_path / "s", GatewayConfig(database=address)) as store:
        entries = store.list_sessions()
        assert len(entries) == 40
        assert all(len(store.load_transcript(entry.session_id)) == 3 for entry in entries)


def test_old_keys_can_be_forgotten_and_their_transcripts_stay(
    store: SessionStore, source: SessionSource, clock: Any
) -> None:
    old = store.get_or_create_session(source)
    store.append_to_transcript(old.session_id, say("x"))
    clock.turn(days=91)
    store.get_or_create_session(replace(source, chat_id="2"))
    assert store.prune_old_entries(90) == 1
    assert store.find_entry(old.session_key) is None
    assert len(store.load_transcript(old.session_id)) == 1


def test_a_damaged_entry_is_passed_over(
    store: SessionStore, source: SessionSource, db: SessionDB
) -> None:
    entry = store.get_or_create_session(source)
    db.put_chat("main", Chat("agent:main:x", "../../up", 0.0, 0.0, "{}"))
    assert [one.session_id for one in store.list_sessions()] == [entry.session_id]
    broken = db.find_chat("main", entry.session_key)
    assert broken is not None
    db.put_chat("main", broken._replace(updated_at=1e300))
    assert store.list_sessions() == []
    assert store.get_or_create_session(source).session_id != entry.session_id


def test_without_a_clock_entries_hold_the_machine_s_wall_time(
    open_store: Open, source: SessionSource
) -> None:
    entry = open_store(now=None).get_or_create_session(source)
    assert entry.created_at.tzinfo is None
    kept = open_store(now=None).find_entry(entry.session_key)
    assert kept is not None
    assert kept.created_at == entry.created_at
    age = datetime.now() - kept.created_at  # noqa: DTZ005 - compared as agents do
    assert abs(age) < timedelta(minutes=5)


def test_a_store_opens_its_own_database_and_closes_it(
    tmp_path: Path, source: SessionSource
) -> None:
    folder = tmp_path / "alone"
    with SessionStore(str(folder), GatewayConfig()) as store:
        entry = store.get_or_create_session(source)
    with SessionStore(folder, GatewayConfig()) as store:
        assert store.get_or_create_session(source).session_id == entry.session_id
    assert (folder / "state.db").exists()


def test_settings_may_name_the_database(tmp_path: Path, source: SessionSource) -> None:
    config = GatewayConfig(database=str(tmp_path / "shared.db"))
    with SessionStore(tmp_path / "s", config) as store:
        store.get_or_create_session(source)
    assert (tmp_path / "shared.db").exists()
    assert not (tmp_path / "s" / "state.db").exists()
