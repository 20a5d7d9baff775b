"""Searching, on both databases; what is special to the FTS5 index stands at the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.store import SessionDB
from warmstart.store.search import find_watermark

TEXTS = {
    "a": "how do I deploy with docker compose",
    "b": "the file foo.py uses C++ bindings, see chat-send and user_name",
    "c": "docker networking is complex",
    "d": "networking tips for docker beginners",
    "e": "记忆断裂的问题需要修复",
    "f": "war AND peace",
}


@pytest.fixture
def filled(db: SessionDB) -> SessionDB:
    for session_id, text in TEXTS.items():
        db.create_session(session_id, "telegram" if session_id == "c" else "cli", model="m")
        db.append_message(session_id, "user", text)
    return db


def hits(db: SessionDB, query: str, **filters: object) -> str:
    found = db.search_messages(query, **filters)  # type: ignore[arg-type]
    return "".join(sorted(row["session_id"] for row in found))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docker", "acd"), ("DOCKER", "acd"), ("docker networking", "cd"),
        ('"docker networking"', "c"), ("foo.py", "b"), ("foo", "b"), ("foo.js", ""), ("C++", "b"),
        ("chat-send", "b"), ("user_name", "b"), ("deplo*", "a"), ("deplo", ""), ("AND", "bf"),
        ("AND peace", "f"), ("OR", ""), ("docker OR peace", "acdf"), ("docker NOT tips", "ac"),
        ("docker AND tips", "d"), ("记忆", "e"), ("断裂", "e"), ("", ""), ("   ", ""), ("***", ""),
        ('"unterminated', ""), ('"', ""), ("(peace", "f"), ("{test}", ""), ("NEAR(a b)", ""),
        ("body:docker", ""), ("peace'; DROP TABLE messages; --", ""), ("%", ""), ("?", ""),
    ],
)  # fmt: skip
def test_any_text_is_a_safe_query(filled: SessionDB, query: str, expected: str) -> None:
    assert hits(filled, query) == expected


def test_hits_can_be_filtered(filled: SessionDB) -> None:
    filled.append_message("a", "assistant", "docker it is")
    assert hits(filled, "docker", source_filter=["telegram"]) == "c"
    assert hits(filled, "docker", source_filter=[]) == ""
    assert hits(filled, "docker", exclude_sources=["cli"]) == "c"
    assert hits(filled, "docker", role_filter=["assistant"]) == "a"


def test_hits_can_be_sorted_and_paged(filled: SessionDB) -> None:
    newest = [row["session_id"] for row in filled.search_messages("docker", sort="newest")]
    assert newest == ["d", "c", "a"]
    oldest = filled.search_messages("docker", sort="oldest", limit=1, offset=1)
    assert [row["session_id"] for row in oldest] == ["c"]
    assert filled.search_messages("docker", limit=0) == []


def test_a_hit_shows_where_it_is_and_what_stands_around_it(db: SessionDB) -> None:
    for text in ("before", "x " * 100 + "needle" + " y" * 100, "after"):
        db.append_message("s1", "user", text)
    (hit,) = db.search_messages("needle")
    assert ">>>needle<<<" in hit["snippet"]
    assert hit["snippet"].startswith("...")
    assert [turn["content"][:6] for turn in hit["context"]] == ["before", "x x x ", "after"]
    assert {"id", "session_id", "role", "timestamp", "source", "session_started"} <= set(hit)


def test_tool_names_arguments_and_multimodal_text_are_found(db: SessionDB) -> None:
    call = {"id": "c", "function": {"name": "terminal", "arguments": '{"cmd": "ls\\nwc"}'}}
    db.append_message("s1", "assistant", tool_calls=[call])
    db.append_message("s2", "tool", "ok", tool_name="read_file")
    db.append_message("s3", "user", [{"type": "text", "text": "a picture of nul\0 bytes"},
                                     {"type": "image_url", "url": "data:secretbytes"}])  # fmt: skip
    assert [len(db.search_messages(word)) for word in ("terminal", "wc", "read_file")] == [1, 1, 1]
    assert [len(db.search_messages(word)) for word in ("picture", "secretbytes")] == [1, 0]


def test_archived_and_deleted_messages_are_not_found(db: SessionDB) -> None:
    db.append_message("s1", "user", "needle one")
    db.append_message("s2", "user", "needle two")
    assert hits(db, "needle") == "s1s2"
    db.archive_and_compact("s1", [{"role": "user", "content": "summary"}])
    db.delete_session("s2")
    assert hits(db, "needle") == ""
    assert hits(db, "needle", include_inactive=True) == "s1"


def test_a_replaced_message_is_not_found_any_more(db: SessionDB) -> None:
    db.append_message("s1", "user", "needle")
    assert hits(db, "needle") == "s1"
    db.replace_messages("s1", [{"role": "user", "content": "thread"}])
    assert (hits(db, "needle"), hits(db, "thread")) == ("", "s1")


@pytest.mark.parametrize(
    "query",
    ["x" * 5000, "漢" * 3000, '"' + "docker " * 3000 + '"', "docker OR " * 3000, "( " * 3000],
    ids=["word", "unspaced", "phrase", "alternatives", "brackets"],
)
def test_an_endless_query_is_cut(filled: SessionDB, query: str) -> None:
    assert isinstance(filled.search_messages(query), list)


def test_an_unknown_filter_is_refused(db: SessionDB) -> None:
    with pytest.raises(TypeError, match="colour"):
        db.search_messages("x", colour="red")


def test_a_very_long_message_is_stored_and_found_by_its_beginning(db: SessionDB) -> None:
    db.append_message("s1", "user", "needle " + "word " * 60_000 + "x" * 3000)
    assert hits(db, "needle") == "s1"


@given(query=st.text(max_size=40) | st.text(alphabet="abANDORNOT\"'*()-+:^ {}", max_size=30))
def test_no_query_fails_on_files(tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    with SessionDB(tmp_path_factory.mktemp("q") / "store.db") as db:
        db.append_message("s1", "user", f"some text {query}")
        db.search_messages(query)
        assert db.verify().is_clean


@given(query=st.text(max_size=40) | st.text(alphabet="abANDORNOT\"'*()-+:^ {}", max_size=30))
def test_no_query_fails_on_the_server(schema: str, query: str) -> None:
    with SessionDB.open(schema) as db:
        db.append_message("s1", "user", f"some text {query}")
        db.search_messages(query)


@given(words=st.lists(st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True), min_size=1, max_size=6))
def test_every_word_of_a_message_finds_it(file_db: SessionDB, words: list[str]) -> None:
    row_id = file_db.append_message("s1", "user", " ".join(words))
    for word in words:
        found = file_db.search_messages(word, limit=10_000)
        assert row_id in [hit["id"] for hit in found]


def test_a_read_only_handle_finds_what_is_not_indexed_yet(file_db: SessionDB) -> None:
    file_db.append_message("s1", "user", "indexed needle")
    assert file_db.index_messages()
    file_db.append_message("s2", "user", "fresh needle")
    with SessionDB(file_db.db_path, read_only=True) as reader:
        assert hits(reader, "needle") == "s1s2"
        newest = [row["session_id"] for row in reader.search_messages("needle", sort="newest")]
        assert newest == ["s2", "s1"]
        assert not reader.index_messages()


def test_a_store_that_was_never_indexed_is_scanned(file_db: SessionDB) -> None:
    batch = [{"role": "user", "content": f"needle {number}"} for number in range(700)]
    file_db.append_messages("s1", batch)
    with SessionDB(file_db.db_path, read_only=True) as reader:
        found = reader.search_messages("needle", limit=1000, sort="oldest")
        assert len(found) == 700
        assert len(reader.search_messages("needle", limit=3)) == 3


def test_writers_fill_the_index_in_batches_by_themselves(file_db: SessionDB) -> None:
    for start in range(0, 1200, 40):
        batch = [{"role": "user", "content": f"w{number}"} for number in range(start, start + 40)]
        file_db.append_messages("s1", batch)
    assert 0 < find_watermark(file_db.backend) < 1200


def test_a_damaged_index_stops_neither_writing_nor_deleting_nor_search(file_db: SessionDB) -> None:
    file_db.append_message("s1", "user", "needle")
    file_db.index_messages()
    file_db._conn.execute("DELETE FROM message_words_data")
    file_db.append_message("s2", "user", "needle again")
    assert hits(file_db, "needle") == "s1s2"
    assert file_db.delete_session("s1")
    file_db.vacuum()
    assert hits(file_db, "needle") == "s2"


def test_an_index_that_is_behind_catches_up_with_the_next_search(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "store.db") as db:
        db.append_messages("s1", [{"role": "user", "content": f"w{n}"} for n in range(1200)])
        assert hits(db, "w1199") == "s1"
        assert find_watermark(db.backend) == 1200
