"""``sessions.json``: written on request, read once from an older gateway."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warmstart.gateway import SessionSource, SessionStore
from warmstart.store import StoreError

Open = Callable[..., SessionStore]


def read(store: SessionStore) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((store.sessions_dir / "sessions.json").read_bytes())
    return data


def leave(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sessions.json").write_text(text)


def record(**fields: Any) -> dict[str, Any]:
    times = {"created_at": "2026-04-10T10:00:00+00:00", "updated_at": "2026-04-10T11:00:00+00:00"}
    return {"session_key": "agent:main:telegram:dm:99", "session_id": "old"} | times | fields


def test_it_is_not_written_unless_asked_for(store: SessionStore, source: SessionSource) -> None:
    store.get_or_create_session(source)
    assert not (store.sessions_dir / "sessions.json").exists()
    assert store.write_sessions_json() == store.sessions_dir / "sessions.json"
    assert list(read(store)) == ["agent:main:telegram:dm:99"]


def test_as_a_mirror_it_follows_every_change(open_store: Open, source: SessionSource) -> None:
    store = open_store({"write_sessions_json": True})
    entry = store.get_or_create_session(source)
    assert read(store)[entry.session_key]["session_id"] == entry.session_id
    store.get_or_create_session(replace(source, chat_id="2"))
    entry.display_name = "Mira K"
    store.save_entry(entry)
    assert len(read(store)) == 2
    assert read(store)[entry.session_key]["display_name"] == "Mira K"


def test_no_half_written_file_is_left(open_store: Open, source: SessionSource) -> None:
    store = open_store({"write_sessions_json": True})
    store.get_or_create_session(source)
    assert [p.name for p in store.sessions_dir.iterdir()] == ["sessions.json"]


def test_an_older_gateway_s_sessions_go_on(open_store: Open, source: SessionSource) -> None:
    store = open_store()
    leave(store.sessions_dir, json.dumps({"agent:main:telegram:dm:99": record()}))
    assert store.get_or_create_session(source).session_id == "old"


def test_it_never_overrides_the_index(open_store: Open, source: SessionSource) -> None:
    store = open_store()
    entry = store.get_or_create_session(source)
    leave(store.sessions_dir, json.dumps({entry.session_key: record()}))
    assert open_store().get_or_create_session(source).session_id == entry.session_id


def test_no_message_fails_for_want_of_the_mirror(open_store: Open, source: SessionSource) -> None:
    store = open_store({"write_sessions_json": True})
    (store.sessions_dir / "sessions.json").mkdir(parents=True)
    assert store.get_or_create_session(source).session_id
    with pytest.raises(StoreError, match=r"sessions\.json"):
        store.write_sessions_json()
    assert [p.name for p in store.sessions_dir.iterdir()] == ["sessions.json"]


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1, "b": {"session_id": "../x"}}', "\0"])
def test_a_broken_file_is_said_and_passed_over(
    open_store: Open, source: SessionSource, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store()
    leave(store.sessions_dir, text)
    with caplog.at_level(logging.WARNING):
        assert store.list_sessions() == []
    assert "ignored" in caplog.text
    assert store.get_or_create_session(source).session_id
