"""``warmstart gateway``: the sessions of a chat gateway, seen and steered from a terminal.

JSON is one object with ``schema_version`` and ``keys``, ``sessions`` or ``session``;
``watch --json`` prints one for each look that found something.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.text import Text

from warmstart.app import (
    ChatSession,
    FlushRound,
    GatewayLocation,
    list_chats,
    reset_chat,
    switch_chat,
    watch_chats,
)
from warmstart.cli._output import Column, note, open_console, print_json, print_table
from warmstart.present import clean, count, local_time

SCHEMA_VERSION = 1
_Command = TypeVar("_Command", bound=Callable[..., Any])
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")


def _location_options(command: _Command) -> _Command:
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
@_location_options
@_JSON
@_QUIET
def list_keys(*, as_json: bool, quiet: bool, **location: Any) -> None:
    """List session keys and the session each leads to now."""
    chats = sorted(list_chats(GatewayLocation(**location)), key=lambda chat: chat.key)
    if as_json:
        keys = {chat.key: chat.session_id for chat in chats}
        print_json({"schema_version": SCHEMA_VERSION, "keys": keys})
        return
    columns = [Column(name="KEY", max_width=60), Column(name="SESSION")]
    _print_rows(columns, [[chat.key, chat.session_id] for chat in chats])
    note(count(len(chats), "key"), quiet=quiet)


@gateway.command("sessions")
@click.option("--active", "active_minutes", type=click.IntRange(min=1), metavar="MINUTES",
              help="Only those active within so many minutes.")  # fmt: skip
@_location_options
@_JSON
@_QUIET
def list_sessions(
    *, active_minutes: int | None, as_json: bool, quiet: bool, **location: Any
) -> None:
    """List the sessions people are in, the latest active first.

    STATE is open, or why the next message starts a new session: idle, daily or suspended.
    """
    chats = list_chats(GatewayLocation(**location), active_minutes)
    if as_json:
        records = [chat.record for chat in chats]
        print_json({"schema_version": SCHEMA_VERSION, "sessions": records})
        return
    _print_chats(chats)
    note(count(len(chats), "session"), quiet=quiet)


@gateway.command("reset")
@click.argument("session_key", metavar="KEY")
@_location_options
@_JSON
def reset_session(*, session_key: str, as_json: bool, **location: Any) -> None:
    """Let KEY start over with an empty session; what was said stays stored."""
    _print_moved(reset_chat(GatewayLocation(**location), session_key), as_json=as_json)


@gateway.command("switch")
@click.argument("session_key", metavar="KEY")
@click.argument("session_id", metavar="ID")
@_location_options
@_JSON
def switch_session(*, session_key: str, session_id: str, as_json: bool, **location: Any) -> None:
    """Lead KEY to the stored session ID, or to the one session with that prefix."""
    chat = switch_chat(GatewayLocation(**location), session_key, session_id)
    _print_moved(chat, as_json=as_json)


@gateway.command("watch")
@click.option("--run", "command", metavar="COMMAND",
              help="Flush with this command: it gets the session as JSON on stdin.")  # fmt: skip
@click.option("--once", is_flag=True, help="Look once instead of again and again.")
@click.option("--interval", type=click.FloatRange(min=0.1), default=300.0, show_default=True,
              metavar="SECONDS", help="How long to wait between two looks.")  # fmt: skip
@_location_options
@_JSON
@_QUIET
def watch_sessions(
    *,
    command: str | None,
    once: bool,
    interval: float,
    as_json: bool,
    quiet: bool,
    **location: Any,
) -> None:
    """Find sessions past their reset policy and flush each once.

    With --run, each such session is given to COMMAND and marked as flushed if that exits with 0; a
    command that fails is tried again, three times in all. Without it they are only listed.
    """
    rounds = watch_chats(GatewayLocation(**location), command, interval_seconds=interval, once=once)
    for one in rounds:
        _print_round(one, as_json=as_json, quiet=quiet)


def _print_round(one: FlushRound, *, as_json: bool, quiet: bool) -> None:
    done = one.done
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "sessions": [chat.record for chat in one.ended],
                "flushed": list(done.flushed) if done else [],
                "failed": list(done.failed) if done else [],
            }
        )
        return
    _print_chats(one.ended)
    found = f"{count(len(one.ended), 'session')} past the policy"
    flushed = f", {len(done.flushed)} flushed, {len(done.failed)} failed" if done else ""
    note(found + flushed, quiet=quiet)


def _print_moved(chat: ChatSession, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "session": chat.record})
    else:
        open_console().print(Text(clean(f"{chat.key}  {chat.session_id}")))


def _print_chats(chats: list[ChatSession]) -> None:
    columns = [
        Column(name="SESSION"), Column(name="UPDATED"), Column(name="STATE"),
        Column(name="TOKENS", right=True), Column(name="NAME", max_width=24), Column(name="KEY"),
    ]  # fmt: skip
    rows = [
        [chat.session_id, local_time(chat.updated_at), chat.state, f"{chat.tokens:,}",
         chat.name or "-", chat.key]
        for chat in chats
    ]  # fmt: skip
    _print_rows(columns, rows)


def _print_rows(columns: list[Column], rows: list[list[str]]) -> None:
    if rows:
        print_table(open_console(), columns, [[Text(clean(cell)) for cell in row] for row in rows])
