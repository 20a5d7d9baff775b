"""``warmstart gateway``: the sessions of a chat gateway, seen and steered from a terminal.

Commands only unpack their options; what they do is in ``_gateway``, imported when a command runs so
that ``--help`` stays light.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")


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
    from warmstart.cli._gateway import Place, print_keys  # noqa: PLC0415 - keeps --help light

    print_keys(Place(**place), as_json=as_json, quiet=quiet)


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
    from warmstart.cli._gateway import Place, print_sessions  # noqa: PLC0415 - keeps --help light

    print_sessions(Place(**place), active_minutes=active_minutes, as_json=as_json, quiet=quiet)


@gateway.command("reset")
@click.argument("session_key", metavar="KEY")
@_place_options
@_JSON
def reset_session(*, session_key: str, as_json: bool, **place: Any) -> None:
    """Let KEY start over with an empty session; what was said stays stored."""
    from warmstart.cli._gateway import Place, reset_key  # noqa: PLC0415 - keeps --help light

    reset_key(Place(**place), session_key, as_json=as_json)


@gateway.command("switch")
@click.argument("session_key", metavar="KEY")
@click.argument("session_id", metavar="ID")
@_place_options
@_JSON
def switch_session(*, session_key: str, session_id: str, as_json: bool, **place: Any) -> None:
    """Lead KEY to the stored session ID, or to the one session with that prefix."""
    from warmstart.cli._gateway import Place, switch_key  # noqa: PLC0415 - keeps --help light

    switch_key(Place(**place), session_key, session_id, as_json=as_json)


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
    from warmstart.cli._gateway import Place, Watch, watch  # noqa: PLC0415 - keeps --help light

    request = Watch(command=command, once=once, interval=interval, as_json=as_json, quiet=quiet)
    watch(Place(**place), request)
