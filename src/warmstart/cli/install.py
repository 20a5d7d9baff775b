"""``warmstart install, uninstall, hook``: warmstart in an agent's own settings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from warmstart.cli._output import JSON, note, put_out
from warmstart.errors import WarmstartError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmstart.integrations import Done

AGENTS = ("claude-code", "codex", "hermes", "gemini", "opencode")


@click.command()
@click.argument("agent", type=click.Choice(AGENTS))
@click.option("--write", is_flag=True, help="Write it into the agent's settings.")
@JSON
def install(*, agent: str, write: bool, as_json: bool) -> None:
    """Show what an agent needs to start warm, or write it with --write.

    Nothing is written without --write. uninstall takes exactly that away again.
    """
    from warmstart import integrations  # noqa: PLC0415 - keeps --help light
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.present import install_document  # noqa: PLC0415 - same

    if write:
        _put_out_done(agent, integrations.install_agent(Workspace.open(), agent), as_json=as_json)
        return
    setup = integrations.describe(agent, integrations.this_host())
    changes = integrations.list_changes(setup)
    put_out(install_document(agent, changes, setup.enable, setup.notes), as_json=as_json)
    note(f"to write it: warmstart install {agent} --write", quiet=as_json)


@click.command()
@click.argument("agent", type=click.Choice(AGENTS))
@JSON
def uninstall(*, agent: str, as_json: bool) -> None:
    """Take out of an agent's settings exactly what install --write put there."""
    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.integrations import uninstall_agent  # noqa: PLC0415 - keeps --help light

    _put_out_done(agent, uninstall_agent(Workspace.open(), agent), as_json=as_json)


@click.command()
@click.argument("agent", type=click.Choice(["claude-code"]))
def hook(*, agent: str) -> None:
    """Answer an agent's hook: its event on stdin, what to add on stdout.

    A hook never stands in the way: if something is wrong, stderr says what, nothing is added, and
    the session goes on.
    """
    del agent
    import orjson  # noqa: PLC0415 - keeps --help light

    from warmstart.app import Workspace  # noqa: PLC0415 - same
    from warmstart.integrations import answer_hook  # noqa: PLC0415 - same

    try:
        event = orjson.loads(sys.stdin.buffer.read())
        answer = answer_hook(Workspace.open(), event) if isinstance(event, dict) else {}
    except orjson.JSONDecodeError:
        click.echo("warmstart: the event is not valid JSON", err=True)
        return
    except (WarmstartError, OSError) as error:
        click.echo(f"warmstart: {error}", err=True)
        return
    if answer:
        sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")


def _put_out_done(agent: str, done: Sequence[Done], *, as_json: bool) -> None:
    from warmstart.present import installed_document  # noqa: PLC0415 - keeps --help light

    rows = [(one.where, one.result) for one in done]
    put_out(installed_document(agent, rows), as_json=as_json)
