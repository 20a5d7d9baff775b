"""What the ``gateway`` commands do.

JSON is one object with ``schema_version`` and ``keys``, ``sessions`` or ``session``; entries are as
they are stored, times in UTC, with ``state`` beside them. ``watch --json`` prints one such object
for each look that found something. Listing opens the database read-only and creates nothing.
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

from rich.text import Text

from warmstart.children import ChildSetup, allow_cpu, run_child
from warmstart.cli._output import Column, note, open_console, print_json, print_table
from warmstart.errors import NotFoundError, UsageError, WarmstartError
from warmstart.gateway import (
    ExpiryWatcher,
    GatewayConfig,
    SessionEntry,
    SessionStore,
    load_gateway_config,
)
from warmstart.gateway.expiry import CLAIM_SECONDS, Round
from warmstart.gateway.policy import to_utc
from warmstart.gateway.session_store import DATABASE_NAME
from warmstart.present import clean, count, local_time
from warmstart.store import SessionDB

SCHEMA_VERSION = 1


class FlushError(WarmstartError):
    """A flush command that did not exit with 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a gateway is: its settings, and what a flag says instead of them."""

    config_file: Path | None = None
    sessions_dir: Path | None = None
    database: str | None = None

    def load(self) -> GatewayConfig:
        """The settings in force."""
        config = load_gateway_config(self.config_file)
        config.sessions_dir = self.sessions_dir or config.sessions_dir
        config.database = self.database or config.database
        return config

    @contextmanager
    def open(self, *, read_only: bool = False) -> Iterator[SessionStore]:
        """The gateway's store, for a while.

        Raises:
            NotFoundError: no gateway has kept anything there.
        """
        config = self.load()
        address = config.database or str(config.sessions_dir / DATABASE_NAME)
        if "://" not in address and not Path(address).expanduser().is_file():
            hint = "name its folder with --dir, or its database with --db"
            raise NotFoundError(f"no gateway at {address!r}", wanted=address, hint=hint)
        with SessionDB.open(address, read_only=read_only) as db:
            yield SessionStore(config.sessions_dir, config, db=db)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What ``watch`` was asked for."""

    command: str | None
    once: bool
    interval: float
    as_json: bool
    quiet: bool


def print_keys(place: Place, *, as_json: bool, quiet: bool) -> None:
    """Every key in order, with the session it leads to."""
    with place.open(read_only=True) as store:
        entries = sorted(store.list_sessions(), key=lambda entry: entry.session_key)
    if as_json:
        keys = {entry.session_key: entry.session_id for entry in entries}
        print_json({"schema_version": SCHEMA_VERSION, "keys": keys})
        return
    columns = [Column(name="KEY", max_width=60), Column(name="SESSION")]
    _print_rows(columns, [[entry.session_key, entry.session_id] for entry in entries])
    note(count(len(entries), "key"), quiet=quiet)


def print_sessions(place: Place, *, active_minutes: int | None, as_json: bool, quiet: bool) -> None:
    """The sessions people are in."""
    with place.open(read_only=True) as store:
        entries = store.list_sessions(active_minutes)
    if as_json:
        listed = [_describe(store, entry) for entry in entries]
        print_json({"schema_version": SCHEMA_VERSION, "sessions": listed})
        return
    _print_entries(store, entries)
    note(count(len(entries), "session"), quiet=quiet)


def reset_key(place: Place, session_key: str, *, as_json: bool) -> None:
    """Start over under a key."""
    with place.open() as store:
        _print_moved(store, session_key, store.reset_session(session_key), as_json=as_json)


def switch_key(place: Place, session_key: str, session_id: str, *, as_json: bool) -> None:
    """Lead a key to a stored session."""
    with place.open() as store:
        full = _resolve(store, session_id)
        _print_moved(store, session_key, store.switch_session(session_key, full), as_json=as_json)


def watch(place: Place, request: Watch) -> None:
    """Look for sessions that are over, once or until interrupted."""
    flush = _make_flush(request.command)
    with place.open(read_only=request.command is None) as store:
        watcher = ExpiryWatcher(store, flush)
        while True:
            expired = watcher.find_expired()
            done = watcher.check() if request.command else Round()
            if expired or request.once:
                _print_round(store, expired, done, request)
            if request.once:
                return
            time.sleep(request.interval)


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


def _print_round(
    store: SessionStore, expired: list[SessionEntry], done: Round, request: Watch
) -> None:
    if request.as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sessions": [_describe(store, entry) for entry in expired],
                "flushed": list(done.flushed),
                "failed": list(done.failed),
            }
        )
        return
    _print_entries(store, expired)
    found = f"{count(len(expired), 'session')} past the policy"
    flushed = f", {len(done.flushed)} flushed, {len(done.failed)} failed" if request.command else ""
    note(found + flushed, quiet=request.quiet)


def _print_moved(
    store: SessionStore, session_key: str, entry: SessionEntry | None, *, as_json: bool
) -> None:
    if entry is None:
        hint = "list the keys: warmstart gateway keys"
        raise NotFoundError(f"no session key {session_key!r}", wanted=session_key, hint=hint)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "session": _describe(store, entry)})
    else:
        open_console().print(Text(clean(f"{entry.session_key}  {entry.session_id}")))


def _resolve(store: SessionStore, wanted: str) -> str:
    """The session with that id or prefix, in the database or as a transcript file."""
    found = store.resolve_session_id(wanted)
    if found is None:
        hint = "list stored sessions: warmstart gateway sessions"
        raise NotFoundError(f"no one session {wanted!r}", wanted=wanted, hint=hint)
    return found


def _print_entries(store: SessionStore, entries: list[SessionEntry]) -> None:
    columns = [
        Column(name="SESSION"), Column(name="UPDATED"), Column(name="STATE"),
        Column(name="TOKENS", right=True), Column(name="NAME", max_width=24), Column(name="KEY"),
    ]  # fmt: skip
    rows = [
        [
            entry.session_id,
            local_time(to_utc(entry.updated_at).timestamp()),
            store.find_state(entry),
            f"{entry.total_tokens:,}",
            entry.display_name or "-",
            entry.session_key,
        ]
        for entry in entries
    ]
    _print_rows(columns, rows)


def _print_rows(columns: list[Column], rows: list[list[str]]) -> None:
    if rows:
        print_table(open_console(), columns, [[Text(clean(cell)) for cell in row] for row in rows])


def _describe(store: SessionStore, entry: SessionEntry) -> dict[str, Any]:
    return _export(entry) | {"state": store.find_state(entry)}


def _export(entry: SessionEntry) -> dict[str, Any]:
    return entry.to_dict(lambda moment: to_utc(moment).isoformat())
