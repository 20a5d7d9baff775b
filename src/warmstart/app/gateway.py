"""A chat gateway's sessions as use cases: listing, resetting, switching, flushing those that ended.

Listing opens the database read-only and creates nothing. What each returns is a record per chat, as
it is stored, with times in UTC and the state of its session beside it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstart.children import ChildSetup, allow_cpu, run_child
from warmstart.errors import NotFoundError, UsageError, WarmstartError
from warmstart.gateway import (
    CLAIM_SECONDS,
    DATABASE_NAME,
    ExpiryWatcher,
    Round,
    SessionEntry,
    SessionStore,
    load_gateway_config,
    to_utc,
)
from warmstart.store import SessionDB


class FlushError(WarmstartError):
    """A flush command that did not exit with 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayLocation:
    """Where a gateway is: its settings, and what replaces them."""

    config_file: Path | None = None
    sessions_dir: Path | None = None
    database: str | None = None

    @contextmanager
    def open(self, *, read_only: bool = False) -> Iterator[SessionStore]:
        """The gateway's store, open until the block ends.

        Raises:
            NotFoundError: no gateway has kept anything there.
        """
        config = load_gateway_config(self.config_file)
        config.sessions_dir = self.sessions_dir or config.sessions_dir
        config.database = self.database or config.database
        address = config.database or str(config.sessions_dir / DATABASE_NAME)
        if "://" not in address and not Path(address).expanduser().is_file():
            hint = "name its folder with --dir, or its database with --db"
            raise NotFoundError(f"no gateway at {address!r}", wanted=address, hint=hint)
        with SessionDB.open(address, read_only=read_only) as db:
            yield SessionStore(config.sessions_dir, config, db=db)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSession:
    """The session that a chat leads to now."""

    key: str
    session_id: str
    updated_at: float
    state: str
    """"open", or why the next message starts a new session: "idle", "daily" or "suspended"."""
    tokens: int
    name: str | None
    record: dict[str, Any]
    """Everything stored about the chat, and the state, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRound:
    """What one look for ended sessions found and did."""

    ended: list[ChatSession]
    done: Round | None
    """What was flushed; None without a command."""


def list_chats(location: GatewayLocation, active_minutes: int | None = None) -> list[ChatSession]:
    """The sessions people are in, the latest active first."""
    with location.open(read_only=True) as store:
        return [_describe(store, entry) for entry in store.list_sessions(active_minutes)]


def reset_chat(location: GatewayLocation, key: str) -> ChatSession:
    """Let a chat start over with an empty session.

    Raises:
        NotFoundError: there is no such key.
    """
    with location.open() as store:
        return _require(store, key, store.reset_session(key))


def switch_chat(location: GatewayLocation, key: str, session_id: str) -> ChatSession:
    """Lead a chat to the stored session with that id or prefix.

    Raises:
        NotFoundError: there is no such key, or not exactly one such session.
    """
    with location.open() as store:
        found = store.resolve_session_id(session_id)
        if found is None:
            hint = "list stored sessions: warmstart gateway sessions"
            raise NotFoundError(f"no one session {session_id!r}", wanted=session_id, hint=hint)
        return _require(store, key, store.switch_session(key, found))


def watch_chats(
    location: GatewayLocation, command: str | None, *, interval_seconds: float, once: bool
) -> Iterator[FlushRound]:
    """Look for ended sessions, once or for ever; each round that found some, or the one.

    Each session is given to ``command`` as JSON on stdin, and flushed if that exits with 0.

    Raises:
        UsageError: the command cannot be parsed.
    """
    flush = _make_flush(command)
    with location.open(read_only=command is None) as store:
        watcher = ExpiryWatcher(store, flush)
        while True:
            ended = [_describe(store, entry) for entry in watcher.find_expired()]
            done = watcher.check() if command else None
            if ended or once:
                yield FlushRound(ended=ended, done=done)
            if once:
                return
            time.sleep(interval_seconds)


def _make_flush(command: str | None) -> Callable[[SessionEntry], None]:
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise UsageError(f"--run {command!r} cannot be read: {error}") from error

    # Past its claim a session is given to the next watcher: a command must be gone by then.
    setup = ChildSetup(stdin=subprocess.PIPE, cpu_seconds=allow_cpu(CLAIM_SECONDS))

    def flush(entry: SessionEntry) -> None:
        record = json.dumps(_export(entry)).encode()
        try:
            done = run_child(words, setup, record, seconds=CLAIM_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise FlushError(f"{words[0]!r} did not end in {CLAIM_SECONDS:g} seconds") from error
        if done.exit_code:
            raise FlushError(f"{words[0]!r} exited with {done.exit_code}")

    return flush


def _require(store: SessionStore, key: str, entry: SessionEntry | None) -> ChatSession:
    if entry is None:
        hint = "list the keys: warmstart gateway keys"
        raise NotFoundError(f"no session key {key!r}", wanted=key, hint=hint)
    return _describe(store, entry)


def _describe(store: SessionStore, entry: SessionEntry) -> ChatSession:
    state = store.find_state(entry)
    return ChatSession(
        key=entry.session_key,
        session_id=entry.session_id,
        updated_at=to_utc(entry.updated_at).timestamp(),
        state=state,
        tokens=entry.total_tokens,
        name=entry.display_name,
        record=_export(entry) | {"state": state},
    )


def _export(entry: SessionEntry) -> dict[str, Any]:
    return entry.to_dict(lambda moment: to_utc(moment).isoformat())
