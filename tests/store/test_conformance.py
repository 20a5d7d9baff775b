"""What every database must do: sessions and their messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from warmstart.errors import UsageError
from warmstart.store import MessageError, SessionDB, StoreError, TranscriptWriter

Open = Callable[..., SessionDB]
CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"p": "a"}'}},
    {"id": "c2", "type": "function", "function": {"name": "terminal", "arguments": '{"c": "ls"}'}},
]


def contents(db: SessionDB, session_id: str = "s1") -> list[object]:
    return [row["content"] for row in db.get_messages(session_id)]


# --- sessions


def test_a_created_session_is_found_by_its_id(db: SessionDB) -> None:
    assert db.create_session(session_id="s1", source="cli", model="m-1") == "s1"
    row = db.get_session("s1")
    assert row is not None
    assert (row["source"], row["model"], row["ended_at"]) == ("cli", "m-1", None)


def test_an_unknown_session_is_none(db: SessionDB) -> None:
    assert db.get_session("nobody") is None


def test_asking_for_an_id_no_database_can_hold_is_an_error_of_ours(db: SessionDB) -> None:
    with pytest.raises(StoreError, match="cannot take a value"):
        db.get_session("half \ud83d a pair")


def test_creating_twice_fills_only_what_is_missing(db: SessionDB) -> None:
    db.create_session("s1", "cli", model="first")
    db.create_session("s1", "web", model="second", cwd="/home/dev/shop")
    row = db.get_session("s1")
    assert row is not None
    assert (row["source"], row["model"], row["cwd"]) == ("cli", "first", "/home/dev/shop")


def test_ensuring_twice_makes_one_row(db: SessionDB) -> None:
    db.ensure_session("s1", "cli")
    db.ensure_session("s1", "telegram", model="m-1")
    row = db.get_session("s1")
    assert row is not None
    assert (db.session_count(), row["source"], row["model"]) == (1, "cli", "m-1")


def test_an_unknown_source_is_filled_in_later(db: SessionDB) -> None:
    db.append_message("s1", "user", "hi")
    db.ensure_session("s1", "telegram")
    row = db.get_session("s1")
    assert row is not None
    assert row["source"] == "telegram"


def test_an_agent_that_never_sends_a_message_leaves_no_row(db: SessionDB) -> None:
    for number in range(20):
        TranscriptWriter(db, f"idle-{number}", "cli").flush([])
    TranscriptWriter(db, "busy", "cli").flush([{"role": "user", "content": "hi"}])
    assert db.session_count() == 1


def test_a_child_may_be_created_before_its_parent_has_a_row(db: SessionDB) -> None:
    db.create_session("child", "cli", parent_session_id="parent")
    row = db.get_session("child")
    assert row is not None
    assert row["parent_session_id"] == "parent"


def test_a_model_config_is_kept_as_json(db: SessionDB) -> None:
    db.create_session("s1", "cli", model_config={"max_tokens": 5})
    row = db.get_session("s1")
    assert row is not None
    assert row["model_config"] == '{"max_tokens": 5}'


def test_an_unknown_field_of_a_session_is_refused(db: SessionDB) -> None:
    with pytest.raises(TypeError, match="colour"):
        db.create_session("s1", "cli", colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("bad", ["", "x" * 256, "a\0b", "\ud800", 7, None])
def test_an_id_no_database_can_keep_is_refused(db: SessionDB, bad: str) -> None:
    with pytest.raises(MessageError):
        db.create_session(bad, "cli")
    with pytest.raises(MessageError):
        db.append_message(bad, "user", "hi")
    assert db.session_count() == 0


def test_the_first_end_reason_wins(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.end_session("s1", "compression")
    db.end_session("s1", end_reason="cli_close")
    row = db.get_session("s1")
    assert row is not None
    assert row["end_reason"] == "compression"
    assert isinstance(row["ended_at"], float)


def test_a_reopened_session_has_no_end(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.end_session("s1", "idle")
    db.reopen_session("s1")
    row = db.get_session("s1")
    assert row is not None
    assert (row["ended_at"], row["end_reason"]) == (None, None)


def test_a_reset_overrides_a_mere_closing(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.end_session("s1", "agent_close")
    assert db.promote_to_session_reset("s1", "daily")
    assert not db.promote_to_session_reset("s1", "idle")
    row = db.get_session("s1")
    assert row is not None
    assert row["end_reason"] == "daily"


def test_prompt_model_and_folder_can_be_replaced(db: SessionDB) -> None:
    db.create_session("s1", "cli", model="old")
    db.update_system_prompt("s1", "Be brief.")
    db.update_session_model("s1", "new")
    db.update_session_cwd("s1", "/home/dev/shop")
    row = db.get_session("s1")
    assert row is not None
    assert [row[name] for name in ("system_prompt", "model", "cwd")] == [
        "Be brief.", "new", "/home/dev/shop",
    ]  # fmt: skip


def test_token_counts_add_up(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.update_token_counts("s1", input_tokens=200, output_tokens=100)
    db.update_token_counts("s1", 100, 50, cache_read_tokens=7, estimated_cost_usd=0.5)
    row = db.get_session("s1")
    assert row is not None
    assert (row["input_tokens"], row["output_tokens"]) == (300, 150)
    assert (row["cache_read_tokens"], row["estimated_cost_usd"]) == (7, 0.5)


def test_absolute_token_counts_replace(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.update_token_counts("s1", 200, 100)
    db.update_token_counts("s1", 10, 0, absolute=True, cost_status="exact")
    row = db.get_session("s1")
    assert row is not None
    assert (row["input_tokens"], row["output_tokens"], row["cost_status"]) == (10, 0, "exact")


def test_counting_tokens_fills_a_missing_model_but_keeps_a_known_one(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.update_token_counts("s1", 1, 1, model="first")
    db.update_token_counts("s1", 1, 1, model="second")
    row = db.get_session("s1")
    assert row is not None
    assert row["model"] == "first"


def test_ids_resolve_exactly_and_by_a_unique_prefix(db: SessionDB) -> None:
    for session_id in ("20260413_a", "20260413_ab", "20260414_c"):
        db.create_session(session_id, "cli")
    assert db.resolve_session_id("20260413_a") == "20260413_a"
    assert db.resolve_session_id("20260414") == "20260414_c"
    assert db.resolve_session_id("20260413") is None


def test_wildcards_in_a_prefix_are_plain_characters(db: SessionDB) -> None:
    db.create_session("ab", "cli")
    assert db.resolve_session_id("a%") is None
    assert db.resolve_session_id("_b") is None


def test_sessions_are_counted_in_all_and_by_source(db: SessionDB) -> None:
    for session_id, source in (("a", "cli"), ("b", "cli"), ("c", "telegram")):
        db.create_session(session_id, source)
    assert (db.session_count(), db.session_count(source="cli")) == (3, 2)


def test_listing_is_newest_first_and_pages(db: SessionDB) -> None:
    for number in range(5):
        db.create_session(f"s{number}", "cli", started_at=1000.0 + number)
    assert [row["id"] for row in db.list_sessions(limit=2)] == ["s4", "s3"]
    assert [row["id"] for row in db.list_sessions(limit=2, offset=4)] == ["s0"]


def test_listing_filters(db: SessionDB) -> None:
    db.create_session("a", "cli", cwd="/home/dev/shop", started_at=10.0, user_id="u1")
    db.create_session("b", "cron", started_at=20.0)
    db.create_session("c", "cli", parent_session_id="a", started_at=30.0)
    db.end_session("b", "cron_complete")
    db.append_message("a", "user", "hi")

    def ids(**filters: object) -> list[str]:
        return [row["id"] for row in db.list_sessions(**filters)]  # type: ignore[arg-type]

    assert ids(source="cli") == ["c", "a"]
    assert ids(exclude_sources=["cli"]) == ["b"]
    assert ids(ended=True) == ["b"]
    assert ids(ended=False, include_children=False) == ["a"]
    assert ids(cwd_prefix="/home/dev") == ids(min_message_count=1) == ids(user_id="u1") == ["a"]
    assert ids(started_after=20.0, started_before=30.0) == ids(id_query="b") == ["b"]


def test_an_archived_session_is_listed_only_when_asked_for(db: SessionDB) -> None:
    db.create_session("a", "cli")
    assert db.set_session_archived("a")
    assert not db.set_session_archived("nobody")
    assert db.list_sessions() == []
    assert [row["id"] for row in db.list_sessions(archived_only=True)] == ["a"]
    assert [row["id"] for row in db.search_sessions()] == ["a"]


def test_a_rich_listing_leaves_out_children_and_shows_the_first_words(db: SessionDB) -> None:
    db.append_message("a", "user", "please  mend\nthe shop " + "x" * 80)
    db.create_session("b", "subagent", parent_session_id="a")
    (row,) = db.list_sessions_rich(limit=5)
    assert row["preview"].startswith("please mend the shop xxx")
    assert row["preview"].endswith("...")
    assert row["last_active"] >= row["started_at"]


def test_the_last_active_session_can_come_first(db: SessionDB) -> None:
    db.create_session("old", "cli", started_at=1.0)
    db.create_session("new", "cli", started_at=2.0)
    db.append_message("old", "user", "again")
    assert [row["id"] for row in db.list_sessions(order_by_last_active=True)] == ["old", "new"]


def test_deleting_a_session_takes_its_messages_and_frees_its_children(db: SessionDB) -> None:
    db.append_message("a", "user", "hi")
    db.create_session("b", "cli", parent_session_id="a")
    assert db.delete_session("a")
    assert not db.delete_session("a")
    child = db.get_session("b")
    assert child is not None
    assert (db.message_count(), child["parent_session_id"]) == (0, None)


def test_pruning_takes_only_old_sessions_that_have_ended(db: SessionDB) -> None:
    for session_id, started in (("old", 1.0), ("open", 1.0), ("cron", 1.0), ("new", None)):
        db.create_session(session_id, session_id, started_at=started)
    for session_id in ("old", "cron", "new"):
        db.end_session(session_id, "done")
    assert db.prune_sessions(older_than_days=90, source="cron") == 1
    assert db.prune_sessions(older_than_days=90) == 1
    assert sorted(row["id"] for row in db.list_sessions()) == ["new", "open"]


# --- messages


def test_messages_come_back_in_the_order_of_append_whatever_the_clock_says(db: SessionDB) -> None:
    for text, timestamp in (("one", 300.0), ("two", 100.0), ("three", 200.0)):
        db.append_message("s1", "user", text, timestamp=timestamp)
    assert contents(db) == ["one", "two", "three"]


def test_a_message_creates_its_session(db: SessionDB) -> None:
    db.append_message("s1", "user", "hi")
    row = db.get_session("s1")
    assert row is not None
    assert (row["message_count"], row["source"]) == (1, "unknown")


def test_append_returns_growing_row_ids(db: SessionDB) -> None:
    first = db.append_message("s1", "user", "a")
    assert db.append_message("s1", "user", "b") > first
    assert isinstance(first, int)
    assert not first.is_duplicate


def test_counters_follow_messages_and_calls(db: SessionDB) -> None:
    db.append_message("s1", "assistant", "", tool_calls=CALLS)
    db.append_message("s1", "tool", "done", tool_name="terminal", tool_call_id="c2")
    row = db.get_session("s1")
    assert row is not None
    assert (row["message_count"], row["tool_call_count"]) == (2, 2)


@pytest.mark.parametrize("given", [CALLS, None, [], "json"], ids=["list", "none", "empty", "text"])
def test_tool_calls_come_back_parsed(db: SessionDB, given: object) -> None:
    import json

    db.append_message("s1", "assistant", tool_calls=json.dumps(CALLS) if given == "json" else given)
    (row,) = db.get_messages("s1")
    assert row["tool_calls"] == (CALLS if given == "json" else given)


def test_tool_calls_that_are_no_json_come_back_as_given(db: SessionDB) -> None:
    db.append_message("s1", "assistant", tool_calls="not json {")
    assert db.get_messages("s1")[0]["tool_calls"] == "not json {"


@pytest.mark.parametrize(
    "content",
    [
        None, "", "plain", "naïve 漢字 🙂", "nul \0 inside", "half \ud83d a pair", "\x1ejson:[1]",
        [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:x"}}],
        {"a": [1, 2.5, None, True]}, [], 7,
    ],
    ids=repr,
)  # fmt: skip
def test_content_comes_back_equal(db: SessionDB, content: object) -> None:
    db.append_message("s1", "user", content)
    assert contents(db) == [content]
    assert db.verify().is_clean


def test_every_field_of_a_message_comes_back(db: SessionDB) -> None:
    fields = {
        "token_count": 12, "finish_reason": "stop", "reasoning": "think \0", "timestamp": 5.5,
        "reasoning_content": "more", "reasoning_details": [{"t": 1}], "api_content": "sent",
        "codex_reasoning_items": [{"i": 1}], "codex_message_items": [{"j": 2}],
        "platform_message_id": "9", "effect_disposition": "none", "observed": True,
    }  # fmt: skip
    db.append_message("s1", "assistant", "hi", **fields)  # type: ignore[arg-type]
    (row,) = db.get_messages("s1")
    assert {name: row[name] for name in fields} == fields


def test_a_time_may_be_a_number_a_datetime_or_iso_text(db: SessionDB) -> None:
    when = datetime(2026, 4, 13, 10, 0, tzinfo=UTC)
    for given in (when.timestamp(), when, when.isoformat(), when.replace(tzinfo=None)):
        db.append_message("s1", "user", "x", timestamp=given)
    assert {row["timestamp"] for row in db.get_messages("s1")} == {when.timestamp()}


@pytest.mark.parametrize(
    "bad",
    [{"role": ""}, {"role": None}, {"role": "user", "content": {1}}, {"content": "no role"},
     {"role": "user", "timestamp": "soon"}, {"role": "user", "timestamp": float("nan")},
     {"role": "user", "token_count": 1 << 70}, {"role": "user", "timestamp": []}],
    ids=repr,
)  # fmt: skip
def test_a_message_that_cannot_be_stored_leaves_nothing(db: SessionDB, bad: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(MessageError):
        db.append_messages("s1", [{"role": "user", "content": "good"}, bad])
    assert (db.session_count(), db.message_count()) == (0, 0)


def test_an_unknown_field_of_a_message_is_refused(db: SessionDB) -> None:
    with pytest.raises(TypeError, match="colour"):
        db.append_message("s1", "user", "x", colour="red")  # type: ignore[call-arg]


def test_a_batch_is_one_transaction_and_keeps_its_order(db: SessionDB) -> None:
    batch = [{"role": "user", "content": str(number)} for number in range(300)]
    result = db.append_messages("s1", batch)
    assert (result.appended, result.duplicates) == (300, 0)
    assert contents(db) == [str(number) for number in range(300)]
    assert list(result.ids) == sorted(result.ids)


def test_an_empty_batch_makes_no_session(db: SessionDB) -> None:
    assert db.append_messages("s1", []).appended == 0
    assert db.session_count() == 0


def test_the_name_of_a_tool_message_is_its_tool(db: SessionDB) -> None:
    db.append_messages("s1", [{"role": "tool", "name": "terminal", "content": "ok"}])
    assert db.get_messages("s1")[0]["tool_name"] == "terminal"


def test_paging_through_messages(db: SessionDB) -> None:
    db.append_messages("s1", [{"role": "user", "content": str(number)} for number in range(5)])
    assert [row["content"] for row in db.get_messages("s1", limit=2, offset=1)] == ["1", "2"]
    assert [row["content"] for row in db.get_messages("s1", offset=3)] == ["3", "4"]


def test_messages_are_counted_in_all_and_by_session(db: SessionDB) -> None:
    db.append_message("s1", "user", "a")
    db.append_message("s2", "user", "b")
    assert (db.message_count(), db.message_count("s1"), db.message_count("none")) == (2, 1, 0)


# --- each exactly once


def test_a_repeated_platform_id_is_a_no_op_that_says_so(db: SessionDB) -> None:
    first = db.append_message("s1", "user", "hi", platform_message_id="42", tool_calls=CALLS)
    again = db.append_message("s1", "user", "hi", platform_message_id="42", tool_calls=CALLS)
    assert (again, again.is_duplicate) == (first, True)
    row = db.get_session("s1")
    assert row is not None
    assert (row["message_count"], row["tool_call_count"]) == (1, 2)


def test_a_repeated_sequence_is_counted_as_a_duplicate(db: SessionDB) -> None:
    batch = [{"role": "user", "content": str(number), "sequence": number} for number in range(3)]
    db.append_messages("s1", batch[:2])
    result = db.append_messages("s1", batch)
    assert (result.appended, result.duplicates, db.message_count()) == (1, 2, 3)


def test_the_same_native_id_in_another_session_or_role_is_another_message(db: SessionDB) -> None:
    db.append_message("s1", "user", "a", platform_message_id="42")
    db.append_message("s2", "user", "a", platform_message_id="42")
    db.append_message("s1", "assistant", "b", platform_message_id="42")
    assert db.message_count() == 3


def test_equal_texts_without_ids_are_different_messages(db: SessionDB) -> None:
    db.append_message("s1", "user", "yes")
    db.append_message("s1", "user", "yes")
    assert db.message_count() == 2


@pytest.mark.parametrize("native", ["x" * 9000, "nul\0", "\ud800"], ids=["long", "nul", "half"])
def test_any_native_id_makes_a_key(db: SessionDB, native: str) -> None:
    db.append_message("s1", "user", "a", platform_message_id=native)
    assert db.append_message("s1", "user", "a", platform_message_id=native).is_duplicate


def test_a_stored_platform_id_is_known(db: SessionDB) -> None:
    db.append_message("s1", "user", "a", platform_message_id="42")
    assert db.has_platform_message_id("s1", "42")
    assert not db.has_platform_message_id("s1", "43")


def test_a_writer_flushes_only_what_is_new(db: SessionDB) -> None:
    writer = TranscriptWriter(db, "s1", "cli", model_config={"a": 1})
    transcript: list[dict[str, object]] = []
    for number in range(12):
        transcript.append({"role": "user", "content": str(number)})
        for _ in range(3):
            writer.flush(transcript)
    assert contents(db) == [str(number) for number in range(12)]


def test_a_writer_whose_answer_was_lost_stores_nothing_twice(db: SessionDB) -> None:
    writer = TranscriptWriter(db, "s1", "cli")
    transcript = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    writer.flush(transcript)
    writer.cursor = 0
    assert writer.flush(transcript).duplicates == 2
    assert contents(db) == ["a", "b"]


def test_compaction_resets_the_cursor_with_the_new_session(db: SessionDB) -> None:
    writer = TranscriptWriter(db, "s1", "cli")
    writer.flush([{"role": "user", "content": str(number)} for number in range(4)])
    writer.reset("s2")
    writer.flush([{"role": "user", "content": "summary"}])
    assert (db.message_count("s1"), contents(db, "s2")) == (4, ["summary"])


def test_compaction_within_a_session_stores_the_new_list(db: SessionDB) -> None:
    writer = TranscriptWriter(db, "s1", "cli")
    writer.flush([{"role": "user", "content": "long"}])
    writer.reset("s1")
    writer.flush([{"role": "user", "content": "summary"}])
    assert contents(db) == ["long", "summary"]


def test_a_resumed_transcript_is_not_written_again(db: SessionDB) -> None:
    history = [{"role": "user", "content": "old"}]
    db.append_messages("s1", history)
    TranscriptWriter(db, "s1", stored=1).flush([*history, {"role": "user", "content": "new"}])
    assert contents(db) == ["old", "new"]


def test_a_transcript_that_shrank_is_refused(db: SessionDB) -> None:
    writer = TranscriptWriter(db, "s1", "cli")
    writer.flush([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    with pytest.raises(UsageError, match="2 are stored already"):
        writer.flush([{"role": "user", "content": "summary"}])


# --- rewriting


def test_clearing_keeps_the_session_and_zeroes_its_counters(db: SessionDB) -> None:
    db.append_message("s1", "assistant", "a", tool_calls=CALLS)
    db.clear_messages("s1")
    row = db.get_session("s1")
    assert row is not None
    assert (row["message_count"], row["tool_call_count"], db.message_count()) == (0, 0, 0)


def test_replacing_puts_the_new_list_in_place(db: SessionDB) -> None:
    db.append_messages("s1", [{"role": "user", "content": "old"}] * 3)
    db.replace_messages("s1", [{"role": "assistant", "content": "new", "tool_calls": CALLS}])
    row = db.get_session("s1")
    assert row is not None
    assert (contents(db), row["message_count"], row["tool_call_count"]) == (["new"], 1, 2)


def test_a_replacement_that_fails_changes_nothing(db: SessionDB) -> None:
    db.append_message("s1", "user", "old")
    with pytest.raises(MessageError):
        db.replace_messages("s1", [{"role": "user", "content": "new"}, {"content": "no role"}])
    assert contents(db) == ["old"]


def test_a_replacement_keeps_messages_that_share_a_native_id(db: SessionDB) -> None:
    twice = [{"role": "user", "content": text, "platform_message_id": "1"} for text in "ab"]
    db.replace_messages("s1", twice)
    assert contents(db) == ["a", "b"]
    assert db.append_message("s1", "user", "a", platform_message_id="1").is_duplicate


def test_compacting_in_place_keeps_the_old_rows_inactive(db: SessionDB) -> None:
    db.append_message("s1", "user", "old", platform_message_id="1", tool_calls=CALLS)
    db.archive_and_compact("s1", [{"role": "user", "content": "old", "platform_message_id": "1"}])
    rows = db.get_messages("s1", include_inactive=True)
    assert [(row["active"], row["compacted"]) for row in rows] == [(0, 1), (1, 0)]
    assert db.append_message("s1", "user", "old", platform_message_id="1").is_duplicate
    assert db.verify().is_clean


def test_replacing_active_messages_keeps_the_archive(db: SessionDB) -> None:
    db.append_message("s1", "user", "old", platform_message_id="1")
    db.archive_and_compact("s1", [{"role": "user", "content": "summary"}])
    new = [{"role": "user", "content": "again", "platform_message_id": "1"}]
    db.replace_messages("s1", new, active_only=True)
    rows = db.get_messages("s1", include_inactive=True)
    assert [row["content"] for row in rows] == ["old", "again"]


def test_a_rewind_hides_messages_and_can_be_undone(db: SessionDB) -> None:
    ids = [db.append_message("s1", "user", text) for text in "abc"]
    assert db.rewind_to_message("s1", ids[1]) == 2
    assert contents(db) == ["a"]
    assert db.restore_rewound("s1", ids[1]) == 2
    assert contents(db) == ["a", "b", "c"]
    assert db.verify().is_clean


# --- conversations


def test_a_conversation_holds_what_a_model_is_sent(db: SessionDB) -> None:
    db.append_message("s1", "user", "hello", reasoning="not for users")
    db.append_message("s1", "assistant", "", tool_calls=CALLS, reasoning="r", finish_reason="x")
    db.append_message("s1", "tool", "ok", tool_name="terminal", tool_call_id="c2")
    assert db.get_messages_as_conversation("s1") == [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "", "tool_calls": CALLS, "reasoning": "r"},
        {"role": "tool", "content": "ok", "tool_name": "terminal", "tool_call_id": "c2"},
    ]


def test_a_conversation_can_begin_with_its_ancestors(db: SessionDB) -> None:
    db.create_session("b", "cli", parent_session_id="a")
    db.create_session("c", "cli", parent_session_id="b")
    for session_id in ("c", "a", "b"):
        db.append_message(session_id, "user", session_id)
    turns = db.get_messages_as_conversation("c", include_ancestors=True)
    assert [turn["content"] for turn in turns] == ["a", "b", "c"]


def test_sessions_that_are_each_others_parent_end_the_line(db: SessionDB) -> None:
    db.create_session("a", "cli", parent_session_id="b")
    db.create_session("b", "cli", parent_session_id="a")
    assert db.get_lineage("a") == ["b", "a"]


def test_the_tip_of_a_compacted_session_is_its_last_continuation(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("a2", "cli", parent_session_id="a")
    db.create_session("sub", "subagent", parent_session_id="a")
    db.create_session("fork", "cli", parent_session_id="a", model_config={"_branched_from": "a"})
    db.create_session("a3", "cli", parent_session_id="a2")
    assert db.get_compression_tip("a") == "a"
    db.end_session("a", "compression")
    db.end_session("a2", "compression")
    assert db.get_compression_lineage("a") == ["a", "a2", "a3"]
    assert db.get_conversation_root("a3") == "a"
    assert db.get_compression_tip("nobody") == "nobody"


def test_only_an_empty_session_is_deleted_as_empty(db: SessionDB) -> None:
    db.create_session("empty", "cli")
    db.append_message("full", "user", "hi")
    assert [db.delete_session_if_empty(one) for one in ("empty", "full", "nobody")] == [
        True, False, False,
    ]  # fmt: skip
    assert db.session_count() == 1


def test_alternation_is_repaired_on_request(db: SessionDB) -> None:
    for role, text in (("user", "a"), ("user", "b"), ("tool", "lost"), ("assistant", "c")):
        db.append_message("s1", role, text, tool_call_id="x" if role == "tool" else None)
    turns = db.get_messages_as_conversation("s1", repair_alternation=True)
    assert [turn["content"] for turn in turns] == ["a\n\nb", "c"]


# --- several handles, closing


def test_another_handle_sees_what_was_written(open_store: Open) -> None:
    open_store().append_message("s1", "user", "hi")
    assert contents(open_store()) == ["hi"]


def test_a_read_only_handle_reads_but_does_not_write(open_store: Open) -> None:
    open_store().append_message("s1", "user", "hi")
    reader = open_store(read_only=True)
    assert reader.read_only
    assert contents(reader) == ["hi"]
    with pytest.raises(StoreError):
        reader.append_message("s1", "user", "no")


def test_a_closed_store_says_so_and_closing_twice_is_nothing(open_store: Open) -> None:
    store = open_store()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.session_count()


def test_full_durability_is_a_setting_of_the_handle(open_store: Open) -> None:
    store = open_store(durability="full")
    store.append_message("s1", "user", "hi")
    assert contents(store) == ["hi"]


def test_vacuum_keeps_everything(db: SessionDB) -> None:
    db.append_message("s1", "user", "hello there")
    db.vacuum()
    assert len(db.search_messages("hello")) == 1
    assert db.verify().is_clean


def test_values_beside_the_sessions_are_kept(db: SessionDB) -> None:
    assert db.get_meta("last_prune") is None
    db.set_meta("last_prune", "1")
    db.set_meta("last_prune", "2")
    assert db.get_meta("last_prune") == "2"
