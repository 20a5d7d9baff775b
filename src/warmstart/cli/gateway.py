"""``warmstart gateway``: the sessions of a chat gateway, seen and steered from a terminal.

``watch --json`` prints one object for each look that found something.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from warmstart.app import GatewayLocation, list_chats, reset_chat, switch_chat, watch_chats
from warmstart.cli._output import JSON, QUIET, note, put_out
from warmstart.present import (
    chats_document,
    count,
    describe_flush,
    flush_document,
    keys_document,
    moved_document,
)

_Command = TypeVar("_Command", bound=Callable[..., Any])


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
@JSON
@QUIET
def list_keys(*, as_json: bool, quiet: bool, **location: Any) -> None:
    """List session keys and the session each leads to now."""
    chats = list_chats(GatewayLocation(**location))
    put_out(keys_document(chats), as_json=as_json)
    note(count(len(chats), "key"), quiet=quiet or as_json)


@gateway.command("sessions")
@click.option("--active", "active_minutes", type=click.IntRange(min=1), metavar="MINUTES",
              help="Only those active within so many minutes.")  # fmt: skip
@_location_options
@JSON
@QUIET
def list_sessions(
    *, active_minutes: int | None, as_json: bool, quiet: bool, **location: Any
) -> None:
    """List the sessions people are in, the latest active first.

    STATE is open, or why the next message starts a new session: idle, daily or suspended.
    """
    chats = list_chats(GatewayLocation(**location), active_minutes)
    put_out(chats_document(chats), as_json=as_json)
    note(count(len(chats), "session"), quiet=quiet or as_json)


@gateway.command("reset")
@click.argument("session_key", metavar="KEY")
@_location_options
@JSON
def reset_session(*, session_key: str, as_json: bool, **location: Any) -> None:
    """Let KEY start over with an empty session; what was said stays stored."""
    chat = reset_chat(GatewayLocation(**location), session_key)
    put_out(moved_document(chat), as_json=as_json)


@gateway.command("switch")
@click.argument("session_key", metavar="KEY")
@click.argument("session_id", metavar="ID")
@_location_options
@JSON
def switch_session(*, session_key: str, session_id: str, as_json: bool, **location: Any) -> None:
    """Lead KEY to the stored session ID, or to the one session with that prefix."""
    chat = switch_chat(GatewayLocation(**location), session_key, session_id)
    put_out(moved_document(chat), as_json=as_json)


@gateway.command("watch")
@click.option("--run", "command", metavar="COMMAND",
              help="Flush with this command: it gets the session as JSON on stdin.")  # fmt: skip
@click.option("--once", is_flag=True, help="Look once instead of again and again.")
@click.option("--interval", type=click.FloatRange(min=0.1), default=300.0, show_default=True,
              metavar="SECONDS", help="How long to wait between two looks.")  # fmt: skip
@_location_options
@JSON
@QUIET
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
        put_out(flush_document(one), as_json=as_json)
        note(describe_flush(one), quiet=quiet or as_json)
