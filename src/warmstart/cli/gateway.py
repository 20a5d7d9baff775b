"""``warmstart gateway``: the sessions of a chat gateway, seen and steered from a terminal.

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
from typing import Any, TypeVar

import click
from rich.text import Text

from warmstart.children import ChildSetup, allow_cpu, run_child
from warmstart.cli._output import Column, note, open_console, print_json, print_table
from warmstart.errors import NotFoundError, UsageError, WarmstartError
from warmstart.gateway import (
    CLAIM_SECONDS,
    DATABASE_NAME,
    ExpiryWatcher,
    GatewayConfig,
    Round,
    SessionEntry,
    SessionStore,
    load_gateway_config,
    to_utc,
)
from warmstart.present import clean, count, local_time
from warmstart.store import SessionDB

SCHEMA_VERSION = 1
_Command = TypeVar("_Command", bound=Callable[..., Any])
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")


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


def _place_options(command: _Command) -> _Command:
    """Where the gateway is."""
    options = (
        click.option("--config", "config_file", type=click.Path(dir_okay=False, path_type=Path),
                     metavar="FILE", help="The gateway's settings (TOML, JSON or YAML)."),
        click.option("--dir", "sessions_dir", type=click.Path(file_okay=False, path_type=Path),
                     metavar="FOLDER", help="Its sessions folder, if not the one in the settings."),
        click.option("--db", "database", metavar="PATH|URL",
                     help="Its database, if not the one in the settings."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def gateway() -> None:
    """See and steer the sessions of a chat gateway.

    Settings come from --config, else from gateway.toml in the home, then from the environment.
    """


@gateway.command("keys")
@_place_options
@_JSON
@_QUIET
def list_keys(*, as_json: bool, quiet: bool, **place: Any) -> None:
    """List session keys and the session each leads to now."""
    with Place(**place).open(read_only=True) as store:
        entries = sorted(store.list_sessions(), key=lambda entry: entry.session_key)
    if as_json:
        keys = {entry.session_key: entry.session_id for entry in entries}
        print_json({"schema_version": SCHEMA_VERSION, "keys": keys})
        return
    columns = [Column(name="KEY", max_width=60), Column(name="SESSION")]
    _print_rows(columns, [[entry.session_key, entry.session_id] for entry in entries])
    note(count(len(entries), "key"), quiet=quiet)


@gateway.command("sessions")
@click.option("--active", "active_minutes", type=click.IntRange(min=1), metavar="MINUTES",
              help="Only those active within so many minutes.")  # fmt: skip
@_place_options
@_JSON
@_QUIET
def list_sessions(*, active_minutes: int | None, as_json: bool, quiet: bool, **place: Any) -> None:
    """List the sessions people are in, the latest active first.

    STATE is open, or why the next message starts a new session: idle, daily or suspended.
    """
    with Place(**place).open(read_only=True) as store:
        entries = store.list_sessions(active_minutes)
    if as_json:
        listed = [_describe(store, entry) for entry in entries]
        print_json({"schema_version": SCHEMA_VERSION, "sessions": listed})
        return
    _print_entries(store, entries)
    note(count(len(entries), "session"), quiet=quiet)


@gateway.command("reset")
@click.argument("session_key", metavar="KEY")
@_place_options
@_JSON
def reset_session(*, session_key: str, as_json: bool, **place: Any) -> None:
    """Let KEY start over with an empty session; what was said stays stored."""
    with Place(**place).open() as store:
        _print_moved(store, session_key, store.reset_session(session_key), as_json=as_json)


@gateway.command("switch")
@click.argument("session_key", metavar="KEY")
@click.argument("session_id", metavar="ID")
@_place_options
@_JSON
def switch_session(*, session_key: str, session_id: str, as_json: bool, **place: Any) -> None:
    """Lead KEY to the stored session ID, or to the one session with that prefix."""
    with Place(**place).open() as store:
        full = _resolve(store, session_id)
        _print_moved(store, session_key, store.switch_session(session_key, full), as_json=as_json)


@gateway.command("watch")
@click.option("--run", "command", metavar="COMMAND",
              help="Flush with this command: it gets the session as JSON on stdin.")  # fmt: skip
@click.option("--once", is_flag=True, help="Look once instead of again and again.")
@click.option("--interval", type=click.FloatRange(min=0.1), default=300.0, show_default=True,
              metavar="SECONDS", help="How long to wait between two looks.")  # fmt: skip
@_place_options
@_JSON
@_QUIET
def watch_sessions(
    *,
    command: str | None,
    once: bool,
    interval: float,
    as_json: bool,
    quiet: bool,
    **place: Any,
) -> None:
    """Find sessions past their reset policy and flush each once.

    With --run, each such session is given to COMMAND and marked as flushed if that exits with 0; a
    command that fails is tried again, three times in all. Without it they are only listed.
    """
    flush = _make_flush(command)
    with Place(**place).open(read_only=command is None) as store:
        watcher = ExpiryWatcher(store, flush)
        while True:
            expired = watcher.find_expired()
            done = watcher.check() if command else None
            if expired or once:
                _print_round(store, expired, done, as_json=as_json, quiet=quiet)
            if once:
                return
            time.sleep(interval)


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
    store: SessionStore,
    expired: list[SessionEntry],
    done: Round | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sessions": [_describe(store, entry) for entry in expired],
                "flushed": list(done.flushed) if done else [],
                "failed": list(done.failed) if done else [],
            }
        )
        return
    _print_entries(store, expired)
    found = f"{count(len(expired), 'session')} past the policy"
    flushed = f", {len(done.flushed)} flushed, {len(done.failed)} failed" if done else ""
    note(found + flushed, quiet=quiet)


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
